/* Page-locked memory of the host: from a pool by sizes, because the driver takes milliseconds for it; and memory of others that is
 * locked where it lies.
 *
 * A block that comes back while a device may still be at work on it has an event of that work, and is given out again when it
 * is done. */
#include "cuda/internal.h"

#define LEAST ((size_t)4096)
#define MOST ((size_t)1 << 30)
enum { CLASSES = 20 }; /* 4 KiB, 8 KiB, … 1 GiB, larger ones */
enum { PORTABLE = 1, DEVICE_MAP = 2, READ_ONLY = 8 };

typedef struct pinned_block {
  struct pinned_block *next;
  void *data;
  size_t nbytes;
  CUevent event; /* of its last work; NULL: it is done */
  int device;    /* the event's */
} pinned_block;

static sb__lock lock;
static pinned_block *unused[CLASSES];
static sb__cuda_pinned_statistics seen;

static int class_of(size_t nbytes) {
  int class = 0;
  for (size_t most = LEAST; most < nbytes && class < CLASSES - 1; most *= 2) class ++;
  return class;
}

static size_t class_nbytes(size_t nbytes) {
  return nbytes > MOST ? (nbytes + LEAST - 1) / LEAST * LEAST : LEAST << class_of(nbytes);
}

/* Page-locking works in any context, and is for all of them. */
static sb_status enter_any(void) {
  for (int i = 0; i < sb__cuda_devices(); i++) {
    if (sb__cuda_is_entered(i)) return sb__cuda_enter(i);
  }
  return sb__cuda_enter(0);
}

/* ---- The pool ---- */

static bool is_done(const pinned_block *b) {
  return !b->event || sb__cu.cuEventQuery(b->event) == 0;
}

/* One whose work is done. Of larger ones, none that is twice too large. In a context. */
static pinned_block *take_unused(size_t nbytes) {
  const int class = class_of(nbytes);
  sb__lock_take(&lock);
  pinned_block **at = &unused[class], *b = NULL;
  for (; *at; at = &(*at)->next) {
    if ((*at)->nbytes < nbytes || (*at)->nbytes / 2 > nbytes + LEAST || !is_done(*at)) continue;
    b = *at;
    *at = b->next;
    break;
  }
  sb__lock_drop(&lock);
  return b;
}

static void count(int64_t allocated, int64_t reserved) {
  sb__lock_take(&lock);
  seen.allocated += allocated;
  seen.reserved += reserved;
  sb__lock_drop(&lock);
}

/* In a context. */
static sb_status new_block(size_t nbytes, pinned_block **out) {
  void *data = NULL;
  pinned_block *b = sb__alloc(sizeof *b);
  if (!b) return sb__fail(SB_ERR_MEMORY, "no memory for a storage record");
  CUresult result = sb__cu.cuMemHostAlloc(&data, nbytes, PORTABLE | DEVICE_MAP);
  for (int i = 0; result == SB__CU_OUT_OF_MEMORY && i < 2; i++) {
    if (i && !sb__cuda_sweep_now()) break;
    if (sb__cuda_empty_pinned()) break;
    result = sb__cu.cuMemHostAlloc(&data, nbytes, PORTABLE | DEVICE_MAP);
  }
  if (result) {
    sb__free(b);
    if (result != SB__CU_OUT_OF_MEMORY) return sb__cuda_check(result, "cuMemHostAlloc");
    const sb__cuda_pinned_statistics now = sb__cuda_pinned_statistics_now();
    return sb__fail(SB_ERR_MEMORY,
                    "%zu bytes of pinned memory could not be had; tensors have %lld bytes of it",
                    nbytes, (long long)now.allocated);
  }
  *b = (pinned_block){.data = data, .nbytes = nbytes};
  count(0, (int64_t)nbytes);
  *out = b;
  return SB_OK;
}

static void put_back(pinned_block *b, sb__cuda_last_use *use) {
  b->device = use->device;
  if (use->touched && sb__cuda_is_usable()) {
    /* Without an event nobody can tell: wait, or, where that fails as well, CUDA is lost. */
    if (sb__cuda_last_use_event(use, &b->event)) (void)sb__cuda_last_use_wait(use);
  }
  sb__lock_take(&lock);
  b->next = unused[class_of(b->nbytes)];
  unused[class_of(b->nbytes)] = b;
  seen.allocated -= (int64_t)b->nbytes;
  sb__lock_drop(&lock);
}

static void free_pinned(void *data, void *context) {
  sb__cuda_memory *memory = context;
  (void)data;
  if (sb__cuda_is_forked()) return; /* a lock may be held by a thread that is not here */
  if (memory->block) {
    sb__cuda_memory_leave(memory);
    put_back(memory->block, &memory->last_use);
  }
  sb__free(memory);
}

sb_status sb__cuda_pinned_new(size_t nbytes, sb_storage **out) {
  pinned_block *b = NULL;
  if (nbytes > PTRDIFF_MAX / 2)
    return sb__fail(SB_ERR_MEMORY, "%zu bytes cannot be allocated", nbytes);
  sb_status status = enter_any();
  if (status) return status;
  sb__cuda_memory *memory = sb__alloc(sizeof *memory);
  if (!memory) status = sb__fail(SB_ERR_MEMORY, "no memory for a storage record");
  if (!status && nbytes) {
    b = take_unused(class_nbytes(nbytes));
    if (!b) status = new_block(class_nbytes(nbytes), &b);
  }
  sb__cuda_leave();
  if (b) {
    sb__cuda_event_give(b->device, b->event);
    b->event = NULL;
    count((int64_t)b->nbytes, 0);
  }
  if (!status) {
    *memory =
        (sb__cuda_memory){.device = -1, .block = b, .data = b ? b->data : NULL, .nbytes = nbytes};
    status = sb__storage_wrap_as(SB__STORAGE_PAGE_LOCKED, b ? b->data : NULL, nbytes, free_pinned,
                                 memory, out);
  }
  if (!status && b) sb__cuda_memory_join(memory, *out);
  if (!status) return SB_OK;
  if (b) put_back(b, &(sb__cuda_last_use){.touched = false});
  sb__free(memory);
  return status;
}

sb__cuda_pinned_statistics sb__cuda_pinned_statistics_now(void) {
  sb__lock_take(&lock);
  const sb__cuda_pinned_statistics now = seen;
  sb__lock_drop(&lock);
  return now;
}

sb_status sb__cuda_empty_pinned(void) {
  pinned_block *gone = NULL;
  sb_status status = enter_any();
  if (status) return status;
  sb__lock_take(&lock);
  for (int class = 0; class < CLASSES; class ++) {
    while (unused[class]) {
      pinned_block *b = unused[class];
      unused[class] = b->next;
      b->next = gone;
      gone = b;
      seen.reserved -= (int64_t)b->nbytes;
    }
  }
  sb__lock_drop(&lock);
  while (gone) {
    pinned_block *b = gone;
    gone = b->next;
    sb_status freed = SB_OK;
    if (b->event) freed = sb__cuda_check(sb__cu.cuEventSynchronize(b->event), "waiting for copies");
    sb__cuda_event_give(b->device, b->event);
    if (!sb__cuda_is_lost()) freed = sb__cuda_check(sb__cu.cuMemFreeHost(b->data), "cuMemFreeHost");
    if (!status) status = freed;
    sb__free(b);
  }
  sb__cuda_leave();
  return status;
}

/* ---- Memory of others ---- */

struct sb__cuda_registration {
  sb__cuda_registration *next;
  sb__cuda_last_use last_use;
  char *data;
  size_t nbytes;
  sb_storage *storage; /* NULL: whoever asked keeps the bytes */
  atomic_int users;    /* threads that are about to touch it */
};

static sb__cuda_registration *registrations;
static atomic_int registered; /* how many */

static bool touches(const sb__cuda_registration *r, const char *data, size_t nbytes) {
  return data < r->data + r->nbytes && r->data < data + nbytes;
}

/* Lists it, unless it touches another one. */
static bool enlist(sb__cuda_registration *made) {
  sb__lock_take(&lock);
  const sb__cuda_registration *r = registrations;
  while (r && !touches(r, made->data, made->nbytes)) r = r->next;
  if (!r) {
    made->next = registrations;
    registrations = made;
    seen.registered += (int64_t)made->nbytes;
    atomic_fetch_add(&registered, 1);
  }
  sb__lock_drop(&lock);
  return !r;
}

static void strike(sb__cuda_registration *gone) {
  sb__lock_take(&lock);
  sb__cuda_registration **at = &registrations;
  while (*at != gone) at = &(*at)->next;
  *at = gone->next;
  seen.registered -= (int64_t)gone->nbytes;
  atomic_fetch_sub(&registered, 1);
  sb__lock_drop(&lock);
}

static sb_status is_registered_already(void) {
  return sb__fail(SB_ERR_EXISTS, "some of these bytes are page-locked already");
}

sb_status sb__cuda_register(void *data, size_t nbytes, bool read_only, sb_storage *storage,
                            sb__cuda_registration **out) {
  if (!data || !nbytes) return sb__fail(SB_ERR_ARGUMENT, "there are no bytes to page-lock");
  sb_status status = sb__check_host("the memory", storage);
  if (!status) status = enter_any();
  if (status) return status;
  sb__cuda_registration *made = sb__alloc(sizeof *made);
  if (!made) {
    sb__cuda_leave();
    return sb__fail(SB_ERR_MEMORY, "no memory for a registration");
  }
  *made = (sb__cuda_registration){.data = data, .nbytes = nbytes};
  if (!enlist(made)) {
    sb__cuda_leave();
    sb__free(made);
    return is_registered_already();
  }
  const unsigned flags = PORTABLE | DEVICE_MAP | (read_only ? READ_ONLY : 0u);
  const CUresult result = sb__cu.cuMemHostRegister(data, nbytes, flags);
  sb__cuda_leave();
  if (result) {
    strike(made);
    sb__free(made);
    if (result == SB__CU_ALREADY_REGISTERED) return is_registered_already();
    return sb__cuda_check(result, "page-locking memory");
  }
  made->storage = sb_storage_ref(storage);
  *out = made;
  return SB_OK;
}

void sb__cuda_unregister(sb__cuda_registration **registration) {
  sb__cuda_registration *gone = *registration;
  *registration = NULL;
  if (!gone || sb__cuda_is_forked()) return;
  strike(gone);
  while (atomic_load(&gone->users)) sb__os_yield();
  (void)sb__cuda_last_use_wait(&gone->last_use);
  if (sb__cuda_is_usable() && !enter_any()) {
    (void)sb__cuda_check(sb__cu.cuMemHostUnregister(gone->data), "letting pages go");
    sb__cuda_leave();
  }
  sb_storage_unref(&gone->storage);
  sb__free(gone);
}

/* The one that has a whole range, and has a user more. */
static sb__cuda_registration *hold_registration(const char *data, size_t nbytes) {
  if (!atomic_load(&registered)) return NULL;
  sb__lock_take(&lock);
  sb__cuda_registration *r = registrations;
  while (r && (data < r->data || data + nbytes > r->data + r->nbytes)) r = r->next;
  if (r) atomic_fetch_add(&r->users, 1);
  sb__lock_drop(&lock);
  return r;
}

sb__cuda_last_use *sb__cuda_pin(const sb_storage *storage, const void *data, size_t nbytes,
                                sb__cuda_registration **held) {
  const sb_storage *root = sb__storage_root(storage);
  *held = NULL;
  if (root && root->kind == SB__STORAGE_PAGE_LOCKED)
    return &((sb__cuda_memory *)root->context)->last_use;
  *held = hold_registration(data, nbytes);
  return *held ? &(*held)->last_use : NULL;
}

void sb__cuda_unpin(sb__cuda_registration *held) {
  if (held) atomic_fetch_sub(&held->users, 1);
}

bool sb__cuda_is_pinned(const sb_storage *storage, const void *data, size_t nbytes) {
  sb__cuda_registration *held = NULL;
  const bool is_pinned = sb__cuda_pin(storage, data, nbytes, &held) != NULL;
  sb__cuda_unpin(held);
  return is_pinned;
}

sb_status sb__cuda_device_address(const sb_storage *storage, int device, CUdeviceptr *out) {
  CUdeviceptr address = 0;
  if (SB__ON_DEVICE(storage)) {
    if (storage->device != device) {
      return sb__fail(SB_ERR_DEVICE, "the bytes lie on cuda:%d; cuda:%d was asked",
                      (int)storage->device, device);
    }
    *out = (CUdeviceptr)(uintptr_t)storage->data;
    return SB_OK;
  }
  if (!sb__cuda_is_pinned(storage, storage->data, storage->nbytes)) {
    return sb__fail(SB_ERR_DEVICE,
                    "no device sees these bytes; pinMemory() gives a copy that they do");
  }
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_check(sb__cu.cuMemHostGetDevicePointer(&address, storage->data, 0),
                          "cuMemHostGetDevicePointer");
  sb__cuda_leave();
  if (!status) *out = address;
  return status;
}
