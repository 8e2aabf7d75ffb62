/* The reference kernels, in plain C. Casts go by way of one of four forms that hold every value of their source, so that
 * n dtypes need 5 n loops, not n². */
#include "kernels/kernels.h"

#include <string.h>

#include "kernels/convert.h"

#define SB_PASTE_(a, b) a##b
#define SB_PASTE(a, b) SB_PASTE_(a, b)

#if !defined(__clang__)
# pragma GCC push_options
# pragma GCC optimize("O2", "tree-vectorize") /* as in direct_casts.inc */
#endif
#define BODY "kernels/cast_loop.inc"
#include "kernels/each_dtype.inc"
#undef BODY
#if !defined(__clang__)
# pragma GCC pop_options
#endif

/* Inlined with a constant size below: five loops. Four items are read before they are written, so that none waits; in WebAssembly
 * that loses. */
SB_INLINE void copy_items(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n,
                          size_t itemsize) {
  int64_t i = 0;
#ifndef __wasm__
  char items[4][16];
  for (; i + 4 <= n; i += 4, to += 4 * to_step, from += 4 * from_step) {
    for (int64_t k = 0; k < 4; k++) memcpy(items[k], from + k * from_step, itemsize);
    for (int64_t k = 0; k < 4; k++) memcpy(to + k * to_step, items[k], itemsize);
  }
#endif
  for (; i < n; i++, to += to_step, from += from_step) memmove(to, from, itemsize);
}

__attribute__((noinline)) void sb__copy_items(char *to, int64_t to_step, const char *from,
                                              int64_t from_step, int64_t n, int64_t itemsize) {
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

typedef struct cast_loops {
  sb__form form;
  void (*load)(sb__chunk *to, const void *from, int64_t n);
  void (*store[4])(void *to, const sb__chunk *from, int64_t n); /* by sb__form */
} cast_loops;

/* Integers that become integers wrap, whatever their signs. */
#define WRAPPED(bits)                                                                    \
 static void wrap_##bits(void *restrict to, const sb__chunk *restrict from, int64_t n) { \
  uint##bits##_t *x = to;                                                                \
  for (int64_t i = 0; i < n; i++) x[i] = (uint##bits##_t)from->u[i];                     \
 }
WRAPPED(8)
WRAPPED(16)
WRAPPED(32)
WRAPPED(64)

#define ROW(tag, int, uint, real, complex)                        \
 {                                                                \
  (sb__form) form_##tag, load_##tag, { int, uint, real, complex } \
 }
#define INTEGER(tag, bits) ROW(tag, wrap_##bits, wrap_##bits, REAL(tag), NULL)
#define LONG_INTEGER(tag, bits) ROW(tag, wrap_##bits, wrap_##bits, store_real_##tag, NULL)
#define FLOAT(tag) ROW(tag, store_int_##tag, store_uint_##tag, store_real_##tag, NULL)
#define WITH_COMPLEX(tag) \
 ROW(tag, store_int_##tag, store_uint_##tag, store_real_##tag, store_complex_##tag)
#ifdef __wasm_simd128__
# define REAL(tag) NULL /* the level's loops, which are smaller */
#else
# define REAL(tag) store_real_##tag
#endif

static const cast_loops casts[SB_DTYPE_COUNT] = {
    [SB_BOOL] = WITH_COMPLEX(b1),
    [SB_UINT8] = INTEGER(u8, 8),
    [SB_INT8] = INTEGER(i8, 8),
    [SB_INT16] = INTEGER(i16, 16),
    [SB_UINT16] = INTEGER(u16, 16),
    [SB_INT32] = INTEGER(i32, 32),
    [SB_UINT32] = INTEGER(u32, 32),
    [SB_INT64] = LONG_INTEGER(i64, 64),
    [SB_UINT64] = LONG_INTEGER(u64, 64),
    [SB_FLOAT16] = FLOAT(f16),
    [SB_BFLOAT16] = FLOAT(bf16),
    [SB_FLOAT8_E4M3FN] = FLOAT(f8e4m3),
    [SB_FLOAT8_E5M2] = FLOAT(f8e5m2),
    [SB_FLOAT32] = FLOAT(f32),
    [SB_FLOAT64] = FLOAT(f64),
    [SB_COMPLEX64] = WITH_COMPLEX(c64),
    [SB_COMPLEX128] = WITH_COMPLEX(c128),
};

typedef struct items {
  _Alignas(16) char bytes[SB__CHUNK * 16];
} items;

sb__form sb__form_of(sb_dtype dtype) { return casts[dtype].form; }

sb__form sb__load(sb_dtype dtype, sb__chunk *to, const char *from, int64_t step, int64_t n) {
  const int64_t size = sb_dtype_itemsize(dtype);
  items gathered;
  if (step != size) {
    sb__copy_items(gathered.bytes, size, from, step, n, size);
    from = gathered.bytes;
  }
  casts[dtype].load(to, from, n);
  return casts[dtype].form;
}

static void store_real(sb_dtype dtype, void *to, const sb__chunk *from, int64_t n) {
#ifdef __wasm_simd128__
  const sb__cast cast = (*sb__kernels_simd128.direct)[SB_FLOAT64][dtype];
  if (cast) {
    cast(to, (const char *)from, n);
    return;
  }
#endif
  casts[dtype].store[SB__FORM_REAL](to, from, n);
}

/* Where nothing is said of complex numbers, their real parts count. */
static void store(sb_dtype dtype, void *to, sb__form form, const sb__chunk *from, int64_t n) {
  sb__chunk real;
  if (form == SB__FORM_COMPLEX && !casts[dtype].store[form]) {
    for (int64_t i = 0; i < n; i++) real.real[i] = from->c[i].re;
    form = SB__FORM_REAL;
    from = &real;
  }
  if (form == SB__FORM_REAL)
    store_real(dtype, to, from, n);
  else
    casts[dtype].store[form](to, from, n);
}

void sb__store(sb_dtype dtype, char *to, int64_t step, sb__form form, const sb__chunk *from,
               int64_t n) {
  const int64_t size = sb_dtype_itemsize(dtype);
  items made;
  if (step == size) {
    store(dtype, to, form, from, n);
    return;
  }
  store(dtype, made.bytes, form, from, n);
  sb__copy_items(to, step, made.bytes, size, n, size);
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
