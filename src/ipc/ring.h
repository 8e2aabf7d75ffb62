/* The control words of a SharedRing: 64-bit words of shared memory that one process writes and others read. No process
 * trusts another. docs/rings.md specifies them for programs without this library.
 *
 * A slot's word is 2 n + 1 while frame n is being written, 2 n + 2 once it is complete, 0 before the first frame. */
#ifndef SB_RING_H
#define SB_RING_H

#include "core/core.h"

enum {
  SB__RING_MAGIC = 0,
  SB__RING_SLOTS = 1,
  SB__RING_BYTES = 2, /* of a frame */
  SB__RING_WRITER =
      3, /* upper 22 bits: the writer's process id, lower 42: its start time; 0: no writer */
  SB__RING_NAMESPACE = 4, /* the namespace of the writer's process id; 0: unknown */
  SB__RING_COUNT = 8,     /* committed frames; the lower half is a futex word */
  SB__RING_FIRST = 16,    /* the first slot's word */
};

/* The control words of a ring, for one call. */
typedef struct sb__ring {
  sb_storage *control; /* the caller's; its bytes must not move */
  int64_t slots;       /* as checked when the ring was opened; never read from the words again */
} sb__ring;

/* Writes the words of a new ring, the magic number last. SB_ERR_ARGUMENT: the storage is too small. */
sb_status sb__ring_make(const sb__ring *ring, int64_t frame_bytes);

/* SB_ERR_FORMAT where these are not the words of such a ring. */
sb_status sb__ring_check(const sb__ring *ring, int64_t frame_bytes);

/* Reads one of the words before SB__RING_FIRST. */
sb_status sb__ring_word(const sb__ring *ring, int64_t index, uint64_t *out);

/* Makes this process the writer, where there is none or its process has ended, and repairs what that one left: a complete
 * frame is counted, an incomplete one is discarded.
 *
 *   role   a storage without bytes; dropping its last reference, on any thread, releases the role, but not in a child that
 *          was forked since
 *   mine   the writer's word from now on
 *   count  committed frames
 *
 * Errors  SB_ERR_BUSY there is another writer · SB_ERR_FORMAT · SB_ERR_MEMORY */
sb_status sb__ring_claim(const sb__ring *ring, sb_storage **role, uint64_t *mine, uint64_t *count);

/* Repairs what a writer left whose process has ended; does nothing where there is another one. */
sb_status sb__ring_recover(const sb__ring *ring);

/* Marks frame n as being written. SB_ERR_BUSY: mine is no longer the writer. */
sb_status sb__ring_begin(const sb__ring *ring, int64_t n, uint64_t mine);

/* Marks frame n as complete, counts it, and wakes its waiters. */
sb_status sb__ring_commit(const sb__ring *ring, int64_t n);

/* out: true if frame n is complete in its slot. What was read of it before this call is then valid. */
sb_status sb__ring_has(const sb__ring *ring, int64_t n, bool *out);

#endif
