/* Elementwise functions: checks, broadcasting, and what the target would overwrite before it is read. tiles.c computes. */
#include <string.h>

#include "math/math.h"

static const int32_t counts[SB__OPS] = {
#define OP(name, count, domain, result, accuracy, text) count,
#include "math/ops.def"
#undef OP
};

/* What an element costs, in additions: threads are worth their while for fewer elements of exp than of add. Measured on AVX-512: about 0.2 ns
 * an addition of float32, 1.1 to 3.6 a function, 6.5 a power, 10 a remainder. */
#define EXACT 1
#define ULP(n) 8
#define CLOSE(n) 16
static int32_t cost_of(int64_t op) {
  static const int32_t costs[SB__OPS] = {
#define OP(name, count, domain, result, accuracy, text) accuracy,
#include "math/ops.def"
#undef OP
  };
  return op == SB__OP_floor_divide || op == SB__OP_remainder ? CLOSE(0) : costs[op];
}

/* One call: sources as the target's shape has them. */
typedef struct call {
  sb_tensor source[SB__MATH_OPERANDS - 1];
  sb_storage item_storage[SB__MATH_OPERANDS - 1];
  bool is_held[SB__MATH_OPERANDS - 1]; /* source has a storage of its own, to be released */
} call;

static void release(call *c) {
  for (int32_t i = 0; i < SB__MATH_OPERANDS - 1; i++)
    if (c->is_held[i]) sb_tensor_release(&c->source[i]);
}

/* A single element, repeated. */
static sb_status spread_item(sb_dtype dtype, const char *item, const sb_tensor *to,
                             sb_storage *storage, sb_tensor *out) {
  sb_tensor one;
  *storage = (sb_storage){
      .device = -1, .data = (char *)(uintptr_t)item, .nbytes = (size_t)sb_dtype_itemsize(dtype)};
  const sb_status status = sb_tensor_init(storage, dtype, 0, NULL, NULL, 0, &one);
  return status ? status : sb_broadcast_to(&one, to->ndim, to->shape, out);
}

sb_status sb__math_copy_of(const sb_tensor *from, sb_tensor *copy, int64_t *staged) {
  sb_status status = sb_tensor_empty(from->dtype, from->ndim, from->shape, copy);
  if (status) return status;
  status = sb_copy(copy, from, SB_CASTING_SAFE, NULL);
  if (status)
    sb_tensor_release(copy);
  else
    *staged += sb_tensor_numel(copy) * sb_dtype_itemsize(copy->dtype);
  return status;
}

/* Copies a source that the target would overwrite before it is read. */
static sb_status stage(const sb_tensor *to, const sb_tensor *from, sb_tensor *source, bool *held,
                       int64_t *staged) {
  sb_tensor copy;
  if (!sb__may_overlap(to, source) || (sb__is_in_place(to, source) && to->dtype == source->dtype))
    return SB_OK;
  sb_status status = sb__math_copy_of(from, &copy, staged);
  if (status) return status;
  status = sb_broadcast_to(&copy, to->ndim, to->shape, source);
  if (status) {
    sb_tensor_release(&copy);
    return status;
  }
  *held = true;
  return SB_OK;
}

/* Broadcast alone would let a target that is smaller than the sources pass. */
static sb_status check_shape(const sb_tensor *to, const sb_tensor *from, int32_t i) {
  char a[128], b[128];
  if (from->ndim <= to->ndim) return SB_OK;
  return sb__fail(SB_ERR_SHAPE, "source %d has shape %s; the target has %s", i,
                  sb__shape_text(from->ndim, from->shape, a),
                  sb__shape_text(to->ndim, to->shape, b));
}

#define PLAIN_COST \
 (1                \
  << 18) /* additions of a call without a plan: from there on sb__parts_worth gives tiles.c threads */
#define REPEATED_BYTES 8192 /* of a single element, repeated; of a source that is gathered */

/* Row-major, of the target's shape, in memory of the host. */
static bool is_plain(const sb_tensor *t, sb_dtype dtype, const sb_tensor *to) {
  int64_t stride = 1;
  if (t->dtype != dtype || t->ndim != to->ndim || !t->storage || t->storage->device >= 0)
    return false;
  for (int32_t d = t->ndim - 1; d >= 0; d--) {
    if (t->shape[d] != to->shape[d] || (t->shape[d] != 1 && t->strides[d] != stride)) return false;
    stride *= t->shape[d];
  }
  return true;
}

static char *first_of(const sb_tensor *t, int64_t size) {
  return (char *)t->storage->data + t->offset * size;
}

/* Gathers a source of any layout, as the target's shape has it. False: it is large, converted, or where the target is written. */
static bool gather_few(const sb_tensor *t, sb_dtype dtype, const sb_tensor *to, int64_t n,
                       const char *target, int64_t target_bytes, char *memory) {
  const int64_t size = sb_dtype_itemsize(dtype);
  const int32_t added = to->ndim - t->ndim;
  int64_t steps[SB_MAX_DIMS], dense[SB_MAX_DIMS], low = 0, high = size;
  if (n * size > REPEATED_BYTES || t->dtype != dtype || added < 0 || !t->storage ||
      t->storage->device >= 0)
    return false;
  for (int32_t d = 0; d < to->ndim; d++) {
    const int64_t extent = d < added ? 1 : t->shape[d - added];
    if (extent != 1 && extent != to->shape[d]) return false;
    steps[d] = extent == 1 ? 0 : t->strides[d - added] * size;
    *(steps[d] < 0 ? &low : &high) += (extent - 1) * steps[d];
  }
  char *first = first_of(t, size);
  if (first + low < target + target_bytes && target < first + high) return false;
  sb__math_dense_steps(size, to->ndim, to->shape, dense);
  sb__move_few(size, to->ndim, to->shape, dense, steps, memory, first);
  return true;
}

/* Small targets without gaps, which are frequent: no plan, no tiles. False: it is another case, and nothing was done.
 * Not inlined: tiles have the stack to themselves. */
__attribute__((noinline)) static bool run_plainly(const sb__math_work *w, int32_t count,
                                                  const sb__math_types *types, const sb_tensor *to,
                                                  const sb_tensor *const from[],
                                                  const char *const item[]) {
  char repeated[SB__MATH_OPERANDS - 1][REPEATED_BYTES] __attribute__((aligned(64)));
  const char *at[SB__MATH_OPERANDS - 1] = {NULL};
  int64_t n = 1, size[SB__MATH_OPERANDS - 1];
  if ((to->flags & SB_READ_ONLY) || !is_plain(to, types->made, to)) return false;
  for (int32_t d = 0; d < to->ndim; d++) n *= to->shape[d];
  if (n == 0 || n > PLAIN_COST / w->cost) return false;
  const int64_t to_size = sb_dtype_itemsize(types->made);
  char *target = first_of(to, to_size);
  int64_t piece = n;
  for (int32_t i = 0; i < count; i++) {
    size[i] = sb_dtype_itemsize(types->from[i]);
    if (item[i]) {
      if (piece > REPEATED_BYTES / size[i]) piece = REPEATED_BYTES / size[i];
      continue;
    }
    if (!is_plain(from[i], types->from[i], to)) {
      if (!gather_few(from[i], types->from[i], to, n, target, n * to_size, repeated[i]))
        return false;
      at[i] = repeated[i];
      continue;
    }
    at[i] = first_of(from[i], size[i]);
    const bool is_apart = at[i] + n * size[i] <= target || target + n * to_size <= at[i];
    if (!is_apart && (at[i] != target || size[i] != to_size)) return false;
  }
  for (int32_t i = 0; i < count; i++) {
    if (!item[i]) continue;
    sb__repeat(repeated[i], item[i], size[i], piece);
    at[i] = repeated[i];
  }
  const uint32_t mode = sb__float_mode_default();
  for (int64_t first = 0; first < n; first += piece) {
    w->loop(target + first * to_size, at, piece < n - first ? piece : n - first);
    for (int32_t i = 0; i < count; i++)
      if (!item[i]) at[i] += piece * size[i];
  }
  sb__float_mode_restore(mode);
  return true;
}

sb_status sb__math_elementwise(int64_t op, const sb__math_types *types, const sb_tensor *to,
                               const sb_tensor *const from[], const char *const item[],
                               sb_casting casting, int64_t *staged) {
  call c;
  const int32_t count = counts[op];
  sb__math_work w = {.count = count + 1,
                     .tensor = {to},
                     .dtype = {types->made},
                     .cost = cost_of(op),
                     .loop = types->loop};
  if (!w.loop)
    return sb__fail(SB_ERR_DTYPE, "there is no such function of %s",
                    sb_dtype_name(types->computed));
  sb_status status = SB_OK;
  if (to->dtype != types->result) status = sb__check_cast(types->result, to->dtype, casting);
  if (!status && run_plainly(&w, count, types, to, from, item)) return SB_OK;
  if (!status) status = sb__check_target(to);
  memset(c.is_held, 0, sizeof c.is_held);
  for (int32_t i = 0; i < count && !status; i++) {
    w.dtype[i + 1] = types->from[i];
    w.tensor[i + 1] = &c.source[i];
    if (item[i]) {
      status = spread_item(types->from[i], item[i], to, &c.item_storage[i], &c.source[i]);
      continue;
    }
    status = sb__check_bytes("a source", from[i]);
    if (!status) status = check_shape(to, from[i], i);
    if (!status) status = sb_broadcast_to(from[i], to->ndim, to->shape, &c.source[i]);
    if (!status && sb_tensor_numel(to))
      status = stage(to, from[i], &c.source[i], &c.is_held[i], staged);
  }
  if (!status && sb_tensor_numel(to)) sb__math_run(&w);
  release(&c);
  return status;
}
