/* A stand-in for onnxruntime's C library, for tests only: the entries of src/onnx/table.h at their places. What it calls a model is a text:
 *
 *   fakeort
 *   input a 1 n 3            name, ONNX's number of its type (0: a sequence), extents: a number, a name, or ?
 *   output c 1 n 3 = add     what becomes of it: add, multiply (of the first two inputs, float32), pass (the first input's bytes themselves),
 *                            null (no value), bytes (a tensor without), sequence, or type and extents of a tensor of zeros
 *
 * and the model of bytes that js/model/sessions.js tries options by.
 *
 *   FAKEORT_VERSION=19   it has no table of later versions
 *   FAKEORT_STATE=path   a file of int64, mapped: what it is told, and what is alive, by the numbers below
 *
 * It is stricter than onnxruntime: what is given something that is not alive, or not of the kind, counts a fault and fails. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "onnx/table.h"

#define API __attribute__((visibility("default")))

/* test/native/fakeort/program.js has the same numbers. */
enum {
  FAIL_AT,     /* n: the n-th call from now on fails; counts down */
  NULL_AT,     /* n: the n-th call that makes something succeeds, and makes nothing */
  FAIL_ALWAYS, /* the place of an entry each of whose calls fails */
  PAUSE,       /* not 0: runs wait, before they begin, until it is 0 or they are told to stop */
  WAITING,     /* runs that wait */
  HALF,        /* not 0: runs make all results but the last, and fail */
  CALLS,       /* calls that can fail */
  FAULTS,      /* uses of what is not alive */
  LAST,        /* the place of the last call that was made to fail, or to make nothing */
  LIVE,        /* what is alive of each kind, from here on */
};
enum {
  ENV,
  OPTIONS,
  SESSION,
  RUN_OPTIONS,
  VALUE,
  TYPE_INFO,
  TENSOR_INFO,
  MEMORY,
  STATUS,
  NAME,
  PREPACKED,
  KINDS
};

static atomic_llong *state;

static void open_state(void) {
  static atomic_llong own[LIVE + KINDS];
  const char *path = getenv("FAKEORT_STATE");
  const int fd = path ? open(path, O_RDWR) : -1;
  state = own;
  if (fd < 0) return;
  void *mapped = ftruncate(fd, sizeof own)
                     ? MAP_FAILED
                     : mmap(NULL, sizeof own, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (mapped != MAP_FAILED) state = mapped;
}

/* ---- What is alive ---- */

enum { MOST_AXES = 80, MOST_VALUES = 8 };

/* What a tensor is declared to be, or is. */
typedef struct shape {
  int type; /* 0: a sequence */
  size_t ndim;
  int64_t extents[MOST_AXES]; /* -1: open */
  char names[MOST_AXES][16];
} shape;

typedef struct slot {
  char name[32];
  shape declared;
  char what[16]; /* "": a tensor as made says */
  shape made;
} slot;

typedef struct model {
  size_t counts[2];
  slot slots[2][MOST_VALUES]; /* inputs, outputs */
} model;

typedef struct object {
  struct object *next;
  int kind;
  shape shape; /* of values and infos */
  bool is_sequence;
  void *data, *own; /* of values; own: to be freed */
  model *model;     /* of sessions */
  atomic_bool stop; /* of run options */
  char text[160];   /* of statuses and names */
} object;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static object *objects;

static object *new_object(int kind) {
  object *o = calloc(1, sizeof *o);
  if (!o) abort();
  o->kind = kind;
  pthread_mutex_lock(&lock);
  o->next = objects;
  objects = o;
  pthread_mutex_unlock(&lock);
  state[LIVE + kind]++;
  return o;
}

static object **find(const void *it, int kind) {
  object **at = &objects;
  while (*at && ((void *)*at != it || (*at)->kind != kind)) at = &(*at)->next;
  return at;
}

/* Is it alive? If not, that is a fault. */
static bool lives(const void *it, int kind) {
  pthread_mutex_lock(&lock);
  const bool found = *find(it, kind) != NULL;
  pthread_mutex_unlock(&lock);
  if (!found) state[FAULTS]++;
  return found;
}

static void release(void *it, int kind) {
  if (!it) return; /* as onnxruntime's do */
  pthread_mutex_lock(&lock);
  object **at = find(it, kind), *o = *at;
  if (o) *at = o->next;
  pthread_mutex_unlock(&lock);
  if (!o) {
    state[FAULTS]++;
    return;
  }
  state[LIVE + kind]--;
  free(o->own);
  free(o->model);
  memset(o, 0xdd, sizeof *o);
  free(o);
}

/* ---- Failures ---- */

static OrtStatus *status_of(const char *text, const char *about) {
  object *o = new_object(STATUS);
  snprintf(o->text, sizeof o->text, text, about);
  return (OrtStatus *)(void *)o;
}

/* Is it this call's turn? */
static bool is_turn(int word) {
  long long n = atomic_load(&state[word]);
  while (n > 0 && !atomic_compare_exchange_weak(&state[word], &n, n - 1)) continue;
  return n == 1;
}

#define ENTER(place, name)                                 \
 do {                                                      \
  state[CALLS]++;                                          \
  if (is_turn(FAIL_AT) || state[FAIL_ALWAYS] == (place)) { \
   state[LAST] = (place);                                  \
   return status_of("%s was told to fail", name);          \
  }                                                        \
 } while (0)

/* Of a call that makes something. */
#define MAKES(place, name, out) \
 ENTER(place, name);            \
 do {                           \
  *(out) = NULL;                \
  if (is_turn(NULL_AT)) {       \
   state[LAST] = (place);       \
   return NULL;                 \
  }                             \
 } while (0)

#define NEEDS(it, kind)                                            \
 do {                                                              \
  if (!lives(it, kind)) return status_of("there is no %s", #kind); \
 } while (0)

/* ---- Models ---- */

/* Reads type and extents; where they end. */
static char *read_shape(char *text, shape *out) {
  char word[32];
  int n = 0;
  if (sscanf(text, " %d%n", &out->type, &n) != 1) return NULL;
  text += n;
  while (sscanf(text, "%*[ ]%31[^ \n]%n", word, &n) == 1 && word[0] != '=') {
    if (out->ndim == MOST_AXES) return NULL;
    char *end;
    out->extents[out->ndim] = strtoll(word, &end, 10);
    if (*end) {
      out->extents[out->ndim] = -1;
      snprintf(out->names[out->ndim], sizeof out->names[0], "%.15s", word[0] == '?' ? "" : word);
    }
    out->ndim++;
    text += n;
  }
  return text;
}

static bool read_line(char *line, model *m) {
  char word[16];
  int n = 0;
  slot read = {.name = ""};
  if (sscanf(line, "%15s %31s%n", word, read.name, &n) != 2) return false;
  const bool is_output = word[0] == 'o';
  char *at = read_shape(line + n, &read.declared);
  if (!at || m->counts[is_output] == MOST_VALUES) return false;
  if (is_output) {
    at = strchr(at, '=');
    if (!at++) return false;
    if (!read_shape(at, &read.made) && sscanf(at, " %15s", read.what) != 1) return false;
  }
  m->slots[is_output][m->counts[is_output]++] = read;
  return true;
}

static model *read_model(const void *bytes, size_t nbytes) {
  static const char identity[] = "fakeort\ninput a 1 2\noutput b 1 2 = pass\n";
  char *text = calloc(1, nbytes + 1), *rest = NULL;
  model *m = calloc(1, sizeof *m);
  memcpy(text, bytes, nbytes);
  if (memmem(text, nbytes, "Identity", 8)) {
    free(text);
    text = strdup(identity);
  }
  char *line = strtok_r(text, "\n", &rest);
  bool is_model = line && !strcmp(line, "fakeort");
  while (is_model && (line = strtok_r(NULL, "\n", &rest))) is_model = read_line(line, m);
  free(text);
  if (is_model) return m;
  free(m);
  return NULL;
}

static const slot *slot_of(const OrtSession *session, bool outputs, size_t i) {
  const model *m = ((const object *)(const void *)session)->model;
  return i < m->counts[outputs] ? &m->slots[outputs][i] : NULL;
}

/* ---- The library ---- */

static const char *fake_GetErrorMessage(const OrtStatus *status) {
  return lives(status, STATUS) ? ((const object *)(const void *)status)->text : "no status";
}

static OrtStatus *fake_CreateEnv(int severity, const char *id, OrtEnv **out) {
  (void)severity;
  (void)id;
  MAKES(3, "CreateEnv", out);
  *out = (OrtEnv *)(void *)new_object(ENV);
  return NULL;
}

static OrtStatus *fake_CreateCpuMemoryInfo(int allocator, int memory, OrtMemoryInfo **out) {
  (void)allocator;
  (void)memory;
  MAKES(69, "CreateCpuMemoryInfo", out);
  *out = (OrtMemoryInfo *)(void *)new_object(MEMORY);
  return NULL;
}

static OrtStatus *fake_CreateAndRegisterAllocator(OrtEnv *env, const OrtMemoryInfo *what,
                                                  const OrtArenaCfg *arena) {
  (void)arena;
  ENTER(144, "CreateAndRegisterAllocator");
  NEEDS(env, ENV);
  NEEDS(what, MEMORY);
  return NULL;
}

static int allocator; /* the default one */

static OrtStatus *fake_GetAllocatorWithDefaultOptions(OrtAllocator **out) {
  MAKES(78, "GetAllocatorWithDefaultOptions", out);
  *out = (OrtAllocator *)(void *)&allocator;
  return NULL;
}

static bool is_allocator(const OrtAllocator *it) {
  if ((const void *)it == &allocator) return true;
  state[FAULTS]++;
  return false;
}

static OrtStatus *fake_AllocatorFree(OrtAllocator *from, void *data) {
  ENTER(76, "AllocatorFree");
  if (!is_allocator(from)) return status_of("there is no %s", "allocator");
  release(data ? (char *)data - offsetof(object, text) : NULL, NAME);
  return NULL;
}

/* ---- Options ---- */

static OrtStatus *fake_CreateSessionOptions(OrtSessionOptions **out) {
  MAKES(10, "CreateSessionOptions", out);
  *out = (OrtSessionOptions *)(void *)new_object(OPTIONS);
  return NULL;
}

#define SETTER(place, name, parameters)     \
 static OrtStatus *fake_##name parameters { \
  ENTER(place, #name);                      \
  NEEDS(options, OPTIONS);                  \
  return NULL;                              \
 }
#define UNUSED __attribute__((unused))
SETTER(11, SetOptimizedModelFilePath, (OrtSessionOptions * options, const void *path UNUSED))
SETTER(13, SetSessionExecutionMode, (OrtSessionOptions * options, int value UNUSED))
SETTER(17, DisableMemPattern, (OrtSessionOptions * options))
SETTER(19, DisableCpuMemArena, (OrtSessionOptions * options))
SETTER(20, SetSessionLogId, (OrtSessionOptions * options, const char *id UNUSED))
SETTER(21, SetSessionLogVerbosityLevel, (OrtSessionOptions * options, int value UNUSED))
SETTER(22, SetSessionLogSeverityLevel, (OrtSessionOptions * options, int value UNUSED))
SETTER(23, SetSessionGraphOptimizationLevel, (OrtSessionOptions * options, int value UNUSED))
SETTER(24, SetIntraOpNumThreads, (OrtSessionOptions * options, int value UNUSED))
SETTER(25, SetInterOpNumThreads, (OrtSessionOptions * options, int value UNUSED))
SETTER(124, AddFreeDimensionOverrideByName,
       (OrtSessionOptions * options, const char *name UNUSED, int64_t extent UNUSED))
SETTER(130, AddSessionConfigEntry,
       (OrtSessionOptions * options, const char *key UNUSED, const char *value UNUSED))

SETTER(150, AddInitializer,
       (OrtSessionOptions * options, const char *name UNUSED, const OrtValue *value UNUSED))

static OrtStatus *fake_CreatePrepackedWeightsContainer(OrtPrepackedWeightsContainer **out) {
  MAKES(166, "CreatePrepackedWeightsContainer", out);
  *out = (OrtPrepackedWeightsContainer *)(void *)new_object(PREPACKED);
  return NULL;
}

/* ---- Sessions ---- */

static OrtStatus *new_session(const void *bytes, size_t nbytes, OrtSession **out) {
  model *m = read_model(bytes, nbytes);
  if (!m) return status_of("%s", "these bytes are no model of the stand-in's");
  object *o = new_object(SESSION);
  o->model = m;
  *out = (OrtSession *)(void *)o;
  return NULL;
}

static OrtStatus *fake_CreateSession(const OrtEnv *env, const void *path,
                                     const OrtSessionOptions *options, OrtSession **out) {
  MAKES(7, "CreateSession", out);
  NEEDS(env, ENV);
  NEEDS(options, OPTIONS);
  char bytes[4096];
  FILE *file = fopen(path, "rb");
  if (!file) return status_of("%s cannot be opened", path);
  const size_t nbytes = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  return new_session(bytes, nbytes, out);
}

static OrtStatus *fake_CreateSessionFromArray(const OrtEnv *env, const void *bytes, size_t nbytes,
                                              const OrtSessionOptions *options, OrtSession **out) {
  MAKES(8, "CreateSessionFromArray", out);
  NEEDS(env, ENV);
  NEEDS(options, OPTIONS);
  return new_session(bytes, nbytes, out);
}

static OrtStatus *fake_CreateSessionWithPrepackedWeightsContainer(
    const OrtEnv *env, const void *path, const OrtSessionOptions *options,
    OrtPrepackedWeightsContainer *container, OrtSession **out) {
  NEEDS(container, PREPACKED);
  return fake_CreateSession(env, path, options, out);
}

static OrtStatus *fake_CreateSessionFromArrayWithPrepackedWeightsContainer(
    const OrtEnv *env, const void *bytes, size_t nbytes, const OrtSessionOptions *options,
    OrtPrepackedWeightsContainer *container, OrtSession **out) {
  NEEDS(container, PREPACKED);
  return fake_CreateSessionFromArray(env, bytes, nbytes, options, out);
}

static OrtStatus *fake_SessionGetInputCount(const OrtSession *session, size_t *out) {
  ENTER(30, "SessionGetInputCount");
  NEEDS(session, SESSION);
  *out = ((const object *)(const void *)session)->model->counts[0];
  return NULL;
}

static OrtStatus *fake_SessionGetOutputCount(const OrtSession *session, size_t *out) {
  ENTER(31, "SessionGetOutputCount");
  NEEDS(session, SESSION);
  *out = ((const object *)(const void *)session)->model->counts[1];
  return NULL;
}

static OrtStatus *get_info(const OrtSession *session, bool outputs, size_t i, OrtTypeInfo **out) {
  NEEDS(session, SESSION);
  const slot *s = slot_of(session, outputs, i);
  if (!s) return status_of("%s", "there is no such input or output");
  object *o = new_object(TYPE_INFO);
  o->shape = s->declared;
  *out = (OrtTypeInfo *)(void *)o;
  return NULL;
}

static OrtStatus *fake_SessionGetInputTypeInfo(const OrtSession *session, size_t i,
                                               OrtTypeInfo **out) {
  MAKES(33, "SessionGetInputTypeInfo", out);
  return get_info(session, false, i, out);
}

static OrtStatus *fake_SessionGetOutputTypeInfo(const OrtSession *session, size_t i,
                                                OrtTypeInfo **out) {
  MAKES(34, "SessionGetOutputTypeInfo", out);
  return get_info(session, true, i, out);
}

static OrtStatus *get_name(const OrtSession *session, bool outputs, size_t i, OrtAllocator *from,
                           char **out) {
  NEEDS(session, SESSION);
  const slot *s = slot_of(session, outputs, i);
  if (!s || !is_allocator(from)) return status_of("%s", "there is no such input or output");
  object *o = new_object(NAME);
  snprintf(o->text, sizeof o->text, "%s", s->name);
  *out = o->text;
  return NULL;
}

static OrtStatus *fake_SessionGetInputName(const OrtSession *session, size_t i, OrtAllocator *from,
                                           char **out) {
  MAKES(36, "SessionGetInputName", out);
  return get_name(session, false, i, from, out);
}

static OrtStatus *fake_SessionGetOutputName(const OrtSession *session, size_t i, OrtAllocator *from,
                                            char **out) {
  MAKES(37, "SessionGetOutputName", out);
  return get_name(session, true, i, from, out);
}

/* ---- What is declared, or is: the tensor info of a declaration is the type info itself ---- */

static bool is_info(const void *it) {
  pthread_mutex_lock(&lock);
  const bool found = *find(it, TENSOR_INFO) || *find(it, TYPE_INFO);
  pthread_mutex_unlock(&lock);
  if (!found) state[FAULTS]++;
  return found;
}

static OrtStatus *fake_CastTypeInfoToTensorInfo(const OrtTypeInfo *type,
                                                const OrtTensorInfo **out) {
  MAKES(55, "CastTypeInfoToTensorInfo", out);
  NEEDS(type, TYPE_INFO);
  if (((const object *)(const void *)type)->shape.type)
    *out = (const OrtTensorInfo *)(const void *)type;
  return NULL;
}

#define INFO_ENTRY(place, name, parameters, body)                 \
 static OrtStatus *fake_##name parameters {                       \
  ENTER(place, #name);                                            \
  if (!is_info(info)) return status_of("there is no %s", "info"); \
  const shape *s = &((const object *)(const void *)info)->shape;  \
  body return NULL;                                               \
 }
INFO_ENTRY(60, GetTensorElementType, (const OrtTensorInfo *info, int *out), { *out = s->type; })
INFO_ENTRY(61, GetDimensionsCount, (const OrtTensorInfo *info, size_t *out), { *out = s->ndim; })
INFO_ENTRY(62, GetDimensions, (const OrtTensorInfo *info, int64_t *out, size_t count),
           { memcpy(out, s->extents, count * sizeof *out); })
INFO_ENTRY(63, GetSymbolicDimensions, (const OrtTensorInfo *info, const char **out, size_t count), {
  for (size_t d = 0; d < count; d++) out[d] = s->names[d];
})

static OrtStatus *fake_GetTensorTypeAndShape(const OrtValue *value, OrtTensorInfo **out) {
  MAKES(65, "GetTensorTypeAndShape", out);
  NEEDS(value, VALUE);
  object *o = new_object(TENSOR_INFO);
  o->shape = ((const object *)(const void *)value)->shape;
  *out = (OrtTensorInfo *)(void *)o;
  return NULL;
}

/* ---- Values ---- */

static OrtStatus *fake_CreateTensorWithDataAsOrtValue(const OrtMemoryInfo *where, void *data,
                                                      size_t nbytes, const int64_t *extents,
                                                      size_t ndim, int type, OrtValue **out) {
  MAKES(49, "CreateTensorWithDataAsOrtValue", out);
  NEEDS(where, MEMORY);
  (void)nbytes;
  object *o = new_object(VALUE);
  o->data = data;
  o->shape.type = type;
  o->shape.ndim = ndim;
  memcpy(o->shape.extents, extents, ndim * sizeof *extents);
  *out = (OrtValue *)(void *)o;
  return NULL;
}

static OrtStatus *fake_IsTensor(const OrtValue *value, int *out) {
  ENTER(50, "IsTensor");
  NEEDS(value, VALUE);
  *out = !((const object *)(const void *)value)->is_sequence;
  return NULL;
}

static OrtStatus *fake_GetTensorMutableData(OrtValue *value, void **out) {
  MAKES(51, "GetTensorMutableData", out);
  NEEDS(value, VALUE);
  const object *o = (const object *)(const void *)value;
  if (o->is_sequence) return status_of("%s", "it is no tensor");
  *out = o->data;
  return NULL;
}

/* ---- Runs ---- */

static OrtStatus *fake_CreateRunOptions(OrtRunOptions **out) {
  MAKES(39, "CreateRunOptions", out);
  *out = (OrtRunOptions *)(void *)new_object(RUN_OPTIONS);
  return NULL;
}

static OrtStatus *fake_RunOptionsSetRunLogSeverityLevel(OrtRunOptions *options, int level) {
  (void)level;
  ENTER(41, "RunOptionsSetRunLogSeverityLevel");
  NEEDS(options, RUN_OPTIONS);
  return NULL;
}

static OrtStatus *fake_RunOptionsSetTerminate(OrtRunOptions *options) {
  ENTER(46, "RunOptionsSetTerminate");
  NEEDS(options, RUN_OPTIONS);
  ((object *)(void *)options)->stop = true;
  return NULL;
}

static int64_t numel(const shape *s) {
  int64_t n = 1;
  for (size_t d = 0; d < s->ndim; d++) n *= s->extents[d];
  return n;
}

static bool is_same(const shape *a, const shape *b) {
  return a->type == b->type && a->ndim == b->ndim &&
         !memcmp(a->extents, b->extents, a->ndim * sizeof *a->extents);
}

enum { ROOM = 1 << 16 }; /* bytes of each new result, whatever shape it says it has */

/* Writes an output into *value, or makes it. */
static OrtStatus *run_output(const slot *s, object *const *inputs, OrtValue **value) {
  object *given = (object *)(void *)*value;
  if (given) NEEDS(given, VALUE);
  if (!strcmp(s->what, "null")) return NULL;
  const bool passes = !strcmp(s->what, "pass"), is_add = !strcmp(s->what, "add"),
             computes = is_add || !strcmp(s->what, "multiply");
  const shape *made = s->what[0] ? &inputs[0]->shape : &s->made;
  if (computes && !is_same(&inputs[0]->shape, &inputs[1]->shape))
    return status_of("%s: operands have other shapes", s->name);
  if (given && !is_same(made, &given->shape))
    return status_of("%s was given with another shape", s->name);
  object *o = given ? given : new_object(VALUE);
  *value = (OrtValue *)(void *)o;
  o->shape = *made;
  o->is_sequence = !strcmp(s->what, "sequence");
  if (!given && passes) o->data = inputs[0]->data;
  if (!given && !passes && !o->is_sequence && strcmp(s->what, "bytes"))
    o->data = o->own = calloc(1, ROOM);
  if (given && passes) memcpy(o->data, inputs[0]->data, (size_t)numel(made) * sizeof(float));
  if (!computes) return NULL;
  const float *a = inputs[0]->data, *b = inputs[1]->data;
  float *c = o->data;
  for (int64_t i = 0; i < numel(made); i++) c[i] = is_add ? a[i] + b[i] : a[i] * b[i];
  return NULL;
}

static OrtStatus *wait_while_paused(const object *options) {
  state[WAITING]++;
  while (state[PAUSE] && !options->stop) usleep(200);
  state[WAITING]--;
  return options->stop ? status_of("%s", "it was told to stop") : NULL;
}

static const slot *named(const model *m, bool outputs, const char *name, size_t *i) {
  for (*i = 0; *i < m->counts[outputs]; ++*i)
    if (!strcmp(m->slots[outputs][*i].name, name)) return &m->slots[outputs][*i];
  return NULL;
}

static OrtStatus *fake_Run(OrtSession *session, const OrtRunOptions *options,
                           const char *const *input_names, const OrtValue *const *inputs,
                           size_t input_count, const char *const *output_names, size_t output_count,
                           OrtValue **outputs) {
  ENTER(9, "Run");
  NEEDS(session, SESSION);
  NEEDS(options, RUN_OPTIONS);
  bool makes = false; /* of outputs that are given nothing is known to be missing */
  for (size_t i = 0; i < output_count; i++) makes = makes || !outputs[i];
  if (makes && is_turn(NULL_AT)) {
    state[LAST] = 9;
    return NULL;
  }
  const model *m = ((const object *)(void *)session)->model;
  object *by_index[MOST_VALUES] = {NULL};
  size_t index = 0;
  for (size_t i = 0; i < input_count; i++) {
    NEEDS(inputs[i], VALUE);
    if (!named(m, false, input_names[i], &index)) return status_of("no input %s", input_names[i]);
    by_index[index] = (object *)(uintptr_t)inputs[i];
  }
  for (size_t i = 0; i < m->counts[0]; i++)
    if (!by_index[i]) return status_of("%s has no value", m->slots[0][i].name);
  OrtStatus *answer = wait_while_paused((const object *)(const void *)options);
  for (size_t i = 0; !answer && i < output_count; i++) {
    const slot *s = named(m, true, output_names[i], &index);
    if (state[HALF] && i + 1 == output_count)
      return status_of("%s was told to fail", output_names[i]);
    answer = s ? run_output(s, by_index, &outputs[i]) : status_of("no output %s", output_names[i]);
  }
  return answer;
}

/* ---- Releases ---- */

#define RELEASE(name, type, kind) \
 static void fake_Release##name(type *it) { release(it, kind); }
RELEASE(Env, OrtEnv, ENV)
RELEASE(Status, OrtStatus, STATUS)
RELEASE(MemoryInfo, OrtMemoryInfo, MEMORY)
RELEASE(Session, OrtSession, SESSION)
RELEASE(Value, OrtValue, VALUE)
RELEASE(RunOptions, OrtRunOptions, RUN_OPTIONS)
RELEASE(TypeInfo, OrtTypeInfo, TYPE_INFO)
RELEASE(TensorTypeAndShapeInfo, OrtTensorInfo, TENSOR_INFO)
RELEASE(SessionOptions, OrtSessionOptions, OPTIONS)
RELEASE(PrepackedWeightsContainer, OrtPrepackedWeightsContainer, PREPACKED)

/* ---- The table ---- */

static const void *const *get_api(uint32_t version) {
  static const void *table[192];
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const char *told = getenv("FAKEORT_VERSION");
  if (told && (uint32_t)atoi(told) < version) return NULL;
  pthread_once(&once, open_state);
  const struct {
    int place;
    const void *entry;
  } entries[] = {
#define X(place, name, result, parameters) {place, (const void *)fake_##name},
      SB__ORT(X)
#undef X
  };
  for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
    table[entries[i].place] = entries[i].entry;
  return table;
}

static const char *get_version(void) {
  static char version[16];
  const char *told = getenv("FAKEORT_VERSION");
  snprintf(version, sizeof version, "1.%.8s.0", told ? told : "99");
  return version;
}

API const OrtApiBase *OrtGetApiBase(void) {
  static const OrtApiBase base = {get_api, get_version};
  return &base;
}
