#define _GNU_SOURCE
#include "emu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

emu_kernel *emu_kernels;
_Thread_local emu_dim emu_thread, emu_block, emu_block_size, emu_grid_size;

enum { STACK = 64 * 1024, MOST = 1024 };

typedef enum fiber_state { READY, WAITS, DONE } fiber_state;

typedef struct fiber {
  void *at; /* stack pointer */
  fiber_state state;
  const char *place; /* of the barrier where it waits */
  emu_dim index;
} fiber;

/* One for each thread that launches. */
typedef struct machine {
  fiber fibers[MOST];
  char *stacks;
  uint32_t count;
  void *outside; /* stack pointer of who runs fibers */
  fiber *now;
  const emu_kernel *kernel;
  const void *arguments;
  char message[256];
} machine;

static _Thread_local machine *m;
static pthread_key_t ending;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static unsigned order;

static void end(void *of) {
  munmap(((machine *)of)->stacks, (size_t)MOST * STACK);
  free(of);
}

static void begin_all(void) {
  const char *text = getenv("EMU_ORDER");
  if (text && !order) order = (unsigned)atoi(text);
  pthread_key_create(&ending, end);
}

void emu_set_order(unsigned to) {
  pthread_once(&once, begin_all);
  order = to;
}

/* Saves the registers that a call keeps, and swaps stacks: some nanoseconds, where swapcontext would make two
 * system calls. */
void emu_swap(void **save, void *to);
static void fiber_main(void);

#if defined(__x86_64__)
__asm__(".text\n.globl emu_swap\n.hidden emu_swap\n.type emu_swap,@function\nemu_swap:\n"
        " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
        " mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
        " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
        ".size emu_swap,.-emu_swap\n");
static void *fresh(char *stack) {
  void **at = (void **)(void *)(stack + STACK - 16);
  *--at = NULL;
  *--at = (void *)fiber_main;
  for (int i = 0; i < 6; i++) *--at = NULL;
  return at;
}
#elif defined(__aarch64__)
__asm__(".text\n.globl emu_swap\n.hidden emu_swap\n.type emu_swap,%function\nemu_swap:\n"
        " sub sp,sp,#160\n"
        " stp x19,x20,[sp]\n stp x21,x22,[sp,#16]\n stp x23,x24,[sp,#32]\n stp x25,x26,[sp,#48]\n"
        " stp x27,x28,[sp,#64]\n stp x29,x30,[sp,#80]\n"
        " stp d8,d9,[sp,#96]\n stp d10,d11,[sp,#112]\n stp d12,d13,[sp,#128]\n"
        " stp d14,d15,[sp,#144]\n"
        " mov x9,sp\n str x9,[x0]\n mov sp,x1\n"
        " ldp x19,x20,[sp]\n ldp x21,x22,[sp,#16]\n ldp x23,x24,[sp,#32]\n ldp x25,x26,[sp,#48]\n"
        " ldp x27,x28,[sp,#64]\n ldp x29,x30,[sp,#80]\n"
        " ldp d8,d9,[sp,#96]\n ldp d10,d11,[sp,#112]\n ldp d12,d13,[sp,#128]\n"
        " ldp d14,d15,[sp,#144]\n"
        " add sp,sp,#160\n ret\n");
static void *fresh(char *stack) {
  uint64_t *at = (uint64_t *)(void *)(stack + STACK - 16 - 160);
  memset(at, 0, 160);
  at[11] = (uint64_t)fiber_main;
  return at;
}
#else
# error "no switch of fibers for this processor"
#endif

static void fiber_main(void) {
  m->kernel->run(m->arguments);
  m->now->state = DONE;
  emu_swap(&m->now->at, m->outside);
  abort();
}

void emu_barrier(const char *place) {
  fiber *f = m->now;
  f->place = place;
  f->state = WAITS;
  emu_swap(&f->at, m->outside);
  emu_thread = f->index;
}

static const char *fault(const char *what, const char *place, uint32_t waiting, uint32_t gone) {
  snprintf(m->message, sizeof m->message, "%s: %s at %s, block %u: %u wait, %u are gone",
           m->kernel->name, what, place ? place : "no barrier", emu_block.x, waiting, gone);
  return m->message;
}

/* The i-th thread to run. */
static uint32_t pick(uint32_t i) {
  const uint32_t n = m->count;
  if (order == 0) return i;
  if (order == 1 || (n & (n - 1))) return n - 1 - i;
  return (i * 2654435761u + order) & (n - 1);
}

static const char *run_block(void) {
  for (uint32_t i = 0; i < m->count; i++) {
    m->fibers[i] = (fiber){.at = fresh(m->stacks + (size_t)i * STACK)};
    m->fibers[i].index = (emu_dim){i % emu_block_size.x, i / emu_block_size.x % emu_block_size.y,
                                   i / emu_block_size.x / emu_block_size.y};
  }
  for (;;) {
    uint32_t ran = 0, gone = 0, waiting = 0;
    const char *place = NULL;
    for (uint32_t i = 0; i < m->count; i++) {
      fiber *f = &m->fibers[pick(i)];
      if (f->state != READY) continue;
      m->now = f;
      emu_thread = f->index;
      emu_swap(&m->outside, f->at);
      ran++;
    }
    for (uint32_t i = 0; i < m->count; i++) {
      const fiber *f = &m->fibers[i];
      if (f->state == DONE) gone++;
      if (f->state != WAITS) continue;
      if (place && place != f->place)
        return fault("threads wait at different barriers", place, waiting, gone);
      place = f->place;
      waiting++;
    }
    if (gone == m->count) return NULL;
    if (waiting + gone == m->count && gone)
      return fault("part of the block waits", place, waiting, gone);
    if (!ran) return fault("deadlock", place, waiting, gone);
    for (uint32_t i = 0; i < m->count; i++) m->fibers[i].state = READY;
  }
}

static const char *begin(void) {
  pthread_once(&once, begin_all);
  if (m) return NULL;
  machine *fresh_one = calloc(1, sizeof *fresh_one);
  if (!fresh_one) return "out of memory";
  fresh_one->stacks = mmap(NULL, (size_t)MOST * STACK, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (fresh_one->stacks == MAP_FAILED) {
    free(fresh_one);
    return "out of memory";
  }
  m = fresh_one;
  pthread_setspecific(ending, m);
  return NULL;
}

const char *emu_launch(emu_kernel *kernel, emu_dim grid, emu_dim block, const void *arguments) {
  const uint64_t n = (uint64_t)block.x * block.y * block.z;
  const char *wrong = begin();
  if (wrong) return wrong;
  if (n == 0 || n > MOST || n > kernel->threads) {
    snprintf(m->message, sizeof m->message, "%s: a block of %llu threads, at most %u are allowed",
             kernel->name, (unsigned long long)n, kernel->threads);
    return m->message;
  }
  m->kernel = kernel;
  m->arguments = arguments;
  m->count = (uint32_t)n;
  emu_grid_size = grid;
  emu_block_size = block;
  __atomic_add_fetch(&kernel->launches, 1, __ATOMIC_RELAXED);
  for (uint32_t z = 0; z < grid.z; z++) {
    for (uint32_t y = 0; y < grid.y; y++) {
      for (uint32_t x = 0; x < grid.x; x++) {
        emu_block = (emu_dim){x, y, z};
        wrong = run_block();
        if (wrong) return wrong;
      }
    }
  }
  return NULL;
}

emu_kernel *emu_find(const char *name) {
  for (emu_kernel *k = emu_kernels; k; k = k->next) {
    if (!strcmp(k->name, name)) return k;
  }
  return NULL;
}
