/* Mutexes and conditions of the system, for native_threads.c. They need no release: they live as long as the process. */
#ifndef SB_PLATFORM_THREADS_H
#define SB_PLATFORM_THREADS_H

#include "platform/platform.h"

#if defined(_WIN32)
# include "platform/win32.h"

typedef SRWLOCK sb__mutex;
typedef CONDITION_VARIABLE sb__condition;
# define SB__MUTEX SRWLOCK_INIT
# define SB__CONDITION CONDITION_VARIABLE_INIT
static inline void sb__mutex_take(sb__mutex *mutex) { AcquireSRWLockExclusive(mutex); }
static inline void sb__mutex_drop(sb__mutex *mutex) { ReleaseSRWLockExclusive(mutex); }
static inline void sb__condition_wake(sb__condition *condition) {
  WakeConditionVariable(condition);
}
static inline void sb__condition_wake_all(sb__condition *condition) {
  WakeAllConditionVariable(condition);
}
static inline void sb__condition_wait(sb__condition *condition, sb__mutex *mutex) {
  (void)SleepConditionVariableSRW(condition, mutex, INFINITE, 0);
}
static inline int64_t sb__this_process(void) { return 1; } /* nothing forks */
# define SB__THREAD DWORD WINAPI                           /* what a thread's function returns: 0 */
#else
# include <pthread.h>
# include <unistd.h>

typedef pthread_mutex_t sb__mutex;
typedef pthread_cond_t sb__condition;
# define SB__MUTEX PTHREAD_MUTEX_INITIALIZER
# define SB__CONDITION PTHREAD_COND_INITIALIZER
static inline void sb__mutex_take(sb__mutex *mutex) { pthread_mutex_lock(mutex); }
static inline void sb__mutex_drop(sb__mutex *mutex) { pthread_mutex_unlock(mutex); }
static inline void sb__condition_wake(sb__condition *condition) { pthread_cond_signal(condition); }
static inline void sb__condition_wake_all(sb__condition *condition) {
  pthread_cond_broadcast(condition);
}
static inline void sb__condition_wait(sb__condition *condition, sb__mutex *mutex) {
  pthread_cond_wait(condition, mutex);
}
static inline int64_t sb__this_process(void) { return getpid(); }
# define SB__THREAD void *
#endif

typedef SB__THREAD sb__thread_function(void *argument);

#define SB__STACK ((size_t)1 << 20) /* bytes of stack; enough for drivers */

/* Starts a detached thread, which does not keep the process alive. False: none could be started. */
bool sb__start_thread(sb__thread_function *run, void *argument, size_t stack);

#endif
