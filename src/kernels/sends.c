/* Casts whose results go past the caches from registers, for the levels of x86 from avx2 on: memory is what they wait for,
 * not the width of vectors, so that one set of loops is enough. */
#include "kernels/kernels.h"

#if defined(__x86_64__)
# include <float.h>
# include <immintrin.h>
# include <math.h>

/* Only what follows may use them, whatever the file is compiled for. */
# if defined(__clang__)
#  pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
# else
#  pragma GCC push_options
#  pragma GCC target("avx2,f16c")
# endif

# define INLINE static inline __attribute__((always_inline))
# define AHEAD 2048 /* bytes between what is read and what is asked for; measured */

/* ---- Each gives half a line of what is written ---- */

INLINE __m256i blend(__m256i x, int32_t nan, __m256 of) {
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(of, of, _CMP_UNORD_Q));
  return _mm256_blendv_epi8(x, _mm256_set1_epi32(nan), is_nan);
}

INLINE __m256i canonical(__m256 x) { return blend(_mm256_castps_si256(x), 0x7fc00000, x); }

INLINE __m256 floats(const char *from) { return _mm256_loadu_ps((const void *)from); }

INLINE __m256i f32_from_u8(const char *from) {
  const __m128i x = _mm_loadl_epi64((const void *)from);
  return _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(x)));
}

INLINE __m256i f32_from_f64(const char *from) {
  const double *x = (const void *)from;
  const __m128 low = _mm256_cvtpd_ps(_mm256_loadu_pd(x));
  return canonical(_mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(x + 4)), low));
}

INLINE __m256i f16_from_f32(const char *from) {
  const __m128i low = _mm256_cvtps_ph(floats(from), _MM_FROUND_TO_NEAREST_INT);
  const __m128i high = _mm256_cvtps_ph(floats(from + 32), _MM_FROUND_TO_NEAREST_INT);
  const __m256i half = _mm256_set_m128i(high, low);
  const __m256i magnitude = _mm256_and_si256(half, _mm256_set1_epi16(0x7fff));
  const __m256i is_nan = _mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16(0x7c00));
  return _mm256_blendv_epi8(half, _mm256_set1_epi16(0x7e00), is_nan);
}

/* Eight in 32 bits each. */
INLINE __m256i brains(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i sum = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  return blend(_mm256_srli_epi32(sum, 16), 0x7fc0, x);
}

INLINE __m256i bf16_from_f32(const char *from) {
  const __m256i mixed = _mm256_packus_epi32(brains(floats(from)), brains(floats(from + 32)));
  return _mm256_permute4x64_epi64(mixed, 0xd8);
}

/* ---- Whole lines ---- */

/* step: bytes that are read for half a line */
INLINE void send(char *to, const char *from, int64_t nbytes, __m256i (*cast)(const char *),
                 int64_t step) {
  for (int64_t i = 0; i < nbytes; i += 64, from += 2 * step) {
    for (int64_t k = 0; step > 32 && k < 2 * step; k += 64)
      _mm_prefetch(from + AHEAD + k, _MM_HINT_T0);
    _mm256_stream_si256((void *)(to + i), cast(from));
    _mm256_stream_si256((void *)(to + i + 32), cast(from + step));
  }
}

static void send_f32_from_u8(char *to, const char *from, int64_t n) {
  send(to, from, 4 * n, f32_from_u8, 8);
}

static void send_f32_from_f64(char *to, const char *from, int64_t n) {
  send(to, from, 4 * n, f32_from_f64, 64);
}

static void send_f16_from_f32(char *to, const char *from, int64_t n) {
  send(to, from, 2 * n, f16_from_f32, 64);
}

static void send_bf16_from_f32(char *to, const char *from, int64_t n) {
  send(to, from, 2 * n, bf16_from_f32, 64);
}

/* finite: no NaN can come of it. */
INLINE void send_scaled(float *to, const char *from, int64_t n, __m256 scale, __m256 bias,
                        bool finite) {
  for (int64_t i = 0; i < n; i += 8) {
    const __m256 x = _mm256_castsi256_ps(f32_from_u8(from + i));
    const __m256 sum = _mm256_add_ps(_mm256_mul_ps(x, scale), bias);
    _mm256_stream_si256((void *)(to + i), finite ? _mm256_castps_si256(sum) : canonical(sum));
  }
}

static void send_scaled_from_u8(float *to, const char *from, int64_t n, float scale, float bias) {
  const __m256 factor = _mm256_set1_ps(scale), term = _mm256_set1_ps(bias);
  if (fabsf(scale) <= FLT_MAX && fabsf(bias) <= FLT_MAX)
    send_scaled(to, from, n, factor, term, true);
  else
    send_scaled(to, from, n, factor, term, false);
}

const sb__sends sb__sends_x86 = {
    {[SB_UINT8] = send_f32_from_u8, [SB_FLOAT64] = send_f32_from_f64},
    {[SB_UINT8] = send_scaled_from_u8},
    {[SB_FLOAT16] = send_f16_from_f32, [SB_BFLOAT16] = send_bf16_from_f32},
};

# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#else
typedef int no_sends;
#endif
