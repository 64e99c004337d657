"""Hooks Triton's launcher: a new launch of a program is given to a judge or a recorder instead, whose go() makes it."""

import hashlib
import re

import torch
import triton.language as tl
from triton.compiler.errors import CompilationError
from triton.runtime.autotuner import Autotuner
from triton.runtime.errors import OutOfResources, PTXASError
from triton.runtime.jit import JITFunction
from triton.tools.tensor_descriptor import TensorDescriptor

from source import DTYPES, Source, is_kernel, unwrap

UNFIT = (OutOfResources, CompilationError, PTXASError)  # what a configuration of an autotuner may raise
OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
TYPES = {
    "float8_e4m3fn": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "bool": "i1",
    **{v: k for k, v in DTYPES.items()},
    **{f"uint{n}": f"u{n}" for n in (8, 16, 32, 64)},
    **{f"int{n}": f"i{n}" for n in (8, 16, 32, 64)},
}


def type_name(dtype):
    name = str(dtype).rpartition(".")[2]
    return TYPES.get(name, name)


def tensor_like(v):
    return isinstance(v, torch.Tensor) or hasattr(v, "data_ptr") and hasattr(v, "dtype")


def full_name(kernel):
    """module.name; generated modules, whose names have a digest, are all `generated`."""
    return f"{re.sub(r'^_gen_.*', 'generated', kernel.fn.__module__)}.{kernel.__name__}"


def bind(self, args, kwargs):
    """The values of all parameters by name; None where they do not bind."""
    names = {p.name for p in self.params}
    try:
        bound = self.signature.bind(*args, **{k: v for k, v in kwargs.items() if k in names})
    except TypeError:
        return None
    bound.apply_defaults()
    return dict(bound.arguments)


class Launch:
    """A launch that the program makes, and its record: what JSON says of it."""

    def __init__(self, kernel, values, options, grid, go):
        self.kernel, self.values, self.go, self.source = kernel, values, go, Source()
        self.name = full_name(kernel)
        self.params = {p.name: p for p in kernel.params}
        self.entry = self.source.add(kernel)
        grid = grid(values) if callable(grid) else grid
        grid = [int(n) for n in (grid if isinstance(grid, (tuple, list)) else (grid,))]
        types = {k: self.spec(v, self.params[k]) for k, v in values.items()}
        self.record = {
            "kernel": self.name,
            "grid": grid,
            "options": {k: v for k, v in options.items() if v is not None},
            "signature": {k: "constexpr" if t.startswith("=") else t for k, t in types.items()},
            "constexprs": {k: t[1:] for k, t in types.items() if t.startswith("=")},
            "sizes": {
                k: list(v.shape) if hasattr(v, "shape") else v
                for k, v in values.items()
                if hasattr(v, "shape") or isinstance(v, int)
            },
            "entry": self.entry,
        }
        self.text = self.source.text()  # after the constexprs, which may add functions
        self.record["digest"] = hashlib.sha1((self.entry + self.text).encode()).hexdigest()[:16]

    def spec(self, v, param):
        """A parameter's type with hints as a signature has it, or =VALUE of a constant."""
        if isinstance(v, tl.constexpr):
            v = v.value
        if isinstance(v, (tuple, list)) and not param.is_constexpr:
            return "(" + "".join(self.spec(x, param).lstrip("=") + ", " for x in v) + ")"
        if isinstance(v, TensorDescriptor):
            return f"tensordesc<{type_name(v.base.dtype)}{list(v.block_shape)}>".replace(" ", "")
        if tensor_like(v):
            plain = param.do_not_specialize or param.do_not_specialize_on_alignment
            return f"*{type_name(v.dtype)}" + (":16" if not plain and v.data_ptr() % 16 == 0 else "")
        if param.is_constexpr or v is None or not isinstance(v, (bool, int, float)):
            return "=" + self.constant(v)
        if isinstance(v, bool):
            return "i1"
        if isinstance(v, float):
            return "fp32"
        kind = "i32" if -1 << 31 <= v < 1 << 31 else "i64" if v < 1 << 63 else "u64"
        if param.do_not_specialize:
            return kind
        if v == 1:
            return kind + ":1"
        return kind + (":16" if v % 16 == 0 and not param.do_not_specialize_on_alignment else "")

    def constant(self, v):
        if isinstance(v, torch.dtype):
            return "tl." + DTYPES.get(type_name(v), str(v).rpartition(".")[2])
        u = unwrap(v) if callable(v) else v
        return self.source.add(u) if is_kernel(u) else self.source.value(v)


class Hook:
    def __init__(self, take, per_kernel, only, seen, configs):
        """seen: launch keys judged before and how often each kernel was; configs: first or best."""
        self.take, self.per_kernel, self.only, self.seen, self.configs = (
            take,
            per_kernel,
            re.compile(only),
            seen,
            configs,
        )
        self.quiet = 0  # depth of work whose launches are nobody's business
        self.collected = None  # launches of the configurations of one autotuned call
        self.key = ""  # of the launch being taken

    def run(self, kernel, args, grid, warmup, kwargs):
        go = lambda **other: self.original(kernel, *args, grid=grid, warmup=warmup, **{**kwargs, **other})
        values = None if warmup or self.quiet or type(kernel) is not JITFunction else bind(kernel, args, kwargs)
        name = full_name(kernel)
        if values is None or not self.only.search(name):
            return self.pass_by(go)
        options = {k: kwargs[k] for k in OPTIONS if k in kwargs and k not in values}
        plain = (bool, int, float, str, type(None))
        described = [
            (
                (k, tuple(v.shape), v.dtype)
                if isinstance(v, torch.Tensor)
                else (k, v if isinstance(v, plain) else type(v).__name__)
            )
            for k, v in values.items()
        ]
        key = self.key = hashlib.sha1(str((name, options, described)).encode()).hexdigest()[:16]
        counts = self.collected is None
        if counts:
            if key in self.seen or self.seen.get(name, 0) >= self.per_kernel:
                return self.pass_by(go)
            self.seen[key] = 1
            self.seen[name] = self.seen.get(name, 0) + 1
        self.quiet += 1  # what the judge does with tensors may itself be such kernels
        try:
            return self.take(self, kernel, values, options, grid, go)
        except UNFIT:  # another configuration of the autotuner takes this one's place
            self.seen[name] -= counts
            raise
        finally:
            self.quiet -= 1

    def pass_by(self, go):
        """A launch that is not judged."""
        return go()

    def tune(self, tuner, args, kwargs):
        """An autotuned call: with the first configuration that runs, or each of 12 by itself and then the best ones."""
        name = full_name(unwrap(tuner))
        several = self.configs == "best" and len(tuner.configs) > 1 and not self.quiet
        several = several and self.only.search(name) and self.seen.get(name, 0) < self.per_kernel
        tuner.nargs = dict(zip(tuner.arg_names, args))
        configs = list(tuner.prune_configs(kwargs)) if len(tuner.configs) > 1 else tuner.configs
        if not several:
            return self.first_that_runs(tuner, configs, args, kwargs)
        self.seen[name] = self.seen.get(name, 0) + 1
        result, self.collected = None, []
        try:
            for c in configs[:12]:
                try:
                    result = self.with_configs(tuner, [c], args, kwargs)
                except UNFIT:
                    continue
            collected = self.collected
        finally:
            self.collected = None
        self.best(collected)
        return result

    def first_that_runs(self, tuner, configs, args, kwargs):
        for i, c in enumerate(configs):
            try:
                return self.with_configs(tuner, [c], args, kwargs)
            except UNFIT:
                if i + 1 == len(configs):
                    raise

    def with_configs(self, tuner, configs, args, kwargs):
        all_configs, tuner.configs = tuner.configs, configs
        try:
            return self.original_tuner(tuner, *args, **kwargs)
        finally:
            tuner.configs = all_configs

    def install(self):
        self.original, self.original_tuner = JITFunction.run, Autotuner.run
        JITFunction.run = lambda kernel, *args, grid, warmup, **kwargs: self.run(kernel, args, grid, warmup, kwargs)
        Autotuner.run = lambda tuner, *args, **kwargs: self.tune(tuner, args, kwargs)
        torch.library.wrap_triton = lambda kernel: kernel  # which would hide launches from a program of fake tensors
