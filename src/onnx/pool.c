/* The threads that sessions are loaded and run on: at most MOST for the process, so that models do not starve libuv's pool of files and names,
 * nor the machine of threads. Those that were started stay.
 *
 * When the process exits, the C library destroys what ONNX Runtime's library has in static variables, and a thread that is still loading or
 * running a model would crash: a load cannot be stopped, and of a run the node in progress has to end. So the process ends without
 * destructors where a thread is at work, and no thread begins any where none is. */
#include "onnx/onnx.h"
#include "platform/threads.h"

#define MOST 16
#define STACK ((size_t)8 << 20) /* bytes, as main threads have: graphs may nest */

static struct {
  sb__mutex lock; /* of what follows, and of tasks' states */
  sb__condition offered, ended;
  sb__onnx_task *first, **last;
  int threads, idle, queued, working;
  bool is_closed; /* the process exits */
  bool is_first;  /* close_pool comes before all destructors */
} pool = {.lock = SB__MUTEX, .offered = SB__CONDITION, .ended = SB__CONDITION};

/* Under the lock; NULL: there is none. */
static sb__onnx_task *take_first(void) {
  sb__onnx_task *task = pool.is_closed ? NULL : pool.first;
  if (!task) return NULL;
  pool.first = task->next;
  pool.queued--;
  pool.working++;
  if (!pool.first) pool.last = &pool.first;
  task->state = SB__TASK_RUNS;
  return task;
}

static SB__THREAD run_tasks(void *nothing) {
  (void)nothing;
  sb__mutex_take(&pool.lock);
  for (;;) {
    sb__onnx_task *task = take_first();
    if (!task) {
      pool.idle++;
      sb__condition_wait(&pool.offered, &pool.lock);
      pool.idle--;
      continue;
    }
    sb__mutex_drop(&pool.lock);
    task->run(task);
    sb__mutex_take(&pool.lock);
    task->state = SB__TASK_IS_DONE;
    sb__condition_wake_all(&pool.ended);
    sb__mutex_drop(&pool.lock);
    task->done(task); /* which may release what is the library's */
    sb__mutex_take(&pool.lock);
    pool.working--;
  }
  return 0;
}

static void close_pool(int code) {
  sb__mutex_take(&pool.lock);
  pool.is_closed = true;
  const bool is_working = pool.working > 0;
  sb__mutex_drop(&pool.lock);
  if (is_working) sb__os_exit_now(code);
}

void sb__onnx_watch_exit(bool again) {
  sb__mutex_take(&pool.lock);
  if (!pool.is_first) pool.is_first = sb__os_first_at_exit(close_pool);
  const bool is_first = pool.is_first;
  sb__mutex_drop(&pool.lock);
  if (!is_first && again) (void)sb__os_at_exit(close_pool);
}

bool sb__onnx_submit(sb__onnx_task *task) {
  sb__mutex_take(&pool.lock);
  if (pool.idle <= pool.queued && pool.threads < MOST && sb__start_thread(run_tasks, NULL, STACK))
    pool.threads++;
  const bool taken = pool.threads > 0;
  if (taken) {
    task->next = NULL;
    task->state = SB__TASK_QUEUED;
    if (!pool.first) pool.last = &pool.first;
    *pool.last = task;
    pool.last = &task->next;
    pool.queued++;
    sb__condition_wake(&pool.offered);
  }
  sb__mutex_drop(&pool.lock);
  return taken;
}

bool sb__onnx_withdraw(sb__onnx_task *task) {
  sb__mutex_take(&pool.lock);
  const bool is_queued = task->state == SB__TASK_QUEUED;
  if (is_queued) {
    sb__onnx_task **at = &pool.first;
    while (*at != task) at = &(*at)->next;
    *at = task->next;
    pool.queued--;
    if (!*at) pool.last = at;
  }
  sb__mutex_drop(&pool.lock);
  return is_queued;
}

void sb__onnx_wait(sb__onnx_task *task) {
  sb__mutex_take(&pool.lock);
  while (task->state != SB__TASK_IS_DONE) sb__condition_wait(&pool.ended, &pool.lock);
  sb__mutex_drop(&pool.lock);
}
