"""The parameters of kernels and their types."""
import inspect

type_canonicalisation_dict = {
    "bool": "i1", "int1": "i1", "uint1": "u1", "i1": "i1", "float8e4nv": "fp8e4nv", "float8e5": "fp8e5",
    "float8e4b15": "fp8e4b15", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float8e4b8": "fp8e4b8",
    "float8_e4m3fnuz": "fp8e4b8", "float8e5b16": "fp8e5b16", "float8_e5m2fnuz": "fp8e5b16", "half": "fp16",
    "float16": "fp16", "bfloat16": "bf16", "float": "fp32", "float32": "fp32", "double": "fp64", "float64": "fp64",
    "int8": "i8", "int16": "i16", "int": "i32", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "void": "void"}
type_canonicalisation_dict.update({name: name for name in list(type_canonicalisation_dict.values())})


def mangle_type(arg, specialize=False):
    if hasattr(arg, "data_ptr"):
        return "*" + type_canonicalisation_dict[str(arg.dtype).split(".")[-1]]
    return {int: "i32", float: "fp32", bool: "u1"}.get(type(arg), "constexpr")


class KernelParam:

    def __init__(self, num, parameter, do_not_specialize, do_not_specialize_on_alignment):
        self.num, self.name, self._param = num, parameter.name, parameter
        self.do_not_specialize = do_not_specialize
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment
        a = parameter.annotation
        self.annotation = "" if a is inspect.Parameter.empty else a if isinstance(a, str) else \
            getattr(a, "__name__", repr(a))
        self.annotation_type = type_canonicalisation_dict.get(self.annotation.rpartition(".")[2], "")
        self.is_constexpr = "constexpr" in self.annotation
        self.is_const = "const" in self.annotation and not self.is_constexpr
        self.has_default = parameter.default is not inspect.Parameter.empty
        self.default = parameter.default
