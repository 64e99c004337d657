#!/bin/sh
# Makes the PTX of recorded/ again; needs nvcc and llc of LLVM 22. recorded/tma_wgmma.ptx (nvcc -ptx -O3 -lineinfo -arch=sm_90a) stays as it
# is: test_sim_mutation.c names its registers.
cd "$(dirname "$0")" || exit 1
for k in kernels:90 async:80; do
  name=${k%:*}
  nvcc -ptx -O3 -lineinfo -arch=sm_${k#*:} -o recorded/$name.ptx $name.cu && sed -i '/^\t\.file/s|"[^"]*/|"|' recorded/$name.ptx
done
llc-22 -O3 -mcpu=sm_90a -mattr=+ptx83 llvm.ll -o recorded/llvm.ptx
