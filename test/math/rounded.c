/* Compares float32 functions of one argument with those of float64, rounded as WebAssembly's loops do (loops_float.inc).
 *
 *   rounded STEP [NAME...]   every STEP-th argument (hexadecimal) of these functions, or of all */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "level.h"
#include "math/functions32.h"
#include "math/math.h"

enum { COUNT = 4096 };

typedef struct function {
  const char *name;
  int op;
  double (*correct)(double x, double made);
  const sb__exception *list;
  size_t listed;
} function;

static double of_sigmoid(double x, double made) { return sb__sigmoid_of_single(x, made); }
static double of_silu(double x, double made) { return sb__silu_of_single(x, made); }
static double of_gelu(double x, double made) { return sb__gelu_of_single(x, made); }

#define LIST(name) sb__##name##_exceptions, sizeof sb__##name##_exceptions / sizeof(sb__exception)
#define PLAIN(name) {#name, SB__OP_##name, NULL, NULL, 0}
#define EXCEPTED(name) {#name, SB__OP_##name, NULL, LIST(name)}
static const function functions[] = {
    PLAIN(expm1),    PLAIN(log2),    EXCEPTED(log10), EXCEPTED(log1p), EXCEPTED(sinh),
    PLAIN(cosh),     PLAIN(tanh),    EXCEPTED(asinh), EXCEPTED(acosh), PLAIN(atanh),
    PLAIN(asin),     EXCEPTED(acos), EXCEPTED(atan),  PLAIN(erf),      PLAIN(tan),
    {"sigmoid", SB__OP_sigmoid, of_sigmoid, LIST(sigmoid)},
    {"silu", SB__OP_silu, of_silu, NULL, 0},
    {"gelu", SB__OP_gelu, of_gelu, LIST(gelu)},
};

static float rounded(const function *f, float x, double made) {
  const double whole = f->correct ? f->correct((double)x, made) : made;
  float found = sb__canonical_single((float)whole);
  for (size_t i = 0; i < f->listed; i++) found = sb__except(x, found, f->list + i, 1);
  return found;
}

static long differences(const function *f, uint64_t step) {
  static float x[COUNT], single[COUNT];
  static double wide[COUNT];
  const char *const from[] = {(char *)x}, *const from_wide[] = {(char *)wide};
  long found = 0;
  for (uint64_t bits = 0; bits >> 32 == 0;) {
    for (int i = 0; i < COUNT; i++, bits += step) {
      x[i] = sb__float_of((uint32_t)bits);
      wide[i] = (double)x[i];
    }
    level()->each[f->op][SB_FLOAT32]((char *)single, from, COUNT);
    level()->each[f->op][SB_FLOAT64]((char *)wide, from_wide, COUNT);
    for (int i = 0; i < COUNT; i++)
      found += sb__bits_of_float(single[i]) != sb__bits_of_float(rounded(f, x[i], wide[i]));
  }
  return found;
}

static int is_asked(const char *name, int argc, char **argv) {
  for (int i = 2; i < argc; i++)
    if (!strcmp(argv[i], name)) return 1;
  return argc <= 2;
}

int main(int argc, char **argv) {
  const uint64_t step = argc > 1 ? strtoull(argv[1], NULL, 16) : 1;
  int status = 0;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    if (!is_asked(functions[i].name, argc, argv)) continue;
    const long found = differences(&functions[i], step);
    printf("%s: %ld differ\n", functions[i].name, found);
    fflush(stdout);
    status |= found != 0;
  }
  return status;
}
