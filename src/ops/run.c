/* Every kind of plan moves pieces that fit the first cache into the order of what is written, as rows
 * side by side; a row is then converted, or sent past the caches, on its way to its place. */
#include "ops/run.h"
#include "ops/parallel.h"

#include <math.h>
#include <string.h>

#define PIECE 1024 /* elements that are converted at a time */
#define PLANE 2048 /* bytes of a channel that are moved at a time */

/* What is streamed is converted in slices, so short that reading never waits for writing, of several pages in turn:
 * the processor reads ahead within pages, in a few of them at a time. So are long rows in WebAssembly, where pages are
 * small, and no stores go past the caches. Elements. PIXELS are those of an image that are written at a time, where they
 * are sent from registers (reading waits meanwhile), and in WebAssembly. */
#ifdef __wasm__
# define SLICE 64
# define PIXELS 256
#else
# define SLICE 128
# define PIXELS 384
#endif
#define PAGES 4

/* Writing more than that goes past the caches: it would not stay there anyway. */
#ifdef SB_TEST
# define STREAM_FROM 4096 /* so that tests need no large tensors */
# define STREAM_FILL_FROM 4096
# define SHEET 256
# define PAGE 256
# define TURN 4096
#else
# define PAGE 2048
# define TURN (INT64_C(1) << 19) /* elements of a row */
# define STREAM_FROM (INT64_C(12) << 20)
# define STREAM_FILL_FROM (INT64_C(64) << 20) /* less may be found in a large third cache */
# define SHEET 4096 /* bytes of the pattern that a fill sends past the caches at a time */
#endif

#ifdef __wasm__
# define CAN_STREAM false
# define TURN_FROM TURN
# define STRIPS_FROM(itemsize) \
  ((itemsize) < 4 ? 1 << 15 : 1 << 21) /* transposes of as many bytes */
#else
# define CAN_STREAM true
# define TURN_FROM INT64_MAX
# define STRIPS_FROM(itemsize) INT64_MAX
#endif

typedef struct runner {
  const sb__job *job;
  const sb__plan *plan;
  const sb__kernels *kernels;
  int64_t to_size, from_size; /* bytes of an item */
  bool converts;              /* else bytes are only moved */
  bool forms;                 /* by sb__casts, where no loop is made for the pair */
  bool single;                /* factors are float32 */
  bool streams;
  sb__masks masks;      /* of SPLIT and JOIN */
  sb__cast load, store; /* into and out of float32; NULL: it is float32 already */
  sb__cast direct;      /* the whole way; NULL: there is no such loop */
  sb__cast send;        /* the same, past the caches */
  sb__scaled_cast send_scaled;
} runner;

/* Factors of a row: where they start, and their steps in bytes. */
typedef struct factors {
  const char *scale, *bias;
  int64_t scale_step, bias_step;
} factors;

static factors factors_at(const runner *r, char *const at[], const sb__plan_dim *along) {
  if (!r->job->scaled) return (factors){0};
  return (factors){at[2], at[3], along->step[2], along->step[3]};
}

static double factor(const char *at) { return *(const double *)(const void *)at; }

static void convert_by_forms(const runner *r, char *to, int64_t to_step, const char *from,
                             int64_t from_step, int64_t n, factors f) {
  const sb__cast_kernels *load = &sb__casts[r->job->from], *store = &sb__casts[r->job->to];
  sb__chunk chunk;
  for (int64_t i = 0; i < n; i += SB__CHUNK) {
    const int64_t count = n - i < SB__CHUNK ? n - i : SB__CHUNK;
    sb__form form = load->form;
    load->load(&chunk, from + i * from_step, from_step, count);
    if (f.scale) {
      sb__scale_chunk(&chunk, form, count, r->single, f.scale + i * f.scale_step, f.scale_step,
                      f.bias + i * f.bias_step, f.bias_step);
      form = SB__FORM_REAL;
    }
    store->store[form](to + i * to_step, to_step, &chunk, count);
  }
}

static void scale_each(const runner *r, float *x, int64_t n, factors f) {
  float scale[PIECE], bias[PIECE];
  for (int64_t i = 0; i < n; i++) {
    scale[i] = (float)factor(f.scale + i * f.scale_step);
    bias[i] = (float)factor(f.bias + i * f.bias_step);
  }
  r->kernels->scale_each(x, n, scale, bias);
}

static void scale_by_one(const runner *r, float *to, const char *from, int64_t n, factors f) {
  float room[PIECE] __attribute__((aligned(64)));
  sb__scaled_cast cast = r->kernels->scaled_from[r->job->from];
  if (!cast) {
    r->load((char *)room, from, n);
    from = (const char *)room;
    cast = r->kernels->scaled_from[SB_FLOAT32];
  }
  cast(to, from, n, (float)factor(f.scale), (float)factor(f.bias));
}

/* At most PIECE elements, side by side. */
static void convert(const runner *r, char *to, const char *from, int64_t n, factors f) {
  float room[PIECE] __attribute__((aligned(64)));
  if (r->forms) {
    convert_by_forms(r, to, r->to_size, from, r->from_size, n, f);
    return;
  }
  if (r->direct) {
    r->direct(to, from, n);
    return;
  }
  float *x = r->store ? room : (float *)(void *)to;
  if (f.scale && f.scale_step == 0 && f.bias_step == 0) {
    scale_by_one(r, x, from, n, f);
  } else {
    if (r->load)
      r->load((char *)x, from, n);
    else
      memcpy(x, from, (size_t)n * sizeof *x);
    if (f.scale) scale_each(r, x, n, f);
  }
  if (r->store) r->store(to, (const char *)x, n);
}

/* Pieces end where a cache line of what is written ends, so that lines are streamed whole. */
static int64_t piece_at(const char *to, int64_t itemsize, int64_t most, int64_t left) {
  const int64_t n = most - (int64_t)((uintptr_t)to & 63u) / itemsize;
  return n < left ? n : left;
}

static factors further(factors f, int64_t n) {
  f.scale += n * f.scale_step;
  f.bias += n * f.bias_step;
  return f;
}

/* At most SLICE elements, converted and sent past the caches. */
static void send(const runner *r, char *to, const char *from, int64_t n, factors f) {
  char room[SLICE * 16] __attribute__((aligned(64)));
  convert(r, room, from, n, f);
  r->kernels->stream(to, room, n * r->to_size);
}

static void send_pages(const runner *r, char *to, const char *from, factors f) {
  for (int64_t i = 0; i < PAGE; i += SLICE) {
    for (int64_t k = i; k < PAGES * PAGE; k += PAGE)
      send(r, to + k * r->to_size, from + k * r->from_size, SLICE, further(f, k));
  }
}

/* Whole lines of a row, from registers; gives how many elements went that way. */
static int64_t send_lines(const runner *r, char *to, const char *from, int64_t n, factors f) {
  const int64_t count = n / (64 / r->to_size) * (64 / r->to_size);
  if (((uintptr_t)to & 63u) || !count || f.scale_step || f.bias_step) return 0;
  if (r->send)
    r->send(to, from, count);
  else if (r->send_scaled)
    r->send_scaled((float *)(void *)to, from, count, (float)factor(f.scale), (float)factor(f.bias));
  else
    return 0;
  return count;
}

static void send_row(const runner *r, char *to, const char *from, int64_t n, factors f) {
  while (n > 0) {
    int64_t count = send_lines(r, to, from, n, f);
    if (!count && n >= PAGES * PAGE && ((uintptr_t)to & 63u) == 0) {
      count = PAGES * PAGE;
      send_pages(r, to, from, f);
    } else if (!count) {
      count = piece_at(to, r->to_size, SLICE, n);
      send(r, to, from, count, f);
    }
    to += count * r->to_size;
    from += count * r->from_size;
    f = further(f, count);
    n -= count;
  }
}

/* By one loop; what is long in some pages in turn, too, but it stays in the caches. */
static void convert_row(const runner *r, char *to, const char *from, int64_t n) {
  const int64_t to_size = r->to_size, from_size = r->from_size;
  int64_t left = n;
  while (n >= TURN_FROM && left >= PAGES * PAGE) {
    for (int64_t i = 0; i < PAGE; i += SLICE) {
      for (int64_t k = i; k < PAGES * PAGE; k += PAGE)
        r->direct(to + k * to_size, from + k * from_size, SLICE);
    }
    to += PAGES * PAGE * to_size;
    from += PAGES * PAGE * from_size;
    left -= PAGES * PAGE;
  }
  r->direct(to, from, left);
}

/* A row without rooms; false: there is no loop for that. In WebAssembly, scaled rows gain nothing by it. */
static bool convert_whole(const runner *r, char *to, const char *from, int64_t n, factors f) {
  if (r->streams || r->job->in_place) return false;
  if (r->direct) {
    convert_row(r, to, from, n);
    return true;
  }
  if (!CAN_STREAM || !r->job->scaled || r->forms || r->store || f.scale_step || f.bias_step)
    return false;
  const sb__scaled_cast cast = r->kernels->scaled_from[r->job->from];
  if (!cast) return false;
  cast((float *)(void *)to, from, n, (float)factor(f.scale), (float)factor(f.bias));
  return true;
}

/* A row whose elements lie side by side on both sides. */
static void emit(const runner *r, char *to, const char *from, int64_t n, factors f) {
  char room[PIECE * 16] __attribute__((aligned(64))); /* what goes back in place */
  if (!r->converts) {
    if (r->streams)
      r->kernels->stream(to, from, n * r->to_size);
    else
      memcpy(to, from, (size_t)(n * r->to_size));
    return;
  }
  if (CAN_STREAM && r->streams && !r->job->in_place) {
    send_row(r, to, from, n, f);
    return;
  }
  if (convert_whole(r, to, from, n, f)) return;
  while (n > 0) {
    const int64_t count = piece_at(to, r->to_size, PIECE, n), nbytes = count * r->to_size;
    convert(r, r->job->in_place ? room : to, from, count, f);
    if (r->streams)
      r->kernels->stream(to, room, nbytes);
    else if (r->job->in_place)
      memcpy(to, room, (size_t)nbytes);
    to += nbytes;
    from += count * r->from_size;
    f = further(f, count);
    n -= count;
  }
}

static void run_rows(const runner *r, char *const at[]) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  factors f = factors_at(r, at, row);
  for (int64_t c = 0; c < column->n; c++) {
    emit(r, at[0] + c * column->step[0], at[1] + c * column->step[1], row->n, f);
    f.scale += column->step[2];
    f.bias += column->step[3];
  }
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* A transpose goes block by block, by way of a room that the caches hold: some rows of what is written, a run of each.
 * Runs are long enough that few lines are written in parts, or, where rows begin with lines, that a few lines are read
 * and written one after the other; measured. */
#define RUN 1024
#define BLOCK 49152
#define LINES_RUN(size) ((size) <= 2 ? 128 : 256)
#define LINES_BLOCK(size) ((size) <= 2 ? 32768 : 24576)
#define LINES_FROM 16384 /* less is transposed at once */

static void run_transpose_block(const runner *r, char *const at[], int64_t rows, int64_t columns,
                                int64_t more, const sb__ahead *next) {
  char room[BLOCK] __attribute__((aligned(64)));
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t length = rows * r->from_size, step = more * length;
  int64_t fetched = 0;
  factors f = factors_at(r, at, row);
  for (int64_t m = 0; m < more; m++) {
    const char *from = at[1] + m * r->plan->more.step[1];
    const sb__ahead beside = {from + r->plan->more.step[1], row->step[1], rows,
                              columns * r->from_size};
    if (CAN_STREAM && more > 1) sb__fetch_rows(&beside, 0, 0, 1);
    r->kernels->transpose(room + m * length, step, from, row->step[1], rows, columns, r->from_size,
                          false, false);
  }
  if (CAN_STREAM && !r->converts &&
      (((uintptr_t)at[0] | (uintptr_t)column->step[0] | (uintptr_t)step) & 63u) == 0) {
    r->kernels->stream_rows(at[0], column->step[0], room, step, columns, next);
    return;
  }
  for (int64_t c = 0; c < columns; c++) {
    if (CAN_STREAM) fetched = sb__fetch_rows(next, fetched, c, columns);
    emit(r, at[0] + c * column->step[0], room + c * step, more * rows, f);
    f.scale += column->step[2];
    f.bias += column->step[3];
  }
}

/* Few columns at a time, so that what is written goes on along few rows. */
static void transpose_by_few(const runner *r, char *to, const char *from, int64_t from_step,
                             int64_t rows, int64_t columns) {
  const sb__plan_dim *more = &r->plan->more;
  const int64_t size = r->to_size, few = size == 1 ? 16 : size < 8 ? 8 : 4;
  const int64_t step = r->plan->column.step[0];
  for (int64_t c = 0; c < columns; c += few) {
    if (c > columns - few && columns > few) c = columns - few;
    for (int64_t m = 0; m < more->n; m++)
      r->kernels->transpose(to + m * more->step[0] + c * step, step,
                            from + m * more->step[1] + c * size, from_step, rows,
                            least(few, columns - c), size, false, false);
  }
}

#define STRIPS_LEAST 128 /* rows, and bytes of each */

/* How many of n items at an address are taken together: those up to the next multiple of nbytes, in whole lines, but at
 * least one. */
static int64_t some_lines(const char *at, int64_t n, int64_t size, int64_t nbytes) {
  const int64_t line = 64 / size;
  const int64_t lines = (nbytes - (int64_t)((uintptr_t)at % (uintptr_t)nbytes)) / 64;
  return n < line ? line : least(n / line, lines ? lines : nbytes / 64) * line;
}

/* Runs of many rows at a time, so that what lies side by side is read, and written, for as long as possible. The last ones
 * reach back over items that are done already. False: there is no room for it. */
static bool run_strips(const runner *r, char *const at[]) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t size = r->to_size;
  const ptrdiff_t step = (ptrdiff_t)column->step[0];
  char *room = sb__alloc_aligned(SB__STRIPS_ROOM);
  if (!room) return false;
  for (int64_t i = 0, rows; i < row->n; i += rows) {
    rows = some_lines(at[0] + i * size, row->n - i, size, SB__STRIPS_ROWS(size) * size);
    const int64_t top = least(i, row->n - rows);
    char *to = at[0] + top * size;
    const char *from = at[1] + top * row->step[1];
    for (int64_t c = 0, columns; c < column->n; c += columns) {
      columns = some_lines(at[1] + c * size, column->n - c, size, SB__STRIPS_BYTES(size));
      const int64_t left = least(c, column->n - columns);
      const int64_t next = c + columns < column->n ? least(c + columns, column->n - 4) : left;
      r->kernels->transpose_strips(to + left * step, step, from + left * size,
                                   (ptrdiff_t)row->step[1], (int)rows, (int)columns, size, room,
                                   to + next * step);
    }
  }
  sb__free_aligned(room);
  return true;
}

/* Matrices that continue each other's rows: by few columns from so many bytes together, if each is read from so few. */
#define FEW_FROM 32768
#define FEW_UNTIL (1 << 21)
#define NEAR 16384

/* Without streams; false: neither way is for this one. */
static bool run_by_few(const runner *r, char *const at[]) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t size = r->to_size, more = r->plan->more.n, reach = row->n * row->step[1];
  const int64_t nbytes = row->n * column->n * more * size;
  if (more == 1)
    return size <= 8 && nbytes >= STRIPS_FROM(size) && row->n >= STRIPS_LEAST &&
           column->n * size >= STRIPS_LEAST && run_strips(r, at);
  if (nbytes < FEW_FROM || nbytes >= FEW_UNTIL || size == 1 || reach <= 0 || reach > NEAR)
    return false;
  transpose_by_few(r, at[0], at[1], row->step[1], row->n, column->n);
  return true;
}

static void run_transpose(const runner *r, char *const at[]) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column, *more = &r->plan->more;
  const int64_t size = r->from_size;
  const bool lines =
      !r->converts && more->n == 1 && (((uintptr_t)at[0] | (uintptr_t)column->step[0]) & 63u) == 0;
  const bool few =
      row->n * size < 64 || column->n * size < 64 || row->n * column->n * size <= LINES_FROM;
  const bool at_once = few || size == 1 || size > 8; /* measured, too */
  if (!CAN_STREAM && !r->converts && run_by_few(r, at)) return;
  if (!r->converts && (!r->streams || (lines && at_once))) {
    for (int64_t m = 0; m < more->n; m++)
      r->kernels->transpose(at[0] + m * more->step[0], column->step[0], at[1] + m * more->step[1],
                            row->step[1], row->n, column->n, size, r->streams, true);
    return;
  }
  const int64_t block = lines ? LINES_BLOCK(size) : BLOCK;
  const int64_t wide = least(column->n, block / LINES_RUN(size));
  const int64_t run = lines ? least(RUN, block / wide / 64 * 64) : RUN;
  const int64_t rows = least(row->n, run / size);
  const int64_t mores = rows < row->n ? 1 : least(more->n, run / size / rows);
  const int64_t columns = least(column->n, block / size / rows / mores);
  for (int64_t m = 0; m < more->n; m += mores) {
    for (int64_t i = 0, n; i < row->n; i += n) {
      char *corner[SB__PLAN_MAX];
      for (int32_t k = 0; k < r->plan->count; k++)
        corner[k] = at[k] + m * more->step[k] + i * row->step[k];
      n = least(rows, row->n - i);
      if (lines)
        n = least(n, (run - (int64_t)((uintptr_t)corner[0] % (uintptr_t)run)) /
                         size); /* ends with a run */
      const char *below = corner[1] + n * row->step[1];
      for (int64_t c = 0; c < column->n; c += columns) {
        const bool last = c + columns >= column->n;
        const sb__ahead next = {last ? below : corner[1] + columns * column->step[1], row->step[1],
                                more->n > 1 ? 0 : n, columns * size};
        run_transpose_block(r, corner, n, least(columns, column->n - c), least(mores, more->n - m),
                            &next);
        for (int32_t k = 0; k < r->plan->count; k++) corner[k] += columns * column->step[k];
      }
    }
  }
}

/* Into the first cache: it is read soon. Any address will do. */
static void fetch_next(const char *from, int64_t nbytes) {
  for (int64_t b = 0; b < nbytes; b += 64) __builtin_prefetch(from + b);
}

/* Three bytes a pixel to floats, at once; gives how many pixels went that way. */
static int64_t split_bytes(const runner *r, char *const at[]) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const factors f = factors_at(r, at, row);
  float scale[3] = {1, 1, 1}, bias[3] = {0};
  if (CAN_STREAM || !r->kernels->split_bytes || column->n != 3 || r->job->from != SB_UINT8 ||
      r->job->to != SB_FLOAT32 || f.scale_step || f.bias_step)
    return 0;
  for (int64_t c = 0; f.scale && c < 3; c++) {
    scale[c] = (float)factor(f.scale + c * column->step[2]);
    bias[c] = (float)factor(f.bias + c * column->step[3]);
    if (!isfinite(scale[c]) || !isfinite(bias[c])) return 0;
  }
  return r->kernels->split_bytes(at[0], column->step[0], at[1], row->n, scale, bias);
}

static void run_split(const runner *r, char *const at[]) {
  char room[4 * PLANE] __attribute__((aligned(64)));
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const bool direct = !r->converts && !r->streams;
  const bool lines = (((uintptr_t)at[0] | (uintptr_t)column->step[0]) & 63u) == 0;
  const bool sends = r->streams && lines && (r->send || r->send_scaled);
  const int64_t piece = least(sends || !CAN_STREAM ? PIXELS : PLANE, PLANE / r->from_size);
  const int64_t most = direct ? row->n : piece;
  for (int64_t i = split_bytes(r, at); i < row->n; i += most) {
    const int64_t n = least(most, row->n - i), step = n * r->from_size;
    char *to = at[0] + i * row->step[0];
    const char *from = at[1] + i * row->step[1];
    factors f = factors_at(r, at, row);
    if (direct) {
      r->kernels->split(to, column->step[0], from, n, column->n, r->from_size, &r->masks);
      return;
    }
    f.scale += i * row->step[2];
    f.bias += i * row->step[3];
    if (sends) fetch_next(from + n * column->n * r->from_size, n * column->n * r->from_size);
    r->kernels->split(room, step, from, n, column->n, r->from_size, &r->masks);
    for (int64_t c = 0; c < column->n; c++) {
      emit(r, to + c * column->step[0], room + c * step, n, f);
      f.scale += column->step[2];
      f.bias += column->step[3];
    }
  }
}

static void run_join(const runner *r, char *const at[]) {
  char planes[4 * PLANE] __attribute__((aligned(64))),
      pixels[4 * PLANE] __attribute__((aligned(64)));
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t most = r->converts || r->streams ? PLANE / 8 : column->n;
  for (int64_t i = 0; i < column->n; i += most) {
    const int64_t n = least(most, column->n - i);
    char *to = at[0] + i * column->step[0];
    const char *from = at[1] + i * column->step[1];
    int64_t plane_step = row->step[1];
    if (r->converts) {
      factors f = factors_at(r, at, column);
      f.scale += i * column->step[2];
      f.bias += i * column->step[3];
      for (int64_t c = 0; c < row->n; c++) {
        convert(r, planes + c * n * r->to_size, from + c * row->step[1], n, f);
        f.scale += row->step[2];
        f.bias += row->step[3];
      }
      from = planes;
      plane_step = n * r->to_size;
    }
    r->kernels->join(r->streams ? pixels : to, from, plane_step, n, row->n, r->to_size, &r->masks);
    if (r->streams) r->kernels->stream(to, pixels, n * row->n * r->to_size);
  }
}

static void run_strided(const runner *r, char *const at[]) {
  char gathered[PIECE * 16] __attribute__((aligned(64)));
  char converted[PIECE * 16] __attribute__((aligned(64)));
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  for (int64_t c = 0; c < column->n; c++) {
    char *to = at[0] + c * column->step[0];
    const char *from = at[1] + c * column->step[1];
    factors f = factors_at(r, at, row);
    f.scale += c * column->step[2];
    f.bias += c * column->step[3];
    if (!r->converts) {
      sb__copy_items(to, row->step[0], from, row->step[1], row->n, r->to_size);
      continue;
    }
    if (r->forms) {
      convert_by_forms(r, to, row->step[0], from, row->step[1], row->n, f);
      continue;
    }
    for (int64_t i = 0; i < row->n; i += PIECE) {
      const int64_t n = least(PIECE, row->n - i);
      sb__copy_items(gathered, r->from_size, from + i * row->step[1], row->step[1], n,
                     r->from_size);
      convert(r, converted, gathered, n, f);
      sb__copy_items(to + i * row->step[0], row->step[0], converted, r->to_size, n, r->to_size);
      f.scale += n * f.scale_step;
      f.bias += n * f.bias_step;
    }
  }
}

/* May values pass through float32 and still be rounded once? */
static bool passes_float32(sb_dtype from, sb_dtype to) {
  return sb_can_cast(from, SB_FLOAT32, SB_CASTING_SAFE) &&
         (sb_dtype_kind(to) == SB_FLOATING || to == SB_BOOL || sb_dtype_kind(from) == SB_FLOATING ||
          sb_can_cast(from, to, SB_CASTING_SAFE));
}

static void choose_loops(runner *r) {
  const sb_dtype from = r->job->from, to = r->job->to;
  r->load = r->kernels->f32_from[from];
  r->store = r->kernels->from_f32[to];
  const bool has_load = r->load || from == SB_FLOAT32, has_store = r->store || to == SB_FLOAT32;
  const sb__sends *sends = r->kernels->sends;
  const bool once = to == SB_FLOAT32 || passes_float32(from, to) || r->job->scaled;
  r->forms = !has_load || !has_store || !once || (r->job->scaled && !r->single);
  if (!r->forms && !r->job->scaled && !(r->load && r->store))
    r->direct = r->load ? r->load : r->store;
  if (!CAN_STREAM || !sends || r->forms) return;
  if (r->job->scaled)
    r->send_scaled = to == SB_FLOAT32 ? sends->scaled_from[from] : NULL;
  else if (!r->load || !r->store)
    r->send = r->load ? sends->f32_from[from] : sends->from_f32[to];
}

bool sb__is_wide(sb_dtype dtype) {
  return dtype == SB_FLOAT64 || dtype == SB_INT64 || dtype == SB_UINT64;
}

/* Part i of count. */
typedef struct shared_job {
  const runner *runner;
  int count;
} shared_job;

static void run_part(void *context, int i) {
  static void (*const loops[])(const runner *, char *const[]) = {
      [SB__PLAN_ROWS] = run_rows,       [SB__PLAN_TRANSPOSE] = run_transpose,
      [SB__PLAN_SPLIT] = run_split,     [SB__PLAN_JOIN] = run_join,
      [SB__PLAN_STRIDED] = run_strided,
  };
  const shared_job *shared = context;
  runner r = *shared->runner;
  sb__plan part;
  sb__walk walk;
  if (shared->count > 1) {
    sb__plan_part(r.plan, shared->count, i, &part);
    r.plan = &part;
    if (sb__plan_numel(&part) == 0) return;
  }
  const uint32_t mode = sb__float_mode_default();
  sb__walk_begin(r.plan, r.job->base, &walk);
  do loops[r.plan->kind](&r, walk.at);
  while (sb__walk_next(r.plan, &walk));
  if (r.streams) r.kernels->stream_end();
  sb__float_mode_restore(mode);
}

void sb__run_job(const sb__job *job) {
  const sb__plan *plan = job->plan;
  const bool split = plan->kind == SB__PLAN_SPLIT;
  runner r = {.job = job, .plan = plan, .kernels = sb__kernels_now()};
  r.to_size = sb_dtype_itemsize(job->to);
  r.from_size = sb_dtype_itemsize(job->from);
  r.converts = job->to != job->from || job->scaled;
  if (job->in_place && !r.converts) return; /* every element is there already */
  r.single = !sb__is_wide(job->to) && !sb__is_wide(job->from);
  const int64_t nbytes = sb__plan_numel(plan) * r.to_size;
  r.streams = r.kernels->stream && plan->kind != SB__PLAN_STRIDED && nbytes >= STREAM_FROM;
  if (r.converts) choose_loops(&r);
  if (split || plan->kind == SB__PLAN_JOIN) {
    const int64_t channels = split ? plan->column.n : plan->row.n;
    sb__make_masks(&r.masks, channels, split ? r.from_size : r.to_size, split);
  }
  const int parts = sb__parts_for(nbytes);
  sb__parallel(parts, run_part, &(shared_job){&r, parts});
}

typedef struct byte_job {
  char *to;
  const char *from;
  int64_t nbytes, each; /* of a part */
  const sb__kernels *streams;
} byte_job;

static void run_bytes_part(void *context, int i) {
  const byte_job *job = context;
  const int64_t at = i * job->each;
  if (at >= job->nbytes) return;
  const int64_t nbytes = least(job->each, job->nbytes - at);
  if (!job->streams) {
    memcpy(job->to + at, job->from + at, (size_t)nbytes);
    return;
  }
  job->streams->stream(job->to + at, job->from + at, nbytes);
  job->streams->stream_end();
}

void sb__run_bytes(char *to, const char *from, int64_t nbytes) {
  const int parts = sb__parts_for(nbytes);
  const sb__kernels *kernels = nbytes >= STREAM_FROM ? sb__kernels_now() : NULL;
  if (kernels && !kernels->stream) kernels = NULL;
  const int64_t each = ((nbytes + parts - 1) / parts + 63) / 64 * 64;
  byte_job job = {to, from, nbytes, each, kernels};
  sb__parallel(parts, run_bytes_part, &job);
}

typedef struct fill_job {
  const sb__plan *plan;
  char *base;
  const char *pattern; /* 16 bytes */
  int64_t itemsize;
  bool alike; /* all bytes of the pattern */
  bool streams;
  int count;
} fill_job;

static void stream_fill(char *to, const char *pattern, int64_t nbytes) {
  char sheet[SHEET + 16] __attribute__((aligned(64)));
  const sb__kernels *kernels = sb__kernels_now();
  const int64_t head = least((int64_t)(-(uintptr_t)to & 63u), nbytes); /* then whole lines */
  kernels->fill(sheet, pattern, sizeof sheet);
  kernels->fill(to, pattern, head);
  for (int64_t i = head; i < nbytes; i += SHEET)
    kernels->stream(to + i, sheet + head % 16, least(SHEET, nbytes - i));
}

static void fill_row(const fill_job *job, char *to, const sb__plan_dim *row) {
  const int64_t nbytes = row->n * job->itemsize;
  if (row->step[0] != job->itemsize)
    sb__fill_items(to, row->step[0], job->pattern, row->n, job->itemsize);
  else if (CAN_STREAM && job->streams && nbytes >= 16 * SHEET)
    stream_fill(to, job->pattern, nbytes);
  else if (job->alike)
    memset(to, job->pattern[0], (size_t)nbytes);
  else
    sb__kernels_now()->fill(to, job->pattern, nbytes);
}

static void run_fill_part(void *context, int i) {
  fill_job *job = context;
  sb__plan part;
  sb__walk walk;
  sb__plan_part(job->plan, job->count, i, &part);
  if (sb__plan_numel(&part) == 0) return;
  sb__walk_begin(&part, &job->base, &walk);
  do {
    for (int64_t c = 0; c < part.column.n; c++)
      fill_row(job, walk.at[0] + c * part.column.step[0], &part.row);
  } while (sb__walk_next(&part, &walk));
  if (CAN_STREAM && job->streams) sb__kernels_now()->stream_end();
}

void sb__run_fill(const sb_tensor *t, const char *item) {
  sb__plan plan;
  char pattern[16];
  const int64_t itemsize = sb_dtype_itemsize(t->dtype);
  for (int64_t i = 0; i < 16; i += itemsize) memcpy(pattern + i, item, (size_t)itemsize);
  const int64_t nbytes = sb_tensor_nbytes(t);
  const int parts = sb__parts_for(nbytes);
  fill_job job = {.plan = &plan,
                  .base = sb_tensor_data(t),
                  .pattern = pattern,
                  .itemsize = itemsize,
                  .alike = !memcmp(pattern, pattern + 1, 15),
                  .count = parts};
  job.streams = CAN_STREAM && nbytes >= STREAM_FILL_FROM && sb__kernels_now()->stream;
  if (parts == 1 && !job.streams && sb_is_contiguous(t)) { /* a few elements, often: no plan */
    const sb__plan_dim row = {.n = sb_tensor_numel(t), .step = {itemsize}};
    fill_row(&job, job.base, &row);
    return;
  }
  sb__plan_make(1, &t, false, &plan);
  sb__parallel(parts, run_fill_part, &job);
}
