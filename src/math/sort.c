/* Sorting: elements become unsigned integers in the order that is asked for (order.h), which are sorted, alone or above their indices. */
#include <string.h>

#include "math/order.h"

#define RUN 8                               /* elements that are sorted by insertion */
#define MOST_MERGED (BITS == 32 ? 48 : 192) /* elements; longer lines are spread */
#define GROUP 64                            /* keys that are made, and compared, at a time */
#define COLLECTED 512                       /* items that top_k has room for at least */

typedef struct lines {
  sb__order order;
  int64_t n; /* elements of a line */
  bool is_short;
  int64_t k, capacity; /* top_k */
  int64_t *found;      /* rank: gets how many unique values there are */
} lines;

__extension__ typedef unsigned __int128 uint128;

#define CONCAT(a, b) a##b

#define T uint32_t
#define NAME(x) CONCAT(narrow_key_, x)
#define SHIFT 0
#define BITS 32
#include "math/sort_type.inc"
#undef T
#undef NAME
#undef SHIFT

#define T uint64_t
#define NAME(x) CONCAT(narrow_item_, x)
#define SHIFT 32
#include "math/sort_type.inc"
#undef T
#undef NAME
#undef SHIFT

#define KEY uint32_t
#define ITEM uint64_t
#define INFINITE UINT32_C(0x7f800000)
#define NAME(x) CONCAT(narrow_, x)
#include "math/sort_lines.inc"
#undef KEY
#undef ITEM
#undef INFINITE
#undef NAME
#undef BITS

#define T uint64_t
#define NAME(x) CONCAT(wide_key_, x)
#define SHIFT 0
#define BITS 64
#include "math/sort_type.inc"
#undef T
#undef NAME
#undef SHIFT

#define T uint128
#define NAME(x) CONCAT(wide_item_, x)
#define SHIFT 64
#include "math/sort_type.inc"
#undef T
#undef NAME
#undef SHIFT

#define KEY uint64_t
#define ITEM uint128
#define INFINITE UINT64_C(0x7ff0000000000000)
#define NAME(x) CONCAT(wide_, x)
#include "math/sort_lines.inc"
#undef KEY
#undef ITEM
#undef INFINITE
#undef NAME
#undef BITS

void sb__keys_wide(uint64_t *to, const uint64_t *from, int64_t n, const sb__order *o) {
  wide_make_keys(to, from, n, o, 0);
}

uint64_t *sb__sort_wide(uint64_t *a, uint64_t *b, int64_t n) { return wide_key_sort(a, b, n); }

sb_status sb__order_of(const char *name, sb_dtype dtype, bool is_wide, sb__order *out) {
  const sb_kind kind = sb_dtype_kind(dtype);
  if (kind == SB_COMPLEX)
    return sb__fail(SB_ERR_DTYPE, "%s has no %s, which have no order", name, sb_dtype_name(dtype));
  is_wide |= sb_dtype_itemsize(dtype) > 4;
  *out = (sb__order){.is_wide = is_wide, .nan = UINT64_MAX};
  if (kind == SB_FLOATING)
    out->dtype = is_wide ? SB_FLOAT64 : SB_FLOAT32;
  else if (kind == SB_SIGNED)
    out->dtype = is_wide ? SB_INT64 : SB_INT32;
  else
    out->dtype = is_wide ? SB_UINT64 : SB_UINT32;
  out->kind = sb_dtype_kind(out->dtype);
  return SB_OK;
}

/* ---- Functions ---- */

/* Elements of a line: of the last axes. */
static int64_t length_of(const sb_tensor *t, int64_t axes) {
  int64_t n = 1;
  for (int64_t d = t->ndim - axes; d < t->ndim; d++) n *= t->shape[d];
  return n;
}

/* Passes over a line that sorting takes, and as many again for threads to be worth it. */
static int64_t cost_of(const lines *l) { return l->n * (l->order.is_wide ? 32 : 16); }

static sb_status begin_sort(const char *name, const sb_tensor *from, int64_t axes, lines *l) {
  if (axes < 0 || axes > from->ndim)
    return sb__fail(SB_ERR_SHAPE, "%s: %lld axes of %d", name, (long long)axes, from->ndim);
  l->n = length_of(from, axes);
  return sb__order_of(name, from->dtype, l->n > (int64_t)UINT32_MAX, &l->order);
}

static sb__core_operand target(const sb_tensor *t, sb_dtype dtype, int64_t axes) {
  return (sb__core_operand){.tensor = t, .dtype = dtype, .axes = (int32_t)axes, .is_written = true};
}

static sb__core_operand source(const sb_tensor *t, sb_dtype dtype, int64_t axes) {
  return (sb__core_operand){.tensor = t, .dtype = dtype, .axes = (int32_t)axes};
}

static int64_t item_bytes(const lines *l) { return l->order.is_wide ? 16 : 8; }

static sb_status check_length(const char *name, const sb_tensor *to, int64_t axes, int64_t n) {
  if (axes <= to->ndim && length_of(to, axes) == n) return SB_OK;
  return sb__fail(SB_ERR_SHAPE, "%s: a result for lines of %lld elements", name, (long long)n);
}

sb_status sb__sort(const sb_tensor *to, const sb_tensor *from, int64_t axes, bool descending,
                   sb_casting casting, int64_t *staged) {
  lines l = {0};
  int problem;
  sb_status status = begin_sort("sort", from, axes, &l);
  if (!status) status = check_length("sort", to, axes, l.n);
  if (!status) status = sb__check_cast(from->dtype, to->dtype, casting);
  if (status) return status;
  if (descending) l.order.flip = UINT64_MAX;
  const sb__cores f = {
      .name = "sort",
      .count = 2,
      .operand = {target(to, l.order.dtype, axes), source(from, l.order.dtype, axes)},
      .run = l.order.is_wide ? wide_sort_lines : narrow_sort_lines,
      .context = &l,
      .scratch = l.n * item_bytes(&l) / 2,
      .cost = cost_of(&l)};
  return sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
}

sb_status sb__argsort(const sb_tensor *to, const sb_tensor *from, bool descending,
                      sb_casting casting, int64_t *staged) {
  lines l = {.is_short = sb__index_dtype(to) == SB_INT32};
  int problem;
  sb_status status = begin_sort("argsort", from, 1, &l);
  if (!status) status = check_length("argsort", to, 1, l.n);
  if (status) return status;
  if (descending) l.order.flip = UINT64_MAX;
  const sb__cores f = {
      .name = "argsort",
      .count = 2,
      .operand = {target(to, sb__index_dtype(to), 1), source(from, l.order.dtype, 1)},
      .run = l.order.is_wide ? wide_argsort_lines : narrow_argsort_lines,
      .context = &l,
      .scratch = 2 * l.n * item_bytes(&l),
      .cost = cost_of(&l)};
  return sb__cores_run(&f, casting, staged, &problem);
}

sb_status sb__top_k(const sb_tensor *values, const sb_tensor *indices, const sb_tensor *from,
                    bool largest, int64_t *staged) {
  lines l = {.is_short = sb__index_dtype(indices) == SB_INT32};
  int problem;
  sb_status status = begin_sort("topK", from, 1, &l);
  if (!status && values->ndim < 1) status = check_length("topK", values, 1, 1);
  if (!status) l.k = values->shape[values->ndim - 1];
  if (!status) status = check_length("topK", indices, 1, l.k);
  if (!status && l.k > l.n)
    status = sb__fail(SB_ERR_BOUNDS, "k is %lld; a line has %lld elements", (long long)l.k,
                      (long long)l.n);
  if (!status) status = sb__check_cast(from->dtype, values->dtype, SB_CASTING_SAFE);
  if (status) return status;
  if (largest) {
    l.order.flip = UINT64_MAX;
    l.order.nan = 0;
  }
  l.capacity = 2 * l.k > COLLECTED ? 2 * l.k : COLLECTED;
  if (l.capacity > l.n) l.capacity = l.n;
  const sb__cores f = {.name = "topK",
                       .count = 3,
                       .operand = {target(values, l.order.dtype, 1),
                                   target(indices, sb__index_dtype(indices), 1),
                                   source(from, l.order.dtype, 1)},
                       .run = l.order.is_wide ? wide_top_k_lines : narrow_top_k_lines,
                       .context = &l,
                       .scratch = 2 * l.capacity * item_bytes(&l),
                       .cost = 2 * l.n + l.capacity * 16};
  return sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
}

sb_status sb__rank(const sb_tensor *order, const sb_tensor *ranks, const sb_tensor *from,
                   int64_t *staged, double *count) {
  int64_t found = 0;
  lines l = {.is_short = order->dtype == SB_INT32, .found = &found};
  int problem;
  sb_status status = begin_sort("unique", from, from->ndim, &l);
  if (!status) status = check_length("unique", order, order->ndim, l.n);
  if (!status) status = check_length("unique", ranks, ranks->ndim, l.n);
  if (!status && order->dtype != ranks->dtype)
    status = sb__fail(SB_ERR_DTYPE, "indices of two dtypes");
  if (status) return status;
  const sb__cores f = {.name = "unique",
                       .count = 3,
                       .operand = {target(order, sb__index_dtype(order), order->ndim),
                                   target(ranks, sb__index_dtype(order), ranks->ndim),
                                   source(from, l.order.dtype, from->ndim)},
                       .run = l.order.is_wide ? wide_rank_line : narrow_rank_line,
                       .context = &l,
                       .scratch = 2 * l.n * item_bytes(&l),
                       .cost = cost_of(&l)};
  status = sb__cores_run(&f, SB_CASTING_SAFE, staged, &problem);
  *count = (double)found;
  return status;
}
