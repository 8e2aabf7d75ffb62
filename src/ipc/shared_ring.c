/* Rings for programs without JavaScript: the public functions over ring.h, for two segments or for words that the caller has
 * mapped. js/sharing/shared-ring.js is the same for Node. */
#ifndef __wasm__
# include <string.h>

# include "ipc/futex.h"
# include "ipc/owners.h"
# include "ipc/ring.h"
# include "ipc/segment.h"

enum { NAME_BYTES = 247, TRIES = 100 };

# define CONTROL SB_RING_CONTROL
# define MOST_SLOTS (INT64_C(1) << 51) /* their words can be counted */
# define NO_RING "this is no ring: its words do not fit its frames"
# define LOOK_AGAIN 100000000 /* nanoseconds between looks whether a reader has ended */

struct sb_ring {
  sb__ring words;   /* holds its storage */
  sb_tensor frames; /* holds its storage; NULL: the caller has the frames */
  sb_storage *role; /* not NULL: the writer's */
  uint64_t mine;    /* the writer's word */
  int64_t next;     /* the writer's next frame */
  int forks;        /* sb__os_forks when the role was got: a child has not got it */
  bool is_begun;
  sb__ring_seat seat; /* the reader's; none: its storage is NULL */
  int seat_forks;
};

/* ---- Words to wait on ---- */

sb_status sb_word_wait(const void *word, uint32_t expected, int64_t timeout, sb_wait_result *out) {
  static const sb_wait_result results[] = {SB_WAIT_WOKEN, SB_WAIT_NOT_EQUAL, SB_WAIT_TIMED_OUT};
  int64_t end = -1;
  int error = 0;
  if (!word || (uintptr_t)word % sizeof expected != 0)
    return sb__fail(SB_ERR_ALIGNMENT, "a word's address is a multiple of 4");
  if (timeout >= 0 && sb__add_overflows(sb__os_now(), timeout, &end)) end = -1;
  const sb__wait_result how = sb__os_futex_wait(word, expected, NULL, end, &error);
  if (how == SB__WAIT_FAILED) return sb__futex_failed(error);
  *out = results[how];
  return SB_OK;
}

sb_status sb_word_wake(void *word, int64_t count, int64_t *woken) {
  if (!word || (uintptr_t)word % sizeof(uint32_t) != 0)
    return sb__fail(SB_ERR_ALIGNMENT, "a word's address is a multiple of 4");
  int64_t n = 0;
  const sb_status status = sb__futex_wake(word, count, &n);
  if (!status && woken) *woken = n;
  return status;
}

/* ---- Making and opening ---- */

/* The name of the control words; NULL: no memory. */
static char *control_name(const char *name) {
  const size_t n = strlen(name);
  char *control = sb__alloc(n + sizeof CONTROL);
  if (!control) {
    (void)sb__fail(SB_ERR_MEMORY, "no memory for a name");
    return NULL;
  }
  memcpy(control, name, n);
  memcpy(control + n, CONTROL, sizeof CONTROL);
  return control;
}

/* Makes the object. Takes the control words over, and the frames where there are any, also on failure. */
static sb_status new_ring(sb_storage *control, int64_t slots, const sb_tensor *frames,
                          sb_ring **out) {
  sb_ring *ring = sb__alloc(sizeof *ring);
  if (!ring) {
    sb_storage *storage = frames ? frames->storage : NULL;
    sb_storage_unref(&storage);
    sb_storage_unref(&control);
    return sb__fail(SB_ERR_MEMORY, "no memory for a ring");
  }
  memset(ring, 0, sizeof *ring);
  ring->words = (sb__ring){.control = control, .slots = slots};
  if (frames) sb_tensor_copy_layout(frames, &ring->frames);
  *out = ring;
  return SB_OK;
}

void sb_ring_close(sb_ring **ring) {
  if (!ring || !*ring) return;
  sb_storage_unref(&(*ring)->role);
  sb_storage_unref(&(*ring)->seat.seat);
  sb_storage_unref(&(*ring)->frames.storage);
  sb_storage_unref(&(*ring)->words.control);
  sb__free(*ring);
  *ring = NULL;
}

static int64_t bytes_of_frame(const sb_tensor *frames) {
  return sb_tensor_nbytes(frames) / frames->shape[0];
}

/* Makes a ring of both segments, which it takes over, also on failure. */
static sb_status finish_ring(sb_tensor *frames, sb_tensor *control, sb_ring **out) {
  sb_ring *ring = NULL;
  const int64_t words = control->ndim == 1 ? control->shape[0] : 0;
  const int64_t slots = frames->ndim > 0 ? frames->shape[0] : 0;
  sb_status status = SB_OK;
  if (slots < 1 || control->dtype != SB_UINT64 || control->ndim != 1) {
    status = sb__fail(SB_ERR_FORMAT, NO_RING);
    sb_storage_unref(&frames->storage);
    sb_storage_unref(&control->storage);
    return status;
  }
  status = new_ring(control->storage, slots, frames, &ring);
  if (!status) status = sb__ring_check(&ring->words, bytes_of_frame(frames));
  if (!status && words != sbr_words(slots, ring->words.readers))
    status = sb__fail(SB_ERR_FORMAT, NO_RING);
  if (!status) status = sb__ring_recover(&ring->words);
  if (status) sb_ring_close(&ring);
  if (!status) *out = ring;
  return status;
}

/* Who can open the frames finds complete control words, which are locked until the frames are there. */
static sb_status create_segments(const char *name, const char *control_name, const sb_tensor *t,
                                 uint32_t mode, uint32_t flags, sb_ring **out) {
  const int64_t readers = flags / SB_RING_READERS(1);
  const int64_t words = sbr_words(t->shape[0], readers);
  sb_tensor control, frames;
  int file = -1;
  flags %= SB_RING_READERS(1);
  if (flags & SB_SEGMENT_REPLACE) {
    const sb_status gone = sb_segment_unlink(name);
    if (gone && gone != SB_ERR_NOT_FOUND) return gone;
  }
  if (!(flags & SB_SEGMENT_REPLACE)) sb__ring_remove_half(name, control_name);
  sb_tensor layout;
  sb_status status = sb_tensor_init(NULL, SB_UINT64, 1, &words, NULL, 0, &layout);
  if (!status)
    status =
        sb__segment_make(control_name, &layout, mode, flags, SB__LOCKED_EXCLUSIVE, &file, &control);
  if (status) return status;
  const sb__ring ring = {control.storage, t->shape[0], readers};
  status = sb__ring_make(&ring, bytes_of_frame(t));
  if (!status) status = sb__segment_make(name, t, mode, flags, SB__LOCKED_SHARED, NULL, &frames);
  if (!status) (void)sb__os_lock_file(file, SB__LOCKED_SHARED);
  sb__os_close(file);
  if (status) {
    sb_storage_unref(&control.storage);
  } else {
    status = finish_ring(&frames, &control, out);
    if (status) (void)sb__os_segment_unlink(name);
  }
  if (status) (void)sb__os_segment_unlink(control_name);
  return status;
}

/* Opens both segments. Fails with SB_ERR_STALE where the frames were replaced meanwhile: the words may be another ring's. */
static sb_status open_segments(const char *name, const char *control_name, const sb_dtype *dtype,
                               bool owns, sb_ring **out) {
  sb_tensor frames, control;
  uint64_t before = 0, after = 1;
  if (!sb__os_segment_inode(name, &before))
    return sb__fail(SB_ERR_NOT_FOUND, "there is no ring \"%s\"", name);
  sb_status status = sb__segment_find(name, dtype, owns, &frames);
  if (status) return status;
  status = sb__segment_find(control_name, NULL, owns, &control);
  const bool is_same = sb__os_segment_inode(name, &after) && before == after;
  if (!status && is_same) return finish_ring(&frames, &control, out);
  if (!status) sb_storage_unref(&control.storage);
  sb_storage_unref(&frames.storage);
  if (is_same) return status;
  return sb__fail(SB_ERR_STALE, "the ring \"%s\" was replaced or removed meanwhile", name);
}

static sb_status find_or_create(const char *name, const char *control_name, const sb_tensor *t,
                                uint32_t mode, uint32_t flags, sb_ring **out) {
  const int64_t readers = flags / SB_RING_READERS(1);
  for (int tries = 1;; tries++) { /* other processes may make and remove it meanwhile */
    sb_ring *ring = NULL;
    sb_status status = open_segments(name, control_name, &t->dtype, true, &ring);
    if (!status) {
      const sb_tensor *frames = &ring->frames;
      if (frames->ndim != t->ndim ||
          memcmp(frames->shape, t->shape, (size_t)t->ndim * sizeof *t->shape) != 0)
        status = sb__fail(SB_ERR_SHAPE, "the ring \"%s\" has other frames", name);
      else if (ring->words.readers != readers)
        status = sb__fail(SB_ERR_ARGUMENT, "the ring \"%s\" has other readers", name);
      if (status) sb_ring_close(&ring);
      if (!status) *out = ring;
      return status;
    }
    if (status != SB_ERR_NOT_FOUND && status != SB_ERR_STALE) return status;
    status = create_segments(name, control_name, t, mode, flags, out);
    if (status != SB_ERR_EXISTS || tries == TRIES) return status;
    sb__os_yield();
  }
}

sb_status sb_ring_create(const char *name, int64_t slots, sb_dtype dtype, int32_t ndim,
                         const int64_t *shape, uint32_t mode, uint32_t flags, sb_ring **out) {
  const char *called = NULL;
  int64_t whole[SB_MAX_DIMS];
  sb_tensor t;
  sb_status status = sb__segment_name(name, NAME_BYTES, &called);
  if (status) return status;
  if (slots < 1 || slots > MOST_SLOTS)
    return sb__fail(SB_ERR_BOUNDS, "slots is %lld; 1 to 2^51 were expected", (long long)slots);
  status = sb__segment_flags(mode, flags % SB_RING_READERS(1));
  if (status) return status;
  if (flags / SB_RING_READERS(1) > SBR_MOST_READERS)
    return sb__fail(SB_ERR_BOUNDS, "a ring has places for %d readers at most", SBR_MOST_READERS);
  if (ndim < 0 || ndim >= SB_MAX_DIMS)
    return sb__fail(SB_ERR_SHAPE, "a frame has 0 to %d axes", SB_MAX_DIMS - 1);
  whole[0] = slots;
  for (int32_t d = 0; d < ndim; d++) whole[d + 1] = shape[d];
  status = sb_tensor_init(NULL, dtype, ndim + 1, whole, NULL, 0, &t);
  if (status) return status;
  char *control = control_name(called);
  if (!control) return SB_ERR_MEMORY;
  status = (flags & SB_SEGMENT_OPEN ? find_or_create : create_segments)(called, control, &t, mode,
                                                                        flags, out);
  sb__free(control);
  return status;
}

sb_status sb_ring_open(const char *name, const sb_dtype *dtype, sb_ring **out) {
  const char *called = NULL;
  sb_status status = sb__segment_name(name, NAME_BYTES, &called);
  if (status) return status;
  char *control = control_name(called);
  if (!control) return SB_ERR_MEMORY;
  for (int tries = 0; tries < TRIES; tries++) {
    status = open_segments(called, control, dtype, false, out);
    if (status != SB_ERR_STALE) break;
  }
  sb__free(control);
  return status;
}

sb_status sb_ring_attach(void *words, size_t nbytes, int64_t slots, int64_t frame_nbytes,
                         sb_ring **out) {
  sb_storage *control = NULL;
  sb_ring *ring = NULL;
  sb_status status = sb_storage_wrap(words, nbytes, NULL, NULL, &control);
  if (!status) status = new_ring(control, slots, NULL, &ring);
  if (!status) status = sb__ring_check(&ring->words, frame_nbytes);
  if (!status) status = sb__ring_recover(&ring->words);
  if (status) sb_ring_close(&ring);
  if (!status) *out = ring;
  return status;
}

sb_status sb_ring_unlink(const char *name) {
  const char *called = NULL;
  sb_status status = sb__segment_name(name, NAME_BYTES, &called);
  if (status) return status;
  char *control = control_name(called);
  if (!control) return SB_ERR_MEMORY;
  const sb_status frames = sb_segment_unlink(called), words = sb_segment_unlink(control);
  sb__free(control);
  return frames == SB_ERR_NOT_FOUND ? words : frames;
}

sb_status sb_ring_frames(const sb_ring *ring, sb_tensor *out) {
  if (!ring->frames.storage)
    return sb__fail(SB_ERR_ARGUMENT, "the frames of an attached ring are the caller's");
  sb_tensor_copy_layout(&ring->frames, out);
  return SB_OK;
}

/* ---- Writing ---- */

/* Makes this process the writer, unless it is. */
static sb_status be_writer(sb_ring *ring) {
  uint64_t count = 0;
  if (ring->role && ring->forks != sb__os_forks()) { /* the parent's */
    sb_storage_unref(&ring->role);
    ring->is_begun = false;
  }
  if (ring->role) return SB_OK;
  const sb_status status = sb__ring_claim(&ring->words, &ring->role, &ring->mine, &count);
  if (status) return status;
  ring->forks = sb__os_forks();
  ring->next = (int64_t)count;
  return SB_OK;
}

static sb_status find_room(sb_ring *ring, sb__ring_room *room) {
  *room = (sb__ring_room){.is_free = true};
  const sb_status status = be_writer(ring);
  if (status || ring->is_begun || !ring->words.readers) return status;
  return sb__ring_find_room(&ring->words, ring->next, room);
}

sb_status sb_ring_room(sb_ring *ring, int64_t timeout, bool *out) {
  int64_t end = -1;
  if (timeout >= 0 && sb__add_overflows(sb__os_now(), timeout, &end)) end = -1;
  for (;;) {
    sb__ring_room room;
    sb_wait_result how = SB_WAIT_WOKEN;
    sb_status status = find_room(ring, &room);
    if (status) return status;
    const int64_t left = end < 0 ? LOOK_AGAIN : end - sb__os_now();
    if (room.is_free || left <= 0) {
      *out = room.is_free;
      return SB_OK;
    }
    const char *words = ring->words.control->data;
    status = sb_word_wait(words + SBR_MOVES * sizeof(uint64_t), room.moves,
                          left < LOOK_AGAIN ? left : LOOK_AGAIN, &how);
    if (status) return status;
  }
}

sb_status sb_ring_begin(sb_ring *ring, int64_t *index) {
  sb__ring_room room;
  sb_status status = find_room(ring, &room);
  if (!status && !room.is_free)
    status = sb__fail(SB_ERR_BUSY, "process %lld still reads what is in the slot, %lld frames back",
                      (long long)room.reader, (long long)room.behind);
  if (!status) status = sb__ring_begin(&ring->words, ring->next, ring->mine);
  if (status) return status;
  ring->is_begun = true;
  *index = ring->next;
  return SB_OK;
}

sb_status sb_ring_commit(sb_ring *ring, uint64_t tag) {
  if (!ring->is_begun || ring->forks != sb__os_forks())
    return sb__fail(SB_ERR_STALE, "no frame was begun");
  const sb_status status = sb__ring_commit(&ring->words, ring->next, tag);
  if (status) return status;
  ring->is_begun = false;
  ring->next++;
  return SB_OK;
}

/* ---- Reading ---- */

sb_status sb_ring_count(const sb_ring *ring, int64_t *out) {
  uint64_t count = 0;
  const sb_status status = sb__ring_word(&ring->words, SBR_COUNT, &count);
  if (status) return status;
  if (count >= UINT64_C(1) << 53)
    return sb__fail(SB_ERR_FORMAT, "byte 64: the count of frames is %llu",
                    (unsigned long long)count);
  *out = (int64_t)count;
  return SB_OK;
}

sb_status sb_ring_has(const sb_ring *ring, int64_t index, bool *out, uint64_t *tag) {
  return sb__ring_has(&ring->words, index, out, tag);
}

sb_status sb_ring_wait(const sb_ring *ring, int64_t count, int64_t timeout, int64_t *out) {
  const char *words = ring->words.control->data;
  sb_wait_result how = SB_WAIT_WOKEN;
  const sb_status status =
      sb_word_wait(words + SBR_COUNT * sizeof(uint64_t), (uint32_t)(uint64_t)count, timeout, &how);
  return status ? status : sb_ring_count(ring, out);
}

/* The first frame may be the oldest one; a reader that is overtaken later skips half the ring. */
static void skip_lost(const sb_ring *ring, int64_t count, sb_ring_reader *reader) {
  const int64_t slots = ring->words.slots;
  if (reader->next >= count - slots) return;
  const int64_t back = !reader->is_started ? slots : slots > 1 ? slots / 2 : 1;
  reader->lost += count - back - reader->next;
  reader->next = count - back;
}

void sb_ring_leave(sb_ring *ring) { sb_storage_unref(&ring->seat.seat); }

/* Takes a place, or says which frames are done with. */
static sb_status be_reader(sb_ring *ring, sb_ring_reader *reader) {
  if (!ring->words.readers) return SB_OK;
  if (ring->seat.seat && ring->seat_forks != sb__os_forks()) sb_ring_leave(ring); /* the parent's */
  if (ring->seat.seat)
    return sb__ring_advance(&ring->words, ring->seat.place, ring->seat.mine, reader->next);
  const sb_status status = sb__ring_join(&ring->words, reader->next, &ring->seat);
  if (status) return status;
  ring->seat_forks = sb__os_forks();
  reader->next = ring->seat.next;
  return SB_OK;
}

sb_status sb_ring_read(sb_ring *ring, sb_ring_reader *reader, int64_t timeout, int64_t *index) {
  int64_t count = 0;
  bool waited = false, has = false;
  const sb_status joined = be_reader(ring, reader);
  if (joined) return joined;
  for (;;) {
    sb_status status = sb_ring_count(ring, &count);
    if (status) return status;
    if (reader->next < 0) reader->next = count > ring->words.slots ? count - ring->words.slots : 0;
    if (reader->next >= count) {
      *index = -1;
      if (waited || timeout == 0) return SB_OK;
      status = sb_ring_wait(ring, count, timeout, &count);
      if (status) return status;
      waited = true; /* a signal may have ended it: the caller may want to know */
      continue;
    }
    skip_lost(ring, count, reader);
    reader->is_started = true;
    status = sb_ring_has(ring, reader->next, &has, &reader->tag);
    if (status) return status;
    const int64_t n = reader->next++;
    if (has) {
      *index = n;
      return SB_OK;
    }
    reader->lost++;
  }
}
#else
typedef int sb__no_shared_ring;
#endif
