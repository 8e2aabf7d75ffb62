/* Boxes of detectors, each [x1, y1, x2, y2], and what classes become. */
#include <string.h>

#include "math/order.h"

/* ---- Non-maximum suppression ---- */

#define COMPACTED \
 32 /* boxes that are kept, after which suppressed ones are dropped from the list */
#define INLINE static inline __attribute__((always_inline))

/* Boxes of one class, by score: five arrays of their corners and areas, and where they stand among all. */
typedef struct list {
  char *corners[5];
  int32_t *at, *dead; /* dead: not 0 */
  int64_t n;
} list;

/* Marks boxes after i whose intersection with it, divided by the union, is greater than `most`. */
typedef void (*suppress)(const list *l, int64_t i, double most);

#define SUPPRESS(real)                                                       \
 INLINE void suppress_##real##_any(const list *l, int64_t i, real most) {    \
  const real *x1 = (const real *)(const void *)l->corners[0];                \
  const real *y1 = (const real *)(const void *)l->corners[1];                \
  const real *x2 = (const real *)(const void *)l->corners[2];                \
  const real *y2 = (const real *)(const void *)l->corners[3];                \
  const real *area = (const real *)(const void *)l->corners[4];              \
  const real a = x1[i], b = y1[i], c = x2[i], d = y2[i], own = area[i];      \
  int32_t *dead = l->dead;                                                   \
  const int64_t n = l->n;                                                    \
  for (int64_t k = i + 1; k < n; k++) {                                      \
   const real left = a > x1[k] ? a : x1[k], top = b > y1[k] ? b : y1[k];     \
   const real right = c < x2[k] ? c : x2[k], bottom = d < y2[k] ? d : y2[k]; \
   const real w = right - left, h = bottom - top;                            \
   const real both = (w > 0 ? w : 0) * (h > 0 ? h : 0);                      \
   dead[k] |= both / ((own + area[k]) - both) > most;                        \
  }                                                                          \
 }

#define LEVEL(level, attributes)                                                         \
 attributes static void suppress_float_##level(const list *l, int64_t i, double most) {  \
  suppress_float_any(l, i, (float)most);                                                 \
 }                                                                                       \
 attributes static void suppress_double_##level(const list *l, int64_t i, double most) { \
  suppress_double_any(l, i, most);                                                       \
 }

SUPPRESS(float)
SUPPRESS(double)
LEVEL(plain, )
#if defined(__x86_64__)
LEVEL(avx2, __attribute__((target("avx2"))))
#endif

static suppress suppress_now(bool is_double) {
#if defined(__x86_64__)
  if (strcmp(sb__level_now(), "scalar"))
    return is_double ? suppress_double_avx2 : suppress_float_avx2;
#endif
  return is_double ? suppress_double_plain : suppress_float_plain;
}

/* An element to be sorted, by key, the greatest last. */
typedef struct item {
  uint64_t key;
  int64_t at;
} item;

/* Sorts byte by byte, the last one first: items of equal keys stay in their order. Returns items or other, whichever has them. */
static item *sorted(item *items, item *other, int64_t n) {
  int32_t counts[8][256] = {{0}};
  for (int64_t k = 0; k < n; k++)
    for (int d = 0; d < 8; d++) counts[d][items[k].key >> 8 * d & 255]++;
  for (int d = 0; d < 8; d++) {
    int32_t *count = counts[d], at = 0;
    if (!n || count[items[0].key >> 8 * d & 255] == n) continue; /* all have the same byte */
    for (int i = 0; i < 256; i++) {
      const int32_t here = count[i];
      count[i] = at;
      at += here;
    }
    for (int64_t k = 0; k < n; k++) other[count[items[k].key >> 8 * d & 255]++] = items[k];
    item *made = other;
    other = items;
    items = made;
  }
  return items;
}

/* Scores as ascending keys. */
typedef struct ranking {
  sb__order order;
  const uint64_t *keys;
  bool has_least;
  uint64_t least; /* candidates' keys are greater */
} ranking;

typedef struct selection {
  bool is_double;
  const void *boxes; /* dense, of float or double */
  double most;       /* of intersection over union */
  int64_t limit;
  int64_t *order;      /* boxes, the candidates, by score */
  item *items, *other; /* with room for all, as the rest */
  list list;
  uint8_t *kept; /* for each candidate */
} selection;

#define LOAD(real)                                                                  \
 static void load_##real(const selection *s, const item *items, int64_t n) {        \
  for (int64_t k = 0; k < n; k++) {                                                 \
   const real *box = (const real *)s->boxes + 4 * s->order[items[k].at];            \
   for (int c = 0; c < 4; c++) ((real *)(void *)s->list.corners[c])[k] = box[c];    \
   ((real *)(void *)s->list.corners[4])[k] = (box[2] - box[0]) * (box[3] - box[1]); \
  }                                                                                 \
 }
LOAD(float)
LOAD(double)

/* Drops suppressed boxes from `from` on. */
static void compact(list *l, bool is_double, int64_t from) {
  int64_t n = from;
  for (int64_t k = from; k < l->n; k++) {
    if (l->dead[k]) continue;
    for (int c = 0; c < 5; c++)
      if (is_double)
        ((double *)(void *)l->corners[c])[n] = ((double *)(void *)l->corners[c])[k];
      else
        ((float *)(void *)l->corners[c])[n] = ((float *)(void *)l->corners[c])[k];
    l->at[n++] = l->at[k];
  }
  memset(l->dead + from, 0, (size_t)(n - from) * sizeof *l->dead);
  l->n = n;
}

/* Marks which candidates of one class are kept. */
static void select_class(const selection *s, const item *items, int64_t n) {
  const suppress run = suppress_now(s->is_double);
  list l = s->list;
  int64_t kept = 0;
  l.n = n;
  (s->is_double ? load_double : load_float)(s, items, n);
  for (int64_t k = 0; k < n; k++) l.at[k] = (int32_t)items[k].at;
  memset(l.dead, 0, (size_t)n * sizeof *l.dead);
  for (int64_t k = 0; k < l.n && kept < s->limit; k++) {
    if (l.dead[k]) continue;
    s->kept[l.at[k]] = 1;
    run(&l, k, s->most);
    if (++kept % COMPACTED == 0) compact(&l, s->is_double, k + 1);
  }
}

/* The candidates by score, the greatest first and NaN last, into order. Returns how many. */
static int64_t order_candidates(const selection *s, const ranking *by, int64_t n) {
  int64_t count = 0;
  for (int64_t i = 0; i < n; i++) {
    const uint64_t key = by->keys[i];
    const bool is_nan = sb__is_nan_key(key, &by->order);
    if (by->has_least && (is_nan || key <= by->least)) continue;
    s->items[count++] = (item){is_nan ? UINT64_MAX : ~key, i};
  }
  const item *items = sorted(s->items, s->other, count);
  for (int64_t k = 0; k < count; k++) s->order[k] = items[k].at;
  return count;
}

static int64_t select_boxes(const selection *s, const ranking *by, const int64_t *classes,
                            int64_t n, int32_t *to) {
  const int64_t count = order_candidates(s, by, n);
  const item *items = s->items; /* by class, then by score */
  int64_t found = 0;
  for (int64_t k = 0; k < count; k++)
    s->items[k] = (item){classes ? (uint64_t)classes[s->order[k]] : 0, k};
  if (classes) items = sorted(s->items, s->other, count);
  memset(s->kept, 0, (size_t)count);
  for (int64_t begin = 0, end = 0; begin < count; begin = end) {
    while (end < count && items[end].key == items[begin].key) end++;
    select_class(s, items + begin, end - begin);
  }
  for (int64_t k = 0; k < count && found < s->limit; k++)
    if (s->kept[k]) to[found++] = (int32_t)s->order[k];
  return found;
}

/* The greatest float that is not above x: floats are greater than both or than none. */
static double float_below(double x) {
  float y = (float)x;
  if ((double)y > x) {
    uint32_t bits = sb__bits_of_float(y);
    y = sb__float_of(y > 0 ? bits - 1 : bits + 1);
  }
  return (double)y;
}

static sb_status select_dense(selection *s, const ranking *by, const int64_t *classes, int64_t n,
                              int32_t *to, double *found) {
  const int64_t room = n * (int64_t)(8 + 2 * sizeof(item) + 5 * 8 + 2 * 4 + 1);
  char *memory = sb__alloc_bytes(room);
  if (!memory) return sb__fail(SB_ERR_MEMORY, "%lld bytes for nms", (long long)room);
  s->order = (int64_t *)(void *)memory;
  s->items = (item *)(void *)(memory + 8 * n);
  s->other = s->items + n;
  for (int c = 0; c < 5; c++) s->list.corners[c] = (char *)(s->other + n) + 8 * n * c;
  s->list.at = (int32_t *)(void *)(s->list.corners[4] + 8 * n);
  s->list.dead = s->list.at + n;
  s->kept = (uint8_t *)(s->list.dead + n);
  *found = (double)select_boxes(s, by, classes, n, to);
  sb__free_aligned(memory);
  return SB_OK;
}

static sb_status check_boxes(const sb_tensor *to, const sb_tensor *boxes, const sb_tensor *scores,
                             const sb_tensor *classes, int64_t limit) {
  const int64_t n = boxes->ndim == 2 ? boxes->shape[0] : -1;
  if (n < 0 || boxes->shape[1] != 4) return sb__fail(SB_ERR_SHAPE, "nms: boxes have shape [n, 4]");
  if (scores->ndim != 1 || scores->shape[0] != n || classes->ndim != 1 || classes->shape[0] != n)
    return sb__fail(SB_ERR_SHAPE, "nms: scores and classes have one element for each of %lld boxes",
                    (long long)n);
  if (to->dtype != SB_INT32 || to->ndim != 1 || !sb_is_contiguous(to) || n > INT32_MAX ||
      limit < 0 || to->shape[0] < (n < limit ? n : limit))
    return sb__fail(SB_ERR_SHAPE, "nms: the target does not fit");
  return sb__check_target(to);
}

/* A dense copy. */
static sb_status converted(const sb_tensor *t, sb_dtype dtype, sb_tensor *out) {
  const sb_status status = sb_tensor_empty(dtype, t->ndim, t->shape, out);
  return status ? status : sb_copy(out, t, SB_CASTING_UNSAFE, NULL);
}

/* A number as a float dtype has it: rounded; itself where the dtype has neither it nor infinity. */
static sb_status rounded_to(sb_dtype dtype, double *x) {
  double narrowed = 0, made = *x;
  sb_storage storages[2] = {
      {.device = -1, .data = &made, .nbytes = sizeof made},
      {.device = -1, .data = &narrowed, .nbytes = (size_t)sb_dtype_itemsize(dtype)}};
  sb_tensor wide, narrow;
  sb_status status = sb_tensor_init(&storages[0], SB_FLOAT64, 0, NULL, NULL, 0, &wide);
  if (!status) status = sb_tensor_init(&storages[1], dtype, 0, NULL, NULL, 0, &narrow);
  if (!status) status = sb_copy(&narrow, &wide, SB_CASTING_UNSAFE, NULL);
  if (!status) status = sb_copy(&wide, &narrow, SB_CASTING_UNSAFE, NULL);
  if (made == made) *x = made;
  return status;
}

/* The threshold, if there is one, is rounded to floats; integers are compared with it as it is. */
static sb_status read_scores(const sb_tensor *from, double least, sb_tensor *dense, ranking *out) {
  int stands = SB__AT;
  uint64_t bits;
  sb_status status = sb__order_of("nms", from->dtype, true, &out->order);
  if (!status && out->order.kind == SB_FLOATING) status = rounded_to(from->dtype, &least);
  if (!status) status = converted(from, out->order.dtype, dense);
  if (status) return status;
  sb__keys_wide(sb_tensor_data(dense), sb_tensor_data(dense), sb_tensor_numel(dense), &out->order);
  out->keys = sb_tensor_data(dense);
  out->has_least = least == least;
  if (!out->has_least) return SB_OK;
  bits = out->order.kind == SB_FLOATING
             ? sb__bits_of(least)
             : sb__near_integer(least, out->order.kind == SB_SIGNED, &stands);
  sb__keys_wide(&out->least, &bits, 1, &out->order);
  if (stands != SB__BELOW) return SB_OK;
  out->has_least = out->least > 0; /* the integer itself is greater than the threshold */
  out->least--;
  return SB_OK;
}

sb_status sb__nms(const sb_tensor *to, const sb_tensor *boxes, const sb_tensor *scores,
                  const sb_tensor *classes, double most, double least, int64_t limit,
                  double *found) {
  sb_tensor dense = {0}, keys = {0}, of = {0};
  ranking by;
  sb_dtype dtype = SB_FLOAT32;
  *found = 0;
  sb_status status = check_boxes(to, boxes, scores, classes ? classes : scores, limit);
  if (!status) status = sb__computed_in("nms", boxes->dtype, &dtype);
  if (!status && sb_dtype_kind(boxes->dtype) == SB_COMPLEX)
    status = sb__fail(SB_ERR_DTYPE, "nms has no complex boxes");
  if (status || !boxes->shape[0] || !limit) return status;
  selection s = {.is_double = dtype == SB_FLOAT64, .limit = limit};
  s.most = s.is_double ? most : float_below(most);
  status = converted(boxes, dtype, &dense);
  if (!status) status = read_scores(scores, least, &keys, &by);
  if (!status && classes) status = converted(classes, SB_INT64, &of);
  if (!status) {
    s.boxes = sb_tensor_data(&dense);
    status = select_dense(&s, &by, classes ? sb_tensor_data(&of) : NULL, boxes->shape[0],
                          sb_tensor_data(to), found);
  }
  if (of.storage) sb_tensor_release(&of);
  if (keys.storage) sb_tensor_release(&keys);
  if (dense.storage) sb_tensor_release(&dense);
  return status;
}

/* ---- Intersection over union ---- */

#define IOU(real, canonical)                                                          \
 static int iou_##real(const sb__cores_call *call) {                                  \
  const int64_t n = *(const int64_t *)call->context;                                  \
  real *to = (real *)(void *)call->data[0];                                           \
  const real *a = (const real *)(const void *)call->data[1];                          \
  const real *b = (const real *)(const void *)call->data[2];                          \
  for (int64_t i = 0; i < call->count; i++, a += 4, to += n) {                        \
   const real own = (a[2] - a[0]) * (a[3] - a[1]);                                    \
   for (int64_t k = 0; k < n; k++, b += 4) {                                          \
    const real left = a[0] > b[0] ? a[0] : b[0], top = a[1] > b[1] ? a[1] : b[1];     \
    const real right = a[2] < b[2] ? a[2] : b[2], bottom = a[3] < b[3] ? a[3] : b[3]; \
    const real w = right - left, h = bottom - top;                                    \
    const real both = (w > 0 ? w : 0) * (h > 0 ? h : 0);                              \
    to[k] = canonical(both / ((own + (b[2] - b[0]) * (b[3] - b[1])) - both));         \
   }                                                                                  \
  }                                                                                   \
  return SB__NO_PROBLEM;                                                              \
 }
IOU(float, sb__canonical_single)
IOU(double, sb__canonical_double)

static sb_status real_dtype(const char *name, sb_dtype dtype, sb_dtype *out) {
  if (sb_dtype_kind(dtype) == SB_COMPLEX)
    return sb__fail(SB_ERR_DTYPE, "%s has no %s", name, sb_dtype_name(dtype));
  return sb__computed_in(name, dtype, out);
}

sb_status sb__iou(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b, sb_casting casting,
                  int64_t *staged) {
  sb__cores f = {.name = "iou", .count = 3, .most = 1};
  sb_dtype met, dtype = SB_FLOAT32;
  int problem;
  sb_status status = sb_promote_types(a->dtype, b->dtype, &met);
  if (!status) status = real_dtype("iou", met, &dtype);
  if (!status)
    status =
        sb__check_cast(sb_dtype_kind(met) == SB_FLOATING ? met : SB_FLOAT32, to->dtype, casting);
  if (status) return status;
  if (to->ndim < 1 || a->ndim != to->ndim || a->shape[a->ndim - 1] != 4 ||
      b->ndim != to->ndim + 1 || b->shape[b->ndim - 1] != 4 ||
      b->shape[b->ndim - 2] != to->shape[to->ndim - 1])
    return sb__fail(SB_ERR_SHAPE, "iou: boxes have 4 elements");
  f.context = &b->shape[b->ndim - 2];
  f.cost = 16 * b->shape[b->ndim - 2];
  f.run = dtype == SB_FLOAT64 ? iou_double : iou_float;
  f.operand[0] = (sb__core_operand){.tensor = to, .dtype = dtype, .axes = 1, .is_written = true};
  f.operand[1] = (sb__core_operand){.tensor = a, .dtype = dtype, .axes = 1};
  f.operand[2] = (sb__core_operand){.tensor = b, .dtype = dtype, .axes = 2};
  return sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
}

/* ---- Boxes of a letterbox, in the pixels of the image that it shows ---- */

static int unletterbox(const sb__cores_call *call) {
  const sb__letterbox *box = call->context;
  for (int64_t i = 0; i < 4 * call->count; i++) {
    const int d = (int)(i % 2); /* 0: x, 1: y */
    const double at =
        (((const double *)(const void *)call->data[1])[i] - box->before[d]) / box->scale[d];
    const double least = at > 0 ? at : at == at ? 0 : at;
    const double most = least < box->size[d] ? least : least == least ? box->size[d] : least;
    ((double *)(void *)call->data[0])[i] = sb__canonical_double(box->is_clipped ? most : at);
  }
  return SB__NO_PROBLEM;
}

sb_status sb__unletterbox(const sb_tensor *to, const sb_tensor *boxes, const sb__letterbox *box,
                          sb_casting casting, int64_t *staged) {
  sb__cores f = {.name = "unletterbox", .count = 2, .run = unletterbox, .context = box, .cost = 16};
  sb_dtype dtype;
  int problem;
  sb_status status = real_dtype("unletterbox", boxes->dtype, &dtype);
  if (!status && (boxes->ndim < 1 || boxes->shape[boxes->ndim - 1] != 4))
    status = sb__fail(SB_ERR_SHAPE, "unletterbox: boxes have 4 elements");
  if (!status)
    status = sb__check_cast(sb_dtype_kind(boxes->dtype) == SB_FLOATING ? boxes->dtype : SB_FLOAT32,
                            to->dtype, casting);
  if (status) return status;
  f.operand[0] =
      (sb__core_operand){.tensor = to, .dtype = SB_FLOAT64, .axes = 1, .is_written = true};
  f.operand[1] = (sb__core_operand){.tensor = boxes, .dtype = SB_FLOAT64, .axes = 1};
  return sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
}

/* ---- One-hot ---- */

typedef struct hot {
  int64_t n, size; /* of an item, in bytes */
  sb_complex128 one;
} hot;

static int check_classes(const sb__cores_call *call) {
  const int64_t n = ((const hot *)call->context)->n;
  const int64_t *at = (const int64_t *)(const void *)call->data[0];
  int problem = SB__NO_PROBLEM;
  for (int64_t i = 0; i < call->count; i++) problem |= at[i] < 0 || at[i] >= n;
  return problem;
}

static int write_classes(const sb__cores_call *call) {
  const hot *h = call->context;
  const int64_t *at = (const int64_t *)(const void *)call->data[1];
  memset(call->data[0], 0, (size_t)(call->count * h->n * h->size));
  for (int64_t i = 0; i < call->count; i++)
    if (at[i] >= 0 && at[i] < h->n) /* another thread may have written it since */
      memcpy(call->data[0] + (i * h->n + at[i]) * h->size, &h->one, (size_t)h->size);
  return SB__NO_PROBLEM;
}

sb_status sb__one_hot(const sb_tensor *to, const sb_tensor *indices, int64_t *staged) {
  static const sb_scalar one = {.kind = SB_SCALAR_BOOL, .as.i = 1};
  const sb_kind kind = sb_dtype_kind(indices->dtype);
  hot h = {.size = sb_dtype_itemsize(to->dtype)};
  sb__cores checks = {.name = "oneHot", .count = 1, .run = check_classes, .context = &h, .cost = 1};
  sb__cores f = {.name = "oneHot", .count = 2, .run = write_classes, .context = &h};
  int problem = SB__NO_PROBLEM;
  if (kind != SB_SIGNED && kind != SB_UNSIGNED)
    return sb__fail(SB_ERR_DTYPE, "oneHot has indices of integers; %s was given",
                    sb_dtype_name(indices->dtype));
  if (to->ndim != indices->ndim + 1) return sb__fail(SB_ERR_SHAPE, "oneHot: the shapes do not fit");
  f.cost = h.n = to->shape[to->ndim - 1];
  sb_status status = sb__item_of(&one, to->dtype, (char *)&h.one);
  if (!status) status = sb__check_target(to);
  checks.operand[0] = (sb__core_operand){.tensor = indices, .dtype = SB_INT64};
  if (!status) status = sb__cores_run(&checks, SB_CASTING_UNSAFE, staged, &problem);
  if (!status && problem)
    status = sb__fail(SB_ERR_BOUNDS, "oneHot: an index is outside %lld classes", (long long)h.n);
  if (status) return status;
  f.operand[0] =
      (sb__core_operand){.tensor = to, .dtype = to->dtype, .axes = 1, .is_written = true};
  f.operand[1] = (sb__core_operand){.tensor = indices, .dtype = SB_INT64};
  return sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
}
