/* Walks several tensors of one shape together, row by row. */
#ifndef SB_LOOP_H
#define SB_LOOP_H

#include "core/core.h"

#define SB__LOOP_MAX 4 /* tensors */

typedef struct sb__loop {
  int64_t n;                  /* elements in a row */
  int64_t step[SB__LOOP_MAX]; /* bytes from one element of the row to the next */
  char *at[SB__LOOP_MAX];     /* the row's first element */
  /* Axes outside the row, innermost last, merged where all tensors allow. */
  int32_t count, ndim;
  int64_t shape[SB_MAX_DIMS], index[SB_MAX_DIMS];
  int64_t steps[SB__LOOP_MAX][SB_MAX_DIMS]; /* bytes */
} sb__loop;

/* tensors: count of them, all of the first one's shape, with at least one element. */
void sb__loop_begin(sb__loop *loop, int32_t count, const sb_tensor *const tensors[]);

/* Goes to the next row; false after the last one. */
bool sb__loop_next(sb__loop *loop);

#endif
