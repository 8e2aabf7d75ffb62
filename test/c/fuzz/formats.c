/* A fuzzer of one parser: FORMAT is its number in exports.c's parse. What it finds lies inside the file, whatever that is. */
#include <stdlib.h>

#include "formats/formats.h"

static sb_status (*const parsers[])(sb__reader *r) = {
    sb__npy_parse, sb__safetensors_parse, sb__gguf_parse,
    sb__zip_end,   sb__zip_directory,     sb__zip_member,
};

#define HOLDS(condition)       \
 do {                          \
  if (!(condition)) abort();   \
 } while (0)

static void check(const sb__reader *r) {
  int64_t at = 1;
  while (at < r->count) {
    const double *record = r->words + at;
    const double name = record[SB__RECORD_NAME_AT], length = record[SB__RECORD_NAME_LENGTH];
    HOLDS(record[0] >= SB__RECORD_VALUE_LENGTH + 1 && record[0] <= (double)r->count);
    HOLDS(name >= 0 && length >= 0 && name + length <= (double)r->given);
    if (record[SB__RECORD_TAG] == SB__PAIR) {
      HOLDS(record[SB__RECORD_VALUE_AT] + record[SB__RECORD_VALUE_LENGTH] <= (double)r->given);
    } else if (record[SB__RECORD_TAG] == SB__TENSOR) {
      double bytes = record[SB__RECORD_BLOCK_BYTES] / record[SB__RECORD_BLOCK_ELEMENTS];
      for (int32_t d = 0; d < (int32_t)record[SB__RECORD_NDIM]; d++) bytes *= record[SB__RECORD_SHAPE + d];
      HOLDS(bytes == record[SB__RECORD_NBYTES]);
      HOLDS(record[SB__RECORD_NDIM] <= SB_MAX_DIMS);
      HOLDS(bytes == 0 || record[SB__RECORD_BEGIN] + bytes <= (double)r->total);
    } else {
      HOLDS(record[SB__RECORD_HEADER] + record[SB__RECORD_PACKED] <= record[SB__RECORD_END]);
      HOLDS(record[SB__RECORD_END] <= (double)r->base);
    }
    at += (int64_t)record[0];
  }
  HOLDS(at == r->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const int64_t n = (int64_t)size;
  int64_t room = 64;
  for (;;) {
    /* A directory's base is where it ends its file's members. */
    sb__reader r = {.bytes = data, .given = n, .total = n, .base = FORMAT == 4 ? 4096 : 0, .room = room};
    r.words = malloc((size_t)room * sizeof(double));
    const sb_status status = parsers[FORMAT](&r);
    HOLDS(!status || status == SB_ERR_FORMAT);
    HOLDS(r.wanted == 0);
    const int64_t count = r.count;
    if (!status && count <= room && FORMAT != 3 && FORMAT != 5) {
      check(&r);
    }
    free(r.words);
    if (status || count <= room) break;
    HOLDS(count <= 64 * n + 64);
    room = count;
  }
  /* The beginning alone. */
  for (int64_t given = n; given > 0; given /= 2) {
    double words[64];
    uint8_t *part = malloc((size_t)given);
    for (int64_t i = 0; i < given; i++) part[i] = data[i];
    sb__reader r = {.bytes = part, .given = given, .total = n, .words = words, .room = 64};
    const sb_status status = FORMAT == 3 || FORMAT == 4 ? SB_OK : parsers[FORMAT](&r);
    HOLDS(r.wanted == 0 || (!status && r.wanted > given && r.wanted <= n));
    free(part);
  }
  return 0;
}
