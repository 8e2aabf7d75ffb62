/* Chooses the loops of the level that the core uses. */
#include <string.h>

#include "math/math.h"
#include "math/reduce.h"

const sb__math_loops *sb__math_loops_now(void) {
#if defined(__wasm_simd128__)
  return &sb__math_simd128;
#else
  const char *level = sb__level_now();
# if defined(__x86_64__)
  if (!strcmp(level, sb__math_avx512.level)) return &sb__math_avx512;
  if (!strcmp(level, sb__math_avx2.level)) return &sb__math_avx2;
# elif defined(__aarch64__)
  if (!strcmp(level, sb__math_neon.level)) return &sb__math_neon;
# endif
  return &sb__math_scalar;
#endif
}

sb__math_loop sb__math_loop_now(int64_t op, sb_dtype dtype) {
  const sb__math_loops *loops = sb__math_loops_now();
#if defined(__x86_64__)
  if (loops == &sb__math_avx512 && !loops->each[op][dtype]) loops = &sb__math_avx2;
#endif
  return loops->each[op][dtype];
}

const sb__fold_loops *sb__fold_loops_now(void) {
#if defined(__wasm_simd128__)
  return &sb__fold_simd128;
#else
  const sb__math_loops *now = sb__math_loops_now();
# if defined(__x86_64__)
  if (now == &sb__math_avx512) return &sb__fold_avx512;
  if (now == &sb__math_avx2) return &sb__fold_avx2;
# elif defined(__aarch64__)
  if (now == &sb__math_neon) return &sb__fold_neon;
# endif
  (void)now;
  return &sb__fold_scalar;
#endif
}
