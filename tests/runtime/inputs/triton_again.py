"""A launch that fails on the simulator, and one after it, while another thread is there."""
import array
import threading

import triton
import triton.language as tl


class Numbers:
    """Memory with the interface of an array of the host."""

    shape, dtype, device = (64,), "float32", "cpu"

    def __init__(self):
        self.data = array.array("f", [0]) * 64
        self.__array_interface__ = {"data": (self.data.buffer_info()[0], False), "typestr": "<f4", "shape": (64,),
                                    "version": 3}

    def data_ptr(self):
        return self.data.buffer_info()[0]


@triton.jit
def put(o, BLOCK: tl.constexpr):
    tl.store(o + tl.arange(0, BLOCK), 1.0)


end = threading.Event()
other = threading.Thread(target=end.wait)
other.start()
for block in (128, 64, 128, 32):
    numbers = Numbers()
    try:
        put[(1,)](numbers, BLOCK=block)
        print(f"{block}: {int(sum(numbers.data))}")
    except Exception as error:
        print(f"{block}: {str(error).splitlines()[0]}")
end.set()
other.join()
