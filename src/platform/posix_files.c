/* Files: reserving space, locks, reading, descriptors. */
#define _GNU_SOURCE /* F_DUPFD_CLOEXEC, flock */
#include "platform/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

int sb__posix_extend(int file, int64_t nbytes) {
  const off_t end = lseek(file, 0, SEEK_END); /* a file that others may have mapped is not cut */
  if (end < 0) return errno;
  return end < nbytes && ftruncate(file, nbytes) ? errno : 0;
}

#if SB_PLAIN
/* Writes to what is new, so that there is space for it. Looks for it first. */
int sb__os_reserve(int file, int64_t nbytes) {
  static const char zeros[65536];
  struct statvfs place;
  int64_t at = lseek(file, 0, SEEK_END);
  if (at < 0) return errno;
  if (at < nbytes && !fstatvfs(file, &place) && place.f_blocks &&
      (uint64_t)(nbytes - at) / place.f_frsize > place.f_bavail)
    return ENOSPC;
  while (at < nbytes) {
    const size_t n = nbytes - at < (int64_t)sizeof zeros ? (size_t)(nbytes - at) : sizeof zeros;
    const ssize_t written = pwrite(file, zeros, n, (off_t)at);
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) at += written;
  }
  return 0;
}

#endif

#if !SB_LINUX
/* Where nobody can be asked, the lock is taken and given back: another one who wants it meanwhile is told that it is locked. */
int sb__os_lock_file(int file, sb__file_lock how) {
  static const int operations[] = {LOCK_UN, LOCK_SH, LOCK_EX, LOCK_EX};
  if (flock(file, operations[how] | LOCK_NB)) return errno == EWOULDBLOCK ? EAGAIN : errno;
  if (how == SB__LOCK_ASKED) (void)flock(file, LOCK_UN);
  return 0;
}
#endif

int sb__os_duplicate(int file, int *error) {
  const int made = fcntl(file, F_DUPFD_CLOEXEC, 3); /* 0 to 2 stay free for standard streams */
  if (made < 0) *error = errno;
  return made;
}

void sb__os_close(int file) { (void)close(file); }

static int read_all(int file, char *bytes, size_t nbytes) {
  for (size_t done = 0; done < nbytes;) {
    const ssize_t n = read(file, bytes + done, nbytes - done);
    if (n < 0 && errno != EINTR) return errno;
    if (n == 0) return EIO; /* the file was shortened */
    if (n > 0) done += (size_t)n;
  }
  return 0;
}

int sb__os_read_file(const char *path, void *bytes, size_t capacity, size_t *nbytes) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const off_t end = lseek(file, 0, SEEK_END); /* not fstat: its symbol needs a newer C library */
  int error = end < 0 || lseek(file, 0, SEEK_SET) ? errno : 0;
  if (!error) *nbytes = (size_t)end;
  if (!error && bytes) error = *nbytes > capacity ? EFBIG : read_all(file, bytes, *nbytes);
  (void)close(file);
  return error;
}

int sb__os_read_at(int file, int64_t at, void *bytes, size_t nbytes, size_t *read, int64_t *total) {
  const off_t end = lseek(file, 0, SEEK_END);
  if (end < 0) return errno;
  *total = end;
  *read = 0;
  while (*read < nbytes) {
    const ssize_t n = pread(file, (char *)bytes + *read, nbytes - *read, (off_t)at + (off_t)*read);
    if (n < 0 && errno != EINTR) return errno;
    if (n == 0) break;
    if (n > 0) *read += (size_t)n;
  }
  return 0;
}

int sb__os_write_head(int file, const void *bytes, size_t nbytes) {
  for (size_t done = 0; done < nbytes;) {
    const ssize_t n = pwrite(file, (const char *)bytes + done, nbytes - done, (off_t)done);
    if (n < 0 && errno != EINTR) return errno;
    if (n > 0) done += (size_t)n;
  }
  return 0;
}
