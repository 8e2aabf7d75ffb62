/* Borders around tensors: copies of slabs along one axis after the other, so that corners are copies of borders. */
#include "math/algorithms.h"

enum { CONSTANT, REFLECT, EDGE };

typedef struct frame {
  sb_tensor box; /* the part of the target that is written by now */
  char *base;    /* of the target's first element */
  sb_tensor value;
  const void *items; /* of value: what borders are of */
} frame;

/* The box with n elements along an axis, from `at` on, each `step` after the one before. */
static void slab(const frame *f, int32_t d, int64_t at, int64_t n, int64_t step, sb_tensor *out) {
  sb_tensor_copy_layout(&f->box, out);
  out->offset += at * out->strides[d];
  out->shape[d] = n;
  out->strides[d] *= step;
}

static char *data_of(const frame *f, const sb_tensor *t) {
  return f->base + t->offset * sb_dtype_itemsize(t->dtype);
}

static void copy_slab(const frame *f, const sb_tensor *to, const sb_tensor *from,
                      const void *data) {
  const sb_tensor *tensors[] = {to, from};
  sb__plan plan;
  for (int32_t d = 0; d < to->ndim; d++)
    if (!to->shape[d]) return;
  sb__plan_make(2, tensors, false, &plan);
  const sb__job job = {
      .plan = &plan, .base = {data_of(f, to), (char *)data}, .to = to->dtype, .from = from->dtype};
  sb__run_job(&job);
}

/* Writes n elements along axis d, which lie beside `low` to `high` - 1, those that are written. sign: -1 before them, 1 after. */
static void write_constant(const frame *f, int32_t d, int64_t at, int64_t n) {
  sb_tensor to, from = f->value;
  slab(f, d, at, n, 1, &to);
  for (int32_t k = 0; k < to.ndim; k++) from.shape[k] = to.shape[k];
  copy_slab(f, &to, &from, f->items);
}

static void write_edge(const frame *f, int32_t d, int64_t at, int64_t n, int64_t edge) {
  sb_tensor to, from;
  slab(f, d, at, n, 1, &to);
  slab(f, d, edge, n, 0, &from);
  copy_slab(f, &to, &from, data_of(f, &from));
}

/* Mirrors elements before (sign -1) or after (sign 1) the ones from low to high - 1. What is mirrored at once are whole periods of the
 * source's `extent` elements, or the rest. Returns how many were written. */
static int64_t write_mirrored(const frame *f, int32_t d, int64_t low, int64_t high, int64_t n,
                              int64_t extent, int sign) {
  const int64_t period = extent - 1, most = (high - low - 1) / period * period;
  const int64_t count = n < most ? n : most;
  sb_tensor to, from;
  slab(f, d, sign < 0 ? low - count : high, count, 1, &to);
  slab(f, d, sign < 0 ? low + count : high - 2, count, -1, &from);
  copy_slab(f, &to, &from, data_of(f, &from));
  return count;
}

/* extent: of the source; after it `rest` elements are the border. */
static void frame_axis(frame *f, int mode, int32_t d, int64_t before, int64_t extent,
                       int64_t rest) {
  const int64_t high = before + extent;
  if (mode == CONSTANT) {
    write_constant(f, d, 0, before);
    write_constant(f, d, high, rest);
  } else if (mode == EDGE || extent == 1) {
    write_edge(f, d, 0, before, before);
    write_edge(f, d, high, rest, high - 1);
  } else {
    for (int64_t low = before; low > 0;) low -= write_mirrored(f, d, low, high, low, extent, -1);
    for (int64_t done = 0; done < rest;)
      done += write_mirrored(f, d, 0, high + done, rest - done, extent, 1);
  }
}

static sb_status check_pad(const sb_tensor *to, const sb_tensor *inside, const int64_t *before,
                           int mode) {
  bool fits = to->ndim == inside->ndim;
  for (int32_t d = 0; fits && d < to->ndim; d++) {
    fits =
        before[d] >= 0 && before[d] <= to->shape[d] && inside->shape[d] <= to->shape[d] - before[d];
    if (fits && mode != CONSTANT && !inside->shape[d] && to->shape[d])
      return sb__fail(SB_ERR_SHAPE, "pad: axis %d has no elements to repeat", d);
  }
  return fits ? SB_OK : sb__fail(SB_ERR_SHAPE, "pad: the shapes do not fit");
}

static void narrow(const sb_tensor *to, const sb_tensor *inside, const int64_t *before,
                   sb_tensor *out) {
  sb_tensor_copy_layout(to, out);
  for (int32_t d = 0; d < to->ndim; d++) {
    out->offset += before[d] * to->strides[d];
    out->shape[d] = inside->shape[d];
  }
}

/* Writes what is around the source's place in the target, whose box is inside. */
static void write_frame(const sb_tensor *to, frame *f, const int64_t *before, int mode) {
  f->base = (char *)sb_tensor_data(to) - to->offset * sb_dtype_itemsize(to->dtype);
  for (int32_t d = 0; d < to->ndim; d++) {
    const int64_t extent = f->box.shape[d], rest = to->shape[d] - extent - before[d];
    f->box.offset -= before[d] * f->box.strides[d];
    frame_axis(f, mode, d, before[d], extent, rest);
    f->box.shape[d] = to->shape[d];
  }
}

sb_status sb__pad(const sb_tensor *to, const sb_tensor *from, const int64_t *before, int64_t count,
                  const sb_scalar *value, int mode, sb_casting casting, int64_t *staged) {
  frame f = {.value = {.dtype = to->dtype, .ndim = to->ndim}};
  sb_complex128 item;
  if (count != to->ndim) return sb__fail(SB_ERR_SHAPE, "pad: the shapes do not fit");
  sb_status status = check_pad(to, from, before, mode);
  if (!status) status = sb__item_of(value, to->dtype, (char *)&item);
  if (status) return status;
  narrow(to, from, before, &f.box);
  status = sb__check_target(to);
  if (!status && sb__may_overlap(to, from) && !sb__is_in_place(&f.box, from)) {
    sb_tensor copy; /* the border is written as well */
    status = sb_tensor_empty(from->dtype, from->ndim, from->shape, &copy);
    if (status) return status;
    *staged += sb_tensor_numel(from) * sb_dtype_itemsize(from->dtype);
    status = sb_copy(&copy, from, SB_CASTING_SAFE, NULL);
    if (!status) status = sb_copy(&f.box, &copy, casting, NULL);
    sb_tensor_release(&copy);
  } else if (!status) {
    status = sb_copy(&f.box, from, casting, staged);
  }
  f.items = &item;
  if (!status && sb_tensor_numel(to)) write_frame(to, &f, before, mode);
  return status;
}

/* The value as the image is scaled: for each channel, if there are several factors. */
static void scale_value(double *items, double value, const double *factors, int64_t n,
                        const sb_tensor *to) {
  const sb_kind kind = sb_dtype_kind(to->dtype);
  for (int64_t i = 0; i < n; i++) {
    const double scale = factors ? factors[i] : 1, bias = factors ? factors[n + i] : 0;
    items[i] = to->dtype == SB_FLOAT64 ? value * scale + bias
                                       : (double)((float)value * (float)scale + (float)bias);
    if (kind == SB_SIGNED || kind == SB_UNSIGNED) items[i] = __builtin_rint(items[i]);
  }
}

sb_status sb__resize_within(const sb_tensor *to, const sb_tensor *from, const sb_tensor *factors,
                            const sb__resize_call *call, const int64_t *place, double value,
                            int64_t *staged) {
  frame f = {.value = {.dtype = SB_FLOAT64, .ndim = to->ndim}};
  int64_t before[SB_MAX_DIMS] = {0};
  const int64_t n = factors && factors->ndim == 2 && call->axis >= 0 ? factors->shape[1] : 1;
  const int32_t rows = to->ndim - 2;
  sb_tensor inside;
  if (rows < 0 || place[2] < 0 || place[3] < 0)
    return sb__fail(SB_ERR_SHAPE, "letterbox: the shapes do not fit");
  sb_tensor_copy_layout(to, &inside);
  for (int i = 0; i < 2; i++) {
    before[rows + i] = place[i];
    inside.shape[rows + i] = place[2 + i];
  }
  sb_status status = check_pad(to, &inside, before, CONSTANT);
  if (!status) status = sb__check_target(to);
  if (status) return status;
  narrow(to, &inside, before, &f.box);
  double *items = sb__alloc_bytes(n * (int64_t)sizeof *items); /* before anything is written */
  if (!items) return sb__fail(SB_ERR_MEMORY, "%lld bytes for letterbox", (long long)(8 * n));
  status = sb__resize(&f.box, from, factors, call, staged);
  if (!status && sb_tensor_numel(to)) {
    scale_value(items, value, factors ? sb_tensor_data(factors) : NULL, n, to);
    if (n > 1) f.value.strides[call->axis] = 1;
    f.items = items;
    write_frame(to, &f, before, CONSTANT);
  }
  sb__free_aligned(items);
  return status;
}
