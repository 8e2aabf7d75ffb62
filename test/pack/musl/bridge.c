/* What Debian's libstdc++ and libgcc expect of glibc beyond musl's own functions, so that they serve a program for musl:
 * there is no libstdc++ for musl in Debian. Stands in for glibc's loader, which they name. */
#include <locale.h>
#include <stddef.h>
#include <sys/random.h>
#include <time.h>

char __libc_single_threaded;
int __cpu_model[4];

int __cpu_indicator_init(void) { return 0; }

unsigned arc4random(void) {
  unsigned n = 0;
  (void)!getrandom(&n, sizeof n, 0);
  return n;
}

size_t __strftime_l(char *text, size_t n, const char *format, const struct tm *at, locale_t locale) {
  return strftime_l(text, n, format, at, locale);
}

/* Destructors of a thread's objects; without them a thread leaks what it had. */
int __cxa_thread_atexit_impl(void (*destroy)(void *), void *object, void *library) {
  (void)destroy, (void)object, (void)library;
  return 0;
}

/* No frame is found: an exception that is thrown ends the program. */
int _dl_find_object(void *address, void *found) {
  (void)address, (void)found;
  return -1;
}
