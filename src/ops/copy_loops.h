/* The loops of a copy: one for each kind of plan, and what they share. copy_plan_run.c chooses among them. */
#ifndef SB_COPY_LOOPS_H
#define SB_COPY_LOOPS_H

#include "ops/copy_plan_run.h"

#ifdef __wasm__
# define SB__CAN_STREAM false
#else
# define SB__CAN_STREAM true
#endif

/* A copy and the loops chosen for it. A thread's runner has its own part of the plan. */
typedef struct sb__runner {
  const sb__job *job;
  const sb__plan *plan;
  const sb__kernels *kernels;
  int64_t to_size, from_size; /* bytes of an element */
  bool converts;              /* dtypes differ, or there are factors */
  bool forms;                 /* by sb__casts: there is no loop for this pair of dtypes */
  bool single;                /* factors are float32 */
  bool streams;               /* store with non-temporal stores */
  sb__masks masks;            /* of SPLIT and JOIN */
  sb__cast load, store;       /* to float32, from float32; NULL: that side is float32 */
  sb__cast direct;            /* from dtype to dtype in one loop; NULL: there is none */
  sb__cast nontemporal;       /* the same with non-temporal stores */
  sb__scaled_cast nontemporal_scaled;
} sb__runner;

/* Factors of a row: where they start, and their steps in bytes. */
typedef struct sb__factors {
  const char *scale, *bias;
  int64_t scale_step, bias_step;
} sb__factors;

static inline sb__factors sb__factors_at(const sb__runner *r, char *const at[],
                                         const sb__plan_dim *along) {
  if (!r->job->scaled) return (sb__factors){0};
  return (sb__factors){at[2], at[3], along->step[2], along->step[3]};
}

static inline int64_t sb__least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Copies or converts n elements that are contiguous on both sides. */
void sb__store_row(const sb__runner *r, char *to, const char *from, int64_t n, sb__factors f);

/* One loop for each kind of plan. at: for each operand, the address of the row's and column's first element. */
void sb__copy_rows(const sb__runner *r, char *const at[]);
void sb__copy_transpose(const sb__runner *r, char *const at[]);
void sb__copy_split(const sb__runner *r, char *const at[]);
void sb__copy_join(const sb__runner *r, char *const at[]);
void sb__copy_strided(const sb__runner *r, char *const at[]);

#endif
