/* Work on devices that JavaScript waits for, and work that blocks. Whoever waits is told on a later turn of the event loop; the thread that
 * knows may be there when the environment, or the process, has ended.
 *
 * Copies whose bytes are in use until they are over hold their storages; bytes that are JavaScript's are held by js/backend/cuda.js. An
 * environment that ends waits for its copies before anything that they use goes away. */
#include <string.h>

#include "cuda/cuda.h"
#include "node/environment.h"

enum {
  END_MS = 10000
}; /* that an environment waits for its copies at its end; a kernel may hang */

typedef struct expected {
  sb__completion completion;        /* the first member */
  sb__completion_queue *queue;      /* one reference */
  struct expected *next, *previous; /* of those that JavaScript has not heard the end of */
  uint32_t id;
  napi_ref done;             /* for the environment's thread only */
  sb__cuda_copying *copying; /* of a copy; NULL: something else, or it is ended */
  sb__work_item *item;       /* that a thread of its own does; NULL: something else */
  sb_storage *held[2];       /* one reference each; NULL: JavaScript's bytes */
  bool is_told;              /* JavaScript knows; a copy waits for sb__node_cuda_end */
  /* By whoever knows: */
  sb_status status;
  char message[256];
  atomic_bool is_over;
  sb__event event; /* signalled when it is over */
} expected;

static expected *expected_of(sb__completion *completion) { return (expected *)(void *)completion; }

static void leave(sb__environment *e, expected *x) {
  if (x->next) x->next->previous = x->previous;
  if (x->previous)
    x->previous->next = x->next;
  else
    e->expected = x->next;
}

/* Any thread. */
static void free_expected(expected *x) {
  (void)sb__cuda_copy_end(&x->copying, NULL,
                          NULL); /* there is one where nobody waited for its end */
  for (int i = 0; i < 2; i++) sb_storage_unref(&x->held[i]);
  sb__queue_unref(x->queue);
  if (x->item) x->item->free(x->item);
  sb__free(x);
}

static void drop_completion(sb__completion *completion) { free_expected(expected_of(completion)); }

/* On the completion thread of a device. */
static void is_done(void *context, sb_status status, const char *message) {
  expected *x = context;
  x->status = status;
  if (status && message) strncpy(x->message, message, sizeof x->message - 1);
  atomic_store(&x->is_over, true);
  sb__os_signal(&x->event);
  if (!sb__queue_push(x->queue, &x->completion, false)) free_expected(x);
}

static void report_work(sb__completion *completion, sb__environment *e) {
  expected *x = expected_of(completion);
  napi_value done = NULL, undefined = NULL;
  x->is_told = true;
  if (!x->copying) leave(e, x);
  sb__queue_release_loop(e);
  sb_status status = x->status ? sb__fail(x->status, "%s", x->message) : SB_OK;
  if (!status && x->item) status = x->item->tell(x->item, e);
  sb__report(&e->binding, status);
  napi_get_undefined(e->env, &undefined);
  napi_get_reference_value(e->env, x->done, &done);
  napi_delete_reference(e->env, x->done);
  x->done = NULL;
  if (!x->copying) free_expected(x); /* what it held is let go before anybody hears of it */
  if (done) napi_call_function(e->env, undefined, done, 0, NULL, NULL);
}

/* In the list, so that whoever ends the environment finds it. NULL without memory. */
static expected *new_expected(sb__environment *e, napi_value done) {
  expected *x = sb__alloc(sizeof *x);
  if (!x) return NULL;
  memset(x, 0, sizeof *x);
  if (!sb__queue_listen(e) || napi_create_reference(e->env, done, 1, &x->done) != napi_ok) {
    sb__free(x);
    return NULL;
  }
  x->completion = (sb__completion){.tell = report_work, .drop = drop_completion};
  x->queue = sb__queue_ref(e->queue);
  x->id = ++e->expected_made;
  x->next = e->expected;
  if (x->next) x->next->previous = x;
  e->expected = x;
  return x;
}

/* The completion thread has never heard of it, or is done with it. */
static void drop_expected(sb__environment *e, expected *x) {
  leave(e, x);
  if (x->done) napi_delete_reference(e->env, x->done);
  x->done = NULL;
  free_expected(x);
}

static sb_status no_memory(void) {
  return sb__fail(SB_ERR_MEMORY, "no memory to wait for a device");
}

/* ---- Work that blocks ---- */

static void run_item(sb__task *task) {
  sb__work_item *item = (sb__work_item *)(void *)task;
  const sb_status status = item->run(item);
  is_done(item->expected, status, status ? sb_error_message() : NULL);
}

sb_status sb__run_work_item(sb__environment *e, sb__work_item *item, napi_value done) {
  expected *x = new_expected(e, done);
  item->task.run = run_item;
  item->expected = x;
  if (x) x->item = item;
  if (x && sb__os_spawn_detached(&item->task)) {
    sb__queue_hold_loop(e);
    return SB_OK;
  }
  if (x)
    drop_expected(e, x); /* and the item with it */
  else
    item->free(item);
  return sb__fail(SB_ERR_MEMORY, "there is no thread to ask another process");
}

/* ---- Waiting ---- */

enum { WHEN_READY, WHEN_STREAM, WHEN_EVENT };

static sb_status when(int what, sb_storage *storage, expected *x, bool *already) {
  sb__cuda_stream *stream = NULL;
  sb__cuda_event *event = NULL;
  sb_status status = SB_OK;
  switch (what) {
    case WHEN_STREAM:
      status = sb__cuda_stream_of(storage, &stream);
      if (status) return status;
      return sb__cuda_when(sb__cuda_stream_device(stream), stream, is_done, x, already);
    case WHEN_EVENT:
      status = sb__cuda_event_of(storage, &event);
      return status ? status : sb__cuda_when_event(event, is_done, x, already);
    default: return sb__cuda_when_ready(storage, is_done, x, already);
  }
}

/* cudaWhen(what, done): calls done on a later turn, when all is done that touched the first operand, a storage with a handle
 * (what 0), was given to that stream (1), or recorded by that event (2) so far; a failure's status is in the frame then. The
 * first result is 1 where it is done already: then done is not called. */
napi_value sb__node_cuda_when(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  sb__binding *b = &e->binding;
  const int what = (int)sb__number_of(env, arguments[0]);
  sb__run(b, SB__OPCODE_cuda_holder);
  if (b->frame[SB__FRAME_STATUS] != 0) return NULL;
  sb_storage *storage = b->operands[0].storage;
  bool already = false;
  expected *x = new_expected(e, arguments[1]);
  sb_status status = x ? SB_OK : no_memory();
  if (!status) status = when(what, storage, x, &already);
  if (x && (status || already))
    drop_expected(e, x);
  else if (x)
    sb__queue_hold_loop(e);
  b->frame[SB__FRAME_RESULTS] = already;
  sb__report(b, status);
  return NULL;
}

/* ---- Copies ---- */

static void hold_operand(expected *x, int i, const sb_tensor *t) {
  if (t->storage->kind != SB__STORAGE_BORROWED) x->held[i] = sb_storage_ref(t->storage);
}

/* cudaCopy(scaled, done): begins what row copy_check (copy_scaled_check) judges, on the stream in use; the frame has its operands.
 * The first result is a number: done is called on a later turn, and then cudaEnd(number, …) has to be. 0: all is done already. The second one:
 * bytes that were copied on the way. */
napi_value sb__node_cuda_copy(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  sb__binding *b = &e->binding;
  bool scaled = false, already = false;
  int64_t staged = 0;
  napi_get_value_bool(env, arguments[0], &scaled);
  sb__run(b, scaled ? SB__OPCODE_copy_scaled_check : SB__OPCODE_copy_check);
  if (b->frame[SB__FRAME_STATUS] != 0) return NULL;
  const sb__copy copy = sb__copy_of(b, scaled);
  sb__cuda_copying *copying = NULL;
  expected *x = new_expected(e, arguments[1]);
  sb_status status = x ? SB_OK : no_memory();
  if (!status) {
    const sb_storage *there =
        SB__ON_DEVICE(copy.dst->storage) ? copy.dst->storage : copy.src->storage;
    hold_operand(x, 0, copy.dst);
    hold_operand(x, 1, copy.src);
    status = sb__cuda_copy_begin(&copy, sb__cuda_stream_for(there->device), &copying, &staged);
  }
  if (!status && copying) {
    x->copying = copying;
    status = sb__cuda_copy_when(copying, is_done, x, &already);
    if (status || already) {
      x->copying = NULL;
      const sb_status ended =
          sb__cuda_copy_end(&copying, already && !status ? &copy : NULL, &staged);
      if (!status) status = ended;
      copying = NULL;
    }
  }
  b->frame[SB__FRAME_RESULTS] = copying ? x->id : 0;
  b->frame[SB__FRAME_RESULTS + 1] = (double)staged;
  if (x && !copying)
    drop_expected(e, x);
  else if (x)
    sb__queue_hold_loop(e);
  sb__report(b, status);
  return NULL;
}

/* cudaEnd(number, wanted, scaled): the end of a copy whose done was called. wanted: the frame has its operands, as cudaCopy had them, the
 * target's bytes where they are now; else nobody needs what is not there yet. The second result is as cudaCopy's. */
napi_value sb__node_cuda_end(napi_env env, napi_callback_info info) {
  napi_value arguments[3] = {NULL, NULL, NULL};
  sb__environment *e = sb__enter(env, info, 3, arguments);
  sb__binding *b = &e->binding;
  const double id = sb__number_of(env, arguments[0]);
  bool wanted = false, scaled = false;
  int64_t staged = 0;
  napi_get_value_bool(env, arguments[1], &wanted);
  napi_get_value_bool(env, arguments[2], &scaled);
  if (wanted) sb__run(b, scaled ? SB__OPCODE_copy_scaled_check : SB__OPCODE_copy_check);
  const bool readable = wanted && b->frame[SB__FRAME_STATUS] == 0;
  expected *x = e->expected;
  while (x && !(x->id == id && x->is_told && x->copying)) x = x->next;
  if (!x) {
    sb__report(b, sb__fail(SB_ERR_STALE, "there is no such copy"));
    return NULL;
  }
  const sb__copy copy = sb__copy_of(b, scaled);
  const sb_status ended = sb__cuda_copy_end(&x->copying, readable ? &copy : NULL, &staged);
  drop_expected(e, x);
  b->frame[SB__FRAME_RESULTS + 1] = (double)staged;
  if (readable || !wanted)
    sb__report(b, ended); /* else what was wrong with the operands is there */
  return NULL;
}

/* ---- Memory that nobody can reach ---- */

/* Calls collect(), which collects garbage and touches nothing else. */
static void collect(sb__environment *e) {
  napi_handle_scope scope = NULL;
  napi_value undefined = NULL, function = NULL, ignored = NULL;
  if (!e->collect || napi_open_handle_scope(e->env, &scope) != napi_ok) return;
  napi_get_undefined(e->env, &undefined);
  if (napi_get_reference_value(e->env, e->collect, &function) == napi_ok && function &&
      napi_call_function(e->env, undefined, function, 0, NULL, NULL) != napi_ok) {
    napi_get_and_clear_last_exception(e->env, &ignored);
  }
  napi_close_handle_scope(e->env, scope);
}

static bool sweep(void *context) {
  sb__environment *e = context;
  if (!e->env) return false;
  if (sb__drop_unreachable(e)) return true;
  collect(e);
  return sb__drop_unreachable(e);
}

/* onFull(collect): called where a device has no memory left, for as long as its caller keeps it. */
napi_value sb__node_cuda_on_full(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  if (e->collect) napi_delete_reference(env, e->collect);
  e->collect = NULL;
  if (napi_create_reference(env, argument, 0, &e->collect) == napi_ok) sb__cuda_set_sweep(sweep, e);
  return NULL;
}

/* ---- The environment ---- */

/* Waits until the completion thread is done with a copy; false: it takes too long. */
static bool wait_for(expected *x) {
  static const uint32_t nobody_writes = 0;
  int error = 0;
  sb__os_futex_wait(&nobody_writes, 0, &x->event, sb__os_now() + INT64_C(1000000) * END_MS, &error);
  return atomic_load(&x->is_over);
}

/* What is not over, or was not told, is the queue's, or its thread's, to free. */
void sb__cuda_end(sb__environment *e) {
  if (e->collect) {
    sb__cuda_set_sweep(NULL, NULL);
    napi_delete_reference(e->env, e->collect);
    e->collect = NULL;
  }
  for (expected *x = e->expected, *next = NULL; x; x = next) {
    next = x->next;
    if (x->done) napi_delete_reference(e->env, x->done);
    x->done = NULL;
    if (x->item) x->item->stop(x->item);
    if (x->copying && wait_for(x))
      (void)sb__cuda_copy_end(&x->copying, NULL, NULL); /* nobody is left to hear of it */
    if (x->is_told) free_expected(x);
  }
  e->expected = NULL;
}
