/* The block of memory that an environment and C share: operands and numbers go in, status and results
 * come out. Most of it is doubles, whose integers are exact to 2^53; a layout's integers have 64 bits, the
 * lower half first, of which JavaScript writes and reads both only where one of them does not fit
 * 32. The indices below, of doubles, are reported to JavaScript by tables.c. */
#ifndef SB_FRAME_H
#define SB_FRAME_H

#include "core/core.h"
#include "ops/copy.h"

/* name, first double, how many. */
#define SB__FRAME(X)                                                             \
 X(STATUS, 0, 1)                                                                 \
 X(ROW, 1, 1)        /* to run: 32 bits; WASM gives it as an argument */         \
 X(RESULTS, 2, 7)    /* numbers, in the order of the signature */                \
 X(OPERANDS, 9, 670) /* five descriptors; the fifth is the result's layout */    \
 X(ARGS, 679, 640)   /* numbers, lists (count first) and scalars in order */     \
 X(TEXT, 1319, 64)   /* a failure in words: bytes, ending with 0 */              \
 X(SCRATCH, 1383, 1) /* bytes for the call itself: its room, then the refused */ \
 X(SIZE, 1384, 0)

/* Fields of a descriptor. */
#define SB__OPERAND(X)                                                      \
 X(HANDLE, 0)  /* of a native storage; 0: the address counts */             \
 X(ADDRESS, 1) /* of the storage's first byte; JavaScript vouches for it */ \
 X(NBYTES, 2)  /* of the storage from there on */                           \
 X(HEAD, 3)    /* 32 bits, see below */                                     \
 X(OFFSET, 4)  /* elements, as all that follow */                           \
 X(NUMEL, 5)   /* of a result only */                                       \
 X(AXES, 6)    /* shape and stride of each; SB_MAX_DIMS of them */          \
 X(SIZE_OF_OPERAND, 134)

/* What a descriptor's head is made of: first bit of each. */
#define SB__HEAD(X)                           \
 X(DTYPE, 0)  /* 8 bits */                    \
 X(NDIM, 8)   /* 8 bits */                    \
 X(FLAGS, 16) /* 8 bits of sb_tensor.flags */ \
 X(WIDE, 24)  /* 1: integers have 64 bits; 0: their lower halves do */

enum {
#define X(name, at, count) SB__FRAME_##name = at,
  SB__FRAME(X)
#undef X
#define X(name, at) SB__OPERAND_##name = at,
      SB__OPERAND(X)
#undef X
#define X(name, at) SB__HEAD_##name = at,
          SB__HEAD(X)
#undef X
              SB__FRAME_OUT = SB__FRAME_OPERANDS + 4 * SB__OPERAND_SIZE_OF_OPERAND
};

/* ---- handles.c ---- */

/* A claim of one environment on a storage in the process-wide table. */
typedef struct sb__claim {
  uint32_t generation; /* 0: none */
  sb_storage *storage; /* one reference */
} sb__claim;

/* What an environment has: its frame, its claims, and where operands are unpacked. Used by the
 * environment's thread alone. */
typedef struct sb__binding {
  double *frame; /* SB__FRAME_SIZE doubles */
  sb__claim *claims;
  uint32_t claim_count;  /* entries in claims, indexed by slot */
  sb_tensor operands[4]; /* a result's layout takes the first one's place */
  sb_storage borrowed[4];
  int64_t numbers[8];
  int64_t counts[3]; /* of lists; -1: none given */
  union {
    int64_t integers[5 * SB_MAX_DIMS];
    sb_slice_spec specs[SB_MAX_DIMS]; /* five of them each */
  } lists[3];
  sb_scalar scalars[4];
  double results[7];
  const sb_storage *guarded[4]; /* of this call, to be looked at again when it is done */
  int32_t guarded_count;
} sb__binding;

/* Puts storage into the table; the reference moves into this environment's claim on success. A handle
 * is slot + generation and fits a double exactly. */
sb_status sb__claim_new(sb__binding *b, sb_storage *storage, double *handle);
/* The same, for a function of the addon that has no row: handle, address and bytes become the first results. SB_ERR_BOUNDS: the address
 * is beyond what a double can count. */
sb_status sb__claim_result(sb__binding *b, sb_storage *storage);
sb_storage *sb__claim_get(const sb__binding *b,
                          double handle); /* borrowed; NULL: stale or forged */
sb_status sb__claim_drop(sb__binding *b, double handle);
void sb__claims_drop_all(sb__binding *b); /* at the environment's end */

/* ---- call_frame.c ---- */

/* Status and, for a failure, its message into the frame. */
void sb__report(sb__binding *b, sb_status status);

/* Opcodes: rows of exports.def, as JavaScript numbers them. */
enum {
#define EXPORT(name, signature, call) SB__OPCODE_##name,
#include "bind/exports.def"
#undef EXPORT
  SB__OPCODES
};

/* Reads the first operand, whose bytes will be touched, and checks it against its storage, which stays b's or
 * its claim's. */
sb_status sb__read_operand(sb__binding *b);

/* Writes the first operand's layout as a result. */
sb_status sb__write_layout(sb__binding *b);

/* Runs one opcode on the frame. Never fails otherwise than by the frame's status. */
void sb__run(sb__binding *b, uint32_t opcode);

/* ---- exports.c ---- */

/* The copy that row copy_check (copy_scaled_check) has just passed; its tensors are b's operands. */
sb__copy sb__copy_of(const sb__binding *b, bool scaled);

/* ---- cuda.c ---- */

#ifndef __wasm__
sb_status sb__row_cuda_count(sb__binding *b);
sb_status sb__row_cuda_why_not(sb__binding *b);
sb_status sb__row_cuda_open(sb__binding *b);
sb_status sb__row_cuda_properties(sb__binding *b);
sb_status sb__row_cuda_synchronize(sb__binding *b);
sb_status sb__row_cuda_new(sb__binding *b);
sb_status sb__row_pinned_new(sb__binding *b);
sb_status sb__row_cuda_register(sb__binding *b);
sb_status sb__row_is_pinned(sb__binding *b);
sb_status sb__row_cuda_empty_cache(sb__binding *b);
sb_status sb__row_cuda_statistics(sb__binding *b);
sb_status sb__row_cuda_wait_for(sb__binding *b);
sb_status sb__row_cuda_stream_new(sb__binding *b);
sb_status sb__row_cuda_stream_wrap(sb__binding *b);
sb_status sb__row_cuda_stream_wait(sb__binding *b);
sb_status sb__row_cuda_stream_synchronize(sb__binding *b);
sb_status sb__row_cuda_use_stream(sb__binding *b);
sb_status sb__row_cuda_event_new(sb__binding *b);
sb_status sb__row_cuda_event_record(sb__binding *b);
sb_status sb__row_cuda_event_query(sb__binding *b);
sb_status sb__row_cuda_touch(sb__binding *b);

/* What a handle that such a row gave stands for. */
struct sb__cuda_stream;
struct sb__cuda_event;
sb_status sb__cuda_stream_of(const sb_storage *holder, struct sb__cuda_stream **out);
sb_status sb__cuda_event_of(const sb_storage *holder, struct sb__cuda_event **out);
#endif

/* ---- tables.c ---- */

/* What JavaScript has to know, as JSON: dtypes, errors, frame indices, rows. Static; never freed. */
const char *sb__tables(void);

#endif
