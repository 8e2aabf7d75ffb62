#include "check.h"
#include "ops/parallel.h"

#include <stdlib.h>

#include "kernels/kernels.h"

enum { SIZE = 1024 };
static char one[SIZE] __attribute__((aligned(64))), two[SIZE] __attribute__((aligned(64)));
static sb_storage first, second;

static bool itself(const sb_tensor *t) {
  static uint8_t seen[SIZE];
  static int64_t at[100000];
  const int64_t size = sb_dtype_itemsize(t->dtype), n = places(t, at, 100000);
  memset(seen, 0, sizeof seen);
  for (int64_t i = 0; i < n; i++) {
    if (seen[at[i] * size]) return true;
    memset(seen + at[i] * size, 1, (size_t)size);
  }
  return false;
}

static bool shared(const sb_tensor *a, const sb_tensor *b) {
  static uint8_t seen[SIZE];
  static int64_t at[100000];
  const int64_t size = sb_dtype_itemsize(a->dtype), other = sb_dtype_itemsize(b->dtype);
  int64_t n = places(a, at, 100000);
  memset(seen, 0, sizeof seen);
  for (int64_t i = 0; i < n; i++) memset(seen + at[i] * size, 1, (size_t)size);
  n = places(b, at, 100000);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < other; j++)
      if (seen[at[i] * other + j]) return true;
  return false;
}

static const sb_dtype sizes[] = {SB_INT8, SB_INT16, SB_FLOAT32, SB_COMPLEX64, SB_COMPLEX128};

static void overlaps(void) {
  random_state = 21;
  int yes = 0, no = 0;
  for (int round = 0; round < 20000; round++) {
    sb_tensor t;
    bool found = false;
    if (!random_layout(&first, sizes[round % 5], (int32_t)random_in(0, 4), round % 16 ? 1 : 0, 4,
                       random_in(1, 12), &t))
      continue;
    EQ(sb_overlaps_itself(&t, &found), SB_OK);
    EQ(found, itself(&t));
    if (found)
      yes++;
    else
      no++;
  }
  CHECK(yes > 1000 && no > 1000);
}

static void shares(void) {
  random_state = 22;
  int yes = 0, no = 0;
  for (int round = 0; round < 20000; round++) {
    sb_tensor a, b;
    bool found = false;
    sb_storage near; /* a piece of the same bytes: addresses count, not storages */
    sb__storage_borrow(one, (size_t)random_in(64, 512), &near);
    if (!random_layout(&near, sizes[random_in(0, 4)], (int32_t)random_in(0, 3), round % 16 ? 1 : 0,
                       4, 8, &a))
      continue;
    if (!random_layout(&first, sizes[random_in(0, 4)], (int32_t)random_in(0, 3), 1, 4, 8, &b))
      continue;
    EQ(sb_shares_memory(&a, &b, &found), SB_OK);
    EQ(found, shared(&a, &b));
    EQ(sb_shares_memory(&b, &a, &found), SB_OK);
    EQ(found, shared(&a, &b));
    if (found)
      yes++;
    else
      no++;
  }
  CHECK(yes > 1000 && no > 1000);
}

static int64_t load(const char *at, sb_dtype dtype) {
  int64_t x = 0;
  const size_t size = (size_t)sb_dtype_itemsize(dtype);
  memcpy(&x, at, size < 8 ? size : 8); /* little-endian */
  if (sb_dtype_kind(dtype) == SB_SIGNED && size < 8)
    x = (int64_t)((uint64_t)x << (64 - 8 * size)) >> (64 - 8 * size);
  return x;
}

static void copies(void) {
  static char wanted[SIZE], picked[100000 * 16];
  static int64_t to[100000], from[100000];
  static const sb_dtype ints[] = {SB_UINT8, SB_INT8,   SB_INT16, SB_UINT16,
                                  SB_INT32, SB_UINT32, SB_INT64, SB_UINT64};
  random_state = 23;
  int done_ = 0, refused = 0, staged_ = 0;
  for (int round = 0; round < 40000; round++) {
    sb_tensor dst, src, wide;
    int64_t staged = 0, index[SB_MAX_DIMS] = {0};
    const bool casts = round % 2, same = round % 4 > 1;
    const sb_dtype a = casts ? ints[random_in(0, 7)] : sizes[random_in(0, 4)];
    const sb_dtype b = casts ? ints[random_in(0, 7)] : a;
    for (int i = 0; i < SIZE; i++) {
      one[i] = (char)(random_bits() >> 40);
      two[i] = (char)(random_bits() >> 40);
    }
    if (!random_layout(&first, a, (int32_t)random_in(0, 4), round % 32 ? 1 : 0, 4, random_in(1, 20),
                       &dst))
      continue;
    /* src: dst's last axes, some of extent 1, other strides. */
    int64_t shape[4], strides[4], low = 0, high = 0;
    const int32_t skip = (int32_t)random_in(0, dst.ndim) / 2, ndim = dst.ndim - skip;
    const bool alike = random_in(0, 3) == 0 && a == b && !skip;
    for (int32_t d = 0; d < ndim; d++) {
      shape[d] = random_in(0, 4) || alike ? dst.shape[d + skip] : 1;
      strides[d] = alike ? dst.strides[d] : random_in(-12, 12);
      const int64_t reach = shape[d] ? (shape[d] - 1) * strides[d] : 0;
      if (reach < 0)
        low += reach;
      else
        high += reach;
    }
    const int64_t room = SIZE / sb_dtype_itemsize(b);
    if (high - low + 1 > room) continue;
    int64_t offset = random_in(-low, room - 1 - high);
    if (alike && same) { /* nearly in place: shifted a little, in either direction */
      offset = dst.offset + random_in(-3, 3);
      if (offset < -low || offset > room - 1 - high) continue;
    }
    EQ(sb_tensor_init(same ? &first : &second, b, ndim, shape, strides, offset, &src), SB_OK);
    EQ(sb_broadcast_to(&src, dst.ndim, dst.shape, &wide), SB_OK);
    memset(index, 0, sizeof index);
    const int64_t n = places(&dst, to, 100000), x = sb_dtype_itemsize(a), y = sb_dtype_itemsize(b);
    EQ(places(&wide, from, 100000), n);
    memcpy(wanted, one, SIZE);
    for (int64_t i = 0; i < n; i++)
      memcpy(picked + i * 16, (same ? one : two) + from[i] * y, (size_t)y);
    for (int64_t i = 0; i < n; i++) {
      const int64_t value = casts ? load(picked + i * 16, b) : 0;
      memcpy(wanted + to[i] * x, casts ? (const char *)&value : picked + i * 16, (size_t)x);
    }
    const sb_status status = sb_copy(&dst, &src, SB_CASTING_SAME_KIND, &staged);
    if (itself(&dst)) {
      EQ(status, SB_ERR_OVERLAP);
      refused++;
      continue;
    }
    EQ(status, SB_OK);
    CHECK(!memcmp(one, wanted, SIZE));
    if (!same) EQ(staged, 0);
    if (staged) {
      staged_++;
      EQ(staged, sb_tensor_nbytes(&src));
    }
    done_++;
  }
  CHECK(done_ > 5000 && refused > 1000 && staged_ > 500);
}

/* A layout of three axes as pixels, tables and small matrices have it: dense, then cut, permuted, reversed or repeated. */
static bool block_layout(sb_storage *storage, sb_dtype dtype, const int64_t shape[3], bool target,
                         sb_tensor *t) {
  static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  const int *axes = order[random_in(0, 2) ? 0 : random_in(0, 5)];
  int64_t strides[3], step = 1, offset = 0;
  for (int i = 2; i >= 0; i--) { /* from the innermost in memory on */
    const int d = axes[i];
    const int64_t gap = random_in(0, 3) ? 0 : random_in(1, 4);
    strides[d] = step * (random_in(0, 7) ? 1 : 2);
    step = strides[d] * (shape[d] + gap);
    if (!target && random_in(0, 9) == 0) {
      strides[d] = 0;
    } else if (random_in(0, 5) == 0) {
      offset += (shape[d] - 1) * strides[d];
      strides[d] = -strides[d];
    }
  }
  const int64_t numel = step + random_in(0, 3);
  offset += numel - step;
  const int64_t nbytes = numel * sb_dtype_itemsize(dtype);
  char *bytes =
      malloc((size_t)nbytes); /* its own, so that a sanitizer sees what goes past its ends */
  if (!bytes) return false;
  for (int64_t i = 0; i < nbytes; i++) bytes[i] = (char)(random_bits() >> 40);
  sb__storage_borrow(bytes, (size_t)nbytes, storage);
  EQ(sb_tensor_init(storage, dtype, 3, shape, strides, offset, t), SB_OK);
  return true;
}

static void blocks(void) {
  static const sb_dtype ints[] = {SB_UINT8, SB_INT8, SB_INT16, SB_UINT16, SB_INT32, SB_INT64};
  static int64_t to[100000], from[100000];
  const sb__kernels *levels[SB__MOST_LEVELS];
  const int count = sb__kernels_all(levels);
  random_state = 29;
  for (int round = 0; round < 6000; round++) {
    sb_storage a, b;
    sb_tensor dst, src;
    const bool casts = round % 2;
    const bool floats = round % 8 == 1; /* pixels as models take them */
    const sb_dtype x = floats ? SB_FLOAT32 : casts ? ints[random_in(0, 5)] : sizes[random_in(0, 4)];
    const sb_dtype y = floats ? SB_UINT8 : casts ? ints[random_in(0, 3)] : x;
    const int64_t shape[] = {random_in(1, 6), random_in(1, random_in(0, 3) ? 70 : 400),
                             random_in(1, random_in(0, 3) ? 6 : 20)};
    sb__kernels_use(levels[round % count]);
    if (!block_layout(&a, x, shape, true, &dst) || !block_layout(&b, y, shape, false, &src)) break;
    const int64_t n = places(&dst, to, 100000), size = sb_dtype_itemsize(x);
    EQ(places(&src, from, 100000), n);
    char *wanted = malloc(a.nbytes);
    if (!wanted) break;
    memcpy(wanted, a.data, a.nbytes);
    for (int64_t i = 0; i < n; i++) {
      const char *item = (const char *)b.data + from[i] * sb_dtype_itemsize(y);
      const int64_t value = casts ? load(item, y) : 0;
      const float real = (float)value;
      const char *bytes = floats ? (const char *)&real : casts ? (const char *)&value : item;
      memcpy(wanted + to[i] * size, bytes, (size_t)size);
    }
    EQ(sb_copy(&dst, &src, SB_CASTING_UNSAFE, NULL), SB_OK);
    CHECK(!memcmp(a.data, wanted, a.nbytes));
    free(wanted);
    free(a.data);
    free(b.data);
  }
  sb__kernels_use(NULL);
}

static void refusals(void) {
  sb_tensor dst, src;
  char was[SIZE];
  int64_t staged = 5;
  memcpy(was, one, SIZE);
  EQ(sb_tensor_init(&first, SB_FLOAT32, DIMS(4), NULL, 0, &dst), SB_OK);
  EQ(sb_tensor_init(&second, SB_FLOAT32, DIMS(3), NULL, 0, &src), SB_OK);
  EQ(sb_copy(&dst, &src, SB_CASTING_SAFE, &staged), SB_ERR_SHAPE);
  EQ(sb_tensor_init(&second, SB_FLOAT64, DIMS(4), NULL, 0, &src), SB_OK);
  EQ(sb_copy(&dst, &src, SB_CASTING_SAFE, &staged), SB_ERR_CAST);
  EQ(sb_copy(&dst, &src, (sb_casting)3, &staged), SB_ERR_ARGUMENT);
  dst.flags = SB_READ_ONLY;
  EQ(sb_copy(&dst, &src, SB_CASTING_UNSAFE, &staged), SB_ERR_READ_ONLY);
  EQ(sb_fill(&dst, &(sb_scalar){.kind = SB_SCALAR_INT}), SB_ERR_READ_ONLY);
  EQ(staged, 5);
  CHECK(!memcmp(was, one, SIZE));
}

/* Its block is allocated, and only speeds it up. */
static void short_of_memory(void) {
  enum { ROWS = 301, COLUMNS = 203 };
  static float from[ROWS][COLUMNS];
  static double to[COLUMNS][ROWS];
  sb_storage s, t;
  sb_tensor src, dst;
  for (int i = 0; i < ROWS * COLUMNS; i++) from[i / COLUMNS][i % COLUMNS] = (float)i;
  sb__storage_borrow(from, sizeof from, &s);
  sb__storage_borrow(to, sizeof to, &t);
  EQ(sb_tensor_init(&s, SB_FLOAT32, DIMS(COLUMNS, ROWS), LIST(1, COLUMNS), 0, &src), SB_OK);
  EQ(sb_tensor_init(&t, SB_FLOAT64, DIMS(COLUMNS, ROWS), NULL, 0, &dst), SB_OK);
  sb__threads_use(1);
  for (int fails = 0; fails < 2; fails++) {
    memset(to, 0, sizeof to);
    sb__fail_allocation(fails);
    EQ(sb_copy(&dst, &src, SB_CASTING_SAFE, NULL), SB_OK);
    sb__fail_allocation(0);
    for (int i = 0; i < ROWS; i++)
      for (int k = 0; k < COLUMNS; k++) EQ(to[k][i], from[i][k]);
  }
  sb__threads_use(0);
}

int main(void) {
  sb__storage_borrow(one, SIZE, &first);
  sb__storage_borrow(two, SIZE, &second);
  test("sb_overlaps_itself agrees with brute force on 20,000 layouts", overlaps);
  test("sb_shares_memory agrees with brute force on 20,000 pairs", shares);
  test("sb_copy equals copying away first, and leaves every other byte, 40,000 times", copies);
  test("pixels, tables and small matrices at every level, and no byte beside them", blocks);
  test("a large transpose that gets no memory for its block has the same result", short_of_memory);
  test("a refused copy or fill writes nothing", refusals);
  return done();
}
