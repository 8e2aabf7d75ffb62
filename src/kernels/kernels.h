/* Element loops: no validation, no allocation. Distances are bytes and are called step. */
#ifndef SB_KERNELS_H
#define SB_KERNELS_H

#include "samebytes.h"

#define SB__CHUNK 256 /* elements that a cast handles at a time */

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

/* Copies n elements of itemsize 1, 2, 4, 8 or 16 bytes, bit for bit. to and from do not overlap,
 * unless they are the same elements. */
void sb__copy_items(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                    int64_t itemsize);

/* Writes the same itemsize bytes n times. */
void sb__fill_items(char *to, int64_t step, const void *item, int64_t n, int64_t itemsize);

/* x * scale + bias, the product rounded, then the sum; single: all three in float32. The factors'
 * steps are bytes, 0 for one factor. Turns any real form into SB__FORM_REAL. */
void sb__scale_chunk(sb__chunk *x, sb__form form, int64_t n, bool single, const char *scale,
                     int64_t scale_step, const char *bias, int64_t bias_step);

/* ---- Random numbers (random.c) ---- */

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

/* Writes elements first to first + n of a fill, one after the other. */
void sb__random_fill(void *to, const sb__random *how, int64_t first, int64_t n);

/* The instruction sets that the loops are compiled for; all give the same bits. */
typedef enum sb__level { SB__LEVEL_BASE, SB__LEVEL_AVX2, SB__LEVEL_AVX512 } sb__level;
#ifdef SB_TEST
sb__level sb__random_best(void);        /* what this processor has, whatever SAMEBYTES_ISA says */
sb__level sb__random_level(void);       /* what SAMEBYTES_ISA lets it use; undoes a force */
void sb__random_force(sb__level level); /* not above the best */
#endif

#endif
