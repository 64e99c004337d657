"""What a launch's values are to tilec."""
import collections
import enum
import numbers
import operator
import types

import tilec
from tilec._arguments import Named
from tilec._arrays import refuse_without_memory

from .._renamer import NotSource
from .._source import fields_of
from ..language import core
from ._hooks import call_hook, line_of
from ._tensors import MockTensor


def add_roots(name, value, roots):
    """Adds the objects in a value of the parameter `name` that the text must have a name for."""
    value = given = core._unwrap_if_constexpr(value)
    value = getattr(value, "_tile_function", value)
    if isinstance(value, (tuple, list)):
        if hasattr(value, "_fields"):
            _add_root(type(value), roots)
        for item in value:
            add_roots(name, item, roots)
    elif hasattr(value, "_tile_source") or isinstance(value, type) or \
            callable(value) and hasattr(value, "__code__") and not isinstance(value, types.MethodType):
        _refuse_stand_in(name, given)
        _add_root(value, roots)
    elif isinstance(value, enum.Enum):
        _add_root(type(value), roots)
    else:
        fields = fields_of(value)
        if fields is not None:
            _add_root(type(value), roots)
            for item in fields.values():
                add_roots(name, item, roots)


def _refuse_stand_in(name, value):
    """Raises TypeError for an object that has any attribute it is asked for, even one that nothing has."""
    if not isinstance(value, type) and hasattr(value, "_tile_asks_for_any"):
        is_traced = type(value).__module__.startswith("torch.fx")
        raise TypeError(f"argument '{name}': {_kind(value)} has any attribute that it is asked for, and no memory: " +
                        ("put @torch.fx.wrap above the function that launches, which the traced function calls"
                         if is_traced else "pass a tensor or a number"))


def _add_root(value, roots):
    if not any(value is root for root in roots):
        roots.append(value)


def argument(name, value, is_constexpr, gatherer, is_item=False):
    """Returns what tilec takes for a value of the parameter `name`, or for an item of a tuple there."""
    is_constant = is_constexpr or is_item and isinstance(value, core.constexpr)
    value = core._unwrap_if_constexpr(value)
    if value is None or type(value) in (bool, int, float):
        return tilec.constexpr(value) if is_constant and not is_constexpr else value
    if hasattr(value, "as_desc"):
        try:
            return value.as_desc()
        except (TypeError, ValueError) as e:
            raise type(e)(f"argument '{name}': {e}") from None
    if isinstance(value, MockTensor):
        return tilec.ptr(value.address, str(value.dtype).rpartition(".")[2])
    if hasattr(value, "data_ptr"):
        if not hasattr(value, "dtype") or getattr(value, "is_nested", False):   # nested: its shape cannot be asked for
            try:
                refuse_without_memory(value)
            except TypeError as e:
                raise TypeError(f"argument '{name}': {e}") from None
        return value
    if isinstance(value, core.tuple):
        value = tuple(value.values)
    if isinstance(value, (tuple, list)) and not is_constant:
        items = [argument(name, item, False, gatherer, True) for item in value]
        if hasattr(value, "_fields"):
            return collections.namedtuple(gatherer.name_of(type(value)), value._fields)(*items)
        return tuple(items)
    if not is_constant and (hasattr(value, "__index__") or hasattr(value, "__float__")):
        return value
    if not is_constant:
        _check_known(name, value)
        if not is_item:
            shown = repr(value) if isinstance(value, str) else getattr(value, "__name__", value)
            raise TypeError(f"argument '{name}': {_kind(value)}, {shown}, is no number or array: a parameter that "
                            f"takes it is declared {name}: tl.constexpr")
    elif isinstance(value, types.ModuleType):
        raise TypeError(f"argument '{name}': a module cannot be a constexpr: pass what the kernel needs of "
                        f"{value.__name__}")
    elif isinstance(value, (types.MethodType, types.BuiltinMethodType)):
        raise TypeError(f"argument '{name}': this is the method {value.__name__}: {_called(value.__name__)}")
    try:
        return tilec.expression(gatherer.expression(value))
    except (NotSource, ValueError) as e:   # ValueError: of an array of several elements
        found = _opaque(value)
        if found is None:
            raise TypeError(f"argument '{name}': {e}") from None
        is_dataclass = hasattr(type(found), "__dataclass_fields__") and type(found).__hash__ is None
        way = ": write @dataclass(frozen=True), or " if is_dataclass else ": "
        raise TypeError(f"argument '{name}': {_kind(found)} cannot be a constexpr{way}pass its numbers and texts one "
                        "by one, or in a tuple or a typing.NamedTuple") from None


def _opaque(value):
    """Returns the first object in a value that is no constant, function or class but has fields of its own."""
    if isinstance(value, (tuple, list, dict)):
        items = value.values() if isinstance(value, dict) else value
        return next(filter(None, map(_opaque, items)), None)
    is_known = isinstance(value, (type, types.FunctionType, str, bool, int, float, enum.Enum)) or value is None
    return None if is_known or hasattr(value, "_tile_source") or hasattr(value, "_tile_expression") else value


def _kind(value):
    kind = type(value)
    text = kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
    return f"{'an' if text[0] in 'aeiou' else 'a'} {text}"


def _called(method):
    if method in ("size", "stride"):   # without an argument it is a tuple
        return f"call it with an axis, {method}(0)" + ("; numel() counts all elements" if method == "size" else "")
    return f"call it, {method}(…)"


def _check_known(name, value):
    """Raises TypeError for an object that no kernel takes, which a parameter that is no constexpr got."""
    known = (str, complex, enum.Enum, core.dtype, type)
    if _is_method(value) or isinstance(value, types.MethodType):
        raise TypeError(f"argument '{name}': this is the method {value.__name__}: {_called(value.__name__)}")
    if hasattr(value, "parameters") and hasattr(value, "state_dict"):
        raise TypeError(f"argument '{name}': {_kind(value)} is no argument of a kernel: pass its tensors, such as "
                        "module.weight")
    is_code = isinstance(value, (types.FunctionType, types.BuiltinFunctionType)) or hasattr(value, "_tile_source")
    if not is_code and not isinstance(value, known):
        raise TypeError(f"argument '{name}': {_kind(value)} is no argument of a kernel: pass a tensor, a number, a "
                        "TensorDescriptor, or a tuple or a typing.NamedTuple of these")


def shape_of(grid, meta):
    shape = grid
    if _is_method(grid):
        raise TypeError(f"the grid is the method {grid.__name__}: {_called(grid.__name__)}")
    if callable(grid):
        shape = call_hook("the grid", grid, "f(meta), with arguments, constants and options by name",
                          Named("the grid's function", meta))
    elif grid is None:
        raise TypeError("the grid of the launch is None: if a function made it, that ends without a `return`; a grid "
                        "is a tuple of one number for each axis, (n,), or a function that returns one")
    if shape is None:
        raise TypeError(f"the grid's function{line_of(grid)} returned None: it ends with `return (n,)`, one number for "
                        "each axis")
    if not hasattr(shape, "__len__"):
        number = _axis(core._unwrap_if_constexpr(shape))
        made = f"the grid's function{line_of(grid)} returned" if callable(grid) else "the grid is"
        raise TypeError(f"{made} {number}: a grid is a tuple of one number for each axis: ({number},)")
    return [_axis(core._unwrap_if_constexpr(n)) for n in shape]


def _is_method(value):
    """Whether it is a method of an object of C's, such as a tensor's, without its call."""
    owner = getattr(value, "__self__", None)
    return isinstance(value, types.BuiltinMethodType) and owner is not None and not isinstance(owner, types.ModuleType)


def _axis(n):
    try:
        return operator.index(n)
    except TypeError:
        way = "; write triton.cdiv(a, b), not a / b" if isinstance(n, numbers.Real) else ""
        if isinstance(n, types.FunctionType):
            way = "; one function returns the whole grid: lambda meta: (a, b), not (lambda meta: a, b)"
        if isinstance(n, tuple):
            way = "; the grid is one tuple, and what else a launch needs stands among its arguments"
        shown = _kind(n) if hasattr(n, "shape") else repr(n)
        raise TypeError(f"the axes of a grid are integers, not {shown}{way}") from None
