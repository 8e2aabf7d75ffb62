/* Softmax, its logarithm, and the logarithm of a sum of exponentials, over lines: the greatest element is taken off first, so that
 * nothing overflows. Exponentials are those of exp, added by the tree of sum. */
#include "math/lines.h"

static int64_t size_of(const sb__line_call *c) { return sb_dtype_itemsize(c->load); }

static void fold(const sb__line_call *c, sb__fold how, const void *lines, void *folded) {
  const sb__fold_call call = {.folded = folded,
                              .from = lines,
                              .step = c->n * size_of(c),
                              .outputs = c->count,
                              .n = c->n,
                              .is_last = true};
  sb__fold_loops_now()->rows[how](&call);
}

/* What is taken off each line. A sum whose greatest term is infinite is left as it is: it is infinite or 0. */
static void greatest(const sb__line_call *c, double *most) {
  int64_t keys[SB__LINES_MOST];
  const bool is_single = c->load == SB_FLOAT32;
  fold(c, is_single ? SB__FOLD_most_f32 : SB__FOLD_most_f64, c->lines, keys);
  for (int64_t i = 0; i < c->count; i++) {
    most[i] = sb__value_of_key(keys[i], 0, is_single);
    const bool is_infinite = most[i] - most[i] != 0 && most[i] == most[i];
    if (c->op == SB__REDUCE_log_sum_exp && is_infinite) most[i] = 0;
  }
}

static void shift(const sb__line_call *c, const double *by, void *to) {
  const float *x = c->lines;
  const double *y = c->lines;
  float *a = to;
  double *b = to;
  for (int64_t k = 0; k < c->count; k++) {
    const int64_t first = k * c->n, end = first + c->n;
    if (c->load == SB_FLOAT32)
      for (int64_t i = first; i < end; i++) a[i] = x[i] - (float)by[k];
    else
      for (int64_t i = first; i < end; i++) b[i] = y[i] - by[k];
  }
}

static void apply(int op, sb_dtype dtype, void *x, int64_t n) {
  const char *const from[] = {x};
  sb__math_loops_now()->each[op][dtype](x, from, n);
}

/* Exponentials to probabilities. */
static void divide(const sb__line_call *c, const double *sum) {
  float *a = c->lines;
  double *b = c->lines;
  for (int64_t k = 0; k < c->count; k++) {
    const int64_t first = k * c->n, end = first + c->n;
    const double factor = 1 / sum[k];
    if (c->load == SB_FLOAT32)
      for (int64_t i = first; i < end; i++)
        a[i] = sb__canonical_single((float)((double)a[i] * factor));
    else
      for (int64_t i = first; i < end; i++) b[i] = sb__canonical_double(b[i] / sum[k]);
  }
}

static void take_off(const sb__line_call *c, const double *most, const double *log) {
  float *a = c->lines;
  double *b = c->lines;
  for (int64_t k = 0; k < c->count; k++) {
    const int64_t first = k * c->n, end = first + c->n;
    if (c->load == SB_FLOAT32)
      for (int64_t i = first; i < end; i++)
        a[i] = sb__canonical_single((float)(((double)a[i] - most[k]) - log[k]));
    else
      for (int64_t i = first; i < end; i++) b[i] = sb__canonical_double((b[i] - most[k]) - log[k]);
  }
}

static void write_sums(const sb__line_call *c, const double *most, const double *log) {
  float *a = c->made;
  double *b = c->made;
  for (int64_t k = 0; k < c->count; k++) {
    const double sum = c->n ? sb__canonical_double(most[k] + log[k]) : -__builtin_inf();
    if (c->load == SB_FLOAT32)
      a[k] = sb__canonical_float(sum);
    else
      b[k] = sum;
  }
}

void sb__softmax_lines(const sb__line_call *c) {
  double most[SB__LINES_MOST], sum[SB__LINES_MOST];
  if (c->n) {
    void *terms = c->op == SB__REDUCE_log_softmax ? c->made : c->lines;
    greatest(c, most);
    shift(c, most, terms);
    apply(SB__OP_exp, c->load, terms, c->count * c->n);
    fold(c, c->load == SB_FLOAT32 ? SB__FOLD_sum_f32 : SB__FOLD_sum_f64, terms, sum);
  }
  if (c->op == SB__REDUCE_softmax) {
    divide(c, sum);
    return;
  }
  if (c->n) apply(SB__OP_log, SB_FLOAT64, sum, c->count);
  if (c->op == SB__REDUCE_log_softmax)
    take_off(c, most, sum);
  else
    write_sums(c, most, sum);
}
