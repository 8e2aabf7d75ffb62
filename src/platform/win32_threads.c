/* Threads and spin locks of Windows. */
#include "platform/threads.h"

void sb__lock_take(sb__lock *lock) {
  while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire)) SwitchToThread();
}

void sb__lock_drop(sb__lock *lock) {
  atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}

void sb__os_yield(void) { SwitchToThread(); }

bool sb__start_thread(sb__thread_function *run, void *argument, size_t stack) {
  const HANDLE thread =
      CreateThread(NULL, stack, run, argument, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
  if (thread) CloseHandle(thread);
  return thread != NULL;
}
