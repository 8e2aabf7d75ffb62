/* One thread answers for this process; it sleeps in poll, and it alone touches the connections. Tokens are under a lock. A use counts when
 * the importer confirms that it has mapped the memory; if its connection ends before that, the use is given back. */
#define _GNU_SOURCE 1 /* accept4, struct ucred */
#include "cuda/ipc_server.h"

#include <string.h>

#if defined(__linux__)

# include <errno.h>
# include <poll.h>
# include <stddef.h>
# include <sys/random.h>
# include <sys/socket.h>
# include <sys/time.h>
# include <sys/un.h>
# include <unistd.h>

enum {
  VERSION = 1,
  MOST_PEERS = 1024,
  PATIENCE = 30, /* seconds, for an answer */
  OPEN = 1,      /* operations */
  TAKEN,
  DONE = 0, /* statuses */
  STALE,
  FAILED,
  READ_ONLY = 1, /* flags */
};

/* What is sent: python/samebytes/cuda.py has the same. */
typedef struct request {
  char magic[4]; /* "SBVR" */
  uint32_t version, operation, zero;
  uint64_t generation;
  uint8_t token[16];
} request;

typedef struct answer {
  char magic[4]; /* "SBVA" */
  uint32_t version, status, kind, flags, zero;
  uint64_t generation, size, offset,
      nbytes; /* offset: of the first byte, in the allocation of size bytes */
  uint8_t uuid[16], handle[64];
  char message[128];
} answer;

_Static_assert(sizeof(request) == 40 && sizeof(answer) == 264, "both are packed");

/* ---- Tokens ---- */

typedef struct entry {
  struct entry *next;
  uint8_t token[16];
  uint64_t generation;
  sb_storage *storage; /* one reference */
  const void *data;
  sb__vram vram;
  uint64_t nbytes;
  int64_t uses;    /* left */
  int64_t pending; /* asked for, not confirmed */
  int64_t holders; /* the list, and connections */
  bool is_listed, read_only;
} entry;

static sb__lock lock;
static entry *entries;
static uint64_t made;
static int64_t held_count, held_bytes;
static int listening = -1;
static char name[SB__IPC_NAME];

/* Under the lock. The last one out gets the entry to free; NULL: somebody else is there. */
static entry *let_go(entry *x) {
  if (--x->holders > 0) return NULL;
  held_count--;
  held_bytes -= (int64_t)x->nbytes;
  return x;
}

static void free_entry(entry *x) {
  if (!x) return;
  sb_storage_unref(&x->storage);
  sb__free(x);
}

/* Under the lock. */
static entry *unlist(entry *x) {
  entry **at = &entries;
  if (!x->is_listed) return NULL;
  while (*at != x) at = &(*at)->next;
  *at = x->next;
  x->is_listed = false;
  return let_go(x);
}

static entry *find_entry(const uint8_t token[16]) {
  entry *x = entries;
  while (x && memcmp(x->token, token, sizeof x->token) != 0) x = x->next;
  return x;
}

void sb__ipc_held(int64_t *count, int64_t *bytes) {
  sb__lock_take(&lock);
  *count = held_count;
  *bytes = held_bytes;
  sb__lock_drop(&lock);
}

sb_status sb__ipc_unshare(const char *socket_name, const uint8_t token[16]) {
  entry *x = NULL, *last = NULL;
  sb__lock_take(&lock);
  if (name[0] && strcmp(name, socket_name) == 0) x = find_entry(token);
  if (x) last = unlist(x);
  sb__lock_drop(&lock);
  free_entry(last);
  if (x) return SB_OK;
  return sb__fail(SB_ERR_STALE,
                  "the descriptor was used up or taken back already, or is of another process");
}

/* ---- Answering ---- */

typedef struct peer {
  int socket;
  entry *entry; /* counted among its holders; NULL: it has asked for nothing */
  bool is_taken;
} peer;

static socklen_t address_of(const char *text, struct sockaddr_un *out) {
  const size_t length = strlen(text); /* with the "@" that stands for a 0 */
  memset(out, 0, sizeof *out);
  out->sun_family = AF_UNIX;
  memcpy(out->sun_path, text, length);
  out->sun_path[0] = 0;
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

/* Is the other end of this user? */
static bool is_ours(int connection, pid_t *pid) {
  struct ucred peer_is;
  socklen_t length = sizeof peer_is;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer_is, &length) != 0) return false;
  *pid = peer_is.pid;
  return peer_is.uid == geteuid();
}

/* The answer, with a file descriptor unless that is -1. */
static bool send_answer(int connection, const answer *a, int file) {
  struct iovec part = {(void *)(uintptr_t)a, sizeof *a};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } rights;
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (file >= 0) {
    memset(&rights, 0, sizeof rights);
    message.msg_control = rights.bytes;
    message.msg_controllen = sizeof rights.bytes;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  return sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof *a;
}

static void refuse(int connection, uint32_t status, const char *text) {
  answer a = {.magic = {'S', 'B', 'V', 'A'}, .version = VERSION, .status = status};
  strncpy(a.message, text, sizeof a.message - 1);
  send_answer(connection, &a, -1);
}

/* What is pending on the memory is done, so that the importer sees it. */
static sb_status settle(const entry *x) {
  if (x->vram.kind == SB__VRAM_FILE) return sb__cuda_wait_for(x->storage);
  return sb__cuda_synchronize(x->vram.device); /* whatever library gave the work */
}

/* Of p's entry. */
static bool answer_with(const peer *p) {
  const entry *x = p->entry;
  answer a = {.magic = {'S', 'B', 'V', 'A'},
              .version = VERSION,
              .status = DONE,
              .kind = (uint32_t)x->vram.kind,
              .flags = x->read_only ? READ_ONLY : 0,
              .generation = x->generation,
              .size = x->vram.size,
              .offset = x->vram.offset,
              .nbytes = x->nbytes};
  int file = -1;
  sb_status status = settle(x);
  if (!status && x->vram.kind == SB__VRAM_FILE) status = sb__vram_export(&x->vram, x->data, &file);
  if (status) {
    refuse(p->socket, FAILED, sb_error_message());
    return false;
  }
  memcpy(a.uuid, x->vram.uuid, sizeof a.uuid);
  memcpy(a.handle, x->vram.handle, sizeof a.handle);
  const bool sent = send_answer(p->socket, &a, file);
  if (file >= 0) close(file);
  return sent;
}

/* One use of a token, for now; NULL: there is none. */
static entry *borrow(const request *r) {
  sb__lock_take(&lock);
  entry *x = find_entry(r->token);
  if (x && (x->generation != r->generation || x->uses == 0)) x = NULL;
  if (x) {
    x->uses--;
    x->pending++;
    x->holders++;
  }
  sb__lock_drop(&lock);
  return x;
}

/* The connection is over, or will be: what it held. */
static void part_from(peer *p) {
  entry *x = p->entry, *last = NULL;
  if (!x) return;
  p->entry = NULL;
  sb__lock_take(&lock);
  if (!p->is_taken) {
    x->pending--;
    x->uses++;
  }
  last = let_go(x); /* not the last one while it is listed */
  sb__lock_drop(&lock);
  free_entry(last);
}

/* The importer has the memory. */
static void confirm(peer *p) {
  entry *x = p->entry;
  p->is_taken = true;
  sb__lock_take(&lock);
  x->pending--;
  if (x->uses == 0 && x->pending == 0) unlist(x); /* p holds it: not the last */
  sb__lock_drop(&lock);
}

/* What came over a connection; false: it is over. */
static bool hear(peer *p) {
  request r;
  const ssize_t length = recv(p->socket, &r, sizeof r, MSG_DONTWAIT | MSG_TRUNC);
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (length != (ssize_t)sizeof r || memcmp(r.magic, "SBVR", 4) != 0) return false;
  if (r.operation == TAKEN && p->entry && !p->is_taken) {
    confirm(p);
    return p->entry->vram.kind == SB__VRAM_HANDLE; /* the connection is the lease */
  }
  if (r.operation != OPEN || p->entry) return false;
  if (r.version != VERSION) {
    refuse(p->socket, FAILED,
           "the process that shared the memory has another version of samebytes");
    return false;
  }
  p->entry = borrow(&r);
  if (p->entry) return answer_with(p);
  refuse(p->socket, STALE, "the descriptor was used up or taken back, or is none");
  return false;
}

typedef struct server {
  sb__task task; /* first */
  peer peers[MOST_PEERS];
  struct pollfd polled[MOST_PEERS + 1];
  int count; /* of peers */
} server;

/* False: there is no file descriptor for another one, for now. */
static bool welcome(server *s) {
  const int connection = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  pid_t pid = 0;
  if (connection < 0) return errno != EMFILE && errno != ENFILE && errno != ENOMEM;
  if (s->count == MOST_PEERS || !is_ours(connection, &pid)) {
    close(connection);
    return true;
  }
  s->peers[s->count++] = (peer){.socket = connection};
  return true;
}

static void serve(sb__task *task) {
  server *s = (server *)(void *)task;
  bool may_accept = true;
  for (;;) {
    s->polled[0] = (struct pollfd){.fd = may_accept ? listening : -1, .events = POLLIN};
    for (int i = 0; i < s->count; i++) {
      s->polled[i + 1] = (struct pollfd){.fd = s->peers[i].socket, .events = POLLIN};
    }
    const int ready = poll(s->polled, (nfds_t)s->count + 1, may_accept ? -1 : 100);
    may_accept = true;
    if (ready <= 0) continue;
    for (int i = s->count - 1; i >= 0;
         i--) { /* from the end: the last one takes a gone one's place */
      peer *p = &s->peers[i];
      if (!s->polled[i + 1].revents || hear(p)) continue;
      part_from(p);
      close(p->socket);
      *p = s->peers[--s->count];
    }
    if (s->polled[0].revents) may_accept = welcome(s);
  }
}

static int new_socket(int kind) { return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | kind, 0); }

/* Once in a process; a failure may be tried again. */
static sb_status listen_once(void) {
  static server *the_server; /* for ever */
  static sb__lock starting;
  struct sockaddr_un address;
  uint64_t random = 0;
  char chosen[SB__IPC_NAME];
  sb_status status = SB_OK;
  sb__lock_take(&starting);
  if (the_server) goto done;
  server *s = sb__alloc(sizeof *s);
  const int made_socket = new_socket(SOCK_NONBLOCK);
  if (!s || made_socket < 0 || getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random) {
    status = s ? sb__fail(SB_ERR_IO, "no socket to share memory by: %s", strerror(errno))
               : sb__fail(SB_ERR_MEMORY, "no memory to share memory by");
    goto failed;
  }
  sb__print(chosen, sizeof chosen, "@samebytes-vram-%lld-%016llx", (long long)getpid(),
            (unsigned long long)random);
  const socklen_t length = address_of(chosen, &address);
  if (bind(made_socket, (struct sockaddr *)&address, length) != 0 || listen(made_socket, 64) != 0) {
    status = sb__fail(SB_ERR_IO, "no socket to share memory by: %s", strerror(errno));
    goto failed;
  }
  memset(s, 0, sizeof *s);
  s->task.run = serve;
  listening = made_socket;
  if (!sb__os_spawn_detached(&s->task)) {
    listening = -1;
    status = sb__fail(SB_ERR_MEMORY, "there is no thread to share memory by");
    goto failed;
  }
  the_server = s;
  sb__lock_take(&lock);
  memcpy(name, chosen, sizeof name);
  sb__lock_drop(&lock);
  goto done;

failed:
  if (made_socket >= 0) close(made_socket);
  sb__free(s);
done:
  sb__lock_drop(&starting);
  return status;
}

sb_status sb__ipc_share(sb_storage *storage, int64_t at, int64_t nbytes, int64_t uses,
                        bool read_only, sb__shared *out) {
  if (!SB__ON_DEVICE(storage)) {
    return sb__fail(SB_ERR_UNSUPPORTED, "the memory is on no device");
  }
  if (at < 0 || nbytes < 0 || (uint64_t)at > storage->nbytes ||
      (uint64_t)nbytes > storage->nbytes - (uint64_t)at) {
    return sb__fail(SB_ERR_BOUNDS, "%lld bytes from byte %lld on are outside the storage",
                    (long long)nbytes, (long long)at);
  }
  const void *data = (const char *)storage->data + (nbytes ? at : 0);
  sb__vram vram;
  sb_status status = sb__vram_describe(storage->device, data, (size_t)nbytes, &vram);
  if (!status) status = listen_once();
  if (status) return status;
  entry *x = sb__alloc(sizeof *x);
  if (!x) return sb__fail(SB_ERR_MEMORY, "no memory for a descriptor");
  *x = (entry){.data = data,
               .vram = vram,
               .nbytes = (uint64_t)nbytes,
               .uses = uses,
               .holders = 1,
               .is_listed = true,
               .read_only = read_only};
  if (getrandom(x->token, sizeof x->token, 0) != (ssize_t)sizeof x->token) {
    sb__free(x);
    return sb__fail(SB_ERR_IO, "the system has no random numbers");
  }
  x->storage = sb_storage_ref(storage);
  memcpy(out->token, x->token, sizeof out->token);
  out->vram = vram;
  sb__lock_take(&lock);
  out->generation = x->generation = ++made;
  memcpy(out->socket, name, sizeof name);
  x->next = entries;
  entries = x;
  held_count++;
  held_bytes += nbytes;
  sb__lock_drop(&lock);
  return SB_OK;
}

/* ---- Asking ---- */

static sb_status connect_to(sb__opening *o, pid_t *pid) {
  struct sockaddr_un address;
  const struct timeval patience = {.tv_sec = PATIENCE};
  const socklen_t length = address_of(o->socket, &address);
  const int connection = new_socket(0);
  if (connection < 0) return sb__fail(SB_ERR_IO, "no socket: %s", strerror(errno));
  sb__lock_take(&o->lock);
  const bool is_stopped = o->is_stopped;
  if (!is_stopped) o->connection = connection;
  sb__lock_drop(&o->lock);
  if (is_stopped) {
    close(connection);
    return sb__fail(SB_ERR_IO, "this thread ends");
  }
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (connect(connection, (struct sockaddr *)&address, length) != 0) {
    if (errno == ECONNREFUSED || errno == ENOENT) {
      return sb__fail(SB_ERR_NOT_FOUND, "the process that shared the memory has ended, or cannot "
                                        "be reached from here");
    }
    return sb__fail(SB_ERR_IO, "the process that shared the memory cannot be reached: %s",
                    strerror(errno));
  }
  if (!is_ours(connection, pid)) {
    return sb__fail(SB_ERR_STALE, "the process at %s belongs to another user", o->socket);
  }
  return SB_OK;
}

/* The connection, which is the caller's from now on; it ends no more by sb__ipc_stop. */
static int take_connection(sb__opening *o) {
  sb__lock_take(&o->lock);
  const int connection = o->connection;
  o->connection = 0;
  sb__lock_drop(&o->lock);
  return connection;
}

void sb__ipc_stop(sb__opening *o) {
  sb__lock_take(&o->lock);
  o->is_stopped = true;
  if (o->connection > 0) shutdown(o->connection, SHUT_RDWR);
  sb__lock_drop(&o->lock);
}

static bool send_request(const sb__opening *o, int connection, uint32_t operation) {
  request r = {.magic = {'S', 'B', 'V', 'R'},
               .version = VERSION,
               .operation = operation,
               .generation = o->generation};
  memcpy(r.token, o->token, sizeof r.token);
  return send(connection, &r, sizeof r, MSG_NOSIGNAL) == (ssize_t)sizeof r;
}

/* An answer's length, as recv gives it, and a file descriptor that is the caller's, or -1. */
static ssize_t receive_answer(int connection, answer *a, int *file) {
  struct iovec part = {a, sizeof *a};
  union {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
  } rights;
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = rights.bytes,
                           .msg_controllen = sizeof rights.bytes};
  ssize_t length = 0;
  *file = -1;
  do {
    length = recvmsg(connection, &message, MSG_CMSG_CLOEXEC | MSG_TRUNC);
  } while (length < 0 && errno == EINTR);
  if (length < 0) return length;
  const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
  if (header && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len == CMSG_LEN(sizeof *file)) {
    memcpy(file, CMSG_DATA(header), sizeof *file);
  }
  return length;
}

/* Is it an answer to what was asked? */
static sb_status check_answer(const sb__opening *o, ssize_t length, int why, const answer *a,
                              int file) {
  if (length < 0 && (why == EAGAIN || why == EWOULDBLOCK)) {
    return sb__fail(SB_ERR_IO, "the process that shared the memory has not answered for %d s",
                    PATIENCE);
  }
  if (length <= 0) {
    return sb__fail(SB_ERR_NOT_FOUND, "the process that shared the memory ended meanwhile");
  }
  if (length != (ssize_t)sizeof *a || memcmp(a->magic, "SBVA", 4) != 0) {
    return sb__fail(SB_ERR_FORMAT, "what answered is not samebytes");
  }
  if (a->status != DONE) {
    return sb__fail(a->status == STALE ? SB_ERR_STALE : SB_ERR_DEVICE, "%.127s", a->message);
  }
  if (a->version != VERSION) {
    return sb__fail(SB_ERR_UNSUPPORTED, "the process that shared the memory has another version "
                                        "of samebytes");
  }
  if (a->kind > SB__VRAM_HANDLE || (a->kind == SB__VRAM_FILE) != (file >= 0)) {
    return sb__fail(SB_ERR_FORMAT, "the answer of the process that shared the memory makes no "
                                   "sense");
  }
  if (a->generation != o->generation || memcmp(a->uuid, o->uuid, sizeof a->uuid) != 0 ||
      a->offset != o->offset || a->nbytes != o->nbytes) {
    return sb__fail(SB_ERR_STALE, "the descriptor was changed: it is not of this memory");
  }
  return SB_OK;
}

static void close_connection(void *context) { close((int)(intptr_t)context); }

/* Maps what the answer says and confirms it. The connection is this function's. */
static sb_status map_answer(sb__opening *o, int connection, pid_t pid, const answer *a, int file,
                            int device) {
  sb__vram vram = {
      .kind = (sb__vram_kind)a->kind, .device = device, .size = a->size, .offset = a->offset};
  void *context = (void *)(intptr_t)connection;
  const bool is_lent = vram.kind == SB__VRAM_HANDLE;
  if (is_lent && pid == getpid()) {
    close(connection);
    return sb__fail(SB_ERR_UNSUPPORTED, "this process shared the memory itself, and the driver "
                                        "opens such memory only in others");
  }
  memcpy(vram.handle, a->handle, sizeof vram.handle);
  const sb_status status =
      sb__vram_import(&vram, file, a->nbytes, a->flags & READ_ONLY,
                      is_lent ? close_connection : NULL, is_lent ? context : NULL, &o->storage);
  if (status) {
    if (!is_lent) close(connection);
    return status;
  }
  const bool confirmed = send_request(o, connection, TAKEN);
  if (!is_lent) close(connection);
  if (!confirmed && is_lent) {
    sb_storage_unref(&o->storage);
    return sb__fail(SB_ERR_NOT_FOUND, "the process that shared the memory ended meanwhile");
  }
  o->read_only = a->flags & READ_ONLY;
  o->is_lent = is_lent;
  return SB_OK;
}

sb_status sb__ipc_open(sb__opening *o) {
  answer a;
  int file = -1, device = 0, why = 0;
  ssize_t length = -1;
  pid_t pid = 0;
  sb_status status = sb__vram_device(o->uuid, &device);
  if (status) return status;
  status = connect_to(o, &pid);
  if (!status) {
    if (send_request(o, o->connection, OPEN)) length = receive_answer(o->connection, &a, &file);
    why = errno;
    status = check_answer(o, length, why, &a, file);
  }
  const int connection = take_connection(o);
  if (!status) {
    status = map_answer(o, connection, pid, &a, file, device);
  } else if (connection > 0) {
    close(connection);
  }
  if (file >= 0) close(file);
  return status;
}

#else

sb_status sb__ipc_share(sb_storage *storage, int64_t at, int64_t nbytes, int64_t uses,
                        bool read_only, sb__shared *out) {
  (void)storage, (void)at, (void)nbytes, (void)uses, (void)read_only, (void)out;
  return sb__fail(SB_ERR_UNSUPPORTED, "device memory is shared on Linux only");
}

sb_status sb__ipc_unshare(const char *socket, const uint8_t token[16]) {
  (void)socket, (void)token;
  return sb__fail(SB_ERR_STALE, "device memory is shared on Linux only");
}

void sb__ipc_held(int64_t *count, int64_t *bytes) { *count = *bytes = 0; }

sb_status sb__ipc_open(sb__opening *o) {
  (void)o;
  return sb__fail(SB_ERR_UNSUPPORTED, "device memory is shared on Linux only");
}

void sb__ipc_stop(sb__opening *o) { (void)o; }

#endif
