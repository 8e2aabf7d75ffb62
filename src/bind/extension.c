/* The table of core functions for samebytes_math, and the functions that it adds. */
#include "bind/extension.h"

#ifndef __wasm__
/* Of one addon, whose code is never unloaded: every environment gives the same. */
static _Atomic(const sb__export *) exports_given;
static atomic_uint count_given;

static void extend(const sb__export *exports, uint32_t count) {
  atomic_store(&exports_given, exports);
  atomic_store(&count_given, count);
}

const sb__export *sb__extension_at(uint32_t opcode) {
  const uint32_t i = opcode - SB__OPCODES;
  return i < atomic_load_explicit(&count_given, memory_order_acquire)
             ? &atomic_load_explicit(&exports_given, memory_order_relaxed)[i]
             : NULL;
}

static sb_status fail(sb_status status, const char *text) { return sb__fail(status, "%s", text); }

const sb__core_table sb__core = {
    .version = SB_VERSION,
    .build = sb__build,
    .extend = extend,
    .fail = fail,
# define FUNCTION(name, result, parameters, arguments) .name = name,
# define VOID(name, parameters, arguments) .name = name,
# include "bind/core_functions.def"
# undef FUNCTION
# undef VOID
};
#endif
