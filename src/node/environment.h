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
  struct sb__office *loans; /* one reference */
  struct sb__room *waits;   /* one reference */
  struct sb__desk *cuda;    /* one reference */
  struct exposed *exposed;  /* buffers over native memory */
  struct tail *tail;        /* the newest buffer of all; NULL: there is none yet */
  bool is_main;             /* its end is the process's, and all other threads have ended */
  bool is_ending;           /* Node finalizes what is left of buffers */
  bool no_external_buffers; /* as in runtimes that refuse them */
  bool counts_below_zero;   /* V8's external memory may be corrected downwards */
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

/* ---- watches.c ---- */

napi_value sb__node_watch(napi_env env, napi_callback_info info);
napi_value sb__node_watched(napi_env env, napi_callback_info info);
napi_value sb__node_unwatch(napi_env env, napi_callback_info info);
napi_value sb__node_sweep(napi_env env, napi_callback_info info);

/* Sees to it that the next watch() finds a record. False: there is no memory. */
bool sb__watch_reserve(sb__environment *e);

/* The native storage that goes with a watch; borrowed. NULL: there is none. */
sb_storage *sb__watch_storage(sb__environment *e, double id);

/* Tells V8 how many bytes a watched object stands for, instead of what it was told before. The id is a watch's. */
void sb__watch_account(sb__environment *e, double id, int64_t nbytes);

/* Drops the claims of objects that nobody can reach any more, whether or not they were collected on the event loop; the next
 * sweep() tells JavaScript which. Returns true if there were any. */
bool sb__drop_unreachable(sb__environment *e);

void sb__watches_end(sb__environment *e);
void sb__watches_free(sb__environment *e); /* the last thing */

/* ---- buffers.c ---- */

napi_value sb__node_address(napi_env env, napi_callback_info info);
napi_value sb__node_locate(napi_env env, napi_callback_info info);
napi_value sb__node_move(napi_env env, napi_callback_info info);
napi_value sb__node_buffer(napi_env env, napi_callback_info info);
napi_value sb__node_shared_buffer(napi_env env, napi_callback_info info);

/* The storage that holds the bytes under a buffer which this environment made; NULL: they are not native, or nobody holds them. */
sb_storage *sb__exposed_at(const sb__environment *e, const void *data, size_t nbytes);

/* ---- deleters.c ---- */

napi_value sb__node_wrap(napi_env env, napi_callback_info info);
napi_value sb__node_on_deleter(napi_env env, napi_callback_info info);
napi_value sb__node_due(napi_env env, napi_callback_info info);

bool sb__deleters_begin(sb__environment *e);
void sb__deleters_end(sb__environment *e);  /* from here on none runs */
void sb__deleters_free(sb__environment *e); /* the last thing */

/* ---- async.c ---- */

napi_value sb__node_copy(napi_env env, napi_callback_info info);
napi_value sb__node_stop(napi_env env, napi_callback_info info);

/* Stops them all: the environment ends. */
void sb__copies_end(sb__environment *e);

/* ---- loans.c ---- */

/* Lends the bytes of the first operand in the frame to native code. JavaScript holds what the operand is over
 * under a number (js/backend/pins.js: hold), and lets it go once it hears of its return.
 *
 *   number  that hold() gave
 *   out     the operand's layout; holds the one reference to a storage of its own. Whoever drops the last
 *           reference, on whatever thread, and also when this environment has ended, gives the bytes back
 *
 * Errors  as the operand's checks · SB_ERR_MEMORY. JavaScript must let go of the number then */
sb_status sb__lend(sb__environment *e, uint32_t number, sb_tensor *out);

/* The base of what was lent: a native storage, which may stay longer than its environment. NULL: the bytes are
 * V8's, or the storage is none that was lent. */
sb_storage *sb__lent_base(const sb_storage *storage);

/* Which number of this environment a storage was lent under; -1: none of this one's. */
int64_t sb__lent_number(const sb__environment *e, const sb_storage *storage);

napi_value sb__node_on_returned(napi_env env, napi_callback_info info);
napi_value sb__node_returned(napi_env env, napi_callback_info info);

bool sb__loans_begin(sb__environment *e);
void sb__loans_end(sb__environment *e);  /* from here on nothing is heard of a return */
void sb__loans_free(sb__environment *e); /* the last thing */

/* ---- waits.c ---- */

napi_value sb__node_wait(napi_env env, napi_callback_info info);
napi_value sb__node_end_wait(napi_env env, napi_callback_info info);

bool sb__waits_begin(sb__environment *e);
void sb__waits_end(
    sb__environment *e); /* all that sleep are woken; their threads let go of what they hold */
void sb__waits_free(sb__environment *e); /* the last thing */

/* ---- cuda.c ---- */

napi_value sb__node_cuda_when(napi_env env, napi_callback_info info);
napi_value sb__node_cuda_copy(napi_env env, napi_callback_info info);
napi_value sb__node_cuda_end(napi_env env, napi_callback_info info);
napi_value sb__node_cuda_on_full(napi_env env, napi_callback_info info);

/* What a thread of its own does, because it blocks; the first member of what somebody allocated. */
typedef struct sb__errand {
  sb__task task; /* the first member: cuda.c's, as is the second one */
  struct expected *expected;
  sb_status (*run)(struct sb__errand *errand); /* on that thread */
  void (*stop)(struct sb__errand *errand);     /* the environment ends: run returns soon, or has */
  sb_status (*tell)(struct sb__errand *errand, /* it went well: the results go to the frame, */
                    sb__environment *e);       /* on the environment's thread */
  void (*free)(struct sb__errand *errand);     /* on any thread, at last */
} sb__errand;

/* Begins one; it is this function's, also where that fails. done is called on a later turn of the loop, with the frame as tell, or the
 * failure, left it. An environment that ends stops it, and does not wait for it. */
sb_status sb__run_errand(sb__environment *e, sb__errand *errand, napi_value done);

bool sb__desk_begin(sb__environment *e);
void sb__desk_end(sb__environment *e);  /* waits for copies, and tells nobody from here on */
void sb__desk_free(sb__environment *e); /* the last thing */

/* ---- addons.c ---- */

napi_value sb__node_offer(napi_env env, napi_callback_info info);
void sb__offers_end(sb__environment *e); /* from here on other addons find nothing */

/* ---- vram.c ---- */

napi_value sb__node_vram_new(napi_env env, napi_callback_info info);
napi_value sb__node_vram_share(napi_env env, napi_callback_info info);
napi_value sb__node_vram_unshare(napi_env env, napi_callback_info info);
napi_value sb__node_vram_held(napi_env env, napi_callback_info info);
napi_value sb__node_vram_open(napi_env env, napi_callback_info info);

/* ---- capsules.c ---- */

napi_value sb__node_capsule(napi_env env, napi_callback_info info);
napi_value sb__node_from_capsule(napi_env env, napi_callback_info info);

#endif
