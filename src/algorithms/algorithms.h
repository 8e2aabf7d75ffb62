/* Algorithms: what JavaScript calls, and what its files share. */
#ifndef SB_ALGORITHMS_H
#define SB_ALGORITHMS_H

#include "algorithms/cores.h"

/* exports.c: what JavaScript calls. */
enum {
#define EXPORT(name, signature, call) SB__ALGORITHM_##name,
#include "algorithms/exports.def"
#undef EXPORT
  SB__ALGORITHMS
};
extern const sb__export sb__algorithms[SB__ALGORITHMS];
const char *sb__algorithm_tables(void);

/* vectors.c: cross products of vectors of three elements, the last axis of all operands. */
sb_status sb__cross(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b, sb_casting casting,
                    int64_t *staged);

/* linalg.c: stacks of matrices, the last two axes. Real ones are computed in float64, complex ones in complex128, and rounded once to the targets'
 * dtypes, which are floats, or complex. Matrices that are singular, or not positive definite, are SB_ERR_ARGUMENT; then targets may be
 * written in part. Of NaN and Infinity eigenvalues, singular values and their vectors are NaN. */

/* to, of b's shape, such that a to = b. */
sb_status sb__solve(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b, sb_casting casting,
                    int64_t *staged);
sb_status sb__inv(const sb_tensor *to, const sb_tensor *a, sb_casting casting, int64_t *staged);
/* 0 of a singular matrix. */
sb_status sb__det(const sb_tensor *to, const sb_tensor *a, sb_casting casting, int64_t *staged);
/* Its sign, or complex number of length 1, and the logarithm of its absolute value, which is real; 0 and -Infinity of a singular matrix. */
sb_status sb__slogdet(const sb_tensor *sign, const sb_tensor *log, const sb_tensor *a,
                      int64_t *staged);
/* power: of less than 0, the inverse's */
sb_status sb__matrix_power(const sb_tensor *to, const sb_tensor *a, int64_t power,
                           sb_casting casting, int64_t *staged);
/* The triangle above the diagonal of a is not read. */
sb_status sb__cholesky(const sb_tensor *to, const sb_tensor *a, bool is_upper, sb_casting casting,
                       int64_t *staged);
/* a of m x n becomes q of m x k and r of k x n; k is m, or the least of m and n. */
sb_status sb__qr(const sb_tensor *q, const sb_tensor *r, const sb_tensor *a, int64_t *staged);
/* Of a Hermitian matrix, ascending; vectors are columns. NULL: without them. What is above the diagonal is not read. */
sb_status sb__eigh(const sb_tensor *values, const sb_tensor *vectors, const sb_tensor *a,
                   sb_casting casting, int64_t *staged);
/* a of m x n is u times values times v; u and v of the least of m and n columns and rows, or square. NULL, both: values only. Descending. */
sb_status sb__svd(const sb_tensor *u, const sb_tensor *values, const sb_tensor *v,
                  const sb_tensor *a, sb_casting casting, int64_t *staged);
/* rtol: beside the greatest, singular values up to that count as 0 */
sb_status sb__pinv(const sb_tensor *to, const sb_tensor *a, double rtol, sb_casting casting,
                   int64_t *staged);

#endif
