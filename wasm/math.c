/* Arithmetic as a module of its own (src/math), over the main module's memory. It calls that module by the functions that
 * bind/core_functions.def lists. Each thread has an instance, whose stack, static data and table of functions no other instance uses
 * (js/backend/wasm-math.js places them): the stack ends where the data begins. */
#include "math/math.h"

#define WASM_EXPORT(name) __attribute__((export_name(#name), used))

/* The main module's: makes its stack empty, and returns what this thread's calls use. */
sb__binding *sb_binding(void);

WASM_EXPORT(sb_math_tables) const char *sb__wasm_math_tables(void);
WASM_EXPORT(sb_math_call) void sb__wasm_math_call(uint32_t row);

const char *sb__wasm_math_tables(void) { return sb__math_tables(); }

static __attribute__((noinline)) void run(uint32_t row) {
  sb__binding *b = sb_binding();
  if (row >= SB__MATH_EXPORTS) {
    sb__run_end(b, "", sb__fail(SB_ERR_ARGUMENT, "there is no function %u", row));
    return;
  }
  const char *signature = sb__math_exports[row].signature;
  sb_status status = sb__run_begin(b, &signature);
  if (!status) status = sb__math_exports[row].run(b);
  sb__run_end(b, signature, status);
}

__asm__(".globaltype __stack_pointer, i32\n.globaltype __memory_base, i32, immutable\n");

/* Resets the stack pointer, for the same reason as sb__wasm_call. Has no part of the stack itself. */
void sb__wasm_math_call(uint32_t row) {
  __asm__ volatile("global.get __memory_base\nglobal.set __stack_pointer");
  run(row);
}

/* ---- Replaces what natively is the core's or libc's ---- */

/* The main module cannot call a function of this one: their tables differ. A call uses one thread. */
int sb__threads_now(void) { return 1; }

void sb__parallel(int count, void (*part)(void *context, int i), void *context) {
  for (int i = 0; i < count; i++) part(context, i);
}

uint32_t sb__float_mode_default(void) { return 0; }
void sb__float_mode_restore(uint32_t mode) { (void)mode; }

int memcmp(const void *a, const void *b, size_t nbytes) {
  const unsigned char *x = a, *y = b;
  for (size_t i = 0; i < nbytes; i++)
    if (x[i] != y[i]) return x[i] - y[i];
  return 0;
}
