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

static void greatest(const sb__line_call *c, double *most) {
  int64_t keys[SB__LINES_MOST];
  const bool is_single = c->load == SB_FLOAT32;
  fold(c, is_single ? SB__FOLD_most_f32 : SB__FOLD_most_f64, c->from, keys);
  for (int64_t i = 0; i < c->count; i++) most[i] = sb__value_of_key(keys[i], 0, is_single);
}

static void apply(int op, void *x, int64_t n) {
  const char *const from[] = {x};
  sb__math_loops_now()->each[op][SB_FLOAT64](x, from, n);
}

/* exp(x - most), and its sums. */
static void exponentials(const sb__line_call *c, const double *most, void *to, double *sum) {
  const double *x = c->from;
  double *y = to;
  if (c->load == SB_FLOAT32) {
    for (int64_t k = 0; k < c->count; k++)
      sb__fold_loops_now()->exp_line((float *)to + k * c->n, (const float *)c->from + k * c->n,
                                     c->n, (float)most[k]);
    fold(c, SB__FOLD_sum_f32, to, sum);
    return;
  }
  for (int64_t k = 0; k < c->count; k++)
    for (int64_t i = k * c->n; i < (k + 1) * c->n; i++) y[i] = x[i] - most[k];
  apply(SB__OP_exp, to, c->count * c->n);
  fold(c, SB__FOLD_sum_f64, to, sum);
}

static void finish_singles(const sb__line_call *c, const double *most, const double *sum) {
  for (int64_t k = 0; k < c->count; k++) {
    const float *x = (const float *)c->from + k * c->n;
    float *a = (float *)c->lines + k * c->n;
    if (c->op == SB__REDUCE_softmax)
      sb__fold_loops_now()->scale_line(a, c->n, 1 / sum[k]);
    else
      for (int64_t i = 0; i < c->n; i++)
        a[i] = sb__canonical_single((float)(((double)x[i] - most[k]) - sum[k]));
  }
}

static void finish_doubles(const sb__line_call *c, const double *most, const double *sum) {
  const double *x = c->from;
  double *a = c->lines;
  for (int64_t k = 0; k < c->count; k++)
    for (int64_t i = k * c->n; i < (k + 1) * c->n; i++)
      a[i] = sb__canonical_double(c->op == SB__REDUCE_softmax ? a[i] / sum[k]
                                                              : (x[i] - most[k]) - sum[k]);
}

/* A sum whose greatest term is infinite is that term. */
static void write_sums(const sb__line_call *c, const double *most, const double *log) {
  float *a = c->made;
  double *b = c->made;
  for (int64_t k = 0; k < c->count; k++) {
    const double greatest = c->n ? most[k] : -__builtin_inf();
    const double sum = __builtin_isinf(greatest) ? greatest : greatest + log[k];
    if (c->load == SB_FLOAT32)
      a[k] = sb__canonical_float(sum);
    else
      b[k] = sb__canonical_double(sum);
  }
}

void sb__softmax_lines(const sb__line_call *c) {
  double most[SB__LINES_MOST], sum[SB__LINES_MOST];
  const bool is_log = c->op == SB__REDUCE_log_softmax;
  if (c->n) {
    greatest(c, most);
    exponentials(c, most, is_log ? c->made : c->lines, sum);
    if (c->op != SB__REDUCE_softmax) apply(SB__OP_log, sum, c->count);
  }
  if (c->op == SB__REDUCE_log_sum_exp)
    write_sums(c, most, sum);
  else if (c->load == SB_FLOAT32)
    finish_singles(c, most, sum);
  else
    finish_doubles(c, most, sum);
}
