/* What the addon samebytes_math gets from us: a table of the core's functions. */
#include "bind/extension.h"
#include "node/environment.h"

/* core() → the external with the table; undefined without memory. */
napi_value sb__node_core(napi_env env, napi_callback_info info) {
  static const napi_type_tag tag = SB__CORE_TAG;
  napi_value external = NULL;
  (void)info;
  if (napi_create_external(env, (void *)(uintptr_t)&sb__core, NULL, NULL, &external) != napi_ok ||
      napi_type_tag_object(env, external, &tag) != napi_ok)
    return NULL;
  return external;
}
