#!/usr/bin/env bash
# The arrows between rooms: which folder may include which. libc ← ir ← {frontend, passes, codegen} ← runtime; runtime/sim
# and runtime/rt know ir and the driver's types; only codegen sees LLVM. With a build folder as argument, also: no room has writable data.
set -u
cd "$(dirname "$0")/.." || exit 1
status=0
# What one process has one of: LLVM's own initialisation, and the simulated driver, as the real one. And what an unoptimised
# bison parser only reads.
per_process='llvm_once|driver(_mutex)?\.[0-9]+|yyloc_default\.[0-9]+'

# allow FOLDER PATTERN: every project include in FOLDER (not below it) must match.
allow() {
  local bad
  bad=$(find "$1" -maxdepth 1 -type f \( -name '*.[chly]' -o -name '*.def' \) -exec grep -HnE '^#include "[^"]*/' {} + | grep -vE ":#include \"($2)/" || true)
  [ -z "$bad" ] && return
  echo "$1 may include only $2:"; echo "$bad"; status=1
}
allow ir 'ir'
allow frontend 'frontend|ir'
allow passes 'passes|ir'
allow codegen 'codegen|ir'
allow runtime 'runtime|codegen|passes|frontend|ir'
[ -d runtime/sim ] && {
  bad=$(grep -HnE '^#include "' runtime/sim/*.[chly] | grep -vE '#include "(ir/|runtime/sim/|runtime/cuda_types\.h|ptx_)' || true)
  [ -z "$bad" ] || { echo "runtime/sim may include only ir, runtime/sim and the driver's types:"; echo "$bad"; status=1; }
}
bad=$(grep -rlE '#include [<"]llvm' --include='*.[chly]' ir frontend passes runtime 2>/dev/null || true)
[ -z "$bad" ] || { echo "only codegen may include LLVM:"; echo "$bad"; status=1; }
bad=$(grep -lE '#include "runtime/sim/' runtime/*.[ch] | grep -v '^runtime/linked\.c$' || true)
[ -z "$bad" ] || { echo "only runtime/linked.c may know the simulator:"; echo "$bad"; status=1; }
bad=$(grep -HnE '^#include "' runtime/rt/*.[ch] runtime/rt_alone/*.[ch] | grep -vE '#include "(ir/|runtime/rt/|runtime/tile/rt\.h|runtime/cuda_types\.h)' || true)
[ -z "$bad" ] || { echo "runtime/rt, which is libtile-rt, may include only ir, its own and tile/rt.h:"; echo "$bad"; status=1; }

if [ $# -gt 0 ]; then
  for lib in "$1"/libtile-*.a; do
    [ -f "$lib" ] || continue
    bad=$(objdump -t "$lib" 2>/dev/null | grep -E '\s\.(data|bss)(\.|\s)' | grep -E ' O \.' | grep -vE "\.data\.rel\.ro|__asan|__odr|\s($per_process)\$" || true)
    [ -z "$bad" ] || { echo "writable data in $lib:"; echo "$bad"; status=1; }
  done
fi
[ $status = 0 ] && echo "layers: ok"
exit $status
