/* Copies and fills: checks, broadcasting, overlap. copy_plan_run.c moves the elements. */
#include "ops/copy.h"

#include <string.h>

#include "ops/device.h"
#include "ops/move_few.h"
#include "ops/range_check.h"
#include "ops/copy_plan_run.h"

/* Elements that are moved without a plan; SIDE × SIDE that are transposed go by tiles of vectors. */
#define FEW 1024
#define SIDE 16

/* One copy. */
typedef struct work {
  const sb_tensor *dst, *src;    /* of one shape */
  const sb_tensor *scale, *bias; /* float64 of that shape, or NULL */
  bool checks_range;             /* each value must be in the range of dst's dtype */
  const sb__copy
      *asked; /* the caller's, factors not broadcast; NULL: no factors, or checks_range */
} work;

sb_status sb__check_cast(sb_dtype from, sb_dtype to, sb_casting casting) {
  static const char *const names[] = {"safe", "same_kind", "unsafe"};
  if (casting < SB_CASTING_SAFE || casting > SB_CASTING_UNSAFE) {
    return sb__fail(SB_ERR_ARGUMENT, "%d is no casting", (int)casting);
  }
  if (sb_can_cast(from, to, casting)) return SB_OK;
  return sb__fail(SB_ERR_CAST, "%s does not cast to %s under casting '%s'; 'unsafe' allows it",
                  sb_dtype_name(from), sb_dtype_name(to), names[casting]);
}

bool sb__may_overlap(const sb_tensor *a, const sb_tensor *b) {
  int64_t low = 0, high = 0;
  const sb_tensor *t[2] = {a, b};
  uintptr_t begin[2], end[2];
  for (int i = 0; i < 2; i++) {
    const int64_t itemsize = sb_dtype_itemsize(t[i]->dtype);
    const uintptr_t data = (uintptr_t)sb_tensor_data(t[i]);
    if (!sb__extent(t[i], &low, &high)) return true;
    begin[i] = data + (uintptr_t)(low * itemsize);
    end[i] = data + (uintptr_t)((high + 1) * itemsize);
  }
  return begin[0] < end[1] && begin[1] < end[0];
}

static bool have_one_shape(const sb_tensor *a, const sb_tensor *b) {
  if (a->ndim != b->ndim) return false;
  for (int32_t d = 0; d < a->ndim; d++) {
    if (a->shape[d] != b->shape[d]) return false;
  }
  return true;
}

bool sb__is_in_place(const sb_tensor *dst, const sb_tensor *src) {
  if (sb_tensor_data(dst) != sb_tensor_data(src)) return false;
  if (sb_dtype_itemsize(dst->dtype) != sb_dtype_itemsize(src->dtype)) return false;
  for (int32_t d = 0; d < dst->ndim; d++) {
    if (dst->shape[d] != 1 && dst->strides[d] != src->strides[d]) return false;
  }
  return true;
}

/* Walks in row-major order, so that the error names the first value that is out of range. */
static sb_status run_values(const work *w, const sb__plan *plan, char *const base[]) {
  sb_status status = SB_OK;
  sb__chunk chunk;
  sb__walk walk;
  const uint32_t mode = sb__float_mode_default();
  sb__walk_begin(plan, base, &walk);
  do {
    for (int64_t i = 0; i < plan->row.n && !status; i += SB__CHUNK) {
      const int64_t n = plan->row.n - i < SB__CHUNK ? plan->row.n - i : SB__CHUNK;
      const int64_t to = plan->row.step[0], from = plan->row.step[1];
      const sb__form form = sb__load(w->src->dtype, &chunk, walk.at[1] + i * from, from, n);
      status = sb__check_range(&chunk, form, w->dst->dtype, n);
      if (status) break;
      sb__store(w->dst->dtype, walk.at[0] + i * to, to, form, &chunk, n);
    }
  } while (!status && sb__walk_next(plan, &walk));
  sb__float_mode_restore(mode);
  return status;
}

/* Moves elements as they are, if they are few. */
static bool move_few(const work *w) {
  const sb_tensor *to = w->dst, *from = w->src;
  int64_t to_steps[SB_MAX_DIMS], from_steps[SB_MAX_DIMS];
  const int64_t size = sb_dtype_itemsize(to->dtype), numel = sb_tensor_numel(to);
  bool has_columns = false, has_rows = false; /* long ones: the source's, the target's */
  if (to->dtype != from->dtype || w->scale || w->checks_range || numel > FEW) return false;
  for (int32_t d = 0; d < to->ndim; d++) {
    to_steps[d] = to->strides[d] * size;
    from_steps[d] = from->strides[d] * size;
    if (to->shape[d] < SIDE || to_steps[d] == from_steps[d]) continue;
    if (from_steps[d] == size) has_columns = true;
    if (to_steps[d] == size && from_steps[d]) has_rows = true;
  }
  if (numel > SIDE * SIDE && has_columns && has_rows) return false;
  sb__move_few(size, to->ndim, to->shape, to_steps, from_steps, sb_tensor_data(to),
               sb_tensor_data(from));
  return true;
}

/* dst has elements. */
static sb_status run_copy(const work *w, bool in_place) {
  sb__plan plan;
  const sb_tensor *tensors[] = {w->dst, w->src, w->scale, w->bias};
  const int32_t count = w->scale ? 4 : 2;
  if (!in_place && move_few(w)) return SB_OK;
  sb__job job = {.plan = &plan,
                 .to = w->dst->dtype,
                 .from = w->src->dtype,
                 .scaled = w->scale,
                 .in_place = in_place};
  for (int32_t k = 0; k < count; k++) {
    job.base[k] = (char *)tensors[k]->storage->data +
                  tensors[k]->offset * sb_dtype_itemsize(tensors[k]->dtype);
  }
  sb__plan_make(count, tensors, w->checks_range, &plan);
  if (w->checks_range) return run_values(w, &plan, job.base);
  sb__run_job(&job);
  return SB_OK;
}

/* Copies the source, which overlaps the target, to new bytes, and makes them the copy's source. The caller releases out. */
static sb_status stage_source(work *w, const sb_tensor *src, sb_tensor *shown, sb_tensor *out,
                              int64_t *staged) {
  sb_tensor_copy_layout(src, out);
  sb_status status = sb_tensor_empty(src->dtype, src->ndim, src->shape, out);
  if (status) return status;
  status = run_copy(&(work){.dst = out, .src = src}, false);
  if (!status) status = sb_broadcast_to(out, w->dst->ndim, w->dst->shape, shown);
  if (status) {
    sb_tensor_release(out);
    return status;
  }
  w->src = shown;
  if (staged) *staged += sb_tensor_nbytes(out);
  return SB_OK;
}

/* Both are contiguous, of one dtype and shape, and do not overlap: a memcpy. */
static bool is_plain(const work *w) {
  const sb_tensor *a = w->dst, *b = w->src;
  if (a->dtype != b->dtype || w->scale || w->checks_range || !have_one_shape(a, b)) return false;
  const uintptr_t to = (uintptr_t)sb_tensor_data(a), from = (uintptr_t)sb_tensor_data(b);
  const uintptr_t nbytes = (uintptr_t)sb_tensor_nbytes(a);
  return nbytes && (to < from ? from - to : to - from) >= nbytes && sb_is_contiguous(a) &&
         sb_is_contiguous(b);
}

/* dst or src is on a device. */
static sb_status copy_on_device(const work *w, int64_t *staged) {
  sb_tensor shown;
  sb_status status = sb__check_target_anywhere(w->dst);
  if (!status) status = sb_broadcast_to(w->src, w->dst->ndim, w->dst->shape, &shown);
  if (!status && w->checks_range) status = sb__check_host("the source", w->src->storage);
  if (!status && w->scale) status = sb__check_bytes("scale", w->scale);
  if (!status && w->scale) status = sb__check_bytes("bias", w->bias);
  if (status || sb_tensor_numel(w->dst) == 0) return status;
  const sb__copy plain = {.dst = w->dst, .src = w->src, .casting = SB_CASTING_UNSAFE};
  return sb__device->copy(w->asked ? w->asked : &plain, w->checks_range, staged);
}

#ifdef __wasm__
# define HAS_NARROWING_LOOPS 0
#else
# define HAS_NARROWING_LOOPS 1
#endif

/* Integers that become integers of as many or fewer bytes keep their lower bytes, which come first: a copy of those. Natively, loops
 * that narrow whole vectors are faster where they are fewer. */
static bool keeps_bytes(const work *w) {
  const sb_dtype to = w->dst->dtype, from = w->src->dtype;
  const int64_t fewer = sb_dtype_itemsize(from) - sb_dtype_itemsize(to);
  return to != from && !w->scale && !w->checks_range && sb__is_integer(to) &&
         sb__is_integer(from) && (HAS_NARROWING_LOOPS ? fewer == 0 : fewer >= 0);
}

/* The lower bytes of t's elements, as elements of dtype. */
static void show_lower_bytes(const sb_tensor *t, sb_dtype dtype, sb_tensor *out) {
  const uint64_t times = (uint64_t)(sb_dtype_itemsize(t->dtype) / sb_dtype_itemsize(dtype));
  sb_tensor_copy_layout(t, out);
  out->dtype = dtype;
  out->offset = (int64_t)((uint64_t)t->offset * times);
  for (int32_t d = 0; d < t->ndim; d++)
    out->strides[d] = (int64_t)((uint64_t)t->strides[d] * times);
}

static sb_status copy_checked(work w, int64_t *staged) {
  sb_tensor lower, shown, temporary;
  const sb_tensor *src = w.src;
  sb_status status = sb__check_storage("the source", src);
  if (!status) status = sb__check_storage("the target", w.dst);
  if (status) return status;
  if (SB__ON_DEVICE(src->storage) || SB__ON_DEVICE(w.dst->storage)) {
    return copy_on_device(&w, staged);
  }
  if (keeps_bytes(&w)) {
    show_lower_bytes(src, w.dst->dtype, &lower);
    w.src = src = &lower;
  }
  if (is_plain(&w) && !(w.dst->flags & SB_READ_ONLY)) {
    sb__run_bytes(sb_tensor_data(w.dst), sb_tensor_data(src), sb_tensor_nbytes(w.dst));
    return SB_OK;
  }
  status = sb__check_target(w.dst);
  if (!status && !have_one_shape(w.dst, src)) {
    status = sb_broadcast_to(src, w.dst->ndim, w.dst->shape, &shown);
    w.src = &shown;
  }
  if (status || sb_tensor_numel(w.dst) == 0) return status;
  if (!sb__may_overlap(w.dst, w.src)) return run_copy(&w, false);
  if (sb__is_in_place(w.dst, w.src)) return run_copy(&w, true);
  status = stage_source(&w, src, &shown, &temporary, staged);
  if (status) return status;
  status = run_copy(&w, false);
  sb_tensor_release(&temporary);
  return status;
}

sb_status sb_copy(const sb_tensor *dst, const sb_tensor *src, sb_casting casting, int64_t *staged) {
  const sb_status status = sb__check_cast(src->dtype, dst->dtype, casting);
  if (status) return status;
  return copy_checked((work){.dst = dst, .src = src}, staged);
}

/* Broadcasts a factor (a single value, or one per index of an axis) to dst's shape. */
static sb_status broadcast_factor(const char *name, const sb_tensor *factor, const sb_tensor *dst,
                                  int64_t axis, sb_tensor *out) {
  int32_t along = -1;
  if (factor->dtype != SB_FLOAT64) {
    return sb__fail(SB_ERR_DTYPE, "%s is %s; float64 was expected", name,
                    sb_dtype_name(factor->dtype));
  }
  if (factor->ndim != 0) {
    const sb_status status = sb__check_axis("axis", axis, dst->ndim, &along);
    if (status) return status;
    if (factor->ndim != 1 || factor->shape[0] != dst->shape[along]) {
      char text[128];
      return sb__fail(SB_ERR_SHAPE, "%s has shape %s; axis %d has %lld elements", name,
                      sb__shape_text(factor->ndim, factor->shape, text), along,
                      (long long)dst->shape[along]);
    }
  }
  sb_tensor_copy_layout(factor, out);
  out->ndim = dst->ndim;
  for (int32_t d = 0; d < dst->ndim; d++) {
    out->shape[d] = dst->shape[d];
    out->strides[d] = d == along ? factor->strides[0] : 0;
  }
  return SB_OK;
}

/* Checks a scaled copy, and broadcasts its factors to dst's shape. */
static sb_status check_scaled(const sb__copy *c, sb_tensor *factors, sb_tensor *terms) {
  const sb_tensor *dst = c->dst, *src = c->src;
  const sb_dtype computed =
      sb__computes_in_float64(dst->dtype) || sb__computes_in_float64(src->dtype) ? SB_FLOAT64
                                                                                 : SB_FLOAT32;
  if (sb_dtype_kind(src->dtype) == SB_COMPLEX || sb_dtype_kind(dst->dtype) == SB_COMPLEX) {
    return sb__fail(SB_ERR_DTYPE, "scale and bias are for real numbers; %s to %s was asked",
                    sb_dtype_name(src->dtype), sb_dtype_name(dst->dtype));
  }
  sb_status status = sb__check_cast(computed, dst->dtype, c->casting);
  return status ? status : sb__copy_spread(c, factors, terms);
}

sb_status sb__copy_spread(const sb__copy *c, sb_tensor *scale, sb_tensor *bias) {
  const sb_status status = broadcast_factor("scale", c->scale, c->dst, c->axis, scale);
  return status ? status : broadcast_factor("bias", c->bias, c->dst, c->axis, bias);
}

sb_status sb_copy_scaled(const sb_tensor *dst, const sb_tensor *src, const sb_tensor *scale,
                         const sb_tensor *bias, int64_t axis, sb_casting casting, int64_t *staged) {
  sb_tensor factors, terms;
  const sb__copy c = {dst, src, scale, bias, axis, casting};
  const sb_status status = check_scaled(&c, &factors, &terms);
  if (status) return status;
  return copy_checked(
      (work){.dst = dst, .src = src, .scale = &factors, .bias = &terms, .asked = &c}, staged);
}

sb_status sb__copy_run(const sb__copy *c, int64_t *staged) {
  if (!c->scale) return sb_copy(c->dst, c->src, c->casting, staged);
  return sb_copy_scaled(c->dst, c->src, c->scale, c->bias, c->axis, c->casting, staged);
}

sb_status sb__copy_check(const sb__copy *c, bool *collides) {
  sb_tensor shown, factors, terms;
  sb_status status = c->scale ? check_scaled(c, &factors, &terms)
                              : sb__check_cast(c->src->dtype, c->dst->dtype, c->casting);
  if (!status) status = sb__check_target_anywhere(c->dst);
  if (!status) status = sb_broadcast_to(c->src, c->dst->ndim, c->dst->shape, &shown);
  if (status) return status;
  *collides = sb_tensor_numel(c->dst) && sb__may_overlap(c->dst, &shown) &&
              !sb__is_in_place(c->dst, &shown);
  return SB_OK;
}

sb_status sb_copy_values(const sb_tensor *dst, const sb_tensor *src) {
  return copy_checked((work){.dst = dst, .src = src, .checks_range = true}, NULL);
}

static bool has_zero_stride(const sb_tensor *t) {
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->strides[d] == 0) return true;
  }
  return false;
}

static sb_status fill_all(const sb_tensor *t, const char *item) {
  if (SB__ON_DEVICE(t->storage)) return sb__device->fill(t, item);
  sb__run_fill(t, item);
  return SB_OK;
}

sb_status sb__item_of(const sb_scalar *value, sb_dtype dtype, char *item) {
  static const sb_dtype dtypes[] = {SB_BOOL, SB_INT64, SB_UINT64, SB_FLOAT64, SB_COMPLEX128};
  sb__chunk chunk;
  if ((unsigned)value->kind > SB_SCALAR_COMPLEX) {
    return sb__fail(SB_ERR_ARGUMENT, "%d is no kind of scalar", (int)value->kind);
  }
  const uint32_t mode = sb__float_mode_default();
  const sb__form form = sb__form_of(dtypes[value->kind]);
  chunk.c[0] = value->as.c; /* the widest member of the union */
  const sb_status status = sb__check_range(&chunk, form, dtype, 1);
  if (!status) sb__store(dtype, item, 16, form, &chunk, 1);
  sb__float_mode_restore(mode);
  return status;
}

sb_status sb_fill(const sb_tensor *t, const sb_scalar *value) {
  union {
    char bytes[16];
    sb_complex128 aligned;
  } item;
  sb_tensor once;
  if (t->flags & SB_READ_ONLY) return sb__fail(SB_ERR_READ_ONLY, "the target is read-only");
  sb_status status = sb__item_of(value, t->dtype, item.bytes);
  if (!status) status = sb__check_storage("the target", t);
  if (status || sb_tensor_numel(t) == 0) return status;
  if (!has_zero_stride(t)) return fill_all(t, item.bytes);
  sb_tensor_copy_layout(t, &once); /* elements that zero strides repeat are written once */
  for (int32_t d = 0; d < once.ndim; d++) {
    if (once.strides[d] == 0) once.shape[d] = 1;
  }
  return fill_all(&once, item.bytes);
}

static bool has_bytes(const sb_storage *s, int64_t at, int64_t n) {
  return at >= 0 && n >= 0 && (uint64_t)n <= s->nbytes && (uint64_t)at <= s->nbytes - (uint64_t)n &&
         (s->data || n == 0);
}

static sb_status copy_bytes_on_device(sb_storage *to, int64_t to_at, const sb_storage *from,
                                      int64_t from_at, int64_t n) {
  sb_tensor dst, src;
  sb_status status = sb_tensor_init(to, SB_UINT8, 1, &n, NULL, to_at, &dst);
  if (!status) {
    status = sb_tensor_init((sb_storage *)(uintptr_t)from, SB_UINT8, 1, &n, NULL, from_at, &src);
  }
  return status ? status : sb_copy(&dst, &src, SB_CASTING_SAFE, NULL);
}

sb_status sb__copy_bytes(sb_storage *to, int64_t to_at, const sb_storage *from, int64_t from_at,
                         int64_t n) {
  if (!has_bytes(to, to_at, n) || !has_bytes(from, from_at, n)) {
    return sb__fail(SB_ERR_BOUNDS, "%lld bytes from %lld to %lld leave a storage", (long long)n,
                    (long long)from_at, (long long)to_at);
  }
  if (SB__ON_DEVICE(to) || SB__ON_DEVICE(from))
    return copy_bytes_on_device(to, to_at, from, from_at, n);
  if (n > 0) memmove((char *)to->data + to_at, (const char *)from->data + from_at, (size_t)n);
  return SB_OK;
}
