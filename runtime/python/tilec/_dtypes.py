"""The element types: the table of ir/dtypes.def, and the names by which other libraries call them."""
import re

# In the order of tile_type: the name in signatures, the name in triton.language, the bits, DLPack's type code.
# tools/docs.sh makes the rows from ir/dtypes.def.
DTYPES = (
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
CODES = {name: code for code, row in enumerate(DTYPES) if code for name in row[:2]}
CODES.update({alias: CODES[name] for alias, name in (
    ("bool", "i1"), ("float8_e4m3fn", "fp8e4nv"), ("float8_e5m2", "fp8e5"), ("float8_e4m3fnuz", "fp8e4b8"),
    ("float8_e5m2fnuz", "fp8e5b16"), ("half", "fp16"), ("float", "fp32"), ("double", "fp64"), ("long", "i64"),
    ("int", "i32"))})
BY_DLPACK = {(dlpack, max(bits, 8)): code for code, (_, _, bits, dlpack) in enumerate(DTYPES) if dlpack >= 0}
# By the type's letter and bytes in __array_interface__ and __cuda_array_interface__.
BY_INTERFACE = {f"{letter}{bits // 8}": code for (dlpack, bits), code in BY_DLPACK.items()
                for letter in {0: "i", 1: "u", 2: "f", 6: "b"}.get(dlpack, "")}

# What to pass in place of an array, by a pattern of its dtype's text.
_WAYS = {
    "complex": "the array as real numbers: torch.view_as_real(x), x.view(np.float32)",
    "e8m0": "its exponents as bytes: x.view(torch.uint8)",
    "float4": "its bytes, two numbers each: x.view(torch.uint8)",
    r"torch\.qu?int": "its integers, x.int_repr(), and as arguments of their own x.q_scale() and x.q_zero_point(), or "
                      "for a scheme per channel the tensors x.q_per_channel_scales() and x.q_per_channel_zero_points()",
    r"torch\.u?int[1-7]$|torch\.bits": "its bytes: x.view(torch.uint8)",
    r"^\[|^\{": "one of its fields: x[\"name\"]",
    "datetime64|timedelta64": "its integers: x.view(np.int64)",
    "longdouble|float128|float96": "the array as doubles: x.astype(np.float64)",
    "str|object|^[<>|][USV]": "numbers",
}

_seen = {}   # the codes of the dtype objects seen so far


def code_of(dtype):
    """Returns the tile_type of a dtype of PyTorch, NumPy or this package."""
    try:
        return _seen[dtype]
    except (KeyError, TypeError):
        pass
    code = CODES.get(str(dtype).rpartition(".")[2])
    if code is None:
        way = next((f"; pass {way}" for part, way in _WAYS.items() if re.search(part, str(dtype))), "")
        raise TypeError(f"there is no kernel type for dtype {dtype}{way}")
    try:
        _seen[dtype] = code
    except TypeError:
        pass   # it cannot be a key
    return code


def name_of(code):
    return DTYPES[code][0]
