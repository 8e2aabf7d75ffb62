/* The WASM side of bind: an environment's frame lies in linear memory, and JavaScript is told where.
 *
 * A module over shared memory is instantiated by each thread. All instances see one set of static data, but
 * each needs a stack and thread-local variables of its own: an environment has them behind it. A thread that
 * joins has no stack yet, so it makes its environment on the boot stack, which JavaScript locks meanwhile. */
#include <stdlib.h>

#include "bind/frame.h"

#define WASM_EXPORT(name) __attribute__((export_name(#name), used))

typedef struct environment {
  sb__binding binding;
  double frame[SB__FRAME_SIZE];
#ifdef __wasm_atomics__
  uint32_t id;     /* never used again */
  uint32_t thread; /* the host's number for it; 0: none */
  uint32_t parent; /* the number of a thread that ends after this one; 0: none */
  bool watched;    /* its host can tell that the thread is gone */
  struct environment *next;
#endif
} environment;

static SB_THREAD_LOCAL environment *here; /* this instance's */

WASM_EXPORT(sb_frame) double *sb__wasm_frame(void);
WASM_EXPORT(sb_tables) const char *sb__wasm_tables(void);
WASM_EXPORT(sb_call) void sb__wasm_call(uint32_t row);

double *sb__wasm_frame(void) { return here->frame; }
const char *sb__wasm_tables(void) { return sb__tables(); }
void sb__wasm_call(uint32_t row) { sb__run(&here->binding, row); }

static void prepare(environment *e) { *e = (environment){.binding = {.frame = e->frame}}; }

#ifndef __wasm_atomics__

WASM_EXPORT(sb_start) bool sb__wasm_start(void);

/* The instance's environment; false without memory. */
bool sb__wasm_start(void) {
  here = malloc(sizeof *here);
  if (here) prepare(here);
  return here != NULL;
}

#else

# define STACK 262144 /* bytes of each thread's; the first one has the module's, of the same size */
# define BOOT_STACK 4096

static _Alignas(16) char boot_stack[BOOT_STACK];
static int32_t boot_lock; /* taken and dropped by JavaScript */
static sb__lock lock;     /* of what follows */
static environment *environments;
static uint32_t last_id;

WASM_EXPORT(sb_boot_lock) int32_t *sb__wasm_boot_lock(void);
WASM_EXPORT(sb_boot_stack) char *sb__wasm_boot_stack(void);
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

int32_t *sb__wasm_boot_lock(void) { return &boot_lock; }
char *sb__wasm_boot_stack(void) { return boot_stack + BOOT_STACK; }

static size_t round_up(size_t nbytes) { return (nbytes + 63) / 64 * 64; }

/* An environment with thread-local variables of tls bytes and a stack behind it. Uses none itself: the caller
 * has not got them yet. NULL without memory. */
environment *sb__wasm_new_environment(uint32_t tls, uint32_t stack, uint32_t thread,
                                      uint32_t parent) {
  environment *e = aligned_alloc(64, round_up(sizeof *e) + round_up(tls) + (stack ? STACK : 0));
  if (!e) return NULL;
  prepare(e);
  e->thread = thread;
  e->parent = parent;
  sb__lock_take(&lock);
  e->id = ++last_id;
  e->next = environments;
  environments = e;
  sb__lock_drop(&lock);
  return e;
}

void sb__wasm_start(environment *e) { here = e; }

char *sb__wasm_tls(environment *e) { return (char *)e + round_up(sizeof *e); }

/* The stack's upper end: it grows down. */
char *sb__wasm_stack(environment *e, uint32_t tls) {
  return sb__wasm_tls(e) + round_up(tls) + STACK;
}

uint32_t sb__wasm_id(void) { return here->id; }

void sb__wasm_watched(void) {
  sb__lock_take(&lock);
  here->watched = true;
  sb__lock_drop(&lock);
}

/* The lowest number above id of an environment whose thread said that it is watched; 0: none. */
uint32_t sb__wasm_next_watched(uint32_t id) {
  uint32_t next = 0;
  sb__lock_take(&lock);
  for (const environment *e = environments; e; e = e->next) {
    if (e->watched && e->id > id && (!next || e->id < next)) next = e->id;
  }
  sb__lock_drop(&lock);
  return next;
}

/* The lowest number above id that an environment has; 0: none. */
uint32_t sb__wasm_next_id(uint32_t id) {
  uint32_t next = 0;
  sb__lock_take(&lock);
  for (const environment *e = environments; e; e = e->next) {
    if (e->id > id && (!next || e->id < next)) next = e->id;
  }
  sb__lock_drop(&lock);
  return next;
}

/* The environment of this number; with 0, one of the thread's or of a thread below it. NULL: there is none. */
static environment *take_out(uint32_t id, uint32_t thread) {
  environment **at = &environments, *e;
  sb__lock_take(&lock);
  for (; (e = *at); at = &e->next) {
    if (id ? e->id == id : e->thread == thread || e->parent == thread) break;
  }
  if (e) *at = e->next;
  sb__lock_drop(&lock);
  return e;
}

static void end(environment *e) {
  sb__claims_drop_all(&e->binding);
  free(e);
}

/* The thread of this environment is gone: what it claimed is dropped, its memory freed. False: somebody did
 * that before. */
bool sb__wasm_end(uint32_t id) {
  environment *e = id ? take_out(id, 0) : NULL;
  if (e) end(e);
  return e != NULL;
}

/* The same for all environments of a thread, one for each copy of the package, and of threads below it. */
void sb__wasm_end_thread(uint32_t thread) {
  environment *e;
  while (thread && (e = take_out(0, thread))) {
    const uint32_t ended = e->thread;
    end(e);
    if (ended != thread) sb__wasm_end_thread(ended);
  }
}

#endif
