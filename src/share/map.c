/* Files as memory. The bytes that a mapping has are the deleter's context. */
#ifndef __wasm__
# include "share/map.h"

# include <string.h>

static void unmap(void *data, void *context) { sb__os_unmap(data, (size_t)(uintptr_t)context); }

sb_status sb__map_file(int64_t file, int64_t offset, int64_t nbytes, bool shared, sb_storage **out,
                       int *error) {
  if (file < 0 || file > INT32_MAX || offset < 0 || nbytes < 1 || offset > INT64_MAX - nbytes ||
      (uint64_t)nbytes > PTRDIFF_MAX) {
    return sb__fail(SB_ERR_ARGUMENT, "there are no %lld bytes to map", (long long)nbytes);
  }
  void *data = sb__os_map((int)file, offset, (size_t)nbytes, shared, error);
  if (!data) {
    return sb__fail(SB_ERR_IO, "%lld bytes could not be mapped: %s", (long long)nbytes,
                    strerror(*error));
  }
  const sb_status status = sb__storage_wrap_as(SB__STORAGE_MAPPED, data, (size_t)nbytes, unmap,
                                               (void *)(uintptr_t)nbytes, out);
  if (status) sb__os_unmap(data, (size_t)nbytes);
  return status;
}
#else
typedef int nothing_to_map;
#endif
