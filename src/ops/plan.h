/* How to walk several tensors of one shape together: dimensions dropped, flipped, sorted and merged, and
 * the kind of loop that fits what is left. Numbers in, numbers out: it touches no element, so that every
 * device can use it. */
#ifndef SB_PLAN_H
#define SB_PLAN_H

#include "core/core.h"

#define SB__PLAN_MAX 4 /* operands: what is written, what is read, two factors */

typedef enum sb__plan_kind {
  SB__PLAN_ROWS,      /* rows lie side by side in both */
  SB__PLAN_TRANSPOSE, /* rows lie side by side in what is written, columns in what is read */
  SB__PLAN_SPLIT, /* columns are 2 to 4 channels, side by side in what is read, planes afterwards */
  SB__PLAN_JOIN,  /* rows are 2 to 4 channels, planes in what is read, side by side afterwards */
  SB__PLAN_STRIDED, /* anything else */
} sb__plan_kind;

typedef struct sb__plan_dim {
  int64_t n;
  int64_t step[SB__PLAN_MAX]; /* bytes from one index to the next, of each operand */
} sb__plan_dim;

typedef struct sb__plan {
  sb__plan_kind kind;
  int32_t count;               /* operands */
  int32_t ndim;                /* of outer */
  int64_t first[SB__PLAN_MAX]; /* bytes from each tensor's first element to where walking starts */
  sb__plan_dim row;            /* the innermost dimension of what is written */
  sb__plan_dim column;         /* the other one that a loop takes; n is 1 if there is none */
  sb__plan_dim more;           /* TRANSPOSE: goes on where a row of what is written ends; or 1 */
  sb__plan_dim outer[SB_MAX_DIMS]; /* outermost first */
} sb__plan;

/* tensors: what is written, what is read, factors; all of the first one's shape, with at least one
 * element. keep_order: elements are met in row-major order, as errors that name the first one need. */
void sb__plan_make(int32_t count, const sb_tensor *const tensors[], bool keep_order,
                   sb__plan *plan);

/* Part i of count of the same work, for another thread: together they write every element once. */
void sb__plan_part(const sb__plan *plan, int count, int i, sb__plan *part);

int64_t sb__plan_numel(const sb__plan *plan);

/* Walks the outer dimensions. */
typedef struct sb__walk {
  char *at[SB__PLAN_MAX]; /* where the row and the column start */
  int64_t index[SB_MAX_DIMS];
} sb__walk;
void sb__walk_begin(const sb__plan *plan, char *const base[], sb__walk *walk);
bool sb__walk_next(const sb__plan *plan, sb__walk *walk); /* false after the last */

#endif
