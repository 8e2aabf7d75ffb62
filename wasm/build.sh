#!/usr/bin/env bash
# Builds dist/samebytes.wasm and dist/samebytes-shared.wasm: the C core over linear memory of one thread, and
# over memory that threads share. SIMD, standalone, with an imported memory so that the loader (js/backend/wasm.js)
# sees it grow. And dist/samebytes-parsers.wasm: the parsers of files over a small memory of its own; dist/samebytes-math.wasm
# and dist/samebytes-math-shared.wasm: arithmetic over the memory of one of the first two; dist/samebytes-algorithms.wasm and
# dist/samebytes-algorithms-shared.wasm: algorithms in the same way. SB_TEST=1 in the environment adds the test rows. As
# arguments: which of plain, shared, parsers, math and algorithms.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
objects=$(mktemp -d)
trap 'rm -rf "$objects"' EXIT

flags=(-Isrc -std=gnu11 -ffp-contract=off -mbulk-memory -msimd128 ${SB_TEST:+-DSB_TEST}
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wmissing-declarations -Wvla -Wundef)
shared=(-matomics -mmutable-globals)

# Element loops and what each call goes through (its operands) for speed, the rest for size, with -Oz where that is as fast.
compile () { # FLAG... FILE
  local name=${*: -1}
  emcc -c "${flags[@]}" "$@" -o "$objects/${name//\//_}.o"
}

compile_all () { # FLAG...
  local file level
  rm -f "$objects"/*.o
  for file in src/kernels/*.c; do
    level=-O3
    [ "$file" = src/kernels/kernels.c ] && level=-O2 # as fast, and 2 KB smaller
    compile "$level" -fno-unroll-loops "$@" "$file"
  done
  for file in src/core/*.c src/ops/*.c src/bind/*.c src/{formats,ipc,interop}/*.c src/platform/{heap,wasm}.c wasm/binding.c; do
    level=-Os
    case $file in
      src/bind/call_frame.c | src/bind/exports.c | src/core/tensor.c) level=-O2 ;;
      src/platform/heap.c) level=-O3 ;;
      src/formats/* | src/ipc/* | src/interop/* | src/ops/series.c | src/ops/take.c | src/ops/move_few.c | src/core/shape.c | src/core/views.c | src/core/overlap.c) level=-Oz ;;
    esac
    case $file in # loops over a few axes: as vectors they are longer, not faster
      src/core/* | src/bind/* | src/ops/move_few.c) compile "$level" -fno-vectorize -fno-slp-vectorize -fno-unroll-loops "$@" "$file" ;;
      *) compile "$level" "$@" "$file" ;;
    esac
  done
}

# platform/heap.c stands in for the tool chain's allocator, which gives out memory beyond the last page, and has a lock
# that a terminated thread may leave behind. What the module imports of the loader, the tool chain does not know.
link_module () { # NAME FLAG...
  local name=$1 exports
  shift
  exports=$(core_functions | grep -vxFf <(sed -nE 's/^WASM_EXPORT\((\w+)\).*/\1/p' wasm/binding.c) | sed 's/^/-Wl,--export=/')
  # shellcheck disable=SC2086
  emcc -O3 -mbulk-memory -msimd128 "$objects"/*.o "$@" \
    --no-entry -sSTANDALONE_WASM -sMALLOC=none -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=4GB -sIMPORTED_MEMORY \
    -sINITIAL_MEMORY=1MB -sTOTAL_STACK=262144 -sERROR_ON_UNDEFINED_SYMBOLS=0 -sWARN_ON_UNDEFINED_SYMBOLS=0 $exports -o "dist/$name.wasm"
  hoist "dist/$name.wasm"
}

# What arithmetic calls.
core_functions () {
  printf 'sb__fail\nsb__run_begin\nsb__run_end\n'
  printf '#define FUNCTION(name, ...) name\n#define VOID(name, ...) name\n#include "bind/core_functions.def"\n' |
    emcc -E -P -Isrc -x c - | grep -v '^ *$'
}

# By way of text, after the linker's optimizations: they would put the constants back.
hoist () { # MODULE
  local features=(--mvp-features --enable-simd --enable-bulk-memory --enable-threads --enable-mutable-globals) tools
  tools=$(em-config BINARYEN_ROOT)/bin
  "$tools/wasm-dis" "${features[@]}" "$1" -o "$objects/module.wat"
  node wasm/hoist.mjs "$objects/module.wat"
  "$tools/wasm-opt" "${features[@]}" --merge-blocks --coalesce-locals --reorder-locals "$objects/module.wat" -o "$1"
  [ "$1" = dist/samebytes-shared.wasm ] || return 0
  "$tools/wasm-dis" "${features[@]}" "$1" -o "$objects/module.wat"
  node wasm/straight.mjs "$objects/module.wat"
  "$tools/wasm-as" "${features[@]}" "$objects/module.wat" -o "$1"
}

plain () {
  compile_all
  link_module samebytes
}

shared () {
  compile_all "${shared[@]}"
  link_module samebytes-shared "${shared[@]}" -Wl,--shared-memory -Wl,--no-check-features \
    -Wl,--export=__wasm_init_tls -Wl,--export=__tls_size
}

# Links what was compiled to two modules over the main one's memory; OPTION is hoist.mjs's.
# Position-independent: stack and data are where the loader puts them; the section dylink.0 says how much of each. The tools
# lose it on the way through text. The module for shared memory is the same code: each thread has data of its own.
link_side () { # NAME OPTION...
  local module=dist/samebytes-$1 text=$objects/module.wat tools
  shift
  local features=(--mvp-features --enable-simd --enable-bulk-memory --enable-threads --enable-mutable-globals)
  tools=$(em-config BINARYEN_ROOT)/bin
  { core_functions; echo sb_binding; } >"$objects/imports"
  wasm-ld -shared --no-entry --experimental-pic --allow-undefined-file="$objects/imports" --strip-debug "$objects"/*.o -o "$objects/linked.wasm"
  "$tools/wasm-dis" "${features[@]}" "$objects/linked.wasm" -o "$text"
  node wasm/table.mjs "$text"
  "$tools/wasm-opt" "${features[@]}" -O3 -S "$text" -o "$text"
  sed -i -E '/^ \(export "sb__/d' "$text"
  node wasm/hoist.mjs "$text" "$@"
  "$tools/wasm-as" "${features[@]}" "$text" -o "$module.wasm"
  sed -i -E 's/\(import "env" "memory" \(memory (\S+) ([0-9]+)\)\)/(import "env" "memory" (memory \1 (shared \2 65536)))/' "$text"
  "$tools/wasm-as" "${features[@]}" "$text" -o "$module-shared.wasm"
  node wasm/dylink.mjs "$objects/linked.wasm" "$module.wasm" "$module-shared.wasm"
}

compile_side () { # FLAG... FILE
  compile -fPIC -fvisibility=hidden -fno-math-errno -fno-unroll-loops -Wno-pass-failed "$@"
}

cold=(-Oz -fno-vectorize -fno-slp-vectorize)

# Files of src/math in each of the two modules, circular.c in both; the hot ones are compiled for speed.
math_files=(cumulate dispatch elementwise exports indexing lines mixed reduce reduce_results reduce_types rules select softmax tiles)
math_hot=(circular complex simd128 whole)
algorithms_files=(algorithms boxes cores fft fft_plan interp linalg linalg_factor linalg_loops linalg_spectra matmul pad search signals sort vectors)
algorithms_hot=(circular fft_levels matmul_base resize)

# NAME: the module's objects
side () {
  local -n files=$1_files hot=$1_hot
  local name
  rm -f "$objects"/*.o
  for name in "${files[@]}"; do compile_side "${cold[@]}" "src/math/$name.c"; done
  for name in "${hot[@]}"; do compile_side -O2 "src/math/$name.c"; done
  compile_side "${cold[@]}" "wasm/$1.c"
}

math () {
  side math
  link_side math '^(?!(exp|log|sin|cos)_).*_groups_f64$'
}

algorithms () {
  side algorithms
  link_side algorithms '^$' --if-any
}

# For size. It imports nothing; what the tool chain exports for its own loader goes, and then what only that used.
parsers () {
  local name module=dist/samebytes-parsers.wasm text=$objects/parsers.wat tools
  local features=(--mvp-features --enable-bulk-memory --enable-nontrapping-float-to-int --enable-sign-ext)
  tools=$(em-config BINARYEN_ROOT)/bin
  rm -f "$objects"/*.o
  for name in src/formats/{formats,parse,npy,safetensors,gguf,zip}.c wasm/parsers.c; do
    compile -Oz -mno-simd128 -mnontrapping-fptoint -msign-ext "$name"
  done
  emcc -Oz -mbulk-memory -mnontrapping-fptoint -msign-ext "$objects"/*.o --no-entry -sSTANDALONE_WASM -sMALLOC=none \
    -sALLOW_MEMORY_GROWTH -sMAXIMUM_MEMORY=2GB -sINITIAL_MEMORY=64KB -sTOTAL_STACK=16384 -o "$module"
  "$tools/wasm-dis" "${features[@]}" "$module" -o "$text"
  sed -i -E '/^ \(export "(__|_initialize|stack)/d' "$text"
  "$tools/wasm-opt" "${features[@]}" -Oz --converge "$text" -o "$module"
}

mkdir -p dist
[ $# -gt 0 ] || set -- plain shared parsers math algorithms
for module in "$@"; do $module; done
