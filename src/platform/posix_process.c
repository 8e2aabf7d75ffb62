/* The process and its system: environment, forks, processors, clock. */
#define _GNU_SOURCE /* pthread_atfork */
#include "platform/posix.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

const char *sb__os_environment(const char *name) { return getenv(name); }

void sb__os_set_default(const char *name, const char *value) { (void)setenv(name, value, 0); }

/* Standard output alone is flushed: another thread may have the lock of a file that it reads. */
void sb__os_exit_now(int code) {
  (void)fflush(stdout);
  _exit(code);
}

static atomic_int forks;
static atomic_bool forks_watched;

static void count_fork(void) { atomic_fetch_add(&forks, 1); }

int sb__os_forks(void) {
  if (!atomic_load_explicit(&forks_watched, memory_order_relaxed) &&
      !atomic_exchange(&forks_watched, true)) {
    (void)pthread_atfork(NULL, NULL, count_fork);
  }
  return atomic_load_explicit(&forks, memory_order_relaxed);
}

uint64_t sb__os_unique(void) {
  static const char here = 0; /* its address is random on most systems */
  struct timespec now = {0, 0};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  uint64_t x = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  x ^= (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&here;
  for (int i = 0; i < 3; i++) { /* mixes the bits */
    x ^= x >> 31;
    x *= UINT64_C(0x9e3779b97f4a7c15);
  }
  return x;
}

#if SB_PLAIN
sb__abilities sb__os_abilities(void) { return (sb__abilities){.segments = SB_SEGMENTS}; }

/* Nobody says when a process started: a number that was given to another one counts as alive. */
sb__process sb__os_process(void) { return (sb__process){getpid(), 0, 0}; }

bool sb__os_has_ended(const sb__process *process) {
  if (process->id < 1 || process->space) return false;
  if (process->id > INT_MAX) return true; /* there are no such numbers */
  return kill((pid_t)process->id, 0) && errno == ESRCH;
}

#endif

#if !SB_LINUX || !defined(__GLIBC__)
bool sb__os_at_exit(sb__exit_function *function) {
  (void)function;
  return false;
}

bool sb__os_first_at_exit(sb__exit_function *function) {
  (void)function;
  return false;
}
#endif

#if !SB_LINUX
int sb__os_processors(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > INT_MAX ? INT_MAX : (int)count;
}
#endif

static int64_t time_of(clockid_t clock) {
  struct timespec now = {0, 0};
  (void)clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t sb__os_now(void) { return time_of(CLOCK_MONOTONIC); }

int64_t sb__os_thread_time(void) { return time_of(CLOCK_THREAD_CPUTIME_ID); }
