#pragma once
#include <_types.h>

typedef struct _dirdesc DIR;

struct dirent {
  ino_t d_ino;
  uint64_t d_seekoff;
  uint16_t d_reclen, d_namlen;
  uint8_t d_type;
  char d_name[1024];
};
_Static_assert(sizeof(struct dirent) == 1048 && offsetof(struct dirent, d_name) == 21,
               "as macOS has it");

DIR *opendir(const char *path) SB__INODE64("opendir");
struct dirent *readdir(DIR *folder) SB__INODE64("readdir");
int closedir(DIR *folder);
