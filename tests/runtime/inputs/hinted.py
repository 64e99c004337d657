"""Launches a kernel that is compiled with an occupancy hint."""
import tile

SOURCE = """
@kernel
def total(x, out):
    store(out, sum(load(x + arange(0, 8192)), axis=0))
"""
kernel = tile.loads(SOURCE, name="total.tile", cache=False)["total"]
kernel[1,](x=tile.ptr(4096, "float32"), out=tile.ptr(8192, "float32"), num_warps=16)
print("launched")
