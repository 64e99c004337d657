#!/usr/bin/env bash
# The arrows between rooms: which folder may know which. libc ← ir ← {frontend, passes, codegen} ← runtime; inside frontend
# syntax ← comptime, and both and prelude ← lower; inside runtime rt ← compile ← jit ← cli. A room with a door is known by
# that header alone. Only codegen sees LLVM.
# With a build folder as argument, also: objects use symbols of those rooms only, and no room has writable data.
set -u
cd "$(dirname "$0")/.." || exit 1
status=0
arrows=
# What one process has one of: LLVM's own initialisation, and the simulated driver, as the real one, and what
# its signals must remove. And what an unoptimised bison parser only reads.
per_process='llvm_once|driver(_mutex)?\.[0-9]+|temporaries|yyloc_default\.[0-9]+'

# allow FOLDER PATTERN…: every project include in FOLDER (not below it) must be in a folder, or be a header, that a PATTERN names.
allow() {
  local dir=$1 bad
  arrows+="$*"$'\n'
  shift
  bad=$(find "$dir" -maxdepth 1 -type f \( -name '*.[chly]' -o -name '*.def' \) -exec grep -HnE '^#include "[^"]*/' {} + |
    grep -vE ":#include \"($(IFS='|'; echo "$*"))(/[^/\"]*)?\"" || true)
  [ -z "$bad" ] && return
  echo "$dir may include only $*:"; echo "$bad"; status=1
}
allow ir ir
allow frontend frontend/comptime/comptime.h ir
allow frontend/syntax frontend/syntax ir
allow frontend/comptime frontend/comptime frontend/syntax/syntax.h ir
allow frontend/prelude frontend/prelude
allow frontend/lower frontend/lower frontend/frontend.h frontend/prelude/prelude.h ir
allow passes passes ir
allow codegen codegen ir
allow runtime/rt runtime/rt runtime/tile/rt.h ir
allow runtime/rt/alone runtime/rt
allow runtime/sim runtime/sim runtime/rt/{cuda_types,fault,line_counts}.h ir
allow runtime/compile runtime/{compile,tile} runtime/rt/device.h runtime/sim/driver.h codegen/codegen.h passes/pass.h frontend/frontend.h ir
allow runtime/jit runtime/{jit,tile} runtime/{compile/compile,rt/device}.h frontend/frontend.h ir
allow runtime/cli runtime/{cli,tile} runtime/{jit/jit,compile/compile,rt/device}.h frontend/frontend.h passes/pass.h ir
bad=$(grep -rlE '#include [<"]llvm' --include='*.[chly]' ir frontend passes runtime 2>/dev/null || true)
[ -z "$bad" ] || { echo "only codegen may include LLVM:"; echo "$bad"; status=1; }
bad=$(grep -rlE '#include "runtime/sim/' runtime --include='*.[ch]' | grep -vE '^runtime/(sim/|compile/linked\.c$)' || true)
[ -z "$bad" ] || { echo "only runtime/compile/linked.c may know the simulator:"; echo "$bad"; status=1; }

if [ $# -gt 0 ]; then
  python3 tests/layer_symbols.py "$1" <<<"$arrows" || status=1
  for lib in "$1"/libtile-*.a; do
    [ -f "$lib" ] || continue
    bad=$(objdump -t "$lib" 2>/dev/null | grep -E '\s\.(data|bss)(\.|\s)' | grep -E ' O \.' | grep -vE "\.data\.rel\.ro|__asan|__odr|\s($per_process)\$" || true)
    [ -z "$bad" ] || { echo "writable data in $lib:"; echo "$bad"; status=1; }
  done
fi
[ $status = 0 ] && echo "layers: ok"
exit $status
