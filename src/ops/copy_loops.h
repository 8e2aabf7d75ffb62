/* The loops of a copy: one for each kind of plan, and what they share. copy_plan_run.c chooses among them. */
#ifndef SB_COPY_LOOPS_H
#define SB_COPY_LOOPS_H

#include "ops/copy_plan_run.h"

#ifdef __wasm__
# define SB__CAN_STREAM false
#else
# define SB__CAN_STREAM true
#endif

#define SB__PIECE_ELEMENTS 1024 /* converted at a time */
#define SB__PIECE_BYTES 8192 /* of them in a buffer on the stack: threads may have little of it */

/* Non-temporal stores gain for rows of so many bytes, and for shorter ones that are side by side and half as many together: lines of which
 * only a part is stored make others wait. */
#ifdef SB_TEST
# define SB__STREAMED_ROW_BYTES 128 /* so that tests need no large tensors */
#else
# define SB__STREAMED_ROW_BYTES 2048
#endif

/* Factors of a piece's elements. */
typedef union sb__pattern {
  float single[2][SB__PIECE_ELEMENTS]; /* scale, bias */
  double both[2][SB__PIECE_ELEMENTS / 2];
} sb__pattern;

typedef enum sb__factors_by {
  SB__FACTORS_ROW,   /* as the plan's row has them */
  SB__FACTORS_WHOLE, /* the same ones in each piece */
  SB__FACTORS_PIECE, /* others in each piece */
} sb__factors_by;

#ifdef __x86_64__
# define SB__CAN_PERMUTE true
#else
# define SB__CAN_PERMUTE false
#endif

/* Blocks that are moved together by kernels->permute. */
typedef struct sb__windows {
  int64_t each;     /* blocks of a window; 0: none are moved so */
  int64_t to, from; /* bytes from the first block's first element to the window's beginning */
  sb__permutation bytes;
} sb__windows;

/* How a plan's blocks are copied; see copy_blocks.c. Prepared once for all threads. */
typedef struct sb__blocks {
  int64_t numel;                                    /* elements of a block */
  int64_t to[SB__PLAN_BLOCK], from[SB__PLAN_BLOCK]; /* bytes from a block's first element to each */
  int64_t to_run, from_run, run; /* elements side by side: on that side, on both */
  bool to_dense, from_dense;     /* a row's elements lie side by side */
  int64_t piece;                 /* blocks at a time */
  int64_t planes;                /* columns at a time */
  bool is_plain;                 /* each is one run, or one element again and again */
  const char *low, *high;        /* of the source's bytes */
  int64_t blocks_per_tile;       /* of shuffles; 0: there are none */
  bool floats;                   /* they convert as well */
  int64_t least, most;           /* bytes from a tile's first one that it reads */
  sb__shuffles shuffles;         /* from the source's order to the target's */
  sb__windows gathered;  /* from the source; to the target if nothing converts, else side by side */
  sb__windows scattered; /* from blocks that are side by side to the target */
  sb__factors_by factors_by;
  int64_t factors[2][SB__PLAN_BLOCK]; /* as to and from */
  sb__pattern pattern;                /* of FACTORS_WHOLE */
} sb__blocks;

/* A copy and the loops chosen for it. A thread's runner has its own part of the plan. */
typedef struct sb__runner {
  const sb__job *job;
  const sb__plan *plan;
  const sb__kernels *kernels;
  int64_t to_size, from_size; /* bytes of an element */
  bool converts;              /* dtypes differ, or there are factors */
  bool forms;   /* by sb__load and sb__store: there is no loop for this pair of dtypes */
  bool single;  /* factors are float32 */
  bool streams; /* store with non-temporal stores */
  const sb__blocks *blocks; /* of BLOCKS, else NULL */
  sb__cast load, store;     /* to float32, from float32; NULL: that side is float32 */
  sb__cast direct;          /* from dtype to dtype in one loop; NULL: there is none */
  sb__cast nontemporal;     /* the same with non-temporal stores */
  sb__scaled_cast nontemporal_scaled;
} sb__runner;

static inline bool sb__streams(const sb__runner *r) { return SB__CAN_STREAM && r->streams; }

/* Factors of a row: where they start, and their steps in bytes. */
typedef struct sb__factors {
  const char *scale, *bias; /* NULL: none */
  int64_t scale_step, bias_step;
  bool floats; /* they are float32 and side by side, not float64 */
} sb__factors;

static inline sb__factors sb__factors_at(const sb__runner *r, char *const at[],
                                         const sb__plan_dim *along) {
  if (!r->job->scaled) return (sb__factors){0};
  return (sb__factors){at[2], at[3], along->step[2], along->step[3], false};
}

static inline double sb__factor_at(const char *at) { return *(const double *)(const void *)at; }

/* Factors vary along a dimension. */
static inline bool sb__varies(const sb__plan_dim *dim) { return dim->step[2] || dim->step[3]; }

static inline int64_t sb__least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Elements that are converted at a time: the target's fit a buffer. */
static inline int64_t sb__piece_of(const sb__runner *r) {
  return sb__least(SB__PIECE_ELEMENTS, SB__PIECE_BYTES / r->to_size);
}

/* Copies or converts n elements that are contiguous on both sides. */
void sb__store_row(const sb__runner *r, char *to, const char *from, int64_t n, sb__factors f);

/* Converts at most SB__PIECE_ELEMENTS elements, side by side. */
void sb__convert(const sb__runner *r, char *to, const char *from, int64_t n, sb__factors f);

/* Moves n runs of nbytes; none overlap. */
void sb__move_runs(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                   int64_t nbytes);

/* One loop for each kind of plan. at: for each operand, the address of the row's and column's first element. */
void sb__copy_rows(const sb__runner *r, char *const at[]);
void sb__copy_transpose(const sb__runner *r, char *const at[]);
void sb__copy_blocks(const sb__runner *r, char *const at[]);

/* Prepares r->blocks. */
void sb__blocks_make(const sb__runner *r, sb__blocks *blocks);

#endif
