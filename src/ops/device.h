/* How core and ops reach tensors that lie on a device: a table that the device layer fills in before the first storage on a device
 * exists. WebAssembly has none, and its module no code for it. */
#ifndef SB_OPS_DEVICE_H
#define SB_OPS_DEVICE_H

#include "kernels/kernels.h"
#include "ops/copy.h"

typedef struct sb__device_table {
  const char *called; /* in messages, before a number */

  /* As sb_copy_scaled; dst or src lies on a device. The dtypes were judged, the target was checked, shapes broadcast. checks_range: values that
   * a person wrote, which have to fit. */
  sb_status (*copy)(const sb__copy *c, bool checks_range, int64_t *staged);

  /* Writes the bytes of one item (at a multiple of 16) to every element; t has elements, lies on a device, and repeats none. */
  sb_status (*fill)(const sb_tensor *t, const void *item);

  /* Draws all elements of t, which was checked and has some. */
  sb_status (*random)(const sb_tensor *t, const sb__random *how);

  /* Uninitialised bytes where like's are. */
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
