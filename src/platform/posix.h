/* What the files of POSIX systems share: posix_*.c is for all of them, linux_*.c has what Linux does better. Where both have a
 * function, posix_*.c has it under !SB_LINUX. -DSB_GENERIC_POSIX compiles on Linux what other systems get, so that it is
 * tested. */
#ifndef SB_PLATFORM_POSIX_H
#define SB_PLATFORM_POSIX_H

#include "platform/platform.h"

#if defined(__linux__) && defined(__LP64__) && !defined(SB_GENERIC_POSIX)
# define SB_LINUX 1
#else
# define SB_LINUX 0
#endif

#if defined(__APPLE__)
# define SB_SEGMENTS "/tmp" /* there is no folder of shm_open */
#else
# define SB_SEGMENTS "/dev/shm" /* where shm_open of every C library on Linux looks */
#endif

/* Makes a file at least as long. Returns 0 or the system's error number. */
int sb__posix_extend(int file, int64_t nbytes);

#endif
