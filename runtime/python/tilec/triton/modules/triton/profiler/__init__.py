"""Proton's names: programs that profile run, and nothing is measured. What would give data says so."""
import functools
import warnings

from . import mode   # noqa: F401

DEFAULT_PROFILE_NAME = "proton"


def start(name=None, *, context="shadow", data="tree", backend=None, mode=None, hook=None):
    """Warns, and measures nothing. Returns the number of the session."""
    warnings.warn("tilec.triton has no profiler: triton.profiler measures nothing and writes no file; "
                  "nsys and ncu profile kernels", RuntimeWarning, stacklevel=2)
    return 0


def activate(session=None):
    pass


def deactivate(session=None):
    pass


def finalize(session=None, output_format=""):
    pass


def profile(func=None, *, name=None, **options):
    """Calls a function as it is. A decorator, with or without options."""
    return func if func is not None else lambda f: f


class scope:
    """A part of a program with a name: a context or a decorator."""

    def __init__(self, name, metrics=None):
        self.name, self.metrics = name, metrics

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return False

    def __call__(self, func):
        @functools.wraps(func)
        def within(*args, **kwargs):
            with self:
                return func(*args, **kwargs)
        return within


class cpu_timed_scope(scope):
    pass


class state(scope):

    def __init__(self, name):
        super().__init__(name)


def enter_scope(name, *, metrics=None):
    return None


exit_scope = enter_state = exit_state = lambda name=None, *, metrics=None: None
