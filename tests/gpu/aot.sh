#!/usr/bin/env bash
# examples/matmul.tile ahead of time, by a program that knows a header and libtile-rt alone.
#   tests/gpu/aot.sh make FOLDER BUILD      here: packs the kernel and what the program needs into FOLDER
#   FOLDER/aot.sh run [N]                   there: compiles with cc and runs; no LLVM, no tilec, no CUDA toolkit needed
#   FOLDER/aot.sh sim [N]                   anywhere: the same on the simulator
set -eu
here=$(cd "$(dirname "$0")" && pwd)
make_folder() {
  local out build tilec root
  mkdir -p "$1"
  out=$(realpath "$1") build=$(realpath "$2") root=$(realpath "$here/../..")
  tilec=$build/tilec
  mkdir -p "$out/include/tile" "$out/bad"
  cp "$root"/runtime/tile/{error,rt}.h "$out/include/tile/"
  cp "$here/aot_matmul.c" "$here/aot.sh" "$out/"
  cp -L "$build/libtile-rt.so" "$out/libtile-rt.so.1"
  ln -sf libtile-rt.so.1 "$out/libtile-rt.so"
  cp "$build/libtile-rt.a" "$out/"
  mkdir -p "$out/sim" && cp "$build/libtile-sim.so" "$out/sim/libcuda.so.1"
  cd "$root"
  local aligned="*fp16:16, *fp16:16, *fp16:16, i32:16, i32:16, i32:16, i32:16, 1, i32:16, 1, i32:16, 1, 128, 256, 64, 8"
  local any="*fp16, *fp16, *fp16, i32, i32, i32, i32, i32, i32, i32, i32, i32, 128, 256, 64, 8"
  "$tilec" pack examples/matmul.tile -n matmul_kernel --arch=sm_80,sm_90a -s "$aligned" -s "$any" -o "$out/matmul.h"
  "$tilec" pack examples/matmul.tile -n matmul_kernel --arch=sm_80,sm_90a -s "$aligned" -s "$any" -o "$out/matmul.tilepack"
  local add="*fp32:16, *fp32:16, *fp32:16, i32, 256"
  "$tilec" pack examples/vector_add.tile -n add -s "$add" --arch=sm_100a -o "$out/bad/sm_100a.tilepack"
  "$tilec" examples/vector_add.tile -n add -s "$add" --arch=sm_80 --emit=json -o "$out/bad/sm_80.json"
  "$tilec" examples/vector_add.tile -n add -s "$add" --arch=sm_80 --emit=cubin -o "$out/bad/sm_80.cubin" || : >"$out/bad/sm_80.cubin"
  "$tilec" examples/vector_add.tile -n add -s "$add" -o "$out/bad/good.ptx"
  sed -E 's/("ptx_version": ")[0-9.]+/\19.9/; s/^\.version .*/.version 9.9/' "$out/bad/good.ptx" >"$out/bad/later.ptx"
  sed -E 's/ld\.global/ld.globule/' "$out/bad/good.ptx" >"$out/bad/broken.ptx"
  du -sh "$out"
}
run() {
  cd "$here"
  cc -O2 -std=gnu11 -Wall -Iinclude -I. aot_matmul.c -L. -ltile-rt -lpthread -ldl -Wl,-rpath,'$ORIGIN' -o aot
  cc -O2 -std=gnu11 -Wall -Iinclude -I. aot_matmul.c libtile-rt.a -lpthread -ldl -lm -s -o aot_static
  ls -l aot aot_static libtile-rt.so.1 libtile-rt.a
  ldd ./aot ./aot_static
  LD_LIBRARY_PATH=$1 ./aot "$2" bad && LD_LIBRARY_PATH=$1 ./aot_static "$3" bad
}
case ${1:-} in
  make) make_folder "$2" "${3:-build}" ;;
  run) run "${LD_LIBRARY_PATH:-}" "${2:-4096}" 1000 ;;
  sim) run "$here/sim" "${2:-128}" 72 ;;
  *) echo "usage: aot.sh make FOLDER BUILD | run [N] | sim [N]"; exit 2 ;;
esac
