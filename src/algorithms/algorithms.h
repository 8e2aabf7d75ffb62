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

#endif
