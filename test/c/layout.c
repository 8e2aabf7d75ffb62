#include "check.h"

static char bytes[4096] __attribute__((aligned(64)));
static sb_storage storage;

static sb_tensor make(sb_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides,
                      int64_t offset) {
  sb_tensor t;
  memset(&t, 0, sizeof t);
  EQ(sb_tensor_init(&storage, dtype, ndim, shape, strides, offset, &t), SB_OK);
  return t;
}

static void expect(const sb_tensor *t, int64_t offset, int32_t ndim, const int64_t *shape,
                   const int64_t *strides) {
  EQ(t->offset, offset);
  EQ(t->ndim, ndim);
  for (int32_t d = 0; d < ndim && d < t->ndim; d++) {
    EQ(t->shape[d], shape[d]);
    EQ(t->strides[d], strides[d]);
  }
}

static void init(void) {
  sb_tensor t = make(SB_FLOAT32, DIMS(2, 3, 4), NULL, 0);
  expect(&t, 0, DIMS(2, 3, 4), LIST(12, 4, 1));
  EQ(t.abi, SB_ABI);
  EQ(t.struct_size, sizeof t);
  EQ(t.capacity, 24);
  EQ(sb_tensor_numel(&t), 24);
  EQ(sb_tensor_nbytes(&t), 96);
  CHECK(sb_tensor_data(&t) == bytes);
  CHECK(sb_is_contiguous(&t));
  t = make(SB_FLOAT64, 0, NULL, NULL, 7);
  expect(&t, 7, 0, NULL, NULL);
  EQ(sb_tensor_numel(&t), 1);
  CHECK(sb_tensor_data(&t) == bytes + 56);
  t = make(SB_INT16, DIMS(2, 0, 3), LIST(100, -100, 1000000), 2048); /* strides without a say */
  expect(&t, 2048, DIMS(2, 0, 3), LIST(3, 3, 1));
  CHECK(!sb_tensor_data(&t));
  CHECK(sb_is_contiguous(&t));
  t = make(SB_UINT8, DIMS(4, 1, 5), LIST(-5, 999, -1), 4095);
  expect(&t, 4095, DIMS(4, 1, 5), LIST(-5, 5, -1));
  CHECK(!sb_is_contiguous(&t));
  t = make(SB_UINT8, DIMS(1000, 1000), LIST(0, 0), 3);
  expect(&t, 3, DIMS(1000, 1000), LIST(0, 0));
  FAILS(SB_ERR_BOUNDS, sb_tensor_init(&storage, SB_UINT8, DIMS(4097), NULL, 0, &out));
  FAILS(SB_ERR_BOUNDS, sb_tensor_init(&storage, SB_UINT8, DIMS(4096), NULL, 1, &out));
  FAILS(SB_ERR_BOUNDS, sb_tensor_init(&storage, SB_UINT8, DIMS(2), LIST(-1), 0, &out));
  FAILS(SB_ERR_BOUNDS, sb_tensor_init(&storage, SB_UINT8, DIMS(1), NULL, -1, &out));
  FAILS(SB_ERR_BOUNDS, sb_tensor_init(&storage, SB_UINT8, DIMS(0), NULL, -1, &out));
  FAILS(SB_ERR_BOUNDS, sb_tensor_init(&storage, SB_UINT8, DIMS(0), NULL, 4097, &out));
  FAILS(SB_ERR_BOUNDS, sb_tensor_init(&storage, SB_UINT8, DIMS(2), LIST(INT64_MAX), 1, &out));
  FAILS(SB_ERR_BOUNDS, sb_tensor_init(&storage, SB_UINT8, DIMS(3), LIST(INT64_MAX), 0, &out));
  FAILS(SB_ERR_BOUNDS, sb_tensor_init(&storage, SB_UINT8, DIMS(2), LIST(INT64_MIN), 0, &out));
  FAILS(SB_ERR_BOUNDS,
        sb_tensor_init(&storage, SB_UINT8, DIMS(2), LIST(INT64_MIN), INT64_MAX, &out));
  FAILS(SB_ERR_BOUNDS, sb_tensor_init(NULL, SB_COMPLEX128, DIMS(1), NULL, INT64_MAX, &out));
  FAILS(SB_ERR_DTYPE, sb_tensor_init(&storage, (sb_dtype)17, DIMS(1), NULL, 0, &out));
  FAILS(SB_ERR_SHAPE, sb_tensor_init(&storage, SB_UINT8, DIMS(-1), NULL, 0, &out));
  FAILS(SB_ERR_SHAPE, sb_tensor_init(&storage, SB_UINT8, -1, NULL, NULL, 0, &out));
  sb_storage odd;
  sb__storage_borrow(bytes + 4, 64, &odd);
  FAILS(SB_ERR_ALIGNMENT, sb_tensor_init(&odd, SB_FLOAT64, DIMS(1), NULL, 0, &out));
  sb_tensor ok;
  EQ(sb_tensor_init(&odd, SB_COMPLEX64, DIMS(8), NULL, 0, &ok), SB_OK);
  EQ(sb_tensor_init(&odd, SB_FLOAT32, DIMS(16), NULL, 0, &ok), SB_OK);
}

static void limits(void) {
  int64_t ones[65];
  sb_tensor t;
  for (int d = 0; d < 65; d++) ones[d] = 1;
  EQ(sb_tensor_init(&storage, SB_UINT8, 64, ones, NULL, 0, &t), SB_OK);
  EQ(t.ndim, 64);
  FAILS(SB_ERR_SHAPE, sb_tensor_init(&storage, SB_UINT8, 65, ones, NULL, 0, &out));
  FAILS(SB_ERR_SHAPE, sb_tensor_empty(SB_UINT8, 65, ones, &out));
  FAILS(SB_ERR_SHAPE, sb_reshape(&t, 65, ones, &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_broadcast_to(&t, 65, ones, &out));
  FAILS(SB_ERR_SHAPE, sb_as_strided(&t, 65, ones, ones, 0, &out));
  FAILS(SB_ERR_SHAPE, sb_unfold(&t, 0, 1, 1, &out));
  const sb_slice_spec added = {.kind = SB_SLICE_NEW_AXIS};
  FAILS(SB_ERR_SHAPE, sb_slice(&t, 1, &added, &out));
  const sb_slice_spec swap[] = {added, {.kind = SB_SLICE_INDEX}};
  EQ(sb_slice(&t, 2, swap, &t), SB_OK);
  EQ(t.ndim, 64);
  int64_t strides[65];
  EQ(sb_dim_order_strides(65, ones, ones, strides), SB_ERR_SHAPE);
  FAILS(SB_ERR_SHAPE, sb_tensor_init(NULL, SB_UINT8, DIMS(INT64_MAX, 2), NULL, 0, &out));
  FAILS(SB_ERR_SHAPE,
        sb_tensor_init(NULL, SB_UINT8, DIMS(INT64_C(1) << 32, INT64_C(1) << 32), NULL, 0, &out));
  FAILS(SB_ERR_SHAPE,
        sb_tensor_init(NULL, SB_UINT8, DIMS(0, INT64_C(1) << 32, INT64_C(1) << 32), NULL, 0, &out));
  FAILS(SB_ERR_SHAPE, sb_tensor_init(NULL, SB_UINT8, DIMS(INT64_C(1) << 60), NULL, 0, &out));
  sb_tensor big;
  EQ(sb_tensor_init(NULL, SB_COMPLEX128, DIMS(INT64_C(1) << 58), NULL, 0, &big), SB_OK);
  EQ(sb_tensor_nbytes(&big), INT64_C(1) << 62);
  FAILS(SB_ERR_SHAPE, sb_broadcast_to(&big, DIMS(16, INT64_C(1) << 58), &out));
  FAILS(SB_ERR_SHAPE, sb_reshape(&big, DIMS(-1, INT64_C(1) << 32, INT64_C(1) << 32), &out, NULL));
}

static void permutations(void) {
  const sb_tensor t = make(SB_INT32, DIMS(2, 3, 4), NULL, 5);
  sb_tensor v;
  EQ(sb_permute(&t, DIMS(2, 0, -2), &v), SB_OK);
  expect(&v, 5, DIMS(4, 2, 3), LIST(1, 12, 4));
  EQ(sb_transpose(&t, 0, -1, &v), SB_OK);
  expect(&v, 5, DIMS(4, 3, 2), LIST(1, 4, 12));
  v = t;
  EQ(sb_transpose(&v, 0, 1, &v), SB_OK); /* out may be t */
  expect(&v, 5, DIMS(3, 2, 4), LIST(4, 12, 1));
  const sb_tensor zero = make(SB_INT32, 0, NULL, NULL, 1);
  EQ(sb_permute(&zero, 0, NULL, &v), SB_OK);
  expect(&v, 1, 0, NULL, NULL);
  FAILS(SB_ERR_SHAPE, sb_permute(&t, DIMS(0, 1), &out));
  FAILS(SB_ERR_BOUNDS, sb_permute(&t, DIMS(0, 1, 3), &out));
  FAILS(SB_ERR_BOUNDS, sb_permute(&t, DIMS(0, 1, -2), &out));
  FAILS(SB_ERR_BOUNDS, sb_permute(&t, DIMS(0, 1, INT64_MIN), &out));
  FAILS(SB_ERR_BOUNDS, sb_transpose(&t, 0, 3, &out));
  FAILS(SB_ERR_BOUNDS, sb_transpose(&zero, 0, 0, &out));
}

static void selections(void) {
  const sb_tensor t = make(SB_INT32, DIMS(2, 3, 4), LIST(-12, 0, 2), 40);
  const sb_tensor none = make(SB_INT32, DIMS(3, 0), NULL, 1024);
  sb_tensor v;
  EQ(sb_select(&t, 0, 1, &v), SB_OK);
  expect(&v, 28, DIMS(3, 4), LIST(0, 2));
  EQ(sb_select(&t, -1, -1, &v), SB_OK);
  expect(&v, 46, DIMS(2, 3), LIST(-12, 0));
  EQ(sb_select(&none, 0, 2, &v), SB_OK);
  expect(&v, 1024, DIMS(0), LIST(1));
  EQ(sb_narrow(&t, 2, 1, 2, &v), SB_OK);
  expect(&v, 42, DIMS(2, 3, 2), LIST(-12, 0, 2));
  EQ(sb_narrow(&t, 0, -1, 1, &v), SB_OK);
  expect(&v, 28, DIMS(1, 3, 4), LIST(12, 0, 2));
  EQ(sb_narrow(&t, 0, 2, 0, &v), SB_OK);
  EQ(v.shape[0], 0);
  EQ(v.offset, 40);
  FAILS(SB_ERR_BOUNDS, sb_select(&t, 3, 0, &out));
  FAILS(SB_ERR_BOUNDS, sb_select(&t, 0, 2, &out));
  FAILS(SB_ERR_BOUNDS, sb_select(&t, 0, INT64_MIN, &out));
  FAILS(SB_ERR_BOUNDS, sb_select(&none, 1, 0, &out));
  FAILS(SB_ERR_BOUNDS, sb_narrow(&t, 0, 1, 2, &out));
  FAILS(SB_ERR_BOUNDS, sb_narrow(&t, 0, 1, INT64_MAX, &out));
  FAILS(SB_ERR_BOUNDS, sb_narrow(&t, 0, 3, 0, &out));
  FAILS(SB_ERR_BOUNDS, sb_narrow(&t, 0, 0, -1, &out));
}

#define RANGE(g, a, b, s) \
 { SB_SLICE_RANGE, g, a, b, s }
static void slices(void) {
  const sb_tensor t = make(SB_INT32, DIMS(4, 6), NULL, 3);
  sb_tensor v;
  EQ(sb_slice(&t, 2, (sb_slice_spec[]){RANGE(3, 1, 3, 1), RANGE(0, 0, 0, -2)}, &v), SB_OK);
  expect(&v, 14, DIMS(2, 3), LIST(6, -2));
  EQ(sb_slice(&t, 3,
              (sb_slice_spec[]){{.kind = SB_SLICE_ELLIPSIS},
                                {.kind = SB_SLICE_NEW_AXIS},
                                {.kind = SB_SLICE_INDEX, .start = -1}},
              &v),
     SB_OK);
  expect(&v, 8, DIMS(4, 1), LIST(6, 1));
  EQ(sb_slice(&t, 1, (sb_slice_spec[]){RANGE(3, INT64_MIN, INT64_MAX, INT64_MAX)}, &v), SB_OK);
  expect(&v, 3, DIMS(1, 6), LIST(6, 1));
  EQ(sb_slice(&t, 1, (sb_slice_spec[]){RANGE(3, 3, 1, 1)}, &v), SB_OK);
  EQ(v.shape[0], 0);
  EQ(v.offset, 3);
  EQ(sb_slice(&t, 0, NULL, &v), SB_OK);
  CHECK(same_layout(&v, &t));
  const sb_tensor zero = make(SB_INT32, 0, NULL, NULL, 1);
  EQ(sb_slice(&zero, 1, (sb_slice_spec[]){{.kind = SB_SLICE_ELLIPSIS}}, &v), SB_OK);
  expect(&v, 1, 0, NULL, NULL);
  FAILS(SB_ERR_ARGUMENT, sb_slice(&t, 1, (sb_slice_spec[]){RANGE(0, 0, 0, 0)}, &out));
  FAILS(SB_ERR_ARGUMENT, sb_slice(&t, 1, (sb_slice_spec[]){{.kind = 4}}, &out));
  FAILS(SB_ERR_ARGUMENT, sb_slice(&t, 1, (sb_slice_spec[]){{.kind = -1}}, &out));
  FAILS(SB_ERR_BOUNDS,
        sb_slice(&t, 1, (sb_slice_spec[]){{.kind = SB_SLICE_INDEX, .start = 4}}, &out));
  FAILS(SB_ERR_SHAPE,
        sb_slice(&t, 2, (sb_slice_spec[]){{.kind = SB_SLICE_ELLIPSIS}, {.kind = SB_SLICE_ELLIPSIS}},
                 &out));
  FAILS(SB_ERR_SHAPE, sb_slice(&zero, 1, (sb_slice_spec[]){{.kind = SB_SLICE_INDEX}}, &out));
  FAILS(SB_ERR_SHAPE,
        sb_slice(&t, 3, (sb_slice_spec[]){RANGE(0, 0, 0, 1), RANGE(0, 0, 0, 1), RANGE(0, 0, 0, 1)},
                 &out));
}

static void reshapes(void) {
  const sb_tensor t = make(SB_INT32, DIMS(2, 3, 4), NULL, 5);
  const sb_tensor none = make(SB_INT32, DIMS(0, 3), NULL, 0);
  sb_tensor turned, v;
  bool viewed = false;
  EQ(sb_reshape(&t, DIMS(4, -1), &v, &viewed), SB_OK);
  CHECK(viewed);
  expect(&v, 5, DIMS(4, 6), LIST(6, 1));
  EQ(sb_reshape(&t, DIMS(1, 24, 1), &v, NULL), SB_OK);
  expect(&v, 5, DIMS(1, 24, 1), LIST(24, 1, 1));
  EQ(sb_reshape(&none, DIMS(-1, 7), &v, NULL), SB_OK);
  EQ(v.shape[0], 0);
  EQ(v.shape[1], 7);
  const sb_tensor one = make(SB_INT32, DIMS(1, 1), NULL, 2);
  EQ(sb_reshape(&one, 0, NULL, &v, NULL), SB_OK);
  expect(&v, 2, 0, NULL, NULL);
  EQ(sb_reshape(&v, DIMS(-1), &v, NULL), SB_OK);
  expect(&v, 2, DIMS(1), LIST(1));
  EQ(sb_transpose(&t, 0, 2, &turned), SB_OK);
  EQ(sb_reshape(&turned, DIMS(2, 2, 3, 2), &v, NULL), SB_OK);
  expect(&v, 5, DIMS(2, 2, 3, 2), LIST(2, 1, 4, 12));
  EQ(sb_reshape(&turned, DIMS(24), &v, &viewed), SB_OK);
  CHECK(!viewed);
  CHECK(!v.storage);
  expect(&v, 0, DIMS(24), LIST(1));
  FAILS(SB_ERR_SHAPE, sb_reshape(&turned, DIMS(24), &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_reshape(&t, DIMS(5, -1), &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_reshape(&t, DIMS(-1, -1), &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_reshape(&t, DIMS(-2, 12), &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_reshape(&none, DIMS(0, -1), &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_reshape(&t, DIMS(25), &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_reshape(&t, 0, NULL, &out, NULL));
  FAILS(SB_ERR_SHAPE, sb_reshape(&t, -1, NULL, &out, NULL));
}

static void others(void) {
  const sb_tensor t = make(SB_INT32, DIMS(2, 6), NULL, 4);
  sb_tensor v;
  EQ(sb_unfold(&t, 1, 3, 2, &v), SB_OK);
  expect(&v, 4, DIMS(2, 2, 3), LIST(6, 2, 1));
  EQ(sb_unfold(&t, 1, 0, 1, &v), SB_OK);
  EQ(v.shape[1], 7);
  EQ(v.shape[2], 0);
  EQ(sb_unfold(&t, -1, 6, INT64_MAX, &v), SB_OK);
  EQ(v.shape[1], 1);
  EQ(v.shape[2], 6);
  FAILS(SB_ERR_BOUNDS, sb_unfold(&t, 1, 7, 1, &out));
  FAILS(SB_ERR_BOUNDS, sb_unfold(&t, 1, -1, 1, &out));
  FAILS(SB_ERR_BOUNDS, sb_unfold(&t, 1, 2, 0, &out));
  FAILS(SB_ERR_BOUNDS, sb_unfold(&t, 2, 2, 1, &out));
  EQ(sb_view_dtype(&t, SB_FLOAT32, &v), SB_OK);
  EQ(v.dtype, SB_FLOAT32);
  expect(&v, 4, DIMS(2, 6), LIST(6, 1));
  EQ(sb_view_dtype(&t, SB_UINT8, &v), SB_OK);
  expect(&v, 16, DIMS(2, 24), LIST(24, 1));
  EQ(sb_view_dtype(&t, SB_COMPLEX64, &v), SB_OK);
  expect(&v, 2, DIMS(2, 3), LIST(3, 1));
  FAILS(SB_ERR_SHAPE, sb_view_dtype(&t, SB_COMPLEX128, &out));
  FAILS(SB_ERR_DTYPE, sb_view_dtype(&t, (sb_dtype)99, &out));
  const sb_tensor zero = make(SB_INT32, 0, NULL, NULL, 1),
                  strided = make(SB_INT32, DIMS(2, 2), LIST(4, 2), 0);
  EQ(sb_view_dtype(&zero, SB_UINT32, &v), SB_OK);
  FAILS(SB_ERR_SHAPE, sb_view_dtype(&zero, SB_UINT8, &out));
  FAILS(SB_ERR_SHAPE, sb_view_dtype(&strided, SB_UINT8, &out));
  EQ(sb_as_strided(&t, DIMS(3, 3), LIST(-1, 0), 2, &v), SB_OK);
  expect(&v, 2, DIMS(3, 3), LIST(-1, 0));
  FAILS(SB_ERR_BOUNDS, sb_as_strided(&t, DIMS(3), LIST(-1), 1, &out));
  FAILS(SB_ERR_BOUNDS, sb_as_strided(&t, DIMS(1024), NULL, 1, &out));
  const sb_tensor column = make(SB_INT32, DIMS(3, 1), NULL, 9);
  EQ(sb_broadcast_to(&column, DIMS(2, 3, 4), &v), SB_OK);
  expect(&v, 9, DIMS(2, 3, 4), LIST(0, 1, 0));
  EQ(sb_broadcast_to(&column, DIMS(3, 0), &v), SB_OK);
  EQ(sb_tensor_numel(&v), 0);
  FAILS(SB_ERR_SHAPE, sb_broadcast_to(&column, DIMS(2, 1), &out));
  FAILS(SB_ERR_SHAPE, sb_broadcast_to(&column, DIMS(3), &out));
  EQ(sb_broadcast_to(&column, DIMS(2, -1, -1), &v), SB_OK); /* as they are */
  expect(&v, 9, DIMS(2, 3, 1), LIST(0, 1, 1));
  FAILS(SB_ERR_SHAPE, sb_broadcast_to(&column, DIMS(-1, 3, 1), &out));
  FAILS(SB_ERR_SHAPE, sb_broadcast_to(&column, DIMS(3, -2), &out));
  FAILS(SB_ERR_SHAPE, sb_broadcast_to(&column, DIMS(-1), &out));
  EQ(sb_broadcast_to(&column, DIMS(2, -1, 4), &v), SB_OK);
  expect(&v, 9, DIMS(2, 3, 4), LIST(0, 1, 0));
  int64_t strides[3] = {7, 7, 7};
  EQ(sb_dim_order_strides(DIMS(2, 3, 4), LIST(0, 2, 1), strides), SB_OK);
  EQ(strides[0], 12);
  EQ(strides[1], 1);
  EQ(strides[2], 3);
  EQ(sb_dim_order_strides(DIMS(2, 0, 4), LIST(0, 1, 2), strides), SB_OK);
  EQ(strides[0], 4);
  EQ(strides[1], 4);
  EQ(strides[2], 1);
  EQ(sb_dim_order_strides(DIMS(2, 3, 4), LIST(0, 2, 2), strides), SB_ERR_SHAPE);
  EQ(sb_dim_order_strides(DIMS(2, 3, 4), LIST(0, 2, -1), strides), SB_ERR_SHAPE);
  EQ(sb_dim_order_strides(DIMS(3, INT64_MAX, 4), LIST(0, 1, 2), strides), SB_ERR_SHAPE);
  EQ(strides[0], 4); /* as the last success left it */
  const sb_tensor turned = make(SB_INT32, DIMS(2, 3, 4), LIST(2, -8, 30), 16);
  EQ(sb_dense_like(&turned, SB_UINT8, &v), SB_OK);
  CHECK(!v.storage);
  EQ(v.dtype, SB_UINT8);
  expect(&v, 0, DIMS(2, 3, 4), LIST(1, 2, 6));
  FAILS(SB_ERR_DTYPE, sb_dense_like(&turned, (sb_dtype)-1, &out));
}

static void flips(void) {
  const sb_tensor t = make(SB_UINT8, DIMS(2, 3, 1), LIST(10, 2, 5), 4),
                  zero = make(SB_UINT8, 0, NULL, NULL, 3),
                  none = make(SB_UINT8, DIMS(2, 0), NULL, 4096),
                  wide = make(SB_UINT8, DIMS(3), LIST(0), 1);
  sb_tensor v;
  EQ(sb_flip(&t, -1, NULL, &v), SB_OK);
  expect(&v, 18, DIMS(2, 3, 1), LIST(-10, -2, 1));
  EQ(sb_flip(&v, 2, LIST(0, -2), &v), SB_OK); /* in place, and back */
  expect(&v, 4, DIMS(2, 3, 1), LIST(10, 2, 1));
  EQ(sb_flip(&t, 1, LIST(2), &v), SB_OK);
  expect(&v, 4, DIMS(2, 3, 1), LIST(10, 2, 1));
  EQ(sb_flip(&t, 0, NULL, &v), SB_OK);
  expect(&v, 4, DIMS(2, 3, 1), LIST(10, 2, 1));
  EQ(sb_flip(&zero, -1, NULL, &v), SB_OK);
  expect(&v, 3, 0, NULL, NULL);
  EQ(sb_flip(&none, -1, NULL, &v), SB_OK);
  expect(&v, 4096, DIMS(2, 0), LIST(1, 1));
  EQ(sb_flip(&wide, -1, NULL, &v), SB_OK);
  expect(&v, 1, DIMS(3), LIST(0));
  FAILS(SB_ERR_BOUNDS, sb_flip(&t, 1, LIST(3), &out));
  FAILS(SB_ERR_BOUNDS, sb_flip(&t, 1, LIST(-4), &out));
  FAILS(SB_ERR_BOUNDS, sb_flip(&t, 1, LIST(INT64_MIN), &out));
  FAILS(SB_ERR_BOUNDS, sb_flip(&t, 1, LIST(INT64_MAX), &out));
  FAILS(SB_ERR_BOUNDS, sb_flip(&t, 2, LIST(1, -2), &out));
  FAILS(SB_ERR_BOUNDS, sb_flip(&t, 4, LIST(0, 1, 2, 0), &out));
  FAILS(SB_ERR_BOUNDS, sb_flip(&zero, 1, LIST(0), &out));
}

static void diagonals(void) {
  const sb_tensor t = make(SB_UINT8, DIMS(3, 2, 4), LIST(8, 100, -1), 50);
  sb_tensor v;
  EQ(sb_diagonal(&t, 0, 0, 2, &v), SB_OK);
  expect(&v, 50, DIMS(2, 3), LIST(100, 7));
  EQ(v.capacity, 6);
  EQ(sb_diagonal(&t, 1, 0, -1, &v), SB_OK);
  expect(&v, 49, DIMS(2, 3), LIST(100, 7));
  EQ(sb_diagonal(&t, 3, -3, 2, &v), SB_OK);
  expect(&v, 47, DIMS(2, 1), LIST(100, 1));
  EQ(sb_diagonal(&t, -2, 2, 1, &v), SB_OK);
  expect(&v, 48, DIMS(3, 2), LIST(8, 99));
  const int64_t beyond[] = {4, -3, INT64_MAX, INT64_MIN, INT64_MAX - 1, INT64_MIN + 1};
  for (int i = 0; i < 6; i++) { /* beyond all elements: none, where it was */
    EQ(sb_diagonal(&t, beyond[i], 0, 2, &v), SB_OK);
    EQ(v.offset, 50);
    EQ(v.shape[1], 0);
    EQ(sb_tensor_numel(&v), 0);
  }
  v = t;
  EQ(sb_diagonal(&v, 0, 1, 0, &v), SB_OK); /* in place */
  expect(&v, 50, DIMS(4, 2), LIST(-1, 108));
  const sb_tensor none = make(SB_UINT8, DIMS(0, 3), NULL, 4096),
                  row = make(SB_UINT8, DIMS(4), NULL, 0);
  EQ(sb_diagonal(&none, 1, 0, 1, &v), SB_OK);
  EQ(v.ndim, 1);
  EQ(v.offset, 4096);
  FAILS(SB_ERR_BOUNDS, sb_diagonal(&t, 0, 0, 3, &out));
  FAILS(SB_ERR_BOUNDS, sb_diagonal(&t, 0, INT64_MIN, 0, &out));
  FAILS(SB_ERR_BOUNDS, sb_diagonal(&t, 0, 1, -2, &out));
  FAILS(SB_ERR_BOUNDS, sb_diagonal(&row, 0, 0, 1, &out));
  const sb_tensor far = make(SB_UINT8, DIMS(2, 2), LIST(2000, -2000), 2000);
  EQ(sb_diagonal(&far, 0, 0, 1, &v), SB_OK);
  expect(&v, 2000, DIMS(2), LIST(0));
  sb_tensor huge = {
      .ndim = 2, .dtype = SB_UINT8, .shape = {2, 2}, .strides = {INT64_MAX, INT64_MAX}};
  FAILS(SB_ERR_BOUNDS, sb_diagonal(&huge, 0, 0, 1, &out));
}

static void squeezes(void) {
  const sb_tensor t = make(SB_UINT8, DIMS(1, 3, 1, 2), LIST(9, 4, 9, -1), 20),
                  one = make(SB_UINT8, DIMS(1, 1), NULL, 7),
                  zero = make(SB_UINT8, 0, NULL, NULL, 3);
  sb_tensor v;
  EQ(sb_squeeze(&t, -1, NULL, &v), SB_OK);
  expect(&v, 20, DIMS(3, 2), LIST(4, -1));
  EQ(sb_squeeze(&t, 1, LIST(-2), &v), SB_OK);
  expect(&v, 20, DIMS(1, 3, 2), LIST(6, 4, -1));
  EQ(sb_squeeze(&t, 0, NULL, &v), SB_OK);
  EQ(v.ndim, 4);
  v = t;
  EQ(sb_squeeze(&v, 2, LIST(2, 0), &v), SB_OK);
  expect(&v, 20, DIMS(3, 2), LIST(4, -1));
  EQ(sb_squeeze(&one, -1, NULL, &v), SB_OK);
  expect(&v, 7, 0, NULL, NULL);
  EQ(v.capacity, 1);
  EQ(sb_squeeze(&zero, -1, NULL, &v), SB_OK);
  EQ(v.ndim, 0);
  FAILS(SB_ERR_SHAPE, sb_squeeze(&t, 1, LIST(1), &out));
  FAILS(SB_ERR_BOUNDS, sb_squeeze(&t, 2, LIST(0, -4), &out));
  FAILS(SB_ERR_BOUNDS, sb_squeeze(&t, 1, LIST(INT64_MIN), &out));
  FAILS(SB_ERR_BOUNDS, sb_squeeze(&zero, 1, LIST(0), &out));
  EQ(sb_unsqueeze(&t, 4, &v), SB_OK);
  expect(&v, 20, DIMS(1, 3, 1, 2, 1), LIST(6, 4, 2, -1, 1));
  EQ(sb_unsqueeze(&t, -5, &v), SB_OK);
  expect(&v, 20, DIMS(1, 1, 3, 1, 2), LIST(6, 6, 4, 2, -1));
  EQ(sb_unsqueeze(&zero, 0, &v), SB_OK);
  expect(&v, 3, DIMS(1), LIST(1));
  v = t;
  EQ(sb_unsqueeze(&v, 2, &v), SB_OK);
  expect(&v, 20, DIMS(1, 3, 1, 1, 2), LIST(6, 4, 2, 2, -1));
  FAILS(SB_ERR_BOUNDS, sb_unsqueeze(&t, 5, &out));
  FAILS(SB_ERR_BOUNDS, sb_unsqueeze(&t, -6, &out));
  FAILS(SB_ERR_BOUNDS, sb_unsqueeze(&t, INT64_MAX, &out));
  v = t;
  while (v.ndim < SB_MAX_DIMS) EQ(sb_unsqueeze(&v, 0, &v), SB_OK);
  FAILS(SB_ERR_SHAPE, sb_unsqueeze(&v, 0, &out));
  EQ(sb_squeeze(&v, -1, NULL, &v), SB_OK);
  expect(&v, 20, DIMS(3, 2), LIST(4, -1));
}

/* ---- Against a model that only knows indices ---- */

static int64_t python_range(int64_t extent, const sb_slice_spec *s, int64_t *out) {
  int64_t n = 0, first, last;
  const bool down = s->step < 0;
  if (!(s->given & SB_SLICE_HAS_START))
    first = down ? extent - 1 : 0;
  else {
    first = s->start;
    if (first < 0 && (first += extent) < 0) first = down ? -1 : 0;
    if (first >= extent) first = down ? extent - 1 : extent;
  }
  if (!(s->given & SB_SLICE_HAS_STOP))
    last = down ? -1 : extent;
  else {
    last = s->stop;
    if (last < 0 && (last += extent) < 0) last = down ? -1 : 0;
    if (last >= extent) last = down ? extent - 1 : extent;
  }
  for (int64_t i = first; down ? i > last : i < last; i += s->step) out[n++] = i;
  return n;
}

static void random_slices(void) {
  random_state = 11;
  for (int round = 0; round < 20000; round++) {
    sb_tensor t, v;
    sb_slice_spec specs[8];
    int64_t lists[12][16], counts[12], shape[12], index[SB_MAX_DIMS] = {0};
    int32_t axis_of[12], count = 0, n = 0,
                         d = 0; /* axis of t behind axis n of the result; -1: new */
    int64_t fixed[8] = {0};
    bool bad = false, ellipsis = false;
    const int32_t ndim = (int32_t)random_in(0, 4);
    if (!random_layout(&storage, SB_INT16, ndim, round % 8 ? 1 : 0, 5, 9, &t)) continue;
    const int32_t wanted = (int32_t)random_in(0, ndim);
    for (int32_t named = 0; named < wanted || random_in(0, 2) == 0;) {
      if (count == 7) {
        bad = named < wanted;
        break;
      }
      sb_slice_spec *s = &specs[count++];
      *s = (sb_slice_spec){.kind = random_in(0, 3)};
      if (s->kind <= SB_SLICE_RANGE && named == wanted) s->kind = SB_SLICE_NEW_AXIS;
      if (s->kind == SB_SLICE_ELLIPSIS) {
        if (ellipsis) {
          count--;
          continue;
        }
        ellipsis = true;
        for (int32_t rest = ndim - wanted; rest > 0; rest--, d++) {
          axis_of[n] = d;
          counts[n] = t.shape[d];
          for (int64_t i = 0; i < t.shape[d]; i++) lists[n][i] = i;
          n++;
        }
      } else if (s->kind == SB_SLICE_NEW_AXIS) {
        axis_of[n] = -1;
        counts[n++] = 1;
      } else if (s->kind == SB_SLICE_INDEX) {
        if (t.shape[d] == 0) {
          s->kind = SB_SLICE_RANGE;
          s->step = 1;
          axis_of[n] = d;
          counts[n++] = 0;
        } else {
          s->start = random_in(-t.shape[d], t.shape[d] - 1);
          fixed[d] = s->start < 0 ? s->start + t.shape[d] : s->start;
        }
        d++;
        named++;
      } else {
        s->given = random_in(0, 3);
        s->start = random_in(-8, 8);
        s->stop = random_in(-8, 8);
        do s->step = random_in(-4, 4);
        while (!s->step);
        axis_of[n] = d;
        counts[n] = python_range(t.shape[d], s, lists[n]);
        n++;
        d++;
        named++;
      }
    }
    if (bad) continue;
    for (; d < ndim; d++) {
      axis_of[n] = d;
      counts[n] = t.shape[d];
      for (int64_t i = 0; i < t.shape[d]; i++) lists[n][i] = i;
      n++;
    }
    for (int32_t i = 0; i < n; i++) shape[i] = counts[i];
    EQ(sb_slice(&t, count, specs, &v), SB_OK);
    EQ(v.ndim, n);
    if (v.ndim != n) continue;
    for (int32_t i = 0; i < n; i++) EQ(v.shape[i], shape[i]);
    CHECK(!sb__check_extent(&v));
    if (sb_tensor_numel(&v) == 0 || check_failures) continue;
    do {
      int64_t from[8];
      memcpy(from, fixed, sizeof from);
      for (int32_t i = 0; i < n; i++)
        if (axis_of[i] >= 0) from[axis_of[i]] = lists[i][index[i]];
      EQ(place_of(&v, index), place_of(&t, from));
    } while (next_index(&v, index));
  }
}

static void random_permutes(void) {
  random_state = 12;
  for (int round = 0; round < 5000; round++) {
    sb_tensor t, v;
    int64_t order[6], index[SB_MAX_DIMS] = {0};
    const int32_t ndim = (int32_t)random_in(0, 5);
    if (!random_layout(&storage, SB_INT16, ndim, round % 8 ? 1 : 0, 4, 9, &t)) continue;
    for (int32_t d = 0; d < ndim; d++) {
      const int64_t at = random_in(0, d);
      order[d] = order[at];
      order[at] = d;
    }
    int64_t given[6];
    for (int32_t d = 0; d < ndim; d++) given[d] = order[d] - (random_in(0, 1) ? ndim : 0);
    EQ(sb_permute(&t, ndim, given, &v), SB_OK);
    for (int32_t d = 0; d < ndim; d++) EQ(v.shape[d], t.shape[order[d]]);
    if (sb_tensor_numel(&t) == 0) continue;
    do {
      int64_t from[SB_MAX_DIMS];
      for (int32_t d = 0; d < ndim; d++) from[order[d]] = index[d];
      EQ(place_of(&v, index), place_of(&t, from));
    } while (next_index(&v, index));
  }
}

static void random_reshapes(void) {
  random_state = 13;
  int views = 0, copies = 0;
  for (int round = 0; round < 30000; round++) {
    static int64_t before[5000], after[5000];
    sb_tensor t, v, wanted;
    const int32_t ndim = (int32_t)random_in(0, 4);
    bool viewed = false;
    if (round % 2) {
      if (!random_layout(&storage, SB_INT8, ndim, 1, 4, 8, &t)) continue;
    } else { /* nearly dense: a permuted, stepped piece of a dense one */
      int64_t shape[4];
      for (int32_t d = 0; d < ndim; d++) shape[d] = random_in(1, 4);
      EQ(sb_tensor_init(&storage, SB_INT8, ndim, shape, NULL, 0, &t), SB_OK);
      if (ndim && random_in(0, 1)) {
        const sb_slice_spec s[2] = {{.kind = SB_SLICE_ELLIPSIS},
                                    RANGE(0, 0, 0, random_in(0, 1) ? -1 : 2)};
        EQ(sb_slice(&t, 2, s, &t), SB_OK);
      }
      if (ndim > 1 && random_in(0, 1))
        EQ(sb_transpose(&t, random_in(0, ndim - 1), random_in(0, ndim - 1), &t), SB_OK);
    }
    const int64_t n = places(&t, before, 5000);
    int64_t shape[8], rest = n;
    int32_t cut = 0;
    while (rest > 1 && cut < 6) {
      int64_t f = random_in(1, rest);
      while (rest % f) f--;
      shape[cut++] = f;
      rest /= f;
    }
    if (rest > 1 || random_in(0, 1)) shape[cut++] = rest;
    /* The strides of a view are given by its first steps; whether they hold is to be seen. */
    sb_tensor_copy_layout(&t, &wanted);
    wanted.ndim = cut;
    int64_t below = 1;
    for (int32_t d = cut - 1; d >= 0; d--) {
      wanted.shape[d] = shape[d];
      wanted.strides[d] = shape[d] > 1 ? before[below] - before[0] : below;
      below *= shape[d];
    }
    EQ(places(&wanted, after, 5000), n);
    const bool possible = !memcmp(before, after, (size_t)n * sizeof *before);
    if (cut && random_in(0, 3) == 0) shape[random_in(0, cut - 1)] = -1;
    EQ(sb_reshape(&t, cut, shape, &v, &viewed), SB_OK);
    EQ(viewed, possible);
    if (viewed) {
      CHECK(same_layout(&v, &wanted));
      views++;
    } else {
      CHECK(!v.storage && sb_is_contiguous(&v));
      copies++;
    }
  }
  CHECK(views > 1000 && copies > 1000);
}

static void random_flips_and_diagonals(void) {
  random_state = 15;
  for (int round = 0; round < 10000; round++) {
    sb_tensor t, v;
    int64_t index[SB_MAX_DIMS] = {0};
    const int32_t ndim = (int32_t)random_in(2, 4), a = (int32_t)random_in(0, ndim - 1);
    const int32_t b = (a + (int32_t)random_in(1, ndim - 1)) % ndim;
    if (!random_layout(&storage, SB_INT16, ndim, round % 8 ? 1 : 0, 5, 9, &t)) continue;
    EQ(sb_flip(&t, 2, LIST(a, b - ndim), &v), SB_OK);
    CHECK(sb__check_extent(&v) == SB_OK);
    if (sb_tensor_numel(&v) > 0) do {
        int64_t from[SB_MAX_DIMS];
        for (int32_t d = 0; d < ndim; d++)
          from[d] = d == a || d == b ? t.shape[d] - 1 - index[d] : index[d];
        EQ(place_of(&v, index), place_of(&t, from));
      } while (next_index(&v, index));
    const int64_t offset = random_in(-5, 5);
    int64_t length = 0;
    while (length + (offset < 0 ? -offset : 0) < t.shape[a] &&
           length + (offset > 0 ? offset : 0) < t.shape[b])
      length++;
    EQ(sb_diagonal(&t, offset, a - (round & 1 ? ndim : 0), b, &v), SB_OK);
    CHECK(sb__check_extent(&v) == SB_OK);
    EQ(v.ndim, ndim - 1);
    EQ(v.shape[ndim - 2], length);
    if (sb_tensor_numel(&v) == 0) continue;
    memset(index, 0, sizeof index);
    do {
      int64_t from[SB_MAX_DIMS];
      for (int32_t d = 0, next = 0; d < ndim; d++)
        if (d != a && d != b) from[d] = index[next++];
      from[a] = index[ndim - 2] + (offset < 0 ? -offset : 0);
      from[b] = index[ndim - 2] + (offset > 0 ? offset : 0);
      EQ(place_of(&v, index), place_of(&t, from));
    } while (next_index(&v, index));
  }
}

static void random_unfolds(void) {
  random_state = 14;
  for (int round = 0; round < 5000; round++) {
    sb_tensor t, v;
    int64_t index[SB_MAX_DIMS] = {0};
    const int32_t ndim = (int32_t)random_in(1, 3), axis = (int32_t)random_in(0, ndim - 1);
    if (!random_layout(&storage, SB_INT16, ndim, round % 8 ? 1 : 0, 6, 9, &t)) continue;
    const int64_t size = random_in(0, t.shape[axis]), step = random_in(1, 4);
    int64_t windows = 0;
    for (int64_t at = 0; at + size <= t.shape[axis]; at += step) windows++;
    EQ(sb_unfold(&t, axis - (round & 1 ? ndim : 0), size, step, &v), SB_OK);
    EQ(v.ndim, ndim + 1);
    EQ(v.shape[axis], windows);
    EQ(v.shape[ndim], size);
    if (sb_tensor_numel(&v) == 0) continue;
    do {
      int64_t from[SB_MAX_DIMS];
      for (int32_t d = 0; d < ndim; d++) from[d] = index[d];
      from[axis] = index[axis] * step + index[ndim];
      EQ(place_of(&v, index), place_of(&t, from));
    } while (next_index(&v, index));
  }
}

int main(void) {
  sb__storage_borrow(bytes, sizeof bytes, &storage);
  test("sb_tensor_init normalises strides, and refuses what leaves the storage", init);
  test("64 dimensions work, 65 and products beyond 64 bits are SHAPE errors", limits);
  test("sb_permute and sb_transpose reorder axes, with negative ones", permutations);
  test("sb_select and sb_narrow move the offset, also over negative and zero strides", selections);
  test("sb_slice follows Python's rules for ranges, indices, new axes and ellipses", slices);
  test("sb_reshape views where it can, infers -1, and says when it would copy", reshapes);
  test("unfold, view_dtype, as_strided, broadcast_to, dim order and dense_like give these layouts",
       others);
  test("sb_flip walks axes backwards, and leaves views of nothing where they are", flips);
  test("sb_diagonal reaches no further than the shorter axis, whatever the offset", diagonals);
  test("sb_squeeze and sb_unsqueeze drop and add axes of one element, up to 64", squeezes);
  test("sb_slice reaches the same elements as a model of indices, 20,000 times", random_slices);
  test("sb_permute reaches the same elements as a model of indices", random_permutes);
  test("sb_reshape makes a view exactly where brute force finds one, 30,000 times",
       random_reshapes);
  test("sb_flip and sb_diagonal reach the same elements as a model of indices, 10,000 times",
       random_flips_and_diagonals);
  test("sb_unfold reaches the same elements as a model of indices", random_unfolds);
  return done();
}
