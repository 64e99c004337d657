#!/usr/bin/env bash
# On a GPU machine, in a folder made by bundle.sh (or the repository with a build): every example with --device=gpu against
# the interpreter, the conformance kernels against Python, guard bytes round every buffer checked; under compute-sanitizer as well where it is installed.
#   run.sh [TILEC]
# Three lanes run side by side; a line begins with the first letter of its lane.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ -d "$here/examples" ] || here=$(cd "$here/../.." && pwd)
cd "$here" || exit 1
for packed in tilec libtile.so; do
  if [ -f $packed.gz ] && [ ! -x $packed ]; then gunzip -c $packed.gz >$packed && chmod +x $packed; fi
done
tilec=${1:-}
[ -n "$tilec" ] || { [ -x ./tilec ] && tilec=./tilec || tilec=build/tilec; }
kernels=(examples/*.tile)
"$tilec" --version
jobs=$(($(nproc) / 2 + 1))
[ "$jobs" -le 9 ] || jobs=9   # each process of three lanes takes half a gigabyte of the GPU's memory and more
running=()
scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
has_torch() { python3 -c 'import torch' 2>/dev/null; }

memcheck() {
  command -v compute-sanitizer >/dev/null || { echo "memcheck: compute-sanitizer is not here"; return; }
  local wrapper=$scratch/memcheck
  printf '#!/bin/sh\nexec compute-sanitizer --tool=memcheck --error-exitcode=9 "%s" "$@"\n' "$(realpath "$tilec")" >"$wrapper"
  chmod +x "$wrapper"
  echo "== memcheck"
  tools/run_lines.sh "$wrapper" -j "$jobs" -o "-q --device=gpu" "${kernels[@]}" || status=1
  # It must be able to fail: a store far outside of every allocation.
  if "$wrapper" run tests/gpu/far_store.tile -k far_store --grid 1 --device=gpu -q --arg "x=i32[4]=zeros" >/dev/null 2>&1; then
    echo "memcheck did not see a store out of bounds"; status=1
  fi
}

examples() {
  tools/run_lines.sh "$tilec" -j "$jobs" -o "-q --device=gpu --check" "${kernels[@]}" || status=1
  echo "== sm_80 code"
  tools/run_lines.sh "$tilec" -j "$jobs" -o "-q --device=gpu --check --arch=sm_80" "${kernels[@]}" || status=1
  memcheck
  [ -d seeds ] && { python3 tests/guide/check.py seeds/triton_guide.md seeds/matmul_tma_persistent.txt "$tilec" --device=gpu || status=1; }
}

kernels_beside_python() {
  python3 tests/conformance/run.py "$tilec" --device=gpu -j"$jobs" || status=1
  python3 tests/random_kernels.py "$tilec" --device=gpu --count 1000 || status=1
  python3 tests/random_kernels.py "$tilec" --device=gpu --count 200 --expressions || status=1
  python3 tests/random_tiles.py "$tilec" --device=gpu --count 500 || status=1
}

products_and_functions() {
  for products in dots pipelining; do python3 tests/$products.py "$tilec" --device=gpu --full || status=1; done
  has_torch && { python3 tests/gpu/right.py || status=1; }
  [ -f libtile.so ] || [ -n "${TILE_LIBRARY:-}" ] || return
  python3 tests/gpu/cluster.py || status=1
  # Grids that fill the card, and more: what goes wrong only where many blocks share an SM.
  has_torch && { python3 tests/gpu/bench.py examples --check || status=1; }
  has_torch && { python3 tests/gpu/ulp.py || status=1; }
}

set -o pipefail
for lane in examples kernels_beside_python products_and_functions; do
  (status=0; $lane; exit $status) 2>&1 | sed -u "s/^/${lane:0:1} /" & running+=($!)
done
failed=0
for lane in "${running[@]}"; do wait "$lane" || failed=1; done
exit $failed
