"""Triton's settings. tilec obeys those of `runtime` (hooks, debug, interpret), `autotuning`, `language`,
`compilation.listener` and `.disable_line_info`; the others keep what a program sets.

A setting reads what the program has set, otherwise what its variable of the environment says at that time.
"""
import contextlib
import dataclasses
import functools
import importlib
import os
import re
import shutil
import subprocess
import sys
import types
import warnings

from tilec.triton._missing import close_name

env = object()         # sets a setting back to the environment: knobs.runtime.debug = knobs.env
propagate_env = True   # whether a setting that a program sets is written into the environment, for its children


class env_base:

    def __init__(self, key, default=None):
        self.key, self.default = key, default

    def __set_name__(self, owner, name):
        self.name = name

    def __get__(self, group, owner=None):
        if group is None:
            return self
        values = vars(group)
        return self.made_of(values[self.name]) if self.name in values else self.get()

    def get(self):
        text = os.environ.get(self.key)
        if text is None:
            return self.default() if callable(self.default) else self.default
        return self.read(text)

    def read(self, text):
        return text

    def made_of(self, value):
        return value

    def __set__(self, group, value):
        if value is env:
            vars(group).pop(self.name, None)
            return
        vars(group)[self.name] = value
        if propagate_env and value is None:
            os.environ.pop(self.key, None)
        elif propagate_env and isinstance(value, (bool, int, str)):
            os.environ[self.key] = str(int(value)) if isinstance(value, bool) else str(value)

    def __delete__(self, group):
        vars(group).pop(self.name, None)


env_str = env_opt_str = env_str_callable_default = env_base


class env_opt_bool(env_base):

    def read(self, text):
        return text.lower() in ("1", "true", "on", "yes", "y")


class env_bool(env_opt_bool):

    def __init__(self, key, default=False):
        super().__init__(key, default)


class env_int(env_base):

    def __init__(self, key, default=0):
        super().__init__(key, default)

    def read(self, text):
        try:
            return int(text)
        except ValueError:
            raise RuntimeError(f"Unable to use {self.key}={text}: expected int") from None


class env_class(env_base):
    """A class as MODULE:CLASS, derived from one whose name is given."""

    def __init__(self, key, base):
        super().__init__(key)
        self.base = base

    def read(self, text):
        module, colon, name = text.partition(":")
        if not colon:
            raise RuntimeError(f"Unable to read {self.key}: '{text}' isn't of the form MODULE:CLASS")
        found = getattr(importlib.import_module(module), name)
        if not any(c.__name__ == self.base for c in found.__mro__):
            raise RuntimeError(f"Unable to use '{text}' from {self.key}: not of type '{self.base}'")
        return found


@dataclasses.dataclass
class NvidiaTool:
    path: str
    version: str

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def from_path(path):
        try:
            text = subprocess.check_output([path, "--version"], stderr=subprocess.STDOUT).decode()
        except (subprocess.CalledProcessError, OSError):
            return None
        version = re.search(r"release (\d+\.\d+)", text)
        return version and NvidiaTool(path, version.group(1))


class env_nvidia_tool(env_base):
    """A program of the CUDA toolkit. Where it is missing it has the version of the toolkit that Triton brings."""

    def __init__(self, program):
        super().__init__(f"TRITON_{program.upper().replace('-', '_')}_PATH",
                         lambda: self.made_of(shutil.which(program) or program))

    def read(self, text):
        return self.made_of(text)

    def made_of(self, path):
        return NvidiaTool.from_path(path) or NvidiaTool(path, "12.8")


class base_knobs:
    """A group of settings; one that is not known reads None."""

    _is_complete = True   # whether it has all settings that Triton's group has

    @property
    def knob_descriptors(self):
        return {name: value for name, value in vars(type(self)).items() if isinstance(value, env_base)}

    @property
    def knobs(self):
        return {name: getattr(self, name) for name in self.knob_descriptors}

    def environment(self):
        """Returns the variables that the group's settings come from."""
        return [setting.key for setting in self.knob_descriptors.values()]

    def copy(self):
        other = type(self)()
        vars(other).update(vars(self))
        return other

    def reset(self):
        for name in self.knob_descriptors:
            vars(self).pop(name, None)
        return self

    @contextlib.contextmanager
    def scope(self):
        values, variables = dict(vars(self)), {key: os.environ.get(key) for key in self.environment()}
        try:
            yield self
        finally:
            vars(self).clear()
            vars(self).update(values)
            for key, text in variables.items():
                if text is None:
                    os.environ.pop(key, None)
                else:
                    os.environ[key] = text

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None

    def __setattr__(self, name, value):
        kind = type(self)
        is_own = sys._getframe(1).f_globals.get("__name__") == "__main__"   # what it imports may be another's
        if is_own and kind._is_complete and not hasattr(kind, name):
            names = [known for known, value in vars(kind).items()
                     if not known.startswith("_") and not isinstance(value, (property, types.FunctionType))]
            near = close_name(name, names)
            warnings.warn(f"triton.knobs.{kind.__name__.partition('_')[0]} has no {name!r}, and nothing reads it: "
                          f"{near or 'it has ' + ', '.join(names)}", stacklevel=2)
        super().__setattr__(name, value)


class HookChain:
    """Functions that are called one after the other."""

    def __init__(self, reversed=False):
        self.calls, self.reversed = [], reversed

    def add(self, function):
        if function not in self.calls:
            self.calls.append(function)

    def remove(self, function):
        if function in self.calls:
            self.calls.remove(function)

    def __bool__(self):
        return bool(self.calls)

    def __call__(self, *args, **kwargs):
        for function in self.calls[::-1] if self.reversed else self.calls[:]:
            function(*args, **kwargs)


@dataclasses.dataclass(frozen=True)
class CompileTimes:
    """How long a compilation took, in microseconds."""
    ir_initialization: int
    lowering_stages: list
    store_results: int

    @property
    def total_lowering(self):
        return sum(time for _, time in self.lowering_stages)

    @property
    def total(self):
        return self.ir_initialization + self.total_lowering + self.store_results


class build_knobs(base_knobs):
    cc = env_opt_str("CC")
    cudacrt_path, cudart_path = env_opt_str("TRITON_CUDACRT_PATH"), env_opt_str("TRITON_CUDART_PATH")
    impl = None

    @property
    def backend_dirs(self):
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class redis_knobs(base_knobs):
    key_format = env_str("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host, port = env_str("TRITON_REDIS_HOST", "localhost"), env_int("TRITON_REDIS_PORT", 6379)


class cache_knobs(base_knobs):
    home_dir = env_str("TRITON_HOME", lambda: os.path.expanduser("~/"))
    dump_dir = env_str("TRITON_DUMP_DIR", lambda: cache.get_triton_dir("dump"))
    override_dir = env_str("TRITON_OVERRIDE_DIR", lambda: cache.get_triton_dir("override"))
    dir = env_str("TRITON_CACHE_DIR", lambda: cache.get_triton_dir("cache"))
    manager_class = env_class("TRITON_CACHE_MANAGER", "CacheManager")
    remote_manager_class = env_class("TRITON_REMOTE_CACHE_BACKEND", "RemoteCacheBackend")

    def get_triton_dir(self, name):
        return os.path.join(self.home_dir, ".triton", name)


class compilation_knobs(base_knobs):
    override, dump_ir = env_bool("TRITON_KERNEL_OVERRIDE"), env_bool("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = env_bool("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    store_binary_only, always_compile = env_bool("TRITON_STORE_BINARY_ONLY"), env_bool("TRITON_ALWAYS_COMPILE")
    use_ir_loc, enable_asan = env_opt_str("USE_IR_LOC"), env_bool("TRITON_ENABLE_ASAN")
    disable_line_info = env_bool("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = env_bool("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = env_bool("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode = env_str("TRITON_INSTRUMENTATION_MODE", "")
    listener = None


class autotuning_knobs(base_knobs):
    cache, print = env_bool("TRITON_CACHE_AUTOTUNING"), env_bool("TRITON_PRINT_AUTOTUNING")


class runtime_knobs(base_knobs):
    # A kernel asks for `interpret` when it is defined and for `debug` when it is not launched by C: reading the
    # environment takes longer than a launch.
    interpret, debug = env_bool("TRITON_INTERPRET"), env_bool("TRITON_DEBUG")
    override_arch = env_opt_str("TRITON_OVERRIDE_ARCH")
    launch_enter_hook, launch_exit_hook = HookChain(), HookChain(reversed=True)
    kernel_load_start_hook, kernel_load_end_hook = HookChain(), HookChain(reversed=True)
    jit_cache_hook = jit_post_compile_hook = add_stages_inspection_hook = None

    def launches_alone(self):
        """Whether nothing that was set is to happen at launches."""
        values = vars(self)
        return not (self.launch_enter_hook or self.launch_exit_hook or values.get("debug") or values.get("interpret"))

    def guards(self):
        """Returns what the launcher in C asks in place of launches_alone, which is true now."""
        values, guards = vars(self), []
        for name in ("launch_enter_hook", "launch_exit_hook", "debug", "interpret"):
            guards.append((values, name, values[name]) if name in values else (values, name))
        for hook in (self.launch_enter_hook, self.launch_exit_hook):
            guards += [(hook.calls,), (vars(hook), "calls", hook.calls)] if isinstance(hook, HookChain) else []
        return guards


class language_knobs(base_knobs):
    fp32_default, default_fp_fusion = env_opt_str("TRITON_F32_DEFAULT"), env_bool("TRITON_DEFAULT_FP_FUSION", True)


class nvidia_knobs(base_knobs):
    ptxas, nvdisasm = env_nvidia_tool("ptxas"), env_nvidia_tool("nvdisasm")
    cuobjdump, ptxas_blackwell = env_nvidia_tool("cuobjdump"), env_nvidia_tool("ptxas-blackwell")
    dump_nvptx, disable_ptxas_opt = env_bool("NVPTX_ENABLE_DUMP"), env_bool("DISABLE_PTXAS_OPT")
    ptxas_options, mock_ptx_version = env_opt_str("PTXAS_OPTIONS"), env_opt_str("TRITON_MOCK_PTX_VERSION")
    dump_ptxas_log = env_bool("TRITON_DUMP_PTXAS_LOG")
    libdevice_path, libcuda_path = env_opt_str("TRITON_LIBDEVICE_PATH"), env_opt_str("TRITON_LIBCUDA_PATH")


class amd_knobs(base_knobs):
    """Settings for other GPUs, which programs may set."""
    _is_complete = False
    use_buffer_ops = env_bool("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = env_bool("AMDGCN_USE_BUFFER_ATOMICS", True)


class proton_knobs(base_knobs):
    _is_complete = False
    disable, enable_nvtx = env_bool("TRITON_PROTON_DISABLE"), env_bool("TRITON_ENABLE_NVTX", True)


build, redis, cache, compilation, autotuning = (
    build_knobs(), redis_knobs(), cache_knobs(), compilation_knobs(), autotuning_knobs())
runtime, language, nvidia, amd, proton = runtime_knobs(), language_knobs(), nvidia_knobs(), amd_knobs(), proton_knobs()


def refresh_knobs():
    """Reads the environment anew: tilec does so at each access."""


_PTX = "kernel[grid](…).asm has ptx, cubin and sass"
_IR = f"tilec has its own IR, which `tilec --print-after=all` shows; {_PTX}"
_SANITIZER = "the simulator checks memory, races and barriers: TILE_DEVICE=sim"
_ASSEMBLER = "the driver assembles; `tilec --emit=cubin --ptx-options=…` asks ptxas"
# Variables that change what Triton shows or compiles, and what does it here.
_WITHOUT_EFFECT = {
    "DISABLE_PTXAS_OPT": _ASSEMBLER, "PTXAS_OPTIONS": _ASSEMBLER,
    "LLVM_IR_ENABLE_DUMP": "`tilec --emit=llvm` shows LLVM's code", "NVPTX_ENABLE_DUMP": _PTX,
    "MLIR_ENABLE_DUMP": _IR, "MLIR_DUMP_PATH": _IR, "TRITON_KERNEL_DUMP": _IR, "TRITON_KERNEL_OVERRIDE": _IR,
    "MLIR_ENABLE_REMARK": "`tilec --remarks` says what the passes did",
    "MLIR_ENABLE_TIMING": "`tilec --time-passes` shows times", "LLVM_ENABLE_TIMING": "`tilec --time-passes` shows times",
    "TRITON_DUMP_PTXAS_LOG": "a compiled kernel has n_regs and n_spills, and `tilec --report` says more",
    "TRITON_ENABLE_ASAN": _SANITIZER, "TRITON_INSTRUMENTATION_MODE": _SANITIZER,
    "TRITON_OVERRIDE_ARCH": "triton.compile takes a GPUTarget",
}


def _warn_of_environment():
    for name, instead in _WITHOUT_EFFECT.items():
        if os.environ.get(name, "0").lower() not in ("", "0", "false", "off", "n", "no"):
            warnings.warn(f"{name} has no effect on tilec.triton: {instead}", stacklevel=2)


_warn_of_environment()
