/* All allocations of the library. A test build can make any one of them fail. */
#include <stdlib.h>

#include "core/core.h"

#ifdef SB_TEST
static SB_THREAD_LOCAL int64_t until_failure;

void sb__fail_allocation(int64_t n) { until_failure = n; }

static bool fails_now(void) { return until_failure > 0 && --until_failure == 0; }
#else
static bool fails_now(void) { return false; }
#endif

void *sb__alloc(size_t nbytes) { return fails_now() ? NULL : malloc(nbytes); }

void *sb__realloc(void *data, size_t nbytes) { return fails_now() ? NULL : realloc(data, nbytes); }

void *sb__alloc_aligned(size_t nbytes) {
  return fails_now() ? NULL : sb__os_alloc_aligned(nbytes, SB_ALIGNMENT);
}

void sb__free(void *data) { free(data); }

void sb__free_aligned(void *data) { sb__os_free_aligned(data); }
