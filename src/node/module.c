/* The module: the frame as an ArrayBuffer, the one call that serves every row, the functions that need JavaScript objects, and an
 * environment's begin and end. */
#include <string.h>

#include "kernels/kernels.h"
#include "node/environment.h"
#include "ops/parallel.h"

typedef struct sb__environment environment;

static napi_value throw_memory(napi_env env, const char *what) {
  napi_throw_range_error(env, "ERR_MEMORY", what);
  return NULL;
}

/* ---- Calls ---- */

/* call() runs the row that the frame names, which is sooner read there than from an argument. */
static napi_value call_row(napi_env env, napi_callback_info info) {
  uint32_t opcode = 0;
  environment *e = sb__enter(env, info, 0, NULL);
  memcpy(&opcode, e->binding.frame + SB__FRAME_ROW, sizeof opcode);
  sb__run(&e->binding, opcode);
  return NULL; /* undefined; status and results are in the frame */
}

/* about() → [instruction set of the kernels, threads of a large copy]. */
static napi_value about(napi_env env, napi_callback_info info) {
  napi_value result = NULL, level = NULL;
  (void)info;
  if (napi_create_array_with_length(env, 2, &result) != napi_ok) return NULL;
  napi_create_string_utf8(env, sb__kernels_now()->level, NAPI_AUTO_LENGTH, &level);
  napi_set_element(env, result, 0, level);
  napi_set_element(env, result, 1, sb__number(env, sb__threads_now()));
  return result;
}

/* abilities() → an object with those of sb__abilities that the system has. */
static napi_value abilities(napi_env env, napi_callback_info info) {
  const sb__abilities has = sb__os_abilities();
  const struct {
    const char *name;
    bool value;
  } flags[] = {
      {"unnamedFiles", has.unnamed_files},
      {"sealedMemory", has.sealed_memory},
      {"descriptorPaths", has.descriptor_paths},
      {"processStartTimes", has.process_start_times},
      {"futexes", has.futexes},
      {"namesIgnoreCase", has.names_ignore_case},
  };
  napi_value result = NULL, value = NULL;
  (void)info;
  if (napi_create_object(env, &result) != napi_ok) return NULL;
  for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
    napi_get_boolean(env, flags[i].value, &value);
    napi_set_named_property(env, result, flags[i].name, value);
  }
  if (has.segments &&
      napi_create_string_utf8(env, has.segments, NAPI_AUTO_LENGTH, &value) == napi_ok)
    napi_set_named_property(env, result, "segments", value);
  return result;
}

/* setDefault(name, value) of a variable of the process' environment: in a worker process.env is a copy. */
static napi_value set_default(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  char name[64] = "", value[64] = "";
  sb__enter(env, info, 2, arguments);
  if (napi_get_value_string_utf8(env, arguments[0], name, sizeof name, NULL) == napi_ok &&
      napi_get_value_string_utf8(env, arguments[1], value, sizeof value, NULL) == napi_ok &&
      name[0])
    sb__os_set_default(name, value);
  return NULL;
}

#ifdef SB_TEST
/* pressure() → bytes that V8 believes to be held outside its heap, by buffers and by what it was told. */
static napi_value pressure(napi_env env, napi_callback_info info) {
  int64_t total = 0;
  (void)info;
  napi_adjust_external_memory(env, 0, &total);
  return sb__number(env, (double)total);
}
#endif

/* ---- Environment ---- */

/* From here on no deleter of this environment runs. Buffers are finalized before this or after it, as the runtime has it. */
static void end_environment(void *data) {
  environment *e = data;
  sb__deleters_end(e);
  sb__offloads_end(e);
  sb__waits_end(e);
  sb__models_end(e);
  sb__cuda_end(e);
  sb__offers_end(e);
  sb__pins_end(e);
  sb__queue_end(e);
  sb__watches_end(e);
  sb__claims_drop_all(&e->binding);
  napi_delete_reference(e->env, e->frame);
  e->env = NULL;
}

/* The last thing of an environment: what it watched is finalized, or will not be any more. Buffers may be later. */
static void free_environment(napi_env env, void *data, void *hint) {
  environment *e = data;
  (void)env;
  (void)hint;
  sb__watches_free(e);
  sb__buffers_end(e);
  sb__queue_unref(e->queue);
  sb__free(e);
}

/* Does its end finalize buffers whose bytes another thread may have? Node's and Bun's do, except for the main thread's, which ends
 * last. */
static bool finalizes_moved(napi_env env) {
  const napi_node_version *version = NULL;
  struct uv_loop_s *loop = NULL, *(*default_loop)(void) = NULL;
  if (napi_get_node_version(env, &version) == napi_ok && strcmp(version->release, "node") != 0)
    return false;
  *(void **)&default_loop = sb__os_host_symbol("uv_default_loop");
  return !(default_loop && napi_get_uv_event_loop(env, &loop) == napi_ok && loop == default_loop());
}

static environment *new_environment(napi_env env, napi_value *frame) {
  void *data = NULL;
  environment *e = sb__alloc(sizeof *e);
  if (!e ||
      napi_create_arraybuffer(env, SB__FRAME_SIZE * sizeof(double), &data, frame) != napi_ok) {
    sb__free(e);
    return NULL;
  }
  memset(e, 0, sizeof *e);
  e->env = env;
  e->binding.frame = data;
  if (!sb__buffers_begin(e)) {
    sb__free(e);
    return NULL;
  }
  if (!sb__queue_begin(e)) {
    sb__buffers_end(e);
    sb__free(e);
    return NULL;
  }
  sb__waits_begin();
  const napi_node_version *version = NULL;
  e->counts_below_zero = napi_get_node_version(env, &version) == napi_ok && version->major < 23;
  e->finalizes_moved = finalizes_moved(env);
  e->no_external_buffers =
      sb__os_environment("SAMEBYTES_NO_EXTERNAL_BUFFERS") != NULL; /* for tests */
  if (napi_set_instance_data(env, e, free_environment, NULL) != napi_ok) {
    free_environment(env, e, NULL);
    return NULL;
  }
  /* From here on e goes with its environment, whatever else fails. */
  if (napi_create_reference(env, *frame, 1, &e->frame) != napi_ok ||
      napi_add_env_cleanup_hook(env, end_environment, e) != napi_ok) {
    return NULL;
  }
  return e;
}

static void keep_record(napi_env env, void *data, void *hint) { (void)env, (void)data, (void)hint; }

/* A window on the word that says whether there was any fault of a guarded mapping; none where the runtime refuses. */
static void give_faults(environment *e, napi_value exports) {
  napi_value faults = NULL;
  if (!e->no_external_buffers &&
      napi_create_external_arraybuffer(e->env, sb__os_faults(), sizeof(int), keep_record, NULL,
                                       &faults) == napi_ok) {
    napi_set_named_property(e->env, exports, "faults", faults);
  }
}

NAPI_MODULE_INIT(/* napi_env env, napi_value exports */) {
  static const struct {
    const char *name;
    napi_callback function;
  } functions[] = {
      {"call", call_row},
      {"about", about},
      {"setDefault", set_default},
      {"abilities", abilities},
#ifdef SB_TEST
      {"pressure", pressure},
#endif
      {"address", sb__node_address},
      {"watch", sb__node_watch},
      {"account", sb__node_account},
      {"unwatch", sb__node_unwatch},
      {"watched", sb__node_watched},
      {"sweep", sb__node_sweep},
      {"buffer", sb__node_buffer},
      {"sharedBuffer", sb__node_shared_buffer},
      {"wrap", sb__node_wrap},
      {"due", sb__node_due},
      {"locate", sb__node_locate},
      {"move", sb__node_move},
      {"copy", sb__node_copy},
      {"compute", sb__node_compute},
      {"stop", sb__node_stop},
      {"wait", sb__node_wait},
      {"endWait", sb__node_end_wait},
      {"modelOpen", sb__node_model_open},
      {"modelPrepare", sb__node_model_prepare},
      {"modelWeight", sb__node_model_weight},
      {"modelPrepacked", sb__node_model_prepacked},
      {"modelShare", sb__node_model_share},
      {"modelTake", sb__node_model_take},
      {"modelLoad", sb__node_model_load},
      {"modelDescribe", sb__node_model_describe},
      {"modelClose", sb__node_model_close},
      {"modelBegin", sb__node_model_begin},
      {"modelGiveUp", sb__node_model_give_up},
      {"modelInput", sb__node_model_input},
      {"modelOutput", sb__node_model_output},
      {"modelRun", sb__node_model_run},
      {"modelWords", sb__node_model_words},
      {"modelStop", sb__node_model_stop},
      {"modelResult", sb__node_model_result},
      {"segmentPublish", sb__node_segment_publish},
      {"segmentOwn", sb__node_segment_own},
      {"segmentForget", sb__node_segment_forget},
      {"segmentUnlink", sb__node_segment_unlink},
      {"segmentIsThere", sb__node_segment_is_there},
      {"segmentNameFault", sb__node_segment_name_fault},
      {"segmentPath", sb__node_segment_path},
      {"segmentIsRing", sb__node_segment_is_ring},
      {"segmentList", sb__node_segment_list},
      {"segmentSweep", sb__node_segment_sweep},
      {"ringRemoveHalf", sb__node_ring_remove_half},
      {"cudaWhen", sb__node_cuda_when},
      {"cudaCopy", sb__node_cuda_copy},
      {"cudaEnd", sb__node_cuda_end},
      {"onFull", sb__node_cuda_on_full},
      {"capsule", sb__node_capsule},
      {"fromCapsule", sb__node_from_capsule},
      {"onReturned", sb__node_on_returned},
      {"returned", sb__node_returned},
      {"offer", sb__node_offer},
      {"core", sb__node_core},
      {"vramNew", sb__node_vram_new},
      {"vramShare", sb__node_vram_share},
      {"vramUnshare", sb__node_vram_unshare},
      {"vramHeld", sb__node_vram_held},
      {"vramOpen", sb__node_vram_open},
  };
  napi_value frame = NULL, tables = NULL;
  environment *e = new_environment(env, &frame);
  if (!e) return throw_memory(env, "samebytes: no memory for an environment");
  napi_create_string_utf8(env, sb__tables(), NAPI_AUTO_LENGTH, &tables);
  napi_set_named_property(env, exports, "frame", frame);
  napi_set_named_property(env, exports, "tables", tables);
  give_faults(e, exports);
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    napi_value function = NULL;
    if (napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function, e,
                             &function) != napi_ok) {
      return throw_memory(env, "samebytes: no memory for its functions");
    }
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  /* Now, as it runs async hooks of the caller's: later the call buffer may be in use. */
  (void)sb__queue_listen(e);
  return exports;
}
