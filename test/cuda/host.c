/* The host side of CUDA against the fake driver, whose library the environment variable FAKECUDA names. Each test is a
 * process of its own, because a driver is loaded once in a process. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../c/check.h"
#include "cuda/internal.h"
#include "fakecuda.h"
#include "ipc/futex.h"
#include "ipc/transfer.h"
#include "ipc/ring.h"

/* What a thread that just begins has of the sanitizer's own. */
const char *__lsan_default_suppressions(void) { return "leak:pthread_getattr_np"; }

/* ---- What the fake driver can be asked ---- */

static void (*fake_fail)(const char *text);
static void (*fake_pause)(int paused);
static int64_t (*fake_calls)(const char *name), (*fake_device_bytes)(void),
    (*fake_host_bytes)(void);
static int64_t (*fake_streams)(void), (*fake_events)(void);

static void put(void *place, const char *name) {
  static void *library;
  if (!library) library = dlopen(getenv("FAKECUDA"), RTLD_NOW | RTLD_LOCAL);
  void *address = library ? dlsym(library, name) : NULL;
  if (!address) {
    printf("not ok - the fake driver has no %s\n", name);
    exit(1);
  }
  memcpy(place, &address, sizeof address);
}

static void ask_the_fake(void) {
  put(&fake_fail, "fakecuda_fail");
  put(&fake_pause, "fakecuda_pause");
  put(&fake_calls, "fakecuda_calls");
  put(&fake_device_bytes, "fakecuda_device_bytes");
  put(&fake_host_bytes, "fakecuda_host_bytes");
  put(&fake_streams, "fakecuda_streams");
  put(&fake_events, "fakecuda_events");
}

/* Runs a test in a child, with variables "NAME=value …" of the environment. */
static int children_failed;

static void apart(const char *name, const char *variables, void (*run)(void)) {
  char text[512];
  int status = 0;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    setenv("SAMEBYTES_LIBCUDA", getenv("FAKECUDA"), 1);
    snprintf(text, sizeof text, "%s", variables);
    for (char *at = strtok(text, " "); at; at = strtok(NULL, " ")) {
      char *equals = strchr(at, '=');
      *equals = 0;
      if (equals[1])
        setenv(at, equals + 1, 1);
      else
        unsetenv(at);
    }
    ask_the_fake();
    test(name, run);
    exit(done()); /* with what a leak check says */
  }
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
      WEXITSTATUS(status) > 1) {
    printf("not ok - %s ended with status 0x%x\n", name, status);
    children_failed++;
  } else {
    children_failed += WEXITSTATUS(status);
  }
}

static bool says(const char *words) {
  const bool found = strstr(sb_error_message(), words) != NULL;
  if (!found) printf("  it says: %s\n", sb_error_message());
  return found;
}

/* ---- Helpers ---- */

static sb_status on_device(int64_t device, sb_dtype dtype, int32_t ndim, const int64_t *shape,
                           sb_tensor *out) {
  sb_tensor made;
  sb_status status = sb_tensor_init(NULL, dtype, ndim, shape, NULL, 0, &made);
  if (!status)
    status = sb__cuda_storage_new(device, (size_t)sb_tensor_nbytes(&made), NULL, &made.storage);
  if (!status) sb_tensor_copy_layout(&made, out);
  return status;
}

static void count_up(const sb_tensor *t) {
  EQ(sb_arange(t, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 0},
               &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 1}),
     SB_OK);
}

static bool are_equal(const sb_tensor *a, const sb_tensor *b) {
  bool equal = false;
  EQ(sb_array_equal(a, b, true, &equal), SB_OK);
  return equal;
}

/* ---- Loading ---- */

static void no_driver(void) {
  int n = -1;
  EQ(sb__cuda_count(&n), SB_ERR_DEVICE);
  CHECK(says("cannot be opened"));
  CHECK(strstr(sb__cuda_why_not(), "SAMEBYTES_LIBCUDA"));
  sb_storage *storage = NULL;
  EQ(sb__cuda_storage_new(0, 16, NULL, &storage), SB_ERR_DEVICE);
  EQ(sb__cuda_pinned_new(16, &storage), SB_ERR_DEVICE);
  CHECK(!storage);
}

static void not_a_driver(void) {
  int n = -1;
  EQ(sb__cuda_count(&n), SB_ERR_DEVICE);
  CHECK(says("has no cuInit"));
}

static void stub(void) {
  EQ(sb__cuda_load(), SB_ERR_DEVICE);
  CHECK(says("stub"));
  EQ(sb__cuda_load(), SB_ERR_DEVICE);
}

static void differs(void) {
  EQ(sb__cuda_load(), SB_ERR_DEVICE);
  CHECK(says("driver and driver library differ"));
}

static void forward(void) {
  EQ(sb__cuda_load(), SB_ERR_DEVICE);
  CHECK(says("forward compatibility"));
}

static void too_old(void) {
  EQ(sb__cuda_load(), SB_ERR_DEVICE);
  CHECK(says("too old"));
  CHECK(says("9.2"));
}

static void no_device(void) {
  EQ(sb__cuda_load(), SB_ERR_DEVICE);
  CHECK(says("no CUDA device"));
}

static void wrong_index(void) {
  sb__cuda_properties p;
  sb_storage *storage = NULL;
  sb__cuda_stream *stream = NULL;
  const int64_t wrong[] = {2, -1, INT64_MAX, INT64_MIN};
  for (int i = 0; i < 4; i++) {
    EQ(sb__cuda_properties_of(wrong[i], &p), SB_ERR_DEVICE);
    CHECK(says("cuda:0 to cuda:1"));
    EQ(sb__cuda_storage_new(wrong[i], 16, NULL, &storage), SB_ERR_DEVICE);
    EQ(sb__cuda_stream_new(wrong[i], &stream), SB_ERR_DEVICE);
    EQ(sb__cuda_synchronize(wrong[i]), SB_ERR_DEVICE);
  }
  EQ(sb__cuda_properties_of(1, &p), SB_OK);
  CHECK(!strcmp(p.name, "Fake GPU 1 (CPU emulation)"));
  EQ(p.major, 9);
  EQ(p.total, INT64_C(1) << 30);
  EQ(p.free_now, -1); /* asking makes no context */
  CHECK(p.has_uuid && p.shares_by_descriptor);
}

/* ---- Copies ---- */

/* To the device and back: pageable (longer than the blocks it goes through), page-locked, a view, nothing. */
static void there_and_back(void) {
  sb_tensor a, b, there, part;
  const int64_t sizes[] = {1, 1000, (INT64_C(8) << 20) + 24, INT64_C(27) << 20};
  for (int i = 0; i < 4; i++) {
    EQ(sb_tensor_empty(SB_UINT8, DIMS(sizes[i]), &a), SB_OK);
    EQ(sb_tensor_empty(SB_UINT8, DIMS(sizes[i]), &b), SB_OK);
    for (int64_t k = 0; k < sizes[i]; k++)
      ((uint8_t *)a.storage->data)[k] = (uint8_t)(k * 7 + k / 1000);
    EQ(on_device(0, SB_UINT8, DIMS(sizes[i]), &there), SB_OK);
    EQ(sb_copy(&there, &a, SB_CASTING_SAFE, NULL), SB_OK);
    memset(b.storage->data, 0, (size_t)sizes[i]);
    EQ(sb_copy(&b, &there, SB_CASTING_SAFE, NULL), SB_OK);
    CHECK(are_equal(&a, &b));
    sb_tensor_release(&there);
    sb_tensor_release(&a);
    sb_tensor_release(&b);
  }
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(10), &a), SB_OK);
  count_up(&a);
  EQ(on_device(0, SB_FLOAT32, DIMS(10), &there), SB_OK);
  EQ(sb_copy(&there, &a, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(sb_narrow(&there, 0, 3, 4, &part), SB_OK);
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(4), &b), SB_OK);
  EQ(sb_copy(&b, &part, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(((float *)b.storage->data)[0], 3);
  EQ(((float *)b.storage->data)[3], 6);
  sb_tensor_release(&there);
  sb_tensor_release(&a);
  sb_tensor_release(&b);
  EQ(sb__cuda_empty_cache(-1), SB_OK);
  EQ(sb__cuda_empty_pinned(), SB_OK);
  EQ(fake_device_bytes(), 0);
  EQ(fake_host_bytes(), 0);
}

static void pinned(void) {
  sb_storage *storage = NULL;
  sb_tensor host, there, back;
  CUdeviceptr address = 0;
  EQ(sb__cuda_pinned_new(5000 * 4, &storage), SB_OK);
  EQ(storage->kind, SB__STORAGE_PAGE_LOCKED);
  EQ(sb__storage_totals_now().pinned_bytes, 20000);
  EQ(sb_tensor_init(storage, SB_FLOAT32, DIMS(5000), NULL, 0, &host), SB_OK);
  count_up(&host);
  EQ(sb__cuda_device_address(storage, 0, &address), SB_OK);
  CHECK(address == (CUdeviceptr)(uintptr_t)storage->data);
  EQ(on_device(0, SB_FLOAT32, DIMS(5000), &there), SB_OK);
  const int64_t calls = fake_calls("cuMemHostAlloc");
  EQ(sb_copy(&there, &host, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(fake_calls("cuMemHostAlloc"), calls); /* no block in between */
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(5000), &back), SB_OK);
  EQ(sb_copy(&back, &there, SB_CASTING_SAFE, NULL), SB_OK);
  CHECK(are_equal(&back, &host));
  sb_tensor_release(&there);
  sb_tensor_release(&back);
  sb_storage_unref(&storage);
  EQ(sb__storage_totals_now().pinned_bytes, 0);
  /* What came back is given out again. */
  const int64_t before = fake_calls("cuMemHostAlloc");
  EQ(sb__cuda_pinned_new(20001, &storage), SB_OK);
  EQ(fake_calls("cuMemHostAlloc"), before);
  sb_storage_unref(&storage);
  EQ(sb__cuda_pinned_new(0, &storage), SB_OK);
  CHECK(!storage->data);
  sb_storage_unref(&storage);
  EQ(sb__cuda_empty_pinned(), SB_OK);
  EQ(fake_host_bytes(), 0);
}

/* ---- Memory ---- */

static void cache(void) {
  sb_storage *a = NULL, *b = NULL, *c = NULL;
  sb__cuda_statistics s;
  EQ(sb__cuda_storage_new(0, 1000, NULL, &a), SB_OK);
  EQ(sb__cuda_storage_new(0, 1000, NULL, &b), SB_OK);
  EQ(fake_calls("cuMemAlloc"), 1); /* both from one segment */
  EQ((char *)b->data - (char *)a->data, 1024);
  EQ(sb__cuda_statistics_of(0, &s), SB_OK);
  EQ(s.allocated, 2048);
  EQ(s.reserved, 2 << 20);
  EQ(s.blocks, 2);
  void *was = a->data;
  sb_storage_unref(&a);
  EQ(sb__cuda_storage_new(0, 900, NULL, &a), SB_OK);
  CHECK(a->data == was);
  EQ(sb__cuda_storage_new(0, INT64_C(30) << 20, NULL, &c), SB_OK);
  EQ(fake_calls("cuMemAlloc"), 2);
  EQ(sb__cuda_empty_cache(0), SB_OK); /* nothing of it is unused */
  EQ(fake_calls("cuMemFree"), 0);
  sb_storage_unref(&c);
  EQ(sb__cuda_empty_cache(0), SB_OK);
  EQ(fake_calls("cuMemFree"), 1);
  sb_storage_unref(&a);
  sb_storage_unref(&b);
  EQ(sb__cuda_statistics_of(0, &s), SB_OK);
  EQ(s.allocated, 0);
  EQ(s.blocks, 0);
  EQ(s.allocated_peak, (30 << 20) + 2048);
  EQ(sb__cuda_empty_cache(0), SB_OK);
  EQ(sb__cuda_statistics_of(0, &s), SB_OK);
  EQ(s.reserved, 0);
  EQ(s.segments, 0);
  EQ(fake_device_bytes(), 0);
}

/* ---- Nothing of the CPU's touches a device's bytes ---- */

static void gates(void) {
  sb_tensor there, here, indices, part;
  sb_storage *piece = NULL;
  sb_generator generator = {1, 0, 0};
  bool yes = false;
  uint64_t hash = 0;
  double key = 0;
  const sb_scalar one = {.kind = SB_SCALAR_INT, .as.i = 1};
  EQ(on_device(0, SB_FLOAT32, DIMS(4, 4), &there), SB_OK);
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(4, 4), &here), SB_OK);
  EQ(sb_tensor_empty(SB_INT32, DIMS(4), &indices), SB_OK);
  count_up(&indices);
  count_up(&here);
#define REFUSED(call)                     \
 do {                                     \
  EQ(call, SB_ERR_DEVICE);                \
  CHECK(says("cuda:0") && says("cpu()")); \
 } while (0)
  REFUSED(sb_array_equal(&there, &here, true, &yes));
  REFUSED(sb_array_equal(&here, &there, true, &yes));
  REFUSED(sb_all_close(&here, &there, 0, 0, false, &yes));
  REFUSED(sb_all_close(&there, &here, 0, 0, false, &yes));
  REFUSED(sb_hash(&there, &hash));
  REFUSED(sb_take(&there, &indices, 0, &here));
  REFUSED(sb_take(&here, &indices, 0, &there));
  sb_tensor far;
  EQ(on_device(0, SB_INT32, DIMS(4), &far), SB_OK);
  sb_tensor picked;
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(4, 4), &picked), SB_OK);
  REFUSED(sb_take(&here, &far, 0, &picked));
  sb_tensor_release(&picked);
  REFUSED(sb_arange(&far, &one, &one));
  REFUSED(sb_linspace(&there, 0, 1, true));
  /* Factors are numbers of the host's. */
  sb_tensor factor;
  EQ(on_device(0, SB_FLOAT64, 0, NULL, &factor), SB_OK);
  REFUSED(sb_copy_scaled(&there, &here, &factor, &factor, 0, SB_CASTING_UNSAFE, NULL));
  REFUSED(sb_copy_values(&here, &there));
  /* Parts and loans of it are no better. */
  EQ(sb__storage_part(there.storage, 16, 16, &piece), SB_OK);
  EQ(sb_tensor_init(piece, SB_FLOAT32, DIMS(4), NULL, 0, &part), SB_OK);
  REFUSED(sb_hash(&part, &hash));
  sb_storage *lent = NULL;
  EQ(sb__storage_pin(piece->data, piece->nbytes, piece, NULL, NULL, &lent), SB_OK);
  EQ(sb_tensor_init(lent, SB_FLOAT32, DIMS(4), NULL, 0, &part), SB_OK);
  REFUSED(sb_hash(&part, &hash));
  CHECK(sb__storage_root(lent) == there.storage);
  /* What goes to another thread is not touched, only handed on. */
  sb_storage *taken = NULL;
  EQ(sb__transfer_new(there.storage, 1, &key), SB_OK);
  EQ(sb__transfer_take(key, &taken), SB_OK);
  CHECK(taken == there.storage);
  sb_storage_unref(&taken);
  void *word = NULL;
  REFUSED(sb__futex_at(there.storage, 0, &word));
  EQ(sb__ring_make(&(sb__ring){.control = there.storage, .slots = 1}, 16), SB_ERR_ARGUMENT);
  /* Elsewhere it is understood. */
  EQ(sb_copy(&there, &here, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(sb_uniform(&there, 0, 1, &generator), SB_OK);
  EQ(generator.offset, 16);
  EQ(sb_fill(&there, &one), SB_OK);
  sb_tensor clone;
  EQ(sb_clone(&there, SB_FLOAT32, SB_CASTING_SAFE, &clone), SB_OK);
  EQ(clone.storage->device, 0);
  EQ(sb_copy(&here, &clone, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(((float *)here.storage->data)[15], 1);
  sb_tensor_release(&clone);
  EQ(sb__copy_bytes(there.storage, 4, here.storage, 0, 8), SB_OK);
  EQ(sb__copy_bytes(here.storage, 8, there.storage, 0, 8), SB_OK);
  EQ(sb__copy_bytes(here.storage, 60, there.storage, 0, 8), SB_ERR_BOUNDS);
  sb_storage_unref(&lent);
  sb_storage_unref(&piece);
  sb_tensor_release(&factor);
  sb_tensor_release(&far);
  sb_tensor_release(&indices);
  sb_tensor_release(&here);
  sb_tensor_release(&there);
  EQ(sb__storage_totals_now().cuda_bytes, 0);
  EQ(sb__storage_totals_now().storages, 0);
}

/* ---- Copies of every kind, beside the CPU's ---- */

static void noise(sb_storage *storage) {
  for (size_t i = 0; i + 8 <= storage->nbytes; i += 8)
    memcpy((char *)storage->data + i, &(uint64_t){random_bits()}, 8);
}

/* A random layout in a storage of the host, and the same in one on a device. */
static bool twins(sb_storage *host, sb_storage *device, sb_dtype dtype, int32_t ndim,
                  const int64_t *shape, sb_tensor *a, sb_tensor *b) {
  int64_t strides[4], order[4] = {0, 1, 2, 3}, stride = 1, low = 0, high = 0;
  for (int32_t i = ndim - 1; i > 0; i--) {
    const int64_t k = random_in(0, i), was = order[i];
    order[i] = order[k];
    order[k] = was;
  }
  const bool dense = random_in(0, 1);
  for (int32_t i = 0; i < ndim; i++) {
    const int32_t d = (int32_t)order[i];
    strides[d] = stride * (!dense && random_in(0, 3) == 0 ? -1 : 1);
    stride *= shape[d] + (dense ? 0 : random_in(0, 2));
    if (strides[d] < 0)
      low += (shape[d] - 1) * strides[d];
    else
      high += (shape[d] - 1) * strides[d];
  }
  const int64_t room = (int64_t)host->nbytes / sb_dtype_itemsize(dtype);
  if (high - low >= room) return false;
  const int64_t offset = random_in(-low, room - 1 - high);
  return !sb_tensor_init(host, dtype, ndim, shape, strides, offset, a) &&
         !sb_tensor_init(device, dtype, ndim, shape, strides, offset, b);
}

enum { ROOM = 1 << 16 };

static bool same_bytes(const sb_storage *host, sb_storage *device) {
  sb_storage *back = NULL;
  EQ(sb_storage_new(host->nbytes, &back), SB_OK);
  EQ(sb__copy_bytes(back, 0, device, 0, (int64_t)host->nbytes), SB_OK);
  const bool same = !memcmp(back->data, host->data, host->nbytes);
  sb_storage_unref(&back);
  return same;
}

/* What the CPU does between storages of the host, with either side on a device (or both, on one or two). */
static void compare_copies(int rounds, int devices) {
  sb_storage *host[2], *there[2], *pinned_from = NULL, *pinned_to = NULL;
  int64_t tried = 0;
  random_state = 8;
  for (int i = 0; i < 2; i++) {
    EQ(sb_storage_new(ROOM, &host[i]), SB_OK);
    EQ(sb__cuda_storage_new(i % devices, ROOM, NULL, &there[i]), SB_OK);
    noise(host[i]);
    EQ(sb__copy_bytes(there[i], 0, host[i], 0, ROOM), SB_OK);
  }
  EQ(sb__cuda_pinned_new(ROOM, &pinned_from), SB_OK);
  EQ(sb__cuda_pinned_new(ROOM, &pinned_to), SB_OK);
  for (int round = 0; round < rounds; round++) {
    const sb_dtype from = (sb_dtype)random_in(0, SB_DTYPE_COUNT - 1);
    const sb_dtype to = random_in(0, 1) ? from : (sb_dtype)random_in(0, SB_DTYPE_COUNT - 1);
    const int32_t ndim = (int32_t)random_in(0, 3);
    int64_t shape[4] = {1, 1, 1, 1}, narrow[4];
    for (int32_t d = 0; d < ndim; d++)
      shape[d] = random_in(0, 9) ? random_in(1, 12) : random_in(1, 60);
    for (int32_t d = 0; d < ndim; d++) narrow[d] = random_in(0, 5) ? shape[d] : 1; /* broadcast */
    sb_tensor src, dst, far_src, far_dst, pinned_src, pinned_dst;
    if (!twins(host[0], there[0], from, ndim, narrow, &src, &far_src)) continue;
    if (!twins(host[1], there[1], to, ndim, shape, &dst, &far_dst)) continue;
    const bool scaled = sb_dtype_kind(from) != SB_COMPLEX && sb_dtype_kind(to) != SB_COMPLEX &&
                        ndim && !random_in(0, 3);
    tried++;
    double numbers[128];
    sb_storage factors;
    sb_tensor scale, bias;
    const int64_t axis = ndim ? random_in(0, ndim - 1) : 0;
    if (scaled) {
      for (int i = 0; i < 128; i++) numbers[i] = (double)random_in(-100, 100) / 16;
      sb__storage_borrow(numbers, sizeof numbers, &factors);
      EQ(sb_tensor_init(&factors, SB_FLOAT64, 1, &shape[axis], NULL, 0, &scale), SB_OK);
      EQ(sb_tensor_init(&factors, SB_FLOAT64, 0, NULL, NULL, 100, &bias), SB_OK);
    }
#define COPY(d, s)                                                            \
 (scaled ? sb_copy_scaled(d, s, &scale, &bias, axis, SB_CASTING_UNSAFE, NULL) \
         : sb_copy(d, s, SB_CASTING_UNSAFE, NULL))
    memcpy(pinned_from->data, host[0]->data, ROOM);
    memcpy(pinned_to->data, host[1]->data, ROOM);
    sb_tensor_copy_layout(&src, &pinned_src);
    sb_tensor_copy_layout(&dst, &pinned_dst);
    pinned_src.storage = pinned_from;
    pinned_dst.storage = pinned_to;
    char before[ROOM];
    memcpy(before, host[1]->data, ROOM);
    EQ(COPY(&dst, &src), SB_OK);
    EQ(COPY(&far_dst, &far_src), SB_OK); /* on the device, or between two */
    CHECK(same_bytes(host[1], there[1]));
    EQ(COPY(&pinned_dst, &far_src), SB_OK); /* down, into page-locked memory */
    CHECK(!memcmp(pinned_to->data, host[1]->data, ROOM));
    EQ(sb__copy_bytes(there[1], 0, pinned_to, 0, ROOM), SB_OK);
    char after[ROOM];
    memcpy(after, host[1]->data, ROOM);
    memcpy(host[1]->data, before, ROOM);
    EQ(sb__copy_bytes(there[1], 0, host[1], 0, ROOM), SB_OK);
    EQ(COPY(&dst, &far_src), SB_OK); /* down */
    CHECK(!memcmp(after, host[1]->data, ROOM));
    EQ(COPY(&far_dst, round % 2 ? &src : &pinned_src), SB_OK); /* up */
    CHECK(same_bytes(host[1], there[1]));
    if (check_failures) {
      printf("  round %d: %s to %s, scaled %d\n", round, sb_dtype_name(from), sb_dtype_name(to),
             scaled);
      break;
    }
    if (random_in(0, 20) == 0) { /* both sides of one storage */
      sb_tensor shifted, far_shifted;
      const int64_t n = random_in(100, 400), by = random_in(0, 50);
      EQ(sb_tensor_init(host[1], to, 1, &n, NULL, 0, &dst), SB_OK);
      EQ(sb_tensor_init(there[1], to, 1, &n, NULL, 0, &far_dst), SB_OK);
      EQ(sb_tensor_init(host[1], to, 1, &n, NULL, by, &shifted), SB_OK);
      EQ(sb_tensor_init(there[1], to, 1, &n, NULL, by, &far_shifted), SB_OK);
      EQ(sb_copy(&dst, &shifted, SB_CASTING_SAFE, NULL), SB_OK);
      EQ(sb_copy(&far_dst, &far_shifted, SB_CASTING_SAFE, NULL), SB_OK);
      CHECK(same_bytes(host[1], there[1]));
    }
  }
  CHECK(tried > rounds / 2);
  for (int i = 0; i < 2; i++) {
    sb_storage_unref(&host[i]);
    sb_storage_unref(&there[i]);
  }
  sb_storage_unref(&pinned_from);
  sb_storage_unref(&pinned_to);
  EQ(sb__cuda_empty_cache(-1), SB_OK);
  EQ(sb__cuda_empty_pinned(), SB_OK);
  EQ(fake_device_bytes(), 0);
  EQ(fake_host_bytes(), 0);
}

static void copies(void) { compare_copies(400, 1); }
static void copies_between(void) { compare_copies(250, 2); }
static void copies_waited_for(void) { compare_copies(60, 1); }

static void values(void) {
  const double numbers[] = {1, 2, 300};
  sb_storage storage;
  sb_tensor src, there;
  sb__storage_borrow((void *)(uintptr_t)numbers, sizeof numbers, &storage);
  EQ(sb_tensor_init(&storage, SB_FLOAT64, DIMS(3), NULL, 0, &src), SB_OK);
  EQ(on_device(0, SB_UINT8, DIMS(3), &there), SB_OK);
  EQ(sb_copy_values(&there, &src), SB_ERR_CAST);
  sb_tensor_release(&there);
  EQ(on_device(0, SB_INT16, DIMS(3), &there), SB_OK);
  EQ(sb_copy_values(&there, &src), SB_OK);
  sb_tensor back;
  EQ(sb_tensor_empty(SB_INT16, DIMS(3), &back), SB_OK);
  EQ(sb_copy(&back, &there, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(((int16_t *)back.storage->data)[2], 300);
  sb_tensor_release(&there);
  sb_tensor_release(&back);
}

/* ---- Memory that is scarce ---- */

static sb_tensor *dead; /* what the hook frees */
static int swept;

static bool sweep_dead(void *context) {
  CHECK(context == &dead);
  swept++;
  if (!dead) return false;
  sb_tensor_release(dead);
  dead = NULL;
  return true;
}

static void scarce(void) { /* 64 MiB */
  sb_storage *a = NULL, *b = NULL;
  sb__cuda_statistics s;
  EQ(sb__cuda_storage_new(0, INT64_C(40) << 20, NULL, &a), SB_OK);
  sb_storage_unref(&a); /* cached, and too small for the next */
  EQ(sb__cuda_storage_new(0, INT64_C(50) << 20, NULL, &a), SB_OK);
  EQ(fake_calls("cuMemFree"), 1);
  EQ(sb__cuda_storage_new(0, INT64_C(50) << 20, NULL, &b), SB_ERR_MEMORY);
  CHECK(says("52428800 bytes: tensors have 52428800 bytes, 0 more are cached"));
  CHECK(says("67108864 bytes, 14680064 of them free"));
  CHECK(!b);
  EQ(sb__cuda_statistics_of(0, &s), SB_OK);
  EQ(s.failures, 1);
  CHECK(s.retries > 0);
  /* What nobody reaches any more is freed then. */
  sb_tensor t;
  EQ(sb_tensor_init(a, SB_UINT8, DIMS(10), NULL, 0, &t), SB_OK);
  dead = &t;
  sb__cuda_set_sweep(sweep_dead, &dead);
  EQ(sb__cuda_storage_new(0, INT64_C(50) << 20, NULL, &b), SB_OK);
  EQ(swept, 1);
  EQ(sb__cuda_storage_new(0, INT64_C(50) << 20, NULL, &a), SB_ERR_MEMORY);
  EQ(swept, 2);
  sb__cuda_set_sweep(NULL, NULL);
  sb_storage_unref(&b);
  EQ(sb__cuda_storage_new(0, SIZE_MAX, NULL, &b), SB_ERR_MEMORY);
  EQ(sb__cuda_storage_new(0, INT64_C(1) << 40, NULL, &b), SB_ERR_MEMORY);
  EQ(sb__cuda_storage_new(0, 16, NULL, &b), SB_OK); /* it goes on */
  sb_storage_unref(&b);
  /* Pieces of other streams count as well. */
  sb__cuda_stream *one = NULL, *two = NULL;
  EQ(sb__cuda_stream_new(0, &one), SB_OK);
  EQ(sb__cuda_stream_new(0, &two), SB_OK);
  EQ(sb__cuda_empty_cache(0), SB_OK);
  EQ(sb__cuda_storage_new(0, INT64_C(9) << 20, one, &a), SB_OK);
  EQ(sb__cuda_storage_new(0, INT64_C(9) << 20, two, &b), SB_OK);
  const int64_t calls = fake_calls("cuMemAlloc");
  sb_storage_unref(&a);
  sb_storage_unref(&b);
  sb__cuda_stream_unref(&one);
  sb__cuda_stream_unref(&two);
  EQ(sb__cuda_storage_new(0, INT64_C(60) << 20, NULL, &a), SB_OK);
  CHECK(fake_calls("cuMemAlloc") > calls);
  /* What another stream had is still behind that stream's work, whichever touches it first. */
  sb__cuda_stream *theirs = NULL;
  EQ(sb__cuda_stream_new(0, &one), SB_OK);
  EQ(sb__cuda_stream_new(0, &two), SB_OK);
  EQ(sb__cuda_stream_wrap(0, sb__cuda_stream_number(two), &theirs), SB_OK);
  sb_storage_unref(&a);
  EQ(sb__cuda_storage_new(0, INT64_C(60) << 20, one, &a), SB_OK);
  EQ(sb__cuda_touch(a, 0, one), SB_OK);
  sb_storage_unref(&a);
  const int64_t waits = fake_calls("cuStreamWaitEvent");
  EQ(sb__cuda_storage_new(0, INT64_C(60) << 20, theirs, &a), SB_OK);
  EQ(fake_calls("cuStreamWaitEvent"), waits + 1);
  EQ(sb__cuda_touch(a, 0, NULL), SB_OK);
  EQ(fake_calls("cuStreamWaitEvent"), waits + 2);
  sb_storage_unref(&a);
  EQ(sb__cuda_empty_cache(0), SB_OK);
  EQ(sb__cuda_storage_new(0, INT64_C(60) << 20, one, &a), SB_OK);
  EQ(sb__cuda_touch(a, 0, one), SB_OK);
  sb_storage_unref(&a);
  EQ(sb__cuda_storage_new(0, INT64_C(60) << 20, theirs, &a), SB_OK);
  const sb__cuda_memory *memory = a->context;
  EQ((uintptr_t)memory->last_use.stream, sb__cuda_stream_number(one));
  sb_storage_unref(&a);
  sb__cuda_stream_unref(&one);
  sb__cuda_stream_unref(&two);
  sb__cuda_stream_unref(&theirs);
}

static void scarce_host(void) { /* 1 MiB of page-locked memory */
  sb_storage *a = NULL, *b = NULL;
  EQ(sb__cuda_pinned_new(600 << 10, &a), SB_OK);
  EQ(sb__cuda_pinned_new(600 << 10, &b), SB_ERR_MEMORY);
  CHECK(says("1048576 bytes of pinned memory"));
  sb_storage_unref(&a);
  EQ(sb__cuda_pinned_new(100 << 10, &b), SB_OK); /* the unused 1 MiB was given back for it */
  sb_storage_unref(&b);
}

/* ---- Streams ---- */

/* Work of one stream is held up: who touches the same memory on another one waits for it. */
static void order(void) {
  sb__cuda_stream *one = NULL, *two = NULL;
  sb_tensor host, back, there;
  sb_storage *pinned_host = NULL, *pinned_back = NULL;
  EQ(sb__cuda_stream_new(0, &one), SB_OK);
  EQ(sb__cuda_stream_new(0, &two), SB_OK);
  CHECK(sb__cuda_stream_number(one) != sb__cuda_stream_number(two));
  EQ(sb__cuda_pinned_new(4096, &pinned_host), SB_OK);
  EQ(sb__cuda_pinned_new(4096, &pinned_back), SB_OK);
  EQ(sb_tensor_init(pinned_host, SB_INT32, DIMS(1024), NULL, 0, &host), SB_OK);
  EQ(sb_tensor_init(pinned_back, SB_INT32, DIMS(1024), NULL, 0, &back), SB_OK);
  count_up(&host);
  memset(pinned_back->data, 0, 4096);
  EQ(on_device(0, SB_INT32, DIMS(1024), &there), SB_OK);
  sb__cuda_copying *up = NULL, *down = NULL;
  fake_pause(1);
  EQ(sb__cuda_copy_begin(&(sb__copy){.dst = &there, .src = &host}, one, &up, NULL), SB_OK);
  EQ(sb__cuda_copy_begin(&(sb__copy){.dst = &back, .src = &there}, two, &down, NULL), SB_OK);
  EQ(((int32_t *)pinned_back->data)[5], 0);
  fake_pause(0);
  EQ(sb__cuda_wait_for(pinned_back), SB_OK);
  CHECK(are_equal(&back, &host));
  EQ(sb__cuda_copy_end(&up, NULL, NULL), SB_OK);
  EQ(sb__cuda_copy_end(&down, NULL, NULL), SB_OK);
  /* Freed while work on it is held up: the stream that it goes to uses it after that. */
  fake_pause(1);
  EQ(sb__cuda_copy_begin(&(sb__copy){.dst = &there, .src = &host}, one, &up, NULL), SB_OK);
  EQ(sb__cuda_copy_end(&up, NULL, NULL), SB_OK);
  void *was = there.storage->data;
  sb_tensor_release(&there);
  sb_storage *again = NULL, *other = NULL;
  EQ(sb__cuda_storage_new(0, 4096, two, &other), SB_OK);
  CHECK(other->data != was); /* another stream gets other memory */
  EQ(sb__cuda_storage_new(0, 4096, one, &again), SB_OK);
  CHECK(again->data == was); /* this one the same */
  fake_pause(0);
  sb_storage_unref(&again);
  sb_storage_unref(&other);
  /* Page-locked memory that is freed in flight is not given out meanwhile. */
  EQ(on_device(0, SB_INT32, DIMS(1024), &there), SB_OK);
  fake_pause(1);
  EQ(sb__cuda_copy_begin(&(sb__copy){.dst = &there, .src = &host}, NULL, &up, NULL), SB_OK);
  EQ(sb__cuda_copy_end(&up, NULL, NULL), SB_OK);
  was = pinned_host->data;
  sb_storage_unref(&pinned_host);
  EQ(sb__cuda_pinned_new(4096, &pinned_host), SB_OK);
  CHECK(pinned_host->data != was);
  fake_pause(0);
  sb_storage_unref(&pinned_host);
  sb_storage_unref(&pinned_back);
  sb_tensor_release(&there);
  /* A stream that nobody holds is taken over; a wrong device is said. */
  const uint64_t number = sb__cuda_stream_number(one);
  sb__cuda_stream_unref(&one);
  EQ(sb__cuda_stream_new(0, &one), SB_OK);
  CHECK(sb__cuda_stream_number(one) == number);
  sb_storage *wrong = NULL;
  EQ(sb__cuda_storage_new(1, 16, one, &wrong), SB_ERR_DEVICE);
  CHECK(says("the stream belongs to cuda:0"));
  sb__cuda_stream_unref(&one);
  sb__cuda_stream_unref(&two);
}

/* Somebody else's stream, which is destroyed after use. */
static void foreign_streams(void) {
  CUstream theirs = NULL;
  sb__cuda_stream *wrapped = NULL, *legacy = NULL;
  sb_tensor host, there, back;
  EQ(sb__cuda_enter(0), SB_OK);
  EQ(sb__cu.cuStreamCreate(&theirs, 1), 0);
  sb__cuda_leave();
  EQ(sb__cuda_stream_wrap(0, (uint64_t)(uintptr_t)theirs, &wrapped), SB_OK);
  EQ(sb__cuda_stream_wrap(0, 1, &legacy), SB_OK);
  EQ(sb__cuda_stream_number(wrapped), (uintptr_t)theirs);
  EQ(sb_tensor_empty(SB_INT32, DIMS(100), &host), SB_OK);
  EQ(sb_tensor_empty(SB_INT32, DIMS(100), &back), SB_OK);
  count_up(&host);
  EQ(on_device(0, SB_INT32, DIMS(100), &there), SB_OK);
  sb__cuda_use_stream(wrapped);
  EQ(sb_copy(&there, &host, SB_CASTING_SAFE, NULL), SB_OK);
  sb__cuda_use_stream(NULL);
  sb__cuda_stream_unref(&wrapped);
  EQ(sb__cuda_enter(0), SB_OK);
  EQ(sb__cu.cuStreamDestroy(theirs), 0);
  sb__cuda_leave();
  sb__cuda_use_stream(legacy);
  EQ(sb_copy(&back, &there, SB_CASTING_SAFE, NULL), SB_OK);
  sb__cuda_use_stream(NULL);
  CHECK(are_equal(&back, &host));
  sb__cuda_stream_unref(&legacy);
  /* A number that is wrapped over and over has one stream of ours behind it. */
  sb__cuda_stream *first = NULL, *many[20];
  EQ(sb__cuda_stream_new(0, &first), SB_OK);
  const uint64_t number = sb__cuda_stream_number(first);
  for (int k = 0; k < 3; k++) {
    const int64_t streams = fake_streams();
    for (int i = 0; i < 20; i++) {
      EQ(sb__cuda_stream_wrap(0, i % 2 ? number : (uint64_t)i % 4 / 2, &many[i]), SB_OK);
      EQ(sb__cuda_stream_number(many[i]), i % 2 ? number : 0);
      EQ(sb__cuda_stream_device(many[i]), 0);
    }
    CHECK(many[1] == many[19]);
    CHECK(fake_streams() <= streams + (k == 0));
    for (int i = 0; i < 20; i++) sb__cuda_stream_unref(&many[k ? i : 19 - i]);
  }
  sb__cuda_stream_unref(&first);
  sb_tensor_release(&there);
  sb_tensor_release(&host);
  sb_tensor_release(&back);
}

/* Events go, in their context, whoever lets the last reference go: no context is current then. */
static void events_go(void) {
  sb__cuda_event *some[300];
  CUevent pooled[300];
  EQ(sb__cuda_enter(0), SB_OK);
  sb__cuda_leave();
  const int64_t before = fake_events();
  for (int i = 0; i < 300; i++) EQ(sb__cuda_event_new(0, i % 2, &some[i]), SB_OK);
  EQ(fake_events(), before + 300);
  for (int i = 0; i < 300; i++) sb__cuda_event_unref(&some[i]);
  EQ(fake_events(), before);
  EQ(sb__cuda_enter(0), SB_OK);
  for (int i = 0; i < 300; i++) EQ(sb__cuda_event_take(0, &pooled[i]), SB_OK);
  sb__cuda_leave();
  for (int i = 0; i < 300; i++) sb__cuda_event_give(0, pooled[i]);
  EQ(fake_events(), before + 256); /* so many are kept */
}

/* ---- Completion ---- */

typedef struct heard {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int count;
  sb_status status;
  char message[512];
} heard;

static heard heard_new(void) {
  return (heard){.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
}

static void hear(void *context, sb_status status, const char *message) {
  heard *h = context;
  pthread_mutex_lock(&h->lock);
  h->count++;
  h->status = status;
  snprintf(h->message, sizeof h->message, "%s", message);
  pthread_cond_broadcast(&h->changed);
  pthread_mutex_unlock(&h->lock);
}

static void wait_until_heard(heard *h, int count) {
  pthread_mutex_lock(&h->lock);
  while (h->count < count) pthread_cond_wait(&h->changed, &h->lock);
  pthread_mutex_unlock(&h->lock);
}

static void completion(void) {
  heard h = heard_new();
  bool already = true;
  sb__cuda_event *event = NULL;
  sb__cuda_stream *stream = NULL;
  sb_storage *storage = NULL;
  EQ(sb__cuda_stream_new(0, &stream), SB_OK);
  EQ(sb__cuda_event_new(0, false, &event), SB_OK);
  EQ(sb__cuda_when_event(event, hear, &h, &already), SB_OK);
  CHECK(already); /* nothing was recorded */
  EQ(sb__cuda_when(0, stream, hear, &h, &already), SB_OK);
  CHECK(already || h.count <= 1); /* an idle stream may take a moment */
  if (!already) wait_until_heard(&h, 1);
  h.count = 0;
  EQ(sb__cuda_storage_new(0, 1 << 20, stream, &storage), SB_OK);
  sb_tensor t;
  EQ(sb_tensor_init(storage, SB_UINT8, DIMS(1 << 20), NULL, 0, &t), SB_OK);
  fake_pause(1);
  sb__cuda_use_stream(stream);
  EQ(sb_fill(&t, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 7}), SB_OK);
  sb__cuda_use_stream(NULL);
  EQ(sb__cuda_event_record(event, stream), SB_OK);
  bool is_done = true;
  EQ(sb__cuda_event_query(event, &is_done), SB_OK);
  CHECK(!is_done);
  for (int i = 0; i < 3; i++) {
    EQ(i == 0   ? sb__cuda_when(0, stream, hear, &h, &already)
       : i == 1 ? sb__cuda_when_ready(storage, hear, &h, &already)
                : sb__cuda_when_event(event, hear, &h, &already),
       SB_OK);
    CHECK(!already);
  }
  EQ(h.count, 0);
  fake_pause(0);
  wait_until_heard(&h, 3);
  EQ(h.status, SB_OK);
  EQ(sb__cuda_event_query(event, &is_done), SB_OK);
  CHECK(is_done);
  sb__cuda_event_unref(&event);
  sb__cuda_stream_unref(&stream);
  sb_storage_unref(&storage);
}

/* Down into pageable memory without waiting: the rest is done when it is over. */
static void copy_later(void) {
  heard h = heard_new();
  bool already = true;
  sb_tensor host, there, back;
  sb__cuda_copying *copying = NULL;
  int64_t staged = 0;
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(50, 20), &host), SB_OK);
  count_up(&host);
  EQ(on_device(0, SB_FLOAT32, DIMS(50, 20), &there), SB_OK);
  EQ(sb_copy(&there, &host, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(sb_tensor_empty(SB_FLOAT32, DIMS(50, 20), &back), SB_OK);
  memset(back.storage->data, 0, 4000);
  const sb__copy c = {.dst = &back, .src = &there};
  fake_pause(1);
  EQ(sb__cuda_copy_begin(&c, NULL, &copying, &staged), SB_OK);
  CHECK(copying);
  EQ(sb__cuda_copy_when(copying, hear, &h, &already), SB_OK);
  CHECK(!already);
  fake_pause(0);
  wait_until_heard(&h, 1);
  EQ(((float *)back.storage->data)[999], 0);
  EQ(sb__cuda_copy_end(&copying, &c, &staged), SB_OK);
  CHECK(!copying);
  CHECK(are_equal(&back, &host));
  EQ(staged, 4000);
  sb_tensor_release(&host);
  sb_tensor_release(&there);
  sb_tensor_release(&back);
}

/* ---- Memory of others ---- */

static atomic_int released;
static void release_other(void *data, void *context) {
  CHECK(data == context);
  atomic_fetch_add(&released, 1);
}

static void *let_go(void *storage) {
  sb_storage *theirs = storage;
  sb_storage_unref(&theirs);
  return NULL;
}

static void *let_go_without_memory(void *storage) {
  sb__fail_allocation(1);
  let_go(storage);
  sb__fail_allocation(0);
  return NULL;
}

/* Memory of others is not released while a device is at work on it, also where nothing can tell the end: then the thread waits. */
static void release_without(void *data, const char *call, void *(*end)(void *)) {
  sb_storage *storage = NULL;
  sb_tensor t;
  pthread_t thread;
  const int before = atomic_load(&released);
  EQ(sb__cuda_storage_wrap(1, data, 4096, release_other, data, &storage), SB_OK);
  EQ(sb_tensor_init(storage, SB_UINT8, DIMS(4096), NULL, 0, &t), SB_OK);
  fake_pause(1);
  EQ(sb_fill(&t, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 8}), SB_OK);
  const int64_t waits = fake_calls("cuStreamSynchronize");
  fake_fail(call);
  CHECK(!pthread_create(&thread, NULL, end, storage));
  while (fake_calls("cuStreamSynchronize") == waits && atomic_load(&released) == before)
    sb__os_yield();
  EQ(atomic_load(&released), before);
  fake_fail(NULL);
  fake_pause(0);
  pthread_join(thread, NULL);
  EQ(atomic_load(&released), before + 1);
}

static void wrapped(void) {
  CUdeviceptr theirs = 0;
  sb_storage *storage = NULL;
  sb_tensor t;
  sb__cuda_statistics s;
  int device = -2, kind = -2;
  EQ(sb__cuda_enter(1), SB_OK);
  EQ(sb__cu.cuMemAlloc(&theirs, 4096), 0);
  sb__cuda_leave();
  void *data = (void *)(uintptr_t)theirs;
  EQ(sb__cuda_pointer_device(data, 1, &device, &kind), SB_OK);
  EQ(device, 1);
  EQ(kind, 2);
  EQ(sb__cuda_pointer_device(&device, 1, &device, &kind), SB_OK);
  EQ(device, -1);
  EQ(kind, -1);
  EQ(sb__cuda_storage_wrap(1, NULL, 16, NULL, NULL, &storage), SB_ERR_ARGUMENT);
  EQ(sb__cuda_storage_wrap(2, data, 16, NULL, NULL, &storage), SB_ERR_DEVICE);
  EQ(sb__cuda_storage_wrap(1, data, 4096, release_other, data, &storage), SB_OK);
  EQ(sb__cuda_statistics_of(1, &s), SB_OK);
  EQ(s.wrapped, 4096);
  EQ(sb_tensor_init(storage, SB_UINT8, DIMS(4096), NULL, 0, &t), SB_OK);
  EQ(sb_tensor_resize(&t, DIMS(8192)), SB_ERR_SHAPE); /* not ours to grow */
  fake_pause(1);
  EQ(sb_fill(&t, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 7}), SB_OK);
  sb_storage_unref(&storage); /* it is still at work */
  EQ(atomic_load(&released), 0);
  fake_pause(0);
  while (!atomic_load(&released)) sb__os_yield();
  EQ(sb__cuda_storage_wrap(1, data, 4096, release_other, data, &storage), SB_OK);
  sb_storage_unref(&storage);
  EQ(atomic_load(&released), 2); /* idle: at once */
  release_without(data, "cuEventRecord:1:1", let_go);
  release_without(data, "cuEventQuery:1:1", let_go);
  release_without(data, "", let_go_without_memory);
  CHECK(!sb__cuda_is_entered(0)); /* nobody asked for it */
  EQ(sb__cuda_enter(1), SB_OK);
  EQ(sb__cu.cuMemFree(theirs), 0);
  sb__cuda_leave();
}

/* A view of somebody's bytes, by their address, as t; the storage is the caller's. */
static sb_storage *view_of(int64_t device, void *data, sb_tensor *t) {
  sb_storage *view = NULL;
  EQ(sb__cuda_storage_wrap(device, data, 4096, NULL, NULL, &view), SB_OK);
  EQ(sb_tensor_init(view, SB_UINT8, DIMS(4096), NULL, 0, t), SB_OK);
  return view;
}

/* What a view has under way when it ends is its owner's: the bytes are not used again before. */
static void views(void) {
  sb_storage *owner = NULL, *view = NULL, *other = NULL;
  sb__cuda_stream *stream = NULL;
  sb__cuda_registration *r = NULL;
  sb_tensor t;
  static char bytes[8192];
  const sb_scalar seven = {.kind = SB_SCALAR_INT, .as.i = 7};
  EQ(sb__cuda_stream_new(0, &stream), SB_OK);
  /* Page-locked memory. */
  EQ(sb__cuda_pinned_new(4096, &owner), SB_OK);
  void *was = owner->data;
  view = view_of(0, was, &t);
  fake_pause(1);
  EQ(sb_fill(&t, &seven), SB_OK);
  sb_storage_unref(&owner); /* in any order */
  sb_storage_unref(&view);
  EQ(sb__cuda_pinned_new(4096, &other), SB_OK);
  CHECK(other->data != was);
  fake_pause(0);
  sb_storage_unref(&other);
  /* A device's: it goes on with the view's stream. */
  EQ(sb__cuda_storage_new(0, 4096, NULL, &owner), SB_OK);
  was = owner->data;
  EQ(sb__cuda_touch(owner, 0, NULL), SB_OK);
  view = view_of(0, was, &t);
  fake_pause(1);
  sb__cuda_use_stream(stream);
  EQ(sb_fill(&t, &seven), SB_OK);
  sb__cuda_use_stream(NULL);
  const int64_t waits = fake_calls("cuStreamWaitEvent");
  sb_storage_unref(&view);
  EQ(fake_calls("cuStreamWaitEvent"), waits + 1); /* the stream comes after what the owner had */
  sb_storage_unref(&owner);
  EQ(sb__cuda_storage_new(0, 4096, NULL, &other), SB_OK);
  CHECK(other->data != was);
  EQ(sb__cuda_storage_new(0, 4096, stream, &owner), SB_OK);
  CHECK(owner->data == was);
  fake_pause(0);
  sb_storage_unref(&owner);
  sb_storage_unref(&other);
  /* Registered memory. */
  EQ(sb__cuda_register(bytes, sizeof bytes, false, NULL, &r), SB_OK);
  view = view_of(0, bytes + 1000, &t);
  EQ(sb_fill(&t, &seven), SB_OK);
  sb_storage_unref(&view);
  const int64_t synchronised = fake_calls("cuStreamSynchronize");
  sb__cuda_unregister(&r);
  EQ(fake_calls("cuStreamSynchronize"), synchronised + 1);
  EQ(bytes[1000] + bytes[999], 7);
  sb__cuda_stream_unref(&stream);
  /* One that is mapped goes to any device, and comes from it. */
  sb_tensor host, there, back;
  EQ(sb__cuda_pinned_new(4096, &owner), SB_OK);
  EQ(sb_tensor_init(owner, SB_UINT8, DIMS(4096), NULL, 0, &host), SB_OK);
  view = view_of(0, owner->data, &t);
  sb__cuda_storage_is_mapped(view);
  EQ(on_device(1, SB_UINT8, DIMS(4096), &there), SB_OK);
  EQ(on_device(1, SB_UINT8, DIMS(4096), &back), SB_OK);
  memset(owner->data, 9, 4096);
  EQ(sb_copy(&there, &t, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(sb_fill(&t, &seven), SB_OK);
  EQ(sb_fill(&back, &seven), SB_OK);
  EQ(sb_copy(&t, &there, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(sb__cuda_wait_for(view), SB_OK);
  EQ(((char *)owner->data)[4095], 9);
  sb__cuda_copying *copying = NULL;
  heard h = heard_new();
  bool already = true;
  fake_pause(1);
  EQ(sb__cuda_copy_begin(&(sb__copy){.dst = &t, .src = &back}, NULL, &copying, NULL), SB_OK);
  EQ(sb__cuda_copy_when(copying, hear, &h, &already), SB_OK);
  CHECK(!already);
  fake_pause(0);
  wait_until_heard(&h, 1);
  EQ(((char *)owner->data)[4095], 7);
  EQ(sb__cuda_copy_end(&copying, NULL, NULL), SB_OK);
  sb_tensor_release(&there);
  sb_tensor_release(&back);
  sb_storage_unref(&view);
  sb_storage_unref(&owner);
  EQ(sb__storage_totals_now().storages, 0);
}

static void registered(void) {
  sb__cuda_registration *r = NULL, *other = NULL;
  sb_storage *storage = NULL;
  sb_tensor host, there;
  EQ(sb_storage_new(1 << 16, &storage), SB_OK);
  EQ(sb_tensor_init(storage, SB_UINT8, DIMS(1 << 16), NULL, 0, &host), SB_OK);
  CHECK(!sb__cuda_is_pinned(storage, storage->data, 1 << 16));
  EQ(sb__cuda_register(NULL, 0, false, NULL, &r), SB_ERR_ARGUMENT);
  EQ(sb__cuda_register(storage->data, 1 << 16, false, storage, &r), SB_OK);
  CHECK(sb__cuda_is_pinned(storage, storage->data, 1 << 16));
  CHECK(sb__cuda_is_pinned(NULL, (char *)storage->data + 100, 50));
  CHECK(!sb__cuda_is_pinned(NULL, (char *)storage->data + 100, 1 << 16));
  EQ(sb__cuda_pinned_statistics_now().registered, 1 << 16);
  EQ(sb__cuda_register((char *)storage->data + 4096, 4096, false, storage, &other), SB_ERR_EXISTS);
  CHECK(!other);
  memset(storage->data, 3, 1 << 16);
  EQ(on_device(0, SB_UINT8, DIMS(1 << 16), &there), SB_OK);
  const int64_t calls = fake_calls("cuMemHostAlloc");
  EQ(sb_copy(&there, &host, SB_CASTING_SAFE, NULL), SB_OK);
  EQ(fake_calls("cuMemHostAlloc"), calls);
  CUdeviceptr address = 0;
  EQ(sb__cuda_device_address(storage, 0, &address), SB_OK);
  CHECK(address);
  sb_storage *held = storage;
  sb_storage_unref(&storage); /* the registration keeps it */
  sb__cuda_unregister(&r);
  CHECK(!r);
  (void)held;
  EQ(sb__cuda_pinned_statistics_now().registered, 0);
  sb_tensor_release(&there);
  EQ(fake_host_bytes(), 0);
  EQ(sb__storage_totals_now().storages, 0);
}

/* ---- Failures ---- */

/* Everything once. Each call may fail, cleanly. Returns the first failure. */
static sb_status all_of_it(void) {
  static char bytes[3 << 20];
  sb_storage borrowed, *locked = NULL;
  sb_tensor host, strided, there, other, wide, back = {.storage = NULL}, clone = {.storage = NULL};
  sb_generator generator = {1, 0, 0};
  sb__cuda_stream *stream = NULL;
  sb__cuda_event *event = NULL;
  sb__cuda_copying *copying = NULL;
  sb__cuda_registration *r = NULL;
  heard h = heard_new();
  bool already = true;
  sb_status first = SB_OK, status;
#define TRY(call)                           \
 do {                                       \
  status = call;                            \
  if (status && !first) first = status;     \
  if (status) CHECK(sb_error_message()[0]); \
 } while (0)
  there.storage = other.storage = wide.storage = NULL;
  sb__storage_borrow(bytes, sizeof bytes, &borrowed);
  EQ(sb_tensor_init(&borrowed, SB_FLOAT32, DIMS(64, 64), NULL, 0, &host), SB_OK);
  EQ(sb_transpose(&host, 0, 1, &strided), SB_OK);
  TRY(sb__cuda_stream_new(0, &stream));
  TRY(on_device(0, SB_FLOAT32, DIMS(64, 64), &there));
  if (there.storage) {
    TRY(sb_copy(&there, &host, SB_CASTING_SAFE, NULL));
    TRY(sb_copy(&there, &strided, SB_CASTING_SAFE, NULL));
    TRY(sb_copy(&host, &there, SB_CASTING_SAFE, NULL));
    TRY(sb_copy(&strided, &there, SB_CASTING_SAFE, NULL));
    TRY(sb_fill(&there, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 7}));
    TRY(sb_normal(&there, 0, 1, &generator));
    sb_tensor turned;
    EQ(sb_transpose(&there, 0, 1, &turned), SB_OK);
    TRY(sb_copy(&there, &turned, SB_CASTING_SAFE, NULL));
    TRY(sb_clone(&turned, SB_FLOAT16, SB_CASTING_SAME_KIND, &clone));
    TRY(on_device(1, SB_FLOAT32, DIMS(64, 64), &other));
    if (other.storage) {
      TRY(sb_copy(&other, &there, SB_CASTING_SAFE, NULL));
      TRY(sb_copy(&there, &other, SB_CASTING_SAFE, NULL));
      TRY(sb_copy(&turned, &other, SB_CASTING_SAFE, NULL));
    }
    sb__cuda_use_stream(stream);
    TRY(sb_fill(&there, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 1}));
    sb__cuda_use_stream(NULL);
    TRY(sb_copy(&host, &there, SB_CASTING_SAFE, NULL));
    const sb__copy down = {.dst = &host, .src = &there};
    TRY(sb__cuda_copy_begin(&down, stream, &copying, NULL));
    if (copying) {
      TRY(sb__cuda_copy_when(copying, hear, &h, &already));
      if (!status && !already) wait_until_heard(&h, 1);
      if (!status) TRY(h.status);
      TRY(sb__cuda_copy_end(&copying, status ? NULL : &down, NULL));
    }
    h.count = 0;
    TRY(sb__cuda_when_ready(there.storage, hear, &h, &already));
    if (!status && !already) wait_until_heard(&h, 1);
    TRY(sb__cuda_touch(there.storage, 0, stream));
  }
  TRY(sb__cuda_pinned_new(10000, &locked));
  TRY(sb__cuda_register(bytes, sizeof bytes, false, NULL, &r));
  if (there.storage) TRY(sb_copy(&there, &host, SB_CASTING_SAFE, NULL));
  sb__cuda_unregister(&r);
  TRY(sb__cuda_event_new(0, true, &event));
  if (event) TRY(sb__cuda_event_record(event, stream));
  if (event) TRY(sb__cuda_event_synchronize(event));
  TRY(on_device(0, SB_UINT8, DIMS(20 << 20), &wide));
  sb_tensor_release(&wide);
  sb_tensor_release(&there);
  sb_tensor_release(&other);
  sb_tensor_release(&clone);
  sb_tensor_release(&back);
  sb_storage_unref(&locked);
  sb__cuda_event_unref(&event);
  sb__cuda_stream_unref(&stream);
  TRY(sb__cuda_synchronize(0));
  TRY(sb__cuda_empty_cache(-1));
  TRY(sb__cuda_empty_pinned());
  return first;
}

static void leaves_nothing(void) {
  EQ(sb__cuda_empty_cache(-1), SB_OK);
  EQ(sb__cuda_empty_pinned(), SB_OK);
  EQ(fake_device_bytes(), 0);
  EQ(fake_host_bytes(), 0);
  EQ(sb__storage_totals_now().storages, 0);
  sb__cuda_statistics s;
  for (int i = 0; i < 2; i++) {
    EQ(sb__cuda_statistics_of(i, &s), SB_OK);
    EQ(s.allocated, 0);
    EQ(s.blocks, 0);
    EQ(s.reserved, 0);
  }
}

/* The first, second, … call of the driver fails with a code that leaves it usable. */
static void each_call_fails(void) {
  const int codes[] = {2, 1, 801};
  for (int i = 0; i < 3; i++) {
    int failed = 0;
    for (int n = 1; n < 2000; n++) {
      char text[40];
      snprintf(text, sizeof text, "*:%d:%d", n, codes[i]);
      fake_fail(text);
      const int64_t calls = fake_calls("*");
      failed += all_of_it() != SB_OK;
      const bool is_over = fake_calls("*") - calls < n;
      fake_fail(NULL);
      leaves_nothing();
      if (check_failures) {
        printf("  call %d failed with %d\n", n, codes[i]);
        return;
      }
      if (is_over) break;
    }
    CHECK(failed > 50); /* some are made up for, as memory is */
    EQ(all_of_it(), SB_OK);
  }
}

/* The first, second, … allocation fails. */
static void each_allocation_fails(void) {
  EQ(all_of_it(), SB_OK);
  for (int n = 1; n < 500; n++) {
    sb__fail_allocation(n);
    const sb_status status = all_of_it();
    sb__fail_allocation(0);
    leaves_nothing();
    if (status && status != SB_ERR_MEMORY) EQ(status, SB_ERR_MEMORY);
    if (check_failures) {
      printf("  allocation %d\n", n);
      return;
    }
    if (!status && n > 200) return;
  }
}

/* CUDA is lost at some call: all that follows says so, and nothing hangs. */
static int lost_at;

static void lost(void) {
  char text[40];
  snprintf(text, sizeof text, "*:%d:700", lost_at);
  EQ(all_of_it(), SB_OK); /* contexts and kernels are there */
  fake_fail(text);
  const sb_status status = all_of_it();
  if (!status && !sb__cuda_is_lost()) exit(2); /* there are not so many calls */
  CHECK(status == SB_OK ||
        status == SB_ERR_CUDA_CONTEXT_LOST); /* at the very end nobody may hear of it */
  CHECK(sb__cuda_is_lost());
  sb_storage *storage = NULL;
  EQ(sb__cuda_storage_new(0, 16, NULL, &storage), SB_ERR_CUDA_CONTEXT_LOST);
  CHECK(says("700: a kernel accessed an illegal address"));
  CHECK(says("Restart the process"));
  EQ(sb__cuda_pinned_new(16, &storage), SB_ERR_CUDA_CONTEXT_LOST);
  EQ(sb__cuda_synchronize(0), SB_ERR_CUDA_CONTEXT_LOST);
  CHECK(strstr(sb__cuda_why_not(), "700"));
  EQ(sb__storage_totals_now().storages, 0);
  sb_tensor t; /* the CPU goes on */
  EQ(sb_tensor_empty(SB_INT32, DIMS(4), &t), SB_OK);
  count_up(&t);
  sb_tensor_release(&t);
}

/* Each code after which nothing works any more, of whatever call; others leave it usable. */
static void lost_by_code(void) {
  static const struct {
    int code;
    bool is_lost;
    const char *says;
  } codes[] = {
      {1, false, "an argument"},       {2, false, "out of memory"},
      {201, false, "context"},         {214, true, "cannot be correct"},
      {220, true, "the link between"}, {226, true, "contained an error"},
      {701, false, "too many"},        {709, true, "cudaDeviceReset"},
      {718, true, "program counter"},  {721, true, "tensor memory"},
      {801, false, "not supported"},   {810, true, "MPS"},
      {999, true, "unknown"},
  };
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
    int status = 0;
    char text[40];
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      snprintf(text, sizeof text, "cuCtxSynchronize:1:%d", codes[i].code);
      EQ(sb__cuda_enter(0), SB_OK);
      sb__cuda_leave();
      fake_fail(text);
      CHECK(sb__cuda_synchronize(0) != SB_OK);
      CHECK(says(codes[i].says));
      EQ(sb__cuda_is_lost(), codes[i].is_lost);
      EQ(sb__cuda_synchronize(0), codes[i].is_lost ? SB_ERR_CUDA_CONTEXT_LOST : SB_OK);
      exit(check_failures > 0);
    }
    EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status)) printf("  code %d\n", codes[i].code);
  }
}

static void lost_anywhere(void) {
  int status = 0;
  for (lost_at = 1; WEXITSTATUS(status) != 2 && lost_at < 1000; lost_at += lost_at < 40 ? 3 : 11) {
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      lost();
      exit(check_failures > 0);
    }
    EQ(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2));
    if (!WIFEXITED(status) || WEXITSTATUS(status) == 1) printf("  lost at call %d\n", lost_at);
  }
  CHECK(lost_at > 100 && lost_at < 1000);
}

/* A kernel of ours fails while somebody waits: he hears of it, with names. */
static void lost_while_waiting(void) {
  heard h = heard_new();
  bool already = true;
  sb_tensor there;
  EQ(on_device(0, SB_FLOAT32, DIMS(100), &there), SB_OK);
  EQ(sb_fill(&there, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 7}), SB_OK);
  EQ(sb__cuda_synchronize(0), SB_OK);
  fake_pause(1);
  EQ(sb_fill(&there, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 7}), SB_OK);
  fake_fail("cuEventSynchronize:1:719");
  EQ(sb__cuda_when_ready(there.storage, hear, &h, &already), SB_OK);
  CHECK(!already);
  fake_pause(0);
  wait_until_heard(&h, 1);
  EQ(h.status, SB_ERR_CUDA_CONTEXT_LOST);
  CHECK(strstr(h.message, "719: a kernel failed"));
  CHECK(strstr(h.message, "given to the device before: sb_fill_bytes"));
  sb_tensor_release(&there);
}

static void forked(void) {
  sb_tensor there;
  int status = 0;
  EQ(on_device(0, SB_FLOAT32, DIMS(100), &there), SB_OK);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    sb_storage *storage = NULL;
    EQ(sb__cuda_storage_new(0, 16, NULL, &storage), SB_ERR_DEVICE);
    CHECK(says("forked"));
    EQ(sb_fill(&there, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 7}), SB_ERR_DEVICE);
    CHECK(strstr(sb__cuda_why_not(), "forked"));
    sb_tensor_release(&there); /* does nothing */
    fflush(stdout);
    _exit(check_failures > 0);
  }
  EQ(waitpid(child, &status, 0), child);
  EQ(status, 0);
  EQ(sb_fill(&there, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 7}), SB_OK);
  sb_tensor_release(&there);
}

/* The process ends while a stream is held up and somebody waits for it. */
static void exits_at_work(void) {
  int status = 0;
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    static heard h;
    static sb_tensor there;
    bool already = true;
    h = heard_new();
    alarm(60);
    if (on_device(0, SB_FLOAT32, DIMS(100), &there)) _exit(2);
    fake_pause(1);
    if (sb_fill(&there, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 7})) _exit(3);
    if (sb__cuda_when_ready(there.storage, hear, &h, &already) || already) _exit(4);
    exit(0); /* with handlers and leak checks */
  }
  EQ(waitpid(child, &status, 0), child);
  EQ(status, 0);
}

/* ---- Threads ---- */

static void *at_work(void *number) {
  sb__cuda_stream *stream = NULL;
  const int me = (int)(intptr_t)number;
  random_state = (uint64_t)me + 1;
  int32_t bytes[256], back[256] = {0};
  sb_storage storage, storage_back;
  sb_tensor host, home;
  sb__storage_borrow(bytes, sizeof bytes, &storage);
  sb__storage_borrow(back, sizeof back, &storage_back);
  EQ(sb_tensor_init(&storage, SB_INT32, DIMS(256), NULL, 0, &host), SB_OK);
  EQ(sb_tensor_init(&storage_back, SB_INT32, DIMS(256), NULL, 0, &home), SB_OK);
  if (me % 2) EQ(sb__cuda_stream_new(0, &stream), SB_OK);
  sb__cuda_use_stream(stream);
  for (int round = 0; round < 60; round++) {
    sb_tensor there;
    for (int i = 0; i < 256; i++) bytes[i] = (int32_t)random_bits();
    EQ(on_device(0, SB_INT32, DIMS(256), &there), SB_OK);
    sb_storage *view = NULL;
    sb_tensor viewed;
    EQ(sb__cuda_storage_wrap(0, there.storage->data, 1024, NULL, NULL, &view), SB_OK);
    EQ(sb_tensor_init(view, SB_INT32, DIMS(256), NULL, 0, &viewed), SB_OK);
    EQ(sb_copy(&viewed, &home, SB_CASTING_SAFE, NULL), SB_OK);
    sb_storage_unref(&view);
    EQ(sb_copy(&there, &host, SB_CASTING_SAFE, NULL), SB_OK);
    if (round % 10 == 9) EQ(sb__cuda_empty_cache(0), SB_OK);
    EQ(sb_copy(&home, &there, SB_CASTING_SAFE, NULL), SB_OK);
    CHECK(!memcmp(bytes, back, sizeof bytes));
    heard h = heard_new();
    bool already = true;
    EQ(sb__cuda_when_ready(there.storage, hear, &h, &already), SB_OK);
    if (!already) wait_until_heard(&h, 1);
    sb_tensor_release(&there);
  }
  sb__cuda_use_stream(NULL);
  sb__cuda_stream_unref(&stream);
  return NULL;
}

static void threads(void) {
  pthread_t all[6];
  for (int i = 0; i < 6; i++) CHECK(!pthread_create(&all[i], NULL, at_work, (void *)(intptr_t)i));
  for (int i = 0; i < 6; i++) pthread_join(all[i], NULL);
  sb__cuda_statistics s;
  EQ(sb__cuda_statistics_of(0, &s), SB_OK);
  EQ(s.allocated, 0);
  EQ(s.blocks, 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "threads")) {
    apart("six threads at once", "", threads);
    return children_failed > 0;
  }
  apart("no driver: each call says so", "SAMEBYTES_LIBCUDA=/nonexistent/libcuda.so.1", no_driver);
  apart("a library that is no driver", "SAMEBYTES_LIBCUDA=libm.so.6", not_a_driver);
  apart("the toolkit's stub", "FAKECUDA_INIT=34", stub);
  apart("driver and library differ", "FAKECUDA_INIT=803", differs);
  apart("a forward compatibility library on another GPU", "FAKECUDA_INIT=804", forward);
  apart("a driver that is too old", "FAKECUDA_VERSION=9020", too_old);
  apart("no device", "FAKECUDA_DEVICES=0", no_device);
  apart("an index without a device", "FAKECUDA_DEVICES=2", wrong_index);
  apart("bytes go there and come back", "", there_and_back);
  apart("page-locked memory", "", pinned);
  apart("memory comes from a cache", "", cache);
  apart("the CPU touches nothing of a device's", "", gates);
  apart("copies and casts are the CPU's", "", copies);
  apart("copies and casts between devices are the CPU's", "FAKECUDA_DEVICES=2", copies_between);
  apart("copies when each is waited for", "SAMEBYTES_CUDA_SYNC=1", copies_waited_for);
  apart("values that a person wrote have to fit", "", values);
  apart("memory of a device is scarce", "FAKECUDA_MEM=67108864", scarce);
  apart("page-locked memory is scarce", "FAKECUDA_HOST_MEM=1048576", scarce_host);
  apart("streams wait for each other where they touch the same memory", "FAKECUDA_DEVICES=2",
        order);
  apart("somebody else's stream may go after use", "", foreign_streams);
  apart("events go where no context is current", "", events_go);
  apart("who waits hears of the end", "", completion);
  apart("a copy that ends later", "", copy_later);
  apart("memory of others is released when the device is done", "FAKECUDA_DEVICES=2", wrapped);
  apart("what a view has under way is its owner's when it ends", "FAKECUDA_DEVICES=2", views);
  apart("memory is page-locked where it lies", "", registered);
  apart("each call of the driver fails once", "FAKECUDA_DEVICES=2", each_call_fails);
  apart("each allocation fails once", "FAKECUDA_DEVICES=2", each_allocation_fails);
  apart("CUDA is lost by some codes", "", lost_by_code);
  apart("CUDA is lost at any call", "FAKECUDA_DEVICES=2", lost_anywhere);
  apart("who waits hears that CUDA was lost", "", lost_while_waiting);
  apart("a forked child is told so", "", forked);
  apart("a process ends while a device is at work", "", exits_at_work);
  apart("six threads at once", "", threads);
  return children_failed > 0;
}
