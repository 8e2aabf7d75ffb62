/* Memory of devices: a cache over segments taken from the driver, because taking one there is slow, and giving one back waits for
 * the device.
 *
 * A segment is cut into blocks, neighbours in a list. A free block belongs to the stream that touched it last, and is used again by
 * that stream at once, in the order of its work. Free neighbours of one stream grow together. Small requests have segments
 * of their own, so that they do not break large ones into pieces. */
#include "cuda/internal.h"

#define UNIT ((size_t)512)
#define SMALL ((size_t)1 << 20)         /* up to here in small segments, ... */
#define SMALL_SEGMENT ((size_t)2 << 20) /* ... which are that large */
#define MIDDLE ((size_t)10 << 20)       /* up to here in middle ones */
#define MIDDLE_SEGMENT ((size_t)20 << 20)
#define LARGE_UNIT ((size_t)2 << 20) /* of segments for one sb__cuda_block */

typedef struct segment {
  struct segment *next;
  sb__cuda_block *first;
  CUdeviceptr address;
  size_t nbytes;
  bool is_small;
} segment;

struct sb__cuda_block {
  segment *segment;
  sb__cuda_block *before, *after;           /* by address */
  sb__cuda_block *free_before, *free_after; /* in a bin */
  size_t offset, nbytes;
  bool is_free;
  sb__cuda_last_use last_use; /* of the last holder, where it is free */
};

enum { BINS = 48 }; /* by the logarithm of bytes / UNIT */

typedef struct cache {
  sb__lock lock;
  segment *segments;
  sb__cuda_block *bins[2][BINS]; /* of large and small segments */
  sb__cuda_statistics seen;
} cache;

static cache caches[SB__CUDA_DEVICES];

/* ---- Free blocks; all under the cache's lock ---- */

static int bin_of(size_t nbytes) {
  int bin = 0;
  for (size_t units = nbytes / UNIT; units > 1 && bin < BINS - 1; units >>= 1) bin++;
  return bin;
}

static void list(cache *c, sb__cuda_block *b) {
  sb__cuda_block **bin = &c->bins[b->segment->is_small][bin_of(b->nbytes)];
  b->is_free = true;
  b->free_before = NULL;
  b->free_after = *bin;
  if (*bin) (*bin)->free_before = b;
  *bin = b;
}

static void unlist(cache *c, sb__cuda_block *b) {
  if (b->free_after) b->free_after->free_before = b->free_before;
  if (b->free_before)
    b->free_before->free_after = b->free_after;
  else
    c->bins[b->segment->is_small][bin_of(b->nbytes)] = b->free_after;
  b->is_free = false;
}

/* May what is given to stream next use it as it is? */
static bool is_ready(const sb__cuda_block *b, const sb__cuda_raw_stream *stream) {
  return !b->last_use.touched ||
         (b->last_use.stream == stream->follower && b->last_use.device == stream->device);
}

static bool are_alike(const sb__cuda_block *a, const sb__cuda_block *b) {
  if (!a->is_free || !b->is_free) return false;
  return a->last_use.touched == b->last_use.touched &&
         (!a->last_use.touched ||
          (a->last_use.stream == b->last_use.stream && a->last_use.device == b->last_use.device));
}

/* b takes its neighbour after it in, of which nothing is left but memory for its record, which is returned. */
static sb__cuda_block *join(sb__cuda_block *b) {
  sb__cuda_block *gone = b->after;
  b->nbytes += gone->nbytes;
  b->after = gone->after;
  if (b->after) b->after->before = b;
  return gone;
}

/* Lists b, grown together with its neighbours. */
static void put_back(cache *c, sb__cuda_block *b) {
  sb__cuda_block *gone = NULL;
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
static sb__cuda_block *find_block(cache *c, size_t nbytes, bool is_small,
                                  const sb__cuda_raw_stream *stream, bool any) {
  for (int bin = bin_of(nbytes); bin < BINS; bin++) {
    sb__cuda_block *best = NULL;
    for (sb__cuda_block *b = c->bins[is_small][bin]; b; b = b->free_after) {
      if (b->nbytes < nbytes || !(any || is_ready(b, stream))) continue;
      if (!best || b->nbytes < best->nbytes) best = b;
    }
    if (best) return best;
  }
  return NULL;
}

/* Cuts what nbytes do not need off a block that was taken; rest: a record for that, used if it is cut off. */
static bool split(cache *c, sb__cuda_block *b, size_t nbytes, sb__cuda_block *rest) {
  const size_t left = b->nbytes - nbytes;
  if (!rest || left < UNIT || (!b->segment->is_small && left <= SMALL)) return false;
  *rest = (sb__cuda_block){.segment = b->segment,
                           .before = b,
                           .after = b->after,
                           .offset = b->offset + nbytes,
                           .nbytes = left,
                           .last_use = b->last_use};
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
static void hand_out(cache *c, sb__cuda_block *b, size_t nbytes, sb__cuda_block **rest) {
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
  sb__cuda_block *b = s ? sb__alloc(sizeof *b) : NULL;
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
  *b = (sb__cuda_block){.segment = s, .nbytes = s->nbytes};
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
  for (const sb__cuda_block *b = s->first; b; b = b->after) {
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
    for (sb__cuda_block *b = s->first; b; b = b->after) unlist(c, b);
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
    for (sb__cuda_block *b = gone->first, *after = NULL; b; b = after) {
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
  sb__cuda_block *marked = NULL;
  sb__lock_take(&c->lock);
  for (int small = 0; small < 2; small++) {
    for (int bin = 0; bin < BINS; bin++) {
      for (sb__cuda_block *b = c->bins[small][bin], *next = NULL; b; b = next) {
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
  for (sb__cuda_block *b = marked, *next = NULL; b; b = next) {
    next = b->free_after;
    if (!status) b->last_use.touched = false;
    list(c, b);
  }
  for (segment *s = c->segments; !status && s; s = s->next) {
    for (sb__cuda_block *b = s->first; b; b = b->after) {
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
static sb__cuda_block *take_cached(cache *c, size_t nbytes, const sb__cuda_raw_stream *stream,
                                   bool any, sb__cuda_block **rest) {
  sb__lock_take(&c->lock);
  sb__cuda_block *b = find_block(c, nbytes, nbytes <= SMALL, stream, any);
  if (b) hand_out(c, b, nbytes, rest);
  sb__lock_drop(&c->lock);
  return b;
}

/* Cache, then driver. out stays NULL where neither has any; the status is of other failures. */
static sb_status take_either(cache *c, size_t nbytes, const sb__cuda_raw_stream *stream,
                             sb__cuda_block **rest, sb__cuda_block **out) {
  *out = take_cached(c, nbytes, stream, false, rest);
  while (!*out) {
    const sb_status status = add_segment(c, nbytes);
    if (status == SB_ERR_MEMORY) return SB_OK;
    if (status) return status;
    *out = take_cached(c, nbytes, stream, false, rest); /* another thread may have been quicker */
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

void sb__cuda_block_give(int device, sb__cuda_block *b, const sb__cuda_last_use *use) {
  cache *c = &caches[device];
  sb__lock_take(&c->lock);
  b->last_use = *use;
  c->seen.allocated -= (int64_t)b->nbytes;
  c->seen.blocks--;
  put_back(c, b);
  sb__lock_drop(&c->lock);
}

sb_status sb__cuda_block_take(int device, size_t asked, const sb__cuda_raw_stream *stream,
                              sb__cuda_block **out) {
  cache *c = &caches[device];
  const size_t nbytes = rounded(asked, UNIT);
  sb__cuda_block *rest = sb__alloc(sizeof *rest),
                 *b = NULL; /* NULL is fine: nothing is cut off then */
  sb_status status = take_either(c, nbytes, stream, &rest, &b);
  if (!status && !b) { /* a block of another stream, which this one then follows */
    count_retry(c);
    b = take_cached(c, nbytes, stream, true, &rest);
    if (b) status = sb__cuda_last_use_before(&b->last_use, stream);
  }
  if (!status && !b) status = free_unused(c);
  if (!status && !b) status = take_either(c, nbytes, stream, &rest, &b);
  if (!status && !b && sb__cuda_sweep_now()) {
    status = free_unused(c);
    if (!status) status = take_either(c, nbytes, stream, &rest, &b);
  }
  if (!status && !b) status = settle(c);
  if (!status && !b) status = free_unused(c);
  if (!status && !b) status = take_either(c, nbytes, stream, &rest, &b);
  sb__free(rest);
  if (!status && !b) status = no_memory(c, device, nbytes);
  if (status && b) sb__cuda_block_give(device, b, &b->last_use);
  if (!status) *out = b;
  return status;
}

void *sb__cuda_block_data(const sb__cuda_block *b) {
  return (void *)(uintptr_t)(b->segment->address + b->offset);
}

sb__cuda_last_use sb__cuda_block_last_use(const sb__cuda_block *b) { return b->last_use; }

void sb__cuda_count_wrapped(int device, int64_t nbytes) {
  cache *c = &caches[device];
  sb__lock_take(&c->lock);
  c->seen.wrapped += nbytes;
  sb__lock_drop(&c->lock);
}

/* ---- Statistics, and giving back ---- */

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
