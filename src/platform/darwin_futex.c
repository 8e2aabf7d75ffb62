/* Futex words on macOS: os_sync_wait_on_address, which the system has from 14.4 on; before, looks (posix_futex.c). A wait that an event
 * may end as well looks for it every 10 ms. */
#include "platform/posix.h"

#if SB_DARWIN
# include <dlfcn.h>
# include <errno.h>

enum { OF_ALL = 1 /* processes */, ABSOLUTE_TIME = 32 };
# define SLICE_NS INT64_C(10000000)
# define LONGEST_NS INT64_C(1000000000)

typedef int (*wait_function)(void *word, uint64_t expected, size_t nbytes, uint32_t flags,
                             uint32_t clock, uint64_t nanoseconds);
typedef int (*wake_function)(void *word, size_t nbytes, uint32_t flags);

static wait_function find_wait(void) {
  return (wait_function)dlsym(RTLD_DEFAULT, "os_sync_wait_on_address_with_timeout");
}
static wake_function find_wake(void) {
  return (wake_function)dlsym(RTLD_DEFAULT, "os_sync_wake_by_address_any");
}

bool sb__darwin_has_futexes(void) { return find_wait() && find_wake(); }

sb__wait_result sb__os_futex_wait(const void *word, uint32_t expected, sb__event *event,
                                  int64_t end, int *error) {
  const wait_function wait = find_wait();
  const int64_t most = event ? SLICE_NS : LONGEST_NS;
  if (!wait) return sb__posix_futex_wait(word, expected, event, end, error);
  for (bool slept = false;; slept = true) {
    if (event && atomic_load(&event->signalled)) return SB__SIGNALLED;
    const int is_equal = sb__os_futex_equals(word, expected, error);
    if (is_equal < 0) return SB__WAIT_FAILED;
    if (!is_equal) return slept ? SB__WOKEN : SB__NOT_EQUAL;
    const int64_t left = end < 0 ? most : end - sb__os_now();
    if (left <= 0) return SB__TIMED_OUT;
    if (wait((void *)(uintptr_t)word, expected, sizeof expected, OF_ALL, ABSOLUTE_TIME,
             (uint64_t)(left < most ? left : most)) >= 0)
      return SB__WOKEN;
    if (errno == EINTR && !event) return SB__WOKEN;
    if (errno == EINTR || errno == ETIMEDOUT) continue;
    if (errno == EFAULT) /* the page is lost, which looks tell, or is not there at the moment */
      return sb__posix_futex_wait(word, expected, event, end, error);
    *error = errno;
    return SB__WAIT_FAILED;
  }
}

int sb__os_futex_wake(void *word, int count, int *error) {
  const wake_function wake = find_wake();
  int woken = 0;
  if (!wake) return sb__posix_futex_wake(word, count, error);
  while (woken < count && !wake(word, sizeof(uint32_t), OF_ALL)) woken++;
  if (woken == count || errno == ENOENT) return woken; /* nobody else waits */
  *error = errno;
  return -1;
}
#else
typedef int sb__no_darwin_futex;
#endif
