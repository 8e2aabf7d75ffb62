/* Dense matrices of float64 and complex128, row by row. What factorisations share; linalg.c has what JavaScript calls. */
#ifndef SB_LINALG_H
#define SB_LINALG_H

#include "math/algorithms.h"

/* One of each instruction set, with the same bits: an element's additions have one order. */
typedef struct sb__linalg_loops {
  /* c[i][j] += (sign a[i][l]) b[l][j], for l from 0 to k - 1 in turn.
   *
   *   row, column  distances of a's elements
   *   sign         1 or -1 */
  void (*update)(int64_t m, int64_t n, int64_t k, double sign, const double *a, int64_t row,
                 int64_t column, const double *b, int64_t b_row, double *c, int64_t c_row);
  /* Rotates each two rows that follow each other, i and i + 1, for i from 0 to count - 1 in turn: to cosine x + sine y and
   * cosine y - sine x. */
  void (*rotate)(int64_t count, int64_t n, const double *cosine, const double *sine, double *rows,
                 int64_t row);
  /* to[i] = the sum of a[i][j] b[j], in eight parts. */
  void (*dots)(int64_t m, int64_t n, const double *a, int64_t row, const double *b, double *to);
} sb__linalg_loops;

/* linalg_loops.c: those of the level that the core uses. */
const sb__linalg_loops *sb__linalg_loops_now(void);

/* linalg_factor.c: a power of two that brings x near 1; 1 of NaN and Infinity. */
double sb__near_one(double x);

#define SB__PANEL 32 /* columns that are factored before the rest is updated */

/* linalg_factor.inc, of T float64 and complex128. Rows of a matrix follow each other without gaps, unless a distance is given; n x n where one
 * extent is given. */
#define SB__FACTORS(T, name)                                                                                                               \
 /* Factors a into L and U, with rows exchanged as `pivots` says. Returns how many exchanges there were, negative: -1 - i if     \
  * column i has no pivot but 0; then a is partly factored. */         \
 int64_t sb__lu_##name(T *a, int64_t n, int64_t *pivots);                                                                                  \
 /* Solves with what sb__lu gave; b of n x k becomes the solution. */                                                                      \
 void sb__lu_solve_##name(const T *a, const int64_t *pivots, int64_t n, T *b, int64_t k);                                                  \
 /* a, of which the upper triangle is read, becomes U of U* U = a; what is below means nothing then. False: a is not positive definite. */ \
 bool sb__cholesky_##name(T *a, int64_t n);                                                                                                \
 /* c += a b, of m x k and k x n. */                                                                                                       \
 void sb__multiply_##name(int64_t m, int64_t n, int64_t k, const T *a, int64_t row,                                                        \
                          int64_t column, const T *b, T *c);                                                                               \
 /* Householder's H = I - t v v* with H* x = (beta, 0, ...), beta real. x of n elements becomes v, with v[0] = 1. */                       \
 double sb__reflector_##name(T *x, int64_t n, T *t);                                                                                       \
 /* a of m x n becomes R. `count` reflectors, least(m, n), are rows of m elements; scratch: SB__REFLECTOR_SCRATCH elements. */             \
 void sb__qr_##name(T *a, int64_t m, int64_t n, T *reflectors, T *t, T *scratch);                                                          \
 /* q of m x k becomes the first columns of H0 H1 ...; row i of reflectors begins at i + shift. */                                         \
 void sb__form_##name(const T *reflectors, const T *t, int64_t count, int64_t shift, int64_t m,                                            \
                      int64_t k, T *q, T *scratch);                                                                                        \
 /* a, Hermitian, becomes Q T Q*: T's diagonal and what is beside it. a is destroyed; n - 1 reflectors, with shift 1. */                   \
 void sb__tridiagonal_##name(T *a, int64_t n, double *diagonal, double *beside, T *reflectors,                                             \
                             T *t, T *scratch);                                                                                            \
 /* a of m x n, m >= n, becomes Q B P*: B's diagonal and what is above it. n reflectors of m elements for Q, n - 1 of n elements  \
  * for P, with shift 1. */        \
 void sb__bidiagonal_##name(T *a, int64_t m, int64_t n, double *diagonal, double *above, T *left,                                          \
                            T *left_t, T *right, T *right_t, T *scratch);

SB__FACTORS(double, real)
SB__FACTORS(sb_complex128, complex)

/* Elements of scratch for matrices with sides of up to n. */
#define SB__REFLECTOR_SCRATCH(n) (2 * SB__PANEL * SB__PANEL + 2 * SB__PANEL * (n) + 4 * (n))

/* linalg_spectra.c: QR iterations. Rotations are applied to rows of float64; NULL: to none. They have limits, beyond which the result is false. */

/* Eigenvalues of a symmetric tridiagonal matrix, ascending, in `diagonal`. `beside` is destroyed; rotations: 2 n elements. */
bool sb__eigenvalues(double *diagonal, double *beside, int64_t n, double *rows, int64_t row,
                     double *rotations);

/* Singular values of a bidiagonal matrix, descending, in `diagonal`. `above` is destroyed; rotations: 4 n elements.
 *
 *   u, v  get the transposed factors' rotations, of u_row and v_row elements a row */
bool sb__singular_values(double *diagonal, double *above, int64_t n, double *u, int64_t u_row,
                         double *v, int64_t v_row, double *rotations);

#endif
