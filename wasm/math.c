/* Arithmetic (src/math) as a module of its own. */
#include "math/math.h"

#define TABLES_NAME "sb_math_tables"
#define CALL_NAME "sb_math_call"
#define TABLES sb__math_tables
#define EXPORTS sb__math_exports
#define COUNT SB__MATH_EXPORTS
#include "side_module.inc"
