"""What a launch wrote where no element of its arguments lies, or into a tensor that nothing holds: on the simulator and
the interpreter, which copy arrays of the host in and out."""
import os
import sys
import warnings
import weakref

from ._device import Warning
from ._arrays import address_of, dense, layout_of
from ._dtypes import DTYPES

_MOST = 1 << 24   # bytes of memory that are looked at
told = {}         # what was warned of, and where: once each
_temporary = {}   # id of a tensor that a launch wrote: what tells when the tensor dies


def outside(begin, size, before, after, arrays):
    """Returns the index of the first byte that changed and that no array has, or None. Only views with gaps are asked:
    what an array without gaps is the beginning of is often meant."""
    layouts = [_layout(value) for value in arrays]
    if size > _MOST or None in layouts or all(list(strides) == dense(shape) for _, _, shape, strides in layouts):
        return None
    has = bytearray(size)
    for address, bytes_of, shape, strides in layouts:
        _mark(has, address - begin, bytes_of, sorted(zip(shape, strides)))
    changed = (int.from_bytes(before, "little") ^ int.from_bytes(after, "little")) & ~int.from_bytes(has, "little")
    return (changed & -changed).bit_length() // 8 if changed else None


def _layout(value):
    address, code = address_of(value)
    shape, strides = layout_of(value)
    if shape is None or 0 in shape or any(n < 0 for n in strides or ()):
        return None
    return address, max(DTYPES[code][2], 8) // 8, tuple(shape), dense(shape) if strides is None else strides


def _mark(has, at, size, axes):
    """Sets the bytes of a view's elements. axes: (extent, stride) of each, the longest last."""
    if len(axes) > 1:
        for i in range(axes[0][0]):
            _mark(has, at + i * axes[0][1] * size, size, axes[1:])
        return
    count, stride = axes[0] if axes and axes[0][1] else (1, 1)
    if stride == 1:
        has[at:at + count * size] = b"\xff" * (count * size)
    else:
        for byte in range(at, at + size):
            has[byte:byte + (count - 1) * stride * size + 1:stride * size] = b"\xff" * count


def watch(kernel, name, value, place):
    """Warns when a tensor of PyTorch that the kernel wrote dies with the launch's own call, and its memory with it."""
    torch = sys.modules.get("torch")
    count = getattr(getattr(torch, "_C", None), "_storage_Use_Count", None)
    if count is None or not isinstance(value, torch.Tensor):
        return
    storage, (code, at, file, line) = value.untyped_storage(), place

    def died(_, key=id(value)):
        _temporary.pop(key, None)
        frame = sys._getframe().f_back   # None at the end of the process
        holders = count(storage._cdata) - 2   # beside `storage` and the tensor itself, which still has it
        if frame and frame.f_code is code and frame.f_lasti == at and holders == 0:
            warnings.warn_explicit(f"{kernel} wrote to '{name}', a tensor that the call alone held, as x.contiguous(), "
                                   "x.float() and x.reshape(…) may make: what it wrote is lost; give the tensor a name "
                                   "before the launch and use it afterwards", Warning, file, line, registry=told)

    _temporary[id(value)] = weakref.ref(value, died)


def caller():
    """Returns the code, the instruction, the file and the line of the program's call that led into this package."""
    package, frame = os.path.dirname(__file__) + os.sep, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(package):
        frame = frame.f_back
    return frame.f_code, frame.f_lasti, frame.f_code.co_filename, frame.f_lineno
