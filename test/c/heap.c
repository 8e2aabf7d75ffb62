#define SB_HEAP_TEST
#include "platform/platform.h"

/* Before a lock is taken a test may do what another thread would. */
static void lock_or_be_overtaken(sb__lock *lock);
#define sb__lock_take(lock) lock_or_be_overtaken(lock)
#include "../../src/platform/heap.c"
#undef sb__lock_take

#include "check.h"

/* The heap of WebAssembly's memory, on memory of this process. */

enum { MOST_PAGES = 400, BASE = 70000 };

static char *memory;
static uint64_t pages;

static char *memory_at(uint32_t address) { return memory + address; }
static uint32_t memory_base(void) { return BASE; }
static uint64_t memory_pages(void) { return pages; }
static uint64_t memory_grow(uint64_t more) {
  const uint64_t before = pages;
  if (pages + more > MOST_PAGES) return UINT64_MAX;
  pages += more;
  return before;
}

static char *released; /* by another thread, before the lock is taken for the `takes`th time; NULL: nothing */
static int takes;

static void lock_or_be_overtaken(sb__lock *lock) {
  if (released && --takes == 0) {
    char *data = released;
    released = NULL;
    release(data);
  }
  sb__lock_take(lock);
}

static void start(uint64_t first) {
  free(memory);
  memory = aligned_alloc(64, MOST_PAGES * PAGE);
  memset(memory, 0xa5, MOST_PAGES * PAGE);
  memset(&heap, 0, sizeof heap);
  memset(&owners, 0, sizeof owners);
  pages = first;
}

/* All blocks side by side, no free neighbours, and each free one in the bin for its size. Returns the bytes in use. */
static int64_t look(void) {
  uint32_t before = 0, listed = 0, free_blocks = 0;
  int64_t used = 0;
  bool was_free = false;
  for (uint32_t address = heap.start; address < heap.end;) {
    const block *b = at(address);
    const uint32_t size = b->size & ~1u;
    EQ((address + HEADER) % 64, 0);
    CHECK(size >= UNIT && size % UNIT == 0);
    EQ(b->before, before);
    CHECK(!(was_free && b->size & 1));
    was_free = b->size & 1;
    free_blocks += was_free;
    if (!was_free) used += size;
    before = size;
    address += size;
    if (size == 0 || address > heap.end) {
      CHECK(!"the blocks end where the heap does");
      return -1;
    }
  }
  EQ(heap.last, before);
  for (uint32_t i = 0; i < BASE; i++) CHECK((unsigned char)memory[i] == 0xa5); /* others' */
  for (uint32_t row = 0; row < ROWS; row++) {
    EQ((heap.rows >> row) & 1, heap.columns[row] != 0);
    for (uint32_t column = 0; column < 8; column++) {
      uint32_t previous = 0, r, c;
      EQ((heap.columns[row] >> column) & 1, heap.bins[row][column] != 0);
      for (uint32_t address = heap.bins[row][column]; address; address = at(address)->next) {
        CHECK(at(address)->size & 1);
        EQ(at(address)->previous, previous);
        bin_of(at(address)->size / UNIT, &r, &c);
        CHECK(r == row && c == column);
        previous = address;
        if (++listed > free_blocks) break;
      }
    }
  }
  EQ(listed, free_blocks);
  return used;
}

static void bins(void) {
  uint32_t last = 0;
  for (uint32_t units = 1; units < UINT32_C(1) << 26; units += units < 4096 ? 1 : units / 997) {
    uint32_t row, column;
    bin_of(units, &row, &column);
    CHECK(row < ROWS && column < 8);
    CHECK(row * 8 + column >= last);
    last = row * 8 + column;
  }
}

static void bounds(void) {
  start(2);
  CHECK(!allocate(SIZE_MAX));
  CHECK(!allocate(0x7fffff01u));
  CHECK(!allocate((MOST_PAGES - 1) * PAGE));
  EQ(look(), 0);
  char *whole = allocate((MOST_PAGES - 2) * PAGE - 8192);
  CHECK(whole);
  CHECK(!allocate(2 * PAGE));
  release(whole);
  EQ(look(), 0);
  CHECK(allocate((MOST_PAGES - 2) * PAGE - 8192) == whole);
  start(2);
  char *none = allocate(0);
  CHECK(none && (uintptr_t)none % 64 == 0);
  look();
}

static void end_grows(void) {
  start(2);
  char *first = allocate(100);
  char *large = allocate(20 * PAGE);
  const uint64_t after = pages;
  release(large);
  CHECK(allocate(25 * PAGE) == large); /* where the old one was, which is the end */
  CHECK(pages <= after + (after / 2 > 6 ? after / 2 : 6)); /* what is missing, or half of what there was */
  const uint64_t then = pages += 10; /* somebody else */
  CHECK(allocate(9 * PAGE));
  EQ(pages, then);
  CHECK(first);
  look();
}

static void exact(void) {
  start(4);
  char *a[8];
  for (int i = 0; i < 8; i++) a[i] = allocate(1000);
  for (int i = 0; i < 8; i += 2) release(a[i]);
  for (int i = 6; i >= 0; i -= 2) CHECK(allocate(1000) == a[i]);
  look();
}

/* What it gives is apart from all else, keeps its bytes, and comes back whole. */
static void random_program(void) {
  enum { SLOTS = 300 };
  static struct {
    unsigned char *data;
    size_t nbytes;
    unsigned char value;
  } slots[SLOTS];
  uint64_t state = 88172645463325252u;
  memset(slots, 0, sizeof slots);
  start(2);
  for (int step = 0; step < 60000; step++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const int i = (int)(state % SLOTS), kind = (int)(state >> 20) % 100;
    const size_t nbytes = (state >> 32) % (kind < 70 ? 300 : kind < 97 ? 20000 : 900000);
    if (slots[i].data) {
      for (size_t k = 0; k < slots[i].nbytes; k += 1 + k / 7)
        CHECK(slots[i].data[k] == slots[i].value);
      if (slots[i].nbytes) CHECK(slots[i].data[slots[i].nbytes - 1] == slots[i].value);
      if (kind % 4 == 0) {
        unsigned char *moved = reallocate(slots[i].data, nbytes);
        if (!moved) continue;
        const size_t kept = nbytes < slots[i].nbytes ? nbytes : slots[i].nbytes;
        for (size_t k = 0; k < kept; k += 1 + k / 7) CHECK(moved[k] == slots[i].value);
        slots[i].data = moved;
      } else {
        release(slots[i].data);
        slots[i].data = NULL;
        continue;
      }
    } else {
      slots[i].data = allocate(nbytes);
    }
    if (!slots[i].data) continue;
    slots[i].nbytes = nbytes;
    slots[i].value = (unsigned char)(state >> 8);
    memset(slots[i].data, slots[i].value, nbytes);
    if (step % 500 == 0) look();
    if (check_failures) break;
  }
  for (int i = 0; i < SLOTS; i++)
    if (slots[i].data) release(slots[i].data);
  EQ(look(), 0);
  EQ(heap.last, heap.end - heap.start); /* one free block */
}

/* Marks far apart and side by side, anywhere in 4 GiB, beside a plain list of them. */
static void index_of_owners(void) {
  enum { PLACES = 400, LEAVES = 9 };
  static const uint32_t leaves[LEAVES] = {0, 1, 2, 63, 64, 65, 700, 4032, 4095};
  static uint32_t places[PLACES];
  static bool marked[PLACES];
  uint64_t state = 88172645463325252u;
  start(2);
  memset(marked, 0, sizeof marked);
  for (int i = 0; i < PLACES; i++) { /* each another one: the place within a leaf */
    const uint32_t near = i % 2 ? (uint32_t)i : 16383 - (uint32_t)i, far = 40 * (uint32_t)i;
    places[i] = leaves[i % LEAVES] * (UINT32_C(1) << 20) + (i % 3 ? near : far) * UNIT;
    for (int k = 0; k < i; k++) CHECK(places[k] != places[i]);
  }
  for (int step = 0; step < 200000 && !check_failures; step++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const int i = (int)(state % PLACES);
    const uint32_t dense = step / 20000 % 2 ? 90 : 3; /* out of 100 are marked */
    const bool wanted = (uint32_t)(state >> 20) % 100 < dense;
    if (marked[i] != wanted) {
      if (wanted) {
        CHECK(has_leaf(places[i] >> 20));
        mark(places[i]);
      } else {
        unmark(places[i]);
      }
      marked[i] = wanted;
    }
    const uint32_t asked = state >> 63
                               ? places[(state >> 32) % PLACES] + (uint32_t)(state >> 40) % 130 - 65
                               : (uint32_t)(state >> 30);
    uint32_t expected = 0;
    for (int k = 0; k < PLACES; k++)
      if (marked[k] && places[k] <= asked && places[k] > expected) expected = places[k];
    EQ(owned_up_to(asked), expected);
  }
}

/* Every byte of a block with an owner leads to it, until the block is released; nothing else does. */
static void owners_of_blocks(void) {
  enum { SLOTS = 200 };
  static struct {
    uint32_t address, nbytes; /* 0: none */
    atomic_int_fast64_t *owner;
  } slots[SLOTS];
  uint64_t state = 362436069362436069u;
  start(2);
  memset(slots, 0, sizeof slots);
  for (int step = 0; step < 40000 && !check_failures; step++) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    const int i = (int)(state % SLOTS);
    const uint32_t address = slots[i].address + (uint32_t)(state >> 32) % (slots[i].nbytes + 1);
    if (slots[i].address && slots[i].owner &&
        state >> 62 == 0) { /* its last reference is dropped */
      atomic_store(slots[i].owner, 0);
      CHECK(!sb__heap_owner(slots[i].address));
      EQ(atomic_load(slots[i].owner), 0);
    }
    if (slots[i].address) {
      release(memory_at(slots[i].address));
      if (slots[i].owner) release(slots[i].owner);
      slots[i].address = 0;
    } else {
      slots[i].nbytes = 1 + (uint32_t)(state >> 40) % (step % 50 ? 3000 : 2000000);
      char *data = allocate(slots[i].nbytes);
      slots[i].owner = data && step % 3 ? allocate(sizeof *slots[i].owner) : NULL;
      slots[i].address = data ? (uint32_t)(data - memory) : 0;
      if (slots[i].owner) {
        atomic_init(slots[i].owner, 1);
        CHECK(sb__heap_own(data, slots[i].owner));
      }
    }
    atomic_int_fast64_t *expected = NULL;
    uint32_t nearest = 0;
    for (int k = 0; k < SLOTS; k++) {
      if (!slots[k].address || !slots[k].owner || slots[k].address > address) continue;
      if (slots[k].address > nearest) nearest = slots[k].address, expected = slots[k].owner;
    }
    atomic_int_fast64_t *found = sb__heap_owner(address);
    CHECK(found == expected);
    if (found) EQ(atomic_fetch_sub(found, 1), 2);
    if (step % 500 == 0) look();
  }
  for (int i = 0; i < SLOTS; i++) {
    if (slots[i].address) release(memory_at(slots[i].address));
    if (slots[i].address && slots[i].owner) release(slots[i].owner);
  }
  EQ(look(), 0);
  EQ(heap.last, heap.end - heap.start); /* one free block */
}

/* A leaf whose last owner goes away while another block is about to be marked there. */
static void overtaken(void) {
  start(2);
  char *data = allocate(100), *other = allocate(100);
  atomic_int_fast64_t *owner = allocate(sizeof *owner), *another = allocate(sizeof *another);
  atomic_init(owner, 1);
  atomic_init(another, 1);
  CHECK(sb__heap_own(other, another));
  released = other;
  takes = 2; /* the leaf was found, and is about to be marked */
  CHECK(sb__heap_own(data, owner));
  CHECK(!released);
  CHECK(sb__heap_owner((uint32_t)(data - memory)) == owner);
  CHECK(sb__heap_owner((uint32_t)(other - memory)) == owner); /* what was before it, as always */
  look();
  release(data);
  release(owner);
  release(another);
  EQ(look(), 0);
  EQ(heap.last, heap.end - heap.start); /* one free block */
}

int main(void) {
  test("every size has a bin, larger ones later ones", bins);
  test("blocks of the size that was freed are used again where they were", exact);
  test("the free end of the heap grows, also by what others made memory grow", end_grows);
  test("what does not fit is refused, and all of memory can be had", bounds);
  test("a random program keeps its bytes, and leaves one free block", random_program);
  test("of owners, the last one up to any address is found", index_of_owners);
  test("each byte of a block leads to its owner, until it is released, and leaves one free block", owners_of_blocks);
  test("a leaf that another thread freed is made again", overtaken);
  free(memory);
  return done();
}
