/* Conversions of single numbers, for the CPU and the kernels of src/cuda. Plain C, the same bits everywhere. They round
 * to nearest, ties to even, and return the canonical NaN. */
#ifndef SB_CONVERT_H
#define SB_CONVERT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "kernels/function.h"

/* A float of 8 or 16 bits. */
typedef struct sb__small_float {
  int mantissa;      /* stored bits of the significand */
  int bias;          /* of the exponent */
  uint32_t infinity; /* its bits; the nan's where the format has none */
  uint32_t nan;      /* the canonical one */
  uint32_t largest;  /* bits of the largest finite value */
  uint32_t sign;     /* the sign's bit */
} sb__small_float;

SB_CONSTANT sb__small_float sb__float16 = {10, 15, 0x7c00, 0x7e00, 0x7bff, 0x8000};
SB_CONSTANT sb__small_float sb__bfloat16 = {7, 127, 0x7f80, 0x7fc0, 0x7f7f, 0x8000};
SB_CONSTANT sb__small_float sb__float8_e4m3fn = {3, 7, 0x7f, 0x7f, 0x7e, 0x80};
SB_CONSTANT sb__small_float sb__float8_e5m2 = {2, 15, 0x7c, 0x7e, 0x7b, 0x80};

SB_FUNCTION uint64_t sb__bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

SB_FUNCTION double sb__double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* The quiet NaN with sign 0 and payload 0. */
SB_FUNCTION double sb__canonical(double x) {
  return x != x ? sb__double_of(0x7ff8000000000000u) : x;
}

SB_FUNCTION float sb__canonical_float(double x) {
  if (x != x) {
    const uint32_t bits = 0x7fc00000u;
    float nan;
    memcpy(&nan, &bits, sizeof nan);
    return nan;
  }
  return (float)x;
}

SB_FUNCTION double sb__small_to_double(uint32_t bits, sb__small_float f) {
  const uint32_t magnitude = bits & (f.sign - 1);
  const uint64_t sign = bits & f.sign ? UINT64_C(1) << 63 : 0;
  const uint32_t exponent = magnitude >> f.mantissa;
  const uint64_t fraction = magnitude & ((1u << f.mantissa) - 1);
  if (magnitude > f.largest) {
    const bool infinite = magnitude == f.infinity && f.infinity != f.nan;
    return sb__double_of(infinite ? sign | 0x7ff0000000000000u : 0x7ff8000000000000u);
  }
  if (exponent == 0) { /* fraction * 2^(1 - bias - mantissa), exact */
    const double unit = sb__double_of((uint64_t)(1023 + 1 - f.bias - f.mantissa) << 52);
    const double x = (double)fraction * unit;
    return sign ? -x : x;
  }
  return sb__double_of(sign | (uint64_t)((int)exponent - f.bias + 1023) << 52 |
                       fraction << (52 - f.mantissa));
}

SB_FUNCTION uint32_t sb__small_from_double(double x, sb__small_float f) {
  const uint64_t bits = sb__bits_of(x);
  const uint32_t sign = bits >> 63 ? f.sign : 0;
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1023 + f.bias; /* with the small format's bias */
  if (x != x) return f.nan;
  if ((bits << 1) == 0) return sign;
  uint64_t significand = (bits & 0xfffffffffffffu) | UINT64_C(1) << 52;
  int drop = 52 - f.mantissa;             /* low bits to round off */
  if (exponent < 1) drop += 1 - exponent; /* subnormal: more of them */
  if (drop > 54) return sign;             /* below half of the smallest value */
  const uint32_t beyond = f.infinity == f.nan ? f.nan : sign | f.infinity;
  if (exponent > 300) return beyond;
  const uint64_t half = UINT64_C(1) << (drop - 1), rest = significand & (2 * half - 1);
  significand >>= drop;
  if (rest > half || (rest == half && (significand & 1))) significand++;
  /* A carry out of the significand correctly increments the exponent. */
  const int64_t base = exponent < 1 ? 0 : (int64_t)(exponent - 1) << f.mantissa;
  const uint64_t magnitude = (uint64_t)base + significand;
  return magnitude > f.largest ? beyond : sign | (uint32_t)magnitude;
}

/* Rounds integers beyond 53 bits to odd, so that a second rounding, to a short float, is correct. */
SB_FUNCTION double sb__odd_from_uint(uint64_t x) {
  int shift = 0;
  while (x >> shift >> 53) shift++;
  uint64_t kept = x >> shift;
  if (kept << shift != x) kept |= 1;
  return (double)kept * (double)(UINT64_C(1) << shift);
}

SB_FUNCTION double sb__odd_from_int(int64_t x) {
  return x < 0 ? -sb__odd_from_uint(0 - (uint64_t)x) : sb__odd_from_uint((uint64_t)x);
}

/* Rounds toward zero and saturates; NaN becomes 0. Values up to the next integer beyond the limits are not told apart before they are
 * integers: compilers make branches of limits, and 0, which is one, is common. */
SB_FUNCTION int64_t sb__int_from_real(double x, int64_t low, int64_t high) {
  const int64_t is_number = -(int64_t)(x == x);
  if (high == INT64_MAX) return is_number & (x >= 0x1p63 ? high : x > -0x1p63 ? (int64_t)x : low);
  const double below = (double)low - 1, beyond = (double)high + 1;
  const double above = x > below ? x : below;
  const int64_t whole = (int64_t)(above < beyond ? above : beyond);
  const int64_t least = whole > low ? whole : low;
  return is_number & (least < high ? least : high);
}

SB_FUNCTION uint64_t sb__uint_from_real(double x, uint64_t high) {
  const double above = x > -1 ? x : 0;
  return above >= (double)high ? high : (uint64_t)above;
}

/* ---- To and from float32, without branches, so that compilers vectorise loops ---- */

SB_FUNCTION uint32_t sb__bits_of_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

SB_FUNCTION float sb__float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Tests for NaN by bits: GCC compiles a comparison of floats to a branch. */
/* Where GCC heeds traps it vectorises no choice by a comparison of floats; clang for WebAssembly compares integers of 64 bits one by one. */
#if defined(__wasm__)
SB_FUNCTION float sb__canonical_single(float x) { return x != x ? sb__float_of(0x7fc00000u) : x; }
SB_FUNCTION double sb__canonical_double(double x) { return sb__canonical(x); }
#else
SB_FUNCTION float sb__canonical_single(float x) {
  const int32_t bits = (int32_t)sb__bits_of_float(x);
  return sb__float_of((uint32_t)((bits & INT32_MAX) > 0x7f800000 ? 0x7fc00000 : bits));
}

SB_FUNCTION double sb__canonical_double(double x) {
  const int64_t bits = (int64_t)sb__bits_of(x), nan = 0x7ff8000000000000;
  return sb__double_of((uint64_t)((bits & INT64_MAX) > 0x7ff0000000000000 ? nan : bits));
}
#endif

/* (float)x where |x| <= 2^22. clang for WebAssembly converts short integers one by one; the last bits of x + 1.5 * 2^23
 * are the same, and vectorise. */
SB_FUNCTION float sb__float_from_short(int32_t x) {
#if defined(__wasm_simd128__)
  return sb__float_of((uint32_t)(x + 0x4b400000)) - 0x1.8p23f;
#else
  return (float)x;
#endif
}

SB_FUNCTION float sb__float_from_float16(uint16_t bits) {
  const int32_t magnitude = bits & 0x7fff;
  const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
  const int32_t normal = (magnitude << 13) + 0x38000000; /* adds the difference of the biases */
  const int32_t small = (int32_t)sb__bits_of_float((float)magnitude * 0x1p-24f);
  const int32_t finite = magnitude < 0x400 ? small : normal;
  const uint32_t special = magnitude == 0x7c00 ? sign | 0x7f800000u : 0x7fc00000u;
  return sb__float_of(magnitude < 0x7c00 ? sign | (uint32_t)finite : special);
}

SB_FUNCTION uint16_t sb__float16_from_float(float x) {
  const int32_t bits = (int32_t)sb__bits_of_float(x), magnitude = bits & 0x7fffffff;
  const int32_t sign = bits >> 16 & 0x8000;
  /* Adds half of the dropped bits' range, less one if the result is even: rounds to nearest even. */
  const int32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
  /* The last bit of x + 0.5 is the smallest subnormal, so the addition rounds. */
  const float sum = sb__float_of((uint32_t)magnitude) + 0.5f;
  const int32_t small = (int32_t)sb__bits_of_float(sum) - 0x3f000000;
  int32_t half = magnitude < 0x38800000 ? small : normal;
  half = magnitude < 0x47800000 ? half : 0x7c00;
  return (uint16_t)(magnitude > 0x7f800000 ? 0x7e00 : sign | half);
}

SB_FUNCTION float sb__float_from_bfloat16(uint16_t bits) {
  return sb__float_of((bits & 0x7fffu) > 0x7f80u ? 0x7fc00000u : (uint32_t)bits << 16);
}

SB_FUNCTION uint16_t sb__bfloat16_from_float(float x) {
  const uint32_t bits = sb__bits_of_float(x);
  const uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fc0u : rounded);
}

/* Rounds toward zero and saturates; NaN becomes 0. All integers from low to high are exact in float32. */
SB_FUNCTION int32_t sb__short_from_float(float x, float low, float high) {
  const float above = x > low ? x : low, inside = above < high ? above : high;
  return (int32_t)(x == x ? inside : 0);
}

SB_FUNCTION int32_t sb__int32_from_float(float x) {
  const float above = x > -0x1p31f ? x : -0x1p31f, inside = above < 0x1p31f ? above : 0;
  const int32_t whole = above < 0x1p31f ? (int32_t)inside : INT32_MAX;
  return x == x ? whole : 0;
}

/* low and high: values of int32. */
SB_FUNCTION int32_t sb__int_from_double(double x, double low, double high) {
  const double above = x > low ? x : low, inside = above < high ? above : high;
  return (int32_t)(x == x ? inside : 0);
}

SB_FUNCTION uint32_t sb__uint32_from_double(double x) {
  return (uint32_t)sb__uint_from_real(x, UINT32_MAX);
}

#endif
