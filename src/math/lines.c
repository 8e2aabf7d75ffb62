/* Gathers lines, some at a time, by the core's copies, which convert them on the way; calls the function; puts results in place. Where the
 * target has a line's elements side by side, in the dtype that is computed in, its own memory takes the place of scratch. */
#include <string.h>

#include "math/lines.h"

#define FEW_ELEMENTS 4096                /* of a box */
#define MANY_ELEMENTS 16384              /* where the source is not read line by line */
#define LEAST_LINES 16                   /* there, of a box */
#define MOST_ELEMENTS (INT64_C(1) << 20) /* of such a box, unless a line has more */
#define LONG_LINE 1024                   /* is worth a call of its own */
#define PART_ELEMENTS (INT64_C(1) << 15) /* that are worth a part */

typedef struct walk {
  sb__line_call call;                       /* what all calls have in common */
  bool is_in_place;                         /* results take the elements' places */
  bool is_direct;                           /* they are computed in the target's memory */
  bool is_same;                             /* the source is the target */
  bool reads_direct;                        /* the source is read where it is */
  const sb_tensor *tensor[2];               /* target and source */
  int32_t axis;                             /* the first one of a line */
  sb__plan kept;                            /* the axes before it */
  int64_t chunk[SB_MAX_DIMS], lines, boxes; /* lines: of a whole box */
  int64_t tile, made;                       /* bytes of scratch */
  char *scratch;
  int64_t parts;
} walk;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }
static int64_t rounded(int64_t nbytes) { return parts_of(nbytes, 64) * 64; }

/* Copies a box between its place and memory where lines follow each other. Operand 0 is written, 1 is read. */
static void move_box(const walk *w, const int64_t *n, int32_t k, char *place, char *memory) {
  const sb_tensor *t = w->tensor[k];
  const int32_t kept = w->kept.ndim, skipped = w->axis - kept;
  sb_tensor there = {.dtype = t->dtype}, here = {.dtype = w->call.load};
  int64_t stride = 1;
  sb__plan plan;
  here.ndim = there.ndim = t->ndim - skipped;
  for (int32_t d = here.ndim - 1; d >= 0; d--) {
    here.shape[d] = there.shape[d] = d < kept ? n[d] : t->shape[d + skipped];
    there.strides[d] =
        d < kept ? w->kept.outer[d].step[k] / sb_dtype_itemsize(t->dtype) : t->strides[d + skipped];
    here.strides[d] = stride;
    stride *= here.shape[d];
  }
  const sb_tensor *tensors[] = {k ? &here : &there, k ? &there : &here};
  const sb__job job = {.plan = &plan,
                       .base = {k ? memory : place, k ? place : memory},
                       .to = tensors[0]->dtype,
                       .from = tensors[1]->dtype};
  sb__plan_make(2, tensors, false, &plan);
  sb__run_job(&job);
}

static void run_box(const walk *w, int64_t i, char *scratch) {
  sb__line_call c = w->call;
  int64_t n[SB_MAX_DIMS];
  char *place[2];
  for (int32_t k = 0; k < 2; k++)
    place[k] = (char *)sb_tensor_data(w->tensor[k]) + w->kept.first[k];
  c.count = 1;
  for (int32_t d = w->kept.ndim - 1; d >= 0; d--) {
    const sb__plan_dim *dim = &w->kept.outer[d];
    const int64_t boxes = parts_of(dim->n, w->chunk[d]), at = i % boxes * w->chunk[d];
    i /= boxes;
    n[d] = least(w->chunk[d], dim->n - at);
    c.count *= n[d];
    for (int32_t k = 0; k < 2; k++) place[k] += at * dim->step[k];
  }
  c.made = scratch;
  c.lines = w->is_direct ? place[0] : scratch + w->made;
  c.from = w->reads_direct ? place[1] : c.lines;
  if (c.n && !w->reads_direct) move_box(w, n, 1, place[1], c.lines);
  if (c.op == SB__REDUCE_quantile)
    sb__select_lines(&c);
  else
    sb__softmax_lines(&c);
  if (!w->is_direct) move_box(w, n, 0, place[0], w->is_in_place ? c.lines : c.made);
}

static void run_part(void *context, int i) {
  const walk *w = context;
  const uint32_t mode = sb__float_mode_default();
  const int64_t end = w->boxes * (i + 1) / w->parts;
  for (int64_t k = w->boxes * i / w->parts; k < end; k++)
    run_box(w, k, w->scratch + i * (w->made + w->tile));
  sb__float_mode_restore(mode);
}

/* ---- Choices ---- */

/* Whether a line's elements lie side by side, in the dtype that is computed in. */
static bool is_dense(const walk *w, int32_t k) {
  const sb_tensor *t = w->tensor[k];
  int64_t stride = 1;
  for (int32_t d = t->ndim - 1; d >= w->axis; d--) {
    if (t->shape[d] != 1 && t->strides[d] != stride) return false;
    stride *= t->shape[d];
  }
  return t->dtype == w->call.load;
}

static void choose_boxes(walk *w) {
  const int64_t n = w->call.n < 1 ? 1 : w->call.n, size = sb_dtype_itemsize(w->call.load);
  const int32_t last = w->kept.ndim - 1;
  const bool reads_lines = is_dense(w, 1);
  const bool is_beside = last < 0 || w->kept.outer[last].step[0] == n * size;
  w->is_direct = w->is_in_place && is_dense(w, 0) && (is_beside || n >= LONG_LINE);
  int64_t most = FEW_ELEMENTS / n;
  if (!reads_lines) {
    most = MANY_ELEMENTS / n;
    if (most < LEAST_LINES) most = least(LEAST_LINES, MOST_ELEMENTS / n);
  }
  most = least(most, SB__LINES_MOST);
  w->lines = w->boxes = 1;
  for (int32_t d = last; d >= 0; d--) {
    const bool is_one = w->is_direct && (d < last || !is_beside);
    const int64_t chunk = is_one ? 1 : least(w->kept.outer[d].n, most / w->lines);
    w->chunk[d] = chunk < 1 ? 1 : chunk;
    w->lines *= w->chunk[d];
    w->boxes *= parts_of(w->kept.outer[d].n, w->chunk[d]);
  }
  w->reads_direct =
      w->call.op != SB__REDUCE_quantile && reads_lines &&
      (w->lines == 1 || ((w->is_direct || last < 1) && w->kept.outer[last].step[1] == n * size));
  const int64_t nbytes = w->lines * w->call.n * size;
  w->tile = w->is_direct ? 0 : rounded(nbytes);
  w->made = w->is_in_place ? 0 : rounded(w->lines * w->call.results * size);
  if (w->call.op == SB__REDUCE_log_softmax) w->made = rounded(nbytes);
}

static sb_status run_lines(walk *w, const char *name) {
  char small[8192] __attribute__((aligned(64)));
  char *memory = NULL;
  choose_boxes(w);
  w->parts = least(sb__parts_worth(w->boxes * w->lines * w->call.n / PART_ELEMENTS), w->boxes);
  const int64_t nbytes = w->parts * (w->made + w->tile);
  if (nbytes > (int64_t)sizeof small) {
    memory = sb__alloc_bytes(nbytes);
    if (!memory) return sb__fail(SB_ERR_MEMORY, "%lld bytes for %s", (long long)nbytes, name);
  }
  w->scratch = memory ? memory : small;
  sb__parallel((int)w->parts, run_part, w);
  if (memory) sb__free_aligned(memory);
  return SB_OK;
}

/* ---- Operands ---- */

static sb_status check_ranks(int64_t n, int64_t count, const int64_t *ranks) {
  bool fits = count <= SB__RANKS_MOST;
  for (int64_t i = 0; fits && n && i < count; i++) fits = ranks[i] >= 0 && ranks[i] < n;
  return fits ? SB_OK : sb__fail(SB_ERR_BOUNDS, "a rank is outside %lld elements", (long long)n);
}

/* Separates lines from the other axes, and compares shapes. */
static sb_status separate(walk *w, const sb_tensor *to, const sb_tensor *from, int64_t axes) {
  char a[128], b[128];
  if (axes < 0 || axes > from->ndim)
    return sb__fail(SB_ERR_BOUNDS, "%lld axes of %d", (long long)axes, from->ndim);
  w->axis = from->ndim - (int32_t)axes;
  const int32_t same = w->is_in_place ? from->ndim : w->axis;
  int64_t results = 1;
  bool fits = w->is_in_place ? to->ndim == same : to->ndim >= same;
  for (int32_t d = 0; fits && d < to->ndim; d++) {
    if (d < same)
      fits = to->shape[d] == from->shape[d];
    else
      results *= to->shape[d];
  }
  if (!fits || results != w->call.results)
    return sb__fail(SB_ERR_SHAPE, "the target has shape %s, which does not fit %s",
                    sb__shape_text(to->ndim, to->shape, a),
                    sb__shape_text(from->ndim, from->shape, b));
  w->call.n = 1;
  for (int32_t d = w->axis; d < from->ndim; d++) w->call.n *= from->shape[d];
  return SB_OK;
}

/* The axes before lines, of both. */
static void merge(walk *w) {
  sb_tensor to = *w->tensor[0], from = *w->tensor[1];
  const sb_tensor *tensors[] = {&to, &from};
  to.ndim = from.ndim = w->axis;
  sb__plan_merge(2, tensors, false, &w->kept);
}

sb_status sb__math_lines(int64_t op, const sb_tensor *to, const sb_tensor *from, int64_t axes,
                         int64_t count, const int64_t *ranks, int64_t asked, sb_casting casting,
                         int64_t *staged) {
  sb__reduction how;
  sb_tensor copy;
  sb_status status = sb__reduction_of(op, from->dtype, asked, &how);
  if (!status && how.group != SB__REDUCES_LINES)
    status = sb__fail(SB_ERR_ARGUMENT, "%s is not for lines", how.name);
  if (status) return status;
  walk w = {.call = {.op = how.op, .load = how.load, .results = 1, .ranks = ranks},
            .is_in_place = op == SB__REDUCE_softmax || op == SB__REDUCE_log_softmax,
            .tensor = {to, from}};
  if (op == SB__REDUCE_quantile) w.call.results = count;
  status = separate(&w, to, from, axes);
  if (!status) status = check_ranks(w.call.n, count, ranks);
  if (!status) status = sb__check_cast(how.result, to->dtype, casting);
  if (!status) status = sb__check_target(to);
  if (!status) status = sb__check_bytes("the source", from);
  if (status || !sb_tensor_numel(to)) return status;
  w.is_same = w.is_in_place && to->dtype == from->dtype && sb__is_in_place(to, from);
  if (w.call.n && sb__may_overlap(to, from) && !w.is_same) {
    status = sb__math_copy_of(from, &copy, staged);
    if (status) return status;
    w.tensor[1] = &copy;
  }
  merge(&w);
  status = run_lines(&w, how.name);
  if (w.tensor[1] == &copy) sb_tensor_release(&copy);
  return status;
}
