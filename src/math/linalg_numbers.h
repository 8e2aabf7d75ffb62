/* Operations of float64 and complex128, by the same names. */
#ifndef SB_LINALG_NUMBERS_H
#define SB_LINALG_NUMBERS_H

#include <string.h>

#include "math/linalg.h"
#include "math/functions64.h"

/* Memory of no bytes may be nowhere. */
static inline void copy(void *to, const void *from, size_t nbytes) {
  if (nbytes) memcpy(to, from, nbytes);
}
static inline void clear(void *to, size_t nbytes) {
  if (nbytes) memset(to, 0, nbytes);
}

static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static inline double plus_real(double x, double y) { return x + y; }
static inline double minus_real(double x, double y) { return x - y; }
static inline double times_real(double x, double y) { return x * y; }
static inline double over_real(double x, double y) { return x / y; }
static inline double conjugate_real(double x) { return x; }
static inline double size_real(double x) { return sb__magnitude(x); }
static inline double square_real(double x) { return x * x; }
static inline double real_real(double x) { return x; }
static inline bool is_real_real(double x) { return x == x; }
static inline double of_real_real(double x) { return x; }

static inline double one_real(void) { return 1; }
static inline double scaled_real(double x, double by) { return x * by; }
static inline double divided_real(double x, double by) { return x / by; }
static inline double length_real(double x) { return sb__magnitude(x); }

typedef sb_complex128 complex;

static inline complex plus_complex(complex x, complex y) {
  return (complex){x.re + y.re, x.im + y.im};
}
static inline complex minus_complex(complex x, complex y) {
  return (complex){x.re - y.re, x.im - y.im};
}
static inline complex times_complex(complex x, complex y) {
  return (complex){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
static inline complex conjugate_complex(complex x) { return (complex){x.re, -x.im}; }
static inline double size_complex(complex x) { return sb__magnitude(x.re) + sb__magnitude(x.im); }
static inline double square_complex(complex x) { return x.re * x.re + x.im * x.im; }
static inline double real_complex(complex x) { return x.re; }
static inline bool is_real_complex(complex x) { return x.im == 0; }
static inline complex of_real_complex(double x) { return (complex){x, 0}; }

static inline complex one_complex(void) { return (complex){1, 0}; }
static inline complex scaled_complex(complex x, double by) {
  return (complex){x.re * by, x.im * by};
}
static inline complex divided_complex(complex x, double by) {
  return (complex){x.re / by, x.im / by};
}
static inline double length_complex(complex x) { return sb__hypot(x.re, x.im); }

#endif
