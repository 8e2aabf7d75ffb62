/* Shapes and strides: numbers of elements, bounds, axes. */

#include "core/core.h"
#if defined __GNUC__ && \
    !defined __clang__ /* loops over a few axes are faster than calls of memcpy */
# pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

int64_t sb_tensor_numel(const sb_tensor *t) {
  int64_t numel = 1;
  for (int32_t d = 0; d < t->ndim; d++) numel *= t->shape[d];
  return numel;
}

const char *sb__shape_text(int32_t ndim, const int64_t *shape, char text[128]) {
  size_t used = 0;
  text[used++] = '[';
  for (int32_t d = 0; d < ndim && used < 96; d++) {
    const int n = sb__print(text + used, 128 - used, d ? ", %lld" : "%lld", (long long)shape[d]);
    if (n > 0) used += (size_t)n;
  }
  sb__print(text + used, 128 - used, ndim > 0 && used >= 96 ? ", ...]" : "]");
  return text;
}

sb_status sb__check_shape(int64_t ndim, const int64_t *shape, int64_t *numel) {
  int64_t product = 1;
  bool empty = false;
  if (ndim < 0 || ndim > SB_MAX_DIMS) {
    return sb__fail(SB_ERR_SHAPE, "%lld dimensions were given; 0 to %d are possible",
                    (long long)ndim, SB_MAX_DIMS);
  }
  for (int64_t d = 0; d < ndim; d++) {
    if (shape[d] < 0) {
      return sb__fail(SB_ERR_SHAPE, "shape[%lld] is %lld; 0 or more was expected", (long long)d,
                      (long long)shape[d]);
    }
    if (shape[d] == 0) {
      empty = true;
    } else if (sb__mul_overflows(product, shape[d], &product)) {
      char text[128];
      return sb__fail(SB_ERR_SHAPE, "shape %s has more elements than 64 bits can count",
                      sb__shape_text((int32_t)ndim, shape, text));
    }
  }
  /* 16 bytes is the largest item size: nbytes must not overflow either, for any dtype. */
  if (product > INT64_MAX / 16) {
    char text[128];
    return sb__fail(SB_ERR_SHAPE, "shape %s has more bytes than 64 bits can count",
                    sb__shape_text((int32_t)ndim, shape, text));
  }
  *numel = empty ? 0 : product;
  return SB_OK;
}

sb_status sb__dense_strides(int32_t ndim, const int64_t *shape, int64_t *strides) {
  int64_t stride = 1;
  for (int32_t d = ndim - 1; d >= 0; d--) {
    strides[d] = stride;
    if (shape[d] > 1 && sb__mul_overflows(stride, shape[d], &stride)) {
      return sb__fail(SB_ERR_SHAPE, "the strides of the shape overflow");
    }
  }
  return SB_OK;
}

sb_status sb__check_axis(const char *name, int64_t axis, int32_t ndim, int32_t *out) {
  if (axis < -(int64_t)ndim || axis >= ndim) {
    if (ndim == 0)
      return sb__fail(SB_ERR_BOUNDS, "%s is %lld; the tensor has no axes", name, (long long)axis);
    return sb__fail(SB_ERR_BOUNDS, "%s is %lld; %d to %d are the axes", name, (long long)axis,
                    -ndim, ndim - 1);
  }
  *out = (int32_t)(axis < 0 ? axis + ndim : axis);
  return SB_OK;
}

bool sb__extent(const sb_tensor *t, int64_t *lowest, int64_t *highest) {
  int64_t low = 0, high = 0;
  *lowest = *highest = 0;
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->shape[d] == 0) return true;
  }
  for (int32_t d = 0; d < t->ndim; d++) {
    int64_t reach = 0;
    int64_t *end = t->strides[d] < 0 ? &low : &high;
    if (sb__mul_overflows(t->shape[d] - 1, t->strides[d], &reach)) return false;
    if (sb__add_overflows(*end, reach, end)) return false;
  }
  *lowest = low;
  *highest = high;
  return true;
}

sb_status sb__check_extent(const sb_tensor *t) {
  int64_t lowest = 0, highest = 0, low = 0, high = 0, end = 0;
  char text[128];
  const int64_t itemsize = sb_dtype_itemsize(t->dtype);
  const int64_t available = t->storage ? (int64_t)t->storage->nbytes : INT64_MAX; /* bytes */
  if (!sb__extent(t, &lowest, &highest) || sb__add_overflows(t->offset, lowest, &low) ||
      sb__add_overflows(t->offset, highest, &high) || sb__add_overflows(high, 1, &end) ||
      sb__mul_overflows(end, itemsize, &end)) {
    return sb__fail(SB_ERR_BOUNDS, "shape %s with strides from %lld reaches beyond 64 bits",
                    sb__shape_text(t->ndim, t->shape, text), (long long)t->offset);
  }
  if (low >= 0 && end <= available) return SB_OK;
  if (low >= 0 && sb_tensor_numel(t) == 0 && end - itemsize <= available) return SB_OK;
  return sb__fail(SB_ERR_BOUNDS,
                  "shape %s at offset %lld needs elements %lld to %lld; the source has %lld of %s",
                  sb__shape_text(t->ndim, t->shape, text), (long long)t->offset, (long long)low,
                  (long long)high, (long long)(available / itemsize), sb_dtype_name(t->dtype));
}

#ifndef NDEBUG
bool sb__tensor_is_valid(const sb_tensor *t) {
  int64_t numel = 0;
  return t->abi == SB_ABI && sb__dtype_is_valid((int64_t)t->dtype) && t->ndim >= 0 &&
         t->ndim <= SB_MAX_DIMS && !sb__check_shape(t->ndim, t->shape, &numel) &&
         !sb__check_extent(t);
}
#endif
