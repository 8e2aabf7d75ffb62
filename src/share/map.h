/* Files as memory. */
#ifndef SB_MAP_H
#define SB_MAP_H

#include "core/core.h"

/* nbytes > 0 of an open file, from byte offset on: a storage, unmapped with its last reference. The file may be closed
 * at once; who makes it shorter afterwards makes the bytes behind its end a fault. shared: writes reach the file. Where
 * the system refuses, error is its number. */
sb_status sb__map_file(int64_t file, int64_t offset, int64_t nbytes, bool shared, sb_storage **out,
                       int *error);

#endif
