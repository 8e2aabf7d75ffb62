/* Functions of another addon (samebytes_math) that are called as the rows of exports.def are: by numbers above the core's, with the
 * same call buffer and the same checks of operands. In WebAssembly modules over the same memory have them (wasm/side_module.inc). */
#ifndef SB_EXTENSION_H
#define SB_EXTENSION_H

#include "bind/exports.h"
#include "ops/copy_plan_run.h"
#include "ops/move_few.h"
#include "ops/parallel.h"

/* Reads the operands that a signature names, up to its results, where it leaves the signature. */
sb_status sb__run_begin(sb__binding *b, const char **signature);

/* Checks guarded operands again, and writes results, or the failure. */
void sb__run_end(sb__binding *b, const char *results, sb_status status);

#ifndef __wasm__

/* What the other addon gets: by an external with SB__CORE_TAG, and only if it was built from the same sources. */
typedef struct sb__core_table {
  const char *version, *build;                               /* build: a hash of the sources */
  void (*extend)(const sb__export *exports, uint32_t count); /* static; the last one given counts */
  sb_status (*fail)(sb_status status, const char *text);
# define FUNCTION(name, result, parameters, arguments) result(*name) parameters;
# define VOID(name, parameters, arguments) void(*name) parameters;
# include "bind/core_functions.def"
# undef FUNCTION
# undef VOID
} sb__core_table;

# define SB__CORE_TAG \
  { 0x6f1c5a3be8b94d02, 0x9a7e41d3c5f20b68 }

extern const sb__core_table sb__core;

/* build.c: the hash that this library was compiled with. */
extern const char sb__build[];

/* The exports from SB__OPCODES on; NULL: there is no such one. */
const sb__export *sb__extension_at(uint32_t opcode);
#endif

#endif
