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

int sb__os_segment_open(const char *name, bool writes, int *file) {
  (void)name, (void)writes;
  *file = -1;
  return ENOSYS;
}

int sb__os_segment_publish(int file, const char *name, bool persists, bool replace) {
  (void)file, (void)name, (void)persists, (void)replace;
  return ENOSYS;
}

bool sb__os_file_inode(int file, uint64_t *inode) {
  (void)file, (void)inode;
  return false;
}

bool sb__os_segment_inode(const char *name, uint64_t *inode) {
  (void)name, (void)inode;
  return false;
}

int sb__os_segment_unlink(const char *name) {
  (void)name;
  return ENOSYS;
}

bool sb__os_segment_remove(const char *name, uint64_t inode) {
  (void)name, (void)inode;
  return false;
}

void sb__os_segment_forget(uint64_t inode) { (void)inode; }

bool sb__os_segment_record(uint64_t inode, sb__segment_record *out) {
  (void)inode, (void)out;
  return false;
}

int sb__os_segment_records(void (*see)(void *context, const sb__segment_record *record),
                           void *context) {
  (void)see, (void)context;
  return ENOSYS;
}

bool sb__os_segment_take_over(const sb__segment_record *record) {
  (void)record;
  return false;
}
