/* Device memory between processes of one user on one machine, by a socket: a server hands out what this process shared, a client asks
 * others. Linux alone; no JavaScript.
 *
 * A token names shared memory and can be opened a fixed number of times. Whoever opens it gets a file descriptor of the memory, or the
 * driver's IPC handle and a lease: the memory stays until the connection ends, by close or because the importer died. */
#ifndef SB_CUDA_IPC_SERVER_H
#define SB_CUDA_IPC_SERVER_H

#include "cuda/share.h"

#define SB__IPC_NAME 64 /* bytes of a socket's name, with its 0 */

typedef struct sb__shared {
  char socket[SB__IPC_NAME]; /* "@" and its name in the abstract name space */
  uint8_t token[16];         /* nobody guesses it */
  uint64_t generation;       /* of this process' tokens */
  sb__vram vram;             /* where the first byte is */
} sb__shared;

/* A token of nbytes of a storage on a device. The storage is kept until all uses are taken and it is no longer lent, or until it
 * is taken back. The first call starts a thread that answers, which keeps nothing alive.
 *
 *   at    the first byte, from the storage's start
 *   uses  > 0, how often it can be opened
 *
 * Errors  SB_ERR_BOUNDS outside the storage · SB_ERR_UNSUPPORTED memory that cannot be shared, or no Linux · SB_ERR_MEMORY ·
 *         SB_ERR_IO no socket */
sb_status sb__ipc_share(sb_storage *storage, int64_t at, int64_t nbytes, int64_t uses,
                        bool read_only, sb__shared *out);

/* Takes back what was not opened; what was stays.
 *
 * Errors  SB_ERR_STALE used up, taken back, or no token of this process */
sb_status sb__ipc_unshare(const char *socket, const uint8_t token[16]);

/* Tokens that are not used up, and memory that importers have on loan; bytes of both. */
void sb__ipc_held(int64_t *count, int64_t *bytes);

/* A question to another process, which another thread may end early. {0} at first, but for what is asked. */
typedef struct sb__opening {
  char socket[SB__IPC_NAME];
  uint8_t token[16], uuid[16];
  uint64_t generation;
  uint64_t offset,
      nbytes; /* of the first byte in the allocation, and how many; what is told has to be the same */

  sb__lock lock;
  int connection; /* 0: none */
  bool is_stopped;

  sb_storage *storage; /* the result; the caller's one reference */
  bool read_only, is_lent;
} sb__opening;

/* Asks, and maps what is told; blocks, for seconds at worst.
 *
 * Errors  SB_ERR_STALE the token is used up or taken back, or is none · SB_ERR_NOT_FOUND whoever shared it has ended · SB_ERR_DEVICE its
 *         GPU is not seen here · SB_ERR_FORMAT what answers is no samebytes · SB_ERR_IO · SB_ERR_MEMORY · SB_ERR_UNSUPPORTED */
sb_status sb__ipc_open(sb__opening *o);

/* On any thread: it fails soon. */
void sb__ipc_stop(sb__opening *o);

#endif
