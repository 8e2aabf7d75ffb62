/* The mode of floating-point arithmetic of a thread: rounding, denormals, exceptions. */
#include "platform/platform.h"

#if defined(__SSE__)
# include <xmmintrin.h>
#elif !defined(__aarch64__)
# include <fenv.h>
#endif

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
#elif defined(__aarch64__)
/* The control register; 0 is round to nearest, no traps, denormals kept. */
uint32_t sb__float_mode_default(void) {
  uint64_t mode = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  if (mode) __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)));
  return (uint32_t)mode;
}

void sb__float_mode_restore(uint32_t mode) {
  if (mode) __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode));
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
