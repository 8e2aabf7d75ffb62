/* The level avx512: 512 bits, four lanes: a cache line. */
#include "kernels/kernels.h"

#if defined(__x86_64__)
# include <immintrin.h>
# include <string.h>

/* For this file's functions only, whatever the build's flags. */
# if defined(__clang__)
#  pragma clang attribute push(                                                           \
      __attribute__((target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi"))), \
      apply_to = function)
# else
#  pragma GCC push_options
#  pragma GCC target("avx2,f16c,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")
# endif

# define LEVEL avx512
# define RANDOM sb__random_avx512
# define DIRECT &sb__direct_casts_avx2
# define LANES 4
# define BAND_ROWS (SIZE == 1 ? 64 : 128 / SIZE)
# define BAND_BYTES 2048
# define AHEAD_BYTES (SIZE <= 2 ? 128 : SIZE == 16 ? 256 : 0) /* measured */
# define smaller_transpose sb__kernels_avx2.transpose
# define smaller_floats sb__kernels_avx2.shuffle_floats
# define HAS_F16C

typedef __m512i vec;

static inline vec load(const char *from) { return _mm512_loadu_si512(from); }
static inline void store(char *to, vec x) { _mm512_storeu_si512(to, x); }
static inline void stream(char *to, vec x) { _mm512_stream_si512((void *)to, x); }
static inline void stream_end(void) { _mm_sfence(); }

/* Lane k is loaded or stored step bytes after lane k - 1. */
static inline vec load_lanes(const char *from, int64_t step) {
  vec x = _mm512_castsi128_si512(_mm_loadu_si128((const void *)from));
  x = _mm512_inserti32x4(x, _mm_loadu_si128((const void *)(from + step)), 1);
  x = _mm512_inserti32x4(x, _mm_loadu_si128((const void *)(from + 2 * step)), 2);
  return _mm512_inserti32x4(x, _mm_loadu_si128((const void *)(from + 3 * step)), 3);
}
static inline void store_lanes(char *to, int64_t step, vec x) {
  _mm_storeu_si128((void *)to, _mm512_castsi512_si128(x));
  _mm_storeu_si128((void *)(to + step), _mm512_extracti32x4_epi32(x, 1));
  _mm_storeu_si128((void *)(to + 2 * step), _mm512_extracti32x4_epi32(x, 2));
  _mm_storeu_si128((void *)(to + 3 * step), _mm512_extracti32x4_epi32(x, 3));
}

# include "kernels/x86_lane.inc"

static inline vec shuffle(vec x, vec mask) { return _mm512_shuffle_epi8(x, mask); }
static inline vec either(vec a, vec b) { return _mm512_or_si512(a, b); }

/* 32-bit integers as floats; product and sum rounded. */
static inline vec scaled_floats(vec x, vec scale, vec bias) {
  const __m512 product = _mm512_mul_ps(_mm512_cvtepi32_ps(x), _mm512_castsi512_ps(scale));
  return _mm512_castps_si512(_mm512_add_ps(product, _mm512_castsi512_ps(bias)));
}

/* Lane l of vector k becomes lane k of vector l. */
static inline void exchange_lanes(vec a[4]) {
  const vec low = _mm512_shuffle_i32x4(a[0], a[1], 0x44),
            high = _mm512_shuffle_i32x4(a[0], a[1], 0xee);
  const vec low2 = _mm512_shuffle_i32x4(a[2], a[3], 0x44),
            high2 = _mm512_shuffle_i32x4(a[2], a[3], 0xee);
  a[0] = _mm512_shuffle_i32x4(low, low2, 0x88);
  a[1] = _mm512_shuffle_i32x4(low, low2, 0xdd);
  a[2] = _mm512_shuffle_i32x4(high, high2, 0x88);
  a[3] = _mm512_shuffle_i32x4(high, high2, 0xdd);
}

# define PERMUTE permute
static void permute(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                    const sb__permutation *window) {
  const vec index = load((const char *)window->index);
  const __mmask64 reads = window->reads, writes = window->writes;
  for (; n > 0; n--, to += to_step, from += from_step) {
    const vec x = _mm512_maskz_loadu_epi8(reads, from);
    _mm512_mask_storeu_epi8(to, writes, _mm512_permutexvar_epi8(index, x));
  }
}

# define ZIP_LOW_16(a, b) (a) /* one item fills a lane */
# define ZIP_HIGH_16(a, b) (b)
# define ZIP_LOW_1 _mm512_unpacklo_epi8
# define ZIP_HIGH_1 _mm512_unpackhi_epi8
# define ZIP_LOW_2 _mm512_unpacklo_epi16
# define ZIP_HIGH_2 _mm512_unpackhi_epi16
# define ZIP_LOW_4 _mm512_unpacklo_epi32
# define ZIP_HIGH_4 _mm512_unpackhi_epi32
# define ZIP_LOW_8 _mm512_unpacklo_epi64
# define ZIP_HIGH_8 _mm512_unpackhi_epi64

# include "kernels/level.inc"

# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#endif
