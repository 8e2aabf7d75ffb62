/* The level avx2: 256 bits, two lanes, float16 by F16C. */
#include "kernels/kernels.h"

#if defined(__x86_64__)
# include <immintrin.h>
# include <string.h>

/* For this file's functions only, whatever the build's flags. */
# if defined(__clang__)
#  pragma clang attribute push(__attribute__((target("avx2,f16c"))), apply_to = function)
# else
#  pragma GCC push_options
#  pragma GCC target("avx2,f16c")
# endif

# define LEVEL avx2
# define RANDOM sb__random_avx2
# define HAS_DIRECT_CASTS
# define LANES 2
# define MOST_ROWS 8
# define BAND_ROWS (SIZE == 1 ? 64 : 128 / SIZE)
# define BAND_BYTES 2048
# define AHEAD_BYTES 0
# define smaller_transpose transpose_any
# define HAS_F16C

typedef __m256i vec;

static inline vec load(const char *from) { return _mm256_loadu_si256((const void *)from); }
static inline void store(char *to, vec x) { _mm256_storeu_si256((void *)to, x); }
static inline void stream(char *to, vec x) { _mm256_stream_si256((void *)to, x); }
static inline void stream_end(void) { _mm_sfence(); }

/* Lane k is loaded or stored step bytes after lane k - 1. */
static inline vec load_lanes(const char *from, int64_t step) {
  const __m128i low = _mm_loadu_si128((const void *)from);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low),
                                 _mm_loadu_si128((const void *)(from + step)), 1);
}
static inline void store_lanes(char *to, int64_t step, vec x) {
  _mm_storeu_si128((void *)to, _mm256_castsi256_si128(x));
  _mm_storeu_si128((void *)(to + step), _mm256_extracti128_si256(x, 1));
}

# include "kernels/x86_lane.inc"

static inline vec shuffle(vec x, vec mask) { return _mm256_shuffle_epi8(x, mask); }
static inline vec either(vec a, vec b) { return _mm256_or_si256(a, b); }

/* 32-bit integers as floats; product and sum rounded. */
static inline vec scaled_floats(vec x, vec scale, vec bias) {
  const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(x), _mm256_castsi256_ps(scale));
  return _mm256_castps_si256(_mm256_add_ps(product, _mm256_castsi256_ps(bias)));
}

# define ZIP_LOW_16(a, b) (a) /* one item fills a lane */
# define ZIP_HIGH_16(a, b) (b)
# define ZIP_LOW_1 _mm256_unpacklo_epi8
# define ZIP_HIGH_1 _mm256_unpackhi_epi8
# define ZIP_LOW_2 _mm256_unpacklo_epi16
# define ZIP_HIGH_2 _mm256_unpackhi_epi16
# define ZIP_LOW_4 _mm256_unpacklo_epi32
# define ZIP_HIGH_4 _mm256_unpackhi_epi32
# define ZIP_LOW_8 _mm256_unpacklo_epi64
# define ZIP_HIGH_8 _mm256_unpackhi_epi64

# include "kernels/level.inc"

# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#endif
