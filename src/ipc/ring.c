/* Rings: a sequence lock per slot, and a count of frames. Other processes may write any values: which words are accessed
 * depends only on the caller's own slots and n. */
#ifndef __wasm__
# include "ipc/ring.h"

# include "ipc/futex.h"

# define MOST_FRAMES (INT64_C(1) << 53) /* nobody writes more frames */
# define TRIES 100                      /* while other processes claim the ring */
# define VERSION_SHIFT 56 /* the last character of the text is the protocol's number */

typedef _Atomic uint64_t word;

static bool has_words(const sb_storage *s) {
  return s->kind != SB__STORAGE_BORROWED && !SB__ON_DEVICE(s) &&
         (uintptr_t)s->data % sizeof(word) == 0 && s->nbytes / sizeof(word) >= SBR_FIRST;
}

static sb_status words_of(const sb__ring *ring, int64_t n, word **out) {
  const sb_storage *s = ring->control;
  const bool has_count = ring->readers >= 0 && ring->readers <= SBR_MOST_READERS;
  const uint64_t places = has_count ? SBR_PLACE * (uint64_t)ring->readers : 0;
  if (!has_words(s) || !has_count || ring->slots < 1 || n < 0 || n >= MOST_FRAMES ||
      s->nbytes / sizeof(word) - SBR_FIRST < places ||
      (uint64_t)ring->slots > (s->nbytes / sizeof(word) - SBR_FIRST - places) / SBR_SLOT) {
    return sb__fail(SB_ERR_ARGUMENT, "these are no control words of %lld slots",
                    (long long)ring->slots);
  }
  *out = s->data;
  return SB_OK;
}

/* The state of frame n's slot, and behind it the tag. */
static word *slot_of(const sb__ring *ring, word *words, int64_t n) {
  return &words[SBR_FIRST + SBR_SLOT * (n % ring->slots)];
}

sb_status sb__ring_make(const sb__ring *ring, int64_t frame_bytes) {
  word *words = NULL;
  const sb_status status = words_of(ring, 0, &words);
  if (status) return status;
  const int64_t count = sbr_words(ring->slots, ring->readers);
  for (int64_t i = 0; i < count; i++) atomic_store(&words[i], 0);
  atomic_store(&words[SBR_SLOTS], (uint64_t)ring->slots);
  atomic_store(&words[SBR_BYTES], (uint64_t)frame_bytes);
  atomic_store(&words[SBR_READERS], (uint64_t)ring->readers);
  atomic_store(&words[0], SBR_MAGIC);
  return SB_OK;
}

sb_status sb__ring_check(sb__ring *ring, int64_t frame_bytes) {
  const uint64_t same = (UINT64_C(1) << VERSION_SHIFT) - 1;
  word *words = ring->control->data;
  ring->readers = 0;
  if (!has_words(ring->control)) return words_of(ring, 0, &words); /* says so */
  const uint64_t magic = atomic_load(&words[0]);
  const char version = (char)(magic >> VERSION_SHIFT);
  if ((magic & same) != (SBR_MAGIC & same) || version < '0' || version > '9')
    return sb__fail(SB_ERR_FORMAT, "byte 0: these are no control words, or they are not ready");
  if (magic != SBR_MAGIC)
    return sb__fail(SB_ERR_FORMAT,
                    "byte 0: the ring has another protocol, number %c; %c was expected", version,
                    (char)(SBR_MAGIC >> VERSION_SHIFT));
  const uint64_t slots = atomic_load(&words[SBR_SLOTS]);
  const uint64_t nbytes = atomic_load(&words[SBR_BYTES]);
  if (slots != (uint64_t)ring->slots || nbytes != (uint64_t)frame_bytes) {
    return sb__fail(SB_ERR_FORMAT,
                    "byte 8: the control words are of %llu slots of %llu bytes, the frames are "
                    "%lld of %lld",
                    (unsigned long long)slots, (unsigned long long)nbytes, (long long)ring->slots,
                    (long long)frame_bytes);
  }
  const uint64_t readers = atomic_load(&words[SBR_READERS]);
  if (readers <= SBR_MOST_READERS) {
    ring->readers = (int64_t)readers;
    if (!words_of(ring, 0, &words)) return SB_OK;
    ring->readers = 0;
  }
  return sb__fail(SB_ERR_FORMAT, "byte 40: there are no words of %lld slots and %llu readers",
                  (long long)ring->slots, (unsigned long long)readers);
}

sb_status sb__ring_word(const sb__ring *ring, int64_t index, uint64_t *out) {
  word *words = NULL;
  const sb_status status = words_of(ring, 0, &words);
  if (status) return status;
  if (index < 0 || index >= SBR_FIRST) return sb__fail(SB_ERR_BOUNDS, "there is no such word");
  *out = atomic_load(&words[index]);
  return SB_OK;
}

static sb_status wake_readers(word *words) {
  int64_t woken = 0;
  return sb__futex_wake(&words[SBR_COUNT], INT64_MAX, &woken); /* little-endian: its lower half */
}

/* ---- The writer ---- */

typedef struct writer_role {
  sb_storage *control; /* one reference */
  word *writer;
  uint64_t mine; /* 0: the role was not got */
  int forks;     /* sb__os_forks when it was: a child has not got it */
} writer_role;

static void release_role(void *data, void *context) {
  writer_role *c = context;
  uint64_t mine = c->mine;
  (void)data;
  if (mine && c->forks == sb__os_forks()) /* unless another writer has taken over */
    atomic_compare_exchange_strong(c->writer, &mine, 0);
  sb_storage_unref(&c->control);
  sb__free(c);
}

static sb_status repair_ring(const sb__ring *ring, word *words, uint64_t *count) {
  sb_status status = SB_OK;
  *count = atomic_load(&words[SBR_COUNT]);
  if (*count >= (uint64_t)MOST_FRAMES) {
    return sb__fail(SB_ERR_FORMAT, "byte 64: the count of frames is %llu",
                    (unsigned long long)*count);
  }
  if (atomic_load(slot_of(ring, words, (int64_t)*count)) == 2 * *count + 2) {
    atomic_store(&words[SBR_COUNT], ++*count);
    status = wake_readers(words);
  }
  for (int64_t i = 0; i < ring->slots; i++) {
    word *slot = slot_of(ring, words, i);
    if (atomic_load(slot) % 2 == 1) atomic_store(slot, 0);
  }
  return status;
}

static sb__process process_of(uint64_t owner, uint64_t space) {
  return (sb__process){(int64_t)(owner >> 32), (uint32_t)owner, space};
}

static sb__process writer_of(word *words, uint64_t writer) {
  return process_of(writer, atomic_load(&words[SBR_NAMESPACE]));
}

/* Puts the caller's word in the place of a writer's that has ended. */
static sb_status replace_writer(word *words, writer_role *c, uint64_t mine, uint64_t space) {
  for (int tries = 0;; tries++) {
    uint64_t before = atomic_load(c->writer);
    const sb__process writer = writer_of(words, before);
    if (tries == TRIES || (before && !sb__os_has_ended(&writer))) {
      return sb__fail(SB_ERR_BUSY, "process %lld writes the ring; there is one writer at a time",
                      (long long)writer.id);
    }
    if (atomic_compare_exchange_strong(c->writer, &before, mine)) break;
  }
  c->mine = mine;
  atomic_store(&words[SBR_NAMESPACE], space);
  return SB_OK;
}

sb_status sb__ring_claim(const sb__ring *ring, sb_storage **role, uint64_t *mine, uint64_t *count) {
  word *words = NULL;
  sb_status status = words_of(ring, 0, &words);
  if (status) return status;
  const sb__process self = sb__os_process();
  const uint64_t wanted = sbr_owner(self.id, self.start);
  sb_storage *held = NULL;
  writer_role *c = sb__alloc(sizeof *c);
  if (!c) return sb__fail(SB_ERR_MEMORY, "no memory for a writer");
  *c = (writer_role){NULL, &words[SBR_WRITER], 0, sb__os_forks()};
  status = sb__storage_pin(words, 0, NULL, release_role, c, &held);
  if (status) {
    sb__free(c);
    return status;
  }
  c->control = sb_storage_ref(ring->control);
  status = replace_writer(words, c, wanted, self.space);
  if (!status) status = repair_ring(ring, words, count);
  if (status) {
    sb_storage_unref(&held);
    return status;
  }
  *role = held;
  *mine = wanted;
  return SB_OK;
}

sb_status sb__ring_recover(const sb__ring *ring) {
  word *words = NULL;
  sb_storage *role = NULL;
  uint64_t mine = 0, count = 0;
  sb_status status = words_of(ring, 0, &words);
  if (status) return status;
  const uint64_t before = atomic_load(&words[SBR_WRITER]);
  const sb__process writer = writer_of(words, before);
  if (!before || !sb__os_has_ended(&writer)) return SB_OK;
  status = sb__ring_claim(ring, &role, &mine, &count);
  sb_storage_unref(&role);
  return status == SB_ERR_BUSY ? SB_OK : status; /* a new writer does it */
}

sb_status sb__ring_begin(const sb__ring *ring, int64_t n, uint64_t mine) {
  word *words = NULL;
  if (n == MOST_FRAMES) /* the last count that another process could write */
    return sb__fail(SB_ERR_FORMAT, "byte 64: the count of frames is %lld", (long long)n);
  const sb_status status = words_of(ring, n, &words);
  if (status) return status;
  if (atomic_load(&words[SBR_WRITER]) != mine) {
    return sb__fail(SB_ERR_BUSY, "another writer has taken the ring over");
  }
  atomic_store(slot_of(ring, words, n), 2 * (uint64_t)n + 1);
  atomic_thread_fence(memory_order_seq_cst); /* before the frame's first byte */
  return SB_OK;
}

sb_status sb__ring_commit(const sb__ring *ring, int64_t n, uint64_t tag) {
  word *words = NULL;
  const sb_status status = words_of(ring, n, &words);
  if (status) return status;
  word *slot = slot_of(ring, words, n);
  atomic_thread_fence(memory_order_seq_cst); /* after its last one */
  atomic_store(&slot[1], tag);
  atomic_store(&slot[0], 2 * (uint64_t)n + 2);
  atomic_store(&words[SBR_COUNT], (uint64_t)n + 1);
  return wake_readers(words);
}

sb_status sb__ring_has(const sb__ring *ring, int64_t n, bool *out, uint64_t *tag) {
  word *words = NULL;
  const sb_status status = words_of(ring, n, &words);
  if (status) return status;
  const uint64_t complete = 2 * (uint64_t)n + 2;
  word *slot = slot_of(ring, words, n);
  atomic_thread_fence(memory_order_seq_cst);
  *out = atomic_load(&slot[0]) == complete;
  if (!*out || !tag) return SB_OK;
  const uint64_t found = atomic_load(&slot[1]);
  *out = atomic_load(&slot[0]) == complete; /* else the tag is a later frame's */
  if (*out) *tag = found;
  return SB_OK;
}

/* ---- Readers that the writer waits for ---- */

enum { PLACE_OWNER, PLACE_NAMESPACE, PLACE_NEXT }; /* words of a place */

typedef struct reader_role {
  sb_storage *control; /* one reference */
  word *words, *place;
  uint64_t mine; /* 0: no place was got */
  int forks;     /* as a writer's */
} reader_role;

static word *place_of(const sb__ring *ring, word *words, int64_t place) {
  return &words[sbr_words(ring->slots, place)];
}

/* After a reader moved: its word first, then the count of moves, then a look whether the writer sleeps. */
static sb_status wake_writer(word *words) {
  int64_t woken = 0;
  atomic_fetch_add(&words[SBR_MOVES], 1);
  if (!atomic_load(&words[SBR_SLEEPS])) return SB_OK;
  return sb__futex_wake(&words[SBR_MOVES], INT64_MAX, &woken);
}

static void leave_place(void *data, void *context) {
  reader_role *c = context;
  uint64_t mine = c->mine;
  (void)data;
  if (mine && c->forks == sb__os_forks() && atomic_load(&c->place[PLACE_OWNER]) == mine) {
    atomic_store(&c->place[PLACE_NAMESPACE], 0); /* who comes next is not judged by it */
    atomic_compare_exchange_strong(&c->place[PLACE_OWNER], &mine, 0);
    (void)wake_writer(c->words);
  }
  sb_storage_unref(&c->control);
  sb__free(c);
}

static bool has_left(word *place, uint64_t owner) {
  const sb__process reader = process_of(owner, atomic_load(&place[PLACE_NAMESPACE]));
  return sb__os_has_ended(&reader);
}

/* Exchanges 0, or the word of a reader that has ended, also where the writer frees the place meanwhile. */
static bool exchange_owner(word *place, uint64_t mine) {
  uint64_t before = atomic_load(&place[PLACE_OWNER]);
  for (int i = 0; i < TRIES && (!before || has_left(place, before)); i++) {
    if (atomic_compare_exchange_strong(&place[PLACE_OWNER], &before, mine)) return true;
  }
  return false;
}

/* Takes a place. Until its next frame is stored the place has the former reader's, and at worst the writer waits for it. */
static sb_status take_place(const sb__ring *ring, word *words, reader_role *c, uint64_t mine,
                            uint64_t space, int64_t *place) {
  for (int64_t i = 0; i < ring->readers; i++) {
    word *at = place_of(ring, words, i);
    if (!exchange_owner(at, mine)) continue;
    atomic_store(&at[PLACE_NAMESPACE], space);
    c->place = at;
    c->mine = mine;
    *place = i;
    return SB_OK;
  }
  return sb__fail(SB_ERR_BUSY, "the ring has %lld readers, and no place for more",
                  (long long)ring->readers);
}

static sb_status count_of(word *words, uint64_t *count) {
  *count = atomic_load(&words[SBR_COUNT]);
  if (*count < (uint64_t)MOST_FRAMES) return SB_OK;
  return sb__fail(SB_ERR_FORMAT, "byte 64: the count of frames is %llu",
                  (unsigned long long)*count);
}

/* Twice: from the first store on the writer goes no further than a ring ahead, but it may have looked before. */
static sb_status begin_with_newest(word *words, word *place, int64_t *next) {
  for (int i = 0; i < 2; i++) {
    uint64_t count = 0;
    const sb_status status = count_of(words, &count);
    if (status) return status;
    *next = count > 0 ? (int64_t)count - 1 : 0;
    atomic_store(&place[PLACE_NEXT], (uint64_t)*next);
  }
  return SB_OK;
}

sb_status sb__ring_join(const sb__ring *ring, int64_t from, sb__ring_seat *out) {
  word *words = NULL;
  sb_status status = words_of(ring, from < 0 ? 0 : from, &words);
  if (status) return status;
  const sb__process self = sb__os_process();
  sb__ring_seat seat = {.next = from};
  seat.mine = sbr_owner(self.id, self.start);
  reader_role *c = sb__alloc(sizeof *c);
  if (!c) return sb__fail(SB_ERR_MEMORY, "no memory for a reader");
  *c = (reader_role){.words = words, .forks = sb__os_forks()};
  status = sb__storage_pin(words, 0, NULL, leave_place, c, &seat.seat);
  if (status) {
    sb__free(c);
    return status;
  }
  c->control = sb_storage_ref(ring->control);
  status = take_place(ring, words, c, seat.mine, self.space, &seat.place);
  if (!status && from < 0) status = begin_with_newest(words, c->place, &seat.next);
  if (!status && from >= 0) atomic_store(&c->place[PLACE_NEXT], (uint64_t)from);
  if (!status) status = wake_writer(words);
  if (status) sb_storage_unref(&seat.seat);
  if (!status) *out = seat;
  return status;
}

sb_status sb__ring_advance(const sb__ring *ring, int64_t place, uint64_t mine, int64_t next) {
  word *words = NULL;
  const sb_status status = words_of(ring, next, &words);
  if (status) return status;
  if (place < 0 || place >= ring->readers) return sb__fail(SB_ERR_BOUNDS, "there is no such place");
  word *at = place_of(ring, words, place);
  if (atomic_load(&at[PLACE_OWNER]) != mine)
    return sb__fail(SB_ERR_STALE, "the place of this reader was given to another one");
  if (atomic_load(&at[PLACE_NEXT]) == (uint64_t)next) return SB_OK;
  atomic_thread_fence(memory_order_seq_cst); /* after the frame was read */
  atomic_store(&at[PLACE_NEXT], (uint64_t)next);
  return wake_writer(words);
}

/* Finds the slowest living reader that still needs frame n - slots or one before it. */
static void look_for_room(const sb__ring *ring, word *words, int64_t n, sb__ring_room *out) {
  out->is_free = true;
  out->reader = out->behind = 0;
  if (n < ring->slots) return;
  for (int64_t i = 0; i < ring->readers; i++) {
    word *place = place_of(ring, words, i);
    uint64_t owner = atomic_load(&place[PLACE_OWNER]);
    const uint64_t next = atomic_load(&place[PLACE_NEXT]);
    if (!owner || next > (uint64_t)(n - ring->slots)) continue;
    if (has_left(place, owner) && atomic_compare_exchange_strong(&place[PLACE_OWNER], &owner, 0))
      continue;
    if (!out->is_free && n - (int64_t)next <= out->behind) continue;
    *out = (sb__ring_room){false, 0, (int64_t)(owner >> 32), n - (int64_t)next};
  }
}

sb_status sb__ring_find_room(const sb__ring *ring, int64_t n, sb__ring_room *out) {
  word *words = NULL;
  const sb_status status = words_of(ring, n, &words);
  if (status) return status;
  look_for_room(ring, words, n, out);
  if (!out->is_free) { /* says so, then looks again: no move is missed */
    atomic_store(&words[SBR_SLEEPS], 1);
    const uint32_t moves = (uint32_t)atomic_load(&words[SBR_MOVES]);
    look_for_room(ring, words, n, out);
    out->moves = moves;
  }
  if (out->is_free && ring->readers && atomic_load(&words[SBR_SLEEPS]))
    atomic_store(&words[SBR_SLEEPS], 0);
  return SB_OK;
}
#else
typedef int sb__no_ring;
#endif
