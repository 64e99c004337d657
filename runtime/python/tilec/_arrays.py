"""What an array of another library tells: its address, element type, shape, strides, and where its memory lies."""
import ctypes
import operator
from ctypes import (POINTER, Structure, c_char_p, c_int, c_int64, c_ssize_t, c_uint8, c_uint16, c_uint64, c_void_p,
                    py_object)

from . import _dtypes

_GPU_MEMORY = (2, 3, 13)   # DLPack's kinds of memory: CUDA, pinned, managed


def is_number(value):
    """Whether it is a number of NumPy, which has an array's interface."""
    return (getattr(value, "shape", None) == () and hasattr(value, "item") and not hasattr(value, "__setitem__")
            and not hasattr(value, "data_ptr"))


def is_array(value):
    return not is_number(value) and not isinstance(value, type) and (   # np.float16 has the attributes of its objects
        hasattr(value, "data_ptr") or hasattr(value, "__cuda_array_interface__")
        or hasattr(value, "__array_interface__") or hasattr(value, "__dlpack__") or _buffer(value) is not None)


def is_on_host(value):
    """Whether the array is known to lie in the host's memory. A bare address is not."""
    is_cuda = getattr(value, "is_cuda", None)
    if is_cuda is not None or hasattr(value, "__cuda_array_interface__"):
        return is_cuda is False
    if hasattr(value, "__array_interface__"):
        return True
    device = getattr(value, "__dlpack_device__", None)
    if device is not None:
        return device()[0] not in _GPU_MEMORY
    device = getattr(value, "device", None)   # of an object around a tensor
    if device is not None:
        return str(device).partition(":")[0] == "cpu"
    return not hasattr(value, "data_ptr") and _buffer(value) is not None


def is_pinned(value):
    """Whether an array of the host lies in memory that gpus reach, too."""
    pinned = getattr(getattr(value, "base", value), "is_pinned", None)
    return callable(pinned) and pinned()


_ROWS = "x.values(), x.crow_indices() and x.col_indices(), or x.to_dense()"
_COLUMNS = "x.values(), x.ccol_indices() and x.row_indices(), or x.to_dense()"
_PARTS = {   # what to pass of a tensor by its layout
    "torch.sparse_csr": _ROWS, "torch.sparse_bsr": _ROWS, "torch.sparse_csc": _COLUMNS, "torch.sparse_bsc": _COLUMNS,
    "torch.jagged": "x.values() and x.offsets()"}


def refuse_without_memory(value):
    if getattr(value, "is_meta", False):
        raise TypeError("a tensor of the device meta has no memory: make it on a real device")
    if type(value).__name__ == "FakeTensor":   # PyTorch's stand-in while it traces
        raise TypeError("a FakeTensor has no memory: launch kernels on real tensors, from torch.compile by a custom op "
                        "(torch.library.triton_op)")
    if getattr(value, "is_sparse", False):
        raise TypeError("a sparse tensor does not have its elements in order: pass x.to_dense(), or x.indices() "
                        "and x.values()")
    layout = str(getattr(value, "layout", "torch.strided"))
    if layout.startswith("torch.") and layout != "torch.strided":
        raise TypeError(f"a tensor of the layout {layout} does not have its elements in order: pass " +
                        _PARTS.get(layout, "x.to_dense()"))
    if not hasattr(value, "dtype"):
        raise TypeError(f"{type(value).__name__} has an address but no dtype: pass the tensor itself")
    if getattr(value, "is_neg", bool)():
        raise TypeError("the memory of this tensor holds its elements with the other sign, as of x.conj().imag: pass "
                        "x.resolve_neg()")
    if getattr(value, "is_nested", False):
        raise TypeError("a nested tensor does not have its elements in order: pass x.to_padded_tensor(0.0)")


def _asked(value, method):
    """Calls a method that gives the memory of a tensor, which those of vmap and grad do not have."""
    try:
        return method()
    except (NotImplementedError, RuntimeError) as e:
        raise TypeError(f"this {type(value).__name__} has no memory of its own, as in vmap, grad or tracing "
                        f"({str(e).splitlines()[0]}): launch the kernel for each tensor "
                        "in a loop, not under torch.vmap, or in a torch.library.custom_op, whose register_vmap and "
                        "register_autograd say what these do") from None


def address_of(value):
    """Returns an array's address and the code of its element type."""
    data_ptr = getattr(value, "data_ptr", None)
    if data_ptr is not None:
        refuse_without_memory(value)
        return _asked(value, data_ptr), _dtypes.code_of(value.dtype)
    interface = _interface(value)
    if interface is not None:
        return interface["data"][0], _interface_type(value, interface["typestr"])
    if hasattr(value, "__dlpack__"):
        return _dlpack(value)[:2]
    buffer = _buffer(value)
    if buffer is not None:
        return buffer["data"][0], _interface_type(value, buffer["typestr"])
    raise TypeError(f"{type(value).__name__} is no array: it has neither data_ptr() nor __cuda_array_interface__ nor "
                    "__array_interface__ nor __dlpack__ nor a buffer; pass a NumPy array or a PyTorch tensor, or "
                    "tilec.ptr(address, \"fp32\")")


def device_address_of(value):
    """Does what address_of does, and refuses an array that a gpu cannot read."""
    if is_on_host(value):
        raise TypeError(f"{type(value).__name__} is an array on the host, not on a gpu")
    return address_of(value)


def layout_of(value):
    """Returns an array's shape and its strides in elements.

    The strides are None if the array is row-major without gaps; the shape is None if the array has none.
    """
    stride, shape = getattr(value, "stride", None), getattr(value, "shape", None)
    if callable(stride):
        return tuple(shape), tuple(stride())
    interface = _interface(value)
    if interface is None and not hasattr(value, "data_ptr") and not hasattr(value, "__dlpack__"):
        interface = _buffer(value)
    if interface is not None:
        strides, size = interface.get("strides"), int(interface["typestr"][2:])
        if strides is not None and any(s % size for s in strides):
            raise ValueError("strides that are no multiple of the element's size cannot be a kernel's")
        return tuple(interface["shape"]), None if strides is None else tuple(s // size for s in strides)
    if hasattr(value, "__dlpack__") and not hasattr(value, "data_ptr"):
        return _dlpack(value)[2:]
    return None if shape is None else tuple(shape), None


def dense(shape):
    """Returns the strides of a row-major array without gaps."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= operator.index(n)
    return strides[::-1]


def num_bytes(value):
    """Returns the bytes of a dense array; 0 for anything else, which tuning then does not restore."""
    if isinstance(value, type):
        return 0
    if hasattr(value, "numel") and hasattr(value, "element_size"):
        is_dense = getattr(value, "is_contiguous", lambda: list(value.stride()) == dense(value.shape))
        return value.numel() * value.element_size() if is_dense() else 0
    size = getattr(value, "nbytes", 0)
    shape, strides = layout_of(value) if size else (None, None)
    return size if strides is None or list(strides) == dense(shape) else 0


def memory_of(value):
    """Returns the range of addresses of the host memory that a kernel may reach through an array, and whether the
    host may write there: the whole storage that the array is a view of, where the library names it."""
    storage = getattr(value, "untyped_storage", None)
    if storage is not None:
        refuse_without_memory(value)
        storage = _asked(value, storage)
        try:
            return storage.data_ptr(), storage.data_ptr() + storage.nbytes(), True
        except RuntimeError:
            raise TypeError(f"this {type(value).__name__} has no memory of its own: a subclass of torch.Tensor keeps its "
                            "elements in tensors inside, and these are what a kernel takes") from None
    begin, end = span(value)
    writable = not (_interface(value) or _buffer(value) or {"data": (0, False)})["data"][1]
    owner = getattr(value, "base", None)
    while owner is not None and hasattr(owner, "__array_interface__"):
        first, last = span(owner)
        begin, end = min(begin, first), max(end, last)
        owner = getattr(owner, "base", None)
    return begin, end, writable


def span(value):
    """Returns the addresses of an array's first byte and of the one after its last."""
    address, code = address_of(value)
    shape, strides = layout_of(value)
    if shape is None:
        raise TypeError(f"{type(value).__name__} does not say how large it is: it needs a shape")
    if 0 in shape:
        return address, address
    steps = [(n - 1) * s for n, s in zip(shape, strides if strides is not None else dense(shape))]
    size = max(_dtypes.DTYPES[code][2], 8) // 8
    return address + size * sum(s for s in steps if s < 0), address + size * (1 + sum(s for s in steps if s > 0))


def broadcast_shape(value):
    """Returns the shape of an array whose elements share memory, as those of np.broadcast_to do; otherwise None."""
    shape, strides = layout_of(value)
    return shape if strides is not None and any(n > 1 and s == 0 for n, s in zip(shape, strides)) else None


def _interface(value):
    interface = getattr(value, "__cuda_array_interface__", None)
    return getattr(value, "__array_interface__", None) if interface is None else interface


class _PyBuffer(Structure):
    _fields_ = [("buf", c_void_p), ("obj", c_void_p), ("len", c_ssize_t), ("itemsize", c_ssize_t),
                ("readonly", c_int), ("ndim", c_int), ("format", c_char_p), ("shape", POINTER(c_ssize_t)),
                ("strides", POINTER(c_ssize_t)), ("suboffsets", c_void_p), ("internal", c_void_p)]


_WITH_FORMAT_AND_STRIDES = 0x1C
_LETTERS = {"?": "b", "e": "f", "f": "f", "d": "f", **dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u")}


def _buffer(value):
    """Returns what __array_interface__ would be of an object with a buffer, such as array.array; None without one."""
    if isinstance(value, (bool, int, float, str, bytes, tuple)) or value is None:
        return None
    view = _PyBuffer()
    try:
        _get_buffer(value, ctypes.byref(view), _WITH_FORMAT_AND_STRIDES)
    except (TypeError, BufferError, ValueError):
        return None
    letter = view.format.decode().lstrip("@=<") if view.format else "B"
    typestr = f"<{_LETTERS[letter]}{view.itemsize}" if letter in _LETTERS else f"{letter} in a buffer"
    found = {"data": (view.buf or 0, bool(view.readonly)), "typestr": typestr,
             "shape": tuple(view.shape[:view.ndim]), "strides": tuple(view.strides[:view.ndim])}
    _release_buffer(ctypes.byref(view))   # the caller's object owns the memory
    return found


_get_buffer, _release_buffer = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
_get_buffer.restype, _get_buffer.argtypes = c_int, [py_object, POINTER(_PyBuffer), c_int]
_release_buffer.restype, _release_buffer.argtypes = None, [POINTER(_PyBuffer)]


def _interface_type(value, typestr):
    code = _dtypes.BY_INTERFACE.get(typestr[1:])
    if code is None and hasattr(value, "dtype") and typestr[0] != ">":
        return _dtypes.code_of(value.dtype)   # bfloat16 and the 8-bit floats are no types of the interface
    if code is None or typestr[0] == ">":
        way = "; pass a copy in this machine's byte order: x.astype(x.dtype.newbyteorder('='))" if code else ""
        raise TypeError(f"there is no kernel type for {typestr}{way}")
    return code


class DLTensor(Structure):
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
    t = DLTensor.from_address(_capsule_pointer(capsule, b"dltensor"))
    code = _dtypes.BY_DLPACK.get((t.code, t.bits)) if t.lanes == 1 else None
    if code is None:
        raise TypeError(f"there is no kernel type for DLPack's {t.lanes} lanes of code {t.code} with {t.bits} bits")
    strides = tuple(t.strides[:t.ndim]) if t.strides else None
    return (t.data or 0) + t.byte_offset, code, tuple(t.shape[:t.ndim]), strides
