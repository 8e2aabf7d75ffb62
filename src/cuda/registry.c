/* All storages of device and page-locked memory: by address, with the stream that used each last; and the hook that frees those which
 * JavaScript can no longer reach. */
#include "cuda/internal.h"

/* ---- The hook ---- */

static SB_THREAD_LOCAL sb__cuda_sweep sweep;
static SB_THREAD_LOCAL void *sweep_context;

void sb__cuda_set_sweep(sb__cuda_sweep function, void *context) {
  sweep = function;
  sweep_context = context;
}

bool sb__cuda_sweep_now(void) { return sweep && sweep(sweep_context); }

/* ---- The list ---- */

static sb__lock listing;
static sb__cuda_memory *listed; /* the newest one first */

void sb__cuda_memory_join(sb__cuda_memory *memory, sb_storage *storage) {
  memory->storage = storage;
  memory->previous = NULL;
  sb__lock_take(&listing);
  memory->next = listed;
  if (listed) listed->previous = memory;
  listed = memory;
  sb__lock_drop(&listing);
}

void sb__cuda_memory_leave(sb__cuda_memory *memory) {
  sb__lock_take(&listing);
  if (memory->next) memory->next->previous = memory->previous;
  if (memory->previous)
    memory->previous->next = memory->next;
  else
    listed = memory->next;
  sb__lock_drop(&listing);
}

/* Takes a reference, unless the storage is being freed. */
static bool revive(sb_storage *storage) {
  int_fast64_t count = atomic_load(&storage->count);
  while (count > 0 && !atomic_compare_exchange_weak(&storage->count, &count, count + 1)) continue;
  return count > 0;
}

sb_storage *sb__cuda_memory_at(const char *data, size_t nbytes) {
  sb__lock_take(&listing);
  const sb__cuda_memory *m = listed;
  for (; m; m = m->next) {
    const bool is_owner = m->block || m->release;
    const bool has_all = data >= m->data && data + nbytes <= m->data + m->nbytes;
    if (is_owner && has_all && revive(m->storage)) break;
  }
  sb_storage *owner = m ? m->storage : NULL;
  sb__lock_drop(&listing);
  return owner;
}

/* ---- The last use of a storage ---- */

sb__cuda_memory *sb__cuda_memory_of(const sb_storage *storage) {
  const sb_storage *root = sb__storage_root(storage);
  const bool is_ours =
      root && (root->kind == SB__STORAGE_CUDA || root->kind == SB__STORAGE_PAGE_LOCKED ||
               root->kind == SB__STORAGE_CUDA_FOREIGN);
  return is_ours ? root->context : NULL;
}

sb__cuda_last_use *sb__cuda_last_use_of(const sb_storage *storage) {
  sb__cuda_memory *memory = sb__cuda_memory_of(storage);
  return memory ? &memory->last_use : NULL;
}

sb_status sb__cuda_before(const sb_storage *storage, const sb__cuda_raw_stream *stream) {
  const sb__cuda_last_use *use = sb__cuda_last_use_of(storage);
  return use ? sb__cuda_last_use_before(use, stream) : SB_OK;
}

sb_status sb__cuda_after(const sb_storage *storage, const sb__cuda_raw_stream *stream) {
  sb__cuda_last_use *use = sb__cuda_last_use_of(storage);
  return use ? sb__cuda_last_use_after(use, stream) : SB_OK;
}
