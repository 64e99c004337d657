"""The arguments of a launch: what tile.py takes for one, and the words of a tile_arg that it becomes."""
import ctypes
import numbers
import operator
import struct
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_uint8, c_uint16, c_uint64, c_void_p, py_object

from _tile_library import _Tensor, _Tuple

# In the order of tile_type: the name in signatures, the name in triton.language, the bits, DLPack's type code.
# tools/docs.sh makes the rows from ir/dtypes.def.
_DTYPES = (
    ("void", "void", 0, -1),
    ("i1", "int1", 1, 6),
    ("i8", "int8", 8, 0),
    ("i16", "int16", 16, 0),
    ("i32", "int32", 32, 0),
    ("i64", "int64", 64, 0),
    ("u8", "uint8", 8, 1),
    ("u16", "uint16", 16, 1),
    ("u32", "uint32", 32, 1),
    ("u64", "uint64", 64, 1),
    ("fp8e4nv", "float8e4nv", 8, 10),
    ("fp8e5", "float8e5", 8, 12),
    ("fp8e4b15", "float8e4b15", 8, -1),
    ("fp8e4b8", "float8e4b8", 8, -1),
    ("fp8e5b16", "float8e5b16", 8, -1),
    ("fp16", "float16", 16, 2),
    ("bf16", "bfloat16", 16, 4),
    ("fp32", "float32", 32, 2),
    ("fp64", "float64", 64, 2),
)  # the end of what is made
_TYPE_CODES = {name: code for code, row in enumerate(_DTYPES) if code for name in row[:2]}
_TYPE_CODES.update({alias: _TYPE_CODES[name] for alias, name in (
    ("bool", "i1"), ("float8_e4m3fn", "fp8e4nv"), ("float8_e5m2", "fp8e5"), ("half", "fp16"), ("float", "fp32"),
    ("double", "fp64"), ("long", "i64"), ("int", "i32"))})
_DLPACK_TYPES = {(dlpack, max(bits, 8)): code for code, (_, _, bits, dlpack) in enumerate(_DTYPES) if dlpack >= 0}
# By the type's letter and bytes in __cuda_array_interface__.
_INTERFACE_TYPES = {f"{letter}{bits // 8}": code for (dlpack, bits), code in _DLPACK_TYPES.items()
                    for letter in {0: "i", 1: "u", 2: "f", 6: "b"}.get(dlpack, "")}
# The kinds of a tile_arg, in the order of tile_arg_kind.
_INT, _FLOAT, _POINTER, _TENSOR, _DEFAULT, _NONE, _BOOL, _TEXT, _TUPLE = range(9)


class ptr:
    """A raw device address as an argument: ptr(address, "fp16")."""

    __slots__ = ("address", "dtype")

    def __init__(self, address, dtype):
        self.address, self.dtype = address, dtype

    def data_ptr(self):
        return self.address


class dtype:
    """An element type as the value of a constexpr: dtype("fp16"). A dtype of PyTorch works as well."""

    __slots__ = ("name",)

    def __init__(self, name):
        if name not in _TYPE_CODES:
            raise TypeError(f"there is no kernel type {name}")
        self.name = name

    def __str__(self):
        return self.name


class constexpr:
    """A constexpr among the items of a tuple: constexpr(64), constexpr("fp16"), constexpr(torch.float16)."""

    __slots__ = ("text",)

    def __init__(self, value):
        self.text = repr(value) if value is None or isinstance(value, (bool, int, float)) else _expression(value)


class expression(constexpr):
    """A constexpr as the source would write it: expression("saxpy"), a function of the kernel's file."""

    __slots__ = ()

    def __init__(self, text):
        self.text = text


class desc:
    """A tensor descriptor: a tensor or ptr, and the block's shape.

    The shape and the strides, in elements, are the tensor's own unless they are given. Strides that neither gives are
    those of a row-major array without gaps. `layout` is for Gluon kernels: how a block lies in shared memory, an
    NVMMASharedLayout of any package or its bytes of swizzle; the default is what get_default_for gives.
    """

    __slots__ = ("base", "tensor", "address")

    def __init__(self, tensor, block, shape=None, strides=None, pad_nan=False, layout=None):
        address, code = _address(tensor)
        own_shape, own_strides = _layout(tensor) if shape is None or strides is None else (None, None)
        if shape is None:
            if own_shape is None:
                raise TypeError(f"the shape of a descriptor of {type(tensor).__name__} must be given")
            shape = own_shape
        elif strides is None and (own_shape is None or len(shape) != len(own_shape)):
            own_strides = None   # strides belong to the tensor's own axes
        if strides is None:
            strides = own_strides if own_strides is not None else _dense(shape)
        if not len(shape) == len(strides) == len(block) <= 5:
            raise ValueError("shape, strides and block of a descriptor must have the same length, at most 5")
        self.base = tensor
        self.tensor = _Tensor(address, len(shape), code, _int64s(shape), _int64s(strides), _int64s(block), pad_nan,
                              _swizzle(layout))
        self.address = ctypes.addressof(self.tensor)


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


def _int64s(values):
    """Returns up to five integers for ctypes, and refuses what it would silently cut to 64 bits."""
    values = [operator.index(v) for v in values]
    for v in values:
        if not -1 << 63 <= v < 1 << 63:
            raise OverflowError(f"{v} does not fit 64 bits")
    return (c_int64 * 5)(*values)


def _dense(shape):
    """Returns the strides of a row-major array without gaps."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= operator.index(n)
    return strides[::-1]


def _layout(value):
    """Returns an array's shape and its strides in elements.

    The strides are None if the array is row-major without gaps; the shape is None if the array has none.
    """
    stride, shape = getattr(value, "stride", None), getattr(value, "shape", None)
    if callable(stride):
        return tuple(shape), tuple(stride())
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is not None:
        strides, size = interface.get("strides"), int(interface["typestr"][2:])
        if strides is not None and any(s % size for s in strides):
            raise ValueError("strides that are no multiple of the element's size cannot be a kernel's")
        return tuple(interface["shape"]), None if strides is None else tuple(s // size for s in strides)
    if hasattr(value, "__dlpack__") and not hasattr(value, "data_ptr"):
        return _dlpack(value)[2:]
    return None if shape is None else tuple(shape), None


_dtype_codes = {}   # the codes of the dtype objects seen so far


def _type_code(dtype):
    name = str(dtype).rpartition(".")[2]
    code = _TYPE_CODES.get(name)
    if code is None:
        raise TypeError(f"there is no kernel type for dtype {dtype}")
    try:
        _dtype_codes[dtype] = code
    except TypeError:
        pass
    return code


def _address(value):
    """Returns an array's address and the code of its element type."""
    data_ptr = getattr(value, "data_ptr", None)
    if data_ptr is not None:
        return data_ptr(), _dtype_codes.get(value.dtype) or _type_code(value.dtype)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        if hasattr(value, "__dlpack__"):
            return _dlpack(value)[:2]
        raise TypeError(f"{type(value).__name__} is no tensor: "
                        "it has neither data_ptr() nor __cuda_array_interface__ nor __dlpack__")
    code = _INTERFACE_TYPES.get(interface["typestr"][1:])
    if code is None or interface["typestr"][0] == ">":
        raise TypeError(f"there is no kernel type for {interface['typestr']}")
    return interface["data"][0], code


def _device_address(value):
    """Does what _address does, and refuses an array that a gpu cannot read."""
    if _on_host(value):
        raise TypeError(f"{type(value).__name__} is an array on the host, not on a gpu")
    return _address(value)


_GPU_MEMORY = (2, 3, 13)   # DLPack's kinds of memory: CUDA, pinned, managed


def _on_host(value):
    is_cuda = getattr(value, "is_cuda", None)
    if is_cuda is not None or hasattr(value, "__cuda_array_interface__"):
        return is_cuda is False
    device = getattr(value, "__dlpack_device__", None)
    return device is not None and device()[0] not in _GPU_MEMORY


class _DLTensor(Structure):
    _fields_ = [("data", c_uint64), ("device_type", c_int), ("device_id", c_int), ("ndim", c_int),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.restype, _capsule_pointer.argtypes = c_void_p, [py_object, c_char_p]


def _dlpack(value):
    """Returns the address, the type's code, the shape, and the strides or None of an array that has DLPack alone.

    The capsule may die at the end: the caller's array owns the memory.
    """
    capsule = value.__dlpack__()
    t = _DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    code = _DLPACK_TYPES.get((t.code, t.bits)) if t.lanes == 1 else None
    if code is None:
        raise TypeError(f"there is no kernel type for DLPack's {t.lanes} lanes of code {t.code} with {t.bits} bits")
    strides = tuple(t.strides[:t.ndim]) if t.strides else None
    return (t.data or 0) + t.byte_offset, code, tuple(t.shape[:t.ndim]), strides


def _expression(value):
    """Returns a constexpr's value as the source would write it."""
    if isinstance(value, constexpr):
        return value.text
    if isinstance(value, str):
        return str.__repr__(value)   # of a member of an enum, too
    if isinstance(value, (tuple, list)):
        return repr(value)
    name = str(value).rpartition(".")[2]
    if name in _TYPE_CODES:
        return _DTYPES[_TYPE_CODES[name]][0]
    raise TypeError(f"{value!r} cannot be the value of a constexpr")


_MASK = (1 << 64) - 1
_double, _word = struct.Struct("<d"), struct.Struct("<Q")


def _words(value, is_constexpr, keep):
    """Returns a tile_arg as two 64-bit words: kind and type, and value.

    struct packs words faster than ctypes fills structures. What the second word points to goes to keep.
    """
    kind = type(value)
    if kind is int:
        if -1 << 63 <= value < 1 << 63:
            return _INT, value & _MASK
        if value < 0 or value > _MASK:
            raise OverflowError(f"{value} does not fit 64 bits")
        return _INT | _TYPE_CODES["u64"] << 16, value
    if kind is float:
        return _FLOAT, _word.unpack(_double.pack(value))[0]
    if kind is bool:
        return _BOOL, int(value)
    if value is None:
        return _NONE, 0
    is_array = hasattr(value, "data_ptr") or hasattr(value, "__cuda_array_interface__") or hasattr(value, "__dlpack__")
    if not is_array and isinstance(value, numbers.Integral):
        return _words(operator.index(value), is_constexpr, keep)
    if not is_array and isinstance(value, numbers.Real):
        return _words(float(value), is_constexpr, keep)
    if not is_array and str(getattr(value, "dtype", "")) == "bool":
        return _BOOL, int(bool(value))   # of NumPy
    if is_constexpr:
        text = ctypes.create_string_buffer(_expression(value).encode())
        keep.append(text)
        return _TEXT, ctypes.addressof(text)
    if isinstance(value, tuple):
        return _tuple_words(value, keep)
    if isinstance(value, constexpr):
        text = ctypes.create_string_buffer(value.text.encode())
        keep.append(text)
        return _TEXT, ctypes.addressof(text)
    if kind is desc:
        keep.append(value)
        return _TENSOR, ctypes.addressof(value.tensor)
    if is_array or not hasattr(value, "__float__"):
        address, code = _address(value)
        return _POINTER | code << 16, address
    # Another object that stands for a number.
    return _words(value.__index__() if hasattr(value, "__index__") else float(value), is_constexpr, keep)


def _tuple_words(value, keep):
    """Returns the words of a tuple. A namedtuple has the name of its class in the kernel's file."""
    words = [word for item in value for word in _words(item, False, keep)]
    items = (c_uint64 * max(len(words), 1))(*words)
    name = ctypes.create_string_buffer(type(value).__name__.encode()) if hasattr(value, "_fields") else None
    t = _Tuple(ctypes.addressof(items), len(value), ctypes.addressof(name) if name else None)
    keep += (items, name, t)
    return _TUPLE, ctypes.addressof(t)


def _leaves(value):
    """Returns the items of a tuple and of the tuples in it; of another value, that value."""
    if not isinstance(value, tuple):
        return (value,)
    return tuple(leaf for item in value for leaf in _leaves(item))


def _num_bytes(value):
    """Returns the bytes of a dense tensor; 0 for anything else, which tuning then does not restore."""
    if hasattr(value, "numel") and hasattr(value, "element_size"):
        return value.numel() * value.element_size() if value.is_contiguous() else 0
    size = getattr(value, "nbytes", 0)
    shape, strides = _layout(value) if size else (None, None)
    return size if strides is None or list(strides) == _dense(shape) else 0
