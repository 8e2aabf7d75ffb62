/* Storages: bytes with an atomic reference count. The thread that drops the last reference frees them. Totals are kept for
 * memory(). */
#include "core/core.h"

static atomic_int_fast64_t storages, heap_bytes, foreign_bytes, mapped_bytes, part_bytes;
static atomic_int_fast64_t pinned_bytes, cuda_bytes, scratch_bytes;

static atomic_int_fast64_t *bytes_of(sb__storage_kind kind) {
  switch (kind) {
    case SB__STORAGE_HEAP: return &heap_bytes;
    case SB__STORAGE_MAPPED: return &mapped_bytes;
    case SB__STORAGE_PART: return &part_bytes; /* counted by the whole; not reported */
    case SB__STORAGE_SCRATCH: return &scratch_bytes;
#ifndef __wasm__
    case SB__STORAGE_PAGE_LOCKED: return &pinned_bytes;
    case SB__STORAGE_CUDA:
    case SB__STORAGE_CUDA_FOREIGN: return &cuda_bytes;
#endif
    default: return &foreign_bytes;
  }
}

/* sign: 1 adds a storage to the totals, -1 removes it. */
static void count_storage(const sb_storage *storage, int sign) {
  if (storage->kind == SB__STORAGE_PIN) return;
  atomic_fetch_add(&storages, sign);
  atomic_fetch_add(bytes_of(storage->kind), sign * (int_fast64_t)storage->nbytes);
}

/* ---- Memory of calls ---- */

#define SMALL_SCRATCH \
 65536 /* bytes that a call always gets: results go into tensors that are there, however full memory is */

static SB_THREAD_LOCAL sb__scratch scratch; /* of the call that this thread runs */

void sb__scratch_begin(double room) {
  if (!(room > 0)) return;
  scratch = (sb__scratch){.is_bounded = true,
                          .begun = atomic_load(&heap_bytes),
                          .room = room < 0x1p53 ? (int64_t)room : INT64_C(1) << 53};
}

int64_t sb__scratch_end(void) {
  const sb__scratch ended = sb__scratch_move();
  if (ended.taken) atomic_fetch_sub(&scratch_bytes, ended.taken);
  return ended.refused;
}

sb__scratch sb__scratch_move(void) {
  const sb__scratch moved = scratch;
  scratch = (sb__scratch){0};
  return moved;
}

void sb__scratch_set(sb__scratch to) { scratch = to; }

bool sb__scratch_allows(int64_t nbytes) {
  if (!scratch.is_bounded || nbytes <= SMALL_SCRATCH) return true;
  const int64_t others = atomic_load(&heap_bytes) - scratch.begun + atomic_load(&scratch_bytes);
  if (nbytes <= scratch.room - others) return true;
  if (!scratch.refused)
    scratch.refused = nbytes < INT64_MAX / 2 ? nbytes + (others > 0 ? others : 0) : nbytes;
  return false;
}

void *sb__alloc_bytes(int64_t nbytes) {
  if (nbytes > PTRDIFF_MAX || !sb__scratch_allows(nbytes)) return NULL;
  void *data = sb__alloc_aligned((size_t)nbytes);
  if (!data || !scratch.is_bounded) return data;
  scratch.taken += nbytes;
  atomic_fetch_add(&scratch_bytes, nbytes);
  return data;
}

/* ---- Storages ---- */

static sb_status new_storage(sb__storage_kind kind, void *data, size_t nbytes, sb_deleter deleter,
                             void *context, sb_storage **out) {
  sb_storage *storage = sb__alloc(sizeof *storage);
  if (!storage) return sb__fail(SB_ERR_MEMORY, "no memory for a storage record");
  sb__storage_borrow(data, nbytes, storage);
  storage->kind = kind;
  storage->deleter = deleter;
  storage->context = context;
  count_storage(storage, 1);
  *out = storage;
  return SB_OK;
}

static void free_heap(void *data, void *context) {
  (void)context;
  sb__free_aligned(data);
}

sb_status sb_storage_new(size_t nbytes, sb_storage **out) {
  void *data = NULL;
  if (nbytes) {
    data = sb__alloc_aligned(nbytes);
    if (!data) return sb__fail(SB_ERR_MEMORY, "%zu bytes could not be allocated", nbytes);
  }
  sb_status status = new_storage(SB__STORAGE_HEAP, data, nbytes, free_heap, NULL, out);
  if (status) sb__free_aligned(data);
#ifdef __wasm__
  if (!status && data && !sb__heap_own(data, &(*out)->count)) {
    sb_storage_unref(out);
    status = sb__fail(SB_ERR_MEMORY, "no memory for the index of storages");
  }
#endif
  return status;
}

#ifdef __wasm__
sb_status sb__storage_at(uint32_t address, size_t nbytes, sb_storage **out) {
  _Static_assert(offsetof(sb_storage, count) == 0, "an owner starts with its count");
  sb_storage *whole = (sb_storage *)(void *)sb__heap_owner(address);
  const uint32_t at = whole ? address - (uint32_t)whole->data : 0;
  sb_status status = SB_OK;
  if (!whole || at >= whole->nbytes) {
    status = sb__fail(SB_ERR_STALE,
                      "the bytes at address %lu of WebAssembly's memory are no tensor's: they were "
                      "freed, or never one's",
                      (unsigned long)address);
  } else if (nbytes > whole->nbytes - at) {
    status =
        sb__fail(SB_ERR_BOUNDS,
                 "%zu bytes at address %lu of WebAssembly's memory reach beyond the tensor that "
                 "begins there: %zu are its own",
                 nbytes, (unsigned long)address, whole->nbytes - at);
  } else if (out) {
    status = sb__storage_part(whole, at, (int64_t)nbytes, out);
  }
  sb_storage_unref(&whole);
  return status;
}
#endif

sb_status sb__storage_wrap_as(sb__storage_kind kind, void *data, size_t nbytes, sb_deleter deleter,
                              void *context, sb_storage **out) {
  return new_storage(kind, data, nbytes, deleter, context, out);
}

static void drop_whole(void *data, void *context) {
  sb_storage *whole = context;
  (void)data;
  sb_storage_unref(&whole);
}

sb_status sb__storage_part(sb_storage *whole, int64_t at, int64_t nbytes, sb_storage **out) {
  if (whole->kind == SB__STORAGE_BORROWED) {
    return sb__fail(SB_ERR_ARGUMENT, "borrowed bytes have no parts that stay");
  }
  if (at < 0 || nbytes < 0 || (uint64_t)at > whole->nbytes ||
      (uint64_t)nbytes > whole->nbytes - (uint64_t)at) {
    return sb__fail(SB_ERR_BOUNDS, "%lld bytes from byte %lld on are outside the storage",
                    (long long)nbytes, (long long)at);
  }
  void *data = (char *)whole->data + at;
  const sb_status status =
      new_storage(SB__STORAGE_PART, data, (size_t)nbytes, drop_whole, whole, out);
  if (status) return status;
  sb_storage_ref(whole);
  (*out)->fault = whole->fault;
  (*out)->device = whole->device;
  (*out)->base = whole;
  return SB_OK;
}

sb_status sb_storage_wrap(void *data, size_t nbytes, sb_deleter deleter, void *context,
                          sb_storage **out) {
  if (!data && nbytes) {
    return sb__fail(SB_ERR_ARGUMENT, "address 0 was given with %zu bytes; it can have none",
                    nbytes);
  }
  return new_storage(SB__STORAGE_FOREIGN, data, nbytes, deleter, context, out);
}

sb_status sb__storage_pin(void *data, size_t nbytes, sb_storage *base, sb_deleter give_back,
                          void *context, sb_storage **out) {
  const sb_status status = new_storage(SB__STORAGE_PIN, data, nbytes, give_back, context, out);
  if (status || !base) return status;
  (*out)->fault = base->fault;
  (*out)->device = base->device;
  (*out)->base = base;
  return SB_OK;
}

const sb_storage *sb__storage_root(const sb_storage *storage) {
  while (storage && storage->base) storage = storage->base;
  return storage;
}

void sb__storage_borrow(void *data, size_t nbytes, sb_storage *out) {
  atomic_init(&out->count, 1);
  out->kind = SB__STORAGE_BORROWED;
  out->device = -1;
  out->data = data;
  out->nbytes = nbytes;
  out->deleter = NULL;
  out->context = NULL;
  out->fault = NULL;
  out->base = NULL;
}

sb_storage *sb_storage_ref(sb_storage *storage) {
  if (storage) atomic_fetch_add_explicit(&storage->count, 1, memory_order_relaxed);
  return storage;
}

void sb_storage_unref(sb_storage **storage) {
  sb_storage *s = *storage;
  *storage = NULL;
  if (!s || s->kind == SB__STORAGE_BORROWED) return;
  if (atomic_fetch_sub_explicit(&s->count, 1, memory_order_acq_rel) != 1) return;
  if (s->deleter) s->deleter(s->data, s->context);
  count_storage(s, -1);
  sb__free(s);
}

static const char *_Atomic kind = "device";

void sb__set_device_name(const char *called) { atomic_store(&kind, called); }

sb_status sb__check_host(const char *name, const sb_storage *storage) {
  if (!SB__ON_DEVICE(storage)) return SB_OK;
  return sb__fail(SB_ERR_DEVICE,
                  "%s lies on %s:%d, where the CPU cannot touch it; cpu() gives a copy that it can",
                  name, atomic_load(&kind), (int)storage->device);
}

sb_status sb__check_intact(const sb_storage *storage) {
  if (!storage->fault || !atomic_load(storage->fault)) return SB_OK;
  return sb__fail(
      SB_ERR_IO,
      "the bytes are gone: their file was made shorter while it was mapped, or cannot be read");
}

void *sb_storage_data(const sb_storage *storage) { return storage->data; }

size_t sb_storage_nbytes(const sb_storage *storage) { return storage->nbytes; }

sb__storage_totals sb__storage_totals_now(void) {
  return (sb__storage_totals){atomic_load(&storages),      atomic_load(&heap_bytes),
                              atomic_load(&foreign_bytes), atomic_load(&mapped_bytes),
                              atomic_load(&pinned_bytes),  atomic_load(&cuda_bytes)};
}
