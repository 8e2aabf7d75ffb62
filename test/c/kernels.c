#include "program.h"

#include <fenv.h>
#include <math.h>
#include <sys/mman.h>

#include "kernels/kernels.h"

#if defined(__SSE__)
# include <xmmintrin.h>
#endif

/* Every level that this processor has, against plain loops or the scalar level. */

static const sb__kernels *levels[SB__MOST_LEVELS];
static int level_count;

enum { ROOM = 1 << 18, GUARD = 0xa5 };
static unsigned char from[ROOM] __attribute__((aligned(64)));
static unsigned char out[ROOM] __attribute__((aligned(64))), wanted[ROOM];

/* Numbers as floats meet them: NaNs, infinities, subnormals, halves between two values. */
static uint32_t edgy_float(void) {
  static const uint32_t edges[] = {0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x33000000,
                                   0x33000001, 0x387fe000, 0x387fefff, 0x387ff000, 0x38800000,
                                   0x3f801000, 0x3f803000, 0x437f0000, 0x43800000, 0x477fe000,
                                   0x477fefff, 0x477ff000, 0x47800000, 0x4effffff, 0x4f000000,
                                   0x4f7fffff, 0x4f800000, 0x7f7f7fff, 0x7f7f8000, 0x7f7fffff,
                                   0x7f800000, 0x7f800001, 0x7fc00000, 0x7fc01234, 0x7fffffff};
  const uint32_t sign = (uint32_t)random_in(0, 1) << 31;
  if (random_in(0, 2) == 0) return (uint32_t)random_bits();
  return sign |
         (edges[random_in(0, sizeof edges / sizeof *edges - 1)] + (uint32_t)random_in(-2, 2));
}

static const char *failing; /* what a failed comparison was about */
static void same(size_t nbytes) {
  if (!memcmp(out, wanted, nbytes)) return;
  size_t i = 0;
  while (out[i] == wanted[i]) i++;
  if (check_failures++ < 5)
    printf("  %s: byte %zu is %02x, not %02x\n", failing, i, out[i], wanted[i]);
}

static void transposes(void) {
  random_state = 41;
  for (int l = 0; l < level_count; l++) {
    for (int round = 0; round < 3000; round++) {
      const int64_t size = INT64_C(1) << random_in(0, 4);
      const int64_t rows = random_in(1, round % 8 ? 70 : 140),
                    columns = random_in(1, round % 8 ? 70 : 140);
      const bool streams = levels[l]->stream && round % 4 == 0;
      int64_t to_step = rows * size + random_in(0, 9);
      const int64_t from_step = columns * size + random_in(0, 9);
      const int64_t at = streams ? 64 : random_in(0, 130);
      if (streams) to_step = (to_step + 63) / 64 * 64;
      const size_t all = (size_t)(at + columns * to_step + 200);
      if (all > ROOM || (size_t)(rows * from_step + 3) > ROOM) continue;
      noise(from, (size_t)(rows * from_step + 8) / 8 * 8);
      memset(out, GUARD, all);
      memset(wanted, GUARD, all);
      for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++)
          memcpy(wanted + at + c * to_step + r * size, from + 3 + r * from_step + c * size,
                 (size_t)size);
      levels[l]->transpose((char *)out + at, to_step, (char *)from + 3, from_step, rows, columns,
                           size, streams, round % 2);
      if (streams) levels[l]->stream_end();
      failing = levels[l]->level;
      same(all);
    }
  }
}

/* Tiles of random vectors: each is made of random bytes of some loads, its own or shared ones. */
static void shuffles(void) {
  static const int32_t shared[][2] = {{2, 2}, {3, 3}, {4, 3}, {4, 4}}; /* loads, vectors */
  random_state = 42;
  for (int l = 0; l < level_count; l++) {
    for (int round = 0; round < 4000 && levels[l]->shuffle; round++) {
      sb__shuffles s = {.shared = round % 2, .overlaps = round / 2 % 2};
      const int32_t *form = shared[random_in(0, 3)];
      s.loads = s.shared ? form[0] : (int32_t)random_in(1, SB__MOST_LOADS);
      s.vectors = s.shared ? form[1] : (int32_t)random_in(1, SB__MOST_SHUFFLES / SB__MOST_LOADS);
      const int64_t n = random_in(0, 11), at = random_in(0, 70), nbytes = 16 * s.vectors;
      const bool planes = random_in(0, 2) == 0; /* a vector of each tile in each plane */
      const int64_t to_step = planes ? 16 : nbytes + random_in(0, 1) * random_in(0, 40);
      const int64_t vector_step = planes ? 16 * n + random_in(0, 40) : 16;
      const int64_t from_step = random_in(0, 3) ? random_in(-60, 60) : 16;
      const size_t all = (size_t)(at + 16384);
      const unsigned char *middle = from + 8192;
      for (int32_t i = 0; i < s.vectors * s.loads; i++) {
        s.offset[i] = s.shared && i >= s.loads ? s.offset[i - s.loads] : random_in(-500, 500);
        memset(s.mask[i], 0x80, 16);
      }
      for (int32_t v = 0; v < s.vectors; v++) {
        for (int64_t byte = 0; byte < 16; byte++)
          s.mask[v * s.loads + random_in(0, s.loads - 1)][byte] = (uint8_t)random_in(0, 15);
      }
      noise(from, 16384);
      memset(out, GUARD, all);
      memset(wanted, GUARD, all);
      for (int64_t i = 0; i < n * s.vectors * s.loads * 16; i++) {
        const int64_t byte = i % 16, load = i / 16 % s.loads, v = i / 16 / s.loads % s.vectors,
                      t = i / 16 / s.loads / s.vectors;
        const uint8_t place = s.mask[v * s.loads + load][byte];
        if (place < 16)
          wanted[at + t * to_step + v * vector_step + byte] =
              middle[t * from_step + s.offset[v * s.loads + load] + place];
      }
      levels[l]->shuffle((char *)out + at, to_step, vector_step, (const char *)middle, from_step, n,
                         &s);
      failing = levels[l]->level;
      same(all);
    }
  }
}

/* Windows of random bytes to others. The last byte that is read or written may be the last of a page before one that is not there. */
static void windows(void) {
  const int64_t page = 4096;
  unsigned char *pages[2]; /* of the target, of the source */
  for (int i = 0; i < 2; i++) {
    pages[i] =
        mmap(NULL, 2 * (size_t)page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(pages[i] != MAP_FAILED && !mprotect(pages[i] + page, (size_t)page, PROT_NONE));
  }
  random_state = 46;
  for (int l = 0; l < level_count; l++) {
    for (int round = 0; round < 4000 && levels[l]->permute; round++) {
      sb__permutation p = {.writes = 0};
      int64_t to_end = 0, from_end = 0;
      const int64_t n = random_in(1, 9);
      const int64_t steps[2] = {random_in(-64, 64), random_in(-64, 64)};
      for (int i = 0; i < SB__PERMUTED_BYTES; i++) {
        if (random_in(0, round % 5) || (p.writes && i > round % 64)) continue;
        p.index[i] = (uint8_t)random_in(0, 63);
        p.writes |= UINT64_C(1) << i;
        p.reads |= UINT64_C(1) << p.index[i];
        to_end = i + 1;
        if (from_end <= p.index[i]) from_end = p.index[i] + 1;
      }
      const int64_t first = random_in(0, 2), rest = n - 1;
      const int64_t at = page - first - to_end - (steps[0] > 0 ? rest * steps[0] : 0);
      const int64_t source = page - first - from_end - (steps[1] > 0 ? rest * steps[1] : 0);
      noise(from, (size_t)page);
      memcpy(pages[1], from, (size_t)page);
      memset(wanted, GUARD, (size_t)page);
      memset(pages[0], GUARD, (size_t)page);
      for (int64_t k = 0; k < n; k++)
        for (int i = 0; i < SB__PERMUTED_BYTES; i++)
          if (p.writes >> i & 1)
            wanted[at + k * steps[0] + i] = from[source + k * steps[1] + p.index[i]];
      levels[l]->permute((char *)pages[0] + at, steps[0], (char *)pages[1] + source, steps[1], n,
                         &p);
      memcpy(out, pages[0], (size_t)page);
      failing = levels[l]->level;
      same((size_t)page);
    }
  }
  for (int i = 0; i < 2; i++) munmap(pages[i], 2 * (size_t)page);
}

/* Tiles of bytes that become floats. */
static void float_tiles(void) {
  random_state = 44;
  for (int l = 0; l < level_count; l++) {
    for (int round = 0; round < 3000 && levels[l]->shuffle_floats; round++) {
      sb__shuffles s = {.shared = round % 2, .loads = 1};
      s.vectors = s.shared && round % 4 == 1 ? 3 : (int32_t)random_in(1, SB__MOST_VECTORS);
      const int64_t n = random_in(0, 11), at = 4 * random_in(0, 20), nbytes = 16 * s.vectors;
      const bool planes = random_in(0, 1);
      const int64_t to_step = planes ? 16 : nbytes + 4 * random_in(0, 9);
      const int64_t vector_step = planes ? 16 * n + 4 * random_in(0, 9) : 16;
      const int64_t from_step = random_in(0, 3) ? random_in(-60, 60) : 16;
      const unsigned char *middle = from + 8192;
      memset(s.mask, 0x80, sizeof s.mask);
      noise(from, 16384);
      memset(out, GUARD, 32768);
      memset(wanted, GUARD, 32768);
      for (int32_t v = 0; v < s.vectors; v++) {
        s.offset[v] = s.shared && v ? s.offset[0] : random_in(-500, 500);
        for (int k = 0; k < 4; k++) {
          s.mask[v][4 * k] = (uint8_t)random_in(0, 15);
          s.scale[v][k] = (float)random_in(-1000, 1000) / 7;
          s.bias[v][k] = (float)random_in(-1000, 1000) / 3;
          for (int64_t i = 0; i < n; i++) {
            const unsigned char x = middle[i * from_step + s.offset[v] + s.mask[v][4 * k]];
            const float product = (float)x * s.scale[v][k];
            const float sum = product + s.bias[v][k];
            memcpy(wanted + at + i * to_step + v * vector_step + 4 * k, &sum, 4);
          }
        }
      }
      levels[l]->shuffle_floats((char *)out + at, to_step, vector_step, (const char *)middle,
                                from_step, n, &s);
      failing = levels[l]->level;
      same(32768);
    }
  }
}

static void streams_and_fills(void) {
  random_state = 43;
  for (int l = 0; l < level_count; l++) {
    for (int round = 0; round < 3000; round++) {
      const bool pages = round % 64 == 0; /* streamed side by side */
      const int64_t n = random_in(0, pages ? 100000 : 600), at = random_in(0, 130);
      const size_t all = (size_t)n + 400;
      memset(out, GUARD, all);
      memset(wanted, GUARD, all);
      noise(from, all);
      failing = levels[l]->level;
      if (levels[l]->stream) {
        memcpy(wanted + at, from + 7, (size_t)n);
        levels[l]->stream((char *)out + at, (const char *)from + 7, n);
        levels[l]->stream_end();
        same(all);
      }
      const int64_t size = INT64_C(1) << random_in(0, 4), whole = n - n % size;
      memset(out, GUARD, all);
      memset(wanted, GUARD, all);
      for (int64_t i = size; i < 16; i++) from[i] = from[i - size];
      for (int64_t i = 0; i < whole; i++) wanted[at + i] = from[i % 16];
      levels[l]->fill((char *)out + at, (const char *)from, whole);
      same(all);
    }
  }
}

/* Fills of any dtype and place, long enough to go past the caches or not, with nothing written beside them. */
static void fills(void) {
  sb_storage to;
  random_state = 49;
  for (int l = 0; l < level_count; l++) {
    sb__kernels_use(levels[l]);
    failing = levels[l]->level;
    for (int round = 0; round < 600; round++) {
      static const sb_dtype dtypes[] = {SB_UINT8, SB_INT16, SB_FLOAT32, SB_FLOAT64, SB_COMPLEX128};
      const sb_dtype dtype = dtypes[round % 5];
      const int64_t at = 8 * random_in(0, 8); /* complex numbers need no more */
      const int64_t size = sb_dtype_itemsize(dtype), first = random_in(0, 70),
                    gap = random_in(0, 2);
      const int64_t shape[2] = {random_in(1, 3), random_in(1, 20000 / size)};
      const int64_t strides[2] = {shape[1] + gap, 1};
      const size_t all = (size_t)(at + (first + 3 * strides[0]) * size + 200);
      char item[16];
      sb_tensor t, one;
      sb_storage single;
      const sb_scalar value = {.kind = SB_SCALAR_INT, .as.i = random_in(0, 120)};
      memset(out, GUARD, all);
      memset(wanted, GUARD, all);
      sb__storage_borrow(out + at, sizeof out - (size_t)at, &to);
      sb__storage_borrow(item, sizeof item, &single);
      EQ(sb_tensor_init(&single, dtype, 0, NULL, NULL, 0, &one), SB_OK);
      EQ(sb_fill(&one, &value), SB_OK);
      for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t k = 0; k < shape[1]; k++)
          memcpy(wanted + at + (first + i * strides[0] + k) * size, item, (size_t)size);
      EQ(sb_tensor_init(&to, dtype, 2, shape, strides, first, &t), SB_OK);
      EQ(sb_fill(&t, &value), SB_OK);
      same(all);
    }
  }
  sb__kernels_use(NULL);
}

/* One cast by the forms, the reference for all loops. */
static void by_forms(sb_dtype a, sb_dtype b, const char *in, char *to, int64_t n) {
  static sb__chunk chunk;
  const int64_t x = sb_dtype_itemsize(a), y = sb_dtype_itemsize(b);
  for (int64_t i = 0; i < n; i += SB__CHUNK) {
    const int64_t count = n - i < SB__CHUNK ? n - i : SB__CHUNK;
    const sb__form form = sb__load(a, &chunk, in + i * x, x, count);
    sb__store(b, to + i * y, y, form, &chunk, count);
  }
}

static void cast_both(int l, sb_dtype a, sb_dtype b, sb__cast cast, int64_t n) {
  static char name[100];
  const size_t all = (size_t)(n * sb_dtype_itemsize(b)) + 64;
  if (!cast || all > ROOM) return;
  memset(out, GUARD, all);
  memset(wanted, GUARD, all);
  by_forms(a, b, (const char *)from, (char *)wanted, n);
  cast((char *)out, (const char *)from, n);
  snprintf(name, sizeof name, "%s, %s to %s", levels[l]->level, sb_dtype_name(a), sb_dtype_name(b));
  failing = name;
  same(all);
}

static void casts(void) {
  random_state = 44;
  for (int l = 0; l < level_count; l++) {
    for (int d = 0; d < SB_DTYPE_COUNT; d++) {
      const sb__cast in = levels[l]->f32_from[d], back = levels[l]->from_f32[d];
      for (int round = 0; round < 300; round++) {
        const int64_t n = round % 3 ? random_in(0, 70) : random_in(0, 3000);
        noise(from, 8 * 3000);
        cast_both(l, (sb_dtype)d, SB_FLOAT32, in, n);
        for (int64_t i = 0; i < n; i++) {
          memcpy(from + 4 * i, &(uint32_t){edgy_float()}, 4);
        }
        cast_both(l, SB_FLOAT32, (sb_dtype)d, back, n);
      }
      if (sb_dtype_itemsize((sb_dtype)d) > 2) continue;
      for (int i = 0; i < 65536; i++) memcpy(from + 2 * i, &(uint16_t){(uint16_t)i}, 2);
      cast_both(l, (sb_dtype)d, SB_FLOAT32, in, 65000);
      for (int i = 0; i < 1000; i++) memcpy(from + 2 * i, &(uint16_t){(uint16_t)(64600 + i)}, 2);
      cast_both(l, (sb_dtype)d, SB_FLOAT32, in, 936);
    }
  }
}

/* Numbers at the limits of integers, and what edgy_float has. */
static double edgy_double(void) {
  static const int bits[] = {-25, -24, -14, 0, 1, 7, 8, 11, 15, 16, 31, 32, 51, 53, 63, 64};
  float single;
  memcpy(&single, &(uint32_t){edgy_float()}, 4);
  if (random_in(0, 3) == 0) return (double)single;
  const double limit = ldexp(random_in(0, 1) ? 1 : -1, bits[random_in(0, 15)]);
  double x = limit + (double)random_in(-4, 4) / 4;
  if (random_in(0, 3) == 0) x = limit * (1 + (double)random_in(-9, 9) * 0x1p-12);
  if (random_in(0, 1)) x = nextafter(x, random_in(0, 1) ? INFINITY : -INFINITY);
  return x;
}

static void direct_casts(void) {
  random_state = 55;
  for (int l = 0; l < level_count; l++) {
    int seen = 0;
    for (int a = 0; levels[l]->direct && a < SB_DTYPE_COUNT; a++) {
      for (int round = 0; round < 200; round++) {
        const int64_t n = round % 3 ? random_in(0, 70) : random_in(0, 3000);
        noise(from, 8 * 3000);
        for (int64_t i = 0; i < n && round % 4; i++) { /* bytes of bool, and small numbers */
          const double x = edgy_double();
          if (a == SB_FLOAT64)
            memcpy(from + 8 * i, &x, 8);
          else if (a == SB_FLOAT32)
            memcpy(from + 4 * i, &(float){(float)x}, 4);
          else if (random_in(0, 1))
            memset(from + sb_dtype_itemsize((sb_dtype)a) * i, 0,
                   (size_t)sb_dtype_itemsize((sb_dtype)a));
        }
        for (int b = 0; b < SB_DTYPE_COUNT; b++) {
          const sb__cast cast = (*levels[l]->direct)[a][b];
          cast_both(l, (sb_dtype)a, (sb_dtype)b, cast, n);
          seen += cast != NULL;
        }
      }
    }
    CHECK(!levels[l]->direct || seen >= 200 * 60);
  }
}

/* float32 to a short float, all patterns beside each of the 65536 values and halfway between them. */
static void halves(void) {
  static const sb_dtype shorts[] = {SB_FLOAT16, SB_BFLOAT16};
  for (int l = 0; l < level_count; l++) {
    for (int d = 0; d < 2; d++) {
      for (int part = 0; part < 65536; part += 4096) {
        float x[4096];
        uint16_t bits[4096];
        for (int i = 0; i < 4096; i++) bits[i] = (uint16_t)(part + i);
        by_forms(shorts[d], SB_FLOAT32, (const char *)bits, (char *)x, 4096);
        for (int k = 0; k < 6; k++) {
          const uint32_t half = d ? 0x8000u : 0x1000u;
          for (int i = 0; i < 4096; i++) {
            uint32_t y;
            memcpy(&y, &x[i], 4);
            y += (k > 2 ? half : 0) + (uint32_t)(k % 3) - 1;
            memcpy(from + 4 * i, &y, 4);
          }
          cast_both(l, SB_FLOAT32, shorts[d], levels[l]->from_f32[shorts[d]], 4096);
        }
      }
    }
  }
}

/* A scaled cast by the forms. */
static void scaled_by_forms(sb_dtype a, const char *in, char *to, int64_t n, float scale,
                            float bias) {
  static sb__chunk chunk;
  const double factors[2] = {(double)scale, (double)bias};
  const int64_t x = sb_dtype_itemsize(a);
  for (int64_t i = 0; i < n; i += SB__CHUNK) {
    const int64_t count = n - i < SB__CHUNK ? n - i : SB__CHUNK;
    sb__scale_chunk(&chunk, sb__load(a, &chunk, in + i * x, x, count), count, true,
                    (const char *)&factors[0], 0, (const char *)&factors[1], 0);
    sb__store(SB_FLOAT32, to + i * 4, 4, SB__FORM_REAL, &chunk, count);
  }
}

static void scales(void) {
  random_state = 45;
  for (int l = 0; l < level_count; l++) {
    for (int d = 0; d < SB_DTYPE_COUNT; d++) {
      if (!levels[l]->scaled_from[d]) continue;
      for (int round = 0; round < 400; round++) {
        const int64_t n = random_in(0, 300);
        const size_t all = (size_t)(4 * n + 64);
        const uint32_t edges[2] = {edgy_float(), edgy_float()};
        float scale = (float)random_in(-999, 999) / 255, bias = (float)random_in(-99, 99) / 7;
        if (round % 4 == 0) memcpy(&scale, &edges[0], 4);
        if (round % 8 == 0) memcpy(&bias, &edges[1], 4);
        for (int64_t i = 0; i < 300; i++) memcpy(from + 4 * i, &(uint32_t){edgy_float()}, 4);
        if (round % 3 == 0) memset(from, 0, 64);
        memset(out, GUARD, all);
        memset(wanted, GUARD, all);
        scaled_by_forms((sb_dtype)d, (const char *)from, (char *)wanted, n, scale, bias);
        levels[l]->scaled_from[d]((float *)(void *)out, (const char *)from, n, scale, bias);
        failing = levels[l]->level;
        same(all);
      }
    }
  }
}

static int sends_seen;

/* Casts past the caches: whole lines, the bits of the scalar level, no byte beside them. */
static void sent(const sb__nontemporal_casts *sends, sb_dtype a, sb_dtype b, int64_t n, float scale,
                 float bias) {
  const sb__kernels *scalar = levels[0];
  const int64_t size = sb_dtype_itemsize(b), at = 64 * random_in(0, 3);
  const size_t all = (size_t)(at + n * size + 128);
  const bool doubles = b == SB_FLOAT64 && a != SB_FLOAT32;
  const sb__cast cast = b == SB_FLOAT32 ? scalar->f32_from[a] : scalar->from_f32[b];
  const sb__cast send = doubles           ? sends->f64_from[a]
                        : b == SB_FLOAT32 ? sends->f32_from[a]
                                          : sends->from_f32[b];
  const char *in = (const char *)from + 3 * sb_dtype_itemsize(a);
  if (send) {
    memset(out, GUARD, all);
    memset(wanted, GUARD, all);
    if (doubles)
      by_forms(a, b, in, (char *)wanted + at, n);
    else
      cast((char *)wanted + at, in, n);
    send((char *)out + at, in, n);
    sends_seen++;
    same(all);
  }
  if (b != SB_FLOAT32 || !sends->scaled_from[a]) return;
  memset(out, GUARD, all);
  memset(wanted, GUARD, all);
  scalar->scaled_from[a]((float *)(void *)(wanted + at), in, n, scale, bias);
  sends->scaled_from[a]((float *)(void *)(out + at), in, n, scale, bias);
  sends_seen++;
  same(all);
}

static void sends(void) {
  random_state = 48;
  for (int l = 0; l < level_count; l++) {
    if (!levels[l]->nontemporal) continue;
    failing = levels[l]->level;
    sends_seen = 0;
    for (int round = 0; round < 300; round++) {
      const uint32_t edges[2] = {edgy_float(), edgy_float()};
      float scale = (float)random_in(-999, 999) / 255, bias = (float)random_in(-99, 99) / 7;
      if (round % 4 == 0) memcpy(&scale, &edges[0], 4);
      if (round % 8 == 0) memcpy(&bias, &edges[1], 4);
      for (int d = 0; d < SB_DTYPE_COUNT; d++) {
        const int64_t n = 64 * random_in(0, round % 50 ? 6 : 200);
        for (int i = 0; i < 13000; i++)
          memcpy(from + 8 * i, &(uint64_t){(uint64_t)edgy_float() << 32 | edgy_float()}, 8);
        if (d == SB_FLOAT64) /* what rounds to edges of float32, and doubles of any kind */
          for (int i = 0; i < 13000; i += 2) {
            const uint32_t bits = edgy_float();
            float x;
            memcpy(&x, &bits, 4);
            const double y = (double)x * (1 + (double)random_in(-2, 2) * 0x1p-25);
            memcpy(from + 8 * i, &y, 8);
          }
        sent(levels[l]->nontemporal, (sb_dtype)d, SB_FLOAT32, n, scale, bias);
        sent(levels[l]->nontemporal, SB_FLOAT32, (sb_dtype)d, n, scale, bias);
        sent(levels[l]->nontemporal, (sb_dtype)d, SB_FLOAT64, n, scale, bias);
      }
    }
    CHECK(sends_seen >= 300 * 20);
  }
}

static void programs(void) {
  uint64_t sums[SB__MOST_LEVELS];
  for (int l = 0; l < level_count; l++) {
    sb__kernels_use(levels[l]);
    sums[l] = program(4000);
    EQ(sums[l], sums[0]);
  }
  sb__kernels_use(NULL);
}

/* Numbers that a fill has to round. */
static uint64_t filled(void) {
  static const double values[] = {0.1, -1e-7, 3e-39, -2.5e-310, 65519, 1e38};
  static const sb_dtype dtypes[] = {SB_FLOAT16, SB_BFLOAT16, SB_FLOAT32, SB_FLOAT64};
  uint64_t sum = 0;
  for (size_t i = 0; i < 24; i++) {
    sb_storage storage;
    sb_tensor t;
    uint64_t item[2] = {0};
    sb__storage_borrow(item, sizeof item, &storage);
    EQ(sb_tensor_init(&storage, dtypes[i / 6], DIMS(1), NULL, 0, &t), SB_OK);
    const sb_scalar value = {.kind = SB_SCALAR_REAL, .as.real = values[i % 6]};
    sum = sum * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)sb_fill(&t, &value) + item[0];
  }
  return sum;
}

static void environments_of_level(void) {
#if defined(__SSE__)
  static const uint32_t modes[] = {0x9fc0, 0x3f80, 0x5f80, 0x7f80,
                                   0xffc0}; /* FTZ, DAZ, each rounding */
  const uint64_t sum = program(400) + filled();
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    _mm_setcsr(modes[i]);
    const uint64_t other = program(400) + filled();
    EQ(_mm_getcsr() & ~0x3fu, modes[i] & ~0x3fu);
    _mm_setcsr(0x1f80);
    EQ(other, sum);
  }
#else
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  const uint64_t sum = program(400) + filled();
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
    fesetround(modes[i]);
    const uint64_t other = program(400) + filled();
    EQ(fegetround(), modes[i]);
    fesetround(FE_TONEAREST);
    EQ(other, sum);
  }
#endif
}

static void environments(void) {
  for (int l = 0; l < level_count; l++) {
    sb__kernels_use(levels[l]);
    environments_of_level();
  }
  sb__kernels_use(NULL);
}

/* Permuted, cut and turned round, at sizes that reach every kind of plan, against single elements. */
static void layouts(void) {
  enum { SIZE = 1 << 16 };
  static char a[SIZE], b[SIZE], model[SIZE];
  static const sb_dtype sizes[] = {SB_UINT8, SB_INT16, SB_FLOAT32, SB_COMPLEX64, SB_COMPLEX128};
  sb_storage to, read;
  random_state = 47;
  sb__storage_borrow(a, SIZE, &to);
  sb__storage_borrow(b, SIZE, &read);
  for (int l = 0; l < level_count; l++) {
    sb__kernels_use(levels[l]);
    for (int round = 0; round < 1500; round++) {
      const sb_dtype dtype = sizes[round % 5];
      const int64_t size = sb_dtype_itemsize(dtype);
      const int32_t ndim = (int32_t)random_in(1, 5);
      int64_t shape[5], order[5], index[SB_MAX_DIMS] = {0}, room = SIZE / size / 2;
      sb_tensor dst, src;
      for (int32_t d = 0; d < ndim; d++) {
        static const int64_t likely[] = {1, 2, 3, 4, 5, 8, 16, 17, 33, 64, 70};
        shape[d] = likely[random_in(0, 10)];
        if (shape[d] > room) shape[d] = room;
        room /= shape[d];
        order[d] = d;
      }
      for (int32_t d = 0; d < ndim; d++) {
        const int32_t other = (int32_t)random_in(0, ndim - 1);
        const int64_t was = order[d];
        order[d] = order[other];
        order[other] = was;
      }
      EQ(sb_tensor_init(&read, dtype, ndim, shape, NULL, random_in(0, 5), &src), SB_OK);
      EQ(sb_permute(&src, ndim, order, &src), SB_OK);
      EQ(sb_tensor_init(&to, dtype, ndim, src.shape, NULL, random_in(0, 5), &dst), SB_OK);
      for (int32_t d = 0; d < ndim; d++) {
        sb_tensor *t = random_in(0, 1) ? &dst : &src;
        if (random_in(0, 7)) continue;
        t->offset += (t->shape[d] - 1) * t->strides[d];
        t->strides[d] = -t->strides[d];
      }
      noise(a, SIZE);
      noise(b, SIZE);
      memcpy(model, a, SIZE);
      do
        memcpy(model + place_of(&dst, index) * size, b + place_of(&src, index) * size,
               (size_t)size);
      while (next_index(&dst, index));
      EQ(sb_copy(&dst, &src, SB_CASTING_SAFE, NULL), SB_OK);
      CHECK(!memcmp(a, model, SIZE));
    }
  }
  sb__kernels_use(NULL);
}

/* Transposes of several blocks, to rows that begin with lines or not. */
static void blocks(void) {
  static const sb_dtype dtypes[] = {SB_UINT8, SB_INT16, SB_FLOAT32, SB_FLOAT64, SB_COMPLEX128};
  sb_storage s, t;
  random_state = 53;
  sb__storage_borrow(from, sizeof from, &s);
  sb__storage_borrow(out, sizeof out, &t);
  noise(from, ROOM);
  for (int l = 0; l < level_count; l++) {
    sb__kernels_use(levels[l]);
    failing = levels[l]->level;
    for (int round = 0; round < 200; round++) {
      const sb_dtype dtype = dtypes[round % 5];
      const int64_t size = sb_dtype_itemsize(dtype), most = ROOM / 2 / size, line = 64 / size;
      const int64_t columns = random_in(1, round % 2 ? 600 : 90),
                    fit = most / columns < 700 ? most / columns : 700;
      const int64_t rows =
          round % 3 || fit < line ? random_in(1, fit) : random_in(1, fit / line) * line;
      const int64_t step = round % 3 || (rows + line) * columns > most ? rows : rows + line;
      const int64_t at = round % 4 ? random_in(0, 5) * line : random_in(0, 70),
                    read = random_in(0, 9);
      const int64_t strides[] = {step, 1};
      const int64_t shape[] = {columns, rows};
      sb_tensor src, dst;
      memset(out, GUARD, ROOM);
      memset(wanted, GUARD, ROOM);
      for (int64_t c = 0; c < columns; c++)
        for (int64_t r = 0; r < rows; r++)
          memcpy(wanted + (at + c * step + r) * size, from + (read + r * columns + c) * size,
                 (size_t)size);
      EQ(sb_tensor_init(&s, dtype, DIMS(rows, columns), NULL, read, &src), SB_OK);
      EQ(sb_transpose(&src, 0, 1, &src), SB_OK);
      EQ(sb_tensor_init(&t, dtype, 2, shape, strides, at, &dst), SB_OK);
      EQ(sb_copy(&dst, &src, SB_CASTING_SAFE, NULL), SB_OK);
      same(ROOM);
    }
  }
  sb__kernels_use(NULL);
}

static void payloads(void) { /* a copy keeps the bits of any NaN */
  uint32_t nans[300], copied[300];
  int64_t n = 300;
  sb_storage s, t;
  sb_tensor src, dst;
  for (uint32_t i = 0; i < 300; i++) nans[i] = (i & 1) << 31 | 0x7f800000u | (i + 1) << 10 | i;
  sb__storage_borrow(nans, sizeof nans, &s);
  sb__storage_borrow(copied, sizeof copied, &t);
  for (int l = 0; l < level_count; l++) {
    sb__kernels_use(levels[l]);
    for (int back = 0; back < 2; back++) {
      memset(copied, 0, sizeof copied);
      EQ(sb_tensor_init(&s, SB_FLOAT32, DIMS(20, 15), NULL, 0, &src), SB_OK);
      if (back) EQ(sb_transpose(&src, 0, 1, &src), SB_OK);
      EQ(sb_tensor_init(&t, SB_FLOAT32, 2, src.shape, NULL, 0, &dst), SB_OK);
      EQ(sb_copy(&dst, &src, SB_CASTING_SAFE, NULL), SB_OK);
      for (int64_t i = 0; i < n; i++) EQ(copied[i], nans[back ? i % 20 * 15 + i / 20 : i]);
    }
  }
  sb__kernels_use(NULL);
}

static void choice(void) {
  for (int l = 0; l < level_count; l++) {
    setenv("SAMEBYTES_ISA", levels[l]->level, 1);
    sb__kernels_use(NULL);
    CHECK(sb__kernels_now() == levels[l]);
  }
  static const char *const others[] = {"", "avx3", "neon ", "AVX2"};
  for (int i = 0; i < 4; i++) {
    setenv("SAMEBYTES_ISA", others[i], 1);
    sb__kernels_use(NULL);
    CHECK(sb__kernels_now() == levels[level_count - 1]);
  }
  unsetenv("SAMEBYTES_ISA");
  sb__kernels_use(NULL);
}

int main(void) {
  level_count = sb__kernels_all(levels);
  printf("# levels:");
  for (int l = 0; l < level_count; l++) printf(" %s", levels[l]->level);
  printf("\n");
  test("SAMEBYTES_ISA forces a level; another name counts for nothing", choice);
  test("transposes of every item size at every level, with odd extents and guarded edges",
       transposes);
  test("tiles are shuffled at every level, with guarded edges", shuffles);
  test("windows are permuted at every level that does, and no other byte is touched", windows);
  test("tiles of bytes become floats at every level, product and sum rounded", float_tiles);
  test("streams and fills write their bytes and no other", streams_and_fills);
  test("fills write their items and no other byte, at every level", fills);
  test("what is sent past the caches has the bits of the scalar level", sends);
  test("casts from and to float32 at every level equal the casts by forms", casts);
  test("direct casts at every level equal the casts by forms", direct_casts);
  test("float32 rounds to float16 and bfloat16 as the forms do, beside every value and halfway",
       halves);
  test("scaled casts round the product and the sum, at every level as the forms do", scales);
  test("permuted, cut and reversed layouts arrive element by element, at every level", layouts);
  test("transposes of several blocks write their bytes and no other, at every level", blocks);
  test("copies and transposes keep the payload of NaNs", payloads);
  test("a long program of copies, casts, scales and fills has one checksum at every level",
       programs);
  test("rounding and denormals as the host set them change nothing, and are restored",
       environments);
  return done();
}
