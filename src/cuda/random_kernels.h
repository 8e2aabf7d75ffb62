/* Random fills: kernels/random.h says what each element is, and these give a thread one block of four words of
 * the stream, which are four elements, or two that take two words. So values do not depend on how a fill is cut. */
#ifndef SB_CUDA_RANDOM_KERNELS_H
#define SB_CUDA_RANDOM_KERNELS_H

#include <stdbool.h>
#include <string.h>

#include "cuda/kernel.h"
#include "kernels/random.h"
#include "samebytes.h"

/* Where element i goes; it may be none: before the first, or behind the last. */
SB_FUNCTION bool sb__random_place(const sb__args_random *a, int64_t i, int64_t itemsize,
                                  char **to) {
  if (i < 0 || (uint64_t)i >= a->n) return false;
  *to = a->to + (a->ndim ? sb__place(a->dim, a->to_step, a->ndim, (uint32_t)i) : i * itemsize);
  return true;
}

/* The thread's block of words, and the element that begins with its first word. */
SB_FUNCTION int64_t sb__random_words(const sb__args_random *a, uint64_t thread, int words,
                                     uint32_t out[4]) {
  const uint64_t block = a->word / 4 + thread;
  sb__philox(a->seed, block, a->high, out);
  return (int64_t)(4 * thread - a->word % 4) / words;
}

#define THREAD ((uint64_t)blockIdx.x * 256 + threadIdx.x)

/* Stores count values from element first on: at once where that may be, else one by one. */
#define SB__STORE_RANDOM(T, count, values)                                        \
 do {                                                                             \
  typedef struct {                                                                \
   SB_ALIGNED(count * sizeof(T)) T x[count];                                      \
  } vector;                                                                       \
  if (A.whole && (uint64_t)first + count <= A.n) {                                \
   vector all;                                                                    \
   SB_UNROLL for (int k = 0; k < count; k++) all.x[k] = (T)values[k];             \
   *(vector *)(A.to + first * (int64_t)sizeof(T)) = all;                          \
  } else {                                                                        \
   SB_UNROLL for (int k = 0; k < count; k++) {                                    \
    char *to;                                                                     \
    if (sb__random_place(&A, first + k, sizeof(T), &to)) *(T *)to = (T)values[k]; \
   }                                                                              \
  }                                                                               \
 } while (0)

/* Floats of at most 32 bits, rounded to what is stored. */
#define SB__STORE_FLOATS(values)                                               \
 do {                                                                          \
  if (A.dtype == SB_FLOAT32) {                                                 \
   SB__STORE_RANDOM(float, 4, values);                                         \
  } else {                                                                     \
   uint16_t half[4];                                                           \
   SB_UNROLL for (int k = 0; k < 4; k++) half[k] =                             \
       A.dtype == SB_FLOAT16 ? sb__f16_of(values[k]) : sb__bf16_of(values[k]); \
   SB__STORE_RANDOM(uint16_t, 4, half);                                        \
  }                                                                            \
 } while (0)

SB_KERNEL(sb_uniform_f32, sb__args_random, 256) {
  uint32_t w[4];
  float x[4];
  const int64_t first = sb__random_words(&A, THREAD, 1, w);
  const float low = (float)A.low, range = (float)A.range, last = (float)A.last;
  const int precision = A.dtype == SB_FLOAT32 ? 24 : A.dtype == SB_FLOAT16 ? 11 : 8;
  const uint32_t mask = UINT32_MAX << (32 - precision);
  SB_UNROLL for (int k = 0; k < 4; k++) x[k] =
      sb__between_f32(sb__unit_f32(w[k] & mask), low, range, last);
  SB__STORE_FLOATS(x);
}

SB_KERNEL(sb_uniform_f64, sb__args_random, 256) {
  uint32_t w[4];
  double x[2];
  const int64_t first = sb__random_words(&A, THREAD, 2, w);
  SB_UNROLL for (int k = 0; k < 2; k++) x[k] =
      sb__between_f64(sb__unit_f64(w[2 * k], w[2 * k + 1]), A.low, A.range, A.last);
  SB__STORE_RANDOM(double, 2, x);
}

SB_KERNEL(sb_normal_f32, sb__args_random, 256) {
  uint32_t w[4];
  float x[4];
  const int64_t first = sb__random_words(&A, THREAD, 1, w);
  const float mean = (float)A.mean, std = (float)A.std;
  SB_UNROLL for (int k = 0; k < 4; k += 2) {
    const float radius = SB_SQUARE_ROOT_F32(sb__radius2_f32(w[k]));
    float one, other;
    sb__circle_f32(w[k + 1], &one, &other);
    x[k] = mean + std * (radius * one);
    x[k + 1] = mean + std * (radius * other);
  }
  SB__STORE_FLOATS(x);
}

SB_KERNEL(sb_normal_f64, sb__args_random, 256) {
  uint32_t w[4];
  double x[2], one, other;
  const int64_t first = sb__random_words(&A, THREAD, 2, w);
  const double radius = SB_SQUARE_ROOT_F64(sb__radius2_f64(w[0], w[1]));
  sb__circle_f64(w[2], w[3], &one, &other);
  x[0] = A.mean + A.std * (radius * one);
  x[1] = A.mean + A.std * (radius * other);
  SB__STORE_RANDOM(double, 2, x);
}

SB_KERNEL(sb_integer_u32, sb__args_random, 256) {
  uint32_t w[4], x[4];
  const int64_t first = sb__random_words(&A, THREAD, 1, w);
  const uint32_t low = (uint32_t)A.first;
  SB_UNROLL for (int k = 0; k < 4; k++) {
    const uint64_t product = (uint64_t)w[k] * (uint32_t)A.span;
    uint32_t upper = (uint32_t)(product >> 32);
    if ((uint32_t)product < (uint32_t)A.refused)
      upper = sb__retry_u32(A.seed, A.stream, A.word + (uint64_t)(first + k), A.span, A.refused);
    x[k] = A.span ? upper : w[k];
  }
  switch (A.dtype) {
    case SB_BOOL:
    case SB_UINT8:
    case SB_INT8:
      SB_UNROLL for (int k = 0; k < 4; k++) x[k] += low;
      SB__STORE_RANDOM(uint8_t, 4, x);
      break;
    case SB_UINT16:
    case SB_INT16:
      SB_UNROLL for (int k = 0; k < 4; k++) x[k] += low;
      SB__STORE_RANDOM(uint16_t, 4, x);
      break;
    case SB_UINT32:
    case SB_INT32:
      SB_UNROLL for (int k = 0; k < 4; k++) x[k] += low;
      SB__STORE_RANDOM(uint32_t, 4, x);
      break;
    default: {
      SB_UNROLL for (int h = 0; h < 4; h += 2) {
        for (int k = h; k < h + 2; k++) {
          char *to;
          if (sb__random_place(&A, first + k, 8, &to)) *(uint64_t *)to = A.first + x[k];
        }
      }
    }
  }
}

SB_KERNEL(sb_integer_u64, sb__args_random, 256) {
  uint32_t w[4];
  uint64_t x[2];
  const int64_t first = sb__random_words(&A, THREAD, 2, w);
  SB_UNROLL for (int k = 0; k < 2; k++) {
    const uint64_t whole = (uint64_t)w[2 * k + 1] << 32 | w[2 * k];
    uint64_t lower, upper = sb__multiply_u64(whole, A.span, &lower);
    if (A.span == 0) upper = whole;
    if (lower < A.refused)
      upper =
          sb__retry_u64(A.seed, A.stream, A.word + 2 * (uint64_t)(first + k), A.span, A.refused);
    x[k] = A.first + upper;
  }
  SB__STORE_RANDOM(uint64_t, 2, x);
}

#undef THREAD

#endif
