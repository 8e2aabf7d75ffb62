/* ring-peer.c's commands write, hang and read, by samebytes_ring.h alone. */
#include <samebytes_ring.h>

#include <stdlib.h>
#include <sys/wait.h>

static void check(int error, const char *what) {
  if (!error) return;
  if (error == EBUSY) fprintf(stderr, "ERR_BUSY: process 0 writes the ring");
  fprintf(stderr, "%s: %s\n", what, strerror(error));
  exit(1);
}

/* The linker gives the header this one: killed here a process has neither a place nor the role. */
static bool is_to_die;
ssize_t __real_readlink(const char *path, char *out, size_t room);
ssize_t __wrap_readlink(const char *path, char *out, size_t room);
ssize_t __wrap_readlink(const char *path, char *out, size_t room) {
  if (is_to_die) raise(SIGKILL);
  return __real_readlink(path, out, room);
}

/* And this one, which pauses before it opens a segment while a ring is opened often, so that the other process gets between all of them. */
static bool is_to_pause;
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  if (is_to_pause) usleep((useconds_t)(rand() % 1000));
  return __real_open(path, flags);
}

static void fill(sbr_ring *r, int64_t n, int32_t value) {
  volatile int32_t *values = sbr_frame(r, n);
  for (int64_t i = 0; i < r->frame_bytes / 4; i++) values[i] = value;
}

static void read_frames(sbr_ring *r, int64_t last) {
  int64_t next = 0, whole = 0, torn = 0, overwritten = 0, lost = 0;
  while (next <= last) {
    const int64_t count = sbr_count(r);
    if (next >= count) {
      sbr_wait(r, count, -1);
      continue;
    }
    if (next < count - r->slots) {
      lost += count - r->slots - next;
      next = count - r->slots;
    }
    const volatile int32_t *values = sbr_frame(r, next);
    bool before = sbr_has(r, next), same = sbr_tag(r, next) == (uint64_t)next;
    for (int64_t i = 0; i < r->frame_bytes / 4; i++) same &= values[i] == (int32_t)next;
    const bool has = before && sbr_has(r, next);
    whole += has;
    overwritten += !has;
    torn += has && !same;
    next++;
  }
  printf("{\"whole\":%lld,\"torn\":%lld,\"overwritten\":%lld,\"lost\":%lld}\n", (long long)whole,
         (long long)torn, (long long)overwritten, (long long)lost);
}

/* As a reader that the writer waits for: every frame is whole, and none is missing. */
static void hold_frames(sbr_ring *r, int64_t count) {
  int64_t next = 0;
  check(sbr_join(r, &next), "join");
  printf("ready\n");
  fflush(stdout);
  while (next < count) {
    if (sbr_count(r) <= next) {
      sbr_wait(r, next, -1);
      continue;
    }
    const volatile int32_t *values = sbr_frame(r, next);
    bool same = sbr_has(r, next) && sbr_tag(r, next) == (uint64_t)next;
    for (int64_t i = 0; i < r->frame_bytes / 4; i++) same &= values[i] == (int32_t)next;
    if (!same) check(EIO, "frame");
    check(sbr_advance(r, ++next), "advance");
  }
  printf("%lld\n", (long long)next);
}

/* A child has neither the role nor the place, and takes neither from its parent. */
static void fork_after(sbr_ring *r) {
  int64_t n = 0;
  int status = 0;
  check(sbr_join(r, &n), "join");
  check(sbr_begin(r, &n), "begin");
  const pid_t child = fork();
  if (child == 0) {
    const bool refused =
        sbr_commit(r, 0) == EINVAL && sbr_begin(r, &n) == EBUSY && sbr_advance(r, 5) == ESTALE;
    sbr_close(r);
    _exit(refused ? 0 : 1);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status) check(ECHILD, "child");
  check(sbr_commit(r, 7), "commit");
  check(sbr_advance(r, n + 1), "advance");
  check(sbr_begin(r, &n), "begin again");
}

/* Opens a ring that is replaced meanwhile, until its mark is negative: the mark in word 9 is that of the first frame. */
static void open_often(const char *name) {
  int64_t mixed = 0, mark = 0;
  is_to_pause = true;
  while (mark >= 0) {
    sbr_ring r;
    const int error = sbr_open(&r, name);
    if (error && error != ENOENT && error != ESTALE) check(error, "open");
    if (error) continue;
    const uint64_t word = r.words[9];
    if (word) {
      mark = *(const volatile int32_t *)sbr_frame(&r, 0);
      mixed += (uint64_t)mark != word;
    }
    sbr_close(&r);
  }
  printf("%lld\n", (long long)mixed);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  const int64_t count = argc > 3 ? atoll(argv[3]) : 1;
  int64_t n = 0;
  sbr_ring r;
  is_to_die = argc > 4;
  if (!strcmp(what, "open")) {
    open_often(argv[2]);
    return 0;
  }
  check(sbr_open(&r, argc > 2 ? argv[2] : ""), "open");
  if (!strcmp(what, "read")) {
    printf("ready\n");
    fflush(stdout);
    read_frames(&r, count - 1);
  } else if (!strcmp(what, "hold")) {
    hold_frames(&r, count);
  } else if (!strcmp(what, "fork")) {
    fork_after(&r);
  } else {
    for (int64_t i = 0; i < count; i++) {
      while (r.readers) {
        const int error = sbr_room(&r);
        if (!error) break;
        if (error != EAGAIN) check(error, "room");
      }
      check(sbr_begin(&r, &n), "begin");
      fill(&r, n, (int32_t)n);
      check(sbr_commit(&r, (uint64_t)n), "commit");
    }
  }
  if (!strcmp(what, "hang")) {
    check(sbr_begin(&r, &n), "begin");
    fill(&r, n, -1);
    printf("inside\n");
    fflush(stdout);
    for (;;) pause();
  }
  sbr_close(&r);
  return 0;
}
