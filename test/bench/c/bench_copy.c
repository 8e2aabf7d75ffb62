/* How fast the copy engine is, against the better of memcpy and a non-temporal copy of as many bytes.
 *
 *   gcc -O3 -std=gnu11 -ffp-contract=off -Isrc test/bench/c/bench_copy.c src/core/[a-z]*.c src/ops/[a-z]*.c \
 *     src/kernels/[a-z]*.c src/platform/{native,posix,linux}_*.c -lm -lpthread -o bench_copy && SAMEBYTES_THREADS=1 ./bench_copy
 *
 * A row and its peer run in turns; the ratio is that of the medians. Arguments: words that a row's name
 * has to contain, and the number of rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/core.h"
#include "kernels/kernels.h"

#define MOST_ROUNDS 101

static char *to, *from;
static const char *wanted;
static int rounds = 15;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *x) {
  qsort(x, (size_t)rounds, sizeof *x, by_value);
  return x[rounds / 2];
}

static void check(sb_status status) {
  if (!status) return;
  printf("%s\n", sb_error_message());
  exit(1);
}

typedef struct row {
  const char *name;
  double goal;
  sb_tensor dst, src, scale, bias;
  int64_t axis;
  enum { COPY, SCALED, FILL } what;
} row;

static void run(const row *r) {
  const sb_scalar value = {.kind = SB_SCALAR_REAL, .as.real = 1.5};
  if (r->what == FILL) check(sb_fill(&r->dst, &value));
  else if (r->what == COPY) check(sb_copy(&r->dst, &r->src, SB_CASTING_SAME_KIND, NULL));
  else check(sb_copy_scaled(&r->dst, &r->src, &r->scale, &r->bias, r->axis, SB_CASTING_SAME_KIND, NULL));
}

/* Seconds for moving nbytes in all, read and written. */
static double peer(int which, int64_t nbytes) {
  const size_t half = (size_t)nbytes / 2 / 64 * 64;
  const double start = seconds();
  if (which == 0) memcpy(to, from, half);
  else if (which == 1 && sb__kernels_now()->stream) sb__kernels_now()->stream(to, from, (int64_t)half);
  else if (which == 2) memset(to, 0x3f, (size_t)nbytes);
  else return 1e9;
  return seconds() - start;
}

static double timed(const row *r) {
  const double start = seconds();
  run(r);
  return seconds() - start;
}

/* The same memory for all, as some pages are faster than others, and each run after one of its kind:
 * what memcpy leaves in the caches has to be written back by the next. */
static void measure(const row *r) {
  double own[MOST_ROUNDS], peers[2][MOST_ROUNDS];
  if (wanted && !strstr(r->name, wanted)) return;
  const int64_t nbytes = sb_tensor_nbytes(&r->dst) + (r->what == FILL ? 0 : sb_tensor_nbytes(&r->src));
  run(r);
  for (int i = 0; i < rounds; i++) {
    peers[0][i] = peer(r->what == FILL ? 2 : 0, nbytes);
    run(r);
    peers[1][i] = peer(r->what == FILL ? 2 : 1, nbytes);
    own[i] = timed(r);
  }
  const double mine = median(own), a = median(peers[0]), b = median(peers[1]), best = a < b ? a : b;
  printf("%-48s %6.2f GB/s  peer %6.2f  ratio %5.2f  goal %.2f%s\n", r->name, 1e-9 * (double)nbytes / mine,
         1e-9 * (double)nbytes / best, best / mine, r->goal, best / mine < r->goal ? "  <" : "");
  fflush(stdout);
}

static sb_storage to_bytes, from_bytes, factors;
static double factor_values[8] = {0.25, 0.5, 0.125, 1, -1, 0.5, 2, 3};

static sb_tensor dense(sb_storage *storage, sb_dtype dtype, int32_t ndim, const int64_t *shape) {
  sb_tensor t;
  check(sb_tensor_init(storage, dtype, ndim, shape, NULL, 0, &t));
  return t;
}

static void line(const char *name, double goal, sb_dtype a, sb_dtype b, int64_t n) {
  row r = {.name = name, .goal = goal};
  r.dst = dense(&to_bytes, b, 1, &n);
  r.src = dense(&from_bytes, a, 1, &n);
  measure(&r);
}

/* What is read has this shape; what is written is dense, in this order of its axes. */
static void permuted(const char *name, double goal, sb_dtype a, sb_dtype b, int32_t ndim, const int64_t *shape,
                     const int64_t *order, bool scaled) {
  row r = {.name = name, .goal = goal, .what = scaled ? SCALED : COPY, .axis = 1};
  const int64_t three = 3;
  r.src = dense(&from_bytes, a, ndim, shape);
  check(sb_permute(&r.src, ndim, order, &r.src));
  r.dst = dense(&to_bytes, b, ndim, r.src.shape);
  r.scale = dense(&factors, SB_FLOAT64, 1, &three);
  r.bias = r.scale;
  r.bias.offset = 3;
  measure(&r);
}

/* What a call costs beside memcpy. */
static void small(int64_t nbytes) {
  enum { CALLS = 20000 };
  double own[MOST_ROUNDS], peers[MOST_ROUNDS];
  void *(*volatile copy)(void *, const void *, size_t) = memcpy;
  char name[64];
  snprintf(name, sizeof name, "small: %d bytes", (int)nbytes);
  if (wanted && !strstr(name, wanted)) return;
  const sb_tensor dst = dense(&to_bytes, SB_UINT8, 1, &nbytes), src = dense(&from_bytes, SB_UINT8, 1, &nbytes);
  for (int i = 0; i < rounds; i++) {
    double start = seconds();
    for (int k = 0; k < CALLS; k++) copy(to, from, (size_t)nbytes);
    peers[i] = (seconds() - start) / CALLS;
    start = seconds();
    for (int k = 0; k < CALLS; k++) check(sb_copy(&dst, &src, SB_CASTING_SAFE, NULL));
    own[i] = (seconds() - start) / CALLS;
  }
  const double mine = median(own), best = median(peers);
  printf("%-48s %6.1f ns    memcpy %6.1f ns  overhead %5.1f ns  goal 100%s\n", name, 1e9 * mine, 1e9 * best,
         1e9 * (mine - best), mine - best > 100e-9 ? "  <" : "");
}

#define SHAPE(...) ((const int64_t[]){__VA_ARGS__})

int main(int argc, char **argv) {
  const size_t most = 208u << 20;
  if (argc > 1) wanted = argv[1];
  if (argc > 2) rounds = atoi(argv[2]) < MOST_ROUNDS ? atoi(argv[2]) : MOST_ROUNDS;
  to = aligned_alloc(4096, most);
  from = aligned_alloc(4096, most);
  if (!to || !from) return 1;
  sb__os_expect_use(to, most);
  sb__os_expect_use(from, most);
  for (size_t i = 0; i < most; i++) from[i] = (char)(i * 2654435761u >> 21 & 0x3f);
  memset(to, 1, most);
  sb__storage_borrow(to, most, &to_bytes);
  sb__storage_borrow(from, most, &from_bytes);
  sb__storage_borrow(factor_values, sizeof factor_values, &factors);
  printf("level %s, medians of %d rounds; bytes read + written\n", sb__kernels_now()->level, rounds);

  const int64_t mebi = 1 << 20;
  line("contiguous, 64 MiB", 0.95, SB_UINT8, SB_UINT8, 64 * mebi);
  permuted("transpose 4096 x 4096, float32", 0.70, SB_FLOAT32, SB_FLOAT32, 2, SHAPE(4096, 4096), SHAPE(1, 0), false);
  permuted("transpose 4096 x 4096, uint8", 0.45, SB_UINT8, SB_UINT8, 2, SHAPE(4096, 4096), SHAPE(1, 0), false);
  permuted("transpose 4096 x 4096, int16", 0.60, SB_INT16, SB_INT16, 2, SHAPE(4096, 4096), SHAPE(1, 0), false);
  permuted("transpose 4096 x 4096, float64", 0.70, SB_FLOAT64, SB_FLOAT64, 2, SHAPE(4096, 4096), SHAPE(1, 0), false);
  permuted("transpose 2048 x 2048, complex128", 0, SB_COMPLEX128, SB_COMPLEX128, 2, SHAPE(2048, 2048), SHAPE(1, 0), false);
  permuted("transpose 4001 x 4003, float32", 0, SB_FLOAT32, SB_FLOAT32, 2, SHAPE(4001, 4003), SHAPE(1, 0), false);
  permuted("NHWC > NCHW, 8 x 1080 x 1920 x 3, uint8", 0.60, SB_UINT8, SB_UINT8, 4, SHAPE(8, 1080, 1920, 3), SHAPE(0, 3, 1, 2), false);
  permuted("NCHW > NHWC, 8 x 3 x 1080 x 1920, uint8", 0, SB_UINT8, SB_UINT8, 4, SHAPE(8, 3, 1080, 1920), SHAPE(0, 2, 3, 1), false);
  permuted("NHWC > NCHW, uint8 > float32", 0.85, SB_UINT8, SB_FLOAT32, 4, SHAPE(8, 1080, 1920, 3), SHAPE(0, 3, 1, 2), false);
  permuted("NHWC > NCHW, uint8 > float32, scale and bias", 0.80, SB_UINT8, SB_FLOAT32, 4, SHAPE(8, 1080, 1920, 3), SHAPE(0, 3, 1, 2), true);
  permuted("permute (3,1,0,2) of 64 x 48 x 40 x 36, float32", 0.50, SB_FLOAT32, SB_FLOAT32, 4, SHAPE(64, 48, 40, 36), SHAPE(3, 1, 0, 2), false);
  line("float32 > float64, 16 Mi", 0.90, SB_FLOAT32, SB_FLOAT64, 16 * mebi);
  line("float64 > float32, 16 Mi", 0.90, SB_FLOAT64, SB_FLOAT32, 16 * mebi);
  line("float32 > float16, 16 Mi", 0.90, SB_FLOAT32, SB_FLOAT16, 16 * mebi);
  line("float16 > float32, 16 Mi", 0.90, SB_FLOAT16, SB_FLOAT32, 16 * mebi);
  line("float32 > bfloat16, 16 Mi", 0.90, SB_FLOAT32, SB_BFLOAT16, 16 * mebi);
  line("bfloat16 > float32, 16 Mi", 0.90, SB_BFLOAT16, SB_FLOAT32, 16 * mebi);
  line("uint8 > float32, 16 Mi", 0, SB_UINT8, SB_FLOAT32, 16 * mebi);
  line("int32 > float32, 16 Mi", 0, SB_INT32, SB_FLOAT32, 16 * mebi);
  line("int64 > int32, 8 Mi", 0, SB_INT64, SB_INT32, 8 * mebi);
  {
    row r = {.name = "fill, 64 MiB, float32", .goal = 0.95, .what = FILL};
    const int64_t n = 16 * mebi;
    r.dst = dense(&to_bytes, SB_FLOAT32, 1, &n);
    measure(&r);
  }
  small(16);
  small(256);
  small(4096);
  return 0;
}
