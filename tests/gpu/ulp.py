#!/usr/bin/env python3
"""Errors of the mathematical functions in fp32, in units in the last place of the exact result.

usage: ulp.py [--only NAME…] [--device gpu|sim|interp] [--list] [--out PAGE]      TILE_LIBRARY names libtile.so; needs PyTorch

On the GPU a function of one argument is computed for all 2^32 numbers, one of two for 2^28 pairs: a third any bits, a third near 1
in both, a third of small whole and half numbers, with every pair of the special values first. Elsewhere samples: 2^21 numbers of one
argument, then 2^19 near those with the largest errors, and 2^17 pairs. TILE_SIM_APPROX=1 makes the simulator's approximate instructions
as bad as the ISA allows. The reference is PyTorch's in float64. Prints the largest error of each function and where; fails where one is above what docs/language.md promises,
where a NaN or an infinity is not one in the other, and where a zero has the other sign. PAGE, docs/results/ulp.md, is overwritten."""
import argparse
import concurrent.futures
import ctypes
import math
import os
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tools")]
import results  # noqa: E402
import tile_ctypes  # noqa: E402
import torch  # noqa: E402

INSTRUCTION = 2.1     # ex2.approx and div.full are documented with 2 ulp and measured with 2.06 and 2.08
NEAREST = 0.5000001   # correctly rounded; the reference has an error of its own


class Function:
    """flush: subnormal arguments and results may count as zeros; zero_sign: whether the sign of a zero result matters;
    where: the arguments that are compared."""
    def __init__(self, name, reference, bound=2.0, args=1, flush=False, zero_sign=True, where=None, family="libdevice"):
        self.name, self.reference, self.bound, self.args, self.flush, self.zero_sign, self.where = name, reference, bound, args, flush, zero_sign, where
        self.expression = f"{family}.{name}"


# ---- references that PyTorch has not ----

def signed(magnitude):
    return lambda x: torch.copysign(magnitude(x.abs()), x)


def half_turns(x, shift):
    """sin(pi * (x + shift / 2)), by the quarter that x is in."""
    x = torch.fmod(x, 2.0)
    n = torch.round(2 * x)
    r = (x - n / 2) * math.pi
    q = torch.remainder(n + shift, 4)
    y = torch.where(torch.remainder(q, 2) == 0, torch.sin(r), torch.cos(r))
    return torch.where(q >= 2, -y, y)


def tgamma(x):
    y = torch.exp(torch.lgamma(x))
    y = torch.where((x < 0) & (torch.remainder(torch.floor(x), 2) == 1), -y, y)
    y = torch.where(x == 0, 1 / x, y)
    return torch.where((x < 0) & (torch.floor(x) == x), math.nan, y)


def logb(x):
    return torch.floor(torch.log2(x.abs()) + 2.0 ** -40)   # no fp32 below a power of two is that near to it


def hypot(x, y):
    return torch.where(torch.isinf(x) | torch.isinf(y), math.inf, torch.hypot(x, y))


FUNCTIONS = [
    Function("exp", torch.exp), Function("exp2", torch.exp2, INSTRUCTION, flush=True), Function("exp10", lambda x: torch.pow(10.0, x)), Function("expm1", torch.expm1),
    Function("log", torch.log), Function("log2", torch.log2), Function("log10", torch.log10), Function("log1p", torch.log1p), Function("logb", logb, 0.0),
    Function("tanh", torch.tanh), Function("sinh", torch.sinh), Function("cosh", torch.cosh),
    Function("asinh", torch.asinh), Function("acosh", torch.acosh), Function("atanh", torch.atanh),
    Function("sin", torch.sin), Function("cos", torch.cos), Function("tan", torch.tan),
    Function("sinpi", lambda x: half_turns(x, 0), zero_sign=False), Function("cospi", lambda x: half_turns(x, 1), zero_sign=False),
    Function("asin", torch.asin), Function("acos", torch.acos), Function("atan", torch.atan),
    Function("erf", torch.erf), Function("erfc", torch.erfc, 3.0), Function("erfinv", torch.erfinv, 4.0), Function("erfcx", torch.special.erfcx, 4.0),
    Function("normcdf", lambda x: torch.erfc(x * -math.sqrt(0.5)) / 2, 4.0), Function("lgamma", torch.lgamma, 4.0, zero_sign=False, where=lambda x: ~(x <= -2)), Function("tgamma", tgamma, 5.0, zero_sign=False),
    Function("erfcinv", lambda x: torch.special.ndtri(x / 2) * -math.sqrt(0.5), 4.0, zero_sign=False), Function("normcdfinv", torch.special.ndtri, 4.0, zero_sign=False),
    Function("sqrt", torch.sqrt, flush=True), Function("rsqrt", torch.rsqrt, flush=True), Function("sqrt_rn", torch.sqrt, NEAREST, family="tl"),
    Function("cbrt", signed(lambda a: torch.pow(a, 1 / 3))), Function("rcbrt", signed(lambda a: torch.pow(a, -1 / 3))),
    Function("rsqrt_rn", torch.rsqrt, NEAREST), Function("rcp_rn", torch.reciprocal, NEAREST),
    Function("trunc", torch.trunc, 0.0), Function("rint", torch.round, 0.0), Function("round", signed(lambda a: torch.floor(a + 0.5)), 0.0),
    Function("pow", torch.pow, args=2), Function("atan2", torch.atan2, args=2), Function("hypot", hypot, args=2), Function("rhypot", lambda x, y: 1 / hypot(x, y), args=2),
    Function("fmod", torch.fmod, 0.0, args=2), Function("div_rn", torch.div, NEAREST, args=2), Function("fdiv", torch.div, INSTRUCTION, args=2, flush=True, family="tl"),
]


# ---- errors ----

def unit(w):
    """The unit in the last place of w as fp32."""
    e = (w.view(torch.int64) >> 52) & 0x7ff
    return ((e.clamp_(1023 - 126, 1023 + 127) - 23) << 52).view(torch.float64)


def errors(got, want, zero_sign):
    limit = 2.0 ** 128   # what an infinity stands for where the exact result is finite
    y, w = got.double().clamp_(-limit, limit), want.clamp(-limit, limit)
    d = (y - w).abs_().div_(unit(w))
    wrong = torch.isinf(want) & (got.double() != want)
    if zero_sign: wrong |= (w == 0) & (y == 0) & (torch.signbit(w) != torch.signbit(y))
    d = torch.where(torch.isnan(y) & torch.isnan(w), 0.0, d)
    return torch.nan_to_num_(d.masked_fill_(wrong, math.inf), nan=math.inf, posinf=math.inf)


def measure(f, got, args):
    wide = [a.double() for a in args]
    want = f.reference(*wide)
    d = errors(got, want, f.zero_sign)
    if f.flush:
        smallest = 2.0 ** -126
        flushed = [torch.where(a.abs() < smallest, a * 0.0, a) for a in wide]
        if any(bool((p != q).any()) for p, q in zip(flushed, wide)):
            d = torch.minimum(d, errors(got, f.reference(*flushed), f.zero_sign))
        d = torch.where((got == 0) & (want.abs() < smallest), 0.0, d)
    if f.where: d = torch.where(f.where(*args), d, 0.0)
    worst, i = d.max(0)
    return worst.item(), [a[i].item() for a in args], got[i].item(), want[i].item()


# ---- arguments ----

SPECIAL = [0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x3f800000, 0xbf800000,
           0x3f7fffff, 0x3f800001, 0x40000000, 0xc0000000, 0x40400000, 0xc0400000, 0x3f000000, 0xbf000000, 0x4b7fffff, 0x4b800000, 0xcb7fffff, 0xcb800000, 0x5f000000, 0xdf000000]


def as_int32(values, where):
    return torch.tensor([v - 2 ** 32 if v >= 2 ** 31 else v for v in values], dtype=torch.int32, device=where)


def as_bits(values):
    return torch.tensor(values).view(torch.int32).tolist()


def pairs(n, k, where):
    """Part k of the sample of pairs."""
    gen = torch.Generator(device=where)
    gen.manual_seed(k)
    any_bits = lambda: torch.randint(-2 ** 31, 2 ** 31, (n,), dtype=torch.int64, device=where, generator=gen).to(torch.int32).view(torch.float32)
    kind = k % 3
    if kind == 1:   # exponents from -12 to 12
        near = lambda: torch.exp2(24 * torch.rand(n, device=where, generator=gen) - 12) * (torch.randint(0, 2, (n,), device=where, generator=gen) * 2.0 - 1.0)
        x, y = near(), near()
    elif kind == 2:
        few = lambda: torch.randint(-300, 301, (n,), device=where, generator=gen).float() / 2
        x, y = few(), few()
    else: x, y = any_bits(), any_bits()
    if k == 0:
        s = as_int32(SPECIAL, where).view(torch.float32)
        x[:len(s) ** 2], y[:len(s) ** 2] = s.repeat_interleave(len(s)), s.repeat(len(s))
    return [x, y]


class OnGpu:
    device, where, size = "gpu", "cuda", 2 ** 26

    def parts(self, f, found):
        if f.args == 2: return [lambda k=k: pairs(self.size, k, self.where) for k in range(4)]
        first = torch.arange(self.size, dtype=torch.int32, device=self.where)
        return [lambda k=k: [(first + (k * self.size - 2 ** 31)).view(torch.float32)] for k in range(2 ** 32 // self.size)]

    def launch(self, kernel, args, out):
        kernel.bind((out.numel() // 1024,), *args, out)()


class OnCpu:
    where, size = "cpu", 2 ** 15

    def __init__(self, device, library):
        self.device = device
        self.arrays = [library.array((ctypes.c_float * self.size)()) for _ in range(3)]

    def parts(self, f, found):
        """`found` has the measures of the parts before."""
        if f.args == 2:
            yield from (lambda k=k: pairs(self.size, k, self.where) for k in range(4))
            return
        gen = torch.Generator().manual_seed(1)

        def numbers(first, count):
            """A random one of each of `size` ranges, which share `count` numbers from the bits `first` on."""
            step = count // self.size
            bits = torch.arange(first, first + count, step, dtype=torch.int64) + torch.randint(0, step, (self.size,), generator=gen)
            return bits.to(torch.int32).view(torch.float32)

        def beside_halves():
            """The special values and what is up to two units in the last place from whole and half numbers."""
            half = (torch.arange(-self.size // 10, self.size // 10).float() / 2).view(torch.int32)
            near = torch.cat([as_int32(SPECIAL, "cpu")] + [half + n for n in range(-2, 3)])[:self.size].view(torch.float32)
            return torch.cat([near, torch.ones(self.size - len(near))])
        yield lambda: [beside_halves()]
        yield from (lambda k=k: [numbers(k * 2 ** 26 - 2 ** 31, 2 ** 26)] for k in range(64))
        for width in (2 ** 22, 2 ** 18):
            worst = sorted((m for m in found if m[0] < math.inf), key=lambda m: -m[0])[:8]
            for at in as_bits([m[1][0] for m in worst]): yield lambda: [numbers(max(at - width // 2, -2 ** 31), width)]

    def launch(self, kernel, args, out):
        arrays = [*self.arrays[:len(args)], self.arrays[-1]]
        for array, t in zip(arrays, args):
            ctypes.memmove(array.values, t.data_ptr(), self.size * 4)
            array.write()
        kernel.launch((self.size // 1024,), *arrays)
        ctypes.memmove(out.data_ptr(), arrays[-1].read(), self.size * 4)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--only", nargs="+", default=[])
    p.add_argument("--device", default="gpu", choices=["gpu", "sim", "interp"])
    p.add_argument("--list", action="store_true")
    p.add_argument("--out")
    o = p.parse_args()
    unknown = set(o.only) - {f.name for f in FUNCTIONS}
    if unknown: p.error("no function " + ", ".join(sorted(unknown)))
    chosen = [f for f in FUNCTIONS if not o.only or f.name in o.only]
    if o.list:
        for f in chosen: print(f"{f.expression:20s} {f.bound:g}")
        return 0
    library = tile_ctypes.Library(device=o.device)
    run = OnGpu() if o.device == "gpu" else OnCpu(o.device, library)
    path, start, failed, rows = os.path.join(HERE, "ulp.tile"), time.time(), 0, []
    build = lambda f: library.build(path, ("one", "two")[f.args - 1], ", ".join(["*fp32:16"] * (f.args + 1)), {"F": f.expression})
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        programs = [pool.submit(build, f) for f in chosen]
        out = torch.empty(run.size, dtype=torch.float32, device=run.where)
        for f, program in zip(chosen, programs):
            begin = time.time()
            kernel, found = library.load(program.result()), []
            for part in run.parts(f, found):
                args = part()
                run.launch(kernel, args, out)
                found.append(measure(f, out, args))
            error, at, got, want = max(found, key=lambda m: m[0])
            bad = not error <= f.bound
            failed += bad
            at = ", ".join(f"{a!r} ({a.hex()})" for a in at)
            rows.append((f"`{f.expression}`", f"{error:.4f}{' (failed)' if bad else ''}", f"{f.bound:g}", at))
            print(f"{f.expression:20s} {error:10.4f} of {f.bound:g} ulp at {at}: {got!r}, exact {want!r}  [{time.time() - begin:.1f} s]{'  FAILED' if bad else ''}", flush=True)
    total = f"{o.device}: {len(chosen) - failed} of {len(chosen)} functions within their bounds, {time.time() - start:.0f} s"
    print(total)
    if o.out:
        card = torch.cuda.get_device_name() if o.device == "gpu" else o.device
        results.write(o.out, "Errors of the functions in fp32", f"{card}, PyTorch {torch.__version__}", total,
                      results.table("Largest errors in ulp", ["function", "error", "bound", "at"], rows))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
