#include "check.h"

static int deleted;
static void *deleted_data;
static void count(void *data, void *context) {
  deleted++;
  deleted_data = data;
  ++*(int *)context;
}

static void references(void) {
  const sb__storage_totals before = sb__storage_totals_now();
  char data[32];
  int own = 0;
  sb_storage *s = NULL, *same = NULL;
  EQ(sb_storage_wrap(data, sizeof data, count, &own, &s), SB_OK);
  EQ(sb__storage_totals_now().foreign_bytes - before.foreign_bytes, 32);
  EQ(sb__storage_totals_now().storages - before.storages, 1);
  CHECK(sb_storage_data(s) == data);
  EQ(sb_storage_nbytes(s), 32);
  same = sb_storage_ref(s);
  CHECK(same == s);
  sb_tensor t;
  EQ(sb_tensor_init(s, SB_UINT8, DIMS(32), NULL, 0, &t), SB_OK);
  sb_tensor_retain(&t);
  sb_storage_unref(&s);
  CHECK(!s);
  EQ(deleted, 0);
  sb_storage_unref(&same);
  EQ(deleted, 0);
  sb_tensor_release(&t);
  CHECK(!t.storage);
  EQ(deleted, 1);
  EQ(own, 1);
  CHECK(deleted_data == data);
  sb_tensor_release(&t);
  sb_storage_unref(&s);
  EQ(deleted, 1);
  CHECK(!sb_storage_ref(NULL));
  EQ(sb_storage_wrap(NULL, 1, count, &own, &s), SB_ERR_ARGUMENT);
  CHECK(!s);
  EQ(sb_storage_wrap(NULL, 0, count, &own, &s), SB_OK);
  sb_storage_unref(&s);
  EQ(own, 2);
  EQ(sb_storage_wrap(data, 1, NULL, NULL, &s), SB_OK);
  sb_storage_unref(&s);
  EQ(sb_storage_new(0, &s), SB_OK);
  CHECK(!sb_storage_data(s));
  sb_storage_unref(&s);
  for (size_t n = 1; n < 300; n += 7) {
    EQ(sb_storage_new(n, &s), SB_OK);
    EQ((uintptr_t)sb_storage_data(s) % SB_ALIGNMENT, 0);
    memset(sb_storage_data(s), 1, n);
    sb_storage_unref(&s);
  }
  EQ(sb_storage_new(SIZE_MAX, &s), SB_ERR_MEMORY);
  CHECK(!s);
  const sb__storage_totals after = sb__storage_totals_now();
  EQ(after.storages, before.storages);
  EQ(after.heap_bytes, before.heap_bytes);
  EQ(after.foreign_bytes, before.foreign_bytes);
}

static void no_memory(void) {
  static int32_t data[16], was[16];
  int64_t storages = sb__storage_totals_now().storages, staged = 0;
  sb_tensor t = {0}, a, b;
  UNTIL_OK(2, sb_tensor_empty(SB_FLOAT64, DIMS(4, 4), &t), CHECK(!t.storage));
  sb_tensor_release(&t);
  sb_storage s;
  sb__storage_borrow(data, sizeof data, &s);
  for (int i = 0; i < 16; i++) was[i] = data[i] = i;
  EQ(sb_tensor_init(&s, SB_INT32, DIMS(15), NULL, 1, &a), SB_OK);
  EQ(sb_tensor_init(&s, SB_INT32, DIMS(15), NULL, 0, &b), SB_OK);
  UNTIL_OK(2, sb_copy(&a, &b, SB_CASTING_SAFE, &staged), {
    CHECK(!memcmp(data, was, sizeof data));
    EQ(staged, 0);
  });
  EQ(staged, 60);
  EQ(data[15], 14);
  EQ(data[1], 0);
  EQ(sb__storage_totals_now().storages, storages);
  bool shared = true;
  EQ(sb_as_strided(&a, DIMS(7), LIST(2), 0, &a), SB_OK);
  EQ(sb_as_strided(&b, DIMS(7), LIST(2), 1, &b), SB_OK);
  UNTIL_OK(1, sb_shares_memory(&a, &b, &shared), CHECK(shared));
  CHECK(!shared);
  bool overlaps = true;
  EQ(sb_as_strided(&a, DIMS(2, 3), LIST(3, 2), 0, &a), SB_OK);
  UNTIL_OK(1, sb_overlaps_itself(&a, &overlaps), CHECK(overlaps));
  CHECK(!overlaps);
}

static void no_memory_for_handles(void) {
  sb__binding b = {0};
  double handle = 7;
  for (int i = 0; i < 200; i++) {
    sb_storage *s = NULL;
    EQ(sb_storage_new(8, &s), SB_OK);
    const int64_t storages = sb__storage_totals_now().storages;
    int64_t n = 1;
    for (; n < 10; n++) {
      handle = 7;
      sb__fail_allocation(n);
      const sb_status status = sb__claim_new(&b, s, &handle);
      sb__fail_allocation(0);
      if (!status) break;
      EQ(status, SB_ERR_MEMORY);
      CHECK(handle == 7);
      EQ(sb__storage_totals_now().storages, storages);
    }
    CHECK(n <= 3);
    CHECK(sb__claim_get(&b, handle) == s);
  }
  sb__claims_drop_all(&b);
  CHECK(!b.claims);
}

static void handles(void) {
  sb__binding a = {0}, b = {0};
  int own = 0, i = 0;
  char data[8];
  sb_storage *s = NULL, *other = NULL;
  double first = 0, second = 0;
  EQ(sb_storage_wrap(data, 8, count, &own, &s), SB_OK);
  EQ(sb__claim_new(&a, s, &first), SB_OK);
  CHECK(first >= 1 && first == floor(first) && first < 0x1p53);
  CHECK(sb__claim_get(&a, first) == s);
  const double forged[] = {0,
                           0.5,
                           -1,
                           NAN,
                           INFINITY,
                           -INFINITY,
                           0x1p60,
                           0x1p53,
                           1e300,
                           5e-324,
                           -first,
                           first + 0.5,
                           first + 1,
                           first + 0x1p24,
                           first - 0x1p24,
                           first + 0x1p52,
                           first + 64,
                           0x1p24 - 1};
  for (i = 0; i < (int)(sizeof forged / sizeof *forged); i++) {
    CHECK(!sb__claim_get(&a, forged[i]));
    EQ(sb__claim_drop(&a, forged[i]), SB_ERR_STALE);
  }
  CHECK(!sb__claim_get(&b, first)); /* another environment's */
  EQ(sb__claim_drop(&b, first), SB_ERR_STALE);
  EQ(sb__claim_drop(&a, first), SB_OK);
  EQ(own, 1);
  EQ(sb__claim_drop(&a, first), SB_ERR_STALE);
  CHECK(!sb__claim_get(&a, first));
  EQ(sb_storage_wrap(data, 8, count, &own, &other), SB_OK);
  EQ(sb__claim_new(&a, other, &second), SB_OK); /* the same slot, another generation */
  EQ(fmod(second, 0x1p24), fmod(first, 0x1p24));
  CHECK(second != first && !sb__claim_get(&a, first) && sb__claim_get(&a, second) == other);
  sb__claims_drop_all(&a);
  EQ(own, 2);
  sb__claims_drop_all(&a);
  sb__claims_drop_all(&b);
}

int main(void) {
  test("a storage lives as long as its references, and its deleter runs once", references);
  test("every allocation of empty, copy, shares_memory and overlaps_itself may fail, and nothing "
       "leaks or changes",
       no_memory);
  test("every allocation of a handle may fail, and the storage stays the caller's",
       no_memory_for_handles);
  test("stale, forged and foreign handles are STALE errors", handles);
  return done();
}
