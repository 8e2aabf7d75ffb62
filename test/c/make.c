/* Tensors that C callers make: strided, like another, with numbers in a row. */
#include "check.h"
#include "ops/series.h"

static const sb_scalar zero = {.kind = SB_SCALAR_INT, .as.i = 0};

static sb_scalar real(double x) { return (sb_scalar){.kind = SB_SCALAR_REAL, .as.real = x}; }
static sb_scalar integer(int64_t x) { return (sb_scalar){.kind = SB_SCALAR_INT, .as.i = x}; }
static sb_scalar unsigned_integer(uint64_t x) {
  return (sb_scalar){.kind = SB_SCALAR_UINT, .as.u = x};
}

static void strided(void) {
  const sb__storage_totals before = sb__storage_totals_now();
  static const struct {
    int32_t ndim;
    int64_t shape[3], strides[3], elements;
  } cases[] = {
      {2, {2, 3}, {3, 1}, 6},  {2, {2, 3}, {1, 2}, 6}, {2, {2, 3}, {10, 3}, 17},
      {2, {3, 2}, {0, 1}, 2},  {2, {3, 2}, {1, 1}, 4}, {2, {1, 3}, {99, 1}, 3},
      {2, {0, 3}, {99, 7}, 0}, {0, {0}, {0}, 1},       {3, {2, 2, 2}, {1, 10, 100}, 112},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    sb_tensor t = {0};
    EQ(sb_tensor_empty_strided(SB_FLOAT64, cases[i].ndim, cases[i].shape, cases[i].strides, &t),
       SB_OK);
    EQ(sb_storage_nbytes(t.storage), 8 * cases[i].elements);
    EQ(t.offset, 0);
    EQ(t.dynamism, SB_BOUNDED);
    EQ(t.capacity, sb_tensor_numel(&t));
    EQ((uintptr_t)sb_storage_data(t.storage) % SB_ALIGNMENT, 0);
    EQ(sb_fill(&t, &zero), SB_OK); /* AddressSanitizer sees what leaves the storage */
    if (i == 5) EQ(t.strides[0], 3);
    sb_tensor_release(&t);
  }
  sb_tensor t = {.ndim = 7};
  EQ(sb_tensor_empty_strided(SB_INT8, 1, LIST(2), LIST(-1), &t), SB_ERR_BOUNDS);
  EQ(sb_tensor_empty_strided(SB_INT8, 1, LIST(0), LIST(-1), &t), SB_ERR_BOUNDS);
  EQ(sb_tensor_empty_strided(SB_INT8, 1, LIST(-2), LIST(1), &t), SB_ERR_SHAPE);
  EQ(sb_tensor_empty_strided(SB_INT8, 65, LIST(2), LIST(1), &t), SB_ERR_SHAPE);
  EQ(sb_tensor_empty_strided(SB_INT8, 2, LIST(3, 2), LIST(INT64_MAX / 2, 5), &t), SB_ERR_BOUNDS);
  EQ(sb_tensor_empty_strided(SB_INT64, 1, LIST(3), LIST(INT64_MAX / 4), &t), SB_ERR_BOUNDS);
  EQ(sb_tensor_empty_strided(SB_INT8, 1, LIST(3), LIST(INT64_MAX / 4), &t), SB_ERR_MEMORY);
  EQ(sb_tensor_empty_strided((sb_dtype)99, 1, LIST(3), LIST(1), &t), SB_ERR_DTYPE);
  EQ(t.ndim, 7);
  EQ(sb__storage_totals_now().storages, before.storages);
  EQ(sb__storage_totals_now().heap_bytes, before.heap_bytes);
}

static void like(void) {
  sb_tensor t, made;
  EQ(sb_tensor_empty(SB_INT16, DIMS(2, 3, 4), &t), SB_OK);
  EQ(sb_permute(&t, DIMS(1, 2, 0), &t), SB_OK);
  t.dynamism = SB_STATIC;
  t.flags = SB_READ_ONLY;
  EQ(sb_tensor_empty_like(&t, SB_FLOAT32, &made), SB_OK);
  CHECK(made.storage != t.storage);
  EQ(sb_storage_nbytes(made.storage), 96);
  EQ(made.dtype, SB_FLOAT32);
  EQ(made.dynamism, SB_BOUNDED);
  EQ(made.flags, 0);
  for (int d = 0; d < 3; d++) {
    EQ(made.shape[d], t.shape[d]);
    EQ(made.strides[d], t.strides[d]);
  }
  sb_tensor_release(&made);
  EQ(sb_narrow(&t, 1, 0, 2, &made), SB_OK);
  EQ(sb_tensor_empty_like(&made, SB_INT16, &made), SB_OK); /* out may be t */
  EQ(made.strides[0], 2);
  EQ(made.strides[1], 1);
  EQ(made.strides[2], 6);
  EQ(sb_tensor_empty_like(&t, (sb_dtype)-1, &made), SB_ERR_DTYPE);
  sb_tensor_release(&made);
  sb_tensor_release(&t);
}

/* Every allocation fails once; nothing leaks, out stays as it is. */
static void no_memory(void) {
  const int64_t storages = sb__storage_totals_now().storages;
  sb_tensor t, made = {.ndim = 9};
  EQ(sb_tensor_init(NULL, SB_INT8, DIMS(2, 3), NULL, 0, &t), SB_OK);
  for (int64_t n = 1; n <= 2; n++) {
    sb__fail_allocation(n);
    EQ(sb_tensor_empty_strided(SB_INT8, DIMS(2), LIST(3), &made), SB_ERR_MEMORY);
    sb__fail_allocation(n);
    EQ(sb_tensor_empty_like(&t, SB_INT8, &made), SB_ERR_MEMORY);
    sb__fail_allocation(0);
    EQ(made.ndim, 9);
    EQ(sb__storage_totals_now().storages, storages);
  }
}

/* int32 elements 0 … n-1 of a buffer, whose others must stay 77. */
static int32_t buffer[4096];
static sb_storage place;

static sb_tensor target(sb_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides,
                        int64_t offset) {
  sb_tensor t = {0};
  for (int i = 0; i < 4096; i++) buffer[i] = 77;
  sb__storage_borrow(buffer, sizeof buffer, &place);
  EQ(sb_tensor_init(&place, dtype, ndim, shape, strides, offset, &t), SB_OK);
  return t;
}

static void aranges(void) {
  const sb_scalar two = integer(2), minus = real(-3);
  sb_tensor t = target(SB_INT32, DIMS(3, 400), LIST(1, 4), 5); /* more than a chunk, gaps */
  EQ(sb_arange(&t, &two, &minus), SB_OK);
  int others = 0;
  for (int i = 0; i < 4096; i++) others += buffer[i] != 77;
  EQ(others, 1200);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 400; j++) EQ(buffer[5 + i + 4 * j], 2 - 3 * (400 * i + j));
  t = target(SB_INT32, DIMS(5), LIST(-2), 10); /* backwards */
  EQ(sb_arange(&t, &zero, &two), SB_OK);
  for (int i = 0; i < 5; i++) EQ(buffer[10 - 2 * i], 2 * i);
  t = target(SB_FLOAT32, DIMS(3), NULL, 0);
  sb_scalar a = real(0.1), b = unsigned_integer(UINT64_MAX);
  EQ(sb_arange(&t, &a, &b), SB_OK);
  CHECK(((float *)buffer)[1] == 0x1p64f && ((float *)buffer)[2] == 0x1p65f);
  a = (sb_scalar){.kind = SB_SCALAR_BOOL, .as.i = 1};
  t = target(SB_UINT64, DIMS(2), NULL, 0);
  b = unsigned_integer(UINT64_MAX - 1);
  EQ(sb_arange(&t, &a, &b), SB_OK);
  CHECK(((uint64_t *)buffer)[1] == UINT64_MAX);
  a = zero;
  EQ(sb_arange(&t, &a, &a), SB_OK); /* standing still is fine here */
  CHECK(((uint64_t *)buffer)[1] == 0);
}

/* Ends of int64 and uint64, one more than which does not fit. */
static void limits(void) {
  static const struct {
    sb_dtype dtype;
    int64_t start, step, count; /* of the most elements that fit */
  } cases[] = {
      {SB_INT64, INT64_MIN, INT64_MAX, 3},
      {SB_INT64, INT64_MAX, INT64_MIN, 2},
      {SB_INT64, INT64_MAX - 7, 1, 8},
      {SB_INT64, INT64_MIN + 7, -1, 8},
      {SB_INT64, 0, INT64_MAX, 2},
      {SB_INT64, -1, INT64_MIN / 2, 2},
      {SB_UINT64, 3, -1, 4},
      {SB_UINT64, INT64_MAX, INT64_MAX, 2},
      {SB_INT8, -128, 1, 256},
      {SB_INT8, 127, -51, 6},
      {SB_UINT8, 0, 255, 2},
      {SB_UINT8, 200, 11, 6},
      {SB_BOOL, 0, 1, 2},
      {SB_BOOL, 1, -1, 2},
      {SB_UINT32, 5, INT64_MAX, 1},
      {SB_INT16, 32767, INT64_MIN, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const sb_scalar start = integer(cases[i].start), step = integer(cases[i].step);
    sb_tensor t = target(cases[i].dtype, DIMS(cases[i].count), NULL, 0);
    EQ(sb_arange(&t, &start, &step), SB_OK);
    EQ(sb__arange_check(cases[i].dtype, cases[i].count, &start, &step), SB_OK);
    t = target(cases[i].dtype, DIMS(cases[i].count + 1), NULL, 0);
    EQ(sb_arange(&t, &start, &step), SB_ERR_CAST);
    EQ(sb__arange_check(cases[i].dtype, cases[i].count + 1, &start, &step), SB_ERR_CAST);
    EQ(buffer[0], 77); /* nothing was written */
  }
  const sb_scalar half = real(0.5), inf = real(INFINITY), nan = real(NAN), huge = real(1e308);
  const sb_scalar pair = {.kind = SB_SCALAR_COMPLEX, .as.c = {1, 2}};
  sb_tensor t = target(SB_INT32, DIMS(3), NULL, 0);
  EQ(sb_arange(&t, &half, &zero), SB_ERR_CAST);
  EQ(sb_arange(&t, &zero, &half), SB_ERR_CAST);
  EQ(sb_arange(&t, &pair, &zero), SB_ERR_ARGUMENT);
  EQ(sb_arange(&t, &zero, &pair), SB_ERR_ARGUMENT);
  EQ(sb_arange(&t, &inf, &zero), SB_ERR_BOUNDS);
  EQ(sb_arange(&t, &zero, &nan), SB_ERR_BOUNDS);
  EQ(sb__arange_check((sb_dtype)99, 3, &zero, &zero), SB_ERR_DTYPE);
  t = target(SB_FLOAT64, DIMS(3), NULL, 0);
  EQ(sb_arange(&t, &huge, &huge), SB_ERR_CAST);
  EQ(buffer[0], 77);
  EQ(sb_arange(&t, &zero, &nan), SB_ERR_BOUNDS);
  t.flags = SB_READ_ONLY;
  EQ(sb_arange(&t, &zero, &half), SB_ERR_READ_ONLY);
  EQ(sb_linspace(&t, 0, 1, true), SB_ERR_READ_ONLY);
  t = target(SB_INT32, DIMS(3, 2), LIST(1, 1), 0);
  EQ(sb_arange(&t, &zero, &zero), SB_ERR_OVERLAP);
  EQ(sb_linspace(&t, 0, 1, true), SB_ERR_OVERLAP);
  t = target(SB_INT32, DIMS(0), NULL, 0);
  EQ(sb_arange(&t, &half, &half), SB_OK); /* nothing to fit */
  EQ(sb_linspace(&t, 1e30, 0, true), SB_OK);
  EQ(buffer[0], 77);
}

static void linspaces(void) {
  sb_tensor t = target(SB_FLOAT64, DIMS(2, 400), LIST(1, 3), 0);
  const double *x = (const double *)buffer;
  EQ(sb_linspace(&t, 0.1, 0.7, true), SB_OK);
  const double step = (0.7 - 0.1) / 799;
  for (int i = 0; i < 799; i++) {
    volatile double product = i * step; /* no fused multiply-add */
    CHECK(x[i / 400 + i % 400 * 3] == product + 0.1);
  }
  CHECK(x[1 + 399 * 3] == 0.7);
  EQ(sb_linspace(&t, 0, 800, false), SB_OK);
  CHECK(x[1 + 399 * 3] == 799);
  t = target(SB_INT32, DIMS(5), LIST(-1), 4);
  EQ(sb_linspace(&t, -1, 1, true), SB_OK);
  for (int i = 0; i < 5; i++) EQ(buffer[4 - i], i < 2 ? -1 : i / 4);
  t = target(SB_FLOAT64, DIMS(4), NULL, 0);
  EQ(sb_linspace(&t, 0, 0x1p-1074, true), SB_OK); /* the step would be 0 */
  CHECK(x[0] == 0 && x[1] == 0 && x[2] == 0x1p-1074 && x[3] == 0x1p-1074);
  int missed = 0; /* sums that are not exactly stop */
  for (int n = 2; n < 300; n++) {
    t = target(SB_FLOAT64, DIMS(n), NULL, 0);
    EQ(sb_linspace(&t, 0.1, 0.7, true), SB_OK);
    volatile double product = (n - 1) * ((0.7 - 0.1) / (n - 1));
    CHECK(x[n - 1] == 0.7);
    missed += product + 0.1 != 0.7;
  }
  CHECK(missed > 10);
  EQ(sb_linspace(&t, -1e308, 1e308, true), SB_ERR_BOUNDS);
  EQ(sb_linspace(&t, NAN, 1, true), SB_ERR_BOUNDS);
  EQ(sb_linspace(&t, 0, INFINITY, true), SB_ERR_BOUNDS);
  t = target(SB_BOOL, DIMS(4), NULL, 0);
  EQ(sb_linspace(&t, 0, 1, true), SB_ERR_DTYPE);
  t = target(SB_UINT8, DIMS(4), NULL, 0);
  EQ(sb_linspace(&t, 0, 256, true), SB_ERR_CAST);
  EQ(buffer[0], 77);
  EQ(sb_linspace(&t, 0, 256, false), SB_OK);
  EQ(((uint8_t *)buffer)[3], 192);
}

int main(void) {
  test("a strided tensor's storage ends with the last element, and negative strides are refused",
       strided);
  test("a tensor like another has its shape and order of axes, not its dynamism or flags", like);
  test("every allocation of both may fail, and nothing leaks", no_memory);
  test("arange writes its elements in row-major order through any strides, and nothing else",
       aranges);
  test("arange reaches the ends of integers exactly, and refuses what goes beyond, unwritten",
       limits);
  test("linspace has NumPy's arithmetic, and ends with stop", linspaces);
  return done();
}
