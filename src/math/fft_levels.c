/* The loops of fft_lanes.inc for instruction sets. A lane computes the same on all of them. */
#include <string.h>

#include "math/fft.h"

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)

#define LEVEL any
#define WIDTH 2
#include "math/fft_lanes.inc"

#if defined(__x86_64__)
# if defined(__clang__)
#  pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
# else
#  pragma GCC push_options
#  pragma GCC target("avx2")
# endif
# define LEVEL avx2
# define WIDTH 4
# include "math/fft_lanes.inc"
# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#endif

const sb__fft_loops *sb__fft_loops_now(void) {
#if defined(__x86_64__)
  const char *level = sb__level_now();
  /* wider vectors gain nothing: lines are bound by memory */
  if (!strcmp(level, "avx2") || !strcmp(level, "avx512")) return &loops_avx2;
#endif
  return &loops_any;
}
