#pragma once
#include <_types.h>

struct statvfs {
  unsigned long f_bsize, f_frsize;
  fsblkcnt_t f_blocks, f_bfree, f_bavail;
  fsfilcnt_t f_files, f_ffree, f_favail;
  unsigned long f_fsid, f_flag, f_namemax;
};
_Static_assert(sizeof(struct statvfs) == 64, "as macOS has it");

int fstatvfs(int file, struct statvfs *out);
