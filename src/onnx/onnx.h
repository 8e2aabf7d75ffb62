/* ONNX Runtime's C library over storages: sessions, runs, and the threads that they run on. Nothing here knows JavaScript. Only sb__onnx_open
 * may be called before it has succeeded once in the process. */
#ifndef SB_ONNX_H
#define SB_ONNX_H

#include "core/core.h"
#include "onnx/table.h"

/* ---- library.c ---- */

extern sb__ort_table sb__ort;

/* Opens a library, once for the process: the first one that could be opened stays, and is never released. Any thread.
 *
 * Errors  SB_ERR_UNSUPPORTED there is none at path, or it is older than 1.20 · SB_ERR_MODEL it could not begin */
sb_status sb__onnx_open(const char *path);

const char *sb__onnx_version(void); /* such as "1.30.0" */

/* What a function of the library answered, which is released. SB_ERR_MODEL with its words. */
sb_status sb__onnx_said(OrtStatus *answer);

/* All of the words of this thread's last SB_ERR_MODEL, of which sb_error_message has the beginning; and sets them, for another thread's. */
const char *sb__onnx_words(void);
void sb__onnx_set_words(const char *text);

/* The same of a function that makes something; SB_ERR_MODEL also where it made nothing.
 *
 *   at  where it puts the pointer to that */
sb_status sb__onnx_made(OrtStatus *answer, const void *at);

const OrtEnv *sb__onnx_env(void);

/* Does the library let sessions share an arena of ours? */
bool sb__onnx_has_arena(void);

/* Makes the library's value over bytes, which it neither copies nor frees. */
sb_status sb__onnx_value(void *data, const sb_tensor *layout, OrtValue **out);

/* ONNX's number of a dtype, and back; 0, -1: there is none. */
int sb__onnx_type(sb_dtype dtype);
int sb__onnx_dtype(int type);

/* Makes a tensor of a value, which is its own from here on, also on failure: over its bytes, unless results have too much of the arena already;
 * else over a copy.
 *
 *   is_shared  somebody else has these bytes: they are copied
 *   out        holds the storage's one reference
 *   copied     bytes that were copied
 *
 * Errors  SB_ERR_DTYPE we have no such dtype · SB_ERR_SHAPE too many axes · SB_ERR_UNSUPPORTED no tensor · SB_ERR_MEMORY */
sb_status sb__onnx_take(OrtValue *value, bool is_shared, sb_tensor *out, size_t *copied);

/* Where a value's bytes begin; NULL: it is no tensor. */
const void *sb__onnx_data(const OrtValue *value);

/* ---- session.c ---- */

/* A session; counted, any thread. */
typedef struct sb__onnx_session sb__onnx_session;

/* Numbers of a session's options; -1: the library's own choice. */
typedef struct sb__onnx_options {
  int32_t intra_threads, inter_threads; /* 0: the library chooses */
  int32_t is_parallel, optimization, severity, verbosity;
  bool arena, pattern;
} sb__onnx_options;

/* What makes a session of a model. The caller fills it in, and gives it to sb__onnx_load_end, whatever became of it. */
typedef struct sb__onnx_load {
  OrtSessionOptions *options;
  char *path;        /* ours; NULL: bytes */
  const void *bytes; /* which stay until sb__onnx_load_run is over */
  size_t nbytes;
  sb_storage *
      storage; /* of these bytes, the caller's reference: a session that goes on reading them takes one of its own. NULL: borrowed */
  bool goes_on_reading;
  struct sb__onnx_weight *weights;      /* what the model has in the place of its own */
  struct sb__onnx_prepacked *prepacked; /* one reference; NULL: the session has its own */
  sb__onnx_session *session;            /* after sb__onnx_load; the caller's one reference */
} sb__onnx_load;

sb_status sb__onnx_load_begin(const sb__onnx_options *options, sb__onnx_load *load);
sb_status sb__onnx_load_config(sb__onnx_load *load, const char *key, const char *value);
sb_status sb__onnx_load_extent(sb__onnx_load *load, const char *name, int64_t extent);
sb_status sb__onnx_load_save(sb__onnx_load *load, const char *path); /* the optimised model */
sb_status sb__onnx_load_log_id(sb__onnx_load *load, const char *id);

/* Has the session use a contiguous tensor's bytes in the place of the model's weight of that name, of the same dtype and shape. It holds the storage, which must
 * not be borrowed.
 *
 * Errors  SB_ERR_DTYPE · SB_ERR_SHAPE not contiguous · SB_ERR_UNSUPPORTED borrowed · SB_ERR_MODEL · SB_ERR_MEMORY */
sb_status sb__onnx_load_weight(sb__onnx_load *load, const char *name, const sb_tensor *t);

/* What kernels make of weights once, for all sessions that are loaded with it over the same ones; counted, any thread. */
typedef struct sb__onnx_prepacked sb__onnx_prepacked;
sb_status sb__onnx_prepacked_new(sb__onnx_prepacked **out);
sb__onnx_prepacked *sb__onnx_prepacked_ref(sb__onnx_prepacked *prepacked);
void sb__onnx_prepacked_unref(sb__onnx_prepacked *prepacked); /* NULL is fine */

/* Makes the session; takes long. Any thread. */
sb_status sb__onnx_load_run(sb__onnx_load *load);
void sb__onnx_load_end(sb__onnx_load *load); /* also of one that is all zero */

sb__onnx_session *sb__onnx_session_ref(sb__onnx_session *session);
void sb__onnx_session_unref(sb__onnx_session *session); /* NULL is fine */

/* SB_ERR_IO where a file of weights has lost bytes. */
sb_status sb__onnx_session_intact(const sb__onnx_session *session);

OrtSession *sb__onnx_session_ort(const sb__onnx_session *session);
size_t sb__onnx_session_count(const sb__onnx_session *session, bool outputs);
const char *sb__onnx_session_name(const sb__onnx_session *session, bool outputs, size_t i);

/* What is declared of an input or output.
 *
 *   type     ONNX's number; -1: it is no tensor, and nothing else is known
 *   ndim     axes
 *   extents  -1: open, and its name follows, which may be ""; valid until sb__onnx_info_end */
typedef struct sb__onnx_info {
  OrtTypeInfo *owner;
  int type;
  size_t ndim;
  int64_t extents[SB_MAX_DIMS];
  const char *names[SB_MAX_DIMS];
} sb__onnx_info;
sb_status sb__onnx_session_info(const sb__onnx_session *session, bool outputs, size_t i,
                                sb__onnx_info *out);
void sb__onnx_info_end(sb__onnx_info *info);

/* ---- run.c ---- */

/* One run of a session: inputs, and outputs that are given or wanted. One thread at a time, but for sb__onnx_run_stop. */
typedef struct sb__onnx_run sb__onnx_run;

/* Holds a reference to the session.
 *
 * Errors  SB_ERR_MEMORY · SB_ERR_MODEL */
sb_status sb__onnx_run_new(sb__onnx_session *session, sb__onnx_run **out);
void sb__onnx_run_free(sb__onnx_run *run); /* NULL is fine */

/* Adds input i, a contiguous tensor, or an output, to be written there. Holds the storage, unless it is borrowed: then the caller keeps the bytes
 * until the run is freed.
 *
 * Errors  SB_ERR_BOUNDS · SB_ERR_DTYPE · SB_ERR_SHAPE not contiguous · SB_ERR_MODEL */
sb_status sb__onnx_run_input(sb__onnx_run *run, size_t i, const sb_tensor *t);
sb_status sb__onnx_run_output(sb__onnx_run *run, size_t i, const sb_tensor *t); /* NULL: new */

/* Does it use bytes that are borrowed? */
bool sb__onnx_run_borrows(const sb__onnx_run *run);

/* Runs it, once. quiet: the library logs no failure. */
sb_status sb__onnx_run_perform(sb__onnx_run *run, bool quiet);

/* Any thread, while another one runs it: the run fails when the node in progress has ended. */
void sb__onnx_run_stop(sb__onnx_run *run);

/* Outputs that are neither given nor taken. */
size_t sb__onnx_run_left(const sb__onnx_run *run);

/* Takes output i of a run that went well, as sb__onnx_take. */
sb_status sb__onnx_run_take(sb__onnx_run *run, size_t i, sb_tensor *out, size_t *copied);

/* ---- pool.c ---- */

/* Work for a thread; it may take long. The first member of what somebody allocated. */
typedef struct sb__onnx_task {
  struct sb__onnx_task *next;
  void (*run)(struct sb__onnx_task *task); /* on one of the threads */
  void (*done)(
      struct sb__onnx_task *task); /* then, on the same thread: the task is its own from here on */
  enum { SB__TASK_QUEUED, SB__TASK_RUNS, SB__TASK_IS_DONE } state;
} sb__onnx_task;

/* Has the process exit without destructors while a thread is at work. Called on the main thread once, this lasts; else until the library
 * registers more destructors, and again: now as well. */
void sb__onnx_watch_exit(bool again);

/* Queues a task for one of a bounded number of threads, which do not keep the process alive. False: there is no thread. */
bool sb__onnx_submit(sb__onnx_task *task);

/* Takes a task back that has not begun. False: it has, and its run may be over. */
bool sb__onnx_withdraw(sb__onnx_task *task);

/* Waits until a task's run is over. done was not called by then, or is done's affair. */
void sb__onnx_wait(sb__onnx_task *task);

#endif
