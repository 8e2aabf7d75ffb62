/* What the C tests share: checks, random numbers, layouts to try. */
#ifndef CHECK_H
#define CHECK_H

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bind/frame.h"
#include "core/core.h"
#include "samebytes.h"

static int check_failures, tests_failed;

#define CHECK(condition)                                    \
 do {                                                       \
  if (!(condition) && check_failures++ < 5)                 \
   printf("  %s:%d: %s\n", __FILE__, __LINE__, #condition); \
 } while (0)

#define EQ(actual, expected)                                                               \
 do {                                                                                      \
  const int64_t a_ = (int64_t)(actual), e_ = (int64_t)(expected);                          \
  if (a_ != e_ && check_failures++ < 5)                                                    \
   printf("  %s:%d: %s is %" PRId64 " (0x%" PRIx64 "), not %" PRId64 " (0x%" PRIx64 ")\n", \
          __FILE__, __LINE__, #actual, a_, (uint64_t)a_, e_, (uint64_t)e_);                \
 } while (0)

/* The call fails with status, leaves out as it was, and no storage behind. */
#define FAILS(status, call)                                   \
 do {                                                         \
  const int64_t storages = sb__storage_totals_now().storages; \
  sb_tensor out, was;                                         \
  memset(&out, 0x5a, sizeof out);                             \
  was = out;                                                  \
  EQ(call, status);                                           \
  CHECK(!memcmp(&out, &was, sizeof out));                     \
  CHECK(sb_error_message()[0]);                               \
  EQ(sb__storage_totals_now().storages, storages);            \
 } while (0)

/* Runs call with the first, second, … allocation failing until it succeeds; also is checked after each
 * failure. */
#define UNTIL_OK(least, call, also)                           \
 do {                                                         \
  int64_t n = 1;                                              \
  const int64_t storages = sb__storage_totals_now().storages; \
  for (; n < 100; n++) {                                      \
   sb__fail_allocation(n);                                    \
   const sb_status s_ = call;                                 \
   sb__fail_allocation(0);                                    \
   if (!s_) break;                                            \
   EQ(s_, SB_ERR_MEMORY);                                     \
   also;                                                      \
   EQ(sb__storage_totals_now().storages, storages);           \
  }                                                           \
  EQ(n, (least) + 1);                                         \
 } while (0)

static inline void test(const char *name, void (*run)(void)) {
  check_failures = 0;
  run();
  printf("%s - %s\n", check_failures ? "not ok" : "ok", name);
  fflush(stdout);
  tests_failed += check_failures > 0;
}

static inline int done(void) { return tests_failed > 0; }

/* xorshift64*: the same numbers in every run. */
static SB_THREAD_LOCAL uint64_t random_state = 1; /* a thread of a test has its own */
static inline uint64_t random_bits(void) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * UINT64_C(2685821657736338717);
}
static inline int64_t random_in(int64_t low, int64_t high) { /* both included */
  return low + (int64_t)((random_bits() >> 16) % (uint64_t)(high - low + 1));
}

#define DIMS(...) \
 (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (const int64_t[]) { __VA_ARGS__ }
#define LIST(...) ((const int64_t[]){__VA_ARGS__})

/* Compares everything that an operation may write. */
static inline bool same_layout(const sb_tensor *a, const sb_tensor *b) {
  if (a->storage != b->storage || a->dtype != b->dtype || a->ndim != b->ndim ||
      a->offset != b->offset || a->flags != b->flags)
    return false;
  for (int32_t d = 0; d < a->ndim; d++)
    if (a->shape[d] != b->shape[d] || a->strides[d] != b->strides[d]) return false;
  return true;
}

/* A random layout that lies inside the storage, or false. */
static inline bool random_layout(sb_storage *storage, sb_dtype dtype, int32_t ndim, int64_t least,
                                 int64_t most, int64_t stride, sb_tensor *out) {
  int64_t shape[SB_MAX_DIMS], strides[SB_MAX_DIMS], low = 0, high = 0;
  for (int32_t d = 0; d < ndim; d++) {
    shape[d] = random_in(least, most);
    strides[d] = random_in(-stride, stride);
    const int64_t reach = shape[d] ? (shape[d] - 1) * strides[d] : 0;
    if (reach < 0)
      low += reach;
    else
      high += reach;
  }
  const int64_t room = (int64_t)sb_storage_nbytes(storage) / sb_dtype_itemsize(dtype);
  if (high - low + 1 > room) return false;
  const int64_t offset = random_in(-low, room - 1 - high);
  return sb_tensor_init(storage, dtype, ndim, shape, strides, offset, out) == SB_OK;
}

/* Next index in row-major order; false after the last. Call only with elements. */
static inline bool next_index(const sb_tensor *t, int64_t *index) {
  for (int32_t d = t->ndim - 1; d >= 0; d--) {
    if (++index[d] < t->shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

static inline int64_t place_of(const sb_tensor *t, const int64_t *index) {
  int64_t at = t->offset;
  for (int32_t d = 0; d < t->ndim; d++) at += index[d] * t->strides[d];
  return at;
}

/* Elements of the storage, in row-major order of the tensor. */
static inline int64_t places(const sb_tensor *t, int64_t *out, int64_t most) {
  int64_t index[SB_MAX_DIMS] = {0}, n = 0;
  if (sb_tensor_numel(t) == 0) return 0;
  do {
    if (n < most) out[n] = place_of(t, index);
    n++;
  } while (next_index(t, index));
  return n;
}

#endif
