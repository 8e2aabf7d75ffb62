/* The lists that JavaScript derives its own from, as one JSON text put together by the preprocessor. */
#include "bind/frame.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

/* Numbers are the positions in each list, except where they are written out. */
static const char tables[] =
    "{\"version\":\"" SB_VERSION
    "\",\"maxDims\":" TEXT(SB_MAX_DIMS) ",\"alignment\":" TEXT(SB_ALIGNMENT) ",\"dtypes\":["
#define X(constant, tag, name, type, kind) "[\"" name "\",\"" #kind "\"],"
    SB_DTYPES(X)
#undef X
        "null],\"errors\":["
#define X(code, class, meaning) "[\"" #code "\",\"" #class "\"],"
    SB_ERRORS(X)
#undef X
        "null],\"rows\":["
#define EXPORT(name, signature, call) "[\"" #name "\",\"" signature "\"],"
#include "bind/exports.def"
#undef EXPORT
        "null],\"frame\":{"
#define X(name, at, count) "\"" #name "\":" #at ","
    SB__FRAME(X)
#undef X
#define X(name, at) "\"" #name "\":" #at ","
        SB__OPERAND(X)
#undef X
            "\"\":0},\"head\":{"
#define X(name, at) "\"" #name "\":" #at ","
    SB__HEAD(X)
#undef X
        "\"\":0}}";

const char *sb__tables(void) { return tables; }
