/* Named segments, as js/sharing/segments.js calls them: their names, owners, lists. Names are checked there. Calls on files give the
 * system's error number, or 0. */
#include <errno.h>

#include "ipc/owners.h"
#include "node/environment.h"

enum {
  NAME_BYTES = 255,
  NAME_ROOM = NAME_BYTES + 2,
  PATH_ROOM = 4096
}; /* a name that is too long is seen to be */

/* False: it is no name. */
static bool name_of(napi_env env, napi_value value, char out[NAME_ROOM]) {
  size_t length = 0;
  return napi_get_value_string_utf8(env, value, out, NAME_ROOM, &length) == napi_ok && length > 0 &&
         length <= NAME_BYTES;
}

static bool is_set(napi_env env, napi_value value) {
  bool x = false;
  napi_get_value_bool(env, value, &x);
  return x;
}

static napi_value boolean(napi_env env, bool x) {
  napi_value value = NULL;
  napi_get_boolean(env, x, &value);
  return value;
}

/* segmentPublish(fd, name, replace, persists, isPart) → error number. isPart: nobody may become an owner until the file's lock is
 * shared. */
napi_value sb__node_segment_publish(napi_env env, napi_callback_info info) {
  napi_value arguments[5] = {NULL, NULL, NULL, NULL, NULL};
  char name[NAME_ROOM];
  sb__enter(env, info, 5, arguments);
  if (!name_of(env, arguments[1], name)) return sb__number(env, EINVAL);
  const uint32_t flags = (is_set(env, arguments[2]) ? SB_SEGMENT_REPLACE : 0) |
                         (is_set(env, arguments[3]) ? SB_SEGMENT_PERSIST : 0);
  return sb__number(env, sb__segment_publish((int)sb__number_of(env, arguments[0]), name, flags,
                                             is_set(env, arguments[4]) ? SB__LOCKED_EXCLUSIVE
                                                                       : SB__LOCKED_SHARED));
}

/* segmentOwn(fd, name, takesOver) → the process whose record is ours now; 0: none is; -1: the file has not the name. */
napi_value sb__node_segment_own(napi_env env, napi_callback_info info) {
  napi_value arguments[3] = {NULL, NULL, NULL};
  char name[NAME_ROOM];
  int64_t before = 0;
  sb__enter(env, info, 3, arguments);
  const bool is_owner = name_of(env, arguments[1], name) &&
                        !sb__segment_own((int)sb__number_of(env, arguments[0]), name,
                                         is_set(env, arguments[2]), &before);
  return sb__number(env, is_owner ? (double)before : -1);
}

/* segmentForget(fd, name): the file is closed, which this process recorded as its own. name: "" where it never got one. */
napi_value sb__node_segment_forget(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  char name[NAME_ROOM];
  sb__enter(env, info, 2, arguments);
  if (!name_of(env, arguments[1], name)) name[0] = 0;
  sb__segment_forget((int)sb__number_of(env, arguments[0]), name);
  return NULL;
}

/* segmentUnlink(name) → error number */
napi_value sb__node_segment_unlink(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  char name[NAME_ROOM];
  sb__enter(env, info, 1, &argument);
  return sb__number(env, name_of(env, argument, name) ? sb__os_segment_unlink(name) : ENOENT);
}

/* segmentNameFault(name) → why there can be no such segment; null: there can */
napi_value sb__node_segment_name_fault(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, text = NULL;
  char name[NAME_ROOM];
  sb__enter(env, info, 1, &argument);
  const char *fault = name_of(env, argument, name) ? sb__os_segment_name_fault(name) : NULL;
  if (fault)
    napi_create_string_utf8(env, fault, NAPI_AUTO_LENGTH, &text);
  else
    napi_get_null(env, &text);
  return text;
}

/* segmentPath(fd) → the path by which others open it; null: there is none */
napi_value sb__node_segment_path(napi_env env, napi_callback_info info) {
  napi_value argument = NULL, text = NULL;
  char path[PATH_ROOM];
  sb__enter(env, info, 1, &argument);
  if (sb__os_file_path((int)sb__number_of(env, argument), path, sizeof path))
    napi_create_string_utf8(env, path, NAPI_AUTO_LENGTH, &text);
  else
    napi_get_null(env, &text);
  return text;
}

/* segmentIsThere(name): has anything this name? */
napi_value sb__node_segment_is_there(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  char name[NAME_ROOM];
  uint64_t inode = 0;
  sb__enter(env, info, 1, &argument);
  return boolean(env, name_of(env, argument, name) && sb__os_segment_inode(name, &inode));
}

/* segmentIsRing(name) */
napi_value sb__node_segment_is_ring(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  char name[NAME_ROOM];
  sb__enter(env, info, 1, &argument);
  return boolean(env, name_of(env, argument, name) && sb__segment_is_ring(name));
}

/* ringRemoveHalf(name, control) */
napi_value sb__node_ring_remove_half(napi_env env, napi_callback_info info) {
  napi_value arguments[2] = {NULL, NULL};
  char name[NAME_ROOM], control[NAME_ROOM];
  sb__enter(env, info, 2, arguments);
  if (name_of(env, arguments[0], name) && name_of(env, arguments[1], control))
    sb__ring_remove_half(name, control);
  return NULL;
}

/* ---- Lists ---- */

typedef struct listing {
  napi_env env;
  napi_value list;
  uint32_t count;
} listing;

static void add(void *context, const sb__segment_record *record, bool is_alive) {
  listing *l = context;
  napi_env env = l->env;
  napi_handle_scope scope = NULL;
  napi_value made = NULL, name = NULL;
  if (napi_open_handle_scope(env, &scope) != napi_ok) return;
  if (napi_create_object(env, &made) == napi_ok &&
      napi_create_string_utf8(env, record->name, NAPI_AUTO_LENGTH, &name) == napi_ok) {
    napi_set_named_property(env, made, "name", name);
    napi_set_named_property(env, made, "nbytes", sb__number(env, (double)record->nbytes));
    napi_set_named_property(env, made, "pid", sb__number(env, (double)record->owner.id));
    napi_set_named_property(env, made, "isAlive", boolean(env, is_alive));
    napi_set_named_property(env, made, "persist", boolean(env, record->persists));
    napi_set_element(env, l->list, l->count++, made);
  }
  napi_close_handle_scope(env, scope);
}

/* segmentList() → [{ name, nbytes, pid, isAlive, persist }], or an error number */
napi_value sb__node_segment_list(napi_env env, napi_callback_info info) {
  listing l = {env, NULL, 0};
  (void)info;
  if (napi_create_array(env, &l.list) != napi_ok) return NULL;
  const int error = sb__segment_list(add, &l);
  return error ? sb__number(env, error) : l.list;
}

/* segmentSweep(only) → the same, of the names that were removed. only: a name; else all */
napi_value sb__node_segment_sweep(napi_env env, napi_callback_info info) {
  napi_value argument = NULL;
  char only[NAME_ROOM];
  listing l = {env, NULL, 0};
  sb__enter(env, info, 1, &argument);
  const bool is_one = name_of(env, argument, only);
  if (napi_create_array(env, &l.list) != napi_ok) return NULL;
  const int error = sb__segment_sweep(is_one ? only : NULL, add, &l);
  return error ? sb__number(env, error) : l.list;
}
