/* Transposes, in one of two ways:
 *
 *   directly   by the kernel: with ordinary stores, or non-temporal ones where rows of the target begin at cache lines
 *   by blocks  into a scratch buffer, and from there row by row: casts, and non-temporal stores to all other rows */
#include "ops/copy_loops.h"

#include <string.h>

/* A block: runs so long that few cache lines of the target are stored in parts, in a buffer that the caches hold;
 * measured. */
#define RUN_BYTES 1024
#define BLOCK_BYTES 49152

/* Shorter rows of the target are converted together. */
#define SHORT_ROW_ELEMENTS 64

/* Stores rows of n elements that follow each other in scratch and have the same factors. */
static void store_rows(const sb__runner *r, char *to, const char *scratch, int64_t rows, int64_t n,
                       sb__factors f) {
  char converted[SB__PIECE_ELEMENTS * 16] __attribute__((aligned(64)));
  const int64_t step = r->plan->column.step[0], length = n * r->to_size,
                most = SB__PIECE_ELEMENTS / n;
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

static void transpose_block(const sb__runner *r, char *const at[], int64_t rows, int64_t columns,
                            int64_t more, const sb__ahead *next) {
  char scratch[BLOCK_BYTES] __attribute__((aligned(64)));
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t length = rows * r->from_size, step = more * length;
  int64_t fetched = 0;
  sb__factors f = sb__factors_at(r, at, row);
  for (int64_t m = 0; m < more; m++) {
    const char *from = at[1] + m * r->plan->more.step[1];
    const sb__ahead beside = {from + r->plan->more.step[1], row->step[1], rows,
                              columns * r->from_size};
    if (SB__CAN_STREAM && more > 1) sb__fetch_rows(&beside, 0, 0, 1);
    r->kernels->transpose(scratch + m * length, step, from, row->step[1], rows, columns,
                          r->from_size, false, false);
  }
  if (r->converts && more * rows < SHORT_ROW_ELEMENTS && !sb__varies(row) && !sb__varies(column)) {
    if (SB__CAN_STREAM) sb__fetch_rows(next, 0, 0, 1);
    store_rows(r, at[0], scratch, columns, more * rows, f);
    return;
  }
  for (int64_t c = 0; c < columns; c++) {
    if (SB__CAN_STREAM) fetched = sb__fetch_rows(next, fetched, c, columns);
    sb__store_row(r, at[0] + c * column->step[0], scratch + c * step, more * rows, f);
    f.scale += column->step[2];
    f.bias += column->step[3];
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
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column, *more = &r->plan->more;
  const int64_t size = r->from_size, rows = sb__least(row->n, RUN_BYTES / size);
  const int64_t mores = rows < row->n ? 1 : sb__least(more->n, RUN_BYTES / size / rows);
  const int64_t columns = sb__least(column->n, BLOCK_BYTES / size / rows / mores);
  for (int64_t m = 0; m < more->n; m += mores) {
    for (int64_t i = 0; i < row->n; i += rows) {
      const int64_t n = sb__least(rows, row->n - i);
      char *corner[SB__PLAN_MAX];
      for (int32_t k = 0; k < r->plan->count; k++)
        corner[k] = at[k] + m * more->step[k] + i * row->step[k];
      const char *below = corner[1] + n * row->step[1];
      for (int64_t c = 0; c < column->n; c += columns) {
        const bool last = c + columns >= column->n;
        const sb__ahead next = {last ? below : corner[1] + columns * column->step[1], row->step[1],
                                more->n > 1 ? 0 : n, columns * size};
        transpose_block(r, corner, n, sb__least(columns, column->n - c),
                        sb__least(mores, more->n - m), &next);
        for (int32_t k = 0; k < r->plan->count; k++) corner[k] += columns * column->step[k];
      }
    }
  }
}

/* The same from the last column to the first. */
static void turn_columns(const sb__runner *r, char *const at[], sb__plan *plan, sb__runner *turned,
                         char *first[]) {
  memcpy(plan, r->plan, offsetof(sb__plan, outer));
  *turned = *r;
  turned->plan = plan;
  for (int32_t k = 0; k < plan->count; k++) {
    first[k] = at[k] + (plan->column.n - 1) * plan->column.step[k];
    plan->column.step[k] = -plan->column.step[k];
  }
}

void sb__copy_transpose(const sb__runner *r, char *const at[]) {
  sb__plan plan;
  sb__runner turned;
  char *first[SB__PLAN_MAX];
  if (r->plan->column.step[1] < 0) {
    turn_columns(r, at, &plan, &turned, first);
    r = &turned;
    at = first;
  }
  const bool aligned =
      r->plan->more.n == 1 && (((uintptr_t)at[0] | (uintptr_t)r->plan->column.step[0]) & 63u) == 0;
  if (r->converts || (sb__streams(r) && !aligned))
    transpose_by_blocks(r, at);
  else
    transpose_directly(r, at, width_of(r->plan, r->to_size));
}
