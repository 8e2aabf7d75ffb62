/* The level simd128: WebAssembly's 128 bits. A module cannot ask what its engine has, so the build
 * decides. */
#include "kernels/kernels.h"

#if defined(__wasm_simd128__)
# include <string.h>
# include <wasm_simd128.h>

# define LEVEL simd128
# define LANES 1
# define MOST_ROWS 8
# define BAND_ROWS (SIZE == 2 ? 32 : 512) /* measured; nothing can be fetched here */
# define BAND_BYTES 2048
# define AHEAD_BYTES 0
/* A fill copies its first bytes on: memory.copy may write lines that it has not read, stores cannot. */
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

# define stream store

static inline vec shuffle(vec x, vec mask) { return wasm_i8x16_swizzle(x, mask); }
static inline vec either(vec a, vec b) { return wasm_v128_or(a, b); }

/* The masks of three channels of bytes, for images: for a constant mask V8 needs one instruction, for any
 * other three. Byte b of plane o is byte 3 b + o of what is read. */
# define BYTE_OF(o, i, b) ((3 * (b) + (o)) / 16 == (i) ? (3 * (b) + (o)) % 16 : -1)
# define FOUR_OF(o, i, b) \
  BYTE_OF(o, i, b), BYTE_OF(o, i, (b) + 1), BYTE_OF(o, i, (b) + 2), BYTE_OF(o, i, (b) + 3)
# define BYTE_MASK(o, i) \
  wasm_i8x16_const(FOUR_OF(o, i, 0), FOUR_OF(o, i, 4), FOUR_OF(o, i, 8), FOUR_OF(o, i, 12))
# define PLANE_MASKS(o) \
  { BYTE_MASK(o, 0), BYTE_MASK(o, 1), BYTE_MASK(o, 2) }
# define BYTE_MASKS \
  { PLANE_MASKS(0), PLANE_MASKS(1), PLANE_MASKS(2) }

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

/* ---- Floats of 16 bits, eight at a time. Left alone, the compiler converts and compares some of this one
 * by one. ---- */

# define HAS_HALVES
# define EACH_32(x) wasm_i32x4_const_splat(x)
# define EACH_16(x) wasm_i16x8_const_splat(x)

/* Hides from the compiler what it knows of x, and would use to write a comparison or an "and" in a way
 * that takes more instructions in the end. */
static inline v128_t hidden(v128_t x) {
  __asm__("" : "+r"(x));
  return x;
}

/* Four halves, of which NaN is canonical, as sb__float_from_half does it; but subnormal ones are given a
 * leading 1, which is then subtracted. */
static inline v128_t wide_halves(v128_t x) {
  const v128_t magnitude = hidden(wasm_v128_and(x, EACH_32(0x7fff)));
  const v128_t sign = wasm_i32x4_shl(wasm_v128_xor(x, magnitude), 16);
  const v128_t small = hidden(wasm_i32x4_lt(magnitude, EACH_32(0x400)));
  const v128_t special = hidden(wasm_i32x4_gt(magnitude, EACH_32(0x7bff)));
  v128_t wide = wasm_i32x4_add(wasm_i32x4_shl(magnitude, 13), EACH_32(0x38000000));
  wide = wasm_i32x4_add(wide, wasm_v128_and(small, EACH_32(0x00800000)));
  wide = wasm_f32x4_sub(wide, wasm_v128_and(small, wasm_f32x4_const_splat(0x1p-14f)));
  wide = wasm_v128_or(wide, wasm_v128_and(special, EACH_32(0x7f800000)));
  return wasm_v128_or(wide, sign);
}

static inline void floats_from_halves(char *to, const char *from) {
  const v128_t x = wasm_v128_load(from);
  const v128_t magnitude = hidden(wasm_v128_and(x, EACH_16(0x7fff)));
  const v128_t nan = wasm_i16x8_gt(magnitude, EACH_16(0x7c00));
  const v128_t halves = wasm_v128_bitselect(EACH_16(0x7e00), x, nan);
  wasm_v128_store(to, wide_halves(wasm_u32x4_extend_low_u16x8(halves)));
  wasm_v128_store(to + 16, wide_halves(wasm_u32x4_extend_high_u16x8(halves)));
}

/* sb__half_from_float but for NaN. Between 2^-14 and 2^-13 both ways give the same, below them the first
 * gives more, above them less. */
static inline v128_t short_half(v128_t x) {
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

/* sb__brain_from_float but for NaN. */
static inline v128_t short_brain(v128_t x) {
  const v128_t odd = wasm_v128_and(wasm_u32x4_shr(x, 16), EACH_32(1));
  return wasm_u32x4_shr(wasm_i32x4_add(wasm_i32x4_add(x, EACH_32(0x7fff)), odd), 16);
}

static inline v128_t canonical(v128_t shorts, v128_t a, v128_t b, v128_t nan) {
  const v128_t is_nan = wasm_i16x8_narrow_i32x4(wasm_f32x4_ne(a, a), wasm_f32x4_ne(b, b));
  return wasm_v128_bitselect(nan, shorts, is_nan);
}

static inline void halves_from_floats(char *to, const char *from) {
  const v128_t a = wasm_v128_load(from), b = wasm_v128_load(from + 16);
  const v128_t halves = wasm_u16x8_narrow_i32x4(short_half(a), short_half(b));
  wasm_v128_store(to, canonical(halves, a, b, EACH_16(0x7e00)));
}

static inline void brains_from_floats(char *to, const char *from) {
  const v128_t a = wasm_v128_load(from), b = wasm_v128_load(from + 16);
  const v128_t brains = wasm_u16x8_narrow_i32x4(short_brain(a), short_brain(b));
  wasm_v128_store(to, canonical(brains, a, b, EACH_16(0x7fc0)));
}

/* Inlined with constant sizes and function; what is left goes through eight of its own. */
static inline void by_eights(char *to, int64_t to_size, const char *from, int64_t from_size,
                             int64_t n, void (*eight)(char *, const char *)) {
  char in[32] = {0}, out[32];
  for (; n >= 8; n -= 8, to += 8 * to_size, from += 8 * from_size) eight(to, from);
  if (n == 0) return;
  memcpy(in, from, (size_t)(n * from_size));
  eight(out, in);
  memcpy(to, out, (size_t)(n * to_size));
}

static void f32_from_f16(char *to, const char *from, int64_t n) {
  by_eights(to, 4, from, 2, n, floats_from_halves);
}

static void f16_from_f32(char *to, const char *from, int64_t n) {
  by_eights(to, 2, from, 4, n, halves_from_floats);
}

static void bf16_from_f32(char *to, const char *from, int64_t n) {
  by_eights(to, 2, from, 4, n, brains_from_floats);
}

# include "kernels/level.inc"
#endif
