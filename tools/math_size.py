#!/usr/bin/env python3
"""Machine instructions of one call of each mathematical function, tilec's beside CUDA's, without those of loading, storing
and ending. What both branch around counts, too.

usage: math_size.py [--tilec FILE] [--only NAME…] [--out PAGE]     needs nvcc, ptxas and nvdisasm; NVDISASM names the last

PAGE, docs/results/math-size.md, is overwritten."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
import results  # noqa: E402

ONE = """exp exp2 exp10 expm1 log log2 log10 log1p logb tanh sinh cosh asinh acosh atanh sin cos tan sinpi cospi asin acos
    atan erf erfc erfinv erfcinv erfcx normcdf normcdfinv lgamma tgamma sqrt rsqrt cbrt rcbrt j0 j1 y0 y1 cyl_bessel_i0
    cyl_bessel_i1""".split()
TWO = "pow atan2 hypot rhypot fmod remainder div_rn".split()
KERNEL = """import triton.language as tl
from triton.language.extra import libdevice
@triton.jit
def one(x, y, out, F: tl.constexpr):
    tl.store(out + tl.arange(0, 128), F(tl.load(x + tl.arange(0, 128))))
@triton.jit
def two(x, y, out, F: tl.constexpr):
    tl.store(out + tl.arange(0, 128), F(tl.load(x + tl.arange(0, 128)), tl.load(y + tl.arange(0, 128))))
"""
DEVICE = 'extern "C" __global__ void f(const T *x, const T *y, T *out) { int i = threadIdx.x; out[i] = CALL; }'
INSTRUCTION = r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ )?([A-Z0-9_.]+)"


def count(cubin):
    text = subprocess.run([os.environ.get("NVDISASM", "nvdisasm"), "-c", cubin], capture_output=True, text=True).stdout
    return sum(m != "NOP" for m in re.findall(INSTRUCTION, text, re.M))


def ours(tilec, name, bits, args):
    types = ", ".join([f"*fp{bits}:16"] * 3 + [name])
    subprocess.run([tilec, "k.tile", "-n", ("one", "two")[args - 1], "-s", types, "--arch=sm_90a", "-o", "k.ptx"], check=True)
    subprocess.run(["ptxas", "-arch=sm_90a", "k.ptx", "-o", "k.cubin"], check=True)
    return count("k.cubin")


def cuda(name, bits, args):
    single = bits == 32
    function = {"div_rn": "__fdiv_rn" if single else "__ddiv_rn"}.get(name, name + "f" * single)
    call = function + ("(x[i])", "(x[i], y[i])")[args - 1]
    with open("k.cu", "w") as f: f.write(DEVICE.replace("CALL", call).replace("T ", ("double ", "float ")[single]))
    subprocess.run(["nvcc", "-arch=sm_90a", "-cubin", "k.cu", "-o", "k.cubin"], check=True)
    return count("k.cubin")


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    p.add_argument("--tilec", default="build/tilec")
    p.add_argument("--only", nargs="+", default=[])
    p.add_argument("--out")
    o = p.parse_args()
    tilec, out = os.path.abspath(o.tilec), o.out and os.path.abspath(o.out)
    missing = [t for t in ("nvcc", "ptxas", os.environ.get("NVDISASM", "nvdisasm")) if not shutil.which(t)]
    if missing:
        print(f"skipped: the sizes of functions: no {', '.join(missing)}")
        return 77
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("k.tile", "w") as f: f.write("import triton\n" + KERNEL)
        for bits in (32, 64):
            idle = [ours(tilec, "tl.abs", bits, 1) - 1, cuda("fabs", bits, 1) - 1]
            for name, args in [(n, 1) for n in ONE] + [(n, 2) for n in TWO]:
                if o.only and name not in o.only: continue
                extra = 2 * (args - 1)   # the second load and its address
                a = ours(tilec, "libdevice." + name, bits, args) - idle[0] - extra
                b = cuda(name, bits, args) - idle[1] - extra
                rows.append((f"`{name}`", f"fp{bits}", a, b, f"{a / max(1, b):.2f}"))
                print(f"{name:15s} fp{bits} {a:5d} {b:5d} {a / max(1, b):6.2f}", flush=True)
        os.chdir(results.ROOT)
    if out:
        total = "Both as the assembler made them for sm_90a; a ratio below 1: tilec's is smaller."
        results.write(out, "Machine instructions of the mathematical functions", "ptxas and nvcc of CUDA 13.0", total,
                      results.table("sm_90a", ["function", "type", "tilec", "CUDA", "ratio"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
