/* bounds.c has what these do. n items; a multiple of 16. */
#ifndef BOUNDS_H
#define BOUNDS_H

#include <stdint.h>

void bound_lines(char *to, const char *from, int n, int size, int rows, int columns, int width, int stream);
void bound_runs(char *to, const char *from, int a, int b, int d, int run, int together, int stream);
void bound_cast(char *to, const char *from, int64_t n, int which, int stream);

#endif
