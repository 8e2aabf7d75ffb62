/* The level simd128: WebAssembly's 128 bits. A module cannot ask what its engine has, so the build
 * decides. */
#include "kernels/kernels.h"

#if defined(__wasm_simd128__)
# include <string.h>
# include <wasm_simd128.h>

# define LEVEL simd128
# define LANES 1
# define TILE 16
# define MOST_ROWS 8
# define BAND_BYTES 2048
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

# define load_rows load_lanes
# define stream store

static inline vec shuffle(vec x, vec mask) { return wasm_i8x16_swizzle(x, mask); }
static inline vec either(vec a, vec b) { return wasm_v128_or(a, b); }

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

# include "kernels/level.inc"
#endif
