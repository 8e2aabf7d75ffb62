#!/usr/bin/env bash
# Packs the package, installs the tarball in an empty folder with no network and no scripts, and
# runs the first example there: ES module and CommonJS, native and WebAssembly, and its types.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
root=$PWD

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export npm_config_cache=$scratch/cache npm_config_update_notifier=false
unset SAMEBYTES_BINARY SAMEBYTES_BACKEND NODE_PATH

passed=0
failed=0
try () { # TITLE COMMAND...
  local title=$1
  shift
  if "$@" >"$scratch/log" 2>&1; then
    echo "ok - $title"
    passed=$((passed + 1))
  else
    echo "not ok - $title"
    sed 's/^/    /' "$scratch/log"
    failed=$((failed + 1))
    return 1
  fi
}

pack () {
  bash .ci/build package &&
    npm pack --ignore-scripts --loglevel=error --pack-destination "$scratch" &&
    mv "$scratch"/samebytes-*.tgz "$scratch/samebytes.tgz"
}

contents () { # what users need is there; what would make npm build or bloat is not
  local list file ok=0 prebuilt
  prebuilt=prebuilds/$(node -p 'process.platform+"-"+process.arch')
  list=$(tar -tzf "$scratch/samebytes.tgz" | sed 's|^package/||' | sort)
  for file in LICENSE README.md package.json js/index.js js/index.mjs types/index.d.ts types/index.d.mts \
    dist/samebytes.mjs dist/samebytes-inline.mjs dist/samebytes-module.mjs dist/samebytes-inline-module.mjs js/module.js js/module.mjs types/module.d.ts types/module.d.mts dist/samebytes.wasm dist/samebytes-shared.wasm js/native-paths.js js/native-paths.mjs \
    types/native-paths.d.ts types/native-paths.d.mts src/samebytes.h src/samebytes_napi.h src/samebytes_torch.h "$prebuilt/samebytes.node" "$prebuilt/libsamebytes.so.1"; do
    grep -qxF "$file" <<<"$list" || { echo "missing: $file"; ok=1; }
  done
  if grep -E '^(binding\.gyp|test/|build|examples/|\.ci/|src/.*\.c$|.*\.stamp$)' <<<"$list"; then
    echo 'the files above should not be in the package'
    ok=1
  fi
  return $ok
}

install () (
  mkdir "$scratch/app" && cd "$scratch/app" &&
    echo '{ "name": "app", "version": "1.0.0", "private": true }' >package.json &&
    npm install --offline --ignore-scripts --no-audit --no-fund --loglevel=error "$scratch/samebytes.tgz" &&
    write_examples
)

write_examples () {
  local body='
const m = tensor([1, 2, 3, 4, 5, 6], [2, 3], { dtype: "float32" })
const t = m.permute([1, 0])
m.set(7, 0, 2)
if (t.get(2, 0) !== 7) throw new Error("the view does not show what was written")
t.set(8, 1, 1)
if (m.get(1, 1) !== 8) throw new Error("the tensor does not show what the view wrote")
if (backend() !== process.argv[2]) throw new Error("backend is " + backend())
'
  { echo 'import { backend, tensor } from "samebytes"'; echo "$body"; } >esm.mjs
  { echo 'const { backend, tensor } = require("samebytes")'; echo "$body"; } >cjs.cjs
  cat >both.mjs <<'JS'
import { createRequire } from 'node:module'
import * as esm from 'samebytes'
const cjs = createRequire(import.meta.url)('samebytes')
for (const name of Object.keys(cjs)) {
  if (esm[name] !== cjs[name]) throw new Error(`${name} is not the same in both`)
}
JS
  cat >subpaths.cjs <<'JS'
const wasm = require('node:fs').readFileSync(require.resolve('samebytes/samebytes.wasm'))
if (!WebAssembly.validate(wasm)) throw new Error('samebytes.wasm is not valid')
require('samebytes/package.json')
const fs = require('node:fs')
const { include, library } = require('samebytes/native')
for (const header of ['samebytes.h', 'samebytes_napi.h', 'samebytes_torch.h']) fs.accessSync(include + '/' + header)
if (!library.endsWith('.so.1')) throw new Error(`library is ${library}`)
fs.accessSync(library)
JS
  cat >esm.mts <<'TS'
import { tensor } from 'samebytes'
const m = tensor([1, 2, 3, 4, 5, 6], [2, 3], { dtype: 'float32' })
export const shape: readonly number[] = m.permute([1, 0]).shape
TS
  cp esm.mts cjs.cts
}

# The example as its reader would build it, by the compiler alone: it links to nothing.
build_addon () { # ROOT
  set -e
  headers=$(node -p 'path.dirname(path.dirname(fs.realpathSync(process.execPath)))')/include/node
  [ -f "$headers/node_api.h" ] || headers=$(ls -d "$1"/node_modules/.cache/node-headers-*/include/node "$HOME"/.cache/node-gyp/*/include/node 2>/dev/null | head -1)
  mkdir -p build/Release
  ${CC:-gcc} -std=gnu11 -Wall -Wextra -Werror -O2 -shared -fPIC -DNAPI_VERSION=8 -I"$headers" -I"$(node -p "require('samebytes/native').include")" "$1/examples/addon/levels.c" -o build/Release/levels.node
  cp "$1/examples/addon/index.js" levels.cjs
  node levels.cjs | grep -F '204, 255,   7,   7'
  cat >linked.c <<'C'
#include <samebytes.h>
int main(void) {
  const int64_t shape[] = {2, 3};
  sb_tensor t;
  if (sb_tensor_empty(SB_FLOAT32, 2, shape, &t)) return 1;
  const sb_scalar value = {.kind = SB_SCALAR_REAL, .as.real = 7};
  const int failed = sb_fill(&t, &value) || ((float *)sb_tensor_data(&t))[5] != 7;
  sb_tensor_release(&t);
  return failed;
}
C
  library=$(node -p "require('samebytes/native').library")
  ${CC:-gcc} -std=gnu11 -Wall -Wextra -Werror -I"$(node -p "require('samebytes/native').include")" linked.c "$library" -Wl,-rpath,"$(dirname "$library")" -o linked
  ./linked
}

in_app () (cd "$scratch/app" && "$@")
types () ( # LIBRARIES
  cp "$root"/test/types/*.?ts "$scratch/app" && cd "$scratch/app" &&
    node "$root/node_modules/typescript/bin/tsc" --noEmit --strict --target es2023 --lib "$1" --module nodenext \
      --typeRoots "$root/node_modules/@types" --types node *.mts *.cts
)

report () {
  echo "$passed passed, $failed failed"
  [ $failed = 0 ]
  exit
}

try 'packs' pack || report
try 'holds the files that belong in it' contents
try 'installs offline, without scripts' install || report
for backend in native wasm; do
  # The native back end is what a user gets without asking.
  with=(env)
  [ $backend = native ] || with=(env SAMEBYTES_BACKEND=$backend)
  try "runs as an ES module on $backend" in_app "${with[@]}" node esm.mjs $backend
  try "runs as CommonJS on $backend" in_app "${with[@]}" node cjs.cjs $backend
  try "is one instance for both on $backend" in_app "${with[@]}" node both.mjs
done
try 'exports its subpaths' in_app node subpaths.cjs
try 'builds and loads an addon against it' in_app bash -c "$(declare -f build_addon); build_addon '$root'"
try 'has types for both' types es2023,esnext.disposable,esnext.float16,dom
try 'has types for older programs' types es2022,dom
report
