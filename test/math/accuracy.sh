#!/usr/bin/env bash
# How far functions of float64, and functions of two arguments of float32, are off at most, beside MPFR.
#
#   bash test/math/accuracy.sh float64|float32 COUNT [NAME...]     float64: a million arguments of all take minutes; float32: ten million
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. test/math/compile.sh
echo '#include <mpfr.h>' | ${CC:-gcc} -E - >/dev/null 2>&1 || { echo 'MPFR is missing: libmpfr-dev' >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
compile "$folder" accuracy -DHAVE_MPFR=1 -lmpfr -lgmp
"$folder/accuracy" "$@"
