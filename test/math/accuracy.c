/* How far functions are off at most, in units of the last place, beside MPFR: drawn arguments, the same ones each time.
 *
 *   accuracy float64 COUNT [NAME...]    functions of ops.def that are not exact, and some that are
 *   accuracy float32 COUNT [NAME...]    those of two arguments; of others exhaustive.c takes all arguments
 *
 * A line for each: name, claim, worst, its arguments and result. Fails if one is beyond its claim. Of results below 1/4 logaddexp is
 * not measured, but may err by 2^-55 beside rounding. accuracy.sh builds this. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"
#include "level.h"

enum { BLOCK = 4096, PRECISION = 160, SEARCHES = 8 };

/* ---- Functions ---- */

static long double near_logaddexp(long double x, long double y) {
  const long double most = x > y ? x : y, apart = (x > y ? y : x) - most;
  return isinf(most) ? most : most + log1pl(expl(apart));
}

static void exact_pow(mpfr_t z, const mpfr_t x, const mpfr_t y) { mpfr_pow(z, x, y, MPFR_RNDN); }
static void exact_atan2(mpfr_t z, const mpfr_t x, const mpfr_t y) {
  mpfr_atan2(z, x, y, MPFR_RNDN);
}
static void exact_hypot(mpfr_t z, const mpfr_t x, const mpfr_t y) {
  mpfr_hypot(z, x, y, MPFR_RNDN);
}
static void exact_logaddexp(mpfr_t z, const mpfr_t x, const mpfr_t y) {
  const int is_first = mpfr_greaterequal_p(x, y);
  const mpfr_srcptr most = is_first ? x : y, least = is_first ? y : x;
  if (mpfr_inf_p(most) || mpfr_nan_p(x) || mpfr_nan_p(y)) {
    mpfr_add(z, most, least, MPFR_RNDN);
    if (mpfr_inf_p(most) && !mpfr_nan_p(least)) mpfr_set(z, most, MPFR_RNDN);
    return;
  }
  mpfr_sub(z, least, most, MPFR_RNDN);
  mpfr_exp(z, z, MPFR_RNDN);
  mpfr_log1p(z, z, MPFR_RNDN);
  mpfr_add(z, z, most, MPFR_RNDN);
}

typedef struct function {
  const char *name;
  int op;
  void (*of_one)(mpfr_t y, const mpfr_t x);
  void (*of_two)(mpfr_t z, const mpfr_t x, const mpfr_t y);
  long double (*near)(long double x, long double y);
} function;

static const function functions[] = {
#define ONE(name) {#name, SB__OP_##name, exact_##name, NULL, NULL},
#define TWO(name, near) {#name, SB__OP_##name, NULL, exact_##name, near},
    ONE(sqrt) ONE(reciprocal) ONE(square) ONE(exp) ONE(expm1) ONE(log) ONE(log1p) ONE(log2)
    ONE(log10) ONE(sin) ONE(cos) ONE(tan) ONE(asin) ONE(acos) ONE(atan) ONE(sinh) ONE(cosh)
    ONE(tanh) ONE(asinh) ONE(acosh) ONE(atanh) ONE(erf) ONE(sigmoid) ONE(silu) ONE(gelu)
    TWO(pow, powl) TWO(atan2, atan2l) TWO(hypot, hypotl) TWO(logaddexp, near_logaddexp)
};

/* Claims of ops.def for float64. */
static const double claims[SB__OPS] = {
#undef EXACT
#define EXACT 0.5
#define ULP(n) n
#define CLOSE(n) n
#define OP(name, count, domain, result, accuracy, text) [SB__OP_##name] = accuracy,
#include "math/ops.def"
#undef OP
};

/* ---- Arguments ---- */

static int is_single;
static uint64_t state;

static uint64_t next(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33 ^ state << 31 ^ state >> 11;
}

static double fraction(void) { return (double)(next() >> 11) * 0x1p-53; }
static double between(double least, double most) { return least + (most - least) * fraction(); }
static double sign(void) { return next() & 1 ? 1 : -1; }
static double scaled(int least, int most) {
  return ldexp(1 + fraction(), least + (int)(next() % (uint64_t)(most - least + 1)));
}

static double any_bits(void) {
  const uint64_t bits = next() ^ next() << 32;
  const uint32_t half = (uint32_t)bits;
  double x;
  float single;
  memcpy(&x, &bits, sizeof x);
  memcpy(&single, &half, sizeof single);
  return is_single ? (double)single : x;
}

static double special(void) {
  static const double list[] = {0, 1, 2, 3, 0.5, 1.5, 0.1, 10, 88, 89, 709, 710, 745, 1e10, 0x1p23, 0x1p24, 0x1p52, 0x1p53, 0x1p-24, 0x1p-53,
                                0x1.fffffep127, 0x1p127, 0x1p-126, 0x1p-149, 0x1.fffffffffffffp1023, 0x1p1023, 0x1p-1022, 0x1p-1074, INFINITY, NAN};
  const double x = list[next() % (sizeof list / sizeof *list)];
  const double beside = next() % 3 ? x : nextafter(x, next() & 1 ? INFINITY : 0);
  return sign() * (is_single && next() % 2 ? (double)nextafterf((float)x, (float)beside) : beside);
}

static double one(void) {
  switch (next() % 8) {
    case 0: return special();
    case 1:
    case 2: return any_bits();
    case 3: return sign() * scaled(-40, 10);
    case 4: return sign() * (1 + sign() * scaled(-51, -2));
    case 5: return between(-1, 1);
    case 6: return between(-40, 40);
    default: return between(-760, 760);
  }
}

/* x to the power of y: powers that are finite, those of integers, squares and roots. */
static void draw_pow(double *x, double *y) {
  const double top = is_single ? 152 : 1080;
  *y = one();
  switch (next() % 8) {
    case 0: *x = any_bits(); return;
    case 1: *x = scaled(is_single ? -149 : -1074, is_single ? 127 : 1023); break;
    case 2: *x = 1 + sign() * scaled(-50, -2); break;
    case 3: *x = between(0, 10); break;
    case 4:
      *x = sign() * (double)(next() % 4096) * (next() & 1 ? 1 : 0x1p-6);
      *y = (double)(next() % 80) - 12;
      return;
    case 5:
      *x = (double)(next() >> (next() % 2 ? 40 : 11 + next() % 52));
      *y = (double[]){2, 0.5, 3, 1.5, -1, -2, -0.5, 0.25}[next() % 8];
      return;
    case 6:
      *x = -between(0, 4);
      *y = (double)(next() % 300) - 150;
      return;
    default: *x = special(); return;
  }
  *y = between(-1, 1) * top / fabs(log2(*x));
}

/* Sides of triangles, exact ones too, and of points. */
static void draw_plane(double *x, double *y) {
  const int top = is_single ? 126 : 1022;
  const double m = (double)(next() % 2048), n = (double)(next() % 2048);
  const int up = (int)(next() % 80) - 40;
  *x = one();
  *y = one();
  switch (next() % 6) {
    case 0: *x = any_bits(); *y = any_bits(); return;
    case 1: *x = sign() * scaled(-top, top); *y = *x * sign() * scaled(-30, 30); return;
    case 2: *x = ldexp(m * m - n * n, up); *y = ldexp(2 * m * n, up); return;
    case 3: *x = sign() * scaled(-top - 20, -top + 60); *y = sign() * scaled(-top - 20, top); return;
    case 4: *y = *x * (1 + sign() * scaled(-30, -1)); return;
    default: return;
  }
}

static void draw_logaddexp(double *x, double *y) {
  *x = one();
  *y = one();
  switch (next() % 6) {
    case 0: *x = any_bits(); *y = any_bits(); return;
    case 1: *y = *x + between(-760, 760); return;
    case 2: *y = *x - scaled(-30, 6); return;
    case 3: /* next to 0 */
      *x = -scaled(-12, 5);
      *y = (is_single ? (double)(float)log1p(-exp(*x)) : log1p(-exp(*x))) * (1 + sign() * (double)(next() % 8) * (is_single ? 0x1p-24 : 0x1p-53));
      return;
    case 4: *x = -between(0, 2); *y = -between(0, 2); return;
    default: return;
  }
}

static void draw(const function *f, double *x, double *y) {
  switch (f->op) {
    case SB__OP_pow: draw_pow(x, y); return;
    case SB__OP_atan2:
    case SB__OP_hypot: draw_plane(x, y); return;
    case SB__OP_logaddexp: draw_logaddexp(x, y); return;
    default: *x = *y = one();
  }
}

/* ---- Errors ---- */

/* The power of two that is a unit in the last place of numbers from 2^(exponent - 1) on. */
static int unit_of(long exponent) {
  const long least = is_single ? -125 : -1021, digits = is_single ? 24 : 53;
  return (int)((exponent < least ? least : exponent) - digits);
}

/* In units; as far as long double tells. Less than 0: MPFR has to. */
static double roughly(long double near, double made) {
  int exponent;
  if (isnan(near) || isnan(made)) return isnan(near) && isnan(made) ? 0 : -1;
  if (isinf(made) && fabsl(near) > 0x1p128L) return signbit(made) == signbit(near) ? 0 : -1;
  if (isinf(made) || isinf(near) || near == 0) return -1;
  frexpl(near, &exponent);
  return (double)(fabsl((long double)made - near) * ldexpl(1, -unit_of(exponent)));
}

/* In units, exactly. What is rounded to infinity is taken for the next power of two. */
static double error_of(const mpfr_t exact, double made, mpfr_t distance) {
  if (mpfr_nan_p(exact) || isnan(made)) return mpfr_nan_p(exact) && isnan(made) ? 0 : INFINITY;
  if (mpfr_inf_p(exact) || mpfr_zero_p(exact)) return mpfr_cmp_d(exact, made) ? INFINITY : 0;
  const long top = is_single ? 128 : 1024, exponent = mpfr_get_exp(exact);
  const double side = mpfr_sgn(exact);
  if (isinf(made) && exponent > top) return made * side > 0 ? 0 : INFINITY;
  mpfr_set_d(distance, isinf(made) ? copysign(0.5, made) : made, MPFR_RNDN);
  if (isinf(made)) mpfr_mul_2si(distance, distance, top + 1, MPFR_RNDN);
  mpfr_sub(distance, distance, exact, MPFR_RNDN);
  mpfr_mul_2si(distance, distance, -unit_of(exponent < top ? exponent : top), MPFR_RNDN);
  return fabs(mpfr_get_d(distance, MPFR_RNDN));
}

/* ---- Measuring ---- */

/* The worst of a function: how far off, and where. */
typedef struct worst {
  double units, x, y, made;
} worst;

static double units_of(const function *f, double x, double y, double made, mpfr_t at[4]) {
  const double rough = is_single ? roughly(f->near((long double)x, (long double)y), made) : -1;
  const int is_next_to_0 = f->op == SB__OP_logaddexp && fabs(made) < 0.25;
  if (rough >= 0 && rough < 0.4999 && !is_next_to_0) return rough;
  if (f->of_one && isinf(x)) return 0; /* test/math/special-values.test.js has these */
  mpfr_set_d(at[0], x, MPFR_RNDN);
  mpfr_set_d(at[1], y, MPFR_RNDN);
  if (f->of_one) f->of_one(at[2], at[0]);
  else f->of_two(at[2], at[0], at[1]);
  const double units = error_of(at[2], made, at[3]);
  if (!is_next_to_0) return units;
  return ldexp(units - 0.5, unit_of(mpfr_get_exp(at[2]))) > 0x1p-55 ? INFINITY : 0;
}

/* Half of all arguments are near the worst ones of this search so far. */
static void draw_near(const function *f, const worst *found, double *x, double *y) {
  draw(f, x, y);
  if (next() & 1 || found->units == 0) return;
  *x = found->x * (1 + sign() * scaled(-40, -5));
  *y = found->y * (next() & 1 ? 1 : 1 + sign() * scaled(-40, -5));
}

static void measure_block(const function *f, int count, mpfr_t at[4], worst *found) {
  static double x[BLOCK], y[BLOCK], made[BLOCK];
  static float single[3][BLOCK];
  for (int i = 0; i < count; i++) {
    draw_near(f, found, &x[i], &y[i]);
    if (!is_single) continue;
    x[i] = (double)(single[0][i] = (float)x[i]);
    y[i] = (double)(single[1][i] = (float)y[i]);
  }
  const char *const from[] = {(char *)x, (char *)y};
  const char *const from_single[] = {(char *)single[0], (char *)single[1]};
  if (is_single) level()->each[f->op][SB_FLOAT32]((char *)single[2], from_single, count);
  else level()->each[f->op][SB_FLOAT64]((char *)made, from, count);
  for (int i = 0; i < count; i++) {
    if (is_single) made[i] = (double)single[2][i];
    const double units = units_of(f, x[i], y[i], made[i], at);
    if (units > found->units) *found = (worst){units, x[i], y[i], made[i]};
  }
}

static int measure(const function *f, long count) {
  const double claim = is_single ? 0.501 : claims[f->op];
  worst found = {0, 0, 0, 0}, lately = found;
  mpfr_t at[4];
  mpfr_inits2(PRECISION, at[0], at[1], at[2], at[3], (mpfr_ptr)0);
  state = 1;
  for (long done = 0; done < count; done += BLOCK) {
    if (done * SEARCHES / count != (done - BLOCK) * SEARCHES / count) lately.units = 0;
    measure_block(f, count - done < BLOCK ? (int)(count - done) : BLOCK, at, &lately);
    if (lately.units > found.units) found = lately;
  }
  printf("%s %g %.9f %a %a %a\n", f->name, claim, found.units, found.x, found.y, found.made);
  fflush(stdout);
  mpfr_clears(at[0], at[1], at[2], at[3], (mpfr_ptr)0);
  return found.units > claim;
}

int main(int argc, char **argv) {
  int failed = 0;
  if (argc < 3) return fprintf(stderr, "accuracy float64|float32 COUNT [NAME...]\n"), 2;
  is_single = !strcmp(argv[1], "float32");
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    const function *f = &functions[i];
    int is_asked = argc == 3 && (f->of_two || !is_single);
    for (int k = 3; k < argc; k++) is_asked |= !strcmp(argv[k], f->name);
    if (is_asked) failed |= measure(f, atol(argv[2]));
  }
  return failed;
}
