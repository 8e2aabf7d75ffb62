#include <unistd.h>

#include "check.h"
#include "ipc/ring.h"

static const char *const names[] = {
#define EXPORT(name, signature, call) #name,
#include "bind/exports.def"
#undef EXPORT
};
static const char *const signatures[] = {
#define EXPORT(name, signature, call) signature,
#include "bind/exports.def"
#undef EXPORT
};
enum { ROWS = sizeof names / sizeof *names };

static double *frame;
static char bytes[4096] __attribute__((aligned(64)));
static sb__binding b;

static double strange(void) {
  static const double odd[] = {NAN,    INFINITY, -INFINITY, 0.5,     -0.0,   1e300,
                               -1e300, 0x1p53,   -0x1p53,   0x1p52,  0x1p31, -0x1p31,
                               0x1p32, 0x1p24,   0x1p63,    -0x1p63, 5e-324, 65,
                               64,     320,      321,       4096,    255,    256};
  return odd[random_in(0, sizeof odd / sizeof *odd - 1)];
}
static double number(int strangeness) { /* of 100 */
  if (random_in(0, 99) < strangeness) return strange();
  return (double)random_in(-3, 6);
}

static int64_t integer(int strangeness) {
  static const int64_t odd[] = {INT64_MIN, INT64_MAX, INT64_MIN + 1, INT64_C(1) << 62, -(INT64_C(1) << 62), INT64_C(1) << 53,
                                -(INT64_C(1) << 53), INT64_C(1) << 32, INT32_MIN, INT32_MAX, 64, 65, 320, 321, 4096, 255, 256};
  if (random_in(0, 99) < strangeness) return odd[random_in(0, sizeof odd / sizeof *odd - 1)];
  return random_in(-3, 6);
}

/* Integers of 64 bits lie among doubles. */
static void put(double *at, int64_t x) { memcpy(at, &x, sizeof x); }
static int64_t get(const double *at) {
  int64_t x = 0;
  memcpy(&x, at, sizeof x);
  return x;
}

/* Part of a descriptor's head. */
static int64_t part_of(const double *operand, int shift) { return get(operand + SB__OPERAND_HEAD) >> shift & 255; }
static void put_part(double *operand, int shift, int64_t value) {
  const int64_t head = get(operand + SB__OPERAND_HEAD) & ~(INT64_C(255) << shift);
  put(operand + SB__OPERAND_HEAD, head | (value & 255) << shift);
}
static double *shape_at(double *operand, int64_t d) { return operand + SB__OPERAND_AXES + 2 * d; }
static double *stride_at(double *operand, int64_t d) { return shape_at(operand, d) + 1; }

static void operand(double *at, int strangeness, bool touched, double handle) {
  const int64_t start = random_in(0, 3) ? 0 : random_in(0, 64);
  for (int i = 0; i < SB__OPERAND_SIZE_OF_OPERAND; i++) put(&at[i], integer(strangeness));
  at[SB__OPERAND_HANDLE] = random_in(0, 9) ? 0 : random_in(0, 1) ? handle : strange();
  at[SB__OPERAND_ADDRESS] = (double)(uintptr_t)(bytes + start);
  at[SB__OPERAND_NBYTES] = (double)random_in(0, 4096 - start);
  if (random_in(0, 199) == 0) at[SB__OPERAND_ADDRESS] = NAN;
  if (random_in(0, 199) == 0) at[SB__OPERAND_ADDRESS] = at[SB__OPERAND_NBYTES] = 0;
  put_part(at, SB__HEAD_WIDE, random_in(0, 3));
  if (random_in(0, 99) >= strangeness) put_part(at, SB__HEAD_DTYPE, random_in(0, 16));
  if (random_in(0, 99) >= strangeness)
    put_part(at, SB__HEAD_NDIM, random_in(0, 30) ? random_in(0, 4) : random_in(0, 66));
  if (random_in(0, 99) >= strangeness) put(at + SB__OPERAND_OFFSET, random_in(0, 20));
  if (random_in(0, 9)) put_part(at, SB__HEAD_FLAGS, 0);
  if (random_in(0, 2))
    for (int d = 0; d < 64; d++)
      if (get(shape_at(at, d)) < 0) put(shape_at(at, d), 1);
  /* Zero strides describe any number of elements in no room; walking those takes as long as it says. */
  double elements = 1, lower = 1; /* by 64 bits, and by 32 */
  for (int d = 0; touched && d < 64 && d < part_of(at, SB__HEAD_NDIM); d++) {
    const int64_t extent = get(shape_at(at, d));
    if (extent > 1) elements *= (double)extent;
    if ((int32_t)extent > 1) lower *= (int32_t)extent;
  }
  if (touched && !(elements < 5000 && lower < 5000)) put_part(at, SB__HEAD_NDIM, 0);
}

static void arguments(const char *signature, int strangeness, double handle) {
  double *at = frame + SB__FRAME_ARGS;
  int64_t before = -2; /* entries of the list before */
  for (int i = 0; i < 640; i++) at[i] = number(strangeness);
  for (; *signature && *signature != '>'; signature++) {
    if (*signature == 'n') {
      if (random_in(0, 3) == 0) *at = (double)random_in(0, 16);
      if (random_in(0, 30) == 0) *at = handle;
      at++;
    } else if (*signature == 'i') {
      put(at++, random_in(0, 3) ? integer(strangeness) : random_in(0, 16));
    } else if (*signature == 'l') {
      int64_t n =
          random_in(0, 50) ? random_in(0, 5) * (random_in(0, 1) ? 5 : 1) : random_in(-1, 320);
      if (before != -2 && random_in(0, 9)) n = random_in(0, 1) ? -1 : before; /* missing, or as long */
      if (before != -1) before = n;
      const int64_t count = random_in(0, 99) >= strangeness ? n : (int32_t)random_bits();
      put(at++, random_in(0, 1) << 32 | (int64_t)(uint32_t)count);
      for (int64_t i = 0; i < n && at < frame + SB__FRAME_ARGS + 640; i++) put(at++, integer(strangeness));
    } else if (*signature == 's') {
      if (random_in(0, 9)) *at = (double)random_in(0, 4);
      if (random_in(0, 1)) memcpy(at + 1, &(uint64_t){random_bits()}, 8);
      at += 3;
    }
    if (at > frame + SB__FRAME_ARGS + 600) break;
  }
}

enum { PLACES = 2 };

/* A claim on a ring's control words, of 4 slots and frames of 8 bytes, with places for readers; 0 without memory. */
static double new_ring(void) {
  sb_storage *storage = NULL;
  double handle = 0;
  if (sb_storage_new((size_t)sbr_words(4, PLACES) * 8, &storage)) return 0;
  const sb__ring ring = {storage, 4, PLACES};
  CHECK(sb__ring_make(&ring, 8) == SB_OK);
  if (sb__claim_new(&b, storage, &handle)) sb_storage_unref(&storage);
  return handle;
}

/* There is none here. */
static bool needs_driver(const char *row) { return !strncmp(row, "cuda_", 5) || !strncmp(row, "pinned_", 7); }

static void garbage(void) {
  static int64_t good[ROWS];
  FILE *file = tmpfile();
  CHECK(file);
  double handle = 0, parcel = 0, ring = 0;
  random_state = 33;
  for (int round = 0; round < 5000 * ROWS; round++) { /* so that each row is called as often */
    const int strangeness = round % 4 == 0 ? 40 : round % 4 == 1 ? 5 : 1;
    const uint32_t row =
        random_in(0, 500) ? (uint32_t)random_in(0, ROWS - 1) : (uint32_t)(random_bits() >> 32);
    const char *signature = row < ROWS ? signatures[row] : "";
    int tensors = 0;
    for (int i = 0; i < SB__FRAME_OPERANDS; i++) frame[i] = number(50);
    for (const char *s = signature; *s && *s != '>'; s++) {
      if (!strchr("vtwb", *s)) continue;
      operand(frame + SB__FRAME_OPERANDS + tensors++ * SB__OPERAND_SIZE_OF_OPERAND, strangeness,
              *s != 'v', handle);
    }
    arguments(signature, strangeness, handle);
    double *target = frame + SB__FRAME_OPERANDS, *source = target + SB__OPERAND_SIZE_OF_OPERAND;
    if (tensors > 1 && random_in(0, 1))
      put_part(source, SB__HEAD_DTYPE, part_of(target, SB__HEAD_DTYPE));
    if (tensors > 2 && random_in(0, 1)) { /* of the target's shape: rarely so by chance */
      const size_t first = SB__OPERAND_OFFSET, rest = SB__OPERAND_SIZE_OF_OPERAND - first;
      memcpy(source + first, target + first, rest * sizeof(double));
      put_part(source, SB__HEAD_NDIM, part_of(target, SB__HEAD_NDIM));
      put_part(source, SB__HEAD_WIDE, part_of(target, SB__HEAD_WIDE));
    }
    for (int k = 2; k < tensors && random_in(0, 7); k++) { /* factors have to be float64, mostly one */
      double *at = frame + SB__FRAME_OPERANDS + k * SB__OPERAND_SIZE_OF_OPERAND;
      put_part(at, SB__HEAD_DTYPE, SB_FLOAT64);
      put_part(at, SB__HEAD_NDIM, random_in(0, 7) == 0);
    }
    double *first = frame + SB__FRAME_ARGS;
    if (strstr(signature, "vl") == signature && random_in(0, 1)) { /* as many as axes, which are dense */
      const int64_t ndim = part_of(target, SB__HEAD_NDIM), axes = ndim <= 4 ? ndim : 0;
      uint64_t stride = 1; /* may overflow */
      put(first, axes);
      for (int64_t d = axes - 1; d >= 0; d--) {
        put(stride_at(target, d), (int64_t)stride);
        stride *= (uint64_t)get(shape_at(target, d));
      }
    }
    if (tensors > 2 && random_in(0, 1)) first[1] = SB_CASTING_UNSAFE;
    if (row < ROWS && !strcmp(names[row], "copy_by_numbers") && random_in(0, 7)) { /* factors follow: how many, the numbers */
      double *at = first + 2;
      first[1] = SB_CASTING_UNSAFE;
      for (int k = 0; k < 2; k++) {
        const int64_t n = random_in(0, 3) ? -1 : random_in(0, 3) ? random_in(0, 8) : random_in(0, 700);
        *at = (double)n;
        at += n < 0 ? 2 : 1 + (n < 300 ? n : 300);
      }
    }
    if (strstr(signature, "ssssn") && random_in(0, 3)) { /* low, high, seed, offset, stream */
      for (int k = 0; k < 4; k++)
        first[3 * k] = k < 2 ? SB_SCALAR_REAL : (double)random_in(SB_SCALAR_INT, SB_SCALAR_UINT);
      for (int k = 0; k < 2; k++) first[3 * k + 1] = (double)random_in(0, 4);
      if (random_in(0, 3)) first[12] = (double)random_in(0, 16);
    }
    if (row < ROWS && !strcmp(names[row], "take") && random_in(0, 15)) { /* indices along an axis of the target */
      double *indices = source + SB__OPERAND_SIZE_OF_OPERAND;
      const int64_t axis = random_in(0, 2);
      put_part(source, SB__HEAD_DTYPE, part_of(target, SB__HEAD_DTYPE));
      put_part(indices, SB__HEAD_DTYPE, random_in(SB_UINT8, SB_UINT64));
      put_part(indices, SB__HEAD_NDIM, 1);
      put(shape_at(indices, 0), get(shape_at(target, axis)));
      put(stride_at(indices, 0), random_in(0, 2));
      first[0] = (double)axis;
    }
    if (row < ROWS && strstr("parcel_take parcel_nbytes parcel_drop", names[row]) && random_in(0, 3))
      *first = parcel;
    /* gigabytes would be granted, and cost seconds to poison */
    if (row < ROWS && !strcmp(names[row], "storage_new") && *first > 4096 && *first < 0x1p50)
      *first = 4096;
    if (row < ROWS && !strcmp(names[row], "parse") && random_in(0, 3)) { /* a file that is one, mostly */
      static const char npy[] =
          "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }";
      double *in = frame + SB__FRAME_OPERANDS, *out = in + SB__OPERAND_SIZE_OF_OPERAND;
      memset(bytes, ' ', 128);
      memcpy(bytes, npy, sizeof npy - 1);
      bytes[127] = '\n';
      if (!random_in(0, 3)) bytes[random_in(0, 127)] ^= 1;
      in[SB__OPERAND_HANDLE] = out[SB__OPERAND_HANDLE] = 0;
      in[SB__OPERAND_ADDRESS] = (double)(uintptr_t)bytes;
      out[SB__OPERAND_ADDRESS] = (double)(uintptr_t)(bytes + 2048);
      in[SB__OPERAND_NBYTES] = out[SB__OPERAND_NBYTES] = 1024;
      first[0] = first[2] = 0;
      first[1] = 1024;
    }
    /* descriptors are the caller's to vouch for, as addresses are: ours, or none */
    if (row < ROWS && strstr("map_file reserve_file file_hold file_is_sealed lock_file link_file", names[row])) {
      first[0] = random_in(0, 7) ? (double)fileno(file) : -1;
      for (int k = 1; k < 3; k++)
        if (fabs(first[k]) < 0x1p50) first[k] = fmin(first[k], 4096);
    }
    /* words that processes wait on, and rings of them: rarely such by chance */
    const bool is_ring = row < ROWS && strstr(names[row], "ring_") == names[row];
    if ((is_ring || (row < ROWS && strstr("wait_check wake", names[row]))) && random_in(0, 3)) {
      if (ring == 0) ring = new_ring();
      frame[SB__FRAME_OPERANDS + SB__OPERAND_HANDLE] = ring;
      first[0] = is_ring ? 4 : 4 * (double)random_in(0, 3);
      first[1] = is_ring ? (strstr("ring_make ring_judge", names[row]) ? 8 : (double)random_in(0, 9)) : 0;
      for (int k = 2; k < 7 && random_in(0, 7); k++) first[k] = 0; /* nobody writes */
      if (strstr("ring_join ring_advance ring_room", names[row])) {
        first[1] = PLACES;
        first[2] = (double)random_in(0, 9);
      }
    }
    /* pages of shared memory are really there: no more than a few */
    if (row < ROWS && !strcmp(names[row], "segment_new") && first[2] > 4096) first[2] = 4096;
    int segment = -1;
    char *name = (char *)(frame + SB__FRAME_TEXT);
    if (row < ROWS && !strcmp(names[row], "link_file")) {
      int error = 0;
      snprintf(name, 64, "/dev/shm/samebytes-fuzz-%ld", (long)getpid());
      if (!random_in(0, 3)) name[random_in(0, 8)] = '/';
      if (!random_in(0, 7)) memset(name, 'x', 512); /* without an end */
      else if (!random_in(0, 3)) segment = sb__os_segment_new(false, 0600, 64, &error);
      if (segment >= 0) first[0] = segment;
    }
    frame[SB__FRAME_STATUS] = -1;
    sb__run(&b, row);
    if (segment >= 0) {
      char path[64];
      snprintf(path, sizeof path, "/dev/shm/samebytes-fuzz-%ld", (long)getpid());
      unlink(path);
      uint64_t inode = 0;
      if (sb__os_file_inode(segment, &inode)) sb__os_segment_forget(inode); /* its draft, if it has one */
      close(segment);
    }
    if (row < ROWS && !strcmp(names[row], "parse")) memset(bytes, 0, 128); /* indices of others are there */
    const double status = frame[SB__FRAME_STATUS];
    CHECK(status >= 0 && status <= SB_ERR_EXISTS && status == floor(status));
    if (status) {
      const char *text = (const char *)(frame + SB__FRAME_TEXT);
      CHECK(text[0] && memchr(text, 0, 512));
    } else if (row < ROWS) {
      good[row]++;
      if (!strcmp(names[row], "storage_new")) handle = frame[SB__FRAME_RESULTS];
      if (!strcmp(names[row], "parcel_new")) parcel = frame[SB__FRAME_RESULTS];
    }
    if (row >= ROWS) EQ(status, SB_ERR_ARGUMENT);
    if (!status && strchr(signature, '>') &&
        strchr(strchr(signature, '>'), 'v')) { /* what came out can go in */
      const double *out = frame + SB__FRAME_OUT;
      CHECK(part_of(out, SB__HEAD_NDIM) <= 64);
      CHECK(sb__check_extent(&b.operands[0]) == SB_OK || !b.operands[0].storage);
    }
    if (round % 500 == 499) {
      sb__claims_drop_all(&b);
      sb__fail_allocation(0);
      ring = 0;
    }
  }
  fclose(file);
  for (int r = 0; r < ROWS; r++)
    if (good[r] < 20 && !needs_driver(names[r])) {
      printf("  only %d calls of %s succeeded\n", (int)good[r], names[r]);
      CHECK(good[r] >= 20);
    }
  sb__fail_allocation(0);
  sb__claims_drop_all(&b);
}

static void pure_noise(void) { /* every double of the frame is random bits; addresses stay honest */
  random_state = 32;
  for (int round = 0; round < 20000; round++) {
    for (int i = 0; i < SB__FRAME_SIZE; i++) {
      const uint64_t bits = random_bits();
      memcpy(&frame[i], &bits, 8);
    }
    for (int k = 0; k < 4; k++) {
      double *at = frame + SB__FRAME_OPERANDS + k * SB__OPERAND_SIZE_OF_OPERAND;
      at[SB__OPERAND_ADDRESS] = (double)(uintptr_t)bytes;
      at[SB__OPERAND_NBYTES] = 4096;
      if (round & 1) at[SB__OPERAND_HANDLE] = 0;
    }
    sb__run(&b, (uint32_t)random_in(0, ROWS));
    CHECK(frame[SB__FRAME_STATUS] >= 0 && frame[SB__FRAME_STATUS] <= SB_ERR_EXISTS);
    sb__claims_drop_all(&b);
    sb__fail_allocation(0);
  }
}

int main(void) {
  frame = malloc(SB__FRAME_SIZE * sizeof(double)); /* ASan guards both ends */
  if (!frame) return 2;
  setenv("SAMEBYTES_LIBCUDA", "/nonexistent/libcuda.so.1", 1);
  b.frame = frame;
  test("sb__run survives 5,000 garbage frames a row and always answers with a status", garbage);
  test("sb__run survives 20,000 frames of random bits", pure_noise);
  free(frame);
  return done();
}
