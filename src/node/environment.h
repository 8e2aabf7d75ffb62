/* What an environment of Node (a thread with its JavaScript) has, for the files of this folder. */
#ifndef SB_ENVIRONMENT_H
#define SB_ENVIRONMENT_H

#include <node_api.h>

#include "bind/frame.h"

typedef struct sb__environment {
  sb__binding binding;
  napi_env env;   /* NULL: has ended */
  napi_ref frame; /* keeps the frame's ArrayBuffer */
  struct watch **watches;
  uint32_t watch_count, watch_room, first_free; /* first_free: id + 1 */
  struct deleter_queue *deleters;               /* one reference */
  struct copying *copies;                       /* off the loop, that have not settled */
  uint32_t copies_made;
  bool no_external_buffers; /* as in runtimes that refuse them */
} sb__environment;

/* The caller's arguments and environment; missing arguments are undefined. */
static inline sb__environment *sb__enter(napi_env env, napi_callback_info info, size_t count,
                                         napi_value *values) {
  void *data = NULL;
  napi_get_cb_info(env, info, &count, values, NULL, &data);
  return data;
}

static inline double sb__number_of(napi_env env, napi_value value) {
  double x = 0;
  napi_get_value_double(env, value, &x); /* not a number: 0, which every user of it refuses */
  return x;
}

static inline napi_value sb__number(napi_env env, double x) {
  napi_value value = NULL;
  napi_create_double(env, x, &value);
  return value;
}

/* ---- async.c ---- */

napi_value sb__node_copy(napi_env env, napi_callback_info info);
napi_value sb__node_stop(napi_env env, napi_callback_info info);

/* Stops them all: the environment ends. */
void sb__copies_end(sb__environment *e);

#endif
