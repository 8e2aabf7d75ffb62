/* Casts that write with non-temporal stores straight from registers, for avx2 and avx512. They are bound by memory, not
 * by vector width, so one set of loops serves both. */
#include "kernels/kernels.h"

#if defined(__x86_64__)
# include <float.h>
# include <immintrin.h>
# include <math.h>
# include <string.h>

/* For this file's functions only, whatever the build's flags. */
# if defined(__clang__)
#  pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
#  define ROLLED _Pragma("clang loop unroll(disable)")
# else
#  pragma GCC push_options
#  pragma GCC target("avx2,f16c")
#  define ROLLED _Pragma("GCC unroll 1") /* bound by memory */
# endif

# define INLINE static inline __attribute__((always_inline))
/* Measured: four parts in turn, several lines of each (as in level.inc), because hardware prefetchers follow a few pages at a time, and
 * prefetch this far ahead. */
# ifdef SB_TEST
#  define PART_BYTES 512 /* so that tests need no large tensors */
#  define TURN_BYTES 128
# else
#  define PART_BYTES 65536 /* of the source, per part */
#  define TURN_BYTES 512   /* of the target */
# endif
# define PARTS 4
# define AHEAD_BYTES 768

/* ---- Casts: each returns half a cache line of the target ---- */

INLINE __m256i is_nan(__m256 x) { return _mm256_castps_si256(_mm256_cmp_ps(x, x, _CMP_UNORD_Q)); }

INLINE __m256i canonical(__m256 x) {
  return _mm256_blendv_epi8(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fc00000), is_nan(x));
}

INLINE __m256 floats(const char *from) { return _mm256_loadu_ps((const void *)from); }

INLINE __m256i f32_from_u8(const char *from) {
  const __m128i x = _mm_loadl_epi64((const void *)from);
  return _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(x)));
}

INLINE __m256i f32_from_i8(const char *from) {
  const __m128i x = _mm_loadl_epi64((const void *)from);
  return _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(x)));
}

INLINE __m256i f32_from_u16(const char *from) {
  const __m128i x = _mm_loadu_si128((const void *)from);
  return _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(x)));
}

INLINE __m256i f32_from_i16(const char *from) {
  const __m128i x = _mm_loadu_si128((const void *)from);
  return _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(x)));
}

INLINE __m256i f32_from_i32(const char *from) {
  return _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_loadu_si256((const void *)from)));
}

INLINE __m256i f32_from_f16(const char *from) {
  return canonical(_mm256_cvtph_ps(_mm_loadu_si128((const void *)from)));
}

INLINE __m256i f32_from_bf16(const char *from) {
  const __m256i bits = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)from));
  return canonical(_mm256_castsi256_ps(_mm256_slli_epi32(bits, 16)));
}

INLINE __m256i f32_from_f64(const char *from) {
  const double *x = (const void *)from;
  const __m128 low = _mm256_cvtpd_ps(_mm256_loadu_pd(x));
  return canonical(_mm256_set_m128(_mm256_cvtpd_ps(_mm256_loadu_pd(x + 4)), low));
}

INLINE __m256i f64_from_f32(const char *from) {
  const __m256d x = _mm256_cvtps_pd(_mm_loadu_ps((const void *)from));
  const __m256d nan = _mm256_castsi256_pd(_mm256_set1_epi64x(0x7ff8000000000000));
  return _mm256_castpd_si256(_mm256_blendv_pd(x, nan, _mm256_cmp_pd(x, x, _CMP_UNORD_Q)));
}

INLINE __m256i doubles(__m128i integers) {
  return _mm256_castpd_si256(_mm256_cvtepi32_pd(integers));
}

INLINE __m128i four_bytes(const char *from) {
  int32_t x;
  memcpy(&x, from, sizeof x);
  return _mm_cvtsi32_si128(x);
}

INLINE __m256i f64_from_u8(const char *from) {
  return doubles(_mm_cvtepu8_epi32(four_bytes(from)));
}

INLINE __m256i f64_from_i8(const char *from) {
  return doubles(_mm_cvtepi8_epi32(four_bytes(from)));
}

INLINE __m256i f64_from_u16(const char *from) {
  return doubles(_mm_cvtepu16_epi32(_mm_loadl_epi64((const void *)from)));
}

INLINE __m256i f64_from_i16(const char *from) {
  return doubles(_mm_cvtepi16_epi32(_mm_loadl_epi64((const void *)from)));
}

INLINE __m256i f64_from_i32(const char *from) {
  return doubles(_mm_loadu_si128((const void *)from));
}

INLINE __m256i f16_from_f32(const char *from) {
  const __m128i low = _mm256_cvtps_ph(floats(from), _MM_FROUND_TO_NEAREST_INT);
  const __m128i high = _mm256_cvtps_ph(floats(from + 32), _MM_FROUND_TO_NEAREST_INT);
  const __m256i float16 = _mm256_set_m128i(high, low);
  const __m256i magnitude = _mm256_and_si256(float16, _mm256_set1_epi16(0x7fff));
  const __m256i nan = _mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16(0x7c00));
  return _mm256_blendv_epi8(float16, _mm256_set1_epi16(0x7e00), nan);
}

/* Eight values, each in 32 bits; NaNs are handled by the caller. */
INLINE __m256i bfloat16_in_32_bits(__m256 x) {
  const __m256i bits = _mm256_castps_si256(x);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i sum = _mm256_add_epi32(bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  return _mm256_srli_epi32(sum, 16);
}

INLINE __m256i bf16_from_f32(const char *from) {
  const __m256 low = floats(from), high = floats(from + 32);
  const __m256i mixed = _mm256_packus_epi32(bfloat16_in_32_bits(low), bfloat16_in_32_bits(high));
  const __m256i nan = _mm256_packs_epi32(is_nan(low), is_nan(high));
  return _mm256_permute4x64_epi64(_mm256_blendv_epi8(mixed, _mm256_set1_epi16(0x7fc0), nan), 0xd8);
}

/* ---- Whole cache lines ---- */

/* step: bytes of the source for half a line of the target */
INLINE void store_line(char *to, const char *from, __m256i (*cast)(const char *), int64_t step) {
  for (int64_t k = 0; step > 8 && k < 2 * step; k += 64)
    _mm_prefetch(from + AHEAD_BYTES + k, _MM_HINT_T0);
  _mm256_stream_si256((void *)to, cast(from));
  _mm256_stream_si256((void *)(to + 32), cast(from + step));
}

INLINE void store_lines(char *to, const char *from, int64_t nbytes, __m256i (*cast)(const char *),
                        int64_t step) {
  const int64_t part = PART_BYTES / step * 32; /* bytes of the target */
  for (; nbytes >= PARTS * part;
       nbytes -= PARTS * part, to += PARTS * part, from += PARTS * PART_BYTES) {
    for (int64_t turn = 0; turn < part; turn += TURN_BYTES)
      for (int64_t p = 0; p < PARTS; p++)
        ROLLED for (int64_t i = turn; i < turn + TURN_BYTES; i += 64)
            store_line(to + p * part + i, from + p * PART_BYTES + i / 32 * step, cast, step);
  }
  for (int64_t i = 0; i < nbytes; i += 64) store_line(to + i, from + i / 32 * step, cast, step);
}

# define NONTEMPORAL(TO, FROM, TO_SIZE, STEP)                                         \
  static void nontemporal_##TO##_from_##FROM(char *to, const char *from, int64_t n) { \
   store_lines(to, from, TO_SIZE *n, TO##_from_##FROM, STEP);                         \
  }
NONTEMPORAL(f32, u8, 4, 8)
NONTEMPORAL(f32, i8, 4, 8)
NONTEMPORAL(f32, u16, 4, 16)
NONTEMPORAL(f32, i16, 4, 16)
NONTEMPORAL(f32, i32, 4, 32)
NONTEMPORAL(f32, f16, 4, 16)
NONTEMPORAL(f32, bf16, 4, 16)
NONTEMPORAL(f32, f64, 4, 64)
NONTEMPORAL(f16, f32, 2, 64)
NONTEMPORAL(bf16, f32, 2, 64)
NONTEMPORAL(f64, f32, 8, 16)
NONTEMPORAL(f64, u8, 8, 4)
NONTEMPORAL(f64, i8, 8, 4)
NONTEMPORAL(f64, u16, 8, 8)
NONTEMPORAL(f64, i16, 8, 8)
NONTEMPORAL(f64, i32, 8, 16)

/* step: bytes of the source for eight elements. finite: they and the factors are, so no result is NaN. */
INLINE void store_scaled(float *to, const char *from, int64_t n, __m256i (*cast)(const char *),
                         int64_t step, float scale, float bias, bool finite) {
  const __m256 factor = _mm256_set1_ps(scale), term = _mm256_set1_ps(bias);
  for (int64_t i = 0; i < n; i += 8) {
    const __m256 x = _mm256_castsi256_ps(cast(from + i / 8 * step));
    const __m256 sum = _mm256_add_ps(_mm256_mul_ps(x, factor), term);
    _mm256_stream_si256((void *)(to + i), finite ? _mm256_castps_si256(sum) : canonical(sum));
  }
}

INLINE __m256i f32_from_f32(const char *from) { return _mm256_castps_si256(floats(from)); }

# define SCALED(FROM, STEP, WHOLE)                                                                \
  static void nontemporal_scaled_from_##FROM(float *to, const char *from, int64_t n, float scale, \
                                             float bias) {                                        \
   if (WHOLE && fabsf(scale) <= FLT_MAX && fabsf(bias) <= FLT_MAX)                                \
    store_scaled(to, from, n, f32_from_##FROM, STEP, scale, bias, true);                          \
   else                                                                                           \
    store_scaled(to, from, n, f32_from_##FROM, STEP, scale, bias, false);                         \
  }
SCALED(u8, 8, true)
SCALED(i8, 8, true)
SCALED(u16, 16, true)
SCALED(i16, 16, true)
SCALED(f32, 32, false)

const sb__nontemporal_casts sb__nontemporal_casts_x86 = {
    {[SB_UINT8] = nontemporal_f32_from_u8,
     [SB_INT8] = nontemporal_f32_from_i8,
     [SB_UINT16] = nontemporal_f32_from_u16,
     [SB_INT16] = nontemporal_f32_from_i16,
     [SB_INT32] = nontemporal_f32_from_i32,
     [SB_FLOAT16] = nontemporal_f32_from_f16,
     [SB_BFLOAT16] = nontemporal_f32_from_bf16,
     [SB_FLOAT64] = nontemporal_f32_from_f64},
    {[SB_UINT8] = nontemporal_scaled_from_u8,
     [SB_INT8] = nontemporal_scaled_from_i8,
     [SB_UINT16] = nontemporal_scaled_from_u16,
     [SB_INT16] = nontemporal_scaled_from_i16,
     [SB_FLOAT32] = nontemporal_scaled_from_f32},
    {[SB_FLOAT16] = nontemporal_f16_from_f32,
     [SB_BFLOAT16] = nontemporal_bf16_from_f32,
     [SB_FLOAT64] = nontemporal_f64_from_f32},
    {[SB_UINT8] = nontemporal_f64_from_u8,
     [SB_INT8] = nontemporal_f64_from_i8,
     [SB_UINT16] = nontemporal_f64_from_u16,
     [SB_INT16] = nontemporal_f64_from_i16,
     [SB_INT32] = nontemporal_f64_from_i32},
};

# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#else
typedef int no_nontemporal;
#endif
