/* What bounds a copy on this machine: the barest loops that move the same bytes between the same places. Lines and runs
 * are moved whole, nothing in them is put in order; casts read and write one after the other, and do nothing but convert.
 *
 * Built twice by `.ci/build bench`: for x86 into samebytes_bench.node, and as build/bounds.wasm. to and from are aligned
 * to 64 bytes; stream says whether stores go past the caches, which WebAssembly's cannot. */
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
/* uint8 to float32. */
EXPORT(widen) void bound_widen(char *to, const char *from, int n) {
  for (int i = 0; i < n; i += 4, to += 16) {
    const v128_t x = wasm_v128_load32_zero(from + i);
    wasm_v128_store(to, wasm_f32x4_convert_u32x4(wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(x))));
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
