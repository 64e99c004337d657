"""Tensors of one shape whose elements lie in memory in different orders, given to a kernel that is told no strides: on
the simulator and the interpreter, at launches with arrays of the host."""
import numbers
import re
import warnings

from ._arrays import dense, layout_of
from ._device import Warning
from ._views import caller, told

# Parameters that may have a stride, a pitch or a leading dimension.
_STRIDE = re.compile(r"stride|step|pitch|row|col|^ld|^s|_s|s\d|trans|order|layout", re.IGNORECASE)
_TRANSPOSED = re.compile(r"[Tt]rans|_[tT](_|$)|[a-z0-9]T(_|$)")   # what the kernel itself takes in another order


def check(kernel, text, arrays, others):
    """Warns once for a place. arrays: name and array; others: name and value of the other arguments; text: of the
    kernel's source, or None."""
    layouts = {}
    for name, value in arrays:
        shape, strides = layout_of(value)
        if shape is None or sum(n > 1 for n in shape) < 2:
            continue
        strides = dense(shape) if strides is None else list(strides)
        if _is_packed(shape, strides):
            layouts.setdefault(tuple(shape), []).append((name, tuple(strides)))
    for shape, those in layouts.items():
        usual = [name for name, strides in those if list(strides) == dense(shape)]
        odd = [(name, strides) for name, strides in those if _axes(shape, strides) != _axes(shape, dense(shape))]
        odd = [] if any(_TRANSPOSED.search(name) for name, _ in odd) else odd
        if usual and odd and not _is_told(odd, text, others):
            name, strides = odd[0]
            warnings.warn_explicit(
                f"{kernel}: '{name}' has the strides {strides}, '{usual[0]}' of the same shape {shape} has "
                f"{tuple(dense(shape))}, and the kernel is passed no strides: it would take the elements of '{name}' in "
                f"another order; pass {name}.contiguous(), or the strides of each tensor", Warning, *caller()[2:],
                registry=told)


def _is_packed(shape, strides):
    """Whether the elements have no gaps, in any order of the axes."""
    expected = 1
    for stride, n in sorted((stride, n) for n, stride in zip(shape, strides) if n > 1):
        if stride != expected:
            return False
        expected *= n
    return True


def _axes(shape, strides):
    return [axis for _, axis in sorted((-stride, axis) for axis, stride in enumerate(strides) if shape[axis] > 1)]


def _is_told(odd, text, others):
    """Whether the kernel may know of the order: by a parameter, or by a number in its source."""
    strides = {n for _, all_of in odd for n in all_of if n > 1}
    for name, value in others:
        if isinstance(value, (tuple, list)):
            return True
        if _STRIDE.search(name) and (value is True or isinstance(value, numbers.Real) and value in strides):
            return True
    return text is None or any(re.search(rf"\b{n}\b", text) for n in strides)
