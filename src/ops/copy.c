/* Copies with everything that may lie in between: broadcast, cast, scale and bias, overlap. */
#include <math.h>

#include "kernels/kernels.h"
#include "ops/loop.h"

/* What happens to an element on its way. */
typedef struct work {
  const sb_tensor *dst, *src;    /* of one shape */
  const sb_tensor *scale, *bias; /* float64 of that shape, or NULL */
  bool must_fit;                 /* values that a person wrote */
} work;

static sb_status check_target(const sb_tensor *dst) {
  bool overlaps = false;
  if (dst->flags & SB_READ_ONLY) return sb__fail(SB_ERR_READ_ONLY, "the target is read-only");
  const sb_status status = sb_overlaps_itself(dst, &overlaps);
  if (status) return status;
  if (overlaps) {
    return sb__fail(SB_ERR_OVERLAP, "two elements of the target share a byte; write to its base");
  }
  return SB_OK;
}

static sb_status check_cast(sb_dtype from, sb_dtype to, sb_casting casting) {
  static const char *const names[] = {"safe", "same_kind", "unsafe"};
  if (casting < SB_CASTING_SAFE || casting > SB_CASTING_UNSAFE) {
    return sb__fail(SB_ERR_ARGUMENT, "%d is no casting", (int)casting);
  }
  if (sb_can_cast(from, to, casting)) return SB_OK;
  return sb__fail(SB_ERR_CAST, "%s does not cast to %s under casting '%s'", sb_dtype_name(from),
                  sb_dtype_name(to), names[casting]);
}

/* Do the bytes of both reach into each other? Ranges are enough: staging is right either way. */
static bool may_overlap(const sb_tensor *a, const sb_tensor *b) {
  int64_t low = 0, high = 0;
  const sb_tensor *t[2] = {a, b};
  uintptr_t begin[2], end[2];
  for (int i = 0; i < 2; i++) {
    const int64_t itemsize = sb_dtype_itemsize(t[i]->dtype);
    const uintptr_t data = (uintptr_t)sb_tensor_data(t[i]);
    if (!sb__extent(t[i], &low, &high)) return true;
    begin[i] = data + (uintptr_t)(low * itemsize);
    end[i] = data + (uintptr_t)((high + 1) * itemsize);
  }
  return begin[0] < end[1] && begin[1] < end[0];
}

/* Each element is read before its own place is written, and never again. */
static bool is_in_place(const sb_tensor *dst, const sb_tensor *src) {
  if (sb_tensor_data(dst) != sb_tensor_data(src)) return false;
  if (sb_dtype_itemsize(dst->dtype) != sb_dtype_itemsize(src->dtype)) return false;
  for (int32_t d = 0; d < dst->ndim; d++) {
    if (dst->shape[d] != 1 && dst->strides[d] != src->strides[d]) return false;
  }
  return true;
}

static bool is_wide(sb_dtype dtype) {
  return dtype == SB_FLOAT64 || dtype == SB_INT64 || dtype == SB_UINT64;
}

/* Values that do not fit an integer or a bool. Index of the first one, or -1. */
static int64_t first_misfit(const sb__chunk *x, sb__form form, sb_dtype to, int64_t n) {
  const int bits = 8 * (int)sb_dtype_itemsize(to);
  const bool boolean = to == SB_BOOL, sign = sb_dtype_kind(to) == SB_SIGNED;
  const uint64_t high = boolean ? 1 : UINT64_MAX >> (64 - bits + sign);
  const int64_t low = sign ? -(int64_t)(high)-1 : 0;
  for (int64_t i = 0; i < n; i++) {
    bool fits = false;
    if (form == SB__FORM_INT) fits = x->i[i] >= low && (x->i[i] < 0 || (uint64_t)x->i[i] <= high);
    if (form == SB__FORM_UINT) fits = x->u[i] <= high;
    if (form == SB__FORM_REAL) {
      const double value = x->real[i];
      fits = value == trunc(value) && value >= (double)low && value < (double)high + 1 &&
             sb_dtype_kind(to) != SB_FLOATING;
    }
    if (!fits) return i;
  }
  return -1;
}

static sb_complex128 complex_at(const sb__chunk *x, sb__form form, int64_t i) {
  if (form == SB__FORM_COMPLEX) return x->c[i];
  if (form == SB__FORM_REAL) return (sb_complex128){x->real[i], 0};
  if (form == SB__FORM_UINT) return (sb_complex128){(double)x->u[i], 0};
  return (sb_complex128){(double)x->i[i], 0};
}

/* Is a part finite before the cast and not after it? float8_e4m3fn has no infinity to keep, either. */
static bool overflows(double before, double after, sb_dtype to) {
  if (isfinite(before)) return !isfinite(after);
  return isinf(before) && to == SB_FLOAT8_E4M3FN;
}

/* The first value of which a part overflows, or which has a second part where there is no room. */
static int64_t first_overflow(const sb__chunk *x, sb__form form, sb_dtype to, int64_t n) {
  union {
    char bytes[16];
    sb_complex128 aligned;
  } item;
  for (int64_t i = 0; i < n; i++) {
    sb__chunk one, back;
    const sb_complex128 before = complex_at(x, form, i);
    if (form == SB__FORM_COMPLEX && sb_dtype_kind(to) != SB_COMPLEX) return i;
    one.c[0] = before;
    sb__casts[to].store[SB__FORM_COMPLEX](item.bytes, 16, &one, 1);
    sb__casts[to].load(&back, item.bytes, 16, 1);
    const sb_complex128 after = complex_at(&back, sb__casts[to].form, 0);
    if (overflows(before.re, after.re, to) || overflows(before.im, after.im, to)) return i;
  }
  return -1;
}

static sb_status check_fit(const sb__chunk *x, sb__form form, sb_dtype to, int64_t n) {
  const sb_kind kind = sb_dtype_kind(to);
  const bool floats = kind == SB_FLOATING || kind == SB_COMPLEX;
  const int64_t i = floats ? first_overflow(x, form, to, n) : first_misfit(x, form, to, n);
  if (i < 0) return SB_OK;
  if (form == SB__FORM_UINT) {
    return sb__fail(SB_ERR_CAST, "the value %llu does not fit %s", (unsigned long long)x->u[i],
                    sb_dtype_name(to));
  }
  if (form == SB__FORM_INT) {
    return sb__fail(SB_ERR_CAST, "the value %lld does not fit %s", (long long)x->i[i],
                    sb_dtype_name(to));
  }
  if (form == SB__FORM_COMPLEX) {
    return sb__fail(SB_ERR_CAST, "the value [%g, %g] does not fit %s", x->c[i].re, x->c[i].im,
                    sb_dtype_name(to));
  }
  return sb__fail(SB_ERR_CAST, "the value %.17g does not fit %s", x->real[i], sb_dtype_name(to));
}

static void copy_rows(sb__loop *loop, int64_t itemsize) {
  do sb__copy_items(loop->at[0], loop->step[0], loop->at[1], loop->step[1], loop->n, itemsize);
  while (sb__loop_next(loop));
}

/* One row, in chunks: load, check, scale, store. */
static sb_status cast_row(const work *w, const sb__loop *loop, sb__chunk *chunk) {
  const sb__cast_kernels *from = &sb__casts[w->src->dtype], *to = &sb__casts[w->dst->dtype];
  const bool single = !is_wide(w->src->dtype) && !is_wide(w->dst->dtype);
  for (int64_t i = 0; i < loop->n; i += SB__CHUNK) {
    const int64_t n = loop->n - i < SB__CHUNK ? loop->n - i : SB__CHUNK;
    sb__form form = from->form;
    from->load(chunk, loop->at[1] + i * loop->step[1], loop->step[1], n);
    if (w->must_fit) {
      const sb_status status = check_fit(chunk, form, w->dst->dtype, n);
      if (status) return status;
    }
    if (w->scale) {
      sb__scale_chunk(chunk, form, n, single, loop->at[2] + i * loop->step[2], loop->step[2],
                      loop->at[3] + i * loop->step[3], loop->step[3]);
      form = SB__FORM_REAL;
    }
    to->store[form](loop->at[0] + i * loop->step[0], loop->step[0], chunk, n);
  }
  return SB_OK;
}

static sb_status run(const work *w) {
  sb__loop loop;
  sb__chunk chunk;
  sb_status status = SB_OK;
  const sb_tensor *tensors[] = {w->dst, w->src, w->scale, w->bias};
  if (sb_tensor_numel(w->dst) == 0) return SB_OK;
  sb__loop_begin(&loop, w->scale ? 4 : 2, tensors);
  if (w->dst->dtype == w->src->dtype && !w->scale && !w->must_fit) {
    copy_rows(&loop, sb_dtype_itemsize(w->dst->dtype));
    return SB_OK;
  }
  const uint32_t mode = sb__float_mode_default();
  do status = cast_row(w, &loop, &chunk);
  while (!status && sb__loop_next(&loop));
  sb__float_mode_restore(mode);
  return status;
}

/* src in dst's shape; where both may overlap, a copy of it that the caller releases (held is set). */
static sb_status prepare(const sb_tensor *dst, const sb_tensor *src, sb_tensor *out, bool *held,
                         int64_t *staged) {
  sb_tensor view;
  sb_status status = sb_broadcast_to(src, dst->ndim, dst->shape, out);
  if (status || sb_tensor_numel(dst) == 0) return status;
  if (!may_overlap(dst, out) || is_in_place(dst, out)) return SB_OK;
  sb_tensor_copy_layout(src, &view);
  status = sb_tensor_empty(src->dtype, src->ndim, src->shape, &view);
  if (status) return status;
  *held = true;
  status = run(&(work){.dst = &view, .src = src});
  if (!status) status = sb_broadcast_to(&view, dst->ndim, dst->shape, out);
  if (status) {
    sb_tensor_release(&view);
    *held = false;
    return status;
  }
  if (staged) *staged += sb_tensor_nbytes(&view);
  return SB_OK;
}

static sb_status copy(work *w, int64_t *staged) {
  sb_tensor source;
  bool held = false;
  sb_status status = check_target(w->dst);
  if (!status) status = prepare(w->dst, w->src, &source, &held, staged);
  if (status) return status;
  w->src = &source;
  status = run(w);
  if (held) sb_tensor_release(&source);
  return status;
}

sb_status sb_copy(const sb_tensor *dst, const sb_tensor *src, sb_casting casting, int64_t *staged) {
  const sb_status status = check_cast(src->dtype, dst->dtype, casting);
  if (status) return status;
  return copy(&(work){.dst = dst, .src = src}, staged);
}

/* One factor, or one per index of an axis, shown in dst's shape. */
static sb_status spread(const char *name, const sb_tensor *factor, const sb_tensor *dst,
                        int64_t axis, sb_tensor *out) {
  sb_tensor view;
  int32_t d = 0;
  if (factor->dtype != SB_FLOAT64) {
    return sb__fail(SB_ERR_DTYPE, "%s is %s; it must be float64", name,
                    sb_dtype_name(factor->dtype));
  }
  if (factor->ndim == 0) return sb_broadcast_to(factor, dst->ndim, dst->shape, out);
  sb_status status = sb__check_axis("axis", axis, dst->ndim, &d);
  if (status) return status;
  if (factor->ndim != 1 || factor->shape[0] != dst->shape[d]) {
    char text[128];
    return sb__fail(SB_ERR_SHAPE, "%s has shape %s; axis %d has %lld elements", name,
                    sb__shape_text(factor->ndim, factor->shape, text), d, (long long)dst->shape[d]);
  }
  sb_tensor_copy_layout(factor, &view);
  view.ndim = dst->ndim - d;
  for (int32_t i = 0; i < view.ndim; i++) {
    view.shape[i] = i ? 1 : dst->shape[d];
    view.strides[i] = i ? 1 : factor->strides[0];
  }
  return sb_broadcast_to(&view, dst->ndim, dst->shape, out);
}

sb_status sb_copy_scaled(const sb_tensor *dst, const sb_tensor *src, const sb_tensor *scale,
                         const sb_tensor *bias, int64_t axis, sb_casting casting, int64_t *staged) {
  sb_tensor factors, terms;
  const sb_dtype computed = is_wide(dst->dtype) || is_wide(src->dtype) ? SB_FLOAT64 : SB_FLOAT32;
  if (sb_dtype_kind(src->dtype) == SB_COMPLEX || sb_dtype_kind(dst->dtype) == SB_COMPLEX) {
    return sb__fail(SB_ERR_DTYPE, "scale and bias are for real numbers; %s to %s was asked",
                    sb_dtype_name(src->dtype), sb_dtype_name(dst->dtype));
  }
  sb_status status = check_cast(computed, dst->dtype, casting);
  if (!status) status = spread("scale", scale, dst, axis, &factors);
  if (!status) status = spread("bias", bias, dst, axis, &terms);
  if (status) return status;
  return copy(&(work){.dst = dst, .src = src, .scale = &factors, .bias = &terms}, staged);
}

sb_status sb_copy_values(const sb_tensor *dst, const sb_tensor *src) {
  return copy(&(work){.dst = dst, .src = src, .must_fit = true}, NULL);
}

sb_status sb_fill(const sb_tensor *t, const sb_scalar *value) {
  static const sb_dtype dtypes[] = {SB_BOOL, SB_INT64, SB_UINT64, SB_FLOAT64, SB_COMPLEX128};
  union {
    char bytes[16];
    sb_complex128 aligned;
  } item;
  sb__chunk chunk;
  sb__loop loop;
  sb_tensor once;
  if (t->flags & SB_READ_ONLY) return sb__fail(SB_ERR_READ_ONLY, "the target is read-only");
  if ((unsigned)value->kind > SB_SCALAR_COMPLEX) {
    return sb__fail(SB_ERR_ARGUMENT, "%d is no kind of scalar", (int)value->kind);
  }
  const uint32_t mode = sb__float_mode_default();
  const sb__form form = sb__casts[dtypes[value->kind]].form;
  chunk.c[0] = value->as.c; /* the widest member; every form starts at its first byte */
  const sb_status status = check_fit(&chunk, form, t->dtype, 1);
  if (!status) sb__casts[t->dtype].store[form](item.bytes, 16, &chunk, 1);
  sb__float_mode_restore(mode);
  if (status || sb_tensor_numel(t) == 0) return status;
  sb_tensor_copy_layout(t, &once); /* what zero strides repeat is written once */
  for (int32_t d = 0; d < once.ndim; d++) {
    if (once.strides[d] == 0) once.shape[d] = 1;
  }
  const sb_tensor *target = &once;
  sb__loop_begin(&loop, 1, &target);
  do sb__fill_items(loop.at[0], loop.step[0], &item, loop.n, sb_dtype_itemsize(t->dtype));
  while (sb__loop_next(&loop));
  return SB_OK;
}
