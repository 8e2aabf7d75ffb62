/* Moves a few elements in less time than a plan takes. */
#include "ops/move_few.h"

#include <string.h>

#include "kernels/kernels.h"

#define FEW_SIDE_BY_SIDE 8 /* elements that are moved together, however long other dimensions are */
#define MANY_BYTES 256     /* that are repeated by vectors */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* A dimension of a box that is moved. */
typedef struct line {
  int64_t n, to, from; /* elements; bytes from one to the next */
} line;

/* Eight bytes of an element of 1 to 8, repeated. */
static uint64_t eight_bytes(const char *item, int64_t size) {
  uint64_t bytes = 0;
  memcpy(&bytes, item, (size_t)size);
  for (int64_t bits = 8 * size; bits < 64; bits *= 2) bytes |= bytes << bits;
  return bytes;
}

#ifdef __wasm__
# define SMALL_CODE 1
#else
# define SMALL_CODE 0
#endif

void sb__repeat(char *to, const char *item, int64_t size, int64_t n) {
  uint64_t pair[2];
  int64_t nbytes = n * size;
  pair[0] = eight_bytes(item, least(size, 8));
  pair[1] = size == 16 ? eight_bytes(item + 8, 8) : pair[0];
  if (!SMALL_CODE && nbytes >= MANY_BYTES) {
    sb__kernels_now()->fill(to, (const char *)pair, nbytes);
    return;
  }
  for (; nbytes >= 16; nbytes -= 16, to += 16) memcpy(to, pair, 16);
  memcpy(to, pair, (size_t)nbytes);
}

#define MOVE(i)                           \
 memcpy(&x, f + (i)*from_step, sizeof x); \
 memcpy(t + (i)*to_step, &x, sizeof x)
#define EACH(TYPE)                                                              \
 {                                                                              \
  TYPE x;                                                                       \
  char *t = to;                                                                 \
  const char *f = from;                                                         \
  int64_t n = row->n;                                                           \
  for (; !SMALL_CODE && n >= 4; n -= 4, t += 4 * to_step, f += 4 * from_step) { \
   MOVE(0);                                                                     \
   MOVE(1);                                                                     \
   MOVE(2);                                                                     \
   MOVE(3);                                                                     \
  }                                                                             \
  for (; n > 0; n--, t += to_step, f += from_step) {                            \
   MOVE(0);                                                                     \
  }                                                                             \
 }

static void move_rows(int64_t size, const line *row, const line *down, char *to, const char *from) {
  const int64_t to_step = row->to, from_step = row->from;
  for (int64_t i = 0; i < down->n; i++, to += down->to, from += down->from) {
    if (to_step == size && from_step == size)
      memcpy(to, from, (size_t)(row->n * size));
    else if (!SMALL_CODE && to_step == size && from_step == 0)
      sb__repeat(to, from, size, row->n);
    else if (size == 1)
      EACH(uint8_t)
    else if (size == 2)
      EACH(uint16_t)
    else if (size == 4)
      EACH(uint32_t)
    else if (size == 8)
      EACH(uint64_t)
    else
      EACH(sb_complex128)
  }
}

/* Dimensions that are longer than 1, the innermost first, merged where both sides go on. Returns how many. */
static int32_t list_lines(int32_t ndim, const int64_t *n, const int64_t *to_steps,
                          const int64_t *from_steps, line *lines) {
  int32_t count = 0;
  for (int32_t d = ndim - 1; d >= 0; d--) {
    line *last = &lines[count - (count > 0)];
    if (n[d] == 1) continue;
    if (count && to_steps[d] == last->n * last->to && from_steps[d] == last->n * last->from)
      last->n *= n[d];
    else
      lines[count++] = (line){n[d], to_steps[d], from_steps[d]};
  }
  return count;
}

/* Is a short row as wide as an element may be? */
static bool is_unit(int64_t size, const line *row) {
  const int64_t nbytes = row->n * size;
  return row->to == size && row->from == size && nbytes <= 16 && (nbytes & (nbytes - 1)) == 0;
}

void sb__move_few(int64_t size, int32_t ndim, const int64_t *n, const int64_t *to_steps,
                  const int64_t *from_steps, char *to, const char *from) {
  line lines[SB_MAX_DIMS + 1];
  int64_t index[SB_MAX_DIMS];
  lines[0] = (line){1, size, size};
  lines[1] = (line){1, 0, 0};
  int32_t count = list_lines(ndim, n, to_steps, from_steps, lines);
  if (!SMALL_CODE && is_unit(size, &lines[0])) {
    size *= lines[0].n;
    for (int32_t i = 1; i < count; i++) lines[i - 1] = lines[i];
    count -= count > 0;
    if (count < 1) lines[0] = (line){1, size, size};
    if (count < 2) lines[1] = (line){1, 0, 0};
  }
  const line inner = lines[0];
  if (inner.to != size || inner.from != size || inner.n < FEW_SIDE_BY_SIDE) {
    int32_t along = 0; /* the longest */
    for (int32_t i = 1; i < count; i++)
      if (lines[i].n > lines[along].n) along = i;
    lines[0] = lines[along];
    lines[along] = inner;
  }
  for (int32_t i = 2; i < count; i++) index[i] = 0;
  for (;;) {
    move_rows(size, &lines[0], &lines[1], to, from);
    int32_t i = 2;
    for (; i < count; i++) {
      const bool more = ++index[i] < lines[i].n;
      to += (more ? 1 : 1 - lines[i].n) * lines[i].to;
      from += (more ? 1 : 1 - lines[i].n) * lines[i].from;
      if (more) break;
      index[i] = 0;
    }
    if (i >= count) return;
  }
}
