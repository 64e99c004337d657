"""Timing and comparing, as triton.testing has it."""
import functools
import os
import statistics
import subprocess

from tilec.triton._missing import Explains, explains_calls, no_attribute


def _quantile(times, q):
    times, at = sorted(times), q * (len(times) - 1)
    low = int(at)
    high = min(low + 1, len(times) - 1)
    return times[low] + (times[high] - times[low]) * (at - low)


def _summarize_statistics(times, quantiles, return_mode):
    if quantiles is not None:
        found = [_quantile(times, q) for q in quantiles]
        return found[0] if len(found) == 1 else found
    if return_mode == "all":
        return times
    return {"min": min, "max": max, "mean": statistics.mean, "median": statistics.median}[return_mode](times)


_MODES = "min", "max", "mean", "median", "all"


def _check_mode(what, mode):
    if mode not in _MODES:
        raise AssertionError(f"return_mode of {what} is {', '.join(map(repr, _MODES[:-1]))} or {_MODES[-1]!r}, not "
                             f"{mode!r}")


def _needs_gpu(what):
    from .runtime.driver import has_cuda
    if not has_cuda():
        raise RuntimeError(f"{what} times a GPU, and there is none: what the simulator takes says nothing about it")


def _needs_function(what, fn):
    if not callable(fn):
        raise TypeError(f"{what} takes a function and runs it many times, not {type(fn).__name__}: write "
                        f"{what}(lambda: add(x, y)), not {what}(add(x, y))")


@explains_calls
def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean"):
    """Returns the time of fn() in milliseconds, with the L2 cache cleared before each run. warmup and rep: milliseconds."""
    _needs_function("do_bench", fn)
    _check_mode("do_bench", return_mode)
    import torch
    from .runtime.driver import driver
    _needs_gpu("do_bench")
    fn()
    torch.cuda.synchronize()
    cache = driver.active.get_empty_cache_for_benchmark()
    event = functools.partial(torch.cuda.Event, enable_timing=True)
    begin, end = event(), event()
    begin.record()
    for _ in range(5):
        driver.active.clear_cache(cache)
        fn()
    end.record()
    torch.cuda.synchronize()
    each = max(begin.elapsed_time(end) / 5, 1e-3)
    for _ in range(max(1, int(warmup / each))):
        fn()
    pairs = [(event(), event()) for _ in range(max(1, int(rep / each)))]
    for begin, end in pairs:
        for x in grad_to_none or ():
            x.grad = None
        driver.active.clear_cache(cache)
        begin.record()
        fn()
        end.record()
    torch.cuda.synchronize()
    return _summarize_statistics([begin.elapsed_time(end) for begin, end in pairs], quantiles, return_mode)


@explains_calls
def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean"):
    """The same by CUDA graphs: the time on the GPU without that of the launches."""
    _needs_function("do_bench_cudagraph", fn)
    _check_mode("do_bench_cudagraph", return_mode)
    import torch
    _needs_gpu("do_bench_cudagraph")
    with torch.cuda.stream(torch.cuda.Stream()):
        fn()
        for x in grad_to_none or ():
            x.detach_()
            x.requires_grad_(True)
            x.grad = None
        once = _graph_of(fn, 1, grad_to_none)
        each = max(_time(once, 5) / 5, 1e-3)
        count = max(1, int(rep / each))
        graph = _graph_of(fn, count, grad_to_none)
        times = [_time(graph, 1) / count for _ in range(10)]
    return _summarize_statistics(times, quantiles, return_mode)


def _graph_of(fn, count, grad_to_none):
    import torch
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(count):
            for x in grad_to_none or ():
                x.grad = None
            fn()
    torch.cuda.synchronize()
    return graph


def _time(graph, count):
    import torch
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    for _ in range(count):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


@explains_calls
def assert_close(x, y, atol=None, rtol=None, err_msg=""):
    """Asserts that two arrays are equal within atol (0.01) and rtol (0)."""
    import numpy as np

    def host(value):
        if hasattr(value, "detach"):
            value = value.detach().cpu()
            value = value.float() if str(value.dtype) == "torch.bfloat16" else value
        return np.array(value)

    def tolerance(value, default, dtype):
        return value(dtype) if callable(value) else default if value is None else value

    for name, value in (("x", x), ("y", y)):
        if value is None:
            raise TypeError(f"assert_close compares two arrays, and {name} is None")
    dtype = getattr(x, "dtype", None)
    x, y = host(x), host(y)
    atol, rtol = tolerance(atol, 1e-2, dtype), tolerance(rtol, 0.0, dtype)
    if x.size > 1 or y.size > 1:
        try:
            np.testing.assert_allclose(x, y, atol=atol, rtol=rtol, err_msg=err_msg, equal_nan=True)
        except AssertionError as e:
            raise e.with_traceback(None) from None   # the frames of NumPy say nothing
    elif not np.allclose(x, y, atol=atol, rtol=rtol):
        raise AssertionError(f"{err_msg} {x} is not close to {y} (atol={atol}, rtol={rtol})")


@explains_calls
class Benchmark:
    """What perf_report measures: one plot."""

    def __init__(self, x_names, x_vals, line_arg, line_vals, line_names, plot_name, args, xlabel="", ylabel="",
                 x_log=False, y_log=False, styles=None):
        vars(self).update({name: value for name, value in locals().items() if name != "self"})
        for name in ("x_names", "x_vals", "line_vals", "line_names"):
            value = getattr(self, name)
            if not hasattr(value, "__iter__"):
                raise TypeError(f"{name} of Benchmark is a list, [{value!r}], not {value!r}")
        if not isinstance(args, dict):
            raise TypeError("args of Benchmark is a dict with the parameters that do not change, {} if there are none, "
                            f"not {args!r}")
        if len(line_vals) != len(line_names):
            raise ValueError(f"line_names of Benchmark has {len(line_names)} names for {len(line_vals)} line_vals")


class Mark(Explains):

    def __init__(self, fn, benchmarks):
        self.fn, self.benchmarks = fn, benchmarks

    def __call__(self, *args, **kwargs):
        name = getattr(self.fn, "__name__", "it")
        raise TypeError(f"'Mark' object is not callable: {name} is the benchmark that @triton.testing.perf_report made "
                        f"of the function: {name}.run(print_data=True) measures all, {name}.fn(…) calls the function")

    def _table(self, bench, kwargs):
        from .runtime._hooks import call_hook
        head = [*bench.x_names, *bench.line_names]
        rows = []
        for x in bench.x_vals:
            values = x if isinstance(x, (tuple, list)) else [x] * len(bench.x_names)
            if len(values) != len(bench.x_names):
                raise ValueError(f"Expected {len(bench.x_names)} values, got {x}")
            row = list(values)
            for line in bench.line_vals:
                given = {**dict(zip(bench.x_names, values)), bench.line_arg: line, **bench.args, **kwargs}
                shown = f"f({', '.join(given)}), by x_names, line_arg and args of its Benchmark"
                if kwargs:
                    shown += " and what run was given beside show_plots, print_data, save_path and return_df"
                found = call_hook("the benchmark", self.fn, shown, **given)
                row.append(found[0] if isinstance(found, (tuple, list)) else found)
            rows.append(row)
        return head, rows

    def run(self, show_plots=False, print_data=False, save_path="", return_df=False, **kwargs):
        """Measures all; prints tables, or writes them as CSV into a folder. Plots need matplotlib."""
        if not isinstance(save_path, (str, os.PathLike)):
            raise TypeError(f"save_path of run is the name of a folder, not {save_path!r}")
        frames = []
        several = not isinstance(self.benchmarks, Benchmark)
        for bench in self.benchmarks if several else [self.benchmarks]:
            head, rows = self._table(bench, kwargs)
            if print_data or show_plots:
                print(f"{bench.plot_name}:")
                print("\n".join("".join(f"{str(v):>16}" for v in line) for line in [head, *rows]))
            if save_path:
                os.makedirs(save_path, exist_ok=True)
                with open(os.path.join(save_path, f"{bench.plot_name}.csv"), "w") as f:
                    f.writelines(",".join(map(str, line)) + "\n" for line in [head, *rows])
            if return_df:
                import pandas
                frames.append(pandas.DataFrame(rows, columns=head))
        if return_df:
            return frames if several else frames[0]
        return None


def perf_report(benchmarks):
    """Returns a decorator that makes a Mark of a function. benchmarks: a Benchmark or several."""
    given = benchmarks if isinstance(benchmarks, (list, tuple)) else [benchmarks]
    for bench in given:
        if not isinstance(bench, Benchmark):
            raise TypeError(f"perf_report takes a triton.testing.Benchmark or a list of them, not {bench!r}: write "
                            "@triton.testing.perf_report(triton.testing.Benchmark(x_names=[…], …)) above the function")
    return lambda fn: Mark(fn, benchmarks)


def get_dram_gbps(device=None):
    from .runtime.driver import current_device
    p = current_device().properties()
    return p["memory_clock_khz"] * p["memory_bus_bits"] * 2 / 1e6 / 8


def get_max_tensorcore_tflops(dtype, clock_rate, device=None):
    """Returns the peak of the tensor cores of an H200 or H100 at a clock in kHz."""
    from .runtime.driver import current_device
    per_cycle = {2: 4096, 1: 8192, 4: 2048}[getattr(dtype, "itemsize", 2)]   # operations of an SM
    return current_device().properties()["num_sms"] * per_cycle * clock_rate / 1e9


def get_max_simd_tflops(dtype, clock_rate, device=None):
    """Returns the peak of multiply-adds without tensor cores at a clock in kHz."""
    from .runtime.driver import current_device
    per_cycle = {4: 128, 2: 256}.get(getattr(dtype, "itemsize", None))   # operations of an SM, as Triton counts them
    if per_cycle is None or not getattr(dtype, "is_floating_point", True):
        raise RuntimeError("dtype not supported")
    return current_device().properties()["num_sms"] * per_cycle * clock_rate / 1e9


def nvsmi(attrs):
    """Returns what nvidia-smi says of the first GPU, as integers."""
    words = ["nvidia-smi", "-i", "0", "--query-gpu=" + ",".join(attrs), "--format=csv,noheader,nounits"]
    return [int(word) for word in subprocess.check_output(words, text=True).split(",")]


def __getattr__(name):
    if name != "runtime":   # which asks for this module's neighbours
        raise no_attribute("triton.testing", name)
    from . import runtime
    return runtime
