#!/usr/bin/env bash
# Builds the core with sanitizers and runs every program of this folder, and the host side of CUDA on the fake driver; the last
# line is the sum.
# With the argument arm64, for that processor, emulated, or musl, with that C library; without sanitizers.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
trap 'exit 130' INT TERM

cc=${CC:-gcc}
flags=(-DSB_TEST -std=gnu11 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
  -Wall -Wextra -ffp-contract=off -Isrc)
emulator=()
process=src/platform/linux_process.c
other=${1:-}
case $other in
  arm64)
    cc=aarch64-linux-gnu-gcc
    # The emulator makes up a start time for a process that reads its own stat, which others see otherwise; it does not know these paths.
    sed -e 's#"/proc/self/stat"#"/proc/./self/stat"#' -e 's#"/proc/%lld/stat"#"/proc/./%lld/stat"#' "$process" >"$build/linux_process.c"
    process=$build/linux_process.c
    emulator=(qemu-aarch64 -p 16384 -L /usr/aarch64-linux-gnu) # pages as large as some of these machines have
    ;;
  musl) cc=musl-gcc ;;
  generic) ;; # what systems other than Linux compile
  '') ;;
  *) echo "run: arm64, musl, generic or nothing, not $other" >&2; exit 2 ;;
esac
# Optimised like what ships, where compilers see more.
[ -z "$other" ] || flags=(-DSB_TEST -std=gnu11 -O2 -Wall -Wextra -Werror -ffp-contract=off -Isrc)
[ "$other" != generic ] || flags+=(-DSB_GENERIC_POSIX)
unset LD_PRELOAD
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=1:strict_string_checks=1:exitcode=99
export UBSAN_OPTIONS=print_stacktrace=1:exitcode=99

passed=0
failed=0

# Threads may have 128 KiB of stack, and sanitizers make frames larger.
frames=-Wframe-larger-than=24576

compile () { "$cc" "${flags[@]}" -Werror "$@"; }

# The core's objects. FOLDER [FLAGS...]
compile_core () {
  mkdir -p "$1"
  printf '%s\n' src/build.c src/core/*.c src/ops/*.c src/kernels/*.c src/bind/*.c src/{formats,ipc,interop}/*.c src/cuda/*.c src/platform/{native,posix,linux,darwin}_*.c |
    sed "s#^src/platform/linux_process.c\$#$process#" |
    FOLDER=$1 CC=$cc xargs -P "$(nproc)" -I{} bash -c 'o=${1//\//_}; "$CC" "${@:2}" -c "$1" -o "$FOLDER/$o.o"' _ {} "${@:2}" -Werror
}

if ! compile_core "$build/core" "${flags[@]}" "$frames"; then
  echo 'not ok - the core compiles'
  echo '0 passed, 1 failed'
  exit 1
fi

# A program that was built: its lines, counted. TITLE PROGRAM [ARGUMENTS...]
run () {
  local source=$1 status=0 ok bad
  "${emulator[@]}" "${@:2}" >"$build/out" 2>&1 || status=$?
  grep -av "WARNING: AddressSanitizer failed to allocate" "$build/out"
  ok=$(grep -ac '^ok' "$build/out")
  bad=$(grep -ac '^not ok' "$build/out")
  # 0: all passed; 1: some did not, and said so; anything else died on the way (or leaked).
  if [ $((ok + bad)) = 0 ] || [ $status -gt 1 ] || { [ $status = 1 ] && [ "$bad" = 0 ]; }; then
    echo "not ok - $source runs to its end (exit status $status)"
    bad=$((bad + 1))
  fi
  passed=$((passed + ok))
  failed=$((failed + bad))
}

for source in test/c/*.c; do
  name=$(basename "$source" .c)
  echo "# $name"
  if ! compile "$source" "$build"/core/*.o -lm -lpthread -o "$build/$name"; then
    echo "not ok - $source compiles"
    failed=$((failed + 1))
    continue
  fi
  run "$source" "$build/$name"
done

# The fake driver has fibers, which sanitizers do not follow.
if [ -z "$other" ]; then
  echo '# the host side of CUDA'
  mkdir -p "$build/code"
  for module in copy cast random; do echo '.version 6.3' >"$build/code/$module.ptx"; done
  export FAKECUDA=$build/libcuda_fake.so SAMEBYTES_CUDA_CODE=$build/code
  if "$cc" -std=gnu11 -O1 -g -shared -fPIC -fvisibility=hidden -fno-strict-aliasing -ffp-contract=off -Isrc -Itest/cuda \
      test/cuda/{fakecuda,emu,kernels}.c -lpthread -ldl -lm -o "$FAKECUDA" &&
    compile test/cuda/host.c "$build"/core/*.o -lm -lpthread -ldl -o "$build/host"; then
    run test/cuda/host.c "$build/host"
  else
    echo 'not ok - test/cuda/host.c compiles'
    failed=$((failed + 1))
  fi
  echo '# memory of devices that other processes have'
  if compile -Itest/cuda test/cuda/vram.c "$build"/core/*.o -lm -lpthread -ldl -o "$build/vram"; then
    run test/cuda/vram.c "$build/vram"
  else
    echo 'not ok - test/cuda/vram.c compiles'
    failed=$((failed + 1))
  fi
fi

if [ -z "$other" ]; then
  export TSAN_OPTIONS=exitcode=99
  flags=("${flags[@]/-fsanitize=address,undefined/-fsanitize=thread}")
  if ! compile_core "$build/tsan" "${flags[@]}"; then
    echo 'not ok - the core compiles for ThreadSanitizer'
    failed=$((failed + 1))
  fi
  for name in threads parcels dlpack ring; do
    echo "# $name, under ThreadSanitizer"
    if compile "test/c/$name.c" "$build"/tsan/*.o -lm -lpthread -ldl -o "$build/$name-tsan"; then
      run "test/c/$name.c under ThreadSanitizer" "$build/$name-tsan"
    else
      echo "not ok - test/c/$name.c compiles for ThreadSanitizer"
      failed=$((failed + 1))
    fi
  done
  echo '# the host side of CUDA, under ThreadSanitizer'
  # Its atomics have to be seen; what it runs there has no kernels.
  if "$cc" -std=gnu11 -O1 -g -shared -fPIC -fvisibility=hidden -fno-strict-aliasing -fsanitize=thread -Isrc -Itest/cuda \
      test/cuda/{fakecuda,emu,kernels}.c -lpthread -ldl -lm -o "$FAKECUDA" &&
    compile test/cuda/host.c "$build"/tsan/*.o -lm -lpthread -ldl -o "$build/host-tsan"; then
    run 'test/cuda/host.c under ThreadSanitizer' "$build/host-tsan" threads
  else
    echo 'not ok - test/cuda/host.c compiles for ThreadSanitizer'
    failed=$((failed + 1))
  fi
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
