"""Stands in for the package `triton`: unmodified programs compile their kernels by tilec.

    python -m tilec.triton program.py …      # runs a program, or -m MODULE, as `python` would
    import tilec.triton; tilec.triton.install()   # in a program, before it imports triton
    TILE_TRITON=1 python program.py          # once `python -m tilec.triton --enable` has put a .pth file in place

Triton itself may be installed or not. docs/triton-programs.md says what differs.
"""
import importlib.abc
import importlib.machinery
import os
import sys

from . import _missing

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "modules")


class _Finder(importlib.abc.MetaPathFinder):
    """Finds `triton` and its modules in this package's folder."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] != "triton":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, [_FOLDER] if name == "triton" else path, target)
        if spec is None:
            spec = getattr(sys.modules.get(name), "__spec__", None)   # a module that its parent made
        is_import = sys._getframe(1).f_back.f_globals.get("__name__") == "importlib._bootstrap"
        if spec is None and is_import:   # others only ask whether the module is there
            raise ModuleNotFoundError(_missing.no_module(name), name=name)
        return spec


def install():
    """Makes `import triton` give this package's modules, for this process."""
    if is_installed():
        return
    loaded = sys.modules.get("triton")
    if loaded is not None:
        raise RuntimeError(f"triton is imported already, from {getattr(loaded, '__file__', '?')}: "
                           "call tilec.triton.install() before anything imports it")
    sys.meta_path.insert(0, _Finder())
    sys.path.insert(1, _FOLDER)   # what multiprocessing gives the processes that it starts
    # torch.compile's worker processes would open the GPU, each, for compilations of milliseconds.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    config = sys.modules.get("torch._inductor.config")
    if config is not None and os.environ["TORCHINDUCTOR_COMPILE_THREADS"] == "1":
        config.compile_threads = 1


def install_for_children():
    """Lets programs that this one starts use these modules, too, unless they take no notice of PYTHONPATH."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (_FOLDER, package, os.environ.get("PYTHONPATH"))))
    os.environ["TILE_TRITON"] = "1"


def is_installed():
    return any(isinstance(finder, _Finder) for finder in sys.meta_path)
