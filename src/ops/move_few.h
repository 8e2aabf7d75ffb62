/* Elements that are moved without a plan. */
#ifndef SB_MOVE_FEW_H
#define SB_MOVE_FEW_H

#include "core/core.h"

/* Writes an element of 1, 2, 4, 8 or 16 bytes n times, side by side. */
void sb__repeat(char *to, const char *item, int64_t size, int64_t n);

/* Moves elements of 1, 2, 4, 8 or 16 bytes, one by one or in rows, along the longest dimensions. What is written does not overlap what is read.
 *
 *   n, to_steps, from_steps  of each dimension: elements, at least one; bytes from one to the next */
void sb__move_few(int64_t size, int32_t ndim, const int64_t *n, const int64_t *to_steps,
                  const int64_t *from_steps, char *to, const char *from);

#endif
