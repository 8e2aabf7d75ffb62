/* Quotients without their fraction, and what is left. They branch: no level has loops of its own for them. */
#include "math/functions64.h"
#include "math/math.h"

/* x as significand * 2^exponent; x is finite and not 0. */
static uint64_t take_apart(double x, int *exponent) {
  const uint64_t bits = sb__bits_of(x);
  uint64_t significand = bits & 0xfffffffffffffu;
  *exponent = (int)(bits >> 52 & 0x7ff);
  if (*exponent) {
    significand |= UINT64_C(1) << 52;
  } else {
    *exponent = 1;
    while (!(significand >> 52)) {
      significand <<= 1;
      (*exponent)--;
    }
  }
  *exponent -= 1075;
  return significand;
}

/* significand * 2^exponent, where no bit is lost. */
static double put_together(uint64_t significand, int exponent) {
  double x = (double)significand;
  for (; exponent > 900; exponent -= 900) x *= 0x1p900;
  for (; exponent < -900; exponent += 900) x *= 0x1p-900;
  return x * sb__double_of((uint64_t)(exponent + 1023) << 52);
}

/* What x / y, its fraction dropped, leaves of x, by long division: |x| >= |y| > 0. */
static double rest_of(double x, double y) {
  int from, to;
  uint64_t rest = take_apart(x, &from);
  const uint64_t divisor = take_apart(y, &to);
  rest %= divisor;
  for (int left = from - to; left > 0 && rest; left -= 11) {
    rest = (rest << (left < 11 ? left : 11)) % divisor;
  }
  return rest ? put_together(rest, to) : 0;
}

double sb__math_remainder(double x, double y) {
  const double a = sb__magnitude(x), b = sb__magnitude(y);
  if (!(a < SB__INFINITY) || !(b <= SB__INFINITY) || b == 0) return SB__NAN;
  double rest = a < b ? a : rest_of(a, b);
  if (rest == 0) return sb__signed_like(0, y);
  rest = x < 0 ? -rest : rest;
  return (x < 0) != (y < 0) ? rest + y : rest;
}

double sb__math_floor_divide(double x, double y) {
  const double quotient = x / y, down = __builtin_floor(quotient);
  if (down != quotient || sb__magnitude(quotient) >= 0x1p53) return down;
  if (quotient == 0) {
    /* A quotient that is too small for a float, of a divisor that may be infinite. */
    return x != 0 && (x < 0) != (y < 0) ? -1 : quotient;
  }
  /* The quotient is an integer, or was rounded to one; then a rest tells which of the two it was rounded to. */
  const double a = sb__magnitude(x), b = sb__magnitude(y), rest = a < b ? a : rest_of(a, b);
  if (rest == 0) return quotient;
  const bool was_raised = b - rest < rest;
  return (x < 0) == (y < 0) ? quotient - was_raised : quotient - !was_raised;
}
