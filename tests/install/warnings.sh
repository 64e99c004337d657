#!/usr/bin/env bash
# The sources by gcc under the flags of a distribution's package (build type None): no warning. clang's: tests/fuzz/run.sh.
# Compiles the rooms, links nothing; nothing to do if BUILD has been built with these flags and -Werror.
#   tests/install/warnings.sh [BUILD]
#   tests/install/warnings.sh --link       builds and links all by both compilers, and runs an example: minutes
#   tests/install/warnings.sh --flags      prints the flags
set -u
cd "$(dirname "$0")/../.." || exit 1
# What dpkg-buildflags says with all of its hardening.
CFLAGS="-g1 -O2 -ffile-prefix-map=$PWD=. -D_FORTIFY_SOURCE=2 -Wdate-time -fstack-protector-strong -Wformat -Werror=format-security"
[ "${1:-}" = --flags ] && { echo "$CFLAGS"; exit; }
command -v gcc >/dev/null || { echo "skipped: warnings: gcc is not here"; exit 77; }
export CFLAGS LDFLAGS="-Wl,-z,relro -Wl,-z,now"
if [ "${1:-}" = --link ]; then
  for cc in gcc clang; do
    command -v $cc >/dev/null || { echo "skipped: a build by $cc: it is not here"; continue; }
    build=build-warnings-$cc
    { CC=$cc CXX=$([ $cc = gcc ] && echo g++ || echo clang++) cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=None -DTILE_WERROR=ON -DTILE_BUILD_TESTS=OFF ${LLVM_DIR:+-DLLVM_DIR="$LLVM_DIR"} &&
      cmake --build $build && tools/run_lines.sh $build/tilec -o "-q --device=sim --check" examples/softmax.tile; } >$build.log 2>&1 || { grep -E -A5 "error|Error" $build.log | head -n 40; echo "warnings: the build by $cc failed"; exit 1; }
    for file in tilec libtile.so libtile-rt.so libtile-sim.so; do
      readelf -dl "$build/$file" | grep -q GNU_RELRO && readelf -d "$build/$file" | grep -q NOW || { echo "warnings: $file by $cc lacks RELRO or BIND_NOW"; exit 1; }
      nm -D "$build/$file" | grep -qE '__[a-z]+_chk' || { echo "warnings: $file by $cc uses no checked function"; exit 1; }
    done
  done
  echo "warnings: ok, linked"
  exit
fi
grep -qsxF "CMAKE_C_FLAGS:STRING=$CFLAGS -Werror" "${1:-build}/CMakeCache.txt" && { echo "warnings: ok, the build has these flags"; exit; }
build=build-warnings
rooms="tile-ir tile-sim tile-syntax tile-comptime tile-prelude tile-lower tile-passes tile-codegen tile-rt-core tile-compile tile-jit tile-cli"
# shellcheck disable=SC2086
{ CC=gcc cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DTILE_WERROR=ON -DTILE_BUILD_TESTS=OFF ${LLVM_DIR:+-DLLVM_DIR="$LLVM_DIR"} &&
  cmake --build "$build" --target $rooms; } >"$build.log" 2>&1 || { grep -E -A5 "error|Error" "$build.log" | head -n 40; echo "warnings: the build by gcc failed"; exit 1; }
echo "warnings: ok"
