/* Futex words where the system has none: a wait looks at the word again and again, ever less often, up to a millisecond. */
#include "platform/posix.h"

#if !SB_LINUX
# include <errno.h>
# include <fcntl.h>
# include <pthread.h>
# include <time.h>
# include <unistd.h>

enum { SHORTEST_NS = 20000, LONGEST_NS = 1000000 };

static sb__lock lock;
static int ends[2] = {-1, -1}; /* of a pipe */

/* In a child: the pipe is its parent's, and a thread that had the lock is not there. */
static void leave_pipe(void) {
  for (int i = 0; i < 2; i++) {
    if (ends[i] >= 0) (void)close(ends[i]);
    ends[i] = -1;
  }
  sb__lock_drop(&lock);
}

static int open_pipe(void) {
  static bool is_watched;
  if (ends[0] >= 0) return 0;
  if (pipe(ends)) return errno;
  for (int i = 0; i < 2; i++) (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  if (!is_watched) (void)pthread_atfork(NULL, NULL, leave_pipe);
  is_watched = true;
  return 0;
}

/* Reads a word by the kernel, so that a lost page is an error and no fault. */
static int read_word(const void *word, uint32_t *value) {
  sb__lock_take(&lock);
  int error = open_pipe();
  if (!error && write(ends[1], word, sizeof *value) != sizeof *value) error = errno;
  if (!error && read(ends[0], value, sizeof *value) != sizeof *value) error = EIO;
  sb__lock_drop(&lock);
  return error;
}

sb__wait_result sb__posix_futex_wait(const void *word, uint32_t expected, sb__event *event,
                                     int64_t end, int *error) {
  int64_t nanoseconds = SHORTEST_NS;
  for (bool slept = false;; slept = true) {
    uint32_t now = 0;
    if (event && atomic_load(&event->signalled)) return SB__SIGNALLED;
    *error = read_word(word, &now);
    if (*error) return SB__WAIT_FAILED;
    if (now != expected) return slept ? SB__WOKEN : SB__NOT_EQUAL;
    const int64_t left = end < 0 ? LONGEST_NS : end - sb__os_now();
    if (left <= 0) return SB__TIMED_OUT;
    const struct timespec time = {0, nanoseconds < left ? nanoseconds : left};
    if (nanosleep(&time, NULL) && errno == EINTR && !event) return SB__WOKEN;
    if (nanoseconds < LONGEST_NS) nanoseconds *= 2;
  }
}

int sb__os_futex_equals(const void *word, uint32_t expected, int *error) {
  uint32_t now = 0;
  *error = read_word(word, &now);
  return *error ? -1 : now == expected;
}

/* Waiters look by themselves: nobody counts them. */
int sb__posix_futex_wake(void *word, int count, int *error) {
  uint32_t now = 0;
  (void)count;
  *error = read_word(word, &now);
  return *error ? -1 : 0;
}

# if SB_PLAIN
sb__wait_result sb__os_futex_wait(const void *word, uint32_t expected, sb__event *event,
                                  int64_t end, int *error) {
  return sb__posix_futex_wait(word, expected, event, end, error);
}

int sb__os_futex_wake(void *word, int count, int *error) {
  return sb__posix_futex_wake(word, count, error);
}
# endif

void sb__os_signal(sb__event *event) { atomic_store(&event->signalled, 1); }

void sb__os_poll_events(void) {}
#else
typedef int sb__no_posix_futex;
#endif
