/* Rings: a sequence lock per slot, and a count of frames. Other processes may write any values: which words are accessed
 * depends only on the caller's own slots and n. */
#ifndef __wasm__
# include "ipc/ring.h"

# include "ipc/futex.h"

# define MAGIC UINT64_C(0x31676e69722d6273) /* "sb-ring1" */
# define MOST_FRAMES (INT64_C(1) << 53)     /* nobody writes more frames */

# define START_BITS 42 /* of the writer's word: when its process started; its number is above */
# define TRIES 100     /* while other processes claim the ring */

typedef _Atomic uint64_t word;

static sb_status words_of(const sb__ring *ring, int64_t n, word **out) {
  const sb_storage *s = ring->control;
  if (s->kind == SB__STORAGE_BORROWED || SB__ON_DEVICE(s) || ring->slots < 1 || n < 0 ||
      n >= MOST_FRAMES || (uintptr_t)s->data % sizeof(word) != 0 ||
      s->nbytes / sizeof(word) < SB__RING_FIRST ||
      (uint64_t)ring->slots > s->nbytes / sizeof(word) - SB__RING_FIRST) {
    return sb__fail(SB_ERR_ARGUMENT, "these are no control words of %lld slots",
                    (long long)ring->slots);
  }
  *out = s->data;
  return SB_OK;
}

static word *slot_of(const sb__ring *ring, word *words, int64_t n) {
  return &words[SB__RING_FIRST + n % ring->slots];
}

sb_status sb__ring_make(const sb__ring *ring, int64_t frame_bytes) {
  word *words = NULL;
  const sb_status status = words_of(ring, 0, &words);
  if (status) return status;
  for (int64_t i = 0; i < SB__RING_FIRST + ring->slots; i++) atomic_store(&words[i], 0);
  atomic_store(&words[SB__RING_SLOTS], (uint64_t)ring->slots);
  atomic_store(&words[SB__RING_BYTES], (uint64_t)frame_bytes);
  atomic_store(&words[SB__RING_MAGIC], MAGIC);
  return SB_OK;
}

sb_status sb__ring_check(const sb__ring *ring, int64_t frame_bytes) {
  word *words = NULL;
  const sb_status status = words_of(ring, 0, &words);
  if (status) return status;
  if (atomic_load(&words[SB__RING_MAGIC]) != MAGIC) {
    return sb__fail(SB_ERR_FORMAT, "byte 0: these are no control words, or they are not ready");
  }
  const uint64_t slots = atomic_load(&words[SB__RING_SLOTS]);
  const uint64_t nbytes = atomic_load(&words[SB__RING_BYTES]);
  if (slots != (uint64_t)ring->slots || nbytes != (uint64_t)frame_bytes) {
    return sb__fail(SB_ERR_FORMAT,
                    "byte 8: the control words are of %llu slots of %llu bytes, the frames are "
                    "%lld of %lld",
                    (unsigned long long)slots, (unsigned long long)nbytes, (long long)ring->slots,
                    (long long)frame_bytes);
  }
  return SB_OK;
}

sb_status sb__ring_word(const sb__ring *ring, int64_t index, uint64_t *out) {
  word *words = NULL;
  const sb_status status = words_of(ring, 0, &words);
  if (status) return status;
  if (index < 0 || index >= SB__RING_FIRST) return sb__fail(SB_ERR_BOUNDS, "there is no such word");
  *out = atomic_load(&words[index]);
  return SB_OK;
}

static sb_status wake_readers(word *words) {
  int64_t woken = 0;
  return sb__futex_wake(&words[SB__RING_COUNT], INT64_MAX,
                        &woken); /* little-endian: its lower half */
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
  *count = atomic_load(&words[SB__RING_COUNT]);
  if (*count >= (uint64_t)MOST_FRAMES) {
    return sb__fail(SB_ERR_FORMAT, "byte 64: the count of frames is %llu",
                    (unsigned long long)*count);
  }
  if (atomic_load(slot_of(ring, words, (int64_t)*count)) == 2 * *count + 2) {
    atomic_store(&words[SB__RING_COUNT], ++*count);
    status = wake_readers(words);
  }
  for (int64_t i = 0; i < ring->slots; i++) {
    word *slot = &words[SB__RING_FIRST + i];
    if (atomic_load(slot) % 2 == 1) atomic_store(slot, 0);
  }
  return status;
}

static sb__process writer_of(word *words, uint64_t writer) {
  return (sb__process){(int64_t)(writer >> START_BITS), writer & ((UINT64_C(1) << START_BITS) - 1),
                       atomic_load(&words[SB__RING_NAMESPACE])};
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
  atomic_store(&words[SB__RING_NAMESPACE], space);
  return SB_OK;
}

sb_status sb__ring_claim(const sb__ring *ring, sb_storage **role, uint64_t *mine, uint64_t *count) {
  word *words = NULL;
  sb_status status = words_of(ring, 0, &words);
  if (status) return status;
  const sb__process self = sb__os_process();
  const uint64_t wanted =
      (uint64_t)self.id << START_BITS | (self.start & ((UINT64_C(1) << START_BITS) - 1));
  sb_storage *held = NULL;
  writer_role *c = sb__alloc(sizeof *c);
  if (!c) return sb__fail(SB_ERR_MEMORY, "no memory for a writer");
  *c = (writer_role){NULL, &words[SB__RING_WRITER], 0, sb__os_forks()};
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
  const uint64_t before = atomic_load(&words[SB__RING_WRITER]);
  const sb__process writer = writer_of(words, before);
  if (!before || !sb__os_has_ended(&writer)) return SB_OK;
  status = sb__ring_claim(ring, &role, &mine, &count);
  sb_storage_unref(&role);
  return status == SB_ERR_BUSY ? SB_OK : status; /* a new writer does it */
}

sb_status sb__ring_begin(const sb__ring *ring, int64_t n, uint64_t mine) {
  word *words = NULL;
  const sb_status status = words_of(ring, n, &words);
  if (status) return status;
  if (atomic_load(&words[SB__RING_WRITER]) != mine) {
    return sb__fail(SB_ERR_BUSY, "another writer has taken the ring over");
  }
  atomic_store(slot_of(ring, words, n), 2 * (uint64_t)n + 1);
  atomic_thread_fence(memory_order_seq_cst); /* before the frame's first byte */
  return SB_OK;
}

sb_status sb__ring_commit(const sb__ring *ring, int64_t n) {
  word *words = NULL;
  const sb_status status = words_of(ring, n, &words);
  if (status) return status;
  atomic_thread_fence(memory_order_seq_cst); /* after its last one */
  atomic_store(slot_of(ring, words, n), 2 * (uint64_t)n + 2);
  atomic_store(&words[SB__RING_COUNT], (uint64_t)n + 1);
  return wake_readers(words);
}

sb_status sb__ring_has(const sb__ring *ring, int64_t n, bool *out) {
  word *words = NULL;
  const sb_status status = words_of(ring, n, &words);
  if (status) return status;
  atomic_thread_fence(memory_order_seq_cst);
  *out = atomic_load(slot_of(ring, words, n)) == 2 * (uint64_t)n + 2;
  return SB_OK;
}
#else
typedef int sb__no_ring;
#endif
