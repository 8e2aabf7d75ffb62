/* What random fills share with who splits them between threads. */
#ifndef SB_OPS_RANDOM_H
#define SB_OPS_RANDOM_H

#include "core/core.h"
#include "kernels/kernels.h"

/* Draws elements first to first + n of t, in row-major order: t has elements and was checked, how is
 * complete. Any split gives the same bytes, and parts may be drawn at the same time. */
void sb__random_range(const sb_tensor *t, const sb__random *how, int64_t first, int64_t n);

#endif
