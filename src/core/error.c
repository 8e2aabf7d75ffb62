/* The message of a thread's last failure, and the names of the codes. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/core.h"

#ifdef __EMSCRIPTEN__
/* emscripten's variant for small modules: without long double, half of the code. */
int __small_vsnprintf(char *text, size_t capacity, const char *format, va_list arguments);
# define vsnprintf __small_vsnprintf
#endif

static SB_THREAD_LOCAL char message[512];

static const char *const names[] = {"OK",
#define X(code, class, meaning) #code,
                                    SB_ERRORS(X)
#undef X
};

int sb__print(char *text, size_t capacity, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(text, capacity, format, arguments);
  va_end(arguments);
  return length;
}

/* What the text of a double reads as; NaN where more than one rounding would be needed to tell. */
static double read_digits(const char *c) {
  const double sign = *c == '-' ? -1 : 1;
  int64_t digits = 0; /* at most 16 of them */
  int exponent = 0, shift = 0;
  bool is_fraction = false;
  for (c += *c == '-'; *c == '.' || (*c >= '0' && *c <= '9'); c++) {
    if (*c == '.') {
      is_fraction = true;
    } else {
      digits = digits * 10 + (*c - '0');
      shift -= is_fraction;
    }
  }
  if (*c == 'e') {
    const bool is_down = c[1] == '-';
    for (c += 2; *c; c++) exponent = exponent * 10 + (*c - '0');
    if (is_down) exponent = -exponent;
  }
  shift += exponent;
  if (*c || digits > INT64_C(1) << 53 || shift < -22 || shift > 22) return NAN;
  double power = 1; /* exact up to 10^22 */
  for (int i = shift < 0 ? -shift : shift; i > 0; i--) power *= 10;
  return sign * (shift < 0 ? (double)digits / power : (double)digits * power);
}

sb__digits sb__digits_of(double x) {
  sb__digits out;
  for (int n = 15; n <= 17; n++) {
    sb__print(out.text, sizeof out.text, "%.*g", n, x);
    if (n < 17 && read_digits(out.text) == x) break;
  }
  return out;
}

sb_status sb__fail(sb_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return status;
}

const char *sb_error_message(void) { return message; }

const char *sb_status_name(sb_status status) {
  const size_t i = (size_t)status;
  return i < sizeof names / sizeof names[0] ? names[i] : "?";
}
