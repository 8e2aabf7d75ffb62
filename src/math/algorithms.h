/* Algorithms: what JavaScript calls, and what its files share. */
#ifndef SB_ALGORITHMS_H
#define SB_ALGORITHMS_H

#include "math/cores.h"

/* algorithms.c: what JavaScript calls. */
enum {
#define EXPORT(name, signature, call) SB__ALGORITHM_##name,
#include "math/algorithms.def"
#undef EXPORT
  SB__ALGORITHMS
};
extern const sb__export sb__algorithms[SB__ALGORITHMS];
const char *sb__algorithm_tables(void);

/* vectors.c: cross products of vectors of three elements, the last axis of all operands.
 *
 *   asked  a dtype that the sources are converted to, or SB__NO_DTYPE: the one in which they meet */
sb_status sb__cross(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b, sb_casting casting,
                    int64_t asked, int64_t *staged);

/* vectors.c: the dtype that a product of two sources has: the one that is asked for, which they have to cast to, or the one in which they
 * meet. */
sb_status sb__product_dtype(const sb_tensor *a, const sb_tensor *b, int64_t asked, sb_dtype *out);

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
/* How many elements are between two edges, or the sums of their weights, in float64, in the order of the elements. The last bin has its upper edge
 * as well. What is outside, and NaN, is in none.
 *
 *   to       one less than there are edges
 *   edges    ascending; compared in the dtype in which both meet, 64-bit integers exactly
 *   weights  NULL: there are none; else as many as x has elements
 *
 * Errors  SB_ERR_DTYPE complex numbers · SB_ERR_SHAPE · SB_ERR_CAST · as sb__cores_run */
sb_status sb__histogram(const sb_tensor *to, const sb_tensor *x, const sb_tensor *edges,
                        const sb_tensor *weights, sb_casting casting, int64_t *staged);

/* interp.c: values at x on the lines between points, in float64; NaN of NaN.
 *
 *   xp, fp       the points, ascending; vectors of one or more
 *   left, right  before the first point and behind the last one; NULL: as of that point
 *
 * Errors  SB_ERR_SHAPE · as sb__cores_run; the target's dtype is not looked at */
sb_status sb__interp(const sb_tensor *to, const sb_tensor *x, const sb_tensor *xp,
                     const sb_tensor *fp, const double *left, const double *right, int64_t *staged);

/* resize.c: how images are resized. */
typedef struct sb__resize_call {
  int method; /* 0: nearest, 1: bilinear, 2: bicubic */
  bool antialias;
  bool alpha;     /* the last element along axis is, and weights the others; not of nearest */
  int32_t axis;   /* of channels: factors are along it; -1: there is one for all */
  sb_dtype dtype; /* of the result, before it is cast to the target's */
  sb_casting casting;
} sb__resize_call;

/* resize.c: the last two axes of an image in another size, as PyTorch's interpolate: pixels' centres are halves. The other axes are alike.
 * Results are rounded to the nearest integer, where the target is of these, and clamped.
 *
 *   factors  NULL, or float64 of shape [2, n]: what results are multiplied with, and what is added then
 *
 * Errors  SB_ERR_SHAPE the source has no pixels · SB_ERR_DTYPE complex numbers, bool and float8, unless items are copied by method 0 ·
 *         SB_ERR_CAST · SB_ERR_MEMORY */
sb_status sb__resize(const sb_tensor *to, const sb_tensor *from, const sb_tensor *factors,
                     const sb__resize_call *call, int64_t *staged);

/* pad.c: copies the source into the target, `before` elements from its beginning along each axis, and writes a border around it.
 *
 *   mode   0: of the value, 1: mirrored at the edge, which is not repeated, 2: of the edge
 *
 * Errors  SB_ERR_SHAPE · SB_ERR_CAST, also of the value · SB_ERR_MEMORY */
sb_status sb__pad(const sb_tensor *to, const sb_tensor *from, const int64_t *before, int64_t count,
                  const sb_scalar *value, int mode, sb_casting casting, int64_t *staged);

/* pad.c: resizes into a part of the target, and writes a border around it of the value, which is scaled as the image is.
 *
 *   place  where the part begins along the last two axes, and its extents there
 *
 * Errors  as sb__resize · SB_ERR_SHAPE the part is not within the target */
sb_status sb__resize_within(const sb_tensor *to, const sb_tensor *from, const sb_tensor *factors,
                            const sb__resize_call *call, const int64_t *place, double value,
                            int64_t *staged);

/* boxes.c: indices of boxes [x1, y1, x2, y2] in the order of scores, without those that have more in common with one before.
 *
 *   to       int32, dense, with room for as many as there may be
 *   boxes    [n, 4]
 *   scores   [n]
 *   classes  NULL, or [n] of integers: boxes of different ones suppress none of each other
 *   most     of intersection over union
 *   least    boxes whose score is not greater are left out; rounded to floats as scores have them. NaN: none is
 *   found    gets how many there are */
sb_status sb__nms(const sb_tensor *to, const sb_tensor *boxes, const sb_tensor *scores,
                  const sb_tensor *classes, double most, double least, int64_t limit,
                  double *found);

/* boxes.c: intersection over union of boxes: [..., 4] and [..., n, 4] give [..., n]. */
sb_status sb__iou(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b, sb_casting casting,
                  int64_t *staged);

/* boxes.c: where a letterbox shows an image; pairs of x and y. */
typedef struct sb__letterbox {
  double before[2], scale[2], size[2]; /* size: of the image, in pixels */
  bool is_clipped;
} sb__letterbox;

/* boxes.c: boxes of a letterbox, in the pixels of its image. */
sb_status sb__unletterbox(const sb_tensor *to, const sb_tensor *boxes, const sb__letterbox *box,
                          sb_casting casting, int64_t *staged);

/* boxes.c: 1 at each index along the target's last axis, else 0. Errors  SB_ERR_BOUNDS an index is outside; nothing is written */
sb_status sb__one_hot(const sb_tensor *to, const sb_tensor *indices, int64_t *staged);
/* fft.c: Fourier transforms along the last axis. Computed in float64.
 *
 *   kind   complex, real (n / 2 + 1 elements are written), or hermitian (n / 2 + 1 are read, n real ones written)
 *   flags  SB__FFT_INVERSE, SB__FFT_CONJUGATE: of what is read where it is hermitian, else of what is written
 *   n      of the result, or of what is read where it is real; lines are cut or filled with 0
 *   scale  what results are multiplied by
 *   made   the result's dtype: float32, float64, or of two such parts; converted to the target's
 *
 * Errors  SB_ERR_SHAPE · SB_ERR_DTYPE bool, float8, complex numbers as real ones · as sb__cores_run */
typedef enum sb__fft_kind { SB__FFT_COMPLEX, SB__FFT_REAL, SB__FFT_HERMITIAN } sb__fft_kind;
#define SB__FFT_INVERSE 1
#define SB__FFT_CONJUGATE 2
sb_status sb__fft(const sb_tensor *to, const sb_tensor *from, sb__fft_kind kind, int64_t flags,
                  int64_t n, double scale, sb_dtype made, sb_casting casting, int64_t *staged);

/* Of frames, the last axis of which is multiplied by a window of one axis. kind: real, or complex: then all n elements are written. */
sb_status sb__frames_fft(const sb_tensor *to, const sb_tensor *frames, const sb_tensor *window,
                         sb__fft_kind kind, double scale, sb_dtype made, sb_casting casting,
                         int64_t *staged);

/* Of frames [..., n], the squares of absolute values, multiplied by filters [mels, n / 2 + 1]: [..., mels]. */
sb_status sb__frames_mel(const sb_tensor *to, const sb_tensor *frames, const sb_tensor *window,
                         const sb_tensor *filters, sb_casting casting, int64_t *staged);

/* signals.c: a0 - a1 cos(2 pi k / n), a vector; n: its elements, less 1 where it is not periodic. */
sb_status sb__window(const sb_tensor *to, bool is_periodic, double a0, double a1,
                     sb_casting casting, int64_t *staged);

/* Frequencies of the n elements of a transform, of samples that are `spacing` apart: 0, 1, ... and negative ones, or the n / 2 + 1 from 0 on. */
sb_status sb__frequencies(const sb_tensor *to, int64_t n, bool is_half, double spacing,
                          sb_casting casting, int64_t *staged);

/* Triangular filters [mels, n / 2 + 1] over frequencies.
 *
 *   is_htk   the scale is 2595 log10(1 + f / 700); else Slaney's: linear below 1000 Hz
 *   is_area  filters are divided by their width */
sb_status sb__mel_filters(const sb_tensor *to, int64_t n, bool is_htk, bool is_area, double rate,
                          double low, double high, sb_casting casting, int64_t *staged);

/* Lines with elements before and after them: 0 (mode 0), reflected without the edge (1), of the edge (2), or of the other end (3).
 *
 * Errors  SB_ERR_SHAPE there are not enough to reflect */
sb_status sb__pad_lines(const sb_tensor *to, const sb_tensor *from, int64_t before, int64_t mode,
                        int64_t *staged);

/* Frames [..., frames, n] times window, added at multiples of hop, and divided by the sum of the windows' squares: a line of the target
 * begins `skipped` elements after the first frame.
 *
 * Errors  SB_ERR_ARGUMENT the sum is 0 somewhere */
sb_status sb__overlap_add(const sb_tensor *to, const sb_tensor *frames, const sb_tensor *window,
                          int64_t hop, int64_t skipped, sb_casting casting, int64_t *staged);

/* Elements moved along axes by half their number (inverse: by the other half), round about. */
sb_status sb__fft_shift(const sb_tensor *to, const sb_tensor *from, int64_t naxes,
                        const int64_t *axes, bool is_inverse, int64_t *staged);

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
/* matmul.c: how sums are computed. The first two have the same bits everywhere. */
typedef enum sb__matmul_accuracy {
  SB__MATMUL_IDENTICAL, /* in the dtype, of shorter floats in float32; products are rounded */
  SB__MATMUL_PRECISE,   /* in float64, rounded once */
  SB__MATMUL_FAST,      /* as the first, but products may be not rounded */
} sb__matmul_accuracy;

/* Matrix products over batches, which are alike in all operands. Sources that the target overlaps are copied first.
 *
 *   to             [..., m, n]; any strides, as a and b
 *   a, b           [..., m, k] and [..., k, n]; zeros come of k 0
 *   is_conjugated  a's complex elements are conjugated
 *   asked          as of sb__cross
 *   staged         gets bytes that were copied because of overlaps, added
 *
 * Errors  SB_ERR_SHAPE · SB_ERR_DTYPE bool, float8 · SB_ERR_CAST · SB_ERR_MEMORY, as sb_copy */
sb_status sb__matmul(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b,
                     sb_casting casting, int64_t accuracy, bool is_conjugated, int64_t asked,
                     int64_t *staged);

#endif
