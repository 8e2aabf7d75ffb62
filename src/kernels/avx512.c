/* The level avx512: 512 bits, four lanes; a vector is a cache line. */
#include "kernels/kernels.h"

#if defined(__x86_64__)
# include <immintrin.h>
# include <string.h>

/* Only what follows may use them, whatever the file is compiled for. */
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
# define LANES 4
# define TILE 64
# define MOST_ROWS 16
# define BAND_ROWS (SIZE == 1 ? 64 : 128 / SIZE)
# define BAND_BYTES 2048
# define AHEAD_BYTES (SIZE <= 2 ? 128 : SIZE == 16 ? 256 : 0) /* measured */
# define smaller_transpose sb__kernels_avx2.transpose
# define HAS_F16C

typedef __m512i vec;

static inline vec load(const char *from) { return _mm512_loadu_si512(from); }
static inline void store(char *to, vec x) { _mm512_storeu_si512(to, x); }
static inline void stream(char *to, vec x) { _mm512_stream_si512((void *)to, x); }
static inline void stream_end(void) { _mm_sfence(); }

/* Lane k from or to step bytes further than lane k - 1. */
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

static inline vec shuffle(vec x, vec mask) { return _mm512_shuffle_epi8(x, mask); }
static inline vec either(vec a, vec b) { return _mm512_or_si512(a, b); }

/* A whole line of each row: on either side, every line is touched once. */
static inline vec load_rows(const char *from, int64_t step) {
  (void)step;
  return load(from);
}

/* Zips go across lanes here. In one, place i takes item i / 2 of a half, from b (n places on) where i
 * is odd. */
# define PLACES_2(i, n) (i), (i) + (n)
# define PLACES_4(i, n) PLACES_2(i, n), PLACES_2((i) + 1, n)
# define PLACES_8(i, n) PLACES_4(i, n), PLACES_4((i) + 2, n)
# define PLACES_16(i, n) PLACES_8(i, n), PLACES_8((i) + 4, n)
# define PLACES_32(i, n) PLACES_16(i, n), PLACES_16((i) + 8, n)
# define PLACES_64(i, n) PLACES_32(i, n), PLACES_32((i) + 16, n)

static const uint8_t places_1[2][64] = {{PLACES_64(0, 64)}, {PLACES_64(32, 64)}};
static const uint16_t places_2[2][32] = {{PLACES_32(0, 32)}, {PLACES_32(16, 32)}};
static const uint32_t places_4[2][16] = {{PLACES_16(0, 16)}, {PLACES_16(8, 16)}};
static const uint64_t places_8[2][8] = {{PLACES_8(0, 8)}, {PLACES_8(4, 8)}};
static const uint64_t places_16[2][8] = {{0, 1, 8, 9, 2, 3, 10, 11}, {4, 5, 12, 13, 6, 7, 14, 15}};

# define ZIP(a, b, bits, places) _mm512_permutex2var_epi##bits(a, _mm512_loadu_si512(places), b)
# define ZIP_LOW_1(a, b) ZIP(a, b, 8, places_1[0])
# define ZIP_HIGH_1(a, b) ZIP(a, b, 8, places_1[1])
# define ZIP_LOW_2(a, b) ZIP(a, b, 16, places_2[0])
# define ZIP_HIGH_2(a, b) ZIP(a, b, 16, places_2[1])
# define ZIP_LOW_4(a, b) ZIP(a, b, 32, places_4[0])
# define ZIP_HIGH_4(a, b) ZIP(a, b, 32, places_4[1])
# define ZIP_LOW_8(a, b) ZIP(a, b, 64, places_8[0])
# define ZIP_HIGH_8(a, b) ZIP(a, b, 64, places_8[1])
# define ZIP_LOW_16(a, b) ZIP(a, b, 64, places_16[0])
# define ZIP_HIGH_16(a, b) ZIP(a, b, 64, places_16[1])

# include "kernels/level.inc"

# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#endif
