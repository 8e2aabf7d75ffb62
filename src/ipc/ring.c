/* Rings: a sequence lock per slot, and a count of frames. Other processes may write any values: which words are accessed
 * depends only on the caller's own slots and n. */
#ifndef __wasm__
# include "ipc/ring.h"

# include "ipc/futex.h"

# define MAGIC UINT64_C(0x31676e69722d6273) /* "sb-ring1" */
# define MOST_FRAMES (INT64_C(1) << 53)     /* nobody writes more frames */

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
  uint64_t mine;
} writer_role;

static void release_role(void *data, void *context) {
  writer_role *c = context;
  uint64_t mine = c->mine;
  (void)data;
  atomic_compare_exchange_strong(c->writer, &mine, 0); /* unless another writer has taken over */
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

sb_status sb__ring_claim(const sb__ring *ring, uint64_t before, uint64_t mine, uint64_t space,
                         sb_storage **role, uint64_t *count) {
  word *words = NULL;
  sb_status status = words_of(ring, 0, &words);
  *role = NULL;
  if (status) return status;
  writer_role *c = sb__alloc(sizeof *c);
  if (!c) return sb__fail(SB_ERR_MEMORY, "no memory for a writer");
  *c = (writer_role){NULL, &words[SB__RING_WRITER], mine};
  status = sb__storage_pin(words, 0, NULL, release_role, c, role);
  if (status) {
    sb__free(c);
    return status;
  }
  c->control = sb_storage_ref(ring->control);
  if (!atomic_compare_exchange_strong(c->writer, &before, mine)) {
    c->mine = 0; /* release_role then exchanges 0 for 0 */
    sb_storage_unref(role);
    return SB_OK;
  }
  atomic_store(&words[SB__RING_NAMESPACE], space);
  status = repair_ring(ring, words, count);
  if (status) sb_storage_unref(role);
  return status;
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
