/* Named segments: files that Windows keeps in memory as long as it can, in a folder of the user's, which its ACL keeps to the user. They
 * outlive restarts, until somebody sweeps. The record beside each is a file, whose text says whose it is (records.h).
 *
 * Windows removes no file that is mapped. Its name can be taken away: the file gets the name of a draft, which is removed as soon as nobody
 * has it mapped, by whoever closes it last or sweeps. */
#include "platform/win32.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/records.h"

#define SEALED SB_SEGMENT_MARK "sealed-"
#define NEW SB_SEGMENT_MARK "draft-of-"
#define TAKES (DELETE | FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES)

enum {
  FOLDER_ROOM = 1024,
  PATH_ROOM = FOLDER_ROOM + 320,
  LONGEST = 32768,
  TRIES = 200,
  SHARED_BY_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE
};

/* Without what Windows would resolve in a path, as it resolves nothing in one that may be long. "": there is no folder. */
static void find_folder(char out[FOLDER_ROOM]) {
  char given[FOLDER_ROOM];
  wchar_t full[FOLDER_ROOM];
  const char *place = sb__os_environment("LOCALAPPDATA");
  if (!place || !*place) place = sb__os_environment("TEMP");
  if (!place || !*place || place[1] != ':' || !place[2] || !strchr("\\/", place[2]) ||
      strlen(place) >= FOLDER_ROOM / 2)
    return;
  snprintf(given, sizeof given, "%s\\samebytes", place);
  wchar_t *wide = sb__win32_wide(given);
  const DWORD n = wide ? GetFullPathNameW(wide, FOLDER_ROOM, full, NULL) : 0;
  if (!n || n >= FOLDER_ROOM ||
      !WideCharToMultiByte(CP_UTF8, 0, full, -1, out, FOLDER_ROOM, NULL, NULL))
    *out = 0;
  free(wide);
}

const char *sb__win32_segments(void) {
  static char folder[FOLDER_ROOM];
  static bool is_known;
  static sb__lock lock;
  sb__lock_take(&lock);
  if (!is_known) find_folder(folder);
  is_known = true;
  sb__lock_drop(&lock);
  return *folder ? folder : NULL;
}

/* The path of a name, which may be long; NULL: there is no folder, or no memory. "": the folder's own. */
static wchar_t *path_of(const char *name) {
  char path[PATH_ROOM];
  const char *folder = sb__win32_segments();
  if (!folder) return NULL;
  snprintf(path, sizeof path, "\\\\?\\%s%s%s", folder, *name ? "\\" : "", name);
  return sb__win32_wide(path);
}

int sb__win32_segment_file(const char *name, DWORD access, DWORD how, DWORD flags, HANDLE *out) {
  wchar_t *path = path_of(name), *folder = how == OPEN_EXISTING ? NULL : path_of("");
  if (folder) (void)CreateDirectoryW(folder, NULL); /* it may be there */
  free(folder);
  if (!path) return ENOSYS;
  *out = CreateFileW(path, access, SHARED_BY_ALL, NULL, how, flags | FILE_FLAG_OPEN_REPARSE_POINT,
                     NULL);
  const int error = *out == INVALID_HANDLE_VALUE ? sb__win32_errno(GetLastError()) : 0;
  free(path);
  return error;
}

static uint64_t inode_of(const BY_HANDLE_FILE_INFORMATION *about) {
  return (uint64_t)about->nFileIndexHigh << 32 | about->nFileIndexLow;
}

bool sb__os_file_inode(int file, uint64_t *inode) {
  BY_HANDLE_FILE_INFORMATION about;
  if (!GetFileInformationByHandle(sb__win32_handle(file), &about)) return false;
  *inode = inode_of(&about);
  return true;
}

/* nbytes: -1 where it is no regular file */
static bool look_at(const char *name, uint64_t *inode, int64_t *nbytes) {
  const DWORD others = FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT;
  BY_HANDLE_FILE_INFORMATION about;
  HANDLE file = NULL;
  if (sb__win32_segment_file(name, FILE_READ_ATTRIBUTES, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS,
                             &file))
    return false;
  const bool is_there = GetFileInformationByHandle(file, &about);
  CloseHandle(file);
  if (!is_there) return false;
  *inode = inode_of(&about);
  *nbytes = about.dwFileAttributes & others
                ? -1
                : (int64_t)((uint64_t)about.nFileSizeHigh << 32 | about.nFileSizeLow);
  return true;
}

bool sb__os_segment_inode(const char *name, uint64_t *inode) {
  int64_t nbytes = 0;
  return look_at(name, inode, &nbytes);
}

const char *sb__os_segment_name_fault(const char *name) {
  static const char *const devices[] = {"con", "prn", "aux", "nul", "conin$", "conout$"};
  const size_t n = strlen(name), stem = strcspn(name, ".");
  for (const char *c = name; *c; c++) {
    if ((unsigned char)*c < ' ' || strchr("<>:\"|?*\\", *c))
      return "Windows has no files whose names have one of < > : \" | ? * \\, or a control "
             "character";
  }
  if (n && (name[n - 1] == '.' || name[n - 1] == ' '))
    return "Windows has no files whose names end with a period or a space";
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    if (stem == strlen(devices[i]) && !_strnicmp(name, devices[i], stem))
      return "it is a device of Windows";
  }
  if (!_strnicmp(name, "com", 3) || !_strnicmp(name, "lpt", 3)) {
    const char *const number = name + 3; /* a superscript counts as well */
    if ((stem == 4 && *number > '0' && *number <= '9') ||
        (stem == 5 && (!strncmp(number, "\u00b9", 2) || !strncmp(number, "\u00b2", 2) ||
                       !strncmp(number, "\u00b3", 2))))
      return "it is a device of Windows";
  }
  return NULL;
}

/* ---- Names of open files ---- */

/* Gives an open file another name. replaces: a file of that name, which nobody may have open. Returns 0 or the system's error number. */
static int rename_open(HANDLE file, const char *name, bool replaces) {
  wchar_t *path = path_of(name);
  const size_t length = path ? wcslen(path) * sizeof *path : 0;
  FILE_RENAME_INFO *info = path ? calloc(1, sizeof *info + length) : NULL;
  int error = ENOMEM;
  if (info) {
    info->ReplaceIfExists = replaces;
    info->FileNameLength = (DWORD)length;
    memcpy(info->FileName, path, length);
    error = SetFileInformationByHandle(file, FileRenameInfo, info, (DWORD)(sizeof *info + length))
                ? 0
                : sb__win32_errno(GetLastError());
  }
  free(info);
  free(path);
  return error;
}

/* Removes an open file once all have closed it, also one that may not be written to. False: somebody has it mapped. */
static bool remove_open(HANDLE file) {
  FILE_DISPOSITION_INFO gone = {.DeleteFile = TRUE};
  FILE_BASIC_INFO plain = {.FileAttributes =
                               FILE_ATTRIBUTE_NORMAL}; /* times of 0 stay as they are */
  return SetFileInformationByHandle(file, FileDispositionInfo, &gone, sizeof gone) ||
         (GetLastError() == ERROR_ACCESS_DENIED &&
          SetFileInformationByHandle(file, FileBasicInfo, &plain, sizeof plain) &&
          SetFileInformationByHandle(file, FileDispositionInfo, &gone, sizeof gone));
}

static void remove_name(const char *name) {
  wchar_t *path = path_of(name);
  if (path) (void)DeleteFileW(path);
  free(path);
}

/* ---- Records ---- */

/* Writes a record, in the place of what was recorded, also of an earlier file with this inode. Others who read that one are in the way
 * for a moment. Returns 0 or the system's error number. */
static int record_owner(uint64_t inode, const sb__process *owner, const char *name, bool persists) {
  char tag[SB__DRAFT_ROOM], draft[SB__DRAFT_ROOM], text[SB__OWNER_ROOM];
  HANDLE file = NULL;
  DWORD n = 0;
  sb__owner_name(inode, tag);
  sb__owner_draft_name(inode, draft);
  sb__owner_write(owner, persists, name, text);
  int error = sb__win32_segment_file(draft, GENERIC_WRITE | DELETE, CREATE_ALWAYS,
                                     FILE_ATTRIBUTE_TEMPORARY, &file);
  if (error) return error;
  if (!WriteFile(file, text, (DWORD)strlen(text), &n, NULL))
    error = sb__win32_errno(GetLastError());
  if (!error) error = rename_open(file, tag, true);
  for (int i = 0; i < TRIES && (error == EACCES || error == EBUSY); i++) {
    Sleep(1);
    error = rename_open(file, tag, true);
  }
  if (error) (void)remove_open(file);
  CloseHandle(file);
  return error;
}

bool sb__os_segment_record(uint64_t inode, sb__segment_record *out) {
  char tag[SB__DRAFT_ROOM], text[SB__OWNER_ROOM];
  HANDLE file = NULL;
  DWORD n = 0;
  uint64_t there = 0;
  int64_t nbytes = 0;
  sb__owner_name(inode, tag);
  if (sb__win32_segment_file(tag, GENERIC_READ, OPEN_EXISTING, 0, &file)) return false;
  const bool is_read = ReadFile(file, text, sizeof text - 1, &n, NULL);
  CloseHandle(file);
  text[n] = 0;
  *out = (sb__segment_record){.inode = inode, .nbytes = -1, .is_ours = true};
  if (!is_read || !sb__owner_read(text, out)) return false;
  if (look_at(out->name, &there, &nbytes) && there == inode) out->nbytes = nbytes;
  return true;
}

/* Calls see for each name of ours in the folder. Returns 0 or the system's error number. */
static int each_name(void (*see)(void *context, const char *name), void *context) {
  wchar_t *pattern = path_of(SB_SEGMENT_MARK "*");
  WIN32_FIND_DATAW found;
  char name[SB__DRAFT_ROOM];
  if (!pattern) return ENOSYS;
  const HANDLE search = FindFirstFileW(pattern, &found);
  const DWORD error = search == INVALID_HANDLE_VALUE ? GetLastError() : ERROR_SUCCESS;
  free(pattern);
  if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) return 0;
  if (error) return sb__win32_errno(error);
  do {
    if (WideCharToMultiByte(CP_UTF8, 0, found.cFileName, -1, name, sizeof name, NULL, NULL) > 0)
      see(context, name);
  } while (FindNextFileW(search, &found));
  (void)FindClose(search);
  return 0;
}

typedef struct visit {
  void (*see)(void *context, const sb__segment_record *record);
  void *context;
} visit;

static void see_record(void *context, const char *name) {
  const visit *v = context;
  const uint64_t inode = sb__owner_inode(name);
  sb__segment_record record;
  if (inode && sb__os_segment_record(inode, &record)) v->see(v->context, &record);
}

int sb__os_segment_records(void (*see)(void *context, const sb__segment_record *record),
                           void *context) {
  visit v = {see, context};
  return each_name(see_record, &v);
}

/* Whoever has one of these has it open, which is in the way of who shares it with nobody. */
static void remove_lost(void *context, const char *name) {
  (void)context;
  if (strncmp(name, SEALED, sizeof SEALED - 1) != 0 && strncmp(name, NEW, sizeof NEW - 1) != 0)
    return;
  wchar_t *path = path_of(name);
  const HANDLE file =
      path ? CreateFileW(path, DELETE, 0, NULL, OPEN_EXISTING,
                         FILE_FLAG_DELETE_ON_CLOSE | FILE_FLAG_OPEN_REPARSE_POINT, NULL)
           : INVALID_HANDLE_VALUE;
  if (file != INVALID_HANDLE_VALUE) CloseHandle(file);
  free(path);
}

void sb__os_segment_remove_lost(void) { (void)each_name(remove_lost, NULL); }

bool sb__os_segment_take_over(const sb__segment_record *record) {
  const sb__process self = sb__os_process();
  return !record_owner(record->inode, &self, record->name, record->persists);
}

/* ---- Taking names away ---- */

/* Removes an open file that has its draft's name. Where somebody has it mapped, its record says so to those who sweep. */
static void remove_draft(HANDLE file, uint64_t inode) {
  char name[SB__DRAFT_ROOM];
  sb__segment_record record;
  if (remove_open(file)) {
    sb__owner_name(inode, name);
    remove_name(name);
    return;
  }
  const sb__process self = sb__os_process();
  const bool had_owner = sb__os_segment_record(inode, &record); /* who may have ended */
  sb__draft_name(inode, name);
  (void)record_owner(inode, had_owner ? &record.owner : &self, name, false);
}

/* Takes the name of an open file. Returns 0 or the system's error number. */
static int take_name(HANDLE file, uint64_t inode) {
  char draft[SB__DRAFT_ROOM];
  sb__draft_name(inode, draft);
  const int error = rename_open(file, draft, false);
  if (!error) remove_draft(file, inode);
  return error;
}

/* Opens what has a name to take it away. */
static int open_to_take(const char *name, HANDLE *file, uint64_t *inode) {
  BY_HANDLE_FILE_INFORMATION about;
  const int error = sb__win32_segment_file(name, TAKES, OPEN_EXISTING, 0, file);
  if (error) return error;
  if (GetFileInformationByHandle(*file, &about)) {
    *inode = inode_of(&about);
    return 0;
  }
  CloseHandle(*file);
  return EIO;
}

int sb__os_segment_unlink(const char *name) {
  HANDLE file = NULL;
  uint64_t inode = 0;
  int error = open_to_take(name, &file, &inode);
  if (error) return error;
  error = take_name(file, inode);
  CloseHandle(file);
  return error;
}

bool sb__os_segment_remove(const char *name, uint64_t inode) {
  char draft[SB__DRAFT_ROOM];
  HANDLE file = NULL;
  uint64_t there = 0;
  sb__draft_name(inode, draft);
  if (!strcmp(name, draft)) { /* a draft that could not be removed before */
    sb__os_segment_forget(inode);
    return !sb__os_segment_inode(name, &there) || there != inode;
  }
  if (open_to_take(name, &file, &there)) return false;
  const bool is_taken = there == inode && !take_name(file, inode);
  CloseHandle(file);
  return is_taken;
}

void sb__os_segment_forget(uint64_t inode) {
  char name[SB__DRAFT_ROOM];
  HANDLE file = NULL;
  uint64_t there = 0;
  sb__owner_draft_name(inode, name);
  remove_name(name);
  sb__draft_name(inode, name);
  if (!open_to_take(name, &file, &there)) {
    remove_draft(file, inode);
    CloseHandle(file);
    return;
  }
  sb__owner_name(inode, name);
  remove_name(name);
}

void sb__win32_unmapped(const sb__word *file) {
  char name[SB__DRAFT_ROOM];
  BY_HANDLE_FILE_INFORMATION there;
  HANDLE draft = NULL;
  sb__draft_name(file->file, name);
  if (sb__win32_segment_file(name, TAKES, OPEN_EXISTING, 0, &draft)) return;
  if (GetFileInformationByHandle(draft, &there) && inode_of(&there) == file->file &&
      there.dwVolumeSerialNumber == file->volume)
    remove_draft(draft, file->file);
  CloseHandle(draft);
}

/* ---- Making ---- */

/* A file has a name at once: that of a draft, which is recorded as the segment's, so that sweeping finds it where this process is killed
 * before the segment gets its own. A sealed one is removed with its last user, however that ends; nobody shortens it while its maker has
 * it mapped. */
int sb__os_segment_new(bool sealed, uint32_t mode, int64_t nbytes, int *error) {
  const sb__process self = sb__os_process();
  const DWORD flags =
      sealed ? FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE : FILE_ATTRIBUTE_TEMPORARY;
  char name[SB__DRAFT_ROOM];
  BY_HANDLE_FILE_INFORMATION about;
  HANDLE handle = NULL;
  (void)mode; /* the folder's ACL says who may use its files */
  snprintf(name, sizeof name, "%s%llx", sealed ? SEALED : NEW, (unsigned long long)sb__os_unique());
  *error = sb__win32_segment_file(name, GENERIC_READ | GENERIC_WRITE | DELETE, CREATE_NEW, flags,
                                  &handle);
  if (*error) return -1;
  const int file = sb__win32_descriptor(handle, error); /* which has the handle */
  if (file < 0) {
    CloseHandle(handle);
    if (!sealed) remove_name(name);
    return -1;
  }
  if (!GetFileInformationByHandle(handle, &about)) *error = sb__win32_errno(GetLastError());
  const uint64_t inode = *error ? 0 : inode_of(&about);
  if (!*error && !sealed) {
    sb__draft_name(inode, name);
    *error = rename_open(handle, name, false);
    if (!*error) *error = record_owner(inode, &self, name, false);
  }
  if (!*error) *error = sb__os_reserve(file, nbytes);
  if (!*error) return file;
  if (!sealed) {
    (void)remove_open(handle);
    sb__os_segment_forget(inode);
  }
  sb__os_close(file);
  return -1;
}

void sb__os_segment_abandon(int file) {
  char draft[SB__DRAFT_ROOM];
  uint64_t inode = 0, there = 0;
  if (!sb__os_file_inode(file, &inode)) return;
  sb__draft_name(inode, draft);
  if (sb__os_segment_inode(draft, &there) && there == inode) sb__os_segment_forget(inode);
}

int sb__os_segment_publish(int file, const char *name, bool persists, bool replace) {
  const sb__process self = sb__os_process();
  const HANDLE handle = sb__win32_handle(file);
  uint64_t inode = 0;
  if (!sb__os_file_inode(file, &inode)) return EBADF;
  int error = record_owner(inode, &self, name, persists);
  if (!error) error = rename_open(handle, name, false);
  for (int i = 0; i < TRIES && replace && error == EEXIST; i++) {
    error = sb__os_segment_unlink(name);
    if (!error || error == ENOENT) error = rename_open(handle, name, false);
  }
  if (error) sb__os_segment_forget(inode);
  return error;
}

int sb__os_segment_open(const char *name, bool writes, int *file) {
  FILE_ATTRIBUTE_TAG_INFO tag;
  HANDLE handle = NULL;
  *file = -1;
  int error = sb__win32_segment_file(name, writes ? GENERIC_READ | GENERIC_WRITE : GENERIC_READ,
                                     OPEN_EXISTING, 0, &handle);
  if (error) return error;
  const bool is_link =
      GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &tag, sizeof tag) &&
      tag.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT;
  *file = is_link ? -1 : sb__win32_descriptor(handle, &error);
  if (*file < 0) CloseHandle(handle);
  return is_link ? ELOOP : error;
}

int sb__os_link(int file, const char *path) {
  (void)file, (void)path;
  return ENOSYS;
}

/* ---- Paths ---- */

bool sb__os_file_path(int file, char *path, size_t capacity) {
  wchar_t *wide = malloc(LONGEST * sizeof *wide);
  const HANDLE handle = sb__win32_handle(file);
  const DWORD n = wide ? GetFinalPathNameByHandleW(handle, wide, LONGEST, FILE_NAME_NORMALIZED) : 0;
  const bool is_long = n > 6 && n < LONGEST && !wcsncmp(wide, L"\\\\?\\", 4) && wide[5] == L':';
  const bool is_known = n > 0 && n < LONGEST &&
                        WideCharToMultiByte(CP_UTF8, 0, is_long ? wide + 4 : wide, -1, path,
                                            (int)capacity, NULL, NULL) > 0;
  free(wide);
  return is_known;
}

bool sb__os_is_sealed(int file) {
  char path[FOLDER_ROOM + 320];
  const char *name = sb__os_file_path(file, path, sizeof path) ? strrchr(path, '\\') : NULL;
  return name && !strncmp(name + 1, SEALED, sizeof SEALED - 1);
}
