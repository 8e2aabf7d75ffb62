/* Factorisations, of real and of complex matrices. Panels of columns are factored one column after the other; what is right of them is updated by
 * products of matrices, where the time goes. */
#if defined(__GNUC__) && !defined(__clang__)
# pragma GCC optimize("Os") /* the time goes into linalg_loops.c */
#endif

#include "math/linalg_numbers.h"

/* A power of two that brings x near 1. */
double sb__near_one(double x) {
  const int64_t exponent = (int64_t)(sb__bits_of(x) >> 52 & 0x7ff) - 1023;
  if (exponent == 1024) return 1;
  const int64_t back = exponent > 1000 ? -1000 : exponent < -1000 ? 1000 : -exponent;
  return sb__double_of((uint64_t)(1023 + back) << 52);
}

/* ---- float64 ---- */

static void update_real(int64_t m, int64_t n, int64_t k, double sign, const double *a, int64_t row,
                        int64_t column, bool conjugate, const double *b, int64_t b_row, double *c,
                        int64_t c_row) {
  (void)conjugate;
  sb__linalg_loops_now()->update(m, n, k, sign, a, row, column, b, b_row, c, c_row);
}

static void dots_real(int64_t m, int64_t n, const double *a, int64_t row, const double *b,
                      double *to) {
  sb__linalg_loops_now()->dots(m, n, a, row, b, to);
}

static double dot_real(int64_t n, const double *x, const double *y) {
  double sum;
  dots_real(1, n, x, n, y, &sum);
  return sum;
}

#define T double
#define NAME(name) name##_real
#include "math/linalg_factor.inc"
#undef T
#undef NAME

/* ---- complex128 ---- */

static complex over_complex(complex x, complex y) {
  const double scale = sb__near_one(size_complex(y));
  const complex near = {y.re * scale, y.im * scale};
  const complex made = times_complex(x, conjugate_complex(near));
  const double square = square_complex(near);
  return (complex){made.re / square * scale, made.im / square * scale};
}

static void update_complex(int64_t m, int64_t n, int64_t k, double sign, const complex *a,
                           int64_t row, int64_t column, bool conjugate, const complex *b,
                           int64_t b_row, complex *c, int64_t c_row) {
  for (int64_t i = 0; i < m; i++)
    for (int64_t l = 0; l < k; l++) {
      const complex factor = a[i * row + l * column];
      const double re = factor.re * sign, im = conjugate ? -factor.im * sign : factor.im * sign;
      const double *from = &b[l * b_row].re;
      double *to = &c[i * c_row].re;
      for (int64_t j = 0; j < 2 * n; j += 2) {
        to[j] += re * from[j] - im * from[j + 1];
        to[j + 1] += re * from[j + 1] + im * from[j];
      }
    }
}

static void dots_complex(int64_t m, int64_t n, const complex *a, int64_t row, const complex *b,
                         complex *to) {
  for (int64_t i = 0; i < m; i++) {
    to[i] = of_real_complex(0);
    for (int64_t j = 0; j < n; j++)
      to[i] = plus_complex(to[i], times_complex(a[i * row + j], b[j]));
  }
}

static complex dot_complex(int64_t n, const complex *x, const complex *y) {
  complex sum = {0, 0};
  for (int64_t i = 0; i < n; i++)
    sum = plus_complex(sum, times_complex(conjugate_complex(x[i]), y[i]));
  return sum;
}

#define T sb_complex128
#define NAME(name) name##_complex
#include "math/linalg_factor.inc"
