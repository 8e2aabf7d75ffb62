#!/usr/bin/env bash
# Builds the planner and all kernels, for the emulator, with sanitizers, and compares them with the core. The last line is
# the sum. An argument is a factor for the number of cases.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
trap 'exit 130' INT TERM

cc=${CC:-gcc}
flags=(-DSB_TEST -std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -Werror
  -Wall -Wextra -ffp-contract=off -fno-strict-aliasing -Isrc -Itest/cuda)
unset LD_PRELOAD
# Fibers have stacks of their own.
export ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=0:exitcode=99
export UBSAN_OPTIONS=print_stacktrace=1:exitcode=99

if ! printf '%s\n' src/core/*.c src/ops/*.c src/kernels/*.c src/platform/{native,posix,linux}_*.c src/cuda/plan.c \
    test/cuda/{emu,kernels,emu_test,plan}.c |
  BUILD=$build CC=$cc xargs -P "$(nproc)" -I{} bash -c \
    'o=${1//\//_}; "$CC" "${@:2}" -c "$1" -o "$BUILD/$o.o"' _ {} "${flags[@]}" ||
  ! "$cc" "${flags[@]}" "$build"/src_*.o "$build"/test_cuda_{emu,kernels,plan}.c.o -lm -lpthread -o "$build/plan" ||
  ! "$cc" "${flags[@]}" "$build"/test_cuda_{emu,emu_test}.c.o -lpthread -o "$build/emu_test"; then
  echo 'not ok - kernels, planner and emulator compile'
  echo '0 passed, 1 failed'
  exit 1
fi

passed=0
failed=0
run () { # TITLE PROGRAM ARGUMENTS...
  local title=$1 status=0 ok bad
  shift
  echo "# $title"
  "$@" >"$build/out" 2>&1 || status=$?
  cat "$build/out"
  ok=$(grep -ac '^ok' "$build/out")
  bad=$(grep -ac '^not ok' "$build/out")
  if [ $((ok + bad)) = 0 ] || [ $status -gt 1 ] || { [ $status = 1 ] && [ "$bad" = 0 ]; }; then
    echo "not ok - $title: runs to its end (exit status $status)"
    bad=$((bad + 1))
  fi
  passed=$((passed + ok))
  failed=$((failed + bad))
}

run 'the emulator' "$build/emu_test"
for order in 0 1 9; do # threads as they are numbered, backwards, shuffled; each with cases of its own
  run "kernels, threads in order $order" env EMU_ORDER=$order "$build/plan" "${1:-1}" "$order"
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
