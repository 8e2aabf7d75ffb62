/* platform.h for POSIX systems. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "platform/platform.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#if defined(__SSE__)
# include <xmmintrin.h>
#elif !defined(__aarch64__)
# include <fenv.h>
#endif

void *sb__os_alloc_aligned(size_t nbytes, size_t alignment) {
  void *data = NULL;
  if (nbytes > PTRDIFF_MAX - alignment) return NULL;
  if (posix_memalign(&data, alignment, nbytes)) return NULL;
  sb__os_expect_use(data, nbytes);
  return data;
}

void sb__os_free_aligned(void *data) { free(data); }

#define LARGE ((size_t)4 << 20) /* two large pages on x86: less would not hold one for certain */

void sb__os_expect_use(void *data, size_t nbytes) {
#if defined(MADV_HUGEPAGE)
  if (nbytes < LARGE) return;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)data;
  const uintptr_t from = (at + page - 1) / page * page, to = (at + nbytes) / page * page;
  (void)madvise((char *)data + (from - at), to - from, MADV_HUGEPAGE); /* advice: refused is fine */
#else
  (void)data;
  (void)nbytes;
#endif
}

void *sb__os_map(int file, int64_t offset, size_t nbytes, bool shared, int *error) {
  const int64_t before = offset % sysconf(_SC_PAGESIZE); /* a mapping begins with a page */
#if defined(MAP_NORESERVE)
  const int flags = shared ? MAP_SHARED : MAP_PRIVATE | MAP_NORESERVE;
#else
  const int flags = shared ? MAP_SHARED : MAP_PRIVATE;
#endif
  void *data =
      mmap(NULL, nbytes + (size_t)before, PROT_READ | PROT_WRITE, flags, file, offset - before);
  if (data == MAP_FAILED) {
    *error = errno;
    return NULL;
  }
  return (char *)data + before;
}

void sb__os_unmap(void *data, size_t nbytes) {
  const size_t before = (uintptr_t)data % (uintptr_t)sysconf(_SC_PAGESIZE);
  (void)munmap((char *)data - before, nbytes + before);
}

/* ---- Guards ---- */

/* A mapping whose faults are caught. Never freed but used again: the handler may look at any at any time. */
typedef struct guard {
  atomic_int fault;            /* first: what others know of it */
  atomic_uint version;         /* odd while begin and end change */
  atomic_uintptr_t begin, end; /* whole pages; 0: free */
  struct guard *next, *next_free;
} guard;

static _Atomic(guard *) guards; /* the handler takes no lock; who changes anything has this one: */
static sb__lock guarding;
static guard *unused;
static atomic_int faults; /* there were some */
static bool is_installed;
static uintptr_t page_size;            /* what the handler needs of the system, asked beforehand */
static struct sigaction before_guards; /* whose handler was there */

/* In the handler. The tail goes with the page: bytes beyond a file's new end are missing as well, and a mapping for each
 * page might be more than the system allows. */
static bool mend(uintptr_t at) {
  for (guard *g = atomic_load(&guards); g; g = g->next) {
    const unsigned version = atomic_load(&g->version);
    const uintptr_t begin = atomic_load(&g->begin), end = atomic_load(&g->end);
    if (at < begin || at >= end || version % 2 || atomic_load(&g->version) != version) continue;
    const uintptr_t from = at - at % page_size;
    atomic_store(&g->fault, 1); /* before the zeros: who read them finds it */
    atomic_store(&faults, 1);
    return mmap((void *)from, end - from, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

static bool is_file_fault(const siginfo_t *info) {
#if defined(BUS_MCEERR_AR)
  if (info->si_code == BUS_MCEERR_AR || info->si_code == BUS_MCEERR_AO)
    return false; /* memory that broke */
#endif
  return info->si_code > 0; /* else somebody sent it */
}

/* As if ours were not there. */
static void as_before(int number, siginfo_t *info, void *context) {
  const struct sigaction *before = &before_guards;
  const bool sent = info->si_code <= 0;
  if (before->sa_handler == SIG_IGN && sent) return;
  if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN) {
    struct sigaction plain;
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    (void)sigaction(number, &plain, NULL); /* a fault comes again when we return */
    if (sent) (void)raise(number);
  } else if (before->sa_flags & SA_SIGINFO) {
    before->sa_sigaction(number, info, context);
  } else {
    before->sa_handler(number);
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  const int error = errno;
  const bool mended = is_file_fault(info) && mend((uintptr_t)info->si_addr);
  errno = error;
  if (!mended) as_before(number, info, context);
}

static int install(void) {
  struct sigaction now, ours;
  memset(&ours, 0, sizeof ours);
  if (sigaction(SIGBUS, NULL, &now)) return errno;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault) return 0;
  /* A later handler may go on to ours or not. Before it, ours would go on to it: in circles, perhaps. */
  if (is_installed && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) return EBUSY;
  page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
  before_guards = now;
  ours.sa_sigaction = on_fault;
  ours.sa_mask = now.sa_mask;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (now.sa_flags & (SA_RESTART | SA_NODEFER));
  if (sigaction(SIGBUS, &ours, NULL)) return errno;
  is_installed = true;
  return 0;
}

static void set_range(guard *g, uintptr_t begin, uintptr_t end) {
  atomic_fetch_add(&g->version, 1);
  atomic_store(&g->begin, begin);
  atomic_store(&g->end, end);
  atomic_fetch_add(&g->version, 1);
}

static guard *free_guard(void) {
  guard *g = unused;
  if (g) {
    unused = g->next_free;
    return g;
  }
  g = calloc(1, sizeof *g);
  if (!g) return NULL;
  g->next = atomic_load(&guards);
  atomic_store(&guards, g);
  return g;
}

atomic_int *sb__os_guard(void *data, size_t nbytes, int *error) {
  const uintptr_t at = (uintptr_t)data;
  guard *g = NULL;
  sb__lock_take(&guarding);
  *error = install();
  if (!*error) {
    g = free_guard();
    if (!g) *error = ENOMEM;
  }
  if (g) {
    atomic_store(&g->fault, 0);
    set_range(g, at - at % page_size, (at + nbytes + page_size - 1) / page_size * page_size);
  }
  sb__lock_drop(&guarding);
  return g ? &g->fault : NULL;
}

void sb__os_unguard(atomic_int *fault) {
  sb__lock_take(&guarding);
  guard *g = (guard *)fault;
  set_range(g, 0, 0);
  g->next_free = unused;
  unused = g;
  sb__lock_drop(&guarding);
}

atomic_int *sb__os_faults(void) { return &faults; }

int sb__os_reserve(int file, int64_t nbytes) {
#if defined(__linux__)
  /* Not posix_fallocate: where a file system cannot reserve, that writes to each of its blocks. */
  int error = EINTR;
  while (nbytes > 0 && error == EINTR) error = fallocate(file, 0, 0, nbytes) ? errno : 0;
  if (nbytes == 0 || (error != EOPNOTSUPP && error != ENOSYS)) return nbytes == 0 ? 0 : error;
#endif
  return ftruncate(file, nbytes) ? errno : 0;
}

/* ---- Shared memory between processes ---- */

int sb__os_duplicate(int file, int *error) {
  const int made =
      fcntl(file, F_DUPFD_CLOEXEC, 3); /* 0 to 2 are the program's, also where they are closed */
  if (made < 0) *error = errno;
  return made;
}

void sb__os_close(int file) { (void)close(file); }

#if defined(__linux__)
# define SEGMENTS "/dev/shm" /* where shm_open of every C library on Linux looks */
# define PIECE ((int64_t)1 << 24)
# define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
# ifndef MFD_NOEXEC_SEAL
#  define MFD_NOEXEC_SEAL 8u /* Linux 6.3; some systems refuse memory that could be executed */
# endif

static int new_unnamed(bool sealed) {
  if (!sealed) return open(SEGMENTS, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  const int file = memfd_create("samebytes", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (file >= 0 || errno != EINVAL) return file;
  return memfd_create("samebytes", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/* In pieces: a signal undoes the one that it interrupts. What cannot be had is refused before its first page is taken. */
static int reserve_pages(int file, int64_t nbytes) {
  struct statvfs place;
  if (!fstatvfs(file, &place) && place.f_blocks &&
      (uint64_t)nbytes / place.f_frsize > place.f_bavail)
    return ENOSPC;
  for (int64_t at = 0; at < nbytes;) {
    const int64_t n = nbytes - at < PIECE ? nbytes - at : PIECE;
    const int error = posix_fallocate(file, at, n);
    if (error && error != EINTR) return error;
    if (!error) at += n;
  }
  return 0;
}

int sb__os_segment_new(bool sealed, uint32_t mode, int64_t nbytes, int *error) {
  const int file = new_unnamed(sealed);
  if (file < 0) {
    *error = errno;
    return -1;
  }
  *error = ftruncate(file, nbytes) ? errno : reserve_pages(file, nbytes);
  if (!*error && fchmod(file, (mode_t)mode)) *error = errno;
  if (!*error && sealed && fcntl(file, F_ADD_SEALS, SEALS)) *error = errno;
  if (!*error) return file;
  (void)close(file);
  return -1;
}

int sb__os_link(int file, const char *path) {
  char from[64];
  snprintf(from, sizeof from, "/proc/self/fd/%d", file);
  return linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) ? errno : 0;
}

bool sb__os_is_sealed(int file) {
  const int seals = fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & F_SEAL_SHRINK);
}
#else
int sb__os_segment_new(bool sealed, uint32_t mode, int64_t nbytes, int *error) {
  (void)sealed;
  (void)mode;
  (void)nbytes;
  *error = ENOSYS;
  return -1;
}

int sb__os_link(int file, const char *path) {
  (void)file;
  (void)path;
  return ENOSYS;
}

bool sb__os_is_sealed(int file) {
  (void)file;
  return false;
}
#endif

void sb__lock_take(sb__lock *lock) {
  while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire)) sched_yield();
}

void sb__lock_drop(sb__lock *lock) {
  atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}

const char *sb__os_environment(const char *name) { return getenv(name); }

/* The first versions of these symbols: the addon has to load wherever its Node.js does, and the C library
 * that it is built with offers newer ones. Where the older library has them in files of their own (libdl, libpthread), Node.js
 * has these open. */
#if defined(SB_OLD_GLIBC) && defined(__GLIBC__)
# if defined(__x86_64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.2.5");
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
__asm__(".symver dlerror, dlerror@GLIBC_2.2.5");
__asm__(".symver dladdr, dladdr@GLIBC_2.2.5");
__asm__(".symver pthread_create, pthread_create@GLIBC_2.2.5");
__asm__(".symver pthread_attr_setstacksize, pthread_attr_setstacksize@GLIBC_2.2.5");
# elif defined(__aarch64__)
__asm__(".symver dlopen, dlopen@GLIBC_2.17");
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
__asm__(".symver dlerror, dlerror@GLIBC_2.17");
__asm__(".symver dladdr, dladdr@GLIBC_2.17");
__asm__(".symver pthread_create, pthread_create@GLIBC_2.17");
__asm__(".symver pthread_attr_setstacksize, pthread_attr_setstacksize@GLIBC_2.17");
# endif
#endif

/* ---- Libraries ---- */

void *sb__os_library(const char *name, char *why, size_t room) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  const char *text = library ? "" : dlerror();
  snprintf(why, room, "%s", text ? text : "it could not be opened");
  return library;
}

void *sb__os_symbol(void *library, const char *name) { return dlsym(library, name); }

bool sb__os_folder_of(const void *address, char *folder, size_t room) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return false;
  const char *slash = strrchr(info.dli_fname, '/');
  const size_t n = slash ? (size_t)(slash - info.dli_fname) : 1;
  if (n + 1 > room) return false;
  memcpy(folder, slash ? info.dli_fname : ".", n);
  folder[n] = 0;
  return true;
}

static int read_all(int file, char *bytes, size_t nbytes) {
  for (size_t done = 0; done < nbytes;) {
    const ssize_t n = read(file, bytes + done, nbytes - done);
    if (n < 0 && errno != EINTR) return errno;
    if (n == 0) return EIO; /* it became shorter */
    if (n > 0) done += (size_t)n;
  }
  return 0;
}

int sb__os_read_file(const char *path, void *bytes, size_t room, size_t *nbytes) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno;
  const off_t end = lseek(file, 0, SEEK_END); /* fstat has a new symbol */
  int error = end < 0 || lseek(file, 0, SEEK_SET) ? errno : 0;
  if (!error) *nbytes = (size_t)end;
  if (!error && bytes) error = *nbytes > room ? EFBIG : read_all(file, bytes, *nbytes);
  (void)close(file);
  return error;
}

/* ---- Threads ---- */

static atomic_int forks;
static atomic_bool forks_watched;

static void count_fork(void) { atomic_fetch_add(&forks, 1); }

int sb__os_forks(void) {
  if (!atomic_load_explicit(&forks_watched, memory_order_relaxed) &&
      !atomic_exchange(&forks_watched, true)) {
    (void)pthread_atfork(NULL, NULL, count_fork);
  }
  return atomic_load_explicit(&forks, memory_order_relaxed);
}

void sb__os_yield(void) { sched_yield(); }

uint64_t sb__os_unique(void) {
  static const char here = 0; /* its address is random where the system makes it so */
  struct timespec now = {0, 0};
  (void)clock_gettime(CLOCK_REALTIME, &now);
  uint64_t x = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  x ^= (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)&here;
  for (int i = 0; i < 3; i++) { /* spreads what differs over all bits */
    x ^= x >> 31;
    x *= UINT64_C(0x9e3779b97f4a7c15);
  }
  return x;
}

#if defined(__linux__)
/* Whole processors that a control group's cpu.max grants; INT_MAX without a limit. */
static int granted_by(const char *group) {
  char path[600];
  long long quota = 0, period = 0;
  snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
  FILE *file = fopen(path, "re");
  if (!file) return INT_MAX;
  const int found = fscanf(file, "%lld %lld", &quota, &period); /* "max 100000" gives none */
  fclose(file);
  if (found < 2 || quota < 1 || period < 1) return INT_MAX;
  return quota < period ? 1 : quota / period > INT_MAX ? INT_MAX : (int)(quota / period);
}

/* The least that the group of this process and those above it grant. */
static int granted(void) {
  char line[512] = "", *group = NULL;
  FILE *file = fopen("/proc/self/cgroup", "re");
  int least = granted_by("");
  if (!file) return least;
  while (!group && fgets(line, sizeof line, file)) {
    if (!strncmp(line, "0::/", 4)) group = line + 3;
  }
  fclose(file);
  if (group) group[strcspn(group, "\n")] = 0;
  while (group && *group) {
    const int n = granted_by(group);
    if (n < least) least = n;
    *strrchr(group, '/') = 0;
  }
  return least;
}

int sb__os_processors(void) {
  cpu_set_t set;
  const int most = granted();
  int count = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
  if (count > most) count = most;
  return count < 1 ? 1 : count;
}
#else
int sb__os_processors(void) {
  const long count = sysconf(_SC_NPROCESSORS_ONLN);
  return count < 1 ? 1 : count > INT_MAX ? INT_MAX : (int)count;
}
#endif

#define MOST_HELPERS 63

/* One job at a time; who finds the pool taken works alone. */
static struct {
  atomic_flag taken;
  pid_t owner;          /* the process that the helpers belong to: a child has none */
  int helpers;          /* that were started */
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t offered, left;
  uint64_t job;       /* number of the latest one */
  int wanted, inside; /* helpers that may still join it, helpers at work on it */
  void (*part)(void *context, int i);
  void *context;
  int count;
  atomic_int next; /* part that nobody has begun */
} pool = {.taken = ATOMIC_FLAG_INIT,
          .lock = PTHREAD_MUTEX_INITIALIZER,
          .offered = PTHREAD_COND_INITIALIZER,
          .left = PTHREAD_COND_INITIALIZER};

static void take_parts(void) {
  for (;;) {
    const int i = atomic_fetch_add(&pool.next, 1);
    if (i >= pool.count) return;
    pool.part(pool.context, i);
  }
}

static void *help(void *nothing) {
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
    pool.inside++;
    pthread_mutex_unlock(&pool.lock);
    take_parts();
    pthread_mutex_lock(&pool.lock);
    if (--pool.inside == 0) pthread_cond_signal(&pool.left);
  }
  return NULL;
}

/* A thread that goes by itself. Signals are for the host's own threads, but for those that a thread's own fault raises:
 * blocked, they would end the process, whatever handles them. sigprocmask speaks of this thread on Linux, and older C
 * libraries have it. stack: bytes; 0: as many as threads have. */
static bool start_thread(void *(*run)(void *), void *argument, size_t stack) {
  pthread_attr_t attributes;
  pthread_t thread;
  sigset_t all, before;
  if (pthread_attr_init(&attributes)) return false;
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  if (stack) pthread_attr_setstacksize(&attributes, stack); /* refused: it has the usual one */
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
  while (pool.helpers < wanted && start_thread(help, NULL, 0)) pool.helpers++;
}

static bool take_pool(int helpers) {
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
  if (count < 2 || !take_pool(helpers)) {
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
  take_parts();
  pthread_mutex_lock(&pool.lock);
  pool.wanted = 0; /* who wakes only now finds nothing to join */
  while (pool.inside) pthread_cond_wait(&pool.left, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
  atomic_flag_clear_explicit(&pool.taken, memory_order_release);
}

/* ---- Threads that sleep for others ---- */

#define MOST_IDLE 4                   /* threads that wait for the next task */
#define SMALL_STACK ((size_t)1 << 20) /* bytes; drivers run on them as well */

static struct {
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t offered;
  sb__task *first; /* that an idle thread will take */
  int idle, due;   /* threads that wait; tasks in the list */
} apart = {.lock = PTHREAD_MUTEX_INITIALIZER, .offered = PTHREAD_COND_INITIALIZER};

static void *run_tasks(void *argument) {
  for (sb__task *task = argument; task;) {
    task->run(task);
    pthread_mutex_lock(&apart.lock);
    const bool stays = apart.idle < MOST_IDLE;
    if (stays) {
      apart.idle++;
      while (!apart.first) pthread_cond_wait(&apart.offered, &apart.lock);
      apart.idle--;
      apart.due--;
    }
    task = stays ? apart.first : NULL;
    if (task) apart.first = task->next;
    pthread_mutex_unlock(&apart.lock);
  }
  return NULL;
}

bool sb__os_run_apart(sb__task *task) {
  pthread_mutex_lock(&apart.lock);
  const bool has_idle = apart.idle > apart.due;
  if (has_idle) {
    task->next = apart.first;
    apart.first = task;
    apart.due++;
    pthread_cond_signal(&apart.offered);
  }
  pthread_mutex_unlock(&apart.lock);
  return has_idle || start_thread(run_tasks, task, SMALL_STACK);
}

int64_t sb__os_now(void) {
  struct timespec now = {0, 0};
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

#if defined(__linux__) && defined(__LP64__)
/* The kernel's, of which headers may be older than it is. */
# define FUTEX_OF_ALL_WAIT_UNTIL \
  9 /* FUTEX_WAIT_BITSET without FUTEX_PRIVATE_FLAG: the end is absolute */
# define FUTEX_OF_ALL_WAKE 1
# define FUTEX_OF_ALL_CMP_REQUEUE 4
# define FUTEX_OF_US_WAKE 129
# define SYSTEM_FUTEX_WAITV 449
# define WORD_OF_ALL 2
# define WORD_OF_US 130
# define SLICE 10000000 /* nanoseconds between two looks at a bell that cannot wake */

typedef struct futex_word {
  uint64_t expected, address;
  uint32_t flags, reserved;
} futex_word;

static struct timespec time_of(int64_t nanoseconds) {
  return (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

/* Both words at once, from Linux 5.16 on. The result is 0 (the bell), 1 (the word), or minus an error. */
static int wait_for_two(const void *word, uint32_t expected, sb__bell *bell, int64_t end) {
  const struct timespec until = time_of(end);
  const futex_word words[2] = {{0, (uintptr_t)&bell->rung, WORD_OF_US, 0},
                               {expected, (uintptr_t)word, WORD_OF_ALL, 0}};
  const long woken =
      syscall(SYSTEM_FUTEX_WAITV, words, 2, 0, end < 0 ? NULL : &until, CLOCK_MONOTONIC);
  return woken < 0 ? -errno : (int)woken;
}

/* The word alone, again and again, so that the bell is heard. */
static int wait_for_slice(const void *word, uint32_t expected, int64_t end) {
  const int64_t slice = sb__os_now() + SLICE;
  const bool is_last = end >= 0 && end < slice;
  const struct timespec until = time_of(is_last ? end : slice);
  if (!syscall(SYS_futex, word, FUTEX_OF_ALL_WAIT_UNTIL, expected, &until, NULL, UINT32_MAX))
    return 1;
  return errno == ETIMEDOUT && !is_last ? -EINTR : -errno;
}

static atomic_bool has_no_two;

void sb__os_wait_in_slices(void) { atomic_store(&has_no_two, true); }

sb__waking sb__os_wait(const void *word, uint32_t expected, sb__bell *bell, int64_t end,
                       int *error) {
  bool slept = false;
  for (;;) {
    if (atomic_load(&bell->rung)) return SB__RUNG;
    const bool two = !atomic_load(&has_no_two);
    const int woken =
        two ? wait_for_two(word, expected, bell, end) : wait_for_slice(word, expected, end);
    if (woken == 1) return SB__WOKEN;
    if (woken == 0) return SB__RUNG;
    if (two && (woken == -ENOSYS || woken == -EPERM)) { /* an old kernel, or a sandbox */
      atomic_store(&has_no_two, true);
    } else if (woken == -EAGAIN) {
      if (!atomic_load(&bell->rung)) return slept ? SB__WOKEN : SB__NOT_EQUAL;
    } else if (woken == -ETIMEDOUT) {
      return SB__TIMED_OUT;
    } else if (woken == -EINTR) {
      slept = true;
    } else {
      *error = -woken;
      return SB__WAIT_FAILED;
    }
  }
}

/* Nobody is woken and nobody moved; the comparison is left, of a word that may be gone. A wait whose time is over costs a
 * hundred times as much: 24 us on a virtual machine, where a timer is set. */
int sb__os_word_is(const void *word, uint32_t expected, int *error) {
  if (!syscall(SYS_futex, word, FUTEX_OF_ALL_CMP_REQUEUE, 0, NULL, word, expected)) return 1;
  *error = errno;
  return errno == EAGAIN ? 0 : -1;
}

int sb__os_wake(void *word, int count, int *error) {
  const long woken = syscall(SYS_futex, word, FUTEX_OF_ALL_WAKE, count, NULL, NULL, 0);
  if (woken < 0) *error = errno;
  return (int)woken;
}

void sb__os_ring(sb__bell *bell) {
  atomic_store(&bell->rung, 1);
  (void)syscall(SYS_futex, &bell->rung, FUTEX_OF_US_WAKE, 1, NULL, NULL, 0);
}
#else
sb__waking sb__os_wait(const void *word, uint32_t expected, sb__bell *bell, int64_t end,
                       int *error) {
  (void)word, (void)expected, (void)bell, (void)end;
  *error = ENOSYS;
  return SB__WAIT_FAILED;
}

int sb__os_word_is(const void *word, uint32_t expected, int *error) {
  (void)word, (void)expected;
  *error = ENOSYS;
  return -1;
}

int sb__os_wake(void *word, int count, int *error) {
  (void)word, (void)count;
  *error = ENOSYS;
  return -1;
}

void sb__os_ring(sb__bell *bell) { atomic_store(&bell->rung, 1); }

void sb__os_wait_in_slices(void) {}
#endif

/* ---- Floating point ---- */

#if defined(__SSE__)
# define DEFAULT_MXCSR 0x1f80u /* round to nearest, all exceptions masked, denormals kept */

uint32_t sb__float_mode_default(void) {
  const uint32_t mode = _mm_getcsr();
  if ((mode & ~0x3fu) != DEFAULT_MXCSR) _mm_setcsr(DEFAULT_MXCSR);
  return mode;
}

void sb__float_mode_restore(uint32_t mode) {
  if ((mode & ~0x3fu) != DEFAULT_MXCSR) _mm_setcsr(mode);
}
#elif defined(__aarch64__)
/* The control register; 0 is round to nearest, no traps, denormals kept. */
uint32_t sb__float_mode_default(void) {
  uint64_t mode = 0;
  __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
  if (mode) __asm__ volatile("msr fpcr, %0" : : "r"(UINT64_C(0)));
  return (uint32_t)mode;
}

void sb__float_mode_restore(uint32_t mode) {
  if (mode) __asm__ volatile("msr fpcr, %0" : : "r"((uint64_t)mode));
}
#else
uint32_t sb__float_mode_default(void) {
  const int mode = fegetround();
  if (mode != FE_TONEAREST) fesetround(FE_TONEAREST);
  return (uint32_t)mode;
}

void sb__float_mode_restore(uint32_t mode) {
  if ((int)mode != FE_TONEAREST) fesetround((int)mode);
}
#endif
