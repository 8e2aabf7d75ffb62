#include "check.h"

static void tables(void) {
  static const struct {
    const char *name;
    int itemsize, alignment;
    sb_kind kind;
  } rows[] = {{"bool", 1, 1, SB_BOOLEAN},        {"uint8", 1, 1, SB_UNSIGNED},
              {"int8", 1, 1, SB_SIGNED},         {"int16", 2, 2, SB_SIGNED},
              {"uint16", 2, 2, SB_UNSIGNED},     {"int32", 4, 4, SB_SIGNED},
              {"uint32", 4, 4, SB_UNSIGNED},     {"int64", 8, 8, SB_SIGNED},
              {"uint64", 8, 8, SB_UNSIGNED},     {"float16", 2, 2, SB_FLOATING},
              {"bfloat16", 2, 2, SB_FLOATING},   {"float32", 4, 4, SB_FLOATING},
              {"float64", 8, 8, SB_FLOATING},    {"complex64", 8, 4, SB_COMPLEX},
              {"complex128", 16, 8, SB_COMPLEX}, {"float8_e4m3fn", 1, 1, SB_FLOATING},
              {"float8_e5m2", 1, 1, SB_FLOATING}};
  EQ(SB_DTYPE_COUNT, 17);
  for (int i = 0; i < 17; i++) {
    CHECK(!strcmp(sb_dtype_name((sb_dtype)i), rows[i].name));
    EQ(sb_dtype_itemsize((sb_dtype)i), rows[i].itemsize);
    EQ(sb_dtype_alignment((sb_dtype)i), rows[i].alignment);
    EQ(sb_dtype_kind((sb_dtype)i), rows[i].kind);
  }
  CHECK(!strcmp(sb_dtype_name((sb_dtype)17), "?"));
  EQ(sb_dtype_itemsize((sb_dtype)17), 0);
  EQ(sb_dtype_itemsize((sb_dtype)-1), 0);
  CHECK(!sb_can_cast((sb_dtype)17, SB_BOOL, SB_CASTING_UNSAFE));
  CHECK(!sb_can_cast(SB_BOOL, (sb_dtype)-1, SB_CASTING_UNSAFE));
  CHECK(!strcmp(sb_status_name(SB_OK), "OK"));
  CHECK(!strcmp(sb_status_name(SB_ERR_SHAPE), "SHAPE"));
  CHECK(!strcmp(sb_status_name((sb_status)99), "?"));
  CHECK(!strcmp(sb_status_name((sb_status)-1), "?"));
}

static const char *const safe[17] = {
    /* bool u8 i8 i16 u16 i32 u32 i64 u64 | f16 bf16 f32 f64 c64 c128 e4m3 e5m2 */
    "11111111111111111", "01011111111111100", "00110101011111100", "00010101000111100",
    "00001111100111100", "00000101000010100", "00000011100010100", "00000001000000000",
    "00000000100000000", "00000000010111100", "00000000001111100", "00000000000111100",
    "00000000000010100", "00000000000001100", "00000000000000100", "00000000011111110",
    "00000000011111101"};

static void can_cast(void) {
  for (int a = 0; a < 17; a++) {
    for (int b = 0; b < 17; b++) {
      const char *same = a == 0               ? "11111111111111111"
                         : a < 9              ? "01111111111111111"
                         : a == 13 || a == 14 ? "00000000000001100"
                                              : "00000000011111111";
      const bool s = sb_can_cast((sb_dtype)a, (sb_dtype)b, SB_CASTING_SAFE);
      const bool k = sb_can_cast((sb_dtype)a, (sb_dtype)b, SB_CASTING_SAME_KIND);
      if (s != (safe[a][b] == '1') || k != (same[b] == '1'))
        printf("  %s -> %s\n", sb_dtype_name((sb_dtype)a), sb_dtype_name((sb_dtype)b));
      EQ(s, safe[a][b] == '1');
      EQ(k, same[b] == '1');
      CHECK(sb_can_cast((sb_dtype)a, (sb_dtype)b, SB_CASTING_UNSAFE));
    }
  }
}

int main(void) {
  test("the dtype table has its names, sizes, alignments and kinds", tables);
  test("sb_can_cast answers as the three casting rules say, for all pairs", can_cast);
  return done();
}
