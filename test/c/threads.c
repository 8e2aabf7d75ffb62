#include "program.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ops/parallel.h"

/* Runs under ThreadSanitizer, too. Tests share out copies of a few KiB: SB_TEST makes parts small. */

static int tasks(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/task");
  if (!folder) return -1;
  for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

static void late(void) { /* has to run first */
  const int before = tasks();
  sb__threads_use(4);
  program(1); /* a copy of one or two elements */
  char small[64], other[64] = {1};
  sb_storage s, t;
  sb_tensor src, dst;
  sb__storage_borrow(other, sizeof other, &s);
  sb__storage_borrow(small, sizeof small, &t);
  EQ(sb_tensor_init(&s, SB_UINT8, DIMS(64), NULL, 0, &src), SB_OK);
  EQ(sb_tensor_init(&t, SB_UINT8, DIMS(64), NULL, 0, &dst), SB_OK);
  EQ(sb_copy(&dst, &src, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(tasks(), before);
  program(200);
  const int more = tasks() - before;
  CHECK(more == 3 || more == 4); /* ThreadSanitizer adds one of its own with the first */
  sb__threads_use(0);
}

static void counts(void) {
  static const int some[] = {2, 3, 8};
  sb__threads_use(1);
  const uint64_t sum = program(1500);
  for (int i = 0; i < 3; i++) {
    sb__threads_use(some[i]);
    EQ(program(1500), sum);
  }
  sb__threads_use(0);
}

/* Random fills, which threads share out, too. */
static void randoms(void) {
  enum { N = 100003 };
  static float one[N], two[N];
  sb_storage s, t;
  sb_tensor a, b;
  sb__storage_borrow(one, sizeof one, &s);
  sb__storage_borrow(two, sizeof two, &t);
  EQ(sb_tensor_init(&s, SB_FLOAT32, DIMS(N), NULL, 0, &a), SB_OK);
  EQ(sb_tensor_init(&t, SB_FLOAT32, DIMS(N), NULL, 0, &b), SB_OK);
  for (int i = 0; i < 8; i++) {
    sb_generator g = {.seed = 7}, h = g;
    sb__threads_use(1);
    EQ(i % 2 ? sb_normal(&a, 1, 2, &g) : sb_uniform(&a, -1, 3, &g), SB_OK);
    sb__threads_use(i < 7 ? 2 + i : 12);
    EQ(i % 2 ? sb_normal(&b, 1, 2, &h) : sb_uniform(&b, -1, 3, &h), SB_OK);
    EQ(g.offset, h.offset);
    CHECK(!memcmp(one, two, sizeof one));
  }
  CHECK(tasks() >= 12); /* they were at work */
  sb__threads_use(0);
}

static uint64_t expected;
static void *caller(void *failed) {
  if (program(300) != expected) *(bool *)failed = true;
  return NULL;
}

static void callers(void) {
  pthread_t threads[4];
  bool failed[4] = {false};
  sb__threads_use(3);
  expected = program(300);
  for (int i = 0; i < 4; i++) EQ(pthread_create(&threads[i], NULL, caller, &failed[i]), 0);
  for (int i = 0; i < 4; i++) {
    EQ(pthread_join(threads[i], NULL), 0);
    CHECK(!failed[i]);
  }
  sb__threads_use(0);
}

typedef struct copying {
  atomic_bool stop;
  atomic_int begun;
  bool finished;
} copying;

static void *copier(void *data) {
  enum { N = 1 << 20 };
  static char bytes[2][N];
  copying *c = data;
  sb_storage s, t;
  sb_tensor src, dst;
  sb__storage_borrow(bytes[0], N, &s);
  sb__storage_borrow(bytes[1], N, &t);
  EQ(sb_tensor_init(&s, SB_UINT8, DIMS(N), NULL, 0, &src), SB_OK);
  EQ(sb_tensor_init(&t, SB_UINT8, DIMS(N), NULL, 0, &dst), SB_OK);
  const sb__copy copy = {&dst, &src, NULL, NULL, 0, SB_CASTING_SAFE};
  do {
    c->finished = false;
    atomic_fetch_add(&c->begun, 1);
    EQ(sb__copy_in_pieces(&copy, 256, &c->stop, &c->finished), SB_OK);
  } while (c->finished);
  return NULL;
}

static void stopping(void) {
  copying c = {.finished = true};
  pthread_t thread;
  EQ(pthread_create(&thread, NULL, copier, &c), 0);
  while (!atomic_load(&c.begun)) usleep(100);
  atomic_store(&c.stop, true);
  EQ(pthread_join(thread, NULL), 0);
  CHECK(!c.finished);
}

#ifndef __SANITIZE_THREAD__
static char *deep_from;
static void *copy_deep(void *nothing) {
  char here = 0;
  (void)nothing;
  deep_from = &here;
  program(1500);
  return NULL;
}

/* musl gives a thread 128 KiB. */
static void depth(void) {
  enum { ROOM = 1 << 20, UNTOUCHED = 0x5a };
#ifdef __SANITIZE_ADDRESS__
  const int64_t most = 160 << 10; /* frames are larger */
#else
  const int64_t most = 96 << 10;
#endif
  static char stack[ROOM] __attribute__((aligned(4096)));
  pthread_attr_t attributes;
  pthread_t thread;
  const char *deepest = stack;
  sb__threads_use(1);
  memset(stack, UNTOUCHED, ROOM);
  EQ(pthread_attr_init(&attributes), 0);
  EQ(pthread_attr_setstack(&attributes, stack, ROOM), 0);
  EQ(pthread_create(&thread, &attributes, copy_deep, NULL), 0);
  EQ(pthread_join(thread, NULL), 0);
  pthread_attr_destroy(&attributes);
  while (*deepest == UNTOUCHED) deepest++;
  CHECK(deep_from - deepest > 1024 && deep_from - deepest < most);
  sb__threads_use(0);
}
#endif

/* A child copies alone, whether its parent's helpers were asleep or at work. */
static void children(void) {
  sb__threads_use(3);
  bool failed = false;
  expected = program(300);
  for (int round = 0; round < 5; round++) {
    pthread_t other;
    const bool busy = round % 2;
    if (busy) EQ(pthread_create(&other, NULL, caller, &failed), 0);
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(program(300) == expected ? 0 : 3);
    }
    int status = -1;
    EQ(waitpid(child, &status, 0), child);
    EQ(status, 0);
    if (busy) EQ(pthread_join(other, NULL), 0);
    CHECK(!failed);
  }
  sb__threads_use(0);
}

/* Bytes that the parts do not divide evenly: none may be left over. */
static void remainders(void) {
  enum { MOST = 20000 };
  static char from[MOST + 1], to[MOST + 1];
  sb_storage *storages[2] = {NULL, NULL};
  for (int i = 0; i < MOST; i++) from[i] = (char)(i % 127 + 1);
  EQ(sb_storage_wrap(to, MOST + 1, NULL, NULL, &storages[0]), SB_OK);
  EQ(sb_storage_wrap(from, MOST + 1, NULL, NULL, &storages[1]), SB_OK);
  for (int threads = 2; threads <= 4; threads++) {
    sb__threads_use(threads);
    for (int64_t n = 4096; n < MOST; n += n % 64 < 8 ? 1 : 56) {
      sb_tensor t[2];
      for (int i = 0; i < 2; i++)
        EQ(sb_tensor_init(storages[i], SB_UINT8, DIMS(n), NULL, 0, &t[i]), SB_OK);
      memset(to, 0, sizeof to);
      EQ(sb_copy(&t[0], &t[1], SB_CASTING_SAFE, NULL), SB_OK);
      CHECK(!memcmp(to, from, (size_t)n) && to[n] == 0);
    }
  }
  sb__threads_use(0);
  for (int i = 0; i < 2; i++) sb_storage_unref(&storages[i]);
}

static void choice(void) {
  static const struct {
    const char *text;
    int threads; /* 0: the processors */
  } rows[] = {{"1", 1}, {"7", 7}, {"0", 0}, {"-1", 0}, {"2x", 0}, {"", 0}, {"1000000", 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    setenv("SAMEBYTES_THREADS", rows[i].text, 1);
    sb__threads_use(0);
    EQ(sb__threads_now(), rows[i].threads ? rows[i].threads : sb__os_processors());
  }
  unsetenv("SAMEBYTES_THREADS");
  sb__threads_use(0);
  CHECK(sb__os_processors() >= 1);
}

int main(void) {
  test("no thread is started before the first large copy, and as many as asked for then", late);
  test("SAMEBYTES_THREADS sets the count; what is no count means the processors", choice);
  test("a long program has one checksum whatever the number of threads", counts);
  test("random fills have the same bits whatever the number of threads", randoms);
  test("four threads that copy at once get their own results", callers);
  test("a copy in pieces ends when another thread stops it", stopping);
#ifndef __SANITIZE_THREAD__ /* it takes no stack that a program gives a thread */
  test("copies, casts and fills take at most 96 KiB of a thread's stack", depth);
#endif
  test("bytes that threads share are all copied, whatever their number", remainders);
  test("a child of a process with threads copies to the end", children);
  return done();
}
