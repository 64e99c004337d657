"""Launches with a cooperative grid, and dependent on the one before (PDL)."""
import tile

SOURCE = """import triton, triton.language as tl
@triton.jit
def fill(out, n, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), n)
"""
out = tile.ptr(4096, "fp32")
for options in ((), ("launch-cooperative-grid",), ("launch-pdl",), ("launch-pdl", "launch-cooperative-grid")):
    fill = tile.loads(SOURCE, name="fill.py", device="gpu", cache=False, options=options).fill
    for again in range(2):
        fill[3](out, 16, 32)
