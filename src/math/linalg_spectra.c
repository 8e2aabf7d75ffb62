/* QR iterations with implicit shifts: eigenvalues of symmetric tridiagonal matrices, singular values of bidiagonal ones (Golub and Van Loan,
 * Matrix Computations, 8.3 and 8.6). */
#if defined(__GNUC__) && !defined(__clang__)
# pragma GCC optimize("Os") /* the time goes into linalg_loops.c */
#endif

#include "math/linalg.h"
#include "math/functions64.h"

#define MOST_STEPS 60 /* for each value; two are usual */
#define UNIT 0x1p-52
#define TINY 0x1p-1000 /* beside values near 1 */

/* Cosine and sine with c x + s y = r, c y - s x = 0. Returns r. */
static double rotation(double x, double y, double *c, double *s) {
  const double r = sb__hypot(x, y);
  *c = r == 0 ? 1 : x / r;
  *s = r == 0 ? 0 : y / r;
  return r;
}

/* The eigenvalue of [[a, b], [b, d]] that is nearer to d. */
static double shift_of(double a, double b, double d) {
  const double half = (a - d) / 2, root = sb__hypot(half, b);
  const double sum = half >= 0 ? half + root : half - root;
  return sum == 0 ? d : d - b / sum * b;
}

static bool is_small(double x, double beside) {
  return sb__magnitude(x) <= UNIT * beside || sb__magnitude(x) <= TINY;
}

static void exchange(double *x, double *y, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const double was = x[i];
    x[i] = y[i];
    y[i] = was;
  }
}

/* Sorts values, and rows with them; sign: -1 for the greatest first. */
static void sort(double *values, int64_t n, double sign, double *a, int64_t a_row, double *b,
                 int64_t b_row) {
  for (int64_t i = 0; i < n; i++) {
    int64_t at = i;
    for (int64_t k = i + 1; k < n; k++)
      if (sign * values[k] < sign * values[at]) at = k;
    if (at == i) continue;
    exchange(values + i, values + at, 1);
    if (a) exchange(a + i * a_row, a + at * a_row, a_row);
    if (b) exchange(b + i * b_row, b + at * b_row, b_row);
  }
}

/* ---- Eigenvalues ---- */

/* A step of [low, high], in which nothing beside the diagonal is 0. */
static void eigen_step(double *d, double *e, int64_t low, int64_t high, double *cosine,
                       double *sine) {
  double x = d[low] - shift_of(d[high - 1], e[high - 1], d[high]), z = e[low];
  for (int64_t k = low; k < high; k++) {
    double c, s;
    const double r = rotation(x, z, &c, &s);
    if (k > low) e[k - 1] = r;
    const double beside = e[k], turned = s * (d[k + 1] - d[k]) + 2 * c * beside;
    d[k] += s * turned;
    d[k + 1] -= s * turned;
    e[k] = x = c * turned - beside;
    if (k + 1 < high) {
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
    cosine[k - low] = c;
    sine[k - low] = s;
  }
}

bool sb__eigenvalues(double *d, double *e, int64_t n, double *rows, int64_t row,
                     double *rotations) {
  int64_t high = n - 1, steps = MOST_STEPS * n;
  while (high > 0) {
    int64_t low = high;
    while (low > 0 && !is_small(e[low - 1], sb__magnitude(d[low - 1]) + sb__magnitude(d[low])))
      low--;
    if (low == high) {
      high--;
      continue;
    }
    if (steps-- == 0) return false;
    eigen_step(d, e, low, high, rotations, rotations + n);
    if (rows)
      sb__linalg_loops_now()->rotate(high - low, row, rotations, rotations + n, rows + low * row,
                                     row);
  }
  sort(d, n, 1, rows, row, NULL, 0);
  return true;
}

/* ---- Singular values ---- */

/* Two rows apart: x to c x + s y, y to c y - s x. */
static void rotate_two(double *rows, int64_t row, int64_t i, int64_t k, double c, double s) {
  if (!rows) return;
  for (int64_t j = 0; j < row; j++) {
    const double x = rows[i * row + j], y = rows[k * row + j];
    rows[i * row + j] = c * x + s * y;
    rows[k * row + j] = c * y - s * x;
  }
}

/* d[k] is 0: what is right of it becomes 0 by rotations of rows. */
static void clear_row(double *d, double *e, int64_t k, int64_t high, double *u, int64_t row) {
  double rest = e[k], c, s;
  e[k] = 0;
  for (int64_t j = k + 1; j <= high; j++) {
    d[j] = rotation(d[j], rest, &c, &s);
    if (j < high) {
      rest = -s * e[j];
      e[j] *= c;
    }
    rotate_two(u, row, j, k, c, s);
  }
}

/* d[high] is 0: what is above it becomes 0 by rotations of columns. */
static void clear_column(double *d, double *e, int64_t low, int64_t high, double *v, int64_t row) {
  double rest = e[high - 1], c, s;
  e[high - 1] = 0;
  for (int64_t j = high - 1; j >= low; j--) {
    d[j] = rotation(d[j], rest, &c, &s);
    if (j > low) {
      rest = -s * e[j - 1];
      e[j - 1] *= c;
    }
    rotate_two(v, row, j, high, c, s);
  }
}

/* A step of [low, high]; rotations: n cosines and n sines for u, then for v. */
static void singular_step(double *d, double *e, int64_t low, int64_t high, double *rotations,
                          int64_t n) {
  const double last = d[high], before = d[high - 1], beside = e[high - 1];
  const double above = high - 2 >= low ? e[high - 2] : 0;
  double most = sb__magnitude(d[low]); /* squares of what is scaled by it do not vanish */
  for (int64_t k = low; k <= high; k++) {
    if (sb__magnitude(d[k]) > most) most = sb__magnitude(d[k]);
    if (k < high && sb__magnitude(e[k]) > most) most = sb__magnitude(e[k]);
  }
  const double f = sb__near_one(most);
  const double shift =
      shift_of(before * f * (before * f) + above * f * (above * f), before * f * (beside * f),
               last * f * (last * f) + beside * f * (beside * f));
  double x = d[low] * f * (d[low] * f) - shift, z = d[low] * f * (e[low] * f);
  for (int64_t k = low; k < high; k++) {
    double *at = rotations + (k - low);
    double c, s;
    const double r = rotation(x, z, &c, &s);
    if (k > low) e[k - 1] = r;
    at[2 * n] = c;
    at[3 * n] = s;
    x = c * d[k] + s * e[k];
    e[k] = c * e[k] - s * d[k];
    z = s * d[k + 1];
    d[k + 1] *= c;
    d[k] = rotation(x, z, &c, &s);
    at[0] = c;
    at[n] = s;
    x = c * e[k] + s * d[k + 1];
    d[k + 1] = c * d[k + 1] - s * e[k];
    e[k] = x;
    if (k + 1 < high) {
      z = s * e[k + 1];
      e[k + 1] *= c;
    }
  }
}

bool sb__singular_values(double *d, double *e, int64_t n, double *u, int64_t u_row, double *v,
                         int64_t v_row, double *rotations) {
  const sb__linalg_loops *loops = sb__linalg_loops_now();
  int64_t high = n - 1, steps = MOST_STEPS * n;
  while (high > 0) {
    int64_t low = high, zero = -1;
    while (low > 0 && !is_small(e[low - 1], sb__magnitude(d[low - 1]) + sb__magnitude(d[low])))
      low--;
    if (low == high) {
      high--;
      continue;
    }
    for (int64_t k = low; k <= high; k++) {
      const double left = k > low ? sb__magnitude(e[k - 1]) : 0;
      if (is_small(d[k], left + (k < high ? sb__magnitude(e[k]) : 0))) zero = k;
    }
    if (zero >= 0) d[zero] = 0;
    if (zero == high) {
      clear_column(d, e, low, high, v, v_row);
    } else if (zero >= 0) {
      clear_row(d, e, zero, high, u, u_row);
    } else {
      if (steps-- == 0) return false;
      singular_step(d, e, low, high, rotations, n);
      if (u) loops->rotate(high - low, u_row, rotations, rotations + n, u + low * u_row, u_row);
      if (v)
        loops->rotate(high - low, v_row, rotations + 2 * n, rotations + 3 * n, v + low * v_row,
                      v_row);
    }
  }
  for (int64_t k = 0; k < n; k++) {
    if (sb__bits_of(d[k]) & SB__SIGN) {
      d[k] = -d[k];
      for (int64_t j = 0; v && j < v_row; j++) v[k * v_row + j] = -v[k * v_row + j];
    }
  }
  sort(d, n, -1, u, u_row, v, v_row);
  return true;
}
