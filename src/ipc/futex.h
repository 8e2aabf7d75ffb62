/* Words of shared memory that threads and processes wait on. */
#ifndef SB_FUTEX_H
#define SB_FUTEX_H

#include "core/core.h"

/* The word at a byte of a storage, which has to be a multiple of 4 and inside; not of borrowed bytes, which may move. */
sb_status sb__word_at(const sb_storage *storage, int64_t at, void **out);

/* Is the word what is expected? Asked of the system, so that a page which is gone is SB_ERR_IO and no fault. */
sb_status sb__word_is(const void *word, uint32_t expected, bool *out);

/* Wakes up to count sleepers of the word, in whatever process, and says how many there were. */
sb_status sb__word_wake(void *word, int64_t count, int64_t *woken);

/* SB_ERR_IO or SB_ERR_UNSUPPORTED, for a system's error number. */
sb_status sb__word_failed(int error);

#endif
