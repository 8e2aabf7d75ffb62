/* Makes tensors with storages of their own: of values, of bytes, of another tensor, and on resize. */
#include <string.h>

#include "core/core.h"
#include "ops/device.h"

/* Allocates a storage for made on t's device. */
static sb_status allocate_like(sb_tensor *made, const sb_tensor *t) {
  if (!SB__ON_DEVICE(t->storage)) return sb__tensor_allocate(made, sb_tensor_numel(made));
  return sb__device->allocate(t->storage, (size_t)sb_tensor_nbytes(made), &made->storage);
}

/* made: a layout without a storage; src broadcasts to its shape. */
static sb_status copy_into_own(sb_tensor *made, const sb_tensor *src, sb_casting casting,
                               sb_tensor *out) {
  sb_status status = allocate_like(made, src);
  if (status) return status;
  status = sb_copy(made, src, casting, NULL);
  if (status)
    sb_storage_unref(&made->storage);
  else
    sb_tensor_copy_layout(made, out);
  return status;
}

sb_status sb_tensor_from_values(sb_dtype from, const void *values, int64_t count, sb_dtype dtype,
                                int32_t ndim, const int64_t *shape, sb_casting casting,
                                sb_tensor *out) {
  sb_storage borrowed;
  sb_tensor made, source;
  char text[128];
  int64_t nbytes = 0;
  sb_status status = sb_tensor_init(NULL, dtype, ndim, shape, NULL, 0, &made);
  if (status) return status;
  if (count != sb_tensor_numel(&made)) {
    return sb__fail(SB_ERR_SHAPE, "%lld values were given; shape %s has %lld elements",
                    (long long)count, sb__shape_text(ndim, shape, text),
                    (long long)sb_tensor_numel(&made));
  }
  if (!values && count) {
    return sb__fail(SB_ERR_ARGUMENT, "values is NULL with %lld elements", (long long)count);
  }
  if (sb__mul_overflows(count, sb_dtype_itemsize(from), &nbytes)) {
    return sb__fail(SB_ERR_SHAPE, "%lld values have more bytes than 64 bits can count",
                    (long long)count);
  }
  sb__storage_borrow((void *)values, (size_t)nbytes, &borrowed); /* only read */
  status = sb_tensor_init(&borrowed, from, ndim, shape, NULL, 0, &source);
  return status ? status : copy_into_own(&made, &source, casting, out);
}

sb_status sb_tensor_from_bytes(const void *bytes, size_t nbytes, sb_dtype dtype, int32_t ndim,
                               const int64_t *shape, sb_tensor *out) {
  sb_tensor made;
  char text[128];
  sb_status status = sb_tensor_init(NULL, dtype, ndim, shape, NULL, 0, &made);
  if (status) return status;
  if (nbytes != (uint64_t)sb_tensor_nbytes(&made)) {
    return sb__fail(SB_ERR_SHAPE, "%zu bytes were given; shape %s of %s has %lld", nbytes,
                    sb__shape_text(ndim, shape, text), sb_dtype_name(dtype),
                    (long long)sb_tensor_nbytes(&made));
  }
  if (!bytes && nbytes) return sb__fail(SB_ERR_ARGUMENT, "bytes is NULL with %zu of them", nbytes);
  status = sb__tensor_allocate(&made, sb_tensor_numel(&made));
  if (status) return status;
  if (nbytes) memcpy(sb_tensor_data(&made), bytes, nbytes);
  sb_tensor_copy_layout(&made, out);
  return SB_OK;
}

sb_status sb_clone(const sb_tensor *t, sb_dtype dtype, sb_casting casting, sb_tensor *out) {
  sb_tensor made;
  const sb_status status = sb_dense_like(t, dtype, &made);
  return status ? status : copy_into_own(&made, t, casting, out);
}

/* The first n elements of a tensor without gaps, in the order of memory. */
static sb_status flat_view(const sb_tensor *t, int64_t n, sb_tensor *out) {
  return sb_tensor_init(t->storage, t->dtype, 1, &n, NULL, t->offset, out);
}

/* Allocates a storage for made, and copies all elements of t's capacity. */
static sb_status move_elements(const sb_tensor *t, sb_tensor *made) {
  sb_tensor from, to;
  const int64_t n = t->storage ? t->capacity : 0;
  sb_status status = allocate_like(made, t);
  if (status || n == 0) return status;
  status = flat_view(t, n, &from);
  if (!status) status = flat_view(made, n, &to);
  if (!status) status = sb_copy(&to, &from, SB_CASTING_SAFE, NULL);
  if (status) sb_storage_unref(&made->storage);
  return status;
}

sb_status sb_tensor_resize(sb_tensor *t, int32_t ndim, const int64_t *shape) {
  sb_tensor made;
  bool outgrown = false;
  char text[128];
  sb_status status = sb_resize(t, ndim, shape, NULL, &made, &outgrown);
  if (status) return status;
  if (outgrown && t->storage && t->storage->kind != SB__STORAGE_HEAP &&
      t->storage->kind != SB__STORAGE_CUDA) {
    return sb__fail(SB_ERR_SHAPE,
                    "shape %s has %lld elements; the blob has room for %lld, and it is not ours to "
                    "grow",
                    sb__shape_text(ndim, shape, text), (long long)sb_tensor_numel(&made),
                    (long long)t->capacity);
  }
  if (outgrown) {
    status = move_elements(t, &made);
    if (status) return status;
    sb_tensor_release(t);
  }
  sb_tensor_copy_layout(&made, t);
  return SB_OK;
}
