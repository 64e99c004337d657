"""Every stream of the stub driver is being captured: what was prepared launches, anything else fails before the driver is asked for more."""
import os

import tile

SOURCE = """import triton, triton.language as tl
@triton.jit
def fill(out, n, B: tl.constexpr):
    tl.store(out + tl.arange(0, B), n)
"""
fill = tile.loads(SOURCE, name="fill.py", device="gpu", cache=False).fill
out = tile.ptr(4096, "fp32")
os.environ["STUB_CAPTURING"] = "1"
os.putenv("STUB_CAPTURING", "1")
for again in range(2):
    try:
        fill[1](out, 16, 32)
        print("it went through")
    except tile.Error as e:
        print("refused:", e)
fill.warmup(out, 16, 32)
for again in range(2):
    fill[1](out, 16, 32)
print("launched", fill.num_variants)
