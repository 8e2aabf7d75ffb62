/* The table that exports.def becomes. */
#ifndef SB_EXPORTS_H
#define SB_EXPORTS_H

#include "bind/frame.h"

typedef struct sb__export {
  const char *signature;
  sb_status (*run)(sb__binding *b);
} sb__export;

extern const sb__export sb__exports[SB__OPCODES];

#endif
