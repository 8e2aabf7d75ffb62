/* What bounds a copy on this machine: the barest loops that move the same bytes between the same places. Lines and runs
 * are moved whole, nothing in them is put in order; casts read and write one after the other, and do nothing but convert.
 *
 * Built twice by `scripts/build bench`: for x86 into samebytes_bench.node, and as build/bounds.wasm. to and from are aligned
 * to 64 bytes; stream says whether stores go past the caches, which WebAssembly's cannot: its casts take pages in turn
 * instead. */
#include <stdint.h>

#include "bounds.h"

#if defined(__wasm__) || defined(__x86_64__)

#if defined(__wasm__)
# include <wasm_simd128.h>
# define EXPORT(name) __attribute__((export_name(#name)))
# define TARGET
# define WIDTH 16
typedef v128_t block;
static inline block load(const char *from) { return wasm_v128_load(from); }
static inline void store(char *to, block x, int stream) {
  (void)stream;
  wasm_v128_store(to, x);
}
static inline void end(void) {}
#else
# include <immintrin.h>
# define EXPORT(name)
# define TARGET __attribute__((target("avx2,f16c")))
# define WIDTH 32
typedef __m256i block;
TARGET static inline block load(const char *from) { return _mm256_loadu_si256((const __m256i *)(const void *)from); }
TARGET static inline void store(char *to, block x, int stream) {
  if (stream)
    _mm256_stream_si256((__m256i *)(void *)to, x);
  else
    _mm256_store_si256((__m256i *)(void *)to, x);
}
static inline void end(void) { _mm_sfence(); }
#endif

TARGET static inline void move(char *to, const char *from, int nbytes, int stream) {
  for (int i = 0; i < nbytes; i += WIDTH) store(to + i, load(from + i), stream);
}

/* A transpose of n x n items of size bytes, in bands of rows and columns: squares whose sides are `width` bytes, a line or
 * more. */
TARGET EXPORT(lines) void bound_lines(char *to, const char *from, int n, int size, int rows, int columns, int width, int stream) {
  const int side = width / size;
  const int64_t step = (int64_t)n * size;
  for (int i0 = 0; i0 < n; i0 += rows)
    for (int j0 = 0; j0 < n; j0 += columns)
      for (int j = j0; j < j0 + columns && j < n; j += side)
        for (int i = i0; i < i0 + rows && i < n; i += side)
          for (int k = 0; k < side; k++)
            move(to + (j + k) * step + i * size, from + (i + k) * step + j * size, width, stream);
  end();
}

#if defined(__wasm__)
/* The same by way of a room of rows * (width + 64) bytes: `width` bytes of `rows` rows are copied there side by side, at once, and moved on in squares whose
 * sides are `line` bytes. */
EXPORT(packed) void bound_packed(char *to, const char *from, int n, int size, int rows, int width, int line, char *room) {
  const int side = line / size, apart = width + 64;
  const int64_t step = (int64_t)n * size;
  for (int i0 = 0; i0 < n; i0 += rows)
    for (int j0 = 0; j0 < n * size; j0 += width) {
      for (int i = 0; i < rows; i++) __builtin_memcpy(room + i * apart, from + (i0 + i) * step + j0, (unsigned)width);
      for (int j = 0; j < width / size; j += side)
        for (int i = 0; i < rows; i += side)
          for (int k = 0; k < side; k++)
            move(to + (j0 / size + j + k) * step + (i0 + i) * size, room + (i + k) * apart + j * size, line, 0);
    }
}

/* The same by way of a room of (rows + 4) * width bytes: `width` bytes of `rows` rows go there in strips of 16 bytes each. Four rows at a time are
 * written from them, each line some time after a byte of it was read. */
EXPORT(strips) void bound_strips(char *to, const char *from, int n, int size, int rows, int width, char *room) {
  const int step = n * size, run = rows * size, strip = 16 * rows + 64;
  for (int i0 = 0; i0 < n; i0 += rows)
    for (int j0 = 0; j0 < step; j0 += width) {
      for (int i = 0; i < rows; i++)
        for (int j = 0; j < width; j += 16) store(room + j / 16 * strip + i * 16, load(from + (i0 + i) * step + j0 + j), 0);
      for (int j = 0; j < width / size; j += 4) {
        char *line = to + (j0 / size + j) * step + i0 * size;
        const char *next = j + 4 < width / size ? line + 4 * step : line;
        for (int i = 0; i < run; i += 64) {
          for (int k = 0; k < 4; k++) (void)*(const volatile char *)(next + k * step + i);
          for (int k = 0; k < 4; k++) move(line + k * step + i, room + (j + k) * size / 16 * strip + (j + k) % (16 / size) * run + i, 64, 0);
        }
      }
    }
}
#endif

/* The permute (3, 1, 0, 2) of a x b x c x d items: runs of the c items that lie side by side in what is written, `together` of
 * them after each other. */
TARGET EXPORT(runs) void bound_runs(char *to, const char *from, int a, int b, int d, int run, int together, int stream) {
  for (int j = 0; j < b; j++)
    for (int i0 = 0; i0 < a; i0 += together)
      for (int l = 0; l < d; l++)
        for (int i = i0; i < i0 + together && i < a; i++)
          move(to + (((int64_t)l * b + j) * a + i) * run, from + (((int64_t)i * b + j) * d + l) * run, run, stream);
  end();
}

#if defined(__wasm__)
/* Stores, or what the engine has for it. */
EXPORT(copy) void bound_copy(char *to, const char *from, int nbytes, int at_once) {
  if (at_once)
    __builtin_memcpy(to, from, (unsigned)nbytes);
  else
    move(to, from, nbytes, 0);
}

EXPORT(fill) void bound_fill(char *to, int nbytes, int at_once) {
  const v128_t x = wasm_f32x4_const_splat(1.5f);
  if (at_once)
    __builtin_memset(to, 1, (unsigned)nbytes);
  else
    for (int i = 0; i < nbytes; i += 16) wasm_v128_store(to + i, x);
}

/* Casts, of numbers alone: nothing is rounded that the instructions do not round, nothing asks for infinities, NaN or
 * subnormals. */
# define ZIP_LOW(a, b) wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
# define ZIP_HIGH(a, b) wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
# define BOTH(to, expression, a, b) \
  do {                              \
    v128_t x = (a);                 \
    wasm_v128_store(to, expression);       \
    x = (b);                        \
    wasm_v128_store((to) + 16, expression); \
  } while (0)

static inline void uint8_to_float32(char *to, const char *from) {
  const v128_t bytes = wasm_u16x8_load8x8(from), upper = wasm_i16x8_const_splat(0x4b00);
  BOTH(to, wasm_f32x4_sub(x, wasm_f32x4_const_splat(0x1p23f)), ZIP_LOW(bytes, upper), ZIP_HIGH(bytes, upper));
}

static inline void float32_to_float64(char *to, const char *from) {
  const v128_t a = load(from), b = load(from + 16);
  BOTH(to, wasm_f64x2_promote_low_f32x4(x), a, wasm_i64x2_shuffle(a, a, 1, 1));
  BOTH(to + 32, wasm_f64x2_promote_low_f32x4(x), b, wasm_i64x2_shuffle(b, b, 1, 1));
}

static inline v128_t four_singles(const char *from) {
  const v128_t low = wasm_f32x4_demote_f64x2_zero(load(from));
  return wasm_i64x2_shuffle(low, wasm_f32x4_demote_f64x2_zero(load(from + 16)), 0, 2);
}
static inline void float64_to_float32(char *to, const char *from) {
  BOTH(to, x, four_singles(from), four_singles(from + 32));
}

static inline v128_t four_halves(v128_t x) {
  const v128_t sign = wasm_v128_and(wasm_u32x4_shr(x, 16), wasm_i32x4_const_splat(0x8000));
  const v128_t magnitude = wasm_v128_and(x, wasm_i32x4_const_splat(0x7fffffff));
  return wasm_v128_or(sign, wasm_i32x4_sub(wasm_u32x4_shr(magnitude, 13), wasm_i32x4_const_splat(0x1c000)));
}
static inline void float32_to_float16(char *to, const char *from) {
  wasm_v128_store(to, wasm_u16x8_narrow_i32x4(four_halves(load(from)), four_halves(load(from + 16))));
}

static inline void float16_to_float32(char *to, const char *from) {
  const v128_t halves = load(from), zero = wasm_i16x8_const_splat(0), without = wasm_i32x4_const_splat((int)0x8fffffff);
  BOTH(to, wasm_f32x4_mul(wasm_v128_and(wasm_i32x4_shr(x, 3), without), wasm_f32x4_const_splat(0x1p112f)), ZIP_LOW(zero, halves),
       ZIP_HIGH(zero, halves));
}

static inline void float32_to_bfloat16(char *to, const char *from) {
  wasm_v128_store(to, wasm_u16x8_narrow_i32x4(wasm_u32x4_shr(load(from), 16), wasm_u32x4_shr(load(from + 16), 16)));
}

static inline void bfloat16_to_float32(char *to, const char *from) {
  const v128_t brains = load(from), zero = wasm_i16x8_const_splat(0);
  BOTH(to, x, ZIP_LOW(zero, brains), ZIP_HIGH(zero, brains));
}

/* One after the other, or 64 elements of each of some pages in turn; n is a multiple of 8. */
static inline void each(char *to, const char *from, int n, int to_size, int from_size, void (*eight)(char *, const char *),
                        int in_turn) {
  enum { PAGE = 2048, PAGES = 4, SLICE = 64 };
  int i = 0;
  for (; in_turn && i + PAGES * PAGE <= n; i += PAGES * PAGE)
    for (int k = i; k < i + PAGE; k += SLICE)
      for (int p = k; p < k + PAGES * PAGE; p += PAGE)
        for (int e = p; e < p + SLICE; e += 8) eight(to + e * to_size, from + e * from_size);
  for (; i < n; i += 8) eight(to + i * to_size, from + i * from_size);
}

EXPORT(cast) void bound_casts(char *to, const char *from, int n, int which, int in_turn) {
  switch (which) {
    case 0: each(to, from, n, 4, 1, uint8_to_float32, in_turn); break;
    case 1: each(to, from, n, 8, 4, float32_to_float64, in_turn); break;
    case 2: each(to, from, n, 4, 8, float64_to_float32, in_turn); break;
    case 3: each(to, from, n, 2, 4, float32_to_float16, in_turn); break;
    case 4: each(to, from, n, 4, 2, float16_to_float32, in_turn); break;
    case 5: each(to, from, n, 2, 4, float32_to_bfloat16, in_turn); break;
    default: each(to, from, n, 4, 2, bfloat16_to_float32, in_turn); break;
  }
}
#else
# define LOOP(step) for (int64_t i = 0; i < n; i += (step))

TARGET static void uint8_to_float32(char *to, const char *from, int64_t n, int stream) {
  LOOP(8) {
    const __m128i x = _mm_loadl_epi64((const __m128i *)(const void *)(from + i));
    store(to + 4 * i, _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(x))), stream);
  }
}

TARGET static void float32_to_float64(char *to, const char *from, int64_t n, int stream) {
  LOOP(4) store(to + 8 * i, _mm256_castpd_si256(_mm256_cvtps_pd(_mm_loadu_ps((const float *)(const void *)(from + 4 * i)))), stream);
}

TARGET static void float64_to_float32(char *to, const char *from, int64_t n, int stream) {
  LOOP(8) {
    const double *x = (const double *)(const void *)(from + 8 * i);
    const __m128 low = _mm256_cvtpd_ps(_mm256_loadu_pd(x)), high = _mm256_cvtpd_ps(_mm256_loadu_pd(x + 4));
    store(to + 4 * i, _mm256_castps_si256(_mm256_set_m128(high, low)), stream);
  }
}

TARGET static void float32_to_float16(char *to, const char *from, int64_t n, int stream) {
  LOOP(16) {
    const float *x = (const float *)(const void *)(from + 4 * i);
    const __m128i low = _mm256_cvtps_ph(_mm256_loadu_ps(x), 0), high = _mm256_cvtps_ph(_mm256_loadu_ps(x + 8), 0);
    store(to + 2 * i, _mm256_set_m128i(high, low), stream);
  }
}

TARGET static void float16_to_float32(char *to, const char *from, int64_t n, int stream) {
  LOOP(8) {
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(from + 2 * i));
    store(to + 4 * i, _mm256_castps_si256(_mm256_cvtph_ps(x)), stream);
  }
}

/* Truncated, which is less than our rounding. */
TARGET static void float32_to_bfloat16(char *to, const char *from, int64_t n, int stream) {
  LOOP(16) {
    const __m256i low = _mm256_srli_epi32(load(from + 4 * i), 16), high = _mm256_srli_epi32(load(from + 4 * i + 32), 16);
    store(to + 2 * i, _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8), stream);
  }
}

TARGET static void bfloat16_to_float32(char *to, const char *from, int64_t n, int stream) {
  LOOP(8) {
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)(from + 2 * i));
    store(to + 4 * i, _mm256_slli_epi32(_mm256_cvtepu16_epi32(x), 16), stream);
  }
}

void bound_cast(char *to, const char *from, int64_t n, int which, int stream) {
  static void (*const casts[])(char *, const char *, int64_t, int) = {
      uint8_to_float32,   float32_to_float64,  float64_to_float32, float32_to_float16,
      float16_to_float32, float32_to_bfloat16, bfloat16_to_float32};
  if (which >= 0 && which < 7) casts[which](to, from, n, stream);
  end();
}
#endif

#else
typedef int no_bounds;
#endif
