/* One process-wide table. A slot that was emptied is used again under another generation. */
#include "share/parcels.h"

#define SLOT_BITS 24
#define LAST_GENERATION ((UINT32_C(1) << 29) - 1)

typedef struct parcel {
  sb_storage *storage; /* one reference; NULL: an empty slot */
  int64_t uses;
  uint32_t generation;
  uint32_t next_free; /* slot + 1; 0: none */
} parcel;

static sb__lock lock;
static parcel *parcels;
static uint32_t room, used, first_free; /* first_free: slot + 1 */
static int64_t in_flight;
static uint64_t home; /* 0: nobody has asked */

static bool take_slot(uint32_t *slot) {
  if (first_free) {
    *slot = first_free - 1;
    first_free = parcels[*slot].next_free;
    return true;
  }
  if (used == room) {
    const uint32_t more = room ? 2 * room : 16;
    parcel *grown =
        more <= UINT32_C(1) << SLOT_BITS ? sb__realloc(parcels, more * sizeof(parcel)) : NULL;
    if (!grown) return false;
    parcels = grown;
    room = more;
  }
  *slot = used++;
  parcels[*slot].generation = 0;
  return true;
}

sb_status sb__parcel_new(sb_storage *storage, int64_t uses, double *key) {
  uint32_t slot = 0;
  if (storage->kind == SB__STORAGE_BORROWED) {
    return sb__fail(SB_ERR_UNSUPPORTED, "borrowed bytes cannot be handed to another thread");
  }
  if (uses < 1) return sb__fail(SB_ERR_BOUNDS, "uses is %lld; it is at least 1", (long long)uses);
  sb__lock_take(&lock);
  const bool taken = uses <= INT64_MAX - in_flight && take_slot(&slot);
  if (taken) {
    parcel *p = &parcels[slot];
    p->storage = sb_storage_ref(storage);
    p->uses = uses;
    p->generation++;
    in_flight += uses;
    *key = (double)((uint64_t)p->generation << SLOT_BITS | slot);
  }
  sb__lock_drop(&lock);
  return taken ? SB_OK : sb__fail(SB_ERR_MEMORY, "no memory for another token");
}

/* The parcel with this key; the lock is held. */
static parcel *find(double key) {
  if (!(key >= 1 && key < 9007199254740992.0)) return NULL;
  const uint64_t bits = (uint64_t)key;
  const uint64_t slot = bits & ((UINT64_C(1) << SLOT_BITS) - 1);
  if ((double)bits != key || slot >= used) return NULL;
  parcel *p = &parcels[slot];
  return p->storage && p->generation == bits >> SLOT_BITS ? p : NULL;
}

static void empty_slot(parcel *p) {
  p->storage = NULL;
  if (p->generation == LAST_GENERATION) return; /* retired */
  p->next_free = first_free;
  first_free = (uint32_t)(p - parcels) + 1;
}

static sb_status stale(void) {
  return sb__fail(SB_ERR_STALE, "the token was used up or taken back, or is none");
}

sb_status sb__parcel_take(double key, sb_storage **out) {
  sb__lock_take(&lock);
  parcel *p = find(key);
  if (p) {
    in_flight--;
    if (--p->uses > 0) {
      *out = sb_storage_ref(p->storage);
    } else {
      *out = p->storage;
      empty_slot(p);
    }
  }
  sb__lock_drop(&lock);
  return p ? SB_OK : stale();
}

sb_status sb__parcel_nbytes(double key, size_t *nbytes) {
  sb__lock_take(&lock);
  const parcel *p = find(key);
  if (p) *nbytes = p->storage->nbytes;
  sb__lock_drop(&lock);
  return p ? SB_OK : stale();
}

sb_status sb__parcel_drop(double key) {
  sb_storage *storage = NULL;
  sb__lock_take(&lock);
  parcel *p = find(key);
  if (p) {
    in_flight -= p->uses;
    storage = p->storage;
    empty_slot(p);
  }
  sb__lock_drop(&lock);
  sb_storage_unref(&storage); /* which may free, and call a deleter */
  return p ? SB_OK : stale();
}

int64_t sb__parcels_in_flight(void) {
  sb__lock_take(&lock);
  const int64_t now = in_flight;
  sb__lock_drop(&lock);
  return now;
}

double sb__parcels_home(void) {
  sb__lock_take(&lock);
  if (!home) home = (sb__os_unique() >> 11) | 1;
  const uint64_t now = home;
  sb__lock_drop(&lock);
  return (double)now;
}
