/* Named segments: files in the folder of shm_open, a symbolic link beside each that says whose it is. */
#define _GNU_SOURCE /* statx, O_NOFOLLOW */
#include "platform/posix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __GLIBC__ /* not fstat: its symbol needs a newer C library; others have no statx, or only lately */
bool sb__posix_look_at(int file, const char *path, uint64_t *inode, uint32_t *owner) {
  struct statx found;
  if (statx(path ? AT_FDCWD : file, path ? path : "", path ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH,
            STATX_INO | STATX_UID, &found))
    return false;
  *inode = found.stx_ino;
  *owner = found.stx_uid;
  return true;
}
#else
bool sb__posix_look_at(int file, const char *path, uint64_t *inode, uint32_t *owner) {
  struct stat found;
  if (path ? lstat(path, &found) : fstat(file, &found)) return false;
  *inode = found.st_ino;
  *owner = found.st_uid;
  return true;
}
#endif

static bool inode_of(int file, const char *path, uint64_t *inode) {
  uint32_t owner;
  return sb__posix_look_at(file, path, inode, &owner);
}

enum { OWNER_ROOM = 512 };

/* The symbolic link beside a segment whose text is its owner: js/sharing/segments.js makes and reads it, too. */
static void owner_path(uint64_t inode, char *path) {
  snprintf(path, SB__PATH_ROOM, SB_SEGMENTS "/.samebytes-%llu", (unsigned long long)inode);
}

static void segment_path(const char *name, char *path) {
  snprintf(path, SB__PATH_ROOM, SB_SEGMENTS "/%s", name);
}

int sb__os_segment_open(const char *name, int *file) {
  char path[SB__PATH_ROOM];
  segment_path(name, path);
  *file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  return *file < 0 ? errno : 0;
}

bool sb__os_segment_inode(const char *name, uint64_t *inode) {
  char path[SB__PATH_ROOM];
  segment_path(name, path);
  return inode_of(-1, path, inode);
}

void sb__posix_draft_path(uint64_t inode, char *path) {
  snprintf(path, SB__PATH_ROOM, SB_SEGMENTS "/.samebytes-draft-%llu", (unsigned long long)inode);
}

bool sb__os_segment_is_at(int file, const char *name) {
  uint64_t inode = 0, there = 0;
  return inode_of(file, NULL, &inode) && sb__os_segment_inode(name, &there) && inode == there;
}

/* Another process may replace the name after it was looked at: it is moved aside, and back if it is another file's. */
void sb__os_segment_remove(int file, const char *name) {
  char path[SB__PATH_ROOM], aside[SB__PATH_ROOM], tag[SB__PATH_ROOM];
  uint64_t inode = 0, moved = 0;
  if (!inode_of(file, NULL, &inode) || !sb__os_segment_is_at(file, name)) return;
  segment_path(name, path);
  sb__posix_draft_path(inode, aside);
  owner_path(inode, tag);
  if (rename(path, aside)) return;
  const bool is_it = inode_of(-1, aside, &moved) && moved == inode;
  if (!is_it) (void)!link(aside, path); /* unless the name was taken again, by a newer file */
  (void)unlink(aside);
  if (is_it) (void)unlink(tag);
}

bool sb__os_segment_owner(int file, sb__process *owner, bool *persists) {
  char tag[SB__PATH_ROOM], text[OWNER_ROOM], *end = text;
  uint64_t inode = 0, of_tag = 0;
  uint32_t user = 0;
  if (!inode_of(file, NULL, &inode)) return false;
  owner_path(inode, tag);
  if (!sb__posix_look_at(-1, tag, &of_tag, &user) || user != geteuid()) return false;
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
  char tag[SB__PATH_ROOM], draft[SB__PATH_ROOM];
  uint64_t inode = 0;
  if (!inode_of(file, NULL, &inode)) return;
  owner_path(inode, tag);
  sb__posix_draft_path(inode, draft);
  (void)unlink(draft);
  if (!symlink(owner, draft) && rename(draft, tag)) (void)unlink(draft);
}

#if !SB_LINUX
/* Elsewhere a segment is a file with a draft's name until it gets its own: there are no files without one. */
int sb__os_segment_new(bool sealed, uint32_t mode, int64_t nbytes, int *error) {
  char path[SB__PATH_ROOM], draft[SB__PATH_ROOM];
  uint64_t inode = 0;
  if (sealed) {
    *error = ENOSYS;
    return -1;
  }
  snprintf(path, sizeof path, SB_SEGMENTS "/.samebytes-draft-of-%llx",
           (unsigned long long)sb__os_unique());
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) {
    *error = errno;
    return -1;
  }
  *error = ftruncate(file, nbytes) || fchmod(file, (mode_t)mode) || !inode_of(file, NULL, &inode)
               ? errno
               : 0;
  sb__posix_draft_path(inode, draft);
  if (!*error && rename(path, draft)) *error = errno;
  if (!*error) return file;
  (void)unlink(path);
  (void)close(file);
  return -1;
}

void sb__os_segment_abandon(int file) {
  char draft[SB__PATH_ROOM];
  uint64_t inode = 0;
  if (!inode_of(file, NULL, &inode)) return;
  sb__posix_draft_path(inode, draft);
  (void)unlink(draft);
}

int sb__os_link(int file, const char *path) {
  char draft[SB__PATH_ROOM];
  uint64_t inode = 0;
  if (!inode_of(file, NULL, &inode)) return errno;
  sb__posix_draft_path(inode, draft);
  if (link(draft, path)) return errno;
  (void)unlink(draft);
  return 0;
}

/* Gives a file its draft's name, which it has. */
static int name_draft(int file, const char *draft) {
  (void)file, (void)draft;
  return 0;
}

/* Nothing seals a file here. */
bool sb__os_is_sealed(int file) {
  (void)file;
  return false;
}

size_t sb__os_mapped_size(int file, size_t nbytes) {
  (void)file;
  return nbytes;
}
#else
static int name_draft(int file, const char *draft) { return sb__os_link(file, draft); }
#endif

/* Puts the file's name in the place of another one's. */
static int replace_name(int file, uint64_t inode, const char *path) {
  char draft[SB__PATH_ROOM], owner[SB__PATH_ROOM];
  uint64_t before = 0;
  const bool was_there = inode_of(-1, path, &before);
  sb__posix_draft_path(inode, draft);
  int error = name_draft(file, draft);
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
  char path[SB__PATH_ROOM], tag[SB__PATH_ROOM];
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
  char path[SB__PATH_ROOM], tag[SB__PATH_ROOM];
  uint64_t inode = 0;
  segment_path(name, path);
  const bool is_known = inode_of(-1, path, &inode);
  if (unlink(path)) return errno;
  owner_path(inode, tag);
  if (is_known) (void)unlink(tag);
  return 0;
}
