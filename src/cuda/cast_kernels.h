/* Casts. One kernel for each dtype that is read takes any layout, and goes through the four forms of
 * kernels/each_dtype.inc, as the CPU's reference does; one for each pair that is frequent takes elements side
 * by side, 16 bytes of the wider dtype at a time. */
#ifndef SB_CUDA_CAST_KERNELS_H
#define SB_CUDA_CAST_KERNELS_H

#include <string.h>

#include "cuda/kernel.h"
#include "kernels/convert.h"
#include "samebytes.h"

/* ---- Any layout ---- */

typedef enum sb__form { SB__FORM_INT, SB__FORM_UINT, SB__FORM_REAL, SB__FORM_COMPLEX } sb__form;

#define BODY "cuda/cast_each.inc"
#include "kernels/each_dtype.inc"

typedef int64_t sb__form_i;
typedef uint64_t sb__form_u;
typedef double sb__form_real;
typedef sb_complex128 sb__form_c;

/* One function for each form, that kernels call: it is long, and all threads take the same way. */
#define STORE(constant, tag, name, type, kind) \
 case SB_##constant:                           \
  SB_PASTE(PREFIX, tag)(to, x);                \
  break;
#define PREFIX sb__store_int_
SB_COLD void sb__store_i(uint32_t dtype, void *to, int64_t x) {
  switch (dtype) { SB_DTYPES(STORE) }
}
#undef PREFIX
#define PREFIX sb__store_uint_
SB_COLD void sb__store_u(uint32_t dtype, void *to, uint64_t x) {
  switch (dtype) { SB_DTYPES(STORE) }
}
#undef PREFIX
#define PREFIX sb__store_real_
SB_COLD void sb__store_real(uint32_t dtype, void *to, double x) {
  switch (dtype) { SB_DTYPES(STORE) }
}
#undef PREFIX
#define PREFIX sb__store_complex_
SB_COLD void sb__store_c(uint32_t dtype, void *to, sb_complex128 x) {
  switch (dtype) { SB_DTYPES(STORE) }
}
#undef PREFIX
#undef STORE

/* What is scaled. In float32 sb__scale rounds it: no dtype of which a double does not hold all is scaled there. */
SB_FUNCTION double sb__real_from_i(int64_t x) { return (double)x; }
SB_FUNCTION double sb__real_from_u(uint64_t x) { return (double)x; }
SB_FUNCTION double sb__real_from_real(double x) { return x; }
SB_FUNCTION double sb__real_from_c(sb_complex128 x) { return x.re; } /* none is scaled */

SB_COLD double sb__scale(double x, double factor, double term, uint32_t scaled) {
  if (scaled == 2) {
    const float product = (float)x * (float)factor;
    return (double)(product + (float)term);
  }
  const double product = x * factor;
  return product + term;
}

#define KERNELS
#include "kernels/each_dtype.inc"
#undef KERNELS
#undef BODY

/* ---- Side by side ---- */

/* Short floats to and from float32, without branches. */
SB_FUNCTION float sb__float_from_small(uint32_t bits, sb__small_float f) {
  const uint32_t magnitude = bits & (f.sign - 1), sign = bits & f.sign ? 0x80000000u : 0;
  /* Moved into the places of a float32, the exponent counts from another bias; a product mends that. */
  const float high = sb__float_of((uint32_t)(254 - f.bias) << 23); /* 2^(127 - bias) */
  const float x = sb__float_of(magnitude << (23 - f.mantissa)) * high;
  const bool infinite = magnitude == f.infinity && f.infinity != f.nan;
  const uint32_t special = infinite ? sign | 0x7f800000u : 0x7fc00000u;
  return sb__float_of(magnitude > f.largest ? special : sign | sb__bits_of_float(x));
}

SB_FUNCTION uint32_t sb__small_from_float(float x, sb__small_float f) {
  const uint32_t bits = sb__bits_of_float(x), magnitude = bits & 0x7fffffffu;
  const uint32_t sign = bits >> 31 ? f.sign : 0, shift = (uint32_t)(23 - f.mantissa);
  /* Half of the dropped bits' range, less one for an even result, carries where it has to. */
  const uint32_t normal = (magnitude - ((uint32_t)(127 - f.bias) << 23) + (1u << (shift - 1)) - 1 +
                           (magnitude >> shift & 1)) >>
                          shift;
  /* A sum with this has the smallest subnormal as its last bit, so that the sum rounds. */
  const uint32_t unit = (uint32_t)(127 + 24 - f.bias - f.mantissa) << 23;
  const uint32_t small = sb__bits_of_float(sb__float_of(magnitude) + sb__float_of(unit)) - unit;
  const uint32_t out = magnitude < (uint32_t)(128 - f.bias) << 23 ? small : normal;
  const uint32_t beyond = f.infinity == f.nan ? f.nan : sign | f.infinity;
  if (magnitude > 0x7f800000u) return f.nan;
  return out > f.largest ? beyond : sign | out;
}

#define SB__TYPE(constant, tag, name, type, kind) typedef type tag##_t;
SB_DTYPES(SB__TYPE)
#undef SB__TYPE

/* Every dtype to float32 and back, as far as the pairs below need it. */
SB_FUNCTION float sb__f32_of_b1(b1_t x) { return (float)(x != 0); }
SB_FUNCTION float sb__f32_of_u8(u8_t x) { return (float)x; }
SB_FUNCTION float sb__f32_of_i8(i8_t x) { return (float)x; }
SB_FUNCTION float sb__f32_of_u16(u16_t x) { return (float)x; }
SB_FUNCTION float sb__f32_of_i16(i16_t x) { return (float)x; }
SB_FUNCTION float sb__f32_of_u32(u32_t x) { return (float)x; }
SB_FUNCTION float sb__f32_of_i32(i32_t x) { return (float)x; }
SB_FUNCTION float sb__f32_of_i64(i64_t x) { return (float)x; }
SB_FUNCTION float sb__f32_of_f16(f16_t x) { return sb__float_from_small(x, sb__float16); }
SB_FUNCTION float sb__f32_of_bf16(bf16_t x) { return sb__float_from_bfloat16(x); }
SB_FUNCTION float sb__f32_of_f32(f32_t x) { return x; }
SB_FUNCTION float sb__f32_of_f64(f64_t x) { return sb__canonical_single((float)x); }
SB_FUNCTION float sb__f32_of_f8e4m3(f8e4m3_t x) {
  return sb__float_from_small(x, sb__float8_e4m3fn);
}
SB_FUNCTION float sb__f32_of_f8e5m2(f8e5m2_t x) { return sb__float_from_small(x, sb__float8_e5m2); }

SB_FUNCTION b1_t sb__b1_of_f32(float x) { return x != 0; }
SB_FUNCTION u8_t sb__u8_of_f32(float x) { return (u8_t)sb__short_from_float(x, 0, UINT8_MAX); }
SB_FUNCTION i8_t sb__i8_of_f32(float x) {
  return (i8_t)sb__short_from_float(x, INT8_MIN, INT8_MAX);
}
SB_FUNCTION u16_t sb__u16_of_f32(float x) { return (u16_t)sb__short_from_float(x, 0, UINT16_MAX); }
SB_FUNCTION i16_t sb__i16_of_f32(float x) {
  return (i16_t)sb__short_from_float(x, INT16_MIN, INT16_MAX);
}
SB_FUNCTION i32_t sb__i32_of_f32(float x) { return sb__int32_from_float(x); }
SB_FUNCTION i64_t sb__i64_of_f32(float x) { return sb__int_from_real(x, INT64_MIN, INT64_MAX); }
SB_FUNCTION f16_t sb__f16_of_f32(float x) { return (f16_t)sb__small_from_float(x, sb__float16); }
SB_FUNCTION bf16_t sb__bf16_of_f32(float x) { return sb__bfloat16_from_float(x); }
SB_FUNCTION f64_t sb__f64_of_f32(float x) { return sb__canonical_double((double)x); }
SB_FUNCTION f8e4m3_t sb__f8e4m3_of_f32(float x) {
  return (f8e4m3_t)sb__small_from_float(x, sb__float8_e4m3fn);
}
SB_FUNCTION f8e5m2_t sb__f8e5m2_of_f32(float x) {
  return (f8e5m2_t)sb__small_from_float(x, sb__float8_e5m2);
}

SB_FUNCTION i64_t sb__i64_of_i32(i32_t x) { return x; }
SB_FUNCTION i32_t sb__i32_of_i64(i64_t x) { return (i32_t)(uint64_t)x; }
SB_FUNCTION c64_t sb__c64_of_c128(c128_t x) {
  return (c64_t){sb__canonical_float(x.re), sb__canonical_float(x.im)};
}
SB_FUNCTION c128_t sb__c128_of_c64(c64_t x) {
  return (c128_t){sb__canonical(x.re), sb__canonical(x.im)};
}

/* Where both are short, and float32 holds every value of one: by way of it. */
#define VIA_F32(to, from)                              \
 SB_FUNCTION to##_t sb__##to##_of_##from(from##_t x) { \
  return sb__##to##_of_f32(sb__f32_of_##from(x));      \
 }
#include "cuda/kernels.def"

/* x * scale + bias for one factor and one term. */
SB_FUNCTION float sb__scale_single(float x, float scale, float bias) {
  const float product = x * scale;
  return sb__canonical_single(product + bias);
}

#define SB__FACTORS const float scale = (float)*A.scale, bias = (float)*A.bias;
#define SB__PLAIN(to, from, x) sb__##to##_of_##from(x)
#define SB__SCALED(to, from, x) \
 sb__##to##_of_f32(sb__scale_single(sb__f32_of_##from(x), scale, bias))

/* Loads and stores of 16 bytes of the wider dtype, four a thread, or two where that is many elements. */
#define SB__SIDE_BY_SIDE(name, to_tag, from_tag, FACTORS, CONVERT)                            \
 SB_KERNEL(name, sb__args_convert, 256) {                                                     \
  typedef to_tag##_t to_t;                                                                    \
  typedef from_tag##_t from_t;                                                                \
  enum { TO = sizeof(to_t), FROM = sizeof(from_t), N = 16 / (TO > FROM ? TO : FROM) };        \
  enum { STEPS = N >= 8 ? 2 : 4 };                                                            \
  typedef struct to_vector {                                                                  \
   SB_ALIGNED(N *TO) to_t x[N];                                                               \
  } to_vector;                                                                                \
  typedef struct from_vector {                                                                \
   SB_ALIGNED(N *FROM) from_t x[N];                                                           \
  } from_vector;                                                                              \
  const from_vector *from = (const from_vector *)A.from;                                      \
  to_vector *to = (to_vector *)A.to;                                                          \
  FACTORS                                                                                     \
  const uint64_t whole = A.n / N, first = (uint64_t)blockIdx.x * (256 * STEPS) + threadIdx.x; \
  from_vector v[STEPS];                                                                       \
  SB_UNROLL for (uint32_t k = 0; k < STEPS; k++) {                                            \
   if (first + k * 256 < whole) v[k] = from[first + k * 256];                                 \
  }                                                                                           \
  SB_UNROLL for (uint32_t k = 0; k < STEPS; k++) {                                            \
   to_vector out;                                                                             \
   if (first + k * 256 < whole) {                                                             \
    SB_UNROLL for (int i = 0; i < N; i++) out.x[i] = CONVERT(to_tag, from_tag, v[k].x[i]);    \
    to[first + k * 256] = out;                                                                \
   }                                                                                          \
  }                                                                                           \
  if (blockIdx.x == 0 && threadIdx.x < A.n % N) {                                             \
   const uint64_t i = whole * N + threadIdx.x;                                                \
   ((to_t *)A.to)[i] = CONVERT(to_tag, from_tag, ((const from_t *)A.from)[i]);                \
  }                                                                                           \
 }

/* The same where rows have gaps between them. Items are vectors of N elements, on both sides. */
#define SB__ROWS(name, to_tag, from_tag)                                                     \
 SB_KERNEL(name, sb__args_items, 256) {                                                      \
  typedef to_tag##_t to_t;                                                                   \
  typedef from_tag##_t from_t;                                                               \
  enum { TO = sizeof(to_t), FROM = sizeof(from_t), N = 16 / (TO > FROM ? TO : FROM) };       \
  enum { STEPS = N >= 8 ? 2 : 4 };                                                           \
  typedef struct to_vector {                                                                 \
   SB_ALIGNED(N *TO) to_t x[N];                                                              \
  } to_vector;                                                                               \
  typedef struct from_vector {                                                               \
   SB_ALIGNED(N *FROM) from_t x[N];                                                          \
  } from_vector;                                                                             \
  const from_vector *from = (const from_vector *)A.from;                                     \
  to_vector *to = (to_vector *)A.to;                                                         \
  const uint32_t first = blockIdx.x * (256u * STEPS) + threadIdx.x;                          \
  from_vector v[STEPS];                                                                      \
  int64_t place[STEPS];                                                                      \
  SB_UNROLL for (uint32_t k = 0; k < STEPS; k++) {                                           \
   if (first + k * 256 < A.n) {                                                              \
    int64_t at;                                                                              \
    sb__places(A.dim, A.to_step, A.from_step, A.ndim, first + k * 256, &place[k], &at);      \
    v[k] = from[at];                                                                         \
   }                                                                                         \
  }                                                                                          \
  SB_UNROLL for (uint32_t k = 0; k < STEPS; k++) {                                           \
   to_vector out;                                                                            \
   if (first + k * 256 < A.n) {                                                              \
    SB_UNROLL for (int i = 0; i < N; i++) out.x[i] = SB__PLAIN(to_tag, from_tag, v[k].x[i]); \
    to[place[k]] = out;                                                                      \
   }                                                                                         \
  }                                                                                          \
 }

#define ROWS(to, from) SB__ROWS(sb_rows_##to##_from_##from, to, from)
#define PAIR(to, from) SB__SIDE_BY_SIDE(sb_cast_##to##_from_##from, to, from, , SB__PLAIN)
#define SCALED(to, from) \
 SB__SIDE_BY_SIDE(sb_scale_##to##_from_##from, to, from, SB__FACTORS, SB__SCALED)
#include "cuda/kernels.def"

#endif
