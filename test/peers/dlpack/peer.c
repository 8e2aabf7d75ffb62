/* An addon that gives and takes DLPack capsules, by samebytes_dlpack.h alone. It can lie in every field, and it
 * frees on any thread. What it gives and takes is numbered for the whole process. */
#include <node_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "samebytes_dlpack.h"

enum { MOST = 1 << 12, MOST_AXES = 1000 };

/* At a multiple of 64. */
static void *new_block(size_t nbytes) {
  void *block = NULL;
  if (!nbytes) nbytes = 64;
#ifdef _WIN32
  block = _aligned_malloc(nbytes, 64);
#else
  if (posix_memalign(&block, 64, nbytes)) return NULL;
#endif
  return block;
}

static void free_block(void *block) {
#ifdef _WIN32
  _aligned_free(block);
#else
  free(block);
#endif
}

/* One that is given: the struct, and what became of it. */
typedef struct given {
  union {
    sb_dl_managed legacy;
    sb_dl_managed_versioned versioned;
  } as;
  int64_t shape[MOST_AXES], strides[MOST_AXES];
  unsigned char *block;
  size_t nbytes;
  atomic_int calls; /* of the deleter */
  pthread_t thread; /* that made the last one */
} given;

/* One that was taken. */
typedef struct taken {
  int versioned;
  void *managed; /* NULL: freed */
} taken;

static given *all_given[MOST];
static taken all_taken[MOST];
static atomic_int given_count, taken_count;

/* ---- JavaScript ---- */

static napi_value fail(napi_env env, const char *message) {
  napi_throw_error(env, NULL, message);
  return NULL;
}

static napi_value number(napi_env env, double x) {
  napi_value value = NULL;
  napi_create_double(env, x, &value);
  return value;
}

static double number_of(napi_env env, napi_value value) {
  double x = 0;
  napi_get_value_double(env, value, &x);
  return x;
}

static napi_value property(napi_env env, napi_value object, const char *name) {
  napi_value value = NULL;
  napi_get_named_property(env, object, name, &value);
  return value;
}

static double field(napi_env env, napi_value object, const char *name, double otherwise) {
  napi_valuetype type = napi_undefined;
  napi_value value = property(env, object, name);
  napi_typeof(env, value, &type);
  return type == napi_number ? number_of(env, value) : otherwise;
}

static bool yes(napi_env env, napi_value object, const char *name, bool otherwise) {
  bool x = otherwise;
  napi_get_value_bool(env, property(env, object, name), &x);
  return x;
}

/* A BigInt64Array's values go to list; false: there is none. */
static bool list_of(napi_env env, napi_value object, const char *name, int64_t *list) {
  size_t length = 0;
  void *data = NULL;
  napi_value value = property(env, object, name);
  if (napi_get_typedarray_info(env, value, NULL, &length, &data, NULL, NULL) != napi_ok)
    return false;
  if (length > MOST_AXES) length = MOST_AXES;
  if (length) memcpy(list, data, length * sizeof *list);
  return true;
}

static void set(napi_env env, napi_value object, const char *name, double x) {
  napi_set_named_property(env, object, name, number(env, x));
}

/* ---- Giving ---- */

static void deleted(given *g) {
  g->thread = pthread_self();
  if (atomic_fetch_add(&g->calls, 1) == 0) {
    free_block(g->block); /* the record stays, to be asked how often this was called */
    g->block = NULL;
  }
}

static void delete_legacy(sb_dl_managed *self) { deleted(self->context); }
static void delete_versioned(sb_dl_managed_versioned *self) { deleted(self->context); }

static sb_dl_tensor tensor_of(napi_env env, napi_value spec, given *g) {
  int64_t offset = 0;
  bool lossless = true;
  sb_dl_tensor t = {.data = g->block, .device = {SB_DL_CPU, 0}, .dtype = {SB_DL_FLOAT, 32, 1}};
  if (list_of(env, spec, "shape", g->shape)) t.shape = g->shape;
  if (list_of(env, spec, "strides", g->strides)) t.strides = g->strides;
  if (yes(env, spec, "isNull", false)) t.data = NULL;
  t.data = t.data ? (char *)t.data + (size_t)field(env, spec, "moved", 0) : NULL;
  t.ndim = (int32_t)field(env, spec, "ndim", 1);
  t.dtype.code = (uint8_t)field(env, spec, "code", t.dtype.code);
  t.dtype.bits = (uint8_t)field(env, spec, "bits", t.dtype.bits);
  t.dtype.lanes = (uint16_t)field(env, spec, "lanes", t.dtype.lanes);
  t.device.type = (int32_t)field(env, spec, "deviceType", t.device.type);
  t.device.id = (int32_t)field(env, spec, "deviceId", t.device.id);
  napi_get_value_bigint_int64(env, property(env, spec, "byteOffset"), &offset, &lossless);
  t.byte_offset = (uint64_t)offset;
  return t;
}

/* give(spec) → [capsule, id]. Its bytes are 0, 1, 2, … */
static napi_value give(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value spec = NULL, capsule = NULL, result = NULL;
  napi_get_cb_info(env, info, &count, &spec, NULL, NULL);
  const int id = atomic_fetch_add(&given_count, 1);
  if (id >= MOST) return fail(env, "no more are possible");
  given *g = calloc(1, sizeof *g);
  if (!g) return fail(env, "no memory");
  all_given[id] = g;
  g->nbytes = (size_t)field(env, spec, "nbytes", 64);
  g->block = new_block(g->nbytes);
  if (!g->block) return fail(env, "no memory");
  for (size_t i = 0; i < g->nbytes; i++) g->block[i] = (unsigned char)i;
  const bool versioned = yes(env, spec, "versioned", true), frees = yes(env, spec, "deleter", true);
  const sb_dl_tensor t = tensor_of(env, spec, g);
  if (versioned) {
    g->as.versioned = (sb_dl_managed_versioned){
        (uint32_t)field(env, spec, "major", 1), (uint32_t)field(env, spec, "minor", 0), g,
        frees ? delete_versioned : NULL,        (uint64_t)field(env, spec, "flags", 0), t};
  } else {
    g->as.legacy = (sb_dl_managed){t, g, frees ? delete_legacy : NULL};
  }
  if (sb_dl_capsule_new(env, versioned, &g->as, &capsule) != napi_ok)
    return fail(env, "no capsule");
  napi_create_array(env, &result);
  napi_set_element(env, result, 0, capsule);
  napi_set_element(env, result, 1, number(env, id));
  return result;
}

static given *given_of(napi_env env, napi_callback_info info, size_t count, napi_value *arguments) {
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  const int id = (int)number_of(env, arguments[0]);
  return id >= 0 && id < atomic_load(&given_count) ? all_given[id] : NULL;
}

/* calls(id) → how often the deleter ran. */
static napi_value calls(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  given *g = given_of(env, info, 1, &argument);
  return g ? number(env, atomic_load(&g->calls)) : fail(env, "no such tensor");
}

/* wasFreedHere(id) → whether the deleter's last call was on this thread. */
static napi_value was_freed_here(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, result = NULL;
  given *g = given_of(env, info, 1, &argument);
  if (!g || !atomic_load(&g->calls)) return fail(env, "it was not freed");
  napi_get_boolean(env, pthread_equal(g->thread, pthread_self()) != 0, &result);
  return result;
}

/* byte(id, at[, value]) → what it was. */
static napi_value byte(napi_env env, napi_callback_info info) {
  napi_value arguments[3] = {NULL, NULL, NULL};
  napi_valuetype type = napi_undefined;
  given *g = given_of(env, info, 3, arguments);
  const size_t at = (size_t)number_of(env, arguments[1]);
  if (!g || !g->block || at >= g->nbytes) return fail(env, "no such byte");
  const unsigned char was = g->block[at];
  napi_typeof(env, arguments[2], &type);
  if (type == napi_number) g->block[at] = (unsigned char)number_of(env, arguments[2]);
  return number(env, was);
}

/* ---- Taking ---- */

static napi_value list(napi_env env, const int64_t *values, int32_t count) {
  napi_value result = NULL;
  if (!values || count < 0 || count > MOST_AXES) return NULL;
  napi_create_array(env, &result);
  for (int32_t i = 0; i < count; i++)
    napi_set_element(env, result, (uint32_t)i, number(env, (double)values[i]));
  return result;
}

static napi_value described(napi_env env, int id, const taken *it) {
  const sb_dl_managed_versioned *m = it->versioned ? it->managed : NULL;
  const sb_dl_tensor *t = m ? &m->tensor : &((sb_dl_managed *)it->managed)->tensor;
  napi_value result = NULL, address = NULL, lists[2];
  napi_create_object(env, &result);
  set(env, result, "id", id);
  set(env, result, "versioned", it->versioned);
  if (m) {
    set(env, result, "major", m->major);
    set(env, result, "minor", m->minor);
    set(env, result, "flags", (double)m->flags);
  }
  set(env, result, "code", t->dtype.code);
  set(env, result, "bits", t->dtype.bits);
  set(env, result, "lanes", t->dtype.lanes);
  set(env, result, "ndim", t->ndim);
  set(env, result, "deviceType", t->device.type);
  set(env, result, "deviceId", t->device.id);
  set(env, result, "byteOffset", (double)t->byte_offset);
  napi_create_bigint_uint64(env, (uint64_t)(uintptr_t)t->data, &address);
  napi_set_named_property(env, result, "address", address);
  lists[0] = list(env, t->shape, t->ndim);
  lists[1] = list(env, t->strides, t->ndim);
  if (lists[0]) napi_set_named_property(env, result, "shape", lists[0]);
  if (lists[1]) napi_set_named_property(env, result, "strides", lists[1]);
  return result;
}

/* take(capsule) → what is in it, or 'used' or 'foreign'. */
static napi_value take(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument = NULL, word = NULL;
  taken it = {0, NULL};
  napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
  const sb_dl_taken how = sb_dl_capsule_take(env, argument, &it.versioned, &it.managed);
  if (how != SB_DL_TAKEN) {
    napi_create_string_utf8(env, how == SB_DL_USED ? "used" : "foreign", NAPI_AUTO_LENGTH, &word);
    return word;
  }
  const int id = atomic_fetch_add(&taken_count, 1);
  if (id >= MOST) return fail(env, "no more are possible");
  all_taken[id] = it;
  return described(env, id, &it);
}

static taken *taken_of(napi_env env, napi_callback_info info, size_t count, napi_value *arguments) {
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  const int id = (int)number_of(env, arguments[0]);
  if (id < 0 || id >= atomic_load(&taken_count) || !all_taken[id].managed) return NULL;
  return &all_taken[id];
}

/* element(id, at[, value]) → what it was: the float32 so many after the first. */
static napi_value element(napi_env env, napi_callback_info info) {
  napi_value arguments[3] = {NULL, NULL, NULL};
  napi_valuetype type = napi_undefined;
  taken *it = taken_of(env, info, 3, arguments);
  if (!it) return fail(env, "it was freed");
  const sb_dl_tensor *t = it->versioned ? &((sb_dl_managed_versioned *)it->managed)->tensor
                                        : &((sb_dl_managed *)it->managed)->tensor;
  float *at = (float *)((char *)t->data + t->byte_offset) + (ptrdiff_t)number_of(env, arguments[1]);
  const float was = *at;
  napi_typeof(env, arguments[2], &type);
  if (type == napi_number) *at = (float)number_of(env, arguments[2]);
  return number(env, was);
}

static void *free_taken(void *data) {
  taken *it = data;
  sb_dl_free(it->versioned, it->managed);
  it->managed = NULL;
  return NULL;
}

/* free(id, elsewhere): on this thread, or on one that ends with it. */
static napi_value free_it(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  bool elsewhere = false;
  pthread_t thread;
  taken *it = taken_of(env, info, 2, arguments);
  if (!it) return fail(env, "it was freed");
  napi_get_value_bool(env, arguments[1], &elsewhere);
  if (!elsewhere) {
    free_taken(it);
  } else {
    if (pthread_create(&thread, NULL, free_taken, it)) return fail(env, "no thread");
    pthread_join(thread, NULL);
  }
  return NULL;
}

/* ---- Over and over ---- */

static int64_t extents[] = {4, 4}, steps[] = {4, 1};

static void free_quick(sb_dl_managed_versioned *self) { free_block(self); }

/* quick() → a capsule of 4 x 4 float32 behind the struct. */
static napi_value quick(napi_env env, napi_callback_info info) {
  napi_value capsule = NULL;
  void *block = new_block(128 + 64);
  (void)info;
  if (!block) return fail(env, "no memory");
  sb_dl_managed_versioned *m = block;
  *m = (sb_dl_managed_versioned){
      1,    0,
      NULL, free_quick,
      0,    {(char *)block + 128, {SB_DL_CPU, 0}, 2, {SB_DL_FLOAT, 32, 1}, extents, steps, 0}};
  memset(m->tensor.data, 0, 64);
  if (sb_dl_capsule_new(env, 1, m, &capsule) != napi_ok) {
    free_quick(m);
    return fail(env, "no capsule");
  }
  return capsule;
}

/* use(capsule) → the first float32; takes it and frees it. */
static napi_value use(napi_env env, napi_callback_info info) {
  size_t count = 1;
  napi_value argument = NULL;
  taken it = {0, NULL};
  napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
  if (sb_dl_capsule_take(env, argument, &it.versioned, &it.managed) != SB_DL_TAKEN)
    return fail(env, "no capsule");
  const sb_dl_tensor *t = it.versioned ? &((sb_dl_managed_versioned *)it.managed)->tensor
                                       : &((sb_dl_managed *)it.managed)->tensor;
  const float first = *(float *)((char *)t->data + t->byte_offset);
  sb_dl_free(it.versioned, it.managed);
  return number(env, first);
}

/* ---- Forgeries ---- */

/* forge(kind) → an external without a tag, with another one, or with the right one and another ABI. */
static napi_value forge(napi_env env, napi_callback_info info) {
  static const napi_type_tag other = {1, 2};
  static sb_dl_capsule cells[3] = {
      {SB_DL_CAPSULE_ABI, 1, NULL}, {SB_DL_CAPSULE_ABI, 1, NULL}, {99, 1, NULL}};
  size_t count = 1;
  napi_value argument = NULL, made = NULL;
  napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
  const int kind = (int)number_of(env, argument);
  if (kind < 0 || kind > 2) return fail(env, "no such forgery");
  cells[kind].tensor = &cells; /* who believed it would read on here */
  napi_create_external(env, &cells[kind], NULL, NULL, &made);
  if (kind) napi_type_tag_object(env, made, kind == 1 ? &other : &sb_dl_capsule_tag);
  return made;
}

NAPI_MODULE_INIT(/* napi_env env, napi_value exports */) {
  static const struct {
    const char *name;
    napi_callback function;
  } functions[] = {{"give", give},    {"calls", calls}, {"wasFreedHere", was_freed_here},
                   {"byte", byte},    {"take", take},   {"element", element},
                   {"free", free_it}, {"quick", quick}, {"use", use},
                   {"forge", forge}};
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    napi_value function = NULL;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function, NULL,
                         &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  return exports;
}
