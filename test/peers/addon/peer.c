/* What other people's addons do with tensors, and what they do wrong. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "samebytes_napi.h"

enum { MOST_HELD = 4096 };

static atomic_int freed;      /* calls of count_and_free */
static sb_tensor parked;      /* handed from one environment to what outlives it */
static const sb_table *parked_by;

typedef struct peer { /* of one environment */
  sb_napi samebytes;
  sb_tensor held[MOST_HELD];
  int count;
} peer;

static peer *enter(napi_env env, napi_callback_info info, size_t count, napi_value *arguments) {
  peer *p = NULL;
  for (size_t i = 0; i < count; i++) arguments[i] = NULL;
  napi_get_cb_info(env, info, &count, arguments, NULL, NULL);
  napi_get_instance_data(env, (void **)&p);
  return p;
}

static double number(napi_env env, napi_value value) {
  double x = 0;
  napi_get_value_double(env, value, &x);
  return x;
}

static napi_value as_number(napi_env env, double x) {
  napi_value value = NULL;
  napi_create_double(env, x, &value);
  return value;
}

static void count_and_free(void *data, void *context) {
  (void)context;
  atomic_fetch_add(&freed, 1);
  free(data);
}

/* open(from): once for this environment */
static napi_value open_from(napi_env env, napi_callback_info info) {
  napi_value from = NULL;
  peer *p = enter(env, info, 1, &from);
  sb_napi opened = {0};
  const sb_status status = sb_napi_open(env, from, &opened);
  if (status) return sb_napi_throw(&opened, env, status);
  p->samebytes = opened;
  return NULL;
}

/* throwIt(status): what an addon throws for a status that is its own */
static napi_value throw_it(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  peer *p = enter(env, info, 1, &argument);
  return sb_napi_throw(&p->samebytes, env, (sb_status)number(env, argument));
}

/* describe(t) → [address, dtype, ndim, numel, offset, flags, dynamism, capacity, ...shape, ...strides] */
static napi_value describe(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, list = NULL;
  sb_napi samebytes = {0};
  sb_tensor t;
  enter(env, info, 1, &argument);
  const sb_status status = sb_tensor_from_napi(&samebytes, env, argument, SB_READ_ONLY, &t);
  if (status) return sb_napi_throw(&samebytes, env, status);
  const double fixed[] = {(double)(uintptr_t)samebytes.call->tensor_data(&t),
                          t.dtype,
                          t.ndim,
                          (double)samebytes.call->tensor_numel(&t),
                          (double)t.offset,
                          t.flags,
                          t.dynamism,
                          (double)t.capacity};
  uint32_t n = 0;
  napi_create_array(env, &list);
  for (; n < 8; n++) napi_set_element(env, list, n, as_number(env, fixed[n]));
  for (int32_t d = 0; d < t.ndim; d++, n++) napi_set_element(env, list, n, as_number(env, (double)t.shape[d]));
  for (int32_t d = 0; d < t.ndim; d++, n++) napi_set_element(env, list, n, as_number(env, (double)t.strides[d]));
  samebytes.call->tensor_release(&t);
  return list;
}

/* fill(t, value): writes every element where it is */
static napi_value fill(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  sb_napi samebytes = {0};
  sb_tensor t;
  enter(env, info, 2, arguments);
  sb_status status = sb_tensor_from_napi(&samebytes, env, arguments[0], 0, &t);
  if (status) return sb_napi_throw(&samebytes, env, status);
  sb_scalar value = {0};
  value.kind = SB_SCALAR_REAL;
  value.as.real = number(env, arguments[1]);
  status = samebytes.call->fill(&t, &value);
  samebytes.call->tensor_release(&t);
  return status ? sb_napi_throw(&samebytes, env, status) : NULL;
}

/* same(t): in and out again; flags: 1 to ask for reading only */
static napi_value same(napi_env env, napi_callback_info info) {
  napi_value arguments[2], out = NULL;
  peer *p = enter(env, info, 2, arguments);
  sb_tensor t;
  sb_status status =
      sb_tensor_from_napi(&p->samebytes, env, arguments[0], (uint32_t)number(env, arguments[1]), &t);
  if (status) return sb_napi_throw(&p->samebytes, env, status);
  status = sb_tensor_to_napi(&p->samebytes, &t, &out);
  p->samebytes.call->tensor_release(&t);
  return status ? sb_napi_throw(&p->samebytes, env, status) : out;
}

/* last(t): a view of its last index along the first axis */
static napi_value last(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, out = NULL;
  peer *p = enter(env, info, 1, &argument);
  sb_tensor t, view;
  sb_status status = sb_tensor_from_napi(&p->samebytes, env, argument, 0, &t);
  if (status) return sb_napi_throw(&p->samebytes, env, status);
  status = p->samebytes.call->select(&t, 0, -1, &view);
  if (!status) status = sb_tensor_to_napi(&p->samebytes, &view, &out);
  p->samebytes.call->tensor_release(&t);
  return status ? sb_napi_throw(&p->samebytes, env, status) : out;
}

/* count(n) → float32 [n]: 0, 1, 2, … in memory that the addon allocated; freed() counts its deleter */
static napi_value count_up(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, out = NULL;
  peer *p = enter(env, info, 1, &argument);
  const int64_t n = (int64_t)number(env, argument);
  float *data = malloc((size_t)(n ? n : 1) * sizeof *data);
  if (!data) return NULL;
  for (int64_t i = 0; i < n; i++) data[i] = (float)i;
  sb_tensor t;
  sb_status status = p->samebytes.call->tensor_from_blob(data, (size_t)n * sizeof *data, SB_FLOAT32, 1, &n,
                                                         NULL, count_and_free, NULL, &t);
  if (status) {
    free(data);
    return sb_napi_throw(&p->samebytes, env, status);
  }
  status = sb_tensor_to_napi(&p->samebytes, &t, &out);
  p->samebytes.call->tensor_release(&t);
  return status ? sb_napi_throw(&p->samebytes, env, status) : out;
}

/* freed() → deleters that have run, in the whole process */
static napi_value freed_so_far(napi_env env, napi_callback_info info) {
  (void)info;
  return as_number(env, atomic_load(&freed));
}

/* wrong(what): layouts that no addon should fill */
static napi_value wrong(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, out = NULL;
  peer *p = enter(env, info, 1, &argument);
  const int64_t shape[] = {2, 3};
  sb_tensor t;
  sb_status status = p->samebytes.call->tensor_empty(SB_FLOAT32, 2, shape, &t);
  if (status) return sb_napi_throw(&p->samebytes, env, status);
  sb_tensor bad = t;
  switch ((int)number(env, argument)) {
  case 0: bad.abi = 99; break;
  case 1: bad.ndim = -1; break;
  case 2: bad.ndim = 1000; break;
  case 3: bad.dtype = (sb_dtype)77; break;
  case 4: bad.shape[0] = 3; break;
  case 5: bad.shape[0] = -1; break;
  case 6: bad.offset = -1; break;
  case 7: bad.strides[0] = INT64_MAX; break;
  case 8: bad.shape[0] = bad.shape[1] = INT64_MAX; break;
  case 9: bad.storage = NULL; break;
  case 10: bad.dynamism = 9; break;
  case 11: bad.dtype = SB_COMPLEX128; break;
  default: break;
  }
  status = sb_tensor_to_napi(&p->samebytes, &bad, &out);
  p->samebytes.call->tensor_release(&t);
  return status ? sb_napi_throw(&p->samebytes, env, status) : out;
}

/* fromFlags(t, flags): flags as given */
static napi_value from_flags(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  peer *p = enter(env, info, 2, arguments);
  sb_tensor t;
  const sb_status status =
      sb_tensor_from_napi(&p->samebytes, env, arguments[0], (uint32_t)number(env, arguments[1]), &t);
  if (status) return sb_napi_throw(&p->samebytes, env, status);
  p->samebytes.call->tensor_release(&t);
  return NULL;
}

/* afterThrow(t, open, back) throws RangeError('mine') and then takes t, or gives a tensor back */
static napi_value after_throw(napi_env env, napi_callback_info info) {
  napi_value arguments[3], out = NULL;
  peer *p = enter(env, info, 3, arguments);
  const int64_t shape[] = {2};
  sb_napi fresh = {0};
  sb_napi *samebytes = number(env, arguments[1]) != 0 ? &p->samebytes : &fresh;
  sb_tensor t;
  sb_status status = SB_OK;
  napi_throw_range_error(env, NULL, "mine");
  if (number(env, arguments[2]) == 0) {
    status = sb_tensor_from_napi(samebytes, env, arguments[0], 0, &t);
    if (!status) p->samebytes.call->tensor_release(&t);
  } else if (p->samebytes.call->tensor_empty(SB_INT8, 1, shape, &t) == SB_OK) {
    status = sb_tensor_to_napi(samebytes, &t, &out);
    p->samebytes.call->tensor_release(&t);
  }
  return status ? sb_napi_throw(samebytes, env, status) : NULL;
}

/* hold(t): keeps it until release() */
static napi_value hold(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  peer *p = enter(env, info, 1, &argument);
  if (p->count == MOST_HELD) return NULL;
  const sb_status status =
      sb_tensor_from_napi(&p->samebytes, env, argument, SB_READ_ONLY, &p->held[p->count]);
  if (status) return sb_napi_throw(&p->samebytes, env, status);
  p->count++;
  return NULL;
}

/* heldSum() → of the float32 elements of all that are held, read now */
static napi_value held_sum(napi_env env, napi_callback_info info) {
  peer *p = enter(env, info, 0, NULL);
  double sum = 0;
  for (int i = 0; i < p->count; i++) {
    const sb_tensor *t = &p->held[i];
    const int64_t n = p->samebytes.call->tensor_numel(t);
    const float *data = p->samebytes.call->tensor_data(t);
    for (int64_t k = 0; k < n; k++) sum += (double)data[k * (t->ndim ? t->strides[t->ndim - 1] : 1)];
  }
  return as_number(env, sum);
}

/* heldToJs() → the last one that is held, as a tensor */
static napi_value held_to_js(napi_env env, napi_callback_info info) {
  napi_value out = NULL;
  peer *p = enter(env, info, 0, NULL);
  if (!p->count) return NULL;
  const sb_status status = sb_tensor_to_napi(&p->samebytes, &p->held[p->count - 1], &out);
  return status ? sb_napi_throw(&p->samebytes, env, status) : out;
}

/* early(): a tensor out, before samebytes is open */
static napi_value early(napi_env env, napi_callback_info info) {
  const sb_napi closed = {0};
  sb_tensor t = {0};
  napi_value out = NULL;
  (void)info;
  const sb_status status = sb_tensor_to_napi(&closed, &t, &out);
  return status ? sb_napi_throw(&closed, env, status) : out;
}

/* release(): all of them, on this thread */
static napi_value release(napi_env env, napi_callback_info info) {
  peer *p = enter(env, info, 0, NULL);
  while (p->count > 0) p->samebytes.call->tensor_release(&p->held[--p->count]);
  return NULL;
}

typedef struct job {
  const sb_table *call;
  sb_tensor *tensors;
  int count;
} job;

static void *release_all(void *data) {
  job *j = data;
  for (int i = 0; i < j->count; i++) j->call->tensor_release(&j->tensors[i]);
  return NULL;
}

/* releaseElsewhere(): all of them, on another thread, which has ended when this returns */
static napi_value release_elsewhere(napi_env env, napi_callback_info info) {
  peer *p = enter(env, info, 0, NULL);
  job j = {p->samebytes.call, p->held, p->count};
  pthread_t thread;
  if (pthread_create(&thread, NULL, release_all, &j)) return NULL;
  pthread_join(thread, NULL);
  p->count = 0;
  return NULL;
}

/* park(t): keeps it beyond this environment; one at a time */
static napi_value park(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  peer *p = enter(env, info, 1, &argument);
  if (parked_by) return NULL;
  const sb_status status = sb_tensor_from_napi(&p->samebytes, env, argument, 0, &parked);
  if (status) return sb_napi_throw(&p->samebytes, env, status);
  parked_by = p->samebytes.call;
  return NULL;
}

/* parkedFirst() → its first float32 */
static napi_value parked_first(napi_env env, napi_callback_info info) {
  (void)info;
  if (!parked_by) return NULL;
  return as_number(env, (double)*(const float *)parked_by->tensor_data(&parked));
}

/* parkedToJs() → a tensor of this environment over it */
static napi_value parked_to_js(napi_env env, napi_callback_info info) {
  napi_value out = NULL;
  peer *p = enter(env, info, 0, NULL);
  if (!parked_by) return NULL;
  const sb_status status = sb_tensor_to_napi(&p->samebytes, &parked, &out);
  return status ? sb_napi_throw(&p->samebytes, env, status) : out;
}

static napi_value unpark(napi_env env, napi_callback_info info) {
  (void)env;
  (void)info;
  if (parked_by) parked_by->tensor_release(&parked);
  parked_by = NULL;
  return NULL;
}

typedef struct attempt {
  sb_napi samebytes;
  napi_value value;
  sb_status status[2];
} attempt;

static void *try_elsewhere(void *data) {
  attempt *a = data;
  sb_tensor t;
  napi_value out = NULL;
  memset(&t, 0, sizeof t);
  a->status[0] = a->samebytes.call->tensor_from_napi(a->samebytes.environment, a->value, 0, &t);
  a->status[1] = sb_tensor_to_napi(&a->samebytes, &t, &out);
  return NULL;
}

/* elsewhere(t) → [status, status] of both calls from a thread that has no JavaScript */
static napi_value elsewhere(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, list = NULL;
  peer *p = enter(env, info, 1, &argument);
  attempt a = {p->samebytes, argument, {SB_OK, SB_OK}};
  pthread_t thread;
  if (pthread_create(&thread, NULL, try_elsewhere, &a)) return NULL;
  pthread_join(thread, NULL);
  napi_create_array(env, &list);
  for (uint32_t i = 0; i < 2; i++) {
    napi_value name = NULL;
    napi_create_string_utf8(env, p->samebytes.call->status_name(a.status[i]), NAPI_AUTO_LENGTH, &name);
    napi_set_element(env, list, i, name);
  }
  return list;
}

/* table() → [bytes, major, minor, functions that are missing] */
static napi_value table(napi_env env, napi_callback_info info) {
  napi_value list = NULL;
  peer *p = enter(env, info, 0, NULL);
  const sb_table *call = p->samebytes.call;
  int missing = !call->tensor_from_napi + !call->tensor_to_napi + !call->napi_error;
#define X(name) missing += !call->name;
  SB_FUNCTIONS(X)
#undef X
  const double values[] = {call->size, call->major, call->minor, missing};
  napi_create_array(env, &list);
  for (uint32_t i = 0; i < 4; i++) napi_set_element(env, list, i, as_number(env, values[i]));
  return list;
}

/* forge() → an external without our type tag */
static napi_value forge(napi_env env, napi_callback_info info) {
  static sb_napi_offer nothing;
  napi_value external = NULL;
  (void)info;
  napi_create_external(env, &nothing, NULL, NULL, &external);
  return external;
}

static void end(napi_env env, void *data, void *hint) {
  peer *p = data;
  (void)env;
  (void)hint;
  while (p->count > 0) p->samebytes.call->tensor_release(&p->held[--p->count]);
  free(p);
}

NAPI_MODULE_INIT(/* napi_env env, napi_value exports */) {
  static const struct {
    const char *name;
    napi_callback function;
  } functions[] = {
      {"open", open_from},
      {"throwIt", throw_it},
      {"describe", describe},
      {"fill", fill},
      {"same", same},
      {"last", last},
      {"count", count_up},
      {"freed", freed_so_far},
      {"wrong", wrong},
      {"fromFlags", from_flags},
      {"afterThrow", after_throw},
      {"hold", hold},
      {"heldSum", held_sum},
      {"heldToJs", held_to_js},
      {"early", early},
      {"release", release},
      {"releaseElsewhere", release_elsewhere},
      {"park", park},
      {"parkedFirst", parked_first},
      {"parkedToJs", parked_to_js},
      {"unpark", unpark},
      {"elsewhere", elsewhere},
      {"table", table},
      {"forge", forge},
  };
  peer *p = calloc(1, sizeof *p);
  if (!p || napi_set_instance_data(env, p, end, NULL) != napi_ok) {
    free(p);
    return NULL;
  }
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    napi_value function = NULL;
    napi_create_function(env, functions[i].name, NAPI_AUTO_LENGTH, functions[i].function, NULL, &function);
    napi_set_named_property(env, exports, functions[i].name, function);
  }
  return exports;
}
