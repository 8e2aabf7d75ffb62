/* A long random program of copies, whose checksum has to be the same however it is run. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "check.h"

static inline void noise(void *at, size_t nbytes) {
  for (size_t i = 0; i + 8 <= nbytes; i += 8) memcpy((char *)at + i, &(uint64_t){random_bits()}, 8);
}

/* Random copies, casts, scales and fills over two blocks of memory. Gives a checksum. */
static inline uint64_t program(int rounds) {
  enum { SIZE = 1 << 17 };
  static SB_THREAD_LOCAL char bytes[2][SIZE] __attribute__((aligned(64)));
  static SB_THREAD_LOCAL double factors[256];
  sb_storage storages[2], numbers;
  uint64_t sum = 0;
  random_state = 46;
  noise(bytes, sizeof bytes);
  for (int i = 0; i < 256; i++) factors[i] = (double)random_in(-500, 500) / 8;
  sb__storage_borrow(bytes[0], SIZE, &storages[0]);
  sb__storage_borrow(bytes[1], SIZE, &storages[1]);
  sb__storage_borrow(factors, sizeof factors, &numbers);
  for (int round = 0; round < rounds; round++) {
    const sb_dtype a = (sb_dtype)random_in(0, 16), b = random_in(0, 1) ? a : (sb_dtype)random_in(0, 16);
    const int32_t ndim = (int32_t)random_in(1, 4);
    int64_t shape[4], order[4], room = SIZE / 16 - 8;
    sb_tensor dst, src;
    for (int32_t d = 0; d < ndim; d++) {
      shape[d] = random_in(1, random_in(0, 3) ? 5 : 90);
      if (shape[d] > room) shape[d] = room;
      room /= shape[d];
      order[d] = d;
    }
    for (int32_t d = 0; d < ndim; d++) {
      const int32_t other = (int32_t)random_in(0, ndim - 1);
      const int64_t was = order[d];
      order[d] = order[other];
      order[other] = was;
    }
    const int64_t spare = random_in(0, 3);
    EQ(sb_tensor_init(&storages[random_in(0, 1)], b, ndim, shape, NULL, spare, &src), SB_OK);
    EQ(sb_permute(&src, ndim, order, &src), SB_OK);
    EQ(sb_tensor_init(&storages[random_in(0, 1)], a, ndim, src.shape, NULL, random_in(0, 3), &dst), SB_OK);
    for (int32_t d = 0; d < ndim; d++) { /* backwards, every second, or one for all */
      const int64_t how = random_in(0, 9);
      sb_tensor *t = random_in(0, 1) ? &dst : &src;
      if (how == 0) {
        t->offset += (t->shape[d] - 1) * t->strides[d];
        t->strides[d] = -t->strides[d];
      } else if (how == 1) {
        dst.shape[d] = src.shape[d] = (dst.shape[d] + 1) / 2;
        t->strides[d] *= 2;
      } else if (how == 2) {
        src.strides[d] = 0;
      }
    }
    const int64_t axis = random_in(0, ndim - 1), n = dst.shape[axis];
    const bool complex = sb_dtype_kind(a) == SB_COMPLEX || sb_dtype_kind(b) == SB_COMPLEX;
    if (random_in(0, 2) == 0 && !complex && n <= 100) {
      sb_tensor scale, bias;
      EQ(sb_tensor_init(&numbers, SB_FLOAT64, random_in(0, 1) ? 1 : 0, &n, NULL, 0, &scale), SB_OK);
      EQ(sb_tensor_init(&numbers, SB_FLOAT64, 1, &n, NULL, 100, &bias), SB_OK);
      EQ(sb_copy_scaled(&dst, &src, &scale, &bias, axis, SB_CASTING_UNSAFE, NULL), SB_OK);
    } else if (random_in(0, 19) == 0) {
      EQ(sb_fill(&dst, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = random_in(0, 1)}), SB_OK);
    } else {
      EQ(sb_copy(&dst, &src, SB_CASTING_UNSAFE, NULL), SB_OK);
    }
    if (round % 16) continue;
    for (size_t i = 0; i < sizeof bytes / 8; i++) {
      uint64_t word;
      memcpy(&word, (char *)bytes + 8 * i, 8);
      sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
      sum ^= sum >> 29;
    }
    if (round % 64 == 0) noise(bytes, sizeof bytes); /* values do not all become 0 */
  }
  return sum;
}

#endif
