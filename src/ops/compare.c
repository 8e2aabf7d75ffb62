/* Equality and closeness. 64-bit integers compare exactly with floats: each number is a sum of two doubles, of which the
 * second holds an integer's lowest 11 bits, and is 0 for a float. */
#include <math.h>
#include <string.h>

#include "kernels/kernels.h"
#include "ops/loop.h"

typedef struct numbers {
  double re[SB__CHUNK], low[SB__CHUNK], im[SB__CHUNK]; /* re + low + i im */
} numbers;

typedef struct tolerance {
  double rtol, atol;
  bool equal_nan;
} tolerance;

/* Both parts have the sign, so that a difference from a float of about the same size is exact. */
static void split_integer(uint64_t magnitude, bool negative, double *high, double *low) {
  const uint64_t rest = magnitude & 0x7ff;
  *high = negative ? -(double)(magnitude - rest) : (double)(magnitude - rest);
  *low = negative ? -(double)rest : (double)rest;
}

static void load_numbers(sb_dtype dtype, const char *at, int64_t step, int64_t n, numbers *out) {
  sb__chunk x;
  const sb__form form = sb__load(dtype, &x, at, step, n);
  for (int64_t i = 0; i < n; i++) {
    out->low[i] = out->im[i] = 0;
    switch (form) {
      case SB__FORM_INT: {
        const bool negative = x.i[i] < 0;
        split_integer(negative ? -(uint64_t)x.i[i] : (uint64_t)x.i[i], negative, &out->re[i],
                      &out->low[i]);
        break;
      }
      case SB__FORM_UINT: split_integer(x.u[i], false, &out->re[i], &out->low[i]); break;
      case SB__FORM_REAL: out->re[i] = x.real[i]; break;
      case SB__FORM_COMPLEX:
        out->re[i] = x.c[i].re;
        out->im[i] = x.c[i].im;
        break;
    }
  }
}

/* Not hypot: its last bit differs between C libraries. */
static double modulus(double re, double im) {
  const double a = fabs(re), b = fabs(im);
  const double large = a < b ? b : a, small = a < b ? a : b;
  if (small == 0 || isinf(large)) return large;
  return large * sqrt(1 + small / large * (small / large));
}

static bool are_close(const numbers *a, const numbers *b, int64_t i, const tolerance *within) {
  if (a->re[i] == b->re[i] && a->low[i] == b->low[i] && a->im[i] == b->im[i]) return true;
  const double re = a->re[i] - b->re[i] + (a->low[i] - b->low[i]), im = a->im[i] - b->im[i];
  if (isfinite(b->re[i]) && isfinite(b->im[i])) {
    const double size = modulus(b->re[i] + b->low[i], b->im[i]);
    if (modulus(re, im) <= within->atol + within->rtol * size) return true;
  }
  return within->equal_nan && (isnan(a->re[i]) || isnan(a->im[i])) &&
         (isnan(b->re[i]) || isnan(b->im[i]));
}

static bool has_nan_f32(const char *at, int64_t n) {
  uint32_t found = 0;
  for (int64_t i = 0; i < n; i++) {
    uint32_t bits;
    memcpy(&bits, at + 4 * i, 4);
    found |= (bits & 0x7fffffff) > 0x7f800000;
  }
  return found;
}

static bool has_nan_f64(const char *at, int64_t n) {
  uint64_t found = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t bits;
    memcpy(&bits, at + 8 * i, 8);
    found |= (bits & INT64_MAX) > UINT64_C(0x7ff) << 52;
  }
  return found;
}

static bool may_have_nan(sb_dtype dtype, const char *at, int64_t n) {
  switch (dtype) {
    case SB_FLOAT32: return has_nan_f32(at, n);
    case SB_FLOAT64: return has_nan_f64(at, n);
    case SB_COMPLEX64: return has_nan_f32(at, 2 * n);
    case SB_COMPLEX128: return has_nan_f64(at, 2 * n);
    default: return sb_dtype_kind(dtype) == SB_FLOATING;
  }
}

/* Contiguous elements with equal bytes are equal, unless there are NaNs. */
static bool are_same(sb_dtype dtype, const char *x, const char *y, int64_t n, bool equal_nan) {
  return !memcmp(x, y, (size_t)(n * sb_dtype_itemsize(dtype))) &&
         (equal_nan || !may_have_nan(dtype, x, n));
}

static bool row_is_close(const sb__loop *loop, sb_dtype a, sb_dtype b, const tolerance *within) {
  numbers x, y;
  const int64_t itemsize = sb_dtype_itemsize(a);
  const bool dense = a == b && loop->step[0] == itemsize && loop->step[1] == itemsize;
  for (int64_t first = 0; first < loop->n; first += SB__CHUNK) {
    const int64_t n = loop->n - first < SB__CHUNK ? loop->n - first : SB__CHUNK;
    const char *at[2] = {loop->at[0] + first * loop->step[0], loop->at[1] + first * loop->step[1]};
    if (dense && are_same(a, at[0], at[1], n, within->equal_nan)) continue;
    load_numbers(a, at[0], loop->step[0], n, &x);
    load_numbers(b, at[1], loop->step[1], n, &y);
    for (int64_t i = 0; i < n; i++) {
      if (!are_close(&x, &y, i, within)) return false;
    }
  }
  return true;
}

/* a and b have one shape. Axes of stride 0 in both are compared once. */
static bool all_close(sb_tensor *a, sb_tensor *b, const tolerance *within) {
  const sb_tensor *const tensors[] = {a, b};
  bool close = true;
  sb__loop loop;
  if (sb_tensor_numel(a) == 0) return true;
  for (int32_t d = 0; d < a->ndim; d++) {
    if (a->strides[d] == 0 && b->strides[d] == 0) a->shape[d] = b->shape[d] = 1;
  }
  const uint32_t mode = sb__float_mode_default();
  sb__loop_begin(&loop, 2, tensors);
  do {
    close = row_is_close(&loop, a->dtype, b->dtype, within);
  } while (close && sb__loop_next(&loop));
  sb__float_mode_restore(mode);
  return close;
}

static sb_status check_bytes_of_both(const sb_tensor *a, const sb_tensor *b) {
  sb_status status = sb__check_bytes("a", a);
  return status ? status : sb__check_bytes("b", b);
}

sb_status sb_array_equal(const sb_tensor *a, const sb_tensor *b, bool equal_nan, bool *out) {
  sb_tensor x, y;
  sb_status status = check_bytes_of_both(a, b);
  if (status) return status;
  bool same = a->ndim == b->ndim;
  for (int32_t d = 0; same && d < a->ndim; d++) same = a->shape[d] == b->shape[d];
  if (same) {
    sb_tensor_copy_layout(a, &x);
    sb_tensor_copy_layout(b, &y);
    same = all_close(&x, &y, &(tolerance){0, 0, equal_nan});
  }
  *out = same;
  return SB_OK;
}

/* The shape to which both broadcast. Where they do not, some extent is one that sb_broadcast_to refuses. */
static int32_t common_shape(const sb_tensor *a, const sb_tensor *b, int64_t *shape) {
  const int32_t ndim = a->ndim > b->ndim ? a->ndim : b->ndim;
  for (int32_t d = 0; d < ndim; d++) {
    const int32_t i = d - (ndim - a->ndim), j = d - (ndim - b->ndim);
    shape[d] = i < 0 || (j >= 0 && a->shape[i] == 1) ? b->shape[j] : a->shape[i];
  }
  return ndim;
}

sb_status sb_all_close(const sb_tensor *a, const sb_tensor *b, double rtol, double atol,
                       bool equal_nan, bool *out) {
  sb_tensor x, y;
  int64_t shape[SB_MAX_DIMS];
  const int32_t ndim = common_shape(a, b, shape);
  if (sb_broadcast_to(a, ndim, shape, &x) || sb_broadcast_to(b, ndim, shape, &y)) {
    char one[128], other[128];
    return sb__fail(SB_ERR_SHAPE, "shapes %s and %s do not broadcast to each other",
                    sb__shape_text(a->ndim, a->shape, one),
                    sb__shape_text(b->ndim, b->shape, other));
  }
  sb_status status = check_bytes_of_both(a, b);
  if (!status) *out = all_close(&x, &y, &(tolerance){rtol, atol, equal_nan});
  return status;
}
