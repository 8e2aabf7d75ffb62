/* The other side of a ring, by libsamebytes: what test/native/ring-c.test.js runs.
 *
 *   ring-peer write NAME N    writes N frames of int32, each full of its index
 *   ring-peer hang NAME       writes one, begins another one, and hangs
 *   ring-peer read NAME N     reads until frame N - 1, and says what it read
 *   ring-peer make NAME       makes the ring, and writes one frame
 *   ring-peer wait NAME       waits until element 0 of a segment of int32 is not 0, and adds 1 to element 1 */
#include <samebytes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void check(sb_status status) {
  if (!status) return;
  fprintf(stderr, "ERR_%s: %s\n", sb_status_name(status), sb_error_message());
  exit(1);
}

static int32_t *frame_of(const sb_ring *ring, int64_t n, int64_t *count) {
  sb_tensor frames, frame;
  check(sb_ring_frames(ring, &frames));
  check(sb_select(&frames, 0, n % frames.shape[0], &frame));
  *count = sb_tensor_numel(&frame);
  return sb_tensor_data(&frame);
}

static void write_frame(sb_ring *ring) {
  int64_t n = 0, count = 0;
  check(sb_ring_begin(ring, &n));
  int32_t *values = frame_of(ring, n, &count);
  for (int64_t i = 0; i < count; i++) values[i] = (int32_t)n;
  check(sb_ring_commit(ring, (uint64_t)n));
}

static void read_frames(sb_ring *ring, int64_t last) {
  sb_ring_reader reader = {0}; /* from the first frame on: what it is too late for is lost */
  int64_t n = -1, count = 0, whole = 0, torn = 0, overwritten = 0;
  while (n < last) {
    bool has = false;
    check(sb_ring_read(ring, &reader, -1, &n));
    if (n < 0) continue;
    const volatile int32_t *values = frame_of(ring, n, &count);
    bool same = reader.tag == (uint64_t)n;
    for (int64_t i = 0; i < count; i++) same &= values[i] == (int32_t)n;
    check(sb_ring_has(ring, n, &has, NULL));
    whole += has;
    overwritten += !has;
    torn += has && !same;
  }
  printf("{\"whole\":%lld,\"torn\":%lld,\"overwritten\":%lld,\"lost\":%lld}\n", (long long)whole,
         (long long)torn, (long long)overwritten, (long long)reader.lost);
}

static void wait_for(const char *name) {
  sb_tensor t;
  check(sb_segment_open(name, NULL, &t));
  _Atomic int32_t *values = sb_tensor_data(&t);
  sb_wait_result how;
  printf("ready\n");
  fflush(stdout);
  while (values[0] == 0) check(sb_word_wait(values, 0, -1, &how));
  values[1]++;
  check(sb_word_wake(&values[1], INT64_MAX, NULL));
  sb_tensor_release(&t);
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "", *name = argc > 2 ? argv[2] : "";
  const int64_t n = argc > 3 ? atoll(argv[3]) : 1, shape[] = {2, 50};
  sb_ring *ring = NULL;
  if (!strcmp(what, "wait")) {
    wait_for(name);
    return 0;
  }
  check(!strcmp(what, "make") ? sb_ring_create(name, 4, SB_INT32, 2, shape, 0600, 0, &ring)
                              : sb_ring_open(name, NULL, &ring));
  if (!strcmp(what, "read")) {
    printf("ready\n");
    fflush(stdout);
    read_frames(ring, n - 1);
  } else {
    for (int64_t i = 0; i < n; i++) write_frame(ring);
  }
  if (!strcmp(what, "hang")) {
    int64_t next = 0, count = 0;
    check(sb_ring_begin(ring, &next));
    frame_of(ring, next, &count)[0] = -1;
    printf("inside\n");
    fflush(stdout);
    for (;;) pause();
  }
  sb_ring_close(&ring);
  return 0;
}
