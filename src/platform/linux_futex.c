/* Futex words on Linux: waiting and waking across threads and processes. */
#define _GNU_SOURCE /* syscall */
#include "platform/posix.h"

#if SB_LINUX
# include <errno.h>
# include <sys/syscall.h>
# include <time.h>
# include <unistd.h>

/* Constants of the kernel, because headers may be older than it. */
# define FUTEX_OF_ALL_WAIT_UNTIL \
  9 /* FUTEX_WAIT_BITSET without FUTEX_PRIVATE_FLAG: the end is absolute */
# define FUTEX_OF_ALL_WAKE 1
# define FUTEX_OF_ALL_CMP_REQUEUE 4
# define FUTEX_OF_US_WAKE 129
# define SYSTEM_FUTEX_WAITV 449
# define WORD_OF_ALL 2
# define WORD_OF_US 130
# define SLICE_NS 10000000 /* interval at which an event that cannot wake is checked */

typedef struct futex_word {
  uint64_t expected, address;
  uint32_t flags, reserved;
} futex_word;

static struct timespec timespec_of(int64_t nanoseconds) {
  return (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

/* Waits for the event and the word at once, from Linux 5.16 on. Returns 0 (the event), 1 (the word), or minus an errno. */
static int wait_for_both(const void *word, uint32_t expected, sb__event *event, int64_t end) {
  const struct timespec until = timespec_of(end);
  const futex_word words[2] = {{0, (uintptr_t)&event->signalled, WORD_OF_US, 0},
                               {expected, (uintptr_t)word, WORD_OF_ALL, 0}};
  const long woken =
      syscall(SYSTEM_FUTEX_WAITV, words, 2, 0, end < 0 ? NULL : &until, CLOCK_MONOTONIC);
  return woken < 0 ? -errno : (int)woken;
}

/* Waits for the word for one interval, so that the caller checks the event in between. Results as above. */
static int wait_for_slice(const void *word, uint32_t expected, int64_t end) {
  const int64_t slice = sb__os_now() + SLICE_NS;
  const bool is_last = end >= 0 && end < slice;
  const struct timespec until = timespec_of(is_last ? end : slice);
  if (!syscall(SYS_futex, word, FUTEX_OF_ALL_WAIT_UNTIL, expected, &until, NULL, UINT32_MAX))
    return 1;
  return errno == ETIMEDOUT && !is_last ? -EINTR : -errno;
}

static atomic_bool polls;

void sb__os_poll_events(void) { atomic_store(&polls, true); }

/* Without an event: signals of the system end it too. */
static sb__wait_result wait_for_word(const void *word, uint32_t expected, int64_t end, int *error) {
  const struct timespec until = timespec_of(end);
  if (!syscall(SYS_futex, word, FUTEX_OF_ALL_WAIT_UNTIL, expected, end < 0 ? NULL : &until, NULL,
               UINT32_MAX))
    return SB__WOKEN;
  *error = errno;
  return *error == EINTR       ? SB__WOKEN
         : *error == EAGAIN    ? SB__NOT_EQUAL
         : *error == ETIMEDOUT ? SB__TIMED_OUT
                               : SB__WAIT_FAILED;
}

sb__wait_result sb__os_futex_wait(const void *word, uint32_t expected, sb__event *event,
                                  int64_t end, int *error) {
  bool slept = false;
  if (!event) return wait_for_word(word, expected, end, error);
  for (;;) {
    if (atomic_load(&event->signalled)) return SB__SIGNALLED;
    const bool two = !atomic_load(&polls);
    const int woken =
        two ? wait_for_both(word, expected, event, end) : wait_for_slice(word, expected, end);
    if (woken == 1) return SB__WOKEN;
    if (woken == 0) return SB__SIGNALLED;
    if (two && (woken == -ENOSYS || woken == -EPERM)) { /* an older kernel, or a sandbox */
      atomic_store(&polls, true);
    } else if (woken == -EAGAIN) {
      if (!atomic_load(&event->signalled)) return slept ? SB__WOKEN : SB__NOT_EQUAL;
    } else if (woken == -ETIMEDOUT) {
      return SB__TIMED_OUT;
    } else if (woken == -EINTR) {
      slept = true;
    } else {
      *error = -woken;
      return SB__WAIT_FAILED;
    }
  }
}

/* A requeue of no waiters just compares the word, and reports a lost page. A wait with a timeout of 0 would take 24 us on
 * a virtual machine, a hundred times as long. */
int sb__os_futex_equals(const void *word, uint32_t expected, int *error) {
  if (!syscall(SYS_futex, word, FUTEX_OF_ALL_CMP_REQUEUE, 0, NULL, word, expected)) return 1;
  *error = errno;
  return errno == EAGAIN ? 0 : -1;
}

int sb__os_futex_wake(void *word, int count, int *error) {
  const long woken = syscall(SYS_futex, word, FUTEX_OF_ALL_WAKE, count, NULL, NULL, 0);
  if (woken < 0) *error = errno;
  return (int)woken;
}

void sb__os_signal(sb__event *event) {
  atomic_store(&event->signalled, 1);
  (void)syscall(SYS_futex, &event->signalled, FUTEX_OF_US_WAKE, 1, NULL, NULL, 0);
}
#else
typedef int sb__no_linux_futex;
#endif
