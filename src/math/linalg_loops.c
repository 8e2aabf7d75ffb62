/* The loops in which matrices spend their time, once more for vectors of 256 bits. */
#if defined(__GNUC__) && !defined(__clang__)
# pragma GCC optimize("no-tree-vectorize") /* vectors are written out; what is left over is short */
#endif

#include <string.h>

#include "math/linalg.h"

#define SB_APART __attribute__((noinline))
#define PACKED 256 /* rows of b that lie together while a's rows meet them */

typedef double fours __attribute__((vector_size(32), aligned(8), may_alias));

#define NAME(name) name##_plain
static const sb__linalg_loops loops_plain;
#include "math/linalg_loops.inc"
#undef NAME

#if defined(__x86_64__)
# if defined(__clang__)
#  pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
# else
#  pragma GCC push_options
#  pragma GCC target("avx2")
# endif
# define NAME(name) name##_avx2
static const sb__linalg_loops loops_avx2;
# include "math/linalg_loops.inc"
# undef NAME
# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#endif

const sb__linalg_loops *sb__linalg_loops_now(void) {
#if defined(__x86_64__)
  if (!strncmp(sb__level_now(), "avx", 3)) return &loops_avx2;
#endif
  return &loops_plain;
}
