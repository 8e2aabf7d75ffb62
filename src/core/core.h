/* Internals of core, for its own files and the layers above. Not shipped. */
#ifndef SB_CORE_H
#define SB_CORE_H

#include "platform/platform.h"
#include "samebytes.h"

/* error.c: records the message for this thread and returns status. */
SB_PRINTF(2, 3) sb_status sb__fail(sb_status status, const char *format, ...);

/* error.c: snprintf. */
SB_PRINTF(3, 4) int sb__print(char *text, size_t capacity, const char *format, ...);

/* error.c: a double in a message: with as few digits as tell it from all others, so that a value never looks like its limit. */
typedef struct sb__digits {
  char text[32];
} sb__digits;
sb__digits sb__digits_of(double x);

/* alloc.c: all allocations of the library. A test build can make the n-th one fail, and counts. */
void *sb__alloc(size_t nbytes);               /* nbytes > 0; any type's alignment */
void *sb__realloc(void *data, size_t nbytes); /* as realloc; data may be NULL */
void *sb__alloc_aligned(size_t nbytes);       /* nbytes > 0; SB_ALIGNMENT */
void sb__free(void *data);                    /* a result of sb__alloc or sb__realloc */
void sb__free_aligned(void *data);            /* a result of sb__alloc_aligned */
#ifdef SB_TEST
/* The n-th from now fails on this thread, once; of -n the n-th on the others; 0: none. Gives what was left of the last number. */
int64_t sb__fail_allocation(int64_t n);
int64_t sb__live_allocations(void); /* of all threads */
#endif

/* storage.c: memory that a call takes for itself and gives back before it ends. It counts against the limit that JavaScript set, with
 * what other calls have at the time and with the storages that were made since the call began. Outside of such a call there is no limit. */
typedef struct sb__scratch {
  bool is_bounded;
  int64_t begun;   /* bytes of storages when the call began */
  int64_t room;    /* that it may take */
  int64_t taken;   /* in total_scratch, until the call ends */
  int64_t refused; /* beyond room: what the call would have had; 0: nothing */
} sb__scratch;

void sb__scratch_begin(double room);  /* for this thread's call; 0: it has no limit */
int64_t sb__scratch_end(void);        /* bytes that were refused */
sb__scratch sb__scratch_move(void);   /* of a call that another thread runs, */
void sb__scratch_set(sb__scratch to); /* which begins with this */
bool sb__scratch_allows(int64_t nbytes);

/* sb__alloc_aligned for such memory; nbytes > 0. NULL also beyond the limit, and where size_t, which has 32 bits in WebAssembly, has no such
 * number. */
void *sb__alloc_bytes(int64_t nbytes);

/* storage.c: where bytes are, and who frees them. The struct is complete here, because bindings put one on the stack for
 * memory that the caller owns during one call. */
typedef enum sb__storage_kind {
  SB__STORAGE_BORROWED, /* the caller's memory, for one call: V8's or JavaScript's */
  SB__STORAGE_HEAP,     /* allocated here */
  SB__STORAGE_FOREIGN,  /* wrapped: a deleter frees it */
  SB__STORAGE_MAPPED,   /* a mapped file */
  SB__STORAGE_PART,     /* part of another storage, which it holds and which counts the bytes */
  SB__STORAGE_FILE,     /* no bytes: closes a file descriptor */
  SB__STORAGE_SHARED,
  SB__STORAGE_PAGE_LOCKED,  /* page-locked memory; context is src/cuda's */
  SB__STORAGE_CUDA,         /* device memory; context is src/cuda's */
  SB__STORAGE_CUDA_FOREIGN, /* device memory that others allocated; context is src/cuda's */
  SB__STORAGE_SCRATCH,      /* WebAssembly: memory of a call */
  SB__STORAGE_PIN, /* a pin: another storage's bytes, or V8's, while native code uses them */
} sb__storage_kind;

struct sb_storage {
  atomic_int_fast64_t count; /* references */
  sb__storage_kind kind;
  int32_t device; /* number of the device; -1: the host */
  void *data;
  size_t nbytes;
  sb_deleter deleter; /* NULL: nothing to free */
  void *context;      /* the deleter's second argument */
  const atomic_int
      *fault; /* guarded mappings (ipc/map.h): 1 once bytes are lost; NULL: not guarded */
  struct sb_storage *base; /* the storage whose bytes a part or pin has; NULL: none */
};

/* WebAssembly has no devices: the compiler removes the branches. */
#if defined(__wasm__)
# define SB__ON_DEVICE(storage) ((void)(storage), false)
#else
# define SB__ON_DEVICE(storage) ((storage) && (storage)->device >= 0)
#endif

/* Follows base to the storage that owns the bytes. NULL: NULL. */
const sb_storage *sb__storage_root(const sb_storage *storage);

/* SB_ERR_DEVICE where the bytes are on a device. name: for the message, such as "the source". */
sb_status sb__check_host(const char *name, const sb_storage *storage);

/* Sets how messages name devices ("cuda"); a static string, set before the first device exists. */
void sb__set_device_name(const char *called);

/* Makes a storage for one call: neither counted nor freed. */
void sb__storage_borrow(void *data, size_t nbytes, sb_storage *out);

/* As sb_storage_wrap, with a kind. */
sb_status sb__storage_wrap_as(sb__storage_kind kind, void *data, size_t nbytes, sb_deleter deleter,
                              void *context, sb_storage **out);

/* Makes a storage of nbytes of another one, from byte `at` on; it holds a reference to the whole.
 *
 * Errors  SB_ERR_ARGUMENT whole is borrowed · SB_ERR_BOUNDS · SB_ERR_MEMORY */
sb_status sb__storage_part(sb_storage *whole, int64_t at, int64_t nbytes, sb_storage **out);

#ifdef __wasm__
/* Makes a part of the storage that has nbytes > 0 at an address of linear memory.
 *
 *   out     NULL: only checks that there is such a storage
 *
 * Errors  SB_ERR_STALE the address belongs to no storage · SB_ERR_BOUNDS the bytes reach beyond it · SB_ERR_MEMORY */
sb_status sb__storage_at(uint32_t address, size_t nbytes, sb_storage **out);
#endif

/* Makes a storage whose deleter unpins bytes instead of freeing them. As sb_storage_wrap, but not counted in the totals,
 * because the bytes' owner counts them.
 *
 *   base  NULL, or the storage that owns the bytes; context keeps it alive as long as this one */
sb_status sb__storage_pin(void *data, size_t nbytes, sb_storage *base, sb_deleter give_back,
                          void *context, sb_storage **out);

/* SB_ERR_IO where a guarded mapping has lost bytes. */
sb_status sb__check_intact(const sb_storage *storage);

typedef struct sb__storage_totals {
  int64_t storages, heap_bytes, foreign_bytes, mapped_bytes, pinned_bytes, cuda_bytes;
} sb__storage_totals;
sb__storage_totals sb__storage_totals_now(void); /* alive in this process (WASM: this module) */

/* interop/dlpack.c: the storage that a managed struct holds; NULL: it is not ours, or has no elements. */
sb_storage *sb__dlpack_storage(bool versioned, void *managed);

/* dtype.c */
bool sb__dtype_is_valid(int64_t dtype);

static inline bool sb__is_integer(sb_dtype dtype) {
  const sb_kind kind = sb_dtype_kind(dtype);
  return kind == SB_UNSIGNED || kind == SB_SIGNED;
}

/* tensor.c: checks a tensor whose storage, (valid) dtype, ndim, flags, offset, shape and strides are set, and completes
 * the other fields. */
sb_status sb__tensor_finish(sb_tensor *t);

/* tensor.c: makes a layout without a storage from strides that are not negative. elements: how many its storage needs. */
sb_status sb__strided(sb_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides,
                      sb_tensor *out, int64_t *elements);

/* tensor.c: allocates a heap storage of uninitialised elements for a layout. */
sb_status sb__tensor_allocate(sb_tensor *t, int64_t elements);

/* tensor.c: SB_ERR_ARGUMENT where a tensor has elements and no storage. */
sb_status sb__check_storage(const char *name, const sb_tensor *t);

/* tensor.c: the same, and SB_ERR_DEVICE where it is on a device. */
sb_status sb__check_bytes(const char *name, const sb_tensor *t);

/* shape.c */
sb_status sb__check_shape(int64_t ndim, const int64_t *shape, int64_t *numel);
sb_status sb__dense_strides(int32_t ndim, const int64_t *shape, int64_t *strides);
sb_status sb__check_axis(const char *name, int64_t axis, int32_t ndim, int32_t *out);

/* Computes the lowest and highest element that a layout reaches, relative to its offset; 0 and 0 without elements.
 * Returns false if they overflow. */
bool sb__extent(const sb_tensor *t, int64_t *lowest, int64_t *highest);

/* SB_ERR_BOUNDS where an element lies outside the storage. Without a storage, checks for overflow only. */
sb_status sb__check_extent(const sb_tensor *t);

/* memory_format.c: SB_ERR_SHAPE where strides do not fall in the order of dim_order; axes of size 1 are ignored. */
sb_status sb__check_dim_order(int32_t ndim, const int64_t *shape, const int64_t *strides,
                              const int64_t *dim_order);

/* views.c: SB_ERR_BOUNDS where view reaches elements before the first or after the last one of t, in memory. Both have
 * one storage and one dtype. */
sb_status sb__check_within(const sb_tensor *view, const sb_tensor *t);

/* overlap.c: fails where t is read-only, has no storage, or has elements that share bytes. */
sb_status sb__check_target_anywhere(const sb_tensor *t);

/* The same, and SB_ERR_DEVICE where it is on a device. */
sb_status sb__check_target(const sb_tensor *t);

/* Writes "[2, 3]" to text, for messages, and returns text. */
const char *sb__shape_text(int32_t ndim, const int64_t *shape, char text[128]);

#ifndef NDEBUG
bool sb__tensor_is_valid(const sb_tensor *t);
#endif

#endif
