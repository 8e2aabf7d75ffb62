/* The WASM side of bind: an environment's frame lies in linear memory, and JavaScript is told where.
 *
 * A module over shared memory is instantiated by each thread. All instances see one set of static data, but
 * each needs a stack and thread-local variables of its own: an environment has them behind it. A thread that
 * joins has neither yet, and what makes its environment uses none (wasm/straight.mjs looks). */
#include <stdlib.h>

#include "bind/frame.h"

#define WASM_EXPORT(name) __attribute__((export_name(#name), used))

typedef struct environment {
  sb__binding binding;
  double frame[SB__FRAME_SIZE];
  const void *stack; /* its upper end: each call begins there */
#ifdef __wasm_atomics__
  uint32_t id;     /* never used again */
  uint32_t thread; /* the host's number for it; 0: none */
  uint32_t parent; /* the number of a thread that ends after this one; 0: none */
  bool watched;    /* its host can tell that the thread is gone */
#endif
} environment;

static SB_THREAD_LOCAL environment *here; /* this instance's */

WASM_EXPORT(sb_frame) double *sb__wasm_frame(void);
WASM_EXPORT(sb_tables) const char *sb__wasm_tables(void);
WASM_EXPORT(sb_call) void sb__wasm_call(uint32_t row);

double *sb__wasm_frame(void) { return here->frame; }
const char *sb__wasm_tables(void) { return sb__tables(); }

__asm__(".globaltype __stack_pointer, i32\n");

static inline const void *stack_pointer(void) {
  const void *at;
  __asm__ volatile("global.get __stack_pointer\nlocal.set %0" : "=r"(at));
  return at;
}

/* An engine may leave C in the middle of a call: where the stack of its own overflows, or a program is stopped. What that call
 * had of C's stack would be lost. */
void sb__wasm_call(uint32_t row) {
  __asm__ volatile("local.get %0\nglobal.set __stack_pointer" : : "r"(here->stack));
  sb__run(&here->binding, row);
}

static void init_environment(environment *e) { *e = (environment){.binding = {.frame = e->frame}}; }

#ifndef __wasm_atomics__

WASM_EXPORT(sb_start) bool sb__wasm_start(void);

/* The instance's environment; false without memory. */
bool sb__wasm_start(void) {
  here = malloc(sizeof *here);
  if (!here) return false;
  init_environment(here);
  here->stack = stack_pointer();
  return true;
}

#else

# define STACK_BYTES \
  262144 /* bytes of each thread's; the first one has the module's, of the same size */
# define MOST_THREADS 4096

static sb__lock lock; /* of what follows; under it nothing is looped over */
static environment *environments[MOST_THREADS];
static uint32_t last_id;
static atomic_uint places_used; /* places that ever had one */

WASM_EXPORT(sb_new_environment)
environment *sb__wasm_new_environment(uint32_t tls, uint32_t stack, uint32_t thread,
                                      uint32_t parent);
WASM_EXPORT(sb_start) void sb__wasm_start(environment *e);
WASM_EXPORT(sb_tls) char *sb__wasm_tls(environment *e);
WASM_EXPORT(sb_stack) char *sb__wasm_stack(environment *e, uint32_t tls);
WASM_EXPORT(sb_id) uint32_t sb__wasm_id(void);
WASM_EXPORT(sb_next_id) uint32_t sb__wasm_next_id(uint32_t id);
WASM_EXPORT(sb_watched) void sb__wasm_watched(void);
WASM_EXPORT(sb_next_watched) uint32_t sb__wasm_next_watched(uint32_t id);
WASM_EXPORT(sb_end) bool sb__wasm_end(uint32_t id);
WASM_EXPORT(sb_end_thread) void sb__wasm_end_thread(uint32_t thread);

static size_t round_up(size_t nbytes) { return (nbytes + 63) / 64 * 64; }

static bool put_environment(environment *e, uint32_t place) {
  sb__lock_take(&lock);
  const bool is_free = !environments[place];
  if (is_free) {
    e->id = ++last_id;
    environments[place] = e;
    if (place >= places_used) places_used = place + 1;
  }
  sb__lock_drop(&lock);
  return is_free;
}

/* An environment with thread-local variables of tls bytes and a stack behind it. Uses none itself: the caller
 * has not got them yet. NULL without memory, or with so many threads. */
environment *sb__wasm_new_environment(uint32_t tls, uint32_t stack, uint32_t thread,
                                      uint32_t parent) {
  environment *e =
      aligned_alloc(64, round_up(sizeof *e) + round_up(tls) + (stack ? STACK_BYTES : 0));
  if (!e) return NULL;
  init_environment(e);
  e->thread = thread;
  e->parent = parent;
  for (uint32_t place = 0; place < MOST_THREADS; place++)
    if (put_environment(e, place)) return e;
  free(e);
  return NULL;
}

void sb__wasm_start(environment *e) {
  here = e;
  e->stack = stack_pointer();
}

char *sb__wasm_tls(environment *e) { return (char *)e + round_up(sizeof *e); }

/* The stack's upper end: it grows down. */
char *sb__wasm_stack(environment *e, uint32_t tls) {
  return sb__wasm_tls(e) + round_up(tls) + STACK_BYTES;
}

uint32_t sb__wasm_id(void) { return here->id; }

void sb__wasm_watched(void) {
  sb__lock_take(&lock);
  here->watched = true;
  sb__lock_drop(&lock);
}

/* The environment's number, or 0 where there is none. */
static uint32_t id_at(uint32_t place, bool watched) {
  sb__lock_take(&lock);
  const environment *e = environments[place];
  const uint32_t id = e && (e->watched || !watched) ? e->id : 0;
  sb__lock_drop(&lock);
  return id;
}

static uint32_t next_id(uint32_t id, bool watched) {
  uint32_t next = 0;
  for (uint32_t place = 0; place < places_used; place++) {
    const uint32_t found = id_at(place, watched);
    if (found > id && (!next || found < next)) next = found;
  }
  return next;
}

/* The lowest number above id of an environment whose thread said that it is watched; 0: none. */
uint32_t sb__wasm_next_watched(uint32_t id) { return next_id(id, true); }

/* The lowest number above id that an environment has; 0: none. */
uint32_t sb__wasm_next_id(uint32_t id) { return next_id(id, false); }

static environment *remove_environment_at(uint32_t place, uint32_t id, uint32_t thread) {
  sb__lock_take(&lock);
  environment *e = environments[place];
  if (e && !(id ? e->id == id : e->thread == thread || e->parent == thread)) e = NULL;
  if (e) environments[place] = NULL;
  sb__lock_drop(&lock);
  return e;
}

/* The environment of this number; with 0, one of the thread's or of a thread below it. NULL: there is none. */
static environment *remove_environment(uint32_t id, uint32_t thread) {
  environment *e = NULL;
  for (uint32_t place = 0; !e && place < places_used; place++)
    e = remove_environment_at(place, id, thread);
  return e;
}

static void end_environment(environment *e) {
  sb__claims_drop_all(&e->binding);
  free(e);
}

/* The thread of this environment is gone: what it claimed is dropped, its memory freed. False: somebody did
 * that before. */
bool sb__wasm_end(uint32_t id) {
  environment *e = id ? remove_environment(id, 0) : NULL;
  if (e) end_environment(e);
  return e != NULL;
}

/* The same for all environments of a thread, one for each copy of the package, and of threads below it. */
void sb__wasm_end_thread(uint32_t thread) {
  environment *e;
  while (thread && (e = remove_environment(0, thread))) {
    const uint32_t ended = e->thread;
    end_environment(e);
    if (ended != thread) sb__wasm_end_thread(ended);
  }
}

#endif
