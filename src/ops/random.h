/* Ranges of random fills, for threads and asynchronous pieces. */
#ifndef SB_OPS_RANDOM_H
#define SB_OPS_RANDOM_H

#include "core/core.h"
#include "kernels/kernels.h"

/* Draws elements first to first + n of t in row-major order. t is checked and not empty; how is complete. Any split
 * gives the same bytes, and ranges may be drawn concurrently. */
void sb__random_range(const sb_tensor *t, const sb__random *how, int64_t first, int64_t n);

#endif
