/* The level scalar: plain C, the reference for tests of the others. */
#include <string.h>

#include "kernels/kernels.h"

#if !defined(__wasm_simd128__) /* such a module never runs without SIMD */
# define LEVEL scalar
# include "kernels/level.inc"
#endif
