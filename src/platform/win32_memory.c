/* Memory: aligned blocks, mapped files. */
#include "platform/win32.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

/* Windows gives large blocks back to the system at once, and clears their pages when they are wanted again, which takes
 * longer than most of what is computed in them. So a few stay for the next calls. */
enum { BLOCKS = 4, LEAST_KEPT = 32768, MOST_KEPT = 1 << 26, HEADER = 64 };

/* Before each block's bytes: how many there are. */
typedef union header {
  size_t nbytes;
  char room[HEADER];
} header;

static header *kept[BLOCKS];
static size_t kept_bytes;
static sb__lock kept_lock;

/* A kept block of at most twice the size; NULL: there is none. */
static header *take_kept(size_t nbytes) {
  header *found = NULL;
  sb__lock_take(&kept_lock);
  for (int i = 0; i < BLOCKS && !found; i++) {
    if (!kept[i] || kept[i]->nbytes < nbytes || kept[i]->nbytes / 2 > nbytes) continue;
    found = kept[i];
    kept[i] = NULL;
    kept_bytes -= found->nbytes;
  }
  sb__lock_drop(&kept_lock);
  return found;
}

static bool keep(header *block) {
  bool is_kept = false;
  sb__lock_take(&kept_lock);
  for (int i = 0; i < BLOCKS && !is_kept && kept_bytes + block->nbytes <= MOST_KEPT; i++) {
    if (kept[i]) continue;
    kept[i] = block;
    kept_bytes += block->nbytes;
    is_kept = true;
  }
  sb__lock_drop(&kept_lock);
  return is_kept;
}

void *sb__os_alloc_aligned(size_t nbytes, size_t alignment) {
  if (nbytes > PTRDIFF_MAX - HEADER || alignment > HEADER) return NULL;
  header *block = nbytes >= LEAST_KEPT ? take_kept(nbytes) : NULL;
  if (block) return block + 1;
  block = _aligned_malloc(nbytes + HEADER, HEADER);
  if (!block) return NULL;
  block->nbytes = nbytes;
  return block + 1;
}

void sb__os_free_aligned(void *data) {
  header *block = data ? (header *)data - 1 : NULL;
  if (block && (block->nbytes < LEAST_KEPT || !keep(block))) _aligned_free(block);
}

void sb__os_expect_use(void *data, size_t nbytes) { (void)data, (void)nbytes; }

/* ---- Mapped files ---- */

enum { GRAIN = 65536 }; /* views begin at multiples of it, on all versions of Windows */

/* A mapping that writes to its file. It has a handle of the file, which keeps the opening's lock. */
typedef struct mapping {
  HANDLE file;
  uintptr_t base;
  size_t nbytes;
  sb__word first; /* of its bytes */
  struct mapping *next;
} mapping;

static mapping *mappings;
static sb__lock mappings_lock;

/* False: there is no memory, or the file says nothing of itself; error is set. */
static bool note_mapping(HANDLE file, void *base, size_t nbytes, int64_t offset, int *error) {
  const HANDLE self = GetCurrentProcess();
  BY_HANDLE_FILE_INFORMATION about;
  mapping *m = malloc(sizeof *m);
  if (!m || !GetFileInformationByHandle(file, &about) ||
      !DuplicateHandle(self, file, self, &m->file, 0, FALSE, DUPLICATE_SAME_ACCESS)) {
    *error = m ? sb__win32_errno(GetLastError()) : ENOMEM;
    free(m);
    return false;
  }
  m->base = (uintptr_t)base;
  m->nbytes = nbytes;
  m->first = (sb__word){(uint64_t)about.nFileIndexHigh << 32 | about.nFileIndexLow,
                        about.dwVolumeSerialNumber, (uint64_t)offset};
  sb__lock_take(&mappings_lock);
  m->next = mappings;
  mappings = m;
  sb__lock_drop(&mappings_lock);
  return true;
}

/* NULL: it does not write to its file. The result is the caller's. */
static mapping *forget_mapping(void *base) {
  sb__lock_take(&mappings_lock);
  mapping **at = &mappings;
  while (*at && (*at)->base != (uintptr_t)base) at = &(*at)->next;
  mapping *found = *at;
  if (found) *at = found->next;
  sb__lock_drop(&mappings_lock);
  return found;
}

sb__word sb__win32_word(const void *word) {
  const uintptr_t address = (uintptr_t)word;
  sb__word found = {0, 0, address};
  sb__lock_take(&mappings_lock);
  for (const mapping *m = mappings; m; m = m->next) {
    if (address < m->base || address - m->base >= m->nbytes) continue;
    found = m->first;
    found.at += address - m->base;
    break;
  }
  sb__lock_drop(&mappings_lock);
  return found;
}

void *sb__os_map(int file, int64_t offset, size_t nbytes, bool shared, int *error) {
  const int64_t before = offset % GRAIN, from = offset - before;
  const HANDLE section = CreateFileMappingW(sb__win32_handle(file), NULL,
                                            shared ? PAGE_READWRITE : PAGE_WRITECOPY, 0, 0, NULL);
  void *data = NULL;
  if (section)
    data = MapViewOfFile(section, shared ? FILE_MAP_READ | FILE_MAP_WRITE : FILE_MAP_COPY,
                         (DWORD)(from >> 32), (DWORD)from, nbytes + (size_t)before);
  if (!data) *error = sb__win32_errno(GetLastError());
  if (section) CloseHandle(section); /* the view keeps it */
  if (data && shared &&
      !note_mapping(sb__win32_handle(file), data, nbytes + (size_t)before, from, error)) {
    (void)UnmapViewOfFile(data);
    data = NULL;
  }
  return data ? (char *)data + before : NULL;
}

void sb__os_unmap(void *data, size_t nbytes) {
  (void)nbytes;
  void *base = (void *)((uintptr_t)data / GRAIN * GRAIN);
  mapping *m = forget_mapping(base);
  /* Where bytes were lost, private zeros are there (win32_guard.c). */
  if (!UnmapViewOfFile(base)) (void)VirtualFree(base, 0, MEM_RELEASE);
  if (m) {
    CloseHandle(m->file);
    sb__win32_unmapped(&m->first);
  }
  free(m);
}

size_t sb__os_mapped_size(int file, size_t nbytes) {
  (void)file;
  return nbytes;
}
