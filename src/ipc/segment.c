/* Named segments: .npy files in the folder of shm_open, as js/sharing/shared-tensor.js makes and opens them. */
#ifndef __wasm__
# include "ipc/segment.h"

# include <errno.h>
# include <string.h>

# include "formats/formats.h"
# include "ipc/map.h"
# include "ipc/owners.h"

# define MARK SB_SEGMENT_MARK

enum {
  NAME_BYTES = 255,
  HEAD_BYTES = 1024,
  TYPE_ROOM = 8,
  HEADER_ROOM = 22 * SB_MAX_DIMS + 256,
  TRIES = 100
};

/* In any case of letters: some systems see no difference. */
static bool has_mark(const char *name) {
  for (size_t i = 0; MARK[i]; i++) {
    const char c = name[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != MARK[i]) return false;
  }
  return true;
}

sb_status sb__segment_name(const char *given, size_t most, const char **out) {
  const char *name = given && *given == '/' ? given + 1 : given;
  if (!name || !*name || strlen(name) > most || strchr(name, '/') || !strcmp(name, ".") ||
      !strcmp(name, "..") || has_mark(name)) {
    return sb__fail(SB_ERR_ARGUMENT,
                    "name is \"%.40s\"; 1 to %d bytes without a slash were expected, not beginning "
                    "with " MARK,
                    name ? name : "", (int)most);
  }
  const char *fault = sb__os_segment_name_fault(name);
  if (fault) return sb__fail(SB_ERR_ARGUMENT, "name is \"%.40s\": %s", name, fault);
  *out = name;
  return SB_OK;
}

sb_status sb__segment_flags(uint32_t mode, uint32_t flags) {
  const uint32_t both = SB_SEGMENT_REPLACE | SB_SEGMENT_OPEN;
  if (mode <= 0777 && (flags & ~(both | SB_SEGMENT_PERSIST)) == 0 && (flags & both) != both)
    return SB_OK;
  return sb__fail(SB_ERR_ARGUMENT, "there are no permissions %o or no flags %u", mode, flags);
}

sb_status sb__segment_failed(const char *name, int error) {
  switch (error) {
    case ENOENT: return sb__fail(SB_ERR_NOT_FOUND, "there is no segment \"%s\"", name);
    case EEXIST: return sb__fail(SB_ERR_EXISTS, "there is a segment \"%s\"", name);
    case ENOSYS: return sb__fail(SB_ERR_UNSUPPORTED, "this system has no named segments");
    case ENOSPC:
    case ENOMEM:
      return sb__fail(SB_ERR_MEMORY, "there is not so much shared memory: %s", strerror(error));
    default: return sb__fail(SB_ERR_IO, "the segment \"%s\": %s", name, strerror(error));
  }
}

/* ---- Making ---- */

/* NumPy's name of a dtype; raw bytes where it has none, as in js/files/npy.js. */
static void numpy_type(sb_dtype dtype, char *out) {
  static const char kinds[] = {'b', 'u', 'i', 'f', 'c'}; /* by sb_kind */
  const int64_t itemsize = sb_dtype_itemsize(dtype);
  const bool is_raw = dtype == SB_BFLOAT16 || dtype == SB_FLOAT8_E4M3FN || dtype == SB_FLOAT8_E5M2;
  sb__print(out, TYPE_ROOM, "%c%c%lld", itemsize == 1 ? '|' : '<',
            is_raw ? 'V' : kinds[sb_dtype_kind(dtype)], (long long)itemsize);
}

/* Writes a header of .npy, which ends at a multiple of SB_ALIGNMENT. Returns its bytes. */
static size_t npy_header(const sb_tensor *t, char *out) {
  char type[TYPE_ROOM];
  numpy_type(t->dtype, type);
  size_t n = 10;
  n += (size_t)sb__print(out + n, HEADER_ROOM - n,
                         "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
  for (int32_t d = 0; d < t->ndim; d++) {
    n += (size_t)sb__print(out + n, HEADER_ROOM - n, "%s%lld", d ? ", " : "",
                           (long long)t->shape[d]);
  }
  n += (size_t)sb__print(out + n, HEADER_ROOM - n, "%s), }", t->ndim == 1 ? "," : "");
  const size_t end = (n + SB_ALIGNMENT) / SB_ALIGNMENT * SB_ALIGNMENT, length = end - 10;
  memset(out + n, ' ', end - n);
  out[end - 1] = '\n';
  memcpy(out, "\x93NUMPY\x01\x00", 8);
  out[8] = (char)(length & 255);
  out[9] = (char)(length >> 8);
  return end;
}

/* Maps the elements of an open segment, which begin at a byte of it. */
static sb_status map_elements(int file, const char *name, int64_t begin, sb_tensor *t) {
  const int64_t nbytes = sb_tensor_nbytes(t);
  sb_storage *storage = NULL;
  int error = 0;
  sb_status status = nbytes ? sb__map_file(file, begin, nbytes, true, &storage, &error)
                            : sb_storage_new(0, &storage);
  if (status) return error ? sb__segment_failed(name, error) : status;
  status = sb_tensor_init(storage, t->dtype, t->ndim, t->shape, NULL, 0, t);
  if (status) sb_storage_unref(&storage);
  return status;
}

sb_status sb__segment_make(const char *called, const sb_tensor *layout, uint32_t mode,
                           uint32_t flags, sb__file_lock lock, int *file, sb_tensor *out) {
  char header[HEADER_ROOM];
  sb_tensor t;
  int error = 0;
  sb_tensor_copy_layout(layout, &t);
  const int64_t begin = (int64_t)npy_header(&t, header);
  const int made = sb__os_segment_new(false, mode, begin + sb_tensor_nbytes(&t), &error);
  if (made < 0) return sb__segment_failed(called, error);
  sb_status status = map_elements(made, called, begin, &t);
  if (!status) {
    error = sb__os_write_head(made, header, (size_t)begin);
    if (!error) error = sb__segment_publish(made, called, flags, lock);
    if (error) {
      status = sb__segment_failed(called, error);
      sb_storage_unref(&t.storage);
    }
  }
  if (status) sb__os_segment_abandon(made);
  if (status || !file) sb__os_close(made);
  if (status) return status;
  if (file) *file = made;
  sb_tensor_copy_layout(&t, out);
  return SB_OK;
}

static bool has_shape_of(const sb_tensor *a, const sb_tensor *b) {
  return a->ndim == b->ndim && !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape);
}

static sb_status find_or_make(const char *called, const sb_tensor *t, uint32_t mode, uint32_t flags,
                              sb_tensor *out) {
  for (int tries = 1;; tries++) { /* other processes may make and remove it meanwhile */
    sb_tensor there;
    sb_status status = sb__segment_find(called, &t->dtype, true, &there);
    if (!status && has_shape_of(&there, t)) {
      sb_tensor_copy_layout(&there, out);
      return SB_OK;
    }
    if (!status) {
      sb_storage_unref(&there.storage);
      return sb__fail(SB_ERR_SHAPE, "the segment \"%s\" has another shape", called);
    }
    if (status != SB_ERR_NOT_FOUND) return status;
    status = sb__segment_make(called, t, mode, flags, SB__LOCKED_SHARED, NULL, out);
    if (status != SB_ERR_EXISTS || tries == TRIES) return status;
    sb__os_yield();
  }
}

sb_status sb_segment_create(const char *name, sb_dtype dtype, int32_t ndim, const int64_t *shape,
                            uint32_t mode, uint32_t flags, sb_tensor *out) {
  const char *called = NULL;
  sb_tensor t;
  sb_status status = sb__segment_name(name, NAME_BYTES, &called);
  if (!status) status = sb_tensor_init(NULL, dtype, ndim, shape, NULL, 0, &t);
  if (!status) status = sb__segment_flags(mode, flags);
  if (status) return status;
  if (flags & SB_SEGMENT_OPEN) return find_or_make(called, &t, mode, flags, out);
  return sb__segment_make(called, &t, mode, flags, SB__LOCKED_SHARED, NULL, out);
}

/* ---- Opening ---- */

/* Reads a header into a layout without bytes, whose elements begin at the byte `begin`. */
static sb_status read_header(const sb__reader *r, const sb_dtype *wanted, int64_t *begin,
                             sb_tensor *out) {
  const double *record = r->words + 1;
  const int32_t known = (int32_t)record[SB__RECORD_TYPE], ndim = (int32_t)record[SB__RECORD_NDIM];
  const int64_t itemsize = (int64_t)record[SB__RECORD_BLOCK_BYTES];
  int64_t shape[SB_MAX_DIMS];
  for (int32_t d = 0; d < ndim; d++) shape[d] = (int64_t)record[SB__RECORD_SHAPE + d];
  if (record[SB__RECORD_FOREIGN] != 0) {
    return sb__fail(SB_ERR_UNSUPPORTED,
                    "the array is in another order of axes or bytes; map it by other means");
  }
  if (known < 0 && !wanted) {
    return sb__fail(SB_ERR_DTYPE,
                    "the array is of %lld raw bytes an element; dtype says what they are",
                    (long long)itemsize);
  }
  if (wanted && (known >= 0 ? (int32_t)*wanted != known : sb_dtype_itemsize(*wanted) != itemsize)) {
    return sb__fail(SB_ERR_DTYPE, "dtype is %s; the array has another one", sb_dtype_name(*wanted));
  }
  *begin = (int64_t)r->words[0];
  return sb_tensor_init(NULL, known < 0 ? *wanted : (sb_dtype)known, ndim, shape, NULL, 0, out);
}

/* Reads and parses the file's head, which other processes may write to meanwhile: a copy. */
static sb_status parse_file(int file, const char *name, const sb_dtype *wanted, int64_t *begin,
                            sb_tensor *out) {
  double words[1 + SB__RECORD_SHAPE + SB_MAX_DIMS];
  size_t room = HEAD_BYTES, n = 0;
  char *bytes = NULL;
  sb_status status = SB_OK;
  for (bool again = true; again && !status;) {
    char *more = sb__realloc(bytes, room);
    if (!more) {
      status = sb__fail(SB_ERR_MEMORY, "no memory for a header of %lld bytes", (long long)room);
      break;
    }
    bytes = more;
    sb__reader r = {.bytes = (const uint8_t *)bytes,
                    .words = words,
                    .room = (int64_t)(sizeof words / sizeof *words)};
    const int error = sb__os_read_at(file, 0, bytes, room, &n, &r.total);
    r.given = (int64_t)n < r.total ? (int64_t)n : r.total;
    status = error ? sb__segment_failed(name, error) : sb__npy_parse(&r);
    again = !status && r.wanted > r.given && (uint64_t)r.wanted > room;
    room = again ? (size_t)r.wanted : room;
    if (!again && !status) status = read_header(&r, wanted, begin, out);
  }
  sb__free(bytes);
  return status;
}

sb_status sb__segment_find(const char *called, const sb_dtype *dtype, bool owns, sb_tensor *out) {
  int64_t begin = 0, owner = 0;
  int file = -1;
  sb_tensor t;
  const int error = sb__os_segment_open(called, true, &file);
  if (error) return sb__segment_failed(called, error);
  sb_status status = owns ? sb__segment_own(file, called, true, &owner) : SB_OK;
  if (!status) status = parse_file(file, called, dtype, &begin, &t);
  if (!status) status = map_elements(file, called, begin, &t);
  sb__os_close(file);
  if (!status) sb_tensor_copy_layout(&t, out);
  return status;
}

sb_status sb_segment_open(const char *name, const sb_dtype *dtype, sb_tensor *out) {
  const char *called = NULL;
  const sb_status status = sb__segment_name(name, NAME_BYTES, &called);
  if (status) return status;
  if (dtype && !sb__dtype_is_valid(*dtype)) return sb__fail(SB_ERR_DTYPE, "there is no such dtype");
  return sb__segment_find(called, dtype, false, out);
}

sb_status sb_segment_own(int file, const char *name) {
  const char *called = NULL;
  int64_t owner = 0;
  const sb_status status = sb__segment_name(name, NAME_BYTES, &called);
  return status ? status : sb__segment_own(file, called, true, &owner);
}

const char *sb_segment_folder(void) { return sb__os_abilities().segments; }

sb_status sb_segment_unlink(const char *name) {
  const char *called = NULL;
  const sb_status status = sb__segment_name(name, NAME_BYTES, &called);
  if (status) return status;
  const int error = sb__os_segment_unlink(called);
  return error ? sb__segment_failed(called, error) : SB_OK;
}
#else
typedef int sb__no_segment;
#endif
