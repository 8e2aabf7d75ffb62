/* Runs a copy or a fill by its plan, on as many threads as it is worth. */
#ifndef SB_COPY_PLAN_RUN_H
#define SB_COPY_PLAN_RUN_H

#include "kernels/kernels.h"
#include "ops/plan.h"

typedef struct sb__job {
  const sb__plan *plan;
  char *base[SB__PLAN_MAX]; /* address of each tensor's first element */
  sb_dtype to, from;
  bool scaled;   /* operands 2 and 3 are the factors, float64 */
  bool in_place; /* target and source are the same elements */
} sb__job;

void sb__run_job(const sb__job *job);

/* Copies bytes that do not overlap. */
void sb__run_bytes(char *to, const char *from, int64_t nbytes);

/* Writes the bytes of one item to every element. t has elements. */
void sb__run_fill(const sb_tensor *t, const char *item);

/* Scaled copies from or to such a dtype compute in float64, all others in float32. */
bool sb__computes_in_float64(sb_dtype dtype);

#endif
