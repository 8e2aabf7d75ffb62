/* A hash of a tensor's bytes in logical order, in blocks of four words. Each word of a block has a lane of its own, so
 * that four multiplications are under way at once. */
#include <string.h>

#include "kernels/kernels.h"
#include "ops/loop.h"

#define LANES 4
#define BLOCK (LANES * 8) /* bytes */
#define GATHERED 512      /* bytes of a strided row that are gathered at a time */

typedef struct digest {
  uint64_t lanes[LANES];
  char pending[BLOCK]; /* the start of a block */
  size_t count;        /* bytes of it */
} digest;

static inline uint64_t mix_word(uint64_t lane, uint64_t word) {
  lane = (lane ^ word) * UINT64_C(0x9e3779b97f4a7c15);
  return lane ^ lane >> 29; /* multiplication moves bits up only */
}

static void add_blocks(digest *d, const char *at, size_t blocks) {
  uint64_t a = d->lanes[0], b = d->lanes[1], c = d->lanes[2], e = d->lanes[3];
  for (size_t i = 0; i < blocks; i++, at += BLOCK) {
    uint64_t words[LANES];
    memcpy(words, at, BLOCK);
    a = mix_word(a, words[0]);
    b = mix_word(b, words[1]);
    c = mix_word(c, words[2]);
    e = mix_word(e, words[3]);
  }
  d->lanes[0] = a, d->lanes[1] = b, d->lanes[2] = c, d->lanes[3] = e;
}

static void add_bytes(digest *d, const char *at, size_t n) {
  if (d->count) {
    const size_t left = BLOCK - d->count, taken = n < left ? n : left;
    memcpy(d->pending + d->count, at, taken);
    d->count += taken;
    at += taken;
    n -= taken;
    if (d->count < BLOCK) return;
    add_blocks(d, d->pending, 1);
  }
  add_blocks(d, at, n / BLOCK);
  d->count = n % BLOCK;
  memcpy(d->pending, at + n - d->count, d->count);
}

static void add_strided(digest *d, const char *at, int64_t step, int64_t n, int64_t itemsize) {
  char row[GATHERED];
  const int64_t most = GATHERED / itemsize;
  for (int64_t i = 0; i < n; i += most, at += most * step) {
    const int64_t some = n - i < most ? n - i : most;
    sb__copy_items(row, itemsize, at, step, some, itemsize);
    add_bytes(d, row, (size_t)(some * itemsize));
  }
}

sb_status sb_hash(const sb_tensor *t, uint64_t *out) {
  const int64_t itemsize = sb_dtype_itemsize(t->dtype), numel = sb_tensor_numel(t);
  digest d = {{1, 2, 3, 4}, {0}, 0};
  sb_status status = sb__check_bytes("t", t);
  if (status) return status;
  if (numel) {
    sb__loop loop;
    sb__loop_begin(&loop, 1, &t);
    do {
      if (loop.step[0] == itemsize)
        add_bytes(&d, loop.at[0], (size_t)(loop.n * itemsize));
      else
        add_strided(&d, loop.at[0], loop.step[0], loop.n, itemsize);
    } while (sb__loop_next(&loop));
  }
  memset(d.pending + d.count, 0, BLOCK - d.count);
  add_blocks(&d, d.pending, 1);
  uint64_t hash = (uint64_t)numel;
  for (int k = 0; k < LANES; k++) hash = mix_word(hash, d.lanes[k]);
  *out = hash;
  return SB_OK;
}
