/* Types that several headers have. */
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef int32_t pid_t, dev_t, blksize_t, suseconds_t;
typedef uint32_t uid_t, gid_t, sigset_t;
typedef uint16_t mode_t, nlink_t;
typedef uint64_t ino_t;
typedef int64_t off_t, blkcnt_t;
typedef long ssize_t, time_t;
typedef unsigned int clockid_t, fsblkcnt_t, fsfilcnt_t;

struct timespec {
  time_t tv_sec;
  long tv_nsec;
};

struct timeval {
  time_t tv_sec;
  suseconds_t tv_usec;
};

/* On x86-64 functions whose structures have inodes of 64 bits end so. */
#if defined(__x86_64__)
# define SB__INODE64(name) __asm__("_" name "$INODE64")
#else
# define SB__INODE64(name)
#endif
