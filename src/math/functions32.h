/* Functions of float32, which are those of float64 rounded. What is wrong then, because the true value lies next to the middle between two
 * float32, is in a list: test/math/exhaustive.c found it among all arguments. */
#ifndef SB_MATH_FUNCTIONS32_H
#define SB_MATH_FUNCTIONS32_H

#include "math/functions64.h"

/* An argument and its result, as bits. */
typedef struct sb__exception {
  uint32_t x, y;
} sb__exception;

SB_CONSTANT sb__exception sb__log_exceptions[] = {
    {0x4c5d65a5, 0x418f034b},
    {0x65d890d3, 0x4254d1f9},
};

SB_CONSTANT sb__exception sb__log1p_exceptions[] = {
    {0x35400003, 0x353fffff}, {0x3710001b, 0x370ffff3}, {0x3efd81ad, 0x3ecdeee1},
    {0x41078feb, 0x400fe5e7}, {0x65d890d3, 0x4254d1f9}, {0x6f31a8ec, 0x42845a89},
    {0xb53ffffd, 0xb5400001}, {0xb70fffe5, 0xb710000d}, {0xbb0ec8c4, 0xbb0ef0a5},
};
SB_CONSTANT sb__exception sb__acos_exceptions[] = {
    {0x328885a3, 0x3fc90fdb},
    {0x39826222, 0x3fc907b5},
};
SB_CONSTANT sb__exception sb__atan_exceptions[] = {
    {0x3d8d6b23, 0x3d8d31c3},
    {0xbd8d6b23, 0xbd8d31c3},
};
SB_CONSTANT sb__exception sb__acosh_exceptions[] = {
    {0x655890d3, 0x4254d1f9},
    {0x6eb1a8ec, 0x42845a89},
};
SB_CONSTANT sb__exception sb__asinh_exceptions[] = {
    {0x4bdd65a5, 0x418f034b}, {0x655890d3, 0x4254d1f9}, {0x6eb1a8ec, 0x42845a89},
    {0xcbdd65a5, 0xc18f034b}, {0xe55890d3, 0xc254d1f9}, {0xeeb1a8ec, 0xc2845a89},
};
SB_CONSTANT sb__exception sb__sin_exceptions[] = {
    {0x46199998, 0xbeb1fa5d},
    {0xc6199998, 0x3eb1fa5d},
};
/* Large ones (circular.c). */
SB_CONSTANT sb__exception sb__cos_exceptions[] = {
    {0x5f18b878, 0x3f7f14bb},
    {0x6115cb11, 0x3f78142f},
    {0xdf18b878, 0x3f7f14bb},
    {0xe115cb11, 0x3f78142f},
};
SB_CONSTANT sb__exception sb__log10_exceptions[] = {{0x0efeee7a, 0xc1e99d23}};
SB_CONSTANT sb__exception sb__sinh_exceptions[] = {
    {0x3a1285ff, 0x3a1285ff},
    {0xba1285ff, 0xba1285ff},
};
SB_CONSTANT sb__exception sb__gelu_exceptions[] = {
    {0x37b0a46f, 0x3730a531},
    {0xb7b0a46f, 0xb730a3ad},
};
SB_CONSTANT sb__exception sb__sigmoid_exceptions[] = {{0xba928601, 0x3effdb5f}};

/* ---- Those that are called most, without what rounding of float64 loses: as many bits as float32 needs ---- */

/* exp(x) = (1 + the result) * power. x is between -200 and 200. */
SB_INLINE double sb__exp_parts_of_single(double x, double *power) {
  const double shifted = x * SB__1_BY_LN2 + SB__ROUNDER, k = shifted - SB__ROUNDER;
  const double r = (x - k * SB__LN2_HIGH) - k * SB__LN2_LOW;
  *power = sb__power(shifted);
  return r + r * r * SB__POLYNOMIAL(r, sb__exp_terms);
}

/* Of any number but NaN. Bits of floats are ordered as integers, so that one instruction clamps them. */
SB_INLINE double sb__exp_of_single(float x) {
  double power;
  const int32_t bits = (int32_t)sb__bits_of_float(x), most = 0x43160000; /* 150 */
  const uint32_t below = (uint32_t)(bits > most ? most : bits), least = 0xc3160000u;
  const float inside = sb__float_of(below > least ? least : below);
  return (1 + sb__exp_parts_of_single((double)inside, &power)) * power;
}

/* Of |x|, x being any number but NaN: by expm1(2 * |x|) / (expm1(2 * |x|) + 2). */
SB_INLINE double sb__tanh_of_single(float x) {
  double power;
  const int32_t bits = (int32_t)(sb__bits_of_float(x) & INT32_MAX), most = 0x41200000; /* 10 */
  const float inside = sb__float_of((uint32_t)(bits > most ? most : bits));
  const double near = sb__exp_parts_of_single(2 * (double)inside, &power);
  const double made = (power - 1) + power * near;
  return made / (made + 2);
}

/* x is above 0 and finite; sb__log_of_any has the others. */
SB_INLINE double sb__log_of_single(float x) {
  const sb__logarithm l = sb__log_parts((double)x, false);
  const double whole = l.exponent * SB__LN2_FRONT;
  return (whole + (l.f - (l.half - l.rest))) + l.exponent * SB__LN2_BACK;
}

/* y, or what the logarithm of x is where there is none. */
SB_INLINE float sb__log_of_any(float x, float y) {
  const float finite = x < __builtin_inff() ? y : x;
  const float above = x == 0 ? -__builtin_inff() : finite;
  return x < 0 ? __builtin_nanf("") : above;
}

/* (sin(x) / x - 1) / x^2 by x^2 where |x| < 1.5709; 2^-61, by Remez' algorithm */
SB_CONSTANT double sb__half_turn_terms[] = {
    -0x1.5555555555555p-3,  0x1.11111111110c8p-7,  -0x1.a01a01a014d6fp-13, 0x1.71de3a52a0af4p-19,
    -0x1.ae6454d471698p-26, 0x1.6123cd05c8025p-33, -0x1.ae4383d0968e1p-41, 0x1.88328f63bb001p-49};

/* sin(x) or cos(x) by the sine of x - k * pi, k being an integer or, for cos, halfway between two. |x| is below SB__CIRCULAR_SMALL. */
SB_INLINE double sb__sin_of_single(float x, bool is_cos) {
  const double turned = (double)x * 0x1.45f306dc9c883p-2, half = is_cos ? 0.5 : 0;
  const double shifted = (is_cos ? turned - half : turned) + SB__ROUNDER;
  const double whole = shifted - SB__ROUNDER, k = is_cos ? whole + half : whole;
  const double r = ((double)x - k * 0x1.921fb544p1) - k * 0x1.0b4611a626331p-33, z = r * r;
  const double made = r + r * z * SB__POLYNOMIAL(z, sb__half_turn_terms);
  const uint64_t odd = sb__bits_of(shifted) + (is_cos ? 1 : 0);
  return sb__double_of(sb__bits_of(made) ^ odd << 63);
}

/* y, or the result that the list has for x. By masks: compilers make branches of selections one after the other. */
SB_INLINE float sb__except(float x, float y, const sb__exception *list, int count) {
  uint32_t bits = sb__bits_of_float(y);
  SB__UNROLL for (int i = 0; i < count; i++) {
    const uint32_t is_listed = 0 - (uint32_t)(sb__bits_of_float(x) == list[i].x);
    bits = (bits & ~is_listed) | (list[i].y & is_listed);
  }
  return sb__float_of(bits);
}
#define SB__EXCEPT(x, y, list) sb__except(x, y, list, (int)(sizeof list / sizeof *list))

#endif
