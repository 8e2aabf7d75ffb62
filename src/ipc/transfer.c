/* One table per process. A freed slot is used again with another generation. */
#include "ipc/transfer.h"

#include <string.h>

#define SLOT_BITS 24
#define LAST_GENERATION ((UINT32_C(1) << 29) - 1)

typedef struct handle {
  sb_storage *storage; /* one reference; NULL: an empty slot */
  int64_t uses;
  uint32_t generation;
  uint32_t next_free; /* slot + 1; 0: none */
} handle;

static sb__lock lock;
static handle *handles;
static uint32_t capacity, used, first_free; /* first_free: slot + 1 */
static int64_t in_flight;
static uint64_t process_id; /* 0: not drawn yet */

/* Doubles the table, unless another thread has. count: slots that it had when the caller looked. Under the lock there are no calls and no loops (see
 * sb__lock). */
static bool grow_table(uint32_t count) {
  const uint32_t wanted = count ? 2 * count : 16;
  handle *unused = count < UINT32_C(1) << SLOT_BITS ? sb__alloc(wanted * sizeof(handle)) : NULL;
  if (!unused) return false;
  memset(unused, 0, wanted * sizeof(handle));
  sb__lock_take(&lock);
  if (capacity == count) {
    handle *grown = unused;
    if (count) memcpy(grown, handles, count * sizeof(handle));
    unused = handles;
    handles = grown;
    capacity = wanted;
  }
  sb__lock_drop(&lock);
  sb__free(unused);
  return true;
}

typedef enum outcome { PUT, NO_SLOT, TOO_MANY } outcome;

/* The storage's reference becomes the handle's. */
static outcome put_handle(sb_storage *storage, int64_t uses, double *key, uint32_t *count) {
  sb__lock_take(&lock);
  const outcome done = uses > INT64_MAX - in_flight    ? TOO_MANY
                       : first_free || used < capacity ? PUT
                                                       : NO_SLOT;
  *count = capacity;
  if (done == PUT) {
    const uint32_t slot = first_free ? first_free - 1 : used++;
    handle *p = &handles[slot];
    if (first_free) first_free = p->next_free;
    p->storage = storage;
    p->uses = uses;
    p->generation++;
    in_flight += uses;
    *key = (double)((uint64_t)p->generation << SLOT_BITS | slot);
  }
  sb__lock_drop(&lock);
  return done;
}

sb_status sb__transfer_new(sb_storage *storage, int64_t uses, double *key) {
  uint32_t count = 0;
  outcome done;
  if (storage->kind == SB__STORAGE_BORROWED) {
    return sb__fail(SB_ERR_UNSUPPORTED, "borrowed bytes cannot be handed to another thread");
  }
  if (uses < 1)
    return sb__fail(SB_ERR_BOUNDS, "uses is %lld; at least 1 was expected", (long long)uses);
  sb_storage *kept = sb_storage_ref(storage);
  while ((done = put_handle(kept, uses, key, &count)) == NO_SLOT && grow_table(count)) continue;
  if (done == PUT) return SB_OK;
  sb_storage_unref(&kept);
  return sb__fail(SB_ERR_MEMORY, "no memory for another token");
}

/* The handle with this key; the lock is held. */
SB__STRAIGHT handle *find_handle(double key) {
  if (!(key >= 1 && key < 9007199254740992.0)) return NULL;
  const uint64_t bits = (uint64_t)key;
  const uint64_t slot = bits & ((UINT64_C(1) << SLOT_BITS) - 1);
  if ((double)bits != key || slot >= used) return NULL;
  handle *p = &handles[slot];
  return p->storage && p->generation == bits >> SLOT_BITS ? p : NULL;
}

SB__STRAIGHT void empty_slot(handle *p) {
  p->storage = NULL;
  if (p->generation == LAST_GENERATION) return; /* never used again */
  p->next_free = first_free;
  first_free = (uint32_t)(p - handles) + 1;
}

static sb_status fail_stale(void) {
  return sb__fail(SB_ERR_STALE, "the token was used up or taken back, or is none");
}

sb_status sb__transfer_take(double key, sb_storage **out) {
  sb__lock_take(&lock);
  handle *p = find_handle(key);
  if (p) {
    in_flight--;
    if (--p->uses > 0) {
      *out = p->storage;
      atomic_fetch_add_explicit(&p->storage->count, 1, memory_order_relaxed);
    } else {
      *out = p->storage;
      empty_slot(p);
    }
  }
  sb__lock_drop(&lock);
  return p ? SB_OK : fail_stale();
}

sb_status sb__transfer_peek(double key, sb_storage **out) {
  sb__lock_take(&lock);
  const handle *p = find_handle(key);
  if (p) {
    *out = p->storage;
    atomic_fetch_add_explicit(&p->storage->count, 1, memory_order_relaxed);
  }
  sb__lock_drop(&lock);
  return p ? SB_OK : fail_stale();
}

sb_status sb__transfer_nbytes(double key, size_t *nbytes) {
  sb__lock_take(&lock);
  const handle *p = find_handle(key);
  if (p) *nbytes = p->storage->nbytes;
  sb__lock_drop(&lock);
  return p ? SB_OK : fail_stale();
}

sb_status sb__transfer_drop(double key) {
  sb_storage *storage = NULL;
  sb__lock_take(&lock);
  handle *p = find_handle(key);
  if (p) {
    in_flight -= p->uses;
    storage = p->storage;
    empty_slot(p);
  }
  sb__lock_drop(&lock);
  sb_storage_unref(&storage); /* may free, and call a deleter: not under the lock */
  return p ? SB_OK : fail_stale();
}

int64_t sb__transfers_in_flight(void) {
  sb__lock_take(&lock);
  const int64_t now = in_flight;
  sb__lock_drop(&lock);
  return now;
}

double sb__transfer_process_id(void) {
  const uint64_t drawn = (sb__os_unique() >> 11) | 1;
  sb__lock_take(&lock);
  if (!process_id) process_id = drawn;
  const uint64_t now = process_id;
  sb__lock_drop(&lock);
  return (double)now;
}
