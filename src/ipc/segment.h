/* Named segments of shared memory, for programs without JavaScript. */
#ifndef SB_SEGMENT_H
#define SB_SEGMENT_H

#include "core/core.h"

/* Checks a name as for shm_open, and removes its slash: out is part of it.
 *
 *   most  bytes that it may have */
sb_status sb__segment_name(const char *given, size_t most, const char **out);

/* Checks what sb_segment_create takes. */
sb_status sb__segment_flags(uint32_t mode, uint32_t flags);

/* Says why a segment could not be had: SB_ERR_NOT_FOUND, SB_ERR_EXISTS, SB_ERR_MEMORY, SB_ERR_UNSUPPORTED or SB_ERR_IO. */
sb_status sb__segment_failed(const char *name, int error);

#endif
