/* Copies for those who do not make them in one call: checked first, then run whole or piece by piece. */
#ifndef SB_COPY_H
#define SB_COPY_H

#include "core/core.h"

typedef struct sb__copy {
  const sb_tensor *dst, *src;
  const sb_tensor *scale, *bias; /* as in sb_copy_scaled; NULL: none */
  int64_t axis;                  /* of the factors */
  sb_casting casting;
} sb__copy;

/* sb_copy or sb_copy_scaled. */
sb_status sb__copy_run(const sb__copy *c, int64_t *staged);

/* The factors of a scaled copy in dst's shape, if they are what sb_copy_scaled takes. */
sb_status sb__copy_spread(const sb__copy *c, sb_tensor *scale, sb_tensor *bias);

/* Moves n bytes from one storage to another (or within it), each from a place in bytes; all must lie
 * inside. What is left of a copy between dense layouts of one dtype and shape. */
sb_status sb__copy_bytes(sb_storage *to, int64_t to_at, const sb_storage *from, int64_t from_at,
                         int64_t n);

/* What sb__copy_run would refuse before it writes. collides: dst overlaps what is read, so that pieces
 * would overwrite what others have yet to read. */
sb_status sb__copy_check(const sb__copy *c, bool *collides);

/* ---- pieces.c ---- */

/* Extents of the pieces that t is to be cut into, of at most `most` elements. The outermost axis (in
 * memory) that alone makes them small enough is cut; where there is none, or where each piece has to
 * lie in one stretch of memory (compact), the outer axes are taken one index at a time. Returns the axis
 * along which pieces follow each other. */
int32_t sb__cut(const sb_tensor *t, int64_t most, bool compact, int64_t *extents);

/* Copies in pieces and looks at stop before each. done: all were copied. src does not collide. */
sb_status sb__copy_in_pieces(const sb__copy *c, int64_t most, const atomic_bool *stop, bool *done);

#endif
