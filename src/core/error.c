/* The message of a thread's last failure, and the names of the codes. */
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
