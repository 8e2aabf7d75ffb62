/* Bytes that native code has for a while: V8's, the caller's, or a native storage's. What is pinned is a storage that native code
 * holds by references; when the last one is dropped, on any thread, JavaScript hears the number, and lets go of what it held under it. */
#include "node/environment.h"

enum { MOST_AT_ONCE = 512 }; /* numbers that fit the frame's ARGS */

typedef struct pin {
  sb__completion completion;   /* the first member */
  sb__completion_queue *queue; /* one reference */
  sb_storage *base;            /* one reference; NULL: the bytes are JavaScript's */
  sb_storage *kept; /* one reference to what is under JavaScript's buffer, if that is native */
  uint32_t number;
} pin;

static pin *pin_at(sb__completion *completion) { return (pin *)(void *)completion; }

static void drop_pin(sb__completion *completion) {
  pin *p = pin_at(completion);
  sb__queue_unref(p->queue);
  sb__free(p);
}

/* Calls the listener, who asks for the numbers of all that were unpinned. */
static void report_unpinned(sb__completion *completion, sb__environment *e) {
  napi_value undefined = NULL, listener = NULL;
  completion->next = e->unpinned;
  e->unpinned = completion;
  if (e->listener) napi_get_reference_value(e->env, e->listener, &listener);
  napi_get_undefined(e->env, &undefined);
  if (listener) napi_call_function(e->env, undefined, listener, 0, NULL, NULL);
}

/* The storage has no holder any more: any thread. It goes before other completions, where returned() finds it. */
static void unpin(void *data, void *context) {
  pin *p = context;
  (void)data;
  sb_storage_unref(&p->base);
  sb_storage_unref(&p->kept);
  if (!sb__queue_push(p->queue, &p->completion, true)) drop_pin(&p->completion);
}

sb_status sb__pin(sb__environment *e, uint32_t number, sb_tensor *out) {
  sb_storage *storage = NULL;
  sb_status status = sb__read_operand(&e->binding);
  if (status) return status;
  const sb_tensor *t = &e->binding.operands[0];
  pin *p = sb__alloc(sizeof *p);
  if (!p) return sb__fail(SB_ERR_MEMORY, "no memory for a loan");
  *p = (pin){.completion = {.tell = report_unpinned, .drop = drop_pin},
             .queue = e->queue,
             .number = number};
  sb_storage *base = t->storage->kind == SB__STORAGE_BORROWED ? NULL : t->storage;
  status = sb__storage_pin(t->storage->data, t->storage->nbytes, base, unpin, p, &storage);
  if (status) {
    sb__free(p);
    return status;
  }
  sb__queue_ref(e->queue);
  p->base = sb_storage_ref(base);
  if (!base) p->kept = sb__external_buffer_at(e, t->storage->data, t->storage->nbytes);
  sb_tensor_copy_layout(t, out);
  out->storage = storage;
  return SB_OK;
}

static const pin *pin_of(const sb_storage *storage) {
  return storage && storage->kind == SB__STORAGE_PIN ? storage->context : NULL;
}

sb_storage *sb__pin_base(const sb_storage *storage) {
  const pin *p = pin_of(storage);
  return p ? p->base : NULL;
}

int64_t sb__pin_number(const sb__environment *e, const sb_storage *storage) {
  const pin *p = pin_of(storage);
  return p && p->queue == e->queue ? (int64_t)p->number : -1;
}

/* One that was told, or will be; NULL: there is none. */
static sb__completion *pop_unpinned(sb__environment *e) {
  sb__completion *c = e->unpinned;
  if (!c) return sb__queue_pop(e, report_unpinned);
  e->unpinned = c->next;
  return c;
}

/* returned() → how many were unpinned; their numbers follow the count in ARGS. More may be left at 512. */
napi_value sb__node_returned(napi_env env, napi_callback_info info) {
  sb__environment *e = sb__enter(env, info, 0, NULL);
  double *args = e->binding.frame + SB__FRAME_ARGS;
  uint32_t n = 0;
  while (n < MOST_AT_ONCE) {
    sb__completion *c = pop_unpinned(e);
    if (!c) break;
    args[++n] = pin_at(c)->number;
    drop_pin(c);
  }
  args[0] = n;
  return sb__number(env, n);
}

/* onReturned(listener): it is called on a turn of the event loop after something was unpinned; undefined: nothing is. */
napi_value sb__node_on_returned(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  if (e->listener) napi_delete_reference(env, e->listener);
  e->listener = NULL;
  napi_valuetype type = napi_undefined;
  napi_typeof(env, argument, &type);
  if (type != napi_function) return NULL;
  (void)napi_create_reference(env, argument, 1, &e->listener);
  (void)sb__queue_listen(e); /* without memory they are noticed at the next pin */
  return NULL;
}

void sb__pins_end(sb__environment *e) {
  if (e->listener) napi_delete_reference(e->env, e->listener);
  e->listener = NULL;
  while (e->unpinned) drop_pin(pop_unpinned(e));
}
