/* Objects that are watched without being kept: memory of V8's, to know when it is gone, and JavaScript's side of native storages, to drop
 * their claims then. */
#include "node/environment.h"

typedef struct watch {
  struct sb__environment *owner;
  napi_ref ref;       /* weak; NULL: the object is gone, or the entry is free */
  double handle;      /* the claim that goes with it; 0: none */
  int64_t accounted;  /* bytes that V8 was told of for it */
  uint32_t id;        /* index in environment.watches */
  uint32_t next_free; /* id + 1; 0: none */
  bool in_use;
} watch;

static void account(sb__environment *e, watch *w, int64_t nbytes) {
  int64_t total = 0;
  if (e->env) napi_adjust_external_memory(e->env, nbytes - w->accounted, &total);
  w->accounted = nbytes;
}

/* Idempotent: a watch has one claim, and it is dropped once. */
static void drop_claim(sb__environment *e, watch *w) {
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

static void free_watch(sb__environment *e, watch *w) {
  w->in_use = false;
  w->next_free = e->first_free;
  e->first_free = w->id + 1;
}

bool sb__watch_reserve(sb__environment *e) {
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

static watch *new_watch(sb__environment *e) {
  if (!sb__watch_reserve(e)) return NULL;
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
napi_value sb__node_watch(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  const double handle = sb__number_of(env, arguments[1]);
  const sb_storage *storage = handle != 0 ? sb__claim_get(&e->binding, handle) : NULL;
  watch *w = new_watch(e);
  if (storage) {
    double *results = e->binding.frame + SB__FRAME_RESULTS;
    results[0] = storage->fault != NULL;
    results[1] = storage->device;
    results[2] = storage->kind == SB__STORAGE_PAGE_LOCKED;
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
  if (storage && storage->kind == SB__STORAGE_PAGE_LOCKED) account(e, w, (int64_t)storage->nbytes);
  if (storage && storage->kind == SB__STORAGE_CUDA)
    account(e, w, (int64_t)(storage->nbytes / DEVICE_SHARE));
  return sb__number(env, w->id);
}

static watch *watch_of(sb__environment *e, double id) {
  if (!(id >= 0 && id < e->watch_count)) return NULL;
  watch *w = e->watches[(uint32_t)id];
  return w->in_use ? w : NULL;
}

sb_storage *sb__watch_storage(sb__environment *e, double id) {
  const watch *w = watch_of(e, id);
  return w ? sb__claim_get(&e->binding, w->handle) : NULL;
}

void sb__watch_account(sb__environment *e, double id, int64_t nbytes) {
  account(e, watch_of(e, id), nbytes);
}

/* account(id, nbytes): V8 hears of so many bytes that go with a watched file. */
napi_value sb__node_account(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  watch *w = watch_of(e, sb__number_of(env, arguments[0]));
  if (w && w->handle != 0) account(e, w, FILE_PRESSURE + (int64_t)sb__number_of(env, arguments[1]));
  return NULL;
}

/* watched(id) → the object; undefined: it was collected. What JavaScript has for this, a WeakRef, would keep the object until
 * the turn of the event loop ends. */
napi_value sb__node_watched(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, object = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  watch *w = watch_of(e, sb__number_of(env, argument));
  if (w && w->ref) napi_get_reference_value(env, w->ref, &object);
  return object;
}

/* unwatch(id): the object is known to be unused; drops its claim at once. */
napi_value sb__node_unwatch(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
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
napi_value sb__node_sweep(napi_env env, napi_callback_info info) {
  sb__environment *e = sb__enter(env, info, 0, NULL);
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

/* ---- Environment ---- */

void sb__watches_end(sb__environment *e) {
  for (uint32_t i = 0; i < e->watch_count; i++) {
    watch *w = e->watches[i];
    if (w->ref) napi_delete_reference(e->env, w->ref);
    w->ref = NULL;
    w->handle = 0;
  }
}

void sb__watches_free(sb__environment *e) {
  for (uint32_t i = 0; i < e->watch_count; i++) sb__free(e->watches[i]);
  sb__free(e->watches);
}
