/* The message of a thread's last failure, and the names of the codes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/core.h"

#ifdef __EMSCRIPTEN__
/* Without floating point, which is most of the code: JavaScript writes the digits of a double, at most 31. */
int vsniprintf(char *text, size_t capacity, const char *format, va_list arguments);
# define vsnprintf vsniprintf
__attribute__((import_module("samebytes"), import_name("write_digits"))) void write_digits(
    char *to, double x);
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

#ifdef __EMSCRIPTEN__
sb__digits sb__digits_of(double x) {
  sb__digits out = {""};
  write_digits(out.text, x);
  return out;
}
#else
sb__digits sb__digits_of(double x) {
  sb__digits out;
  for (int n = 15; n <= 17; n++) {
    sb__print(out.text, sizeof out.text, "%.*g", n, x);
    if (n < 17 && strtod(out.text, NULL) == x) break;
  }
  return out;
}
#endif

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
