#pragma once
#include <stdarg.h>
#include <stddef.h>

int snprintf(char *text, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int vsnprintf(char *text, size_t capacity, const char *format, va_list arguments);
int rename(const char *from, const char *to);
int sscanf(const char *text, const char *format, ...) __attribute__((format(scanf, 2, 3)));
typedef struct __sFILE FILE;
extern FILE *__stdoutp;
#define stdout __stdoutp
int fflush(FILE *file);
