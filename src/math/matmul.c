/* Matrix products, over batches. The result is cut into tiles, and threads take tiles. For a tile panels of rows of a and of columns of b are
 * packed, block by block along k, which also reads any strides and converts dtypes. One or two rows times a matrix read it in place, as
 * fast as memory is. A complex matrix is one of its parts: [m, 2k] times [2k, 2n], where each element of b is packed as 2 by 2 of them. */
#include <stdatomic.h>
#include <string.h>

#include "math/matmul.h"

#define ALIGNED 64
#define STAGED_BYTES (INT64_C(1) << 16) /* of elements that are converted before they are packed */
#define MOST_ROWS 960                   /* of a tile of the result; a block of its rows is 960 KB */
#define MOST_COLUMNS 1024
#define ROWS_AT_ONCE 120 /* packed ones, that the nearest caches hold beside a panel of columns */
#define THIN 2           /* rows that are multiplied without packing */
#define DOTS_AT_ONCE 16
#define STREAMED_BYTES (1 << 15) /* of a row of the matrix, read as one */
#define STAGED_ROWS 16
#define WORK_OF_THREAD (INT64_C(1) << 18) /* products that are worth one */

typedef struct source {
  const char *data;
  sb_dtype dtype;
  int64_t itemsize;
  int64_t line, k; /* strides, elements: from row to row of a, or column to column of b; along k */
  int64_t batch[SB_MAX_DIMS];
  bool is_direct; /* loops read it where it is */
} source;

typedef struct product {
  const sb__matmul_tiles *tiles;
  const sb__matmul_lines *lines;
  sb_dtype made;                /* what loops compute, as a dtype; its parts if it is complex */
  int64_t itemsize;             /* of what loops compute with */
  int64_t parts;                /* 2: complex */
  bool is_fused, is_conjugated; /* a is conjugated */
  int64_t m, n, k; /* rows, columns and products that loops see; n and k are in parts */
  source a, b;
  int64_t a_each; /* stride of a along n: each column has a row of its own */
  char *c;
  sb_dtype c_dtype;
  int64_t c_itemsize, c_row, c_column, c_batch[SB_MAX_DIMS];
  bool is_c_direct;
  int32_t batches;
  int64_t shape[SB_MAX_DIMS];
  bool is_thin, is_along; /* along: b's columns are without gaps, or are brought to that */
  int64_t rows, columns;  /* of a tile of the result */
  int64_t row_tiles, column_tiles, tasks;
  int64_t at_columns, at_tile, at_staged, at_sums, nbytes; /* in the scratch of each part */
  char *scratch;
  atomic_llong next;
} product;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t parts_of(int64_t n, int64_t size) { return (n + size - 1) / size; }
static int64_t rounded(int64_t n, int64_t size) { return parts_of(n, size) * size; }
static int64_t distance(int64_t x) { return x < 0 ? -x : x; }

/* ---- Converting and packing ---- */

static void move_block(sb_dtype to_dtype, char *to, const int64_t to_strides[2],
                       sb_dtype from_dtype, const char *from, const int64_t from_strides[2],
                       int64_t rows, int64_t columns) {
  sb_tensor target = {.dtype = to_dtype, .ndim = 2}, origin = {.dtype = from_dtype, .ndim = 2};
  const sb_tensor *tensors[] = {&target, &origin};
  sb__plan plan;
  target.shape[0] = origin.shape[0] = rows;
  target.shape[1] = origin.shape[1] = columns;
  for (int d = 0; d < 2; d++) {
    target.strides[d] = to_strides[d];
    origin.strides[d] = from_strides[d];
  }
  sb__plan_make(2, tensors, false, &plan);
  sb__run_job(&(sb__job){
      .plan = &plan, .base = {to, (char *)(uintptr_t)from}, .to = to_dtype, .from = from_dtype});
}

/* Brings elements of some lines together, converted: [line, k], or [k, line]. */
static void stage(const product *p, const source *s, const char *from, int64_t count, int64_t n,
                  bool is_along, char *to) {
  const int64_t strides[2] = {is_along ? n : 1, is_along ? 1 : count};
  move_block(p->made, to, strides, s->dtype, from, (const int64_t[2]){s->line, s->k}, count, n);
  if (!p->is_conjugated || s != &p->a) return;
  for (int64_t i = 1; i < 2 * count * n; i += 2) {
    if (p->itemsize == 4)
      ((float *)(void *)to)[i] = -((float *)(void *)to)[i];
    else
      ((double *)(void *)to)[i] = -((double *)(void *)to)[i];
  }
}

/* A panel of complex columns: each element takes two rows of two columns. */
#define EXPAND(name, type)                                                                     \
 static void name(void *packed, const void *staged, int64_t panel, int64_t count, int64_t n) { \
  type *to = packed;                                                                           \
  const type *from = staged;                                                                   \
  memset(to, 0, (size_t)(panel * n) * sizeof(type));                                           \
  for (int64_t j = 0; j < count; j += 2)                                                       \
   for (int64_t k = 0; k < n; k += 2, from += 2) {                                             \
    type *at = to + k * panel + j;                                                             \
    at[0] = at[panel + 1] = from[0];                                                           \
    at[1] = from[1];                                                                           \
    at[panel] = -from[1];                                                                      \
   }                                                                                           \
 }
EXPAND(expand_singles, float)
EXPAND(expand_doubles, double)

/* Packs lines, all panels of them. `count` and n are what loops see. */
static void pack(const product *p, const source *s, const char *from, int64_t count, int64_t n,
                 int64_t panel, char *to, char *staged) {
  const bool is_expanded = p->parts == 2 && s == &p->b;
  const int64_t lines_of = is_expanded ? 2 : 1; /* of a line of the source */
  if (s->is_direct) {
    for (int64_t i = 0; i < count; i += panel)
      p->lines->pack(to + i * n * p->itemsize, from + i * s->line * s->itemsize, panel,
                     least(panel, count - i), s->line, s->k, n);
    return;
  }
  const bool is_along = p->parts == 2 || distance(s->k) <= distance(s->line);
  const int64_t strip = rounded(STAGED_BYTES / (SB__MATMUL_BLOCK * p->itemsize), panel);
  for (int64_t first = 0; first < count; first += strip) {
    const int64_t some = least(strip, count - first);
    stage(p, s, from + first / lines_of * s->line * s->itemsize, some / lines_of, n / p->parts,
          is_along, staged);
    for (int64_t i = 0; i < some; i += panel) {
      char *at = to + (first + i) * n * p->itemsize;
      const int64_t kept = least(panel, some - i);
      if (is_expanded)
        (p->itemsize == 4 ? expand_singles : expand_doubles)(at, staged + i / 2 * n * p->itemsize,
                                                             panel, kept, n);
      else
        p->lines->pack(at, staged + i * (is_along ? n : 1) * p->itemsize, panel, kept,
                       is_along ? n : 1, is_along ? 1 : some, n);
    }
  }
}

/* ---- A tile of the result ---- */

typedef struct tile {
  const char *a, *b;
  char *c;
  int64_t c_step, rows, columns;
  char *scratch;
} tile;

static sb__matmul_place place_of(const product *p, int64_t k) {
  return (sb__matmul_place){k == 0, k + SB__MATMUL_BLOCK >= p->k};
}

static void run_packed(const product *p, const tile *t) {
  char sums[SB__MATMUL_TILE * 8] __attribute__((aligned(ALIGNED)));
  const sb__matmul_tiles *tiles = p->tiles;
  char *rows = t->scratch, *columns = t->scratch + p->at_columns;
  for (int64_t k = 0; k < p->k; k += SB__MATMUL_BLOCK) {
    const int64_t n = least(SB__MATMUL_BLOCK, p->k - k);
    const sb__matmul_place place = place_of(p, k);
    pack(p, &p->a, t->a + k / p->parts * p->a.k * p->a.itemsize, t->rows, n, tiles->rows, rows,
         t->scratch + p->at_staged);
    pack(p, &p->b, t->b + k / p->parts * p->b.k * p->b.itemsize, t->columns, n, tiles->columns,
         columns, t->scratch + p->at_staged);
    for (int64_t first = 0; first < t->rows; first += ROWS_AT_ONCE)
      for (int64_t j = 0; j < t->columns; j += tiles->columns)
        for (int64_t i = first; i < least(first + ROWS_AT_ONCE, t->rows); i += tiles->rows) {
          const int64_t kept = least(tiles->rows, t->rows - i);
          char *c = t->c + (i * t->c_step + j) * p->itemsize;
          for (int64_t r = 0; r < kept; r++)
            for (int64_t at = 0; at < tiles->columns * p->itemsize; at += ALIGNED)
              __builtin_prefetch(c + r * t->c_step * p->itemsize + at, 1);
          (p->is_fused ? tiles->fused_tile : tiles->tile)(sums, rows + i * n * p->itemsize,
                                                          columns + j * n * p->itemsize, n);
          tiles->combine(c, t->c_step, sums, tiles->columns, kept,
                         least(tiles->columns, t->columns - j), place);
        }
  }
}

static bool is_read_there(const source *s) { return s->is_direct && s->k == 1; }

/* Lines of a thin product as loops read them: in place, or staged. */
static const char *lines_at(const product *p, const source *s, const char *from, int64_t count,
                            int64_t n, char *staged, int64_t *step) {
  *step = s->line;
  if (is_read_there(s)) return from;
  stage(p, s, from, count, n, true, staged);
  *step = n;
  return staged;
}

static void run_dots(const product *p, const tile *t) {
  char sums[DOTS_AT_ONCE * 8] __attribute__((aligned(ALIGNED)));
  char *staged = t->scratch + p->at_staged;
  source each = p->a; /* rows for the columns */
  each.line = p->a_each;
  for (int64_t j = 0; j < t->columns; j += DOTS_AT_ONCE) {
    const int64_t count = least(DOTS_AT_ONCE, t->columns - j);
    for (int64_t k = 0; k < p->k; k += SB__MATMUL_BLOCK) {
      const int64_t n = least(SB__MATMUL_BLOCK, p->k - k);
      int64_t a_step, b_step;
      const char *b = lines_at(p, &p->b, t->b + (j * p->b.line + k * p->b.k) * p->b.itemsize, count,
                               n, staged, &b_step);
      for (int64_t i = 0; i < t->rows; i++) {
        const char *from = t->a + (i * p->a.line + j * p->a_each + k * p->a.k) * p->a.itemsize;
        const char *a = lines_at(p, &each, from, p->a_each ? count : 1, n,
                                 staged + DOTS_AT_ONCE * SB__MATMUL_BLOCK * p->itemsize, &a_step);
        p->lines->dots(sums, a, p->a_each ? a_step : 0, b, b_step, count, n);
        p->tiles->combine(t->c + (i * t->c_step + j) * p->itemsize, 0, sums, 0, 1, count,
                          place_of(p, k));
      }
    }
  }
}

/* Reads b row by row. */
static void run_columns(const product *p, const tile *t) {
  char *sums = t->scratch + p->at_sums, *staged = t->scratch + p->at_staged;
  const bool is_direct = p->b.is_direct && p->b.line == 1;
  const int64_t most = is_direct ? SB__MATMUL_BLOCK : STAGED_ROWS;
  for (int64_t block = 0; block < p->k; block += SB__MATMUL_BLOCK) {
    const int64_t end = least(block + SB__MATMUL_BLOCK, p->k);
    for (int64_t k = block; k < end; k += most) {
      const int64_t n = least(most, end - k);
      const char *b = t->b + k * p->b.k * p->b.itemsize;
      if (!is_direct) stage(p, &p->b, b, t->columns, n, false, staged);
      for (int64_t i = 0; i < t->rows; i++)
        p->lines->columns_of(sums + i * p->columns * p->itemsize,
                             t->a + (i * p->a.line + k) * p->itemsize, is_direct ? b : staged,
                             is_direct ? p->b.k : t->columns, t->columns, n, k == block);
    }
    p->tiles->combine(t->c, t->c_step, sums, p->columns, t->rows, t->columns, place_of(p, block));
  }
}

static void run_task(const product *p, int64_t i, char *scratch) {
  const int64_t column = i % p->column_tiles * p->columns;
  const int64_t row = i / p->column_tiles % p->row_tiles * p->rows;
  const int64_t c_columns = p->columns; /* of a tile in scratch */
  int64_t rest = i / p->column_tiles / p->row_tiles;
  tile t = {.a = p->a.data, .b = p->b.data, .c = p->c, .c_step = p->c_row, .scratch = scratch};
  for (int32_t d = p->batches - 1; d >= 0; rest /= p->shape[d], d--) {
    const int64_t at = rest % p->shape[d];
    t.a += at * p->a.batch[d] * p->a.itemsize;
    t.b += at * p->b.batch[d] * p->b.itemsize;
    t.c += at * p->c_batch[d] * p->c_itemsize;
  }
  t.rows = least(p->rows, p->m - row);
  t.columns = least(p->columns, p->n - column);
  t.a += (row * p->a.line + column * p->a_each) * p->a.itemsize;
  t.b += column / p->parts * p->b.line * p->b.itemsize;
  t.c += (row * p->c_row + column / p->parts * p->c_column) * p->c_itemsize;
  char *there = t.c;
  if (p->is_c_direct) {
    t.c_step = p->c_row * p->parts;
  } else {
    t.c = scratch + p->at_tile;
    t.c_step = c_columns;
  }
  (!p->is_thin ? run_packed : p->is_along ? run_dots : run_columns)(p, &t);
  if (!p->is_c_direct)
    move_block(p->c_dtype, there, (const int64_t[2]){p->c_row, p->c_column}, p->made, t.c,
               (const int64_t[2]){c_columns / p->parts, 1}, t.rows, t.columns / p->parts);
}

static void run_part(void *context, int i) {
  product *p = context;
  const uint32_t mode = sb__float_mode_default();
  for (;;) {
    const int64_t task = atomic_fetch_add(&p->next, 1);
    if (task >= p->tasks) break;
    run_task(p, task, p->scratch + i * p->nbytes);
  }
  sb__float_mode_restore(mode);
}

/* ---- Choices ---- */

/* c is a times b, so its transpose is b's transpose times a's. */
static void swap(product *p) {
  const source a = p->a;
  const int64_t m = p->m, row = p->c_row;
  p->a = p->b;
  p->b = a;
  p->m = p->n;
  p->n = m;
  p->c_row = p->c_column;
  p->c_column = row;
}

/* Batches that have one b are more rows of a. */
static void fold_batches(product *p) {
  while (p->batches) {
    const int32_t d = p->batches - 1;
    const bool is_single = p->m == 1;
    if (p->b.batch[d] ||
        (!is_single && (p->a.batch[d] != p->m * p->a.line || p->c_batch[d] != p->m * p->c_row)))
      return;
    if (is_single) {
      p->a.line = p->a.batch[d];
      p->c_row = p->c_batch[d];
    }
    p->m *= p->shape[d];
    p->batches = d;
  }
}

/* Dot products of many vectors are columns with a row each. */
static void fold_dots(product *p) {
  const int32_t d = p->batches - 1;
  if (p->m != 1 || p->n != 1 || d < 0 || p->parts == 2) return;
  p->b.line = p->b.batch[d];
  p->a_each = p->a.batch[d];
  p->c_column = p->c_batch[d];
  p->n = p->shape[d];
  p->batches = d;
}

/* The tile of the result: as large as caches allow, and so small that each thread has some. */
static void choose_tiles(product *p, int64_t threads) {
  const int64_t row = p->is_thin ? 1 : p->tiles->rows, column = p->is_thin ? 64 : p->tiles->columns;
  const bool streams = p->is_thin && !p->is_along && p->b.is_direct && p->b.line == 1;
  const int64_t most = streams ? STREAMED_BYTES / p->itemsize : MOST_COLUMNS;
  int64_t batches = 1, up = parts_of(p->m, MOST_ROWS), across = parts_of(p->n, most);
  for (int32_t d = 0; d < p->batches; d++) batches *= p->shape[d];
  while (threads > 1 && batches * up * across < 2 * threads) {
    const bool is_wide = p->n / across >= p->m / up;
    if (is_wide ? p->n / across < 2 * column : p->m / up < 2 * row) break;
    if (is_wide)
      across++;
    else
      up++;
  }
  p->rows = least(rounded(parts_of(p->m, up), row), p->m);
  p->columns = least(rounded(parts_of(p->n, across), column), p->n);
  p->row_tiles = parts_of(p->m, p->rows);
  p->column_tiles = parts_of(p->n, p->columns);
  p->tasks = batches * p->row_tiles * p->column_tiles;
}

static void choose_scratch(product *p) {
  const int64_t block = least(SB__MATMUL_BLOCK, p->k) * p->itemsize;
  int64_t at = 0;
  if (!p->is_thin) {
    at = rounded(rounded(p->rows, p->tiles->rows) * block + ALIGNED, ALIGNED);
    p->at_columns = at;
    at += rounded(rounded(p->columns, p->tiles->columns) * block + ALIGNED, ALIGNED);
  }
  p->at_tile = at;
  if (!p->is_c_direct) at += rounded(p->rows * p->columns * p->itemsize, ALIGNED);
  p->at_sums = at;
  if (p->is_thin && !p->is_along) at += rounded(p->rows * p->columns * p->itemsize, ALIGNED);
  p->at_staged = at;
  if (p->is_thin && p->is_along)
    at += is_read_there(&p->a) && is_read_there(&p->b)
              ? 0
              : 2 * DOTS_AT_ONCE * SB__MATMUL_BLOCK * p->itemsize;
  else if (p->is_thin)
    at += p->b.is_direct && p->b.line == 1 ? 0 : STAGED_ROWS * p->columns * p->itemsize;
  else if (!p->a.is_direct || !p->b.is_direct)
    at += (STAGED_BYTES / (SB__MATMUL_BLOCK * p->itemsize) + p->tiles->columns) * block;
  p->nbytes = rounded(at, ALIGNED);
}

static sb_status multiply(product *p) {
  char small[8192] __attribute__((aligned(ALIGNED)));
  int64_t threads = sb__threads_now();
  double work = (double)p->m * (double)p->n * (double)p->k / (double)p->parts;
  for (int32_t d = 0; d < p->batches; d++) work *= (double)p->shape[d];
  if (work < (double)threads * WORK_OF_THREAD) threads = (int64_t)(work / WORK_OF_THREAD);
  choose_tiles(p, threads);
  choose_scratch(p);
  const int64_t count = threads < 1 ? 1 : least(threads, p->tasks);
  const int64_t nbytes = count * p->nbytes;
  char *memory = nbytes > (int64_t)sizeof small ? sb__alloc_bytes(nbytes) : small;
  if (!memory) return sb__fail(SB_ERR_MEMORY, "%lld bytes for matmul", (long long)nbytes);
  p->scratch = memory;
  sb__parallel((int)count, run_part, p);
  if (memory != small) sb__free_aligned(memory);
  return SB_OK;
}

/* A dot product of long vectors: blocks are columns. */
static sb_status run_long_dot(product *p) {
  const int64_t blocks = p->k / SB__MATMUL_BLOCK, rest = p->k % SB__MATMUL_BLOCK;
  const int64_t nbytes = (blocks + 1) * p->itemsize;
  product q = *p;
  char *sums = sb__alloc_bytes(nbytes);
  if (!sums) return sb__fail(SB_ERR_MEMORY, "%lld bytes for matmul", (long long)nbytes);
  q.c = sums;
  q.c_dtype = p->made;
  q.c_itemsize = p->itemsize;
  q.c_column = 1;
  q.is_c_direct = q.is_thin = q.is_along = true;
  q.n = blocks;
  q.k = SB__MATMUL_BLOCK;
  q.b.line = SB__MATMUL_BLOCK * p->b.k;
  q.a_each = SB__MATMUL_BLOCK * p->a.k;
  sb_status status = multiply(&q);
  if (!status && rest) {
    q.a.data += blocks * q.a_each * q.a.itemsize;
    q.b.data += blocks * q.b.line * q.b.itemsize;
    q.c += blocks * p->itemsize;
    q.n = 1;
    q.k = rest;
    atomic_store(&q.next, 0);
    status = multiply(&q);
  }
  const int64_t count = blocks + (rest != 0);
  for (int64_t i = 1; i < count && !status; i++)
    p->tiles->combine(sums, 0, sums + i * p->itemsize, 0, 1, 1,
                      (sb__matmul_place){false, i + 1 == count});
  const int64_t strides[2] = {1, 1};
  if (!status) move_block(p->c_dtype, p->c, strides, p->made, sums, strides, 1, 1);
  sb__free_aligned(sums);
  return status;
}

/* ---- Operands ---- */

static void choose_loops(product *p, sb__matmul_type type) {
  const sb__matmul_tiles *tiles = sb__matmul_base.tiles[type];
  const sb__matmul_lines *lines = sb__matmul_base.lines[type];
#if defined(__x86_64__)
  const sb__matmul_level *levels[] = {&sb__matmul_avx2, &sb__matmul_avx512};
  const char *now = sb__level_now();
  const int count = !strcmp(now, "avx512") ? 2 : !strcmp(now, "avx2") ? 1 : 0;
  const bool is_narrow = p->n < 16; /* wide tiles would be empty */
  for (int i = 0; i < count; i++) {
    if (levels[i]->tiles[type] && !is_narrow) tiles = levels[i]->tiles[type];
    if (levels[i]->lines[type]) lines = levels[i]->lines[type];
  }
#endif
  p->tiles = tiles;
  p->lines = lines;
}

/* Integers wrap: a result's lower bits are the same in 32. */
static sb_status choose_dtype(product *p, sb_dtype met, sb_dtype to, bool is_precise,
                              sb__matmul_type *type) {
  const sb_kind kind = sb_dtype_kind(met);
  const bool is_wide = sb_dtype_itemsize(to) > 4 || sb_dtype_kind(to) == SB_FLOATING;
  p->parts = 1;
  if (kind == SB_SIGNED || kind == SB_UNSIGNED) {
    const bool is_signed = kind == SB_SIGNED;
    *type = is_wide ? SB__MATMUL_u64 : SB__MATMUL_u32;
    p->made = is_wide ? (is_signed ? SB_INT64 : SB_UINT64) : (is_signed ? SB_INT32 : SB_UINT32);
    p->itemsize = is_wide ? 8 : 4;
    return SB_OK;
  }
  sb_dtype computed = SB_FLOAT32;
  const sb_status status = sb__computed_in("matmul", met, &computed);
  if (status) return status;
  if (kind == SB_COMPLEX) {
    p->parts = 2;
    p->made = is_precise ? SB_COMPLEX128 : computed;
    p->itemsize = p->made == SB_COMPLEX64 ? 4 : 8;
  } else {
    p->made = is_precise ? SB_FLOAT64 : computed;
    p->itemsize = p->made == SB_FLOAT32 ? 4 : 8;
  }
  *type = p->itemsize == 4 ? SB__MATMUL_f32 : SB__MATMUL_f64;
  return SB_OK;
}

static void read_source(product *p, source *s, const sb_tensor *t, int line, int k) {
  s->data = sb_tensor_data(t);
  s->dtype = t->dtype;
  s->itemsize = sb_dtype_itemsize(t->dtype);
  s->line = t->strides[t->ndim - line];
  s->k = t->strides[t->ndim - k];
  s->is_direct = t->dtype == p->made && p->parts == 1;
  for (int32_t d = 0; d < t->ndim - 2; d++) s->batch[d] = t->strides[d];
}

static void read_operands(product *p, const sb_tensor *to, const sb_tensor *a, const sb_tensor *b) {
  const int32_t last = to->ndim - 1;
  read_source(p, &p->a, a, 2, 1);
  read_source(p, &p->b, b, 1, 2);
  p->batches = 0;
  for (int32_t d = 0; d < last - 1; d++) {
    if (to->shape[d] == 1) continue;
    p->shape[p->batches] = to->shape[d];
    p->a.batch[p->batches] = a->strides[d];
    p->b.batch[p->batches] = b->strides[d];
    p->c_batch[p->batches++] = to->strides[d];
  }
  p->c = sb_tensor_data(to);
  p->c_dtype = to->dtype;
  p->c_itemsize = sb_dtype_itemsize(to->dtype);
  p->m = to->shape[last - 1];
  p->n = to->shape[last] * p->parts;
  p->k = a->shape[last] * p->parts;
  p->c_row = to->strides[last - 1];
  p->c_column = to->strides[last];
}

/* A copy of the rows that loops read again and again, converted; they are few. */
static sb_status copy_rows(product *p, sb_tensor *copy) {
  int64_t shape[SB_MAX_DIMS + 2];
  sb_tensor from = {0};
  const int32_t n = p->batches;
  for (int32_t d = 0; d < n; d++) shape[d] = p->shape[d];
  shape[n] = p->m;
  shape[n + 1] = p->k;
  sb_status status = sb_tensor_empty(p->made, n + 2, shape, copy);
  if (status) return status;
  sb_tensor_copy_layout(copy, &from);
  int64_t batches = 1;
  for (int32_t d = 0; d < n; d++) batches *= shape[d];
  char *to = sb_tensor_data(copy);
  for (int64_t i = 0; i < batches; i++) {
    const char *at = p->a.data;
    int64_t rest = i;
    for (int32_t d = n - 1; d >= 0; rest /= shape[d], d--)
      at += rest % shape[d] * p->a.batch[d] * p->a.itemsize;
    stage(p, &p->a, at, p->m, p->k, true, to + i * p->m * p->k * p->itemsize);
  }
  p->a.data = to;
  p->a.dtype = p->made;
  p->a.itemsize = p->itemsize;
  p->a.is_direct = true;
  p->a.k = 1;
  p->a.line = p->k;
  for (int32_t d = 0; d < n; d++) p->a.batch[d] = copy->strides[d];
  return SB_OK;
}

static sb_status run_product(product *p, sb__matmul_type type) {
  sb_tensor copy = {0};
  const bool is_real = p->parts == 1;
  fold_batches(p);
  choose_loops(p, type);
  if (p->m == 1 && p->n == 1 && !p->batches && is_real && p->k >= 4 * SB__MATMUL_BLOCK)
    return run_long_dot(p);
  fold_dots(p);
  if (is_real && !p->a_each &&
      (p->n <= THIN ? p->m > THIN : p->m > THIN && p->c_column != 1 && p->c_row == 1))
    swap(p);
  choose_loops(p, type);
  p->is_thin = is_real && p->m <= THIN;
  p->is_along = p->a_each || distance(p->b.k) <= distance(p->b.line);
  p->is_c_direct = p->c_dtype == p->made && (p->c_column == 1 || p->n == p->parts);
  if (p->is_thin && !p->a_each && !(p->a.is_direct && p->a.k == 1)) {
    const sb_status status = copy_rows(p, &copy);
    if (status) return status;
  }
  const sb_status status = multiply(p);
  if (copy.storage) sb_tensor_release(&copy);
  return status;
}

static sb_status fill_zeros(const sb_tensor *to) {
  sb_tensor zero, all;
  sb_status status = sb_tensor_empty(to->dtype, 0, NULL, &zero);
  if (status) return status;
  memset(sb_tensor_data(&zero), 0, (size_t)sb_dtype_itemsize(to->dtype));
  status = sb_broadcast_to(&zero, to->ndim, to->shape, &all);
  if (!status) status = sb_copy(to, &all, SB_CASTING_SAFE, NULL);
  sb_tensor_release(&zero);
  return status;
}

static sb_status check_shapes(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b) {
  const int32_t n = to->ndim;
  bool fits = n >= 2 && a->ndim == n && b->ndim == n;
  for (int32_t d = 0; fits && d < n - 2; d++)
    fits = a->shape[d] == to->shape[d] && b->shape[d] == to->shape[d];
  fits = fits && a->shape[n - 2] == to->shape[n - 2] && b->shape[n - 1] == to->shape[n - 1] &&
         a->shape[n - 1] == b->shape[n - 2];
  char x[128], y[128];
  if (fits) return SB_OK;
  return sb__fail(SB_ERR_SHAPE, "matmul: %s and %s do not fit",
                  sb__shape_text(a->ndim, a->shape, x), sb__shape_text(b->ndim, b->shape, y));
}

sb_status sb__matmul(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b,
                     sb_casting casting, int64_t accuracy, bool is_conjugated, int64_t asked,
                     int64_t *staged) {
  product p = {0};
  const sb_tensor *from[2] = {a, b};
  sb_tensor copies[2] = {{0}, {0}};
  sb__matmul_type type = SB__MATMUL_f32;
  sb_dtype met;
  sb_status status = sb__product_dtype(a, b, asked, &met);
  if (!status) status = sb__check_cast(met, to->dtype, casting);
  if (!status) status = choose_dtype(&p, met, to->dtype, accuracy == SB__MATMUL_PRECISE, &type);
  if (!status) status = check_shapes(to, a, b);
  if (!status) status = sb__check_target(to);
  for (int i = 0; i < 2 && !status; i++) status = sb__check_bytes("the source", from[i]);
  if (status || !sb_tensor_numel(to)) return status;
  if (!a->shape[a->ndim - 1]) return fill_zeros(to);
  for (int i = 0; i < 2 && !status; i++) {
    if (!sb__may_overlap(to, from[i])) continue;
    const int64_t nbytes = sb_tensor_numel(from[i]) * sb_dtype_itemsize(from[i]->dtype);
    status = sb_tensor_empty(from[i]->dtype, from[i]->ndim, from[i]->shape, &copies[i]);
    if (!status) status = sb_copy(&copies[i], from[i], SB_CASTING_SAFE, NULL);
    if (!status) *staged += nbytes;
    from[i] = &copies[i];
  }
  if (!status) {
    read_operands(&p, to, from[0], from[1]);
    p.is_conjugated = is_conjugated && p.parts == 2;
    p.is_fused = accuracy == SB__MATMUL_FAST;
    status = run_product(&p, type);
  }
  for (int i = 0; i < 2; i++)
    if (copies[i].storage) sb_tensor_release(&copies[i]);
  return status;
}
