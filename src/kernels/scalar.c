/* The level scalar: plain C, the reference for tests of the others. */
#include <string.h>

#include "kernels/kernels.h"

#if !defined(__wasm_simd128__) /* such a module never runs without SIMD */
# ifndef __clang__
#  pragma GCC optimize("O2", "tree-vectorize") /* as in direct_casts.inc */
# endif
# define LEVEL scalar
# include "kernels/level.inc"
#endif
