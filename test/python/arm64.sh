#!/usr/bin/env bash
# The Python package on 64-bit ARM, emulated, beside Node on this processor: test/native/python-package.test.js with another Python.
#
#   bash test/python/arm64.sh [options of test/run.js]
#
# Python and NumPy are Debian's for arm64, fetched by apt-get into a folder of their own: nothing is installed, and the lists of the
# system stay as they are. The library is compiled here; bash scripts/setup full has compiler and emulator.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

for name in apt-get dpkg aarch64-linux-gnu-gcc qemu-aarch64; do
  command -v "$name" >/dev/null || { echo "arm64: $name is missing; first: bash scripts/setup full" >&2; exit 1; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

mkdir -p "$folder"/{lists,archives}/partial "$folder"/{root,state,src}
apt () {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$folder/state" -o Dir::State::Lists="$folder/lists" \
    -o Dir::Cache="$folder" -o Dir::Cache::archives="$folder/archives" -o Dir::State::status=/dev/null -o Debug::NoLocking=1 \
    -o APT::Sandbox::User= "$@" </dev/null >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }
}
apt update
apt --yes --no-install-recommends --download-only install python3 python3-numpy
for package in "$folder"/archives/*.deb; do dpkg -x "$package" "$folder/root"; done

# The emulator makes up a start time for a process that reads its own stat, which is not the one that others see; it does not know these paths.
cp -R src/. "$folder/src"
sed -i -e 's#"/proc/self/stat"#"/proc/./self/stat"#' -e 's#"/proc/%lld/stat"#"/proc/./%lld/stat"#' "$folder/src/platform/linux_process.c"
(
  cd "$folder"
  aarch64-linux-gnu-gcc -std=gnu11 -O1 -fPIC -shared -fvisibility=hidden -ffp-contract=off -Isrc -o libsamebytes.so.1 \
    src/build.c src/{core,ops,kernels,formats,ipc,interop,cuda}/*.c src/platform/{native,posix,linux}_*.c -Wl,-z,defs -lm -lpthread -ldl
)
places=/usr/lib/aarch64-linux-gnu
cat >"$folder/python3" <<END
#!/bin/sh
exec qemu-aarch64 -L '$folder/root' -E LD_LIBRARY_PATH=$places/blas:$places/lapack "\$(readlink -f '$folder/root/usr/bin/python3')" "\$@"
END
chmod +x "$folder/python3"
machine=$(PYTHONDONTWRITEBYTECODE=1 "$folder/python3" -c 'import platform, numpy; print(platform.machine(), platform.python_version(), numpy.__version__)')
echo "# Python on $machine"
[ "${machine%% *}" = aarch64 ]
PYTHON=$folder/python3 SAMEBYTES_LIBRARY=$folder/libsamebytes.so.1 node test/run.js test/native/python-package.test.js --backend native "$@"
