/* Who waits for the GPU. Each stream that somebody waits for has a thread, which sleeps on the events of those who wait, one after
 * the other: a stream is done with them in that order. A thread without work goes back to where it came from. */
#include "cuda/internal.h"

typedef struct wanted {
  struct wanted *next;
  CUevent event;
  bool is_pooled;        /* the event goes back to its pool */
  sb__cuda_event *owner; /* of the event, otherwise; one reference */
  sb__cuda_done done;
  void *context;
} wanted;

typedef struct waiter {
  sb__task task;
  struct waiter *next;
  int device;
  const void *key; /* a stream, or an event that somebody records where he likes */
  wanted *first, **last;
} waiter;

static sb__lock lock;
static waiter *waiters;

static sb_status wait_for(int device, CUevent event) {
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_check(sb__cu.cuEventSynchronize(event), "work on a device");
  sb__cuda_leave();
  return status;
}

static void finish_work(int device, wanted *w, sb_status status) {
  if (w->is_pooled) sb__cuda_event_give(device, w->event);
  sb__cuda_event_unref(&w->owner);
  if (w->done) w->done(w->context, status, status ? sb_error_message() : "");
  sb__free(w);
}

/* The next one; NULL: there is none, and the waiter is gone from the list. */
static wanted *next_of(waiter *mine) {
  sb__lock_take(&lock);
  wanted *w = mine->first;
  if (w) {
    mine->first = w->next;
    if (!mine->first) mine->last = &mine->first;
  } else {
    waiter **at = &waiters;
    while (*at != mine) at = &(*at)->next;
    *at = mine->next;
  }
  sb__lock_drop(&lock);
  return w;
}

static void run_waiter(sb__task *task) {
  waiter *mine = (waiter *)(void *)task;
  for (wanted *w = next_of(mine); w; w = next_of(mine)) {
    finish_work(mine->device, w, wait_for(mine->device, w->event));
  }
  sb__free(mine);
}

/* Gives w to the waiter of its key. fresh: a waiter if there is none yet; it is taken over then. */
static void join(wanted *w, int device, const void *key, waiter **fresh) {
  sb__lock_take(&lock);
  waiter *found = waiters;
  while (found && (found->device != device || found->key != key)) found = found->next;
  if (!found && *fresh) {
    found = *fresh;
    found->next = waiters;
    waiters = found;
  } else {
    sb__free(*fresh);
    *fresh = NULL;
  }
  if (found) {
    *found->last = w;
    found->last = &w->next;
  }
  sb__lock_drop(&lock);
}

/* Has w waited for on another thread; where there is none, by this one, and then it is freed without its call. */
static sb_status wait_apart(wanted *w, int device, const void *key, bool *already) {
  waiter *fresh = sb__alloc(sizeof *fresh);
  if (fresh) {
    *fresh = (waiter){.task.run = run_waiter, .device = device, .key = key};
    fresh->last = &fresh->first;
    join(w, device, key, &fresh);
    if (!fresh || sb__os_spawn_detached(&fresh->task)) return SB_OK;
    run_waiter(
        &fresh->task); /* no thread to be had: this one stays until all that joined are done */
    return SB_OK;
  }
  const sb_status status = wait_for(device, w->event);
  w->done = NULL;
  finish_work(device, w, status);
  *already = !status;
  return status;
}

/* Is it done at once? Takes the event's owner over. */
static sb_status when(int device, const void *key, CUevent event, sb__cuda_event *owner,
                      sb__cuda_done done, void *context, bool *already) {
  *already = false;
  wanted *w = NULL;
  sb_status status = sb__cuda_enter(device);
  if (!status) {
    const CUresult result = sb__cu.cuEventQuery(event);
    *already = result == 0;
    if (result != SB__CU_NOT_READY) status = sb__cuda_check(result, "work on a device");
    sb__cuda_leave();
  }
  if (!status && !*already) {
    w = sb__alloc(sizeof *w);
    if (!w) status = sb__fail(SB_ERR_MEMORY, "no memory to wait for a device");
  }
  if (w) {
    *w = (wanted){NULL, event, !owner, owner, done, context};
    return wait_apart(w, device, key, already);
  }
  if (!owner) sb__cuda_event_give(device, event);
  sb__cuda_event_unref(&owner);
  return status;
}

sb_status sb__cuda_when_done(int device, CUstream stream, CUevent event, sb__cuda_done done,
                             void *context, bool *already) {
  return when(device, stream, event, NULL, done, context, already);
}

sb_status sb__cuda_when_event(sb__cuda_event *event, sb__cuda_done done, void *context,
                              bool *already) {
  return when(sb__cuda_event_device(event), event, (CUevent)(uintptr_t)sb__cuda_event_number(event),
              sb__cuda_event_ref(event), done, context, already);
}

sb_status sb__cuda_when(int64_t device, sb__cuda_stream *stream, sb__cuda_done done, void *context,
                        bool *already) {
  sb__cuda_raw_stream raw;
  CUevent event = NULL;
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_raw_stream_of(device, stream, &raw);
  if (!status) status = sb__cuda_event_take((int)device, &event);
  if (!status) {
    status = sb__cuda_check(sb__cu.cuEventRecord(event, raw.handle), "recording an event");
    if (status) sb__cuda_event_give((int)device, event);
  }
  sb__cuda_leave();
  return status ? status
                : sb__cuda_when_done((int)device, raw.handle, event, done, context, already);
}

sb_status sb__cuda_when_ready(sb_storage *storage, sb__cuda_done done, void *context,
                              bool *already) {
  CUevent event = NULL;
  sb__cuda_memory *memory = sb__cuda_memory_of(storage);
  sb_status status = sb__cuda_load();
  *already = true;
  if (status || !memory) return status;
  const sb__cuda_last_use seen = sb__cuda_last_use_now(&memory->last_use);
  status = sb__cuda_last_use_event(&seen, &event);
  if (status || !event) return status;
  return sb__cuda_when_done(seen.device, seen.stream, event, done, context, already);
}
