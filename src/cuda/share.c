/* Device memory that several processes have. Segments are what the driver gives and what importers map whole; small tensors
 * lie in segments of 2 MiB together, larger ones have their own. Under the lock are lists alone, the driver is called
 * outside of it. */
#include "cuda/share.h"

#include <string.h>

enum {
  ALIGNMENT = 256,
  BY_FILE = 1,        /* CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR */
  PINNED = 1,         /* CU_MEM_ALLOCATION_TYPE_PINNED */
  ON_DEVICE = 1,      /* CU_MEM_LOCATION_TYPE_DEVICE */
  MAY_READ = 1,       /* CU_MEM_ACCESS_FLAGS_PROT_… */
  MAY_WRITE = 3,      /* with reading */
  PEER_ACCESS = 1,    /* CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS, the only flag that is accepted */
  LARGE = 1024 * 1024 /* bytes, from which on a tensor has a segment of its own */
};

typedef enum state {
  FREE,
  USED,
  EXPORTED, /* used, and other processes may have it */
  GONE,     /* the same without anybody here */
} state;

typedef struct block {
  struct block *next; /* of the segment, by address */
  struct segment *segment;
  size_t at, nbytes; /* from the segment's start; of multiples of ALIGNMENT */
  state state;
} block;

typedef struct segment {
  struct segment *next;
  int device;
  bool is_shared; /* by tensors */
  CUmemHandle handle;
  CUdeviceptr base;
  size_t size;
  block *first;
  size_t used; /* blocks that somebody here has */
} segment;

static sb__lock lock;
static segment *segments;

/* ---- Segments ---- */

static bool is_supported(void) {
  return sb__cu.cuMemGetAllocationGranularity && sb__cu.cuMemCreate && sb__cu.cuMemRelease &&
         sb__cu.cuMemAddressReserve && sb__cu.cuMemAddressFree && sb__cu.cuMemMap &&
         sb__cu.cuMemUnmap && sb__cu.cuMemSetAccess && sb__cu.cuMemExportToShareableHandle &&
         sb__cu.cuMemImportFromShareableHandle;
}

static sb_status check_support(int64_t device) {
  sb__cuda_properties properties;
  const sb_status status = sb__cuda_properties_of(device, &properties);
  if (status) return status;
  if (!is_supported() || !properties.shares_by_descriptor) {
    return sb__fail(SB_ERR_UNSUPPORTED,
                    "cuda:%d and its driver cannot share memory by file descriptors", (int)device);
  }
  return SB_OK;
}

static void unmap(CUdeviceptr base, size_t size) {
  sb__cu.cuMemUnmap(base, size);
  sb__cu.cuMemAddressFree(base, size);
}

/* Opens mapped memory to its device. Where a driver knows no read-only access, it can be written: the tensors over it cannot. */
static CUresult open_access(int device, CUdeviceptr base, size_t size, bool read_only) {
  CUmemAccessDesc access = {{ON_DEVICE, device}, read_only ? MAY_READ : MAY_WRITE};
  CUresult result = sb__cu.cuMemSetAccess(base, size, &access, 1);
  if (read_only && (result == SB__CU_INVALID_VALUE || result == SB__CU_NOT_SUPPORTED)) {
    access.flags = MAY_WRITE;
    result = sb__cu.cuMemSetAccess(base, size, &access, 1);
  }
  return result;
}

/* Addresses for a handle's memory; the handle stays the caller's. The context is current. */
static sb_status map(int device, CUmemHandle handle, size_t size, bool read_only,
                     CUdeviceptr *out) {
  CUdeviceptr base = 0;
  sb_status status = sb__cuda_check(sb__cu.cuMemAddressReserve(&base, size, 0, 0, 0),
                                    "reserving addresses for shared memory");
  if (status) return status;
  status = sb__cuda_check(sb__cu.cuMemMap(base, size, 0, handle, 0), "mapping shared memory");
  if (status) {
    sb__cu.cuMemAddressFree(base, size);
    return status;
  }
  status = sb__cuda_check(open_access(device, base, size, read_only), "opening shared memory");
  if (status) {
    unmap(base, size);
    return status;
  }
  *out = base;
  return SB_OK;
}

/* Memory of the driver; where there is none left, what is cached is given back once. */
static sb_status create(int device, size_t size, const CUmemAllocationProp *kind,
                        CUmemHandle *out) {
  CUresult result = sb__cu.cuMemCreate(out, size, kind, 0);
  if (result == SB__CU_OUT_OF_MEMORY) {
    const sb_status status = sb__cuda_empty_cache(device);
    if (status) return status;
    result = sb__cu.cuMemCreate(out, size, kind, 0);
  }
  if (result != SB__CU_OUT_OF_MEMORY) return sb__cuda_check(result, "making memory to share");
  size_t left = 0, total = 0;
  sb__cu.cuMemGetInfo(&left, &total);
  return sb__fail(SB_ERR_MEMORY, "%zu bytes to share do not fit cuda:%d: %zu of %zu are free", size,
                  device, left, total);
}

/* A segment with one free block, in no list yet. */
static sb_status new_segment(int device, size_t nbytes, segment **out) {
  const CUmemAllocationProp kind = {
      .type = PINNED, .requestedHandleTypes = BY_FILE, .location = {ON_DEVICE, device}};
  size_t granule = 0;
  segment *s = sb__alloc(sizeof *s);
  block *whole = sb__alloc(sizeof *whole);
  sb_status status = s && whole ? SB_OK : sb__fail(SB_ERR_MEMORY, "no memory for a segment");
  if (!status) {
    status = sb__cuda_check(sb__cu.cuMemGetAllocationGranularity(&granule, &kind, 0),
                            "cuMemGetAllocationGranularity");
  }
  if (!status && (granule == 0 || nbytes > SIZE_MAX - granule)) {
    status = sb__fail(SB_ERR_MEMORY, "%zu bytes cannot be shared", nbytes);
  }
  if (status) goto failed;
  *s = (segment){.device = device, .size = (nbytes + granule - 1) / granule * granule};
  *whole = (block){.segment = s, .nbytes = s->size, .state = FREE};
  s->first = whole;
  status = create(device, s->size, &kind, &s->handle);
  if (status) goto failed;
  status = map(device, s->handle, s->size, false, &s->base);
  if (status) {
    sb__cu.cuMemRelease(s->handle);
    goto failed;
  }
  *out = s;
  return SB_OK;

failed:
  sb__free(s);
  sb__free(whole);
  return status;
}

/* Out of the list, with nothing used in it. Importers keep their mappings, and the memory with them. */
static void free_segment(segment *s) {
  if (sb__cuda_enter(s->device) == SB_OK) { /* else CUDA is lost */
    unmap(s->base, s->size);
    sb__cu.cuMemRelease(s->handle);
    sb__cuda_leave();
  }
  for (block *b = s->first, *next = NULL; b; b = next) {
    next = b->next;
    sb__free(b);
  }
  sb__free(s);
}

/* ---- Blocks, under the lock ---- */

/* Takes nbytes off a free block; rest: a record for what is left of it, NULL'd where it was needed. */
static block *take_block(block *b, size_t nbytes, block **rest) {
  if (b->nbytes > nbytes) {
    block *r = *rest;
    *rest = NULL;
    *r = (block){b->next, b->segment, b->at + nbytes, b->nbytes - nbytes, FREE};
    b->next = r;
    b->nbytes = nbytes;
  }
  b->state = USED;
  b->segment->used++;
  return b;
}

static block *find_room(int device, size_t nbytes, block **rest) {
  for (segment *s = segments; s; s = s->next) {
    if (s->device != device || !s->is_shared) continue;
    for (block *b = s->first; b; b = b->next) {
      if (b->state == FREE && b->nbytes >= nbytes) return take_block(b, nbytes, rest);
    }
  }
  return NULL;
}

/* Free neighbours become one; the records that are left over are returned as a list. */
static block *merge(segment *s) {
  block *unused = NULL;
  for (block *b = s->first; b; b = b->next) {
    while (b->state == FREE && b->next && b->next->state == FREE) {
      block *next = b->next;
      b->nbytes += next->nbytes;
      b->next = next->next;
      next->next = unused;
      unused = next;
    }
  }
  return unused;
}

static void unlink(segment *s) {
  segment **at = &segments;
  while (*at != s) at = &(*at)->next;
  *at = s->next;
}

/* The used block that an address lies in. */
static block *block_at(int device, CUdeviceptr address) {
  for (segment *s = segments; s; s = s->next) {
    if (s->device != device || address < s->base || address - s->base >= s->size) continue;
    for (block *b = s->first; b; b = b->next) {
      const size_t at = (size_t)(address - s->base);
      if (at >= b->at && at - b->at < b->nbytes) return b->state == FREE ? NULL : b;
    }
  }
  return NULL;
}

/* A storage's end: the device is done with it. */
static void give_back(void *data, void *context) {
  block *b = context, *unused = NULL;
  segment *s = b->segment;
  (void)data;
  sb__lock_take(&lock);
  b->state = b->state == EXPORTED ? GONE : FREE;
  const bool is_last = --s->used == 0;
  if (is_last)
    unlink(s);
  else
    unused = merge(s);
  sb__lock_drop(&lock);
  if (is_last) free_segment(s);
  while (unused) {
    block *next = unused->next;
    sb__free(unused);
    unused = next;
  }
}

/* ---- Making ---- */

static sb_status block_for(int device, size_t nbytes, bool own, block **out) {
  const bool together = !own && nbytes <= LARGE;
  const size_t rounded = (nbytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  block *b = NULL, *rest = sb__alloc(sizeof *rest);
  segment *s = NULL;
  sb_status status = rest ? SB_OK : sb__fail(SB_ERR_MEMORY, "no memory for a block");
  if (!status && together) {
    sb__lock_take(&lock);
    b = find_room(device, rounded, &rest);
    sb__lock_drop(&lock);
  }
  if (!status && !b) {
    status = new_segment(device, rounded, &s);
    if (!status) {
      s->is_shared = together;
      sb__lock_take(&lock);
      b = take_block(s->first, together ? rounded : s->size, &rest);
      s->next = segments;
      segments = s;
      sb__lock_drop(&lock);
    }
  }
  sb__free(rest);
  *out = b;
  return status;
}

sb_status sb__vram_new(int64_t device, size_t nbytes, bool own, sb_storage **out) {
  block *b = NULL;
  if (nbytes == 0) return sb__cuda_storage_new(device, 0, NULL, out);
  if (nbytes > SIZE_MAX / 2) return sb__fail(SB_ERR_MEMORY, "%zu bytes do not fit", nbytes);
  sb_status status = check_support(device);
  if (!status) status = sb__cuda_enter(device);
  if (status) return status;
  status = block_for((int)device, nbytes, own, &b);
  if (!status) {
    void *data = (void *)(uintptr_t)(b->segment->base + b->at);
    status = sb__cuda_storage_wrap(device, data, nbytes, give_back, b, out);
    if (status) give_back(data, b);
  }
  sb__cuda_leave();
  return status;
}

/* ---- Telling others ---- */

/* The older handle of whatever allocation has an address. */
static sb_status describe_foreign(CUdeviceptr address, sb__vram *out) {
  CUdeviceptr base = 0;
  size_t size = 0;
  CUipcMemHandle handle;
  if (!sb__cu.cuIpcGetMemHandle)
    return sb__fail(SB_ERR_UNSUPPORTED, "the driver shares no memory of others");
  const sb_status status =
      sb__cuda_check(sb__cu.cuMemGetAddressRange(&base, &size, address), "cuMemGetAddressRange");
  if (status) return status;
  const CUresult result = sb__cu.cuIpcGetMemHandle(&handle, base);
  if (result == SB__CU_INVALID_VALUE || result == SB__CU_NOT_SUPPORTED) {
    return sb__fail(SB_ERR_UNSUPPORTED,
                    "the driver shares no memory of this allocator (cuIpcGetMemHandle: %s); "
                    "empty(shape, { device, shared: true }) makes memory that can be shared",
                    sb__cu_meaning(result));
  }
  out->kind = SB__VRAM_HANDLE;
  out->size = size;
  out->offset = address - base;
  memcpy(out->handle, handle.bytes, sizeof out->handle);
  return sb__cuda_check(result, "cuIpcGetMemHandle");
}

sb_status sb__vram_describe(int device, const void *data, size_t nbytes, sb__vram *out) {
  const CUdeviceptr address = (CUdeviceptr)(uintptr_t)data;
  sb__vram found = {.kind = SB__VRAM_NOTHING, .device = device};
  sb__cuda_properties properties;
  sb_status status = sb__cuda_properties_of(device, &properties);
  if (status) return status;
  if (!properties.has_uuid) {
    return sb__fail(SB_ERR_UNSUPPORTED, "the driver does not say which GPU cuda:%d is", device);
  }
  memcpy(found.uuid, properties.uuid, sizeof found.uuid);
  if (nbytes) {
    sb__lock_take(&lock);
    const block *b = block_at(device, address);
    if (b) {
      found.kind = SB__VRAM_FILE;
      found.size = b->segment->size;
      found.offset = address - b->segment->base;
      found.segment = b->segment->handle;
    }
    sb__lock_drop(&lock);
  }
  if (nbytes && found.kind == SB__VRAM_NOTHING) {
    status = sb__cuda_enter(device);
    if (status) return status;
    status = describe_foreign(address, &found);
    sb__cuda_leave();
  }
  if (!status && nbytes > found.size - found.offset) {
    status = sb__fail(SB_ERR_BOUNDS, "%zu bytes reach beyond their allocation", nbytes);
  }
  if (!status) *out = found;
  return status;
}

sb_status sb__vram_export(const sb__vram *vram, const void *data, int *file) {
  int made = -1;
  sb_status status = sb__cuda_enter(vram->device);
  if (status) return status;
  status = sb__cuda_check(sb__cu.cuMemExportToShareableHandle(&made, vram->segment, BY_FILE, 0),
                          "cuMemExportToShareableHandle");
  sb__cuda_leave();
  if (status) return status;
  sb__lock_take(&lock);
  block *b = block_at(vram->device, (CUdeviceptr)(uintptr_t)data);
  if (b) b->state = EXPORTED;
  sb__lock_drop(&lock);
  *file = made;
  return SB_OK;
}

/* ---- Taking ---- */

sb_status sb__vram_device(const uint8_t uuid[16], int *device) {
  int count = 0;
  sb_status status = sb__cuda_count(&count);
  for (int i = 0; !status && i < count; i++) {
    sb__cuda_properties properties;
    status = sb__cuda_properties_of(i, &properties);
    if (!status && properties.has_uuid && memcmp(properties.uuid, uuid, 16) == 0) {
      *device = i;
      return SB_OK;
    }
  }
  if (status) return status;
  return sb__fail(SB_ERR_DEVICE,
                  "the memory is on a GPU that is none of the %d that this process sees "
                  "(CUDA_VISIBLE_DEVICES?)",
                  count);
}

/* What another process has, mapped here. */
typedef struct mapping {
  sb__vram_kind kind;
  int device;
  CUmemHandle handle;
  CUdeviceptr base;
  size_t size;
  void (*end)(void *context);
  void *context;
} mapping;

/* A storage's end: the device is done with it. */
static void unmap_import(void *data, void *context) {
  mapping *m = context;
  (void)data;
  if (sb__cuda_enter(m->device) == SB_OK) { /* else CUDA is lost */
    if (m->kind == SB__VRAM_FILE) {
      unmap(m->base, m->size);
      sb__cu.cuMemRelease(m->handle);
    } else {
      sb__cu.cuIpcCloseMemHandle(m->base);
    }
    sb__cuda_leave();
  }
  if (m->end) m->end(m->context); /* now its exporter may free it */
  sb__free(m);
}

/* The context is current. */
static sb_status open_file(mapping *m, int file, bool read_only) {
  sb_status status = sb__cuda_check(
      sb__cu.cuMemImportFromShareableHandle(&m->handle, (void *)(intptr_t)file, BY_FILE),
      "taking memory of another process");
  if (status) return status;
  status = map(m->device, m->handle, m->size, read_only, &m->base);
  if (status) sb__cu.cuMemRelease(m->handle);
  return status;
}

static sb_status open_handle(mapping *m, const sb__vram *vram) {
  CUipcMemHandle handle;
  if (!sb__cu.cuIpcOpenMemHandle || !sb__cu.cuIpcCloseMemHandle) {
    return sb__fail(SB_ERR_UNSUPPORTED, "the driver opens no memory of other processes");
  }
  memcpy(handle.bytes, vram->handle, sizeof handle.bytes);
  return sb__cuda_check(sb__cu.cuIpcOpenMemHandle(&m->base, handle, PEER_ACCESS),
                        "opening another process' memory");
}

sb_status sb__vram_import(const sb__vram *vram, int file, uint64_t nbytes, bool read_only,
                          void (*end)(void *context), void *context, sb_storage **out) {
  sb_status status = SB_OK;
  mapping *m = NULL;
  if (vram->size > SIZE_MAX / 2 || vram->offset > vram->size ||
      nbytes > vram->size - vram->offset || (vram->kind != SB__VRAM_NOTHING && !nbytes)) {
    status = sb__fail(SB_ERR_BOUNDS, "what was shared reaches beyond its memory");
  } else if (vram->kind == SB__VRAM_NOTHING) {
    status = sb__cuda_storage_new(vram->device, 0, NULL, out);
    if (!status && end) end(context);
  } else if (vram->kind == SB__VRAM_FILE) {
    status = check_support(vram->device);
  }
  if (!status && vram->kind == SB__VRAM_NOTHING) return SB_OK;
  if (!status) {
    m = sb__alloc(sizeof *m);
    if (!m) status = sb__fail(SB_ERR_MEMORY, "no memory for a mapping");
  }
  if (!status) status = sb__cuda_enter(vram->device);
  if (status) goto failed;
  *m = (mapping){.kind = vram->kind,
                 .device = vram->device,
                 .size = (size_t)vram->size,
                 .end = end,
                 .context = context};
  status = m->kind == SB__VRAM_FILE ? open_file(m, file, read_only) : open_handle(m, vram);
  if (!status) {
    void *data = (void *)(uintptr_t)(m->base + vram->offset);
    status = sb__cuda_storage_wrap(vram->device, data, (size_t)nbytes, unmap_import, m, out);
    if (status) { /* which takes it down, and calls end */
      unmap_import(data, m);
      sb__cuda_leave();
      return status;
    }
  }
  sb__cuda_leave();
  if (!status) return SB_OK;

failed:
  sb__free(m);
  if (end) end(context);
  return status;
}
