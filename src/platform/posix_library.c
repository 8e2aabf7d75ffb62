/* Libraries loaded at run time. */
#define _GNU_SOURCE /* dladdr */
#include "platform/platform.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Links the first versions of these symbols: the addon must load wherever its Node.js does, also with older C libraries.
 * Where those have them in libdl, Node.js has loaded it. */
#if defined(SB_OLD_GLIBC) && defined(__GLIBC__)
# if defined(__x86_64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dlerror, dlerror@GLIBC_2.2.5");
__asm__(".symver dladdr, dladdr@GLIBC_2.2.5");
# elif defined(__aarch64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.17");
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
__asm__(".symver dlerror, dlerror@GLIBC_2.17");
__asm__(".symver dladdr, dladdr@GLIBC_2.17");
# endif
#endif

void *sb__os_library(const char *name, char *why, size_t capacity) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  const char *text = library ? "" : dlerror();
  snprintf(why, capacity, "%s", text ? text : "it could not be opened");
  return library;
}

void *sb__os_symbol(void *library, const char *name) { return dlsym(library, name); }

bool sb__os_folder_of(const void *address, char *folder, size_t capacity) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return false;
  const char *slash = strrchr(info.dli_fname, '/');
  const size_t n = slash ? (size_t)(slash - info.dli_fname) : 1;
  if (n + 1 > capacity) return false;
  memcpy(folder, slash ? info.dli_fname : ".", n);
  folder[n] = 0;
  return true;
}
