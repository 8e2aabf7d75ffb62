/* The loops of a copy. Each moves pieces that fit the first-level cache into the target's order, converts them, and
 * stores them row by row: with non-temporal stores, which bypass the caches, where the copy is large. */
#include "ops/copy_loops.h"

#include <string.h>

#include "kernels/function.h"

static void convert_by_forms(const sb__runner *r, char *to, int64_t to_step, const char *from,
                             int64_t from_step, int64_t n, sb__factors f) {
  sb__chunk chunk;
  for (int64_t i = 0; i < n; i += SB__CHUNK) {
    const int64_t count = n - i < SB__CHUNK ? n - i : SB__CHUNK;
    sb__form form = sb__load(r->job->from, &chunk, from + i * from_step, from_step, count);
    if (f.scale) {
      sb__scale_chunk(&chunk, form, count, r->single, f.scale + i * f.scale_step, f.scale_step,
                      f.bias + i * f.bias_step, f.bias_step);
      form = SB__FORM_REAL;
    }
    sb__store(r->job->to, to + i * to_step, to_step, form, &chunk, count);
  }
}

static void scale_each(const sb__runner *r, float *x, int64_t n, sb__factors f) {
  float scale[SB__PIECE_ELEMENTS], bias[SB__PIECE_ELEMENTS];
  for (int64_t i = 0; i < n; i++) {
    scale[i] = (float)sb__factor_at(f.scale + i * f.scale_step);
    bias[i] = (float)sb__factor_at(f.bias + i * f.bias_step);
  }
  r->kernels->scale_each(x, n, scale, bias);
}

static void scale_by_one(const sb__runner *r, float *to, const char *from, int64_t n,
                         sb__factors f) {
  float scratch[SB__PIECE_ELEMENTS] __attribute__((aligned(64)));
  sb__scaled_cast cast = r->kernels->scaled_from[r->job->from];
  if (!cast) {
    r->load((char *)scratch, from, n);
    from = (const char *)scratch;
    cast = r->kernels->scaled_from[SB_FLOAT32];
  }
  cast(to, from, n, (float)sb__factor_at(f.scale), (float)sb__factor_at(f.bias));
}

/* At most SB__PIECE_ELEMENTS elements, side by side. */
void sb__convert(const sb__runner *r, char *to, const char *from, int64_t n, sb__factors f) {
  float scratch[SB__PIECE_ELEMENTS] __attribute__((aligned(64)));
  if (r->forms) {
    convert_by_forms(r, to, r->to_size, from, r->from_size, n, f);
    return;
  }
  if (r->direct) {
    r->direct(to, from, n);
    return;
  }
  float *x = r->store ? scratch : (float *)(void *)to;
  if (f.scale && f.scale_step == 0 && f.bias_step == 0) {
    scale_by_one(r, x, from, n, f);
  } else {
    if (r->load)
      r->load((char *)x, from, n);
    else
      memcpy(x, from, (size_t)n * sizeof *x);
    if (f.floats)
      r->kernels->scale_each(x, n, (const float *)(const void *)f.scale,
                             (const float *)(const void *)f.bias);
    else if (f.scale)
      scale_each(r, x, n, f);
  }
  if (r->store) r->store(to, (const char *)x, n);
}

/* The length of the next piece, at most `most`. Pieces end at the end of a cache line of the target, so that whole lines
 * are stored. */
static int64_t piece_elements(const char *to, int64_t itemsize, int64_t most, int64_t left) {
  const int64_t n = most - (int64_t)((uintptr_t)to & 63u) / itemsize;
  return n < left ? n : left;
}

static sb__factors factors_after(sb__factors f, int64_t n) {
  f.scale += n * f.scale_step;
  f.bias += n * f.bias_step;
  return f;
}

/* Casts whole lines straight from registers. Returns how many elements that were; 0: no such loop, or the target is not
 * aligned. */
static int64_t store_lines_nontemporal(const sb__runner *r, char *to, const char *from, int64_t n,
                                       sb__factors f) {
  const int64_t count = n / (64 / r->to_size) * (64 / r->to_size);
  if (((uintptr_t)to & 63u) || !count || f.scale_step || f.bias_step) return 0;
  if (r->nontemporal)
    r->nontemporal(to, from, count);
  else if (r->nontemporal_scaled)
    r->nontemporal_scaled((float *)(void *)to, from, count, (float)sb__factor_at(f.scale),
                          (float)sb__factor_at(f.bias));
  else
    return 0;
  return count;
}

/* scratch: of SB__PIECE_BYTES */
static void store_row_nontemporal(const sb__runner *r, char *to, const char *from, int64_t n,
                                  sb__factors f, char *scratch) {
  while (n > 0) {
    int64_t count = store_lines_nontemporal(r, to, from, n, f);
    if (!count) {
      count = piece_elements(to, r->to_size, sb__piece_of(r), n);
      sb__convert(r, scratch, from, count, f);
      r->kernels->stream(to, scratch, count * r->to_size);
    }
    to += count * r->to_size;
    from += count * r->from_size;
    f = factors_after(f, count);
    n -= count;
  }
}

/* Converts a row without a scratch buffer. False: there is no such loop. Scaled rows in WebAssembly gain nothing by it. */
static bool convert_row_directly(const sb__runner *r, char *to, const char *from, int64_t n,
                                 sb__factors f) {
  if (r->job->in_place) return false;
  if (r->direct) {
    r->direct(to, from, n);
    return true;
  }
  if (!SB__CAN_STREAM || !r->job->scaled || r->forms || r->store || f.scale_step || f.bias_step)
    return false;
  const sb__scaled_cast cast = r->kernels->scaled_from[r->job->from];
  if (!cast) return false;
  cast((float *)(void *)to, from, n, (float)sb__factor_at(f.scale), (float)sb__factor_at(f.bias));
  return true;
}

void sb__store_row(const sb__runner *r, char *to, const char *from, int64_t n, sb__factors f) {
  char scratch[SB__PIECE_BYTES] __attribute__((aligned(64)));
  if (!r->converts) {
    if (sb__streams(r))
      r->kernels->stream(to, from, n * r->to_size);
    else
      memcpy(to, from, (size_t)(n * r->to_size));
    return;
  }
  if (sb__streams(r)) {
    store_row_nontemporal(r, to, from, n, f, scratch);
    return;
  }
  if (convert_row_directly(r, to, from, n, f)) return;
  while (n > 0) {
    const int64_t count = piece_elements(to, r->to_size, sb__piece_of(r), n);
    sb__convert(r, r->job->in_place ? scratch : to, from, count, f);
    if (r->job->in_place) memcpy(to, scratch, (size_t)(count * r->to_size));
    to += count * r->to_size;
    from += count * r->from_size;
    f = factors_after(f, count);
    n -= count;
  }
}

/* Two moves that overlap: the first and the last `part` bytes of each run. Inlined with a constant part. */
SB_INLINE void move_in_parts(char *to, int64_t to_step, const char *from, int64_t from_step,
                             int64_t n, int64_t nbytes, size_t part) {
  const int64_t last = nbytes - (int64_t)part;
  for (int64_t i = 0; i < n; i++, to += to_step, from += from_step) {
    char head[32], tail[32];
    memcpy(head, from, part);
    memcpy(tail, from + last, part);
    memcpy(to, head, part);
    memcpy(to + last, tail, part);
  }
}

void sb__move_runs(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                   int64_t nbytes) {
  if (nbytes <= 16 && (nbytes & (nbytes - 1)) == 0)
    sb__copy_items(to, to_step, from, from_step, n, nbytes);
  else if (nbytes < 4)
    move_in_parts(to, to_step, from, from_step, n, nbytes, 2);
  else if (nbytes < 8)
    move_in_parts(to, to_step, from, from_step, n, nbytes, 4);
  else if (nbytes < 16)
    move_in_parts(to, to_step, from, from_step, n, nbytes, 8);
  else if (nbytes <= 32)
    move_in_parts(to, to_step, from, from_step, n, nbytes, 16);
  else if (nbytes <= 64)
    move_in_parts(to, to_step, from, from_step, n, nbytes, 32);
  else
    for (int64_t i = 0; i < n; i++) memcpy(to + i * to_step, from + i * from_step, (size_t)nbytes);
}

/* Short rows that are side by side in the target: non-temporal stores of a few lines each would wait for one another. */
static void stream_short_rows(const sb__runner *r, char *to, const char *from) {
  char rows[8192] __attribute__((aligned(64)));
  const sb__plan_dim *column = &r->plan->column;
  const int64_t nbytes = column->step[0], most = (int64_t)sizeof rows / nbytes;
  for (int64_t c = 0; c < column->n; c += most) {
    const int64_t n = sb__least(most, column->n - c);
    sb__move_runs(rows, nbytes, from + c * column->step[1], column->step[1], n, nbytes);
    r->kernels->stream(to + c * nbytes, rows, n * nbytes);
  }
}

void sb__copy_rows(const sb__runner *r, char *const at[]) {
  const sb__plan_dim *row = &r->plan->row, *column = &r->plan->column;
  const int64_t nbytes = row->n * r->to_size;
  if (sb__streams(r) && !r->converts && 2 * nbytes < SB__STREAMED_ROW_BYTES &&
      column->step[0] == nbytes) {
    stream_short_rows(r, at[0], at[1]);
    return;
  }
  if (!r->converts && !sb__streams(r)) {
    sb__move_runs(at[0], column->step[0], at[1], column->step[1], column->n, nbytes);
    return;
  }
  sb__factors f = sb__factors_at(r, at, row);
  for (int64_t c = 0; c < column->n; c++) {
    sb__store_row(r, at[0] + c * column->step[0], at[1] + c * column->step[1], row->n, f);
    f.scale += column->step[2];
    f.bias += column->step[3];
  }
}
