/* Guarded mappings. Windows lets nobody shorten a file that is mapped on the same machine, but a disk or a server may go
 * away: then a read raises an in-page error, and zeros replace the mapping. */
#include "platform/win32.h"

#include <errno.h>
#include <stdlib.h>

/* A guarded mapping. Never freed, only reused: the handler may read any of them at any time. */
typedef struct guard {
  atomic_int fault;            /* first: callers get its address */
  atomic_uint version;         /* a sequence lock: odd while begin and end change */
  atomic_uintptr_t begin, end; /* 0: not in use */
  struct guard *next, *next_free;
} guard;

static _Atomic(guard *) guards; /* the handler takes no lock; writers take guards_lock */
static sb__lock guards_lock;
static guard *unused;
static atomic_int faults;
static void *handler;

enum { PAGE = 4096, GRAIN = 65536 };

/* The whole mapping: a part of one cannot be replaced. Another thread that replaced it a moment ago has done the work. */
static bool map_zeros(uintptr_t at, uintptr_t begin, uintptr_t end) {
  MEMORY_BASIC_INFORMATION view;
  if (!VirtualQuery((void *)at, &view, sizeof view)) return false;
  if (view.Type != MEM_MAPPED) return view.State == MEM_COMMIT;
  return UnmapViewOfFile((void *)begin) &&
         VirtualAlloc((void *)begin, end - begin, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

static bool replace_by_zeros(uintptr_t at) {
  for (guard *g = atomic_load(&guards); g; g = g->next) {
    const unsigned version = atomic_load(&g->version);
    const uintptr_t begin = atomic_load(&g->begin), end = atomic_load(&g->end);
    if (at < begin || at >= end || version % 2 || atomic_load(&g->version) != version) continue;
    atomic_store(&g->fault, 1); /* before the zeros can be read */
    atomic_store(&faults, 1);
    return map_zeros(at, begin, end);
  }
  return false;
}

static LONG WINAPI on_fault(EXCEPTION_POINTERS *what) {
  const EXCEPTION_RECORD *record = what->ExceptionRecord;
  const bool mended = record->ExceptionCode == EXCEPTION_IN_PAGE_ERROR &&
                      record->NumberParameters >= 2 &&
                      replace_by_zeros((uintptr_t)record->ExceptionInformation[1]);
  return mended ? EXCEPTION_CONTINUE_EXECUTION : EXCEPTION_CONTINUE_SEARCH;
}

static void set_range(guard *g, uintptr_t begin, uintptr_t end) {
  atomic_fetch_add(&g->version, 1);
  atomic_store(&g->begin, begin);
  atomic_store(&g->end, end);
  atomic_fetch_add(&g->version, 1);
}

static guard *free_guard(void) {
  guard *g = unused;
  if (g) {
    unused = g->next_free;
    return g;
  }
  g = calloc(1, sizeof *g);
  if (!g) return NULL;
  g->next = atomic_load(&guards);
  atomic_store(&guards, g);
  return g;
}

atomic_int *sb__os_guard(void *data, size_t nbytes, int *error) {
  const uintptr_t at = (uintptr_t)data;
  sb__lock_take(&guards_lock);
  if (!handler) handler = AddVectoredExceptionHandler(1, on_fault);
  guard *g = handler ? free_guard() : NULL;
  if (g) {
    atomic_store(&g->fault, 0);
    set_range(g, at / GRAIN * GRAIN, (at + nbytes + PAGE - 1) / PAGE * PAGE);
  } else {
    *error = ENOMEM;
  }
  sb__lock_drop(&guards_lock);
  return g ? &g->fault : NULL;
}

void sb__os_unguard(atomic_int *fault) {
  sb__lock_take(&guards_lock);
  guard *g = (guard *)fault;
  set_range(g, 0, 0);
  g->next_free = unused;
  unused = g;
  sb__lock_drop(&guards_lock);
}

atomic_int *sb__os_faults(void) { return &faults; }
