"""What Python's side of a launch refuses, in words that name the mistake."""
import array

import tilec
from tilec._compile import compile_text


def refused(call):
    try:
        call()
        print("accepted")
    except (TypeError, ValueError, KeyError, tilec.Error) as error:
        print(f"{type(error).__name__}: {error}")


class Meta:
    """What a tensor of PyTorch's device meta is to a launch."""
    is_meta, is_cuda, dtype, device = True, False, "fp32", "meta"

    def data_ptr(self):
        return 0


class Sparse(Meta):
    is_meta, is_sparse = False, True


SOURCE = "@kernel\ndef put(x: *fp32, n: i32):\n    store(x, n)\n"
put = tilec.loads(SOURCE, "put.tile", device="interp").put
x = array.array("f", [0])
refused(lambda: put(x, 3))
refused(lambda: put[("a",)](x, 3))
refused(lambda: put[(1.5,)](x, 3))
refused(lambda: put[(1, 1, 1, 1)](x, 3))
refused(lambda: put[(1,)](x, 3, num_warps="4"))
refused(lambda: put[(1,)](Meta(), 3))
refused(lambda: put[(1,)](Sparse(), 3))
refused(lambda: tilec.loads(SOURCE, "put.tile", tune="maybe"))
refused(lambda: tilec.loads(SOURCE, "put.tile", policy="never"))
refused(lambda: tilec.Device(3))
refused(lambda: tilec.ptr("a", "fp32"))
TILED = "@kernel\ndef fill(x: *fp32, n: i32, B: constexpr):\n    store(x + arange(0, B), n)\n"
fill = tilec.loads(TILED, "fill.tile", device="interp").fill
refused(lambda: put["cdiv(n,B)"](x, 3))
refused(lambda: put[2.5](x, 3))
refused(lambda: put[(1,)](x, 3, num_warp=4))
refused(lambda: put[(1,)](x, 3, BLOCK_SIZE=4))
refused(lambda: fill[lambda meta: (meta["BLOCK"],)](x, 3, B=1))
refused(lambda: fill[(1,)](x, 3))
refused(lambda: fill[(1,)](x, array.array("q", [3]), B=1))
refused(lambda: tilec.load(SOURCE))
bad = tilec.loads("@kernel\ndef less(x: *fp32, n: i32):\n    store(x, 1, 0 < n)\n", "less.tile", device="interp").less
refused(lambda: bad[(1,)](x, None))
refused(lambda: compile_text("put.tile", SOURCE, "put", "*fp32, i32", "sm_1", ("ptx",)))
refused(lambda: tilec.loads(SOURCE, "put.tile", options=["fast-math"]))
refused(lambda: tilec.loads(SOURCE, "put.tile", options=["num-warp=4"]))


class Around:
    """An object around an array of the host, which does not say so."""
    dtype = "fp32"

    def data_ptr(self):
        return x.buffer_info()[0]


simulated = tilec.loads(SOURCE, "put.tile", device="sim", cache=False).put
refused(lambda: simulated[(1,)](Around(), 3))
refused(lambda: simulated[(1,)](x, 3))   # the device is kept
print(x[0])
refused(lambda: tilec.desc(x, [1, 2]))
refused(lambda: tilec.desc(x, 1) and 1)
