/* What other addons get from us: a table of the public functions, and tensors in and out of JavaScript. They
 * find it by an external that tensors carry (js/tensor/addons.js), and call from callbacks of their own. */
#include <string.h>

#include "node/environment.h"
#include "samebytes_napi.h"

/* One instance of the package's JavaScript; a process may have several over one addon (Jest). */
typedef struct offer {
  sb_napi_offer shown; /* to other addons */
  struct offer *next;  /* of this thread */
  sb__environment *owner;
  napi_ref lend, make, fail; /* weak: js/tensor/addons.js keeps them */
} offer;

static SB_THREAD_LOCAL offer *offers; /* of environments of this thread that have not ended */
static atomic_uint_fast64_t last_number;

static offer *find_offer(uint64_t environment) {
  offer *o = offers;
  while (o && o->shown.environment != environment) o = o->next;
  if (!o) {
    (void)sb__fail(SB_ERR_STALE,
                   "this sb_napi belongs to another thread, or to a samebytes that is gone");
  }
  return o;
}

/* A function of JavaScript's that throws nothing; NULL where it could not run. */
static napi_value call_javascript(const offer *o, napi_ref function, size_t count,
                                  const napi_value *arguments) {
  napi_env env = o->owner->env;
  napi_value undefined = NULL, callee = NULL, result = NULL, ignored = NULL;
  napi_get_undefined(env, &undefined);
  if (napi_get_reference_value(env, function, &callee) != napi_ok || !callee) return NULL;
  if (napi_call_function(env, undefined, callee, count, arguments, &result) == napi_ok)
    return result;
  napi_get_and_clear_last_exception(env, &ignored); /* the stack is used up, say */
  return NULL;
}

/* What JavaScript said went wrong: its status, its words in the frame. */
static sb_status failure_of(const offer *o, double status) {
  const char *text = (const char *)(o->owner->binding.frame + SB__FRAME_TEXT);
  if (!(status > 0 && status < 100)) return sb__fail(SB_ERR_MEMORY, "JavaScript could not run");
  return sb__fail((sb_status)status, "%s", text);
}

/* ---- The table's own functions ---- */

/* Addons read and write what they get. */
static sb_status pin_for_addon(const offer *o, uint32_t number, sb_tensor *out) {
  sb__binding *b = &o->owner->binding;
  sb_status status = sb__read_operand(b);
  if (!status) status = sb__check_host("the tensor", b->operands[0].storage);
  return status ? status : sb__pin(o->owner, number, out);
}

static sb_status from_napi(uint64_t environment, napi_value value, uint32_t flags, sb_tensor *out) {
  const offer *o = find_offer(environment);
  if (!o) return SB_ERR_STALE;
  if (flags & ~SB_READ_ONLY) {
    return sb__fail(SB_ERR_ARGUMENT, "flags is %u; 0 or SB_READ_ONLY was expected",
                    (unsigned)flags);
  }
  napi_env env = o->owner->env;
  napi_handle_scope scope = NULL;
  napi_value arguments[2] = {value, NULL};
  double number = -(double)SB_ERR_MEMORY;
  if (napi_open_handle_scope(env, &scope) != napi_ok)
    return sb__fail(SB_ERR_MEMORY, "no memory for a scope");
  napi_get_boolean(env, flags != 0, &arguments[1]);
  napi_value result = call_javascript(o, o->lend, 2, arguments);
  if (result) napi_get_value_double(env, result, &number);
  sb_status status =
      number < 0 ? failure_of(o, result ? -number : 0) : pin_for_addon(o, (uint32_t)number, out);
  if (number >= 0 && status) { /* it was not lent after all */
    char text[256];
    strncpy(text, sb_error_message(), sizeof text - 1);
    text[sizeof text - 1] = 0;
    arguments[0] = result;
    call_javascript(o, o->lend, 1, arguments); /* takes it back */
    status = sb__fail(status, "%s", text);
  }
  napi_close_handle_scope(env, scope);
  return status;
}

/* Checks a layout that an addon filled, and leaves it in the first operand. */
static sb_status take_layout(sb__binding *b, const sb_tensor *t) {
  sb_tensor *mine = &b->operands[0];
  if (t->abi != SB_ABI) {
    return sb__fail(SB_ERR_ARGUMENT, "t has ABI %u; %u was expected", (unsigned)t->abi, SB_ABI);
  }
  if (t->ndim < 0 || t->ndim > SB_MAX_DIMS) {
    return sb__fail(SB_ERR_SHAPE, "t has %d axes; 0 to %d are possible", (int)t->ndim, SB_MAX_DIMS);
  }
  if (!sb__dtype_is_valid((int64_t)t->dtype)) {
    return sb__fail(SB_ERR_DTYPE, "%d is no dtype", (int)t->dtype);
  }
  if (t->dynamism < SB_STATIC || t->dynamism > SB_UNBOUND) {
    return sb__fail(SB_ERR_ARGUMENT, "t's dynamism is %d; 0 to 2 are possible", (int)t->dynamism);
  }
  sb_tensor_copy_layout(t, mine);
  mine->flags &= SB_READ_ONLY;
  sb_status status = sb__tensor_finish(mine);
  if (!status) status = sb__check_bytes("t", mine);
  return status;
}

/* Puts what JavaScript makes a storage of into RESULTS: a handle, address, bytes. */
static sb_status claim(sb__binding *b, sb_storage *storage) {
  sb_storage *mine = NULL;
  double *results = b->frame + SB__FRAME_RESULTS;
  sb_status status = SB_OK;
  if (storage && storage->kind == SB__STORAGE_PIN) {
    storage = sb__pin_base(storage);
    if (!storage) {
      return sb__fail(SB_ERR_UNSUPPORTED,
                      "the bytes belong to another environment, and can be returned there only");
    }
  }
  if (storage)
    mine = sb_storage_ref(storage);
  else
    status = sb_storage_new(0, &mine); /* no elements */
  if (!status) status = sb__claim_new(b, mine, &results[0]);
  if (status) {
    sb_storage_unref(&mine);
    return status;
  }
  results[1] = (double)(uintptr_t)mine->data;
  results[2] = (double)mine->nbytes;
  return SB_OK;
}

static sb_status to_napi(uint64_t environment, const sb_tensor *t, napi_value *out) {
  const offer *o = find_offer(environment);
  if (!o) return SB_ERR_STALE;
  sb__binding *b = &o->owner->binding;
  napi_env env = o->owner->env;
  napi_escapable_handle_scope scope = NULL;
  sb_status status = take_layout(b, t);
  if (!status) status = sb__write_layout(b);
  if (status) return status;
  const int64_t number = sb__pin_number(o->owner, t->storage);
  if (number < 0) status = claim(b, t->storage);
  if (status) return status;
  if (napi_open_escapable_handle_scope(env, &scope) != napi_ok)
    return sb__fail(SB_ERR_MEMORY, "no memory for a scope");
  const napi_value arguments[] = {sb__number(env, (double)number), sb__number(env, t->dynamism),
                                  sb__number(env, t->flags & SB_READ_ONLY)};
  napi_value result = call_javascript(o, o->make, 3, arguments);
  napi_valuetype type = napi_undefined;
  double failure = 0;
  if (result) napi_typeof(env, result, &type);
  if (type == napi_object) {
    napi_escape_handle(env, scope, result, out);
  } else {
    if (result) napi_get_value_double(env, result, &failure);
    status = failure_of(o, -failure);
  }
  napi_close_escapable_handle_scope(env, scope);
  return status;
}

static napi_value error_of(uint64_t environment, sb_status status, const char *words) {
  char text[512];
  strncpy(text, words ? words : sb_error_message(), sizeof text - 1);
  text[sizeof text - 1] = 0;
  const offer *o = find_offer(environment);
  if (!o) return NULL;
  napi_env env = o->owner->env;
  napi_value arguments[2] = {sb__number(env, status), NULL};
  if (napi_create_string_utf8(env, text, NAPI_AUTO_LENGTH, &arguments[1]) != napi_ok) return NULL;
  return call_javascript(o, o->fail, 2, arguments);
}

static const sb_table table = {.size = sizeof(sb_table),
                               .major = SB_TABLE_MAJOR,
                               .minor = SB_TABLE_MINOR,
                               .tensor_from_napi = from_napi,
                               .tensor_to_napi = to_napi,
                               .napi_error = error_of,
#define X(name) .name = sb_##name,
                               SB_FUNCTIONS(X)
#undef X
};

/* ---- Environment ---- */

static void forget(const offer *o) {
  offer **at = &offers;
  while (*at && *at != o) at = &(*at)->next;
  if (*at) *at = o->next;
}

static void delete_functions(napi_env env, offer *o) {
  napi_ref *functions[] = {&o->lend, &o->make, &o->fail};
  for (size_t i = 0; i < 3; i++) {
    if (*functions[i]) napi_delete_reference(env, *functions[i]);
    *functions[i] = NULL;
  }
}

/* The external goes with its environment, or with the instance of the package: nobody is offered anything any more then. */
static void drop_offer(napi_env env, void *data, void *hint) {
  offer *o = data;
  (void)hint;
  forget(o);
  delete_functions(env, o);
  sb__free(o);
}

/* offer(lend, make, fail) → the external by which other addons find us; undefined without memory. */
napi_value sb__node_offer(napi_env env, napi_callback_info info) {
  static const napi_type_tag tag = SB_NAPI_TYPE_TAG;
  napi_value arguments[3] = {NULL, NULL, NULL}, external = NULL;
  sb__environment *e = sb__enter(env, info, 3, arguments);
  offer *o = sb__alloc(sizeof *o);
  if (!o) return NULL;
  *o = (offer){.shown = {&table, atomic_fetch_add(&last_number, 1) + 1}, .owner = e};
  if (napi_create_external(env, o, drop_offer, NULL, &external) != napi_ok) {
    sb__free(o);
    return NULL;
  }
  if (napi_create_reference(env, arguments[0], 0, &o->lend) != napi_ok ||
      napi_create_reference(env, arguments[1], 0, &o->make) != napi_ok ||
      napi_create_reference(env, arguments[2], 0, &o->fail) != napi_ok ||
      napi_type_tag_object(env, external, &tag) != napi_ok) {
    return NULL;
  }
  o->next = offers;
  offers = o;
  return external;
}

void sb__offers_end(sb__environment *e) {
  for (offer *o = offers, *next = NULL; o; o = next) {
    next = o->next;
    if (o->owner != e) continue;
    forget(o);
    delete_functions(e->env, o);
  }
}
