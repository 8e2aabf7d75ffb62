/* Random fills. Elements are drawn in row-major order, straight into a contiguous target, else by way of a small
 * buffer. */
#include <math.h>
#include <string.h>

#include "ops/device.h"
#include "ops/range_check.h"
#include "ops/loop.h"
#include "ops/parallel.h"
#include "ops/random.h"

enum { BUFFER = 512 }; /* elements */

/* Moves the loop to the row of an element. Returns the element's index within that row. */
static int64_t seek_element(sb__loop *loop, int64_t element) {
  int64_t row = element / loop->n;
  for (int32_t d = loop->ndim - 1; d >= 0; d--) {
    loop->index[d] = row % loop->shape[d];
    loop->at[0] += loop->index[d] * loop->steps[0][d];
    row /= loop->shape[d];
  }
  return element % loop->n;
}

void sb__random_range(const sb_tensor *t, const sb__random *how, int64_t first, int64_t n) {
  union {
    char bytes[BUFFER * sizeof(double)];
    double aligned;
  } buffer;
  sb__loop loop;
  const int64_t itemsize = sb_dtype_itemsize(t->dtype);
  const uint32_t mode = sb__float_mode_default();
  sb__loop_begin(&loop, 1, &t);
  int64_t column = seek_element(&loop, first);
  if (loop.ndim == 0 && loop.step[0] == itemsize) {
    sb__kernels_now()->random(loop.at[0] + column * itemsize, how, first, n);
    n = 0;
  }
  for (int64_t drawn = 0; n > 0; first += drawn, n -= drawn) {
    drawn = n < BUFFER ? n : BUFFER;
    sb__kernels_now()->random(buffer.bytes, how, first, drawn);
    for (int64_t i = 0, m = 0; i < drawn; i += m) {
      m = drawn - i < loop.n - column ? drawn - i : loop.n - column;
      sb__copy_items(loop.at[0] + column * loop.step[0], loop.step[0], buffer.bytes + i * itemsize,
                     itemsize, m, itemsize);
      column += m;
      if (column == loop.n) {
        column = 0;
        sb__loop_next(&loop);
      }
    }
  }
  sb__float_mode_restore(mode);
}

typedef struct shared_fill {
  const sb_tensor *t;
  const sb__random *how;
  int64_t numel;
  int parts;
} shared_fill;

static void fill_part(void *context, int i) {
  const shared_fill *f = context;
  const int64_t size = f->numel / f->parts, first = i * size;
  sb__random_range(f->t, f->how, first, i + 1 < f->parts ? size : f->numel - first);
}

/* Fills from the generator's offset on, and advances it by the words used. */
static sb_status fill_random(const sb_tensor *t, sb__random *how, sb_generator *generator) {
  const int64_t numel = sb_tensor_numel(t);
  const uint64_t used = (uint64_t)numel * (uint64_t)how->words;
  sb_status status = sb__check_target_anywhere(t);
  if (status || numel == 0) return status;
  how->dtype = t->dtype;
  how->seed = generator->seed;
  how->stream = generator->stream;
  how->first = generator->offset;
  if (how->words == 2) how->first += how->first & 1;
  if (how->first < generator->offset || how->first > UINT64_MAX - used) {
    return sb__fail(SB_ERR_BOUNDS,
                    "the generator is at word %llu of 2^64; %llu more were asked for",
                    (unsigned long long)generator->offset, (unsigned long long)used);
  }
  if (SB__ON_DEVICE(t->storage)) {
    status = sb__device->random(t, how);
    if (status) return status;
  } else {
    const int parts = sb__parts_for(sb_tensor_nbytes(t));
    sb__parallel(parts, fill_part, &(shared_fill){t, how, numel, parts});
  }
  generator->offset = how->first + used;
  return SB_OK;
}

/* ---- Floating-point ---- */

static sb_status check_floating(const sb_tensor *t, const char *what) {
  if (t->dtype == SB_FLOAT16 || t->dtype == SB_BFLOAT16 || t->dtype == SB_FLOAT32 ||
      t->dtype == SB_FLOAT64)
    return SB_OK;
  return sb__fail(SB_ERR_DTYPE, "%s numbers are float16, bfloat16, float32 or float64, not %s",
                  what, sb_dtype_name(t->dtype));
}

/* Rounds a finite parameter to a dtype. */
static sb_status rounded_parameter(const char *name, double value, sb_dtype dtype, double *out) {
  sb__chunk chunk;
  double item = 0;
  if (!isfinite(value))
    return sb__fail(SB_ERR_BOUNDS, "%s is %s; a finite number was expected", name,
                    sb__digits_of(value).text);
  const uint32_t mode = sb__float_mode_default();
  chunk.real[0] = value;
  sb__store(dtype, (char *)&item, 8, SB__FORM_REAL, &chunk, 1);
  sb__load(dtype, &chunk, (const char *)&item, 8, 1);
  sb__float_mode_restore(mode);
  if (!isfinite(chunk.real[0])) {
    return sb__fail(SB_ERR_CAST, "%s is %s, which does not fit %s", name, sb__digits_of(value).text,
                    sb_dtype_name(dtype));
  }
  *out = chunk.real[0];
  return SB_OK;
}

/* The next value below one that the dtype holds, found by its bits. Call it in the default floating-point mode. */
static double next_below(double value, sb_dtype dtype) {
  sb__chunk chunk;
  uint64_t bits = 0;
  const uint64_t sign = UINT64_C(1) << (8 * sb_dtype_itemsize(dtype) - 1);
  chunk.real[0] = value;
  sb__store(dtype, (char *)&bits, 8, SB__FORM_REAL, &chunk, 1); /* little-endian */
  if ((bits & (sign - 1)) == 0)
    bits = sign + 1;
  else
    bits += bits & sign ? 1 : UINT64_MAX;
  sb__load(dtype, &chunk, (const char *)&bits, 8, 1);
  return chunk.real[0];
}

/* Sets the bounds of a uniform fill. Returns true if low is below high. noinline, because compilers move arithmetic past
 * the calls that set the floating-point mode, and with subnormals off the bounds could become 0. */
static __attribute__((noinline)) bool draw_between(double low, double high, sb__random *how,
                                                   sb_dtype dtype) {
  const double range = high - low;
  how->as.uniform.low = low;
  how->as.uniform.range = dtype == SB_FLOAT64 ? range : (double)(float)range;
  how->as.uniform.last = next_below(high, dtype);
  return low < high;
}

sb_status sb_uniform(const sb_tensor *t, double low, double high, sb_generator *generator) {
  sb__random how = {.draw = SB__DRAW_UNIFORM, .words = t->dtype == SB_FLOAT64 ? 2 : 1};
  double begin = 0, end = 0;
  sb_status status = check_floating(t, "uniform");
  if (!status) status = rounded_parameter("low", low, t->dtype, &begin);
  if (!status) status = rounded_parameter("high", high, t->dtype, &end);
  if (status) return status;
  const uint32_t mode = sb__float_mode_default();
  const bool is_ordered = draw_between(begin, end, &how, t->dtype);
  sb__float_mode_restore(mode);
  if (!is_ordered) {
    return sb__fail(SB_ERR_BOUNDS, "low is %s, high is %s; low below high was expected, also as %s",
                    sb__digits_of(low).text, sb__digits_of(high).text, sb_dtype_name(t->dtype));
  }
  if (!isfinite(how.as.uniform.range)) {
    return sb__fail(SB_ERR_BOUNDS, "high - low, %s - %s, overflows", sb__digits_of(high).text,
                    sb__digits_of(low).text);
  }
  return fill_random(t, &how, generator);
}

sb_status sb_normal(const sb_tensor *t, double mean, double std, sb_generator *generator) {
  sb__random how = {.draw = SB__DRAW_NORMAL, .words = t->dtype == SB_FLOAT64 ? 2 : 1};
  const sb_dtype computed = t->dtype == SB_FLOAT64 ? SB_FLOAT64 : SB_FLOAT32;
  sb_status status = check_floating(t, "normal");
  if (!status) status = rounded_parameter("mean", mean, computed, &how.as.normal.mean);
  if (!status) status = rounded_parameter("std", std, computed, &how.as.normal.std);
  if (status) return status;
  uint64_t bits; /* a comparison takes subnormals for 0 where they are off */
  memcpy(&bits, &std, sizeof bits);
  if (bits > UINT64_C(1) << 63)
    return sb__fail(SB_ERR_BOUNDS, "std is %s; 0 or more was expected", sb__digits_of(std).text);
  return fill_random(t, &how, generator);
}

/* ---- Integers ---- */

/* high - 1, because high may be 2^64. */
static sb_status last_below(const sb_scalar *high, sb__integer *out) {
  if (high->kind == SB_SCALAR_REAL && high->as.real == 0x1p64) {
    *out = (sb__integer){false, UINT64_MAX};
    return SB_OK;
  }
  const sb_status status = sb__integer_of("high", high, out);
  if (status) return status;
  if (out->negative && out->bits == UINT64_C(1) << 63) {
    return sb__fail(SB_ERR_BOUNDS, "high is the lowest 64-bit integer; nothing is below it");
  }
  if (out->bits-- == 0) out->negative = true;
  return SB_OK;
}

sb_status sb_randint(const sb_tensor *t, const sb_scalar *low, const sb_scalar *high,
                     sb_generator *generator) {
  sb__random how = {.draw = SB__DRAW_INTEGER};
  sb__integer first = {false, 0}, last = {false, 0};
  const sb_kind kind = sb_dtype_kind(t->dtype);
  if (kind != SB_BOOLEAN && kind != SB_UNSIGNED && kind != SB_SIGNED) {
    return sb__fail(SB_ERR_DTYPE, "random integers are of an integer dtype or bool, not %s",
                    sb_dtype_name(t->dtype));
  }
  sb_status status = sb__integer_of("low", low, &first);
  if (!status) status = last_below(high, &last);
  if (status) return status;
  if (sb__is_above(first, last)) return sb__fail(SB_ERR_BOUNDS, "low is not below high");
  if (!sb__integer_fits(first, t->dtype) || !sb__integer_fits(last, t->dtype)) {
    return sb__fail(SB_ERR_CAST, "integers from low to high do not fit %s",
                    sb_dtype_name(t->dtype));
  }
  const uint64_t span = last.bits - first.bits, range = span + 1;
  how.words = span <= UINT32_MAX ? 1 : 2;
  how.as.integer.low = first.bits;
  if (how.words == 1) {
    const uint32_t r = (uint32_t)range;
    how.as.integer.range = r;
    how.as.integer.refused = r ? (0u - r) % r : 0;
  } else {
    how.as.integer.range = range;
    how.as.integer.refused = range ? (0u - range) % range : 0;
  }
  return fill_random(t, &how, generator);
}
