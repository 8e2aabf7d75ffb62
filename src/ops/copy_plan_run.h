/* Runs a plan: moves or converts every element. */
#ifndef SB_COPY_PLAN_RUN_H
#define SB_COPY_PLAN_RUN_H

#include "kernels/kernels.h"
#include "ops/plan.h"

typedef struct sb__job {
  const sb__plan *plan;
  char *base[SB__PLAN_MAX]; /* address of each tensor's first element */
  sb_dtype to, from;
  bool scaled;   /* operands 2 and 3 are the factors, float64 */
  bool in_place; /* what is written is what was read, element by element */
} sb__job;

void sb__run_job(const sb__job *job);

/* Copies bytes that do not overlap. */
void sb__run_bytes(char *to, const char *from, int64_t nbytes);

/* Writes the bytes of one item to every element. t has elements. */
void sb__run_fill(const sb_tensor *t, const char *item);

/* Is what is computed between them float64? Else it is float32. */
bool sb__is_wide(sb_dtype dtype);

#endif
