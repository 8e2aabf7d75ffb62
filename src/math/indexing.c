/* Indexing by tensors: where the true elements of a mask are, offsets of index tensors, and the elements at offsets. Indices
 * are read once and checked where they are used, since other threads may write them at any time. */
#include <string.h>

#include "math/math.h"

#define CHUNK 1024 /* elements at a time */

/* JavaScript makes operands as they are expected here. */
static sb_status misfit(void) {
  return sb__fail(SB_ERR_ARGUMENT, "operands of indexing do not fit each other");
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- Rows of a plan ---- */

/* The last dimension of a plan is a row. */
typedef struct rows {
  sb__plan plan;
  int64_t index[SB_MAX_DIMS];
  int64_t at[2]; /* where the row begins: bytes from each tensor's first element */
  sb__plan_dim row;
} rows;

static void begin_rows(rows *r, const sb_tensor *a, const sb_tensor *b, bool keep_order) {
  const sb_tensor *tensors[] = {a, b};
  sb__plan_merge(2, tensors, keep_order, &r->plan);
  memset(r->index, 0, sizeof r->index);
  memcpy(r->at, r->plan.first, sizeof r->at);
  r->row = (sb__plan_dim){.n = 1};
  if (r->plan.ndim) r->row = r->plan.outer[--r->plan.ndim];
}

/* False after the last row. */
static bool next_row(rows *r) {
  for (int32_t d = r->plan.ndim - 1; d >= 0; d--) {
    const sb__plan_dim *dim = &r->plan.outer[d];
    const bool more = ++r->index[d] < dim->n;
    for (int k = 0; k < 2; k++) r->at[k] += more ? dim->step[k] : -(dim->n - 1) * dim->step[k];
    if (more) return true;
    r->index[d] = 0;
  }
  return false;
}

/* ---- Masks ---- */

static sb_status check_mask(const sb_tensor *mask) {
  if (mask->dtype == SB_BOOL && sb_is_contiguous(mask)) return sb__check_bytes("a mask", mask);
  return misfit();
}

static uint64_t eight_at(const char *mask) {
  uint64_t eight;
  memcpy(&eight, mask, sizeof eight);
  return eight;
}

sb_status sb__math_count_true(const sb_tensor *mask, int64_t *count) {
  const sb_status status = check_mask(mask);
  if (status) return status;
  const char *at = sb_tensor_data(mask);
  const int64_t n = sb_tensor_numel(mask);
  *count = 0;
  for (int64_t i = 0; i < n; i++) *count += at[i] != 0;
  return SB_OK;
}

/* Goes through a mask together with a layout of its shape. */
typedef struct walk {
  rows rows;
  const char *mask;
  int64_t i; /* in the row */
  bool is_done;
} walk;

static void begin_walk(walk *w, const sb_tensor *mask, const sb_tensor *along) {
  w->mask = sb_tensor_data(mask);
  w->i = 0;
  w->is_done = sb_tensor_numel(mask) == 0;
  if (!w->is_done) begin_rows(&w->rows, mask, along, true);
}

/* Writes the places of true elements among n, of which the first one is at place; out has room for n. Returns how many. */
static int64_t places_of(const char *mask, int64_t n, int64_t place, int64_t step, int64_t *out) {
  int64_t *next = out;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    uint64_t eight = eight_at(mask + i);
    if (!eight) continue;
    int64_t at = place + i * step;
    for (int k = 0; k < 8; k++, at += step, eight >>= 8) {
      *next = at;
      next += (eight & 255) != 0;
    }
  }
  for (; i < n; i++) {
    *next = place + i * step;
    next += mask[i] != 0;
  }
  return next - out;
}

/* Writes the places, in bytes of the layout, of true elements among the next CHUNK ones. Returns how many. */
static int64_t next_places(walk *w, int64_t out[CHUNK]) {
  rows *r = &w->rows;
  int64_t found = 0;
  for (int64_t left = CHUNK; left > 0 && !w->is_done;) {
    const int64_t n = least(left, r->row.n - w->i), step = r->row.step[1];
    found += places_of(w->mask + r->at[0] + w->i, n, r->at[1] + w->i * step, step, out + found);
    left -= n;
    w->i += n;
    if (w->i < r->row.n) continue;
    w->i = 0;
    w->is_done = !next_row(r);
  }
  return found;
}

static void store_places(const sb_tensor *to, int64_t at, const int64_t *places, int64_t n) {
  if (to->dtype == SB_INT32) {
    int32_t *out = (int32_t *)sb_tensor_data(to) + at;
    for (int64_t i = 0; i < n; i++) out[i] = (int32_t)places[i];
  } else {
    memcpy((int64_t *)sb_tensor_data(to) + at, places, (size_t)n * sizeof *places);
  }
}

sb_status sb__math_positions(const sb_tensor *to, const sb_tensor *mask, int64_t count,
                             const int64_t *factors) {
  walk w;
  sb_tensor along;
  int64_t places[CHUNK], at = 0;
  sb_status status = check_mask(mask);
  if (!status) status = sb__check_target(to);
  if (status) return status;
  if (to->ndim != 1 || (to->dtype != SB_INT32 && to->dtype != SB_INT64) || !sb_is_contiguous(to) ||
      count != mask->ndim)
    return misfit();
  sb_tensor_copy_layout(mask, &along); /* an item of bool is a byte: places are sums of factors */
  memcpy(along.strides, factors, (size_t)count * sizeof *factors);
  begin_walk(&w, mask, &along);
  while (!w.is_done) {
    const int64_t found = next_places(&w, places);
    if (found > to->shape[0] - at) return misfit();
    if (found) store_places(to, at, places, found);
    at += found;
  }
  return at == to->shape[0] ? SB_OK : misfit();
}

/* ---- Index tensors ---- */

/* One call of offsets_of. */
typedef struct indexing {
  int64_t extent, stride;
  uint64_t bits; /* of an index that count */
  int64_t lowest;
  bool adds, is_wrong;
  int64_t wrong; /* an index that is outside */
} indexing;

/* Computes the offsets of n indices, each of which is read once. */
static void offsets_of(indexing *x, int64_t *to, const char *from, int64_t step, int64_t n,
                       int64_t size) {
  const int64_t extent = x->extent, stride = x->stride, lowest = x->lowest;
  const uint64_t bits = x->bits, kept = x->adds ? UINT64_MAX : 0;
  bool is_wrong = false;
  int64_t wrong = 0;
#define OFFSETS(T)                                                         \
 for (int64_t i = 0; i < n; i++) {                                         \
  const int64_t read = *(const T *)(const void *)(from + i * step);        \
  const int64_t index = (int64_t)((uint64_t)read & bits);                  \
  const bool is_outside = index < lowest || index >= extent;               \
  const uint64_t inside = (uint64_t)(index < 0 ? index + extent : index);  \
  to[i] = (int64_t)(((uint64_t)to[i] & kept) + inside * (uint64_t)stride); \
  is_wrong |= is_outside;                                                  \
  wrong = is_outside ? index : wrong;                                      \
 }
  if (size == 4) {
    OFFSETS(int32_t)
  } else {
    OFFSETS(int64_t)
  }
#undef OFFSETS
  x->is_wrong = is_wrong;
  x->wrong = wrong;
}

static sb_status fail_index(const indexing *x, bool is_unsigned, const sb__indexed_axis *axis) {
  return sb__fail(SB_ERR_BOUNDS,
                  is_unsigned ? "index %llu of entry %lld is outside axis %lld of %lld elements"
                              : "index %lld of entry %lld is outside axis %lld of %lld elements",
                  (long long)x->wrong, (long long)axis->entry, (long long)axis->number,
                  (long long)axis->extent);
}

static sb_status check_offsets(const sb_tensor *to, const sb_tensor *index,
                               const sb__indexed_axis *axis) {
  const sb_kind kind = sb_dtype_kind(index->dtype);
  const sb_status status = sb__check_target(to);
  if (status) return status;
  if (sb_dtype_itemsize(index->dtype) < 4 || to->dtype != SB_INT64 || !sb_is_contiguous(to) ||
      axis->extent < 0)
    return misfit();
  if (kind == SB_SIGNED || kind == SB_UNSIGNED) return sb__check_bytes("an entry", index);
  return misfit();
}

sb_status sb__math_offsets(const sb_tensor *to, const sb_tensor *index,
                           const sb__indexed_axis *axis, bool adds) {
  rows r;
  sb_tensor source;
  sb_status status = check_offsets(to, index, axis);
  if (!status) status = sb_broadcast_to(index, to->ndim, to->shape, &source);
  if (status || !sb_tensor_numel(to)) return status;
  const bool is_unsigned = sb_dtype_kind(index->dtype) == SB_UNSIGNED;
  const int64_t size = sb_dtype_itemsize(index->dtype);
  indexing x = {.extent = axis->extent,
                .stride = axis->stride,
                .bits = UINT64_MAX >> (is_unsigned ? 64 - 8 * size : 0),
                .lowest = is_unsigned ? 0 : -axis->extent,
                .adds = adds};
  begin_rows(&r, to, &source, true);
  do {
    int64_t *out = (int64_t *)sb_tensor_data(to) + r.at[0] / (int64_t)sizeof *out;
    offsets_of(&x, out, (const char *)sb_tensor_data(&source) + r.at[1], r.row.step[1], r.row.n,
               size);
    if (x.is_wrong) return fail_index(&x, is_unsigned, axis);
  } while (next_row(&r));
  return SB_OK;
}

/* ---- Elements at offsets ---- */

static inline __attribute__((always_inline)) void move_each(char *items, int64_t step, char *base,
                                                            const int64_t *places, int64_t n,
                                                            size_t nbytes, bool scatters) {
  for (int64_t i = 0; i < n; i++) {
    char *item = items + i * step, *place = base + places[i];
    memmove(scatters ? place : item, scatters ? item : place, nbytes);
  }
}

/* Copies n runs of nbytes from places, which are bytes from base, to items, which are step bytes apart; scatters: the other way. */
static void move_runs(char *items, int64_t step, char *base, const int64_t *places, int64_t n,
                      int64_t nbytes, bool scatters) {
  switch (nbytes) {
    case 1: move_each(items, step, base, places, n, 1, scatters); break;
    case 2: move_each(items, step, base, places, n, 2, scatters); break;
    case 4: move_each(items, step, base, places, n, 4, scatters); break;
    case 8: move_each(items, step, base, places, n, 8, scatters); break;
    case 16: move_each(items, step, base, places, n, 16, scatters); break;
    default: move_each(items, step, base, places, n, (size_t)nbytes, scatters);
  }
}

/* Items at offsets of a layout: one axis of items is the offsets', the others are those of the layout that no entry names. */
typedef struct work {
  rows rows;      /* of the other axes; the target is the first operand */
  int items, all; /* their operands: 0 or 1 */
  char *items_at, *all_at;
  int64_t step; /* bytes from one offset's items to the next one's */
  const int64_t *offsets;
  int64_t count, low, high; /* of offsets, and between which bytes they are */
  int64_t size;             /* bytes of an element */
  bool is_outside;          /* an offset is */
} work;

/* Bytes from the layout's first element to what the i-th offset, or element of the row, is at. */
static inline int64_t place_of(work *w, bool is_offset, int64_t i) {
  if (!is_offset) return i * w->rows.row.step[w->all];
  const int64_t offset = w->offsets[i];
  const bool is_outside = offset < w->low || offset > w->high;
  w->is_outside |= is_outside;
  return is_outside ? 0 : offset;
}

/* Moves a row for all offsets: n runs of nbytes each. by_offsets: of a run all offsets follow each other, else of an offset all runs. */
static void move_row(work *w, bool by_offsets, int64_t n, int64_t nbytes) {
  int64_t places[CHUNK];
  const int64_t row_step = w->rows.row.step[w->items];
  const int64_t inner = by_offsets ? w->count : n, inner_step = by_offsets ? w->step : row_step;
  const int64_t outer = by_offsets ? n : w->count, outer_step = by_offsets ? row_step : w->step;
  char *items = w->items_at + w->rows.at[w->items], *all = w->all_at + w->rows.at[w->all];
  for (int64_t i = 0; i < inner; i += CHUNK) {
    const int64_t many = least(CHUNK, inner - i);
    for (int64_t k = 0; k < many; k++) places[k] = place_of(w, by_offsets, i + k);
    for (int64_t j = 0; j < outer; j++)
      move_runs(items + i * inner_step + j * outer_step, inner_step,
                all + place_of(w, !by_offsets, j), places, many, nbytes, w->items == 1);
  }
}

#define NEAR 64 /* bytes between elements of a row that are worth to be used together */
#define LEAST_ROW 8

static sb_status move_all(work *w) {
  const sb__plan_dim *row = &w->rows.row;
  const bool is_run = row->step[0] == w->size && row->step[1] == w->size;
  const int64_t n = is_run ? 1 : row->n, nbytes = is_run ? row->n * w->size : w->size;
  const bool is_near = n >= LEAST_ROW && sb__absolute(row->step[w->all]) <= NEAR;
  do {
    move_row(w, n <= w->count && !is_near, n, nbytes);
  } while (next_row(&w->rows));
  return w->is_outside ? sb__fail(SB_ERR_BOUNDS, "an offset is outside") : SB_OK;
}

/* Drops axes, which are in order, and computes between which bytes their elements are. */
static sb_status drop_axes(const sb_tensor *all, int64_t count, const int64_t *axes, sb_tensor *out,
                           int64_t *low, int64_t *high) {
  const int64_t size = sb_dtype_itemsize(all->dtype);
  int64_t next = 0;
  sb_tensor_copy_layout(all, out);
  out->ndim = 0;
  *low = *high = 0;
  for (int32_t d = 0; d < all->ndim; d++) {
    if (next < count && axes[next] == d) {
      const int64_t span = (all->shape[d] - 1) * all->strides[d] * size;
      *(span < 0 ? low : high) += span;
      next++;
      continue;
    }
    out->shape[out->ndim] = all->shape[d];
    out->strides[out->ndim++] = all->strides[d];
  }
  return next == count ? SB_OK : misfit();
}

static bool is_alike(const sb_tensor *a, const sb_tensor *b) {
  return a->ndim == b->ndim && !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape);
}

static sb_status check_move(const sb_tensor *items, const sb_tensor *all, const sb_tensor *offsets,
                            bool scatters) {
  sb_status status = sb__check_target(scatters ? all : items);
  if (!status) status = sb__check_bytes("the source", scatters ? items : all);
  if (!status) status = sb__check_bytes("offsets", offsets);
  if (status) return status;
  const bool fits = items->dtype == all->dtype && offsets->dtype == SB_INT64 &&
                    sb_is_contiguous(offsets) && items->ndim > 0 &&
                    items->shape[0] == sb_tensor_numel(offsets);
  return fits ? SB_OK : misfit();
}

sb_status sb__math_move(const sb_tensor *items, const sb_tensor *all, const sb_tensor *offsets,
                        int64_t count, const int64_t *axes, bool scatters) {
  const int64_t first = 0;
  int64_t unused = 0;
  sb_tensor others, rest;
  work w = {.items = scatters, .all = !scatters, .count = sb_tensor_numel(offsets)};
  sb_status status = check_move(items, all, offsets, scatters);
  if (status || !sb_tensor_numel(items)) return status;
  if (!sb_tensor_numel(all)) return misfit();
  status = drop_axes(all, count, axes, &rest, &w.low, &w.high);
  if (!status) status = drop_axes(items, 1, &first, &others, &unused, &unused);
  if (!status && !is_alike(&others, &rest)) status = misfit();
  if (status) return status;
  w.size = sb_dtype_itemsize(items->dtype);
  w.step = items->strides[0] * w.size;
  w.items_at = sb_tensor_data(items);
  w.all_at = sb_tensor_data(all);
  w.offsets = sb_tensor_data(offsets);
  begin_rows(&w.rows, scatters ? &rest : &others, scatters ? &others : &rest, false);
  return move_all(&w);
}
