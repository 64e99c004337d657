"""open_device: one device by all its names, and a new one once it is closed."""
import array

import tilec

SOURCE = """@kernel
def put(x: *fp32, n: i32, T: constexpr):
    store(x + arange(0, 16), full([16], 1.3, T[0]).to(fp32), arange(0, 16) < n)
@jit
def double(v):
    return v * 10.0
@kernel
def call(x: *fp32, f: constexpr, T: constexpr):
    store(x, f(3.25).to(T).to(fp32))
"""


class float16:
    """What numpy.float16 is to a launch: a class whose objects are arrays."""
    __array_interface__ = nbytes = property(lambda self: {})


def double(v):
    """Stands for the kernels' function of this name, not for the dtype."""


assert tilec.open_device() is tilec.open_device("sim") is tilec.open_device("sim:0")
put = tilec.loads(SOURCE, "put.tile").put
x = array.array("f", [0] * 16)
put[(1,)](x, 16, (float16,))
print("in fp16:", round(x[0], 6))
tilec.loads(SOURCE, "put.tile").call[(1,)](x, double, float16)
print("by a function:", x[0])
try:
    put[(1,)](x, 16, tilec.expression("halv"))
except tilec.Error as error:
    print(error)
try:
    put[(2,)](x, 1 << 20, tilec.expression("(fp32,)"))   # nothing is out of bounds: 16 elements
    tilec.loads("@kernel\ndef far(x: *fp32):\n    store(x + 100000, 1.0)\n", "far.tile").far[(1,)](x)
except tilec.Error as error:
    print("failed:", "out-of-bounds" in str(error))
tilec.open_device("sim").close()
tilec.loads(SOURCE, "put.tile").put[(1,)](x, 16, (float16,))
print("works again on", tilec.open_device())
