/* Kernels that move and repeat bytes. */
#ifndef SB_CUDA_COPY_KERNELS_H
#define SB_CUDA_COPY_KERNELS_H

#include <string.h>

#include "cuda/kernel.h"

/* 16 bytes four times a thread. */
SB_KERNEL(sb_copy_bytes, sb__args_bytes, 256) {
  const uint64_t first = (uint64_t)blockIdx.x * 1024 + threadIdx.x;
  sb__u4 v[4];
  SB_UNROLL for (uint32_t k = 0; k < 4; k++) {
    const uint64_t i = first + k * 256;
    if (i < A.count) v[k] = sb__load16(A.from + 16 * i);
  }
  SB_UNROLL for (uint32_t k = 0; k < 4; k++) {
    const uint64_t i = first + k * 256;
    if (i < A.count) sb__store16(A.to + 16 * i, v[k]);
  }
  if (blockIdx.x == 0) {
    const int64_t i = (int64_t)threadIdx.x, end = (int64_t)(16 * A.count);
    if (threadIdx.x < A.head) A.to[i - A.head] = A.from[i - A.head];
    if (threadIdx.x < A.tail) A.to[end + i] = A.from[end + i];
  }
}

/* 4 bytes of two neighbouring words, four times a thread. */
SB_KERNEL(sb_copy_shifted, sb__args_shifted, 256) {
  const uint64_t first = (uint64_t)blockIdx.x * 1024 + threadIdx.x;
  const uint32_t *from = (const uint32_t *)A.from, selector = 0x3210u + 0x1111u * A.shift;
  uint32_t *to = (uint32_t *)A.to, low[4], high[4];
  SB_UNROLL for (uint32_t k = 0; k < 4; k++) {
    const uint64_t i = first + k * 256;
    if (i < A.count) {
      low[k] = from[i];
      high[k] = A.shift ? from[i + 1] : 0;
    }
  }
  SB_UNROLL for (uint32_t k = 0; k < 4; k++) {
    const uint64_t i = first + k * 256;
    if (i < A.count) to[i] = SB_PERMUTE_BYTES(low[k], high[k], selector);
  }
  if (blockIdx.x == 0) {
    const char *bytes = A.from + A.shift;
    const int64_t i = (int64_t)threadIdx.x, end = (int64_t)(4 * A.count);
    if (threadIdx.x < A.head) A.to[i - A.head] = bytes[i - A.head];
    if (threadIdx.x < A.tail) A.to[end + i] = bytes[end + i];
  }
}

SB_KERNEL(sb_fill_bytes, sb__args_fill_bytes, 256) {
  const uint64_t first = (uint64_t)blockIdx.x * 1024 + threadIdx.x;
  sb__u4 v;
  v.x = A.pattern[0];
  v.y = A.pattern[1];
  v.z = A.pattern[2];
  v.w = A.pattern[3];
  SB_UNROLL for (uint32_t k = 0; k < 4; k++) {
    const uint64_t i = first + k * 256;
    if (i < A.count) sb__store16(A.to + 16 * i, v);
  }
  if (blockIdx.x == 0) {
    const uint32_t i = threadIdx.x;
    if (i < A.head) {
      const uint32_t b = 16 - A.head + i;
      A.to[(int64_t)i - A.head] = (char)(A.pattern[b / 4] >> (8 * (b % 4)));
    }
    if (i < A.tail) A.to[16 * A.count + i] = (char)(A.pattern[i / 4] >> (8 * (i % 4)));
  }
}

#define SB__CHANNEL_BYTES 16384
#define SB__CHANNEL_WORDS (SB__CHANNEL_BYTES / 4 + SB__CHANNEL_BYTES / 64)

#define SIZE 1
#define ITEM uint8_t
#include "cuda/moves.inc"
#include "cuda/channels.inc"
#undef SIZE
#undef ITEM

#define SIZE 2
#define ITEM uint16_t
#include "cuda/moves.inc"
#include "cuda/channels.inc"
#undef SIZE
#undef ITEM

#define SIZE 4
#define ITEM uint32_t
#include "cuda/moves.inc"
#include "cuda/channels.inc"
#undef SIZE
#undef ITEM

#define SIZE 8
#define ITEM uint64_t
#include "cuda/moves.inc"
#include "cuda/channels.inc"
#undef SIZE
#undef ITEM

#define SIZE 16
#define ITEM sb__u4
#include "cuda/moves.inc"
#undef SIZE
#undef ITEM

/* Row k of a transpose in registers: of one item of 16 bytes; then 2 x 2, 4 x 4, 8 x 8 and 16 x 16. */
#define TURN_16(out, w, k) (out.x = w[k][0], out.y = w[k][1], out.z = w[k][2], out.w = w[k][3])
#define TURN_8(out, w, k)                                                  \
 (out.x = w[0][2 * (k)], out.y = w[0][2 * (k) + 1], out.z = w[1][2 * (k)], \
  out.w = w[1][2 * (k) + 1])
#define TURN_4(out, w, k) (out.x = w[0][k], out.y = w[1][k], out.z = w[2][k], out.w = w[3][k])
#define HALVES(w, i, k) \
 SB_PERMUTE_BYTES(w[i][(k) / 2], w[(i) + 1][(k) / 2], (k) % 2 ? 0x7632u : 0x5410u)
#define TURN_2(out, w, k)                                                    \
 (out.x = HALVES(w, 0, k), out.y = HALVES(w, 2, k), out.z = HALVES(w, 4, k), \
  out.w = HALVES(w, 6, k))
#define TWO_BYTES(w, i, k) \
 SB_PERMUTE_BYTES(w[i][(k) / 4], w[(i) + 1][(k) / 4], (k) % 4 | (4 + (k) % 4) << 4)
#define BYTES(w, i, k) SB_PERMUTE_BYTES(TWO_BYTES(w, i, k), TWO_BYTES(w, (i) + 2, k), 0x5410u)
#define TURN_1(out, w, k) \
 (out.x = BYTES(w, 0, k), out.y = BYTES(w, 4, k), out.z = BYTES(w, 8, k), out.w = BYTES(w, 12, k))

#define SIZE 16
#define ITEM sb__u4
#define GROUP 16
#define TURN TURN_16
#include "cuda/transpose.inc"
#undef SIZE
#undef ITEM
#undef TURN

#define SIZE 8
#define ITEM uint64_t
#define TURN TURN_8
#include "cuda/transpose.inc"
#undef SIZE
#undef ITEM
#undef TURN

#define SIZE 4
#define ITEM uint32_t
#define TURN TURN_4
#include "cuda/transpose.inc"
#undef GROUP
#define GROUP 8
#include "cuda/transpose.inc"
#undef SIZE
#undef ITEM
#undef TURN

#define SIZE 2
#define ITEM uint16_t
#define TURN TURN_2
#include "cuda/transpose.inc"
#undef GROUP
#define GROUP 16
#include "cuda/transpose.inc"
#undef GROUP
#undef SIZE
#undef ITEM
#undef TURN

#define SIZE 1
#define ITEM uint8_t
#define GROUP 8
#define TURN TURN_1
#include "cuda/transpose.inc"
#undef GROUP
#undef SIZE
#undef ITEM
#undef TURN

#endif
