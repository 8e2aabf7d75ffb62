/* Which kernels do a copy, a cast or a fill, and with what arguments. ops/plan.c drops, flips, sorts and
 * merges dimensions; here they are cut into boxes that 31 bits can count, and each box gets the kernel that
 * its steps allow. Nothing here calls a driver. */
#include "cuda/plan.h"

#include <string.h>

#include "cuda/args.h"
#include "ops/plan.h"
#include "ops/copy_plan_run.h"

/* Elements of a launch whose places are computed in 32 bits. */
#ifdef SB_TEST
int64_t sb__cuda_most = INT32_MAX;
#else
static const int64_t sb__cuda_most = INT32_MAX;
#endif

/* What is to be done; dimensions are innermost first, steps are bytes. */
typedef struct work {
  sb__cuda_emit emit;
  void *context;
  sb_dtype to, from;
  int64_t size; /* bytes of an item that is moved or repeated */
  int32_t scaled;
  const char *kernel; /* of a cast: for all boxes, if there is one */
  const sb__random *how;
  int64_t first; /* element of the whole at which the box begins; for random fills */
  char pattern[16];
  char *base[SB__PLAN_MAX];
  int32_t ndim;
  sb__plan_dim dim[SB_MAX_DIMS + 1];
} work;

static sb__divisor divisor_of(int64_t n) { /* from 1 to 2^31 - 1 */
  sb__divisor d = {.n = (uint32_t)n};
  while (d.shift < 31 && (UINT64_C(1) << d.shift) < (uint64_t)n) d.shift++;
  d.factor = (uint32_t)(((UINT64_C(1) << 32) * ((UINT64_C(1) << d.shift) - d.n)) / d.n + 1);
  return d;
}

enum { ROOM = sizeof(((sb__cuda_launch *)0)->arguments) };
#define KERNEL(module, name, type, threads) _Static_assert(sizeof(type) <= ROOM, #name);
#include "cuda/kernels.def"

static sb_status launch(const work *w, const char *module, const char *kernel, uint64_t blocks,
                        uint32_t threads, const void *arguments, size_t nbytes) {
  sb__cuda_launch out;
  memset(&out, 0, offsetof(sb__cuda_launch, arguments));
  out.module = module;
  out.kernel = kernel;
  out.grid[0] = (uint32_t)blocks;
  out.block[0] = threads;
  out.grid[1] = out.grid[2] = out.block[1] = out.block[2] = 1;
  out.nbytes = (uint32_t)nbytes;
  memcpy(out.arguments, arguments, nbytes);
  return w->emit(w->context, &out);
}

#define LAUNCH(w, module, kernel, blocks, threads, arguments) \
 launch(w, module, kernel, blocks, threads, arguments, sizeof *(arguments))

static uint64_t blocks_of(uint64_t n, uint64_t each) { return (n + each - 1) / each; }

/* 0 to 4 of 1 to 16 bytes. */
static int rank_of(int64_t size) {
  int rank = 0;
  while (INT64_C(1) << rank < size) rank++;
  return rank;
}

#define NAMES(prefix) \
 { "sb_" prefix "_1", "sb_" prefix "_2", "sb_" prefix "_4", "sb_" prefix "_8", "sb_" prefix "_16" }

/* ---- Boxes ---- */

static void collect(work *w, int32_t count, const sb_tensor *const tensors[], bool keep_order) {
  sb__plan plan;
  sb__plan_make(count, tensors, keep_order, &plan);
  w->ndim = 0;
  for (int32_t k = 0; k < count; k++)
    w->base[k] = (char *)sb_tensor_data(tensors[k]) + plan.first[k];
  const sb__plan_dim taken[] = {plan.row, plan.column, plan.more, plan.beside};
  for (int32_t i = 0; i < 4; i++) {
    if (taken[i].n > 1) w->dim[w->ndim++] = taken[i];
  }
  for (int32_t d = plan.ninner - 1; d >= 0; d--) w->dim[w->ndim++] = plan.inner[d];
  for (int32_t d = plan.ndim - 1; d >= 0; d--) w->dim[w->ndim++] = plan.outer[d];
  for (int32_t i = 1; i < w->ndim && !keep_order;
       i++) { /* the loop's dimensions go back in order */
    const sb__plan_dim dim = w->dim[i];
    int32_t at = i;
    for (; at > 0 && w->dim[at - 1].step[0] > dim.step[0]; at--) w->dim[at] = w->dim[at - 1];
    w->dim[at] = dim;
  }
}

static int64_t numel_of(const work *w) {
  int64_t n = 1;
  for (int32_t d = 0; d < w->ndim; d++) n *= w->dim[d].n;
  return n;
}

/* Is all of it one run of elements, side by side on both sides (of `count`)? */
static bool is_run(const work *w, int32_t count) {
  if (w->ndim == 0) return true;
  const sb__plan_dim *dim = &w->dim[0];
  if (w->ndim > 1 || dim->step[0] != w->size) return false;
  return count == 1 || dim->step[1] == sb_dtype_itemsize(w->from);
}

typedef sb_status (*box_plan)(const work *box);

/* The boxes of what is too large: cut is the dimension that is cut into pieces of at most `most`. */
static sb_status cut_boxes(const work *w, int32_t count, int32_t cut, int64_t inside, int64_t most,
                           box_plan plan) {
  work box = *w;
  int64_t index[SB_MAX_DIMS + 1] = {0};
  for (;;) {
    const int64_t left = w->dim[cut].n - index[cut];
    int64_t stride = inside;
    box.dim[cut].n = left < most ? left : most;
    box.ndim = cut + (box.dim[cut].n > 1);
    box.first = w->first;
    for (int32_t k = 0; k < count; k++) box.base[k] = w->base[k];
    for (int32_t d = cut; d < w->ndim; d++) {
      for (int32_t k = 0; k < count; k++) box.base[k] += index[d] * w->dim[d].step[k];
      box.first += index[d] * stride;
      stride *= w->dim[d].n;
    }
    const sb_status status = plan(&box);
    if (status) return status;
    index[cut] += box.dim[cut].n;
    int32_t d = cut;
    while (index[d] == w->dim[d].n) {
      index[d] = 0;
      if (++d == w->ndim) return SB_OK;
      index[d]++;
    }
  }
}

/* Boxes of at most sb__cuda_most elements and `dims` dimensions, one after the other. */
static sb_status each_box(const work *w, int32_t count, int32_t dims, box_plan plan) {
  int64_t inside = 1;
  int32_t cut = 0;
  for (; cut < w->ndim && cut < dims && w->dim[cut].n <= sb__cuda_most / inside; cut++)
    inside *= w->dim[cut].n;
  if (cut == w->ndim) return plan(w);
  const int64_t room = sb__cuda_most / inside;
  return cut_boxes(w, count, cut, inside, cut < dims && room > 1 ? room : 1, plan);
}

/* ---- Bytes ---- */

static sb_status plan_bytes(const work *w, uint64_t nbytes) {
  const uintptr_t to = (uintptr_t)w->base[0], from = (uintptr_t)w->base[1];
  if ((to - from) % 16 == 0) {
    const uint64_t before = (0 - to) % 16, head = before < nbytes ? before : nbytes;
    const sb__args_bytes a = {.to = w->base[0] + head,
                              .from = w->base[1] + head,
                              .count = (nbytes - head) / 16,
                              .head = (uint32_t)head,
                              .tail = (uint32_t)((nbytes - head) % 16)};
    return LAUNCH(w, "copy", "sb_copy_bytes", blocks_of(a.count + !a.count, 1024), 256, &a);
  }
  /* Words of which some bytes lie outside of what is read are left to the bytes before and behind. */
  uint64_t head = (0 - to) % 4;
  const uint64_t shift = (from + head) % 4;
  if (head < shift) head += 4;
  uint64_t count = nbytes > head + 8 ? (nbytes - head) / 4 : 0;
  if (count == 0)
    head = nbytes;
  else if (shift && (nbytes - head) % 4 < 4 - shift)
    count--;
  const sb__args_shifted a = {.to = w->base[0] + head,
                              .from = w->base[1] + head - (count ? shift : 0),
                              .count = count,
                              .shift = (uint32_t)(count ? shift : 0),
                              .head = (uint32_t)head,
                              .tail = (uint32_t)(nbytes - head - 4 * count)};
  return LAUNCH(w, "copy", "sb_copy_shifted", blocks_of(count + !count, 1024), 256, &a);
}

/* ---- Moves ---- */

static bool divides(const work *w, int32_t count, int64_t unit) {
  uintptr_t all = (uintptr_t)(w->dim[0].n * w->size);
  for (int32_t k = 0; k < count; k++) {
    all |= (uintptr_t)w->base[k];
    for (int32_t d = 1; d < w->ndim; d++) all |= (uintptr_t)w->dim[d].step[k];
  }
  return (all & (uintptr_t)(unit - 1)) == 0;
}

/* Items that lie side by side in the innermost dimension become wider ones. */
static void widen(work *w, int32_t count) {
  int64_t unit = 16;
  while (unit > w->size && !divides(w, count, unit)) unit /= 2;
  if (unit <= w->size) return;
  w->dim[0].n = w->dim[0].n * w->size / unit;
  w->dim[0].step[0] = w->dim[0].step[1] = unit;
  w->size = unit;
}

static sb_status plan_items(const work *w) {
  static const char *const names[] = NAMES("copy_items");
  sb__args_items a = {.to = w->base[0], .from = w->base[1]};
  a.n = (uint32_t)numel_of(w);
  a.ndim = (uint32_t)w->ndim;
  for (int32_t d = 0; d < w->ndim; d++) {
    a.dim[d] = divisor_of(w->dim[d].n);
    a.to_step[d] = w->dim[d].step[0] / w->size;
    a.from_step[d] = w->dim[d].step[1] / w->size;
  }
  return LAUNCH(w, "copy", names[rank_of(w->size)], blocks_of(a.n, 1024), 256, &a);
}

/* The dimensions besides two, in the arguments of a kernel that goes by tiles. Their number of indices. */
static uint64_t batch_of(const work *w, int32_t one, int32_t other, uint32_t *ndim,
                         sb__divisor *batch, int64_t *to, int64_t *from) {
  uint64_t count = 1;
  *ndim = 0;
  for (int32_t d = 0; d < w->ndim; d++) {
    if (d == one || d == other) continue;
    batch[*ndim] = divisor_of(w->dim[d].n);
    to[*ndim] = w->dim[d].step[0] / w->size;
    from[(*ndim)++] = w->dim[d].step[1] / w->size;
    count *= (uint64_t)w->dim[d].n;
  }
  return count;
}

/* Does one operand lie at multiples of so many bytes wherever the two dimensions' runs begin? */
static bool is_multiple(const work *w, int32_t k, int64_t unit, int32_t one, int32_t other) {
  uintptr_t all = (uintptr_t)w->base[k];
  for (int32_t d = 0; d < w->ndim; d++) {
    if (d != one && d != other) all |= (uintptr_t)w->dim[d].step[k];
  }
  return (all & (uintptr_t)(unit - 1)) == 0;
}

#define CHANNEL_BYTES 16384 /* of a block's shared memory */
#define FEW_PIXELS 64

/* pixels and channel: the dimensions; side: the operand in which channels lie side by side. */
static sb_status plan_channels(const work *w, int32_t pixels, int32_t channel, int32_t side) {
  static const char *const split[] = NAMES("split"), *const join[] = NAMES("join");
  const int64_t n = w->dim[channel].n, each = CHANNEL_BYTES / (n * w->size) / 16 * 16;
  sb__args_channels a = {.to = w->base[0],
                         .from = w->base[1],
                         .pixels = (uint32_t)w->dim[pixels].n,
                         .channels = (uint32_t)n,
                         .plane_step = w->dim[channel].step[!side] / w->size};
  const uint64_t most = blocks_of(a.pixels, 16) * 16;
  a.each = (uint64_t)each < most ? (uint32_t)each : (uint32_t)most;
  const uint64_t tiles = blocks_of(a.pixels, a.each);
  a.tiles = divisor_of((int64_t)tiles);
  const uint64_t batch = batch_of(w, pixels, channel, &a.ndim, a.batch, a.batch_to, a.batch_from);
  /* A block's run of pixels begins at a multiple, whatever the number of channels. */
  a.vectors = is_multiple(w, side, 16, pixels, channel);
  a.words = is_multiple(w, !side, w->size < 4 ? 4 : w->size, pixels, pixels);
  return LAUNCH(w, "copy", (side ? split : join)[rank_of(w->size)], tiles * batch, 256, &a);
}

static sb_status plan_transpose(const work *w, int32_t row, int32_t column, int64_t group) {
  static const char *const wide[] = {NULL, "sb_transpose_2_16", "sb_transpose_4_16",
                                     "sb_transpose_8_16", "sb_transpose_16_16"};
  static const char *const narrow[] = {"sb_transpose_1_8", "sb_transpose_2_8", "sb_transpose_4_8",
                                       NULL, NULL};
  const uint64_t side = (uint64_t)(group * 16 / w->size);
  sb__args_transpose a = {.to = w->base[0],
                          .from = w->base[1],
                          .rows = (uint32_t)w->dim[row].n,
                          .columns = (uint32_t)w->dim[column].n,
                          .to_step = w->dim[column].step[0] / w->size,
                          .from_step = w->dim[row].step[1] / w->size};
  const uint64_t down = blocks_of(a.rows, side), along = blocks_of(a.columns, side);
  a.down = divisor_of((int64_t)down);
  a.along = divisor_of((int64_t)along);
  const uint64_t batch = batch_of(w, row, column, &a.ndim, a.batch, a.batch_to, a.batch_from);
  a.vectors = is_multiple(w, 0, 16, row, row) && is_multiple(w, 1, 16, column, column);
  return LAUNCH(w, "copy", (group == 16 ? wide : narrow)[rank_of(w->size)], down * along * batch,
                (uint32_t)(group * group), &a);
}

/* The longest dimension along which what is read lies side by side; -1: none. */
static int32_t column_of(const work *w) {
  int32_t column = -1;
  for (int32_t d = 1; d < w->ndim; d++) {
    if (w->dim[d].step[1] == w->size && (column < 0 || w->dim[d].n > w->dim[column].n)) column = d;
  }
  return column;
}

static bool is_channels(const work *w, int32_t pixels, int32_t channel, int32_t side) {
  const int64_t n = w->dim[channel].n;
  return w->size <= 8 && n >= 2 && n <= 32 && w->dim[pixels].n >= FEW_PIXELS &&
         w->dim[pixels].step[side] == n * w->size;
}

static sb_status plan_move(const work *w) {
  work wide = *w;
  const int32_t column = column_of(w);
  if (w->ndim == 0 || (w->dim[0].step[0] == w->size && w->dim[0].step[1] == w->size)) {
    if (w->ndim) widen(&wide, 2);
    return plan_items(&wide);
  }
  if (column < 0 || w->dim[0].step[0] != w->size || w->ndim - 2 > SB__CUDA_BATCH)
    return plan_items(w);
  const int64_t v = 16 / w->size, rows = w->dim[0].n, columns = w->dim[column].n;
  const bool small = w->size == 1 || (w->size < 8 && (rows < 16 * v || columns < 16 * v));
  const int64_t group = small ? 8 : 16, least = group * v / 4;
  const bool tiles = rows >= least && columns >= least;
  const bool split = is_channels(w, 0, column, 1), join = is_channels(w, column, 0, 0);
  if (split && (columns <= 16 || !tiles)) return plan_channels(w, 0, column, 1);
  if (join && (rows <= 16 || !tiles)) return plan_channels(w, column, 0, 0);
  if (tiles) return plan_transpose(w, 0, column, group);
  return plan_items(w);
}

/* Where addresses allow no whole items, as those of complex numbers may, their parts are moved. */
static void divide_items(work *w) {
  int64_t unit = w->size;
  while (((uintptr_t)w->base[0] | (uintptr_t)w->base[1]) & (uintptr_t)(unit - 1)) unit /= 2;
  if (unit == w->size) return;
  const sb__plan_dim parts = {.n = w->size / unit, .step = {unit, unit}};
  if (w->ndim && w->dim[0].step[0] == w->size && w->dim[0].step[1] == w->size) {
    w->dim[0].n *= parts.n;
    w->dim[0].step[0] = w->dim[0].step[1] = unit;
  } else {
    memmove(w->dim + 1, w->dim, (size_t)w->ndim * sizeof *w->dim);
    w->dim[0] = parts;
    w->ndim++;
  }
  w->size = unit;
}

/* ---- Casts ---- */

enum { /* SB_DTYPES' tags as numbers */
#define X(constant, tag, name, type, kind) tag_##tag = SB_##constant,
       SB_DTYPES(X)
#undef X
};

/* How many elements the wider dtype has in 16 bytes. */
static int64_t vector_of(const work *w) {
  const int64_t to = sb_dtype_itemsize(w->to), from = sb_dtype_itemsize(w->from);
  return 16 / (to > from ? to : from);
}

/* Vectors that a block of such a kernel takes. */
static uint64_t steps_of(int64_t n) { return n >= 8 ? 512 : 1024; }

/* The kernel for a pair side by side; NULL: there is none. */
static const char *pair_of(const work *w) {
  static const char *const pairs[SB_DTYPE_COUNT][SB_DTYPE_COUNT] = {
#define PAIR(to, from) [tag_##to][tag_##from] = "sb_cast_" #to "_from_" #from,
#include "cuda/kernels.def"
  };
  static const char *const scaled[SB_DTYPE_COUNT][SB_DTYPE_COUNT] = {
#define SCALED(to, from) [tag_##to][tag_##from] = "sb_scale_" #to "_from_" #from,
#include "cuda/kernels.def"
  };
  const int64_t to = sb_dtype_itemsize(w->to), from = sb_dtype_itemsize(w->from);
  const int64_t n = vector_of(w);
  if ((uintptr_t)w->base[0] % (uintptr_t)(n * to) || (uintptr_t)w->base[1] % (uintptr_t)(n * from))
    return NULL;
  if (!w->scaled) return pairs[w->to][w->from];
  if (w->ndim && (w->dim[0].step[2] || w->dim[0].step[3])) return NULL;
  return scaled[w->to][w->from];
}

static sb_status plan_run_cast(const work *w) {
  const uint64_t n = (uint64_t)vector_of(w), each = n * steps_of((int64_t)n);
  const sb__args_convert a = {.to = w->base[0],
                              .from = w->base[1],
                              .n = (uint64_t)numel_of(w),
                              .scale = (const double *)(const void *)w->base[2],
                              .bias = (const double *)(const void *)w->base[3]};
  return LAUNCH(w, "cast", w->kernel, blocks_of(a.n, each), 256, &a);
}

/* The kernel for rows side by side, if they are made of whole vectors at their multiples; else NULL. */
static const char *rows_of(const work *w) {
  static const char *const names[SB_DTYPE_COUNT][SB_DTYPE_COUNT] = {
#define ROWS(to, from) [tag_##to][tag_##from] = "sb_rows_" #to "_from_" #from,
#include "cuda/kernels.def"
  };
  const int64_t sizes[] = {sb_dtype_itemsize(w->to), sb_dtype_itemsize(w->from)}, n = vector_of(w);
  if (w->scaled || w->ndim == 0 || w->dim[0].n % n) return NULL;
  for (int32_t k = 0; k < 2; k++) {
    if (w->dim[0].step[k] != sizes[k] || !is_multiple(w, k, n * sizes[k], 0, 0)) return NULL;
  }
  return names[w->to][w->from];
}

static sb_status plan_rows(const work *w) {
  const int64_t n = vector_of(w);
  const int64_t to = n * sb_dtype_itemsize(w->to), from = n * sb_dtype_itemsize(w->from);
  sb__args_items a = {.to = w->base[0], .from = w->base[1]};
  a.n = (uint32_t)numel_of(w);
  a.ndim = (uint32_t)w->ndim;
  for (int32_t d = 0; d < w->ndim; d++) {
    a.dim[d] = divisor_of(w->dim[d].n);
    a.to_step[d] = w->dim[d].step[0] / to;
    a.from_step[d] = w->dim[d].step[1] / from;
  }
  return LAUNCH(w, "cast", w->kernel, blocks_of(a.n, steps_of(n)), 256, &a);
}

static sb_status plan_all_rows(work *w) {
  const int64_t n = vector_of(w);
  w->dim[0].n /= n;
  w->dim[0].step[0] *= n;
  w->dim[0].step[1] *= n;
  return each_box(w, 2, SB__CUDA_DIMS, plan_rows);
}

static sb_status plan_cast(const work *w) {
  static const char *const names[] = {
#define X(constant, tag, name, type, kind) "sb_cast_" #tag,
      SB_DTYPES(X)
#undef X
  };
  sb__args_cast a = {.to = w->base[0],
                     .from = w->base[1],
                     .scale = w->base[2],
                     .bias = w->base[3],
                     .n = (uint32_t)numel_of(w),
                     .ndim = (uint32_t)w->ndim,
                     .dtype = (uint32_t)w->to,
                     .scaled = (uint32_t)w->scaled};
  for (int32_t d = 0; d < w->ndim; d++) {
    a.dim[d] = divisor_of(w->dim[d].n);
    a.to_step[d] = w->dim[d].step[0];
    a.from_step[d] = w->dim[d].step[1];
    a.scale_step[d] = w->dim[d].step[2];
    a.bias_step[d] = w->dim[d].step[3];
  }
  return LAUNCH(w, "cast", names[w->from], blocks_of(a.n, 512), 256, &a);
}

sb_status sb__cuda_plan_copy(const sb_tensor *dst, const sb_tensor *src, const sb_tensor *scale,
                             const sb_tensor *bias, sb__cuda_emit emit, void *context) {
  work w = {.emit = emit,
            .context = context,
            .to = dst->dtype,
            .from = src->dtype,
            .size = sb_dtype_itemsize(dst->dtype)};
  const sb_tensor *const tensors[] = {dst, src, scale, bias};
  const int32_t count = scale ? 4 : 2;
  if (scale) w.scaled = sb__computes_in_float64(w.to) || sb__computes_in_float64(w.from) ? 1 : 2;
  collect(&w, count, tensors, false);
  if (w.to != w.from || scale) {
    w.kernel = is_run(&w, 2) ? pair_of(&w) : NULL;
    if (w.kernel) return plan_run_cast(&w);
    w.kernel = rows_of(&w);
    if (w.kernel) return plan_all_rows(&w);
    return each_box(&w, count, SB__CUDA_CAST_DIMS, plan_cast);
  }
  if (is_run(&w, 2)) return plan_bytes(&w, (uint64_t)(numel_of(&w) * w.size));
  divide_items(&w);
  return each_box(&w, 2, SB__CUDA_DIMS, plan_move);
}

/* ---- Fills ---- */

static sb_status plan_fill_bytes(const work *w, uint64_t nbytes) {
  const uint64_t before = (0 - (uintptr_t)w->base[0]) % 16;
  const uint64_t head = before < nbytes ? before : nbytes;
  sb__args_fill_bytes a = {.to = w->base[0] + head,
                           .count = (nbytes - head) / 16,
                           .head = (uint32_t)head,
                           .tail = (uint32_t)((nbytes - head) % 16)};
  char pattern[16];
  for (uint64_t i = 0; i < 16; i++) pattern[i] = w->pattern[(head + i) % 16];
  memcpy(a.pattern, pattern, 16);
  return LAUNCH(w, "copy", "sb_fill_bytes", blocks_of(a.count + !a.count, 1024), 256, &a);
}

static sb_status plan_fill_items(const work *narrow) {
  static const char *const names[] = NAMES("fill_items");
  work w = *narrow;
  if (w.ndim && w.dim[0].step[0] == w.size) widen(&w, 1);
  sb__args_fill_items a = {.to = w.base[0], .n = (uint32_t)numel_of(&w), .ndim = (uint32_t)w.ndim};
  memcpy(a.pattern, w.pattern, 16);
  for (int32_t d = 0; d < w.ndim; d++) {
    a.dim[d] = divisor_of(w.dim[d].n);
    a.to_step[d] = w.dim[d].step[0] / w.size;
  }
  return LAUNCH(&w, "copy", names[rank_of(w.size)], blocks_of(a.n, 1024), 256, &a);
}

sb_status sb__cuda_plan_fill(const sb_tensor *t, const void *item, sb__cuda_emit emit,
                             void *context) {
  const int64_t itemsize = sb_dtype_itemsize(t->dtype);
  work w = {.emit = emit, .context = context, .to = t->dtype, .from = t->dtype, .size = itemsize};
  for (int64_t i = 0; i < 16; i += itemsize) memcpy(w.pattern + i, item, (size_t)itemsize);
  collect(&w, 1, &t, false);
  if (is_run(&w, 1)) return plan_fill_bytes(&w, (uint64_t)(numel_of(&w) * itemsize));
  while ((uintptr_t)w.base[0] & (uintptr_t)(w.size - 1)) w.size /= 2;
  for (int64_t i = 0; i < itemsize; i += w.size) { /* the parts of complex numbers, one by one */
    work part = w;
    part.base[0] += i;
    for (int64_t k = 0; k < 16; k += w.size)
      memcpy(part.pattern + k, w.pattern + i, (size_t)w.size);
    const sb_status status = each_box(&part, 1, SB__CUDA_DIMS, plan_fill_items);
    if (status) return status;
  }
  return SB_OK;
}

/* ---- Random fills ---- */

static sb_status plan_random(const work *w) {
  const sb__random *how = w->how;
  const bool normal = how->draw == SB__DRAW_NORMAL, wide = how->words == 2;
  const uint64_t method = normal ? (wide ? 2 : 1) : 0;
  const bool run = is_run(w, 1);
  sb__args_random a = {.to = w->base[0],
                       .n = (uint64_t)numel_of(w),
                       .seed = how->seed,
                       .high = how->stream | method << 56,
                       .word = how->first + (uint64_t)w->first * (uint64_t)how->words,
                       .stream = how->stream,
                       .dtype = (uint32_t)w->to};
  const char *kernel = NULL;
  switch (how->draw) {
    case SB__DRAW_UNIFORM:
      kernel = wide ? "sb_uniform_f64" : "sb_uniform_f32";
      a.low = how->as.uniform.low;
      a.range = how->as.uniform.range;
      a.last = how->as.uniform.last;
      break;
    case SB__DRAW_NORMAL:
      kernel = wide ? "sb_normal_f64" : "sb_normal_f32";
      a.mean = how->as.normal.mean;
      a.std = how->as.normal.std;
      break;
    default:
      kernel = wide ? "sb_integer_u64" : "sb_integer_u32";
      a.first = how->as.integer.low;
      a.span = how->as.integer.range;
      a.refused = how->as.integer.refused;
  }
  for (int32_t d = 0; d < w->ndim && !run; d++) {
    a.dim[d] = divisor_of(w->dim[d].n);
    a.to_step[d] = w->dim[d].step[0];
  }
  a.ndim = run ? 0 : (uint32_t)w->ndim;
  /* A block of words begins with an element, and its elements at a multiple of their bytes. */
  const uint64_t bytes = (uint64_t)(w->size * (4 / how->words));
  a.whole = run && a.word % 4 == 0 && (uintptr_t)a.to % bytes == 0;
  const uint64_t words = a.word % 4 + a.n * (uint64_t)how->words;
  return LAUNCH(w, "random", kernel, blocks_of(blocks_of(words, 4), 256), 256, &a);
}

sb_status sb__cuda_plan_random(const sb_tensor *t, const sb__random *how, sb__cuda_emit emit,
                               void *context) {
  work w = {.emit = emit,
            .context = context,
            .to = t->dtype,
            .from = t->dtype,
            .size = sb_dtype_itemsize(t->dtype),
            .how = how};
  collect(&w, 1, &t, true);
  return is_run(&w, 1) ? plan_random(&w) : each_box(&w, 1, SB__CUDA_DIMS, plan_random);
}
