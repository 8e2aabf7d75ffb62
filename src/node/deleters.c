/* Foreign memory, and deleters for it that are written in JavaScript: they run on their environment's thread, wherever the last holder of
 * the bytes was. */
#include "cuda/cuda.h"
#include "node/environment.h"

/* Waits in a storage's context, then in the queue. */
typedef struct js_deleter {
  sb__completion completion;          /* the first member */
  sb__completion_queue *queue;        /* one reference */
  struct js_deleter *next, *previous; /* of those of the environment that have not run */
  napi_ref function;                  /* NULL: its environment has ended, or has called it */
  void *address;
  bool keeps_loop; /* counted in the environment's due */
  bool is_off;     /* nothing was taken over: it only goes */
} js_deleter;

static js_deleter *deleter_of(sb__completion *completion) {
  return (js_deleter *)(void *)completion;
}

/* On the environment's thread. */
static void unlist(sb__environment *e, js_deleter *d) {
  if (d->next) d->next->previous = d->previous;
  if (d->previous)
    d->previous->next = d->next;
  else
    e->deleters = d->next;
}

/* Any thread, if it is in no list; its function has been deleted, or goes with an environment that has ended. */
static void free_deleter(js_deleter *d) {
  sb__queue_unref(d->queue);
  sb__free(d);
}

static void drop_deleter(sb__completion *completion) { free_deleter(deleter_of(completion)); }

static void delete_function(napi_env env, js_deleter *d) {
  if (d->function) napi_delete_reference(env, d->function);
  d->function = NULL;
}

/* On a later turn. */
static void call_deleter(sb__completion *completion, sb__environment *e) {
  js_deleter *d = deleter_of(completion);
  napi_env env = e->env;
  napi_value address = NULL, undefined = NULL, function = NULL;
  napi_get_undefined(env, &undefined);
  napi_get_reference_value(env, d->function, &function);
  napi_create_bigint_uint64(env, (uint64_t)(uintptr_t)d->address, &address);
  delete_function(env, d);
  if (d->keeps_loop) {
    e->due--;
    sb__queue_release_loop(e);
  }
  unlist(e, d);
  free_deleter(d);
  if (function) napi_call_function(env, undefined, function, 1, &address, NULL);
}

/* On the environment's own thread. */
static js_deleter *new_deleter(sb__environment *e, napi_value function) {
  js_deleter *d = sb__queue_listen(e) ? sb__alloc(sizeof *d) : NULL;
  if (!d) return NULL;
  *d = (js_deleter){.completion = {.tell = call_deleter, .drop = drop_deleter}};
  if (napi_create_reference(e->env, function, 1, &d->function) != napi_ok) {
    sb__free(d);
    return NULL;
  }
  d->queue = sb__queue_ref(e->queue);
  d->next = e->deleters;
  if (d->next) d->next->previous = d;
  e->deleters = d;
  return d;
}

/* On the environment's own thread: nothing was taken over, or nothing will run. */
static void cancel_deleter(sb__environment *e, js_deleter *d) {
  delete_function(e->env, d);
  unlist(e, d);
  free_deleter(d);
}

/* A storage's deleter: any thread, also when the environment has long ended. */
static void queue_deleter(void *data, void *context) {
  js_deleter *d = context;
  sb__environment *e = sb__queue_owner(d->queue); /* NULL: not on its thread, or ended */
  if (d->is_off) { /* on its thread: new storages have no work under way, so their last reference ends here at once */
    cancel_deleter(e, d);
    return;
  }
  d->address = data;
  d->keeps_loop = e && d->function;
  if (d->keeps_loop) {
    e->due++;
    sb__queue_hold_loop(e);
  }
  if (!sb__queue_push(d->queue, &d->completion, false)) free_deleter(d);
}

/* due() → deleters that are queued and have not run. */
napi_value sb__node_due(napi_env env, napi_callback_info info) {
  sb__environment *e = sb__enter(env, info, 0, NULL);
  return sb__number(env, e->due);
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
    if (d) d->is_off = true; /* not taken over: the caller still has it */
    sb_storage_unref(&storage);
    d = NULL;
    goto failed;
  }
  sb__report(&e->binding, SB_OK);
  return NULL;

failed:
  if (d) cancel_deleter(e, d);
  sb__report(&e->binding, status);
  return NULL;
}

/* ---- Environment ---- */

/* Each is freed by the queue, or by whoever drops its bytes. */
void sb__deleters_end(sb__environment *e) {
  for (js_deleter *d = e->deleters; d; d = d->next) delete_function(e->env, d);
  e->deleters = NULL;
}
