/* Named segments: files in the folder of shm_open. The record beside each is a symbolic link, whose text says whose it is (records.h). */
#define _GNU_SOURCE /* statx, O_NOFOLLOW */
#include "platform/posix.h"
#include "platform/records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 320 };

typedef struct looked {
  uint64_t inode;
  int64_t nbytes;
  uint32_t user;
  bool is_file;
} looked;

/* Looks at an open file, or at a path, of which a last symbolic link is not followed. */
#ifdef __GLIBC__ /* not fstat: its symbol needs a newer C library; others have no statx, or only lately */
static bool look_at(int file, const char *path, looked *out) {
  struct statx found;
  if (statx(path ? AT_FDCWD : file, path ? path : "", path ? AT_SYMLINK_NOFOLLOW : AT_EMPTY_PATH,
            STATX_INO | STATX_UID | STATX_SIZE | STATX_TYPE, &found))
    return false;
  *out = (looked){found.stx_ino, (int64_t)found.stx_size, found.stx_uid, S_ISREG(found.stx_mode)};
  return true;
}
#else
static bool look_at(int file, const char *path, looked *out) {
  struct stat found;
  if (path ? lstat(path, &found) : fstat(file, &found)) return false;
  *out = (looked){found.st_ino, found.st_size, found.st_uid, S_ISREG(found.st_mode)};
  return true;
}
#endif

bool sb__os_file_inode(int file, uint64_t *inode) {
  looked found;
  if (!look_at(file, NULL, &found)) return false;
  *inode = found.inode;
  return true;
}

static bool inode_at(const char *path, uint64_t *inode) {
  looked found;
  if (!look_at(-1, path, &found)) return false;
  *inode = found.inode;
  return true;
}

static void segment_path(const char *name, char *path) {
  snprintf(path, PATH_ROOM, SB_SEGMENTS "/%s", name);
}

/* The path of a name of ours, by one of the functions of records.h. */
static void path_of(void (*write_name)(uint64_t, char *), uint64_t inode, char *path) {
  char name[SB__DRAFT_ROOM];
  write_name(inode, name);
  segment_path(name, path);
}

const char *sb__os_segment_name_fault(const char *name) {
  (void)name; /* any that is valid */
  return NULL;
}

int sb__os_segment_open(const char *name, bool writes, int *file) {
  char path[PATH_ROOM];
  segment_path(name, path);
  *file = open(path, (writes ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  return *file < 0 ? errno : 0;
}

bool sb__os_segment_inode(const char *name, uint64_t *inode) {
  char path[PATH_ROOM];
  segment_path(name, path);
  return inode_at(path, inode);
}

/* Another process may replace the name after it was looked at: it is moved aside, and back if it is another file's. */
bool sb__os_segment_remove(const char *name, uint64_t inode) {
  char path[PATH_ROOM], aside[PATH_ROOM], tag[PATH_ROOM];
  uint64_t there = 0;
  segment_path(name, path);
  path_of(sb__draft_name, inode, aside);
  path_of(sb__owner_name, inode, tag);
  /* Moved aside, another one's would be missing for those who have it. */
  if (!inode_at(path, &there) || there != inode || rename(path, aside)) return false;
  const bool is_it = inode_at(aside, &there) && there == inode;
  if (!is_it) (void)!link(aside, path); /* unless the name was taken again, by a newer file */
  (void)unlink(aside);
  if (is_it) (void)unlink(tag);
  return is_it;
}

void sb__os_segment_forget(uint64_t inode) {
  char path[PATH_ROOM];
  path_of(sb__draft_name, inode, path);
  (void)unlink(path);
  path_of(sb__owner_draft_name, inode, path);
  (void)unlink(path);
  path_of(sb__owner_name, inode, path);
  (void)unlink(path);
}

/* ---- Records ---- */

/* Records this process as a file's owner, in the place of what was recorded, also of an earlier file with this inode. Returns 0 or
 * the system's error number. */
static int record_owner(uint64_t inode, const char *name, bool persists) {
  const sb__process self = sb__os_process();
  char tag[PATH_ROOM], draft[PATH_ROOM], text[SB__OWNER_ROOM];
  path_of(sb__owner_name, inode, tag);
  path_of(sb__owner_draft_name, inode, draft);
  sb__owner_write(&self, persists, name, text);
  (void)unlink(draft);
  if (symlink(text, draft)) return errno == EEXIST ? EPERM : errno; /* another user's */
  if (!rename(draft, tag)) return 0;
  const int error = errno;
  (void)unlink(draft);
  return error;
}

bool sb__os_segment_record(uint64_t inode, sb__segment_record *out) {
  char path[PATH_ROOM], text[SB__OWNER_ROOM];
  looked tag, file;
  path_of(sb__owner_name, inode, path);
  const ssize_t n = readlink(path, text, sizeof text - 1);
  if (n <= 0 || !look_at(-1, path, &tag)) return false;
  text[n] = 0;
  *out = (sb__segment_record){.inode = inode, .nbytes = -1, .is_ours = tag.user == geteuid()};
  if (!sb__owner_read(text, out)) return false;
  segment_path(out->name, path);
  /* A record counts only for files of its own user. */
  if (look_at(-1, path, &file) && file.inode == inode && file.is_file && file.user == tag.user)
    out->nbytes = file.nbytes;
  return true;
}

int sb__os_segment_records(void (*see)(void *context, const sb__segment_record *record),
                           void *context) {
  DIR *folder = opendir(SB_SEGMENTS);
  if (!folder) return errno;
  for (const struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
    const uint64_t inode = sb__owner_inode(entry->d_name);
    sb__segment_record record;
    if (inode && sb__os_segment_record(inode, &record)) see(context, &record);
  }
  (void)closedir(folder);
  return 0;
}

void sb__os_segment_remove_lost(void) {
} /* their folder does not outlive the system, or has records of all */

bool sb__os_segment_take_over(const sb__segment_record *record) {
  return !record_owner(record->inode, record->name, record->persists);
}

/* ---- Making ---- */

#if !SB_LINUX
/* There are no files without a name: it is a draft's, which is recorded as the segment's, so that sweeping finds it where this
 * process is killed before the segment gets its own. */
int sb__os_segment_new(bool sealed, uint32_t mode, int64_t nbytes, int *error) {
  char path[PATH_ROOM], draft[PATH_ROOM];
  uint64_t inode = 0;
  *error = ENOSYS;
  if (sealed) return -1;
  snprintf(path, sizeof path, SB_SEGMENTS "/" SB_SEGMENT_MARK "draft-of-%llx",
           (unsigned long long)sb__os_unique());
  const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  *error = file < 0 || !sb__os_file_inode(file, &inode) ? errno : 0;
  if (file < 0) return -1;
  path_of(sb__draft_name, inode, draft);
  if (!*error && rename(path, draft)) *error = errno;
  if (*error) (void)unlink(path);
  if (!*error) *error = record_owner(inode, strrchr(draft, '/') + 1, false);
  if (!*error) *error = sb__os_reserve(file, nbytes);
  if (!*error && fchmod(file, (mode_t)mode)) *error = errno;
  if (!*error) return file;
  sb__os_segment_forget(inode);
  (void)close(file);
  return -1;
}

void sb__os_segment_abandon(int file) {
  char draft[PATH_ROOM];
  uint64_t inode = 0, there = 0;
  if (!sb__os_file_inode(file, &inode)) return;
  path_of(sb__draft_name, inode, draft);
  if (inode_at(draft, &there) && there == inode) sb__os_segment_forget(inode);
}

int sb__os_link(int file, const char *path) {
  char draft[PATH_ROOM];
  uint64_t inode = 0;
  if (!sb__os_file_inode(file, &inode)) return errno;
  path_of(sb__draft_name, inode, draft);
  if (link(draft, path)) return errno;
  (void)unlink(draft);
  return 0;
}

/* It has the draft's name. */
static int link_draft(int file, const char *draft) {
  (void)file, (void)draft;
  return 0;
}

bool sb__os_file_path(int file, char *path, size_t capacity) {
# ifdef F_GETPATH /* macOS, NetBSD: into PATH_MAX bytes */
  return capacity >= PATH_MAX && fcntl(file, F_GETPATH, path) == 0;
# else
  return snprintf(path, capacity, "/dev/fd/%d", file) < (int)capacity;
# endif
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
static int link_draft(int file, const char *draft) { return sb__os_link(file, draft); }
#endif

/* Puts the file's name in the place of another one's. */
static int replace_name(int file, uint64_t inode, const char *path) {
  char draft[PATH_ROOM], owner[PATH_ROOM];
  uint64_t before = 0;
  const bool was_there = inode_at(path, &before);
  path_of(sb__draft_name, inode, draft);
  const int error = link_draft(file, draft);
  if (error) return error;
  if (rename(draft, path)) return errno;
  if (was_there) {
    path_of(sb__owner_name, before, owner);
    (void)unlink(owner);
  }
  return 0;
}

int sb__os_segment_publish(int file, const char *name, bool persists, bool replace) {
  char path[PATH_ROOM];
  uint64_t inode = 0;
  if (!sb__os_file_inode(file, &inode)) return errno;
  segment_path(name, path);
  int error = record_owner(inode, name, persists);
  if (error) return error;
  error = replace ? replace_name(file, inode, path) : sb__os_link(file, path);
  if (error) sb__os_segment_forget(inode);
  return error;
}

int sb__os_segment_unlink(const char *name) {
  char path[PATH_ROOM], tag[PATH_ROOM];
  uint64_t inode = 0;
  segment_path(name, path);
  const bool is_known = inode_at(path, &inode);
  if (unlink(path)) return errno;
  path_of(sb__owner_name, inode, tag);
  if (is_known) (void)unlink(tag);
  return 0;
}
