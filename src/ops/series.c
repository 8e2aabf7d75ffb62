/* Evenly spaced numbers. A series is monotonic, so checking its ends before anything is written checks all of it. */
#include "ops/series.h"

#include <math.h>

#include "ops/range_check.h"
#include "ops/loop.h"

/* Element i is first + i * by, modulo 2^64; or start + i * step. */
typedef struct series {
  sb__form form; /* SB__FORM_INT or SB__FORM_REAL */
  uint64_t first, by;
  double start, step;
  double parts; /* if not 0: start + i / parts * step, because step / parts underflows */
  int64_t last; /* index of the element that is exactly stop; -1: none */
  double stop;
  bool floors; /* rounds down to integers */
} series;

static void make_values(const series *s, int64_t first, int64_t n, sb__chunk *out) {
  if (s->form == SB__FORM_INT) {
    for (int64_t i = 0; i < n; i++) out->u[i] = s->first + (uint64_t)(first + i) * s->by;
    return;
  }
  for (int64_t i = 0; i < n; i++) out->real[i] = (double)(first + i);
  for (int64_t i = 0; i < n && s->parts != 0; i++) out->real[i] /= s->parts;
  for (int64_t i = 0; i < n; i++) out->real[i] = out->real[i] * s->step + s->start;
  if (s->last >= first && s->last - first < n) out->real[s->last - first] = s->stop;
  for (int64_t i = 0; i < n && s->floors; i++) out->real[i] = floor(out->real[i]);
}

static void write_all(const sb_tensor *t, const series *s) {
  sb__loop loop;
  sb__chunk chunk;
  int64_t made = 0;
  sb__loop_begin(&loop, 1, &t);
  do {
    for (int64_t i = 0, n = 0; i < loop.n; i += n) {
      n = loop.n - i < SB__CHUNK ? loop.n - i : SB__CHUNK;
      make_values(s, made, n, &chunk);
      sb__store(t->dtype, loop.at[0] + i * loop.step[0], loop.step[0], s->form, &chunk, n);
      made += n;
    }
  } while (sb__loop_next(&loop));
}

/* Checks the last but one as well: it may lie beyond the last one where that is exactly stop. */
static sb_status check_reals(const series *s, sb_dtype dtype, int64_t numel) {
  const int64_t ends[] = {0, numel - 1, numel - 2};
  sb_status status = SB_OK;
  sb__chunk one;
  for (int i = 0; !status && i < 3; i++) {
    if (ends[i] < 0 || ends[i] >= numel) continue;
    make_values(s, ends[i], 1, &one);
    status = isfinite(one.real[0])
                 ? sb__check_range(&one, SB__FORM_REAL, dtype, 1)
                 : sb__fail(SB_ERR_CAST, "element %lld is beyond what float64 holds",
                            (long long)ends[i]);
  }
  return status;
}

static bool is_integer(sb_dtype dtype) {
  const sb_kind kind = sb_dtype_kind(dtype);
  return kind == SB_BOOLEAN || kind == SB_UNSIGNED || kind == SB_SIGNED;
}

/* The dtype's range reaches at least count steps beyond first. */
static bool fits_steps(sb__integer first, sb__integer step, uint64_t count, sb_dtype dtype) {
  const uint64_t distance =
      step.negative ? first.bits - sb__lowest(dtype).bits : sb__highest(dtype).bits - first.bits;
  return (step.negative ? 0 - step.bits : step.bits) <= distance / count;
}

static sb_status integer_series(sb_dtype dtype, int64_t numel, const sb_scalar *start,
                                const sb_scalar *step, series *out) {
  sb__integer first = {false, 0}, by = {false, 0};
  bool fits =
      numel == 0 || (!sb__integer_of("start", start, &first) && sb__integer_fits(first, dtype));
  if (fits && numel > 1) { /* else step is not used */
    fits = !sb__integer_of("step", step, &by) && fits_steps(first, by, (uint64_t)numel - 1, dtype);
  }
  if (!fits) {
    return sb__fail(SB_ERR_CAST, "the %lld values from start on by step do not all fit %s",
                    (long long)numel, sb_dtype_name(dtype));
  }
  *out = (series){.form = SB__FORM_INT, .first = first.bits, .by = by.bits};
  return SB_OK;
}

static sb_status check_finite(const char *name, double value) {
  if (isfinite(value)) return SB_OK;
  return sb__fail(SB_ERR_BOUNDS, "%s is %s; a finite number was expected", name,
                  sb__digits_of(value).text);
}

static sb_status real_of(const char *name, const sb_scalar *value, double *out) {
  switch (value->kind) {
    case SB_SCALAR_BOOL:
    case SB_SCALAR_INT: *out = (double)value->as.i; return SB_OK;
    case SB_SCALAR_UINT: *out = (double)value->as.u; return SB_OK;
    case SB_SCALAR_REAL: *out = value->as.real; return check_finite(name, *out);
    case SB_SCALAR_COMPLEX: break;
  }
  return sb__fail(SB_ERR_ARGUMENT, "%s is no real number", name);
}

static sb_status arange_series(sb_dtype dtype, int64_t numel, const sb_scalar *start,
                               const sb_scalar *step, series *out) {
  series made = {.form = SB__FORM_REAL, .last = -1};
  if (!sb__dtype_is_valid((int64_t)dtype))
    return sb__fail(SB_ERR_DTYPE, "%d is no dtype", (int)dtype);
  sb_status status = real_of("start", start, &made.start);
  if (!status) status = real_of("step", step, &made.step);
  if (status) return status;
  if (is_integer(dtype)) return integer_series(dtype, numel, start, step, out);
  *out = made;
  return check_reals(&made, dtype, numel);
}

sb_status sb__arange_check(sb_dtype dtype, int64_t numel, const sb_scalar *start,
                           const sb_scalar *step) {
  series made;
  const uint32_t mode = sb__float_mode_default();
  const sb_status status = arange_series(dtype, numel, start, step, &made);
  sb__float_mode_restore(mode);
  return status;
}

/* Writes a checked series. */
static sb_status write_checked(const sb_tensor *t, const series *s) {
  const sb_status status = sb__check_target(t);
  if (!status && sb_tensor_numel(t)) write_all(t, s);
  return status;
}

sb_status sb_arange(const sb_tensor *t, const sb_scalar *start, const sb_scalar *step) {
  series made;
  const uint32_t mode = sb__float_mode_default();
  sb_status status = arange_series(t->dtype, sb_tensor_numel(t), start, step, &made);
  if (!status) status = write_checked(t, &made);
  sb__float_mode_restore(mode);
  return status;
}

/* NumPy's arithmetic. */
static sb_status linspace_series(const sb_tensor *t, double start, double stop, bool endpoint,
                                 series *out) {
  const int64_t numel = sb_tensor_numel(t);
  const double length = stop - start, parts = (double)(endpoint ? numel - 1 : numel);
  sb_status status = check_finite("start", start);
  if (!status) status = check_finite("stop", stop);
  if (!status) status = check_finite("stop - start", length);
  if (status) return status;
  if (t->dtype == SB_BOOL) return sb__fail(SB_ERR_DTYPE, "numbers between two others are no bool");
  *out = (series){.form = SB__FORM_REAL, .start = start, .step = length, .stop = stop};
  out->last = endpoint && numel > 1 ? numel - 1 : -1;
  out->floors = is_integer(t->dtype);
  if (parts > 0 && length / parts != 0)
    out->step = length / parts;
  else
    out->parts = parts > 0 ? parts : 1;
  return check_reals(out, t->dtype, numel);
}

sb_status sb_linspace(const sb_tensor *t, double start, double stop, bool endpoint) {
  series made;
  const uint32_t mode = sb__float_mode_default();
  sb_status status = linspace_series(t, start, stop, endpoint, &made);
  if (!status) status = write_checked(t, &made);
  sb__float_mode_restore(mode);
  return status;
}
