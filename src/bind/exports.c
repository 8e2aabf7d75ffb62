/* The functions of exports.def: what each does with a binding's operands and numbers. */
#include <string.h>

#include "bind/exports.h"
#include "ops/copy.h"
#include "ops/series.h"
#include "formats/formats.h"
#include "ipc/futex.h"
#include "ipc/map.h"
#include "ipc/transfer.h"
#include "ipc/ring.h"
#include "ipc/shm.h"

#define T(i) (&b->operands[i])
#define N(i) (b->numbers[i])
#define COUNT(i) ((int32_t)b->counts[i])
#define LIST(i) (b->lists[i].integers)
#define SCALAR(i) (&b->scalars[i])
#define OUT (&b->operands[0]) /* views are made in place */
#define RESULT(i) (b->results[i])

/* ---- Rows that need more than one call ---- */

static sb_status answer(sb__binding *b, bool yes) {
  RESULT(0) = yes;
  return SB_OK;
}

static sb_status check_count(sb__binding *b, const char *name, int list) {
  if (COUNT(list) < 0 || COUNT(list) == COUNT(0)) return SB_OK;
  return sb__fail(SB_ERR_SHAPE, "%s has %d entries; the shape has %d", name, COUNT(list), COUNT(0));
}

static sb_status dense_ordered(sb__binding *b) {
  int64_t strides[SB_MAX_DIMS], numel = 0;
  sb_status status = check_count(b, "dimOrder", 1);
  if (!status) status = sb__check_shape(COUNT(0), LIST(0), &numel);
  if (!status) status = sb_dim_order_strides(COUNT(0), LIST(0), LIST(1), strides);
  if (status) return status;
  return sb_tensor_init(NULL, (sb_dtype)N(0), COUNT(0), LIST(0), strides, 0, OUT);
}

/* Lists: shape, strides, and dimOrder, with which they have to agree, where one is given. The number is
 * how many elements a storage needs. */
static sb_status strided(sb__binding *b) {
  int64_t made[SB_MAX_DIMS], numel = 0, elements = 0;
  sb_status status = sb__check_shape(COUNT(0), LIST(0), &numel);
  if (!status) status = check_count(b, "strides", 1);
  if (!status) status = check_count(b, "dimOrder", 2);
  if (!status && COUNT(1) < 0) status = sb__fail(SB_ERR_ARGUMENT, "strides are missing");
  if (!status && COUNT(2) >= 0) {
    status = sb_dim_order_strides(COUNT(0), LIST(0), LIST(2), made); /* checks the order */
    if (!status) status = sb__check_dim_order(COUNT(0), LIST(0), LIST(1), LIST(2));
  }
  if (!status) status = sb__strided((sb_dtype)N(0), COUNT(0), LIST(0), LIST(1), OUT, &elements);
  RESULT(0) = (double)elements;
  return status;
}

/* Lists: shape, strides, dimOrder; either of the latter may be missing. Numbers: offset; 1: inside the
 * tensor's own elements, 0: inside its storage. */
static sb_status as_strided(sb__binding *b) {
  int64_t made[SB_MAX_DIMS], numel = 0;
  const int64_t *strides = COUNT(1) < 0 ? NULL : LIST(1);
  const sb_tensor whole = *T(0); /* OUT takes its place */
  sb_status status = check_count(b, "strides", 1);
  if (!status) status = check_count(b, "dimOrder", 2);
  if (!status) status = sb__check_shape(COUNT(0), LIST(0), &numel);
  if (!status && COUNT(2) >= 0) {
    status = sb_dim_order_strides(COUNT(0), LIST(0), LIST(2), made); /* checks the order, too */
    if (!status && strides) status = sb__check_dim_order(COUNT(0), LIST(0), strides, LIST(2));
    if (!strides) strides = made;
  }
  if (!status) status = sb_as_strided(&whole, COUNT(0), LIST(0), strides, N(0), OUT);
  return status || !N(1) ? status : sb__check_within(OUT, &whole);
}

static sb_status extent(sb__binding *b) {
  int64_t lowest = 0, highest = 0;
  if (!sb__extent(T(0), &lowest, &highest)) return sb__fail(SB_ERR_BOUNDS, "the extent overflows");
  RESULT(0) = (double)lowest;
  RESULT(1) = (double)highest;
  return SB_OK;
}

static sb_status reshape(sb__binding *b) {
  bool viewed = false;
  const sb_status status = sb_reshape(T(0), COUNT(0), LIST(0), OUT, &viewed);
  RESULT(0) = viewed;
  return status;
}

/* The result's shape is the list of axes. */
static sb_status dim_order(sb__binding *b) {
  int64_t order[SB_MAX_DIMS];
  sb_dim_order(T(0), order);
  memcpy(OUT->shape, order, (size_t)OUT->ndim * sizeof *order);
  return SB_OK;
}

static sb_status is_contiguous_in(sb__binding *b) {
  int64_t strides[SB_MAX_DIMS];
  if (COUNT(0) != T(0)->ndim) {
    return sb__fail(SB_ERR_SHAPE, "the memory format has %d axes; the tensor has %d", COUNT(0),
                    T(0)->ndim);
  }
  const sb_status status = sb_dim_order_strides(COUNT(0), T(0)->shape, LIST(0), strides);
  return status ? status : answer(b, sb_is_contiguous_in(T(0), LIST(0)));
}

/* Lists: shape; order of axes in memory, or none. Numbers: dynamism and capacity, which the frame's
 * descriptors lack. */
static sb_status resize(sb__binding *b) {
  bool outgrown = false;
  const sb_status counted = check_count(b, "dimOrder", 1);
  if (counted) return counted;
  if (N(0) < SB_STATIC || N(0) > SB_UNBOUND)
    return sb__fail(SB_ERR_ARGUMENT, "dynamism is %lld; %d to %d are possible", (long long)N(0),
                    SB_STATIC, SB_UNBOUND);
  T(0)->dynamism = (int32_t)N(0);
  T(0)->capacity = N(1);
  const sb_status status =
      sb_resize(T(0), COUNT(0), LIST(0), COUNT(1) < 0 ? NULL : LIST(1), OUT, &outgrown);
  RESULT(0) = outgrown;
  return status;
}

static sb_status promote_types(sb__binding *b) {
  sb_dtype out = SB_BOOL;
  const sb_status status = sb_promote_types((sb_dtype)N(0), (sb_dtype)N(1), &out);
  RESULT(0) = (double)out;
  return status;
}

static sb_status finfo(sb__binding *b) {
  sb_float_info info = {0};
  const sb_status status = sb_finfo((sb_dtype)N(0), &info);
  RESULT(0) = info.eps;
  RESULT(1) = info.max;
  RESULT(2) = info.smallest_normal;
  return status;
}

/* The results are the hash's upper and lower half. */
static sb_status hash(sb__binding *b) {
  uint64_t value = 0;
  const sb_status status = sb_hash(T(0), &value);
  RESULT(0) = (double)(value >> 32);
  RESULT(1) = (double)(value & UINT32_MAX);
  return status;
}

static sb_status shares_memory(sb__binding *b) {
  bool shared = false;
  const sb_status status = sb_shares_memory(T(0), T(1), &shared);
  RESULT(0) = shared;
  return status;
}

static sb_status array_equal(sb__binding *b) {
  bool equal = false;
  const sb_status status = sb_array_equal(T(0), T(1), N(0) != 0, &equal);
  RESULT(0) = equal;
  return status;
}

/* Scalars: rtol and atol. Number: whether NaN equals NaN. */
static sb_status all_close(sb__binding *b) {
  bool close = false;
  if (SCALAR(0)->kind != SB_SCALAR_REAL || SCALAR(1)->kind != SB_SCALAR_REAL) {
    return sb__fail(SB_ERR_ARGUMENT, "rtol or atol is no real number");
  }
  const sb_status status =
      sb_all_close(T(0), T(1), SCALAR(0)->as.real, SCALAR(1)->as.real, N(0) != 0, &close);
  RESULT(0) = close;
  return status;
}

static sb_status copy_operands(sb__binding *b) {
  int64_t staged = 0;
  const sb_status status = sb_copy(T(0), T(1), (sb_casting)N(0), &staged);
  RESULT(0) = (double)staged;
  return status;
}

static sb_status copy_scaled(sb__binding *b) {
  int64_t staged = 0;
  const sb_status status = sb_copy_scaled(T(0), T(1), T(2), T(3), N(0), (sb_casting)N(1), &staged);
  RESULT(0) = (double)staged;
  return status;
}

/* A factor that is in the call buffer: how many numbers (-1: one for all elements), the numbers. */
static sb_status read_factor(double **at, const double *end, sb_storage *storage, sb_tensor *out) {
  const double count = *(*at)++;
  const int64_t n = count >= 0 && count <= SB__FRAME_SIZE ? (int64_t)count : 1;
  if (count > SB__FRAME_SIZE || n > end - *at)
    return sb__fail(SB_ERR_ARGUMENT, "there is no room for so many factors");
  sb__storage_borrow(*at, (size_t)n * sizeof(double), storage);
  *at += n;
  return sb_tensor_init(storage, SB_FLOAT64, count >= 0, &n, NULL, 0, out);
}

/* Scale and bias follow the numbers. */
static sb_status copy_by_numbers(sb__binding *b) {
  double *at = b->frame + SB__FRAME_ARGS + 2, *end = b->frame + SB__FRAME_TEXT;
  sb_status status = read_factor(&at, end, &b->borrowed[2], T(2));
  if (!status) status = read_factor(&at, end, &b->borrowed[3], T(3));
  return status ? status : copy_scaled(b);
}

sb__copy sb__copy_of(const sb__binding *b, bool scaled) {
  if (!scaled) return (sb__copy){T(0), T(1), NULL, NULL, 0, (sb_casting)N(0)};
  return (sb__copy){T(0), T(1), T(2), T(3), N(0), (sb_casting)N(1)};
}

/* The result: pieces of it would get into each other's way. No byte is touched. */
static sb_status copy_check(sb__binding *b, bool scaled) {
  bool collides = false;
  const sb__copy c = sb__copy_of(b, scaled);
  const sb_status status = sb__copy_check(&c, &collides);
  RESULT(0) = collides;
  return status;
}

/* Numbers: most elements of a piece; 1: each in one stretch of memory. The results are the first piece
 * and the axis along which others follow. */
static sb_status cut(sb__binding *b) {
  int64_t extents[SB_MAX_DIMS];
  if (N(0) < 1)
    return sb__fail(SB_ERR_BOUNDS, "pieces have %lld elements; 1 or more was expected",
                    (long long)N(0));
  RESULT(0) = sb__piece_extents(T(0), N(0), N(1) != 0, extents);
  memcpy(OUT->shape, extents, (size_t)OUT->ndim * sizeof *extents);
  return SB_OK;
}

typedef enum distribution { DRAW_UNIFORM, DRAW_NORMAL, DRAW_INTEGERS } distribution;

/* Scalars 0 and 1 are the distribution's parameters, 2 and 3 seed and offset of a generator, number 0 its
 * stream. The result is how far the generator moved on, in words. */
static sb_status random_fill(sb__binding *b, distribution kind) {
  for (int i = 2; i < 4; i++) {
    if (SCALAR(i)->kind != SB_SCALAR_INT && SCALAR(i)->kind != SB_SCALAR_UINT) {
      return sb__fail(SB_ERR_ARGUMENT, "%s is no 64-bit integer", i == 2 ? "seed" : "offset");
    }
  }
  if (N(0) < 0 || N(0) > UINT32_MAX) {
    return sb__fail(SB_ERR_BOUNDS, "stream is %lld; 0 to 4294967295 is possible", (long long)N(0));
  }
  for (int i = 0; kind != DRAW_INTEGERS && i < 2; i++) {
    if (SCALAR(i)->kind != SB_SCALAR_REAL) {
      return sb__fail(SB_ERR_ARGUMENT, "parameter %d is no real number", i);
    }
  }
  sb_generator generator = {SCALAR(2)->as.u, SCALAR(3)->as.u, (uint32_t)N(0)};
  sb_status status = SB_OK;
  switch (kind) {
    case DRAW_UNIFORM:
      status = sb_uniform(T(0), SCALAR(0)->as.real, SCALAR(1)->as.real, &generator);
      break;
    case DRAW_NORMAL:
      status = sb_normal(T(0), SCALAR(0)->as.real, SCALAR(1)->as.real, &generator);
      break;
    case DRAW_INTEGERS: status = sb_randint(T(0), SCALAR(0), SCALAR(1), &generator); break;
  }
  RESULT(0) = (double)(generator.offset - SCALAR(3)->as.u);
  return status;
}

/* Scalars: start, stop. The number: is stop the last element? */
static sb_status linspace(sb__binding *b) {
  for (int i = 0; i < 2; i++) {
    if (SCALAR(i)->kind != SB_SCALAR_REAL) {
      return sb__fail(SB_ERR_ARGUMENT, "%s is no real number", i ? "stop" : "start");
    }
  }
  return sb_linspace(T(0), SCALAR(0)->as.real, SCALAR(1)->as.real, N(0) != 0);
}

/* handle and address of a new storage on the native heap (in WASM: in linear memory). */
static sb_status storage_new(sb__binding *b) {
  sb_storage *storage = NULL;
  if (N(0) < 0 || (uint64_t)N(0) > SIZE_MAX) {
    return sb__fail(SB_ERR_MEMORY, "%lld bytes cannot be allocated", (long long)N(0));
  }
  sb_status status = sb_storage_new((size_t)N(0), &storage);
  if (status) return status;
  status = sb__claim_new(b, storage, &RESULT(0));
  if (status) {
    sb_storage_unref(&storage);
    return status;
  }
  RESULT(1) = (double)(uintptr_t)sb_storage_data(storage);
  return SB_OK;
}

#ifdef __wasm__
/* Numbers: an address of linear memory, bytes, whether the storage that has them is claimed. The result is then the
 * handle of a storage of just these bytes, which keeps that one. */
static sb_status storage_at(sb__binding *b) {
  sb_storage *storage = NULL;
  sb_status status = sb__storage_at((uint32_t)N(0), (size_t)N(1), N(2) ? &storage : NULL);
  if (status || !storage) return status;
  status = sb__claim_new(b, storage, &RESULT(0));
  if (status) sb_storage_unref(&storage);
  return status;
}
#endif

#ifndef __wasm__
/* Of the first storage's bytes into the second one's doubles. Numbers: the parser, bytes of the whole file, where the
 * given ones begin in it. The results are how many doubles there are, and how many bytes are wanted (0: none) for all
 * of them. */
static sb_status parse(sb__binding *b) {
  const sb_storage *in = T(0)->storage, *out = T(1)->storage;
  const sb_status here = sb__check_host("what is parsed", in);
  if (here) return here;
  if (N(2) < 0 || (uint64_t)N(1) < in->nbytes || (!in->data && in->nbytes) ||
      (!out->data && out->nbytes) || SB__ON_DEVICE(out) || (uintptr_t)out->data % sizeof(double)) {
    return sb__fail(SB_ERR_ARGUMENT, "there is nothing to parse");
  }
  sb__reader r = {.bytes = in->data,
                  .given = (int64_t)in->nbytes,
                  .total = N(1),
                  .base = N(2),
                  .words = out->data,
                  .room = (int64_t)(out->nbytes / sizeof(double))};
  const sb_status status = sb__parse(N(0), &r);
  RESULT(0) = (double)r.count;
  RESULT(1) = (double)r.wanted;
  return status;
}

#endif

/* Number: bytes of an item, of which the storage is full. */
static sb_status swap_bytes(sb__binding *b) {
  sb_storage *storage = T(0)->storage;
  if (N(0) != 2 && N(0) != 4 && N(0) != 8) {
    return sb__fail(SB_ERR_ARGUMENT, "items have %lld bytes; 2, 4 or 8 was expected",
                    (long long)N(0));
  }
  if (!storage->data && storage->nbytes) {
    return sb__fail(SB_ERR_ARGUMENT, "the bytes have no address");
  }
  const sb_status status = sb__check_host("the storage", storage);
  if (status) return status;
  sb__swap_bytes(storage->data, (int64_t)storage->nbytes / N(0), (int32_t)N(0));
  return SB_OK;
}

#ifndef __wasm__
/* The storage's reference becomes a claim of this environment; handle and address are the results. */
static sb_status give_storage(sb__binding *b, sb_storage *storage) {
  RESULT(1) = (double)(uintptr_t)sb_storage_data(storage);
  b->guarded_count = 0; /* nothing fails any more once there is a claim */
  const sb_status status = sb__claim_new(b, storage, &RESULT(0));
  if (status) sb_storage_unref(&storage);
  return status;
}

/* Numbers: file descriptor, first byte, bytes, whether writes reach the file, whether it is guarded. A failure leaves the system's error
 * number in the first result. */
static sb_status map_file(sb__binding *b) {
  sb_storage *storage = NULL;
  int error = 0;
  sb_status status = sb__map_file(N(0), N(1), N(2), N(3) != 0, &storage, &error);
  b->frame[SB__FRAME_RESULTS] = error;
  if (!status && N(4)) status = sb__map_guard(storage);
  if (!status) return give_storage(b, storage);
  sb_storage_unref(&storage);
  return status;
}

/* Numbers: file descriptor, bytes. The result is the system's error number. */
static sb_status reserve_file(sb__binding *b) {
  if (N(0) < 0 || N(0) > INT32_MAX || N(1) < 0) return sb__fail(SB_ERR_ARGUMENT, "this is no file");
  RESULT(0) = sb__os_reserve((int)N(0), N(1));
  return SB_OK;
}

/* Numbers: a word's first byte, what it should be. The result is SB__TIMED_OUT where it is, else SB__NOT_EQUAL. */
static sb_status wait_check(sb__binding *b) {
  void *word = NULL;
  bool is_equal = false;
  sb_status status = sb__futex_at(T(0)->storage, N(0), &word);
  if (status) return status;
  if (N(1) < 0 || N(1) > UINT32_MAX)
    return sb__fail(SB_ERR_BOUNDS, "there is no word %lld", (long long)N(1));
  status = sb__futex_equals(word, (uint32_t)N(1), &is_equal);
  RESULT(0) = is_equal ? SB__TIMED_OUT : SB__NOT_EQUAL;
  return status;
}

/* Numbers: a word's first byte, how many to wake at most. The result is how many were. */
static sb_status wake_word(sb__binding *b) {
  void *word = NULL;
  int64_t woken = 0;
  sb_status status = sb__futex_at(T(0)->storage, N(0), &word);
  if (!status) status = sb__futex_wake(word, N(1), &woken);
  RESULT(0) = (double)woken;
  return status;
}

/* The first operand is a ring's control words, the first number its slots. */
static sb__ring ring_of(const sb__binding *b) {
  return (sb__ring){.control = T(0)->storage, .slots = N(0)};
}

/* Two numbers of 32 bits each: the upper half first. */
static uint64_t halves(const sb__binding *b, int at) {
  return (uint64_t)N(at) << 32 | (uint32_t)N(at + 1);
}

static sb_status ring_make(sb__binding *b) {
  sb__ring ring = ring_of(b);
  ring.readers = N(2);
  return sb__ring_make(&ring, N(1));
}

/* The result is the number of places for readers. */
static sb_status ring_judge(sb__binding *b) {
  sb__ring ring = ring_of(b);
  const sb_status status = sb__ring_check(&ring, N(1));
  RESULT(0) = (double)ring.readers;
  return status;
}

/* Numbers: slots, the word's index. The results are its halves. */
static sb_status ring_word(sb__binding *b) {
  const sb__ring ring = ring_of(b);
  uint64_t word = 0;
  const sb_status status = sb__ring_word(&ring, N(1), &word);
  RESULT(0) = (double)(word >> 32);
  RESULT(1) = (double)(uint32_t)word;
  return status;
}

/* The results are handle and address of the role, the count of frames, halves of the writer's word. */
static sb_status ring_claim(sb__binding *b) {
  const sb__ring ring = ring_of(b);
  sb_storage *role = NULL;
  uint64_t mine = 0, count = 0;
  sb_status status = sb__ring_claim(&ring, &role, &mine, &count);
  if (!status) status = give_storage(b, role);
  RESULT(2) = (double)count;
  RESULT(3) = (double)(mine >> 32);
  RESULT(4) = (double)(uint32_t)mine;
  return status;
}

static sb_status ring_recover(sb__binding *b) {
  const sb__ring ring = ring_of(b);
  return sb__ring_recover(&ring);
}

/* Numbers: slots, the frame, halves of the writer's word. */
static sb_status ring_begin(sb__binding *b) {
  const sb__ring ring = ring_of(b);
  return sb__ring_begin(&ring, N(1), halves(b, 2));
}

/* The second operand of the following is the frames: what was written to them, or read, counts if they are all there. Numbers:
 * slots, the frame, halves of its tag. */
static sb_status ring_commit(sb__binding *b) {
  const sb__ring ring = ring_of(b);
  return sb__ring_commit(&ring, N(1), halves(b, 2));
}

/* The results are whether the frame is in its slot, and halves of its tag. */
static sb_status ring_has(sb__binding *b) {
  const sb__ring ring = ring_of(b);
  bool has = false;
  uint64_t tag = 0;
  const sb_status status = sb__ring_has(&ring, N(1), &has, &tag);
  RESULT(0) = has;
  RESULT(1) = (double)(tag >> 32);
  RESULT(2) = (double)(uint32_t)tag;
  return status;
}

/* Numbers of the following: slots, places for readers, and a frame; of a reader also its place and its word's halves. */
static sb_status ring_join(sb__binding *b) {
  sb__ring ring = ring_of(b);
  sb__ring_seat seat = {0};
  ring.readers = N(1);
  sb_status status = sb__ring_join(&ring, N(2), &seat);
  if (!status) status = give_storage(b, seat.seat);
  RESULT(2) = (double)seat.next;
  RESULT(3) = (double)seat.place;
  RESULT(4) = (double)(seat.mine >> 32);
  RESULT(5) = (double)(uint32_t)seat.mine;
  return status;
}

static sb_status ring_advance(sb__binding *b) {
  sb__ring ring = ring_of(b);
  ring.readers = N(1);
  return sb__ring_advance(&ring, N(3), halves(b, 4), N(2));
}

static sb_status ring_room(sb__binding *b) {
  sb__ring ring = ring_of(b);
  sb__ring_room room = {0};
  ring.readers = N(1);
  const sb_status status = sb__ring_find_room(&ring, N(2), &room);
  RESULT(0) = room.is_free;
  RESULT(1) = room.moves;
  RESULT(2) = (double)room.reader;
  RESULT(3) = (double)room.behind;
  return status;
}

static sb_status storage_part(sb__binding *b) {
  sb_storage *storage = NULL;
  const sb_status status = sb__storage_part(T(0)->storage, N(0), N(1), &storage);
  return status ? status : give_storage(b, storage);
}

/* A file that a storage holds: the results are its handle and the descriptor, or the system's error number. */
static sb_status give_file(sb__binding *b, sb_status status, sb_storage *storage, int file,
                           int error) {
  b->frame[SB__FRAME_RESULTS] = error;
  if (!status) status = give_storage(b, storage);
  RESULT(1) = file;
  return status;
}

/* Number: file descriptor, of which another one is made. */
static sb_status file_hold(sb__binding *b) {
  sb_storage *storage = NULL;
  int file = -1, error = 0;
  const sb_status status = sb__file_hold(N(0), &storage, &file, &error);
  return give_file(b, status, storage, file, error);
}

static sb_status file_is_sealed(sb__binding *b) {
  return answer(b, N(0) >= 0 && N(0) <= INT32_MAX && sb__os_is_sealed((int)N(0)));
}

/* Numbers: file descriptor, a sb__file_lock. The result is the system's error number. */
static sb_status lock_file(sb__binding *b) {
  if (N(0) < 0 || N(0) > INT32_MAX || N(1) < SB__UNLOCKED || N(1) > SB__LOCK_ASKED)
    return sb__fail(SB_ERR_ARGUMENT, "this is no file, or no lock");
  RESULT(0) = sb__os_lock_file((int)N(0), (sb__file_lock)N(1));
  return SB_OK;
}

/* Numbers: whether it is sealed, permissions, bytes. */
static sb_status segment_new(sb__binding *b) {
  sb_storage *storage = NULL;
  int file = -1, error = 0;
  const sb_status status = sb__segment_new(N(0) != 0, N(1), N(2), &storage, &file, &error);
  return give_file(b, status, storage, file, error);
}

/* Number: file descriptor; the path is the frame's text. The result is the system's error number. */
static sb_status link_file(sb__binding *b) {
  const char *path = (const char *)(b->frame + SB__FRAME_TEXT);
  const size_t room = (SB__FRAME_SCRATCH - SB__FRAME_TEXT) * sizeof(double);
  if (N(0) < 0 || N(0) > INT32_MAX || !memchr(path, 0, room)) {
    return sb__fail(SB_ERR_ARGUMENT, "this is no file, or no path");
  }
  RESULT(0) = sb__os_link((int)N(0), path);
  return SB_OK;
}
#endif

static sb_status parcel_new(sb__binding *b) {
  b->guarded_count = 0; /* nothing fails any more once there is a parcel */
  return sb__transfer_new(T(0)->storage, N(0), &RESULT(0));
}

/* handle, address and bytes of the storage that a parcel held. */
static sb_status parcel_take(sb__binding *b) {
  sb_storage *storage = NULL;
  sb_status status = sb__transfer_take((double)N(0), &storage);
  if (status) return status;
  RESULT(1) = (double)(uintptr_t)sb_storage_data(storage);
  RESULT(2) = (double)sb_storage_nbytes(storage);
  status = sb__claim_new(b, storage, &RESULT(0));
  if (status) sb_storage_unref(&storage);
  return status;
}

static sb_status parcel_nbytes(sb__binding *b) {
  size_t nbytes = 0;
  const sb_status status = sb__transfer_nbytes((double)N(0), &nbytes);
  RESULT(0) = (double)nbytes;
  return status;
}

static sb_status parcels_home(sb__binding *b) {
  RESULT(0) = sb__transfer_process_id();
  return SB_OK;
}

static sb_status totals(sb__binding *b) {
  const sb__storage_totals now = sb__storage_totals_now();
  RESULT(0) = (double)now.storages;
  RESULT(1) = (double)now.heap_bytes;
  RESULT(2) = (double)now.foreign_bytes;
  RESULT(3) = (double)sb__transfers_in_flight();
  RESULT(4) = (double)now.mapped_bytes;
  RESULT(5) = (double)now.pinned_bytes;
  RESULT(6) = (double)now.cuda_bytes;
  return SB_OK;
}

#ifdef SB_TEST
static sb_status fail_allocation(sb__binding *b) {
  RESULT(1) = (double)sb__fail_allocation(N(0));
  RESULT(0) = (double)sb__live_allocations();
  return SB_OK;
}
#endif

/* ---- The table ---- */

#define EXPORT(name, signature, call) \
 static sb_status run_##name(sb__binding *b) { return call; }
#include "bind/exports.def"
#undef EXPORT

const sb__export sb__exports[SB__OPCODES] = {
#define EXPORT(name, signature, call) {signature, run_##name},
#include "bind/exports.def"
#undef EXPORT
};
