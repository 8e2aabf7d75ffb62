/* Copies of which a side lies on a device, fills and random numbers there.
 *
 * Bytes cross the border in the order of a layout without gaps; what has to be done to them, the side does that has less to send: the
 * device has kernels for all of it, and the CPU does what it is given in sb_copy. */
#include "cuda/internal.h"

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

bool sb__cuda_is_alike(const sb_tensor *a, const sb_tensor *b) {
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

/* ---- On one device; in stream's context ---- */

static sb_status emit(void *context, const sb__cuda_launch *launch) {
  const sb__cuda_raw_stream *stream = context;
  return sb__cuda_launch_now(stream->device, stream->handle, launch);
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
static sb_status bring(const sb_tensor *factor, const sb_tensor *shown,
                       const sb__cuda_raw_stream *stream, sb_tensor *out) {
  sb_tensor made, host;
  sb_status status = sb_clone(factor, SB_FLOAT64, SB_CASTING_SAFE, &host);
  if (status) return status;
  status = new_on(stream->device, &host, SB_FLOAT64, &made);
  if (!status) {
    status = sb__cuda_before(made.storage, stream);
    if (!status)
      status =
          sb__cuda_transfer(SB__CUDA_TO_DEVICE, address_of(&made), host.storage,
                            sb_tensor_data(&host), (size_t)sb_tensor_nbytes(&host), true, stream);
    if (!status) status = sb__cuda_after(made.storage, stream);
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

static sb_status bring_factors(const sb__copy *c, const sb__cuda_raw_stream *stream, factors *out) {
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
  if (!status) status = bring(c->scale, &scale, stream, &out->scale);
  if (!status) status = bring(c->bias, &bias, stream, &out->bias);
  if (status) sb_tensor_release(&out->scale);
  return status;
}

static void release_factors(factors *f, const sb__cuda_raw_stream *stream) {
  if (!f->scale.storage) return;
  (void)sb__cuda_after(f->scale.storage, stream);
  (void)sb__cuda_after(f->bias.storage, stream);
  sb_tensor_release(&f->scale);
  sb_tensor_release(&f->bias);
}

/* dst and src lie on stream's device. */
static sb_status copy_there(const sb__copy *c, const sb__cuda_raw_stream *stream, int64_t *staged) {
  const sb_tensor *dst = c->dst, *src = c->src;
  sb_tensor shown, held = {.storage = NULL};
  factors f = {.scale.storage = NULL};
  sb_status status = sb__cuda_before(dst->storage, stream);
  if (!status) status = sb__cuda_before(src->storage, stream);
  if (!status) status = sb_broadcast_to(src, dst->ndim, dst->shape, &shown);
  if (status) return status;
  if (may_overlap(dst, &shown) && !is_in_place(dst, &shown)) {
    status = new_on(stream->device, src, src->dtype, &held);
    if (status) return status;
    status = copy_there(&(sb__copy){.dst = &held, .src = src}, stream, staged);
    if (!status) status = sb_broadcast_to(&held, dst->ndim, dst->shape, &shown);
    if (!status && staged) *staged += sb_tensor_nbytes(&held);
  }
  if (!status) status = bring_factors(c, stream, &f);
  if (!status && !c->scale && sb__cuda_is_alike(dst, &shown)) {
    sb__cuda_note("a copy on the device");
    status = sb__cuda_given(sb__cu.cuMemcpyDtoDAsync(address_of(dst), address_of(&shown),
                                                     (size_t)sb_tensor_nbytes(dst), stream->handle),
                            stream, "a copy on the device");
  } else if (!status) {
    status = sb__cuda_plan_copy(dst, &shown, c->scale ? &f.scale : NULL, c->scale ? &f.bias : NULL,
                                emit, (void *)(uintptr_t)stream);
  }
  const sb_status touched = sb__cuda_after(dst->storage, stream),
                  read = sb__cuda_after(src->storage, stream);
  if (held.storage) (void)sb__cuda_after(held.storage, stream);
  release_factors(&f, stream);
  sb_tensor_release(&held);
  return status ? status : touched ? touched : read;
}

/* ---- Up ---- */

static sb_status copy_to_device(const sb_tensor *dst, const sb_tensor *src, bool wait,
                                const sb__cuda_raw_stream *stream) {
  sb_status status = sb__cuda_before(dst->storage, stream);
  if (!status) {
    status = sb__cuda_transfer(SB__CUDA_TO_DEVICE, address_of(dst), src->storage,
                               sb_tensor_data(src), (size_t)sb_tensor_nbytes(src), wait, stream);
  }
  const sb_status touched = sb__cuda_after(dst->storage, stream);
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
static sb_status up_then_convert(const sb__copy *c, bool wait, const sb__cuda_raw_stream *stream,
                                 int64_t *staged) {
  sb_tensor there;
  sb_status status = new_on(stream->device, c->src, c->src->dtype, &there);
  if (status) return status;
  status = copy_to_device(&there, c->src, wait, stream);
  sb__copy rest = *c;
  rest.src = &there;
  if (!status) status = copy_there(&rest, stream, staged);
  sb_tensor_release(&there);
  return status;
}

static sb_status convert_then_up(const sb__copy *c, bool must_fit,
                                 const sb__cuda_raw_stream *stream, int64_t *staged) {
  sb_tensor here, there;
  sb_status status = make_on_host(c, must_fit, staged, &here);
  if (status) return status;
  if (sb__cuda_is_alike(c->dst, &here)) {
    status = copy_to_device(c->dst, &here, true, stream);
  } else {
    status = new_on(stream->device, &here, here.dtype, &there);
    if (!status) {
      status = copy_to_device(&there, &here, true, stream);
      if (!status) status = copy_there(&(sb__copy){.dst = c->dst, .src = &there}, stream, NULL);
      sb_tensor_release(&there);
    }
  }
  sb_tensor_release(&here);
  return status;
}

static sb_status up(const sb__copy *c, bool must_fit, bool wait, const sb__cuda_raw_stream *stream,
                    int64_t *staged) {
  if (!must_fit && !c->scale && sb__cuda_is_alike(c->dst, c->src))
    return copy_to_device(c->dst, c->src, wait, stream);
  /* Fewer bytes cross the border where src comes as it is, and the device has the kernels. */
  if (!must_fit && is_dense(c->src) && sb_tensor_nbytes(c->src) <= sb_tensor_nbytes(c->dst)) {
    const sb_status status = up_then_convert(c, wait, stream, staged);
    if (status != SB_ERR_UNSUPPORTED && status != SB_ERR_NOT_FOUND) return status;
  }
  return convert_then_up(c, must_fit, stream, staged);
}

/* ---- Down ---- */

/* A dense tensor of src's elements on the device: src itself, or a copy that out holds. */
static sb_status dense_there(const sb_tensor *src, const sb__cuda_raw_stream *stream,
                             sb_tensor *out) {
  if (is_dense(src)) {
    sb_tensor_copy_layout(src, out);
    sb_storage_ref(out->storage);
    return SB_OK;
  }
  sb_tensor made;
  sb_status status = new_on(stream->device, src, src->dtype, &made);
  if (status) return status;
  status = copy_there(&(sb__copy){.dst = &made, .src = src}, stream, NULL);
  if (status)
    sb_tensor_release(&made);
  else
    sb_tensor_copy_layout(&made, out);
  return status;
}

sb_status sb__cuda_fetch(const sb_tensor *dst, const sb_tensor *src, bool wait,
                         const sb__cuda_raw_stream *stream) {
  sb_status status = sb__cuda_before(src->storage, stream);
  if (!status) {
    status = sb__cuda_transfer(SB__CUDA_TO_HOST, address_of(src), dst->storage, sb_tensor_data(dst),
                               (size_t)sb_tensor_nbytes(dst), wait, stream);
  }
  const sb_status touched = sb__cuda_after(src->storage, stream);
  return status ? status : touched;
}

sb_status sb__cuda_prepare_down(const sb__copy *c, const sb__cuda_raw_stream *stream,
                                sb_tensor *out, bool *converted) {
  const sb_tensor *dst = c->dst, *src = c->src;
  sb_tensor made;
  *converted = false;
  if (!sb__cuda_is_alike(dst, src) && sb_tensor_nbytes(dst) <= sb_tensor_nbytes(src) &&
      is_dense(dst)) {
    sb_status status = new_on(stream->device, dst, dst->dtype, &made);
    if (status) return status;
    sb__copy there = *c;
    there.dst = &made;
    status = copy_there(&there, stream, NULL);
    if (!status) {
      sb_tensor_copy_layout(&made, out);
      *converted = true;
      return SB_OK;
    }
    sb_tensor_release(&made);
    if (status != SB_ERR_UNSUPPORTED && status != SB_ERR_NOT_FOUND) return status;
  }
  return dense_there(src, stream, out);
}

static sb_status down(const sb__copy *c, const sb__cuda_raw_stream *stream, int64_t *staged) {
  sb_tensor there, here;
  bool converted = false;
  sb_status status = sb__cuda_prepare_down(c, stream, &there, &converted);
  if (status) return status;
  if (sb__cuda_is_alike(c->dst, &there) && (converted || !c->scale)) {
    status = sb__cuda_fetch(c->dst, &there, true, stream);
  } else {
    status = sb_tensor_empty_like(&there, there.dtype, &here);
    if (!status) {
      status = sb__cuda_fetch(&here, &there, true, stream);
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

/* Lets the devices reach each other's memory directly, once; where they cannot, the driver goes by way of the host. */
static void meet(int to, int from) {
  static atomic_bool met[SB__CUDA_DEVICES][SB__CUDA_DEVICES];
  int can = 0;
  if (atomic_exchange(&met[from][to], true)) return;
  if (!sb__cu.cuDeviceCanAccessPeer || !sb__cu.cuCtxEnablePeerAccess) return;
  if (sb__cu.cuDeviceCanAccessPeer(&can, sb__cuda_handle(from), sb__cuda_handle(to)) || !can)
    return;
  (void)sb__cu.cuCtxEnablePeerAccess(sb__cuda_context(to),
                                     0); /* 704: it is already; else the slower way */
}

/* from's context is the current one. to's stream follows what was sent: so what lies on a device is touched by its own streams. */
static sb_status send_peer(const sb_tensor *dst, const sb_tensor *src,
                           const sb__cuda_raw_stream *to, const sb__cuda_raw_stream *from) {
  CUevent event = NULL;
  if (!sb__cu.cuMemcpyPeerAsync)
    return sb__fail(SB_ERR_UNSUPPORTED, "this driver copies nothing between devices");
  meet(to->device, from->device);
  sb_status status = sb__cuda_before(src->storage, from);
  if (!status) status = sb__cuda_before(dst->storage, from);
  sb__cuda_note("a copy between devices");
  if (!status) {
    status =
        sb__cuda_given(sb__cu.cuMemcpyPeerAsync(address_of(dst), sb__cuda_context(to->device),
                                                address_of(src), sb__cuda_context(from->device),
                                                (size_t)sb_tensor_nbytes(src), from->handle),
                       from, "a copy between devices");
  }
  if (!status) status = sb__cuda_after(src->storage, from);
  if (status) return status;
  status = sb__cuda_event_take(from->device, &event);
  if (!status)
    status = sb__cuda_check(sb__cu.cuEventRecord(event, from->handle), "recording an event");
  if (!status) {
    status = sb__cuda_enter(to->device);
    if (!status) {
      status = sb__cuda_check(sb__cu.cuStreamWaitEvent(to->handle, event, 0),
                              "making a stream wait for another device");
      if (!status) status = sb__cuda_after(dst->storage, to);
      sb__cuda_leave();
    }
  }
  sb__cuda_event_give(from->device, event);
  if (status)
    (void)sb__cu.cuStreamSynchronize(from->handle); /* dst may be freed before it was written */
  return status;
}

static sb_status across(const sb__copy *c, const sb__cuda_raw_stream *to,
                        const sb__cuda_raw_stream *from) {
  sb_tensor dense, there;
  sb_status status = dense_there(c->src, from, &dense);
  if (status) return status;
  if (!c->scale && sb__cuda_is_alike(c->dst, &dense)) {
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

/* Is it the host's memory that all devices see? */
static bool is_mapped(const sb_tensor *t) {
  const sb__cuda_memory *memory = sb__cuda_memory_of(t->storage);
  return memory && memory->is_mapped;
}

int sb__cuda_target_device(const sb__copy *c) {
  const int to = c->dst->storage->device, from = c->src->storage->device;
  return to < 0 || (from >= 0 && is_mapped(c->dst)) ? from : to;
}

sb_status sb__cuda_copy_run(const sb__copy *c, bool must_fit, bool wait, int64_t *staged) {
  const int to = c->dst->storage->device < 0 ? -1 : sb__cuda_target_device(c);
  const int from = to >= 0 && is_mapped(c->src) ? to : c->src->storage->device;
  const sb__cuda_raw_stream stream = sb__cuda_raw_stream_for(from >= 0 ? from : to);
  sb_status status = sb__cuda_enter(stream.device);
  if (status) return status;
  if (to >= 0 && from >= 0 && to != from) {
    const sb__cuda_raw_stream other = sb__cuda_raw_stream_for(to);
    status = across(c, &other, &stream);
  } else if (to >= 0 && from >= 0) {
    status = copy_there(c, &stream, staged);
  } else if (to >= 0) {
    status = up(c, must_fit, wait, &stream, staged);
  } else {
    status = down(c, &stream, staged);
  }
  sb__cuda_leave();
  return status;
}

static sb_status table_copy(const sb__copy *c, bool must_fit, int64_t *staged) {
  return sb__cuda_copy_run(c, must_fit, true, staged);
}

static sb_status table_fill(const sb_tensor *t, const void *item) {
  const int device = t->storage->device;
  const sb__cuda_raw_stream stream = sb__cuda_raw_stream_for(device);
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_before(t->storage, &stream);
  if (!status) status = sb__cuda_plan_fill(t, item, emit, (void *)(uintptr_t)&stream);
  const sb_status touched = sb__cuda_after(t->storage, &stream);
  sb__cuda_leave();
  return status ? status : touched;
}

static sb_status table_random(const sb_tensor *t, const sb__random *how) {
  const int device = t->storage->device;
  const sb__cuda_raw_stream stream = sb__cuda_raw_stream_for(device);
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_before(t->storage, &stream);
  if (!status) status = sb__cuda_plan_random(t, how, emit, (void *)(uintptr_t)&stream);
  const sb_status touched = sb__cuda_after(t->storage, &stream);
  sb__cuda_leave();
  return status ? status : touched;
}

static sb_status table_allocate(const sb_storage *like, size_t nbytes, sb_storage **out) {
  return sb__cuda_storage_new(like->device, nbytes, NULL, out);
}

const sb__device_table *sb__cuda_table(void) {
  static const sb__device_table table = {"cuda", table_copy, table_fill, table_random,
                                         table_allocate};
  return &table;
}
