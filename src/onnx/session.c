/* Sessions: made of a path or of bytes with options, counted, described. */
#include <string.h>

#include "ipc/map.h"
#include "onnx/onnx.h"

/* A list. */
typedef struct sb__onnx_weight {
  struct sb__onnx_weight *next;
  OrtValue *value;
  sb_storage *storage; /* one reference */
} sb__onnx_weight;

struct sb__onnx_session {
  atomic_int references;
  OrtSession *ort;
  size_t inputs, outputs;
  OrtAllocator *theirs; /* of names */
  char **names;         /* of inputs, then of outputs; the library's */
  sb__onnx_weight *weights;
  sb__onnx_prepacked *prepacked; /* one reference; NULL: none */
  sb_storage *storage; /* of the model's bytes, one reference; NULL: they are not needed any more */
};

/* ---- Loading ---- */

/* Two options have the library neither copy the bytes of its own format, nor say how long it needs them. */
sb_status sb__onnx_load_config(sb__onnx_load *load, const char *key, const char *value) {
  if (strcmp(key, "session.use_ort_model_bytes_directly") == 0 ||
      strcmp(key, "session.use_ort_model_bytes_for_initializers") == 0)
    load->goes_on_reading = true;
  return sb__onnx_said(sb__ort.AddSessionConfigEntry(load->options, key, value));
}

sb_status sb__onnx_load_extent(sb__onnx_load *load, const char *name, int64_t extent) {
  return sb__onnx_said(sb__ort.AddFreeDimensionOverrideByName(load->options, name, extent));
}

sb_status sb__onnx_load_save(sb__onnx_load *load, const char *path) {
  const void *native = sb__os_native_path(path);
  if (!native) return sb__fail(SB_ERR_MEMORY, "no memory for a path");
  const sb_status status = sb__onnx_said(sb__ort.SetOptimizedModelFilePath(load->options, native));
  sb__os_free_native_path(native);
  return status;
}

sb_status sb__onnx_load_log_id(sb__onnx_load *load, const char *id) {
  return sb__onnx_said(sb__ort.SetSessionLogId(load->options, id));
}

sb_status sb__onnx_load_begin(const sb__onnx_options *options, sb__onnx_load *load) {
  *load = (sb__onnx_load){.options = NULL};
  sb_status status = sb__onnx_made(sb__ort.CreateSessionOptions(&load->options), &load->options);
  if (status) return status;
  OrtSessionOptions *made = load->options;
  const struct {
    int32_t value;
    OrtStatus *(*set)(OrtSessionOptions *options, int value);
  } numbers[] = {
      {options->intra_threads, sb__ort.SetIntraOpNumThreads},
      {options->inter_threads, sb__ort.SetInterOpNumThreads},
      {options->is_parallel, sb__ort.SetSessionExecutionMode},
      {options->optimization, sb__ort.SetSessionGraphOptimizationLevel},
      {options->severity, sb__ort.SetSessionLogSeverityLevel},
      {options->verbosity, sb__ort.SetSessionLogVerbosityLevel},
  };
  for (size_t i = 0; !status && i < sizeof numbers / sizeof numbers[0]; i++)
    if (numbers[i].value >= 0) status = sb__onnx_said(numbers[i].set(made, numbers[i].value));
  if (!status && !options->pattern) status = sb__onnx_said(sb__ort.DisableMemPattern(made));
  if (!status && !options->arena) status = sb__onnx_said(sb__ort.DisableCpuMemArena(made));
  if (!status && options->arena && sb__onnx_has_arena())
    status = sb__onnx_load_config(load, "session.use_env_allocators", "1");
  return status;
}

/* ---- Weights of others' ---- */

static void free_weights(sb__onnx_weight *first) {
  for (sb__onnx_weight *w = first, *next = NULL; w; w = next) {
    next = w->next;
    if (w->value) sb__ort.ReleaseValue(w->value);
    sb_storage_unref(&w->storage);
    sb__free(w);
  }
}

sb_status sb__onnx_load_weight(sb__onnx_load *load, const char *name, const sb_tensor *t) {
  if (t->storage->kind == SB__STORAGE_BORROWED)
    return sb__fail(SB_ERR_UNSUPPORTED, "a session cannot keep JavaScript's bytes");
  if (!sb_is_contiguous(t)) return sb__fail(SB_ERR_SHAPE, "it is not row-major contiguous");
  sb_status status = sb__map_guard_later(t->storage);
  sb__onnx_weight *w = status ? NULL : sb__alloc(sizeof *w);
  if (status) return status;
  if (!w) return sb__fail(SB_ERR_MEMORY, "no memory for a weight");
  *w = (sb__onnx_weight){.next = load->weights, .storage = sb_storage_ref(t->storage)};
  load->weights = w;
  status = sb__onnx_value(sb_tensor_data(t), t, &w->value);
  return status ? status : sb__onnx_said(sb__ort.AddInitializer(load->options, name, w->value));
}

struct sb__onnx_prepacked {
  atomic_int references;
  OrtPrepackedWeightsContainer *container;
};

sb_status sb__onnx_prepacked_new(sb__onnx_prepacked **out) {
  sb__onnx_prepacked *p = sb__alloc(sizeof *p);
  if (!p) return sb__fail(SB_ERR_MEMORY, "no memory for prepacked weights");
  atomic_init(&p->references, 1);
  const sb_status status =
      sb__onnx_made(sb__ort.CreatePrepackedWeightsContainer(&p->container), &p->container);
  if (status)
    sb__free(p);
  else
    *out = p;
  return status;
}

sb__onnx_prepacked *sb__onnx_prepacked_ref(sb__onnx_prepacked *p) {
  if (p) atomic_fetch_add(&p->references, 1);
  return p;
}

void sb__onnx_prepacked_unref(sb__onnx_prepacked *p) {
  if (!p || atomic_fetch_sub(&p->references, 1) != 1) return;
  sb__ort.ReleasePrepackedWeightsContainer(p->container);
  sb__free(p);
}

sb_status sb__onnx_session_intact(const sb__onnx_session *s) {
  for (const sb__onnx_weight *w = s->weights; w; w = w->next) {
    const sb_status gone = sb__check_intact(sb__storage_root(w->storage));
    if (gone) return gone;
  }
  return SB_OK;
}

/* ---- Making sessions ---- */

static OrtStatus *create_of_path(const sb__onnx_load *load, const void *path, OrtSession **out) {
  if (!load->prepacked) return sb__ort.CreateSession(sb__onnx_env(), path, load->options, out);
  return sb__ort.CreateSessionWithPrepackedWeightsContainer(sb__onnx_env(), path, load->options,
                                                            load->prepacked->container, out);
}

static OrtStatus *create_of_bytes(const sb__onnx_load *load, OrtSession **out) {
  if (!load->prepacked)
    return sb__ort.CreateSessionFromArray(sb__onnx_env(), load->bytes, load->nbytes, load->options,
                                          out);
  return sb__ort.CreateSessionFromArrayWithPrepackedWeightsContainer(
      sb__onnx_env(), load->bytes, load->nbytes, load->options, load->prepacked->container, out);
}

static sb_status create_session(const sb__onnx_load *load, OrtSession **out) {
  OrtStatus *answer = NULL;
  if (load->path) {
    const void *path = sb__os_native_path(load->path);
    if (!path) return sb__fail(SB_ERR_MEMORY, "no memory for a path");
    answer = create_of_path(load, path, out);
    sb__os_free_native_path(path);
  } else {
    answer = create_of_bytes(load, out);
  }
  return sb__onnx_made(answer, out);
}

static sb_status read_names(sb__onnx_session *s) {
  sb_status status = sb__onnx_said(sb__ort.SessionGetInputCount(s->ort, &s->inputs));
  if (!status) status = sb__onnx_said(sb__ort.SessionGetOutputCount(s->ort, &s->outputs));
  if (!status)
    status = sb__onnx_made(sb__ort.GetAllocatorWithDefaultOptions(&s->theirs), &s->theirs);
  if (status) return status;
  const size_t count = s->inputs + s->outputs;
  s->names = sb__alloc((count + 1) * sizeof *s->names);
  if (!s->names) return sb__fail(SB_ERR_MEMORY, "no memory for names");
  memset(s->names, 0, (count + 1) * sizeof *s->names);
  for (size_t i = 0; !status && i < count; i++) {
    OrtStatus *answer =
        i < s->inputs
            ? sb__ort.SessionGetInputName(s->ort, i, s->theirs, &s->names[i])
            : sb__ort.SessionGetOutputName(s->ort, i - s->inputs, s->theirs, &s->names[i]);
    status = sb__onnx_made(answer, &s->names[i]);
  }
  return status;
}

/* The session is made: what it uses is its own from here on. */
static void keep_weights(sb__onnx_session *s, sb__onnx_load *load) {
  s->weights = load->weights;
  s->prepacked = load->prepacked;
  load->weights = NULL;
  load->prepacked = NULL;
  load->session = s;
}

sb_status sb__onnx_load_run(sb__onnx_load *load) {
  sb__onnx_session *s = sb__alloc(sizeof *s);
  if (!s) return sb__fail(SB_ERR_MEMORY, "no memory for a session");
  *s = (sb__onnx_session){.ort = NULL};
  atomic_init(&s->references, 1);
  sb_status status = create_session(load, &s->ort);
  if (!status) status = read_names(s);
  if (!status) { /* a file that got shorter meanwhile was read as zeros */
    s->weights = load->weights;
    status = sb__onnx_session_intact(s);
    s->weights = NULL;
  }
  if (status)
    sb__onnx_session_unref(s);
  else
    keep_weights(s, load);
  if (!status && load->goes_on_reading && load->storage) s->storage = sb_storage_ref(load->storage);
  return status;
}

void sb__onnx_load_end(sb__onnx_load *load) {
  if (load->options) sb__ort.ReleaseSessionOptions(load->options);
  sb__free(load->path);
  free_weights(load->weights);
  sb__onnx_prepacked_unref(load->prepacked);
  sb__onnx_session_unref(load->session);
  *load = (sb__onnx_load){.options = NULL};
}

/* ---- Sessions ---- */

sb__onnx_session *sb__onnx_session_ref(sb__onnx_session *s) {
  atomic_fetch_add(&s->references, 1);
  return s;
}

static void free_names(sb__onnx_session *s) {
  for (size_t i = 0; s->names && i < s->inputs + s->outputs; i++) {
    OrtStatus *answer = s->names[i] ? sb__ort.AllocatorFree(s->theirs, s->names[i]) : NULL;
    if (answer) sb__ort.ReleaseStatus(answer);
  }
  sb__free(s->names);
}

void sb__onnx_session_unref(sb__onnx_session *s) {
  if (!s || atomic_fetch_sub(&s->references, 1) != 1) return;
  free_names(s);
  if (s->ort) sb__ort.ReleaseSession(s->ort);
  free_weights(s->weights);
  sb__onnx_prepacked_unref(s->prepacked);
  sb_storage_unref(&s->storage);
  sb__free(s);
}

OrtSession *sb__onnx_session_ort(const sb__onnx_session *s) { return s->ort; }

size_t sb__onnx_session_count(const sb__onnx_session *s, bool outputs) {
  return outputs ? s->outputs : s->inputs;
}

const char *sb__onnx_session_name(const sb__onnx_session *s, bool outputs, size_t i) {
  return s->names[outputs ? s->inputs + i : i];
}

/* ---- What is declared ---- */

sb_status sb__onnx_session_info(const sb__onnx_session *s, bool outputs, size_t i,
                                sb__onnx_info *out) {
  const OrtTensorInfo *info = NULL;
  *out = (sb__onnx_info){.type = -1};
  OrtStatus *answer = outputs ? sb__ort.SessionGetOutputTypeInfo(s->ort, i, &out->owner)
                              : sb__ort.SessionGetInputTypeInfo(s->ort, i, &out->owner);
  sb_status status = sb__onnx_made(answer, &out->owner);
  if (!status) status = sb__onnx_said(sb__ort.CastTypeInfoToTensorInfo(out->owner, &info));
  if (!status && info) {
    status = sb__onnx_said(sb__ort.GetDimensionsCount(info, &out->ndim));
    if (!status && out->ndim > SB_MAX_DIMS)
      status = sb__fail(SB_ERR_SHAPE, "%s has %zu axes; %d are possible",
                        sb__onnx_session_name(s, outputs, i), out->ndim, SB_MAX_DIMS);
    if (!status) status = sb__onnx_said(sb__ort.GetDimensions(info, out->extents, out->ndim));
    if (!status) status = sb__onnx_said(sb__ort.GetSymbolicDimensions(info, out->names, out->ndim));
    if (!status) status = sb__onnx_said(sb__ort.GetTensorElementType(info, &out->type));
  }
  if (status) sb__onnx_info_end(out);
  return status;
}

void sb__onnx_info_end(sb__onnx_info *info) {
  if (info->owner) sb__ort.ReleaseTypeInfo(info->owner);
  info->owner = NULL;
}
