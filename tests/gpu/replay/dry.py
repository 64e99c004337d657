"""The programs of a replay without a GPU: their launches are recorded, none is made.

Tensors are PyTorch's fake ones: they have shapes and no data, so that model sizes cost nothing. They live on the CPU,
and say that they live on a GPU. A number that a program reads from one is made up."""

import contextlib
import json
import os
import types

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensor, FakeTensorMode
from torch.overrides import TorchFunctionMode
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from hook import Hook, Launch

GPU = torch.device("cuda", 0)
PROPERTIES = types.SimpleNamespace(
    name="NVIDIA H200",
    multi_processor_count=132,
    total_memory=141 << 30,
    shared_memory_per_block_optin=232448,
    regs_per_multiprocessor=65536,
    max_threads_per_multi_processor=2048,
    major=9,
    minor=0,
    warp_size=32,
    L2_cache_size=50 << 20,
)


class Driver:
    """Triton's driver for a GPU that is not here."""

    class utils:
        @staticmethod
        def get_device_properties(device):
            return {
                "max_shared_mem": 232448,
                "max_num_regs": 65536,
                "multiprocessor_count": 132,
                "warpSize": 32,
                "sm_clock_rate": 1980000,
                "mem_clock_rate": 3201000,
                "mem_bus_width": 6144,
            }

        @staticmethod
        def fill_tma_descriptor(*args):
            return None

    get_current_target = staticmethod(lambda: GPUTarget("cuda", 90, 32))
    get_current_device = staticmethod(lambda: 0)
    get_current_stream = staticmethod(lambda device=0: 0)
    get_active_torch_device = staticmethod(lambda: GPU)
    get_device_interface = staticmethod(lambda: torch.cuda)
    get_device_capability = staticmethod(lambda device=0: (9, 0))
    set_current_device = staticmethod(lambda device: None)
    get_benchmarker = staticmethod(lambda: lambda fn, quantiles=None, **_: [1.0] * len(quantiles or (1,)))
    get_empty_cache_for_benchmark = staticmethod(lambda: None)
    clear_cache = staticmethod(lambda cache: None)
    launcher_cls = None


class Context(contextlib.nullcontext):
    idx = prev_idx = 0

    def __init__(self, *args, **kwargs):
        super().__init__()


class Stream:
    cuda_stream, device = 0, GPU

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return False

    def __getattr__(self, name):
        return lambda *a, **k: self


def on_cpu(v):
    """A device that a program names, and the one that the tensor gets."""
    if isinstance(v, torch.device):
        return torch.device("cpu") if v.type == "cuda" else v
    if isinstance(v, str) and v.split(":")[0] == "cuda":
        return "cpu"
    return v


class Pretend(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = {k: on_cpu(v) if k == "device" else v for k, v in (kwargs or {}).items()}
        name = getattr(function, "__name__", "")
        if name == "cuda":
            return args[0]
        if name == "to":
            args = (args[0], *map(on_cpu, args[1:]))
        if name in ("record_stream", "pin_memory", "set_device"):
            return args[0] if name == "pin_memory" else None
        if name in ("is_pinned", "allclose") or function is torch.equal:
            return False
        if name == "equal":
            return True  # of a method: programs assert with it
        if name == "tolist" and args[0].dim():
            return [row.tolist() if row.dim() else row.item() for row in args[0]]
        return function(*args, **kwargs)


def address(t):
    """An aligned address for each storage: programs ask whether two tensors share one."""
    return (t.untyped_storage()._cdata << 8) + t.storage_offset() * t.element_size()


class Generator:
    """A random number generator of a device."""

    def get_state(self):
        return types.SimpleNamespace(view=lambda dtype: [1 << 40, 16])

    def set_state(self, state):
        return self

    def initial_seed(self):
        return 1


def pretend():
    """Replaces what asks for a GPU; returns the modes that programs run under."""
    inside, dispatch = [0], FakeTensorMode.__torch_dispatch__

    def deeper(self, function, types, args=(), kwargs=None):
        inside[0] += 1
        values = {k: on_cpu(v) if k == "device" else v for k, v in (kwargs or {}).items()}
        try:
            return dispatch(self, function, types, args, values)
        except DataDependentOutputException:  # a number that the program reads from a tensor
            t = next(a for a in args if isinstance(a, torch.Tensor))
            return True if t.dtype == torch.bool else 1.0 if t.dtype.is_floating_point else 1
        finally:
            inside[0] -= 1

    FakeTensorMode.__torch_dispatch__ = deeper
    real = FakeTensor.device.fget
    FakeTensor.device = property(lambda t: GPU if not inside[0] and real(t).type == "cpu" else real(t))
    FakeTensor.is_cuda = property(lambda t: not inside[0])
    FakeTensor.is_cpu = property(lambda t: bool(inside[0]))
    FakeTensor.get_device = lambda t: 0
    FakeTensor.data_ptr = address
    driver.set_active(Driver())
    cuda = torch.cuda
    for name, value in dict(
        is_available=True,
        device_count=1,
        current_device=0,
        get_device_capability=(9, 0),
        get_device_properties=PROPERTIES,
        get_device_name="NVIDIA H200",
        synchronize=None,
        empty_cache=None,
        current_stream=Stream(),
        default_stream=Stream(),
        Stream=Stream(),
        Event=Stream(),
        set_device=None,
        is_current_stream_capturing=False,
        is_bf16_supported=True,
        mem_get_info=(141 << 30, 141 << 30),
        is_initialized=True,
        _lazy_init=None,
        init=None,
    ).items():
        setattr(cuda, name, lambda *a, value=value, **k: value)
    cuda.default_generators = (Generator(),)
    torch._C._cuda_getCurrentRawStream = lambda device: 0
    torch._C._accelerator_getDeviceIndex = lambda: 0
    torch.get_device_module = lambda *a: cuda
    for name in ("device", "stream", "device_of", "_DeviceGuard"):
        setattr(cuda, name, Context)
    engine = torch.autograd.graph._engine_run_backward

    def backward(*args, **kwargs):  # a function mode does not reach into a backward pass by itself
        with Pretend():
            return engine(*args, **kwargs)

    torch.autograd._engine_run_backward = torch.autograd.graph._engine_run_backward = backward
    torch.autograd.set_multithreading_enabled(False)
    modes = contextlib.ExitStack()
    modes.enter_context(FakeTensorMode(allow_non_fake_inputs=True))
    modes.enter_context(Pretend())
    return modes


class Compiled:
    """What a launch returns to a program that looks at it."""

    n_regs, n_spills, function, metadata = 64, 0, 0, types.SimpleNamespace(shared=0, num_warps=4, name="")

    def __getattr__(self, name):
        return lambda *a, **k: self

    def __getitem__(self, grid):
        return lambda *a, **k: self


class Recorder:
    def __init__(self, out):
        self.out, self.package, self.case, self.count = open(out, "w"), "", "", 0
        self.texts = os.path.join(os.path.dirname(os.path.abspath(out)), "texts")
        os.makedirs(self.texts, exist_ok=True)

    def take(self, hook, kernel, values, options, grid, go):
        try:
            launch = Launch(kernel, values, options, grid, go)
        except Exception as e:
            print(
                f"{self.package} {self.case}: {kernel.__name__} has no text: {type(e).__name__}: {e}"[:400], flush=True
            )
            return Compiled()
        launch.record.update(package=self.package, case=self.case, key=hook.key, status="recorded")
        with open(os.path.join(self.texts, launch.record["digest"] + ".py"), "w") as f:
            f.write(launch.text)
        self.out.write(json.dumps(launch.record, default=str) + "\n")
        self.out.flush()
        self.count += 1
        return Compiled()


def main_dry(o):
    from replay import run_cases

    stem = o.out.removesuffix(".jsonl")
    for package in o.package:
        if len(o.package) > 1:  # a process each: packages may register operators of the same name
            out = f"{stem}-{package}.jsonl"
            os.system(
                f"{os.sys.executable} {os.path.join(os.path.dirname(__file__), 'replay.py')} dry {package} --out {out}"
                f" --packages {o.packages} --per-kernel {o.per_kernel}"
            )
            continue
        os.makedirs(os.path.dirname(os.path.abspath(o.out)), exist_ok=True)
        recorder = Recorder(o.out)
        hook = Hook(recorder.take, o.per_kernel, o.only, {}, "first")
        hook.pass_by = lambda go: Compiled()
        hook.install()
        recorder.package = package

        def prepare(case):
            recorder.case = case

        with pretend():
            run_cases(o, package, prepare)
        print(f"{package}: {recorder.count} launches", flush=True)
    return 0
