/* Parsers by index, in the order of js/files/parsers.js. */
#include "formats/formats.h"

sb_status sb__parse(int64_t which, sb__reader *r) {
  static sb_status (*const parsers[])(sb__reader * r) = {
      sb__npy_parse, sb__safetensors_parse, sb__gguf_parse,
      sb__zip_end,   sb__zip_directory,     sb__zip_member,
  };
  if (which < 0 || which >= (int64_t)(sizeof parsers / sizeof *parsers)) {
    return sb__fail(SB_ERR_ARGUMENT, "there is nothing to parse");
  }
  return parsers[which](r);
}
