/* Range checks of values, and integers that span int64 and uint64. */
#include <math.h>

#include "ops/range_check.h"

/* For an integer dtype or bool: the index of the first value out of range, or -1. */
static int64_t first_out_of_range(const sb__chunk *x, sb__form form, sb_dtype to, int64_t n) {
  const int bits = 8 * (int)sb_dtype_itemsize(to);
  const bool boolean = to == SB_BOOL, sign = sb_dtype_kind(to) == SB_SIGNED;
  const uint64_t high = boolean ? 1 : UINT64_MAX >> (64 - bits + sign);
  const int64_t low = sign ? -(int64_t)(high)-1 : 0;
  for (int64_t i = 0; i < n; i++) {
    bool fits = false;
    if (form == SB__FORM_INT) fits = x->i[i] >= low && (x->i[i] < 0 || (uint64_t)x->i[i] <= high);
    if (form == SB__FORM_UINT) fits = x->u[i] <= high;
    if (form == SB__FORM_REAL) {
      const double value = x->real[i];
      fits = value == trunc(value) && value >= (double)low && value < (double)high + 1 &&
             sb_dtype_kind(to) != SB_FLOATING;
    }
    if (!fits) return i;
  }
  return -1;
}

static sb_complex128 complex_at(const sb__chunk *x, sb__form form, int64_t i) {
  if (form == SB__FORM_COMPLEX) return x->c[i];
  if (form == SB__FORM_REAL) return (sb_complex128){x->real[i], 0};
  if (form == SB__FORM_UINT) return (sb_complex128){(double)x->u[i], 0};
  return (sb_complex128){(double)x->i[i], 0};
}

/* A finite part became infinite or NaN; or an infinite one was cast to float8_e4m3fn, which has no infinities. */
static bool overflows(double before, double after, sb_dtype to) {
  if (isfinite(before)) return !isfinite(after);
  return isinf(before) && to == SB_FLOAT8_E4M3FN;
}

/* For a floating or complex dtype: the index of the first value that overflows, or is complex while `to` is not; or -1. */
static int64_t first_overflow(const sb__chunk *x, sb__form form, sb_dtype to, int64_t n) {
  union {
    char bytes[16];
    sb_complex128 aligned;
  } item;
  for (int64_t i = 0; i < n; i++) {
    sb__chunk one, back;
    const sb_complex128 before = complex_at(x, form, i);
    if (form == SB__FORM_COMPLEX && sb_dtype_kind(to) != SB_COMPLEX) return i;
    one.c[0] = before;
    sb__store(to, item.bytes, 16, SB__FORM_COMPLEX, &one, 1);
    const sb_complex128 after = complex_at(&back, sb__load(to, &back, item.bytes, 16, 1), 0);
    if (overflows(before.re, after.re, to) || overflows(before.im, after.im, to)) return i;
  }
  return -1;
}

sb_status sb__check_range(const sb__chunk *x, sb__form form, sb_dtype to, int64_t n) {
  const sb_kind kind = sb_dtype_kind(to);
  const bool floats = kind == SB_FLOATING || kind == SB_COMPLEX;
  const int64_t i = floats ? first_overflow(x, form, to, n) : first_out_of_range(x, form, to, n);
  if (i < 0) return SB_OK;
  if (form == SB__FORM_UINT) {
    return sb__fail(SB_ERR_CAST, "the value %llu does not fit %s", (unsigned long long)x->u[i],
                    sb_dtype_name(to));
  }
  if (form == SB__FORM_INT) {
    return sb__fail(SB_ERR_CAST, "the value %lld does not fit %s", (long long)x->i[i],
                    sb_dtype_name(to));
  }
  if (form == SB__FORM_COMPLEX) {
    return sb__fail(SB_ERR_CAST, "the value [%s, %s] does not fit %s",
                    sb__digits_of(x->c[i].re).text, sb__digits_of(x->c[i].im).text,
                    sb_dtype_name(to));
  }
  return sb__fail(SB_ERR_CAST, "the value %s does not fit %s", sb__digits_of(x->real[i]).text,
                  sb_dtype_name(to));
}

sb_status sb__integer_of(const char *name, const sb_scalar *value, sb__integer *out) {
  const double x = value->as.real;
  if (value->kind == SB_SCALAR_UINT) {
    *out = (sb__integer){false, value->as.u};
  } else if (value->kind == SB_SCALAR_INT || value->kind == SB_SCALAR_BOOL) {
    *out = (sb__integer){value->as.i < 0, (uint64_t)value->as.i};
  } else if (value->kind == SB_SCALAR_REAL && x == trunc(x) && x >= -0x1p63 && x < 0x1p64) {
    *out = (sb__integer){x < 0, x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x};
  } else if (value->kind == SB_SCALAR_REAL) {
    return sb__fail(SB_ERR_BOUNDS, "%s is %s, which is no 64-bit integer", name,
                    sb__digits_of(x).text);
  } else {
    return sb__fail(SB_ERR_ARGUMENT, "%s is no integer", name);
  }
  return SB_OK;
}

sb__integer sb__lowest(sb_dtype dtype) {
  if (sb_dtype_kind(dtype) != SB_SIGNED) return (sb__integer){false, 0};
  return (sb__integer){true, ~sb__highest(dtype).bits};
}

sb__integer sb__highest(sb_dtype dtype) {
  const int bits = dtype == SB_BOOL ? 1 : 8 * (int)sb_dtype_itemsize(dtype);
  return (sb__integer){false, UINT64_MAX >> (64 - bits + (sb_dtype_kind(dtype) == SB_SIGNED))};
}

bool sb__is_above(sb__integer a, sb__integer b) {
  return a.negative == b.negative ? a.bits > b.bits : b.negative;
}

bool sb__integer_fits(sb__integer x, sb_dtype dtype) {
  return !sb__is_above(x, sb__highest(dtype)) && !sb__is_above(sb__lowest(dtype), x);
}
