/* The process on macOS: the system says when each one started. */
#include "platform/posix.h"

#if SB_DARWIN
# include <errno.h>
# include <limits.h>
# include <signal.h>
# include <sys/sysctl.h>
# include <unistd.h>

enum { ZOMBIE = 5 };

static bool read_process(int64_t id, struct kinfo_proc *out) {
  int name[] = {CTL_KERN, KERN_PROC, KERN_PROC_PID, (int)id};
  size_t n = sizeof *out;
  return !sysctl(name, 4, out, &n, NULL, 0) && n == sizeof *out;
}

/* Milliseconds since 1970. */
static uint32_t start_of(const struct kinfo_proc *process) {
  const struct timeval time = process->kp_proc.p_starttime;
  return (uint32_t)((uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_usec / 1000);
}

/* There are no namespaces of numbers; 1 says that start is known. */
sb__process sb__os_process(void) {
  struct kinfo_proc self;
  return read_process(getpid(), &self) ? (sb__process){getpid(), start_of(&self), 1}
                                       : (sb__process){getpid(), 0, 0};
}

bool sb__os_has_ended(const sb__process *process) {
  struct kinfo_proc now;
  if (process->space != 1 || !process->start || process->id < 1) return false;
  if (process->id > INT_MAX) return true; /* there are no such numbers */
  if (read_process(process->id, &now))
    return now.kp_proc.p_stat == ZOMBIE || start_of(&now) != process->start;
  return kill((pid_t)process->id, 0) && errno == ESRCH;
}

sb__abilities sb__os_abilities(void) {
  return (sb__abilities){
      .segments = SB_SEGMENTS, .process_start_times = true, .futexes = sb__darwin_has_futexes()};
}
#else
typedef int sb__no_darwin_process;
#endif
