/* Copies rows of blocks: pixels, small matrices, columns of a table, every second element. A piece of a row is gathered into
 * the target's order, converted as one run, and stored; steps that a layout does not need are left out. Bytes are moved
 *
 *   by windows   whole blocks within 64 bytes on either side, where the level permutes so many (kernels->permute)
 *   by shuffles  a table says which source vectors make up each 16 bytes of the target (kernels->shuffle)
 *   by runs      elements that lie side by side on both sides, by few wide moves
 *   by repeats   a row whose blocks are all the same */
#include "ops/copy_loops.h"
#include "ops/move_few.h"

#include <math.h>
#include <string.h>

#include "kernels/function.h"

#define CACHED_BYTES 16384 /* of either side that a piece walks over several times */
#define FEW_PLANES 4       /* gathered together */
#define LONG_ROW_BYTES 256 /* that vectors repeat faster */
#define LINE_BYTES 64      /* that the caches hold for a small block, however far from others */
#define LEAST_RUNS 4       /* for fewer, a window takes longer than moving each */

#ifdef SB_TEST
# define LEAST_TILES 0 /* so that tests need no large tensors */
#else
# define LEAST_TILES 32 /* for fewer, making the table takes longer than moving each run */
#endif

/* One side of a move: bytes from block to block, and from a block's first element to each; NULL: they lie side by side. */
typedef struct side {
  int64_t step;
  const int64_t *offsets;
} side;

static int64_t offset_of(side s, int64_t i, int64_t size) {
  return s.offsets ? s.offsets[i] : i * size;
}

#ifdef __clang__
# define ROLLED _Pragma("clang loop unroll(disable)")
#else
# define ROLLED _Pragma("GCC unroll 1")
#endif

/* Inlined with a constant size. */
SB_INLINE void move_each(char *to, side t, const char *from, side f, int64_t n, int64_t numel,
                         size_t size) {
  for (; n > 0; n--, to += t.step, from += f.step)
    ROLLED for (int64_t i = 0; i < numel; i++)
        memcpy(to + (t.offsets ? t.offsets[i] : i * (int64_t)size),
               from + (f.offsets ? f.offsets[i] : i * (int64_t)size), size);
}

/* Block by block: for fewer blocks than they have elements. */
static void move_few_blocks(char *to, side t, const char *from, side f, int64_t n, int64_t numel,
                            int64_t size) {
  switch (size) {
    case 1: move_each(to, t, from, f, n, numel, 1); break;
    case 2: move_each(to, t, from, f, n, numel, 2); break;
    case 4: move_each(to, t, from, f, n, numel, 4); break;
    case 8: move_each(to, t, from, f, n, numel, 8); break;
    default: move_each(to, t, from, f, n, numel, 16); break;
  }
}

/* run: how many elements lie side by side on both sides. */
static void move_blocks(char *to, side t, const char *from, side f, int64_t n, int64_t numel,
                        int64_t size, int64_t run) {
  if (run == 1 && numel > n) {
    move_few_blocks(to, t, from, f, n, numel, size);
    return;
  }
  for (int64_t i = 0; i < numel; i += run)
    sb__move_runs(to + offset_of(t, i, size), t.step, from + offset_of(f, i, size), f.step, n,
                  run * size);
}

/* ---- Windows ---- */

/* Moves n blocks. False: they are too few for a window. */
static bool move_windows(const sb__runner *r, const sb__windows *w, char *to, int64_t to_step,
                         const char *from, int64_t from_step, int64_t n) {
  if (!SB__CAN_PERMUTE || !w->each || n < w->each) return false;
  const int64_t last = n - w->each; /* overlaps the one before, which has the same bytes there */
  to += w->to;
  from += w->from;
  r->kernels->permute(to, w->each * to_step, from, w->each * from_step, n / w->each, &w->bytes);
  if (n % w->each)
    r->kernels->permute(to + last * to_step, 0, from + last * from_step, 0, 1, &w->bytes);
  return true;
}

/* The bytes that a block takes on one side: where they begin, and how many. */
typedef struct extent {
  int64_t low, nbytes;
} extent;

static extent extent_of(side s, int64_t numel, int64_t size) {
  int64_t low = 0, high = 0;
  for (int64_t i = 0; i < numel; i++) {
    const int64_t at = offset_of(s, i, size);
    if (at < low) low = at;
    if (at > high) high = at;
  }
  return (extent){low, high - low + size};
}

/* How many of blocks with that step fit a window. */
static int64_t blocks_within(extent e, int64_t step, int64_t most) {
  if (e.nbytes > SB__PERMUTED_BYTES) return 0;
  if (most < 2) return most; /* a row of one has no step */
  const int64_t apart = sb__absolute(step), count = 1 + (SB__PERMUTED_BYTES - e.nbytes) / apart;
  return count < most ? count : most;
}

/* Makes windows of n blocks; run: elements that lie side by side on both sides. */
SB_COLD void make_windows(const sb__runner *r, sb__windows *w, side t, side f, int64_t n,
                          int64_t numel, int64_t size, int64_t run) {
  w->each = 0;
  if (!SB__CAN_PERMUTE || !r->kernels->permute) return;
  const extent to = extent_of(t, numel, size), from = extent_of(f, numel, size);
  const int64_t each = blocks_within(from, f.step, blocks_within(to, t.step, n));
  if (each * numel < LEAST_RUNS * run) return;
  w->to = to.low + (t.step < 0 ? (each - 1) * t.step : 0);
  w->from = from.low + (f.step < 0 ? (each - 1) * f.step : 0);
  w->bytes = (sb__permutation){.reads = 0};
  for (int64_t b = 0; b < each; b++) {
    for (int64_t i = 0; i < numel; i++) {
      const int64_t to_byte = b * t.step + offset_of(t, i, size) - w->to;
      const int64_t from_byte = b * f.step + offset_of(f, i, size) - w->from;
      for (int64_t k = 0; k < size; k++) {
        w->bytes.index[to_byte + k] = (uint8_t)(from_byte + k);
        w->bytes.writes |= UINT64_C(1) << (to_byte + k);
        w->bytes.reads |= UINT64_C(1) << (from_byte + k);
      }
    }
  }
  w->each = each;
}

/* ---- Scattering ---- */

/* Stores n blocks that lie side by side. */
static void scatter(const sb__runner *r, char *to, const char *from, int64_t n) {
  const sb__blocks *b = r->blocks;
  const side t = {r->plan->row.step[0], b->to}, f = {b->numel * r->to_size, NULL};
  if (move_windows(r, &b->scattered, to, t.step, from, f.step, n)) return;
  move_blocks(to, t, from, f, n, b->numel, r->to_size, b->to_run);
}

/* ---- Gathering ---- */

/* Does the tile whose source begins at `from` read nothing beyond the source? */
static bool may_shuffle(const sb__blocks *b, const char *from) {
  return from + b->least >= b->low && from + b->most <= b->high;
}

/* Repeats the first n bytes up to nbytes. */
static void repeat(const sb__runner *r, char *to, int64_t n, int64_t nbytes) {
  if (n <= 16 && (n & (n - 1)) == 0) {
    char pattern[16];
    sb__repeat(pattern, to, n, 16 / n);
    r->kernels->fill(to, pattern, nbytes);
    return;
  }
  while (n < nbytes) {
    const int64_t count = sb__least(sb__least(n, SB__PIECE_BYTES), nbytes - n);
    memcpy(to + n, to, (size_t)count);
    n += count;
  }
}

/* Gathers n blocks of one plane, element by element or run by run. */
static void gather_plainly(const sb__runner *r, char *to, const char *from, int64_t n) {
  const sb__blocks *b = r->blocks;
  const int64_t size = r->from_size, step = r->plan->row.step[1], block = b->numel * size;
  const side t = {block, NULL}, f = {step, b->from};
  move_blocks(to, t, from, f, step ? n : 1, b->numel, size, b->from_run);
  if (step == 0) repeat(r, to, block, n * block);
}

/* Moves as many of n blocks of each plane as a table may, from `first` to `last`, side by side. */
static void move_tiles(const sb__runner *r, char *to, int64_t plane_step, const char *from,
                       int64_t n, int64_t *first, int64_t *last) {
  const sb__blocks *b = r->blocks;
  const int64_t step = r->plan->row.step[1], each = b->blocks_per_tile;
  const int64_t block = b->numel * (b->floats ? r->to_size : r->from_size);
  const int64_t vector_step = b->planes > 1 ? plane_step : 16;
  int64_t begin = 0, end = each ? n / each : 0;
  while (begin < end && !may_shuffle(b, from + begin * each * step)) begin++;
  while (begin < end && !may_shuffle(b, from + (end - 1) * each * step)) end--;
  *first = begin * each;
  *last = end * each;
  if (begin == end) return;
  void (*const move)(char *, int64_t, int64_t, const char *, int64_t, int64_t,
                     const sb__shuffles *) =
      b->floats ? r->kernels->shuffle_floats : r->kernels->shuffle;
  move(to + *first * block, each * block, vector_step, from + *first * step, each * step,
       end - begin, &b->shuffles);
  if (*last == n || !may_shuffle(b, from + (n - each) * step)) return;
  move(to + (n - each) * block, 0, vector_step, from + (n - each) * step, 0, 1, &b->shuffles);
  *last = n; /* it overlapped the last one */
}

/* Gathers n blocks of each plane, side by side. */
static void gather(const sb__runner *r, char *to, int64_t plane_step, const char *from, int64_t n) {
  const sb__blocks *b = r->blocks;
  const int64_t step = r->plan->row.step[1], block = b->numel * r->from_size;
  int64_t first = 0, last = 0;
  if (move_windows(r, &b->gathered, to, block, from, step, n)) return;
  if (!b->floats) move_tiles(r, to, plane_step, from, n, &first, &last);
  for (int64_t p = 0; p < b->planes && last - first < n; p++) {
    char *plane = to + p * plane_step;
    const char *source = from + p * r->plan->column.step[1];
    if (first) gather_plainly(r, plane, source, first);
    if (last < n) gather_plainly(r, plane + last * block, source + last * step, n - last);
  }
}

/* ---- Factors ---- */

/* Writes the factors of n blocks, one for each element. */
static void write_factors(const sb__runner *r, const sb__blocks *b, sb__factors f, int64_t n,
                          sb__pattern *out) {
  const sb__plan_dim *row = &r->plan->row;
  const int64_t others = sb__varies(row) ? n : 1; /* blocks until factors are repeated */
  const int64_t size = r->forms ? sizeof out->both[0][0] : sizeof out->single[0][0];
  int64_t at = 0;
  for (int64_t i = 0; i < others; i++) {
    for (int64_t k = 0; k < b->numel; k++, at++) {
      const double scale = sb__factor_at(f.scale + i * row->step[2] + b->factors[0][k]);
      const double bias = sb__factor_at(f.bias + i * row->step[3] + b->factors[1][k]);
      if (!r->forms) {
        out->single[0][at] = (float)scale;
        out->single[1][at] = (float)bias;
      } else {
        out->both[0][at] = scale;
        out->both[1][at] = bias;
      }
    }
  }
  for (int32_t i = 0; i < 2 && others < n; i++)
    repeat(r, r->forms ? (char *)out->both[i] : (char *)out->single[i], at * size,
           n * b->numel * size);
}

static sb__factors factors_of(const sb__runner *r, const sb__pattern *p) {
  if (!r->forms)
    return (sb__factors){(const char *)p->single[0], (const char *)p->single[1], 4, 4, true};
  return (sb__factors){(const char *)p->both[0], (const char *)p->both[1], 8, 8, false};
}

/* ---- Pieces ---- */

/* Converts n blocks that lie side by side, and stores them. */
static __attribute__((noinline)) void convert_piece(const sb__runner *r, char *to, const char *from,
                                                    int64_t n, sb__factors f) {
  char converted[SB__PIECE_BYTES] __attribute__((aligned(64)));
  const sb__blocks *b = r->blocks;
  sb__pattern pattern;
  if (b->factors_by == SB__FACTORS_WHOLE) {
    f = factors_of(r, &b->pattern);
  } else if (b->factors_by == SB__FACTORS_PIECE) {
    write_factors(r, b, f, n, &pattern);
    f = factors_of(r, &pattern);
  }
  if (b->to_dense) {
    sb__store_row(r, to, from, n * b->numel, f);
    return;
  }
  sb__convert(r, converted, from, n * b->numel, f);
  scatter(r, to, converted, n);
}

/* Copies n blocks of each plane. */
static void copy_piece(const sb__runner *r, char *to, const char *from, int64_t n, sb__factors f) {
  char gathered[SB__PIECE_BYTES] __attribute__((aligned(64)));
  const sb__blocks *b = r->blocks;
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  if (!r->converts && !b->to_dense) {
    if (move_windows(r, &b->gathered, to, row->step[0], from, row->step[1], n)) return;
    if (b->blocks_per_tile) {
      gather(r, gathered, 0, from, n);
      scatter(r, to, gathered, n);
    } else {
      move_blocks(to, (side){row->step[0], b->to}, from, (side){row->step[1], b->from}, n, b->numel,
                  r->to_size, b->run);
    }
    return;
  }
  int64_t plane_step = column->step[1];
  if (!b->from_dense) {
    plane_step = n * b->numel * r->from_size;
    gather(r, gathered, plane_step, from, n);
    from = gathered;
  }
  for (int64_t p = 0; p < b->planes; p++) {
    convert_piece(r, to + p * column->step[0], from + p * plane_step, n, f);
    f.scale += column->step[2];
    f.bias += column->step[3];
  }
}

/* Copies n blocks that a table which converts has left, a few at a time, so that they fit the buffers. Factors are the same in
 * each. */
static void copy_few(const sb__runner *r, char *to, const char *from, int64_t n, sb__factors f) {
  enum { FEW = SB__PIECE_ELEMENTS / SB__PLAN_BLOCK / 2 };
  const sb__plan_dim *row = &r->plan->row;
  for (int64_t i = 0; i < n; i += FEW)
    copy_piece(r, to + i * row->step[0], from + i * row->step[1], sb__least(FEW, n - i), f);
}

/* Copies bytes that become floats: straight into the target's planes, or by way of a buffer. */
static void copy_floats(const sb__runner *r, char *to, const char *from, int64_t n, sb__factors f) {
  char floats[SB__PIECE_BYTES] __attribute__((aligned(64)));
  const sb__blocks *b = r->blocks;
  const sb__plan_dim *row = &r->plan->row;
  const bool direct = b->to_dense && !sb__streams(r);
  const int64_t block = b->numel * r->to_size;
  int64_t first = 0, last = 0;
  move_tiles(r, direct ? to : floats, r->plan->column.step[0], from, n, &first, &last);
  if (!direct && first < last) {
    char *at = to + first * row->step[0];
    if (sb__streams(r))
      r->kernels->stream(at, floats + first * block, (last - first) * block);
    else
      scatter(r, at, floats + first * block, last - first);
  }
  copy_few(r, to, from, first, f);
  copy_few(r, to + last * row->step[0], from + last * row->step[1], n - last, f);
}

#ifndef __wasm__
/* In 16 bytes at a time, then 8, then items. TIMES repeats an item by a product. */
# define REPEAT_ROWS(TYPE, TIMES)                                                          \
  for (int64_t i = 0; i < n; i++, to += to_step, from += from_step) {                      \
   TYPE x;                                                                                 \
   uint64_t pair[2];                                                                       \
   memcpy(&x, from, sizeof x);                                                             \
   pair[0] = pair[1] = x * UINT64_C(TIMES);                                                \
   int64_t k = 0;                                                                          \
   for (; k + 16 <= nbytes; k += 16) memcpy(to + k, pair, 16);                             \
   if (nbytes & 8) memcpy(to + (nbytes & -16), pair, 8);                                   \
   for (k = nbytes & -8; k < nbytes; k += (int64_t)sizeof x) memcpy(to + k, &x, sizeof x); \
  }

/* Writes n rows of nbytes, in each an element of a row again and again. */
static void repeat_rows(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                        int64_t nbytes, int64_t size) {
  switch (size) {
    case 1: REPEAT_ROWS(uint8_t, 0x0101010101010101) break;
    case 2: REPEAT_ROWS(uint16_t, 0x0001000100010001) break;
    case 4: REPEAT_ROWS(uint32_t, 0x0000000100000001) break;
    case 8: REPEAT_ROWS(uint64_t, 1) break;
    default:
      for (int64_t i = 0; i < n; i++)
        sb__repeat(to + i * to_step, from + i * from_step, size, nbytes / size);
  }
}
#endif

/* Rows of blocks that are moved as they are, each of one run or of one element again and again. */
static void copy_plainly(const sb__runner *r, char *to, const char *from) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t nbytes = r->blocks->numel * r->to_size;
#ifndef __wasm__
  if (row->step[1] == 0 && row->n * nbytes < LONG_ROW_BYTES) {
    repeat_rows(to, column->step[0], from, column->step[1], column->n, row->n * nbytes, nbytes);
    return;
  }
#endif
  for (int64_t c = 0; c < column->n; c++, to += column->step[0], from += column->step[1]) {
    if (row->step[1])
      sb__move_runs(to, row->step[0], from, row->step[1], row->n, nbytes);
    else
      sb__repeat(to, from, nbytes, row->n);
  }
}

void sb__copy_blocks(const sb__runner *r, char *const at[]) {
  void (*const copy)(const sb__runner *, char *, const char *, int64_t, sb__factors) =
      r->blocks->floats ? copy_floats : copy_piece;
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t planes = r->blocks->planes;
  const bool gathers = !r->converts && r->blocks->to_dense; /* nothing but that */
  if (r->blocks->is_plain && !sb__streams(r)) {
    copy_plainly(r, at[0], at[1]);
    return;
  }
  for (int64_t i = 0; i < row->n; i += r->blocks->piece) {
    const int64_t n = sb__least(r->blocks->piece, row->n - i);
    for (int64_t c = 0; c < column->n; c += planes) {
      char *to = at[0] + i * row->step[0] + c * column->step[0];
      const char *from = at[1] + i * row->step[1] + c * column->step[1];
      if (gathers && !sb__streams(r)) {
        gather(r, to, column->step[0], from, n);
        continue;
      }
      sb__factors f = sb__factors_at(r, at, row);
      f.scale += i * row->step[2] + c * column->step[2];
      f.bias += i * row->step[3] + c * column->step[3];
      copy(r, to, from, n, f);
    }
  }
}

/* ---- Preparing ---- */

static int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }

/* The offsets of a block's elements for one operand. */
static void list_offsets(const sb__plan *plan, int32_t operand, int64_t *offsets) {
  int64_t numel = 1;
  offsets[0] = 0;
  for (int32_t d = plan->ninner - 1; d >= 0; d--) {
    const int64_t n = plan->inner[d].n, step = plan->inner[d].step[operand];
    for (int64_t at = numel; at < n * numel; at++) offsets[at] = offsets[at - numel] + step;
    numel *= n;
  }
}

/* How many elements of a block lie side by side for an operand, at least: the product of its innermost dimensions that go on
 * where the ones inside of them end. */
static int64_t run_of(const sb__plan *plan, int32_t operand, int64_t size) {
  int64_t run = 1;
  for (int32_t d = plan->ninner - 1; d >= 0; d--) {
    if (plan->inner[d].step[operand] != run * size) break;
    run *= plan->inner[d].n;
  }
  return run;
}

enum { TILE_ITEMS = 384, FARTHEST = 1 << 30 };

/* A tile's items in the target's order: bytes from its first source byte. */
typedef struct tile {
  int32_t offset[TILE_ITEMS];
  int32_t count, items, size; /* in all, of a vector, bytes of one */
  int32_t high;               /* the end of the last byte that it reads */
} tile;

/* The chunks of 16 bytes that a vector, or all of them, are made of: bytes from the tile's first source byte. */
typedef struct chunks {
  int32_t at[SB__MOST_LOADS];
  int32_t count; /* above SB__MOST_LOADS: too many */
} chunks;

/* Covers items begin to end by chunks, each from the first byte on that is not covered yet. */
static chunks find_chunks(const tile *t, int32_t begin, int32_t end) {
  chunks w = {.count = 0};
  int32_t least = -FARTHEST; /* offset of an item that is not covered */
  for (;;) {
    uint32_t next = UINT32_MAX; /* what lies before `least` wraps around */
    for (int32_t i = begin; i < end; i++) {
      const uint32_t ahead = (uint32_t)t->offset[i] - (uint32_t)least;
      next = ahead < next ? ahead : next;
    }
    if (next > INT32_MAX || w.count++ == SB__MOST_LOADS) return w;
    least += (int32_t)next;
    if (least > t->high - 16) least = t->high - 16;
    w.at[w.count - 1] = least;
    least += 17 - t->size;
  }
}

/* Writes the loads and masks of a vector, whose items begin at `begin`. Bytes that two chunks have are taken from both. */
static void add_vector(sb__shuffles *s, const tile *t, int32_t begin, const chunks *w) {
  int64_t *offset = s->offset + s->vectors * s->loads;
  uint8_t(*mask)[16] = s->mask + s->vectors * s->loads;
  const int32_t apart = 16 / t->items;
  int32_t from[16];
  for (int32_t i = 0; i < 16; i++) from[i] = FARTHEST; /* zero */
  for (int32_t byte = 0; byte < t->size; byte++)
    for (int32_t i = 0; i < t->items; i++) from[apart * i + byte] = t->offset[begin + i] + byte;
  for (int32_t k = 0; k < s->loads; k++) {
    const int32_t chunk = w->at[k < w->count ? k : 0];
    offset[k] = chunk;
    for (int32_t i = 0; i < 16; i++) {
      const uint32_t byte = (uint32_t)(from[i] - chunk);
      mask[k][i] = (uint8_t)(byte < 16 ? byte : 0x80);
    }
  }
  s->vectors++;
}

/* Lists a tile's items; as many blocks as fill whole vectors, of all planes. False: too many, or too far apart. */
static bool list_items(const sb__runner *r, sb__blocks *b, tile *t) {
  const sb__plan_dim *row = &r->plan->row;
  const int64_t size = r->from_size, items = b->floats ? 4 : 16 / size; /* of a vector */
  const int64_t power = b->numel & -b->numel; /* the greatest power of two that divides it */
  const int64_t whole =
      row->step[1] == size ? items : 1; /* blocks whose items fill a vector of the source */
  const int64_t each = greatest(power < items ? items / power : 1, whole);
  const int64_t count = each * b->numel * b->planes;
  /* The last tile, which ends with the row, would do again most of what another has done. */
  const bool repeats_most = row->n > each && row->n < 2 * each;
  if (each > row->n || each > b->piece || count > TILE_ITEMS || repeats_most ||
      sb__plan_numel(r->plan) < LEAST_TILES * count * b->from_run)
    return false;
  int64_t low = 0, high = 16;
  int32_t n = 0;
  for (int64_t p = 0; p < b->planes; p++) {
    for (int64_t i = 0; i < each; i++) {
      const int64_t block = p * r->plan->column.step[1] + i * row->step[1];
      for (int64_t k = 0; k < b->numel; k++) {
        const int64_t at = block + b->from[k];
        if (at <= -FARTHEST / 2 || at >= FARTHEST / 2) return false;
        low = sb__least(low, at);
        high = greatest(high, at + size);
        t->offset[n++] = (int32_t)at;
      }
    }
  }
  t->items = (int32_t)items;
  t->size = (int32_t)size;
  t->count = n;
  t->high = (int32_t)greatest(high, low + 16);
  b->blocks_per_tile = each;
  b->least = low;
  b->most = t->high;
  return true;
}

/* Makes the table of a tile. False: none gains. */
static bool make_shuffles(const sb__runner *r, sb__blocks *b) {
  tile t;
  chunks all = {.count = 0}, of_vector[SB__MOST_SHUFFLES];
  sb__shuffles *s = &b->shuffles;
  const int64_t run = b->floats ? r->from_size : b->from_run * r->from_size;
  const int64_t step = sb__absolute(r->plan->row.step[1]);
  const int64_t loads = b->floats ? 1 : SB__MOST_LOADS, items = b->floats ? 4 : 16 / r->from_size;
  if (run >= 16 || (!b->floats && b->planes == 1 && b->from_run == b->numel && step + run > 16) ||
      (b->numel == 1 && items * step > loads * (16 + step)) || !list_items(r, b, &t))
    return false; /* a load for each run, or too many */
  const int32_t vectors = t.count / t.items;
  int32_t most = 0;
  if (vectors <= SB__MOST_LOADS) all = find_chunks(&t, 0, t.count);
  s->shared = b->floats
                  ? all.count == 1
                  : (all.count == vectors && vectors >= 2) || (all.count == 4 && vectors == 3);
  for (int32_t v = 0; v < vectors && !s->shared; v++) {
    of_vector[v] = find_chunks(&t, v * t.items, (v + 1) * t.items);
    if (of_vector[v].count > most) most = of_vector[v].count;
    if (most * run >= 16 && !b->floats) return false; /* a load for each run */
    if (most * vectors > (b->floats ? SB__MOST_VECTORS : SB__MOST_SHUFFLES)) return false;
  }
  if (SB__CAN_STREAM) s->overlaps = !r->streams;
  s->loads = s->shared ? all.count : most;
  s->vectors = 0;
  if (s->loads > loads) return false;
  for (int32_t v = 0; v < vectors; v++)
    add_vector(s, &t, v * t.items, s->shared ? &all : &of_vector[v]);
  return true;
}

/* Factors of a table that converts: the same in each tile, and finite. */
SB_COLD bool set_factors(const sb__runner *r, sb__blocks *b) {
  const sb__plan *plan = r->plan;
  const int64_t each = b->blocks_per_tile * b->numel;
  for (int64_t i = 0; i < 4 * b->shuffles.vectors; i++) {
    float scale = 1, bias = 0;
    if (r->job->scaled) {
      const int64_t p = i / each, k = i % each % b->numel;
      scale = (float)sb__factor_at(r->job->base[2] + plan->first[2] + p * plan->column.step[2] +
                                   b->factors[0][k]);
      bias = (float)sb__factor_at(r->job->base[3] + plan->first[3] + p * plan->column.step[3] +
                                  b->factors[1][k]);
    }
    if (!isfinite(scale) || !isfinite(bias)) return false;
    b->shuffles.scale[i / 4][i % 4] = scale;
    b->shuffles.bias[i / 4][i % 4] = bias;
  }
  return true;
}

/* Are bytes to become floats with factors that are the same in each tile? */
static bool wants_floats(const sb__runner *r, const sb__blocks *b) {
  const sb__plan *plan = r->plan;
  if (r->job->from != SB_UINT8 || r->job->to != SB_FLOAT32 || (b->planes > 1 && sb__streams(r)))
    return false;
  if (!r->job->scaled) return true;
  bool same =
      !sb__varies(&plan->row) && (b->planes == plan->column.n || !sb__varies(&plan->column));
  for (int32_t d = 0; d < plan->ndim; d++) same = same && !sb__varies(&plan->outer[d]);
  return same;
}

/* How many blocks a piece has. Where a piece is walked over once, and nothing is gathered or converted, it is the row. */
static int64_t piece_of(const sb__runner *r, const sb__blocks *b) {
  const sb__plan_dim *row = &r->plan->row;
  const int64_t block = greatest(b->numel * r->from_size, LINE_BYTES);
  const int64_t step =
      sb__least(greatest(sb__absolute(row->step[0]), sb__absolute(row->step[1])), block);
  int64_t piece = row->n;
  if ((b->numel > 1 || r->plan->column.n > 1) && step * piece > CACHED_BYTES)
    piece = CACHED_BYTES / step;
  if (b->floats && !(b->to_dense && !sb__streams(r))) {
    piece = sb__least(piece, SB__PIECE_BYTES / r->to_size / b->numel);
  } else if (!b->floats &&
             (r->converts || sb__streams(r) || (!b->to_dense && b->run < b->to_run))) {
    const int64_t size = b->to_dense ? r->from_size : greatest(r->to_size, r->from_size);
    int64_t elements = SB__PIECE_BYTES / b->planes / size;
    if (!b->to_dense || b->factors_by != SB__FACTORS_ROW)
      elements = sb__least(elements, r->forms ? SB__PIECE_ELEMENTS / 2 : SB__PIECE_ELEMENTS);
    piece = sb__least(piece, elements / b->numel);
  }
  return piece;
}

static void choose_factors(const sb__runner *r, sb__blocks *b) {
  const sb__plan *plan = r->plan;
  bool inside = false, outside = sb__varies(&plan->column);
  b->factors_by = SB__FACTORS_ROW;
  if (!r->job->scaled) return;
  list_offsets(plan, 2, b->factors[0]);
  list_offsets(plan, 3, b->factors[1]);
  for (int32_t d = 0; d < plan->ninner; d++) inside = inside || sb__varies(&plan->inner[d]);
  for (int32_t d = 0; d < plan->ndim; d++) outside = outside || sb__varies(&plan->outer[d]);
  if (!inside && !(sb__varies(&plan->row) && b->numel > 1)) return;
  b->factors_by = sb__varies(&plan->row) || outside ? SB__FACTORS_PIECE : SB__FACTORS_WHOLE;
}

/* Where nothing converts, gathered ones go to the target; gather() has those of a dense target alone. */
static void choose_windows(const sb__runner *r, sb__blocks *b) {
  const sb__plan_dim *row = &r->plan->row;
  const side to = {row->step[0], b->to}, from = {row->step[1], b->from};
  const side gathered = {b->numel * r->from_size, NULL}, converted = {b->numel * r->to_size, NULL};
  b->gathered.each = b->scattered.each = 0;
  if (b->planes == 1 && !b->floats && row->step[1] && !(r->converts && b->from_dense))
    make_windows(r, &b->gathered, r->converts ? gathered : to, from, b->piece, b->numel,
                 r->from_size, r->converts ? b->from_run : b->run);
  if (r->converts && !b->to_dense)
    make_windows(r, &b->scattered, to, converted, b->piece, b->numel, r->to_size, b->to_run);
}

void sb__blocks_make(const sb__runner *r, sb__blocks *b) {
  const sb__plan *plan = r->plan;
  int64_t low, high;
  b->numel = 1;
  for (int32_t d = 0; d < plan->ninner; d++) b->numel *= plan->inner[d].n;
  list_offsets(plan, 0, b->to);
  list_offsets(plan, 1, b->from);
  b->to_run = run_of(plan, 0, r->to_size);
  b->from_run = run_of(plan, 1, r->from_size);
  b->run = sb__least(b->to_run, b->from_run); /* of two such products one divides the other */
  b->to_dense = b->to_run == b->numel && plan->row.step[0] == b->numel * r->to_size;
  b->from_dense = b->from_run == b->numel && plan->row.step[1] == b->numel * r->from_size;
  b->planes = b->numel == 1 && plan->column.n <= FEW_PLANES && b->to_dense && plan->row.step[1]
                  ? plan->column.n
                  : 1;
  choose_factors(r, b);
  sb__plan_range(plan, 1, r->from_size, &low, &high);
  b->low = r->job->base[1] + plan->first[1] + low;
  b->high = r->job->base[1] + plan->first[1] + high;
  const bool gathers =
      !b->from_dense && plan->row.step[1] && (r->converts || b->to_dense || b->run < b->to_run);
  const bool tables = gathers && r->kernels->shuffle;
  b->floats = tables && wants_floats(r, b);
  b->piece = plan->row.n;
  b->floats = b->floats && make_shuffles(r, b) && set_factors(r, b);
  b->piece = piece_of(r, b);
  choose_windows(r, b);
  if (!b->floats && !(tables && !b->gathered.each && make_shuffles(r, b))) b->blocks_per_tile = 0;
  b->is_plain = !r->converts && !b->blocks_per_tile && !b->gathered.each && b->run == b->numel &&
                (plan->row.step[1] ? b->piece >= plan->row.n : b->to_dense && b->numel == 1);
  const int64_t together = b->blocks_per_tile ? b->blocks_per_tile : b->gathered.each;
  if (together && b->piece < plan->row.n) b->piece -= b->piece % together;
  if (b->factors_by == SB__FACTORS_WHOLE) {
    const sb__factors first = {r->job->base[2] + plan->first[2], r->job->base[3] + plan->first[3],
                               0, 0, false};
    write_factors(
        r, b, first,
        sb__least(b->piece, (r->forms ? SB__PIECE_ELEMENTS / 2 : SB__PIECE_ELEMENTS) / b->numel),
        &b->pattern);
  }
}
