/* Owners of named segments, and what is left when they have ended. */
#ifndef __wasm__
# include "ipc/owners.h"

# include <errno.h>
# include <string.h>

# include "ipc/ring.h"

# define MARK SB_SEGMENT_MARK
# define CONTROL SB_RING_CONTROL
# define MOST_SLOTS (UINT64_C(1) << 52) /* as many bytes as there can be */

enum { NAME_ROOM = 256, NPY_LENGTH = 8 /* where a .npy has the length of its header */ };

int sb__segment_publish(int file, const char *name, uint32_t flags, sb__file_lock lock) {
  (void)sb__os_lock_file(file, lock); /* without one the record is all there is */
  return sb__os_segment_publish(file, name, flags & SB_SEGMENT_PERSIST, flags & SB_SEGMENT_REPLACE);
}

static bool has_name(int file, const char *name, uint64_t *inode) {
  uint64_t there = 0;
  return sb__os_file_inode(file, inode) && sb__os_segment_inode(name, &there) && there == *inode;
}

sb_status sb__segment_own(int file, const char *name, bool takes_over, int64_t *before) {
  uint64_t inode = 0;
  sb__segment_record record;
  *before = 0;
  if (sb__os_lock_file(file, SB__LOCKED_SHARED) == EAGAIN || !has_name(file, name, &inode))
    return sb__fail(SB_ERR_NOT_FOUND, "the segment \"%s\" is being made or removed", name);
  if (takes_over && sb__os_segment_record(inode, &record) && record.is_ours &&
      sb__os_has_ended(&record.owner) && sb__os_segment_take_over(&record))
    *before = record.owner.id;
  return SB_OK;
}

void sb__segment_forget(int file, const char *name) {
  uint64_t inode = 0;
  if (!has_name(file, name, &inode) && inode) sb__os_segment_forget(inode);
}

/* Opens the file that a record is of, if it still has the name. */
static bool open_recorded(const sb__segment_record *record, bool writes, int *file) {
  uint64_t inode = 0;
  if (sb__os_segment_open(record->name, writes, file)) return false;
  if (sb__os_file_inode(*file, &inode) && inode == record->inode) return true;
  sb__os_close(*file);
  return false;
}

/* ---- Rings ---- */

/* Reads words that others may cut off meanwhile: those are 0. */
static void read_words(int file, int64_t at, uint64_t *words, size_t count) {
  size_t n = 0;
  int64_t total = 0;
  memset(words, 0, count * sizeof *words);
  (void)sb__os_read_at(file, at, words, count * sizeof *words, &n, &total);
}

static bool is_alive(uint64_t owner, uint64_t space) {
  const sb__process process = {(int64_t)(owner >> 32), (uint32_t)owner, space};
  return owner && !sb__os_has_ended(&process);
}

/* Reads control words, which are not mapped.
 *
 *   in_use  a living process writes the ring, or has a place of it
 *
 * False: these are none. */
static bool read_ring(const char *control, bool *in_use) {
  uint64_t words[SBR_FIRST], place[SBR_PLACE];
  uint8_t length[2] = {0, 0};
  size_t n = 0;
  int64_t total = 0;
  int file = -1;
  if (sb__os_segment_open(control, false, &file)) return false;
  (void)sb__os_read_at(file, NPY_LENGTH, length, sizeof length, &n, &total);
  const int64_t begin = NPY_LENGTH + 2 + length[0] + 256 * length[1];
  read_words(file, begin, words, SBR_FIRST);
  const bool is_ring = words[0] == SBR_MAGIC;
  *in_use = is_ring && is_alive(words[SBR_WRITER], words[SBR_NAMESPACE]);
  const bool has_places = is_ring && words[SBR_SLOTS] < MOST_SLOTS;
  for (uint64_t i = 0; has_places && !*in_use && i < words[SBR_READERS] && i < SBR_MOST_READERS;
       i++) {
    read_words(file, begin + 8 * sbr_words((int64_t)words[SBR_SLOTS], (int64_t)i), place,
               SBR_PLACE);
    *in_use = is_alive(place[0], place[1]);
  }
  sb__os_close(file);
  return is_ring;
}

/* The name of a ring's control words, which the name itself may be. */
static const char *control_of(const char *name, char out[NAME_ROOM + sizeof CONTROL]) {
  const size_t n = strlen(name), end = sizeof CONTROL - 1;
  if (n >= end && !strcmp(name + n - end, CONTROL)) return name;
  sb__print(out, NAME_ROOM + sizeof CONTROL, "%s" CONTROL, name);
  return out;
}

static bool is_ring_in_use(const char *name) {
  char control[NAME_ROOM + sizeof CONTROL];
  bool in_use = false;
  return read_ring(control_of(name, control), &in_use) && in_use;
}

bool sb__segment_is_ring(const char *name) {
  char control[NAME_ROOM + sizeof CONTROL];
  bool in_use = false;
  sb__print(control, sizeof control, "%s" CONTROL, name);
  return read_ring(control, &in_use);
}

void sb__ring_remove_half(const char *name, const char *control_name) {
  uint64_t frames = 0, control = 0;
  int file = -1;
  if (sb__os_segment_inode(name, &frames) || sb__os_segment_open(control_name, true, &file)) return;
  if (!sb__os_lock_file(file, SB__LOCKED_SHARED) && !sb__os_segment_inode(name, &frames) &&
      sb__os_file_inode(file, &control))
    (void)sb__os_segment_remove(control_name, control);
  sb__os_close(file);
}

/* ---- Listing and sweeping ---- */

typedef struct visit {
  sb__segment_seen see;
  void *context;
  const char *only;
} visit;

static bool is_segment(const sb__segment_record *record) {
  return record->nbytes >= 0 && strncmp(record->name, MARK, sizeof MARK - 1) != 0;
}

/* Has an owner it open or mapped, or is it part of a ring that somebody writes or reads? */
static bool is_held(const sb__segment_record *record) {
  int file = -1;
  if (open_recorded(record, false, &file)) {
    const int error = sb__os_lock_file(file, SB__LOCK_ASKED);
    sb__os_close(file);
    if (error == EAGAIN) return true;
  }
  return is_ring_in_use(record->name);
}

static void list_record(void *context, const sb__segment_record *record) {
  const visit *v = context;
  if (is_segment(record))
    v->see(v->context, record, !sb__os_has_ended(&record->owner) || is_held(record));
}

int sb__segment_list(sb__segment_seen see, void *context) {
  visit v = {see, context, NULL};
  return sb__os_segment_records(list_record, &v);
}

/* Removes a name unless somebody has the segment. Nobody can become its owner meanwhile. False: it is held. */
static bool remove_unheld(const sb__segment_record *record, bool *is_removed) {
  int file = -1;
  if (is_ring_in_use(record->name)) return false;
  const bool is_open = open_recorded(record, true, &file);
  const bool is_free = !is_open || sb__os_lock_file(file, SB__LOCKED_EXCLUSIVE) != EAGAIN;
  if (is_free) *is_removed = sb__os_segment_remove(record->name, record->inode);
  if (is_open) sb__os_close(file);
  return is_free;
}

static void sweep_record(void *context, const sb__segment_record *record) {
  const visit *v = context;
  const bool is_there = record->nbytes >= 0;
  bool is_removed = false;
  uint64_t there = 0;
  if (!record->is_ours || (record->persists && is_there) || !sb__os_has_ended(&record->owner) ||
      (v->only && strcmp(v->only, record->name) != 0) ||
      (is_there && !remove_unheld(record, &is_removed)))
    return;
  if (!is_removed && sb__os_segment_inode(record->name, &there) && there == record->inode) return;
  if (is_removed && is_segment(record)) v->see(v->context, record, false);
  sb__os_segment_forget(record->inode);
}

int sb__segment_sweep(const char *only, sb__segment_seen see, void *context) {
  visit v = {see, context, only};
  if (!only) sb__os_segment_remove_lost();
  return sb__os_segment_records(sweep_record, &v);
}
#else
typedef int sb__no_owners;
#endif
