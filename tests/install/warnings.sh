#!/usr/bin/env bash
# The sources under the flags of a distribution's package (build type None), by gcc and, syntax only, by clang: no warning.
# Compiles the rooms, links nothing.
#   tests/install/warnings.sh [BUILD]      BUILD: where the objects are kept (build-warnings)
#   tests/install/warnings.sh --link       builds and links all by both compilers, and runs an example: minutes
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build-warnings}
command -v gcc >/dev/null || { echo "skipped: warnings: gcc is not here"; exit 77; }
# What dpkg-buildflags says with all of its hardening.
export CFLAGS="-g1 -O2 -ffile-prefix-map=$PWD=. -D_FORTIFY_SOURCE=2 -Wdate-time -fstack-protector-strong -Wformat -Werror=format-security"
export LDFLAGS="-Wl,-z,relro -Wl,-z,now"
if [ "$build" = --link ]; then
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
rooms="tile-ir tile-sim tile-syntax tile-comptime tile-prelude tile-lower tile-passes tile-codegen tile-rt-core tile-compile tile-jit tile-cli"
# shellcheck disable=SC2086
{ CC=gcc cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=None -DTILE_WERROR=ON -DTILE_BUILD_TESTS=OFF ${LLVM_DIR:+-DLLVM_DIR="$LLVM_DIR"} &&
  cmake --build "$build" --target $rooms; } >"$build.log" 2>&1 || { grep -E -A5 "error|Error" "$build.log" | head -n 40; echo "warnings: the build by gcc failed"; exit 1; }
if ! command -v clang >/dev/null; then echo "skipped: warnings of clang: clang is not here"; exit 0; fi
# Every object's command, by clang. Generated sources are there now.
python3 - "$build/compile_commands.json" <<'PY' || { echo "warnings: clang has some"; exit 1; }
import concurrent.futures, json, os, shlex, subprocess, sys
def check(entry):
    words = shlex.split(entry["command"])
    keep = [w for w in words if w[:2] in ("-I", "-D", "-W", "-f") or w.startswith("-std=")] + ["-isystem" + words[i + 1] for i, w in enumerate(words) if w == "-isystem"]
    return subprocess.run(["clang", "-fsyntax-only", *keep, entry["file"]], cwd=entry["directory"], stderr=subprocess.PIPE, text=True)
entries = [e for e in json.load(open(sys.argv[1])) if e["file"].endswith(".c")]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    wrong = [r.stderr for r in pool.map(check, entries) if r.returncode]
sys.stdout.write("".join(wrong[:8]))
sys.exit(bool(wrong))
PY
echo "warnings: ok"
