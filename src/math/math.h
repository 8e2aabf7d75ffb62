/* Arithmetic: samebytes_math natively, a module of its own in WebAssembly. Both call the core by the functions of
 * bind/core_functions.def. */
#ifndef SB_MATH_H
#define SB_MATH_H

#include "bind/extension.h"

enum {
#define OP(name, count, domain, result, accuracy, text) SB__OP_##name,
#include "math/ops.def"
#undef OP
  SB__OPS
};

#define SB__MATH_OPERANDS 4 /* target and sources */

/* Computes n elements, side by side in each operand. A source may be the target. */
typedef void (*sb__math_loop)(char *to, const char *const from[], int64_t n);

/* Loops of one instruction set, by function and by the dtype that is computed in; NULL: there is none. */
typedef struct sb__math_loops {
  const char *level;
  sb__math_loop each[SB__OPS][SB_DTYPE_COUNT];
} sb__math_loops;

#if !defined(__wasm_simd128__)
extern const sb__math_loops sb__math_scalar;
#endif
#if defined(__x86_64__)
extern const sb__math_loops sb__math_avx2, sb__math_avx512;
#elif defined(__aarch64__)
extern const sb__math_loops sb__math_neon;
#elif defined(__wasm_simd128__)
extern const sb__math_loops sb__math_simd128;
#endif

/* dispatch.c: those of the level that the core uses. */
const sb__math_loops *sb__math_loops_now(void);

/* The loop for a function and the dtype that is computed in, of that level or the one below; NULL: there is none. */
sb__math_loop sb__math_loop_now(int64_t op, sb_dtype dtype);

/* whole.c: x / y rounded down, and what is left of x; NaN where the quotient has none. Of float32 as well. */
double sb__math_floor_divide(double x, double y);
double sb__math_remainder(double x, double y);

/* circular.c: sin, cos or tan (sb__turned) of any number; wide: of float64. */
double sb__math_circular(int which, double x, bool wide);

/* complex.c: functions of complex numbers; complex64 is computed in float64 and rounded. */
sb_complex128 sb__math_complex_sign(sb_complex128 x);
sb_complex128 sb__math_complex_sqrt(sb_complex128 x);
sb_complex128 sb__math_complex_exp(sb_complex128 x);
sb_complex128 sb__math_complex_log(sb_complex128 x);

/* mixed.c: comparisons of 64-bit integers with floats, complex numbers and integers of the other sign, by value. NULL: there is none.
 *
 *   a, b  SB_INT64, SB_UINT64, SB_FLOAT64 or SB_COMPLEX128, of which loops read their sources */
sb__math_loop sb__math_mixed_loop(int64_t op, sb_dtype a, sb_dtype b);

/* rules.c: what an elementwise function makes of its sources' dtypes. */
typedef struct sb__math_types {
  sb_dtype from[SB__MATH_OPERANDS - 1]; /* that each source is converted to */
  sb_dtype computed;                    /* whose loop runs; of mixed sources the first one's */
  sb_dtype made;                        /* that the loop writes */
  sb_dtype result;                      /* that made is converted to; it rounds once */
  sb__math_loop loop;
} sb__math_types;

#define SB__NO_DTYPE -1 /* none was asked for */

/* from: dtypes of the sources. asked: what they are converted to first, or SB__NO_DTYPE.
 *
 * Errors  SB_ERR_DTYPE the function has no such numbers · SB_ERR_CAST a source does not convert to what was asked */
sb_status sb__math_types_of(int64_t op, const sb_dtype *from, int64_t asked, sb__math_types *out);

/* Whether the function compares values, so that its sources need no common dtype. */
bool sb__math_is_comparison(int64_t op);

/* elementwise.c: computes every element of to.
 *
 *   to      of the sources' broadcast shape; may be a source
 *   item    for each source: NULL, or a single element of types->from that takes its place, whose tensor is NULL then
 *   staged  gets bytes of sources that were copied first, because the target would overwrite them
 *
 * Errors  as sb_copy */
sb_status sb__math_elementwise(int64_t op, const sb__math_types *types, const sb_tensor *to,
                               const sb_tensor *const from[], const char *const item[],
                               sb_casting casting, int64_t *staged);

/* elementwise.c: a copy of a source that the target would overwrite before it is read; to be released. staged: gets its bytes, added. */
sb_status sb__math_copy_of(const sb_tensor *from, sb_tensor *copy, int64_t *staged);

/* tiles.c: an elementwise function whose operands have one shape, with at least one element. */
typedef struct sb__math_work {
  sb__math_loop loop;
  int32_t count;                              /* operands; the first is the target */
  const sb_tensor *tensor[SB__MATH_OPERANDS]; /* all of one shape */
  sb_dtype dtype[SB__MATH_OPERANDS];          /* that the loop reads and writes */
  int32_t cost; /* of an element, in those of an addition: a power of 2 */
} sb__math_work;

void sb__math_run(const sb__math_work *w);

/* tiles.c: bytes from element to element along each dimension, without gaps. n: elements of each, at least one */
void sb__math_dense_steps(int64_t size, int32_t ndim, const int64_t *n, int64_t *steps);

/* indexing.c: how many elements of a mask, which is bool and without gaps, are true. */
sb_status sb__math_count_true(const sb_tensor *mask, int64_t *count);

/* Writes the places of a mask's true elements in row-major order: sums of each axis' index times its factor.
 *
 *   to  int32 or int64, with one axis of exactly as many elements */
sb_status sb__math_positions(const sb_tensor *to, const sb_tensor *mask, int64_t count,
                             const int64_t *factors);

/* An axis that an entry of integers indexes. */
typedef struct sb__indexed_axis {
  int64_t extent, stride; /* elements, bytes */
  int64_t entry, number;  /* of entry and axis, for messages */
} sb__indexed_axis;

/* Computes the offsets, in bytes, of indices along an axis; negative ones count from its end.
 *
 *   to     int64, without gaps
 *   index  of 32 or 64 bits; broadcasts to the shape of to
 *   adds   to what `to` has, which else is overwritten
 *
 * Errors  SB_ERR_BOUNDS an index is outside; to is written in part · SB_ERR_SHAPE */
sb_status sb__math_offsets(const sb_tensor *to, const sb_tensor *index,
                           const sb__indexed_axis *axis, bool adds);

/* Copies elements at offsets. Of repeated offsets the last one's are written.
 *
 *   items    its first axis is that of offsets, the others are those of all that no entry indexes
 *   all      gives the elements; scatters: gets them
 *   axes     of all that entries index, in order */
sb_status sb__math_move(const sb_tensor *items, const sb_tensor *all, const sb_tensor *offsets,
                        int64_t count, const int64_t *axes, bool scatters);

/* exports.c: what JavaScript calls. */
enum {
#define EXPORT(name, signature, call) SB__MATH_##name,
#include "math/exports.def"
#undef EXPORT
  SB__MATH_EXPORTS
};
extern const sb__export sb__math_exports[SB__MATH_EXPORTS];
const char *sb__math_tables(void);

#endif
