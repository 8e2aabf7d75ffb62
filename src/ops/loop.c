/* Drops axes of size 1, merges neighbours where all tensors allow, and makes the innermost axis the row. */
#include "ops/loop.h"

static bool can_merge(const sb__loop *loop, const int64_t *steps, int64_t extent) {
  const int32_t outer = loop->ndim - 1;
  if (outer < 0) return false;
  for (int32_t k = 0; k < loop->count; k++) {
    if (loop->steps[k][outer] != steps[k] * extent) return false;
  }
  return true;
}

void sb__loop_begin(sb__loop *loop, int32_t count, const sb_tensor *const tensors[]) {
  const sb_tensor *first = tensors[0];
  loop->count = count;
  loop->ndim = 0;
  for (int32_t d = 0; d < first->ndim; d++) {
    int64_t steps[SB__LOOP_MAX] = {0};
    if (first->shape[d] == 1) continue;
    for (int32_t k = 0; k < count; k++) {
      steps[k] = tensors[k]->strides[d] * sb_dtype_itemsize(tensors[k]->dtype);
    }
    if (can_merge(loop, steps, first->shape[d])) {
      loop->shape[loop->ndim - 1] *= first->shape[d];
    } else {
      loop->index[loop->ndim] = 0;
      loop->shape[loop->ndim++] = first->shape[d];
    }
    for (int32_t k = 0; k < count; k++) loop->steps[k][loop->ndim - 1] = steps[k];
  }
  loop->n = loop->ndim ? loop->shape[--loop->ndim] : 1;
  for (int32_t k = 0; k < count; k++) {
    loop->at[k] = sb_tensor_data(tensors[k]);
    loop->step[k] =
        loop->n == 1 ? sb_dtype_itemsize(tensors[k]->dtype) : loop->steps[k][loop->ndim];
  }
}

bool sb__loop_next(sb__loop *loop) {
  for (int32_t d = loop->ndim - 1; d >= 0; d--) {
    const bool more = ++loop->index[d] < loop->shape[d];
    for (int32_t k = 0; k < loop->count; k++) {
      loop->at[k] += more ? loop->steps[k][d] : -(loop->shape[d] - 1) * loop->steps[k][d];
    }
    if (more) return true;
    loop->index[d] = 0;
  }
  return false;
}
