/* Work on devices that JavaScript waits for. Whoever waits is told on a later turn of the event loop by a thread of the
 * device layer's, which may be there when the environment, or the process, has ended: the office outlives its environment.
 *
 * Copies whose bytes are in use until they are over hold their storages; bytes that are JavaScript's are held by js/interop/cuda.js. An
 * environment that ends waits for its copies before anything that they use goes away. */
#include <string.h>

#include "cuda/cuda.h"
#include "node/environment.h"

enum {
  END_MS = 10000
}; /* that an environment waits for its copies at its end; a kernel may hang */

typedef struct expected {
  struct sb__desk *desk;            /* one reference */
  struct expected *next, *previous; /* of those that JavaScript has not heard the end of */
  uint32_t id;
  napi_ref done;             /* for the environment's thread only */
  sb__cuda_copying *copying; /* of a copy; NULL: something else, or it is ended */
  sb__errand *errand;        /* that a thread of its own does; NULL: something else */
  sb_storage *held[2];       /* one reference each; NULL: JavaScript's bytes */
  /* Under the desk's lock: */
  bool is_over;  /* the completion thread is done with it */
  bool is_left;  /* nobody will hear of it: the completion thread frees it */
  bool is_told;  /* JavaScript knows; a copy waits for sb__node_cuda_end */
  sb__bell bell; /* rung when it is over */
  sb_status status;
  char message[256];
} expected;

typedef struct sb__desk {
  atomic_int references;             /* by the environment and each expected */
  sb__lock lock;                     /* over what follows, and over the list */
  napi_threadsafe_function function; /* NULL: the environment has ended, or nobody ever waited */
  napi_threadsafe_function mine;     /* the same, for the environment's thread alone */
  bool is_called;                    /* function will run */
  expected *first;
  int count; /* that keep the event loop alive; the environment's thread alone changes it */
  uint32_t made;
  napi_ref collect; /* collects garbage; the environment's thread alone uses it */
} desk;

static void unref_desk(desk *d) {
  if (atomic_fetch_sub(&d->references, 1) == 1) sb__free(d);
}

/* The lock is held. */
static void leave(expected *x) {
  if (x->next) x->next->previous = x->previous;
  if (x->previous)
    x->previous->next = x->next;
  else
    x->desk->first = x->next;
}

static void free_expected(expected *x) {
  (void)sb__cuda_copy_end(&x->copying, NULL,
                          NULL); /* there is one where nobody waited for its end */
  for (int i = 0; i < 2; i++) {
    if (x->held[i]) atomic_fetch_sub(&x->held[i]->in_flight, 1);
    sb_storage_unref(&x->held[i]);
  }
  unref_desk(x->desk);
  if (x->errand) x->errand->free(x->errand);
  sb__free(x);
}

/* On the completion thread of a device. */
static void is_done(void *context, sb_status status, const char *message) {
  expected *x = context;
  desk *d = x->desk;
  sb__lock_take(&d->lock);
  x->status = status;
  if (status && message) strncpy(x->message, message, sizeof x->message - 1);
  x->is_over = true;
  sb__os_ring(&x->bell);
  const bool is_left = x->is_left;
  if (!is_left && d->function && !d->is_called) {
    d->is_called =
        napi_call_threadsafe_function(d->function, NULL, napi_tsfn_nonblocking) == napi_ok;
    if (!d->is_called) d->function = NULL; /* it is closing: the environment ends */
  }
  sb__lock_drop(&d->lock);
  if (is_left) free_expected(x);
}

/* One that is over and that nobody has heard of; NULL: there is none. What is no copy leaves the list. */
static expected *take_over(desk *d) {
  sb__lock_take(&d->lock);
  expected *x = d->first;
  while (x && (!x->is_over || x->is_told)) x = x->next;
  if (x) x->is_told = true;
  if (x && !x->copying) leave(x);
  sb__lock_drop(&d->lock);
  return x;
}

/* On the environment's thread, on a later turn; env is NULL when it is ending. */
static void tell(napi_env env, napi_value ignored, void *context, void *data) {
  sb__environment *e = context;
  (void)ignored;
  (void)data;
  if (!env) return;
  desk *d = e->cuda;
  napi_value undefined = NULL;
  napi_get_undefined(env, &undefined);
  sb__lock_take(&d->lock);
  d->is_called = false;
  sb__lock_drop(&d->lock);
  for (expected *x = take_over(d); x; x = take_over(d)) {
    napi_handle_scope scope = NULL;
    napi_value done = NULL;
    const bool is_scoped = napi_open_handle_scope(env, &scope) == napi_ok;
    if (--d->count == 0) napi_unref_threadsafe_function(env, d->mine);
    sb_status status = x->status ? sb__fail(x->status, "%s", x->message) : SB_OK;
    if (!status && x->errand) status = x->errand->tell(x->errand, e);
    sb__report(&e->binding, status);
    if (is_scoped) napi_get_reference_value(env, x->done, &done);
    napi_delete_reference(env, x->done);
    x->done = NULL;
    if (!x->copying) free_expected(x); /* what it held is let go before anybody hears of it */
    if (done) napi_call_function(env, undefined, done, 0, NULL, NULL);
    if (is_scoped) napi_close_handle_scope(env, scope);
  }
}

static bool listen(sb__environment *e) {
  desk *d = e->cuda;
  napi_value name = NULL;
  napi_threadsafe_function function = NULL;
  if (d->mine) return true;
  if (napi_create_string_utf8(e->env, "samebytes cuda", NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_threadsafe_function(e->env, NULL, NULL, name, 0, 1, NULL, NULL, e, tell,
                                      &function) != napi_ok) {
    return false;
  }
  napi_unref_threadsafe_function(e->env, function);
  d->mine = function;
  sb__lock_take(&d->lock);
  d->function = function;
  sb__lock_drop(&d->lock);
  return true;
}

/* In the list, so that whoever ends the environment finds it. NULL without memory. */
static expected *new_expected(sb__environment *e, napi_value done) {
  desk *d = e->cuda;
  expected *x = sb__alloc(sizeof *x);
  if (!x) return NULL;
  memset(x, 0, sizeof *x);
  if (!listen(e) || napi_create_reference(e->env, done, 1, &x->done) != napi_ok) {
    sb__free(x);
    return NULL;
  }
  atomic_fetch_add(&d->references, 1);
  x->desk = d;
  x->id = ++d->made;
  sb__lock_take(&d->lock);
  x->next = d->first;
  if (x->next) x->next->previous = x;
  d->first = x;
  sb__lock_drop(&d->lock);
  return x;
}

/* The completion thread has never heard of it, or is done with it. */
static void drop_expected(sb__environment *e, expected *x) {
  sb__lock_take(&e->cuda->lock);
  leave(x);
  sb__lock_drop(&e->cuda->lock);
  if (x->done) napi_delete_reference(e->env, x->done);
  x->done = NULL;
  free_expected(x);
}

static void expect(sb__environment *e) {
  if (e->cuda->count++ == 0) napi_ref_threadsafe_function(e->env, e->cuda->mine);
}

static sb_status no_memory(void) {
  return sb__fail(SB_ERR_MEMORY, "no memory to wait for a device");
}

/* ---- Errands ---- */

static void go(sb__task *task) {
  sb__errand *errand = (sb__errand *)(void *)task;
  const sb_status status = errand->run(errand);
  is_done(errand->expected, status, status ? sb_error_message() : NULL);
}

sb_status sb__run_errand(sb__environment *e, sb__errand *errand, napi_value done) {
  expected *x = new_expected(e, done);
  errand->task.run = go;
  errand->expected = x;
  if (x) x->errand = errand;
  if (x && sb__os_run_apart(&errand->task)) {
    expect(e);
    return SB_OK;
  }
  if (x)
    drop_expected(e, x); /* and the errand with it */
  else
    errand->free(errand);
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
  sb__run(b, SB__ROW_cuda_holder);
  if (b->frame[SB__FRAME_STATUS] != 0) return NULL;
  sb_storage *storage = b->operands[0].storage;
  bool already = false;
  expected *x = new_expected(e, arguments[1]);
  sb_status status = x ? SB_OK : no_memory();
  if (!status) status = when(what, storage, x, &already);
  if (x && (status || already))
    drop_expected(e, x);
  else if (x)
    expect(e);
  b->frame[SB__FRAME_RESULTS] = already;
  sb__report(b, status);
  return NULL;
}

/* ---- Copies ---- */

static void hold(expected *x, int i, const sb_tensor *t) {
  if (t->storage->kind == SB__STORAGE_BORROWED) return;
  x->held[i] = sb_storage_ref(t->storage);
  atomic_fetch_add(&x->held[i]->in_flight, 1);
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
  sb__run(b, scaled ? SB__ROW_copy_scaled_check : SB__ROW_copy_check);
  if (b->frame[SB__FRAME_STATUS] != 0) return NULL;
  const sb__copy copy = sb__copy_of(b, scaled);
  sb__cuda_copying *copying = NULL;
  expected *x = new_expected(e, arguments[1]);
  sb_status status = x ? SB_OK : no_memory();
  if (!status) {
    const sb_storage *there =
        SB__ON_DEVICE(copy.dst->storage) ? copy.dst->storage : copy.src->storage;
    hold(x, 0, copy.dst);
    hold(x, 1, copy.src);
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
    expect(e);
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
  if (wanted) sb__run(b, scaled ? SB__ROW_copy_scaled_check : SB__ROW_copy_check);
  const bool readable = wanted && b->frame[SB__FRAME_STATUS] == 0;
  sb__lock_take(&e->cuda->lock);
  expected *x = e->cuda->first;
  while (x && !(x->id == id && x->is_told && x->copying)) x = x->next;
  sb__lock_drop(&e->cuda->lock);
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
  if (!e->cuda->collect || napi_open_handle_scope(e->env, &scope) != napi_ok) return;
  napi_get_undefined(e->env, &undefined);
  if (napi_get_reference_value(e->env, e->cuda->collect, &function) == napi_ok && function &&
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

/* onFull(collect): called where a device has no memory left. */
napi_value sb__node_cuda_on_full(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  if (e->cuda->collect) napi_delete_reference(env, e->cuda->collect);
  e->cuda->collect = NULL;
  if (napi_create_reference(env, argument, 1, &e->cuda->collect) == napi_ok)
    sb__cuda_set_sweep(sweep, e);
  return NULL;
}

/* ---- The environment ---- */

bool sb__desk_begin(sb__environment *e) {
  e->cuda = sb__alloc(sizeof *e->cuda);
  if (!e->cuda) return false;
  *e->cuda = (desk){.function = NULL};
  atomic_init(&e->cuda->references, 1);
  return true;
}

/* Waits until the completion thread is done with a copy; false: it takes too long. */
static bool wait_for(desk *d, expected *x) {
  static const uint32_t nobody_writes = 0;
  int error = 0;
  sb__os_wait(&nobody_writes, 0, &x->bell, sb__os_now() + INT64_C(1000000) * END_MS, &error);
  sb__lock_take(&d->lock);
  const bool is_over = x->is_over;
  sb__lock_drop(&d->lock);
  return is_over;
}

void sb__desk_end(sb__environment *e) {
  desk *d = e->cuda;
  expected *over = NULL;
  if (d->collect) {
    sb__cuda_set_sweep(NULL, NULL);
    napi_delete_reference(e->env, d->collect);
    d->collect = NULL;
  }
  sb__lock_take(&d->lock);
  d->function = NULL;
  sb__lock_drop(&d->lock);
  for (expected *x = d->first; x; x = x->next) {
    if (x->done) napi_delete_reference(e->env, x->done);
    x->done = NULL;
    if (x->errand) x->errand->stop(x->errand);
    if (x->copying && wait_for(d, x)) {
      if (sb__cuda_copy_end(&x->copying, NULL, NULL)) continue; /* nobody is left to hear of it */
    }
  }
  sb__lock_take(&d->lock);
  for (expected *x = d->first, *next = NULL; x; x = next) {
    next = x->next;
    x->is_left = true;
    leave(x);
    if (!x->is_over) continue; /* the completion thread frees it */
    x->next = over;
    over = x;
  }
  sb__lock_drop(&d->lock);
  while (over) {
    expected *next = over->next;
    free_expected(over);
    over = next;
  }
}

void sb__desk_free(sb__environment *e) { unref_desk(e->cuda); }
