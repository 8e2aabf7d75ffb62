#include "check.h"

#include <fenv.h>
#if defined(__SSE__)
# include <xmmintrin.h>
#endif

#include "kernels/convert.h"
#include "kernels/kernels.h"
#include "kernels/random.h"
#include "ops/random.h"

enum { ROOM = 1 << 16 };
static char one[ROOM] __attribute__((aligned(64))), two[ROOM] __attribute__((aligned(64)));
static sb_storage first, second;

static const sb_dtype floats[] = {SB_FLOAT16, SB_BFLOAT16, SB_FLOAT32, SB_FLOAT64};
static const sb_dtype integers[] = {SB_BOOL,  SB_UINT8,  SB_INT8,  SB_INT16, SB_UINT16,
                                    SB_INT32, SB_UINT32, SB_INT64, SB_UINT64};

static sb_scalar of_int(int64_t x) { return (sb_scalar){.kind = SB_SCALAR_INT, .as.i = x}; }
static sb_scalar of_uint(uint64_t x) { return (sb_scalar){.kind = SB_SCALAR_UINT, .as.u = x}; }
static sb_scalar of_real(double x) { return (sb_scalar){.kind = SB_SCALAR_REAL, .as.real = x}; }

/* A dense tensor of n elements at the start of a storage. */
static sb_tensor dense(sb_storage *storage, sb_dtype dtype, int64_t n) {
  sb_tensor t;
  EQ(sb_tensor_init(storage, dtype, DIMS(n), NULL, 0, &t), SB_OK);
  return t;
}

/* The fills that the tests go through, with parameters that leave no dtype out. */
enum { FILLS = 4 + 4 + 9 + 2 };
static sb_dtype fill_dtype(int which) {
  if (which < 8) return floats[which % 4];
  return which < 17 ? integers[which - 8] : which == 17 ? SB_INT64 : SB_UINT64;
}
static sb_status fill(int which, const sb_tensor *t, sb_generator *g) {
  const bool boolean = t->dtype == SB_BOOL;
  const sb_scalar zero = of_int(0), few = of_int(boolean ? 2 : 100);
  const sb_scalar low = of_int(INT64_MIN / 2), high = of_int(INT64_MAX / 2);
  const sb_scalar most = of_uint((UINT64_C(1) << 63) + 1);
  if (which < 4) return sb_uniform(t, -2, 3, g);
  if (which < 8) return sb_normal(t, 1, 2, g);
  if (which < 17) return sb_randint(t, &zero, &few, g);
  if (which == 17) return sb_randint(t, &low, &high, g);
  return sb_randint(t, &zero, &most, g);
}

/* ---- Known answers ---- */

static void vectors(void) { /* Random123 1.14, kat_vectors: philox4x32 10 */
  static const struct {
    uint64_t key, low, high;
    uint32_t out[4];
  } rows[] = {
      {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {0x299f31d0a4093822,
       0x85a308d3243f6a88,
       0x0370734413198a2e,
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint32_t out[4];
    sb__philox(rows[i].key, rows[i].low, rows[i].high, out);
    for (int lane = 0; lane < 4; lane++) EQ(out[lane], rows[i].out[lane]);
  }
}

/* printed by test/python/random_reference.py */
static const struct {
  uint64_t seed;
  uint32_t stream;
  uint64_t offset;
  uint64_t values[12][6];
} literals[] = {
    {0x0,
     0,
     0x0,
     {
         {0x3662, 0x3b0b, 0x39e2, 0x38d8, 0x3bc7, 0x35ca},
         {0x3ecc, 0x3f61, 0x3f3c, 0x3f1b, 0x3f78, 0x3eb8},
         {0x3ecc4fd0, 0x3f6169c5, 0x3f3c57ac, 0x3f1b00db, 0x3f78e4cc, 0x3eb96400},
         {0x3fec2d38b1989fa3, 0x3fe3601b7af15eb1, 0x3fd72c8037c72664, 0x3fa2fdfeec695d30,
          0x3fd471cca827d518, 0x3fd1644d7920a89c},
         {0x3748, 0xb478, 0x3ca1, 0xbd03, 0xc0df, 0x384c},
         {0x3ee9, 0xbe8f, 0x3f94, 0xbfa0, 0xc01c, 0x3f0a},
         {0x3ee90bae, 0xbe8ef832, 0x3f942a68, 0xbfa05210, 0xc01be6ef, 0x3f098b65},
         {0xbfcd4768a27f4045, 0x3fec60fd944b2481, 0xbfe221625aeb2575, 0x3fec0170dde036a7,
          0xbfd9b3053d8e49b8, 0xbfe3a1045fe0aee0},
         {0x0000000000000189, 0x000000000000036f, 0x00000000000002dd, 0x0000000000000259,
          0x00000000000003cb, 0x0000000000000163},
         {0x000000004c9dee9f, 0x00000000a90f5429, 0x00000000ad394859, 0x0000000079e5c024,
          0x00000000aefe84ea, 0x00000000458580a4},
         {0x09a4711f96e739f2, 0x4d806dec5e2bd626, 0x288622a4f4a9adf1, 0x04bf7fb3d8d2ba75,
          0x28e39953027d5194, 0x22c89af2120a89d6},
         {0xe169c58d6627e8d5, 0x9b00dbd8bc57ac4c, 0x5cb200dbf8e4cca4, 0x097eff67b1a574eb,
          0x51c732a604faa329, 0x459135e4241513ad},
     }},
    {0x2a,
     0,
     0x5,
     {
         {0x353a, 0x381c, 0x3744, 0x3a9b, 0x3944, 0x38d2},
         {0x3ea6, 0x3f03, 0x3ee8, 0x3f53, 0x3f28, 0x3f1a},
         {0x3ea774d8, 0x3f038f5a, 0x3ee89c0c, 0x3f536c02, 0x3f28875d, 0x3f1a4d6d},
         {0x3fdd1381bc1c7ad2, 0x3fe510ebbb4db008, 0x3fe8c134aa6935b6, 0x3fe575e1b6eb1c11,
          0x3fd84399fcb0f2aa, 0x3fead975d54e408e},
         {0x3c7e, 0xa81d, 0x3ea1, 0x302e, 0xbcd6, 0xba15},
         {0x3f90, 0xbd04, 0x3fd4, 0x3e06, 0xbf9b, 0xbf43},
         {0x3f8fce46, 0xbd039b8b, 0x3fd42e67, 0x3e05b469, 0xbf9abe69, 0xbf42afd3},
         {0xbfeac4460041c55f, 0xbffc5d0f60936572, 0x3ff580c7d95f1bfe, 0x3fdacc9e4a3c6aff,
          0x3ff4e9d8a1148855, 0x3ff26ff049472067},
         {0x0000000000000140, 0x00000000000001fd, 0x00000000000001c0, 0x0000000000000338,
          0x000000000000028e, 0x0000000000000256},
         {0x000000003ecbd1bd, 0x0000000062ab83d2, 0x00000000573a853c, 0x000000009e91019b,
          0x000000007e658658, 0x0000000073ba1232},
         {0x4832d6b662240a3a, 0x4bd792c8103f59ea, 0x049ef2fe2dc5054f, 0x7a5a0916f5f4eea4,
          0x308733fbcb0f2aa1, 0x6b65d75aa9c811de},
         {0x744e06fb838f5a6e, 0xa8875dcbd36c0225, 0xc609a5599a4d6d99, 0xabaf0dabbac70475,
          0x610e67f7961e5543, 0xd6cbaeb5539023bc},
     }},
    {0x123456789abcdef0,
     7,
     0xffffffffd,
     {
         {0x3a35, 0x37f4, 0x388a, 0x36a0, 0x3134, 0x3436},
         {0x3f46, 0x3efe, 0x3f11, 0x3ed4, 0x3e24, 0x3e86},
         {0x3f46bf88, 0x3efe9fd8, 0x3f114b0d, 0x3ed416ba, 0x3e2695dc, 0x3e86d7b4},
         {0x3fe22961b1fd3fb0, 0x3fc4d2bb96a0b5d0, 0x3fd5ad76121b5ed4, 0x3fec3d3766296390,
          0x3fc6fdcd5d80e65c, 0x3fea3c28c95890cd},
         {0x3edb, 0x3170, 0x367a, 0x2ea5, 0xaf21, 0xbc77},
         {0x3fdb, 0x3e2e, 0x3ecf, 0x3dd5, 0xbde4, 0xbf8f},
         {0x3fdb6346, 0x3e2e05ec, 0x3ecf4971, 0x3dd4a958, 0xbde42aa8, 0xbf8ed09f},
         {0x3ff9efc424d557d4, 0x3fda1e66d093cece, 0x3fe15cc157506d87, 0x3ffaae6240292ca3,
          0x3fe6300cb5c520ea, 0xc0068239251dff8f},
         {0x0000000000000306, 0x00000000000001ec, 0x0000000000000233, 0x0000000000000198,
          0x000000000000009a, 0x00000000000000ff},
         {0x00000000950fa656, 0x000000005f7bf12c, 0x000000006cf84a37, 0x000000004f8885db,
          0x000000002d8a6afc, 0x00000000aa755b08},
         {0x782e9986ae5d5e4a, 0x14d2bb9a3505ae92, 0x107eea2ee5bed2eb, 0x70f4dd9fc52c7218,
          0x400074808562d076, 0x68f0a32bab1219a7},
         {0x914b0d9f7f4fec3b, 0x29a577346a0b5d25, 0x56b5d84e436bda94, 0xe1e9bb3f8a58e430,
          0x2dfb9aa4d80e65ee, 0xd1e146575624334e},
     }},
};

static void known(void) {
  static const sb_dtype dtypes[12] = {
      SB_FLOAT16, SB_BFLOAT16, SB_FLOAT32, SB_FLOAT64, SB_FLOAT16, SB_BFLOAT16,
      SB_FLOAT32, SB_FLOAT64,  SB_INT16,   SB_UINT32,  SB_UINT64,  SB_UINT64,
  };
  const sb_scalar low[4] = {of_int(-10), of_int(0), of_int(0), of_int(0)};
  const sb_scalar high[4] = {of_int(1000), of_real(3 * 0x1p30), of_uint((UINT64_C(1) << 63) + 1),
                             of_real(0x1p64)};
  for (size_t i = 0; i < sizeof literals / sizeof *literals; i++) {
    for (int row = 0; row < 12; row++) {
      sb_generator g = {literals[i].seed, literals[i].offset, literals[i].stream};
      const sb_tensor t = dense(&first, dtypes[row], 6);
      const size_t size = (size_t)sb_dtype_itemsize(t.dtype);
      const uint64_t words = size == 8 ? 2 : 1;
      if (row < 4)
        EQ(sb_uniform(&t, 0, 1, &g), SB_OK);
      else if (row < 8)
        EQ(sb_normal(&t, 0, 1, &g), SB_OK);
      else
        EQ(sb_randint(&t, &low[row - 8], &high[row - 8], &g), SB_OK);
      for (size_t k = 0; k < 6; k++) {
        uint64_t value = 0, wanted = literals[i].values[row][k];
        memcpy(&value, one + k * size, size);
        if (size < 8) wanted &= (UINT64_C(1) << (8 * size)) - 1;
        EQ(value, wanted);
      }
      EQ(g.offset, (literals[i].offset + words - 1) / words * words + 6 * words);
      EQ(g.seed, literals[i].seed);
      EQ(g.stream, literals[i].stream);
    }
  }
}

/* ---- Order, strides, levels ---- */

static void split(void) {
  random_state = 31;
  for (int round = 0; round < 2000; round++) {
    const int which = round % FILLS;
    const int64_t n = random_in(1, round % 7 ? 40 : 2000), cut = random_in(0, n);
    const sb_tensor all = dense(&first, fill_dtype(which), n);
    sb_tensor front = dense(&second, fill_dtype(which), n), back = front;
    sb_generator a = {random_bits(), random_bits() >> (round % 64), (uint32_t)random_bits()}, b = a;
    EQ(sb_narrow(&front, 0, 0, cut, &front), SB_OK);
    EQ(sb_narrow(&back, 0, cut, n - cut, &back), SB_OK);
    EQ(fill(which, &all, &a), SB_OK);
    EQ(fill(which, &front, &b), SB_OK);
    EQ(fill(which, &back, &b), SB_OK);
    EQ(a.offset, b.offset);
    CHECK(!memcmp(one, two, (size_t)sb_tensor_nbytes(&all)));
  }
}

static void strided(void) {
  static char wanted[ROOM];
  static int64_t at[ROOM];
  random_state = 32;
  int done_ = 0, refused = 0;
  for (int round = 0; round < 4000; round++) {
    const int which = round % FILLS;
    const sb_dtype dtype = fill_dtype(which);
    const size_t size = (size_t)sb_dtype_itemsize(dtype);
    sb_generator a = {random_bits(), random_bits() >> 20, 0}, b = a;
    sb_tensor t;
    bool overlaps = false;
    const int64_t most = round % 3 ? 9 : 20;
    if (!random_layout(&first, dtype, (int32_t)random_in(0, 3), round % 16 ? 1 : 0, most, 60, &t))
      continue;
    EQ(sb_overlaps_itself(&t, &overlaps), SB_OK);
    memset(one, 0x5a, ROOM);
    memcpy(wanted, one, ROOM);
    const sb_status status = fill(which, &t, &a);
    if (overlaps) {
      EQ(status, SB_ERR_OVERLAP);
      EQ(a.offset, b.offset);
      CHECK(!memcmp(one, wanted, ROOM));
      refused++;
      continue;
    }
    EQ(status, SB_OK);
    const int64_t n = places(&t, at, ROOM);
    const sb_tensor flat = dense(&second, dtype, n);
    EQ(fill(which, &flat, &b), SB_OK);
    for (int64_t i = 0; i < n; i++)
      memcpy(wanted + (size_t)at[i] * size, two + (size_t)i * size, size);
    EQ(a.offset, b.offset);
    CHECK(!memcmp(one, wanted, ROOM));
    done_++;
  }
  CHECK(done_ > 1500 && refused > 100);
}

/* What threads will do: each a range of elements, in whatever order. */
static void ranges(void) {
  static char wanted[ROOM];
  static const sb__random draws[] = {
      {.draw = SB__DRAW_UNIFORM, .dtype = SB_FLOAT16, .words = 1, .as.uniform = {-1, 2, 0.9995}},
      {.draw = SB__DRAW_NORMAL, .dtype = SB_FLOAT32, .words = 1, .as.normal = {0, 1}},
      {.draw = SB__DRAW_NORMAL, .dtype = SB_FLOAT64, .words = 2, .as.normal = {1, 3}},
      {.draw = SB__DRAW_INTEGER, .dtype = SB_INT8, .words = 1, .as.integer = {0, 100, 96}},
  };
  random_state = 35;
  int done_ = 0;
  for (int round = 0; round < 2000; round++) {
    sb__random how = draws[round % 4];
    sb_tensor t;
    bool overlaps = false;
    if (!random_layout(&first, how.dtype, (int32_t)random_in(0, 3), 1, 12, 200, &t)) continue;
    EQ(sb_overlaps_itself(&t, &overlaps), SB_OK);
    if (overlaps) continue;
    how.seed = random_bits();
    how.first = (random_bits() >> 30) * 2 + (how.words == 1 && round % 8 < 4);
    const int64_t n = sb_tensor_numel(&t), a = random_in(0, n), b = random_in(a, n);
    memset(one, 0x5a, ROOM);
    sb__random_range(&t, &how, 0, n);
    memcpy(wanted, one, ROOM);
    memset(one, 0x5a, ROOM);
    sb__random_range(&t, &how, b, n - b);
    sb__random_range(&t, &how, 0, a);
    sb__random_range(&t, &how, a, b - a);
    CHECK(!memcmp(one, wanted, ROOM));
    done_++;
  }
  CHECK(done_ > 500);
}

static void levels(void) {
  const sb__kernels *all[SB__MOST_LEVELS];
  const int count = sb__kernels_all(all);
  random_state = 33;
  for (int level = 1; level < count; level++) {
    for (int round = 0; round < 1500; round++) {
      const int which = round % FILLS;
      const sb_dtype dtype = fill_dtype(which);
      const int64_t size = sb_dtype_itemsize(dtype);
      const int64_t n = random_in(0, round % 5 ? 70 : 1500), skip = random_in(1, 9);
      const sb_generator g = {random_bits(), random_bits(), (uint32_t)random_bits()};
      memset(one, 0x5a, ROOM);
      memset(two, 0x5a, ROOM);
      sb_tensor a = dense(&first, dtype, skip + n), b = dense(&second, dtype, skip + n);
      EQ(sb_narrow(&a, 0, skip, n, &a), SB_OK);
      EQ(sb_narrow(&b, 0, skip, n, &b), SB_OK);
      sb_generator used = g;
      sb__kernels_use(all[0]);
      EQ(fill(which, &a, &used), SB_OK);
      used = g;
      sb__kernels_use(all[level]);
      EQ(fill(which, &b, &used), SB_OK);
      CHECK(!memcmp(one, two, ROOM)); /* the bytes around it as well */
      for (int64_t i = 0; i < skip * size; i++) EQ(two[i], 0x5a);
      for (int64_t i = (skip + n) * size; i < (skip + n) * size + 64; i++) EQ(two[i], 0x5a);
    }
    printf("# %s equals %s\n", all[level]->level, all[0]->level);
  }
  sb__kernels_use(all[count - 1]);
}

/* One number for every back end: what any of them computes otherwise changes it. */
static void checksum(void) {
  const sb__kernels *all[SB__MOST_LEVELS];
  const int count = sb__kernels_all(all);
  for (int level = 0; level < count; level++) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    sb_generator g = {.seed = 2024};
    sb__kernels_use(all[level]);
    for (int which = 0; which < FILLS; which++) {
      const sb_tensor t = dense(&first, fill_dtype(which), 8000 + which);
      EQ(fill(which, &t, &g), SB_OK);
      for (int64_t i = 0; i < sb_tensor_nbytes(&t); i++)
        hash = (hash ^ (unsigned char)one[i]) * 0x100000001b3u;
    }
    EQ(hash, INT64_C(0x10af0db83b816177));
    EQ(g.offset, 184218);
  }
}

static double value_at(const char *at, sb_dtype dtype) {
  sb__chunk chunk;
  sb__load(dtype, &chunk, at, 8, 1);
  return chunk.real[0];
}

static void upward_without_subnormals(void) {
  fesetround(FE_UPWARD);
#if defined(__SSE__)
  _mm_setcsr(_mm_getcsr() | 0x8040); /* subnormals are zero */
#elif defined(__aarch64__)
  uint64_t fpcr;
  __asm__ volatile("mrs %0, fpcr" : "=r"(fpcr));
  __asm__ volatile("msr fpcr, %0" ::"r"(fpcr | UINT64_C(1) << 24));
#endif
}

static void default_mode(void) {
  EQ(fegetround(), FE_UPWARD);
  fesetenv(FE_DFL_ENV);
}

/* Bounds that are subnormal: elsewhere they are 0. */
static void subnormal_bounds(void) {
  static const double highs[] = {0x1p-14, 0x1p-130, 0x1p-140, 0x1p-1060};
  static const sb_dtype dtypes[] = {SB_FLOAT16, SB_BFLOAT16, SB_FLOAT32, SB_FLOAT64};
  for (int d = 0; d < 4; d++) {
    const sb_tensor a = dense(&first, dtypes[d], 1000), b = dense(&second, dtypes[d], 1000);
    sb_generator g = {.seed = 6}, h = g;
    EQ(sb_uniform(&a, 0, highs[d], &g), SB_OK);
    upward_without_subnormals();
    const sb_status uniform = sb_uniform(&b, 0, highs[d], &h);
    const sb_status normal = sb_normal(&b, 0, -0x1p-1060, &(sb_generator){.seed = 1});
    default_mode();
    EQ(uniform, SB_OK);
    EQ(normal, SB_ERR_BOUNDS);
    CHECK(!memcmp(one, two, (size_t)sb_tensor_nbytes(&a)));
    for (int64_t i = 0; i < 1000; i++) {
      const double x = value_at(one + i * sb_dtype_itemsize(dtypes[d]), dtypes[d]);
      CHECK(x >= 0 && x < highs[d]);
    }
  }
}

static void float_modes_of_level(void) {
  for (int which = 0; which < FILLS; which++) {
    const sb_tensor a = dense(&first, fill_dtype(which), 1000);
    const sb_tensor b = dense(&second, fill_dtype(which), 1000);
    sb_generator g = {.seed = 5}, h = g;
    EQ(fill(which, &a, &g), SB_OK);
    upward_without_subnormals();
    const sb_status status = fill(which, &b, &h);
    default_mode();
    EQ(status, SB_OK);
    CHECK(!memcmp(one, two, (size_t)sb_tensor_nbytes(&a)));
  }
  subnormal_bounds();
}

static void float_modes(void) {
#if !defined(__wasm__) /* it has one mode */
  const sb__kernels *all[SB__MOST_LEVELS];
  const int count = sb__kernels_all(all);
  for (int level = 0; level < count; level++) {
    sb__kernels_use(all[level]);
    float_modes_of_level();
  }
#endif
}

/* ---- Ranges ---- */

static void units(void) {
  for (uint32_t k = 0; k < 1u << 11; k++) {
    const float x = sb__between_f32(sb__unit_f32(k << 21), 0, 1, 1 - 0x1p-11f);
    CHECK(x >= 0 && x < 1 && x * 2048 == (float)k);
    CHECK(sb__small_to_double(sb__f16_of(x), sb__float16) == (double)x); /* exact */
  }
  for (uint32_t k = 0; k < 1u << 8; k++) {
    const float x = sb__between_f32(sb__unit_f32(k << 24), 0, 1, 1 - 0x1p-8f);
    CHECK(x >= 0 && x < 1 && x * 256 == (float)k);
    CHECK(sb__small_to_double(sb__bf16_of(x), sb__bfloat16) == (double)x);
  }
  EQ(sb__bits_f32(sb__unit_f32(UINT32_MAX)), 0x3f7fffff); /* the last before 1 */
  EQ(sb__bits_f64(sb__unit_f64(UINT32_MAX, UINT32_MAX)), 0x3fefffffffffffff);
  CHECK(sb__unit_f32(255) == 0 && sb__unit_f32(256) == 0x1p-24f);
  CHECK(sb__unit_f64(63, 31) == 0 && sb__unit_f64(64, 0) == 0x1p-53 &&
        sb__unit_f64(0, 32) == 0x1p-27);
}

/* float16 and bfloat16 of what lies on, beside and between their values. */
static void halves(void) {
  for (int brain = 0; brain < 2; brain++) {
    const sb__small_float format = brain ? sb__bfloat16 : sb__float16;
    for (uint32_t half = 0; half < 0x8000; half++) {
      if (half > format.largest) continue;
      const double x = sb__small_to_double(half, format);
      const double next = half == format.largest ? x : sb__small_to_double(half + 1, format);
      for (int i = -1; i <= 1; i++) {
        for (int middle = 0; middle < 2; middle++) {
          float y = (float)(middle ? x + (next - x) / 2 : x);
          if (i) y = nextafterf(y, i < 0 ? -INFINITY : INFINITY);
          EQ(brain ? sb__bf16_of(y) : sb__f16_of(y), sb__small_from_double((double)y, format));
          EQ(brain ? sb__bf16_of(-y) : sb__f16_of(-y), sb__small_from_double((double)-y, format));
        }
      }
    }
  }
  EQ(sb__f16_of(INFINITY), 0x7c00);
  EQ(sb__f16_of(65520), 0x7c00);
  EQ(sb__f16_of(-1e30f), 0xfc00);
  EQ(sb__bf16_of(-INFINITY), 0xff80);
  EQ(sb__bf16_of(3.4e38f), 0x7f80);
}

/* Bounds between which a dtype has few values, so that rounding meets them. */
static void bounds(void) {
  static const struct {
    double low, high;
  } rows[] = {{1, 1.0078125},      {1, 1 + 0x1p-9},  {1000, 1024},     {-1, 0},
              {-0x1p-14, 0x1p-14}, {0, 0x1p-22},     {-3, -2.984375},  {0.1, 0.3},
              {4096, 4160},        {1, 1 + 0x1p-22}, {1, 1 + 0x1p-51}, {-60000, 60000}};
  int tried = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (int d = 0; d < 4; d++) {
      const sb_tensor t = dense(&first, floats[d], 4096);
      const int64_t size = sb_dtype_itemsize(floats[d]);
      sb_generator g = {.seed = i};
      const sb_status status = sb_uniform(&t, rows[i].low, rows[i].high, &g);
      if (status == SB_ERR_BOUNDS) continue; /* the bounds are one value of this dtype */
      EQ(status, SB_OK);
      bool lowest = false;
      float low = (float)rows[i].low, high = (float)rows[i].high; /* exact for those that matter */
      for (int64_t k = 0; k < 4096; k++) {
        const double x = value_at(one + k * size, floats[d]);
        if (d < 2) CHECK(x >= rows[i].low - 1e-4 && x < rows[i].high + 1e-3);
        if (d == 2) CHECK(x >= (double)low && x < (double)high);
        if (d == 3) CHECK(x >= rows[i].low && x < rows[i].high);
        if (i != 7) CHECK(x < rows[i].high); /* 0.3 has other neighbours in each dtype */
        lowest = lowest || x == rows[i].low;
      }
      if (i == 0 && d < 2) CHECK(lowest);
      tried++;
    }
  }
  EQ(tried, 42);
}

/* Integers reach both ends, and no further, in dtypes of every width. */
static void ends(void) {
  static const struct {
    sb_dtype dtype;
    int64_t low, high;
  } rows[] = {{SB_BOOL, 0, 2},
              {SB_BOOL, 1, 2},
              {SB_INT8, -128, 128},
              {SB_UINT8, 0, 256},
              {SB_INT16, -5, -2},
              {SB_UINT16, 65530, 65536},
              {SB_INT32, -2, 3},
              {SB_INT32, 7, 8},
              {SB_UINT32, 4294967290, 4294967296},
              {SB_INT64, -1, 1},
              {SB_INT64, INT64_MAX - 4, INT64_MAX},
              {SB_INT64, INT64_MIN, INT64_MIN + 3},
              {SB_UINT64, 0, 5}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const sb_tensor t = dense(&first, rows[i].dtype, 8000);
    const sb_scalar low = of_int(rows[i].low), high = of_int(rows[i].high);
    const int64_t size = sb_dtype_itemsize(t.dtype);
    sb_generator g = {.seed = 77};
    bool lowest = false, highest = false;
    EQ(sb_randint(&t, &low, &high, &g), SB_OK);
    EQ(g.offset, 8000);
    for (int64_t k = 0; k < 8000; k++) {
      sb__chunk chunk;
      sb__load(t.dtype, &chunk, one + k * size, 8, 1);
      const int64_t x = chunk.i[0]; /* uint64 below 5 reads the same */
      CHECK(x >= rows[i].low && x < rows[i].high);
      lowest = lowest || x == rows[i].low;
      highest = highest || x == rows[i].high - 1;
    }
    CHECK(lowest && highest);
  }
}

/* ---- Statistics ---- */

/* Pearson's statistic of n values that fell into equally likely classes, in standard deviations. */
static double chi_square(const int64_t *count, int classes, double n) {
  double sum = 0;
  const double mean = n / classes;
  for (int i = 0; i < classes; i++) {
    const double difference = (double)count[i] - mean;
    sum += difference * difference / mean;
  }
  return (sum - (classes - 1)) / sqrt(2.0 * (classes - 1));
}

static void unbiased(void) {
  enum { N = 8000, ROUNDS = 50 };
  const sb_scalar zero = of_int(0);
  /* Without refusals a third of the values would come twice as often; and nearly half are refused. */
  const sb_scalar highs[] = {of_int(INT64_C(3) << 30), of_uint(UINT64_C(3) << 62),
                             of_int((INT64_C(1) << 31) + 1), of_uint((UINT64_C(1) << 63) + 1)};
  for (int which = 0; which < 4; which++) {
    const sb_tensor t = dense(&first, SB_UINT64, N);
    const uint64_t *x = (const uint64_t *)(const void *)one;
    int64_t thirds[3] = {0}, bins[64] = {0}, odd[2] = {0};
    sb_generator g = {.seed = 99};
    const double high = (double)highs[which].as.u;
    for (int round = 0; round < ROUNDS; round++) {
      EQ(sb_randint(&t, &zero, &highs[which], &g), SB_OK);
      for (int i = 0; i < N; i++) {
        thirds[x[i] % 3]++;
        odd[x[i] & 1]++;
        CHECK(x[i] < highs[which].as.u);
        bins[(int)((double)x[i] / high * 64) & 63]++;
      }
    }
    CHECK(fabs(chi_square(thirds, 3, N * ROUNDS)) < 5);
    CHECK(fabs(chi_square(odd, 2, N * ROUNDS)) < 5);
    CHECK(fabs(chi_square(bins, 64, N * ROUNDS)) < 5);
  }
}

enum { TEN_MILLION = 10000000, BINS = 1 << 12 };

typedef struct statistics {
  double n, sum[4], product, previous, least, most; /* sums of powers; of neighbours' products */
  int64_t count[BINS];                              /* by cumulative probability */
} statistics;

static void observe(statistics *s, double x, double probability) {
  const int bin = (int)(probability * BINS);
  double power = 1;
  for (int k = 0; k < 4; k++) s->sum[k] += power *= x;
  if (s->n > 0) s->product += x * s->previous;
  s->previous = x;
  s->n++;
  s->least = s->n == 1 || x < s->least ? x : s->least;
  s->most = s->n == 1 || x > s->most ? x : s->most;
  s->count[bin < BINS ? bin : BINS - 1]++;
}

/* Moments (given those of the distribution), neighbours, Kolmogorov and Smirnov's distance at the bins'
 * edges, and the bins' counts: each within 5 of its standard deviations, or its like. */
static void judge(const statistics *s, const double moment[8]) { /* of powers 1 to 8 */
  const double root = sqrt(s->n);
  double distance = 0, below = 0;
  for (int k = 0; k < 4; k++) {
    const double deviation = sqrt(moment[2 * k + 1] - moment[k] * moment[k]);
    CHECK(fabs(s->sum[k] / s->n - moment[k]) < 5 * deviation / root);
  }
  const double variance = moment[1] - moment[0] * moment[0], mean = s->sum[0] / s->n;
  CHECK(fabs(s->product / (s->n - 1) - mean * mean) < 5 * variance / root);
  for (int i = 0; i < BINS; i++) {
    below += (double)s->count[i];
    const double gap = fabs(below / s->n - (i + 1.0) / BINS);
    distance = gap > distance ? gap : distance;
  }
  CHECK(distance * root < 1.95); /* one run in a thousand is beyond */
  CHECK(distance * root > 0.25); /* and one in a million is below: too even is not random either */
  CHECK(fabs(chi_square(s->count, BINS, s->n)) < 5);
}

static void ten_million(bool normal, sb_dtype dtype, int64_t n, statistics *s) {
  static const double uniform_moments[8] = {1 / 2., 1 / 3., 1 / 4., 1 / 5.,
                                            1 / 6., 1 / 7., 1 / 8., 1 / 9.};
  static const double normal_moments[8] = {0, 1, 0, 3, 0, 15, 0, 105};
  const int64_t size = sb_dtype_itemsize(dtype), part = 8000;
  const sb_tensor t = dense(&first, dtype, part);
  sb_generator g = {.seed = 12345};
  memset(s, 0, sizeof *s);
  for (int64_t i = 0; i < n; i += part) {
    EQ(normal ? sb_normal(&t, 0, 1, &g) : sb_uniform(&t, 0, 1, &g), SB_OK);
    for (int64_t k = 0; k < part; k++) {
      const double x = dtype == SB_FLOAT32 ? (double)*(const float *)(const void *)(one + k * size)
                                           : *(const double *)(const void *)(one + k * size);
      observe(s, x, normal ? erfc(x * -0x1.6a09e667f3bcdp-1) / 2 : x);
    }
  }
  judge(s, normal ? normal_moments : uniform_moments);
}

static void uniform_single(void) {
  statistics s;
  ten_million(false, SB_FLOAT32, TEN_MILLION, &s);
  CHECK(s.least >= 0 && s.least < 1e-5 && s.most < 1 && s.most > 1 - 1e-5);
}

static void uniform_double(void) {
  statistics s;
  ten_million(false, SB_FLOAT64, TEN_MILLION / 10, &s);
  CHECK(s.least >= 0 && s.most < 1);
}

static void normal_single(void) {
  statistics s;
  ten_million(true, SB_FLOAT32, TEN_MILLION, &s);
  CHECK(s.least < -4.9 && s.least > -6.56 && s.most > 4.9 && s.most < 6.56);
}

static void normal_double(void) {
  statistics s;
  ten_million(true, SB_FLOAT64, TEN_MILLION / 10, &s);
  CHECK(s.least < -4.3 && s.most > 4.3);
}

/* The transform beside the exact one, for words at the ends and at random. */
static void accuracy(void) {
  static const uint32_t edges[] = {0,          1,          2,          0x25a5a5a5,
                                   0x4afb0ccc, 0x4afb0ccd, 0x7ffffffe, 0x7fffffff};
  double worst = 0, worst_radius = 0, worst2 = 0, worst_radius2 = 0, farthest = 0, farthest2 = 0;
  random_state = 34;
  for (int round = 0; round < 300000; round++) {
    const uint32_t a = round < 8 ? edges[round] : (uint32_t)random_bits() >> (round % 24);
    const uint32_t b = (uint32_t)random_bits(), c = (uint32_t)random_bits();
    const int turn = (int)(b >> 30);
    float x, y;
    const long double v = (long double)(a & 0x7fffffff) * 0x1p-31L;
    const long double r = sqrtl(-2 * log1pl(-v));
    const double radius = (double)sqrtf(sb__radius2_f32(a));
    if (r > 0) worst_radius = fmax(worst_radius, (double)fabsl((long double)radius / r - 1));
    if (r == 0) CHECK(radius == 0);
    farthest = fmax(farthest, radius);
    const long double pi_4 = 0.785398163397448309615660845819875721L;
    long double angle = (long double)((int32_t)(b << 2 | 2)) * 0x1p-31L * pi_4;
    long double wide = turn & 1 ? -cosl(angle) : cosl(angle), thin = sinl(angle);
    sb__circle_f32(b, &x, &y);
    worst = fmax(worst, (double)fabsl((long double)x - (turn & 2 ? thin : wide)));
    worst = fmax(worst, (double)fabsl((long double)y - (turn & 2 ? wide : thin)));
    double p, q;
    const long double v2 = ((long double)(a >> 5) * 0x1p26L + (long double)(c >> 6)) * 0x1p-53L;
    const long double r2 = sqrtl(-2 * log1pl(-v2));
    const double radius2 = sqrt(sb__radius2_f64(c, a));
    if (r2 > 0) worst_radius2 = fmax(worst_radius2, (double)fabsl((long double)radius2 / r2 - 1));
    farthest2 = fmax(farthest2, radius2);
    angle =
        ((long double)(int32_t)(b << 2) * 0x1p-31L + ((long double)(c >> 9) + 0.5L) * 0x1p-52L) *
        pi_4;
    wide = turn & 1 ? -cosl(angle) : cosl(angle), thin = sinl(angle);
    sb__circle_f64(c, b, &p, &q);
    worst2 = fmax(worst2, (double)fabsl((long double)p - (turn & 2 ? thin : wide)));
    worst2 = fmax(worst2, (double)fabsl((long double)q - (turn & 2 ? wide : thin)));
  }
  printf("# float32: radius within %.3g, at most %.4f; circle within %.3g\n", worst_radius,
         farthest, worst);
  printf("# float64: radius within %.3g, at most %.4f; circle within %.3g\n", worst_radius2,
         sqrt(sb__radius2_f64(UINT32_MAX, UINT32_MAX)), worst2);
  CHECK(worst_radius < 2e-7 && worst < 1.2e-7 && worst_radius2 < 4e-16 && worst2 < 3e-16);
  CHECK(farthest > 6.55 && farthest < 6.56);
  CHECK(sqrt(sb__radius2_f64(UINT32_MAX, UINT32_MAX)) > 8.57);
}

/* Fills from elsewhere in the stream, from other streams and seeds have nothing in common. */
static void apart(void) {
  enum { N = 4000 };
  static const sb_generator others[] = {{1, N, 0}, {1, 0, 1}, {2, 0, 0}, {UINT64_C(1) << 32, 0, 0}};
  const sb_tensor a = dense(&first, SB_FLOAT32, N), b = dense(&second, SB_FLOAT32, N);
  const float *x = (const float *)(const void *)one, *y = (const float *)(const void *)two;
  sb_generator g = {.seed = 1};
  EQ(sb_normal(&a, 0, 1, &g), SB_OK);
  for (int i = 0; i < 5; i++) {
    double product = 0;
    int same = 0;
    if (i < 4) {
      g = others[i];
      EQ(sb_normal(&b, 0, 1, &g), SB_OK);
    } else { /* uniform numbers from the same place */
      g = (sb_generator){.seed = 1};
      EQ(sb_uniform(&b, -1.7320508, 1.7320508, &g), SB_OK);
    }
    for (int k = 0; k < N; k++) {
      product += (double)x[k] * (double)y[k];
      same += x[k] == y[k];
    }
    CHECK(fabs(product) < 5 * sqrt(N));
    CHECK(same < 3);
  }
}

/* ---- Errors ---- */

static void refusals(void) {
  static const double no_numbers[] = {NAN, INFINITY, -INFINITY};
  const sb_generator start = {7, 11, 3};
  sb_generator g = start;
  sb_tensor t = dense(&first, SB_FLOAT32, 4);
  memset(one, 0x5a, 64);
  for (int i = 0; i < 3; i++) {
    EQ(sb_uniform(&t, no_numbers[i], 1, &g), SB_ERR_BOUNDS);
    EQ(sb_uniform(&t, 0, no_numbers[i], &g), SB_ERR_BOUNDS);
    EQ(sb_normal(&t, no_numbers[i], 1, &g), SB_ERR_BOUNDS);
    EQ(sb_normal(&t, 0, no_numbers[i], &g), SB_ERR_BOUNDS);
  }
  EQ(sb_uniform(&t, 1, 1, &g), SB_ERR_BOUNDS);
  EQ(sb_uniform(&t, 2, 1, &g), SB_ERR_BOUNDS);
  EQ(sb_uniform(&t, 1, 1 + 1e-12, &g), SB_ERR_BOUNDS);
  CHECK(strstr(sb_error_message(), "float32") != NULL);
  EQ(sb_uniform(&t, -3e38, 3e38, &g), SB_ERR_BOUNDS);
  EQ(sb_uniform(&t, 0, 1e39, &g), SB_ERR_CAST);
  EQ(sb_normal(&t, 0, -1, &g), SB_ERR_BOUNDS);
  EQ(sb_normal(&t, 1e39, 1, &g), SB_ERR_CAST);
  for (int dtype = 0; dtype < SB_DTYPE_COUNT; dtype++) {
    const sb_scalar low = of_int(0), high = of_int(1);
    t = dense(&second, (sb_dtype)dtype, 0);
    const sb_kind kind = sb_dtype_kind((sb_dtype)dtype);
    const bool is_float = kind == SB_FLOATING && sb_dtype_itemsize((sb_dtype)dtype) > 1;
    const bool is_integer = kind == SB_BOOLEAN || kind == SB_UNSIGNED || kind == SB_SIGNED;
    EQ(sb_uniform(&t, 0, 1, &g), is_float ? SB_OK : SB_ERR_DTYPE);
    EQ(sb_normal(&t, 0, 1, &g), is_float ? SB_OK : SB_ERR_DTYPE);
    EQ(sb_randint(&t, &low, &high, &g), is_integer ? SB_OK : SB_ERR_DTYPE);
  }
  const struct {
    sb_dtype dtype;
    sb_scalar low, high;
    sb_status status;
  } rows[] = {
      {SB_INT32, of_int(3), of_int(3), SB_ERR_BOUNDS},
      {SB_INT32, of_int(4), of_int(3), SB_ERR_BOUNDS},
      {SB_INT32, of_real(0.5), of_int(3), SB_ERR_BOUNDS},
      {SB_INT32, of_int(0), of_real(2.5), SB_ERR_BOUNDS},
      {SB_INT32, of_real(NAN), of_int(3), SB_ERR_BOUNDS},
      {SB_INT32, of_int(0), of_real(INFINITY), SB_ERR_BOUNDS},
      {SB_UINT64, of_real(0x1p64), of_real(0x1p64), SB_ERR_BOUNDS},
      {SB_UINT64, of_int(0), of_real(0x1.0000000000001p64), SB_ERR_BOUNDS},
      {SB_INT64, of_real(-0x1.0000000000001p63), of_int(0), SB_ERR_BOUNDS},
      {SB_INT64, of_int(INT64_MIN), of_int(INT64_MIN), SB_ERR_BOUNDS},
      {SB_INT32, of_int(0), (sb_scalar){.kind = SB_SCALAR_COMPLEX}, SB_ERR_ARGUMENT},
      {SB_BOOL, of_int(0), of_int(3), SB_ERR_CAST},
      {SB_BOOL, of_int(-1), of_int(1), SB_ERR_CAST},
      {SB_UINT8, of_int(0), of_int(257), SB_ERR_CAST},
      {SB_INT8, of_int(-129), of_int(0), SB_ERR_CAST},
      {SB_INT8, of_int(0), of_int(129), SB_ERR_CAST},
      {SB_INT64, of_int(0), of_uint((UINT64_C(1) << 63) + 1), SB_ERR_CAST},
      {SB_UINT64, of_int(-1), of_int(1), SB_ERR_CAST},
      {SB_INT8, of_real(-128), of_real(128), SB_OK},
      {SB_INT64, of_int(INT64_MIN), of_uint(UINT64_C(1) << 63), SB_OK},
      {SB_INT64, of_real(-0x1p63), of_real(0x1p63), SB_OK},
      {SB_UINT64, of_real(0), of_real(0x1p64), SB_OK},
      {SB_UINT64, of_uint(UINT64_MAX), of_real(0x1p64), SB_OK},
      {SB_BOOL, (sb_scalar){.kind = SB_SCALAR_BOOL}, of_int(1), SB_OK},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    t = dense(&first, rows[i].dtype, rows[i].status ? 4 : 0);
    EQ(sb_randint(&t, &rows[i].low, &rows[i].high, &g), rows[i].status);
  }
  t = dense(&first, SB_FLOAT32, 4);
  t.flags = SB_READ_ONLY;
  EQ(sb_uniform(&t, 0, 1, &g), SB_ERR_READ_ONLY);
  EQ(sb_normal(&t, 0, 1, &g), SB_ERR_READ_ONLY);
  EQ(sb_tensor_init(&first, SB_INT32, DIMS(4), LIST(0), 0, &t), SB_OK);
  EQ(sb_randint(&t, &rows[18].low, &rows[18].high, &g), SB_ERR_OVERLAP);
  EQ(g.offset, start.offset); /* neither refusals nor empty fills use the stream up */
  t = dense(&first, SB_FLOAT32, 4);
  g.offset = UINT64_MAX - 3;
  EQ(sb_uniform(&t, 0, 1, &g), SB_ERR_BOUNDS);
  EQ(g.offset, UINT64_MAX - 3);
  for (int i = 0; i < 64; i++) EQ(one[i], 0x5a);
  g.offset--;
  EQ(sb_uniform(&t, 0, 1, &g), SB_OK); /* the last words but one */
  EQ(g.offset, UINT64_MAX);
  t = dense(&first, SB_FLOAT64, 1);
  EQ(sb_uniform(&t, 0, 1, &g), SB_ERR_BOUNDS);
}

int main(void) {
  sb__storage_borrow(one, ROOM, &first);
  sb__storage_borrow(two, ROOM, &second);
  test("philox4x32-10 gives the published answers", vectors);
  test("the first values of every draw equal an independent reference", known);
  test("a fill equals the fills of its parts, wherever it is cut", split);
  test("strided targets get the values of dense ones, and no other byte changes", strided);
  test("ranges of a fill make the whole, in any order", ranges);
  test("every instruction set gives the bits of the base level", levels);
  test("a long program of fills has the checksum that every back end has", checksum);
  test("the host's rounding mode and flushing of subnormals change nothing", float_modes);
  test("uniform reaches every multiple of its step and never 1", units);
  test("halves are rounded to nearest, ties to even", halves);
  test("uniform stays within narrow bounds of every dtype", bounds);
  test("integers reach both ends and stay within them", ends);
  test("integers of awkward ranges are all equally likely", unbiased);
  test("the normal transform is as accurate as documented, and so are its tails", accuracy);
  test("ten million uniform float32 pass moments, correlation, Kolmogorov-Smirnov", uniform_single);
  test("a million uniform float64 pass them", uniform_double);
  test("ten million normal float32 pass them", normal_single);
  test("a million normal float64 pass them", normal_double);
  test("other seeds, streams and places are independent", apart);
  test("a refused fill writes nothing and uses nothing up", refusals);
  return done();
}
