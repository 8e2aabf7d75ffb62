/* Files as memory. */
#ifndef SB_MAP_H
#define SB_MAP_H

#include "core/core.h"

/* nbytes > 0 of an open file, from byte offset on: a storage, unmapped with its last reference. The file may be closed
 * at once; who makes it shorter afterwards makes the bytes behind its end a fault. shared: writes reach the file. Where
 * the system refuses, error is its number. */
sb_status sb__map_file(int64_t file, int64_t offset, int64_t nbytes, bool shared, sb_storage **out,
                       int *error);

/* Guards a mapping's storage that nobody else has yet: where its file becomes shorter, the bytes that are gone read as
 * zeros, writes to them go nowhere, and from the first such fault on the whole storage is broken: sb__check_intact
 * says SB_ERR_IO, as does each row that touches it or a part of it, before and after. The last page that the file
 * still reaches into gives no fault: there what was cut off reads as zeros unnoticed.
 *
 * Errors  SB_ERR_MEMORY · SB_ERR_UNSUPPORTED another handler of SIGBUS took our place; the storage is as before */
sb_status sb__map_guard(sb_storage *storage);

#endif
