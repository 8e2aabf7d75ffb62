/* Sessions: made of a path or of bytes with options, counted, described. */
#include <string.h>

#include "onnx/onnx.h"

struct sb__onnx_session {
  atomic_int references;
  OrtSession *ort;
  size_t inputs, outputs;
  char **names;        /* of inputs, then of outputs; the library's */
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

sb_status sb__onnx_load_log_id(sb__onnx_load *load, const char *id) {
  return sb__onnx_said(sb__ort.SetSessionLogId(load->options, id));
}

sb_status sb__onnx_load_begin(const sb__onnx_options *options, sb__onnx_load *load) {
  *load = (sb__onnx_load){.options = NULL};
  sb_status status = sb__onnx_said(sb__ort.CreateSessionOptions(&load->options));
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
  /* A thread that spins takes the processor from JavaScript's. */
  if (!status) status = sb__onnx_load_config(load, "session.intra_op.allow_spinning", "0");
  if (!status) status = sb__onnx_load_config(load, "session.inter_op.allow_spinning", "0");
  return status;
}

static sb_status create_session(const sb__onnx_load *load, OrtSession **out) {
  OrtStatus *answer = NULL;
  if (load->path) {
    const void *path = sb__os_native_path(load->path);
    if (!path) return sb__fail(SB_ERR_MEMORY, "no memory for a path");
    answer = sb__ort.CreateSession(sb__onnx_env(), path, load->options, out);
    sb__os_free_native_path(path);
  } else {
    answer = sb__ort.CreateSessionFromArray(sb__onnx_env(), load->bytes, load->nbytes,
                                            load->options, out);
  }
  return sb__onnx_said(answer);
}

static sb_status read_names(sb__onnx_session *s) {
  OrtAllocator *theirs = NULL;
  sb_status status = sb__onnx_said(sb__ort.SessionGetInputCount(s->ort, &s->inputs));
  if (!status) status = sb__onnx_said(sb__ort.SessionGetOutputCount(s->ort, &s->outputs));
  if (!status) status = sb__onnx_said(sb__ort.GetAllocatorWithDefaultOptions(&theirs));
  if (status) return status;
  const size_t count = s->inputs + s->outputs;
  s->names = sb__alloc((count + 1) * sizeof *s->names);
  if (!s->names) return sb__fail(SB_ERR_MEMORY, "no memory for names");
  memset(s->names, 0, (count + 1) * sizeof *s->names);
  for (size_t i = 0; !status && i < count; i++) {
    status = sb__onnx_said(
        i < s->inputs ? sb__ort.SessionGetInputName(s->ort, i, theirs, &s->names[i])
                      : sb__ort.SessionGetOutputName(s->ort, i - s->inputs, theirs, &s->names[i]));
  }
  return status;
}

sb_status sb__onnx_load_run(sb__onnx_load *load) {
  sb__onnx_session *s = sb__alloc(sizeof *s);
  if (!s) return sb__fail(SB_ERR_MEMORY, "no memory for a session");
  *s = (sb__onnx_session){.ort = NULL};
  atomic_init(&s->references, 1);
  sb_status status = create_session(load, &s->ort);
  if (!status) status = read_names(s);
  if (status)
    sb__onnx_session_unref(s);
  else
    load->session = s;
  if (!status && load->goes_on_reading && load->storage) s->storage = sb_storage_ref(load->storage);
  return status;
}

void sb__onnx_load_end(sb__onnx_load *load) {
  if (load->options) sb__ort.ReleaseSessionOptions(load->options);
  sb__free(load->path);
  sb__onnx_session_unref(load->session);
  *load = (sb__onnx_load){.options = NULL};
}

/* ---- Sessions ---- */

sb__onnx_session *sb__onnx_session_ref(sb__onnx_session *s) {
  atomic_fetch_add(&s->references, 1);
  return s;
}

static void free_names(sb__onnx_session *s) {
  OrtAllocator *theirs = NULL;
  OrtStatus *answer = sb__ort.GetAllocatorWithDefaultOptions(&theirs);
  for (size_t i = 0; !answer && s->names && i < s->inputs + s->outputs; i++)
    if (s->names[i]) answer = sb__ort.AllocatorFree(theirs, s->names[i]);
  if (answer) sb__ort.ReleaseStatus(answer);
  sb__free(s->names);
}

void sb__onnx_session_unref(sb__onnx_session *s) {
  if (!s || atomic_fetch_sub(&s->references, 1) != 1) return;
  free_names(s);
  if (s->ort) sb__ort.ReleaseSession(s->ort);
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
  sb_status status =
      sb__onnx_said(outputs ? sb__ort.SessionGetOutputTypeInfo(s->ort, i, &out->owner)
                            : sb__ort.SessionGetInputTypeInfo(s->ort, i, &out->owner));
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
