/* The level avx512: the compiler's vectors of 512 bits. */
#include "math/math.h"

#if defined(__x86_64__)
/* For this file's functions only, whatever the build's flags. */
# if defined(__clang__)
#  pragma clang attribute push(__attribute__((target("avx2,avx512f,avx512bw,avx512dq,avx512vl"))), \
                               apply_to = function)
# else
#  pragma GCC push_options
#  pragma GCC target("avx2,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
# endif

/* For integers other than uint8 and int32, and complex numbers, AVX2's loops serve as well: these would be another 55 KB. */
# define FEW_DTYPES
# define LEVEL avx512
# include "math/level.inc"

# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#endif
