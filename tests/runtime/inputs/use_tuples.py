"""Arguments that are tuples, from Python: by ctypes, by the launcher in C, and compiled by a process of its own."""
import array
import collections
import sys

import tile

device = tile.open_device("sim")


class Array:
    dtype = "fp32"

    def __init__(self, values):
        self.address, self.count = device.alloc(4 * len(values)), len(values)
        device.upload(self.address, array.array("f", values).tobytes())

    def data_ptr(self):
        return self.address

    def values(self):
        device.synchronize()
        a = array.array("f")
        a.frombytes(device.download(self.address, 4 * self.count))
        return list(a)


Function = collections.namedtuple("Function", ["fn", "captured"])
x, y, bias = Array([float(i) for i in range(64)]), Array([0.0] * 64), Array([7.0])
for more in ({}, {"isolate": True, "tilec": sys.argv[2]}):
    program = tile.load(sys.argv[1], device=device, cache=False, **more)
    for again in range(3):
        program.line[1]((x, None), (2.0, (5,)), 64, y)
        assert y.values() == [2.0 * i + 5 for i in range(64)]
        program.line[1](arrays=(x, bias), by=(3, (1,)), n=9, out=y)
        assert y.values() == [3.0 * i + 8 for i in range(9)] + [8.0] * 55
        program.line[lambda meta: (meta["n"] // 9,)]((x, None), (tile.constexpr(4.0), (1,)), 9, y)
        assert y.values() == [4.0 * i + 1 for i in range(9)] + [1.0] * 55
        program.apply[1](Function(tile.expression("saxpy"), (3.0, 5.0)), x, y, (tile.constexpr(64),))
        assert y.values() == [3.0 * i + 5 for i in range(64)]
        program.through[1](x, y, f=tile.expression("saxpy"), T=tile.expression("tl.float32"))
        assert y.values() == [2.0 * i + 1 for i in range(64)]
    assert program.line.num_variants == 3 and program.apply.num_variants == 1
    print("tuples ok")
tuned = tile.load(sys.argv[1], device=device, cache=False, tune="on").tuned
for n in (3, 4, 4):
    tuned[1]((x, n), y)
    assert y.values() == [float(i + n) for i in range(64)]
print("tuned ok")
for attempt in (lambda: program.line[1]((x, None), (2.0, ("5",)), 64, y), lambda: program.line[1]((x, None), (2.0, (5, [])), 64, y), lambda: program.line[1](x, (2.0, (5,)), 64, y)):
    try:
        attempt()
        print("it went through")
    except (tile.Error, TypeError) as e:
        print("refused:", str(e).splitlines()[0])
