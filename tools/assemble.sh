#!/usr/bin/env bash
# Compiles every kernel that has a `tilec run` line for each architecture and assembles it with ptxas: registers, spills and
# shared memory per kernel. Fails if ptxas refuses a kernel or
# serialises its tensor-core code, or if an sm_90a kernel spills.
#   tools/assemble.sh TILEC [-a "sm_80 sm_90a …"] FILE…
set -u
tilec=$(realpath "$1"); shift
archs="sm_80 sm_90a sm_100a sm_120a"
while getopts a: opt; do case $opt in a) archs=$OPTARG ;; *) exit 2 ;; esac; done
shift $((OPTIND - 1))
ptxas=${TILE_PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
[ -x "$ptxas" ] || { echo "assemble: ptxas is not here, nothing done"; exit 0; }
scratch=$(mktemp -d) || exit 3
trap 'rm -rf "$scratch"' EXIT
count=0 failed=0
for file in "$@"; do
  while IFS= read -r command; do
    for arch in $archs; do
      count=$((count + 1))
      compile="${command/#tilec/\"$tilec\"} -q --compile-only --arch=$arch -o \"$scratch/k.ptx\""
      if ! (eval "$compile") >"$scratch/log" 2>&1; then
        if grep -qE "needs sm_[0-9]+a?( or later)?, this is $arch" "$scratch/log"; then
          echo "$arch $file: needs what the target does not have"; continue
        fi
        echo "FAIL $arch $file: tilec"; tail -n 6 "$scratch/log" | sed 's/^/    /'; failed=$((failed + 1)); continue
      fi
      if ! "$ptxas" -v -arch="$arch" "$scratch/k.ptx" -o "$scratch/k.cubin" >"$scratch/log" 2>&1; then
        echo "FAIL $arch $file: ptxas"; tail -n 6 "$scratch/log" | sed 's/^/    /'; failed=$((failed + 1)); continue
      fi
      used=$(grep -oE 'Used [0-9]+ registers' "$scratch/log" | head -1)
      spills=$(grep -oE '[0-9]+ bytes spill stores, [0-9]+ bytes spill loads' "$scratch/log" | head -1)
      printf '%-8s %-40s %s, %s\n' "$arch" "$file" "$used" "$spills"
      serialised=$(grep -E 'C7[56][0-9][0-9]' "$scratch/log" | head -1)
      if [ -n "$serialised" ]; then
        echo "FAIL $arch $file: $serialised"; failed=$((failed + 1))
      elif [ "$arch" = sm_90a ] && [ "${spills%% *}" != 0 ]; then
        echo "FAIL $arch $file: spills"; failed=$((failed + 1))
      fi
    done
  done < <(sed -nE 's/^[#\/ ]*(tilec run .*)$/\1/p' "$file")
done
echo "assembled: $((count - failed)) of $count"
[ $failed = 0 ]
