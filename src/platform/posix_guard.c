/* Mappings whose faults are caught: a handler of SIGBUS gives zeros for the bytes that a shortened file has lost. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "platform/platform.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A mapping whose faults are caught. Never freed but used again: the handler may look at any at any time. */
typedef struct guard {
  atomic_int fault;            /* first: what others know of it */
  atomic_uint version;         /* odd while begin and end change */
  atomic_uintptr_t begin, end; /* whole pages; 0: free */
  struct guard *next, *next_free;
} guard;

static _Atomic(guard *) guards; /* the handler takes no lock; who changes anything has this one: */
static sb__lock guards_lock;
static guard *unused;
static atomic_int faults; /* there were some */
static bool is_installed;
static uintptr_t page_size; /* what the handler needs of the system, asked beforehand */
static struct sigaction previous_handler; /* whose handler was there */

/* In the handler. The tail goes with the page: bytes beyond a file's new end are missing as well, and a mapping for each
 * page might be more than the system allows. */
static bool replace_by_zeros(uintptr_t at) {
  for (guard *g = atomic_load(&guards); g; g = g->next) {
    const unsigned version = atomic_load(&g->version);
    const uintptr_t begin = atomic_load(&g->begin), end = atomic_load(&g->end);
    if (at < begin || at >= end || version % 2 || atomic_load(&g->version) != version) continue;
    const uintptr_t from = at - at % page_size;
    atomic_store(&g->fault, 1); /* before the zeros: who read them finds it */
    atomic_store(&faults, 1);
    return mmap((void *)from, end - from, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
  }
  return false;
}

static bool is_file_fault(const siginfo_t *info) {
#if defined(BUS_MCEERR_AR)
  if (info->si_code == BUS_MCEERR_AR || info->si_code == BUS_MCEERR_AO)
    return false; /* memory that broke */
#endif
  return info->si_code > 0; /* else somebody sent it */
}

/* As if ours were not there. */
static void call_previous_handler(int number, siginfo_t *info, void *context) {
  const struct sigaction *before = &previous_handler;
  const bool sent = info->si_code <= 0;
  if (before->sa_handler == SIG_IGN && sent) return;
  if (before->sa_handler == SIG_DFL || before->sa_handler == SIG_IGN) {
    struct sigaction plain;
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    (void)sigaction(number, &plain, NULL); /* a fault comes again when we return */
    if (sent) (void)raise(number);
  } else if (before->sa_flags & SA_SIGINFO) {
    before->sa_sigaction(number, info, context);
  } else {
    before->sa_handler(number);
  }
}

static void on_fault(int number, siginfo_t *info, void *context) {
  const int error = errno;
  const bool mended = is_file_fault(info) && replace_by_zeros((uintptr_t)info->si_addr);
  errno = error;
  if (!mended) call_previous_handler(number, info, context);
}

static int install_handler(void) {
  struct sigaction now, ours;
  memset(&ours, 0, sizeof ours);
  if (sigaction(SIGBUS, NULL, &now)) return errno;
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_fault) return 0;
  /* A later handler may go on to ours or not. Before it, ours would go on to it: in circles, perhaps. */
  if (is_installed && now.sa_handler != SIG_DFL && now.sa_handler != SIG_IGN) return EBUSY;
  page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
  previous_handler = now;
  ours.sa_sigaction = on_fault;
  ours.sa_mask = now.sa_mask;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (now.sa_flags & (SA_RESTART | SA_NODEFER));
  if (sigaction(SIGBUS, &ours, NULL)) return errno;
  is_installed = true;
  return 0;
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
  guard *g = NULL;
  sb__lock_take(&guards_lock);
  *error = install_handler();
  if (!*error) {
    g = free_guard();
    if (!g) *error = ENOMEM;
  }
  if (g) {
    atomic_store(&g->fault, 0);
    set_range(g, at - at % page_size, (at + nbytes + page_size - 1) / page_size * page_size);
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
