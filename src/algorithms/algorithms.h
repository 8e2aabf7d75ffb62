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

/* sort.c: stable sorts along the last axes, NaN last. */

/* Elements of x, sorted.
 *
 *   axes  the last ones, that make a line
 *
 * Errors  SB_ERR_DTYPE complex numbers · SB_ERR_SHAPE · as sb__cores_run */
sb_status sb__sort(const sb_tensor *to, const sb_tensor *x, int64_t axes, bool descending,
                   sb_casting casting, int64_t *staged);

/* Indices of x's elements along the last axis, in the order of the elements. Errors as of sb__sort. */
sb_status sb__argsort(const sb_tensor *to, const sb_tensor *x, bool descending, sb_casting casting,
                      int64_t *staged);

/* The first elements of the order along the last axis, and their indices: as many as values and indices have there. NaN counts as the
 * greatest.
 *
 *   values  of x's dtype
 *
 * Errors  as of sb__sort · SB_ERR_BOUNDS x has fewer */
sb_status sb__top_k(const sb_tensor *values, const sb_tensor *indices, const sb_tensor *x,
                    bool largest, int64_t *staged);

/* All elements of x are one line.
 *
 *   order  gets their indices, in the order of the elements; as many as x has
 *   ranks  gets which unique value each one is, counted from 0; of order's dtype
 *   count  gets how many unique values there are. Each NaN is one */
sb_status sb__rank(const sb_tensor *order, const sb_tensor *ranks, const sb_tensor *x,
                   int64_t *staged, double *count);

/* search.c */

/* Where elements of x are among sorted ones, or whether they are there.
 *
 *   sorter  indices that sort `sorted`; NULL: it is sorted, or need not be
 *   mode    0: before elements that are equal, 1: behind them, 2: is there an equal one, 3: is there none; NaN equals none
 *   to      of x's shape; bool of the last two
 *
 * Errors  SB_ERR_DTYPE complex numbers · SB_ERR_SHAPE, SB_ERR_BOUNDS of sorter · as sb__cores_run */
sb_status sb__searchsorted(const sb_tensor *to, const sb_tensor *sorted, const sb_tensor *sorter,
                           const sb_tensor *x, int64_t mode, sb_casting casting, int64_t *staged);

/* How many unique values there are among sorted ones. Each NaN is one. */
sb_status sb__count_runs(const sb_tensor *sorted, int64_t *staged, double *count);

/* The unique values, of which there are as many as values and counts have elements, and how often each occurs.
 *
 * Errors  SB_ERR_SHAPE there are others */
sb_status sb__runs(const sb_tensor *values, const sb_tensor *counts, const sb_tensor *sorted,
                   int64_t *staged);

/* Of what sb__rank gave: each unique value's first index, and how often it occurs. Errors SB_ERR_BOUNDS */
sb_status sb__firsts(const sb_tensor *indices, const sb_tensor *counts, const sb_tensor *order,
                     const sb_tensor *ranks, int64_t *staged);

/* Elements of x at indices, which count all of x's elements as one line. Errors SB_ERR_BOUNDS */
sb_status sb__take_flat(const sb_tensor *to, const sb_tensor *x, const sb_tensor *indices,
                        int64_t *staged);

/* How many bins there are: the greatest element and 1; 0 of no elements.
 *
 * Errors  SB_ERR_DTYPE x is not of integers or bool · SB_ERR_BOUNDS a negative element */
sb_status sb__count_bins(const sb_tensor *x, int64_t *staged, double *count);

/* How often each integer occurs, or the sums of their weights, in float64, in the order of the elements.
 *
 *   weights  NULL: there are none
 *
 * Errors  as sb__count_bins · SB_ERR_BOUNDS an element beyond to · SB_ERR_SHAPE · SB_ERR_CAST */
sb_status sb__bincount(const sb_tensor *to, const sb_tensor *x, const sb_tensor *weights,
                       sb_casting casting, int64_t *staged);

#endif
