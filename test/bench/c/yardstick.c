/* What the benches hold the library against: the C library's memcpy and memset, and a plain loop of
 * non-temporal stores, called from JavaScript on the very memory that the library uses.
 *
 *   memcpy (to, from, nbytes, times)   stream (to, from, nbytes)   memset (to, byte, nbytes)
 *
 * and, on x86, the loops of bounds.c
 *
 *   lines (to, from, n, size, rows, columns, width, stream)   runs (to, from, a, b, d, run, together, stream)
 *   cast (to, from, n, which, stream)
 *
 * and
 *
 *   noop (integer) → integer   a call of Node-API, and nothing else
 *
 * Built by `scripts/build bench`. to and from are Uint8Arrays of at least nbytes. */
#include <node_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "bounds.h"

#if defined(__x86_64__)
# include <immintrin.h>

/* Whole lines to aligned addresses; to and from have the same distance to one. */
__attribute__((target("avx"))) static void stream_lines(char *to, const char *from, size_t nbytes) {
  for (size_t i = 0; i < nbytes; i += 64) {
    const __m256i a = _mm256_loadu_si256((const __m256i *)(const void *)(from + i));
    const __m256i b = _mm256_loadu_si256((const __m256i *)(const void *)(from + i + 32));
    _mm256_stream_si256((__m256i *)(void *)(to + i), a);
    _mm256_stream_si256((__m256i *)(void *)(to + i + 32), b);
  }
  _mm_sfence();
}

static void stream_bytes(char *to, const char *from, size_t nbytes) {
  const size_t head = (size_t)(-(uintptr_t)to & 63u), lines = nbytes < head ? 0 : (nbytes - head) / 64 * 64;
  if (!__builtin_cpu_supports("avx") || lines == 0) {
    memcpy(to, from, nbytes);
    return;
  }
  memcpy(to, from, head);
  stream_lines(to + head, from + head, lines);
  memcpy(to + head + lines, from + head + lines, nbytes - head - lines);
}
#else
static void stream_bytes(char *to, const char *from, size_t nbytes) { memcpy(to, from, nbytes); }
#endif

static void *(*volatile copy_bytes)(void *, const void *, size_t) = memcpy; /* called, not inlined */
static void *(*volatile set_bytes)(void *, int, size_t) = memset;

static char *bytes_of(napi_env env, napi_value array) {
  void *data = NULL;
  napi_get_typedarray_info(env, array, NULL, NULL, &data, NULL, NULL);
  return data;
}

static int64_t number_of(napi_env env, napi_value value) {
  int64_t number = 0;
  napi_get_value_int64(env, value, &number);
  return number;
}

static void arguments(napi_env env, napi_callback_info info, napi_value argv[4]) {
  size_t argc = 4;
  napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
}

static napi_value js_noop(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, result = NULL;
  size_t count = 1;
  int32_t x = 0;
  napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
  napi_get_value_int32(env, argument, &x);
  napi_create_int32(env, x, &result);
  return result;
}

static napi_value js_memcpy(napi_env env, napi_callback_info info) {
  napi_value argv[4];
  arguments(env, info, argv);
  char *to = bytes_of(env, argv[0]);
  const char *from = bytes_of(env, argv[1]);
  const size_t nbytes = (size_t)number_of(env, argv[2]);
  const int64_t times = number_of(env, argv[3]);
  for (int64_t i = 0; i < times; i++) copy_bytes(to, from, nbytes);
  return NULL;
}

static napi_value js_stream(napi_env env, napi_callback_info info) {
  napi_value argv[4];
  arguments(env, info, argv);
  stream_bytes(bytes_of(env, argv[0]), bytes_of(env, argv[1]), (size_t)number_of(env, argv[2]));
  return NULL;
}

static napi_value js_memset(napi_env env, napi_callback_info info) {
  napi_value argv[4];
  arguments(env, info, argv);
  set_bytes(bytes_of(env, argv[0]), (int)number_of(env, argv[1]), (size_t)number_of(env, argv[2]));
  return NULL;
}

#if defined(__x86_64__)
enum { MOST = 8 };

/* Two arrays, then integers. */
static void loop_arguments(napi_env env, napi_callback_info info, char **to, const char **from, int integers[MOST - 2]) {
  napi_value argv[MOST];
  size_t argc = MOST;
  napi_get_cb_info(env, info, &argc, argv, NULL, NULL);
  *to = bytes_of(env, argv[0]);
  *from = bytes_of(env, argv[1]);
  for (int i = 0; i < MOST - 2; i++) integers[i] = (int)number_of(env, argv[i + 2]);
}

static napi_value js_lines(napi_env env, napi_callback_info info) {
  char *to = NULL;
  const char *from = NULL;
  int x[MOST - 2];
  loop_arguments(env, info, &to, &from, x);
  bound_lines(to, from, x[0], x[1], x[2], x[3], x[4], x[5]);
  return NULL;
}

static napi_value js_runs(napi_env env, napi_callback_info info) {
  char *to = NULL;
  const char *from = NULL;
  int x[MOST - 2];
  loop_arguments(env, info, &to, &from, x);
  bound_runs(to, from, x[0], x[1], x[2], x[3], x[4], x[5]);
  return NULL;
}

static napi_value js_cast(napi_env env, napi_callback_info info) {
  char *to = NULL;
  const char *from = NULL;
  int x[MOST - 2];
  loop_arguments(env, info, &to, &from, x);
  bound_cast(to, from, x[0], x[1], x[2]);
  return NULL;
}

static bool has_loops(void) { return __builtin_cpu_supports("avx2"); }
#else
static napi_value js_lines(napi_env env, napi_callback_info info) { return (void)env, (void)info, NULL; }
static napi_value js_runs(napi_env env, napi_callback_info info) { return js_lines(env, info); }
static napi_value js_cast(napi_env env, napi_callback_info info) { return js_lines(env, info); }
static bool has_loops(void) { return false; }
#endif

NAPI_MODULE_INIT() {
  static const struct {
    const char *name;
    napi_callback function;
  } functions[] = {{"noop", js_noop}, {"memcpy", js_memcpy}, {"stream", js_stream}, {"memset", js_memset},
                   {"lines", js_lines},   {"runs", js_runs},     {"cast", js_cast}};
  const size_t count = sizeof functions / sizeof *functions;
  for (size_t i = 0; i < (has_loops() ? count : 3); i++) {
    napi_value function = NULL;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function, NULL, &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  return exports;
}
