#!/usr/bin/env bash
# Runs every test that needs no GPU: layers, unit tests, lit, conformance kernels, the examples' run lines, the assembler
# where ptxas is installed, fuzz targets briefly, and generated documentation.
#   tools/test.sh [--dev]      --dev: the sanitizer build instead of the release build
set -u
cd "$(dirname "$0")/.." || exit 1
preset=release build=build
[ "${1:-}" = --dev ] && preset=dev build=build-dev
failures=()
step() { echo "== $1"; shift; "$@" || failures+=("$*"); }

cmake --preset $preset -DTILE_WERROR=ON ${LLVM_DIR:+-DLLVM_DIR="$LLVM_DIR"} >"$build.log" 2>&1 && cmake --build --preset $preset >>"$build.log" 2>&1 ||
  { tail -n 40 "$build.log"; echo "the build failed"; exit 1; }
export TILE_BUILD=$PWD/$build
tilec=$build/tilec
step layers tests/check_layers.sh $build
step "warnings of other compilers and flags" tests/install/warnings.sh
step "installed package" tests/install/check.sh $build
step "binary interface" tests/install/abi.sh
step "unit tests" ctest --test-dir $build --output-on-failure -j "$(nproc)" -Q --no-tests=error
lit=$(command -v lit-22 || command -v lit || echo /usr/lib/llvm-22/build/utils/lit/lit.py)
step lit "$lit" -q tests
step "texts of diagnostics" python3 tests/diagnostics.py
step threads tests/threads.sh
kernels=(examples/*.tile)
step "conformance, interpreter" python3 tests/conformance/run.py $tilec
step "run lines, interpreter" tools/run_lines.sh $tilec -j "$(nproc)" -o "-q --device=interp" "${kernels[@]}"
seeds=${TILE_SEEDS:-../shared/seeds}   # texts with kernels that are not part of the repository
guide() { python3 tests/guide/check.py "$seeds/triton_guide.md" "$seeds/matmul_tma_persistent.txt" $tilec "$@"; }
[ -f "$seeds/triton_guide.md" ] && step "guide's kernels, interpreter" guide
if $tilec run examples/vector_add.tile -k add --grid 1 --device=sim --arg x=fp32[1]=ones --arg y=fp32[1]=ones --arg out=fp32[1]=zeros --arg n=1 >/dev/null 2>&1; then
  step "conformance, simulator" python3 tests/conformance/run.py $tilec --device=sim
  step "run lines, simulator" tools/run_lines.sh $tilec -j "$(nproc)" -o "-q --device=sim --sim-seeds=3 --check --torture --verify-each" "${kernels[@]}"
fi
step "conformance, IR" python3 tests/conformance/run.py $tilec --round-trip=sm_80,sm_90a
step "matrix products" tests/dots.py $tilec
[ $preset = dev ] && devices= || devices="interp sim"   # Python does not load a library with a sanitizer inside
for device in $devices; do
  step "matrix products against float64, $device" env TILE_LIBRARY=$build/libtile.so TILE_SEEDS="$seeds" python3 tests/gpu/right.py --device=$device
done
[ -z "$devices" ] || step "benchmark cases compile" env LIBTILE=$build/libtile.so python3 tests/gpu/bench.py examples --dry-run
step pipelining tests/pipelining.py $tilec
step "random kernels" tests/random_kernels.py $tilec --count 60
step "random expressions" tests/random_kernels.py $tilec --expressions --count 20
step assembler tools/assemble.sh $tilec "${kernels[@]}"
step "conformance, assembler" python3 tests/conformance/run.py $tilec --assemble=sm_80,sm_90a,sm_100a,sm_120a
step "what ptxas says" tests/ptxas_report.sh $tilec
[ -x tests/fuzz/run.sh ] && step fuzz tests/fuzz/run.sh
[ -x tools/docs.sh ] && step documentation tools/docs.sh --check $tilec
if [ ${#failures[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failures[@]}"
  exit 1
fi
echo "all tests passed"
