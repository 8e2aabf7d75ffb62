/* Who owns a named segment: its owners have its file locked as long as they have it open or mapped, and one of them is recorded beside
 * it. Sweeping leaves what somebody has locked, or who writes or reads a ring. */
#ifndef SB_OWNERS_H
#define SB_OWNERS_H

#include "core/core.h"

#define SB_RING_CONTROL ".control" /* the end of the name of a ring's control words */

/* Names a file of sb__os_segment_new, of which this process becomes the owner. Returns 0 or the system's error number.
 *
 *   flags  SB_SEGMENT_REPLACE, SB_SEGMENT_PERSIST
 *   lock   until the file is closed and no mapping left: shared, as an owner; exclusive: it is not complete, and nobody may
 *          become its owner */
int sb__segment_publish(int file, const char *name, uint32_t flags, sb__file_lock lock);

/* Makes this process an owner of an open segment, beside others.
 *
 *   takes_over  the record of an owner that has ended becomes this process'
 *   before      the process of that record; 0: it was not taken over
 *
 * Errors  SB_ERR_NOT_FOUND the name is another file's, or is being made or removed */
sb_status sb__segment_own(int file, const char *name, bool takes_over, int64_t *before);

/* Removes the record of an open segment whose name is gone, or another file's. */
void sb__segment_forget(int file, const char *name);

/* Are there control words of a ring of that name? */
bool sb__segment_is_ring(const char *name);

/* Removes control words without frames, which whoever was killed left, or who removed the frames alone. A ring that is being
 * made has its words locked. */
void sb__ring_remove_half(const char *name, const char *control_name);

typedef void (*sb__segment_seen)(void *context, const sb__segment_record *record, bool is_alive);

/* Calls see for each segment that has its name. is_alive: an owner has it, or somebody writes or reads the ring that it is part
 * of. Returns 0 or the system's error number. */
int sb__segment_list(sb__segment_seen see, void *context);

/* Removes the names of this user whose owners have ended, which nobody has, and which were not made to persist; calls see for
 * each. Returns 0 or the system's error number.
 *
 *   only  this name alone; NULL: all */
int sb__segment_sweep(const char *only, sb__segment_seen see, void *context);

#endif
