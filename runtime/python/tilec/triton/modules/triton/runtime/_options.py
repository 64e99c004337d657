"""The options of a launch, what is said of names that are none, and of options that the kernel does not go with."""
import difflib
import functools
import re
import warnings

from tilec._device import users_place
from tilec.triton._missing import parameter_hint

LAUNCH = ("num_warps", "num_stages", "num_ctas", "maxnreg")
# Options of a launch that are options of tilec, and those that mean nothing to it.
OPTIONS = {"enable_fp_fusion": "enable-fp-fusion", "debug": "debug", "sanitize_overflow": "sanitize-overflow",
           "launch_cooperative_grid": "launch-cooperative-grid", "launch_pdl": "launch-pdl",
           "enable_reflect_ftz": "enable-reflect-ftz"}
IGNORED = frozenset("""allowed_dot_input_precisions arch backend_name cluster_dims default_dot_input_precision
    deprecated_fp8_dot_operand_dtypes device device_type extern_libs instrumentation_mode ir_override kpack
    matrix_instr_nonkdim max_num_imprecise_acc_default maxRegAutoWS minRegAutoWS noinline ptx_options ptx_version
    schedule_hint stream supported_fp8_dtypes waves_per_eu warp_size""".split())

class NamedLaunch(functools.partial):
    """A launch that is not called yet. Python's error of a name that is given twice has its text."""

    __slots__ = ()

    def __str__(self):
        owner = getattr(self.func, "__self__", None)
        name = getattr(getattr(owner, "_tile_function", owner), "__name__", "kernel")
        return (f"{name}[grid](…, **options) takes each name once, by itself or in **options: leave it out of one of "
                "them; it")


def unknown_option(kernel, name, names, given, num_positional):
    """Returns the text after the name of an argument that is no parameter and no option. names: the parameters; given:
    what is given by name; num_positional: how many parameters are given by position."""
    hint = parameter_hint("launch", name)
    if hint:
        return f": {hint}"
    known = (*names, *LAUNCH, *OPTIONS)
    near = [n for n in known if n.lower() == name.lower()] or difflib.get_close_matches(name, known, 1)
    if near and near[0] not in given and near[0] not in names[:num_positional]:
        return f": did you mean {near[0]}?"
    near = difflib.get_close_matches(name, near, 1, 0.9)
    twice = f" ({near[0]} is given, too)" if near else ""
    return (f": it is no option here, and the parameters are {', '.join(names)}{twice}. Leave it out, or give {kernel} "
            f"a parameter {name}; options are {', '.join((*LAUNCH, *OPTIONS))}")


_READS = re.compile(r"\b(load|gather|atomic_\w+|async_copy\w*)\(")
_told = set()    # the kernels of which warn_of_pdl has warned
_before = None   # the program of the last launch


def _begins_others(text):
    return "gdc_launch_dependents" in text or "griddepcontrol.launch_dependents" in text


def warn_of_pdl(function, options, program, is_new):
    """Warns, once, of a launch with launch_pdl of a kernel that does not wait for the kernel before it. is_new: whether
    it is the first launch of this variant."""
    global _before
    before, _before = _before, program
    if not is_new or not options.get("launch_pdl") or function in _told:
        return
    text = program.gatherer.text()
    known = before is not None and before is not program and _begins_others(before.gatherer.text())
    if "gdc_wait" in text or "griddepcontrol.wait" in text or not _READS.search(text) or \
            not known and _begins_others(text):   # the first of a chain waits for nothing
        return
    _told.add(function)
    other = f"{before.name}, which calls gdc_launch_dependents," if known else "the kernel launched before it"
    warnings.warn_explicit(f"{function.__name__} is launched with launch_pdl=True and never calls gdc_wait: it may "
                           f"begin before {other} has stored what it reads. Call tl.extra.cuda.gdc_wait() before its "
                           "first load, or leave launch_pdl out", UserWarning, *users_place())
