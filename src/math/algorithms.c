/* What JavaScript calls, by the core's call buffer. */
#include "math/algorithms.h"

#define T(i) (&b->operands[i])
#define N(i) (b->numbers[i])
#define LIST(i) (b->lists[i].integers)
#define COUNT(i) (b->counts[i])
#define SCALAR(i) (&b->scalars[i])
#define RESULT(i) (&b->results[i])

#define EXPORT(name, signature, call)          \
 static sb_status run_##name(sb__binding *b) { \
  int64_t staged = 0;                          \
  const sb_status status = call;               \
  b->results[0] = (double)staged;              \
  return status;                               \
 }
#include "math/algorithms.def"
#undef EXPORT

const sb__export sb__algorithms[SB__ALGORITHMS] = {
#define EXPORT(name, signature, call) {signature, run_##name},
#include "math/algorithms.def"
#undef EXPORT
};

static const char tables[] = "{\"version\":\"" SB_VERSION "\",\"exports\":["
#define EXPORT(name, signature, call) "\"" #name "\","
#include "math/algorithms.def"
#undef EXPORT
                             "null]}";

const char *sb__algorithm_tables(void) { return tables; }
