/* Functions of cores: the last axes of their operands, which lie without gaps in memory where the function sees them. All axes before are
 * batches, alike in all operands: what NumPy calls generalized ufuncs. */
#ifndef SB_CORES_H
#define SB_CORES_H

#include "bind/extension.h"

#define SB__CORE_OPERANDS 4
#define SB__NO_PROBLEM 0

/* Some cores, one after the other in each operand. */
typedef struct sb__cores_call {
  char *data[SB__CORE_OPERANDS]; /* sources are not written, and overlap no target */
  int64_t count;                 /* at least 1 */
  char *scratch;                 /* sb__cores.scratch bytes, aligned to 64; NULL: of 0 */
  const void *context;
} sb__cores_call;

typedef struct sb__core_operand {
  const sb_tensor *tensor;
  sb_dtype dtype; /* that the function reads or writes; converted from and to the tensor's */
  int32_t axes;   /* the last ones, of a core */
  bool is_written;
} sb__core_operand;

typedef struct sb__cores {
  const char *name; /* for messages */
  int32_t count;    /* operands; targets come first */
  sb__core_operand operand[SB__CORE_OPERANDS];
  int (*run)(const sb__cores_call *call); /* SB__NO_PROBLEM, or a number of the function's own */
  const void *context;
  int64_t scratch; /* bytes that each call of run may use */
  int64_t cost;    /* of a core, in additions: what threads are worth */
  int64_t most;    /* cores of a call at most; 0: as many as make a call worth it */
} sb__cores;

/* Runs the function over all batches, unless there are targets, all without elements. Sources that a target overlaps are copied first.
 *
 *   casting  of results to targets of other dtypes
 *   staged   gets bytes that were copied because of overlaps, added
 *   problem  what a call of run returned, if not SB__NO_PROBLEM: then some targets may be written, and other cores are left out. Of several any
 *
 * Errors  SB_ERR_SHAPE batches differ · SB_ERR_CAST · SB_ERR_OVERLAP two targets, or one with itself · SB_ERR_MEMORY, as sb_copy */
sb_status sb__cores_run(const sb__cores *f, sb_casting casting, int64_t *staged, int *problem);

/* The dtype that functions of real floats compute in: float32 of float16, bfloat16 and float32, float64 of float64 and integers of 32 bits and
 * more, float32 of the others; of complex numbers the same with two parts.
 *
 * Errors  SB_ERR_DTYPE bool, float8 */
sb_status sb__computed_in(const char *name, sb_dtype dtype, sb_dtype *out);

#endif
