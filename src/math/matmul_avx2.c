/* Matrix products by vectors of 256 bits. */
#if defined(__x86_64__)
# include <immintrin.h>

# include "math/matmul_level.h"

/* For this file's functions only, whatever the build's flags. */
# if defined(__clang__)
#  pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
# else
#  pragma GCC push_options
#  pragma GCC target("avx2,fma")
# endif

# define VECTOR 32

# define T float
# define BITS int32_t
# define TAG f32
# define ROWS 6
# define VECTORS 2
# define FUSED(x, y, sum) ((V)_mm256_fmadd_ps(x, y, sum))
# define SHORT 1
# include "math/matmul_tiles.inc"
# include "math/matmul_lines.inc"
# include "math/matmul_end.inc"

# define T double
# define BITS int64_t
# define TAG f64
# define ROWS 6
# define VECTORS 2
# define FUSED(x, y, sum) ((V)_mm256_fmadd_pd(x, y, sum))
# define SHORT 0
# include "math/matmul_tiles.inc"
# include "math/matmul_lines.inc"
# include "math/matmul_end.inc"

# define T uint32_t
# define BITS int32_t
# define TAG u32
# define ROWS 6
# define VECTORS 2
# define INTEGER
# define SHORT 1
# include "math/matmul_tiles.inc"
# include "math/matmul_lines.inc"
# include "math/matmul_end.inc"

const sb__matmul_level sb__matmul_avx2 = {
    .tiles = {[SB__MATMUL_f32] = &tiles_f32,
              [SB__MATMUL_f64] = &tiles_f64,
              [SB__MATMUL_u32] = &tiles_u32},
    .lines = {[SB__MATMUL_f32] = &lines_f32,
              [SB__MATMUL_f64] = &lines_f64,
              [SB__MATMUL_u32] = &lines_u32},
};

# if defined(__clang__)
#  pragma clang attribute pop
# else
#  pragma GCC pop_options
# endif
#endif
