/* Element loops: they validate nothing and allocate nothing. Steps are distances in bytes. */
#ifndef SB_KERNELS_H
#define SB_KERNELS_H

#include "samebytes.h"

/* Prefetches a cache line into the second-level cache: the first one is too small for what is read ahead. Any address is
 * allowed. */
static inline void sb__fetch(const char *at) { __builtin_prefetch(at, 0, 2); }

/* The rows of nbytes that will be read next. */
typedef struct sb__ahead {
  const char *at;
  int64_t step, rows, nbytes;
} sb__ahead;

/* Prefetches the rows due in step i of n, from row `done` on. Returns the new `done`. */
static inline int64_t sb__fetch_rows(const sb__ahead *next, int64_t done, int64_t i, int64_t n) {
  for (; done * n < (i + 1) * next->rows; done++)
    for (int64_t k = 0; k < next->nbytes; k += 64) sb__fetch(next->at + done * next->step + k);
  return done;
}

/* ---- One table of loops per instruction set, filled by level.inc ---- */

/* Casts n contiguous elements; to and from do not overlap. */
typedef void (*sb__cast)(char *to, const char *from, int64_t n);
typedef void (*sb__scaled_cast)(float *to, const char *from, int64_t n, float scale, float bias);

/* How a tile is made: each of its vectors of 16 bytes is the union of `loads` vectors of the source, loaded from offsets
 * after the tile's first source byte and shuffled: byte b is byte mask[b], if that is below 16. */
#define SB__MOST_SHUFFLES 96
#define SB__MOST_LOADS 4
#define SB__MOST_VECTORS 24 /* of floats */
typedef struct sb__shuffles {
  int32_t vectors, loads; /* of a tile, of a vector */
  bool overlaps; /* the last tiles may be done with some that were done before: in caches */
  bool shared; /* all vectors are made of the same loads: 2 of 2, 3 of 3, 3 or 4 of 4; floats: 1 */
  int64_t offset[SB__MOST_SHUFFLES];                           /* by vector, then by load */
  uint8_t mask[SB__MOST_SHUFFLES][16];                         /* likewise */
  float scale[SB__MOST_VECTORS][4], bias[SB__MOST_VECTORS][4]; /* of shuffle_floats, by vector */
} sb__shuffles;

typedef enum sb__draw { SB__DRAW_UNIFORM, SB__DRAW_NORMAL, SB__DRAW_INTEGER } sb__draw;

/* A random fill: its distribution, and its place in the stream. */
typedef struct sb__random {
  uint64_t seed, first; /* first: the stream's word at which element 0 begins */
  uint32_t stream;
  sb__draw draw;
  sb_dtype dtype; /* of the target */
  int32_t words;  /* of the stream per element: 1, or 2 from an even word on */
  union {
    struct {
      double low, range; /* range is rounded to float32 unless dtype is float64 */
      double last;       /* the dtype's greatest value below high */
    } uniform;
    struct {
      double mean, std; /* exact in float32, or in float64 for float64 */
    } normal;
    struct {
      uint64_t low;     /* two's complement */
      uint64_t range;   /* number of values; 0: 2^(32 words) */
      uint64_t refused; /* 2^(32 words) mod range */
    } integer;
  } as;
} sb__random;

/* Casts with non-temporal stores, which bypass the caches. to is a multiple of 64, and n elements fill whole cache lines.
 * NULL: no such loop. */
typedef struct sb__nontemporal_casts {
  sb__cast f32_from[SB_DTYPE_COUNT];
  sb__scaled_cast scaled_from[SB_DTYPE_COUNT];
  sb__cast from_f32[SB_DTYPE_COUNT];
  sb__cast f64_from[SB_DTYPE_COUNT];
} sb__nontemporal_casts;

/* By source and target; NULL: no such loop. */
typedef sb__cast sb__direct_casts[SB_DTYPE_COUNT][SB_DTYPE_COUNT];

/* How bytes of a window of the source become a window of the target. No byte is read or written whose bit is not set. */
#define SB__PERMUTED_BYTES 64
typedef struct sb__permutation {
  uint8_t index[SB__PERMUTED_BYTES]; /* for each byte of the target, the source's */
  uint64_t reads, writes;            /* a bit for each byte of the source, of the target */
} sb__permutation;

/* Items have 1, 2, 4, 8 or 16 bytes; to and from never overlap. */
typedef struct sb__kernels {
  const char *level;

  /* Item c of row r becomes item r of row c. Steps are those from row to row on either side.
   * streams: non-temporal stores; to and to_step are multiples of 64. fetches: prefetches the source, which the caller
   * has not done. */
  void (*transpose)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t rows,
                    int64_t columns, int64_t itemsize, bool streams, bool fetches);

  /* Writes n tiles. Steps: bytes from tile to tile, and in the target from vector to vector. NULL: the level has no
   * vectors. */
  void (*shuffle)(char *to, int64_t to_step, int64_t vector_step, const char *from,
                  int64_t from_step, int64_t n, const sb__shuffles *shuffles);

  /* The same with one load for each vector, whose bytes become four 32-bit integers, and those float32: x * scale + bias with
   * finite factors, product and sum rounded. */
  void (*shuffle_floats)(char *to, int64_t to_step, int64_t vector_step, const char *from,
                         int64_t from_step, int64_t n, const sb__shuffles *shuffles);

  /* Copies with non-temporal stores, which bypass the caches. After the last one, stream_end orders the stores for other
   * threads. NULL: the level has none. */
  void (*stream)(char *to, const char *from, int64_t nbytes);
  void (*stream_end)(void);
  const sb__nontemporal_casts *nontemporal; /* NULL: the level has none */

  /* Repeats a pattern of 16 bytes, which are whole items, as nbytes are. */
  void (*fill)(char *to, const char *pattern, int64_t nbytes);

  /* x * scale + bias in float32, each rounded, NaN canonical. */
  void (*scale_each)(float *x, int64_t n, const float *scale, const float *bias);

  /* Writes elements first to first + n of a random fill, contiguously. */
  void (*random)(void *to, const sb__random *how, int64_t first, int64_t n);

  /* NULL: no such loop. Each rounds once. */
  sb__cast f32_from[SB_DTYPE_COUNT];
  sb__scaled_cast scaled_from[SB_DTYPE_COUNT]; /* to float32, with one scale and one bias */
  sb__cast from_f32[SB_DTYPE_COUNT];
  const sb__direct_casts *direct; /* NULL: the level has none */

  /* Moves n windows. NULL: the level has none. */
  void (*permute)(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                  const sb__permutation *window);
} sb__kernels;

/* random.c; base is for levels without a loop of their own. */
void sb__random_base(void *to, const sb__random *how, int64_t first, int64_t n);
void sb__random_avx2(void *to, const sb__random *how, int64_t first, int64_t n);
void sb__random_avx512(void *to, const sb__random *how, int64_t first, int64_t n);

/* The table in use: the processor's best level, or the one that SAMEBYTES_ISA names. */
const sb__kernels *sb__kernels_now(void);

const char *sb__level_now(void); /* its name */

/* Lists the tables that the processor can run, the best one last. Returns their number. */
#define SB__MOST_LEVELS 3
int sb__kernels_all(const sb__kernels *all[SB__MOST_LEVELS]);
void sb__kernels_use(const sb__kernels *kernels); /* NULL: the next sb__kernels_now chooses again */

extern const sb__kernels sb__kernels_scalar;
#if defined(__x86_64__)
extern const sb__kernels sb__kernels_avx2, sb__kernels_avx512;
extern const sb__nontemporal_casts sb__nontemporal_casts_x86;
extern const sb__direct_casts sb__direct_casts_avx2;
#elif defined(__aarch64__)
extern const sb__kernels sb__kernels_neon;
extern const sb__direct_casts sb__direct_casts_neon;
#elif defined(__wasm_simd128__)
extern const sb__kernels sb__kernels_simd128;
#endif

/* ---- Loops for any step and any dtype, the same at every level ---- */

/* Copies n items of 1, 2, 4, 8 or 16 bytes, bit for bit. to and from are the same items, or do not overlap. */
void sb__copy_items(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                    int64_t itemsize);

/* Copies n items, the i-th from offsets[i] bytes after from; otherwise as sb__copy_items. */
void sb__gather_items(char *to, int64_t to_step, const char *from, const int64_t *offsets,
                      int64_t n, int64_t itemsize);

/* Writes one item n times. */
void sb__fill_items(char *to, int64_t step, const void *item, int64_t n, int64_t itemsize);

#define SB__CHUNK 256 /* elements per step of a cast by forms */

/* A cast by forms has an intermediate representation: for each dtype, one of four that hold all its values. */
typedef enum sb__form { SB__FORM_INT, SB__FORM_UINT, SB__FORM_REAL, SB__FORM_COMPLEX } sb__form;

typedef union sb__chunk {
  int64_t i[SB__CHUNK];
  uint64_t u[SB__CHUNK];
  double real[SB__CHUNK];
  sb_complex128 c[SB__CHUNK];
} sb__chunk;

/* The form that load writes. */
sb__form sb__form_of(sb_dtype dtype);

/* Loads at most SB__CHUNK elements, step bytes apart. Returns the form. */
sb__form sb__load(sb_dtype dtype, sb__chunk *to, const char *from, int64_t step, int64_t n);

/* Stores as many, converted. */
void sb__store(sb_dtype dtype, char *to, int64_t step, sb__form form, const sb__chunk *from,
               int64_t n);

/* x * scale + bias, product and sum rounded; single: all in float32. The factors' steps are bytes, 0 for a single
 * factor. x has any form but complex, and is SB__FORM_REAL afterwards. */
void sb__scale_chunk(sb__chunk *x, sb__form form, int64_t n, bool single, const char *scale,
                     int64_t scale_step, const char *bias, int64_t bias_step);

#endif
