/* All allocations of the library. A test build can make any one of them fail, and counts those that were not freed. */
#include <stdlib.h>

#include "core/core.h"

#ifdef SB_TEST
static SB_THREAD_LOCAL int64_t until_failure;
static SB_THREAD_LOCAL bool is_spared; /* elsewhere is about other threads */
static atomic_int_fast64_t elsewhere, live;

int64_t sb__fail_allocation(int64_t n) {
  const int64_t left = until_failure + atomic_load(&elsewhere);
  is_spared = n < 0;
  until_failure = n < 0 ? 0 : n;
  atomic_store(&elsewhere, n < 0 ? -n : 0);
  return left;
}

int64_t sb__live_allocations(void) { return atomic_load(&live); }

static bool fails_now(void) {
  if (until_failure > 0 && --until_failure == 0) return true;
  int_fast64_t n = is_spared ? 0 : atomic_load(&elsewhere);
  while (n > 0 && !atomic_compare_exchange_weak(&elsewhere, &n, n - 1)) continue;
  return n == 1;
}
static void *made(void *data) {
  atomic_fetch_add(&live, data != NULL);
  return data;
}
static void *gone(void *data) {
  atomic_fetch_sub(&live, data != NULL);
  return data;
}
#else
static bool fails_now(void) { return false; }
static void *made(void *data) { return data; }
static void *gone(void *data) { return data; }
#endif

void *sb__alloc(size_t nbytes) { return fails_now() ? NULL : made(malloc(nbytes)); }

void *sb__realloc(void *data, size_t nbytes) {
  if (fails_now()) return NULL;
  return data ? realloc(data, nbytes) : made(malloc(nbytes));
}

void *sb__alloc_aligned(size_t nbytes) {
  return fails_now() ? NULL : made(sb__os_alloc_aligned(nbytes, SB_ALIGNMENT));
}

void sb__free(void *data) { free(gone(data)); }

void sb__free_aligned(void *data) { sb__os_free_aligned(gone(data)); }
