/* Matrix products by vectors of 128 bits, which all processors have. */
#include "math/matmul_level.h"

#define VECTOR 16

/* In WebAssembly sums of five rows: V8 keeps them, two vectors of b, one of a and a product in its 15 registers. */
#if defined(__wasm__)
# define FLOAT_ROWS 5
#else
# define FLOAT_ROWS 4
#endif

#define T float
#define BITS int32_t
#define TAG f32
#define ROWS FLOAT_ROWS
#define VECTORS 2
#define SHORT 1
#include "math/matmul_tiles.inc"
#include "math/matmul_lines.inc"
#include "math/matmul_end.inc"

#define T double
#define BITS int64_t
#define TAG f64
#define ROWS FLOAT_ROWS
#define VECTORS 2
#define SHORT 0
#include "math/matmul_tiles.inc"
#include "math/matmul_lines.inc"
#include "math/matmul_end.inc"

#define T uint32_t
#define BITS int32_t
#define TAG u32
#define ROWS 4
#define VECTORS 1
#define INTEGER
#define SHORT 1
#include "math/matmul_tiles.inc"
#include "math/matmul_lines.inc"
#include "math/matmul_end.inc"

#define T uint64_t
#define BITS int64_t
#define TAG u64
#define ROWS 4
#define VECTORS 2
#define INTEGER
#define SHORT 0
#include "math/matmul_tiles.inc"
#include "math/matmul_lines.inc"
#include "math/matmul_end.inc"

const sb__matmul_level sb__matmul_base = {
    .tiles = {[SB__MATMUL_f32] = &tiles_f32,
              [SB__MATMUL_f64] = &tiles_f64,
              [SB__MATMUL_u32] = &tiles_u32,
              [SB__MATMUL_u64] = &tiles_u64},
    .lines = {[SB__MATMUL_f32] = &lines_f32,
              [SB__MATMUL_f64] = &lines_f64,
              [SB__MATMUL_u32] = &lines_u32,
              [SB__MATMUL_u64] = &lines_u64},
};
