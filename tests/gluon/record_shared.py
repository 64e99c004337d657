#!/usr/bin/env python3
"""Draws random shared layouts of Gluon and records where Triton's code puts each element: recorded/shared.txt.

    record_shared.py LIBTILE-SIM.SO [--seed N] [--count 300] > recorded/shared.txt

Needs Triton 3.6 and no GPU: Triton compiles a kernel that stores a tile of its own indices, reads the memory back as a
plain array, and writes that to global memory; the simulator runs it. A line is LAYOUT|SHAPE|OFFSETS: the layout with
its arguments in order (see SHORT for the names), the tile's shape, and which element, as an index of the flat
row-major tile, lies at the offsets 1, 2, 4, … elements. (The script checks that the others follow from these.)
"""
import argparse
import ctypes
import dataclasses
import random
import sys

import triton
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource

SHORT = {gl.NVMMASharedLayout: "N", gl.SwizzledSharedLayout: "W", gl.SharedLinearLayout: "H"}


@gluon.jit
def place(out, SHAPE: gl.constexpr, N: gl.constexpr, SHARED: gl.constexpr, PLAIN: gl.constexpr,
          LINE: gl.constexpr, SHIFT: gl.constexpr):
    T: gl.constexpr = out.dtype.element_ty
    x = (gl.arange(0, N, layout=LINE) >> SHIFT).to(T).reshape(SHAPE)
    smem = gl.allocate_shared_memory(T, SHAPE, SHARED, x)
    line = smem._reinterpret(T, [N], PLAIN)
    gl.store(out + gl.arange(0, N, layout=LINE), line.load(LINE))


def spell(x):
    if type(x) not in SHORT:
        return str(x).replace(" ", "")
    fields = [getattr(x, f.name) for f in dataclasses.fields(x)]
    while fields[-1] == []:
        fields.pop()
    return f"{SHORT[type(x)]}({','.join(spell(f) for f in fields)})"


def pow2s(rng, total_bits, rank):
    bits = [0] * rank
    for _ in range(total_bits):
        bits[rng.randrange(rank)] += 1
    return [1 << b for b in bits]


def draw(rng):
    bits = rng.choice([8, 16, 32])
    kind = rng.choice(["nvmma", "nvmma", "swizzled", "swizzled", "linear"])
    rank = rng.choice([1, 2, 2, 2, 3])
    total = rng.randint(5, 15 - bits // 16)
    shape = pow2s(rng, total, rank)
    if kind == "nvmma":
        transposed = rank == 2 and rng.random() < 0.4
        swizzle = rng.choice([0, 32, 64, 128])
        axis = 0 if transposed else rank - 1
        rows = 1 << total >> (shape[axis].bit_length() - 1)
        if rank < 2 or (swizzle and (shape[axis] * bits < 8 * swizzle or rows < 8)):
            return None
        return gl.NVMMASharedLayout(swizzle, bits, rank, transposed), shape, bits
    if kind == "swizzled":
        order = list(range(rank))
        rng.shuffle(order)
        vec = 1 << rng.randrange(5)
        if vec > shape[order[0]]:
            return None
        return gl.SwizzledSharedLayout(vec, 1 << rng.randrange(4), 1 << rng.randrange(4), order), shape, bits
    bases = [[1 << k if d == a else 0 for d in range(rank)] for a in range(rank)
             for k in range(shape[a].bit_length() - 1)]
    rng.shuffle(bases)
    for i in range(1, len(bases)):   # mixes axes and stays invertible
        if rng.random() < 0.3:
            j = rng.randrange(i)
            bases[i] = [a ^ b for a, b in zip(bases[i], bases[j])]
    return gl.SharedLinearLayout(bases), shape, bits


class Simulator:
    def __init__(self, path):
        self.cu = ctypes.CDLL(path)
        self.start()

    def start(self):
        self.cu.sim_reset()   # after a fault the context is lost
        context = ctypes.c_void_p()
        self.check(self.cu.cuInit(0))
        self.check(self.cu.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        self.check(self.cu.cuCtxSetCurrent(context))

    def check(self, status):
        if status:
            self.cu.sim_last_report.restype = ctypes.c_char_p
            raise RuntimeError(self.cu.sim_last_report().decode())

    def run(self, ptx, name, shared, threads, size):
        module, function, memory = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
        self.check(self.cu.cuModuleLoadData(ctypes.byref(module), ptx.encode()))
        self.check(self.cu.cuModuleGetFunction(ctypes.byref(function), module, name.encode()))
        self.check(self.cu.cuFuncSetAttribute(function, 8, shared))
        self.check(self.cu.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(size)))
        null = ctypes.c_uint64(0)
        args = [memory, null, null]   # two pointers to scratch that Triton adds
        params = (ctypes.c_void_p * len(args))(*[ctypes.addressof(a) for a in args])
        self.check(self.cu.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, shared, None, params, None))
        self.check(self.cu.cuCtxSynchronize())
        back = ctypes.create_string_buffer(size)
        self.check(self.cu.cuMemcpyDtoH_v2(back, memory, ctypes.c_size_t(size)))
        self.check(self.cu.cuMemFree_v2(memory))
        self.check(self.cu.cuModuleUnload(module))
        return back.raw


def elements(sim, layout, shape, bits):
    """Which element lies at each offset, by running Triton's code: the index in pieces of the element's width."""
    n = 1
    for s in shape:
        n *= s
    result = [0] * n
    for shift in range(0, max(1, n.bit_length()), bits):
        line = gl.BlockedLayout([1], [32], [1], [0])
        constants = {"SHAPE": shape, "N": n, "SHARED": layout, "PLAIN": gl.SwizzledSharedLayout(1, 1, 1, [0]),
                     "LINE": line, "SHIFT": shift}
        source = GluonASTSource(place, {"out": f"*i{bits}", **{k: "constexpr" for k in constants}},
                                {(place.arg_names.index(k),): v for k, v in constants.items()})
        kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 1})
        raw = sim.run(kernel.asm["ptx"], kernel.metadata.name, kernel.metadata.shared, 32, n * bits // 8)
        step = bits // 8
        for i in range(n):
            result[i] |= int.from_bytes(raw[i * step:(i + 1) * step], "little") << shift
    return result


def main():
    args = argparse.ArgumentParser()
    args.add_argument("simulator")
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--count", type=int, default=300)
    args = args.parse_args()
    rng, sim, lines = random.Random(args.seed), Simulator(args.simulator), 0
    while lines < args.count:
        drawn = draw(rng)
        if not drawn:
            continue
        layout, shape, bits = drawn
        try:
            got = elements(sim, layout, shape, bits)
        except RuntimeError as e:
            print(f"{layout} on {shape}: {e}", file=sys.stderr)
            sim.start()
            continue
        for i, e in enumerate(got):
            want = 0
            for k in range(i.bit_length()):
                want ^= got[1 << k] if i >> k & 1 else 0
            assert want == e, (layout, shape, i)
        columns = " ".join(str(got[1 << k]) for k in range(len(got).bit_length() - 1))
        print(f"{spell(layout)}|{spell(shape)}|{columns}", flush=True)
        lines += 1


if __name__ == "__main__":
    main()
