/* .safetensors: the header's length, the header (JSON), data. Applies all rules of the reference implementation, and one
 * more: a tensor's entry has no other fields. */
#include <string.h>

#include "formats/formats.h"

enum { LONGEST_HEADER = 100000000 }; /* bytes; the reference implementation's */

static bool is_hexadecimal(uint8_t c) {
  return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

/* The UTF-16 code unit of four hexadecimal digits at byte `at`; -1: they are not. */
static int32_t hex_unit(const sb__reader *r, int64_t at) {
  int32_t code = 0;
  if (r->given - at < 4) return -1;
  for (int32_t i = 0; i < 4; i++) {
    const uint8_t c = r->bytes[at + i];
    if (!is_hexadecimal(c)) return -1;
    code = code << 4 | (c <= '9' ? c - '0' : (c & 7) + 9);
  }
  return code;
}

/* The length of the next character or escape sequence; 0: it is invalid. */
static int32_t character_length(const sb__reader *r) {
  uint32_t code = 0;
  const int64_t at = r->at;
  const uint8_t c = r->bytes[at];
  if (c < 0x20) return 0;
  if (c != '\\') return sb__utf8(r, at, r->given, &code);
  if (at + 1 >= r->given) return 0;
  const uint8_t escape = r->bytes[at + 1];
  if (escape != 'u') return escape && strchr("\"\\/bfnrt", escape) ? 2 : 0;
  const int32_t first = hex_unit(r, at + 2);
  if (first < 0xd800 || first >= 0xe000) return first < 0 ? 0 : 6;
  if (first >= 0xdc00 || r->given - at < 12 || r->bytes[at + 6] != '\\' || r->bytes[at + 7] != 'u')
    return 0;
  const int32_t second = hex_unit(r, at + 8);
  return second >= 0xdc00 && second < 0xe000 ? 12 : 0;
}

/* Takes a string. place: where it begins and its bytes, without quotes. */
static sb_status take_string(sb__reader *r, double place[2]) {
  if (!sb__take_char(r, '"')) return sb__fail_at(r, r->at, "a string was expected");
  const int64_t from = r->at;
  while (r->at < r->given && r->bytes[r->at] != '"') {
    const int32_t length = character_length(r);
    if (!length) return sb__fail_at(r, r->at, "the string is neither UTF-8 nor valid JSON");
    r->at += length;
  }
  place[0] = (double)from;
  place[1] = (double)(r->at - from);
  return sb__take_char(r, '"') ? SB_OK : sb__fail_at(r, from, "the string has no end");
}

static bool text_is(const sb__reader *r, const double place[2], const char *text) {
  const size_t n = strlen(text);
  return place[1] == (double)n && memcmp(r->bytes + (int64_t)place[0], text, n) == 0;
}

/* Takes a list of at most `most` integers from 0 to 2^53. */
static sb_status take_list(sb__reader *r, int32_t most, int64_t *list, int32_t *count) {
  if (!sb__take_char(r, '[')) return sb__fail_at(r, r->at, "a list was expected");
  for (*count = 0; !sb__take_char(r, ']'); ++*count) {
    if (*count && !sb__take_char(r, ',')) return sb__fail_at(r, r->at, "a comma is missing");
    if (*count == most) return sb__fail_at(r, r->at, "the list has too many entries");
    sb__skip_spaces(r);
    const int64_t from = r->at;
    int64_t n = 0;
    for (; r->at < r->given && r->bytes[r->at] >= '0' && r->bytes[r->at] <= '9'; r->at++) {
      n = n * 10 + (r->bytes[r->at] - '0');
      if (n > INT64_C(1) << 53) return sb__fail_at(r, from, "the integer is too large");
    }
    if (r->at == from || (r->at - from > 1 && r->bytes[from] == '0')) {
      return sb__fail_at(r, from, "an integer, not negative, was expected");
    }
    list[*count] = n;
  }
  return SB_OK;
}

/* The format's dtypes: ours (-1: no such dtype here), elements and bytes of a block. */
static const struct {
  const char *name;
  int8_t dtype, elements, bytes;
} dtypes[] = {{"BOOL", SB_BOOL, 1, 1},
              {"U8", SB_UINT8, 1, 1},
              {"I8", SB_INT8, 1, 1},
              {"I16", SB_INT16, 1, 2},
              {"U16", SB_UINT16, 1, 2},
              {"I32", SB_INT32, 1, 4},
              {"U32", SB_UINT32, 1, 4},
              {"I64", SB_INT64, 1, 8},
              {"U64", SB_UINT64, 1, 8},
              {"F16", SB_FLOAT16, 1, 2},
              {"BF16", SB_BFLOAT16, 1, 2},
              {"F32", SB_FLOAT32, 1, 4},
              {"F64", SB_FLOAT64, 1, 8},
              {"C64", SB_COMPLEX64, 1, 8},
              {"F8_E4M3", SB_FLOAT8_E4M3FN, 1, 1},
              {"F8_E5M2", SB_FLOAT8_E5M2, 1, 1},
              {"F8_E8M0", -1, 1, 1},
              {"F8_E4M3FNUZ", -1, 1, 1},
              {"F8_E5M2FNUZ", -1, 1, 1},
              {"F4", -1, 2, 1},
              {"F6_E2M3", -1, 4, 3},
              {"F6_E3M2", -1, 4, 3}};

static sb_status take_tensor(sb__reader *r, const double name[2]) {
  double key[2] = {0, 0}, text[2] = {0, 0};
  int64_t shape[SB_MAX_DIMS], offsets[2] = {0, 0}, nbytes = 0;
  int32_t seen = 0, ndim = 0, count = 0;
  size_t which = 0;
  if (!sb__take_char(r, '{')) return sb__fail_at(r, r->at, "a tensor's entry is no object");
  while (seen != 7) {
    if (seen && !sb__take_char(r, ','))
      return sb__fail_at(r, r->at, "dtype, shape or data_offsets is missing");
    sb_status status = take_string(r, key);
    if (!status && !sb__take_char(r, ':')) status = sb__fail_at(r, r->at, "a colon is missing");
    if (status) return status;
    int32_t bit = 0;
    if (text_is(r, key, "dtype")) {
      bit = 1;
      status = take_string(r, text);
    } else if (text_is(r, key, "shape")) {
      bit = 2;
      status = take_list(r, SB_MAX_DIMS, shape, &ndim);
    } else if (text_is(r, key, "data_offsets")) {
      bit = 4;
      status = take_list(r, 2, offsets, &count);
    }
    if (status) return status;
    if (!bit || seen & bit)
      return sb__fail_at(r, (int64_t)key[0], "an entry has another field, or one twice");
    seen |= bit;
  }
  if (!sb__take_char(r, '}'))
    return sb__fail_at(r, r->at, "a tensor's entry goes on after its three fields");
  while (which < sizeof dtypes / sizeof *dtypes && !text_is(r, text, dtypes[which].name)) which++;
  if (which == sizeof dtypes / sizeof *dtypes)
    return sb__fail_at(r, (int64_t)text[0], "this dtype is not known");
  if (count != 2 || offsets[0] > offsets[1]) {
    return sb__fail_at(r, (int64_t)name[0],
                       "data_offsets of this tensor are not a beginning and an end");
  }
  const sb_status status =
      sb__put_tensor(r, name, dtypes[which].dtype, text[0], dtypes[which].elements,
                     dtypes[which].bytes, (int64_t)r->words[0] + offsets[0], ndim, shape, &nbytes);
  if (!status && nbytes != offsets[1] - offsets[0]) {
    return sb__fail_at(r, (int64_t)name[0],
                       "data_offsets of this tensor do not fit its shape and dtype");
  }
  return status;
}

static sb_status take_metadata(sb__reader *r) {
  int64_t n = 0;
  sb__skip_spaces(r);
  if (r->given - r->at >= 4 && !memcmp(r->bytes + r->at, "null", 4)) {
    r->at += 4;
    return SB_OK;
  }
  if (!sb__take_char(r, '{')) return sb__fail_at(r, r->at, "__metadata__ is no object");
  while (!sb__take_char(r, '}')) {
    double words[SB__RECORD_VALUE_LENGTH + 1] = {SB__RECORD_VALUE_LENGTH + 1, SB__PAIR};
    if (n && !sb__take_char(r, ',')) return sb__fail_at(r, r->at, "a comma is missing");
    if (++n > SB__MOST) return sb__too_many(r, r->at, n, "pairs of __metadata__", SB__MOST);
    sb_status status = take_string(r, words + SB__RECORD_NAME_AT);
    if (!status && !sb__take_char(r, ':')) status = sb__fail_at(r, r->at, "a colon is missing");
    if (!status) status = take_string(r, words + SB__RECORD_VALUE_AT);
    if (status) return status;
    for (int32_t i = 0; i <= SB__RECORD_VALUE_LENGTH; i++) sb__put_word(r, words[i]);
  }
  return SB_OK;
}

sb_status sb__safetensors_parse(sb__reader *r) {
  const int64_t given = r->given;
  int64_t tensors = 0;
  bool has_metadata = false;
  if (!sb__has_bytes(r, 8)) return sb__file_ends(r);
  const uint64_t length = sb__peek(r, 0, 8);
  r->at = 8;
  if (length > LONGEST_HEADER && length <= (uint64_t)r->total) {
    return sb__too_many(r, 0, (int64_t)length, "bytes of a header", LONGEST_HEADER);
  }
  if (!sb__has_bytes(r, (int64_t)length)) return sb__file_ends(r);
  if (r->room < 1) return sb__fail(SB_ERR_ARGUMENT, "there is no room");
  r->given = 8 + (int64_t)length;
  sb__put_word(r, (double)r->given);
  if (!sb__take_char(r, '{')) return sb__fail_at(r, r->at, "the header is no JSON object");
  while (!sb__take_char(r, '}')) {
    double name[2] = {0, 0};
    if ((tensors || has_metadata) && !sb__take_char(r, ','))
      return sb__fail_at(r, r->at, "a comma is missing");
    sb_status status = take_string(r, name);
    if (!status && !sb__take_char(r, ':')) status = sb__fail_at(r, r->at, "a colon is missing");
    if (status) return status;
    if (!text_is(r, name, "__metadata__")) {
      if (++tensors > SB__MOST)
        return sb__too_many(r, (int64_t)name[0], tensors, "tensors", SB__MOST);
      status = take_tensor(r, name);
    } else if (has_metadata) {
      status = sb__fail_at(r, (int64_t)name[0], "__metadata__ is there twice");
    } else {
      has_metadata = true;
      status = take_metadata(r);
    }
    if (status) return status;
  }
  sb__skip_spaces(r);
  if (r->at != r->given) return sb__fail_at(r, r->at, "the header goes on after its object");
  const sb_status status = sb__check_records(r, true, r->total);
  r->given = given;
  return status;
}
