/* Device memory of other processes and for them, as js/sharing/cuda-ipc.js calls it. Asking another process blocks, so a thread of its own does
 * it, not one of libuv's pool: Node waits for those before an environment that ends can hang up. */
#include <string.h>

#include "node/environment.h"
#include "cuda/ipc_server.h"

typedef struct asking {
  sb__work_item item; /* the first member */
  sb__opening opening;
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

static bool name_of(napi_env env, napi_value text, char out[SB__IPC_NAME]) {
  size_t length = 0;
  return napi_get_value_string_utf8(env, text, out, SB__IPC_NAME, &length) == napi_ok &&
         out[0] == '@' && length < SB__IPC_NAME - 1;
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
    status = sb__ipc_share(storage, (int64_t)sb__number_of(env, arguments[1]),
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
  char socket[SB__IPC_NAME];
  uint8_t token[16];
  const bool is_token = name_of(env, arguments[0], socket) && bytes_of(env, arguments[1], token);
  sb__report(&e->binding, is_token ? sb__ipc_unshare(socket, token)
                                   : sb__fail(SB_ERR_ARGUMENT, "the descriptor has no token"));
  return NULL;
}

/* vramHeld(): tokens that are not used up and memory that importers have on loan; their bytes are the second result. */
napi_value sb__node_vram_held(napi_env env, napi_callback_info info) {
  sb__environment *e = sb__enter(env, info, 0, NULL);
  int64_t count = 0, bytes = 0;
  sb__ipc_held(&count, &bytes);
  e->binding.frame[SB__FRAME_RESULTS] = (double)count;
  e->binding.frame[SB__FRAME_RESULTS + 1] = (double)bytes;
  return NULL;
}

/* ---- Opening ---- */

static sb__opening *opening_of(sb__work_item *item) { return &((asking *)(void *)item)->opening; }

static sb_status ask_owner(sb__work_item *item) { return sb__ipc_open(opening_of(item)); }

static void hang_up(sb__work_item *item) { sb__ipc_stop(opening_of(item)); }

/* The claim, its handle and what else is known of it are the results. */
static sb_status put_opened(sb__work_item *item, sb__environment *e) {
  sb__opening *o = opening_of(item);
  double *results = &e->binding.frame[SB__FRAME_RESULTS];
  const sb_status status = sb__claim_new(&e->binding, o->storage, &results[0]);
  if (status) return status;
  results[1] = (double)(uintptr_t)o->storage->data;
  results[2] = (double)o->storage->nbytes;
  results[3] = o->storage->device;
  results[4] = o->read_only;
  o->storage = NULL; /* the claim's */
  return SB_OK;
}

static void free_asking(sb__work_item *item) {
  sb_storage_unref(&opening_of(item)->storage);
  sb__free(item);
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
  a->item =
      (sb__work_item){.run = ask_owner, .stop = hang_up, .tell = put_opened, .free = free_asking};
  a->opening.generation = (uint64_t)sb__number_of(env, arguments[3]);
  a->opening.offset = (uint64_t)sb__number_of(env, arguments[4]);
  a->opening.nbytes = (uint64_t)sb__number_of(env, arguments[5]);
  if (name_of(env, arguments[0], a->opening.socket) &&
      bytes_of(env, arguments[1], a->opening.token) &&
      bytes_of(env, arguments[2], a->opening.uuid)) {
    status = sb__run_work_item(e, &a->item, arguments[6]);
  } else {
    status = sb__fail(SB_ERR_ARGUMENT, "the descriptor has no socket, no token or no uuid");
    free_asking(&a->item);
  }
  sb__report(&e->binding, status);
  return NULL;
}
