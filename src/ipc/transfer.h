/* Storages on their way to other threads of the process. A parcel holds a reference for as many takers as were
 * asked for, whatever becomes of the thread that made it. */
#ifndef SB_PARCELS_H
#define SB_PARCELS_H

#include "core/core.h"

/* A parcel for uses takers, at least one. Its key fits a double exactly and is never made twice. Borrowed bytes,
 * which may move, are refused. */
sb_status sb__parcel_new(sb_storage *storage, int64_t uses, double *key);

/* One use less; the caller has a reference. SB_ERR_STALE: used up, dropped, or no key. */
sb_status sb__parcel_take(double key, sb_storage **out);

/* The storage with a reference for the caller; no use less. SB_ERR_STALE likewise. */
sb_status sb__parcel_peek(double key, sb_storage **out);

/* Bytes of the storage; nothing is taken. SB_ERR_STALE likewise. */
sb_status sb__parcel_nbytes(double key, size_t *nbytes);

/* Whoever did not take it will not get it. SB_ERR_STALE likewise. */
sb_status sb__parcel_drop(double key);

/* Uses that nobody has taken yet. */
int64_t sb__parcels_in_flight(void);

/* A number that tells this process's table from others': keys mean nothing elsewhere. Fits a double exactly. */
double sb__parcels_home(void);

#endif
