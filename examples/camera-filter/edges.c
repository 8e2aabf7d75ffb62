/* Edges of a picture, red, green, blue, alpha: brightness differences to the right and below. Compiled to a WebAssembly module of
 * its own that works in samebytes' memory: it is given addresses there, and has no data, stack or allocator of its own. */
#include <stdint.h>

#define EXPORT(name) __attribute__((export_name(#name), used))

static inline int brightness(const uint8_t *p) { return (2 * p[0] + 5 * p[1] + p[2]) >> 3; }

static inline int magnitude(int x) { return x < 0 ? -x : x; }

EXPORT(edges) void edges(const uint8_t *from, uint8_t *to, int32_t height, int32_t width);

void edges(const uint8_t *from, uint8_t *to, int32_t height, int32_t width) {
  for (int32_t y = 0; y < height; y++) {
    const int32_t below = y + 1 < height ? 4 * width : 0;
    for (int32_t x = 0; x < width; x++, from += 4, to += 4) {
      const int here = brightness(from);
      const int right = x + 1 < width ? brightness(from + 4) : here;
      const int sum = 4 * (magnitude(right - here) + magnitude(brightness(from + below) - here));
      const uint8_t edge = (uint8_t)(sum > 255 ? 255 : sum);
      to[0] = to[1] = to[2] = edge;
      to[3] = 255;
    }
  }
}
