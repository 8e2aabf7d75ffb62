/* The loops of the highest level that this processor has. */
#include "math/math.h"

#if defined(__aarch64__)
# define LEVEL sb__math_neon
#else
# define LEVEL sb__math_scalar
#endif

static const sb__math_loops *level(void) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return &sb__math_avx512;
  if (__builtin_cpu_supports("avx2")) return &sb__math_avx2;
#endif
  return &LEVEL;
}
