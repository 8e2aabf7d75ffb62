/* Comparisons by value of what no dtype holds together: 64-bit integers and floats, or both 64-bit integers. Comparing is rare here and
 * costs little beside reading, so that there are no loops for each level. */
#include "math/math.h"

typedef sb_complex128 complex128;

/* How x stands to y, a bit each. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, UNORDERED = 8 };

static unsigned order_int64_double(int64_t x, double y) {
  if (y != y) return UNORDERED;
  if (y >= 0x1p63) return LESS;
  if (y < -0x1p63) return GREATER;
  const int64_t whole = (int64_t)y;
  if (x != whole) return x < whole ? LESS : GREATER;
  const double fraction = y - (double)whole;
  return fraction > 0 ? LESS : fraction < 0 ? GREATER : EQUAL;
}

static unsigned order_uint64_double(uint64_t x, double y) {
  if (y != y) return UNORDERED;
  if (y >= 0x1p64) return LESS;
  if (y < 0) return GREATER;
  const uint64_t whole = (uint64_t)y;
  if (x != whole) return x < whole ? LESS : GREATER;
  return y - (double)whole > 0 ? LESS : EQUAL;
}

static unsigned order_int64_uint64(int64_t x, uint64_t y) {
  if (x < 0 || (uint64_t)x < y) return LESS;
  return (uint64_t)x == y ? EQUAL : GREATER;
}

/* Complex numbers have no order. */
static unsigned order_int64_complex128(int64_t x, complex128 y) {
  return y.im == 0 && order_int64_double(x, y.re) == EQUAL ? EQUAL : UNORDERED;
}

static unsigned order_uint64_complex128(uint64_t x, complex128 y) {
  return y.im == 0 && order_uint64_double(x, y.re) == EQUAL ? EQUAL : UNORDERED;
}

/* Writes whether the order is one of `wanted`; swapped: of the second source and the first. */
#define RUN(a_type, b_type)                                                                       \
 static void run_##a_type##_##b_type(char *to, const char *const from[], int64_t n, bool swapped, \
                                     unsigned wanted) {                                           \
  const a_type##_item *a = (const a_type##_item *)(const void *)from[swapped];                    \
  const b_type##_item *b = (const b_type##_item *)(const void *)from[!swapped];                   \
  for (int64_t i = 0; i < n; i++) to[i] = (order_##a_type##_##b_type(a[i], b[i]) & wanted) != 0;  \
 }
typedef int64_t int64_item;
typedef uint64_t uint64_item;
typedef double double_item;
typedef complex128 complex128_item;

RUN(int64, double)
RUN(uint64, double)
RUN(int64, uint64)
RUN(int64, complex128)
RUN(uint64, complex128)

/* One function for each comparison, as loops have no more arguments. */
#define LOOP(name, a_type, b_type, wanted, reverse)                                      \
 static void name##_##a_type##_##b_type(char *to, const char *const from[], int64_t n) { \
  run_##a_type##_##b_type(to, from, n, false, wanted);                                   \
 }                                                                                       \
 static void name##_##b_type##_##a_type(char *to, const char *const from[], int64_t n) { \
  run_##a_type##_##b_type(to, from, n, true, reverse);                                   \
 }
#define EQUALITIES(a_type, b_type)         \
 LOOP(equal, a_type, b_type, EQUAL, EQUAL) \
 LOOP(not_equal, a_type, b_type, LESS | GREATER | UNORDERED, LESS | GREATER | UNORDERED)
#define COMPARISONS(a_type, b_type)                              \
 EQUALITIES(a_type, b_type)                                      \
 LOOP(less, a_type, b_type, LESS, GREATER)                       \
 LOOP(less_equal, a_type, b_type, LESS | EQUAL, GREATER | EQUAL) \
 LOOP(greater, a_type, b_type, GREATER, LESS)                    \
 LOOP(greater_equal, a_type, b_type, GREATER | EQUAL, LESS | EQUAL)

COMPARISONS(int64, double)
COMPARISONS(uint64, double)
COMPARISONS(int64, uint64)
EQUALITIES(int64, complex128)
EQUALITIES(uint64, complex128)

static const struct mixed {
  int64_t op;
  sb_dtype a, b;
  sb__math_loop loop;
} loops[] = {
#define ROW(name, a, b, A, B) \
 {SB__OP_##name, A, B, name##_##a##_##b}, {SB__OP_##name, B, A, name##_##b##_##a},
#define ROWS(a, b, A, B)     \
 ROW(equal, a, b, A, B)      \
 ROW(not_equal, a, b, A, B)  \
 ROW(less, a, b, A, B)       \
 ROW(less_equal, a, b, A, B) \
 ROW(greater, a, b, A, B)    \
 ROW(greater_equal, a, b, A, B)
    ROWS(int64, double, SB_INT64, SB_FLOAT64) ROWS(uint64, double, SB_UINT64, SB_FLOAT64)
        ROWS(int64, uint64, SB_INT64, SB_UINT64)
            ROW(equal, int64, complex128, SB_INT64, SB_COMPLEX128)
                ROW(not_equal, int64, complex128, SB_INT64, SB_COMPLEX128)
                    ROW(equal, uint64, complex128, SB_UINT64, SB_COMPLEX128)
                        ROW(not_equal, uint64, complex128, SB_UINT64, SB_COMPLEX128)};

sb__math_loop sb__math_mixed_loop(int64_t op, sb_dtype a, sb_dtype b) {
  for (size_t i = 0; i < sizeof loops / sizeof *loops; i++)
    if (loops[i].op == op && loops[i].a == a && loops[i].b == b) return loops[i].loop;
  return NULL;
}
