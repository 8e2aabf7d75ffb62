#!/usr/bin/env bash
# Checks float32 functions of one argument for every argument, or for each STEP-th (hexadecimal; 40 takes seconds). All take half an hour.
#
#   bash test/math/exhaustive.sh [STEP [NAME...]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. test/math/compile.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
step=${1:-1}
shift || true
[ $# -gt 0 ] || set -- sqrt reciprocal square exp expm1 log log1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf sigmoid silu gelu
if echo '#include <mpfr.h>' | ${CC:-gcc} -E - >/dev/null 2>&1; then
  compile "$folder" exhaustive -DHAVE_MPFR=1 -lmpfr -lgmp
else
  compile "$folder" exhaustive -lquadmath
fi
export LEVEL
for LEVEL in avx512 avx2 scalar neon; do "$folder/exhaustive" sqrt 0 0 1 >/dev/null 2>&1 && break; done
status=0
for name in "$@"; do "$folder/exhaustive" "$name" 0 ffffffff "$step" || status=1; done
exit $status
