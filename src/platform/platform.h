/* What differs between compilers and systems. Nothing above this folder needs a builtin or an #ifdef for a system. Out
 * parameters are never NULL; `int *error` gets the system's error number on failure.
 *
 * Every system has every function. sb__abilities says what a system may lack: what needs it then fails with ENOSYS, or does
 * what its comment says. */
#ifndef SB_PLATFORM_H
#define SB_PLATFORM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__wasm__) && !defined(__wasm_atomics__)
# define SB_THREAD_LOCAL /* a module without atomics has one thread */
# define SB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#elif defined(__MINGW32__)
# define SB_THREAD_LOCAL __thread
# define SB_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
# define SB_THREAD_LOCAL __thread
# define SB_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
# define SB_THREAD_LOCAL _Thread_local
# define SB_PRINTF(text, first)
#endif

/* True if a * b (a + b) overflows; out is then undefined. */
static inline bool sb__mul_overflows(int64_t a, int64_t b, int64_t *out) {
#ifdef __wasm__ /* where a product of 128 bits is a call */
  if (a == (int32_t)a && b == (int32_t)b) {
    *out = a * b;
    return false;
  }
#endif
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

/* ---- Memory ---- */

/* Allocates nbytes > 0 at a multiple of alignment, a power of two; NULL: no memory. sb__os_free_aligned frees them. */
void *sb__os_alloc_aligned(size_t nbytes, size_t alignment);
void sb__os_free_aligned(void *data);

#if defined(__wasm__) || defined(SB_HEAP_TEST)
/* Sets the owner of an allocated block: a struct that starts with a reference count, and frees the block with its last
 * reference. False: no memory. */
bool sb__heap_own(void *data, atomic_int_fast64_t *owner);

/* Takes a reference to the owner of the last block that begins at or before an address, which may be beyond the block's
 * end. NULL: there is none, or it is being freed. */
atomic_int_fast64_t *sb__heap_owner(uint32_t address);
#endif

/* Tells the system that all of a new allocation will be used, so that it may get large pages. Does nothing below some
 * megabytes. */
void sb__os_expect_use(void *data, size_t nbytes);

/* Maps nbytes > 0 of an open file, from any byte on. shared: writes reach the file, which must be open for writing; else
 * they stay private. NULL on failure. */
void *sb__os_map(int file, int64_t offset, size_t nbytes, bool shared, int *error);
void sb__os_unmap(void *data,
                  size_t nbytes); /* a result of sb__os_map; sb__os_mapped_size of its bytes */

/* The bytes that a mapping of so many of a file takes, where its pages are large; else nbytes. */
size_t sb__os_mapped_size(int file, size_t nbytes);

#if defined(__wasm__)
# define SB_GUARDS 0 /* there are no mappings */
#else
# define SB_GUARDS 1
#endif

/* Guards a mapping of sb__os_map, or any whole mapping of a file. On a fault (the file was shortened, or could not be
 * read), private zeros replace the mapping from that page to its end, or all of it where the system replaces no part, and the
 * returned word becomes 1. It is valid until sb__os_unguard, which must come before unmapping. Without faults, guards cost nothing.
 *
 * The first call installs a handler of SIGBUS, which passes other faults on to the handler before it. So does a later one where
 * another handler has replaced ours. NULL: error is the system's number. */
atomic_int *sb__os_guard(void *data, size_t nbytes, int *error);
void sb__os_unguard(atomic_int *fault);

/* A word that becomes 1 with the first fault of any guarded mapping. While it is 0, no bytes are lost. Valid forever. */
atomic_int *sb__os_faults(void);

/* ---- Abilities ---- */

/* What a system may lack.
 *
 *   segments             the folder of named segments, without a trailing slash; NULL: there are none
 *   unnamed_files        a file may have no name until sb__os_link gives it one (Linux: O_TMPFILE)
 *   sealed_memory        nobody can shorten what sb__os_segment_new seals (Linux: memfd_create; Windows: what is mapped)
 *   descriptor_paths     others can open a process' files by /proc/PID/fd/N
 *   process_start_times  a process is told from a later one of the same number
 *   futexes              the kernel has the waiters, of any program, and sb__os_futex_wake counts those that it woke; else it gives
 *                        0, and only a word that changes ends a wait
 *   names_ignore_case    names of segments that differ in upper and lower case alone are the same name */
typedef struct sb__abilities {
  const char *segments;
  bool unnamed_files, sealed_memory, descriptor_paths, process_start_times, futexes,
      names_ignore_case;
} sb__abilities;
sb__abilities sb__os_abilities(void);

/* ---- Process ---- */

/* Counts forks since the first call, in the child: where the result differs from an earlier one, this process was forked
 * since. */
int sb__os_forks(void);

/* What tells this process from all others of the machine: its number, when it started (the lower 32 bits of milliseconds since
 * the system's start), and the namespace of its number. 0 for the latter two: they are not known. */
typedef struct sb__process {
  int64_t id;
  uint32_t start;
  uint64_t space;
} sb__process;
sb__process sb__os_process(void);

/* True if that process has certainly ended; false also where it cannot be told: it is of another namespace, or parts of it
 * are not known. */
bool sb__os_has_ended(const sb__process *process);

/* ---- Files and shared memory ---- */

/* Makes a file at least as long, and reserves space on its disk where the file system can. Returns 0 or the system's error
 * number. */
int sb__os_reserve(int file, int64_t nbytes);

typedef enum sb__file_lock {
  SB__UNLOCKED,
  SB__LOCKED_SHARED,
  SB__LOCKED_EXCLUSIVE,
  SB__LOCK_ASKED,
} sb__file_lock;

/* Locks a file against other openings of it, of any process, or unlocks it. The lock is the opening's: it lasts until that
 * has no descriptor and no mapping any more, however its processes end. SB__LOCK_ASKED only says whether an exclusive lock
 * could be had. Returns 0 or the system's error number; EAGAIN: another opening has the file locked. */
int sb__os_lock_file(int file, sb__file_lock how);

/* Makes a segment of shared memory: a file of nbytes > 0, all zero, without a name, whose memory is reserved. Returns its
 * descriptor, open for reading and writing, or -1. mode: permissions, where the system has such. sealed: its length can never
 * change, which takes sealed_memory; else sb__os_segment_publish can name it, and without unnamed_files it has a name of ours
 * until then. */
int sb__os_segment_new(bool sealed, uint32_t mode, int64_t nbytes, int *error);

/* Gives a file of sb__os_segment_new up that gets no name after all. */
void sb__os_segment_abandon(int file);

/* Links an open file, which takes unnamed_files, or a segment of sb__os_segment_new to a path. Returns 0 or the system's error
 * number. */
int sb__os_link(int file, const char *path);

/* True if nobody can shorten the file, and all of its bytes can be read: large pages may be missing. */
bool sb__os_is_sealed(int file);

/* The path by which others can open an open file: its own, or of this process' descriptor, valid as long as that is open. False: there is
 * none, or it is longer than capacity. */
bool sb__os_file_path(int file, char *path, size_t capacity);

#define SB_SEGMENT_MARK ".samebytes-" /* names that begin so are ours, and no segments */

/* Named segments, in the folder of shm_open. Names are valid: they have no slash, and at most 255 bytes. All return 0 or the
 * system's error number. */

/* Why this system has no segments of that name; NULL: it may have one. */
const char *sb__os_segment_name_fault(const char *name);

/* Opens one for reading, and writing if asked; follows no symbolic link. */
int sb__os_segment_open(const char *name, bool writes, int *file);

/* Gives a file of sb__os_segment_new its name, after this process was recorded beside it as its owner. replace: the name is taken
 * from another file, which keeps its other users; else EEXIST where there is one. persists: its record says so. */
int sb__os_segment_publish(int file, const char *name, bool persists, bool replace);

/* What tells a file of the folder from the others: of an open one, and of what has a name. False: there is no such file. */
bool sb__os_file_inode(int file, uint64_t *inode);
bool sb__os_segment_inode(const char *name, uint64_t *inode);

/* Removes a name, and its owner's link. */
int sb__os_segment_unlink(const char *name);

/* Removes a name, with the owner's record, but only if it is this file's. False: it is not removed. */
bool sb__os_segment_remove(const char *name, uint64_t inode);

/* Removes the owner's record of a file, and the name that it has before its own. Windows keeps both where somebody has the file mapped. */
void sb__os_segment_forget(uint64_t inode);

/* The record of a named segment's owner.
 *
 *   nbytes    of the file that has the name; -1: the name is gone, or another file's
 *   is_ours   this user made it */
typedef struct sb__segment_record {
  char name[256];
  uint64_t inode;
  int64_t nbytes;
  sb__process owner;
  bool persists, is_ours;
} sb__segment_record;

/* The record of a file. False: there is none. */
bool sb__os_segment_record(uint64_t inode, sb__segment_record *out);

/* Calls see for each record, which may remove it. */
int sb__os_segment_records(void (*see)(void *context, const sb__segment_record *record),
                           void *context);

/* Removes what has no record and is in no use: files without a name of their own, after the system ended before their processes. */
void sb__os_segment_remove_lost(void);

/* Records this process as the owner of a file in the place of another one. False: it could not. */
bool sb__os_segment_take_over(const sb__segment_record *record);

/* Reads nbytes of a file from a byte on, or what there is: read gets how many, total the bytes of the file. */
int sb__os_read_at(int file, int64_t at, void *bytes, size_t nbytes, size_t *read, int64_t *total);

/* Writes the first bytes of a file. */
int sb__os_write_head(int file, const void *bytes, size_t nbytes);

/* Duplicates a descriptor; the duplicate is closed on exec. -1 on failure. */
int sb__os_duplicate(int file, int *error);
void sb__os_close(int file);

/* ---- Locks ---- */

/* For functions called under a lock (see sb__lock): they must be inlined in WebAssembly. */
#if defined(__GNUC__)
# define SB__STRAIGHT static inline __attribute__((always_inline))
#else
# define SB__STRAIGHT static inline
#endif

/* A spin lock for short critical sections; {0} is unlocked. WebAssembly threads can be terminated while holding one, but
 * only at loops and function entries: code under a lock must have neither (wasm/straight.mjs checks). It spins because a
 * page's main thread must not block. */
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

/* An environment variable; NULL: it is not set. */
const char *sb__os_environment(const char *name);

/* Sets one that is not set. */
void sb__os_set_default(const char *name, const char *value);

/* Has a function called with the exit code when the process exits, before what was registered earlier. False: the system does not tell the
 * code. */
typedef void sb__exit_function(int code);
bool sb__os_at_exit(sb__exit_function *function);

/* The same before all that is registered, also later, as libraries do with their destructors; for one function. False: this is not the
 * main thread, or the system cannot. */
bool sb__os_first_at_exit(sb__exit_function *function);

/* Ends the process: nothing that was registered is called, and other threads stop wherever they are. */
void sb__os_exit_now(int code);

/* ---- Libraries loaded at run time ---- */

/* Loads a library by name or path; it is never unloaded. NULL on failure; why: the reason. */
void *sb__os_library(const char *name, char *why, size_t capacity);

/* The address of a function; NULL: there is none of that name. */
void *sb__os_symbol(void *library, const char *name);

/* The address of a function of the program itself; NULL: it exports none of that name. */
void *sb__os_host_symbol(const char *name);

/* The folder of the library or program that contains an address, without a trailing slash. False: it is unknown, or
 * longer than capacity. */
bool sb__os_folder_of(const void *address, char *folder, size_t capacity);

/* A path as libraries of this system take it, UTF-16 on Windows; NULL: no memory, or it is no UTF-8 there. */
const void *sb__os_native_path(const char *path);
void sb__os_free_native_path(const void *path);

/* Reads a file's length, and unless bytes is NULL, its contents; capacity: bytes of the buffer. Returns 0 or the system's error
 * number. */
int sb__os_read_file(const char *path, void *bytes, size_t capacity, size_t *nbytes);

/* Yields the processor. */
void sb__os_yield(void);

/* A random number that other processes, and other runs of this one, are unlikely to draw. */
uint64_t sb__os_unique(void);

/* Processors that this process may use by affinity and container limits; at least 1. */
int sb__os_processors(void);

/* ---- Threads ---- */

/* Calls part(context, i) for every i below count, on this thread and up to `helpers` others; returns when all are done.
 * Helpers are started when first needed, sleep in between, and do not keep the process alive. Where there are none, where
 * another call uses them, and in a child after fork, this thread runs all parts. */
void sb__os_parallel(int helpers, int count, void (*part)(void *context, int i), void *context);

/* A task for a thread of its own; it may block for long. */
typedef struct sb__task {
  struct sb__task *next; /* sb__os_spawn_detached's */
  void (*run)(struct sb__task *task);
} sb__task;

/* Calls task->run(task) on a detached thread. task stays the caller's, and is not accessed after run is called. Some
 * threads stay for the next task; none keeps the process alive. False: no thread could be started. */
bool sb__os_spawn_detached(sb__task *task);

/* ---- Futex words ---- */

typedef enum sb__wait_result {
  SB__WOKEN,     /* by sb__os_futex_wake of any process; or the word changed while it waited */
  SB__NOT_EQUAL, /* the word was different at once */
  SB__TIMED_OUT,
  SB__SIGNALLED,   /* the event was signalled */
  SB__WAIT_FAILED, /* error is the system's number; ENOSYS: there are no futexes */
} sb__wait_result;

/* An event that wakes one waiter; {0} at first. Once signalled, it stays so. */
typedef struct sb__event {
  _Atomic uint32_t signalled;
} sb__event;
void sb__os_signal(sb__event *event);

/* Waits while a word, at a multiple of 4, has the expected value. Other threads, and processes that map the same page, wake
 * it. The kernel reads the word: SB__WAIT_FAILED with EFAULT where it is no longer mapped.
 *
 *   event  ends the wait when signalled. NULL: there is none, and a signal of the system's ends it as SB__WOKEN
 *   end   in nanoseconds of sb__os_now; -1: no timeout */
sb__wait_result sb__os_futex_wait(const void *word, uint32_t expected, sb__event *event,
                                  int64_t end, int *error);

/* Compares the word with the expected value, in the kernel: 1, 0, or -1 on failure. Takes no wakes from waiters. */
int sb__os_futex_equals(const void *word, uint32_t expected, int *error);

/* For tests: from now on checks events every 10 ms, as on systems that cannot wait for word and event at once. */
void sb__os_poll_events(void);

/* Wakes up to count > 0 waiters of all processes. Returns how many, or -1 on failure. */
int sb__os_futex_wake(void *word, int count, int *error);

int64_t sb__os_now(void); /* nanoseconds of a monotonic clock */

/* Nanoseconds of processor time that this thread has used; on Windows in steps of milliseconds. */
int64_t sb__os_thread_time(void);

/* ---- Floating point ---- */

/* Sets rounding, denormals and exception masks to the default. Returns the mode before. */
uint32_t sb__float_mode_default(void);
void sb__float_mode_restore(uint32_t mode);

#endif
