/* What device code is written with: the common subset of C11 and CUDA, so that nvcc makes machine code of
 * a kernel and a C compiler what the emulator of test/cuda runs. The emulator's header comes first then.
 *
 *   SB_KERNEL(name, arguments, threads) { … A.member … }    one struct by value is all that a kernel takes
 *   SB_SHARED                                               storage of a block's shared memory */
#ifndef SB_CUDA_KERNEL_H
#define SB_CUDA_KERNEL_H

#include "cuda/args.h"
#include "kernels/function.h"

#define SB_PASTE_(a, b) a##b
#define SB_PASTE(a, b) SB_PASTE_(a, b)

#if defined(__CUDACC__)
# define SB_KERNEL(name, arguments, threads) \
  extern "C" __global__ void __launch_bounds__(threads) name(const __grid_constant__ arguments A)
# define SB_SHARED __shared__
# define _Static_assert static_assert
# define SB_ALIGNED(n) __align__(n)
# define SB_UNROLL _Pragma("unroll")
# define SB_MULTIPLY_HIGH(a, b) __umulhi((a), (b))
# define SB_PERMUTE_BYTES(a, b, selector) __byte_perm((a), (b), (selector))
# define SB_SQUARE_ROOT_F32(x) __fsqrt_rn(x)
# define SB_SQUARE_ROOT_F64(x) __dsqrt_rn(x)
typedef uint4 sb__u4;
SB_FUNCTION sb__u4 sb__load16(const void *p) { return __ldcs((const uint4 *)p); }
SB_FUNCTION void sb__store16(void *p, sb__u4 v) { __stcs((uint4 *)p, v); }
#else
# include <math.h>
# define SB_ALIGNED(n) __attribute__((aligned(n)))
# define SB_UNROLL
# define SB_MULTIPLY_HIGH(a, b) ((uint32_t)((uint64_t)(a) * (b) >> 32))
# define SB_SQUARE_ROOT_F32(x) sqrtf(x)
# define SB_SQUARE_ROOT_F64(x) sqrt(x)
typedef struct SB_ALIGNED(16) sb__u4 {
  uint32_t x, y, z, w;
} sb__u4;
SB_FUNCTION uint32_t SB_PERMUTE_BYTES(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = (uint64_t)b << 32 | a;
  uint32_t out = 0;
  for (int i = 0; i < 4; i++)
    out |= (uint32_t)(both >> (8 * (selector >> (4 * i) & 7)) & 0xff) << (8 * i);
  return out;
}
SB_FUNCTION sb__u4 sb__load16(const void *p) { return *(const sb__u4 *)p; }
SB_FUNCTION void sb__store16(void *p, sb__u4 v) { *(sb__u4 *)p = v; }
#endif

/* n / d, for n and d below 2^31. */
SB_FUNCTION uint32_t sb__divide(sb__divisor d, uint32_t n) {
  return (SB_MULTIPLY_HIGH(n, d.factor) + n) >> d.shift;
}

/* Where element i lies in one operand, or in two, in the units that the steps count. Loops over all dimensions
 * of any number: the ones in use are seldom more than three. */
SB_FUNCTION int64_t sb__place(const sb__divisor *n, const int64_t *step, uint32_t ndim,
                              uint32_t i) {
  int64_t at = 0;
  for (uint32_t d = 0; d < ndim; d++) {
    const uint32_t next = sb__divide(n[d], i), index = i - next * n[d].n;
    at += (int64_t)index * step[d];
    i = next;
  }
  return at;
}

SB_FUNCTION void sb__places(const sb__divisor *n, const int64_t *to_step, const int64_t *from_step,
                            uint32_t ndim, uint32_t i, int64_t *to, int64_t *from) {
  *to = *from = 0;
  for (uint32_t d = 0; d < ndim; d++) {
    const uint32_t next = sb__divide(n[d], i), index = i - next * n[d].n;
    *to += (int64_t)index * to_step[d];
    *from += (int64_t)index * from_step[d];
    i = next;
  }
}

#endif
