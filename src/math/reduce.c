/* Reductions: a walk over boxes of outputs. Where elements lie side by side along the reduction (rows) or along the outputs (columns),
 * the loops read them where they are; else the core's copies gather them in tiles first, and convert on the way. Folded values
 * of blocks are joined in pairs by their index, whoever folded them, so that the bits depend on no layout and no number of threads. */
#include <string.h>

#include "math/reduce_walk.h"

#define TILE 8192                        /* elements that are gathered at a time */
#define WIDEST 512                       /* outputs at a time, side by side */
#define WIDEST_DENSE 4096                /* where rows of them have no gaps */
#define LEAST_ROW 32                     /* elements of a row; shorter ones are folded as columns */
#define LEAST_COLUMNS 16                 /* side by side, unless they have no gaps */
#define PART_ELEMENTS (INT64_C(1) << 17) /* that are worth a part */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }

/* ---- Joining what is folded ---- */

/* later's elements come after those of a. */
static void join_folded(join how, void *a, const void *later, int64_t *index,
                        const int64_t *later_index, int64_t n) {
  double *x = a;
  const double *y = later;
  uint64_t *u = a;
  const uint64_t *v = later;
  int64_t *k = a;
  const int64_t *l = later;
  sb_complex128 *c = a;
  const sb_complex128 *d = later;
  switch (how) {
    case ADD:
      for (int64_t i = 0; i < n; i++) x[i] += y[i];
      break;
    case MULTIPLY:
      for (int64_t i = 0; i < n; i++) x[i] *= y[i];
      break;
    case ADD_INTEGERS:
      for (int64_t i = 0; i < n; i++) u[i] += v[i];
      break;
    case MULTIPLY_INTEGERS:
      for (int64_t i = 0; i < n; i++) u[i] *= v[i];
      break;
    case MULTIPLY_COMPLEX:
      for (int64_t i = 0; i < n; i++)
        c[i] = (sb_complex128){c[i].re * d[i].re - c[i].im * d[i].im,
                               c[i].re * d[i].im + c[i].im * d[i].re};
      break;
    case MOST:
      for (int64_t i = 0; i < n; i++) k[i] = l[i] > k[i] ? l[i] : k[i];
      break;
    case WHERE:
      for (int64_t i = 0; i < n; i++) {
        if (l[i] <= k[i]) continue;
        k[i] = l[i];
        index[i] = later_index[i];
      }
      break;
  }
}

/* Joins the last two subtrees. */
static void join_last(const walk *w, const room *m, int depth, int64_t outputs) {
  char *a = subtree_at(m, depth - 2), *b = subtree_at(m, depth - 1);
  join_folded(sizes_of(w)->join, a, b, index_at(w, a, outputs), index_at(w, b, outputs), outputs);
}

/* Takes the subtree on top as the next block, or group of blocks of one size. Returns the depth. */
static int push(const walk *w, const room *m, int depth, uint64_t block, int64_t outputs) {
  depth++;
  for (uint64_t b = block; b & 1; b >>= 1) join_last(w, m, depth--, outputs);
  return depth;
}

static void collapse(const walk *w, const room *m, int depth, int64_t outputs) {
  while (depth > 1) join_last(w, m, depth--, outputs);
}

/* ---- Gathering ---- */

/* The longest box that begins at element `at` of the reduction and has at most `left` elements. Sets extents; returns how many. */
static int64_t box_at(const walk *w, int64_t at, int64_t left, int64_t *extent, const char **from) {
  int64_t run = 1, rest = at;
  int32_t d = w->ndim - 1;
  for (int32_t e = 0; e < w->ndim; e++) extent[e] = 1;
  while (d > 0 && rest % w->n[d] == 0 && run * w->n[d] <= left) {
    run *= extent[d] = w->n[d];
    rest /= w->n[d--];
  }
  if (d >= 0) {
    extent[d] = least(w->n[d] - rest % w->n[d], left / run);
    run *= extent[d];
  }
  for (; d >= 0; d--) {
    *from += rest % w->n[d] * w->step[d];
    rest /= w->n[d];
  }
  return run;
}

/* Copies elements first to first + n of all outputs of a box into the tile, as rows or as columns. */
static void gather(const walk *w, const room *m, const box *b, int64_t first, int64_t n) {
  const int64_t load_size = sb_dtype_itemsize(w->how->load),
                from_size = sb_dtype_itemsize(w->from_dtype);
  int64_t extent[SB_MAX_DIMS], stride = w->is_rows ? n : 1;
  const int64_t element = w->is_rows ? 1 : b->outputs;
  sb_tensor here, there;
  here.dtype = w->how->load;
  there.dtype = w->from_dtype;
  here.ndim = there.ndim = w->kept.ndim + w->ndim;
  for (int32_t d = w->kept.ndim - 1; d >= 0; d--) {
    here.shape[d] = there.shape[d] = b->n[d];
    here.strides[d] = stride;
    there.strides[d] = w->kept.outer[d].step[1] / from_size;
    stride *= b->n[d];
  }
  for (int64_t done = 0; done < n;) {
    const char *from = b->from;
    const int64_t count = box_at(w, first + done, n - done, extent, &from);
    int64_t inside = element;
    for (int32_t d = w->ndim - 1; d >= 0; d--) {
      const int32_t e = w->kept.ndim + d;
      here.shape[e] = there.shape[e] = extent[d];
      here.strides[e] = inside;
      there.strides[e] = w->step[d] / from_size;
      inside *= extent[d];
    }
    sb__plan plan;
    const sb_tensor *tensors[] = {&here, &there};
    const sb__job job = {.plan = &plan,
                         .base = {m->tile + done * element * load_size, (char *)(uintptr_t)from},
                         .to = here.dtype,
                         .from = there.dtype};
    sb__plan_make(2, tensors, false, &plan);
    sb__run_job(&job);
    done += count;
  }
}

/* ---- Folding ---- */

static void fold_direct(const walk *w, sb__fold fold, const room *m, const box *b, sb__fold_call *c,
                        int64_t n) {
  c->n = n;
  c->step = b->step;
  c->from = b->from + (w->ndim ? c->first * w->step[w->ndim - 1] : 0);
  c->is_last = true;
  (void)m;
  (w->is_rows ? w->loops->rows : w->loops->columns)[fold](c);
}

static void fold_gathered(const walk *w, sb__fold fold, const room *m, const box *b,
                          sb__fold_call *c, int64_t n) {
  const int64_t load_size = sb_dtype_itemsize(w->how->load);
  c->from = m->tile;
  if (w->is_rows) {
    gather(w, m, b, c->first, n);
    c->n = n;
    c->step = n * load_size;
    w->loops->rows[fold](c);
    return;
  }
  c->step = b->outputs * load_size;
  for (int64_t done = 0; done < n; done += w->piece) {
    c->n = least(w->piece, n - done);
    gather(w, m, b, c->first, c->n);
    c->goes_on = done > 0;
    c->is_last = done + c->n == n;
    w->loops->columns[fold](c);
    c->first += c->n;
  }
}

/* Folds elements first to end of a box into the lowest subtree of m. first is a multiple of a power of two of blocks that is at
 * least end - first, so that this is a subtree of the whole. */
static void fold_range(const walk *w, sb__fold fold, const room *m, const box *b, int64_t first,
                       int64_t end) {
  const int64_t most = w->is_direct && w->is_rows ? end - first : w->span;
  int depth = 0;
  for (uint64_t block = 0; first < end; block++, first += most) {
    char *folded = subtree_at(m, depth);
    sb__fold_call c = {.folded = folded,
                       .index = index_at(w, folded, b->outputs),
                       .outputs = b->outputs,
                       .first = first,
                       .shift = m->shift,
                       .flip = w->how->flip,
                       .lanes = m->lanes};
    const int64_t n = least(most, end - first);
    if (w->is_direct)
      fold_direct(w, fold, m, b, &c, n);
    else
      fold_gathered(w, fold, m, b, &c, n);
    depth = push(w, m, depth, block, b->outputs);
  }
  collapse(w, m, depth, b->outputs);
}

/* ---- Boxes ---- */

static void box_of(const walk *w, int64_t i, box *b) {
  b->outputs = 1;
  b->from = w->from + w->kept.first[1];
  b->to = w->to + w->kept.first[0];
  b->step = 0;
  for (int32_t d = w->kept.ndim - 1; d >= 0; d--) {
    const sb__plan_dim *dim = &w->kept.outer[d];
    const int64_t count = parts_of(dim->n, w->chunk[d]), at = i % count * w->chunk[d];
    i /= count;
    b->n[d] = least(w->chunk[d], dim->n - at);
    b->outputs *= b->n[d];
    b->from += at * dim->step[1];
    b->to += at * dim->step[0];
  }
  if (w->is_rows && w->along >= 0) b->step = w->kept.outer[w->along].step[1];
  if (!w->is_rows && w->ndim) b->step = w->step[w->ndim - 1];
}

/* The means that squares are measured from. */
static void set_shift(const walk *w, const room *m, int64_t outputs, bool is_zero) {
  const double *sum = (const double *)(const void *)subtree_at(m, 0);
  const int64_t times = w->is_rows ? 1 : SB__LANES;
  for (int64_t i = 0; i < outputs; i++) m->shift[i] = is_zero ? 0 : sum[i] / (double)w->length;
  for (int64_t k = 1; k < times; k++)
    memcpy(m->shift + k * outputs, m->shift, (size_t)outputs * sizeof *m->shift);
}

static bool has_shift(const walk *w) {
  return w->how->group == SB__REDUCES_SPREAD || w->how->op == SB__REDUCE_norm2;
}

static void run_box(const walk *w, const room *m, int64_t i) {
  box b;
  box_of(w, i, &b);
  if (has_shift(w)) set_shift(w, m, b.outputs, true);
  if (!w->length) {
    sb__fold_nothing(w, m, b.outputs);
  } else {
    fold_range(w, w->how->fold, m, &b, 0, w->length);
    if (w->how->group == SB__REDUCES_SPREAD) {
      set_shift(w, m, b.outputs, false);
      fold_range(w, w->how->squares, m, &b, 0, w->length);
    }
  }
  sb__finish_folded(w, m, b.outputs);
  sb__store_results(w, m, &b);
}

/* ---- Threads ---- */

typedef struct shared_walk {
  const walk *walk;
  const room *rooms; /* one for each part */
  int64_t parts;
  const box *box; /* of parts of one box */
  sb__fold fold;
  int64_t part_elements;
} shared_walk;

static void run_boxes(void *context, int i) {
  const shared_walk *s = context;
  const uint32_t mode = sb__float_mode_default();
  const int64_t end = s->walk->boxes * (i + 1) / s->parts;
  for (int64_t k = s->walk->boxes * i / s->parts; k < end; k++) run_box(s->walk, &s->rooms[i], k);
  sb__float_mode_restore(mode);
}

static void run_range(void *context, int i) {
  const shared_walk *s = context;
  const uint32_t mode = sb__float_mode_default();
  const int64_t first = i * s->part_elements;
  fold_range(s->walk, s->fold, &s->rooms[i], s->box, first,
             least(first + s->part_elements, s->walk->length));
  sb__float_mode_restore(mode);
}

/* Folds a box by parts that are subtrees of one size, into the first part's room. */
static void fold_shared(const walk *w, const room *rooms, int64_t parts, const box *b,
                        sb__fold fold) {
  const room *m = rooms;
  shared_walk s = {.walk = w, .rooms = rooms, .box = b, .fold = fold, .part_elements = SB__BLOCK};
  while (parts_of(w->length, s.part_elements) > parts) s.part_elements *= 2;
  s.parts = parts_of(w->length, s.part_elements);
  for (int64_t i = 1; i < s.parts && has_shift(w); i++)
    memcpy(rooms[i].shift, m->shift,
           (size_t)(b->outputs * (w->is_rows ? 1 : SB__LANES)) * sizeof *m->shift);
  sb__parallel((int)s.parts, run_range, &s);
  int depth = 1;
  for (int64_t i = 1; i < s.parts; i++) {
    memcpy(subtree_at(m, depth), rooms[i].subtrees, (size_t)m->subtree);
    depth = push(w, m, depth, (uint64_t)i, b->outputs);
  }
  collapse(w, m, depth, b->outputs);
}

static void run_box_shared(const walk *w, const room *rooms, int64_t parts, int64_t i) {
  const room *m = rooms;
  box b;
  box_of(w, i, &b);
  if (has_shift(w)) set_shift(w, m, b.outputs, true);
  fold_shared(w, rooms, parts, &b, w->how->fold);
  if (w->how->group == SB__REDUCES_SPREAD) {
    set_shift(w, m, b.outputs, false);
    fold_shared(w, rooms, parts, &b, w->how->squares);
  }
  sb__finish_folded(w, m, b.outputs);
  sb__store_results(w, m, &b);
}

/* ---- Choices ---- */

/* The dimension of the outputs along which the source lies side by side; -1: there is none of length. */
static int32_t beside(const walk *w, int64_t size) {
  const bool has_lines = sizes_of(w)->join != WHERE;
  for (int32_t d = 0; d < w->kept.ndim; d++) {
    const sb__plan_dim *dim = &w->kept.outer[d];
    if (dim->step[1] != size) continue;
    if (dim->n >= LEAST_COLUMNS) return d;
    if (has_lines && w->ndim == 1 && w->step[0] == dim->n * size) return d;
  }
  return -1;
}

static void choose_layout(walk *w) {
  const int64_t size = sb_dtype_itemsize(w->from_dtype);
  const bool is_loaded = w->from_dtype == w->how->load;
  const int32_t last = w->ndim - 1, side = beside(w, size);
  const bool has_rows = last >= 0 && w->step[last] == size && w->n[last] >= LEAST_ROW;
  w->is_rows = has_rows || (side < 0 && w->length >= LEAST_ROW);
  w->is_direct = is_loaded && w->ndim <= 1 && (w->is_rows ? has_rows : side >= 0);
  w->along = w->is_rows ? w->kept.ndim - 1 : side;
}

/* Boxes along one dimension. */
static void choose_along(walk *w, int64_t most) {
  for (int32_t d = 0; d < w->kept.ndim; d++) w->chunk[d] = 1;
  if (w->along < 0) return;
  const int64_t n = w->kept.outer[w->along].n;
  int64_t size = n;
  if (n > most) {
    size = parts_of(n, parts_of(n, most)); /* of one size, about */
    size = least(parts_of(size, LEAST_COLUMNS) * LEAST_COLUMNS, most);
  }
  w->chunk[w->along] = size;
}

/* Boxes of what is inside. */
static void choose_inside(walk *w, int64_t most) {
  for (int32_t d = w->kept.ndim - 1; d >= 0; d--) {
    const int64_t n = least(w->kept.outer[d].n, most);
    w->chunk[d] = n < 1 ? 1 : n;
    most /= w->chunk[d];
  }
}

static void choose_boxes(walk *w) {
  const int64_t n = w->length < 1 ? 1 : w->length;
  w->outputs = w->boxes = 1;
  if (w->is_direct && w->is_rows) {
    const int64_t most = 2 * TILE / n;
    choose_along(w, most < 1 ? 1 : least(most, WIDEST / 2));
  } else if (w->is_direct) {
    const int64_t wide =
        w->along >= 0 ? w->kept.outer[w->along].n * sb_dtype_itemsize(w->from_dtype) : 0;
    choose_along(w, w->ndim && w->step[0] == wide ? WIDEST_DENSE : 2 * WIDEST);
  } else {
    const int64_t block = least(n, SB__BLOCK), most = least(TILE / block, WIDEST);
    if (w->is_rows)
      choose_inside(w, most);
    else if (w->along >= 0)
      choose_along(w, WIDEST / 2);
    else
      choose_inside(w, WIDEST / 2);
  }
  for (int32_t d = 0; d < w->kept.ndim; d++) {
    w->outputs *= w->chunk[d];
    w->boxes *= parts_of(w->kept.outer[d].n, w->chunk[d]);
  }
  w->piece = TILE / w->outputs / SB__LANES * SB__LANES;
  if (w->piece > SB__BLOCK) w->piece = SB__BLOCK;
  w->span = SB__BLOCK;
  while (w->is_rows && w->span < w->length && 2 * w->span * w->outputs <= TILE) w->span *= 2;
}

static int64_t rounded(int64_t nbytes) { return (nbytes + 63) / 64 * 64; }

/* Lays out a part's room; returns its bytes. base: NULL only measures. */
static int64_t make_room(const walk *w, char *base, room *m) {
  const fold_sizes *s = sizes_of(w);
  const int64_t blocks = parts_of(w->length, SB__BLOCK);
  int64_t depth = 2, at = 0;
  for (int64_t b = blocks; b; b /= 2) depth++;
  m->subtree = rounded(w->outputs * (s->folded + (s->join == WHERE ? 8 : 0)));
  m->subtrees = base;
  at += depth * m->subtree;
  m->made = base + at;
  at += rounded(w->outputs * 16);
  m->shift = has_shift(w) ? (double *)(void *)(base + at) : NULL;
  if (has_shift(w)) at += rounded(w->outputs * 8 * (w->is_rows ? 1 : SB__LANES));
  m->lanes = base + at;
  if (!w->is_rows) at += rounded(w->outputs * s->lane * (s->join == WHERE ? 2 : SB__LANES));
  m->tile = base + at;
  const int64_t tile = w->is_rows ? w->outputs * least(w->length, w->span) : w->outputs * w->piece;
  if (!w->is_direct) at += rounded(tile * sb_dtype_itemsize(w->how->load));
  return at;
}

static sb_status run_reduction(walk *w) {
  char small[8192] __attribute__((aligned(64)));
  room rooms[SB__MOST_PARTS];
  char *memory = NULL;
  choose_layout(w);
  choose_boxes(w);
  const int64_t parts = sb__parts_worth(w->boxes * w->outputs * w->length / PART_ELEMENTS);
  const int64_t nbytes = make_room(w, small, &rooms[0]);
  if (parts > 1 || nbytes > (int64_t)sizeof small) {
    memory = sb__alloc_bytes(parts * nbytes);
    if (!memory)
      return sb__fail(SB_ERR_MEMORY, "%lld bytes for %s", (long long)(parts * nbytes),
                      w->how->name);
    for (int64_t i = 0; i < parts; i++) make_room(w, memory + i * nbytes, &rooms[i]);
  }
  shared_walk s = {.walk = w, .rooms = rooms, .parts = parts};
  if (parts == 1)
    run_boxes(&s, 0);
  else if (w->boxes >= parts)
    sb__parallel((int)parts, run_boxes, &s);
  else
    for (int64_t i = 0; i < w->boxes; i++) run_box_shared(w, rooms, parts, i);
  if (memory) sb__free_aligned(memory);
  return SB_OK;
}

/* ---- Operands ---- */

static sb_status read_axes(const sb_tensor *from, int64_t count, const int64_t *axes,
                           bool *is_reduced) {
  memset(is_reduced, 0, SB_MAX_DIMS * sizeof *is_reduced);
  for (int64_t i = 0; i < count; i++) {
    if (axes[i] < 0 || axes[i] >= from->ndim)
      return sb__fail(SB_ERR_BOUNDS, "axis %lld is outside %d axes", (long long)axes[i],
                      from->ndim);
    if (is_reduced[axes[i]])
      return sb__fail(SB_ERR_BOUNDS, "axis %lld is there twice", (long long)axes[i]);
    is_reduced[axes[i]] = true;
  }
  return SB_OK;
}

static sb_status wrong_shape(const sb_tensor *to, const sb_tensor *from) {
  char a[128], b[128];
  return sb__fail(SB_ERR_SHAPE, "the target has shape %s, which is not that of %s without the axes",
                  sb__shape_text(to->ndim, to->shape, a),
                  sb__shape_text(from->ndim, from->shape, b));
}

/* Separates the dimensions of the outputs from those of the reduction. of_parts: complex numbers are two reals each, of which the
 * second is one more output. */
static sb_status separate(walk *w, const sb_tensor *to, const sb_tensor *from,
                          const bool *is_reduced, int64_t count, bool of_parts) {
  sb_tensor outputs, source;
  const bool keeps = to->ndim == from->ndim;
  const int64_t times = of_parts ? 2 : 1;
  int32_t ndim = 0, at = 0;
  if (!keeps && to->ndim != from->ndim - count) return wrong_shape(to, from);
  w->ndim = 0;
  w->length = 1;
  for (int32_t d = 0; d < from->ndim; d++) {
    const int64_t n = from->shape[d];
    if (!is_reduced[d]) {
      if (to->shape[at] != n) return wrong_shape(to, from);
      outputs.shape[ndim] = source.shape[ndim] = n;
      outputs.strides[ndim] = to->strides[at++] * times;
      source.strides[ndim++] = from->strides[d] * times;
      continue;
    }
    if (keeps && to->shape[at++] != 1) return wrong_shape(to, from);
    const int64_t step = from->strides[d] * sb_dtype_itemsize(from->dtype);
    w->length *= n;
    if (n == 1) continue;
    if (w->ndim && w->step[w->ndim - 1] == step * n) {
      w->n[w->ndim - 1] *= n;
      w->step[w->ndim - 1] = step;
    } else {
      w->n[w->ndim] = n;
      w->step[w->ndim++] = step;
    }
  }
  if (of_parts) {
    outputs.shape[ndim] = source.shape[ndim] = 2;
    outputs.strides[ndim] = source.strides[ndim] = 1;
    ndim++;
  }
  outputs.ndim = source.ndim = ndim;
  outputs.dtype = w->to_dtype;
  source.dtype = w->from_dtype;
  const sb_tensor *tensors[] = {&outputs, &source};
  if (sb_tensor_numel(to)) sb__plan_merge(2, tensors, false, &w->kept);
  return SB_OK;
}

static sb_dtype part_of(sb_dtype dtype) { return dtype == SB_COMPLEX64 ? SB_FLOAT32 : SB_FLOAT64; }

static sb_status check_length(const walk *w) {
  const sb__reduction_group group = w->how->group;
  const bool finds = group == SB__REDUCES_INDEX;
  if (!w->length && (finds || group == SB__REDUCES_EXTREME))
    return sb__fail(SB_ERR_SHAPE, "%s of no elements", w->how->name);
  if ((finds || group == SB__REDUCES_COUNT) && w->how->result == SB_INT32 && w->length > INT32_MAX)
    return sb__fail(SB_ERR_BOUNDS, "%lld elements are beyond int32; dtype 'int64' is not",
                    (long long)w->length);
  return SB_OK;
}

/* A reduction of complex numbers into a target of other numbers goes by a complex one. */
static sb_status reduce_apart(int64_t op, const sb_tensor *to, const sb_tensor *from, int64_t count,
                              const int64_t *axes, const sb__reduction *how, sb_casting casting,
                              int64_t *staged) {
  sb_tensor made;
  sb_status status = sb_tensor_empty(how->result, to->ndim, to->shape, &made);
  if (status) return status;
  status = sb__math_reduce(op, &made, from, count, axes, how->result, 0, casting, staged);
  if (!status) status = sb_copy(to, &made, casting, NULL);
  sb_tensor_release(&made);
  return status;
}

sb_status sb__math_reduce(int64_t op, const sb_tensor *to, const sb_tensor *from, int64_t count,
                          const int64_t *axes, int64_t asked, double correction, sb_casting casting,
                          int64_t *staged) {
  sb__reduction how;
  bool is_reduced[SB_MAX_DIMS];
  sb_tensor copy;
  bool is_copied = false;
  sb_status status = sb__reduction_of(op, from->dtype, asked, &how);
  if (!status && how.group == SB__REDUCES_LINES)
    status = sb__fail(SB_ERR_ARGUMENT, "%s is for lines", how.name);
  if (!status) status = read_axes(from, count, axes, is_reduced);
  if (!status) status = sb__check_cast(how.result, to->dtype, casting);
  if (!status) status = sb__check_target(to);
  if (!status) status = sb__check_bytes("the source", from);
  if (status) return status;
  const bool is_complex = sb_dtype_kind(from->dtype) == SB_COMPLEX;
  const bool of_parts =
      is_complex && (how.group == SB__REDUCES_SUM || how.group == SB__REDUCES_MEAN);
  if (of_parts && sb_dtype_kind(to->dtype) != SB_COMPLEX)
    return reduce_apart(op, to, from, count, axes, &how, casting, staged);
  walk w = {.how = &how,
            .loops = sb__fold_loops_now(),
            .correction = correction,
            .from_dtype = of_parts ? part_of(from->dtype) : from->dtype,
            .to_dtype = of_parts ? part_of(to->dtype) : to->dtype};
  status = separate(&w, to, from, is_reduced, count, of_parts);
  if (status || !sb_tensor_numel(to)) return status;
  status = check_length(&w);
  if (!status && sb_tensor_numel(from) && sb__may_overlap(to, from)) {
    status = sb__math_copy_of(from, &copy, staged);
    is_copied = !status;
    if (!status) status = separate(&w, to, &copy, is_reduced, count, of_parts);
  }
  if (!status) {
    w.from = sb_tensor_data(is_copied ? &copy : from);
    w.to = sb_tensor_data(to);
    status = run_reduction(&w);
  }
  if (is_copied) sb_tensor_release(&copy);
  return status;
}
