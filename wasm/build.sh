#!/usr/bin/env bash
# Builds dist/samebytes.wasm: the C core over linear memory, SIMD, standalone, with an imported memory
# so that the loader (js/wasm.js) sees it grow. SB_TEST=1 in the environment adds the test rows.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

flags=(-Isrc -std=gnu11 -ffp-contract=off -mbulk-memory -msimd128 ${SB_TEST:+-DSB_TEST}
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wmissing-declarations -Wvla -Wundef)

# Element loops and what each call goes through (its operands) for speed, the rest for size.
compile () { # FLAG... FILE
  local name=${*: -1}
  emcc -c "${flags[@]}" "$@" -o "$objects/${name//\//_}.o"
}
for file in src/kernels/*.c; do
  level=-O3
  [ "$file" = src/kernels/kernels.c ] && level=-O2 # as fast, and 2 KB smaller
  compile "$level" -fno-unroll-loops "$file"
done
for file in src/core/*.c src/ops/*.c src/bind/*.c src/platform/wasm.c wasm/binding.c; do
  level=-Os
  case $file in src/bind/run.c | src/core/tensor.c) level=-O2 ;; esac
  compile "$level" "$file"
done

mkdir -p dist
emcc -O3 -mbulk-memory -msimd128 "$objects"/*.o \
  --no-entry -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sIMPORTED_MEMORY \
  -sINITIAL_MEMORY=1MB -sTOTAL_STACK=262144 -sMALLOC=emmalloc \
  -o dist/samebytes.wasm
