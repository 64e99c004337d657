"""Launches Gluon kernels from Python: descriptors with and without a layout."""
import array
import sys

import tile

device = tile.open_device("sim")
program = tile.load(sys.argv[1], device=device)
n = 32 * 64
data = array.array("h", range(n))


def buffer(values):
    address = device.alloc(len(values) * 2)
    device.upload(address, values.tobytes())
    return address


class Layout:   # as Triton's class
    swizzle_byte_width, transposed = 64, False


for layout in (None, 0, 32, Layout(), 128):
    x, y = buffer(data), buffer(array.array("h", [0] * n))
    block = {"shape": [32, 64], "layout": layout}
    program.copy[1, 1](tile.desc(tile.ptr(x, "i16"), [32, 64], **block), tile.desc(tile.ptr(y, "i16"), [32, 64], **block),
                       WANT={None: 128, 0: 0, 32: 32, 128: 128}.get(layout, 64))
    device.synchronize()
    back = array.array("h", device.download(y, n * 2))
    print(getattr(layout, "swizzle_byte_width", layout), back == data)
print(program.copy.num_variants, "variants")
try:
    tile.desc(tile.ptr(x, "i16"), [32, 64], shape=[32, 64], layout=16)
except ValueError as e:
    print(e)
