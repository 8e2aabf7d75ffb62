/* Memory of devices: a cache over segments taken from the driver, because taking one there is slow, and giving one back waits for
 * the device.
 *
 * A segment is cut into blocks, neighbours in a list. A free block belongs to the stream that touched it last, and is used again by
 * that stream at once, in the order of its work. Free neighbours of one stream grow together. Small requests have segments
 * of their own, so that they do not break large ones into pieces. */
#include <string.h>

#include "cuda/internal.h"

#define UNIT ((size_t)512)
#define SMALL ((size_t)1 << 20)         /* up to here in small segments, ... */
#define SMALL_SEGMENT ((size_t)2 << 20) /* ... which are that large */
#define MIDDLE ((size_t)10 << 20)       /* up to here in middle ones */
#define MIDDLE_SEGMENT ((size_t)20 << 20)
#define LARGE_UNIT ((size_t)2 << 20) /* of segments for one block */

typedef struct segment {
  struct segment *next;
  struct block *first;
  CUdeviceptr address;
  size_t nbytes;
  bool is_small;
} segment;

typedef struct block {
  segment *segment;
  struct block *before, *after;           /* by address */
  struct block *free_before, *free_after; /* in a bin */
  size_t offset, nbytes;
  bool is_free;
  sb__cuda_use use; /* of the last holder, where it is free */
} block;

enum { BINS = 48 }; /* by the logarithm of bytes / UNIT */

typedef struct cache {
  sb__lock lock;
  segment *segments;
  block *bins[2][BINS]; /* of large and small segments */
  sb__cuda_statistics seen;
} cache;

static cache caches[SB__CUDA_DEVICES];

static SB_THREAD_LOCAL sb__cuda_sweep sweep;
static SB_THREAD_LOCAL void *sweep_context;

void sb__cuda_set_sweep(sb__cuda_sweep function, void *context) {
  sweep = function;
  sweep_context = context;
}

bool sb__cuda_sweep_now(void) { return sweep && sweep(sweep_context); }

/* ---- Free blocks; all under the cache's lock ---- */

static int bin_of(size_t nbytes) {
  int bin = 0;
  for (size_t units = nbytes / UNIT; units > 1 && bin < BINS - 1; units >>= 1) bin++;
  return bin;
}

static void list(cache *c, block *b) {
  block **bin = &c->bins[b->segment->is_small][bin_of(b->nbytes)];
  b->is_free = true;
  b->free_before = NULL;
  b->free_after = *bin;
  if (*bin) (*bin)->free_before = b;
  *bin = b;
}

static void unlist(cache *c, block *b) {
  if (b->free_after) b->free_after->free_before = b->free_before;
  if (b->free_before)
    b->free_before->free_after = b->free_after;
  else
    c->bins[b->segment->is_small][bin_of(b->nbytes)] = b->free_after;
  b->is_free = false;
}

/* May what is given to lane next use it as it is? */
static bool is_ready(const block *b, const sb__cuda_lane *lane) {
  return !b->use.touched || (b->use.stream == lane->kept && b->use.device == lane->device);
}

static bool are_alike(const block *a, const block *b) {
  if (!a->is_free || !b->is_free) return false;
  return a->use.touched == b->use.touched &&
         (!a->use.touched || (a->use.stream == b->use.stream && a->use.device == b->use.device));
}

/* b takes its neighbour after it in, of which nothing is left but memory for its record, which is returned. */
static block *join(block *b) {
  block *gone = b->after;
  b->nbytes += gone->nbytes;
  b->after = gone->after;
  if (b->after) b->after->before = b;
  return gone;
}

/* Lists b, grown together with its neighbours. */
static void put_back(cache *c, block *b) {
  block *gone = NULL;
  b->is_free = true;
  if (b->after && are_alike(b, b->after)) {
    unlist(c, b->after);
    gone = join(b);
    sb__free(gone);
  }
  if (b->before && are_alike(b->before, b)) {
    b = b->before;
    unlist(c, b);
    gone = join(b);
    sb__free(gone);
  }
  list(c, b);
}

/* The best of the first bin that has one. any: whoever touched it last. */
static block *find(cache *c, size_t nbytes, bool is_small, const sb__cuda_lane *lane, bool any) {
  for (int bin = bin_of(nbytes); bin < BINS; bin++) {
    block *best = NULL;
    for (block *b = c->bins[is_small][bin]; b; b = b->free_after) {
      if (b->nbytes < nbytes || !(any || is_ready(b, lane))) continue;
      if (!best || b->nbytes < best->nbytes) best = b;
    }
    if (best) return best;
  }
  return NULL;
}

/* Cuts what nbytes do not need off a block that was taken; rest: a record for that, used if it is cut off. */
static bool split(cache *c, block *b, size_t nbytes, block *rest) {
  const size_t left = b->nbytes - nbytes;
  if (!rest || left < UNIT || (!b->segment->is_small && left <= SMALL)) return false;
  *rest = (block){.segment = b->segment,
                  .before = b,
                  .after = b->after,
                  .offset = b->offset + nbytes,
                  .nbytes = left,
                  .use = b->use};
  if (b->after) b->after->before = rest;
  b->after = rest;
  b->nbytes = nbytes;
  list(c, rest);
  return true;
}

static void raise_peak(int64_t now, int64_t *peak) {
  if (now > *peak) *peak = now;
}

/* Counts b as taken, without what it has too much. */
static void hand_out(cache *c, block *b, size_t nbytes, block **rest) {
  unlist(c, b);
  if (split(c, b, nbytes, *rest)) *rest = NULL;
  c->seen.allocated += (int64_t)b->nbytes;
  c->seen.blocks++;
  c->seen.allocations++;
  raise_peak(c->seen.allocated, &c->seen.allocated_peak);
}

/* ---- Segments ---- */

static size_t rounded(size_t nbytes, size_t unit) { return (nbytes + unit - 1) / unit * unit; }

static size_t segment_nbytes(size_t nbytes) {
  if (nbytes <= SMALL) return SMALL_SEGMENT;
  return nbytes <= MIDDLE ? MIDDLE_SEGMENT : rounded(nbytes, LARGE_UNIT);
}

/* Takes a segment from the driver; its one block is listed. In the device's context, without the lock. SB_ERR_MEMORY: the device has not that much,
 * or the host no record. */
static sb_status add_segment(cache *c, size_t nbytes) {
  CUdeviceptr address = 0;
  segment *s = sb__alloc(sizeof *s);
  block *b = s ? sb__alloc(sizeof *b) : NULL;
  sb_status status = b ? SB_OK : sb__fail(SB_ERR_MEMORY, "no memory for a block's record");
  if (!status)
    status = sb__cuda_check(sb__cu.cuMemAlloc(&address, segment_nbytes(nbytes)), "cuMemAlloc");
  if (status) {
    sb__free(b);
    sb__free(s);
    return status;
  }
  *s = (segment){.first = b,
                 .address = address,
                 .nbytes = segment_nbytes(nbytes),
                 .is_small = nbytes <= SMALL};
  *b = (block){.segment = s, .nbytes = s->nbytes};
  sb__lock_take(&c->lock);
  s->next = c->segments;
  c->segments = s;
  c->seen.reserved += (int64_t)s->nbytes;
  c->seen.segments++;
  c->seen.driver_allocations++;
  raise_peak(c->seen.reserved, &c->seen.reserved_peak);
  list(c, b);
  sb__lock_drop(&c->lock);
  return SB_OK;
}

static bool is_whole(const segment *s) {
  for (const block *b = s->first; b; b = b->after) {
    if (!b->is_free) return false;
  }
  return true;
}

/* Takes segments of which nothing is in use out of the cache. */
static segment *detach_unused(cache *c) {
  segment *gone = NULL;
  sb__lock_take(&c->lock);
  for (segment **at = &c->segments; *at;) {
    segment *s = *at;
    if (!is_whole(s)) {
      at = &s->next;
      continue;
    }
    *at = s->next;
    s->next = gone;
    gone = s;
    for (block *b = s->first; b; b = b->after) unlist(c, b);
    c->seen.reserved -= (int64_t)s->nbytes;
    c->seen.segments--;
  }
  sb__lock_drop(&c->lock);
  return gone;
}

/* Gives them back to the driver. In the device's context, without the lock. */
static sb_status free_unused(cache *c) {
  segment *gone = detach_unused(c);
  sb_status status = SB_OK;
  if (gone) status = sb__cuda_check(sb__cu.cuCtxSynchronize(), "waiting for a device");
  while (gone) {
    segment *next = gone->next;
    const sb_status freed =
        sb__cuda_is_lost() ? SB_OK : sb__cuda_check(sb__cu.cuMemFree(gone->address), "cuMemFree");
    if (!status) status = freed;
    for (block *b = gone->first, *after = NULL; b; b = after) {
      after = b->after;
      sb__free(b);
    }
    sb__free(gone);
    gone = next;
  }
  return status;
}

/* The device has been waited for: what is free now is nobody's. Only blocks that were free before the wait began may be named, so
 * they are marked first. */
static sb_status settle(cache *c) {
  sb_status status = SB_OK;
  block *marked = NULL;
  sb__lock_take(&c->lock);
  for (int small = 0; small < 2; small++) {
    for (int bin = 0; bin < BINS; bin++) {
      for (block *b = c->bins[small][bin], *next = NULL; b; b = next) {
        next = b->free_after;
        unlist(c, b); /* taken, for the moment: nobody else gets it, or joins it */
        b->free_after = marked;
        marked = b;
      }
    }
  }
  sb__lock_drop(&c->lock);
  status = sb__cuda_check(sb__cu.cuCtxSynchronize(), "waiting for a device");
  sb__lock_take(&c->lock);
  for (block *b = marked, *next = NULL; b; b = next) {
    next = b->free_after;
    if (!status) b->use.touched = false;
    list(c, b);
  }
  for (segment *s = c->segments; !status && s; s = s->next) {
    for (block *b = s->first; b; b = b->after) {
      while (b->is_free && b->after && are_alike(b, b->after)) {
        unlist(c, b);
        unlist(c, b->after);
        sb__free(join(b));
        list(c, b);
      }
    }
  }
  sb__lock_drop(&c->lock);
  return status;
}

/* ---- Taking ---- */

/* A block from the cache; NULL: there is none. */
static block *take_cached(cache *c, size_t nbytes, const sb__cuda_lane *lane, bool any,
                          block **rest) {
  sb__lock_take(&c->lock);
  block *b = find(c, nbytes, nbytes <= SMALL, lane, any);
  if (b) hand_out(c, b, nbytes, rest);
  sb__lock_drop(&c->lock);
  return b;
}

/* Cache, then driver. out stays NULL where neither has any; the status is of other failures. */
static sb_status take_either(cache *c, size_t nbytes, const sb__cuda_lane *lane, block **rest,
                             block **out) {
  *out = take_cached(c, nbytes, lane, false, rest);
  while (!*out) {
    const sb_status status = add_segment(c, nbytes);
    if (status == SB_ERR_MEMORY) return SB_OK;
    if (status) return status;
    *out = take_cached(c, nbytes, lane, false, rest); /* another thread may have been quicker */
  }
  return SB_OK;
}

static sb_status no_memory(cache *c, int device, size_t asked) {
  size_t free_now = 0, total = 0;
  const bool known = !sb__cu.cuMemGetInfo(&free_now, &total);
  sb__lock_take(&c->lock);
  c->seen.failures++;
  const sb__cuda_statistics seen = c->seen;
  sb__lock_drop(&c->lock);
  char rest[128] = "";
  if (known) {
    sb__print(rest, sizeof rest, "; the device has %zu bytes, %zu of them free", total, free_now);
  }
  return sb__fail(
      SB_ERR_MEMORY,
      "cuda:%d has no room for %zu bytes: tensors have %lld bytes, %lld more are cached%s", device,
      asked, (long long)seen.allocated, (long long)(seen.reserved - seen.allocated), rest);
}

static void count_retry(cache *c) {
  sb__lock_take(&c->lock);
  c->seen.retries++;
  sb__lock_drop(&c->lock);
}

static void give(int device, block *b, const sb__cuda_use *use) {
  cache *c = &caches[device];
  sb__lock_take(&c->lock);
  b->use = *use;
  c->seen.allocated -= (int64_t)b->nbytes;
  c->seen.blocks--;
  put_back(c, b);
  sb__lock_drop(&c->lock);
}

/* A block of at least nbytes, a multiple of UNIT, that lane may use at once; other lanes come after its last use. In the device's
 * context. */
static sb_status take(int device, size_t nbytes, const sb__cuda_lane *lane, block **out) {
  cache *c = &caches[device];
  block *rest = sb__alloc(sizeof *rest), *b = NULL; /* NULL is fine: nothing is cut off then */
  sb_status status = take_either(c, nbytes, lane, &rest, &b);
  if (!status && !b) { /* a block of another stream, which this one then follows */
    count_retry(c);
    b = take_cached(c, nbytes, lane, true, &rest);
    if (b) status = sb__cuda_use_before(&b->use, lane);
  }
  if (!status && !b) status = free_unused(c);
  if (!status && !b) status = take_either(c, nbytes, lane, &rest, &b);
  if (!status && !b && sb__cuda_sweep_now()) {
    status = free_unused(c);
    if (!status) status = take_either(c, nbytes, lane, &rest, &b);
  }
  if (!status && !b) status = settle(c);
  if (!status && !b) status = free_unused(c);
  if (!status && !b) status = take_either(c, nbytes, lane, &rest, &b);
  sb__free(rest);
  if (!status && !b) status = no_memory(c, device, nbytes);
  if (status && b) give(device, b, &b->use);
  if (!status) *out = b;
  return status;
}

/* ---- Storages ---- */

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

/* A reference more, unless the last one is gone. */
static bool revive(sb_storage *storage) {
  int_fast64_t count = atomic_load(&storage->count);
  while (count > 0 && !atomic_compare_exchange_weak(&storage->count, &count, count + 1)) continue;
  return count > 0;
}

/* Whose bytes they are, with a reference more; NULL: nobody's here. */
static sb_storage *owner_of(const char *data, size_t nbytes) {
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

/* A view ends: what the device has yet to do with its bytes is their owner's business now, who may use them again. */
static void pass_on(sb__cuda_memory *view) {
  sb__cuda_registration *held = NULL;
  sb__cuda_use *use = view->base ? sb__cuda_use_of(view->base)
                                 : sb__cuda_pin(NULL, view->data, view->nbytes, &held);
  if (use && sb__cuda_use_join(use, &view->use)) (void)sb__cuda_use_wait(&view->use);
  sb__cuda_unpin(held);
}

sb__cuda_memory *sb__cuda_memory_of(const sb_storage *storage) {
  const sb_storage *root = sb__storage_root(storage);
  const bool is_ours =
      root && (root->kind == SB__STORAGE_CUDA || root->kind == SB__STORAGE_PINNED ||
               root->kind == SB__STORAGE_CUDA_FOREIGN);
  return is_ours ? root->context : NULL;
}

static void count_wrapped(int device, int64_t nbytes) {
  cache *c = &caches[device];
  sb__lock_take(&c->lock);
  c->seen.wrapped += nbytes;
  sb__lock_drop(&c->lock);
}

static void end_memory(sb__cuda_memory *memory, void *data) {
  count_wrapped(memory->device, -(int64_t)memory->nbytes);
  if (memory->release) memory->release(data, memory->context);
  sb_storage_unref(&memory->base);
  sb__free(memory);
}

typedef struct ending {
  sb__cuda_memory *memory;
  void *data;
} ending;

static void is_over(void *context, sb_status status, const char *message) {
  ending e = *(ending *)context;
  (void)status; /* lost: nothing runs any more, so nothing touches it */
  (void)message;
  sb__free(context);
  end_memory(e.memory, e.data);
}

/* Has it end when the device is done with it; false: it is done now. */
static bool end_later(sb__cuda_memory *memory, void *data) {
  CUevent event = NULL;
  bool already = true;
  ending *e = sb__alloc(sizeof *e);
  sb_status status = e ? sb__cuda_use_event(&memory->use, &event) : SB_ERR_MEMORY;
  if (!status && event) {
    *e = (ending){memory, data};
    status =
        sb__cuda_when_done(memory->use.device, memory->use.stream, event, is_over, e, &already);
  }
  if (!status && !already) return true; /* both may be gone by now */
  sb__free(e);
  if (status) (void)sb__cuda_use_wait(&memory->use); /* nobody will tell: this thread waits */
  return false;
}

/* Somebody else's memory, which the device may still be at work on: its release waits for that, and where it can be, this thread
 * does not. */
static void end_wrapped(sb__cuda_memory *memory, void *data) {
  const bool is_at_work = memory->use.touched && sb__cuda_is_usable();
  if (is_at_work) pass_on(memory);
  if (!is_at_work || !memory->release || !end_later(memory, data)) end_memory(memory, data);
}

static void free_storage(void *data, void *context) {
  sb__cuda_memory *memory = context;
  if (sb__cuda_is_forked()) return; /* a lock may be held by a thread that is not here */
  if (memory->data) sb__cuda_memory_leave(memory);
  if (!memory->block) {
    end_wrapped(memory, data);
    return;
  }
  give(memory->device, memory->block, &memory->use);
  sb__free(memory);
}

static sb_status wrap(sb__storage_kind kind, sb__cuda_memory *memory, void *data,
                      sb_storage **out) {
  sb_storage *made = NULL;
  const sb_status status =
      sb__storage_wrap_as(kind, data, memory->nbytes, free_storage, memory, &made);
  if (status) return status;
  made->device = memory->device;
  memory->data = data;
  if (data) sb__cuda_memory_join(memory, made);
  *out = made;
  return SB_OK;
}

void sb__cuda_storage_is_mapped(sb_storage *storage) {
  sb__cuda_memory *memory = sb__cuda_memory_of(storage);
  if (memory) memory->is_mapped = true;
}

sb_status sb__cuda_storage_new(int64_t device, size_t nbytes, sb__cuda_stream *stream,
                               sb_storage **out) {
  sb__cuda_lane lane;
  block *b = NULL;
  if (nbytes > PTRDIFF_MAX / 2)
    return sb__fail(SB_ERR_MEMORY, "%zu bytes are more than a device has", nbytes);
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  sb__cuda_memory *memory = sb__alloc(sizeof *memory);
  if (!memory) status = sb__fail(SB_ERR_MEMORY, "no memory for a storage record");
  if (!status) status = sb__cuda_lane_of(device, stream, &lane);
  if (!status && nbytes) status = take((int)device, rounded(nbytes, UNIT), &lane, &b);
  sb__cuda_leave();
  if (!status) {
    *memory = (sb__cuda_memory){.device = (int)device, .block = b, .nbytes = nbytes};
    if (b) memory->use = b->use; /* no more than lane was told to follow that */
    status = wrap(SB__STORAGE_CUDA, memory,
                  b ? (void *)(uintptr_t)(b->segment->address + b->offset) : NULL, out);
  }
  if (status && b) give((int)device, b, &b->use);
  if (status) sb__free(memory);
  return status;
}

sb_status sb__cuda_storage_wrap(int64_t device, void *data, size_t nbytes, sb__cuda_release release,
                                void *context, sb_storage **out) {
  if (!data && nbytes) {
    return sb__fail(SB_ERR_ARGUMENT, "address 0 was given with %zu bytes; it can have none",
                    nbytes);
  }
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  sb__cuda_leave();
  sb__cuda_memory *memory = sb__alloc(sizeof *memory);
  if (!memory) return sb__fail(SB_ERR_MEMORY, "no memory for a storage record");
  *memory = (sb__cuda_memory){
      .device = (int)device, .nbytes = nbytes, .release = release, .context = context};
  if (nbytes) memory->base = owner_of(data, nbytes);
  status = wrap(SB__STORAGE_CUDA_FOREIGN, memory, data, out);
  if (status) {
    sb_storage_unref(&memory->base);
    sb__free(memory);
    return status;
  }
  count_wrapped((int)device, (int64_t)nbytes);
  return SB_OK;
}

/* ---- What people ask ---- */

sb_status sb__cuda_statistics_of(int64_t device, sb__cuda_statistics *out) {
  int count = 0;
  const sb_status status = sb__cuda_count(&count);
  if (status && status != SB_ERR_CUDA_CONTEXT_LOST) return status;
  if (device < 0 || device >= sb__cuda_devices()) {
    return sb__fail(SB_ERR_DEVICE, "there is no cuda:%lld; there are %d devices", (long long)device,
                    sb__cuda_devices());
  }
  cache *c = &caches[device];
  sb__lock_take(&c->lock);
  *out = c->seen;
  sb__lock_drop(&c->lock);
  return SB_OK;
}

sb_status sb__cuda_empty_cache(int64_t device) {
  sb_status status = SB_OK;
  if (device < 0) {
    for (int i = 0; !status && i < sb__cuda_devices(); i++) {
      if (sb__cuda_is_entered(i)) status = sb__cuda_empty_cache(i);
    }
    return status;
  }
  status = sb__cuda_enter(device);
  if (status) return status;
  status = free_unused(&caches[device]);
  sb__cuda_leave();
  return status;
}
