/* The reference kernels, in plain C. Casts go by way of one of four forms that hold every value of their source, so that
 * n dtypes need 5 n loops, not n². */
#include "kernels/kernels.h"

#include <string.h>

#include "kernels/convert.h"

#define SB_PASTE_(a, b) a##b
#define SB_PASTE(a, b) SB_PASTE_(a, b)

#define BODY "kernels/cast_loop.inc"
#include "kernels/each_dtype.inc"
#undef BODY

#define STORES(tag) \
 { store_int_##tag, store_uint_##tag, store_real_##tag, store_complex_##tag }

const sb__cast_kernels sb__casts[SB_DTYPE_COUNT] = {
#define X(constant, tag, name, type, kind) {(sb__form)form_##tag, load_##tag, STORES(tag)},
    SB_DTYPES(X)
#undef X
};

/* Inlined with a constant size below: five loops. */
SB_INLINE void copy_items(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                          size_t itemsize) {
  for (int64_t i = 0; i < n; i++, to += to_step, from += from_step) memmove(to, from, itemsize);
}

void sb__copy_items(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                    int64_t itemsize) {
  if (to_step == itemsize && from_step == itemsize) {
    memmove(to, from, (size_t)(n * itemsize));
    return;
  }
  switch (itemsize) {
    case 1: copy_items(to, to_step, from, from_step, n, 1); break;
    case 2: copy_items(to, to_step, from, from_step, n, 2); break;
    case 4: copy_items(to, to_step, from, from_step, n, 4); break;
    case 8: copy_items(to, to_step, from, from_step, n, 8); break;
    default: copy_items(to, to_step, from, from_step, n, 16); break;
  }
}

static inline void gather_items(char *to, int64_t to_step, const char *from, const int64_t *offsets,
                                int64_t n, size_t itemsize) {
  for (int64_t i = 0; i < n; i++) memcpy(to + i * to_step, from + offsets[i], itemsize);
}

void sb__gather_items(char *to, int64_t to_step, const char *from, const int64_t *offsets,
                      int64_t n, int64_t itemsize) {
  switch (itemsize) {
    case 1: gather_items(to, to_step, from, offsets, n, 1); break;
    case 2: gather_items(to, to_step, from, offsets, n, 2); break;
    case 4: gather_items(to, to_step, from, offsets, n, 4); break;
    case 8: gather_items(to, to_step, from, offsets, n, 8); break;
    default: gather_items(to, to_step, from, offsets, n, 16); break;
  }
}

void sb__fill_items(char *to, int64_t step, const void *item, int64_t n, int64_t itemsize) {
  if (itemsize == 1 && step == 1) {
    memset(to, *(const unsigned char *)item, (size_t)n);
    return;
  }
  sb__copy_items(to, step, item, 0, n, itemsize);
}

static void to_real(sb__chunk *x, sb__form form, int64_t n, bool single) {
  for (int64_t i = 0; i < n; i++) { /* in place: each value is read before its slot is written */
    if (form == SB__FORM_INT)
      x->real[i] = single ? (double)(float)x->i[i] : (double)x->i[i];
    else if (form == SB__FORM_UINT)
      x->real[i] = single ? (double)(float)x->u[i] : (double)x->u[i];
    else if (single)
      x->real[i] = (double)(float)x->real[i];
  }
}

void sb__scale_chunk(sb__chunk *x, sb__form form, int64_t n, bool single, const char *scale,
                     int64_t scale_step, const char *bias, int64_t bias_step) {
  to_real(x, form, n, single);
  for (int64_t i = 0; i < n; i++, scale += scale_step, bias += bias_step) {
    const double factor = *(const double *)(const void *)scale;
    const double term = *(const double *)(const void *)bias;
    if (single) {
      const float product = (float)x->real[i] * (float)factor;
      x->real[i] = (double)(product + (float)term);
    } else {
      const double product = x->real[i] * factor;
      x->real[i] = product + term;
    }
  }
}
