/* Dtypes: names, sizes, kinds, lossless casts, promotion. */
#include <math.h>

#include "core/core.h"

typedef struct dtype_row {
  const char *name;
  int64_t itemsize; /* bytes */
  sb_kind kind;
} dtype_row;

static const dtype_row rows[] = {
#define X(constant, tag, name, type, kind) {name, sizeof(type), SB_##kind},
    SB_DTYPES(X)
#undef X
};

bool sb__dtype_is_valid(int64_t dtype) { return dtype >= 0 && dtype < SB_DTYPE_COUNT; }

const char *sb_dtype_name(sb_dtype dtype) {
  return sb__dtype_is_valid((int64_t)dtype) ? rows[dtype].name : "?";
}

int64_t sb_dtype_itemsize(sb_dtype dtype) {
  return sb__dtype_is_valid((int64_t)dtype) ? rows[dtype].itemsize : 0;
}

int64_t sb_dtype_alignment(sb_dtype dtype) {
  const int64_t itemsize = sb_dtype_itemsize(dtype);
  return sb_dtype_kind(dtype) == SB_COMPLEX ? itemsize / 2 : itemsize;
}

sb_kind sb_dtype_kind(sb_dtype dtype) {
  return sb__dtype_is_valid((int64_t)dtype) ? rows[dtype].kind : SB_BOOLEAN;
}

/* The numbers that a dtype represents: integers up to 2^bits (and a sign), or floats. */
typedef struct range {
  int bits;     /* of precision; an integer's bits without its sign */
  int lowest;   /* exponent of the smallest positive value */
  int highest;  /* exponent of the largest finite value */
  bool sign;    /* negative values */
  bool special; /* infinities */
} range;

static range range_of(sb_dtype dtype) {
  const int bits = 8 * (int)sb_dtype_itemsize(dtype);
  switch (dtype) {
    case SB_BOOL: return (range){1, 0, 0, false, false};
    case SB_FLOAT16: return (range){11, -24, 15, true, true};
    case SB_BFLOAT16: return (range){8, -133, 127, true, true};
    case SB_FLOAT32:
    case SB_COMPLEX64: return (range){24, -149, 127, true, true};
    case SB_FLOAT64:
    case SB_COMPLEX128: return (range){53, -1074, 1023, true, true};
    case SB_FLOAT8_E4M3FN: return (range){4, -9, 8, true, false};
    case SB_FLOAT8_E5M2: return (range){3, -16, 15, true, true};
    default: break;
  }
  if (sb_dtype_kind(dtype) == SB_UNSIGNED) return (range){bits, 0, bits - 1, false, false};
  return (range){bits - 1, 0, bits - 1, true, false}; /* -2^(bits-1) has this exponent */
}

static bool is_integer(sb_dtype dtype) {
  const sb_kind kind = sb_dtype_kind(dtype);
  return kind == SB_SIGNED || kind == SB_UNSIGNED || kind == SB_BOOLEAN;
}

static bool loses_nothing(sb_dtype from, sb_dtype to) {
  const range a = range_of(from), b = range_of(to);
  if (is_integer(from) && is_integer(to)) return a.bits <= b.bits && a.sign <= b.sign;
  if (is_integer(to)) return false;
  return a.bits <= b.bits && a.lowest >= b.lowest && a.highest <= b.highest && a.sign <= b.sign &&
         a.special <= b.special;
}

bool sb_can_cast(sb_dtype from, sb_dtype to, sb_casting casting) {
  if (!sb__dtype_is_valid((int64_t)from) || !sb__dtype_is_valid((int64_t)to)) return false;
  if (from == to || casting == SB_CASTING_UNSAFE) return true;
  const sb_kind a = sb_dtype_kind(from), b = sb_dtype_kind(to);
  if (a == SB_COMPLEX && b != SB_COMPLEX) return false;
  if (b == SB_BOOLEAN) return false;
  if (casting == SB_CASTING_SAFE) return loses_nothing(from, to);
  return !(a == SB_FLOATING && (b == SB_SIGNED || b == SB_UNSIGNED));
}

static bool is_complex(sb_dtype dtype) { return sb_dtype_kind(dtype) == SB_COMPLEX; }

/* Dtypes of a kind are listed by size, so the first one that fits is the smallest. */
sb_status sb_promote_types(sb_dtype a, sb_dtype b, sb_dtype *out) {
  if (!sb__dtype_is_valid((int64_t)a) || !sb__dtype_is_valid((int64_t)b)) {
    return sb__fail(SB_ERR_DTYPE, "%lld and %lld are not both dtypes", (long long)a, (long long)b);
  }
  sb_dtype found =
      is_integer(a) ? b : a; /* they are equal, or one is an integer and the other is not */
  if (a != b && is_integer(a) == is_integer(b)) {
    const sb_dtype end = is_integer(a) ? SB_FLOAT16 : SB_DTYPE_COUNT;
    found = is_integer(a) ? SB_BOOL : is_complex(a) || is_complex(b) ? SB_COMPLEX64 : SB_FLOAT16;
    while (found < end && !(loses_nothing(a, found) && loses_nothing(b, found))) found++;
    if (found == end) found = SB_FLOAT64; /* uint64 with a signed integer */
  }
  *out = found;
  return SB_OK;
}

sb_status sb_finfo(sb_dtype dtype, sb_float_info *out) {
  if (!sb__dtype_is_valid((int64_t)dtype) || is_integer(dtype)) {
    return sb__fail(SB_ERR_DTYPE, "%s is no floating or complex dtype", sb_dtype_name(dtype));
  }
  const range r = range_of(dtype);
  const double eps = ldexp(1, 1 - r.bits);
  /* A format without infinities uses the largest number's bits for NaN. */
  out->max = ldexp(2 - (r.special ? eps : 2 * eps), r.highest);
  out->smallest_normal = ldexp(1, r.lowest + r.bits - 1);
  out->eps = eps;
  return SB_OK;
}
