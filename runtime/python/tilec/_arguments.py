"""The arguments of a launch: what this package takes for one, and the words of a tile_arg that it becomes."""
import ctypes
import difflib
import numbers
import operator
import struct
from ctypes import c_uint64

from . import _dtypes
from ._arrays import address_of, dense, is_array, is_number, layout_of
from ._library import Tensor, Tuple

# The kinds of a tile_arg, in the order of tile_arg_kind.
INT, FLOAT, POINTER, TENSOR, DEFAULT, NONE, BOOL, TEXT, TUPLE = range(9)


class ptr:
    """A raw device address as an argument: ptr(address, "fp16")."""

    __slots__ = ("address", "dtype")

    def __init__(self, address, dtype):
        try:
            self.address, self.dtype = operator.index(address), dtype
        except TypeError:
            raise TypeError(f"the address of a tilec.ptr is an integer, not {address!r}; an array is an argument "
                            "as it is") from None

    def data_ptr(self):
        return self.address

    def __repr__(self):
        return f"tilec.ptr({self.address:#x}, {str(self.dtype)!r})"


class dtype:
    """An element type as the value of a constexpr: dtype("fp16"). A dtype of PyTorch or NumPy works as well."""

    __slots__ = ("name",)

    def __init__(self, name):
        if name not in _dtypes.CODES:
            raise TypeError(f"there is no kernel type {name}")
        self.name = name

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"tilec.dtype({self.name!r})"

    def __eq__(self, other):
        return type(other) is dtype and _dtypes.CODES[self.name] == _dtypes.CODES[other.name]

    def __hash__(self):
        return hash(_dtypes.CODES[self.name])


class constexpr:
    """A constexpr among the items of a tuple: constexpr(64), constexpr("fp16"), constexpr(torch.float16)."""

    __slots__ = ("text",)

    def __init__(self, value):
        self.text = expression_of(value)

    def __repr__(self):
        return f"tilec.{type(self).__name__}({self.text})"


class expression(constexpr):
    """A constexpr as the source would write it: expression("saxpy"), a function of the kernel's file."""

    __slots__ = ()

    def __init__(self, text):
        self.text = text


class desc:
    """A tensor descriptor: a tensor or ptr, and the block's shape.

    The shape and the strides, in elements, are the tensor's own unless they are given. Strides that neither gives are
    those of a row-major array without gaps. `layout` is for Gluon kernels: how a block lies in shared memory, an
    NVMMASharedLayout of any package, with its cga_layout, or its bytes of swizzle; the default is what get_default_for
    gives.
    """

    __slots__ = ("base", "tensor", "address")

    def __init__(self, tensor, block, shape=None, strides=None, pad_nan=False, layout=None):
        address, code = address_of(tensor)
        block = (block,) if isinstance(block, numbers.Integral) else block
        own_shape, own_strides = layout_of(tensor) if shape is None or strides is None else (None, None)
        if shape is None:
            if own_shape is None:
                raise TypeError(f"the shape of a descriptor of {type(tensor).__name__} must be given")
            shape = own_shape
        elif strides is None and (own_shape is None or len(shape) != len(own_shape)):
            own_strides = None   # strides belong to the tensor's own axes
        if strides is None:
            strides = own_strides if own_strides is not None else dense(shape)
        if not len(shape) == len(strides) == len(block) <= 5:
            raise ValueError("shape, strides and block of a descriptor must have the same length, at most 5, not "
                             f"{len(shape)}, {len(strides)} and {len(block)}")
        self.base = tensor
        sizes, cga = (*_axes(shape), *_axes(strides), *_axes(block)), _cga(layout)
        try:
            packed = _TENSOR.pack(address, len(shape), code, *sizes, pad_nan, _swizzle(layout), len(cga), cga)
        except struct.error:
            large = next((v for v in sizes if not -1 << 63 <= v < 1 << 63), address)
            raise OverflowError(f"{large} does not fit 64 bits") from None
        self.tensor = Tensor.from_buffer_copy(packed)
        self.address = ctypes.addressof(self.tensor)

    def __repr__(self):
        rank = self.tensor.rank
        return f"tilec.desc({type(self.base).__name__}, {self.tensor.block[:rank]}, shape={self.tensor.shape[:rank]})"

    def at(self, address):
        """Returns the same descriptor's tile_tensor over another address."""
        moved = Tensor.from_buffer_copy(self.tensor)
        moved.base = address
        return moved


def _swizzle(layout):
    """Returns the number that libtile has for a layout's swizzle."""
    if layout is None:
        return 0
    if getattr(layout, "transposed", False) or getattr(layout, "fp4_padded", False):
        raise ValueError(f"a descriptor's layout is not transposed or padded: {layout}")
    swizzle = getattr(layout, "swizzle_byte_width", layout)
    if swizzle not in (0, 32, 64, 128):
        raise ValueError(f"a descriptor's layout is an NVMMASharedLayout or 0, 32, 64 or 128 bytes, not {layout!r}")
    return (0, 32, 64, 128).index(swizzle) + 1


def _cga(layout):
    """Returns the bytes that libtile has for a layout's cga_layout."""
    vectors = getattr(layout, "cga_layout", None) or ()
    if len(vectors) > 4:
        raise ValueError(f"a cluster has at most 16 blocks: {layout}")
    return bytes(map(_cga_byte, vectors))


def _cga_byte(vector):
    moved = [(axis, n) for axis, n in enumerate(vector) if n]
    if len(moved) > 1 or any(n < 0 or n & (n - 1) for _, n in moved):
        raise ValueError(f"a vector of a cga_layout has one entry, a power of two, or none: {vector}")
    return sum(16 * axis + n.bit_length() for axis, n in moved)


_TENSOR = struct.Struct("@QIi15q?BB4s33x")   # as the class Tensor; to fill its fields one by one takes several times as long


def _axes(values):
    """Returns up to five integers, filled up with zeros."""
    return *map(operator.index, values), *(0,) * (5 - len(values))


class Named(dict):
    """The values that a user's function is given by name. The error for another name lists those that there are."""

    def __init__(self, asking, values, why_missing=None):
        super().__init__(values)
        self._asking, self._why_missing = asking, why_missing   # the latter: what is known of a name, or None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise AttributeError(f"{self._asking} is given a dict by name: write [{name!r}] for .{name}")

    def __missing__(self, name):
        why = self._why_missing and self._why_missing(name)
        if why:
            raise KeyError(f"{self._asking} asks for {name!r}: {why}")
        close = difflib.get_close_matches(str(name), self, 1)
        raise KeyError(f"{self._asking} asks for {name!r}; there are {', '.join(self)}"
                       + (f"; did you mean {close[0]}?" if close else ""))


def expression_of(value):
    """Returns a constexpr's value as the source would write it."""
    if isinstance(value, constexpr):
        return value.text
    if value is None or isinstance(value, bool):
        return repr(value)
    for plain in (str, int, float):   # a member of an enum or a number of NumPy may be one, too
        if isinstance(value, plain):
            text = plain.__repr__(value)
            return text if plain is not float or value - value == 0 else f"float('{text}')"
    if isinstance(value, (tuple, list)):
        items = ", ".join(expression_of(v) for v in value)
        if isinstance(value, list):
            return f"[{items}]"
        if hasattr(value, "_fields"):
            return f"{type(value).__name__}({items})"
        return f"({items},)" if len(value) == 1 else f"({items})"
    is_function = hasattr(value, "__code__") or hasattr(value, "fn")   # whatever its name is
    code = None if is_function else _dtypes.CODES.get(getattr(value, "__name__", None) or str(value).rpartition(".")[2])
    if code is not None:
        return _dtypes.DTYPES[code][0]
    if is_number(value) or hasattr(value, "__index__"):
        try:
            return expression_of(value.item() if is_number(value) else value.__index__())
        except TypeError:   # an array of several elements
            raise TypeError("a constexpr is a number, a text, a dtype or a function, not "
                            f"{type(value).__name__}{_way_for(value)}") from None
    if callable(value) and hasattr(value, "__name__"):
        return value.__name__   # a function of the kernel's file
    shown = type(value).__name__ if is_array(value) else repr(value)
    raise TypeError(f"{shown} cannot be the value of a constexpr{_way_for(value)}")


def _way_for(value):
    return ": the parameter of an array has no tl.constexpr" if is_array(value) else ""


_MASK = (1 << 64) - 1
_double, _word = struct.Struct("<d"), struct.Struct("<Q")


def words(value, is_constexpr, keep, place):
    """Returns a tile_arg as two 64-bit words: kind and type, and value.

    struct packs words faster than ctypes fills structures. What the second word points to goes to keep. place gives an
    array's address on the device and its type.
    """
    kind = type(value)
    if kind is int:
        if -1 << 63 <= value < 1 << 63:
            return INT, value & _MASK
        if value < 0 or value > _MASK:
            raise OverflowError(f"{value} does not fit 64 bits")
        return INT | _dtypes.CODES["u64"] << 16, value
    if kind is float:
        return FLOAT, _word.unpack(_double.pack(value))[0]
    if kind is bool:
        return BOOL, int(value)
    if value is None:
        return NONE, 0
    if kind is desc:
        return _desc_words(value, keep, place)
    if is_number(value):
        return words(value.item(), is_constexpr, keep, place)
    array = is_array(value)
    if not array and isinstance(value, numbers.Integral):
        return words(operator.index(value), is_constexpr, keep, place)
    if not array and isinstance(value, numbers.Real):
        return words(float(value), is_constexpr, keep, place)
    if is_constexpr or isinstance(value, constexpr):
        text = ctypes.create_string_buffer(expression_of(value).encode())
        keep.append(text)
        return TEXT, ctypes.addressof(text)
    if isinstance(value, tuple):
        return _tuple_words(value, keep, place)
    if array or not hasattr(value, "__float__"):
        address, code = place(value)
        return POINTER | code << 16, address
    # Another object that stands for a number.
    return words(value.__index__() if hasattr(value, "__index__") else float(value), is_constexpr, keep, place)


def _desc_words(value, keep, place):
    keep.append(value)
    address = place(value.base)[0]
    if address == value.tensor.base:
        return TENSOR, value.address
    moved = value.at(address)
    keep.append(moved)
    return TENSOR, ctypes.addressof(moved)


def _tuple_words(value, keep, place):
    """Returns the words of a tuple. A namedtuple has the name of its class in the kernel's file."""
    flat = [word for item in value for word in words(item, False, keep, place)]
    items = (c_uint64 * max(len(flat), 1))(*flat)
    name = ctypes.create_string_buffer(type(value).__name__.encode()) if hasattr(value, "_fields") else None
    t = Tuple(ctypes.addressof(items), len(value), ctypes.addressof(name) if name else None)
    keep += (items, name, t)
    return TUPLE, ctypes.addressof(t)


def leaves(value):
    """Returns the items of a tuple and of the tuples in it; of another value, that value."""
    if not isinstance(value, tuple):
        return (value,)
    return tuple(leaf for item in value for leaf in leaves(item))
