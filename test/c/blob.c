#include "check.h"

static float floats[24] __attribute__((aligned(64)));

static void number(void) {
  for (int i = 0; i < 24; i++) floats[i] = (float)i;
}

typedef struct calls {
  int count;
  void *data;
} calls;

static void note(void *data, void *context) {
  calls *c = context;
  c->count++;
  c->data = data;
}

static void blobs(void) {
  calls c = {0, NULL};
  sb_tensor t;
  number();
  EQ(sb_tensor_from_blob(floats, sizeof floats, SB_FLOAT32, DIMS(2, 3), LIST(1, 4), note, &c, &t),
     SB_OK);
  EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(1, 2)), 9);
  CHECK(sb_tensor_data(&t) == floats);
  *(float *)sb_at(&t, SB_FLOAT32, LIST(0, 1)) = -1;
  EQ(floats[4], -1);
  sb_tensor view;
  EQ(sb_select(&t, 0, 1, &view), SB_OK);
  sb_tensor_retain(&view);
  sb_tensor_release(&t);
  EQ(c.count, 0);
  sb_tensor_release(&view);
  EQ(c.count, 1);
  CHECK(c.data == floats);
  EQ(sb_tensor_from_blob(NULL, 0, SB_FLOAT32, DIMS(0, 3), NULL, note, &c, &t), SB_OK);
  CHECK(!sb_tensor_data(&t));
  sb_tensor_release(&t);
  EQ(c.count, 2);
  EQ(sb_tensor_from_blob(floats + 23, 4, SB_FLOAT32, 0, NULL, NULL, NULL, NULL, &t), SB_OK);
  EQ(*(float *)sb_at(&t, SB_FLOAT32, NULL), 23);
  sb_tensor_release(&t);
}

static void blob_refusals(void) {
  calls c = {0, NULL};
  const size_t n = sizeof floats;
  int64_t ones[SB_MAX_DIMS + 1];
  for (int i = 0; i <= SB_MAX_DIMS; i++) ones[i] = 1;
#define BLOB(data, nbytes, dtype, ...) \
 sb_tensor_from_blob(data, nbytes, dtype, __VA_ARGS__, note, &c, &out)
  FAILS(SB_ERR_BOUNDS, BLOB(floats, n, SB_FLOAT32, DIMS(25), NULL));
  FAILS(SB_ERR_BOUNDS, BLOB(floats, n - 1, SB_FLOAT32, DIMS(24), NULL));
  FAILS(SB_ERR_BOUNDS, BLOB(floats, n, SB_FLOAT32, DIMS(2), LIST(-1)));
  FAILS(SB_ERR_BOUNDS, BLOB(floats, n, SB_FLOAT32, DIMS(2), LIST(24)));
  FAILS(SB_ERR_BOUNDS, BLOB(floats, n, SB_FLOAT32, DIMS(3), LIST(INT64_MAX)));
  FAILS(SB_ERR_SHAPE, BLOB(floats, n, SB_FLOAT32, DIMS(-1), NULL));
  FAILS(SB_ERR_SHAPE, BLOB(floats, n, SB_FLOAT32, DIMS(INT64_MAX, INT64_MAX), LIST(0, 0)));
  FAILS(SB_ERR_SHAPE, BLOB(floats, n, SB_UINT8, DIMS(1l << 32, 1l << 32, 0), NULL));
  FAILS(SB_ERR_SHAPE, BLOB(floats, n, SB_FLOAT32, SB_MAX_DIMS + 1, ones, NULL));
  FAILS(SB_ERR_ALIGNMENT, BLOB((char *)floats + 1, 8, SB_FLOAT32, DIMS(1), NULL));
  FAILS(SB_ERR_DTYPE, BLOB(floats, n, SB_DTYPE_COUNT, DIMS(1), NULL));
  FAILS(SB_ERR_ARGUMENT, BLOB(NULL, 4, SB_FLOAT32, DIMS(1), NULL));
  FAILS(SB_ERR_BOUNDS, BLOB(NULL, 0, SB_FLOAT32, DIMS(1), NULL));
#undef BLOB
  EQ(c.count, 0);
}

static void values(void) {
  sb_tensor t;
  const int32_t ints[] = {1, -2, 300, 4, 5, 6};
  EQ(sb_tensor_from_values(SB_INT32, ints, 6, SB_FLOAT64, DIMS(2, 3), SB_CASTING_SAFE, &t), SB_OK);
  EQ(*(double *)sb_at(&t, SB_FLOAT64, LIST(0, 2)), 300);
  EQ(*(double *)sb_at(&t, SB_FLOAT64, LIST(-1, -1)), 6);
  sb_tensor_release(&t);
  EQ(sb_tensor_from_values(SB_INT32, ints, 6, SB_INT32, DIMS(6), SB_CASTING_SAFE, &t), SB_OK);
  CHECK(!memcmp(sb_tensor_data(&t), ints, sizeof ints) && sb_tensor_data(&t) != ints);
  sb_tensor_release(&t);
  EQ(sb_tensor_from_values(SB_INT32, ints + 2, 1, SB_UINT8, 0, NULL, SB_CASTING_SAME_KIND, &t),
     SB_OK);
  EQ(*(uint8_t *)sb_at(&t, SB_UINT8, NULL), 44); /* wraps */
  sb_tensor_release(&t);
  EQ(sb_tensor_from_values(SB_INT32, NULL, 0, SB_INT32, DIMS(0, 2), SB_CASTING_SAFE, &t), SB_OK);
  sb_tensor_release(&t);
#define VALUES(from, values, count, to, ...) \
 sb_tensor_from_values(from, values, count, to, __VA_ARGS__, SB_CASTING_SAME_KIND, &out)
  FAILS(SB_ERR_SHAPE, VALUES(SB_INT32, ints, 5, SB_INT32, DIMS(2, 3)));
  FAILS(SB_ERR_SHAPE, VALUES(SB_INT32, ints, 7, SB_INT32, DIMS(2, 3)));
  FAILS(SB_ERR_SHAPE, VALUES(SB_INT32, ints, -1, SB_INT32, DIMS(1)));
  FAILS(SB_ERR_SHAPE, VALUES(SB_COMPLEX128, ints, 1l << 60, SB_UINT8, DIMS(1l << 60)));
  FAILS(SB_ERR_CAST, VALUES(SB_FLOAT32, ints, 6, SB_UINT32, DIMS(6)));
  FAILS(SB_ERR_CAST, VALUES(SB_FLOAT32, NULL, 0, SB_UINT32, DIMS(0)));
  FAILS(SB_ERR_ARGUMENT, VALUES(SB_INT32, NULL, 6, SB_INT32, DIMS(6)));
  FAILS(SB_ERR_ALIGNMENT, VALUES(SB_INT32, (const char *)ints + 1, 1, SB_INT32, DIMS(1)));
  FAILS(SB_ERR_DTYPE, VALUES(SB_DTYPE_COUNT, ints, 1, SB_INT32, DIMS(1)));
  FAILS(SB_ERR_DTYPE, VALUES(SB_INT32, ints, 1, SB_DTYPE_COUNT, DIMS(1)));
#undef VALUES
}

/* ExecuTorch takes a vector of uint8 for bytes with sizes, and for values without. */
static void bytes(void) {
  sb_tensor t;
  const uint8_t raw[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 9}; /* 1, 2 in little-endian float32 */
  EQ(sb_tensor_from_bytes(raw, 8, SB_FLOAT32, DIMS(2), &t), SB_OK);
  EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(0)), 1);
  EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(1)), 2);
  sb_tensor_release(&t);
  EQ(sb_tensor_from_bytes(raw + 1, 8, SB_FLOAT64, DIMS(1), &t), SB_OK); /* any address */
  CHECK(!memcmp(sb_tensor_data(&t), raw + 1, 8));
  sb_tensor_release(&t);
  EQ(sb_tensor_from_values(SB_UINT8, raw, 9, SB_FLOAT32, DIMS(9), SB_CASTING_SAFE, &t), SB_OK);
  EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(3)), 63);
  sb_tensor_release(&t);
  EQ(sb_tensor_from_bytes(NULL, 0, SB_FLOAT32, DIMS(0), &t), SB_OK);
  sb_tensor_release(&t);
  FAILS(SB_ERR_SHAPE, sb_tensor_from_bytes(raw, 7, SB_FLOAT32, DIMS(2), &out));
  FAILS(SB_ERR_SHAPE, sb_tensor_from_bytes(raw, 9, SB_FLOAT32, DIMS(2), &out));
  FAILS(SB_ERR_ARGUMENT, sb_tensor_from_bytes(NULL, 8, SB_FLOAT32, DIMS(2), &out));
  FAILS(SB_ERR_DTYPE, sb_tensor_from_bytes(raw, 1, SB_DTYPE_COUNT, DIMS(1), &out));
  FAILS(SB_ERR_SHAPE, sb_tensor_from_bytes(raw, 1, SB_UINT8, DIMS(-1), &out));
}

static void clones(void) {
  sb_tensor t, view, copy;
  number();
  EQ(sb_tensor_from_blob(floats, sizeof floats, SB_FLOAT32, DIMS(4, 6), NULL, NULL, NULL, &t),
     SB_OK);
  t.dynamism = SB_UNBOUND;
  EQ(sb_permute(&t, 2, LIST(1, 0), &view), SB_OK);
  view.flags = SB_READ_ONLY;
  EQ(sb_clone(&view, SB_FLOAT64, SB_CASTING_SAFE, &copy), SB_OK);
  EQ(copy.strides[0], 1); /* the axes in the same order of storage */
  EQ(copy.strides[1], 6);
  EQ(copy.dynamism, SB_UNBOUND);
  EQ(copy.flags, 0);
  EQ(*(double *)sb_at(&copy, SB_FLOAT64, LIST(5, 3)), 23);
  floats[23] = -1;
  EQ(*(double *)sb_at(&copy, SB_FLOAT64, LIST(5, 3)), 23);
  sb_tensor_release(&copy);
  FAILS(SB_ERR_CAST, sb_clone(&t, SB_UINT32, SB_CASTING_SAME_KIND, &out));
  FAILS(SB_ERR_DTYPE, sb_clone(&t, SB_DTYPE_COUNT, SB_CASTING_SAME_KIND, &out));
  EQ(sb_narrow(&t, 0, 0, 0, &view), SB_OK);
  FAILS(SB_ERR_CAST,
        sb_clone(&view, SB_UINT32, SB_CASTING_SAME_KIND, &out)); /* without elements, too */
  view.storage = NULL;
  FAILS(SB_ERR_CAST,
        sb_clone(&view, SB_UINT32, SB_CASTING_SAME_KIND, &out)); /* and without bytes */
  EQ(sb_clone(&view, SB_FLOAT32, SB_CASTING_SAFE, &copy), SB_OK);
  sb_tensor_release(&copy);
  sb_tensor_release(&t);
}

/* ExecuTorch: a placeholder, which its copies take for nothing. */
static void no_bytes(void) {
  sb_tensor none, t;
  sb_scalar one = {.kind = SB_SCALAR_INT, .as = {.i = 1}};
  sb_generator generator = {.seed = 1};
  EQ(sb_tensor_init(NULL, SB_FLOAT32, DIMS(2), NULL, 0, &none), SB_OK);
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(2), &t), SB_OK);
  FAILS(SB_ERR_ARGUMENT, sb_clone(&none, SB_FLOAT32, SB_CASTING_SAFE, &out));
  FAILS(SB_ERR_ARGUMENT, sb_copy(&none, &t, SB_CASTING_SAFE, NULL));
  FAILS(SB_ERR_ARGUMENT, sb_copy(&t, &none, SB_CASTING_SAFE, NULL));
  FAILS(SB_ERR_ARGUMENT, sb_fill(&none, &one));
  FAILS(SB_ERR_ARGUMENT, sb_uniform(&none, 0, 1, &generator));
  CHECK(!sb_at(&none, SB_FLOAT32, LIST(0)));
  sb_tensor_release(&t);
}

static void places_of_elements(void) {
  sb_tensor t, view;
  number();
  EQ(sb_tensor_from_blob(floats, sizeof floats, SB_FLOAT32, DIMS(4, 6), NULL, NULL, NULL, &t),
     SB_OK);
  EQ(sb_flip(&t, 1, LIST(1), &view), SB_OK);
  for (int64_t i = 0; i < 4; i++) {
    for (int64_t j = 0; j < 6; j++) {
      CHECK(sb_at(&t, SB_FLOAT32, LIST(i, j)) == floats + 6 * i + j);
      CHECK(sb_at(&view, SB_FLOAT32, LIST(i, j)) == floats + 6 * i + 5 - j);
      CHECK(sb_at(&t, SB_FLOAT32, LIST(i - 4, j - 6)) == floats + 6 * i + j);
    }
  }
  const int64_t outside[] = {4, -5, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 4; i++) {
    CHECK(!sb_at(&t, SB_FLOAT32, LIST(outside[i], 0)));
  }
  CHECK(!sb_at(&view, SB_FLOAT32, LIST(0, 6)) && !sb_at(&view, SB_FLOAT32, LIST(0, -7)));
  CHECK(!sb_at(&t, SB_INT32, LIST(0, 0))); /* the same width, another dtype */
  sb_tensor_release(&t);
}

static void resizes(void) {
  sb_tensor t;
  number();
  EQ(sb_tensor_from_values(SB_FLOAT32, floats, 6, SB_FLOAT32, DIMS(2, 3), SB_CASTING_SAFE, &t),
     SB_OK);
  sb_storage *first = t.storage;
  EQ(sb_tensor_resize(&t, 2, LIST(1, 3)), SB_OK);
  EQ(t.capacity, 6);
  EQ(sb_tensor_resize(&t, 2, LIST(2, 3)), SB_OK);
  EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(1, 2)), 5); /* still there */
  CHECK(t.storage == first);
  EQ(sb_tensor_resize(&t, 2, LIST(3, 3)), SB_ERR_SHAPE); /* bounded */
  EQ(sb_tensor_resize(&t, 1, LIST(6)), SB_ERR_SHAPE);
  t.dynamism = SB_STATIC;
  EQ(sb_tensor_resize(&t, 2, LIST(1, 3)), SB_ERR_SHAPE);
  EQ(sb_tensor_resize(&t, 2, LIST(2, 3)), SB_OK);
  t.dynamism = SB_UNBOUND;
  sb_tensor view = t;
  sb_tensor_retain(&view);
  EQ(sb_tensor_resize(&t, 2, LIST(3, 3)), SB_OK);
  CHECK(t.storage != first);
  EQ(t.capacity, 9);
  EQ(t.dynamism, SB_UNBOUND);
  EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(1, 2)), 5);
  *(float *)sb_at(&t, SB_FLOAT32, LIST(1, 2)) = 7;
  EQ(*(float *)sb_at(&view, SB_FLOAT32, LIST(1, 2)), 5); /* the old bytes */
  sb_tensor_release(&view);
  const sb_tensor was = t;
  UNTIL_OK(2, sb_tensor_resize(&t, 2, LIST(100, 100)), CHECK(same_layout(&t, &was)));
  EQ(((float *)sb_tensor_data(&t))[5], 7);
  EQ(sb_tensor_resize(&t, 2, LIST(0, 3)), SB_OK);
  EQ(sb_tensor_resize(&t, 2, LIST(200, 100)), SB_OK);
  EQ(((float *)sb_tensor_data(&t))[5], 7); /* all that it had room for came along */
  sb_tensor_release(&t);

  EQ(sb_tensor_from_blob(floats, sizeof floats, SB_FLOAT32, DIMS(2, 2), NULL, NULL, NULL, &t),
     SB_OK);
  t.dynamism = SB_UNBOUND;
  EQ(sb_tensor_resize(&t, 2, LIST(3, 2)), SB_ERR_SHAPE); /* not ours to grow */
  EQ(sb_tensor_resize(&t, 2, LIST(1, 2)), SB_OK);
  sb_tensor_release(&t);
}

/* ExecuTorch gives the release callback the pointer that is current then. */
static void other_bytes(void) {
  static float others[6];
  calls first = {0, NULL}, second = {0, NULL};
  sb_tensor t, source, view;
  number();
  EQ(sb_tensor_from_blob(floats, 24, SB_FLOAT32, DIMS(2, 3), NULL, note, &first, &t), SB_OK);
  EQ(sb_tensor_from_blob(others, 24, SB_FLOAT32, DIMS(6), NULL, note, &second, &source), SB_OK);
  EQ(sb_select(&t, 0, 1, &view), SB_OK);
  sb_tensor_retain(&view);
  sb_storage *held = t.storage;
  EQ(sb_set_data(&t, &source), SB_OK);
  sb_tensor_retain(&t);
  sb_storage_unref(&held);
  *(float *)sb_at(&t, SB_FLOAT32, LIST(1, 2)) = 7;
  EQ(others[5], 7);
  EQ(t.capacity, 6);
  EQ(*(float *)sb_at(&view, SB_FLOAT32, LIST(2)), 5); /* stays */
  EQ(first.count, 0);
  sb_tensor_release(&view);
  EQ(first.count, 1);
  CHECK(first.data == floats);
  sb_tensor_release(&source);
  EQ(second.count, 0);
  sb_tensor wrong = t;
  wrong.dtype = SB_INT32;
  FAILS(SB_ERR_DTYPE, sb_set_data(&wrong, &t));
  EQ(sb_narrow(&t, 0, 0, 1, &view), SB_OK);
  FAILS(SB_ERR_BOUNDS, sb_set_data(&t, &view));
  sb_tensor_release(&t);
  EQ(second.count, 1);
  EQ(first.count, 1);
}

/* A transposed tensor keeps its order of axes when it moves. */
static void resizes_in_order(void) {
  sb_tensor t, source, view;
  number();
  EQ(sb_tensor_from_blob(floats, 24, SB_FLOAT32, DIMS(2, 3), NULL, NULL, NULL, &source), SB_OK);
  EQ(sb_transpose(&source, 0, 1, &view), SB_OK);
  EQ(sb_clone(&view, SB_FLOAT32, SB_CASTING_SAFE, &t), SB_OK);
  t.dynamism = SB_UNBOUND;
  EQ(sb_tensor_resize(&t, 2, LIST(3, 4)), SB_OK);
  EQ(t.strides[0], 1);
  EQ(t.strides[1], 3);
  for (int64_t i = 0; i < 3; i++) {
    EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(i, 0)), i);
    EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(i, 1)), 3 + i);
  }
  sb_tensor_release(&t);
  sb_tensor_release(&source);
}

static void no_memory(void) {
  calls c = {0, NULL};
  sb_tensor t = {0}, copy = {0};
  number();
  UNTIL_OK(1, sb_tensor_from_blob(floats, 16, SB_FLOAT32, DIMS(4), NULL, note, &c, &t),
           CHECK(!t.storage && c.count == 0));
  UNTIL_OK(2, sb_clone(&t, SB_FLOAT64, SB_CASTING_SAFE, &copy), CHECK(!copy.storage));
  sb_tensor_release(&copy);
  UNTIL_OK(
      2, sb_tensor_from_values(SB_FLOAT32, floats, 4, SB_FLOAT64, DIMS(4), SB_CASTING_SAFE, &copy),
      CHECK(!copy.storage));
  sb_tensor_release(&copy);
  UNTIL_OK(2, sb_tensor_from_bytes(floats, 16, SB_FLOAT32, DIMS(4), &copy), CHECK(!copy.storage));
  sb_tensor_release(&copy);
  EQ(c.count, 0);
  sb_tensor_release(&t);
  EQ(c.count, 1);
}

int main(void) {
  test("a blob is the caller's bytes, taken over with its deleter", blobs);
  test("a blob that does not fit is refused, and nothing is taken over", blob_refusals);
  test("values are copied and cast, exactly as many as there are elements", values);
  test("bytes are not values: they are copied as they are, and another call converts", bytes);
  test("a clone has bytes of its own, may be cast, and the rule holds without elements and bytes",
       clones);
  test("a layout without bytes is an error wherever elements are touched", no_bytes);
  test("an element's address keeps its bounds, and its dtype", places_of_elements);
  test("a tensor that holds its storage is resized, and unbound moves to another", resizes);
  test("a tensor shows a source's bytes in its own shape, and who holds storages goes on holding "
       "them",
       other_bytes);
  test("a transposed tensor that moves keeps its order of axes", resizes_in_order);
  test("every allocation of blob, clone, values and bytes may fail, and nothing leaks", no_memory);
  return done();
}
