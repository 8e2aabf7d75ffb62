/* Reductions: results of folded values, and how they get to their target. */
#include <string.h>

#include "math/reduce_walk.h"

void sb__fold_nothing(const walk *w, const room *m, int64_t outputs) {
  const join how = sizes_of(w)->join;
  char *folded = subtree_at(m, 0);
  double *real = (double *)(void *)folded;
  int64_t *whole = (int64_t *)(void *)folded;
  sb_complex128 *both = (sb_complex128 *)(void *)folded;
  for (int64_t i = 0; i < outputs; i++) {
    if (how == MULTIPLY_COMPLEX)
      both[i] = (sb_complex128){1, 0};
    else if (how == ADD || how == MULTIPLY)
      real[i] = how == MULTIPLY;
    else /* of LOGIC: any is false, all is true */
      whole[i] = how == MULTIPLY_INTEGERS;
  }
}

static void divide_all(double *x, int64_t n, double divisor) {
  for (int64_t i = 0; i < n; i++) x[i] = divisor > 0 ? x[i] / divisor : __builtin_nan("");
}

static void finish_reals(const walk *w, const char *folded, int64_t outputs, double *made) {
  const uint64_t *u = (const uint64_t *)(const void *)folded;
  const double n = (double)w->length;
  if (sizes_of(w)->join == ADD_INTEGERS)
    for (int64_t i = 0; i < outputs; i++) made[i] = (double)u[i];
  else
    memcpy(made, folded, (size_t)outputs * sizeof *made);
  if (w->how->group == SB__REDUCES_MEAN) divide_all(made, outputs, n);
  if (w->how->group == SB__REDUCES_SPREAD) divide_all(made, outputs, n - w->correction);
  if (w->how->op == SB__REDUCE_std || w->how->op == SB__REDUCE_norm2)
    for (int64_t i = 0; i < outputs; i++) made[i] = __builtin_sqrt(made[i]);
  for (int64_t i = 0; i < outputs; i++) made[i] = sb__canonical_double(made[i]);
}

static void finish_keys(const walk *w, const char *folded, int64_t outputs, char *made) {
  const int64_t *key = (const int64_t *)(const void *)folded;
  const bool is_single = w->how->load == SB_FLOAT32;
  const bool is_short = w->how->load == SB_UINT32;
  double *real = (double *)(void *)made;
  int64_t *whole = (int64_t *)(void *)made;
  for (int64_t i = 0; i < outputs; i++) {
    const int64_t value = key[i] ^ (int64_t)w->how->flip;
    if (w->how->made == SB_BOOL)
      made[i] = (value & 0xff) != 0;
    else if (w->how->made == SB_FLOAT64)
      real[i] = sb__canonical(sb__value_of_key(key[i], w->how->flip, is_single));
    else if (w->how->fold == SB__FOLD_most_u8)
      whole[i] = w->how->load == SB_INT8 ? (int8_t)(value & 0xff) : value & 0xff;
    else if (w->how->fold == SB__FOLD_most_u16)
      whole[i] = w->how->load == SB_INT16 ? (int16_t)(value & 0xffff) : value & 0xffff;
    else
      whole[i] = is_short ? value & UINT32_MAX : value;
  }
}

/* Makes results of folded values, in the dtype `made`. */
void sb__finish_folded(const walk *w, const room *m, int64_t outputs) {
  char *folded = subtree_at(m, 0);
  const join how = sizes_of(w)->join;
  if (how == WHERE) {
    memcpy(m->made, index_at(w, folded, outputs), (size_t)outputs * sizeof(int64_t));
  } else if (how == MOST) {
    if (w->length)
      finish_keys(w, folded, outputs, m->made);
    else
      memset(m->made, w->how->op == SB__REDUCE_all, (size_t)outputs);
  } else if (w->how->group == SB__REDUCES_LOGIC) {
    const uint64_t *count = (const uint64_t *)(const void *)folded;
    const bool is_all = w->how->op == SB__REDUCE_all;
    for (int64_t i = 0; i < outputs; i++)
      m->made[i] = is_all ? count[i] == (uint64_t)w->length : count[i] != 0;
  } else if (w->how->made == SB_FLOAT64) {
    finish_reals(w, folded, outputs, (double *)(void *)m->made);
  } else {
    memcpy(m->made, folded, (size_t)(outputs * sizes_of(w)->folded));
    double *part = (double *)(void *)m->made;
    for (int64_t i = 0; how == MULTIPLY_COMPLEX && i < 2 * outputs; i++)
      part[i] = sb__canonical(part[i]);
  }
}

/* Writes results where an output follows another by one step, for the most frequent dtypes. Returns whether it did. */
static bool store_fast(const walk *w, const room *m, const box *b) {
  int64_t step = 0;
  for (int32_t d = 0; d < w->kept.ndim; d++) {
    if (b->n[d] == 1) continue;
    if (step) return false;
    step = w->kept.outer[d].step[0];
  }
  const double *real = (const double *)(const void *)m->made;
  const int64_t *whole = (const int64_t *)(const void *)m->made;
  char *to = b->to;
  if (w->how->made == SB_FLOAT64 && w->to_dtype == SB_FLOAT32 && step == 4)
    for (int64_t i = 0; i < b->outputs; i++)
      ((float *)(void *)to)[i] = sb__canonical_single((float)real[i]);
  else if (w->how->made == SB_FLOAT64 && w->to_dtype == SB_FLOAT32)
    for (int64_t i = 0; i < b->outputs; i++, to += step)
      *(float *)(void *)to = sb__canonical_float(real[i]);
  else if (w->how->made == SB_INT64 && w->to_dtype == SB_INT32)
    for (int64_t i = 0; i < b->outputs; i++, to += step) *(int32_t *)(void *)to = (int32_t)whole[i];
  else if (w->how->made == w->to_dtype && w->to_dtype == SB_BOOL)
    for (int64_t i = 0; i < b->outputs; i++, to += step) *to = m->made[i];
  else if (w->how->made == w->to_dtype && sb_dtype_itemsize(w->to_dtype) == 8)
    for (int64_t i = 0; i < b->outputs; i++, to += step) *(int64_t *)(void *)to = whole[i];
  else
    return false;
  return true;
}

void sb__store_results(const walk *w, const room *m, const box *b) {
  sb_tensor here, there;
  sb__plan plan;
  int64_t stride = 1;
  if (store_fast(w, m, b)) return;
  here.dtype = w->how->made;
  there.dtype = w->to_dtype;
  here.ndim = there.ndim = w->kept.ndim;
  for (int32_t d = w->kept.ndim - 1; d >= 0; d--) {
    here.shape[d] = there.shape[d] = b->n[d];
    here.strides[d] = stride;
    there.strides[d] = w->kept.outer[d].step[0] / sb_dtype_itemsize(w->to_dtype);
    stride *= b->n[d];
  }
  const sb_tensor *tensors[] = {&there, &here};
  const sb__job job = {
      .plan = &plan, .base = {b->to, m->made}, .to = there.dtype, .from = here.dtype};
  sb__plan_make(2, tensors, false, &plan);
  sb__run_job(&job);
}
