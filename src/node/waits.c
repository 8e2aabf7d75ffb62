/* Waits for words of shared memory. Each has a thread that sleeps for it: one system call hears of the word, of the event
 * that ends the wait early, and of the time; nothing is missed in between, and libuv's threads stay free. */
#include <stddef.h>
#include <string.h>

#include "node/environment.h"
#include "ipc/futex.h"

enum { MOST_WAITS = 1024 }; /* of an environment at a time */

typedef struct waiting {
  sb__task task; /* first: the thread gets this */
  sb__completion completion;
  sb__completion_queue *queue;     /* one reference */
  struct waiting *next, *previous; /* of those that JavaScript has not heard of; its thread's */
  sb_storage *storage;             /* one reference */
  const void *word;
  uint32_t expected, id;
  int64_t end;
  sb__event event;
  napi_ref done; /* for the environment's thread only */
  sb__wait_result how;
  int error;
} waiting;

static waiting *waiting_of(sb__completion *completion) {
  return (waiting *)(void *)((char *)completion - offsetof(waiting, completion));
}

static void leave(sb__environment *e, waiting *w) {
  if (w->next) w->next->previous = w->previous;
  if (w->previous)
    w->previous->next = w->next;
  else
    e->waits = w->next;
}

static void free_waiting(waiting *w) {
  sb_storage_unref(&w->storage);
  sb__queue_unref(w->queue);
  sb__free(w);
}

static void drop_waiting(sb__completion *completion) { free_waiting(waiting_of(completion)); }

/* On a thread of its own. */
static void sleep_for(sb__task *task) {
  waiting *w = (waiting *)(void *)task;
  w->how = sb__os_futex_wait(w->word, w->expected, &w->event, w->end, &w->error);
  if (!sb__queue_push(w->queue, &w->completion, false)) free_waiting(w);
}

static void report_wait(sb__completion *completion, sb__environment *e) {
  waiting *w = waiting_of(completion);
  napi_value done = NULL, how = NULL, undefined = NULL;
  leave(e, w);
  e->wait_count--;
  sb__queue_release_loop(e);
  sb__report(&e->binding, w->how == SB__WAIT_FAILED ? sb__futex_failed(w->error) : SB_OK);
  napi_get_undefined(e->env, &undefined);
  napi_get_reference_value(e->env, w->done, &done);
  napi_create_uint32(e->env, (uint32_t)w->how, &how);
  napi_delete_reference(e->env, w->done);
  free_waiting(w); /* what it held is let go before anybody hears of it */
  if (done) napi_call_function(e->env, undefined, done, 1, &how, NULL);
}

/* Milliseconds from now on; -1: never, or so late that it makes no difference. */
static int64_t end_of(double ms) {
  if (!(ms < 1e12)) return -1;
  return sb__os_now() + (ms > 0 ? (int64_t)(ms * 1e6) : 0);
}

static sb_status begin_wait(sb__environment *e, double ms, napi_value done) {
  sb__binding *b = &e->binding;
  void *word = NULL;
  sb_status status = sb__futex_at(b->operands[0].storage, b->numbers[0], &word);
  if (status) return status;
  if (e->wait_count >= MOST_WAITS)
    return sb__fail(SB_ERR_MEMORY, "%d waits are pending", e->wait_count);
  waiting *w = sb__alloc(sizeof *w);
  if (!w) return sb__fail(SB_ERR_MEMORY, "no memory for a wait");
  memset(w, 0, sizeof *w);
  if (!sb__queue_listen(e) || napi_create_reference(e->env, done, 1, &w->done) != napi_ok) {
    sb__free(w);
    return sb__fail(SB_ERR_MEMORY, "no memory for a wait");
  }
  w->task.run = sleep_for;
  w->completion = (sb__completion){.tell = report_wait, .drop = drop_waiting};
  w->queue = sb__queue_ref(e->queue);
  w->storage = sb_storage_ref(b->operands[0].storage);
  w->word = word;
  w->expected = (uint32_t)b->numbers[1];
  w->id = ++e->waits_made;
  w->end = end_of(ms);
  w->next = e->waits;
  if (w->next) w->next->previous = w;
  e->waits = w;
  b->frame[SB__FRAME_RESULTS] = SB__SIGNALLED; /* until somebody signals */
  b->frame[SB__FRAME_RESULTS + 1] = w->id;
  if (!sb__os_spawn_detached(&w->task)) {
    leave(e, w);
    napi_delete_reference(e->env, w->done);
    free_waiting(w);
    return sb__fail(SB_ERR_MEMORY, "there is no thread for another wait");
  }
  e->wait_count++;
  sb__queue_hold_loop(e);
  return SB_OK;
}

/* wait(ms, done): what row wait_check does with the operand and numbers in the frame, for longer. The first result says how it
 * ended, as there, where it did at once; then done is not called. It is SB__SIGNALLED for a wait that goes on: the second one is a number
 * to end it by, and done(how) is called on a later turn, a failure's status in the frame. */
napi_value sb__node_wait(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  sb__binding *b = &e->binding;
  const double ms = sb__number_of(env, arguments[0]);
  sb__run(b, SB__OPCODE_wait_check);
  if (b->frame[SB__FRAME_STATUS] != 0 || b->frame[SB__FRAME_RESULTS] != SB__TIMED_OUT || ms == 0)
    return NULL;
  sb__report(b, begin_wait(e, ms, arguments[1]));
  return NULL;
}

/* endWait(id): done is called as ever, with SB__SIGNALLED where nothing else came first. */
napi_value sb__node_end_wait(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  const double id = sb__number_of(env, argument);
  for (waiting *w = e->waits; w; w = w->next) {
    if (w->id == id) sb__os_signal(&w->event);
  }
  return NULL;
}

void sb__waits_begin(void) {
  if (sb__os_environment("SAMEBYTES_NO_WAITV")) sb__os_poll_events(); /* for tests */
}

/* The queue takes what has ended until it ends itself: so all of the list is there. Then the queue, or its thread, frees each. */
void sb__waits_end(sb__environment *e) {
  for (waiting *w = e->waits; w; w = w->next) {
    napi_delete_reference(e->env, w->done);
    sb__os_signal(&w->event);
  }
  e->waits = NULL;
}
