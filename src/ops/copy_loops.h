/* The loops of a copy, which copy_plan_run.c chooses among, and what they share. */
#ifndef SB_COPY_LOOPS_H
#define SB_COPY_LOOPS_H

#include "ops/copy_plan_run.h"

#ifdef __wasm__
# define SB__CAN_STREAM false
#else
# define SB__CAN_STREAM true
#endif

typedef struct sb__runner {
  const sb__job *job;
  const sb__plan *plan;
  const sb__kernels *kernels;
  int64_t to_size, from_size; /* bytes of an item */
  bool converts;              /* else bytes are only moved */
  bool forms;                 /* by sb__casts, where no loop is made for the pair */
  bool single;                /* factors are float32 */
  bool streams;
  sb__masks masks;      /* of SPLIT and JOIN */
  sb__cast load, store; /* into and out of float32; NULL: it is float32 already */
  sb__cast direct;      /* the whole way; NULL: there is no such loop */
  sb__cast nontemporal; /* the same, past the caches */
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

/* A row whose elements lie side by side on both sides. */
void sb__store_row(const sb__runner *r, char *to, const char *from, int64_t n, sb__factors f);

/* One loop for each kind of plan; at: where its row and column begin, for each operand. */
void sb__copy_rows(const sb__runner *r, char *const at[]);
void sb__copy_transpose(const sb__runner *r, char *const at[]);
void sb__copy_split(const sb__runner *r, char *const at[]);
void sb__copy_join(const sb__runner *r, char *const at[]);
void sb__copy_strided(const sb__runner *r, char *const at[]);

#endif
