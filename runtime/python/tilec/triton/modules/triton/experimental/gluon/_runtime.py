"""@gluon.jit, and functions of the host that its kernels call with constants."""
from ...compiler.compiler import ASTSource
from ...language.core import import_from
from ...runtime._callable import check_source
from ...runtime.jit import ConstexprFunction, JITFunction


class GluonASTSource(ASTSource):
    pass


class GluonJITFunction(JITFunction):

    _language = "gluon"

    def is_gluon(self):
        return True


class _Int(int):
    """An integer that is its own `value`, for programs to which host calls give constexprs."""

    value = property(int)


class _HostFunction(ConstexprFunction):

    def __call__(self, *args, _semantic=None, **kwargs):
        result = super().__call__(*args, **kwargs)
        return _Int(result) if type(result) is int else result


def constexpr_function(fn):
    return _HostFunction(fn)


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None,
        do_not_specialize_on_alignment=None, debug=None, noinline=None):
    def decorate(f):
        if isinstance(f, JITFunction):
            raise TypeError("@gluon.jit is on a function that is compiled already")
        check_source(f)
        return GluonJITFunction(f, version, do_not_specialize, do_not_specialize_on_alignment, debug, noinline, repr,
                                launch_metadata)
    return decorate(fn) if fn is not None else decorate


import_from("triton.experimental.gluon", constexpr_function, jit)
