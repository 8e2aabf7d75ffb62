#!/usr/bin/env bash
# Compares what the loops of all levels make of the same inputs. With CC=aarch64-linux-gnu-gcc and RUN=qemu-aarch64 those of NEON are compared
# with hashes that this machine's own loops printed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. test/math/compile.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CC=gcc compile "$folder" hash
"$folder/hash" scalar > "$folder/wanted"
status=0
compare () { # LEVEL
  if diff "$folder/wanted" "$folder/made" > "$folder/difference"; then echo "$1: $(wc -l < "$folder/made") hashes agree"; else
    echo "$1:"; cat "$folder/difference"; status=1
  fi
}
for level in avx2 avx512; do
  grep -qs "$level" /proc/cpuinfo || continue
  "$folder/hash" "$level" > "$folder/made"
  compare "$level"
done
if [ -n "${RUN:-}" ]; then
  mkdir "$folder/other"
  compile "$folder/other" hash -static
  $RUN "$folder/other/hash" > "$folder/made"
  compare "$CC"
fi
exit $status
