/* The control words of a SharedRing: 64-bit words of shared memory that one process writes and others read. No process
 * trusts another. samebytes_ring.h names them, docs/ring-protocol.md specifies them. */
#ifndef SB_RING_H
#define SB_RING_H

#include "core/core.h"
#define SBR_WORDS_ALONE
#include "samebytes_ring.h"

/* The control words of a ring, for one call. */
typedef struct sb__ring {
  sb_storage *control; /* the caller's; its bytes must not move */
  int64_t slots;       /* as checked when the ring was opened; never read from the words again */
  int64_t readers;     /* places for them, by sb__ring_check */
} sb__ring;

/* Writes the words of a new ring, the magic number last. SB_ERR_ARGUMENT: the storage is too small. */
sb_status sb__ring_make(const sb__ring *ring, int64_t frame_bytes);

/* Sets ring->readers. SB_ERR_FORMAT where these are not the words of such a ring, or of another protocol. */
sb_status sb__ring_check(sb__ring *ring, int64_t frame_bytes);

/* Reads one of the words before SBR_FIRST. */
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

/* Stores the tag of frame n, marks it as complete, counts it, and wakes its waiters. */
sb_status sb__ring_commit(const sb__ring *ring, int64_t n, uint64_t tag);

/* out: true if frame n is complete in its slot. What was read of it before this call is then valid. tag: its tag then; may
 * be NULL. */
sb_status sb__ring_has(const sb__ring *ring, int64_t n, bool *out, uint64_t *tag);

/* ---- Rings whose writer waits for its readers ---- */

/* A reader's place, until the last reference to the seat is dropped. */
typedef struct sb__ring_seat {
  sb_storage *seat; /* a storage without bytes, as a writer's role */
  int64_t place;
  uint64_t mine; /* the reader's word */
  int64_t next;  /* the first frame that it needs */
} sb__ring_seat;

/* Takes a place that is free, or whose process has ended.
 *
 *   from  the first frame that the reader needs; negative: the newest
 *
 * Errors  SB_ERR_BUSY all places are taken · SB_ERR_FORMAT · SB_ERR_MEMORY */
sb_status sb__ring_join(const sb__ring *ring, int64_t from, sb__ring_seat *out);

/* Says that the reader is done with all frames before `next`. SB_ERR_STALE: the place is another one's. */
sb_status sb__ring_advance(const sb__ring *ring, int64_t place, uint64_t mine, int64_t next);

typedef struct sb__ring_room {
  bool is_free;   /* no living reader needs the frame that is in the slot */
  uint32_t moves; /* else the value of SBR_MOVES to sleep on. A reader that dies wakes nobody */
  int64_t reader; /* the process of the slowest one */
  int64_t behind; /* frames between it and n */
} sb__ring_room;

/* Looks whether the writer may begin frame n, and frees the places of readers whose process has ended. */
sb_status sb__ring_find_room(const sb__ring *ring, int64_t n, sb__ring_room *out);

#endif
