/* What the array API standard has as linalg, of stacks of matrices. All is computed in float64, or complex128, and rounded once. */
#if defined(__GNUC__) && !defined(__clang__)
# pragma GCC optimize("Os") /* the time goes into linalg_loops.c */
#endif

#include "math/linalg_numbers.h"

#define MOST_SIDE (INT64_C(1) << 27)     /* sums of their products fit */
#define MOST_ELEMENTS (INT64_C(1) << 50) /* and bytes of several threads' */

/* Problems */
#define SINGULAR 1
#define INDEFINITE 2

typedef struct matrices {
  int64_t m, n; /* the source's rows and columns */
  int64_t k;    /* columns of what is solved for, or of a factor */
  int64_t power;
  double rtol;
  bool is_inverse, is_upper, has_vectors;
} matrices;

/* Room for n float64s, off what is left of a call's scratch. */
static void *take_doubles(char **room, int64_t n) {
  char *at = *room;
  *room += (n + 7) / 8 * 64;
  return at;
}

static void make_canonical(double *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = sb__canonical_double(x[i]);
}

static void set_nan(double *x, int64_t n) {
  for (int64_t i = 0; i < n; i++) x[i] = SB__NAN;
}

/* What brings the greatest of them near 1; 0: one is not finite. */
static double scale_of(const double *x, int64_t n) {
  double most = 0;
  for (int64_t i = 0; i < n; i++) {
    const double size = sb__magnitude(x[i]);
    if (!(size < SB__INFINITY)) return 0;
    if (size > most) most = size;
  }
  return sb__near_one(most);
}

static int64_t exponent_of(double x) { return (int64_t)(sb__bits_of(x) >> 52) - 1023; }
static double power_of_two(int64_t exponent) {
  return sb__double_of((uint64_t)(exponent + 1023) << 52);
}

#define T double
#define NAME(name) name##_real
#include "math/linalg_runs.inc"
#undef T
#undef NAME

#define T sb_complex128
#define NAME(name) name##_complex
#include "math/linalg_runs.inc"
#undef T
#undef NAME

/* ---- Calls ---- */

typedef struct linalg_call {
  sb__cores f;
  matrices s;
  bool is_complex;
} linalg_call;

static int64_t side(const sb_tensor *t, int32_t from_last) { return t->shape[t->ndim - from_last]; }

/* Begins a call for the source a, of matrices.
 *
 * Errors  SB_ERR_DTYPE bool, float8 · SB_ERR_SHAPE · SB_ERR_MEMORY its sides have no product */
static sb_status begin_call(const char *name, const sb_tensor *a, bool is_square, linalg_call *c) {
  sb_dtype computed;
  const sb_status status = sb__computed_in(name, a->dtype, &computed);
  if (status) return status;
  memset(c, 0, sizeof *c);
  c->f.name = name;
  c->f.context = &c->s;
  c->is_complex = sb_dtype_kind(a->dtype) == SB_COMPLEX;
  if (a->ndim < 2 || (is_square && side(a, 1) != side(a, 2))) {
    char text[128];
    return sb__fail(
        SB_ERR_SHAPE, "x has shape %s; %s was expected", sb__shape_text(a->ndim, a->shape, text),
        is_square ? "a square matrix, or a stack of them," : "a matrix, or a stack of them,");
  }
  c->s.m = side(a, 2);
  c->s.n = side(a, 1);
  if (c->s.m > MOST_SIDE || c->s.n > MOST_SIDE)
    return sb__fail(SB_ERR_MEMORY, "%s has no room for %lld rows and %lld columns", name,
                    (long long)c->s.m, (long long)c->s.n);
  return SB_OK;
}

/* The next operand; rows or columns of -1: its core has one axis, or none.
 *
 * Errors  SB_ERR_SHAPE · SB_ERR_CAST */
static sb_status add_operand(linalg_call *c, const sb_tensor *t, bool is_real, bool is_written,
                             int64_t rows, int64_t columns, sb_casting casting) {
  const int32_t axes = (rows >= 0) + (columns >= 0);
  const bool is_complex = c->is_complex && !is_real;
  const sb_dtype computed = is_complex ? SB_COMPLEX128 : SB_FLOAT64;
  c->f.operand[c->f.count++] =
      (sb__core_operand){.tensor = t, .dtype = computed, .axes = axes, .is_written = is_written};
  if (t->ndim < axes || (columns >= 0 && side(t, 1) != columns) ||
      (rows >= 0 && side(t, 2) != rows)) {
    char text[128];
    return sb__fail(
        SB_ERR_SHAPE, "%s: an operand has shape %s; %lld rows and %lld columns were expected",
        c->f.name, sb__shape_text(t->ndim, t->shape, text), (long long)rows, (long long)columns);
  }
  /* float64 stands for every float: each result's own dtype is one */
  return is_written ? sb__check_cast(is_complex ? SB_COMPLEX64 : SB_FLOAT32, t->dtype, casting)
                    : SB_OK;
}

/* elements: of the source's type, for each call of run; those of the arrays that it takes, and what it has beside them */
static sb_status run_call(linalg_call *c, int64_t elements, int (*of_real)(const sb__cores_call *),
                          int (*of_complex)(const sb__cores_call *), int64_t *staged) {
  int problem;
  const int64_t most = c->s.m > c->s.n ? c->s.m : c->s.n;
  if (elements > MOST_ELEMENTS)
    return sb__fail(SB_ERR_MEMORY, "%s has no room for %lld rows and %lld columns", c->f.name,
                    (long long)c->s.m, (long long)c->s.n);
  c->f.scratch = (elements + 16 * 8 + 8 * most) * (c->is_complex ? 16 : 8);
  c->f.run = c->is_complex ? of_complex : of_real;
  c->f.cost = 16 + (most < 1024 ? most * most * least(c->s.m, c->s.n) : INT32_MAX);
  const sb_status status = sb__cores_run(&c->f, SB_CASTING_UNSAFE, staged, &problem);
  if (status || problem == SB__NO_PROBLEM) return status;
  if (problem == SINGULAR)
    return sb__fail(SB_ERR_ARGUMENT,
                    "%s: a matrix is singular and has no inverse; pinv gives what comes nearest",
                    c->f.name);
  return sb__fail(SB_ERR_ARGUMENT,
                  "%s: a matrix is not positive definite; eigvalsh gives its eigenvalues, qr and "
                  "solve are for any",
                  c->f.name);
}

sb_status sb__solve(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b, sb_casting casting,
                    int64_t *staged) {
  linalg_call c;
  sb_status status = begin_call("solve", a, true, &c);
  if (status) return status;
  const int64_t n = c.s.n;
  c.is_complex |= sb_dtype_kind(b->dtype) == SB_COMPLEX;
  c.s.k = b->ndim ? side(b, 1) : 0;
  if (c.s.k > MOST_SIDE)
    return sb__fail(SB_ERR_MEMORY, "solve has no room for %lld columns", (long long)c.s.k);
  status = add_operand(&c, to, false, true, n, c.s.k, casting);
  if (!status) status = add_operand(&c, a, false, false, n, n, casting);
  if (!status) status = add_operand(&c, b, false, false, n, c.s.k, casting);
  return status ? status : run_call(&c, n * n + n, run_solve_real, run_solve_complex, staged);
}

sb_status sb__inv(const sb_tensor *to, const sb_tensor *a, sb_casting casting, int64_t *staged) {
  linalg_call c;
  sb_status status = begin_call("inv", a, true, &c);
  if (status) return status;
  const int64_t n = c.s.k = c.s.n;
  c.s.is_inverse = true;
  status = add_operand(&c, to, false, true, n, n, casting);
  if (!status) status = add_operand(&c, a, false, false, n, n, casting);
  return status ? status : run_call(&c, n * n + n, run_solve_real, run_solve_complex, staged);
}

sb_status sb__det(const sb_tensor *to, const sb_tensor *a, sb_casting casting, int64_t *staged) {
  linalg_call c;
  sb_status status = begin_call("det", a, true, &c);
  if (status) return status;
  const int64_t n = c.s.n;
  status = add_operand(&c, to, false, true, -1, -1, casting);
  if (!status) status = add_operand(&c, a, false, false, n, n, casting);
  return status ? status : run_call(&c, n * n + n, run_det_real, run_det_complex, staged);
}

sb_status sb__slogdet(const sb_tensor *sign, const sb_tensor *log, const sb_tensor *a,
                      int64_t *staged) {
  linalg_call c;
  sb_status status = begin_call("slogdet", a, true, &c);
  if (status) return status;
  const int64_t n = c.s.n;
  status = add_operand(&c, sign, false, true, -1, -1, SB_CASTING_SAME_KIND);
  if (!status) status = add_operand(&c, log, true, true, -1, -1, SB_CASTING_SAME_KIND);
  if (!status) status = add_operand(&c, a, false, false, n, n, SB_CASTING_SAFE);
  return status ? status : run_call(&c, n * n + n, run_slogdet_real, run_slogdet_complex, staged);
}

sb_status sb__matrix_power(const sb_tensor *to, const sb_tensor *a, int64_t power,
                           sb_casting casting, int64_t *staged) {
  linalg_call c;
  sb_status status = begin_call("matrixPower", a, true, &c);
  if (status) return status;
  const int64_t n = c.s.n;
  c.s.power = power;
  status = add_operand(&c, to, false, true, n, n, casting);
  if (!status) status = add_operand(&c, a, false, false, n, n, casting);
  return status ? status : run_call(&c, 2 * n * n + n, run_power_real, run_power_complex, staged);
}

sb_status sb__cholesky(const sb_tensor *to, const sb_tensor *a, bool is_upper, sb_casting casting,
                       int64_t *staged) {
  linalg_call c;
  sb_status status = begin_call("cholesky", a, true, &c);
  if (status) return status;
  const int64_t n = c.s.n;
  c.s.is_upper = is_upper;
  status = add_operand(&c, to, false, true, n, n, casting);
  if (!status) status = add_operand(&c, a, false, false, n, n, casting);
  return status ? status : run_call(&c, n * n, run_cholesky_real, run_cholesky_complex, staged);
}

sb_status sb__qr(const sb_tensor *q, const sb_tensor *r, const sb_tensor *a, int64_t *staged) {
  linalg_call c;
  sb_status status = begin_call("qr", a, false, &c);
  if (status) return status;
  const int64_t m = c.s.m, n = c.s.n, count = least(m, n);
  c.s.k = q->ndim ? side(q, 1) : 0;
  if (c.s.k != m && c.s.k != count)
    return sb__fail(SB_ERR_SHAPE, "qr: q has %lld columns", (long long)c.s.k);
  status = add_operand(&c, q, false, true, m, c.s.k, SB_CASTING_SAME_KIND);
  if (!status) status = add_operand(&c, r, false, true, c.s.k, n, SB_CASTING_SAME_KIND);
  if (!status) status = add_operand(&c, a, false, false, m, n, SB_CASTING_SAFE);
  const int64_t elements = m * n + count * m + count + SB__REFLECTOR_SCRATCH(m > n ? m : n);
  return status ? status : run_call(&c, elements, run_qr_real, run_qr_complex, staged);
}

sb_status sb__eigh(const sb_tensor *values, const sb_tensor *vectors, const sb_tensor *a,
                   sb_casting casting, int64_t *staged) {
  linalg_call c;
  sb_status status = begin_call(vectors ? "eigh" : "eigvalsh", a, true, &c);
  if (status) return status;
  const int64_t n = c.s.n;
  c.s.has_vectors = vectors != NULL;
  status = add_operand(&c, values, true, true, -1, n, casting);
  if (!status && vectors) status = add_operand(&c, vectors, false, true, n, n, casting);
  if (!status) status = add_operand(&c, a, false, false, n, n, casting);
  const int64_t elements = 2 * n * n + 4 * n + SB__REFLECTOR_SCRATCH(n);
  return status ? status : run_call(&c, elements, run_eigh_real, run_eigh_complex, staged);
}

/* Elements that a decomposition takes, with k columns of the factor of the greater side. */
static int64_t decomposed(const matrices *s, int64_t k) {
  const int64_t p = s->m > s->n ? s->m : s->n, q = least(s->m, s->n);
  return 2 * p * q + 2 * q * q + 2 * p * k + 8 * q + SB__REFLECTOR_SCRATCH(p);
}

sb_status sb__svd(const sb_tensor *u, const sb_tensor *values, const sb_tensor *v,
                  const sb_tensor *a, sb_casting casting, int64_t *staged) {
  linalg_call c;
  sb_status status = begin_call(u ? "svd" : "svdvals", a, false, &c);
  if (status) return status;
  const int64_t m = c.s.m, n = c.s.n, q = least(m, n);
  c.s.has_vectors = u != NULL;
  c.s.k = q;
  if (u && m >= n) c.s.k = u->ndim ? side(u, 1) : 0;
  if (u && m < n) c.s.k = v->ndim > 1 ? side(v, 2) : 0;
  if (c.s.k != q && c.s.k != m && c.s.k != n)
    return sb__fail(SB_ERR_SHAPE, "svd: a factor has %lld columns", (long long)c.s.k);
  if (u) status = add_operand(&c, u, false, true, m, m < n ? m : c.s.k, casting);
  if (!status) status = add_operand(&c, values, true, true, -1, q, casting);
  if (!status && u) status = add_operand(&c, v, false, true, m < n ? c.s.k : n, n, casting);
  if (!status) status = add_operand(&c, a, false, false, m, n, casting);
  return status
             ? status
             : run_call(&c, decomposed(&c.s, u ? c.s.k : 0), run_svd_real, run_svd_complex, staged);
}

sb_status sb__pinv(const sb_tensor *to, const sb_tensor *a, double rtol, sb_casting casting,
                   int64_t *staged) {
  linalg_call c;
  sb_status status = begin_call("pinv", a, false, &c);
  if (status) return status;
  c.s.rtol = rtol;
  status = add_operand(&c, to, false, true, c.s.n, c.s.m, casting);
  if (!status) status = add_operand(&c, a, false, false, c.s.m, c.s.n, casting);
  return status ? status
                : run_call(&c, decomposed(&c.s, least(c.s.m, c.s.n)), run_pinv_real,
                           run_pinv_complex, staged);
}
