/* Algorithms (of src/math) as a module of their own. */
#include "math/algorithms.h"

#define TABLES_NAME "sb_algorithms_tables"
#define CALL_NAME "sb_algorithms_call"
#define TABLES sb__algorithm_tables
#define EXPORTS sb__algorithms
#define COUNT SB__ALGORITHMS
#include "side_module.inc"
