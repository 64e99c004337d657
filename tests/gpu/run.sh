#!/usr/bin/env bash
# On a GPU machine, in a folder made by bundle.sh (or the repository with a build): every example with --device=gpu against
# the interpreter, the conformance kernels against Python, guard bytes round every buffer checked; under compute-sanitizer as well where it is installed.
#   run.sh [TILEC]
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
jobs=$(nproc)
tools/run_lines.sh "$tilec" -j "$jobs" -o "-q --device=gpu --check" "${kernels[@]}"
status=$?
echo "== sm_80 code"
tools/run_lines.sh "$tilec" -j "$jobs" -o "-q --device=gpu --check --arch=sm_80" "${kernels[@]}" || status=1
python3 tests/conformance/run.py "$tilec" --device=gpu -j"$jobs" || status=1
for products in dots pipelining; do python3 tests/$products.py "$tilec" --device=gpu --full || status=1; done
python3 tests/random_kernels.py "$tilec" --device=gpu --count 1000 || status=1
python3 tests/random_kernels.py "$tilec" --device=gpu --count 200 --expressions || status=1
[ -d seeds ] && { python3 tests/guide/check.py seeds/triton_guide.md seeds/matmul_tma_persistent.txt "$tilec" --device=gpu || status=1; }
python3 -c 'import torch' 2>/dev/null && { python3 tests/gpu/right.py || status=1; }
[ -f libtile.so ] || [ -n "${LIBTILE:-}" ] && { LIBTILE=${LIBTILE:-$PWD/libtile.so} python3 tests/gpu/cluster.py || status=1; }
[ -f libtile.so ] || [ -n "${LIBTILE:-}" ] && python3 -c 'import torch' 2>/dev/null && { LIBTILE=${LIBTILE:-$PWD/libtile.so} python3 tests/gpu/ulp.py || status=1; }
if command -v compute-sanitizer >/dev/null; then
  wrapper=$(mktemp) && trap 'rm -f "$wrapper"' EXIT
  printf '#!/bin/sh\nexec compute-sanitizer --tool=memcheck --error-exitcode=9 "%s" "$@"\n' "$(realpath "$tilec")" >"$wrapper"
  chmod +x "$wrapper"
  echo "== memcheck"
  tools/run_lines.sh "$wrapper" -j "$jobs" -o "-q --device=gpu" "${kernels[@]}" || status=1
  # It must be able to fail: a store far outside of every allocation.
  if "$wrapper" run tests/gpu/far_store.tile -k far_store --grid 1 --device=gpu -q --arg "x=i32[4]=zeros" >/dev/null 2>&1; then
    echo "memcheck did not see a store out of bounds"; status=1
  fi
else
  echo "memcheck: compute-sanitizer is not here"
fi
exit $status
