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
  struct sb__completion_queue *queue;           /* one reference */
  napi_threadsafe_function wake;                /* the queue's; NULL: nobody listens yet */
  uint32_t pending;                             /* that keep the event loop alive */
  struct js_deleter *deleters;                  /* that have not run */
  int due;                                      /* of them, which the loop stays alive for */
  struct offload *offloads; /* copies and arithmetic off the loop, that have not settled */
  uint32_t offloads_made;
  struct sb__completion *unpinned; /* told, and not asked for */
  napi_ref listener;               /* to what is unpinned */
  struct waiting *waits;           /* that JavaScript has not heard of */
  int wait_count;
  uint32_t waits_made;
  struct expected *expected; /* work on devices that JavaScript has not heard the end of */
  uint32_t expected_made;
  napi_ref collect;          /* collects garbage where a device is full; weak */
  struct model_work *models; /* runs and loads that JavaScript has not heard of */
  uint32_t models_made;
  struct model_work *loading;  /* a load that is being prepared */
  struct sb__onnx_run *run;    /* that is made, or whose results are taken */
  struct sb__buffers *buffers; /* over native memory; one reference */
  bool finalizes_moved;        /* its end finalizes buffers whose bytes another thread may have */
  bool no_external_buffers;    /* as in runtimes that refuse them */
  bool counts_below_zero;      /* V8's external memory may be corrected downwards */
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

/* ---- completion_queue.c ---- */

struct sb__completion;

/* On the environment's thread, on a later turn of its loop, in a handle scope: the completion is this function's from now on. */
typedef void (*sb__tell)(struct sb__completion *completion, sb__environment *e);

/* Part of work that ends on another thread. */
typedef struct sb__completion {
  struct sb__completion *next; /* the queue's */
  sb__tell tell;
  void (*drop)(
      struct sb__completion
          *completion); /* instead, where the environment ends: frees it, without JavaScript */
} sb__completion;

typedef struct sb__completion_queue sb__completion_queue;

sb__completion_queue *sb__queue_ref(sb__completion_queue *q);
void sb__queue_unref(sb__completion_queue *q);

/* Any thread: has it told. False: the environment has ended, and it stays the caller's. */
bool sb__queue_push(sb__completion_queue *q, sb__completion *completion, bool at_front);

/* The environment, if this is its thread and it has not ended; else NULL. */
sb__environment *sb__queue_owner(const sb__completion_queue *q);

/* The first completion that is to be told, if it is told by that function; the caller's from now on. NULL: it is another one, or none. */
sb__completion *sb__queue_pop(sb__environment *e, sb__tell tell);

/* From here on completions are told. Idempotent. False: there is no memory. */
bool sb__queue_listen(sb__environment *e);

/* The event loop stays alive until each hold was released. After sb__queue_listen. */
void sb__queue_hold_loop(sb__environment *e);
void sb__queue_release_loop(sb__environment *e);

bool sb__queue_begin(sb__environment *e);

/* Drops what was not told; and from here on pushing fails. */
void sb__queue_end(sb__environment *e);

/* ---- watches.c ---- */

napi_value sb__node_watch(napi_env env, napi_callback_info info);
napi_value sb__node_watched(napi_env env, napi_callback_info info);
napi_value sb__node_account(napi_env env, napi_callback_info info);
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

typedef struct sb__buffers sb__buffers;

bool sb__buffers_begin(sb__environment *e);
void sb__buffers_end(sb__environment *e); /* the last thing; finalizers may come later */

/* The storage that holds the bytes under a buffer which this environment made, with one reference; NULL: they are not native, or
 * nobody holds them. */
sb_storage *sb__external_buffer_at(const sb__environment *e, const void *data, size_t nbytes);

/* ---- deleters.c ---- */

napi_value sb__node_wrap(napi_env env, napi_callback_info info);
napi_value sb__node_due(napi_env env, napi_callback_info info);

void sb__deleters_end(sb__environment *e); /* from here on none runs */

/* ---- async.c ---- */

napi_value sb__node_copy(napi_env env, napi_callback_info info);
napi_value sb__node_compute(napi_env env, napi_callback_info info);
napi_value sb__node_stop(napi_env env, napi_callback_info info);

/* Stops them all: the environment ends. */
void sb__offloads_end(sb__environment *e);

/* ---- pins.c ---- */

/* Pins the bytes of the first operand in the frame for native code. JavaScript holds what the operand is over under a number
 * (js/backend/pins.js: hold), and lets it go once it hears that it was unpinned.
 *
 *   number  that hold() gave
 *   out     the operand's layout; holds the one reference to a storage of its own. Whoever drops the last
 *           reference, on whatever thread, and also when this environment has ended, unpins the bytes
 *
 * Errors  as the operand's checks · SB_ERR_MEMORY. JavaScript must let go of the number then */
sb_status sb__pin(sb__environment *e, uint32_t number, sb_tensor *out);

/* The base of what was pinned: a native storage, which may stay longer than its environment. NULL: the bytes are
 * V8's, or the storage is none that was pinned. */
sb_storage *sb__pin_base(const sb_storage *storage);

/* Which number of this environment a storage was pinned under; -1: none of this one's. */
int64_t sb__pin_number(const sb__environment *e, const sb_storage *storage);

napi_value sb__node_on_returned(napi_env env, napi_callback_info info);
napi_value sb__node_returned(napi_env env, napi_callback_info info);
void sb__pins_end(sb__environment *e); /* from here on nothing is heard of what is unpinned */

/* ---- waits.c ---- */

napi_value sb__node_wait(napi_env env, napi_callback_info info);
napi_value sb__node_end_wait(napi_env env, napi_callback_info info);

void sb__waits_begin(void);
void sb__waits_end(
    sb__environment *e); /* all that sleep are woken; their threads let go of what they hold */

/* ---- models.c ---- */

napi_value sb__node_model_open(napi_env env, napi_callback_info info);
napi_value sb__node_model_prepare(napi_env env, napi_callback_info info);
napi_value sb__node_model_weight(napi_env env, napi_callback_info info);
napi_value sb__node_model_prepacked(napi_env env, napi_callback_info info);
napi_value sb__node_model_share(napi_env env, napi_callback_info info);
napi_value sb__node_model_take(napi_env env, napi_callback_info info);
napi_value sb__node_model_load(napi_env env, napi_callback_info info);
napi_value sb__node_model_describe(napi_env env, napi_callback_info info);
napi_value sb__node_model_close(napi_env env, napi_callback_info info);
napi_value sb__node_model_begin(napi_env env, napi_callback_info info);
napi_value sb__node_model_give_up(napi_env env, napi_callback_info info);
napi_value sb__node_model_input(napi_env env, napi_callback_info info);
napi_value sb__node_model_output(napi_env env, napi_callback_info info);
napi_value sb__node_model_run(napi_env env, napi_callback_info info);
napi_value sb__node_model_words(napi_env env, napi_callback_info info);
napi_value sb__node_model_stop(napi_env env, napi_callback_info info);
napi_value sb__node_model_result(napi_env env, napi_callback_info info);

/* Runs are stopped; those over JavaScript's bytes are waited for. */
void sb__models_end(sb__environment *e);

/* ---- segments.c ---- */

napi_value sb__node_segment_publish(napi_env env, napi_callback_info info);
napi_value sb__node_segment_own(napi_env env, napi_callback_info info);
napi_value sb__node_segment_forget(napi_env env, napi_callback_info info);
napi_value sb__node_segment_unlink(napi_env env, napi_callback_info info);
napi_value sb__node_segment_is_there(napi_env env, napi_callback_info info);
napi_value sb__node_segment_name_fault(napi_env env, napi_callback_info info);
napi_value sb__node_segment_path(napi_env env, napi_callback_info info);
napi_value sb__node_segment_is_ring(napi_env env, napi_callback_info info);
napi_value sb__node_segment_list(napi_env env, napi_callback_info info);
napi_value sb__node_segment_sweep(napi_env env, napi_callback_info info);
napi_value sb__node_ring_remove_half(napi_env env, napi_callback_info info);

/* ---- cuda.c ---- */

napi_value sb__node_cuda_when(napi_env env, napi_callback_info info);
napi_value sb__node_cuda_copy(napi_env env, napi_callback_info info);
napi_value sb__node_cuda_end(napi_env env, napi_callback_info info);
napi_value sb__node_cuda_on_full(napi_env env, napi_callback_info info);

/* What a thread of its own does, because it blocks; the first member of what somebody allocated. */
typedef struct sb__work_item {
  sb__task task; /* the first member: cuda.c's, as is the second one */
  struct expected *expected;
  sb_status (*run)(struct sb__work_item *item); /* on that thread */
  void (*stop)(struct sb__work_item *item);     /* the environment ends: run returns soon, or has */
  sb_status (*tell)(struct sb__work_item *item, /* it went well: the results go to the frame, */
                    sb__environment *e);        /* on the environment's thread */
  void (*free)(struct sb__work_item *item);     /* on any thread, at last */
} sb__work_item;

/* Begins one; it is this function's, also where that fails. done is called on a later turn of the loop, with the frame as tell, or the
 * failure, left it. An environment that ends stops it, and does not wait for it. */
sb_status sb__run_work_item(sb__environment *e, sb__work_item *item, napi_value done);

void sb__cuda_end(sb__environment *e); /* waits for copies */

/* ---- addons.c ---- */

napi_value sb__node_offer(napi_env env, napi_callback_info info);
void sb__offers_end(sb__environment *e); /* from here on other addons find nothing */

/* ---- extension.c ---- */

napi_value sb__node_core(napi_env env, napi_callback_info info);

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
