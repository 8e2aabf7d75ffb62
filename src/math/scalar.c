/* The level scalar: plain C, the reference for tests of the others. */
#include "math/math.h"

/* What has no better level is rare: small rather than fast. */
#if defined(__GNUC__) && !defined(__clang__)
# pragma GCC optimize("no-tree-vectorize")
#endif

#if !defined(__wasm_simd128__)
# define LEVEL scalar
# include "math/level.inc"
#endif
