/* Memory of a process on POSIX systems: aligned blocks, large pages, mapped files. */
#define _GNU_SOURCE /* MADV_HUGEPAGE */
#include "platform/platform.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *sb__os_alloc_aligned(size_t nbytes, size_t alignment) {
  void *data = NULL;
  if (nbytes > PTRDIFF_MAX - alignment) return NULL;
  if (posix_memalign(&data, alignment, nbytes)) return NULL;
  sb__os_expect_use(data, nbytes);
  return data;
}

void sb__os_free_aligned(void *data) { free(data); }

#define LARGE ((size_t)4 << 20) /* two large pages on x86: less would not hold one for certain */

void sb__os_expect_use(void *data, size_t nbytes) {
#if defined(MADV_HUGEPAGE)
  if (nbytes < LARGE) return;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)data;
  const uintptr_t from = (at + page - 1) / page * page, to = (at + nbytes) / page * page;
  (void)madvise((char *)data + (from - at), to - from, MADV_HUGEPAGE); /* advice: refused is fine */
#else
  (void)data;
  (void)nbytes;
#endif
}

void *sb__os_map(int file, int64_t offset, size_t nbytes, bool shared, int *error) {
  const int64_t before = offset % sysconf(_SC_PAGESIZE); /* a mapping begins with a page */
#if defined(MAP_NORESERVE)
  const int flags = shared ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
#else
  const int flags = shared ? MAP_SHARED : MAP_PRIVATE;
#endif
  void *data =
      mmap(NULL, nbytes + (size_t)before, PROT_READ | PROT_WRITE, flags, file, offset - before);
  if (data == MAP_FAILED) {
    *error = errno;
    return NULL;
  }
  return (char *)data + before;
}

void sb__os_unmap(void *data, size_t nbytes) {
  const size_t before = (uintptr_t)data % (uintptr_t)sysconf(_SC_PAGESIZE);
  (void)munmap((char *)data - before, nbytes + before);
}
