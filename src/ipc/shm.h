/* Shared memory between processes: segments, and storages that close files. */
#ifndef SB_SHM_H
#define SB_SHM_H

#include "core/core.h"

/* Duplicates a file descriptor, and makes a storage without bytes whose last reference closes the duplicate, at the
 * latest with its environment.
 *
 *   held   the duplicate
 *   error  the system's number, where it refuses
 *
 * Errors  SB_ERR_ARGUMENT · SB_ERR_IO · SB_ERR_MEMORY */
sb_status sb__file_hold(int64_t file, sb_storage **out, int *held, int *error);

/* The same for a new segment of shared memory, by sb__os_segment_new. */
sb_status sb__segment_new(bool sealed, int64_t mode, int64_t nbytes, sb_storage **out, int *held,
                          int *error);

#endif
