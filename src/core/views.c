/* Views: layouts over the bytes of another tensor. No byte is touched.
 *
 * out may be t, and is untouched on failure: arguments are checked before out is written, or the view is computed in a
 * copy. */

#include "core/core.h"
#if defined __GNUC__ && \
    !defined __clang__ /* loops over a few axes are faster than calls of memcpy */
# pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

/* A view of a part of t cannot grow beyond its own elements. */
static void limit_capacity(sb_tensor *view) {
  view->capacity = view->ndim ? sb_tensor_numel(view) : 1;
}

static void finish_view(sb_tensor *view, sb_tensor *out) {
  limit_capacity(view);
  sb_tensor_copy_layout(view, out);
}

static void normalise_strides(sb_tensor *t) {
  int64_t dense = 1;
  for (int32_t d = t->ndim - 1; d >= 0; d--) {
    if (t->shape[d] == 1) t->strides[d] = dense;
    if (t->shape[d] > 1) dense *= t->shape[d];
  }
}

/* Sets out's axes; strides of axes of size 1 are normalised. */
static void set_axes(sb_tensor *out, int32_t ndim, const int64_t *shape, const int64_t *strides) {
  int64_t dense = 1;
  bool empty = false;
  out->ndim = ndim;
  for (int32_t d = ndim - 1; d >= 0; d--) {
    out->shape[d] = shape[d];
    out->strides[d] = shape[d] == 1 ? dense : strides[d];
    if (shape[d] > 1) dense *= shape[d];
    empty = empty || shape[d] == 0;
  }
  out->capacity = empty ? 0 : dense; /* of a view: its elements */
}

sb_status sb_permute(const sb_tensor *t, int32_t ndim, const int64_t *order, sb_tensor *out) {
  int64_t shape[SB_MAX_DIMS], strides[SB_MAX_DIMS];
  uint64_t taken = 0; /* a bit per axis */
  if (ndim != t->ndim) {
    return sb__fail(SB_ERR_SHAPE, "order has %d axes; the tensor has %d", ndim, t->ndim);
  }
  for (int32_t d = 0; d < ndim; d++) {
    const int64_t axis = order[d] < 0 ? order[d] + ndim : order[d];
    if (axis < 0 || axis >= ndim) {
      return sb__fail(SB_ERR_BOUNDS, "order[%d] is %lld; %d to %d are the axes", d,
                      (long long)order[d], -ndim, ndim - 1);
    }
    if (taken >> axis & 1) {
      return sb__fail(SB_ERR_BOUNDS, "order[%d] repeats axis %d", d, (int)axis);
    }
    taken |= UINT64_C(1) << axis;
    shape[d] = t->shape[axis];
    strides[d] = t->strides[axis];
  }
  sb_tensor_copy_layout(t, out);
  set_axes(out, ndim, shape, strides);
  return SB_OK;
}

sb_status sb_transpose(const sb_tensor *t, int64_t a, int64_t b, sb_tensor *out) {
  int32_t x = 0, y = 0;
  sb_status status = sb__check_axis("a", a, t->ndim, &x);
  if (!status) status = sb__check_axis("b", b, t->ndim, &y);
  if (status) return status;
  sb_tensor_copy_layout(t, out); /* no failure from here on */
  const int64_t extent = out->shape[x], stride = out->strides[x];
  out->shape[x] = out->shape[y];
  out->strides[x] = out->strides[y];
  out->shape[y] = extent;
  out->strides[y] = stride;
  normalise_strides(out);
  limit_capacity(out);
  return SB_OK;
}

static void remove_axis(sb_tensor *t, int32_t axis) {
  t->ndim--;
  for (int32_t d = axis; d < t->ndim; d++) {
    t->shape[d] = t->shape[d + 1];
    t->strides[d] = t->strides[d + 1];
  }
}

/* Moves the offset to an index along an axis. Empty views keep theirs, so that it cannot leave the storage. */
static void advance_offset(sb_tensor *t, int32_t axis, int64_t index) {
  if (sb_tensor_numel(t) > 0) t->offset += index * t->strides[axis];
}

sb_status sb_select(const sb_tensor *t, int64_t axis, int64_t index, sb_tensor *out) {
  int32_t d = 0;
  const sb_status status = sb__check_axis("axis", axis, t->ndim, &d);
  if (status) return status;
  const int64_t extent = t->shape[d];
  if (index < -extent || index >= extent) {
    return sb__fail(SB_ERR_BOUNDS, "index %lld is outside axis %d of %lld elements",
                    (long long)index, d, (long long)extent);
  }
  sb_tensor_copy_layout(t, out); /* no failure from here on */
  advance_offset(out, d, index < 0 ? index + extent : index);
  remove_axis(out, d);
  normalise_strides(out);
  limit_capacity(out);
  return SB_OK;
}

sb_status sb_narrow(const sb_tensor *t, int64_t axis, int64_t start, int64_t length,
                    sb_tensor *out) {
  int32_t d = 0;
  const sb_status status = sb__check_axis("axis", axis, t->ndim, &d);
  if (status) return status;
  const int64_t extent = t->shape[d];
  if (start < -extent || start > extent) {
    return sb__fail(SB_ERR_BOUNDS, "start %lld is outside axis %d of %lld elements",
                    (long long)start, d, (long long)extent);
  }
  const int64_t first = start < 0 ? start + extent : start;
  if (length < 0 || length > extent - first) {
    return sb__fail(SB_ERR_BOUNDS, "length %lld from %lld leaves axis %d of %lld elements",
                    (long long)length, (long long)first, d, (long long)extent);
  }
  sb_tensor_copy_layout(t, out); /* no failure from here on */
  if (length > 0) advance_offset(out, d, first);
  out->shape[d] = length;
  normalise_strides(out);
  limit_capacity(out);
  return SB_OK;
}

/* As in Python: bounds are clamped to the axis; a missing one is the axis' end in the direction of step. */
static void clamp_range(const sb_slice_spec *spec, int64_t extent, int64_t *start, int64_t *count) {
  const int64_t low = spec->step < 0 ? -1 : 0, high = spec->step < 0 ? extent - 1 : extent;
  int64_t first = spec->step < 0 ? high : low, last = spec->step < 0 ? low : high;
  if (spec->given & SB_SLICE_HAS_START) {
    first = spec->start < 0 ? spec->start + extent : spec->start;
    first = first < low ? low : first > high ? high : first;
  }
  if (spec->given & SB_SLICE_HAS_STOP) {
    last = spec->stop < 0 ? spec->stop + extent : spec->stop;
    last = last < low ? low : last > high ? high : last;
  }
  *start = first;
  *count = 0;
  if (spec->step == 1 && last > first) *count = last - first; /* the common case: no division */
  if (spec->step > 1 && last > first) *count = (last - first - 1) / spec->step + 1;
  if (spec->step < 0 && last < first) *count = (first - last - 1) / -spec->step + 1;
}

/* A view under construction: apart from out, which may be t. */
typedef struct sb__slicing {
  int32_t ndim;
  int64_t offset; /* from t's */
  int64_t shape[SB_MAX_DIMS], strides[SB_MAX_DIMS];
} sb__slicing;

static void add_axis(sb__slicing *view, int64_t extent, int64_t stride) {
  view->shape[view->ndim] = extent;
  view->strides[view->ndim++] = stride;
}

static sb_status slice_range(sb__slicing *view, const sb_tensor *t, int32_t d,
                             const sb_slice_spec *spec) {
  int64_t start = 0, count = 0, stride = 0;
  if (spec->step == 0 || spec->step == INT64_MIN) {
    return sb__fail(SB_ERR_ARGUMENT, "the step of axis %d is %lld; any but 0 was expected", d,
                    (long long)spec->step);
  }
  clamp_range(spec, t->shape[d], &start, &count);
  if (count > 1 && sb__mul_overflows(t->strides[d], spec->step, &stride)) {
    return sb__fail(SB_ERR_BOUNDS, "the step %lld of axis %d overflows", (long long)spec->step, d);
  }
  view->offset += count > 0 ? start * t->strides[d] : 0;
  add_axis(view, count, count > 1 ? stride : t->strides[d]);
  return SB_OK;
}

/* named: the number of axes of t that specs name. */
static sb_status check_specs(const sb_tensor *t, int32_t count, const sb_slice_spec *specs,
                             int32_t *named) {
  int32_t axes = 0, ellipses = 0, added = 0, dropped = 0;
  for (int32_t i = 0; i < count; i++) {
    if (specs[i].kind < SB_SLICE_INDEX || specs[i].kind > SB_SLICE_ELLIPSIS) {
      return sb__fail(SB_ERR_ARGUMENT, "slice %d is of an unknown kind", i);
    }
    ellipses += specs[i].kind == SB_SLICE_ELLIPSIS;
    added += specs[i].kind == SB_SLICE_NEW_AXIS;
    dropped += specs[i].kind == SB_SLICE_INDEX;
    axes += specs[i].kind == SB_SLICE_INDEX || specs[i].kind == SB_SLICE_RANGE;
  }
  if (ellipses > 1)
    return sb__fail(SB_ERR_SHAPE, "'...' stands %d times; once is possible", ellipses);
  if (axes > t->ndim) {
    return sb__fail(SB_ERR_SHAPE, "%d axes are sliced; the tensor has %d", axes, t->ndim);
  }
  if (t->ndim + added - dropped > SB_MAX_DIMS) {
    return sb__fail(SB_ERR_SHAPE, "the slice has more than %d axes", SB_MAX_DIMS);
  }
  *named = axes;
  return SB_OK;
}

/* The most common slice, a range of the first axis, keeps all axes. */
static sb_status slice_first_axis(const sb_tensor *t, const sb_slice_spec *spec, sb_tensor *out) {
  sb__slicing view;
  view.ndim = 0;
  view.offset = 0;
  const sb_status status = slice_range(&view, t, 0, spec);
  if (status) return status;
  sb_tensor_copy_layout(t, out); /* no failure from here on */
  out->shape[0] = view.shape[0];
  out->strides[0] = view.strides[0];
  normalise_strides(out);
  limit_capacity(out);
  if (out->capacity > 0) out->offset += view.offset;
  return SB_OK;
}

sb_status sb_slice(const sb_tensor *t, int32_t count, const sb_slice_spec *specs, sb_tensor *out) {
  sb__slicing view;
  int32_t d = 0, named = 0; /* the next axis of t; axes that specs name */
  if (count == 1 && specs[0].kind == SB_SLICE_RANGE && t->ndim > 0) {
    return slice_first_axis(t, specs, out);
  }
  sb_status status = check_specs(t, count, specs, &named);
  if (status) return status;
  view.ndim = 0;
  view.offset = 0;
  for (int32_t i = 0; i <= count; i++) {
    /* The end of the list stands for the remaining axes, as an ellipsis does. */
    const int64_t kind = i < count ? specs[i].kind : SB_SLICE_ELLIPSIS;
    if (kind == SB_SLICE_ELLIPSIS) {
      int32_t rest = i < count ? t->ndim - named : t->ndim - d;
      for (; rest > 0; rest--, d++) add_axis(&view, t->shape[d], t->strides[d]);
    } else if (kind == SB_SLICE_NEW_AXIS) {
      add_axis(&view, 1, 1);
    } else if (kind == SB_SLICE_RANGE) {
      status = slice_range(&view, t, d++, &specs[i]);
      if (status) return status;
    } else {
      const int64_t extent = t->shape[d], index = specs[i].start;
      if (index < -extent || index >= extent) {
        return sb__fail(SB_ERR_BOUNDS, "index %lld is outside axis %d of %lld elements",
                        (long long)index, d, (long long)extent);
      }
      view.offset += (index < 0 ? index + extent : index) * t->strides[d++];
    }
  }
  sb_tensor_copy_layout(t, out); /* no failure from here on */
  set_axes(out, view.ndim, view.shape, view.strides);
  /* An empty view keeps its offset, so that it cannot leave the storage. */
  if (out->capacity > 0) out->offset += view.offset;
  return SB_OK;
}

static sb_status infer_shape(const sb_tensor *t, int32_t ndim, const int64_t *shape,
                             int64_t *result) {
  const int64_t numel = sb_tensor_numel(t);
  int32_t inferred = -1;
  int64_t known = 1;
  char text[128], other[128];
  for (int32_t d = 0; d < ndim; d++) {
    result[d] = shape[d];
    if (shape[d] != -1) continue;
    if (inferred >= 0)
      return sb__fail(SB_ERR_SHAPE, "shape[%d] and shape[%d] are both -1", inferred, d);
    inferred = d;
    result[d] = 1;
  }
  const sb_status status = sb__check_shape(ndim, result, &known);
  if (status) return status;
  if (inferred >= 0) {
    if (known == 0) {
      return sb__fail(SB_ERR_SHAPE, "shape[%d] is -1 but cannot be inferred beside an extent of 0",
                      inferred);
    }
    result[inferred] = numel / known;
    known *= result[inferred];
  }
  if (known != numel) {
    return sb__fail(SB_ERR_SHAPE, "shape %s does not have the %lld elements of %s",
                    sb__shape_text(ndim, shape, text), (long long)numel,
                    sb__shape_text(t->ndim, t->shape, other));
  }
  return SB_OK;
}

/* Computes strides for view's shape that keep the order of elements. Walks both shapes from the end: runs of old axes that
 * merge can be cut into new ones. False: there are no such strides. */
static bool keep_order(const sb_tensor *t, sb_tensor *view) {
  int32_t to = view->ndim - 1;
  int64_t run = 1, cut = 1; /* elements of the old run, and of the new axes cut from it */
  int64_t base = 1;         /* stride of the run's last axis */
  bool open = false;
  for (int32_t d = t->ndim - 1; d >= 0; d--) {
    if (t->shape[d] == 1) continue;
    if (!open) base = t->strides[d];
    open = true;
    run *= t->shape[d];
    int32_t next = d - 1;
    while (next >= 0 && t->shape[next] == 1) next--;
    if (next >= 0) {
      int64_t dense = 0;
      if (!sb__mul_overflows(t->shape[d], t->strides[d], &dense) && t->strides[next] == dense)
        continue;
    }
    while (to >= 0 && (cut < run || view->shape[to] == 1)) {
      view->strides[to] = cut * base;
      cut *= view->shape[to--];
    }
    if (cut != run) return false;
    run = cut = 1;
    open = false;
  }
  for (; to >= 0; to--) view->strides[to] = 1; /* only axes of size 1 remain */
  normalise_strides(view);
  return true;
}

sb_status sb_reshape(const sb_tensor *t, int32_t ndim, const int64_t *shape, sb_tensor *out,
                     bool *viewed) {
  sb_tensor view;
  sb_tensor_copy_layout(t, &view);
  view.ndim = ndim;
  if (ndim < 0 || ndim > SB_MAX_DIMS) {
    return sb__fail(SB_ERR_SHAPE, "%d dimensions were given; 0 to %d are possible", ndim,
                    SB_MAX_DIMS);
  }
  sb_status status = infer_shape(t, ndim, shape, view.shape);
  if (status) return status;
  const bool kept = sb_tensor_numel(t) > 0 && keep_order(t, &view);
  if (!kept) {
    status = sb__dense_strides(ndim, view.shape, view.strides);
    if (status) return status;
  }
  if (!kept && sb_tensor_numel(t) > 0) {
    if (!viewed) {
      return sb__fail(SB_ERR_SHAPE,
                      "no view of these strides has that shape in the same order; reshape copies");
    }
    *viewed = false;
    view.storage = NULL;
    view.offset = 0;
    view.flags = 0;
    finish_view(&view, out);
    return SB_OK;
  }
  if (viewed) *viewed = true;
  const int64_t capacity = t->capacity; /* the same elements: the same capacity */
  finish_view(&view, out);
  if (ndim) out->capacity = capacity;
  return SB_OK;
}

/* Marks the axes of a list, each once; all axes where count is negative. */
static sb_status mark_axes(const sb_tensor *t, int32_t count, const int64_t *axes, bool *marked) {
  for (int32_t d = 0; count < 0 && d < t->ndim; d++) marked[d] = true;
  for (int32_t i = 0; i < count; i++) {
    int32_t d = 0;
    const sb_status status = sb__check_axis("axis", axes[i], t->ndim, &d);
    if (status) return status;
    if (marked[d]) return sb__fail(SB_ERR_BOUNDS, "axis %d is repeated", d);
    marked[d] = true;
  }
  return SB_OK;
}

sb_status sb_flip(const sb_tensor *t, int32_t count, const int64_t *axes, sb_tensor *out) {
  bool flipped[SB_MAX_DIMS] = {false};
  const sb_status status = mark_axes(t, count, axes, flipped);
  if (status) return status;
  sb_tensor_copy_layout(t, out); /* no failure from here on */
  const bool empty = sb_tensor_numel(out) == 0;
  for (int32_t d = 0; !empty && d < out->ndim; d++) {
    if (!flipped[d] || out->shape[d] < 2) continue;
    advance_offset(out, d, out->shape[d] - 1);
    out->strides[d] = -out->strides[d];
  }
  limit_capacity(out);
  return SB_OK;
}

sb_status sb_diagonal(const sb_tensor *t, int64_t offset, int64_t axis1, int64_t axis2,
                      sb_tensor *out) {
  int32_t x = 0, y = 0;
  int64_t stride = 0;
  sb_status status = sb__check_axis("axis1", axis1, t->ndim, &x);
  if (!status) status = sb__check_axis("axis2", axis2, t->ndim, &y);
  if (status) return status;
  if (x == y) return sb__fail(SB_ERR_BOUNDS, "axis1 and axis2 are both axis %d", x);
  const int64_t down = offset < 0 ? (offset == INT64_MIN ? INT64_MAX : -offset) : 0,
                right = offset > 0 ? offset : 0;
  const int64_t rows = down < t->shape[x] ? t->shape[x] - down : 0;
  const int64_t columns = right < t->shape[y] ? t->shape[y] - right : 0;
  const int64_t length = rows < columns ? rows : columns;
  if (length > 1 && sb__add_overflows(t->strides[x], t->strides[y], &stride)) {
    return sb__fail(SB_ERR_BOUNDS, "the diagonal's stride overflows");
  }
  sb_tensor_copy_layout(t, out); /* no failure from here on */
  if (length > 0) {
    advance_offset(out, x, down);
    advance_offset(out, y, right);
  }
  remove_axis(out, x > y ? x : y);
  remove_axis(out, x > y ? y : x);
  out->shape[out->ndim] = length;
  out->strides[out->ndim++] = stride;
  normalise_strides(out);
  limit_capacity(out);
  return SB_OK;
}

sb_status sb_squeeze(const sb_tensor *t, int32_t count, const int64_t *axes, sb_tensor *out) {
  bool dropped[SB_MAX_DIMS] = {false};
  const sb_status status = mark_axes(t, count, axes, dropped);
  if (status) return status;
  for (int32_t d = 0; count >= 0 && d < t->ndim; d++) {
    if (!dropped[d] || t->shape[d] == 1) continue;
    return sb__fail(SB_ERR_SHAPE, "axis %d has %lld elements; only axes of one can be dropped", d,
                    (long long)t->shape[d]);
  }
  const int64_t capacity = t->capacity; /* the same elements: the same capacity */
  sb_tensor_copy_layout(t, out);        /* no failure from here on */
  for (int32_t d = out->ndim - 1; d >= 0; d--) {
    if (dropped[d] && out->shape[d] == 1) remove_axis(out, d);
  }
  normalise_strides(out);
  out->capacity = out->ndim ? capacity : 1;
  return SB_OK;
}

sb_status sb_unsqueeze(const sb_tensor *t, int64_t axis, sb_tensor *out) {
  int32_t at = 0;
  if (t->ndim == SB_MAX_DIMS) {
    return sb__fail(SB_ERR_SHAPE, "the result would have more than %d axes", SB_MAX_DIMS);
  }
  const sb_status status = sb__check_axis("axis", axis, t->ndim + 1, &at);
  if (status) return status;
  sb_tensor_copy_layout(t, out); /* no failure from here on */
  for (int32_t d = out->ndim++; d > at; d--) {
    out->shape[d] = out->shape[d - 1];
    out->strides[d] = out->strides[d - 1];
  }
  out->shape[at] = 1;
  normalise_strides(out);
  return SB_OK;
}

sb_status sb_unfold(const sb_tensor *t, int64_t axis, int64_t size, int64_t step, sb_tensor *out) {
  sb_tensor view;
  int32_t d = 0;
  int64_t stride = 0;
  const sb_status status = sb__check_axis("axis", axis, t->ndim, &d);
  if (status) return status;
  const int64_t extent = t->shape[d];
  if (size < 0 || size > extent) {
    return sb__fail(SB_ERR_BOUNDS, "size is %lld; axis %d has %lld elements", (long long)size, d,
                    (long long)extent);
  }
  if (step < 1) return sb__fail(SB_ERR_BOUNDS, "step is %lld; it is 1 or more", (long long)step);
  if (t->ndim == SB_MAX_DIMS) {
    return sb__fail(SB_ERR_SHAPE, "the result would have more than %d axes", SB_MAX_DIMS);
  }
  const int64_t windows = (extent - size) / step + 1;
  if (windows > 1 && sb__mul_overflows(t->strides[d], step, &stride)) {
    return sb__fail(SB_ERR_BOUNDS, "the step %lld overflows", (long long)step);
  }
  sb_tensor_copy_layout(t, &view);
  view.shape[d] = windows;
  view.strides[d] = windows > 1 ? stride : t->strides[d];
  view.shape[view.ndim] = size;
  view.strides[view.ndim++] = t->strides[d];
  int64_t numel = 0;
  if (sb__check_shape(view.ndim, view.shape, &numel)) {
    return sb__fail(SB_ERR_SHAPE, "the windows have more elements than 64 bits can count");
  }
  normalise_strides(&view);
  finish_view(&view, out);
  return SB_OK;
}

sb_status sb_view_dtype(const sb_tensor *t, sb_dtype dtype, sb_tensor *out) {
  sb_tensor view;
  int64_t bytes = 0;
  if (!sb__dtype_is_valid((int64_t)dtype))
    return sb__fail(SB_ERR_DTYPE, "%d is no dtype", (int)dtype);
  const int64_t from = sb_dtype_itemsize(t->dtype), to = sb_dtype_itemsize(dtype);
  const int32_t last = t->ndim - 1;
  sb_tensor_copy_layout(t, &view);
  view.dtype = dtype;
  if (from != to) {
    if (last < 0)
      return sb__fail(SB_ERR_SHAPE, "a tensor without axes keeps its item size of %lld",
                      (long long)from);
    const bool empty = sb_tensor_numel(t) == 0;
    if (t->shape[last] != 1 && t->strides[last] != 1 && !empty) {
      return sb__fail(SB_ERR_SHAPE,
                      "the last axis has stride %lld; 1 was expected, to read %s as %s",
                      (long long)t->strides[last], sb_dtype_name(t->dtype), sb_dtype_name(dtype));
    }
    bytes = t->shape[last] * from;
    if (t->offset * from % sb_dtype_alignment(dtype)) {
      return sb__fail(SB_ERR_ALIGNMENT, "byte %lld is not a multiple of %lld, which %s needs",
                      (long long)(t->offset * from), (long long)sb_dtype_alignment(dtype),
                      sb_dtype_name(dtype));
    }
    bool divides = bytes % to == 0 && t->offset * from % to == 0;
    view.shape[last] = bytes / to;
    view.offset = t->offset * from / to;
    for (int32_t d = 0; d < last; d++) {
      if (t->shape[d] > 1 && t->strides[d] * from % to != 0 && !empty) divides = false;
      view.strides[d] = t->strides[d] * from / to;
    }
    view.strides[last] = 1;
    if (!divides) {
      return sb__fail(
          SB_ERR_SHAPE, "rows of %lld bytes from byte %lld do not divide into %s of %lld bytes",
          (long long)bytes, (long long)(t->offset * from), sb_dtype_name(dtype), (long long)to);
    }
  }
  normalise_strides(&view);
  return sb_as_strided(&view, view.ndim, view.shape, view.strides, view.offset, out);
}

sb_status sb_as_strided(const sb_tensor *t, int32_t ndim, const int64_t *shape,
                        const int64_t *strides, int64_t offset, sb_tensor *out) {
  sb_tensor view;
  const sb_status status =
      sb_tensor_init(t->storage, t->dtype, ndim, shape, strides, offset, &view);
  if (status) return status;
  view.dynamism = t->dynamism;
  view.flags = t->flags;
  finish_view(&view, out);
  return SB_OK;
}

sb_status sb_broadcast_to(const sb_tensor *t, int32_t ndim, const int64_t *shape, sb_tensor *out) {
  sb_tensor view;
  int64_t asked[SB_MAX_DIMS], numel = 0;
  char from[128], to[128];
  const int32_t added = ndim - t->ndim;
  if (ndim < 0 || ndim > SB_MAX_DIMS) return sb__check_shape(ndim, shape, &numel); /* fails */
  asked[0] = 0; /* initialised even without axes */
  for (int32_t d = 0; d < ndim; d++) {
    asked[d] = shape[d] == -1 && d >= added ? t->shape[d - added] : shape[d];
  }
  const sb_status status = sb__check_shape(ndim, asked, &numel);
  if (status) return status;
  bool fits = added >= 0;
  sb_tensor_copy_layout(t, &view);
  view.ndim = ndim;
  for (int32_t d = 0; fits && d < ndim; d++) {
    const int64_t extent = d < added ? 1 : t->shape[d - added];
    fits = extent == asked[d] || extent == 1;
    view.shape[d] = asked[d];
    view.strides[d] = d < added || extent != asked[d] ? 0 : t->strides[d - added];
  }
  if (!fits) {
    return sb__fail(SB_ERR_SHAPE, "shape %s does not broadcast to %s",
                    sb__shape_text(t->ndim, t->shape, from), sb__shape_text(ndim, shape, to));
  }
  normalise_strides(&view);
  finish_view(&view, out);
  return SB_OK;
}

sb_status sb__check_within(const sb_tensor *view, const sb_tensor *t) {
  int64_t low = 0, high = 0, from = 0, to = 0; /* cannot overflow: both are inside the storage */
  if (sb_tensor_numel(view) == 0) return SB_OK;
  (void)sb__extent(view, &low, &high);
  (void)sb__extent(t, &from, &to);
  const int64_t moved = view->offset - t->offset;
  if (sb_tensor_numel(t) && moved + low >= from && moved + high <= to) return SB_OK;
  return sb__fail(SB_ERR_BOUNDS,
                  "the view reaches elements %lld to %lld; the tensor has %lld to %lld",
                  (long long)(moved + low), (long long)(moved + high), (long long)from,
                  (long long)(sb_tensor_numel(t) ? to : -1));
}
