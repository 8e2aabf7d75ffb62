/* What JavaScript calls, by the core's call buffer. */
#include <string.h>

#include "math/lines.h"
#include "math/math.h"

#define T(i) (&b->operands[i])
#define N(i) (b->numbers[i])
#define RESULT(i) (b->results[i])

/* JavaScript passes no such arguments. */
static sb_status misfit(void) {
  return sb__fail(SB_ERR_ARGUMENT, "arguments do not fit the function");
}

static sb_status check_count(int64_t op, int32_t count) {
  static const int32_t counts[SB__OPS] = {
#define OP(name, count, domain, result, accuracy, text) count,
#include "math/ops.def"
#undef OP
  };
  if (op >= 0 && op < SB__OPS && counts[op] == count) return SB_OK;
  return sb__fail(SB_ERR_ARGUMENT, "there is no function %lld of %d tensors", (long long)op, count);
}

/* Numbers: the function, dtypes of its sources, the dtype that was asked for or SB__NO_DTYPE. The results are the dtype that each
 * source is converted to (scalars are), and the result's. */
static sb_status types(sb__binding *b) {
  sb__math_types found;
  sb_dtype from[SB__MATH_OPERANDS - 1];
  for (int32_t i = 0; i < SB__MATH_OPERANDS - 1; i++) {
    if (N(1 + i) < 0 || N(1 + i) >= SB_DTYPE_COUNT)
      return sb__fail(SB_ERR_DTYPE, "%lld is no dtype", (long long)N(1 + i));
    from[i] = (sb_dtype)N(1 + i);
  }
  const sb_status status = sb__math_types_of(N(0), from, N(4), &found);
  if (status) return status;
  RESULT(0) = found.computed;
  RESULT(1) = found.result;
  return SB_OK;
}

/* Operands: the target, `count` sources. Numbers: the function, the dtype that was asked for, casting. The result: bytes that were staged. */
static sb_status apply(sb__binding *b, int32_t count) {
  sb__math_types found;
  sb_dtype dtypes[SB__MATH_OPERANDS - 1] = {SB_BOOL};
  const sb_tensor *from[SB__MATH_OPERANDS - 1] = {NULL};
  const char *const none[SB__MATH_OPERANDS - 1] = {NULL};
  int64_t staged = 0;
  for (int32_t i = 0; i < count; i++) {
    from[i] = T(1 + i);
    dtypes[i] = T(1 + i)->dtype;
  }
  sb_status status = check_count(N(0), count);
  if (!status) status = sb__math_types_of(N(0), dtypes, N(1), &found);
  if (!status)
    status = sb__math_elementwise(N(0), &found, T(0), from, none, (sb_casting)N(2), &staged);
  RESULT(0) = (double)staged;
  return status;
}

/* Whether the dtype holds exactly the scalar's value. */
static bool holds(sb_dtype dtype, const sb_scalar *value) {
  const bool is_real = value->kind == SB_SCALAR_REAL;
  const bool is_float = dtype == SB_FLOAT32 || dtype == SB_FLOAT64;
  const int64_t bits = 8 * sb_dtype_itemsize(dtype);
  if (value->kind == SB_SCALAR_BOOL) return true;
  if (is_float && value->kind == SB_SCALAR_INT)
    return value->as.i >= -(1 << 24) && value->as.i <= 1 << 24;
  const sb_kind kind = sb_dtype_kind(dtype);
  if (kind != SB_SIGNED && kind != SB_UNSIGNED) return false;
  if (is_real && !(value->as.real >= -0x1p53 && value->as.real <= 0x1p53)) return false;
  if (is_real && value->as.real != (double)(int64_t)value->as.real) return false;
  if (!is_real && value->kind != SB_SCALAR_INT) return false;
  const int64_t whole = is_real ? (int64_t)value->as.real : value->as.i;
  if (kind == SB_UNSIGNED) return whole >= 0 && (bits == 64 || !(whole >> bits));
  return bits == 64 || (whole >= -(INT64_C(1) << (bits - 1)) && !(whole >> (bits - 1) > 0));
}

/* A number beside floats is rounded as they are: 0.1 equals float32's 0.1. */
static bool rounds(sb_dtype dtype, const sb_scalar *value) {
  const sb_kind kind = sb_dtype_kind(dtype);
  return value->kind == SB_SCALAR_REAL && (kind == SB_FLOATING || kind == SB_COMPLEX);
}

/* Comparisons are by value, so that a scalar which an integer dtype has not keeps its own. */
static sb_status types_beside(const sb_scalar *value, int64_t op, sb_dtype mine, int64_t asked,
                              int64_t place, sb__math_types *found) {
  static const sb_dtype own[] = {SB_BOOL, SB_INT64, SB_UINT64, SB_FLOAT64, SB_COMPLEX128};
  sb_dtype dtypes[SB__MATH_OPERANDS - 1] = {mine, mine, mine};
  const sb_status status = sb__math_types_of(op, dtypes, asked, found);
  if (status || asked != SB__NO_DTYPE || !sb__math_is_comparison(op) ||
      (unsigned)value->kind > SB_SCALAR_COMPLEX || rounds(mine, value) ||
      holds(found->computed, value))
    return status;
  dtypes[place] = own[value->kind];
  return sb__math_types_of(op, dtypes, asked, found);
}

static sb_status one_element(sb_dtype dtype, char *item, sb_storage *storage, sb_tensor *out) {
  *storage = (sb_storage){.device = -1, .data = item, .nbytes = (size_t)sb_dtype_itemsize(dtype)};
  return sb_tensor_init(storage, dtype, 0, NULL, NULL, 0, out);
}

/* The scalar as an element of the dtype that is computed in. Beside a short float it is rounded to that one first, as the tensor's own
 * elements are. */
static sb_status write_item(const sb_scalar *value, sb_dtype mine, sb_dtype computed, char *item) {
  union {
    char bytes[16];
    double aligned;
  } rounded;
  sb_storage storages[2];
  sb_tensor to, from;
  if (value->kind == SB_SCALAR_REAL && computed == SB_FLOAT32 && mine == computed) {
    const float single = (float)value->as.real;
    memcpy(item, &single, sizeof single);
    if ((double)single == value->as.real) return SB_OK; /* exact in any rounding mode */
  }
  if (computed != SB_FLOAT32 || sb_dtype_kind(mine) != SB_FLOATING || mine == SB_FLOAT32)
    return sb__item_of(value, computed, item);
  sb_status status = sb__item_of(value, mine, rounded.bytes);
  if (!status) status = one_element(mine, rounded.bytes, &storages[0], &from);
  if (!status) status = one_element(computed, item, &storages[1], &to);
  return status ? status : sb_copy(&to, &from, SB_CASTING_UNSAFE, NULL);
}

/* Integers have no powers below 0 but those of 1 and -1. */
static sb_status check_exponent(const sb_scalar *value) {
  if ((value->kind == SB_SCALAR_INT && value->as.i < 0) ||
      (value->kind == SB_SCALAR_REAL && value->as.real < 0))
    return sb__fail(SB_ERR_CAST,
                    "integers have no negative powers; { dtype: 'float32' } computes in floats");
  return SB_OK;
}

/* Operands: the target, one source. Numbers: the function, the dtype that was asked for, casting, the scalar's place (0 or 1). The scalar
 * takes the dtype that is computed in, and must fit the other source's; of comparisons it is compared by value. */
static sb_status with_scalar(sb__binding *b) {
  union {
    char bytes[16];
    double aligned;
  } item;
  sb__math_types found;
  const sb_tensor *from[SB__MATH_OPERANDS - 1] = {T(1), T(1), NULL};
  const char *items[SB__MATH_OPERANDS - 1] = {NULL};
  int64_t staged = 0;
  if (N(3) < 0 || N(3) > 1) return misfit();
  sb_status status = check_count(N(0), 2);
  if (!status) status = types_beside(&b->scalars[0], N(0), T(1)->dtype, N(1), N(3), &found);
  if (!status && N(0) == SB__OP_pow && N(3) == 1 && sb_dtype_kind(found.computed) == SB_SIGNED)
    status = check_exponent(&b->scalars[0]);
  if (!status)
    status = write_item(&b->scalars[0], N(1) == SB__NO_DTYPE ? T(1)->dtype : found.result,
                        found.from[N(3)], item.bytes);
  if (status) return status;
  items[N(3)] = item.bytes;
  status = sb__math_elementwise(N(0), &found, T(0), from, items, (sb_casting)N(2), &staged);
  RESULT(0) = (double)staged;
  return status;
}

/* A function of three sources, of which one or two are scalars. Operands: the target, the others, one of them twice if it is alone. Numbers:
 * the function, the dtype that was asked for, casting, a bit for each source that is a scalar, the scalars' dtype (of a condition bool). */
static sb_status choice(sb__binding *b) {
  union {
    char bytes[16];
    double aligned;
  } values[2];
  sb__math_types found;
  sb_dtype dtypes[SB__MATH_OPERANDS - 1];
  const sb_tensor *from[SB__MATH_OPERANDS - 1] = {NULL};
  const char *items[SB__MATH_OPERANDS - 1] = {NULL};
  int64_t staged = 0;
  int32_t tensors = 0, scalars = 0;
  sb_status status = check_count(N(0), 3);
  if (!status && (N(3) < 1 || N(3) > 6 || N(4) < 0 || N(4) >= SB_DTYPE_COUNT)) status = misfit();
  for (int32_t i = 0; i < 3 && !status; i++) {
    if (N(3) >> i & 1) {
      dtypes[i] = N(0) == SB__OP_where && i == 0 ? SB_BOOL : (sb_dtype)N(4);
    } else {
      from[i] = T(1 + tensors++);
      dtypes[i] = from[i]->dtype;
    }
  }
  if (!status) status = sb__math_types_of(N(0), dtypes, N(1), &found);
  for (int32_t i = 0; i < 3 && !status; i++) {
    if (from[i]) continue;
    items[i] = values[scalars].bytes;
    status = write_item(&b->scalars[scalars], dtypes[i], found.from[i], values[scalars].bytes);
    scalars++;
  }
  if (!status)
    status = sb__math_elementwise(N(0), &found, T(0), from, items, (sb_casting)N(2), &staged);
  RESULT(0) = (double)staged;
  return status;
}

/* Numbers: the reduction, the source's dtype, the dtype that was asked for or SB__NO_DTYPE. The result: the result's dtype. */
static sb_status reduction_type(sb__binding *b) {
  sb__reduction found;
  if (N(1) < 0 || N(1) >= SB_DTYPE_COUNT)
    return sb__fail(SB_ERR_DTYPE, "%lld is no dtype", (long long)N(1));
  const sb_status status = sb__reduction_of(N(0), (sb_dtype)N(1), N(2), &found);
  if (!status) RESULT(0) = found.result;
  return status;
}

/* Operands: the target, the source. The list: axes. Numbers: the reduction, the dtype that was asked for, casting. The scalar: the
 * correction. The result: bytes that were staged. */
static sb_status reduce(sb__binding *b) {
  int64_t staged = 0;
  const sb_scalar *correction = &b->scalars[0];
  if (correction->kind != SB_SCALAR_REAL || b->counts[0] < 0) return misfit();
  const sb_status status = sb__math_reduce(N(0), T(0), T(1), b->counts[0], b->lists[0].integers,
                                           N(1), correction->as.real, (sb_casting)N(2), &staged);
  RESULT(0) = (double)staged;
  return status;
}

/* As reduce: the reduction that the cumulative function goes on with; the list is the axis. */
static sb_status cumulate(sb__binding *b) {
  int64_t staged = 0;
  if (b->counts[0] != 1) return misfit();
  const sb_status status =
      sb__math_cumulate(N(0), T(0), T(1), b->lists[0].integers[0], N(1), (sb_casting)N(2), &staged);
  RESULT(0) = (double)staged;
  return status;
}

/* As reduce, for functions of whole lines. The list: ranks. A fourth number: how many of the source's last axes make a line. */
static sb_status lines(sb__binding *b) {
  int64_t staged = 0;
  if (b->counts[0] < 0) return misfit();
  const sb_status status = sb__math_lines(N(0), T(0), T(1), N(3), b->counts[0],
                                          b->lists[0].integers, N(1), (sb_casting)N(2), &staged);
  RESULT(0) = (double)staged;
  return status;
}

/* Operand: a mask. The results: 0 bytes that were staged; how many of its elements are true. */
static sb_status count_true(sb__binding *b) {
  int64_t count = 0;
  const sb_status status = sb__math_count_true(T(0), &count);
  RESULT(0) = 0;
  RESULT(1) = (double)count;
  return status;
}

/* Operands: offsets, indices. Numbers: the axis' extent, its stride, the entry, the axis, whether offsets are added to. */
static sb_status offsets(sb__binding *b) {
  const sb__indexed_axis axis = {.extent = N(0), .stride = N(1), .entry = N(2), .number = N(3)};
  return sb__math_offsets(T(0), T(1), &axis, N(4) != 0);
}

#define EXPORT(name, signature, call) \
 static sb_status run_##name(sb__binding *b) { return call; }
#include "math/exports.def"
#undef EXPORT

const sb__export sb__math_exports[SB__MATH_EXPORTS] = {
#define EXPORT(name, signature, call) {signature, run_##name},
#include "math/exports.def"
#undef EXPORT
};

#define TEXT(x) #x

static const char tables[] = "{\"version\":\"" SB_VERSION "\",\"exports\":["
#define EXPORT(name, signature, call) "\"" #name "\","
#include "math/exports.def"
#undef EXPORT
                             "null],\"ops\":["
#define OP(name, count, domain, result, accuracy, text) \
 "[\"" #name "\"," TEXT(count) ",\"" #domain "\",\"" #result "\"],"
#include "math/ops.def"
#undef OP
                             "null],\"reductions\":["
#define REDUCTION(name, group, text) "\"" #name "\","
#include "math/reductions.def"
#undef REDUCTION
                             "null]}";

const char *sb__math_tables(void) { return tables; }
