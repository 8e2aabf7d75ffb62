/* Products of vectors. */
#include "math/algorithms.h"
#include "math/math.h"

#define CROSS(name, type, times, minus)                                 \
 static int name(const sb__cores_call *call) {                          \
  type *to = (type *)(void *)call->data[0];                             \
  const type *a = (const type *)(const void *)call->data[1];            \
  const type *b = (const type *)(const void *)call->data[2];            \
  for (int64_t i = 0; i < 3 * call->count; i += 3) {                    \
   to[i] = minus(times(a[i + 1], b[i + 2]), times(a[i + 2], b[i + 1])); \
   to[i + 1] = minus(times(a[i + 2], b[i]), times(a[i], b[i + 2]));     \
   to[i + 2] = minus(times(a[i], b[i + 1]), times(a[i + 1], b[i]));     \
  }                                                                     \
  return SB__NO_PROBLEM;                                                \
 }

#define TIMES(x, y) ((x) * (y))
#define MINUS(x, y) ((x) - (y))

static inline sb_complex128 times(sb_complex128 x, sb_complex128 y) {
  return (sb_complex128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
static inline sb_complex128 minus(sb_complex128 x, sb_complex128 y) {
  return (sb_complex128){x.re - y.re, x.im - y.im};
}

CROSS(cross_integers, uint64_t, TIMES, MINUS)
CROSS(cross_singles, float, TIMES, MINUS)
CROSS(cross_doubles, double, TIMES, MINUS)
CROSS(cross_complex, sb_complex128, times, minus)

/* Integers wrap: their lower bits are the same in 64. */
static sb_status choose_cross(sb_dtype dtype, sb__cores *f, sb_dtype *computed) {
  const sb_kind kind = sb_dtype_kind(dtype);
  if (kind == SB_SIGNED || kind == SB_UNSIGNED) {
    *computed = kind == SB_SIGNED ? SB_INT64 : SB_UINT64;
    f->run = cross_integers;
    return SB_OK;
  }
  const sb_status status = sb__computed_in(f->name, dtype, computed);
  if (status) return status;
  if (kind == SB_COMPLEX) *computed = SB_COMPLEX128;
  f->run = kind == SB_COMPLEX        ? cross_complex
           : *computed == SB_FLOAT32 ? cross_singles
                                     : cross_doubles;
  return SB_OK;
}

sb_status sb__product_dtype(const sb_tensor *a, const sb_tensor *b, int64_t asked, sb_dtype *out) {
  if (asked == SB__NO_DTYPE) return sb_promote_types(a->dtype, b->dtype, out);
  if (asked < 0 || asked >= SB_DTYPE_COUNT)
    return sb__fail(SB_ERR_DTYPE, "%lld is no dtype", (long long)asked);
  *out = (sb_dtype)asked;
  const sb_status status = sb__check_operand_cast(a->dtype, *out);
  return status ? status : sb__check_operand_cast(b->dtype, *out);
}

sb_status sb__cross(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b, sb_casting casting,
                    int64_t asked, int64_t *staged) {
  sb__cores f = {.name = "cross", .count = 3, .cost = 9};
  sb_dtype met, computed = SB_FLOAT64;
  int problem;
  sb_status status = sb__product_dtype(a, b, asked, &met);
  if (!status) status = sb__check_cast(met, to->dtype, casting);
  if (!status) status = choose_cross(met, &f, &computed);
  if (status) return status;
  f.operand[0] = (sb__core_operand){.tensor = to, .dtype = computed, .axes = 1, .is_written = true};
  f.operand[1] = (sb__core_operand){.tensor = a, .dtype = computed, .axes = 1};
  f.operand[2] = (sb__core_operand){.tensor = b, .dtype = computed, .axes = 1};
  for (int32_t k = 0; k < f.count; k++)
    if (f.operand[k].tensor->ndim < 1 ||
        f.operand[k].tensor->shape[f.operand[k].tensor->ndim - 1] != 3)
      return sb__fail(SB_ERR_SHAPE, "cross has vectors of 3 elements");
  return sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
}
