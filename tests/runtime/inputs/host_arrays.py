"""Arrays of the host on the simulator and the interpreter: copied in and out, with views and aliases kept."""
import array
import warnings

import tilec

SOURCE = """
@kernel
def add(x: *fp32, y: *fp32, out: *fp32, n: i32, BLOCK: constexpr = 256):
    offs = program_id(0) * BLOCK + arange(0, BLOCK)
    mask = offs < n
    store(out + offs, load(x + offs, mask) + load(y + offs, mask), mask)

@kernel
def copy(src, dst, N: constexpr = 16):
    dst.store([0, 0], src.load([0, 0]))

@kernel
def pick(x: *fp32, what: constexpr, n: constexpr):
    store(x, n(what[0]) + full([], what[1], what[2]))

@kernel
def shifted(x: *fp32, out: *fp32, by: i32, BLOCK: constexpr = 16):
    offs = arange(0, BLOCK)
    store(out + offs, load(x + offs + by))

@constexpr_function
def twice(a):
    return 2 * a
"""


def floats(values):
    return array.array("f", values)


def fails(launch):
    try:
        launch()
    except Exception as e:
        print("refused:", e)
    else:
        raise AssertionError("it went through")


class Numbers:
    """An array with NumPy's interface: a view of another one's memory."""

    def __init__(self, memory, first=0, count=None, strides=None, readonly=False, typestr="<f4", base=None):
        address, total = memory.buffer_info()
        self.memory, self.base = memory, base
        self.__array_interface__ = {"data": (address + 4 * first, readonly), "typestr": typestr,
                                    "shape": (total - first if count is None else count,), "strides": strides}


for name in ("interp", "sim"):
    program = tilec.loads(SOURCE, name="host.tile", device=name, cache=False)
    print(program, program.add, program.device)
    x, y, out = floats(range(1000)), floats([2.0] * 1000), floats([0.0] * 1000)
    for again in range(2):
        program.add[lambda meta: (tilec.cdiv(meta["n"], meta["BLOCK"]),)](x, y, out, 1000)
        assert list(out) == [v + 2 for v in range(1000)]
    program.add[4](x, x, x, 1000)
    assert list(x) == [2.0 * v for v in range(1000)], "aliases"

    view = memoryview(out)[100:200]
    program.add[1](view, view, view, 100)
    assert out[99:101] == floats([101.0, 204.0]) and out[199:201] == floats([402.0, 202.0]), "a view"

    # Two views of one storage: what is written through one is read through the other.
    whole = Numbers(out)
    low, high = (Numbers(out, first, 50, base=whole) for first in (0, 25))
    before = list(out)
    program.add[1](low, low, high, 25)
    assert list(out) == before[:25] + [2 * v for v in before[:25]] + before[50:], "overlapping views"

    # A kernel may reach the rest of the storage that its array is a view of.
    program.add[4](Numbers(x, 0, 1, base=Numbers(x)), y, out, 1000)
    assert list(out) == [v + 2 for v in x], "beyond the view"

    d = floats([0.0] * 256)
    program.copy[1](tilec.desc(Numbers(x), [16, 16], shape=[16, 16]), tilec.desc(d, [16, 16], shape=[16, 16]))
    assert d == x[:256], "descriptors"

    program.pick[1](x, (5, 2.5, tilec.dtype("fp32")), tilec.expression("twice"))
    assert x[0] == 12.5, "a tuple with a dtype"

    def twice(a):   # a function stands for the one of its name in the kernel's file
        return 2 * a

    program.pick[1](x, (6, 2.5, tilec.dtype("fp32")), twice)
    assert x[0] == 14.5, "a function"

    fails(lambda: program.add[1](x, y, Numbers(out, readonly=True), 10))
    program.add[1](Numbers(x, readonly=True), y, out, 10)
    fails(lambda: program.add[1](x, x, Numbers(out, 0, 10, strides=(0,), readonly=True), 1))
    fails(lambda: program.add[1](x, Numbers(y, 0, 1000, strides=(0,)), out, 1000))
    fails(lambda: program.add[1](x, Numbers(y, typestr=">f4"), out, 10))
    fails(lambda: program.add[1](x, array.array("i", [0] * 10), out, 10))
    fails(lambda: program.add[1](x, y, [1.0], 10))
    fails(lambda: program.add[1](x, y, out, "text"))
    device = program.device
    device.close()
    fails(lambda: program.add[1](x, y, out, 10))
    fails(lambda: device.alloc(16))
    assert tilec.open_device(name) is not device

    for first, by in ((0, -1), (101, 899)):   # wherever the array lies in the host's memory
        program = tilec.loads(SOURCE, name="host.tile", device=name, cache=False)
        fails(lambda: program.shifted[1](Numbers(x, first), out, by))
        program.device.close()


def told(**options):
    """Returns what the compiler says of a kernel with an unused name, and prints what it prints."""
    text = "@kernel\ndef told(x: *i32):\n    static_print('at compile time')\n    spare = 3\n    store(x, 1)\n"
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tilec.loads(text, name="told.tile", device="interp", cache=False, **options).told[1](array.array("i", [0]))
    return [(type(w.message), w.filename, w.lineno, str(w.message).splitlines()[0]) for w in caught]


assert told() == [(tilec.Warning, "told.tile", 4, "`spare` is assigned and never used [-Wunused-variable]")], told()
heard = []
assert told(on_log=lambda level, text: heard.append((level, text.splitlines()[0]))) == []
assert heard == [("note", "at compile time"), ("warning", "told.tile:4:5: warning: `spare` is assigned and never used "
                                                          "[-Wunused-variable]")], heard
print("ok", tilec.__version__)
