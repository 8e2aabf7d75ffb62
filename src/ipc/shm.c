/* Shared memory between processes. owners.c has names and owners, JavaScript the headers. */
#ifndef __wasm__
# include "ipc/shm.h"

# include <string.h>

static void close_file(void *data, void *context) {
  (void)data;
  sb__os_close((int)(intptr_t)context);
}

/* Unless it was published, it goes. */
static void close_segment(void *data, void *context) {
  sb__os_segment_abandon((int)(intptr_t)context);
  close_file(data, context);
}

/* Takes ownership of the file, also on failure. */
static sb_status hold_file(int file, sb_deleter close, sb_storage **out, int *held) {
  const sb_status status =
      sb__storage_wrap_as(SB__STORAGE_FILE, NULL, 0, close, (void *)(intptr_t)file, out);
  if (status) close(NULL, (void *)(intptr_t)file);
  *held = file;
  return status;
}

sb_status sb__file_hold(int64_t file, sb_storage **out, int *held, int *error) {
  if (file < 0 || file > INT32_MAX) return sb__fail(SB_ERR_ARGUMENT, "this is no file");
  const int made = sb__os_duplicate((int)file, error);
  if (made < 0) {
    return sb__fail(SB_ERR_IO, "file descriptor %lld: %s", (long long)file, strerror(*error));
  }
  return hold_file(made, close_file, out, held);
}

sb_status sb__segment_new(bool sealed, int64_t mode, int64_t nbytes, sb_storage **out, int *held,
                          int *error) {
  if (nbytes < 1 || mode < 0 || mode > 0777) {
    return sb__fail(SB_ERR_ARGUMENT, "no segment has %lld bytes or mode %llo", (long long)nbytes,
                    (unsigned long long)mode);
  }
  const int file = sb__os_segment_new(sealed, (uint32_t)mode, nbytes, error);
  if (file < 0) {
    return sb__fail(SB_ERR_IO, "%lld bytes of shared memory could not be had: %s",
                    (long long)nbytes, strerror(*error));
  }
  return hold_file(file, close_segment, out, held);
}
#else
typedef int sb__no_shm;
#endif
