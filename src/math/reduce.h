/* Reductions: what reduce.c asks of the loops of an instruction set, and what its callers ask of reduce.c.
 *
 * The elements of a reduction are numbered in the row-major order of its axes. Floats are folded by a tree that depends on these numbers
 * alone: 16 lanes (lane i % 16) for each block of 1024 elements, lanes folded in halves, blocks in pairs. So strides, threads and
 * instruction sets give the same bits. Integers and extrema are the same in any order. */
#ifndef SB_MATH_REDUCE_H
#define SB_MATH_REDUCE_H

#include "kernels/convert.h"
#include "math/math.h"

#define SB__LANES 16
#define SB__BLOCK 1024 /* elements; a multiple of the lanes */

/* How elements are folded, and what the loop reads: name, bytes of an element, of a value while it is folded, of a folded one, and how two
 * of these are joined. */
#define SB__FOLDS(X)                                                                     \
 X(sum_f32, 4, 8, 8, ADD)                                                                \
 X(sum_f64, 8, 8, 8, ADD)                                                                \
 X(sum_i64, 8, 8, 8, ADD_INTEGERS)                                                       \
 X(sum_u8, 1, 4, 8, ADD_INTEGERS)                                                        \
 X(count_u8, 1, 4, 8, ADD_INTEGERS)  /* those that are not 0 */                          \
 X(count_u32, 4, 4, 8, ADD_INTEGERS) /* where bits of `flip` are set */                  \
 X(count_u64, 8, 8, 8, ADD_INTEGERS)                                                     \
 X(absolute_f32, 4, 8, 8, ADD)                                                           \
 X(absolute_f64, 8, 8, 8, ADD)                                                           \
 X(square_f32, 4, 8, 8, ADD) /* of the difference to `shift` */                          \
 X(square_f64, 8, 8, 8, ADD)                                                             \
 X(product_f64, 8, 8, 8, MULTIPLY)                                                       \
 X(product_i64, 8, 8, 8, MULTIPLY_INTEGERS)                                              \
 X(product_c128, 16, 16, 16, MULTIPLY_COMPLEX)                                           \
 X(most_f32, 4, 4, 8, MOST) /* of keys, which are integers in the order of the values */ \
 X(most_f64, 8, 8, 8, MOST)                                                              \
 X(most_i32, 4, 4, 8, MOST)                                                              \
 X(most_i64, 8, 8, 8, MOST)                                                              \
 X(most_u8, 1, 1, 8, MOST)                                                               \
 X(most_u16, 2, 2, 8, MOST)                                                              \
 X(where_f32, 4, 4, 8, WHERE) /* the greatest key and its first index */                 \
 X(where_f64, 8, 8, 8, WHERE)                                                            \
 X(where_i32, 4, 4, 8, WHERE)                                                            \
 X(where_i64, 8, 8, 8, WHERE)

typedef enum sb__fold {
#define X(name, size, lane, folded, join) SB__FOLD_##name,
  SB__FOLDS(X)
#undef X
      SB__FOLD_COUNT
} sb__fold;

/* One call of a loop: `outputs` reductions of n elements each. */
typedef struct sb__fold_call {
  void *folded;   /* gets a value an output: double, uint64_t, sb_complex128, or int64_t, a key */
  int64_t *index; /* WHERE: gets the index of the first greatest one */
  const char
      *from; /* elements side by side along the reduction (rows), or along the outputs (columns) */
  int64_t step;       /* bytes from one to the next along the other */
  int64_t outputs, n; /* at least one each; columns: n is at most SB__BLOCK */
  int64_t
      first; /* number of the first element: a multiple of SB__BLOCK, or of SB__LANES if goes_on */
  const double *shift; /* square: an output's; columns: SB__LANES times over */
  uint64_t
      flip; /* keys: bits that are inverted, all of them for a minimum; counts: bits that are not 0 in what counts */
  void *lanes; /* columns: room for SB__LANES (WHERE: two) values an output; kept between calls */
  bool goes_on,
      is_last; /* columns: this call goes on where the last one ended; it ends the block */
} sb__fold_call;

typedef void (*sb__fold_loop)(const sb__fold_call *c);

typedef struct sb__fold_loops {
  sb__fold_loop rows[SB__FOLD_COUNT], columns[SB__FOLD_COUNT];
  /* exp(x - by) of n elements, of which none is above by; to may be from. */
  void (*exp_line)(float *to, const float *from, int64_t n, float by);
  void (*scale_line)(float *x, int64_t n, double by);
} sb__fold_loops;

#if !defined(__wasm_simd128__)
extern const sb__fold_loops sb__fold_scalar;
#endif
#if defined(__x86_64__)
extern const sb__fold_loops sb__fold_avx2, sb__fold_avx512;
#elif defined(__aarch64__)
extern const sb__fold_loops sb__fold_neon;
#elif defined(__wasm_simd128__)
extern const sb__fold_loops sb__fold_simd128;
#endif

/* dispatch.c: those of the level that the core uses. */
const sb__fold_loops *sb__fold_loops_now(void);

/* ---- What there is: reductions.def ---- */

enum {
#define REDUCTION(name, group, text) SB__REDUCE_##name,
#include "math/reductions.def"
#undef REDUCTION
  SB__REDUCTIONS
};

typedef enum sb__reduction_group {
  SB__REDUCES_SUM,     /* integers become int64 or uint64 */
  SB__REDUCES_PRODUCT, /* the same */
  SB__REDUCES_MEAN,    /* integers become float32 */
  SB__REDUCES_SPREAD,  /* real numbers; the same */
  SB__REDUCES_NORM,    /* the same */
  SB__REDUCES_EXTREME, /* real numbers and bool; the result is of their dtype */
  SB__REDUCES_LOGIC,   /* all dtypes */
  SB__REDUCES_COUNT,   /* all dtypes */
  SB__REDUCES_INDEX,   /* real numbers and bool */
  SB__REDUCES_LINES,   /* real numbers and bool; integers become float32 (lines.h) */
} sb__reduction_group;

/* How a reduction is computed. */
typedef struct sb__reduction {
  const char *name;
  sb__reduction_group group;
  int32_t op;
  sb_dtype load;          /* that elements are converted to; the loop's */
  sb_dtype made;          /* of a finished value: float64, int64, uint64, bool or complex128 */
  sb_dtype result;        /* that made is converted to; it rounds once */
  sb__fold fold, squares; /* squares: the second pass of SPREAD */
  uint64_t flip;          /* as in sb__fold_call */
} sb__reduction;

/* reduce_types.c. asked: the result's dtype, or SB__NO_DTYPE.
 *
 * Errors  SB_ERR_DTYPE there is no such reduction of the dtype · SB_ERR_CAST it does not convert to what was asked · SB_ERR_ARGUMENT
 *         the reduction takes no dtype */
sb_status sb__reduction_of(int64_t op, sb_dtype from, int64_t asked, sb__reduction *out);

/* reduce.c: computes every element of to.
 *
 *   to          of from's shape without the axes, or with one element along each of them; may overlap from
 *   axes        count of them, each once, from 0 on
 *   asked       as above
 *   correction  var and std: what is subtracted from the number of elements
 *   staged      gets bytes of from that were copied first, because the target would overwrite them
 *
 * Errors  as sb__reduction_of and sb_copy · SB_ERR_SHAPE to has another shape, or there is no least of no elements · SB_ERR_BOUNDS an
 *         axis outside or repeated, an index beyond int32 */
sb_status sb__math_reduce(int64_t op, const sb_tensor *to, const sb_tensor *from, int64_t count,
                          const int64_t *axes, int64_t asked, double correction, sb_casting casting,
                          int64_t *staged);

/* cumulate.c: writes, for each element along the axis, the sum or product of those up to it.
 *
 *   op     SB__REDUCE_sum or SB__REDUCE_prod
 *   to     of from's shape; may be from, or overlap it
 *   asked  the result's dtype, or SB__NO_DTYPE
 *
 * Errors  as sb__math_reduce */
sb_status sb__math_cumulate(int64_t op, const sb_tensor *to, const sb_tensor *from, int64_t axis,
                            int64_t asked, sb_casting casting, int64_t *staged);

/* Keys of floats: integers in their order; NaN is above all, whatever is flipped. */
static inline int32_t sb__key_of_single(float x, uint64_t flip) {
  const int32_t bits = (int32_t)sb__bits_of_float(x);
  const int32_t key = (bits ^ (bits >> 31 & INT32_MAX)) ^ (int32_t)flip;
  return (bits & INT32_MAX) > 0x7f800000 ? INT32_MAX : key;
}

static inline int64_t sb__key_of_double(double x, uint64_t flip) {
  const int64_t bits = (int64_t)sb__bits_of(x);
  const int64_t key = (bits ^ (bits >> 63 & INT64_MAX)) ^ (int64_t)flip;
  return (bits & INT64_MAX) > 0x7ff0000000000000 ? INT64_MAX : key;
}

static inline double sb__value_of_key(int64_t key, uint64_t flip, bool is_single) {
  if (is_single) {
    int32_t bits = (int32_t)key;
    if (bits == INT32_MAX) return __builtin_nan("");
    bits ^= (int32_t)flip;
    return (double)sb__float_of((uint32_t)(bits ^ (bits >> 31 & INT32_MAX)));
  }
  if (key == INT64_MAX) return __builtin_nan("");
  key ^= (int64_t)flip;
  return sb__double_of((uint64_t)(key ^ (key >> 63 & INT64_MAX)));
}

#endif
