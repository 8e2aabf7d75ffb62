/* What the files win32_*.c share. */
#ifndef SB_PLATFORM_WIN32_H
#define SB_PLATFORM_WIN32_H

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include "platform/platform.h"

/* The handle of a descriptor. Descriptors are those of the host's C library, not of ours, so the host translates them.
 * INVALID_HANDLE_VALUE: there is none, or the host does not translate. */
HANDLE sb__win32_handle(int file);

/* A descriptor for a handle, which is closed with it. -1: there is none; the handle stays the caller's. */
int sb__win32_descriptor(HANDLE handle, int *error);

/* The folder of named segments, without a trailing backslash; NULL: there is none. */
const char *sb__win32_segments(void);

/* Opens a file of that folder by its name, for CreateFileW's access, disposition and flags, shared with everybody; no symbolic link is
 * followed. Returns 0 or an errno. */
int sb__win32_segment_file(const char *name, DWORD access, DWORD how, DWORD flags, HANDLE *out);

/* The errno of a Windows error. */
int sb__win32_errno(DWORD error);

/* UTF-8 as UTF-16, which free() frees. NULL: it is no UTF-8, or there is no memory. */
wchar_t *sb__win32_wide(const char *text);

/* What tells a word from all others, whichever of its file's mappings it is seen through: file 0 where it is of none, and `at` is its
 * address. */
typedef struct sb__word {
  uint64_t file, volume, at;
} sb__word;
sb__word sb__win32_word(const void *word);

/* A mapping of a file has gone. If its name was taken away meanwhile, it is removed now, unless somebody else has it mapped. */
void sb__win32_unmapped(const sb__word *file);

/* The address of a function of the program that loaded us, whatever it is called; NULL: it exports none of that name. */
static inline void *sb__win32_host(const char *name) {
  FARPROC found = GetProcAddress(GetModuleHandleW(NULL), name);
  const HMODULE library = found ? NULL : GetModuleHandleW(L"libnode.dll"); /* Node as a library */
  if (library) found = GetProcAddress(library, name);
  return (void *)found;
}

#endif
