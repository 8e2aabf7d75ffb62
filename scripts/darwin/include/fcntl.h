#pragma once
#include <_types.h>

#define O_RDONLY 0
#define O_WRONLY 1
#define O_RDWR 2
#define O_NONBLOCK 0x4
#define O_NOFOLLOW 0x100
#define O_CREAT 0x200
#define O_TRUNC 0x400
#define O_EXCL 0x800
#define O_CLOEXEC 0x1000000
#define FD_CLOEXEC 1
#define F_SETFD 2
#define F_PREALLOCATE 42
#define F_GETPATH 50
#define F_DUPFD_CLOEXEC 67
#define F_ALLOCATEALL 4
#define F_PEOFPOSMODE 3

typedef struct fstore {
  unsigned int fst_flags;
  int fst_posmode;
  off_t fst_offset, fst_length, fst_bytesalloc;
} fstore_t;
_Static_assert(sizeof(fstore_t) == 32, "as macOS has it");

int open(const char *path, int flags, ...);
int fcntl(int file, int what, ...);
