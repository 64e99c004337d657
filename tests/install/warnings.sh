#!/usr/bin/env bash
# The sources under the flags of a distribution's package (build type None), by gcc and, syntax only, by clang: no warning.
# Compiles the rooms, links nothing.
#   tests/install/warnings.sh [BUILD]      BUILD: where the objects are kept (build-warnings)
set -u
cd "$(dirname "$0")/../.." || exit 1
build=${1:-build-warnings}
command -v gcc >/dev/null || { echo "skipped: warnings: gcc is not here"; exit 77; }
export CFLAGS="-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-strong -Wformat -Werror=format-security"
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
