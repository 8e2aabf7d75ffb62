/* Tensors in and out of Node-API addons, without copies. For addon authors: this header is all there is. An
 * addon links to nothing of samebytes; it finds the functions of the samebytes that its tensors come from in
 * them, when it is called.
 *
 *   static napi_value halve(napi_env env, napi_callback_info info) {
 *     size_t count = 1;
 *     napi_value argument = NULL;
 *     sb_napi samebytes = {0};
 *     sb_tensor t;
 *     napi_get_cb_info(env, info, &count, &argument, NULL, NULL);
 *     sb_status status = sb_tensor_from_napi(&samebytes, env, argument, 0, &t);
 *     if (status) return sb_napi_throw(&samebytes, env, status);
 *     float *x = samebytes.call->tensor_data(&t); ...
 *     samebytes.call->tensor_release(&t);
 *     return NULL;
 *   }
 *
 * `samebytes.call` is the table of all functions of samebytes.h, without their prefix. Memory that one copy of
 * samebytes made is for the functions of that copy alone, so use the table, not libsamebytes, with tensors from
 * JavaScript. `samebytes` may be kept for as long as the environment lives, with its thread, and JavaScript has the package:
 * Jest drops it with each file of tests.
 *
 * Bytes that V8 owns (those of most tensors) are good on any thread until they are released, but no longer
 * than the environment (the worker, or the process) that they come from; those of tensors that are shared are good as
 * long as you hold them. Releasing is safe on any thread, also when the environment has ended. */
#ifndef SAMEBYTES_NAPI_H
#define SAMEBYTES_NAPI_H

#include <node_api.h>
#include <stdio.h>
#include <string.h>

#include "samebytes.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What the addon was built for. A package with another major, or a lower minor, refuses it in words. */
#ifndef SB_TABLE_MAJOR
# define SB_TABLE_MAJOR 1 /* entries were changed or taken away */
#endif
#ifndef SB_TABLE_MINOR
# define SB_TABLE_MINOR 0 /* entries were added, at the end */
#endif

/* Every function of samebytes.h, in the table's order: new ones come last. */
/* clang-format off */
#define SB_FUNCTIONS(X) \
 X(status_name) X(error_message) X(dtype_name) X(dtype_itemsize) X(dtype_alignment) \
 X(dtype_kind) X(can_cast) X(promote_types) X(finfo) X(storage_new) X(storage_wrap) \
 X(storage_ref) X(storage_unref) X(storage_data) X(storage_nbytes) X(tensor_init) \
 X(tensor_empty) X(tensor_empty_strided) X(tensor_empty_like) X(tensor_from_blob) \
 X(tensor_from_values) X(tensor_from_bytes) X(clone) X(tensor_resize) X(tensor_copy_layout) \
 X(tensor_retain) X(tensor_release) X(tensor_numel) X(tensor_nbytes) X(tensor_data) \
 X(is_contiguous) X(shares_memory) X(hash) X(overlaps_itself) X(permute) X(transpose) \
 X(select) X(narrow) X(slice) X(reshape) X(unfold) X(view_dtype) X(as_strided) X(flip) \
 X(diagonal) X(squeeze) X(unsqueeze) X(broadcast_to) X(dim_order_strides) X(dim_order) \
 X(is_contiguous_in) X(dense_like) X(resize) X(set_data) X(copy) X(copy_scaled) \
 X(copy_values) X(fill) X(arange) X(linspace) X(take) X(array_equal) X(all_close) X(uniform) \
 X(normal) X(randint) X(tensor_to_dlpack) X(tensor_to_dlpack_legacy) X(tensor_from_dlpack) \
 X(tensor_from_dlpack_legacy) X(segment_create) X(segment_open) X(segment_unlink) X(word_wait) \
 X(word_wake) X(ring_create) X(ring_open) X(ring_attach) X(ring_close) X(ring_unlink) \
 X(ring_frames) X(ring_begin) X(ring_commit) X(ring_count) X(ring_has) X(ring_wait) X(ring_read) \
 X(ring_room) X(ring_leave) X(segment_own) X(segment_folder)
/* clang-format on */

#ifdef __cplusplus
# define SB_POINTER_TO(function) decltype(&function)
#else
# define SB_POINTER_TO(function) __typeof__(&function)
#endif

/* The functions of one copy of samebytes; static, never freed. */
typedef struct sb_table {
  uint32_t size; /* bytes of this struct where it was filled */
  uint16_t major, minor;
  /* What the functions below call; environment is sb_napi's. */
  sb_status (*tensor_from_napi)(uint64_t environment, napi_value value, uint32_t flags,
                                sb_tensor *out);
  sb_status (*tensor_to_napi)(uint64_t environment, const sb_tensor *t, napi_value *out);
  napi_value (*napi_error)(uint64_t environment, sb_status status, const char *words);
#define X(name) SB_POINTER_TO(sb_##name) name;
  SB_FUNCTIONS(X)
#undef X
} sb_table;

/* The way to one copy of samebytes in one environment: {0}, until sb_napi_open or sb_tensor_from_napi filled it.
 * A value: copies are as good. */
typedef struct sb_napi {
  const sb_table *call; /* NULL: not open */
  uint64_t environment;
  char message[160]; /* why it could not be opened */
} sb_napi;

/* Tells our externals from others'. */
#define SB_NAPI_TYPE_TAG \
 { 0x73616d6562797465ull, 0x73206e6170692e31ull }

/* What the external points to; good as long as the external. */
typedef struct sb_napi_offer {
  const sb_table *table;
  uint64_t environment;
} sb_napi_offer;

static inline sb_status sb_napi__fail(sb_napi *out, sb_status status, const char *message) {
  out->call = NULL;
  snprintf(out->message, sizeof out->message, "%s", message);
  return status;
}

/* A property; NULL where there is none. Getters that throw leave no exception. */
static inline napi_value sb_napi__get(napi_env env, napi_value object, const char *name) {
  napi_value value = NULL, ignored = NULL;
  napi_valuetype type = napi_undefined;
  if (napi_typeof(env, object, &type) != napi_ok || (type != napi_object && type != napi_function))
    return NULL;
  if (napi_get_named_property(env, object, name, &value) == napi_ok) return value;
  napi_get_and_clear_last_exception(env, &ignored);
  return NULL;
}

/* Finds samebytes' functions. Needed before sb_tensor_to_napi where no tensor came in; sb_tensor_from_napi does
 * it by itself.
 *
 *   from  a tensor, the class Tensor, or the module (what require('samebytes') gives)
 *   out   open on success
 *
 * Errors  SB_ERR_ARGUMENT from is none of these, or an exception is pending (it stays so, here and below) ·
 *         SB_ERR_UNSUPPORTED samebytes runs on WebAssembly there, or this
 *         header is newer than that package, or older than it by a major version; sb_napi_throw says so */
SB_CHECKED static inline sb_status sb_napi_open(napi_env env, napi_value from, sb_napi *out) {
  static const napi_type_tag tag = SB_NAPI_TYPE_TAG;
  void *data = NULL;
  bool is_ours = false;
  napi_valuetype type = napi_undefined;
  if (napi_is_exception_pending(env, &is_ours) == napi_ok && is_ours) {
    return sb_napi__fail(out, SB_ERR_ARGUMENT,
                         "an exception is pending: return from the callback first");
  }
  napi_value offer = sb_napi__get(env, from, "__samebytes__");
  if (offer) napi_typeof(env, offer, &type);
  if (offer && type == napi_undefined) { /* the module? */
    offer = sb_napi__get(env, from, "Tensor");
    if (offer) offer = sb_napi__get(env, offer, "__samebytes__");
    if (offer) napi_typeof(env, offer, &type);
  }
  if (offer && type == napi_null) {
    return sb_napi__fail(out, SB_ERR_UNSUPPORTED,
                         "samebytes runs on WebAssembly here; native code needs its addon");
  }
  if (!offer || type != napi_external ||
      napi_check_object_type_tag(env, offer, &tag, &is_ours) != napi_ok || !is_ours ||
      napi_get_value_external(env, offer, &data) != napi_ok || !data) {
    return sb_napi__fail(out, SB_ERR_ARGUMENT, "a tensor of samebytes was expected");
  }
  const sb_napi_offer *given = (const sb_napi_offer *)data;
  const sb_table *table = given->table;
  const int minor = table->minor;
  if (table->major != SB_TABLE_MAJOR || minor < SB_TABLE_MINOR || table->size < sizeof(sb_table)) {
    sb_napi__fail(out, SB_ERR_UNSUPPORTED, "");
    snprintf(
        out->message, sizeof out->message,
        "this addon was built for samebytes' function table %d.%d; the package that is loaded has "
        "%d.%d: %s",
        SB_TABLE_MAJOR, SB_TABLE_MINOR, (int)table->major, minor,
        table->major > SB_TABLE_MAJOR ? "build the addon anew" : "update samebytes");
    return SB_ERR_UNSUPPORTED;
  }
  out->call = table;
  out->environment = given->environment;
  out->message[0] = 0;
  return SB_OK;
}

/* Gives a tensor of JavaScript's to native code: its bytes, where they are. No byte is copied (a small tensor that
 * nobody has looked at yet is moved to a buffer of its own first).
 *
 *   samebytes  opened from value where it is not open yet
 *   value      a tensor
 *   flags      0: you may write. SB_READ_ONLY: you will only read; out says so as well
 *   out        its layout; holds the bytes, also past the tensor's dispose. samebytes.call->tensor_release drops
 *              them, on any thread; until then memory().exported counts them, and no transfer takes their buffer away
 *
 * Errors  as sb_napi_open · SB_ERR_ARGUMENT no tensor of that copy of samebytes · SB_ERR_DISPOSED · SB_ERR_DETACHED ·
 *         SB_ERR_READ_ONLY the tensor is, and flags is 0 · SB_ERR_BUSY a pending operation uses it ·
 *         SB_ERR_UNSUPPORTED its buffer is resizable · SB_ERR_STALE another thread's samebytes · SB_ERR_MEMORY
 * Cost    below a microsecond */
SB_CHECKED static inline sb_status sb_tensor_from_napi(sb_napi *samebytes, napi_env env,
                                                       napi_value value, uint32_t flags,
                                                       sb_tensor *out) {
  if (!samebytes->call) {
    const sb_status status = sb_napi_open(env, value, samebytes);
    if (status) return status;
  }
  return samebytes->call->tensor_from_napi(samebytes->environment, value, flags, out);
}

/* Gives a tensor to JavaScript: a new Tensor over the same bytes. Its read-only flag and dynamism are kept.
 *
 *   samebytes  open; of the environment that is running
 *   t          borrowed: the Tensor holds the storage by a reference of its own, until it is disposed or
 *              collected, and its last buffer is. A view of what sb_tensor_from_napi gave is one of that tensor's storage
 *   out        the Tensor
 *
 * Errors  SB_ERR_ARGUMENT not open, t was filled by another version, or has elements and no bytes · SB_ERR_DTYPE, SB_ERR_SHAPE,
 *         SB_ERR_BOUNDS, SB_ERR_ALIGNMENT it is no valid layout · SB_ERR_UNSUPPORTED the bytes are V8's, of another
 *         thread · SB_ERR_STALE another thread's samebytes · SB_ERR_MEMORY */
SB_CHECKED static inline sb_status sb_tensor_to_napi(const sb_napi *samebytes, const sb_tensor *t,
                                                     napi_value *out) {
  if (!samebytes->call) return SB_ERR_ARGUMENT;
  return samebytes->call->tensor_to_napi(samebytes->environment, t, out);
}

/* Throws what a status stands for, with the code and class that samebytes' own errors have.
 *
 *   samebytes  open or not
 *   words      what went wrong; NULL: what samebytes said last on this thread
 *
 * Returns NULL, for a callback to return */
static inline napi_value sb_napi_throw_words(const sb_napi *samebytes, napi_env env,
                                             sb_status status, const char *words) {
  static const char *const codes[] = {"",
#define X(code, class, meaning) "ERR_" #code,
                                      SB_ERRORS(X)
#undef X
  };
  if (samebytes->call) {
    napi_value error = samebytes->call->napi_error(samebytes->environment, status, words);
    if (error && napi_throw(env, error) == napi_ok) return NULL;
    if (!words) words = samebytes->call->error_message();
  } else if (!words) {
    words = samebytes->message[0] ? samebytes->message
                                  : "samebytes is not open: sb_napi_open comes before this";
  }
  const char *code = (size_t)status < sizeof codes / sizeof *codes ? codes[status] : "";
  if (status == SB_ERR_ARGUMENT)
    napi_throw_type_error(env, code, words);
  else
    napi_throw_error(env, code, words);
  return NULL;
}

/* The same with the words of the last failure: what a callback returns whose call of samebytes failed. */
static inline napi_value sb_napi_throw(const sb_napi *samebytes, napi_env env, sb_status status) {
  return sb_napi_throw_words(samebytes, env, status, NULL);
}

#ifdef __cplusplus
}
#endif

#endif
