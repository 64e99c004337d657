; Kernels whose PTX comes from LLVM 22 (llvm.ptx, made by make_ptx.sh): i128, vectors, half, switch, calls, allocas, shuffles.
target triple = "nvptx64-nvidia-cuda"

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare float @llvm.fma.f32(float, float, float)
declare <2 x half> @llvm.fma.v2f16(<2 x half>, <2 x half>, <2 x half>)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.bitreverse.i64(i64)
declare i16 @llvm.sadd.sat.i16(i16, i16)

define ptx_kernel void @wide(ptr addrspace(1) %a, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr i128, ptr addrspace(1) %a, i32 %t
  %x = load i128, ptr addrspace(1) %p, align 16
  %m = mul i128 %x, 1000003
  %s = lshr i128 %m, 37
  %r = sub i128 %s, %x
  %q = getelementptr i128, ptr addrspace(1) %out, i32 %t
  store i128 %r, ptr addrspace(1) %q, align 16
  ret void
}

define internal i32 @pick(i32 %x) noinline {
  switch i32 %x, label %other [ i32 0, label %a i32 1, label %b i32 2, label %c i32 3, label %d i32 4, label %e ]
a: ret i32 7
b: ret i32 70
c: ret i32 -7
d: %p = call i32 @llvm.ctpop.i32(i32 12345)
   ret i32 %p
e: ret i32 44
other: %y = mul i32 %x, 3
  ret i32 %y
}

define ptx_kernel void @mixed(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %v = alloca [8 x i32], align 16
  br label %fill
fill:
  %i = phi i32 [ 0, %0 ], [ %n, %fill ]
  %e = getelementptr [8 x i32], ptr %v, i32 0, i32 %i
  %f = mul i32 %i, %t
  store volatile i32 %f, ptr %e
  %n = add i32 %i, 1
  %more = icmp ult i32 %n, 8
  br i1 %more, label %fill, label %done
done:
  %k = and i32 %t, 7
  %c = call i32 @pick(i32 %k)
  %g = getelementptr [8 x i32], ptr %v, i32 0, i32 %k
  %h = load volatile i32, ptr %g
  %rot = call i32 @llvm.fshl.i32(i32 %h, i32 %c, i32 %t)
  %sw = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %rot, i32 3, i32 31)
  %sum = add i32 %sw, %c
  %q = getelementptr i32, ptr addrspace(1) %out, i32 %t
  store i32 %sum, ptr addrspace(1) %q
  ret void
}

define ptx_kernel void @halves(ptr addrspace(1) %a, ptr addrspace(1) %out) {
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %p = getelementptr <4 x half>, ptr addrspace(1) %a, i32 %t
  %x = load <4 x half>, ptr addrspace(1) %p, align 8
  %lo = shufflevector <4 x half> %x, <4 x half> poison, <2 x i32> <i32 0, i32 1>
  %hi = shufflevector <4 x half> %x, <4 x half> poison, <2 x i32> <i32 3, i32 2>
  %f = call <2 x half> @llvm.fma.v2f16(<2 x half> %lo, <2 x half> %hi, <2 x half> %lo)
  %w = fpext <2 x half> %f to <2 x float>
  %w0 = extractelement <2 x float> %w, i32 0
  %w1 = extractelement <2 x float> %w, i32 1
  %r = call float @llvm.fma.f32(float %w0, float %w1, float 1.0)
  %d = fdiv float %r, 3.0
  %q = getelementptr float, ptr addrspace(1) %out, i32 %t
  store float %d, ptr addrspace(1) %q
  ret void
}
