#!/usr/bin/env python3
"""Draws random Gluon layouts and records what Triton says they are: recorded/layouts.txt.

    record_layouts.py [--seed N] [--count 3000] > recorded/layouts.txt

Needs Triton 3.6 and no GPU. A line is LAYOUT|SHAPE|REG;LANE;WARP;BLOCK: the layout with its arguments in order (see
SHORT for the names), the tensor's shape, and the columns of Triton's linear layout, each as an index of the flat
row-major tensor.
"""
import argparse
import dataclasses
import random

from triton._C.libtriton import gluon_ir, ir, nvidia
from triton.experimental.gluon import language as gl


SHORT = {gl.BlockedLayout: "B", gl.SliceLayout: "S", gl.DistributedLinearLayout: "L", gl.DotOperandLayout: "D",
         gl.NVMMADistributedLayout: "M"}


def spell(x):
    if type(x) not in SHORT:
        return str(x).replace(" ", "")
    fields = [getattr(x, f.name) for f in dataclasses.fields(x)]
    if fields[-1] == []:
        fields.pop()
    return f"{SHORT[type(x)]}({','.join(spell(f) for f in fields)})"


def split_pow2(rng, total_bits, rank):
    """Powers of two, one for each axis, of which the product is 2^total_bits."""
    bits = [0] * rank
    for _ in range(total_bits):
        bits[rng.randrange(rank)] += 1
    return [1 << b for b in bits]


def draw_order(rng, rank):
    order = list(range(rank))
    rng.shuffle(order)
    return order


def draw_cga(rng, rank, cta_bits):
    return [[1 << 0 if d == a else 0 for d in range(rank)] if rng.random() < 0.8 else [0] * rank
            for a in [rng.randrange(rank) for _ in range(cta_bits)]]


def fix_cga(cga):
    """The n-th vector along an axis has the n-th power of two."""
    seen = {}
    for v in cga:
        for d, x in enumerate(v):
            if x:
                v[d] = 1 << seen.get(d, 0)
                seen[d] = seen.get(d, 0) + 1
    return cga


def blocked(rng, rank, warp_bits, cga):
    return gl.BlockedLayout(split_pow2(rng, rng.randrange(5), rank), split_pow2(rng, 5, rank),
                            split_pow2(rng, warp_bits, rank), draw_order(rng, rank), cga)


def mma(rng, rank, warp_bits, cga, version=None):
    version = version or rng.choice([2, 3])
    if version == 3 and rank == 2 and warp_bits >= 2:
        g = rng.randrange(warp_bits - 1)
        return gl.NVMMADistributedLayout([3, 0], [4 << g, 1 << (warp_bits - 2 - g)],
                                         [16, rng.choice([8, 16, 32, 64, 128, 256]), rng.choice([8, 16, 32])], cga)
    rank = max(2, rank)
    return gl.NVMMADistributedLayout([2, 0], split_pow2(rng, warp_bits, rank), [1] * (rank - 2) + [16, 8], cga)


def linear(rng, shape, warp_bits, cta_bits):
    """Bases of single steps: a random share of the tensor's bits to each group, with some that repeat nothing."""
    rank = len(shape)
    bits = [(d, 1 << k) for d in range(rank) for k in range(shape[d].bit_length() - 1)]
    rng.shuffle(bits)
    groups = []
    for size in (5, warp_bits, cta_bits):
        group = []
        for _ in range(size):
            d, x = bits.pop() if bits and rng.random() < 0.8 else (0, 0)
            group.append([x if i == d else 0 for i in range(rank)])
        groups.append(group)
    reg = [[x if i == d else 0 for i in range(rank)] for d, x in bits]
    if rng.random() < 0.2:
        reg.insert(rng.randrange(len(reg) + 1), [0] * rank)
    return gl.DistributedLinearLayout(reg, *groups, list(shape))


def draw(rng):
    rank = rng.randint(1, 4)
    warp_bits, cta_bits = rng.randrange(5), rng.choice([0, 0, 0, 1, 2])
    kind = rng.choice(["blocked", "blocked", "mma", "operand", "fma", "slice", "slice", "linear"])
    if kind in ("mma", "operand", "fma"):
        rank = rng.choice([2, 2, 3])
    slices = rng.choice([1, 1, 2]) if kind == "slice" else 0
    shape = split_pow2(rng, rng.randint(0, 13), rank)
    cga = fix_cga(draw_cga(rng, rank + slices, cta_bits))
    if kind == "blocked":
        return blocked(rng, rank, warp_bits, cga), shape, warp_bits, cta_bits
    if kind == "mma":
        return mma(rng, rank, warp_bits, cga), shape, warp_bits, cta_bits
    if kind == "operand":
        parent = mma(rng, rank, warp_bits, cga)
        operand = 0 if parent.version[0] == 3 else rng.randrange(2)
        return gl.DotOperandLayout(operand, parent, rng.choice([1, 2, 4, 8])), shape, warp_bits, cta_bits
    if kind == "fma":
        return gl.DotOperandLayout(rng.randrange(2), blocked(rng, rank, warp_bits, cga), 0), shape, warp_bits, cta_bits
    if kind == "linear":
        return linear(rng, shape, warp_bits, cta_bits), shape, warp_bits, cta_bits
    whole = rank + slices
    parent = (mma if rng.random() < 0.3 and whole in (2, 3) else blocked)(rng, whole, warp_bits, cga)
    if rng.random() < 0.3 and isinstance(parent, gl.NVMMADistributedLayout):
        parent = gl.DotOperandLayout(0 if parent.version[0] == 3 else rng.randrange(2), parent, 2)
    for _ in range(slices):
        parent = gl.SliceLayout(rng.randrange(parent.rank), parent)
    return parent, shape, warp_bits, cta_bits


def flat(basis, shape):
    index = 0
    for x, n in zip(basis, shape):
        index = index * n + x
    return index


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("--count", type=int, default=3000)
    args = args.parse_args()
    rng = random.Random(args.seed)
    context = ir.context()
    ir.load_dialects(context)
    nvidia.load_dialects(context)
    lines = 0
    while lines < args.count:
        layout, shape, warp_bits, cta_bits = draw(rng)
        if len(shape) != layout.rank:
            continue
        builder = gluon_ir.GluonOpBuilder(context)
        module = builder.create_module()
        module.set_attr("ttg.num-warps", builder.get_int32_attr(1 << warp_bits))
        module.set_attr("ttg.num-ctas", builder.get_int32_attr(1 << cta_bits))
        module.set_attr("ttg.threads-per-warp", builder.get_int32_attr(32))
        got = builder.to_linear_layout(layout._to_ir(builder), shape)
        groups = [got.reg_bases, got.lane_bases, got.warp_bases, got.block_bases]
        columns = ";".join(" ".join(str(flat(b, shape)) for b in g) for g in groups)
        print(f"{spell(layout)}|{spell(shape)}|{columns}", flush=True)
        lines += 1


if __name__ == "__main__":
    main()
