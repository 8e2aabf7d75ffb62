/* Copies, casts, fills and random fills as src/cuda/plan.c plans them and the emulator runs them, byte for byte
 * against the core's. Arguments: a factor for the number of cases, and which random numbers are taken. */
#include "../c/check.h"
#include "cuda/args.h"
#include "cuda/plan.h"
#include "emu.h"
#include "ops/random.h"

#define ROOM 400000 /* bytes of a storage */

static int factor = 1;
static int64_t launches;

static sb_status emit(void *context, const sb__cuda_launch *launch) {
  (void)context;
  emu_kernel *kernel = emu_find(launch->kernel);
  char arguments[sizeof launch->arguments] __attribute__((aligned(16)));
  launches++;
  if (!kernel || kernel->nbytes != launch->nbytes) {
    CHECK(kernel != NULL);
    CHECK(kernel && kernel->nbytes == launch->nbytes);
    return sb__fail(SB_ERR_DEVICE, "%s", launch->kernel);
  }
  memcpy(arguments, launch->arguments, launch->nbytes);
  const emu_dim grid = {launch->grid[0], launch->grid[1], launch->grid[2]};
  const emu_dim block = {launch->block[0], launch->block[1], launch->block[2]};
  const char *wrong = emu_launch(kernel, grid, block, arguments);
  if (!wrong) return SB_OK;
  printf("  %s\n", wrong);
  check_failures++;
  return sb__fail(SB_ERR_DEVICE, "%s", wrong);
}

static void print_layout(const char *name, const sb_tensor *t) {
  printf("  %s: %s at %" PRId64 ",", name, sb_dtype_name(t->dtype), t->offset);
  for (int32_t d = 0; d < t->ndim; d++) printf(" %" PRId64 "/%" PRId64, t->shape[d], t->strides[d]);
  printf("\n");
}

/* ---- Two storages that begin alike; what is checked is everything in them. ---- */

static sb_storage *source, *expected, *actual;

static void fill_randomly(sb_storage *s) {
  uint64_t *words = sb_storage_data(s);
  for (size_t i = 0; i < sb_storage_nbytes(s) / 8; i++) words[i] = random_bits();
}

static sb_storage *storage_of(size_t nbytes) {
  sb_storage *s = NULL;
  EQ(sb_storage_new(nbytes, &s), SB_OK);
  return s;
}

static void begin(void) {
  source = storage_of(ROOM);
  expected = storage_of(ROOM);
  actual = storage_of(ROOM);
  fill_randomly(source);
  fill_randomly(expected);
}

static void end(void) {
  sb_storage_unref(&source);
  sb_storage_unref(&expected);
  sb_storage_unref(&actual);
}

static void reset(void) { memcpy(sb_storage_data(actual), sb_storage_data(expected), ROOM); }

static bool same(void) { return !memcmp(sb_storage_data(actual), sb_storage_data(expected), ROOM); }

/* Floats of every kind: their bits are random, but of 8 elements one or two are special. */
static void special_values(sb_dtype dtype) {
  char *data = sb_storage_data(source);
  fill_randomly(source);
  if (sb_dtype_kind(dtype) != SB_FLOATING && sb_dtype_kind(dtype) != SB_COMPLEX) return;
  static const double values[] = {0,       -0.0,    NAN,      INFINITY, -INFINITY, 1,      -1,
                                  0.5,     1.5,     2.5,      127.5,    255.5,     -128.5, 65504,
                                  65520,   0x1p-24, 0x1p-25,  0x1p31,   -0x1p31,   0x1p63, -0x1p63,
                                  0x1p64,  448,     464,      57344,    61440,     0x1p-9, 0x1p-10,
                                  0x1p-16, 0x1p-17, 0x1p-133, 3.4e38};
  const sb_dtype part = dtype == SB_COMPLEX64    ? SB_FLOAT32
                        : dtype == SB_COMPLEX128 ? SB_FLOAT64
                                                 : dtype;
  const int64_t size = sb_dtype_itemsize(part);
  for (int64_t i = 0; i < ROOM / size; i++) {
    if (random_in(0, 3)) continue;
    sb__chunk chunk;
    const double x = values[random_in(0, 31)];
    chunk.real[0] =
        random_in(0, 1) ? x : ldexp((double)random_in(-4096, 4096), (int)random_in(-30, 30));
    sb__store(part, data + i * size, size, SB__FORM_REAL, &chunk, 1);
  }
}

/* ---- Layouts ---- */

static int64_t product(const int64_t *n, int32_t count) {
  int64_t p = 1;
  for (int32_t i = 0; i < count; i++) p *= n[i];
  return p;
}

static void shuffle(int32_t *p, int32_t n) {
  for (int32_t i = n - 1; i > 0; i--) {
    const int32_t j = (int32_t)random_in(0, i), t = p[i];
    p[i] = p[j];
    p[j] = t;
  }
}

/* Strides in some order of the axes, with gaps here and there, in a storage: nothing overlaps. */
static bool arrange(sb_storage *storage, sb_dtype dtype, int32_t ndim, const int64_t *shape,
                    const int32_t *order, int64_t gap, bool turns, sb_tensor *out) {
  int64_t strides[SB_MAX_DIMS], step = 1, low = 0;
  for (int32_t i = ndim - 1; i >= 0; i--) {
    const int32_t d = order[i];
    strides[d] = step;
    step *= shape[d];
    if (gap && random_in(0, 4) == 0) step += random_in(0, 1) ? gap : random_in(1, 7);
    if (turns && random_in(0, 5) == 0) {
      low += (shape[d] - 1) * strides[d];
      strides[d] = -strides[d];
    }
  }
  const int64_t room = ROOM / sb_dtype_itemsize(dtype) - step;
  if (room < 64) return false;
  const int64_t offset = 16 + (random_in(0, 2) ? 0 : random_in(0, 31));
  return sb_tensor_init(storage, dtype, ndim, shape, strides, low + offset, out) == SB_OK;
}

/* A random shape of at most so many elements. */
static int32_t some_shape(int64_t *shape, int64_t most) {
  const int32_t ndim = (int32_t)random_in(0, random_in(0, 3) ? 4 : 9);
  for (int32_t d = 0; d < ndim; d++) {
    shape[d] = random_in(0, 2) == 0 ? random_in(1, 300) : random_in(1, 12);
    if (product(shape, d + 1) > most) shape[d] = random_in(1, 2);
    if (product(shape, d + 1) > most) shape[d] = 1;
  }
  return ndim;
}

/* One case of a copy: dst in expected and in actual, src, then the whole storages are compared. */
static void check_copy(const sb_tensor *dst, const sb_tensor *src) {
  sb_tensor other = *dst;
  other.storage = actual;
  reset();
  EQ(sb_copy(dst, src, SB_CASTING_UNSAFE, NULL), SB_OK);
  EQ(sb__cuda_plan_copy(&other, src, NULL, NULL, emit, NULL), SB_OK);
  if (same()) return;
  check_failures++;
  const char *a = sb_storage_data(actual), *e = sb_storage_data(expected);
  int64_t first = 0, count = 0;
  for (int64_t i = ROOM - 1; i >= 0; i--) {
    if (a[i] != e[i]) first = i, count++;
  }
  printf("  %" PRId64 " bytes differ, the first is %" PRId64 "\n", count, first);
  print_layout("to", dst);
  print_layout("from", src);
}

static void random_copy(sb_dtype to, sb_dtype from) {
  int64_t shape[SB_MAX_DIMS];
  int32_t one[SB_MAX_DIMS], other[SB_MAX_DIMS];
  sb_tensor dst, src, view;
  const int64_t widest = sb_dtype_itemsize(to) > sb_dtype_itemsize(from) ? sb_dtype_itemsize(to)
                                                                         : sb_dtype_itemsize(from);
  const int32_t ndim = some_shape(shape, ROOM / 4 / widest);
  for (int32_t d = 0; d < ndim; d++) one[d] = other[d] = d;
  if (random_in(0, 3)) shuffle(one, ndim);
  if (random_in(0, 3) == 0) shuffle(other, ndim);
  if (!arrange(expected, to, ndim, shape, other, 16, true, &dst)) return;
  if (!arrange(source, from, ndim, shape, one, 16, true, &src)) return;
  if (ndim && random_in(0, 5) == 0) { /* repeated along an axis */
    src.strides[random_in(0, ndim - 1)] = 0;
    if (!sb__extent(&src, &(int64_t){0}, &(int64_t){0})) return;
    if (sb_tensor_init(source, from, ndim, shape, src.strides, ROOM / 2 / sb_dtype_itemsize(from),
                       &view))
      return;
    src = view;
  }
  check_copy(&dst, &src);
}

static void any_copy(void) {
  begin();
  for (int i = 0; i < 700 * factor; i++) {
    static const sb_dtype dtypes[] = {SB_UINT8,   SB_FLOAT16,   SB_FLOAT32,
                                      SB_FLOAT64, SB_COMPLEX64, SB_COMPLEX128};
    const sb_dtype dtype = dtypes[i % 6];
    random_copy(dtype, dtype);
  }
  end();
}

/* Bytes side by side, at every place within 16, of every small number; what is read ends where its allocation
 * does, so that the sanitizer sees a byte too many. */
static void runs(void) {
  begin();
  for (int64_t i = 0; i < 500 * factor; i++) {
    sb_tensor dst, src;
    sb_storage *exact = NULL;
    const int64_t n = i < 300 ? i % 60 + 1 : random_in(1, 30000), at = random_in(0, 31);
    char *bytes = malloc((size_t)(at + n));
    for (int64_t k = 0; k < at + n; k++) bytes[k] = (char)random_bits();
    EQ(sb_storage_wrap(bytes, (size_t)(at + n), NULL, NULL, &exact), SB_OK);
    EQ(sb_tensor_init(expected, SB_UINT8, DIMS(n), NULL, 32 + random_in(0, 31), &dst), SB_OK);
    EQ(sb_tensor_init(exact, SB_UINT8, DIMS(n), NULL, at, &src), SB_OK);
    check_copy(&dst, &src);
    sb_storage_unref(&exact);
    free(bytes);
  }
  end();
}

/* Transposes with whole tiles, tiles cut at the edge, odd pitches, batches around them. */
static void transposes(void) {
  begin();
  for (int i = 0; i < 250 * factor; i++) {
    static const sb_dtype dtypes[] = {SB_UINT8, SB_BFLOAT16, SB_INT32, SB_FLOAT64, SB_COMPLEX128};
    const sb_dtype dtype = dtypes[i % 5];
    const int64_t v = 16 / sb_dtype_itemsize(dtype);
    int64_t shape[4], most = ROOM / 2 / sb_dtype_itemsize(dtype);
    int32_t order[] = {0, 1, 2, 3}, plain[] = {0, 1, 2, 3};
    const int32_t ndim = (int32_t)random_in(2, 4);
    for (int32_t d = 0; d < ndim; d++) {
      shape[d] = d < ndim - 2      ? random_in(1, 3)
                 : random_in(0, 1) ? 8 * v * random_in(1, 3)
                                   : random_in(2 * v, 30 * v);
    }
    while (product(shape, ndim) > most) shape[ndim - 1 - random_in(0, 1)] /= 2;
    order[ndim - 1] = ndim - 2;
    order[ndim - 2] = ndim - 1;
    if (random_in(0, 2) == 0) shuffle(order, ndim);
    sb_tensor dst, src;
    if (!arrange(expected, dtype, ndim, shape, plain, random_in(0, 1) ? 16 : 0, false, &dst))
      continue;
    if (!arrange(source, dtype, ndim, shape, order, random_in(0, 1) ? 16 : 0, false, &src))
      continue;
    check_copy(&dst, &src);
  }
  end();
}

/* Windows: rows of what is read overlap, so that every step is one item. */
static void windows(void) {
  begin();
  for (int i = 0; i < 40 * factor; i++) {
    static const sb_dtype dtypes[] = {SB_UINT8, SB_BFLOAT16, SB_INT32, SB_FLOAT64};
    const sb_dtype dtype = dtypes[i % 4];
    const int64_t shape[] = {random_in(2, 120), random_in(2, 120)};
    const int32_t plain[] = {0, 1};
    sb_tensor dst, src;
    if (!arrange(expected, dtype, 2, shape, plain, 0, false, &dst)) continue;
    EQ(sb_tensor_init(source, dtype, 2, shape, LIST(1, random_in(1, 2)), 16, &src), SB_OK);
    check_copy(&dst, &src);
  }
  end();
}

/* Pixels to planes and planes to pixels, of 2 to 33 channels. */
static void channels(void) {
  begin();
  for (int i = 0; i < 240 * factor; i++) {
    static const sb_dtype dtypes[] = {SB_UINT8, SB_BFLOAT16, SB_FLOAT32, SB_FLOAT64};
    const sb_dtype dtype = dtypes[i % 4];
    const int64_t c = i % 3 ? random_in(2, 5) : random_in(2, 33);
    const int64_t most = ROOM / 3 / sb_dtype_itemsize(dtype) / c;
    int64_t pixels = random_in(40, 3000);
    if (pixels > most) pixels = most;
    const int64_t batch = most / pixels > 3 ? 3 : 1;
    const int64_t shape[] = {batch, c, pixels};
    const int32_t planes[] = {0, 1, 2}, last[] = {0, 2, 1};
    const bool split = random_in(0, 1);
    const int64_t gap = random_in(0, 2) ? 0 : 16;
    sb_tensor dst, src;
    if (!arrange(expected, dtype, 3, shape, split ? planes : last, gap, false, &dst)) continue;
    if (!arrange(source, dtype, 3, shape, split ? last : planes, gap, false, &src)) continue;
    check_copy(&dst, &src);
  }
  end();
}

/* Complex numbers where their parts may lie, but whole ones not. */
static void parts_of_complex(void) {
  begin();
  for (int i = 0; i < 60 * factor; i++) {
    const sb_dtype dtype = i % 2 ? SB_COMPLEX64 : SB_COMPLEX128;
    const int64_t shape[] = {random_in(1, 20), random_in(1, 20), random_in(1, 9)};
    int32_t order[] = {0, 1, 2}, plain[] = {0, 1, 2};
    sb_tensor dst, src;
    shuffle(order, 3);
    sb_storage *shifted = NULL;
    const int64_t half = sb_dtype_itemsize(dtype) / 2;
    EQ(sb_storage_wrap((char *)sb_storage_data(source) + half, ROOM - 16, NULL, NULL, &shifted),
       SB_OK);
    if (arrange(expected, dtype, 3, shape, plain, i % 3 ? 0 : 16, false, &dst) &&
        arrange(shifted, dtype, 3, shape, order, i % 3 ? 0 : 16, false, &src))
      check_copy(&dst, &src);
    sb_storage_unref(&shifted);
  }
  end();
}

/* More dimensions than a kernel takes at once, and launches of few elements. */
static void boxes(void) {
  begin();
  for (int i = 0; i < 150 * factor; i++) {
    static const sb_dtype dtypes[] = {SB_UINT8, SB_FLOAT32, SB_COMPLEX128};
    const sb_dtype to = dtypes[i % 3], from = i % 2 ? to : dtypes[i / 2 % 3];
    sb__cuda_most = random_in(1, 3) == 1 ? random_in(50, 400) : random_in(1000, 9000);
    random_copy(to, from);
  }
  sb__cuda_most = INT32_MAX;
  for (int i = 0; i < 4; i++) {
    int64_t shape[22], strides[22], step = 1;
    sb_tensor dst, src;
    for (int32_t d = 21; d >= 0; d--) {
      shape[d] = d < 14 ? 2 : 1;
      strides[d] = step;
      step *= d < 14 ? 2 : 1;
    }
    EQ(sb_tensor_init(expected, SB_UINT8, 22, shape, NULL, 0, &dst), SB_OK);
    for (int32_t d = 0; d < 14; d++) strides[d] = INT64_C(1) << d;
    EQ(sb_tensor_init(source, i % 2 ? SB_UINT8 : SB_INT8, 22, shape, strides, 0, &src), SB_OK);
    sb__cuda_most = i < 2 ? INT32_MAX : 100;
    check_copy(&dst, &src);
  }
  sb__cuda_most = INT32_MAX;
  end();
}

/* What a launch of a copy over any layout covers. */
typedef struct covered {
  int64_t bytes, launches;
} covered;

static sb_status cover(void *context, const sb__cuda_launch *launch) {
  covered *c = context;
  sb__args_items a;
  const char *size = launch->kernel + strlen("sb_copy_items_");
  CHECK(!strncmp(launch->kernel, "sb_copy_items_", 14));
  EQ(launch->nbytes, sizeof a);
  memcpy(&a, launch->arguments, sizeof a);
  int64_t n = 1;
  for (uint32_t d = 0; d < a.ndim; d++) {
    const sb__divisor by = a.dim[d];
    n *= by.n;
    for (int i = 0; i < 2000;
         i++) { /* what kernels do to divide; multiples are where it could go wrong */
      uint64_t x = random_bits() % INT32_MAX;
      if (i % 2 && x >= by.n) x = x / by.n * by.n - (uint64_t)(i & 2) / 2;
      EQ((uint32_t)((x * by.factor >> 32) + x) >> by.shift, x / by.n);
    }
  }
  EQ(a.n, n);
  CHECK(n <= INT32_MAX && (uint64_t)launch->grid[0] * 1024 >= (uint64_t)n);
  c->bytes += n * atoi(size);
  c->launches++;
  return SB_OK;
}

/* Nobody has that memory, and a plan does not look at it. */
static void large(void) {
  sb_storage *s = NULL;
  EQ(sb_storage_wrap((void *)(uintptr_t)65536, (size_t)1 << 46, NULL, NULL, &s), SB_OK);
  static const int64_t shapes[][3] = {{1, 1, 0x7fffffff}, {1, 1, 0x80000000}, {5, 70000, 70001},
                                      {3, 3, 0x7ffffffe}, {65537, 3, 65537},  {1, 2, 0x300000001}};
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    const int64_t *n = shapes[i];
    const int64_t gaps[] = {n[1] * n[2] * 2 + 7, n[2] * 2 + 3, 2};
    sb_tensor dst, src;
    covered c = {0, 0};
    EQ(sb_tensor_init(s, SB_INT16, 3, n, NULL, 0, &dst), SB_OK);
    EQ(sb_tensor_init(s, SB_INT16, 3, n, gaps, 1, &src), SB_OK);
    EQ(sb__cuda_plan_copy(&dst, &src, NULL, NULL, cover, &c), SB_OK);
    EQ(c.bytes, sb_tensor_nbytes(&dst));
    CHECK(c.launches >= (sb_tensor_numel(&dst) + INT32_MAX - 1) / INT32_MAX && c.launches < 20);
  }
  sb_storage_unref(&s);
}

/* Casts of rows with gaps between them, of whole vectors and of a little more. */
static void rows(void) {
  static const sb_dtype dtypes[] = {SB_FLOAT32, SB_BFLOAT16, SB_FLOAT16, SB_UINT8};
  begin();
  for (int i = 0; i < 640 * factor; i++) {
    const sb_dtype to = dtypes[i % 4], from = dtypes[i / 4 % 4];
    const int64_t n = 16 * random_in(1, 20) + (random_in(0, 3) ? 0 : random_in(1, 15));
    const int64_t shape[] = {random_in(1, 3), random_in(1, 20), n};
    int32_t plain[] = {0, 1, 2}, order[] = {0, 1, 2};
    sb_tensor dst, src;
    if (to == from) continue;
    if (i < 16) special_values(from);
    if (i % 5 == 0) { /* rows begin at multiples, but are not made of them */
      const int64_t pitch = (n + 31) / 16 * 16;
      EQ(sb_tensor_init(expected, to, 2, shape + 1, LIST(pitch, 1), 16, &dst), SB_OK);
      EQ(sb_tensor_init(source, from, 2, shape + 1, LIST(pitch + 16, 1), 32, &src), SB_OK);
      check_copy(&dst, &src);
    }
    if (random_in(0, 1)) order[0] = 1, order[1] = 0;
    sb__cuda_most = random_in(0, 4) ? INT32_MAX : random_in(100, 900);
    if (arrange(expected, to, 3, shape, plain, random_in(0, 2) ? 16 : 0, false, &dst) &&
        arrange(source, from, 3, shape, order, random_in(0, 2) ? 16 : 0, false, &src))
      check_copy(&dst, &src);
  }
  sb__cuda_most = INT32_MAX;
  end();
}

static void casts(void) {
  begin();
  for (int to = 0; to < SB_DTYPE_COUNT; to++) {
    for (int from = 0; from < SB_DTYPE_COUNT; from++) {
      special_values((sb_dtype)from);
      for (int i = 0; i < factor; i++) random_copy((sb_dtype)to, (sb_dtype)from);
      for (int64_t which = 0; which < 3;
           which++) { /* side by side; all, or but one, at multiples of 16 */
        sb_tensor dst, src;
        const int64_t n = random_in(1, 6000), a = which == 1 ? 3 : 0, b = which == 2 ? 5 : 0;
        EQ(sb_tensor_init(expected, (sb_dtype)to, DIMS(n), NULL, 16 + a, &dst), SB_OK);
        EQ(sb_tensor_init(source, (sb_dtype)from, DIMS(n), NULL, 16 * random_in(0, 9) + b, &src),
           SB_OK);
        check_copy(&dst, &src);
      }
    }
  }
  end();
}

/* ---- Scale and bias ---- */

/* A factor as sb_copy_scaled takes it, and as it is shown in dst's shape. */
static void factor_of(sb_storage *storage, const sb_tensor *dst, int32_t axis, sb_tensor *out,
                      sb_tensor *shown) {
  sb_tensor view;
  double *values = sb_storage_data(storage);
  for (int i = 0; i < 400; i++) {
    static const double some[] = {0, 1, -1, 0.5, 1 / 255.0, 3.7e5, -2.25, NAN, INFINITY};
    values[i] = random_in(0, 5) ? (double)random_in(-4000, 4000) / 256 : some[random_in(0, 8)];
  }
  if (axis < 0) {
    EQ(sb_tensor_init(storage, SB_FLOAT64, 0, NULL, NULL, random_in(0, 9), out), SB_OK);
    EQ(sb_broadcast_to(out, dst->ndim, dst->shape, shown), SB_OK);
    return;
  }
  EQ(sb_tensor_init(storage, SB_FLOAT64, DIMS(dst->shape[axis]), NULL, random_in(0, 9), out),
     SB_OK);
  int64_t shape[SB_MAX_DIMS], strides[SB_MAX_DIMS];
  for (int32_t d = axis; d < dst->ndim; d++) {
    shape[d - axis] = d == axis ? dst->shape[axis] : 1;
    strides[d - axis] = 1;
  }
  EQ(sb_tensor_init(storage, SB_FLOAT64, dst->ndim - axis, shape, strides, out->offset, &view),
     SB_OK);
  EQ(sb_broadcast_to(&view, dst->ndim, dst->shape, shown), SB_OK);
}

static void check_scaled(const sb_tensor *dst, const sb_tensor *src, int32_t axis) {
  sb_storage *storages[] = {storage_of(4096), storage_of(4096)};
  sb_tensor scale, bias, scales, biases, other = *dst;
  factor_of(storages[0], dst, axis, &scale, &scales);
  factor_of(storages[1], dst, random_in(0, 3) ? axis : -1, &bias, &biases);
  other.storage = actual;
  reset();
  EQ(sb_copy_scaled(dst, src, &scale, &bias, axis < 0 ? 0 : axis, SB_CASTING_UNSAFE, NULL), SB_OK);
  EQ(sb__cuda_plan_copy(&other, src, &scales, &biases, emit, NULL), SB_OK);
  for (int i = 0; i < 2; i++) sb_storage_unref(&storages[i]);
  if (same()) return;
  check_failures++;
  printf("  scaled along %d\n", axis);
  print_layout("to", dst);
  print_layout("from", src);
}

static void scaled(void) {
  begin();
  for (int to = 0; to < SB_DTYPE_COUNT; to++) {
    for (int from = 0; from < SB_DTYPE_COUNT; from++) {
      if (sb_dtype_kind((sb_dtype)to) == SB_COMPLEX || sb_dtype_kind((sb_dtype)from) == SB_COMPLEX)
        continue;
      special_values((sb_dtype)from);
      for (int i = 0; i < 2 + factor; i++) {
        const int64_t shape[] = {random_in(1, 4), random_in(2, 40), random_in(1, 60)};
        int32_t plain[] = {0, 1, 2}, order[] = {0, 1, 2};
        sb_tensor dst, src;
        if (i > 1) shuffle(order, 3);
        if (arrange(expected, (sb_dtype)to, 3, shape, plain, 0, i > 1, &dst) &&
            arrange(source, (sb_dtype)from, 3, shape, order, 0, i > 1, &src)) {
          if (i == 0) dst.offset = src.offset = 32;
          check_scaled(&dst, &src, (int32_t)random_in(-1, i ? 2 : -1));
        }
      }
    }
  }
  end();
}

/* ---- Fills ---- */

/* twin: the storage in which the device's side writes. */
static void check_fill(const sb_tensor *t, sb_storage *twin) {
  char item[16] __attribute__((aligned(16)));
  sb_tensor other = *t;
  sb_scalar value = {.kind = SB_SCALAR_INT, .as.i = random_in(0, 100)};
  if (sb_dtype_kind(t->dtype) == SB_COMPLEX)
    value = (sb_scalar){.kind = SB_SCALAR_COMPLEX,
                        .as.c = {(double)random_in(-99, 99), (double)random_in(-99, 99)}};
  other.storage = twin;
  reset();
  EQ(sb_fill(t, &value), SB_OK);
  memcpy(item, sb_tensor_data(t), (size_t)sb_dtype_itemsize(t->dtype)); /* as the core wrote it */
  EQ(sb__cuda_plan_fill(&other, item, emit, NULL), SB_OK);
  if (same()) return;
  check_failures++;
  print_layout("filled", t);
}

static void fills(void) {
  begin();
  for (int i = 0; i < 500 * factor; i++) {
    static const sb_dtype dtypes[] = {SB_UINT8,   SB_FLOAT16,   SB_FLOAT32,
                                      SB_FLOAT64, SB_COMPLEX64, SB_COMPLEX128};
    const sb_dtype dtype = dtypes[i % 6];
    int64_t shape[SB_MAX_DIMS];
    int32_t order[SB_MAX_DIMS];
    sb_tensor t;
    sb_storage *one = NULL,
               *other = NULL; /* of the same bytes, from the least address on that may be */
    const int32_t ndim = some_shape(shape, ROOM / 4 / sb_dtype_itemsize(dtype));
    const int64_t by = i % 4 ? 0 : sb_dtype_alignment(dtype);
    for (int32_t d = 0; d < ndim; d++) order[d] = d;
    if (random_in(0, 1)) shuffle(order, ndim);
    EQ(sb_storage_wrap((char *)sb_storage_data(expected) + by, ROOM - 16, NULL, NULL, &one), SB_OK);
    EQ(sb_storage_wrap((char *)sb_storage_data(actual) + by, ROOM - 16, NULL, NULL, &other), SB_OK);
    sb__cuda_most = random_in(0, 4) ? INT32_MAX : random_in(100, 5000);
    if (arrange(one, dtype, ndim, shape, order, random_in(0, 2) ? 16 : 0, true, &t))
      check_fill(&t, other);
    sb_storage_unref(&one);
    sb_storage_unref(&other);
  }
  sb__cuda_most = INT32_MAX;
  end();
}

/* ---- Random fills ---- */

static const sb_dtype floats[] = {SB_FLOAT16, SB_BFLOAT16, SB_FLOAT32, SB_FLOAT64};
static const sb_dtype integers[] = {SB_BOOL,   SB_UINT8, SB_INT8,   SB_UINT16, SB_INT16,
                                    SB_UINT32, SB_INT32, SB_UINT64, SB_INT64};

/* What ops/random.c would ask for, of any draw. */
static sb__random some_random(sb_dtype *dtype) {
  sb__random how = {.seed = random_bits(), .stream = (uint32_t)random_bits()};
  const bool wide = *dtype == SB_FLOAT64;
  how.draw = (sb__draw)random_in(0, 2);
  how.first = random_in(0, 1) ? (uint64_t)random_in(0, 9) : random_bits() >> random_in(2, 60);
  how.words = wide ? 2 : 1;
  if (how.draw == SB__DRAW_UNIFORM) {
    how.as.uniform.low = -2.5;
    how.as.uniform.range = 4;
    how.as.uniform.last = 1.25; /* far below high: seen to be obeyed */
  } else if (how.draw == SB__DRAW_NORMAL) {
    how.as.normal.mean = 3;
    how.as.normal.std = 0.75;
  } else {
    *dtype = integers[random_in(0, 8)];
    how.words = sb_dtype_itemsize(*dtype) == 8 && random_in(0, 1) ? 2 : 1;
    uint64_t range = random_bits() >> random_in(0, 62), refused = 0;
    if (random_in(0, 5) == 0) range = 0;
    if (random_in(0, 3) == 0)
      range = UINT64_C(3) << (how.words == 2 ? 62 : 30); /* a quarter is refused */
    if (how.words == 1) {
      range = (uint32_t)range;
      refused = range ? (0u - (uint32_t)range) % (uint32_t)range : 0;
    } else {
      refused = range ? (0u - range) % range : 0;
    }
    how.as.integer.low = random_bits();
    how.as.integer.range = range;
    how.as.integer.refused = refused;
  }
  if (how.words == 2) how.first += how.first & 1;
  how.dtype = *dtype;
  return how;
}

static void randoms(void) {
  begin();
  for (int i = 0; i < 500 * factor; i++) {
    sb_dtype dtype = floats[i % 4];
    const sb__random how = some_random(&dtype);
    int64_t shape[SB_MAX_DIMS];
    int32_t order[SB_MAX_DIMS];
    sb_tensor t, other;
    const int32_t ndim = some_shape(shape, ROOM / 20 / sb_dtype_itemsize(dtype));
    for (int32_t d = 0; d < ndim; d++) order[d] = d;
    if (random_in(0, 2) == 0) shuffle(order, ndim);
    sb__cuda_most = random_in(0, 4) ? INT32_MAX : random_in(100, 5000);
    if (!arrange(expected, dtype, ndim, shape, order, random_in(0, 2) ? 0 : 16, i % 3 == 0, &t))
      continue;
    other = t;
    other.storage = actual;
    reset();
    sb__random_range(&t, &how, 0, sb_tensor_numel(&t));
    EQ(sb__cuda_plan_random(&other, &how, emit, NULL), SB_OK);
    if (same()) continue;
    check_failures++;
    printf("  draw %d from word %" PRIu64 ", %d words each\n", (int)how.draw, how.first, how.words);
    print_layout("drawn", &t);
  }
  sb__cuda_most = INT32_MAX;
  end();
}

/* ---- The list ---- */

/* Is a kernel of the list there, as it says, and was it launched by the tests above? */
static void check_kernel(const char *name, size_t nbytes, uint32_t threads) {
  const emu_kernel *k = emu_find(name);
  if (k && k->nbytes == nbytes && k->threads == threads && k->launches > 0) return;
  check_failures++;
  printf("  %s: %s\n", name, k && k->launches == 0 ? "never launched" : "not as listed");
}

static void names(void) {
  int count = 0;
#define KERNEL(module, name, arguments, block) \
 check_kernel("sb_" #name, sizeof(arguments), block), count++;
#define PAIR(to, from) KERNEL(cast, cast_##to##_from_##from, sb__args_convert, 256)
#define ROWS(to, from) KERNEL(cast, rows_##to##_from_##from, sb__args_items, 256)
#define SCALED(to, from) KERNEL(cast, scale_##to##_from_##from, sb__args_convert, 256)
#include "cuda/kernels.def"
  for (const emu_kernel *k = emu_kernels; k; k = k->next) count--;
  EQ(count, 0); /* no kernel that the list lacks */
}

int main(int argc, char **argv) {
  if (argc > 1) factor = atoi(argv[1]);
  if (argc > 2) random_state = strtoull(argv[2], NULL, 10) + 1;
  test("bytes side by side", runs);
  test("copies between any layouts", any_copy);
  test("transposes", transposes);
  test("windows", windows);
  test("pixels and planes", channels);
  test("complex numbers at odd places", parts_of_complex);
  test("boxes of a large copy", boxes);
  test("copies of more than 31 bits can count, planned only", large);
  test("casts", casts);
  test("casts of rows", rows);
  test("scale and bias", scaled);
  test("fills", fills);
  test("random fills", randoms);
  test("every kernel ran", names);
  printf("# %" PRId64 " launches\n", launches);
  return done();
}
