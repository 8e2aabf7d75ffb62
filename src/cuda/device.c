/* Devices and their primary contexts: made when they are first used, kept to the end of the process, current only while
 * one of our functions runs. */
#include <string.h>

#include "cuda/internal.h"

typedef struct device {
  atomic_bool is_ready;
  CUdevice handle;
  CUcontext context;
} device;

static sb__lock lock;
static device devices[SB__CUDA_DEVICES];
static atomic_int device_count = -1; /* -1: not asked yet */

sb_status sb__cuda_count(int *out) {
  const sb_status status = sb__cuda_load();
  if (status) return status;
  int count = atomic_load(&device_count);
  if (count < 0) {
    const sb_status asked = sb__cuda_check(sb__cu.cuDeviceGetCount(&count), "cuDeviceGetCount");
    if (asked) return asked;
    if (count > SB__CUDA_DEVICES) count = SB__CUDA_DEVICES;
    atomic_store(&device_count, count);
  }
  *out = count;
  return SB_OK;
}

int sb__cuda_devices(void) {
  const int count = atomic_load(&device_count);
  return count < 0 ? 0 : count;
}

bool sb__cuda_is_entered(int index) {
  return index >= 0 && index < SB__CUDA_DEVICES && atomic_load(&devices[index].is_ready);
}

static sb_status check_index(int64_t index) {
  int count = 0;
  const sb_status status = sb__cuda_count(&count);
  if (status) return status;
  if (index >= 0 && index < count) return SB_OK;
  if (count == 0) return sb__fail(SB_ERR_DEVICE, "CUDA is not available: the driver has no device");
  return sb__fail(SB_ERR_DEVICE, "there is no cuda:%lld; the devices are cuda:0 to cuda:%d",
                  (long long)index, count - 1);
}

/* Only one thread makes a context; it stays. */
static sb_status make_context(int index) {
  device *d = &devices[index];
  sb_status status = SB_OK;
  sb__lock_take(&lock);
  if (!atomic_load(&d->is_ready)) {
    status = sb__cuda_check(sb__cu.cuDeviceGet(&d->handle, index), "cuDeviceGet");
    if (!status)
      status = sb__cuda_check(sb__cu.cuDevicePrimaryCtxRetain(&d->context, d->handle),
                              "making the device's context");
    if (!status) atomic_store(&d->is_ready, true);
  }
  sb__lock_drop(&lock);
  return status;
}

sb_status sb__cuda_enter(int64_t index) {
  sb_status status = check_index(index);
  if (status) return status;
  if (!atomic_load(&devices[index].is_ready)) status = make_context((int)index);
  if (status) return status;
  return sb__cuda_check(sb__cu.cuCtxPushCurrent(devices[index].context), "cuCtxPushCurrent");
}

void sb__cuda_leave(void) {
  CUcontext ignored = NULL;
  (void)sb__cu.cuCtxPopCurrent(
      &ignored); /* fails where the context is lost: nothing is left to undo */
}

CUdevice sb__cuda_handle(int index) { return devices[index].handle; }

CUcontext sb__cuda_context(int index) { return devices[index].context; }

enum {
  ATTRIBUTE_MULTIPROCESSORS = 16,
  ATTRIBUTE_MAJOR = 75,
  ATTRIBUTE_MINOR = 76,
  ATTRIBUTE_VMM = 102,
  ATTRIBUTE_VMM_DESCRIPTORS = 103,
  ATTRIBUTE_REGISTER_READ_ONLY = 113,
};

static int attribute(CUdevice handle, int which) {
  int value = 0;
  return sb__cu.cuDeviceGetAttribute(&value, which, handle) ? 0 : value;
}

sb_status sb__cuda_properties_of(int64_t index, sb__cuda_properties *out) {
  CUdevice handle = 0;
  size_t total = 0, free_now = 0;
  sb_status status = check_index(index);
  if (!status) status = sb__cuda_check(sb__cu.cuDeviceGet(&handle, (int)index), "cuDeviceGet");
  if (!status) status = sb__cuda_check(sb__cu.cuDeviceTotalMem(&total, handle), "cuDeviceTotalMem");
  if (status) return status;
  sb__cuda_properties p = {.driver = sb__cu.version, .total = (int64_t)total, .free_now = -1};
  if (sb__cu.cuDeviceGetName(p.name, sizeof p.name, handle)) p.name[0] = 0;
  p.name[sizeof p.name - 1] = 0;
  p.has_uuid = sb__cu.cuDeviceGetUuid && !sb__cu.cuDeviceGetUuid(p.uuid, handle);
  p.major = attribute(handle, ATTRIBUTE_MAJOR);
  p.minor = attribute(handle, ATTRIBUTE_MINOR);
  p.multiprocessors = attribute(handle, ATTRIBUTE_MULTIPROCESSORS);
  p.shares_by_descriptor = sb__cu.cuMemCreate && sb__cu.cuMemExportToShareableHandle &&
                           attribute(handle, ATTRIBUTE_VMM) &&
                           attribute(handle, ATTRIBUTE_VMM_DESCRIPTORS);
  p.registers_read_only = attribute(handle, ATTRIBUTE_REGISTER_READ_ONLY) != 0;
  if (sb__cuda_is_entered((int)index) && !sb__cuda_enter(index)) {
    if (!sb__cu.cuMemGetInfo(&free_now, &total)) p.free_now = (int64_t)free_now;
    sb__cuda_leave();
  }
  *out = p;
  return SB_OK;
}

enum { POINTER_MEMORY_TYPE = 2, POINTER_DEVICE_ORDINAL = 9 };

sb_status sb__cuda_pointer_device(const void *address, int64_t context, int *index, int *kind) {
  unsigned type = 0;
  int ordinal = -1;
  const CUdeviceptr at = (CUdeviceptr)(uintptr_t)address;
  const sb_status status = sb__cuda_enter(context);
  if (status) return status;
  CUresult result = sb__cu.cuPointerGetAttribute(&type, POINTER_MEMORY_TYPE, at);
  if (!result) result = sb__cu.cuPointerGetAttribute(&ordinal, POINTER_DEVICE_ORDINAL, at);
  sb__cuda_leave();
  *index = *kind = -1;
  if (result == SB__CU_INVALID_VALUE) return SB_OK; /* the driver knows nothing of it */
  if (result) return sb__cuda_check(result, "cuPointerGetAttribute");
  *kind = (int)type;
  if (type == 2) *index = ordinal;
  return SB_OK;
}
