/* Bytes across the border between host and device, in one stretch. Pageable memory goes through two page-locked blocks in turn, one
 * filled while the other flies. */
#include <string.h>

#include "cuda/internal.h"

#define STAGE ((size_t)8 << 20) /* bytes of a page-locked block */

/* ---- Across the border; in lane's context ---- */

static CUresult cross(sb__cuda_way way, CUdeviceptr device, void *host, size_t n, CUstream stream) {
  return way == SB__CUDA_UP ? sb__cu.cuMemcpyHtoDAsync(device, host, n, stream)
                            : sb__cu.cuMemcpyDtoHAsync(host, device, n, stream);
}

static const char *name_of(sb__cuda_way way) {
  return way == SB__CUDA_UP ? "a copy to the device" : "a copy from the device";
}

/* Without waiting: the host's side is page-locked. */
static sb_status cross_pinned(sb__cuda_way way, CUdeviceptr device, void *host, size_t n,
                              sb__cuda_use *use, const sb__cuda_lane *lane) {
  sb_status status = sb__cuda_use_before(use, lane);
  if (status) return status;
  sb__cuda_note(name_of(way));
  status = sb__cuda_given(cross(way, device, host, n, lane->stream), lane, name_of(way));
  return status ? status : sb__cuda_use_after(use, lane);
}

/* A page-locked block and the event of its last transfer. */
typedef struct stage {
  sb_storage *block;
  CUevent event; /* NULL: none is under way */
  size_t at, n;  /* the bytes of that */
} stage;

static sb_status begin_stage(sb__cuda_way way, CUdeviceptr device, stage *s,
                             const sb__cuda_lane *lane) {
  sb_status status =
      cross_pinned(way, device + s->at, s->block->data, s->n, sb__cuda_use_of(s->block), lane);
  if (!status) status = sb__cuda_event_take(lane->device, &s->event);
  if (!status)
    status = sb__cuda_check(sb__cu.cuEventRecord(s->event, lane->stream), "recording an event");
  return status;
}

static sb_status end_stage(sb__cuda_way way, char *host, stage *s, const sb__cuda_lane *lane) {
  if (!s->event) return SB_OK;
  const sb_status status = sb__cuda_check(sb__cu.cuEventSynchronize(s->event), name_of(way));
  sb__cuda_event_give(lane->device, s->event);
  s->event = NULL;
  if (!status) sb__cuda_use_settled(sb__cuda_use_of(s->block));
  if (!status && way == SB__CUDA_DOWN) memcpy(host + s->at, s->block->data, s->n);
  return status;
}

/* Through page-locked blocks: the host's side has been read, or written, when this returns. */
static sb_status cross_pageable(sb__cuda_way way, CUdeviceptr device, char *host, size_t n,
                                const sb__cuda_lane *lane) {
  stage stages[2] = {{.block = NULL}, {.block = NULL}};
  const size_t size = n < STAGE ? n : STAGE;
  size_t sent = 0;
  int i = 0;
  sb_status status = sb__cuda_pinned_new(size, &stages[0].block);
  if (!status && n > size) status = sb__cuda_pinned_new(size, &stages[1].block);
  for (; !status && sent < n; i = 1 - i) {
    stage *s = &stages[i];
    status = end_stage(way, host, s, lane); /* of the one before the last */
    s->at = sent;
    s->n = n - sent < size ? n - sent : size;
    if (!status && way == SB__CUDA_UP) memcpy(s->block->data, host + s->at, s->n);
    if (!status) status = begin_stage(way, device, s, lane);
    sent += s->n;
  }
  for (int k = 0; k < 2;
       k++, i = 1 - i) { /* going up, blocks go back to their pool while they are sent */
    if (!status && way == SB__CUDA_DOWN) status = end_stage(way, host, &stages[i], lane);
    sb__cuda_event_give(lane->device, stages[i].event);
    sb_storage_unref(&stages[i].block);
  }
  return status;
}

sb_status sb__cuda_cross(sb__cuda_way way, CUdeviceptr device, const sb_storage *owner, void *host,
                         size_t n, bool wait, const sb__cuda_lane *lane) {
  if (n == 0) return SB_OK;
  sb__cuda_registration *held = NULL;
  sb__cuda_use *use = sb__cuda_pin(owner, host, n, &held);
  if (!use) return cross_pageable(way, device, host, n, lane);
  sb_status status = cross_pinned(way, device, host, n, use, lane);
  if (!status && wait) status = sb__cuda_use_wait(use);
  sb__cuda_unpin(held);
  return status;
}
