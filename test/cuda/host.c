/* The host side of CUDA against the fake driver, whose library the environment variable FAKECUDA names. Each test is a
 * process of its own, because a driver is loaded once in a process. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../c/check.h"
#include "cuda/inside.h"
#include "fakecuda.h"
#include "share/futex.h"
#include "share/parcels.h"
#include "share/ring.h"

/* ---- What the fake driver can be asked ---- */

static void (*fake_fail)(const char *text);
static void (*fake_pause)(int paused);
static int64_t (*fake_calls)(const char *name), (*fake_device_bytes)(void), (*fake_host_bytes)(void);

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
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
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

static sb_status on_device(int64_t device, sb_dtype dtype, int32_t ndim, const int64_t *shape, sb_tensor *out) {
  sb_tensor made;
  sb_status status = sb_tensor_init(NULL, dtype, ndim, shape, NULL, 0, &made);
  if (!status) status = sb__cuda_storage_new(device, (size_t)sb_tensor_nbytes(&made), NULL, &made.storage);
  if (!status) sb_tensor_copy_layout(&made, out);
  return status;
}

static void count_up(const sb_tensor *t) {
  EQ(sb_arange(t, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 0}, &(sb_scalar){.kind = SB_SCALAR_INT, .as.i = 1}), SB_OK);
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
    for (int64_t k = 0; k < sizes[i]; k++) ((uint8_t *)a.storage->data)[k] = (uint8_t)(k * 7 + k / 1000);
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
  EQ(storage->kind, SB__STORAGE_PINNED);
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
#define REFUSED(call)                 \
 do {                                 \
  EQ(call, SB_ERR_DEVICE);            \
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
  EQ(sb__storage_lend(piece->data, piece->nbytes, piece, NULL, NULL, &lent), SB_OK);
  EQ(sb_tensor_init(lent, SB_FLOAT32, DIMS(4), NULL, 0, &part), SB_OK);
  REFUSED(sb_hash(&part, &hash));
  CHECK(sb__storage_root(lent) == there.storage);
  /* What goes to another thread is not touched, only handed on. */
  sb_storage *taken = NULL;
  EQ(sb__parcel_new(there.storage, 1, &key), SB_OK);
  EQ(sb__parcel_take(key, &taken), SB_OK);
  CHECK(taken == there.storage);
  sb_storage_unref(&taken);
  void *word = NULL;
  REFUSED(sb__word_at(there.storage, 0, &word));
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

int main(void) {
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
  return children_failed > 0;
}
