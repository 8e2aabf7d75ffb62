/* DLPack capsules in JavaScript: samebytes_dlpack.h's externals, made of operands and taken into storages. */
#include "node/environment.h"
#include "samebytes_dlpack.h"

static sb_status no_memory(void) { return sb__fail(SB_ERR_MEMORY, "no memory for a capsule"); }

/* The operand's layout over a storage that a consumer may hold: what is lent under the number or, where that is
 * negative, a native storage itself. out holds one reference. */
static sb_status holdable(sb__environment *e, double number, sb_tensor *out) {
  if (number >= 0) return sb__pin(e, (uint32_t)number, out);
  const sb_status status = sb__read_operand(&e->binding);
  if (status) return status;
  sb_tensor_copy_layout(&e->binding.operands[0], out);
  sb_tensor_retain(out);
  return SB_OK;
}

static sb_status managed_of(const sb_tensor *t, bool versioned, bool copied, void **out) {
  struct sb_dl_managed_versioned *made = NULL;
  struct sb_dl_managed *legacy = NULL;
  const sb_status status = versioned ? sb_tensor_to_dlpack(t, copied ? SB_DL_IS_COPIED : 0, &made)
                                     : sb_tensor_to_dlpack_legacy(t, &legacy);
  if (!status) *out = versioned ? (void *)made : (void *)legacy;
  return status;
}

/* capsule(number, versioned, copied) → a capsule of the first operand in the frame, or undefined and a status
 * there. Then the first result says whether the number was lent, and comes back by itself. */
napi_value sb__node_capsule(napi_env env, napi_callback_info info) {
  napi_value arguments[3] = {NULL, NULL, NULL}, made = NULL;
  sb__environment *e = sb__enter(env, info, 3, arguments);
  bool versioned = false, copied = false;
  void *managed = NULL;
  sb_tensor t;
  napi_get_value_bool(env, arguments[1], &versioned);
  napi_get_value_bool(env, arguments[2], &copied);
  e->binding.frame[SB__FRAME_RESULTS] = 0;
  sb_status status = holdable(e, sb__number_of(env, arguments[0]), &t);
  if (!status) {
    e->binding.frame[SB__FRAME_RESULTS] = 1;
    status = managed_of(&t, versioned, copied, &managed);
    sb_tensor_release(&t);
  }
  if (!status && sb_dl_capsule_new(env, versioned, managed, &made) != napi_ok) {
    sb_dl_free(versioned, managed);
    status = no_memory();
  }
  sb__report(&e->binding, status);
  return made;
}

/* Which number this environment lent the storage under; -1: a native storage, or somebody else's bytes. */
static sb_status number_of(const sb__environment *e, const sb_storage *source, int64_t *number) {
  *number = sb__pin_number(e, source);
  if (*number >= 0 || !source || source->kind != SB__STORAGE_PIN || sb__pin_base(source))
    return SB_OK;
  return sb__fail(SB_ERR_UNSUPPORTED, "the capsule's bytes belong to JavaScript of another thread; "
                                      "__dlpack__({ copy: true }) copies them there");
}

/* The layout of what is managed goes to the frame, and with it a claim on its bytes or, where this environment
 * lent them, their number. Where it fails, the struct is its owner's as before, unless it is gone: memory of a device is
 * taken over before the last thing that can fail, for want of memory. */
static sb_status take_in(sb__environment *e, bool versioned, void *managed, bool *is_gone) {
  sb__binding *b = &e->binding;
  sb_tensor *t = &b->operands[0];
  int64_t number = -1;
  const sb_storage *source = sb__dlpack_storage(versioned, managed);
  sb_status status = number_of(e, source, &number);
  if (!status) {
    status =
        versioned ? sb_tensor_from_dlpack(managed, t) : sb_tensor_from_dlpack_legacy(managed, t);
  }
  if (status) return status;
  if (number >= 0) { /* offsets count from where those bytes begin */
    const intptr_t moved = (intptr_t)t->storage->data - (intptr_t)source->data;
    t->offset += moved / sb_dtype_itemsize(t->dtype);
  }
  status = sb__write_layout(b);
  if (!status && number < 0) status = sb__claim_result(b, t->storage);
  if (status) {
    *is_gone = SB__ON_DEVICE(t->storage);
    if (!*is_gone) t->storage->deleter = NULL; /* not taken over */
    sb_tensor_release(t);
    return status;
  }
  b->frame[SB__FRAME_RESULTS + 3] = t->flags;
  b->frame[SB__FRAME_RESULTS + 4] = (double)number;
  if (number >= 0) sb_tensor_release(t); /* the loan comes back on a later turn */
  return SB_OK;
}

/* fromCapsule(value): uses the capsule up, unless it fails. Results: handle, address, bytes, flags, and the
 * number under which the bytes were lent, or -1; then there is no handle. */
napi_value sb__node_from_capsule(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  int versioned = 0;
  void *managed = NULL;
  bool is_gone = false;
  sb_status status = SB_OK;
  switch (sb_dl_capsule_take(env, argument, &versioned, &managed)) {
    case SB_DL_TAKEN: status = take_in(e, versioned != 0, managed, &is_gone); break;
    case SB_DL_USED:
      sb__report(&e->binding,
                 sb__fail(SB_ERR_STALE, "the capsule was used before; each can be once"));
      return NULL;
    case SB_DL_FOREIGN:
      sb__report(&e->binding, sb__fail(SB_ERR_ARGUMENT, "x is no capsule of DLPack's"));
      return NULL;
  }
  if (status && !is_gone) sb_dl_capsule_give_back(env, argument, managed);
  sb__report(&e->binding, status);
  return NULL;
}
