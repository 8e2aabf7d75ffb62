/* Named segments of shared memory, for programs without JavaScript. */
#ifndef SB_SEGMENT_H
#define SB_SEGMENT_H

#include "core/core.h"

/* Checks a name as for shm_open, and removes its slash: out is part of it.
 *
 *   most  bytes that it may have */
sb_status sb__segment_name(const char *given, size_t most, const char **out);

/* Creates a segment as sb_segment_create does.
 *
 *   called  a name without a slash
 *   file    its descriptor, which has it locked and is the caller's to close; NULL: not wanted
 *   lock    until the descriptor is closed and the mapping gone: shared, as an owner; exclusive: it is not complete */
sb_status sb__segment_make(const char *called, const sb_tensor *layout, uint32_t mode,
                           uint32_t flags, sb__file_lock lock, int *file, sb_tensor *out);

/* Opens a segment as sb_segment_open does.
 *
 *   owns  this process becomes an owner, beside others: the segment is not swept while one of them has it. The record of an
 *         owner that has ended is taken over. SB_ERR_NOT_FOUND also where the name is being removed */
sb_status sb__segment_find(const char *called, const sb_dtype *dtype, bool owns, sb_tensor *out);

/* Checks what sb_segment_create takes. */
sb_status sb__segment_flags(uint32_t mode, uint32_t flags);

/* Says why a segment could not be had: SB_ERR_NOT_FOUND, SB_ERR_EXISTS, SB_ERR_MEMORY, SB_ERR_UNSUPPORTED or SB_ERR_IO. */
sb_status sb__segment_failed(const char *name, int error);

#endif
