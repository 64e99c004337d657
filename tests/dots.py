#!/usr/bin/env python3
"""Matrix products on the simulator against the interpreter: types, precisions, tile shapes, warps, stages, targets.

    tests/dots.py TILEC [--full] [--only TEXT] [-j N] [--device sim|gpu]

Each case runs twice: on small integers, where every sum is exact and the results must agree bit for bit, and on random
numbers within the bound of --check. Prints the failing commands; the status says whether all passed.
"""
import os
import sys

import many

KERNELS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kernels", "dots.tile")
EXAMPLES = os.path.join(os.path.dirname(KERNELS), "..", "..", "examples")
# operands of a and b, result, precision, smallest K of a dot
TYPES = {
    "fp16": ("fp16", "fp16", "fp32", "None", 16),
    "fp16_acc": ("fp16", "fp16", "fp16", "None", 16),
    "bf16": ("bf16", "bf16", "fp32", "None", 16),
    "tf32": ("fp32", "fp32", "fp32", "None", 16),
    "ieee": ("fp32", "fp32", "fp32", "'ieee'", 16),
    "tf32x3": ("fp32", "fp32", "fp32", "'tf32x3'", 16),
    "bf16x3": ("fp32", "fp32", "fp32", "'bf16x3'", 16),
    "bf16x6": ("fp32", "fp32", "fp32", "'bf16x6'", 16),
    "fp64": ("fp64", "fp64", "fp64", "None", 16),
    "int8": ("i8", "i8", "i32", "None", 32),
    "uint8": ("u8", "u8", "i32", "None", 32),
    "e4m3": ("fp8e4nv", "fp8e4nv", "fp32", "None", 32),
    "e5m2": ("fp8e5", "fp8e5", "fp32", "None", 32),
    "e4m3_e5m2": ("fp8e4nv", "fp8e5", "fp32", "None", 32),
    "e5m2_e4m3": ("fp8e5", "fp8e4nv", "fp32", "None", 32),
    "e4m3_acc": ("fp8e4nv", "fp8e4nv", "fp16", "None", 32),
}
TL = {"fp32": "tl.float32", "fp16": "tl.float16", "fp64": "tl.float64", "i32": "tl.int32"}
# What --check allows on random data. The interpreter takes every operand at full width.
RTOL = {"tf32": 2e-3, "bf16x3": 1e-4, "fp16_acc": 2e-2, "e4m3_acc": 2e-2, "e4m3": 2e-3, "e5m2": 2e-3, "e4m3_e5m2": 2e-3, "e5m2_e4m3": 2e-3}


def size_of(dtype):
    return {"fp16": 2, "bf16": 2, "fp32": 4, "fp64": 8, "i8": 1, "u8": 1, "i32": 4, "fp8e4nv": 1, "fp8e5": 1}[dtype]


def integers(dtype, seed, k):
    """Small enough that a sum over k is exact in every accumulator."""
    span = 2 if k > 64 else 3
    if dtype == "u8":
        return f"randint:{seed}:0:{span + 1}"
    return f"randint:{seed}:{-span}:{span + 1}"


class Case:
    def __init__(self, kernel, name, m, n, bk, steps=2, warps=4, stages=3, arch="sm_90a", transpose_b=False, batch=0, imprecise=None):
        self.kernel, self.name, self.m, self.n, self.bk, self.steps = kernel, name, m, n, bk, steps
        self.warps, self.stages, self.arch, self.transpose_b, self.batch, self.imprecise = warps, stages, arch, transpose_b, batch, imprecise

    def words(self, random):
        a, b, out, precision, _ = TYPES[self.name]
        k = self.bk * self.steps
        whole = {"i8": "-128:128", "u8": "0:256"}
        fill = (lambda seed, t: f"randint:{seed}:{whole[t]}" if t in whole else f"randn:{seed}") if random else (lambda seed, t: integers(t, seed, k))
        lead = f"{self.batch}," if self.batch else ""
        shape_b = f"{self.n},{k}" if self.transpose_b else f"{k},{self.n}"
        v = [KERNELS, "-k", self.kernel, "--grid", "1", "-q", f"--arch={self.arch}", "--check",
             f"--num-warps={self.warps}", f"--num-stages={self.stages}", "-D", f"M={self.m}", "-D", f"N={self.n}", "-D", f"OUT={TL[out]}",
             "-D", f"PREC={precision}", "--arg", f"K={k}"]
        if self.kernel == "chained":
            v += ["-D", f"D={self.bk}", "--arg", f"a={a}[{self.m},{self.bk}]={fill(1, a)}", "--arg", f"b={a}[{k},{self.bk}]={fill(2, a)}",
                  "--arg", f"v={a}[{k},{self.bk}]={fill(3, a)}", "--arg", f"c={out}[{self.m},{self.bk}]=zeros"]
        else:
            args = {"a": f"{a}[{lead}{self.m},{k}]={fill(1, a)}", "b": f"{b}[{lead}{shape_b}]={fill(2, b)}", "c": f"{out}[{lead}{self.m},{self.n}]=zeros"}
            if self.kernel == "by_descriptors":
                block_b = f"{self.n},{self.bk}" if self.transpose_b else f"{self.bk},{self.n}"
                args = {"a": f"desc({args['a']},[{self.m},{self.bk}])", "b": f"desc({args['b']},[{block_b}])", "c": f"desc({args['c']},[{self.m},{self.n}])"}
            for name, text in args.items():
                v += ["--arg", f"{name}={text}"]
            v += ["-D", f"BK={self.bk}"]
            if self.batch:
                v += ["-D", f"B={self.batch}"]
            else:
                v += ["-D", f"IMPRECISE={self.imprecise}", "-D", f"TB={self.transpose_b}"]
        if not random:
            v += ["--rtol=0"]
        elif self.kernel == "chained" and out != "fp64":   # the product between is rounded, by either to its side
            v += ["--rtol=1e-2"]
        elif self.name in RTOL:
            v += [f"--rtol={RTOL[self.name]}"]
        return v


class Ragged:
    """The examples' masked-pointer and descriptor products at sizes that no block divides; rows padded to 16 bytes."""

    def __init__(self, kernel, dtype, m, n, k, arch):
        self.kernel, self.name, self.sizes, self.arch = kernel, dtype, (m, n, k), arch

    def words(self, random):
        (m, n, k), dtype = self.sizes, TYPES[self.name][0]
        each = 16 // size_of(dtype)
        lda, ldb, ldc = (-(-k // each) * each, -(-n // each) * each, -(-n // 8) * 8)
        fill = (lambda seed: f"randn:{seed}") if random else (lambda seed: integers(dtype, seed, k))
        args = {"a": f"{dtype}[{m},{lda}]={fill(1)}", "b": f"{dtype}[{k},{ldb}]={fill(2)}", "c": f"fp16[{m},{ldc}]=zeros", "M": m, "N": n, "K": k}
        if self.kernel == "matmul_descriptors":
            for x, block, rows, columns, stride in (("a", "BM,BK", m, k, lda), ("b", "BK,BN", k, n, ldb), ("c", "BM,BN", m, n, ldc)):
                args[x] = f"desc({args[x]},[{block}],shape=[{rows},{columns}],strides=[{stride},1])"
            v = [os.path.join(EXAMPLES, "matmul_descriptors.tile"), "-k", self.kernel, "--grid", "cdiv(M,BM),cdiv(N,BN)"]
        else:
            args.update(sam=lda, sak=1, sbk=ldb, sbn=1, scm=ldc, scn=1)
            v = [os.path.join(EXAMPLES, "matmul.tile"), "-k", self.kernel, "--grid", "cdiv(M,BM)*cdiv(N,BN)", "-D", "GROUP=8"]
        for name, text in args.items():
            v += ["--arg", f"{name}={text}"]
        return v + ["-q", f"--arch={self.arch}", "--check", "-D", "BM=64", "-D", "BN=64", "-D", "BK=32"]


def shared_bytes(case):
    a, b, out, _, _ = TYPES[case.name]
    stages = max(case.stages, 1) + (case.kernel == "chained")
    return stages * case.bk * (case.m * size_of(a) + case.n * size_of(b)) * max(case.batch, 1) + case.m * case.n * size_of(out) * max(case.batch, 1)


def supported(case):
    if isinstance(case, Ragged):
        return True
    limit = 100000 if case.arch in ("sm_86", "sm_89") else 160000
    if shared_bytes(case) > limit or case.bk < TYPES[case.name][4]:
        return False
    # Sums held in registers: at most 128 32-bit words a thread.
    if case.m * case.n * max(case.batch, 1) * size_of(TYPES[case.name][2]) / 4 / (32 * case.warps) > 128:
        return False
    if case.kernel == "by_descriptors":
        a, b, out, _, _ = TYPES[case.name]
        inner_b = case.bk if case.transpose_b else case.n
        if case.bk * size_of(a) < 16 or inner_b * size_of(b) < 16 or case.n * size_of(out) < 16 or max(case.m, case.n, case.bk) > 256:
            return False
    return True


def short_cases():
    for name, (_, _, _, _, min_k) in TYPES.items():
        yield Case("by_pointers", name, 64, 32, 2 * min_k)                                  # wgmma
        yield Case("by_pointers", name, 32, 32, 2 * min_k, arch="sm_80")                    # mma.sync, cp.async
        yield Case("by_descriptors", name, 64, 64, min_k, steps=3, transpose_b=True)
        yield Case("by_pointers", name, 4, 8, min_k, warps=2)                               # narrower than an instruction
        yield Case("batched", name, 16, 16, min_k, batch=2)
    for name in ("fp16", "int8", "e4m3"):
        yield Case("by_pointers", name, 128, 128, 64, warps=8, arch="sm_90a")
        yield Case("by_pointers", name, 64, 64, 32, warps=4, arch="sm_89", transpose_b=True)
        yield Case("by_descriptors", name, 32, 32, 32, warps=4, arch="sm_80")
    for name in ("fp16", "bf16", "tf32"):
        for arch in ("sm_90a", "sm_80"):
            yield Case("chained", name, 64, 32, 32, arch=arch)
    for kernel in ("matmul_kernel", "matmul_descriptors"):
        for arch in ("sm_90a", "sm_80"):
            yield Ragged(kernel, "fp16", 17, 17, 17, arch)
            yield Ragged(kernel, "e5m2", 65, 70, 33, arch)
    for imprecise in (32, 64):
        yield Case("by_pointers", "e4m3", 64, 32, 64, imprecise=imprecise)


def full_cases():
    yield from short_cases()
    for kernel in ("matmul_kernel", "matmul_descriptors"):
        for arch in ("sm_90a", "sm_80"):
            for name in ("fp16", "bf16", "tf32", "e4m3", "e5m2"):
                for m, n, k in ((1, 1, 1), (17, 17, 17), (127, 127, 127), (208, 416, 304), (64, 1, 33), (1, 200, 64)):
                    yield Ragged(kernel, name, m, n, k, arch)
    for arch in ("sm_90a", "sm_90", "sm_89", "sm_80"):
        for name, (_, _, _, _, min_k) in TYPES.items():
            for m, n in ((1, 16), (2, 1), (8, 8), (16, 4), (16, 64), (64, 8), (64, 16), (128, 64), (64, 256), (256, 32)):
                yield Case("by_pointers", name, m, n, min_k, arch=arch)
            for warps in (1, 2, 8, 16):
                yield Case("by_pointers", name, 64, 64, min_k, warps=warps, arch=arch)
                yield Case("by_pointers", name, 128, 32, 2 * min_k, warps=warps, arch=arch, transpose_b=True)
            for stages in (1, 2, 4):
                yield Case("by_pointers", name, 64, 64, 2 * min_k, steps=5, stages=stages, arch=arch)
                yield Case("by_descriptors", name, 64, 64, 2 * min_k, steps=5, stages=stages, arch=arch)
            for batch, warps, m, n in ((4, 4, 16, 16), (2, 8, 32, 32), (8, 4, 4, 8), (1, 4, 64, 64)):
                yield Case("batched", name, m, n, min_k, batch=batch, warps=warps, arch=arch)
            for m, n, d, warps in ((64, 64, 64, 4), (128, 32, 64, 8), (16, 32, 32, 2), (32, 64, 64, 4)):
                yield Case("chained", name, m, n, d, warps=warps, arch=arch)


def main():
    o = many.case_arguments().parse_args()
    todo = []
    for case in full_cases() if o.full else short_cases():
        if not supported(case) or (o.device == "gpu" and case.arch not in ("sm_90a", "sm_80", "sm_89", "sm_90")):
            continue
        for random in (False, True):
            words = case.words(random)
            # Half sums and operands of 8 bits do not carry the product between.
            if case.kernel == "chained" and case.name not in ("fp16", "bf16", "tf32", "ieee", "fp64"):
                continue
            if o.only in " ".join(words):
                todo.append(words)
    return many.check("dots", o.tilec, o.device, todo, o.j)


if __name__ == "__main__":
    sys.exit(main())
