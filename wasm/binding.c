/* The WASM side of bind: the frame lies in linear memory, and JavaScript is told where. */
#include "bind/frame.h"

#define WASM_EXPORT(name) __attribute__((export_name(#name), used))

static double frame[SB__FRAME_SIZE];
static sb__binding
    binding; /* sb_frame, which is called first, completes it: no zeros in the module */

WASM_EXPORT(sb_frame) double *sb__wasm_frame(void);
WASM_EXPORT(sb_tables) const char *sb__wasm_tables(void);
WASM_EXPORT(sb_call) void sb__wasm_call(uint32_t row);

double *sb__wasm_frame(void) { return binding.frame = frame; }
const char *sb__wasm_tables(void) { return sb__tables(); }
void sb__wasm_call(uint32_t row) { sb__run(&binding, row); }
