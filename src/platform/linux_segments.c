/* Segments on Linux: files of tmpfs without a name until they are complete, and memory files whose length is sealed. */
#define _GNU_SOURCE /* memfd_create, O_TMPFILE */
#include "platform/posix.h"

#if SB_LINUX
# include <errno.h>
# include <fcntl.h>
# include <stdio.h>
# include <sys/mman.h>
# include <sys/stat.h>
# include <sys/statvfs.h>
# include <sys/vfs.h>
# include <unistd.h>

# define RESERVE_BYTES ((int64_t)1 << 24)
# define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
# ifndef MFD_NOEXEC_SEAL
#  define MFD_NOEXEC_SEAL 8u /* from Linux 6.3 on; some systems require it */
# endif

static int open_unnamed(bool sealed) {
  if (!sealed) return open(SB_SEGMENTS, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  const int file = memfd_create("samebytes", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (file >= 0 || errno != EINVAL) return file;
  return memfd_create("samebytes", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/* Reserves memory for a file, in pieces, because a signal undoes the piece that it interrupts. Checks for space first. */
static int reserve_pages(int file, int64_t nbytes) {
  struct statvfs place;
  if (!fstatvfs(file, &place) && place.f_blocks &&
      (uint64_t)nbytes / place.f_frsize > place.f_bavail)
    return ENOSPC;
  for (int64_t at = 0; at < nbytes;) {
    const int64_t n = nbytes - at < RESERVE_BYTES ? nbytes - at : RESERVE_BYTES;
    const int error = posix_fallocate(file, at, n);
    if (error && error != EINTR) return error;
    if (!error) at += n;
  }
  return 0;
}

int sb__os_segment_new(bool sealed, uint32_t mode, int64_t nbytes, int *error) {
  const int file = open_unnamed(sealed);
  if (file < 0) {
    *error = errno;
    return -1;
  }
  *error = ftruncate(file, nbytes) ? errno : reserve_pages(file, nbytes);
  if (!*error && fchmod(file, (mode_t)mode)) *error = errno;
  if (!*error && sealed && fcntl(file, F_ADD_SEALS, SEALS)) *error = errno;
  if (!*error) return file;
  (void)close(file);
  return -1;
}

/* It has no name that would have to go. */
void sb__os_segment_abandon(int file) { (void)file; }

int sb__os_link(int file, const char *path) {
  char from[64];
  snprintf(from, sizeof from, "/proc/self/fd/%d", file);
  return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? errno : 0;
}

bool sb__os_file_path(int file, char *path, size_t capacity) {
  return snprintf(path, capacity, "/proc/%d/fd/%d", (int)getpid(), file) < (int)capacity;
}

/* The size of a file's pages where they are large (hugetlbfs), and cannot be had when the system has no more of them; else 0. */
static size_t large_page_of(int file) {
  struct statfs place;
  return !fstatfs(file, &place) && (uint32_t)place.f_type == 0x958458f6u ? (size_t)place.f_bsize
                                                                         : 0;
}

bool sb__os_is_sealed(int file) {
  const int seals = fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK) && !large_page_of(file);
}

size_t sb__os_mapped_size(int file, size_t nbytes) {
  const size_t page = large_page_of(file);
  return page ? (nbytes + page - 1) / page * page : nbytes;
}
#else
typedef int sb__no_linux_segments;
#endif
