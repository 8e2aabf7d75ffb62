/* One call: operands out of the call buffer, the row's function, its results back.
 *
 * Descriptors are copied out before they are validated, and each operand is checked once against its
 * storage. Nothing here calls JavaScript. */
#include <string.h>

#include "bind/extension.h"

/* ---- Reading ---- */

#define SB__LARGEST (INT64_C(1) << 53) /* that a double holds exactly, as all before it */

static inline int whole(double x, int64_t *out) {
  if (!(__builtin_fabs(x) <= (double)SB__LARGEST)) return 0; /* NaN as well */
  *out = (int64_t)x;
  return (double)*out == x;
}

static sb_status read_number(double x, int64_t *out) {
  if (whole(x, out)) return SB_OK;
  return sb__fail(SB_ERR_ARGUMENT, "%s is not an integer that a double holds exactly",
                  sb__digits_of(x).text);
}

/* The integer of 64 bits at a double's place, or its lower half. */
static inline int64_t integer_at(const double *at, bool is_wide) {
  int64_t wide = 0;
  int32_t lower = 0;
  memcpy(&lower, at, sizeof lower);
  if (!is_wide) return lower;
  memcpy(&wide, at, sizeof wide);
  return wide;
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
  if (handle != 0)
    return sb__fail(SB_ERR_STALE, "the handle %s is not alive here", sb__digits_of(handle).text);
  return sb__fail(SB_ERR_ARGUMENT, "operand %d has no valid address", index);
}

static inline const double *operand(const sb__binding *b, int32_t index) {
  return b->frame + SB__FRAME_OPERANDS + index * SB__OPERAND_SIZE_OF_OPERAND;
}

/* A guarded mapping whose bytes will be touched has all of them, and is looked at once more afterwards. */
static sb_status check_guarded(sb__binding *b, const sb_storage *storage) {
  b->guarded[b->guarded_count++] = storage;
  return sb__check_intact(storage);
}

/* Also where the row failed: it may have, because of zeros. */
static sb_status check_guarded_again(const sb__binding *b, sb_status status) {
  for (int32_t i = 0; i < b->guarded_count; i++) {
    const sb_status gone = sb__check_intact(b->guarded[i]);
    if (gone) return gone;
  }
  return status;
}

static sb_status read_storage(sb__binding *b, int32_t index) {
  const double *at = operand(b, index);
  sb_storage *storage = find_storage(b, at, index);
  b->operands[index].storage = storage;
  if (!storage) return no_storage(at, index);
  return SB_GUARDS && storage->fault ? check_guarded(b, storage) : SB_OK;
}

static inline void read_axes(const double *at, bool is_wide, sb_tensor *t) {
  t->offset = integer_at(at + SB__OPERAND_OFFSET, is_wide);
  for (int32_t d = 0; d < t->ndim; d++) {
    t->shape[d] = integer_at(at + SB__OPERAND_AXES + 2 * d, is_wide);
    t->strides[d] = integer_at(at + SB__OPERAND_AXES + 2 * d + 1, is_wide);
  }
}

static sb_status read_tensor(sb__binding *b, int32_t index, bool touched) {
  const double *at = operand(b, index);
  const uint32_t head = (uint32_t)integer_at(at + SB__OPERAND_HEAD, false);
  const uint32_t dtype = head >> SB__HEAD_DTYPE & 255, ndim = head >> SB__HEAD_NDIM & 255;
  sb_tensor *t = &b->operands[index];
  t->storage = find_storage(b, at, index);
  if (!t->storage) return no_storage(at, index);
  if (ndim > SB_MAX_DIMS || !sb__dtype_is_valid(dtype)) {
    return sb__fail(SB_ERR_ARGUMENT, "operand %d is no layout: %d dimensions of dtype %d", index,
                    (int)ndim, (int)dtype);
  }
  t->dtype = (sb_dtype)dtype;
  t->ndim = (int32_t)ndim;
  t->flags = head >> SB__HEAD_FLAGS & SB_READ_ONLY;
  if (head >> SB__HEAD_WIDE & 1)
    read_axes(at, true, t);
  else
    read_axes(at, false, t);
  const sb_status status = sb__tensor_finish(t);
  if (status) return status;
  if (touched && !t->storage->data && sb_tensor_numel(t)) {
    return sb__fail(SB_ERR_ARGUMENT, "operand %d has elements but no address", index);
  }
  return SB_GUARDS && touched && t->storage->fault ? check_guarded(b, t->storage) : SB_OK;
}

sb_status sb__read_operand(sb__binding *b) {
  b->guarded_count = 0;
  return read_tensor(b, 0, true);
}

/* Its head is how many there are, and above that whether they have 64 bits. */
static sb_status read_list(sb__binding *b, int32_t index, const double **at) {
  const double *entries = *at + 1;
  const int64_t head = integer_at(*at, true), count = (int32_t)head;
  const int64_t room = b->frame + SB__FRAME_TEXT - entries - 8; /* numbers may follow */
  if (count < -1 || count > 5 * SB_MAX_DIMS || count > room) {
    return sb__fail(SB_ERR_SHAPE, "a list has %lld entries; %d are possible", (long long)count,
                    SB_MAX_DIMS);
  }
  const bool is_wide = (uint64_t)head >> 32 & 1;
  b->counts[index] = count;
  for (int64_t i = 0; i < count; i++)
    b->lists[index].integers[i] = integer_at(entries + i, is_wide);
  *at = entries + (count > 0 ? count : 0);
  return SB_OK;
}

/* kind, then one or two doubles; 64-bit integers lie there with their own bits. */
static sb_status read_scalar(sb__binding *b, int32_t index, const double **at) {
  const double *args = *at;
  int64_t kind = 0;
  const sb_status status = read_number(args[0], &kind);
  if (status) return status;
  if (kind < SB_SCALAR_BOOL || kind > SB_SCALAR_COMPLEX) {
    return sb__fail(SB_ERR_ARGUMENT, "%lld is no kind of scalar", (long long)kind);
  }
  sb_scalar *scalar = &b->scalars[index];
  memset(scalar, 0, sizeof *scalar);
  scalar->kind = (__typeof__(scalar->kind))kind;
  memcpy(&scalar->as, args + 1, kind == SB_SCALAR_COMPLEX ? 16 : 8);
  *at = args + 3;
  return SB_OK;
}

/* Reads what a signature names up to its results, where it leaves the signature. */
static sb_status read_operands(sb__binding *b, const char **signature) {
  sb_status status = SB_OK;
  int32_t tensors = 0, lists = 0, scalars = 0;
  const double *at = b->frame + SB__FRAME_ARGS;
  int64_t *number = b->numbers;
  const char *s = *signature;
  for (; !status && *s && *s != '>'; s++) {
    if (*s == 'v')
      status = read_tensor(b, tensors++, false);
    else if (*s == 'i')
      *number++ = integer_at(at++, true);
    else if (*s == 'n')
      status = read_number(*at++, number++);
    else if (*s == 't' || *s == 'w')
      status = read_tensor(b, tensors++, true);
    else if (*s == 'l')
      status = read_list(b, lists++, &at);
    else if (*s == 'b')
      status = read_storage(b, tensors++);
    else
      status = read_scalar(b, scalars++, &at);
  }
  *signature = s;
  return status;
}

/* ---- Writing ---- */

static inline int is_small(int64_t x) { return x == (int32_t)x; }

static bool is_exact(int64_t x) { return x <= SB__LARGEST && x >= -SB__LARGEST; }

static sb_status check_exact(const sb_tensor *t, int64_t numel) {
  bool exact = is_exact(numel);
  for (int32_t d = 0; d < t->ndim; d++) exact = exact && is_exact(t->strides[d]);
  if (exact) return SB_OK;
  return sb__fail(SB_ERR_SHAPE,
                  "the layout has %lld elements or strides that no double holds exactly",
                  (long long)numel);
}

static inline void put_integer(double *at, int64_t x) { memcpy(at, &x, sizeof x); }

sb_status sb__write_layout(sb__binding *b) {
  double *at = b->frame + SB__FRAME_OUT;
  const sb_tensor *t = &b->operands[0];
  int64_t numel = 1;
  int small = is_small(t->offset);
  for (int32_t d = 0; d < t->ndim; d++) {
    const int64_t extent = t->shape[d], stride = t->strides[d];
    put_integer(at + SB__OPERAND_AXES + 2 * d, extent);
    put_integer(at + SB__OPERAND_AXES + 2 * d + 1, stride);
    small &= is_small(extent) & is_small(stride);
    numel *= extent;
  }
  small &= is_small(numel);
  put_integer(at + SB__OPERAND_OFFSET, t->offset);
  put_integer(at + SB__OPERAND_NUMEL, numel);
  put_integer(at + SB__OPERAND_HEAD, (int64_t)t->dtype << SB__HEAD_DTYPE |
                                         (int64_t)t->ndim << SB__HEAD_NDIM |
                                         (int64_t)!small << SB__HEAD_WIDE);
  return small ? SB_OK : check_exact(t, numel);
}

/* results: from the '>' of a signature on. */
static sb_status write_results(sb__binding *b, const char *results) {
  sb_status status = SB_OK;
  int32_t numbers = 0;
  while (*results && *++results) {
    if (*results == 'v')
      status = sb__write_layout(b);
    else
      b->frame[SB__FRAME_RESULTS + numbers] = b->results[numbers], numbers++;
  }
  return status;
}

void sb__report(sb__binding *b, sb_status status) {
  char *text = (char *)(b->frame + SB__FRAME_TEXT);
  const size_t room = (SB__FRAME_SCRATCH - SB__FRAME_TEXT) * sizeof(double);
  b->frame[SB__FRAME_STATUS] = (double)status;
  if (!status) return;
  strncpy(text, sb_error_message(), room - 1);
  text[room - 1] = 0;
}

/* ---- Running ---- */

sb_status sb__run_begin(sb__binding *b, const char **signature) {
  b->guarded_count = 0;
  sb__scratch_begin(b->frame[SB__FRAME_SCRATCH]);
  return read_operands(b, signature);
}

void sb__run_end(sb__binding *b, const char *results, sb_status status) {
  double *scratch = &b->frame[SB__FRAME_SCRATCH];
  if (*scratch != 0) *scratch = (double)sb__scratch_end();
  if (SB_GUARDS) status = check_guarded_again(b, status);
  if (!status) status = write_results(b, results);
  sb__report(b, status);
}

static const sb__export *export_at(uint32_t opcode) {
  if (opcode < SB__OPCODES) return &sb__exports[opcode];
#ifdef __wasm__
  return NULL; /* the other module has them */
#else
  return sb__extension_at(opcode);
#endif
}

void sb__run(sb__binding *b, uint32_t opcode) {
  const sb__export *export = export_at(opcode);
  if (!export) {
    sb__report(b, sb__fail(SB_ERR_ARGUMENT, "there is no function %u", opcode));
    return;
  }
  const char *signature = export->signature;
  sb_status status = sb__run_begin(b, &signature);
  if (!status) status = export->run(b);
  sb__run_end(b, signature, status);
}
