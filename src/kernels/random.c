/* Random fills of contiguous elements. Philox is written with intrinsics and makes a chunk of the stream's words; loops
 * that the compiler vectorises (random_loops.inc, compiled once per instruction set) turn it into elements. random.h
 * defines the values. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "kernels/random.h"

#define SB__WORDS 256 /* of a chunk: 1 KB */
#define SB__GROUP 32  /* words: a chunk is filled in whole groups, or in pairs of them */

_Static_assert(SB__WORDS % (2 * SB__GROUP) == 0, "a pair of groups does not pass the end");

#if defined(__GNUC__) && defined(__x86_64__)
# define SB__X86 1
# include <immintrin.h>
#else
# define SB__X86 0
#endif

#if defined(__wasm_simd128__)
# include <wasm_simd128.h>
#endif

/* Two normals share a pair of words, chosen by their width. Blocks of their own keep these words apart from those of
 * other fills. */
static uint32_t method_of(const sb__random *how) {
  if (how->draw != SB__DRAW_NORMAL) return 0;
  return how->dtype == SB_FLOAT64 ? 2 : 1;
}

/* ---- Integers that were refused ---- */

static uint32_t retry_u32(const sb__random *how, uint64_t word) {
  return sb__retry_u32(how->seed, how->stream, word, how->as.integer.range,
                       how->as.integer.refused);
}

static uint64_t retry_u64(const sb__random *how, uint64_t word) {
  return sb__retry_u64(how->seed, how->stream, word, how->as.integer.range,
                       how->as.integer.refused);
}

/* ---- Any processor ---- */

#define TARGET
#define LEVEL(name) name##_base

#if defined(__wasm_simd128__)
/* Of eight blocks, six are computed in vectors and two in integer registers: 1.9 ns per word, either alone 2.3 and 2.5
 * (V8 11.3). For two blocks a and b, even holds (a0, a2, b0, b2), the words to multiply, and odd (a1, a3, b1, b3). */
static void blocks_base(uint32_t *out, uint64_t seed, uint64_t low, uint64_t high, int64_t count) {
  const v128_t multiplier = wasm_u64x2_splat((uint64_t)SB__PHILOX_M1 << 32 | SB__PHILOX_M0);
  const v128_t weyl = wasm_u64x2_splat((uint64_t)SB__PHILOX_W1 << 32 | SB__PHILOX_W0);
  const v128_t fixed = wasm_u64x2_splat(high);
  for (int64_t i = 0; i < count; i += 32, out += 32, low += 8) {
    uint32_t c[2][4], k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    v128_t even[3], odd[3];
    for (uint64_t k = 0; k < 3; k++) {
      const v128_t first = wasm_u64x2_make(low + 2 * k, low + 2 * k + 1);
      even[k] = wasm_i32x4_shuffle(first, fixed, 0, 4, 2, 6);
      odd[k] = wasm_i32x4_shuffle(first, fixed, 1, 5, 3, 7);
    }
    for (uint64_t k = 0; k < 2; k++) {
      c[k][0] = (uint32_t)(low + 6 + k);
      c[k][1] = (uint32_t)((low + 6 + k) >> 32);
      c[k][2] = (uint32_t)high;
      c[k][3] = (uint32_t)(high >> 32);
    }
    v128_t key = wasm_u64x2_splat(seed);
    for (int round = 0; round < 10; round++) {
      for (int k = 0; k < 3; k++) {
        const v128_t a = wasm_u64x2_extmul_low_u32x4(even[k], multiplier);
        const v128_t b = wasm_u64x2_extmul_high_u32x4(even[k], multiplier);
        even[k] = wasm_v128_xor(wasm_i32x4_shuffle(a, b, 3, 1, 7, 5), wasm_v128_xor(odd[k], key));
        odd[k] = wasm_i32x4_shuffle(a, b, 2, 0, 6, 4);
      }
      for (int k = 0; k < 2; k++) sb__philox_round(&c[k][0], &c[k][1], &c[k][2], &c[k][3], k0, k1);
      key = wasm_i32x4_add(key, weyl);
      k0 += SB__PHILOX_W0;
      k1 += SB__PHILOX_W1;
    }
    for (int k = 0; k < 3; k++) {
      wasm_v128_store(out + 8 * k, wasm_i32x4_shuffle(even[k], odd[k], 0, 4, 1, 5));
      wasm_v128_store(out + 8 * k + 4, wasm_i32x4_shuffle(even[k], odd[k], 2, 6, 3, 7));
    }
    memcpy(out + 24, c, sizeof c);
  }
}
#else
static void blocks_base(uint32_t *out, uint64_t seed, uint64_t low, uint64_t high, int64_t count) {
  for (int64_t i = 0; i < count; i += 4) sb__philox(seed, low++, high, out + i);
}
#endif

static void roots_f32_base(float *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = sqrtf(x[i]);
}

static void roots_f64_base(double *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = sqrt(x[i]);
}

#include "kernels/random_loops.inc"
#undef TARGET
#undef LEVEL

#if SB__X86

/* ---- AVX2: a vector holds two blocks. It multiplies the even words in place, and a reversed product is in the places
 * that the round needs. ---- */

# define TARGET __attribute__((target("avx2")))
# define LEVEL(name) name##_avx2

static TARGET void blocks_avx2(uint32_t *out, uint64_t seed, uint64_t low, uint64_t high,
                               int64_t count) {
  const __m256i multiplier =
      _mm256_broadcastsi128_si256(_mm_set_epi64x(SB__PHILOX_M1, SB__PHILOX_M0));
  const __m256i two = _mm256_set_epi64x(0, 2, 0, 2);
  __m256i key[10];
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < 10; round++, k0 += SB__PHILOX_W0, k1 += SB__PHILOX_W1)
    key[round] = _mm256_broadcastsi128_si256(_mm_set_epi64x(k1, k0));
  __m256i next = _mm256_set_epi64x((int64_t)high, (int64_t)(low + 1), (int64_t)high, (int64_t)low);
  for (int64_t i = 0; i < count; i += 64) {
    __m256i c[8];
    for (int k = 0; k < 8; k++) {
      c[k] = next;
      next = _mm256_add_epi64(next, two);
    }
    for (int round = 0; round < 10; round++) {
      for (int k = 0; k < 8; k++) {
        const __m256i product = _mm256_mul_epu32(c[k], multiplier);
        c[k] = _mm256_xor_si256(_mm256_srli_epi64(c[k], 32), key[round]);
        c[k] = _mm256_xor_si256(c[k], _mm256_shuffle_epi32(product, 0x1b));
      }
    }
    for (int k = 0; k < 8; k++) _mm256_storeu_si256((__m256i *)(void *)(out + i + 8 * k), c[k]);
  }
}

static TARGET void roots_f32_avx2(float *x, int64_t n) {
  for (int64_t i = 0; i < n; i += 8)
    _mm256_storeu_ps(x + i, _mm256_sqrt_ps(_mm256_loadu_ps(x + i)));
}

static TARGET void roots_f64_avx2(double *x, int64_t n) {
  for (int64_t i = 0; i < n; i += 4)
    _mm256_storeu_pd(x + i, _mm256_sqrt_pd(_mm256_loadu_pd(x + i)));
}

# include "kernels/random_loops.inc"
# undef TARGET
# undef LEVEL

/* ---- AVX-512: a vector holds one word of eight blocks, each in the lower half of 64 bits; the upper halves are
 * ignored. No shuffles between rounds, and both exclusive ors are one instruction. ---- */

# define TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
# define LEVEL(name) name##_avx512

/* Interleaves the lower halves of a and b. */
static inline TARGET __m512i pairs_avx512(__m512i a, __m512i b) {
  return _mm512_mask_blend_epi32(0xaaaa, a, _mm512_slli_epi64(b, 32));
}

static TARGET void blocks_avx512(uint32_t *out, uint64_t seed, uint64_t low, uint64_t high,
                                 int64_t count) {
  const __m512i m0 = _mm512_set1_epi64(SB__PHILOX_M0), m1 = _mm512_set1_epi64(SB__PHILOX_M1);
  const __m512i steps = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0);
  const __m512i second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
  for (int64_t i = 0; i < count; i += 64, low += 16) {
    __m512i c0[2], c1[2], c2[2], c3[2];
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int k = 0; k < 2; k++) {
      c0[k] = _mm512_add_epi64(_mm512_set1_epi64((int64_t)(low + 8 * (uint64_t)k)), steps);
      c1[k] = _mm512_srli_epi64(c0[k], 32);
      c2[k] = _mm512_set1_epi64((int64_t)high);
      c3[k] = _mm512_set1_epi64((int64_t)(high >> 32));
    }
    for (int round = 0; round < 10; round++, k0 += SB__PHILOX_W0, k1 += SB__PHILOX_W1) {
      const __m512i x0 = _mm512_set1_epi64(k0), x1 = _mm512_set1_epi64(k1);
      for (int k = 0; k < 2; k++) {
        const __m512i p0 = _mm512_mul_epu32(c0[k], m0), p1 = _mm512_mul_epu32(c2[k], m1);
        c0[k] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p1, 32), c1[k], x0, 0x96);
        c2[k] = _mm512_ternarylogic_epi64(_mm512_srli_epi64(p0, 32), c3[k], x1, 0x96);
        c1[k] = p1;
        c3[k] = p0;
      }
    }
    for (int k = 0; k < 2; k++) {
      const __m512i a = pairs_avx512(c0[k], c1[k]), b = pairs_avx512(c2[k], c3[k]);
      _mm512_storeu_si512(out + i + 32 * k, _mm512_permutex2var_epi64(a, first, b));
      _mm512_storeu_si512(out + i + 32 * k + 16, _mm512_permutex2var_epi64(a, second, b));
    }
  }
}

static TARGET void roots_f32_avx512(float *x, int64_t n) {
  for (int64_t i = 0; i < n; i += 16)
    _mm512_storeu_ps(x + i, _mm512_sqrt_ps(_mm512_loadu_ps(x + i)));
}

static TARGET void roots_f64_avx512(double *x, int64_t n) {
  for (int64_t i = 0; i < n; i += 8)
    _mm512_storeu_pd(x + i, _mm512_sqrt_pd(_mm512_loadu_pd(x + i)));
}

# include "kernels/random_loops.inc"
# undef TARGET
# undef LEVEL
#endif

/* ---- For the tables of kernels ---- */

void sb__random_base(void *to, const sb__random *how, int64_t first, int64_t n) {
  fill_base(to, how, first, n);
}

#if SB__X86
void sb__random_avx2(void *to, const sb__random *how, int64_t first, int64_t n) {
  fill_avx2(to, how, first, n);
}

void sb__random_avx512(void *to, const sb__random *how, int64_t first, int64_t n) {
  fill_avx512(to, how, first, n);
}
#endif
