/* Drops dimensions of size 1, flips those with a negative step in the target, sorts the rest by the target's steps, so
 * that stores move forward through memory, and merges neighbours where all operands allow. Then picks the two dimensions
 * of the loop. */
#include "ops/plan.h"

#include <math.h>
#include <string.h>

#include "ops/parallel.h"

static void flip_dim(sb__plan *plan, sb__plan_dim *dim) {
  for (int32_t k = 0; k < plan->count; k++) {
    plan->first[k] += (dim->n - 1) * dim->step[k];
    dim->step[k] = -dim->step[k];
  }
}

/* a is outside of b. The target's steps are equal only where they are 0. */
static bool is_outside(const sb__plan_dim *a, const sb__plan_dim *b) {
  if (a->step[0] != b->step[0]) return a->step[0] > b->step[0];
  return sb__absolute(a->step[1]) >= sb__absolute(b->step[1]);
}

static bool can_merge(const sb__plan *plan, const sb__plan_dim *outer, const sb__plan_dim *inner) {
  for (int32_t k = 0; k < plan->count; k++) {
    if (outer->step[k] != inner->step[k] * inner->n) return false;
  }
  return true;
}

/* Lists the dimensions, the target's outermost first. */
static void collect_dims(const sb_tensor *const tensors[], bool keep_order, sb__plan *plan) {
  const sb_tensor *first = tensors[0];
  int64_t itemsize[SB__PLAN_MAX];
  for (int32_t k = 0; k < plan->count; k++) itemsize[k] = sb_dtype_itemsize(tensors[k]->dtype);
  plan->ndim = 0;
  for (int32_t d = 0; d < first->ndim; d++) {
    sb__plan_dim dim = {.n = first->shape[d]};
    if (dim.n == 1) continue;
    for (int32_t k = 0; k < plan->count; k++) {
      dim.step[k] = tensors[k]->strides[d] * itemsize[k];
    }
    if (dim.step[0] < 0 && !keep_order) flip_dim(plan, &dim);
    int32_t at = plan->ndim++;
    for (; at > 0 && !keep_order && !is_outside(&plan->outer[at - 1], &dim); at--) {
      plan->outer[at] = plan->outer[at - 1];
    }
    plan->outer[at] = dim;
  }
}

static void merge_dims(sb__plan *plan) {
  int32_t kept = 0;
  for (int32_t d = 1; d < plan->ndim; d++) {
    sb__plan_dim *outer = &plan->outer[kept], *inner = &plan->outer[d];
    if (can_merge(plan, outer, inner))
      inner->n *= outer->n;
    else
      kept++;
    plan->outer[kept] = *inner;
  }
  if (plan->ndim) plan->ndim = kept + 1;
}

static sb__plan_dim remove_dim(sb__plan *plan, int32_t d) {
  const sb__plan_dim dim = plan->outer[d];
  plan->ndim--;
  for (; d < plan->ndim; d++) plan->outer[d] = plan->outer[d + 1];
  return dim;
}

/* The dimension along which the source is contiguous, forward or backward; the last one if there is none. */
static int32_t column_of(const sb__plan *plan, int64_t itemsize) {
  for (int32_t d = plan->ndim - 1; d >= 0; d--) {
    if (sb__absolute(plan->outer[d].step[1]) == itemsize) return d;
  }
  return plan->ndim - 1;
}

#define SHORT_ROW_BYTES 4096 /* bytes */

/* A dimension that continues the target's short rows is transposed together with them, so that longer runs are stored.
 * Factors must be constant along both. */
static bool continues_row(const sb__plan *plan, const sb__plan_dim *dim) {
  for (int32_t k = 2; k < plan->count; k++) {
    if (dim->step[k] || plan->row.step[k]) return false;
  }
  const int64_t length = plan->row.n * plan->row.step[0];
  return dim->step[0] == length && length <= SHORT_ROW_BYTES;
}

#define SHORT_RUN_BYTES 64 /* a call of memcpy for each would take longer than the bytes */
#define FEW 4              /* rows or columns that are too few for a transpose */

/* Contiguous on both sides, and long. */
static bool is_long_row(const sb__plan_dim *row, int64_t to_size, int64_t from_size,
                        bool converts) {
  if (row->step[0] != to_size || row->step[1] != from_size) return false;
  return row->n > SB__PLAN_BLOCK || (!converts && row->n * to_size >= SHORT_RUN_BYTES);
}

#ifdef __wasm__
# define LEAST_COLUMNS(size) (4 / (size)) /* measured */
#else
# define LEAST_COLUMNS(size) 2
#endif

/* Few columns gain where a table of shuffles would need too many loads: small elements far apart;
 * fewer are enough where they are moved as they are. */
static bool is_few(int64_t columns, int64_t size, int64_t apart, bool converts) {
  if (columns > FEW) return false;
  return size > 2 || columns < (converts ? FEW : LEAST_COLUMNS(size)) ||
         apart <= (size == 1 ? 5 : 16);
}

/* columns: along all dimensions that are columns. */
static bool is_transpose(const sb__plan_dim *row, const sb__plan_dim *column, int64_t columns,
                         int64_t to_size, int64_t from_size, bool converts) {
  return row->step[0] == to_size && row->step[1] != 0 &&
         sb__absolute(column->step[1]) == from_size && row->n > FEW &&
         !is_few(columns, from_size, sb__absolute(row->step[1]), converts) &&
         row->n * columns > SB__PLAN_BLOCK;
}

#define SHORT_COLUMN_BYTES 16 /* no wider than a tile of a transpose */
#define TALL_ROWS 16          /* for fewer, storing each takes longer */

/* The dimension that continues short columns in the source, forward or backward; -1 if there is none. */
static int32_t beside_of(const sb__plan *plan, int32_t column) {
  const sb__plan_dim *dims = plan->outer;
  const int64_t length = dims[column].n * sb__absolute(dims[column].step[1]);
  if (length > SHORT_COLUMN_BYTES || dims[plan->ndim - 1].n < TALL_ROWS) return -1;
  for (int32_t d = plan->ndim - 2; d >= 0; d--)
    if (d != column && sb__absolute(dims[d].step[1]) == length) return d;
  return -1;
}

/* In runs of elements that are moved one after the other: of a piece of blocks, of a row that is repeated; measured. */
#define PIECE_COST 6
#define REPEAT_COST 2

/* What moving costs by element, where blocks have `inside` elements. A piece is a row of blocks; it is moved in a run along the row for
 * each element of a block, or in a run for each block, whichever are fewer. repeated_size: of elements that a row without a step in the source
 * repeats side by side; 0: they are not, or are converted. */
static double cost_of_blocks(const sb__plan_dim *row, int64_t inside, int64_t repeated_size) {
  const int64_t runs = inside < row->n ? inside : row->n;
  if (inside == 1 && row->step[1] == 0 && row->step[0] == repeated_size)
    return (double)REPEAT_COST / (double)row->n;
  return (double)(PIECE_COST + runs) / (double)inside / (double)row->n;
}

#define SHORT_ROW 8 /* elements */
#define NEAR_COPY_BYTES 49152

/* For copies within the caches whose near rows are short, rows are looked for farther out. Measured. */
static bool looks_farther(const sb__plan *plan, const sb__plan_dim *row, int64_t to_size) {
  return row->n < SHORT_ROW && row->step[1] && sb__plan_numel(plan) * to_size <= NEAR_COPY_BYTES;
}

/* Which dimension is the row of blocks: the cheapest of those outside of at most SB__PLAN_BLOCK elements, but no run that
 * is contiguous on both sides, which moves as a whole. inner: the first dimension of the block. */
static int32_t row_of_blocks(const sb__plan *plan, int64_t to_size, int64_t from_size,
                             bool converts, int32_t *inner) {
  const sb__plan_dim *dims = plan->outer;
  int32_t last = plan->ndim - 1;
  int64_t inside = 1, block = 1;
  if (last && dims[last].step[0] == to_size && dims[last].step[1] == from_size)
    inside = dims[last--].n;
  int32_t best = last, first = last + 1, d = last;
  double least = INFINITY;
  *inner = first;
  for (; d >= 0 && inside <= SB__PLAN_BLOCK; d--) {
    const double cost = cost_of_blocks(&dims[d], inside, converts ? 0 : to_size);
    block = inside;
    first = d + 1;
    if (cost <= least) {
      best = d;
      least = cost;
      *inner = first;
    }
    inside *= dims[d].n;
  }
  for (; d >= 0 && block > 1 && looks_farther(plan, &dims[best], to_size); d--) {
    if (cost_of_blocks(&dims[d], block, 0) > least) continue;
    best = d; /* what the last row was stays outside */
    *inner = first;
  }
  return best;
}

/* Takes the inner dimensions and the row. The column is the dimension that goes on beside a row's elements in the source,
 * so that a piece of the row is read once for all of them. */
static void take_blocks(sb__plan *plan, int64_t to_size, int64_t from_size, bool converts) {
  int32_t inner;
  const int32_t row = row_of_blocks(plan, to_size, from_size, converts, &inner);
  while (plan->ndim > inner) plan->inner[plan->ninner++] = remove_dim(plan, inner);
  plan->row = remove_dim(plan, row);
  int32_t column = -1;
  int64_t least = sb__absolute(plan->row.step[1]);
  for (int32_t d = plan->ndim - 1; d >= 0; d--) {
    const int64_t step = sb__absolute(plan->outer[d].step[1]);
    if (step == 0 || step >= least) continue;
    column = d;
    least = step;
  }
  if (column < 0 && plan->ndim && !least && plan->row.n * to_size <= SHORT_ROW_BYTES)
    column = plan->ndim - 1;
  if (column >= 0) plan->column = remove_dim(plan, column);
  plan->kind = SB__PLAN_BLOCKS;
}

void sb__plan_merge(int32_t count, const sb_tensor *const tensors[], bool keep_order,
                    sb__plan *plan) {
  plan->count = count;
  for (int32_t k = 0; k < count; k++) plan->first[k] = 0;
  collect_dims(tensors, keep_order, plan);
  merge_dims(plan);
}

void sb__plan_make(int32_t count, const sb_tensor *const tensors[], bool keep_order,
                   sb__plan *plan) {
  const int64_t to_size = sb_dtype_itemsize(tensors[0]->dtype);
  const int64_t from_size = count > 1 ? sb_dtype_itemsize(tensors[1]->dtype) : 0;
  const bool converts = count > 2 || (count > 1 && tensors[0]->dtype != tensors[1]->dtype);
  plan->row = (sb__plan_dim){.n = 1, .step = {to_size, from_size}};
  plan->column = plan->more = plan->beside = (sb__plan_dim){.n = 1};
  plan->ninner = 0;
  plan->kind = SB__PLAN_ROWS;
  sb__plan_merge(count, tensors, keep_order, plan);
  if (plan->ndim == 0) return;
  const sb__plan_dim *innermost = &plan->outer[plan->ndim - 1];
  if (count == 1 || keep_order || is_long_row(innermost, to_size, from_size, converts)) {
    plan->row = remove_dim(plan, plan->ndim - 1);
    if (plan->ndim && !keep_order) plan->column = remove_dim(plan, plan->ndim - 1);
    return;
  }
  const int32_t column = column_of(plan, from_size), beside = beside_of(plan, column);
  const int64_t columns = plan->outer[column].n * (beside < 0 ? 1 : plan->outer[beside].n);
  if (column == plan->ndim - 1 ||
      !is_transpose(innermost, &plan->outer[column], columns, to_size, from_size, converts)) {
    take_blocks(plan, to_size, from_size, converts);
    return;
  }
  plan->kind = SB__PLAN_TRANSPOSE;
  plan->row = remove_dim(plan, plan->ndim - 1);
  plan->column = plan->outer[column];
  if (beside >= 0) plan->beside = remove_dim(plan, beside);
  remove_dim(plan, column - (beside >= 0 && beside < column));
  if (plan->ndim && continues_row(plan, &plan->outer[plan->ndim - 1]))
    plan->more = remove_dim(plan, plan->ndim - 1);
}

int64_t sb__plan_numel(const sb__plan *plan) {
  int64_t n = plan->row.n * plan->column.n * plan->more.n * plan->beside.n;
  for (int32_t d = 0; d < plan->ninner; d++) n *= plan->inner[d].n;
  for (int32_t d = 0; d < plan->ndim; d++) n *= plan->outer[d].n;
  return n;
}

static void widen(const sb__plan_dim *dim, int32_t operand, int64_t *low, int64_t *high) {
  const int64_t last = (dim->n - 1) * dim->step[operand];
  *(last < 0 ? low : high) += last;
}

void sb__plan_range(const sb__plan *plan, int32_t operand, int64_t size, int64_t *low,
                    int64_t *high) {
  *low = 0;
  *high = size;
  widen(&plan->row, operand, low, high);
  widen(&plan->column, operand, low, high);
  widen(&plan->more, operand, low, high);
  widen(&plan->beside, operand, low, high);
  for (int32_t d = 0; d < plan->ninner; d++) widen(&plan->inner[d], operand, low, high);
  for (int32_t d = 0; d < plan->ndim; d++) widen(&plan->outer[d], operand, low, high);
}

#define MANY 64 /* rows, or groups of them: enough for threads, so that rows stay whole */

/* The dimension that threads split. Channels and other short ones stay whole, and so do rows that `more` and columns that `beside` continues. */
static sb__plan_dim *longest_dim(sb__plan *plan) {
  const bool is_transpose = plan->kind == SB__PLAN_TRANSPOSE;
  sb__plan_dim *best = plan->beside.n > 1 ? &plan->beside : &plan->column;
  if (plan->more.n > best->n) best = &plan->more;
  for (int32_t d = plan->ndim - 1; d >= 0; d--) {
    if (plan->outer[d].n >= best->n) best = &plan->outer[d];
  }
  const bool has_lines = plan->kind != SB__PLAN_ROWS && best == &plan->column; /* few parts */
  if (plan->more.n == 1 && plan->row.n > best->n && (is_transpose || has_lines || best->n < MANY))
    best = &plan->row;
  return best;
}

/* Parts of rows and columns end at cache lines, if the whole begins at one. */
#define PART_MULTIPLE 64

void sb__plan_part(const sb__plan *plan, int count, int i, sb__plan *part) {
  memcpy(part, plan, offsetof(sb__plan, outer) + (size_t)plan->ndim * sizeof plan->outer[0]);
  if (SB__ONE_THREAD) return;
  sb__plan_dim *dim = longest_dim(part);
  const bool has_lines = dim == &part->row || (dim == &part->column && part->kind != SB__PLAN_ROWS);
  const int64_t grain = has_lines ? PART_MULTIPLE : 1;
  const int64_t grains = (dim->n + grain - 1) / grain;
  const int64_t begin = grains * i / count * grain, end = grains * (i + 1) / count * grain;
  for (int32_t k = 0; k < part->count; k++) part->first[k] += begin * dim->step[k];
  dim->n = (end < dim->n ? end : dim->n) - begin;
}

void sb__walk_begin(const sb__plan *plan, char *const base[], sb__walk *walk) {
  for (int32_t k = 0; k < plan->count; k++) walk->at[k] = base[k] + plan->first[k];
  for (int32_t d = 0; d < plan->ndim; d++) walk->index[d] = 0;
}

bool sb__walk_next(const sb__plan *plan, sb__walk *walk) {
  for (int32_t d = plan->ndim - 1; d >= 0; d--) {
    const sb__plan_dim *dim = &plan->outer[d];
    const bool more = ++walk->index[d] < dim->n;
    for (int32_t k = 0; k < plan->count; k++) {
      walk->at[k] += more ? dim->step[k] : -(dim->n - 1) * dim->step[k];
    }
    if (more) return true;
    walk->index[d] = 0;
  }
  return false;
}
