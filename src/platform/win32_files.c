/* Files: descriptors of the host, reserving space, locks, reading. */
#include "platform/win32.h"

#include <errno.h>
#include <stdlib.h>

int sb__win32_errno(DWORD error) {
  static const struct {
    DWORD windows;
    int error;
  } errors[] = {
      {ERROR_FILE_NOT_FOUND, ENOENT},
      {ERROR_PATH_NOT_FOUND, ENOENT},
      {ERROR_INVALID_NAME, ENOENT},
      {ERROR_ACCESS_DENIED, EACCES},
      {ERROR_SHARING_VIOLATION, EBUSY},
      {ERROR_LOCK_VIOLATION, EAGAIN},
      {ERROR_IO_PENDING, EAGAIN},
      {ERROR_USER_MAPPED_FILE, EBUSY},
      {ERROR_INVALID_HANDLE, EBADF},
      {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
      {ERROR_OUTOFMEMORY, ENOMEM},
      {ERROR_COMMITMENT_LIMIT, ENOMEM},
      {ERROR_DISK_FULL, ENOSPC},
      {ERROR_HANDLE_DISK_FULL, ENOSPC},
      {ERROR_FILE_EXISTS, EEXIST},
      {ERROR_ALREADY_EXISTS, EEXIST},
      {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
      {ERROR_INVALID_PARAMETER, EINVAL},
      {ERROR_FILE_INVALID, EINVAL},
      {ERROR_NOT_SUPPORTED, ENOSYS},
      {ERROR_CALL_NOT_IMPLEMENTED, ENOSYS},
      {ERROR_WRITE_PROTECT, EROFS},
  };
  for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
    if (errors[i].windows == error) return errors[i].error;
  }
  return EIO;
}

wchar_t *sb__win32_wide(const char *text) {
  const int room = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
  wchar_t *wide = room > 0 ? malloc((size_t)room * sizeof *wide) : NULL;
  if (wide) (void)MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, room);
  return wide;
}

/* ---- Descriptors ---- */

/* Functions of libuv's, which the host exports. */
typedef HANDLE (*get_handle)(int file);
typedef int (*open_handle)(HANDLE handle);
typedef size_t (*request_size)(int type);
typedef int (*close_file)(void *loop, void *request, int file, void (*done)(void *request));
typedef void (*clean_request)(void *request);
enum { UV_FS = 6 }; /* the type of its file requests */

HANDLE sb__win32_handle(int file) {
  const get_handle handle_of = (get_handle)sb__win32_host("uv_get_osfhandle");
  return handle_of ? handle_of(file) : INVALID_HANDLE_VALUE;
}

int sb__win32_descriptor(HANDLE handle, int *error) {
  const open_handle descriptor_of = (open_handle)sb__win32_host("uv_open_osfhandle");
  const int file = descriptor_of ? descriptor_of(handle) : -1;
  if (file < 0) *error = descriptor_of ? EMFILE : ENOSYS;
  return file;
}

int sb__os_duplicate(int file, int *error) {
  const HANDLE self = GetCurrentProcess();
  const HANDLE own = sb__win32_handle(file);
  HANDLE made = NULL;
  if (own == INVALID_HANDLE_VALUE) { /* which would mean this process */
    *error = EBADF;
    return -1;
  }
  if (!DuplicateHandle(self, own, self, &made, 0, FALSE, DUPLICATE_SAME_ACCESS)) {
    *error = sb__win32_errno(GetLastError());
    return -1;
  }
  const int duplicate = sb__win32_descriptor(made, error);
  if (duplicate < 0) CloseHandle(made);
  return duplicate;
}

void sb__os_close(int file) {
  const request_size size_of = (request_size)sb__win32_host("uv_req_size");
  const close_file close_now = (close_file)sb__win32_host("uv_fs_close");
  const clean_request clean = (clean_request)sb__win32_host("uv_fs_req_cleanup");
  void *request = size_of && close_now && clean ? calloc(1, size_of(UV_FS)) : NULL;
  if (!request) return; /* it stays open until the process ends */
  (void)close_now(NULL, request, file, NULL);
  clean(request);
  free(request);
}

/* ---- Lengths and bytes ---- */

int sb__os_reserve(int file, int64_t nbytes) {
  const HANDLE handle = sb__win32_handle(file);
  FILE_ALLOCATION_INFO blocks = {.AllocationSize = {.QuadPart = nbytes}};
  FILE_END_OF_FILE_INFO end = {.EndOfFile = {.QuadPart = nbytes}};
  LARGE_INTEGER size;
  if (!GetFileSizeEx(handle, &size)) return sb__win32_errno(GetLastError());
  if (size.QuadPart >= nbytes) return 0;
  if (!SetFileInformationByHandle(handle, FileAllocationInfo, &blocks, sizeof blocks)) {
    const int error = sb__win32_errno(GetLastError());
    if (error == ENOSPC) return error; /* others: this file system does not reserve */
  }
  return SetFileInformationByHandle(handle, FileEndOfFileInfo, &end, sizeof end)
             ? 0
             : sb__win32_errno(GetLastError());
}

static bool lock_byte(HANDLE handle, bool is_exclusive) {
  /* behind all content, because nobody else can read or write a byte that is locked */
  OVERLAPPED place = {.Offset = UINT32_MAX - 1, .OffsetHigh = INT32_MAX};
  const DWORD how = LOCKFILE_FAIL_IMMEDIATELY | (is_exclusive ? LOCKFILE_EXCLUSIVE_LOCK : 0u);
  return LockFileEx(handle, how, 0, 1, 0, &place);
}

static bool unlock_byte(HANDLE handle) {
  OVERLAPPED place = {.Offset = UINT32_MAX - 1, .OffsetHigh = INT32_MAX};
  return UnlockFileEx(handle, 0, 1, 0, &place);
}

/* An opening's own lock is in the way of its next one: it is given up for the moment. */
int sb__os_lock_file(int file, sb__file_lock how) {
  const HANDLE handle = sb__win32_handle(file);
  const bool was_locked = unlock_byte(handle);
  if (how == SB__UNLOCKED) return 0;
  const bool is_locked = lock_byte(handle, how != SB__LOCKED_SHARED);
  const int error = is_locked ? 0 : sb__win32_errno(GetLastError());
  if (is_locked && how == SB__LOCK_ASKED) (void)unlock_byte(handle);
  if (was_locked && (error || how == SB__LOCK_ASKED)) (void)lock_byte(handle, false);
  return error;
}

/* Reads or writes at a place; *done gets how many bytes. A file that ends is no error. */
static int transfer(HANDLE handle, uint64_t from, void *bytes, size_t nbytes, bool writes,
                    size_t *done) {
  *done = 0;
  while (*done < nbytes) {
    const uint64_t offset = from + *done;
    OVERLAPPED place = {.Offset = (DWORD)offset, .OffsetHigh = (DWORD)(offset >> 32)};
    const DWORD n = nbytes - *done < (1u << 30) ? (DWORD)(nbytes - *done) : 1u << 30;
    char *at = (char *)bytes + *done;
    DWORD moved = 0;
    if (!(writes ? WriteFile(handle, at, n, &moved, &place)
                 : ReadFile(handle, at, n, &moved, &place)))
      return GetLastError() == ERROR_HANDLE_EOF ? 0 : sb__win32_errno(GetLastError());
    if (!moved) return 0;
    *done += moved;
  }
  return 0;
}

int sb__os_read_file(const char *path, void *bytes, size_t capacity, size_t *nbytes) {
  wchar_t *wide = sb__win32_wide(path);
  LARGE_INTEGER size;
  size_t read = 0;
  if (!wide) return ENOENT;
  const HANDLE handle =
      CreateFileW(wide, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                  OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
  int error = handle == INVALID_HANDLE_VALUE ? sb__win32_errno(GetLastError()) : 0;
  free(wide);
  if (error) return error;
  if (!GetFileSizeEx(handle, &size)) error = sb__win32_errno(GetLastError());
  if (!error) *nbytes = (size_t)size.QuadPart;
  if (!error && bytes) {
    error = *nbytes > capacity ? EFBIG : transfer(handle, 0, bytes, *nbytes, false, &read);
    if (!error && read < *nbytes) error = EIO; /* the file was shortened */
  }
  CloseHandle(handle);
  return error;
}

int sb__os_read_at(int file, int64_t at, void *bytes, size_t nbytes, size_t *read, int64_t *total) {
  const HANDLE handle = sb__win32_handle(file);
  LARGE_INTEGER size;
  if (!GetFileSizeEx(handle, &size)) return sb__win32_errno(GetLastError());
  *total = size.QuadPart;
  return transfer(handle, (uint64_t)at, bytes, nbytes, false, read);
}

int sb__os_write_head(int file, const void *bytes, size_t nbytes) {
  size_t done = 0;
  const int error =
      transfer(sb__win32_handle(file), 0, (void *)(uintptr_t)bytes, nbytes, true, &done);
  return !error && done < nbytes ? EIO : error;
}
