"""@triton.jit functions: gathered as source, compiled by libtile for each launch that needs it, and launched by it."""
import ast
import functools
import importlib
import inspect
import json
import pickle
import sys
import threading
import warnings
from collections import defaultdict

import tilec
from tilec._device import default_log
from tilec._fresh import watch
from tilec._kernel import Bound, HostArrayError
from tilec.triton._missing import explains_calls, no_attribute, parameter_hint, says_what_is_gone

from .. import knobs
from .._source import Gatherer, NotSource
from ..compiler import compiler
from ..compiler.compiler import ASTSource, CompiledKernel, LazyDict
from ..compiler.errors import CompilationError, CompileTimeAssertionFailure
from ..language import core
from ._callable import JITCallable, check_source
from ._definitions import define, made   # noqa: F401
from ._hooks import call_hook, line_of, report_new
from ._inside import Inside
from ._options import IGNORED, LAUNCH, OPTIONS, NamedLaunch, unknown_option, warn_of_pdl
from ._params import KernelParam, mangle_type, type_canonicalisation_dict   # noqa: F401
from ._quick import Quick, current_ordinal
from ._repeated import Variants
from ._tensors import MockTensor, TensorWrapper, reinterpret   # noqa: F401
from ._values import add_roots, argument, shape_of
from .driver import current_device
from .errors import OutOfResources

_PRECISIONS = "tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"


class KernelInterface:

    def warmup(self, *args, grid=None, **kwargs):
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True,
                        **{name: MockTensor.wrap_dtype(value) for name, value in kwargs.items()})

    def run(self, *args, grid, warmup, **kwargs):
        raise NotImplementedError("run is of the subclass")

    def go_on(self, args, kwargs):
        """Runs the kernel from a layer around it, which does not use kwargs any more."""
        return self.run(*args, **kwargs)

    def launch_by_run(self, grid, *args, **kwargs):
        return self.run(*args, grid=grid, warmup=False, **kwargs)

    __iter__ = None   # [] takes anything: a loop over a kernel would not end

    _partial = NamedLaunch        # or functools.partial, which is quicker, once the launcher in C launches
    _launch_now = launch_by_run   # or a quicker way that does the same: layers around the kernel and [] take it

    def __getitem__(self, grid):
        return NamedLaunch(self.run, grid=grid, warmup=False)


class ConstexprFunction(JITCallable):
    """A function of the host that kernels may call with constants."""

    _decorator = "@triton.constexpr_function\n"

    def __init__(self, fn):
        super().__init__(fn)
        functools.update_wrapper(self, fn)

    def __call__(self, *args, _semantic=None, **kwargs):
        args = [core._unwrap_if_constexpr(a) for a in args]
        return self.fn(*args, **{name: core._unwrap_if_constexpr(v) for name, v in kwargs.items()})

    def __get__(self, obj, objclass=None):
        return functools.partial(self.__call__, obj) if obj is not None else self


def constexpr_function(fn):
    return ConstexprFunction(fn)


class _Program:
    """A kernel in the text that was gathered for it, on one device."""

    def __init__(self, kernel, gatherer, name):
        self.kernel, self.gatherer, self.name, self.compiled = kernel, gatherer, name, {}
        self.refused = set()   # the variants that a hook did not let launch


@says_what_is_gone
class JITFunction(JITCallable, KernelInterface):

    _language = "triton"   # whose jit decorates it

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None, debug=None,
                 noinline=None, repr=None, launch_metadata=None):
        super().__init__(fn)
        watch()
        self.module, self.version, self.debug, self.noinline = fn.__module__, version, debug, noinline
        self._repr, self.launch_metadata = repr, launch_metadata
        for name, given in (("do_not_specialize", do_not_specialize),
                            ("do_not_specialize_on_alignment", do_not_specialize_on_alignment)):
            if given is not None and (isinstance(given, str) or not hasattr(given, "__iter__")):
                raise TypeError(f"{name} is a list of the parameters' names or indices, [{given!r}], not {given!r}")
        self.do_not_specialize = do_not_specialize or []
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment or []
        self.signature = inspect.signature(fn)
        self.arg_names = list(self.signature.parameters)
        self._hides = define(fn, self.arg_names)
        self._variable = next((p for p in self.signature.parameters.values()
                               if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)), None)   # *args or **kwargs
        count = len(self.arg_names)
        listed = [{self.arg_names[i] if isinstance(i, int) and -count <= i < count else i for i in names}
                  for names in (self.do_not_specialize, self.do_not_specialize_on_alignment)]
        self._listed = [sorted(names, key=str) for names in listed]
        for name in {name for names in self._listed for name in names} - set(self.arg_names):
            warnings.warn(f"do_not_specialize names {name!r}, and the parameters of {fn.__name__} are "
                          f"{', '.join(self.arg_names)}", stacklevel=3)
        self.params = [KernelParam(i, p, p.name in listed[0], p.name in listed[1])
                       for i, p in enumerate(self.signature.parameters.values())]
        self.constexprs = [p.num for p in self.params if p.is_constexpr]
        self.__doc__, self.__name__, self.__qualname__ = fn.__doc__, fn.__name__, fn.__qualname__
        self.__module__, self.__globals__ = fn.__module__, fn.__globals__
        self._fn_name = f"{fn.__module__}.{fn.__qualname__}"
        self.kernel, self.pre_run_hooks = None, []
        self.chosen_by = {}   # parameters to the functions of @triton.heuristics around the kernel
        self._interprets = knobs.runtime.interpret
        self._begin()

    def _begin(self):
        """Sets what belongs to this process."""
        self.device_caches = defaultdict(lambda: ({},))   # ordinal -> (variant -> what stands for it,), to look at
        self._programs, self._quick = {}, {}   # _quick: by the device's ordinal
        self.variants = Variants()
        self._launch_now = self.start          # or the launcher in C of the device that was the last one
        self._lock = threading.RLock()

    def is_gluon(self):
        return False

    # ---- source

    def _unsafe_update_src(self, text):
        super()._unsafe_update_src(text)
        self._quick.clear()
        self._programs.clear()

    @property
    def _decorator(self):
        options = [f"{name}={names!r}" for name, names in
                   zip(("do_not_specialize", "do_not_specialize_on_alignment"), self._listed) if names]
        if self.noinline:
            options.append("noinline=True")
        return f"@{self._language}.jit({', '.join(options)})\n"

    # ---- what programs look at

    def add_pre_run_hook(self, hook):
        self.pre_run_hooks.append(hook)

    @property
    def names_variants(self):
        return self._repr is not None

    def repr(self, specialization):
        """Returns the name of a variant; specialization has its `constants` and its `signature`."""
        if self._repr is None:
            return self.__name__
        return call_hook("repr of triton.jit", self._repr, "f(specialization)", specialization)

    def __repr__(self):
        return f"JITFunction({self.module}:{self.fn.__qualname__})"

    def __call__(self, *args, **kwargs):
        returned = [node.value for node in ast.walk(self.parse()) if isinstance(node, ast.Return) and node.value]
        gives = any(not isinstance(value, ast.Constant) or value.value is not None for value in returned)
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel: " +
                           (f"{self.__name__} returns a value, which only a kernel can take; what both call is a "
                            "function of Python with @triton.constexpr_function" if gives else
                            f"launch it with a grid, {self.__name__}[grid](…)"))

    def __reduce__(self):
        if self.fn is None:   # torch.compile takes the function off, and puts it back where the kernel arrives
            state = {name: value for name, value in vars(self).items()
                     if name not in ("device_caches", "_programs", "_quick", "_launch_now", "_partial", "_lock", "pre_run_hooks",
                                      "chosen_by", "variants")}
            return _without_function, (type(self), state)
        return by_name, (self.module, self.fn.__qualname__, None)

    def __deepcopy__(self, memo):
        return self

    def preload(self, data):
        """Compiles the variant of a hook's specialization_data, so that its first launch need not."""
        known = json.loads(data)
        if known["name"] != self._fn_name:
            raise RuntimeError(f"Specialization data is for {known['name']} but trying to preload for {self._fn_name}")
        aligned = {(self.arg_names.index(name),): [["tt.divisibility", 16]] for name, kind in known["signature"]
                   if kind.startswith("*")}
        source = ASTSource(self, dict(known["signature"]), known["constants"], aligned)
        return compiler.compile(source, options=known["options"])

    # ---- launches

    def __getitem__(self, grid):
        return self._partial(self._launch_now, grid)

    def start(self, grid, /, *args, **kwargs):
        """Launches by the launcher in C of the current gpu if there is one that may, and by run otherwise."""
        quick = self._quick and self._quick.get(current_ordinal())
        if quick and quick.is_for_now() and not self.pre_run_hooks:
            self._launch_now, self._partial = quick.guarded(self._launch_now), functools.partial
            return quick.launch(grid, *args, **kwargs)
        for name in ("grid", "warmup"):
            if name in kwargs:
                why = (f"its parameter {name} has the name of an argument of run(), which a launch calls: give it "
                       "another name, or pass it by position" if name in self.signature.parameters else
                       parameter_hint("launch", name))
                raise TypeError(f"{self.__name__}[grid](…) takes no {name}=: {why}")
        try:
            return self.run(*args, grid=grid, warmup=False, **kwargs)
        except (CompilationError, OutOfResources, tilec.Error) as e:
            raise e.with_traceback(None) from None   # its text leads to the kernel: the frames below do not

    def go_on(self, args, kwargs):
        """Does what run does, by the launcher in C where that can."""
        if kwargs.pop("warmup", False):
            return self.run(*args, warmup=True, **kwargs)
        if "grid" not in kwargs:
            return self.run(*args, warmup=False, **kwargs)   # says what is missing
        return self._launch_now(kwargs.pop("grid"), *args, **kwargs)

    def run(self, *args, grid=None, warmup=False, **kwargs):
        for hook in self.pre_run_hooks:
            call_hook("a pre-run hook", hook, "f(*args, **kwargs), as the kernel", *args, **kwargs)
        bound, options, given = self._bind(args, kwargs)
        with Inside() as inside:
            return self._run(inside, bound, options, given, grid, warmup)

    def _run(self, inside, bound, options, given, grid, warmup):
        device = current_device(self._interprets or knobs.runtime.interpret)
        roots = []
        for name, value in bound.items():
            add_roots(name, value, roots)
        program = self._program_for(device, roots)
        # A constant that is left out has the value that the text has for it: the launcher in C leaves it out, too.
        values = {p.name: argument(p.name, bound[p.name], p.is_constexpr, program.gatherer) for p in self.params
                  if p.name in given or not p.is_constexpr}
        launch = {name: options[name] for name in LAUNCH if options.get(name) is not None and name not in values}
        shape = (1,) if warmup and grid is None else shape_of(grid, {**bound, **options})
        try:
            return self._launch(program, shape, values, launch, options, warmup or 0 in shape, bound)
        except tilec.Error as e:
            # A failed kernel takes the context with it. The simulator keeps nothing between launches: the next one
            # opens it anew.
            if e.kind == "run" and device.kind == "sim":
                inside.if_alone(device.close)
            raise self._naming_heuristics(translated(e)) from None
        except HostArrayError as e:
            raise ValueError(f"Pointer argument cannot be accessed from Triton (cpu tensor?): {e}") from None

    def _naming_heuristics(self, error):
        """Says of parameters that are None for want of a value which functions of @triton.heuristics give it."""
        for name, choose in self.chosen_by.items() if isinstance(error, CompilationError) else ():
            error.error_message = error.message = error.error_message.replace(
                f"`{name}` is None by the launch or its configuration: give it a value",
                f"`{name}` is None by its function in @triton.heuristics{line_of(choose)}, which gives None where it "
                "ends without a `return`: return a value in every case")
        return error

    def _bind(self, args, kwargs):
        """Returns the values of the parameters by name, the options of the launch, and what was given of the former."""
        names = self.arg_names
        if self._variable is not None:
            raise TypeError(f"{self.__name__}() has the parameter {self._variable}, and those of a kernel are its "
                            f"arguments, one by one: write {self._variable.name} and pass a tuple")
        if len(args) > len(names):
            raise TypeError(f"{self.__name__}() takes {len(names)} positional arguments but {len(args)} were given: "
                            f"they are {', '.join(names)}, and options go by name{self._hides}")
        given, options = dict(zip(names, args)), {}
        for name, value in kwargs.items():
            if name in self.signature.parameters:
                if name in given:
                    raise TypeError(f"{self.__name__}() got multiple values for argument '{name}': positional argument "
                                    f"{names.index(name) + 1} is one; if a configuration or a heuristic gives "
                                    f"{name}, pass what comes after it by name")
                given[name] = value
                if name not in LAUNCH:
                    continue
            if name not in LAUNCH and name not in OPTIONS and name not in IGNORED:
                raise KeyError(f"Keyword argument {name} was specified but unrecognised" +
                               unknown_option(self.__name__, name, names, kwargs, len(args)) + self._hides)
            options[name] = value
        if options.get("ir_override"):
            raise NotImplementedError(f"ir_override={options['ir_override']!r}: tilec does not read Triton's IR")
        missing = [p.name for p in self.params if p.name not in given and not p.has_default]
        if missing and self.arg_names[0] == "self" and "self" in given:
            raise TypeError(f"{self.__name__}() takes `self`, which a launch does not pass: put the kernel outside of "
                            "its class, or leave out self")
        if missing:
            raise TypeError(f"{self.__name__}() missing {len(missing)} required positional argument"
                            f"{'s' if len(missing) > 1 else ''}: {', '.join(map(repr, missing))}{self._hides}")
        return {p.name: given[p.name] if p.name in given else p.default for p in self.params}, options, given

    def needed_options(self, options):
        """Returns the options without those that change nothing: the launcher in C knows few."""
        flags = self._flags(options)
        return {name: value for name, value in options.items()
                if name in LAUNCH and value is not None or flags and name in OPTIONS}

    def _flags(self, options):
        """Returns the options of tilec for a launch."""
        debug = options.get("debug", self.debug)
        given = {"debug": knobs.runtime.debug if debug is None else debug,
                 "enable_fp_fusion": options.get("enable_fp_fusion", knobs.language.default_fp_fusion),
                 "sanitize_overflow": options.get("sanitize_overflow") and debug}
        given.update((name, options[name]) for name in OPTIONS if name not in given and options.get(name))
        flags = tuple(f"{OPTIONS[name]}={int(bool(value))}" for name, value in given.items()
                      if value is not None and bool(value) != (name == "enable_fp_fusion"))
        precision = knobs.language.fp32_default
        if precision and precision not in _PRECISIONS:
            raise ValueError(f"TRITON_F32_DEFAULT (knobs.language.fp32_default) is {', '.join(_PRECISIONS[:-1])} or "
                             f"{_PRECISIONS[-1]}, not {precision!r}")
        if precision:
            flags = *flags, f"dot-precision={precision}"
        return (*flags, "line-info=0") if knobs.compilation.disable_line_info else flags

    def _program_for(self, device, roots):
        """Returns the program with this kernel and the objects that are its constants."""
        key = (device, *map(id, roots))
        with self._lock:
            program = self._programs.get(key)
            if program is not None and program.kernel.is_open:
                changed = program.gatherer.change()
                if changed is None and program.gatherer.has_current_sources():
                    return program
                if changed is not None and not self._num_replaced:
                    name, before, now = changed
                    raise RuntimeError(f"Global variable {name} has changed since we compiled this kernel, from "
                                       f"{before!r} to {now!r} (kernel {self.__name__}): a kernel's globals are "
                                       f"constants; pass it as an argument, {name}: tl.constexpr")
            gatherer = Gatherer()
            try:
                name = gatherer.name_of(self)
                for root in roots:
                    gatherer.name_of(root)
                text, ranges = gatherer.text(), gatherer.ranges()
            except (NotSource, NotImplementedError) as e:
                text = str(e) if getattr(e, "has_place", False) else f"{self._fn_name}: {e}"
                raise CompilationError(self._known_source(), None, text) from None
            try:
                kernel = tilec.Program(self._fn_name, text, device=device, source_map=ranges, on_log=_tell)[name]
            except tilec.Error as e:
                raise translated(e) from None
            gatherer.roots = list(roots)   # their ids are the key
            program = self._programs[key] = _Program(kernel, gatherer, name)
            return program

    def _launch(self, program, shape, values, launch, options, only_prepare, bound):
        kernel, gpu, flags = program.kernel, program.kernel.is_gpu, self._flags(options)
        before = kernel.num_variants
        with Bound(kernel, (), {**values, **launch}, flags) as arguments:
            variant = arguments.variant()
            compiled = self._compiled(program, variant, launch)
            if kernel.num_variants != before and self.module == "__main__":
                self.variants.add(self, compiled.constants, bound, (launch, flags))
            if kernel.num_variants != before or variant in program.refused:
                program.refused.add(variant)
                if report_new(self, compiled, options, only_prepare):
                    return None
                program.refused.discard(variant)
            if only_prepare:
                return compiled
            warn_of_pdl(self, options, program, kernel.num_variants != before)
            enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
            metadata = self._launch_metadata(compiled, shape, bound) if enter or leave else None
            if enter:
                call_hook("launch_enter_hook", enter, "f(metadata)", metadata)
            arguments.launch(shape)
            if leave:
                call_hook("launch_exit_hook", leave, "f(metadata)", metadata)
        if gpu and not flags and not (enter or leave or self.pre_run_hooks):
            self._teach(program, bound, launch)
        return compiled

    def _compiled(self, program, variant, launch=None):
        """Returns what stands for a variant, which is an address. launch: the options that made it, if they are known."""
        if variant not in program.compiled:
            compiled = program.compiled[variant] = CompiledKernel(self, program.kernel, variant, launch)
            self.device_caches[compiled.device.ordinal][0][variant] = compiled
        return program.compiled[variant]

    def _launch_metadata(self, compiled, shape, bound):
        data = {"name": compiled.name, "function": compiled.function, "stream": None}
        metadata = LazyDict(data)
        if self.launch_metadata is not None:
            grid = (*shape, 1, 1)[:3]
            metadata.add(lambda: call_hook("launch_metadata of triton.jit", self.launch_metadata,
                                           "f(grid, metadata, args)", grid, compiled.metadata, bound))
        return metadata

    # ---- the quick way

    def _teach(self, program, bound, launch):
        """Lets the launcher in C do the next launch like this one."""
        ordinal = program.kernel.device.ordinal
        quick = self._quick.get(ordinal)
        if quick is None or quick.program is not program:
            quick = self._quick[ordinal] = Quick(self, program)
        quick.learn(bound)


def _without_function(kind, state):
    kernel = object.__new__(kind)
    vars(kernel).update(state, pre_run_hooks=[], chosen_by={})
    kernel._begin()
    return kernel


def by_name(module, name, depth):
    """Finds a kernel again when it is unpickled: the one that so many layers lie around, None: the innermost."""
    value = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    if value is None:
        raise pickle.PicklingError(f"{module} has no {name}: a kernel is pickled by the name that its module has "
                                   "for it")
    if depth is None:
        return getattr(value, "_tile_function", value)
    for _ in range(depth):
        value = value.fn
    return value


_told = {}   # the warnings that were shown


def _tell(level, text):
    """Shows what kernels print while they are compiled, and warnings of the program's own file, except for what changes
    no result. Triton has none, and what the program imports may be another's."""
    own = getattr(sys.modules.get("__main__"), "__file__", None)
    if level == "warning" and own and text.startswith(f"{own}:") and "[-Wunused-variable]" not in text:
        default_log(level, text, _told)
    elif level == "note":
        print(text, flush=True)


def translated(e):
    """Returns the exception that programs expect for one of tilec's."""
    if isinstance(e, tilec.OutOfResources):
        # Smaller blocks make a grid larger, and change neither parameters nor clusters nor threads.
        text = str(e) if e.resource in ("grid", "parameters", "cluster") else None
        if e.resource == "threads":
            text = (f"threads, Required: {e.needed}, Hardware limit: {e.limit}. num_warps can be {e.limit // 32} at "
                    "most.")
        return OutOfResources(e.needed, e.limit, e.resource, text and f"out of resource: {text}")
    if e.kind == "program":
        text = str(e)
        kind = CompileTimeAssertionFailure if "static_assert" in text else CompilationError
        return kind(None, None, text)
    if e.kind == "usage" and " cannot hold " in str(e):   # a number beyond the parameter's type
        return OverflowError(str(e))
    return e


@explains_calls
def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None,
        do_not_specialize_on_alignment=None, debug=None, noinline=None):
    def decorate(f):
        if isinstance(f, JITFunction):
            raise TypeError("@triton.jit is on a function that has it already")
        check_source(f)
        return JITFunction(f, version, do_not_specialize, do_not_specialize_on_alignment, debug, noinline, repr,
                           launch_metadata)
    return decorate(fn) if fn is not None else decorate


core.import_from("triton", constexpr_function, jit)


def __getattr__(name):
    raise no_attribute(__name__, name)
