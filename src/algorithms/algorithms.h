/* Algorithms: what JavaScript calls, and what its files share. */
#ifndef SB_ALGORITHMS_H
#define SB_ALGORITHMS_H

#include "algorithms/cores.h"

/* exports.c: what JavaScript calls. */
enum {
#define EXPORT(name, signature, call) SB__ALGORITHM_##name,
#include "algorithms/exports.def"
#undef EXPORT
  SB__ALGORITHMS
};
extern const sb__export sb__algorithms[SB__ALGORITHMS];
const char *sb__algorithm_tables(void);

/* vectors.c: cross products of vectors of three elements, the last axis of all operands. */
sb_status sb__cross(const sb_tensor *to, const sb_tensor *a, const sb_tensor *b, sb_casting casting,
                    int64_t *staged);

/* fft.c: Fourier transforms along the last axis. Computed in float64.
 *
 *   kind   complex, real (n / 2 + 1 elements are written), or hermitian (n / 2 + 1 are read, n real ones written)
 *   flags  SB__FFT_INVERSE, SB__FFT_CONJUGATE: of what is read where it is hermitian, else of what is written
 *   n      of the result, or of what is read where it is real; lines are cut or filled with 0
 *   scale  what results are multiplied by
 *   made   the result's dtype: float32, float64, or of two such parts; converted to the target's
 *
 * Errors  SB_ERR_SHAPE · SB_ERR_DTYPE bool, float8, complex numbers as real ones · as sb__cores_run */
typedef enum sb__fft_kind { SB__FFT_COMPLEX, SB__FFT_REAL, SB__FFT_HERMITIAN } sb__fft_kind;
#define SB__FFT_INVERSE 1
#define SB__FFT_CONJUGATE 2
sb_status sb__fft(const sb_tensor *to, const sb_tensor *from, sb__fft_kind kind, int64_t flags,
                  int64_t n, double scale, sb_dtype made, sb_casting casting, int64_t *staged);

/* Of frames, the last axis of which is multiplied by a window of one axis. kind: real, or complex: then all n elements are written. */
sb_status sb__frames_fft(const sb_tensor *to, const sb_tensor *frames, const sb_tensor *window,
                         sb__fft_kind kind, double scale, sb_dtype made, sb_casting casting,
                         int64_t *staged);

/* Of frames [..., n], the squares of absolute values, multiplied by filters [mels, n / 2 + 1]: [..., mels]. */
sb_status sb__frames_mel(const sb_tensor *to, const sb_tensor *frames, const sb_tensor *window,
                         const sb_tensor *filters, sb_casting casting, int64_t *staged);

/* signals.c: a0 - a1 cos(2 pi k / n), a vector; n: its elements, less 1 where it is not periodic. */
sb_status sb__window(const sb_tensor *to, bool is_periodic, double a0, double a1,
                     sb_casting casting, int64_t *staged);

/* Frequencies of the n elements of a transform, of samples that are `spacing` apart: 0, 1, ... and negative ones, or the n / 2 + 1 from 0 on. */
sb_status sb__frequencies(const sb_tensor *to, int64_t n, bool is_half, double spacing,
                          sb_casting casting, int64_t *staged);

/* Triangular filters [mels, n / 2 + 1] over frequencies.
 *
 *   is_htk   the scale is 2595 log10(1 + f / 700); else Slaney's: linear below 1000 Hz
 *   is_area  filters are divided by their width */
sb_status sb__mel_filters(const sb_tensor *to, int64_t n, bool is_htk, bool is_area, double rate,
                          double low, double high, sb_casting casting, int64_t *staged);

/* Lines with elements before and after them: 0 (mode 0), reflected without the edge (1), of the edge (2), or of the other end (3).
 *
 * Errors  SB_ERR_SHAPE there are not enough to reflect */
sb_status sb__pad_lines(const sb_tensor *to, const sb_tensor *from, int64_t before, int64_t mode,
                        int64_t *staged);

/* Frames [..., frames, n] times window, added at multiples of hop, and divided by the sum of the windows' squares: a line of the target
 * begins `skipped` elements after the first frame.
 *
 * Errors  SB_ERR_ARGUMENT the sum is 0 somewhere */
sb_status sb__overlap_add(const sb_tensor *to, const sb_tensor *frames, const sb_tensor *window,
                          int64_t hop, int64_t skipped, sb_casting casting, int64_t *staged);

/* Elements moved along axes by half their number (inverse: by the other half), round about. */
sb_status sb__fft_shift(const sb_tensor *to, const sb_tensor *from, int64_t naxes,
                        const int64_t *axes, bool is_inverse, int64_t *staged);

#endif
