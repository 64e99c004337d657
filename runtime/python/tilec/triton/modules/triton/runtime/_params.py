"""The parameters of kernels and their types."""
import inspect

from .._annotations import normal_annotation, type_canonicalisation_dict


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
        self.annotation = "" if a is inspect.Parameter.empty else normal_annotation(a)
        self.annotation_type = type_canonicalisation_dict.get(self.annotation.rpartition(".")[2], "")
        self.is_constexpr = "constexpr" in self.annotation
        self.is_const = "const" in self.annotation and not self.is_constexpr
        self.has_default = parameter.default is not inspect.Parameter.empty
        self.default = parameter.default
