/* Transposes, in one of two ways:
 *
 *   directly   by the kernel: with ordinary stores, or non-temporal ones where rows of the target begin at cache lines
 *   by blocks  into a scratch buffer, and from there row by row: casts, and non-temporal stores to all other rows */
#include "ops/copy_loops.h"

#include <string.h>

/* A block: runs so long that few cache lines of the target are stored in parts, in a buffer that the caches hold;
 * measured. */
#define RUN_BYTES 1024
#define RUNS 48
#define BLOCK_BYTES (RUNS * RUN_BYTES)
#ifdef __wasm__
# define SMALL_BLOCK_BYTES BLOCK_BYTES
#else
# define SMALL_BLOCK_BYTES (BLOCK_BYTES / 4) /* on the stack: threads may have little of it */
#endif

/* Shorter rows of the target are converted together. */
#define SHORT_ROW_ELEMENTS 64

/* Stores rows of n elements that follow each other in scratch and have the same factors. */
static __attribute__((noinline)) void store_rows(const sb__runner *r, char *to, const char *scratch,
                                                 int64_t rows, int64_t n, sb__factors f) {
  char converted[SB__PIECE_BYTES] __attribute__((aligned(64)));
  const int64_t step = r->plan->column.step[0], length = n * r->to_size, most = sb__piece_of(r) / n;
  if (step == length) {
    sb__store_row(r, to, scratch, rows * n, f);
    return;
  }
  for (int64_t i = 0; i < rows; i += most) {
    const int64_t count = sb__least(most, rows - i);
    sb__convert(r, converted, scratch + i * n * r->from_size, count * n, f);
    sb__move_runs(to + i * step, step, converted, length, count, length);
  }
}

/* columns: of one matrix, or whole matrices that lie side by side in the source. */
static void transpose_block(const sb__runner *r, char *scratch, char *const at[], int64_t rows,
                            int64_t columns, int64_t more, const sb__ahead *next) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t length = rows * r->from_size, step = more * length;
  const int64_t each = sb__least(column->n, columns);
  const bool plain = !r->converts && !sb__streams(r);
  const bool together = plain || (more * rows < SHORT_ROW_ELEMENTS && r->converts &&
                                  !sb__varies(row) && !sb__varies(column));
  int64_t fetched = 0;
  for (int64_t m = 0; m < more; m++) {
    const char *from = at[1] + m * r->plan->more.step[1];
    const sb__ahead near = {from + r->plan->more.step[1], row->step[1], rows,
                            columns * r->from_size};
    if (SB__CAN_STREAM && more > 1) sb__fetch_rows(&near, 0, 0, 1);
    r->kernels->transpose(scratch + m * length, step, from, row->step[1], rows, columns,
                          r->from_size, false, false);
  }
  if (SB__CAN_STREAM && together) sb__fetch_rows(next, 0, 0, 1);
  char *corner[SB__PLAN_MAX];
  memcpy(corner, at, (size_t)r->plan->count * sizeof *corner);
  for (int64_t c = 0; c < columns;) {
    char *to = corner[0];
    sb__factors f = sb__factors_at(r, corner, row);
    const char *from = scratch + c * step;
    if (plain) {
      sb__move_runs(to, column->step[0], from, step, each, step);
      c += each;
    } else if (together) {
      store_rows(r, to, from, each, more * rows, f);
      c += each;
    } else {
      for (const int64_t end = c + each; c < end; c++, to += column->step[0], from += step) {
        if (SB__CAN_STREAM) fetched = sb__fetch_rows(next, fetched, c, columns);
        sb__store_row(r, to, from, more * rows, f);
        f.scale += column->step[2];
        f.bias += column->step[3];
      }
    }
    for (int32_t k = 0; k < r->plan->count; k++) corner[k] += r->plan->beside.step[k];
  }
}

/* width: columns of all matrices at a time. */
static void transpose_directly(const sb__runner *r, char *const at[], int64_t width) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column, *more = &r->plan->more;
  for (int64_t c = 0; c < column->n; c += width)
    for (int64_t m = 0; m < more->n; m++)
      r->kernels->transpose(at[0] + m * more->step[0] + c * column->step[0], column->step[0],
                            at[1] + m * more->step[1] + c * r->to_size, row->step[1], row->n,
                            sb__least(width, column->n - c), r->to_size, sb__streams(r),
                            width == column->n);
}

#define NEAR_BYTES 16384 /* of the source, from a matrix' first row to its last */

/* In WebAssembly matrices that continue each other's rows go a few columns at a time, so that stores go on along few rows of the
 * target: where rows are not short, and lie so near that they are found again; measured. */
static int64_t width_of(const sb__plan *plan, int64_t size) {
  const sb__plan_dim *row = &plan->row;
  const bool few = !SB__CAN_STREAM && plan->more.n > 1 && size > 2 && row->n * size > 64 &&
                   row->n * row->step[1] <= NEAR_BYTES;
  return few ? 8 : plan->column.n;
}

static void transpose_by_blocks(const sb__runner *r, char *const at[]) {
  char small[SMALL_BLOCK_BYTES] __attribute__((aligned(64)));
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column, *more = &r->plan->more,
                     *beside = &r->plan->beside;
  const int64_t size = r->from_size, all = column->n * beside->n;
  const int64_t nbytes = row->n * more->n * all * size;
  const bool is_small = nbytes <= SMALL_BLOCK_BYTES || SMALL_BLOCK_BYTES == BLOCK_BYTES;
  char *large = is_small ? NULL : sb__alloc_aligned(BLOCK_BYTES); /* else blocks of shorter runs */
  const int64_t run = is_small || large ? RUN_BYTES : SMALL_BLOCK_BYTES / RUNS;
  const int64_t rows = sb__least(row->n, run / size);
  const int64_t mores = rows < row->n ? 1 : sb__least(more->n, run / size / rows);
  const int64_t most = (large ? BLOCK_BYTES : SMALL_BLOCK_BYTES) / size / rows / mores;
  const bool whole = beside->n > 1; /* matrices */
  const int64_t columns = whole ? most - most % column->n : most;
  for (int64_t m = 0; m < more->n; m += mores) {
    for (int64_t i = 0; i < row->n; i += rows) {
      const int64_t n = sb__least(rows, row->n - i);
      const char *below = at[1] + m * more->step[1] + (i + n) * row->step[1];
      for (int64_t c = 0; c < all; c += columns) {
        char *corner[SB__PLAN_MAX];
        for (int32_t k = 0; k < r->plan->count; k++)
          corner[k] = at[k] + m * more->step[k] + i * row->step[k] +
                      (whole ? c / column->n * beside->step[k] : c * column->step[k]);
        const bool last = c + columns >= all, ends = more->n > 1 || (last && i + n == row->n);
        const sb__ahead next = {last ? below : corner[1] + columns * size, row->step[1],
                                ends ? 0 : n, sb__least(columns, all) * size};
        transpose_block(r, large ? large : small, corner, n, sb__least(columns, all - c),
                        sb__least(mores, more->n - m), &next);
      }
    }
  }
  sb__free_aligned(large);
}

/* The same from the last to the first along a dimension that goes backward in the source. */
static void turn(sb__plan *plan, sb__plan_dim *dim, char *at[]) {
  if (dim->step[1] > 0) return;
  for (int32_t k = 0; k < plan->count; k++) {
    at[k] += (dim->n - 1) * dim->step[k];
    dim->step[k] = -dim->step[k];
  }
}

void sb__copy_transpose(const sb__runner *r, char *const at[]) {
  sb__plan plan;
  sb__runner turned;
  char *first[SB__PLAN_MAX];
  if (r->plan->column.step[1] < 0 || r->plan->beside.step[1] < 0) {
    memcpy(&plan, r->plan, offsetof(sb__plan, outer));
    memcpy(first, at, (size_t)plan.count * sizeof *first);
    turned = *r;
    turned.plan = &plan;
    turn(&plan, &plan.column, first);
    turn(&plan, &plan.beside, first);
    r = &turned;
    at = first;
  }
  const bool aligned =
      r->plan->more.n == 1 && (((uintptr_t)at[0] | (uintptr_t)r->plan->column.step[0]) & 63u) == 0;
  if (r->converts || r->plan->beside.n > 1 || (sb__streams(r) && !aligned))
    transpose_by_blocks(r, at);
  else
    transpose_directly(r, at, width_of(r->plan, r->to_size));
}
