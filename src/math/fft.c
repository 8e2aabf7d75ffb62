/* Fourier transforms of lines, and of frames of a signal. A line is read to two arrays of float64, for real and for imaginary parts,
 * transformed there, and written. Real lines of an even length are transformed as half as many complex numbers. */
#include <string.h>

#include "math/fft.h"
#include "kernels/convert.h"

#define ALIGNED 8 /* numbers of 64 bytes */

typedef struct transform {
  sb__fft_kind kind;
  bool is_inverse, is_conjugate;
  bool is_halved;    /* real, of an even length */
  int64_t n;         /* real or complex numbers on the longer side */
  int64_t length;    /* of the source's lines; not more than are read */
  sb_dtype from, to; /* float32, float64 and complex ones */
  double scale;
  const double *window; /* n numbers, or NULL */
  const double *mel;    /* mels rows of n / 2 + 1 numbers, or NULL */
  const int64_t *bands; /* two for each mel: where the first number that is not 0 is, and the end */
  int64_t mels;
  int64_t stride;  /* of lines in scratch, in numbers */
  int64_t lines;   /* for which there is room */
  sb__roots roots; /* where is_halved */
  sb__fft_plan plan;
} transform;

/* ---- Lines to float64 and back ---- */

#define READ(name, type)                                                                           \
 static void name##_real(const type *restrict x, int64_t count, const double *window,              \
                         double *re) {                                                             \
  if (window)                                                                                      \
   for (int64_t i = 0; i < count; i++) re[i] = (double)x[i] * window[i];                           \
  else                                                                                             \
   for (int64_t i = 0; i < count; i++) re[i] = (double)x[i];                                       \
 }                                                                                                 \
 static void name##_pairs(const type *restrict x, int64_t count, const double *window, double *re, \
                          double *im) {                                                            \
  if (window)                                                                                      \
   for (int64_t i = 0; i < count; i++) {                                                           \
    re[i] = (double)x[2 * i] * window[2 * i];                                                      \
    im[i] = (double)x[2 * i + 1] * window[2 * i + 1];                                              \
   }                                                                                               \
  else                                                                                             \
   for (int64_t i = 0; i < count; i++) {                                                           \
    re[i] = (double)x[2 * i];                                                                      \
    im[i] = (double)x[2 * i + 1];                                                                  \
   }                                                                                               \
 }

#define WRITE(name, type, made)                                                              \
 static void name##_real(type *restrict to, int64_t count, double scale, const double *re) { \
  for (int64_t i = 0; i < count; i++) to[i] = made(re[i] * scale);                           \
 }                                                                                           \
 static void name##_pairs(type *restrict to, int64_t count, double scale, double scale_im,   \
                          const double *re, const double *im) {                              \
  for (int64_t i = 0; i < count; i++) {                                                      \
   to[2 * i] = made(re[i] * scale);                                                          \
   to[2 * i + 1] = made(im[i] * scale_im);                                                   \
  }                                                                                          \
 }

READ(read_singles, float)
READ(read_doubles, double)
WRITE(write_singles, float, sb__canonical_float)
WRITE(write_doubles, double, sb__canonical)

static bool is_double(sb_dtype dtype) { return dtype == SB_FLOAT64 || dtype == SB_COMPLEX128; }

static void fill_zeros(double *x, int64_t from, int64_t to) {
  if (from < to) memset(x + from, 0, (size_t)(to - from) * sizeof *x);
}

static void read_pairs(const transform *f, const char *line, int64_t count, double *re,
                       double *im) {
  if (is_double(f->from))
    read_doubles_pairs((const double *)(const void *)line, count, f->window, re, im);
  else
    read_singles_pairs((const float *)(const void *)line, count, f->window, re, im);
}

static void read_real(const transform *f, const char *line, int64_t count, const double *window,
                      double *re) {
  if (is_double(f->from))
    read_doubles_real((const double *)(const void *)line, count, window, re);
  else
    read_singles_real((const float *)(const void *)line, count, window, re);
}

/* ---- Real lines as complex ones of half the length ---- */

/* The spectrum's first half + 1 elements of that of even elements + i * odd ones. */
static void from_halved(const transform *f, double *re, double *im) {
  const int64_t half = f->n / 2, size = INT64_C(1) << f->roots.shift;
  const double first = re[0], other = im[0];
  re[0] = first + other;
  re[half] = first - other;
  im[0] = im[half] = 0;
  for (int64_t start = 0; 2 * start < half; start += size) {
    const double *coarse = f->roots.coarse + 2 * (start >> f->roots.shift);
    const double c = coarse[0], d = coarse[1];
    const int64_t end = start + size < (half + 1) / 2 ? start + size : (half + 1) / 2;
    for (int64_t k = start ? start : 1; k < end; k++) {
      const double *fine = f->roots.fine + 2 * (k - start);
      const double u = c * fine[0] - d * fine[1], v = c * fine[1] + d * fine[0];
      const double a = re[k], b = im[k], e = re[half - k], g = -im[half - k];
      const double even_re = 0.5 * (a + e), even_im = 0.5 * (b + g);
      const double odd_re = 0.5 * (b - g), odd_im = -0.5 * (a - e);
      const double x = odd_re * u - odd_im * v, y = odd_re * v + odd_im * u;
      re[k] = even_re + x;
      im[k] = even_im + y;
      re[half - k] = even_re - x;
      im[half - k] = y - even_im;
    }
  }
  if (half > 1 && half % 2 == 0) im[half / 2] = -im[half / 2];
}

/* The other way round, of a spectrum of which twice the inverse is wanted. */
static void to_halved(const transform *f, double *re, double *im) {
  const int64_t half = f->n / 2, size = INT64_C(1) << f->roots.shift;
  const double first = re[0], last = re[half];
  re[0] = first + last;
  im[0] = first - last;
  for (int64_t start = 0; 2 * start < half; start += size) {
    const double *coarse = f->roots.coarse + 2 * (start >> f->roots.shift);
    const double c = coarse[0], d = coarse[1];
    const int64_t end = start + size < (half + 1) / 2 ? start + size : (half + 1) / 2;
    for (int64_t k = start ? start : 1; k < end; k++) {
      const double *fine = f->roots.fine + 2 * (k - start);
      const double u = c * fine[0] - d * fine[1], v = -(c * fine[1] + d * fine[0]);
      const double a = re[k], b = im[k], e = re[half - k], g = -im[half - k];
      const double even_re = a + e, even_im = b + g, x = a - e, y = b - g;
      const double odd_re = x * u - y * v, odd_im = x * v + y * u;
      re[k] = even_re - odd_im;
      im[k] = even_im + odd_re;
      re[half - k] = even_re + odd_im;
      im[half - k] = odd_re - even_im;
    }
  }
  if (half > 1 && half % 2 == 0) {
    re[half / 2] *= 2;
    im[half / 2] *= -2;
  }
}

/* ---- Lines ---- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

static void read_line(const transform *f, const char *line, double *re, double *im) {
  const int64_t n = f->n, half = n / 2;
  const bool is_complex = f->from == SB_COMPLEX64 || f->from == SB_COMPLEX128;
  const int64_t wanted = f->kind == SB__FFT_HERMITIAN ? half + 1 : n;
  const int64_t count = least(f->length, wanted);
  if (f->kind == SB__FFT_REAL && f->is_halved) {
    read_pairs(f, line, count / 2, re, im);
    fill_zeros(re, count / 2, half);
    fill_zeros(im, count / 2, half);
    if (count % 2)
      read_real(f, line + (count - 1) * sb_dtype_itemsize(f->from), 1,
                f->window ? f->window + count - 1 : NULL, re + count / 2);
    return;
  }
  if (is_complex)
    read_pairs(f, line, count, re, im);
  else {
    read_real(f, line, count, f->window, re);
    fill_zeros(im, 0, count);
  }
  fill_zeros(re, count, wanted);
  fill_zeros(im, count, wanted);
  if (f->is_conjugate)
    for (int64_t i = 0; i < count; i++) im[i] = -im[i];
  if (f->kind != SB__FFT_HERMITIAN) return;
  if (f->is_halved) {
    to_halved(f, re, im);
    return;
  }
  im[0] = 0;
  for (int64_t k = 1; 2 * k < n; k++) {
    re[n - k] = re[k];
    im[n - k] = -im[k];
  }
}

/* Powers of a spectrum, added up with each mel's weights. */
static void write_mels(const transform *f, char *line, double *re, const double *im) {
  const int64_t count = f->n / 2 + 1;
  for (int64_t k = 0; k < count; k++) re[k] = re[k] * re[k] + im[k] * im[k];
  for (int64_t i = 0; i < f->mels; i++) {
    const double *weights = f->mel + i * count;
    double sum = 0;
    for (int64_t k = f->bands[2 * i]; k < f->bands[2 * i + 1]; k++) sum += weights[k] * re[k];
    if (is_double(f->to))
      write_doubles_real((double *)(void *)line + i, 1, f->scale, &sum);
    else
      write_singles_real((float *)(void *)line + i, 1, f->scale, &sum);
  }
}

static void write_line(const transform *f, char *line, double *re, double *im) {
  const int64_t n = f->n;
  const bool is_real = f->kind == SB__FFT_HERMITIAN;
  const int64_t count = f->kind == SB__FFT_REAL ? n / 2 + 1 : is_real && f->is_halved ? n / 2 : n;
  const double scale_im = f->is_conjugate && !is_real ? -f->scale : f->scale;
  if (f->kind == SB__FFT_REAL && f->is_halved) from_halved(f, re, im);
  if (f->mel) {
    write_mels(f, line, re, im);
  } else if (is_real && !f->is_halved) {
    if (is_double(f->to))
      write_doubles_real((double *)(void *)line, n, f->scale, re);
    else
      write_singles_real((float *)(void *)line, n, f->scale, re);
  } else if (is_double(f->to)) {
    write_doubles_pairs((double *)(void *)line, count, f->scale, scale_im, re, im);
  } else {
    write_singles_pairs((float *)(void *)line, count, f->scale, scale_im, re, im);
  }
}

static int64_t core_bytes(const transform *f, bool is_written) {
  const int64_t half = f->n / 2 + 1;
  if (!is_written) return f->length * sb_dtype_itemsize(f->from);
  const int64_t count = f->mel ? f->mels : f->kind == SB__FFT_REAL ? half : f->n;
  return count * sb_dtype_itemsize(f->to);
}

static int transform_lines(const sb__cores_call *call) {
  const transform *f = call->context;
  double *re = (double *)(void *)call->scratch, *im = re + f->lines * f->stride;
  double *scratch = im + f->lines * f->stride;
  const int64_t to = core_bytes(f, true), from = core_bytes(f, false);
  for (int64_t first = 0; first < call->count; first += f->lines) {
    const int64_t lines = least(f->lines, call->count - first);
    for (int64_t i = 0; i < lines; i++)
      read_line(f, call->data[1] + (first + i) * from, re + i * f->stride, im + i * f->stride);
    sb__fft_run(&f->plan, f->is_inverse ? im : re, f->is_inverse ? re : im, lines, f->stride,
                scratch);
    for (int64_t i = 0; i < lines; i++)
      write_line(f, call->data[0] + (first + i) * to, re + i * f->stride, im + i * f->stride);
  }
  return SB__NO_PROBLEM;
}

/* ---- Calls ---- */

static sb_status make_plan(transform *f) {
  const int64_t size = f->is_halved ? f->n / 2 : f->n;
  sb_status status = sb__fft_plan_make(size, &f->plan);
  if (status || !f->is_halved) return status;
  status = sb__roots_make(f->n, f->n / 4 + 1, &f->roots); /* the others are reflections */
  if (status) sb__fft_plan_release(&f->plan);
  return status;
}

static int64_t cost_of(int64_t n) {
  int64_t bits = 2;
  while (n >> bits) bits++;
  return n < INT64_C(1) << 40 ? 4 * n * bits : INT64_C(1) << 50;
}

/* Runs the transform over lines of `from`, which are f->n long at most. */
static sb_status run_lines(transform *f, const sb_tensor *to, const sb_tensor *from,
                           int64_t *staged) {
  sb__cores cores = {
      .name = "fft", .count = 2, .run = transform_lines, .context = f, .cost = cost_of(f->n)};
  int problem;
  cores.operand[0] =
      (sb__core_operand){.tensor = to, .dtype = f->to, .axes = 1, .is_written = true};
  cores.operand[1] = (sb__core_operand){.tensor = from, .dtype = f->from, .axes = 1};
  /* without lines a plan is not worth its time, which may be hours */
  if (!sb_tensor_numel(to)) return sb__cores_run(&cores, SB_CASTING_UNSAFE, staged, &problem);
  sb_status status = make_plan(f);
  if (status) return status;
  const bool is_short = !f->plan.chirp && f->plan.smooth.rows.n == 1;
  f->lines = is_short ? SB__FFT_GROUP : 1;
  f->stride = (f->n + 2 + ALIGNED - 1) / ALIGNED * ALIGNED + ALIGNED;
  cores.scratch = (2 * f->lines * f->stride + sb__fft_scratch(&f->plan)) * (int64_t)sizeof(double);
  /* whole groups of lines where a box of 64 KB has some */
  const int64_t lines = (INT64_C(1) << 16) / (core_bytes(f, true) + core_bytes(f, false));
  cores.most = lines >= SB__FFT_GROUP ? lines / SB__FFT_GROUP * SB__FFT_GROUP : 0;
  status = sb__cores_run(&cores, SB_CASTING_UNSAFE, staged, &problem);
  sb__fft_plan_release(&f->plan);
  if (f->is_halved) sb__roots_release(&f->roots);
  return status;
}

/* What f reads and writes; `made` is the dtype of the result, before it is converted to the target's. */
static sb_status choose_dtypes(transform *f, const char *name, const sb_tensor *to, sb_dtype from,
                               sb_dtype made, sb_casting casting) {
  sb_status status = sb__computed_in(name, from, &f->from);
  if (!status) status = sb__check_cast(made, to->dtype, casting);
  if (status) return status;
  if (f->kind == SB__FFT_REAL && sb_dtype_kind(f->from) == SB_COMPLEX)
    return sb__fail(SB_ERR_DTYPE, "%s is of real numbers; this is %s", name, sb_dtype_name(from));
  const bool is_known =
      to->dtype == SB_FLOAT32 || to->dtype == SB_FLOAT64 || sb_dtype_kind(to->dtype) == SB_COMPLEX;
  f->to = is_known && sb_dtype_kind(to->dtype) == sb_dtype_kind(made) ? to->dtype : made;
  return SB_OK;
}

static int64_t last_of(const sb_tensor *t) { return t->ndim ? t->shape[t->ndim - 1] : 0; }

static sb_status check_lines(const char *name, const sb_tensor *to, const sb_tensor *from,
                             int64_t n, int64_t result) {
  if (n < 1 || n > INT64_C(1) << 48)
    return sb__fail(SB_ERR_SHAPE, "%s of %lld elements; 1 to 2^48 were expected", name,
                    (long long)n);
  if (from->ndim < 1)
    return sb__fail(SB_ERR_SHAPE, "%s has lines of elements; x has no axis", name);
  if (last_of(to) != result)
    return sb__fail(SB_ERR_SHAPE, "%s has %lld elements along its axis; the target has %lld", name,
                    (long long)result, (long long)last_of(to));
  return SB_OK;
}

sb_status sb__fft(const sb_tensor *to, const sb_tensor *from, sb__fft_kind kind, int64_t flags,
                  int64_t n, double scale, sb_dtype made, sb_casting casting, int64_t *staged) {
  transform f = {.kind = kind, .n = n, .scale = scale};
  sb_tensor lines = *from;
  f.is_inverse = flags & SB__FFT_INVERSE;
  f.is_conjugate = flags & SB__FFT_CONJUGATE;
  f.is_halved = kind != SB__FFT_COMPLEX && n % 2 == 0;
  sb_status status = check_lines("fft", to, from, n, kind == SB__FFT_REAL ? n / 2 + 1 : n);
  if (!status) status = choose_dtypes(&f, "fft", to, from->dtype, made, casting);
  if (status) return status;
  f.length = least(last_of(from), kind == SB__FFT_HERMITIAN ? n / 2 + 1 : n);
  lines.shape[lines.ndim - 1] = f.length;
  return run_lines(&f, to, &lines, staged);
}

/* ---- Frames ---- */

/* The numbers of a tensor of a row or more; the caller frees them. */
static sb_status numbers_of(const sb_tensor *t, double **out) {
  sb_tensor copy;
  const int64_t n = sb_tensor_numel(t);
  sb_status status = sb_tensor_empty(SB_FLOAT64, t->ndim, t->shape, &copy);
  *out = NULL;
  if (status) return status;
  status = sb_copy(&copy, t, SB_CASTING_UNSAFE, NULL);
  if (!status) {
    *out = sb__alloc_bytes((n ? n : 1) * (int64_t)sizeof(double));
    if (*out && n) memcpy(*out, sb_tensor_data(&copy), (size_t)n * sizeof(double));
    if (!*out)
      status = sb__fail(SB_ERR_MEMORY, "%lld numbers of a window or of filters", (long long)n);
  }
  sb_tensor_release(&copy);
  return status;
}

static sb_status check_window(const sb_tensor *window, const sb_tensor *frames) {
  if (window->ndim == 1 && window->shape[0] == last_of(frames)) return SB_OK;
  return sb__fail(SB_ERR_SHAPE, "the window has %lld elements; a frame has %lld",
                  (long long)sb_tensor_numel(window), (long long)last_of(frames));
}

sb_status sb__frames_fft(const sb_tensor *to, const sb_tensor *frames, const sb_tensor *window,
                         sb__fft_kind kind, double scale, sb_dtype made, sb_casting casting,
                         int64_t *staged) {
  const int64_t n = last_of(frames);
  transform f = {.kind = kind, .n = n, .length = n, .scale = scale};
  double *numbers;
  f.is_halved = kind == SB__FFT_REAL && n % 2 == 0;
  sb_status status = check_lines("stft", to, frames, n, kind == SB__FFT_REAL ? n / 2 + 1 : n);
  if (!status) status = check_window(window, frames);
  if (!status) status = choose_dtypes(&f, "stft", to, frames->dtype, made, casting);
  if (!status && kind == SB__FFT_COMPLEX && sb_dtype_kind(f.from) == SB_COMPLEX)
    return sb__fail(SB_ERR_DTYPE, "stft is of real numbers; this is %s",
                    sb_dtype_name(frames->dtype));
  if (!status) status = numbers_of(window, &numbers);
  if (status) return status;
  f.window = numbers;
  status = run_lines(&f, to, frames, staged);
  sb__free_aligned(numbers);
  return status;
}

/* Where each row of filters has numbers that are not 0. */
static void find_bands(const double *filters, int64_t rows, int64_t count, int64_t *bands) {
  for (int64_t i = 0; i < rows; i++, filters += count) {
    int64_t start = 0, end = count;
    while (start < end && filters[start] == 0) start++;
    while (end > start && filters[end - 1] == 0) end--;
    bands[2 * i] = start;
    bands[2 * i + 1] = end;
  }
}

sb_status sb__frames_mel(const sb_tensor *to, const sb_tensor *frames, const sb_tensor *window,
                         const sb_tensor *filters, sb_casting casting, int64_t *staged) {
  const int64_t n = last_of(frames);
  transform f = {.kind = SB__FFT_REAL, .n = n, .length = n, .scale = 1, .is_halved = n % 2 == 0};
  double *numbers = NULL, *weights = NULL;
  int64_t *bands = NULL;
  if (filters->ndim != 2 || filters->shape[1] != n / 2 + 1)
    return sb__fail(SB_ERR_SHAPE, "filters have rows of %lld elements; %lld were expected",
                    (long long)last_of(filters), (long long)(n / 2 + 1));
  f.mels = filters->shape[0];
  sb_status status = check_lines("logMelSpectrogram", to, frames, n, f.mels);
  if (!status) status = check_window(window, frames);
  if (!status)
    status = choose_dtypes(&f, "logMelSpectrogram", to, frames->dtype, SB_FLOAT64, casting);
  if (!status) status = numbers_of(window, &numbers);
  if (!status) status = numbers_of(filters, &weights);
  if (!status) {
    bands = sb__alloc_bytes((2 * f.mels + 1) * (int64_t)sizeof *bands);
    if (!bands) status = sb__fail(SB_ERR_MEMORY, "%lld filters", (long long)f.mels);
  }
  if (!status) {
    find_bands(weights, f.mels, n / 2 + 1, bands);
    f.window = numbers;
    f.mel = weights;
    f.bands = bands;
    status = run_lines(&f, to, frames, staged);
  }
  sb__free_aligned(numbers);
  sb__free_aligned(weights);
  sb__free_aligned(bands);
  return status;
}
