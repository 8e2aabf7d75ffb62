/* The process on Linux: what /proc says of it and of others, processors by affinity and control groups. */
#define _GNU_SOURCE /* sched_getaffinity, on_exit */
#include "platform/posix.h"

#if SB_LINUX
# include <errno.h>
# include <limits.h>
# include <sched.h>
# include <signal.h>
# include <stdio.h>
# include <stdlib.h>
# include <string.h>
# include <sys/syscall.h>
# include <unistd.h>

/* Reads number, state and start of a process. False: it is not visible. */
static bool read_process(const char *path, int64_t *id, char *state, uint32_t *start) {
  char text[1024];
  long long number = 0;
  unsigned long long ticks = 0;
  FILE *file = fopen(path, "re");
  if (!file) return false;
  const size_t n = fread(text, 1, sizeof text - 1, file);
  fclose(file);
  text[n] = 0;
  const char *rest = strrchr(text, ')'); /* the process' name, before it, may have any character */
  if (!rest || sscanf(text, "%lld", &number) != 1 ||
      sscanf(rest + 1,
             " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
             state, &ticks) != 2)
    return false;
  *id = number;
  *start = (uint32_t)(ticks * 1000 / (unsigned long)sysconf(_SC_CLK_TCK));
  return true;
}

/* The namespace of process numbers; 0: unknown. */
static uint64_t process_space(void) {
  char text[64]; /* pid:[4026531836] */
  const ssize_t n = readlink("/proc/self/ns/pid", text, sizeof text - 1);
  if (n <= 0) return 0;
  text[n] = 0;
  return strtoull(text + strcspn(text, "0123456789"), NULL, 10);
}

sb__process sb__os_process(void) {
  sb__process self = {getpid(), 0, 0};
  int64_t id = 0;
  char state = 0;
  uint32_t start = 0;
  if (read_process("/proc/self/stat", &id, &state, &start) && id == self.id) {
    self.start = start;
    self.space = process_space();
  } /* else /proc is of another namespace */
  return self;
}

bool sb__os_has_ended(const sb__process *process) {
  char path[48], state = 0;
  int64_t id = 0;
  uint32_t start = 0;
  if (!process->start || !process->space || process->space != process_space() || process->id < 1)
    return false;
  if (process->id > INT_MAX) return true; /* there are no such numbers */
  snprintf(path, sizeof path, "/proc/%lld/stat", (long long)process->id);
  if (read_process(path, &id, &state, &start))
    return state == 'Z' || state == 'X' || start != process->start;
  return kill((pid_t)process->id, 0) && errno == ESRCH;
}

sb__abilities sb__os_abilities(void) {
  return (sb__abilities){SB_SEGMENTS, true, true, true, true, true, false};
}

/* Whole processors that a control group's cpu.max allows; INT_MAX: no limit. */
static int cpus_granted_to(const char *group) {
  char path[600];
  long long quota = 0, period = 0;
  snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
  FILE *file = fopen(path, "re");
  if (!file) return INT_MAX;
  const int found =
      fscanf(file, "%lld %lld", &quota, &period); /* "max 100000" has no number first */
  fclose(file);
  if (found < 2 || quota < 1 || period < 1) return INT_MAX;
  return quota < period ? 1 : quota / period > INT_MAX ? INT_MAX : (int)(quota / period);
}

/* The smallest limit of this process' control group and its parents. */
static int cpus_granted(void) {
  char line[512] = "", *group = NULL;
  FILE *file = fopen("/proc/self/cgroup", "re");
  int least = cpus_granted_to("");
  if (!file) return least;
  while (!group && fgets(line, sizeof line, file)) {
    if (!strncmp(line, "0::/", 4)) group = line + 3;
  }
  fclose(file);
  if (group) group[strcspn(group, "\n")] = 0;
  while (group && *group) {
    const int n = cpus_granted_to(group);
    if (n < least) least = n;
    *strrchr(group, '/') = 0;
  }
  return least;
}

int sb__os_processors(void) {
  cpu_set_t set;
  const int most = cpus_granted();
  int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
  if (count > most) count = most;
  return count < 1 ? 1 : count;
}

/* ---- Exit ---- */

# ifdef __GLIBC__
static void call_at_exit(int code, void *function) {
  ((sb__exit_function *)(uintptr_t)function)(code);
}

bool sb__os_at_exit(sb__exit_function *function) {
  return !on_exit(call_at_exit, (void *)(uintptr_t)function);
}

/* Where C++ registers the destructors of a thread's variables. */
int __cxa_thread_atexit_impl(void (*function)(void *argument), void *argument, void *library);

static void register_last(void *function) { (void)on_exit(call_at_exit, function); }

/* exit() destroys its thread's variables, then calls what was registered last: here, by such a destructor. Node.js calls it on the main
 * thread. */
bool sb__os_first_at_exit(sb__exit_function *function) {
  static const char here = 0;
  return syscall(SYS_gettid) == getpid() &&
         !__cxa_thread_atexit_impl(register_last, (void *)(uintptr_t)function,
                                   (void *)(uintptr_t)&here);
}
# endif
#else
typedef int sb__no_linux_process;
#endif
