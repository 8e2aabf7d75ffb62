/* Runs plans: chooses the loops, splits the work between threads, and walks the outer dimensions. */
#include "ops/copy_plan_run.h"

#include <string.h>

#include "ops/copy_loops.h"
#include "ops/move_few.h"
#include "ops/parallel.h"

/* From these sizes on, of both sides together, stores are non-temporal: the caches could not hold them anyway. */
#ifdef SB_TEST
# define STREAM_FROM_BYTES 4096 /* so that tests need no large tensors */
# define STREAM_FILL_FROM_BYTES 4096
# define PATTERN_BYTES 256
#else
# define STREAM_FROM_BYTES (INT64_C(32) << 20)
# define STREAM_FILL_FROM_BYTES (INT64_C(64) << 20) /* a large third-level cache may hold less */
# define PATTERN_BYTES 4096                         /* repeated in a buffer, then stored from it */
#endif

/* A cast by way of float32 rounds only once. */
static bool passes_float32(sb_dtype from, sb_dtype to) {
  return sb_can_cast(from, SB_FLOAT32, SB_CASTING_SAFE) &&
         (sb_dtype_kind(to) == SB_FLOATING || to == SB_BOOL || sb_dtype_kind(from) == SB_FLOATING ||
          sb_can_cast(from, to, SB_CASTING_SAFE));
}

static void choose_loops(sb__runner *r) {
  const sb_dtype from = r->job->from, to = r->job->to;
  const bool scaled = r->job->scaled;
  r->load = r->kernels->f32_from[from];
  r->store = r->kernels->from_f32[to];
  const sb__nontemporal_casts *casts = SB__CAN_STREAM ? r->kernels->nontemporal : NULL;
  const bool once = to == SB_FLOAT32 || passes_float32(from, to) || scaled;
  if (r->kernels->direct) {
    if (!scaled) r->direct = (*r->kernels->direct)[from][to];
    if (!r->store) r->store = (*r->kernels->direct)[SB_FLOAT32][to];
  }
  if (r->direct) {
    if (casts && to == SB_FLOAT64) r->nontemporal = casts->f64_from[from];
    return;
  }
  const bool has_load = r->load || from == SB_FLOAT32, has_store = r->store || to == SB_FLOAT32;
  r->forms = !has_load || !has_store || !once || (scaled && !r->single);
  if (!r->forms && !scaled && !(r->load && r->store)) r->direct = r->load ? r->load : r->store;
  if (!casts || r->forms) return;
  if (scaled)
    r->nontemporal_scaled = to == SB_FLOAT32 ? casts->scaled_from[from] : NULL;
  else if (r->direct)
    r->nontemporal = r->load ? casts->f32_from[from] : casts->from_f32[to];
}

bool sb__computes_in_float64(sb_dtype dtype) {
  return dtype == SB_FLOAT64 || dtype == SB_INT64 || dtype == SB_UINT64;
}

static __attribute__((noinline)) sb__runner runner_of(const sb__job *job) {
  sb__runner r = {.job = job, .plan = job->plan, .kernels = sb__kernels_now()};
  r.to_size = sb_dtype_itemsize(job->to);
  r.from_size = sb_dtype_itemsize(job->from);
  r.converts = job->to != job->from || job->scaled;
  r.single = !sb__computes_in_float64(job->to) && !sb__computes_in_float64(job->from);
  if (r.converts) choose_loops(&r);
  return r;
}

typedef struct shared_job {
  const sb__runner *runner;
  int count;
} shared_job;

static void run_part(void *context, int i) {
  static void (*const loops[])(const sb__runner *, char *const[]) = {
      [SB__PLAN_ROWS] = sb__copy_rows,
      [SB__PLAN_TRANSPOSE] = sb__copy_transpose,
      [SB__PLAN_BLOCKS] = sb__copy_blocks,
  };
  const shared_job *shared = context;
  sb__runner r = *shared->runner;
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
  if (sb__streams(&r)) r.kernels->stream_end();
  sb__float_mode_restore(mode);
}

static bool is_large(const sb__runner *r, int64_t nbytes) {
  int64_t low, high;
  sb__plan_range(r->plan, 1, r->from_size, &low, &high);
  return nbytes + high - low >= STREAM_FROM_BYTES;
}

/* Do non-temporal stores gain? What is converted they take from registers, or from a buffer; measured: the latter gains only
 * where the source is in the caches, as what is transposed or gathered, or small. */
static bool gains_by_streaming(const sb__runner *r) {
  const sb__blocks *b = r->blocks;
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  if (r->job->in_place) return false; /* the caches have the target */
  if (b) return b->to_dense && !(r->converts && b->from_dense && r->from_size >= r->to_size);
  if (r->plan->kind != SB__PLAN_ROWS) return true;
  const int64_t nbytes = row->n * r->to_size;
  const bool together =
      column->step[0] == nbytes && 2 * column->n * nbytes >= SB__STREAMED_ROW_BYTES;
  if (!together && nbytes < SB__STREAMED_ROW_BYTES) return false;
  return !r->converts || r->nontemporal || (r->nontemporal_scaled && !sb__varies(row));
}

void sb__run_job(const sb__job *job) {
  const sb__plan *plan = job->plan;
  sb__blocks blocks;
  if (job->in_place && job->to == job->from && !job->scaled) return; /* nothing would change */
  sb__runner r = runner_of(job);
  const int64_t nbytes = sb__plan_numel(plan) * r.to_size;
  r.streams = SB__CAN_STREAM && r.kernels->stream && is_large(&r, nbytes);
  if (plan->kind == SB__PLAN_BLOCKS) {
    sb__blocks_make(&r, &blocks);
    r.blocks = &blocks;
  }
  r.streams = SB__CAN_STREAM && r.streams && gains_by_streaming(&r);
  const int parts = sb__parts_for(nbytes);
  sb__parallel(parts, run_part, &(shared_job){&r, parts});
}

typedef struct byte_job {
  char *to;
  const char *from;
  int64_t nbytes, each;       /* each: bytes of a part */
  const sb__kernels *streams; /* NULL: ordinary stores */
} byte_job;

static void run_bytes_part(void *context, int i) {
  const byte_job *job = context;
  const int64_t at = i * job->each;
  if (at >= job->nbytes) return;
  const int64_t nbytes = sb__least(job->each, job->nbytes - at);
  if (!job->streams) {
    memcpy(job->to + at, job->from + at, (size_t)nbytes);
    return;
  }
  job->streams->stream(job->to + at, job->from + at, nbytes);
  job->streams->stream_end();
}

void sb__run_bytes(char *to, const char *from, int64_t nbytes) {
  const int parts = sb__parts_for(nbytes);
  const sb__kernels *kernels =
      SB__CAN_STREAM && 2 * nbytes >= STREAM_FROM_BYTES ? sb__kernels_now() : NULL;
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
  bool uniform; /* all bytes of the pattern are equal: memset */
  bool streams;
  int count;
} fill_job;

static void stream_fill(char *to, const char *pattern, int64_t nbytes) {
  char repeated[PATTERN_BYTES + 16] __attribute__((aligned(64)));
  const sb__kernels *kernels = sb__kernels_now();
  const int64_t head =
      sb__least((int64_t)(-(uintptr_t)to & 63u), nbytes); /* bytes before the first whole line */
  kernels->fill(repeated, pattern, sizeof repeated);
  memcpy(to, repeated, (size_t)head);
  for (int64_t i = head; i < nbytes; i += PATTERN_BYTES)
    kernels->stream(to + i, repeated + head % 16, sb__least(PATTERN_BYTES, nbytes - i));
}

static void fill_row(const fill_job *job, char *to, const sb__plan_dim *row) {
  const int64_t nbytes = row->n * job->itemsize;
  if (row->step[0] != job->itemsize)
    sb__fill_items(to, row->step[0], job->pattern, row->n, job->itemsize);
  else if (SB__CAN_STREAM && job->streams && nbytes >= 16 * PATTERN_BYTES)
    stream_fill(to, job->pattern, nbytes);
  else if (job->uniform)
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
  if (SB__CAN_STREAM && job->streams) sb__kernels_now()->stream_end();
}

void sb__run_fill(const sb_tensor *t, const char *item) {
  sb__plan plan;
  char pattern[16];
  const int64_t itemsize = sb_dtype_itemsize(t->dtype);
  sb__repeat(pattern, item, itemsize, 16 / itemsize);
  const int64_t nbytes = sb_tensor_nbytes(t);
  const int parts = sb__parts_for(nbytes);
  fill_job job = {.plan = &plan,
                  .base = sb_tensor_data(t),
                  .pattern = pattern,
                  .itemsize = itemsize,
                  .uniform = !memcmp(pattern, pattern + 1, 15),
                  .count = parts};
  job.streams = SB__CAN_STREAM && nbytes >= STREAM_FILL_FROM_BYTES && sb__kernels_now()->stream;
  if (parts == 1 && !job.streams && sb_is_contiguous(t)) { /* small fills are frequent: no plan */
    const sb__plan_dim row = {.n = sb_tensor_numel(t), .step = {itemsize}};
    fill_row(&job, job.base, &row);
    return;
  }
  sb__plan_make(1, &t, false, &plan);
  sb__parallel(parts, run_fill_part, &job);
}
