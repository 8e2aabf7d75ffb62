/* Rows of exports.def that are about CUDA. Streams and events are storages without bytes: they go as all storages go, by
 * release, collection, or the environment's end. */
#include "bind/frame.h"

#ifndef __wasm__
# include <string.h>

# include "cuda/cuda.h"

# define T(i) (&b->operands[i])
# define N(i) (b->numbers[i])
# define RESULT(i) (b->results[i])

/* The storage's reference becomes a claim of this environment; handle and address are the first results. */
static sb_status give(sb__binding *b, sb_storage *storage) {
  if ((double)(uintptr_t)storage->data + (double)storage->nbytes >= 9007199254740992.0) {
    sb_storage_unref(&storage);
    return sb__fail(SB_ERR_BOUNDS, "an address is beyond what JavaScript can count");
  }
  RESULT(1) = (double)(uintptr_t)storage->data;
  b->guarded_count = 0; /* nothing fails any more once there is a claim */
  const sb_status status = sb__claim_new(b, storage, &RESULT(0));
  if (status) sb_storage_unref(&storage);
  return status;
}

/* What context is goes with a claim. Where that fails, it goes at once. */
static sb_status give_holder(sb__binding *b, sb_deleter drop, void *context) {
  sb_storage *holder = NULL;
  const sb_status status = sb__storage_pin(NULL, 0, NULL, drop, context, &holder);
  if (!status) return give(b, holder);
  drop(NULL, context);
  return status;
}

/* Text for JavaScript, where a failure would be. */
static void leave(sb__binding *b, const char *text) {
  char *to = (char *)(b->frame + SB__FRAME_TEXT);
  const size_t room = (SB__FRAME_SCRATCH - SB__FRAME_TEXT) * sizeof(double);
  const size_t length = strnlen(text, room - 1);
  memcpy(to, text, length);
  to[length] = 0;
}

/* ---- Devices ---- */

sb_status sb__row_cuda_count(sb__binding *b) {
  int count = 0;
  const sb_status status = sb__cuda_count(&count);
  RESULT(0) = count;
  return status;
}

sb_status sb__row_cuda_why_not(sb__binding *b) {
  leave(b, sb__cuda_why_not());
  return SB_OK;
}

/* Number: the device, which becomes ready to be used. */
sb_status sb__row_cuda_open(sb__binding *b) {
  const sb_status status = sb__cuda_enter(N(0));
  if (!status) sb__cuda_leave();
  return status;
}

/* What can stand in a JSON text as it is. */
static void plain(const char *from, char *to, size_t room) {
  size_t n = 0;
  for (; *from && n + 1 < room; from++)
    if (*from >= ' ' && *from <= '~' && *from != '"' && *from != '\\') to[n++] = *from;
  to[n] = 0;
}

/* Number: the device. The text is its properties as JSON. */
sb_status sb__row_cuda_properties(sb__binding *b) {
  sb__cuda_properties p;
  char text[512], name[sizeof p.name], uuid[40] = "";
  const sb_status status = sb__cuda_properties_of(N(0), &p);
  if (status) return status;
  plain(p.name, name, sizeof name);
  for (int i = 0, at = 0; p.has_uuid && i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid[at++] = '-';
    at += sb__print(uuid + at, sizeof uuid - (size_t)at, "%02x", p.uuid[i]);
  }
  sb__print(text, sizeof text,
            "{\"name\":\"%s\",\"uuid\":\"%s\",\"major\":%d,\"minor\":%d,\"multiprocessors\":%d,"
            "\"driver\":%d,\"total\":%lld,\"free\":%lld,\"sharesByDescriptor\":%s,"
            "\"registersReadOnly\":%s}",
            name, uuid, p.major, p.minor, p.multiprocessors, p.driver, (long long)p.total,
            (long long)p.free_now, p.shares_by_descriptor ? "true" : "false",
            p.registers_read_only ? "true" : "false");
  leave(b, text);
  return SB_OK;
}

sb_status sb__row_cuda_synchronize(sb__binding *b) { return sb__cuda_synchronize(N(0)); }

/* ---- Memory ---- */

static sb_status check_count(int64_t nbytes) {
  if (nbytes >= 0 && (uint64_t)nbytes <= SIZE_MAX) return SB_OK;
  return sb__fail(SB_ERR_MEMORY, "%lld bytes cannot be allocated", (long long)nbytes);
}

/* Numbers: device, bytes. */
sb_status sb__row_cuda_new(sb__binding *b) {
  sb_storage *storage = NULL;
  sb_status status = check_count(N(1));
  if (!status) {
    status = sb__cuda_storage_new(N(0), (size_t)N(1), NULL, &storage);
  }
  return status ? status : give(b, storage);
}

/* Number: bytes of the host's, page-locked. */
sb_status sb__row_pinned_new(sb__binding *b) {
  sb_storage *storage = NULL;
  sb_status status = check_count(N(0));
  if (!status) status = sb__cuda_pinned_new((size_t)N(0), &storage);
  return status ? status : give(b, storage);
}

static void drop_registration(void *data, void *context) {
  sb__cuda_registration *registration = context;
  (void)data;
  sb__cuda_unregister(&registration);
}

/* Number: whether the bytes may only be read. The handle is of what ends the registration. Bytes that are JavaScript's stay where
 * they are until then, as JavaScript sees to. */
sb_status sb__row_cuda_register(sb__binding *b) {
  sb__cuda_registration *registration = NULL;
  sb_storage *storage = T(0)->storage;
  const sb_status status =
      sb__cuda_register(storage->data, storage->nbytes, N(0) != 0,
                        storage->kind == SB__STORAGE_BORROWED ? NULL : storage, &registration);
  return status ? status : give_holder(b, drop_registration, registration);
}

sb_status sb__row_is_pinned(sb__binding *b) {
  const sb_storage *storage = T(0)->storage;
  RESULT(0) = storage->nbytes && sb__cuda_is_pinned(storage, storage->data, storage->nbytes);
  return SB_OK;
}

/* Number: the device; -1: all. Its cached memory goes back to the driver. */
sb_status sb__row_cuda_empty_cache(sb__binding *b) {
  const sb_status status = sb__cuda_empty_cache(N(0));
  return status || N(0) >= 0 ? status : sb__cuda_empty_pinned();
}

/* Number: the device. The arguments become the numbers that js/backend/cuda.js names. */
sb_status sb__row_cuda_statistics(sb__binding *b) {
  sb__cuda_statistics s;
  const sb_status status = sb__cuda_statistics_of(N(0), &s);
  if (status) return status;
  const sb__cuda_pinned_statistics pinned = sb__cuda_pinned_statistics_now();
  const int64_t numbers[] = {
      s.allocated, s.allocated_peak, s.reserved,      s.reserved_peak,      s.wrapped,
      s.segments,  s.blocks,         s.allocations,   s.driver_allocations, s.retries,
      s.failures,  pinned.allocated, pinned.reserved, pinned.registered};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    b->frame[SB__FRAME_ARGS + i] = (double)numbers[i];
  return SB_OK;
}

/* Blocks until what was done to the bytes is done. */
sb_status sb__row_cuda_wait_for(sb__binding *b) { return sb__cuda_wait_for(T(0)->storage); }

/* ---- Streams and events ---- */

static void drop_stream(void *data, void *context) {
  sb__cuda_stream *stream = context;
  (void)data;
  sb__cuda_stream_unref(&stream);
}

static void drop_event(void *data, void *context) {
  sb__cuda_event *event = context;
  (void)data;
  sb__cuda_event_unref(&event);
}

sb_status sb__cuda_stream_of(const sb_storage *holder, sb__cuda_stream **out) {
  if (holder->deleter != drop_stream) return sb__fail(SB_ERR_ARGUMENT, "this is no stream");
  *out = holder->context;
  return SB_OK;
}

sb_status sb__cuda_event_of(const sb_storage *holder, sb__cuda_event **out) {
  if (holder->deleter != drop_event) return sb__fail(SB_ERR_ARGUMENT, "this is no event");
  *out = holder->context;
  return SB_OK;
}

/* Handle, and in two halves the driver's number for it. */
static sb_status give_stream(sb__binding *b, sb__cuda_stream *stream) {
  const uint64_t number = sb__cuda_stream_number(stream);
  const sb_status status = give_holder(b, drop_stream, stream);
  RESULT(1) = (double)(number >> 32);
  RESULT(2) = (double)(number & UINT32_MAX);
  return status;
}

/* Number: device. */
sb_status sb__row_cuda_stream_new(sb__binding *b) {
  sb__cuda_stream *stream = NULL;
  const sb_status status = sb__cuda_stream_new(N(0), &stream);
  return status ? status : give_stream(b, stream);
}

/* Number: device. Scalar: somebody's number of a stream. */
sb_status sb__row_cuda_stream_wrap(sb__binding *b) {
  sb__cuda_stream *stream = NULL;
  const sb_scalar *number = &b->scalars[0];
  if (number->kind != SB_SCALAR_UINT && number->kind != SB_SCALAR_INT) {
    return sb__fail(SB_ERR_ARGUMENT, "a stream's number is an integer");
  }
  const sb_status status = sb__cuda_stream_wrap(N(0), number->as.u, &stream);
  return status ? status : give_stream(b, stream);
}

/* Operands: stream, event. */
sb_status sb__row_cuda_stream_wait(sb__binding *b) {
  sb__cuda_stream *stream = NULL;
  sb__cuda_event *event = NULL;
  sb_status status = sb__cuda_stream_of(T(0)->storage, &stream);
  if (!status) status = sb__cuda_event_of(T(1)->storage, &event);
  return status ? status : sb__cuda_stream_wait(sb__cuda_stream_device(stream), stream, event);
}

sb_status sb__row_cuda_stream_synchronize(sb__binding *b) {
  sb__cuda_stream *stream = NULL;
  const sb_status status = sb__cuda_stream_of(T(0)->storage, &stream);
  return status ? status : sb__cuda_stream_synchronize(sb__cuda_stream_device(stream), stream);
}

/* From now on operations of this thread go to the stream, which JavaScript holds until it has set another one. Number 0: to the
 * default ones, and the operand says nothing. */
sb_status sb__row_cuda_use_stream(sb__binding *b) {
  sb__cuda_stream *stream = NULL;
  const sb_status status = N(0) ? sb__cuda_stream_of(T(0)->storage, &stream) : SB_OK;
  if (!status) sb__cuda_use_stream(stream);
  return status;
}

/* Number: device. */
sb_status sb__row_cuda_event_new(sb__binding *b) {
  sb__cuda_event *event = NULL;
  const sb_status status = sb__cuda_event_new(N(0), false, &event);
  return status ? status : give_holder(b, drop_event, event);
}

/* Operands: event, stream. Number 0: the default stream, and the second operand says nothing. */
sb_status sb__row_cuda_event_record(sb__binding *b) {
  sb__cuda_stream *stream = NULL;
  sb__cuda_event *event = NULL;
  sb_status status = sb__cuda_event_of(T(0)->storage, &event);
  if (!status && N(0)) status = sb__cuda_stream_of(T(1)->storage, &stream);
  return status ? status : sb__cuda_event_record(event, stream);
}

sb_status sb__row_cuda_event_query(sb__binding *b) {
  sb__cuda_event *event = NULL;
  bool done = false;
  sb_status status = sb__cuda_event_of(T(0)->storage, &event);
  if (!status) status = sb__cuda_event_query(event, &done);
  RESULT(0) = done;
  return status;
}

/* Operands: a storage, a stream that somebody else will touch it on. Number 0: the default stream. */
sb_status sb__row_cuda_touch(sb__binding *b) {
  sb__cuda_stream *stream = NULL;
  const sb_status status = N(0) ? sb__cuda_stream_of(T(1)->storage, &stream) : SB_OK;
  return status ? status : sb__cuda_touch(T(0)->storage, T(0)->storage->device, stream);
}
#endif
