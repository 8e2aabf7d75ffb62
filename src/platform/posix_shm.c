/* Shared memory between processes: segments are files of tmpfs, made without a name. Linux only. */
#define _GNU_SOURCE /* memfd_create, O_TMPFILE */
#include "platform/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#if defined(__linux__)
# define SEGMENTS "/dev/shm" /* where shm_open of every C library on Linux looks */
# define RESERVE_BYTES ((int64_t)1 << 24)
# define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
# ifndef MFD_NOEXEC_SEAL
#  define MFD_NOEXEC_SEAL 8u /* from Linux 6.3 on; some systems require it */
# endif

static int open_unnamed(bool sealed) {
  if (!sealed) return open(SEGMENTS, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
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

int sb__os_link(int file, const char *path) {
  char from[64];
  snprintf(from, sizeof from, "/proc/self/fd/%d", file);
  return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? errno : 0;
}

/* The inode and the owner of a file, or of a path, of which a last symbolic link is not followed. */
# ifdef __GLIBC__ /* not fstat: its symbol needs a newer C library; others have no statx, or only lately */
static bool look_at(int file, const char *path, uint64_t *inode, uid_t *owner) {
  struct statx found;
  if (statx(path ? AT_FDCWD : file, path ? path : "", path ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH,
            STATX_INO | STATX_UID, &found))
    return false;
  *inode = found.stx_ino;
  *owner = found.stx_uid;
  return true;
}
# else
static bool look_at(int file, const char *path, uint64_t *inode, uid_t *owner) {
  struct stat found;
  if (path ? lstat(path, &found) : fstat(file, &found)) return false;
  *inode = found.st_ino;
  *owner = found.st_uid;
  return true;
}
# endif

static bool inode_of(int file, const char *path, uint64_t *inode) {
  uid_t owner;
  return look_at(file, path, inode, &owner);
}

enum { PATH_ROOM = 320, OWNER_ROOM = 512 };

/* The symbolic link beside a segment whose text is its owner: js/sharing/segments.js makes and reads it, too. */
static void owner_path(uint64_t inode, char *path) {
  snprintf(path, PATH_ROOM, SEGMENTS "/.samebytes-%llu", (unsigned long long)inode);
}

static void segment_path(const char *name, char *path) {
  snprintf(path, PATH_ROOM, SEGMENTS "/%s", name);
}

int sb__os_segment_open(const char *name, int *file) {
  char path[PATH_ROOM];
  segment_path(name, path);
  *file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  return *file < 0 ? errno : 0;
}

bool sb__os_segment_inode(const char *name, uint64_t *inode) {
  char path[PATH_ROOM];
  segment_path(name, path);
  return inode_of(-1, path, inode);
}

static void draft_path(uint64_t inode, char *path) {
  snprintf(path, PATH_ROOM, SEGMENTS "/.samebytes-draft-%llu", (unsigned long long)inode);
}

bool sb__os_segment_is_at(int file, const char *name) {
  uint64_t inode = 0, there = 0;
  return inode_of(file, NULL, &inode) && sb__os_segment_inode(name, &there) && inode == there;
}

/* Another process may replace the name after it was looked at: it is moved aside, and back if it is another file's. */
void sb__os_segment_remove(int file, const char *name) {
  char path[PATH_ROOM], aside[PATH_ROOM], tag[PATH_ROOM];
  uint64_t inode = 0, moved = 0;
  if (!inode_of(file, NULL, &inode) || !sb__os_segment_is_at(file, name)) return;
  segment_path(name, path);
  draft_path(inode, aside);
  owner_path(inode, tag);
  if (rename(path, aside)) return;
  const bool is_it = inode_of(-1, aside, &moved) && moved == inode;
  if (!is_it) (void)!link(aside, path); /* unless the name was taken again, by a newer file */
  (void)unlink(aside);
  if (is_it) (void)unlink(tag);
}

bool sb__os_segment_owner(int file, sb__process *owner, bool *persists) {
  char tag[PATH_ROOM], text[OWNER_ROOM], *end = text;
  uint64_t inode = 0, of_tag = 0;
  uid_t user = 0;
  if (!inode_of(file, NULL, &inode)) return false;
  owner_path(inode, tag);
  if (!look_at(-1, tag, &of_tag, &user) || user != geteuid()) return false;
  const ssize_t n = readlink(tag, text, sizeof text - 1);
  if (n <= 0) return false;
  text[n] = 0;
  unsigned long long numbers[4]; /* each may be empty, which strtoull takes for 0 */
  for (int i = 0; i < 4; i++) {
    numbers[i] = strtoull(end, &end, 10);
    if (*end++ != ':') return false;
  }
  *owner = (sb__process){(int64_t)numbers[0], (uint32_t)numbers[1], numbers[2]};
  *persists = numbers[3] == 1;
  return true;
}

void sb__os_segment_record(int file, const char *owner) {
  char tag[PATH_ROOM], draft[PATH_ROOM];
  uint64_t inode = 0;
  if (!inode_of(file, NULL, &inode)) return;
  owner_path(inode, tag);
  draft_path(inode, draft);
  (void)unlink(draft);
  if (!symlink(owner, draft) && rename(draft, tag)) (void)unlink(draft);
}

/* Puts the file's name in the place of another one's. */
static int replace_name(int file, uint64_t inode, const char *path) {
  char draft[PATH_ROOM], owner[PATH_ROOM];
  uint64_t before = 0;
  const bool was_there = inode_of(-1, path, &before);
  draft_path(inode, draft);
  int error = sb__os_link(file, draft);
  if (!error && rename(draft, path)) {
    error = errno;
    (void)unlink(draft);
  }
  if (!error && was_there) {
    owner_path(before, owner);
    (void)unlink(owner);
  }
  return error;
}

int sb__os_segment_publish(int file, const char *name, const char *owner, bool replace) {
  char path[PATH_ROOM], tag[PATH_ROOM];
  uint64_t inode = 0;
  if (!inode_of(file, NULL, &inode)) return errno;
  segment_path(name, path);
  owner_path(inode, tag);
  (void)unlink(tag); /* left by an earlier file with this inode */
  if (symlink(owner, tag)) return errno;
  const int error = replace ? replace_name(file, inode, path) : sb__os_link(file, path);
  if (error) (void)unlink(tag);
  return error;
}

int sb__os_segment_unlink(const char *name) {
  char path[PATH_ROOM], tag[PATH_ROOM];
  uint64_t inode = 0;
  segment_path(name, path);
  const bool is_known = inode_of(-1, path, &inode);
  if (unlink(path)) return errno;
  owner_path(inode, tag);
  if (is_known) (void)unlink(tag);
  return 0;
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
int sb__os_segment_new(bool sealed, uint32_t mode, int64_t nbytes, int *error) {
  (void)sealed;
  (void)mode;
  (void)nbytes;
  *error = ENOSYS;
  return -1;
}

int sb__os_link(int file, const char *path) {
  (void)file;
  (void)path;
  return ENOSYS;
}

int sb__os_segment_open(const char *name, int *file) {
  (void)name;
  *file = -1;
  return ENOSYS;
}

bool sb__os_segment_inode(const char *name, uint64_t *inode) {
  (void)name, (void)inode;
  return false;
}

int sb__os_segment_publish(int file, const char *name, const char *owner, bool replace) {
  (void)file, (void)name, (void)owner, (void)replace;
  return ENOSYS;
}

int sb__os_segment_unlink(const char *name) {
  (void)name;
  return ENOSYS;
}

bool sb__os_segment_is_at(int file, const char *name) {
  (void)file, (void)name;
  return false;
}

void sb__os_segment_remove(int file, const char *name) { (void)file, (void)name; }

bool sb__os_segment_owner(int file, sb__process *owner, bool *persists) {
  (void)file, (void)owner, (void)persists;
  return false;
}

void sb__os_segment_record(int file, const char *owner) { (void)file, (void)owner; }

bool sb__os_is_sealed(int file) {
  (void)file;
  return false;
}

size_t sb__os_mapped_size(int file, size_t nbytes) {
  (void)file;
  return nbytes;
}
#endif
