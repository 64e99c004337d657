"""Functions of the program that launches and compilations call."""
import inspect
import json
from types import SimpleNamespace

from tilec._arguments import Named

from .. import knobs


def report_new(function, compiled, options, is_warmup):
    """Calls the hooks. Returns whether jit_cache_hook says that the variant must not launch."""
    told = {}
    if knobs.runtime.jit_cache_hook or knobs.runtime.jit_post_compile_hook:
        told = _told(function, compiled, options, is_warmup)
    shown = f"f({', '.join(f'{name}=…' for name in told)})"
    if knobs.runtime.jit_cache_hook and call_hook("jit_cache_hook", knobs.runtime.jit_cache_hook, shown, **told):
        return True
    for name in ("kernel_load_start_hook", "kernel_load_end_hook"):
        hook = getattr(knobs.runtime, name)
        if hook:
            call_hook(name, hook, "f(module, function, name, metadata_group, hash)", compiled.module, compiled.function,
                      compiled.name, compiled.metadata_group, compiled.hash)
    if knobs.runtime.jit_post_compile_hook:
        call_hook("jit_post_compile_hook", knobs.runtime.jit_post_compile_hook, shown, **told)
    return False


def _told(function, compiled, options, is_warmup):
    metadata, types = compiled.metadata, compiled.types
    signature = {p: types.get(p.name, "constexpr") for p in function.params}
    listed = ", ".join(f"{p.name}: {kind}" for p, kind in signature.items())
    chosen = {name: getattr(metadata, name) for name in ("num_warps", "num_ctas", "num_stages")}
    chosen["enable_fp_fusion"] = options.get("enable_fp_fusion", True)
    chosen["launch_cooperative_grid"] = options.get("launch_cooperative_grid", False)
    data = {"name": function._fn_name, "signature": list(types.items()), "constants": _plain(compiled.constants),
            "options": _plain({n: v for n, v in options.items() if v is not None}), "key": compiled.hash}
    return {
        "key": compiled.hash, "is_manual_warmup": is_warmup, "already_compiled": False,
        "repr": f"{compiled.name}[{', '.join(f'{name}={value}' for name, value in chosen.items())}]({listed})",
        "fn": SimpleNamespace(module=function.module, name=compiled.name, jit_function=function),
        "compile": {"key": compiled.hash, "signature": signature, "device": compiled.device.ordinal,
                    "constants": compiled.constants, **chosen, "extern_libs": options.get("extern_libs"),
                    "configs": [{}], "specialization_data": json.dumps(data), "is_warmup": is_warmup}}


def _plain(values):
    return {name: value if isinstance(value, (bool, int, float, type(None))) else str(value)
            for name, value in values.items()}


def refusal(hook, *args, **kwargs):
    """Returns why a function of the program's cannot be called like this; None: it can, as far as Python knows."""
    try:
        inspect.signature(hook, follow_wrapped=False).bind(*args, **kwargs)
    except TypeError as e:
        return str(e)
    except ValueError:   # it has no signature that Python knows
        pass
    return None


def check_hook(name, hook, shown, *args, **kwargs):
    """Raises TypeError with the way a function of the program's is called if it does not take that."""
    why = refusal(hook, *args, **kwargs)
    if not callable(hook):
        parameters = shown.partition("(")[2].partition(")")[0]
        raise TypeError(f"{name} is called as {shown}, and {hook!r} is no function: write `lambda {parameters}: …`")
    if why:
        function = getattr(hook, "__name__", hook)
        raise TypeError(f"{name} is called as {shown}, which {function}{line_of(hook)} does not take: {why}; write "
                        f"{_written(hook, shown)}") from None


def _written(hook, shown):
    """Returns how a function that is called as shown, such as f(args, exception=…), begins."""
    parameters = shown.partition("(")[2].partition(")")[0].replace("=…", "")
    name = getattr(hook, "__name__", None)
    if name == "<lambda>":
        return f"`lambda {parameters}: …`"
    if name is None or inspect.ismethod(hook):
        parameters = f"self, {parameters}"
    return f"`def {name or '__call__'}({parameters}):`"


def call_hook(name, hook, shown, *args, **kwargs):
    """Calls a function of the program's, or a chain of them."""
    try:
        return hook(*args, **kwargs)
    except TypeError as e:
        mistake = e
    except KeyError as e:
        mistake = _naming_place(e, name, hook, shown, args) or e
    except (IndexError, ValueError) as e:
        mistake = e
    if isinstance(mistake, TypeError):
        for function in getattr(hook, "calls", [hook]):
            check_hook(name, function, shown, *args, **kwargs)
    if not isinstance(mistake, KeyError):
        _note_call(mistake, name, hook, shown, args)
    raise mistake


def _is_raised_by(hook, error):
    """Returns whether the line that raised an error is in the hook's own file."""
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    code = getattr(hook, "__code__", None)
    return code is not None and last.tb_frame.f_code.co_filename == code.co_filename


def _note_call(error, name, hook, shown, args):
    """Adds what the hook was called with to an error of its own lines, from Python 3.11 on."""
    if not hasattr(error, "add_note") or not _is_raised_by(hook, error):
        return
    parameters = shown.partition("(")[2].partition(")")[0].split(", ")
    items = "".join(f"; {parameter} has {', '.join(map(repr, value))}" for parameter, value in zip(parameters, args)
                    if isinstance(value, dict) and value)
    error.add_note(f"note: {name} is called as {shown}{items}")


def _naming_place(error, name, hook, shown, args):
    """Returns a KeyError of the hook's own lines that says which of its arguments has the key; None if none has it."""
    if not _is_raised_by(hook, error) or not error.args:
        return None
    parameters = shown.partition("(")[2].partition(")")[0].split(", ")
    for parameter, value in zip(parameters, args):
        if isinstance(value, dict) and error.args[0] in value:
            key = repr(error.args[0])
            text = f"{key}: {name} is called as {shown}, and {parameter} has it: {parameter}[{key}]"
            return KeyError(text).with_traceback(error.__traceback__.tb_next)
    return None


def line_of(function):
    """Returns " (FILE:LINE)" for a function of the program's, or ""."""
    code = getattr(inspect.unwrap(function), "__code__", None) if callable(function) else None
    return f" ({code.co_filename}:{code.co_firstlineno})" if code else ""


class ByName(Named):
    """The arguments, constants and options of a launch by name, as hooks get them."""

    def __init__(self, values):
        super().__init__("a hook", values)

    def __missing__(self, name):
        raise KeyError(f"{name!r}: a hook has the arguments by name, {', '.join(map(repr, self))}")
