# Mistakes of which some have a literal way out, beside characters of several bytes.
import triton
import triton.language as tl


@triton.jit
def later(x: "*fp32", n: "i32", N: tl.constexpr = 16):
    offsets = tl.arange(0, N); "é日"; v = tl.load(x + ofsets, mask=n > 0)
    tl.store(x, 1.0, masc=None)


@triton.jit
def earlier(x: "*fp32", N: tl.constexpr = 16):
    tl.static_print("told")
    "é"; tl.debug_barrier
    if N is 16:
        tl.store(x, tl.program_id(0))
    unread = 1
