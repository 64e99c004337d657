"""What Python's side of a launch refuses, in words that name the mistake."""
import array

import tilec


def refused(call):
    try:
        call()
        print("accepted")
    except (TypeError, ValueError) as error:
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
refused(lambda: put[(1,)](Meta(), 3))
refused(lambda: put[(1,)](Sparse(), 3))
refused(lambda: tilec.loads(SOURCE, "put.tile", tune="maybe"))
refused(lambda: tilec.loads(SOURCE, "put.tile", policy="never"))
refused(lambda: tilec.Device(3))
refused(lambda: tilec.ptr("a", "fp32"))
