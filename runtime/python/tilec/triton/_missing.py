"""What is said of names that Triton's modules, classes and functions do not have here: most are of other releases."""
import difflib
import functools
import inspect
import pkgutil
import sys

_LIST = "docs/triton-programs.md lists what is there"
_LIBDEVICE = "it is in triton.language.extra.libdevice, which kernels may import"
_TIMED = "write do_bench(fn, quantiles=[0.5, 0.2, 0.8])"
_OLD_OPTIONS = ("enable_warp_specialization", "num_buffers_warp_spec", "num_consumer_groups", "reg_dec_producer",
                "reg_inc_consumer")
_PARTITIONS = "it was an option of Triton 3.2 and 3.3: write tl.range(…, warp_specialize=True)"
_DEVICE = "triton.runtime.driver.active has get_current_device(), get_current_stream(device) and get_current_target()"
_DESCRIPTOR = "descriptors are triton.tools.tensor_descriptor.TensorDescriptor, or tl.make_tensor_descriptor in a kernel"
_COMPILED = "what a launch returns is the compiled kernel, c = kernel[grid](…), and has c.{0}"
RETURNED = ("a launch returns the compiled kernel, no tensor: what the kernel computes is in the tensors that it "
             "stores to")
_STAGES = "tilec has no IR or passes of Triton's: kernel[grid](…).asm has ptx, cubin and sass"

# Module → name → what to write. "*": any name that is not there. Released Tritons from 1.1 to 3.7 have had them.
_NOW = {
    "triton": {
        "Function": "write torch.autograd.Function",
        "code_gen": "JITFunction, Config and autotune are names of triton itself",
        "cudalibs": "triton.cudalibs was removed: tl.extra.libdevice has its functions",
        "impl": "it was internal to Triton 2.0",
        "kernel": "the decorator of a kernel is @triton.jit",
        "ops": "triton.ops was removed in Triton 3.0: its kernels are in the tutorials and in packages such as "
               "triton_kernels",
    },
    "triton.testing": {
        "allclose": "write torch.allclose(x, y)",
        "assert_allclose": "write triton.testing.assert_close(x, y)",
        "assert_almost_equal": "write triton.testing.assert_close(x, y)",
        "catch_oor": "catch triton.runtime.errors.OutOfResources",
        "cuda_memcheck": "run the program with TILE_DEVICE=sim, which checks memory and races",
        "OutOfResources": "it is triton.runtime.errors.OutOfResources",
        "set_gpu_clock": "set the clocks with nvidia-smi",
    },
    "triton.language": {
        "const_pointer_type": "write tl.pointer_type(element, const=True)",
        "float8": "write tl.float8e5 or tl.float8e4nv",
        "float8e4": "write tl.float8e4nv",
        "nv_tma_desc_type": _DESCRIPTOR,
        "printf": "write tl.device_print(\"text\", x)",
    },
    "triton.language.math": {"*": _LIBDEVICE},
    "triton.runtime.jit": dict.fromkeys(
        ("get_cuda_stream", "get_current_device", "set_current_device", "get_device_capability"), _DEVICE),
    "triton.runtime.driver": {"*": _DEVICE},
    "triton.compiler": {"OutOfResources": "it is triton.runtime.errors.OutOfResources", "*": _STAGES},
    "triton.compiler.compiler": {
        "AttrsDescriptor": "ASTSource takes attrs, such as {(0,): [[\"tt.divisibility\", 16]]}",
        "*": _STAGES,
    },
}
_MODULES = {
    "triton.common.backend": _DEVICE,
    "triton.compiler.backends": "it is triton.backends",
    "triton.compiler.code_generator": _STAGES,
    "triton.interpreter": "TRITON_INTERPRET=1 runs kernels on the interpreter",
    "triton.language.extra.hip": "tilec compiles for NVIDIA's GPUs; libdevice is in triton.language.extra",
    "triton.language.semantic": "tilec's compiler is no Python: kernels call the functions of triton.language",
    "triton.language.extern": _LIBDEVICE,
    "triton.tools.experimental_descriptor": _DESCRIPTOR,
    "triton.utils": "TensorWrapper, MockTensor and reinterpret are names of triton itself",
}
_MEMBERS = {
    "JITFunction": {
        "cache": "what a launch returns is the compiled kernel, c = kernel[grid](…) with c.asm[\"ptx\"], and "
                 "kernel.device_caches has all variants",
        "hash": "it is cache_key",
        **{name: _COMPILED.format(shown) for name, shown in (
            ("asm", "asm[\"ptx\"]"), ("metadata", "metadata"), ("n_regs", "n_regs"), ("n_spills", "n_spills"),
            ("n_max_threads", "n_max_threads"), ("function", "function"), ("packed_metadata", "packed_metadata"),
            ("shared", "metadata.shared"), ("num_warps", "metadata.num_warps"), ("num_ctas", "metadata.num_ctas"),
            ("num_stages", "metadata.num_stages"), ("name", "name"), ("ptx", "asm[\"ptx\"]"),
            ("cubin", "asm[\"cubin\"]"), ("sass", "asm[\"sass\"]"), ("registers", "n_regs"), ("spills", "n_spills"))},
        **dict.fromkeys(("best_config", "configs", "configs_timings"), "a kernel with @triton.autotune has it"),
        "launch": "write kernel[grid](…)",
    },
    "TensorDescriptor": {
        **{name: f"write descriptor.base.{shown}" for name, shown in (
            ("dtype", "dtype"), ("data_ptr", "data_ptr()"), ("device", "device"), ("stride", "stride()"),
            ("size", "size()"))},
        **dict.fromkeys(("load", "store", "gather", "scatter"), "kernels load and store its blocks: pass it to one"),
    },
    "LazyDict": {"*": "get() returns the dict: metadata.get()['name'], for example"},
    "CudaUtils": {
        **dict.fromkeys(("fill_1d_tma_descriptor", "fill_2d_tma_descriptor", "fill_tma_descriptor",
                         "fill_tma_descriptor_tiled", "cuTensorMapEncodeTiled"), _DESCRIPTOR),
        "load_binary": "libtile loads kernels itself: what a launch returns is the loaded kernel",
    },
    "CompiledKernel": {
        **dict.fromkeys(("c_wrapper", "kernel"), "launch it with compiled[grid](…), or kernel[grid](…)"),
        **dict.fromkeys(("num_warps", "num_stages", "num_ctas"), "compiled.metadata has it"),
        "cu_function": "it is function",
        "launch": "launch it with compiled[grid](…), or kernel[grid](…)",
        **{name: f"write compiled.asm[\"{name}\"]" for name in ("ptx", "cubin", "sass")},
        **dict.fromkeys(("registers", "num_regs"), "it is n_regs"),
        **dict.fromkeys(("shape", "dtype", "item", "sum", "mean", "max", "cpu", "cuda", "numpy", "to", "tolist", "view",
                         "reshape", "float", "half", "detach", "backward", "data_ptr"), RETURNED),
        "get_sass": "write compiled.asm[\"sass\"]",
    },
}
# Options of other backends, which mean nothing on an NVIDIA GPU.
_OF_OTHERS = {
    "Intel's backend": """threads_per_warp grf_mode one_matrix_per_load_for_bt split_barriers_scope advanced_path
        generate_native_code build_flags inject_split_barriers use_prefetch_block enable_tile_load_linear_layout""",
    "AMD's backend": """waves_per_eu matrix_instr_nonkdim kpack schedule_hint instruction_sched_variant num_ldmatrixes
        buffer_ops_assume_positive_offset use_buffer_ops sched_variant waves_per_simd waves_per_cu""",
}
_OTHERS = {name: f"it is an option of {of}, and kernels run on NVIDIA's GPUs here: leave it out"
           for of, names in _OF_OTHERS.items() for name in names.split()}
_PARAMETERS = {
    "do_bench": {"percentiles": _TIMED, "fast_flush": "the cache is always flushed: leave it out",
                 **dict.fromkeys(("iters", "n_iter", "num_iters", "repeat"), "rep is how long it measures, in ms"),
                 "device_type": "the current GPU is used: leave it out"},
    "Benchmark": {"color": "styles=[(color, line style), …] has it"},
    "Config": {"meta": "the constants come first, Config({\"BLOCK\": 128}, num_warps=4)",
               **dict.fromkeys(("cache_results", "key", "prune_configs_by", "reset_to_zero", "restore_value",
                                "use_cuda_graph"), "it is a parameter of triton.autotune"),
               **dict.fromkeys(_OLD_OPTIONS, _PARTITIONS), **_OTHERS},
    "jit": {"interpret": "TRITON_INTERPRET=1 runs kernels on the interpreter",
            **dict.fromkeys(("num_warps", "num_stages", "num_ctas", "maxnreg"),
                            "it is an option of the launch, kernel[grid](…, num_warps=8), or of a triton.Config")},
    "launch": {**dict.fromkeys(("grid", "warmup"), "the grid stands in the brackets, kernel[grid](…); without a launch "
                               "kernel.warmup(…, grid=grid) compiles"),
               **dict.fromkeys(("num_threads", "threads"), "num_warps is the number of threads of a program "
                               "divided by 32"),
               **dict.fromkeys(("block", "block_dim", "blocks", "threads_per_block"), "a program works on a whole tile, "
                               "and num_warps is the number of its threads divided by 32; the grid stands in the "
                               "brackets"),
               **dict.fromkeys(("shared", "shared_mem", "shared_memory", "smem"), "the compiler knows how much shared "
                               "memory the kernel needs"),
               **dict.fromkeys(_OLD_OPTIONS, _PARTITIONS), **_OTHERS},
    "compile": {name: "write triton.compile(ASTSource(fn, signature, constexprs))"
                for name in ("fn", "signature", "constants", "device", "num_warps", "num_stages")},
    "ASTSource": {"constants": "it is called constexprs"},
    "autotune": {"use_cache": "it is called cache_results"},
}


def parameter_hint(function, name):
    """Returns what to write for an argument of another name or place than a function has; None if nothing is known."""
    return _PARAMETERS[function].get(name)


def close_name(name, names):
    near = difflib.get_close_matches(name, names, 1, 0.75)
    parts = [known for known in names if len(known) > 3 and (name.startswith(known + "_") or name.endswith("_" + known))]
    near = near or sorted(parts, key=len)[-1:]
    return f"did you mean {near[0]!r}?" if near else None


class _NoAttribute(AttributeError):
    """The text of it takes a search, which hasattr does not want: it is made when somebody reads it."""

    def __init__(self, name, text):
        super().__init__()
        self._text = text
        if sys.version_info >= (3, 10):
            self.name, self.obj = name, object()   # or Python adds a guess of its own

    def __str__(self):
        return self._text()

    def __repr__(self):
        return f"AttributeError({str(self)!r})"


_NoAttribute.__module__, _NoAttribute.__name__, _NoAttribute.__qualname__ = "builtins", "AttributeError", "AttributeError"


def no_attribute(module, name, names=None):
    """Returns the exception for a name that a module does not have. names: those it has, if it cannot list them."""
    now = _NOW.get(module, {})

    def hint():
        known = names or [known for known in vars(sys.modules[module]) if not known.startswith("_")]
        return None if name.startswith("_") else now.get(name) or close_name(name, known) or now.get("*") or _LIST

    def text():
        found = hint()
        return f"module '{module}' has no attribute '{name}'" + (f": {found}" if found else "")

    if _is_imported() and hint():   # Python says that it cannot import it, and nothing else
        return ImportError(text(), name=module)
    return _NoAttribute(name, text)


def _is_imported():
    """Returns whether `from module import name` asks the function __getattr__ of the module that calls this."""
    import opcode
    frame = sys._getframe(2)
    while frame.f_code.co_name == "__getattr__":
        frame = frame.f_back
    code = frame.f_code.co_code
    return 0 <= frame.f_lasti < len(code) and opcode.opname[code[frame.f_lasti]] == "IMPORT_FROM"


def no_module(name):
    """Returns the text for a module that is not there."""
    parent, _, last = name.rpartition(".")
    known, hint = name, None
    while known and not hint:
        hint = _MODULES.get(known) or _NOW.get(known.rpartition(".")[0], {}).get(known.rpartition(".")[2])
        known = known.rpartition(".")[0]
    path = getattr(sys.modules.get(parent), "__path__", ())
    names = [module.name for module in pkgutil.iter_modules(path) if not module.name.startswith("_")]
    near = [n for n in names if len(last) > 2 and n.startswith(last)] or difflib.get_close_matches(last, names, 1, 0.7)
    hint = hint or (f"did you mean {parent}.{near[0]}?" if near else None)
    return f"tilec.triton has no module '{name}'" + (
        f": {hint}" if hint else f" ({parent} of Triton 3.6 may have '{last}'; {_LIST})")


class Explains:
    """A class whose objects say what they have if they are asked for something else."""

    def __getattr__(self, name):
        kind = type(self).__name__
        names = [known for known in (*vars(type(self)), *vars(self)) if not known.startswith("_")]
        known = _MEMBERS.get(kind, {})
        own = getattr(type(self), name, None)
        if hasattr(own, "__get__"):   # a property whose code lacks an attribute
            return own.__get__(self, type(self))
        hint = known.get(name) or known.get("*") or close_name(name, names) or f"it has {', '.join(names)}"
        e = AttributeError(f"{kind!r} object has no attribute {name!r}" + ("" if name.startswith("_") else f": {hint}"))
        if sys.version_info >= (3, 10):
            e.name, e.obj = name, object()
        raise e


class _Gone:
    """An attribute that is said to be elsewhere."""

    def __init__(self, kind, name, hint):
        self.text = f"{kind!r} object has no attribute {name!r}: {hint}"

    def __get__(self, obj, kind=None):
        raise AttributeError(self.text)


def says_what_is_gone(kind):
    """Decorates a class whose objects have had other attributes."""
    for name, hint in _MEMBERS[kind.__name__].items():
        setattr(kind, name, _Gone(kind.__name__, name, hint))
    return kind


def explains_calls(of):
    """Decorates a function or a class: a call that it does not take says what it takes."""
    function = of.__init__ if isinstance(of, type) else of

    @functools.wraps(function)
    def call(*args, **kwargs):
        try:
            return function(*args, **kwargs)
        except TypeError as e:
            if e.__traceback__.tb_next is not None:   # of the function's own code
                raise
            text = f"{e}: {_taken_by(of.__name__, function, kwargs)}"
        raise TypeError(text)

    if isinstance(of, type):
        of.__init__ = call
        return of
    return call


def _taken_by(name, function, kwargs):
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
    names = [p.name for p in parameters]
    for given in kwargs:
        if given not in names:
            near = close_name(given, [known for known in names if known not in kwargs])
            hint = _PARAMETERS.get(name, {}).get(given) or near
            if hint:
                return hint
    shown = ", ".join(p.name if p.default is p.empty else f"{p.name}={p.default!r}" for p in parameters)
    return f"it takes {name}({shown})"
