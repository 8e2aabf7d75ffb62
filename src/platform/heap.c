/* The heap of the module that threads share. A worker can be terminated at any time, and engines do that where a
 * loop begins or a function is entered, nowhere else. So what is done under the lock is a straight line, without
 * loops or calls: nobody ever ends while holding it, and no thread waits for a dead one. wasm/straight.mjs
 * looks at the module for that.
 *
 * Blocks lie side by side from `start` to `end`, each with a header; what users get is a multiple of 64. Free
 * neighbours are merged at once. Free blocks are listed by size, in eight bins for each power of two, and bits say which
 * bins are not empty, so that one is found without a loop ("TLSF", Masmano et al., 2004). */
#if defined(__wasm_atomics__) || defined(SB_HEAP_TEST)
# include <stdlib.h>
# include <string.h>

# include "platform/platform.h"

# define PAGE UINT64_C(65536)
# define UNIT 64u
# define HEADER ((uint32_t)sizeof(block))
# define ROWS 24

# ifdef SB_HEAP_TEST /* the test includes this file, and has the functions */
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

/* The pages there were before; UINT64_MAX: there are no more. */
static uint64_t memory_grow(uint64_t pages) {
  const size_t before = __builtin_wasm_memory_grow(0, (size_t)pages);
  if (before == SIZE_MAX) return UINT64_MAX;
  emscripten_notify_memory_growth(0);
  return before;
}
# endif

/* Addresses are 16 below a multiple of 64. */
typedef struct block {
  uint32_t size;           /* bytes, with this header; bit 0: it is free */
  uint32_t before;         /* size of the block before this one; 0: there is none */
  uint32_t next, previous; /* addresses, of the same bin, of a free block; 0: none */
} block;

static struct {
  sb__lock lock;
  uint32_t start,
      end; /* addresses of the first block and after the last one; 0: nothing was asked for yet */
  uint32_t last; /* size of the last block; 0: there is none */
  uint32_t rows; /* bit r: row r has a block */
  uint8_t columns[ROWS];
  uint32_t bins[ROWS][8]; /* addresses of the first of each */
} heap;

SB__STRAIGHT block *at(uint32_t address) { return (block *)(void *)memory_at(address); }

/* Eight bins for each power of two of units; the first row has one for each number. */
SB__STRAIGHT void bin_of(uint32_t units, uint32_t *row, uint32_t *column) {
  const uint32_t power = 31 - (uint32_t)__builtin_clz(units | 4);
  *row = units < 8 ? 0 : power - 2;
  *column = units < 8 ? units : units >> (power - 3) & 7;
}

SB__STRAIGHT void insert(uint32_t address, uint32_t size) {
  uint32_t row, column;
  bin_of(size / UNIT, &row, &column);
  const uint32_t next = heap.bins[row][column];
  *at(address) = (block){size | 1, at(address)->before, next, 0};
  if (next) at(next)->previous = address;
  heap.bins[row][column] = address;
  heap.columns[row] |= (uint8_t)(1u << column);
  heap.rows |= 1u << row;
}

SB__STRAIGHT void take_out(uint32_t address) {
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

/* What comes after the block learns its size. */
SB__STRAIGHT void tell_next(uint32_t address, uint32_t size) {
  if (address + size == heap.end)
    heap.last = size;
  else
    at(address + size)->before = size;
}

/* A block that is in use or new becomes free, together with free neighbours. */
SB__STRAIGHT void put_back(uint32_t address, uint32_t size) {
  const uint32_t next = address + size, before = at(address)->before;
  if (next != heap.end && (at(next)->size & 1)) {
    size += at(next)->size & ~1u;
    take_out(next);
  }
  if (before && (at(address - before)->size & 1)) {
    take_out(address - before);
    address -= before;
    size += before;
  }
  insert(address, size);
  tell_next(address, size);
}

/* A free block of at least size bytes; 0: there is none. The first of its own bin may be too small, all of the
 * bins above are large enough. */
SB__STRAIGHT uint32_t find(uint32_t size) {
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

/* Cuts size bytes from a free block; what is left stays free. */
SB__STRAIGHT void cut(uint32_t address, uint32_t size) {
  const uint32_t whole = at(address)->size & ~1u;
  take_out(address);
  at(address)->size = size;
  if (whole == size) return;
  at(address + size)->before = size;
  insert(address + size, whole - size);
  tell_next(address + size, whole - size);
}

/* Takes memory up to `top` in, whoever made it grow. False: there was none. */
static bool extend(uint64_t top) {
  const uint32_t end = (uint32_t)((top - 64) / 64 * 64 + 48);
  sb__lock_take(&heap.lock);
  if (!heap.start) heap.start = heap.end = (memory_base() + HEADER + 63) / 64 * 64 - HEADER;
  const bool more = end > heap.end;
  if (more) {
    const uint32_t address = heap.end;
    at(address)->before = heap.last;
    heap.end = end;
    put_back(address, end - address);
  }
  sb__lock_drop(&heap.lock);
  return more;
}

/* Makes the heap larger by missing bytes, or by what memory is larger already. False: it is as large as it may be. */
static bool grow(uint32_t missing) {
  if (extend(memory_pages() * PAGE)) return true;
  const uint64_t pages = (missing + 2 * UNIT + PAGE - 1) / PAGE, before = memory_grow(pages);
  if (before == UINT64_MAX) return false;
  extend((before + pages) * PAGE);
  return true;
}

/* nbytes at a multiple of 64, or NULL. */
static void *allocate(size_t nbytes) {
  if (nbytes > 0x7fffff00u) return NULL;
  const uint32_t size = ((uint32_t)nbytes + HEADER + UNIT - 1) / UNIT * UNIT;
  for (;;) {
    uint32_t tail = 0;
    sb__lock_take(&heap.lock);
    const uint32_t address = find(size);
    if (address)
      cut(address, size);
    else if (heap.last && (at(heap.end - heap.last)->size & 1))
      tail = heap.last;
    sb__lock_drop(&heap.lock);
    if (address) return memory_at(address + HEADER);
    /* A tail that is large enough is not the first of its bin: the new end will be. */
    if (!grow(tail < size ? size - tail : UNIT)) return NULL;
  }
}

static void release(void *data) {
  const uint32_t address = (uint32_t)((char *)data - memory_at(0)) - HEADER;
  sb__lock_take(&heap.lock);
  put_back(address, at(address)->size);
  sb__lock_drop(&heap.lock);
}

static void *reallocate(void *data, size_t nbytes) {
  if (!data) return allocate(nbytes);
  const size_t room = ((const block *)data)[-1].size - HEADER;
  if (nbytes <= room) return data;
  void *moved = allocate(nbytes);
  if (!moved) return NULL;
  memcpy(moved, data, room);
  release(data);
  return moved;
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
