/* Files on Linux: reserving space, locks. */
#define _GNU_SOURCE /* fallocate, F_OFD_SETLK */
#include "platform/posix.h"

#if SB_LINUX
# include <errno.h>
# include <fcntl.h>

int sb__os_reserve(int file, int64_t nbytes) {
  /* Not posix_fallocate: on file systems without support, it writes to each block. */
  int error = EINTR;
  while (nbytes > 0 && error == EINTR) error = fallocate(file, 0, 0, nbytes) ? errno : 0;
  if (nbytes == 0 || (error != EOPNOTSUPP && error != ENOSYS)) return nbytes == 0 ? 0 : error;
  return sb__posix_extend(file, nbytes);
}

/* A byte behind all content, so that nobody's own locks meet these. */
int sb__os_lock_file(int file, sb__file_lock how) {
  const bool is_asked = how == SB__LOCK_ASKED;
  struct flock lock = {.l_type = how == SB__UNLOCKED        ? F_UNLCK
                                 : how == SB__LOCKED_SHARED ? F_RDLCK
                                                            : F_WRLCK,
                       .l_whence = SEEK_SET,
                       .l_start = INT64_MAX - 1,
                       .l_len = 1};
  if (fcntl(file, is_asked ? F_OFD_GETLK : F_OFD_SETLK, &lock))
    return errno == EACCES ? EAGAIN : errno;
  return is_asked && lock.l_type != F_UNLCK ? EAGAIN : 0;
}
#else
typedef int sb__no_linux_files;
#endif
