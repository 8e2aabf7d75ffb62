/* What core shares between its files and with the layers above; not shipped. */
#ifndef SB_CORE_H
#define SB_CORE_H

#include "platform/platform.h"
#include "samebytes.h"

/* error.c: records the message for this thread and returns status. */
SB_PRINTF(2, 3) sb_status sb__fail(sb_status status, const char *format, ...);

/* error.c: snprintf. */
SB_PRINTF(3, 4) int sb__print(char *text, size_t room, const char *format, ...);

/* memory.c: every allocation of the library. A test build can make the n-th one fail. */
void *sb__alloc(size_t nbytes);               /* nbytes > 0; any type's alignment */
void *sb__realloc(void *data, size_t nbytes); /* as realloc, also without data */
void *sb__alloc_aligned(size_t nbytes);       /* nbytes > 0; SB_ALIGNMENT */
void sb__free(void *data);                    /* what sb__alloc and sb__realloc gave */
void sb__free_aligned(void *data);            /* what sb__alloc_aligned gave */
#ifdef SB_TEST
void sb__fail_allocation(int64_t n); /* the n-th from now fails on this thread, once; 0: none */
#endif

/* storage.c. Where bytes are and who frees them. Complete here, because bindings put one on the stack
 * for memory that the caller owns and vouches for during one call. */
typedef enum sb__storage_kind {
  SB__STORAGE_BORROWED, /* somebody else's, for one call: V8's or JavaScript's */
  SB__STORAGE_HEAP,     /* our native heap */
  SB__STORAGE_FOREIGN,  /* wrapped; freed by its deleter */
  SB__STORAGE_MAPPED,   /* a file */
  SB__STORAGE_PART,     /* of another one, which it keeps: counted there */
  SB__STORAGE_FILE,     /* no bytes: an open file, closed with it */
  SB__STORAGE_SHARED,
  SB__STORAGE_PINNED,       /* page-locked; context is src/cuda's */
  SB__STORAGE_CUDA,         /* a device's; context is src/cuda's */
  SB__STORAGE_CUDA_FOREIGN, /* a device's, made by somebody else; context as well */
  SB__STORAGE_LENT, /* another storage's bytes, or V8's, for as long as native code has them */
} sb__storage_kind;

struct sb_storage {
  atomic_int_fast64_t count; /* references */
  atomic_int in_flight;      /* operations that still read or write the bytes: busy */
  sb__storage_kind kind;
  int32_t device; /* whose memory it is; -1: the host's, which the CPU may touch */
  void *data;
  size_t nbytes;
  sb_deleter deleter; /* NULL: nothing to free */
  void *context;      /* deleter's second argument */
  const atomic_int
      *fault; /* not 0: bytes of a guarded mapping (ipc/map.h) are gone; NULL: not guarded */
  struct sb_storage *base; /* whose bytes a part shows, or a loan lends; NULL: its own */
};

/* WebAssembly has no devices, and its modules no code for them. */
#if defined(__wasm__)
# define SB__ON_DEVICE(storage) ((void)(storage), false)
#else
# define SB__ON_DEVICE(storage) ((storage) && (storage)->device >= 0)
#endif

/* The storage whose bytes one has in the end. NULL: NULL. */
const sb_storage *sb__storage_root(const sb_storage *storage);

/* SB_ERR_DEVICE where the CPU may not touch the bytes. name: what they are, as "the source". */
sb_status sb__check_host(const char *name, const sb_storage *storage);

/* What a message calls devices, before their number; static. Before the first one is there. */
void sb__set_device_name(const char *called);

/* A storage for one call; never counted, never freed. */
void sb__storage_borrow(void *data, size_t nbytes, sb_storage *out);

/* As sb_storage_wrap, of a kind. */
sb_status sb__storage_wrap_as(sb__storage_kind kind, void *data, size_t nbytes, sb_deleter deleter,
                              void *context, sb_storage **out);

/* nbytes of a storage that is not borrowed, from one of its bytes on: a storage of its own, which keeps the other. */
sb_status sb__storage_part(sb_storage *whole, int64_t at, int64_t nbytes, sb_storage **out);

#ifdef __wasm__
/* nbytes > 0 of linear memory from an address on, as a part of the storage that has them. out: NULL where only the
 * question is whether one has.
 *
 * Errors  SB_ERR_STALE they are no storage's (any more) · SB_ERR_BOUNDS they reach beyond it · SB_ERR_MEMORY */
sb_status sb__storage_at(uint32_t address, size_t nbytes, sb_storage **out);
#endif

/* A storage that gives bytes back instead of freeing them: as sb_storage_wrap, but the totals leave it out,
 * because somebody else counts the bytes.
 *
 *   base  NULL, or the storage whose bytes they are, which context keeps as long as this one lives */
sb_status sb__storage_lend(void *data, size_t nbytes, sb_storage *base, sb_deleter give_back,
                           void *context, sb_storage **out);

/* SB_ERR_IO where a guarded mapping's bytes are gone. */
sb_status sb__check_intact(const sb_storage *storage);

typedef struct sb__storage_totals {
  int64_t storages, heap_bytes, foreign_bytes, mapped_bytes, pinned_bytes, cuda_bytes;
} sb__storage_totals;
sb__storage_totals sb__storage_totals_now(void); /* alive in this process (this module in WASM) */

/* interop/dlpack.c: the storage that a managed struct holds; NULL: it was not made here, or has no elements. */
sb_storage *sb__dlpack_storage(bool versioned, void *managed);

/* dtype.c */
bool sb__dtype_is_valid(int64_t dtype);

/* tensor.c: checks what a caller filled in (storage, dtype, ndim, flags, offset, shape, strides; the dtype
 * is valid) and completes the rest in place. */
sb_status sb__tensor_finish(sb_tensor *t);

/* A layout without a storage, of strides that are not negative, and how many elements a storage needs for it. */
sb_status sb__strided(sb_dtype dtype, int32_t ndim, const int64_t *shape, const int64_t *strides,
                      sb_tensor *out, int64_t *elements);

/* tensor.c: gives a layout without bytes a heap storage of its own, of so many uninitialised elements. */
sb_status sb__tensor_allocate(sb_tensor *t, int64_t elements);

/* tensor.c: a tensor whose elements will be touched has a storage, wherever that is. */
sb_status sb__check_storage(const char *name, const sb_tensor *t);

/* tensor.c: and the CPU may touch it. */
sb_status sb__check_bytes(const char *name, const sb_tensor *t);

/* layout.c */
sb_status sb__check_shape(int64_t ndim, const int64_t *shape, int64_t *numel);
sb_status sb__dense_strides(int32_t ndim, const int64_t *shape, int64_t *strides);
sb_status sb__check_axis(const char *name, int64_t axis, int32_t ndim, int32_t *out);

/* Lowest and highest element that a layout reaches, relative to its offset. False if it overflows.
 * Without elements both are 0. */
bool sb__extent(const sb_tensor *t, int64_t *lowest, int64_t *highest);

/* Every element lies inside the storage (which may be NULL: then only the maths is checked). */
sb_status sb__check_extent(const sb_tensor *t);

/* order.c: strides fall in the order of the axes that dim_order names; axes of size 1 have no say. */
sb_status sb__check_dim_order(int32_t ndim, const int64_t *shape, const int64_t *strides,
                              const int64_t *dim_order);

/* All elements of view lie between the first and the last one, in memory, of t; both on one storage and of
 * one dtype. */
sb_status sb__check_within(const sb_tensor *view, const sb_tensor *t);

/* overlap.c: t may be written to, and each of its bytes belongs to one element. */
sb_status sb__check_target_anywhere(const sb_tensor *t);

/* The same, by the CPU. */
sb_status sb__check_target(const sb_tensor *t);

/* "[2, 3]" for messages; text is returned. */
const char *sb__shape_text(int32_t ndim, const int64_t *shape, char text[128]);

#ifndef NDEBUG
bool sb__tensor_is_valid(const sb_tensor *t);
#endif

#endif
