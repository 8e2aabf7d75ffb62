/* The control words of a SharedRing: 64-bit words of shared memory that one process writes and others read. No process
 * trusts another. docs/ring-protocol.md specifies them for programs without this library.
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
  SB__RING_READERS = 5,   /* places for readers; 0: the writer does not wait for any */
  SB__RING_MOVES =
      6, /* readers that moved or left so far; the lower half is a futex word, for the writer */
  SB__RING_SLEEPS = 7, /* not 0: the writer may sleep */
  SB__RING_COUNT = 8,  /* committed frames; the lower half is a futex word */
  SB__RING_FIRST = 16, /* the first slot's word; after those of the slots, four for each reader */
  SB__RING_PLACE = 4,  /* words of a reader: as SB__RING_WRITER and SB__RING_NAMESPACE, the first
                           frame that it still needs, 0 */
  SB__RING_MOST_READERS = 1024,
};

/* The control words of a ring, for one call. */
typedef struct sb__ring {
  sb_storage *control; /* the caller's; its bytes must not move */
  int64_t slots;       /* as checked when the ring was opened; never read from the words again */
  int64_t readers;     /* places for them, by sb__ring_check */
} sb__ring;

/* Writes the words of a new ring, the magic number last. SB_ERR_ARGUMENT: the storage is too small. */
sb_status sb__ring_make(const sb__ring *ring, int64_t frame_bytes);

/* Sets ring->readers. SB_ERR_FORMAT where these are not the words of such a ring. */
sb_status sb__ring_check(sb__ring *ring, int64_t frame_bytes);

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
  bool is_free; /* no living reader needs the frame that is in the slot */
  uint32_t
      moves; /* else the value of SB__RING_MOVES to sleep on. A reader that dies wakes nobody */
  int64_t reader; /* the process of the slowest one */
  int64_t behind; /* frames between it and n */
} sb__ring_room;

/* Looks whether the writer may begin frame n, and frees the places of readers whose process has ended. */
sb_status sb__ring_find_room(const sb__ring *ring, int64_t n, sb__ring_room *out);

#endif
