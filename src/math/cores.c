/* Brings cores to where a function reads them, box by box: some batches along one axis. An operand that lies there without gaps, in the right
 * dtype, is used in place; another one is gathered, or its results put in place, by the core's copies, which convert on the way. */
#include <stdatomic.h>

#include "math/cores.h"

#define BOX_BYTES (INT64_C(1) << 16) /* of scratch, unless a single core has more */
#define PART_COST (INT64_C(1) << 16) /* additions that are worth a part */
#define ALIGNED 64

typedef struct place {
  const sb_tensor *tensor;
  int64_t nbytes; /* of a core */
  bool is_direct; /* a core lies without gaps, in the right dtype */
  bool is_apart;  /* a source of which a target has the memory: it is always gathered */
  int64_t at;     /* in scratch, where it is not direct */
} place;

typedef struct walk {
  const sb__cores *f;
  place places[SB__CORE_OPERANDS];
  sb__plan batches;
  int64_t chunk, boxes, cores; /* cores: of all boxes */
  int64_t nbytes;              /* of scratch, for each part */
  char *scratch;
  int64_t parts;
  atomic_int problem;
} walk;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }
static int64_t rounded(int64_t nbytes) { return parts_of(nbytes, ALIGNED) * ALIGNED; }

/* The batch axis along which a box lies: the last one; NULL: there is one core. */
static const sb__plan_dim *along(const walk *w) {
  return w->batches.ndim ? &w->batches.outer[w->batches.ndim - 1] : NULL;
}

/* Copies cores between their places and memory where they follow each other. */
static void move_cores(const walk *w, int32_t k, int64_t count, char *there, char *here) {
  const sb__core_operand *operand = &w->f->operand[k];
  const sb_tensor *t = w->places[k].tensor;
  const sb__plan_dim *dim = along(w);
  const int32_t before = t->ndim - operand->axes;
  sb_tensor from = {.dtype = t->dtype}, to = {.dtype = operand->dtype};
  int64_t stride = 1;
  sb__plan plan;
  const int32_t batch =
      count != 1; /* its axes; none where an operand has as many as there may be */
  to.ndim = from.ndim = operand->axes + batch;
  for (int32_t d = operand->axes - 1; d >= 0; d--) {
    to.shape[batch + d] = from.shape[batch + d] = t->shape[before + d];
    from.strides[batch + d] = t->strides[before + d];
    to.strides[batch + d] = stride;
    stride *= t->shape[before + d];
  }
  if (batch) {
    to.shape[0] = from.shape[0] = count;
    from.strides[0] = dim ? dim->step[k] / sb_dtype_itemsize(t->dtype) : 0;
    to.strides[0] = stride;
  }
  const sb_tensor *tensors[] = {operand->is_written ? &from : &to,
                                operand->is_written ? &to : &from};
  const sb__job job = {
      .plan = &plan,
      .base = {operand->is_written ? there : here, operand->is_written ? here : there},
      .to = tensors[0]->dtype,
      .from = tensors[1]->dtype};
  if (!stride) return;
  sb__plan_make(2, tensors, false, &plan);
  sb__run_job(&job);
}

static void run_box(walk *w, int64_t i, char *scratch) {
  const sb__cores *f = w->f;
  const sb__plan_dim *dim = along(w);
  sb__cores_call call = {.count = 1, .context = f->context, .scratch = f->scratch ? scratch : NULL};
  char *there[SB__CORE_OPERANDS];
  for (int32_t k = 0; k < f->count; k++)
    there[k] = (char *)sb_tensor_data(w->places[k].tensor) + w->batches.first[k];
  for (int32_t d = w->batches.ndim - 1; d >= 0; d--) {
    const sb__plan_dim *each = &w->batches.outer[d];
    const int64_t chunk = each == dim ? w->chunk : 1, boxes = parts_of(each->n, chunk);
    const int64_t at = i % boxes * chunk;
    i /= boxes;
    if (each == dim) call.count = least(chunk, each->n - at);
    for (int32_t k = 0; k < f->count; k++) there[k] += at * each->step[k];
  }
  for (int32_t k = 0; k < f->count; k++) {
    const place *p = &w->places[k];
    const bool is_beside = call.count == 1 || dim->step[k] == p->nbytes;
    call.data[k] = p->is_direct && is_beside ? there[k] : scratch + p->at;
    if (call.data[k] != there[k] && !f->operand[k].is_written)
      move_cores(w, k, call.count, there[k], call.data[k]);
  }
  const int problem = f->run(&call);
  if (problem) atomic_store(&w->problem, problem);
  for (int32_t k = 0; k < f->count && f->operand[k].is_written; k++)
    if (call.data[k] != there[k]) move_cores(w, k, call.count, there[k], call.data[k]);
}

static void run_part(void *context, int i) {
  walk *w = context;
  const uint32_t mode = sb__float_mode_default();
  const int64_t end = w->boxes * (i + 1) / w->parts;
  for (int64_t k = w->boxes * i / w->parts; k < end && !atomic_load(&w->problem); k++)
    run_box(w, k, w->scratch + i * w->nbytes);
  sb__float_mode_restore(mode);
}

/* ---- Choices ---- */

static bool is_direct(const sb__core_operand *operand, const place *p) {
  const sb_tensor *t = p->tensor;
  int64_t stride = 1;
  for (int32_t d = t->ndim - 1; d >= t->ndim - operand->axes; d--) {
    if (t->shape[d] != 1 && t->strides[d] != stride) return false;
    stride *= t->shape[d];
  }
  return t->dtype == operand->dtype && !p->is_apart;
}

/* How many cores a box has, and where in scratch each operand's lie that are not used in place. */
static void choose_boxes(walk *w) {
  const sb__cores *f = w->f;
  const sb__plan_dim *dim = along(w);
  int64_t core = 0;
  for (int32_t k = 0; k < f->count; k++) core += w->places[k].nbytes;
  w->chunk = core ? BOX_BYTES / core : BOX_BYTES;
  if (f->most) w->chunk = least(w->chunk, f->most);
  if (w->chunk < 1) w->chunk = 1;
  w->chunk = dim ? least(w->chunk, dim->n) : 1;
  w->boxes = dim ? parts_of(dim->n, w->chunk) : 1;
  for (int32_t d = 0; d < w->batches.ndim - 1; d++) w->boxes *= w->batches.outer[d].n;
  w->nbytes = rounded(f->scratch);
  for (int32_t k = 0; k < f->count; k++) {
    place *p = &w->places[k];
    p->at = w->nbytes;
    if (!p->is_direct || (w->chunk > 1 && dim->step[k] != p->nbytes))
      w->nbytes += rounded(w->chunk * p->nbytes);
  }
}

static sb_status run_cores(walk *w) {
  char small[8192] __attribute__((aligned(ALIGNED)));
  const int64_t cost = w->f->cost > 0 ? w->f->cost : 1;
  const int64_t worth =
      w->cores >= PART_COST ? w->cores : w->cores * least(cost, PART_COST) / PART_COST;
  choose_boxes(w);
  w->parts = least(sb__parts_worth(worth), w->boxes);
  const int64_t nbytes = w->parts * w->nbytes;
  char *memory = nbytes > (int64_t)sizeof small ? sb__alloc_bytes(nbytes) : small;
  if (!memory) return sb__fail(SB_ERR_MEMORY, "%lld bytes for %s", (long long)nbytes, w->f->name);
  w->scratch = memory;
  sb__parallel((int)w->parts, run_part, w);
  if (memory != small) sb__free_aligned(memory);
  return SB_OK;
}

/* ---- Operands ---- */

static sb_status check_batches(const sb__cores *f) {
  const sb_tensor *first = f->operand[0].tensor;
  const int32_t ndim = first->ndim - f->operand[0].axes;
  for (int32_t k = 0; k < f->count; k++) {
    const sb_tensor *t = f->operand[k].tensor;
    bool fits = ndim >= 0 && t->ndim - f->operand[k].axes == ndim;
    for (int32_t d = 0; fits && d < ndim; d++) fits = t->shape[d] == first->shape[d];
    char a[128], b[128];
    if (!fits)
      return sb__fail(SB_ERR_SHAPE, "%s: batches of shape %s do not fit %s", f->name,
                      sb__shape_text(t->ndim, t->shape, a),
                      sb__shape_text(first->ndim, first->shape, b));
  }
  return SB_OK;
}

/* Tensors without elements have no memory that could be shared. */
static bool may_overlap(const sb_tensor *a, const sb_tensor *b) {
  return sb_tensor_numel(a) && sb_tensor_numel(b) && sb__may_overlap(a, b);
}

static sb_status check_operands(const sb__cores *f, sb_casting casting) {
  sb_status status = check_batches(f);
  for (int32_t k = 0; k < f->count && !status; k++) {
    const sb__core_operand *operand = &f->operand[k];
    if (!operand->is_written) {
      status = sb__check_bytes("the source", operand->tensor);
      continue;
    }
    status = sb__check_cast(operand->dtype, operand->tensor->dtype, casting);
    if (!status) status = sb__check_target(operand->tensor);
    for (int32_t i = 0; i < k && !status; i++)
      if (may_overlap(operand->tensor, f->operand[i].tensor))
        status = sb__fail(SB_ERR_OVERLAP, "%s: two results would be written to the same memory",
                          f->name);
  }
  return status;
}

/* Whether there are targets, and none of them has an element: however many batches there are, nothing is to be done. */
static bool writes_nothing(const sb__cores *f) {
  int32_t k = 0;
  while (k < f->count && f->operand[k].is_written && !sb_tensor_numel(f->operand[k].tensor)) k++;
  return k > 0 && (k == f->count || !f->operand[k].is_written);
}

/* Whether a source has a target's memory, core by core: each core is read before it is written. */
static bool is_same(const sb__cores *f, int32_t target, int32_t source) {
  const sb__core_operand *to = &f->operand[target], *from = &f->operand[source];
  return to->axes == from->axes && to->tensor->dtype == from->tensor->dtype &&
         sb__is_in_place(to->tensor, from->tensor);
}

/* Copies the source away, if what is written to a target would change cores of it that are yet to be read. */
static sb_status separate(walk *w, int32_t k, sb_tensor *copy, int64_t *staged) {
  const sb__cores *f = w->f;
  const sb_tensor *t = f->operand[k].tensor;
  bool collides = false;
  for (int32_t i = 0; f->operand[i].is_written; i++) {
    if (!may_overlap(f->operand[i].tensor, t)) continue;
    w->places[k].is_apart = true;
    collides |= !is_same(f, i, k);
  }
  if (!collides) return SB_OK;
  sb_status status = sb_tensor_empty(t->dtype, t->ndim, t->shape, copy);
  if (status) return status;
  status = sb_copy(copy, t, SB_CASTING_SAFE, NULL);
  *staged += sb_tensor_numel(t) * sb_dtype_itemsize(t->dtype);
  w->places[k].tensor = copy;
  w->places[k].is_apart = false;
  return status;
}

static void merge(walk *w) {
  sb_tensor batches[SB__CORE_OPERANDS];
  const sb_tensor *tensors[SB__CORE_OPERANDS];
  for (int32_t k = 0; k < w->f->count; k++) {
    batches[k] = *w->places[k].tensor;
    batches[k].ndim -= w->f->operand[k].axes;
    tensors[k] = &batches[k];
  }
  sb__plan_merge(w->f->count, tensors, false, &w->batches);
}

static sb_status run_separated(walk *w) {
  const sb__cores *f = w->f;
  for (int32_t k = 0; k < f->count; k++) {
    place *p = &w->places[k];
    const sb_tensor *t = p->tensor;
    p->nbytes = sb_dtype_itemsize(f->operand[k].dtype);
    for (int32_t d = t->ndim - f->operand[k].axes; d < t->ndim; d++) p->nbytes *= t->shape[d];
    p->is_direct = is_direct(&f->operand[k], p);
  }
  merge(w);
  return run_cores(w);
}

sb_status sb__cores_run(const sb__cores *f, sb_casting casting, int64_t *staged, int *problem) {
  walk w = {.f = f, .cores = 1};
  sb_tensor copies[SB__CORE_OPERANDS];
  sb_status status = check_operands(f, casting);
  *problem = SB__NO_PROBLEM;
  if (status || writes_nothing(f)) return status;
  const sb_tensor *first = f->operand[0].tensor;
  for (int32_t d = 0; d < first->ndim - f->operand[0].axes; d++) w.cores *= first->shape[d];
  if (!w.cores) return SB_OK;
  for (int32_t k = 0; k < f->count; k++) w.places[k].tensor = f->operand[k].tensor;
  for (int32_t k = 0; k < f->count && !status; k++)
    if (!f->operand[k].is_written) status = separate(&w, k, &copies[k], staged);
  if (!status) status = run_separated(&w);
  for (int32_t k = 0; k < f->count; k++)
    if (w.places[k].tensor == &copies[k]) sb_tensor_release(&copies[k]);
  *problem = atomic_load(&w.problem);
  return status;
}

sb_status sb__computed_in(const char *name, sb_dtype dtype, sb_dtype *out) {
  const sb_kind kind = sb_dtype_kind(dtype);
  const int64_t size = sb_dtype_itemsize(dtype);
  if (kind == SB_COMPLEX)
    *out = dtype;
  else if (kind == SB_FLOATING && size > 1)
    *out = dtype == SB_FLOAT64 ? SB_FLOAT64 : SB_FLOAT32;
  else if (kind == SB_SIGNED || kind == SB_UNSIGNED)
    *out = size >= 4 ? SB_FLOAT64 : SB_FLOAT32;
  else
    return sb__fail(SB_ERR_DTYPE, "%s has no %s; astype converts", name, sb_dtype_name(dtype));
  return SB_OK;
}
