"""Functions of the host whose source goes into kernels."""
import ast
import hashlib
import inspect
import linecache

from .._source import Gatherer, NotSource, source_of


def check_source(fn):
    """Raises TypeError for a lambda and, as Triton does, ValueError for a function from a text that Python does not
    keep."""
    if getattr(fn, "__name__", "") == "<lambda>":
        raise TypeError("@triton.jit takes a function that `def` makes, not a lambda")
    if not inspect.isfunction(fn):
        name = getattr(fn, "__name__", None) or type(fn).__name__
        way = ("@staticmethod stands above it" if isinstance(fn, (staticmethod, classmethod, property)) else
               "its options are do_not_specialize, debug, noinline, repr and launch_metadata, by name"
               if isinstance(fn, str) else "decorate its functions" if isinstance(fn, type) else
               "triton.language and its libdevice have functions for kernels")
        shown = repr(fn) if isinstance(fn, str) else f"{name}, which is of type {type(fn).__name__}"
        raise TypeError(f"@triton.jit takes a function that `def` makes, not {shown}: {way}")
    file = fn.__code__.co_filename
    if file.startswith("<") and not linecache.getlines(file):   # a notebook's cells are there
        raise ValueError(f"@jit functions should be defined in a Python file: Python does not keep the text of "
                         f"{fn.__qualname__}, which comes from {file} (exec, or standard input); write it to a .py "
                         "file and import that")


class JITCallable:
    """A function that kernels call: a decorator is around it."""

    _decorator = ""   # as kernels' source has it, with the end of the line

    def __init__(self, fn):
        self.fn = fn
        self._source = None            # the text, if it was replaced or asked for
        self._num_replaced = 0         # how often it was replaced
        self.hash, self.used_global_vals = None, {}

    @property
    def src(self):
        if self._source is None:
            self._source = source_of(self.fn)[0]
        return self._source

    def _known_source(self):
        try:
            return self.src
        except NotSource:
            return None

    @src.setter
    def src(self, text):
        raise AttributeError("Cannot set attribute 'src' directly. Use '_unsafe_update_src()' and manually clear "
                             "`.hash` of all callers instead.")

    def _unsafe_update_src(self, text):
        self._source, self.hash = text, None
        self._num_replaced += 1

    @property
    def raw_src(self):
        return inspect.getsourcelines(self.fn)[0]

    @property
    def starting_line_number(self):
        return inspect.getsourcelines(self.fn)[1]

    @property
    def cache_key(self):
        """A text that is the same in each process, for the same source, line and constants."""
        if self.hash is None:
            gatherer = Gatherer()
            try:
                gatherer.name_of(self)
                text = f"{self.starting_line_number} {gatherer.text()}"
            except (NotSource, NotImplementedError, OSError):
                text = self.src
            self.hash = hashlib.sha256(text.encode()).hexdigest()
        return self.hash

    def parse(self):
        return ast.parse(self.src)

    def get_capture_scope(self):
        return self.fn.__globals__ | inspect.getclosurevars(self.fn).nonlocals

    def _tile_source(self, gatherer, name):
        why = getattr(self, "_must_use_result", False)
        must_use = f"@triton.must_use_result{f'({why!r})' if isinstance(why, str) else ''}\n" if why else ""
        gatherer.add_function(self.fn, name, must_use + self._decorator, self._source if self._num_replaced else None)
        gatherer.watch_source(self)
