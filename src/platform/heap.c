/* The allocator of WebAssembly's memory. Workers that share it can be terminated at any time, but engines do so only at
 * loops and function entries. So code under the lock has no loops and no calls: no thread ends while holding it, and none
 * waits for a dead one. wasm/straight.mjs checks the module for that.
 *
 * Blocks are adjacent from `start` to `end`, each with a header; users' addresses are multiples of 64. Free neighbours
 * are merged at once. Free blocks are listed by size, in eight bins per power of two; bits tell which bins are not empty,
 * so that one is found without a loop ("TLSF", Masmano et al., 2004). */
#if defined(__wasm__) || defined(SB_HEAP_TEST)
# include <stdlib.h>
# include <string.h>

# include "platform/platform.h"

# define PAGE UINT64_C(65536)
# define UNIT 64u
# define HEADER ((uint32_t)sizeof(block))
# define ROWS 24
# define MOST_GROWN UINT64_C(4096) /* pages at once, unless more are missing: 256 MiB */

# ifdef SB_HEAP_TEST /* the test includes this file, and defines these */
static char *memory_at(uint32_t address);
static uint32_t memory_base(void);
static uint64_t memory_pages(void);
static uint64_t memory_grow(uint64_t pages);
# else
__attribute__((import_module("env"), import_name("emscripten_notify_memory_growth"))) void
emscripten_notify_memory_growth(size_t index);
extern char __heap_base;

static inline char *memory_at(uint32_t address) { return (char *)address; }
static inline uint32_t memory_base(void) { return (uint32_t)&__heap_base; }
static inline uint64_t memory_pages(void) { return __builtin_wasm_memory_size(0); }

/* Returns the number of pages before; UINT64_MAX: memory cannot grow. */
static uint64_t memory_grow(uint64_t pages) {
  const size_t before = __builtin_wasm_memory_grow(0, (size_t)pages);
  if (before == SIZE_MAX) return UINT64_MAX;
  emscripten_notify_memory_growth(0);
  return before;
}
# endif

/* Addresses are 16 below a multiple of 64. */
typedef struct block {
  uint32_t size;           /* bytes, header included; bit 0: it is free */
  uint32_t before;         /* size of the block before; 0: none */
  uint32_t next, previous; /* of a free block: addresses in the same bin; 0: none */
                           /* next, of a block in use: its owner (below) */
} block;

static struct {
  sb__lock lock;
  uint32_t start, end; /* addresses of the first block, and after the last one; 0: not used yet */
  uint32_t last;       /* size of the last block; 0: none */
  uint32_t rows;       /* bit r: row r has blocks */
  uint8_t columns[ROWS];
  uint32_t bins[ROWS][8]; /* address of each bin's first block */
} heap;

SB__STRAIGHT block *at(uint32_t address) { return (block *)(void *)memory_at(address); }

/* Eight bins per power of two of units; the first row has a bin per number. */
SB__STRAIGHT void bin_of(uint32_t units, uint32_t *row, uint32_t *column) {
  const uint32_t power = 31 - (uint32_t)__builtin_clz(units | 4);
  *row = units < 8 ? 0 : power - 2;
  *column = units < 8 ? units : units >> (power - 3) & 7;
}

SB__STRAIGHT void insert_block(uint32_t address, uint32_t size) {
  uint32_t row, column;
  bin_of(size / UNIT, &row, &column);
  const uint32_t next = heap.bins[row][column];
  *at(address) = (block){size | 1, at(address)->before, next, 0};
  if (next) at(next)->previous = address;
  heap.bins[row][column] = address;
  heap.columns[row] |= (uint8_t)(1u << column);
  heap.rows |= 1u << row;
}

SB__STRAIGHT void remove_block(uint32_t address) {
  const block b = *at(address);
  if (b.next) at(b.next)->previous = b.previous;
  if (b.previous) {
    at(b.previous)->next = b.next;
    return;
  }
  uint32_t row, column;
  bin_of(b.size / UNIT, &row, &column);
  heap.bins[row][column] = b.next;
  if (b.next) return;
  heap.columns[row] &= (uint8_t) ~(1u << column);
  if (!heap.columns[row]) heap.rows &= ~(1u << row);
}

/* Tells the next block the size of this one. */
SB__STRAIGHT void set_size_before_next(uint32_t address, uint32_t size) {
  if (address + size == heap.end)
    heap.last = size;
  else
    at(address + size)->before = size;
}

/* Frees a block that is in use or new, and merges it with free neighbours. */
SB__STRAIGHT void free_block(uint32_t address, uint32_t size) {
  const uint32_t next = address + size, before = at(address)->before;
  if (next != heap.end && (at(next)->size & 1)) {
    size += at(next)->size & ~1u;
    remove_block(next);
  }
  if (before && (at(address - before)->size & 1)) {
    remove_block(address - before);
    address -= before;
    size += before;
  }
  insert_block(address, size);
  set_size_before_next(address, size);
}

/* Finds a free block of at least size bytes; 0: there is none. Of its own bin it tries only the first block, which may be
 * too small; all blocks of higher bins are large enough. */
SB__STRAIGHT uint32_t find_block(uint32_t size) {
  uint32_t row, column;
  bin_of(size / UNIT, &row, &column);
  const uint32_t near = heap.bins[row][column];
  if (near && at(near)->size >= size) return near;
  uint32_t columns = heap.columns[row] & (UINT32_C(0xfe) << column);
  if (!columns) {
    const uint32_t rows = heap.rows & (UINT32_C(0xfffffffe) << row);
    if (!rows) return 0;
    row = (uint32_t)__builtin_ctz(rows);
    columns = heap.columns[row];
  }
  return heap.bins[row][__builtin_ctz(columns)];
}

/* Takes size bytes from the beginning of a free block; the rest stays free. */
SB__STRAIGHT void split_block(uint32_t address, uint32_t size) {
  const uint32_t whole = at(address)->size & ~1u;
  remove_block(address);
  at(address)->size = size;
  at(address)->next = 0;
  if (whole == size) return;
  at(address + size)->before = size;
  insert_block(address + size, whole - size);
  set_size_before_next(address + size, whole - size);
}

/* ---- Owners ----
 *
 * Finds the owner of the bytes at an address. A block may have an owner, a struct that starts with a reference count. A
 * bit per UNIT of memory tells where such a block's data begins. Leaves hold the bits for 1 MiB each; further bits tell
 * which words of a leaf, which leaves, and which groups of 64 leaves have any, so that the last one up to an address is
 * found without a loop. A leaf is allocated with the first owner in its part of memory, and never freed. */

typedef struct leaf {
  uint64_t words[4]; /* bit w: units[w] has bits */
  uint64_t units[256];
} leaf;

static struct {
  uint64_t groups;          /* bit g: leaves_of[g] has bits */
  uint64_t leaves_of[64];   /* bit l: leaf 64 g + l has bits */
  uint32_t leaves[64 * 64]; /* addresses; 0: not allocated yet */
} owners;

# define BIT(i) (UINT64_C(1) << ((i)&63))
# define BELOW(i) (BIT(i) - 1)

SB__STRAIGHT leaf *leaf_at(uint32_t l) { return (leaf *)(void *)memory_at(owners.leaves[l]); }

SB__STRAIGHT uint32_t highest(uint64_t bits) { return 63 - (uint32_t)__builtin_clzll(bits); }

SB__STRAIGHT void mark(uint32_t data) {
  const uint32_t unit = data / UNIT, w = unit / 64 % 256, l = unit / 64 / 256;
  leaf *of = leaf_at(l);
  of->units[w] |= BIT(unit);
  of->words[w / 64] |= BIT(w);
  owners.leaves_of[l / 64] |= BIT(l);
  owners.groups |= BIT(l / 64);
}

SB__STRAIGHT void unmark(uint32_t data) {
  const uint32_t unit = data / UNIT, w = unit / 64 % 256, l = unit / 64 / 256;
  leaf *of = leaf_at(l);
  of->units[w] &= ~BIT(unit);
  if (of->units[w]) return;
  of->words[w / 64] &= ~BIT(w);
  if (of->words[0] | of->words[1] | of->words[2] | of->words[3]) return;
  owners.leaves_of[l / 64] &= ~BIT(l);
  if (!owners.leaves_of[l / 64]) owners.groups &= ~BIT(l / 64);
}

/* The last marked unit in a leaf's first `end` words; UINT32_MAX: none. */
SB__STRAIGHT uint32_t last_in(const leaf *of, uint32_t l, uint32_t end) {
  uint32_t i = end / 64;
  uint64_t words = i < 4 ? of->words[i] & BELOW(end) : 0;
  if (!words && i > 0) words = of->words[--i];
  if (!words && i > 0) words = of->words[--i];
  if (!words && i > 0) words = of->words[--i];
  if (!words && i > 0) words = of->words[--i];
  if (!words) return UINT32_MAX;
  const uint32_t w = i * 64 + highest(words);
  return (l * 256 + w) * 64 + highest(of->units[w]);
}

/* Where the last owned data up to an address begins; 0: there is none. */
SB__STRAIGHT uint32_t owned_up_to(uint32_t address) {
  const uint32_t unit = address / UNIT, w = unit / 64 % 256, l = unit / 64 / 256;
  uint32_t found = UINT32_MAX;
  if (owners.leaves[l]) {
    const leaf *of = leaf_at(l);
    const uint64_t units = of->units[w] & (BELOW(unit) | BIT(unit));
    found = units ? unit / 64 * 64 + highest(units) : last_in(of, l, w);
  }
  if (found == UINT32_MAX) {
    uint32_t group = l / 64;
    uint64_t leaves = owners.leaves_of[group] & BELOW(l);
    const uint64_t groups = owners.groups & BELOW(group);
    if (!leaves && groups) leaves = owners.leaves_of[group = highest(groups)];
    const uint32_t before = group * 64 + (leaves ? highest(leaves) : 0);
    if (leaves) found = last_in(leaf_at(before), before, 256);
  }
  return found == UINT32_MAX ? 0 : found * UNIT;
}

/* Extends the heap to `top`, whoever grew the memory. False: it reaches there already. */
static bool extend_heap(uint64_t top) {
  const uint32_t end = (uint32_t)((top - 64) / 64 * 64 + 48);
  sb__lock_take(&heap.lock);
  if (!heap.start) heap.start = heap.end = (memory_base() + HEADER + 63) / 64 * 64 - HEADER;
  const bool more = end > heap.end;
  if (more) {
    const uint32_t address = heap.end;
    at(address)->before = heap.last;
    heap.end = end;
    free_block(address, end - address);
  }
  sb__lock_drop(&heap.lock);
  return more;
}

/* Extends the heap by memory that others have grown, else grows it by the missing bytes or half of what there is, which nothing takes before
 * it is used: each growth empties the typed arrays that programs hold. False: it cannot grow. */
static bool grow_heap(uint32_t missing) {
  const uint64_t there = memory_pages();
  if (extend_heap(there * PAGE)) return true;
  const uint64_t least = (missing + 2 * UNIT + PAGE - 1) / PAGE,
                 half = there / 2 < MOST_GROWN ? there / 2 : MOST_GROWN;
  uint64_t pages = least > half ? least : half, before = memory_grow(pages);
  while (before == UINT64_MAX && pages > least)
    before = memory_grow(pages = pages / 2 > least ? pages / 2 : least);
  if (before == UINT64_MAX) return false;
  extend_heap((before + pages) * PAGE);
  return true;
}

/* Allocates nbytes at a multiple of 64; NULL: no memory. */
static void *allocate(size_t nbytes) {
  if (nbytes > 0x7fffff00u) return NULL;
  const uint32_t size = ((uint32_t)nbytes + HEADER + UNIT - 1) / UNIT * UNIT;
  for (;;) {
    uint32_t tail = 0;
    sb__lock_take(&heap.lock);
    const uint32_t address = find_block(size);
    if (address)
      split_block(address, size);
    else if (heap.last && (at(heap.end - heap.last)->size & 1))
      tail = heap.last;
    sb__lock_drop(&heap.lock);
    if (address) return memory_at(address + HEADER);
    /* A free block at the end that is large enough was not the first of its bin: the extended one will be. */
    if (!grow_heap(tail < size ? size - tail : UNIT)) return NULL;
  }
}

static void release(void *data) {
  const uint32_t address = (uint32_t)((char *)data - memory_at(0)) - HEADER;
  sb__lock_take(&heap.lock);
  if (at(address)->next) unmark(address + HEADER);
  free_block(address, at(address)->size);
  sb__lock_drop(&heap.lock);
}

static void *reallocate(void *data, size_t nbytes) {
  if (!data) return allocate(nbytes);
  const size_t capacity = ((const block *)data)[-1].size - HEADER;
  if (nbytes <= capacity) return data;
  void *moved = allocate(nbytes);
  if (!moved) return NULL;
  memcpy(moved, data, capacity);
  release(data);
  return moved;
}

/* Allocates a leaf unless it exists. False: no memory. */
static bool has_leaf(uint32_t l) {
  sb__lock_take(&heap.lock);
  const bool known = owners.leaves[l] != 0;
  sb__lock_drop(&heap.lock);
  if (known) return true;
  leaf *made = allocate(sizeof *made);
  if (!made) return false;
  memset(made, 0, sizeof *made);
  const uint32_t address = (uint32_t)((char *)made - memory_at(0));
  sb__lock_take(&heap.lock);
  const bool first = !owners.leaves[l];
  if (first) owners.leaves[l] = address;
  sb__lock_drop(&heap.lock);
  if (!first) release(made);
  return true;
}

bool sb__heap_own(void *data, atomic_int_fast64_t *owner) {
  const uint32_t address = (uint32_t)((char *)data - memory_at(0));
  const uint32_t name = (uint32_t)((char *)owner - memory_at(0));
  if (!has_leaf(address / (UNIT * 64 * 256))) return false;
  sb__lock_take(&heap.lock);
  at(address - HEADER)->next = name;
  mark(address);
  sb__lock_drop(&heap.lock);
  return true;
}

atomic_int_fast64_t *sb__heap_owner(uint32_t address) {
  atomic_int_fast64_t *owner = NULL;
  sb__lock_take(&heap.lock);
  const uint32_t data = owned_up_to(address);
  if (data) {
    owner = (atomic_int_fast64_t *)(void *)memory_at(at(data - HEADER)->next);
    if (atomic_fetch_add(owner, 1) <= 0) { /* it is being freed */
      atomic_fetch_sub(owner, 1);
      owner = NULL;
    }
  }
  sb__lock_drop(&heap.lock);
  return owner;
}

# ifndef SB_HEAP_TEST
void *malloc(size_t nbytes) { return allocate(nbytes); }
void free(void *data) {
  if (data) release(data);
}
void *realloc(void *data, size_t nbytes) { return reallocate(data, nbytes); }
void *aligned_alloc(size_t alignment, size_t nbytes) {
  return alignment <= UNIT ? allocate(nbytes) : NULL;
}
# endif
#else
typedef int sb__no_heap; /* a file is not empty */
#endif
