/* The level neon: the compiler's vectors of 128 bits on 64-bit ARM. */
#include "math/math.h"

#if defined(__aarch64__)
# define LEVEL neon
# include "math/level.inc"
#endif
