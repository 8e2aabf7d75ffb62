/* Lines: functions that need all elements along some axes at once. lines.c gathers lines and puts results in place; softmax.c and select.c
 * compute. */
#ifndef SB_MATH_LINES_H
#define SB_MATH_LINES_H

#include "math/reduce.h"

#define SB__LINES_MOST 256 /* lines of a call */
#define SB__RANKS_MOST 256

/* One call: `count` lines of n elements, one after the other, all of dtype `load`. */
typedef struct sb__line_call {
  int32_t op;
  sb_dtype load;    /* SB_FLOAT32 or SB_FLOAT64 */
  const void *from; /* the lines; may be what follows */
  void *lines; /* memory of their size: gets the results, where they are as many as the elements */
  int64_t count, n; /* count: at most SB__LINES_MOST */
  void *made;       /* else gets `results` for each line; log_softmax: memory of the lines' size */
  int64_t results;  /* of a line */
  const int64_t *ranks; /* quantile: of each result, from 0 to n - 1 */
} sb__line_call;

/* softmax.c; n may be 0 for log_sum_exp. */
void sb__softmax_lines(const sb__line_call *c);
/* select.c: the elements that sorted lines would have at the ranks; NaN where a line has one, or n is 0. */
void sb__select_lines(const sb__line_call *c);

/* lines.c: computes every element of to.
 *
 *   op     a reduction of the group LINES
 *   axes   the last ones of from, that make a line
 *   to     has from's other axes first, then, for softmax and log_softmax, the same as from; else any, with as many elements as a line has
 *          results; may be from, or overlap it
 *   count  of ranks; 0 for other functions
 *   asked, casting, staged  as of sb__math_reduce
 *
 * Errors  as sb__reduction_of and sb_copy · SB_ERR_SHAPE to has another shape · SB_ERR_BOUNDS a rank outside, or more than
 *         SB__RANKS_MOST */
sb_status sb__math_lines(int64_t op, const sb_tensor *to, const sb_tensor *from, int64_t axes,
                         int64_t count, const int64_t *ranks, int64_t asked, sb_casting casting,
                         int64_t *staged);

#endif
