#!/usr/bin/env python3
"""What a warm launch with 12 arguments costs on the host from Python, in microseconds: medians over batches that the launch queue
holds. With torch and a GPU: ours and Triton's, in one process. Without (TILE_DEVICE=gpu over the stub driver): ours alone.
    PYTHONPATH=runtime/python TILE_LIBRARY=build/libtile.so python3 tests/gpu/launch_overhead.py"""
import os
import sys
import tempfile
import time

import tile

BATCH, BATCHES = 200, 101
SOURCE = """import triton
import triton.language as tl

@triton.jit
def many(a, b, c, m, n, k, p, q, r, s, t, u, B: tl.constexpr):
    o = tl.arange(0, B)
    tl.store(c + o, tl.load(a + o) + tl.load(b + o) + m + n + k + p + q + r + s + t + u)
"""


class Tensor:
    """Stands for a tensor where there is no torch."""

    dtype = "torch.float32"

    def __init__(self, address):
        self.address = address

    def data_ptr(self):
        return self.address


class Interface:
    """An array that has __cuda_array_interface__ alone."""

    def __init__(self, tensor):
        self.__cuda_array_interface__ = {"typestr": "<f4", "data": (tensor.data_ptr(), False), "shape": (256,), "strides": None, "version": 3}


def median(ways, synchronize):
    times = {name: [] for name in ways}
    for _ in range(BATCHES):
        for name, launch in ways.items():
            synchronize()
            start = time.perf_counter()
            for _ in range(BATCH):
                launch()
            times[name].append((time.perf_counter() - start) / BATCH * 1e6)
    for name, values in times.items():
        print(f"{name:34s} {sorted(values)[BATCHES // 2]:6.2f} us")


def main():
    try:
        import torch
        x = torch.ones(3 * 256, device="cuda")
        tensors, synchronize = [x[i * 256:(i + 1) * 256] for i in range(3)], torch.cuda.synchronize
    except ImportError:
        torch = None
        tensors, synchronize = [Tensor(4096 * i) for i in range(1, 4)], tile.open_device("gpu").synchronize
    scalars = [100 + i for i in range(9)]
    kernel = tile.loads(SOURCE, name="many.py", device="gpu").many
    ways = {}

    def run(name, launch):
        launch()
        ways[name] = launch

    a, b, c = tensors
    s0, s1, s2, s3, s4, s5, s6, s7, s8 = scalars
    run("python, nothing", lambda: None)
    run("tile, kernel[grid](...)", lambda: kernel[(1,)](a, b, c, s0, s1, s2, s3, s4, s5, s6, s7, s8, 128))
    run("tile, B=128 by name", lambda: kernel[(1,)](a, b, c, s0, s1, s2, s3, s4, s5, s6, s7, s8, B=128))
    run("tile, grid is a function", lambda: kernel[lambda meta: (tile.cdiv(128, meta["B"]),)](a, b, c, s0, s1, s2, s3, s4, s5, s6, s7, s8, B=128))
    d, e, f = [Interface(t) for t in tensors]
    run("tile, __cuda_array_interface__", lambda: kernel[(1,)](d, e, f, s0, s1, s2, s3, s4, s5, s6, s7, s8, 128))
    if torch and "--no-triton" not in sys.argv:
        try:
            import importlib.util
            path = os.path.join(tempfile.mkdtemp(), "many.py")
            with open(path, "w") as file:
                file.write(SOURCE)
            spec = importlib.util.spec_from_file_location("many", path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            theirs = module.many
            run("triton, kernel[grid](...)", lambda: theirs[(1,)](a, b, c, s0, s1, s2, s3, s4, s5, s6, s7, s8, B=128))
        except Exception as error:   # Triton is a peer to compare with, not something to fail over
            print(f"triton: not measured: {error}")
    median(ways, synchronize)


main()
