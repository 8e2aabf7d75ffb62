/* Random numbers, element by element: the stream, and the distributions as functions of its words. Only integers and
 * +, -, *, / and square root of floats, each rounded once: the same bits from every compiler that neither contracts nor
 * reorders. Branch-free, so that loops vectorise.
 *
 * The stream of a generator is a sequence of 32-bit words. Word w is lane w % 4 of
 *   Philox4x32-10(counter (low half of w / 4, high half, stream, method * 2^24 + attempt),
 *                 key (low half of seed, high half))
 * where attempt is 0, and grows only for an integer that was refused before. */
#ifndef SB_KERNELS_RANDOM_H
#define SB_KERNELS_RANDOM_H

#include <stdint.h>
#include <string.h>

#include "kernels/function.h"

/* Philox's multipliers, and the increments of its two key words per round. */
#define SB__PHILOX_M0 0xd2511f53u
#define SB__PHILOX_M1 0xcd9e8d57u
#define SB__PHILOX_W0 0x9e3779b9u
#define SB__PHILOX_W1 0xbb67ae85u

SB_INLINE void sb__philox_round(uint32_t *c0, uint32_t *c1, uint32_t *c2, uint32_t *c3, uint32_t k0,
                                uint32_t k1) {
  const uint64_t p0 = (uint64_t)SB__PHILOX_M0 * *c0, p1 = (uint64_t)SB__PHILOX_M1 * *c2;
  *c0 = (uint32_t)(p1 >> 32) ^ *c1 ^ k0;
  *c1 = (uint32_t)p1;
  *c2 = (uint32_t)(p0 >> 32) ^ *c3 ^ k1;
  *c3 = (uint32_t)p0;
}

/* One block of four words. low and high are the counter's halves. */
SB_INLINE void sb__philox(uint64_t key, uint64_t low, uint64_t high, uint32_t out[4]) {
  uint32_t c0 = (uint32_t)low, c1 = (uint32_t)(low >> 32);
  uint32_t c2 = (uint32_t)high, c3 = (uint32_t)(high >> 32);
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  for (int round = 0; round < 10; round++) {
    sb__philox_round(&c0, &c1, &c2, &c3, k0, k1);
    k0 += SB__PHILOX_W0;
    k1 += SB__PHILOX_W1;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

/* ---- Uniform, [0, 1) in steps of one unit in the last place below 1 ---- */

/* Uses the upper 24 bits; the caller clears all but the upper 11 for float16, 8 for bfloat16. */
SB_INLINE float sb__unit_f32(uint32_t w) { return (float)(int32_t)(w >> 8) * 0x1p-24f; }

/* 27 bits of w1, then 26 of w0: halves that convert as signed integers, which vectors can do. */
SB_INLINE double sb__unit_f64(uint32_t w0, uint32_t w1) {
  return ((double)(int32_t)(w1 >> 5) * 0x1p26 + (double)(int32_t)(w0 >> 6)) * 0x1p-53;
}

/* Maps unit from [0, 1) to [low, low + range). Rounding could reach high; the result is at most `last`, the value below. */
SB_INLINE float sb__between_f32(float unit, float low, float range, float last) {
  const float x = low + unit * range;
  return x < last ? x : last;
}

SB_INLINE double sb__between_f64(double unit, double low, double range, double last) {
  const double x = low + unit * range;
  return x < last ? x : last;
}

/* ---- Normal: Box and Muller's transform of a pair ----
 *
 * The first word is a radius sqrt(-2 ln u), u in (0, 1]; the second a point of the unit circle. Its upper
 * two bits choose the quarter, the rest the angle within: x * pi/4, x in (-1, 1). */

SB_INLINE uint32_t sb__bits_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

SB_INLINE float sb__float_f32(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

SB_INLINE uint64_t sb__bits_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

SB_INLINE double sb__float_f64(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* condition ? a : b, by bits: compilers that honour floating-point traps do not vectorise `?:`. */
SB_INLINE uint32_t sb__choose_u32(int condition, uint32_t a, uint32_t b) {
  const uint32_t mask = 0u - (uint32_t)condition;
  return (a & mask) | (b & ~mask);
}

SB_INLINE uint64_t sb__choose_u64(int condition, uint64_t a, uint64_t b) {
  const uint64_t mask = 0u - (uint64_t)condition;
  return (a & mask) | (b & ~mask);
}

/* -2 ln u, u = 1 - v with v the word's lower 31 bits as a fraction. u = 2^exponent (1 + f) with 1 + f from
 * sqrt(1/2) to sqrt(2), and with s = f / (2 + f), -2 ln(1 + f) = f² - s (f² + R(s²)) - 2 f. Near u = 1,
 * f is -v with all its bits. */
SB_INLINE float sb__radius2_f32(uint32_t w) {
  const uint32_t root_half = 0x3f3504f3u; /* sqrt(1/2) */
  const float v = (float)(int32_t)(w & 0x7fffffffu) * 0x1p-31f;
  const float minus = (float)(int32_t)(w | 0x80000000u); /* -u * 2^31 */
  /* Removes the sign and 31 from the exponent, and shifts its steps from powers of two to sqrt(1/2) times them. */
  const uint32_t bits = sb__bits_f32(minus) + (0x80000000u - (31u << 23) + 0x3f800000u - root_half);
  const float mantissa = sb__float_f32((bits & 0x007fffffu) + root_half);
  const int32_t exponent = (int32_t)(bits >> 23) - 127;
  const float f =
      sb__float_f32(sb__choose_u32(exponent == 0, sb__bits_f32(-v), sb__bits_f32(mantissa - 1.0f)));
  const float s = f / (2.0f + f), z = s * s, square = f * f;
  const float r = z * (0x1.55555cp0f + z * (0x1.997c3p-1f + z * 0x1.2ee61p-1f));
  return (float)exponent * -0x1.62e43p0f + (square - s * (square + r) - (f + f));
}

/* w0 and w1 as in sb__unit_f64; the same steps with a longer polynomial. */
SB_INLINE double sb__radius2_f64(uint32_t w0, uint32_t w1) {
  const uint64_t root_half = 0x3fe6a09e667f3bcdu;
  const double v = sb__unit_f64(w0, w1), u = 1.0 - v;
  const uint64_t bits = sb__bits_f64(u) + (0x3ff0000000000000u - root_half);
  const double mantissa = sb__float_f64((bits & 0x000fffffffffffffu) + root_half);
  /* 2^52 plus the exponent's bits, as a double: vectors cannot convert 64-bit integers. */
  const double exponent = sb__float_f64(0x4330000000000000u | bits >> 52) - (0x1p52 + 1023.0);
  const double f =
      sb__float_f64(sb__choose_u64(exponent == 0, sb__bits_f64(-v), sb__bits_f64(mantissa - 1.0)));
  const double s = f / (2.0 + f), z = s * s, square = f * f;
  const double r =
      z * (0x1.5555555555558p0 +
           z * (0x1.99999999952e2p-1 +
                z * (0x1.2492492df148dp-1 +
                     z * (0x1.c71c62e5800a1p-2 +
                          z * (0x1.7462b4ab2ef6bp-2 +
                               z * (0x1.39fe606542ddep-2 + z * 0x1.2b584aae78a57p-2))))));
  return exponent * -0x1.62e42fefa39efp0 + (square - s * (square + r) - (f + f));
}

/* The two coordinates of the point: cosine and sine of the angle within the quarter, then turned. */
SB_INLINE void sb__circle_f32(uint32_t w, float *first, float *second) {
  const float x = (float)(int32_t)(w << 2 | 2) * 0x1p-31f, z = x * x; /* an odd multiple of 2^-30 */
  const float sine =
      x * (0x1.921fb6p-1f + z * (-0x1.4abbbap-4f + z * (0x1.465ec4p-9f + z * -0x1.2d9b4p-15f)));
  const float cosine =
      1.0f +
      z * (-0x1.3bd3ccp-2f + z * (0x1.03c1eap-6f + z * (-0x1.55cb98p-12f + z * 0x1.db6492p-19f)));
  const float wide = sb__float_f32(sb__bits_f32(cosine) ^ (w << 1 & 0x80000000u));
  *first = w >> 31 ? sine : wide;
  *second = w >> 31 ? wide : sine;
}

SB_INLINE void sb__circle_f64(uint32_t w0, uint32_t w1, double *first, double *second) {
  /* 30 bits of w1 with their sign, 23 of w0 and the middle of what is left: exact. */
  const double fine = ((double)(int32_t)(w0 >> 9) + 0.5) * 0x1p-52;
  const double x = (double)(int32_t)(w1 << 2) * 0x1p-31 + fine, z = x * x;
  const double sine =
      x * (0x1.921fb54442d18p-1 +
           z * (-0x1.4abbce625be41p-4 +
                z * (0x1.466bc677587f8p-9 +
                     z * (-0x1.32d2cce2e5b19p-15 +
                          z * (0x1.50782fda12d96p-22 +
                               z * (-0x1.e30071afc3e59p-30 + z * 0x1.e3f38399551bfp-38))))));
  const double cosine =
      1.0 + z * (-0x1.3bd3cc9be45dep-2 +
                 z * (0x1.03c1f081b5ac0p-6 +
                      z * (-0x1.55d3c7e3cb241p-12 +
                           z * (0x1.e1f5068688d5bp-19 +
                                z * (-0x1.a6d1eef479be1p-26 +
                                     z * (0x1.f9ce245cada0bp-34 + z * -0x1.b2f3eb054afcdp-42))))));
  const uint64_t turn = (uint64_t)(w1 & 0x40000000u) << 33;
  const double wide = sb__float_f64(sb__bits_f64(cosine) ^ turn);
  *first = w1 >> 31 ? sine : wide;
  *second = w1 >> 31 ? wide : sine;
}

/* ---- Integers: Lemire's multiplication ----
 *
 * A word w of n bits becomes low + (w * range >> n). The words whose product's lower half is below
 * 2^n mod range are refused, and the next attempt's are taken: so every value has equally many. */

/* Upper and lower half of a 128-bit product. */
SB_INLINE uint64_t sb__multiply_u64(uint64_t a, uint64_t b, uint64_t *lower) {
  const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
  const uint64_t p00 = a0 * b0, p01 = a0 * b1, p10 = a1 * b0;
  const uint64_t middle = (p00 >> 32) + (uint32_t)p01 + (uint32_t)p10;
  *lower = a * b;
  return a1 * b1 + (p01 >> 32) + (p10 >> 32) + (middle >> 32);
}

/* The block of a word in a later attempt. */
SB_INLINE void sb__retry_block(uint64_t seed, uint32_t stream, uint64_t word, uint64_t attempt,
                               uint32_t out[4]) {
  sb__philox(seed, word / 4, stream | attempt << 32, out);
}

/* The upper half of the first product that is not refused; the word's own was. */
SB_COLD uint32_t sb__retry_u32(uint64_t seed, uint32_t stream, uint64_t word, uint64_t range,
                               uint64_t refused) {
  uint64_t product = 0;
  uint64_t attempt = 1;
  do {
    uint32_t w[4];
    sb__retry_block(seed, stream, word, attempt++, w);
    product = w[word % 4] * range;
  } while ((uint32_t)product < refused);
  return (uint32_t)(product >> 32);
}

/* The same for two words, of which word is the first. */
SB_COLD uint64_t sb__retry_u64(uint64_t seed, uint32_t stream, uint64_t word, uint64_t range,
                               uint64_t refused) {
  uint64_t lower = 0, upper = 0, attempt = 1;
  do {
    uint32_t w[4];
    sb__retry_block(seed, stream, word, attempt++, w);
    const uint64_t whole = (uint64_t)w[word % 4 + 1] << 32 | w[word % 4];
    upper = sb__multiply_u64(whole, range, &lower);
  } while (lower < refused);
  return upper;
}

/* ---- float16 and bfloat16: nearest, ties to even. x is not NaN. ---- */

SB_INLINE uint16_t sb__f16_of(float x) {
  const uint32_t bits = sb__bits_f32(x), magnitude = bits & 0x7fffffffu;
  const uint32_t normal = ((magnitude + 0xfffu + (magnitude >> 13 & 1)) >> 13) - (112u << 10);
  /* The last bits of x + 1/2 are the subnormal's, rounded. */
  const uint32_t small = sb__bits_f32(sb__float_f32(magnitude) + 0.5f) - 0x3f000000u;
  const uint32_t finite = sb__choose_u32(magnitude < 0x38800000u, small, normal);
  const uint32_t half = sb__choose_u32(magnitude >= 0x47800000u, 0x7c00u, finite);
  return (uint16_t)(half | (bits >> 16 & 0x8000u));
}

SB_INLINE uint16_t sb__bf16_of(float x) {
  const uint32_t bits = sb__bits_f32(x);
  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1)) >> 16);
}

#endif
