/* NVIDIA's driver API, found at run time: no header, toolkit or library of CUDA is needed to build this. */
#ifndef SB_CUDA_DRIVER_H
#define SB_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemHandle; /* CUmemGenericAllocationHandle */

typedef struct CUipcMemHandle {
  char bytes[64];
} CUipcMemHandle;

typedef struct CUmemLocation {
  int type, id; /* 1: a device */
} CUmemLocation;

typedef struct CUmemAllocationProp {
  int type, requestedHandleTypes; /* 1: pinned; 1: POSIX file descriptors */
  CUmemLocation location;
  void *win32HandleMetaData;
  struct {
    unsigned char compressionType, gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
  } allocFlags;
} CUmemAllocationProp;

typedef struct CUmemAccessDesc {
  CUmemLocation location;
  int flags; /* 1: read; 3: read and write */
} CUmemAccessDesc;

/* name, version, parameters, required. The version is that of CUDA in which the function got the parameters that stand here, which
 * is what the driver is asked for: never the version of a toolkit. */
#define SB__CU_FUNCTIONS(X)                                                                        \
 X(cuInit, 2000, (unsigned), 1)                                                                    \
 X(cuDriverGetVersion, 2020, (int *), 1)                                                           \
 X(cuGetErrorName, 6000, (CUresult, const char **), 1)                                             \
 X(cuDeviceGetCount, 2000, (int *), 1)                                                             \
 X(cuDeviceGet, 2000, (CUdevice *, int), 1)                                                        \
 X(cuDeviceGetName, 2000, (char *, int, CUdevice), 1)                                              \
 X(cuDeviceGetUuid, 11040, (void *, CUdevice), 0)                                                  \
 X(cuDeviceGetAttribute, 2000, (int *, int, CUdevice), 1)                                          \
 X(cuDeviceTotalMem, 3020, (size_t *, CUdevice), 1)                                                \
 X(cuDeviceCanAccessPeer, 4000, (int *, CUdevice, CUdevice), 0)                                    \
 X(cuDevicePrimaryCtxRetain, 7000, (CUcontext *, CUdevice), 1)                                     \
 X(cuDevicePrimaryCtxRelease, 11000, (CUdevice), 1)                                                \
 X(cuCtxPushCurrent, 4000, (CUcontext), 1)                                                         \
 X(cuCtxPopCurrent, 4000, (CUcontext *), 1)                                                        \
 X(cuCtxSynchronize, 2000, (void), 1)                                                              \
 X(cuCtxEnablePeerAccess, 4000, (CUcontext, unsigned), 0)                                          \
 X(cuModuleLoadData, 2000, (CUmodule *, const void *), 1)                                          \
 X(cuModuleGetFunction, 2000, (CUfunction *, CUmodule, const char *), 1)                           \
 X(cuLaunchKernel, 4000,                                                                           \
   (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,    \
    void **, void **),                                                                             \
   1)                                                                                              \
 X(cuMemGetInfo, 3020, (size_t *, size_t *), 1)                                                    \
 X(cuMemAlloc, 3020, (CUdeviceptr *, size_t), 1)                                                   \
 X(cuMemFree, 3020, (CUdeviceptr), 1)                                                              \
 X(cuMemGetAddressRange, 3020, (CUdeviceptr *, size_t *, CUdeviceptr), 1)                          \
 X(cuPointerGetAttribute, 4000, (void *, int, CUdeviceptr), 1)                                     \
 X(cuMemcpyHtoDAsync, 3020, (CUdeviceptr, const void *, size_t, CUstream), 1)                      \
 X(cuMemcpyDtoHAsync, 3020, (void *, CUdeviceptr, size_t, CUstream), 1)                            \
 X(cuMemcpyDtoDAsync, 3020, (CUdeviceptr, CUdeviceptr, size_t, CUstream), 1)                       \
 X(cuMemcpyPeerAsync, 4000, (CUdeviceptr, CUcontext, CUdeviceptr, CUcontext, size_t, CUstream), 0) \
 X(cuMemsetD8Async, 3020, (CUdeviceptr, unsigned char, size_t, CUstream), 1)                       \
 X(cuMemHostAlloc, 2020, (void **, size_t, unsigned), 1)                                           \
 X(cuMemFreeHost, 2000, (void *), 1)                                                               \
 X(cuMemHostRegister, 6050, (void *, size_t, unsigned), 1)                                         \
 X(cuMemHostUnregister, 4000, (void *), 1)                                                         \
 X(cuMemHostGetDevicePointer, 3020, (CUdeviceptr *, void *, unsigned), 1)                          \
 X(cuStreamCreate, 2000, (CUstream *, unsigned), 1)                                                \
 X(cuStreamDestroy, 4000, (CUstream), 1)                                                           \
 X(cuStreamQuery, 2000, (CUstream), 1)                                                             \
 X(cuStreamSynchronize, 2000, (CUstream), 1)                                                       \
 X(cuStreamWaitEvent, 3020, (CUstream, CUevent, unsigned), 1)                                      \
 X(cuEventCreate, 2000, (CUevent *, unsigned), 1)                                                  \
 X(cuEventDestroy, 4000, (CUevent), 1)                                                             \
 X(cuEventRecord, 2000, (CUevent, CUstream), 1)                                                    \
 X(cuEventQuery, 2000, (CUevent), 1)                                                               \
 X(cuEventSynchronize, 2000, (CUevent), 1)                                                         \
 X(cuEventElapsedTime, 2000, (float *, CUevent, CUevent), 1)                                       \
 X(cuIpcGetMemHandle, 4010, (CUipcMemHandle *, CUdeviceptr), 0)                                    \
 X(cuIpcOpenMemHandle, 11000, (CUdeviceptr *, CUipcMemHandle, unsigned), 0)                        \
 X(cuIpcCloseMemHandle, 4010, (CUdeviceptr), 0)                                                    \
 X(cuMemGetAllocationGranularity, 10020, (size_t *, const CUmemAllocationProp *, int), 0)          \
 X(cuMemCreate, 10020, (CUmemHandle *, size_t, const CUmemAllocationProp *, unsigned long long),   \
   0)                                                                                              \
 X(cuMemRelease, 10020, (CUmemHandle), 0)                                                          \
 X(cuMemAddressReserve, 10020, (CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long),   \
   0)                                                                                              \
 X(cuMemAddressFree, 10020, (CUdeviceptr, size_t), 0)                                              \
 X(cuMemMap, 10020, (CUdeviceptr, size_t, size_t, CUmemHandle, unsigned long long), 0)             \
 X(cuMemUnmap, 10020, (CUdeviceptr, size_t), 0)                                                    \
 X(cuMemSetAccess, 10020, (CUdeviceptr, size_t, const CUmemAccessDesc *, size_t), 0)               \
 X(cuMemExportToShareableHandle, 10020, (void *, CUmemHandle, int, unsigned long long), 0)         \
 X(cuMemImportFromShareableHandle, 10020, (CUmemHandle *, void *, int), 0)

/* The driver's functions, by their names; the ones that are not required may be NULL. Filled by sb__cuda_load, then never changed. */
typedef struct sb__cu_table {
#define X(name, version, parameters, required) CUresult(*name) parameters;
  SB__CU_FUNCTIONS(X)
#undef X
  int version; /* of the driver: 1000 * major + 10 * minor */
} sb__cu_table;
extern sb__cu_table sb__cu;

/* Codes that decide something here. */
enum {
  SB__CU_INVALID_VALUE = 1,
  SB__CU_OUT_OF_MEMORY = 2,
  SB__CU_NOT_INITIALIZED = 3,
  SB__CU_DEINITIALIZED = 4,
  SB__CU_STUB_LIBRARY = 34,
  SB__CU_NO_DEVICE = 100,
  SB__CU_INVALID_DEVICE = 101,
  SB__CU_INVALID_IMAGE = 200,
  SB__CU_PEER_ALREADY_ENABLED = 704,
  SB__CU_NOT_FOUND = 500,
  SB__CU_NOT_READY = 600,
  SB__CU_ALREADY_REGISTERED = 712,
  SB__CU_NOT_SUPPORTED = 801,
};

/* What a code means, in words of ours; where there are none, the driver's name of it. Never NULL. */
const char *sb__cu_meaning(CUresult result);

#endif
