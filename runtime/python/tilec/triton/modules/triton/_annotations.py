"""What annotations of parameters say."""

type_canonicalisation_dict = {
    "bool": "i1", "int1": "i1", "uint1": "u1", "i1": "i1", "float8e4nv": "fp8e4nv", "float8e5": "fp8e5",
    "float8e4b15": "fp8e4b15", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float8e4b8": "fp8e4b8",
    "float8_e4m3fnuz": "fp8e4b8", "float8e5b16": "fp8e5b16", "float8_e5m2fnuz": "fp8e5b16", "half": "fp16",
    "float16": "fp16", "bfloat16": "bf16", "float": "fp32", "float32": "fp32", "double": "fp64", "float64": "fp64",
    "int8": "i8", "int16": "i16", "int": "i32", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "void": "void"}
type_canonicalisation_dict.update({name: name for name in list(type_canonicalisation_dict.values())})


def annotations_of(fn):
    try:
        return fn.__annotations__
    except Exception:   # evaluated when somebody asks, from Python 3.14 on
        return {}


def normal_annotation(annotation):
    """Returns an annotation's text: of a class its name."""
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", repr(annotation))


def annotation_text(annotation):
    """Returns what an annotation says to tilec; "" for what is of the host's or of no use."""
    text = "" if annotation is None else normal_annotation(annotation)
    if "constexpr" in text:
        return "tl.constexpr"
    if text in ("int", "float", "bool"):
        return text
    kind = type_canonicalisation_dict.get(text.rpartition(".")[2])
    if kind is not None:
        from .language import core
        return core.str_to_ty(kind)._tile_expression()
    return "tl.const" if "const" in text else ""
