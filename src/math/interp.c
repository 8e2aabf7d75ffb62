/* Piecewise linear interpolation, as NumPy's interp computes it. */
#include "math/algorithms.h"
#include "kernels/convert.h"

typedef struct points {
  const double *x, *y; /* x ascending */
  int64_t n;
  double left, right;
} points;

/* The last point at or before x, which is not before the first one. */
static int64_t before(const points *p, double x) {
  int64_t low = 0, n = p->n;
  while (n > 1) {
    const int64_t half = n / 2;
    low += p->x[low + half] <= x ? half : 0;
    n -= half;
  }
  return low;
}

static double value_at(const points *p, double x) {
  if (x != x) return x;
  if (x < p->x[0]) return p->left;
  if (x > p->x[p->n - 1]) return p->right;
  const int64_t i = before(p, x);
  if (p->x[i] == x || i == p->n - 1) return p->y[i];
  const double slope = (p->y[i + 1] - p->y[i]) / (p->x[i + 1] - p->x[i]);
  double y = slope * (x - p->x[i]) + p->y[i];
  if (y != y) y = slope * (x - p->x[i + 1]) + p->y[i + 1]; /* an infinity on one side */
  if (y != y && p->y[i] == p->y[i + 1]) y = p->y[i];
  return y;
}

static int interpolate(const sb__cores_call *call) {
  const points *p = call->context;
  double *to = (double *)(void *)call->data[0];
  const double *x = (const double *)(const void *)call->data[1];
  for (int64_t i = 0; i < call->count; i++) to[i] = sb__canonical_double(value_at(p, x[i]));
  return SB__NO_PROBLEM;
}

static sb_status read_doubles(const sb_tensor *t, sb_tensor *out) {
  sb_status status = sb__check_bytes("the source", t);
  if (!status) status = sb_tensor_empty(SB_FLOAT64, t->ndim, t->shape, out);
  if (!status) status = sb_copy(out, t, SB_CASTING_UNSAFE, NULL);
  return status;
}

sb_status sb__interp(const sb_tensor *to, const sb_tensor *x, const sb_tensor *xp,
                     const sb_tensor *fp, const double *left, const double *right,
                     int64_t *staged) {
  sb_tensor dense[2] = {{0}, {0}};
  int problem;
  if (xp->ndim != 1 || fp->ndim != 1 || xp->shape[0] != fp->shape[0] || xp->shape[0] < 1)
    return sb__fail(SB_ERR_SHAPE, "interp has points: two vectors of one length");
  sb_status status = read_doubles(xp, &dense[0]);
  if (!status) status = read_doubles(fp, &dense[1]);
  if (!status) {
    points p = {.x = sb_tensor_data(&dense[0]), .y = sb_tensor_data(&dense[1]), .n = xp->shape[0]};
    int64_t cost = 8;
    for (int64_t rest = p.n; rest; rest /= 2) cost += 4;
    p.left = left ? *left : p.y[0];
    p.right = right ? *right : p.y[p.n - 1];
    const sb__cores f = {.name = "interp",
                         .count = 2,
                         .operand = {{.tensor = to, .dtype = SB_FLOAT64, .is_written = true},
                                     {.tensor = x, .dtype = SB_FLOAT64}},
                         .run = interpolate,
                         .context = &p,
                         .cost = cost};
    status = sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
  }
  sb_tensor_release(&dense[0]);
  sb_tensor_release(&dense[1]);
  return status;
}
