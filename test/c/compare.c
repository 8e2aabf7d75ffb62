/* sb_array_equal and sb_all_close against __int128 and long double, on random layouts and numbers. */
#include "check.h"

#define SIZE 4096

static char one[SIZE] __attribute__((aligned(64))), two[SIZE] __attribute__((aligned(64)));
static sb_storage first, second;

static bool equal(const sb_tensor *a, const sb_tensor *b) {
  bool out = false;
  EQ(sb_array_equal(a, b, false, &out), SB_OK);
  return out;
}

static bool close_to(const sb_tensor *a, const sb_tensor *b, double rtol, double atol) {
  bool out = false;
  EQ(sb_all_close(a, b, rtol, atol, false, &out), SB_OK);
  return out;
}

/* The exact value of a number in memory: all of these dtypes fit x87's 64 bits of precision. */
static long double value_of(sb_dtype dtype, const char *at) {
  switch (dtype) {
    case SB_INT64: return (long double)*(const int64_t *)(const void *)at;
    case SB_UINT64: return (long double)*(const uint64_t *)(const void *)at;
    case SB_FLOAT64: return (long double)*(const double *)(const void *)at;
    default: return (long double)*(const int32_t *)(const void *)at;
  }
}

/* Near powers of two and near each other, where rounding would show. */
static void write_number(sb_dtype dtype, char *at, uint64_t base, int64_t delta) {
  const int64_t i = (int64_t)(base + (uint64_t)delta);
  switch (dtype) {
    case SB_INT64: memcpy(at, &i, 8); break;
    case SB_UINT64: memcpy(at, &(uint64_t){(uint64_t)i}, 8); break;
    case SB_FLOAT64: {
      double x = (double)i;
      if (random_in(0, 3) == 0) x = nextafter(x, (double)random_in(-1, 1) * 1e300);
      memcpy(at, &x, 8);
      break;
    }
    default: memcpy(at, &(int32_t){(int32_t)i}, 4);
  }
}

static void pairs(void) {
  static const sb_dtype dtypes[] = {SB_INT64, SB_UINT64, SB_FLOAT64, SB_INT32};
  int yes = 0, no = 0;
  random_state = 62;
  for (int round = 0; round < 200000; round++) {
    sb_tensor a, b;
    const sb_dtype x = dtypes[random_in(0, 3)], y = dtypes[random_in(0, 3)];
    uint64_t base =
        random_in(0, 1) ? UINT64_C(1) << random_in(0, 63) : random_bits() >> random_in(0, 63);
    if (random_in(0, 3) == 0) base = (uint64_t) - (int64_t)(base >> 1);
    write_number(x, one, base, random_in(-2, 2));
    write_number(y, two, base, random_in(-2, 2));
    EQ(sb_tensor_init(&first, x, 0, NULL, NULL, 0, &a), SB_OK);
    EQ(sb_tensor_init(&second, y, 0, NULL, NULL, 0, &b), SB_OK);
    const long double p = value_of(x, one), q = value_of(y, two);
    CHECK(equal(&a, &b) == (p == q));
    CHECK(equal(&b, &a) == (p == q));
    CHECK(close_to(&a, &b, 0, 0) == (p == q));
    const double atol = (double)random_in(0, 4);
    if (fabsl(p - q) < 0x1p53L && truncl(p) == p && truncl(q) == q)
      CHECK(close_to(&a, &b, 0, atol) == (fabsl(p - q) <= (long double)atol));
    if (p == q)
      yes++;
    else
      no++;
  }
  CHECK(yes > 10000 && no > 10000);
}

static int64_t bytes_at(const char *base, const sb_tensor *t, int64_t place) {
  int64_t x = 0;
  memcpy(&x, base + place * sb_dtype_itemsize(t->dtype), (size_t)sb_dtype_itemsize(t->dtype));
  return x;
}

/* Equal element by element; one that differs anywhere is found. */
static void layouts(void) {
  static int64_t from[4096], to[4096];
  static const sb_dtype sizes[] = {SB_UINT8, SB_UINT16, SB_UINT32, SB_INT64};
  int yes = 0, no = 0;
  random_state = 63;
  for (int round = 0; round < 20000; round++) {
    sb_tensor a, b;
    const sb_dtype x = sizes[random_in(0, 3)], y = sizes[random_in(0, 3)];
    memset(one, 0, SIZE);
    memset(two, 0, SIZE);
    if (!random_layout(&first, x, (int32_t)random_in(0, 4), round % 32 ? 1 : 0, 5, 9, &a)) continue;
    if (!random_layout(&second, y, a.ndim, 1, 1, 9, &b)) continue;
    int64_t low = 0, high = 0;
    for (int32_t d = 0; d < a.ndim; d++) {
      b.shape[d] = a.shape[d];
      b.strides[d] = random_in(0, 3) ? random_in(-9, 9) : a.strides[d];
      const int64_t reach = b.shape[d] ? (b.shape[d] - 1) * b.strides[d] : 0;
      *(reach < 0 ? &low : &high) += reach;
    }
    if (high - low + 1 > SIZE / sb_dtype_itemsize(y)) continue;
    b.offset = random_in(-low, SIZE / sb_dtype_itemsize(y) - 1 - high);
    EQ(sb_tensor_init(&second, y, b.ndim, b.shape, b.strides, b.offset, &b), SB_OK);
    for (int i = 0; i < 60; i++) { /* most layouts are small and miss them */
      if (round % 3) one[random_in(0, SIZE - 1)] = 1;
      if (round % 3 == 1) two[random_in(0, SIZE - 1)] = 1;
    }
    const int64_t n = places(&a, from, 4096);
    EQ(places(&b, to, 4096), n);
    bool same = true;
    for (int64_t i = 0; i < n; i++)
      same = same && bytes_at(one, &a, from[i]) == bytes_at(two, &b, to[i]);
    CHECK(equal(&a, &b) == same);
    CHECK(close_to(&a, &b, 0, 0) == same);
    if (same)
      yes++;
    else
      no++;
  }
  CHECK(yes > 1000 && no > 500);
}

static void shapes(void) {
  sb_tensor a, b;
  bool out = true;
  EQ(sb_tensor_init(&first, SB_FLOAT32, DIMS(2, 1), NULL, 0, &a), SB_OK);
  EQ(sb_tensor_init(&second, SB_FLOAT32, DIMS(3), NULL, 0, &b), SB_OK);
  memset(one, 0, SIZE);
  memset(two, 0, SIZE);
  CHECK(!equal(&a, &b));
  CHECK(close_to(&a, &b, 0, 0) && close_to(&b, &a, 0, 0));
  EQ(sb_tensor_init(&first, SB_FLOAT32, DIMS(2), NULL, 0, &a), SB_OK);
  EQ(sb_all_close(&a, &b, 0, 0, false, &out), SB_ERR_SHAPE);
  EQ(sb_all_close(&b, &a, 0, 0, false, &out), SB_ERR_SHAPE);
  CHECK(out);
  EQ(sb_tensor_init(&first, SB_FLOAT32, DIMS(0), NULL, 0, &a), SB_OK);
  EQ(sb_all_close(&b, &a, 0, 0, false, &out), SB_ERR_SHAPE);
  EQ(sb_tensor_init(&second, SB_FLOAT32, DIMS(1), NULL, 0, &b), SB_OK);
  two[3] = 1;
  CHECK(close_to(&a, &b, 0, 0) && close_to(&b, &a, 0, 0));
}

static void no_bytes(void) {
  const sb_tensor *const t =
      &(sb_tensor){.abi = SB_ABI, .dtype = SB_FLOAT32, .ndim = 1, .shape = {2}, .strides = {1}};
  sb_tensor a;
  bool out = true;
  uint64_t hash = 7;
  EQ(sb_tensor_init(&first, SB_FLOAT32, DIMS(2), NULL, 0, &a), SB_OK);
  EQ(sb_array_equal(&a, t, false, &out), SB_ERR_ARGUMENT);
  EQ(sb_array_equal(t, &a, false, &out), SB_ERR_ARGUMENT);
  EQ(sb_all_close(&a, t, 0, 0, false, &out), SB_ERR_ARGUMENT);
  EQ(sb_all_close(t, &a, 0, 0, false, &out), SB_ERR_ARGUMENT);
  EQ(sb_hash(t, &hash), SB_ERR_ARGUMENT);
  CHECK(out && hash == 7);
}

int main(void) {
  sb__storage_borrow(one, SIZE, &first);
  sb__storage_borrow(two, SIZE, &second);
  test("64-bit integers and floats compare exactly, 200,000 pairs", pairs);
  test("sb_array_equal agrees with looking at each element, on 20,000 layouts", layouts);
  test("shapes: equal ones, and those that broadcast", shapes);
  test("tensors without bytes are refused", no_bytes);
  return done();
}
