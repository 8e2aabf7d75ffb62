/* Functions of float32, which are those of float64 rounded. What is wrong then, because the true value lies next to the middle between two
 * float32, is in a list: test/math/exhaustive.c found it among all arguments. */
#ifndef SB_MATH_FUNCTIONS32_H
#define SB_MATH_FUNCTIONS32_H

#include "math/functions64.h"

/* An argument and its result, as bits. */
typedef struct sb__exception {
  uint32_t x, y;
} sb__exception;

SB_CONSTANT sb__exception sb__log_exceptions[] = {
    {0x3c413d3a, 0xc08e158f}, {0x41178feb, 0x400fe5e7}, {0x4c5d65a5, 0x418f034b},
    {0x65d890d3, 0x4254d1f9}, {0x6f31a8ec, 0x42845a89},
};

SB_CONSTANT sb__exception sb__log1p_exceptions[] = {
    {0x35400003, 0x353fffff}, {0x3710001b, 0x370ffff3}, {0x3efd81ad, 0x3ecdeee1},
    {0x41078feb, 0x400fe5e7}, {0x65d890d3, 0x4254d1f9}, {0x6f31a8ec, 0x42845a89},
    {0xb53ffffd, 0xb5400001}, {0xb70fffe5, 0xb710000d}, {0xbb0ec8c4, 0xbb0ef0a5},
};
SB_CONSTANT sb__exception sb__acos_exceptions[] = {
    {0x328885a3, 0x3fc90fdb},
    {0x39826222, 0x3fc907b5},
};
SB_CONSTANT sb__exception sb__atan_exceptions[] = {
    {0x3d8d6b23, 0x3d8d31c3},
    {0xbd8d6b23, 0xbd8d31c3},
};
SB_CONSTANT sb__exception sb__acosh_exceptions[] = {
    {0x655890d3, 0x4254d1f9},
    {0x6eb1a8ec, 0x42845a89},
};
SB_CONSTANT sb__exception sb__asinh_exceptions[] = {
    {0x4bdd65a5, 0x418f034b}, {0x655890d3, 0x4254d1f9}, {0x6eb1a8ec, 0x42845a89},
    {0xcbdd65a5, 0xc18f034b}, {0xe55890d3, 0xc254d1f9}, {0xeeb1a8ec, 0xc2845a89},
};
SB_CONSTANT sb__exception sb__sin_exceptions[] = {
    {0x46199998, 0xbeb1fa5d},
    {0xc6199998, 0x3eb1fa5d},
};
/* Large ones (circular.c). */
SB_CONSTANT sb__exception sb__cos_exceptions[] = {
    {0x5f18b878, 0x3f7f14bb},
    {0x6115cb11, 0x3f78142f},
    {0xdf18b878, 0x3f7f14bb},
    {0xe115cb11, 0x3f78142f},
};
SB_CONSTANT sb__exception sb__log10_exceptions[] = {{0x0efeee7a, 0xc1e99d23}};
SB_CONSTANT sb__exception sb__sinh_exceptions[] = {
    {0x3a1285ff, 0x3a1285ff},
    {0xba1285ff, 0xba1285ff},
};
SB_CONSTANT sb__exception sb__sigmoid_exceptions[] = {{0xba928601, 0x3effdb5f}};

/* y, or the result that the list has for x. By masks: compilers make branches of selections one after the other. */
SB_INLINE float sb__except(float x, float y, const sb__exception *list, int count) {
  uint32_t bits = sb__bits_of_float(y);
  SB__UNROLL for (int i = 0; i < count; i++) {
    const uint32_t is_listed = 0 - (uint32_t)(sb__bits_of_float(x) == list[i].x);
    bits = (bits & ~is_listed) | (list[i].y & is_listed);
  }
  return sb__float_of(bits);
}
#define SB__EXCEPT(x, y, list) sb__except(x, y, list, (int)(sizeof list / sizeof *list))

#endif
