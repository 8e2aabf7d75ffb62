/* Searching sorted elements, and what unique values, and how often elements occur, are found by. All of it computes in 64 bits. Elements
 * compare by value: 64-bit integers beside floats, or beside integers of the other sign, are never rounded. */
#include <string.h>

#include "math/order.h"

#define GROUP 256 /* keys that are made at a time */
#define MOST_BINS (INT64_C(1) << 53)

enum { LEFT, RIGHT, IS_IN, IS_NOT_IN };
enum { OUTSIDE = 1 };

typedef struct search {
  sb__order order; /* of the sorted elements */
  sb_dtype
      from; /* of those that are searched for, 64 bits; order.dtype, or one whose values are others */
  const uint64_t *keys; /* sorted */
  int64_t n;
  int mode;
  bool is_short;
} search;

/* How many keys are less, of sorted ones. */
static int64_t count_less(const uint64_t *keys, int64_t n, uint64_t key) {
  const uint64_t *at = keys;
  if (!n) return 0;
  while (n > 1) {
    const int64_t half = n / 2;
    at += at[half - 1] < key ? half : 0;
    n -= half;
  }
  return at - keys + (*at < key);
}

static int64_t place_of(const search *s, uint64_t key, int stands) {
  const bool counts_equal = s->mode == RIGHT ? stands != SB__BELOW : stands == SB__ABOVE;
  if (!counts_equal) return count_less(s->keys, s->n, key);
  return key == UINT64_MAX ? s->n : count_less(s->keys, s->n, key + 1);
}

static bool is_in(const search *s, uint64_t key, int stands) {
  const int64_t at = stands == SB__AT ? count_less(s->keys, s->n, key) : s->n;
  return at < s->n && s->keys[at] == key && !sb__is_nan_key(key, &s->order);
}

static int stands_to(uint64_t value, uint64_t near) {
  return value == near ? SB__AT : value < near ? SB__BELOW : SB__ABOVE;
}

/* The double next to an integer, which is negative or not, and how the integer stands to it. */
static double near_double(uint64_t magnitude, bool negative, int *stands) {
  const double near = (double)magnitude;
  *stands = near == 0x1p64 ? SB__BELOW : stands_to(magnitude, (uint64_t)near);
  if (negative) *stands = -*stands;
  return negative ? -near : near;
}

uint64_t sb__near_integer(double x, bool is_signed, int *stands) {
  const double end = is_signed ? 0x1p63 : 0x1p64, least = is_signed ? -0x1p63 : 0;
  *stands = SB__AT;
  if (!(x < end)) {
    *stands = SB__ABOVE;
    return is_signed ? (uint64_t)INT64_MAX : UINT64_MAX;
  }
  if (x < least) {
    *stands = SB__BELOW;
    return is_signed ? (uint64_t)INT64_MIN : 0;
  }
  const uint64_t near = is_signed ? (uint64_t)(int64_t)x : (uint64_t)x;
  const double whole = is_signed ? (double)(int64_t)near : (double)near;
  *stands = x == whole ? SB__AT : x < whole ? SB__BELOW : SB__ABOVE;
  return near;
}

/* Elements of another dtype become the nearest ones of that of the keys. */
static uint64_t near_element(uint64_t x, sb_dtype from, sb_dtype to, int *stands) {
  const bool negative = from == SB_INT64 && (int64_t)x < 0;
  if (from == SB_FLOAT64) return sb__near_integer(sb__double_of(x), to == SB_INT64, stands);
  if (to == SB_FLOAT64) return sb__bits_of(near_double(negative ? -x : x, negative, stands));
  *stands = from == SB_INT64          ? (negative ? SB__BELOW : SB__AT)
            : x > (uint64_t)INT64_MAX ? SB__ABOVE
                                      : SB__AT;
  return *stands == SB__AT ? x : negative ? 0 : (uint64_t)INT64_MAX;
}

/* Keys of elements in the dtype of the sorted ones, and how the elements stand to them. */
static void near_keys(const search *s, uint64_t *keys, int *stands, const uint64_t *x, int64_t n) {
  const bool is_same = s->from == s->order.dtype;
  for (int64_t i = 0; i < n; i++) {
    stands[i] = SB__AT;
    if (!is_same) keys[i] = near_element(x[i], s->from, s->order.dtype, &stands[i]);
  }
  sb__keys_wide(keys, is_same ? x : keys, n, &s->order);
}

static int search_each(const sb__cores_call *call) {
  const search *s = call->context;
  const uint64_t *x = (const uint64_t *)(const void *)call->data[1];
  uint64_t keys[GROUP];
  int stands[GROUP];
  for (int64_t first = 0; first < call->count; first += GROUP) {
    const int64_t n = call->count - first < GROUP ? call->count - first : GROUP;
    near_keys(s, keys, stands, x + first, n);
    for (int64_t i = 0; i < n; i++) {
      if (s->mode >= IS_IN)
        call->data[0][first + i] = (char)(is_in(s, keys[i], stands[i]) != (s->mode == IS_NOT_IN));
      else
        sb__put_index(call->data[0], s->is_short, first + i, place_of(s, keys[i], stands[i]));
    }
  }
  return SB__NO_PROBLEM;
}

/* The tensor's elements in a dtype, one after the other; the caller releases them. */
static sb_status read_dense(const sb_tensor *t, sb_dtype dtype, sb_tensor *out) {
  sb_status status = sb__check_bytes("the source", t);
  if (!status) status = sb_tensor_empty(dtype, t->ndim, t->shape, out);
  if (!status) status = sb_copy(out, t, SB_CASTING_UNSAFE, NULL);
  return status;
}

/* Keys in the order of indices. Both tensors are one after the other, and keys becomes what `made` was. */
static sb_status order_by(const sb_tensor *keys, const sb_tensor *sorter, const sb_tensor *made) {
  const uint64_t *from = sb_tensor_data(keys);
  const int64_t *at = sb_tensor_data(sorter), n = sb_tensor_numel(keys);
  uint64_t *to = sb_tensor_data(made);
  for (int64_t i = 0; i < n; i++) {
    if (at[i] < 0 || at[i] >= n)
      return sb__fail(SB_ERR_BOUNDS, "sorter[%lld] is %lld; x1 has %lld elements", (long long)i,
                      (long long)at[i], (long long)n);
    to[i] = from[at[i]];
  }
  return SB_OK;
}

static sb_status run_search(search *s, const sb_tensor *to, const sb_tensor *from,
                            sb_casting casting, int64_t *staged) {
  int problem;
  const sb_dtype result = s->mode >= IS_IN ? SB_BOOL : sb__index_dtype(to);
  int64_t cost = 4;
  for (int64_t rest = s->n; rest; rest /= 2) cost += 4;
  s->is_short = result == SB_INT32;
  const sb__cores f = {.name = "searchsorted",
                       .count = 2,
                       .operand = {{.tensor = to, .dtype = result, .is_written = true},
                                   {.tensor = from, .dtype = s->from}},
                       .run = search_each,
                       .context = s,
                       .cost = cost};
  return sb__cores_run(&f, casting, staged, &problem);
}

static bool has_64_bits(sb_dtype dtype) { return dtype == SB_INT64 || dtype == SB_UINT64; }

/* In which dtypes both are read: one, unless none holds the values of both. */
static sb_status read_types(const char *name, sb_dtype sorted, sb_dtype from, search *s) {
  sb__order of_from;
  sb_dtype met;
  sb_status status = sb_promote_types(sorted, from, &met);
  const bool is_mixed =
      !status && sb_dtype_kind(met) == SB_FLOATING && (has_64_bits(sorted) || has_64_bits(from));
  if (!status) status = sb__order_of(name, is_mixed ? sorted : met, true, &s->order);
  if (!status) status = sb__order_of(name, is_mixed ? from : met, true, &of_from);
  if (!status) s->from = of_from.dtype;
  return status;
}

sb_status sb__searchsorted(const sb_tensor *to, const sb_tensor *sorted, const sb_tensor *sorter,
                           const sb_tensor *from, int64_t mode, sb_casting casting,
                           int64_t *staged) {
  search s = {.mode = (int)mode};
  sb_tensor keys = {0}, at = {0}, more = {0};
  sb_status status =
      read_types(mode >= IS_IN ? "isin" : "searchsorted", sorted->dtype, from->dtype, &s);
  if (!status && (mode < LEFT || mode > IS_NOT_IN))
    status = sb__fail(SB_ERR_ARGUMENT, "searchsorted has no mode %lld", (long long)mode);
  if (!status && sorter && sb_tensor_numel(sorter) != sb_tensor_numel(sorted))
    status = sb__fail(SB_ERR_SHAPE, "sorter has %lld elements, x1 %lld",
                      (long long)sb_tensor_numel(sorter), (long long)sb_tensor_numel(sorted));
  if (!status) status = read_dense(sorted, s.order.dtype, &keys);
  if (!status && (sorter || mode >= IS_IN))
    status = sb_tensor_empty(s.order.dtype, sorted->ndim, sorted->shape, &more);
  if (!status && sorter) status = read_dense(sorter, SB_INT64, &at);
  if (!status) {
    s.keys = sb_tensor_data(&keys);
    s.n = sb_tensor_numel(&keys);
    sb__keys_wide(sb_tensor_data(&keys), s.keys, s.n, &s.order);
    if (mode >= IS_IN && s.n)
      s.keys = sb__sort_wide(sb_tensor_data(&keys), sb_tensor_data(&more), s.n);
  }
  if (!status && sorter) {
    status = order_by(&keys, &at, &more);
    s.keys = sb_tensor_data(&more);
  }
  if (!status) status = run_search(&s, to, from, casting, staged);
  sb_tensor_release(&keys);
  sb_tensor_release(&at);
  sb_tensor_release(&more);
  return status;
}

/* ---- Unique values ---- */

typedef struct runs {
  sb__order order;
  int64_t n, most; /* most: that are written */
  bool is_short;
  int64_t found;
} runs;

/* Writes where to is given; else only counts. */
static int64_t find_runs(const runs *r, const uint64_t *x, uint64_t *to, char *counts) {
  uint64_t keys[GROUP], before = 0;
  int64_t run = -1, start = 0;
  for (int64_t first = 0; first < r->n; first += GROUP) {
    const int64_t n = r->n - first < GROUP ? r->n - first : GROUP;
    sb__keys_wide(keys, x + first, n, &r->order);
    for (int64_t i = 0; i < n; i++) {
      const bool is_new = run < 0 || keys[i] != before || sb__is_nan_key(keys[i], &r->order);
      before = keys[i];
      if (!is_new) continue;
      if (to && run >= 0) sb__put_index(counts, r->is_short, run, first + i - start);
      start = first + i;
      run++;
      if (to && run == r->most) return run + 1;
      if (to) to[run] = x[start];
    }
  }
  if (to && run >= 0) sb__put_index(counts, r->is_short, run, r->n - start);
  return run + 1;
}

static int count_runs(const sb__cores_call *call) {
  runs *r = *(runs *const *)call->context;
  r->found = find_runs(r, (const uint64_t *)(const void *)call->data[0], NULL, NULL);
  return SB__NO_PROBLEM;
}

static int write_runs(const sb__cores_call *call) {
  runs *r = *(runs *const *)call->context;
  r->found = find_runs(r, (const uint64_t *)(const void *)call->data[2],
                       (uint64_t *)(void *)call->data[0], call->data[1]);
  return SB__NO_PROBLEM;
}

static sb_status begin_runs(const sb_tensor *sorted, runs *r) {
  r->n = sb_tensor_numel(sorted);
  return sb__order_of("unique", sorted->dtype, true, &r->order);
}

sb_status sb__count_runs(const sb_tensor *sorted, int64_t *staged, double *count) {
  runs r = {0}, *context = &r;
  int problem;
  const sb_status begun = begin_runs(sorted, &r);
  if (begun) return begun;
  const sb__cores f = {
      .name = "unique",
      .count = 1,
      .operand = {{.tensor = sorted, .dtype = r.order.dtype, .axes = sorted->ndim}},
      .run = count_runs,
      .context = &context};
  const sb_status status = sb__cores_run(&f, SB_CASTING_SAFE, staged, &problem);
  *count = (double)r.found;
  return status;
}

sb_status sb__runs(const sb_tensor *values, const sb_tensor *counts, const sb_tensor *sorted,
                   int64_t *staged) {
  runs r = {.most = sb_tensor_numel(values), .is_short = counts->dtype == SB_INT32};
  runs *context = &r;
  int problem;
  sb_status status = begin_runs(sorted, &r);
  if (!status && sb_tensor_numel(counts) != r.most)
    status = sb__fail(SB_ERR_SHAPE, "as many counts as values were expected");
  if (!status) status = sb__check_cast(sorted->dtype, values->dtype, SB_CASTING_SAFE);
  if (status) return status;
  const sb__cores f = {
      .name = "unique",
      .count = 3,
      .operand =
          {{.tensor = values, .dtype = r.order.dtype, .axes = values->ndim, .is_written = true},
           {.tensor = counts,
            .dtype = sb__index_dtype(counts),
            .axes = counts->ndim,
            .is_written = true},
           {.tensor = sorted, .dtype = r.order.dtype, .axes = sorted->ndim}},
      .run = write_runs,
      .context = &context};
  status = sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
  if (!status && r.found != r.most)
    status = sb__fail(SB_ERR_SHAPE, "there are other than %lld unique values", (long long)r.most);
  return status;
}

/* Elements of each of four operands, and what else a function counts. */
typedef struct sizes {
  int64_t n[SB__CORE_OPERANDS];
} sizes;

static int write_firsts(const sb__cores_call *call) {
  const sizes *s = call->context;
  int64_t *indices = (int64_t *)(void *)call->data[0], *counts = (int64_t *)(void *)call->data[1];
  const int64_t *order = (const int64_t *)(const void *)call->data[2];
  const int64_t *ranks = (const int64_t *)(const void *)call->data[3];
  for (int64_t i = 0; i < s->n[0]; i++) counts[i] = 0;
  for (int64_t i = 0; i < s->n[2]; i++) {
    const int64_t at = order[i];
    if (at < 0 || at >= s->n[3]) return OUTSIDE;
    const int64_t rank = ranks[at];
    if (rank < 0 || rank >= s->n[0]) return OUTSIDE;
    if (!counts[rank]++) indices[rank] = at;
  }
  return SB__NO_PROBLEM;
}

/* Runs a function of one line in each operand. */
static sb_status run_line(const char *name, int (*run)(const sb__cores_call *), int32_t targets,
                          int32_t count, const sb__core_operand *operands, int64_t *staged) {
  sizes s = {{0}};
  int problem;
  sb__cores f = {.name = name, .count = count, .run = run, .context = &s};
  for (int32_t k = 0; k < count; k++) {
    s.n[k] = sb_tensor_numel(operands[k].tensor);
    f.operand[k] = operands[k];
    f.operand[k].axes = operands[k].tensor->ndim;
    f.operand[k].is_written = k < targets;
  }
  const sb_status status = sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
  if (!status && problem) return sb__fail(SB_ERR_BOUNDS, "%s: an index is outside", name);
  return status;
}

sb_status sb__firsts(const sb_tensor *indices, const sb_tensor *counts, const sb_tensor *order,
                     const sb_tensor *ranks, int64_t *staged) {
  if (sb_tensor_numel(indices) != sb_tensor_numel(counts))
    return sb__fail(SB_ERR_SHAPE, "as many counts as indices were expected");
  return run_line("unique", write_firsts, 2, 4,
                  (sb__core_operand[]){{.tensor = indices, .dtype = SB_INT64},
                                       {.tensor = counts, .dtype = SB_INT64},
                                       {.tensor = order, .dtype = SB_INT64},
                                       {.tensor = ranks, .dtype = SB_INT64}},
                  staged);
}

static int take_line(const sb__cores_call *call) {
  const sizes *s = call->context;
  uint64_t *to = (uint64_t *)(void *)call->data[0];
  const uint64_t *from = (const uint64_t *)(const void *)call->data[1];
  const int64_t *at = (const int64_t *)(const void *)call->data[2];
  for (int64_t i = 0; i < s->n[0]; i++) {
    if (at[i] < 0 || at[i] >= s->n[1]) return OUTSIDE;
    to[i] = from[at[i]];
  }
  return SB__NO_PROBLEM;
}

sb_status sb__take_flat(const sb_tensor *to, const sb_tensor *from, const sb_tensor *indices,
                        int64_t *staged) {
  sb__order o;
  sb_status status = sb__order_of("unique", from->dtype, true, &o);
  if (!status) status = sb__check_cast(from->dtype, to->dtype, SB_CASTING_SAFE);
  if (!status && sb_tensor_numel(indices) != sb_tensor_numel(to))
    status = sb__fail(SB_ERR_SHAPE, "as many indices as results were expected");
  if (status) return status;
  return run_line("unique", take_line, 1, 3,
                  (sb__core_operand[]){{.tensor = to, .dtype = o.dtype},
                                       {.tensor = from, .dtype = o.dtype},
                                       {.tensor = indices, .dtype = SB_INT64}},
                  staged);
}

/* ---- How often integers occur ---- */

typedef struct limits {
  int64_t n, least, most;
} limits;

static int find_limits(const sb__cores_call *call) {
  limits *l = *(limits *const *)call->context;
  const int64_t *x = (const int64_t *)(const void *)call->data[0];
  for (int64_t i = 0; i < l->n; i++) {
    l->least = x[i] < l->least ? x[i] : l->least;
    l->most = x[i] > l->most ? x[i] : l->most;
  }
  return SB__NO_PROBLEM;
}

static sb_status check_whole(const sb_tensor *x) {
  const sb_kind kind = sb_dtype_kind(x->dtype);
  if (kind == SB_SIGNED || kind == SB_UNSIGNED || kind == SB_BOOLEAN) return SB_OK;
  return sb__fail(SB_ERR_DTYPE, "bincount counts integers, not %s", sb_dtype_name(x->dtype));
}

sb_status sb__count_bins(const sb_tensor *x, int64_t *staged, double *count) {
  limits l = {.n = sb_tensor_numel(x), .most = -1}, *context = &l;
  int problem;
  const sb__cores f = {.name = "bincount",
                       .count = 1,
                       .operand = {{.tensor = x, .dtype = SB_INT64, .axes = x->ndim}},
                       .run = find_limits,
                       .context = &context};
  sb_status status = check_whole(x);
  if (!status) status = sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
  if (!status && l.least < 0)
    status = x->dtype == SB_UINT64
                 ? sb__fail(SB_ERR_BOUNDS, "x has elements from 2^63 on")
                 : sb__fail(SB_ERR_BOUNDS, "x has the element %lld; bins are numbered from 0",
                            (long long)l.least);
  if (!status && l.most >= MOST_BINS)
    status = sb__fail(SB_ERR_BOUNDS, "x has the element %lld, beyond 2^53", (long long)l.most);
  *count = (double)l.most + 1;
  return status;
}

static int count_each(const sb__cores_call *call) {
  const sizes *s = call->context;
  int64_t *to = (int64_t *)(void *)call->data[0];
  const int64_t *x = (const int64_t *)(const void *)call->data[1];
  for (int64_t i = 0; i < s->n[0]; i++) to[i] = 0;
  for (int64_t i = 0; i < s->n[1]; i++) {
    if (x[i] < 0 || x[i] >= s->n[0]) return OUTSIDE;
    to[x[i]]++;
  }
  return SB__NO_PROBLEM;
}

static int add_weights(const sb__cores_call *call) {
  const sizes *s = call->context;
  double *to = (double *)(void *)call->data[0];
  const int64_t *x = (const int64_t *)(const void *)call->data[1];
  const double *weights = (const double *)(const void *)call->data[2];
  for (int64_t i = 0; i < s->n[0]; i++) to[i] = 0;
  for (int64_t i = 0; i < s->n[1]; i++) {
    if (x[i] < 0 || x[i] >= s->n[0]) return OUTSIDE;
    to[x[i]] = sb__canonical_double(to[x[i]] + weights[i]);
  }
  return SB__NO_PROBLEM;
}

sb_status sb__bincount(const sb_tensor *to, const sb_tensor *x, const sb_tensor *weights,
                       sb_casting casting, int64_t *staged) {
  const sb_dtype computed = weights ? SB_FLOAT64 : SB_INT64;
  sb_status status = check_whole(x);
  if (!status) status = sb__check_cast(weights ? SB_FLOAT64 : SB_INT32, to->dtype, casting);
  if (!status && weights) status = sb__check_cast(weights->dtype, SB_FLOAT64, SB_CASTING_SAME_KIND);
  if (!status && weights && sb_tensor_numel(weights) != sb_tensor_numel(x))
    status = sb__fail(SB_ERR_SHAPE, "weights has %lld elements, x %lld",
                      (long long)sb_tensor_numel(weights), (long long)sb_tensor_numel(x));
  if (status) return status;
  return run_line("bincount", weights ? add_weights : count_each, 1, weights ? 3 : 2,
                  (sb__core_operand[]){{.tensor = to, .dtype = computed},
                                       {.tensor = x, .dtype = SB_INT64},
                                       {.tensor = weights, .dtype = SB_FLOAT64}},
                  staged);
}

/* ---- How many elements are between edges ---- */

typedef struct histogram {
  search edges;    /* sorted; the dtype of elements is search.from */
  int64_t n, bins; /* elements; edges less 1 */
  bool is_weighted;
} histogram;

/* The bin of an element; -1: it is in none. The last bin has its upper edge as well. */
static int64_t bin_of(const histogram *h, uint64_t key, int stands) {
  const int64_t at = place_of(&h->edges, key, stands) - 1;
  if (at < h->bins) return at;
  return stands == SB__AT && key == h->edges.keys[h->bins] ? h->bins - 1 : -1;
}

static int count_between(const sb__cores_call *call) {
  const histogram *h = call->context;
  int64_t *counts = (int64_t *)(void *)call->data[0];
  double *sums = (double *)(void *)call->data[0];
  const uint64_t *x = (const uint64_t *)(const void *)call->data[1];
  uint64_t keys[GROUP];
  int stands[GROUP];
  memset(call->data[0], 0, (size_t)h->bins * 8);
  for (int64_t first = 0; first < h->n && h->bins; first += GROUP) {
    const int64_t n = h->n - first < GROUP ? h->n - first : GROUP;
    near_keys(&h->edges, keys, stands, x + first, n);
    for (int64_t i = 0; i < n; i++) {
      const bool is_nan = sb__is_nan_key(keys[i], &h->edges.order);
      const int64_t bin = is_nan ? -1 : bin_of(h, keys[i], stands[i]);
      if (bin < 0) continue;
      if (h->is_weighted)
        sums[bin] = sb__canonical_double(sums[bin] +
                                         ((const double *)(const void *)call->data[2])[first + i]);
      else
        counts[bin]++;
    }
  }
  return SB__NO_PROBLEM;
}

static sb_status read_edges(histogram *h, const sb_tensor *x, const sb_tensor *edges,
                            sb_tensor *keys) {
  sb_status status = read_types("histogram", edges->dtype, x->dtype, &h->edges);
  if (!status) status = read_dense(edges, h->edges.order.dtype, keys);
  if (status) return status;
  sb__keys_wide(sb_tensor_data(keys), sb_tensor_data(keys), h->edges.n, &h->edges.order);
  h->edges.keys = sb_tensor_data(keys);
  return SB_OK;
}

sb_status sb__histogram(const sb_tensor *to, const sb_tensor *x, const sb_tensor *edges,
                        const sb_tensor *weights, sb_casting casting, int64_t *staged) {
  histogram h = {.edges = {.mode = RIGHT, .n = sb_tensor_numel(edges)},
                 .n = sb_tensor_numel(x),
                 .bins = sb_tensor_numel(edges) - 1,
                 .is_weighted = weights};
  sb_tensor keys = {0};
  int problem;
  if (h.bins < 0 || to->ndim != 1 || to->shape[0] != h.bins ||
      (weights && sb_tensor_numel(weights) != h.n))
    return sb__fail(SB_ERR_SHAPE, "histogram: the shapes do not fit");
  sb_status status = sb__check_cast(weights ? SB_FLOAT64 : SB_INT32, to->dtype, casting);
  if (!status && weights) status = sb__check_cast(weights->dtype, SB_FLOAT64, SB_CASTING_SAME_KIND);
  if (!status) status = read_edges(&h, x, edges, &keys);
  if (!status) {
    const sb__cores f = {
        .name = "histogram",
        .count = weights ? 3 : 2,
        .operand = {{.tensor = to,
                     .dtype = weights ? SB_FLOAT64 : SB_INT64,
                     .axes = 1,
                     .is_written = true},
                    {.tensor = x, .dtype = h.edges.from, .axes = x->ndim},
                    {.tensor = weights, .dtype = SB_FLOAT64, .axes = weights ? weights->ndim : 0}},
        .run = count_between,
        .context = &h};
    status = sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
  }
  sb_tensor_release(&keys);
  return status;
}
