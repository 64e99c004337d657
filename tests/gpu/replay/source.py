"""The text of a Triton kernel with the helpers, globals and constants that it refers to, for both compilers."""

import ast
import enum
import inspect
import re
import textwrap

import torch
import triton.language as tl
from triton.language.extra import libdevice
from triton.runtime.jit import JITFunction

HEADER = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"
DTYPES = {
    "fp16": "float16",
    "bf16": "bfloat16",
    "fp32": "float32",
    "fp64": "float64",
    "fp8e4nv": "float8e4nv",
    "fp8e5": "float8e5",
}
BUILTINS = {}  # the id of a function of the language: the name it has in a text
for _prefix, _module in (("tl", tl), ("tl.math", tl.math), ("libdevice", libdevice)):
    for _name, _value in vars(_module).items():
        if not _name.startswith("_") and callable(_value):
            BUILTINS.setdefault(id(_value), f"{_prefix}.{_name}")


def unwrap(v):
    """The jit function under autotune, heuristics and other decorators."""
    while not isinstance(v, JITFunction) and hasattr(v, "fn") and not inspect.isfunction(v):
        v = v.fn
    return v


def is_kernel(v):
    return isinstance(v, JITFunction) or type(v).__name__ == "ConstexprFunction"


def names_in(tree):
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}


class Source:
    def __init__(self):
        self.lines, self.functions, self.names = [], {}, set()

    def text(self):
        return HEADER + "\n\n".join(self.lines) + "\n"

    def value(self, v):
        """A constant as the text writes it."""
        if isinstance(v, tl.constexpr):
            return f"tl.constexpr({self.value(v.value)})"
        if isinstance(v, tl.dtype):
            return f"tl.{DTYPES.get(v.name, v.name)}"
        if isinstance(v, enum.Enum):
            v = v.value
        if isinstance(v, float) and v - v != 0:
            return f"float('{v}')"
        if isinstance(v, torch.dtype):
            return repr(str(v))  # which equals no type of the language, as in Triton
        if isinstance(v, (bool, int, float, str, type(None))):
            return repr(v)
        if isinstance(v, (tuple, list)):
            return "(" + "".join(self.value(x) + ", " for x in v) + ")"
        raise TypeError(f"no text for {type(v).__name__}")

    def add(self, fn):
        """Adds a jit function and what it refers to, and returns its name in the text."""
        if id(fn) in self.functions:
            return self.functions[id(fn)]
        name, number = fn.__name__, 1
        while name in self.names:
            number += 1
            name = f"{fn.__name__}_{number}"
        self.names.add(name)
        self.functions[id(fn)] = name
        raw = getattr(fn, "fn", fn)
        text = textwrap.dedent(getattr(fn, "src", None) or inspect.getsource(raw))
        text = text[re.search(r"^def\s+\w+", text, re.M).start() :]
        text = re.sub(rf"^def\s+{fn.__name__}\b", f"def {name}", text, count=1)
        text = self.with_globals(raw, text)
        self.lines.append(text if inspect.isfunction(fn) else self.decorator(fn) + "\n" + text)
        return name

    @staticmethod
    def decorator(fn):
        if type(fn).__name__ == "ConstexprFunction":
            return "@triton.constexpr_function"
        options = [
            f"{o}={list(v)!r}"
            for o in ("do_not_specialize", "do_not_specialize_on_alignment")
            if (v := getattr(fn, o, None))
        ]
        if getattr(fn, "noinline", None):
            options.append("noinline=True")
        return f"@triton.jit({', '.join(options)})" if options else "@triton.jit"

    def with_globals(self, raw, text):
        """Binds the globals that a function's text names. a.b of a module of the program becomes a__b."""
        tree = ast.parse(text)
        functions = [f for f in ast.walk(tree) if isinstance(f, (ast.FunctionDef, ast.Lambda))]
        params = {a.arg for f in functions for a in f.args.args}
        annotations = [a.annotation for f in functions for a in f.args.args]
        scope = dict(raw.__globals__)
        try:
            scope.update(inspect.getclosurevars(raw).nonlocals)
        except (TypeError, ValueError):
            pass
        for node in ast.walk(tree):
            if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
                continue
            module, owner = scope.get(node.value.id), node.value.id
            if not inspect.ismodule(module) and not isinstance(module, (torch.finfo, torch.iinfo)):
                continue
            if owner in params or not hasattr(module, node.attr):
                continue
            home = getattr(module, "__name__", "")
            if home in ("triton", "math") or home.startswith("triton."):
                continue
            flat = f"{owner}__{node.attr}"
            value = getattr(module, node.attr)
            scope[flat] = tl.constexpr(value) if isinstance(value, (int, float, str)) else value
            if node in annotations:
                scope[flat] = None
            text = re.sub(rf"(?<![\w.]){owner}\.{node.attr}\b", flat, text)
        tree = ast.parse(text)
        # A default value is computed outside of its function: there a parameter's name may be a global's.
        defaults = [d for f in ast.walk(tree) if isinstance(f, ast.arguments) for d in (*f.defaults, *f.kw_defaults)]
        outside = {name for d in defaults if d for name in names_in(d)}
        for name in sorted(names_in(tree) - params | outside):
            if name in scope and not self.in_header(name, scope[name]):
                self.bind(name, scope[name])
        return text

    @staticmethod
    def in_header(name, v):
        return (
            name in ("tl", "triton")
            and getattr(v, "__name__", "") in ("triton.language", "triton")
            or name == "libdevice"
            and "libdevice" in getattr(v, "__name__", "")
        )

    def bind(self, name, v):
        if isinstance(v, tl.constexpr) and inspect.isfunction(v.value):  # @tl.constexpr on a function
            if name not in self.names:
                self.names.add(name)
                text = textwrap.dedent(inspect.getsource(v.value))
                text = self.with_globals(v.value, text[re.search(r"^def\s", text, re.M).start() :])
                self.lines.append("@tl.constexpr\n" + text)
            return
        word = self.reference(name, v)
        line = f"{name} = {word}" if word and word != name else None
        if word and word.startswith(("import ", "from ")):
            line = f"{word} as {name}"
        if line and line not in self.lines:
            self.lines.append(line)
            self.names.add(name)

    def reference(self, name, v):
        """What the text writes for a global: an import, a name, a constant; None for what no kernel can use."""
        if inspect.ismodule(v):
            return f"import {v.__name__}" if v.__name__.startswith(("triton", "math")) else None
        if id(v) in BUILTINS:
            return BUILTINS[id(v)]
        if is_kernel(unwrap(v)):
            return self.add(unwrap(v))
        if isinstance(v, (tl.constexpr, tl.dtype, torch.dtype, bool, int, float, str, type(None), tuple)):
            try:
                return self.value(v)
            except TypeError:
                return None
        owner = getattr(v, "__module__", None) or ""
        if callable(v) and owner.startswith("triton."):
            return f"libdevice.{v.__name__}" if "libdevice" in owner else f"from {owner} import {v.__name__}"
        if inspect.isfunction(v):
            return self.add(v)  # of the program's own, which constexpr functions call
        return None
