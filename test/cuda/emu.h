/* Kernels on the CPU: each thread of a block is a fiber; barriers switch fibers. Included before the headers of
 * kernels. For tests only.
 *
 * It finds: a barrier that only part of a block reaches, or that is not the same one for all, a deadlock, a
 * block that is too large; with sanitizers, a byte out of place and an address that is no multiple. EMU_ORDER says in
 * which order threads run: 0 as they are numbered, 1 backwards, else shuffled. It does not find races between
 * barriers that no order shows, nor what a GPU's memory model or its registers do. */
#ifndef EMU_H
#define EMU_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct emu_dim {
  uint32_t x, y, z;
} emu_dim;

typedef struct emu_kernel {
  const char *name;
  void (*run)(const void *arguments);
  size_t nbytes; /* of the arguments */
  uint32_t threads;
  int64_t launches; /* so far */
  struct emu_kernel *next;
} emu_kernel;

/* Every kernel that is linked in. */
extern emu_kernel *emu_kernels;
emu_kernel *emu_find(const char *name); /* NULL: there is none */

/* Runs a kernel. NULL, or what went wrong: this thread's, until its next launch. */
const char *emu_launch(emu_kernel *kernel, emu_dim grid, emu_dim block, const void *arguments);

/* Overrides EMU_ORDER, for all threads. */
void emu_set_order(unsigned order);

/* ---- What kernels see ---- */

extern _Thread_local emu_dim emu_thread, emu_block, emu_block_size, emu_grid_size;
#define threadIdx emu_thread
#define blockIdx emu_block
#define blockDim emu_block_size
#define gridDim emu_grid_size

void emu_barrier(const char *place);
#define EMU_TEXT_(x) #x
#define EMU_TEXT(x) EMU_TEXT_(x)
#define __syncthreads() emu_barrier(__FILE__ ":" EMU_TEXT(__LINE__))

#define SB_SHARED static _Thread_local
#define SB_KERNEL(kernel, arguments, threads) EMU_KERNEL(kernel, arguments, threads)
#define EMU_KERNEL(kernel, arguments, threads)                                                    \
 static void kernel##_body(const arguments A);                                                    \
 static void kernel##_run(const void *a) { kernel##_body(*(const arguments *)a); }                \
 static emu_kernel kernel##_entry = {#kernel, kernel##_run, sizeof(arguments), threads, 0, NULL}; \
 __attribute__((constructor)) static void kernel##_enter(void) {                                  \
  kernel##_entry.next = emu_kernels;                                                              \
  emu_kernels = &kernel##_entry;                                                                  \
 }                                                                                                \
 static void kernel##_body(const arguments A)

#endif
