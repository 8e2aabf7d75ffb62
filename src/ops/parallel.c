/* How many threads there are, and into how many parts work is split. One part alone computes each element, so the bits do
 * not depend on the number of threads. */
#include "ops/parallel.h"

#ifndef __wasm__
# include <stdlib.h>

# ifdef SB_TEST
#  define PART_BYTES 1024 /* so that tests need no large tensors */
# else
#  define PART_BYTES (INT64_C(1) << 20)
# endif
# define PARTS_PER_THREAD 4 /* so that a thread that is interrupted leaves the rest to others */
# define LEAST_PARTS 4      /* fewer are done before another thread wakes up */

static atomic_int threads;

static int choose_threads(void) {
  const char *text = sb__os_environment("SAMEBYTES_THREADS");
  char *end = NULL;
  const long wanted = text ? strtol(text, &end, 10) : 0;
  if (text && *text && !*end && wanted >= 1 && wanted <= 1024) return (int)wanted;
  return sb__os_processors();
}

int sb__threads_now(void) {
  int count = atomic_load_explicit(&threads, memory_order_relaxed);
  if (!count) {
    count = choose_threads();
    sb__threads_use(count);
  }
  return count;
}

void sb__threads_use(int count) { atomic_store_explicit(&threads, count, memory_order_relaxed); }

int sb__parts_worth(int64_t worth) {
  const int64_t helped = worth < LEAST_PARTS ? 1 : sb__threads_now();
  if (helped == 1) return 1;
  if (worth > PARTS_PER_THREAD * helped) worth = PARTS_PER_THREAD * helped;
  return worth < SB__MOST_PARTS ? (int)worth : SB__MOST_PARTS;
}

int sb__parts_for(int64_t nbytes) { return sb__parts_worth(nbytes / PART_BYTES); }

void sb__parallel(int count, void (*part)(void *context, int i), void *context) {
  sb__os_parallel(sb__threads_now() - 1, count, part, context);
}

#endif
