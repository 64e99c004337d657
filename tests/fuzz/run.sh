#!/usr/bin/env bash
# Builds the fuzz targets with clang, whose warnings are errors, and runs each for a moment on the repository's own files; longer by hand:
#   tests/fuzz/run.sh [SECONDS]      TILE_FUZZERS: some of them only
set -u
cd "$(dirname "$0")/../.." || exit 1
seconds=${1:-15}
clang=$(command -v clang-22 || command -v clang-19 || command -v clang-14 || command -v clang)
[ -n "$clang" ] || { echo "skipped: fuzz targets: clang is not here"; exit 77; }
log=build-fuzz.log
CFLAGS="-O1 -g1" cmake -S . -B build-fuzz -G Ninja -DCMAKE_C_COMPILER="$clang" -DCMAKE_BUILD_TYPE=None -DTILE_WERROR=ON -DTILE_FUZZ=ON -DTILE_LINK_LLVM=shared -DTILE_BUILD_TESTS=OFF >$log 2>&1 &&
  cmake --build build-fuzz --target fuzz-targets >>$log 2>&1 || { tail -n 20 $log; exit 1; }
seeds=$(mktemp -d) && trap 'rm -rf "$seeds"' EXIT
mkdir "$seeds"/{fuzz_parse,fuzz_frontend,fuzz_ir,fuzz_inputs,fuzz_ptx,fuzz_readers,fuzz_jit}
find examples tests -name '*.tile' -o -name '*.py' | while read -r f; do cp "$f" "$seeds/fuzz_parse/$(tr / _ <<<"$f")"; done
# Files of tests hold many kernels; single ones, each with the file's imports, lower in less time.
python3 tests/fuzz/split_kernels.py "$seeds/fuzz_frontend" examples/*.tile tests/conformance/*.tile tests/frontend/*.tile
find tests -name '*.tir' | while read -r f; do cp "$f" "$seeds/fuzz_ir/$(tr / _ <<<"$f")"; done
# Single functions of the simulator's own PTX (a whole file is too long to be mutated often), and its instruction forms.
for f in tests/sim/recorded/*.ptx; do
  awk -v out="$seeds/fuzz_ptx/$(basename "$f" .ptx)" '/^\.(version|target|address_size)/ { head = head $0 "\n"; next }
    /\.entry/ { file = out "_" ++n ".ptx"; printf "%s", head >file } file { print >file } /^}/ { close(file); file = "" }' "$f"
done
for t in async tensormap programs; do [ -x build/tests/test_sim_$t ] && TILE_TEST_PTX=$seeds/fuzz_ptx build/tests/test_sim_$t >/dev/null 2>&1; done
printf '.version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p) {\nret;\n}\n' >"$seeds/fuzz_ptx/empty.ptx"
for s in 'fp16[4,n]=randn:1' 'desc(x+4,[16,BM],shape=[n,m],strides=[m,1],nan)' '@a.npy:bf16' 'i64:3'; do printf '\001%s' "$s" >"$seeds/fuzz_inputs/$(cksum <<<"$s" | cut -d' ' -f1)"; done
printf '\000\223NUMPY\001\000\066\000%-53s\n\001\002' "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }" >"$seeds/fuzz_inputs/npy"
printf '\002-w8\000--num-stages=3\000-DA=1\000x.tile' >"$seeds/fuzz_inputs/options"
for s in 'x[0:4, :2] + v' 'softmax(x, axis=-1) @ x.T' 'where(x > 0, x, -inf).sum(0, keepdims=True)[None, ..., ::-1]' \
  'clip(x.to(fp16), 0, n).reshape(4, -1).mT' '[v, v*2].max(axis=0)' '1 < v < 3'; do printf '\000%s' "$s" >"$seeds/fuzz_readers/$(cksum <<<"$s" | cut -d' ' -f1)"; done
printf '\001{"a": [1, 2.5e3, "\\u00e9", null, true], "b": {"c": "x"}}' >"$seeds/fuzz_readers/json"
if [ -x build/tilec ]; then
  for form in 2:ptx 3:json; do
    { printf "\\00${form%%:*}"; build/tilec examples/vector_add.tile --emit="${form#*:}" -o -; } >"$seeds/fuzz_readers/of_${form#*:}"
  done
  # A package as the target reads it: 64 bytes of code, then the index, which names them.
  build/tilec pack examples/vector_add.tile --no-cubin --arch=sm_90a -s "add(*fp32:16, *fp32:16, *fp32:16, i32, 1024)" -o "$seeds/package.tilepack" &&
    python3 -c 'import re, sys; d = open(sys.argv[1], "rb").read(); at, n = (int.from_bytes(d[i:i + 8], "little") for i in (24, 32))
sys.stdout.buffer.write(b"\4" + bytes(64) + re.sub(rb"\"offset\": \d+, \"size\": \d+", b"\"offset\": 64, \"size\": 32", d[at:at + n]))' \
      "$seeds/package.tilepack" >"$seeds/fuzz_readers/package"
fi
# The entry of a cache that the target makes for itself; results of tuning, good and incomplete; a launch with two numbers.
[ -x build-fuzz/tests/fuzz/fuzz_jit ] && printf '\002' >"$seeds/first" &&
  TILE_FUZZ_ENTRY=$seeds/fuzz_jit/entry build-fuzz/tests/fuzz/fuzz_jit "$seeds/first" >/dev/null 2>&1
r='{"kernel": "add", "device": "the simulator", "key": "n=64", "config": "B=64, num_warps=1", "milliseconds": 0.25}'
printf '\001{"tile_tuning": 1, "results": [%s, %s]}' "$r" "${r/n=64/n=65}" >"$seeds/fuzz_jit/results"
printf '\001{"tile_tuning": 1, "results": [{"kernel": "add"}]}' >"$seeds/fuzz_jit/incomplete"
{ printf '\002'; for n in -1 4 0 0 0 0 2 1 0 7 1 0 8; do python3 -c "import sys; sys.stdout.buffer.write(($n % 2**64).to_bytes(8, 'little'))"; done; } >"$seeds/fuzz_jit/launch"
# One target a core. A failure shows the end of its log.
export seconds seeds
one() {
  [ -x build-fuzz/tests/fuzz/"$1" ] || return 0
  build-fuzz/tests/fuzz/"$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=3000 -print_final_stats=0 -verbosity=0 \
    -artifact_prefix=build-fuzz/"$1"- "$seeds/$1" >build-fuzz/"$1".log 2>&1 || { echo "$1:"; tail -n 25 build-fuzz/"$1".log; return 1; }
}
export -f one
# shellcheck disable=SC2086
printf '%s\n' ${TILE_FUZZERS:-fuzz_parse fuzz_frontend fuzz_ir fuzz_inputs fuzz_ptx fuzz_readers fuzz_jit} | xargs -P "$(nproc)" -I{} bash -c 'one {}' || exit 1
echo "fuzz: ok"
