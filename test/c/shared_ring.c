#include "check.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ipc/owners.h"
#include "platform/platform.h"

/* The public functions on segments and rings, with a process that is killed. Node is the other side in
 * test/native/ring-c.test.js. */

static char name[64], control[80];

/* Both names are gone whatever a test did. */
static void clean(void) {
  if (sb_ring_unlink(name) != SB_OK) return;
}

static void segments(void) {
  const int64_t shape[] = {3, 5};
  sb_tensor made, seen, again;
  const sb_dtype bf16 = SB_BFLOAT16, f32 = SB_FLOAT32;
  EQ(sb_segment_create(name, SB_INT32, 2, shape, 0600, 0, &made), SB_OK);
  FAILS(SB_ERR_EXISTS, sb_segment_create(name, SB_INT32, 2, shape, 0600, 0, &out));
  EQ(sb_segment_open(name, NULL, &seen), SB_OK);
  EQ(seen.dtype, SB_INT32);
  EQ(seen.ndim, 2);
  EQ(seen.shape[1], 5);
  EQ((uintptr_t)sb_tensor_data(&seen) % SB_ALIGNMENT, 0);
  ((int32_t *)sb_tensor_data(&made))[14] = 77;
  EQ(((int32_t *)sb_tensor_data(&seen))[14], 77);
  FAILS(SB_ERR_DTYPE, sb_segment_open(name, &f32, &out));
  EQ(sb_segment_create(name, SB_BFLOAT16, 1, shape, 0600, SB_SEGMENT_REPLACE, &again), SB_OK);
  FAILS(SB_ERR_DTYPE, sb_segment_open(name, NULL, &out));
  sb_tensor_release(&seen);
  EQ(sb_segment_open(name, &bf16, &seen), SB_OK);
  EQ(sb_tensor_nbytes(&seen), 6);
  for (sb_dtype dtype = 0; dtype < SB_DTYPE_COUNT; dtype++) {
    sb_tensor_release(&seen);
    sb_tensor_release(&again);
    EQ(sb_segment_create(name, dtype, 1, shape, 0600, SB_SEGMENT_REPLACE, &again), SB_OK);
    EQ(sb_segment_open(name, &dtype, &seen), SB_OK);
    EQ(seen.dtype, dtype);
  }
  sb_tensor_release(&seen);
  sb_tensor_release(&again);
  sb_tensor_release(&made);
  const int64_t none[] = {0, 4};
  EQ(sb_segment_create(name, SB_UINT8, 2, none, 0600, SB_SEGMENT_REPLACE, &made), SB_OK);
  EQ(sb_segment_open(name, NULL, &seen), SB_OK);
  EQ(sb_tensor_numel(&seen), 0);
  sb_tensor_release(&seen);
  sb_tensor_release(&made);
  EQ(sb_segment_unlink(name), SB_OK);
  EQ(sb_segment_unlink(name), SB_ERR_NOT_FOUND);
  FAILS(SB_ERR_NOT_FOUND, sb_segment_open(name, NULL, &out));
  const char *wrong[] = {"", "/", "a/b", ".", "..", ".samebytes-1", NULL};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    FAILS(SB_ERR_ARGUMENT, sb_segment_open(wrong[i], NULL, &out));
    FAILS(SB_ERR_ARGUMENT, sb_segment_create(wrong[i], SB_UINT8, 1, shape, 0600, 0, &out));
    EQ(sb_segment_unlink(wrong[i]), SB_ERR_ARGUMENT);
  }
  FAILS(SB_ERR_ARGUMENT, sb_segment_create(name, SB_UINT8, 1, shape, 01000, 0, &out));
  FAILS(SB_ERR_ARGUMENT, sb_segment_create(name, SB_UINT8, 1, shape, 0600, 8, &out));
  FAILS(SB_ERR_ARGUMENT, sb_segment_create(name, SB_UINT8, 1, shape, 0600,
                                           SB_SEGMENT_OPEN | SB_SEGMENT_REPLACE, &out));
  FAILS(SB_ERR_DTYPE, sb_segment_create(name, (sb_dtype)99, 1, shape, 0600, 0, &out));
  UNTIL_OK(1, sb_segment_create(name, SB_UINT8, 1, shape, 0600, 0, &made), (void)0);
  UNTIL_OK(2, sb_segment_open(name, NULL, &seen), (void)0);
  sb_tensor_release(&seen);
  sb_tensor_release(&made);
  EQ(sb_segment_unlink(name), SB_OK);
}

/* How many records have the test's name: ones for the living, hundreds for the dead. */
static void count_ours(void *context, const sb__segment_record *record, bool is_alive) {
  if (!strcmp(record->name, name)) *(int *)context += is_alive ? 1 : 100;
}

static int listed(void) {
  int count = 0;
  EQ(sb__segment_list(count_ours, &count), 0);
  return count;
}

static int swept(const char *only) {
  int count = 0;
  EQ(sb__segment_sweep(only, count_ours, &count), 0);
  return count;
}

/* What a process leaves that has ended is listed as such, and swept unless somebody has it. */
static void swept_up(void) {
  const int64_t shape[] = {4};
  sb_tensor made;
  int file = -1, status = 0;
  CHECK(sb_segment_folder() != NULL);
  for (int persists = 0; persists < 2; persists++) {
    const pid_t child = fork();
    if (!child)
      _exit(sb_segment_create(name, SB_INT32, 1, shape, 0600, persists ? SB_SEGMENT_PERSIST : 0,
                              &made));
    EQ(waitpid(child, &status, 0), child);
    EQ(status, 0);
    EQ(listed(), 100);
    EQ(swept("sb-another-name"), 0);
    EQ(sb__os_segment_open(name, true, &file), 0);
    if (persists) {
      EQ(swept(name), 0);
      EQ(sb_segment_own(file, name), SB_OK);
      EQ(listed(), 1);
      EQ(sb_segment_unlink(name), SB_OK);
      EQ(sb_segment_own(file, name), SB_ERR_NOT_FOUND);
    } else {
      EQ(sb_segment_own(file, ""), SB_ERR_ARGUMENT);
      EQ(sb__os_lock_file(file, SB__LOCKED_SHARED), 0);
      EQ(swept(name), 0);
      sb__os_close(file);
      EQ(swept(name), 100);
      EQ(sb__os_segment_open(name, true, &file), ENOENT);
    }
    if (file >= 0) sb__os_close(file);
    EQ(listed(), 0);
  }
}

/* A segment that gets no name leaves nothing: it never had one, or its draft is swept, or given up. */
static void drafts(void) {
  const bool has_draft = !sb__os_abilities().unnamed_files;
  sb__segment_record record;
  uint64_t inode = 0;
  int ends[2], status = 0, error = 0;
  EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (!child) {
    const int file = sb__os_segment_new(false, 0600, 64, &error);
    const bool is_told = file >= 0 && sb__os_file_inode(file, &inode) &&
                         write(ends[1], &inode, sizeof inode) == sizeof inode;
    _exit(is_told ? 0 : 1); /* as if it was killed */
  }
  EQ(waitpid(child, &status, 0), child);
  EQ(status, 0);
  EQ(read(ends[0], &inode, sizeof inode), sizeof inode);
  EQ(sb__os_segment_record(inode, &record), has_draft);
  if (has_draft) {
    EQ(record.nbytes, 64);
    EQ(swept(record.name), 0); /* nobody knows the name */
    CHECK(!sb__os_segment_record(inode, &record) && !sb__os_segment_inode(record.name, &inode));
  }
  const int file = sb__os_segment_new(false, 0600, 64, &error);
  CHECK(file >= 0 && sb__os_file_inode(file, &inode));
  EQ(sb__os_segment_record(inode, &record), has_draft);
  sb__os_segment_abandon(file);
  CHECK(!sb__os_segment_record(inode, &record));
  sb__os_close(file);
  sb__os_close(ends[0]);
  sb__os_close(ends[1]);
}

/* Whoever opens what is there by SB_SEGMENT_OPEN has it locked, and half a ring is mended. */
static void opened(void) {
  const int64_t shape[] = {4}, other[] = {5}, words[] = {20};
  sb_tensor made, seen;
  sb_ring *ring = NULL, *again = NULL;
  int file = -1;
  EQ(sb_segment_create(name, SB_INT32, 1, shape, 0600, SB_SEGMENT_OPEN, &made), SB_OK);
  ((int32_t *)sb_tensor_data(&made))[3] = 7;
  sb_tensor_release(&made);
  EQ(sb__os_segment_open(name, true, &file), 0);
  EQ(sb__os_lock_file(file, SB__LOCK_ASKED), 0);
  EQ(sb_segment_create(name, SB_INT32, 1, shape, 0600, SB_SEGMENT_OPEN, &seen), SB_OK);
  EQ(((int32_t *)sb_tensor_data(&seen))[3], 7);
  EQ(sb__os_lock_file(file, SB__LOCK_ASKED), EAGAIN);
  EQ(sb__os_lock_file(file, SB__LOCKED_EXCLUSIVE), EAGAIN);
  FAILS(SB_ERR_SHAPE, sb_segment_create(name, SB_INT32, 1, other, 0600, SB_SEGMENT_OPEN, &out));
  FAILS(SB_ERR_DTYPE, sb_segment_create(name, SB_INT8, 1, shape, 0600, SB_SEGMENT_OPEN, &out));
  sb_tensor_release(&seen);
  EQ(sb__os_lock_file(file, SB__LOCK_ASKED), 0);
  sb__os_close(file);
  EQ(sb_segment_unlink(name), SB_OK);

  EQ(sb_segment_create(control, SB_UINT64, 1, words, 0600, 0, &made), SB_OK);
  EQ(sb_ring_open(name, NULL, &ring), SB_ERR_NOT_FOUND);
  EQ(sb__os_segment_open(control, true, &file), 0); /* as if a living process was making it */
  sb_tensor_release(&made);
  EQ(sb__os_lock_file(file, SB__LOCKED_EXCLUSIVE), 0);
  EQ(sb_ring_create(name, 4, SB_INT64, 1, shape, 0600, 0, &ring), SB_ERR_EXISTS);
  EQ(sb_ring_create(name, 4, SB_INT64, 1, shape, 0600, SB_SEGMENT_OPEN, &ring), SB_ERR_EXISTS);
  EQ(sb__os_lock_file(file, SB__UNLOCKED), 0);
  EQ(sb_ring_create(name, 4, SB_INT64, 1, shape, 0600, 0, &ring), SB_OK);
  sb__os_close(file);
  EQ(sb_ring_create(name, 4, SB_INT64, 1, shape, 0600, SB_SEGMENT_OPEN, &again), SB_OK);
  sb_ring_close(&again);
  EQ(sb_ring_create(name, 4, SB_INT64, 1, other, 0600, SB_SEGMENT_OPEN, &again), SB_ERR_SHAPE);
  EQ(sb_ring_create(name, 4, SB_INT64, 1, shape, 0600, SB_SEGMENT_OPEN | SB_RING_READERS(1),
                    &again),
     SB_ERR_ARGUMENT);
  sb_ring_close(&ring);
  EQ(sb_ring_unlink(name), SB_OK);
}

static int64_t *frame_of(const sb_ring *ring, int64_t n) {
  sb_tensor frames, frame;
  EQ(sb_ring_frames(ring, &frames), SB_OK);
  EQ(sb_select(&frames, 0, n % frames.shape[0], &frame), SB_OK);
  return sb_tensor_data(&frame);
}

static void put(sb_ring *ring, int64_t value) {
  int64_t n = -1;
  EQ(sb_ring_begin(ring, &n), SB_OK);
  for (int i = 0; i < 4; i++) frame_of(ring, n)[i] = value;
  EQ(sb_ring_commit(ring, (uint64_t)value << 40), SB_OK);
}

static void in_one_process(void) {
  const int64_t shape[] = {4};
  sb_ring *ring = NULL, *other = NULL, *more = NULL;
  int64_t n = -1, count = -1;
  bool has = false;
  EQ(sb_ring_create(name, 4, SB_INT64, 1, shape, 0600, 0, &ring), SB_OK);
  EQ(sb_ring_create(name, 4, SB_INT64, 1, shape, 0600, 0, &more), SB_ERR_EXISTS);
  EQ(sb_ring_open(name, NULL, &other), SB_OK);
  EQ(sb_ring_commit(ring, 0), SB_ERR_STALE);
  sb_ring_reader reader = {.next = -1}, late = {.next = -1};
  EQ(sb_ring_read(other, &reader, 0, &n), SB_OK);
  EQ(n, -1);
  EQ(sb_ring_read(other, &reader, 1000, &n), SB_OK);
  EQ(n, -1);
  for (int64_t i = 0; i < 3; i++) {
    put(ring, 10 + i);
    EQ(sb_ring_read(other, &reader, -1, &n), SB_OK);
    EQ(n, i);
    EQ(reader.tag, (uint64_t)(10 + i) << 40);
    EQ(frame_of(other, n)[3], 10 + i);
    EQ(sb_ring_has(other, n, &has, NULL), SB_OK);
    CHECK(has);
  }
  EQ(sb_ring_begin(other, &n), SB_ERR_BUSY);
  for (int64_t i = 3; i < 11; i++) put(ring, 10 + i);
  EQ(sb_ring_has(other, 2, &has, NULL), SB_OK);
  CHECK(!has);
  EQ(sb_ring_read(other, &reader, 0, &n), SB_OK); /* half a ring behind the writer */
  EQ(n, 9);
  EQ(reader.lost, 6);
  EQ(sb_ring_read(other, &late, 0, &n), SB_OK);
  EQ(n, 7);
  EQ(late.lost, 0);
  sb_ring_reader all = {0};
  EQ(sb_ring_read(other, &all, 0, &n), SB_OK);
  EQ(n, 7);
  EQ(all.lost, 7);
  EQ(sb_ring_wait(other, 10, 0, &count), SB_OK);
  EQ(count, 11);
  EQ(sb_ring_begin(ring, &n), SB_OK);
  sb_ring_close(&ring);
  CHECK(!ring);
  sb_ring_close(&ring);
  put(other, 30); /* the next writer goes on with the next index */
  EQ(sb_ring_count(other, &count), SB_OK);
  EQ(count, 12);
  EQ(sb_ring_create(name, 2, SB_INT64, 1, shape, 01000, SB_SEGMENT_REPLACE, &more),
     SB_ERR_ARGUMENT); /* it is there as before */
  EQ(sb_ring_open(name, NULL, &ring), SB_OK);
  sb_ring_close(&ring);
  EQ(sb_ring_create(name, 2, SB_INT64, 1, shape, 0600, SB_SEGMENT_REPLACE, &more), SB_OK);
  EQ(frame_of(other, 11)[0], 30); /* who had it keeps it */
  EQ(sb_ring_open(name, NULL, &ring), SB_OK);
  EQ(sb_ring_count(ring, &count), SB_OK);
  EQ(count, 0);
  for (sb_ring **each = (sb_ring *[]){ring, other, more, NULL}; *each; each++) {
    sb_ring *it = *each;
    sb_ring_close(&it);
  }
  EQ(sb_ring_unlink(name), SB_OK);
  EQ(sb_ring_unlink(name), SB_ERR_NOT_FOUND);
  EQ(sb_ring_open(name, NULL, &ring), SB_ERR_NOT_FOUND);
  EQ(sb_ring_create(name, 0, SB_INT64, 1, shape, 0600, 0, &ring), SB_ERR_BOUNDS);
}

/* A reader that ends without a word. */
static void read_and_exit(void) {
  sb_ring *ring = NULL;
  sb_ring_reader reader = {.next = -1};
  int64_t n = 0;
  if (sb_ring_open(name, NULL, &ring)) _exit(1);
  _exit(sb_ring_read(ring, &reader, 0, &n) == SB_OK && n == 4 ? 0 : 2);
}

static void readers(void) {
  const int64_t shape[] = {4};
  sb_ring *ring = NULL, *other = NULL, *more = NULL;
  sb_ring_reader reader = {.next = 0}, late = {.next = -1};
  int64_t n = 0;
  bool is_free = false;
  int status = 0;
  EQ(sb_ring_create(name, 2, SB_INT64, 1, shape, 0600, SB_RING_READERS(1025), &ring),
     SB_ERR_BOUNDS);
  EQ(sb_ring_create(name, 2, SB_INT64, 1, shape, 0600, SB_RING_READERS(1), &ring), SB_OK);
  EQ(sb_ring_open(name, NULL, &other), SB_OK);
  EQ(sb_ring_open(name, NULL, &more), SB_OK);
  EQ(sb_ring_read(other, &reader, 0, &n), SB_OK);
  EQ(n, -1);
  EQ(sb_ring_read(more, &late, 0, &n), SB_ERR_BUSY);
  put(ring, 10);
  put(ring, 11);
  EQ(sb_ring_begin(ring, &n), SB_ERR_BUSY);
  EQ(sb_ring_room(ring, 1000, &is_free), SB_OK);
  CHECK(!is_free);
  for (int64_t i = 0; i < 3; i++) { /* a frame is the reader's until it asks for the next one */
    EQ(sb_ring_read(other, &reader, -1, &n), SB_OK);
    EQ(n, i);
    EQ(sb_ring_room(ring, 0, &is_free), SB_OK);
    CHECK(is_free == (i > 0));
    if (is_free) put(ring, 11 + i);
  }
  EQ(reader.lost, 0);
  sb_ring_leave(other);
  sb_ring_leave(other);
  EQ(sb_ring_room(ring, -1, &is_free), SB_OK);
  put(ring, 14);
  const pid_t child = fork();
  if (!child) read_and_exit();
  waitpid(child, &status, 0);
  EQ(status, 0);
  for (int64_t i = 5; i < 9; i++) { /* its place is free */
    EQ(sb_ring_room(ring, -1, &is_free), SB_OK);
    CHECK(is_free);
    put(ring, 10 + i);
  }
  EQ(sb_ring_read(more, &late, 0, &n), SB_OK);
  EQ(n, 8);
  EQ(late.lost, 0);
  for (sb_ring **each = (sb_ring *[]){ring, other, more, NULL}; *each; each++) {
    sb_ring *it = *each;
    sb_ring_close(&it);
  }
  EQ(sb_ring_unlink(name), SB_OK);
}

/* A writer that is killed inside its third frame. */
static void write_and_wait(void) {
  sb_ring *ring = NULL;
  int64_t n = -1;
  if (sb_ring_open(name, NULL, &ring)) _exit(1);
  for (int i = 0; i < 2; i++) put(ring, 10 + i);
  if (sb_ring_begin(ring, &n)) _exit(2);
  frame_of(ring, n)[0] = 99;
  for (;;) pause();
}

static void killed(void) {
  const int64_t shape[] = {4};
  sb_ring *ring = NULL;
  int64_t n = -1;
  bool has = true;
  EQ(sb_ring_create(name, 4, SB_INT64, 1, shape, 0600, 0, &ring), SB_OK);
  const pid_t child = fork();
  if (!child) write_and_wait();
  sb_ring_reader reader = {0};
  for (int64_t i = 0; i < 2; i++) {
    do EQ(sb_ring_read(ring, &reader, -1, &n), SB_OK);
    while (n < 0);
    EQ(n, i);
    EQ(frame_of(ring, n)[3], 10 + i);
  }
  while (frame_of(ring, 2)[0] != 99) usleep(1000);
  EQ(sb_ring_begin(ring, &n), SB_ERR_BUSY);
  kill(child, SIGKILL);
  waitpid(child, NULL, 0);
  EQ(sb_ring_has(ring, 2, &has, NULL), SB_OK);
  CHECK(!has);
  EQ(sb_ring_read(ring, &reader, 0, &n), SB_OK);
  EQ(n, -1);
  put(ring, 12);
  EQ(sb_ring_read(ring, &reader, 0, &n), SB_OK);
  EQ(n, 2);
  EQ(frame_of(ring, 2)[0], 12);
  EQ(reader.lost, 0);
  sb_ring_close(&ring);
  EQ(sb_ring_unlink(name), SB_OK);
}

/* A child that has its parent's object is no writer, and its end ends no writing. */
static void forked(void) {
  const int64_t shape[] = {4};
  sb_ring *ring = NULL;
  int how = -1;
  EQ(sb_ring_create(name, 4, SB_INT64, 1, shape, 0600, 0, &ring), SB_OK);
  put(ring, 1);
  int64_t n = -1;
  EQ(sb_ring_begin(ring, &n), SB_OK);
  const pid_t child = fork();
  if (!child) {
    const bool refused =
        sb_ring_commit(ring, 0) == SB_ERR_STALE && sb_ring_begin(ring, &n) == SB_ERR_BUSY;
    sb_ring_close(&ring);
    _exit(refused ? 0 : 1);
  }
  waitpid(child, &how, 0);
  EQ(how, 0);
  EQ(sb_ring_commit(ring, 3), SB_OK);
  put(ring, 2);
  sb_ring_close(&ring);
  EQ(sb_ring_unlink(name), SB_OK);
}

static void attached(void) {
  enum { WORDS = 16 + 2 * 3 };
  static _Atomic uint64_t words[WORDS];
  sb_ring *ring = NULL;
  int64_t n = -1, count = 0;
  sb_tensor out;
  EQ(sb_ring_attach(words, sizeof words, 3, 8, &ring), SB_ERR_FORMAT);
  words[1] = 3;
  words[2] = 8;
  words[0] = UINT64_C(0x33676e69722d6273);
  EQ(sb_ring_attach(words, 15 * 8, 3, 8, &ring), SB_ERR_ARGUMENT);
  EQ(sb_ring_attach(words, sizeof words - 8, 3, 8, &ring), SB_ERR_FORMAT);
  EQ(sb_ring_attach(words, sizeof words, 4, 8, &ring), SB_ERR_FORMAT);
  EQ(sb_ring_attach(words, sizeof words, 3, 9, &ring), SB_ERR_FORMAT);
  CHECK(!ring);
  UNTIL_OK(2, sb_ring_attach(words, sizeof words, 3, 8, &ring), CHECK(!ring));
  EQ(sb_ring_frames(ring, &out), SB_ERR_ARGUMENT);
  EQ(sb_ring_begin(ring, &n), SB_OK);
  EQ(words[16], 1);
  EQ(sb_ring_commit(ring, 3), SB_OK);
  EQ(words[16], 2);
  EQ(words[17], 3);
  EQ(words[8], 1);
  words[8] = UINT64_C(1) << 53;
  EQ(sb_ring_count(ring, &count), SB_ERR_FORMAT);
  sb_ring_close(&ring);
  EQ(words[3], 0);
}

static void foreign(void) { /* two segments that are no ring */
  const int64_t shape[] = {4, 2}, few[] = {19};
  sb_tensor frames, words;
  sb_ring *ring = NULL;
  EQ(sb_segment_create(name, SB_INT64, 2, shape, 0600, 0, &frames), SB_OK);
  EQ(sb_ring_open(name, NULL, &ring), SB_ERR_NOT_FOUND);
  EQ(sb_segment_create(control, SB_UINT64, 1, few, 0600, 0, &words), SB_OK);
  EQ(sb_ring_open(name, NULL, &ring), SB_ERR_FORMAT);
  CHECK(!ring);
  sb_tensor_release(&frames);
  sb_tensor_release(&words);
  EQ(sb_ring_unlink(name), SB_OK);
}

static void without_memory(void) {
  const int64_t shape[] = {4};
  sb_ring *ring = NULL;
  UNTIL_OK(4, sb_ring_create(name, 4, SB_INT64, 1, shape, 0600, 0, &ring), CHECK(!ring));
  sb_ring_close(&ring);
  UNTIL_OK(6, sb_ring_open(name, NULL, &ring), CHECK(!ring));
  sb_ring_close(&ring);
  EQ(sb_ring_unlink(name), SB_OK);
}

static void waits(void) {
  static _Atomic uint32_t word = 5;
  sb_wait_result how = SB_WAIT_WOKEN;
  int64_t woken = 7;
  EQ(sb_word_wait((char *)&word + 1, 5, 0, &how), SB_ERR_ALIGNMENT);
  EQ(sb_word_wait(NULL, 5, 0, &how), SB_ERR_ALIGNMENT);
  EQ(sb_word_wake(NULL, 1, NULL), SB_ERR_ALIGNMENT);
  EQ(sb_word_wait((void *)&word, 4, -1, &how), SB_OK);
  EQ(how, SB_WAIT_NOT_EQUAL);
  EQ(sb_word_wait((void *)&word, 5, 1000, &how), SB_OK);
  EQ(how, SB_WAIT_TIMED_OUT);
  EQ(sb_word_wake((void *)&word, INT64_MAX, &woken), SB_OK);
  EQ(woken, 0);
}

int main(void) {
  snprintf(name, sizeof name, "samebytes-test-c-%d", (int)getpid());
  snprintf(control, sizeof control, "%s.control", name);
  atexit(clean);
  test("a segment is a .npy file that others map", segments);
  test("who opens what is there owns it as well, and half a ring is mended", opened);
  test("what a process left that has ended is swept, unless somebody has it", swept_up);
  test("a segment that gets no name leaves nothing", drafts);
  test("frames go from a writer to readers, which lose what they are too slow for", in_one_process);
  test("a writer waits for its readers, and for none that has ended", readers);
  test("a writer that is killed inside a frame takes nothing with it", killed);
  test("a child that was forked is no writer, and gives up nothing of its parent's", forked);
  test("words that the caller has mapped become a ring", attached);
  test("segments that are no ring are refused", foreign);
  test("without memory nothing is made, and nothing left", without_memory);
  test("a word is compared before anybody sleeps", waits);
  return done();
}
