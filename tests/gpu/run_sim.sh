#!/usr/bin/env bash
# In a folder made by sim_bundle.sh, on a GPU machine: the kernels that check the simulator, on the card instead. Compares what
# is recorded, and records test_sim_forms and the cases of test_sim_async, _tensormap and _programs: OUT/mma_h200.txt and
# OUT/cases_h200.txt replace the files of those names in tests/sim/recorded.
#   run_sim.sh [OUT]
set -u
cd "$(dirname "$0")" || exit 1
out=${1:-${OUT:-out}}
mkdir -p "$out"
export TILE_TEST_GPU=1 LD_LIBRARY_PATH=$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
status=0
for test in cuda llvm exec instr forms; do
  echo "== test_sim_$test"
  [ $test = forms ] && export TILE_TEST_RECORD=$out/mma_h200.txt
  timeout 100 ./test_sim_$test >"$out/$test.log" 2>&1 || { status=1 && grep -v '^\[ *\(RUN\|OK\)' "$out/$test.log" | head -20; }
  tail -n 2 "$out/$test.log"
done
sed -i '1i # form: hash of its accumulators on an H200 (test_sim_forms.c)' "$out/mma_h200.txt"
: >"$out/cases_h200.txt"
for test in async tensormap programs; do
  echo "== test_sim_$test"
  : >"$out/skip"
  for attempt in 1 2 3 4; do
    rm -f "$out/$test.cases"
    TILE_TEST_RECORD=$out/$test.cases TILE_TEST_SKIP=$out/skip timeout 30 ./test_sim_$test >"$out/$test.log" 2>&1
    rc=$?
    [ $rc -lt 124 ] && break
    hung=$(grep '^case ' "$out/$test.log" | tail -n 1)
    echo "hung or died ($rc): $hung" && status=1
    echo "${hung#case }" >>"$out/skip"
  done
  grep -E 'error [0-9]|the GPU has' "$out/$test.log" && status=1
  cat "$out/$test.cases" >>"$out/cases_h200.txt"
done
echo "recorded $(grep -c '^[0-9a-f]\{16\}$' "$out/cases_h200.txt") kernels in $out/cases_h200.txt"
exit $status
