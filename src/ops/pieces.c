/* Cuts tensors into pieces, and copies piece by piece. One piece alone computes each element, so the bits equal those of
 * an undivided copy. */
#include <string.h>

#include "ops/copy.h"

#define EXTENT_MULTIPLE \
 64 /* extents are multiples of it: pieces begin at whole cache lines, whatever the dtype */

static int64_t absolute_stride(const sb_tensor *t, int32_t d) {
  return t->strides[d] < 0 ? -t->strides[d] : t->strides[d];
}

/* Lists the axes of more than one element by falling stride. Returns how many there are. */
static int32_t outermost_first(const sb_tensor *t, int32_t *order) {
  int32_t n = 0;
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->shape[d] == 1) continue;
    int32_t i = n++;
    for (; i > 0 && absolute_stride(t, order[i - 1]) < absolute_stride(t, d); i--)
      order[i] = order[i - 1];
    order[i] = d;
  }
  return n;
}

int32_t sb__piece_extents(const sb_tensor *t, int64_t most, bool compact, int64_t *extents) {
  int32_t order[SB_MAX_DIMS], axis = 0;
  const int32_t n = outermost_first(t, order);
  int64_t numel = sb_tensor_numel(t);
  memcpy(extents, t->shape, (size_t)t->ndim * sizeof *extents);
  for (int32_t i = 0; i < n && numel > most; i++) {
    int32_t k = i;
    while (!compact && k < n && numel / t->shape[order[k]] > most) k++;
    axis = order[k < n ? k : i];
    const int64_t one = numel / t->shape[axis];
    extents[axis] = one < most ? most / one : 1;
    if (extents[axis] > EXTENT_MULTIPLE) extents[axis] -= extents[axis] % EXTENT_MULTIPLE;
    numel = one * extents[axis];
  }
  return axis;
}

typedef struct piece {
  int64_t start[SB_MAX_DIMS], extents[SB_MAX_DIMS]; /* elements */
} piece;

static int64_t length_of(const sb_tensor *t, const piece *p, int32_t d) {
  const int64_t left = t->shape[d] - p->start[d];
  return left < p->extents[d] ? left : p->extents[d];
}

static bool next_piece(const sb_tensor *t, piece *p) {
  for (int32_t d = t->ndim - 1; d >= 0; d--) {
    p->start[d] += p->extents[d];
    if (p->start[d] < t->shape[d]) return true;
    p->start[d] = 0;
  }
  return false;
}

/* The piece's part of t, which has dst's shape. */
static sb_status narrow_to_piece(const sb_tensor *t, const sb_tensor *dst, const piece *p,
                                 sb_tensor *out) {
  sb_status status = SB_OK;
  sb_tensor_copy_layout(t, out);
  for (int32_t d = 0; d < dst->ndim && !status; d++) {
    if (p->extents[d] < dst->shape[d])
      status = sb_narrow(out, d, p->start[d], length_of(dst, p, d), out);
  }
  return status;
}

/* The piece's part of a factor: a single value, or one per index of an axis. */
static sb_status narrow_factors(const sb_tensor *factors, const sb__copy *c, const piece *p,
                                sb_tensor *out) {
  const int32_t d = (int32_t)(c->axis < 0 ? c->axis + c->dst->ndim : c->axis);
  if (factors->ndim) return sb_narrow(factors, 0, p->start[d], length_of(c->dst, p, d), out);
  sb_tensor_copy_layout(factors, out);
  return SB_OK;
}

static sb_status copy_piece(const sb__copy *c, const sb_tensor *shown, const piece *p) {
  sb_tensor dst, src, scale, bias;
  sb__copy part = {&dst, &src, NULL, NULL, c->axis, c->casting};
  sb_status status = narrow_to_piece(c->dst, c->dst, p, &dst);
  if (!status) status = narrow_to_piece(shown, c->dst, p, &src);
  if (!status && c->scale) {
    part.scale = &scale;
    part.bias = &bias;
    status = narrow_factors(c->scale, c, p, &scale);
    if (!status) status = narrow_factors(c->bias, c, p, &bias);
  }
  return status ? status : sb__copy_run(&part, NULL);
}

sb_status sb__copy_in_pieces(const sb__copy *c, int64_t most, const atomic_bool *stop, bool *done) {
  sb_tensor shown;
  piece p = {.start = {0}};
  sb_status status = sb_broadcast_to(c->src, c->dst->ndim, c->dst->shape, &shown);
  if (status) return status;
  *done = sb_tensor_numel(c->dst) == 0;
  if (*done) return SB_OK;
  sb__piece_extents(c->dst, most, false, p.extents);
  do {
    if (atomic_load_explicit(stop, memory_order_relaxed)) return SB_OK;
    status = copy_piece(c, &shown, &p);
  } while (!status && next_piece(c->dst, &p));
  *done = !status;
  return status;
}
