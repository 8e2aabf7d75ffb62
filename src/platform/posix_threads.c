/* Locks, the thread pool for parallel work, and detached threads for tasks that block. */
#include "platform/platform.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

void sb__lock_take(sb__lock *lock) {
  while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire)) sched_yield();
}

void sb__lock_drop(sb__lock *lock) {
  atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}

void sb__os_yield(void) { sched_yield(); }

/* Links the first versions of these symbols: the addon must load wherever its Node.js does, also with older C libraries.
 * Where those have them in libpthread, Node.js has loaded it. */
#if defined(SB_OLD_GLIBC) && defined(__GLIBC__)
# if defined(__x86_64__)
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_attr_setstacksize, pthread_attr_setstacksize@GLIBC_2.2.5");
# elif defined(__aarch64__)
__asm__(".symver pthread_create, pthread_create@GLIBC_2.17");
__asm__(".symver pthread_attr_setstacksize, pthread_attr_setstacksize@GLIBC_2.17");
# endif
#endif

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
  pid_t owner;          /* the process that started the helpers: a forked child has none */
  int helpers;          /* started so far */
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t offered, left;
  uint64_t job;      /* the latest one's number */
  int wanted;        /* helpers that may still join the job */
  atomic_int inside; /* helpers working on it */
  void (*part)(void *context, int i);
  void *context;
  int count;
  atomic_int next; /* the next part to run */
} pool = {.taken = ATOMIC_FLAG_INIT,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .offered = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

static void run_parts(void) {
  for (;;) {
    const int i = atomic_fetch_add(&pool.next, 1);
    if (i >= pool.count) return;
    pool.part(pool.context, i);
  }
}

static void *run_helper(void *nothing) {
  uint64_t seen = 0;
  (void)nothing;
  pthread_mutex_lock(&pool.lock);
  for (;;) {
    while (pool.job == seen || pool.wanted == 0) {
      seen = pool.job;
      pthread_cond_wait(&pool.offered, &pool.lock);
    }
    seen = pool.job;
    pool.wanted--;
    atomic_fetch_add(&pool.inside, 1);
    pthread_mutex_unlock(&pool.lock);
    run_parts();
    pthread_mutex_lock(&pool.lock);
    if (atomic_fetch_sub(&pool.inside, 1) == 1) pthread_cond_signal(&pool.left);
  }
  return NULL;
}

/* Starts a detached thread with all signals blocked except those of its own faults, which would end the process despite
 * handlers. sigprocmask affects the calling thread on Linux, and exists in older C libraries. stack: bytes; 0: the
 * default. */
static bool start_thread(void *(*run)(void *), void *argument, size_t stack) {
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  if (pthread_attr_init(&attributes)) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack) pthread_attr_setstacksize(&attributes, stack); /* on failure, the default */
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  sigdelset(&all, SIGFPE);
  sigdelset(&all, SIGILL);
  sigdelset(&all, SIGSEGV);
  sigprocmask(SIG_SETMASK, &all, &before);
  const bool started = !pthread_create(&thread, &attributes, run, argument);
  sigprocmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&attributes);
  return started;
}

static void start_helpers(int wanted) {
  if (wanted > MOST_HELPERS) wanted = MOST_HELPERS;
  while (pool.helpers < wanted && start_thread(run_helper, NULL, 0)) pool.helpers++;
}

static bool acquire_pool(int helpers) {
  if (helpers < 1 || atomic_flag_test_and_set_explicit(&pool.taken, memory_order_acquire))
    return false;
  const pid_t self = getpid();
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
  pthread_mutex_lock(&pool.lock);
  pool.part = part;
  pool.context = context;
  pool.count = count;
  atomic_store(&pool.next, 0);
  pool.wanted = helpers < count ? helpers : count - 1;
  pool.job++;
  pthread_cond_broadcast(&pool.offered);
  pthread_mutex_unlock(&pool.lock);
  run_parts();
  pthread_mutex_lock(&pool.lock);
  pool.wanted = 0; /* helpers that wake up now must not join */
  pthread_mutex_unlock(&pool.lock);
  /* Their last parts are about as long as this thread's: sleeping and being woken takes longer than a small one. */
  for (int i = 0; i < PAUSES && atomic_load_explicit(&pool.inside, memory_order_acquire); i++)
    pause_briefly();
  pthread_mutex_lock(&pool.lock);
  while (pool.inside) pthread_cond_wait(&pool.left, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
  atomic_flag_clear_explicit(&pool.taken, memory_order_release);
}

/* ---- Detached threads ---- */

#define MOST_IDLE 4                   /* threads that stay for the next task */
#define SMALL_STACK ((size_t)1 << 20) /* bytes; enough for drivers */

static struct {
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t offered;
  sb__task *first; /* tasks for idle threads */
  int idle, due;   /* waiting threads; tasks in the list */
} detached = {.lock = PTHREAD_MUTEX_INITIALIZER, .offered = PTHREAD_COND_INITIALIZER};

static void *run_tasks(void *argument) {
  for (sb__task *task = argument; task;) {
    task->run(task);
    pthread_mutex_lock(&detached.lock);
    const bool stays = detached.idle < MOST_IDLE;
    if (stays) {
      detached.idle++;
      while (!detached.first) pthread_cond_wait(&detached.offered, &detached.lock);
      detached.idle--;
      detached.due--;
    }
    task = stays ? detached.first : NULL;
    if (task) detached.first = task->next;
    pthread_mutex_unlock(&detached.lock);
  }
  return NULL;
}

bool sb__os_spawn_detached(sb__task *task) {
  pthread_mutex_lock(&detached.lock);
  const bool has_idle = detached.idle > detached.due;
  if (has_idle) {
    task->next = detached.first;
    detached.first = task;
    detached.due++;
    pthread_cond_signal(&detached.offered);
  }
  pthread_mutex_unlock(&detached.lock);
  return has_idle || start_thread(run_tasks, task, SMALL_STACK);
}
