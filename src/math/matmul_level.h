/* What matmul_tiles.inc and its like are included with. */
#include <string.h>

#include "math/matmul.h"

#define SB_PASTE_(a, b) a##b
#define SB_PASTE(a, b) SB_PASTE_(a, b)
#define NAME(name) SB_PASTE(SB_PASTE(name, _), TAG)
#define SB_INLINE static inline __attribute__((always_inline))

/* Vectors stay in registers where each has a name of its own. */
#if defined(__clang__)
# define SB_UNROLL _Pragma("clang loop unroll(full)")
#else
# define SB_UNROLL _Pragma("GCC unroll 64")
#endif

/* Where lines are brought that are to come: processors guess rows of one or two kilobytes badly. */
#define SB_SECOND_CACHE 2

#define SB_LIST_2(index, h, e) index((e), h), index((e) + 1, h)
#define SB_LIST_4(index, h, e) SB_LIST_2(index, h, e), SB_LIST_2(index, h, (e) + 2)
#define SB_LIST_8(index, h, e) SB_LIST_4(index, h, e), SB_LIST_4(index, h, (e) + 4)
#define SB_LIST_16(index, h, e) SB_LIST_8(index, h, e), SB_LIST_8(index, h, (e) + 8)
