/* Compares float32 functions of one argument with the C library's of float64, for all bit patterns or a part of them. Where the two
 * sides of a margin around that result round to different floats, MPFR decides (or, without HAVE_MPFR, quadmath).
 *
 *   exhaustive NAME [FIRST LAST STEP]     bit patterns, hexadecimal; all by default. LEVEL names the loops: scalar, avx2, avx512
 *
 * Prints each wrong result, and a line that counts them; fails if there is one. exhaustive.sh builds it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "math/math.h"

#include "exact.h"

static double near_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double near_silu(double x) { return x < -800 ? -0.0 : x / (1 + exp(-x)); }
static double near_gelu(double x) {
  return x < -40 ? -0.0 : 0.5 * x * erfc(-x * 0x1.6a09e667f3bcdp-1);
}
static double near_reciprocal(double x) { return 1 / x; }
static double near_square(double x) { return x * x; }

#if HAVE_MPFR
typedef void (*decider)(mpfr_t y, const mpfr_t x);

static float decide(decider of, float x) {
  mpfr_t a, y;
  mpfr_init2(a, 24);
  mpfr_init2(y, 400);
  mpfr_set_flt(a, x, MPFR_RNDN);
  of(y, a);
  const float made = mpfr_get_flt(y, MPFR_RNDN); /* subnormals included, rounded once */
  mpfr_clear(a);
  mpfr_clear(y);
  return made;
}
#else
typedef __float128 (*decider)(__float128 x);

static float decide(decider of, float x) { return (float)of(x); }
#endif

static const struct function {
  const char *name;
  int op;
  double (*near)(double x);
  decider exact;
  double margin; /* relative, of near */
} functions[] = {
#define FUNCTION(name) {#name, SB__OP_##name, name, exact_##name, 0x1p-50},
    FUNCTION(exp) FUNCTION(expm1) FUNCTION(log) FUNCTION(log1p) FUNCTION(log2) FUNCTION(log10)
    FUNCTION(sin) FUNCTION(cos) FUNCTION(tan) FUNCTION(asin) FUNCTION(acos) FUNCTION(atan)
    FUNCTION(sinh) FUNCTION(cosh) FUNCTION(tanh) FUNCTION(asinh) FUNCTION(acosh) FUNCTION(atanh)
    FUNCTION(erf) FUNCTION(sqrt)
    {"reciprocal", SB__OP_reciprocal, near_reciprocal, exact_reciprocal, 0x1p-50},
    {"square", SB__OP_square, near_square, exact_square, 0x1p-50},
    {"sigmoid", SB__OP_sigmoid, near_sigmoid, exact_sigmoid, 0x1p-49},
    {"silu", SB__OP_silu, near_silu, exact_silu, 0x1p-49},
    {"gelu", SB__OP_gelu, near_gelu, exact_gelu, 0x1p-42},
};

static const sb__math_loops *loops(void) {
  const char *level = getenv("LEVEL");
#if defined(__x86_64__)
  if (!level || !strcmp(level, "avx2")) return &sb__math_avx2;
  if (!strcmp(level, "avx512")) return &sb__math_avx512;
#elif defined(__aarch64__)
  if (!level || !strcmp(level, "neon")) return &sb__math_neon;
#endif
  return &sb__math_scalar;
}

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static float wanted(const struct function *f, float x, uint64_t *decided) {
  const double near = f->near((double)x);
  if (near != near || isinf(near)) return (float)near;
  const float below = (float)(near * (1 - f->margin)), above = (float)(near * (1 + f->margin));
  if (bits_of(below) == bits_of(above)) return below;
  ++*decided;
  return decide(f->exact, x);
}

enum { BLOCK = 4096 };

int main(int argc, char **argv) {
  static float x[BLOCK], y[BLOCK];
  const struct function *f = NULL;
  uint64_t first = 0, last = 0xffffffff, step = 1, wrong = 0, decided = 0, count = 0;
  for (size_t i = 0; argc > 1 && i < sizeof functions / sizeof *functions; i++)
    if (!strcmp(functions[i].name, argv[1])) f = &functions[i];
  if (!f) return fprintf(stderr, "exhaustive NAME [FIRST LAST STEP]\n"), 2;
  if (argc > 4) {
    first = strtoull(argv[2], NULL, 16);
    last = strtoull(argv[3], NULL, 16);
    step = strtoull(argv[4], NULL, 16);
  }
  const sb__math_loop loop = loops()->each[f->op][SB_FLOAT32];
  for (uint64_t at = first; at <= last;) {
    const char *const from[] = {(const char *)x};
    int n = 0;
    for (; n < BLOCK && at <= last; n++, at += step) memcpy(&x[n], &(uint32_t){(uint32_t)at}, 4);
    loop((char *)y, from, n);
    count += (uint64_t)n;
    for (int i = 0; i < n; i++) {
      const float want = wanted(f, x[i], &decided);
      const uint32_t bits = want != want ? 0x7fc00000u : bits_of(want);
      if (bits == bits_of(y[i])) continue;
      if (wrong++ < 40)
        printf("%s(0x%08x %a) is 0x%08x %a, should be 0x%08x %a\n", f->name, bits_of(x[i]),
               (double)x[i], bits_of(y[i]), (double)y[i], bits, (double)want);
    }
  }
  printf("%s: %llu of %llu wrong, %llu inside the margin\n", f->name, (unsigned long long)wrong,
         (unsigned long long)count, (unsigned long long)decided);
  return wrong > 0;
}
