#!/usr/bin/env bash
# The binary interface of both libraries against the recorded one: functions, types, layouts, enumerators. Additions pass, changes
# and removals do not. Symbols are compared by check.sh; this needs abigail-tools and is skipped without (status 77).
#   tests/install/abi.sh [--record]
# The libraries are compiled here without optimisation and without LLVM, for their debug information alone.
set -eu
cd "$(dirname "$0")/../.."
command -v abidw >/dev/null || { echo "skipped: binary interface: abigail-tools is not installed"; exit 77; }
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT
status=0
compile() { # OUT SOURCE…
  local out=$1
  shift
  mkdir -p "$out"
  printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} sh -c 'cc -std=gnu17 -g -O0 -fPIC -fvisibility=hidden -w -I. -Iruntime -c "$1" -o "$2/$(echo "$1" | tr / _).o"' sh {} "$out"
  cc -shared -o "$out.so" -Wl,--version-script=cmake/tile.map "$out"/*.o
  abidw --headers-dir runtime/tile --drop-private-types --exported-interfaces-only --no-corpus-path --no-comp-dir-path --no-show-locs --type-id-style hash "$out.so" --out-file "$out.abi"
}
rt=(runtime/rt/*.c)
tile=(runtime/compile/*.c runtime/jit/*.c)
compile "$tmp/libtile-rt" "${rt[@]}" runtime/rt/alone/linked.c
compile "$tmp/libtile" "${rt[@]}" "${tile[@]}"
for lib in libtile-rt libtile; do
  recorded=tests/install/recorded/$lib.abi
  if [ "${1:-}" = --record ]; then cp "$tmp/$lib.abi" "$recorded"; continue; fi
  # A structure with struct_size may grow at its end.
  printf '[suppress_type]\n  type_kind = struct\n  name_regexp = ^tile_(.*options|hooks|diagnostic|fixit|event|resources|device_properties|param|package_entry|tune_candidate)$\n  has_data_member_inserted_at = end\n' >"$tmp/grow"
  abidiff --suppressions "$tmp/grow" --no-added-syms "$recorded" "$tmp/$lib.abi" || { echo "abi: $lib differs from $recorded"; status=1; }
done
[ $status = 0 ] && echo "abi: ok"
exit $status
