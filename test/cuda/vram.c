/* GPU memory for other processes, on the fake driver: the arena, tokens, and the socket, also from many threads at once. Here the
 * other process is this one, which memory that was made to be shared allows; test/cuda/vram.test.js has real ones. */
#define _GNU_SOURCE
#include "../c/check.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "cuda/ipc_server.h"

static int files(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  if (!folder) return -1;
  for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
  closedir(folder);
  return count;
}

/* The server hears of what ended a little later; the alarm ends a wait that is in vain. */
static void wait_for_held(int64_t expected) {
  for (int64_t count = -1, bytes = 0; count != expected; usleep(1000))
    sb__ipc_held(&count, &bytes);
}

static void wait_for_files(int most) {
  while (files() > most) usleep(1000);
}

static sb_status share(sb_storage *storage, int64_t at, int64_t nbytes, int64_t uses,
                       sb__shared *out) {
  return sb__ipc_share(storage, at, nbytes, uses, false, out);
}

static sb__opening question(const sb__shared *d, int64_t nbytes) {
  sb__opening o = {
      .generation = d->generation, .offset = d->vram.offset, .nbytes = (uint64_t)nbytes};
  memcpy(o.socket, d->socket, sizeof o.socket);
  memcpy(o.token, d->token, sizeof o.token);
  memcpy(o.uuid, d->vram.uuid, sizeof o.uuid);
  return o;
}

static void rooms(void) {
  sb_storage *s[40];
  for (int i = 0; i < 40; i++) {
    const size_t nbytes = (size_t)random_in(1, i % 4 == 0 ? 3000000 : 200000);
    EQ(sb__vram_new(0, nbytes, i % 5 == 0, &s[i]), SB_OK);
    EQ(sb_storage_nbytes(s[i]), nbytes);
    EQ((uintptr_t)sb_storage_data(s[i]) % 256, 0);
    memset(sb_storage_data(s[i]), i, nbytes); /* the fake's memory is the host's */
  }
  for (int round = 0; round < 200; round++) {
    const int i = (int)random_in(0, 39);
    const unsigned char *bytes = sb_storage_data(s[i]);
    for (size_t k = 0; k < sb_storage_nbytes(s[i]); k += 97) EQ(bytes[k], i);
    sb_storage_unref(&s[i]);
    const size_t nbytes = (size_t)random_in(1, 300000);
    EQ(sb__vram_new(0, nbytes, round % 7 == 0, &s[i]), SB_OK);
    memset(sb_storage_data(s[i]), i, nbytes);
  }
  for (int i = 0; i < 40; i++) sb_storage_unref(&s[i]);
}

static void there_and_back(void) {
  sb_storage *s = NULL;
  sb__shared d;
  EQ(sb__vram_new(0, 1000, false, &s), SB_OK);
  memset(sb_storage_data(s), 7, 1000);
  EQ(share(s, 100, 200, 1, &d), SB_OK);
  EQ(d.vram.kind, SB__VRAM_FILE);
  sb__opening o = question(&d, 200);
  EQ(sb__ipc_open(&o), SB_OK);
  EQ(sb_storage_nbytes(o.storage), 200);
  CHECK(sb_storage_data(o.storage) != (char *)sb_storage_data(s) + 100);
  ((char *)sb_storage_data(o.storage))[3] = 9;
  EQ(((char *)sb_storage_data(s))[103], 9);
  sb__opening again = question(&d, 200);
  EQ(sb__ipc_open(&again), SB_ERR_STALE);
  sb_storage_unref(&s);
  EQ(((char *)sb_storage_data(o.storage))[4], 7);
  sb_storage_unref(&o.storage);
  wait_for_held(0);
}

static void wrong(void) {
  sb_storage *s = NULL;
  sb__shared d;
  EQ(sb__vram_new(0, 1000, false, &s), SB_OK);
  EQ(share(s, -1, 10, 1, &d), SB_ERR_BOUNDS);
  EQ(share(s, 0, 1001, 1, &d), SB_ERR_BOUNDS);
  EQ(share(s, 1001, 0, 1, &d), SB_ERR_BOUNDS);
  EQ(share(s, 10, INT64_MAX, 1, &d), SB_ERR_BOUNDS);
  EQ(share(s, 0, 1000, 1, &d), SB_OK);
  sb__opening o = question(&d, 1000);
  o.token[3] ^= 1;
  EQ(sb__ipc_open(&o), SB_ERR_STALE);
  o = question(&d, 999);
  EQ(sb__ipc_open(&o), SB_ERR_STALE);
  o = question(&d, 1000);
  o.generation++;
  EQ(sb__ipc_open(&o), SB_ERR_STALE);
  o = question(&d, 1000);
  o.uuid[0] ^= 1;
  EQ(sb__ipc_open(&o), SB_ERR_DEVICE);
  o = question(&d, 1000);
  o.socket[20] ^= 1;
  EQ(sb__ipc_open(&o), SB_ERR_NOT_FOUND);
  o = question(&d, 1000);
  sb__ipc_stop(&o);
  EQ(sb__ipc_open(&o), SB_ERR_IO);
  EQ(sb__ipc_unshare("@other", d.token), SB_ERR_STALE);
  EQ(sb__ipc_unshare(d.socket, d.token), SB_OK);
  EQ(sb__ipc_unshare(d.socket, d.token), SB_ERR_STALE);
  o = question(&d, 1000);
  EQ(sb__ipc_open(&o), SB_ERR_STALE);
  sb_storage_unref(&s);
  wait_for_held(0);
}

static void nothing(void) {
  sb_storage *s = NULL;
  sb__shared d;
  EQ(sb__vram_new(0, 0, false, &s), SB_OK);
  EQ(share(s, 0, 0, 1, &d), SB_OK);
  sb__opening o = question(&d, 0);
  EQ(sb__ipc_open(&o), SB_OK);
  EQ(sb_storage_nbytes(o.storage), 0);
  sb_storage_unref(&o.storage);
  sb_storage_unref(&s);
  wait_for_held(0);
}

static void foreign(void) { /* its own process cannot open it, and takes no use by trying */
  sb_storage *s = NULL;
  sb__shared d;
  EQ(sb__cuda_storage_new(0, 5000, NULL, &s), SB_OK);
  EQ(share(s, 1000, 4000, 1, &d), SB_OK);
  EQ(d.vram.kind, SB__VRAM_HANDLE);
  CHECK(d.vram.offset >= 1000);
  for (int i = 0; i < 3; i++) {
    sb__opening o = question(&d, 4000);
    EQ(sb__ipc_open(&o), SB_ERR_UNSUPPORTED);
  }
  sb_storage_unref(&s);
  EQ(sb__ipc_unshare(d.socket, d.token), SB_OK);
  wait_for_held(0);
}

/* ---- Peers that do not behave ---- */

static int knock(const sb__shared *d) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const size_t length = strlen(d->socket);
  const int connection = socket(AF_UNIX, SOCK_SEQPACKET, 0);
  memcpy(address.sun_path, d->socket, length);
  address.sun_path[0] = 0;
  EQ(connect(connection, (struct sockaddr *)&address,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length)),
     0);
  return connection;
}

static void noise(void) {
  sb_storage *s = NULL;
  sb__shared d;
  int silent[20];
  EQ(sb__vram_new(0, 64, false, &s), SB_OK);
  EQ(share(s, 0, 64, 1, &d), SB_OK);
  for (int i = 0; i < 20; i++) silent[i] = knock(&d);
  for (int i = 0; i < 300; i++) {
    unsigned char bytes[80];
    const int connection = knock(&d);
    for (size_t k = 0; k < sizeof bytes; k++) bytes[k] = (unsigned char)random_bits();
    if (i % 3) memcpy(bytes, "SBVR\1\0\0\0", 8);
    if (i % 3 == 2) bytes[8] = (unsigned char)(i % 5), memset(bytes + 9, 0, 7);
    if (i % 9 == 8) { /* the token, asked for and never taken */
      const uint32_t open = 1;
      memcpy(bytes + 8, &open, 4);
      memcpy(bytes + 16, &d.generation, 8);
      memcpy(bytes + 24, d.token, 16);
    }
    if (send(connection, bytes, i % 4 ? 40 : (size_t)random_in(1, 80), MSG_NOSIGNAL) > 0 && i % 2)
      CHECK(recv(connection, bytes, sizeof bytes, 0) <
            (ssize_t)sizeof bytes + 1); /* an answer, or its end */
    close(connection);
  }
  sb__opening o = question(&d, 64);
  sb_status status = SB_ERR_STALE;
  while ((status = sb__ipc_open(&o)) ==
         SB_ERR_STALE) { /* till the last that asked is known to have gone */
    o = question(&d, 64);
    usleep(1000);
  }
  EQ(status, SB_OK);
  sb_storage_unref(&o.storage);
  for (int i = 0; i < 20; i++) close(silent[i]);
  sb_storage_unref(&s);
  wait_for_held(0);
}

/* ---- Many threads ---- */

static sb__shared common;
static atomic_int opened, refused;

static void *worker(void *argument) {
  random_state = (uint64_t)(uintptr_t)argument;
  for (int i = 0; i < 30; i++) {
    sb_storage *s = NULL;
    sb__shared d;
    const int64_t nbytes = random_in(1, 100000);
    if (sb__vram_new(0, (size_t)nbytes, i % 6 == 0, &s)) return "vram_new";
    memset(sb_storage_data(s), i, (size_t)nbytes);
    if (share(s, 0, nbytes, 2, &d)) return "share";
    sb_storage_unref(&s);
    sb__opening o = question(&d, nbytes);
    if (sb__ipc_open(&o)) return "open";
    if (((char *)sb_storage_data(o.storage))[nbytes - 1] != (char)i) return "bytes";
    if (sb__ipc_unshare(d.socket, d.token)) return "unshare";
    sb_storage_unref(&o.storage);
    o = question(&common, 100);
    const sb_status status = sb__ipc_open(&o);
    if (status && status != SB_ERR_STALE) return "common";
    atomic_fetch_add(status ? &refused : &opened, 1);
    sb_storage_unref(&o.storage);
  }
  return NULL;
}

static void threads(void) {
  sb_storage *s = NULL;
  pthread_t all[6];
  EQ(sb__vram_new(0, 100, false, &s), SB_OK);
  EQ(share(s, 0, 100, 50, &common), SB_OK);
  for (uintptr_t i = 0; i < 6; i++) pthread_create(&all[i], NULL, worker, (void *)(i + 1));
  for (int i = 0; i < 6; i++) {
    void *failed = NULL;
    pthread_join(all[i], &failed);
    if (failed) printf("  %s\n", (char *)failed);
    CHECK(!failed);
  }
  EQ(opened, 50);
  EQ(refused, 130);
  sb_storage_unref(&s);
  wait_for_held(0);
}

/* ---- No memory ---- */

static sb_status all_of_it(void) {
  sb_storage *s = NULL;
  sb__shared d;
  sb_status status = sb__vram_new(0, 3000, false, &s);
  if (status) return status;
  status = share(s, 0, 3000, 1, &d);
  if (!status) {
    sb__opening o = question(&d, 3000);
    status = sb__ipc_open(&o);
    sb_storage_unref(&o.storage);
    if (status) EQ(sb__ipc_unshare(d.socket, d.token), SB_OK);
  }
  sb_storage_unref(&s);
  return status;
}

static void no_memory(void) {
  EQ(all_of_it(), SB_OK);
  wait_for_held(0);
  for (int64_t n = 1;; n++) {
    const int64_t storages = sb__storage_totals_now().storages;
    sb__fail_allocation(n);
    const sb_status status = all_of_it();
    sb__fail_allocation(0);
    wait_for_held(0);
    EQ(sb__storage_totals_now().storages, storages);
    if (!status) break;
    EQ(status, SB_ERR_MEMORY);
  }
}

/* ---- A driver that fails ---- */

static void *of_the_fake(const char *name) {
  void *library = dlopen(getenv("FAKECUDA"), RTLD_NOW | RTLD_LOCAL);
  void *address = library ? dlsym(library, name) : NULL;
  if (!address) {
    printf("not ok - the fake driver has no %s\n", name);
    exit(1);
  }
  return address;
}

static void driver_fails(void) {
  void (*fail)(const char *) = NULL;
  int64_t (*device_bytes)(void) = NULL;
  void *address = of_the_fake("fakecuda_fail");
  memcpy(&fail, &address, sizeof fail);
  address = of_the_fake("fakecuda_device_bytes");
  memcpy(&device_bytes, &address, sizeof device_bytes);
  /* Not what frees: where that fails, memory is left. */
  static const char *const names[] = {"cuMemGetAllocationGranularity",
                                      "cuMemCreate",
                                      "cuMemAddressReserve",
                                      "cuMemMap",
                                      "cuMemSetAccess",
                                      "cuMemExportToShareableHandle",
                                      "cuMemImportFromShareableHandle"};
  const int64_t storages = sb__storage_totals_now().storages, bytes = device_bytes();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    int n = 1;
    for (sb_status status = SB_ERR_DEVICE; status; n++) {
      char text[64];
      snprintf(text, sizeof text, "%s:%d:1", names[i], n);
      fail(text);
      status = all_of_it();
      fail(NULL);
      wait_for_held(0);
      EQ(sb__storage_totals_now().storages, storages);
      EQ(device_bytes(), bytes);
    }
    CHECK(n > 2);
    if (n <= 2) printf("  %s\n", names[i]);
  }
  fail("cuMemCreate:1:2,cuMemCreate:2:2");
  EQ(all_of_it(), SB_ERR_MEMORY);
  CHECK(strstr(sb_error_message(), "free"));
  fail("cuMemCreate:1:2"); /* the cache is given back, and it goes */
  EQ(all_of_it(), SB_OK);
  fail(NULL);
  wait_for_held(0);
  CHECK(device_bytes() <= bytes);
}

static void not_again(void) {
  sb_storage *keep = NULL, *s = NULL;
  sb__shared d;
  EQ(sb__vram_new(0, 100, false, &keep), SB_OK);
  EQ(sb__vram_new(0, 100, false, &s), SB_OK);
  void *first = sb_storage_data(s);
  sb_storage_unref(&s);
  EQ(sb__vram_new(0, 100, false, &s), SB_OK);
  CHECK(sb_storage_data(s) == first); /* nobody else had it */
  EQ(share(s, 0, 100, 1, &d), SB_OK);
  sb__opening o = question(&d, 100);
  EQ(sb__ipc_open(&o), SB_OK);
  sb_storage_unref(&o.storage);
  sb_storage_unref(&s);
  wait_for_held(0);
  for (int i = 0; i < 50; i++) {
    EQ(sb__vram_new(0, 100, false, &s), SB_OK);
    CHECK(sb_storage_data(s) != first);
    sb_storage_unref(&s);
  }
  sb_storage_unref(&keep);
}

int main(void) {
  setenv("SAMEBYTES_LIBCUDA", getenv("FAKECUDA"), 1);
  alarm(120); /* a wait that is in vain */
  setvbuf(stdout, NULL, _IOLBF, 0);
  test("segments have room for all sizes, and nobody's bytes are another's", rooms);
  const int before = files();
  test("what one has, the other has", there_and_back);
  const int with_server = files();
  CHECK(with_server <= before + 1); /* its socket */
  test("wrong questions are refused", wrong);
  test("nothing can be shared as well", nothing);
  test("memory of others is not opened where it is", foreign);
  test("noise and silence disturb nobody", noise);
  test("many threads share and open at once", threads);
  test("without memory nothing is left behind", no_memory);
  test("what was exported is not used again", not_again);
  EQ(sb__cuda_empty_cache(-1), SB_OK);
  wait_for_files(with_server);
  test("where the driver fails nothing is left behind", driver_fails);
  return done();
}
