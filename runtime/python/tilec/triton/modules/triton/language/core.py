"""What host code sees of triton.language: dtypes, constants, types for annotations and isinstance, and the names of the
functions, which kernels alone may call."""
import enum
import inspect
import math
import operator
import sys

from tilec.triton._missing import no_attribute

_INTS = {"int8": 8, "int16": 16, "int32": 32, "int64": 64}
_UINTS = {"int1": 1, "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64}
# Bits, bits of the mantissa, exponent bias.
_FLOATS = {"fp8e4b15": (8, 3, 15), "fp8e4nv": (8, 3, 7), "fp8e4b8": (8, 3, 8), "fp8e5": (8, 2, 15),
           "fp8e5b16": (8, 2, 16), "fp16": (16, 10, 15), "bf16": (16, 7, 127), "fp32": (32, 23, 127),
           "fp64": (64, 52, 1023)}
TRITON_MAX_TENSOR_NUMEL = 1048576
TRITON_BUILTIN = "__triton_builtin__"


def _unwrap_if_constexpr(value):
    return value.value if isinstance(value, constexpr) else value


def _unwrap_iterable(x):
    """Returns x[0] if it is all that x has, and has items itself: the shape of `f(2, 3)` and `f((2, 3))`."""
    if len(x) != 1:
        return x
    try:
        iter(x[0])
    except TypeError:
        return x
    return x[0]


class Builtin:
    """A function of the language. Outside of a kernel it can only be named."""

    __triton_builtin__ = True
    signature = inspect.Signature()

    def __init__(self, module, name):
        self.__module__, self.__name__, self.__qualname__ = module, name, name

    def __call__(self, *args, **kwargs):
        name = self.__name__
        if self.__module__.startswith("triton.language") and callable(getattr(sys.modules["triton"], name, None)):
            raise ValueError(f"`{name}` of triton.language is for kernels: on the host use triton.{name}")
        raise ValueError(f"Did you forget to add @triton.jit ? (`{self.__name__}` is called outside of a kernel)")

    def __repr__(self):
        return f"<function {self.__module__}.{self.__name__}>"

    def _tile_source(self, gatherer, name):
        return f"from {self.__module__} import {self.__name__} as {name}"


def import_from(module, *functions):
    """Lets kernels and the classes in them import functions of the host by their names."""
    for f in functions:
        f._tile_source = lambda gatherer, name, f=f: f"from {module} import {f.__name__} as {name}"


class _Named(type):
    """The class of classes that kernels know by the same name."""

    _tile_module = "triton.language"

    def _tile_source(cls, gatherer, name):
        return f"from {cls._tile_module} import {cls.__name__} as {name}"


class base_value(metaclass=_Named):
    pass


class base_type(metaclass=_Named):
    pass


class constexpr(base_value):

    def __init__(self, value):
        self.value = _unwrap_if_constexpr(value)
        self.type = constexpr_type(self.value)

    def __repr__(self):
        return f"constexpr[{self.value}]"

    def __hash__(self):
        return hash((self.value, self.type))

    def __index__(self):
        return self.value

    def __bool__(self):
        return bool(self.value)

    def __call__(self, *args, **kwargs):
        return self.value(*args, **kwargs)

    def __getitem__(self, *args):
        return self.value.__getitem__(*(_unwrap_if_constexpr(a) for a in args))

    def logical_and(self, other):
        return constexpr(self.value and _unwrap_if_constexpr(other))

    def logical_or(self, other):
        return constexpr(self.value or _unwrap_if_constexpr(other))


def _add_operators():
    def binary(f):
        return lambda self, other: constexpr(f(self.value, _unwrap_if_constexpr(other)))

    def reflected(f):
        return lambda self, other: constexpr(f(_unwrap_if_constexpr(other), self.value))

    for name in ("add", "sub", "mul", "mod", "truediv", "floordiv", "and_", "or_", "xor", "pow", "lshift", "rshift"):
        f = getattr(operator, name)
        setattr(constexpr, f"__{name.rstrip('_')}__", binary(f))
        setattr(constexpr, f"__r{name.rstrip('_')}__", reflected(f))
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(constexpr, f"__{name}__", binary(getattr(operator, name)))
    for name in ("neg", "pos", "invert"):
        setattr(constexpr, f"__{name}__", lambda self, f=getattr(operator, name): constexpr(f(self.value)))
    # Functions of Python that ask for a number, or for a text, give that.
    constexpr.__divmod__ = lambda self, other: divmod(self.value, _unwrap_if_constexpr(other))
    constexpr.__rdivmod__ = lambda self, other: divmod(_unwrap_if_constexpr(other), self.value)
    constexpr.__format__ = lambda self, spec: format(self.value, spec) if spec else str(self)
    for name, f in (("abs", abs), ("round", round), ("int", int), ("float", float), ("trunc", math.trunc),
                    ("floor", math.floor), ("ceil", math.ceil)):
        setattr(constexpr, f"__{name}__", lambda self, *args, f=f: f(self.value, *args))


_add_operators()


class constexpr_type(base_type):

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self):
        return hash(self.value)

    def __repr__(self):
        return f"constexpr_type[{self.value}]"


CONSTEXPR_0 = constexpr(0)


class const(metaclass=_Named):
    pass


class dtype(base_type):
    SINT_TYPES = list(_INTS)
    UINT_TYPES = list(_UINTS)
    FP_TYPES = list(_FLOATS)
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    class SIGNEDNESS(enum.Enum):
        SIGNED = 0
        UNSIGNED = 1

    class KIND(enum.Enum):
        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    def __init__(self, name):
        name = _unwrap_if_constexpr(name)
        self.name, self.primitive_bitwidth = name, 0
        if name in _FLOATS:
            self.primitive_bitwidth, self.fp_mantissa_width, self.exponent_bias = _FLOATS[name]
        elif name in _INTS or name in _UINTS:
            self.primitive_bitwidth = self.int_bitwidth = _INTS.get(name) or _UINTS[name]
            self.int_signedness = dtype.SIGNEDNESS.SIGNED if name in _INTS else dtype.SIGNEDNESS.UNSIGNED
        elif name != "void":
            short = str(name).replace("bfloat", "bf").replace("float", "fp")
            raise ValueError(f"there is no dtype {name!r}: " + (
                f"it is called {short!r}" if short in _FLOATS else
                f"the names are {', '.join([*_INTS, *_UINTS, *_FLOATS])}"))
        self.itemsize = self.primitive_bitwidth // 8

    def __getattr__(self, name):
        kind = {"is_bool": "int1"}.get(name, name[3:])
        if name.startswith("is_") and (kind in _INTS or kind in _UINTS or kind in _FLOATS):
            return lambda: self.name == kind
        raise AttributeError(f"'dtype' object has no attribute '{name}'")

    def is_fp8(self):
        return self.name.startswith("fp8")

    def is_floating(self):
        return self.name in _FLOATS

    def is_standard_floating(self):
        return self.name in self.STANDARD_FP_TYPES

    def is_int_signed(self):
        return self.name in _INTS

    def is_int_unsigned(self):
        return self.name in _UINTS

    def is_int(self):
        return self.name in _INTS or self.name in _UINTS

    def is_void(self):
        return self.name == "void"

    def is_block(self):
        return False

    def is_ptr(self):
        return False

    def is_const(self):
        return False

    def kind(self):
        if self.name == "int1":
            return dtype.KIND.BOOLEAN
        return dtype.KIND.INTEGRAL if self.is_int() else dtype.KIND.FLOATING

    def get_int_max_value(self):
        return (1 << (self.int_bitwidth - self.is_int_signed())) - 1

    def get_int_min_value(self):
        return -(1 << (self.int_bitwidth - 1)) if self.is_int_signed() else 0

    @staticmethod
    def is_dtype(text):
        return text in _INTS or text in _UINTS or text in _FLOATS or text == "void"

    def __eq__(self, other):
        other = _unwrap_if_constexpr(other)
        return isinstance(other, dtype) and self.name == other.name

    def __hash__(self):
        return hash((self.name,))

    @property
    def scalar(self):
        return self

    def __str__(self):
        return self.name

    def codegen_name(self):
        if self.name.startswith("fp"):
            return "float" + self.name[2:]
        return "bfloat" + self.name[2:] if self.name.startswith("bf") else self.name

    @property
    def cache_key_part(self):
        return self.name

    def __repr__(self):
        return f"triton.language.{self.codegen_name()}"

    def mangle(self):
        return f"{'i' if self.is_int_signed() else 'u'}{self.int_bitwidth}" if self.is_int() else str(self)

    def _tile_expression(self):
        return f"tl.{self.codegen_name()}"


class pointer_type(dtype):

    def __init__(self, element_ty, address_space=1, const=False):
        element_ty = _unwrap_if_constexpr(element_ty)
        self.element_ty, self.address_space, self.const = element_ty, address_space, const
        self.name = f"{'const_' if const else ''}pointer<{element_ty}>"
        self.primitive_bitwidth, self.itemsize = 64, 8

    def is_ptr(self):
        return True

    def is_const(self):
        return self.const

    def __repr__(self):
        return f"triton.language.pointer_type({self.element_ty!r})"

    def _tile_expression(self):
        return f"tl.pointer_type({self.element_ty._tile_expression()})"


class block_type(dtype):

    def __init__(self, element_ty, shape):
        self.element_ty, self.shape = element_ty, [int(_unwrap_if_constexpr(s)) for s in shape]
        self.numel = 1
        for s in self.shape:
            self.numel *= s
        self.name = f"<{self.shape}, {element_ty}>"
        self.primitive_bitwidth = element_ty.primitive_bitwidth

    def is_block(self):
        return True

    @property
    def scalar(self):
        return self.element_ty

    def _tile_expression(self):
        return f"tl.block_type({self.element_ty._tile_expression()}, {self.shape})"


class tuple_type(base_type):

    def __init__(self, types, fields=None):
        self.types, self.fields = types, fields


class slice_type(dtype):

    def __init__(self):
        self.name = "slice_type"


class tensor(base_value):
    pass


class tensor_descriptor_base(base_value):
    pass


class tensor_descriptor(tensor_descriptor_base):
    pass


class tensor_descriptor_type(base_type):
    pass


class slice(base_value):
    pass


class tuple(base_value):

    def __init__(self, args, type=None):
        self.values = list(args)

    def __iter__(self):
        return iter(self.values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, i):
        return self.values[i]


class PropagateNan(enum.Enum):
    NONE = 0
    ALL = 0xFFFF


void, int1 = dtype("void"), dtype("int1")
int8, int16, int32, int64 = (dtype(n) for n in _INTS)
uint8, uint16, uint32, uint64 = (dtype(n) for n in list(_UINTS)[1:])
(float8e4b15, float8e4nv, float8e4b8, float8e5, float8e5b16, float16, bfloat16, float32,
 float64) = (dtype(n) for n in _FLOATS)
pi32_t = pointer_type(int32)
_BY_TORCH = {"bool": int1, "float8_e4m3fn": float8e4nv, "float8_e5m2": float8e5, "float8_e4m3fnuz": float8e4b8,
             "float8_e5m2fnuz": float8e5b16, "float16": float16, "half": float16, "bfloat16": bfloat16,
             "float32": float32, "float": float32, "float64": float64, "double": float64}


def of_torch(t):
    """Returns the dtype of one of PyTorch's or NumPy's."""
    name = str(t).rpartition(".")[2]
    return _BY_TORCH[name] if name in _BY_TORCH else dtype(name)


def get_int_dtype(bitwidth, signed):
    return dtype(f"{'' if signed or bitwidth == 1 else 'u'}int{bitwidth}")


def str_to_ty(name, c=None):
    """Returns the type that a signature's text means: "*fp32", "i64", …"""
    if not isinstance(name, str):
        return tuple_type([str_to_ty(x, c) for x in name], getattr(type(name), "_fields", None))
    if name.startswith("*"):
        is_const = name[1:2] == "k"
        return pointer_type(str_to_ty(name[1 + is_const:], c), const=is_const)
    if name in _FLOATS or name == "void":
        return dtype(name)
    if name in ("u1", "i1"):
        return int1
    if name[:1] not in ("i", "u") or not name[1:].isdigit():
        text = name.replace("bfloat", "bf").replace("float", "fp").replace("uint", "u").replace("int", "i")
        known = [*_FLOATS, *(f"i{n}" for n in (1, 8, 16, 32, 64)), *(f"u{n}" for n in (8, 16, 32, 64))]
        text = {"fp": "fp32", "i": "i32", "half": "fp16", "double": "fp64"}.get(text, text)
        raise ValueError(f"{name!r} is no type of a signature: " +
                         (f"write {text!r}" if text in known and text != name else f"types are {', '.join(known)}"))
    return dtype({"i": "int", "u": "uint"}[name[0]] + name[1:])


class NotInKernels:
    """A function that extends Triton's compiler: its body works on Triton's own objects, which tilec does not have."""

    def __init__(self, fn):
        self.__wrapped__, self.__name__, self.__module__ = fn, fn.__name__, fn.__module__

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"{self.__module__}.{self.__name__} extends Triton's compiler; tilec cannot run it")

    def _tile_source(self, gatherer, name):
        raise NotImplementedError(f"a kernel uses {self.__module__}.{self.__name__}, which extends Triton's compiler "
                                  "(@builtin or @extern); tilec cannot run it: write it as a @triton.jit function")


def is_builtin(fn):
    return getattr(fn, TRITON_BUILTIN, False)


def builtin(fn):
    return NotInKernels(fn)


extern = builtin


def must_use_result(x, s=True):
    """Marks a function whose result a kernel may not leave unused. A text instead of the function says why."""
    if isinstance(x, str):
        return lambda fn: must_use_result(fn, x)
    x._must_use_result = s
    return x


def _aggregate(cls):
    """A class whose instances live in kernels."""
    cls.__triton_aggregate__ = True
    return cls


import_from("triton.language.core", _aggregate, must_use_result)


def __getattr__(name):
    from . import _names
    if name in _names.FUNCTIONS or name.startswith("_experimental"):
        found = globals()[name] = Builtin("triton.language", name)
        return found
    if name in ("_log2", "_is_power_of_two"):   # torch.compile imports these
        from . import _constants
        return getattr(_constants, name)
    if name.startswith(("_elementwise_", "_argm")) or name.endswith("_combine"):
        from . import _reducers
        if hasattr(_reducers, name):
            return getattr(_reducers, name)
    if name == "constexpr_function":
        from ..runtime.jit import constexpr_function
        return constexpr_function
    raise no_attribute("triton.language", name, [*_names.FUNCTIONS, *globals()])
