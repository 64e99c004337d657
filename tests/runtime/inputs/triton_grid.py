"""Grids whose axes are no integers, before and after the launcher in C has learned the launch."""
import array

import triton
import triton.language as tl


class Two:
    """A number of another library."""

    def __index__(self):
        return 2


class Numbers:
    """Memory with the interface of an array of the host."""

    shape, dtype, device = (1024,), "float32", "cpu"

    def __init__(self):
        self.data = array.array("f", [0]) * 1024
        self.__array_interface__ = {"data": (self.data.buffer_info()[0], False), "typestr": "<f4", "shape": (1024,),
                                    "version": 3}

    def data_ptr(self):
        return self.data.buffer_info()[0]


@triton.jit
def put(o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, 1.0, i < n)


def launch(name, grid):
    numbers = Numbers()
    try:
        put[grid](numbers, 1000, BLOCK=128)
        print(f"{name}: accepted {int(sum(numbers.data))}")
    except (KeyError, TypeError) as error:
        print(f"{name}: {type(error).__name__}: {error}")


launch("cut", lambda m: (1000 / m["BLOCK"],))
launch("half", (0.5,))
launch("text", ("3",))
launch("cdiv", lambda m: (triton.cdiv(1000, m["BLOCK"]),))
launch("index", (Two(),))
launch("constexpr", (tl.constexpr(2),))
launch("after", (1000 / 128,))
launch("number", 8)
launch("no tuple", lambda m: triton.cdiv(1000, m["BLOCK"]))
launch("other name", lambda m: (triton.cdiv(1000, m["BLOCK_SIZE"]),))


@triton.heuristics({"BLOCK": lambda args: args["n_elements"]})
@triton.jit
def chosen(o, n, BLOCK: tl.constexpr):
    tl.store(o + tl.arange(0, BLOCK), 1.0)


try:
    chosen[(1,)](Numbers(), 1024)
except KeyError as error:
    print(error)


@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.autotune([triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def above(o, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    tl.store(o + tl.arange(0, BLOCK), 1.0)


try:
    above[(1,)](Numbers(), 1024)
except KeyError as error:
    print(error)

try:
    put[(1, 70000)](Numbers(), 1000, BLOCK=128)
except triton.OutOfResources as error:
    print(error.required, error.limit, error)
