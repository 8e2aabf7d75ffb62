/* Algorithms: what JavaScript calls, and what its files share. */
#ifndef SB_ALGORITHMS_H
#define SB_ALGORITHMS_H

#include "algorithms/cores.h"

/* exports.c: what JavaScript calls. */
enum {
#define EXPORT(name, signature, call) SB__ALGORITHM_##name,
#include "algorithms/exports.def"
#undef EXPORT
  SB__ALGORITHMS
};
extern const sb__export sb__algorithms[SB__ALGORITHMS];
const char *sb__algorithm_tables(void);

/* vectors.c: cross products of vectors of three elements, the last axis of all operands. */
sb_status sb__cross(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b, sb_casting casting,
                    int64_t *staged);

/* matmul.c: how sums are computed. The first two have the same bits everywhere. */
typedef enum sb__matmul_accuracy {
  SB__MATMUL_IDENTICAL, /* in the dtype, of shorter floats in float32; products are rounded */
  SB__MATMUL_PRECISE,   /* in float64, rounded once */
  SB__MATMUL_FAST,      /* as the first, but products may be not rounded */
} sb__matmul_accuracy;

/* Matrix products over batches, which are alike in all operands. Sources that the target overlaps are copied first.
 *
 *   to             [..., m, n]; any strides, as a and b
 *   a, b           [..., m, k] and [..., k, n]; zeros come of k 0
 *   is_conjugated  a's complex elements are conjugated
 *   staged         gets bytes that were copied because of overlaps, added
 *
 * Errors  SB_ERR_SHAPE · SB_ERR_DTYPE bool, float8 · SB_ERR_CAST · SB_ERR_MEMORY, as sb_copy */
sb_status sb__matmul(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b,
                     sb_casting casting, int64_t accuracy, bool is_conjugated, int64_t *staged);

#endif
