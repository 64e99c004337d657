#!/usr/bin/env bash
# Unpacks the tarball of a build in a fresh folder and uses it as a stranger would: pkg-config, find_package, C11 and C++, kernels compiled by
# tile_add_kernels; looks at what the libraries export and need, and how large they are.
#   tests/install/check.sh BUILD [--record]     --record: take the exported symbols as they are
set -eu
build=$(realpath "$1") record=${2:-}
cd "$(dirname "$0")"
root=$(realpath ../..)
prefix=$(mktemp -d) && trap 'rm -rf "$prefix"' EXIT
fail() { echo "install: $*"; exit 1; }
# The tarball that cpack makes, by its fastest compression; nothing of this environment helps the programs.
(cd "$build" && cpack -G TZST -B "$prefix/cpack" >/dev/null) || fail "cpack does not work"
(cd "$prefix" && cmake -E tar xf cpack/tilec-*.tar.zst && mv tilec-*/* . && rm -r tilec-* cpack)
clean() { env -i PATH="$PATH" TILE_CACHE_DIR="$prefix/cache" LD_LIBRARY_PATH="$lib" "$@"; }
lib=$(dirname "$(find "$prefix" -name libtile.so | head -1)")
for file in "$prefix/bin/tilec" "$prefix"/include/tile/{error,rt,tile,jit}.h "$prefix"/include/tile/{tile,arguments,kernels}.hpp "$lib"/pkgconfig/libtile{,-rt}.pc "$lib"/libtile-rt.{so,a}; do
  [ -e "$file" ] || fail "$file is missing"
done
for file in $(cd "$root/runtime/python" && find . -name '*.py*' -not -path '*__pycache__*'); do
  [ -e "$prefix/share/tile/python/$file" ] || fail "$file is missing"
done
# Who links a library with a sanitizer inside needs its runtime too.
sanitize=
if grep -q 'TILE_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then sanitize=-fsanitize=address,undefined; fi
# The package finds the library that it was installed with. Python does not load one with a sanitizer inside.
[ -n "$sanitize" ] || env -u TILE_LIBRARY PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$prefix/share/tile/python" python3 - "$prefix" <<'PY' || fail "import tilec"
import sys, tile, tilec
from tilec import _library
assert tile is tilec and _library.lib._name.startswith(sys.argv[1]), _library.lib._name
PY
export TILE_CACHE_DIR=$prefix/cache

# pkg-config
flags_of() {
  if command -v pkg-config >/dev/null; then PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --cflags --libs "$1"; else echo "-I$prefix/include -L$lib -l${1#lib}"; fi
}
strict="-pedantic -Wall -Wextra -Werror"
strict="$strict $sanitize"
# shellcheck disable=SC2046,SC2086
{
  cc -std=c11 $strict consumer.c -o "$prefix/c" $(flags_of libtile)
  c++ -x c++ -std=c++11 $strict consumer.c -x none -o "$prefix/cxx" $(flags_of libtile)
  cc -std=c11 $strict "$root/examples/host/matmul.c" -o "$prefix/matmul_c" $(flags_of libtile)
  c++ -std=c++11 $strict "$root/examples/host/matmul.cpp" -o "$prefix/matmul_cpp" $(flags_of libtile)
  "$prefix/bin/tilec" pack "$root/examples/vector_add.tile" scale.tile -s "add(*fp32:16, *fp32:16, *fp32:16, i32:16, 256)" -s "add(*fp32, *fp32, *fp32, i32, 256)" -s "scale(*fp32, fp32, i32)" -o "$prefix/ahead_kernels.h"
  cc -std=c11 $strict "-I$prefix" ahead.c -o "$prefix/ahead" $(flags_of libtile-rt)
  c++ -x c++ -std=c++11 $strict "-I$prefix" ahead.c -x none -o "$prefix/ahead_cxx" $(flags_of libtile-rt)
  cc -std=c11 $strict "-I$prefix" ahead.c -o "$prefix/ahead_static" "-I$prefix/include" "$lib/libtile-rt.a" -lm -ldl
}
for program in c cxx ahead ahead_cxx ahead_static; do [ "$(clean "$prefix/$program")" = ok ] || fail "$program failed"; done

# CMake
cmake -G Ninja -S . -B "$prefix/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_FLAGS="$sanitize" -DCMAKE_CXX_FLAGS="$sanitize" -DEXAMPLES="$root/examples" >/dev/null && cmake --build "$prefix/build" >/dev/null || fail "find_package does not work"
[ "$("$prefix/build/consumer")" = ok ] || fail "the CMake consumer failed"
# A sanitizer's dlopen does not look where the program's own run path says.
[ "$(${sanitize:+env LD_LIBRARY_PATH=$lib} "$prefix/build/ahead" "$prefix/build/tile_kernels/ahead/ahead.tilepack")" = ok ] || fail "the kernels of tile_add_kernels failed"
# Nothing to do a second time; a file that is imported counts as a source.
case $(cmake --build "$prefix/build") in *"Compiling kernels"*) fail "tile_add_kernels compiles again without need" ;; esac
touch amounts.tile
case $(cmake --build "$prefix/build") in *"Compiling kernels"*) ;; *) fail "tile_add_kernels does not see that an imported file has changed" ;; esac

# The example hosts: compiled, tuned and launched on the simulator.
for program in matmul_c matmul_cpp build/matmul_c build/matmul_cpp; do
  said=$(clean TILE_DEVICE=sim "$prefix/$program" "$root/examples/matmul.tile" 64)
  [ "$said" = "Simulated H200: first element 0x5400, last 0x5400" ] || fail "$program says: $said"
done
for host in matmul.c matmul.cpp; do [ "$(wc -l <"$root/examples/host/$host")" -lt 60 ] || fail "examples/host/$host has 60 lines or more"; done

# Exports: tile_* with a version, and exactly those that are recorded: adding one is a decision.
for name in libtile libtile-rt; do
  nm -D --defined-only --with-symbol-versions "$lib/$name.so" | awk '$2 != "A" {print $3}' | LC_ALL=C sort >"$prefix/symbols"
  strange=$(grep -vE '^tile_[a-z0-9_]+@@TILE_[0-9.]+$' "$prefix/symbols" || true)
  [ -z "$strange" ] || fail "$name.so exports $(head -c 300 <<<"$strange" | tr '\n' ' ')"
  [ "$record" = --record ] && cp "$prefix/symbols" "recorded/$name.symbols"
  diff "recorded/$name.symbols" "$prefix/symbols" || fail "$name.so exports other symbols than recorded/$name.symbols; if that is meant: tests/install/check.sh BUILD --record"
done
# shellcheck disable=SC2013
for symbol in $(sed 's/@.*//' recorded/libtile.symbols); do
  grep -qhE "\b$symbol\(" "$prefix"/include/tile/*.h || fail "$symbol is exported and in no header"
done
missing=$(LC_ALL=C comm -23 recorded/libtile-rt.symbols recorded/libtile.symbols)
[ -z "$missing" ] || fail "libtile lacks what libtile-rt has: $missing"
global=$(nm -g --defined-only "$lib/libtile-rt.a" | awk 'NF == 3 && $3 !~ /^(tile_|__odr|__asan)/ {print $3}')
[ -z "$global" ] || fail "libtile-rt.a defines $global"

# What they need and how large they are.
needs() { objdump -p "$1" | awk '/NEEDED/ {print $2}' | grep -vE '^(libc|libm|ld-linux[-a-z0-9_]*)\.so' || true; }
rt_size=$(stat -Lc %s "$lib/libtile-rt.so")
if ! grep -q 'TILE_SANITIZE:BOOL=ON' "$build/CMakeCache.txt"; then
  [ "$rt_size" -lt 1000000 ] || fail "libtile-rt has $rt_size bytes, 1 MB is allowed"
  [ -z "$(needs "$lib/libtile-rt.so")" ] || fail "libtile-rt needs $(needs "$lib/libtile-rt.so")"
fi
if grep -q 'TILE_LINK_LLVM:STRING=static' "$build/CMakeCache.txt"; then
  size=$(stat -c %s "$prefix/bin/tilec")
  [ "$size" -lt 45000000 ] || fail "tilec has $size bytes, 45 MB are allowed"
  [ -z "$(needs "$prefix/bin/tilec")" ] || fail "tilec needs $(needs "$prefix/bin/tilec")"
  ! objdump -p "$build/tilec" | grep -q RUNPATH || fail "tilec looks for libc where LLVM is, and in the working directory"
  echo "install: ok (tilec has $size bytes, libtile-rt $rt_size)"
else
  echo "install: ok (libtile-rt has $rt_size bytes)"
fi
