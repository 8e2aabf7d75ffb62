/* DLPack between addons of one process: the structs of its public ABI, and capsules for JavaScript.
 *
 * For addon authors. It needs nothing else of samebytes, and nothing is linked: an addon that includes it can
 * exchange tensors with samebytes and with any other addon that includes it.
 *
 * Ownership: a managed tensor has one owner, who calls its deleter once, on any thread, when nothing uses the
 * bytes any more. The deleter frees the struct as well; it may be NULL.
 *
 * The structs are those of DLPack 1.x ("versioned") and before ("legacy"), under names of their own, so that
 * dlpack.h may be included as well; pointers may be cast between both.
 *
 *   export   struct sb_dl_managed_versioned *m = …;
 *            napi_value capsule;
 *            if (sb_dl_capsule_new(env, 1, m, &capsule) != napi_ok) sb_dl_free(1, m);
 *   import   int versioned;
 *            void *m;
 *            switch (sb_dl_capsule_take(env, capsule, &versioned, &m)) { … }
 *
 * By convention an object that can be exported has two methods, `__dlpack__(options)`, which gives a capsule, and
 * `__dlpack_device__()`, which gives [type, id]; the options are { maxVersion: [major, minor], copy, dlDevice:
 * [type, id], stream }, and without maxVersion the capsule is legacy. */
#ifndef SAMEBYTES_DLPACK_H
#define SAMEBYTES_DLPACK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The ABI ---- */

#define SB_DL_MAJOR 1 /* the version that samebytes exports, in which */
#define SB_DL_MINOR 2 /* strides are never NULL */

/* Values of sb_dl_dtype.code. */
enum sb_dl_code {
  SB_DL_INT = 0,
  SB_DL_UINT = 1,
  SB_DL_FLOAT = 2,
  SB_DL_OPAQUE = 3,
  SB_DL_BFLOAT = 4,
  SB_DL_COMPLEX = 5,
  SB_DL_BOOL = 6,
  SB_DL_FLOAT8_E4M3FN = 10, /* from 1.1 on; the frameworks' float8, unlike code 8 */
  SB_DL_FLOAT8_E5M2 = 12,
};

/* Values of sb_dl_device.type. */
enum sb_dl_device_type {
  SB_DL_CPU = 1,
  SB_DL_CUDA = 2,
  SB_DL_CUDA_HOST = 3, /* pinned memory of the CPU's */
  SB_DL_ROCM_HOST = 11,
  SB_DL_CUDA_MANAGED = 13,
};

#define SB_DL_READ_ONLY UINT64_C(1)      /* sb_dl_managed_versioned.flags */
#define SB_DL_IS_COPIED UINT64_C(2)      /* copied for this consumer: nobody else has the bytes */
#define SB_DL_SUBBYTE_PADDED UINT64_C(4) /* each element below 8 bits has a byte of its own */

typedef struct sb_dl_device {
  int32_t type;
  int32_t id;
} sb_dl_device;

typedef struct sb_dl_dtype {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes; /* 1 but for vectors */
} sb_dl_dtype;

typedef struct sb_dl_tensor {
  void *data;
  sb_dl_device device;
  int32_t ndim;
  sb_dl_dtype dtype;
  int64_t *shape;       /* elements; ndim of them */
  int64_t *strides;     /* elements; NULL: row-major */
  uint64_t byte_offset; /* of the first element, from data */
} sb_dl_tensor;

typedef struct sb_dl_managed { /* legacy */
  sb_dl_tensor tensor;
  void *context; /* the producer's */
  void (*deleter)(struct sb_dl_managed *self);
} sb_dl_managed;

/* Where major is not 1, a consumer may read nothing after flags, and call only the deleter. */
typedef struct sb_dl_managed_versioned {
  uint32_t major, minor;
  void *context; /* the producer's */
  void (*deleter)(struct sb_dl_managed_versioned *self);
  uint64_t flags;
  sb_dl_tensor tensor;
} sb_dl_managed_versioned;

/* Calls the deleter, if there is one. The struct is gone afterwards. */
static inline void sb_dl_free(int versioned, void *managed) {
  if (versioned) {
    sb_dl_managed_versioned *m = (sb_dl_managed_versioned *)managed;
    if (m->deleter) m->deleter(m);
  } else {
    sb_dl_managed *m = (sb_dl_managed *)managed;
    if (m->deleter) m->deleter(m);
  }
}

/* ---- Capsules ---- */

/* The data of a capsule, which is a tagged external of Node-API. tensor is read and written atomically only: the
 * thread that exchanges it for NULL owns the tensor. */
typedef struct sb_dl_capsule {
  uint32_t abi;       /* SB_DL_CAPSULE_ABI */
  uint32_t versioned; /* 1: tensor is an sb_dl_managed_versioned; 0: an sb_dl_managed */
  void *tensor;       /* NULL: taken */
} sb_dl_capsule;

#define SB_DL_CAPSULE_ABI 1

static inline void *sb_dl_exchange(void **at, void *value) {
#if defined(_MSC_VER)
  return _InterlockedExchangePointer((void *volatile *)at, value); /* from <intrin.h> */
#else
  return __atomic_exchange_n(at, value, __ATOMIC_ACQ_REL);
#endif
}

/* The rest needs node_api.h, included before this header. */
#ifdef SRC_NODE_API_H_

# include <stdlib.h>

/* Distinguishes capsules from other externals. Static, because some versions of Node keep the pointer. */
static const napi_type_tag sb_dl_capsule_tag = {UINT64_C(0x8f1d5c0e6b7a4923),
                                                UINT64_C(0xa3e27b914d60f85c)};

static inline void sb_dl_capsule_finalize(napi_env env, void *data, void *hint) {
  sb_dl_capsule *cell = (sb_dl_capsule *)data;
  void *tensor = sb_dl_exchange(&cell->tensor, NULL);
  (void)env;
  (void)hint;
  if (tensor) sb_dl_free(cell->versioned != 0, tensor);
  free(cell);
}

/* Makes a capsule, which owns the tensor until somebody takes it, and frees it when collected.
 *
 *   tensor  an sb_dl_managed_versioned if versioned is 1, else an sb_dl_managed; stays the caller's on
 *           failure */
static inline napi_status sb_dl_capsule_new(napi_env env, int versioned, void *tensor,
                                            napi_value *out) {
  napi_status status = napi_generic_failure;
  napi_value made = NULL;
  sb_dl_capsule *cell = (sb_dl_capsule *)malloc(sizeof *cell);
  if (!cell) return status;
  cell->abi = SB_DL_CAPSULE_ABI;
  cell->versioned = versioned != 0;
  cell->tensor = NULL;
  status = napi_create_external(env, cell, sb_dl_capsule_finalize, NULL, &made);
  if (status != napi_ok) {
    free(cell);
    return status;
  }
  status = napi_type_tag_object(env, made, &sb_dl_capsule_tag);
  if (status != napi_ok) return status; /* the external frees the cell */
  sb_dl_exchange(&cell->tensor, tensor);
  *out = made;
  return napi_ok;
}

typedef enum sb_dl_taken {
  SB_DL_TAKEN,  /* the caller owns the tensor now */
  SB_DL_USED,   /* it was taken before */
  SB_DL_FOREIGN /* not a capsule, or one of another ABI */
} sb_dl_taken;

/* The data of a capsule; NULL: value is none. Valid as long as the value is held. */
static inline sb_dl_capsule *sb_dl_capsule_of(napi_env env, napi_value value) {
  bool tagged = false;
  void *data = NULL;
  napi_valuetype type = napi_undefined;
  if (napi_typeof(env, value, &type) != napi_ok || type != napi_external) return NULL;
  if (napi_check_object_type_tag(env, value, &sb_dl_capsule_tag, &tagged) != napi_ok || !tagged)
    return NULL;
  if (napi_get_value_external(env, value, &data) != napi_ok || !data) return NULL;
  return ((sb_dl_capsule *)data)->abi == SB_DL_CAPSULE_ABI ? (sb_dl_capsule *)data : NULL;
}

/* Takes the tensor out of a capsule. Only one of several callers succeeds.
 *
 *   versioned, tensor  written if the result is SB_DL_TAKEN. A caller that cannot use the tensor returns it with
 *                      sb_dl_capsule_give_back, or frees it */
static inline sb_dl_taken sb_dl_capsule_take(napi_env env, napi_value value, int *versioned,
                                             void **tensor) {
  sb_dl_capsule *cell = sb_dl_capsule_of(env, value);
  if (!cell) return SB_DL_FOREIGN;
  void *taken = sb_dl_exchange(&cell->tensor, NULL);
  if (!taken) return SB_DL_USED;
  *versioned = (int)cell->versioned;
  *tensor = taken;
  return SB_DL_TAKEN;
}

/* Undoes a take: the capsule owns the tensor again. */
static inline void sb_dl_capsule_give_back(napi_env env, napi_value value, void *tensor) {
  sb_dl_capsule *cell = sb_dl_capsule_of(env, value);
  if (cell) sb_dl_exchange(&cell->tensor, tensor);
}

#endif

#ifdef __cplusplus
}
#endif

#endif
