import array
import warnings
import tilec

text = """
@kernel
def adds(x_ptr: *fp32, y_ptr: *fp32, out_ptr: *fp32, T: i32, n: i32, BLOCK: constexpr = 64):
    i = arange(0, BLOCK)
    store(out_ptr + i, load(x_ptr + i, i < T * n) + load(y_ptr + i, i < T * n), i < T * n)

@kernel
def strided(x_ptr: *fp32, y_ptr: *fp32, out_ptr: *fp32, stride_x: i32, n: i32, BLOCK: constexpr = 64):
    i = arange(0, BLOCK)
    store(out_ptr + i, load(x_ptr + i * stride_x, i < 1) + load(y_ptr + i, i < n), i < n)

@kernel
def transposed(x_t: *fp32, y_ptr: *fp32, out_ptr: *fp32, T: i32, n: i32, BLOCK: constexpr = 64):
    i = arange(0, BLOCK)
    store(out_ptr + i, load(x_t + i, i < T * n) + load(y_ptr + i, i < T * n), i < T * n)
"""


class Matrix:
    def __init__(self, rows, columns, is_transposed=False):
        self.data = array.array("f", range(rows * columns))
        strides = (4, 4 * rows) if is_transposed else (4 * columns, 4)
        self.__array_interface__ = {"data": (self.data.buffer_info()[0], False), "typestr": "<f4", "version": 3,
                                    "shape": (rows, columns), "strides": strides}


def launch(what, kernel, x, y, first):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program[kernel][(1,)](x, y, Matrix(5, 12), first, 12)
    print(what + ":", *(w.message for w in caught))


with tilec.open_device("sim") as device:
    program = tilec.loads(text, name="order.tile", device=device)
    launch("one transposed", "adds", Matrix(5, 12, True), Matrix(5, 12), 5)
    launch("none transposed", "adds", Matrix(5, 12), Matrix(5, 12), 5)
    launch("another shape", "adds", Matrix(12, 5, True), Matrix(5, 12), 5)
    launch("a row alone", "adds", Matrix(1, 12, True), Matrix(1, 12), 1)
    launch("told", "strided", Matrix(5, 12, True), Matrix(5, 12), 5)
    launch("named", "transposed", Matrix(5, 12, True), Matrix(5, 12), 5)
