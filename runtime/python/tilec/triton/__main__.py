"""python -m tilec.triton [--enable | --disable | -m MODULE | PROGRAM] [ARGUMENT…]"""
import functools
import os
import re
import runpy
import sys
import sysconfig
import traceback
import types

from . import install, install_for_children

_USAGE = """usage: python -m tilec.triton PROGRAM [ARGUMENT...]      run a program whose Triton kernels tilec compiles
       python -m tilec.triton -m MODULE [ARGUMENT...]    run a module, such as pytest
       python -m tilec.triton --enable | --disable       let TILE_TRITON=1 do so for any program of this Python, or not
"""
_PTH = "import os; os.environ.get('TILE_TRITON') == '1' and __import__('tilec.triton').triton.install()\n"


def _pth_path():
    return os.path.join(sysconfig.get_path("purelib"), "tilec_triton.pth")


def _show_from_program(kind, value, trace):
    """Shows an exception that ends the program, from the program's own first frame on. One of a function that a launch
    calls has a note, which says what the frames of the launch would."""
    inner = trace
    while inner and inner.tb_frame.f_code.co_filename in ("<frozen runpy>", runpy.__file__, __file__):
        inner = inner.tb_next
    inner = _without_ours(inner or trace, bool(getattr(value, "__notes__", None)))
    sys.__excepthook__(kind, value.with_traceback(inner), inner)
    if isinstance(value, NameError):
        _suggest_module(getattr(value, "name", None))
    made = getattr(sys.modules.get("triton.runtime.jit"), "made", None)
    if made and kind is RuntimeError and "does not have a grad_fn" in str(value):
        print("note: autograd does not record the launch of a kernel: to give its results a gradient, launch it in the "
              "forward of a torch.autograd.Function, whose backward computes that", file=sys.stderr)
    line = traceback.extract_tb(inner)[-1].line or ""
    if kind is TypeError and "](" in line and re.search(r"'[\w.]+' object is not subscriptable", str(value)):
        why = _why_no_kernel(inner, line.partition("[")[0])
        if why:
            print(f"note: {why}", file=sys.stderr)


def _without_ours(trace, anywhere):
    """Returns a traceback without the package's own frames at its end, if the package raised the exception on purpose,
    or without any of them.
    """
    frames = []
    while trace:
        frames.append(trace)
        trace = trace.tb_next
    raised = (traceback.extract_tb(frames[-1])[-1].line or "").startswith(("raise ", "assert "))
    while raised and len(frames) > 1 and _is_ours(frames[-1].tb_frame):
        frames.pop()
    if anywhere:
        frames = [frame for frame in frames if not _is_ours(frame.tb_frame)] or frames
    for frame in reversed(frames):
        trace = types.TracebackType(trace, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return trace


def _is_ours(frame):
    """Whether a frame runs code of this package; that of a dataclass has no file."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
    code = frame.f_code.co_filename
    return code.startswith(package) or code == "<string>" and \
        (frame.f_globals.get("__file__") or "").startswith(package)


def _suggest_module(name):
    """Says which module has a name that the program uses bare."""
    for module, short in (("triton", "triton"), ("triton.language", "tl")):
        found = vars(sys.modules.get(module, types)).get(name)
        if found is not None and not name.startswith("_") and not isinstance(found, types.ModuleType):
            print(f"note: it is {short}.{name}", file=sys.stderr)
            return


def _why_no_kernel(trace, text):
    """Returns why the function at the end of a text, which the last frame subscripts, has no [grid]."""
    while trace.tb_next:
        trace = trace.tb_next
    scope = {**trace.tb_frame.f_globals, **trace.tb_frame.f_locals}
    path = re.search(r"[\w.]*$", text.rstrip())[0].split(".")
    owners = [scope.get(path[0])]
    for name in path[1:]:
        owners.append(getattr(owners[-1], name, None))
    function, shown = owners.pop(), ".".join(path)
    jit = sys.modules.get("triton.runtime.jit")
    if isinstance(function, functools.partial) and isinstance(function.func, getattr(jit, "KernelInterface", ())):
        return (f"`{shown}` is a functools.partial, which has no grid: launch the kernel, and pass it what the partial "
                "holds")
    if jit and isinstance(function, jit.ConstexprFunction):
        return (f"`{shown}` has @triton.constexpr_function, which is for functions that kernels call: a kernel has "
                "@triton.jit")
    if isinstance(function, types.MethodType) and isinstance(function.__func__, getattr(jit, "KernelInterface", ())):
        return f"`{shown}` is a kernel below @classmethod: a kernel in a class has @staticmethod above @triton.jit"
    if not isinstance(function, (types.FunctionType, types.MethodType)):
        return None
    inner = function
    while inner is not None and not hasattr(type(inner), "__getitem__"):
        inner = getattr(inner, "__wrapped__", None)
    if inner is not None:
        return (f"another decorator is above @triton.jit, and `{shown}` is the plain function that it made: put "
                "@triton.jit, @triton.autotune and @triton.heuristics on top")
    code = getattr(function, "__code__", None)
    if jit is None or code is None:
        return _NOT_DECORATED
    prefixes = {".".join(path[:n + 1]): owner for n, owner in enumerate(owners)}
    known = {**prefixes, **scope}   # the kernel that the program names comes first
    for name, value in known.items():
        if isinstance(value, jit.KernelInterface) and getattr(value, "_tile_function", value).fn is function:
            return f"`{shown}` is the Python function of a kernel: launch the kernel itself, {name}[grid](…)"
    module = owners[-1].__name__ if owners and isinstance(owners[-1], types.ModuleType) else scope.get("__name__")
    place = jit.made.get((module, path[-1]))
    if place is None:
        return _NOT_DECORATED
    if function.__name__ == path[-1]:
        return (f"`{shown}` is the plain function of {code.co_filename}:{code.co_firstlineno}, whose def binds the "
                f"name of the kernel of {place} again: give one of the two another name")
    return (f"`{shown}` is the plain function {function.__name__} of {code.co_filename}:{code.co_firstlineno}, which a "
            f"decorator or an assignment bound to the name of the kernel of {place}: put @triton.jit on top, or give "
            "one of the two another name")


_NOT_DECORATED = "a kernel has @triton.jit above its def: without it, f[grid](…) is no launch"


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(_USAGE, end="", file=sys.stdout if len(sys.argv) > 1 else sys.stderr)
        return 0 if len(sys.argv) > 1 else 2
    if sys.argv[1] == "--enable":
        with open(_pth_path(), "w") as f:
            f.write(_PTH)
        print(f"wrote {_pth_path()}: programs started with TILE_TRITON=1 use tilec")
        return 0
    if sys.argv[1] == "--disable":
        if os.path.exists(_pth_path()):
            os.unlink(_pth_path())
        return 0
    install()
    install_for_children()
    sys.excepthook = _show_from_program
    if sys.argv[1] == "-m":
        if len(sys.argv) < 3:
            print(_USAGE, end="", file=sys.stderr)
            return 2
        sys.argv = sys.argv[2:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv = sys.argv[1:]
        sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
        try:
            open(sys.argv[0], "rb").close()
        except OSError as error:
            if not os.path.isdir(sys.argv[0]):   # which may have a __main__.py
                print(f"python -m tilec.triton: can't open file {os.path.abspath(sys.argv[0])!r}: "
                      f"[Errno {error.errno}] {error.strerror}", file=sys.stderr)
                return 2
        runpy.run_path(sys.argv[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
