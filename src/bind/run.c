/* One call: operands out of the frame, the row's function, its results back.
 *
 * Descriptors are copied out before they are validated, and each operand is checked once against its
 * storage. Nothing here calls JavaScript. */
#include <string.h>

#include "bind/frame.h"

#define T(i) (&b->operands[i])
#define N(i) (b->numbers[i])
#define COUNT(i) ((int32_t)b->counts[i])
#define LIST(i) (b->lists[i].integers)
#define SCALAR (&b->scalar)
#define OUT (&b->operands[0]) /* views are made in place */
#define RESULT(i) (b->results[i])

/* ---- Reading ---- */

#define SB__LARGEST (INT64_C(1) << 53) /* that a double holds exactly, as all before it */

static inline int whole(double x, int64_t *out) {
  if (!(__builtin_fabs(x) <= (double)SB__LARGEST)) return 0; /* NaN as well */
  *out = (int64_t)x;
  return (double)*out == x;
}

static sb_status read_number(double x, int64_t *out) {
  if (whole(x, out)) return SB_OK;
  return sb__fail(SB_ERR_ARGUMENT, "%g is not an integer that a double holds exactly", x);
}

/* The storage that a descriptor names; NULL if it names none. */
static sb_storage *find_storage(sb__binding *b, const double *at, int32_t index) {
  int64_t address = 0, nbytes = 0;
  if (at[SB__OPERAND_HANDLE] != 0) return sb__claim_get(b, at[SB__OPERAND_HANDLE]);
  if (!whole(at[SB__OPERAND_ADDRESS], &address) || address < 0 || (uint64_t)address > UINTPTR_MAX ||
      !whole(at[SB__OPERAND_NBYTES], &nbytes) || nbytes < 0 || (uint64_t)nbytes > SIZE_MAX) {
    return NULL;
  }
  sb__storage_borrow((void *)(uintptr_t)address, (size_t)nbytes, &b->borrowed[index]);
  return &b->borrowed[index];
}

static sb_status no_storage(const double *at, int32_t index) {
  const double handle = at[SB__OPERAND_HANDLE];
  if (handle != 0) return sb__fail(SB_ERR_STALE, "the handle %.17g is not alive here", handle);
  return sb__fail(SB_ERR_ARGUMENT, "operand %d has no valid address", index);
}

static sb_status read_tensor(sb__binding *b, int32_t index, bool touched) {
  const double *at = b->frame + SB__FRAME_OPERANDS + index * SB__OPERAND_SIZE_OF_OPERAND;
  int64_t dtype = 0, ndim = 0, flags = 0;
  sb_tensor *t = &b->operands[index];
  t->storage = find_storage(b, at, index);
  if (!t->storage) return no_storage(at, index);
  int valid = whole(at[SB__OPERAND_DTYPE], &dtype) & whole(at[SB__OPERAND_NDIM], &ndim) &
              whole(at[SB__OPERAND_OFFSET], &t->offset) & whole(at[SB__OPERAND_FLAGS], &flags);
  valid = valid && ndim >= 0 && ndim <= SB_MAX_DIMS && sb__dtype_is_valid(dtype);
  if (!valid) ndim = 0;
  for (int64_t d = 0; d < ndim; d++) {
    valid &= whole(at[SB__OPERAND_SHAPE + d], &t->shape[d]) &
             whole(at[SB__OPERAND_STRIDES + d], &t->strides[d]);
  }
  if (!valid) {
    return sb__fail(SB_ERR_ARGUMENT, "operand %d is no layout: %g dimensions of dtype %g", index,
                    at[SB__OPERAND_NDIM], at[SB__OPERAND_DTYPE]);
  }
  t->dtype = (sb_dtype)dtype;
  t->ndim = (int32_t)ndim;
  t->flags = (uint32_t)flags & SB_READ_ONLY;
  const sb_status status = sb__tensor_finish(t);
  if (status) return status;
  if (touched && !t->storage->data && sb_tensor_numel(t)) {
    return sb__fail(SB_ERR_ARGUMENT, "operand %d has elements but no address", index);
  }
  return SB_OK;
}

static sb_status read_list(sb__binding *b, int32_t index, int32_t *at) {
  const double *args = b->frame + SB__FRAME_ARGS;
  int64_t count = 0;
  sb_status status = read_number(args[(*at)++], &count);
  if (status) return status;
  if (count < -1 || count > 5 * SB_MAX_DIMS) {
    return sb__fail(SB_ERR_SHAPE, "a list has %lld entries; %d are possible", (long long)count,
                    SB_MAX_DIMS);
  }
  b->counts[index] = count;
  int valid = 1;
  for (int64_t i = 0; i < count; i++) valid &= whole(args[(*at)++], &LIST(index)[i]);
  return valid ? SB_OK : sb__fail(SB_ERR_ARGUMENT, "a list's entry is no exact integer");
}

/* kind, then one or two doubles; 64-bit integers lie there with their own bits. */
static sb_status read_scalar(sb__binding *b, int32_t *at) {
  const double *args = b->frame + SB__FRAME_ARGS + *at;
  int64_t kind = 0;
  const sb_status status = read_number(args[0], &kind);
  if (status) return status;
  if (kind < SB_SCALAR_BOOL || kind > SB_SCALAR_COMPLEX) {
    return sb__fail(SB_ERR_ARGUMENT, "%lld is no kind of scalar", (long long)kind);
  }
  memset(&b->scalar, 0, sizeof b->scalar);
  b->scalar.kind = (__typeof__(b->scalar.kind))kind;
  memcpy(&b->scalar.as, args + 1, kind == SB_SCALAR_COMPLEX ? 16 : 8);
  *at += 3;
  return SB_OK;
}

/* Reads what a signature names up to its results, where it leaves the signature. */
static sb_status read_operands(sb__binding *b, const char **signature) {
  sb_status status = SB_OK;
  int32_t tensors = 0, numbers = 0, lists = 0, at = 0;
  const char *s = *signature;
  for (; !status && *s && *s != '>'; s++) {
    if (*s == 'v')
      status = read_tensor(b, tensors++, false);
    else if (*s == 'n')
      status = read_number(b->frame[SB__FRAME_ARGS + at++], &b->numbers[numbers++]);
    else if (*s == 't' || *s == 'w')
      status = read_tensor(b, tensors++, true);
    else if (*s == 'l')
      status = read_list(b, lists++, &at);
    else
      status = read_scalar(b, &at);
  }
  *signature = s;
  return status;
}

/* ---- Writing ---- */

static bool is_small(int64_t x) { return x == (int32_t)x; }

static bool is_exact(int64_t x) { return x <= SB__LARGEST && x >= -SB__LARGEST; }

static sb_status check_exact(const sb_tensor *t, int64_t numel) {
  bool exact = is_exact(numel);
  for (int32_t d = 0; d < t->ndim; d++) exact = exact && is_exact(t->strides[d]);
  if (exact) return SB_OK;
  return sb__fail(SB_ERR_SHAPE, "the layout has %lld elements or strides that no double holds exactly",
                  (long long)numel);
}

/* FLAGS of a result says whether all its integers fit 32 bits. */
static sb_status write_layout(sb__binding *b) {
  double *at = b->frame + SB__FRAME_OUT;
  const sb_tensor *t = OUT;
  int64_t numel = 1;
  bool small = is_small(t->offset);
  for (int32_t d = 0; d < t->ndim; d++) {
    at[SB__OPERAND_SHAPE + d] = (double)t->shape[d];
    at[SB__OPERAND_STRIDES + d] = (double)t->strides[d];
    small = small && is_small(t->shape[d]) && is_small(t->strides[d]);
    numel *= t->shape[d];
  }
  at[SB__OPERAND_DTYPE] = (double)t->dtype;
  at[SB__OPERAND_NDIM] = t->ndim;
  at[SB__OPERAND_OFFSET] = (double)t->offset;
  at[SB__OPERAND_NUMEL] = (double)numel;
  small = small && is_small(numel);
  at[SB__OPERAND_FLAGS] = small;
  return small ? SB_OK : check_exact(t, numel);
}

/* results: from the '>' of a signature on. */
static sb_status write_results(sb__binding *b, const char *results) {
  sb_status status = SB_OK;
  int32_t numbers = 0;
  while (*results && *++results) {
    if (*results == 'v')
      status = write_layout(b);
    else
      b->frame[SB__FRAME_RESULTS + numbers] = b->results[numbers], numbers++;
  }
  return status;
}

static void write_failure(sb__binding *b) {
  char *text = (char *)(b->frame + SB__FRAME_TEXT);
  const size_t room = (SB__FRAME_SIZE - SB__FRAME_TEXT) * sizeof(double);
  strncpy(text, sb_error_message(), room - 1);
  text[room - 1] = 0;
}

/* ---- Rows that need more than one call ---- */

static sb_status answer(sb__binding *b, bool yes) {
  RESULT(0) = yes;
  return SB_OK;
}

static sb_status as_strided(sb__binding *b) {
  if (COUNT(1) >= 0 && COUNT(1) != COUNT(0)) {
    return sb__fail(SB_ERR_SHAPE, "strides has %d entries; the shape has %d", COUNT(1), COUNT(0));
  }
  return sb_as_strided(T(0), COUNT(0), LIST(0), COUNT(1) < 0 ? NULL : LIST(1), N(0), OUT);
}

static sb_status as_ordered(sb__binding *b) {
  int64_t strides[SB_MAX_DIMS], numel = 0;
  if (COUNT(1) != COUNT(0)) {
    return sb__fail(SB_ERR_SHAPE, "dimOrder has %d entries; the shape has %d", COUNT(1), COUNT(0));
  }
  sb_status status = sb__check_shape(COUNT(0), LIST(0), &numel);
  if (!status) status = sb_dim_order_strides(COUNT(0), LIST(0), LIST(1), strides);
  return status ? status : sb_as_strided(T(0), COUNT(0), LIST(0), strides, N(0), OUT);
}

static sb_status reshape(sb__binding *b) {
  bool viewed = false;
  const sb_status status = sb_reshape(T(0), COUNT(0), LIST(0), OUT, &viewed);
  RESULT(0) = viewed;
  return status;
}

static sb_status shares_memory(sb__binding *b) {
  bool shared = false;
  const sb_status status = sb_shares_memory(T(0), T(1), &shared);
  RESULT(0) = shared;
  return status;
}

static sb_status copy(sb__binding *b) {
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

static sb_status totals(sb__binding *b) {
  const sb__storage_totals now = sb__storage_totals_now();
  RESULT(0) = (double)now.storages;
  RESULT(1) = (double)now.heap_bytes;
  RESULT(2) = (double)now.foreign_bytes;
  return SB_OK;
}

#ifdef SB_TEST
static sb_status fail_allocation(sb__binding *b) {
  sb__fail_allocation(N(0));
  return SB_OK;
}
#endif

/* ---- The table ---- */

typedef struct export_row {
  const char *signature;
  sb_status (*run)(sb__binding *b);
} export_row;

#define EXPORT(name, signature, call) \
 static sb_status run_##name(sb__binding *b) { return call; }
#include "bind/exports.def"
#undef EXPORT

static const export_row rows[] = {
#define EXPORT(name, signature, call) {signature, run_##name},
#include "bind/exports.def"
#undef EXPORT
};

void sb__run(sb__binding *b, uint32_t row) {
  sb_status status = SB_OK;
  const char *signature = "";
  if (row >= sizeof rows / sizeof rows[0]) {
    status = sb__fail(SB_ERR_ARGUMENT, "there is no function %u", row);
  } else {
    signature = rows[row].signature;
    status = read_operands(b, &signature);
    if (!status) status = rows[row].run(b);
  }
  if (!status) status = write_results(b, signature);
  if (status) write_failure(b);
  b->frame[SB__FRAME_STATUS] = (double)status;
}
