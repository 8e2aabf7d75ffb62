/* The parsers of files as a module of their own, which imports and allocates nothing. JavaScript grows its memory, copies
 * the input to the end of the module's own data, and reads the words and the error message. */
#include <stdarg.h>

#include "formats/formats.h"

#define WASM_EXPORT(name) __attribute__((export_name(#name), used))

extern uint8_t __heap_base[];

static double counts[2]; /* count and wanted of the sb__reader */
static char message[512];

WASM_EXPORT(sb_room) uint8_t *sb__wasm_room(void);
WASM_EXPORT(sb_found) double *sb__wasm_found(void);
WASM_EXPORT(sb_message) char *sb__wasm_message(void);
WASM_EXPORT(sb_parse)
sb_status sb__wasm_parse(int32_t which, double given, double total, double base, double *words,
                         double room);

uint8_t *sb__wasm_room(void) { return __heap_base; } /* the input buffer; a multiple of 16 */
double *sb__wasm_found(void) { return counts; }
char *sb__wasm_message(void) { return message; }

/* Parses the input at sb_room; room: words of the output. */
sb_status sb__wasm_parse(int32_t which, double given, double total, double base, double *words,
                         double room) {
  sb__reader r = {.bytes = __heap_base,
                  .given = (int64_t)given,
                  .total = (int64_t)total,
                  .base = (int64_t)base,
                  .words = words,
                  .room = (int64_t)room};
  const sb_status status = sb__parse(which, &r);
  counts[0] = (double)r.count;
  counts[1] = (double)r.wanted;
  return status;
}

/* ---- Replaces core/error.c, whose printf would be a third of the module ---- */

static size_t length; /* of the message */

static void put_char(char c) {
  if (length < sizeof message - 1) message[length++] = c;
  message[length] = 0;
}

static void put_integer(uint64_t n) {
  if (n > 9) put_integer(n / 10);
  put_char((char)('0' + n % 10));
}

/* Supports what parsers use: %s, and %lld of numbers that are not negative. */
sb_status sb__fail(sb_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  for (length = 0; *format; format++) {
    if (*format != '%') {
      put_char(*format);
    } else if (*++format == 's') {
      for (const char *text = va_arg(arguments, const char *); *text; text++) put_char(*text);
    } else {
      put_integer((uint64_t)va_arg(arguments, long long));
      format += 2;
    }
  }
  va_end(arguments);
  return status;
}
