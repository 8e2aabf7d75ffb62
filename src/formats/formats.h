/* Parsers of file formats: pure functions over bytes. They neither allocate nor read anything else; what they find
 * goes as doubles into room that the caller has, and is bounded by the bytes that were given.
 *
 * A parser fails with SB_ERR_FORMAT, naming the byte and the reason. It may be given the beginning of a file
 * only: where that does not suffice, it succeeds and says how many bytes it wants.
 *
 * Bytes are looked at more than once: the caller sees to it that nobody else writes to them meanwhile.
 *
 * In WebAssembly they are a module of their own (wasm/parsers.c). */
#ifndef SB_FORMATS_H
#define SB_FORMATS_H

#include "core/core.h"

/* What is parsed. base is 0 but for pieces of a zip, which lie elsewhere in their file. */
typedef struct sb__reader {
  const uint8_t *bytes; /* given of them */
  int64_t given;
  int64_t total;       /* bytes of the whole file, at least given */
  int64_t base;        /* where the first byte given lies in the file: added in messages */
  int64_t at;          /* the next byte */
  int64_t wanted;      /* 0, or bytes that have to be given for more to be said */
  double *words;       /* what was found: room of them, the rest is only counted */
  int64_t room, count; /* words */
} sb__reader;

/* What parsers leave behind: words[0] says where the data begins, from words[1] on come records, each with its length
 * in words first. To sort them, parsers want some more room behind them. Names are raw bytes of the file; two records may
 * have one name: whoever makes a map of them sees that. */
enum {
  SB__RECORD_LENGTH,
  SB__RECORD_TAG, /* below */
  SB__RECORD_NAME_AT,
  SB__RECORD_NAME_LENGTH,
  SB__RECORD_TYPE,         /* PAIR: of the value; TENSOR: an sb_dtype, -1: none of ours */
  SB__RECORD_VALUE_AT,     /* PAIR */
  SB__RECORD_VALUE_LENGTH, /* PAIR; bytes */
  SB__RECORD_FOREIGN =
      5, /* TENSOR: the format's number of its type, or where its text is; npy: SB__NPY_ */
  SB__RECORD_BLOCK_ELEMENTS, /* TENSOR; 1 but for quantised types */
  SB__RECORD_BLOCK_BYTES,
  SB__RECORD_BEGIN,  /* TENSOR: byte of the file */
  SB__RECORD_NBYTES, /* TENSOR */
  SB__RECORD_NDIM,   /* TENSOR; its extents follow */
  SB__RECORD_SHAPE,
  SB__RECORD_METHOD = 4, /* MEMBER of a zip: 0 stored, 8 deflated */
  SB__RECORD_CRC,
  SB__RECORD_PACKED,   /* bytes in the file */
  SB__RECORD_UNPACKED, /* bytes of the member */
  SB__RECORD_HEADER,   /* byte of the file: its own header */
  SB__RECORD_END,      /* byte of the file: here something else begins */
  SB__RECORD_OF_MEMBER,
};

enum { SB__PAIR, SB__TENSOR, SB__MEMBER };

enum { SB__NPY_FORTRAN = 1, SB__NPY_SWAPPED = 2 };

/* .npy, versions 1 to 3, from its first byte on: one TENSOR without a name. */
sb_status sb__npy_parse(sb__reader *r);

/* .safetensors: TENSORs and the metadata's PAIRs of JSON strings (without the quotes). Data has neither holes nor
 * overlaps. FOREIGN is where the dtype's text is. */
sb_status sb__safetensors_parse(sb__reader *r);

/* .gguf, versions 2 and 3: TENSORs and PAIRs, whose TYPE is the format's. */
sb_status sb__gguf_parse(sb__reader *r);

/* The end of a zip, up to its last byte: words 0 to 2 are where its directory begins, how many bytes and how many
 * members it has. */
sb_status sb__zip_end(sb__reader *r);

/* The directory of a zip: MEMBERs. total is where it ends. */
sb_status sb__zip_directory(sb__reader *r);

/* A member's own header: word 0 is where its data begins, word 1 where its name is, word 2 the name's bytes, word 3 the
 * method. */
sb_status sb__zip_member(sb__reader *r);

/* Reverses the bytes of each of count items of 2, 4 or 8 bytes. */
void sb__swap(void *data, int64_t count, int32_t itemsize);

/* The which-th of these parsers, from 0 on. */
sb_status sb__parse(int64_t which, sb__reader *r);

/* ---- formats.c: what the parsers share ---- */

/* Tensors, pairs, arrays among their values, members: each of them. Without limits 100 MB of header would hold so many that
 * JavaScript takes minutes and gigabytes for them. */
enum { SB__MOST = 1000000 };

sb_status sb__fail_at(const sb__reader *r, int64_t at, const char *reason);

/* There are n of these things, or more. */
sb_status sb__too_many(const sb__reader *r, int64_t at, int64_t n, const char *things,
                       int64_t most);

/* Are the next n bytes there? */
bool sb__has_bytes(sb__reader *r, int64_t n);

/* What to return where sb__has said no. */
sb_status sb__file_ends(sb__reader *r);

uint64_t sb__peek(const sb__reader *r, int64_t at, int32_t nbytes); /* little-endian */

/* Spaces, tabs and ends of lines. */
void sb__skip_spaces(sb__reader *r);

/* Takes the character, and spaces before it, if it is there. */
bool sb__take_char(sb__reader *r, char c);

void sb__put_word(sb__reader *r, double word);

/* A TENSOR of that many elements a block; the data's end is checked, words[BEGIN] is not. Empty shapes have one
 * element. */
sb_status sb__put_tensor(sb__reader *r, const double *name, int32_t dtype, double foreign,
                         int32_t block_elements, int32_t block_bytes, int64_t begin, int32_t ndim,
                         const int64_t *shape, int64_t *nbytes);

/* Length of the UTF-8 sequence at r's byte at, which ends before end; 0: it is none. */
int32_t sb__utf8(const sb__reader *r, int64_t at, int64_t end, uint32_t *code);

/* Is all of it UTF-8? */
bool sb__is_utf8(const sb__reader *r, int64_t at, int64_t end);

/* Once all records are there and fit: TENSORs (or MEMBERs, by HEADER and END, which is set) do not overlap; if tiled, there is
 * nothing between them either. end is where the last one has to end, at the latest. */
sb_status sb__check_records(sb__reader *r, bool tiled, int64_t end);

#endif
