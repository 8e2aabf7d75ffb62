/* Fourier transforms: lengths, tables, and the loops over lanes. Everything is computed in float64.
 *
 * A length of factors up to 31 is transformed by Stockham's passes, over some lines at once, one in each lane of a vector. If it is long, it
 * is seen as a matrix: its columns are the lanes, then its rows, with a product by roots of unity in between (four-step). Any other length
 * is a convolution of such a length (Bluestein). What is added to what depends on the length alone. */
#ifndef SB_FFT_H
#define SB_FFT_H

#include "math/algorithms.h"

#define SB__FFT_SHORT 256 /* lengths up to it are done line by line in lanes */
#define SB__FFT_GROUP 8   /* lines that are worth a call; a multiple of all widths of vectors */
#define SB__FFT_PRIME 31  /* the greatest factor of a pass */
#define SB__FFT_PASSES 40 /* at most: of 2^63 there are 32 */
#define SB__FFT_STEPS 32  /* of a column's roots, between two that are looked up */

/* exp(-2 pi i k / n) for the first k, as products of coarse[k / size] and fine[k % size]; pairs of numbers. */
typedef struct sb__roots {
  int64_t n;
  int shift; /* size: 1 << shift */
  double *fine, *coarse;
} sb__roots;

typedef struct sb__fft_pass {
  int radix;
  int64_t rest;        /* what is left of the length afterwards */
  const double *roots; /* rest times radix - 1 pairs */
  const double *own;   /* the radix' own roots, of one that has no code of its own */
} sb__fft_pass;

/* A length that one array of lanes has. */
typedef struct sb__fft_lanes {
  int64_t n;
  int passes;
  sb__fft_pass pass[SB__FFT_PASSES];
  double *tables;
} sb__fft_lanes;

/* A length n = columns.n * rows.n; rows.n is 1 of a short one. */
typedef struct sb__fft_smooth {
  int64_t n, pitch; /* pitch: elements between rows of the matrix in between */
  sb__fft_lanes columns, rows;
  sb__roots roots;
} sb__fft_smooth;

typedef struct sb__fft_plan {
  int64_t n;
  sb__fft_smooth smooth; /* of n, or of a convolution where chirp is not NULL */
  double *chirp;         /* exp(-pi i k^2 / n), n pairs */
  double *
      kernel; /* the transform of its conjugate, both ways from 0, divided by the length; two parts of smooth.n */
} sb__fft_plan;

/* fft_levels.c: loops of one instruction set. */
typedef struct sb__fft_loops {
  /* Transforms lines in place.
   *
   *   re, im   of the first line; the next ones are `stride` elements further
   *   scratch  sb__fft_scratch(plan) elements, aligned to 64 bytes */
  void (*run)(const sb__fft_smooth *f, double *re, double *im, int64_t lines, int64_t stride,
              double *scratch);
} sb__fft_loops;

const sb__fft_loops *sb__fft_loops_now(void);

/* fft_plan.c. exp(-2 pi i k / n), 0 <= k < n; each part is off by one unit in the last place at most. */
void sb__root(int64_t k, int64_t n, double root[2]);

/* For k below count, which is at most n.
 *
 * Errors  SB_ERR_MEMORY; nothing is to be released then */
sb_status sb__roots_make(int64_t n, int64_t count, sb__roots *out);
void sb__roots_release(sb__roots *r);

static inline void sb__root_at(const sb__roots *r, int64_t k, double root[2]) {
  const double *a = r->coarse + 2 * (k >> r->shift);
  const double *b = r->fine + 2 * (k & ((INT64_C(1) << r->shift) - 1));
  root[0] = a[0] * b[0] - a[1] * b[1];
  root[1] = a[0] * b[1] + a[1] * b[0];
}

/* n is at least 1, at most 2^48. Errors as sb__roots_make */
sb_status sb__fft_plan_make(int64_t n, sb__fft_plan *out);
void sb__fft_plan_release(sb__fft_plan *plan);

/* Elements of scratch. */
int64_t sb__fft_scratch(const sb__fft_plan *plan);

/* Transforms lines in place, as sb__fft_loops.run; with re and im exchanged that is the inverse, not divided by n. */
void sb__fft_run(const sb__fft_plan *plan, double *re, double *im, int64_t lines, int64_t stride,
                 double *scratch);

#endif
