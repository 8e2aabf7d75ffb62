/* Matrix products by vectors of 512 bits. */
#if defined(__x86_64__)
# include <immintrin.h>

# include "math/matmul_level.h"

/* For this file's functions only, whatever the build's flags. */
# if defined(__clang__)
#  pragma clang attribute push( \
      __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"))), apply_to = function)
# else
#  pragma GCC push_options
#  pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
# endif

# define VECTOR 64

# define T float
# define BITS int32_t
# define TAG f32
# define ROWS 6
# define VECTORS 4
# define FUSED(x, y, sum) ((V)_mm512_fmadd_ps(x, y, sum))
# include "math/matmul_tiles.inc"
# include "math/matmul_end.inc"

# define T double
# define BITS int64_t
# define TAG f64
# define ROWS 6
# define VECTORS 4
# define FUSED(x, y, sum) ((V)_mm512_fmadd_pd(x, y, sum))
# include "math/matmul_tiles.inc"
# include "math/matmul_end.inc"

const sb__matmul_level sb__matmul_avx512 = {
    .tiles = {[SB__MATMUL_f32] = &tiles_f32, [SB__MATMUL_f64] = &tiles_f64},
};

# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#endif
