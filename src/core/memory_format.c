/* Memory formats: the order of axes in memory, dense layouts in that order, and resizing. */
#include "core/core.h"

static uint64_t absolute_stride(int64_t stride) { /* unsigned, for INT64_MIN */
  return stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
}

/* The orders of channels_last with 4 and 5 axes. */
static const int64_t channels_last[2][5] = {{0, 2, 3, 1}, {0, 2, 3, 4, 1}};

static bool is_channels_last(const sb_tensor *t) {
  if (t->ndim != 4 && t->ndim != 5) return false;
  return !sb_is_contiguous(t) && sb_is_contiguous_in(t, channels_last[t->ndim - 4]);
}

void sb_dim_order(const sb_tensor *t, int64_t *order) {
  const bool known = is_channels_last(t); /* other orders fit as well where axes have size 1 */
  for (int32_t d = 0; d < t->ndim; d++) order[d] = known ? channels_last[t->ndim - 4][d] : d;
  for (int32_t d = 1; !known && d < t->ndim; d++) {
    /* Sorts axes by falling stride. Axes of equal strides, or of size 1, keep their order. */
    int32_t at = d;
    for (int32_t i = d - 1; i >= 0 && t->shape[d] != 1; i--) {
      if (t->shape[i] == 1) continue;
      if (absolute_stride(t->strides[order[i]]) >= absolute_stride(t->strides[d])) break;
      order[at] = order[i];
      at = i;
    }
    order[at] = d;
  }
}

sb_status sb_dim_order_strides(int32_t ndim, const int64_t *shape, const int64_t *order,
                               int64_t *strides) {
  int64_t stride = 1, made[SB_MAX_DIMS] = {0};
  int8_t taken[SB_MAX_DIMS] = {0};
  if (ndim < 0 || ndim > SB_MAX_DIMS)
    return sb__fail(SB_ERR_SHAPE, "%d dimensions were given; 0 to %d are possible", ndim,
                    SB_MAX_DIMS);
  for (int32_t i = ndim - 1; i >= 0; i--) {
    if (order[i] < 0 || order[i] >= ndim || taken[order[i]]) {
      return sb__fail(SB_ERR_SHAPE, "dimOrder[%d] is %lld; each of 0 to %d stands once", i,
                      (long long)order[i], ndim - 1);
    }
    taken[order[i]] = 1;
    made[order[i]] = stride;
    if (shape[order[i]] > 1 && sb__mul_overflows(stride, shape[order[i]], &stride)) {
      return sb__fail(SB_ERR_SHAPE, "the strides of the shape overflow");
    }
  }
  for (int32_t d = 0; d < ndim; d++) strides[d] = made[d];
  return SB_OK;
}

sb_status sb__check_dim_order(int32_t ndim, const int64_t *shape, const int64_t *strides,
                              const int64_t *dim_order) {
  uint64_t outer = UINT64_MAX; /* of the axis before */
  for (int32_t i = 0; i < ndim; i++) {
    const int64_t axis = dim_order[i];
    if (shape[axis] == 1) continue;
    if (absolute_stride(strides[axis]) > outer) {
      return sb__fail(SB_ERR_SHAPE, "strides and dimOrder do not agree: axis %d comes too late",
                      (int)axis);
    }
    outer = absolute_stride(strides[axis]);
  }
  return SB_OK;
}

bool sb_is_contiguous_in(const sb_tensor *t, const int64_t *order) {
  int64_t expected = 1;
  if (sb_tensor_numel(t) == 0) return true;
  for (int32_t i = t->ndim - 1; i >= 0; i--) {
    const int64_t d = order[i];
    if (t->shape[d] != 1 && t->strides[d] != expected) return false;
    expected *= t->shape[d];
  }
  return true;
}

sb_status sb_dense_like(const sb_tensor *t, sb_dtype dtype, sb_tensor *out) {
  sb_tensor made;
  int64_t order[SB_MAX_DIMS], strides[SB_MAX_DIMS];
  sb_dim_order(t, order);
  sb_status status = sb_dim_order_strides(t->ndim, t->shape, order, strides);
  if (!status) status = sb_tensor_init(NULL, dtype, t->ndim, t->shape, strides, 0, &made);
  if (status) return status;
  made.dynamism = t->dynamism;
  sb_tensor_copy_layout(&made, out);
  return SB_OK;
}

sb_status sb_tensor_empty_like(const sb_tensor *t, sb_dtype dtype, sb_tensor *out) {
  sb_tensor made;
  sb_status status = sb_dense_like(t, dtype, &made);
  if (status) return status;
  made.dynamism = SB_BOUNDED;
  status = sb__tensor_allocate(&made, sb_tensor_numel(&made));
  if (!status) sb_tensor_copy_layout(&made, out);
  return status;
}

static bool same_shape(const sb_tensor *t, const int64_t *shape) {
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->shape[d] != shape[d]) return false;
  }
  return true;
}

static sb_status check_resizable(const sb_tensor *t, const int64_t *shape, const int64_t *order) {
  char from[128], to[128];
  if (t->dynamism == SB_STATIC && !same_shape(t, shape)) {
    return sb__fail(SB_ERR_SHAPE, "the tensor is static: it stays %s, shape is %s",
                    sb__shape_text(t->ndim, t->shape, from), sb__shape_text(t->ndim, shape, to));
  }
  if (!sb_is_contiguous_in(t, order)) {
    return sb__fail(SB_ERR_SHAPE, "the tensor of shape %s has gaps; contiguous() copies",
                    sb__shape_text(t->ndim, t->shape, from));
  }
  return SB_OK;
}

sb_status sb_resize(const sb_tensor *t, int32_t ndim, const int64_t *shape, const int64_t *order,
                    sb_tensor *out, bool *outgrown) {
  sb_tensor made;
  int64_t axes[SB_MAX_DIMS], strides[SB_MAX_DIMS], numel = 0;
  char from[128], to[128];
  sb_status status = sb__check_shape(ndim, shape, &numel);
  if (status) return status;
  if (ndim != t->ndim) {
    return sb__fail(SB_ERR_SHAPE, "shape %s has %d axes; a resize keeps the %d of %s",
                    sb__shape_text(ndim, shape, to), ndim, t->ndim,
                    sb__shape_text(t->ndim, t->shape, from));
  }
  if (!order) sb_dim_order(t, axes);
  status = sb_dim_order_strides(ndim, shape, order ? order : axes, strides); /* checks the order */
  if (!status) status = check_resizable(t, shape, order ? order : axes);
  if (status) return status;
  const bool fits = numel <= t->capacity || ndim == 0;
  if (!fits && (t->dynamism != SB_UNBOUND || !outgrown)) {
    return sb__fail(SB_ERR_SHAPE, "shape %s has %lld elements; the tensor of %s has room for %lld",
                    sb__shape_text(ndim, shape, to), (long long)numel,
                    sb__shape_text(t->ndim, t->shape, from), (long long)t->capacity);
  }
  status = sb_tensor_init(fits ? t->storage : NULL, t->dtype, ndim, shape, strides,
                          fits ? t->offset : 0, &made);
  if (status) return status;
  made.dynamism = t->dynamism;
  made.flags = fits ? t->flags : 0;
  if (fits) made.capacity = t->capacity;
  if (outgrown) *outgrown = !fits;
  sb_tensor_copy_layout(&made, out);
  return SB_OK;
}

sb_status sb_set_data(sb_tensor *t, const sb_tensor *source) {
  const int64_t numel = sb_tensor_numel(t);
  int64_t lowest = 0, highest = 0;
  if (source->dtype != t->dtype) {
    return sb__fail(SB_ERR_DTYPE, "the source is of %s; the tensor is of %s",
                    sb_dtype_name(source->dtype), sb_dtype_name(t->dtype));
  }
  if (!sb_is_contiguous(source)) {
    return sb__fail(SB_ERR_SHAPE, "the source is not contiguous; contiguous() copies");
  }
  (void)sb__extent(t, &lowest, &highest); /* cannot overflow: t is inside a storage */
  if (numel > 0 && (lowest < 0 || highest >= sb_tensor_numel(source))) {
    return sb__fail(SB_ERR_BOUNDS, "the source has %lld elements; the tensor reaches %lld to %lld",
                    (long long)sb_tensor_numel(source), (long long)lowest, (long long)highest);
  }
  t->storage = source->storage;
  t->offset = source->offset;
  t->flags = source->flags;
  t->capacity = numel;
  return SB_OK;
}
