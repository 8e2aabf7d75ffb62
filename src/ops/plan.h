/* Plans: how to walk several tensors of one shape together. Dimensions are dropped, flipped, sorted and merged; the kind
 * says which loop fits the rest. Planning touches no element, so devices use it as well. */
#ifndef SB_PLAN_H
#define SB_PLAN_H

#include "core/core.h"

#define SB__PLAN_MAX 4 /* operands: target, source, two factors */

#define SB__PLAN_BLOCK 64 /* most elements of a block */
#define SB__PLAN_INNER 6  /* most dimensions of a block, each of 2 or more */

typedef enum sb__plan_kind {
  SB__PLAN_ROWS,      /* rows are contiguous in target and source */
  SB__PLAN_TRANSPOSE, /* rows are contiguous in the target, columns in the source, or backward there */
  SB__PLAN_BLOCKS, /* anything else: a row is a row of blocks, each of the few elements of the inner dimensions */
} sb__plan_kind;

typedef struct sb__plan_dim {
  int64_t n;
  int64_t step[SB__PLAN_MAX]; /* bytes from one index to the next, for each operand */
} sb__plan_dim;

typedef struct sb__plan {
  sb__plan_kind kind;
  int32_t count;               /* operands */
  int32_t ndim;                /* of outer */
  int64_t first[SB__PLAN_MAX]; /* bytes from each tensor's first element to the walk's first one */
  sb__plan_dim row;    /* the target's innermost dimension; BLOCKS: the one outside of inner */
  sb__plan_dim column; /* the second dimension of a loop; n is 1 if there is none */
  sb__plan_dim
      more; /* TRANSPOSE: a dimension that continues the target's rows; n is 1 if there is none */
  sb__plan_dim beside; /* TRANSPOSE: one that continues the source's short columns, likewise */
  int32_t ninner;      /* of inner; 0: a block is one element */
  sb__plan_dim inner[SB__PLAN_INNER]; /* BLOCKS: outermost first */
  sb__plan_dim outer[SB_MAX_DIMS];    /* outermost first */
} sb__plan;

static inline int64_t sb__absolute(int64_t x) { return x < 0 ? -x : x; }

/* The first part of sb__plan_make, for at most SB__PLAN_MAX operands of any kind: sets count, first, ndim and outer, of dimensions
 * that are dropped, flipped, sorted and merged. */
void sb__plan_merge(int32_t count, const sb_tensor *const tensors[], bool keep_order,
                    sb__plan *plan);

/* tensors: target, source, factors; all of the first one's shape, with at least one element. keep_order: the walk is in
 * row-major order, for errors that name the first element. */
void sb__plan_make(int32_t count, const sb_tensor *const tensors[], bool keep_order,
                   sb__plan *plan);

/* Part i of count, for one thread. Together the parts write every element once. */
void sb__plan_part(const sb__plan *plan, int count, int i, sb__plan *part);

int64_t sb__plan_numel(const sb__plan *plan);

/* Where an operand's bytes begin and end, counted from the walk's first element. size: bytes of an element. */
void sb__plan_range(const sb__plan *plan, int32_t operand, int64_t size, int64_t *low,
                    int64_t *high);

/* Walks the outer dimensions. */
typedef struct sb__walk {
  char *at[SB__PLAN_MAX]; /* where row and column begin */
  int64_t index[SB_MAX_DIMS];
} sb__walk;
void sb__walk_begin(const sb__plan *plan, char *const base[], sb__walk *walk);
bool sb__walk_next(const sb__plan *plan, sb__walk *walk); /* false after the last */

#endif
