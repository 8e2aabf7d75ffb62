#pragma once

#define RTLD_NOW 2
#define RTLD_LOCAL 4
#define RTLD_DEFAULT ((void *)-2)

typedef struct {
  const char *dli_fname;
  void *dli_fbase;
  const char *dli_sname;
  void *dli_saddr;
} Dl_info;

void *dlopen(const char *path, int mode);
void *dlsym(void *library, const char *name);
const char *dlerror(void);
int dladdr(const void *address, Dl_info *info);
