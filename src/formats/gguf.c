/* .gguf: counts, metadata, an index of tensors, data. Versions 2 and 3, little-endian. */
#include <string.h>

#include "formats/formats.h"

enum { DEEPEST = 8 }; /* nested arrays */
/* Bytes. A sparse file could seem to be one endless header. */
enum { LONGEST_HEADER = 100000000 };
/* The limit on texts, booleans and arrays in all arrays together: JavaScript makes a value of each. Large vocabularies and
 * their merges have 800000 texts. */
enum { MOST_ENTRIES = 4000000 };
enum { UINT32 = 4, BOOL = 7, STRING = 8, ARRAY = 9 };

/* Checks that the next n bytes are in the file, for any n. Sets wanted if they were not given. */
static sb_status check_available(sb__reader *r, uint64_t n) {
  if (n > (uint64_t)(r->total - r->at))
    return sb__fail_at(r, r->at, "the file ends before what has to be here");
  if (n > LONGEST_HEADER || r->at > LONGEST_HEADER - (int64_t)n)
    return sb__too_many(r, r->at, r->at + (int64_t)n, "bytes of a header", LONGEST_HEADER);
  return sb__has_bytes(r, (int64_t)n) ? SB_OK : sb__file_ends(r);
}

static sb_status take_integer(sb__reader *r, int32_t nbytes, uint64_t *out) {
  const sb_status status = check_available(r, (uint64_t)nbytes);
  if (status || r->wanted) return status;
  *out = sb__peek(r, r->at, nbytes);
  r->at += nbytes;
  return SB_OK;
}

static sb_status skip_bytes(sb__reader *r, uint64_t n) {
  const sb_status status = check_available(r, n);
  if (status || r->wanted) return status;
  r->at += (int64_t)n;
  return SB_OK;
}

/* A name of up to most bytes. */
static sb_status take_name(sb__reader *r, uint64_t most, double place[2]) {
  uint64_t length = 0;
  sb_status status = take_integer(r, 8, &length);
  if (status || r->wanted) return status;
  if (length > most) return sb__fail_at(r, r->at - 8, "the name is too long");
  place[0] = (double)r->at;
  place[1] = (double)length;
  status = skip_bytes(r, length);
  if (status || r->wanted) return status;
  if (!sb__is_utf8(r, (int64_t)place[0], r->at))
    return sb__fail_at(r, (int64_t)place[0], "the name is not UTF-8");
  return SB_OK;
}

/* Totals so far. */
typedef struct counts {
  int64_t arrays;
  uint64_t entries;
} counts;

static sb_status skip_value(sb__reader *r, uint64_t type, int32_t depth, counts *all) {
  static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  uint64_t inner = 0, n = 0;
  sb_status status = SB_OK;
  if (type >= sizeof sizes) return sb__fail_at(r, r->at, "this type of value is not known");
  if (sizes[type]) return skip_bytes(r, sizes[type]);
  if (type == STRING) {
    status = take_integer(r, 8, &n);
    return status || r->wanted ? status : skip_bytes(r, n);
  }
  if (depth == DEEPEST) return sb__fail_at(r, r->at, "arrays are nested too deeply");
  if (++all->arrays > SB__MOST) return sb__too_many(r, r->at, all->arrays, "arrays", SB__MOST);
  status = take_integer(r, 4, &inner);
  if (!status && !r->wanted) status = take_integer(r, 8, &n);
  if (status || r->wanted) return status;
  if (n > (uint64_t)(r->total - r->at))
    return sb__fail_at(r, r->at - 8, "the array has more elements than the file");
  if (inner == BOOL || inner == STRING || inner == ARRAY) {
    all->entries += n;
    if (all->entries > MOST_ENTRIES) {
      return sb__too_many(r, r->at - 8, (int64_t)all->entries,
                          "texts, booleans and arrays in arrays", MOST_ENTRIES);
    }
  }
  if (inner < sizeof sizes && sizes[inner]) return skip_bytes(r, n * sizes[inner]);
  while (!status && !r->wanted && n-- > 0) status = skip_value(r, inner, depth + 1, all);
  return status;
}

static sb_status take_pair(sb__reader *r, uint64_t *alignment, counts *all) {
  double words[SB__RECORD_VALUE_LENGTH + 1] = {SB__RECORD_VALUE_LENGTH + 1, SB__PAIR};
  uint64_t type = 0;
  sb_status status = take_name(r, 65535, words + SB__RECORD_NAME_AT);
  if (!status && !r->wanted) status = take_integer(r, 4, &type);
  if (status || r->wanted) return status;
  const int64_t at = r->at;
  status = skip_value(r, type, 0, all);
  if (status || r->wanted) return status;
  words[SB__RECORD_TYPE] = (double)type;
  words[SB__RECORD_VALUE_AT] = (double)at;
  words[SB__RECORD_VALUE_LENGTH] = (double)(r->at - at);
  for (int32_t i = 0; i <= SB__RECORD_VALUE_LENGTH; i++) sb__put_word(r, words[i]);
  if (words[SB__RECORD_NAME_LENGTH] == 17 &&
      !memcmp(r->bytes + (int64_t)words[SB__RECORD_NAME_AT], "general.alignment", 17)) {
    *alignment = type == UINT32 ? sb__peek(r, at, 4) : 0;
    if (!*alignment || *alignment % 8)
      return sb__fail_at(r, at, "general.alignment is no multiple of 8 in 32 bits");
  }
  return SB_OK;
}

/* Blocks by the format's type: dtype (-1: no such dtype here), elements, bytes (0: no such type). */
static const struct {
  int8_t dtype;
  uint8_t elements_by_2; /* half of them; 0: 1 element */
  uint16_t bytes;
} types[] = {
    {SB_FLOAT32, 0, 4},  {SB_FLOAT16, 0, 2}, {-1, 16, 18},     {-1, 16, 20},       {0, 0, 0},
    {0, 0, 0},           {-1, 16, 22},       {-1, 16, 24},     {-1, 16, 34},       {-1, 16, 36},
    {-1, 128, 84},       {-1, 128, 110},     {-1, 128, 144},   {-1, 128, 176},     {-1, 128, 210},
    {-1, 128, 292},      {-1, 128, 66},      {-1, 128, 74},    {-1, 128, 98},      {-1, 128, 50},
    {-1, 16, 18},        {-1, 128, 110},     {-1, 128, 82},    {-1, 128, 136},     {SB_INT8, 0, 1},
    {SB_INT16, 0, 2},    {SB_INT32, 0, 4},   {SB_INT64, 0, 8}, {SB_FLOAT64, 0, 8}, {-1, 128, 56},
    {SB_BFLOAT16, 0, 2}, {0, 0, 0},          {0, 0, 0},        {0, 0, 0},          {-1, 128, 54},
    {-1, 128, 66},       {0, 0, 0},          {0, 0, 0},        {0, 0, 0},          {-1, 16, 17},
};

/* Tensors' offsets count from the data's beginning, which is not known yet. */
static sb_status take_tensor(sb__reader *r, uint64_t alignment) {
  double name[2] = {0, 0};
  uint64_t ndim = 0, extent = 0, type = 0, begin = 0;
  int64_t shape[4] = {0}, nbytes = 0;
  sb_status status = take_name(r, 65535, name);
  if (!status && !r->wanted) status = take_integer(r, 4, &ndim);
  if (status || r->wanted) return status;
  if (ndim > 4) return sb__fail_at(r, r->at - 4, "the tensor has more than 4 axes");
  for (uint64_t d = 0; d < ndim; d++) {
    status = take_integer(r, 8, &extent);
    if (status || r->wanted) return status;
    if (extent > UINT64_C(1) << 53) return sb__fail_at(r, r->at - 8, "the extent is too large");
    shape[ndim - 1 - d] = (int64_t)extent; /* the file lists the innermost extent first */
  }
  status = take_integer(r, 4, &type);
  if (!status && !r->wanted) status = take_integer(r, 8, &begin);
  if (status || r->wanted) return status;
  if (type >= sizeof types / sizeof *types || !types[type].bytes) {
    return sb__fail_at(r, r->at - 12, "this type of tensor is not known");
  }
  if (begin > (uint64_t)r->total)
    return sb__fail_at(r, r->at - 8, "the data of this tensor begins after the file");
  if (begin % alignment)
    return sb__fail_at(r, r->at - 8, "the offset is no multiple of the alignment");
  const int32_t elements = types[type].elements_by_2 ? 2 * types[type].elements_by_2 : 1;
  if (elements > 1 && (!ndim || shape[ndim - 1] % elements)) {
    return sb__fail_at(r, (int64_t)name[0], "the innermost extent is no whole number of blocks");
  }
  return sb__put_tensor(r, name, types[type].dtype, (double)type, elements, types[type].bytes,
                        (int64_t)begin, (int32_t)ndim, shape, &nbytes);
}

sb_status sb__gguf_parse(sb__reader *r) {
  uint64_t tensors = 0, pairs = 0, alignment = 32;
  counts all = {0, 0};
  sb_status status = SB_OK;
  if (!sb__has_bytes(r, 24)) return sb__file_ends(r);
  if (memcmp(r->bytes, "GGUF", 4) != 0) return sb__fail_at(r, 0, "this is no .gguf file");
  const uint64_t version = sb__peek(r, 4, 4);
  if (version != 2 && version != 3) {
    return sb__fail_at(r, 4,
                       version << 40 ? "this version of .gguf is not read"
                                     : "a big-endian .gguf is not read");
  }
  tensors = sb__peek(r, 8, 8);
  pairs = sb__peek(r, 16, 8);
  r->at = 24;
  if (tensors > (uint64_t)r->total || pairs > (uint64_t)r->total) {
    return sb__fail_at(r, 8, "there are more tensors or values than bytes");
  }
  if (tensors > SB__MOST) return sb__too_many(r, 8, (int64_t)tensors, "tensors", SB__MOST);
  if (pairs > SB__MOST) return sb__too_many(r, 16, (int64_t)pairs, "values", SB__MOST);
  if (r->room < 1) return sb__fail(SB_ERR_ARGUMENT, "there is no room");
  sb__put_word(r, 0);
  while (!status && !r->wanted && pairs-- > 0) status = take_pair(r, &alignment, &all);
  const int64_t first = r->count;
  while (!status && !r->wanted && tensors-- > 0) status = take_tensor(r, alignment);
  if (status || r->wanted) return status;
  const int64_t begin = r->at + (int64_t)((alignment - (uint64_t)r->at % alignment) % alignment);
  r->words[0] = (double)begin;
  for (int64_t at = first; r->count <= r->room && at < r->count; at += (int64_t)r->words[at]) {
    r->words[at + SB__RECORD_BEGIN] += (double)begin;
  }
  return sb__check_records(r, false, r->total);
}
