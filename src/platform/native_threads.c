/* The thread pool for parallel work, and detached threads for tasks that block: with mutexes and conditions of threads.h. */
#include "platform/threads.h"

/* ---- The thread pool ---- */

#define MOST_HELPERS 63
#define PAUSES 1000 /* at most 50 microseconds */

static void pause_briefly(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

/* Runs one job at a time: a caller that finds the pool taken works alone. */
static struct {
  atomic_flag taken;
  int64_t owner;  /* the process that started the helpers: a forked child has none */
  int helpers;    /* started so far */
  sb__mutex lock; /* of what follows */
  sb__condition offered, left;
  uint64_t job;      /* the latest one's number */
  int wanted;        /* helpers that may still join the job */
  atomic_int inside; /* helpers working on it */
  void (*part)(void *context, int i);
  void *context;
  int count;
  atomic_int next; /* the next part to run */
} pool = {
    .taken = ATOMIC_FLAG_INIT, .lock = SB__MUTEX, .offered = SB__CONDITION, .left = SB__CONDITION};

static void run_parts(void) {
  for (;;) {
    const int i = atomic_fetch_add(&pool.next, 1);
    if (i >= pool.count) return;
    pool.part(pool.context, i);
  }
}

static SB__THREAD run_helper(void *nothing) {
  uint64_t seen = 0;
  (void)nothing;
  sb__mutex_take(&pool.lock);
  for (;;) {
    while (pool.job == seen || pool.wanted == 0) {
      seen = pool.job;
      sb__condition_wait(&pool.offered, &pool.lock);
    }
    seen = pool.job;
    pool.wanted--;
    atomic_fetch_add(&pool.inside, 1);
    sb__mutex_drop(&pool.lock);
    run_parts();
    sb__mutex_take(&pool.lock);
    if (atomic_fetch_sub(&pool.inside, 1) == 1) sb__condition_wake(&pool.left);
  }
  return 0;
}

static void start_helpers(int wanted) {
  if (wanted > MOST_HELPERS) wanted = MOST_HELPERS;
  while (pool.helpers < wanted && sb__start_thread(run_helper, NULL, SB__STACK)) pool.helpers++;
}

static bool acquire_pool(int helpers) {
  if (helpers < 1 || atomic_flag_test_and_set_explicit(&pool.taken, memory_order_acquire))
    return false;
  const int64_t self = sb__this_process();
  if (!pool.owner) pool.owner = self;
  if (pool.owner == self) start_helpers(helpers);
  if (pool.owner == self && pool.helpers > 0) return true;
  atomic_flag_clear_explicit(&pool.taken, memory_order_release);
  return false;
}

void sb__os_parallel(int helpers, int count, void (*part)(void *context, int i), void *context) {
  if (count < 2 || !acquire_pool(helpers)) {
    for (int i = 0; i < count; i++) part(context, i);
    return;
  }
  sb__mutex_take(&pool.lock);
  pool.part = part;
  pool.context = context;
  pool.count = count;
  atomic_store(&pool.next, 0);
  pool.wanted = helpers < count ? helpers : count - 1;
  pool.job++;
  sb__condition_wake_all(&pool.offered);
  sb__mutex_drop(&pool.lock);
  run_parts();
  sb__mutex_take(&pool.lock);
  pool.wanted = 0; /* helpers that wake up now must not join */
  sb__mutex_drop(&pool.lock);
  /* Their last parts are about as long as this thread's: sleeping and being woken takes longer than a small one. */
  for (int i = 0; i < PAUSES && atomic_load_explicit(&pool.inside, memory_order_acquire); i++)
    pause_briefly();
  sb__mutex_take(&pool.lock);
  while (pool.inside) sb__condition_wait(&pool.left, &pool.lock);
  sb__mutex_drop(&pool.lock);
  atomic_flag_clear_explicit(&pool.taken, memory_order_release);
}

/* ---- Detached threads ---- */

#define MOST_IDLE 4 /* threads that stay for the next task */

static struct {
  sb__mutex lock; /* of what follows */
  sb__condition offered;
  sb__task *first; /* tasks for idle threads */
  int idle, due;   /* waiting threads; tasks in the list */
} detached = {.lock = SB__MUTEX, .offered = SB__CONDITION};

static SB__THREAD run_tasks(void *argument) {
  for (sb__task *task = argument; task;) {
    task->run(task);
    sb__mutex_take(&detached.lock);
    const bool stays = detached.idle < MOST_IDLE;
    if (stays) {
      detached.idle++;
      while (!detached.first) sb__condition_wait(&detached.offered, &detached.lock);
      detached.idle--;
      detached.due--;
    }
    task = stays ? detached.first : NULL;
    if (task) detached.first = task->next;
    sb__mutex_drop(&detached.lock);
  }
  return 0;
}

bool sb__os_spawn_detached(sb__task *task) {
  sb__mutex_take(&detached.lock);
  const bool has_idle = detached.idle > detached.due;
  if (has_idle) {
    task->next = detached.first;
    detached.first = task;
    detached.due++;
    sb__condition_wake(&detached.offered);
  }
  sb__mutex_drop(&detached.lock);
  return has_idle || sb__start_thread(run_tasks, task, SB__STACK);
}
