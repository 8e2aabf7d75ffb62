/* What kernels are told: one struct each. Plan, kernels and emulator share it; pointers are addresses on
 * the device. */
#ifndef SB_CUDA_ARGS_H
#define SB_CUDA_ARGS_H

#include <stdint.h>

/* Division by n as a multiplication (Granlund and Montgomery); sb__divisor_of makes one. */
typedef struct sb__divisor {
  uint32_t n, factor, shift;
} sb__divisor;

#define SB__CUDA_DIMS 30      /* fewer than 2^31 elements have no more dimensions of at least two */
#define SB__CUDA_CAST_DIMS 20 /* of a cast; more are several launches */
#define SB__CUDA_BATCH 6      /* dimensions around the two of a tile; more are none */

/* Bytes side by side on both sides, which lie alike between multiples of 16. */
typedef struct sb__args_bytes {
  char *to; /* where the first 16 bytes go that begin at a multiple of 16 */
  const char *from;
  uint64_t count;      /* of 16 bytes */
  uint32_t head, tail; /* bytes before and behind, below 16 */
} sb__args_bytes;

/* Bytes side by side that lie otherwise between multiples of 16 there than here. */
typedef struct sb__args_shifted {
  char *to;            /* where the first 4 bytes go: a multiple of 4 */
  const char *from;    /* the last multiple of 4 that is not behind what goes there */
  uint64_t count;      /* of 4 bytes */
  uint32_t shift;      /* bytes that `from` is too early */
  uint32_t head, tail; /* bytes before and behind, below 16 */
} sb__args_shifted;

/* Any layout. Steps count units of the kernel's size; dimensions are innermost first. */
typedef struct sb__args_items {
  void *to;
  const void *from;
  uint32_t n, ndim;
  sb__divisor dim[SB__CUDA_DIMS];
  int64_t to_step[SB__CUDA_DIMS], from_step[SB__CUDA_DIMS];
} sb__args_items;

/* to[c][r] = from[r][c], over and over. Steps count elements. */
typedef struct sb__args_transpose {
  void *to;
  const void *from;
  uint32_t rows, columns;
  uint32_t ndim;           /* of batch */
  uint32_t vectors;        /* everything is a multiple of 16 bytes */
  int64_t to_step;         /* from c to c + 1 */
  int64_t from_step;       /* from r to r + 1 */
  sb__divisor down, along; /* tiles that rows and columns are cut into */
  sb__divisor batch[SB__CUDA_BATCH];
  int64_t batch_to[SB__CUDA_BATCH], batch_from[SB__CUDA_BATCH];
} sb__args_transpose;

/* A few channels side by side on one side, planes on the other. Steps count elements. */
typedef struct sb__args_channels {
  void *to;
  const void *from;
  uint32_t pixels, channels;
  uint32_t each;           /* pixels of a block, a multiple of 16 */
  uint32_t ndim;           /* of batch */
  uint32_t vectors, words; /* side by side by 16 bytes, planes by 4 */
  int64_t plane_step;
  sb__divisor tiles; /* of a batch */
  sb__divisor channel;
  sb__divisor batch[SB__CUDA_BATCH];
  int64_t batch_to[SB__CUDA_BATCH], batch_from[SB__CUDA_BATCH];
} sb__args_channels;

/* One pattern over bytes side by side. */
typedef struct sb__args_fill_bytes {
  char *to;            /* a multiple of 16 */
  uint64_t count;      /* of 16 bytes */
  uint32_t pattern[4]; /* of the 16 bytes at `to` */
  uint32_t head, tail;
} sb__args_fill_bytes;

/* The same bytes in every item. */
typedef struct sb__args_fill_items {
  void *to;
  uint32_t n, ndim;
  uint32_t pattern[4];
  sb__divisor dim[SB__CUDA_DIMS];
  int64_t to_step[SB__CUDA_DIMS];
} sb__args_fill_items;

/* Elements side by side on both sides, each at a multiple of what the kernel loads or stores at once. */
typedef struct sb__args_convert {
  void *to;
  const void *from;
  uint64_t n;
  const double *scale, *bias; /* one of each; only where the kernel's name begins with scale */
} sb__args_convert;

/* A cast over any layout. Steps are bytes. */
typedef struct sb__args_cast {
  char *to;
  const char *from;
  const char *scale, *bias; /* float64 */
  uint32_t n, ndim;
  uint32_t dtype;  /* sb_dtype of what is written */
  uint32_t scaled; /* 0: no; x * scale + bias in 1: float64, 2: float32 */
  sb__divisor dim[SB__CUDA_CAST_DIMS];
  int64_t to_step[SB__CUDA_CAST_DIMS], from_step[SB__CUDA_CAST_DIMS];
  int64_t scale_step[SB__CUDA_CAST_DIMS], bias_step[SB__CUDA_CAST_DIMS];
} sb__args_cast;

/* A random fill: elements in row-major order, or side by side. Steps are bytes. */
typedef struct sb__args_random {
  char *to;
  uint64_t n;
  uint64_t seed, high; /* Philox's key and the upper half of its counter */
  uint64_t word;       /* of the stream, at which element 0 begins */
  uint32_t stream;
  uint32_t dtype;                /* sb_dtype */
  uint32_t ndim;                 /* 0: side by side */
  uint32_t whole;                /* four elements at a time may be stored at once */
  double low, range, last;       /* uniform */
  double mean, std;              /* normal */
  uint64_t first, span, refused; /* integers: low, range, refused of sb__random */
  sb__divisor dim[SB__CUDA_DIMS];
  int64_t to_step[SB__CUDA_DIMS];
} sb__args_random;

#endif
