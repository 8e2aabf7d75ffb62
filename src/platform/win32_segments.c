/* Shared memory between processes: not written for Windows yet. */
#include "platform/win32.h"

#include <errno.h>

int sb__os_segment_new(bool sealed, uint32_t mode, int64_t nbytes, int *error) {
  (void)sealed, (void)mode, (void)nbytes;
  *error = ENOSYS;
  return -1;
}

void sb__os_segment_abandon(int file) { (void)file; }

int sb__os_link(int file, const char *path) {
  (void)file, (void)path;
  return ENOSYS;
}

bool sb__os_is_sealed(int file) {
  (void)file;
  return false;
}

int sb__os_segment_open(const char *name, int *file) {
  (void)name;
  *file = -1;
  return ENOSYS;
}

int sb__os_segment_publish(int file, const char *name, const char *owner, bool replace) {
  (void)file, (void)name, (void)owner, (void)replace;
  return ENOSYS;
}

bool sb__os_segment_inode(const char *name, uint64_t *inode) {
  (void)name, (void)inode;
  return false;
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
