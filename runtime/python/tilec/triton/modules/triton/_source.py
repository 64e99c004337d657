"""Gathers one text for tilec: a kernel, and all that it refers to, as the module-level names of one file.

Kernels come from several modules and closures, so that one name may mean several things. Each object gets a name of its
own here, and the functions' texts are edited to use these names. Lines stay lines: `ranges` says where they come from.
"""
import ast
import builtins
import copy
import dataclasses
import enum
import functools
import inspect
import re
import sys
import textwrap
import types

from . import _limits
from ._annotations import annotation_text, annotations_of
from ._renamer import MISSING, NotSource, Renamer, edited, has_source, is_of_python, is_plain, snapshot

_BUILTINS = vars(builtins)
_OF_HOST = (types.FunctionType, property, classmethod, staticmethod)
# The modules that every text has names for.
_MODULES = {"triton": "triton", "triton.language": "tl", "triton.experimental.gluon": "gluon",
            "triton.experimental.gluon.language": "gl"}


# Kernels of one program call the same helpers: each is read and parsed once.
@functools.lru_cache(maxsize=512)
def source_of(fn):
    """Returns the text of a function from its `def` on, its file, and the line of the `def` there."""
    try:
        lines, first = inspect.getsourcelines(fn)
        file = inspect.getsourcefile(fn)
    except (OSError, TypeError):
        raise NotSource(f"the source of {fn.__qualname__} cannot be found: a kernel must stand in a file") from None
    at = next((i for i, line in enumerate(lines) if re.match(r"\s*(async\s+)?def\s", line)), 0)
    return textwrap.dedent("".join(lines[at:])), file, first + at


_parsed = functools.lru_cache(maxsize=512)(ast.parse)


def names_of(fn):
    """Returns the lookup of the names that a function finds outside of itself: its closure, then its module."""
    cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or ()))
    return Scope(cells, fn.__globals__)


class Scope:
    """Names outside of a function or class."""

    def __init__(self, cells, module, others=None):
        self.cells, self.module, self.others = cells, module, others or {}

    def __call__(self, name):
        if name in self.cells:
            try:
                return self.cells[name].cell_contents
            except ValueError:   # not bound yet
                return MISSING
        value = self.module.get(name, MISSING)
        return self.others.get(name, MISSING) if value is MISSING else value

    def guards(self, name):
        """Returns what the launcher in C asks to know that a name has the value that it has now."""
        if name in self.cells:
            return [(self.cells[name], "cell_contents", self(name))]
        return _guards_in(self.module, name) + (_guards_in(self.others, name) if name not in self.module else [])


def _guards_in(names, name):
    return [(names, name, names[name]) if name in names else (names, name)]


class Gatherer:

    def __init__(self):
        self._chunks = []    # (text, file, line of its first line there), in the order of definition
        self._imports = {}   # module-level name -> module
        self._taken = set(_MODULES.values())
        self._names = {}     # id of an object, or the key of a value -> its name here
        self._kept = []      # what _names has the ids of
        self.watched = []    # (scope, name, value, what it was) of values that were written into the text
        self._sources = []   # (function, how often its source was replaced)

    def text(self):
        return self._joined()[0]

    def ranges(self):
        """Returns (line of the text, file, line of the file) of each part that comes from a file."""
        return self._joined()[1]

    def _joined(self):
        head = [f"import {module} as {name}" for module, name in _MODULES.items()]
        head += [f"import {module} as {name}" for name, module in self._imports.items()]
        lines, ranges = head + [""], []
        for text, file, line in self._chunks:
            body = text.split("\n")
            skipped = next(i for i, line in enumerate(body) if not line.startswith("@"))   # decorators of ours
            ranges.append((len(lines) + 1 + skipped, file, line) if file else (len(lines) + 1, None, 1))
            lines += body + [""]
        return "\n".join(lines) + "\n", ranges

    def watch(self, scope, name, value):
        self.watched.append((scope, name, value, snapshot(value)))

    def is_current(self):
        """Whether the text is still what would be gathered: its values and its functions' sources are the same."""
        for scope, name, value, known in self.watched:
            now = scope(name)
            if not (now is value and _is_untouched(now, known)) and not _same(snapshot(now), known):
                return False
        return self.has_current_sources()

    def guards(self):
        """Returns what the launcher in C asks in place of is_current: the function itself where that is not enough."""
        guards = [(vars(function), "_num_replaced", function._num_replaced) for function, _ in self._sources]
        for scope, name, value, known in self.watched:
            owner = getattr(scope, "__self__", None)   # whose `get` the scope is
            if scope(name) is not value or not _is_untouched(value, known) or not isinstance(scope, Scope) and \
                    type(owner) is not dict:
                return [self.is_current]
            guards += scope.guards(name) if isinstance(scope, Scope) else _guards_in(owner, name)
            if value is not known:   # a constexpr
                guards.append((value, "value", known.value))
        return guards

    def change(self):
        """Returns (name, value before, value now) of a value that has changed."""
        for scope, name, value, known in self.watched:
            now = scope(name)
            if not (now is value and _is_untouched(now, known)) and not _same(snapshot(now), known):
                return name, known, now
        return None

    def watch_source(self, function):
        self._sources.append((function, function._num_replaced))

    def has_current_sources(self):
        for function, number in self._sources:
            if function._num_replaced != number:
                return False
        return True

    # ---- names

    def _claim(self, wish):
        wish = re.sub(r"\W", "_", wish) or "value"
        name, number = wish, 1
        while name in self._taken or name in _BUILTINS and number == 1:
            number += 1
            name = f"{wish}__{number}"
        self._taken.add(name)
        return name

    def _add(self, text, file=None, line=1):
        self._chunks.append((text, file, line))

    def _name_for(self, obj, wish):
        name = self._names[id(obj)] = self._claim(wish)
        self._kept.append(obj)
        return name

    def name_of(self, obj, wish=None):
        """Returns the name of a function, class or module; the first call writes the object into the text."""
        obj = getattr(obj, "_tile_function", obj)
        if id(obj) in self._names:
            return self._names[id(obj)]
        own = getattr(obj, "__name__", None)
        wish = wish or (own if isinstance(own, str) and own else "value")
        if isinstance(obj, types.ModuleType):
            name = self._name_for(obj, wish.rpartition(".")[2])
            self._imports[name] = obj.__name__
            return name
        writer = getattr(obj, "_tile_source", None)
        if writer is not None:
            name = self._name_for(obj, wish)
            written = writer(self, name)
            if written is not None:
                self._add(written)
            return name
        module = getattr(obj, "__module__", None)
        module = module if isinstance(module, str) else ""
        if is_of_python(module) and getattr(sys.modules.get(module), getattr(obj, "__name__", ""), None) is obj:
            name = self._name_for(obj, wish)
            self._add(f"from {module} import {obj.__name__} as {name}")
            return name
        if _limits.is_of_dtypes(obj):
            name = self._name_for(obj, wish)
            self._imports.setdefault("collections", "collections")
            self._add(_limits.source(obj, name, self))
            return name
        if isinstance(obj, types.FunctionType):
            if obj.__name__ == "<lambda>":
                raise NotSource(f"a kernel uses a lambda ({wish}): write it as a function "
                                "with @triton.constexpr_function")
            name = self._name_for(obj, obj.__name__)
            self.add_function(obj, name)
            return name
        if isinstance(obj, type):
            return self._class(obj)
        way = ("pass it as an argument of the launch" if hasattr(obj, "data_ptr") or hasattr(obj, "__array_interface__")
               else "constants, dtypes, @triton.jit functions and classes are known there")
        raise NotSource(f"a kernel uses {wish}, a {type(obj).__module__}.{type(obj).__qualname__}, which tilec cannot "
                        f"read: {way}")

    # ---- values

    def expression(self, value, wish="value"):
        """Returns a value as an expression over the names here."""
        if value is None or type(value) in (bool, int, str):
            return repr(value)
        if isinstance(value, enum.Enum):
            name = self.name_of(type(value))
            is_member = type(value).__members__.get(value.name) is value
            return f"{name}.{value.name}" if is_member else f"{name}({value.value})"   # several flags
        if isinstance(value, float):
            return repr(value) if value - value == 0 else f"float('{value}')"
        own = getattr(value, "_tile_expression", None)
        if own is not None and not isinstance(value, type):
            return own() if not _takes_gatherer(own) else own(self)
        kind = type(value).__name__
        if kind == "constexpr" and hasattr(value, "value"):
            return f"tl.constexpr({self.expression(value.value)})"
        if kind == "tuple" and hasattr(value, "values"):   # tl.tuple
            value = tuple(value.values)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return f"{self.name_of(type(value))}({', '.join(map(self.expression, value))})"
        if isinstance(value, (tuple, list)):
            items = ", ".join(map(self.expression, value))
            if isinstance(value, list):
                return f"[{items}]"
            return f"({items},)" if len(value) == 1 else f"({items})"
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.expression(k)}: {self.expression(v)}" for k, v in value.items()) + "}"
        if type(value).__module__ in ("torch", "numpy") and kind.endswith("dtype") or kind.endswith("DType"):
            from .language import core
            return core.of_torch(value)._tile_expression()
        if hasattr(value, "item") and not hasattr(value, "data_ptr") and getattr(value, "size", 0) == 1:
            return self.expression(value.item())   # a number of NumPy
        if isinstance(value, (int, str)):
            return self.expression(int(value) if isinstance(value, int) else str.__str__(value))
        fields = fields_of(value)
        if fields is not None:   # its __init__ may take other things
            items = "".join(f", {field}={self.expression(item)}" for field, item in fields.items())
            return f"object.__new__({self.name_of(type(value))}{items})"
        return self.name_of(value, wish)

    # ---- functions and classes

    def add_function(self, fn, name, decorator="", source=None):
        """Adds a function under a name. source: its text, if that is not the one in its file."""
        text, file, line = source_of(fn) if source is None else (source, None, 1)
        try:
            text = self._renamed(text, names_of(fn), fn)
        except NotSource as e:
            if file and e.node is not None and not e.has_place:
                e.locate(file, line)
            raise
        text = re.sub(r"^(async\s+)?def\s+\w+", f"def {name}", text, count=1)
        self._add(decorator + text.rstrip(), file, line)

    def _own_values(self, node, fn, starts):
        """Returns edits that write what only the function itself knows into its text, and the nodes that are replaced:
        annotations, of which those for tilec stay, and the values that defaults had when it was defined."""
        a, edits, replaced = node.args, [], []

        def replace(part, text):
            lines = "\n" * (part.end_lineno - part.lineno)
            replaced.append(part)
            edits.append((starts[part.lineno - 1] + part.col_offset,
                          starts[part.end_lineno - 1] + part.end_col_offset, text + lines))

        given, keywords = annotations_of(fn), fn.__kwdefaults__ or {}
        for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))):
            text = annotation_text(given.get(arg.arg, arg.annotation and ast.unparse(arg.annotation)))
            if arg.annotation is not None:
                replace(arg.annotation, text or "int")   # which says nothing
            elif text:
                at = starts[arg.end_lineno - 1] + arg.end_col_offset
                edits.append((at, at, f": {text}"))
        if node.returns is not None:
            replace(node.returns, "None")
        values = [(default, keywords[arg.arg]) for arg, default in zip(a.kwonlyargs, a.kw_defaults)
                  if arg.arg in keywords]
        if len(a.defaults) == len(fn.__defaults__ or ()):
            values += zip(a.defaults, fn.__defaults__ or ())
        for default, value in values:
            if not isinstance(default, ast.Constant):
                replace(default, self.expression(value))
        return edits, replaced

    def _class(self, cls):
        is_named_tuple = issubclass(cls, tuple) and hasattr(cls, "_fields")
        is_written = has_source(cls)
        if not is_written and not is_named_tuple:
            raise NotSource(f"the source of class {cls.__qualname__} cannot be found")
        name = self._name_for(cls, cls.__name__)
        if is_named_tuple and "__slots__" not in vars(cls) or not is_written:
            self._imports.setdefault("collections", "collections")
            self._add(f"{name} = collections.namedtuple({name!r}, {list(cls._fields)!r})")
            return name
        lines, line = inspect.getsourcelines(cls)
        text = textwrap.dedent("".join(lines))
        cells = {}
        for member in vars(cls).values():
            member = getattr(member, "fn", member)
            member = getattr(member, "__func__", member)
            if isinstance(member, types.FunctionType):
                cells.update(names_of(member).cells)
        others = {b.__name__: b for b in cls.__mro__}
        for annotation in getattr(cls, "__annotations__", {}).values():
            others.setdefault(getattr(annotation, "__name__", None), annotation)
        of_host = None if hasattr(cls, "__triton_aggregate__") else \
            [n for n, member in vars(cls).items() if isinstance(member, _OF_HOST)]
        text = self._renamed(text, Scope(cells, vars(sys.modules[cls.__module__]), others), of_host=of_host)
        self._add(re.sub(r"^class\s+\w+", f"class {name}", text, count=1, flags=re.M).rstrip(),
                  inspect.getsourcefile(cls), line)
        return name

    def attempt(self, gather):
        """Calls a function that writes into the text; takes back what it wrote, and returns False, if it cannot."""
        parts = ("_chunks", "_imports", "_taken", "_names", "_kept", "watched", "_sources")
        before = {part: copy.copy(getattr(self, part)) for part in parts}
        try:
            gather()
            return True
        except NotSource:
            vars(self).update(before)
            return False

    def _renamed(self, text, scope, fn=None, of_host=None):
        """Returns the text with every name from outside replaced by the one that its object has here. fn: the function
        whose text it is; of_host: methods of the class whose text it is, which are left out if they cannot be read."""
        try:
            tree = _parsed(text)
        except SyntaxError as e:
            raise NotSource(f"cannot parse: {e}") from None
        renamer = Renamer(self, text, scope, of_host)
        if fn is not None and isinstance(tree.body[0], ast.FunctionDef):
            renamer.edits, renamer.replaced = self._own_values(tree.body[0], fn, renamer.starts)
        for statement in tree.body:
            renamer.visit(statement, ())
        return edited(text, renamer.edits)

    def outer(self, scope, path):
        """Returns how many of the names of a dotted path one name here stands for, and that name; None: leave them.

        A module is followed to what the path means in it: only triton's own modules have a name here.
        """
        first = path[0]
        value = scope(first)
        if value is MISSING or _BUILTINS.get(first, MISSING) is value:
            return None   # tilec says so if it is not defined
        used, owner = 1, scope
        while used < len(path) and _is_passed_through(value):
            owner, value = value, getattr(value, path[used], MISSING)
            used += 1
            if value is MISSING:
                return None
        if isinstance(value, types.ModuleType):
            if not _is_of_triton(value):
                return None
            kernel = _kernel_in(value, path[used:])
            if kernel is not None:
                return used + kernel[0], self.name_of(kernel[1])
            return used, _MODULES.get(value.__name__) or self.name_of(value, path[used - 1])
        if not is_plain(value):
            return used, self.name_of(value, path[used - 1])
        self.watch(scope if used == 1 else vars(owner).get, path[used - 1], value)
        return used, self.constant(value, path[:used])

    def constant(self, value, path):
        """Returns the name here of a plain value that a program writes as a path."""
        key = (".".join(path), repr(value), type(value))
        if key not in self._names:
            written = self.expression(value, path[-1])
            self._names[key] = self._claim(path[-1])
            self._add(f"{self._names[key]} = {written}")
        return self._names[key]

    def alias(self, name):
        """Returns another name for the same thing: one that a function's own names do not hide."""
        other = self._claim(name + "_")
        self._add(f"{other} = {name}")
        return other


def fields_of(value):
    """Returns the attributes of an object of a program's own class that is a constant: it has a hash, as Triton asks.
    None for any other value."""
    kind = type(value)
    if is_plain(value) or _is_named(value) or kind.__hash__ is None or is_of_python(kind.__module__) or \
            isinstance(value, types.ModuleType) or any(hasattr(value, name) for name in _NO_CONSTANT) or \
            not has_source(kind):
        return None
    is_dataclass = dataclasses.is_dataclass(value)   # which may have slots
    fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)} if is_dataclass else vars(value)
    return fields if all(map(_is_constant, fields.values())) else None


# An array, a descriptor, a torch.nn.Module, what torch.fx traces with, an object of triton's.
_NO_CONSTANT = ("data_ptr", "__array_interface__", "as_desc", "state_dict", "_tile_asks_for_any", "__triton_builtin__")


def _is_constant(value):
    if isinstance(value, (tuple, list)):
        return all(map(_is_constant, value))
    if isinstance(value, dict):
        return all(map(_is_constant, (*value, *value.values())))
    return is_plain(value) or _is_named(value) or fields_of(value) is not None


def may_change(value):
    """Whether a constant is a list, a dict or an object whose attributes a program may set, or has one in it."""
    if isinstance(value, (list, dict)):
        return True
    if isinstance(value, tuple):
        return any(map(may_change, value))
    fields = fields_of(value)
    is_frozen = fields is not None and dataclasses.is_dataclass(value) and type(value).__dataclass_params__.frozen
    return fields is not None and (not is_frozen or any(map(may_change, fields.values())))


def _takes_gatherer(method):
    return bool(inspect.signature(method).parameters)


def _is_of_triton(module):
    return module.__name__.split(".")[0] == "triton"


def _kernel_in(module, path):
    """Returns (how many names of the path, what they mean) for a kernel that a module of triton's has as source."""
    from .runtime.jit import JITFunction
    value = module
    for used, name in enumerate(path, 1):
        value = getattr(value, name, None)
        if isinstance(value, JITFunction):
            return used, value
        if not isinstance(value, types.ModuleType):
            return None
    return None


def _is_passed_through(value):
    """Whether a path goes on inside of the value: a module that is not triton's, or an object that is no constant."""
    if isinstance(value, types.ModuleType):
        return not _is_of_triton(value)
    return not is_plain(value) and not _is_named(value)


def _is_named(value):
    return isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) or \
        hasattr(value, "_tile_source") or hasattr(value, "_tile_function")


def _is_untouched(now, known):
    """Whether a value was surely not changed in place since its snapshot; quick, as each launch asks."""
    return now is known or type(now).__name__ == "constexpr" and now.value is known.value


def _same(a, b):
    try:
        return type(a) is type(b) and bool(a == b) and repr(a) == repr(b)
    except Exception:   # of a user's own class
        return False
