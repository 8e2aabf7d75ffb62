#!/usr/bin/env bash
# Fuzzes each parser of files for so many seconds (5 unless told); the last line is the sum. The same files each time,
# unless FUZZ_SEED in the environment says otherwise (0: others each time).
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

seconds=${1:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
unset LD_PRELOAD

cc=$(command -v clang-14 || command -v clang)
flags=(-std=gnu11 -g -O1 -Isrc -Wall -Wextra -Werror -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
passed=0
failed=0

/usr/bin/python3 test/c/fuzz/corpus.py "$scratch" || exit 1
formats=(npy safetensors gguf zip-end zip-directory zip-member)
for i in "${!formats[@]}"; do
  name=${formats[i]}
  if "$cc" "${flags[@]}" -DFORMAT="$i" test/c/fuzz/formats.c src/formats/{formats,parse,npy,safetensors,gguf,zip}.c src/core/error.c \
      -o "$scratch/fuzz-$name" &&
    "$scratch/fuzz-$name" -seed="${FUZZ_SEED:-1}" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
      -artifact_prefix="$scratch/" "$scratch/$name" >"$scratch/log" 2>&1; then
    echo "ok - $name, $(grep -oE 'number_of_executed_units: [0-9]+' "$scratch/log" | grep -oE '[0-9]+$') files"
    passed=$((passed + 1))
  else
    echo "not ok - $name"
    cat "$scratch/log"
    for file in "$scratch"/crash-* "$scratch"/timeout-* "$scratch"/oom-*; do
      [ -f "$file" ] && base64 -w 0 "$file" && echo && rm "$file"
    done
    failed=$((failed + 1))
  fi
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
