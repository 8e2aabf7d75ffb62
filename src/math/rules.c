/* Which dtype an elementwise function computes in, and which it gives. */
#include "math/math.h"

typedef enum domain {
  NUMBER,   /* integers, floats, complex */
  REAL,     /* integers, floats */
  WHOLE,    /* integers, which stay, and floats */
  NEAREST,  /* integers, which stay, floats, complex */
  POWER,    /* integers, and floats */
  TEST,     /* integers, of which it is known, floats, complex */
  DIVISION, /* floats, complex; integers become float32 */
  FLOAT,    /* floats; integers become float32 */
  BITS,     /* bool, integers */
  INTEGER,  /* integers */
  LOGIC,    /* bool; all others become bool */
  EQUALITY, /* all dtypes, by value */
  ORDER,    /* all but complex, by value */
  CHOICE,   /* all dtypes; the first source is bool */
} domain;

typedef enum result { SAME, BOOL, PART } result;

typedef struct rule {
  const char *name;
  int32_t count;
  domain domain;
  result result;
} rule;

static const rule rules[SB__OPS] = {
#define OP(name, count, domain, result, accuracy, text) {#name, count, domain, result},
#include "math/ops.def"
#undef OP
};

static bool is_float8(sb_dtype dtype) {
  return dtype == SB_FLOAT8_E4M3FN || dtype == SB_FLOAT8_E5M2;
}

/* That a function computes in: short floats in float32, unless it has loops of their bits. */
static sb_dtype loop_dtype(int64_t op, sb_dtype dtype) {
  if (sb__math_loop_now(op, dtype)) return dtype;
  return dtype == SB_FLOAT16 || dtype == SB_BFLOAT16 || is_float8(dtype) ? SB_FLOAT32 : dtype;
}

static sb_status refuse(const rule *r, sb_dtype dtype, const char *wanted) {
  return sb__fail(SB_ERR_DTYPE, "%s is not for %s, but for %s; astype converts", r->name,
                  sb_dtype_name(dtype), wanted);
}

static sb_status check_domain(const rule *r, sb_dtype dtype) {
  const sb_kind kind = sb_dtype_kind(dtype);
  switch (r->domain) {
    case NUMBER:
    case NEAREST:
    case TEST:
    case DIVISION:
      if (kind == SB_BOOLEAN || is_float8(dtype)) return refuse(r, dtype, "numbers");
      return SB_OK;
    case REAL:
    case WHOLE:
    case POWER:
    case FLOAT:
      if (kind == SB_BOOLEAN || kind == SB_COMPLEX || is_float8(dtype))
        return refuse(r, dtype, "real numbers");
      return SB_OK;
    case BITS:
      if (kind != SB_BOOLEAN && !sb__is_integer(dtype))
        return refuse(r, dtype, "integers and bool");
      return SB_OK;
    case INTEGER:
      if (!sb__is_integer(dtype)) return refuse(r, dtype, "integers");
      return SB_OK;
    case ORDER:
      if (kind == SB_COMPLEX) return refuse(r, dtype, "real numbers");
      return SB_OK;
    default: return SB_OK;
  }
}

/* All dtypes promoted; of a choice, those after the condition. */
static sb_status promote_all(const rule *r, const sb_dtype *from, sb_dtype *out) {
  const int32_t first = r->domain == CHOICE;
  sb_status status = SB_OK;
  *out = from[first];
  for (int32_t i = first + 1; i < r->count && !status; i++)
    status = sb_promote_types(*out, from[i], out);
  return status;
}

/* The dtype that holds every value of this one, and of which there are loops of mixed sources. */
static sb_dtype widest(sb_dtype dtype) {
  switch (sb_dtype_kind(dtype)) {
    case SB_COMPLEX: return SB_COMPLEX128;
    case SB_FLOATING: return SB_FLOAT64;
    default: return dtype == SB_UINT64 ? SB_UINT64 : SB_INT64;
  }
}

static bool has_64_bits(sb_dtype dtype) { return dtype == SB_INT64 || dtype == SB_UINT64; }

static bool is_float(sb_dtype dtype) {
  const sb_kind kind = sb_dtype_kind(dtype);
  return kind == SB_FLOATING || kind == SB_COMPLEX;
}

/* Compares by value: what two dtypes are converted to holds all values of both. No dtype holds those of 64-bit integers and of floats, or
 * of both 64-bit integers; mixed loops read each source as it is. */
static void compare_by_value(const rule *r, int64_t op, sb_dtype a, sb_dtype b, sb_dtype promoted,
                             sb__math_types *out) {
  const bool wide = (sb__is_integer(a) && sb_dtype_itemsize(a) == 4) ||
                    (sb__is_integer(b) && sb_dtype_itemsize(b) == 4);
  const bool is_mixed = (has_64_bits(a) && is_float(b)) || (has_64_bits(b) && is_float(a)) ||
                        (sb__is_integer(a) && sb__is_integer(b) && is_float(promoted));
  out->computed = loop_dtype(op, promoted);
  if (is_float(promoted) && wide)
    out->computed = sb_dtype_kind(promoted) == SB_COMPLEX ? SB_COMPLEX128 : SB_FLOAT64;
  for (int32_t i = 0; i < r->count; i++) out->from[i] = out->computed;
  out->loop = NULL;
  if (!is_mixed) return;
  out->from[0] = out->computed = widest(a);
  out->from[1] = widest(b);
  out->loop = sb__math_mixed_loop(op, out->from[0], out->from[1]);
}

sb_status sb__math_types_of(int64_t op, const sb_dtype *from, int64_t asked, sb__math_types *out) {
  if (op < 0 || op >= SB__OPS)
    return sb__fail(SB_ERR_ARGUMENT, "there is no function %lld", (long long)op);
  const rule *r = &rules[op];
  sb_dtype dtype = SB_BOOL;
  sb_status status = promote_all(r, from, &dtype);
  if (status) return status;
  if (asked != SB__NO_DTYPE) {
    if (asked < 0 || asked >= SB_DTYPE_COUNT)
      return sb__fail(SB_ERR_DTYPE, "%lld is no dtype", (long long)asked);
    dtype = (sb_dtype)asked;
    for (int32_t i = r->domain == CHOICE; i < r->count; i++) {
      status = sb__check_operand_cast(from[i], dtype);
      if (status) return status;
    }
  }
  status = check_domain(r, dtype);
  if (status) return status;
  if ((r->domain == DIVISION || r->domain == FLOAT) && sb__is_integer(dtype)) {
    if (asked != SB__NO_DTYPE)
      return sb__fail(SB_ERR_DTYPE, "%s gives floats, not %s; astype converts its result", r->name,
                      sb_dtype_name(dtype));
    dtype = SB_FLOAT32;
  }
  if (r->domain == LOGIC) dtype = SB_BOOL;
  out->computed = loop_dtype(op, dtype);
  out->made = out->computed;
  out->result = dtype;
  out->loop = NULL;
  if (r->result == BOOL) out->made = out->result = SB_BOOL;
  if (r->result == PART && sb_dtype_kind(dtype) == SB_COMPLEX)
    out->made = out->result = dtype == SB_COMPLEX64 ? SB_FLOAT32 : SB_FLOAT64;
  for (int32_t i = 0; i < SB__MATH_OPERANDS - 1; i++) out->from[i] = out->computed;
  if (r->domain == CHOICE) out->from[0] = SB_BOOL;
  for (int32_t i = 0; i < r->count && r->domain == LOGIC; i++)
    if (sb__is_integer(from[i]) && sb_dtype_itemsize(from[i]) == 1)
      out->from[i] = from[i]; /* loops of bool take any byte */
  if ((r->domain == EQUALITY || r->domain == ORDER) && asked == SB__NO_DTYPE)
    compare_by_value(r, op, from[0], from[1], dtype, out);
  if (!out->loop) out->loop = sb__math_loop_now(op, out->computed);
  return SB_OK;
}

bool sb__math_is_comparison(int64_t op) {
  return op >= 0 && op < SB__OPS && (rules[op].domain == EQUALITY || rules[op].domain == ORDER);
}
