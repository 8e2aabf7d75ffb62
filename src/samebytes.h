/* samebytes: one block of bytes, shared by everyone who needs it.
 *
 * A storage is bytes: where they are, how many, who frees them. A tensor is a layout over a storage:
 * dtype, shape, strides, offset. Shapes, strides, offsets and capacities count elements; names of byte
 * counts say so (nbytes, itemsize).
 *
 * Functions that can fail return sb_status, and leave their results untouched on failure; sb_error_message()
 * on the same thread has the reason in words. All others cannot fail. Nothing in here aborts.
 *
 * Ownership: inputs are borrowed for the call. An sb_tensor is a value: copying it borrows, and only
 * sb_tensor_retain makes it hold its storage. Views take no reference.
 *
 * A process may have several copies of these functions: one per copy of the npm package's addon, and libsamebytes. A
 * storage belongs to the copy that made it, and may be passed to that copy's functions only. Node addons get tensors
 * from JavaScript, together with the functions to use, through samebytes_napi.h; other programs link libsamebytes.
 *
 * Threads: storages may be shared between threads (their count is atomic); two threads may not change one
 * sb_tensor at the same time. */
#ifndef SAMEBYTES_H
#define SAMEBYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
# define SB_API
#elif defined(__GNUC__)
# define SB_API __attribute__((visibility("default")))
#else
# define SB_API
#endif

#if defined(__GNUC__)
# define SB_CHECKED __attribute__((warn_unused_result))
#else
# define SB_CHECKED
#endif

#define SB_VERSION "0.1.0"
#define SB_ABI 1        /* first field of sb_tensor; changes when its fields do */
#define SB_MAX_DIMS 64  /* what NumPy 2 can make */
#define SB_ALIGNMENT 64 /* bytes; every storage made here starts at a multiple of it */

/* ---- Errors ---- */

/* code, JavaScript class, meaning. JavaScript's codes are "ERR_" + code. New ones come last: numbers stay. */
#define SB_ERRORS(X)                                                        \
 X(ARGUMENT, TypeError, "an argument is of the wrong kind")                 \
 X(SHAPE, RangeError, "shapes, ranks or counts do not fit")                 \
 X(DTYPE, TypeError, "the dtype is not accepted here")                      \
 X(BOUNDS, RangeError, "an index or an extent is outside")                  \
 X(CAST, TypeError, "a value or a dtype cannot be cast as asked")           \
 X(DISPOSED, SamebytesError, "the tensor was disposed")                     \
 X(DETACHED, SamebytesError, "the bytes were transferred away or shrunk")   \
 X(STALE, SamebytesError, "the handle or token is not alive")               \
 X(BUSY, SamebytesError, "the bytes are in use by a pending operation")     \
 X(READ_ONLY, SamebytesError, "the bytes are read-only")                    \
 X(ALIGNMENT, RangeError, "the address is not a multiple of the item size") \
 X(OVERLAP, SamebytesError, "two elements of the target share a byte")      \
 X(MEMORY, RangeError, "memory could not be obtained")                      \
 X(DEVICE, SamebytesError, "there is no such device")                       \
 X(UNSUPPORTED, SamebytesError, "this back end cannot do it")               \
 X(FORMAT, SamebytesError, "the bytes are not what they should be")         \
 X(NOT_FOUND, SamebytesError, "there is nothing of that name")              \
 X(MODEL, SamebytesError, "a model could not be run")                       \
 X(IO, SamebytesError, "the system could not read, write or map a file")    \
 X(EXISTS, SamebytesError, "there is something of that name already")       \
 X(CUDA_CONTEXT_LOST, SamebytesError, "CUDA failed for good in this process")

typedef enum sb_status {
  SB_OK = 0,
#define X(code, class, meaning) SB_ERR_##code,
  SB_ERRORS(X)
#undef X
} sb_status;

/* "SHAPE" for SB_ERR_SHAPE; "OK" for SB_OK; "?" for a number that is no status. Static, never freed. */
SB_API const char *sb_status_name(sb_status status);

/* Says in words why the last call on this thread failed: argument, what was given, what was expected.
 * The text stays until the next failure on this thread. */
SB_API const char *sb_error_message(void);

/* ---- dtypes ---- */

/* constant, tag, public name, stored type, kind.
 * Complex numbers are stored as (re, im) pairs; float16, bfloat16 and float8 as their bits. */
#define SB_DTYPES(X)                                          \
 X(BOOL, b1, "bool", uint8_t, BOOLEAN)                        \
 X(UINT8, u8, "uint8", uint8_t, UNSIGNED)                     \
 X(INT8, i8, "int8", int8_t, SIGNED)                          \
 X(INT16, i16, "int16", int16_t, SIGNED)                      \
 X(UINT16, u16, "uint16", uint16_t, UNSIGNED)                 \
 X(INT32, i32, "int32", int32_t, SIGNED)                      \
 X(UINT32, u32, "uint32", uint32_t, UNSIGNED)                 \
 X(INT64, i64, "int64", int64_t, SIGNED)                      \
 X(UINT64, u64, "uint64", uint64_t, UNSIGNED)                 \
 X(FLOAT16, f16, "float16", uint16_t, FLOATING)               \
 X(BFLOAT16, bf16, "bfloat16", uint16_t, FLOATING)            \
 X(FLOAT32, f32, "float32", float, FLOATING)                  \
 X(FLOAT64, f64, "float64", double, FLOATING)                 \
 X(COMPLEX64, c64, "complex64", sb_complex64, COMPLEX)        \
 X(COMPLEX128, c128, "complex128", sb_complex128, COMPLEX)    \
 X(FLOAT8_E4M3FN, f8e4m3, "float8_e4m3fn", uint8_t, FLOATING) \
 X(FLOAT8_E5M2, f8e5m2, "float8_e5m2", uint8_t, FLOATING)

typedef struct sb_complex64 {
  float re, im;
} sb_complex64;

typedef struct sb_complex128 {
  double re, im;
} sb_complex128;

typedef enum sb_dtype {
#define X(constant, tag, name, type, kind) SB_##constant,
  SB_DTYPES(X)
#undef X
      SB_DTYPE_COUNT
} sb_dtype;

typedef enum sb_kind { SB_BOOLEAN, SB_UNSIGNED, SB_SIGNED, SB_FLOATING, SB_COMPLEX } sb_kind;

/* How far a cast between dtypes may go. */
typedef enum sb_casting {
  SB_CASTING_SAFE,      /* no value can change */
  SB_CASTING_SAME_KIND, /* also narrower floats, and any integer to any integer (wraps) */
  SB_CASTING_UNSAFE,    /* anything: float to integer truncates and saturates, NaN becomes 0 */
} sb_casting;

/* The name in the API ("float32"); "?" for a number that is no dtype. Static, never freed. */
SB_API const char *sb_dtype_name(sb_dtype dtype);

/* Bytes of one element; 0 for a number that is no dtype. */
SB_API int64_t sb_dtype_itemsize(sb_dtype dtype);

/* Bytes that an element's address must be a multiple of: the item size, but half of it for complex. */
SB_API int64_t sb_dtype_alignment(sb_dtype dtype);

/* The kind of numbers that a dtype holds; SB_BOOLEAN for a number that is no dtype. */
SB_API sb_kind sb_dtype_kind(sb_dtype dtype);

/* Says whether a cast from one dtype to another is allowed under a casting rule.
 *
 * Source  array API `can_cast`, with the levels of NumPy's `casting`; safe is strict here: no value
 *         of `from` may change, so int64 → float64 is same_kind */
SB_API bool sb_can_cast(sb_dtype from, sb_dtype to, sb_casting casting);

/* The promoted dtype of two dtypes: the smallest one of the higher kind that holds both.
 *
 *   out  bool and anything give the other; an integer and a float (or complex) give the latter, whatever
 *        their sizes; uint64 and a signed integer give float64; float16 and bfloat16 give float32; the two
 *        float8 give float16, and a float8 and another float the other
 *
 * Errors  SB_ERR_DTYPE a or b is no dtype
 * Source  array API `result_type`; NumPy for uint64 with signed integers, PyTorch for integers with floats */
SB_CHECKED SB_API sb_status sb_promote_types(sb_dtype a, sb_dtype b, sb_dtype *out);

/* The range and precision of a floating dtype; of a complex one, of its parts. */
typedef struct sb_float_info {
  double eps;             /* from 1 to the next larger number */
  double max;             /* the largest finite number */
  double smallest_normal; /* the smallest positive number of full precision */
} sb_float_info;

/* The range and precision of a floating or complex dtype.
 *
 * Errors  SB_ERR_DTYPE another kind
 * Source  array API `finfo` */
SB_CHECKED SB_API sb_status sb_finfo(sb_dtype dtype, sb_float_info *out);

/* ---- Storages ---- */

typedef struct sb_storage sb_storage; /* counted; the count is atomic */

/* Frees wrapped memory: called once, on whatever thread dropped the last reference, with the address
 * and the context given to sb_storage_wrap. It may drop other storages, but must call nothing else in here. */
typedef void (*sb_deleter)(void *data, void *context);

/* Makes a storage of uninitialised bytes on the native heap.
 *
 *   nbytes  0 is allowed: data is then NULL
 *   out     a new storage; the caller owns its one reference
 *
 * Errors  SB_ERR_MEMORY
 * Source  LibTorch `Storage` */
SB_CHECKED SB_API sb_status sb_storage_new(size_t nbytes, sb_storage **out);

/* Makes a storage over memory that was allocated elsewhere.
 *
 *   data     taken over on success (freed by deleter); untouched on failure
 *   nbytes   how many bytes may be read and written there
 *   deleter  NULL: the caller promises to keep data alive as long as the storage
 *   out      a new storage; the caller owns its one reference
 *
 * Errors  SB_ERR_ARGUMENT data is NULL with nbytes > 0 · SB_ERR_MEMORY
 * Source  LibTorch `DataPtr` with its deleter */
SB_CHECKED SB_API sb_status sb_storage_wrap(void *data, size_t nbytes, sb_deleter deleter,
                                            void *context, sb_storage **out);

/* Takes a reference. Returns its argument; NULL is allowed. Any thread. */
SB_API sb_storage *sb_storage_ref(sb_storage *storage);

/* Drops a reference, and sets the pointer NULL; the last one frees the bytes. NULL is allowed. Any thread. */
SB_API void sb_storage_unref(sb_storage **storage);

/* Address of the first byte: of a new storage, a multiple of SB_ALIGNMENT; NULL without bytes. Valid as
 * long as somebody holds the storage. */
SB_API void *sb_storage_data(const sb_storage *storage);

/* Number of bytes; the storage is not NULL. */
SB_API size_t sb_storage_nbytes(const sb_storage *storage);

/* ---- Tensors ---- */

typedef enum sb_dynamism { SB_STATIC, SB_BOUNDED, SB_UNBOUND } sb_dynamism;

/* Layout over a storage: a value. Embed it, keep it on the stack; pass it by pointer. */
typedef struct sb_tensor {
  uint32_t abi;                 /* SB_ABI */
  uint32_t struct_size;         /* bytes: sizeof(sb_tensor) where it was filled */
  sb_storage *storage;          /* NULL: no bytes yet; held only after sb_tensor_retain */
  sb_dtype dtype;               /* what one element is */
  int32_t ndim;                 /* 0 … SB_MAX_DIMS */
  int32_t dynamism;             /* sb_dynamism: may it be resized, and how far */
  uint32_t flags;               /* SB_READ_ONLY or 0 */
  int64_t offset;               /* elements from the storage's first byte */
  int64_t capacity;             /* elements that a resize may reach in place */
  int64_t shape[SB_MAX_DIMS];   /* elements; entries from ndim on are not read */
  int64_t strides[SB_MAX_DIMS]; /* elements; 0 repeats, negative walks back */
} sb_tensor;

#define SB_READ_ONLY 1u /* sb_tensor.flags: writers refuse it, views inherit it */

/* Describes bytes as a tensor.
 *
 *   storage  borrowed; NULL for a layout that has no bytes yet
 *   strides  ndim of them, or NULL for row-major
 *   offset   elements from the storage's first byte
 *   out      a view; no reference taken
 *
 * Errors  SB_ERR_DTYPE · SB_ERR_SHAPE ndim or an extent is negative, or too large · SB_ERR_BOUNDS an
 *         element would lie outside the storage · SB_ERR_ALIGNMENT
 * Notes   strides of axes of size 1, and all strides without elements, are normalised to the dense
 *         value */
SB_CHECKED SB_API sb_status sb_tensor_init(sb_storage *storage, sb_dtype dtype, int32_t ndim,
                                           const int64_t *shape, const int64_t *strides,
                                           int64_t offset, sb_tensor *out);

/* Makes a row-major tensor of uninitialised elements with a storage of its own.
 *
 *   out     holds the storage's one reference; sb_tensor_release drops it. It is bounded: for another
 *           dynamism, assign that field
 *
 * Errors  SB_ERR_DTYPE · SB_ERR_SHAPE · SB_ERR_MEMORY
 * Notes   for zeros, ones and the like, call sb_fill next; for evenly spaced numbers sb_arange or
 *         sb_linspace; for random ones sb_uniform, sb_normal or sb_randint */
SB_CHECKED SB_API sb_status sb_tensor_empty(sb_dtype dtype, int32_t ndim, const int64_t *shape,
                                            sb_tensor *out);

/* The same with any strides that are not negative. The storage ends with the last element that they
 * reach; strides of 0, and others by which elements share bytes, are allowed.
 *
 *   strides  ndim of them
 *
 * Errors  as sb_tensor_empty · SB_ERR_BOUNDS a stride is negative, or the last element lies beyond 64 bits
 * Source  PyTorch `empty_strided` */
SB_CHECKED SB_API sb_status sb_tensor_empty_strided(sb_dtype dtype, int32_t ndim,
                                                    const int64_t *shape, const int64_t *strides,
                                                    sb_tensor *out);

/* The same with t's shape, without gaps, its axes in the same order of storage.
 *
 * Errors  as sb_tensor_empty
 * Source  PyTorch `empty_like` with preserve_format */
SB_CHECKED SB_API sb_status sb_tensor_empty_like(const sb_tensor *t, sb_dtype dtype,
                                                 sb_tensor *out);

/* Describes memory that was allocated elsewhere as a tensor: sb_storage_wrap and sb_tensor_init in one. For
 * negative strides, which need another offset, call these two.
 *
 *   data     its first element; taken over on success only (freed by deleter)
 *   nbytes   how many bytes may be read and written from there on
 *   strides  ndim of them, in elements, or NULL for row-major
 *   deleter  NULL: the caller promises to keep data alive as long as the storage
 *   out      holds the storage's one reference; sb_tensor_release drops it
 *
 * Errors  as sb_storage_wrap and sb_tensor_init; the deleter does not run then
 * Source  ExecuTorch `make_tensor_ptr` and `from_blob`, LibTorch `from_blob` */
SB_CHECKED SB_API sb_status sb_tensor_from_blob(void *data, size_t nbytes, sb_dtype dtype,
                                                int32_t ndim, const int64_t *shape,
                                                const int64_t *strides, sb_deleter deleter,
                                                void *context, sb_tensor *out);

/* Makes a row-major tensor with a storage of its own from typed values.
 *
 *   from    what values is an array of
 *   values  count of them, in row-major order, aligned for their type; borrowed, and copied
 *   count   exactly the elements of the shape
 *   dtype   what they are cast to; may be from
 *   out     holds the storage's one reference
 *
 * Errors  SB_ERR_SHAPE another count · SB_ERR_CAST the rule forbids the cast, also of no elements ·
 *         SB_ERR_ARGUMENT values is NULL · SB_ERR_ALIGNMENT · SB_ERR_DTYPE · SB_ERR_MEMORY
 * Source  ExecuTorch `make_tensor_ptr(sizes, data, …, type)` */
SB_CHECKED SB_API sb_status sb_tensor_from_values(sb_dtype from, const void *values, int64_t count,
                                                  sb_dtype dtype, int32_t ndim,
                                                  const int64_t *shape, sb_casting casting,
                                                  sb_tensor *out);

/* Makes a row-major tensor with a storage of its own from the bytes of its elements; no value is converted.
 *
 *   bytes   nbytes of them, in the host's byte order, at any address; borrowed, and copied
 *   nbytes  exactly those of the shape's elements
 *   out     holds the storage's one reference
 *
 * Errors  SB_ERR_SHAPE another count · SB_ERR_ARGUMENT bytes is NULL · SB_ERR_DTYPE · SB_ERR_MEMORY
 * Source  ExecuTorch `make_tensor_ptr(sizes, std::vector<uint8_t>, …)` */
SB_CHECKED SB_API sb_status sb_tensor_from_bytes(const void *bytes, size_t nbytes, sb_dtype dtype,
                                                 int32_t ndim, const int64_t *shape,
                                                 sb_tensor *out);

/* Copies a tensor into a storage of its own, its axes in the same order of storage, its dynamism kept.
 *
 *   dtype   what the elements are cast to; may be t's
 *   out     holds the storage's one reference; not t
 *
 * Errors  SB_ERR_CAST the rule forbids the cast, also of no elements · SB_ERR_ARGUMENT t has no bytes ·
 *         SB_ERR_DTYPE · SB_ERR_MEMORY
 * Source  ExecuTorch `clone_tensor_ptr`, PyTorch `clone` */
SB_CHECKED SB_API sb_status sb_clone(const sb_tensor *t, sb_dtype dtype, sb_casting casting,
                                     sb_tensor *out);

/* Resizes a tensor that holds its storage, as sb_resize does, and where an unbound one needs more than it has,
 * moves it to a new storage with all that it had room for, in the order in which it lay.
 *
 *   t       its reference goes over to the new storage; views of it that hold none have lost their bytes then
 *
 * Errors  as sb_resize, also for wrapped memory, which is not ours to grow · SB_ERR_MEMORY; t is unchanged
 * Source  ExecuTorch `resize_tensor_ptr` */
SB_CHECKED SB_API sb_status sb_tensor_resize(sb_tensor *t, int32_t ndim, const int64_t *shape);

/* Address of one element, with bounds checked.
 *
 *   dtype   must be t's, also where another one has the same width
 *   index   t's ndim entries; negative counts from the end
 *
 * Returns NULL for an index outside, another dtype, or a tensor without bytes
 * Source  PyTorch `accessor`, ExecuTorch `make_tensor_accessor` */
static inline void *sb_at(const sb_tensor *t, sb_dtype dtype, const int64_t *index) {
  int64_t at = t->offset;
  if (dtype != t->dtype || !t->storage) return NULL;
  for (int32_t d = 0; d < t->ndim; d++) {
    const int64_t i = index[d] < 0 ? index[d] + t->shape[d] : index[d];
    if (i < 0 || i >= t->shape[d]) return NULL;
    at += i * t->strides[d];
  }
  return (char *)sb_storage_data(t->storage) + at * sb_dtype_itemsize(dtype);
}

/* Copies a tensor's fields, and ndim entries of shape and strides. Takes no reference.
 *
 *   out  may be t; the storage it held before is not dropped */
SB_API void sb_tensor_copy_layout(const sb_tensor *t, sb_tensor *out);

/* Makes t hold a reference to its storage; sb_tensor_release drops it. t may have no bytes. */
SB_API void sb_tensor_retain(sb_tensor *t);

/* Drops the reference that t holds, and sets its storage NULL; a second call does nothing. */
SB_API void sb_tensor_release(sb_tensor *t);

/* Number of elements: 1 without axes.
 *
 * Source  PyTorch `numel` */
SB_API int64_t sb_tensor_numel(const sb_tensor *t);

/* Bytes of the elements, not of the storage.
 *
 * Source  NumPy `nbytes` */
SB_API int64_t sb_tensor_nbytes(const sb_tensor *t);

/* Address of the first element; NULL without bytes or without elements. Valid as long as somebody holds the
 * storage.
 *
 * Source  PyTorch `data_ptr` */
SB_API void *sb_tensor_data(const sb_tensor *t);

/* True if t is row-major without gaps; axes of size 1 are ignored; true without elements.
 *
 * Source  PyTorch `is_contiguous` */
SB_API bool sb_is_contiguous(const sb_tensor *t);

/* Tests whether elements of a and b share a byte, by address.
 *
 *   out     true if so
 *
 * Errors  SB_ERR_MEMORY (interleaved layouts need one bit per byte of the common range)
 * Cost    constant for layouts without gaps, else one pass over both
 * Source  NumPy `shares_memory` */
SB_CHECKED SB_API sb_status sb_shares_memory(const sb_tensor *a, const sb_tensor *b, bool *out);

/* A hash of a tensor's content: equal for equal elements in the same logical order, whatever the strides and the
 * shape; where a bit of an element differs, different except by chance (2^-64).
 *
 * Bits    the same on every back end; other versions may give others
 * Errors  SB_ERR_ARGUMENT t has elements and no bytes
 * Cost    one pass over t */
SB_CHECKED SB_API sb_status sb_hash(const sb_tensor *t, uint64_t *out);

/* Tests whether two elements of t share a byte (a zero stride, overlapping windows).
 *
 * Errors  SB_ERR_MEMORY, as in sb_shares_memory */
SB_CHECKED SB_API sb_status sb_overlaps_itself(const sb_tensor *t, bool *out);

/* ---- Views: no byte moves, out borrows t's storage and may be t itself ---- */

/* Reorders dimensions: dimension d of out is dimension order[d] of t.
 *
 *   order   ndim axes of t, each once; negative counts from the end
 *
 * Errors  SB_ERR_SHAPE ndim differs from t's · SB_ERR_BOUNDS an axis is outside or repeated
 * Source  array API `permute_dims` */
SB_CHECKED SB_API sb_status sb_permute(const sb_tensor *t, int32_t ndim, const int64_t *order,
                                       sb_tensor *out);

/* Swaps two axes; negative counts from the end.
 *
 * Errors  SB_ERR_BOUNDS an axis is outside
 * Source  PyTorch `transpose` */
SB_CHECKED SB_API sb_status sb_transpose(const sb_tensor *t, int64_t a, int64_t b, sb_tensor *out);

/* Takes index along axis and drops the axis; negative counts from the end.
 *
 * Errors  SB_ERR_BOUNDS axis or index outside
 * Source  PyTorch `select` */
SB_CHECKED SB_API sb_status sb_select(const sb_tensor *t, int64_t axis, int64_t index,
                                      sb_tensor *out);

/* Keeps length elements from start on along axis; negative axis and start count from the end.
 *
 * Errors  SB_ERR_BOUNDS axis, start or length outside
 * Source  PyTorch `narrow` */
SB_CHECKED SB_API sb_status sb_narrow(const sb_tensor *t, int64_t axis, int64_t start,
                                      int64_t length, sb_tensor *out);

typedef enum sb_slice_kind {
  SB_SLICE_INDEX,    /* start: takes one index and drops the axis */
  SB_SLICE_RANGE,    /* start, stop, step as in Python; clamped to the axis */
  SB_SLICE_NEW_AXIS, /* inserts an axis of size 1 */
  SB_SLICE_ELLIPSIS, /* all axes that the others leave; once at most */
} sb_slice_kind;

#define SB_SLICE_HAS_START 1
#define SB_SLICE_HAS_STOP 2

typedef struct sb_slice_spec {
  int64_t kind;  /* sb_slice_kind */
  int64_t given; /* SB_SLICE_HAS_START | SB_SLICE_HAS_STOP; what is missing runs to the end */
  int64_t start; /* elements along the axis; negative counts from its end */
  int64_t stop;  /* exclusive */
  int64_t step;  /* not 0; negative walks back */
} sb_slice_spec;

/* Python's basic indexing.
 *
 *   specs   one per axis, from the first; axes beyond them are kept whole
 *
 * Errors  SB_ERR_SHAPE more specs than axes, two ellipses, or more than SB_MAX_DIMS axes ·
 *         SB_ERR_BOUNDS an index is outside · SB_ERR_ARGUMENT step 0 or an unknown kind
 * Source  array API, basic indexing */
SB_CHECKED SB_API sb_status sb_slice(const sb_tensor *t, int32_t count, const sb_slice_spec *specs,
                                     sb_tensor *out);

/* Changes the shape; elements keep their logical order.
 *
 *   shape   ndim extents; one of them may be -1: inferred
 *   viewed  may be NULL. Set to whether a view could keep the order. If it could not, and viewed is
 *           given, out is a row-major layout of that shape without a storage, for a copy
 *
 * Errors  SB_ERR_SHAPE the counts differ, two -1, a negative extent, or (without viewed) the order
 *         cannot be kept
 * Source  PyTorch `view` and `reshape` */
SB_CHECKED SB_API sb_status sb_reshape(const sb_tensor *t, int32_t ndim, const int64_t *shape,
                                       sb_tensor *out, bool *viewed);

/* Shows windows along axis: the axis becomes their number, and a last axis of extent size is added.
 *
 *   size    elements in a window, 0 … extent
 *   step    elements from one window to the next, at least 1; smaller than size: windows overlap
 *
 * Errors  SB_ERR_BOUNDS · SB_ERR_SHAPE SB_MAX_DIMS reached
 * Source  PyTorch `unfold` */
SB_CHECKED SB_API sb_status sb_unfold(const sb_tensor *t, int64_t axis, int64_t size, int64_t step,
                                      sb_tensor *out);

/* Reads the same bytes as another dtype. The last axis is scaled by the ratio of the item sizes.
 *
 * Errors  SB_ERR_DTYPE · SB_ERR_SHAPE the last axis is not dense, or bytes do not divide ·
 *         SB_ERR_ALIGNMENT
 * Source  PyTorch `view(dtype)` */
SB_CHECKED SB_API sb_status sb_view_dtype(const sb_tensor *t, sb_dtype dtype, sb_tensor *out);

/* Shows t's storage with any layout that stays inside it.
 *
 *   strides  ndim of them, or NULL for row-major
 *   offset   elements from the storage's first byte
 *
 * Errors  as sb_tensor_init
 * Source  PyTorch `as_strided` */
SB_CHECKED SB_API sb_status sb_as_strided(const sb_tensor *t, int32_t ndim, const int64_t *shape,
                                          const int64_t *strides, int64_t offset, sb_tensor *out);

/* Walks axes backwards.
 *
 *   count   how many axes are given; -1: all are meant, and axes is not read
 *   axes    each once; negative counts from the end
 *
 * Errors  SB_ERR_BOUNDS an axis is outside or repeated
 * Source  array API `flip` */
SB_CHECKED SB_API sb_status sb_flip(const sb_tensor *t, int32_t count, const int64_t *axes,
                                    sb_tensor *out);

/* Shows the elements whose indices along two axes differ by offset: drops both axes, and adds a last one.
 *
 *   offset  elements to the right of the main diagonal (of axis2's index over axis1's); negative: below
 *
 * Errors  SB_ERR_BOUNDS an axis is outside, or both are the same
 * Source  PyTorch `diagonal` */
SB_CHECKED SB_API sb_status sb_diagonal(const sb_tensor *t, int64_t offset, int64_t axis1,
                                        int64_t axis2, sb_tensor *out);

/* Drops axes of one element.
 *
 *   count   how many axes are given; -1: all of one element, and axes is not read
 *   axes    each once; negative counts from the end
 *
 * Errors  SB_ERR_BOUNDS an axis is outside or repeated · SB_ERR_SHAPE one has not one element
 * Source  array API `squeeze` */
SB_CHECKED SB_API sb_status sb_squeeze(const sb_tensor *t, int32_t count, const int64_t *axes,
                                       sb_tensor *out);

/* Inserts an axis of one element.
 *
 *   axis    where it will stand; negative counts from the end of the result
 *
 * Errors  SB_ERR_BOUNDS · SB_ERR_SHAPE SB_MAX_DIMS reached
 * Source  array API `expand_dims`, PyTorch `unsqueeze` */
SB_CHECKED SB_API sb_status sb_unsqueeze(const sb_tensor *t, int64_t axis, sb_tensor *out);

/* Repeats axes of extent 1 (stride 0) and adds leading ones until t has the shape.
 *
 *   shape   -1 keeps the extent of one of t's axes
 *
 * Errors  SB_ERR_SHAPE an extent fits neither 1 nor the one asked for
 * Source  array API `broadcast_to`, PyTorch `expand` */
SB_CHECKED SB_API sb_status sb_broadcast_to(const sb_tensor *t, int32_t ndim, const int64_t *shape,
                                            sb_tensor *out);

/* Dense strides for a shape whose axes are stored in the given order, outermost first.
 *
 *   order    ndim axes, each once, not negative
 *   strides  written: ndim of them, in elements; an extent of 0 counts as 1
 *
 * Errors  SB_ERR_SHAPE order is not a permutation, or the strides overflow
 * Source  ExecuTorch `dim_order` */
SB_CHECKED SB_API sb_status sb_dim_order_strides(int32_t ndim, const int64_t *shape,
                                                 const int64_t *order, int64_t *strides);

/* The axes from outermost to innermost in memory: by falling stride; axes of equal strides or of one element
 * keep their place. Since axes of one element do not matter, a layout that fits channels last (4 or 5 axes) and
 * not row-major is channels last. Without elements the order is row-major.
 *
 *   order   written: t's ndim axes
 *
 * Source  ExecuTorch `dim_order` */
SB_API void sb_dim_order(const sb_tensor *t, int64_t *order);

/* True if t has no gaps when its axes are walked in an order, outermost first; axes of one element are ignored;
 * true without elements. {0, 2, 3, 1} is PyTorch's channels_last.
 *
 *   order   t's ndim axes, each once, not negative
 *
 * Source  PyTorch `is_contiguous(memory_format)` */
SB_API bool sb_is_contiguous_in(const sb_tensor *t, const int64_t *order);

/* A layout without gaps and without bytes, of t's shape and with its axes in the same order of storage,
 * for a copy of t.
 *
 * Errors  SB_ERR_DTYPE · SB_ERR_SHAPE
 * Source  PyTorch `empty_like` with preserve_format */
SB_CHECKED SB_API sb_status sb_dense_like(const sb_tensor *t, sb_dtype dtype, sb_tensor *out);

/* Gives t another shape over the same bytes: rank and order of axes stay, no byte moves. Shrunk elements
 * are still there when it grows again.
 *
 *   shape     t's ndim extents
 *   order     t's axes from outermost to innermost, or NULL: that of sb_dim_order. Pass the order where axes had
 *             one or no element in between: strides do not tell it then
 *   out       may be t; its capacity is t's
 *   outgrown  may be NULL. Set to whether an unbound t is too small. If it is, out is a layout without a
 *             storage, for the caller to allocate and to copy t's elements into
 *
 * Errors  SB_ERR_SHAPE another rank, t is static, has gaps in that order, or is too small (and not
 *         unbound, or outgrown is NULL); order is no permutation
 * Source  ExecuTorch `resize_tensor` */
SB_CHECKED SB_API sb_status sb_resize(const sb_tensor *t, int32_t ndim, const int64_t *shape,
                                      const int64_t *order, sb_tensor *out, bool *outgrown);

/* Makes t show a source's bytes, from its first element, with t's own shape and strides. Takes no reference
 * and drops none: a t that holds its storage must be released before, and retained after.
 *
 *   source  contiguous, of t's dtype, with at least the elements that t reaches
 *
 * Errors  SB_ERR_DTYPE · SB_ERR_SHAPE the source has gaps · SB_ERR_BOUNDS it is too small
 * Source  PyTorch `set_data`, ExecuTorch `set_data` */
SB_CHECKED SB_API sb_status sb_set_data(sb_tensor *t, const sb_tensor *source);

/* ---- Elements ---- */

/* One value, and its type. */
typedef struct sb_scalar {
  enum { SB_SCALAR_BOOL, SB_SCALAR_INT, SB_SCALAR_UINT, SB_SCALAR_REAL, SB_SCALAR_COMPLEX } kind;
  union {
    int64_t i;       /* SB_SCALAR_BOOL (0 or 1), SB_SCALAR_INT */
    uint64_t u;      /* SB_SCALAR_UINT: beyond INT64_MAX */
    double real;     /* SB_SCALAR_REAL */
    sb_complex128 c; /* SB_SCALAR_COMPLEX */
  } as;
} sb_scalar;

/* Copies src into dst, broadcast and cast.
 *
 *   dst      any strides; no two elements may share a byte
 *   src      any strides; may overlap dst: the result is as if it had been copied away first
 *   staged   may be NULL; bytes of a temporary copy that overlap made necessary are added to it
 *
 * Bits    equal dtypes copy bits, NaN payloads included; casts yield the canonical NaN, round to
 *         nearest, ties to even; a bool byte other than 0 and 1 reads as true
 * Errors  SB_ERR_SHAPE · SB_ERR_CAST the rule forbids it · SB_ERR_OVERLAP · SB_ERR_READ_ONLY ·
 *         SB_ERR_ARGUMENT a side has no bytes · SB_ERR_MEMORY
 * Source  NumPy `copyto`, PyTorch `copy_` */
SB_CHECKED SB_API sb_status sb_copy(const sb_tensor *dst, const sb_tensor *src, sb_casting casting,
                                    int64_t *staged);

/* Copies src * scale + bias into dst.
 *
 *   scale   float64: no axis (one factor) or one axis with one factor per index of dst's axis
 *   bias    likewise; neither may overlap dst
 *   axis    of dst; negative counts from the end; not read where both are single values
 *
 * Bits    computed in float64 if either side is float64 or a 64-bit integer, else in float32;
 *         the product is rounded, then the sum; then cast to dst
 * Errors  as sb_copy, with float → dst judged by casting · SB_ERR_DTYPE complex, or a factor that
 *         is not float64 */
SB_CHECKED SB_API sb_status sb_copy_scaled(const sb_tensor *dst, const sb_tensor *src,
                                           const sb_tensor *scale, const sb_tensor *bias,
                                           int64_t axis, sb_casting casting, int64_t *staged);

/* Copies values, each of which dst's dtype must be able to represent: 0.1 → float32 rounds, but 1.5 → int32,
 * 300 → uint8 and 1e39 → float32 fail.
 *
 *   src     bool, int64, uint64, float64 or complex128 with dst's shape
 *
 * Errors  SB_ERR_CAST names the first value that does not fit; dst may be partly written ·
 *         otherwise as sb_copy */
SB_CHECKED SB_API sb_status sb_copy_values(const sb_tensor *dst, const sb_tensor *src);

/* Writes one value to every element. The value must fit the dtype, as in sb_copy_values.
 *
 * Errors  SB_ERR_CAST (also without elements) · SB_ERR_READ_ONLY
 * Source  PyTorch `fill_` */
SB_CHECKED SB_API sb_status sb_fill(const sb_tensor *t, const sb_scalar *value);

/* Writes start, start + step, start + 2 * step, … to t's elements in row-major order.
 *
 *   t            any strides
 *   start, step  bool, int, uint or real
 *
 * Bits    integer dtypes and bool: exact. Others: in float64, the product i * step rounded, then the sum,
 *         then the cast to t's dtype
 * Errors  SB_ERR_CAST a value does not fit t's dtype, as in sb_copy_values; nothing was written ·
 *         SB_ERR_ARGUMENT a complex one · SB_ERR_BOUNDS one is not finite · SB_ERR_OVERLAP ·
 *         SB_ERR_READ_ONLY · SB_ERR_MEMORY (as in sb_overlaps_itself)
 * Source  array API `arange` */
SB_CHECKED SB_API sb_status sb_arange(const sb_tensor *t, const sb_scalar *start,
                                      const sb_scalar *step);

/* Writes evenly spaced numbers from start on to t's elements in row-major order.
 *
 *   t         any dtype but bool, any strides
 *   endpoint  true: the last one is exactly stop; false: one more step would reach it
 *
 * Bits    in float64: i * step rounded, then + start, step being (stop - start) / (elements - 1), without the
 *         end point / elements; then the cast to t's dtype, for an integer dtype the next integer below
 * Errors  SB_ERR_CAST a value does not fit t's dtype; nothing was written · SB_ERR_DTYPE bool ·
 *         SB_ERR_BOUNDS start, stop or stop - start is not finite · SB_ERR_OVERLAP · SB_ERR_READ_ONLY ·
 *         SB_ERR_MEMORY
 * Source  array API and NumPy `linspace` */
SB_CHECKED SB_API sb_status sb_linspace(const sb_tensor *t, double start, double stop,
                                        bool endpoint);

/* Takes elements along an axis by their indices.
 *
 *   indices  one axis, any integer dtype; negative counts from the end; all are read before dst is written
 *   axis     of t; negative counts from the end
 *   dst      of t's dtype and shape, but along axis as many elements as indices; shares no byte with t
 *
 * Errors  SB_ERR_BOUNDS an index or the axis is outside; nothing is written then · SB_ERR_DTYPE ·
 *         SB_ERR_SHAPE · SB_ERR_OVERLAP · SB_ERR_READ_ONLY · SB_ERR_MEMORY (8 bytes an index) ·
 *         SB_ERR_ARGUMENT one of them has no bytes
 * Source  array API `take` */
SB_CHECKED SB_API sb_status sb_take(const sb_tensor *t, const sb_tensor *indices, int64_t axis,
                                    const sb_tensor *dst);

/* Tests whether a and b have the same shape and equal numbers, whatever their dtypes: exactly, also beyond
 * 2^53.
 *
 *   equal_nan  NaN equals NaN; a complex number of which a part is NaN is one
 *   out        written on success
 *
 * Errors  SB_ERR_ARGUMENT one has elements and no bytes
 * Source  NumPy `array_equal` */
SB_CHECKED SB_API sb_status sb_array_equal(const sb_tensor *a, const sb_tensor *b, bool equal_nan,
                                           bool *out);

/* Tests whether everywhere |a - b| <= atol + rtol * |b|, or a and b are equal (infinities of one sign are),
 * broadcast to each other. Infinities are close to nothing else.
 *
 *   equal_nan  as in sb_array_equal
 *
 * Bits    computed in float64; a difference between integers, or an integer and a float, is exact where
 *         it is below 2^53; of complex numbers the modulus counts
 * Errors  SB_ERR_SHAPE they do not broadcast · SB_ERR_ARGUMENT one has elements and no bytes
 * Source  NumPy `allclose` */
SB_CHECKED SB_API sb_status sb_all_close(const sb_tensor *a, const sb_tensor *b, double rtol,
                                         double atol, bool equal_nan, bool *out);

/* ---- Random numbers ----
 *
 * Seed, stream and offset determine every value, whatever the target's strides, threads, instruction set,
 * back end or device. A fill of n elements equals the fills of its parts one after the other.
 *
 * A stream is a sequence of 32-bit words. Word w is lane w % 4 of Philox4x32-10 with the key (low, high
 * half of seed) and the counter (low, high half of w / 4, stream, method * 2^24 + attempt). Element i of
 * a fill in row-major order has the word offset + i, or, where it takes two, the words offset + 2 i and
 * the next, offset having been rounded up to an even number first. */

/* A position in a stream: a value, which may be copied, stored and restored. {.seed = n} is a stream's start. */
typedef struct sb_generator {
  uint64_t seed;
  uint64_t offset; /* words of the stream already used */
  uint32_t stream; /* streams of one seed share no words */
} sb_generator;

/* Fills t with numbers from [low, high), all equally likely: low + k / 2^p * (high - low), k a whole
 * number below 2^p, p being the dtype's precision: 11 (float16), 8 (bfloat16), 24, 53.
 *
 *   t          float16, bfloat16, float32 or float64; any strides
 *   low, high  rounded to t's dtype; high itself is never drawn
 *   generator  moved on: by one word an element, two for float64
 *
 * Bits    computed in float64 for float64, else in float32: the product rounded, then the sum, then
 *         to t's dtype; values that reach high become the greatest one below it. k is the upper p bits
 *         of the word (method 0); for float64, 27 bits of the second word, then 26 of the first
 * Errors  SB_ERR_DTYPE · SB_ERR_BOUNDS a bound is not finite, low is not below high, or high - low
 *         overflows, or the stream ends · SB_ERR_CAST a bound does not fit t's dtype ·
 *         SB_ERR_OVERLAP · SB_ERR_READ_ONLY · SB_ERR_MEMORY (as in sb_overlaps_itself)
 * Source  Salmon et al., Parallel random numbers: as easy as 1, 2, 3 (2011); PyTorch `uniform_` */
SB_CHECKED SB_API sb_status sb_uniform(const sb_tensor *t, double low, double high,
                                       sb_generator *generator);

/* Fills t with normally distributed numbers, mean + std * z. |z| reaches 6.55, for float64 8.57.
 *
 *   t          float16, bfloat16, float32 or float64; any strides
 *   mean, std  rounded to float32 unless t is float64; std may be 0
 *   generator  moved on: by one word an element, two for float64
 *
 * Bits    Box and Muller's transform by +, -, *, / and square root alone (kernels/random.h), in float64
 *         for float64 (method 2), else in float32 (method 1). An even word and the next (for float64:
 *         the pairs of words of a block) are radius and angle of two elements. Beside the exact
 *         transform z errs by less than 3e-7 of the radius (float64: 5e-16)
 * Errors  SB_ERR_DTYPE · SB_ERR_BOUNDS a parameter is not finite, std is negative, or the
 *         stream ends · SB_ERR_CAST one does not fit float32 (float64) · SB_ERR_OVERLAP ·
 *         SB_ERR_READ_ONLY · SB_ERR_MEMORY
 * Notes   mean + std * z may overflow to an infinity where they are that large
 * Source  Box and Muller, A note on the generation of random normal deviates (1958); PyTorch `normal_` */
SB_CHECKED SB_API sb_status sb_normal(const sb_tensor *t, double mean, double std,
                                      sb_generator *generator);

/* Fills t with integers from [low, high), all exactly equally likely.
 *
 *   t          any integer dtype, or bool; any strides
 *   low, high  bool, int, uint or a whole real; every integer between must fit t's dtype. 2^64, as a
 *              real, is the high that lets uint64 have all its values
 *   generator  moved on: by one word an element, two where there are more than 2^32 values
 *
 * Bits    the word (two: low half first) times the number of values; the product's upper half plus low.
 *         A word whose product's lower half is below 2^32 (2^64) mod the number of values is refused for
 *         the same lane of the block with attempt 1, 2, … (method 0). The dtype has no part in it
 * Errors  SB_ERR_DTYPE · SB_ERR_ARGUMENT a bound is complex · SB_ERR_BOUNDS one is no 64-bit integer,
 *         low is not below high, or the stream ends · SB_ERR_CAST an integer between does not fit
 *         t's dtype · SB_ERR_OVERLAP · SB_ERR_READ_ONLY · SB_ERR_MEMORY
 * Source  Lemire, Fast random integer generation in an interval (2019); PyTorch `randint` */
SB_CHECKED SB_API sb_status sb_randint(const sb_tensor *t, const sb_scalar *low,
                                       const sb_scalar *high, sb_generator *generator);

/* ---- Shared memory ----
 *
 * Named segments, rings of frames, and words to wait on, which other processes have, too: Node by SharedTensor and SharedRing,
 * Python by the package samebytes. On Linux; elsewhere all of it is SB_ERR_UNSUPPORTED. A peer may write any values, and may make
 * a segment shorter: whoever uses bytes that are gone gets SIGBUS. docs/ring-protocol.md has the protocol. */

#define SB_SEGMENT_REPLACE \
 1u /* the name is taken from another segment, which its users keep; else SB_ERR_EXISTS */
#define SB_SEGMENT_PERSIST 2u /* `samebytes sweep` leaves it */
#define SB_SEGMENT_OPEN \
 4u /* one of this dtype and shape that is there is opened, and not swept while this process has it */
#define SB_RING_READERS(n) \
 ((n)*65536u) /* of a ring: its writer waits for its slowest reader, of n at most, 1 to 1024 */

/* Creates a named segment of zeros: a .npy file in shared memory, which appears when it is complete.
 *
 *   name   as for shm_open, with or without the slash, at most 255 bytes
 *   mode   permissions, such as 0600
 *   flags  SB_SEGMENT_REPLACE or SB_SEGMENT_OPEN, and SB_SEGMENT_PERSIST; or 0
 *   out    row-major; holds the mapping's one reference, sb_tensor_release drops it. The name stays
 *
 * Errors  SB_ERR_EXISTS · SB_ERR_MEMORY · SB_ERR_ARGUMENT · SB_ERR_DTYPE · SB_ERR_SHAPE · SB_ERR_IO · SB_ERR_UNSUPPORTED ·
 *         of SB_SEGMENT_OPEN also as sb_segment_open
 * Source  POSIX `shm_open` */
SB_CHECKED SB_API sb_status sb_segment_create(const char *name, sb_dtype dtype, int32_t ndim,
                                              const int64_t *shape, uint32_t mode, uint32_t flags,
                                              sb_tensor *out);

/* Maps a named segment that is a .npy file, for reading and writing.
 *
 *   dtype  NULL, or what it has to be; also what the raw bytes are that NumPy makes of bfloat16 and float8
 *   out    holds the mapping's one reference; sb_tensor_release drops it
 *
 * Errors  SB_ERR_NOT_FOUND · SB_ERR_FORMAT · SB_ERR_DTYPE · SB_ERR_UNSUPPORTED axes or bytes in another order ·
 *         SB_ERR_ARGUMENT · SB_ERR_MEMORY · SB_ERR_IO */
SB_CHECKED SB_API sb_status sb_segment_open(const char *name, const sb_dtype *dtype,
                                            sb_tensor *out);

/* Makes this process an owner of a segment that it has opened by other means: `samebytes sweep` leaves it as long as this process has
 * the file open or mapped.
 *
 *   file  its descriptor, the caller's
 *
 * Errors  SB_ERR_NOT_FOUND the name is another file's, or is being made or removed · SB_ERR_ARGUMENT */
SB_CHECKED SB_API sb_status sb_segment_own(int file, const char *name);

/* The folder of named segments, without a trailing slash; NULL: this system has none. */
SB_API const char *sb_segment_folder(void);

/* Removes a segment's name; processes that have it mapped keep it.
 *
 * Errors  SB_ERR_NOT_FOUND · SB_ERR_ARGUMENT · SB_ERR_IO · SB_ERR_UNSUPPORTED */
SB_CHECKED SB_API sb_status sb_segment_unlink(const char *name);

typedef enum sb_wait_result {
  SB_WAIT_WOKEN, /* by sb_word_wake, SharedTensor's notify, or any futex; also by a signal of the system: look again */
  SB_WAIT_NOT_EQUAL, /* the word had another value */
  SB_WAIT_TIMED_OUT
} sb_wait_result;

/* Sleeps while a word of shared memory has a value: compares it first, so that no change is missed.
 *
 *   word     at a multiple of 4; of 64 bits the lower half
 *   timeout  nanoseconds; negative: none
 *
 * Errors  SB_ERR_ALIGNMENT · SB_ERR_IO the word is not mapped any more · SB_ERR_UNSUPPORTED
 * Source  Linux `futex` */
SB_CHECKED SB_API sb_status sb_word_wait(const void *word, uint32_t expected, int64_t timeout,
                                         sb_wait_result *out);

/* Wakes threads of any process that sleep on a word. Change it first.
 *
 *   count  at most; INT64_MAX: all
 *   woken  may be NULL; how many
 *
 * Errors  SB_ERR_ALIGNMENT · SB_ERR_IO · SB_ERR_UNSUPPORTED
 * Source  Linux `futex` */
SB_CHECKED SB_API sb_status sb_word_wake(void *word, int64_t count, int64_t *woken);

/* A ring of frames that this process has open. One process writes, others read, and none waits for a lock. Two threads may not
 * write to it at the same time, nor close what another one uses. */
typedef struct sb_ring sb_ring;

/* Creates a ring without frames: the segments `name`, of shape [slots, ...shape], and `name.control`.
 *
 *   name         at most 247 bytes
 *   ndim, shape  of a frame
 *   mode         as of sb_segment_create
 *   flags        likewise, and SB_RING_READERS(n)
 *   out          the caller's, for sb_ring_close; the names stay
 *
 * Errors  as sb_segment_create · SB_ERR_BOUNDS slots is below 1 or above 2^51, or there are more than 1024 readers */
SB_CHECKED SB_API sb_status sb_ring_create(const char *name, int64_t slots, sb_dtype dtype,
                                           int32_t ndim, const int64_t *shape, uint32_t mode,
                                           uint32_t flags, sb_ring **out);

/* Opens a ring, to read or to write. A frame that a killed writer left half-written is dropped, one that was whole and not yet
 * counted is counted.
 *
 *   dtype  as of sb_segment_open
 *   out    the caller's, for sb_ring_close
 *
 * Errors  as sb_segment_open · SB_ERR_FORMAT these are no frames and words of a ring */
SB_CHECKED SB_API sb_status sb_ring_open(const char *name, const sb_dtype *dtype, sb_ring **out);

/* The same for control words that the caller has mapped, for reading and writing, and whose frames it finds by itself.
 *
 *   words         at a multiple of 8, mapped until the ring is closed
 *   frame_nbytes  bytes of a frame
 *
 * Errors  SB_ERR_FORMAT these are no words of such a ring · SB_ERR_ARGUMENT fewer than 16 words, or another address ·
 *         SB_ERR_MEMORY */
SB_CHECKED SB_API sb_status sb_ring_attach(void *words, size_t nbytes, int64_t slots,
                                           int64_t frame_nbytes, sb_ring **out);

/* Closes a ring in this process, and sets the pointer NULL: another one may then be the writer. Its names stay. NULL is allowed. */
SB_API void sb_ring_close(sb_ring **ring);

/* Removes both names of a ring; processes that have it open keep it.
 *
 * Errors  as sb_segment_unlink; SB_ERR_NOT_FOUND neither is there */
SB_CHECKED SB_API sb_status sb_ring_unlink(const char *name);

/* All frames of a ring.
 *
 *   out  of shape [slots, ...shape]: frame n is number n mod slots of its first axis (sb_select). No reference is taken: it is
 *        good until the ring is closed, longer after sb_tensor_retain
 *
 * Errors  SB_ERR_ARGUMENT the ring was attached */
SB_CHECKED SB_API sb_status sb_ring_frames(const sb_ring *ring, sb_tensor *out);

/* Begins the next frame. The first call makes this process the writer, until the ring is closed or the process ends; what a
 * writer left that was killed is repaired. A second call before sb_ring_commit begins the same frame.
 *
 *   index  of the frame, whose slot may now be written
 *
 * Errors  SB_ERR_BUSY there is another writer, whose process has not ended, or a reader that the writer waits for still needs
 *         what is in the slot · SB_ERR_FORMAT · SB_ERR_MEMORY */
SB_CHECKED SB_API sb_status sb_ring_begin(sb_ring *ring, int64_t *index);

/* Waits until no reader needs what is in the next frame's slot; of a ring without SB_RING_READERS at once. A reader whose
 * process has ended is not waited for. Makes this process the writer, as sb_ring_begin does.
 *
 *   timeout  nanoseconds; 0: no waiting; negative: without an end
 *   out      true: sb_ring_begin gives it; false: the time was up
 *
 * Errors  as sb_ring_begin and sb_word_wait */
SB_CHECKED SB_API sb_status sb_ring_room(sb_ring *ring, int64_t timeout, bool *out);

/* Publishes the frame that sb_ring_begin began, and wakes readers.
 *
 *   tag  a number of the caller's that readers get with the frame, such as a timestamp; 0: none
 *
 * Errors  SB_ERR_STALE none was begun · SB_ERR_IO */
SB_CHECKED SB_API sb_status sb_ring_commit(sb_ring *ring, uint64_t tag);

/* The number of committed frames, which is the index of the next one.
 *
 * Errors  SB_ERR_FORMAT it is no count */
SB_CHECKED SB_API sb_status sb_ring_count(const sb_ring *ring, int64_t *out);

/* Tests whether a frame is whole in its slot. If so, all that was read of it before this call belongs to it.
 *
 *   tag  NULL, or set to the frame's tag where it is whole
 *
 * Errors  SB_ERR_ARGUMENT there is no frame of that index */
SB_CHECKED SB_API sb_status sb_ring_has(const sb_ring *ring, int64_t index, bool *out,
                                        uint64_t *tag);

/* Sleeps while the count of frames is `count`.
 *
 *   timeout  nanoseconds; negative: none. A writer that was killed wakes nobody
 *   out      the count; the same one where the time was up, or a signal came
 *
 * Errors  as sb_word_wait and sb_ring_count */
SB_CHECKED SB_API sb_status sb_ring_wait(const sb_ring *ring, int64_t count, int64_t timeout,
                                         int64_t *out);

/* Where a reader is. {0} begins with the first frame of all, {.next = -1} with the oldest that is there. */
typedef struct sb_ring_reader {
  int64_t next;    /* the frame that it wants next */
  int64_t lost;    /* frames that were overwritten before it read them, in all */
  bool is_started; /* it has read one */
  uint64_t tag;    /* of the frame that was found last, as its writer gave it to sb_ring_commit */
} sb_ring_reader;

/* Finds the next frame of a reader. The writer does not wait: use or copy the frame, then ask sb_ring_has. A reader that was
 * overtaken goes on half a ring behind the writer. Of a ring with SB_RING_READERS the writer waits: the first call takes a
 * place, and begins with the newest frame where reader->next is negative; the frame is the reader's until the next call or
 * sb_ring_leave. Such a ring, as one process has it open, has one reader; open it again for more.
 *
 *   timeout  nanoseconds; 0: no waiting; negative: without an end
 *   index    of the frame; -1: there is none until now, because the time was up, or a signal came
 *
 * Errors  as sb_ring_wait · SB_ERR_BUSY all places are taken · SB_ERR_STALE another process took this reader's · SB_ERR_MEMORY */
SB_CHECKED SB_API sb_status sb_ring_read(sb_ring *ring, sb_ring_reader *reader, int64_t timeout,
                                         int64_t *index);

/* Gives a reader's place up, as sb_ring_close does: the writer waits for it no longer. Nothing where there is none. */
SB_API void sb_ring_leave(sb_ring *ring);

/* ---- DLPack ----
 *
 * The structs, and capsules between addons, are in samebytes_dlpack.h. */

struct sb_dl_managed;
struct sb_dl_managed_versioned;

/* Describes t's bytes for a consumer of DLPack 1.x. No byte is copied; the consumer's hold keeps the storage alive
 * until it calls the deleter, on any thread.
 *
 *   flags   0, or SB_DL_IS_COPIED where the caller made t for this consumer alone
 *   out     the caller's, who gives it to a consumer or calls its deleter. It is of version 1.2: data is the
 *           first element, byte_offset 0, strides are always there. Without elements it holds nothing, and
 *           data is NULL. A read-only t has that flag
 *
 * Errors  SB_ERR_UNSUPPORTED t's storage is borrowed for a call · SB_ERR_ARGUMENT another flag, or elements
 *         without bytes · SB_ERR_DTYPE · SB_ERR_SHAPE · SB_ERR_MEMORY
 * Source  DLPack `DLManagedTensorVersioned`, PyTorch `to_dlpack` */
SB_CHECKED SB_API sb_status sb_tensor_to_dlpack(const sb_tensor *t, uint64_t flags,
                                                struct sb_dl_managed_versioned **out);

/* The same for consumers of DLPack before 1.0. Tensors that these misread are refused: sb_clone makes them dense and
 * writable, and sb_view_dtype reads bool and float8 as bytes.
 *
 * Errors  SB_ERR_DTYPE bool, float8 · SB_ERR_READ_ONLY · SB_ERR_UNSUPPORTED a negative stride (PyTorch 1 ends the
 *         process), or a borrowed storage · SB_ERR_ARGUMENT · SB_ERR_SHAPE · SB_ERR_MEMORY
 * Source  DLPack `DLManagedTensor` */
SB_CHECKED SB_API sb_status sb_tensor_to_dlpack_legacy(const sb_tensor *t,
                                                       struct sb_dl_managed **out);

/* Makes a tensor over the bytes of a producer of DLPack 1.x, on the CPU or in pinned memory.
 *
 *   managed  taken over on success: its deleter runs when the last holder of the storage is gone, on that
 *            one's thread. The caller's as before on failure, with its deleter not called
 *   out      holds the storage's one reference; read-only where the producer says so
 *
 * Errors  SB_ERR_ARGUMENT managed, its shape or, with elements, its data is NULL · SB_ERR_UNSUPPORTED another
 *         major version · SB_ERR_DTYPE no dtype has that code, bits and lanes · SB_ERR_DEVICE ·
 *         SB_ERR_SHAPE · SB_ERR_BOUNDS the elements leave the address space · SB_ERR_ALIGNMENT · SB_ERR_MEMORY
 * Notes   the fields are checked; that the bytes exist is not
 * Source  DLPack `DLManagedTensorVersioned`, PyTorch and NumPy `from_dlpack` */
SB_CHECKED SB_API sb_status sb_tensor_from_dlpack(struct sb_dl_managed_versioned *managed,
                                                  sb_tensor *out);

/* The same for producers of DLPack before 1.0.
 *
 * Errors  as sb_tensor_from_dlpack
 * Source  DLPack `DLManagedTensor` */
SB_CHECKED SB_API sb_status sb_tensor_from_dlpack_legacy(struct sb_dl_managed *managed,
                                                         sb_tensor *out);

#ifdef __cplusplus
}
#endif

#endif
