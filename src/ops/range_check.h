/* Range checks: which values a dtype can represent. */
#ifndef SB_RANGE_CHECK_H
#define SB_RANGE_CHECK_H

#include "core/core.h"
#include "kernels/kernels.h"

/* SB_ERR_CAST where one of n values is out of to's range; the message names the first one. */
sb_status sb__check_range(const sb__chunk *x, sb__form form, sb_dtype to, int64_t n);

/* An integer from -2^63 to 2^64 - 1. */
typedef struct sb__integer {
  bool negative;
  uint64_t bits; /* two's complement */
} sb__integer;

/* Reads a scalar as an integer. name: the argument's, for messages.
 *
 * Errors  SB_ERR_BOUNDS it is a real that is no 64-bit integer · SB_ERR_ARGUMENT it is complex */
sb_status sb__integer_of(const char *name, const sb_scalar *value, sb__integer *out);

/* The lowest and the highest value of an integer dtype or bool. */
sb__integer sb__lowest(sb_dtype dtype);
sb__integer sb__highest(sb_dtype dtype);
bool sb__is_above(sb__integer a, sb__integer b);
bool sb__integer_fits(sb__integer x, sb_dtype dtype);

#endif
