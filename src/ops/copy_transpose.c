/* Transposes: which way takes which shapes. */
#include "ops/copy_loops.h"

#ifdef __wasm__
# define PANELS_FROM_BYTES(itemsize) \
  ((itemsize) < 4 ? 1 << 15 : 1 << 21) /* transposes of as many bytes */
#else
# define PANELS_FROM_BYTES(itemsize) INT64_MAX
#endif

/* A transpose goes block by block, by way of a scratch that the caches hold: some rows of what is written, a run of each.
 * Runs are long enough that few lines are written in parts, or, where rows begin with lines, that a few lines are read
 * and written one after the other; measured. */
#define RUN_BYTES 1024
#define BLOCK_BYTES 49152
#define ALIGNED_RUN_BYTES(size) ((size) <= 2 ? 128 : 256)
#define ALIGNED_BLOCK_BYTES(size) ((size) <= 2 ? 32768 : 24576)
#define ALIGNED_FROM_BYTES 16384 /* less is transposed at once */

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
  if (SB__CAN_STREAM && !r->converts &&
      (((uintptr_t)at[0] | (uintptr_t)column->step[0] | (uintptr_t)step) & 63u) == 0) {
    r->kernels->stream_rows(at[0], column->step[0], scratch, step, columns, next);
    return;
  }
  for (int64_t c = 0; c < columns; c++) {
    if (SB__CAN_STREAM) fetched = sb__fetch_rows(next, fetched, c, columns);
    sb__store_row(r, at[0] + c * column->step[0], scratch + c * step, more * rows, f);
    f.scale += column->step[2];
    f.bias += column->step[3];
  }
}

/* Few columns at a time, so that what is written goes on along few rows. */
static void transpose_narrow(const sb__runner *r, char *to, const char *from, int64_t from_step,
                             int64_t rows, int64_t columns) {
  const sb__plan_dim *more = &r->plan->more;
  const int64_t size = r->to_size, few = size == 1 ? 16 : size < 8 ? 8 : 4;
  const int64_t step = r->plan->column.step[0];
  for (int64_t c = 0; c < columns; c += few) {
    if (c > columns - few && columns > few) c = columns - few;
    for (int64_t m = 0; m < more->n; m++)
      r->kernels->transpose(to + m * more->step[0] + c * step, step,
                            from + m * more->step[1] + c * size, from_step, rows,
                            sb__least(few, columns - c), size, false, false);
  }
}

#define PANELS_MIN 128 /* rows, and bytes of each */

/* How many of n items at an address are taken together: those up to the next multiple of nbytes, in whole lines, but at
 * least one. */
static int64_t items_in_lines(const char *at, int64_t n, int64_t size, int64_t nbytes) {
  const int64_t line = 64 / size;
  const int64_t lines = (nbytes - (int64_t)((uintptr_t)at % (uintptr_t)nbytes)) / 64;
  return n < line ? line : sb__least(n / line, lines ? lines : nbytes / 64) * line;
}

/* Runs of many rows at a time, so that what lies side by side is read, and written, for as long as possible. The last ones
 * reach back over items that are done already. False: there is no scratch for it. */
static bool transpose_by_panels(const sb__runner *r, char *const at[]) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t size = r->to_size;
  const ptrdiff_t step = (ptrdiff_t)column->step[0];
  char *scratch = sb__alloc_aligned(SB__PANELS_SCRATCH_BYTES);
  if (!scratch) return false;
  for (int64_t i = 0, rows; i < row->n; i += rows) {
    rows = items_in_lines(at[0] + i * size, row->n - i, size, SB__PANELS_ROWS(size) * size);
    const int64_t top = sb__least(i, row->n - rows);
    char *to = at[0] + top * size;
    const char *from = at[1] + top * row->step[1];
    for (int64_t c = 0, columns; c < column->n; c += columns) {
      columns = items_in_lines(at[1] + c * size, column->n - c, size, SB__PANELS_BYTES(size));
      const int64_t left = sb__least(c, column->n - columns);
      const int64_t next = c + columns < column->n ? sb__least(c + columns, column->n - 4) : left;
      r->kernels->transpose_panels(to + left * step, step, from + left * size,
                                   (ptrdiff_t)row->step[1], (int)rows, (int)columns, size, scratch,
                                   to + next * step);
    }
  }
  sb__free_aligned(scratch);
  return true;
}

/* Matrices that continue each other's rows: by few columns from so many bytes together, if each is read from so few. */
#define NARROW_FROM_BYTES 32768
#define NARROW_UNTIL_BYTES (1 << 21)
#define NARROW_REACH_BYTES 16384

/* Without streams; false: neither way is for this one. */
static bool transpose_unstreamed(const sb__runner *r, char *const at[]) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t size = r->to_size, more = r->plan->more.n, reach = row->n * row->step[1];
  const int64_t nbytes = row->n * column->n * more * size;
  if (more == 1)
    return size <= 8 && nbytes >= PANELS_FROM_BYTES(size) && row->n >= PANELS_MIN &&
           column->n * size >= PANELS_MIN && transpose_by_panels(r, at);
  if (nbytes < NARROW_FROM_BYTES || nbytes >= NARROW_UNTIL_BYTES || size == 1 || reach <= 0 ||
      reach > NARROW_REACH_BYTES)
    return false;
  transpose_narrow(r, at[0], at[1], row->step[1], row->n, column->n);
  return true;
}

void sb__copy_transpose(const sb__runner *r, char *const at[]) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column, *more = &r->plan->more;
  const int64_t size = r->from_size;
  const bool lines =
      !r->converts && more->n == 1 && (((uintptr_t)at[0] | (uintptr_t)column->step[0]) & 63u) == 0;
  const bool few = row->n * size < 64 || column->n * size < 64 ||
                   row->n * column->n * size <= ALIGNED_FROM_BYTES;
  const bool at_once = few || size == 1 || size > 8; /* measured, too */
  if (!SB__CAN_STREAM && !r->converts && transpose_unstreamed(r, at)) return;
  if (!r->converts && (!r->streams || (lines && at_once))) {
    for (int64_t m = 0; m < more->n; m++)
      r->kernels->transpose(at[0] + m * more->step[0], column->step[0], at[1] + m * more->step[1],
                            row->step[1], row->n, column->n, size, r->streams, true);
    return;
  }
  const int64_t block = lines ? ALIGNED_BLOCK_BYTES(size) : BLOCK_BYTES;
  const int64_t wide = sb__least(column->n, block / ALIGNED_RUN_BYTES(size));
  const int64_t run = lines ? sb__least(RUN_BYTES, block / wide / 64 * 64) : RUN_BYTES;
  const int64_t rows = sb__least(row->n, run / size);
  const int64_t mores = rows < row->n ? 1 : sb__least(more->n, run / size / rows);
  const int64_t columns = sb__least(column->n, block / size / rows / mores);
  for (int64_t m = 0; m < more->n; m += mores) {
    for (int64_t i = 0, n; i < row->n; i += n) {
      char *corner[SB__PLAN_MAX];
      for (int32_t k = 0; k < r->plan->count; k++)
        corner[k] = at[k] + m * more->step[k] + i * row->step[k];
      n = sb__least(rows, row->n - i);
      if (lines)
        n = sb__least(n, (run - (int64_t)((uintptr_t)corner[0] % (uintptr_t)run)) /
                             size); /* ends with a run */
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
