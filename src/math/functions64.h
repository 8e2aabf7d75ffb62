/* Functions of float64, from +, -, *, /, square roots, integers and selections alone: the same bits on every level, and without branches,
 * so that compilers vectorise them. Arguments may be anything; a NaN that they return is made canonical by their caller. */
#ifndef SB_MATH_FUNCTIONS64_H
#define SB_MATH_FUNCTIONS64_H

#include "kernels/convert.h"

#define SB__NAN sb__double_of(0x7ff8000000000000u)
#define SB__INFINITY sb__double_of(0x7ff0000000000000u)
#define SB__SIGN (UINT64_C(1) << 63)

SB_INLINE double sb__magnitude(double x) { return sb__double_of(sb__bits_of(x) & ~SB__SIGN); }

SB_INLINE double sb__signed_like(double x, double sign) {
  return sb__double_of((sb__bits_of(x) & ~SB__SIGN) | (sb__bits_of(sign) & SB__SIGN));
}

/* The square root of x * x + y * y; infinite if one of them is. */
SB_INLINE double sb__hypot(double x, double y) {
  const double a = sb__magnitude(x), b = sb__magnitude(y);
  const double large = a > b ? a : b, small = a > b ? b : a;
  const double up = large < 0x1p-450 ? 0x1p600 : 1, scale = large > 0x1p500 ? 0x1p-600 : up;
  const double back_up = large < 0x1p-450 ? 0x1p-600 : 1;
  const double back = large > 0x1p500 ? 0x1p600 : back_up;
  const double l = large * scale, s = small * scale;
  const double found = __builtin_sqrt(l * l + s * s) * back;
  const double made = x != x || y != y ? x + y : found;
  return a == SB__INFINITY || b == SB__INFINITY ? SB__INFINITY : made;
}

/* ---- Polynomials, fitted by Sollya's fpminimax ---- */

/* (exp(x) - 1 - x) / x^2 where |x| < 0.3467; relative error of exp 2^-61 */
SB_CONSTANT double sb__exp_terms[] = {0x1p-1,
                                      0x1.5555555555557p-3,
                                      0x1.5555555555557p-5,
                                      0x1.111111111004fp-7,
                                      0x1.6c16c16c156a4p-10,
                                      0x1.a01a01ac1f618p-13,
                                      0x1.a01a01ab9924cp-16,
                                      0x1.71de01a7b72aep-19,
                                      0x1.27e4cfad0f415p-22,
                                      0x1.af4ed652b5622p-26,
                                      0x1.1f86f4adf0b15p-29};
/* (sinh(x) / x - 1) / x^2 by x^2, there; 2^-63 */
SB_CONSTANT double sb__sinh_terms[] = {0x1.5555555555555p-3,  0x1.1111111111489p-7,
                                       0x1.a01a019d93402p-13, 0x1.71de465ab784bp-19,
                                       0x1.ae324107d06aap-26, 0x1.ad42d7f5d4ab6p-33};
/* (cosh(x) - 1 - x^2 / 2) / x^4 by x^2, there; 2^-66 */
SB_CONSTANT double sb__cosh_terms[] = {0x1.5555555555555p-5, 0x1.6c16c16c16d9ep-10,
                                       0x1.a01a01a1cc766p-16, 0x1.27e4e9626934dp-22,
                                       0x1.1f5927121f4b7p-29};
/* (sin(x) / x - 1) / x^2 by x^2 where |x| < 0.7855; 2^-60 */
SB_CONSTANT double sb__sin_terms[] = {
    -0x1.5555555555555p-3,  0x1.111111111101ep-7,  -0x1.a01a019fe884cp-13, 0x1.71de3a1032ce5p-19,
    -0x1.ae63f7f5d45c6p-26, 0x1.60e5c369cd48ep-33, -0x1.8d4c2cd3d1242p-41};
/* (cos(x) - 1 + x^2 / 2) / x^4 by x^2, there; 2^-60 */
SB_CONSTANT double sb__cos_terms[] = {0x1.5555555555555p-5,  -0x1.6c16c16c168ccp-10,
                                      0x1.a01a019f38b6dp-16, -0x1.27e4fa037cc15p-22,
                                      0x1.1eeb586537317p-29, -0x1.9073e56374aa2p-37};
/* (asin(x) / x - 1) / x^2 by x^2 where |x| <= 0.5; 2^-62 */
SB_CONSTANT double sb__asin_terms[] = {
    0x1.5555555555555p-3,  0x1.33333333334b8p-4, 0x1.6db6db6d96522p-5, 0x1.f1c71c85f079bp-6,
    0x1.6e8b9f66502f6p-6,  0x1.1c4f2674e4f27p-6, 0x1.c98b8d364800ap-7, 0x1.7b39c34c195afp-7,
    0x1.39ac2d629bb83p-7,  0x1.39c64c0039139p-7, 0x1.187d9a18254b6p-9, 0x1.62641b4097369p-6,
    -0x1.68eb4eb56762ap-6, 0x1.0032fcd10108fp-5};
/* (atan(x) / x - 1) / x^2 by x^2 where |x| < 0.4143; 2^-63 */
SB_CONSTANT double sb__atan_terms[] = {
    -0x1.5555555555555p-2, 0x1.9999999999815p-3, -0x1.2492492481cbcp-3, 0x1.c71c71bca8c43p-4,
    -0x1.745d1567fe143p-4, 0x1.3b137c22d6222p-4, -0x1.110d2f02204bap-4, 0x1.e17f3a94987eap-5,
    -0x1.abcc2cf4c5724p-5, 0x1.72164f76159d7p-5, -0x1.14bcb25106defp-5, 0x1.fb7e50efd0883p-7};
/* erf(x) / x by x^2 without its first term, where |x| <= 1; 2^-62 */
SB_CONSTANT double sb__erf_terms[] = {
    -0x1.812746b0379e6p-2,  0x1.ce2f21a042b31p-4,  -0x1.b82ce31284d8cp-6,  0x1.565bcd0db84cfp-8,
    -0x1.c02db3da33f2p-11,  0x1.f9a321c26fb0ap-14, -0x1.f4d1e17f5f5c9p-17, 0x1.b9df0c732f28dp-20,
    -0x1.5f1e09f9c5431p-23, 0x1.f7ac5f758970fp-27, -0x1.3882e64784dc5p-30, 0x1.05b7718178bf3p-34};
/* (1 + 0.8 * x) * exp(x^2 / 2) * (1 - the normal distribution at x) by (x - 3.5) / (x + 3.5), for x from 0 to 54; 2^-54 */
SB_CONSTANT double sb__tail_terms[] = {
    0x1.9dcf6d518fd75p-2,   -0x1.d97d4882498aap-4, 0x1.a6b735d3d42b7p-6,   0x1.28b7b1bd85009p-6,
    -0x1.4e18fe5934d66p-6,  0x1.05e16ea9553e2p-7,  -0x1.147561bcb754p-14,  -0x1.164cfc5cad783p-10,
    0x1.2eabcca6c64d3p-13,  0x1.4d5c2dedadcp-13,   -0x1.8f351ddd91c99p-16, -0x1.f1355b98e4896p-16,
    0x1.7be6221828bdfp-20,  0x1.94836e327291ep-18, 0x1.b8833d3fac797p-21,  -0x1.28689ccfa4f5cp-20,
    -0x1.eb86b29491e66p-22, 0x1.0db1e517f0038p-23, 0x1.335b5b3bac74fp-23,  0x1.bd7dbb8aea974p-27,
    -0x1.e2d692a22ef21p-26, -0x1.5800b347c713p-27, 0x1.3306fcbe62abcp-29,  0x1.d9dc500d40e6p-30,
    0x1.c80e98f6b545fp-33};

#if defined(__clang__)
# define SB__UNROLL _Pragma("clang loop unroll(full)")
#else
# define SB__UNROLL _Pragma("GCC unroll 32")
#endif

/* terms[0] + terms[1] * x + ...: even and odd powers apart, so that two sums go on at once. */
SB_INLINE double sb__polynomial(double x, const double *terms, int count) {
  const double z = x * x;
  const int last = (count - 1) | 1; /* index of the last odd term, or one beyond */
  double even = terms[(count - 1) & ~1], odd = last < count ? terms[last] : terms[last - 2];
  SB__UNROLL for (int i = ((count - 1) & ~1) - 2; i >= 0; i -= 2) even = even * z + terms[i];
  SB__UNROLL for (int i = (last < count ? last : last - 2) - 2; i >= 1; i -= 2) odd =
      odd * z + terms[i];
  return even + x * odd;
}
#define SB__POLYNOMIAL(x, terms) sb__polynomial(x, terms, (int)(sizeof terms / sizeof *terms))

/* ---- Exponentials ----
 *
 * `wide` is a constant: whether arguments are any doubles, else float32 only, whose results have small exponents. */

#define SB__ROUNDER \
 0x1.8p52 /* x + this - this is x rounded to an integer, which the sum's last bits are */
#define SB__1_BY_LN2 0x1.71547652b82fep0
#define SB__LN2_HIGH 0x1.62e42fefap-1
#define SB__LN2_LOW 0x1.cf79abc9e3b3ap-40

/* 2^k for k + SB__ROUNDER; k from -1022 to 1023. */
SB_INLINE double sb__power(double shifted) {
  return sb__double_of((sb__bits_of(shifted) << 52) + 0x3ff0000000000000u);
}

/* x = k * ln 2 + r + rest; k has an inner part, whose powers of two are normal, and an outer one. */
typedef struct sb__reduced {
  double r, rest;
  double inner, outer; /* 2^k is their product */
  double inverse;      /* of inner */
} sb__reduced;

SB_INLINE sb__reduced sb__reduce_exp(double x, double more, bool wide) {
  sb__reduced found;
  const double k = (x * SB__1_BY_LN2 + SB__ROUNDER) - SB__ROUNDER;
  const double above = k > 1000 ? 1000 : k, near = wide ? above < -1000 ? -1000 : above : k;
  const double high = x - k * SB__LN2_HIGH, low = k * SB__LN2_LOW - more;
  found.r = high - low;
  found.rest = (high - found.r) - low;
  found.inner = sb__power(near + SB__ROUNDER);
  found.outer = wide ? sb__power((k - near) + SB__ROUNDER) : 1;
  found.inverse = sb__power(SB__ROUNDER - near);
  return found;
}

/* exp(r + rest) = high + low. */
SB_INLINE double sb__exp_near_0(double r, double rest, double *low) {
  const double sum = 1 + r;
  *low = (r - (sum - 1)) + (rest + r * r * SB__POLYNOMIAL(r, sb__exp_terms));
  return sum;
}

SB_INLINE double sb__clamp(double x, double least, double most) {
  const double above = x < least ? least : x;
  return above > most ? most : above;
}

SB_INLINE double sb__exp(double x) {
  double low;
  const sb__reduced a = sb__reduce_exp(sb__clamp(x, -760, 720), 0, true);
  const double high = sb__exp_near_0(a.r, a.rest, &low);
  return (high + low) * a.inner * a.outer;
}

/* exp(x) - 1 = high + low, times outer. */
SB_INLINE double sb__expm1_parts(double x, bool wide, double *low, double *outer) {
  const sb__reduced a = sb__reduce_exp(x, 0, wide);
  const double small = a.rest + a.r * a.r * SB__POLYNOMIAL(a.r, sb__exp_terms);
  const double whole = a.inner - 1, first = a.inner * a.r, high = whole + first;
  *low = (first - (high - whole)) + a.inner * small;
  *outer = a.outer;
  return high;
}

SB_INLINE double sb__expm1(double x, bool wide) {
  double low, outer;
  const double inside = wide ? sb__clamp(x, -60, 720) : sb__clamp(x, -60, 150);
  const double high = sb__expm1_parts(inside, wide, &low, &outer);
  return sb__signed_like((high + low) * outer, x);
}

/* By expm1(2 * |x|) / (expm1(2 * |x|) + 2). */
SB_INLINE double sb__tanh(double x) {
  double low, outer;
  const double a = sb__clamp(sb__magnitude(x), 0, 20);
  const double high = sb__expm1_parts(a + a, false, &low, &outer);
  const double sum = high + low, rest = (high - sum) + low;
  const double divisor = sum + 2, back = divisor - sum;
  const double lost = (sum - (divisor - back)) + (2 - back) + rest;
  const double quotient = sum / divisor;
  const double made = quotient + (rest - quotient * lost) * (0.5 - 0.5 * quotient);
  return sb__signed_like(made, x);
}

/* sinh or cosh of |x|, by cosh(k * ln 2) * sinh(r) + sinh(k * ln 2) * cosh(r), or the like. */
SB_INLINE double sb__hyperbolic(double x, bool is_cosh, bool wide) {
  const double inside = sb__clamp(sb__magnitude(x), 0, wide ? 712 : 100);
  const sb__reduced a = sb__reduce_exp(inside, 0, wide);
  const double z = a.r * a.r, grown = 0.5 * a.inner;
  const double shrunk = is_cosh ? -0.5 * a.inverse : 0.5 * a.inverse;
  const double cosh_less_1 = z * (0.5 + z * SB__POLYNOMIAL(z, sb__cosh_terms)) + a.r * a.rest;
  const double sinh_less_r = a.r * z * SB__POLYNOMIAL(z, sb__sinh_terms) + a.rest;
  const double whole = grown - shrunk, first = grown * a.r, sum = whole + first;
  const double lost = first - (sum - whole), second = shrunk * a.r, high = sum + second;
  const double lost_too = second - (high - sum);
  const double small = whole * cosh_less_1 + (grown + shrunk) * sinh_less_r;
  return (high + ((lost + lost_too) + small)) * a.outer;
}

SB_INLINE double sb__sinh(double x, bool wide) {
  return sb__signed_like(sb__hyperbolic(x, false, wide), x);
}

SB_INLINE double sb__cosh(double x, bool wide) { return sb__hyperbolic(x, true, wide); }

/* factor / (1 + exp(-x)), factor being 1 or x. */
SB_INLINE double sb__logistic(double x, bool times_x, bool wide) {
  double low;
  const double inside = wide ? sb__clamp(x, -760, 760) : sb__clamp(x, -150, 150);
  const sb__reduced a = sb__reduce_exp(-sb__magnitude(inside), 0, wide);
  const double sum = sb__exp_near_0(a.r, a.rest, &low), factor = times_x ? inside : 1;
  const double high = sum + low, rest = (sum - high) + low;
  const double e = high * a.inner, divisor = 1 + e, lost = (e - (divisor - 1)) + rest * a.inner;
  const bool is_small = inside < 0;
  const double dividend = is_small ? factor * high : factor;
  const double quotient = dividend / divisor;
  const double left = (is_small ? factor * rest : 0) - quotient * lost;
  const double close = quotient + left / divisor;
  return is_small ? close * a.inner * a.outer : close;
}

/* Near 0 it is 1/2 + x/4 - x^3/48, of which the first two terms may lie halfway between two float32; the third decides. Less is taken off here,
 * but no such number lies between. */
SB_INLINE double sb__sigmoid_of_single(double x, double made) {
  const double near = 0.5 + x * (0.25 * (1 - 0x1p-26));
  return sb__magnitude(x) < 0x1p-12 ? near : made;
}

SB_INLINE double sb__sigmoid(double x, bool wide) {
  const double made = sb__logistic(x, false, wide);
  return wide ? made : sb__sigmoid_of_single(x, made);
}

/* a + b, its last bit 1 if it is inexact: that rounds correctly when it is rounded once more, to float32. |a| >= |b|. */
SB_INLINE double sb__sum_to_odd(double a, double b) {
  const double sum = a + b, lost = b - (sum - a);
  const uint64_t bits = sb__bits_of(sum), down = bits - 1, up = bits + 1;
  const uint64_t moved = (lost < 0) == (sum < 0) ? up : down;
  return sb__double_of(lost != 0 && !(bits & 1) ? moved : bits);
}

/* Near 0 it is x/2 + x^2/4 - x^4/48, of which the first two terms may lie halfway. */
SB_INLINE double sb__silu_of_single(double x, double made) {
  const double z = x * x;
  const double near = sb__sum_to_odd(0.5 * x, 0.25 * z - z * z * 0x1.5555555555555p-6);
  return sb__magnitude(x) < 0x1p-10 ? sb__signed_like(near, x) : made;
}

SB_INLINE double sb__silu(double x, bool wide) {
  const double inside = sb__signed_like(sb__logistic(x, true, wide), x);
  const double made = x > (wide ? 760 : 150) ? x : inside;
  return wide ? made : sb__silu_of_single(x, made);
}

/* ---- The normal distribution ---- */

/* factor * (1 - the normal distribution at a), a not below 0; square + more is a * a, at most 1600. */
SB_INLINE double sb__normal_tail(double a, double factor, double square, double more, bool wide) {
  double low;
  const sb__reduced e = sb__reduce_exp(-0.5 * square, -0.5 * more, wide);
  const double high = sb__exp_near_0(e.r, e.rest, &low);
  const double t = (a - 3.5) / (a + 3.5);
  const double ratio = SB__POLYNOMIAL(t, sb__tail_terms) / (1 + 0.8 * a);
  return (high + low) * ratio * factor * e.inner * e.outer;
}

/* a * a, and what its rounding lost. */
SB_INLINE double sb__square(double a, double *lost) {
  const double head = sb__double_of(sb__bits_of(a) & 0xfffffffff8000000u), tail = a - head;
  const double square = a * a;
  *lost = ((head * head - square) + 2 * head * tail) + tail * tail;
  return square;
}

/* Halves of subnormal float32 may lie halfway; the true value is above. */
SB_INLINE double sb__gelu_of_single(double x, double made) {
  const double a = sb__magnitude(x);
  return a < 0x1p-100 ? sb__signed_like(made + a * 0x1p-50, x) : made;
}

SB_INLINE double sb__gelu(double x, bool wide) {
  double lost = 0;
  const double a = sb__clamp(sb__magnitude(x), 0, wide ? 39.9 : 20);
  const double square = wide ? sb__square(a, &lost) : a * a;
  const double tail = sb__normal_tail(a, a, square, lost, wide);
  const double inside = sb__signed_like(x > 0 ? x - tail : -tail, x), made = x != x ? x : inside;
  return wide ? made : sb__gelu_of_single(x, made);
}

SB_INLINE double sb__erf(double x) {
  double lost;
  const double a = sb__magnitude(x), z = a * a, far = sb__clamp(a, 0, 6.5);
  const double terms = SB__POLYNOMIAL(z, sb__erf_terms);
  const double inside = a + a * (0x1.06eba8214db68p-3 + (0x1.18db3a45364b4p-56 + z * terms));
  const double square = sb__square(far, &lost);
  const double tail = sb__normal_tail(far * 0x1.6a09e667f3bcdp0, 1, 2 * square, 2 * lost, false);
  const double outside = 1 - 2 * tail;
  return x != x ? x : sb__signed_like(a < 1 ? inside : outside, x);
}

/* ---- Logarithms ---- */

/* log(x) = exponent * ln 2 + f - half + rest, where f = m - 1 and half = f * f / 2. */
typedef struct sb__logarithm {
  double exponent, f, half, rest;
} sb__logarithm;

/* x is above 0 and finite. */
SB_INLINE sb__logarithm sb__log_parts(double x, bool wide) {
  sb__logarithm l;
  const bool tiny = wide && x < 0x1p-1022;
  const double normal = tiny ? x * 0x1p54 : x;
  const uint64_t least = 0x3fe6a09e667f3bcdu; /* the root of 1/2: m is from there to twice that */
  const uint64_t bits = sb__bits_of(normal) + (0x3ff0000000000000u - least);
  const double m = sb__double_of((bits & 0xfffffffffffffu) + least);
  l.exponent = sb__double_of(0x4330000000000000u | bits >> 52) - (0x1p52 + (tiny ? 1077 : 1023));
  l.f = m - 1;
  l.half = 0.5 * l.f * l.f;
  const double s = l.f / (2 + l.f), z = s * s, w = z * z;
  const double odd =
      0x1.5555555555558p-1 +
      w * (0x1.2492492df9fdfp-2 + w * (0x1.7462b87d8b0aep-3 + w * 0x1.2b5e4184c6562p-3));
  const double even = 0x1.99999999952c5p-2 + w * (0x1.c71c62d882872p-3 + w * 0x1.39fde226d3026p-3);
  l.rest = s * (l.half + z * (odd + z * even));
  return l;
}

/* Of x + more, which is small beside x. */
SB_INLINE sb__logarithm sb__log_parts_of_two(double x, double more, bool wide) {
  sb__logarithm l = sb__log_parts(x, wide);
  l.rest += more / x;
  return l;
}

/* ln 2, the first part with zeros behind, so that its multiples by exponents are exact. */
#define SB__LN2_FRONT 0x1.62e42fefa38p-1
#define SB__LN2_BACK 0x1.ef35793c7673p-45

/* The logarithm is the result + low. */
SB_INLINE double sb__log_pair(sb__logarithm l, double *low) {
  const double whole = l.exponent * SB__LN2_FRONT, sum = whole + l.f, high = sum - l.half;
  const double lost = (l.f - (sum - whole)) + ((sum - high) - l.half);
  *low = lost + (l.rest + l.exponent * SB__LN2_BACK);
  return high;
}

SB_INLINE double sb__log_sum(sb__logarithm l) {
  double low;
  const double high = sb__log_pair(l, &low);
  return high + low;
}

/* exponent * high_2 + the rest's logarithm times head + tail; exact for powers of two. */
SB_INLINE double sb__log_scaled(sb__logarithm l, double high_2, double low_2, double head,
                                double tail) {
  const double log = l.f - l.half, lost = ((l.f - log) - l.half) + l.rest;
  const double front = sb__double_of(sb__bits_of(log) & 0xffffffff00000000u);
  const double back = (log - front) + lost, whole = l.exponent * high_2, part = front * head;
  const double high = whole + part, low = part - (high - whole);
  return high + (low + (l.exponent * low_2 + (front * tail + back * (head + tail))));
}

/* y, or what a logarithm is where there is none. */
SB_INLINE double sb__log_special(double x, double y) {
  const double finite = x < SB__INFINITY ? y : x;
  const double above = x == 0 ? -SB__INFINITY : finite;
  return x < 0 ? SB__NAN : above;
}

SB_INLINE double sb__log(double x) {
  return sb__log_special(x, sb__log_sum(sb__log_parts(x, true)));
}

SB_INLINE double sb__log2(double x, bool wide) {
  const sb__logarithm l = sb__log_parts(x, wide);
  return sb__log_special(x, sb__log_scaled(l, 1, 0, 0x1.71547p0, 0x1.94ae0bf85ddf4p-22));
}

SB_INLINE double sb__log10(double x, bool wide) {
  const sb__logarithm l = sb__log_parts(x, wide);
  return sb__log_special(x, sb__log_scaled(l, 0x1.34413509f6p-2, 0x1.9fef311f12b36p-42,
                                           0x1.bcb7bp-2, 0x1.526e50e32a6abp-26));
}

/* log(1 + x), with what rounding 1 + x loses. */
SB_INLINE double sb__log1p_above(double x) {
  const double sum = 1 + x, lost = sb__magnitude(x) > 1 ? 1 - (sum - x) : x - (sum - 1);
  return sb__log_sum(sb__log_parts_of_two(sum, lost, false));
}

SB_INLINE double sb__log1p(double x) {
  const double made = sb__log_special(1 + x, sb__log1p_above(x));
  return x < -1 ? SB__NAN : sb__signed_like(made, x);
}

/* log(|x| + root(x * x + 1)) or log(x + root(x * x - 1)), by log1p; of numbers above 2^28 log(2 * |x|). */
SB_INLINE double sb__asinh(double x, bool wide) {
  const double a = sb__magnitude(x), inside = a > 0x1p28 ? 1 : a, square = inside * inside;
  const double more = inside + square / (1 + __builtin_sqrt(1 + square));
  const double sum = 1 + more, lost = more > 1 ? 1 - (sum - more) : more - (sum - 1);
  const bool is_large = a > 0x1p28;
  sb__logarithm l = sb__log_parts_of_two(is_large ? a : sum, is_large ? 0 : lost, wide);
  l.exponent += is_large ? 1 : 0;
  const double made = a < SB__INFINITY ? sb__log_sum(l) : a;
  return sb__signed_like(made, x);
}

SB_INLINE double sb__acosh(double x, bool wide) {
  const bool is_large = x > 0x1p28;
  const double t = (is_large ? 2 : x) - 1, more = t + __builtin_sqrt(t * t + 2 * t);
  const double sum = 1 + more, lost = more > 1 ? 1 - (sum - more) : more - (sum - 1);
  sb__logarithm l = sb__log_parts_of_two(is_large ? x : sum, is_large ? 0 : lost, wide);
  l.exponent += is_large ? 1 : 0;
  const double made = x < SB__INFINITY ? sb__log_sum(l) : x;
  return x < 1 ? SB__NAN : made;
}

SB_INLINE double sb__atanh(double x) {
  const double a = sb__magnitude(x), t = (a + a) / (1 - a);
  const double made = 0.5 * sb__log1p_above(t), finite = a == 1 ? SB__INFINITY : made;
  return a > 1 ? SB__NAN : sb__signed_like(finite, x);
}

/* ---- Trigonometry ---- */

#define SB__PI_4_HIGH 0x1.921fb54442d18p-1 /* 50 bits: its multiples up to 4 are exact */
#define SB__PI_4_LOW 0x1.1a62633145c07p-55

/* asin and acos, by the root of (1 - |x|) / 2 where |x| is above 1/2. */
SB_INLINE double sb__arc(double x, bool is_acos, bool wide) {
  const double a = sb__magnitude(x);
  const bool is_large = a > 0.5;
  const double z = is_large ? 0.5 - 0.5 * a : a * a, s = is_large ? __builtin_sqrt(z) : a;
  const double head = sb__double_of(sb__bits_of(s) & 0xfffffffff8000000u);
  const double root = (z - head * head) / (s + head + 0x1p-1000) - (s - head);
  const double low = s * z * SB__POLYNOMIAL(z, sb__asin_terms) + (wide && is_large ? root : 0);
  /* The result is quarters * pi / 4 + factor * (s + low). */
  const double side = x < 0 ? -1 : 1;
  const double quarters_large = is_acos ? x < 0 ? 4 : 0 : 2;
  const double factor_large = is_acos ? 2 * side : -2;
  const double quarters = is_large ? quarters_large : is_acos ? 2 : 0;
  const double factor = is_large ? factor_large : is_acos ? -side : 1;
  const double whole = quarters * SB__PI_4_HIGH, first = factor * s, high = whole + first;
  const double lost = quarters == 0 ? 0 : first - (high - whole);
  const double made = high + (lost + (factor * low + quarters * SB__PI_4_LOW));
  return is_acos ? made : sb__signed_like(made, x);
}

SB_INLINE double sb__asin(double x, bool wide) { return sb__arc(x, false, wide); }
SB_INLINE double sb__acos(double x, bool wide) { return sb__arc(x, true, wide); }

/* The angle of the point (x, y), of y's sign. Both are finite, not both are 0; is_left: x is below 0, or -0. */
SB_INLINE double sb__angle(double y, double x, bool is_left) {
  const double a = sb__magnitude(y), b = sb__magnitude(x);
  const bool is_steep = a > b;
  const double large = is_steep ? a : b, small = is_steep ? b : a;
  const bool is_middle = small > 0x1.a827999fcef34p-2 * large; /* the tangent of pi / 8 */
  const double t = (is_middle ? small - large : small) / (is_middle ? small + large : large);
  const double z = t * t, low = t * z * SB__POLYNOMIAL(z, sb__atan_terms);
  /* Quarters of pi, and whether the angle is taken off them. */
  const double base = is_middle ? 1 : 0, steep = is_steep ? 2 - base : base;
  const double factor = is_steep ? -1 : 1, side = is_left ? -1 : 1;
  const double quarters = is_left ? 4 - steep : steep;
  const double whole = quarters * SB__PI_4_HIGH, first = side * factor * t, high = whole + first;
  const double lost = quarters == 0 ? 0 : first - (high - whole);
  const double made = high + (lost + (side * factor * low + quarters * SB__PI_4_LOW));
  return sb__signed_like(made, y);
}

SB_INLINE double sb__atan(double x) {
  const double made = sb__angle(sb__clamp(x, -0x1p80, 0x1p80), 1, false);
  return x != x ? x : sb__signed_like(made, x);
}

/* sin and cos of r + rest, |r| at most pi / 4. */
SB_INLINE double sb__sin_near_0(double r, double rest) {
  const double z = r * r;
  return r + (r * z * SB__POLYNOMIAL(z, sb__sin_terms) + rest * (1 - 0.5 * z));
}

SB_INLINE double sb__cos_near_0(double r, double rest) {
  const double z = r * r, half = 0.5 * z, high = 1 - half;
  return high + (((1 - high) - half) + (z * z * SB__POLYNOMIAL(z, sb__cos_terms) - r * rest));
}

typedef enum sb__turned { SB__SIN, SB__COS, SB__TAN } sb__turned;

/* sin, cos or tan of quarter * pi / 2 + r + rest; quarter's last two bits count. */
SB_INLINE double sb__circular_of(sb__turned which, uint64_t quarter, double r, double rest) {
  const double s = sb__sin_near_0(r, rest), c = sb__cos_near_0(r, rest);
  const bool is_odd = (quarter & 1) != 0;
  if (which == SB__TAN) return (is_odd ? -c : s) / (is_odd ? s : c);
  const uint64_t turned = which == SB__SIN ? quarter : quarter + 1;
  const double sine = is_odd ? c : s, cosine = is_odd ? s : c;
  const double found = which == SB__SIN ? sine : cosine;
  return sb__double_of(sb__bits_of(found) ^ (turned << 62 & SB__SIGN));
}

/* Arguments below: reduced without bits of 2 / pi. */
#define SB__CIRCULAR_SMALL 0x1p17 /* of float32 */
#define SB__CIRCULAR_SMALL_WIDE 0x1p20

/* x = quarter * pi / 2 + r + rest, of which quarter is the result. x is below the limit. */
SB_INLINE uint64_t sb__reduce_turn(double x, bool wide, double *r, double *rest) {
  const double shifted = x * 0x1.45f306dc9c883p-1 + SB__ROUNDER, k = shifted - SB__ROUNDER;
  const double first = x - k * 0x1.921fb544p0;
  if (!wide) {
    const double low = k * 0x1.0b4611a626331p-34;
    *r = first - low;
    *rest = (first - *r) - low;
    return sb__bits_of(shifted);
  }
  const double b = k * 0x1.0b4611a6p-34, second = first - b, b_back = second - first;
  const double lost = (first - (second - b_back)) - (b + b_back);
  const double c = k * 0x1.3198a2ep-69, third = second - c, c_back = third - second;
  const double lost_too = (second - (third - c_back)) - (c + c_back);
  const double low = (lost + lost_too) - k * 0x1.b839a252049c1p-104;
  *r = third + low;
  *rest = (third - *r) + low;
  return sb__bits_of(shifted);
}

SB_INLINE double sb__circular(sb__turned which, double x, bool wide) {
  double r, rest;
  const uint64_t quarter = sb__reduce_turn(x, wide, &r, &rest);
  const double found = sb__circular_of(which, quarter, r, rest);
  return which != SB__COS && x == 0 ? x : found;
}

/* ---- Functions of two arguments ---- */

/* The angle of the point (x, y), any zeros and infinities included. */
SB_INLINE double sb__atan2(double y, double x) {
  const double a = sb__magnitude(y), b = sb__magnitude(x), large = a > b ? a : b;
  const bool infinite = large == SB__INFINITY, none = large == 0;
  const double down = large > 0x1p900 ? 0x1p-200 : 1, scale = large < 0x1p-700 ? 0x1p200 : down;
  const double height = infinite ? (a == large ? 1 : 0) : a * scale;
  const double finite_width = none ? 1 : b * scale;
  const double width = infinite ? (b == large ? 1 : 0) : finite_width;
  const bool is_left = sb__bits_of(x) >> 63;
  const double made = sb__angle(height, is_left ? -width : width, is_left);
  return x != x || y != y ? x + y : sb__signed_like(made, y);
}

/* log(exp(x) + exp(y)) */
SB_INLINE double sb__logaddexp(double x, double y) {
  double low, log_low;
  const double most = x > y ? x : y, least = x > y ? y : x;
  const double apart = least - most, back = apart + most;
  const double lost = (least - back) - (most - (back - apart));
  const bool is_far = !(apart > -746); /* there it is 0 */
  const sb__reduced a = sb__reduce_exp(is_far ? -746 : apart, is_far ? 0 : lost, true);
  const double near = sb__exp_near_0(a.r, a.rest, &low), top = near + low;
  const double high = top * a.inner * a.outer, sum = 1 + high;
  const double more = (high - (sum - 1)) + ((near - top) + low) * a.inner * a.outer;
  const double log = sb__log_pair(sb__log_parts_of_two(sum, more, false), &log_low);
  const double whole = most + log, rest = whole - most;
  const double whole_lost = (most - (whole - rest)) + (log - rest);
  const double made = whole + (whole_lost + log_low);
  const double found = sb__magnitude(most) == SB__INFINITY ? most : made;
  return x != x || y != y ? x + y : found;
}

/* high + low = a * b */
SB_INLINE double sb__product(double a, double b, double *low) {
  const uint64_t mask = 0xfffffffff8000000u;
  const double a_head = sb__double_of(sb__bits_of(a) & mask), a_tail = a - a_head;
  const double b_head = sb__double_of(sb__bits_of(b) & mask), b_tail = b - b_head;
  const double high = a * b;
  *low = ((a_head * b_head - high) + a_head * b_tail + a_tail * b_head) + a_tail * b_tail;
  return high;
}

/* (log((1 + s) / (1 - s)) - 2 * s - 2/3 * s^3) / s^5 by s^2, where |s| < 0.1716; 2^-54 */
SB_CONSTANT double sb__log_terms[] = {
    0x1.999999999999ap-2, 0x1.24924924922fcp-2, 0x1.c71c71c74d1cp-3,  0x1.745d173c57417p-3,
    0x1.3b13aa0342a95p-3, 0x1.11154601f4aa7p-3, 0x1.e01b9e2a1db6bp-4, 0x1.da90000717951p-4,
};

/* The logarithm to the base of 2 as high + low, to 2^-64 of it. x is above 0 and finite. */
SB_INLINE double sb__log2_pair(double x, double *low) {
  double p_low, z_low, c_low, q_low, g_low;
  const sb__logarithm l = sb__log_parts(x, true);
  const double f = l.f, d = 2 + f, d_low = f - (d - 2), s = f / d;
  const double p = sb__product(s, d, &p_low), s_low = (((f - p) - p_low) - s * d_low) / d;
  const double z = sb__product(s, s, &z_low), z_rest = z_low + 2 * s * s_low;
  const double c = sb__product(s, z, &c_low), c_rest = c_low + (s * z_rest + s_low * z);
  const double q = sb__product(c, 0x1.5555555555555p-1, &q_low);
  const double q_rest = q_low + (c * 0x1.5555555555555p-55 + c_rest * 0x1.5555555555555p-1);
  const double tail = c * z * SB__POLYNOMIAL(z, sb__log_terms);
  const double log = 2 * s + q, log_low = (q - (log - 2 * s)) + (2 * s_low + (q_rest + tail));
  const double g = sb__product(log, 0x1.71547652b82fep+0, &g_low);
  const double g_rest = g_low + (log * 0x1.777d0ffda0d24p-56 + log_low * 0x1.71547652b82fep+0);
  const double sum = l.exponent + g, sum_low = (g - (sum - l.exponent)) + g_rest;
  const double high = sum + sum_low;
  *low = (sum - high) + sum_low;
  return high;
}

SB_INLINE double sb__pow(double x, double y) {
  double low, power_low, t_low, e_low;
  const double a = sb__magnitude(x), exponent = sb__clamp(y, -0x1p70, 0x1p70);
  const double log = sb__log2_pair(a, &low);
  const double raw = sb__product(log, exponent, &power_low), power = sb__clamp(raw, -1200, 1100);
  const double rest = raw == power ? power_low + low * exponent : 0;
  const double k = (power + SB__ROUNDER) - SB__ROUNDER, fraction = power - k;
  const double near = sb__clamp(k, -1000, 1000);
  const double t = sb__product(fraction, 0x1.62e42fefa39efp-1, &t_low);
  const double t_rest = t_low + (fraction * 0x1.abc9e3b39803fp-56 + rest * 0x1.62e42fefa39efp-1);
  const double r = t + t_rest, high = sb__exp_near_0(r, (t - r) + t_rest, &e_low);
  const double made =
      (high + e_low) * sb__power(near + SB__ROUNDER) * sb__power((k - near) + SB__ROUNDER);
  /* Zeros and infinities are their own powers or reciprocals. */
  const double of_zero = y < 0 ? SB__INFINITY : 0, of_infinity = y < 0 ? 0 : SB__INFINITY;
  const double finite = a == SB__INFINITY ? of_infinity : made, size = a == 0 ? of_zero : finite;
  /* Odd exponents keep the sign; others make it +, or NaN where they are no integers. */
  const double half = 0.5 * y, whole = __builtin_floor(y);
  const double of_odd = sb__signed_like(size, x), even = whole == y ? size : SB__NAN;
  const double integral = __builtin_floor(half) == half ? size : of_odd;
  const double other = ((x < 0) & (a < SB__INFINITY)) ? even : size;
  const double real = whole == y ? integral : other;
  const double number = x != x ? x : real, found = y != y ? y : number;
  const double by_base = x == 1 ? 1 : found, by_exponent = y == 0 ? 1 : by_base;
  return ((x == -1) & (sb__magnitude(y) == SB__INFINITY)) ? 1 : by_exponent;
}

#endif
