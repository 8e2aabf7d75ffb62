/* What the files of this folder share and nobody else needs. */
#ifndef SB_CUDA_INTERNAL_H
#define SB_CUDA_INTERNAL_H

#include "cuda/cuda.h"

/* ---- driver.c ---- */

/* Can the driver be called, from this process, and does its context live? Looks only. */
bool sb__cuda_is_usable(void);

/* Is this a child of the process that loaded the driver? Then nothing here may be called, and no lock taken. */
bool sb__cuda_is_forked(void);

bool sb__cuda_is_synchronous(
    void); /* SAMEBYTES_CUDA_SYNC=1: each operation is waited for, and named where it fails */

/* Remembers what was given to a device, for the words of a lost context. operation: static. */
void sb__cuda_note(const char *operation);
void sb__cuda_all_is_well(void); /* what was noted so far came to a good end */

/* The folder of device code. */
sb_status sb__cuda_folder(char *path, size_t room);

/* ---- device.c ---- */

int sb__cuda_devices(void);           /* how many; after an sb__cuda_load */
bool sb__cuda_is_entered(int device); /* has its context been made here? */
CUdevice sb__cuda_handle(int device);

/* ---- stream.c ---- */

/* A stream of a device, as the driver knows it. Somebody else's may be destroyed at any time: `follower` is then one of ours that
 * follows it, else the same. Ours and the legacy default one stay. */
typedef struct sb__cuda_raw_stream {
  int device;
  CUstream handle, follower;
} sb__cuda_raw_stream;

/* Of stream, or of the thread's for that device; in an entered context. */
sb_status sb__cuda_raw_stream_of(int64_t device, const sb__cuda_stream *stream,
                                 sb__cuda_raw_stream *out);
sb__cuda_raw_stream sb__cuda_raw_stream_for(int device);

/* Waits until a stream is done with all it was given. In its context. */
sb_status sb__cuda_raw_stream_wait(const sb__cuda_raw_stream *stream, const char *operation);

/* What the driver answered to an operation that was given to stream. operation: static. */
sb_status sb__cuda_given(CUresult result, const sb__cuda_raw_stream *stream, const char *operation);

/* Events of a pool: without times, and who waits for them sleeps. In the device's context. */
sb_status sb__cuda_event_take(int device, CUevent *out);
void sb__cuda_event_give(int device, CUevent event); /* NULL is fine; any thread */

/* The last use of memory: the stream whose work touched it last. */
typedef struct sb__cuda_last_use {
  bool touched; /* else by nobody, or by who is done */
  int device;
  CUstream stream; /* the follower, of somebody else's */
  uint64_t turn;   /* grows with each touch */
} sb__cuda_last_use;

/* As it is now: other threads may change it. */
sb__cuda_last_use sb__cuda_last_use_now(const sb__cuda_last_use *use);

/* The next work on stream comes after what touched the memory so far. In stream's context. */
sb_status sb__cuda_last_use_before(const sb__cuda_last_use *use, const sb__cuda_raw_stream *stream);

/* The work that was just given to stream touches it. In stream's context. */
sb_status sb__cuda_last_use_after(sb__cuda_last_use *use, const sb__cuda_raw_stream *stream);

/* What `use` has goes on with the last work of `more`, after its own. Enters by itself. */
sb_status sb__cuda_last_use_join(sb__cuda_last_use *use, const sb__cuda_last_use *more);

/* Blocks until its last work is done; then nothing touches it, unless somebody did meanwhile. Enters by itself. */
sb_status sb__cuda_last_use_wait(sb__cuda_last_use *use);

/* Its last use is known to be done, and nobody else has the memory. */
void sb__cuda_last_use_settled(sb__cuda_last_use *use);

/* Takes an event for the last work; NULL: nothing touches it. Enters by itself. */
sb_status sb__cuda_last_use_event(const sb__cuda_last_use *use, CUevent *out);

/* ---- registry.c ---- */

/* The context of storages of the kinds CUDA, CUDA_FOREIGN and PINNED. */
typedef struct sb__cuda_memory {
  sb__cuda_last_use last_use;
  int device;     /* -1: pinned */
  bool is_mapped; /* page-locked memory of the host, which all devices see, as a device's */
  void *block;    /* the allocator's, or of the pinned pool; NULL: somebody else's bytes */
  char *data;
  size_t nbytes;
  sb__cuda_release release; /* of somebody else's */
  void *context;
  sb_storage
      *base; /* of a view by address: whose bytes they are; one reference. NULL: nobody's here */
  sb_storage *storage;
  struct sb__cuda_memory *next, *previous; /* of those that are listed */
} sb__cuda_memory;

/* Adds a storage to the registry, where views of its bytes find it; and removes it. */
void sb__cuda_memory_join(sb__cuda_memory *memory, sb_storage *storage);
void sb__cuda_memory_leave(sb__cuda_memory *memory);

/* Of the storage that others are parts of; NULL: neither on a device nor pinned. */
sb__cuda_memory *sb__cuda_memory_of(const sb_storage *storage);

/* The storage that owns all of a range, with a new reference; NULL: none does. */
sb_storage *sb__cuda_memory_at(const char *data, size_t nbytes);

/* Of a storage on a device, or a pinned one; else NULL. */
sb__cuda_last_use *sb__cuda_last_use_of(const sb_storage *storage);

/* sb__cuda_last_use_before and _after of a storage; nothing for others. In stream's context. */
sb_status sb__cuda_before(const sb_storage *storage, const sb__cuda_raw_stream *stream);
sb_status sb__cuda_after(const sb_storage *storage, const sb__cuda_raw_stream *stream);

/* Frees storages that JavaScript can no longer reach. Returns true if any were freed. */
bool sb__cuda_sweep_now(void);

/* ---- completion.c ---- */

/* As sb__cuda_when, for an event of the pool, recorded by stream, which goes back afterwards. Takes event over, also on
 * failure. */
sb_status sb__cuda_when_done(int device, CUstream stream, CUevent event, sb__cuda_done done,
                             void *context, bool *already);

/* ---- allocator.c ---- */

typedef struct sb__cuda_block sb__cuda_block;

/* A block of at least nbytes, not 0, that stream may use at once; other streams come after its last use. In the device's context. */
sb_status sb__cuda_block_take(int device, size_t nbytes, const sb__cuda_raw_stream *stream,
                              sb__cuda_block **out);

/* Back into the cache; use: its last one. */
void sb__cuda_block_give(int device, sb__cuda_block *block, const sb__cuda_last_use *use);

void *sb__cuda_block_data(const sb__cuda_block *block); /* an address of the device */

/* The last use of whoever had the block before; the caller has it now. */
sb__cuda_last_use sb__cuda_block_last_use(const sb__cuda_block *block);

/* Counts bytes of others; nbytes may be below 0. */
void sb__cuda_count_wrapped(int device, int64_t nbytes);

/* ---- pinned.c ---- */

/* The use that belongs to a page-locked range of the host, which stays until sb__cuda_unpin; NULL: not all of it is. */
sb__cuda_last_use *sb__cuda_pin(const sb_storage *storage, const void *data, size_t nbytes,
                                sb__cuda_registration **held);
void sb__cuda_unpin(sb__cuda_registration *held); /* NULL is fine */

/* ---- transfer.c ---- */

typedef enum sb__cuda_direction { SB__CUDA_TO_DEVICE, SB__CUDA_TO_HOST } sb__cuda_direction;

/* Copies n bytes between stream's device and the host. owner: the host's storage. wait: its bytes are no longer in use when this
 * returns; pageable ones never are. In stream's context. */
sb_status sb__cuda_transfer(sb__cuda_direction way, CUdeviceptr device, const sb_storage *owner,
                            void *host, size_t n, bool wait, const sb__cuda_raw_stream *stream);

/* ---- copy.c ---- */

/* How core and ops reach devices. Static. */
const sb__device_table *sb__cuda_table(void);

/* Both have no gaps, one dtype and one order: their bytes are the same. */
bool sb__cuda_is_alike(const sb_tensor *a, const sb_tensor *b);

/* The device whose stream has the last work of a copy: the target's, unless that is the host's memory which all see. */
int sb__cuda_target_device(const sb__copy *c);

/* A copy of which a side lies on a device. wait: for page-locked memory of the host. */
sb_status sb__cuda_copy_run(const sb__copy *c, bool must_fit, bool wait, int64_t *staged);

/* What is to come down from a device, without gaps: of dst's dtype and shape (converted) where that has fewer bytes and the device can do
 * it, else src's. out holds its storage. In stream's context. */
sb_status sb__cuda_prepare_down(const sb__copy *c, const sb__cuda_raw_stream *stream,
                                sb_tensor *out, bool *converted);

/* Down, between two that are alike. */
sb_status sb__cuda_fetch(const sb_tensor *dst, const sb_tensor *src, bool wait,
                         const sb__cuda_raw_stream *stream);

/* ---- launch.c ---- */

/* Is there device code beside the library? */
sb_status sb__cuda_check_code(void);

#endif
