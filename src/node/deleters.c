/* Foreign memory, and deleters for it that are written in JavaScript: they run on their environment's thread, wherever the last holder of
 * the bytes was. */
#include "cuda/cuda.h"
#include "node/environment.h"

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

static SB_THREAD_LOCAL char this_thread; /* its address tells threads apart */

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
static js_deleter *new_deleter(sb__environment *e, napi_value function) {
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
napi_value sb__node_due(napi_env env, napi_callback_info info) {
  sb__environment *e = sb__enter(env, info, 0, NULL);
  return sb__number(env, e->deleters->due);
}

/* onDeleter(dispatch): dispatch(function, address) runs each deleter and catches what it throws. */
napi_value sb__node_on_deleter(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, name = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
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
napi_value sb__node_wrap(napi_env env, napi_callback_info info) {
  napi_value arguments[4] = {NULL, NULL, NULL, NULL};
  sb__environment *e = sb__enter(env, info, 4, arguments);
  void *data = (void *)(uintptr_t)sb__number_of(env, arguments[0]);
  const size_t nbytes = (size_t)sb__number_of(env, arguments[1]);
  sb_storage *storage = NULL;
  js_deleter *d = NULL;
  napi_valuetype type = napi_undefined;
  sb_status status = SB_OK;
  napi_typeof(env, arguments[2], &type);
  if (!sb__watch_reserve(e)) {
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

bool sb__deleters_begin(sb__environment *e) {
  deleter_queue *queue = sb__alloc(sizeof *queue);
  if (!queue) return false;
  *queue = (deleter_queue){.env = e->env, .thread = &this_thread};
  atomic_init(&queue->references, 1);
  e->deleters = queue;
  return true;
}

void sb__deleters_end(sb__environment *e) {
  sb__lock_take(&e->deleters->lock);
  e->deleters->function = NULL;
  for (js_deleter *d = e->deleters->first; d; d = d->next) delete_function(e->env, d);
  sb__lock_drop(&e->deleters->lock);
}

void sb__deleters_free(sb__environment *e) { unref_queue(e->deleters); }
