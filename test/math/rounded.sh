#!/usr/bin/env bash
# Are float32 functions those of float64, rounded? WebAssembly computes them so. All arguments, or each STEP-th (hexadecimal), take as long as
# in exhaustive.sh.
#
#   bash test/math/rounded.sh [STEP [NAME...]]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. test/math/compile.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
compile "$folder" rounded
"$folder/rounded" "${@:-1}"
