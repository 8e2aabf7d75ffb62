/* Lengths and tables of Fourier transforms. */
#include <string.h>

#include "math/fft.h"
#include "math/functions64.h"
#include "math/math.h"

#define TWO_PI 0x1.921fb54442d18p+2
#define FINE 10 /* bits of k that a fine table has, at least */

/* Memory for numbers. */
static double *numbers(int64_t count) {
  return sb__alloc_bytes((count ? count : 1) * (int64_t)sizeof(double));
}

static sb_status no_memory(int64_t n) {
  return sb__fail(SB_ERR_MEMORY, "tables of a transform of %lld elements", (long long)n);
}

/* ---- Roots of unity ---- */

/* Angles are those of the first eighth of a turn, where sine and cosine need no reduction; the others are reflections. */
void sb__root(int64_t k, int64_t n, double root[2]) {
  const bool is_below = 2 * k > n; /* the lower half: the angle is negative */
  int64_t eighth = is_below ? n - k : k;
  const bool is_left = 4 * eighth > n;
  if (is_left)
    eighth = n - 2 * eighth; /* of a turn twice as fine */
  else
    eighth *= 2;
  const bool is_steep = 4 * eighth > n;
  if (is_steep)
    eighth = n - 2 * eighth; /* 4 times */
  else
    eighth *= 2;
  const double angle = TWO_PI * (double)eighth / (4 * (double)n);
  const double c = sb__cos_near_0(angle, 0), s = sb__sin_near_0(angle, 0);
  root[0] = is_steep ? s : c;
  root[1] = is_steep ? c : s;
  if (is_left) root[0] = -root[0];
  if (!is_below) root[1] = -root[1];
}

sb_status sb__roots_make(int64_t n, int64_t count, sb__roots *out) {
  int shift = FINE;
  while (shift < 20 && INT64_C(1) << 2 * shift < n) shift++;
  const int64_t size = count < INT64_C(1) << shift ? count : INT64_C(1) << shift;
  const int64_t coarse = (count + size - 1) / size;
  double *table = numbers(2 * (size + coarse));
  if (!table) return no_memory(n);
  *out = (sb__roots){.n = n, .shift = shift, .fine = table, .coarse = table + 2 * size};
  for (int64_t k = 0; k < size; k++) sb__root(k, n, out->fine + 2 * k);
  for (int64_t k = 0; k < coarse; k++) sb__root(k << shift, n, out->coarse + 2 * k);
  return SB_OK;
}

void sb__roots_release(sb__roots *r) {
  sb__free_aligned(r->fine);
  r->fine = NULL;
}

/* ---- Lengths ---- */

static const int radices[] = {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
#define RADICES ((int)(sizeof radices / sizeof *radices))

static bool is_smooth(int64_t n, int most) {
  for (int i = 0; i < RADICES && radices[i] <= most; i++)
    while (n % radices[i] == 0) n /= radices[i];
  return n == 1;
}

static sb_status make_lanes(int64_t n, sb__fft_lanes *out) {
  int64_t rest = n, count = 0;
  *out = (sb__fft_lanes){.n = n};
  for (int i = 0; i < RADICES; i++)
    for (; rest % radices[i] == 0; count += 2 * (rest * (radices[i] - 1) + radices[i])) {
      rest /= radices[i];
      out->pass[out->passes++] = (sb__fft_pass){.radix = radices[i], .rest = rest};
    }
  double *table = out->tables = numbers(count);
  if (!table) return no_memory(n);
  for (int i = 0; i < out->passes; i++) {
    sb__fft_pass *pass = &out->pass[i];
    pass->roots = table;
    for (int64_t p = 0; p < pass->rest; p++)
      for (int64_t k = 1; k < pass->radix; k++, table += 2)
        sb__root(p * k, pass->rest * pass->radix, table);
    pass->own = table;
    for (int64_t k = 0; k < pass->radix; k++, table += 2) sb__root(k, pass->radix, table);
  }
  return SB_OK;
}

static int64_t rounded(int64_t n) {
  return (n + SB__FFT_GROUP - 1) / SB__FFT_GROUP * SB__FFT_GROUP;
}

static void release_smooth(sb__fft_smooth *f) {
  sb__free_aligned(f->columns.tables);
  sb__free_aligned(f->rows.tables);
  sb__roots_release(&f->roots);
}

/* Columns and rows that are as long as each other, as far as that goes. */
static sb_status make_smooth(int64_t n, sb__fft_smooth *out) {
  int64_t rows = 1;
  if (n > SB__FFT_SHORT)
    for (int64_t d = 2; d * d <= n; d++)
      if (n % d == 0) rows = d;
  *out = (sb__fft_smooth){.n = n};
  sb_status status = make_lanes(n / rows, &out->columns);
  /* a multiple of large powers of 2 would put all rows to the same places of a cache */
  out->pitch = rounded(n / rows) + SB__FFT_GROUP;
  if (!status) status = make_lanes(rows, &out->rows);
  if (!status && rows > 1) status = sb__roots_make(n, n, &out->roots);
  if (status) release_smooth(out);
  return status;
}

static int64_t scratch_of(const sb__fft_smooth *f) {
  const int64_t lanes = 4 * SB__FFT_GROUP * f->columns.n;
  return f->rows.n == 1 ? lanes : lanes + rounded(2 * f->rows.n * f->pitch);
}

/* ---- Convolutions ---- */

/* The least length from n on of factors 2, 3 and 5. */
static int64_t convenient(int64_t n) {
  while (!is_smooth(n, 5)) n++;
  return n;
}

static sb_status make_chirp(sb__fft_plan *plan) {
  const int64_t n = plan->n, size = plan->smooth.n;
  double *scratch = numbers(scratch_of(&plan->smooth));
  plan->chirp = numbers(2 * n);
  plan->kernel = numbers(2 * size);
  const bool is_there = scratch && plan->chirp && plan->kernel;
  if (is_there) {
    double *re = plan->kernel, *im = re + size;
    memset(re, 0, (size_t)(2 * size) * sizeof *re);
    for (int64_t k = 0, square = 0; k < n; k++) { /* square: k * k modulo 2 n */
      double *root = plan->chirp + 2 * k;
      sb__root(square, 2 * n, root);
      re[k] = re[k ? size - k : 0] = root[0] / (double)size;
      im[k] = im[k ? size - k : 0] = -root[1] / (double)size;
      square = (square + 2 * k + 1) % (2 * n);
    }
    sb__fft_loops_now()->run(&plan->smooth, re, im, 1, 0, scratch);
  }
  sb__free_aligned(scratch);
  return is_there ? SB_OK : no_memory(n);
}

static void convolve(const sb__fft_plan *plan, double *re, double *im, double *scratch) {
  const int64_t n = plan->n, size = plan->smooth.n;
  const double *kernel_re = plan->kernel, *kernel_im = plan->kernel + size;
  const sb__fft_loops *loops = sb__fft_loops_now();
  double *x = scratch, *y = scratch + rounded(size);
  scratch += 2 * rounded(size);
  for (int64_t k = 0; k < n; k++) {
    const double u = plan->chirp[2 * k], v = plan->chirp[2 * k + 1];
    x[k] = re[k] * u - im[k] * v;
    y[k] = re[k] * v + im[k] * u;
  }
  memset(x + n, 0, (size_t)(size - n) * sizeof *x);
  memset(y + n, 0, (size_t)(size - n) * sizeof *y);
  loops->run(&plan->smooth, x, y, 1, 0, scratch);
  for (int64_t k = 0; k < size; k++) {
    const double u = kernel_re[k], v = kernel_im[k], a = x[k];
    x[k] = a * u - y[k] * v;
    y[k] = a * v + y[k] * u;
  }
  loops->run(&plan->smooth, y, x, 1, 0, scratch);
  for (int64_t k = 0; k < n; k++) {
    const double u = plan->chirp[2 * k], v = plan->chirp[2 * k + 1];
    re[k] = x[k] * u - y[k] * v;
    im[k] = x[k] * v + y[k] * u;
  }
}

/* ---- Plans ---- */

sb_status sb__fft_plan_make(int64_t n, sb__fft_plan *out) {
  *out = (sb__fft_plan){.n = n};
  const bool is_direct = is_smooth(n, SB__FFT_PRIME);
  sb_status status = make_smooth(is_direct ? n : convenient(2 * n - 1), &out->smooth);
  if (status || is_direct) return status;
  status = make_chirp(out);
  if (status) sb__fft_plan_release(out);
  return status;
}

void sb__fft_plan_release(sb__fft_plan *plan) {
  release_smooth(&plan->smooth);
  sb__free_aligned(plan->chirp);
  sb__free_aligned(plan->kernel);
}

int64_t sb__fft_scratch(const sb__fft_plan *plan) {
  return scratch_of(&plan->smooth) + (plan->chirp ? 2 * rounded(plan->smooth.n) : 0);
}

void sb__fft_run(const sb__fft_plan *plan, double *re, double *im, int64_t lines, int64_t stride,
                 double *scratch) {
  if (!plan->chirp) {
    sb__fft_loops_now()->run(&plan->smooth, re, im, lines, stride, scratch);
    return;
  }
  for (int64_t i = 0; i < lines; i++) convolve(plan, re + i * stride, im + i * stride, scratch);
}
