/* Copies that return before they are done, and ordering with work that other libraries give to streams. */
#include <string.h>

#include "cuda/internal.h"

static sb_status new_pinned(const sb_tensor *like, sb_dtype dtype, sb_tensor *out) {
  sb_tensor made;
  sb_status status = sb_dense_like(like, dtype, &made);
  if (!status) status = sb__cuda_pinned_new((size_t)sb_tensor_nbytes(&made), &made.storage);
  if (!status) sb_tensor_copy_layout(&made, out);
  return status;
}

struct sb__cuda_copying {
  int device;
  CUstream stream; /* that has it */
  CUevent event;   /* of all that was given; NULL: somebody waits for it, or has */
  sb_tensor
      room; /* page-locked, what a pageable target is to get; storage NULL: nothing is left to do */
  bool converted; /* as the target wants it */
};

static bool is_on_host(const sb_tensor *t) { return t->storage->device < 0; }

/* The way down, as far as it goes without waiting. */
static sb_status begin_down(const sb__copy *c, const sb__cuda_raw_stream *raw,
                            sb__cuda_copying *out) {
  sb_tensor there;
  const sb_tensor *dst = c->dst;
  sb_status status = sb__cuda_prepare_down(c, raw, &there, &out->converted);
  if (status) return status;
  if (sb__cuda_is_alike(dst, &there) && (out->converted || !c->scale) &&
      sb__cuda_is_pinned(dst->storage, sb_tensor_data(dst), (size_t)sb_tensor_nbytes(dst))) {
    status = sb__cuda_fetch(dst, &there, false, raw);
  } else {
    status = new_pinned(&there, there.dtype, &out->room);
    if (!status) status = sb__cuda_fetch(&out->room, &there, false, raw);
  }
  sb_tensor_release(&there);
  return status;
}

static sb_status begin_copy(const sb__copy *c, sb__cuda_copying *out, int64_t *staged) {
  if (!is_on_host(c->dst)) return sb__cuda_copy_run(c, false, false, staged);
  const sb__cuda_raw_stream raw = sb__cuda_raw_stream_for(out->device);
  sb_status status = sb__cuda_enter(raw.device);
  if (status) return status;
  status = begin_down(c, &raw, out);
  sb__cuda_leave();
  return status;
}

static sb_status mark(sb__cuda_copying *c) {
  const sb__cuda_raw_stream raw = sb__cuda_raw_stream_for(c->device);
  sb_status status = sb__cuda_enter(raw.device);
  if (status) return status;
  c->stream = raw.handle;
  status = sb__cuda_event_take(raw.device, &c->event);
  if (!status)
    status = sb__cuda_check(sb__cu.cuEventRecord(c->event, raw.handle), "recording an event");
  sb__cuda_leave();
  return status;
}

static void wait_for_lane(int device) {
  const sb__cuda_raw_stream raw = sb__cuda_raw_stream_for(device);
  if (sb__cuda_is_lost() || sb__cuda_enter(device)) return;
  (void)sb__cu.cuStreamSynchronize(raw.handle);
  sb__cuda_leave();
}

sb_status sb__cuda_copy_begin(const sb__copy *c, sb__cuda_stream *stream, sb__cuda_copying **out,
                              int64_t *staged) {
  *out = NULL;
  if (sb_tensor_numel(c->dst) == 0) return SB_OK;
  if (is_on_host(c->dst) && is_on_host(c->src)) return sb__copy_run(c, staged);
  const int device = sb__cuda_stream_device(stream);
  if (stream && device != c->dst->storage->device && device != c->src->storage->device) {
    return sb__fail(SB_ERR_DEVICE, "the stream belongs to cuda:%d, where neither side lies",
                    device);
  }
  sb__cuda_copying *made = sb__alloc(sizeof *made);
  if (!made) return sb__fail(SB_ERR_MEMORY, "no memory for a pending copy");
  memset(made, 0, sizeof *made);
  made->device = sb__cuda_target_device(c);
  sb__cuda_stream *was = sb__cuda_use_stream(stream ? stream : sb__cuda_stream_for(made->device));
  sb_status status = begin_copy(c, made, staged);
  if (!status) status = mark(made);
  if (status) wait_for_lane(made->device); /* the owner of the host's side may let go now */
  sb__cuda_use_stream(was);
  if (status) {
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
  sb__cuda_raw_stream raw;
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_raw_stream_of(device, stream, &raw);
  if (!status) status = sb__cuda_before(storage, &raw);
  if (!status) status = sb__cuda_after(storage, &raw);
  sb__cuda_leave();
  return status;
}

sb_status sb__cuda_wait_for(const sb_storage *storage) {
  sb__cuda_last_use *use = sb__cuda_last_use_of(storage);
  const sb_status status = sb__cuda_load();
  return status || !use ? status : sb__cuda_last_use_wait(use);
}
