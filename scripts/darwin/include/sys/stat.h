#pragma once
#include <_types.h>

#define S_IFMT 0170000
#define S_IFREG 0100000
#define S_ISREG(mode) (((mode)&S_IFMT) == S_IFREG)

struct stat {
  dev_t st_dev;
  mode_t st_mode;
  nlink_t st_nlink;
  ino_t st_ino;
  uid_t st_uid;
  gid_t st_gid;
  dev_t st_rdev;
  struct timespec st_atimespec, st_mtimespec, st_ctimespec, st_birthtimespec;
  off_t st_size;
  blkcnt_t st_blocks;
  blksize_t st_blksize;
  uint32_t st_flags, st_gen;
  int32_t st_lspare;
  int64_t st_qspare[2];
};
_Static_assert(sizeof(struct stat) == 144 && offsetof(struct stat, st_ino) == 8 &&
                   offsetof(struct stat, st_size) == 96,
               "as macOS has it");

int fstat(int file, struct stat *out) SB__INODE64("fstat");
int lstat(const char *path, struct stat *out) SB__INODE64("lstat");
int fchmod(int file, mode_t mode);
