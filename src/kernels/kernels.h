/* Element loops: no validation, no allocation. Distances are bytes and are called step. */
#ifndef SB_KERNELS_H
#define SB_KERNELS_H

#include "samebytes.h"

/* Asks for a line that will be read soon, into the second cache: the first one is too small to wait in.
 * Any address will do. */
static inline void sb__fetch(const char *at) { __builtin_prefetch(at, 0, 2); }

/* Rows of nbytes that will be read next. */
typedef struct sb__ahead {
  const char *at;
  int64_t step, rows, nbytes;
} sb__ahead;

/* Asks for those whose turn comes with step i of n, the first of which is row `done`; gives what is done then. */
static inline int64_t sb__fetch_rows(const sb__ahead *next, int64_t done, int64_t i, int64_t n) {
  for (; done * n < (i + 1) * next->rows; done++)
    for (int64_t k = 0; k < next->nbytes; k += 64) sb__fetch(next->at + done * next->step + k);
  return done;
}

/* ---- One table per instruction set, filled by level.inc ---- */

/* n elements that lie side by side; to and from do not overlap. */
typedef void (*sb__cast)(char *to, const char *from, int64_t n);
typedef void (*sb__scaled_cast)(float *to, const char *from, int64_t n, float scale, float bias);

/* Byte b of vector o of the result comes from byte at[o][i][b] of vector i, if that is below 16. */
typedef struct sb__masks {
  uint8_t at[4][4][16];
} sb__masks;
void sb__make_masks(sb__masks *masks, int64_t channels, int64_t itemsize, bool split);

typedef enum sb__draw { SB__DRAW_UNIFORM, SB__DRAW_NORMAL, SB__DRAW_INTEGER } sb__draw;

/* What a fill draws, and where in the stream. */
typedef struct sb__random {
  uint64_t seed, first; /* first: the word of the stream at which element 0 begins */
  uint32_t stream;
  sb__draw draw;
  sb_dtype dtype; /* of the target */
  int32_t words;  /* of the stream for each element: 1, or 2 from an even word on */
  union {
    struct {
      double low, range; /* range is rounded to float32 unless dtype is float64 */
      double last;       /* the greatest value of dtype below high */
    } uniform;
    struct {
      double mean, std; /* exact in float32, or in float64 for float64 */
    } normal;
    struct {
      uint64_t low;     /* two's complement */
      uint64_t range;   /* how many values; 0: all that the words have */
      uint64_t refused; /* 2^(32 words) mod range */
    } integer;
  } as;
} sb__random;

/* Casts past the caches: to begins where a cache line does, and n elements fill whole ones. NULL: no such loop. */
typedef struct sb__sends {
  sb__cast f32_from[SB_DTYPE_COUNT];
  sb__scaled_cast scaled_from[SB_DTYPE_COUNT];
  sb__cast from_f32[SB_DTYPE_COUNT];
} sb__sends;

/* What transpose_panels takes at a time, at most: so many bytes of so many rows; and the room for it. */
#define SB__PANELS_ROWS(itemsize) ((itemsize) < 4 ? 256 : 512)
#define SB__PANELS_BYTES(itemsize) ((itemsize) < 4 ? 1024 : 512)
#define SB__PANELS_SCRATCH_BYTES (256 * (1024 + 64))

/* Items are 1, 2, 4, 8 or 16 bytes; to and from never overlap. */
typedef struct sb__kernels {
  const char *level;

  /* Item c of row r becomes item r of row c. The steps are those from row to row, on either side.
   * streams: past the caches; to and to_step are multiples of 64 then. fetches: what is read is asked for on the
   * way, as nobody has before. */
  void (*transpose)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,
                    int64_t columns, int64_t itemsize, bool streams, bool fetches);

  /* The same of at most SB__PANELS_BYTES of SB__PANELS_ROWS rows, by way of a room, where nothing can be fetched: a byte of each line is
   * read before the line is written. Rows and columns are multiples of 64 / itemsize. ahead: four rows, to_step apart and as
   * long as these, that will be written next. NULL: no such loop. */
  void (*transpose_panels)(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step,
                           int rows, int columns, int64_t itemsize, char *room, const char *ahead);

  /* n pixels of 2, 3 or 4 channels to one plane per channel, and back. Items up to 8 bytes; masks
   * made for the same numbers. */
  void (*split)(char *to, int64_t plane_step, const char *from, int64_t n, int64_t channels,
                int64_t itemsize, const sb__masks *masks);
  void (*join)(char *to, const char *from, int64_t plane_step, int64_t n, int64_t channels,
               int64_t itemsize, const sb__masks *masks);

  /* Pixels of three bytes to planes of float32, x * scale + bias with a finite factor per plane, each rounded. Gives how
   * many of n it did, fewer than 6 are left. NULL: no such loop. */
  int64_t (*split_bytes)(char *to, int64_t plane_step, const char *from, int64_t n,
                         const float scale[3], const float bias[3]);

  /* Copies past the caches, and so rows that lie side by side, all in whole lines; NULL where there is no such
   * thing. After the last one, stream_end makes the bytes visible to other threads in order. */
  void (*stream)(char *to, const char *from, int64_t nbytes);
  void (*stream_rows)(char *to, int64_t to_step, const char *from, int64_t nbytes, int64_t rows,
                      const sb__ahead *next);
  void (*stream_end)(void);
  const sb__sends *sends; /* NULL where there is no such thing */

  /* Repeats 16 bytes. */
  void (*fill)(char *to, const char *pattern, int64_t nbytes);

  /* x * scale + bias in float32, each rounded, NaN canonical. */
  void (*scale_each)(float *x, int64_t n, const float *scale, const float *bias);

  /* Writes elements first to first + n of a random fill, one after the other. */
  void (*random)(void *to, const sb__random *how, int64_t first, int64_t n);

  /* NULL: no such loop. Each rounds once. */
  sb__cast f32_from[SB_DTYPE_COUNT];
  sb__scaled_cast scaled_from[SB_DTYPE_COUNT]; /* to float32, with one scale and one bias */
  sb__cast from_f32[SB_DTYPE_COUNT];
} sb__kernels;

/* random.c; base is for every level that has none of its own. */
void sb__random_base(void *to, const sb__random *how, int64_t first, int64_t n);
void sb__random_avx2(void *to, const sb__random *how, int64_t first, int64_t n);
void sb__random_avx512(void *to, const sb__random *how, int64_t first, int64_t n);

/* The table in use: the best that the processor has, or the one that SAMEBYTES_ISA names. */
const sb__kernels *sb__kernels_now(void);

/* All tables that the processor can run, the best one last. Gives their number. */
#define SB__MOST_LEVELS 3
int sb__kernels_all(const sb__kernels *all[SB__MOST_LEVELS]);
void sb__kernels_use(const sb__kernels *kernels); /* NULL: chooses anew at the next call */

extern const sb__kernels sb__kernels_scalar;
#if defined(__x86_64__)
extern const sb__kernels sb__kernels_avx2, sb__kernels_avx512;
extern const sb__sends sb__sends_x86;
#elif defined(__aarch64__)
extern const sb__kernels sb__kernels_neon;
#elif defined(__wasm_simd128__)
extern const sb__kernels sb__kernels_simd128;
#endif

/* ---- Any step, any dtype: the same code at every level ---- */

/* Copies n items of itemsize 1, 2, 4, 8 or 16 bytes, bit for bit. to and from do not overlap, unless
 * they are the same items. */
void sb__copy_items(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                    int64_t itemsize);

/* Copies n items, the i-th from offsets[i] bytes behind from; otherwise as sb__copy_items. */
void sb__gather_items(char *to, int64_t to_step, const char *from, const int64_t *offsets,
                      int64_t n, int64_t itemsize);

/* Writes the same itemsize bytes n times. */
void sb__fill_items(char *to, int64_t step, const void *item, int64_t n, int64_t itemsize);

#define SB__CHUNK 256 /* elements that a cast by forms handles at a time */

/* Numbers on their way between dtypes. Every dtype has one of four forms that holds all its values. */
typedef enum sb__form { SB__FORM_INT, SB__FORM_UINT, SB__FORM_REAL, SB__FORM_COMPLEX } sb__form;

typedef union sb__chunk {
  int64_t i[SB__CHUNK];
  uint64_t u[SB__CHUNK];
  double real[SB__CHUNK];
  sb_complex128 c[SB__CHUNK];
} sb__chunk;

typedef struct sb__cast_kernels {
  sb__form form; /* what load fills */
  void (*load)(sb__chunk *to, const char *from, int64_t step, int64_t n);
  void (*store[4])(char *to, int64_t step, const sb__chunk *from, int64_t n); /* by sb__form */
} sb__cast_kernels;

extern const sb__cast_kernels sb__casts[SB_DTYPE_COUNT];

/* x * scale + bias, the product rounded, then the sum; single: all three in float32. The factors'
 * steps are bytes, 0 for one factor. Turns any real form into SB__FORM_REAL. */
void sb__scale_chunk(sb__chunk *x, sb__form form, int64_t n, bool single, const char *scale,
                     int64_t scale_step, const char *bias, int64_t bias_step);

#endif
