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
tools/run_lines.sh "$tilec" -j 4 -o "-q --device=gpu --check" "${kernels[@]}"
status=$?
python3 tests/conformance/run.py "$tilec" --device=gpu -j4 || status=1
[ -d seeds ] && { python3 tests/guide/check.py seeds/triton_guide.md seeds/matmul_tma_persistent.txt "$tilec" --device=gpu || status=1; }
python3 -c 'import torch' 2>/dev/null && { python3 tests/gpu/right.py || status=1; }
if command -v compute-sanitizer >/dev/null; then
  wrapper=$(mktemp) && trap 'rm -f "$wrapper"' EXIT
  printf '#!/bin/sh\nexec compute-sanitizer --tool=memcheck --error-exitcode=9 "%s" "$@"\n' "$(realpath "$tilec")" >"$wrapper"
  chmod +x "$wrapper"
  echo "== memcheck"
  tools/run_lines.sh "$wrapper" -o "-q --device=gpu" "${kernels[@]}" || status=1
else
  echo "memcheck: compute-sanitizer is not here"
fi
exit $status
