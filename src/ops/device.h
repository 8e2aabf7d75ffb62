/* Operations on devices: a table of functions, which src/cuda registers before the first storage on a device exists.
 * WebAssembly has no devices. */
#ifndef SB_OPS_DEVICE_H
#define SB_OPS_DEVICE_H

#include "kernels/kernels.h"
#include "ops/copy.h"

typedef struct sb__device_table {
  const char *called; /* the kind of device, for messages: "cuda" */

  /* As sb_copy_scaled; dst or src is on a device. Dtypes, target and broadcasting are already checked. checks_range: as
   * sb_copy_values. */
  sb_status (*copy)(const sb__copy *c, bool checks_range, int64_t *staged);

  /* Writes one item (16-byte aligned) to every element. t has elements, is on a device, and has no stride of 0. */
  sb_status (*fill)(const sb_tensor *t, const void *item);

  /* Draws all elements of t, which is checked and not empty. */
  sb_status (*random)(const sb_tensor *t, const sb__random *how);

  /* Allocates uninitialised bytes on like's device. */
  sb_status (*allocate)(const sb_storage *like, size_t nbytes, sb_storage **out);
} sb__device_table;

#if defined(__wasm__)
# define sb__device ((const sb__device_table *)NULL)
#else
/* NULL until there is a device. */
const sb__device_table *sb__device_now(void);
void sb__device_register(const sb__device_table *table);
# define sb__device (sb__device_now())
#endif

#endif
