/* Device memory of other processes and for them, as js/vram.js calls it. Asking another process blocks, so it is done on libuv's
 * pool; an environment that ends hangs up first, and waits for its questions as for its copies. */
#include <string.h>

#include "node/environment.h"
#include "node/peers.h"

typedef struct sb__asking {
  sb__environment *owner; /* NULL: has ended */
  struct sb__asking *next;
  napi_async_work work;
  napi_ref done;
  sb__opening opening;
  sb_status status;
  char message[512];
} asking;

/* ---- Values ---- */

static int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* 32 hexadecimal digits. */
static bool bytes_of(napi_env env, napi_value text, uint8_t out[16]) {
  char digits[33] = "";
  size_t length = 0;
  if (napi_get_value_string_utf8(env, text, digits, sizeof digits, &length) != napi_ok)
    return false;
  for (size_t i = 0; i < 16; i++) {
    const int high = digit(digits[2 * i]), low = high < 0 ? -1 : digit(digits[2 * i + 1]);
    if (low < 0) return false;
    out[i] = (uint8_t)(high * 16 + low);
  }
  return true;
}

static bool name_of(napi_env env, napi_value text, char out[SB__PEERS_NAME]) {
  size_t length = 0;
  return napi_get_value_string_utf8(env, text, out, SB__PEERS_NAME, &length) == napi_ok &&
         out[0] == '@' && length < SB__PEERS_NAME - 1;
}

static void set_text(napi_env env, napi_value object, const char *key, const char *text) {
  napi_value value = NULL;
  if (napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &value) == napi_ok)
    napi_set_named_property(env, object, key, value);
}

static void set_bytes(napi_env env, napi_value object, const char *key, const uint8_t bytes[16]) {
  char text[33];
  for (size_t i = 0; i < 16; i++) sb__print(text + 2 * i, 3, "%02x", bytes[i]);
  set_text(env, object, key, text);
}

static void set_number(napi_env env, napi_value object, const char *key, double x) {
  napi_set_named_property(env, object, key, sb__number(env, x));
}

/* ---- Making and sharing ---- */

/* vramNew(device, nbytes, own): a claim on new bytes that can be shared; its handle and its address are the first results. */
napi_value sb__node_vram_new(napi_env env, napi_callback_info info) {
  napi_value arguments[3] = {NULL, NULL, NULL};
  sb__environment *e = sb__enter(env, info, 3, arguments);
  sb__binding *b = &e->binding;
  sb_storage *storage = NULL;
  bool own = false;
  napi_get_value_bool(env, arguments[2], &own);
  sb_status status = sb__vram_new((int64_t)sb__number_of(env, arguments[0]),
                                  (size_t)sb__number_of(env, arguments[1]), own, &storage);
  if (!status) status = sb__claim_new(b, storage, &b->frame[SB__FRAME_RESULTS]);
  if (status) {
    sb_storage_unref(&storage);
  } else {
    b->frame[SB__FRAME_RESULTS + 1] = (double)(uintptr_t)storage->data;
  }
  sb__report(b, status);
  return NULL;
}

/* vramShare(handle, at, nbytes, uses, readOnly): what a descriptor says of bytes of a storage, as an object. */
napi_value sb__node_vram_share(napi_env env, napi_callback_info info) {
  napi_value arguments[5] = {NULL, NULL, NULL, NULL, NULL}, made = NULL;
  sb__environment *e = sb__enter(env, info, 5, arguments);
  sb_storage *storage = sb__claim_get(&e->binding, sb__number_of(env, arguments[0]));
  sb__shared shared;
  bool read_only = false;
  sb_status status = SB_OK;
  napi_get_value_bool(env, arguments[4], &read_only);
  if (!storage) {
    status = sb__fail(SB_ERR_STALE, "the storage is not alive here");
  } else {
    status = sb__peers_share(storage, (int64_t)sb__number_of(env, arguments[1]),
                             (int64_t)sb__number_of(env, arguments[2]),
                             (int64_t)sb__number_of(env, arguments[3]), read_only, &shared);
  }
  if (!status && napi_create_object(env, &made) == napi_ok) {
    set_text(env, made, "socket", shared.socket);
    set_bytes(env, made, "token", shared.token);
    set_bytes(env, made, "uuid", shared.vram.uuid);
    set_number(env, made, "generation", (double)shared.generation);
    set_number(env, made, "offset", (double)shared.vram.offset);
    set_text(env, made, "lease", shared.vram.kind == SB__VRAM_HANDLE ? "exporter" : "none");
  }
  sb__report(&e->binding, status);
  return made;
}

/* vramUnshare(socket, token) */
napi_value sb__node_vram_unshare(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  char socket[SB__PEERS_NAME];
  uint8_t token[16];
  const bool is_token = name_of(env, arguments[0], socket) && bytes_of(env, arguments[1], token);
  sb__report(&e->binding, is_token ? sb__peers_unshare(socket, token)
                                   : sb__fail(SB_ERR_ARGUMENT, "the descriptor has no token"));
  return NULL;
}

/* vramHeld(): tokens that are not used up and memory that importers have on loan; their bytes are the second result. */
napi_value sb__node_vram_held(napi_env env, napi_callback_info info) {
  sb__environment *e = sb__enter(env, info, 0, NULL);
  int64_t count = 0, bytes = 0;
  sb__peers_held(&count, &bytes);
  e->binding.frame[SB__FRAME_RESULTS] = (double)count;
  e->binding.frame[SB__FRAME_RESULTS + 1] = (double)bytes;
  return NULL;
}

/* ---- Opening ---- */

static void execute(napi_env env, void *data) {
  asking *a = data;
  (void)env; /* not ours on this thread */
  a->status = sb__peers_open(&a->opening);
  if (a->status) strncpy(a->message, sb_error_message(), sizeof a->message - 1);
}

static void free_asking(napi_env env, asking *a) {
  sb_storage_unref(&a->opening.storage);
  if (a->done) napi_delete_reference(env, a->done);
  if (a->work) napi_delete_async_work(env, a->work);
  sb__free(a);
}

/* The claim, its handle and what else is known of it are the results. */
static sb_status tell(sb__environment *e, asking *a) {
  const sb__opening *o = &a->opening;
  double *results = &e->binding.frame[SB__FRAME_RESULTS];
  if (a->status) return sb__fail(a->status, "%s", a->message);
  const sb_status status = sb__claim_new(&e->binding, o->storage, &results[0]);
  if (status) return status;
  results[1] = (double)(uintptr_t)o->storage->data;
  results[2] = (double)o->storage->nbytes;
  results[3] = o->storage->device;
  results[4] = o->read_only;
  a->opening.storage = NULL; /* the claim's */
  return SB_OK;
}

static void complete(napi_env env, napi_status cancelled, void *data) {
  asking *a = data;
  sb__environment *e = a->owner;
  napi_value done = NULL, undefined = NULL;
  if (cancelled != napi_ok) a->status = SB_ERR_IO;
  if (e) {
    struct sb__asking **at = &e->askings;
    while (*at != a) at = &(*at)->next;
    *at = a->next;
    sb__report(&e->binding, tell(e, a));
    napi_get_undefined(env, &undefined);
    napi_get_reference_value(env, a->done, &done);
  }
  free_asking(env, a);
  if (done) napi_call_function(env, undefined, done, 0, NULL, NULL);
}

static sb_status start(napi_env env, asking *a, napi_value done) {
  napi_value what = NULL;
  const bool started =
      napi_create_string_utf8(env, "samebytes vram", NAPI_AUTO_LENGTH, &what) == napi_ok &&
      napi_create_reference(env, done, 1, &a->done) == napi_ok &&
      napi_create_async_work(env, NULL, what, execute, complete, a, &a->work) == napi_ok &&
      napi_queue_async_work(env, a->work) == napi_ok;
  return started ? SB_OK : sb__fail(SB_ERR_MEMORY, "the question could not be queued");
}

/* vramOpen(socket, token, uuid, generation, offset, nbytes, done): done() is called on a later turn. The frame has the status then, and
 * as results: a handle, its address, its bytes, the device, and 1 where it is read-only. */
napi_value sb__node_vram_open(napi_env env, napi_callback_info info) {
  napi_value arguments[7] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};
  sb__environment *e = sb__enter(env, info, 7, arguments);
  asking *a = sb__alloc(sizeof *a);
  sb_status status = SB_OK;
  if (!a) {
    sb__report(&e->binding, sb__fail(SB_ERR_MEMORY, "no memory to open a descriptor"));
    return NULL;
  }
  memset(a, 0, sizeof *a);
  if (!name_of(env, arguments[0], a->opening.socket) ||
      !bytes_of(env, arguments[1], a->opening.token) ||
      !bytes_of(env, arguments[2], a->opening.uuid)) {
    status = sb__fail(SB_ERR_ARGUMENT, "the descriptor has no socket, no token or no uuid");
  }
  a->opening.generation = (uint64_t)sb__number_of(env, arguments[3]);
  a->opening.offset = (uint64_t)sb__number_of(env, arguments[4]);
  a->opening.nbytes = (uint64_t)sb__number_of(env, arguments[5]);
  if (!status) status = start(env, a, arguments[6]);
  if (status) {
    free_asking(env, a);
  } else {
    a->owner = e;
    a->next = e->askings;
    e->askings = a;
  }
  sb__report(&e->binding, status);
  return NULL;
}

void sb__askings_end(sb__environment *e) {
  for (asking *a = e->askings; a; a = a->next) {
    a->owner = NULL;
    sb__peers_stop(&a->opening);
  }
  e->askings = NULL;
}
