/* Numbers of one type in shared memory: shm_open, fstat, mmap. Nothing in it knows samebytes.
 *
 *   numbers /NAME TYPE   holds what is there against the three values of the row, and leaves them in another order: 2 0 1 */
#include <complex.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TYPES(X)                                                                                 \
 X(bool, _Bool, true, true, false)                                                               \
 X(uint8, uint8_t, 0, UINT8_MAX, 'A')                                                            \
 X(int8, int8_t, INT8_MIN, INT8_MAX, -2)                                                         \
 X(uint16, uint16_t, 0, UINT16_MAX, 0x1234)                                                      \
 X(int16, int16_t, INT16_MIN, INT16_MAX, -0x1234)                                                \
 X(uint32, uint32_t, 0, UINT32_MAX, 0x12345678)                                                  \
 X(int32, int32_t, INT32_MIN, INT32_MAX, -0x12345678)                                            \
 X(uint64, uint64_t, 0, UINT64_MAX, 0x123456789abcdef0)                                          \
 X(int64, int64_t, INT64_MIN, INT64_MAX, -0x123456789abcdef0)                                    \
 X(float32, float, -0.1f, FLT_MAX, FLT_TRUE_MIN)                                                 \
 X(float64, double, -0.1, DBL_MAX, DBL_TRUE_MIN)                                                 \
 X(complex64, float _Complex, CMPLXF(1.5f, -2), CMPLXF(-0.0f, FLT_MAX), CMPLXF(-INFINITY, 0.1f)) \
 X(complex128, double _Complex, CMPLX(1.5, -2), CMPLX(-0.0, DBL_MAX), CMPLX(-INFINITY, 0.1))

static int failed(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  return 1;
}

int main(int argc, char **argv) {
  struct stat stat;
  if (argc != 3) return 2;
  const int file = shm_open(argv[1], O_RDWR, 0);
  if (file < 0 || fstat(file, &stat)) return failed(argv[1]);
  const size_t nbytes = (size_t)stat.st_size;
  void *data = mmap(NULL, nbytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) return failed("mmap");
  close(file);
#define CHECK(name, type, a, b, c)                                 \
 if (!strcmp(argv[2], #name)) {                                    \
  const type values[3] = {a, b, c};                                \
  type *array = data;                                              \
  if (nbytes != sizeof values || memcmp(array, values, nbytes)) {  \
   fprintf(stderr, "%zu bytes of " #type " are others\n", nbytes); \
   return 1;                                                       \
  }                                                                \
  for (int i = 0; i < 3; i++) array[i] = values[(i + 2) % 3];      \
  return 0;                                                        \
 }
  TYPES(CHECK)
  fprintf(stderr, "no type %s\n", argv[2]);
  return 2;
}
