/* .npy: a magic number, the header's length, the header (a Python dict), data. Refuses what NumPy reads but never writes:
 * comments, hexadecimal numbers, escapes, duplicate keys. */
#include <string.h>

#include "formats/formats.h"

enum { LONGEST_HEADER = 1 << 20 }; /* bytes; a plain array's has 118 */

static bool take_word(sb__reader *r, const char *word) {
  const int64_t n = (int64_t)strlen(word);
  if (n > r->given - r->at || memcmp(r->bytes + r->at, word, (size_t)n) != 0) return false;
  r->at += n;
  return true;
}

/* Takes a quoted text without escapes; NULL: there is none. */
static const uint8_t *take_text(sb__reader *r, int64_t *length) {
  sb__skip_spaces(r);
  const int64_t from = r->at + 1;
  if (from >= r->given || (r->bytes[r->at] != '\'' && r->bytes[r->at] != '"')) return NULL;
  const uint8_t *end = memchr(r->bytes + from, r->bytes[r->at], (size_t)(r->given - from));
  if (!end) return NULL;
  r->at = end - r->bytes + 1;
  *length = r->at - 1 - from;
  return r->bytes + from;
}

/* Takes a decimal integer up to 2^53. */
static bool take_integer(sb__reader *r, int64_t *out) {
  const int64_t from = r->at;
  int64_t n = 0;
  for (; r->at < r->given && r->bytes[r->at] >= '0' && r->bytes[r->at] <= '9'; r->at++) {
    n = n * 10 + (r->bytes[r->at] - '0');
    if (n > INT64_C(1) << 53) return false;
  }
  *out = n;
  return r->at > from && (r->at - from == 1 || r->bytes[from] != '0');
}

typedef struct array {
  int32_t dtype; /* an sb_dtype; -1: no such dtype here */
  int32_t itemsize;
  int32_t flags, ndim;
  int64_t shape[SB_MAX_DIMS];
} array;

/* Reads a dtype such as '<f4'. */
static sb_status read_descr(sb__reader *r, array *a) {
  static const struct {
    char text[3];
    int8_t dtype;
  } known[] = {{"b1", SB_BOOL},      {"i1", SB_INT8},       {"u1", SB_UINT8},   {"i2", SB_INT16},
               {"u2", SB_UINT16},    {"i4", SB_INT32},      {"u4", SB_UINT32},  {"i8", SB_INT64},
               {"u8", SB_UINT64},    {"f2", SB_FLOAT16},    {"f4", SB_FLOAT32}, {"f8", SB_FLOAT64},
               {"c8", SB_COMPLEX64}, {"16", SB_COMPLEX128}, {"V1", -1},         {"V2", -1}};
  int64_t length = 0;
  const uint8_t *text = take_text(r, &length);
  const int64_t at = r->at;
  if (!text) return sb__fail_at(r, at, "descr is no text: arrays of records are not read");
  const bool is_longest = length == 4 && text[1] == 'c';
  if (length - is_longest != 3 || !memchr("<>|=", text[0], 4)) goto unknown;
  text += is_longest; /* so that c16 is compared by its digits */
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (memcmp(text + 1, known[i].text, 2) != 0 || is_longest != (known[i].text[0] == '1'))
      continue;
    a->dtype = known[i].dtype;
    a->itemsize = is_longest ? 16 : known[i].text[1] - '0';
    if (text[-(int)is_longest] == '>' && a->itemsize > 1 && a->dtype >= 0)
      a->flags |= SB__NPY_SWAPPED;
    return SB_OK;
  }
unknown:
  return sb__fail_at(
      r, at, "descr names a dtype that has no counterpart here, such as Python objects or text");
}

static sb_status read_shape(sb__reader *r, array *a) {
  bool comma = true;
  if (!sb__take_char(r, '(')) return sb__fail_at(r, r->at, "shape is no tuple");
  while (!sb__take_char(r, ')')) {
    if (!comma) return sb__fail_at(r, r->at, "a comma is missing in shape");
    if (a->ndim == SB_MAX_DIMS) return sb__fail_at(r, r->at, "shape has more than 64 axes");
    if (!take_integer(r, &a->shape[a->ndim]))
      return sb__fail_at(r, r->at, "shape has an entry that is no extent");
    a->ndim++;
    comma = sb__take_char(r, ',');
    sb__skip_spaces(r);
  }
  /* (3) is a number, not a tuple. */
  return a->ndim == 1 && !comma ? sb__fail_at(r, r->at, "shape is no tuple") : SB_OK;
}

static sb_status read_dict(sb__reader *r, array *a) {
  int32_t seen = 0;
  bool comma = true;
  if (!sb__take_char(r, '{')) return sb__fail_at(r, r->at, "the header is no dict");
  while (!sb__take_char(r, '}')) {
    int64_t length = 0;
    const int64_t at = r->at;
    const uint8_t *key = comma ? take_text(r, &length) : NULL;
    int32_t which = 0;
    sb_status status = SB_OK;
    if (!key || !sb__take_char(r, ':'))
      return sb__fail_at(r, r->at, "the header's dict is malformed");
    sb__skip_spaces(r);
    if (length == 5 && !memcmp(key, "descr", 5)) {
      which = 1;
      status = read_descr(r, a);
    } else if (length == 13 && !memcmp(key, "fortran_order", 13)) {
      which = 2;
      if (take_word(r, "True"))
        a->flags |= SB__NPY_FORTRAN;
      else if (!take_word(r, "False"))
        status = sb__fail_at(r, r->at, "fortran_order is neither True nor False");
    } else if (length == 5 && !memcmp(key, "shape", 5)) {
      which = 4;
      status = read_shape(r, a);
    }
    if (status) return status;
    if (!which || seen & which)
      return sb__fail_at(r, at, "the header has another key, or one twice");
    seen |= which;
    comma = sb__take_char(r, ',');
  }
  sb__skip_spaces(r);
  if (seen != 7) return sb__fail_at(r, r->at, "the header lacks descr, fortran_order or shape");
  return r->at == r->given ? SB_OK : sb__fail_at(r, r->at, "the header goes on after its dict");
}

sb_status sb__npy_parse(sb__reader *r) {
  array a = {-1, 0, 0, 0, {0}};
  int64_t nbytes = 0;
  if (!sb__has_bytes(r, 10)) return sb__file_ends(r);
  if (memcmp(r->bytes, "\x93NUMPY", 6) != 0) return sb__fail_at(r, 0, "this is no .npy file");
  const int32_t version = r->bytes[6];
  if (version < 1 || version > 3 || r->bytes[7])
    return sb__fail_at(r, 6, "this version of .npy is not known");
  const int32_t width = version == 1 ? 2 : 4;
  if (!sb__has_bytes(r, 8 + width)) return sb__file_ends(r);
  const int64_t length = (int64_t)sb__peek(r, 8, width);
  r->at = 8 + width;
  if (length > LONGEST_HEADER)
    return sb__too_many(r, 8, length, "bytes of a header", LONGEST_HEADER);
  if (!sb__has_bytes(r, length)) return sb__file_ends(r);
  const int64_t begin = r->at + length, given = r->given;
  if (version == 3 && !sb__is_utf8(r, r->at, begin))
    return sb__fail_at(r, r->at, "the header is not UTF-8");
  r->given = begin; /* texts must end within the header */
  sb_status status = read_dict(r, &a);
  r->given = given;
  if (status) return status;
  sb__put_word(r, (double)begin);
  status = sb__put_tensor(r, (double[]){0, 0}, a.dtype, a.flags, 1, a.itemsize, begin, a.ndim,
                          a.shape, &nbytes);
  if (!status && nbytes > r->total - begin)
    status = sb__fail_at(r, begin, "the file ends before its data does");
  return status;
}
