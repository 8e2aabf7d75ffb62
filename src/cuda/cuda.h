/* The GPU path of the addon: what its files offer each other and the bindings; no public header.
 *
 * Nothing happens before the first call: no library is opened, nothing is initialised. Each entry pushes the primary context of
 * its device and pops it again, so nobody's current context changes. Functions of this header may be called on any thread;
 * what can fail returns sb_status with a message as everywhere.
 *
 * Order. Each storage remembers the stream that touched it last; who touches it on another stream makes that one wait for
 * the former. So operations on one storage are in the order of their calls, whatever streams they are given, and memory that
 * is freed goes back to the stream that touched it last, at once, without waiting.
 *
 * A sticky error (an illegal address in somebody's kernel, say) ends CUDA for this process: from then on everything here
 * returns SB_ERR_CUDA_CONTEXT_LOST with the first error's words, what was allocated is left to the process' end, and the
 * CPU path goes on. */
#ifndef SB_CUDA_H
#define SB_CUDA_H

#include "core/core.h"
#include "cuda/driver.h"
#include "ops/device.h"

/* ---- Loading: driver.c ---- */

/* Opens the driver library and initialises it, once in a process; every other function here calls it first.
 * SAMEBYTES_LIBCUDA names the one library that is tried.
 *
 * Errors  SB_ERR_DEVICE there is no driver, it does not work, or this is a forked child: sb__cuda_why_not says which ·
 *         SB_ERR_CUDA_CONTEXT_LOST */
sb_status sb__cuda_load(void);

/* Where device code lies: the folder of the addon (or of libsamebytes), without a slash at its end. NULL: the folder of the
 * library that this function is in. Copied; before the first launch. Looked at are that folder, cuda/ in it and cuda/ beside
 * it; SAMEBYTES_CUDA_CODE names another one. */
sb_status sb__cuda_set_folder(const char *folder);

/* ---- What is missing: init.c ---- */

/* Why CUDA cannot be used, in one sentence; "" where it can: then there are a driver, a device, and device code for it. Static
 * or this thread's; never freed. */
const char *sb__cuda_why_not(void);

/* ---- Devices: device.c ---- */

#define SB__CUDA_DEVICES 64 /* at most, of one process */

typedef struct sb__cuda_properties {
  char name[128];
  uint8_t uuid[16];
  bool has_uuid;
  int major, minor; /* compute capability */
  int multiprocessors;
  int driver;       /* version: 1000 * major + 10 * minor */
  int64_t total;    /* bytes */
  int64_t free_now; /* bytes, as the driver counts; -1: unknown, nothing has used the device */
  bool shares_by_descriptor; /* VMM with POSIX file descriptors */
  bool registers_read_only;  /* host memory that may only be read can be pinned */
} sb__cuda_properties;

sb_status sb__cuda_count(int *out);

/* Errors  SB_ERR_DEVICE there is no such device: the message says how many there are */
sb_status sb__cuda_properties_of(int64_t device, sb__cuda_properties *out);

/* Checks the index, loads, makes the primary context ours, and pushes it. Each success is followed by sb__cuda_leave on the same
 * thread. Errors as sb__cuda_load, and SB_ERR_DEVICE for a wrong index. */
sb_status sb__cuda_enter(int64_t device);
void sb__cuda_leave(void);

/* The device's primary context, after an sb__cuda_enter. */
CUcontext sb__cuda_context(int device);

/* What a driver's answer means: SB_OK for 0, else a status with a message that names the operation. 2 is SB_ERR_MEMORY, 801
 * SB_ERR_UNSUPPORTED, others SB_ERR_DEVICE; sticky ones mark CUDA as lost. operation: static, as "cuMemAlloc" or "a copy to cuda:0". */
sb_status sb__cuda_check(CUresult result, const char *operation);

bool sb__cuda_is_lost(void);

/* The device of an address, by the driver's word; -1: an ordinary host address. kind: 1 host (pinned), 2 device. It is asked in
 * the context of a device that will be used anyway: no other one becomes ready for it. */
sb_status sb__cuda_pointer_device(const void *address, int64_t context, int *device, int *kind);

/* ---- Streams and events: stream.c ---- */

typedef struct sb__cuda_stream
    sb__cuda_stream; /* counted; NULL stands for a device's default stream (the legacy one) */
typedef struct sb__cuda_event sb__cuda_event; /* counted */

/* A stream of ours, non-blocking. Its handle is never destroyed: when the last reference is gone, another stream takes it over. */
sb_status sb__cuda_stream_new(int64_t device, sb__cuda_stream **out);

/* Somebody else's, who keeps it alive as long as work is given to it. number: the handle; 0 and 1 are the legacy default stream,
 * 2 the default stream of a thread. */
sb_status sb__cuda_stream_wrap(int64_t device, uint64_t number, sb__cuda_stream **out);
sb__cuda_stream *sb__cuda_stream_ref(sb__cuda_stream *stream);
void sb__cuda_stream_unref(sb__cuda_stream **stream);
int sb__cuda_stream_device(const sb__cuda_stream *stream);
uint64_t sb__cuda_stream_number(const sb__cuda_stream *stream); /* the handle; NULL: 0 */
sb_status sb__cuda_stream_wait(int64_t device, sb__cuda_stream *stream, sb__cuda_event *event);

/* Blocks until all work that was given to the stream is done. */
sb_status sb__cuda_stream_synchronize(int64_t device, sb__cuda_stream *stream);

/* Of the whole device, whoever gave the work. */
sb_status sb__cuda_synchronize(int64_t device);

/* The stream that operations of this thread on its device go to, until the next call; NULL: default streams. Borrowed: the caller keeps it
 * until it has set another one. Returns the one before. */
sb__cuda_stream *sb__cuda_use_stream(sb__cuda_stream *stream);
sb__cuda_stream *sb__cuda_stream_for(
    int device); /* as sb__cuda_use_stream left it; borrowed; NULL: the default */

/* An event that was not recorded is done. timed: sb__cuda_event_elapsed can be asked. */
sb_status sb__cuda_event_new(int64_t device, bool timed, sb__cuda_event **out);
sb__cuda_event *sb__cuda_event_ref(sb__cuda_event *event);
void sb__cuda_event_unref(sb__cuda_event **event);
int sb__cuda_event_device(const sb__cuda_event *event);
uint64_t sb__cuda_event_number(const sb__cuda_event *event);
sb_status sb__cuda_event_record(sb__cuda_event *event, sb__cuda_stream *stream); /* of one device */
sb_status sb__cuda_event_query(sb__cuda_event *event, bool *done);
sb_status sb__cuda_event_synchronize(sb__cuda_event *event); /* blocks */
sb_status sb__cuda_event_elapsed(sb__cuda_event *from, sb__cuda_event *to, double *milliseconds);

/* ---- Completion: completion.c ---- */

/* Called once, on the completion thread of a device, which may be there still when the process ends. It must not block, and calls
 * nothing of this header but unref functions. message: of a failure; this call's. */
typedef void (*sb__cuda_done)(void *context, sb_status status, const char *message);

/* Has done called when all work is done that was given to the stream so far. already: it is; then done is not called. On a failure
 * of this call done is not called either. */
sb_status sb__cuda_when(int64_t device, sb__cuda_stream *stream, sb__cuda_done done, void *context,
                        bool *already);

/* The same for the work that touched a storage (on a device, or pinned) so far. */
sb_status sb__cuda_when_ready(sb_storage *storage, sb__cuda_done done, void *context,
                              bool *already);

/* The same for what an event has recorded. */
sb_status sb__cuda_when_event(sb__cuda_event *event, sb__cuda_done done, void *context,
                              bool *already);

/* ---- Memory of devices: memory.c ---- */

/* Uninitialised bytes on a device, from the cache where it can be.
 *
 *   stream  that will touch them first; NULL: the device's default stream
 *   out     kind SB__STORAGE_CUDA; data is an address on the device, at a multiple of 512; the caller owns its one reference
 *
 * Errors  SB_ERR_MEMORY with the numbers, after: cached memory was given back, the hook below has freed what is dead, and the device was
 *         waited for · SB_ERR_DEVICE · SB_ERR_CUDA_CONTEXT_LOST */
sb_status sb__cuda_storage_new(int64_t device, size_t nbytes, sb__cuda_stream *stream,
                               sb_storage **out);

/* Frees what somebody else gave, when the last reference is gone and the device is done with it; on any thread, the completion thread
 * included. Where CUDA was lost it is called as well, and calls no driver then (sb__cuda_is_lost). */
typedef void (*sb__cuda_release)(void *data, void *context);

/* A storage of device memory that somebody else made: a foreign pointer, a mapping of another process' memory.
 * release NULL: nothing to free. Over bytes of another storage here it is a view, which keeps that; when it ends, what it has under
 * way is the other's (or the registration's), so that the bytes are not used again before. */
sb_status sb__cuda_storage_wrap(int64_t device, void *data, size_t nbytes, sb__cuda_release release,
                                void *context, sb_storage **out);

/* What was wrapped is page-locked memory of the host: all devices see it at that address. */
void sb__cuda_storage_is_mapped(sb_storage *storage);

/* Called where a device has no memory left, on the thread that asked for it: frees tensors that nobody can reach. Returns whether
 * any were. Of this thread; NULL: none. */
typedef bool (*sb__cuda_sweep)(void *context);
void sb__cuda_set_sweep(sb__cuda_sweep sweep, void *context);

typedef struct sb__cuda_statistics {
  int64_t allocated, allocated_peak; /* bytes in tensors, rounded up */
  int64_t reserved, reserved_peak;   /* bytes taken from the driver */
  int64_t wrapped;                   /* bytes of others */
  int64_t segments, blocks;          /* taken from the driver; in use */
  int64_t allocations, driver_allocations, retries, failures;
} sb__cuda_statistics;
sb_status sb__cuda_statistics_of(int64_t device, sb__cuda_statistics *out);
sb_status sb__cuda_empty_cache(
    int64_t
        device); /* gives cached segments back to the driver; -1: of all devices that are in use */

/* ---- Memory of the host that devices see: pinned.c ---- */

/* Page-locked memory, mapped for every device: data is the address for the CPU. From a pool by sizes.
 *
 *   out  kind SB__STORAGE_PAGE_LOCKED; bytes are uninitialised
 *
 * Errors  SB_ERR_MEMORY · SB_ERR_DEVICE */
sb_status sb__cuda_pinned_new(size_t nbytes, sb_storage **out);

typedef struct sb__cuda_registration sb__cuda_registration;

/* Page-locks memory that exists. Whoever asked keeps the memory, where it is, until sb__cuda_unregister; a storage that is given
 * (NULL: none) is kept by the registration.
 *
 * Errors  SB_ERR_EXISTS a page of it is registered already · SB_ERR_UNSUPPORTED read-only memory, where the device cannot ·
 *         SB_ERR_MEMORY · SB_ERR_DEVICE */
sb_status sb__cuda_register(void *data, size_t nbytes, bool read_only, sb_storage *storage,
                            sb__cuda_registration **out);

/* Waits for copies in flight, then lets the pages go. Sets it NULL. */
void sb__cuda_unregister(sb__cuda_registration **registration);

/* Is all of a range page-locked, by sb__cuda_pinned_new or sb__cuda_register? No driver is asked. storage: whose bytes they are; may
 * be NULL, or a borrowed one. */
bool sb__cuda_is_pinned(const sb_storage *storage, const void *data, size_t nbytes);

/* The address at which a device sees a storage's bytes: of the device itself, or pinned. */
sb_status sb__cuda_device_address(const sb_storage *storage, int device, CUdeviceptr *out);

typedef struct sb__cuda_pinned_statistics {
  int64_t allocated, reserved, registered; /* bytes */
} sb__cuda_pinned_statistics;
sb__cuda_pinned_statistics sb__cuda_pinned_statistics_now(void);
sb_status sb__cuda_empty_pinned(void); /* gives unused page-locked memory back */

/* ---- Operations: copy.c, async_copy.c ---- */

/* sb_copy, sb_copy_scaled, sb_copy_values, sb_fill, sb_uniform, sb_normal, sb_randint, sb_clone and sb_tensor_resize take tensors on
 * devices once anything here was called (ops/device.h): they go to the stream of sb__cuda_use_stream. Where a side lies on
 * the host they come back when its bytes have been read or written; between devices, when the work is given to the stream. */

/* The same copy, without waiting. Where pages are pinned, the host side is in use until it is done: the caller keeps it and
 * marks it busy. Pageable sources were read when this returns; pageable targets are written by sb__cuda_copy_end.
 *
 *   out  to be given to sb__cuda_copy_end once; NULL where all is done */
typedef struct sb__cuda_copying sb__cuda_copying;
sb_status sb__cuda_copy_begin(const sb__copy *c, sb__cuda_stream *stream, sb__cuda_copying **out,
                              int64_t *staged);

/* Has done called when the transfer is over; as sb__cuda_when. */
sb_status sb__cuda_copy_when(sb__cuda_copying *copying, sb__cuda_done done, void *context,
                             bool *already);

/* After done was called: moves what a pageable target waits for, and frees it. c: the same copy as before, where the target's bytes
 * may have moved (the source is not looked at); NULL: nobody wants it any more. */
sb_status sb__cuda_copy_end(sb__cuda_copying **copying, const sb__copy *c, int64_t *staged);

/* A touch from outside: the next work on the stream waits for what touched the storage before, and who touches it next waits for what
 * the stream has been given by then, so this comes before and after work of others. For capsules, __cuda_array_interface__, other
 * libraries' kernels. */
sb_status sb__cuda_touch(sb_storage *storage, int64_t device, sb__cuda_stream *stream);

/* Blocks until the work that touched a storage is done. */
sb_status sb__cuda_wait_for(const sb_storage *storage);

/* ---- Kernels: launch.c runs what plan.c plans ---- */

/* One launch. The kernel's only parameter is a struct by value. */
typedef struct sb__cuda_launch {
  const char *module; /* file name beside the addon, without .fatbin or .ptx; static */
  const char *kernel; /* static */
  uint32_t grid[3], block[3];
  uint32_t shared; /* bytes of dynamic shared memory */
  uint32_t nbytes; /* of the arguments */
  _Alignas(16) unsigned char arguments[1024];
} sb__cuda_launch;

/* Gives a launch to the stream of the operation; a failure is handed back by the planner at once. */
typedef sb_status (*sb__cuda_emit)(void *context, const sb__cuda_launch *launch);

/* ---- plan.c: kernels and their planner ---- */

/* Plans as many launches as it takes, in order. All tensors have elements, lie on one device (sb_tensor_data is the address
 * there), were checked (dtypes, casting, extents), have dst's shape, and do not overlap dst unless element by element in place.
 *
 *   scale, bias  float64 in dst's shape, or NULL: dst gets src * scale + bias, as sb_copy_scaled defines it
 *
 * Errors  SB_ERR_UNSUPPORTED no kernel does it: nothing was emitted */
sb_status sb__cuda_plan_copy(const sb_tensor *dst, const sb_tensor *src, const sb_tensor *scale,
                             const sb_tensor *bias, sb__cuda_emit emit, void *context);

/* item: the bytes of one element, at a multiple of 16. */
sb_status sb__cuda_plan_fill(const sb_tensor *t, const void *item, sb__cuda_emit emit,
                             void *context);

/* Draws all elements of t in row-major order: how is complete (kernels/kernels.h). */
sb_status sb__cuda_plan_random(const sb_tensor *t, const sb__random *how, sb__cuda_emit emit,
                               void *context);

/* Runs on the current context: pushed by sb__cuda_enter. */
sb_status sb__cuda_launch_now(int device, CUstream stream, const sb__cuda_launch *launch);

#endif
