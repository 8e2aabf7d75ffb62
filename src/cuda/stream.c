/* Streams, events, and the order of what touches the same memory.
 *
 * A stream of ours is never destroyed: memory goes back to the stream that touched it last, and waits for nothing but to be used there
 * again. Streams that nobody holds are taken over by the next who asks. */
#include "cuda/internal.h"

enum { NON_BLOCKING = 1, BLOCKING_SYNC = 1, DISABLE_TIMING = 2 };

struct sb__cuda_stream {
  atomic_int_fast64_t count;
  sb__cuda_raw_stream raw;
  sb__cuda_stream *shadow; /* of somebody else's: one of ours that follows it; one reference */
  sb__cuda_stream *next;   /* of its list */
};

static sb__lock lock; /* of the lists below */
static sb__cuda_stream *unused[SB__CUDA_DEVICES];
static sb__cuda_stream *foreign; /* others' streams that somebody holds */
static sb__cuda_stream
    *spare; /* records of others' streams: kept, so that a stale `current` reads no freed memory */
static SB_THREAD_LOCAL sb__cuda_stream *current;

/* ---- Streams ---- */

/* One that nobody holds any more, or a new one. In its device's context. */
static sb_status take_stream(int device, sb__cuda_stream **out) {
  sb__lock_take(&lock);
  sb__cuda_stream *made = unused[device];
  if (made) unused[device] = made->next;
  sb__lock_drop(&lock);
  if (!made) {
    CUstream handle = NULL;
    made = sb__alloc(sizeof *made);
    if (!made) return sb__fail(SB_ERR_MEMORY, "no memory for a stream's record");
    const sb_status status =
        sb__cuda_check(sb__cu.cuStreamCreate(&handle, NON_BLOCKING), "cuStreamCreate");
    if (status) {
      sb__free(made);
      return status;
    }
    made->raw = (sb__cuda_raw_stream){device, handle, handle};
    made->shadow = NULL;
  }
  made->next = NULL;
  atomic_init(&made->count, 1);
  *out = made;
  return SB_OK;
}

sb_status sb__cuda_stream_new(int64_t device, sb__cuda_stream **out) {
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = take_stream((int)device, out);
  sb__cuda_leave();
  return status;
}

/* Under the lock: the record of a foreign stream, with a reference more; NULL: nobody holds it. */
static sb__cuda_stream *held_already(int device, CUstream stream) {
  sb__cuda_stream *s = foreign;
  while (s && (s->raw.device != device || s->raw.handle != stream)) s = s->next;
  return sb__cuda_stream_ref(s);
}

sb_status sb__cuda_stream_wrap(int64_t device, uint64_t number, sb__cuda_stream **out) {
  sb__cuda_stream *shadow = NULL, *made = NULL;
  if (number > UINTPTR_MAX) return sb__fail(SB_ERR_ARGUMENT, "no stream has that number");
  const CUstream stream = number > 1 ? (CUstream)(uintptr_t)number : NULL;
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  sb__lock_take(&lock);
  *out = held_already((int)device, stream);
  sb__lock_drop(&lock);
  if (!*out && stream) status = take_stream((int)device, &shadow);
  sb__cuda_leave();
  if (status || *out) return status;
  sb__lock_take(&lock);
  made = spare;
  if (made) spare = made->next;
  sb__lock_drop(&lock);
  if (!made) made = sb__alloc(sizeof *made);
  if (!made) {
    sb__cuda_stream_unref(&shadow);
    return sb__fail(SB_ERR_MEMORY, "no memory for a stream's record");
  }
  made->raw = (sb__cuda_raw_stream){(int)device, stream, shadow ? shadow->raw.handle : NULL};
  made->shadow = shadow;
  atomic_init(&made->count, 1);
  sb__lock_take(&lock); /* another thread may have wrapped it meanwhile: both are right */
  made->next = foreign;
  foreign = made;
  sb__lock_drop(&lock);
  *out = made;
  return SB_OK;
}

sb__cuda_stream *sb__cuda_stream_ref(sb__cuda_stream *stream) {
  if (stream) atomic_fetch_add(&stream->count, 1);
  return stream;
}

void sb__cuda_stream_unref(sb__cuda_stream **stream) {
  sb__cuda_stream *s = *stream, *shadow = NULL;
  *stream = NULL;
  if (!s || sb__cuda_is_forked()) return;
  sb__lock_take(&lock); /* nobody finds it among the foreign ones as it goes */
  if (atomic_fetch_sub(&s->count, 1) == 1) {
    const bool is_ours = s->raw.handle && s->raw.handle == s->raw.follower;
    for (sb__cuda_stream **at = &foreign; !is_ours; at = &(*at)->next) {
      if (*at != s) continue;
      *at = s->next;
      break;
    }
    shadow = s->shadow;
    s->shadow = NULL;
    sb__cuda_stream **list = is_ours ? &unused[s->raw.device] : &spare;
    s->next = *list;
    *list = s;
  }
  sb__lock_drop(&lock);
  sb__cuda_stream_unref(&shadow);
}

int sb__cuda_stream_device(const sb__cuda_stream *stream) {
  return stream ? stream->raw.device : -1;
}

uint64_t sb__cuda_stream_number(const sb__cuda_stream *stream) {
  return stream ? (uint64_t)(uintptr_t)stream->raw.handle : 0;
}

sb__cuda_stream *sb__cuda_use_stream(sb__cuda_stream *stream) {
  sb__cuda_stream *before = current;
  current = stream;
  return before;
}

sb__cuda_stream *sb__cuda_stream_for(int device) {
  return current && current->raw.device == device ? current : NULL;
}

sb_status sb__cuda_raw_stream_of(int64_t device, const sb__cuda_stream *stream,
                                 sb__cuda_raw_stream *out) {
  if (!stream) stream = sb__cuda_stream_for((int)device);
  if (!stream) {
    *out = (sb__cuda_raw_stream){(int)device, NULL, NULL};
    return SB_OK;
  }
  if (stream->raw.device != device) {
    return sb__fail(SB_ERR_DEVICE, "the stream belongs to cuda:%d; one of cuda:%lld was expected",
                    stream->raw.device, (long long)device);
  }
  *out = stream->raw;
  return SB_OK;
}

sb__cuda_raw_stream sb__cuda_raw_stream_for(int device) {
  const sb__cuda_raw_stream raw = {device, NULL, NULL};
  const sb__cuda_stream *stream = sb__cuda_stream_for(device);
  return stream ? stream->raw : raw;
}

sb_status sb__cuda_raw_stream_wait(const sb__cuda_raw_stream *raw, const char *operation) {
  return sb__cuda_check(sb__cu.cuStreamSynchronize(raw->handle), operation);
}

sb_status sb__cuda_given(CUresult result, const sb__cuda_raw_stream *raw, const char *operation) {
  sb_status status = sb__cuda_check(result, operation);
  if (!status && sb__cuda_is_synchronous()) status = sb__cuda_raw_stream_wait(raw, operation);
  return status;
}

sb_status sb__cuda_stream_synchronize(int64_t device, sb__cuda_stream *stream) {
  sb__cuda_raw_stream raw;
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_raw_stream_of(device, stream, &raw);
  if (!status) status = sb__cuda_raw_stream_wait(&raw, "waiting for a stream");
  sb__cuda_leave();
  return status;
}

sb_status sb__cuda_synchronize(int64_t device) {
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_check(sb__cu.cuCtxSynchronize(), "waiting for a device");
  sb__cuda_leave();
  if (!status) sb__cuda_all_is_well();
  return status;
}

/* ---- A pool of events ---- */

enum { KEPT = 256 }; /* of each device */

static CUevent kept[SB__CUDA_DEVICES][KEPT];
static int kept_count[SB__CUDA_DEVICES];

sb_status sb__cuda_event_take(int device, CUevent *out) {
  CUevent event = NULL;
  sb__lock_take(&lock);
  if (kept_count[device]) event = kept[device][--kept_count[device]];
  sb__lock_drop(&lock);
  sb_status status = SB_OK;
  if (!event)
    status = sb__cuda_check(sb__cu.cuEventCreate(&event, BLOCKING_SYNC | DISABLE_TIMING),
                            "cuEventCreate");
  if (!status) *out = event;
  return status;
}

/* The driver keeps it until it is done. */
static void destroy(int device, CUevent event) {
  if (!sb__cuda_is_usable() || sb__cuda_enter(device)) return;
  (void)sb__cu.cuEventDestroy(event);
  sb__cuda_leave();
}

void sb__cuda_event_give(int device, CUevent event) {
  if (!event || sb__cuda_is_forked()) return;
  sb__lock_take(&lock);
  const bool has_room = kept_count[device] < KEPT;
  if (has_room) kept[device][kept_count[device]++] = event;
  sb__lock_drop(&lock);
  if (!has_room) destroy(device, event);
}

/* ---- Events that people hold ---- */

struct sb__cuda_event {
  atomic_int_fast64_t count;
  int device;
  CUevent handle;
};

sb_status sb__cuda_event_new(int64_t device, bool timed, sb__cuda_event **out) {
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  sb__cuda_event *made = sb__alloc(sizeof *made);
  if (!made) status = sb__fail(SB_ERR_MEMORY, "no memory for an event's record");
  if (!status) {
    status = sb__cuda_check(
        sb__cu.cuEventCreate(&made->handle, timed ? BLOCKING_SYNC : BLOCKING_SYNC | DISABLE_TIMING),
        "cuEventCreate");
  }
  sb__cuda_leave();
  if (status) {
    sb__free(made);
    return status;
  }
  atomic_init(&made->count, 1);
  made->device = (int)device;
  *out = made;
  return SB_OK;
}

sb__cuda_event *sb__cuda_event_ref(sb__cuda_event *event) {
  if (event) atomic_fetch_add(&event->count, 1);
  return event;
}

void sb__cuda_event_unref(sb__cuda_event **event) {
  sb__cuda_event *e = *event;
  *event = NULL;
  if (!e || atomic_fetch_sub(&e->count, 1) != 1) return;
  destroy(e->device, e->handle);
  sb__free(e);
}

int sb__cuda_event_device(const sb__cuda_event *event) { return event->device; }

uint64_t sb__cuda_event_number(const sb__cuda_event *event) {
  return (uint64_t)(uintptr_t)event->handle;
}

sb_status sb__cuda_event_record(sb__cuda_event *event, sb__cuda_stream *stream) {
  sb__cuda_raw_stream raw;
  sb_status status = sb__cuda_enter(event->device);
  if (status) return status;
  status = sb__cuda_raw_stream_of(event->device, stream, &raw);
  if (!status)
    status = sb__cuda_check(sb__cu.cuEventRecord(event->handle, raw.handle), "recording an event");
  sb__cuda_leave();
  return status;
}

sb_status sb__cuda_stream_wait(int64_t device, sb__cuda_stream *stream, sb__cuda_event *event) {
  sb__cuda_raw_stream raw;
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_raw_stream_of(device, stream, &raw);
  if (!status) {
    status = sb__cuda_check(sb__cu.cuStreamWaitEvent(raw.handle, event->handle, 0),
                            "making a stream wait for an event");
  }
  sb__cuda_leave();
  return status;
}

sb_status sb__cuda_event_query(sb__cuda_event *event, bool *done) {
  const sb_status status = sb__cuda_enter(event->device);
  if (status) return status;
  const CUresult result = sb__cu.cuEventQuery(event->handle);
  sb__cuda_leave();
  *done = result == 0;
  return result == SB__CU_NOT_READY ? SB_OK : sb__cuda_check(result, "asking an event");
}

sb_status sb__cuda_event_synchronize(sb__cuda_event *event) {
  sb_status status = sb__cuda_enter(event->device);
  if (status) return status;
  status = sb__cuda_check(sb__cu.cuEventSynchronize(event->handle), "waiting for an event");
  sb__cuda_leave();
  return status;
}

sb_status sb__cuda_event_elapsed(sb__cuda_event *from, sb__cuda_event *to, double *milliseconds) {
  float time = 0;
  sb_status status = sb__cuda_enter(from->device);
  if (status) return status;
  const CUresult result = sb__cu.cuEventElapsedTime(&time, from->handle, to->handle);
  sb__cuda_leave();
  if (result == SB__CU_NOT_READY) return sb__fail(SB_ERR_BUSY, "the events are not done yet");
  status = sb__cuda_check(result, "asking for the time between two events");
  if (!status) *milliseconds = time;
  return status;
}

/* ---- The order of uses ---- */

/* An event of what a stream has been given so far. Enters its device. */
static sb_status event_now(int device, CUstream stream, CUevent *out) {
  CUevent event = NULL;
  sb_status status = sb__cuda_enter(device);
  if (status) return status;
  status = sb__cuda_event_take(device, &event);
  if (!status) status = sb__cuda_check(sb__cu.cuEventRecord(event, stream), "recording an event");
  if (status)
    sb__cuda_event_give(device, event);
  else
    *out = event;
  sb__cuda_leave();
  return status;
}

/* What is given to stream from now on comes after what `first` has been given so far. In stream's context. */
static sb_status follow(CUstream stream, int device, CUstream first) {
  CUevent event = NULL;
  sb_status status = event_now(device, first, &event);
  if (status) return status;
  status = sb__cuda_check(sb__cu.cuStreamWaitEvent(stream, event, 0),
                          "making a stream wait for another");
  sb__cuda_event_give(
      device, event); /* the stream waits for what it has recorded, whatever it records later */
  return status;
}

sb__cuda_last_use sb__cuda_last_use_now(const sb__cuda_last_use *use) {
  sb__lock_take(&lock);
  const sb__cuda_last_use seen = *use;
  sb__lock_drop(&lock);
  return seen;
}

sb_status sb__cuda_last_use_before(const sb__cuda_last_use *of, const sb__cuda_raw_stream *raw) {
  const sb__cuda_last_use use = sb__cuda_last_use_now(of);
  const bool is_ours = raw->handle == raw->follower; /* else what follows it may have older work */
  if (!use.touched || (is_ours && use.device == raw->device && use.stream == raw->follower)) {
    return SB_OK;
  }
  return follow(raw->handle, use.device, use.stream);
}

sb_status sb__cuda_last_use_after(sb__cuda_last_use *use, const sb__cuda_raw_stream *raw) {
  sb_status status =
      raw->handle == raw->follower ? SB_OK : follow(raw->follower, raw->device, raw->handle);
  if (status) { /* nobody can be asked later: wait now */
    (void)sb__cu.cuStreamSynchronize(raw->handle);
    return status;
  }
  sb__lock_take(&lock);
  *use = (sb__cuda_last_use){true, raw->device, raw->follower, use->turn + 1};
  sb__lock_drop(&lock);
  return SB_OK;
}

sb_status sb__cuda_last_use_join(sb__cuda_last_use *use, const sb__cuda_last_use *more) {
  const sb__cuda_last_use seen = sb__cuda_last_use_now(more);
  const sb__cuda_raw_stream raw = {seen.device, seen.stream, seen.stream};
  if (!seen.touched) return SB_OK;
  sb_status status = sb__cuda_enter(seen.device);
  if (status) return status;
  status = sb__cuda_last_use_before(use, &raw);
  if (!status) status = sb__cuda_last_use_after(use, &raw);
  sb__cuda_leave();
  return status;
}

sb_status sb__cuda_last_use_event(const sb__cuda_last_use *use, CUevent *out) {
  const sb__cuda_last_use seen = sb__cuda_last_use_now(use);
  *out = NULL;
  return seen.touched ? event_now(seen.device, seen.stream, out) : SB_OK;
}

sb_status sb__cuda_last_use_wait(sb__cuda_last_use *use) {
  const sb__cuda_last_use seen = sb__cuda_last_use_now(use);
  if (!seen.touched) return SB_OK;
  sb_status status = sb__cuda_enter(seen.device);
  if (status) return status;
  status =
      sb__cuda_check(sb__cu.cuStreamSynchronize(seen.stream), "waiting for memory to be ready");
  sb__cuda_leave();
  if (status) return status;
  sb__lock_take(&lock);
  if (use->turn == seen.turn) use->touched = false;
  sb__lock_drop(&lock);
  return SB_OK;
}

void sb__cuda_last_use_settled(sb__cuda_last_use *use) {
  sb__lock_take(&lock);
  use->touched = false;
  sb__lock_drop(&lock);
}
