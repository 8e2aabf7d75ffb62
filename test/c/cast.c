#include "check.h"

static uint64_t cast(sb_dtype from, const void *value, sb_dtype to) {
  char in[16] __attribute__((aligned(16))) = {0}, out[16] __attribute__((aligned(16))) = {0};
  sb_storage a, b;
  sb_tensor src, dst;
  uint64_t bits = 0;
  memcpy(in, value, (size_t)sb_dtype_itemsize(from));
  sb__storage_borrow(in, 16, &a);
  sb__storage_borrow(out, 16, &b);
  EQ(sb_tensor_init(&a, from, 0, NULL, NULL, 0, &src), SB_OK);
  EQ(sb_tensor_init(&b, to, 0, NULL, NULL, 0, &dst), SB_OK);
  EQ(sb_copy(&dst, &src, SB_CASTING_UNSAFE, NULL), SB_OK);
  memcpy(&bits, out, sb_dtype_itemsize(to) < 8 ? (size_t)sb_dtype_itemsize(to) : 8);
  for (int i = (int)sb_dtype_itemsize(to); i < 16; i++) EQ(out[i], 0);
  return bits;
}
static uint64_t of_real(double x, sb_dtype to) { return cast(SB_FLOAT64, &x, to); }
static uint64_t of_int(int64_t x, sb_dtype to) { return cast(SB_INT64, &x, to); }
static uint64_t of_uint(uint64_t x, sb_dtype to) { return cast(SB_UINT64, &x, to); }

static void halves(void) {
  static const struct {
    double x;
    int bits;
  } rows[] = {{0, 0},
              {-0.0, 0x8000},
              {1, 0x3c00},
              {-2, 0xc000},
              {65504, 0x7bff},
              {65519.99, 0x7bff},
              {65520, 0x7c00},
              {1e300, 0x7c00},
              {-INFINITY, 0xfc00},
              {NAN, 0x7e00},
              {-NAN, 0x7e00},
              {0x1.002p0, 0x3c00},
              {0x1.006p0, 0x3c02},
              {0x1.0020000000001p0, 0x3c01},
              {0x1.ffep0, 0x4000},
              {0x1p-24, 1},
              {0x1p-25, 0},
              {0x1.0000000000001p-25, 1},
              {0x1.8p-24, 2},
              {0x1.4p-23, 2},
              {-0x1p-25, 0x8000},
              {0x1.ff8p-15, 0x3ff},
              {0x1.ffcp-15, 0x400},
              {0x1p-14, 0x400},
              {0x1p-1074, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    EQ(of_real(rows[i].x, SB_FLOAT16), rows[i].bits);
}

static void brains(void) {
  static const struct {
    double x;
    int bits;
  } rows[] = {{0, 0},
              {-0.0, 0x8000},
              {1, 0x3f80},
              {0x1.01p0, 0x3f80},
              {0x1.03p0, 0x3f82},
              {0x1.0100000000001p0, 0x3f81},
              {0x1.fep127, 0x7f7f},
              {0x1.fep127 + 0x1p118, 0x7f7f},
              {0x1.ffp127, 0x7f80},
              {1e300, 0x7f80},
              {-INFINITY, 0xff80},
              {NAN, 0x7fc0},
              {-NAN, 0x7fc0},
              {0x1p-133, 1},
              {0x1p-134, 0},
              {0x1.8p-133, 2},
              {0x1.0000000000001p-134, 1},
              {0x1p-126, 0x80},
              {0x1.fcp-127, 0x7f}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    EQ(of_real(rows[i].x, SB_BFLOAT16), rows[i].bits);
}

static void eighths(void) {
  static const struct {
    double x;
    int e4m3, e5m2;
  } rows[] = {{0, 0, 0},
              {-0.0, 0x80, 0x80},
              {1, 0x38, 0x3c},
              {NAN, 0x7f, 0x7e},
              {INFINITY, 0x7f, 0x7c},
              {448, 0x7e, 0x5f},
              {464, 0x7e, 0x5f},
              {464.001, 0x7f, 0x5f},
              {57344, 0x7f, 0x7b},
              {61439.9, 0x7f, 0x7b},
              {61440, 0x7f, 0x7c},
              {1.0625, 0x38, 0x3c},
              {1.1875, 0x3a, 0x3d},
              {1.125, 0x39, 0x3c},
              {1.375, 0x3b, 0x3e},
              {0x1p-9, 1, 0x18},
              {0x1p-10, 0, 0x14},
              {0x1.8p-9, 2, 0x1a},
              {0x1p-16, 0, 1},
              {0x1p-17, 0, 0},
              {0x1.0000000000001p-17, 0, 1},
              {0x1.8p-16, 0, 2},
              {-0x1p-6, 0x88, 0xa4}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    EQ(of_real(rows[i].x, SB_FLOAT8_E4M3FN), rows[i].e4m3);
    EQ(of_real(rows[i].x, SB_FLOAT8_E5M2), rows[i].e5m2);
  }
  EQ(of_real(-INFINITY, SB_FLOAT8_E5M2), 0xfc);
  EQ(of_real(-INFINITY, SB_FLOAT8_E4M3FN) & 0x7f, 0x7f); /* NaN: it has no infinity */
}

static void singles(void) {
  const uint64_t payload = 0xfff4000000000123u;
  EQ(of_real(0.1, SB_FLOAT32), 0x3dcccccd);
  EQ(of_real(0x1p-149, SB_FLOAT32), 1);
  EQ(of_real(0x1p-150, SB_FLOAT32), 0);
  EQ(of_real(0x1.8p-149, SB_FLOAT32), 2);
  EQ(of_real(1e39, SB_FLOAT32), 0x7f800000);
  EQ(cast(SB_FLOAT64, &payload, SB_FLOAT32), 0x7fc00000);
  EQ(cast(SB_FLOAT64, &payload, SB_FLOAT64), payload); /* equal dtypes copy bits */
  const uint32_t nan = 0xff800001;
  EQ(cast(SB_FLOAT32, &nan, SB_FLOAT64), 0x7ff8000000000000);
  EQ(cast(SB_FLOAT32, &nan, SB_FLOAT32), nan);
  EQ(cast(SB_FLOAT32, &nan, SB_FLOAT16), 0x7e00);
}

static void integers(void) {
  EQ(of_int(16777217, SB_FLOAT32), 0x4b800000);
  EQ(of_int(16777219, SB_FLOAT32), 0x4b800002);
  EQ(of_int((INT64_C(1) << 62) + (INT64_C(1) << 38), SB_FLOAT32), 0x5e800000); /* a tie */
  EQ(of_int((INT64_C(1) << 62) + (INT64_C(1) << 38) + 1, SB_FLOAT32), 0x5e800001);
  EQ(of_int(-(INT64_C(1) << 62) - (INT64_C(1) << 38) - 1, SB_FLOAT32), 0xde800001);
  EQ(of_int((INT64_C(1) << 62) + (INT64_C(1) << 54), SB_BFLOAT16), 0x5e80);
  EQ(of_int((INT64_C(1) << 62) + (INT64_C(1) << 54) + 1, SB_BFLOAT16), 0x5e81);
  EQ(of_int(-(INT64_C(1) << 62) - (INT64_C(1) << 54) - 1, SB_BFLOAT16), 0xde81);
  EQ(of_uint((UINT64_C(1) << 63) + (UINT64_C(1) << 55) + 1, SB_BFLOAT16), 0x5f01);
  EQ(of_uint((UINT64_C(1) << 63) + (UINT64_C(1) << 39) + 1, SB_FLOAT32), 0x5f000001);
  EQ(of_uint(UINT64_MAX, SB_FLOAT32), 0x5f800000);
  EQ(of_uint(UINT64_MAX, SB_BFLOAT16), 0x5f80);
  EQ(of_int(INT64_MIN, SB_FLOAT32), 0xdf000000);
  EQ(of_int(INT64_MIN, SB_BFLOAT16), 0xdf00);
  EQ(of_int(65519, SB_FLOAT16), 0x7bff);
  EQ(of_int(65520, SB_FLOAT16), 0x7c00);
  EQ(of_int(2049, SB_FLOAT16), 0x6800);
  EQ(of_int(2051, SB_FLOAT16), 0x6802);
  EQ(of_int(9007199254740993, SB_FLOAT64), 0x4340000000000000);
  EQ(of_int(-1, SB_UINT8), 255);
  EQ(of_int(-1, SB_UINT64), UINT64_MAX);
  EQ(of_int(300, SB_INT8), 44);
  EQ(of_uint(UINT64_MAX, SB_INT32), 0xffffffff);
  EQ(of_int(256, SB_BOOL), 1);
  const uint8_t seven = 7;
  EQ(cast(SB_BOOL, &seven, SB_UINT8), 1);
  EQ(cast(SB_BOOL, &seven, SB_BOOL), 7); /* equal dtypes copy bits */
  EQ(cast(SB_BOOL, &seven, SB_FLOAT32), 0x3f800000);
}

static void truncation(void) {
  EQ(of_real(1e300, SB_INT32), INT32_MAX);
  EQ(of_real(-1e300, SB_INT32), (uint32_t)INT32_MIN);
  EQ(of_real(NAN, SB_INT32), 0);
  EQ(of_real(-1, SB_UINT8), 0);
  EQ(of_real(300.7, SB_UINT8), 255);
  EQ(of_real(-1.9, SB_INT8), 0xff);
  EQ(of_real(1.9, SB_INT8), 1);
  EQ(of_real(-129, SB_INT8), 0x80);
  EQ(of_real(0x1p63, SB_INT64), INT64_MAX);
  EQ(of_real(-INFINITY, SB_INT64), INT64_MIN);
  EQ(of_real(0x1p64, SB_UINT64), UINT64_MAX);
  EQ(of_real(0x1.fffffffffffffp63, SB_UINT64), 0xfffffffffffff800);
  EQ(of_real(-0.5, SB_UINT64), 0);
  EQ(of_real(0.5, SB_BOOL), 1);
  EQ(of_real(NAN, SB_BOOL), 1);
  EQ(of_real(-0.0, SB_BOOL), 0);
  const sb_complex128 c = {2.75, 9}, i = {0, 1};
  EQ(cast(SB_COMPLEX128, &c, SB_INT16), 2);
  EQ(cast(SB_COMPLEX128, &c, SB_FLOAT32), 0x40300000);
  EQ(cast(SB_COMPLEX128, &i, SB_BOOL), 1);
  EQ(cast(SB_COMPLEX128, &c, SB_COMPLEX64), 0x4110000040300000);
}

static void round_trips(void) {
  static const struct {
    sb_dtype dtype;
    int count, mantissa, bias, largest, nan, sign;
  } rows[] = {{SB_FLOAT16, 65536, 10, 15, 0x7bff, 0x7e00, 0x8000},
              {SB_BFLOAT16, 65536, 7, 127, 0x7f7f, 0x7fc0, 0x8000},
              {SB_FLOAT8_E4M3FN, 256, 3, 7, 0x7e, 0x7f, 0x80},
              {SB_FLOAT8_E5M2, 256, 2, 15, 0x7b, 0x7e, 0x80}};
  static const sb_dtype by[] = {SB_FLOAT64, SB_FLOAT32, SB_COMPLEX64, SB_COMPLEX128};
  for (int r = 0; r < 4; r++) {
    static uint16_t in[65536], out[65536];
    static sb_complex128 room[65536];
    const int64_t size = sb_dtype_itemsize(rows[r].dtype), count[1] = {rows[r].count};
    for (int p = 0; p < rows[r].count; p++) memcpy((char *)in + p * size, &p, (size_t)size);
    for (int k = 0; k < 4; k++) {
      sb_storage a, b, c;
      sb_tensor src, mid, dst;
      sb__storage_borrow(in, sizeof in, &a);
      sb__storage_borrow(room, sizeof room, &b);
      sb__storage_borrow(out, sizeof out, &c);
      EQ(sb_tensor_init(&a, rows[r].dtype, 1, count, NULL, 0, &src), SB_OK);
      EQ(sb_tensor_init(&b, by[k], 1, count, NULL, 0, &mid), SB_OK);
      EQ(sb_tensor_init(&c, rows[r].dtype, 1, count, NULL, 0, &dst), SB_OK);
      EQ(sb_copy(&mid, &src, SB_CASTING_SAFE, NULL), SB_OK);
      EQ(sb_copy(&dst, &mid, SB_CASTING_UNSAFE, NULL), SB_OK);
      for (int p = 0; p < rows[r].count; p++) {
        int bits = 0;
        memcpy(&bits, (char *)out + p * size, (size_t)size);
        const int m = p & (rows[r].sign - 1);
        const bool infinite = rows[r].dtype != SB_FLOAT8_E4M3FN && m == rows[r].largest + 1;
        EQ(bits, m <= rows[r].largest || infinite ? p : rows[r].nan);
        if (k) continue;
        const double x = ((double *)(void *)room)[p];
        if (m > rows[r].largest) {
          CHECK(infinite ? isinf(x) : isnan(x));
          continue;
        }
        const int e = m >> rows[r].mantissa, f = m & ((1 << rows[r].mantissa) - 1);
        const double y = ldexp(e ? f + (1 << rows[r].mantissa) : f,
                               (e ? e : 1) - rows[r].bias - rows[r].mantissa);
        CHECK(x == (p & rows[r].sign ? -y : y));
      }
    }
  }
}

static sb_status fill(sb_dtype dtype, sb_scalar value, uint64_t *bits) {
  char out[48] __attribute__((aligned(16)));
  sb_storage s;
  sb_tensor t;
  memset(out, 0x5a, sizeof out);
  sb__storage_borrow(out, sizeof out, &s);
  EQ(sb_tensor_init(&s, dtype, DIMS(1), NULL, 1, &t), SB_OK);
  const sb_status status = sb_fill(&t, &value);
  const size_t size = (size_t)sb_dtype_itemsize(dtype);
  for (size_t i = 0; i < sizeof out; i++)
    if (status || i < size || i >= 2 * size) EQ(out[i], 0x5a);
  *bits = 0;
  memcpy(bits, out + size, size < 8 ? size : 8);
  return status;
}
#define INT(x) ((sb_scalar){.kind = SB_SCALAR_INT, .as.i = x})
#define UINT(x) ((sb_scalar){.kind = SB_SCALAR_UINT, .as.u = x})
#define REAL(x) ((sb_scalar){.kind = SB_SCALAR_REAL, .as.real = x})
#define COMPLEX(x, y) ((sb_scalar){.kind = SB_SCALAR_COMPLEX, .as.c = {x, y}})
#define TRUE_ ((sb_scalar){.kind = SB_SCALAR_BOOL, .as.i = 1})
#define FITS(dtype, value, expected)    \
 do {                                   \
  EQ(fill(dtype, value, &bits), SB_OK); \
  EQ(bits, expected);                   \
 } while (0)
#define MISFITS(dtype, value) EQ(fill(dtype, value, &bits), SB_ERR_CAST)

static void fits(void) {
  uint64_t bits = 0;
  FITS(SB_UINT8, INT(255), 255);
  MISFITS(SB_UINT8, INT(256));
  MISFITS(SB_UINT8, INT(-1));
  FITS(SB_UINT8, REAL(3), 3);
  MISFITS(SB_UINT8, REAL(1.5));
  MISFITS(SB_UINT8, REAL(300));
  MISFITS(SB_UINT8, REAL(NAN));
  FITS(SB_UINT8, REAL(-0.0), 0);
  FITS(SB_INT8, INT(-128), 0x80);
  MISFITS(SB_INT8, INT(-129));
  MISFITS(SB_INT8, INT(128));
  FITS(SB_INT8, TRUE_, 1);
  FITS(SB_INT64, INT(INT64_MIN), INT64_MIN);
  MISFITS(SB_INT64, UINT(UINT64_C(1) << 63));
  MISFITS(SB_INT64, REAL(0x1p63));
  FITS(SB_INT64, REAL(-0x1p63), INT64_MIN);
  MISFITS(SB_INT64, REAL(-0x1.0000000000001p63));
  MISFITS(SB_INT64, REAL(INFINITY));
  FITS(SB_UINT64, UINT(UINT64_MAX), UINT64_MAX);
  MISFITS(SB_UINT64, INT(-1));
  MISFITS(SB_UINT64, REAL(0x1p64));
  FITS(SB_UINT64, REAL(0x1.fffffffffffffp63), 0xfffffffffffff800);
  FITS(SB_BOOL, TRUE_, 1);
  FITS(SB_BOOL, INT(0), 0);
  MISFITS(SB_BOOL, INT(2));
  MISFITS(SB_BOOL, REAL(0.5));
  MISFITS(SB_BOOL, INT(-1));
  FITS(SB_FLOAT32, REAL(0.1), 0x3dcccccd);
  MISFITS(SB_FLOAT32, REAL(1e39));
  FITS(SB_FLOAT32, REAL(-INFINITY), 0xff800000);
  FITS(SB_FLOAT32, REAL(NAN), 0x7fc00000);
  FITS(SB_FLOAT32, INT(16777217), 0x4b800000);
  FITS(SB_FLOAT16, REAL(65519.99), 0x7bff);
  MISFITS(SB_FLOAT16, REAL(65520));
  MISFITS(SB_FLOAT16, INT(65520));
  MISFITS(SB_FLOAT16, UINT(UINT64_MAX));
  FITS(SB_BFLOAT16, UINT(UINT64_MAX), 0x5f80);
  FITS(SB_FLOAT8_E4M3FN, REAL(464), 0x7e);
  MISFITS(SB_FLOAT8_E4M3FN, REAL(465));
  MISFITS(SB_FLOAT8_E4M3FN, REAL(INFINITY));
  FITS(SB_FLOAT8_E4M3FN, REAL(NAN), 0x7f);
  FITS(SB_FLOAT8_E5M2, REAL(INFINITY), 0x7c);
  MISFITS(SB_FLOAT8_E5M2, REAL(61440));
  MISFITS(SB_INT32, COMPLEX(1, 0));
  MISFITS(SB_FLOAT64, COMPLEX(1, 0));
  FITS(SB_COMPLEX64, COMPLEX(1, 2), 0x400000003f800000);
  MISFITS(SB_COMPLEX64, COMPLEX(1, 1e39));
  FITS(SB_COMPLEX64, INT(1), 0x3f800000);
  EQ(fill(SB_INT8, (sb_scalar){.kind = 5}, &bits), SB_ERR_ARGUMENT);
  sb_tensor none;
  EQ(sb_tensor_init(NULL, SB_UINT8, DIMS(0), NULL, 0, &none), SB_OK);
  EQ(sb_fill(&none, &INT(256)), SB_ERR_CAST);
  EQ(sb_fill(&none, &INT(255)), SB_OK);
}

static void parts(void) { /* each part of a complex number counts */
  uint64_t bits = 0;
  MISFITS(SB_COMPLEX64, COMPLEX(INFINITY, 1e39));
  MISFITS(SB_COMPLEX64, COMPLEX(1e39, NAN));
}

enum { LONG = 20000, SHORT = 100, PADDED = LONG + 80 };
static char long_in[16 * PADDED] __attribute__((aligned(64)));
static char long_out[16 * PADDED] __attribute__((aligned(64))), long_wanted[16 * PADDED];

/* Elements at to first + n of one row as a copy of their own; with factors, one for each. */
static void cast_part(sb_storage *in, sb_storage *out, sb_storage *by, sb_dtype from, sb_dtype to,
                      int64_t at, int64_t first, int64_t n) {
  sb_tensor src, dst, factors;
  EQ(sb_tensor_init(in, from, 1, &n, NULL, first, &src), SB_OK);
  EQ(sb_tensor_init(out, to, 1, &n, NULL, at + first, &dst), SB_OK);
  if (!by) {
    EQ(sb_copy(&dst, &src, SB_CASTING_UNSAFE, NULL), SB_OK);
    return;
  }
  EQ(sb_tensor_init(by, SB_FLOAT64, 1, &n, NULL, first, &factors), SB_OK);
  EQ(sb_copy_scaled(&dst, &src, &factors, &factors, 0, SB_CASTING_UNSAFE, NULL), SB_OK);
}

/* Rows that are streamed, in pages side by side, and the same in pieces that are not. */
static void long_rows(void) {
  static double factor[PADDED];
  sb_storage in, out, wanted, by;
  random_state = 46;
  for (int i = 0; i < PADDED; i++) factor[i] = (double)random_in(-999, 999) / 64;
  sb__storage_borrow(long_in, sizeof long_in, &in);
  sb__storage_borrow(long_out, sizeof long_out, &out);
  sb__storage_borrow(long_wanted, sizeof long_wanted, &wanted);
  sb__storage_borrow(factor, sizeof factor, &by);
  for (int pair = 0; pair < SB_DTYPE_COUNT * SB_DTYPE_COUNT * 2; pair++) {
    const sb_dtype from = (sb_dtype)(pair / 2 / SB_DTYPE_COUNT),
                   to = (sb_dtype)(pair / 2 % SB_DTYPE_COUNT);
    const bool scaled = pair % 2, by_forms = from != SB_FLOAT32 && to != SB_FLOAT32;
    const bool is_complex = sb_dtype_kind(from) == SB_COMPLEX || sb_dtype_kind(to) == SB_COMPLEX;
    const int64_t at = random_in(0, 70), n = LONG - random_in(0, 200);
    if (sb_dtype_itemsize(from) == 0 || sb_dtype_itemsize(to) == 0 || (scaled && is_complex))
      continue;
    if (by_forms && random_in(0, 4)) continue;
    for (size_t i = 0; i + 8 <= sizeof long_in; i += 8)
      memcpy(long_in + i, &(uint64_t){random_bits()}, 8);
    memset(long_out, 0xa5, sizeof long_out);
    memset(long_wanted, 0xa5, sizeof long_wanted);
    cast_part(&in, &out, scaled ? &by : NULL, from, to, at, 0, n);
    for (int64_t i = 0; i < n; i += SHORT)
      cast_part(&in, &wanted, scaled ? &by : NULL, from, to, at, i, n - i < SHORT ? n - i : SHORT);
    CHECK(!memcmp(long_out, long_wanted, sizeof long_out));
  }
}

int main(void) {
  test("float64 → float16 rounds to even, with subnormals, infinities and the canonical NaN",
       halves);
  test("float64 → bfloat16 rounds to even, with subnormals, infinities and the canonical NaN",
       brains);
  test("float64 → float8 rounds to even; float8_e4m3fn has NaN where it has no infinity", eighths);
  test("float32 takes the nearest value, keeps bits of its own, and casts NaN to the canonical one",
       singles);
  test("64-bit integers round once on their way to short floats, and wrap to short integers",
       integers);
  test("unsafe casts to integers truncate and saturate; NaN is 0", truncation);
  test("every bit pattern of float16, bfloat16 and float8 comes back from wider floats",
       round_trips);
  test("sb_fill writes a value that fits and nothing else, and refuses one that does not", fits);
  test("sb_fill refuses a complex number of which one part overflows beside an infinity or NaN",
       parts);
  test("a row that is streamed is cast and scaled as its parts are", long_rows);
  return done();
}
