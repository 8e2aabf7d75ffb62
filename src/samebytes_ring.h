/* A SharedRing in one header, for C11 on 64-bit Linux: needs nothing of samebytes, neither a library nor another header. One process
 * writes frames, others read them; docs/ring-protocol.md specifies the words. The ring is made by others: SharedRing.create in Node,
 * SharedRing.create in Python, sb_ring_create in C. Functions give 0, or an error number of the system.
 *
 *   sbr_ring r;
 *   int64_t n = 0;
 *   int error = sbr_open(&r, "camera");
 *   if (!error) error = sbr_begin(&r, &n);                 // EBUSY: another process writes
 *   if (!error) memset(sbr_frame(&r, n), 128, r.frame_bytes);
 *   if (!error) sbr_commit(&r, 0);
 *
 * Of a ring with readers that the writer waits for sbr_begin is EAGAIN while one needs the slot, and sbr_room waits; a reader
 * joins first, and says sbr_advance(&r, n + 1) when it is done with frame n.
 *
 * A reader copies sbr_frame(&r, n) for n below sbr_count(&r), then asks sbr_has(&r, n): if so, the copy is whole. */
#ifndef SAMEBYTES_RING_H
#define SAMEBYTES_RING_H
#ifndef SBR_WORDS_ALONE /* samebytes itself needs no more than their meaning */
# ifdef __cplusplus
#  error samebytes_ring.h is C: compile it as C11, and call your functions from C++
# endif
# ifndef _GNU_SOURCE
#  define _GNU_SOURCE /* syscall; of use before the first header of the system alone */
# endif
#endif
#include <stdint.h>

/* ---- The words ---- */

#define SBR_MAGIC UINT64_C(0x33676e69722d6273) /* word 0: the text "sb-ring3" */

/* Indices of words. */
enum {
  SBR_SLOTS = 1,
  SBR_BYTES,     /* of a frame */
  SBR_WRITER,    /* its sbr_owner; 0: there is no writer */
  SBR_NAMESPACE, /* of the writer's process number; 0: not known, or there is none */
  SBR_READERS,   /* places for readers that the writer waits for */
  SBR_MOVES,     /* readers that moved or left so far; the writer sleeps on its lower half */
  SBR_SLEEPS,    /* not 0: the writer may sleep */
  SBR_COUNT,     /* committed frames; readers sleep on its lower half */
  SBR_FIRST = 16 /* of the first slot */
};

/* A slot has two words: its state, which is 2 n + 1 while frame n is written, 2 n + 2 when it is there, and 0 before; and the
 * frame's tag. A reader has four, after those of all slots: as SBR_WRITER, as SBR_NAMESPACE, the first frame that it still
 * needs, 0. */
enum { SBR_SLOT = 2, SBR_PLACE = 4, SBR_MOST_READERS = 1024 };

/* The number of words, also the index of a reader's first one. */
static inline int64_t sbr_words(int64_t slots, int64_t readers) {
  return SBR_FIRST + SBR_SLOT * slots + SBR_PLACE * readers;
}

/* A process: its number, and the lower 32 bits of the milliseconds from the system's start to its own; 0: not known. */
static inline uint64_t sbr_owner(int64_t process, uint32_t start) {
  return (uint64_t)process << 32 | start;
}

#ifndef SBR_WORDS_ALONE

/* ---- A ring ---- */

# include <errno.h>
# include <fcntl.h>
# include <signal.h>
# include <stdatomic.h>
# include <stdbool.h>
# include <stdio.h>
# include <stdlib.h>
# include <string.h>
# include <sys/mman.h>
# include <sys/stat.h>
# include <sys/syscall.h>
# include <time.h>
# include <unistd.h>
# ifndef O_CLOEXEC
#  error with -std=c11 samebytes_ring.h comes before the headers of the system, or -D_GNU_SOURCE is given
# endif

typedef struct sbr_ring {
  char *maps[2]; /* of the frames and of the words */
  size_t mapped[2];
  char *frames;
  _Atomic uint64_t *words;
  int64_t slots, frame_bytes, next; /* next: the writer's */
  int64_t readers;                  /* places for them; 0: the writer waits for none */
  _Atomic uint64_t *place;          /* of this reader; NULL: it has none */
  uint64_t reader;                  /* its word */
  uint64_t mine;                    /* 0: not the writer */
  bool is_begun;
} sbr_ring;

/* Maps a .npy file; the data begins after its header. */
static inline int sbr__map(const char *name, const char *more, char **map, size_t *nbytes,
                           char **data) {
  char path[300];
  uint8_t head[12];
  snprintf(path, sizeof path, "/dev/shm/%s%s", name, more);
  const int file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return errno;
  const off_t end = lseek(file, 0, SEEK_END);
  int error = pread(file, head, 12, 0) == 12 && !memcmp(head, "\x93NUMPY", 6) ? 0 : EINVAL;
  const size_t begin = error          ? 0
                       : head[6] == 1 ? 10u + head[8] + 256u * head[9]
                                      : 12u + head[8] + 256u * head[9] + 65536u * head[10] +
                                            ((size_t)head[11] << 24);
  if (!error && (end < 0 || (size_t)end < begin || begin % 8)) error = EINVAL;
  *map = error ? MAP_FAILED : mmap(NULL, (size_t)end, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (!error && *map == MAP_FAILED) error = errno;
  close(file);
  if (error) *map = NULL;
  *nbytes = error ? 0 : (size_t)end;
  *data = *map + begin;
  return error;
}

/* A reader has moved: the writer may sleep for it. */
static inline void sbr__moved(sbr_ring *r) {
  atomic_fetch_add(&r->words[SBR_MOVES], 1);
  if (r->words[SBR_SLEEPS]) syscall(SYS_futex, &r->words[SBR_MOVES], 1, INT32_MAX, NULL, NULL, 0);
}

/* A child that was forked has its parent's words, but neither its role nor its place. */
static inline void sbr__forget_parent(sbr_ring *r) {
  const uint64_t me = (uint64_t)getpid();
  if (r->place && r->reader >> 32 != me) r->place = NULL;
  if (r->mine >> 32 == me) return;
  r->mine = 0;
  r->is_begun = false;
}

/* Gives a reader's place up. */
static inline void sbr_leave(sbr_ring *r) {
  sbr__forget_parent(r);
  if (!r->place) return;
  if (r->place[0] == r->reader) {
    r->place[1] = 0;
    atomic_compare_exchange_strong(&r->place[0], &r->reader, 0);
    sbr__moved(r);
  }
  r->place = NULL;
}

/* Gives the role and the place up, and unmaps. A second close does nothing. */
static inline void sbr_close(sbr_ring *r) {
  sbr_leave(r);
  if (r->mine) atomic_compare_exchange_strong(&r->words[SBR_WRITER], &r->mine, 0);
  for (int i = 0; i < 2; i++)
    if (r->maps[i]) munmap(r->maps[i], r->mapped[i]);
  memset(r, 0, sizeof *r);
}

static inline int sbr__open(sbr_ring *r, const char *name) {
  char *words = NULL;
  memset(r, 0, sizeof *r);
  int error = sbr__map(name, "", &r->maps[0], &r->mapped[0], &r->frames);
  if (!error) error = sbr__map(name, ".control", &r->maps[1], &r->mapped[1], &words);
  if (!error) {
    const size_t count = (r->mapped[1] - (size_t)(words - r->maps[1])) / 8;
    const uint64_t room = r->mapped[0] - (size_t)(r->frames - r->maps[0]);
    r->words = (_Atomic uint64_t *)(void *)words;
    if (count <= SBR_FIRST || r->words[0] != SBR_MAGIC) error = EINVAL;
    const uint64_t slots = error ? 1 : r->words[SBR_SLOTS], bytes = error ? 0 : r->words[SBR_BYTES];
    const uint64_t readers = error ? 0 : r->words[SBR_READERS];
    if (!error &&
        (slots < 1 || slots >= count || bytes > room / slots || readers > SBR_MOST_READERS ||
         count != (uint64_t)sbr_words((int64_t)slots, (int64_t)readers)))
      error = EINVAL;
    r->readers = (int64_t)readers;
    r->slots = (int64_t)slots;
    r->frame_bytes = (int64_t)bytes;
  }
  if (error) sbr_close(r);
  return error;
}

static inline uint64_t sbr__inode(const char *name) {
  char path[300];
  struct stat status;
  snprintf(path, sizeof path, "/dev/shm/%s", name);
  return lstat(path, &status) ? 0 : (uint64_t)status.st_ino;
}

/* ENOENT: there is no such ring. EINVAL: this is none. ESTALE: other processes replace it all the time. Else what the system
 * says of the file, as ENAMETOOLONG or EACCES. */
static inline int sbr_open(sbr_ring *r, const char *name) {
  int error = ESTALE;
  for (int tries = 0; error == ESTALE && tries < 100; tries++) {
    const uint64_t before = sbr__inode(name);
    error = sbr__open(r, name);
    if (before == sbr__inode(name) && (before || (error && error != EINVAL))) continue;
    sbr_close(r); /* the words may be another ring's */
    error = ESTALE;
  }
  return error;
}

static inline int64_t sbr_count(const sbr_ring *r) {
  return (int64_t)(r->words[SBR_COUNT] & INT64_MAX);
}
static inline void *sbr_frame(const sbr_ring *r, int64_t n) {
  return r->frames + n % r->slots * r->frame_bytes;
}

static inline _Atomic uint64_t *sbr__slot(const sbr_ring *r, int64_t n) {
  return &r->words[SBR_FIRST + SBR_SLOT * (n % r->slots)];
}

/* Frame n's tag: ask sbr_has before and after, as of its bytes. */
static inline uint64_t sbr_tag(const sbr_ring *r, int64_t n) { return sbr__slot(r, n)[1]; }

/* Is frame n whole in its slot? Then all that was read of it before is of it. */
static inline bool sbr_has(const sbr_ring *r, int64_t n) {
  atomic_thread_fence(memory_order_seq_cst);
  return sbr__slot(r, n)[0] == 2 * (uint64_t)n + 2;
}

/* Sleeps while the count is `seen`, for at most so many nanoseconds; negative: without an end. Look again after it. */
static inline void sbr_wait(const sbr_ring *r, int64_t seen, int64_t timeout) {
  const struct timespec t = {timeout / 1000000000, timeout % 1000000000};
  syscall(SYS_futex, &r->words[SBR_COUNT], 0, (uint32_t)seen, timeout < 0 ? NULL : &t, NULL, 0);
}

static inline void sbr__count(sbr_ring *r, int64_t count) {
  r->words[SBR_COUNT] = (uint64_t)count;
  syscall(SYS_futex, &r->words[SBR_COUNT], 1, INT32_MAX, NULL, NULL, 0);
}

/* When a process started, 0: it is not visible; its state; the namespace of process numbers. */
static inline uint32_t sbr__start(const char *path, char *state) {
  char text[1024] = "";
  unsigned long long start = 0;
  FILE *file = fopen(path, "re");
  if (!file) return 0;
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  const char *rest = strrchr(text, ')');
  if (!rest ||
      sscanf(rest + 1,
             " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
             state, &start) < 2)
    return 0;
  return (uint32_t)(start * 1000 / (unsigned long)sysconf(_SC_CLK_TCK));
}

static inline uint64_t sbr__namespace(void) {
  char text[64] = "";
  return readlink("/proc/self/ns/pid", text, sizeof text - 1) < 0
             ? 0
             : strtoull(text + strcspn(text, "0123456789"), NULL, 10);
}

static inline bool sbr__has_ended(uint64_t writer, uint64_t space) {
  char path[40], state = 0;
  const uint32_t start = (uint32_t)writer;
  if (!writer) return true;
  if (!start || !space || space != sbr__namespace()) return false;
  snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)(writer >> 32));
  const uint32_t found = sbr__start(path, &state);
  return found ? found != start || state == 'Z' || state == 'X'
               : kill((pid_t)(writer >> 32), 0) && errno == ESRCH;
}

static inline int sbr__claim(sbr_ring *r) {
  char state = 0;
  const uint64_t mine = sbr_owner(getpid(), sbr__start("/proc/self/stat", &state));
  const uint64_t space = sbr__namespace(); /* before: who is killed without it counts as alive */
  uint64_t before = r->words[SBR_WRITER];
  do {
    if (!sbr__has_ended(before, r->words[SBR_NAMESPACE])) return EBUSY;
  } while (!atomic_compare_exchange_strong(&r->words[SBR_WRITER], &before, mine));
  const uint64_t count = r->words[SBR_COUNT];
  if (count >> 53) { /* no ring has so many frames: another process wrote nonsense */
    before = mine;
    atomic_compare_exchange_strong(&r->words[SBR_WRITER], &before, 0);
    return EINVAL;
  }
  r->words[SBR_NAMESPACE] = space;
  r->mine = mine;
  r->next = (int64_t)count;
  if (sbr_has(r, r->next)) sbr__count(r, ++r->next); /* it was whole, and not counted yet */
  for (int64_t i = 0; i < r->slots; i++)
    if (sbr__slot(r, i)[0] % 2) sbr__slot(r, i)[0] = 0; /* half-written */
  return 0;
}

/* Takes a reader's place, and gives the first frame that the writer keeps for it: the newest. EBUSY: there is none. */
static inline int sbr_join(sbr_ring *r, int64_t *next) {
  char state = 0;
  sbr__forget_parent(r);
  const uint64_t mine = sbr_owner(getpid(), sbr__start("/proc/self/stat", &state));
  const uint64_t space = sbr__namespace();
  for (int64_t i = 0; i < r->readers && !r->place; i++) {
    _Atomic uint64_t *at = &r->words[sbr_words(r->slots, i)];
    uint64_t before = at[0];
    bool is_free = sbr__has_ended(before, at[1]); /* again where the writer freed it meanwhile */
    while (is_free && !atomic_compare_exchange_strong(&at[0], &before, mine))
      is_free = sbr__has_ended(before, at[1]);
    if (!is_free) continue;
    at[1] = space;
    r->place = at;
    r->reader = mine;
  }
  if (!r->place) return EBUSY;
  for (int i = 0; i < 2; i++) { /* again: the writer may have looked before */
    *next = sbr_count(r) > 0 ? sbr_count(r) - 1 : 0;
    r->place[2] = (uint64_t)*next;
  }
  sbr__moved(r);
  return 0;
}

/* Done with all frames before next. ESTALE: the place is another one's. */
static inline int sbr_advance(sbr_ring *r, int64_t next) {
  sbr__forget_parent(r);
  if (!r->place || r->place[0] != r->reader) return ESTALE;
  atomic_thread_fence(memory_order_seq_cst); /* after the frame was read */
  r->place[2] = (uint64_t)next;
  sbr__moved(r);
  return 0;
}

/* Does no living reader need what is in frame n's slot? */
static inline bool sbr__is_free(sbr_ring *r, int64_t n) {
  for (int64_t i = 0; i < r->readers && n >= r->slots; i++) {
    _Atomic uint64_t *at = &r->words[sbr_words(r->slots, i)];
    uint64_t owner = at[0];
    if (!owner || at[2] > (uint64_t)(n - r->slots)) continue;
    if (!sbr__has_ended(owner, at[1]) || !atomic_compare_exchange_strong(&at[0], &owner, 0))
      return false;
  }
  return true;
}

/* Waits until the next frame may be begun: a tenth of a second at most, as nobody tells of readers that are killed.
 * EAGAIN: a reader still needs the slot. */
static inline int sbr_room(sbr_ring *r) {
  const struct timespec t = {0, 100000000};
  sbr__forget_parent(r);
  const int error = r->mine ? 0 : sbr__claim(r);
  if (error || r->is_begun || sbr__is_free(r, r->next)) return error;
  r->words[SBR_SLEEPS] = 1;
  const uint32_t moves = (uint32_t)r->words[SBR_MOVES];
  if (!sbr__is_free(r, r->next)) syscall(SYS_futex, &r->words[SBR_MOVES], 0, moves, &t, NULL, 0);
  const bool is_free = sbr__is_free(r, r->next);
  if (is_free) r->words[SBR_SLEEPS] = 0;
  return is_free ? 0 : EAGAIN;
}

/* Begins frame n, whose slot may then be written. EBUSY: another process, which has not ended, writes. EAGAIN: as sbr_room.
 * EINVAL: the ring's count is none. */
static inline int sbr_begin(sbr_ring *r, int64_t *n) {
  sbr__forget_parent(r);
  const int error = r->mine ? 0 : sbr__claim(r);
  if (error) return error;
  if (r->words[SBR_WRITER] != r->mine) return EBUSY;
  if (!r->is_begun && !sbr__is_free(r, r->next)) return EAGAIN;
  sbr__slot(r, r->next)[0] = 2 * (uint64_t)r->next + 1;
  atomic_thread_fence(memory_order_seq_cst); /* before the frame's first byte */
  r->is_begun = true;
  *n = r->next;
  return 0;
}

/* Publishes it, with a number of the caller's for its readers, such as a timestamp. EINVAL: none was begun. */
static inline int sbr_commit(sbr_ring *r, uint64_t tag) {
  sbr__forget_parent(r);
  if (!r->is_begun) return EINVAL;
  atomic_thread_fence(memory_order_seq_cst); /* after its last one */
  sbr__slot(r, r->next)[1] = tag;
  sbr__slot(r, r->next)[0] = 2 * (uint64_t)r->next + 2;
  r->is_begun = false;
  sbr__count(r, ++r->next);
  return 0;
}
#endif
#endif
