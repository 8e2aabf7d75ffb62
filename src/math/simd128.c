/* The level simd128: WebAssembly's vectors of 128 bits. */
#include "math/math.h"

#if defined(__wasm_simd128__)
# define LEVEL simd128
# include "math/level.inc"
#endif
