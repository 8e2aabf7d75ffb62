/* Futex words: 32-bit words of shared memory that threads and processes wait on. */
#ifndef SB_FUTEX_H
#define SB_FUTEX_H

#include "core/core.h"

/* The address of the word at byte `at` of a storage.
 *
 * Errors  SB_ERR_UNSUPPORTED borrowed bytes, which may move · SB_ERR_DEVICE · SB_ERR_BOUNDS · SB_ERR_ALIGNMENT the
 *         address is no multiple of 4 */
sb_status sb__futex_at(const sb_storage *storage, int64_t at, void **out);

/* Compares the word in the kernel, so that a lost page is SB_ERR_IO and not a fault. */
sb_status sb__futex_equals(const void *word, uint32_t expected, bool *out);

/* Wakes up to count waiters in all processes; woken: how many. */
sb_status sb__futex_wake(void *word, int64_t count, int64_t *woken);

/* Fails with SB_ERR_IO, or SB_ERR_UNSUPPORTED for ENOSYS; error: the system's number. */
sb_status sb__futex_failed(int error);

#endif
