/* Device memory that several processes have: what they tell each other of it, and how it is mapped. ipc_server.h hands
 * it out.
 *
 * What is made here comes from the driver's virtual memory management, which gives file descriptors of it: the memory is freed
 * when the last process that has it lets it go. Of memory that others allocated (cuMemAlloc, cudaMalloc) there is an older kind of
 * handle; then it is good for as long as the process that made it keeps it. */
#ifndef SB_CUDA_SHARE_H
#define SB_CUDA_SHARE_H

#include "cuda/cuda.h"

typedef enum sb__vram_kind {
  SB__VRAM_NOTHING, /* no bytes */
  SB__VRAM_FILE,    /* made here: by file descriptor */
  SB__VRAM_HANDLE,  /* of others: by the older handle */
} sb__vram_kind;

typedef struct sb__vram {
  sb__vram_kind kind;
  int device;
  uint8_t uuid[16];
  uint8_t handle[64];  /* of the older kind */
  uint64_t size;       /* bytes of the whole allocation */
  uint64_t offset;     /* bytes from its start */
  CUmemHandle segment; /* of memory made here */
} sb__vram;

/* Uninitialised bytes that other processes can map.
 *
 *   own  nobody else's bytes lie in what they map; else those of others that were made so (up to 2 MiB together)
 *   out  as sb__cuda_storage_new's, at a multiple of 256
 *
 * Bytes that were exported are not used again for other tensors, because nobody tells when importers are done.
 *
 * Errors  SB_ERR_UNSUPPORTED the device or its driver cannot · SB_ERR_MEMORY · SB_ERR_DEVICE · SB_ERR_CUDA_CONTEXT_LOST */
sb_status sb__vram_new(int64_t device, size_t nbytes, bool own, sb_storage **out);

/* What is told of nbytes on a device, which somebody keeps alive. nbytes 0: of nothing.
 *
 * Errors  SB_ERR_UNSUPPORTED memory that the driver does not share: of a pool, or another process' */
sb_status sb__vram_describe(int device, const void *data, size_t nbytes, sb__vram *out);

/* A file descriptor of memory that was made here; the caller closes it. data: as it was described. */
sb_status sb__vram_export(const sb__vram *vram, const void *data, int *file);

/* The device that has a UUID. CUDA_VISIBLE_DEVICES may number it differently in each process.
 *
 * Errors  SB_ERR_DEVICE this process does not see it */
sb_status sb__vram_device(const uint8_t uuid[16], int *device);

/* Maps what another process described: nbytes from offset on. The file stays the caller's.
 *
 *   read_only  the mapping is, where the driver can; whoever has the file may make another one
 *   end        called, unless it is NULL, once the mapping is gone; and when this fails
 *
 * Errors  SB_ERR_BOUNDS outside of the allocation · SB_ERR_MEMORY · SB_ERR_UNSUPPORTED · SB_ERR_DEVICE · … */
sb_status sb__vram_import(const sb__vram *vram, int file, uint64_t nbytes, bool read_only,
                          void (*end)(void *context), void *context, sb_storage **out);

#endif
