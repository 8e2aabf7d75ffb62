/* Futex words: finds them in storages and words the errors; platform.h waits and wakes. Words are never read here, because
 * a shortened file would raise SIGBUS. */
#ifndef __wasm__
# include "ipc/futex.h"

# include <errno.h>
# include <string.h>

sb_status sb__futex_at(const sb_storage *storage, int64_t at, void **out) {
  if (storage->kind == SB__STORAGE_BORROWED) {
    return sb__fail(SB_ERR_UNSUPPORTED, "nobody can wait on bytes of one thread; they may move");
  }
  const sb_status status = sb__check_host("the word", storage);
  if (status) return status;
  if (at < 0 || (uint64_t)at + sizeof(uint32_t) > storage->nbytes) {
    return sb__fail(SB_ERR_BOUNDS, "byte %lld is outside the storage", (long long)at);
  }
  if (((uintptr_t)storage->data + (uintptr_t)at) % sizeof(uint32_t) != 0) {
    return sb__fail(SB_ERR_ALIGNMENT, "byte %lld is no multiple of 4 in memory", (long long)at);
  }
  *out = (char *)storage->data + at;
  return SB_OK;
}

sb_status sb__futex_failed(int error) {
  if (error == ENOSYS) {
    return sb__fail(SB_ERR_UNSUPPORTED, "this system has nothing that processes can wait on");
  }
  if (error == ENOMEM) return sb__fail(SB_ERR_MEMORY, "the system has no place for another wait");
  return sb__fail(SB_ERR_IO, "the word cannot be waited on: %s%s", strerror(error),
                  error == EFAULT ? " (was the file made shorter?)" : "");
}

sb_status sb__futex_equals(const void *word, uint32_t expected, bool *out) {
  int error = 0;
  const int is_equal = sb__os_futex_equals(word, expected, &error);
  *out = is_equal == 1;
  return is_equal < 0 ? sb__futex_failed(error) : SB_OK;
}

sb_status sb__futex_wake(void *word, int64_t count, int64_t *woken) {
  int error = 0;
  *woken = 0;
  if (count < 1) return SB_OK; /* the system would still wake one */
  *woken = sb__os_futex_wake(word, count > INT32_MAX ? INT32_MAX : (int)count, &error);
  return *woken < 0 ? sb__futex_failed(error) : SB_OK;
}
#else
typedef int sb__no_futex;
#endif
