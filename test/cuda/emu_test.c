/* The emulator itself: barriers work, and what it must find it finds. */
#include "emu.h"

#include <stdio.h>

#include "kernels/function.h"

typedef struct out {
  int *at;
} out;

SB_KERNEL(backwards, out, 256) {
  SB_SHARED int number[256];
  number[threadIdx.x] = (int)(threadIdx.x + 1000 * blockIdx.x);
  __syncthreads();
  A.at[256 * blockIdx.x + threadIdx.x] = number[blockDim.x - 1 - threadIdx.x];
}

SB_KERNEL(no_barrier, out, 256) {
  SB_SHARED int number[256];
  number[threadIdx.x] = (int)(threadIdx.x + 5000 + 1000 * blockIdx.x);
  A.at[256 * blockIdx.x + threadIdx.x] = number[blockDim.x - 1 - threadIdx.x];
}

SB_KERNEL(some_wait, out, 256) {
  A.at[threadIdx.x] = 1;
  if (threadIdx.x < 40) __syncthreads();
}

SB_KERNEL(other_barrier, out, 256) {
  A.at[threadIdx.x] = 1;
  if (threadIdx.x < 40)
    __syncthreads();
  else
    __syncthreads();
}

static int failed;

static void check(const char *name, int right) {
  printf("%s - %s\n", right ? "ok" : "not ok", name);
  failed |= !right;
}

static const char *launch(const char *name, uint32_t threads, int *at) {
  const out arguments = {at};
  return emu_launch(emu_find(name), (emu_dim){2, 1, 1}, (emu_dim){threads, 1, 1}, &arguments);
}

static int right_ones(const int *at, int from) {
  int count = 0;
  for (int i = 0; i < 512; i++) count += at[i] == from + i / 256 * 1000 + 255 - i % 256;
  return count;
}

int main(void) {
  int at[512];
  for (unsigned order = 0; order < 3; order++) {
    emu_set_order(order);
    memset(at, 0, sizeof at);
    check("what was written before a barrier is read behind it",
          !launch("backwards", 256, at) && right_ones(at, 0) == 512);
    check("without the barrier it is not",
          !launch("no_barrier", 256, at) && right_ones(at, 5000) < 512);
    const char *wrong = launch("some_wait", 256, at);
    check("a barrier that some threads miss", wrong && strstr(wrong, "part of the block"));
    wrong = launch("other_barrier", 256, at);
    check("two barriers at once", wrong && strstr(wrong, "different barriers"));
    wrong = launch("backwards", 257, at);
    check("a block that is too large", wrong && strstr(wrong, "at most 256"));
  }
  check("no such kernel", !emu_find("no_such_kernel"));
  return failed;
}
