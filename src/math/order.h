/* The order of elements, as unsigned integers: a key is less where its element comes first. -0 equals 0, NaN equals NaN. */
#ifndef SB_ORDER_H
#define SB_ORDER_H

#include "math/algorithms.h"
#include "kernels/convert.h"

typedef struct sb__order {
  sb_dtype
      dtype; /* that elements are read in, and of as many bits as their keys: an integer or a float of 32, or 64 */
  sb_kind kind;  /* of dtype */
  bool is_wide;  /* 64 bits */
  uint64_t flip; /* all bits: descending */
  uint64_t nan;  /* its key. A key of 32 bits has the lower half of these two */
} sb__order;

/* The ascending order of a dtype's elements, NaN last.
 *
 *   is_wide  at least; dtypes of more than 32 bits are anyway
 *
 * Errors  SB_ERR_DTYPE complex numbers */
sb_status sb__order_of(const char *name, sb_dtype dtype, bool is_wide, sb__order *out);

/* sort.c: keys of elements of 64 bits; in place if to is from. */
void sb__keys_wide(uint64_t *to, const uint64_t *from, int64_t n, const sb__order *o);

/* sort.c: sorts keys. Returns where they are then: a, or b, which has the same size. */
uint64_t *sb__sort_wide(uint64_t *a, uint64_t *b, int64_t n);

/* Where a value stands to a key: just below it, at it, just above. */
enum { SB__BELOW = -1, SB__AT, SB__ABOVE };

/* search.c: the 64-bit integer next to a double on the side of 0, or the limit beyond which it is, and where the double stands to it.
 * NaN is above all. */
uint64_t sb__near_integer(double x, bool is_signed, int *stands);

static inline bool sb__is_nan_key(uint64_t key, const sb__order *o) {
  return o->kind == SB_FLOATING && key == o->nan;
}

/* Indices and counts are written as int32 or int64. */
static inline sb_dtype sb__index_dtype(const sb_tensor *t) {
  return t->dtype == SB_INT32 ? SB_INT32 : SB_INT64;
}

static inline void sb__put_index(char *to, bool is_short, int64_t i, int64_t value) {
  if (is_short)
    ((int32_t *)(void *)to)[i] = (int32_t)value;
  else
    ((int64_t *)(void *)to)[i] = value;
}

#endif
