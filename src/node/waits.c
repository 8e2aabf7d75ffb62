/* Waits for words of shared memory. Each has a thread that sleeps for it: one system call hears of the word, of the bell
 * that ends the wait early, and of the time; nothing is missed in between, and libuv's threads stay free.
 *
 * A room outlives its environment: a wait that ends then tells nobody, and frees itself. */
#include <string.h>

#include "node/environment.h"
#include "ipc/futex.h"

enum { MOST_WAITS = 1024 }; /* of an environment at a time */

typedef struct waiting {
  sb__task task;                   /* first: the thread gets this */
  struct sb__room *room;           /* one reference */
  struct waiting *next, *previous; /* of those that sleep, or that JavaScript has not heard of */
  sb_storage *storage;             /* one reference */
  const void *word;
  uint32_t expected, id;
  int64_t end;
  sb__bell bell;
  napi_ref done; /* for the environment's thread only */
  bool is_over;  /* under the room's lock */
  sb__waking how;
  int error;
} waiting;

typedef struct sb__room {
  atomic_int references;             /* by the environment and each wait */
  sb__lock lock;                     /* over what follows, and over the list */
  napi_threadsafe_function function; /* NULL: the environment has ended, or nobody ever waited */
  napi_threadsafe_function mine;     /* the same, for the environment's thread alone */
  bool is_called;                    /* function will run */
  waiting *first;
  int count; /* of the list; the environment's thread alone changes it */
  uint32_t made;
} room;

static void unref_room(room *r) {
  if (atomic_fetch_sub(&r->references, 1) == 1) sb__free(r);
}

/* The lock is held. */
static void leave(waiting *w) {
  if (w->next) w->next->previous = w->previous;
  if (w->previous)
    w->previous->next = w->next;
  else
    w->room->first = w->next;
}

static void free_waiting(waiting *w) {
  sb_storage_unref(&w->storage);
  unref_room(w->room);
  sb__free(w);
}

/* On a thread of its own. */
static void sleep_for(sb__task *task) {
  waiting *w = (waiting *)(void *)task;
  room *r = w->room;
  w->how = sb__os_wait(w->word, w->expected, &w->bell, w->end, &w->error);
  sb__lock_take(&r->lock);
  w->is_over = true;
  const bool is_heard = r->function != NULL;
  if (!is_heard) {
    leave(w);
  } else if (!r->is_called) {
    r->is_called =
        napi_call_threadsafe_function(r->function, NULL, napi_tsfn_nonblocking) == napi_ok;
    if (!r->is_called) r->function = NULL; /* it is closing: the environment ends */
  }
  sb__lock_drop(&r->lock);
  if (!is_heard) free_waiting(w);
}

/* One that is over and that nobody has heard of, out of the list; NULL: there is none. */
static waiting *take_over(room *r) {
  sb__lock_take(&r->lock);
  waiting *w = r->first;
  while (w && !w->is_over) w = w->next;
  if (w) leave(w);
  sb__lock_drop(&r->lock);
  return w;
}

/* On the environment's thread, on a later turn; env is NULL when it is ending. */
static void tell(napi_env env, napi_value ignored, void *context, void *data) {
  sb__environment *e = context;
  (void)ignored;
  (void)data;
  if (!env) return;
  room *r = e->waits;
  napi_value undefined = NULL;
  napi_get_undefined(env, &undefined);
  sb__lock_take(&r->lock);
  r->is_called = false;
  sb__lock_drop(&r->lock);
  for (waiting *w = take_over(r); w; w = take_over(r)) {
    napi_handle_scope scope = NULL;
    napi_value done = NULL, how = NULL;
    if (--r->count == 0) napi_unref_threadsafe_function(env, r->mine);
    sb__report(&e->binding, w->how == SB__WAIT_FAILED ? sb__word_failed(w->error) : SB_OK);
    if (napi_open_handle_scope(env, &scope) == napi_ok) {
      napi_get_reference_value(env, w->done, &done);
      napi_create_uint32(env, (uint32_t)w->how, &how);
      napi_delete_reference(env, w->done);
      free_waiting(w); /* what it held is let go before anybody hears of it */
      if (done) napi_call_function(env, undefined, done, 1, &how, NULL);
      napi_close_handle_scope(env, scope);
    } else {
      napi_delete_reference(env, w->done);
      free_waiting(w);
    }
  }
}

static bool listen(sb__environment *e) {
  room *r = e->waits;
  napi_value name = NULL;
  napi_threadsafe_function function = NULL;
  if (r->mine) return true;
  if (napi_create_string_utf8(e->env, "samebytes waits", NAPI_AUTO_LENGTH, &name) != napi_ok ||
      napi_create_threadsafe_function(e->env, NULL, NULL, name, 0, 1, NULL, NULL, e, tell,
                                      &function) != napi_ok) {
    return false;
  }
  napi_unref_threadsafe_function(e->env, function);
  r->mine = function;
  sb__lock_take(&r->lock);
  r->function = function;
  sb__lock_drop(&r->lock);
  return true;
}

/* Milliseconds from now on; -1: never, or so late that it makes no difference. */
static int64_t end_of(double ms) {
  if (!(ms < 1e12)) return -1;
  return sb__os_now() + (ms > 0 ? (int64_t)(ms * 1e6) : 0);
}

static sb_status begin(sb__environment *e, double ms, napi_value done) {
  room *r = e->waits;
  sb__binding *b = &e->binding;
  void *word = NULL;
  sb_status status = sb__word_at(b->operands[0].storage, b->numbers[0], &word);
  if (status) return status;
  if (r->count >= MOST_WAITS) return sb__fail(SB_ERR_MEMORY, "%d waits are pending", r->count);
  waiting *w = sb__alloc(sizeof *w);
  if (!w) return sb__fail(SB_ERR_MEMORY, "no memory for a wait");
  memset(w, 0, sizeof *w);
  if (!listen(e) || napi_create_reference(e->env, done, 1, &w->done) != napi_ok) {
    sb__free(w);
    return sb__fail(SB_ERR_MEMORY, "no memory for a wait");
  }
  atomic_fetch_add(&r->references, 1);
  w->task.run = sleep_for;
  w->room = r;
  w->storage = sb_storage_ref(b->operands[0].storage);
  w->word = word;
  w->expected = (uint32_t)b->numbers[1];
  w->id = ++r->made;
  w->end = end_of(ms);
  sb__lock_take(&r->lock);
  w->next = r->first;
  if (w->next) w->next->previous = w;
  r->first = w;
  sb__lock_drop(&r->lock);
  b->frame[SB__FRAME_RESULTS] = SB__RUNG; /* till somebody rings */
  b->frame[SB__FRAME_RESULTS + 1] = w->id;
  if (!sb__os_run_apart(&w->task)) {
    sb__lock_take(&r->lock);
    leave(w);
    sb__lock_drop(&r->lock);
    napi_delete_reference(e->env, w->done);
    free_waiting(w);
    return sb__fail(SB_ERR_MEMORY, "there is no thread for another wait");
  }
  if (r->count++ == 0) napi_ref_threadsafe_function(e->env, r->mine);
  return SB_OK;
}

/* wait(ms, done): what row wait_check does with the operand and numbers in the frame, for longer. The first result says how it
 * ended, as there, where it did at once; then done is not called. It is SB__RUNG for a wait that goes on: the second one is a number
 * to end it by, and done(how) is called on a later turn, a failure's status in the frame. */
napi_value sb__node_wait(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  sb__environment *e = sb__enter(env, info, 2, arguments);
  sb__binding *b = &e->binding;
  const double ms = sb__number_of(env, arguments[0]);
  sb__run(b, SB__ROW_wait_check);
  if (b->frame[SB__FRAME_STATUS] != 0 || b->frame[SB__FRAME_RESULTS] != SB__TIMED_OUT || ms == 0)
    return NULL;
  sb__report(b, begin(e, ms, arguments[1]));
  return NULL;
}

/* endWait(id): done is called as ever, with the bell where nothing else came first. */
napi_value sb__node_end_wait(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  sb__environment *e = sb__enter(env, info, 1, &argument);
  const double id = sb__number_of(env, argument);
  sb__lock_take(&e->waits->lock);
  for (waiting *w = e->waits->first; w; w = w->next) {
    if (w->id == id) sb__os_ring(&w->bell);
  }
  sb__lock_drop(&e->waits->lock);
  return NULL;
}

bool sb__waits_begin(sb__environment *e) {
  e->waits = sb__alloc(sizeof *e->waits);
  if (!e->waits) return false;
  *e->waits = (room){.function = NULL};
  atomic_init(&e->waits->references, 1);
  if (sb__os_environment("SAMEBYTES_NO_WAITV")) sb__os_wait_in_slices();
  return true;
}

void sb__waits_end(sb__environment *e) {
  room *r = e->waits;
  waiting *over = NULL;
  sb__lock_take(&r->lock);
  r->function = NULL;
  for (waiting *w = r->first, *next = NULL; w; w = next) {
    next = w->next;
    napi_delete_reference(e->env, w->done);
    if (w->is_over) { /* its thread is done with it */
      leave(w);
      w->next = over;
      over = w;
    } else {
      sb__os_ring(&w->bell); /* its thread frees it */
    }
  }
  sb__lock_drop(&r->lock);
  while (over) {
    waiting *next = over->next;
    free_waiting(over);
    over = next;
  }
}

void sb__waits_free(sb__environment *e) { unref_room(e->waits); }
