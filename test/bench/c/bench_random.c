/* Speed of the random fills on one thread, in GB written per second, for each instruction set:
 * the median of rounds in which all of them take turns.
 *
 *   gcc -O3 -flto -std=gnu11 -ffp-contract=off -DSB_TEST -Isrc test/bench/c/bench_random.c \
 *     src/core/[a-z]*.c src/ops/[a-z]*.c src/kernels/[a-z]*.c src/platform/{native,posix,linux}_*.c -lm -o /tmp/bench_random
 *   /tmp/bench_random [MiB] [rounds] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "kernels/kernels.h"

enum { ROUNDS_MAX = 1000 };

static const struct {
  const char *name;
  sb__random how;
} rows[] = {
    {"uniform float32",
     {.draw = SB__DRAW_UNIFORM, .dtype = SB_FLOAT32, .words = 1, .as.uniform = {0, 1, 0.99999994}}},
    {"uniform float64",
     {.draw = SB__DRAW_UNIFORM, .dtype = SB_FLOAT64, .words = 2, .as.uniform = {0, 1, 0.9999999}}},
    {"uniform float16",
     {.draw = SB__DRAW_UNIFORM, .dtype = SB_FLOAT16, .words = 1, .as.uniform = {0, 1, 0.9995}}},
    {"normal float32",
     {.draw = SB__DRAW_NORMAL, .dtype = SB_FLOAT32, .words = 1, .as.normal = {0, 1}}},
    {"normal float64",
     {.draw = SB__DRAW_NORMAL, .dtype = SB_FLOAT64, .words = 2, .as.normal = {0, 1}}},
    {"normal bfloat16",
     {.draw = SB__DRAW_NORMAL, .dtype = SB_BFLOAT16, .words = 1, .as.normal = {0, 1}}},
    {"integer int32, 1000 values",
     {.draw = SB__DRAW_INTEGER, .dtype = SB_INT32, .words = 1, .as.integer = {0, 1000, 296}}},
    {"integer int64, 2^40 values",
     {.draw = SB__DRAW_INTEGER, .dtype = SB_INT64, .words = 2, .as.integer = {0, 1ull << 40, 0}}},
};
enum { ROWS = sizeof rows / sizeof *rows, LEVELS = 3 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  static double seconds[ROWS][LEVELS][ROUNDS_MAX];
  const long nbytes = (argc > 1 ? atol(argv[1]) : 16) << 20;
  const int rounds = argc > 2 && atoi(argv[2]) < ROUNDS_MAX ? atoi(argv[2]) : 15;
  const sb__kernels *all[SB__MOST_LEVELS];
  const int levels = sb__kernels_all(all);
  char *to = aligned_alloc(64, (size_t)nbytes);
  if (!to) return 1;
  for (int round = -1; round < rounds; round++) { /* the first one warms up */
    for (int r = 0; r < ROWS; r++) {
      for (int level = 0; level < levels; level++) {
        const double start = now();
        all[level]->random(to, &rows[r].how, 0, nbytes / sb_dtype_itemsize(rows[r].how.dtype));
        if (round >= 0) seconds[r][level][round] = now() - start;
      }
    }
  }
  printf("%-28s %8s %8s %8s\n", "GB/s", "base", "AVX2", "AVX-512");
  for (int r = 0; r < ROWS; r++) {
    printf("%-28s", rows[r].name);
    for (int level = 0; level < levels; level++) {
      qsort(seconds[r][level], (size_t)rounds, sizeof(double), ascending);
      printf(" %8.2f", (double)nbytes / seconds[r][level][rounds / 2] / 1e9);
    }
    printf("\n");
  }
  free(to);
  return 0;
}
