/* Libraries loaded at run time, functions of the host, the environment's folder. */
#include "platform/win32.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A bare name is looked for in the system's folder alone: elsewhere anybody may have put a library of that name. */
void *sb__os_library(const char *name, char *why, size_t capacity) {
  const bool is_path = (name[0] && name[1] == ':') || (name[0] == '\\' && name[1] == '\\');
  wchar_t *wide = sb__win32_wide(name);
  void *library = NULL;
  if (wide && (is_path || !strpbrk(name, "/\\")))
    library = LoadLibraryExW(
        wide, NULL, is_path ? LOAD_WITH_ALTERED_SEARCH_PATH : LOAD_LIBRARY_SEARCH_SYSTEM32);
  if (library)
    snprintf(why, capacity, "%s", "");
  else
    snprintf(why, capacity, "%s could not be loaded, error %lu", name,
             (unsigned long)GetLastError());
  free(wide);
  return library;
}

void *sb__os_symbol(void *library, const char *name) {
  return (void *)GetProcAddress(library, name);
}

void *sb__os_host_symbol(const char *name) { return sb__win32_host(name); }

bool sb__os_folder_of(const void *address, char *folder, size_t capacity) {
  enum { LONGEST = 32768 }; /* of Windows' paths */
  HMODULE module = NULL;
  if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                              GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                          address, &module))
    return false;
  wchar_t *path = malloc(LONGEST * sizeof *path);
  const DWORD n = path ? GetModuleFileNameW(module, path, LONGEST) : 0;
  wchar_t *slash = n > 0 && n < LONGEST ? wcsrchr(path, L'\\') : NULL;
  if (slash) *slash = 0;
  const bool found =
      slash && WideCharToMultiByte(CP_UTF8, 0, path, -1, folder, (int)capacity, NULL, NULL) > 0;
  free(path);
  return found;
}

const void *sb__os_native_path(const char *path) { return sb__win32_wide(path); }

void sb__os_free_native_path(const void *path) { free((void *)(uintptr_t)path); }
