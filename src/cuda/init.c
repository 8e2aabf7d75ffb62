/* Registration of the device table, and the reason why CUDA cannot be used. */
#include "cuda/internal.h"

/* When the library is loaded: core and ops find devices by this table (ops/device.h). Opens no driver. Linkers take this file from the
 * archive because sb__cuda_why_not is asked for (binding.gyp): both stay in one file. */
__attribute__((constructor)) static void register_device(void) {
  sb__device_register(sb__cuda_table());
}

const char *sb__cuda_why_not(void) {
  int count = 0;
  sb_status status = sb__cuda_count(&count);
  if (!status && count == 0)
    status = sb__fail(SB_ERR_DEVICE, "CUDA is not available: the driver has no device");
  if (!status) status = sb__cuda_check_code();
  return status ? sb_error_message() : "";
}
