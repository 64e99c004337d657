#!/usr/bin/env bash
# Installs a build into a fresh prefix and uses it as a stranger would: pkg-config, find_package, C11 and C++; looks at what
# libtile.so exports and at what a release tilec needs.
#   tests/install/check.sh BUILD
set -eu
build=$(realpath "$1")
cd "$(dirname "$0")"
prefix=$(mktemp -d) && trap 'rm -rf "$prefix"' EXIT
fail() { echo "install: $*"; exit 1; }
cmake --install "$build" --prefix "$prefix" >/dev/null
lib=$(dirname "$(find "$prefix" -name libtile.so | head -1)")
[ -x "$prefix/bin/tilec" ] && [ -f "$prefix/include/tile/tile.h" ] && [ -f "$lib/pkgconfig/libtile.pc" ] || fail "files are missing"

sed -i "s|^prefix=.*|prefix=$prefix|" "$lib/pkgconfig/libtile.pc"
if command -v pkg-config >/dev/null; then flags=$(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs libtile); else flags="-I$prefix/include -L$lib -ltile"; fi
# Who links a library with a sanitizer inside needs its runtime too.
sanitize=
if grep -q 'TILE_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then sanitize=-fsanitize=address,undefined; fi
flags="$flags $sanitize"
# shellcheck disable=SC2086
cc -std=c11 -pedantic -Wall -Wextra -Werror consumer.c -o "$prefix/c" $flags
# shellcheck disable=SC2086
c++ -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror consumer.c -x none -o "$prefix/cxx" $flags
for program in c cxx; do [ "$(LD_LIBRARY_PATH=$lib "$prefix/$program")" = ok ] || fail "$program failed"; done
cmake -G Ninja -S . -B "$prefix/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$sanitize" >/dev/null && cmake --build "$prefix/build" >/dev/null || fail "find_package does not work"
[ "$("$prefix/build/consumer")" = ok ] || fail "the CMake consumer failed"

strange=$(nm -D --defined-only "$lib/libtile.so" | awk '$2 != "A" {print $3}' | sed 's/@.*//' | grep -v '^tile_' || true)
[ -z "$strange" ] || fail "libtile.so exports $(head -c 300 <<<"$strange" | tr '\n' ' ')"
if grep -q 'TILE_LINK_LLVM:STRING=static' "$build/CMakeCache.txt"; then
  size=$(stat -c %s "$prefix/bin/tilec")
  [ "$size" -lt 45000000 ] || fail "tilec has $size bytes, 45 MB are allowed"
  needs=$(objdump -p "$prefix/bin/tilec" | awk '/NEEDED/ {print $2}' | grep -vE '^(libc|libm|ld-linux[-a-z0-9_]*)\.so' || true)
  [ -z "$needs" ] || fail "tilec needs $needs"
  echo "install: ok (tilec has $size bytes)"
else
  echo "install: ok"
fi
