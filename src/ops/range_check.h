/* Do values that a person wrote fit a dtype? */
#ifndef SB_RANGE_CHECK_H
#define SB_RANGE_CHECK_H

#include "core/core.h"
#include "kernels/kernels.h"

/* The first of n values that does not fit is named by the error. */
sb_status sb__check_range(const sb__chunk *x, sb__form form, sb_dtype to, int64_t n);

/* An integer from -2^63 to 2^64 - 1. */
typedef struct sb__integer {
  bool negative;
  uint64_t bits; /* two's complement */
} sb__integer;

/* A scalar as an integer; name is the argument's. SB_ERR_BOUNDS: it is none of 64 bits. */
sb_status sb__integer_of(const char *name, const sb_scalar *value, sb__integer *out);

/* Lowest and highest value of an integer dtype or bool. */
sb__integer sb__lowest(sb_dtype dtype);
sb__integer sb__highest(sb_dtype dtype);
bool sb__is_above(sb__integer a, sb__integer b);
bool sb__integer_fits(sb__integer x, sb_dtype dtype);

#endif
