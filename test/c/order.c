/* Order of axes in memory, resizing, other bytes. */
#include "check.h"

static char bytes[4096] __attribute__((aligned(64)));
static char others[256] __attribute__((aligned(64)));
static sb_storage storage, other;

static sb_tensor make(sb_storage *at, int32_t ndim, const int64_t *shape, const int64_t *strides,
                      int64_t offset) {
  sb_tensor t;
  memset(&t, 0, sizeof t);
  EQ(sb_tensor_init(at, SB_FLOAT32, ndim, shape, strides, offset, &t), SB_OK);
  return t;
}

static void expect(const int64_t *actual, int32_t n, const int64_t *expected) {
  for (int32_t i = 0; i < n; i++) EQ(actual[i], expected[i]);
}

#define ORDER(t, ...)                               \
 do {                                               \
  int64_t order_[SB_MAX_DIMS];                      \
  sb_dim_order(&t, order_);                         \
  const int64_t expected_[] = {__VA_ARGS__};        \
  EQ(t.ndim, sizeof expected_ / sizeof *expected_); \
  expect(order_, t.ndim, expected_);                \
 } while (0)

static void orders(void) {
  sb_tensor t = make(&storage, DIMS(2, 3, 4), NULL, 0);
  ORDER(t, 0, 1, 2);
  t = make(&storage, DIMS(2, 3, 4), LIST(1, 2, 6), 0);
  ORDER(t, 2, 1, 0);
  t = make(&storage, DIMS(2, 3, 4), LIST(4, -8, 1), 16);
  ORDER(t, 1, 0, 2);
  t = make(&storage, DIMS(3, 3, 3), LIST(0, 1, 0), 0); /* ties stay */
  ORDER(t, 1, 0, 2);
  t = make(&storage, DIMS(2, 0, 3), LIST(1, 9, 9), 0); /* nothing to go by */
  ORDER(t, 0, 1, 2);
  t = make(NULL, DIMS(2, 2), LIST(1, INT64_MIN / 32), -(INT64_MIN / 32));
  ORDER(t, 1, 0);
}

static void of_one_element(void) { /* axes of one element do not hide the order of the others */
  sb_tensor t = make(&storage, DIMS(2, 1, 3), LIST(1, 77, 2), 0);
  ORDER(t, 2, 1, 0);
  t = make(&storage, DIMS(1, 2, 1, 3, 1), LIST(5, 1, 5, 2, 5), 0);
  ORDER(t, 0, 2, 3, 4, 1); /* channels last */
  t = make(&storage, DIMS(1, 2, 1, 3, 1, 1), LIST(5, 1, 5, 2, 5, 5), 0);
  ORDER(t, 0, 3, 2, 1, 4, 5);
  t = make(&storage, DIMS(2, 3, 4, 5), LIST(60, 1, 15, 3), 0);
  ORDER(t, 0, 2, 3, 1);
  t = make(&storage, DIMS(2, 3, 1, 5), LIST(15, 1, 1, 3), 0);
  ORDER(t, 0, 2, 3, 1);
  t = make(&storage, DIMS(2, 3, 5, 1), LIST(15, 1, 3, 1), 0);
  ORDER(t, 0, 2, 3, 1);
  t = make(&storage, DIMS(1, 3, 2, 5), LIST(7, 1, 15, 3), 0);
  ORDER(t, 0, 2, 3, 1);
  t = make(&storage, DIMS(2, 1, 4, 5), LIST(20, 1, 5, 1), 0); /* both fit: row-major */
  ORDER(t, 0, 1, 2, 3);
  t = make(&storage, DIMS(2, 3, 1, 1, 4), LIST(12, 1, 3, 3, 3), 0);
  ORDER(t, 0, 2, 3, 4, 1);
  t = make(&storage, DIMS(2, 3, 1, 4), LIST(24, 1, 1, 3), 0); /* gaps: no known format */
  ORDER(t, 0, 3, 2, 1);
}

static void contiguity(void) {
  sb_tensor t = make(&storage, DIMS(2, 3, 4), LIST(12, 1, 3), 5);
  CHECK(sb_is_contiguous_in(&t, LIST(0, 2, 1)));
  CHECK(!sb_is_contiguous_in(&t, LIST(0, 1, 2)));
  t = make(&storage, DIMS(2, 3, 4), LIST(13, 1, 3), 5);
  CHECK(!sb_is_contiguous_in(&t, LIST(0, 2, 1)));
  t = make(&storage, DIMS(3), LIST(-1), 2);
  CHECK(!sb_is_contiguous_in(&t, LIST(0)));
  t = make(&storage, DIMS(0, 3), LIST(1, 9), 5);
  CHECK(sb_is_contiguous_in(&t, LIST(1, 0)));
  t = make(&storage, 0, NULL, NULL, 5);
  CHECK(sb_is_contiguous_in(&t, NULL));
}

static void resizes(void) {
  sb_tensor t = make(&storage, DIMS(4, 6), NULL, 3), v;
  bool outgrown = true;
  EQ(sb_resize(&t, DIMS(2, 5), NULL, &v, &outgrown), SB_OK);
  expect(v.shape, 2, LIST(2, 5));
  expect(v.strides, 2, LIST(5, 1));
  EQ(v.offset, 3);
  EQ(v.capacity, 24);
  CHECK(v.storage == &storage && !outgrown);
  EQ(sb_resize(&v, DIMS(1, 24), NULL, &v, NULL), SB_OK); /* in place */
  expect(v.shape, 2, LIST(1, 24));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, DIMS(5, 5), NULL, &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, DIMS(5, 5), NULL, &out, &outgrown));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, DIMS(24), NULL, &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, DIMS(2, 3, 4), NULL, &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, DIMS(-1, 4), NULL, &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, DIMS(INT64_MIN, 4), NULL, &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, DIMS(INT64_MAX, INT64_MAX), NULL, &out, &outgrown));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, DIMS(INT64_MAX / 8, 1), NULL, &out, &outgrown));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, DIMS(INT64_MAX, 0), NULL, &out, &outgrown));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, 65, LIST(1), NULL, &out, &outgrown));
  FAILS(SB_ERR_SHAPE, sb_resize(&v, -1, LIST(1), NULL, &out, &outgrown));
  v.capacity = INT64_MAX; /* whoever says so: the storage decides */
  FAILS(SB_ERR_BOUNDS, sb_resize(&v, DIMS(1022, 1), NULL, &out, NULL));
  EQ(sb_resize(&v, DIMS(1021, 1), NULL, &v, NULL), SB_OK);

  t.dynamism = SB_STATIC;
  EQ(sb_resize(&t, DIMS(4, 6), NULL, &v, NULL), SB_OK);
  EQ(v.dynamism, SB_STATIC);
  FAILS(SB_ERR_SHAPE, sb_resize(&t, DIMS(6, 4), NULL, &out, NULL));
  t.dynamism = SB_UNBOUND;
  t.flags = SB_READ_ONLY;
  EQ(sb_resize(&t, DIMS(5, 5), NULL, &v, &outgrown), SB_OK);
  CHECK(outgrown && !v.storage && !v.flags && !v.offset);
  EQ(v.dynamism, SB_UNBOUND);
  EQ(v.capacity, 25);
  FAILS(SB_ERR_SHAPE, sb_resize(&t, DIMS(5, 5), NULL, &out, NULL));
  EQ(sb_resize(&t, DIMS(3, 3), NULL, &v, &outgrown), SB_OK);
  EQ(v.flags, SB_READ_ONLY);
  CHECK(!outgrown);

  const sb_tensor gaps = make(&storage, DIMS(4, 3), LIST(6, 1), 0),
                  back = make(&storage, DIMS(4), LIST(-1), 3),
                  wide = make(&storage, DIMS(4), LIST(0), 3),
                  scalar = make(&storage, 0, NULL, NULL, 7);
  FAILS(SB_ERR_SHAPE, sb_resize(&gaps, DIMS(2, 3), NULL, &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_resize(&back, DIMS(2), NULL, &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_resize(&wide, DIMS(2), NULL, &out, NULL));
  EQ(sb_resize(&scalar, 0, NULL, NULL, &v, NULL), SB_OK);
  EQ(v.capacity, 1);
  FAILS(SB_ERR_SHAPE, sb_resize(&scalar, DIMS(1), NULL, &out, NULL));
}

static void resizes_in_order(void) {
  const sb_tensor t = make(&storage, DIMS(2, 3, 4, 4), LIST(48, 1, 12, 3), 0);
  sb_tensor v, w;
  EQ(sb_resize(&t, DIMS(1, 3, 2, 2), NULL, &v, NULL), SB_OK);
  expect(v.strides, 4, LIST(12, 1, 6, 3));
  EQ(sb_resize(&v, DIMS(2, 3, 4, 4), NULL, &v, NULL), SB_OK);
  expect(v.strides, 4, LIST(48, 1, 12, 3));
  for (int64_t channels = 0; channels < 2; channels++) { /* strides do not tell any more */
    EQ(sb_resize(&t, DIMS(2, channels, 4, 4), NULL, &v, NULL), SB_OK);
    EQ(sb_resize(&v, DIMS(2, 3, 4, 4), NULL, &w, NULL), SB_OK);
    expect(w.strides, 4, LIST(48, 16, 4, 1));
    EQ(sb_resize(&v, DIMS(2, 3, 4, 4), LIST(0, 2, 3, 1), &w, NULL), SB_OK);
    expect(w.strides, 4, LIST(48, 1, 12, 3));
  }
  FAILS(SB_ERR_SHAPE,
        sb_resize(&t, DIMS(1, 3, 2, 2), LIST(0, 1, 2, 3), &out, NULL)); /* gaps in it */
  FAILS(SB_ERR_SHAPE, sb_resize(&t, DIMS(1, 3, 2, 2), LIST(0, 2, 2, 1), &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_resize(&t, DIMS(1, 3, 2, 2), LIST(0, 2, 3, 4), &out, NULL));
  FAILS(SB_ERR_SHAPE,
        sb_resize(&t, DIMS(1, 3, 2, 2), LIST(INT64_MIN, 2, 3, INT64_MAX), &out, NULL));
  int64_t shape[SB_MAX_DIMS], order[SB_MAX_DIMS];
  for (int32_t d = 0; d < SB_MAX_DIMS; d++) shape[d] = 1 + (d == 63), order[d] = 63 - d;
  const sb_tensor deep = make(&storage, SB_MAX_DIMS, shape, NULL, 0);
  EQ(sb_resize(&deep, SB_MAX_DIMS, shape, order, &v, NULL), SB_OK);
  shape[0] = 2;
  shape[63] = 1;
  EQ(sb_resize(&deep, SB_MAX_DIMS, shape, NULL, &v, NULL), SB_OK);
  EQ(v.strides[0], 1);
}

static void other_bytes(void) {
  sb_tensor t = make(&storage, DIMS(2, 3), LIST(1, 2), 9), was = t;
  const sb_tensor enough = make(&other, DIMS(7), NULL, 4), few = make(&other, DIMS(5), NULL, 0),
                  gaps = make(&other, DIMS(7), LIST(2), 0);
  EQ(sb_set_data(&t, &few), SB_ERR_BOUNDS);
  EQ(sb_set_data(&t, &gaps), SB_ERR_SHAPE);
  sb_tensor wrong = enough;
  wrong.dtype = SB_INT32;
  EQ(sb_set_data(&t, &wrong), SB_ERR_DTYPE);
  CHECK(!memcmp(&t, &was, sizeof t));
  EQ(sb_set_data(&t, &enough), SB_OK);
  CHECK(t.storage == &other && !t.flags);
  EQ(t.offset, 4);
  EQ(t.capacity, 6);
  expect(t.strides, 2, LIST(1, 2));
  sb_tensor sealed = enough;
  sealed.flags = SB_READ_ONLY;
  EQ(sb_set_data(&t, &sealed), SB_OK);
  EQ(t.flags, SB_READ_ONLY);

  sb_tensor gapped = make(&storage, DIMS(2, 2), LIST(5, 1), 0),
            back = make(&storage, DIMS(2), LIST(-1), 1),
            empty = make(&storage, DIMS(0, 8), NULL, 1), scalar = make(&storage, 0, NULL, NULL, 1);
  EQ(sb_set_data(&gapped, &enough), SB_OK); /* reaches 0 to 6 */
  EQ(sb_set_data(&gapped, &few), SB_ERR_BOUNDS);
  EQ(sb_set_data(&back, &enough), SB_ERR_BOUNDS); /* before its first element */
  EQ(sb_set_data(&empty, &few), SB_OK);
  EQ(empty.capacity, 0);
  EQ(sb_set_data(&scalar, &few), SB_OK);
  EQ(scalar.capacity, 1);
  const sb_tensor none = make(&other, DIMS(0), NULL, 64);
  EQ(sb_set_data(&scalar, &none), SB_ERR_BOUNDS);
  EQ(sb_set_data(&empty, &none), SB_OK);
  EQ(empty.offset, 64);
}

/* For any layout without gaps there is an order in which it has none, and a resize that keeps it. */
static void random_orders(void) {
  random_state = 21;
  int64_t moved = 0;
  for (int round = 0; round < 20000; round++) {
    int64_t shape[6], order[6], strides[6], found[SB_MAX_DIMS];
    const int32_t ndim = (int32_t)random_in(1, 6);
    for (int32_t d = 0; d < ndim; d++) {
      shape[d] = random_in(1, 3);
      order[d] = d;
    }
    for (int32_t d = ndim - 1; d > 0; d--) {
      const int64_t with = random_in(0, d), kept = order[d];
      order[d] = order[with];
      order[with] = kept;
    }
    EQ(sb_dim_order_strides(ndim, shape, order, strides), SB_OK);
    const sb_tensor t = make(&storage, ndim, shape, strides, 0);
    sb_dim_order(&t, found);
    CHECK(sb_is_contiguous_in(&t, found));
    if (sb_is_contiguous(&t))
      for (int32_t d = 0; d < ndim; d++) EQ(found[d], d);
    sb_tensor like, back;
    EQ(sb_dense_like(&t, SB_FLOAT32, &like), SB_OK);
    for (int32_t d = 0; d < ndim; d++) EQ(like.strides[d], t.strides[d]);
    for (int32_t d = 0; d < ndim; d++) shape[d] = random_in(0, t.shape[d]);
    EQ(sb_resize(&t, ndim, shape, order, &back, NULL), SB_OK);
    EQ(sb_resize(&back, ndim, t.shape, order, &back, NULL), SB_OK);
    for (int32_t d = 0; d < ndim; d++) EQ(back.strides[d], t.strides[d]);
    moved += !sb_is_contiguous(&t);
  }
  CHECK(moved > 5000);
}

int main(void) {
  sb__storage_borrow(bytes, sizeof bytes, &storage);
  sb__storage_borrow(others, sizeof others, &other);
  test("sb_dim_order sorts axes by the distance of their strides, ties as they stand", orders);
  test("sb_dim_order sees past axes of one element, and prefers row-major, then channels last",
       of_one_element);
  test("sb_is_contiguous_in knows gaps in any order of axes", contiguity);
  test("sb_resize stays in the capacity and the storage, and refuses the rest untouched", resizes);
  test("sb_resize keeps the order of axes, given or told by strides", resizes_in_order);
  test("sb_set_data shows other bytes in the same layout, or changes nothing", other_bytes);
  test("any layout without gaps keeps its strides through dense_like and two resizes, 20,000 times",
       random_orders);
  return done();
}
