# Reads nvdisasm's listing of a kernel: says how its busiest tensor-core loop looks, and whether anything lives in local memory.
#   between: the most other instructions from one HGMMA to the next of the same group; alone: groups that are waited for one
#   instruction at a time, which is how the assembler serialises
match($0, /^\.L_x_[0-9]+:/) { at[substr($0, 1, RLENGTH - 1)] = n + 1; next }
/\/\*[0-9a-f]+\*\// {
  sub(/.*\/\*[0-9a-f]+\*\/ */, ""); sub(/ *;.*/, "")
  if ($0 == "") next
  text[++n] = $0
  if (/(LDL|STL)[. ]/) local_memory++
  if (/^@.*BRA `\(/) { match($0, /\.L_x_[0-9]+/); target[n] = substr($0, RSTART, RLENGTH) }
}
END {
  for (i = 1; i <= n; i++) before[i] = before[i - 1] + (text[i] ~ /[HQI]G?MMA/)
  for (key in target) {
    i = key + 0
    from = at[target[i]]
    if (!from || from > i) continue
    count = before[i] - before[from - 1]
    if (count > most || (count == most && count && i - from < last - first)) { most = count; first = from; last = i }
  }
  if (!most) { printf "no tensor-core loop"; first = 1; last = 0 }
  for (i = first; i <= last; i++) {
    if (text[i] ~ /WARPGROUP.ARRIVE/) { arrives++; previous = 0; group = 0 }
    if (text[i] ~ /WARPGROUP.DEPBAR/) waits++
    if (text[i] ~ /BAR\.(SYNC|ARV)/) barriers++
    if (text[i] !~ /[HQI]G?MMA/) continue
    if (previous && i - previous - 1 > between) between = i - previous - 1
    previous = i
    group++
    if (text[i] ~ /gsb0/ && group == 1) alone++
  }
  if (most) printf "loop of %d: %d MMA, between %d, ARRIVE %d, DEPBAR %d, BAR %d, alone %d", last - first + 1, most, between, arrives, waits, barriers, alone
  printf "; local memory %d\n", local_memory
}
