/* The level scalar: plain C, the reference that the others are tested against. */
#include <string.h>

#include "kernels/kernels.h"

#if !defined(__wasm_simd128__) /* such a module never runs without */
# define LEVEL scalar
# include "kernels/level.inc"
#endif
