/* A reduction on its way: what reduce.c folds and reduce_results.c makes results of. Only they read this. */
#ifndef SB_MATH_REDUCE_WALK_H
#define SB_MATH_REDUCE_WALK_H

#include "math/reduce.h"

/* A reduction: its operands, and how it goes over them. */
typedef struct walk {
  const sb__reduction *how;
  const sb__fold_loops *loops;
  double correction;
  const char *from;
  char *to;
  sb_dtype from_dtype, to_dtype;
  sb__plan kept; /* the outputs: operand 0 is the target, 1 the source */
  int32_t ndim;  /* of the reduction, merged, in logical order */
  int64_t n[SB_MAX_DIMS], step[SB_MAX_DIMS]; /* step: bytes */
  int64_t length;                            /* elements of a reduction */
  bool is_rows, is_direct;
  int32_t along; /* is_direct: the outputs' dimension that boxes extend along; -1: none */
  int64_t chunk[SB_MAX_DIMS]; /* outputs of a box along each dimension */
  int64_t outputs;            /* of a whole box */
  int64_t boxes;
  int64_t piece; /* columns that are gathered: how many elements at a time */
  int64_t span;  /* elements for each call of the loop: a power of two of blocks */
} walk;

/* A box of outputs. */
typedef struct box {
  int64_t n[SB_MAX_DIMS], outputs;
  const char *from;
  char *to;
  int64_t
      step; /* is_direct: bytes from one output to the next, or, of columns, to the next element */
} box;

/* Room of one thread. */
typedef struct room {
  char *lanes, *tile, *made;
  double *shift;
  char *subtrees;  /* folded values, and indices after them */
  int64_t subtree; /* bytes of each */
} room;

/* How folded values of two neighbours become one. */
typedef enum join {
  ADD,
  ADD_INTEGERS,
  MULTIPLY,
  MULTIPLY_INTEGERS,
  MULTIPLY_COMPLEX,
  MOST,
  WHERE
} join;

typedef struct fold_sizes {
  int64_t element, lane, folded;
  join join;
} fold_sizes;

static const fold_sizes sizes[SB__FOLD_COUNT] = {
#define X(name, element, lane, folded, join) {element, lane, folded, join},
    SB__FOLDS(X)
#undef X
};

static const fold_sizes *sizes_of(const walk *w) { return &sizes[w->how->fold]; }

static char *subtree_at(const room *m, int depth) { return m->subtrees + depth * m->subtree; }

static int64_t *index_at(const walk *w, char *folded, int64_t outputs) {
  return (int64_t *)(void *)(folded + outputs * sizes_of(w)->folded);
}

/* The folded value of a reduction without elements. */
void sb__fold_nothing(const walk *w, const room *m, int64_t outputs);
/* Makes results of folded values, in the dtype `made`. */
void sb__finish_folded(const walk *w, const room *m, int64_t outputs);
/* Writes a box's results to its target, in the target's dtype. */
void sb__store_results(const walk *w, const room *m, const box *b);

#endif
