/* The few places where compilers and systems differ. Nothing above this folder needs a builtin or an
 * #ifdef for a system. Out parameters are never NULL. */
#ifndef SB_PLATFORM_H
#define SB_PLATFORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__wasm__) && !defined(__wasm_atomics__)
# define SB_THREAD_LOCAL /* a module without atomics has one thread */
# define SB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#elif defined(__GNUC__)
# define SB_THREAD_LOCAL __thread
# define SB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
# define SB_THREAD_LOCAL _Thread_local
# define SB_PRINTF(text, first)
#endif

/* True if a * b (a + b) does not fit; then out is not to be used. */
static inline bool sb__mul_overflows(int64_t a, int64_t b, int64_t *out) {
#if defined(__GNUC__)
  return __builtin_mul_overflow(a, b, out);
#else
  if (a && b && ((a == -1 && b == INT64_MIN) || (b == -1 && a == INT64_MIN))) return true;
  *out = (int64_t)((uint64_t)a * (uint64_t)b);
  return a && *out / a != b;
#endif
}

static inline bool sb__add_overflows(int64_t a, int64_t b, int64_t *out) {
#if defined(__GNUC__)
  return __builtin_add_overflow(a, b, out);
#else
  *out = (int64_t)((uint64_t)a + (uint64_t)b);
  return (a ^ *out) < 0 && (b ^ *out) < 0;
#endif
}

/* nbytes > 0 at a multiple of alignment (a power of two), or NULL; freed by sb__os_free_aligned. */
void *sb__os_alloc_aligned(size_t nbytes, size_t alignment);
void sb__os_free_aligned(void *data);

#if defined(__wasm__) || defined(SB_HEAP_TEST)
/* The owner of an allocated block: what starts with a count of references, and frees the block when the last one is
 * dropped. False: no memory. */
bool sb__heap_own(void *data, atomic_int_fast64_t *owner);

/* The owner of the last block that begins at or before an address (which may be beyond the block's end), with one
 * reference more. NULL: there is none, or it is being freed. */
atomic_int_fast64_t *sb__heap_owner(uint32_t address);
#endif

/* Tells the system that memory which was just allocated will be used from end to end: large pages, where it
 * has them, are touched in less time. Below some megabytes, and where there are none, nothing happens. */
void sb__os_expect_use(void *data, size_t nbytes);

/* Maps nbytes > 0 of an open file, from any byte on. shared: writes reach the file, which has to be open for them; else
 * they stay private. NULL: error is the system's number. */
void *sb__os_map(int file, int64_t offset, size_t nbytes, bool shared, int *error);
void sb__os_unmap(void *data, size_t nbytes); /* what sb__os_map gave */

#if defined(__wasm__)
# define SB_GUARDS 0 /* nothing is mapped, and the module has no code for it */
#else
# define SB_GUARDS 1
#endif

/* Guards what sb__os_map gave, or any whole mapping of a file, for as long as it is mapped: where its file became
 * shorter, or could not be read, a fault gives way to private zeros from that page to the mapping's end, and the returned
 * word is 1 from then on. It lives until sb__os_unguard, which comes before the mapping's end. Costs nothing until a
 * fault comes. The first call installs a handler of SIGBUS; faults that are nobody's go on to the one before.
 * NULL: error is ENOMEM, or EBUSY where somebody's handler has taken ours' place since. */
atomic_int *sb__os_guard(void *data, size_t nbytes, int *error);
void sb__os_unguard(atomic_int *fault);

/* The word is 0 until the first fault of any guarded mapping: who has read bytes of one need not ask further. It stays. */
atomic_int *sb__os_faults(void);

/* Makes a file that long, with room on its disk where its file system can reserve any; 0 or the system's error number. */
int sb__os_reserve(int file, int64_t nbytes);

/* Shared memory between processes: a file of nbytes > 0 that has its memory, all zero, and no name, open for reading and
 * writing; -1: error is the system's number. mode: permissions, as they are given. sealed: nobody can make it shorter or
 * longer; else sb__os_link can give it names. */
int sb__os_segment_new(bool sealed, uint32_t mode, int64_t nbytes, int *error);

/* One name more for an open file, which may have had none; 0 or the system's error number. */
int sb__os_link(int file, const char *path);

/* Can nobody make the file shorter? */
bool sb__os_is_sealed(int file);

/* Another descriptor of an open file, closed in programs that this one starts; -1: error is the system's number. */
int sb__os_duplicate(int file, int *error);
void sb__os_close(int file);

/* A part of what is done under a lock. */
#if defined(__GNUC__)
# define SB__STRAIGHT static inline __attribute__((always_inline))
#else
# define SB__STRAIGHT static inline
#endif

/* A lock for short stretches. {0} is an unlocked one. In WebAssembly a thread may be terminated while it has one, but
 * only where a loop begins or a function is entered: what is done under locks there is a straight line
 * (wasm/straight.mjs), and taking one is inlined for that. They are spun on, because a page's main thread may not
 * sleep. */
typedef struct sb__lock {
  atomic_flag taken;
} sb__lock;
#if defined(__wasm__) && !defined(__wasm_atomics__) /* one thread */
static inline void sb__lock_take(sb__lock *lock) { (void)lock; }
static inline void sb__lock_drop(sb__lock *lock) { (void)lock; }
#elif defined(__wasm__)
SB__STRAIGHT void sb__lock_take(sb__lock *lock) {
  while (atomic_flag_test_and_set_explicit(&lock->taken, memory_order_acquire)) continue;
}
SB__STRAIGHT void sb__lock_drop(sb__lock *lock) {
  atomic_flag_clear_explicit(&lock->taken, memory_order_release);
}
#else
void sb__lock_take(sb__lock *lock);
void sb__lock_drop(sb__lock *lock);
#endif

/* A variable of the environment; NULL where it is not set, or where there is no environment. */
const char *sb__os_environment(const char *name);

/* ---- Libraries that are found at run time ---- */

/* Opens a library by its name or path, for good; NULL: why says why. */
void *sb__os_library(const char *name, char *why, size_t room);

/* The address of a function; NULL: the library has none of that name. */
void *sb__os_symbol(void *library, const char *name);

/* The folder of the library (or program) that an address lies in, without a slash at its end; false: unknown, or longer than room. */
bool sb__os_folder_of(const void *address, char *folder, size_t room);

/* How long a file is, and, into room for that, its bytes (NULL: only its length). 0 or the system's error number. */
int sb__os_read_file(const char *path, void *bytes, size_t room, size_t *nbytes);

/* How often this process was forked off since the first call, or its parents were: where it differs from what another call
 * gave, this is a child of that one. */
int sb__os_forks(void);

/* Lets others run for a moment. */
void sb__os_yield(void);

/* A number that another process, or another start of this one, will hardly have. */
uint64_t sb__os_unique(void);

/* Processors that this process may use: its affinity, and what its container grants. At least 1. */
int sb__os_processors(void);

/* Calls part(context, i) for every i below count, on this thread and on up to helpers others, and comes
 * back when all are done. The others are started when they are first needed and sleep in between; they
 * do not keep the process alive. Where there are none, where another call has them, and in a child
 * after fork, this thread does all. */
void sb__os_parallel(int helpers, int count, void (*part)(void *context, int i), void *context);

/* Work for a thread of its own, which may sleep for long in it. */
typedef struct sb__task {
  struct sb__task *next; /* run_apart's */
  void (*run)(struct sb__task *task);
} sb__task;

/* Calls task->run(task) on another thread; task stays the caller's, and is not touched once run was called. Some threads stay
 * for the next task; they do not keep the process alive. False: there is no thread to be had. */
bool sb__os_run_apart(sb__task *task);

/* ---- Words that processes sleep on ---- */

typedef enum sb__waking {
  SB__WOKEN,     /* by sb__os_wake, of whatever process; or the word has changed while this slept */
  SB__NOT_EQUAL, /* the word was another before anybody slept */
  SB__TIMED_OUT,
  SB__RUNG,        /* the bell */
  SB__WAIT_FAILED, /* error is the system's number: ENOSYS where there is nothing to sleep on */
} sb__waking;

/* A bell that wakes one sleeper, {0} at first. It is rung once, and then stays so. */
typedef struct sb__bell {
  _Atomic uint32_t rung;
} sb__bell;
void sb__os_ring(sb__bell *bell);

/* Sleeps while a word of memory, at a multiple of 4, is what is expected. Other threads, and processes that map the same page,
 * wake it. The system reads the word: one that is mapped no more is an error (EFAULT).
 *
 *   end  nanoseconds of sb__os_now; -1: never */
sb__waking sb__os_wait(const void *word, uint32_t expected, sb__bell *bell, int64_t end,
                       int *error);

/* Is the word what is expected? 1, 0, or -1: error is the system's number. Nobody who is woken is mistaken for this. */
int sb__os_word_is(const void *word, uint32_t expected, int *error);

/* From now on as on a system that cannot sleep on word and bell together: the bell is looked at every 10 ms. */
void sb__os_wait_in_slices(void);

/* Wakes up to count > 0 sleepers of all processes and says how many; -1: error is the system's number. */
int sb__os_wake(void *word, int count, int *error);

int64_t sb__os_now(void); /* nanoseconds of a clock that only goes on */

/* Sets rounding, denormals and exception masks to the default and returns what was there. */
uint32_t sb__float_mode_default(void);
void sb__float_mode_restore(uint32_t mode);

#endif
