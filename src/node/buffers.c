/* ArrayBuffers and SharedArrayBuffers: where the bytes of JavaScript's are, and ones over native storages. */
#include <string.h>

#include "ipc/transfer.h"
#include "node/environment.h"

/* ---- Addresses ---- */

/* address(view) → number: where its first byte is. Typed arrays only: they tell on every version of
 * Node, also over a SharedArrayBuffer. */
napi_value sb__node_address(napi_env env, napi_callback_info info) {
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
napi_value sb__node_locate(napi_env env, napi_callback_info info) {
  napi_value arguments[MAX_LOCATED];
  size_t count = MAX_LOCATED;
  sb__environment *e = NULL;
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
napi_value sb__node_move(napi_env env, napi_callback_info info) {
  napi_value arguments[3] = {NULL, NULL, NULL};
  sb__enter(env, info, 3, arguments);
  void *to = (void *)(uintptr_t)sb__number_of(env, arguments[0]);
  const void *from = (const void *)(uintptr_t)sb__number_of(env, arguments[1]);
  const size_t nbytes = (size_t)sb__number_of(env, arguments[2]);
  if (nbytes) memcpy(to, from, nbytes);
  return NULL;
}

/* ---- External ArrayBuffers ---- */

/* A buffer over a storage. Its finalizer runs when the engine lets go of the bytes, whatever object and thread has them by then.
 *
 * Node and Bun also run it when the environment that made the buffer ends, on that environment's thread. A program can have moved
 * the bytes to a buffer that another thread has; so what the end of a worker finalizes is given back only if the buffer that we made
 * still had its bytes. Otherwise they are kept for ever: nobody tells when the last reader is gone. That goes for a buffer, too, which
 * V8 has collected and not yet let go of.
 *
 * Deno runs it once nobody has the bytes: on any thread, also in the middle of a collection and when the environment has been
 * freed. No call of Node-API is allowed there, and nothing of the environment is used. */
typedef struct external_buffer {
  sb__buffers *owner;  /* one reference */
  sb_storage *storage; /* one reference */
  napi_ref
      ref; /* to the buffer, weak; NULL where the end finalizes nothing that another thread has */
  struct external_buffer *next, *previous;
  bool is_attached; /* the worker is ending, and the buffer has its bytes */
} external_buffer;

struct sb__buffers {
  atomic_int references;  /* by the environment, and by each finalizer that is to come */
  sb__lock lock;          /* over the list */
  external_buffer *first; /* those whose finalizers are to come */
  struct tail *tail;      /* the newest buffer of all; NULL: there is none */
  bool is_ending;         /* the end finalizes what is left */
};

static void unref_buffers(sb__buffers *all) {
  if (atomic_fetch_sub(&all->references, 1) == 1) sb__free(all);
}

static void free_buffer(external_buffer *x) {
  sb__buffers *all = x->owner;
  sb__lock_take(&all->lock);
  if (x->next) x->next->previous = x->previous;
  if (x->previous)
    x->previous->next = x->next;
  else
    all->first = x->next;
  sb__lock_drop(&all->lock);
  unref_buffers(all);
  sb__free(x);
}

static void finalize_buffer(napi_env env, void *data, void *hint) {
  external_buffer *x = hint;
  sb_storage *storage = x->storage;
  const bool is_kept = x->ref && x->owner->is_ending && !x->is_attached;
  (void)data;
  if (x->ref) napi_delete_reference(env, x->ref);
  free_buffer(x); /* first: nobody finds the storage any more */
  if (!is_kept) sb_storage_unref(&storage);
}

/* At the end of a worker the newest buffer's finalizer runs first: in Node each buffer has been detached by then, and no hook of ours
 * has run; in Bun our hook has. So the newest of all is one that nobody sees: its finalizer finds the others as programs left them. */
typedef struct tail {
  sb__buffers *owner; /* one reference */
  napi_ref ref;
  char byte; /* that the buffer is over */
} tail;

static void free_tail(tail *t) {
  unref_buffers(t->owner);
  sb__free(t);
}

static void finalize_tail(napi_env env, void *data, void *hint) {
  tail *t = hint;
  sb__buffers *all = t->owner;
  (void)data;
  if (all->tail == t) {
    all->is_ending = true;
    all->tail = NULL;
    for (external_buffer *x = all->first; x; x = x->next) {
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
  free_tail(t);
}

/* Makes a buffer; is_taken: its finalizer is called sometime. A failure leaves no exception. */
static napi_status make_external(sb__environment *e, void *data, size_t nbytes,
                                 napi_finalize finalize, void *hint, napi_value *made,
                                 bool *is_taken) {
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

static bool renew_tail(sb__environment *e) {
  sb__buffers *all = e->buffers;
  bool is_taken = false;
  napi_value made = NULL;
  tail *t = sb__alloc(sizeof *t);
  if (!t) return false;
  *t = (tail){.owner = all};
  atomic_fetch_add(&all->references, 1);
  const napi_status status = make_external(e, &t->byte, 1, finalize_tail, t, &made, &is_taken);
  if (!is_taken) free_tail(t);
  if (status != napi_ok || napi_create_reference(e->env, made, 1, &t->ref) != napi_ok) return false;
  if (all->tail) napi_reference_unref(e->env, all->tail->ref, NULL);
  all->tail = t;
  return true;
}

static external_buffer *new_buffer(sb__buffers *all, sb_storage *storage) {
  external_buffer *x = sb__alloc(sizeof *x);
  if (!x) return NULL;
  *x = (external_buffer){.owner = all, .storage = sb_storage_ref(storage)};
  atomic_fetch_add(&all->references, 1);
  sb__lock_take(&all->lock);
  x->next = all->first;
  if (x->next) x->next->previous = x;
  all->first = x;
  sb__lock_drop(&all->lock);
  return x;
}

static napi_status make_buffer(sb__environment *e, sb_storage *storage, napi_value *made) {
  bool is_taken = false;
  external_buffer *x = new_buffer(e->buffers, storage);
  if (!x) return napi_generic_failure;
  const napi_status status =
      make_external(e, storage->data, storage->nbytes, finalize_buffer, x, made, &is_taken);
  if (!is_taken) {
    sb_storage_unref(&x->storage);
    free_buffer(x);
  }
  if (status != napi_ok || !e->finalizes_moved) return status;
  /* Where these fail nobody gets the buffer, and it may be finalized at any time. */
  if (napi_create_reference(e->env, *made, 0, &x->ref) == napi_ok && renew_tail(e)) return napi_ok;
  return napi_generic_failure;
}

sb_storage *sb__external_buffer_at(const sb__environment *e, const void *data, size_t nbytes) {
  const uintptr_t from = (uintptr_t)data;
  sb_storage *found = NULL;
  sb__lock_take(&e->buffers->lock);
  for (const external_buffer *x = e->buffers->first; x && !found; x = x->next) {
    const uintptr_t begin = (uintptr_t)x->storage->data;
    const sb_storage *root = sb__storage_root(x->storage);
    const bool is_borrowed = root->kind == SB__STORAGE_FOREIGN && !root->deleter;
    if (from >= begin && from + nbytes <= begin + x->storage->nbytes && !is_borrowed)
      found = sb_storage_ref(x->storage);
  }
  sb__lock_drop(&e->buffers->lock);
  return found;
}

bool sb__buffers_begin(sb__environment *e) {
  sb__buffers *all = sb__alloc(sizeof *all);
  if (!all) return false;
  memset(all, 0, sizeof *all);
  atomic_init(&all->references, 1);
  e->buffers = all;
  return true;
}

void sb__buffers_end(sb__environment *e) { unref_buffers(e->buffers); }

/* buffer(id) → a new ArrayBuffer over the native storage of that watch, which it keeps alive until
 * it is collected itself. undefined and a status in the frame where the runtime refuses. */
napi_value sb__node_buffer(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, made = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  const double id = sb__number_of(env, argument);
  sb_storage *storage = sb__watch_storage(e, id);
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
  if (!e->no_external_buffers) status = make_buffer(e, storage, &made);
  if (status == napi_ok) {
    /* V8 counts the bytes with the buffer from now on; those of files are no memory that it should save. Where both are
     * collected together V8 takes its count back before the watch takes ours, and newer ones end the process when the sum
     * is below zero in between: there they are counted. */
    const bool is_file = storage->kind == SB__STORAGE_MAPPED || storage->kind == SB__STORAGE_PART;
    sb__watch_account(e, id, is_file && e->counts_below_zero ? -(int64_t)storage->nbytes : 0);
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

/* Node-API's function of newer versions of Node than the one that this is built for; NULL where the process has none. */
typedef napi_status(NAPI_CDECL *make_shared_buffer)(napi_env env, void *data, size_t nbytes,
                                                    void(NAPI_CDECL *finalize)(void *data,
                                                                               void *hint),
                                                    void *hint, napi_value *result);

static make_shared_buffer find_make_shared_buffer(void) {
  make_shared_buffer found = NULL;
  *(void **)&found = sb__os_host_symbol("node_api_create_external_sharedarraybuffer");
  return found;
}

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
napi_value sb__node_shared_buffer(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, made = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  sb_storage *storage = NULL;
  const make_shared_buffer make = find_make_shared_buffer();
  sb_status status = SB_OK;
  if (!make) {
    status =
        sb__fail(SB_ERR_UNSUPPORTED,
                 "this runtime makes no SharedArrayBuffer over native memory; Node 22.23.3, "
                 "24.16, 26.1 and later do; memory made with { shared: 'sab' } is one anywhere");
  } else if (e->no_external_buffers) {
    status = sb__fail(SB_ERR_UNSUPPORTED,
                      "this runtime allows no SharedArrayBuffer over native memory; memory made "
                      "with { shared: 'sab' } is one anywhere");
  } else {
    status = sb__transfer_peek(sb__number_of(env, argument), &storage);
    if (status == SB_OK && SB__ON_DEVICE(storage)) {
      status = sb__check_host("the tensor", storage);
      sb_storage_unref(&storage);
    }
  }
  if (status == SB_OK && storage->nbytes == 0) { /* nothing to keep alive, and perhaps no address */
    sb_storage_unref(&storage);
  } else if (status == SB_OK) {
    const napi_status created =
        make(env, storage->data, storage->nbytes, finalize_shared_buffer, storage, &made);
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
