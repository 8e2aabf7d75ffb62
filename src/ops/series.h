/* Checks evenly spaced numbers without a tensor. */
#ifndef SB_SERIES_H
#define SB_SERIES_H

#include "core/core.h"

/* Fails as sb_arange would for numel elements. */
sb_status sb__arange_check(sb_dtype dtype, int64_t numel, const sb_scalar *start,
                           const sb_scalar *step);

#endif
