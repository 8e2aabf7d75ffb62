/* The control words of a SharedRing: 64-bit words of shared memory, which one process writes and others read, none of
 * which has to be trusted. docs/rings.md has them for those who read them without this library.
 *
 * A slot's word is 2 n + 1 while frame n is written into it, 2 n + 2 once it is there, 0 before the first frame. */
#ifndef SB_RING_H
#define SB_RING_H

#include "core/core.h"

enum {
  SB__RING_MAGIC = 0,
  SB__RING_SLOTS = 1,
  SB__RING_BYTES = 2, /* of a frame */
  SB__RING_WRITER =
      3, /* process id in the upper 22 bits, its start time in the lower 42; 0: nobody writes */
  SB__RING_NAMESPACE = 4, /* of process ids, in which the writer's means something; 0: not known */
  SB__RING_COUNT = 8,     /* frames that were committed; its lower half is waited on */
  SB__RING_FIRST = 16,    /* of the slots' words */
};

/* A ring's control words as everybody knows them: of this storage, for so many slots. */
typedef struct sb__ring {
  sb_storage *control; /* borrowed; not of bytes that may move */
  int64_t slots;       /* as it was once judged: never read again from the words */
} sb__ring;

/* Writes the words of a new ring; the magic number last. SB_ERR_ARGUMENT: the storage is too short. */
sb_status sb__ring_make(const sb__ring *ring, int64_t frame_bytes);

/* Are these the words of such a ring? SB_ERR_FORMAT */
sb_status sb__ring_judge(const sb__ring *ring, int64_t frame_bytes);

/* One of the words before SB__RING_FIRST. */
sb_status sb__ring_word(const sb__ring *ring, int64_t index, uint64_t *out);

/* Makes the caller the writer, if the writer's word is still before, and mends what the last one left: a frame that is there but was not
 * counted is; one that is half written is none.
 *
 *   space  of the caller's process id
 *   role   a storage without bytes; whoever drops its last reference, on whatever thread, lets the ring have another writer.
 *          NULL: somebody else was quicker
 *   count  frames */
sb_status sb__ring_claim(const sb__ring *ring, uint64_t before, uint64_t mine, uint64_t space,
                         sb_storage **role, uint64_t *count);

/* Frame n is going to be written. SB_ERR_BUSY: mine is the writer no more. */
sb_status sb__ring_begin(const sb__ring *ring, int64_t n, uint64_t mine);

/* It is there: who waits is woken. */
sb_status sb__ring_commit(const sb__ring *ring, int64_t n);

/* Is frame n in its slot, whole, and was it till now? What was read of it before the call counts. */
sb_status sb__ring_has(const sb__ring *ring, int64_t n, bool *out);

#endif
