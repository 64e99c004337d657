"""Kernels compiled for other targets, compiled before their launch, and launched by processes that a program starts."""
import multiprocessing
import os
import subprocess
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from ints import Ints


@triton.jit
def add(a, b, c, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(c + i, tl.load(a + i, i < n) + tl.load(b + i, i < n), i < n)


@triton.jit
def outside(a, i):
    tl.store(a + i, 1)


@triton.jit
def other(a):
    tl.store(a, 1)


def compiled(constants, target, **options):
    source = ASTSource(add, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32"}, constants,
                       attrs={(0,): [["tt.divisibility", 16]]})
    return triton.compile(source, target=target, options=options)


def raised(call):
    try:
        return call()
    except Exception as e:
        return f"{type(e).__name__}: {e}"


def child(key, queue):
    queue.put((add.cache_key == key, triton.__file__ == sys.modules["triton"].__file__, "tilec" in triton.__file__,
               compiled({"N": 16}, GPUTarget("cuda", 80, 32)).name))


def main():
    k = compiled({"N": 32}, GPUTarget("cuda", 100, 32), num_warps=2)
    print([line.strip() for line in k.asm["ptx"].splitlines() if line.startswith(".target")], k.metadata.num_warps)
    print(raised(lambda: k[(1,)](1)))
    print(raised(lambda: k.asm["sass"]))
    print(raised(lambda: compiled({}, GPUTarget("hip", "gfx942", 64))))
    print(raised(lambda: compiled({"N": 31}, GPUTarget("cuda", 80, 32))).splitlines()[0])

    seen = []
    triton.knobs.runtime.jit_cache_hook = lambda **what: seen.append(what["compile"]["specialization_data"])
    tensor = triton.MockTensor(tl.float32)
    add.warmup(tensor, tensor, tensor, 3, 64, grid=(1,), num_warps=2)
    add.preload(seen[0])
    add.warmup(tensor, tensor, tensor, 3, 64, grid=(1,), num_warps=2)
    print("asked:", len(seen), raised(lambda: other.preload(seen[0])))
    triton.knobs.runtime.jit_cache_hook = None

    numbers = Ints(0, 0, 0, 0)
    for i in (1, 1 << 20, 2):   # a kernel that fails does not keep the next one from running
        print(i, str(raised(lambda: outside[(1,)](numbers, i)))[:12], list(numbers.data))

    aligned = [["tt.divisibility", 16]]
    for arch in (90, 80):   # the current device's, and another one
        for keys in ((), ((0,), (1,)), ((0,), (1,), (2,), (3,))):
            source = ASTSource(add, {"a": "*fp32", "b": "*fp32", "c": "*fp32", "n": "i32"}, {"N": 512},
                               attrs={key: aligned for key in keys})
            ptx = triton.compile(source, target=GPUTarget("cuda", arch, 32)).asm["ptx"]
            print(arch, len(keys), ptx.count("ld.global.v4"), ptx.count("st.global.v4"))

    for way in ("spawn", "fork"):
        context = multiprocessing.get_context(way)
        queue = context.Queue()
        process = context.Process(target=child, args=(add.cache_key, queue))
        process.start()
        print(way, queue.get(timeout=60))
        process.join()
    print(subprocess.run([sys.executable, "-c", "import triton; print('tilec' in triton.__file__)"],
                         env={**os.environ, "PYTHONHASHSEED": "5"}, capture_output=True, text=True).stdout.strip())


if __name__ == "__main__":
    main()
