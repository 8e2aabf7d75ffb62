/* The library: opened once, its environment, and the arena that all sessions allocate from. */
#include <string.h>

#include "onnx/onnx.h"
#include "platform/threads.h"

sb__ort_table sb__ort;

static struct {
  sb__mutex lock;
  bool is_open;
  char version[32];
  OrtEnv *env;
  OrtMemoryInfo *host;
} library = {.lock = SB__MUTEX};

const char *sb__onnx_version(void) { return library.version; }
const OrtEnv *sb__onnx_env(void) { return library.env; }

/* They are longer than a message of ours can be. */
static SB_THREAD_LOCAL char words[4096];

const char *sb__onnx_words(void) { return words; }

void sb__onnx_set_words(const char *text) { strncpy(words, text, sizeof words - 1); }

sb_status sb__onnx_said(OrtStatus *answer) {
  if (!answer) return SB_OK;
  sb__onnx_set_words(sb__ort.GetErrorMessage(answer));
  const sb_status status = sb__fail(SB_ERR_MODEL, "%s", words);
  sb__ort.ReleaseStatus(answer);
  return status;
}

sb_status sb__onnx_made(OrtStatus *answer, const void *at) {
  const void *made = NULL;
  const sb_status status = sb__onnx_said(answer);
  memcpy(&made, at, sizeof made);
  if (status || made) return status;
  return sb__fail(SB_ERR_MODEL, "onnxruntime gave nothing, and no error");
}

/* A session's arena never shrinks, and eight sessions have eight: so all sessions use one of the environment's. Where it cannot be made (the
 * program has registered an allocator of its own, say), each has its own. */
static bool has_arena;

bool sb__onnx_has_arena(void) { return has_arena; }

enum { DEVICE_ALLOCATOR = 0, ARENA_ALLOCATOR = 1 }; /* OrtAllocatorType */
enum { DEFAULT_MEMORY = 0 };                        /* OrtMemType */

static void open_arena(void) {
  OrtMemoryInfo *what = NULL;
  sb_status status =
      sb__onnx_made(sb__ort.CreateCpuMemoryInfo(ARENA_ALLOCATOR, DEFAULT_MEMORY, &what), &what);
  if (!status) status = sb__onnx_said(sb__ort.CreateAndRegisterAllocator(library.env, what, NULL));
  has_arena = !status;
  if (what) sb__ort.ReleaseMemoryInfo(what);
}

/* ---- Opening ---- */

static void fill_table(const void *const *api) {
#define X(place, name, result, parameters) memcpy(&sb__ort.name, &api[place], sizeof api[place]);
  SB__ORT(X)
#undef X
}

static sb_status open_environment(void) {
  enum { WARNINGS = 2 };
  OrtEnv *env = NULL;
  OrtMemoryInfo *host = NULL;
  sb_status status = sb__onnx_made(sb__ort.CreateEnv(WARNINGS, "samebytes", &env), &env);
  if (!status)
    status =
        sb__onnx_made(sb__ort.CreateCpuMemoryInfo(DEVICE_ALLOCATOR, DEFAULT_MEMORY, &host), &host);
  if (status) {
    if (env) sb__ort.ReleaseEnv(env);
    return status;
  }
  library.env = env;
  library.host = host;
  open_arena();
  return SB_OK;
}

static sb_status open_library(const char *path) {
  char why[512];
  const OrtApiBase *(*base)(void) = NULL;
  void *opened = sb__os_library(path, why, sizeof why);
  if (!opened) return sb__fail(SB_ERR_UNSUPPORTED, "onnxruntime's library: %s", why);
  *(void **)&base = sb__os_symbol(opened, "OrtGetApiBase");
  if (!base) return sb__fail(SB_ERR_UNSUPPORTED, "%s is no library of onnxruntime", path);
  const void *const *api = base()->GetApi(SB__ORT_API);
  if (!api) {
    return sb__fail(SB_ERR_UNSUPPORTED, "onnxruntime %s is older than 1.%d",
                    base()->GetVersionString(), SB__ORT_API);
  }
  fill_table(api);
  strncpy(library.version, base()->GetVersionString(), sizeof library.version - 1);
  const sb_status status = open_environment();
  library.is_open = !status;
  return status;
}

sb_status sb__onnx_open(const char *path) {
  sb__mutex_take(&library.lock);
  const bool was_open = library.is_open;
  const sb_status status = was_open ? SB_OK : open_library(path);
  sb__mutex_drop(&library.lock);
  if (!status) sb__onnx_watch_exit(!was_open);
  return status;
}

/* ---- Values ---- */

static const struct {
  int type;
  sb_dtype dtype;
} types[] = {
    {1, SB_FLOAT32}, {2, SB_UINT8},   {3, SB_INT8},       {4, SB_UINT16},      {5, SB_INT16},
    {6, SB_INT32},   {7, SB_INT64},   {9, SB_BOOL},       {10, SB_FLOAT16},    {11, SB_FLOAT64},
    {12, SB_UINT32}, {13, SB_UINT64}, {14, SB_COMPLEX64}, {15, SB_COMPLEX128}, {16, SB_BFLOAT16},
};
enum { TYPES = sizeof types / sizeof types[0] };

int sb__onnx_type(sb_dtype dtype) {
  for (int i = 0; i < TYPES; i++)
    if (types[i].dtype == dtype) return types[i].type;
  return 0;
}

int sb__onnx_dtype(int type) {
  for (int i = 0; i < TYPES; i++)
    if (types[i].type == type) return (int)types[i].dtype;
  return -1;
}

sb_status sb__onnx_value(void *data, const sb_tensor *t, OrtValue **out) {
  static char nothing; /* a tensor without elements may have no address */
  const int type = sb__onnx_type(t->dtype);
  if (!type) {
    return sb__fail(SB_ERR_DTYPE, "onnxruntime has no type for %s", sb_dtype_name(t->dtype));
  }
  *out = NULL;
  OrtStatus *answer = sb__ort.CreateTensorWithDataAsOrtValue(library.host, data ? data : &nothing,
                                                             (size_t)sb_tensor_nbytes(t), t->shape,
                                                             (size_t)t->ndim, type, out);
  return sb__onnx_made(answer, out);
}

static sb_status read_layout(const OrtValue *value, sb_dtype *dtype, size_t *ndim, int64_t *shape) {
  OrtTensorInfo *info = NULL;
  int is_tensor = 0, type = 0;
  sb_status status = sb__onnx_said(sb__ort.IsTensor(value, &is_tensor));
  if (!status && !is_tensor) status = sb__fail(SB_ERR_UNSUPPORTED, "it is no tensor");
  if (!status) status = sb__onnx_made(sb__ort.GetTensorTypeAndShape(value, &info), &info);
  if (!status) status = sb__onnx_said(sb__ort.GetTensorElementType(info, &type));
  if (!status) status = sb__onnx_said(sb__ort.GetDimensionsCount(info, ndim));
  if (!status && sb__onnx_dtype(type) < 0)
    status = sb__fail(SB_ERR_DTYPE, "it is of ONNX's type %d, which is no dtype here", type);
  if (!status && *ndim > SB_MAX_DIMS)
    status = sb__fail(SB_ERR_SHAPE, "it has %zu axes; %d are possible", *ndim, SB_MAX_DIMS);
  if (!status) status = sb__onnx_said(sb__ort.GetDimensions(info, shape, *ndim));
  if (!status) *dtype = (sb_dtype)sb__onnx_dtype(type);
  if (info) sb__ort.ReleaseTensorTypeAndShapeInfo(info);
  return status;
}

/* What results that were not copied may have of the arena together: it grows by what is taken out of it, and never shrinks. */
#define MOST_TAKEN (INT64_C(64) << 20)

static atomic_int_fast64_t taken; /* bytes that results have */

typedef struct taken_value {
  OrtValue *value;
  int64_t nbytes;
} taken_value;

static void release_taken(void *data, void *context) {
  taken_value *x = context;
  (void)data;
  atomic_fetch_sub(&taken, x->nbytes);
  sb__ort.ReleaseValue(x->value);
  sb__free(x);
}

static sb_status copy_of(const sb_tensor *layout, const void *data, sb_tensor *out) {
  const sb_status status = sb_tensor_empty(layout->dtype, layout->ndim, layout->shape, out);
  const size_t nbytes = (size_t)sb_tensor_nbytes(layout);
  if (!status && nbytes) memcpy(sb_storage_data(out->storage), data, nbytes);
  return status;
}

const void *sb__onnx_data(const OrtValue *value) {
  void *data = NULL;
  OrtStatus *answer = sb__ort.GetTensorMutableData((OrtValue *)(uintptr_t)value, &data);
  if (answer) sb__ort.ReleaseStatus(answer);
  return data;
}

sb_status sb__onnx_take(OrtValue *value, bool is_shared, sb_tensor *out, size_t *copied) {
  sb_dtype dtype = SB_FLOAT32;
  size_t ndim = 0;
  int64_t shape[SB_MAX_DIMS];
  void *data = NULL;
  sb_tensor layout;
  taken_value *x = NULL;
  *copied = 0;
  sb_status status = read_layout(value, &dtype, &ndim, shape);
  if (!status) status = sb_tensor_init(NULL, dtype, (int32_t)ndim, shape, NULL, 0, &layout);
  if (!status) {
    OrtStatus *answer = sb__ort.GetTensorMutableData(value, &data);
    status = sb_tensor_nbytes(&layout) ? sb__onnx_made(answer, &data) : sb__onnx_said(answer);
  }
  if (!status) {
    const int64_t nbytes = sb_tensor_nbytes(&layout);
    const bool is_copied = is_shared || !nbytes || atomic_load(&taken) + nbytes > MOST_TAKEN;
    if (!is_copied) x = sb__alloc(sizeof *x); /* without memory it is copied, or fails there */
    if (x) {
      *x = (taken_value){value, nbytes};
      status = sb_tensor_from_blob(data, (size_t)nbytes, dtype, (int32_t)ndim, shape, NULL,
                                   release_taken, x, out);
      if (!status) {
        atomic_fetch_add(&taken, nbytes);
        return SB_OK;
      }
      sb__free(x);
    } else {
      status = copy_of(&layout, data, out);
      if (!status) *copied = (size_t)nbytes;
    }
  }
  sb__ort.ReleaseValue(value);
  return status;
}
