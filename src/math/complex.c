/* Functions of complex numbers, with the special cases of C99's annex G. They branch: no level has loops of its own for them. */
#include "math/functions64.h"
#include "math/math.h"

sb_complex128 sb__math_complex_sign(sb_complex128 x) {
  const double a = sb__magnitude(x.re), b = sb__magnitude(x.im);
  double length = sb__hypot(x.re, x.im);
  if (a < SB__INFINITY && b < SB__INFINITY && (length > 0x1p1000 || length < 0x1p-900)) {
    const double scale =
        length > 1 ? 0x1p-100 : 0x1p200; /* else it may overflow, or have few bits */
    x.re *= scale, x.im *= scale;
    length = sb__hypot(x.re, x.im);
  }
  return length == 0 ? (sb_complex128){0, 0} : (sb_complex128){x.re / length, x.im / length};
}

sb_complex128 sb__math_complex_sqrt(sb_complex128 x) {
  double a = sb__magnitude(x.re), b = sb__magnitude(x.im), back = 1;
  if (a == 0 && b == 0) return (sb_complex128){0, x.im};
  if (b == SB__INFINITY) return (sb_complex128){SB__INFINITY, x.im};
  if (a == SB__INFINITY) {
    const double rest = x.im != x.im ? SB__NAN : 0;
    if (x.re > 0) return (sb_complex128){SB__INFINITY, sb__signed_like(rest, x.im)};
    return (sb_complex128){rest, sb__signed_like(SB__INFINITY, x.im)};
  }
  if (a > 0x1p1000 || b > 0x1p1000) {
    a *= 0x1p-100, b *= 0x1p-100;
    back = 0x1p50;
  } else if (a < 0x1p-900 && b < 0x1p-900) {
    a *= 0x1p200, b *= 0x1p200;
    back = 0x1p-100;
  }
  const double large = __builtin_sqrt(0.5 * (a + sb__hypot(a, b)));
  const double small = b / (2 * large);
  if (x.re >= 0) return (sb_complex128){large * back, sb__signed_like(small * back, x.im)};
  return (sb_complex128){small * back, sb__signed_like(large * back, x.im)};
}

sb_complex128 sb__math_complex_exp(sb_complex128 x) {
  const bool is_turned = sb__magnitude(x.im) < SB__INFINITY;
  if (x.im == 0) return (sb_complex128){sb__exp(x.re), x.im};
  if (sb__magnitude(x.re) == SB__INFINITY && !is_turned) {
    if (x.re < 0) return (sb_complex128){0, 0};
    return (sb_complex128){SB__INFINITY, SB__NAN};
  }
  const double cosine = sb__math_circular(SB__COS, x.im, true);
  const double sine = sb__math_circular(SB__SIN, x.im, true);
  if (x.re > 709 && x.re < 2000) { /* the product may be finite where exp(x.re) is not */
    const double part = sb__exp(x.re - 700), rest = sb__exp(700);
    return (sb_complex128){cosine * part * rest, sine * part * rest};
  }
  const double length = sb__exp(x.re);
  return (sb_complex128){length * cosine, length * sine};
}

/* log(a * a + b * b) / 2 */
static double log_of_length(double a, double b) {
  const double large = a > b ? a : b, small = a > b ? b : a;
  if (large > 0.5 && large < 2 && small < 2) /* near 1, where the logarithm is small */
    return 0.5 * sb__log1p((large - 1) * (large + 1) + small * small);
  if (large > 0x1p1000 && large < SB__INFINITY)
    return sb__log(sb__hypot(large * 0x1p-100, small * 0x1p-100)) + 100 * 0x1.62e42fefa39efp-1;
  return sb__log(sb__hypot(a, b));
}

sb_complex128 sb__math_complex_log(sb_complex128 x) {
  const double angle = sb__atan2(x.im, x.re);
  const double a = sb__magnitude(x.re), b = sb__magnitude(x.im);
  if (a == SB__INFINITY || b == SB__INFINITY) return (sb_complex128){SB__INFINITY, angle};
  if (x.re != x.re || x.im != x.im) return (sb_complex128){SB__NAN, SB__NAN};
  return (sb_complex128){log_of_length(a, b), angle};
}
