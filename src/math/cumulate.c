/* Cumulative sums and products along one axis, from left to right: tiles of float64, complex128 or 64-bit integers, gathered and put
 * in place by the core's copies. Many outputs side by side go on together. */
#include <string.h>

#include "math/reduce.h"

#define TILE 4096 /* elements */
#define WIDEST 64 /* lines at a time */

typedef struct walk {
  const sb__reduction *how;
  bool is_product;
  sb__plan kept; /* lines: operand 0 is the target, 1 the source */
  int64_t n, to_step, from_step;
  sb_dtype to_dtype, from_dtype;
} walk;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Fewer go one after the other, with the sum in a register: each addition waits for the one before. */
#define SIDE_BY_SIDE 4 /* lines */

/* The line of which x is the first element. Inlined with a constant is_product. */
SB_INLINE double add_line(double *x, double carry, int64_t n, int64_t step, bool is_product) {
  for (int64_t r = 0; r < n; r++, x += step) {
    carry = is_product ? carry * *x : carry + *x;
    *x = sb__canonical_double(carry);
  }
  return carry;
}

SB_INLINE uint64_t add_line_of_integers(uint64_t *x, uint64_t carry, int64_t n, int64_t step,
                                        bool is_product) {
  int64_t r = 0;
  for (; r + 2 <= n; r += 2, x += 2 * step) { /* two together do not wait for the carry */
    const uint64_t both = is_product ? x[0] * x[step] : x[0] + x[step];
    x[0] = is_product ? carry * x[0] : carry + x[0];
    x[step] = carry = is_product ? carry * both : carry + both;
  }
  if (r < n) *x = carry = is_product ? carry * *x : carry + *x;
  return carry;
}

/* Adds rows of `lines` elements, each to the one before it. */
static void add_reals(double *x, double *carry, int64_t n, int64_t lines, bool is_product) {
  if (lines < SIDE_BY_SIDE) {
    for (int64_t i = 0; i < lines; i++)
      carry[i] = is_product ? add_line(x + i, carry[i], n, lines, true)
                            : add_line(x + i, carry[i], n, lines, false);
    return;
  }
  for (int64_t r = 0; r < n; r++, x += lines) {
    for (int64_t i = 0; i < lines; i++) {
      carry[i] = is_product ? carry[i] * x[i] : carry[i] + x[i];
      x[i] = sb__canonical_double(carry[i]);
    }
  }
}

static void add_integers(uint64_t *x, uint64_t *carry, int64_t n, int64_t lines, bool is_product) {
  if (lines < SIDE_BY_SIDE) {
    for (int64_t i = 0; i < lines; i++)
      carry[i] = is_product ? add_line_of_integers(x + i, carry[i], n, lines, true)
                            : add_line_of_integers(x + i, carry[i], n, lines, false);
    return;
  }
  for (int64_t r = 0; r < n; r++, x += lines)
    for (int64_t i = 0; i < lines; i++)
      x[i] = carry[i] = is_product ? carry[i] * x[i] : carry[i] + x[i];
}

/* begins: the first row is there as it is. 1 times an infinity would be NaN in a part. */
static void add_complex(sb_complex128 *x, sb_complex128 *carry, int64_t n, int64_t lines,
                        bool is_product, bool begins) {
  if (begins) memcpy(carry, x, (size_t)lines * sizeof *x);
  for (int64_t i = 0; begins && i < lines; i++)
    x[i] = (sb_complex128){sb__canonical(x[i].re), sb__canonical(x[i].im)};
  for (int64_t r = begins; r < n; r++) {
    for (int64_t i = 0; i < lines; i++) {
      const sb_complex128 a = carry[i], b = x[r * lines + i];
      carry[i] = is_product ? (sb_complex128){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}
                            : (sb_complex128){a.re + b.re, a.im + b.im};
      x[r * lines + i] = (sb_complex128){sb__canonical(carry[i].re), sb__canonical(carry[i].im)};
    }
  }
}

/* Copies between a tile and its place: n elements of each of some lines along the last dimension of the outputs. */
static void move_tile(const walk *w, char *tile, char *place, int64_t n, int64_t lines,
                      bool writes) {
  const int32_t k = writes ? 0 : 1;
  const sb_dtype dtype = writes ? w->to_dtype : w->from_dtype;
  const int64_t size = sb_dtype_itemsize(dtype);
  const sb__plan_dim *last = w->kept.ndim ? &w->kept.outer[w->kept.ndim - 1] : NULL;
  sb__plan plan;
  sb_tensor here = {.dtype = w->how->load, .ndim = 2}, there = {.dtype = dtype, .ndim = 2};
  here.shape[0] = there.shape[0] = n;
  here.shape[1] = there.shape[1] = lines;
  here.strides[0] = lines;
  here.strides[1] = 1;
  there.strides[0] = (writes ? w->to_step : w->from_step) / size;
  there.strides[1] = last ? last->step[k] / size : 0;
  const sb_tensor *tensors[] = {writes ? &there : &here, writes ? &here : &there};
  const sb__job job = {.plan = &plan,
                       .base = {writes ? place : tile, writes ? tile : place},
                       .to = tensors[0]->dtype,
                       .from = tensors[1]->dtype};
  sb__plan_make(2, tensors, false, &plan);
  sb__run_job(&job);
}

static void start_carry(const walk *w, void *carry, int64_t lines) {
  double *real = carry;
  uint64_t *whole = carry;
  for (int64_t i = 0; i < lines; i++) {
    if (w->how->load == SB_FLOAT64)
      real[i] = w->is_product ? 1 : -0.0;
    else
      whole[i] = w->is_product;
  }
}

static void run_lines(const walk *w, char *to, char *from, int64_t lines) {
  char tile[TILE * 8] __attribute__((aligned(64)));
  char carry[WIDEST * 16] __attribute__((aligned(64)));
  const int64_t rows = (int64_t)sizeof tile / sb_dtype_itemsize(w->how->load) / lines;
  if (w->how->load != SB_COMPLEX128) start_carry(w, carry, lines);
  for (int64_t done = 0; done < w->n; done += rows) {
    const int64_t n = least(rows, w->n - done);
    move_tile(w, tile, from + done * w->from_step, n, lines, false);
    if (w->how->load == SB_COMPLEX128)
      add_complex((void *)tile, (void *)carry, n, lines, w->is_product, done == 0);
    else if (w->how->load == SB_FLOAT64)
      add_reals((void *)tile, (void *)carry, n, lines, w->is_product);
    else
      add_integers((void *)tile, (void *)carry, n, lines, w->is_product);
    move_tile(w, tile, to + done * w->to_step, n, lines, true);
  }
}

/* Some lines along the last dimension at a time, for all indices of the others. */
static void run_all(const walk *w, char *to, char *from) {
  int64_t index[SB_MAX_DIMS] = {0};
  const int32_t last = w->kept.ndim - 1;
  to += w->kept.first[0];
  from += w->kept.first[1];
  for (;;) {
    const int64_t count = last < 0 ? 1 : w->kept.outer[last].n;
    for (int64_t i = 0; i < count; i += WIDEST)
      run_lines(w, last < 0 ? to : to + i * w->kept.outer[last].step[0],
                last < 0 ? from : from + i * w->kept.outer[last].step[1], least(WIDEST, count - i));
    int32_t d = last - 1;
    for (; d >= 0; d--) {
      const sb__plan_dim *dim = &w->kept.outer[d];
      const bool more = ++index[d] < dim->n;
      to += more ? dim->step[0] : -(dim->n - 1) * dim->step[0];
      from += more ? dim->step[1] : -(dim->n - 1) * dim->step[1];
      if (more) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

/* All dimensions but the axis. */
static void keep_others(walk *w, const sb_tensor *to, const sb_tensor *from, int64_t axis) {
  sb_tensor lines, source;
  lines.dtype = to->dtype;
  source.dtype = from->dtype;
  lines.ndim = source.ndim = 0;
  for (int32_t d = 0; d < to->ndim; d++) {
    if (d == axis) continue;
    lines.shape[lines.ndim] = source.shape[lines.ndim] = to->shape[d];
    lines.strides[lines.ndim++] = to->strides[d];
    source.strides[source.ndim++] = from->strides[d];
  }
  const sb_tensor *tensors[] = {&lines, &source};
  sb__plan_merge(2, tensors, false, &w->kept);
  w->n = to->shape[axis];
  w->to_step = to->strides[axis] * sb_dtype_itemsize(to->dtype);
  w->from_step = from->strides[axis] * sb_dtype_itemsize(from->dtype);
}

static sb_status check_shape(const sb_tensor *to, const sb_tensor *from, int64_t axis) {
  char a[128], b[128];
  bool is_same = to->ndim == from->ndim;
  for (int32_t d = 0; is_same && d < to->ndim; d++) is_same = to->shape[d] == from->shape[d];
  if (!is_same)
    return sb__fail(SB_ERR_SHAPE, "the target has shape %s, the source %s",
                    sb__shape_text(to->ndim, to->shape, a),
                    sb__shape_text(from->ndim, from->shape, b));
  if (axis >= 0 && axis < from->ndim) return SB_OK;
  return sb__fail(SB_ERR_BOUNDS, "axis %lld is outside %d axes", (long long)axis, from->ndim);
}

sb_status sb__math_cumulate(int64_t op, const sb_tensor *to, const sb_tensor *from, int64_t axis,
                            int64_t asked, sb_casting casting, int64_t *staged) {
  sb__reduction how;
  sb_tensor copy;
  bool is_copied = false;
  sb_status status = sb__reduction_of(op, from->dtype, asked, &how);
  if (!status && op != SB__REDUCE_sum && op != SB__REDUCE_prod)
    status = sb__fail(SB_ERR_ARGUMENT, "%s is not cumulative", how.name);
  if (!status) status = check_shape(to, from, axis);
  if (!status) status = sb__check_cast(how.result, to->dtype, casting);
  if (!status) status = sb__check_target(to);
  if (!status) status = sb__check_bytes("the source", from);
  if (status || !sb_tensor_numel(to)) return status;
  const sb_kind kind = sb_dtype_kind(how.result), source_kind = sb_dtype_kind(from->dtype);
  how.load = kind == SB_UNSIGNED ? SB_UINT64 : kind == SB_SIGNED ? SB_INT64 : SB_FLOAT64;
  if (source_kind == SB_COMPLEX) how.load = SB_COMPLEX128;
  if (sb__may_overlap(to, from) && !(sb__is_in_place(to, from) && to->dtype == from->dtype)) {
    status = sb__math_copy_of(from, &copy, staged);
    is_copied = !status;
  }
  if (!status) {
    walk w = {.how = &how,
              .is_product = op == SB__REDUCE_prod,
              .to_dtype = to->dtype,
              .from_dtype = from->dtype};
    const uint32_t mode = sb__float_mode_default();
    keep_others(&w, to, is_copied ? &copy : from, axis);
    run_all(&w, sb_tensor_data(to), sb_tensor_data(is_copied ? &copy : from));
    sb__float_mode_restore(mode);
  }
  if (is_copied) sb_tensor_release(&copy);
  return status;
}
