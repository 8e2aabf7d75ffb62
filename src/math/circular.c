/* sin, cos and tan of any number: the path of arguments that loops leave out, because they are large. */
#include "math/functions32.h"
#include "math/math.h"

/* 2 / pi, 32 bits a word. */
static const uint32_t two_by_pi[] = {
    0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
    0xdebbc561u, 0xb7246e3au, 0x424dd2e0u, 0x06492eeau, 0x09d1921cu, 0xfe1deb1cu, 0xb129a73eu,
    0xe88235f5u, 0x2ebb4484u, 0xe99c7026u, 0xb45f7e41u, 0x3991d639u, 0x835339f4u, 0x9c845f8bu,
    0xbdf9283bu, 0x1ff897ffu, 0xde05980fu, 0xef2f118bu, 0x5a0a6d1fu, 0x6d367ecfu, 0x27cb09b7u,
    0x4f463f66u, 0x9e5fea2du, 0x7527bac7u, 0xebe5f17bu, 0x3d0739f7u, 0x8a5292eau, 0x6bfb5fb1u,
    0x1f8d5d08u, 0x56033046u, 0xfc7b6babu, 0xf0cfbc20u, 0x9af4361du, 0xa9e39161u, 0x5ee61b08u,
};
#define WORDS 9

/* 64 bits of a number of WORDS words, of which the first is the highest, from bit `at` on. */
static uint64_t bits_from(const uint32_t *words, int at) {
  const int word = at >> 5, shift = at & 31;
  const uint64_t high = (uint64_t)words[word] << 32 | words[word + 1];
  return shift ? high << shift | words[word + 2] >> (32 - shift) : high;
}

/* x / (pi / 2) = a whole number, whose last bits are returned, and a fraction of 128 bits. x is at least 2^17. */
static uint64_t divide(double x, uint64_t fraction[2]) {
  const uint64_t bits = sb__bits_of(x);
  const uint64_t significand = (bits & 0xfffffffffffffu) | UINT64_C(1) << 52;
  const int exponent = (int)(bits >> 52 & 0x7ff) - 1075; /* of significand */
  /* Bits of 2 / pi from there on: those before make multiples of 4. */
  const int at = exponent > 2 ? exponent - 2 : 0;
  uint32_t product[WORDS + 2] = {
      0}; /* the point is behind the second word, and moved by exponent - at */
  uint64_t carry = 0;
  for (int i = WORDS - 1; i >= 3; i--) {
    const int bit = at + 32 * (i - 3), word = bit >> 5, shift = bit & 31;
    const uint64_t pair = (uint64_t)two_by_pi[word] << 32 | two_by_pi[word + 1];
    const uint64_t factor = pair << shift >> 32;
    /* carry has less than 54 bits, so that sums of 64 bits suffice for each half. */
    const uint64_t low = (significand & 0xffffffffu) * factor, high = (significand >> 32) * factor;
    const uint64_t sum = (low & 0xffffffffu) + (carry & 0xffffffffu);
    product[i] = (uint32_t)sum;
    carry = (carry >> 32) + (low >> 32) + (sum >> 32) + high;
  }
  product[2] = (uint32_t)carry;
  product[1] = (uint32_t)(carry >> 32);
  const int point = 96 + exponent - at;
  fraction[0] = bits_from(product, point);
  fraction[1] = bits_from(product, point + 64);
  return bits_from(product, point - 32) >> 32;
}

/* head + tail = a * b. */
static double multiply(double a, double b, double *tail) {
  const double a_head = sb__double_of(sb__bits_of(a) & 0xfffffffff8000000u), a_tail = a - a_head;
  const double b_head = sb__double_of(sb__bits_of(b) & 0xfffffffff8000000u), b_tail = b - b_head;
  const double head = a * b;
  *tail = ((a_head * b_head - head) + a_head * b_tail + a_tail * b_head) + a_tail * b_tail;
  return head;
}

/* x = quarter * pi / 2 + r + rest, exactly reduced. */
static uint64_t reduce(double x, double *r, double *rest) {
  uint64_t fraction[2], quarter = divide(x, fraction);
  const bool is_above = fraction[0] >> 63;
  if (is_above) {
    quarter++;
    fraction[1] = 0 - fraction[1];
    fraction[0] = ~fraction[0] + !fraction[1];
  }
  double unit = 0x1p-53;
  for (int i = 0; i < 64 && !(fraction[0] >> 63); i++) {
    fraction[0] = fraction[0] << 1 | fraction[1] >> 63;
    fraction[1] <<= 1;
    unit *= 0.5;
  }
  const double high = (double)(fraction[0] >> 11) * unit;
  const double low = (double)((fraction[0] & 0x7ff) << 42 | fraction[1] >> 22) * unit * 0x1p-53;
  double tail;
  const double head = multiply(high, 2 * SB__PI_4_HIGH, &tail);
  tail += high * (2 * SB__PI_4_LOW) + low * (2 * SB__PI_4_HIGH);
  const double sum = head + tail, lost = (head - sum) + tail;
  *r = is_above ? -sum : sum;
  *rest = is_above ? -lost : lost;
  return quarter;
}

double sb__math_circular(int which, double x, bool wide) {
  const double a = sb__magnitude(x);
  double r, rest;
  if (!(a < SB__INFINITY)) return SB__NAN;
  if (which != SB__COS && x == 0) return x;
  const bool is_small = a < (wide ? SB__CIRCULAR_SMALL_WIDE : SB__CIRCULAR_SMALL);
  const uint64_t quarter = is_small ? sb__reduce_turn(x, wide, &r, &rest) : reduce(a, &r, &rest);
  const double found = sb__circular_of((sb__turned)which, quarter, r, rest);
  if (is_small) return found;
  if (which == SB__COS)
    return wide ? found : (double)SB__EXCEPT((float)x, (float)found, sb__cos_exceptions);
  return x < 0 ? -found : found;
}
