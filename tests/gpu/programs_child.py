"""One measurement of programs.py in a process of its own; writes a line of JSON for each result.

    programs_child.py launch|compile|first SIDE FILE [--small] [--only NAMES]

SIDE is ours (tilec.triton) or triton; launch takes both in one process.
"""
import argparse
import ctypes
import importlib
import json
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Out:

    def __init__(self, path):
        self.file = open(path, "a")

    def write(self, **line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()


def kernels_of(side):
    """Imports the kernels over tilec.triton or over Triton; both may live in one process, Triton first."""
    if side == "ours":
        for name in [n for n in sys.modules if n.split(".")[0] == "triton"]:
            del sys.modules[name]
        import tilec.triton
        tilec.triton.install()
    sys.modules.pop("programs_kernels", None)
    return importlib.import_module("programs_kernels")


# ---- launches

class LaunchConfig(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("shared_bytes", ctypes.c_uint),
                ("stream", ctypes.c_void_p), ("attributes", ctypes.c_void_p), ("num_attributes", ctypes.c_uint)]


def bare_launch(device, stream):
    """Returns a function that calls cuLaunchKernelEx by ctypes, with all arguments ready."""
    import tilec
    text = "@kernel\ndef nothing(n: i32):\n    pass\n"
    kernel = tilec.loads(text, name="nothing.tile", device=device).nothing
    from tilec._kernel import Bound
    from tilec._library import lib
    with Bound(kernel, (5,), {}) as bound:
        function = lib.tile_kernel_function(lib.tile_variant_kernel(bound.variant()))
    launch = ctypes.PyDLL("libcuda.so.1").cuLaunchKernelEx
    config, number = LaunchConfig((1, 1, 1), (128, 1, 1), 0, stream), ctypes.c_int(5)
    arguments = (ctypes.c_void_p * 1)(ctypes.addressof(number))
    packed = ctypes.byref(config), ctypes.c_void_p(function), arguments, ctypes.c_void_p()
    keep = number   # the arguments point to it

    def bare():
        if launch(*packed) or keep is None:
            raise RuntimeError("cuLaunchKernelEx failed")
    return bare


def by_position(module, args, stream):
    """A launch of a compiled kernel as torch.compile's are."""
    compiled = module.many[(1,)](*args, B=128)
    run, function, packed = compiled.run, compiled.function, compiled.packed_metadata
    return lambda: run(1, 1, 1, stream, function, packed, None, None, None, *args, 128)


def ways_of(module, args, stream, prefix):
    yield f"{prefix}, kernel[grid](…)", lambda: module.many[(1,)](*args, B=128)
    yield f"{prefix}, compiled, by position", by_position(module, args, stream)
    yield f"{prefix}, autotuned", lambda: module.many_tuned[(1,)](*args)
    yield f"{prefix}, heuristics", lambda: module.many_chosen[(1,)](*args)
    yield f"{prefix}, autotuned, heuristics", lambda: module.many_both[(1,)](*args)


def measure_launches(options, out):
    try:
        import torch
        has_gpu = torch.cuda.is_available()
    except ImportError:
        has_gpu = False
    scalars = [100 + i for i in range(9)]
    ways = []
    if has_gpu:
        args = [*torch.ones(3, 256, device="cuda").unbind(0), *scalars]
        synchronize, stream = torch.cuda.synchronize, torch.cuda.current_stream().cuda_stream
        if options.side == "both":
            ways += ways_of(kernels_of("triton"), args, stream, "Triton")
            for _, launch in ways:
                launch()   # Triton imports the rest of itself
    else:   # a driver that runs nothing: libtile's part alone
        from launch_overhead import Tensor
        args, stream = [*map(Tensor, (4096, 8192, 12288)), *scalars], None
        Tensor.is_cuda = True
    ours = kernels_of("ours")
    import tilec
    device = tilec.open_device("gpu")
    if not has_gpu:
        synchronize = device.synchronize
        for tuned in (ours.many_tuned, ours.many_both):   # there is nothing to time
            tuned._do_bench = lambda launch, quantiles: [launch() or 1.0] * 3
    tile = tilec.loads(f"import triton\nimport triton.language as tl\n@triton.jit\n{ours.many.src}", name="many.py",
                       device="gpu").many
    ways += [("bare cuLaunchKernelEx by ctypes", bare_launch(device, stream)),
             ("tilec.Kernel, kernel[grid](…)", lambda: tile[(1,)](*args, 128)),
             *ways_of(ours, args, stream, "tilec.triton")]
    median_times(ways, synchronize, out, *((5, 20) if options.small else (101, 200)))


def median_times(ways, synchronize, out, batches, calls):
    """Times the ways in turn, in batches that the launch queue holds."""
    times = {name: [] for name, _ in ways}
    for batch in range(batches + 1):
        for name, launch in ways:
            synchronize()
            begin = time.perf_counter()
            for _ in range(calls):
                launch()
            if batch:   # the first one compiles
                times[name].append((time.perf_counter() - begin) / calls * 1e6)
    for name, values in times.items():
        out.write(part="launch", name=name, us=statistics.median(values))


# ---- torch.compile

def gpu_or_cpu(torch):
    """Returns the device for tensors, how to wait for it, and how to time a call on it in ms."""
    if torch.cuda.is_available():
        def timed(call):
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            begin.record()
            call()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end)
        return "cuda", torch.cuda.synchronize, timed

    def timed(call):
        begin = time.perf_counter()
        call()
        return (time.perf_counter() - begin) * 1e3
    import torch._inductor.config
    torch._inductor.config.cpu_backend = "triton"   # without a GPU: the kernels run on the simulator
    return "cpu", lambda: None, timed


def flat(value):
    return [value] if not isinstance(value, (tuple, list)) else [x for item in value for x in flat(item)]


def error_of(torch, got, wanted):
    """Returns the largest difference relative to the largest number; 1 where shapes or NaN differ."""
    worst = 0.0
    for a, b in zip(flat(got), flat(wanted)):
        if a.shape != b.shape or not torch.equal(a.isnan(), b.isnan()):
            return 1.0
        a, b = a.double().nan_to_num(), b.double().nan_to_num()
        worst = max(worst, float((a - b).abs().max() / b.abs().max().clamp(min=1e-6)))
    return worst


def measure_compile(options, out):
    if options.side == "ours":
        import tilec.triton
        tilec.triton.install()
    import torch
    import programs_models as models
    device, synchronize, timed = gpu_or_cpu(torch)
    rows, columns = (16, 64) if options.small else (4096, 1024)
    cases = [(name, f, args, lambda f, args: f(*args)) for name, f, args in models.functions(device, rows, columns)]
    model, step = models.training_step(device, options.small)
    cases.append(("training step", model, (), lambda f, args: step(f)))
    for name, f, args, call in cases:
        if options.only and name not in options.only:
            continue
        torch._dynamo.reset()
        try:
            wanted = call(f, args)
            compiled = torch.compile(f)
            synchronize()
            begin = time.perf_counter()
            got = call(compiled, args)
            synchronize()
            first = time.perf_counter() - begin
            runs = 2 if options.small else 30
            medians = {way: statistics.median(timed(lambda: call(g, args)) for _ in range(runs))
                       for way, g in (("eager", f), ("ms", compiled))}
            out.write(part="compile", side=options.side, round=options.round, name=name, first_s=first,
                      error=error_of(torch, got, wanted), **medians)
        except Exception as e:   # one function's failure says nothing of the others
            out.write(part="compile", side=options.side, round=options.round, name=name,
                      failed=f"{type(e).__name__}: {str(e)[-300:]}")


# ---- first calls

def measure_first(options, out):
    if options.side == "ours":
        import tilec.triton
        tilec.triton.install()
    import torch
    device = "cuda" if torch.cuda.is_available() else "cpu"
    synchronize = torch.cuda.synchronize if device == "cuda" else lambda: None
    torch.ones(1, device=device).add_(1)
    for name, launch, is_right in kernels_of(options.side).first_calls(device, torch):
        if options.only and name not in options.only:
            continue
        synchronize()
        begin = time.perf_counter()
        try:
            launch()
            synchronize()
            seconds = time.perf_counter() - begin
            out.write(part="first", side=options.side, round=options.round, name=name, ms=seconds * 1e3,
                      right=is_right())
        except Exception as e:
            out.write(part="first", side=options.side, round=options.round, name=name,
                      failed=f"{type(e).__name__}: {str(e)[-300:]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=("launch", "compile", "first"))
    parser.add_argument("side", choices=("ours", "triton", "both"))
    parser.add_argument("file")
    parser.add_argument("--round", default="cold")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--only", nargs="*")
    options = parser.parse_args()
    sys.path.insert(0, HERE)
    {"launch": measure_launches, "compile": measure_compile, "first": measure_first}[options.part](
        options, Out(options.file))


if __name__ == "__main__":
    main()
