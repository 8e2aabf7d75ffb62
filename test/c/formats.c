/* Parsers of files, parts of storages, mapped files. What the parsers refuse is in test/api/formats.test.js. */
#include "formats/formats.h"

#include <unistd.h>

#include "check.h"
#include "ipc/map.h"

static const char header[] = "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
enum { HEADER = sizeof header - 1, FILE_SIZE = 8 + HEADER + 8 };

static uint8_t *new_file(void) {
  uint8_t *bytes = calloc(1, FILE_SIZE);
  bytes[0] = HEADER;
  memcpy(bytes + 8, header, HEADER);
  return bytes;
}

static void finds_tensors(void) {
  uint8_t *bytes = new_file();
  double words[64];
  sb__reader r = {
      .bytes = bytes, .given = FILE_SIZE, .total = FILE_SIZE, .words = words, .room = 64};
  EQ(sb__safetensors_parse(&r), SB_OK);
  EQ(r.wanted, 0);
  EQ(words[0], 8 + HEADER);
  const double *record = words + 1;
  EQ(record[SB__RECORD_TAG], SB__TENSOR);
  EQ(record[SB__RECORD_TYPE], SB_FLOAT32);
  EQ(record[SB__RECORD_BEGIN], 8 + HEADER);
  EQ(record[SB__RECORD_NBYTES], 8);
  EQ(record[SB__RECORD_NDIM], 1);
  EQ(record[SB__RECORD_SHAPE], 2);
  EQ(r.count, 1 + record[SB__RECORD_LENGTH]);
  free(bytes);
}

/* With less room nothing is written behind it, and what is wanted is said; so is what lacks in a file's beginning. */
static void says_what_it_wants(void) {
  uint8_t *bytes = new_file();
  for (int64_t room = 1; room < 14; room++) {
    double *words = malloc((size_t)room * sizeof *words);
    sb__reader r = {
        .bytes = bytes, .given = FILE_SIZE, .total = FILE_SIZE, .words = words, .room = room};
    EQ(sb__safetensors_parse(&r), SB_OK);
    CHECK(r.count > room);
    free(words);
  }
  for (int64_t given = 0; given < 8 + HEADER; given++) {
    double words[64];
    uint8_t *part = malloc((size_t)given + 1);
    memcpy(part, bytes, (size_t)given);
    sb__reader r = {.bytes = part, .given = given, .total = FILE_SIZE, .words = words, .room = 64};
    EQ(sb__safetensors_parse(&r), SB_OK);
    EQ(r.wanted, given < 8 ? 8 : 8 + HEADER);
    sb__reader whole = {.bytes = part, .given = given, .total = given, .words = words, .room = 64};
    EQ(sb__safetensors_parse(&whole), SB_ERR_FORMAT);
    CHECK(strncmp(sb_error_message(), "byte ", 5) == 0);
    free(part);
  }
  free(bytes);
}

/* Characters and escapes that are cut off are none, and nobody looks behind them: ASan guards both ends. */
static void looks_behind_no_end(void) {
  static const char *const texts[] = {
      "\xc3\xa9",       "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\\u00e9",
      "\\ud83d\\ude00", "\\n",          "\xf4\x8f\xbf\xbf", "a\\"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const int64_t whole = (int64_t)strlen(texts[i]);
    for (int64_t n = 0; n <= whole; n++) {
      uint8_t *text = malloc((size_t)(n ? n : 1));
      memcpy(text, texts[i], (size_t)n);
      const sb__reader of_text = {.bytes = text, .given = n, .total = n};
      for (int64_t at = 0; at < n; at++) {
        uint32_t code = 0;
        const int32_t length = sb__utf8(&of_text, at, n, &code);
        CHECK(length >= 0 && length <= n - at);
      }
      EQ(sb__is_utf8(&of_text, 0, n), n == 0 || n == whole || (uint8_t)texts[i][0] < 0x80);
      free(text);
      /* A header that ends there. */
      uint8_t *bytes = calloc(1, (size_t)(8 + 2 + n));
      bytes[0] = (uint8_t)(2 + n);
      memcpy(bytes + 8, "{\"", 2);
      memcpy(bytes + 10, texts[i], (size_t)n);
      double words[64];
      sb__reader r = {.bytes = bytes, .given = 10 + n, .total = 10 + n, .words = words, .room = 64};
      EQ(sb__safetensors_parse(&r), SB_ERR_FORMAT);
      free(bytes);
    }
  }
}

static void parts_keep_the_whole(void) {
  const int64_t before = sb__storage_totals_now().storages;
  sb_storage *whole = NULL, *part = NULL, *none = NULL;
  EQ(sb_storage_new(100, &whole), SB_OK);
  EQ(sb__storage_part(whole, 60, 40, &part), SB_OK);
  EQ(sb__storage_part(whole, 61, 40, &none), SB_ERR_BOUNDS);
  EQ(sb__storage_part(whole, -1, 4, &none), SB_ERR_BOUNDS);
  EQ(sb__storage_part(whole, 0, INT64_MAX, &none), SB_ERR_BOUNDS);
  CHECK(!none);
  char *data = sb_storage_data(whole);
  sb_storage_unref(&whole);
  CHECK(sb_storage_data(part) == data + 60);
  memset(sb_storage_data(part), 7, 40);
  sb_storage_unref(&part);
  EQ(sb__storage_totals_now().storages, before);
}

static void maps_files(void) {
  char path[] = "/tmp/samebytes-map-XXXXXX", read_back[4] = {0};
  const int file = mkstemp(path);
  sb_storage *shared = NULL, *private = NULL, *none = NULL;
  int error = 0;
  EQ(sb__os_reserve(file, 10000), 0);
  EQ(sb__map_file(file, 5000, 4, true, &shared, &error), SB_OK);
  EQ(sb__map_file(file, 0, 10000, false, &private, &error), SB_OK);
  EQ(sb__storage_totals_now().mapped_bytes, 10004);
  memcpy(sb_storage_data(shared), "same", 4);
  EQ(pread(file, read_back, 4, 5000), 4);
  CHECK(!memcmp(read_back, "same", 4));
  CHECK(!memcmp((char *)sb_storage_data(private) + 5000, "same", 4));
  memcpy((char *)sb_storage_data(private) + 5000, "ours", 4);
  CHECK(!memcmp(sb_storage_data(shared), "same", 4));
  EQ(sb__map_file(file, 0, 0, false, &none, &error), SB_ERR_ARGUMENT);
  EQ(sb__map_file(-1, 0, 1, false, &none, &error), SB_ERR_ARGUMENT);
  close(file);
  EQ(sb__map_file(file, 0, 1, false, &none, &error), SB_ERR_IO);
  CHECK(error != 0 && !none);
  sb_storage_unref(&shared);
  sb_storage_unref(&private);
  EQ(sb__storage_totals_now().mapped_bytes, 0);
  unlink(path);
}

/* A file that becomes shorter: zeros, an error, and the guard's place is used again. */
static void guards_mappings(void) {
  char path[] = "/tmp/samebytes-guard-XXXXXX";
  const int file = mkstemp(path);
  const int64_t page = sysconf(_SC_PAGESIZE);
  const sb__storage_totals before = sb__storage_totals_now();
  for (int round = 0; round < 4; round++) {
    sb_storage *whole = NULL, *part = NULL, *other = NULL;
    int error = 0;
    EQ(ftruncate(file, 4 * page), 0);
    EQ(pwrite(file, "ab", 2, 3 * page - 1), 2);
    EQ(sb__map_file(file, 64, 4 * page - 64, round % 2, &whole, &error), SB_OK);
    EQ(sb__map_file(file, 0, page, false, &other, &error), SB_OK);
    EQ(sb__map_guard(whole), SB_OK);
    EQ(sb__map_guard(other), SB_OK);
    EQ(sb__storage_part(whole, 3 * page - 64, 1, &part), SB_OK);
    volatile char *bytes = sb_storage_data(whole);
    EQ(bytes[3 * page - 65], 'a');
    EQ(*(char *)sb_storage_data(part), 'b');
    EQ(ftruncate(file, page), 0);
    EQ(bytes[0], 0);
    EQ(sb__check_intact(whole), SB_OK); /* nobody touched what is gone */
    EQ(bytes[3 * page - 65], 0);
    bytes[3 * page - 64] = 'c';
    EQ(*(char *)sb_storage_data(part), 'c');
    EQ(sb__check_intact(whole), SB_ERR_IO);
    EQ(sb__check_intact(part), SB_ERR_IO);
    EQ(sb__check_intact(other), SB_OK);
    sb_storage_unref(&whole);
    EQ(sb__check_intact(part), SB_ERR_IO);
    sb_storage_unref(&part);
    sb_storage_unref(&other);
    EQ(sb__storage_totals_now().storages, before.storages);
  }
  close(file);
  unlink(path);
}

int main(void) {
  test("finds tensors", finds_tensors);
  test("says what it wants", says_what_it_wants);
  test("looks behind no end", looks_behind_no_end);
  test("parts keep the whole", parts_keep_the_whole);
  test("maps files", maps_files);
  test("guards mappings", guards_mappings);
  return done();
}
