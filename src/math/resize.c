/* Resizing of images. Each axis has a table: which elements of the source a new element is made of, and their weights. A new row is the
 * weighted sum of rows of the source, from which then its elements are summed: so the long loops go along rows, and only a few rows are in
 * scratch. Rows that lie in memory as they are computed with are used in place, bytes too. */
#include <math.h>
#include <string.h>

#include "math/algorithms.h"
#include "kernels/convert.h"

#define RING 16    /* rows of the source that a part keeps, converted */
#define BLOCK 2048 /* elements of a row that are summed at a time: they stay in the first cache */
#define PART_COST (1 << 16) /* multiplications that are worth a part */
#define MOST_CHANNELS 16    /* of an image whose channels are beside each other */
#define ALIGNED 64
#define LANES 4

enum { NEAREST, BILINEAR, BICUBIC };

/* ---- Sums of rows, for each instruction set ---- */

#define INLINE static inline __attribute__((always_inline))

/* Four rows at a time, of which sums are kept in registers. Additions are in the order of rows, whatever their number. */
#define SUMS(name, real, read, load)                                                              \
 INLINE void name##_any(real *sum, const read *const *row, const real *by, int64_t n, int64_t at, \
                        int64_t count, bool adds) {                                               \
  int64_t k = 0;                                                                                  \
  real *to = sum + at;                                                                            \
  if (!adds) {                                                                                    \
   const read *a = row[0] + at;                                                                   \
   const real p = by[0];                                                                          \
   for (int64_t i = 0; i < n; i++) to[i] = load(a[i]) * p;                                        \
   k = 1;                                                                                         \
  }                                                                                               \
  for (; k + 4 <= count; k += 4) {                                                                \
   const read *a = row[k] + at, *b = row[k + 1] + at, *c = row[k + 2] + at, *d = row[k + 3] + at; \
   const real p = by[k], q = by[k + 1], r = by[k + 2], s = by[k + 3];                             \
   for (int64_t i = 0; i < n; i++)                                                                \
    to[i] = (((to[i] + load(a[i]) * p) + load(b[i]) * q) + load(c[i]) * r) + load(d[i]) * s;      \
  }                                                                                               \
  for (; k < count; k++) {                                                                        \
   const read *a = row[k] + at;                                                                   \
   const real p = by[k];                                                                          \
   for (int64_t i = 0; i < n; i++) to[i] += load(a[i]) * p;                                       \
  }                                                                                               \
 }

#define LEVEL(level, attributes)                                                               \
 attributes static void sum_bytes_##level(void *sum, const void *const *row, const void *by,   \
                                          int64_t n, int64_t at, int64_t count, bool adds) {   \
  sum_bytes_any(sum, (const uint8_t *const *)row, by, n, at, count, adds);                     \
 }                                                                                             \
 attributes static void sum_singles_##level(void *sum, const void *const *row, const void *by, \
                                            int64_t n, int64_t at, int64_t count, bool adds) { \
  sum_singles_any(sum, (const float *const *)row, by, n, at, count, adds);                     \
 }                                                                                             \
 static const sums sums_##level = {sum_bytes_##level, sum_singles_##level};

#define SAME(x) (x)

/* Adds `count` rows of n elements, from element `at` on, each times its weight, to sum; adds: not to 0, but to what is there. */
typedef void (*sum_rows)(void *sum, const void *const *row, const void *by, int64_t n, int64_t at,
                         int64_t count, bool adds);
typedef struct sums {
  sum_rows bytes, singles;
} sums;

SUMS(sum_bytes, float, uint8_t, sb__float_from_short)
SUMS(sum_singles, float, float, SAME)
SUMS(sum_doubles, double, double, SAME)

/* Doubles are rare: compiled once. */
static void sum_doubles(void *sum, const void *const *row, const void *by, int64_t n, int64_t at,
                        int64_t count, bool adds) {
  sum_doubles_any(sum, (const double *const *)row, by, n, at, count, adds);
}

LEVEL(plain, )
#if defined(__x86_64__)
LEVEL(avx2, __attribute__((target("avx2"))))
#endif

static const sums *sums_now(void) {
#if defined(__x86_64__)
  const char *level = sb__level_now();
  if (!strcmp(level, "avx512") || !strcmp(level, "avx2"))
    return &sums_avx2; /* wider vectors are no faster: rows come from memory */
#endif
  return &sums_plain;
}

/* ---- Weights ---- */

typedef struct axis {
  int64_t from, to; /* elements */
  int64_t most;     /* elements of the source that a new one is made of, at most */
  int32_t *first, *count;
  void *weights; /* `most` for each new element */
} axis;

static double triangle(double x) { return fabs(x) < 1 ? 1 - fabs(x) : 0; }

static double cubic(double x, double a) {
  const double y = fabs(x);
  if (y < 1) return ((a + 2) * y - (a + 3)) * y * y + 1;
  return y < 2 ? (((y - 5) * y + 8) * y - 4) * a : 0;
}

static int64_t within(int64_t i, int64_t n) { return i < 0 ? 0 : i >= n ? n - 1 : i; }

/* The weights of new element i, as wide as pixels are where the axis shrinks. Returns how many; first: of the source. */
static int64_t wide_weights(const axis *a, int method, int64_t i, double *w, int64_t *first) {
  const double scale = (double)a->from / (double)a->to, stretch = scale > 1 ? scale : 1;
  const double reach = (method == BICUBIC ? 2 : 1) * stretch, centre = ((double)i + 0.5) * scale;
  const int64_t low = (int64_t)(centre - reach + 0.5), high = (int64_t)(centre + reach + 0.5);
  const int64_t begin = low < 0 ? 0 : low, end = high < a->from ? high : a->from;
  double total = 0;
  for (int64_t k = begin; k < end; k++) {
    const double x = ((double)k - centre + 0.5) / stretch;
    w[k - begin] = method == BICUBIC ? cubic(x, -0.5) : triangle(x);
    total += w[k - begin];
  }
  for (int64_t k = 0; k < end - begin; k++) w[k] /= total;
  *first = begin;
  return end - begin;
}

/* The weights of the two or four elements around a point; those beyond the edge are the edge's. */
static int64_t point_weights(const axis *a, int method, int64_t i, double *w, int64_t *first) {
  const double scale = (double)a->from / (double)a->to, at = ((double)i + 0.5) * scale - 0.5;
  const double real = method == BILINEAR && at < 0 ? 0 : at, below = floor(real);
  const int64_t low = (int64_t)below - (method == BICUBIC), taps = method == BICUBIC ? 4 : 2;
  const int64_t begin = within(low, a->from), end = within(low + taps - 1, a->from);
  for (int64_t k = 0; k <= end - begin; k++) w[k] = 0;
  for (int64_t k = low; k < low + taps; k++) {
    const double x = (double)k - real;
    w[within(k, a->from) - begin] += method == BICUBIC ? cubic(x, -0.75) : triangle(x);
  }
  *first = begin;
  return end - begin + 1;
}

/* Elements whose weight is 0 at either end are left out: infinities and NaN there count for nothing. */
static void make_weights(axis *a, int method, bool is_wide, bool is_double, double *w) {
  for (int64_t i = 0; i < a->to; i++) {
    int64_t first = (2 * i + 1) * a->from / (2 * a->to), count = 1, skip = 0;
    w[0] = 1;
    if (method != NEAREST)
      count =
          is_wide ? wide_weights(a, method, i, w, &first) : point_weights(a, method, i, w, &first);
    while (count > 1 && w[count - 1] == 0) count--;
    while (skip < count - 1 && w[skip] == 0) skip++;
    if (count - skip > a->most) count = skip + a->most; /* of rounding errors */
    a->first[i] = (int32_t)(first + skip);
    a->count[i] = (int32_t)(count - skip);
    for (int64_t k = skip; k < count; k++)
      if (is_double)
        ((double *)a->weights)[i * a->most + k - skip] = w[k];
      else
        ((float *)a->weights)[i * a->most + k - skip] = (float)w[k];
  }
}

static int64_t rounded(int64_t nbytes) { return (nbytes + ALIGNED - 1) / ALIGNED * ALIGNED; }

static sb_status make_axis(axis *a, int method, bool is_wide, bool is_double) {
  const double stretch = is_wide && a->from > a->to ? (double)a->from / (double)a->to : 1;
  const double width = (method == BICUBIC ? 4 : 2) * stretch; /* of what has a weight */
  a->most = method == NEAREST ? 1 : (int64_t)ceil(width) + (stretch > 1);
  if (a->most > a->from) a->most = a->from;
  const int64_t table = rounded(4 * a->to), item = is_double ? 8 : 4;
  const int64_t room = (int64_t)(width + 8) * 8; /* for weights of 0 as well */
  const int64_t nbytes = 2 * table + rounded(a->to * a->most * item) + room;
  char *memory = sb__alloc_bytes(nbytes);
  if (!memory) return sb__fail(SB_ERR_MEMORY, "%lld bytes for weights", (long long)nbytes);
  a->first = (int32_t *)(void *)memory;
  a->count = (int32_t *)(void *)(memory + table);
  a->weights = memory + 2 * table;
  make_weights(a, method, is_wide, is_double, (double *)(void *)(memory + nbytes - room));
  return SB_OK;
}

static void drop_axis(axis *a) { sb__free_aligned(a->first); }

/* ---- An image ---- */

typedef struct image {
  const sb_tensor *to, *from; /* the last two axes are rows and columns */
  int32_t batches;            /* axes before them */
  int32_t
      channel; /* of these, the one whose elements are beside each other in the source; -1: none */
  int64_t channels; /* its elements, or 1 */
  axis rows, columns;
  bool is_double;   /* what is computed in; else float32 */
  bool is_exact;    /* items are copied */
  bool is_direct;   /* rows are used in place */
  bool is_weighted; /* by alpha, the last of the channels */
  bool is_whole;    /* the target is of integers: results are rounded */
  double least;     /* alpha up to it is none, and neither are its colours */
  const double *scale, *bias;
  int32_t axis; /* of factors: one for each of its elements; -1: one for all */
  int64_t total, parts;
  int64_t row, line; /* bytes in scratch */
  int64_t nbytes;    /* of scratch, for each part */
  char *scratch;
  sb__plan load, store;
} image;

/* Where a part of the rows is. */
typedef struct state {
  char *ring, *sum, *line;
  int64_t held[RING]; /* row of the source in each place of the ring; -1: none */
  char *from, *to;    /* of the batch */
  int64_t factor;     /* of the batch */
} state;

static int64_t size_of(const sb_tensor *t) { return sb_dtype_itemsize(t->dtype); }
static int64_t computed(const image *m) { return m->is_double ? 8 : 4; }

/* bytes from one element to the next one along an axis, from the batches' ones on */
static int64_t step_of(const sb_tensor *t, int32_t d) { return t->strides[d] * size_of(t); }
static int64_t channel_step(const image *m, const sb_tensor *t) {
  return m->channel < 0 ? 0 : step_of(t, m->channel);
}

static void enter_batch(const image *m, int64_t i, state *s) {
  s->from = sb_tensor_data(m->from);
  s->to = sb_tensor_data(m->to);
  s->factor = 0;
  for (int32_t d = m->batches - 1; d >= 0; d--) {
    if (d == m->channel) continue;
    const int64_t at = i % m->to->shape[d];
    i /= m->to->shape[d];
    s->from += at * step_of(m->from, d);
    s->to += at * step_of(m->to, d);
    if (d == m->axis) s->factor = at;
  }
  for (int k = 0; k < RING; k++) s->held[k] = -1;
}

/* Colours times alpha, the last channel, of which they are averaged: what is transparent counts for nothing, NaN neither. Then back. */
#define BY_ALPHA(name, real)                                                                \
 static void weigh_##name(real *row, int64_t pixels, int64_t channels) {                    \
  const int64_t last = channels - 1;                                                        \
  for (int64_t x = 0; x < pixels; x++, row += channels)                                     \
   for (int64_t c = 0; c < last; c++) row[c] = row[last] == 0 ? 0 : row[c] * row[last];     \
 }                                                                                          \
 static void unweigh_##name(real *row, int64_t pixels, int64_t channels, real least) {      \
  const int64_t last = channels - 1;                                                        \
  for (int64_t x = 0; x < pixels; x++, row += channels)                                     \
   for (int64_t c = 0; c < last; c++) row[c] = row[last] <= least ? 0 : row[c] / row[last]; \
 }

BY_ALPHA(singles, float)
BY_ALPHA(doubles, double)

static void weigh(const image *m, void *row) {
  if (m->is_double)
    weigh_doubles(row, m->columns.from, m->channels);
  else
    weigh_singles(row, m->columns.from, m->channels);
}

static void unweigh(const image *m, void *line) {
  if (m->is_double)
    unweigh_doubles(line, m->columns.to, m->channels, m->least);
  else
    unweigh_singles(line, m->columns.to, m->channels, (float)m->least);
}

/* A row of the source, its elements dense. */
static const void *row_at(const image *m, state *s, int64_t y) {
  char *from = s->from + y * step_of(m->from, m->batches);
  const int64_t k = y % RING;
  if (m->is_direct) return from;
  char *to = s->ring + k * m->row;
  if (s->held[k] == y) return to;
  const sb__job job = {.plan = &m->load,
                       .base = {to, from},
                       .to = m->is_double ? SB_FLOAT64 : SB_FLOAT32,
                       .from = m->from->dtype};
  sb__run_job(&job);
  if (m->is_weighted) weigh(m, to);
  s->held[k] = y;
  return to;
}

static void sum_row(const image *m, state *s, int64_t y) {
  const sums *now = sums_now();
  const sum_rows sum = m->is_double                                 ? sum_doubles
                       : m->is_direct && m->from->dtype == SB_UINT8 ? now->bytes
                                                                    : now->singles;
  const int64_t n = m->columns.from * m->channels, first = m->rows.first[y];
  const char *weights = (const char *)m->rows.weights + y * m->rows.most * computed(m);
  const void *row[RING];
  for (int64_t k = 0; k < m->rows.count[y]; k += RING) {
    const int64_t rest = m->rows.count[y] - k, count = rest < RING ? rest : RING;
    for (int64_t j = 0; j < count; j++) row[j] = row_at(m, s, first + k + j);
    for (int64_t at = 0; at < n; at += BLOCK)
      sum(s->sum, row, weights + k * computed(m), n - at < BLOCK ? n - at : BLOCK, at, count,
          k > 0);
  }
}

/* Sums along a row. Elements of up to four channels are the lanes of a vector: of three, a fourth one is read and written as well, which
 * the next ones overwrite. */
#define ALONG(name, real, vector)                                                                \
 typedef real vector __attribute__((vector_size(LANES * sizeof(real)), aligned(sizeof(real))));  \
 static void name##_lanes(const image *m, const real *from, real *to, int64_t channels) {        \
  const real *w = m->columns.weights;                                                            \
  for (int64_t x = 0; x < m->columns.to; x++, w += m->columns.most, to += channels) {            \
   const real *a = from + m->columns.first[x] * channels;                                        \
   const int64_t count = m->columns.count[x];                                                    \
   vector sum = *(const vector *)(const void *)a * (vector){w[0], w[0], w[0], w[0]};             \
   for (int64_t k = 1; k < count; k++)                                                           \
    sum += *(const vector *)(const void *)(a + k * channels) * (vector){w[k], w[k], w[k], w[k]}; \
   *(vector *)(void *)to = sum;                                                                  \
  }                                                                                              \
 }                                                                                               \
 static void name##_one(const image *m, const real *from, real *to, int64_t channels) {          \
  const real *w = m->columns.weights;                                                            \
  const int32_t *first = m->columns.first, *counts = m->columns.count;                           \
  const int64_t n = m->columns.to, most = m->columns.most;                                       \
  if (most == 2 && channels == 1) {                                                              \
   for (int64_t x = 0; x < n; x++) {                                                             \
    const real *a = from + first[x];                                                             \
    to[x] = counts[x] == 1 ? a[0] * w[2 * x] : a[0] * w[2 * x] + a[1] * w[2 * x + 1];            \
   }                                                                                             \
   return;                                                                                       \
  }                                                                                              \
  for (int64_t x = 0; x < n; x++, w += most) {                                                   \
   const real *a = from + first[x] * channels;                                                   \
   const int64_t count = counts[x];                                                              \
   real sum = *a * w[0];                                                                         \
   for (int64_t k = 1; k < count; k++) sum += a[k * channels] * w[k];                            \
   to[x * channels] = sum;                                                                       \
  }                                                                                              \
 }                                                                                               \
 static void name(const image *m, const real *from, real *to) {                                  \
  if (m->channels == 3)                                                                          \
   name##_lanes(m, from, to, 3);                                                                 \
  else if (m->channels == 4)                                                                     \
   name##_lanes(m, from, to, 4);                                                                 \
  else                                                                                           \
   for (int64_t c = 0; c < m->channels; c++) name##_one(m, from + c, to + c, m->channels);       \
 }

ALONG(along_singles, float, four_singles)
ALONG(along_doubles, double, four_doubles)

/* Scales a line of results, and writes them; those of another dtype than is computed in stay, to be converted. by: elements from one result
 * to the next, which are `step` bytes apart in the target. */
INLINE void finish_single(const image *m, float *line, int64_t f, char *to, int64_t by,
                          int64_t step) {
  const int64_t n = m->columns.to;
  if (m->scale) {
    const float scale = (float)m->scale[f], bias = (float)m->bias[f];
    for (int64_t x = 0; x < n; x++) line[x * by] = line[x * by] * scale + bias;
  }
  if (m->to->dtype == SB_FLOAT32)
    for (int64_t x = 0; x < n; x++)
      *(float *)(void *)(to + x * step) = sb__canonical_single(line[x * by]);
  else if (m->to->dtype == SB_UINT8)
    for (int64_t x = 0; x < n; x++) {
      const float y = line[x * by], least = y > 0 ? y : 0, most = least < 255 ? least : 255;
      *(uint8_t *)(to + x * step) = (uint8_t)sb__bits_of_float(most + 0x1.8p23f);
    }
  else if (m->is_whole)
    for (int64_t x = 0; x < n; x++) line[x * by] = (float)__builtin_rint((double)line[x * by]);
}

static void finish_singles(const image *m, const state *s, int64_t f, int64_t c, char *to) {
  const int64_t step = step_of(m->to, m->batches + 1);
  float *line = (float *)(void *)s->line + c;
  if (m->channels == 1 && step == sizeof(float))
    finish_single(m, line, f, to, 1, sizeof(float));
  else
    finish_single(m, line, f, to, m->channels, step);
}

static void finish_doubles(const image *m, const state *s, int64_t f, int64_t c, char *to) {
  const int64_t step = step_of(m->to, m->batches + 1), by = m->channels, n = m->columns.to;
  double *line = (double *)(void *)s->line + c;
  if (m->scale)
    for (int64_t x = 0; x < n; x++) line[x * by] = line[x * by] * m->scale[f] + m->bias[f];
  if (m->to->dtype == SB_FLOAT64)
    for (int64_t x = 0; x < n; x++)
      *(double *)(void *)(to + x * step) = sb__canonical_double(line[x * by]);
  else if (m->is_whole)
    for (int64_t x = 0; x < n; x++) line[x * by] = __builtin_rint(line[x * by]);
}

static bool is_stored(const image *m) {
  return m->to->dtype == (m->is_double ? SB_FLOAT64 : SB_FLOAT32) ||
         (m->to->dtype == SB_UINT8 && !m->is_double);
}

static void run_row(const image *m, state *s, int64_t y) {
  char *to = s->to + y * step_of(m->to, m->batches);
  sum_row(m, s, y);
  if (m->is_double)
    along_doubles(m, (const double *)(void *)s->sum, (double *)(void *)s->line);
  else
    along_singles(m, (const float *)(void *)s->sum, (float *)(void *)s->line);
  if (m->is_weighted) unweigh(m, s->line);
  for (int64_t c = 0; c < m->channels; c++) {
    const int64_t factor = m->axis < 0 ? 0 : m->axis == m->channel ? c : s->factor;
    char *there = to + c * channel_step(m, m->to);
    (m->is_double ? finish_doubles : finish_singles)(m, s, factor, c, there);
  }
  if (is_stored(m)) return;
  const sb__job job = {.plan = &m->store,
                       .base = {to, s->line},
                       .to = m->to->dtype,
                       .from = m->is_double ? SB_FLOAT64 : SB_FLOAT32};
  sb__run_job(&job);
}

#define COPY_ITEMS(size) \
 for (int64_t x = 0; x < m->columns.to; x++) memcpy(to + x * put, from + first[x] * get, size);

/* The nearest elements, as they are. */
static void copy_row(const image *m, state *s, int64_t y) {
  const int64_t put = step_of(m->to, m->batches + 1), get = step_of(m->from, m->batches + 1);
  const int32_t *first = m->columns.first;
  for (int64_t c = 0; c < m->channels; c++) {
    char *to = s->to + y * step_of(m->to, m->batches) + c * channel_step(m, m->to);
    const char *from =
        s->from + m->rows.first[y] * step_of(m->from, m->batches) + c * channel_step(m, m->from);
    switch (size_of(m->to)) {
      case 1: COPY_ITEMS(1) break;
      case 2: COPY_ITEMS(2) break;
      case 4: COPY_ITEMS(4) break;
      case 8: COPY_ITEMS(8) break;
      default: COPY_ITEMS(16)
    }
  }
}

static void run_part(void *context, int i) {
  const image *m = context;
  const uint32_t mode = sb__float_mode_default();
  const int64_t n = m->rows.to, end = m->total * (i + 1) / m->parts;
  state s = {.ring = m->scratch + i * m->nbytes};
  s.sum = s.ring + (m->is_direct ? 0 : RING * m->row);
  s.line = s.sum + m->row;
  int64_t batch = -1;
  for (int64_t k = m->total * i / m->parts; k < end; k++) {
    if (k / n != batch) enter_batch(m, batch = k / n, &s);
    (m->is_exact ? copy_row : run_row)(m, &s, k % n);
  }
  sb__float_mode_restore(mode);
}

/* ---- Choices ---- */

/* The axis whose elements are beside each other, a pixel after the other. */
static void choose_channels(image *m) {
  const sb_tensor *t = m->from;
  m->channel = m->is_weighted ? m->axis : -1;
  m->channels = m->is_weighted ? t->shape[m->axis] : 1;
  for (int32_t d = 0; d < m->batches && !m->is_weighted; d++) {
    const int64_t n = t->shape[d];
    if (n < 2 || n > MOST_CHANNELS || t->strides[d] != 1) continue;
    if (m->columns.from > 1 && sb__absolute(t->strides[m->batches + 1]) < n) continue;
    m->channel = d;
    m->channels = n;
  }
}

static void choose_rows(image *m) {
  const sb_tensor *t = m->from;
  const bool is_dense = m->columns.from == 1 || t->strides[m->batches + 1] == m->channels;
  m->is_direct =
      is_dense && !m->is_weighted &&
      (m->is_double ? t->dtype == SB_FLOAT64 : t->dtype == SB_FLOAT32 || t->dtype == SB_UINT8);
  m->row = rounded((m->columns.from * m->channels + LANES) * computed(m));
  m->line = rounded((m->columns.to * m->channels + LANES) * computed(m));
  m->nbytes = m->is_exact ? 0 : (m->is_direct ? 1 : 1 + RING) * m->row + m->line;
}

/* A row as a tensor: pixels, and channels if there are several. */
static void row_of(const image *m, const sb_tensor *t, sb_tensor *row) {
  *row = (sb_tensor){.dtype = t->dtype, .ndim = 2};
  row->shape[0] = t->shape[m->batches + 1];
  row->shape[1] = m->channels;
  row->strides[0] = t->strides[m->batches + 1];
  row->strides[1] = m->channel < 0 ? 1 : t->strides[m->channel];
}

static void plan_rows(image *m) {
  sb_tensor there, here;
  const sb_tensor *load[] = {&here, &there}, *store[] = {&there, &here};
  row_of(m, m->from, &there);
  here = (sb_tensor){.dtype = m->is_double ? SB_FLOAT64 : SB_FLOAT32, .ndim = 2};
  here.shape[0] = there.shape[0];
  here.shape[1] = here.strides[0] = m->channels;
  here.strides[1] = 1;
  sb__plan_make(2, load, false, &m->load);
  row_of(m, m->to, &there);
  here.shape[0] = there.shape[0];
  sb__plan_make(2, store, false, &m->store);
}

static sb_status run_resize(image *m) {
  const double across = m->is_exact ? 0 : (double)m->columns.from * (double)m->rows.most;
  const double cost =
      (across + (double)m->columns.to * (double)m->columns.most) * (double)m->channels;
  const double worth = (double)m->total * cost / PART_COST;
  m->parts = sb__parts_worth(worth < SB__MOST_PARTS ? (int64_t)worth : SB__MOST_PARTS);
  if (m->parts > m->total) m->parts = m->total;
  plan_rows(m);
  if (m->nbytes && !(m->scratch = sb__alloc_bytes(m->parts * m->nbytes)))
    return sb__fail(SB_ERR_MEMORY, "%lld bytes for resize", (long long)(m->parts * m->nbytes));
  sb__parallel((int)m->parts, run_part, m);
  if (m->scratch) sb__free_aligned(m->scratch);
  return SB_OK;
}

static sb_status check_image(const image *m, const sb_tensor *factors) {
  const sb_tensor *to = m->to, *from = m->from;
  bool fits = to->ndim == from->ndim && to->ndim >= 2;
  for (int32_t d = 0; fits && d < m->batches; d++) fits = to->shape[d] == from->shape[d];
  for (int32_t d = m->batches; fits && d < to->ndim; d++)
    fits = to->shape[d] <= INT32_MAX / 2 && from->shape[d] <= INT32_MAX / 2;
  if (fits && m->is_weighted)
    fits = m->axis >= 0 && m->axis < m->batches && from->shape[m->axis] > 1;
  if (!fits) return sb__fail(SB_ERR_SHAPE, "resize: the shapes do not fit");
  if (!factors) return SB_OK;
  if (factors->dtype != SB_FLOAT64 || factors->ndim != 2 || factors->shape[0] != 2 ||
      !sb_is_contiguous(factors) || m->axis >= m->batches ||
      factors->shape[1] != (m->axis < 0 ? 1 : from->shape[m->axis]))
    return sb__fail(SB_ERR_SHAPE, "resize: the factors do not fit");
  return sb__check_bytes("the factors", factors);
}

static sb_status run_separated(image *m, int method, bool is_wide) {
  choose_channels(m);
  m->total = m->rows.to;
  for (int32_t d = 0; d < m->batches; d++)
    if (d != m->channel) m->total *= m->to->shape[d];
  choose_rows(m);
  sb_status status = make_axis(&m->rows, method, is_wide, m->is_double);
  if (status) return status;
  status = make_axis(&m->columns, method, is_wide, m->is_double);
  if (status) goto fail_columns;
  status = run_resize(m);
  drop_axis(&m->columns);
fail_columns:
  drop_axis(&m->rows);
  return status;
}

static sb_status choose_dtype(image *m, int method, bool is_scaled) {
  const sb_kind kind = sb_dtype_kind(m->from->dtype), made = sb_dtype_kind(m->to->dtype);
  sb_dtype dtype = SB_FLOAT32;
  m->is_exact = method == NEAREST && !is_scaled && m->to->dtype == m->from->dtype;
  if (m->is_exact) return SB_OK;
  if (kind == SB_COMPLEX)
    return sb__fail(SB_ERR_DTYPE, "resize has no %s but with method nearest",
                    sb_dtype_name(m->from->dtype));
  const sb_status status = sb__computed_in("resize", m->from->dtype, &dtype);
  m->is_whole = made == SB_SIGNED || made == SB_UNSIGNED;
  const bool is_kept = m->is_whole && !is_scaled; /* alpha as it is, which rounds to 0 then */
  m->least = is_kept ? 0.5 : 0;
  /* products with alpha have twice the bits, and a quotient of small sums loses them */
  m->is_double = dtype == SB_FLOAT64 || m->to->dtype == SB_FLOAT64 ||
                 (m->is_weighted && !(m->from->dtype == SB_UINT8 && is_kept));
  return status;
}

sb_status sb__resize(const sb_tensor *to, const sb_tensor *from, const sb_tensor *factors,
                     const sb__resize_call *call, int64_t *staged) {
  image m = {.to = to,
             .from = from,
             .batches = to->ndim - 2,
             .is_weighted = call->alpha && call->method != NEAREST,
             .axis = call->axis};
  sb_tensor copy;
  sb_status status = check_image(&m, factors);
  if (!status) status = sb__check_cast(call->dtype, to->dtype, call->casting);
  if (!status) status = choose_dtype(&m, call->method, factors);
  if (!status) status = sb__check_target(to);
  if (status || !sb_tensor_numel(to)) return status;
  m.rows = (axis){.from = from->shape[m.batches], .to = to->shape[m.batches]};
  m.columns = (axis){.from = from->shape[m.batches + 1], .to = to->shape[m.batches + 1]};
  if (!m.rows.from || !m.columns.from)
    return sb__fail(SB_ERR_SHAPE, "resize: an image without pixels has no larger one");
  status = sb__check_bytes("the source", from);
  if (status) return status;
  if (factors) {
    m.scale = sb_tensor_data(factors);
    m.bias = m.scale + factors->shape[1];
  }
  if (!sb__may_overlap(to, from)) return run_separated(&m, call->method, call->antialias);
  status = sb_tensor_empty(from->dtype, from->ndim, from->shape, &copy);
  if (status) return status;
  status = sb_copy(&copy, from, SB_CASTING_SAFE, NULL);
  *staged += sb_tensor_numel(from) * size_of(from);
  m.from = &copy;
  if (!status) status = run_separated(&m, call->method, call->antialias);
  sb_tensor_release(&copy);
  return status;
}
