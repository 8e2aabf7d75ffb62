/* Copies that are checked in one call and run in others, whole or piece by piece. */
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

/* Broadcasts the factors of a scaled copy to dst's shape. Errors as sb_copy_scaled. */
sb_status sb__copy_spread(const sb__copy *c, sb_tensor *scale, sb_tensor *bias);

/* Copies n bytes from one storage to another, or within one; offsets are bytes. SB_ERR_BOUNDS where they leave a
 * storage. A copy between dense layouts of one dtype and shape comes down to this. */
sb_status sb__copy_bytes(sb_storage *to, int64_t to_at, const sb_storage *from, int64_t from_at,
                         int64_t n);

/* Fails where sb__copy_run would fail before it writes. collides: dst overlaps src, so that one piece would overwrite
 * elements that a later one reads. */
sb_status sb__copy_check(const sb__copy *c, bool *collides);

/* SB_ERR_CAST where the rule forbids the cast. */
sb_status sb__check_cast(sb_dtype from, sb_dtype to, sb_casting casting);

/* The same of an operand and the dtype that was asked for: no option allows that cast, since `casting` is that of the result. */
static inline sb_status sb__check_operand_cast(sb_dtype from, sb_dtype to) {
  if (sb__check_cast(from, to, SB_CASTING_SAME_KIND) == SB_OK) return SB_OK;
  return sb__fail(SB_ERR_CAST,
                  "%s does not cast to %s under casting 'same_kind'; astype converts operands",
                  sb_dtype_name(from), sb_dtype_name(to));
}

/* Compares address ranges only: interleaved tensors count as overlapping, and are staged without need. */
bool sb__may_overlap(const sb_tensor *a, const sb_tensor *b);

/* Each element of dst has the same bytes as the same element of src, so overlap does no harm. Both have one shape. */
bool sb__is_in_place(const sb_tensor *dst, const sb_tensor *src);

/* Writes a scalar as an element of a dtype: at most 16 bytes, aligned for it. SB_ERR_CAST where it is out of range. */
sb_status sb__item_of(const sb_scalar *value, sb_dtype dtype, char *item);

/* ---- pieces.c ---- */

/* Computes the extents of pieces of t with at most `most` elements. Cuts the outermost axis (in memory) whose cut
 * alone makes pieces small enough. Where there is none, or where each piece must be one range of memory (compact),
 * outer axes are cut to single indices. Returns the axis along which pieces follow each other. */
int32_t sb__piece_extents(const sb_tensor *t, int64_t most, bool compact, int64_t *extents);

/* Copies in pieces; stops before the next piece once stop is set. done: all were copied. The copy must not collide. */
sb_status sb__copy_in_pieces(const sb__copy *c, int64_t most, const atomic_bool *stop, bool *done);

#endif
