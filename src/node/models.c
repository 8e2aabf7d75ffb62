/* Models: ONNX Runtime's sessions as externals, loads and runs on its threads (onnx/pool.c), and small runs on JavaScript's own.
 *
 * A run is made call by call, since it may have more operands than the frame has room for: begin, input and output for each, run. Its
 * results are taken likewise. JavaScript runs no code of the caller's in between. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/transfer.h"
#include "node/environment.h"
#include "onnx/onnx.h"

typedef struct model_work {
  sb__onnx_task task; /* the first member: threads get this */
  sb__completion completion;
  sb__completion_queue *queue;        /* one reference */
  struct model_work *next, *previous; /* of those that JavaScript has not heard of; its thread's */
  uint32_t id;
  napi_ref done;     /* for the environment's thread only */
  sb__onnx_run *run; /* NULL: it is a load */
  sb__onnx_load load;
  sb_storage *storage; /* of the model's bytes, one reference; NULL: borrowed, or none */
  bool borrows;        /* bytes of JavaScript's */
  bool quiet;
  int64_t took; /* nanoseconds of the thread's processor time */
  sb_status status;
  char message[1024];
  char *words; /* all of a failure of the library's; NULL: it is none, or there was no memory */
} model_work;

static model_work *work_of(sb__completion *completion) {
  return (model_work *)(void *)((char *)completion - offsetof(model_work, completion));
}

/* ---- On a thread ---- */

static void free_work(model_work *w) {
  sb__onnx_run_free(w->run);
  sb__onnx_load_end(&w->load);
  sb_storage_unref(&w->storage);
  sb__queue_unref(w->queue);
  sb__free(w->words);
  sb__free(w);
}

static void drop_work(sb__completion *completion) { free_work(work_of(completion)); }

static void run_work(sb__onnx_task *task) {
  model_work *w = (model_work *)(void *)task;
  const int64_t begun = sb__os_thread_time();
  w->status = w->run ? sb__onnx_run_perform(w->run, w->quiet) : sb__onnx_load_run(&w->load);
  w->took = sb__os_thread_time() - begun;
  if (!w->status) return;
  strncpy(w->message, sb_error_message(), sizeof w->message - 1);
  if (w->status != SB_ERR_MODEL) return;
  const size_t n = strlen(sb__onnx_words()) + 1;
  w->words = sb__alloc(n);
  if (w->words) memcpy(w->words, sb__onnx_words(), n);
}

static void finish_work(sb__onnx_task *task) {
  model_work *w = (model_work *)(void *)task;
  if (!sb__queue_push(w->queue, &w->completion, false)) free_work(w);
}

/* ---- On the environment's thread ---- */

static void leave(sb__environment *e, model_work *w) {
  if (w->next) w->next->previous = w->previous;
  if (w->previous)
    w->previous->next = w->next;
  else
    e->models = w->next;
}

static sb_status no_memory(void) { return sb__fail(SB_ERR_MEMORY, "no memory for a model"); }

/* What modelClose empties. */
typedef struct session_handle {
  sb__onnx_session *session; /* one reference; NULL: closed */
} session_handle;

static void free_handle(napi_env env, void *data, void *hint) {
  session_handle *h = data;
  (void)env;
  (void)hint;
  sb__onnx_session_unref(h->session);
  sb__free(h);
}

static sb_status handle_of(napi_env env, sb__onnx_session *session, napi_value *out) {
  session_handle *h = sb__alloc(sizeof *h);
  if (!h) return no_memory();
  h->session = sb__onnx_session_ref(session);
  if (napi_create_external(env, h, free_handle, NULL, out) == napi_ok) return SB_OK;
  free_handle(env, h, NULL);
  return no_memory();
}

/* NULL: it was closed, or is none. */
static sb__onnx_session *session_of(napi_env env, napi_value value) {
  void *data = NULL;
  if (napi_get_value_external(env, value, &data) != napi_ok || !data) return NULL;
  return ((session_handle *)data)->session;
}

static void begin_results(sb__environment *e, sb__onnx_run *run) {
  sb__onnx_run_free(e->run);
  e->run = run;
}

static void end_results(sb__environment *e) { begin_results(e, NULL); }

/* Calls done, with the frame's first result the run's time in nanoseconds, and the session of a load. What the work held is let go
 * of, but for a run's results: JavaScript takes them in done. */
static void report_work(sb__completion *completion, sb__environment *e) {
  model_work *w = work_of(completion);
  napi_value done = NULL, undefined = NULL, session = NULL;
  leave(e, w);
  sb__queue_release_loop(e);
  sb_status status = w->status ? sb__fail(w->status, "%s", w->message) : SB_OK;
  if (w->status == SB_ERR_MODEL) sb__onnx_set_words(w->words ? w->words : w->message);
  if (!status && !w->run) status = handle_of(e->env, w->load.session, &session);
  e->binding.frame[SB__FRAME_RESULTS] = (double)w->took;
  sb__report(&e->binding, status);
  napi_get_undefined(e->env, &undefined);
  napi_get_reference_value(e->env, w->done, &done);
  napi_delete_reference(e->env, w->done);
  sb__onnx_run *run = w->run;
  w->run = NULL;
  free_work(w);
  if (run && (status || !sb__onnx_run_left(run))) {
    sb__onnx_run_free(run);
    run = NULL;
  }
  if (run) begin_results(e, run);
  if (done) napi_call_function(e->env, undefined, done, 1, session ? &session : &undefined, NULL);
  if (run && e->run == run) end_results(e);
}

static model_work *new_work(sb__environment *e, napi_value done) {
  model_work *w = sb__alloc(sizeof *w);
  if (!w) return NULL;
  memset(w, 0, sizeof *w);
  if (!sb__queue_listen(e) || napi_create_reference(e->env, done, 1, &w->done) != napi_ok) {
    sb__free(w);
    return NULL;
  }
  w->task = (sb__onnx_task){.run = run_work, .done = finish_work};
  w->completion = (sb__completion){.tell = report_work, .drop = drop_work};
  w->queue = sb__queue_ref(e->queue);
  return w;
}

/* It is the pool's on success; else freed. */
static sb_status submit(sb__environment *e, model_work *w) {
  w->id = ++e->models_made;
  w->next = e->models;
  if (w->next) w->next->previous = w;
  e->models = w;
  if (sb__onnx_submit(&w->task)) {
    sb__queue_hold_loop(e);
    return SB_OK;
  }
  leave(e, w);
  napi_delete_reference(e->env, w->done);
  free_work(w);
  return sb__fail(SB_ERR_MEMORY, "there is no thread for a model");
}

/* A text of the caller's, to be freed; NULL: no memory. */
static char *text_of(napi_env env, napi_value value) {
  size_t n = 0;
  if (napi_get_value_string_utf8(env, value, NULL, 0, &n) != napi_ok) return NULL;
  char *text = sb__alloc(n + 1);
  if (text) napi_get_value_string_utf8(env, value, text, n + 1, &n);
  return text;
}

/* ---- The library ---- */

/* modelOpen(path) → the version of the library that this process uses: this one, or the first. */
napi_value sb__node_model_open(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, version = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  char *path = text_of(env, argument);
  const sb_status status = path ? sb__onnx_open(path) : no_memory();
  sb__free(path);
  sb__report(&e->binding, status);
  if (!status) napi_create_string_utf8(env, sb__onnx_version(), NAPI_AUTO_LENGTH, &version);
  return version;
}

/* ---- Loading ---- */

/* What the frame's arguments have, in the order of sb__onnx_options. */
static sb__onnx_options options_of(const sb__environment *e) {
  const double *n = e->binding.frame + SB__FRAME_ARGS;
  return (sb__onnx_options){(int32_t)n[0], (int32_t)n[1], (int32_t)n[2], (int32_t)n[3],
                            (int32_t)n[4], (int32_t)n[5], n[6] != 0,     n[7] != 0};
}

/* Applies a list of texts by threes: 'config', key, value; 'extent', name, number; 'save', path, ''; 'log', id, ''. */
static sb_status apply_texts(napi_env env, napi_value list, sb__onnx_load *load) {
  uint32_t count = 0;
  sb_status status = SB_OK;
  napi_get_array_length(env, list, &count);
  for (uint32_t i = 0; !status && i + 2 < count; i += 3) {
    char *texts[3] = {NULL, NULL, NULL};
    bool is_read = true;
    for (uint32_t k = 0; k < 3; k++) {
      napi_value value = NULL;
      napi_get_element(env, list, i + k, &value);
      texts[k] = text_of(env, value);
      is_read = is_read && texts[k];
    }
    if (!is_read)
      status = no_memory();
    else if (texts[0][0] == 'c')
      status = sb__onnx_load_config(load, texts[1], texts[2]);
    else if (texts[0][0] == 's')
      status = sb__onnx_load_save(load, texts[1]);
    else if (texts[0][0] == 'e')
      status = sb__onnx_load_extent(load, texts[1], (int64_t)strtoull(texts[2], NULL, 10));
    else
      status = sb__onnx_load_log_id(load, texts[1]);
    for (uint32_t k = 0; k < 3; k++) sb__free(texts[k]);
  }
  return status;
}

/* The model's bytes, which are the frame's first operand. */
static sb_status take_bytes(sb__environment *e, model_work *w) {
  const sb_status status = sb__read_operand(&e->binding);
  if (status) return status;
  const sb_tensor *t = &e->binding.operands[0];
  w->load.bytes = sb_tensor_data(t);
  w->load.nbytes = (size_t)sb_tensor_nbytes(t);
  w->borrows = t->storage->kind == SB__STORAGE_BORROWED;
  if (!w->borrows) w->storage = w->load.storage = sb_storage_ref(t->storage);
  return SB_OK;
}

static void end_loading(sb__environment *e) {
  model_work *w = e->loading;
  e->loading = NULL;
  if (!w) return;
  napi_delete_reference(e->env, w->done);
  free_work(w);
}

/* modelPrepare(texts, prepacked, done): what modelWeight adds to, and modelLoad loads. The frame's arguments are options' numbers; prepacked is
 * modelPrepacked's, or undefined. */
napi_value sb__node_model_prepare(napi_env env, napi_callback_info info) {
  napi_value arguments[3] = {NULL, NULL, NULL};
  sb__environment *e = sb__enter(env, info, 3, arguments);
  const sb__onnx_options options = options_of(e);
  void *prepacked = NULL;
  end_loading(e);
  e->loading = new_work(e, arguments[2]);
  sb_status status = e->loading ? sb__onnx_load_begin(&options, &e->loading->load) : no_memory();
  if (!status) status = apply_texts(env, arguments[0], &e->loading->load);
  if (!status && napi_get_value_external(env, arguments[1], &prepacked) == napi_ok)
    e->loading->load.prepacked = sb__onnx_prepacked_ref(prepacked);
  if (status) end_loading(e);
  sb__report(&e->binding, status);
  return NULL;
}

static sb_status no_load(void) { return sb__fail(SB_ERR_STALE, "no load was prepared"); }

/* modelWeight(name): the frame's first operand, in the place of the model's. */
napi_value sb__node_model_weight(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  char *name = text_of(env, argument);
  sb_status status = !name ? no_memory() : !e->loading ? no_load() : sb__read_operand(&e->binding);
  if (!status) status = sb__onnx_load_weight(&e->loading->load, name, &e->binding.operands[0]);
  sb__free(name);
  sb__report(&e->binding, status);
  return NULL;
}

/* modelLoad(path): of a path, or of the frame's first operand where that is undefined. done(session) is called on a later turn, a failure's status in the
 * frame. */
napi_value sb__node_model_load(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  napi_valuetype type = napi_undefined;
  model_work *w = e->loading;
  sb_status status = w ? SB_OK : no_load();
  napi_typeof(env, argument, &type);
  if (!status && type == napi_string) {
    w->load.path = text_of(env, argument);
    if (!w->load.path) status = no_memory();
  } else if (!status) {
    status = take_bytes(e, w);
  }
  if (status) {
    end_loading(e);
  } else {
    e->loading = NULL;
    status = submit(e, w);
  }
  sb__report(&e->binding, status);
  return NULL;
}

static void free_prepacked(napi_env env, void *data, void *hint) {
  (void)env;
  (void)hint;
  sb__onnx_prepacked_unref(data);
}

/* modelPrepacked() → what sessions over the same weights share. */
napi_value sb__node_model_prepacked(napi_env env, napi_callback_info info) {
  napi_value made = NULL;
  sb__environment *e = sb__enter(env, info, 0, NULL);
  sb__onnx_prepacked *prepacked = NULL;
  sb_status status = sb__onnx_prepacked_new(&prepacked);
  if (!status && napi_create_external(env, prepacked, free_prepacked, NULL, &made) != napi_ok) {
    sb__onnx_prepacked_unref(prepacked);
    status = no_memory();
  }
  sb__report(&e->binding, status);
  return made;
}

/* ---- Tokens ---- */

/* On its way to another thread a session is what a storage without bytes holds: the table of tokens is that of tensors. */
static void drop_session(void *data, void *session) {
  (void)data;
  sb__onnx_session_unref(session);
}

/* modelShare(session, uses): the first result is the key. */
napi_value sb__node_model_share(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  sb__onnx_session *s = session_of(env, arguments[0]);
  const double uses = sb__number_of(env, arguments[1]);
  sb_storage *holder = NULL;
  double key = 0;
  sb_status status = s ? SB_OK : sb__fail(SB_ERR_STALE, "the session was closed");
  if (!status) {
    sb__onnx_session_ref(s);
    status = sb__storage_wrap_as(SB__STORAGE_FILE, NULL, 0, drop_session, s, &holder);
    if (status) sb__onnx_session_unref(s);
  }
  if (!status) status = sb__transfer_new(holder, (int64_t)uses, &key);
  sb_storage_unref(&holder);
  e->binding.frame[SB__FRAME_RESULTS] = key;
  sb__report(&e->binding, status);
  return NULL;
}

/* modelTake(key) → the session. */
napi_value sb__node_model_take(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, made = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  const double key = sb__number_of(env, argument);
  sb_storage *holder = NULL;
  sb_status status = sb__transfer_peek(key, &holder);
  if (!status && holder->deleter != drop_session)
    status = sb__fail(SB_ERR_ARGUMENT, "the token is a tensor's");
  sb_storage_unref(&holder);
  if (!status) status = sb__transfer_take(key, &holder);
  if (!status) status = handle_of(env, holder->context, &made);
  sb_storage_unref(&holder);
  sb__report(&e->binding, status);
  return made;
}

/* modelClose(session): runs that use it still go on. */
napi_value sb__node_model_close(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  void *data = NULL;
  sb__enter(env, info, 1, &argument);
  if (napi_get_value_external(env, argument, &data) != napi_ok || !data) return NULL;
  session_handle *h = data;
  sb__onnx_session *session = h->session;
  h->session = NULL;
  sb__onnx_session_unref(session);
  return NULL;
}

/* ---- What is declared ---- */

static napi_value text_value(napi_env env, const char *text) {
  napi_value value = NULL;
  napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value);
  return value;
}

/* [name, type, extents]: numbers, or names of open ones. */
static sb_status describe_one(napi_env env, const sb__onnx_session *s, bool outputs, size_t i,
                              napi_value *out) {
  sb__onnx_info about;
  napi_value extents = NULL;
  const sb_status status = sb__onnx_session_info(s, outputs, i, &about);
  if (status) return status;
  napi_create_array_with_length(env, 3, out);
  napi_create_array_with_length(env, about.ndim, &extents);
  napi_set_element(env, *out, 0, text_value(env, sb__onnx_session_name(s, outputs, i)));
  napi_set_element(env, *out, 1, sb__number(env, about.type));
  napi_set_element(env, *out, 2, extents);
  for (size_t d = 0; d < about.ndim; d++) {
    napi_set_element(env, extents, (uint32_t)d,
                     about.extents[d] >= 0 ? sb__number(env, (double)about.extents[d])
                                           : text_value(env, about.names[d] ? about.names[d] : ""));
  }
  sb__onnx_info_end(&about);
  return SB_OK;
}

/* modelDescribe(session, outputs) → a list of [name, ONNX's type or -1, extents]. */
napi_value sb__node_model_describe(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL}, list = NULL;
  sb__environment *e = sb__enter(env, info, 2, arguments);
  const sb__onnx_session *s = session_of(env, arguments[0]);
  bool outputs = false;
  napi_get_value_bool(env, arguments[1], &outputs);
  sb_status status = s ? SB_OK : sb__fail(SB_ERR_STALE, "the session was closed");
  const size_t count = s ? sb__onnx_session_count(s, outputs) : 0;
  if (!status) napi_create_array_with_length(env, count, &list);
  for (size_t i = 0; !status && i < count; i++) {
    napi_value one = NULL;
    status = describe_one(env, s, outputs, i, &one);
    if (!status) napi_set_element(env, list, (uint32_t)i, one);
  }
  sb__report(&e->binding, status);
  return status ? NULL : list;
}

/* ---- Running ---- */

/* modelBegin(session): what modelInput and modelOutput add to, and modelRun runs. */
napi_value sb__node_model_begin(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  sb__onnx_session *s = session_of(env, argument);
  end_results(e);
  sb__report(&e->binding,
             s ? sb__onnx_run_new(s, &e->run) : sb__fail(SB_ERR_STALE, "the session was closed"));
  return NULL;
}

/* modelGiveUp(): what was begun, or has results that are left, is let go of. */
napi_value sb__node_model_give_up(napi_env env, napi_callback_info info) {
  sb__environment *e = sb__enter(env, info, 0, NULL);
  end_results(e);
  end_loading(e);
  return NULL;
}

static sb_status no_run(void) { return sb__fail(SB_ERR_STALE, "no run was begun"); }

/* A step of a run: where one fails there are no more, and what the run held is let go of. */
static void report_step(sb__environment *e, sb_status status) {
  if (status) end_results(e);
  sb__report(&e->binding, status);
}

/* modelInput(i): the frame's first operand. */
napi_value sb__node_model_input(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  const size_t i = (size_t)sb__number_of(env, argument);
  sb_status status = e->run ? sb__read_operand(&e->binding) : no_run();
  if (!status) status = sb__onnx_run_input(e->run, i, &e->binding.operands[0]);
  report_step(e, status);
  return NULL;
}

/* modelOutput(i, given): into the frame's first operand, or to be taken by modelResult. */
napi_value sb__node_model_output(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  const size_t i = (size_t)sb__number_of(env, arguments[0]);
  bool given = false;
  napi_get_value_bool(env, arguments[1], &given);
  sb_status status = !e->run ? no_run() : given ? sb__read_operand(&e->binding) : SB_OK;
  if (!status) status = sb__onnx_run_output(e->run, i, given ? &e->binding.operands[0] : NULL);
  report_step(e, status);
  return NULL;
}

static sb_status begin_run(sb__environment *e, bool quiet, napi_value done) {
  model_work *w = new_work(e, done);
  if (!w) return no_memory();
  w->run = e->run;
  e->run = NULL;
  w->borrows = sb__onnx_run_borrows(w->run);
  w->quiet = quiet;
  const uint32_t id = e->models_made + 1;
  const sb_status status = submit(e, w);
  if (!status) e->binding.frame[SB__FRAME_RESULTS] = id;
  return status;
}

static sb_status run_here(sb__environment *e, bool quiet) {
  const int64_t begun = sb__os_thread_time();
  const sb_status status = sb__onnx_run_perform(e->run, quiet);
  e->binding.frame[SB__FRAME_RESULTS] = (double)(sb__os_thread_time() - begun);
  if (!status && !sb__onnx_run_left(e->run)) end_results(e);
  return status;
}

/* modelRun(quiet, done): on a thread; done is called on a later turn, as of modelLoad, and may take results. Without done, at once on this
 * thread: the first result is its processor time in nanoseconds, and results may be taken. */
napi_value sb__node_model_run(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  napi_valuetype type = napi_undefined;
  bool quiet = false;
  napi_get_value_bool(env, arguments[0], &quiet);
  napi_typeof(env, arguments[1], &type);
  sb_status status = !e->run                 ? no_run()
                     : type == napi_function ? begin_run(e, quiet, arguments[1])
                                             : run_here(e, quiet);
  report_step(e, status);
  return NULL;
}

/* modelWords(): all that the library said where ERR_MODEL was just reported. */
napi_value sb__node_model_words(napi_env env, napi_callback_info info) {
  (void)info;
  return text_value(env, sb__onnx_words());
}

/* modelStop(id): done is called as ever; of a run that has begun, when the node in progress has ended. */
napi_value sb__node_model_stop(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  const double id = sb__number_of(env, argument);
  for (model_work *w = e->models; w; w = w->next)
    if (w->id == id && w->run) sb__onnx_run_stop(w->run);
  return NULL;
}

/* modelResult(i): output i as a layout and a storage in the frame; behind the storage's three results is how many bytes were copied. */
napi_value sb__node_model_result(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  sb__binding *b = &e->binding;
  const size_t i = (size_t)sb__number_of(env, argument);
  size_t copied = 0;
  sb_tensor *t = &b->operands[0];
  sb_status status = e->run ? sb__onnx_run_take(e->run, i, t, &copied) : no_run();
  if (!status) {
    status = sb__write_layout(b);
    if (!status) status = sb__claim_result(b, t->storage);
    if (status) sb_tensor_release(t);
  }
  b->frame[SB__FRAME_RESULTS + 3] = (double)copied;
  if (!status && !sb__onnx_run_left(e->run)) end_results(e);
  report_step(e, status);
  return NULL;
}

void sb__models_end(sb__environment *e) {
  end_results(e);
  end_loading(e);
  if (e->models) sb__onnx_watch_exit(true); /* work may go on, and the process exit next */
  for (model_work *w = e->models; w; w = w->next) {
    napi_delete_reference(e->env, w->done);
    w->done = NULL;
    if (w->run) sb__onnx_run_stop(w->run);
  }
  for (model_work *w = e->models, *next = NULL; w; w = next) {
    next = w->next;
    if (sb__onnx_withdraw(&w->task))
      free_work(w);
    else if (w->borrows)
      sb__onnx_wait(&w->task); /* the queue, or its thread, frees it */
  }
  e->models = NULL;
}
