/* Mapped files. The deleter's context is the mapping's length. */
#ifndef __wasm__
# include "ipc/map.h"

# include <string.h>

static void unmap_file(void *data, void *context) {
  sb__os_unmap(data, (size_t)(uintptr_t)context);
}

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
  const size_t size = sb__os_mapped_size((int)file, (size_t)nbytes);
  const sb_status status = sb__storage_wrap_as(SB__STORAGE_MAPPED, data, (size_t)nbytes, unmap_file,
                                               (void *)(uintptr_t)size, out);
  if (status) sb__os_unmap(data, size);
  return status;
}

/* The deleter's context of a guarded storage. */
typedef struct guarded {
  atomic_int *fault;
  sb_deleter deleter; /* the storage's own, and its context */
  void *context;
} guarded;

static void unguard_and_unmap(void *data, void *context) {
  guarded *g = context;
  sb__os_unguard(g->fault);
  if (g->deleter) g->deleter(data, g->context);
  sb__free(g);
}

sb_status sb__map_guard(sb_storage *storage) {
  int error = 0;
  guarded *g = sb__alloc(sizeof *g);
  if (!g) return sb__fail(SB_ERR_MEMORY, "no memory to guard a mapping");
  *g = (guarded){sb__os_guard(storage->data, (size_t)(uintptr_t)storage->context, &error),
                 storage->deleter, storage->context};
  if (g->fault) {
    storage->fault = g->fault;
    storage->deleter = unguard_and_unmap;
    storage->context = g;
    return SB_OK;
  }
  sb__free(g);
  return sb__fail(SB_ERR_MEMORY, "a mapping could not be guarded: %s", strerror(error));
}

sb_status sb__map_guard_later(sb_storage *storage) {
  static sb__lock lock;
  sb_storage *root = storage;
  while (root->base) root = root->base;
  if (root->kind != SB__STORAGE_MAPPED) return SB_OK;
  sb__lock_take(&lock);
  const sb_status status = root->fault ? SB_OK : sb__map_guard(root);
  sb__lock_drop(&lock);
  return status;
}
#else
typedef int sb__no_map;
#endif
