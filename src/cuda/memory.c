/* Storages on devices: our own bytes, from the allocator, and those of others at an address. */
#include "cuda/internal.h"

/* A view ends: the device may still be at work on its bytes, so the owner of the bytes inherits the view's last use. */
static void pass_on(sb__cuda_memory *view) {
  sb__cuda_registration *held = NULL;
  sb__cuda_last_use *use = view->base ? sb__cuda_last_use_of(view->base)
                                      : sb__cuda_pin(NULL, view->data, view->nbytes, &held);
  if (use && sb__cuda_last_use_join(use, &view->last_use))
    (void)sb__cuda_last_use_wait(&view->last_use);
  sb__cuda_unpin(held);
}

static void end_memory(sb__cuda_memory *memory, void *data) {
  sb__cuda_count_wrapped(memory->device, -(int64_t)memory->nbytes);
  if (memory->release) memory->release(data, memory->context);
  sb_storage_unref(&memory->base);
  sb__free(memory);
}

typedef struct ending {
  sb__cuda_memory *memory;
  void *data;
} ending;

static void is_over(void *context, sb_status status, const char *message) {
  ending e = *(ending *)context;
  (void)status; /* lost: nothing runs any more, so nothing touches it */
  (void)message;
  sb__free(context);
  end_memory(e.memory, e.data);
}

/* Ends it on the completion thread, once the device is done with it. False: the device is done, and the caller ends it. */
static bool end_later(sb__cuda_memory *memory, void *data) {
  CUevent event = NULL;
  bool already = true;
  ending *e = sb__alloc(sizeof *e);
  sb_status status = e ? sb__cuda_last_use_event(&memory->last_use, &event) : SB_ERR_MEMORY;
  if (!status && event) {
    *e = (ending){memory, data};
    status = sb__cuda_when_done(memory->last_use.device, memory->last_use.stream, event, is_over, e,
                                &already);
  }
  if (!status && !already) return true; /* both may be gone by now */
  sb__free(e);
  if (status)
    (void)sb__cuda_last_use_wait(&memory->last_use); /* nobody will tell: this thread waits */
  return false;
}

/* Memory of others is released once the device is done with it; this thread waits for that only if no completion thread can. */
static void end_wrapped(sb__cuda_memory *memory, void *data) {
  const bool is_at_work = memory->last_use.touched && sb__cuda_is_usable();
  if (is_at_work) pass_on(memory);
  if (!is_at_work || !memory->release || !end_later(memory, data)) end_memory(memory, data);
}

static void free_storage(void *data, void *context) {
  sb__cuda_memory *memory = context;
  if (sb__cuda_is_forked()) return; /* a lock may be held by a thread that is not here */
  if (memory->data) sb__cuda_memory_leave(memory);
  if (!memory->block) {
    end_wrapped(memory, data);
    return;
  }
  sb__cuda_block_give(memory->device, memory->block, &memory->last_use);
  sb__free(memory);
}

static sb_status wrap(sb__storage_kind kind, sb__cuda_memory *memory, void *data,
                      sb_storage **out) {
  sb_storage *made = NULL;
  const sb_status status =
      sb__storage_wrap_as(kind, data, memory->nbytes, free_storage, memory, &made);
  if (status) return status;
  made->device = memory->device;
  memory->data = data;
  if (data) sb__cuda_memory_join(memory, made);
  *out = made;
  return SB_OK;
}

void sb__cuda_storage_is_mapped(sb_storage *storage) {
  sb__cuda_memory *memory = sb__cuda_memory_of(storage);
  if (memory) memory->is_mapped = true;
}

sb_status sb__cuda_storage_new(int64_t device, size_t nbytes, sb__cuda_stream *stream,
                               sb_storage **out) {
  sb__cuda_raw_stream raw;
  sb__cuda_block *b = NULL;
  if (nbytes > PTRDIFF_MAX / 2)
    return sb__fail(SB_ERR_MEMORY, "%zu bytes are more than a device has", nbytes);
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  sb__cuda_memory *memory = sb__alloc(sizeof *memory);
  if (!memory) status = sb__fail(SB_ERR_MEMORY, "no memory for a storage record");
  if (!status) status = sb__cuda_raw_stream_of(device, stream, &raw);
  if (!status && nbytes) status = sb__cuda_block_take((int)device, nbytes, &raw, &b);
  sb__cuda_leave();
  if (!status) {
    *memory = (sb__cuda_memory){.device = (int)device, .block = b, .nbytes = nbytes};
    if (b) memory->last_use = sb__cuda_block_last_use(b); /* the stream waits for that already */
    status = wrap(SB__STORAGE_CUDA, memory, b ? sb__cuda_block_data(b) : NULL, out);
  }
  if (status && b) {
    const sb__cuda_last_use last = sb__cuda_block_last_use(b);
    sb__cuda_block_give((int)device, b, &last);
  }
  if (status) sb__free(memory);
  return status;
}

sb_status sb__cuda_storage_wrap(int64_t device, void *data, size_t nbytes, sb__cuda_release release,
                                void *context, sb_storage **out) {
  if (!data && nbytes) {
    return sb__fail(SB_ERR_ARGUMENT, "address 0 was given with %zu bytes; it can have none",
                    nbytes);
  }
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  sb__cuda_leave();
  sb__cuda_memory *memory = sb__alloc(sizeof *memory);
  if (!memory) return sb__fail(SB_ERR_MEMORY, "no memory for a storage record");
  *memory = (sb__cuda_memory){
      .device = (int)device, .nbytes = nbytes, .release = release, .context = context};
  if (nbytes) memory->base = sb__cuda_memory_at(data, nbytes);
  status = wrap(SB__STORAGE_CUDA_FOREIGN, memory, data, out);
  if (status) {
    sb_storage_unref(&memory->base);
    sb__free(memory);
    return status;
  }
  sb__cuda_count_wrapped((int)device, (int64_t)nbytes);
  return SB_OK;
}
