"""Small stand-ins for what packages import and a machine may lack: packaging.version, einops; and plain operators."""

import inspect
import re

import torch

from packages.common import stub


class Version:
    """Enough of packaging.version for programs that ask which PyTorch or Triton they have."""

    def __init__(self, text):
        self.text = str(text)
        self.release = tuple(int(n) for n in re.findall(r"\d+", self.text.split("+")[0])[:3])
        self.major, self.minor, self.micro = (*self.release, 0, 0, 0)[:3]
        self.base_version, self.local, self.is_prerelease = self.text.split("+")[0], None, False

    def __str__(self):
        return self.text

    def __eq__(self, other):
        return self.release == Version(other).release

    def __lt__(self, other):
        return self.release < Version(other).release

    def __le__(self, other):
        return self.release <= Version(other).release

    def __gt__(self, other):
        return self.release > Version(other).release

    def __ge__(self, other):
        return self.release >= Version(other).release

    __hash__ = None


def axes(side):
    """`b (h d) 1` as [["b"], ["h", "d"], []]."""
    return [
        re.findall(r"[a-zA-Z_]\w*|\.\.\.", group or name) for group, name in re.findall(r"\(([^)]*)\)|([\w.]+)", side)
    ]


def rearrange(t, pattern, **sizes):
    """einops.rearrange and repeat: splits axes, permutes them, inserts new ones, joins."""
    left, right = (axes(side) for side in pattern.split("->"))
    if ["..."] in left:
        extra = t.dim() - len(left) + 1
        dots = [[f"dot{i}_"] for i in range(extra)]
        left, right = ([x for g in side for x in (dots if g == ["..."] else [g])] for side in (left, right))
    names = [n for g in left for n in g]
    for group, n in zip(left, t.shape):
        known = 1
        for name in group:
            known *= sizes.get(name, 1)
        for name in group:
            if name not in sizes:
                sizes[name] = n // known
    t = t.reshape([sizes[n] for n in names])
    new = [n for g in right for n in g if n not in names]
    order = [n for g in right for n in g]
    t = t.reshape(*t.shape, *[1] * len(new)).expand(*t.shape, *[sizes[n] for n in new])
    t = t.permute([(names + new).index(n) for n in order])
    return t.reshape([_product(sizes[n] for n in g) for g in right])


def reduce(t, pattern, reduction, **sizes):
    """einops.reduce: the axes that the right side lacks are reduced by the method of that name."""
    left, right = (axes(side) for side in pattern.split("->"))
    kept = [n for g in right for n in g]
    gone = [n for g in left for n in g if n not in kept]
    split = rearrange(t, f"{pattern.split('->')[0]} -> {' '.join(kept + gone)}", **sizes)
    split = getattr(split, reduction)(dim=tuple(range(len(kept), len(kept) + len(gone)))) if gone else split
    return rearrange(split, f"{' '.join(kept)} -> {pattern.split('->')[1]}", **sizes)


def _product(numbers):
    result = 1
    for n in numbers:
        result *= n
    return result


class PlainOperator:
    """A custom operator that is a function: tensors without data reach the launches in it."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)

    def register_fake(self, function):
        return function

    def register_autograd(self, backward, *, setup_context=None):
        signature = inspect.signature(self.function)
        steps = dict(forward=self.function, backward=backward, setup_context=setup_context)
        operator = type("Operator", (torch.autograd.Function,), {k: staticmethod(f) for k, f in steps.items() if f})

        def apply(*args, **kwargs):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            return operator.apply(*bound.args)

        self.function = apply


def plain_operator(name, function=None, **options):
    """torch.library.custom_op or triton_op, called or as a decorator."""
    return PlainOperator(function) if function else PlainOperator


def install():
    stub("packaging")
    stub("packaging.version", Version=Version, InvalidVersion=ValueError, parse=Version)
    stub("einops", rearrange=rearrange, repeat=rearrange, reduce=reduce, einsum=None, __version__="0.8.0")
