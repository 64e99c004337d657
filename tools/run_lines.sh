#!/usr/bin/env bash
# Runs the `tilec run` lines that kernels carry in their headers, from the folder that holds examples/.
#   tools/run_lines.sh TILEC [-j N] [-o "more options"] FILE…
# Prints a line per command and the counts; exits with 0 if all passed that the target can run.
set -u
tilec=$(realpath "$1"); shift
jobs=1 more=
while getopts j:o: opt; do
  case $opt in j) jobs=$OPTARG ;; o) more=$OPTARG ;; *) exit 2 ;; esac
done
shift $((OPTIND - 1))
scratch=$(mktemp -d) || exit 3
trap 'rm -rf "$scratch"' EXIT
one() {   # one INDEX FILE COMMAND
  local start log=$scratch/$1.log
  start=$(date +%s%N)
  local result=fail kernel
  if (eval "${3/#tilec/\"$tilec\"} $more") >"$log" 2>&1; then result=pass
  elif grep -qE 'needs sm_[0-9]+a?( or later)?, this is sm_' "$log"; then result=skip; fi   # by `-o --arch=…`
  echo $result >"$scratch/$1.result"
  kernel=$(sed -nE 's/.* (-k|-n|--kernel)[ =]([^ ]+).*/\2/p' <<<"$3")
  printf '%s %6d ms  %s\n' $result $((($(date +%s%N) - start) / 1000000)) "$2: $kernel"
  [ $result != fail ] || { echo "  $3 $more"; tail -n 12 "$log" | sed 's/^/    /'; }
}
n=0
for file in "$@"; do
  while IFS= read -r command; do
    n=$((n + 1))
    one $n "$file" "$command" >"$scratch/$n.out" 2>&1 &
    while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  done < <(sed -nE 's/^[#\/ ]*(tilec run .*)$/\1/p' "$file")
done
wait
for i in $(seq 1 $n); do cat "$scratch/$i.out"; done
count() { cat "$scratch"/*.result 2>/dev/null | grep -c "$1"; }
passed=$(count pass) skipped=$(count skip)
echo "run lines: $passed of $((n - skipped)) passed$([ "$skipped" = 0 ] || echo "; $skipped need what the target lacks")"
[ "$passed" = $((n - skipped)) ] && [ "$passed" -gt 0 ]
