/* Takes elements along an axis by their indices. */
#include <string.h>

#include "kernels/kernels.h"
#include "ops/loop.h"

static sb_status check_take(const sb_tensor *t, const sb_tensor *indices, int32_t d,
                            const sb_tensor *dst) {
  char text[128];
  const sb_kind kind = sb_dtype_kind(indices->dtype);
  if (kind != SB_SIGNED && kind != SB_UNSIGNED) {
    return sb__fail(SB_ERR_DTYPE, "indices is %s; integers were expected",
                    sb_dtype_name(indices->dtype));
  }
  if (indices->ndim != 1) {
    return sb__fail(SB_ERR_SHAPE, "indices has shape %s; one axis was expected",
                    sb__shape_text(indices->ndim, indices->shape, text));
  }
  if (dst->dtype != t->dtype) {
    return sb__fail(SB_ERR_DTYPE, "the target is %s; %s was expected", sb_dtype_name(dst->dtype),
                    sb_dtype_name(t->dtype));
  }
  bool fits = dst->ndim == t->ndim;
  for (int32_t i = 0; fits && i < t->ndim; i++) {
    fits = dst->shape[i] == (i == d ? indices->shape[0] : t->shape[i]);
  }
  if (fits) return sb__check_target(dst);
  return sb__fail(SB_ERR_SHAPE,
                  "the target has shape %s; on axis %d the %lld indices were expected",
                  sb__shape_text(dst->ndim, dst->shape, text), d, (long long)indices->shape[0]);
}

static sb_status fail_index(const sb__chunk *chunk, sb__form form, int64_t i, int64_t at, int32_t d,
                            int64_t extent) {
  if (form == SB__FORM_UINT) {
    return sb__fail(SB_ERR_BOUNDS, "indices[%lld] is %llu; axis %d has %lld elements",
                    (long long)at, (unsigned long long)chunk->u[i], d, (long long)extent);
  }
  return sb__fail(SB_ERR_BOUNDS, "indices[%lld] is %lld; axis %d has %lld elements", (long long)at,
                  (long long)chunk->i[i], d, (long long)extent);
}

/* Computes the byte offset along the axis for each index. Reads each index once, because other threads may change it. */
static sb_status read_offsets(const sb_tensor *t, const sb_tensor *indices, int32_t d,
                              int64_t *offsets) {
  const int64_t step = indices->strides[0] * sb_dtype_itemsize(indices->dtype);
  const int64_t extent = t->shape[d];
  const int64_t along = /* without elements, strides may overflow */
      sb_tensor_numel(t) ? t->strides[d] * sb_dtype_itemsize(t->dtype) : 0;
  const char *from = sb_tensor_data(indices);
  sb__chunk chunk;
  for (int64_t first = 0, n = indices->shape[0]; first < n; first += SB__CHUNK) {
    const int64_t count = n - first < SB__CHUNK ? n - first : SB__CHUNK;
    const sb__form form = sb__load(indices->dtype, &chunk, from + first * step, step, count);
    for (int64_t i = 0; i < count; i++) {
      const int64_t index = chunk.i[i];
      const bool inside = form == SB__FORM_UINT ? chunk.u[i] < (uint64_t)extent
                                                : index >= -extent && index < extent;
      if (!inside) return fail_index(&chunk, form, i, first + i, d, extent);
      offsets[first + i] = (index < 0 ? index + extent : index) * along;
    }
  }
  return SB_OK;
}

/* Walks rows of the other axes: contiguous rows are copied at once, others element by element. */
static void take_rows(const sb_tensor *t, const int64_t *offsets, int64_t n, const sb_tensor *dst,
                      int32_t d) {
  sb_tensor to, from;
  const sb_tensor *const tensors[] = {&to, &from};
  const int64_t itemsize = sb_dtype_itemsize(t->dtype), step = dst->strides[d] * itemsize;
  sb__loop loop;
  sb_tensor_copy_layout(dst, &to);
  sb_tensor_copy_layout(t, &from);
  to.shape[d] = from.shape[d] = 1;
  sb__loop_begin(&loop, 2, tensors);
  const bool dense = loop.n > 1 && loop.step[0] == itemsize && loop.step[1] == itemsize;
  do {
    for (int64_t j = 0; dense && j < n; j++) {
      memcpy(loop.at[0] + j * step, loop.at[1] + offsets[j], (size_t)(loop.n * itemsize));
    }
    for (int64_t i = 0; !dense && i < loop.n; i++) {
      sb__gather_items(loop.at[0] + i * loop.step[0], step, loop.at[1] + i * loop.step[1], offsets,
                       n, itemsize);
    }
  } while (sb__loop_next(&loop));
}

static sb_status check_apart(const sb_tensor *t, const sb_tensor *dst) {
  bool shared = false;
  const sb_status status = sb_shares_memory(t, dst, &shared);
  if (status || !shared) return status;
  return sb__fail(SB_ERR_OVERLAP, "the target shares bytes with the source");
}

sb_status sb_take(const sb_tensor *t, const sb_tensor *indices, int64_t axis,
                  const sb_tensor *dst) {
  int32_t d = 0;
  sb_status status = sb__check_axis("axis", axis, t->ndim, &d);
  if (!status) status = check_take(t, indices, d, dst);
  if (!status) status = sb__check_bytes("the source", t);
  if (!status) status = sb__check_bytes("indices", indices);
  if (!status) status = check_apart(t, dst);
  if (status || indices->shape[0] == 0) return status;
  const int64_t n = indices->shape[0];
  int64_t *offsets = n > INT64_MAX / 8 ? NULL : sb__alloc_bytes(n * (int64_t)sizeof *offsets);
  if (!offsets) return sb__fail(SB_ERR_MEMORY, "no memory for %lld indices", (long long)n);
  status = read_offsets(t, indices, d, offsets);
  if (!status && sb_tensor_numel(dst)) take_rows(t, offsets, n, dst, d);
  sb__free_aligned(offsets);
  return status;
}
