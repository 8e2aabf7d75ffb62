/* The WASM side of bind: an environment's call buffer is in linear memory, where JavaScript reads and writes it.
 *
 * Each thread instantiates a module over shared memory. All instances share static data, but each needs a stack and
 * thread-local variables of its own, which follow its environment in memory. A thread that joins has neither yet, so the
 * functions that make its environment use none (wasm/straight.mjs checks that). */
#include <stdlib.h>

#include "bind/frame.h"

#define WASM_EXPORT(name) __attribute__((export_name(#name), used))

typedef struct environment {
  sb__binding binding;
  double frame[SB__FRAME_SIZE];
  const void *stack; /* its upper end, where each call begins */
#ifdef __wasm_atomics__
  uint32_t id;     /* unique */
  uint32_t thread; /* the host's number for the thread; 0: none */
  uint32_t parent; /* the number of the thread that started it, and outlives it; 0: none */
  bool watched;    /* the host notices when the thread ends */
#endif
} environment;

static SB_THREAD_LOCAL environment *here; /* this instance's */

WASM_EXPORT(sb_frame) double *sb__wasm_frame(void);
WASM_EXPORT(sb_tables) const char *sb__wasm_tables(void);
WASM_EXPORT(sb_call) void sb__wasm_call(uint32_t row);
WASM_EXPORT(sb_binding) sb__binding *sb__wasm_binding(void);

double *sb__wasm_frame(void) { return here->frame; }
const char *sb__wasm_tables(void) { return sb__tables(); }

__asm__(".globaltype __stack_pointer, i32\n");

static inline const void *stack_pointer(void) {
  const void *at;
  __asm__ volatile("global.get __stack_pointer\nlocal.set %0" : "=r"(at));
  return at;
}

/* Resets the stack pointer: engines may leave C in the middle of a call, where their own stack overflows or the program is
 * stopped, and that call's part of C's stack would be lost. */
void sb__wasm_call(uint32_t row) {
  __asm__ volatile("local.get %0\nglobal.set __stack_pointer" : : "r"(here->stack));
  sb__run(&here->binding, row);
}

/* What a call of another module (side_module.inc) begins with: for its calls of this one, the stack pointer is reset as well. */
sb__binding *sb__wasm_binding(void) {
  __asm__ volatile("local.get %0\nglobal.set __stack_pointer" : : "r"(here->stack));
  return &here->binding;
}

/* ---- Memory of another module's calls. It is claimed, so that nothing stays where their thread is terminated ---- */

WASM_EXPORT(sb__alloc_aligned) void *sb__wasm_alloc(size_t nbytes);
WASM_EXPORT(sb__alloc_bytes) void *sb__wasm_alloc_bytes(int64_t nbytes);
WASM_EXPORT(sb__free_aligned) void sb__wasm_free(void *data);
WASM_EXPORT(sb_tensor_empty)
sb_status sb__wasm_tensor_empty(sb_dtype dtype, int32_t ndim, const int64_t *shape, sb_tensor *out);
WASM_EXPORT(sb_tensor_release) void sb__wasm_tensor_release(sb_tensor *t);

/* Before the bytes. */
typedef struct claimed {
  double handle;
  sb_storage *storage; /* over the bytes */
  char unused[SB_ALIGNMENT - sizeof(double) - sizeof(sb_storage *)];
} claimed;

static void free_claimed(void *data, void *context) {
  (void)context;
  sb__free_aligned((claimed *)data - 1);
}

static void *new_claimed(size_t nbytes, sb__storage_kind kind) {
  claimed *c = nbytes < SIZE_MAX - sizeof *c ? sb__alloc_aligned(sizeof *c + nbytes) : NULL;
  if (!c) return NULL;
  if (sb__storage_wrap_as(kind, c + 1, nbytes, free_claimed, NULL, &c->storage)) {
    sb__free_aligned(c);
    return NULL;
  }
  if (!sb__claim_new(&here->binding, c->storage, &c->handle)) return c + 1;
  sb_storage *storage = c->storage;
  sb_storage_unref(&storage);
  return NULL;
}

/* No total counts it. */
void *sb__wasm_alloc(size_t nbytes) { return new_claimed(nbytes, SB__STORAGE_PIN); }

void *sb__wasm_alloc_bytes(int64_t nbytes) {
  if (nbytes > PTRDIFF_MAX || !sb__scratch_allows(nbytes)) return NULL;
  return new_claimed((size_t)nbytes, SB__STORAGE_SCRATCH);
}

void sb__wasm_free(void *data) {
  const claimed *c = data;
  if (c && sb__claim_drop(&here->binding, c[-1].handle)) __builtin_trap();
}

/* For what a call holds while it runs; it cannot become a result. */
sb_status sb__wasm_tensor_empty(sb_dtype dtype, int32_t ndim, const int64_t *shape,
                                sb_tensor *out) {
  const sb_status status = sb_tensor_init(NULL, dtype, ndim, shape, NULL, 0, out);
  if (status) return status;
  const int64_t nbytes = sb_tensor_nbytes(out);
  const claimed *c = sb__wasm_alloc_bytes(nbytes);
  if (!c) return sb__fail(SB_ERR_MEMORY, "%lld bytes could not be allocated", (long long)nbytes);
  out->storage = c[-1].storage;
  return SB_OK;
}

void sb__wasm_tensor_release(sb_tensor *t) {
  if (t->storage) sb__wasm_free(t->storage->data);
  t->storage = NULL;
}

static void init_environment(environment *e) { *e = (environment){.binding = {.frame = e->frame}}; }

#ifndef __wasm_atomics__

WASM_EXPORT(sb_start) bool sb__wasm_start(void);

/* Makes the instance's environment. False: no memory. */
bool sb__wasm_start(void) {
  here = malloc(sizeof *here);
  if (!here) return false;
  init_environment(here);
  here->stack = stack_pointer();
  return true;
}

#else

# define STACK_BYTES \
  262144 /* of each thread but the first, which has the module's, of the same size */
# define MOST_THREADS 4096

static sb__lock lock; /* of what follows; no loops under it (see sb__lock) */
static environment *environments[MOST_THREADS];
static uint32_t last_id;
static atomic_uint places_used; /* the first places, which have had one */

WASM_EXPORT(sb_new_environment)
environment *sb__wasm_new_environment(uint32_t tls, uint32_t stack, uint32_t thread,
                                      uint32_t parent);
WASM_EXPORT(sb_start) void sb__wasm_start(environment *e);
WASM_EXPORT(sb_tls) char *sb__wasm_tls(environment *e);
WASM_EXPORT(sb_stack) char *sb__wasm_stack(environment *e, uint32_t tls);
WASM_EXPORT(sb_id) uint32_t sb__wasm_id(void);
WASM_EXPORT(sb_probe) int64_t *sb__wasm_probe(void);
WASM_EXPORT(sb_next_id) uint32_t sb__wasm_next_id(uint32_t id);
WASM_EXPORT(sb_watched) void sb__wasm_watched(void);
WASM_EXPORT(sb_next_watched) uint32_t sb__wasm_next_watched(uint32_t id);
WASM_EXPORT(sb_end) bool sb__wasm_end(uint32_t id);
WASM_EXPORT(sb_end_thread) void sb__wasm_end_thread(uint32_t thread);

/* Eight bytes of all threads, in the module's own data, which each buffer over the memory covers; to try whether one is. */
int64_t *sb__wasm_probe(void) {
  static int64_t probe;
  return &probe;
}

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

/* Makes an environment, followed by tls bytes of thread-local variables and a stack. Uses neither: the caller has none
 * yet. NULL: no memory, or too many threads. */
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

/* The stack's upper end: stacks grow down. */
char *sb__wasm_stack(environment *e, uint32_t tls) {
  return sb__wasm_tls(e) + round_up(tls) + STACK_BYTES;
}

uint32_t sb__wasm_id(void) { return here->id; }

void sb__wasm_watched(void) {
  sb__lock_take(&lock);
  here->watched = true;
  sb__lock_drop(&lock);
}

/* The id of the environment at a place; 0: none, or not watched. */
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

/* The lowest id above `id` of a watched environment; 0: none. */
uint32_t sb__wasm_next_watched(uint32_t id) { return next_id(id, true); }

/* The lowest id above `id` of an environment; 0: none. */
uint32_t sb__wasm_next_id(uint32_t id) { return next_id(id, false); }

static environment *remove_environment_at(uint32_t place, uint32_t id, uint32_t thread) {
  sb__lock_take(&lock);
  environment *e = environments[place];
  if (e && !(id ? e->id == id : e->thread == thread || e->parent == thread)) e = NULL;
  if (e) environments[place] = NULL;
  sb__lock_drop(&lock);
  return e;
}

/* Removes the environment with this id; id 0: one of the thread's, or of a thread that it started. NULL: none. */
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

/* Frees the environment of a thread that has ended, and drops its claims. False: another thread has done so. */
bool sb__wasm_end(uint32_t id) {
  environment *e = id ? remove_environment(id, 0) : NULL;
  if (e) end_environment(e);
  return e != NULL;
}

/* The same for all environments of a thread (one per copy of the package) and of threads that it started. */
void sb__wasm_end_thread(uint32_t thread) {
  environment *e;
  while (thread && (e = remove_environment(0, thread))) {
    const uint32_t ended = e->thread;
    end_environment(e);
    if (ended != thread) sb__wasm_end_thread(ended);
  }
}

#endif
