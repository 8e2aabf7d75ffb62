/* Copies of which a side lies on a device, fills and random numbers there.
 *
 * Bytes cross the border between host and device in one stretch, in the order of a layout without gaps; what has to be done to them,
 * the side does that has less to send: the device has kernels for all of it, and the CPU does what it is given in sb_copy. Pageable
 * memory goes through two page-locked blocks in turn, one filled while the other flies. */
#include <string.h>

#include "cuda/inside.h"

#define STAGE ((size_t)8 << 20) /* bytes of a page-locked block */

static CUdeviceptr address_of(const sb_tensor *t) {
  return (CUdeviceptr)(uintptr_t)sb_tensor_data(t);
}

/* Gaps neither between elements nor before them: nbytes from the first one on are all it has. */
static bool is_dense(const sb_tensor *t) {
  sb_tensor dense;
  if (sb_dense_like(t, t->dtype, &dense)) return false;
  for (int32_t d = 0; d < t->ndim; d++) {
    if (t->shape[d] != 1 && t->strides[d] != dense.strides[d]) return false;
  }
  return true;
}

static bool has_one_shape(const sb_tensor *a, const sb_tensor *b) {
  if (a->ndim != b->ndim) return false;
  for (int32_t d = 0; d < a->ndim; d++) {
    if (a->shape[d] != b->shape[d]) return false;
  }
  return true;
}

/* Both dense, and their bytes are the same. */
static bool is_alike(const sb_tensor *a, const sb_tensor *b) {
  if (a->dtype != b->dtype || !has_one_shape(a, b) || !is_dense(a)) return false;
  for (int32_t d = 0; d < a->ndim; d++) {
    if (a->shape[d] != 1 && a->strides[d] != b->strides[d]) return false;
  }
  return true;
}

/* A dense tensor on a device; out holds its storage. */
static sb_status new_on(int device, const sb_tensor *like, sb_dtype dtype, sb_tensor *out) {
  sb_tensor made;
  sb_status status = sb_dense_like(like, dtype, &made);
  if (!status)
    status = sb__cuda_storage_new(device, (size_t)sb_tensor_nbytes(&made), NULL, &made.storage);
  if (!status) sb_tensor_copy_layout(&made, out);
  return status;
}

static sb_status new_pinned(const sb_tensor *like, sb_dtype dtype, sb_tensor *out) {
  sb_tensor made;
  sb_status status = sb_dense_like(like, dtype, &made);
  if (!status) status = sb__cuda_pinned_new((size_t)sb_tensor_nbytes(&made), &made.storage);
  if (!status) sb_tensor_copy_layout(&made, out);
  return status;
}

static sb__cuda_use *use_of(const sb_storage *storage) {
  sb__cuda_memory *memory = sb__cuda_memory_of(storage);
  return memory ? &memory->use : NULL;
}

static sb_status before(const sb_storage *storage, const sb__cuda_lane *lane) {
  const sb__cuda_use *use = use_of(storage);
  return use ? sb__cuda_use_before(use, lane) : SB_OK;
}

static sb_status after(const sb_storage *storage, const sb__cuda_lane *lane) {
  sb__cuda_use *use = use_of(storage);
  return use ? sb__cuda_use_after(use, lane) : SB_OK;
}

/* The driver's answer to an operation that was given to lane. */
static sb_status given(CUresult result, const sb__cuda_lane *lane, const char *operation) {
  sb_status status = sb__cuda_check(result, operation);
  if (!status && sb__cuda_is_synchronous()) status = sb__cuda_lane_wait(lane, operation);
  return status;
}

/* ---- Across the border; in lane's context ---- */

typedef enum direction { UP, DOWN } direction;

static CUresult cross(direction way, CUdeviceptr device, void *host, size_t n, CUstream stream) {
  return way == UP ? sb__cu.cuMemcpyHtoDAsync(device, host, n, stream)
                   : sb__cu.cuMemcpyDtoHAsync(host, device, n, stream);
}

static const char *name_of(direction way) {
  return way == UP ? "a copy to the device" : "a copy from the device";
}

/* Without waiting: the host's side is page-locked. */
static sb_status cross_pinned(direction way, CUdeviceptr device, void *host, size_t n,
                              sb__cuda_use *use, const sb__cuda_lane *lane) {
  sb_status status = sb__cuda_use_before(use, lane);
  if (status) return status;
  sb__cuda_note(name_of(way));
  status = given(cross(way, device, host, n, lane->stream), lane, name_of(way));
  return status ? status : sb__cuda_use_after(use, lane);
}

/* A page-locked block and the event of its last transfer. */
typedef struct stage {
  sb_storage *block;
  CUevent event; /* NULL: none is under way */
  size_t at, n;  /* the bytes of that */
} stage;

static sb_status begin_stage(direction way, CUdeviceptr device, stage *s,
                             const sb__cuda_lane *lane) {
  sb_status status =
      cross_pinned(way, device + s->at, s->block->data, s->n, use_of(s->block), lane);
  if (!status) status = sb__cuda_event_take(lane->device, &s->event);
  if (!status)
    status = sb__cuda_check(sb__cu.cuEventRecord(s->event, lane->stream), "recording an event");
  return status;
}

static sb_status end_stage(direction way, char *host, stage *s, const sb__cuda_lane *lane) {
  if (!s->event) return SB_OK;
  const sb_status status = sb__cuda_check(sb__cu.cuEventSynchronize(s->event), name_of(way));
  sb__cuda_event_give(lane->device, s->event);
  s->event = NULL;
  if (!status) sb__cuda_use_settled(use_of(s->block));
  if (!status && way == DOWN) memcpy(host + s->at, s->block->data, s->n);
  return status;
}

/* Through page-locked blocks: the host's side has been read, or written, when this returns. */
static sb_status cross_pageable(direction way, CUdeviceptr device, char *host, size_t n,
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
    if (!status && way == UP) memcpy(s->block->data, host + s->at, s->n);
    if (!status) status = begin_stage(way, device, s, lane);
    sent += s->n;
  }
  for (int k = 0; k < 2;
       k++, i = 1 - i) { /* going up, blocks go back to their pool while they are sent */
    if (!status && way == DOWN) status = end_stage(way, host, &stages[i], lane);
    sb__cuda_event_give(lane->device, stages[i].event);
    sb_storage_unref(&stages[i].block);
  }
  return status;
}

/* wait: the host's side is no longer in use when this returns; pageable memory never is. */
static sb_status cross_bytes(direction way, CUdeviceptr device, const sb_storage *owner, void *host,
                             size_t n, bool wait, const sb__cuda_lane *lane) {
  if (n == 0) return SB_OK;
  sb__cuda_use *use = sb__cuda_pinned_use(owner, host, n);
  if (!use) return cross_pageable(way, device, host, n, lane);
  const sb_status status = cross_pinned(way, device, host, n, use, lane);
  return status || !wait ? status : sb__cuda_use_wait(use);
}

/* ---- On one device; in lane's context ---- */

static sb_status emit(void *context, const sb__cuda_launch *launch) {
  const sb__cuda_lane *lane = context;
  return sb__cuda_launch_now(lane->device, lane->stream, launch);
}

static bool may_overlap(const sb_tensor *a, const sb_tensor *b) {
  int64_t low = 0, high = 0;
  const sb_tensor *t[2] = {a, b};
  CUdeviceptr begin[2], end[2];
  for (int i = 0; i < 2; i++) {
    const int64_t itemsize = sb_dtype_itemsize(t[i]->dtype);
    if (!sb__extent(t[i], &low, &high)) return true;
    begin[i] = address_of(t[i]) + (CUdeviceptr)(low * itemsize);
    end[i] = address_of(t[i]) + (CUdeviceptr)((high + 1) * itemsize);
  }
  return begin[0] < end[1] && begin[1] < end[0];
}

/* Each element is read where it is written, and nowhere else. */
static bool is_in_place(const sb_tensor *dst, const sb_tensor *src) {
  if (address_of(dst) != address_of(src)) return false;
  if (sb_dtype_itemsize(dst->dtype) != sb_dtype_itemsize(src->dtype)) return false;
  for (int32_t d = 0; d < dst->ndim; d++) {
    if (dst->shape[d] != 1 && dst->strides[d] != src->strides[d]) return false;
  }
  return true;
}

/* Factors come to the device, in the shape that dst shows them in. */
static sb_status bring(const sb_tensor *factor, const sb_tensor *shown, const sb__cuda_lane *lane,
                       sb_tensor *out) {
  sb_tensor made, host;
  sb_status status = sb_clone(factor, SB_FLOAT64, SB_CASTING_SAFE, &host);
  if (status) return status;
  status = new_on(lane->device, &host, SB_FLOAT64, &made);
  if (!status) {
    status = before(made.storage, lane);
    if (!status)
      status = cross_bytes(UP, address_of(&made), host.storage, sb_tensor_data(&host),
                           (size_t)sb_tensor_nbytes(&host), true, lane);
    if (!status) status = after(made.storage, lane);
    if (status) sb_tensor_release(&made);
  }
  sb_tensor_release(&host);
  if (status) return status;
  sb_tensor_copy_layout(shown, out);
  out->storage = made.storage;
  out->offset = 0;
  return SB_OK;
}

typedef struct factors {
  sb_tensor scale, bias; /* hold their storages; storage NULL: none */
} factors;

static sb_status bring_factors(const sb__copy *c, const sb__cuda_lane *lane, factors *out) {
  sb_tensor scale, bias;
  sb__copy dense = *c;
  sb_tensor dense_scale, dense_bias;
  out->scale.storage = out->bias.storage = NULL;
  if (!c->scale) return SB_OK;
  sb_status status = sb_dense_like(c->scale, SB_FLOAT64, &dense_scale);
  if (!status) status = sb_dense_like(c->bias, SB_FLOAT64, &dense_bias);
  dense.scale = &dense_scale;
  dense.bias = &dense_bias;
  if (!status) status = sb__copy_spread(&dense, &scale, &bias);
  if (!status) status = bring(c->scale, &scale, lane, &out->scale);
  if (!status) status = bring(c->bias, &bias, lane, &out->bias);
  if (status) sb_tensor_release(&out->scale);
  return status;
}

static void release_factors(factors *f, const sb__cuda_lane *lane) {
  if (!f->scale.storage) return;
  (void)after(f->scale.storage, lane);
  (void)after(f->bias.storage, lane);
  sb_tensor_release(&f->scale);
  sb_tensor_release(&f->bias);
}

/* dst and src lie on lane's device. */
static sb_status copy_there(const sb__copy *c, const sb__cuda_lane *lane, int64_t *staged) {
  const sb_tensor *dst = c->dst, *src = c->src;
  sb_tensor shown, held = {.storage = NULL};
  factors f = {.scale.storage = NULL};
  sb_status status = before(dst->storage, lane);
  if (!status) status = before(src->storage, lane);
  if (!status) status = sb_broadcast_to(src, dst->ndim, dst->shape, &shown);
  if (status) return status;
  if (may_overlap(dst, &shown) && !is_in_place(dst, &shown)) {
    status = new_on(lane->device, src, src->dtype, &held);
    if (status) return status;
    status = copy_there(&(sb__copy){.dst = &held, .src = src}, lane, staged);
    if (!status) status = sb_broadcast_to(&held, dst->ndim, dst->shape, &shown);
    if (!status && staged) *staged += sb_tensor_nbytes(&held);
  }
  if (!status) status = bring_factors(c, lane, &f);
  if (!status && !c->scale && is_alike(dst, &shown)) {
    sb__cuda_note("a copy on the device");
    status = given(sb__cu.cuMemcpyDtoDAsync(address_of(dst), address_of(&shown),
                                            (size_t)sb_tensor_nbytes(dst), lane->stream),
                   lane, "a copy on the device");
  } else if (!status) {
    status = sb__cuda_plan_copy(dst, &shown, c->scale ? &f.scale : NULL, c->scale ? &f.bias : NULL,
                                emit, (void *)(uintptr_t)lane);
  }
  const sb_status touched = after(dst->storage, lane), read = after(src->storage, lane);
  if (held.storage) (void)after(held.storage, lane);
  release_factors(&f, lane);
  sb_tensor_release(&held);
  return status ? status : touched ? touched : read;
}

/* ---- Up ---- */

static sb_status send(const sb_tensor *dst, const sb_tensor *src, bool wait,
                      const sb__cuda_lane *lane) {
  sb_status status = before(dst->storage, lane);
  if (!status) {
    status = cross_bytes(UP, address_of(dst), src->storage, sb_tensor_data(src),
                         (size_t)sb_tensor_nbytes(src), wait, lane);
  }
  const sb_status touched = after(dst->storage, lane);
  return status ? status : touched;
}

/* On the host what dst is to have: dense, of its dtype. */
static sb_status make_on_host(const sb__copy *c, bool must_fit, int64_t *staged, sb_tensor *out) {
  sb_tensor made;
  sb_status status = sb_tensor_empty_like(c->dst, c->dst->dtype, &made);
  if (status) return status;
  sb__copy here = *c;
  here.dst = &made;
  status = must_fit ? sb_copy_values(&made, c->src) : sb__copy_run(&here, NULL);
  if (!status && staged) *staged += sb_tensor_nbytes(&made);
  if (status)
    sb_tensor_release(&made);
  else
    sb_tensor_copy_layout(&made, out);
  return status;
}

/* By way of a dense tensor of src's own on the device. */
static sb_status up_then_convert(const sb__copy *c, bool wait, const sb__cuda_lane *lane,
                                 int64_t *staged) {
  sb_tensor there;
  sb_status status = new_on(lane->device, c->src, c->src->dtype, &there);
  if (status) return status;
  status = send(&there, c->src, wait, lane);
  sb__copy rest = *c;
  rest.src = &there;
  if (!status) status = copy_there(&rest, lane, staged);
  sb_tensor_release(&there);
  return status;
}

static sb_status convert_then_up(const sb__copy *c, bool must_fit, const sb__cuda_lane *lane,
                                 int64_t *staged) {
  sb_tensor here, there;
  sb_status status = make_on_host(c, must_fit, staged, &here);
  if (status) return status;
  if (is_alike(c->dst, &here)) {
    status = send(c->dst, &here, true, lane);
  } else {
    status = new_on(lane->device, &here, here.dtype, &there);
    if (!status) {
      status = send(&there, &here, true, lane);
      if (!status) status = copy_there(&(sb__copy){.dst = c->dst, .src = &there}, lane, NULL);
      sb_tensor_release(&there);
    }
  }
  sb_tensor_release(&here);
  return status;
}

static sb_status up(const sb__copy *c, bool must_fit, bool wait, const sb__cuda_lane *lane,
                    int64_t *staged) {
  if (!must_fit && !c->scale && is_alike(c->dst, c->src)) return send(c->dst, c->src, wait, lane);
  /* Fewer bytes cross the border where src comes as it is, and the device has the kernels. */
  if (!must_fit && is_dense(c->src) && sb_tensor_nbytes(c->src) <= sb_tensor_nbytes(c->dst)) {
    const sb_status status = up_then_convert(c, wait, lane, staged);
    if (status != SB_ERR_UNSUPPORTED && status != SB_ERR_NOT_FOUND) return status;
  }
  return convert_then_up(c, must_fit, lane, staged);
}

/* ---- Down ---- */

/* A dense tensor of src's elements on the device: src itself, or a copy that out holds. */
static sb_status dense_there(const sb_tensor *src, const sb__cuda_lane *lane, sb_tensor *out) {
  if (is_dense(src)) {
    sb_tensor_copy_layout(src, out);
    sb_storage_ref(out->storage);
    return SB_OK;
  }
  sb_tensor made;
  sb_status status = new_on(lane->device, src, src->dtype, &made);
  if (status) return status;
  status = copy_there(&(sb__copy){.dst = &made, .src = src}, lane, NULL);
  if (status)
    sb_tensor_release(&made);
  else
    sb_tensor_copy_layout(&made, out);
  return status;
}

static sb_status fetch(const sb_tensor *dst, const sb_tensor *src, bool wait,
                       const sb__cuda_lane *lane) {
  sb_status status = before(src->storage, lane);
  if (!status) {
    status = cross_bytes(DOWN, address_of(src), dst->storage, sb_tensor_data(dst),
                         (size_t)sb_tensor_nbytes(dst), wait, lane);
  }
  const sb_status touched = after(src->storage, lane);
  return status ? status : touched;
}

/* What src has, and dst is to get: of dst's dtype where that has fewer bytes and the device can convert it. */
static sb_status prepare_down(const sb__copy *c, const sb__cuda_lane *lane, sb_tensor *out,
                              bool *converted) {
  const sb_tensor *dst = c->dst, *src = c->src;
  sb_tensor made;
  *converted = false;
  if (!is_alike(dst, src) && sb_tensor_nbytes(dst) <= sb_tensor_nbytes(src) && is_dense(dst)) {
    sb_status status = new_on(lane->device, dst, dst->dtype, &made);
    if (status) return status;
    sb__copy there = *c;
    there.dst = &made;
    status = copy_there(&there, lane, NULL);
    if (!status) {
      sb_tensor_copy_layout(&made, out);
      *converted = true;
      return SB_OK;
    }
    sb_tensor_release(&made);
    if (status != SB_ERR_UNSUPPORTED && status != SB_ERR_NOT_FOUND) return status;
  }
  return dense_there(src, lane, out);
}

static sb_status down(const sb__copy *c, const sb__cuda_lane *lane, int64_t *staged) {
  sb_tensor there, here;
  bool converted = false;
  sb_status status = prepare_down(c, lane, &there, &converted);
  if (status) return status;
  if (is_alike(c->dst, &there) && (converted || !c->scale)) {
    status = fetch(c->dst, &there, true, lane);
  } else {
    status = sb_tensor_empty_like(&there, there.dtype, &here);
    if (!status) {
      status = fetch(&here, &there, true, lane);
      sb__copy rest = *c;
      rest.src = &here;
      if (!status) status = sb__copy_run(&rest, NULL);
      if (!status && staged) *staged += sb_tensor_nbytes(&here);
      sb_tensor_release(&here);
    }
  }
  sb_tensor_release(&there);
  return status;
}

/* ---- Between devices ---- */

/* from's context is the current one. to's lane follows what was sent: so what lies on a device is touched by its own streams. */
static sb_status send_peer(const sb_tensor *dst, const sb_tensor *src, const sb__cuda_lane *to,
                           const sb__cuda_lane *from) {
  CUevent event = NULL;
  if (!sb__cu.cuMemcpyPeerAsync)
    return sb__fail(SB_ERR_UNSUPPORTED, "this driver copies nothing between devices");
  sb_status status = before(src->storage, from);
  if (!status) status = before(dst->storage, from);
  sb__cuda_note("a copy between devices");
  if (!status) {
    status = given(sb__cu.cuMemcpyPeerAsync(address_of(dst), sb__cuda_context(to->device),
                                            address_of(src), sb__cuda_context(from->device),
                                            (size_t)sb_tensor_nbytes(src), from->stream),
                   from, "a copy between devices");
  }
  if (!status) status = after(src->storage, from);
  if (status) return status;
  status = sb__cuda_event_take(from->device, &event);
  if (!status)
    status = sb__cuda_check(sb__cu.cuEventRecord(event, from->stream), "recording an event");
  if (!status) {
    status = sb__cuda_enter(to->device);
    if (!status) {
      status = sb__cuda_check(sb__cu.cuStreamWaitEvent(to->stream, event, 0),
                              "making a stream wait for another device");
      if (!status) status = after(dst->storage, to);
      sb__cuda_leave();
    }
  }
  sb__cuda_event_give(from->device, event);
  if (status)
    (void)sb__cu.cuStreamSynchronize(from->stream); /* dst may be freed before it was written */
  return status;
}

static sb_status across(const sb__copy *c, const sb__cuda_lane *to, const sb__cuda_lane *from) {
  sb_tensor dense, there;
  sb_status status = dense_there(c->src, from, &dense);
  if (status) return status;
  if (!c->scale && is_alike(c->dst, &dense)) {
    status = send_peer(c->dst, &dense, to, from);
  } else {
    status = new_on(to->device, &dense, dense.dtype, &there);
    if (!status) {
      status = send_peer(&there, &dense, to, from);
      sb__copy rest = *c;
      rest.src = &there;
      if (!status) status = sb__cuda_enter(to->device);
      if (!status) {
        status = copy_there(&rest, to, NULL);
        sb__cuda_leave();
      }
      sb_tensor_release(&there);
    }
  }
  sb_tensor_release(&dense);
  return status;
}

/* ---- The table ---- */

static sb_status run(const sb__copy *c, bool must_fit, bool wait, int64_t *staged) {
  const int to = c->dst->storage->device, from = c->src->storage->device;
  const sb__cuda_lane lane = sb__cuda_lane_for(from >= 0 ? from : to);
  sb_status status = sb__cuda_enter(lane.device);
  if (status) return status;
  if (to >= 0 && from >= 0 && to != from) {
    const sb__cuda_lane other = sb__cuda_lane_for(to);
    status = across(c, &other, &lane);
  } else if (to >= 0 && from >= 0) {
    status = copy_there(c, &lane, staged);
  } else if (to >= 0) {
    status = up(c, must_fit, wait, &lane, staged);
  } else {
    status = down(c, &lane, staged);
  }
  sb__cuda_leave();
  return status;
}

static sb_status table_copy(const sb__copy *c, bool must_fit, int64_t *staged) {
  return run(c, must_fit, true, staged);
}

static sb_status table_fill(const sb_tensor *t, const void *item) {
  const int device = t->storage->device;
  const sb__cuda_lane lane = sb__cuda_lane_for(device);
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = before(t->storage, &lane);
  if (!status) status = sb__cuda_plan_fill(t, item, emit, (void *)(uintptr_t)&lane);
  const sb_status touched = after(t->storage, &lane);
  sb__cuda_leave();
  return status ? status : touched;
}

static sb_status table_random(const sb_tensor *t, const sb__random *how) {
  const int device = t->storage->device;
  const sb__cuda_lane lane = sb__cuda_lane_for(device);
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = before(t->storage, &lane);
  if (!status) status = sb__cuda_plan_random(t, how, emit, (void *)(uintptr_t)&lane);
  const sb_status touched = after(t->storage, &lane);
  sb__cuda_leave();
  return status ? status : touched;
}

static sb_status table_allocate(const sb_storage *like, size_t nbytes, sb_storage **out) {
  return sb__cuda_storage_new(like->device, nbytes, NULL, out);
}

void sb__cuda_begin_table(void) {
  static const sb__device_table table = {table_copy, table_fill, table_random, table_allocate};
  sb__device_register(&table);
}

/* ---- Without waiting ---- */

struct sb__cuda_copying {
  int device;
  CUstream stream; /* kept of its lane */
  CUevent event;   /* of all that was given; NULL: somebody waits for it, or has */
  sb_tensor
      room; /* page-locked, what a pageable target is to get; storage NULL: nothing is left to do */
  bool converted; /* as the target wants it */
};

static bool is_on_host(const sb_tensor *t) { return t->storage->device < 0; }

/* The way down, as far as it goes without waiting. */
static sb_status begin_down(const sb__copy *c, const sb__cuda_lane *lane, sb__cuda_copying *out) {
  sb_tensor there;
  const sb_tensor *dst = c->dst;
  sb_status status = prepare_down(c, lane, &there, &out->converted);
  if (status) return status;
  if (is_alike(dst, &there) && (out->converted || !c->scale) &&
      sb__cuda_is_pinned(dst->storage, sb_tensor_data(dst), (size_t)sb_tensor_nbytes(dst))) {
    status = fetch(dst, &there, false, lane);
  } else {
    status = new_pinned(&there, there.dtype, &out->room);
    if (!status) status = fetch(&out->room, &there, false, lane);
  }
  sb_tensor_release(&there);
  return status;
}

static sb_status begin(const sb__copy *c, sb__cuda_copying *out, int64_t *staged) {
  if (!is_on_host(c->dst)) return run(c, false, false, staged);
  const sb__cuda_lane lane = sb__cuda_lane_for(out->device);
  sb_status status = sb__cuda_enter(lane.device);
  if (status) return status;
  status = begin_down(c, &lane, out);
  sb__cuda_leave();
  return status;
}

static sb_status mark(sb__cuda_copying *c) {
  const sb__cuda_lane lane = sb__cuda_lane_for(c->device);
  sb_status status = sb__cuda_enter(lane.device);
  if (status) return status;
  c->stream = lane.stream;
  status = sb__cuda_event_take(lane.device, &c->event);
  if (!status)
    status = sb__cuda_check(sb__cu.cuEventRecord(c->event, lane.stream), "recording an event");
  sb__cuda_leave();
  return status;
}

sb_status sb__cuda_copy_begin(const sb__copy *c, sb__cuda_stream *stream, sb__cuda_copying **out,
                              int64_t *staged) {
  *out = NULL;
  if (sb_tensor_numel(c->dst) == 0) return SB_OK;
  if (is_on_host(c->dst) && is_on_host(c->src)) return sb__copy_run(c, staged);
  sb__cuda_copying *made = sb__alloc(sizeof *made);
  if (!made) return sb__fail(SB_ERR_MEMORY, "no memory for a pending copy");
  memset(made, 0, sizeof *made);
  made->device = is_on_host(c->dst) ? c->src->storage->device : c->dst->storage->device;
  sb__cuda_stream *was = sb__cuda_use_stream(stream ? stream : sb__cuda_stream_for(made->device));
  sb_status status = begin(c, made, staged);
  if (!status) status = mark(made);
  sb__cuda_use_stream(was);
  if (status) {
    /* What is under way to the host's side must not be there when its owner lets go. */
    sb__cuda_event_give(made->device, made->event);
    sb_tensor_release(&made->room);
    sb__free(made);
    return status;
  }
  *out = made;
  return SB_OK;
}

sb_status sb__cuda_copy_when(sb__cuda_copying *copying, sb__cuda_done done, void *context,
                             bool *already) {
  CUevent event = copying->event;
  copying->event = NULL;
  *already = true;
  return event ? sb__cuda_when_done(copying->device, copying->stream, event, done, context, already)
               : SB_OK;
}

sb_status sb__cuda_copy_end(sb__cuda_copying **copying, const sb__copy *c, int64_t *staged) {
  sb__cuda_copying *ended = *copying;
  sb_status status = SB_OK;
  *copying = NULL;
  if (!ended) return SB_OK;
  if (ended->room.storage && c) {
    sb__copy rest = *c;
    rest.src = &ended->room;
    if (ended->converted) rest.scale = rest.bias = NULL, rest.casting = SB_CASTING_UNSAFE;
    status = sb__copy_run(&rest, NULL);
    if (!status && staged) *staged += sb_tensor_nbytes(&ended->room);
  }
  sb__cuda_event_give(ended->device, ended->event);
  sb_tensor_release(&ended->room);
  sb__free(ended);
  return status;
}

/* ---- From outside ---- */

sb_status sb__cuda_touch(sb_storage *storage, int64_t device, sb__cuda_stream *stream) {
  sb__cuda_lane lane;
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_lane_of(device, stream, &lane);
  if (!status) status = before(storage, &lane);
  if (!status) status = after(storage, &lane);
  sb__cuda_leave();
  return status;
}

sb_status sb__cuda_wait_for(const sb_storage *storage) {
  const sb__cuda_use *use = use_of(storage);
  const sb_status status = sb__cuda_load();
  return status || !use ? status : sb__cuda_use_wait(use);
}
