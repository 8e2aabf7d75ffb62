#!/usr/bin/env bash
# Builds dist/samebytes.wasm: the C core over linear memory, SIMD, standalone, with an imported memory
# so that the loader (js/wasm.js) sees it grow. SB_TEST=1 in the environment adds the test rows.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mkdir -p dist
exec emcc src/core/*.c src/ops/*.c src/kernels/*.c src/bind/*.c src/platform/wasm.c wasm/binding.c \
  -Isrc -std=gnu11 -O3 -fno-unroll-loops -ffp-contract=off ${SB_TEST:+-DSB_TEST} \
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wmissing-declarations -Wvla -Wundef \
  --no-entry -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sIMPORTED_MEMORY \
  -sINITIAL_MEMORY=1MB -sTOTAL_STACK=262144 -sMALLOC=emmalloc -mbulk-memory -msimd128 \
  -o dist/samebytes.wasm
