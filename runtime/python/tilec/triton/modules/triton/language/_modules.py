"""Modules of triton.language that have nothing but names."""
import importlib.machinery
import sys
import types

from tilec.triton._missing import no_attribute

from .core import Builtin


class _Loader:
    """Gives the module to a program that finds its spec and loads it by itself."""

    def __init__(self, module):
        self.module = module

    def create_module(self, spec):
        return self.module

    def exec_module(self, module):
        pass


def of_names(name, known=None, source=None):
    """Makes the module `name`. Its attributes are functions of the language: those of `known`, or any. Kernels import
    them from `source`."""
    module = types.ModuleType(name)
    module.__spec__ = importlib.machinery.ModuleSpec(name, _Loader(module))
    source = source or name

    def __getattr__(attribute):
        if attribute.startswith("__") or known is not None and attribute not in known:
            raise no_attribute(name, attribute, known)
        found = vars(module)[attribute] = Builtin(source, attribute)
        return found

    module.__getattr__ = __getattr__
    sys.modules[name] = module
    return module
