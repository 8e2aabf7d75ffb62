/* The level neon: 128 bits; every 64-bit ARM has it. */
#include "kernels/kernels.h"

#if defined(__aarch64__)
# include <arm_neon.h>
# include <string.h>

# define LEVEL neon
# define LANES 1
# define HAS_DIRECT_CASTS
# define MOST_ROWS 16
# define BAND_ROWS (SIZE == 1 ? 64 : 128 / SIZE)
# define BAND_BYTES 2048
# define AHEAD_BYTES 0
# define smaller_transpose transpose_any

typedef uint8x16_t vec;

static inline vec load(const char *from) { return vld1q_u8((const uint8_t *)from); }
static inline void store(char *to, vec x) { vst1q_u8((uint8_t *)to, x); }

/* There is one lane. */
static inline vec load_lanes(const char *from, int64_t step) {
  (void)step;
  return load(from);
}
static inline void store_lanes(char *to, int64_t step, vec x) {
  (void)step;
  store(to, x);
}

# define stream store

static inline vec shuffle(vec x, vec mask) { return vqtbl1q_u8(x, mask); }
static inline vec either(vec a, vec b) { return vorrq_u8(a, b); }

/* 32-bit integers as floats; product and sum rounded. */
static inline vec scaled_floats(vec x, vec scale, vec bias) {
  const float32x4_t floats = vcvtq_f32_s32(vreinterpretq_s32_u8(x));
  const float32x4_t product = vmulq_f32(floats, vreinterpretq_f32_u8(scale));
  return vreinterpretq_u8_f32(vaddq_f32(product, vreinterpretq_f32_u8(bias)));
}

# define AS(size, x) vreinterpretq_u##size##_u8(x)
# define BACK(size, x) vreinterpretq_u8_u##size(x)
# define ZIP_LOW_16(a, b) (a) /* one item fills a lane */
# define ZIP_HIGH_16(a, b) (b)
# define ZIP_LOW_1 vzip1q_u8
# define ZIP_HIGH_1 vzip2q_u8
# define ZIP_LOW_2(a, b) BACK(16, vzip1q_u16(AS(16, a), AS(16, b)))
# define ZIP_HIGH_2(a, b) BACK(16, vzip2q_u16(AS(16, a), AS(16, b)))
# define ZIP_LOW_4(a, b) BACK(32, vzip1q_u32(AS(32, a), AS(32, b)))
# define ZIP_HIGH_4(a, b) BACK(32, vzip2q_u32(AS(32, a), AS(32, b)))
# define ZIP_LOW_8(a, b) BACK(64, vzip1q_u64(AS(64, a), AS(64, b)))
# define ZIP_HIGH_8(a, b) BACK(64, vzip2q_u64(AS(64, a), AS(64, b)))

# include "kernels/level.inc"
#endif
