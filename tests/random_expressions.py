"""Random expressions of single elements, for random_kernels.py: many in a kernel and each used again in others, so that the
assembler finds what it makes one instruction of. Inputs are all the numbers of a type, its least and largest among them."""
import random

INTS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
FLOATS = {"fp16": 16, "bf16": 16, "fp32": 32}
TL = {"fp16": "tl.float16", "bf16": "tl.bfloat16", "fp32": "tl.float32", **{t: f"tl.{'u' * (t[0] == 'u')}int{n}" for t, n in INTS.items()}}
LOADED = ["i8", "i16", "i32", "i32", "i64", "fp16", "bf16", "fp32"]      # a buffer of each
BLOCKS = [128, 256, 1024]
STORED, SIZE = 16, 2048        # values that a kernel stores; elements of a buffer


class Expressions:
    HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\ndef k(" + ", ".join(f"p{i}" for i in range(len(LOADED))) + ", out, n):\n    pid = tl.program_id(0)\n"
    # Sums and products rounded each on its own, as the interpreter does.
    WORDS = ["--enable-fp-fusion=0", "--arg", f"out=i64[{2 * STORED * max(BLOCKS)}]=zeros"]
    for i, t in enumerate(LOADED):
        fill = f"randint:{i}:{-(1 << INTS[t] - 1) + (t == 'i64')}:{(1 << INTS[t] - 1) - (t == 'i64')}" if t in INTS else f"randn:{i}"
        WORDS += ["--arg", f"p{i}={t}[{SIZE}]={fill}"]

    def __init__(self, seed):
        self.r = random.Random(seed)
        self.env, self.lines = [], []

    def let(self, text, dtype):
        name = f"v{len(self.env)}"
        self.lines.append(f"    {name} = {text}")
        self.env.append((name, dtype))

    def any(self, types=None):
        found = [v for v in self.env if not types or v[1] in types]
        return self.r.choice(found[-12:]) if found else None

    def operand(self, dtype):
        """Text of a value in this type, or a constant."""
        if self.r.random() < 0.15:
            return self.constant(dtype)
        same = self.any([dtype]) if self.r.random() < 0.8 else None
        return same[0] if same else self.cast(self.any(), dtype)

    def constant(self, dtype):
        if dtype in FLOATS:
            return self.r.choice(["0.0", "-0.0", "1.0", "-1.5", "0.25", "float('inf')"])
        bits, top = INTS[dtype], 1 << INTS[dtype] - 1
        least, most = (0, 2 * top - 1) if dtype[0] == "u" else (-top, top - 1)
        value = self.r.choice([0, 1, 2, 3, 7, 255, -1, -2, -128, least, most, self.r.randrange(bits)])
        return f"tl.full([], {min(max(value, least), most)}, {TL[dtype]})"

    def cast(self, v, dtype):
        name, own = v
        if own == dtype:
            return name
        if own in FLOATS and dtype in INTS:      # what is out of range is not defined
            return f"tl.where(tl.abs({name}.to(tl.float32)) < 100.0, tl.abs({name}), 1.0).to({TL[dtype]})"
        return f"{name}.to({TL[dtype]})"

    def condition(self, dtype):
        a = f"{self.operand(dtype)} {self.r.choice(['<', '<=', '>', '>=', '==', '!='])} {self.operand(dtype)}"
        return a if self.r.random() < 0.8 else f"({a}) {self.r.choice('&|^')} ({self.operand(dtype)} > {self.operand(dtype)})"

    def turned(self, t):
        """The integer type of the same bits with the other sign."""
        return f"i{INTS[t]}" if t[0] == "u" else f"u{INTS[t]}"

    def integer(self, t):
        a, b, c, x, bits = self.operand(t), self.operand(t), self.operand(t), self.cast(self.any(), t), INTS[t]
        return self.r.choice([
            lambda: f"tl.maximum({a}, {b})", lambda: f"tl.minimum({a}, {b})", lambda: f"tl.maximum(tl.maximum({a}, {b}), {c})",
            lambda: f"tl.minimum({c}, tl.minimum({a}, {b}))", lambda: f"tl.minimum(tl.maximum({a}, {b}), {c})", lambda: f"-{a}", lambda: f"-{a}",
            lambda: f"tl.cdiv({a}, ({b} & 15) + 1)", lambda: f"({x}).to({TL[self.turned(t)]}, bitcast=True)", lambda: f"({x}).to({self.r.choice(list(TL.values())[3:])})",
            lambda: f"~{a}", lambda: f"tl.abs({a})", lambda: f"{a} + {b}", lambda: f"{a} - {b}", lambda: f"{a} + {b} - {c}", lambda: f"{a} * {b}",
            lambda: f"{a} * {b} + {c}", lambda: f"{a} * {self.constant(t)}", lambda: f"{a} & {b}", lambda: f"{a} | {b}", lambda: f"{a} ^ {b} ^ {c}",
            lambda: f"({a} << {self.r.randrange(bits)})", lambda: f"({a} >> {self.r.randrange(bits)})", lambda: f"({a} << ({b} & {bits - 1}))",
            lambda: f"({a} >> ({b} & {bits - 1}))", lambda: f"{a} // (({b} & 15) + 1)", lambda: f"{a} % (({b} & 15) + 1)",
            lambda: f"{a} // {self.r.choice([3, 7, 10, 16, 100])}", lambda: f"{a} % {self.r.choice([3, 7, 10, 16, 100])}",
            lambda: f"tl.where({self.condition(t)}, {a}, {b})", lambda: f"tl.where({self.condition('i32')}, {a}, {b})",
            lambda: f"tl.where({a} > {b}, {a}, {b})", lambda: f"tl.where({a} < 0, -{a}, {a})", lambda: f"({self.condition(t)}).to({TL[t]})",
            lambda: f"tl.umulhi({a}, {b})" if t in ("u32", "u64") else f"{a} - ({b} << {self.r.randrange(bits)})"])()

    def floating(self, t):
        a, b, c, x = self.operand(t), self.operand(t), self.operand(t), self.cast(self.any(), t)
        exact = [lambda: f"tl.floor({x})", lambda: f"tl.ceil({x})", lambda: f"tl.div_rn({x}, {b} * {b} + 1.0)", lambda: f"tl.sqrt_rn(tl.abs({x}))",
                 lambda: f"tl.fma({x}, {b}, {c})", lambda: f"tl.clamp({x}, -1.5, 1.0)"] if t == "fp32" else []
        return self.r.choice(exact + [
            lambda: f"({x}).to(tl.float8e5)", lambda: f"({x}).to(tl.float8e5).to({TL[t]}) - {x}", lambda: f"({x}).to({self.r.choice(list(TL.values()))})",
            lambda: f"tl.maximum({a}, {b})", lambda: f"tl.minimum({a}, {b})", lambda: f"tl.maximum(tl.maximum({a}, {b}), {c})",
            lambda: f"tl.maximum({a}, {b}, propagate_nan=tl.PropagateNan.ALL)", lambda: f"-{a}", lambda: f"tl.abs({a})", lambda: f"{a} + {b}",
            lambda: f"{a} - {b}", lambda: f"{a} * {b}", lambda: f"{a} * {b} - {c}", lambda: f"tl.where({self.condition(t)}, {a}, {b})",
            lambda: f"tl.where({a} > {b}, {a}, {b})"])()

    def kernel(self):
        block = self.r.choice(BLOCKS)
        self.lines.append(f"    i = tl.arange(0, {block})")
        for i, t in enumerate(LOADED):
            self.let(f"tl.load(p{i} + pid * {block} + i)", t)
        for _ in range(self.r.randrange(20, 60)):
            t = self.r.choice(["i8", "i16", "i16", "i32", "i32", "i32", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp32"])
            text = self.integer(t) if t in INTS else self.floating(t)
            self.let(f"tl.broadcast_to(({text}).to({TL[t]}), [{block}])", t)
        for slot, (name, t) in enumerate(self.env[-STORED:]):
            # Which not-a-number it is, is not defined; nor which zero LLVM's maximum for a `where` gives.
            bits = name if t in INTS else f"(tl.where({name} == {name}, {name}, 1.0) + 0.0).to({TL[t]}).to(tl.int{FLOATS[t]}, bitcast=True)"
            self.lines.append(f"    tl.store(out + (pid * {STORED} + {slot}) * {block} + i, {bits}.to(tl.int64))")
        return self.lines
