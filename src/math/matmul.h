/* Matrix products: what matmul.c asks of the loops of an instruction set.
 *
 * An element is a sum over k, by a rule that depends on k alone: within each block of SB__MATMUL_BLOCK products are added one after the
 * other to 0, in ascending order, and the blocks' sums are added in that order. Products are rounded before they are added. So tiles,
 * threads, strides and instruction sets give the same bits. */
#ifndef SB_MATMUL_H
#define SB_MATMUL_H

#include "math/algorithms.h"

#define SB__MATMUL_BLOCK \
 256 /* products; of complex numbers half as many, which have two products each */
#define SB__MATMUL_TILE 384 /* elements of a tile at most */

/* What loops compute in. Integers wrap. */
typedef enum sb__matmul_type {
  SB__MATMUL_f32,
  SB__MATMUL_f64,
  SB__MATMUL_u32,
  SB__MATMUL_u64,
  SB__MATMUL_TYPES
} sb__matmul_type;

/* Where a block stands among those of its element: the first one's sum replaces what is in memory, and after the last one NaN is made
 * canonical. */
typedef struct sb__matmul_place {
  bool is_first, is_last;
} sb__matmul_place;

/* All distances are elements. */
typedef struct sb__matmul_tiles {
  int64_t rows, columns; /* of a tile */
  /* Sums of a tile, without gaps: of a panel of rows and one of columns, which `pack` made. */
  void (*tile)(void *sums, const void *rows, const void *columns, int64_t n);
  /* The same of products that are not rounded, where the instruction set has that. */
  void (*fused_tile)(void *sums, const void *rows, const void *columns, int64_t n);
  /* Puts sums of a block to their elements. */
  void (*combine)(void *c, int64_t c_step, const void *sums, int64_t step, int64_t rows,
                  int64_t count, sb__matmul_place place);
} sb__matmul_tiles;

typedef struct sb__matmul_lines {
  /* Packs `panel` lines, which is rows or columns of a tile: to[k * panel + line]. The lines from `count` on repeat others; elements of a
   * vector after the end may be written. */
  void (*pack)(void *to, const void *from, int64_t panel, int64_t count, int64_t line_step,
               int64_t k_step, int64_t n);
  /* sums[i] of a[i * a_step + k] * b[i * b_step + k], for i below count. */
  void (*dots)(void *sums, const void *a, int64_t a_step, const void *b, int64_t b_step,
               int64_t count, int64_t n);
  /* sums[j], or 0, and to it a[k] * b[k * b_step + j], for j below count. */
  void (*columns_of)(void *sums, const void *a, const void *b, int64_t b_step, int64_t count,
                     int64_t n, bool is_first);
} sb__matmul_lines;

/* By type; NULL: another level's. */
typedef struct sb__matmul_level {
  const sb__matmul_tiles *tiles[SB__MATMUL_TYPES];
  const sb__matmul_lines *lines[SB__MATMUL_TYPES];
} sb__matmul_level;

extern const sb__matmul_level sb__matmul_base;
#if defined(__x86_64__)
extern const sb__matmul_level sb__matmul_avx2, sb__matmul_avx512;
#endif

#endif
