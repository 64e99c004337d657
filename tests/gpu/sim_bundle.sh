#!/usr/bin/env bash
# Packs the simulator's tests for a GPU machine, with the data they read and the libraries that such a machine may lack.
# There, `FOLDER/run_sim.sh [OUT]` runs them on the card.
#   tests/gpu/sim_bundle.sh FOLDER [BUILD]
set -eu
cd "$(dirname "$0")/../.."
out=$1 build=${2:-build}
mkdir -p "$out/lib" "$out/tests/sim/recorded"
for test in cuda llvm exec instr forms async tensormap programs; do
  cp "$build/tests/test_sim_$test" "$out/"
done
ldd "$out/test_sim_cuda" | awk '/libcmocka/ { print $3 }' | xargs -I{} cp -L {} "$out/lib/"
cp tests/sim/instr.txt "$out/tests/sim/"
cp tests/sim/recorded/*.{ptx,txt} "$out/tests/sim/recorded/"
cp tests/gpu/run_sim.sh "$out/"
du -sh "$out"
