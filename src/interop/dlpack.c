/* DLPack's managed structs, export and import. Exports keep to what existing consumers read correctly; imports check
 * everything but the pointer. */
#include <string.h>

#include "core/core.h"
#if !defined(__wasm__)
# include "cuda/cuda.h"
#endif
#include "samebytes_dlpack.h"

#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(sb_dl_tensor) == 48, "DLTensor");
_Static_assert(sizeof(sb_dl_managed) == 64, "DLManagedTensor");
_Static_assert(sizeof(sb_dl_managed_versioned) == 80, "DLManagedTensorVersioned");
#endif

/* ---- dtypes ---- */

static const sb_dl_dtype codes[] = {
    [SB_BOOL] = {SB_DL_BOOL, 8, 1},
    [SB_UINT8] = {SB_DL_UINT, 8, 1},
    [SB_INT8] = {SB_DL_INT, 8, 1},
    [SB_INT16] = {SB_DL_INT, 16, 1},
    [SB_UINT16] = {SB_DL_UINT, 16, 1},
    [SB_INT32] = {SB_DL_INT, 32, 1},
    [SB_UINT32] = {SB_DL_UINT, 32, 1},
    [SB_INT64] = {SB_DL_INT, 64, 1},
    [SB_UINT64] = {SB_DL_UINT, 64, 1},
    [SB_FLOAT16] = {SB_DL_FLOAT, 16, 1},
    [SB_BFLOAT16] = {SB_DL_BFLOAT, 16, 1},
    [SB_FLOAT32] = {SB_DL_FLOAT, 32, 1},
    [SB_FLOAT64] = {SB_DL_FLOAT, 64, 1},
    [SB_COMPLEX64] = {SB_DL_COMPLEX, 64, 1},
    [SB_COMPLEX128] = {SB_DL_COMPLEX, 128, 1},
    [SB_FLOAT8_E4M3FN] = {SB_DL_FLOAT8_E4M3FN, 8, 1},
    [SB_FLOAT8_E5M2] = {SB_DL_FLOAT8_E5M2, 8, 1},
};
_Static_assert(sizeof codes / sizeof codes[0] == SB_DTYPE_COUNT, "a code for each dtype");

static sb_status dtype_of(sb_dl_dtype given, sb_dtype *out) {
  for (int i = 0; i < SB_DTYPE_COUNT; i++) {
    if (memcmp(&codes[i], &given, sizeof given) != 0) continue;
    *out = (sb_dtype)i;
    return SB_OK;
  }
  return sb__fail(SB_ERR_DTYPE,
                  "the capsule's dtype has code %d, %d bits and %d lanes: no dtype here",
                  given.code, given.bits, given.lanes);
}

/* ---- Export ---- */

/* An exported struct, its storage, shape and strides in one allocation. */
typedef struct exported {
  union {
    sb_dl_managed legacy;
    sb_dl_managed_versioned versioned;
  } as; /* first: the consumer gets its address */
  sb_storage *storage;
  int64_t lists[]; /* shape, strides */
} exported;

static void free_exported(exported *e) {
  sb_storage_unref(&e->storage);
  sb__free(e);
}

static void free_legacy(sb_dl_managed *self) { free_exported(self->context); }

static void free_versioned(sb_dl_managed_versioned *self) { free_exported(self->context); }

/* Refuses what consumers of legacy structs refuse, misread or crash on. */
static sb_status check_legacy(const sb_tensor *t) {
  const sb_dl_dtype code = codes[t->dtype];
  if (code.code > SB_DL_COMPLEX) {
    return sb__fail(
        SB_ERR_DTYPE,
        "%s is not known to consumers of legacy DLPack; view('uint8') is, and so is it with "
        "maxVersion [1, 0]",
        sb_dtype_name(t->dtype));
  }
  if (t->flags & SB_READ_ONLY) {
    return sb__fail(SB_ERR_READ_ONLY,
                    "the tensor is read-only, which legacy DLPack cannot say; copy, or ask with "
                    "maxVersion [1, 0]");
  }
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->strides[d] >= 0) continue;
    return sb__fail(SB_ERR_UNSUPPORTED,
                    "strides[%d] is %lld; consumers of legacy DLPack end the process at negative "
                    "strides: copy, or ask with maxVersion [1, 0]",
                    d, (long long)t->strides[d]);
  }
  return SB_OK;
}

static sb_status check_exportable(const sb_tensor *t) {
  if (!sb__dtype_is_valid((int64_t)t->dtype)) {
    return sb__fail(SB_ERR_DTYPE, "%d is no dtype", (int)t->dtype);
  }
  if (t->ndim < 0 || t->ndim > SB_MAX_DIMS) {
    return sb__fail(SB_ERR_SHAPE, "ndim is %d; 0 to %d was expected", t->ndim, SB_MAX_DIMS);
  }
  if (t->storage && t->storage->kind == SB__STORAGE_BORROWED && sb_tensor_numel(t)) {
    return sb__fail(SB_ERR_UNSUPPORTED, "borrowed bytes cannot be held by a consumer; copy them");
  }
  return sb__check_storage("the tensor", t);
}

static sb_dl_device device_of(const sb_storage *storage) {
  if (SB__ON_DEVICE(storage)) return (sb_dl_device){SB_DL_CUDA, storage->device};
  return (sb_dl_device){SB_DL_CPU, 0};
}

/* An empty tensor holds no storage: PyTorch 1 never calls the deleter of a struct whose address is NULL. */
static sb_status export_tensor(const sb_tensor *t, exported **out, sb_dl_tensor *tensor) {
  sb_status status = check_exportable(t);
  if (status) return status;
  const size_t n = (size_t)t->ndim;
  exported *e = sb__alloc(sizeof *e + 2 * n * sizeof(int64_t));
  if (!e) return sb__fail(SB_ERR_MEMORY, "no memory for a DLPack tensor");
  e->storage = sb_tensor_numel(t) ? sb_storage_ref(t->storage) : NULL;
  memcpy(e->lists, t->shape, n * sizeof(int64_t));
  memcpy(e->lists + n, t->strides, n * sizeof(int64_t));
  *tensor = (sb_dl_tensor){.data = sb_tensor_data(t),
                           .device = device_of(t->storage),
                           .ndim = t->ndim,
                           .dtype = codes[t->dtype],
                           .shape = e->lists,
                           .strides = e->lists + n};
  *out = e;
  return SB_OK;
}

sb_status sb_tensor_to_dlpack(const sb_tensor *t, uint64_t flags,
                              struct sb_dl_managed_versioned **out) {
  exported *e = NULL;
  sb_dl_tensor tensor;
  if (flags & ~SB_DL_IS_COPIED) {
    return sb__fail(SB_ERR_ARGUMENT, "flags is %llu; 0 or SB_DL_IS_COPIED was expected",
                    (unsigned long long)flags);
  }
  const sb_status status = export_tensor(t, &e, &tensor);
  if (status) return status;
  if (t->flags & SB_READ_ONLY) flags |= SB_DL_READ_ONLY;
  e->as.versioned =
      (sb_dl_managed_versioned){SB_DL_MAJOR, SB_DL_MINOR, e, free_versioned, flags, tensor};
  *out = &e->as.versioned;
  return SB_OK;
}

sb_status sb_tensor_to_dlpack_legacy(const sb_tensor *t, struct sb_dl_managed **out) {
  exported *e = NULL;
  sb_dl_tensor tensor;
  sb_status status = sb__dtype_is_valid((int64_t)t->dtype) ? check_legacy(t) : SB_OK;
  if (!status) status = export_tensor(t, &e, &tensor);
  if (status) return status;
  e->as.legacy = (sb_dl_managed){tensor, e, free_legacy};
  *out = &e->as.legacy;
  return SB_OK;
}

sb_storage *sb__dlpack_storage(bool versioned, void *managed) {
  const exported *e = managed;
  const bool is_ours =
      versioned ? e->as.versioned.deleter == free_versioned : e->as.legacy.deleter == free_legacy;
  return is_ours ? e->storage : NULL;
}

/* ---- Import ---- */

static void drop_legacy(void *data, void *context) {
  (void)data;
  sb_dl_free(0, context);
}

static void drop_versioned(void *data, void *context) {
  (void)data;
  sb_dl_free(1, context);
}

static sb_status check_device(sb_dl_device device) {
  if (device.type == SB_DL_CPU || device.type == SB_DL_CUDA_HOST || device.type == SB_DL_ROCM_HOST)
    return SB_OK;
#if !defined(__wasm__)
  if (device.type == SB_DL_CUDA) {
    const sb_status status = sb__cuda_enter(device.id); /* fails if there is no such device */
    if (!status) sb__cuda_leave();
    return status;
  }
#endif
  return sb__fail(SB_ERR_DEVICE,
                  "the capsule's bytes are on a device of type %d; %d, the CPU, and %d, CUDA, are "
                  "known here",
                  device.type, SB_DL_CPU, SB_DL_CUDA);
}

/* Makes a storage of the checked bytes; its deleter frees the managed struct. */
static sb_status wrap_bytes(sb_dl_device device, void *data, size_t nbytes, sb_deleter deleter,
                            void *context, sb_storage **out) {
#if !defined(__wasm__)
  int there = -1, kind = 0;
  if (device.type == SB_DL_CUDA) {
    sb_status status = nbytes ? sb__cuda_pointer_device(data, device.id, &there, &kind) : SB_OK;
    if (!status && nbytes && (kind != 2 || there != device.id)) {
      status = sb__fail(SB_ERR_DEVICE, "the capsule's address is no memory of cuda:%d", device.id);
    }
    return status ? status : sb__cuda_storage_wrap(device.id, data, nbytes, deleter, context, out);
  }
#endif
  (void)device;
  return sb_storage_wrap(data, nbytes, deleter, context, out);
}

static sb_status check_lists(const sb_dl_tensor *given) {
  if (given->ndim < 0 || given->ndim > SB_MAX_DIMS) {
    return sb__fail(SB_ERR_SHAPE, "the capsule has %d axes; 0 to %d was expected", given->ndim,
                    SB_MAX_DIMS);
  }
  if (given->ndim && !given->shape) {
    return sb__fail(SB_ERR_ARGUMENT, "the capsule has %d axes and no shape", given->ndim);
  }
  return SB_OK;
}

/* Checks the struct. out: its layout, the offset counted from its lowest element; address, nbytes: of the elements. */
static sb_status read_layout(const sb_dl_tensor *given, sb_tensor *out, uintptr_t *address,
                             int64_t *nbytes) {
  sb_dtype dtype = SB_BOOL;
  sb_tensor t;
  int64_t low = 0, high = 0;
  sb_status status = dtype_of(given->dtype, &dtype);
  if (!status) status = check_device(given->device);
  if (!status) status = check_lists(given);
  if (!status) /* row-major first, to check the shape */
    status = sb_tensor_init(NULL, dtype, given->ndim, given->shape, NULL, 0, &t);
  if (status) return status;
  if (given->strides && sb_tensor_numel(&t)) {
    for (int32_t d = 0; d < t.ndim; d++)
      if (t.shape[d] != 1) t.strides[d] = given->strides[d];
  }
  *address = 0;
  *nbytes = 0;
  if (sb_tensor_numel(&t)) {
    const int64_t itemsize = sb_dtype_itemsize(dtype);
    if (!given->data) return sb__fail(SB_ERR_ARGUMENT, "the capsule has elements and no address");
    if (!sb__extent(&t, &low, &high) || sb__add_overflows(high, 1, &high) || low == INT64_MIN ||
        sb__add_overflows(high, -low, nbytes) || sb__mul_overflows(*nbytes, itemsize, nbytes) ||
        (uint64_t)*nbytes > SIZE_MAX ||
        __builtin_add_overflow((uintptr_t)given->data, given->byte_offset, address) ||
        __builtin_add_overflow(*address, low * itemsize, address) || *address == 0 ||
        (uint64_t)*nbytes > UINTPTR_MAX - *address) {
      return sb__fail(SB_ERR_BOUNDS, "the capsule's elements lie outside of all memory");
    }
  }
  t.offset = -low;
  sb_tensor_copy_layout(&t, out);
  return SB_OK;
}

static sb_status import_tensor(const sb_dl_tensor *given, uint32_t flags, sb_deleter deleter,
                               void *context, sb_tensor *out) {
  uintptr_t address = 0;
  int64_t nbytes = 0;
  sb_tensor t, made;
  sb_storage borrowed; /* checks the layout before taking ownership */
  sb_status status = read_layout(given, &t, &address, &nbytes);
  if (status) return status;
  sb__storage_borrow((void *)address, (size_t)nbytes, &borrowed);
  status = sb_tensor_init(&borrowed, t.dtype, t.ndim, t.shape, t.strides, t.offset, &made);
  if (!status)
    status =
        wrap_bytes(given->device, (void *)address, (size_t)nbytes, deleter, context, &made.storage);
  if (status) return status;
  made.flags = flags;
  sb_tensor_copy_layout(&made, out);
  return SB_OK;
}

sb_status sb_tensor_from_dlpack(struct sb_dl_managed_versioned *managed, sb_tensor *out) {
  if (!managed) return sb__fail(SB_ERR_ARGUMENT, "there is no managed tensor at address 0");
  if (managed->major != SB_DL_MAJOR) {
    return sb__fail(SB_ERR_UNSUPPORTED, "the capsule is of DLPack %u.%u; %d.x is known here",
                    managed->major, managed->minor, SB_DL_MAJOR);
  }
  const uint32_t flags = managed->flags & SB_DL_READ_ONLY ? SB_READ_ONLY : 0;
  return import_tensor(&managed->tensor, flags, drop_versioned, managed, out);
}

sb_status sb_tensor_from_dlpack_legacy(struct sb_dl_managed *managed, sb_tensor *out) {
  if (!managed) return sb__fail(SB_ERR_ARGUMENT, "there is no managed tensor at address 0");
  return import_tensor(&managed->tensor, 0, drop_legacy, managed, out);
}
