/* Prints a hash of what the loops of each level make of fixed inputs: random bit patterns and special values. All levels of a machine, and
 * of all machines, print the same hashes. hash.sh compares them.
 *
 *   hash [LEVEL]     lines: function, dtype, hash; the last level by default */
#include <stdio.h>
#include <string.h>

#include "math/math.h"

enum { COUNT = 1 << 14 };

static const char *const dtypes[SB_DTYPE_COUNT] = {
    [SB_BOOL] = "bool",       [SB_UINT8] = "uint8",         [SB_INT8] = "int8",
    [SB_INT16] = "int16",     [SB_UINT16] = "uint16",       [SB_INT32] = "int32",
    [SB_UINT32] = "uint32",   [SB_INT64] = "int64",         [SB_UINT64] = "uint64",
    [SB_FLOAT16] = "float16", [SB_BFLOAT16] = "bfloat16",   [SB_FLOAT32] = "float32",
    [SB_FLOAT64] = "float64", [SB_COMPLEX64] = "complex64", [SB_COMPLEX128] = "complex128"};

static const struct {
  const char *name;
  int count;
} ops[] = {
#define OP(name, count, domain, result, accuracy, text) {#name, count},
#include "math/ops.def"
#undef OP
};

static const sb__math_loops *const levels[] = {
#if defined(__wasm_simd128__)
    &sb__math_simd128,
#else
    &sb__math_scalar,
# if defined(__x86_64__)
    &sb__math_avx2,
    &sb__math_avx512,
# elif defined(__aarch64__)
    &sb__math_neon,
# endif
#endif
};

/* Dtypes that AVX-512 has no loops for take those of AVX2 (dispatch.c). */
static sb__math_loop loop_of(const sb__math_loops *level, int op, int dtype) {
#if defined(__x86_64__)
  if (level == &sb__math_avx512 && !level->each[op][dtype]) level = &sb__math_avx2;
#endif
  return level->each[op][dtype];
}

static uint64_t state;

static uint64_t next(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33 ^ state << 31 ^ state >> 11;
}

/* Floats of moderate size, small integers, special values, and bits. */
static double number(void) {
  static const double special[] = {0.0, -0.0, 1, -1, 0.5, -0.5, 2, 3, 1e30, -1e30, 1e-40, -1e-40};
  switch (next() % 6) {
    case 0: return special[next() % (sizeof special / sizeof *special)];
    case 1: return (double)(int64_t)(next() % 41) - 20;
    case 2: return ((double)(next() >> 11) * 0x1p-53 - 0.5) * 200;
    default: return ((double)(next() >> 11) * 0x1p-53 - 0.5) * 8;
  }
}

static void fill(char *bytes, sb_dtype dtype) {
  for (int i = 0; i < COUNT * 16; i += 8) {
    const uint64_t bits = next() % 7 ? next() : UINT64_C(0x7ff0000000000000) << (next() & 1);
    memcpy(bytes + i, &bits, 8);
  }
  if (dtype == SB_FLOAT32 || dtype == SB_COMPLEX64)
    for (int i = 0; i < COUNT * 4; i += 2) memcpy(bytes + 4 * i, &(float){(float)number()}, 4);
  if (dtype == SB_FLOAT64 || dtype == SB_COMPLEX128)
    for (int i = 0; i < COUNT * 2; i += 2) memcpy(bytes + 8 * i, &(double){number()}, 8);
  if (dtype <= SB_INT16)
    for (int i = 0; i < COUNT * 16; i += 5) bytes[i] = (char)(next() % 12);
}

static uint64_t hash_of(const char *bytes, size_t n) {
  uint64_t hash = 14695981039346656037u;
  for (size_t i = 0; i < n; i++) hash = (hash ^ (unsigned char)bytes[i]) * 1099511628211u;
  return hash;
}

static char a[COUNT * 16 + 64], b[COUNT * 16 + 64], c[COUNT * 16 + 64], to[COUNT * 16 + 64];

int main(int argc, char **argv) {
  const sb__math_loops *level = levels[sizeof levels / sizeof *levels - 1];
  for (size_t i = 0; argc > 1 && i < sizeof levels / sizeof *levels; i++)
    if (!strcmp(levels[i]->level, argv[1])) level = levels[i];
  if (argc > 1 && strcmp(level->level, argv[1]))
    return fprintf(stderr, "no level %s\n", argv[1]), 2;
  for (int op = 0; op < SB__OPS; op++) {
    for (int dtype = 0; dtype < SB_DTYPE_COUNT; dtype++) {
      const sb__math_loop loop = loop_of(level, op, dtype);
      if (!loop) continue;
      state = 12345;
      fill(a, (sb_dtype)dtype);
      fill(b, (sb_dtype)dtype);
      fill(c, (sb_dtype)dtype);
      if (!strcmp(ops[op].name, "where"))
        for (size_t i = 0; i < sizeof a; i++) a[i] = (char)(next() & 1);
      memset(to, 0, sizeof to);
      const char *const from[] = {a, b, c};
      loop(to, from, COUNT - 3); /* not a whole number of vectors */
      printf("%s %s %016llx\n", ops[op].name, dtypes[dtype],
             (unsigned long long)hash_of(to, sizeof to));
    }
  }
  return 0;
}
