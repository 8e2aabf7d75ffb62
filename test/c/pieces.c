#include "check.h"

enum { SIZE = 1 << 15 };
static char from[SIZE] __attribute__((aligned(64))), one[SIZE] __attribute__((aligned(64))),
    two[SIZE] __attribute__((aligned(64)));
static double factors[64];

static sb_storage storage_of(void *bytes, size_t nbytes) {
  sb_storage s;
  sb__storage_borrow(bytes, nbytes, &s);
  return s;
}

static int64_t product(int32_t n, const int64_t *extents) {
  int64_t numel = 1;
  for (int32_t d = 0; d < n; d++) numel *= extents[d];
  return numel;
}

static void cut(int32_t n, const int64_t *shape, const int64_t *strides, int64_t most, bool compact,
                const int64_t *expected, int32_t axis) {
  sb_storage s = storage_of(NULL, 0);
  sb_tensor t;
  int64_t extents[SB_MAX_DIMS];
  s.nbytes = SIZE_MAX / 4; /* no byte is touched */
  EQ(sb_tensor_init(&s, SB_UINT8, n, shape, strides, 0, &t), SB_OK);
  EQ(sb__piece_extents(&t, most, compact, extents), axis);
  for (int32_t d = 0; d < n; d++) EQ(extents[d], expected[d]);
}

static void places_to_cut(void) {
  const bool loose = false, compact = true;
  cut(DIMS(4, 5), NULL, 20, loose, LIST(4, 5), 0);
  cut(DIMS(4, 5), NULL, 19, loose, LIST(3, 5), 0);
  cut(DIMS(4, 5), NULL, 5, loose, LIST(1, 5), 0);
  cut(DIMS(4, 5), NULL, 4, loose, LIST(4, 1), 1); /* one index of the first axis is too much */
  cut(DIMS(4, 5), NULL, 4, compact, LIST(1, 4), 1);
  cut(DIMS(4, 5), NULL, 1, loose, LIST(1, 1), 1);
  cut(DIMS(4, 5), NULL, 1, compact, LIST(1, 1), 1);
  cut(DIMS(4, 5), LIST(1, 4), 10, loose, LIST(4, 2), 1);          /* the outermost in memory */
  cut(DIMS(1000, 1000), NULL, 300000, loose, LIST(256, 1000), 0); /* whole cache lines */
  cut(DIMS(8, 1080, 1920, 3), NULL, 131072, loose, LIST(8, 2, 1920, 3), 1);
  cut(DIMS(8, 1080, 1920, 3), NULL, 131072, compact, LIST(1, 22, 1920, 3), 1);
  cut(DIMS(2, 2, 2, 2), NULL, 2, loose, LIST(1, 1, 1, 2), 2);
  cut(DIMS(0, 5), NULL, 1, loose, LIST(0, 5), 0);
  cut(0, NULL, NULL, 1, loose, NULL, 0);
}

static void small_enough(void) {
  random_state = 61;
  for (int round = 0; round < 5000; round++) {
    sb_storage s = storage_of(from, SIZE);
    sb_tensor t;
    int64_t extents[SB_MAX_DIMS];
    const int64_t most = random_in(1, 40);
    if (!random_layout(&s, SB_UINT8, (int32_t)random_in(0, 5), 1, 6, 30, &t)) continue;
    sb__piece_extents(&t, most, random_in(0, 1), extents);
    CHECK(product(t.ndim, extents) <= most);
    for (int32_t d = 0; d < t.ndim; d++) CHECK(extents[d] >= 1 && extents[d] <= t.shape[d]);
  }
}

static void noise(void *at, size_t nbytes) {
  for (size_t i = 0; i + 8 <= nbytes; i += 8) memcpy((char *)at + i, &(uint64_t){random_bits()}, 8);
}

/* A copy whole into `one` and in pieces into `two`. */
static void both_ways(int round) {
  sb_storage a = storage_of(from, SIZE), b = storage_of(one, SIZE), c = storage_of(two, SIZE),
             numbers = storage_of(factors, sizeof factors);
  sb_tensor dst, again, src, scale, bias;
  atomic_bool stop = false;
  bool finished = false, overlaps = true;
  const sb_dtype to = (sb_dtype)random_in(0, 16), dtype = (sb_dtype)random_in(0, 16);
  int64_t steps[4];
  const int32_t ndim = (int32_t)random_in(0, 4);
  if (!random_layout(&b, to, ndim, round % 16 ? 1 : 0, 9, 40, &dst)) return;
  EQ(sb_overlaps_itself(&dst, &overlaps), SB_OK);
  if (overlaps) return;
  EQ(sb_tensor_init(&c, to, ndim, dst.shape, dst.strides, dst.offset, &again), SB_OK);
  for (int32_t d = 0; d < ndim; d++) steps[d] = random_in(0, 3) ? random_in(-6, 6) : 0;
  const int64_t middle = SIZE / 2 / sb_dtype_itemsize(dtype);
  EQ(sb_tensor_init(&a, dtype, ndim, dst.shape, steps, middle, &src), SB_OK);
  sb__copy whole = {&dst, &src, NULL, NULL, 0, SB_CASTING_UNSAFE};
  const bool complex = sb_dtype_kind(to) == SB_COMPLEX || sb_dtype_kind(dtype) == SB_COMPLEX;
  if (ndim && !complex && round % 2) {
    whole.axis = random_in(-ndim, ndim - 1);
    const int64_t n = dst.shape[whole.axis < 0 ? whole.axis + ndim : whole.axis];
    EQ(sb_tensor_init(&numbers, SB_FLOAT64, (int32_t)random_in(0, 1), &n, NULL, 0, &scale), SB_OK);
    EQ(sb_tensor_init(&numbers, SB_FLOAT64, 1, &n, LIST(-1), 20, &bias), SB_OK);
    whole.scale = &scale;
    whole.bias = &bias;
  }
  sb__copy pieces = whole;
  pieces.dst = &again;
  EQ(sb__copy_run(&whole, NULL), SB_OK);
  EQ(sb__copy_in_pieces(&pieces, random_in(1, 50), &stop, &finished), SB_OK);
  CHECK(finished);
}

static void same_bits(void) {
  random_state = 62;
  noise(from, SIZE);
  for (int i = 0; i < 64; i++) factors[i] = (double)random_in(-500, 500) / 8;
  for (int round = 0; round < 4000; round++) both_ways(round);
  CHECK(memcmp(one, two, SIZE) == 0);
  CHECK(memcmp(one, from, SIZE) != 0);
}

static void stopped(void) {
  sb_storage a = storage_of(from, SIZE), b = storage_of(one, SIZE);
  sb_tensor dst, src;
  atomic_bool stop = true;
  bool finished = true;
  memset(from, 1, SIZE);
  memset(one, 0, SIZE);
  EQ(sb_tensor_init(&b, SB_UINT8, DIMS(100), NULL, 0, &dst), SB_OK);
  EQ(sb_tensor_init(&a, SB_UINT8, DIMS(100), NULL, 0, &src), SB_OK);
  const sb__copy copy = {&dst, &src, NULL, NULL, 0, SB_CASTING_SAFE};
  EQ(sb__copy_in_pieces(&copy, 10, &stop, &finished), SB_OK);
  CHECK(!finished);
  EQ(one[0], 0);
}

static void refusals(void) {
  sb_storage a = storage_of(from, SIZE), b = storage_of(one, SIZE);
  sb_tensor dst, src, wide;
  bool collides = true;
  memset(one, 7, SIZE);
  EQ(sb_tensor_init(&b, SB_UINT8, DIMS(2, 50), NULL, 0, &dst), SB_OK);
  EQ(sb_tensor_init(&a, SB_UINT8, DIMS(50), NULL, 0, &src), SB_OK);
  EQ(sb_tensor_init(&a, SB_FLOAT32, DIMS(50), NULL, 0, &wide), SB_OK);
  sb__copy c = {&dst, &src, NULL, NULL, 0, SB_CASTING_SAFE};
  EQ(sb__copy_check(&c, &collides), SB_OK);
  CHECK(!collides);
  c.src = &wide;
  EQ(sb__copy_check(&c, &collides), SB_ERR_CAST);
  c.src = &src;
  src.shape[0] = 49;
  EQ(sb__copy_check(&c, &collides), SB_ERR_SHAPE);
  src.shape[0] = 50;
  dst.strides[0] = 1;
  EQ(sb__copy_check(&c, &collides), SB_ERR_OVERLAP);
  dst.strides[0] = 50;
  dst.flags = SB_READ_ONLY;
  EQ(sb__copy_check(&c, &collides), SB_ERR_READ_ONLY);
  dst.flags = 0;
  c.scale = c.bias = &wide;
  EQ(sb__copy_check(&c, &collides), SB_ERR_CAST); /* floats to uint8 */
  c.casting = SB_CASTING_UNSAFE;
  EQ(sb__copy_check(&c, &collides), SB_ERR_DTYPE); /* factors are float64 */
  for (int i = 0; i < SIZE; i++) EQ(one[i], 7);
}

static void collisions(void) {
  sb_storage b = storage_of(one, SIZE);
  sb_tensor dst, src;
  bool collides = false;
  const sb__copy c = {&dst, &src, NULL, NULL, 0, SB_CASTING_UNSAFE};
  EQ(sb_tensor_init(&b, SB_INT32, DIMS(10, 10), NULL, 0, &dst), SB_OK);
  EQ(sb_tensor_init(&b, SB_INT32, DIMS(10, 10), LIST(1, 10), 0, &src), SB_OK);
  EQ(sb__copy_check(&c, &collides), SB_OK);
  CHECK(collides);
  EQ(sb_tensor_init(&b, SB_FLOAT32, DIMS(10, 10), NULL, 0, &src), SB_OK); /* in place */
  EQ(sb__copy_check(&c, &collides), SB_OK);
  CHECK(!collides);
  EQ(sb_tensor_init(&b, SB_INT32, DIMS(10, 10), NULL, 100, &src), SB_OK); /* beside it */
  EQ(sb__copy_check(&c, &collides), SB_OK);
  CHECK(!collides);
  EQ(sb_tensor_init(&b, SB_INT32, DIMS(10, 10), NULL, 99, &src), SB_OK);
  EQ(sb__copy_check(&c, &collides), SB_OK);
  CHECK(collides);
}

int main(void) {
  test("pieces are cut along the outermost axis in memory that makes them small enough",
       places_to_cut);
  test("pieces never have more elements than asked for, nor none", small_enough);
  test("a copy in pieces has the bits of the whole", same_bits);
  test("a copy that is stopped before it begins writes nothing and says so", stopped);
  test("what a copy would refuse is refused before it, and nothing is written", refusals);
  test("targets that overlap their source collide, those in place do not", collisions);
  return done();
}
