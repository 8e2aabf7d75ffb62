/* The level simd128: WebAssembly's 128 bits. Modules cannot ask for features at run time, so the build decides. */
#include "kernels/kernels.h"

#if defined(__wasm_simd128__)
# include <math.h>
# include <string.h>
# include <wasm_simd128.h>

# include "kernels/convert.h"

# define LEVEL simd128
# define LANES 1
# define MOST_ROWS 8
# define BAND_ROWS (SIZE == 2 ? 32 : 512) /* measured; there is no prefetch */
# define BAND_BYTES 2048
# define AHEAD_BYTES 0
/* A fill repeats its first bytes by memory.copy, which writes cache lines without reading them first. */
# define FILL_COPIES ((int64_t)16384)
# define smaller_transpose transpose_any

typedef v128_t vec;

static inline vec load(const char *from) { return wasm_v128_load(from); }
static inline void store(char *to, vec x) { wasm_v128_store(to, x); }

/* There is one lane. */
static inline vec load_lanes(const char *from, int64_t step) {
  (void)step;
  return load(from);
}
static inline void store_lanes(char *to, int64_t step, vec x) {
  (void)step;
  store(to, x);
}

# define NOT_INLINED __attribute__((noinline)) /* for the module's size */

# define stream store

static inline vec shuffle(vec x, vec mask) { return wasm_i8x16_swizzle(x, mask); }
static inline vec either(vec a, vec b) { return wasm_v128_or(a, b); }

/* 32-bit integers as floats; product and sum rounded. */
static inline vec scaled_floats(vec x, vec scale, vec bias) {
  return wasm_f32x4_add(wasm_f32x4_mul(wasm_f32x4_convert_i32x4(x), scale), bias);
}

# define ZIP_LOW_16(a, b) (a) /* one item fills a lane */
# define ZIP_HIGH_16(a, b) (b)
# define ZIP_LOW_1(a, b) \
  wasm_i8x16_shuffle(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
# define ZIP_HIGH_1(a, b) \
  wasm_i8x16_shuffle(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
# define ZIP_LOW_2(a, b) wasm_i16x8_shuffle(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
# define ZIP_HIGH_2(a, b) wasm_i16x8_shuffle(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
# define ZIP_LOW_4(a, b) wasm_i32x4_shuffle(a, b, 0, 4, 1, 5)
# define ZIP_HIGH_4(a, b) wasm_i32x4_shuffle(a, b, 2, 6, 3, 7)
# define ZIP_LOW_8(a, b) wasm_i64x2_shuffle(a, b, 0, 2)
# define ZIP_HIGH_8(a, b) wasm_i64x2_shuffle(a, b, 1, 3)

/* ---- Casts of eight elements at a time, where the compiler would convert and compare one by one ---- */

# define HAS_CASTS
# define EACH_32(x) wasm_i32x4_const_splat(x)
# define EACH_16(x) wasm_i16x8_const_splat(x)

/* Hides from the compiler what it knows of x: it would rewrite a comparison or an "and" into more instructions. */
static inline v128_t hidden(v128_t x) {
  __asm__("" : "+r"(x));
  return x;
}

/* Widens the magnitudes of four finite float16s, each in the upper half of its 32 bits. `wide` is right from 2^-14 on;
 * below, `twice - 2^-14` is. The smaller of both is right everywhere. */
static inline v128_t wide_magnitudes(v128_t x) {
  const v128_t wide = wasm_i32x4_add(wasm_u32x4_shr(x, 3), EACH_32(0x38000000));
  const v128_t twice = wasm_f32x4_add(wide, wide);
  return wasm_f32x4_pmin(wide, wasm_f32x4_sub(twice, wasm_f32x4_const_splat(0x1p-14f)));
}

/* As sb__float_from_float16. */
static inline void floats_from_float16(char *to, const char *from) {
  const v128_t x = wasm_v128_load(from), zero = EACH_16(0);
  const v128_t any = hidden(wasm_v128_and(x, EACH_16(0x7fff)));
  const v128_t nan = hidden(wasm_i16x8_gt(any, EACH_16(0x7c00)));
  const v128_t sign = wasm_v128_andnot(wasm_v128_xor(x, any), nan);
  const v128_t magnitude = wasm_u16x8_min(wasm_v128_or(any, nan), EACH_16(0x7e00));
  const v128_t special = hidden(wasm_i16x8_gt(magnitude, EACH_16(0x7bff)));
  const v128_t upper = wasm_v128_or(sign, wasm_v128_and(special, EACH_16(0x7f80)));
  const v128_t low = wide_magnitudes(ZIP_LOW_2(zero, magnitude));
  const v128_t high = wide_magnitudes(ZIP_HIGH_2(zero, magnitude));
  wasm_v128_store(to, wasm_v128_or(low, ZIP_LOW_2(zero, upper)));
  wasm_v128_store(to + 16, wasm_v128_or(high, ZIP_HIGH_2(zero, upper)));
}

/* As sb__float_from_bfloat16. */
static inline void floats_from_bfloat16(char *to, const char *from) {
  const v128_t x = wasm_v128_load(from), zero = EACH_16(0);
  const v128_t magnitude = hidden(wasm_v128_and(x, EACH_16(0x7fff)));
  const v128_t nan = hidden(wasm_i16x8_gt(magnitude, EACH_16(0x7f80)));
  const v128_t bfloat16s = wasm_v128_bitselect(EACH_16(0x7fc0), x, nan);
  wasm_v128_store(to, ZIP_LOW_2(zero, bfloat16s));
  wasm_v128_store(to + 16, ZIP_HIGH_2(zero, bfloat16s));
}

/* As sb__float16_from_float, except NaN. The larger of `small` and `normal` is right: they are equal between 2^-14 and
 * 2^-13. */
static inline v128_t float16_in_32_bits(v128_t x) {
  const v128_t magnitude = hidden(wasm_v128_and(x, EACH_32(0x7fffffff)));
  const v128_t sign = wasm_u32x4_shr(wasm_v128_xor(x, magnitude), 16);
  const v128_t limited = wasm_i32x4_min(magnitude, wasm_f32x4_const_splat(0x1p-13f));
  const v128_t sum = wasm_f32x4_add(limited, wasm_f32x4_const_splat(0.5f));
  const v128_t small = wasm_i32x4_sub(sum, wasm_f32x4_const_splat(0.5f));
  const v128_t odd = wasm_v128_and(wasm_u32x4_shr(magnitude, 13), EACH_32(1));
  const v128_t carried = wasm_i32x4_add(magnitude, EACH_32(0xfff - 0x38000000));
  const v128_t normal = wasm_i32x4_shr(wasm_i32x4_add(carried, odd), 13);
  const v128_t half = wasm_i32x4_min(wasm_i32x4_max(small, normal), EACH_32(0x7c00));
  return wasm_v128_or(half, sign);
}

/* As sb__bfloat16_from_float, except NaN. */
static inline v128_t bfloat16_in_32_bits(v128_t x) {
  const v128_t odd = wasm_v128_and(wasm_u32x4_shr(x, 16), EACH_32(1));
  return wasm_u32x4_shr(wasm_i32x4_add(wasm_i32x4_add(x, EACH_32(0x7fff)), odd), 16);
}

static inline v128_t canonical(v128_t shorts, v128_t a, v128_t b, v128_t nan) {
  const v128_t is_nan = wasm_i16x8_narrow_i32x4(wasm_f32x4_ne(a, a), wasm_f32x4_ne(b, b));
  return wasm_v128_bitselect(nan, shorts, is_nan);
}

static inline void float16_from_floats(char *to, const char *from) {
  const v128_t a = wasm_v128_load(from), b = wasm_v128_load(from + 16);
  const v128_t float16s = wasm_u16x8_narrow_i32x4(float16_in_32_bits(a), float16_in_32_bits(b));
  wasm_v128_store(to, canonical(float16s, a, b, EACH_16(0x7e00)));
}

static inline void bfloat16_from_floats(char *to, const char *from) {
  const v128_t a = wasm_v128_load(from), b = wasm_v128_load(from + 16);
  const v128_t bfloat16s = wasm_u16x8_narrow_i32x4(bfloat16_in_32_bits(a), bfloat16_in_32_bits(b));
  wasm_v128_store(to, canonical(bfloat16s, a, b, EACH_16(0x7fc0)));
}

/* Converts eight unsigned 16-bit integers, as the last bits of floats from 2^23 on; first: what to subtract. */
static inline void floats_from_shorts(char *to, v128_t x, v128_t first) {
  const v128_t upper = EACH_16(0x4b00);
  wasm_v128_store(to, wasm_f32x4_sub(ZIP_LOW_2(x, upper), first));
  wasm_v128_store(to + 16, wasm_f32x4_sub(ZIP_HIGH_2(x, upper), first));
}

static inline void floats_from_unsigned(char *to, v128_t x) {
  floats_from_shorts(to, x, wasm_f32x4_const_splat(0x1p23f));
}

static inline void floats_from_signed(char *to, v128_t x) {
  const v128_t flipped = wasm_v128_xor(x, EACH_16(INT16_MIN));
  floats_from_shorts(to, flipped, wasm_f32x4_const_splat(0x1p23f + 0x1p15f));
}

static inline void floats_from_u8(char *to, const char *from) {
  floats_from_unsigned(to, wasm_u16x8_load8x8(from));
}

static inline void floats_from_i8(char *to, const char *from) {
  floats_from_signed(to, wasm_i16x8_load8x8(from));
}

static inline void floats_from_u16(char *to, const char *from) {
  floats_from_unsigned(to, wasm_v128_load(from));
}

static inline void floats_from_i16(char *to, const char *from) {
  floats_from_signed(to, wasm_v128_load(from));
}

static inline void floats_from_b1(char *to, const char *from) {
  floats_from_unsigned(to, wasm_u16x8_min(wasm_u16x8_load8x8(from), EACH_16(1)));
}

static inline void floats_from_i32(char *to, const char *from) {
  wasm_v128_store(to, wasm_f32x4_convert_i32x4(wasm_v128_load(from)));
  wasm_v128_store(to + 16, wasm_f32x4_convert_i32x4(wasm_v128_load(from + 16)));
}

static inline v128_t canonical_floats(v128_t x) {
  return wasm_v128_bitselect(x, EACH_32(0x7fc00000), wasm_f32x4_eq(x, x));
}

static inline void four_doubles(char *to, v128_t x) {
  const v128_t floats = canonical_floats(x);
  wasm_v128_store(to, wasm_f64x2_promote_low_f32x4(floats));
  wasm_v128_store(to + 16, wasm_f64x2_promote_low_f32x4(ZIP_HIGH_8(floats, floats)));
}

static inline void doubles_from_floats(char *to, const char *from) {
  four_doubles(to, wasm_v128_load(from));
  four_doubles(to + 32, wasm_v128_load(from + 16));
}

static inline void four_floats(char *to, const char *from) {
  const v128_t low = wasm_f32x4_demote_f64x2_zero(wasm_v128_load(from));
  const v128_t high = wasm_f32x4_demote_f64x2_zero(wasm_v128_load(from + 16));
  wasm_v128_store(to, canonical_floats(ZIP_LOW_8(low, high)));
}

static inline void floats_from_doubles(char *to, const char *from) {
  four_floats(to, from);
  four_floats(to + 16, from + 32);
}

/* Integers from four doubles: saturated, NaN is 0. */
static inline v128_t four_whole(const char *from) {
  return ZIP_LOW_8(wasm_i32x4_trunc_sat_f64x2_zero(wasm_v128_load(from)),
                   wasm_i32x4_trunc_sat_f64x2_zero(wasm_v128_load(from + 16)));
}

static inline v128_t four_unsigned(const char *from) {
  return ZIP_LOW_8(wasm_u32x4_trunc_sat_f64x2_zero(wasm_v128_load(from)),
                   wasm_u32x4_trunc_sat_f64x2_zero(wasm_v128_load(from + 16)));
}

static inline v128_t eight_whole(const char *from) {
  return wasm_i16x8_narrow_i32x4(four_whole(from), four_whole(from + 32));
}

static inline void i32_from_doubles(char *to, const char *from) {
  wasm_v128_store(to, four_whole(from));
  wasm_v128_store(to + 16, four_whole(from + 32));
}

static inline void u32_from_doubles(char *to, const char *from) {
  wasm_v128_store(to, four_unsigned(from));
  wasm_v128_store(to + 16, four_unsigned(from + 32));
}

static inline void i16_from_doubles(char *to, const char *from) {
  wasm_v128_store(to, eight_whole(from));
}

static inline void u16_from_doubles(char *to, const char *from) {
  wasm_v128_store(to, wasm_u16x8_narrow_i32x4(four_whole(from), four_whole(from + 32)));
}

static inline void i8_from_doubles(char *to, const char *from) {
  const v128_t x = eight_whole(from);
  wasm_v128_store64_lane(to, wasm_i8x16_narrow_i16x8(x, x), 0);
}

static inline void u8_from_doubles(char *to, const char *from) {
  const v128_t x = eight_whole(from);
  wasm_v128_store64_lane(to, wasm_u8x16_narrow_i16x8(x, x), 0);
}

static inline void u32_from_floats(char *to, const char *from) {
  wasm_v128_store(to, wasm_u32x4_trunc_sat_f32x4(wasm_v128_load(from)));
  wasm_v128_store(to + 16, wasm_u32x4_trunc_sat_f32x4(wasm_v128_load(from + 16)));
}

/* Casts the last few by way of a buffer of eight. */
static NOT_INLINED void cast_last(sb__cast cast, char *to, int64_t to_nbytes, const char *from,
                                  int64_t from_nbytes) {
  char in[64] = {0}, out[64];
  memcpy(in, from, (size_t)from_nbytes);
  cast(out, in, 8);
  memcpy(to, out, (size_t)to_nbytes);
}

# define BY_EIGHTS(name, to_size, from_size, eight)                       \
  static NOT_INLINED void name(char *to, const char *from, int64_t n) {   \
   for (; n >= 8; n -= 8, to += 8 * (to_size), from += 8 * (from_size)) { \
    eight(to, from);                                                      \
   }                                                                      \
   if (n) cast_last(name, to, n *(to_size), from, n *(from_size));        \
  }

BY_EIGHTS(f32_from_b1, 4, 1, floats_from_b1)
BY_EIGHTS(f32_from_u8, 4, 1, floats_from_u8)
BY_EIGHTS(f32_from_i8, 4, 1, floats_from_i8)
BY_EIGHTS(f32_from_u16, 4, 2, floats_from_u16)
BY_EIGHTS(f32_from_i16, 4, 2, floats_from_i16)
BY_EIGHTS(f32_from_i32, 4, 4, floats_from_i32)
BY_EIGHTS(f64_from_f32, 8, 4, doubles_from_floats)
BY_EIGHTS(f32_from_f64, 4, 8, floats_from_doubles)
BY_EIGHTS(f32_from_f16, 4, 2, floats_from_float16)
BY_EIGHTS(f32_from_bf16, 4, 2, floats_from_bfloat16)
BY_EIGHTS(f16_from_f32, 2, 4, float16_from_floats)
BY_EIGHTS(bf16_from_f32, 2, 4, bfloat16_from_floats)
BY_EIGHTS(u8_from_f64, 1, 8, u8_from_doubles)
BY_EIGHTS(i8_from_f64, 1, 8, i8_from_doubles)
BY_EIGHTS(u16_from_f64, 2, 8, u16_from_doubles)
BY_EIGHTS(i16_from_f64, 2, 8, i16_from_doubles)
BY_EIGHTS(u32_from_f64, 4, 8, u32_from_doubles)
BY_EIGHTS(i32_from_f64, 4, 8, i32_from_doubles)
BY_EIGHTS(u32_from_f32, 4, 4, u32_from_floats)

/* The module has no room for those of direct_casts.inc. */
static const sb__direct_casts direct_casts = {
    [SB_FLOAT32] = {[SB_UINT32] = u32_from_f32},
    [SB_FLOAT64] = {[SB_UINT8] = u8_from_f64,
                    [SB_INT8] = i8_from_f64,
                    [SB_UINT16] = u16_from_f64,
                    [SB_INT16] = i16_from_f64,
                    [SB_UINT32] = u32_from_f64,
                    [SB_INT32] = i32_from_f64},
};
# define DIRECT &direct_casts

/* As SCALED in casts.inc. */
static inline void scale_eight(float *x, v128_t scale, v128_t bias) {
  for (int i = 0; i < 8; i += 4)
    wasm_v128_store(x + i, wasm_f32x4_add(wasm_f32x4_mul(wasm_v128_load(x + i), scale), bias));
}

/* Scales the last few, and all of them where a result may be NaN. */
static NOT_INLINED void scale_few(sb__cast cast, float *x, const char *from, int64_t n, float scale,
                                  float bias) {
  cast((char *)x, from, n);
# pragma clang loop vectorize(disable)
  for (int64_t i = 0; i < n; i++) {
    const float product = x[i] * scale;
    x[i] = sb__canonical_single(product + bias);
  }
}

# define SCALED_BY_EIGHTS(name, size, eight, cast)                                    \
  static void name(float *to, const char *from, int64_t n, float scale, float bias) { \
   const v128_t scales = wasm_f32x4_splat(scale), biases = wasm_f32x4_splat(bias);    \
   const bool finite = isfinite(scale) && isfinite(bias); /* no result is NaN */      \
   for (; finite && n >= 8; n -= 8, to += 8, from += 8 * (size)) {                    \
    eight((char *)to, from);                                                          \
    scale_eight(to, scales, biases);                                                  \
   }                                                                                  \
   scale_few(cast, to, from, n, scale, bias);                                         \
  }

SCALED_BY_EIGHTS(scaled_from_u8, 1, floats_from_u8, f32_from_u8)
SCALED_BY_EIGHTS(scaled_from_i8, 1, floats_from_i8, f32_from_i8)
SCALED_BY_EIGHTS(scaled_from_u16, 2, floats_from_u16, f32_from_u16)
SCALED_BY_EIGHTS(scaled_from_i16, 2, floats_from_i16, f32_from_i16)

# include "kernels/level.inc"
#endif
