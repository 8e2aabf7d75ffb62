#include "check.h"

#include <pthread.h>

#include "ipc/transfer.h"

/* Runs under ThreadSanitizer, too. */

static atomic_int freed;
static void release(void *data, void *context) {
  (void)context;
  free(data);
  atomic_fetch_add(&freed, 1);
}

static sb_storage *made(size_t nbytes) {
  sb_storage *storage = NULL;
  EQ(sb_storage_wrap(malloc(nbytes), nbytes, release, NULL, &storage), SB_OK);
  return storage;
}

static void one_way(void) {
  const int before = atomic_load(&freed);
  sb_storage *storage = made(8), *taken = NULL;
  void *data = sb_storage_data(storage);
  double key = 0;
  EQ(sb__transfer_new(storage, 2, &key), SB_OK);
  EQ(sb__transfers_in_flight(), 2);
  sb_storage_unref(&storage); /* who sent it may go */
  EQ(atomic_load(&freed), before);
  size_t nbytes = 0;
  EQ(sb__transfer_nbytes(key, &nbytes), SB_OK);
  EQ(nbytes, 8);
  EQ(sb__transfers_in_flight(), 2);
  EQ(sb__transfer_take(key, &taken), SB_OK);
  CHECK(sb_storage_data(taken) == data);
  sb_storage_unref(&taken);
  EQ(sb__transfers_in_flight(), 1);
  EQ(sb__transfer_take(key, &taken), SB_OK);
  EQ(sb__transfers_in_flight(), 0);
  EQ(atomic_load(&freed), before);
  sb_storage_unref(&taken);
  EQ(atomic_load(&freed), before + 1);
  EQ(sb__transfer_take(key, &taken), SB_ERR_STALE);
  EQ(sb__transfer_drop(key), SB_ERR_STALE);
}

static void taken_back(void) {
  const int before = atomic_load(&freed);
  sb_storage *storage = made(8), *taken = NULL;
  double key = 0, next = 0;
  EQ(sb__transfer_new(storage, 5, &key), SB_OK);
  EQ(sb__transfer_take(key, &taken), SB_OK);
  EQ(sb__transfer_drop(key), SB_OK);
  EQ(sb__transfers_in_flight(), 0);
  sb_storage_unref(&storage);
  EQ(atomic_load(&freed), before);
  EQ(sb__transfer_new(taken, 1, &next), SB_OK); /* in the same slot, under another key */
  CHECK(next != key);
  EQ(sb__transfer_drop(key), SB_ERR_STALE);
  EQ(sb__transfer_drop(next), SB_OK);
  sb_storage_unref(&taken);
  EQ(atomic_load(&freed), before + 1);
}

static void refused(void) {
  static const double keys[] = {
      0,     -1,  0.5,      1,        16777216.0, 9007199254740991.0, 9007199254740992.0,
      1e300, NAN, INFINITY, -INFINITY};
  sb_storage borrowed, *storage = made(1), *taken = NULL;
  double key = 7;
  size_t nbytes = 0;
  char byte = 0;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    EQ(sb__transfer_take(keys[i], &taken), SB_ERR_STALE);
    EQ(sb__transfer_drop(keys[i]), SB_ERR_STALE);
    EQ(sb__transfer_nbytes(keys[i], &nbytes), SB_ERR_STALE);
    CHECK(!taken && !nbytes);
  }
  sb__storage_borrow(&byte, 1, &borrowed);
  EQ(sb__transfer_new(&borrowed, 1, &key), SB_ERR_UNSUPPORTED);
  EQ(sb__transfer_new(storage, 0, &key), SB_ERR_BOUNDS);
  EQ(sb__transfer_new(storage, -1, &key), SB_ERR_BOUNDS);
  EQ(key, 7);
  EQ(sb__transfers_in_flight(), 0);
  sb_storage_unref(&storage);
}

static void without_memory(void) {
  enum { MANY = 200 };
  sb_storage *storage = made(1);
  double keys[MANY];
  int failed = 0;
  for (int i = 0; i < MANY; i++) {
    sb__fail_allocation(1);
    const sb_status status = sb__transfer_new(storage, 1, &keys[i]);
    sb__fail_allocation(0);
    if (!status) continue;
    EQ(status, SB_ERR_MEMORY);
    EQ(sb__transfers_in_flight(), i);
    failed++;
    EQ(sb__transfer_new(storage, 1, &keys[i]), SB_OK);
  }
  CHECK(failed >= 4);
  for (int i = 0; i < MANY; i++) EQ(sb__transfer_drop(keys[i]), SB_OK);
  EQ(sb__transfers_in_flight(), 0);
  sb_storage_unref(&storage);
}

enum { ROUNDS = 2000, RACERS = 4 };
static double offered[ROUNDS];
static atomic_int wins[ROUNDS];

static void *racer(void *unused) {
  (void)unused;
  for (int i = 0; i < ROUNDS; i++) {
    sb_storage *taken = NULL, *mine = NULL;
    double key = 0;
    if (!sb__transfer_take(offered[i], &taken)) {
      atomic_fetch_add(&wins[i], 1);
      (*(atomic_int *)sb_storage_data(taken))++;
    }
    sb_storage_unref(&taken);
    EQ(sb_storage_wrap(malloc(4), 4, release, NULL, &mine), SB_OK);
    EQ(sb__transfer_new(mine, 1, &key), SB_OK);
    sb_storage_unref(&mine);
    EQ(sb__transfer_drop(key), SB_OK);
  }
  return NULL;
}

static void race(void) {
  const int before = atomic_load(&freed);
  pthread_t threads[RACERS];
  for (int i = 0; i < ROUNDS; i++) {
    sb_storage *storage = made(sizeof(atomic_int));
    atomic_init((atomic_int *)sb_storage_data(storage), 0);
    EQ(sb__transfer_new(storage, 3, &offered[i]), SB_OK);
    sb_storage_unref(&storage);
  }
  for (int i = 0; i < RACERS; i++) EQ(pthread_create(&threads[i], NULL, racer, NULL), 0);
  for (int i = 0; i < RACERS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < ROUNDS; i++) EQ(atomic_load(&wins[i]), 3);
  EQ(sb__transfers_in_flight(), 0);
  EQ(atomic_load(&freed), before + ROUNDS + RACERS * ROUNDS);
}

static void home(void) {
  const double x = sb__transfer_process_id();
  CHECK(x > 0 && x < 9007199254740992.0 && x == (double)(uint64_t)x);
  CHECK(sb__transfer_process_id() == x);
}

int main(void) {
  test("a parcel keeps its storage for as many takers as were asked for", one_way);
  test("what is taken back is freed with the last reference, and its key is stale", taken_back);
  test("forged keys, borrowed bytes and no takers are refused", refused);
  test("every allocation of a parcel may fail, and nothing is in flight then", without_memory);
  test("threads that race for parcels get each as often as it may be taken", race);
  test("the process has one number", home);
  return done();
}
