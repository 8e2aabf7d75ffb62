/* Mapped files. */
#ifndef SB_MAP_H
#define SB_MAP_H

#include "core/core.h"

/* Maps nbytes > 0 of an open file, from byte offset on, as a storage; its last reference unmaps them. The file may be
 * closed at once. Access beyond the end of a file that was shortened since raises SIGBUS, unless guarded.
 *
 *   shared  writes reach the file
 *   error   the system's number, where it refuses
 *
 * Errors  SB_ERR_ARGUMENT · SB_ERR_IO · SB_ERR_MEMORY */
sb_status sb__map_file(int64_t file, int64_t offset, int64_t nbytes, bool shared, sb_storage **out,
                       int *error);

/* Guards a mapping's storage, which nobody else has yet. Where its file is shortened, lost bytes read as zeros, and
 * writes to them are dropped. From the first such fault on, sb__check_intact fails with SB_ERR_IO for the storage and its
 * parts, as do all operations, before and after they touch it. Bytes cut off from the file's last page raise no fault:
 * they read as zeros unnoticed.
 *
 * Errors  SB_ERR_MEMORY the storage is unchanged */
sb_status sb__map_guard(sb_storage *storage);

/* The same for a storage that others may have as well, or a part of one; nothing where it is of no mapping, or guarded already. What has a part of it already
 * hears of nothing: ask for the storage that owns the bytes (sb__storage_root). Any thread.
 *
 * Errors  SB_ERR_MEMORY */
sb_status sb__map_guard_later(sb_storage *storage);

#endif
