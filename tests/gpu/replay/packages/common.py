"""What the workloads share: tensors at model sizes, backward passes, stand-ins for what packages merely import."""

import importlib
import importlib.machinery
import os
import sys
import types

import torch
import torch.nn.functional as F

D = "cuda"
BF16, FP16, FP32 = torch.bfloat16, torch.float16, torch.float32


def rand(*shape, dtype=BF16, scale=1.0):
    return torch.randn(shape, device=D, dtype=dtype) * scale


def leaf(*shape, dtype=BF16, scale=1.0):
    return rand(*shape, dtype=dtype, scale=scale).requires_grad_()


def unit(*shape, dtype=BF16):
    """Numbers in [0, 1) with a gradient."""
    return torch.rand(*shape, device=D, dtype=dtype).requires_grad_()


def gate(*shape, dtype=FP32):
    return F.logsigmoid(torch.randn(*shape, device=D, dtype=dtype)).detach().requires_grad_()


def normal(x):
    return F.normalize(x.float(), dim=-1).to(x.dtype).detach().requires_grad_()


def ints(high, *shape, dtype=torch.int64):
    return torch.randint(0, high, shape, device=D, dtype=dtype)


def whole(high, *shape):
    return ints(high, *shape, dtype=torch.int32)


def bytes_(*shape):
    return ints(256, *shape).to(torch.uint8)


def fp8(*shape):
    return rand(*shape).to(torch.float8_e4m3fn)


def scale(*shape):
    """Positive factors of quantised numbers."""
    return rand(*shape, dtype=FP32).abs()


def starts(count, length):
    """Where sequences of the same length start; the last entry is their end."""
    return torch.arange(0, count + 1, device=D, dtype=torch.int32) * length


def full(value, *shape, dtype=torch.int32):
    return torch.full(shape, value, device=D, dtype=dtype)


def load(name):
    return importlib.import_module(name)


def folder_of(name):
    """The folder of the search path that ends so."""
    return next(path for path in sys.path if path.endswith("/" + name))


def fb(out):
    """Backward of every tensor with a gradient in the result."""
    outs = [
        o
        for o in (out if isinstance(out, (tuple, list)) else (out,))
        if isinstance(o, torch.Tensor) and o.requires_grad
    ]
    if outs:
        torch.autograd.backward(outs, [torch.randn_like(o) for o in outs])


def stub(name, **attributes):
    """A module of that name with these attributes, unless the machine has one."""
    try:
        __import__(name)
    except ImportError:
        module = sys.modules[name] = types.ModuleType(name)
        module.__spec__, module.__path__ = importlib.machinery.ModuleSpec(name, None), []
        parent, _, last = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], last, module)
    for k, v in attributes.items():
        if not hasattr(sys.modules[name], k):
            setattr(sys.modules[name], k, v)


class BarePackages:
    """Finds packages below a root without their __init__, which would pull in the world."""

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        sys.meta_path.insert(0, self)

    def find_spec(self, name, path=None, target=None):
        folder = os.path.join(self.folder, *name.split("."))
        if name.split(".")[0] != self.root or not os.path.isdir(folder):
            return None
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [folder]
        return spec


def bare_of(choice):
    """A function that leaves out the __init__ files of a package of that choice, which would pull in the world."""
    return lambda root, name: BarePackages(root, folder_of(f"{choice}/{name}"))


class Names(type):
    """A class that takes any arguments and has any constant."""

    def __init__(cls, *a, **k):
        pass

    def __new__(cls, name, bases, body, **k):
        return super().__new__(cls, name, bases, body)

    def __getattr__(cls, name):
        return name


class Answers(types.ModuleType):
    """A module of questions about the machine, answered for CUDA; decorators of its names leave functions alone."""

    def __init__(self, name, **known):
        super().__init__(name)
        self.__dict__.update(known, __path__=[])
        self.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name.startswith(("register_", "cache", "lru_cache", "debug_", "direct_register")):
            return lambda f=None, *a, **k: f if callable(f) else (lambda g: g)
        if name.isupper():
            return types.SimpleNamespace(get=lambda *a: False)
        if name[0].isupper():
            return Names(name, (), {"__init__": lambda self, *a, **k: None})
        return lambda *a, **k: name in ("is_cuda", "is_sm90_supported", "get_bool_env_var_true")


def answer(names, folder, **known):
    """Puts Answers in the place of these modules; what lies below them in the folder is still found."""
    for name in names:
        module = sys.modules[name] = Answers(name, **known)
        module.__path__ = [os.path.join(folder, *name.split("."))]
        parent, _, last = name.rpartition(".")
        if parent in sys.modules:
            setattr(sys.modules[parent], last, module)
