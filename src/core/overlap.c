/* Tests whether two tensors, or two elements of one, share a byte. Takes constant time where layouts have no gaps or
 * their ranges are disjoint; else marks a bit for each byte of the range. */
#include <string.h>

#include "core/core.h"

/* The range of addresses that a tensor reaches. */
typedef struct span {
  uintptr_t begin, end;
} span;

static span span_of(const sb_tensor *t) {
  int64_t lowest = 0, highest = 0;
  const char *data = sb_tensor_data(t);
  const int64_t itemsize = sb_dtype_itemsize(t->dtype);
  if (!data || !sb__extent(t, &lowest, &highest)) return (span){0, 0};
  return (span){(uintptr_t)(data + lowest * itemsize),
                (uintptr_t)(data + (highest + 1) * itemsize)};
}

static bool has_gaps(const sb_tensor *t, span bytes) {
  return (uintptr_t)sb_tensor_nbytes(t) < bytes.end - bytes.begin;
}

/* Sorts axes by growing stride; each must step over all that the smaller ones reach. True: no two elements overlap.
 * False: not known. */
static bool is_nested(const sb_tensor *t) {
  int64_t strides[SB_MAX_DIMS], shape[SB_MAX_DIMS], reach = 0;
  int32_t n = 0;
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->shape[d] == 1) continue;
    const int64_t stride = t->strides[d] < 0 ? -t->strides[d] : t->strides[d];
    int32_t i = n++;
    for (; i > 0 && strides[i - 1] > stride; i--) {
      strides[i] = strides[i - 1];
      shape[i] = shape[i - 1];
    }
    strides[i] = stride;
    shape[i] = t->shape[d];
  }
  for (int32_t i = 0; i < n; i++) {
    if (strides[i] <= reach) return false;
    reach += (shape[i] - 1) * strides[i];
  }
  return true;
}

/* Calls visit with each element's address until it returns true; first: the first element's address. Elements that a zero
 * stride repeats are visited once. */
static bool any_place(const sb_tensor *t, uintptr_t first,
                      bool (*visit)(uintptr_t address, void *context), void *context) {
  int64_t index[SB_MAX_DIMS] = {0};
  const int64_t itemsize = sb_dtype_itemsize(t->dtype);
  uintptr_t at = first;
  for (;;) {
    if (visit(at, context)) return true;
    int32_t d = t->ndim - 1;
    for (; d >= 0; d--) {
      if (t->strides[d] == 0) continue;
      at += (uintptr_t)(t->strides[d] * itemsize);
      if (++index[d] < t->shape[d]) break;
      at -= (uintptr_t)(t->shape[d] * t->strides[d] * itemsize);
      index[d] = 0;
    }
    if (d < 0) return false;
  }
}

typedef struct marks {
  uint8_t *bits; /* one per byte from begin on */
  span range;
  int64_t itemsize;
} marks;

static bool mark_element(uintptr_t address, void *context) {
  const marks *m = context;
  bool seen = false;
  for (int64_t i = 0; i < m->itemsize; i++) {
    const uintptr_t byte = address + (uintptr_t)i;
    if (byte < m->range.begin || byte >= m->range.end) continue;
    const size_t at = byte - m->range.begin;
    const uint8_t bit = (uint8_t)(1u << (at & 7u));
    seen = seen || (m->bits[at >> 3] & bit);
    m->bits[at >> 3] |= bit;
  }
  return seen;
}

static bool is_element_marked(uintptr_t address, void *context) {
  const marks *m = context;
  for (int64_t i = 0; i < m->itemsize; i++) {
    const uintptr_t byte = address + (uintptr_t)i;
    if (byte < m->range.begin || byte >= m->range.end) continue;
    const size_t at = byte - m->range.begin;
    if (m->bits[at >> 3] & (1u << (at & 7u))) return true;
  }
  return false;
}

static bool mark_all(uintptr_t address, void *context) {
  mark_element(address, context);
  return false;
}

static sb_status new_marks(span range, marks *out) {
  const size_t nbytes = (range.end - range.begin) / 8 + 1;
  out->range = range;
  out->bits = sb__alloc_bytes((int64_t)nbytes);
  if (!out->bits)
    return sb__fail(SB_ERR_MEMORY, "%zu bytes to compare layouts could not be allocated", nbytes);
  memset(out->bits, 0, nbytes);
  return SB_OK;
}

sb_status sb_overlaps_itself(const sb_tensor *t, bool *out) {
  marks seen = {0};
  int64_t lowest = 0, highest = 0;
  bool overlaps = false;
  if (sb_tensor_numel(t) < 2 || is_nested(t)) {
    *out = false;
    return SB_OK;
  }
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->shape[d] > 1 && t->strides[d] == 0) overlaps = true;
  }
  if (!sb__extent(t, &lowest, &highest) || sb_tensor_numel(t) > highest - lowest + 1) {
    overlaps = true; /* more elements than addresses */
  }
  if (overlaps) {
    *out = true;
    return SB_OK;
  }
  /* Addresses count from 0 here: only the layout matters. */
  const int64_t itemsize = sb_dtype_itemsize(t->dtype);
  const span range = {0, (uintptr_t)((highest - lowest + 1) * itemsize)};
  const sb_status status = new_marks(range, &seen);
  if (status) return status;
  seen.itemsize = itemsize;
  *out = any_place(t, (uintptr_t)(-lowest * itemsize), mark_element, &seen);
  sb__free_aligned(seen.bits);
  return SB_OK;
}

sb_status sb__check_target(const sb_tensor *t) {
  const sb_status status = sb__check_host("the target", t->storage);
  return status ? status : sb__check_target_anywhere(t);
}

sb_status sb__check_target_anywhere(const sb_tensor *t) {
  bool overlaps = false;
  if (t->flags & SB_READ_ONLY) return sb__fail(SB_ERR_READ_ONLY, "the target is read-only");
  sb_status status = sb__check_storage("the target", t);
  if (!status) status = sb_overlaps_itself(t, &overlaps);
  if (status) return status;
  if (overlaps) {
    return sb__fail(SB_ERR_OVERLAP, "two elements of the target share a byte; write to its base");
  }
  return SB_OK;
}

sb_status sb_shares_memory(const sb_tensor *a, const sb_tensor *b, bool *out) {
  marks seen = {0};
  const span x = span_of(a), y = span_of(b);
  const span common = {x.begin > y.begin ? x.begin : y.begin, x.end < y.end ? x.end : y.end};
  if (common.begin >= common.end) {
    *out = false;
    return SB_OK;
  }
  if (!has_gaps(a, x) && !has_gaps(b, y) && is_nested(a) && is_nested(b)) {
    *out = true;
    return SB_OK;
  }
  const sb_status status = new_marks(common, &seen);
  if (status) return status;
  seen.itemsize = sb_dtype_itemsize(a->dtype);
  any_place(a, (uintptr_t)sb_tensor_data(a), mark_all, &seen);
  seen.itemsize = sb_dtype_itemsize(b->dtype);
  *out = any_place(b, (uintptr_t)sb_tensor_data(b), is_element_marked, &seen);
  sb__free_aligned(seen.bits);
  return SB_OK;
}
