/* Shared memory between processes: files of it, and who closes them. */
#ifndef SB_SHM_H
#define SB_SHM_H

#include "core/core.h"

/* A storage without bytes that closes a file with its last reference: a file then goes as tensors do, with whoever holds
 * it, and with its environment at the latest. The file is another descriptor of the one given, *held. Where the system
 * refuses, error is its number. */
sb_status sb__file_hold(int64_t file, sb_storage **out, int *held, int *error);

/* The same for a new file of shared memory, as sb__os_segment_new makes one. */
sb_status sb__segment_new(bool sealed, int64_t mode, int64_t nbytes, sb_storage **out, int *held,
                          int *error);

#endif
