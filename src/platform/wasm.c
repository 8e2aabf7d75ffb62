/* platform.h for WASM, which has one float mode, no files and no threads to start. */
#include "platform/platform.h"

#include <stdlib.h>

void *sb__os_alloc_aligned(size_t nbytes, size_t alignment) {
  return aligned_alloc(alignment, nbytes); /* heap.c's, which accepts any size */
}

void sb__os_free_aligned(void *data) { free(data); }

void sb__os_expect_use(void *data, size_t nbytes) {
  (void)data;
  (void)nbytes;
}

const char *sb__os_environment(const char *name) {
  (void)name;
  return NULL;
}

uint64_t sb__os_unique(void) { return 0; } /* JavaScript draws the memory's id */

int sb__os_processors(void) { return 1; }

void sb__os_parallel(int helpers, int count, void (*part)(void *context, int i), void *context) {
  (void)helpers;
  for (int i = 0; i < count; i++) part(context, i);
}

uint32_t sb__float_mode_default(void) { return 0; }
void sb__float_mode_restore(uint32_t mode) { (void)mode; }
