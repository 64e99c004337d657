#!/bin/sh
# Makes the stored PTX again; needs nvcc and llc of LLVM 22.
cd "$(dirname "$0")" || exit 1
for k in kernels async; do
  nvcc -ptx -O3 -lineinfo -arch=sm_90 -o $k.ptx $k.cu && sed -i '/^\t\.file/s|"[^"]*/|"|' $k.ptx
done
llc-22 -O3 -mcpu=sm_90a -mattr=+ptx83 llvm.ll -o llvm.ptx
