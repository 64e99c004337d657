"""@triton.jit functions: gathered as source, compiled by libtile for each launch that needs it, and launched by it."""
import ast
import enum
import functools
import hashlib
import inspect
import sys
import threading
from types import SimpleNamespace

import tilec
from tilec._kernel import Bound

from .. import knobs
from .._source import Gatherer, NotSource, names_of, source_of
from ..compiler.compiler import CompiledKernel, LazyDict
from ..compiler.errors import CompilationError, CompileTimeAssertionFailure
from ..language import core
from ._tensors import MockTensor, TensorWrapper, reinterpret   # noqa: F401
from .driver import current_device
from .errors import OutOfResources

type_canonicalisation_dict = {
    "bool": "i1", "int1": "i1", "uint1": "u1", "i1": "i1", "float8e4nv": "fp8e4nv", "float8e5": "fp8e5",
    "float8e4b15": "fp8e4b15", "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float8e4b8": "fp8e4b8",
    "float8_e4m3fnuz": "fp8e4b8", "float8e5b16": "fp8e5b16", "float8_e5m2fnuz": "fp8e5b16", "half": "fp16",
    "float16": "fp16", "bfloat16": "bf16", "float": "fp32", "float32": "fp32", "double": "fp64", "float64": "fp64",
    "int8": "i8", "int16": "i16", "int": "i32", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "void": "void"}
type_canonicalisation_dict.update({name: name for name in list(type_canonicalisation_dict.values())})

_LAUNCH = ("num_warps", "num_stages", "num_ctas", "maxnreg")
# Options of a launch that are options of tilec, and those that mean nothing to it.
_OPTIONS = {"enable_fp_fusion": "enable-fp-fusion", "debug": "debug", "sanitize_overflow": "sanitize-overflow",
            "launch_cooperative_grid": "launch-cooperative-grid", "launch_pdl": "launch-pdl",
            "enable_reflect_ftz": "enable-reflect-ftz"}
_IGNORED = frozenset("""allowed_dot_input_precisions arch backend_name cluster_dims default_dot_input_precision
    deprecated_fp8_dot_operand_dtypes device device_type extern_libs instrumentation_mode ir_override kpack
    matrix_instr_nonkdim max_num_imprecise_acc_default maxRegAutoWS minRegAutoWS noinline ptx_options ptx_version
    schedule_hint stream supported_fp8_dtypes waves_per_eu warp_size""".split())


def mangle_type(arg, specialize=False):
    if hasattr(arg, "data_ptr"):
        return "*" + type_canonicalisation_dict[str(arg.dtype).split(".")[-1]]
    return {int: "i32", float: "fp32", bool: "u1"}.get(type(arg), "constexpr")


class KernelInterface:

    def warmup(self, *args, grid, **kwargs):
        return self.run(*map(MockTensor.wrap_dtype, args), grid=grid, warmup=True,
                        **{name: MockTensor.wrap_dtype(value) for name, value in kwargs.items()})

    def run(self, *args, grid, warmup, **kwargs):
        raise NotImplementedError("run is of the subclass")

    def __getitem__(self, grid):
        return functools.partial(self.run, grid=grid, warmup=False)


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


class ConstexprFunction:
    """A function of the host that kernels may call with constants."""

    def __init__(self, fn):
        self.fn = fn
        functools.update_wrapper(self, fn)

    def __call__(self, *args, _semantic=None, **kwargs):
        args = [core._unwrap_if_constexpr(a) for a in args]
        return self.fn(*args, **{name: core._unwrap_if_constexpr(v) for name, v in kwargs.items()})

    def __get__(self, obj, objclass=None):
        return functools.partial(self.__call__, obj) if obj is not None else self

    def _tile_source(self, gatherer, name):
        gatherer.add_function(self.fn, name, "@triton.constexpr_function\n")


def constexpr_function(fn):
    return ConstexprFunction(fn)


class _Program:
    """A kernel in the text that was gathered for it, on one device."""

    def __init__(self, kernel, gatherer, name):
        self.kernel, self.gatherer, self.name, self.compiled = kernel, gatherer, name, {}
        self.refused = set()   # the variants that a hook did not let launch


class JITFunction(KernelInterface):

    _language = "triton"   # whose jit decorates it

    def __init__(self, fn, version=None, do_not_specialize=None, do_not_specialize_on_alignment=None, debug=None,
                 noinline=None, repr=None, launch_metadata=None):
        self.fn, self.module, self.version, self.debug, self.noinline = fn, fn.__module__, version, debug, noinline
        self._repr, self.launch_metadata = repr, launch_metadata
        self.do_not_specialize = do_not_specialize or []
        self.do_not_specialize_on_alignment = do_not_specialize_on_alignment or []
        self.signature = inspect.signature(fn)
        self.arg_names = list(self.signature.parameters)
        listed = [{self.arg_names[i] if isinstance(i, int) else i for i in names}
                  for names in (self.do_not_specialize, self.do_not_specialize_on_alignment)]
        self._listed = [sorted(names) for names in listed]
        self.params = [KernelParam(i, p, p.name in listed[0], p.name in listed[1])
                       for i, p in enumerate(self.signature.parameters.values())]
        self.constexprs = [p.num for p in self.params if p.is_constexpr]
        self.__doc__, self.__name__, self.__qualname__ = fn.__doc__, fn.__name__, fn.__qualname__
        self.__module__, self.__globals__ = fn.__module__, fn.__globals__
        self._fn_name = f"{fn.__module__}.{fn.__qualname__}"
        self._source = None            # the text, if it was replaced or asked for
        self._is_replaced = False
        self.hash, self.kernel, self.used_global_vals = None, None, {}
        self.pre_run_hooks, self.device_caches = [], {}
        self._programs, self._quick = {}, None
        self._interprets = knobs.runtime.interpret
        self._lock = threading.RLock()

    def is_gluon(self):
        return False

    # ---- source

    @property
    def src(self):
        if self._source is None:
            self._source = source_of(self.fn)[0]
        return self._source

    @src.setter
    def src(self, text):
        raise AttributeError("Cannot set attribute 'src' directly. Use '_unsafe_update_src()' and manually clear "
                             "`.hash` of all callersinstead.")

    def _unsafe_update_src(self, text):
        self._source, self._is_replaced, self.hash, self._quick = text, True, None, None
        self._programs.clear()

    @property
    def raw_src(self):
        return inspect.getsourcelines(self.fn)[0]

    @property
    def starting_line_number(self):
        return inspect.getsourcelines(self.fn)[1]

    @property
    def cache_key(self):
        if self.hash is None:
            gatherer = Gatherer()
            try:
                gatherer.name_of(self)
                text = gatherer.text()
            except (NotSource, NotImplementedError):
                text = self.src
            self.hash = hashlib.sha256(text.encode()).hexdigest()
        return self.hash

    def parse(self):
        return ast.parse(self.src)

    def get_capture_scope(self):
        return self.__globals__ | inspect.getclosurevars(self.fn).nonlocals

    def _decorator(self):
        options = [f"{name}={names!r}" for name, names in
                   zip(("do_not_specialize", "do_not_specialize_on_alignment"), self._listed) if names]
        if self.noinline:
            options.append("noinline=True")
        return f"@{self._language}.jit({', '.join(options)})\n"

    def _tile_source(self, gatherer, name):
        gatherer.add_function(self.fn, name, self._decorator(), self._source if self._is_replaced else None)

    # ---- what programs look at

    def add_pre_run_hook(self, hook):
        self.pre_run_hooks.append(hook)
        self._quick = None

    def __repr__(self):
        return f"JITFunction({self.module}:{self.fn.__qualname__})"

    def __call__(self, *args, **kwargs):
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")

    def __reduce__(self):
        return _by_name, (self.module, self.fn.__qualname__)

    def preload(self, data):
        raise NotImplementedError("tilec's kernels are kept by libtile's cache: preload() has nothing to load")

    # ---- launches

    def __getitem__(self, grid):
        return functools.partial(self._start, grid)

    def _start(self, grid, *args, **kwargs):
        quick = self._quick   # a launcher that has launched this kernel before
        if quick is not None and quick.gatherer.is_current() and quick.is_for_now():
            return quick.launch(grid, *args, **kwargs)
        return self.run(*args, grid=grid, warmup=False, **kwargs)

    def run(self, *args, grid, warmup, **kwargs):
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        bound, options = self._bind(args, kwargs)
        device = current_device(self._interprets or knobs.runtime.interpret)
        roots = []
        for value in bound.values():
            _add_roots(value, roots)
        program = self._program_for(device, roots)
        values = {p.name: _argument(bound[p.name], p.is_constexpr, program.gatherer) for p in self.params}
        launch = {name: options[name] for name in _LAUNCH if options.get(name) is not None and name not in values}
        shape = _shape(grid, {**bound, **options})
        try:
            return self._launch(program, shape, values, launch, self._flags(options), warmup or 0 in shape, bound)
        except tilec.Error as e:
            raise _translated(e) from None

    def _bind(self, args, kwargs):
        """Returns the values of the parameters by name, and the options of the launch."""
        names = self.arg_names
        if len(args) > len(names):
            raise TypeError(f"{self.__name__}() takes {len(names)} positional arguments but {len(args)} were given")
        given, options = dict(zip(names, args)), {}
        for name, value in kwargs.items():
            if name in self.signature.parameters:
                if name in given:
                    raise TypeError(f"{self.__name__}() got multiple values for argument '{name}'")
                given[name] = value
                if name not in _LAUNCH:
                    continue
            if name not in _LAUNCH and name not in _OPTIONS and name not in _IGNORED:
                raise KeyError(f"Keyword argument {name} was specified but unrecognised")
            options[name] = value
        missing = [p.name for p in self.params if p.name not in given and not p.has_default]
        if missing:
            raise TypeError(f"{self.__name__}() missing {len(missing)} required positional argument"
                            f"{'s' if len(missing) > 1 else ''}: {', '.join(map(repr, missing))}")
        return {p.name: given[p.name] if p.name in given else p.default for p in self.params}, options

    def _flags(self, options):
        """Returns the options of tilec for a launch."""
        debug = options.get("debug", self.debug)
        given = {"debug": knobs.runtime.debug if debug is None else debug,
                 "enable_fp_fusion": options.get("enable_fp_fusion", knobs.language.default_fp_fusion),
                 "sanitize_overflow": options.get("sanitize_overflow") and debug}
        given.update((name, options[name]) for name in _OPTIONS if name not in given and options.get(name))
        return tuple(f"{_OPTIONS[name]}={int(bool(value))}" for name, value in given.items()
                     if value is not None and bool(value) != (name == "enable_fp_fusion"))

    def _program_for(self, device, roots):
        """Returns the program with this kernel and the objects that are its constants."""
        key = (device, *map(id, roots))
        with self._lock:
            program = self._programs.get(key)
            if program is not None and program.kernel.is_open:
                changed = program.gatherer.changed_name()
                if changed is None:
                    return program
                if not self._is_replaced:
                    raise RuntimeError(f"Global variable {changed} has changed since we compiled this kernel "
                                       f"({self.__name__}): a kernel's globals are constants")
            gatherer = Gatherer()
            try:
                name = gatherer.name_of(self)
                for root in roots:
                    gatherer.name_of(root)
                text, ranges = gatherer.text(), gatherer.ranges()
            except (NotSource, NotImplementedError) as e:
                raise CompilationError(self.src, None, f"{self._fn_name}: {e}") from None
            try:
                kernel = tilec.Program(self._fn_name, text, device=device, source_map=ranges, on_log=_tell)[name]
            except tilec.Error as e:
                raise _translated(e) from None
            gatherer.roots = list(roots)   # their ids are the key
            program = self._programs[key] = _Program(kernel, gatherer, name)
            return program

    def _launch(self, program, shape, values, launch, flags, only_prepare, bound):
        kernel, gpu = program.kernel, program.kernel.is_gpu
        before = kernel.num_variants
        with Bound(kernel, (), {**values, **launch}, flags) as arguments:
            variant = arguments.variant()
            compiled = self._compiled(program, variant)
            if kernel.num_variants != before or variant in program.refused:
                program.refused.add(variant)
                if self._report_new(compiled, bound, only_prepare):
                    return None
                program.refused.discard(variant)
            if only_prepare:
                return compiled
            enter, leave = knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook
            metadata = self._launch_metadata(compiled, shape, bound) if enter or leave else None
            if enter:
                enter(metadata)
            arguments.launch(shape)
            if leave:
                leave(metadata)
        if gpu and not flags and not (enter or leave or self.pre_run_hooks):
            self._teach(program, bound, launch)
        return compiled

    def _compiled(self, program, variant):
        """Returns what stands for a variant, which is an address."""
        if variant not in program.compiled:
            program.compiled[variant] = CompiledKernel(self, program.kernel, variant)
        return program.compiled[variant]

    def _launch_metadata(self, compiled, shape, bound):
        data = {"name": compiled.name, "function": compiled.function, "stream": None}
        metadata = LazyDict(data)
        if self.launch_metadata is not None:
            grid = (*shape, 1, 1)[:3]
            metadata.add(lambda: self.launch_metadata(grid, compiled.metadata, bound))
        return metadata

    def _report_new(self, compiled, bound, is_warmup):
        """Calls the hooks for a variant that was just compiled. Returns whether one says that it must not launch."""
        for hook in (knobs.runtime.jit_cache_hook, knobs.runtime.jit_post_compile_hook):
            if not hook:
                continue
            name = compiled.name
            said = hook(key=compiled.hash, repr=name,
                        fn=SimpleNamespace(module=self.module, name=name, jit_function=self),
                        compile={"key": compiled.hash, "signature": compiled.signature,
                                 "device": compiled.device.ordinal, "constants": compiled.constants,
                                 "num_warps": compiled.metadata.num_warps, "num_ctas": compiled.metadata.num_ctas,
                                 "num_stages": compiled.metadata.num_stages, "extern_libs": None, "configs": []},
                        is_manual_warmup=is_warmup, already_compiled=False)
            if said and hook is knobs.runtime.jit_cache_hook:
                return True
        return False

    # ---- the quick way

    def _teach(self, program, bound, launch):
        """Lets the launcher in C do the next launch like this one."""
        quick = self._quick
        if quick is None or quick.program is not program:
            quick = self._quick = _Quick(self, program)
        quick.learn(bound)


class _Quick:
    """The launcher in C of a program on a gpu."""

    def __init__(self, function, program):
        self.program, self.gatherer, self.device = program, program.gatherer, program.kernel.device
        self._function = function
        self._launcher = program.kernel.launcher(self._slow, lambda variant: function._compiled(program, variant))
        self.launch = self._launcher.launch

    def _slow(self, grid, *args, **kwargs):
        return self._function.run(*args, grid=grid, warmup=False, **kwargs)

    def is_for_now(self):
        """Whether nothing but the launch itself is wanted, on the launcher's device."""
        return knobs.runtime.launches_alone() and _current_ordinal() == self.device.ordinal

    def learn(self, bound):
        texts = []
        for p in self._function.params:
            value = bound[p.name]
            if p.is_constexpr and not isinstance(value, (bool, int, float, str, type(None))):
                texts.append((value, self.gatherer.expression(core._unwrap_if_constexpr(value))))
        self._launcher.learn((), {n: v for n, v in bound.items() if not any(v is value for value, _ in texts)}, texts)


def _current_ordinal():
    torch = sys.modules.get("torch")
    return torch._C._cuda_getDevice() if torch else 0


def _by_name(module, name):
    """Finds a kernel again when it is unpickled."""
    import importlib
    value = importlib.import_module(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value


def _add_roots(value, roots):
    """Adds the objects in a value that the text must have a name for."""
    value = core._unwrap_if_constexpr(value)
    value = getattr(value, "_tile_function", value)
    if isinstance(value, (tuple, list)):
        if hasattr(value, "_fields"):
            _add_root(type(value), roots)
        for item in value:
            _add_roots(item, roots)
    elif hasattr(value, "_tile_source") or isinstance(value, type) or \
            callable(value) and hasattr(value, "__code__"):
        _add_root(value, roots)
    elif isinstance(value, enum.Enum):
        _add_root(type(value), roots)


def _add_root(value, roots):
    if not any(value is root for root in roots):
        roots.append(value)


def _argument(value, is_constexpr, gatherer):
    """Returns what tilec takes for a value."""
    is_constant = is_constexpr or isinstance(value, core.constexpr)
    value = core._unwrap_if_constexpr(value)
    if value is None or type(value) in (bool, int, float):
        return tilec.constexpr(value) if is_constant and not is_constexpr else value
    if hasattr(value, "as_desc"):
        return value.as_desc()
    if isinstance(value, MockTensor):
        return tilec.ptr(16, str(value.dtype).rpartition(".")[2])
    if hasattr(value, "data_ptr"):
        return value
    if isinstance(value, core.tuple):
        value = tuple(value.values)
    if isinstance(value, (tuple, list)) and not is_constant:
        items = [_argument(item, False, gatherer) for item in value]
        if hasattr(value, "_fields"):
            import collections
            return collections.namedtuple(gatherer.name_of(type(value)), value._fields)(*items)
        return tuple(items)
    if not is_constant and (hasattr(value, "__index__") or hasattr(value, "__float__")):
        return value
    return tilec.expression(gatherer.expression(value))


def _shape(grid, meta):
    shape = grid(meta) if callable(grid) else (1,) if grid is None else grid
    shape = shape if isinstance(shape, (tuple, list)) else (shape,)
    return [int(core._unwrap_if_constexpr(n)) for n in shape]


def _tell(level, text):
    """Shows what kernels print while they are compiled. Triton has no warnings: the program may be another's."""
    if level == "note":
        print(text, flush=True)


def _translated(e):
    """Returns the exception that programs expect for one of tilec's."""
    if isinstance(e, tilec.OutOfResources):
        return OutOfResources(e.needed, e.limit, e.resource)
    if e.kind == "program":
        text = str(e)
        kind = CompileTimeAssertionFailure if "static_assert" in text else CompilationError
        return kind(None, None, text)
    return e


def jit(fn=None, *, version=None, repr=None, launch_metadata=None, do_not_specialize=None,
        do_not_specialize_on_alignment=None, debug=None, noinline=None):
    def decorate(f):
        if isinstance(f, JITFunction):
            raise TypeError("@triton.jit is on a function that has it already")
        return JITFunction(f, version, do_not_specialize, do_not_specialize_on_alignment, debug, noinline, repr,
                           launch_metadata)
    return decorate(fn) if fn is not None else decorate


core.import_from("triton", constexpr_function, jit)
JITCallable = JITFunction
