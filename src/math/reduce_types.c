/* Which loop a reduction takes, and the dtype of its result. */
#include "math/reduce.h"

typedef struct row {
  const char *name;
  sb__reduction_group group;
} row;

static const row rows[SB__REDUCTIONS] = {
#define REDUCTION(name, group, text) {#name, SB__REDUCES_##group},
#include "math/reductions.def"
#undef REDUCTION
};

static bool is_float8(sb_dtype dtype) {
  return dtype == SB_FLOAT8_E4M3FN || dtype == SB_FLOAT8_E5M2;
}

static bool is_byte(sb_dtype dtype) { return dtype == SB_BOOL || dtype == SB_UINT8; }

static sb_status refuse(const row *r, sb_dtype dtype, const char *wanted) {
  return sb__fail(SB_ERR_DTYPE, "%s is not for %s, but for %s; astype converts", r->name,
                  sb_dtype_name(dtype), wanted);
}

/* The dtype of loops that holds all values of a float (of a complex number's parts) or a short integer. */
static sb_dtype float_load(sb_dtype from) {
  if (from == SB_FLOAT64 || from == SB_COMPLEX128) return SB_FLOAT64;
  if (sb__is_integer(from) && sb_dtype_itemsize(from) >= 4) return SB_FLOAT64;
  return SB_FLOAT32;
}

static sb_dtype integer_load(sb_dtype from) {
  return sb_dtype_kind(from) == SB_UNSIGNED ? SB_UINT64 : SB_INT64;
}

/* The result's dtype where none is asked for. */
static sb_dtype default_result(sb__reduction_group group, sb_dtype from) {
  const sb_kind kind = sb_dtype_kind(from);
  switch (group) {
    case SB__REDUCES_SUM:
    case SB__REDUCES_PRODUCT:
      if (kind == SB_UNSIGNED) return SB_UINT64;
      return kind == SB_SIGNED || kind == SB_BOOLEAN ? SB_INT64 : from;
    case SB__REDUCES_MEAN:
    case SB__REDUCES_SPREAD:
    case SB__REDUCES_NORM:
    case SB__REDUCES_LINES: return kind == SB_FLOATING || kind == SB_COMPLEX ? from : SB_FLOAT32;
    case SB__REDUCES_LOGIC: return SB_BOOL;
    case SB__REDUCES_COUNT:
    case SB__REDUCES_INDEX: return SB_INT32;
    default: return from;
  }
}

static sb_status check_source(const row *r, sb_dtype from) {
  const bool any = r->group == SB__REDUCES_LOGIC || r->group == SB__REDUCES_COUNT;
  const bool has_complex = r->group == SB__REDUCES_SUM || r->group == SB__REDUCES_PRODUCT ||
                           r->group == SB__REDUCES_MEAN;
  if (any) return SB_OK;
  if (is_float8(from)) return refuse(r, from, "other numbers");
  if (sb_dtype_kind(from) == SB_COMPLEX && !has_complex) return refuse(r, from, "real numbers");
  return SB_OK;
}

static sb_status check_asked(const row *r, sb_dtype from, sb_dtype asked) {
  const sb_kind kind = sb_dtype_kind(asked);
  switch (r->group) {
    case SB__REDUCES_LOGIC:
    case SB__REDUCES_EXTREME:
      return sb__fail(SB_ERR_ARGUMENT, "%s takes no dtype; astype converts its result", r->name);
    case SB__REDUCES_COUNT:
    case SB__REDUCES_INDEX:
      if (asked == SB_INT32 || asked == SB_INT64) return SB_OK;
      return sb__fail(SB_ERR_DTYPE, "dtype is %s; %s gives int32 or int64", sb_dtype_name(asked),
                      r->name);
    case SB__REDUCES_SUM:
    case SB__REDUCES_PRODUCT:
      if (kind == SB_BOOLEAN || is_float8(asked)) return refuse(r, asked, "other numbers");
      break;
    case SB__REDUCES_LINES:
    case SB__REDUCES_NORM:
      if (kind != SB_FLOATING || is_float8(asked)) return refuse(r, asked, "real floats");
      break;
    default:
      if ((kind != SB_FLOATING && kind != SB_COMPLEX) || is_float8(asked))
        return refuse(r, asked, "floats");
  }
  return sb__check_operand_cast(from, asked);
}

static void choose_sum(sb_dtype from, sb__reduction *out) {
  const bool is_whole = sb__is_integer(out->result);
  out->made = is_whole ? integer_load(out->result) : SB_FLOAT64;
  if (is_byte(from)) {
    out->load = from;
    out->fold = from == SB_BOOL ? SB__FOLD_count_u8 : SB__FOLD_sum_u8;
  } else if (is_whole) {
    out->load = integer_load(from);
    out->fold = SB__FOLD_sum_i64;
  } else {
    out->load = float_load(from);
    out->fold = out->load == SB_FLOAT32 ? SB__FOLD_sum_f32 : SB__FOLD_sum_f64;
  }
}

static void choose_product(sb_dtype from, sb__reduction *out) {
  if (sb_dtype_kind(from) == SB_COMPLEX) {
    out->made = out->load = SB_COMPLEX128;
    out->fold = SB__FOLD_product_c128;
  } else if (sb__is_integer(out->result)) {
    out->made = integer_load(out->result);
    out->load = integer_load(from);
    out->fold = SB__FOLD_product_i64;
  } else {
    out->made = out->load = SB_FLOAT64;
    out->fold = SB__FOLD_product_f64;
  }
}

/* Keys are signed: the lowest value of the dtype is the lowest key. */
static void choose_extreme(sb_dtype from, bool is_least, bool finds, sb__reduction *out) {
  const sb_kind kind = sb_dtype_kind(from);
  out->flip = is_least ? UINT64_MAX : 0;
  if (kind == SB_FLOATING) {
    out->load = float_load(from);
    out->made = SB_FLOAT64;
    if (out->load == SB_FLOAT32)
      out->fold = finds ? SB__FOLD_where_f32 : SB__FOLD_most_f32;
    else
      out->fold = finds ? SB__FOLD_where_f64 : SB__FOLD_most_f64;
  } else if (!finds && sb_dtype_itemsize(from) <= 2) {
    const bool is_byte = sb_dtype_itemsize(from) == 1;
    out->load = from;
    out->made = kind == SB_BOOLEAN ? SB_BOOL : SB_INT64;
    out->fold = is_byte ? SB__FOLD_most_u8 : SB__FOLD_most_u16;
    if (kind == SB_SIGNED) out->flip ^= is_byte ? 0x80 : 0x8000;
  } else if (sb_dtype_itemsize(from) <= 4) {
    out->load = from == SB_UINT32 ? from : SB_INT32;
    out->made = SB_INT64;
    out->fold = finds ? SB__FOLD_where_i32 : SB__FOLD_most_i32;
    if (from == SB_UINT32) out->flip ^= UINT64_C(1) << 31;
  } else {
    out->load = integer_load(from);
    out->made = out->load;
    out->fold = finds ? SB__FOLD_where_i64 : SB__FOLD_most_i64;
    if (out->load == SB_UINT64) out->flip ^= UINT64_C(1) << 63;
  }
  if (finds) out->made = SB_INT64;
}

/* Whether elements are 0, read where they are if their bits without the signs of floats say it. */
static void choose_truth(sb_dtype from, bool is_logic, sb__reduction *out) {
  const int64_t size = sb_dtype_itemsize(from);
  const uint64_t signs32 = 0x80000000, signs64 = UINT64_C(1) << 63;
  out->load = from;
  if (size == 4) {
    out->fold = SB__FOLD_count_u32;
    out->flip = sb__is_integer(from) ? UINT64_MAX : ~signs32;
  } else if (size == 8) {
    out->fold = SB__FOLD_count_u64;
    if (!sb__is_integer(from)) out->flip = from == SB_FLOAT64 ? signs64 : signs64 | signs32;
    out->flip = ~out->flip;
  } else {
    if (!sb__is_integer(from) || size != 1) out->load = SB_BOOL;
    out->fold = is_logic ? SB__FOLD_most_u8 : SB__FOLD_count_u8;
    out->flip = out->op == SB__REDUCE_all ? UINT64_MAX : 0;
  }
}

sb_status sb__reduction_of(int64_t op, sb_dtype from, int64_t asked, sb__reduction *out) {
  if (op < 0 || op >= SB__REDUCTIONS)
    return sb__fail(SB_ERR_ARGUMENT, "there is no reduction %lld", (long long)op);
  if (asked != SB__NO_DTYPE && (asked < 0 || asked >= SB_DTYPE_COUNT))
    return sb__fail(SB_ERR_DTYPE, "%lld is no dtype", (long long)asked);
  const row *r = &rows[op];
  sb_status status = check_source(r, from);
  if (!status && asked != SB__NO_DTYPE) status = check_asked(r, from, (sb_dtype)asked);
  if (status) return status;
  *out = (sb__reduction){.name = r->name, .group = r->group, .op = (int32_t)op};
  out->result = asked == SB__NO_DTYPE ? default_result(r->group, from) : (sb_dtype)asked;
  switch (r->group) {
    case SB__REDUCES_SUM:
    case SB__REDUCES_MEAN: choose_sum(from, out); break;
    case SB__REDUCES_PRODUCT: choose_product(from, out); break;
    case SB__REDUCES_SPREAD:
    case SB__REDUCES_NORM:
      out->load = float_load(from);
      out->made = SB_FLOAT64;
      out->fold = out->load == SB_FLOAT32 ? SB__FOLD_sum_f32 : SB__FOLD_sum_f64;
      if (op == SB__REDUCE_norm1)
        out->fold = out->load == SB_FLOAT32 ? SB__FOLD_absolute_f32 : SB__FOLD_absolute_f64;
      out->squares = out->load == SB_FLOAT32 ? SB__FOLD_square_f32 : SB__FOLD_square_f64;
      if (op == SB__REDUCE_norm2) out->fold = out->squares;
      break;
    case SB__REDUCES_EXTREME:
    case SB__REDUCES_INDEX:
      choose_extreme(from, op == SB__REDUCE_min || op == SB__REDUCE_argmin,
                     r->group == SB__REDUCES_INDEX, out);
      break;
    case SB__REDUCES_LOGIC:
      choose_truth(from, true, out);
      out->made = SB_BOOL;
      break;
    case SB__REDUCES_LINES:
      out->load = out->result == SB_FLOAT64 ? SB_FLOAT64 : float_load(from);
      if (op == SB__REDUCE_quantile) out->load = SB_FLOAT64;
      out->made = out->load;
      break;
    case SB__REDUCES_COUNT:
      choose_truth(from, false, out);
      out->made = SB_INT64;
      break;
  }
  return SB_OK;
}
