/* What parsers of file formats share. */
#include "formats/formats.h"

sb_status sb__fail_at(const sb__reader *r, int64_t at, const char *reason) {
  return sb__fail(SB_ERR_FORMAT, "byte %lld: %s", (long long)(r->base + at), reason);
}

sb_status sb__too_many(const sb__reader *r, int64_t at, int64_t n, const char *things,
                       int64_t most) {
  return sb__fail(SB_ERR_FORMAT, "byte %lld: %lld %s are more than the %lld that are read",
                  (long long)(r->base + at), (long long)n, things, (long long)most);
}

bool sb__has_bytes(sb__reader *r, int64_t n) {
  if (n >= 0 && n <= r->given - r->at) return true;
  r->wanted = n >= 0 && n <= r->total - r->at ? r->at + n : 0;
  return false;
}

sb_status sb__file_ends(sb__reader *r) {
  return r->wanted ? SB_OK : sb__fail_at(r, r->at, "the file ends before what has to be here");
}

uint64_t sb__peek(const sb__reader *r, int64_t at, int32_t nbytes) {
  uint64_t value = 0;
  while (nbytes-- > 0) value = value << 8 | r->bytes[at + nbytes];
  return value;
}

void sb__skip_spaces(sb__reader *r) {
  while (r->at < r->given) {
    const uint8_t c = r->bytes[r->at];
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') break;
    r->at++;
  }
}

bool sb__take_char(sb__reader *r, char c) {
  sb__skip_spaces(r);
  const bool is_there = r->at < r->given && r->bytes[r->at] == (uint8_t)c;
  r->at += is_there;
  return is_there;
}

void sb__put_word(sb__reader *r, double word) {
  if (r->count < r->room) r->words[r->count] = word;
  r->count++;
}

sb_status sb__put_tensor(sb__reader *r, const double *name, int32_t dtype, double foreign,
                         int32_t block_elements, int32_t block_bytes, int64_t begin, int32_t ndim,
                         const int64_t *shape, int64_t *nbytes) {
  int64_t numel = 1;
  bool none = false;
  for (int32_t d = 0; d < ndim; d++) {
    none = none || shape[d] == 0;
    if (sb__mul_overflows(numel, shape[d] ? shape[d] : 1, &numel) || numel > INT64_C(1) << 53) {
      return sb__fail_at(r, (int64_t)name[0], "the shape has too many elements");
    }
  }
  if (none) numel = 0;
  if (sb__mul_overflows(numel, block_bytes, nbytes) || *nbytes % block_elements) {
    return sb__fail_at(r, (int64_t)name[0], "the shape is no whole number of bytes or blocks");
  }
  *nbytes /= block_elements;
  const double words[] = {
      SB__RECORD_SHAPE + ndim, SB__TENSOR,  name[0],       name[1],         dtype, foreign,
      block_elements,          block_bytes, (double)begin, (double)*nbytes, ndim};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) sb__put_word(r, words[i]);
  for (int32_t d = 0; d < ndim; d++) sb__put_word(r, (double)shape[d]);
  return SB_OK;
}

int32_t sb__utf8(const sb__reader *r, int64_t at, int64_t end, uint32_t *code) {
  static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const uint8_t first = r->bytes[at];
  const int32_t length = first < 0x80   ? 1
                         : first < 0xc0 ? 0
                         : first < 0xe0 ? 2
                         : first < 0xf0 ? 3
                                        : 4;
  if (!length || length > end - at || first > 0xf4) return 0;
  uint32_t c = length == 1 ? first : first & (0x7fU >> length);
  for (int32_t i = 1; i < length; i++) {
    if ((r->bytes[at + i] & 0xc0) != 0x80) return 0;
    c = c << 6 | (r->bytes[at + i] & 0x3f);
  }
  *code = c;
  return c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : length;
}

bool sb__is_utf8(const sb__reader *r, int64_t at, int64_t end) {
  while (at < end) {
    uint32_t code = 0;
    const int32_t length = sb__utf8(r, at, end, &code);
    if (!length) return false;
    at += length;
  }
  return true;
}

/* ---- Order ---- */

/* By place; ties in the order of the file. */
static bool is_before(const sb__reader *r, double i, double j) {
  const double *a = r->words + (int64_t)i, *b = r->words + (int64_t)j;
  for (int32_t k = SB__RECORD_BEGIN; k <= SB__RECORD_NBYTES; k++) { /* for members, HEADER */
    if (a[k] != b[k]) return a[k] < b[k];
  }
  return a[SB__RECORD_NAME_AT] < b[SB__RECORD_NAME_AT];
}

static void sift_down(const sb__reader *r, double *list, int64_t i, int64_t n) {
  for (int64_t child = 2 * i + 1; child < n; i = child, child = 2 * i + 1) {
    if (child + 1 < n && is_before(r, list[child], list[child + 1])) child++;
    if (!is_before(r, list[i], list[child])) return;
    const double kept = list[i];
    list[i] = list[child];
    list[child] = kept;
  }
}

static void sort_records(const sb__reader *r, double *list, int64_t n) {
  int64_t sorted = 1;
  while (sorted < n && is_before(r, list[sorted - 1], list[sorted])) sorted++;
  if (sorted >= n) return; /* nearly all files are sorted */
  for (int64_t i = n / 2 - 1; i >= 0; i--) sift_down(r, list, i, n);
  for (int64_t i = n - 1; i > 0; i--) {
    const double kept = list[0];
    list[0] = list[i];
    list[i] = kept;
    sift_down(r, list, 0, i);
  }
}

/* list: records sorted by place; each must end where the next one begins, or before. */
static sb_status check_places(sb__reader *r, const double *list, int64_t n, bool tiled,
                              int64_t end) {
  int64_t last = (int64_t)r->words[0];
  for (int64_t i = 0; i < n; i++) {
    double *record = r->words + (int64_t)list[i];
    const int64_t name = (int64_t)record[SB__RECORD_NAME_AT];
    if (record[SB__RECORD_TAG] == SB__MEMBER) {
      const double next =
          i + 1 < n ? r->words[(int64_t)list[i + 1] + SB__RECORD_HEADER] : (double)end;
      record[SB__RECORD_END] = next;
      if (next - record[SB__RECORD_HEADER] <
          30 + record[SB__RECORD_NAME_LENGTH] + record[SB__RECORD_PACKED]) {
        return sb__fail_at(r, name, "the member reaches into what comes after it");
      }
      continue;
    }
    const double begin = record[SB__RECORD_BEGIN], nbytes = record[SB__RECORD_NBYTES];
    if (begin < (double)last && (tiled || nbytes > 0)) {
      return sb__fail_at(r, name, "the data of this tensor overlaps that of another one");
    }
    if (tiled && begin > (double)last) {
      return sb__fail_at(r, name, "there are bytes before this tensor's data that belong to none");
    }
    if (begin + nbytes > (double)end) {
      return sb__fail_at(r, name, "the data of this tensor ends after the file");
    }
    if (nbytes > 0 || tiled) last = (int64_t)(begin + nbytes);
  }
  if (tiled && last != end)
    return sb__fail_at(r, last, "the bytes from here on belong to no tensor");
  return SB_OK;
}

sb_status sb__check_records(sb__reader *r, bool tiled, int64_t end) {
  const int64_t all = r->count;
  if (all > r->room) {
    r->count += all / SB__RECORD_VALUE_LENGTH; /* the shortest record's length */
    return SB_OK;
  }
  for (int64_t at = 1; at < all; at += (int64_t)r->words[at]) {
    if (r->words[at + SB__RECORD_TAG] != SB__PAIR) sb__put_word(r, (double)at);
  }
  if (r->count > r->room) return SB_OK;
  double *list = r->words + all;
  const int64_t n = r->count - all;
  r->count = all;
  sort_records(r, list, n);
  return check_places(r, list, n, tiled, end);
}

void sb__swap_bytes(void *data, int64_t count, int32_t itemsize) {
  uint8_t *p = data;
  for (int64_t i = 0; i < count; i++, p += itemsize) {
    for (int32_t low = 0, high = itemsize - 1; low < high; low++, high--) {
      const uint8_t kept = p[low];
      p[low] = p[high];
      p[high] = kept;
    }
  }
}
