#!/usr/bin/env bash
# Packs what a GPU machine without LLVM, flex or bison needs: the static release tilec and libtile.so, the kernels and the
# scripts, into one folder of about 30 MB (the binaries compressed). There, `FOLDER/run.sh` runs everything against the interpreter.
#   tests/gpu/bundle.sh FOLDER [BUILD]
set -eu
cd "$(dirname "$0")/../.."
out=$1 build=${2:-build}
[ -x "$build/tilec" ] || { echo "$build/tilec is missing: cmake --preset release && cmake --build --preset release" >&2; exit 1; }
mkdir -p "$out/tests" "$out/tools"
for binary in tilec libtile.so; do gzip -c "$build/$binary" >"$out/$binary.gz"; done
cp -r examples "$out/"
cp -r tests/conformance "$out/tests/"
cp -r tests/gpu tests/guide tests/kernels tests/{extract_kernels,many,dots,pipelining,random_kernels,random_expressions,random_tiles,random_runs}.py "$out/tests/"
seeds=${TILE_SEEDS:-../shared/seeds}
[ -d "$seeds" ] && mkdir -p "$out/seeds" && cp "$seeds"/*guide.md "$seeds"/*persistent.txt "$out/seeds/"
mkdir -p "$out/runtime" && cp -r runtime/python "$out/runtime/"
cp tools/run_lines.sh tools/results.py "$out/tools/"
git describe --always --dirty >"$out/commit" || echo unknown >"$out/commit"
cp tests/gpu/run.sh "$out/run.sh"
du -sh "$out"
