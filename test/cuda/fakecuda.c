/* A stand-in for libcuda.so.1 on machines without a GPU, for tests only: the part of the driver API that is used here. Streams are
 * threads, kernels run in the emulator, memory of devices is memory of files without names, so that handles work between
 * processes.
 *
 *   FAKECUDA_DEVICES=n        number of devices (1; with 0 cuInit answers 100)
 *   CUDA_VISIBLE_DEVICES=1,0  as NVIDIA's, numbers alone: a GPU keeps its UUID
 *   FAKECUDA_MEM=bytes        memory of each (1 GiB); beyond it: 2
 *   FAKECUDA_HOST_MEM=bytes   page-locked memory that can be had (4 GiB)
 *   FAKECUDA_VERSION=12040    what cuDriverGetVersion answers (13000)
 *   FAKECUDA_INIT=code        what cuInit answers
 *   FAKECUDA_REJECT_FATBIN=1  machine code is refused with 209
 *   FAKECUDA_FAIL=name:nth:code[,…]  the nth call of that function fails; what is sticky on a GPU is so here. *: of
 *                             any that can fail: what only gives something back does with sticky codes alone
 *   FAKECUDA_PAUSE=path       while that file exists, streams take up no further work
 *
 * A module is accepted when it begins as machine code does, or has ".version" in it (PTX); whatever it says, the kernels
 * that are linked with this file run. Stricter than a driver: what needs a context fails without one, and events and streams of
 * different devices do not go together. Not here: graphs, textures, priorities, the default stream's waits for others. */
#define _GNU_SOURCE
#include "fakecuda.h"

#include <errno.h>
#include <fcntl.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "emu.h"

typedef int Result; /* CUresult */
typedef unsigned long long Address;
#define API __attribute__((visibility("default")))

enum {
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  NO_BINARY_FOR_GPU = 209,
  PEER_NOT_ENABLED = 705,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_OUT_OF_RESOURCES = 701,
  PEER_ALREADY_ENABLED = 704,
  ALREADY_REGISTERED = 712,
  NOT_REGISTERED = 713,
  LAUNCH_FAILED = 719,
  UNKNOWN = 999,
};

#define POINTER(address) ((void *)(uintptr_t)(address))
#define ADDRESS(pointer) ((Address)(uintptr_t)(pointer))
enum { DEVICES = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* over the lists and counters below */
static _Atomic Result sticky;
static atomic_int paused;
static const char *pause_path;
static int is_ready, devices = 1;
static pid_t owner;
static size_t most = (size_t)1 << 30, most_host = (size_t)4 << 30;
static size_t used[DEVICES], used_host;

/* ---- Failures ---- */

typedef struct failure {
  char name[64];
  long nth; /* 0: none */
  Result code;
} failure;

static failure failures[8];

typedef struct counter {
  const char *name; /* without _v2 */
  size_t length;
  int64_t calls;
} counter;

static counter counters[128];
static int64_t all_calls;

static size_t length_of(const char *name) {
  const size_t n = strlen(name);
  return n > 3 && !strcmp(name + n - 3, "_v2") ? n - 3 : n;
}

static void count(const char *name, size_t length) {
  all_calls++;
  for (int i = 0; i < 128; i++) {
    if (!counters[i].name) counters[i] = (counter){name, length, 0};
    if (counters[i].length != length || memcmp(counters[i].name, name, length)) continue;
    counters[i].calls++;
    return;
  }
}

API int64_t fakecuda_calls(const char *name) {
  int64_t calls = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < 128 && counters[i].name; i++) {
    if (counters[i].length == strlen(name) && !memcmp(counters[i].name, name, strlen(name)))
      calls = counters[i].calls;
  }
  if (!strcmp(name, "*")) calls = all_calls;
  pthread_mutex_unlock(&lock);
  return calls;
}

API void fakecuda_fail(const char *text) {
  pthread_mutex_lock(&lock);
  memset(failures, 0, sizeof failures);
  for (int i = 0; i < 8 && text && *text; i++) {
    sscanf(text, "%63[^:]:%ld:%d", failures[i].name, &failures[i].nth, &failures[i].code);
    text = strchr(text, ',');
    if (text) text++;
  }
  pthread_mutex_unlock(&lock);
}

static int is_sticky(Result code) {
  static const int codes[] = {214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 810, UNKNOWN};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    if (codes[i] == code) return 1;
  return 0;
}

/* cuMemFree, cuMemFreeHost, cuMemHostUnregister, cuEventDestroy, …; and what has to come before these. */
static int gives_back(const char *name) {
  return strstr(name, "cuCtxPush") || strstr(name, "Free") || strstr(name, "Unregister") || strstr(name, "Destroy") || strstr(name, "Release");
}

/* What a call of that name has to answer before anything else; 0: it may go on. */
static Result gate(const char *name) {
  Result code = 0;
  const size_t length = length_of(name);
  if (!is_ready || owner != getpid()) return NOT_INITIALIZED;
  pthread_mutex_lock(&lock);
  count(name, length);
  for (int i = 0; i < 8; i++) {
    failure *f = &failures[i];
    const int is_any = !strcmp(f->name, "*") && (is_sticky(f->code) || !gives_back(name));
    const int is_it = is_any || (strlen(f->name) == length && !memcmp(f->name, name, length));
    if (f->nth && is_it && --f->nth == 0) code = f->code;
  }
  pthread_mutex_unlock(&lock);
  if (is_sticky(code)) sticky = code;
  return sticky ? sticky : code;
}

#define GATE                             \
 do {                                    \
  const Result code_ = gate(__func__);   \
  if (code_) return code_;               \
 } while (0)

/* ---- Contexts ---- */

static _Thread_local int stack[16], depth; /* of devices */
static char contexts[DEVICES];
static int retained[DEVICES];

#define GATE_IN_CONTEXT                  \
 GATE;                                   \
 if (!depth) return INVALID_CONTEXT

static int here(void) { return stack[depth - 1]; }

static int device_of(const void *context) {
  const char *c = context;
  return c >= contexts && c < contexts + DEVICES ? (int)(c - contexts) : -1;
}

/* ---- Streams ---- */

/* One recording of an event. */
typedef struct ticket {
  atomic_int references;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int is_done;
  struct timespec at;
} ticket;

typedef struct event {
  int device;
  ticket *latest; /* NULL: not recorded */
  struct event *next;
} event;

static event *events;

typedef enum operation { KERNEL, COPY, SET, HOST, RECORD, WAIT } operation;

typedef struct item {
  operation what;
  struct item *next;
  void *to;
  const void *from;
  size_t n;
  uint32_t value;
  unsigned width;
  void (*function)(void *);
  ticket *ticket;
  emu_kernel *kernel;
  emu_dim grid, block;
  _Alignas(16) char arguments[4096];
} item;

typedef struct stream {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  item *first, *last;
  int device, is_busy, is_gone; /* gone: its thread ends when nothing is left */
  struct stream *next;
} stream;

static stream *streams, *defaults[DEVICES];

static ticket *new_ticket(void) {
  ticket *t = calloc(1, sizeof *t);
  atomic_init(&t->references, 1);
  pthread_mutex_init(&t->lock, NULL);
  pthread_cond_init(&t->changed, NULL);
  return t;
}

static ticket *hold(ticket *t) {
  if (t) atomic_fetch_add(&t->references, 1);
  return t;
}

static void drop(ticket *t) {
  if (t && atomic_fetch_sub(&t->references, 1) == 1) {
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
  }
}

static void wait_for(ticket *t) {
  if (!t) return;
  pthread_mutex_lock(&t->lock);
  while (!t->is_done) pthread_cond_wait(&t->changed, &t->lock);
  pthread_mutex_unlock(&t->lock);
}

static int is_done(ticket *t) {
  if (!t) return 1;
  pthread_mutex_lock(&t->lock);
  const int done = t->is_done;
  pthread_mutex_unlock(&t->lock);
  return done;
}

static int has_bytes(Address at, size_t n);

static void set(const item *i) {
  for (size_t k = 0; k < i->n; k++) memcpy((char *)i->to + k * i->width, &i->value, i->width);
}

static void run_kernel(const item *i) {
  const char *wrong = emu_launch(i->kernel, i->grid, i->block, i->arguments);
  if (!wrong) return;
  fprintf(stderr, "fakecuda: %s\n", wrong);
  sticky = LAUNCH_FAILED;
}

static void run(item *i) {
  switch (i->what) {
    case KERNEL: run_kernel(i); break;
    case COPY: memmove(i->to, i->from, i->n); break;
    case SET: set(i); break;
    case HOST: i->function(i->to); break;
    case RECORD:
      pthread_mutex_lock(&i->ticket->lock);
      clock_gettime(CLOCK_MONOTONIC, &i->ticket->at);
      i->ticket->is_done = 1;
      pthread_cond_broadcast(&i->ticket->changed);
      pthread_mutex_unlock(&i->ticket->lock);
      break;
    case WAIT: wait_for(i->ticket); break;
  }
}

static void wait_while_paused(void) {
  while (atomic_load(&paused) || (pause_path && !access(pause_path, F_OK))) usleep(1000);
}

static void *work(void *given) {
  stream *s = given;
  for (;;) {
    pthread_mutex_lock(&s->lock);
    while (!s->first && !s->is_gone) {
      s->is_busy = 0;
      pthread_cond_broadcast(&s->changed);
      pthread_cond_wait(&s->changed, &s->lock);
    }
    item *i = s->first;
    if (!i) break;
    s->first = i->next;
    if (!s->first) s->last = NULL;
    pthread_mutex_unlock(&s->lock);
    wait_while_paused();
    /* After an error nothing runs, but all is over: events are told. */
    if (!sticky || i->what == RECORD) run(i);
    drop(i->ticket);
    free(i);
  }
  pthread_mutex_unlock(&s->lock);
  free(s);
  return NULL;
}

static stream *new_stream(int device) {
  pthread_t thread;
  stream *s = calloc(1, sizeof *s);
  pthread_mutex_init(&s->lock, NULL);
  pthread_cond_init(&s->changed, NULL);
  s->device = device;
  if (pthread_create(&thread, NULL, work, s)) {
    free(s);
    return NULL;
  }
  pthread_detach(thread);
  pthread_mutex_lock(&lock);
  s->next = streams;
  streams = s;
  pthread_mutex_unlock(&lock);
  return s;
}

/* 0, 1 and 2 are the context's default streams, here one and the same. */
static stream *stream_of(void *handle) {
  static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
  if ((uintptr_t)handle > 2) return handle;
  pthread_mutex_lock(&once);
  if (!defaults[here()]) defaults[here()] = new_stream(here());
  stream *s = defaults[here()];
  pthread_mutex_unlock(&once);
  return s;
}

static void wait_idle(stream *s) {
  pthread_mutex_lock(&s->lock);
  while (s->is_busy || s->first) pthread_cond_wait(&s->changed, &s->lock);
  pthread_mutex_unlock(&s->lock);
}

static Result wait_all(int device) {
  stream *some[256];
  int n = 0;
  pthread_mutex_lock(&lock);
  for (stream *s = streams; s && n < 256; s = s->next)
    if (device < 0 || s->device == device) some[n++] = s;
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < n; i++) wait_idle(some[i]);
  return sticky;
}

static Result put(void *handle, item *i) {
  stream *s = stream_of(handle);
  pthread_mutex_lock(&s->lock);
  i->next = NULL;
  if (s->last)
    s->last->next = i;
  else
    s->first = i;
  s->last = i;
  s->is_busy = 1;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return 0;
}

static item *new_item(operation what) {
  item *i = aligned_alloc(16, sizeof *i);
  memset(i, 0, sizeof *i);
  i->what = what;
  return i;
}

API void fakecuda_pause(int now) { atomic_store(&paused, now); }

/* ---- Start, devices, contexts ---- */

static size_t number(const char *name, size_t otherwise) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 0) : otherwise;
}

/* Which GPU a device is: CUDA_VISIBLE_DEVICES, a list of numbers, leaves some out and orders the others. */
static int gpus[DEVICES];

static void order_devices(const char *list) {
  const int all = devices < DEVICES ? devices : DEVICES;
  for (int i = 0; i < all; i++) gpus[i] = i;
  if (!list) return;
  devices = 0;
  while (*list) {
    char *end;
    const long gpu = strtol(list, &end, 10);
    if (end == list || gpu < 0 || gpu >= all || devices == DEVICES) return; /* the rest is not seen */
    gpus[devices++] = (int)gpu;
    list = *end == ',' ? end + 1 : end;
  }
}

API Result cuInit(unsigned flags) {
  if (flags) return INVALID_VALUE;
  if (is_ready) return owner == getpid() ? 0 : NOT_INITIALIZED;
  const Result code = (Result)number("FAKECUDA_INIT", 0);
  if (code) return code;
  devices = (int)number("FAKECUDA_DEVICES", 1);
  order_devices(getenv("CUDA_VISIBLE_DEVICES"));
  most = number("FAKECUDA_MEM", most);
  most_host = number("FAKECUDA_HOST_MEM", most_host);
  pause_path = getenv("FAKECUDA_PAUSE");
  fakecuda_fail(getenv("FAKECUDA_FAIL"));
  if (devices < 1) return NO_DEVICE;
  if (devices > DEVICES) devices = DEVICES;
  owner = getpid();
  is_ready = 1;
  return 0;
}

API Result cuDriverGetVersion(int *version) {
  *version = (int)number("FAKECUDA_VERSION", 13000);
  return 0;
}

API Result cuDeviceGetCount(int *n) {
  GATE;
  *n = devices;
  return 0;
}

API Result cuDeviceGet(int *device, int index) {
  GATE;
  if (index < 0 || index >= devices) return INVALID_DEVICE;
  *device = index;
  return 0;
}

API Result cuDeviceGetName(char *name, int room, int device) {
  GATE;
  snprintf(name, (size_t)room, "Fake GPU %d (CPU emulation)", device);
  return 0;
}

API Result cuDeviceGetUuid_v2(unsigned char *uuid, int device) {
  GATE;
  for (int i = 0; i < 15; i++) uuid[i] = (unsigned char)(0xFA + 7 * i);
  uuid[15] = (unsigned char)gpus[device];
  return 0;
}

API Result cuDeviceGetAttribute(int *value, int attribute, int device) {
  GATE;
  (void)device;
  switch (attribute) {
    case 75: *value = 9; break;   /* compute capability 9.0 */
    case 76: *value = 0; break;
    case 16: *value = 4; break;   /* multiprocessors */
    case 1: *value = 1024; break; /* threads of a block */
    case 10: *value = 32; break;  /* of a warp */
    case 19:                      /* host memory can be mapped, */
    case 41:                      /* has one address, */
    case 102:                     /* virtual memory management, */
    case 103:                     /* file descriptors of it, */
    case 113: *value = 1; break;  /* memory that is only read can be registered */
    default: *value = 0;
  }
  return 0;
}

API Result cuDeviceTotalMem_v2(size_t *n, int device) {
  GATE;
  (void)device;
  *n = most;
  return 0;
}

API Result cuDeviceCanAccessPeer(int *can, int device, int peer) {
  GATE;
  *can = device != peer;
  return 0;
}

API Result cuCtxEnablePeerAccess(void *context, unsigned flags) {
  static int enabled[DEVICES][DEVICES];
  GATE_IN_CONTEXT;
  const int peer = device_of(context);
  if (peer < 0 || peer == here() || flags) return INVALID_VALUE;
  return enabled[here()][peer]++ ? PEER_ALREADY_ENABLED : 0;
}

API Result cuMemGetInfo_v2(size_t *free_now, size_t *total) {
  GATE_IN_CONTEXT;
  pthread_mutex_lock(&lock);
  *total = most;
  *free_now = most - used[here()];
  pthread_mutex_unlock(&lock);
  return 0;
}

API Result cuDevicePrimaryCtxRetain(void **context, int device) {
  GATE;
  if (device < 0 || device >= devices) return INVALID_DEVICE;
  retained[device]++;
  *context = &contexts[device];
  return 0;
}

API Result cuDevicePrimaryCtxRelease_v2(int device) {
  GATE;
  retained[device]--;
  return 0;
}

API Result cuCtxPushCurrent_v2(void *context) {
  GATE;
  if (depth == 16 || device_of(context) < 0) return INVALID_VALUE;
  stack[depth++] = device_of(context);
  return 0;
}

/* It does not fail: who has to undo something should be able to. */
API Result cuCtxPopCurrent_v2(void **context) {
  if (!depth) return INVALID_CONTEXT;
  depth--;
  if (context) *context = &contexts[stack[depth]];
  return 0;
}

API Result cuCtxGetCurrent(void **context) {
  GATE;
  *context = depth ? &contexts[here()] : NULL;
  return 0;
}

API Result cuCtxSetCurrent(void *context) {
  GATE;
  if (device_of(context) < 0) return INVALID_VALUE;
  if (!depth) depth++;
  stack[depth - 1] = device_of(context);
  return 0;
}

API Result cuCtxSynchronize(void) {
  GATE_IN_CONTEXT;
  return wait_all(here());
}

/* ---- Modules and launches ---- */

API Result cuModuleLoadData(void **module, const void *image) {
  uint32_t word = 0;
  GATE_IN_CONTEXT;
  memcpy(&word, image, sizeof word);
  if (word == 0xBA55ED50u) {
    if (number("FAKECUDA_REJECT_FATBIN", 0)) return NO_BINARY_FOR_GPU;
  } else if (!memmem(image, strnlen(image, 4096), ".version", 8)) {
    return INVALID_IMAGE;
  }
  *module = &contexts[here()];
  return 0;
}

API Result cuModuleGetFunction(void **function, void *module, const char *name) {
  GATE_IN_CONTEXT;
  (void)module;
  *function = emu_find(name);
  return *function ? 0 : NOT_FOUND;
}

API Result cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared, void *handle, void **parameters,
                          void **extra) {
  GATE_IN_CONTEXT;
  emu_kernel *kernel = function;
  (void)shared;
  if (extra || !parameters || kernel->nbytes > sizeof((item *)0)->arguments) return INVALID_VALUE;
  if (!grid_x || !grid_y || !grid_z || grid_x > 0x7fffffff || grid_y > 65535 || grid_z > 65535) return INVALID_VALUE;
  if (!block_x || !block_y || !block_z) return INVALID_VALUE;
  if (block_x * block_y * block_z > kernel->threads) return LAUNCH_OUT_OF_RESOURCES;
  item *i = new_item(KERNEL);
  i->kernel = kernel;
  i->grid = (emu_dim){grid_x, grid_y, grid_z};
  i->block = (emu_dim){block_x, block_y, block_z};
  memcpy(i->arguments, parameters[0], kernel->nbytes);
  return put(handle, i);
}

/* ---- Memory ---- */

typedef enum kind { DEVICE, PAGE_LOCKED, REGISTERED, IMPORTED } kind;

typedef struct allocation {
  char *data;
  size_t n;
  int file, device;
  kind kind;
  struct allocation *next;
} allocation;

static allocation *allocations;

static void add(allocation *a) {
  pthread_mutex_lock(&lock);
  a->next = allocations;
  allocations = a;
  pthread_mutex_unlock(&lock);
}

/* Under the lock. */
static allocation *find(Address at) {
  allocation *a = allocations;
  while (a && (at < ADDRESS(a->data) || at >= ADDRESS(a->data) + a->n)) a = a->next;
  return a;
}

static int charge(int device, size_t n) {
  pthread_mutex_lock(&lock);
  size_t *counted = device < 0 ? &used_host : &used[device];
  const int fits = n <= (device < 0 ? most_host : most) - *counted;
  if (fits) *counted += n;
  pthread_mutex_unlock(&lock);
  return fits;
}

static void uncharge(int device, size_t n) {
  pthread_mutex_lock(&lock);
  *(device < 0 ? &used_host : &used[device]) -= n;
  pthread_mutex_unlock(&lock);
}

static int new_file(size_t n) {
  const int file = memfd_create("fakecuda", MFD_CLOEXEC);
  if (file >= 0 && ftruncate(file, (off_t)n)) {
    close(file);
    return -1;
  }
  return file;
}

static Result allocate(void **out, size_t n, kind what, int device) {
  if (!n) return INVALID_VALUE;
  if (!charge(device, n)) return OUT_OF_MEMORY;
  allocation *a = calloc(1, sizeof *a);
  *a = (allocation){.n = n, .kind = what, .device = device, .file = new_file(n)};
  a->data = a->file < 0 ? MAP_FAILED : mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, a->file, 0);
  if (a->data == MAP_FAILED) {
    if (a->file >= 0) close(a->file);
    uncharge(device, n);
    free(a);
    return OUT_OF_MEMORY;
  }
  memset(a->data, 0xA5, n < (1u << 20) ? n : 1u << 20); /* it never looks zeroed */
  *out = a->data;
  add(a);
  return 0;
}

static Result release(Address at, kind what) {
  pthread_mutex_lock(&lock);
  allocation **place = &allocations;
  while (*place && (ADDRESS((*place)->data) != at || (*place)->kind != what)) place = &(*place)->next;
  allocation *a = *place;
  if (a) *place = a->next;
  pthread_mutex_unlock(&lock);
  if (!a) return what == REGISTERED ? NOT_REGISTERED : INVALID_VALUE;
  if (what != IMPORTED) uncharge(a->device, a->n);
  if (what != REGISTERED) munmap(a->data, a->n);
  if (a->file >= 0) close(a->file);
  free(a);
  return 0;
}

API int64_t fakecuda_device_bytes(void) {
  size_t sum = 0;
  pthread_mutex_lock(&lock);
  for (int i = 0; i < DEVICES; i++) sum += used[i];
  pthread_mutex_unlock(&lock);
  return (int64_t)sum;
}

API int64_t fakecuda_streams(void) {
  int64_t alive = 0;
  pthread_mutex_lock(&lock);
  for (const stream *s = streams; s; s = s->next) alive++;
  pthread_mutex_unlock(&lock);
  return alive;
}

API int64_t fakecuda_host_bytes(void) {
  pthread_mutex_lock(&lock);
  const size_t sum = used_host;
  pthread_mutex_unlock(&lock);
  return (int64_t)sum;
}

API Result cuMemAlloc_v2(Address *out, size_t n) {
  void *data = NULL;
  GATE_IN_CONTEXT;
  const Result result = allocate(&data, n, DEVICE, here());
  if (!result) *out = ADDRESS(data);
  return result;
}

/* As the real one it waits for all work first. */
API Result cuMemFree_v2(Address at) {
  GATE_IN_CONTEXT;
  const Result result = wait_all(-1);
  return result ? result : release(at, DEVICE);
}

API Result cuMemGetAddressRange_v2(Address *base, size_t *n, Address at) {
  GATE_IN_CONTEXT;
  pthread_mutex_lock(&lock);
  const allocation *a = find(at);
  if (a && base) *base = ADDRESS(a->data);
  if (a && n) *n = a->n;
  pthread_mutex_unlock(&lock);
  return a ? 0 : NOT_FOUND;
}

API Result cuMemHostAlloc(void **out, size_t n, unsigned flags) {
  GATE_IN_CONTEXT;
  (void)flags;
  return allocate(out, n, PAGE_LOCKED, -1);
}

API Result cuMemFreeHost(void *data) {
  GATE_IN_CONTEXT;
  const Result result = wait_all(-1);
  return result ? result : release(ADDRESS(data), PAGE_LOCKED);
}

API Result cuMemHostRegister_v2(void *data, size_t n, unsigned flags) {
  GATE_IN_CONTEXT;
  (void)flags;
  if (!n) return INVALID_VALUE;
  if (!charge(-1, n)) return OUT_OF_MEMORY;
  allocation *made = calloc(1, sizeof *made);
  *made = (allocation){.data = data, .n = n, .kind = REGISTERED, .file = -1, .device = -1};
  pthread_mutex_lock(&lock);
  const allocation *a = allocations;
  while (a && !((char *)data < a->data + a->n && a->data < (char *)data + n)) a = a->next;
  if (!a) {
    made->next = allocations;
    allocations = made;
  }
  pthread_mutex_unlock(&lock);
  if (!a) return 0;
  uncharge(-1, n);
  free(made);
  return ALREADY_REGISTERED;
}

API Result cuMemHostUnregister(void *data) {
  GATE_IN_CONTEXT;
  return release(ADDRESS(data), REGISTERED);
}

API Result cuMemHostGetDevicePointer_v2(Address *out, void *data, unsigned flags) {
  GATE_IN_CONTEXT;
  if (flags) return INVALID_VALUE;
  pthread_mutex_lock(&lock);
  const allocation *a = find(ADDRESS(data));
  const int is_host = a && (a->kind == PAGE_LOCKED || a->kind == REGISTERED);
  pthread_mutex_unlock(&lock);
  if (is_host) *out = ADDRESS(data);
  return is_host ? 0 : INVALID_VALUE;
}

static int has_mapping(Address at, size_t n, int *device);

/* Are so many bytes from there on some device's, or page-locked? device: whose; -1: the host's. */
static int knows(Address at, size_t n, int *device) {
  pthread_mutex_lock(&lock);
  const allocation *a = find(at);
  const int known = a && at + n <= ADDRESS(a->data) + a->n;
  if (known) *device = a->device;
  pthread_mutex_unlock(&lock);
  return known || has_mapping(at, n, device);
}

/* Can a device reach them? It sees page-locked memory at the same addresses as the CPU. */
static int has_bytes(Address at, size_t n) {
  int device = -1;
  return knows(at, n, &device);
}

API Result cuPointerGetAttribute(void *out, int attribute, Address at) {
  int device = -1;
  GATE_IN_CONTEXT;
  if (!knows(at, 1, &device)) return INVALID_VALUE;
  if (attribute == 2)
    *(unsigned *)out = device < 0 ? 1 : 2;
  else if (attribute == 9)
    *(int *)out = device < 0 ? 0 : device;
  else
    return INVALID_VALUE;
  return 0;
}

static Result copy(void *to, const void *from, size_t n, void *handle) {
  item *i = new_item(COPY);
  i->to = to;
  i->from = from;
  i->n = n;
  return put(handle, i);
}

static int is_locked(const void *data, size_t n) {
  int device = 0;
  return knows(ADDRESS(data), n, &device) && device < 0;
}

/* As the real one, it is over when it returns if the host's pages may move. */
static Result settle(Result result, const void *host, size_t n, void *handle) {
  if (result || is_locked(host, n)) return result;
  wait_idle(stream_of(handle));
  return sticky;
}

API Result cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t n, void *handle) {
  GATE_IN_CONTEXT;
  if (!has_bytes(to, n)) return INVALID_VALUE;
  return settle(copy(POINTER(to), from, n, handle), from, n, handle);
}

API Result cuMemcpyDtoHAsync_v2(void *to, Address from, size_t n, void *handle) {
  GATE_IN_CONTEXT;
  if (!has_bytes(from, n)) return INVALID_VALUE;
  return settle(copy(to, POINTER(from), n, handle), to, n, handle);
}

API Result cuMemcpyDtoDAsync_v2(Address to, Address from, size_t n, void *handle) {
  GATE_IN_CONTEXT;
  if (!has_bytes(from, n) || !has_bytes(to, n)) return INVALID_VALUE;
  return copy(POINTER(to), POINTER(from), n, handle);
}

API Result cuMemcpyPeerAsync(Address to, void *to_context, Address from, void *from_context, size_t n, void *handle) {
  int target = -1, source = -1;
  GATE_IN_CONTEXT;
  if (!knows(to, n, &target) || !knows(from, n, &source)) return INVALID_VALUE;
  if (device_of(to_context) != target || device_of(from_context) != source) return INVALID_VALUE;
  return copy(POINTER(to), POINTER(from), n, handle);
}

API Result cuMemcpyHtoD_v2(Address to, const void *from, size_t n) {
  GATE_IN_CONTEXT;
  if (!has_bytes(to, n)) return INVALID_VALUE;
  copy(POINTER(to), from, n, NULL);
  wait_idle(stream_of(NULL));
  return sticky;
}

API Result cuMemcpyDtoH_v2(void *to, Address from, size_t n) {
  GATE_IN_CONTEXT;
  if (!has_bytes(from, n)) return INVALID_VALUE;
  copy(to, POINTER(from), n, NULL);
  wait_idle(stream_of(NULL));
  return sticky;
}

static Result fill(Address to, uint32_t value, unsigned width, size_t n, void *handle) {
  if (!has_bytes(to, n * width)) return INVALID_VALUE;
  item *i = new_item(SET);
  i->to = POINTER(to);
  i->value = value;
  i->width = width;
  i->n = n;
  return put(handle, i);
}

API Result cuMemsetD8Async(Address to, unsigned char value, size_t n, void *handle) {
  GATE_IN_CONTEXT;
  return fill(to, value, 1, n, handle);
}

API Result cuMemsetD16Async(Address to, unsigned short value, size_t n, void *handle) {
  GATE_IN_CONTEXT;
  return fill(to, value, 2, n, handle);
}

API Result cuMemsetD32Async(Address to, unsigned value, size_t n, void *handle) {
  GATE_IN_CONTEXT;
  return fill(to, value, 4, n, handle);
}

/* ---- Virtual memory: physical allocations that are mapped, here or in other processes ---- */

typedef struct properties { /* CUmemAllocationProp */
  int type, handle_types, location_type, location;
  void *win32;
  unsigned char flags[8];
} properties;

typedef struct access { /* CUmemAccessDesc */
  int location_type, location, flags;
} access_right;

typedef struct physical { /* freed with its last handle and mapping */
  int file, references, is_mine, is_exportable, device;
  size_t n;
} physical;

typedef struct mapping {
  char *data;
  size_t n;
  physical *physical;
  struct mapping *next;
} mapping;

static mapping *mappings;
static const size_t granule = (size_t)2 << 20;

static int has_mapping(Address at, size_t n, int *device) {
  pthread_mutex_lock(&lock);
  const mapping *m = mappings;
  while (m && (at < ADDRESS(m->data) || at + n > ADDRESS(m->data) + m->n)) m = m->next;
  if (m) *device = m->physical->device;
  pthread_mutex_unlock(&lock);
  return m != NULL;
}

static void put_physical(physical *p) {
  pthread_mutex_lock(&lock);
  const int is_last = --p->references == 0;
  pthread_mutex_unlock(&lock);
  if (!is_last) return;
  if (p->is_mine) uncharge(p->device, p->n);
  close(p->file);
  free(p);
}

API Result cuMemGetAllocationGranularity(size_t *out, const properties *p, int option) {
  GATE;
  (void)p;
  (void)option;
  *out = granule;
  return 0;
}

API Result cuMemCreate(Address *handle, size_t n, const properties *p, Address flags) {
  GATE;
  if (!n || n % granule || p->type != 1 || p->location_type != 1 || flags) return INVALID_VALUE;
  if (p->location < 0 || p->location >= devices) return INVALID_DEVICE;
  if (!charge(p->location, n)) return OUT_OF_MEMORY;
  physical *made = calloc(1, sizeof *made);
  *made = (physical){new_file(n), 1, 1, p->handle_types & 1, p->location, n};
  *handle = ADDRESS(made);
  return 0;
}

API Result cuMemRelease(Address handle) {
  GATE;
  put_physical(POINTER(handle));
  return 0;
}

API Result cuMemAddressReserve(Address *out, size_t n, size_t alignment, Address wanted, Address flags) {
  GATE;
  (void)alignment;
  (void)wanted;
  if (!n || n % granule || flags) return INVALID_VALUE;
  void *data = mmap(NULL, n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) return OUT_OF_MEMORY;
  *out = ADDRESS(data);
  return 0;
}

API Result cuMemAddressFree(Address at, size_t n) {
  GATE;
  return munmap(POINTER(at), n) ? INVALID_VALUE : 0;
}

API Result cuMemMap(Address at, size_t n, size_t offset, Address handle, Address flags) {
  GATE;
  physical *p = POINTER(handle);
  if (offset || flags || n != p->n) return INVALID_VALUE;
  if (mmap(POINTER(at), n, PROT_NONE, MAP_SHARED | MAP_FIXED, p->file, 0) == MAP_FAILED) return INVALID_VALUE;
  mapping *m = calloc(1, sizeof *m);
  *m = (mapping){POINTER(at), n, p, NULL};
  pthread_mutex_lock(&lock);
  p->references++;
  m->next = mappings;
  mappings = m;
  pthread_mutex_unlock(&lock);
  return 0;
}

API Result cuMemSetAccess(Address at, size_t n, const access_right *rights, size_t count_of_rights) {
  GATE;
  if (count_of_rights != 1 || rights->location_type != 1) return INVALID_VALUE;
  const int protection = rights->flags == 3   ? PROT_READ | PROT_WRITE
                         : rights->flags == 1 ? PROT_READ
                                              : PROT_NONE;
  return mprotect(POINTER(at), n, protection) ? INVALID_VALUE : 0;
}

API Result cuMemUnmap(Address at, size_t n) {
  GATE;
  const Result result = wait_all(-1);
  if (result) return result;
  pthread_mutex_lock(&lock);
  mapping **place = &mappings;
  while (*place && ((*place)->data != POINTER(at) || (*place)->n != n)) place = &(*place)->next;
  mapping *m = *place;
  if (m) *place = m->next;
  pthread_mutex_unlock(&lock);
  if (!m) return INVALID_VALUE;
  mmap(POINTER(at), n, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  put_physical(m->physical);
  free(m);
  return 0;
}

API Result cuMemExportToShareableHandle(void *out, Address handle, int type, Address flags) {
  GATE;
  physical *p = POINTER(handle);
  if (type != 1 || flags || !p->is_exportable) return INVALID_VALUE;
  const int file = fcntl(p->file, F_DUPFD_CLOEXEC, 3);
  if (file < 0) return UNKNOWN;
  *(int *)out = file;
  return 0;
}

/* A file says nothing of its device: the first one. */
API Result cuMemImportFromShareableHandle(Address *handle, void *given, int type) {
  struct stat about;
  GATE;
  const int file = (int)(intptr_t)given;
  if (type != 1 || fstat(file, &about) || !about.st_size || (size_t)about.st_size % granule) return INVALID_VALUE;
  physical *made = calloc(1, sizeof *made);
  *made = (physical){fcntl(file, F_DUPFD_CLOEXEC, 3), 1, 0, 1, depth ? here() : 0, (size_t)about.st_size};
  *handle = ADDRESS(made);
  return 0;
}

/* ---- Legacy IPC: the handle holds process, descriptor and size ---- */

typedef struct ipc {
  char bytes[64];
} ipc;

API Result cuIpcGetMemHandle(ipc *out, Address at) {
  GATE_IN_CONTEXT;
  pthread_mutex_lock(&lock);
  const allocation *a = find(at);
  const uint64_t words[3] = {(uint64_t)getpid(), a ? (uint64_t)a->file : 0, a ? a->n : 0};
  const int is_ours = a && a->kind == DEVICE;
  pthread_mutex_unlock(&lock);
  if (!is_ours) return INVALID_VALUE; /* also for what was mapped with cuMemMap, as on a GPU */
  memset(out, 0, sizeof *out);
  memcpy(out, words, sizeof words);
  return 0;
}

API Result cuIpcOpenMemHandle_v2(Address *out, ipc handle, unsigned flags) {
  uint64_t words[3];
  char path[64];
  GATE_IN_CONTEXT;
  memcpy(words, handle.bytes, sizeof words);
  if (flags != 1) return INVALID_VALUE;
  if ((pid_t)words[0] == getpid()) return INVALID_CONTEXT; /* refused where it was exported */
  snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)words[0], (int)words[1]);
  const int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return INVALID_HANDLE;
  void *data = mmap(NULL, words[2], PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) {
    close(file);
    return INVALID_HANDLE;
  }
  allocation *a = calloc(1, sizeof *a);
  *a = (allocation){.data = data, .n = words[2], .file = file, .kind = IMPORTED, .device = here()};
  add(a);
  *out = ADDRESS(data);
  return 0;
}

API Result cuIpcCloseMemHandle(Address at) {
  GATE_IN_CONTEXT;
  const Result result = wait_all(-1);
  return result ? result : release(at, IMPORTED);
}

/* ---- Streams and events ---- */

API Result cuStreamCreate(void **out, unsigned flags) {
  GATE_IN_CONTEXT;
  if (flags > 1) return INVALID_VALUE;
  *out = new_stream(here());
  return *out ? 0 : OUT_OF_MEMORY;
}

API Result cuStreamDestroy_v2(void *handle) {
  GATE;
  stream *s = handle;
  pthread_mutex_lock(&lock);
  stream **place = &streams;
  while (*place && *place != s) place = &(*place)->next;
  const int known = *place != NULL;
  if (known) *place = s->next;
  pthread_mutex_unlock(&lock);
  if (!known) return INVALID_HANDLE;
  pthread_mutex_lock(&s->lock); /* its thread does what is left, and frees it */
  s->is_gone = 1;
  pthread_cond_broadcast(&s->changed);
  pthread_mutex_unlock(&s->lock);
  return 0;
}

API Result cuStreamQuery(void *handle) {
  GATE_IN_CONTEXT;
  stream *s = stream_of(handle);
  pthread_mutex_lock(&s->lock);
  const int busy = s->is_busy || s->first;
  pthread_mutex_unlock(&s->lock);
  return busy ? NOT_READY : 0;
}

API Result cuStreamSynchronize(void *handle) {
  GATE_IN_CONTEXT;
  wait_idle(stream_of(handle));
  return sticky;
}

API Result cuLaunchHostFunc(void *handle, void (*function)(void *), void *context) {
  GATE_IN_CONTEXT;
  item *i = new_item(HOST);
  i->function = function;
  i->to = context;
  return put(handle, i);
}

API Result cuEventCreate(void **out, unsigned flags) {
  GATE_IN_CONTEXT;
  (void)flags;
  event *e = calloc(1, sizeof *e);
  e->device = here();
  pthread_mutex_lock(&lock);
  e->next = events;
  events = e;
  pthread_mutex_unlock(&lock);
  *out = e;
  return 0;
}

/* As the real one it may be called before the event is over. */
API Result cuEventDestroy_v2(void *handle) {
  GATE_IN_CONTEXT;
  event *e = handle;
  pthread_mutex_lock(&lock);
  event **place = &events;
  while (*place && *place != e) place = &(*place)->next;
  const int known = *place != NULL;
  if (known) {
    *place = e->next;
    drop(e->latest);
  }
  pthread_mutex_unlock(&lock);
  if (!known) return INVALID_HANDLE;
  free(e);
  return 0;
}

API Result cuEventRecord(void *handle, void *where) {
  GATE_IN_CONTEXT;
  event *e = handle;
  if (stream_of(where)->device != e->device) return INVALID_HANDLE;
  item *i = new_item(RECORD);
  i->ticket = new_ticket();
  pthread_mutex_lock(&lock);
  drop(e->latest);
  e->latest = hold(i->ticket);
  pthread_mutex_unlock(&lock);
  return put(where, i);
}

API int64_t fakecuda_events(void) {
  int64_t alive = 0;
  pthread_mutex_lock(&lock);
  for (const event *e = events; e; e = e->next) alive++;
  pthread_mutex_unlock(&lock);
  return alive;
}

static ticket *latest_of(void *handle) {
  event *e = handle;
  pthread_mutex_lock(&lock);
  ticket *t = hold(e->latest);
  pthread_mutex_unlock(&lock);
  return t;
}

API Result cuEventQuery(void *handle) {
  GATE_IN_CONTEXT;
  ticket *t = latest_of(handle);
  const int done = is_done(t);
  drop(t);
  return done ? sticky : NOT_READY;
}

API Result cuEventSynchronize(void *handle) {
  GATE_IN_CONTEXT;
  ticket *t = latest_of(handle);
  wait_for(t);
  drop(t);
  return sticky;
}

/* Waits for what the event has recorded by now, whatever it records later. */
API Result cuStreamWaitEvent(void *where, void *handle, unsigned flags) {
  GATE_IN_CONTEXT;
  (void)flags;
  item *i = new_item(WAIT);
  i->ticket = latest_of(handle);
  return put(where, i);
}

API Result cuEventElapsedTime(float *milliseconds, void *from, void *to) {
  GATE_IN_CONTEXT;
  ticket *a = latest_of(from), *b = latest_of(to);
  const Result result = !a || !b ? INVALID_HANDLE : is_done(a) && is_done(b) ? 0 : NOT_READY;
  if (!result) {
    *milliseconds = (float)((double)(b->at.tv_sec - a->at.tv_sec) * 1e3 + (double)(b->at.tv_nsec - a->at.tv_nsec) * 1e-6);
  }
  drop(a);
  drop(b);
  return result;
}

/* ---- Names ---- */

API Result cuGetErrorName(Result result, const char **out) {
  (void)result;
  *out = "CUDA_ERROR_OF_THE_FAKE_DRIVER";
  return 0;
}

/* The 4 arguments of CUDA 11.3. Which functions have another version by now is seen by their symbols. */
API Result cuGetProcAddress(const char *name, void **out, int version, uint64_t flags) {
  Dl_info info;
  char second[80];
  int have = 0;
  (void)flags;
  (void)cuDriverGetVersion(&have);
  *out = NULL;
  if (version > have) return INVALID_VALUE;
  void *library = dladdr((void *)(uintptr_t)cuInit, &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
  if (!library) return UNKNOWN;
  snprintf(second, sizeof second, "%s_v2", name);
  *out = dlsym(library, second);
  if (!*out) *out = dlsym(library, name);
  dlclose(library);
  return *out ? 0 : NOT_FOUND;
}
