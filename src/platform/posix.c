/* platform.h for POSIX systems. */
#include "platform/platform.h"

#include <sched.h>
#include <stdlib.h>

#if defined(__SSE__)
# include <xmmintrin.h>
#else
# include <fenv.h>
#endif

void *sb__os_alloc_aligned(size_t nbytes, size_t alignment) {
  void *data = NULL;
  if (nbytes > PTRDIFF_MAX - alignment) return NULL;
  return posix_memalign(&data, alignment, nbytes) ? NULL : data;
}

void sb__os_free_aligned(void *data) { free(data); }

void sb__lock_take(sb__lock *lock) {
  while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire)) sched_yield();
}

void sb__lock_drop(sb__lock *lock) {
  atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}

const char *sb__os_environment(const char *name) { return getenv(name); }

#if defined(__SSE__)
# define DEFAULT_MXCSR 0x1f80u /* round to nearest, all exceptions masked, denormals kept */

uint32_t sb__float_mode_default(void) {
  const uint32_t mode = _mm_getcsr();
  if ((mode & ~0x3fu) != DEFAULT_MXCSR) _mm_setcsr(DEFAULT_MXCSR);
  return mode;
}

void sb__float_mode_restore(uint32_t mode) {
  if ((mode & ~0x3fu) != DEFAULT_MXCSR) _mm_setcsr(mode);
}
#else
uint32_t sb__float_mode_default(void) {
  const int mode = fegetround();
  if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);
  return (uint32_t)mode;
}

void sb__float_mode_restore(uint32_t mode) {
  if ((int)mode != FE_TONEAREST) fesetround((int)mode);
}
#endif
