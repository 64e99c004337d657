"""@triton.autotune and @triton.heuristics: host code that chooses constants before a launch."""
import builtins
import collections.abc
import difflib
import functools
import hashlib
import inspect
import time
import warnings

from tilec._arguments import Named
from tilec._launcher import CHOSEN, TUNED, layer_method
from tilec.triton._missing import explains_calls

from .. import knobs
from ..compiler.errors import CompileTimeAssertionFailure
from ._around import Around
from ._hooks import ByName, call_hook, check_hook, line_of, refusal
from ._fixed_grid import sizes_of_grid
from ._in_place import changed_in_place
from ._repeated import warn_of_tensors
from .cache import get_cache_manager, machine, read_timings, triton_key, write_timings
from .driver import driver, has_cuda
from .errors import AutotunerError, OutOfResources, PTXASError


@explains_calls
class Config:
    """Values of meta-parameters, and options of the launch."""

    def __init__(self, kwargs, num_warps=4, num_stages=3, num_ctas=1, maxnreg=None, pre_hook=None, ir_override=None):
        if not isinstance(kwargs, collections.abc.Mapping):
            raise TypeError(f"the constants of a triton.Config are a dict by parameter, {{'BLOCK': {kwargs!r}}}, not "
                            f"{kwargs!r}")
        self.kwargs, self.num_warps, self.num_stages, self.num_ctas = kwargs, num_warps, num_stages, num_ctas
        self.maxnreg, self.pre_hook, self.ir_override = maxnreg, pre_hook, ir_override
        for name in kwargs:
            if not isinstance(name, str):
                raise TypeError(f"the constants of a triton.Config are named by their parameters, {{'BLOCK': 64}}, not "
                                f"by {name!r}")
        for name in ("num_warps", "num_stages", "num_ctas", "maxnreg"):
            own = getattr(self, name)
            if own is not None and kwargs.get(name, own) != own:
                warnings.warn(f"{name} among the constants of a triton.Config has no effect, it is {own}: the options "
                              f"stand beside the constants, triton.Config({{…}}, {name}={kwargs[name]!r})",
                              stacklevel=3)

    def __getattr__(self, name):
        if name in self.__dict__.get("kwargs", ()):
            raise AttributeError(f"a Config has its constants in kwargs: config.kwargs[{name!r}]")
        raise AttributeError(f"'Config' object has no attribute {name!r}" + ("" if name.startswith("__") else
                             ": it has kwargs, num_warps, num_stages, num_ctas, maxnreg, pre_hook, ir_override"))

    def __getitem__(self, name):
        raise TypeError("a Config has its constants in kwargs and its options as attributes: " +
                        (f"config.{name}" if name in vars(self) else f"config.kwargs[{name!r}]"))

    def __setstate__(self, state):
        vars(self).update({"maxnreg": None, "ir_override": None, **state})

    def all_kwargs(self):
        given = {**self.kwargs}   # written out: each launch of an autotuned kernel asks
        if self.num_warps is not None:
            given["num_warps"] = self.num_warps
        if self.num_ctas is not None:
            given["num_ctas"] = self.num_ctas
        if self.num_stages is not None:
            given["num_stages"] = self.num_stages
        if self.maxnreg is not None:
            given["maxnreg"] = self.maxnreg
        return given

    def __str__(self):
        parts = [f"{name}: {value}" for name, value in self.kwargs.items()]
        parts += [f"{name}: {getattr(self, name)}" for name in ("num_warps", "num_ctas", "num_stages", "maxnreg")]
        return ", ".join(parts)

    __repr__ = __str__

    def __hash__(self):
        try:
            return hash((*self.all_kwargs().items(), self.pre_hook))
        except TypeError as e:
            raise TypeError(f"the values in Config({self}) tell configurations apart, and {e}: write a tuple for a "
                            "list") from None

    def __eq__(self, other):
        return isinstance(other, Config) and (self.all_kwargs(), self.pre_hook) == (other.all_kwargs(), other.pre_hook)


_PRUNING = ("early_config_prune", "perf_model", "top_k")   # the words of prune_configs_by


class Autotuner(Around):

    def __init__(self, fn, arg_names, configs, key, reset_to_zero=None, restore_value=None, pre_hook=None,
                 post_hook=None, prune_configs_by=None, warmup=None, rep=None, use_cuda_graph=False, do_bench=None,
                 cache_results=False):
        if key is not None and not isinstance(key, collections.abc.Iterable):
            raise TypeError(f"key of autotune is a list of parameters, such as {arg_names[-1:]!r}, not {key!r}: a "
                            "change of their values chooses anew")
        self.fn, self.arg_names, self.keys = fn, arg_names, list(key or ())
        self._texts = {}   # dtype -> its text, for the method in C
        if configs is not None and not isinstance(configs, collections.abc.Sequence):
            raise TypeError(f"configs of autotune is a list of triton.Config, not {configs!r}" +
                            (": call it" if callable(configs) else ""))
        _check_configs("configs of autotune has", configs or ())
        self.configs = configs or [Config({})]
        self.cache, self.cache_results = {}, cache_results or knobs.autotuning.cache
        for word, names in (("reset_to_zero", reset_to_zero), ("restore_value", restore_value)):
            self._check_names(word, names)
        if prune_configs_by is not None and not isinstance(prune_configs_by, collections.abc.Mapping):
            raise TypeError(f"prune_configs_by of autotune is a dict with {', '.join(_PRUNING)}, "
                            f"{{'early_config_prune': f}}, not {prune_configs_by!r}")
        self.reset_to_zero, self.restore_value = list(reset_to_zero or []), list(restore_value or [])
        self.restore_copies = {}
        for name in self.reset_to_zero:
            if name in self.restore_value:
                warnings.warn(f"`{name}` of autotune is in reset_to_zero and in restore_value: it is zeroed before it "
                              "is saved; what a kernel updates belongs in restore_value alone", stacklevel=3)
        self.user_defined_pre_hook, self.user_defined_post_hook = pre_hook is not None, post_hook is not None
        self.pre_hook = pre_hook or self._reset
        self.post_hook = post_hook or self._restore
        prune = prune_configs_by or {}
        self.perf_model, self.configs_top_k = prune.get("perf_model"), prune.get("top_k", 1.0)
        self.early_config_prune = prune.get("early_config_prune")
        self.base_fn = fn
        while not inspect.isfunction(self.base_fn):
            self.base_fn = self.base_fn.fn
        self._warn_of_words(key, prune)
        self.num_warmups, self.num_reps, self.use_cuda_graph, self._do_bench = warmup, rep, use_cuda_graph, do_bench
        self.nargs = self.bench_time = None
        self._is_below = False   # below another Autotuner
        while isinstance(fn, Around):
            if isinstance(fn, Autotuner):
                fn._is_below = True
            fn = fn.fn
        self.configs_timings = {}
        if hasattr(self._tile_function, "variants"):
            self._tile_function.variants.tuned.update(name for c in self.configs for name in getattr(c, "kwargs", ()))

    def __getattr__(self, name):
        if name == "best_config":
            raise AttributeError("best_config of an autotuned kernel is there after its first launch, which chooses it")
        return super().__getattr__(name)

    def _check_names(self, word, names):
        if isinstance(names, str):
            raise TypeError(f"{word} of autotune is a list of parameters: {word}=[{names!r}]")
        for name in names or ():
            if name not in self.arg_names:
                warnings.warn(f"{word} of autotune names {name!r}, and the parameters are {', '.join(self.arg_names)}",
                              stacklevel=5)

    def _warn_of_words(self, key, prune):
        """Warns of what Triton takes in silence, and what then has no effect."""
        if isinstance(key, str) and len(key) > 1:
            warnings.warn(f"key of autotune is a list of names: key=[{key!r}]", stacklevel=4)
        for name in prune:
            if name not in _PRUNING:
                near = difflib.get_close_matches(name, _PRUNING, 1, 0.4)
                warnings.warn(f"prune_configs_by has no {name!r}" + (f": did you mean {near[0]!r}?" if near else ""),
                              stacklevel=4)
        for name in self.keys if self._is_own() else ():
            if isinstance(key, str) or name in self.arg_names:
                continue
            near = difflib.get_close_matches(str(name), self.arg_names, 1, 0.4)
            warnings.warn(f"key of autotune names {name!r}, on which nothing then depends: the parameters are "
                          f"{', '.join(self.arg_names)}" + (f"; did you mean {near[0]!r}?" if near else ""),
                          stacklevel=4)

    def _is_own(self):
        """Whether the kernel is of the program's own file; what the program imports may be another's."""
        return self.base_fn.__module__ == "__main__"

    def _warn_of_changes(self, given):
        """Warns of arguments that the trials would change, and nothing gives back."""
        function = self._tile_function
        hooks = self.user_defined_pre_hook or self.user_defined_post_hook or any(c.pre_hook for c in self.configs)
        if hooks or len(self.configs) < 2 or not self._is_own() or not hasattr(function, "parse"):
            return
        tensors = [name for name in self.arg_names if hasattr(given.get(name), "dtype")]
        stored, updated = changed_in_place(function.parse(), tensors)
        for names, word, does in ((stored, "restore_value", "loads and stores"),
                                  (updated, "reset_to_zero", "adds to what is in")):
            names = [name for name in names if name not in (*self.reset_to_zero, *self.restore_value)]
            if names:
                code = self.base_fn.__code__
                warnings.warn_explicit(f"{self.base_fn.__name__} {does} {' and '.join(names)}, and autotune runs it "
                                       "many times to choose a configuration, each time on what the one before left: "
                                       f"give autotune {word}={names!r}",
                                       UserWarning, code.co_filename, code.co_firstlineno)

    def _warn_of_grid(self, configs, grid):
        """Warns of a grid that is the same for configurations whose blocks differ in size."""
        function = self._tile_function
        if callable(grid) or not self._is_own() or not hasattr(function, "parse"):
            return
        names = dict.fromkeys(name for config in configs for name in config.kwargs)
        sizes = {name: list(dict.fromkeys(config.kwargs.get(name) for config in configs)) for name in names}
        for name in sizes_of_grid(function.parse(), [name for name in names if len(sizes[name]) > 1]):
            code = self.base_fn.__code__
            warnings.warn_explicit(f"{self.base_fn.__name__} multiplies program_id by {name}, which autotune chooses "
                                   f"among {', '.join(map(str, sizes[name]))}, and the grid {grid} is the same "
                                   "for each: some leave elements out, or start programs without any. Let the grid "
                                   f"follow the choice: lambda META: (triton.cdiv(n, META[{name!r}]),)",
                                   UserWarning, code.co_filename, code.co_firstlineno)

    def _reset(self, kwargs, reset_only=False):
        for name in self.reset_to_zero:
            self._tensor("reset_to_zero", name, kwargs[name], "zero_")()
        if not reset_only:
            self.restore_copies = {name: self._tensor("restore_value", name, kwargs[name], "clone")()
                                   for name in self.restore_value}

    def _tensor(self, word, name, value, method):
        """Returns a method of the tensor that an argument is."""
        try:
            return getattr(value, method)
        except AttributeError:
            raise TypeError(f"{word} of autotune names {name!r}, which is of type {type(value).__name__} at this "
                            f"launch, and not a tensor, which has {method}()") from None

    def _restore(self, kwargs, exception):
        for name, copy in self.restore_copies.items():
            kwargs[name].copy_(copy)
        self.restore_copies = {}

    @property
    def do_bench(self):
        return self._do_bench or _without_gpu_or(driver.active.get_benchmarker(), self.num_warmups, self.num_reps)

    def _bench(self, *args, config, **meta):
        conflicts = meta.keys() & config.kwargs.keys()
        if conflicts:
            raise ValueError(f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}. "
                             "Make sure that you don't re-define auto-tuned symbols.")
        current = {**meta, **config.all_kwargs()}
        full = ByName({**self.nargs, **current})
        bench = self.do_bench
        check_hook("pre_hook", self.pre_hook, "f(args), and as f(args, reset_only=True) at the end", full)
        check_hook("post_hook", self.post_hook, "f(args, exception=…)", full, exception=None)

        def launch():
            if bench is _once:   # nothing is timed: the arguments are not touched before the launch proper
                self.fn.go_on(args, {**current, "warmup": True})
                return
            if config.pre_hook:
                _call_own_hook(config, full)
            self.pre_hook(full)
            try:
                self.fn.go_on(args, dict(current))
            except BaseException as e:
                try:
                    self.post_hook(full, exception=e)
                finally:
                    raise
            self.post_hook(full, exception=None)

        try:
            times = call_hook("do_bench of autotune", bench, "f(launch, quantiles=…)", launch,
                              quantiles=(0.5, 0.2, 0.8))
            if not isinstance(times, (int, float, collections.abc.Sequence)):
                raise AutotunerError(f"do_bench{line_of(bench)} returned {times!r}: it returns the times of the "
                                     "quantiles, a list, or one time")
            return times
        except (OutOfResources, CompileTimeAssertionFailure, PTXASError) as e:
            if knobs.autotuning.print:
                print(f"Autotuning failed with {e}")
            return [float("inf")] * 3

    def run(self, *args, grid=None, warmup=False, **kwargs):
        if warmup:
            return self._run(args, {**kwargs, "grid": grid, "warmup": True})
        return self._quick_launch(grid, *args, **kwargs)

    def _launch_slowly(self, grid, *args, **kwargs):
        return self._run(args, {"grid": grid, "warmup": False, **kwargs})

    def _run(self, args, kwargs):
        config = self.configs[0] if len(self.configs) == 1 else self._known(self._key(args, kwargs))
        if config is None or config.pre_hook is not None:
            self.nargs = dict(zip(self.arg_names, args))
            self.best_config = config = config or self._chosen(args, kwargs)
            if config.pre_hook is not None:
                _call_own_hook(config, ByName({**self.nargs, **kwargs, **config.all_kwargs()}))
            self.nargs = None
        self.best_config = config
        options = config.all_kwargs()
        twice = [name for name in options if name in kwargs]
        if twice:
            names = ", ".join(twice)
            options = [f"{name}={kwargs[name]!r}" for name in twice if name not in config.kwargs]
            way = f"write triton.Config({{…}}, {', '.join(options)})" if len(options) == len(twice) else \
                f"take {names} out of the configurations"
            raise TypeError(f"{self.base_fn.__name__}() got multiple values for keyword arguments that its "
                            f"configuration gives: {names}: " +
                            ("it has @triton.autotune twice" if self._is_below else
                             f"leave {names} out of the launch, or {way}"))
        kwargs.update(options)
        return self.fn.go_on(args, kwargs)

    def _chosen(self, args, kwargs):
        """Returns the fastest configuration for arguments like these, which it times at the first time."""
        key = self._key(args, kwargs)
        if not self.cache and self._is_own():
            warn_of_tensors(self.base_fn, self.keys, {**self.nargs, **{name: value for name, value in kwargs.items()
                                                                       if name in self.arg_names}})
        configs = self.prune_configs(kwargs)
        file = self._file(key, configs)
        timings = read_timings(file, configs)
        if timings is None:
            self._warn_of_changes({**self.nargs, **kwargs})
            self._warn_of_grid(configs, kwargs["grid"])
            timings = self._time(configs, args, kwargs, key)
            write_timings(file, key, timings)
        self.configs_timings, self.cache[key] = timings, builtins.min(timings, key=timings.get)
        return self.cache[key]

    def _key(self, args, kwargs):
        """Returns what a choice depends on: the values of the key's parameters, and the dtypes of all arguments."""
        given = {name: value for name, value in (*zip(self.arg_names, args), *kwargs.items()) if name in self.arg_names}
        return (*[given[name] for name in self.keys if name in given],
                *[str(value.dtype) for value in given.values() if hasattr(value, "dtype")])

    def _known(self, key):
        """Returns the configuration that was chosen for a key; None: none was."""
        try:
            return self.cache.get(key)
        except TypeError as e:
            raise TypeError(f"key of autotune is {', '.join(self.keys)}, and {e}: a parameter of the key is a number, "
                            "a text or a dtype") from None

    def _time(self, configs, args, kwargs, key):
        begin = time.time()
        timings = {}
        for config in configs:
            _check_warps(config)
        for config in configs:
            timings[config] = self._bench(*args, config=config, **kwargs)
            if self.do_bench is _once and timings[config][0] < float("inf"):
                break
        self.bench_time = time.time() - begin
        best = builtins.min(timings, key=timings.get)
        call_hook("pre_hook", self.pre_hook, "f(args, reset_only=True)",
                   ByName({**self.nargs, **kwargs, **best.all_kwargs()}), reset_only=True)
        if knobs.autotuning.print:
            print(f"Triton autotuning for function {self.base_fn.__name__},\nwith key as {key},\n"
                  f"finished after {self.bench_time:.2f}s,\nbest config selected: {best};")
        return timings

    def _file(self, key, configs):
        """Returns where the times for a key are kept on disk: (the cache, the file's name); None: they are not. A
        configuration's hook cannot be compared with one of another process."""
        if not self.cache_results or not key or any(config.pre_hook for config in configs):
            return None
        parts = (triton_key(), machine(), self._tile_function.cache_key, key, *configs)
        text = hashlib.sha256("-".join(map(str, parts)).encode()).hexdigest()
        return get_cache_manager(text), f"{self.base_fn.__name__[:150]}.autotune.json"

    def prune_configs(self, kwargs):
        configs = self.configs
        if self.early_config_prune:
            configs = call_hook("early_config_prune", self.early_config_prune, "f(configs, named_args, **kwargs)",
                                 configs, Named("early_config_prune", self.nargs), **kwargs)
            if not isinstance(configs, collections.abc.Iterable) or isinstance(configs, (str, Config)):
                raise AutotunerError(f"early_config_prune{line_of(self.early_config_prune)} returned {configs!r}: it "
                                     "returns the list of configurations that are left, at least one")
            configs = list(configs)
            _check_configs(f"early_config_prune{line_of(self.early_config_prune)} returned", configs)
            if not configs:
                raise AutotunerError("No valid autotuner configs after pruning. `early_config_prune` should return at "
                                     "least one config.")
        if self.perf_model:
            top = self.configs_top_k
            if isinstance(top, float) and top <= 1.0:
                top = int(len(self.configs) * top)
            elif not isinstance(top, int):
                raise TypeError("Error while pruning configs, top_k must be either 1) a float <= 1.0 or 2) an int")
            if not configs[:top]:
                raise AutotunerError(f"top_k={self.configs_top_k} of prune_configs_by leaves no configuration: it is a "
                                     "number of them, or a share above 0")
            if len(configs) > top:
                shown = "f(**kwargs), with arguments, constants and options by name"
                cost = {config: call_hook("perf_model", self.perf_model, shown, **self.nargs, **kwargs,
                                           **config.all_kwargs()) for config in configs}
                try:
                    configs = sorted(cost, key=cost.get)[:top]
                except TypeError:
                    raise AutotunerError(f"perf_model{line_of(self.perf_model)} returned {list(cost.values())!r}: it "
                                         "returns a number, the expected time") from None
        return configs

    def warmup(self, *args, **kwargs):
        self.nargs = dict(zip(self.arg_names, args))
        results = [self.fn.warmup(*args, **kwargs, **config.all_kwargs()) for config in self.prune_configs(kwargs)]
        self.nargs = None
        return results


def _check_configs(what, configs):
    """Raises TypeError for the first object that is no configuration."""
    for config in configs:
        if not hasattr(config, "all_kwargs") or isinstance(config, type):
            way = f": write triton.Config({config!r})" if isinstance(config, dict) else ""
            raise TypeError(f"{what} {config!r}, which is no triton.Config{way}")


def _call_own_hook(config, args):
    call_hook("pre_hook of a Config", config.pre_hook, "f(args), with arguments, constants and options by name", args)


def _check_warps(config):
    n = config.num_warps
    if isinstance(n, int) and (n < 1 or n & (n - 1)):
        raise ValueError(f"num_warps is a power of two, in Config({config}), too")


def _without_gpu_or(benchmarker, warmup, rep):
    """Returns how configurations are timed. Without a GPU nothing is, since the simulator's time says nothing."""
    if has_cuda():
        given = {name: value for name, value in (("warmup", warmup), ("rep", rep)) if value is not None}
        return lambda launch, quantiles: benchmarker(launch, quantiles=quantiles, **given)
    return _once


def _once(launch, quantiles):
    """Stands for a benchmarker: the first configuration that fits is chosen. Nothing runs."""
    launch()
    return [0.0] * len(quantiles)


@explains_calls
def autotune(configs, key, prune_configs_by=None, reset_to_zero=None, restore_value=None, pre_hook=None, post_hook=None,
             warmup=None, rep=None, use_cuda_graph=False, do_bench=None, cache_results=False):
    def decorate(fn):
        return Autotuner(fn, _names_of(fn, "autotune"), configs, key, reset_to_zero, restore_value, pre_hook, post_hook,
                         prune_configs_by, warmup, rep, use_cuda_graph, do_bench, cache_results)
    return decorate


def _names_of(fn, decorator):
    """Returns the names of a kernel's parameters. Raises TypeError if it is a plain function."""
    if inspect.isfunction(fn):
        raise TypeError(f"@triton.{decorator} is on {fn.__name__}{line_of(fn)}, a plain function: @triton.jit stands "
                        "below it, next to the def")
    return fn.arg_names


class Heuristics(Around):

    def _why_missing(self, name):
        """Returns why a heuristic finds no value of that name: a later one makes it, or the configurations of a layer
        below have it."""
        if name in self.values:
            return f"{name} is a heuristic, too, and comes later in the dict: put it first"
        below = self.fn
        while isinstance(below, Around):
            if isinstance(below, Autotuner) and any(name in config.all_kwargs() for config in below.configs):
                return f"{name} comes from @triton.autotune, which stands below: put @triton.heuristics below it"
            below = below.fn
        return None

    def __init__(self, fn, arg_names, values):
        for name in values:
            if not isinstance(name, str):
                raise TypeError(f"@triton.heuristics names parameters, {{'BLOCK': lambda args: …}}, not {name!r}")
        self.fn, self.arg_names, self.values = fn, arg_names, values
        getattr(self._tile_function, "chosen_by", {}).update(values)
        if any(refusal(choose, {}) for choose in values.values()):
            self._launch_now = functools.partial(type(self).launch_by_run, self)   # which says what is wrong

    def run(self, *args, **kwargs):
        named = dict(zip(self.arg_names, args))
        for name, choose in self.values.items():
            known = {**named, **kwargs}
            known.pop("grid", None), known.pop("warmup", None)
            kwargs[name] = call_hook(f"the heuristic of {name}", choose, "f(args), with arguments by name",
                                     Named(f"the heuristic of {name}", known, self._why_missing))
        return self.fn.go_on(args, kwargs)


Autotuner._quick_launch = layer_method("_launch_slowly", TUNED) or Autotuner._launch_slowly
for _type, _kind in ((Autotuner, TUNED), (Heuristics, CHOSEN)):   # run may be replaced in an object
    _type._launch_now = layer_method("launch_by_run", _kind, _type.run) or _type.launch_by_run


@explains_calls
def heuristics(values):
    if not isinstance(values, collections.abc.Mapping):
        raise TypeError(f"@triton.heuristics takes a dict by parameter, {{'BLOCK': lambda args: …}}, not {values!r}")
    return lambda fn: Heuristics(fn, _names_of(fn, "heuristics"), values)
