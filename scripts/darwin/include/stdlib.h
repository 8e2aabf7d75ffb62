#pragma once
#include <stddef.h>

void *malloc(size_t nbytes);
void *calloc(size_t count, size_t nbytes);
void *realloc(void *data, size_t nbytes);
void free(void *data);
int posix_memalign(void **data, size_t alignment, size_t nbytes);
char *getenv(const char *name);
int setenv(const char *name, const char *value, int replaces);
long strtol(const char *text, char **end, int base);
double strtod(const char *text, char **end);
unsigned long long strtoull(const char *text, char **end, int base);
void abort(void) __attribute__((noreturn));
void qsort(void *data, size_t count, size_t nbytes, int (*compare)(const void *, const void *));
