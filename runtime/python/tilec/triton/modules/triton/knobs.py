"""Triton's settings. tilec obeys those of `runtime` (hooks, debug, interpret), `autotuning.print` and
`language.default_fp_fusion`; the others keep what a program sets."""
import contextlib
import os


class base_knobs:
    """A group of settings; one that is not known reads None."""

    knob_descriptors = {}

    def __init__(self, **values):
        self.__dict__["_defaults"] = values
        self.__dict__.update(values)

    def copy(self):
        other = type(self)(**self._defaults)
        other.__dict__.update(self.__dict__)
        return other

    def reset(self):
        values = self._defaults
        self.__dict__.clear()
        self.__init__(**values)
        return self

    @contextlib.contextmanager
    def scope(self):
        before = dict(self.__dict__)
        try:
            yield self
        finally:
            self.__dict__.clear()
            self.__dict__.update(before)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class HookChain:
    """Functions that are called one after the other."""

    def __init__(self):
        self.calls = []

    def add(self, function):
        if function not in self.calls:
            self.calls.append(function)

    def remove(self, function):
        if function in self.calls:
            self.calls.remove(function)

    def __bool__(self):
        return bool(self.calls)

    def __call__(self, *args, **kwargs):
        for function in self.calls:
            function(*args, **kwargs)


def _is_on(name):
    return os.environ.get(name, "").lower() in ("1", "true", "on", "yes", "y")


class _Runtime(base_knobs):
    # From the environment at each access, as programs set it while they run. A kernel asks for `interpret` when it is
    # defined and for `debug` when it is not launched by C, as reading the environment takes longer than a launch.
    interpret = property(lambda self: self.__dict__.get("_interpret", _is_on("TRITON_INTERPRET")),
                         lambda self, on: self.__dict__.__setitem__("_interpret", bool(on)))
    debug = property(lambda self: self.__dict__.get("_debug", _is_on("TRITON_DEBUG")),
                     lambda self, on: self.__dict__.__setitem__("_debug", bool(on)))


    def launches_alone(self):
        """Whether nothing that was set is to happen at launches."""
        values = self.__dict__
        return not (values["launch_enter_hook"] or values["launch_exit_hook"] or values.get("_debug")
                    or values.get("_interpret"))


class _Tool:
    """A program of Triton's wheel; tilec finds its own assembler."""

    path, version = "ptxas", "12.8"


runtime = _Runtime(launch_enter_hook=HookChain(), launch_exit_hook=HookChain(), kernel_load_start_hook=HookChain(),
                   kernel_load_end_hook=HookChain(), jit_cache_hook=None, jit_post_compile_hook=None,
                   override_arch=None)
compilation = base_knobs(always_compile=False, disable_line_info=False, front_end_debugging=False,
                         instrumentation_mode="", listener=None, store_binary_only=False)
nvidia = base_knobs(ptxas=_Tool(), nvdisasm=_Tool(), cuobjdump=_Tool())
autotuning = base_knobs(cache=False, print=_is_on("TRITON_PRINT_AUTOTUNING"))
language = base_knobs(fp32_default=None, default_fp_fusion=not os.environ.get("TRITON_DEFAULT_FP_FUSION") == "0")
cache = base_knobs(dir=os.environ.get("TRITON_CACHE_DIR"))
build, redis, amd, proton = base_knobs(), base_knobs(), base_knobs(), base_knobs()
propagate_env = True
