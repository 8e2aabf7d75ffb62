/* Tensors: construction, references, sizes. */
#include <string.h>

#include "core/core.h"

void sb_tensor_copy_layout(const sb_tensor *t, sb_tensor *out) {
  if (t == out) return;
  memcpy(out, t, offsetof(sb_tensor, shape));
  if (t->ndim > 0) {
    const size_t nbytes = (size_t)t->ndim * sizeof(int64_t);
    memcpy(out->shape, t->shape, nbytes);
    memcpy(out->strides, t->strides, nbytes);
  }
}

static bool is_aligned(const sb_tensor *t) {
  const uintptr_t address = t->storage ? (uintptr_t)t->storage->data : 0;
  return (address & (uintptr_t)(sb_dtype_alignment(t->dtype) - 1)) == 0; /* a power of two */
}

/* The fast path: completes a tensor that is valid and not empty in one loop. False: finish_carefully decides, and words
 * the error. */
static bool finish_plain(sb_tensor *t) {
  int64_t low = t->offset, high = t->offset, dense = 1, nbytes = 0;
  if (t->ndim > SB_MAX_DIMS) return false;
  for (int32_t d = t->ndim - 1; d >= 0; d--) {
    const int64_t extent = t->shape[d];
    int64_t reach = 0;
    if (extent == 1) {
      t->strides[d] = dense;
      continue;
    }
    if (extent <= 0 || sb__mul_overflows(extent - 1, t->strides[d], &reach) ||
        sb__mul_overflows(dense, extent, &dense) ||
        sb__add_overflows(high, reach > 0 ? reach : 0, &high) ||
        sb__add_overflows(low, reach < 0 ? reach : 0, &low)) {
      return false;
    }
  }
  if (low < 0 || dense > INT64_MAX / 16 || sb__add_overflows(high, 1, &high) ||
      sb__mul_overflows(high, sb_dtype_itemsize(t->dtype), &nbytes)) {
    return false;
  }
  t->capacity = dense;
  return (!t->storage || (uint64_t)nbytes <= t->storage->nbytes) && is_aligned(t);
}

/* noinline: so the fast path saves no registers. */
static __attribute__((noinline)) sb_status finish_carefully(sb_tensor *t) {
  int64_t numel = 0, dense = 1;
  sb_status status = sb__check_shape(t->ndim, t->shape, &numel);
  if (status) return status;
  for (int32_t d = t->ndim - 1; d >= 0; d--) { /* cannot overflow: the shape's elements fit */
    if (t->shape[d] == 1 || numel == 0) t->strides[d] = dense;
    if (t->shape[d] > 1) dense *= t->shape[d];
  }
  t->capacity = t->ndim ? numel : 1;
  status = sb__check_extent(t);
  if (status || is_aligned(t)) return status;
  return sb__fail(SB_ERR_ALIGNMENT,
                  "byte 0x%llx is not a multiple of %lld, which %s needs; fromBytes with copy: "
                  "'if-needed' copies then",
                  (unsigned long long)(uintptr_t)t->storage->data,
                  (long long)sb_dtype_alignment(t->dtype), sb_dtype_name(t->dtype));
}

sb_status sb__tensor_finish(sb_tensor *t) {
  t->abi = SB_ABI;
  t->struct_size = sizeof *t;
  t->dynamism = SB_BOUNDED;
  return finish_plain(t) ? SB_OK : finish_carefully(t);
}

sb_status sb_tensor_init(sb_storage *storage, sb_dtype dtype, int32_t ndim, const int64_t *shape,
                         const int64_t *strides, int64_t offset, sb_tensor *out) {
  sb_tensor made;
  int64_t numel = 0;
  if (!sb__dtype_is_valid((int64_t)dtype)) {
    return sb__fail(SB_ERR_DTYPE, "%d is no dtype", (int)dtype);
  }
  sb_status status = sb__check_shape(ndim, shape, &numel);
  if (status) return status;
  made.storage = storage;
  made.dtype = dtype;
  made.ndim = ndim;
  made.flags = 0;
  made.offset = offset;
  status = sb__dense_strides(ndim, shape, made.strides);
  if (status) return status;
  for (int32_t d = 0; d < ndim; d++) {
    made.shape[d] = shape[d];
    if (strides) made.strides[d] = strides[d];
  }
  status = sb__tensor_finish(&made);
  if (!status) sb_tensor_copy_layout(&made, out);
  return status;
}

sb_status sb__tensor_allocate(sb_tensor *t, int64_t elements) {
  const int64_t nbytes =
      elements * sb_dtype_itemsize(t->dtype); /* cannot overflow: the layout is checked */
  if ((uint64_t)nbytes > SIZE_MAX) {
    return sb__fail(SB_ERR_MEMORY, "%lld bytes cannot be addressed", (long long)nbytes);
  }
  if (!sb__scratch_allows(nbytes))
    return sb__fail(SB_ERR_MEMORY, "%lld bytes are beyond the limit", (long long)nbytes);
  return sb_storage_new((size_t)nbytes, &t->storage);
}

/* Allocates a layout's storage, and writes both to out. */
static sb_status allocate_layout(sb_tensor *made, int64_t elements, sb_tensor *out) {
  const sb_status status = sb__tensor_allocate(made, elements);
  if (!status) sb_tensor_copy_layout(made, out);
  return status;
}

sb_status sb_tensor_empty(sb_dtype dtype, int32_t ndim, const int64_t *shape, sb_tensor *out) {
  sb_tensor made;
  const sb_status status = sb_tensor_init(NULL, dtype, ndim, shape, NULL, 0, &made);
  return status ? status : allocate_layout(&made, sb_tensor_numel(&made), out);
}

sb_status sb__strided(sb_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides,
                      sb_tensor *out, int64_t *elements) {
  int64_t numel = 0, lowest = 0, highest = 0;
  sb_status status = sb__check_shape(ndim, shape, &numel);
  for (int32_t d = 0; !status && d < ndim; d++) {
    if (strides[d] >= 0) continue;
    status = sb__fail(SB_ERR_BOUNDS,
                      "strides[%d] is %lld; a storage of its own begins with the first element, so "
                      "strides are 0 or more",
                      d, (long long)strides[d]);
  }
  if (!status) status = sb_tensor_init(NULL, dtype, ndim, shape, strides, 0, out);
  if (status) return status;
  (void)sb__extent(out, &lowest, &highest); /* checked by sb_tensor_init */
  *elements = numel ? highest + 1 : 0;
  return SB_OK;
}

sb_status sb_tensor_empty_strided(sb_dtype dtype, int32_t ndim, const int64_t *shape,
                                  const int64_t *strides, sb_tensor *out) {
  sb_tensor made;
  int64_t elements = 0;
  const sb_status status = sb__strided(dtype, ndim, shape, strides, &made, &elements);
  return status ? status : allocate_layout(&made, elements, out);
}

sb_status sb_tensor_from_blob(void *data, size_t nbytes, sb_dtype dtype, int32_t ndim,
                              const int64_t *shape, const int64_t *strides, sb_deleter deleter,
                              void *context, sb_tensor *out) {
  sb_storage borrowed; /* checks the layout before taking ownership */
  sb_tensor made;
  sb__storage_borrow(data, nbytes, &borrowed);
  sb_status status = sb_tensor_init(&borrowed, dtype, ndim, shape, strides, 0, &made);
  if (!status) status = sb_storage_wrap(data, nbytes, deleter, context, &made.storage);
  if (!status) sb_tensor_copy_layout(&made, out);
  return status;
}

sb_status sb__check_bytes(const char *name, const sb_tensor *t) {
  const sb_status status = sb__check_storage(name, t);
  return status ? status : sb__check_host(name, t->storage);
}

sb_status sb__check_storage(const char *name, const sb_tensor *t) {
  char text[128];
  if (t->storage || sb_tensor_numel(t) == 0) return SB_OK;
  return sb__fail(SB_ERR_ARGUMENT, "%s of shape %s has no bytes yet", name,
                  sb__shape_text(t->ndim, t->shape, text));
}

void sb_tensor_retain(sb_tensor *t) { sb_storage_ref(t->storage); }

void sb_tensor_release(sb_tensor *t) { sb_storage_unref(&t->storage); }

int64_t sb_tensor_nbytes(const sb_tensor *t) {
  return sb_tensor_numel(t) * sb_dtype_itemsize(t->dtype);
}

void *sb_tensor_data(const sb_tensor *t) {
  if (!t->storage || !t->storage->data || sb_tensor_numel(t) == 0) return NULL;
  return (char *)t->storage->data + t->offset * sb_dtype_itemsize(t->dtype);
}

bool sb_is_contiguous(const sb_tensor *t) {
  int64_t expected = 1;
  if (sb_tensor_numel(t) == 0) return true;
  for (int32_t d = t->ndim - 1; d >= 0; d--) {
    if (t->shape[d] != 1 && t->strides[d] != expected) return false;
    expected *= t->shape[d];
  }
  return true;
}
