/* Transferable handles: storages on their way to other threads of the process. A handle holds a reference until all its
 * uses are taken, whatever happens to the thread that made it. */
#ifndef SB_TRANSFER_H
#define SB_TRANSFER_H

#include "core/core.h"

/* Makes a handle that can be taken `uses` times.
 *
 *   key  an integer that a double holds exactly, never used twice
 *
 * Errors  SB_ERR_UNSUPPORTED borrowed bytes, which may move · SB_ERR_BOUNDS uses is below 1 · SB_ERR_MEMORY */
sb_status sb__transfer_new(sb_storage *storage, int64_t uses, double *key);

/* Takes a use, and gives the caller a reference. SB_ERR_STALE: used up, dropped, or not a key. */
sb_status sb__transfer_take(double key, sb_storage **out);

/* Gives the caller a reference without taking a use. SB_ERR_STALE likewise. */
sb_status sb__transfer_peek(double key, sb_storage **out);

/* The storage's number of bytes. SB_ERR_STALE likewise. */
sb_status sb__transfer_nbytes(double key, size_t *nbytes);

/* Drops all remaining uses. SB_ERR_STALE likewise. */
sb_status sb__transfer_drop(double key);

/* Uses not taken yet, of all handles. */
int64_t sb__transfers_in_flight(void);

/* A random id of this process's table: keys are valid with it only. A double holds it exactly. */
double sb__transfer_process_id(void);

#endif
