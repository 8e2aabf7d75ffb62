/* Tensors as DLPack structs, both ways: what goes out, what comes in, who frees, and when. */
#include <pthread.h>

#include "check.h"
#include "samebytes_dlpack.h"

static struct sb_dl_managed_versioned *versioned_of(const sb_tensor *t) {
  struct sb_dl_managed_versioned *m = NULL;
  EQ(sb_tensor_to_dlpack(t, 0, &m), SB_OK);
  return m;
}

static struct sb_dl_managed *legacy_of(const sb_tensor *t) {
  struct sb_dl_managed *m = NULL;
  EQ(sb_tensor_to_dlpack_legacy(t, &m), SB_OK);
  return m;
}

static int64_t storages(void) { return sb__storage_totals_now().storages; }

/* ---- Out ---- */

static void exports(void) {
  sb_tensor t, view;
  const int64_t before = storages();
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(4, 6), &t), SB_OK);
  EQ(sb_narrow(&t, 1, 2, 3, &view), SB_OK);
  EQ(sb_transpose(&view, 0, 1, &view), SB_OK);
  struct sb_dl_managed_versioned *m = versioned_of(&view);
  EQ(m->major, 1);
  EQ(m->minor, 2);
  EQ(m->flags, 0);
  EQ(m->tensor.ndim, 2);
  EQ(m->tensor.shape[0], 3);
  EQ(m->tensor.shape[1], 4);
  EQ(m->tensor.strides[0], 1);
  EQ(m->tensor.strides[1], 6);
  EQ(m->tensor.byte_offset, 0);
  EQ(m->tensor.device.type, SB_DL_CPU);
  EQ(m->tensor.device.id, 0);
  EQ(m->tensor.dtype.code, SB_DL_FLOAT);
  EQ(m->tensor.dtype.bits, 32);
  EQ(m->tensor.dtype.lanes, 1);
  CHECK(m->tensor.data == (char *)sb_tensor_data(&t) + 8);
  struct sb_dl_managed *old = legacy_of(&view);
  CHECK(old->tensor.data == m->tensor.data);
  EQ(old->tensor.strides[1], 6);
  *(float *)m->tensor.data = 3;
  EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(0, 2)), 3);
  sb_tensor_release(&t); /* consumers hold the bytes */
  EQ(storages(), before + 1);
  EQ(*(float *)old->tensor.data, 3);
  sb_dl_free(1, m);
  EQ(storages(), before + 1);
  sb_dl_free(0, old);
  EQ(storages(), before);
}

static void dtypes_and_back(void) {
  for (int dtype = 0; dtype < SB_DTYPE_COUNT; dtype++) {
    sb_tensor t, back;
    EQ(sb_tensor_empty((sb_dtype)dtype, DIMS(2, 3), &t), SB_OK);
    EQ(sb_tensor_from_dlpack(versioned_of(&t), &back), SB_OK);
    EQ(back.dtype, dtype);
    EQ(back.shape[1], 3);
    EQ(back.strides[0], 3);
    EQ(back.flags, 0);
    CHECK(sb_tensor_data(&back) == sb_tensor_data(&t));
    EQ(sb_storage_nbytes(back.storage), 6 * sb_dtype_itemsize((sb_dtype)dtype));
    sb_tensor_release(&back);
    sb_tensor_release(&t);
  }
}

static void codes(void) {
  static const struct {
    sb_dtype dtype;
    uint8_t code, bits;
  } known[] = {{SB_BOOL, 6, 8},         {SB_UINT8, 1, 8},          {SB_INT64, 0, 64},
               {SB_FLOAT16, 2, 16},     {SB_BFLOAT16, 4, 16},      {SB_COMPLEX64, 5, 64},
               {SB_COMPLEX128, 5, 128}, {SB_FLOAT8_E4M3FN, 10, 8}, {SB_FLOAT8_E5M2, 12, 8}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    sb_tensor t;
    EQ(sb_tensor_empty(known[i].dtype, DIMS(1), &t), SB_OK);
    struct sb_dl_managed_versioned *m = versioned_of(&t);
    EQ(m->tensor.dtype.code, known[i].code);
    EQ(m->tensor.dtype.bits, known[i].bits);
    EQ(m->tensor.dtype.lanes, 1);
    sb_dl_free(1, m);
    sb_tensor_release(&t);
  }
}

static void read_only(void) {
  sb_tensor t, back;
  EQ(sb_tensor_empty(SB_INT8, DIMS(3), &t), SB_OK);
  t.flags = SB_READ_ONLY;
  struct sb_dl_managed_versioned *m = versioned_of(&t);
  EQ(m->flags, SB_DL_READ_ONLY);
  EQ(sb_tensor_from_dlpack(m, &back), SB_OK);
  EQ(back.flags, SB_READ_ONLY);
  EQ(sb_fill(&back, &(sb_scalar){SB_SCALAR_INT, {.i = 1}}), SB_ERR_READ_ONLY);
  sb_tensor_release(&back);
  EQ(sb_tensor_to_dlpack(&t, SB_DL_IS_COPIED, &m), SB_OK);
  EQ(m->flags, SB_DL_READ_ONLY | SB_DL_IS_COPIED);
  sb_dl_free(1, m);
  sb_tensor_release(&t);
}

static void nothing_in_it(void) {
  sb_tensor t, back;
  const int64_t before = storages();
  EQ(sb_tensor_empty(SB_FLOAT64, DIMS(4, 4), &t), SB_OK);
  sb_tensor none;
  EQ(sb_narrow(&t, 0, 2, 0, &none), SB_OK);
  struct sb_dl_managed *m = legacy_of(&none);
  CHECK(!m->tensor.data);
  EQ(m->tensor.shape[0], 0);
  EQ(m->tensor.shape[1], 4);
  sb_tensor_release(&t);
  EQ(storages(),
     before); /* PyTorch never calls the deleter of such a tensor: nothing hangs on it */
  EQ(sb_tensor_from_dlpack_legacy(m, &back), SB_OK);
  EQ(back.shape[1], 4);
  EQ(back.ndim, 2);
  sb_tensor_release(&back);
  EQ(storages(), before);
  EQ(sb_tensor_empty(SB_FLOAT64, 0, NULL, &t), SB_OK); /* no axes, one element */
  struct sb_dl_managed_versioned *one = versioned_of(&t);
  EQ(one->tensor.ndim, 0);
  CHECK(one->tensor.data == sb_tensor_data(&t));
  EQ(sb_tensor_from_dlpack(one, &back), SB_OK);
  EQ(sb_tensor_numel(&back), 1);
  sb_tensor_release(&back);
  sb_tensor_release(&t);
}

#define REFUSED(status, call)           \
 do {                                   \
  void *const kept_ = (void *)m;        \
  const int64_t storages_ = storages(); \
  EQ(call, status);                     \
  CHECK((void *)m == kept_);            \
  CHECK(sb_error_message()[0]);         \
  EQ(storages(), storages_);            \
 } while (0)

static void refused_exports(void) {
  sb_tensor t, flipped, wrong;
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(2, 3), &t), SB_OK);
  EQ(sb_flip(&t, 1, LIST(1), &flipped), SB_OK);
  {
    struct sb_dl_managed *m = NULL;
    REFUSED(SB_ERR_UNSUPPORTED, sb_tensor_to_dlpack_legacy(&flipped, &m));
    wrong = t;
    wrong.flags = SB_READ_ONLY;
    REFUSED(SB_ERR_READ_ONLY, sb_tensor_to_dlpack_legacy(&wrong, &m));
    for (int dtype = 0; dtype < SB_DTYPE_COUNT; dtype++) {
      sb_tensor other;
      EQ(sb_tensor_empty((sb_dtype)dtype, DIMS(1), &other), SB_OK);
      const bool known = dtype != SB_BOOL && dtype != SB_FLOAT8_E4M3FN && dtype != SB_FLOAT8_E5M2;
      if (known)
        sb_dl_free(0, legacy_of(&other));
      else
        REFUSED(SB_ERR_DTYPE, sb_tensor_to_dlpack_legacy(&other, &m));
      sb_tensor_release(&other);
    }
    wrong = t;
    wrong.dtype = (sb_dtype)99;
    REFUSED(SB_ERR_DTYPE, sb_tensor_to_dlpack_legacy(&wrong, &m));
  }
  struct sb_dl_managed_versioned *m = NULL;
  REFUSED(SB_ERR_ARGUMENT, sb_tensor_to_dlpack(&t, SB_DL_READ_ONLY, &m));
  REFUSED(SB_ERR_ARGUMENT, sb_tensor_to_dlpack(&t, UINT64_C(1) << 63, &m));
  wrong = t;
  wrong.storage = NULL;
  REFUSED(SB_ERR_ARGUMENT, sb_tensor_to_dlpack(&wrong, 0, &m));
  wrong = t;
  wrong.dtype = (sb_dtype)-1;
  REFUSED(SB_ERR_DTYPE, sb_tensor_to_dlpack(&wrong, 0, &m));
  wrong = t;
  wrong.ndim = -1;
  REFUSED(SB_ERR_SHAPE, sb_tensor_to_dlpack(&wrong, 0, &m));
  wrong.ndim = SB_MAX_DIMS + 1;
  REFUSED(SB_ERR_SHAPE, sb_tensor_to_dlpack(&wrong, 0, &m));
  sb_storage borrowed;
  sb__storage_borrow(sb_tensor_data(&t), 24, &borrowed);
  wrong = t;
  wrong.storage = &borrowed;
  REFUSED(SB_ERR_UNSUPPORTED, sb_tensor_to_dlpack(&wrong, 0, &m));
  struct sb_dl_managed_versioned *back = versioned_of(&flipped); /* of 1.x all strides are read */
  EQ(back->tensor.strides[1], -1);
  CHECK(back->tensor.data == (char *)sb_tensor_data(&t) + 8);
  sb_dl_free(1, back);
  sb_tensor_release(&t);
}

/* ---- In ---- */

/* A producer whose fields can be anything. */
typedef struct producer {
  struct sb_dl_managed_versioned managed;
  struct sb_dl_managed legacy;
  int64_t shape[1000], strides[1000];
  int calls;
} producer;

static float bytes[64] __attribute__((aligned(64)));

static void count_versioned(struct sb_dl_managed_versioned *self) {
  ((producer *)self->context)->calls++;
}

static void count_legacy(struct sb_dl_managed *self) { ((producer *)self->context)->calls++; }

static void sound(producer *p) {
  memset(p, 0, sizeof *p);
  for (int i = 0; i < 1000; i++) p->shape[i] = p->strides[i] = 1;
  p->shape[0] = 2;
  p->shape[1] = 3;
  p->strides[0] = 3;
  p->managed = (struct sb_dl_managed_versioned){
      1, 0,
      p, count_versioned,
      0, {bytes, {SB_DL_CPU, 0}, 2, {SB_DL_FLOAT, 32, 1}, p->shape, p->strides, 0}};
  p->legacy = (struct sb_dl_managed){p->managed.tensor, p, count_legacy};
}

/* Both kinds of struct, with the same tensor in it, are refused and stay their owner's. */
static void refused(producer *p, sb_status status) {
  p->legacy.tensor = p->managed.tensor;
  FAILS(status, sb_tensor_from_dlpack(&p->managed, &out));
  FAILS(status, sb_tensor_from_dlpack_legacy(&p->legacy, &out));
  EQ(p->calls, 0);
  sound(p);
}

static void imports(void) {
  producer p;
  sb_tensor t, view;
  for (int i = 0; i < 64; i++) bytes[i] = (float)i;
  sound(&p);
  p.managed.tensor.byte_offset = 16;
  p.managed.tensor.strides[0] = -1; /* back from element 4: 4 … 3, 5 … 4, … */
  p.managed.tensor.strides[1] = 2;
  EQ(sb_tensor_from_dlpack(&p.managed, &t), SB_OK);
  CHECK(sb_tensor_data(&t) == bytes + 4);
  EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(1, 2)), 7);
  EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(1, 0)), 3);
  CHECK(sb_storage_data(t.storage) == bytes + 3); /* no more than its elements reach */
  EQ(sb_storage_nbytes(t.storage), 24);
  EQ(t.capacity, 6);
  EQ(sb_select(&t, 0, 1, &view), SB_OK);
  sb_tensor_retain(&view);
  sb_tensor_release(&t);
  EQ(p.calls, 0);
  sb_tensor_release(&view);
  EQ(p.calls, 1);

  sound(&p);
  p.legacy.tensor.strides = NULL; /* row-major */
  EQ(sb_tensor_from_dlpack_legacy(&p.legacy, &t), SB_OK);
  EQ(*(float *)sb_at(&t, SB_FLOAT32, LIST(1, 2)), 5);
  sb_tensor_release(&t);
  EQ(p.calls, 1);

  sound(&p);
  p.managed.deleter = NULL;
  p.managed.tensor.device = (sb_dl_device){SB_DL_CUDA_HOST, 0};
  EQ(sb_tensor_from_dlpack(&p.managed, &t), SB_OK);
  sb_tensor_release(&t);
  p.legacy.deleter = NULL;
  p.legacy.tensor.device.id = 3; /* of CPUs there is one, whatever its number */
  EQ(sb_tensor_from_dlpack_legacy(&p.legacy, &t), SB_OK);
  sb_tensor_release(&t);

  sound(&p);
  p.managed.minor = 99;
  p.managed.tensor.strides[0] = 0; /* repeated, over all address space were it not */
  p.managed.tensor.shape[0] = INT64_C(1) << 40;
  EQ(sb_tensor_from_dlpack(&p.managed, &t), SB_OK);
  EQ(sb_storage_nbytes(t.storage), 12);
  sb_tensor_release(&t);
  EQ(p.calls, 1);

  sound(&p);
  p.managed.tensor.ndim = SB_MAX_DIMS;
  EQ(sb_tensor_from_dlpack(&p.managed, &t), SB_OK);
  EQ(t.ndim, SB_MAX_DIMS);
  sb_tensor_release(&t);

  sound(&p);
  p.managed.tensor.shape = p.managed.tensor.strides = NULL;
  p.managed.tensor.ndim = 0;
  EQ(sb_tensor_from_dlpack(&p.managed, &t), SB_OK);
  EQ(sb_tensor_numel(&t), 1);
  sb_tensor_release(&t);
}

static void wrong_fields(void) {
  producer p;
  sound(&p);
#define WRONG(status, assignment)      \
 do {                                  \
  sb_dl_tensor *t = &p.managed.tensor; \
  assignment;                          \
  refused(&p, status);                 \
 } while (0)
  WRONG(SB_ERR_SHAPE, t->ndim = -1);
  WRONG(SB_ERR_SHAPE, t->ndim = INT32_MIN);
  WRONG(SB_ERR_SHAPE, t->ndim = SB_MAX_DIMS + 1);
  WRONG(SB_ERR_SHAPE, t->ndim = 1000);
  WRONG(SB_ERR_SHAPE, t->ndim = INT32_MAX);
  WRONG(SB_ERR_ARGUMENT, t->shape = NULL);
  WRONG(SB_ERR_ARGUMENT, t->data = NULL);
  WRONG(SB_ERR_SHAPE, t->shape[0] = -1);
  WRONG(SB_ERR_SHAPE, t->shape[1] = INT64_MIN);
  WRONG(SB_ERR_SHAPE, t->shape[0] = t->shape[1] = INT64_MAX);
  WRONG(SB_ERR_SHAPE, t->shape[0] = INT64_MAX);
  WRONG(SB_ERR_SHAPE, (t->shape[0] = INT64_C(1) << 62, t->strides = NULL));
  WRONG(SB_ERR_BOUNDS, t->strides[0] = INT64_MAX);
  WRONG(SB_ERR_BOUNDS, t->strides[0] = INT64_MIN);
  WRONG(SB_ERR_BOUNDS, t->strides[1] = INT64_MIN / 2);
  WRONG(SB_ERR_BOUNDS, t->strides[0] = INT64_C(1) << 61);
  WRONG(SB_ERR_BOUNDS, t->strides[0] = -(INT64_C(1) << 60));
  WRONG(SB_ERR_BOUNDS, t->byte_offset = UINT64_MAX);
  WRONG(SB_ERR_BOUNDS, t->byte_offset = UINT64_MAX - 64);
  WRONG(SB_ERR_BOUNDS, t->data = (void *)(UINTPTR_MAX - 15));
  WRONG(SB_ERR_BOUNDS, (t->data = (void *)16, t->strides[0] = -5));
  WRONG(SB_ERR_ALIGNMENT, t->byte_offset = 2);
  WRONG(SB_ERR_ALIGNMENT, t->data = (char *)bytes + 1);
  WRONG(SB_ERR_DTYPE, t->dtype.code = SB_DL_OPAQUE);
  WRONG(SB_ERR_DTYPE, t->dtype.code = 8);
  WRONG(SB_ERR_DTYPE, t->dtype.code = 255);
  WRONG(SB_ERR_DTYPE, t->dtype.bits = 0);
  WRONG(SB_ERR_DTYPE, t->dtype.bits = 8);
  WRONG(SB_ERR_DTYPE, t->dtype.bits = 128);
  WRONG(SB_ERR_DTYPE, t->dtype.lanes = 0);
  WRONG(SB_ERR_DTYPE, t->dtype.lanes = 4);
  WRONG(SB_ERR_DTYPE, t->dtype = ((sb_dl_dtype){SB_DL_COMPLEX, 32, 1}));
  WRONG(SB_ERR_DTYPE, t->dtype = ((sb_dl_dtype){SB_DL_UINT, 4, 1}));
  WRONG(SB_ERR_DTYPE, t->dtype = ((sb_dl_dtype){SB_DL_BOOL, 1, 1}));
  WRONG(SB_ERR_DEVICE, t->device.type = 0);
  WRONG(SB_ERR_DEVICE, t->device.type = -1);
  WRONG(SB_ERR_DEVICE, t->device.type = SB_DL_CUDA);
  WRONG(SB_ERR_DEVICE, t->device.type = SB_DL_CUDA_MANAGED);
#undef WRONG
  FAILS(SB_ERR_ARGUMENT, sb_tensor_from_dlpack(NULL, &out));
  FAILS(SB_ERR_ARGUMENT, sb_tensor_from_dlpack_legacy(NULL, &out));
}

static void versions(void) {
  producer p;
  /* What lies behind flags means nothing then, and may not be there. Volatile: compilers must not see that it is not. */
  const volatile size_t part = offsetof(struct sb_dl_managed_versioned, tensor);
  const size_t known = part;
  for (uint32_t major = 0; major < 4; major++) {
    if (major == 1) continue;
    struct sb_dl_managed_versioned *m = malloc(known);
    sound(&p);
    p.managed.major = major;
    memcpy(m, &p.managed, known);
    FAILS(SB_ERR_UNSUPPORTED, sb_tensor_from_dlpack(m, &out));
    EQ(p.calls, 0);
    sb_dl_free(1, m);
    EQ(p.calls, 1);
    free(m);
  }
}

static void no_memory(void) {
  producer p;
  sb_tensor t, back;
  sound(&p);
  UNTIL_OK(1, sb_tensor_from_dlpack(&p.managed, &back), EQ(p.calls, 0));
  sb_tensor_release(&back);
  EQ(p.calls, 1);
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(2), &t), SB_OK);
  struct sb_dl_managed_versioned *m = NULL;
  struct sb_dl_managed *old = NULL;
  UNTIL_OK(1, sb_tensor_to_dlpack(&t, 0, &m), CHECK(!m));
  UNTIL_OK(1, sb_tensor_to_dlpack_legacy(&t, &old), CHECK(!old));
  sb_dl_free(1, m);
  sb_dl_free(0, old);
  sb_tensor_release(&t);
}

/* Each kind of damage to a sound struct; then it is refused, and is its owner's, or every element is where it says. */
static int64_t odd(void) {
  static const int64_t values[] = {0,
                                   1,
                                   -1,
                                   2,
                                   3,
                                   7,
                                   -2,
                                   -3,
                                   1 << 20,
                                   INT64_MAX,
                                   INT64_MIN,
                                   INT64_MAX / 16,
                                   INT64_C(1) << 32,
                                   INT64_C(1) << 61,
                                   -(INT64_C(1) << 62),
                                   INT32_MAX};
  return random_in(0, 3) ? random_in(-4, 4) : values[random_in(0, 15)];
}

static void damage(producer *p) {
  sb_dl_tensor *t = &p->managed.tensor;
  switch (random_in(0, 11)) {
    case 0: t->ndim = (int32_t)(random_in(0, 5) ? random_in(-3, 70) : odd()); break;
    case 1: t->dtype.code = (uint8_t)random_in(0, random_in(0, 1) ? 18 : 255); break;
    case 2:
      t->dtype.bits = (uint8_t)(random_in(0, 3) ? 8 << random_in(0, 4) : random_in(0, 255));
      break;
    case 3: t->dtype.lanes = (uint16_t)random_in(0, 3); break;
    case 4: p->shape[random_in(0, 3)] = odd(); break;
    case 5: p->strides[random_in(0, 3)] = odd(); break;
    case 6: t->shape = random_in(0, 3) ? t->shape : NULL; break;
    case 7: t->strides = NULL; break;
    case 8: t->data = random_in(0, 2) ? (char *)bytes + random_in(0, 40) : NULL; break;
    case 9: t->byte_offset = (uint64_t)odd(); break;
    case 10: t->device.type = (int32_t)random_in(-1, 19); break;
    default: p->managed.major = random_in(0, 9) ? 1 : (uint32_t)odd(); break;
  }
}

/* The same question, answered in 128 bits. */
static bool sane(const sb_dl_tensor *given, const sb_tensor *t) {
  const __int128 base = (__int128)(uintptr_t)sb_storage_data(t->storage);
  const int64_t itemsize = given->dtype.bits / 8;
  __int128 low = (__int128)(uintptr_t)given->data + given->byte_offset, high = low + itemsize;
  for (int32_t d = 0, left = 1; d < given->ndim; d++) {
    left *= given->shape[d] != 0;
    if (given->shape[d] != t->shape[d] || given->shape[d] < 0) return false;
    if (!left || given->shape[d] == 0) return sb_tensor_numel(t) == 0;
  }
  if (sb_tensor_numel(t) == 0) return false;
  __int128 dense = 1;
  for (int32_t d = given->ndim - 1; d >= 0; d--) {
    const __int128 stride = given->strides ? given->strides[d] : dense;
    const __int128 reach = stride * (given->shape[d] - 1) * itemsize;
    if (given->shape[d] != 1 && stride != t->strides[d]) return false;
    dense *= given->shape[d];
    if (reach < 0)
      low += reach;
    else
      high += reach;
  }
  return low == base && high == base + (__int128)sb_storage_nbytes(t->storage) && low > 0 &&
         high <= (__int128)UINTPTR_MAX && t->ndim == given->ndim &&
         sb_dtype_itemsize(t->dtype) == itemsize;
}

static void fuzz(void) {
  static producer p;
  int64_t taken = 0, refusals = 0;
  const int64_t before = storages();
  random_state = 20261122;
  for (int i = 0; i < 300000 && check_failures < 5; i++) {
    sb_tensor t;
    const bool versioned = random_in(0, 1);
    sound(&p);
    for (int64_t n = random_in(1, 4); n > 0; n--) damage(&p);
    p.legacy.tensor = p.managed.tensor;
    const sb_status status = versioned ? sb_tensor_from_dlpack(&p.managed, &t)
                                       : sb_tensor_from_dlpack_legacy(&p.legacy, &t);
    EQ(p.calls, 0);
    if (status) {
      refusals++;
      CHECK(sb_error_message()[0]);
      sb_dl_free(versioned, versioned ? (void *)&p.managed : (void *)&p.legacy);
    } else {
      taken++;
      CHECK(sane(&p.managed.tensor, &t));
      CHECK(t.storage->count == 1);
      sb_tensor_release(&t);
    }
    EQ(p.calls, 1);
  }
  EQ(storages(), before);
  CHECK(taken > 30000 && refusals > 30000);
}

/* ---- Threads ---- */

static void *free_all(void *list) {
  struct sb_dl_managed_versioned **m = list;
  for (int i = 0; i < 1000; i++) sb_dl_free(1, m[i]);
  return NULL;
}

static void other_threads(void) {
  static struct sb_dl_managed_versioned *lists[4][1000];
  const int64_t before = storages();
  pthread_t threads[4];
  sb_tensor t;
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(16), &t), SB_OK);
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < 1000; i++) lists[k][i] = versioned_of(&t);
  sb_tensor_release(&t);
  EQ(storages(), before + 1);
  for (int k = 0; k < 4; k++) EQ(pthread_create(&threads[k], NULL, free_all, lists[k]), 0);
  for (int k = 0; k < 4; k++) EQ(pthread_join(threads[k], NULL), 0);
  EQ(storages(), before);
}

static void cycles(void) {
  const int64_t before = storages();
  for (int i = 0; i < 100000; i++) {
    sb_tensor t, back, again;
    EQ(sb_tensor_empty(SB_FLOAT32, DIMS(4, 4), &t), SB_OK);
    EQ(sb_tensor_from_dlpack(versioned_of(&t), &back), SB_OK);
    sb_tensor_release(&t);
    EQ(sb_tensor_from_dlpack_legacy(legacy_of(&back), &again), SB_OK);
    sb_tensor_release(&back);
    *(float *)sb_at(&again, SB_FLOAT32, LIST(3, 3)) = 1;
    sb_tensor_release(&again);
  }
  EQ(storages(), before);
}

int main(void) {
  test("a float32 view goes out with its first address and strides, and is held", exports);
  test("every dtype goes out and comes back over the same bytes", dtypes_and_back);
  test("dtypes have the codes of DLPack", codes);
  test("read-only goes out and comes back", read_only);
  test("without elements nothing is held; without axes there is one", nothing_in_it);
  test("what consumers read wrongly is refused", refused_exports);
  test("structs of others are taken, with offsets and any strides, and freed once", imports);
  test("a struct with a wrong field is refused and stays its owner's", wrong_fields);
  test("of another major version nothing is read but the deleter", versions);
  test("without memory nothing is taken over", no_memory);
  test("300,000 damaged structs are refused or right, and freed once", fuzz);
  test("deleters run on any thread", other_threads);
  test("100,000 cycles leave nothing behind", cycles);
  return done();
}
