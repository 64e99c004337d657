#!/usr/bin/env bash
# Registers, spills and ptxas's messages of the matmul and attention examples at their benchmark configurations. Fails where
# ptxas refuses, spills, or says that it serialises tensor-core code (C75xx, C76xx). With nvdisasm (TILE_NVDISASM, PATH, the CUDA
# toolkit, or beside ptxas) also what the busiest loop is in machine code (sass_loop.awk); fails where it finds local memory or, on
# sm_90a, a tensor-core instruction that is waited for on its own.
#   tests/ptxas_report.sh TILEC [ARCH …]
set -u
tilec=$(realpath "$1"); shift
archs=${*:-sm_90a sm_80}
cd "$(dirname "$0")/.." || exit 3
ptxas=${TILE_PTXAS:-$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)}
[ -x "$ptxas" ] || { echo "skipped: what ptxas says: ptxas is not here"; exit 77; }
nvdisasm=${TILE_NVDISASM:-$(command -v nvdisasm || echo "$(dirname "$ptxas")/nvdisasm")}
[ -x "$nvdisasm" ] || { nvdisasm=; echo "skipped: the busiest loops in machine code: nvdisasm is not here"; }
scratch=$(mktemp -d) || exit 3
trap 'rm -rf "$scratch"' EXIT
failed=0
matmul_args="*fp16:16,*fp16:16,*fp16:16,i32:16,i32:16,i32:16,i32:16,1,i32:16,1,i32:16,1"
report() {   # NAME ARCH FILE KERNEL WARPS STAGES SIGNATURE
  local log=$scratch/log
  if ! "$tilec" "examples/$3" -k "$4" --arch="$2" -w "$5" --num-stages="$6" -s "$7" -o "$scratch/k.ptx" >"$log" 2>&1; then
    printf '%-7s %-40s tilec: %s\n' "$2" "$1" "$(head -1 "$log")"; failed=1; return
  fi
  if ! "$ptxas" -v -arch="$2" "$scratch/k.ptx" -o "$scratch/k.cubin" >"$log" 2>&1; then
    printf '%-7s %-40s ptxas: %s\n' "$2" "$1" "$(tail -1 "$log")"; failed=1; return
  fi
  local registers spills messages
  registers=$(grep -oE 'Used [0-9]+ registers' "$log" | head -1 | grep -oE '[0-9]+')
  spills=$(grep -oE '[0-9]+ bytes spill stores' "$log" | head -1 | grep -oE '[0-9]+')
  messages=$(grep -oE '\(C7[0-9]+\)' "$log" | sort | uniq -c | tr -s ' \n' ' ')
  printf '%-7s %-40s %3s registers, %4s bytes spilled%s\n' "$2" "$1" "$registers" "${spills:-0}" "${messages:+,$messages}"
  if [ -n "$nvdisasm" ] && [ "$2" = sm_90a ]; then
    local sass
    sass=$("$nvdisasm" -c "$scratch/k.cubin" 2>"$scratch/nvdisasm" | awk -f tests/sass_loop.awk)
    printf '        %s\n' "$sass"
    case $sass in *"alone 0"*"local memory 0") ;; *) failed=1 ;; esac
  fi
  if [ "${spills:-0}" != 0 ] || grep -qE 'C7[56][0-9][0-9]' "$log"; then failed=1; fi
}
for arch in $archs; do
  # sm_80 has less shared memory, and no tensor maps: descriptors' tiles come by cp.async there.
  if [ "$arch" = sm_80 ]; then
    report "matmul 128x256x64 w8 s3" $arch matmul.tile matmul_kernel 8 3 "$matmul_args,128,256,64,8"
    report "matmul 128x256x32 w8 s3" $arch matmul.tile matmul_kernel 8 3 "$matmul_args,128,256,32,8"
    report "matmul 128x128x32 w4 s4" $arch matmul.tile matmul_kernel 4 4 "$matmul_args,128,128,32,8"
    report "matmul_naive 128x128x64 w4 s4" $arch matmul_naive.tile matmul_naive 4 4 "*fp16:16,*fp16:16,*fp32:16,i32:16,i32:16,i32:16,128,128,64"
    report "descriptors 128x128x32 w8 s3" $arch matmul_descriptors.tile matmul_descriptors 8 3 \
      "tensordesc<fp16[128,32]>,tensordesc<fp16[32,128]>,tensordesc<fp16[128,128]>,i32:16,i32:16,i32:16,128,128,32"
    block=64 stages=3
  else
    for stages in 3 4; do
      report "matmul 128x256x64 w8 s$stages" "$arch" matmul.tile matmul_kernel 8 $stages "$matmul_args,128,256,64,8"
    done
    report "matmul 128x128x64 w4 s4" "$arch" matmul.tile matmul_kernel 4 4 "$matmul_args,128,128,64,8"
    report "matmul_naive 128x128x64 w4 s4" "$arch" matmul_naive.tile matmul_naive 4 4 "*fp16:16,*fp16:16,*fp32:16,i32:16,i32:16,i32:16,128,128,64"
    report "persistent 128x256x64 w8 s3" "$arch" matmul_persistent.tile matmul_persistent 8 3 \
      "tensordesc<fp16[128,64]>,tensordesc<fp16[256,64]>,tensordesc<fp16[128,128]>,i32:16,i32:16,i32:16,128,256,64,8,True,132"
    report "persistent 128x128x64 w4 s4" "$arch" matmul_persistent.tile matmul_persistent 4 4 \
      "tensordesc<fp16[128,64]>,tensordesc<fp16[128,64]>,tensordesc<fp16[128,64]>,i32:16,i32:16,i32:16,128,128,64,8,True,132"
    report "fp8 128x256x128 w8 s3" "$arch" matmul_fp8.tile matmul_fp8 8 3 \
      "*fp8e4nv:16,*fp8e4nv:16,*fp16:16,*fp32:16,*fp32:16,i32:16,i32:16,i32:16,128,256,128"
    report "int8 128x256x128 w8 s3" "$arch" matmul_int8.tile matmul_int8 8 3 "*i8:16,*i8:16,*i32:16,i32:16,i32:16,i32:16,128,256,128"
    report "gelu 128x256x64 w8 s3" "$arch" matmul_gelu.tile matmul_gelu 8 3 "*fp16:16,*fp16:16,*fp16:16,*fp16:16,i32:16,i32:16,i32:16,128,256,64"
    report "split_k 128x128x64 w8 s4" "$arch" matmul_split_k.tile matmul_split_k 8 4 "*fp16:16,*fp16:16,*fp32:16,i32:16,i32:16,i32:16,128,128,64,4"
    report "descriptors 128x256x64 w8 s3" "$arch" matmul_descriptors.tile matmul_descriptors 8 3 \
      "tensordesc<fp16[128,64]>,tensordesc<fp16[64,256]>,tensordesc<fp16[128,256]>,i32:16,i32:16,i32:16,128,256,64"
    report "batched 4x16x64x64 w4 s3" "$arch" matmul_batched.tile matmul_batched 4 3 "*fp16:16,*fp16:16,*fp16:16,i32:16,i32:16,i32:16,4,16,64,64"
    report "grouped 128x128x64 w8 s3" "$arch" matmul_grouped.tile matmul_grouped 8 3 \
      "*fp16:16,*fp16:16,*fp16:16,*i64:16,*i32:16,i32,i32:16,i32:16,i32:16,128,128,64,132"
    report "int4 128x128x64 w8 s3" "$arch" matmul_int4.tile matmul_int4 8 3 "*fp16:16,*u8:16,*fp16:16,*fp16:16,i32:16,i32:16,i32:16,128,128,128,64"
    block=128 stages=3
  fi
  for causal in False True; do
    report "attention 128x$block D128 w8 s$stages causal=$causal" "$arch" attention.tile attention_fwd 8 $stages \
      "*fp16:16,*fp16:16,*fp16:16,*fp16:16,i32:16,fp32,128,$block,128,$causal"
  done
done
exit $failed
