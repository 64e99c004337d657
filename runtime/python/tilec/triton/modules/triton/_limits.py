"""`finfo` and `iinfo` of PyTorch and NumPy in a kernel: a function of a dtype that only the kernel knows."""
import sys

_FIELDS = "bits eps max min tiny smallest_normal resolution dtype".split()
_DTYPES = """float16 bfloat16 float32 float64 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz
int8 int16 int32 int64 uint8 uint16 uint32 uint64""".split()


def is_of_dtypes(value):
    """Whether a value is one of the classes that say what a dtype can hold."""
    return isinstance(value, type) and value.__name__ in ("finfo", "iinfo") and \
        value.__module__.partition(".")[0] in ("torch", "numpy")


def _fields(info):
    """Returns the fields of an info that tilec reads, as numbers and texts."""
    values = {name: getattr(info, name) for name in _FIELDS if hasattr(info, name)}
    return {name: v.item() if hasattr(v, "item") else v if isinstance(v, (int, float)) else str(v)
            for name, v in values.items()}


def source(cls, name, gatherer):
    """Returns the text of a function `name` that gives what `cls` gives for a dtype of the kernel."""
    from .language import core
    package, body, record = sys.modules[cls.__module__.partition(".")[0]], [], None
    for text in _DTYPES:
        try:
            values = _fields(cls(getattr(package, text)))
        except (AttributeError, TypeError, ValueError):   # not a dtype of this class or package
            continue
        record = record or f"{name}_of = collections.namedtuple({name!r}, {list(values)!r})"
        dtype = gatherer.expression(core.of_torch(text))
        body += [f"    if dtype == {dtype}:",
                 f"        return {name}_of({', '.join(map(gatherer.expression, values.values()))})"]
    return "\n".join([record or "", "@triton.constexpr_function", f"def {name}(dtype):", *body,
                      f'    raise TypeError(f"{cls.__name__} is not for {{dtype}}")'])
