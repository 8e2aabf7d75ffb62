/* Functions by MPFR, y at its precision; or, without HAVE_MPFR, by quadmath. */
#if HAVE_MPFR
# include <mpfr.h>
# define EXACT(name, text) \
  static void exact_##name(mpfr_t y, const mpfr_t x) { text; }
# define PLAIN(name) EXACT(name, mpfr_##name(y, x, MPFR_RNDN))
#else
# include <quadmath.h>
# define PLAIN(name) \
  static __float128 exact_##name(__float128 x) { return name##q(x); }
#endif

PLAIN(exp) PLAIN(expm1) PLAIN(log) PLAIN(log1p) PLAIN(log2) PLAIN(log10)
PLAIN(sin) PLAIN(cos) PLAIN(tan) PLAIN(asin) PLAIN(acos) PLAIN(atan)
PLAIN(sinh) PLAIN(cosh) PLAIN(tanh) PLAIN(asinh) PLAIN(acosh) PLAIN(atanh)
PLAIN(erf) PLAIN(sqrt)

#if HAVE_MPFR
EXACT(reciprocal, mpfr_ui_div(y, 1, x, MPFR_RNDN))
EXACT(square, mpfr_sqr(y, x, MPFR_RNDN))
EXACT(sigmoid, mpfr_neg(y, x, MPFR_RNDN); mpfr_exp(y, y, MPFR_RNDN);
      mpfr_add_ui(y, y, 1, MPFR_RNDN); mpfr_ui_div(y, 1, y, MPFR_RNDN))
EXACT(silu, exact_sigmoid(y, x); mpfr_mul(y, y, x, MPFR_RNDN))
EXACT(gelu, mpfr_sqrt_ui(y, 2, MPFR_RNDN); mpfr_div(y, x, y, MPFR_RNDN);
      mpfr_neg(y, y, MPFR_RNDN); mpfr_erfc(y, y, MPFR_RNDN); mpfr_mul(y, y, x, MPFR_RNDN);
      mpfr_div_ui(y, y, 2, MPFR_RNDN))
#else
static __float128 exact_reciprocal(__float128 x) { return 1 / x; }
static __float128 exact_square(__float128 x) { return x * x; }
static __float128 exact_sigmoid(__float128 x) { return 1 / (1 + expq(-x)); }
static __float128 exact_silu(__float128 x) { return x / (1 + expq(-x)); }
static __float128 exact_gelu(__float128 x) { return x * erfcq(-x / sqrtq(2)) / 2; }
#endif
