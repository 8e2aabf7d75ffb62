/* What the files of POSIX systems share: posix_*.c is for all of them, linux_*.c and darwin_*.c have what those do better. Where both have a
 * function, posix_*.c has it under !SB_LINUX, or SB_PLAIN. -DSB_GENERIC_POSIX compiles on Linux what other systems get, so that it
 * is tested. */
#ifndef SB_PLATFORM_POSIX_H
#define SB_PLATFORM_POSIX_H

#include "platform/platform.h"

#if defined(__linux__) && defined(__LP64__) && !defined(SB_GENERIC_POSIX)
# define SB_LINUX 1
#else
# define SB_LINUX 0
#endif

#if defined(__APPLE__) && !defined(SB_GENERIC_POSIX)
# define SB_DARWIN 1
#else
# define SB_DARWIN 0
#endif
#define SB_PLAIN (!SB_LINUX && !SB_DARWIN)

#if defined(__APPLE__)
# define SB_SEGMENTS "/tmp" /* there is no folder of shm_open */
#else
# define SB_SEGMENTS "/dev/shm" /* where shm_open of every C library on Linux looks */
#endif

/* Makes a file at least as long. Returns 0 or the system's error number. */
int sb__posix_extend(int file, int64_t nbytes);

/* What platform.h has as sb__os_futex_wait and sb__os_futex_wake, by looks. */
sb__wait_result sb__posix_futex_wait(const void *word, uint32_t expected, sb__event *event,
                                     int64_t end, int *error);
int sb__posix_futex_wake(void *word, int count, int *error);

/* Does this macOS have what darwin_futex.c waits by? */
bool sb__darwin_has_futexes(void);

#endif
