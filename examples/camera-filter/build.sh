#!/usr/bin/env bash
# Compiles edges.c to build/edges.wasm, over an imported memory: samebytes'. Nothing in it may need a place of its own there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
mkdir -p build
if [ build/edges.wasm -nt edges.c ] && [ build/edges.wasm -nt build.sh ]; then exit; fi
emcc -O3 -msimd128 -Wall -Wextra -Wconversion -Wshadow -Werror edges.c -o build/edges.$$.wasm \
  --no-entry -sSTANDALONE_WASM -sIMPORTED_MEMORY -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=1MB -sTOTAL_STACK=65536 -sMAXIMUM_MEMORY=4GB
mv build/edges.$$.wasm build/edges.wasm
