import triton.language as tl
TWELVE = tl.constexpr(12)
