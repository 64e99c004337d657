# Types that are compared with text or named in annotations, a range with a step, and assembly that is not pure.
# RUN: %tilec %s -n k -s *fp16,*i16,i32 -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=warning
# RUN: not %tilec %s -n stepped -s *i32 -o /dev/null 2>&1 | FileCheck %s --check-prefix=STEP
# RUN: not %tilec %s -n bits -s *fp32 -o /dev/null 2>&1 | FileCheck %s --check-prefix=BITS
import triton
import triton.language as tl


@triton.jit
def k(x, out, n):
    o = tl.arange(0, 64)
    # CHECK: :[[#@LINE+2]]:8: warning: the annotation converts nothing: `v` is fp16[64] [-Wannotation]
    # CHECK: note: convert the value: v = tl.load(x + o).to(tl.float32)
    v: tl.float32 = tl.load(x + o)
    w: tl.float16 = tl.load(x + o)
    m: tl.int32 = n
    # CHECK: :[[#@LINE+2]]:8: warning: a dtype never equals a string: fp16 is no text [-Wtype-name]
    # CHECK: note: compare it with the dtype: == tl.float16
    if x.dtype.element_ty == "fp16":
        v += 1
    # CHECK: :[[#@LINE+2]]:92: warning: is_pure=True says that equal calls give equal values, and may be merged, moved or left out: this assembly has `%clock` [-Wpure-asm]
    # CHECK: note: write is_pure=False
    t = tl.inline_asm_elementwise("mov.u32 $0, %clock;", "=r", [], dtype=tl.int32, pack=1, is_pure=True)
    u = tl.inline_asm_elementwise("mov.u32 $0, %laneid;", "=r", [], dtype=tl.int32, pack=1, is_pure=True)
    # CHECK: warning: fp16[64] is rounded toward zero to i16 before `store` [-Wlost-fraction]
    # CHECK: note: let the pointer point to numbers of its type, or write .to(tl.int16) if whole numbers are meant, or .to(tl.int16, bitcast=True) for its bits
    tl.store(out + o + t + u + m, v + w)


@triton.jit
def stepped(out):
    # STEP: error: `arange` takes at most 2 positional arguments, 3 are given
    # STEP: note: it has no step: write tl.arange(0, 64 // 2) * 2
    tl.store(out + tl.arange(0, 64, 2), 1)
    # STEP: note: it has no step: write 8 + tl.arange(0, (72 - 8) // 4) * 4
    tl.store(out + tl.arange(8, 72, 4), 1)


@triton.jit
def bits(x):
    # BITS: error: static assertion failed: xor_sum works on integers: write x.to(tl.int32, bitcast=True) for the bits of fp32
    tl.store(x, tl.xor_sum(tl.load(x + tl.arange(0, 64)), 0))
