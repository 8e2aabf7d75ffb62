/* sb_take against picking element by element, on random layouts; refusals write nothing. */
#include "check.h"

#define SIZE 6000

static char one[SIZE] __attribute__((aligned(64))), two[SIZE] __attribute__((aligned(64)));
static char three[SIZE] __attribute__((aligned(64)));
static sb_storage first, second, third;
static const sb_dtype sizes[] = {SB_UINT8, SB_FLOAT16, SB_FLOAT32, SB_INT64, SB_COMPLEX128};
static const sb_dtype ints[] = {SB_UINT8, SB_INT8,   SB_INT16, SB_UINT16,
                                SB_INT32, SB_UINT32, SB_INT64, SB_UINT64};

static void noise(char *at) {
  for (int i = 0; i < SIZE; i++) at[i] = (char)(random_bits() >> 40);
}

static void set_index(const sb_tensor *indices, int64_t i, int64_t value) {
  const int64_t itemsize = sb_dtype_itemsize(indices->dtype);
  const int64_t at = indices->offset + i * indices->strides[0];
  memcpy(two + at * itemsize, &value, (size_t)itemsize); /* little-endian */
}

static void takes(void) {
  static char wanted[SIZE];
  int done_ = 0, refused = 0;
  random_state = 61;
  for (int round = 0; round < 20000; round++) {
    sb_tensor t, indices, dst;
    int64_t picked[8], from[SB_MAX_DIMS], to[SB_MAX_DIMS] = {0};
    const sb_dtype dtype = sizes[random_in(0, 4)];
    noise(one);
    noise(two);
    noise(three);
    if (!random_layout(&first, dtype, (int32_t)random_in(1, 4), round % 16 ? 1 : 0, 4, 9, &t))
      continue;
    const int32_t d = (int32_t)random_in(0, t.ndim - 1);
    const sb_dtype kind = ints[random_in(0, 7)];
    if (!random_layout(&second, kind, 1, 0, 8, 3, &indices)) continue;
    const int64_t n = indices.shape[0], extent = t.shape[d];
    if (n > 1 && indices.strides[0] == 0) continue;
    bool outside = false;
    for (int64_t i = 0; i < n; i++) {
      const int64_t low = sb_dtype_kind(kind) == SB_SIGNED ? -extent : 0;
      picked[i] = extent ? random_in(low, extent - 1 + (random_in(0, 99) == 0)) : 0;
      outside = outside || picked[i] >= extent;
      set_index(&indices, i, picked[i]);
    }
    int64_t shape[4], strides[4], low = 0, step = random_in(1, 2);
    for (int32_t i = 0; i < t.ndim; i++) shape[i] = i == d ? n : t.shape[i];
    for (int32_t i = t.ndim - 1; i >= 0; i--) {
      strides[i] = random_in(0, 2) ? step : -step;
      if (strides[i] < 0 && shape[i]) low += (shape[i] - 1) * step;
      step *= (shape[i] ? shape[i] : 1) + random_in(0, 1);
    }
    if (sb_tensor_init(&third, dtype, t.ndim, shape, strides, low, &dst)) continue;
    memcpy(wanted, three, SIZE);
    const sb_status status = sb_take(&t, &indices, random_in(0, 1) ? d : d - t.ndim, &dst);
    if (outside) {
      EQ(status, SB_ERR_BOUNDS);
      CHECK(!memcmp(three, wanted, SIZE));
      refused++;
      continue;
    }
    EQ(status, SB_OK);
    const int64_t itemsize = sb_dtype_itemsize(dtype);
    if (sb_tensor_numel(&dst)) {
      do {
        memcpy(from, to, sizeof from);
        from[d] = picked[to[d]] < 0 ? picked[to[d]] + extent : picked[to[d]];
        memcpy(wanted + place_of(&dst, to) * itemsize, one + place_of(&t, from) * itemsize,
               (size_t)itemsize);
      } while (next_index(&dst, to));
    }
    CHECK(!memcmp(three, wanted, SIZE));
    done_++;
  }
  CHECK(done_ > 5000 && refused > 50);
}

static void refusals(void) {
  sb_tensor t, indices, dst;
  EQ(sb_tensor_init(&first, SB_FLOAT32, DIMS(3, 4), NULL, 0, &t), SB_OK);
  EQ(sb_tensor_init(&second, SB_INT32, DIMS(2), NULL, 0, &indices), SB_OK);
  EQ(sb_tensor_init(&third, SB_FLOAT32, DIMS(2, 4), NULL, 0, &dst), SB_OK);
  memset(two, 0, SIZE);
  EQ(sb_take(&t, &indices, 0, &dst), SB_OK);
  EQ(sb_take(&t, &indices, 2, &dst), SB_ERR_BOUNDS);
  EQ(sb_take(&t, &indices, 1, &dst), SB_ERR_SHAPE);
  dst.dtype = SB_INT32;
  EQ(sb_take(&t, &indices, 0, &dst), SB_ERR_DTYPE);
  dst.dtype = SB_FLOAT32;
  dst.flags = SB_READ_ONLY;
  EQ(sb_take(&t, &indices, 0, &dst), SB_ERR_READ_ONLY);
  dst.flags = 0;
  dst.strides[0] = 0;
  EQ(sb_take(&t, &indices, 0, &dst), SB_ERR_OVERLAP);
  EQ(sb_tensor_init(&first, SB_FLOAT32, DIMS(2, 4), NULL, 4, &dst), SB_OK);
  EQ(sb_take(&t, &indices, 0, &dst), SB_ERR_OVERLAP); /* shares bytes with t */
  EQ(sb_tensor_init(&third, SB_FLOAT32, DIMS(2, 4), NULL, 0, &dst), SB_OK);
  EQ(sb_tensor_init(&second, SB_FLOAT32, DIMS(2), NULL, 0, &indices), SB_OK);
  EQ(sb_take(&t, &indices, 0, &dst), SB_ERR_DTYPE);
  EQ(sb_tensor_init(&second, SB_BOOL, DIMS(2), NULL, 0, &indices), SB_OK);
  EQ(sb_take(&t, &indices, 0, &dst), SB_ERR_DTYPE);
  EQ(sb_tensor_init(&second, SB_INT32, DIMS(2, 1), NULL, 0, &indices), SB_OK);
  EQ(sb_take(&t, &indices, 0, &dst), SB_ERR_SHAPE);
  EQ(sb_tensor_init(&first, SB_FLOAT32, 0, NULL, NULL, 0, &t), SB_OK);
  EQ(sb_take(&t, &indices, 0, &dst), SB_ERR_BOUNDS);
}

static void no_memory(void) {
  sb_tensor t, indices, dst;
  EQ(sb_tensor_init(&first, SB_FLOAT32, DIMS(3), NULL, 0, &t), SB_OK);
  EQ(sb_tensor_init(&second, SB_INT32, DIMS(2), NULL, 0, &indices), SB_OK);
  EQ(sb_tensor_init(&third, SB_FLOAT32, DIMS(2), NULL, 0, &dst), SB_OK);
  sb__fail_allocation(1);
  EQ(sb_take(&t, &indices, 0, &dst), SB_ERR_MEMORY);
  sb__fail_allocation(0);
  /* More indices than an address space has, in a shape without elements. */
  EQ(sb_tensor_init(&second, SB_UINT8, 1, LIST(INT64_C(1) << 50), LIST(0), 0, &indices), SB_OK);
  EQ(sb_tensor_init(&first, SB_FLOAT32, DIMS(0, 3), NULL, 0, &t), SB_OK);
  EQ(sb_tensor_init(&third, SB_FLOAT32, DIMS(0, INT64_C(1) << 50), NULL, 0, &dst), SB_OK);
  EQ(sb_take(&t, &indices, 1, &dst), SB_ERR_MEMORY);
}

/* Strides of what has no elements may be anything. */
static void no_elements(void) {
  sb_tensor t, indices, dst;
  const int64_t index = INT64_C(1) << 51;
  EQ(sb_tensor_init(&second, SB_INT64, DIMS(1), NULL, 0, &indices), SB_OK);
  memcpy(two, &index, sizeof index);
  EQ(sb_tensor_init(&first, SB_COMPLEX128, DIMS(0, INT64_C(1) << 52), NULL, 0, &t), SB_OK);
  t.strides[1] = INT64_MAX;
  EQ(sb_tensor_init(&third, SB_COMPLEX128, DIMS(0, 1), NULL, 0, &dst), SB_OK);
  EQ(sb_take(&t, &indices, 1, &dst), SB_OK);
}

static void no_bytes(void) {
  sb_tensor t, none;
  EQ(sb_tensor_init(&first, SB_INT32, DIMS(2), NULL, 0, &t), SB_OK);
  EQ(sb_tensor_init(NULL, SB_INT32, DIMS(2), NULL, 0, &none), SB_OK);
  memset(one, 0, SIZE);
  EQ(sb_take(&none, &t, 0, &t), SB_ERR_ARGUMENT);
  EQ(sb_take(&t, &none, 0, &t), SB_ERR_ARGUMENT);
  EQ(sb_take(&t, &t, 0, &none), SB_ERR_ARGUMENT);
}

int main(void) {
  sb__storage_borrow(one, SIZE, &first);
  sb__storage_borrow(two, SIZE, &second);
  sb__storage_borrow(three, SIZE, &third);
  test("sb_take equals picking one by one, and leaves every other byte, 20,000 times", takes);
  test("sb_take refuses what does not fit", refusals);
  test("sb_take without memory", no_memory);
  test("sb_take of no elements, whose strides overflow", no_elements);
  test("sb_take refuses tensors without bytes", no_bytes);
  return done();
}
