/* Handles: one process-wide table of slots with generations, and each environment's claims on it.
 * Only slots and generations need the lock: a claim keeps its storage alive, so looking one up is a
 * matter of the environment alone. */
#include <string.h>

#include "bind/frame.h"

#define SLOT_BITS 24
#define GENERATION_BITS 29
#define LAST_GENERATION ((UINT32_C(1) << GENERATION_BITS) - 1)

typedef struct slot {
  uint32_t generation; /* of the storage in it, or of the last one */
  uint32_t next_free;  /* slot + 1; 0: none */
} slot;

static sb__lock lock;
static slot *slots;
static uint32_t slot_count, used_count, first_free; /* first_free: slot + 1 */

/* Doubles an array until it has index. */
static bool reserve(void **array, uint32_t *count, uint32_t index, size_t itemsize) {
  uint32_t wanted = *count ? *count : 64;
  if (index < *count) return true;
  while (wanted <= index) wanted *= 2;
  void *grown = sb__realloc(*array, wanted * itemsize);
  if (!grown) return false;
  memset((char *)grown + *count * itemsize, 0, (wanted - *count) * itemsize);
  *array = grown;
  *count = wanted;
  return true;
}

/* Doubles the table, unless another thread did. count: slots that it had when the caller looked. Under the lock there are no calls
 * and no loops. */
static bool more_slots(uint32_t count) {
  const uint32_t wanted = count ? 2 * count : 64;
  slot *unused = count < UINT32_C(1) << SLOT_BITS ? sb__alloc(wanted * sizeof(slot)) : NULL;
  if (!unused) return false;
  memset(unused, 0, wanted * sizeof(slot));
  sb__lock_take(&lock);
  if (slot_count == count) {
    slot *grown = unused;
    if (count) memcpy(grown, slots, count * sizeof(slot));
    unused = slots;
    slots = grown;
    slot_count = wanted;
  }
  sb__lock_drop(&lock);
  sb__free(unused);
  return true;
}

static bool take_slot(uint32_t *out, uint32_t *generation) {
  for (;;) {
    uint32_t index = UINT32_MAX;
    sb__lock_take(&lock);
    const uint32_t count = slot_count;
    if (first_free) {
      index = first_free - 1;
      first_free = slots[index].next_free;
    } else if (used_count < count) {
      index = used_count++;
    }
    if (index != UINT32_MAX) *generation = ++slots[index].generation;
    sb__lock_drop(&lock);
    *out = index;
    if (index != UINT32_MAX) return true;
    if (!more_slots(count)) return false;
  }
}

static void give_back_slot(uint32_t index) {
  sb__lock_take(&lock);
  if (slots[index].generation < LAST_GENERATION) { /* else retired: a handle is never made twice */
    slots[index].next_free = first_free;
    first_free = index + 1;
  }
  sb__lock_drop(&lock);
}

sb_status sb__claim_new(sb__binding *b, sb_storage *storage, double *handle) {
  uint32_t index = 0, generation = 0;
  void *claims = b->claims;
  if (!take_slot(&index, &generation)) {
    return sb__fail(SB_ERR_MEMORY, "no memory for another storage handle");
  }
  if (!reserve(&claims, &b->claim_count, index, sizeof(sb__claim))) {
    give_back_slot(index);
    return sb__fail(SB_ERR_MEMORY, "no memory for another storage claim");
  }
  b->claims = claims;
  b->claims[index] = (sb__claim){generation, storage};
  *handle = (double)((uint64_t)generation << SLOT_BITS | index);
  return SB_OK;
}

static sb__claim *find_claim(const sb__binding *b, double handle) {
  if (!(handle >= 1 && handle < (double)(UINT64_C(1) << (SLOT_BITS + GENERATION_BITS))))
    return NULL;
  const uint64_t bits = (uint64_t)handle;
  const uint64_t index = bits & ((UINT64_C(1) << SLOT_BITS) - 1);
  if ((double)bits != handle || index >= b->claim_count) return NULL;
  sb__claim *claim = &b->claims[index];
  return claim->generation && claim->generation == bits >> SLOT_BITS ? claim : NULL;
}

sb_storage *sb__claim_get(const sb__binding *b, double handle) {
  const sb__claim *claim = find_claim(b, handle);
  return claim ? claim->storage : NULL;
}

static void drop_claim(sb__binding *b, sb__claim *claim) {
  sb_storage *storage = claim->storage;
  *claim = (sb__claim){0, NULL};
  give_back_slot((uint32_t)(claim - b->claims));
  sb_storage_unref(&storage);
}

sb_status sb__claim_drop(sb__binding *b, double handle) {
  sb__claim *claim = find_claim(b, handle);
  if (!claim)
    return sb__fail(SB_ERR_STALE, "the handle %s is not alive here", sb__digits_of(handle).text);
  drop_claim(b, claim);
  return SB_OK;
}

void sb__claims_drop_all(sb__binding *b) {
  for (uint32_t i = 0; i < b->claim_count; i++) {
    if (b->claims[i].generation) drop_claim(b, &b->claims[i]);
  }
  sb__free(b->claims);
  b->claims = NULL;
  b->claim_count = 0;
}

sb_status sb__claim_result(sb__binding *b, sb_storage *storage) {
  double *results = b->frame + SB__FRAME_RESULTS;
  if ((double)(uintptr_t)storage->data + (double)storage->nbytes >= 9007199254740992.0) {
    return sb__fail(SB_ERR_BOUNDS, "address 0x%llx is beyond what JavaScript can count",
                    (unsigned long long)(uintptr_t)storage->data);
  }
  results[1] = (double)(uintptr_t)storage->data;
  results[2] = (double)storage->nbytes;
  return sb__claim_new(b, storage, &results[0]);
}
