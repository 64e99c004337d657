#!/usr/bin/env python3
"""Random kernels of rows, columns and tiles in loops, which must mean the same to the interpreter and, under every choice of warps,
stages and target, to the PTX.

    tests/random_tiles.py TILEC [--seed N] [--count N] [-j N] [--device sim|gpu] [--arch LIST [--compile-only]] [--show] [--keep FOLDER]

Where random_kernels.py has many operations, these have few that meet: loads under masks and at addresses that are computed,
reductions, what loops carry, and products of products over ranges that may be empty. Integers wrap; floats hold integers,
or these halved a few times, small enough that every order of summing gives the same bits. A program stores in its own part of o and f.
"""
import random
import sys

import random_runs

PART = 32768                     # elements of o that belong to a program: a tile of 8192 at most, rows from 8192 on,
SHARED = 16384                   # and from here on what the kernel stores and loads again


class Kernel:
    """Lines, and random choices among texts."""

    def __init__(self, r):
        self.r, self.lines, self.depth, self.num = r, [], 1, 0

    def emit(self, *texts):
        self.lines += ["    " * self.depth + text for text in texts]

    def often(self, share):
        return self.r.random() < share

    def name(self, letter):
        self.num += 1
        return f"{letter}{self.num}"

    def any(self, *texts):
        return self.r.choice(texts)


class Rows(Kernel):
    """Rows a, b, columns c, d and tiles t, w of integers, which loops carry, with what is computed of them."""

    def __init__(self, r):
        super().__init__(r)
        self.m, self.n, self.k = r.choice([16, 32, 64, 128]), r.choice([8, 16, 32, 64]), r.choice([16, 32])
        self.products = self.often(0.4)
        self.rows, self.columns, self.scalars = ["a", "b"], ["c", "d"], ["n", "pid", "s"]
        self.stored = 0

    # ---- texts ----
    def scalar(self):
        """A small number that is not negative: mostly a loop's counter."""
        return self.r.choice(self.scalars + self.scalars[3:])

    def condition(self):
        return self.any("n > 2", "pid == 0", "s > 20", f"{self.scalar()} % 2 == 0", f"tl.sum({self.r.choice(self.rows)}, 0) % 3 == 0")

    def row(self, depth=0):
        """m integers."""
        def deeper():
            return self.row(depth + 1)

        def combined():
            return f"({deeper()} {self.any('+', '-', '*', '^', '&')} {deeper()})"

        ways = [
            lambda: self.r.choice(self.rows),
            lambda: "r",
            lambda: f"(r * {self.any(3, 7, self.scalar())} + {self.scalar()})"]
        if depth < 3:
            ways += [
                combined, combined, combined,
                lambda: f"tl.load(y + ({deeper()} & 1023)" + self.any("", ", mask=r < n * 9, other=1") + ")",
                lambda: f"tl.load(y + {self.scalar()} * 64 + r, mask={deeper()} > 0, other=2)",
                lambda: f"tl.load(y + {self.scalar()} * 64 + r)",
                lambda: f"tl.where({deeper()} < {deeper()}, {deeper()}, {self.r.choice(self.rows)})",
                lambda: f"tl.{self.any('sum', 'max', 'min')}({self.any('t', 'w', self.loaded())}, 1)",
                lambda: f"(tl.exp2(({deeper()} & 3).to(tl.float32)) + 0.5).to(tl.int32)"]
        return self.r.choice(ways)()

    def column(self, depth=0):
        """n integers."""
        def deeper():
            return self.column(depth + 1)

        ways = [lambda: self.r.choice(self.columns)]
        if depth < 2:
            ways += [
                lambda: f"(q * {self.any(3, self.scalar())} + {self.scalar()})",
                lambda: f"tl.load(y + {self.scalar()} * 64 + q)",
                lambda: f"({deeper()} {self.any('+', '-', '*', '^')} {deeper()})",
                lambda: f"tl.{self.any('sum', 'max')}({self.any('t', 'w')}, 0)",
                lambda: f"tl.where({deeper()} < 3, {deeper()}, q)"]
        return self.r.choice(ways)()

    def loaded(self):
        """A tile from memory. Its address or its mask may be carried."""
        flat = f"r[:, None] * {self.n} + q[None, :]"
        return self.r.choice([
            lambda: f"tl.load(x + {self.scalar()} * 64 + {flat})",
            lambda: f"tl.load(x + ({self.r.choice(self.rows)} & 127)[:, None] * {self.n} + q[None, :])",
            lambda: f"tl.load(x + {self.scalar()} * 64 + r[:, None] + q[None, :] * {self.m})",
            lambda: f"tl.trans(tl.load(x + {self.scalar()} * 64 + q[:, None] * {self.m} + r[None, :]))",
            lambda: f"tl.load(x + {flat}, mask=({self.row(2)} < 5)[:, None], other=0)",
            lambda: f"tl.load(p, mask=({self.r.choice(self.columns)} > 1)[None, :] & (t < 100), other=3)",
            lambda: "tl.load(p)"])()

    def tile(self):
        """m×n integers."""
        return self.r.choice([
            self.loaded,
            lambda: f"({self.row()})[:, None]",
            lambda: f"({self.column()})[None, :]",
            lambda: f"tl.where(({self.row()} > 2)[:, None], {self.loaded()}, t)"])()

    # ---- statements ----
    def nested(self, count):
        """Statements one block deeper; the names that they define are forgotten."""
        before = len(self.rows)
        self.depth += 1
        for _ in range(count):
            self.statement()
        self.depth -= 1
        del self.rows[before:]

    def branch(self):
        self.emit(f"if {self.condition()}:")
        self.nested(1)
        if self.often(0.3):
            self.emit("else:")
            self.nested(1)

    def product(self):
        if not self.products:
            self.emit(f"w = w + t * ({self.row()})[:, None]")
            return
        k, a, b = f"tl.arange(0, {self.k})", self.name("f"), self.name("f")
        self.emit(f"{a} = tl.load(h + {self.scalar()} * 64 + r[:, None] * {self.k} + {k}[None, :])")
        self.emit(f"{b} = tl.load(h + {self.scalar()} * 64 + {k}[:, None] * {self.n} + q[None, :])")
        self.emit(f"w = tl.dot({a}, {b}, w.to(tl.float32)).to(tl.int32)")

    def through_memory(self):
        """A row that other threads read, and in a loop write again."""
        if SHARED + self.stored + self.m <= PART:
            at, row = f"o + {SHARED + self.stored}", self.r.choice(self.rows)
            self.stored += self.m
            self.emit(f"tl.store({at} + r, {row})", "tl.debug_barrier()")
            self.emit(f"{row} = {row} + tl.load({at} + {self.m - 1} - r)", "tl.debug_barrier()")

    def new_row(self):
        name = self.name("v")
        self.emit(f"{name} = {self.row()}")
        self.rows.append(name)

    def statement(self):
        self.r.choices([
            lambda: self.emit(f"{self.r.choice(self.rows)} = {self.row()}"),
            self.new_row,
            lambda: self.emit(f"{self.any('c', 'd')} = {self.column()}"),
            lambda: self.emit(f"t = t {self.any('+', '-', '^')} {self.tile()}"),
            lambda: self.emit(f"s = (s + {self.any(self.scalar(), f'tl.max({self.row(2)}, 0)')}) & 63"),
            lambda: self.emit(f"p += {self.any(16, 64)}"),
            self.product, self.branch, self.through_memory], [8, 8, 4, 12, 2, 1, 4, 4, 1])[0]()

    def loop(self, least, most, inner=True):
        counter = self.name("i")
        options = self.any("", "", ", num_stages=3", ", loop_unroll_factor=2")
        self.emit(f"for {counter} in tl.range({self.any('n', '3', 'pid + 2')}{options}):")
        self.scalars.append(counter)
        if self.often(0.1):
            self.emit(f"    if {self.condition()}:", f"        {self.any('continue', 'break')}")
        before = len(self.rows)
        self.nested(self.r.randrange(least, most))
        if inner and self.often(0.25):
            self.depth += 1
            self.loop(1, 4, False)
            self.depth -= 1
            self.nested(1)
        del self.rows[before:]
        self.scalars.pop()

    def kernel(self):
        flat = f"r[:, None] * {self.n} + q[None, :]"
        self.emit(f"r = tl.arange(0, {self.m})", f"q = tl.arange(0, {self.n})", f"o += pid * {PART}", "s = n + pid", f"p = x + {flat}")
        self.emit("a = " + self.any("tl.load(y + r)", f"tl.zeros([{self.m}], tl.int32)"), "b = r * 0", "c = tl.load(y + q)", "d = q + 1")
        self.emit("t = tl.load(p)", f"w = tl.zeros([{self.m}, {self.n}], tl.int32)")
        for _ in range(self.r.randrange(1, 3)):
            self.loop(2, 8)
        self.emit(f"tl.store(o + {flat}, t + w + a[:, None] * 3 + c[None, :])")
        self.emit(*(f"tl.store(o + {at}, {value})" for at, value in [("8192 + r", "b"), ("9216 + q", "d"), ("10240", "s")]))


class Chain(Kernel):
    """Attention's shape: a product, a maximum and a sum that the loop carries, and the product of what they give. The ranges of
    its loops may be empty."""

    def __init__(self, r):
        super().__init__(r)
        self.m, self.n = r.choice([64, 64, 128]), r.choice([16, 32, 64, 128])
        self.k, self.v = r.choice([16, 32, 64, 128]), r.choice([16, 32, 64, 128])
        self.descriptors = []

    def load(self, name, rows, columns, first):
        """A tile of h's rows from `first` on: through a descriptor or pointers, up to some row."""
        last = self.any("1000", "n * 20 + 1", "100")
        if self.often(0.6):
            self.descriptors.append(f"    d{name} = tl.make_tensor_descriptor(h, [{last}, {columns}], [128, 1], [{rows}, {columns}])")
            self.emit(f"{name} = d{name}.load([{first}, 0])")
            return
        mask = f", mask=({first} + tl.arange(0, {rows}))[:, None] < {last}, other=0.0" if self.often(0.5) else ""
        self.emit(f"{name} = tl.load(h + ({first} + tl.arange(0, {rows}))[:, None] * 128 + tl.arange(0, {columns})[None, :]{mask})")

    def scores(self):
        """The first product, under a mask or with what is added to it."""
        i, j = f"(t * {self.m} + tl.arange(0, {self.m}))[:, None]", f"(j + tl.arange(0, {self.n}))[None, :]"
        self.emit("z = tl.dot(q, tl.trans(k))")
        self.emit(*self.any([], [f"z = tl.where({i} >= {j}, z, -50)"], [f"z = tl.where({j} < n * 16, z, -60)"], [f"z += tl.load(y + {j})"],
                            [f"z += tl.load(y + {i})"], ["if j > 32:", f"    z += tl.load(y + {j})"]))
        self.emit("least = tl.maximum(most, tl.max(z, 1))", f"scale = tl.where(least > most, {self.factor}, 1.0)", "most = least")
        self.emit(self.any("e = tl.where(z > most[:, None] - 4, 1.0, tl.where(z > 0, 2.0, 0.0))", "e = tl.where(z > 1, 1.0, 0.0)"))
        if self.often(0.8):
            self.emit("sums = sums * scale + tl.sum(e, 1)")

    def loop(self, begin, end):
        options = self.any("", "", "", f", num_stages={self.r.randrange(1, 5)}", ", loop_unroll_factor=2")
        self.emit(f"for j in tl.range({begin}, {end}, {self.n}{options}):")
        self.depth += 1
        k, v, early = self.name("k"), self.name("v"), self.often(0.2)
        self.load(k, self.n, self.k, "j")
        self.emit(f"k = {k}")
        if early:
            self.load(v, self.n, self.v, "j")
        self.scores()
        if not early:
            self.load(v, self.n, self.v, "j")
        product = f"tl.dot(e.to(tl.float16), {v}"
        self.emit(*self.any(["acc = acc * scale[:, None]", f"acc = {product}, acc)"], [f"acc = acc * scale[:, None] + {product})"],
                            [f"acc = {product}, acc)"]))
        self.depth -= 1

    def kernel(self):
        self.factor = self.any("0.5", "-1.0", "2.0")
        self.emit(self.any("for t in tl.range(pid, pid + 1):", "for t in tl.range(pid, n, 2):", "for t in tl.range(pid, n, 2, flatten=True):"))
        self.depth += 1
        self.load("q", self.m, self.k, f"t * {self.m}")
        self.emit(f"acc = tl.zeros([{self.m}, {self.v}], tl.float32)", f"most = tl.zeros([{self.m}], tl.float32) - 100",
                  f"sums = tl.zeros([{self.m}], tl.float32)")
        end = self.any(f"n * {self.n}", "n * 20 + 3", "t * 40 + n", f"(tl.load(y + t) & 3) * {self.n}", "n * 16")
        if self.often(0.25):
            self.emit(f"middle = tl.minimum({end}, 64)")
            self.loop("0", "middle")
            self.loop("middle", end)
        else:
            self.loop(self.any("0", "0", "0", "16", "t * 16", "tl.load(y + t) & 15"), end)
        self.emit(f"at = f + t * 16384 + tl.arange(0, {self.m})[:, None] * {self.v} + tl.arange(0, {self.v})[None, :]")
        self.emit("tl.store(at, acc + sums[:, None])", f"tl.store(f + 98304 + t * 128 + tl.arange(0, {self.m}), most)")
        self.lines[:0] = self.descriptors


class Tiles:
    HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(x, y, h, o, f, n):\n    pid = tl.program_id(0)\n"
    WORDS = ["--arg", "x=i32[65536]=randint:1:-9:9", "--arg", "y=i32[8192]=randint:1:-9:9", "--arg", "h=fp16[131072]=randint:3:-2:3",
             "--arg", f"o=i32[{2 * PART}]=zeros", "--arg", "f=fp32[131072]=zeros"]

    def __init__(self, seed):
        r = random.Random(seed)
        self.made = (Chain if r.random() < 0.25 else Rows)(r)

    def kernel(self):
        self.made.kernel()
        return self.made.lines


if __name__ == "__main__":
    sys.exit(random_runs.main(random_runs.arguments().parse_args(), Tiles, "random tiles"))
