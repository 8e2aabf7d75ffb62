/* The Node-API side of bind: the frame as an ArrayBuffer, the one call that serves every row, and the
 * few functions that need JavaScript objects: addresses, external ArrayBuffers, weak references,
 * deleters written in JavaScript.
 *
 * Everything belongs to one environment and is used on its thread, but for run_deleter. */
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "kernels/kernels.h"
#include "node/environment.h"
#include "ops/parallel.h"
#include "ipc/transfer.h"

/* An object that is watched without being kept: memory of V8's (to know when it is gone), or the
 * JavaScript side of a native storage (to drop its claim then). */
typedef struct watch {
  struct sb__environment *owner;
  napi_ref ref;       /* weak; NULL: the object is gone, or the entry is free */
  double handle;      /* the claim that goes with it; 0: none */
  int64_t accounted;  /* bytes that V8 was told of for it */
  uint32_t id;        /* index in environment.watches */
  uint32_t next_free; /* id + 1; 0: none */
  bool in_use;
} watch;

/* Where deleters wait for their environment. Outlives it, as foreign threads may hold storages. */
typedef struct deleter_queue {
  atomic_int references;             /* by the environment and each waiting deleter */
  sb__lock lock;                     /* over function and first */
  napi_threadsafe_function function; /* NULL: the environment has ended, or never had deleters */
  struct js_deleter *first;          /* all of its deleters that have not run */
  napi_env env;                      /* for its own thread only */
  const void *thread;                /* of the environment */
  int due;                           /* deleters queued from there; they keep its loop alive */
} deleter_queue;

typedef struct sb__environment environment;

static SB_THREAD_LOCAL char this_thread; /* its address tells threads apart */

static napi_value throw_memory(napi_env env, const char *what) {
  napi_throw_range_error(env, "ERR_MEMORY", what);
  return NULL;
}

/* ---- Calls ---- */

/* call() runs the row that the frame names, which is sooner read there than from an argument. */
static napi_value call(napi_env env, napi_callback_info info) {
  uint32_t row = 0;
  environment *e = sb__enter(env, info, 0, NULL);
  memcpy(&row, e->binding.frame + SB__FRAME_ROW, sizeof row);
  sb__run(&e->binding, row);
  return NULL; /* undefined; status and results are in the frame */
}

/* noop(integer) → integer: the yardstick of the benchmarks. */
static napi_value noop(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, result = NULL;
  int32_t x = 0;
  sb__enter(env, info, 1, &argument);
  napi_get_value_int32(env, argument, &x);
  napi_create_int32(env, x, &result);
  return result;
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

#ifdef SB_TEST
/* pressure() → bytes that V8 believes to be held outside its heap, by buffers and by what it was told. */
static napi_value pressure(napi_env env, napi_callback_info info) {
  int64_t total = 0;
  (void)info;
  napi_adjust_external_memory(env, 0, &total);
  return sb__number(env, (double)total);
}
#endif

/* address(view) → number: where its first byte is. Typed arrays only: they tell on every version of
 * Node, also over a SharedArrayBuffer. */
static napi_value address(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  void *data = NULL;
  sb__enter(env, info, 1, &argument);
  if (napi_get_typedarray_info(env, argument, NULL, NULL, &data, NULL, NULL) != napi_ok)
    data = NULL;
  return sb__number(env, (double)(uintptr_t)data);
}

enum { MAX_LOCATED = SB__FRAME_OPERANDS - SB__FRAME_RESULTS };

/* locate(buffer, ...), just allocated, up to seven: where their first bytes are becomes the results; 0 for
 * what is no ArrayBuffer. */
static napi_value locate(napi_env env, napi_callback_info info) {
  napi_value arguments[MAX_LOCATED];
  size_t count = MAX_LOCATED;
  environment *e = NULL;
  napi_get_cb_info(env, info, &count, arguments, NULL, (void **)&e);
  if (count > MAX_LOCATED) count = MAX_LOCATED;
  for (size_t i = 0; i < count; i++) {
    void *data = NULL;
    size_t nbytes = 0;
    if (napi_get_arraybuffer_info(env, arguments[i], &data, &nbytes) != napi_ok) data = NULL;
    if (data) sb__os_expect_use(data, nbytes);
    e->binding.frame[SB__FRAME_RESULTS + i] = (double)(uintptr_t)data;
  }
  return NULL;
}

/* move(to, from, nbytes): copies between addresses that do not overlap and that JavaScript vouches for. */
static napi_value move(napi_env env, napi_callback_info info) {
  napi_value arguments[3] = {NULL, NULL, NULL};
  sb__enter(env, info, 3, arguments);
  void *to = (void *)(uintptr_t)sb__number_of(env, arguments[0]);
  const void *from = (const void *)(uintptr_t)sb__number_of(env, arguments[1]);
  const size_t nbytes = (size_t)sb__number_of(env, arguments[2]);
  if (nbytes) memcpy(to, from, nbytes);
  return NULL;
}

/* ---- Weak references ---- */

static void account(environment *e, watch *w, int64_t nbytes) {
  int64_t total = 0;
  if (e->env) napi_adjust_external_memory(e->env, nbytes - w->accounted, &total);
  w->accounted = nbytes;
}

/* Idempotent: a watch has one claim, and it is dropped once. */
static void drop_claim(environment *e, watch *w) {
  const double handle = w->handle;
  w->handle = 0;
  if (handle == 0) return;
  account(e, w, 0);
  if (sb__claim_drop(&e->binding, handle)) return; /* dropped with the environment */
}

static void finalize_watched(napi_env env, void *data, void *hint) {
  watch *w = data;
  (void)hint;
  if (w->ref) napi_delete_reference(env, w->ref);
  w->ref = NULL;
  drop_claim(w->owner, w);
}

static void free_watch(environment *e, watch *w) {
  w->in_use = false;
  w->next_free = e->first_free;
  e->first_free = w->id + 1;
}

/* Sees to it that the next new_watch has one. */
static bool reserve_watch(environment *e) {
  if (e->first_free) return true;
  if (e->watch_count == e->watch_room) {
    const uint32_t room = e->watch_room ? 2 * e->watch_room : 64;
    watch **grown = sb__realloc(e->watches, room * sizeof(watch *));
    if (!grown) return false;
    e->watches = grown;
    e->watch_room = room;
  }
  watch *w = sb__alloc(sizeof *w);
  if (!w) return false;
  *w = (watch){.owner = e, .id = e->watch_count};
  e->watches[e->watch_count++] = w;
  free_watch(e, w);
  return true;
}

static watch *new_watch(environment *e) {
  if (!reserve_watch(e)) return NULL;
  watch *w = e->watches[e->first_free - 1];
  e->first_free = w->next_free;
  w->in_use = true;
  return w;
}

enum {
  FILE_PRESSURE = 65536
}; /* bytes: V8 collects after about a thousand open files that nobody closed */

enum {
  DEVICE_SHARE = 8
}; /* V8 is told of this part of a device's memory: it feels it, and does not thrash */

/* watch(object, handle) → id, or -1 without memory. handle 0: nothing goes with the object; else the results say whether its
 * storage is guarded, the number of the device that has its bytes (-1: the CPU), and whether they were made page-locked. */
static napi_value watch_object(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  environment *e = sb__enter(env, info, 2, arguments);
  const double handle = sb__number_of(env, arguments[1]);
  const sb_storage *storage = handle != 0 ? sb__claim_get(&e->binding, handle) : NULL;
  watch *w = new_watch(e);
  if (storage) {
    double *results = e->binding.frame + SB__FRAME_RESULTS;
    results[0] = storage->fault != NULL;
    results[1] = storage->device;
    results[2] = storage->kind == SB__STORAGE_PINNED;
  }
  if (!w) return sb__number(env, -1);
  w->handle = handle;
  const napi_status made =
      handle != 0 ? napi_add_finalizer(env, arguments[0], w, finalize_watched, NULL, &w->ref)
                  : napi_create_reference(env, arguments[0], 0, &w->ref);
  if (made != napi_ok) {
    w->handle = 0;
    w->ref = NULL;
    free_watch(e, w);
    return sb__number(env, -1);
  }
  if (storage && storage->kind == SB__STORAGE_HEAP) account(e, w, (int64_t)storage->nbytes);
  if (storage && storage->kind == SB__STORAGE_FILE) account(e, w, FILE_PRESSURE);
  if (storage && storage->kind == SB__STORAGE_PINNED) account(e, w, (int64_t)storage->nbytes);
  if (storage && storage->kind == SB__STORAGE_CUDA)
    account(e, w, (int64_t)(storage->nbytes / DEVICE_SHARE));
  return sb__number(env, w->id);
}

static watch *watch_of(environment *e, double id) {
  if (!(id >= 0 && id < e->watch_count)) return NULL;
  watch *w = e->watches[(uint32_t)id];
  return w->in_use ? w : NULL;
}

/* watched(id) → the object; undefined: it was collected. What JavaScript has for this, a WeakRef, would keep the object until
 * the turn of the event loop ends. */
static napi_value watched(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, object = NULL;
  environment *e = sb__enter(env, info, 1, &argument);
  watch *w = watch_of(e, sb__number_of(env, argument));
  if (w && w->ref) napi_get_reference_value(env, w->ref, &object);
  return object;
}

/* unwatch(id): the object is known to be unused; drops its claim at once. */
static napi_value unwatch(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  environment *e = sb__enter(env, info, 1, &argument);
  watch *w = watch_of(e, sb__number_of(env, argument));
  if (!w) return NULL;
  if (w->ref) napi_delete_reference(env, w->ref); /* cancels the finalizer, too */
  w->ref = NULL;
  drop_claim(e, w);
  free_watch(e, w);
  return NULL;
}

/* sweep() → ids of the objects that were collected since; drops their claims without waiting for the
 * event loop, on which V8's own finalizers depend. */
static napi_value sweep(napi_env env, napi_callback_info info) {
  environment *e = sb__enter(env, info, 0, NULL);
  napi_value ids = NULL;
  uint32_t n = 0;
  if (napi_create_array(env, &ids) != napi_ok) return NULL;
  for (uint32_t i = 0; i < e->watch_count; i++) {
    watch *w = e->watches[i];
    napi_handle_scope scope = NULL;
    napi_value object = NULL;
    if (!w->in_use) continue;
    if (napi_open_handle_scope(env, &scope) != napi_ok) break;
    if (w->ref) napi_get_reference_value(env, w->ref, &object);
    if (!object) {
      if (w->ref) napi_delete_reference(env, w->ref);
      w->ref = NULL;
      drop_claim(e, w);
      free_watch(e, w);
      napi_set_element(env, ids, n++, sb__number(env, w->id));
    }
    napi_close_handle_scope(env, scope);
  }
  return ids;
}

bool sb__drop_unreachable(sb__environment *e) {
  bool found = false;
  for (uint32_t i = 0; i < e->watch_count; i++) {
    watch *w = e->watches[i];
    napi_handle_scope scope = NULL;
    napi_value object = NULL;
    if (!w->in_use || w->handle == 0 || !w->ref) continue;
    if (napi_open_handle_scope(e->env, &scope) != napi_ok) break;
    napi_get_reference_value(e->env, w->ref, &object);
    if (!object) {
      napi_delete_reference(e->env, w->ref);
      w->ref = NULL;
      drop_claim(e, w);
      found = true;
    }
    napi_close_handle_scope(e->env, scope);
  }
  return found;
}

/* ---- External ArrayBuffers ---- */

/* A buffer over a storage. Its finalizer runs when V8 lets go of the bytes, whatever object and thread has them by then, or
 * else when the environment ends. A program can have moved them to a buffer that another thread has; so what the end
 * of a worker finalizes is given back only if the buffer that we made still had its bytes. Otherwise they are kept for
 * ever: nobody tells when the last reader is gone. That goes for a buffer, too, which V8 has collected and not yet let go of. */
typedef struct exposed {
  environment *owner;
  sb_storage *storage; /* one reference */
  napi_ref ref;        /* to the buffer, weak; NULL in the main thread */
  struct exposed *next, *previous;
  bool is_attached; /* the worker is ending, and the buffer has its bytes */
} exposed;

static void free_exposed(exposed *x) {
  if (x->next) x->next->previous = x->previous;
  if (x->previous)
    x->previous->next = x->next;
  else
    x->owner->exposed = x->next;
  sb__free(x);
}

static void finalize_exposed(napi_env env, void *data, void *hint) {
  exposed *x = hint;
  (void)data;
  if (x->ref) napi_delete_reference(env, x->ref);
  if (!x->owner->is_ending || x->is_attached) sb_storage_unref(&x->storage);
  free_exposed(x);
}

/* At the end Node detaches each buffer before it calls its finalizer, the newest one first, and before any hook of ours. So the
 * newest of all is one that nobody sees: its finalizer finds the others as programs left them. */
typedef struct tail {
  environment *owner;
  napi_ref ref;
  char byte; /* that the buffer is over */
} tail;

static void finalize_tail(napi_env env, void *data, void *hint) {
  tail *t = hint;
  environment *e = t->owner;
  (void)data;
  if (e->tail == t) {
    e->is_ending = true;
    e->tail = NULL;
    for (exposed *x = e->exposed; x; x = x->next) {
      napi_handle_scope scope = NULL;
      napi_value made = NULL;
      bool is_detached = true;
      if (napi_open_handle_scope(env, &scope) != napi_ok) break;
      if (x->ref) napi_get_reference_value(env, x->ref, &made);
      if (made) napi_is_detached_arraybuffer(env, made, &is_detached);
      x->is_attached = !is_detached;
      napi_close_handle_scope(env, scope);
    }
  }
  if (t->ref) napi_delete_reference(env, t->ref);
  sb__free(t);
}

/* Makes a buffer; is_taken: its finalizer is called sometime. A failure leaves no exception. */
static napi_status make_external(environment *e, void *data, size_t nbytes, napi_finalize finalize,
                                 void *hint, napi_value *made, bool *is_taken) {
  const napi_status status =
      napi_create_external_arraybuffer(e->env, data, nbytes, finalize, hint, made);
  bool pending = false;
  if (status != napi_ok) napi_is_exception_pending(e->env, &pending);
  if (pending) { /* ERR_BUFFER_TOO_LARGE, say: Node runs the finalizer then; our error names the way out */
    napi_value ignored = NULL;
    napi_get_and_clear_last_exception(e->env, &ignored);
  }
  *is_taken = status == napi_ok || pending;
  return status;
}

static bool renew_tail(environment *e) {
  bool is_taken = false;
  napi_value made = NULL;
  tail *t = sb__alloc(sizeof *t);
  if (!t) return false;
  *t = (tail){.owner = e};
  const napi_status status = make_external(e, &t->byte, 1, finalize_tail, t, &made, &is_taken);
  if (!is_taken) sb__free(t);
  if (status != napi_ok || napi_create_reference(e->env, made, 1, &t->ref) != napi_ok) return false;
  if (e->tail) napi_reference_unref(e->env, e->tail->ref, NULL);
  e->tail = t;
  return true;
}

static napi_status expose(environment *e, sb_storage *storage, napi_value *made) {
  bool is_taken = false;
  exposed *x = sb__alloc(sizeof *x);
  if (!x) return napi_generic_failure;
  *x = (exposed){.owner = e, .storage = sb_storage_ref(storage), .next = e->exposed};
  if (x->next) x->next->previous = x;
  e->exposed = x;
  const napi_status status =
      make_external(e, storage->data, storage->nbytes, finalize_exposed, x, made, &is_taken);
  if (!is_taken) {
    sb_storage_unref(&x->storage);
    free_exposed(x);
  }
  if (status != napi_ok || e->is_main) return status;
  /* Where these fail nobody gets the buffer, and it may be finalized at any time. */
  if (napi_create_reference(e->env, *made, 0, &x->ref) == napi_ok && renew_tail(e)) return napi_ok;
  return napi_generic_failure;
}

sb_storage *sb__exposed_at(const environment *e, const void *data, size_t nbytes) {
  const uintptr_t from = (uintptr_t)data;
  for (const exposed *x = e->exposed; x; x = x->next) {
    const uintptr_t begin = (uintptr_t)x->storage->data;
    const sb_storage *root = sb__storage_root(x->storage);
    const bool is_borrowed = root->kind == SB__STORAGE_FOREIGN && !root->deleter;
    if (from >= begin && from + nbytes <= begin + x->storage->nbytes && !is_borrowed)
      return x->storage;
  }
  return NULL;
}

/* buffer(id) → a new ArrayBuffer over the native storage of that watch, which it keeps alive until
 * it is collected itself. undefined and a status in the frame where the runtime refuses. */
static napi_value buffer(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, made = NULL;
  environment *e = sb__enter(env, info, 1, &argument);
  watch *w = watch_of(e, sb__number_of(env, argument));
  sb_storage *storage = w ? sb__claim_get(&e->binding, w->handle) : NULL;
  napi_status status = napi_no_external_buffers_allowed;
  if (!storage) {
    sb__report(&e->binding, sb__fail(SB_ERR_STALE, "the storage is not alive here"));
    return NULL;
  }
  const sb_status here = sb__check_host("the tensor", storage);
  sb__report(&e->binding, here);
  if (here) return NULL;
  if (storage->nbytes == 0) { /* V8 would make a detached one of address 0 */
    napi_create_arraybuffer(env, 0, NULL, &made);
    return made;
  }
  if (!e->no_external_buffers) status = expose(e, storage, &made);
  if (status == napi_ok) {
    /* V8 counts the bytes with the buffer from now on; those of files are no memory that it should save. Where both are
     * collected together V8 takes its count back before the watch takes ours, and newer ones end the process when the sum
     * is below zero in between: there they are counted. */
    const bool is_file = storage->kind == SB__STORAGE_MAPPED || storage->kind == SB__STORAGE_PART;
    account(e, w, is_file && e->counts_below_zero ? -(int64_t)storage->nbytes : 0);
    return made;
  }
  sb__report(&e->binding,
             sb__fail(SB_ERR_UNSUPPORTED,
                      status == napi_no_external_buffers_allowed
                          ? "this runtime allows no buffers over native memory; clone() copies"
                          : "no ArrayBuffer of %zu bytes can be made; narrow first",
                      storage->nbytes));
  return NULL;
}

/* ---- External SharedArrayBuffers ---- */

/* Of newer versions of Node than the one that this is built for; NULL where the process has none. Weak, so that the
 * loader looks it up: dlsym would ask for a newer C library. */
extern napi_status NAPI_CDECL node_api_create_external_sharedarraybuffer(
    napi_env env, void *data, size_t nbytes, void(NAPI_CDECL *finalize)(void *data, void *hint),
    void *hint, napi_value *result) __attribute__((weak, visibility("default")));

/* When the last thread dropped it, on whatever thread that is, V8's own ones included, perhaps in the middle of a
 * collection, and also when the environment that made it has long ended: no call of Node-API is allowed here. */
static void finalize_shared_buffer(void *data, void *hint) {
  sb_storage *storage = hint;
  (void)data;
  sb_storage_unref(&storage);
}

/* sharedBuffer(key) → a new SharedArrayBuffer over the storage of that parcel, of which nothing is taken. It keeps the
 * storage alive until every thread that has it let it go. undefined: there are no bytes, or the status in the frame says why.
 * V8 counts no bytes with it: they stay with the watch of who takes the parcel. */
static napi_value shared_buffer(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, made = NULL;
  environment *e = sb__enter(env, info, 1, &argument);
  sb_storage *storage = NULL;
  sb_status status = SB_OK;
  if (!node_api_create_external_sharedarraybuffer) {
    status =
        sb__fail(SB_ERR_UNSUPPORTED,
                 "this runtime makes no SharedArrayBuffer over native memory; Node 22.23.3, "
                 "24.16, 26.1 and later do; memory made with { shared: 'sab' } is one anywhere");
  } else if (e->no_external_buffers) {
    status = sb__fail(SB_ERR_UNSUPPORTED,
                      "this runtime allows no SharedArrayBuffer over native memory; memory made "
                      "with { shared: 'sab' } is one anywhere");
  } else {
    status = sb__parcel_peek(sb__number_of(env, argument), &storage);
    if (status == SB_OK && SB__ON_DEVICE(storage)) {
      status = sb__check_host("the tensor", storage);
      sb_storage_unref(&storage);
    }
  }
  if (status == SB_OK && storage->nbytes == 0) { /* nothing to keep alive, and perhaps no address */
    sb_storage_unref(&storage);
  } else if (status == SB_OK) {
    const napi_status created = node_api_create_external_sharedarraybuffer(
        env, storage->data, storage->nbytes, finalize_shared_buffer, storage, &made);
    if (created != napi_ok) { /* refused before it took anything over */
      sb_storage_unref(&storage);
      made = NULL;
      status = sb__fail(SB_ERR_UNSUPPORTED,
                        "this runtime allows no SharedArrayBuffer over native memory");
    }
  }
  sb__report(&e->binding, status);
  return made;
}

/* ---- Deleters in JavaScript ---- */

/* Waits in a storage's context, then in the queue. */
typedef struct js_deleter {
  deleter_queue *queue; /* one reference */
  struct js_deleter *next, *previous;
  napi_ref function; /* NULL: its environment has ended, or has called it */
  void *address;
  bool keeps_loop; /* counted in queue.due */
  bool is_off;     /* nothing was taken over: it only goes */
} js_deleter;

static void unref_queue(deleter_queue *queue) {
  if (atomic_fetch_sub(&queue->references, 1) == 1) sb__free(queue);
}

/* On the environment's own thread. */
static js_deleter *new_deleter(environment *e, napi_value function) {
  deleter_queue *queue = e->deleters;
  js_deleter *d = queue->function ? sb__alloc(sizeof *d) : NULL;
  if (!d) return NULL;
  *d = (js_deleter){.queue = queue};
  if (napi_create_reference(e->env, function, 1, &d->function) != napi_ok) {
    sb__free(d);
    return NULL;
  }
  atomic_fetch_add(&queue->references, 1);
  sb__lock_take(&queue->lock);
  d->next = queue->first;
  if (d->next) d->next->previous = d;
  queue->first = d;
  sb__lock_drop(&queue->lock);
  return d;
}

/* Any thread; its function has been deleted, or goes with an environment that has ended. */
static void free_deleter(js_deleter *d) {
  deleter_queue *queue = d->queue;
  sb__lock_take(&queue->lock);
  if (d->next) d->next->previous = d->previous;
  if (d->previous)
    d->previous->next = d->next;
  else
    queue->first = d->next;
  sb__lock_drop(&queue->lock);
  unref_queue(queue);
  sb__free(d);
}

static void delete_function(napi_env env, js_deleter *d) {
  if (d->function) napi_delete_reference(env, d->function);
  d->function = NULL;
}

/* A storage's deleter: any thread, also when the environment has long ended. */
static void queue_deleter(void *data, void *context) {
  js_deleter *d = context;
  deleter_queue *queue = d->queue;
  bool queued = false;
  if (d->is_off) {
    free_deleter(d);
    return;
  }
  d->address = data;
  sb__lock_take(&queue->lock);
  if (queue->function) {
    d->keeps_loop = queue->thread == &this_thread;
    if (d->keeps_loop && queue->due++ == 0) {
      napi_ref_threadsafe_function(queue->env, queue->function);
    }
    queued = napi_call_threadsafe_function(queue->function, d, napi_tsfn_nonblocking) == napi_ok;
    if (!queued && d->keeps_loop) { /* without memory, or the environment is ending */
      queue->due--;
      delete_function(queue->env, d);
    }
  }
  sb__lock_drop(&queue->lock);
  if (!queued) free_deleter(d);
}

/* On the environment's own thread, on a later turn. env is NULL when it is ending. */
static void run_deleter(napi_env env, napi_value dispatch, void *context, void *data) {
  js_deleter *d = data;
  (void)context;
  if (env) {
    napi_value arguments[2] = {NULL, NULL}, undefined = NULL;
    napi_get_undefined(env, &undefined);
    napi_get_reference_value(env, d->function, &arguments[0]);
    napi_create_bigint_uint64(env, (uint64_t)(uintptr_t)d->address, &arguments[1]);
    delete_function(env, d);
    if (d->keeps_loop && --d->queue->due == 0) {
      napi_unref_threadsafe_function(env, d->queue->function);
    }
    if (arguments[0]) napi_call_function(env, undefined, dispatch, 2, arguments, NULL);
  }
  free_deleter(d);
}

/* due() → deleters that are queued and have not run. */
static napi_value due(napi_env env, napi_callback_info info) {
  environment *e = sb__enter(env, info, 0, NULL);
  return sb__number(env, e->deleters->due);
}

/* onDeleter(dispatch): dispatch(function, address) runs each deleter and catches what it throws. */
static napi_value on_deleter(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, name = NULL;
  environment *e = sb__enter(env, info, 1, &argument);
  deleter_queue *queue = e->deleters;
  napi_create_string_utf8(env, "samebytes deleters", NAPI_AUTO_LENGTH, &name);
  if (napi_create_threadsafe_function(env, argument, NULL, name, 0, 1, NULL, NULL, NULL,
                                      run_deleter, &queue->function) == napi_ok) {
    napi_unref_threadsafe_function(env, queue->function);
  } else {
    queue->function = NULL;
  }
  return NULL;
}

/* Does a device see page-locked memory at the same address as the CPU does? */
static bool is_mapped(int64_t device, void *data) {
  CUdeviceptr address = 0;
  if (sb__cuda_enter(device)) return false;
  const CUresult result = sb__cu.cuMemHostGetDevicePointer(&address, data, 0);
  sb__cuda_leave();
  return result == 0 && address == (CUdeviceptr)(uintptr_t)data;
}

/* Foreign memory of a device, or where that is -1 of the CPU's. Page-locked memory may be told to be a device's: mapped. */
static sb_status wrap_memory(double device, void *data, size_t nbytes, js_deleter *d,
                             sb_storage **out) {
  int there = -1, kind = 0;
  if (device < 0) return sb_storage_wrap(data, nbytes, d ? queue_deleter : NULL, d, out);
  sb_status status = nbytes ? sb__cuda_pointer_device(data, (int64_t)device, &there, &kind) : SB_OK;
  if (status) return status;
  const bool is_there = kind == 1 ? is_mapped((int64_t)device, data) : kind == 2 && there == device;
  if (nbytes && !is_there) {
    return sb__fail(SB_ERR_DEVICE, "address 0x%llx is not memory of cuda:%d",
                    (unsigned long long)(uintptr_t)data, (int)device);
  }
  status = sb__cuda_storage_wrap((int64_t)device, data, nbytes, d ? queue_deleter : NULL, d, out);
  if (!status && kind == 1) sb__cuda_storage_is_mapped(*out);
  return status;
}

/* wrap(address, nbytes, deleter, device): a claim on foreign memory; its handle is the first result. device -1: the CPU's. The watch
 * that comes next is reserved: once this succeeded, nothing fails and makes the deleter run. */
static napi_value wrap(napi_env env, napi_callback_info info) {
  napi_value arguments[4] = {NULL, NULL, NULL, NULL};
  environment *e = sb__enter(env, info, 4, arguments);
  void *data = (void *)(uintptr_t)sb__number_of(env, arguments[0]);
  const size_t nbytes = (size_t)sb__number_of(env, arguments[1]);
  sb_storage *storage = NULL;
  js_deleter *d = NULL;
  napi_valuetype type = napi_undefined;
  sb_status status = SB_OK;
  napi_typeof(env, arguments[2], &type);
  if (!reserve_watch(e)) {
    status = sb__fail(SB_ERR_MEMORY, "no memory to watch a storage");
    goto failed;
  }
  if (type == napi_function) {
    d = new_deleter(e, arguments[2]);
    if (!d) {
      status = sb__fail(SB_ERR_MEMORY, "no memory for a deleter");
      goto failed;
    }
  }
  status = wrap_memory(sb__number_of(env, arguments[3]), data, nbytes, d, &storage);
  if (status) goto failed;
  status = sb__claim_new(&e->binding, storage, &e->binding.frame[SB__FRAME_RESULTS]);
  if (status) {
    if (d) { /* not taken over: the caller still has it */
      delete_function(env, d);
      d->is_off = true;
    }
    sb_storage_unref(&storage);
    d = NULL;
    goto failed;
  }
  sb__report(&e->binding, SB_OK);
  return NULL;

failed:
  if (d) {
    delete_function(env, d);
    free_deleter(d);
  }
  sb__report(&e->binding, status);
  return NULL;
}

/* ---- Environment ---- */

/* From here on no deleter of this environment runs. What exposed buffers hold is finalized by Node. */
static void end_environment(void *data) {
  environment *e = data;
  sb__lock_take(&e->deleters->lock);
  e->deleters->function = NULL;
  for (js_deleter *d = e->deleters->first; d; d = d->next) delete_function(e->env, d);
  sb__lock_drop(&e->deleters->lock);
  sb__copies_end(e);
  sb__waits_end(e);
  sb__desk_end(e);
  sb__offers_end(e);
  sb__loans_end(e);
  for (uint32_t i = 0; i < e->watch_count; i++) {
    watch *w = e->watches[i];
    if (w->ref) napi_delete_reference(e->env, w->ref);
    w->ref = NULL;
    w->handle = 0;
  }
  sb__claims_drop_all(&e->binding);
  napi_delete_reference(e->env, e->frame);
  e->env = NULL;
}

/* The last thing of an environment: its finalizers have run. */
static void free_environment(napi_env env, void *data, void *hint) {
  environment *e = data;
  (void)env;
  (void)hint;
  for (uint32_t i = 0; i < e->watch_count; i++) sb__free(e->watches[i]);
  sb__free(e->watches);
  unref_queue(e->deleters);
  sb__waits_free(e);
  sb__desk_free(e);
  sb__loans_free(e);
  sb__free(e);
}

/* Of Node; NULL: another runtime, which may end in its own order. */
extern struct uv_loop_s *uv_default_loop(void) __attribute__((weak, visibility("default")));

/* Is it the main thread's? That one ends last. */
static bool is_main(napi_env env) {
  struct uv_loop_s *loop = NULL;
  return uv_default_loop && napi_get_uv_event_loop(env, &loop) == napi_ok &&
         loop == uv_default_loop();
}

static environment *new_environment(napi_env env, napi_value *frame) {
  void *data = NULL;
  environment *e = sb__alloc(sizeof *e);
  deleter_queue *queue = sb__alloc(sizeof *queue);
  if (!e || !queue ||
      napi_create_arraybuffer(env, SB__FRAME_SIZE * sizeof(double), &data, frame) != napi_ok) {
    sb__free(e);
    sb__free(queue);
    return NULL;
  }
  memset(e, 0, sizeof *e);
  memset(queue, 0, sizeof *queue);
  atomic_init(&queue->references, 1);
  queue->env = env;
  queue->thread = &this_thread;
  e->env = env;
  e->deleters = queue;
  e->binding.frame = data;
  if (!sb__loans_begin(e)) {
    unref_queue(queue);
    sb__free(e);
    return NULL;
  }
  if (!sb__waits_begin(e)) {
    sb__loans_free(e);
    unref_queue(queue);
    sb__free(e);
    return NULL;
  }
  if (!sb__desk_begin(e)) {
    sb__waits_free(e);
    sb__loans_free(e);
    unref_queue(queue);
    sb__free(e);
    return NULL;
  }
  const napi_node_version *version = NULL;
  e->counts_below_zero = napi_get_node_version(env, &version) == napi_ok && version->major < 23;
  e->is_main = is_main(env);
  e->no_external_buffers = getenv("SAMEBYTES_NO_EXTERNAL_BUFFERS") != NULL;
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

static void keep(napi_env env, void *data, void *hint) { (void)env, (void)data, (void)hint; }

/* A window on the word that says whether there was any fault of a guarded mapping; none where the runtime refuses. */
static void give_faults(environment *e, napi_value exports) {
  napi_value faults = NULL;
  if (!e->no_external_buffers &&
      napi_create_external_arraybuffer(e->env, sb__os_faults(), sizeof(int), keep, NULL, &faults) ==
          napi_ok) {
    napi_set_named_property(e->env, exports, "faults", faults);
  }
}

NAPI_MODULE_INIT(/* napi_env env, napi_value exports */) {
  static const struct {
    const char *name;
    napi_callback function;
  } functions[] = {
      {"call", call},
      {"noop", noop},
      {"about", about},
#ifdef SB_TEST
      {"pressure", pressure},
#endif
      {"address", address},
      {"watch", watch_object},
      {"unwatch", unwatch},
      {"watched", watched},
      {"sweep", sweep},
      {"buffer", buffer},
      {"sharedBuffer", shared_buffer},
      {"wrap", wrap},
      {"onDeleter", on_deleter},
      {"due", due},
      {"locate", locate},
      {"move", move},
      {"copy", sb__node_copy},
      {"stop", sb__node_stop},
      {"wait", sb__node_wait},
      {"endWait", sb__node_end_wait},
      {"cudaWhen", sb__node_cuda_when},
      {"cudaCopy", sb__node_cuda_copy},
      {"cudaEnd", sb__node_cuda_end},
      {"onFull", sb__node_cuda_on_full},
      {"capsule", sb__node_capsule},
      {"fromCapsule", sb__node_from_capsule},
      {"onReturned", sb__node_on_returned},
      {"returned", sb__node_returned},
      {"offer", sb__node_offer},
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
  return exports;
}
