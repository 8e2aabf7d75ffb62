/* Transfers of contiguous bytes between host and device. Pageable memory is staged in two page-locked blocks: one is filled or read
 * while the other is transferred. */
#include <string.h>

#include "cuda/internal.h"

#define STAGE ((size_t)8 << 20) /* bytes of a page-locked block */

static CUresult copy_async(sb__cuda_direction direction, CUdeviceptr device, void *host, size_t n,
                           CUstream stream) {
  return direction == SB__CUDA_TO_DEVICE ? sb__cu.cuMemcpyHtoDAsync(device, host, n, stream)
                                         : sb__cu.cuMemcpyDtoHAsync(host, device, n, stream);
}

static const char *name_of(sb__cuda_direction direction) {
  return direction == SB__CUDA_TO_DEVICE ? "a copy to the device" : "a copy from the device";
}

/* Without waiting: the host's side is page-locked. */
static sb_status transfer_pinned(sb__cuda_direction direction, CUdeviceptr device, void *host,
                                 size_t n, sb__cuda_last_use *use,
                                 const sb__cuda_raw_stream *stream) {
  sb_status status = sb__cuda_last_use_before(use, stream);
  if (status) return status;
  sb__cuda_note(name_of(direction));
  status = sb__cuda_given(copy_async(direction, device, host, n, stream->handle), stream,
                          name_of(direction));
  return status ? status : sb__cuda_last_use_after(use, stream);
}

/* A page-locked block and the event of its last transfer. */
typedef struct stage {
  sb_storage *block;
  CUevent event; /* NULL: none is on its way */
  size_t at, n;  /* the bytes of that */
} stage;

static sb_status begin_stage(sb__cuda_direction direction, CUdeviceptr device, stage *s,
                             const sb__cuda_raw_stream *stream) {
  sb_status status = transfer_pinned(direction, device + s->at, s->block->data, s->n,
                                     sb__cuda_last_use_of(s->block), stream);
  if (!status) status = sb__cuda_event_take(stream->device, &s->event);
  if (!status)
    status = sb__cuda_check(sb__cu.cuEventRecord(s->event, stream->handle), "recording an event");
  return status;
}

static sb_status end_stage(sb__cuda_direction direction, char *host, stage *s,
                           const sb__cuda_raw_stream *stream) {
  if (!s->event) return SB_OK;
  const sb_status status = sb__cuda_check(sb__cu.cuEventSynchronize(s->event), name_of(direction));
  sb__cuda_event_give(stream->device, s->event);
  s->event = NULL;
  if (!status) sb__cuda_last_use_settled(sb__cuda_last_use_of(s->block));
  if (!status && direction == SB__CUDA_TO_HOST) memcpy(host + s->at, s->block->data, s->n);
  return status;
}

/* Through page-locked blocks: the host's side has been read, or written, when this returns. */
static sb_status transfer_pageable(sb__cuda_direction direction, CUdeviceptr device, char *host,
                                   size_t n, const sb__cuda_raw_stream *stream) {
  stage stages[2] = {{.block = NULL}, {.block = NULL}};
  const size_t size = n < STAGE ? n : STAGE;
  size_t sent = 0;
  int i = 0;
  sb_status status = sb__cuda_pinned_new(size, &stages[0].block);
  if (!status && n > size) status = sb__cuda_pinned_new(size, &stages[1].block);
  for (; !status && sent < n; i = 1 - i) {
    stage *s = &stages[i];
    status = end_stage(direction, host, s, stream); /* of the one before the last */
    s->at = sent;
    s->n = n - sent < size ? n - sent : size;
    if (!status && direction == SB__CUDA_TO_DEVICE) memcpy(s->block->data, host + s->at, s->n);
    if (!status) status = begin_stage(direction, device, s, stream);
    sent += s->n;
  }
  for (int k = 0; k < 2;
       k++, i = 1 - i) { /* going up, blocks go back to their pool while they are sent */
    if (!status && direction == SB__CUDA_TO_HOST)
      status = end_stage(direction, host, &stages[i], stream);
    sb__cuda_event_give(stream->device, stages[i].event);
    sb_storage_unref(&stages[i].block);
  }
  return status;
}

sb_status sb__cuda_transfer(sb__cuda_direction direction, CUdeviceptr device,
                            const sb_storage *owner, void *host, size_t n, bool wait,
                            const sb__cuda_raw_stream *stream) {
  if (n == 0) return SB_OK;
  sb__cuda_registration *held = NULL;
  sb__cuda_last_use *use = sb__cuda_pin(owner, host, n, &held);
  if (!use) return transfer_pageable(direction, device, host, n, stream);
  sb_status status = transfer_pinned(direction, device, host, n, use, stream);
  if (!status && wait) status = sb__cuda_last_use_wait(use);
  sb__cuda_unpin(held);
  return status;
}
