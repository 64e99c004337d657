#!/usr/bin/env python3
"""Random kernels that must mean the same to the interpreter and, under every choice of warps, stages and target, to the PTX.

    tests/random_kernels.py TILEC [--seed N] [--count N] [-j N] [--device sim|gpu] [--arch LIST [--compile-only]] [--expressions] [--show] [--keep FOLDER]

A kernel is a list of statements over integer tensors, which wrap, and floats that hold integers small enough to be exact: every
order of summing and every fusion gives the same bits. --expressions: of random_expressions.py instead. A kernel that fails is cut down, statement by statement, and printed.
"""
import collections
import random
import sys

import random_runs
from random_expressions import Expressions

IN, HALF, OUT = 8192, 8192, 16384        # elements of the buffers
EXACT = {"fp32": 1 << 24, "fp16": 1 << 11, "bf16": 1 << 8, "fp8e5": 1 << 3}
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u32": 32, "u8": 8}
TL = {"i8": "tl.int8", "i16": "tl.int16", "i32": "tl.int32", "i64": "tl.int64", "u32": "tl.uint32", "u8": "tl.uint8", "fp32": "tl.float32", "fp16": "tl.float16", "bf16": "tl.bfloat16", "fp8e5": "tl.float8e5"}
SHAPES = [(64,), (128,), (256,), (1024,), (32, 16), (16, 32), (64, 8), (16, 16), (8, 128), (64, 64), (4, 8, 16), (2, 32, 8)]
# A tensor (or scalar) of the kernel; bound limits a float's magnitude.
Val = collections.namedtuple("Val", "name dtype shape bound")


def numel(shape):
    n = 1
    for d in shape:
        n *= d
    return n


class Statements:
    HEAD = """import triton
import triton.language as tl


@triton.jit
def mix(a, b):
    return (a ^ b) + (a & b)


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def early(a, n):
    if n == 2:
        return a + 1
    return a * 2


@triton.jit
def k(x, y, h, out, count, n):
    pid = tl.program_id(0)
"""
    WORDS = ["--arg", f"x=i32[{IN}]=randint:1:-100:100", "--arg", f"y=fp32[{IN}]=randint:2:-4:5", "--arg", f"h=fp16[{HALF + 8192}]=randint:3:-2:3",
             "--arg", f"out=i32[{2 * OUT}]=zeros", "--arg", "count=i32[16]=zeros"]

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.env, self.lines, self.depth, self.num = [], [], 1, 0
        self.used = 0           # elements of out
        self.trips = self.r.choice([0, 1, 2, 3, 5])

    # ---- statements ----
    def emit(self, text):
        self.lines.append("    " * self.depth + text)

    def let(self, text, dtype, shape, bound=None):
        self.num += 1
        v = Val(f"v{self.num}", dtype, tuple(shape), bound)
        self.emit(f"{v.name} = {text}")
        self.env.append(v)
        return v

    def pick(self, test=lambda v: True):
        found = [v for v in self.env if test(v)]
        return self.r.choice(found[-8:]) if found else None

    def cast(self, v, dtype):
        """Text of v in another type; what becomes a float is made small first."""
        if v.dtype == dtype:
            return v.name
        if dtype in EXACT and not (v.dtype in EXACT and v.bound <= EXACT[dtype]):
            return f"{self.small(v, 7)}.to({TL[dtype]})"
        return f"{v.name}.to({TL[dtype]})" if v.dtype not in EXACT or dtype == "i32" else f"{v.name}.to(tl.int32).to({TL[dtype]})"

    def small(self, v, mask):
        return f"({v.name}.to(tl.int32) & {mask})"

    def index(self, shape):
        """Text of each element's place, row by row or in another order of the axes."""
        order = list(range(len(shape)))
        if self.r.random() < 0.3:
            self.r.shuffle(order)
        stride, parts = 1, []
        for axis in reversed(order):
            brackets = "" if len(shape) == 1 else "[" + ", ".join(":" if i == axis else "None" for i in range(len(shape))) + "]"
            parts.append(f"tl.arange(0, {shape[axis]}){brackets}" + (f" * {stride}" if stride > 1 else ""))
            stride *= shape[axis]
        return " + ".join(reversed(parts))

    def load(self, extra=""):
        shape = self.r.choice(SHAPES)
        base, dtype = self.r.choice([("x", "i32"), ("y", "fp32"), ("h", "fp16"), ("x", "i32")])
        self.num += 1
        i = f"i{self.num}"
        v = self.pick(lambda v: v.dtype in ("i32", "i64") and v.shape) if self.r.random() < 0.15 else None
        if v:
            shape = v.shape
            self.emit(f"{i} = {v.name} & {IN // 2 - 1}")
        else:
            self.emit(f"{i} = {self.index(shape)}" + self.r.choice(["", " + pid * 64", " + 3", " + pid * 16 + 1", extra, extra]))
        mask = self.r.choice(["", "", f", mask={i} < n * 100", f", mask={i} < {self.r.randrange(1, 2 * numel(shape))}, other=1", f", {i} % 3 != 1, 0"])
        if mask and "other" not in mask and not mask.endswith(", 0"):
            mask += ", other=0"
        return self.let(f"tl.load({base} + {i}{mask})", dtype, shape, 4)

    def binary(self):
        a = self.pick()
        b = self.pick(lambda v: v.shape == a.shape) if self.r.random() < 0.8 else self.pick(lambda v: not v.shape) or a
        dtype = self.r.choice([a.dtype, a.dtype, b.dtype, "i32"])
        shape = a.shape or b.shape
        ta, tb = self.cast(a, dtype), self.cast(b, dtype)
        if dtype in EXACT:
            ba, bb = (v.bound if v.dtype in EXACT and v.bound <= EXACT[dtype] else 7 for v in (a, b))
            op, bound = self.r.choice([("+", ba + bb), ("-", ba + bb), ("*", ba * bb), ("max", max(ba, bb)), ("min", max(ba, bb))])
            if bound > EXACT[dtype]:
                return self.let(f"{self.small(a, 15)}.to({TL[dtype]})", dtype, a.shape, 15)
            text = f"tl.{op}imum({ta}, {tb})" if len(op) > 1 else f"{ta} {op} {tb}"
            # Their minimum and maximum are computed wider.
            if len(op) > 1 and dtype in ("bf16", "fp8e5"):
                text = f"({text}).to({TL[dtype]})"
            return self.let(text, dtype, shape, bound)
        op = self.r.choice(["+", "-", "*", "&", "|", "^", "max", "min", "<<", ">>", "//", "%", "where"])
        if op in ("max", "min"):
            text = f"tl.{op}imum({ta}, {tb})"
        elif self.r.random() < 0.1:
            return self.let(f"early({ta}, n)", dtype, a.shape)
        elif op in ("<<", ">>"):
            text = f"{ta} {op} {self.r.randrange(BITS[dtype])}"
        elif op in ("//", "%"):
            text = f"{ta} {op} {self.r.choice([1, 2, 3, 7, 16, 100])}"
        elif op == "where":
            text = f"tl.where({ta} {self.r.choice(['<', '<=', '==', '!=', '>'])} {tb}, {ta}, {tb})"
        else:
            text = f"{ta} {op} {tb}"
        if op in ("<<", ">>", "//", "%"):
            shape = a.shape
        return self.let(text, dtype, shape)

    def convert(self):
        v = self.pick()
        dtype = self.r.choice(list(TL))
        bound = (v.bound if v.dtype in EXACT and v.bound <= EXACT[dtype] else 7) if dtype in EXACT else None
        return self.let(self.cast(v, dtype), dtype, v.shape, bound)

    def shape_op(self):
        v = self.pick(lambda v: v.shape)
        kind, s, r = self.r.choice(["reshape", "trans", "repeat", "join", "split", "cat", "gather", "flip", "sort"]), v.shape, len(v.shape)
        if kind == "reshape":
            same = [t for t in SHAPES + [(numel(s),)] if numel(t) == numel(s)]
            t = self.r.choice(same)
            return self.let(f"tl.reshape({v.name}, {list(t)})", v.dtype, t, v.bound)
        if kind == "trans" and r > 1:
            order = self.r.sample(range(r), r)
            return self.let(f"tl.permute({v.name}, {order})", v.dtype, [s[i] for i in order], v.bound)
        if kind == "repeat" and r < 3 and numel(s) <= 512:
            axis, times = self.r.randrange(r + 1), self.r.choice([2, 8])
            t = s[:axis] + (times,) + s[axis:]
            return self.let(f"tl.broadcast_to(tl.expand_dims({v.name}, {axis}), {list(t)})", v.dtype, t, v.bound)
        other = self.pick(lambda w: w.shape == s and w.dtype == v.dtype)
        bound = max(v.bound, other.bound) if v.dtype in EXACT else None
        if kind == "join" and r < 3 and numel(s) <= 1024:
            return self.let(f"tl.join({v.name}, {other.name})", v.dtype, s + (2,), bound)
        if kind == "split" and s[-1] == 2 and r > 1:
            self.num += 1
            self.emit(f"w{self.num}, u{self.num} = tl.split({v.name})")
            a, b = f"w{self.num}", f"u{self.num}"
            self.env += [Val(a, v.dtype, s[:-1], v.bound), Val(b, v.dtype, s[:-1], v.bound)]
            return self.env[-1]
        if kind == "cat" and r == 1 and numel(s) <= 512:
            return self.let(f"tl.cat({v.name}, {other.name})", v.dtype, (2 * s[0],), bound)
        if kind == "gather":
            index = self.pick(lambda w: w.shape == s)
            axis = self.r.randrange(r)
            return self.let(f"tl.gather({v.name}, {self.small(index, s[axis] - 1)}, {axis})", v.dtype, s, v.bound)
        if kind == "sort" and s[-1] <= 32 and v.dtype in ("i32", "fp32"):
            return self.let(f"tl.sort({v.name})", v.dtype, s, v.bound)
        return self.let(f"tl.flip({v.name}, {r - 1})", v.dtype, s, v.bound)

    def combine(self):
        v = self.pick(lambda v: v.shape)
        axis = self.r.randrange(len(v.shape))
        rest = v.shape[:axis] + v.shape[axis + 1:]
        kind = self.r.choice(["sum", "max", "min", "argmax", "reduce", "cumsum", "scan", "histogram", "keep"])
        narrow = v.dtype in ("i8", "i16", "u8", "fp16", "bf16", "fp8e5")
        if kind == "sum" and v.dtype in ("fp32",) and v.bound * v.shape[axis] <= EXACT["fp32"]:
            return self.let(f"tl.sum({v.name}, axis={axis})", v.dtype, rest, v.bound * v.shape[axis])
        if kind in ("max", "min") and not narrow:
            return self.let(f"tl.{kind}({v.name}, axis={axis})", v.dtype, rest, v.bound)
        if kind == "argmax" and not narrow:
            return self.let(f"tl.argmax({v.name}, axis={axis})", "i32", rest)
        if kind == "histogram" and len(v.shape) == 1:
            return self.let(f"tl.histogram({self.small(v, 31)}, 32)", "i32", (32,))
        i = v if v.dtype in ("i32", "i64", "u32") else Val(f"{v.name}.to(tl.int32)", "i32", v.shape, None)
        if kind == "cumsum":
            return self.let(f"tl.cumsum({i.name}, axis={axis}, reverse={self.r.random() < 0.3})", i.dtype, v.shape)
        if kind == "scan":
            return self.let(f"tl.associative_scan({i.name}, {axis}, larger, reverse={self.r.random() < 0.3})", i.dtype, v.shape)
        if kind == "keep":
            return self.let(f"{i.name} - tl.sum({i.name}, axis={axis}, keep_dims=True)", i.dtype, v.shape)
        if kind == "reduce":
            return self.let(f"tl.reduce({i.name}, {axis}, mix)", i.dtype, rest)
        return self.let(f"tl.sum({i.name}, axis={axis})", i.dtype, rest)

    def dot(self, extra=""):
        m, n, d = self.r.choice([16, 32, 64, 128]), self.r.choice([16, 32, 64]), self.r.choice([16, 32, 64])
        def operand(rows, cols):
            v = self.pick(lambda v: v.shape == (rows, cols) and v.dtype not in EXACT) if self.r.random() < 0.3 else None
            if v:
                return self.let(f"({v.name} & 3).to(tl.float16)", "fp16", v.shape, 3)
            kind = self.r.choice(["plain", "plain", "trans", "window", "descriptor"])
            at = extra[3:] or "0"
            if kind == "trans":
                return self.let(f"tl.trans(tl.load(h + {self.index((cols, rows))}{extra}))", "fp16", (rows, cols), 4)
            if kind == "window":
                self.num += 1
                self.emit(f"p{self.num} = tl.make_block_ptr(h, (64, 128), (128, 1), (pid, {at}), ({rows}, {cols}), (1, 0))")
                return self.let(f"tl.load(p{self.num}, boundary_check=(0, 1), padding_option='zero')", "fp16", (rows, cols), 4)
            if kind == "descriptor":
                self.num += 1
                self.emit(f"d{self.num} = tl.make_tensor_descriptor(h, [64, 128], [128, 1], [{rows}, {cols}])")
                return self.let(f"d{self.num}.load([{at}, pid * 16])", "fp16", (rows, cols), 4)
            return self.let(f"tl.load(h + {self.index((rows, cols))}{extra})", "fp16", (rows, cols), 4)
        if self.r.random() < 0.2:
            a = self.let(f"(tl.load(x + {self.index((m, 32))}{extra}) & 7).to(tl.int8)", "i8", (m, 32), 7)
            return a, self.let(f"(tl.load(x + {self.index((32, n))}) & 7).to(tl.int8)", "i8", (32, n), 7), (m, n), 32
        a, b = operand(m, d), operand(d, n)
        return a, b, (m, n), d

    def product(self):
        a, b, shape, d = self.dot()
        if a.dtype == "i8":
            return self.let(f"tl.dot({a.name}, {b.name})", "i32", shape)
        c = self.let(f"tl.dot({a.name}, {b.name})", "fp32", shape, a.bound * b.bound * d)
        if self.r.random() < 0.4:
            w = self.let(f"tl.load(h + {self.index((shape[1], 16))})", "fp16", (shape[1], 16), 4)
            return self.let(f"tl.dot({self.cast(c, 'fp16')}, {w.name})", "fp32", (shape[0], 16), 4 * shape[1] * min(c.bound, EXACT["fp16"]))
        return c

    def nested(self, statements):
        """Runs statements one block deeper; what they define is forgotten."""
        before = len(self.env)
        self.depth += 1
        result = statements()
        self.depth -= 1
        del self.env[before:]
        return result

    def loop(self):
        limit = self.r.choice(["n", f"{self.trips}", "n + pid"])
        kind = self.r.choice(["dot", "sum", "sum", "while"])
        self.num += 1
        i, acc = f"j{self.num}", f"a{self.num}"
        extra = f" + {i} * {self.r.choice([1, 8, 32, 64, 128])}"
        options = self.r.choice(["", "", f", num_stages={self.r.choice([1, 2, 4])}", ", loop_unroll_factor=2", ", flatten=True", ", disable_licm=True"])
        bounds = self.r.choice([limit, limit, f"1, {limit}", f"0, {limit}, 2"])
        heading = f"for {i} in tl.range({bounds}{options}):"
        if kind == "dot":
            at = len(self.lines)
            def body():
                a, b, shape, d = self.dot(extra)
                self.emit(f"{acc} = tl.dot({a.name}, {b.name}, {acc})")
                if self.r.random() < 0.2:
                    self.emit(f"if {i} == 1:")
                    self.emit(f"    {acc} = {acc} - {acc}")
                return shape, a.bound * b.bound * d, "i32" if a.dtype == "i8" else "fp32"
            shape, bound, dtype = self.nested(body)
            self.lines[at:at] = ["    " * self.depth + f"{acc} = tl.zeros({list(shape)}, {TL[dtype]})", "    " * self.depth + heading]
            self.env.append(Val(acc, dtype, shape, bound * 7 if dtype == "fp32" else None))
            return
        first = self.pick(lambda v: v.shape)
        dtype = first.dtype if first.dtype in ("i32", "i64", "u32") else "i32"
        self.emit(f"{acc} = {self.cast(first, dtype)}")
        if kind == "while":
            self.emit(f"{i} = 0")
            self.emit(f"while {i} < {limit}:")
        else:
            self.emit(heading if self.r.random() < 0.8 else f"for {i} in tl.static_range({self.trips}):")
            if "static" in self.lines[-1]:
                kind = "static"
        def body():
            if kind == "while":
                self.emit(f"{i} += 1")
            if kind != "static" and self.r.random() < 0.25:
                self.emit(f"if {i} == {self.r.randrange(4)}:")
                self.emit(f"    {self.r.choice(['continue', 'break'])}")
            self.load(extra)
            for _ in range(self.r.randrange(3)):
                self.r.choice([self.binary, self.shape_op, self.combine] + [self.loop] * (self.depth < 3))()
            v = self.pick(lambda v: v.shape == first.shape) or first
            t = v if not v.dtype in EXACT else Val(f"{v.name}.to(tl.int32)", "i32", v.shape, None)
            self.emit(f"{acc} = {acc} {self.r.choice(['+', '^', '-'])} {self.cast(t, dtype)}")
        self.nested(body)
        self.env.append(Val(acc, dtype, first.shape, None))

    def branch(self):
        scalar = self.pick(lambda v: not v.shape and v.dtype == "i32")
        test = f"{scalar.name} % 2 == 0" if scalar and self.r.random() < 0.5 else self.r.choice(["n > 2", "pid == 0", "n % 2 == pid"])
        first = self.pick(lambda v: v.shape)
        self.num += 1
        name = f"b{self.num}"
        def arm():
            self.r.choice([self.binary, self.combine, self.shape_op])()
            v = self.pick(lambda v: v.shape == first.shape)
            self.emit(f"{name} = {self.cast(v, 'i32')}")
        self.emit(f"if {test}:")
        self.nested(arm)
        self.emit("else:")
        self.nested(arm)
        self.env.append(Val(name, "i32", first.shape, None))

    def count(self):
        v = self.pick(lambda v: v.shape)
        self.emit(f"tl.atomic_add(count + {self.small(v, 15)}, {self.small(v, 3)})")

    def through_memory(self):
        v = self.pick(lambda v: v.shape and numel(v.shape) <= 1024)
        if not v or self.used + numel(v.shape) > OUT:
            return
        at, s = self.place(v), v.shape
        self.emit("tl.debug_barrier()")
        self.let(f"tl.load({at} + {self.index(s)})", "i32", s)

    def place(self, v):
        at = f"out + pid * {OUT} + {self.used}"
        self.used += numel(v.shape)
        index = self.index(v.shape) if v.shape else "0"
        self.emit(f"tl.store({at} + {index}, {self.cast(v, 'i32')})")
        return at

    def kernel(self):
        self.load()
        self.load()
        for _ in range(self.r.randrange(4, 12)):
            self.r.choices([self.load, self.binary, self.convert, self.shape_op, self.combine, self.product, self.loop, self.branch, self.count, self.through_memory],
                           [2, 6, 2, 5, 4, 1, 3, 2, 1, 1])[0]()
        for v in self.env[-6:]:
            if self.used + numel(v.shape) <= OUT:
                self.place(v)
        return self.lines


def main():
    ap = random_runs.arguments()
    ap.add_argument("--expressions", action="store_true")
    o = ap.parse_args()
    return random_runs.main(o, *((Expressions, "random expressions") if o.expressions else (Statements, "random kernels")))


if __name__ == "__main__":
    sys.exit(main())
