/* One run: values over tensors' bytes go in and out. */
#include <string.h>

#include "onnx/onnx.h"

/* Inputs first, then outputs, each by their number; what was not added is NULL. */
struct sb__onnx_run {
  sb__onnx_session *session; /* one reference */
  OrtRunOptions *options;
  size_t inputs, outputs;
  bool borrows, is_done;
  size_t left;           /* wanted, neither given nor taken */
  sb_storage **storages; /* one reference each */
  OrtValue **values;
  enum { UNUSED, GIVEN, WANTED } * uses;
  const OrtValue **passed; /* for the call: those that are used, in a row */
  const char **names;
};

static char *carve(char **at, size_t nbytes) {
  char *here = *at;
  *at += nbytes;
  return here;
}

sb_status sb__onnx_run_new(sb__onnx_session *session, sb__onnx_run **out) {
  const size_t inputs = sb__onnx_session_count(session, false),
               outputs = sb__onnx_session_count(session, true), count = inputs + outputs;
  sb__onnx_run *r = NULL;
  const size_t each = sizeof *r->storages + sizeof *r->values + sizeof *r->passed +
                      sizeof *r->names + sizeof *r->uses;
  r = sb__alloc(sizeof *r + count * each);
  if (!r) return sb__fail(SB_ERR_MEMORY, "no memory for a run");
  memset(r, 0, sizeof *r + count * each);
  char *at = (char *)(r + 1);
  r->storages = (sb_storage **)(void *)carve(&at, count * sizeof *r->storages);
  r->values = (OrtValue **)(void *)carve(&at, count * sizeof *r->values);
  r->passed = (const OrtValue **)(void *)carve(&at, count * sizeof *r->passed);
  r->names = (const char **)(void *)carve(&at, count * sizeof *r->names);
  r->uses = (void *)carve(&at, count * sizeof *r->uses);
  r->inputs = inputs;
  r->outputs = outputs;
  r->session = sb__onnx_session_ref(session);
  const sb_status status = sb__onnx_made(sb__ort.CreateRunOptions(&r->options), &r->options);
  if (status)
    sb__onnx_run_free(r);
  else
    *out = r;
  return status;
}

void sb__onnx_run_free(sb__onnx_run *r) {
  if (!r) return;
  for (size_t i = 0; i < r->inputs + r->outputs; i++) {
    if (r->values[i]) sb__ort.ReleaseValue(r->values[i]);
    sb_storage_unref(&r->storages[i]);
  }
  if (r->options) sb__ort.ReleaseRunOptions(r->options);
  sb__onnx_session_unref(r->session);
  sb__free(r);
}

static sb_status add(sb__onnx_run *r, size_t i, const sb_tensor *t) {
  if (!sb_is_contiguous(t)) return sb__fail(SB_ERR_SHAPE, "the tensor is not row-major contiguous");
  if (r->uses[i]) return sb__fail(SB_ERR_ARGUMENT, "it was given before");
  const sb_status status = sb__onnx_value(sb_tensor_data(t), t, &r->values[i]);
  if (status) return status;
  r->uses[i] = GIVEN;
  if (t->storage->kind == SB__STORAGE_BORROWED)
    r->borrows = true;
  else
    r->storages[i] = sb_storage_ref(t->storage);
  return SB_OK;
}

static sb_status no_such(const char *what, size_t i, size_t count) {
  return sb__fail(SB_ERR_BOUNDS, "%s %zu of %zu", what, i, count);
}

sb_status sb__onnx_run_input(sb__onnx_run *r, size_t i, const sb_tensor *t) {
  return i < r->inputs ? add(r, i, t) : no_such("input", i, r->inputs);
}

sb_status sb__onnx_run_output(sb__onnx_run *r, size_t i, const sb_tensor *t) {
  if (i >= r->outputs) return no_such("output", i, r->outputs);
  if (t) return add(r, r->inputs + i, t);
  r->uses[r->inputs + i] = WANTED;
  r->left++;
  return SB_OK;
}

bool sb__onnx_run_borrows(const sb__onnx_run *r) { return r->borrows; }

size_t sb__onnx_run_left(const sb__onnx_run *r) { return r->left; }

/* Moves those that are used to the front of a row. */
static size_t gather(sb__onnx_run *r, size_t from, size_t count, bool outputs) {
  size_t n = 0;
  for (size_t i = 0; i < count; i++) {
    if (!r->uses[from + i]) continue;
    r->passed[from + n] = r->values[from + i];
    r->names[from + n++] = sb__onnx_session_name(r->session, outputs, i);
  }
  return n;
}

/* The library has written values where there were none, also where it failed later. */
static void keep_results(sb__onnx_run *r) {
  const size_t from = r->inputs;
  for (size_t i = 0, n = 0; i < r->outputs; i++)
    if (r->uses[from + i]) r->values[from + i] = (OrtValue *)(uintptr_t)r->passed[from + n++];
}

static sb_status check_results(const sb__onnx_run *r) {
  for (size_t i = 0; i < r->outputs; i++) {
    if (r->uses[r->inputs + i] && !r->values[r->inputs + i])
      return sb__fail(SB_ERR_MODEL, "onnxruntime gave no value of %s, and no error",
                      sb__onnx_session_name(r->session, true, i));
  }
  return SB_OK;
}

sb_status sb__onnx_run_perform(sb__onnx_run *r, bool quiet) {
  enum { NOTHING = 4 };
  const size_t inputs = gather(r, 0, r->inputs, false),
               outputs = gather(r, r->inputs, r->outputs, true);
  sb_status status = SB_OK;
  if (quiet) status = sb__onnx_said(sb__ort.RunOptionsSetRunLogSeverityLevel(r->options, NOTHING));
  if (status) return status;
  status = sb__onnx_said(sb__ort.Run(sb__onnx_session_ort(r->session), r->options, r->names,
                                     r->passed, inputs, r->names + r->inputs, outputs,
                                     (OrtValue **)(uintptr_t)(r->passed + r->inputs)));
  keep_results(r);
  if (!status) status = check_results(r);
  if (!status) status = sb__onnx_session_intact(r->session);
  r->is_done = !status;
  return status;
}

void sb__onnx_run_stop(sb__onnx_run *r) {
  OrtStatus *answer = sb__ort.RunOptionsSetTerminate(r->options);
  if (answer) sb__ort.ReleaseStatus(answer);
}

/* Has another value these bytes, an input's that was passed through, say? */
static bool is_shared(const sb__onnx_run *r, size_t at) {
  const char *data = sb__onnx_data(r->values[at]);
  for (size_t i = 0; i < r->inputs + r->outputs; i++)
    if (i != at && r->values[i] && sb__onnx_data(r->values[i]) == data) return true;
  return false;
}

sb_status sb__onnx_run_take(sb__onnx_run *r, size_t i, sb_tensor *out, size_t *copied) {
  const size_t at = r->inputs + i;
  if (i >= r->outputs || r->uses[at] != WANTED || !r->is_done || !r->values[at])
    return sb__fail(SB_ERR_NOT_FOUND, "there is no result %zu to be taken", i);
  const bool shared = is_shared(r, at);
  OrtValue *value = r->values[at];
  r->values[at] = NULL;
  r->left--;
  return sb__onnx_take(value, shared, out, copied);
}
