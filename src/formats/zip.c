/* .zip, as far as .npz needs it: where members are. JavaScript inflates them. */
#include <string.h>

#include "formats/formats.h"

enum { LONGEST_DIRECTORY = 100000000 }; /* bytes; a sparse file could seem to be one */
enum { END = 22, LONGEST_COMMENT = 65535, LOCATOR = 20, END64 = 56, ENTRY = 46, HEADER = 30 };

static bool is_at(const sb__reader *r, int64_t at, uint32_t signature) {
  return at >= 0 && r->given - at >= 4 && sb__peek(r, at, 4) == signature;
}

/* Given the last bytes of a file; base: where they begin. */
sb_status sb__zip_end(sb__reader *r) {
  int64_t at = r->given - END;
  const int64_t lowest = at - LONGEST_COMMENT;
  while (at >= 0 && at >= lowest &&
         !(is_at(r, at, 0x06054b50) && (int64_t)sb__peek(r, at + 20, 2) == r->given - at - END)) {
    at--;
  }
  if (at < 0 || at < lowest)
    return sb__fail_at(r, r->given, "there is no end of a zip directory before");
  if (sb__peek(r, at + 4, 4)) return sb__fail_at(r, at, "the zip has several parts");
  uint64_t count = sb__peek(r, at + 10, 2), nbytes = sb__peek(r, at + 12, 4),
           begin = sb__peek(r, at + 16, 4);
  int64_t end = at;
  if (count != sb__peek(r, at + 8, 2)) return sb__fail_at(r, at, "the zip has several parts");
  if (is_at(r, at - LOCATOR, 0x07064b50)) {
    const uint64_t where = sb__peek(r, at - LOCATOR + 8, 8);
    end = (int64_t)where - r->base;
    if (where < (uint64_t)r->base || where > (uint64_t)r->total || end > at - LOCATOR - END64 ||
        !is_at(r, end, 0x06064b50)) {
      return sb__fail_at(r, at - LOCATOR, "the zip64 directory has no end where it has to be");
    }
    count = sb__peek(r, end + 32, 8);
    nbytes = sb__peek(r, end + 40, 8);
    begin = sb__peek(r, end + 48, 8);
  }
  const uint64_t room = (uint64_t)(r->base + end);
  if (nbytes > room || begin > room - nbytes || begin + nbytes != room || count > nbytes / ENTRY) {
    return sb__fail_at(r, end, "the zip directory is not where it has to be");
  }
  if (nbytes > LONGEST_DIRECTORY)
    return sb__too_many(r, end, (int64_t)nbytes, "bytes of a zip directory", LONGEST_DIRECTORY);
  sb__put_word(r, (double)begin);
  sb__put_word(r, (double)nbytes);
  sb__put_word(r, (double)count);
  return SB_OK;
}

/* Reads 64-bit values from the extra field for fields whose 32 bits are all ones. False: it is malformed. */
static bool read_wide(const sb__reader *r, int64_t at, int64_t end, uint64_t *fields[3]) {
  while (end - at >= 4) {
    const int64_t next = at + 4 + (int64_t)sb__peek(r, at + 2, 2);
    if (next > end) return false;
    if (sb__peek(r, at, 2) == 1) {
      at += 4;
      for (int32_t i = 0; i < 3; i++) {
        if (*fields[i] != UINT32_MAX) continue;
        if (next - at < 8) return false;
        *fields[i] = sb__peek(r, at, 8);
        at += 8;
      }
      return true;
    }
    at = next;
  }
  return true;
}

sb_status sb__zip_directory(sb__reader *r) {
  if (r->room < 1) return sb__fail(SB_ERR_ARGUMENT, "there is no room");
  sb__put_word(r, 0);
  for (int64_t n = 1; r->at < r->given; n++) {
    const int64_t at = r->at;
    if (n > SB__MOST) return sb__too_many(r, at, n, "members", SB__MOST);
    if (r->given - at < ENTRY || !is_at(r, at, 0x02014b50))
      return sb__fail_at(r, at, "this is no entry of a zip directory");
    const uint64_t flags = sb__peek(r, at + 8, 2), method = sb__peek(r, at + 10, 2);
    uint64_t packed = sb__peek(r, at + 20, 4), unpacked = sb__peek(r, at + 24, 4),
             header = sb__peek(r, at + 42, 4);
    const int64_t name = at + ENTRY, length = (int64_t)sb__peek(r, at + 28, 2);
    const int64_t extra = name + length, after = extra + (int64_t)sb__peek(r, at + 30, 2);
    r->at = after + (int64_t)sb__peek(r, at + 32, 2);
    if (r->at > r->given) return sb__fail_at(r, at, "the entry ends after the zip directory");
    if (!read_wide(r, extra, after, (uint64_t *[]){&unpacked, &packed, &header})) {
      return sb__fail_at(r, at, "the entry's zip64 field is malformed");
    }
    if (flags & 1) return sb__fail_at(r, at, "the member is encrypted");
    if (method != 0 && method != 8)
      return sb__fail_at(r, at, "the member is neither stored nor deflated");
    if (header > (uint64_t)r->base || packed > (uint64_t)r->base - header) {
      return sb__fail_at(r, at, "the member reaches into the zip directory");
    }
    /* Deflate expands a byte to at most 1032. */
    if (method ? unpacked / 1032 > packed : unpacked != packed) {
      return sb__fail_at(r, at, "the member cannot have as many bytes as the zip directory says");
    }
    const double words[] = {SB__RECORD_OF_MEMBER, SB__MEMBER,
                            (double)name,         (double)length,
                            (double)method,       (double)sb__peek(r, at + 16, 4),
                            (double)packed,       (double)unpacked,
                            (double)header,       0};
    for (int32_t i = 0; i < SB__RECORD_OF_MEMBER; i++) sb__put_word(r, words[i]);
  }
  return sb__check_records(r, false, r->base);
}

sb_status sb__zip_member(sb__reader *r) {
  if (!sb__has_bytes(r, HEADER)) return sb__file_ends(r);
  if (!is_at(r, 0, 0x04034b50)) return sb__fail_at(r, 0, "this is no header of a member");
  const int64_t name = (int64_t)sb__peek(r, 26, 2), extra = (int64_t)sb__peek(r, 28, 2);
  if (!sb__has_bytes(r, HEADER + name + extra)) return sb__file_ends(r);
  sb__put_word(r, (double)(HEADER + name + extra));
  sb__put_word(r, HEADER);
  sb__put_word(r, (double)name);
  sb__put_word(r, (double)sb__peek(r, 8, 2));
  return SB_OK;
}
