/* Walks over operands of any layout in tiles: boxes of a few thousand elements. Where an operand's elements lie side by side in
 * the tile, the loop reads or writes them where they are; else the core's copies, which know layouts, gather them first into
 * memory of this thread, or put the result in place, and convert on the way. Each element is computed from its own sources alone, so the
 * bits depend on no layout, and on no number of threads. */
#include <string.h>

#include "math/math.h"

#define SCRATCH_BYTES 49152 /* of a part: its tiles of operands that are gathered */
#define REPEATED_BYTES 8192 /* of an element that is repeated: they stay in the first cache */
#define LONG_ROW 4096       /* elements of one that is not cut for others */
#define LINE 64             /* bytes of a cache line */
#define SIDE 64             /* elements of a tile's row where an operand is transposed */
/* Side by side, else an operand is gathered: a loop's call costs as much as some elements, and what is left behind its last whole vector of
 * the narrowest operand is computed one by one. */
#define LEAST_RUN 32
#define LEAST_RUN_BYTES 128
#define FEW 1024            /* elements of a box that are moved before the core has planned it */
#define PART_COST (1 << 16) /* additions that are worth a part */

/* One operand's share of a tile. */
typedef struct side {
  bool is_direct, is_constant; /* constant: gathered, as far as a loop goes at once */
  int64_t size, from_size;     /* bytes of an element as the loop has it, and in the tensor */
  int64_t room;                /* bytes of what is gathered */
} side;

typedef struct walk {
  const sb__math_work *work;
  sb__plan plan;               /* dimensions merged */
  int32_t ndim;                /* of plan.outer */
  int64_t extent[SB_MAX_DIMS]; /* of plan.outer */
  bool in_rows;                /* tiles are within rows */
  int64_t least_run;           /* elements side by side that are not gathered */
  int64_t tile_bytes;          /* that each operand may take */
  int64_t piece;               /* elements of a loop at most */
  int64_t chunk[SB_MAX_DIMS];  /* elements of a tile along each */
  int32_t split;               /* dimension whose indices threads share */
  int32_t parts; /* of its indices, whole tiles each, so that no two threads share one */
  side side[SB__MATH_OPERANDS];
} walk;

/* What a part has gathered of one operand. */
typedef struct gathered {
  const char *from; /* NULL: nothing yet */
  int64_t n[SB_MAX_DIMS];
} gathered;

typedef struct part {
  int64_t first, end; /* along `split` */
  gathered gathered[SB__MATH_OPERANDS];
} part;

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most_of(int64_t a, int64_t b) { return a > b ? a : b; }

/* How many elements lie side by side, of a tile with these extents. */
static int64_t run_of(const walk *w, int32_t k, const int64_t *n) {
  int64_t run = 1;
  for (int32_t d = w->ndim - 1; d >= 0; d--) {
    if (n[d] == 1) continue;
    if (w->plan.outer[d].step[k] != run * w->side[k].from_size) return run;
    run *= n[d];
  }
  return run;
}

/* Bytes between neighbours along a dimension, in the operand that has them nearest. Operands that are constant along rows do not count: lines
 * are read once in any order. */
static int64_t nearest(const walk *w, int32_t d) {
  const sb__plan_dim *dim = &w->plan.outer[d], *last = &w->plan.outer[w->ndim - 1];
  int64_t found = INT64_MAX;
  for (int32_t k = 0; k < w->work->count; k++)
    if (dim->step[k] && last->step[k]) found = least(found, sb__absolute(dim->step[k]));
  return found;
}

/* Chooses how large tiles are along each dimension: first along those whose elements share cache lines in any operand, so that lines are
 * read once, and written once. */
static void choose_chunks(walk *w, int64_t most) {
  int64_t step[SB_MAX_DIMS], size = 1;
  int64_t others = 1; /* elements of dimensions that share lines and have no chunk yet */
  for (int32_t d = 0; d < w->ndim; d++) size *= w->chunk[d] = w->extent[d];
  if (w->in_rows) {
    for (int32_t d = 0; d < w->ndim - 1; d++) w->chunk[d] = 1;
    w->chunk[w->ndim - 1] = least(w->extent[w->ndim - 1], most);
    return;
  }
  if (size <= most) return;
  size = 1;
  for (int32_t d = 0; d < w->ndim; d++) {
    step[d] = nearest(w, d);
    if (step[d] < LINE) others *= w->plan.outer[d].n;
  }
  for (int32_t i = 0; i < w->ndim; i++) {
    int32_t d = w->ndim - 1;
    for (int32_t e = d; e >= 0; e--)
      if (step[e] < step[d]) d = e;
    const int64_t n = w->plan.outer[d].n, left = most / size;
    if (step[d] < LINE) others /= n;
    int64_t chunk = others > 1 ? least(left, most_of(SIDE, left / others)) : left;
    if (chunk > SIDE) chunk -= chunk % 16;
    if (n <= least(left, chunk + chunk / 2)) chunk = n;
    w->chunk[d] = least(n, chunk);
    step[d] = INT64_MAX;
    size *= w->chunk[d];
  }
}

static bool is_direct(const walk *w, int32_t k, int64_t run, int64_t numel) {
  return w->work->dtype[k] == w->work->tensor[k]->dtype && run >= least(w->least_run, numel);
}

/* Is operand k the same element along the whole of a box? */
static bool is_constant(const walk *w, int32_t k, const int64_t *n) {
  for (int32_t d = 0; d < w->ndim; d++)
    if (n[d] > 1 && w->plan.outer[d].step[k]) return false;
  return true;
}

/* Are rows long and side by side, or an element that is repeated, not the same one in all of them? */
static bool has_long_rows(const walk *w) {
  bool differ = false;
  if (w->ndim < 2 || w->extent[w->ndim - 1] < LONG_ROW) return false;
  const sb__plan_dim *row = &w->plan.outer[w->ndim - 1];
  for (int32_t k = 0; k < w->work->count; k++) {
    const bool is_converted = w->work->dtype[k] != w->work->tensor[k]->dtype;
    if (row->step[k] && (is_converted || row->step[k] != w->side[k].from_size)) return false;
    if (!row->step[k] && !is_constant(w, k, w->extent)) differ = true;
  }
  return differ;
}

/* Room for a tile of each operand that is gathered. Which ones are depends on how rows are cut, so this is a guess: choose_sides tells. */
static int64_t tile_bytes(const walk *w) {
  int64_t numel = 1, count = 0, constants = 0;
  for (int32_t d = 0; d < w->ndim; d++) numel *= w->extent[d];
  for (int32_t k = 0; k < w->work->count; k++) {
    const bool repeated =
        is_constant(w, k, w->extent) || (w->in_rows && !w->plan.outer[w->ndim - 1].step[k]);
    if (repeated)
      constants++;
    else
      count += !is_direct(w, k, run_of(w, k, w->extent), numel);
  }
  return count ? SCRATCH_BYTES / (count + constants) / LINE * LINE : SCRATCH_BYTES;
}

/* Which operands are not gathered. Returns bytes of the tiles of all others. */
static int64_t choose_sides(walk *w) {
  int64_t tile = 1, nbytes = 0;
  for (int32_t d = 0; d < w->ndim; d++) tile *= w->chunk[d];
  w->piece = tile;
  for (int32_t k = 0; k < w->work->count; k++) {
    side *s = &w->side[k];
    s->is_direct = is_direct(w, k, run_of(w, k, w->chunk), tile);
    s->is_constant = !s->is_direct && is_constant(w, k, w->chunk);
    s->room = s->is_direct ? 0 : s->is_constant ? REPEATED_BYTES : w->tile_bytes;
    if (s->is_constant) w->piece = least(w->piece, REPEATED_BYTES / s->size);
    nbytes += s->room;
  }
  return nbytes;
}

static void choose_tiles(walk *w, int64_t nbytes) {
  int64_t widest = 1;
  for (int32_t k = 0; k < w->work->count; k++) widest = most_of(widest, w->side[k].size);
  w->tile_bytes = nbytes;
  choose_chunks(w, nbytes / widest);
}

/* The tile of operand k as a tensor of its own, or dense memory of its shape. */
static void describe(const walk *w, const int64_t *n, int32_t k, bool dense, sb_dtype dtype,
                     sb_tensor *out) {
  int64_t stride = 1;
  out->dtype = dtype;
  out->ndim = w->ndim;
  for (int32_t d = w->ndim - 1; d >= 0; d--) {
    out->shape[d] = n[d];
    out->strides[d] = dense ? stride : w->plan.outer[d].step[k] / w->side[k].from_size;
    stride *= n[d];
  }
}

void sb__math_dense_steps(int64_t size, int32_t ndim, const int64_t *n, int64_t *steps) {
  for (int32_t d = ndim - 1; d >= 0; size *= n[d--]) steps[d] = size;
}

/* Is a box moved one by one? The core's copies are for rows side by side, for large boxes, and for what is converted. */
static bool is_moved_each(const walk *w, const int64_t *n, int32_t k) {
  int64_t numel = 1;
  for (int32_t d = 0; d < w->ndim; d++) numel *= n[d];
  return numel <= FEW && w->work->dtype[k] == w->work->tensor[k]->dtype &&
         run_of(w, k, n) * w->side[k].size < 64;
}

/* Copies a tile between its place and memory of this thread. */
static void move_tile(const walk *w, const int64_t *n, int32_t k, char *place, char *memory,
                      bool writes) {
  sb_tensor there, here;
  sb__plan plan;
  if (is_moved_each(w, n, k)) {
    const int64_t size = w->side[k].size;
    int64_t steps[SB_MAX_DIMS], dense[SB_MAX_DIMS];
    for (int32_t d = 0; d < w->ndim; d++) steps[d] = w->plan.outer[d].step[k];
    sb__math_dense_steps(size, w->ndim, n, dense);
    if (writes)
      sb__move_few(size, w->ndim, n, steps, dense, place, memory);
    else
      sb__move_few(size, w->ndim, n, dense, steps, memory, place);
    return;
  }
  const sb_dtype dtype = w->work->tensor[k]->dtype, used = w->work->dtype[k];
  describe(w, n, k, false, dtype, &there);
  describe(w, n, k, true, used, &here);
  const sb_tensor *tensors[] = {writes ? &there : &here, writes ? &here : &there};
  const sb__job job = {.plan = &plan,
                       .base = {writes ? place : memory, writes ? memory : place},
                       .to = tensors[0]->dtype,
                       .from = tensors[1]->dtype};
  sb__plan_make(2, tensors, false, &plan);
  sb__run_job(&job);
}

/* Gathers a source's tile, unless it is the one that is there. */
static void gather(const walk *w, gathered *g, const int64_t *n, int32_t k, const char *place,
                   char *memory) {
  const side *s = &w->side[k];
  int64_t one[SB_MAX_DIMS];
  const size_t nbytes = (size_t)w->ndim * sizeof *n;
  if (g->from == place && (s->is_constant || !memcmp(g->n, n, nbytes))) return;
  g->from = place;
  memcpy(g->n, n, nbytes);
  for (int32_t d = 0; d < w->ndim; d++) one[d] = 1;
  move_tile(w, s->is_constant ? one : n, k, (char *)(uintptr_t)place, memory, false);
  if (s->is_constant) sb__repeat(memory, memory, s->size, w->piece);
}

/* Calls the loop for elements that lie side by side, where an operand is constant. */
static void run_pieces(const walk *w, char *const now[], int64_t run) {
  for (int64_t first = 0; first < run; first += w->piece) {
    char *at[SB__MATH_OPERANDS] = {NULL};
    for (int32_t k = 0; k < w->work->count; k++)
      at[k] = now[k] + (w->side[k].is_constant ? 0 : first * w->side[k].size);
    const char *const from[] = {at[1], at[2], at[3]};
    w->work->loop(at[0], from, least(w->piece, run - first));
  }
}

/* Calls the loop for each stretch that lies side by side in all operands. */
static void run_loop(const walk *w, const int64_t *n, char *const at[]) {
  const int32_t count = w->work->count;
  int64_t index[SB_MAX_DIMS], run = 1;
  char *now[SB__MATH_OPERANDS];
  int32_t outside = w->ndim; /* dimensions that are walked over */
  for (int32_t d = w->ndim - 1; d >= 0; d--) {
    bool goes_on = true;
    for (int32_t k = 0; k < count; k++)
      if (w->side[k].is_direct && n[d] > 1 &&
          w->plan.outer[d].step[k] != run * w->side[k].from_size)
        goes_on = false;
    if (!goes_on) break;
    run *= n[d];
    outside = d;
  }
  for (int32_t d = 0; d < outside; d++) index[d] = 0;
  for (int32_t k = 0; k < count; k++) now[k] = at[k];
  for (;;) {
    const char *const from[] = {now[1], count > 2 ? now[2] : NULL, count > 3 ? now[3] : NULL};
    if (run <= w->piece)
      w->work->loop(now[0], from, run);
    else
      run_pieces(w, now, run);
    int32_t d = outside - 1;
    for (int32_t k = 0; k < count; k++)
      if (!w->side[k].is_direct && !w->side[k].is_constant) now[k] += run * w->side[k].size;
    for (; d >= 0; d--) {
      const bool more = ++index[d] < n[d];
      for (int32_t k = 0; k < count; k++)
        if (w->side[k].is_direct)
          now[k] += more ? w->plan.outer[d].step[k] : -(n[d] - 1) * w->plan.outer[d].step[k];
      if (more) break;
      index[d] = 0;
    }
    if (d < 0) return;
  }
}

static void run_tile(const walk *w, part *p, const int64_t *n, char *const place[],
                     char *const memory[]) {
  char *at[SB__MATH_OPERANDS];
  for (int32_t k = 0; k < w->work->count; k++) {
    at[k] = w->side[k].is_direct ? place[k] : memory[k];
    if (k && !w->side[k].is_direct) gather(w, &p->gathered[k], n, k, place[k], memory[k]);
  }
  run_loop(w, n, at);
  if (!w->side[0].is_direct) move_tile(w, n, 0, place[0], memory[0], true);
}

/* All tiles of one part. */
static void run_tiles(const walk *w, part *p) {
  char memory[SCRATCH_BYTES] __attribute__((aligned(64)));
  char *place[SB__MATH_OPERANDS], *at[SB__MATH_OPERANDS], *room = memory;
  int64_t index[SB_MAX_DIMS], n[SB_MAX_DIMS];
  for (int32_t k = 0; k < w->work->count; k++) {
    p->gathered[k].from = NULL;
    at[k] = room;
    room += w->side[k].room;
    place[k] = (char *)sb_tensor_data(w->work->tensor[k]) + w->plan.first[k];
    if (w->ndim) place[k] += p->first * w->plan.outer[w->split].step[k];
  }
  for (int32_t d = 0; d < w->ndim; d++) index[d] = d == w->split ? p->first : 0;
  for (;;) {
    for (int32_t d = 0; d < w->ndim; d++) {
      const int64_t end = d == w->split ? p->end : w->plan.outer[d].n;
      n[d] = least(w->chunk[d], end - index[d]);
    }
    run_tile(w, p, n, place, at);
    int32_t d = w->ndim - 1;
    for (; d >= 0; d--) {
      const int64_t begin = d == w->split ? p->first : 0;
      const int64_t end = d == w->split ? p->end : w->plan.outer[d].n;
      const int64_t next = index[d] + w->chunk[d];
      const int64_t goes = next < end ? w->chunk[d] : begin - index[d];
      for (int32_t k = 0; k < w->work->count; k++) place[k] += goes * w->plan.outer[d].step[k];
      index[d] += goes;
      if (next < end) break;
    }
    if (d < 0) return;
  }
}

static void run_part(void *context, int i) {
  const walk *w = context;
  part mine;
  mine.first = mine.end = 0;
  if (w->ndim) {
    const int64_t n = w->plan.outer[w->split].n, chunk = w->chunk[w->split];
    const int64_t chunks = (n + chunk - 1) / chunk;
    mine.first = chunks * i / w->parts * chunk;
    mine.end = least(chunks * (i + 1) / w->parts * chunk, n);
    if (mine.first >= mine.end) return;
  }
  const uint32_t mode = sb__float_mode_default();
  run_tiles(w, &mine);
  sb__float_mode_restore(mode);
}

/* Dimensions that are long are shared between threads, the outermost of them. */
static int32_t split_of(const walk *w) {
  int32_t best = 0;
  int64_t most = 0;
  for (int32_t d = 0; d < w->ndim; d++) {
    const int64_t chunks = (w->plan.outer[d].n + w->chunk[d] - 1) / w->chunk[d];
    if (chunks > most) best = d, most = chunks;
  }
  return best;
}

void sb__math_run(const sb__math_work *work) {
  walk w;
  w.work = work;
  w.least_run = LEAST_RUN;
  for (int32_t k = 0; k < work->count; k++) {
    w.side[k].size = sb_dtype_itemsize(work->dtype[k]);
    w.side[k].from_size = sb_dtype_itemsize(work->tensor[k]->dtype);
    w.least_run = most_of(w.least_run, LEAST_RUN_BYTES / w.side[k].size);
  }
  sb__plan_merge(work->count, work->tensor, false, &w.plan);
  w.ndim = w.plan.ndim;
  for (int32_t d = 0; d < w.ndim; d++) w.extent[d] = w.plan.outer[d].n;
  w.in_rows = has_long_rows(&w);
  choose_tiles(&w, tile_bytes(&w));
  if (choose_sides(&w) > SCRATCH_BYTES) {
    choose_tiles(&w, SCRATCH_BYTES / SB__MATH_OPERANDS);
    choose_sides(&w);
  }
  w.split = split_of(&w);
  w.parts = sb__parts_worth(sb_tensor_numel(work->tensor[0]) / (PART_COST / work->cost));
  sb__parallel(w.parts, run_part, &w);
}
