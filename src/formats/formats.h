/* Parsers of file formats: pure functions over bytes. They allocate nothing and read nothing else. They write their results
 * as doubles (words) to the caller's buffer; the number of words is bounded by the bytes given.
 *
 * A parser fails with SB_ERR_FORMAT; the message has the byte and the reason. It may be given just the beginning of a
 * file: where that is too short, it succeeds and sets wanted.
 *
 * Parsers read bytes more than once: the caller makes sure that nobody writes to them meanwhile.
 *
 * In WebAssembly they are a module of their own (wasm/parsers.c). */
#ifndef SB_FORMATS_H
#define SB_FORMATS_H

#include "core/core.h"

/* The input and output of a parser. */
typedef struct sb__reader {
  const uint8_t *bytes;
  int64_t given;  /* bytes there are */
  int64_t total;  /* bytes of the whole file, at least given */
  int64_t base;   /* the first byte's place in the file, for messages; 0 but for parts of a zip */
  int64_t at;     /* the next byte */
  int64_t wanted; /* 0, or how many bytes the parser needs */
  double *words;  /* results: room of them; the rest is counted only */
  int64_t room, count; /* words */
} sb__reader;

/* Results: words[0] is where the data begins; records follow from words[1] on, each with its length in words first. To sort
 * records, parsers need some more room after them. Names are raw bytes of the file; duplicates are for the caller to
 * detect. */
enum {
  SB__RECORD_LENGTH,
  SB__RECORD_TAG, /* below */
  SB__RECORD_NAME_AT,
  SB__RECORD_NAME_LENGTH,
  SB__RECORD_TYPE,         /* PAIR: the value's; TENSOR: an sb_dtype, -1: no such dtype here */
  SB__RECORD_VALUE_AT,     /* PAIR */
  SB__RECORD_VALUE_LENGTH, /* PAIR; bytes */
  SB__RECORD_FOREIGN =
      5, /* TENSOR: the type's number in the format, or where its text is; npy: SB__NPY_ */
  SB__RECORD_BLOCK_ELEMENTS, /* TENSOR; 1 except for quantised types */
  SB__RECORD_BLOCK_BYTES,
  SB__RECORD_BEGIN,  /* TENSOR: byte of the file */
  SB__RECORD_NBYTES, /* TENSOR */
  SB__RECORD_NDIM,   /* TENSOR; its extents follow */
  SB__RECORD_SHAPE,
  SB__RECORD_METHOD = 4, /* MEMBER of a zip: 0 stored, 8 deflated */
  SB__RECORD_CRC,
  SB__RECORD_PACKED,   /* bytes in the file */
  SB__RECORD_UNPACKED, /* bytes of the member */
  SB__RECORD_HEADER,   /* byte of the file: the member's own header */
  SB__RECORD_END,      /* byte of the file where the next one begins */
  SB__RECORD_OF_MEMBER,
};

enum { SB__PAIR, SB__TENSOR, SB__MEMBER };

enum { SB__NPY_FORTRAN = 1, SB__NPY_SWAPPED = 2 };

/* .npy, versions 1 to 3: one TENSOR without a name. */
sb_status sb__npy_parse(sb__reader *r);

/* .safetensors: TENSORs, and PAIRs of JSON strings (without quotes) for the metadata. Data has neither holes nor
 * overlaps. FOREIGN is where the dtype's text is. */
sb_status sb__safetensors_parse(sb__reader *r);

/* .gguf, versions 2 and 3: TENSORs and PAIRs, whose TYPE is the format's. */
sb_status sb__gguf_parse(sb__reader *r);

/* The end of a zip, up to its last byte. Words 0 to 2: where its directory begins, its bytes, its members. */
sb_status sb__zip_end(sb__reader *r);

/* The directory of a zip: MEMBERs. total: where it ends. */
sb_status sb__zip_directory(sb__reader *r);

/* A member's own header. Words 0 to 3: where its data begins, where its name is, the name's bytes, the method. */
sb_status sb__zip_member(sb__reader *r);

/* Reverses the bytes of each of count items of 2, 4 or 8 bytes. */
void sb__swap_bytes(void *data, int64_t count, int32_t itemsize);

/* Calls a parser by its index in the list above, from 0 on. SB_ERR_ARGUMENT: there is none. */
sb_status sb__parse(int64_t which, sb__reader *r);

/* ---- formats.c: shared by the parsers ---- */

/* The limit on tensors, on pairs, on arrays in their values, and on members: JavaScript would take minutes and gigabytes for
 * all that a header of 100 MB can hold. */
enum { SB__MOST = 1000000 };

sb_status sb__fail_at(const sb__reader *r, int64_t at, const char *reason);

/* Fails because there are at least n things, more than `most`. */
sb_status sb__too_many(const sb__reader *r, int64_t at, int64_t n, const char *things,
                       int64_t most);

/* True if the next n bytes were given; else sets wanted, if they are in the file. */
bool sb__has_bytes(sb__reader *r, int64_t n);

/* The status to return when sb__has_bytes is false. */
sb_status sb__file_ends(sb__reader *r);

uint64_t sb__peek(const sb__reader *r, int64_t at, int32_t nbytes); /* little-endian */

/* Skips spaces, tabs and line ends. */
void sb__skip_spaces(sb__reader *r);

/* Skips spaces; then takes the character if it is next. True: it was. */
bool sb__take_char(sb__reader *r, char c);

void sb__put_word(sb__reader *r, double word);

/* Writes a TENSOR record. Checks the number of elements and bytes, which nbytes gets, but not where the data is. */
sb_status sb__put_tensor(sb__reader *r, const double *name, int32_t dtype, double foreign,
                         int32_t block_elements, int32_t block_bytes, int64_t begin, int32_t ndim,
                         const int64_t *shape, int64_t *nbytes);

/* The length of the UTF-8 sequence at byte `at`, which must end by `end`; 0: it is invalid. */
int32_t sb__utf8(const sb__reader *r, int64_t at, int64_t end, uint32_t *code);

/* True if the bytes from at to end are UTF-8. */
bool sb__is_utf8(const sb__reader *r, int64_t at, int64_t end);

/* Checks that TENSORs (or MEMBERs, whose END it sets) do not overlap, nor reach beyond end; tiled: that there are no gaps
 * between them either. Call it after all records were written; where they do not fit into room, it only counts. */
sb_status sb__check_records(sb__reader *r, bool tiled, int64_t end);

#endif
