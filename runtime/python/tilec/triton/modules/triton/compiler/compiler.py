"""What programs ask of a compiled kernel."""
import collections
import contextlib
import ctypes
import hashlib
import json
import re
from ctypes import byref, c_size_t, c_void_p

import tilec
from tilec._compile import EMIT, archs, compile_text
from tilec._device import check
from tilec._launcher import stream_function
from tilec._library import Resources, lib
from tilec.triton._missing import RETURNED, Explains, explains_calls, no_attribute

from .._source import Gatherer
from ..backends.compiler import GPUTarget   # noqa: F401

_PTX, _METADATA, _CUBIN, _SASS = 32, 64, 128, 2048   # of TILE_EMIT_…


class LazyDict(Explains):
    """A dict of which parts are made when somebody asks."""

    def __init__(self, data):
        self.data, self.extras = data, []

    def get(self):
        for make in self.extras:
            self.data = {**self.data, **(make() or {})}
        self.extras.clear()
        return self.data

    def add(self, make, args=()):
        self.extras.append(lambda: make(*args))


class IRSource:
    """Triton's IR as a source; tilec does not read it."""

    def __init__(self, *args, **kwargs):
        raise NotImplementedError("tilec does not read Triton's IR: give triton.compile an ASTSource")


@explains_calls
class ASTSource:
    """A kernel with the types and constants of one variant."""

    def __init__(self, fn, signature, constexprs=None, attrs=None):
        if not hasattr(fn, "arg_names"):
            raise TypeError(f"fn of ASTSource is a kernel with @triton.jit, not {fn!r}")
        kinds = signature.values() if isinstance(signature, collections.abc.Mapping) else [None]
        wrong = [kind for kind in kinds if not isinstance(kind, (str, tuple))]
        if wrong:
            shown = "{" + ", ".join(f"{name!r}: '*fp32'" for name in fn.arg_names[:1]) + ", …}"
            raise TypeError(f"signature of ASTSource is a dict of texts by parameter, {shown}, not "
                            f"{signature if wrong == [None] else wrong[0]!r}")
        self.fn, self.ext, self.name = fn, "ttir", fn.__name__
        self.signature, self.attrs = dict(signature), attrs or {}
        self.constants = {k if isinstance(k, str) else fn.arg_names[k[0] if isinstance(k, tuple) else k]: v
                          for k, v in (constexprs or {}).items()}
        self.constexprs = self.constants

    def is_aligned(self, name):
        """Whether attrs say of the parameter that it is a multiple of 16."""
        index = self.fn.arg_names.index(name)
        given = [attrs for key, attrs in self.attrs.items() if key in (name, index, (index,))]
        return any(["tt.divisibility", 16] in [list(a) for a in attrs] for attrs in given)


class _Backend:
    """Triton's backend object, as far as programs ask it."""

    def __init__(self, target):
        self.target, self.binary_ext = target, "cubin"

    @staticmethod
    def supports_target(target):
        return target.backend == "cuda"

    def hash(self):
        return f"tilec-{tilec.__version__}-{self.target}"

    def parse_options(self, options):
        from types import SimpleNamespace
        return SimpleNamespace(**{"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None, "debug": False,
                                  "enable_fp_fusion": True, "arch": None, **options})

    def get_module_map(self):
        return {}


def make_backend(target):
    return _Backend(target)


def __getattr__(name):
    from .. import runtime   # which asks for this module
    if name == "driver":
        return runtime.driver
    if name in ("get_cache_manager", "triton_key"):
        return getattr(runtime.cache, name)
    raise no_attribute(__name__, name)


class _MockDescriptor:
    """Stands for a descriptor where nothing is launched: of a signature's `tensordesc<fp16[64,64]>`, of Gluon's with a
    layout after it."""

    def __init__(self, text):
        parts = re.fullmatch(r"tensordesc<(\w+)\[([\d, ]+)\](?:, *(.*))?>", text)
        if not parts:
            raise ValueError(f"{text} is no descriptor: tensordesc<fp16[64,64]>")
        self._parts = parts.groups()

    def as_desc(self):
        from ..experimental.gluon.language import _layouts
        dtype, block, layout = self._parts
        block = [int(n) for n in block.split(",")]
        return tilec.desc(tilec.ptr(16, dtype), block, shape=block, layout=layout and eval(layout, vars(_layouts)))


@explains_calls
def compile(src, target=None, options=None, _env_vars=None):
    """Compiles an ASTSource, and launches nothing. target: a GPUTarget, by default the current device's."""
    from ..language import str_to_ty
    from ..runtime.driver import current_device
    from ..runtime.jit import MockTensor
    if not isinstance(src, (ASTSource, str)):
        raise TypeError("triton.compile takes an ASTSource(fn, signature, constexprs), not a "
                        f"{type(src).__name__}; a launch, kernel[grid](…), compiles by itself")
    if target is not None and not (hasattr(target, "backend") and hasattr(target, "arch")):
        raise TypeError("target of triton.compile is a triton.backends.compiler.GPUTarget('cuda', 90, 32), not "
                        f"{target!r}")
    if isinstance(options, str):
        raise TypeError(f"options of triton.compile is a dict, {{'num_warps': 4}}, not {options!r}")
    if isinstance(src, str):
        raise NotImplementedError("tilec compiles an ASTSource, not a file of Triton's IR")
    fn, values = src.fn, {}
    here = current_device().arch   # None on the interpreter
    if here and target and target.backend != "cpu" and arch_of(target) != here:   # cpu: torch.compile without a GPU
        return CompiledElsewhere(src, arch_of(target), target, options or {})
    for name, text in src.signature.items():
        name = name if isinstance(name, str) else fn.arg_names[name]
        if name in src.constants or text == "constexpr":
            values[name] = src.constants.get(name)
        elif text.startswith("*"):
            element = str_to_ty(text).element_ty
            values[name] = MockTensor(element, address=16 if src.is_aligned(name) else element.primitive_bitwidth // 8)
        elif text.startswith("tensordesc<"):
            values[name] = _MockDescriptor(text)
        elif text.startswith(("fp", "bf")):
            values[name] = 1.5
        else:
            number = 16 if src.is_aligned(name) else 3
            values[name] = True if text in ("u1", "i1") else (1 << 40) + number if text.endswith("64") else number
    values.update((name, value) for name, value in src.constants.items() if name not in values)
    options = {name: value for name, value in (options or {}).items() if name not in values}
    compiled = fn.run(grid=(1,), warmup=True, **values, **options)
    return compiled.bound_to(src, options)


def arch_of(target):
    """Returns tilec's name of a GPUTarget: "sm_90a" of 90."""
    name, known = f"sm_{target.arch}", archs()
    if target.backend != "cuda" or name not in known and name + "a" not in known:
        raise ValueError(f"{target}: tilec compiles for cuda and {', '.join(a[3:] for a in known)}")
    return name + "a" if name + "a" in known else name


def _metadata(values):
    """Returns a named tuple that says what it has."""
    class KernelMetadata(collections.namedtuple("KernelMetadata", sorted(values))):

        def __getitem__(self, i):
            if isinstance(i, str):
                raise TypeError(f"the metadata of a kernel are attributes: write metadata.{i}")
            return super().__getitem__(i)

        def __getattr__(self, name):
            raise AttributeError(f"'KernelMetadata' object has no attribute {name!r}: it has {', '.join(self._fields)}")
    return KernelMetadata(**values)


class CompiledElsewhere:
    """A kernel for another GPU than the current device's: there is code to look at, and nothing to launch."""

    def __init__(self, src, arch, target, options):
        gatherer, fn = Gatherer(), src.fn
        kernel = gatherer.name_of(fn)
        parts = []
        for i, name in enumerate(fn.arg_names):
            kind = src.signature.get(name, src.signature.get(i, "constexpr"))
            if name in src.constants or kind == "constexpr":
                parts.append(gatherer.expression(src.constants.get(name)))
            else:
                parts.append(kind + (":16" if src.is_aligned(name) else ""))
        self._source = dict(name=fn._fn_name, text=gatherer.text(), kernel=kernel, signature=", ".join(parts),
                            arch=arch, source_map=gatherer.ranges(), num_warps=options.get("num_warps", 4),
                            num_stages=options.get("num_stages", 0))
        self.src, self.name, self.asm = src, fn.__name__, _Asm(self)
        data = json.loads(self.output(_METADATA))["kernels"][0]
        values = dict(name=fn.__name__, target=target, num_warps=data["threads"] // 32, num_stages=data["num_stages"],
                      num_ctas=data["cluster"], shared=data["shared_bytes"], maxnreg=data["maxnreg"], warp_size=32,
                      global_scratch_size=data["scratch_bytes"], profile_scratch_size=0)
        self.metadata = _metadata(values)

    def output(self, emit):
        from ..runtime.jit import translated
        kind = next((name for name, bit in EMIT.items() if bit == emit), None)
        if kind is None:
            raise KeyError(f"a kernel for {self._source['arch']} is here for its {', '.join(EMIT)}")
        try:
            return compile_text(emit=(kind,), **self._source)[kind]
        except tilec.Error as e:
            raise translated(e) from None

    def __getitem__(self, grid):
        raise RuntimeError(f"{self.name} was compiled for {self._source['arch']}, which the current device is not")


class _Asm(dict):
    """The texts of a kernel, made when they are asked for."""

    _KINDS = {"ptx": _PTX, "cubin": _CUBIN, "sass": _SASS}

    def __init__(self, kernel):
        super().__init__()
        self._kernel = kernel

    def __getattr__(self, name):
        hint = f": write asm[{name!r}]" if name in self._KINDS else ""
        raise AttributeError(f"asm is a dict of texts and has no attribute {name!r}{hint}")

    def __missing__(self, kind):
        if kind not in self._KINDS:
            raise KeyError(f"{kind}: tilec has {', '.join(self._KINDS)}; Triton's own IR does not exist here")
        data = self._kernel.output(self._KINDS[kind])
        self[kind] = data if kind == "cubin" else data.decode()
        return self[kind]

    def get(self, kind, default=None):
        return self[kind] if kind in self._KINDS else default

    def keys(self):
        return self._KINDS.keys()

    def __iter__(self):
        return iter(self._KINDS)

    def __contains__(self, kind):
        return kind in self._KINDS


class CompiledKernel(Explains):
    """A variant of a kernel: what a launch returns."""

    launch_enter_hook = launch_exit_hook = None

    def __init__(self, function, kernel, variant, launch):
        self._function, self._kernel, self._variant, self._launch = function, kernel, variant, launch
        self.src, self.module, self.metadata_group = function, None, {}
        self._bound = None
        self.asm = _Asm(self)
        self._resources = self._metadata = self._known_kernel = self._name = None
        self._launcher = self._runner = self._taught = None

    def __repr__(self):
        return f"<CompiledKernel {self.name} of tilec: {self.signature}>"

    @property
    def device(self):
        return self._kernel.device

    @property
    def name(self):
        function = self._function
        if self._name is None and function.names_variants:
            specialization = collections.namedtuple("SpecializationProxy", ["constants", "signature"])
            self._name = function.repr(specialization(self.constants, self.types))
        return self._name or function.__name__

    @property
    def constants(self):
        return dict(self._kernel.meta(c_void_p(self._variant)))

    @property
    def types(self):
        """The types of the parameters, as signatures have them."""
        found = {p["name"]: p["type"] for p in self._kernel_data().get("params", ())}
        return {name: found.get(name, "constexpr") for name in self._function.arg_names}

    @property
    def signature(self):
        return ", ".join(f"{name}={value}" for name, value in self.constants.items())

    @property
    def hash(self):
        return hashlib.sha256(f"{self._function.cache_key} {self.signature}".encode()).hexdigest()

    def output(self, emit):
        data, size, e = c_void_p(), c_size_t(), c_void_p()
        check(lib.tile_variant_output(self._variant, emit, byref(data), byref(size), byref(e)), e)
        return ctypes.string_at(data, size.value)

    def _known(self):
        if self._resources is None:
            r, e = Resources(struct_size=ctypes.sizeof(Resources)), c_void_p()
            check(lib.tile_variant_resources(self._variant, byref(r), byref(e)), e)
            self._resources = r
        return self._resources

    n_regs = property(lambda self: self._known().registers)
    n_spills = property(lambda self: self._known().spill_bytes // 4)
    n_max_threads = property(lambda self: 65536 // max(self._known().registers, 64))
    shared = property(lambda self: self._known().shared_bytes)
    function = property(lambda self: lib.tile_kernel_function(lib.tile_variant_kernel(self._variant)))

    def _kernel_data(self):
        if self._known_kernel is None:
            data = json.loads(self.output(_METADATA))
            self._known_kernel = data["kernels"][0] if "kernels" in data else data
        return self._known_kernel

    @property
    def metadata(self):
        if self._metadata is None:
            kernel = lib.tile_variant_kernel(self._variant)
            # The compiler's metadata compile it once more; only a variant that the launcher in C made needs them.
            launch = self._kernel_data() if self._launch is None else self._launch
            warps = lib.tile_kernel_num_threads(kernel) // 32   # those of all partitions
            ctas = lib.tile_kernel_num_ctas(kernel)
            values = dict(
                num_warps=warps, num_stages=launch.get("num_stages") or 3, num_ctas=ctas,
                maxnreg=launch.get("maxnreg"), shared=self.shared, name=self.name, target=_target_of(self.device),
                cluster_dims=(ctas, 1, 1), warp_size=32, enable_fp_fusion=True, launch_pdl=False,
                launch_cooperative_grid=False, hash=self.hash, debug=False, ptx_version=None, tmem_size=0,
                global_scratch_size=0, global_scratch_align=1, profile_scratch_size=0, profile_scratch_align=1)
            self._metadata = _metadata(values)
        return self._metadata

    @property
    def packed_metadata(self):
        m = self.metadata
        return m.num_warps, m.num_ctas, m.shared

    def _init_handles(self):
        pass   # libtile has loaded it

    # ---- launches by position, as torch.compile makes them

    def bound_to(self, src, options):
        """Returns the same kernel with the constants of an ASTSource: it is launched with the other arguments."""
        other = CompiledKernel(self._function, self._kernel, self._variant, self._launch)
        other.src, other._bound = src, self._function.needed_options(options)
        return other

    def launch_metadata(self, grid, stream, *args):
        return None

    @property
    def run(self):
        """Launches by position: run(grid0, grid1, grid2, stream, function, packed_metadata, metadata, enter_hook,
        exit_hook, *args)."""
        if self._runner is None:
            self._runner = self._run
            if self._kernel.is_gpu:
                self._launcher = self._kernel.launcher(self._function.start)
                free = [i for i, name in enumerate(self._function.arg_names) if name in self._free()]
                self._runner, self._taught = (
                    self._launcher.of_variant(self._variant, free, otherwise) for otherwise in (self._teach, self._run))
        return self._runner

    def _constants_of_launches(self):
        return self.src.constants if self._bound is not None else self.constants

    def _free(self):
        """Returns the names of the parameters that a launch by position gives."""
        constants = self._constants_of_launches()
        return [name for name in self._function.arg_names if name not in constants]

    def _given(self, args):
        names, free = self._function.arg_names, self._free()
        if len(args) not in (len(names), len(free)):
            raise TypeError(f"{self.name} takes {len(names)} arguments, or {len(free)} without its constants, "
                            f"got {len(args)}")
        return {name: value for name, value in zip(names if len(args) == len(names) else free, args) if name in free}

    def _teach(self, *args):
        """What run does with objects of types that the launcher in C has not seen."""
        self._launcher.learn((), self._given(args[9:]))
        self._taught(*args)

    def _run(self, grid0, grid1, grid2, stream, function, packed_metadata, metadata, enter_hook, exit_hook, *args):
        """What run does with hooks and with arguments that are wrong."""
        given, constants = self._given(args), self._constants_of_launches()
        with _stream(stream, self.device):
            self._function.go_on((), {"grid": (grid0, grid1, grid2), **constants, **given, **(self._bound or {})})

    def __call__(self, *args, **kwargs):
        raise TypeError(f"a compiled kernel is launched with a grid: compiled[(n, 1, 1)](…), or {self.name}[grid](…)")

    __iter__ = None   # [] takes a grid

    def __getitem__(self, grid):
        if not isinstance(grid, (tuple, list)):
            raise TypeError(f"{self.name} is what a launch returned, the compiled kernel, of which [] takes the grid "
                            f"of another launch, a tuple, not {grid!r}; what the kernel computes is in the tensors "
                            "that it stores to")
        grid = (*grid, 1, 1)[:3]

        def launch(*args, stream=None, **kwargs):
            if kwargs:
                raise TypeError(f"a compiled kernel takes its arguments by position, {', '.join(self._free())}; "
                                f"{', '.join(kwargs)} cannot be given by name")
            return self.run(*grid, stream, None, None, None, None, None, *args)
        return launch


def _refuse_arithmetic():
    """Lets a compiled kernel that is used as the kernel's result say what it is."""
    def refuse(self, other=None):
        raise TypeError(f"{RETURNED} ({self.name})")

    for name in "add sub mul truediv floordiv matmul pow and or".split():
        setattr(CompiledKernel, f"__{name}__", refuse)
        setattr(CompiledKernel, f"__r{name}__", refuse)
    for name in "lt le gt ge neg float int".split():
        setattr(CompiledKernel, f"__{name}__", refuse)


_refuse_arithmetic()


def _stream(stream, device):
    """A context in which PyTorch's current stream is the one at an address; None: it stays the one that it is."""
    stream_of = stream_function() if device.kind == "gpu" else None
    if stream is None or stream_of is None or stream == stream_of(device.ordinal):
        return contextlib.nullcontext()
    from torch import cuda
    return cuda.stream(cuda.ExternalStream(stream, device=device.ordinal))


def _target_of(device):
    from ..backends.compiler import GPUTarget
    p = device.properties()
    return GPUTarget("cuda", (p["compute_major"] or 9) * 10 + p["compute_minor"], 32)
