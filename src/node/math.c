/* The addon samebytes_math: it calls the core by the table that the core's addon hands over, and adds its functions to the core's. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <node_api.h>

#include "math/algorithms.h"
#include "math/math.h"

static const sb__core_table *core; /* the same for all environments */
static sb__export exported[SB__MATH_EXPORTS + SB__ALGORITHMS];

/* When the addon is loaded: once. */
__attribute__((constructor)) static void join_exports(void) {
  memcpy(exported, sb__math_exports, sizeof sb__math_exports);
  memcpy(exported + SB__MATH_EXPORTS, sb__algorithms, sizeof sb__algorithms);
}

sb_status sb__fail(sb_status status, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return core->fail(status, text);
}

#define FUNCTION(name, result, parameters, arguments) \
 result name parameters { return core->name arguments; }
#define VOID(name, parameters, arguments) \
 void name parameters { core->name arguments; }
#include "bind/core_functions.def"
#undef FUNCTION
#undef VOID

static napi_value refuse(napi_env env, const char *why) {
  napi_throw_error(env, "ERR_UNSUPPORTED", why);
  return NULL;
}

/* open(core): takes what the core's addon gives as `core`. */
static napi_value open_arithmetic(napi_env env, napi_callback_info info) {
  static const napi_type_tag tag = SB__CORE_TAG;
  napi_value value = NULL;
  size_t count = 1;
  bool is_ours = false;
  void *data = NULL;
  napi_get_cb_info(env, info, &count, &value, NULL, NULL);
  if (count < 1 || napi_check_object_type_tag(env, value, &tag, &is_ours) != napi_ok || !is_ours ||
      napi_get_value_external(env, value, &data) != napi_ok)
    return refuse(env, "the core of samebytes was expected");
  const sb__core_table *given = data;
  if (strcmp(given->version, SB_VERSION) || strcmp(given->build, sb__build))
    return refuse(
        env, "samebytes_math.node was built from other sources than samebytes.node; build both "
             "anew");
  core = given;
  core->extend(exported, SB__MATH_EXPORTS + SB__ALGORITHMS);
  return NULL;
}

NAPI_MODULE_INIT(/* napi_env env, napi_value exports */) {
  napi_value tables = NULL, function = NULL;
  if (napi_create_string_utf8(env, sb__math_tables(), NAPI_AUTO_LENGTH, &tables) == napi_ok)
    napi_set_named_property(env, exports, "tables", tables);
  if (napi_create_string_utf8(env, sb__algorithm_tables(), NAPI_AUTO_LENGTH, &tables) == napi_ok)
    napi_set_named_property(env, exports, "algorithms", tables);
  if (napi_create_function(env, "open", NAPI_AUTO_LENGTH, open_arithmetic, NULL, &function) ==
      napi_ok)
    napi_set_named_property(env, exports, "open", function);
  return exports;
}
