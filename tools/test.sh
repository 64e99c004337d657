#!/usr/bin/env bash
# Runs every test that needs no GPU: layers, unit tests, lit, conformance kernels, the examples' run lines, the
# assembler where ptxas is installed, fuzz targets briefly, and generated documentation. At the end: lines per room, the
# slowest steps, what was skipped.
#   tools/test.sh [--dev]      --dev: the sanitizer build instead of the release build
set -u
cd "$(dirname "$0")/.." || exit 1
preset=release build=build
[ "${1:-}" = --dev ] && preset=dev build=build-dev
failures=() times=() log=$(mktemp) && trap 'rm -f "$log"' EXIT

# step NAME COMMAND…: status 77 and lines that begin with "skipped:" say what cannot run here.
step() {
  local name=$1 began=$SECONDS status
  echo "== $name"; shift
  "$@" 2>&1 | tee -a "$log"
  status=${PIPESTATUS[0]}
  times+=("$(printf '%4d s  %s' $((SECONDS - began)) "$name")")
  [ "$status" = 0 ] || [ "$status" = 77 ] || failures+=("$*")
}
skip() { echo "skipped: $1" | tee -a "$log"; }
compile() {
  { cmake --preset $preset ${LLVM_DIR:+-DLLVM_DIR="$LLVM_DIR"} &&
      cmake --build --preset $preset; } >"$build.log" 2>&1 && return
  tail -n 40 "$build.log"
  return 1
}
units() {
  ctest --test-dir $build -j "$(nproc)" -Q --no-tests=error
  local status=$?
  sed -nE 's/^[0-9]+\/[0-9]+ Test: (.*)/\1/p
           s/^\[  SKIPPED \] ([a-z_0-9]+)$/\1/p' $build/Testing/Temporary/LastTest.log |
    awk '/\// { test = $0; next } !seen[test, $0]++ { print "skipped: " test ", " $0 }'
  [ $status = 0 ] || ctest --test-dir $build --rerun-failed --output-on-failure
  return $status
}
lit_tests() {
  "$(command -v lit-22 || command -v lit || echo /usr/lib/llvm-22/build/utils/lit/lit.py)" -q --show-unsupported tests |
    sed -E 's/^ *UNSUPPORTED: tile :: ([^ ]*).*/skipped: tests\/\1/'
  return "${PIPESTATUS[0]}"
}

step build compile
[ ${#failures[@]} = 0 ] || { echo "the build failed"; exit 1; }
export TILE_BUILD=$PWD/$build
tilec=$build/tilec kernels=(examples/*.tile)
step layers tests/check_layers.sh $build
step "what belongs together" tests/complete.py
step "warnings under a distribution's flags" tests/install/warnings.sh $build
step "installed package" tests/install/check.sh $build
step packages tests/install/package.sh $build
step "binary interface" tests/install/abi.sh
step "unit tests" units
step lit lit_tests
step "texts of diagnostics" tests/diagnostics.py
step threads tests/threads.sh
step "conformance, interpreter" tests/conformance/run.py $tilec
step "run lines, interpreter" tools/run_lines.sh $tilec -j "$(nproc)" -o "-q --device=interp" "${kernels[@]}"
seeds=${TILE_SEEDS:-../shared/seeds}   # texts with kernels that are not part of the repository
if [ -f "$seeds/triton_guide.md" ]; then
  step "guide's kernels, interpreter" \
    tests/guide/check.py "$seeds/triton_guide.md" "$seeds/matmul_tma_persistent.txt" $tilec
else skip "guide's kernels: $seeds/triton_guide.md is not here"; fi
step "conformance, simulator" tests/conformance/run.py $tilec --device=sim
step "run lines, simulator" tools/run_lines.sh $tilec -j "$(nproc)" \
  -o "-q --device=sim --sim-seeds=3 --check --torture --verify-each" "${kernels[@]}"
step "conformance, IR" tests/conformance/run.py $tilec --round-trip=sm_80,sm_90a
step "matrix products" tests/dots.py $tilec
if [ $preset = dev ]; then
  skip "tutorial: it links programs without the sanitizer's runtime"
  skip "matrix products against float64, benchmark cases: Python does not load a library with a sanitizer inside"
else
  step tutorial tests/tutorial.py $build
  for device in interp sim; do
    step "matrix products against float64, $device" \
      env TILE_LIBRARY=$build/libtile.so TILE_SEEDS="$seeds" tests/gpu/right.py --device=$device
  done
  step "benchmark cases compile" env TILE_LIBRARY=$build/libtile.so tests/gpu/bench.py examples --dry-run
fi
step "wrong programs" tests/wrong_programs.py $tilec
step pipelining tests/pipelining.py $tilec
step "random kernels" tests/random_kernels.py $tilec --count 60
step "random tiles" tests/random_tiles.py $tilec --count 200
step "chains of roles" tests/random_roles.py $tilec --count 60
step "random expressions" tests/random_kernels.py $tilec --expressions --count 20
step "random layouts" tests/gluon/random_layouts.py $tilec --conversions 60 --buffers 30 --parts 30
step "mutations of Gluon kernels" tests/gluon/mutations.py $tilec
if [ -x "${TILE_PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}" ]; then
  step assembler tools/assemble.sh $tilec "${kernels[@]}"
  step "conformance, assembler" tests/conformance/run.py $tilec --assemble=sm_80,sm_90a,sm_100a,sm_120a
  step "what ptxas says" tests/ptxas_report.sh $tilec
else skip "assembler, conformance in the assembler, what ptxas says: ptxas is not here"; fi
step fuzz tests/fuzz/run.sh 6
step documentation tools/docs.sh --check $tilec

echo "== lines per room"
git ls-files -z | xargs -0 wc -l | awk '$2 != "total" || NF > 2 {
    n = split($2, part, "/"); room = n > 1 ? part[1] : "(top)"
    if (n > 2 && room ~ /^(frontend|runtime)$/) room = room "/" part[2]
    if ($2 ~ /\/recorded\//) room = room ", recorded"
    lines[room] += $1; all += $1
  } END {
    for (room in lines) printf "%7d  %s\n", lines[room], room | "sort -k2"
    close("sort -k2"); printf "%7d\n", all
  }'
echo "== slowest of $SECONDS s"
printf '%s\n' "${times[@]}" | sort -rn | head
grep -q '^skipped: ' "$log" && { echo "== skipped"; sed -n 's/^skipped: //p' "$log"; }
if [ ${#failures[@]} -gt 0 ]; then
  printf 'FAILED: %s\n' "${failures[@]}"
  exit 1
fi
echo "all tests passed"
