/* How work that ends on other threads gets to an environment's thread: one queue, and one threadsafe function that wakes the event loop.
 *
 * The queue outlives its environment, because threads that are at work then hold references. What is pushed later is its pusher's to
 * free. */
#include "node/environment.h"

struct sb__completion_queue {
  atomic_int references;             /* by the environment, and by what may be pushed */
  const void *thread;                /* of the environment */
  sb__environment *owner;            /* for that thread only; NULL: has ended */
  sb__lock lock;                     /* over what follows */
  napi_threadsafe_function function; /* NULL: nobody listens yet, or the runtime closes it */
  bool is_called;                    /* function will run */
  bool has_ended;
  sb__completion *first, **last;
  uint32_t count;
};

static SB_THREAD_LOCAL char this_thread; /* its address tells threads apart */

sb__completion_queue *sb__queue_ref(sb__completion_queue *q) {
  atomic_fetch_add(&q->references, 1);
  return q;
}

void sb__queue_unref(sb__completion_queue *q) {
  if (atomic_fetch_sub(&q->references, 1) == 1) sb__free(q);
}

sb__environment *sb__queue_owner(const sb__completion_queue *q) {
  return q->thread == &this_thread ? q->owner : NULL;
}

/* Under the lock. */
static void wake_loop(sb__completion_queue *q) {
  if (!q->function || q->is_called) return;
  q->is_called = napi_call_threadsafe_function(q->function, NULL, napi_tsfn_nonblocking) == napi_ok;
  if (!q->is_called) q->function = NULL; /* it is closing: the environment ends */
}

bool sb__queue_push(sb__completion_queue *q, sb__completion *completion, bool at_front) {
  sb__lock_take(&q->lock);
  const bool is_taken = !q->has_ended;
  if (is_taken) {
    sb__completion **at = at_front ? &q->first : q->last;
    completion->next = *at;
    *at = completion;
    if (!completion->next) q->last = &completion->next;
    q->count++;
    wake_loop(q);
  }
  sb__lock_drop(&q->lock);
  return is_taken;
}

/* The first one, if it is told so; tell NULL: however it is told. NULL: there is none. */
static sb__completion *pop(sb__completion_queue *q, sb__tell tell) {
  sb__lock_take(&q->lock);
  sb__completion *c = q->first;
  if (c && tell && c->tell != tell) c = NULL;
  if (c) {
    q->first = c->next;
    if (!q->first) q->last = &q->first;
    q->count--;
    c->next = NULL;
  }
  sb__lock_drop(&q->lock);
  return c;
}

sb__completion *sb__queue_pop(sb__environment *e, sb__tell tell) { return pop(e->queue, tell); }

/* On the environment's thread, on a later turn; env is NULL when it is ending. What finishes meanwhile is told on the next turn. */
static void tell_finished(napi_env env, napi_value ignored, void *context, void *data) {
  sb__environment *e = context;
  bool is_pending = false;
  (void)ignored;
  (void)data;
  if (!env) return;
  sb__completion_queue *q = e->queue;
  sb__lock_take(&q->lock);
  q->is_called = false;
  uint32_t count = q->count;
  sb__lock_drop(&q->lock);
  for (; count && !is_pending; count--) {
    napi_handle_scope scope = NULL;
    sb__completion *c = pop(q, NULL);
    if (!c) break;
    const bool is_scoped = napi_open_handle_scope(env, &scope) == napi_ok;
    c->tell(c, e);
    if (is_scoped) napi_close_handle_scope(env, scope);
    napi_is_exception_pending(env, &is_pending);
  }
  if (!is_pending) return;
  sb__lock_take(&q->lock); /* the runtime reports what was thrown, then the others are told */
  if (q->first) wake_loop(q);
  sb__lock_drop(&q->lock);
}

/* hasRef() → whether the event loop stays alive: async hooks ask their resource, and Jest's --detectOpenHandles names what cannot tell. */
static napi_value has_ref(napi_env env, napi_callback_info info) {
  napi_value value = NULL;
  const sb__environment *e = sb__enter(env, info, 0, NULL);
  napi_get_boolean(env, e->pending > 0, &value);
  return value;
}

/* NULL: there is no memory. */
static napi_value new_resource(sb__environment *e) {
  napi_value resource = NULL, function = NULL;
  const bool is_made =
      napi_create_object(e->env, &resource) == napi_ok &&
      napi_create_function(e->env, "hasRef", NAPI_AUTO_LENGTH, has_ref, e, &function) == napi_ok &&
      napi_set_named_property(e->env, resource, "hasRef", function) == napi_ok;
  return is_made ? resource : NULL;
}

/* A method of the resource. */
static napi_value listen(napi_env env, napi_callback_info info) {
  napi_value name = NULL, resource = NULL;
  napi_threadsafe_function function = NULL;
  size_t count = 0;
  void *data = NULL;
  napi_get_cb_info(env, info, &count, NULL, &resource, &data);
  sb__environment *e = data;
  sb__completion_queue *q = e->queue;
  if (napi_create_string_utf8(env, "samebytes", NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_threadsafe_function(env, NULL, resource, name, 0, 1, NULL, NULL, e, tell_finished,
                                      &function) != napi_ok) {
    return NULL;
  }
  napi_unref_threadsafe_function(env, function);
  e->wake = function;
  sb__lock_take(&q->lock);
  q->function = function;
  if (q->first) wake_loop(q);
  sb__lock_drop(&q->lock);
  return NULL;
}

/* A threadsafe function keeps the AsyncLocalStorages of whoever makes it, for as long as the thread: a test's, say, or a request's. So it is
 * made in a callback without an async context. */
bool sb__queue_listen(sb__environment *e) {
  napi_value function = NULL, ignored = NULL; /* which Deno writes, wanted or not */
  if (e->wake) return true;
  const napi_value resource = new_resource(e);
  if (resource && napi_create_function(e->env, NULL, 0, listen, e, &function) == napi_ok)
    napi_make_callback(e->env, NULL, resource, function, 0, NULL, &ignored);
  return e->wake != NULL;
}

void sb__queue_hold_loop(sb__environment *e) {
  if (e->pending++ == 0) napi_ref_threadsafe_function(e->env, e->wake);
}

void sb__queue_release_loop(sb__environment *e) {
  if (--e->pending == 0) napi_unref_threadsafe_function(e->env, e->wake);
}

/* ---- The environment ---- */

bool sb__queue_begin(sb__environment *e) {
  sb__completion_queue *q = sb__alloc(sizeof *q);
  if (!q) return false;
  *q = (sb__completion_queue){.thread = &this_thread, .owner = e};
  atomic_init(&q->references, 1);
  q->last = &q->first;
  e->queue = q;
  return true;
}

void sb__queue_end(sb__environment *e) {
  sb__completion_queue *q = e->queue;
  q->owner = NULL;
  sb__lock_take(&q->lock);
  q->has_ended = true;
  q->function = NULL;
  sb__completion *c = q->first;
  q->first = NULL;
  sb__lock_drop(&q->lock);
  while (c) {
    sb__completion *next = c->next;
    c->drop(c);
    c = next;
  }
}
