#include "check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/futex.h"
#include "ipc/ring.h"

/* Runs under ThreadSanitizer, too. */

enum { SLOTS = 4, WORDS = SBR_FIRST + SBR_SLOT * SLOTS, FRAMES = 20000, VALUES = 64 };

static sb_storage *words_of(int64_t count) {
  sb_storage *storage = NULL;
  EQ(sb_storage_new((size_t)count * 8, &storage), SB_OK);
  memset(sb_storage_data(storage), 0xee, (size_t)count * 8);
  return storage;
}

static uint64_t word(const sb__ring *ring, int64_t i) {
  const _Atomic uint64_t *words = sb_storage_data(ring->control);
  return atomic_load(&words[i]);
}

/* The words of a writer whose process has ended. */
static void leave_dead_writer(const sb__ring *ring) {
  sb_storage *role = NULL;
  uint64_t mine = 0, count = 0;
  const pid_t child = fork();
  if (!child) _exit(sb__ring_claim(ring, &role, &mine, &count) == SB_OK ? 0 : 1);
  int how = -1;
  waitpid(child, &how, 0);
  EQ(how, 0);
}

static void one_writer(void) {
  sb_storage *control = words_of(WORDS), *role = NULL, *other = NULL;
  uint64_t mine = 0;
  sb__ring ring = {control, SLOTS, 0};
  uint64_t count = 99, tag = 0;
  bool has = true;
  EQ(sb__ring_check(&ring, 16), SB_ERR_FORMAT);
  EQ(sb__ring_make(&ring, 16), SB_OK);
  EQ(sb__ring_check(&ring, 16), SB_OK);
  EQ(sb__ring_check(&ring, 17), SB_ERR_FORMAT);
  for (int i = '1'; i <= '2'; i++) { /* protocols of before */
    memcpy(sb_storage_data(control), (char[]){'s', 'b', '-', 'r', 'i', 'n', 'g', (char)i}, 8);
    EQ(sb__ring_check(&ring, 16), SB_ERR_FORMAT);
    CHECK(strstr(sb_error_message(), "another protocol"));
  }
  EQ(sb__ring_make(&ring, 16), SB_OK);
  EQ(sb__ring_claim(&ring, &role, &mine, &count), SB_OK);
  CHECK(role);
  EQ(count, 0);
  EQ(word(&ring, SBR_WRITER), mine);
  EQ(mine >> 32, getpid());
  EQ(word(&ring, SBR_NAMESPACE), sb__os_process().space);
  EQ(sb__ring_claim(&ring, &other, &mine, &count), SB_ERR_BUSY);
  CHECK(!other);
  EQ(sb__ring_begin(&ring, 0, 8), SB_ERR_BUSY);
  for (int64_t n = 0; n < 9; n++) {
    EQ(sb__ring_begin(&ring, n, mine), SB_OK);
    EQ(sb__ring_has(&ring, n, &has, NULL), SB_OK);
    CHECK(!has);
    EQ(sb__ring_commit(&ring, n, UINT64_MAX - (uint64_t)n), SB_OK);
    EQ(sb__ring_has(&ring, n, &has, &tag), SB_OK);
    CHECK(has);
    EQ(tag, UINT64_MAX - (uint64_t)n);
    if (n >= SLOTS) EQ(sb__ring_has(&ring, n - SLOTS, &has, NULL), SB_OK);
    if (n >= SLOTS) CHECK(!has);
  }
  EQ(word(&ring, SBR_COUNT), 9);
  EQ(sb__ring_begin(&ring, 9, mine), SB_OK); /* half-written */
  sb_storage_unref(&role);
  EQ(word(&ring, SBR_WRITER), 0);
  EQ(word(&ring, SBR_FIRST + SBR_SLOT * (9 % SLOTS)), 19);
  EQ(sb__ring_claim(&ring, &role, &mine, &count), SB_OK);
  EQ(count, 9);
  EQ(word(&ring, SBR_FIRST + SBR_SLOT * (9 % SLOTS)), 0);
  sb_storage_unref(&control); /* the role keeps the words */
  EQ(word(&ring, SBR_WRITER), mine);
  sb_storage_unref(&role);
}

/* What keeps the words in memory that a child shares. */
static sb_storage *shared_words(void) {
  void *data = mmap(NULL, WORDS * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  sb_storage *storage = NULL;
  CHECK(data != MAP_FAILED);
  EQ(sb_storage_wrap(data, WORDS * 8, NULL, NULL, &storage), SB_OK);
  return storage;
}

static void dead_writers(void) {
  sb_storage *control = shared_words(), *role = NULL;
  sb__ring ring = {control, SLOTS, 0};
  _Atomic uint64_t *words = sb_storage_data(control);
  uint64_t mine = 0, count = 0;
  EQ(sb__ring_make(&ring, 16), SB_OK);
  leave_dead_writer(&ring);
  const uint64_t dead = word(&ring, SBR_WRITER), space = word(&ring, SBR_NAMESPACE);
  CHECK(dead);
  atomic_store(&words[SBR_FIRST], 2);            /* whole, but not counted */
  atomic_store(&words[SBR_FIRST + SBR_SLOT], 3); /* half-written */
  EQ(sb__ring_recover(&ring), SB_OK);
  EQ(word(&ring, SBR_WRITER), 0);
  EQ(word(&ring, SBR_COUNT), 1);
  EQ(word(&ring, SBR_FIRST + SBR_SLOT), 0);
  const uint64_t unknown[][2] = {{dead, 0}, {dead, space + 1}, {dead >> 32 << 32, space}};
  const bool has_starts =
      sb__os_abilities().process_start_times; /* else its number says that it has ended */
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) { /* may be alive elsewhere */
    if (!has_starts && i != 1) continue;
    atomic_store(&words[SBR_WRITER], unknown[i][0]);
    atomic_store(&words[SBR_NAMESPACE], unknown[i][1]);
    EQ(sb__ring_recover(&ring), SB_OK);
    EQ(word(&ring, SBR_WRITER), unknown[i][0]);
    EQ(sb__ring_claim(&ring, &role, &mine, &count), SB_ERR_BUSY);
    CHECK(!role);
  }
  const sb__process self = sb__os_process(); /* the number was given away again */
  atomic_store(&words[SBR_WRITER], has_starts ? sbr_owner(self.id, self.start - 1) : dead);
  atomic_store(&words[SBR_NAMESPACE], space);
  EQ(sb__ring_claim(&ring, &role, &mine, &count), SB_OK);
  EQ(count, 1);
  const pid_t child = fork(); /* whose end gives up nothing of its parent's */
  if (!child) {
    sb_storage_unref(&role);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  EQ(word(&ring, SBR_WRITER), mine);
  sb_storage_unref(&role);
  EQ(word(&ring, SBR_WRITER), 0);
  munmap(sb_storage_data(control), WORDS * 8);
  sb_storage_unref(&control);
}

static void nonsense(void) {
  sb_storage *control = words_of(WORDS), *role = NULL;
  uint64_t mine = 0;
  sb_storage borrowed;
  bool has = false;
  uint64_t count = 0;
  sb__storage_borrow(sb_storage_data(control), WORDS * 8, &borrowed);
  sb__ring wrong[] = {{control, SLOTS + 1, 0}, {control, 0, 0},       {control, -1, 0},
                      {control, INT64_MAX, 0}, {&borrowed, SLOTS, 0}, {control, INT64_MIN, 0}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    EQ(sb__ring_make(&wrong[i], 1), SB_ERR_ARGUMENT);
    EQ(sb__ring_check(&wrong[i], 1), wrong[i].control == control ? SB_ERR_FORMAT : SB_ERR_ARGUMENT);
    EQ(sb__ring_word(&wrong[i], 0, &count), SB_ERR_ARGUMENT);
    EQ(sb__ring_claim(&wrong[i], &role, &mine, &count), SB_ERR_ARGUMENT);
    EQ(sb__ring_recover(&wrong[i]), SB_ERR_ARGUMENT);
    EQ(sb__ring_begin(&wrong[i], 0, 1), SB_ERR_ARGUMENT);
    EQ(sb__ring_commit(&wrong[i], 0, 0), SB_ERR_ARGUMENT);
    EQ(sb__ring_has(&wrong[i], 0, &has, NULL), SB_ERR_ARGUMENT);
  }
  sb__ring ring = {control, SLOTS, 0};
  EQ(sb__ring_make(&ring, 1), SB_OK);
  EQ(sb__ring_word(&ring, -1, &count), SB_ERR_BOUNDS);
  EQ(sb__ring_word(&ring, SBR_FIRST, &count), SB_ERR_BOUNDS);
  EQ(sb__ring_has(&ring, -1, &has, NULL), SB_ERR_ARGUMENT);
  EQ(sb__ring_has(&ring, INT64_C(1) << 53, &has, NULL), SB_ERR_ARGUMENT);
  _Atomic uint64_t *words = sb_storage_data(control);
  for (int i = 0; i < 4; i++) {
    atomic_store(&words[SBR_COUNT], (UINT64_C(1) << 53) + ((uint64_t)i << 61));
    EQ(sb__ring_claim(&ring, &role, &mine, &count), SB_ERR_FORMAT);
    CHECK(!role);
    EQ(word(&ring, SBR_WRITER), 0);
  }
  sb_storage_unref(&control);
}

static void without_memory(void) {
  sb_storage *control = words_of(WORDS), *role = NULL;
  sb__ring ring = {control, SLOTS, 0};
  uint64_t mine = 0, count = 0;
  EQ(sb__ring_make(&ring, 1), SB_OK);
  UNTIL_OK(2, sb__ring_claim(&ring, &role, &mine, &count), CHECK(!role));
  EQ(word(&ring, SBR_WRITER), mine);
  sb_storage_unref(&role);
  EQ(word(&ring, SBR_WRITER), 0);
  sb_storage_unref(&control);
}

/* ---- A writer and readers that sleep ---- */

static struct {
  sb__ring ring;
  _Atomic uint64_t frames[SLOTS][VALUES];
} shared;

static void *read_frames(void *argument) {
  int64_t *whole = argument, next = 0;
  int torn = 0;
  sb__event event = {0};
  while (next < FRAMES) {
    uint64_t count = 0;
    int error = 0;
    bool before = false, after = false;
    if (sb__ring_word(&shared.ring, SBR_COUNT, &count)) return "no count";
    if ((int64_t)count <= next) {
      void *at = NULL;
      if (sb__futex_at(shared.ring.control, 8 * SBR_COUNT, &at)) return "no word";
      if (sb__os_futex_wait(at, (uint32_t)count, &event, -1, &error) > SB__NOT_EQUAL)
        return "no wait";
      continue;
    }
    next = (int64_t)count;
    const int64_t n = next - 1;
    if (sb__ring_has(&shared.ring, n, &before, NULL)) return "no frame";
    const uint64_t first = atomic_load_explicit(&shared.frames[n % SLOTS][0], memory_order_relaxed);
    bool same = true;
    for (int i = 1; i < VALUES; i++)
      same &= atomic_load_explicit(&shared.frames[n % SLOTS][i], memory_order_relaxed) == first;
    uint64_t tag = 0;
    if (sb__ring_has(&shared.ring, n, &after, &tag)) return "no frame";
    if (before && after) {
      ++*whole;
      torn += !same || first != (uint64_t)n || tag != (uint64_t)n;
    }
  }
  return torn ? "torn frames" : NULL;
}

static void frames_in_order(void) {
  pthread_t readers[2];
  int64_t whole[2] = {0, 0};
  uint64_t mine = 0, count = 0;
  sb_storage *role = NULL;
  shared.ring = (sb__ring){words_of(WORDS), SLOTS, 0};
  EQ(sb__ring_make(&shared.ring, VALUES * 8), SB_OK);
  for (int i = 0; i < 2; i++) EQ(pthread_create(&readers[i], NULL, read_frames, &whole[i]), 0);
  EQ(sb__ring_claim(&shared.ring, &role, &mine, &count), SB_OK);
  for (int64_t n = 0; n < FRAMES; n++) {
    EQ(sb__ring_begin(&shared.ring, n, mine), SB_OK);
    for (int i = 0; i < VALUES; i++)
      atomic_store_explicit(&shared.frames[n % SLOTS][i], (uint64_t)n, memory_order_relaxed);
    EQ(sb__ring_commit(&shared.ring, n, (uint64_t)n), SB_OK);
  }
  for (int i = 0; i < 2; i++) {
    void *fault = NULL;
    pthread_join(readers[i], &fault);
    if (fault) printf("  %s\n", (const char *)fault);
    CHECK(!fault);
    CHECK(whole[i] > 0); /* the last frame at least */
  }
  sb_storage_unref(&role);
  sb_storage_unref(&shared.ring.control);
}

/* ---- Readers that are waited for ---- */

typedef struct freeing {
  sb__ring ring;
  atomic_bool is_over;
} freeing;

static void *free_places(void *argument) {
  freeing *f = argument;
  sb__ring_room room;
  while (!atomic_load(&f->is_over)) EQ(sb__ring_find_room(&f->ring, SLOTS, &room), SB_OK);
  return NULL;
}

static void takes_freed_places(void) {
  enum { PLACE = WORDS, ROUNDS = 500 };
  freeing f = {{words_of(PLACE + SBR_PLACE), SLOTS, 1}, false};
  sb__ring_seat seat = {0};
  pthread_t writer;
  EQ(sb__ring_make(&f.ring, 8), SB_OK);
  const sb__process self = sb__os_process(); /* of an earlier process with this number */
  const uint64_t dead = sb__os_abilities().process_start_times ? sbr_owner(self.id, self.start - 1)
                                                               : sbr_owner(INT32_MAX, 0);
  _Atomic uint64_t *words = sb_storage_data(f.ring.control);
  EQ(pthread_create(&writer, NULL, free_places, &f), 0);
  for (int i = 0; i < ROUNDS; i++) {
    atomic_store(&words[PLACE + 1], self.space);
    atomic_store(&words[PLACE + 2], 0);
    atomic_store(&words[PLACE], dead);
    EQ(sb__ring_join(&f.ring, 0, &seat), SB_OK);
    sb_storage_unref(&seat.seat);
  }
  atomic_store(&f.is_over, true);
  pthread_join(writer, NULL);
  sb_storage_unref(&f.ring.control);
}

/* ---- Waiting ---- */

typedef struct sleeper {
  sb__task task;
  const void *word;
  sb__event event;
  atomic_int how; /* -1: asleep, or about to be */
} sleeper;

static void sleep_for(sb__task *task) {
  sleeper *s = (sleeper *)(void *)task;
  int error = 0;
  atomic_store(&s->how, (int)sb__os_futex_wait(s->word, 5, &s->event, -1, &error));
}

static void waits(void) {
  enum { COUNT = 40 };
  static sleeper sleepers[COUNT];
  const int wakes = sb__os_abilities().futexes ? COUNT / 2 : 0;
  sb_storage *storage = words_of(1);
  _Atomic uint32_t *words = sb_storage_data(storage);
  void *at = NULL;
  int64_t woken = 0, all = 0;
  bool is_equal = false;
  atomic_store(&words[1], 5);
  EQ(sb__futex_at(storage, 4, &at), SB_OK);
  CHECK(at == (void *)&words[1]);
  EQ(sb__futex_at(storage, 5, &at), SB_ERR_BOUNDS);
  EQ(sb__futex_at(storage, 2, &at), SB_ERR_ALIGNMENT);
  EQ(sb__futex_at(storage, -4, &at), SB_ERR_BOUNDS);
  EQ(sb__futex_equals(&words[1], 5, &is_equal), SB_OK);
  CHECK(is_equal);
  EQ(sb__futex_equals(&words[1], 6, &is_equal), SB_OK);
  CHECK(!is_equal);
  EQ(sb__futex_wake(&words[1], 0, &woken), SB_OK);
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < COUNT; i++) {
      sleepers[i] = (sleeper){.task.run = sleep_for, .word = &words[1]};
      atomic_init(&sleepers[i].how, -1);
      CHECK(sb__os_spawn_detached(&sleepers[i].task));
    }
    for (all = 0; all < wakes; all += woken)
      EQ(sb__futex_wake(&words[1], wakes - all, &woken), SB_OK);
    EQ(all, wakes);
    for (int i = 0; i < COUNT; i++) sb__os_signal(&sleepers[i].event);
    for (int i = 0; i < COUNT; i++) {
      while (atomic_load(&sleepers[i].how) < 0) continue;
      all -= atomic_load(&sleepers[i].how) == SB__WOKEN;
    }
    EQ(all, 0);
  }
  sb_storage_unref(&storage);
}

int main(void) {
  test("a ring has one writer, whose end another one mends", one_writer);
  test("a writer whose process has certainly ended is replaced, and no other", dead_writers);
  test("words that make no sense are refused, and none outside is touched", nonsense);
  test("every allocation of a claim may fail, and nobody is the writer then", without_memory);
  test("what is in its slot before and after is whole: a writer and two readers that sleep",
       frames_in_order);
  test("a reader takes a dead one's place, also where the writer frees it meanwhile",
       takes_freed_places);
  test("sleepers are woken, counted, or rung, on threads that are used again", waits);
  return done();
}
