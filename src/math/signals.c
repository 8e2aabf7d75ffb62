/* What signals need beside transforms: windows, frequencies, filters, padding, frames added up, and halves exchanged. */
#include <string.h>

#include "math/fft.h"
#include "kernels/convert.h"
#include "math/functions64.h"

#define MOST_ELEMENTS (INT64_C(1) << 53) /* of which a signal can be added up */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t last_of(const sb_tensor *t) { return t->shape[t->ndim - 1]; }

/* ---- Vectors of a formula ---- */

typedef struct formula {
  int64_t n, count; /* count: elements of the target */
  bool flag;
  double a, b;
  const double *edges; /* of filters */
  int64_t rows;
} formula;

/* Runs a function that writes the whole target, in float64. */
static sb_status write_all(const sb_tensor *to, const char *name, int32_t axes,
                           int (*run)(const sb__cores_call *call), const formula *context,
                           sb_casting casting, int64_t *staged) {
  sb__cores f = {.name = name, .count = 1, .run = run, .context = context, .cost = 1};
  int problem;
  if (to->ndim != axes)
    return sb__fail(SB_ERR_SHAPE, "%s has %d axes; the target has %d", name, (int)axes,
                    (int)to->ndim);
  f.operand[0] =
      (sb__core_operand){.tensor = to, .dtype = SB_FLOAT64, .axes = axes, .is_written = true};
  return sb__cores_run(&f, casting, staged, &problem);
}

static int run_window(const sb__cores_call *call) {
  const formula *f = call->context;
  double *to = (double *)(void *)call->data[0];
  for (int64_t k = 0; k < f->count; k++) {
    double root[2];
    sb__root(k % f->n, f->n, root);
    to[k] = f->count == 1 ? 1 : f->a - f->b * root[0];
  }
  return SB__NO_PROBLEM;
}

sb_status sb__window(const sb_tensor *to, bool is_periodic, double a0, double a1,
                     sb_casting casting, int64_t *staged) {
  const int64_t count = sb_tensor_numel(to);
  const formula f = {
      .count = count, .n = is_periodic || count < 2 ? count : count - 1, .a = a0, .b = a1};
  return write_all(to, "a window", 1, run_window, &f, casting, staged);
}

static int run_frequencies(const sb__cores_call *call) {
  const formula *f = call->context;
  double *to = (double *)(void *)call->data[0];
  for (int64_t k = 0; k < f->count; k++)
    to[k] = (double)(f->flag || 2 * k < f->n ? k : k - f->n) / f->a;
  return SB__NO_PROBLEM;
}

sb_status sb__frequencies(const sb_tensor *to, int64_t n, bool is_half, double spacing,
                          sb_casting casting, int64_t *staged) {
  const formula f = {
      .count = sb_tensor_numel(to), .n = n, .flag = is_half, .a = (double)n * spacing};
  return write_all(to, "frequencies", 1, run_frequencies, &f, casting, staged);
}

/* ---- Mel filters ---- */

#define LN_10 0x1.26bb1bbb55516p+1
#define HTK 2595
#define LINEAR (200.0 / 3)       /* Hz of a mel of Slaney's, below BREAK */
#define BREAK 1000.0             /* Hz */
#define STEP (sb__log(6.4) / 27) /* of the logarithm, a mel */

static double mel_of(double hertz, bool is_htk) {
  if (is_htk) return HTK * sb__log10(1 + hertz / 700, true);
  return hertz < BREAK ? hertz / LINEAR : BREAK / LINEAR + sb__log(hertz / BREAK) / STEP;
}

static double hertz_of(double mel, bool is_htk) {
  if (is_htk) return 700 * (sb__exp(mel / HTK * LN_10) - 1);
  const double above = mel - BREAK / LINEAR;
  return above < 0 ? mel * LINEAR : BREAK * sb__exp(STEP * above);
}

static int run_mel_filters(const sb__cores_call *call) {
  const formula *f = call->context;
  double *to = (double *)(void *)call->data[0];
  const int64_t count = f->n / 2 + 1;
  for (int64_t i = 0; i < f->rows; i++, to += count) {
    const double *edge = f->edges + i;
    const double weight = f->flag ? 2 / (edge[2] - edge[0]) : 1;
    for (int64_t k = 0; k < count; k++) {
      const double hertz = (double)k * f->a / (double)f->n;
      const double up = (hertz - edge[0]) / (edge[1] - edge[0]);
      const double down = (edge[2] - hertz) / (edge[2] - edge[1]);
      const double lower = up < down ? up : down;
      to[k] = lower > 0 ? lower * weight : 0;
    }
  }
  return SB__NO_PROBLEM;
}

sb_status sb__mel_filters(const sb_tensor *to, int64_t n, bool is_htk, bool is_area, double rate,
                          double low, double high, sb_casting casting, int64_t *staged) {
  if (to->ndim != 2 || to->shape[1] != n / 2 + 1 || n < 1)
    return sb__fail(SB_ERR_SHAPE,
                    "mel filters have 2 axes, of which the last has nFft / 2 + 1 elements");
  const int64_t rows = to->shape[0];
  double *edges = sb__alloc_bytes((rows + 2) * (int64_t)sizeof *edges);
  if (!edges) return sb__fail(SB_ERR_MEMORY, "%lld filters", (long long)rows);
  const double first = mel_of(low, is_htk), last = mel_of(high, is_htk);
  for (int64_t i = 0; i < rows + 2; i++)
    edges[i] = hertz_of(first + (last - first) * (double)i / (double)(rows + 1), is_htk);
  const formula f = {.n = n, .rows = rows, .flag = is_area, .a = rate, .edges = edges};
  const sb_status status = write_all(to, "mel filters", 2, run_mel_filters, &f, casting, staged);
  sb__free_aligned(edges);
  return status;
}

/* ---- Padding ---- */

typedef struct padding {
  int64_t n, count, before, mode, itemsize;
} padding;

/* The element at i, which is outside; -1: 0. */
static int64_t padded_from(const padding *p, int64_t i) {
  if (p->mode == 1) return i < 0 ? -i : 2 * (p->n - 1) - i;
  if (p->mode == 2) return i < 0 ? 0 : p->n - 1;
  if (p->mode == 3) return i < 0 ? i + p->n : i - p->n;
  return -1;
}

static int run_padding(const sb__cores_call *call) {
  const padding *p = call->context;
  const size_t size = (size_t)p->itemsize;
  const char *from = call->data[1];
  char *to = call->data[0];
  for (int64_t line = 0; line < call->count; line++) {
    for (int64_t i = 0; i < p->count; i++) {
      const int64_t at = i - p->before;
      if (at >= 0 && at < p->n) {
        memcpy(to + (size_t)i * size, from, (size_t)p->n * size);
        i += p->n - 1;
        continue;
      }
      const int64_t source = padded_from(p, at);
      if (source < 0)
        memset(to + (size_t)i * size, 0, size);
      else
        memcpy(to + (size_t)i * size, from + (size_t)source * size, size);
    }
    to += (size_t)p->count * size;
    from += (size_t)p->n * size;
  }
  return SB__NO_PROBLEM;
}

sb_status sb__pad_lines(const sb_tensor *to, const sb_tensor *from, int64_t before, int64_t mode,
                        int64_t *staged) {
  sb__cores f = {.name = "padding", .count = 2, .run = run_padding};
  int problem;
  if (to->ndim < 1 || from->ndim < 1)
    return sb__fail(SB_ERR_SHAPE, "padding has lines of elements");
  const int64_t n = last_of(from), count = last_of(to), after = count - before - n;
  const int64_t most = before > after ? before : after;
  if (before < 0 || after < 0) return sb__fail(SB_ERR_SHAPE, "padding does not cut lines");
  if ((mode == 1 && most >= n) || (mode == 3 && most > n) || (mode == 2 && !n && most))
    return sb__fail(SB_ERR_SHAPE, "a signal of %lld elements cannot be padded by %lld of its own",
                    (long long)n, (long long)most);
  const padding p = {n, count, before, mode, sb_dtype_itemsize(from->dtype)};
  f.context = &p;
  f.cost = count;
  f.operand[0] =
      (sb__core_operand){.tensor = to, .dtype = from->dtype, .axes = 1, .is_written = true};
  f.operand[1] = (sb__core_operand){.tensor = from, .dtype = from->dtype, .axes = 1};
  return sb__cores_run(&f, SB_CASTING_SAFE, staged, &problem);
}

/* ---- Frames added up ---- */

typedef struct overlap {
  int64_t n, frames, hop, skipped, count; /* count: elements of a line of the target */
  int64_t whole;                          /* of frames - 1 hops and a frame */
  const double *window, *sums;            /* sums: of squares of windows, where frames are */
} overlap;

#define OVERLAP(name, type, made)                                                              \
 static int name(const sb__cores_call *call) {                                                 \
  const overlap *o = call->context;                                                            \
  double *sums = (double *)(void *)call->scratch;                                              \
  const type *from = (const type *)(const void *)call->data[1];                                \
  type *to = (type *)(void *)call->data[0];                                                    \
  for (int64_t line = 0; line < call->count; line++, to += o->count) {                         \
   memset(sums, 0, (size_t)o->whole * sizeof *sums);                                           \
   for (int64_t i = 0; i < o->frames; i++, from += o->n)                                       \
    for (int64_t k = 0; k < o->n; k++) sums[i * o->hop + k] += (double)from[k] * o->window[k]; \
   for (int64_t i = 0; i < o->count; i++) {                                                    \
    const int64_t at = i + o->skipped;                                                         \
    to[i] = at < o->whole ? made(sums[at] / o->sums[at]) : 0;                                  \
   }                                                                                           \
  }                                                                                            \
  return SB__NO_PROBLEM;                                                                       \
 }

OVERLAP(overlap_singles, float, sb__canonical_float)
OVERLAP(overlap_doubles, double, sb__canonical)

static sb_status run_overlap(overlap *o, const sb_tensor *to, const sb_tensor *frames, double *sums,
                             sb_dtype dtype, int64_t *staged) {
  sb__cores f = {.name = "istft", .count = 2, .context = o, .cost = 2 * o->frames * o->n};
  int problem;
  memset(sums, 0, (size_t)o->whole * sizeof *sums);
  for (int64_t i = 0; i < o->frames; i++)
    for (int64_t k = 0; k < o->n; k++) sums[i * o->hop + k] += o->window[k] * o->window[k];
  for (int64_t at = o->skipped; at < least(o->whole, o->skipped + o->count); at++)
    if (!(sums[at] > 1e-11))
      return sb__fail(SB_ERR_ARGUMENT, "the squares of windows add up to 0 at element %lld",
                      (long long)(at - o->skipped));
  o->sums = sums;
  f.run = dtype == SB_FLOAT64 ? overlap_doubles : overlap_singles;
  f.scratch = (o->whole ? o->whole : 1) * (int64_t)sizeof(double);
  f.operand[0] = (sb__core_operand){.tensor = to, .dtype = dtype, .axes = 1, .is_written = true};
  f.operand[1] = (sb__core_operand){.tensor = frames, .dtype = dtype, .axes = 2};
  return sb__cores_run(&f, SB_CASTING_UNSAFE, staged, &problem);
}

sb_status sb__overlap_add(const sb_tensor *to, const sb_tensor *frames, const sb_tensor *window,
                          int64_t hop, int64_t skipped, sb_casting casting, int64_t *staged) {
  if (frames->ndim < 2 || to->ndim < 1 || window->ndim != 1 ||
      window->shape[0] != last_of(frames) || hop < 1 || skipped < 0)
    return sb__fail(SB_ERR_SHAPE, "istft has frames, and a window as long as one");
  overlap o = {.n = last_of(frames), .frames = frames->shape[frames->ndim - 2]};
  sb_dtype dtype;
  sb_status status = sb__computed_in("istft", frames->dtype, &dtype);
  if (!status) status = sb__check_cast(dtype, to->dtype, casting);
  if (status) return status;
  if (o.frames > 1 && hop > (MOST_ELEMENTS - o.n) / (o.frames - 1))
    return sb__fail(SB_ERR_MEMORY, "%lld frames, %lld elements apart, have no room",
                    (long long)o.frames, (long long)hop);
  o.hop = hop;
  o.skipped = skipped;
  o.count = last_of(to);
  o.whole = o.frames ? (o.frames - 1) * hop + o.n : 0;
  double *memory = sb__alloc_bytes((o.n + o.whole + 1) * (int64_t)sizeof *memory);
  if (!memory) return sb__fail(SB_ERR_MEMORY, "%lld elements of frames", (long long)o.whole);
  sb_tensor copy;
  status = sb_tensor_empty(SB_FLOAT64, 1, window->shape, &copy);
  if (!status) {
    status = sb_copy(&copy, window, SB_CASTING_UNSAFE, NULL);
    if (!status) memcpy(memory, sb_tensor_data(&copy), (size_t)o.n * sizeof *memory);
    sb_tensor_release(&copy);
  }
  o.window = memory;
  if (!status) status = run_overlap(&o, to, frames, memory + o.n, dtype, staged);
  sb__free_aligned(memory);
  return status;
}

/* ---- Halves exchanged ---- */

/* Copies blocks: along each axis the elements that stay together. There are elements, so axes of two or more are few. Changes both tensors while
 * it runs. */
static sb_status move_blocks(sb_tensor *to, sb_tensor *from, int64_t naxes, const int64_t *axes,
                             bool is_inverse) {
  while (naxes && to->shape[axes[0]] == 1) naxes--, axes++;
  if (!naxes) return sb_copy(to, from, SB_CASTING_SAFE, NULL);
  const int64_t d = axes[0], n = to->shape[d], shift = is_inverse ? n - n / 2 : n / 2;
  const int64_t to_offset = to->offset, from_offset = from->offset;
  sb_status status = SB_OK;
  for (int part = 0; part < 2 && !status; part++) {
    to->shape[d] = from->shape[d] = part ? shift : n - shift;
    to->offset = to_offset + (part ? 0 : shift) * to->strides[d];
    from->offset = from_offset + (part ? n - shift : 0) * from->strides[d];
    status = move_blocks(to, from, naxes - 1, axes + 1, is_inverse);
  }
  to->shape[d] = from->shape[d] = n;
  to->offset = to_offset;
  from->offset = from_offset;
  return status;
}

sb_status sb__fft_shift(const sb_tensor *to, const sb_tensor *from, int64_t naxes,
                        const int64_t *axes, bool is_inverse, int64_t *staged) {
  sb_status status = sb__check_target(to);
  bool fits = to->ndim == from->ndim && to->dtype == from->dtype;
  for (int32_t d = 0; fits && d < to->ndim; d++) fits = to->shape[d] == from->shape[d];
  for (int64_t i = 0; fits && i < naxes; i++) fits = axes[i] >= 0 && axes[i] < to->ndim;
  if (!status && !fits) status = sb__fail(SB_ERR_SHAPE, "the target has not the source's shape");
  if (status || !sb_tensor_numel(to)) return status;
  sb_tensor target = *to, source = *from, copy;
  if (!sb__may_overlap(to, from)) return move_blocks(&target, &source, naxes, axes, is_inverse);
  status = sb_tensor_empty(from->dtype, from->ndim, from->shape, &copy);
  if (status) return status;
  status = sb_copy(&copy, from, SB_CASTING_SAFE, NULL);
  *staged += sb_tensor_numel(from) * sb_dtype_itemsize(from->dtype);
  source = copy;
  if (!status) status = move_blocks(&target, &source, naxes, axes, is_inverse);
  sb_tensor_release(&copy);
  return status;
}
