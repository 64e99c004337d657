"""What programs for a GPU see of PyTorch where there is none: an H200 whose memory is the CPU's."""
import contextlib
import functools
import inspect
import types

import torch
from torch.overrides import TorchFunctionMode

GPU = torch.device("cuda", 0)
PROPERTIES = types.SimpleNamespace(
    name="NVIDIA H200",
    multi_processor_count=132,
    total_memory=141 << 30,
    shared_memory_per_block=49152,
    shared_memory_per_block_optin=232448,
    regs_per_multiprocessor=65536,
    max_threads_per_multi_processor=2048,
    major=9,
    minor=0,
    warp_size=32,
    L2_cache_size=50 << 20,
)


class Context(contextlib.nullcontext):
    idx = prev_idx = 0

    def __init__(self, *args, **kwargs):
        super().__init__()


class Stream:
    cuda_stream, device = 0, GPU

    def __init__(self, *args, **kwargs):
        pass

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


class OnCpu(TorchFunctionMode):
    """Tensors that a program makes on the GPU, or brings there, are on the CPU."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = {k: on_cpu(v) if k == "device" else v for k, v in (kwargs or {}).items()}
        name = getattr(function, "__name__", "")
        if name == "cuda":
            return args[0]
        if name == "to":
            args = (args[0], *map(on_cpu, args[1:]))
        if name in ("record_stream", "pin_memory", "set_device"):
            return args[0] if name == "pin_memory" else None
        return function(*args, **kwargs)


def reach_backward(mode):
    """A function mode does not reach into a backward pass by itself."""
    engine = torch.autograd.graph._engine_run_backward

    def backward(*args, **kwargs):
        with mode():
            return engine(*args, **kwargs)

    torch.autograd._engine_run_backward = torch.autograd.graph._engine_run_backward = backward
    torch.autograd.set_multithreading_enabled(False)


def answer_for_gpu():
    """Makes torch.cuda answer for the GPU."""
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
        set_device=None,
        is_current_stream_capturing=False,
        is_bf16_supported=True,
        mem_get_info=(141 << 30, 141 << 30),
        is_initialized=True,
        _lazy_init=None,
        init=None,
    ).items():
        setattr(cuda, name, lambda *a, value=value, **k: value)
    torch._C._cuda_getCurrentRawStream = lambda device: 0
    torch._C._accelerator_getDeviceIndex = lambda: 0
    torch.get_device_module = lambda *a: cuda
    for name in ("device", "stream", "device_of", "_DeviceGuard"):
        setattr(cuda, name, Context)
    cuda.Stream = cuda.Event = Stream


# ---- tensors with data; those of replay/dry.py are PyTorch's fake ones

_INSIDE = ("torch", "triton", "tilec")   # packages that see where a tensor really is
_ASKED = {torch.Tensor.device.__get__: GPU, torch.Tensor.is_cuda.__get__: True, torch.Tensor.is_cpu.__get__: False,
          torch.Tensor.get_device: 0}


class RealOnCpu(OnCpu):
    """And if a program asks, they are on the GPU."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function in _ASKED:
            asks = inspect.currentframe().f_back.f_globals.get("__name__", "")
            if asks.partition(".")[0] not in _INSIDE:
                return _ASKED[function]
        return super().__torch_function__(function, types, args, kwargs)


def _with_devices_on_cpu(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*map(on_cpu, args), **{k: on_cpu(v) for k, v in kwargs.items()})
    return call


def pretend():
    """Lets this thread's programs run from here on as if there were a GPU. Returns the function mode that does it."""
    answer_for_gpu()
    cuda = torch.cuda
    cuda.default_generators = (torch.default_generator,)
    cuda.get_rng_state = lambda *a: torch.get_rng_state()
    cuda.set_rng_state = lambda state, *a: torch.set_rng_state(state)
    for name in ("manual_seed", "manual_seed_all", "reset_peak_memory_stats", "memory_allocated",
                 "max_memory_allocated", "memory_reserved"):
        setattr(cuda, name, lambda *a, **k: 0)
    torch.autocast.__init__ = _with_devices_on_cpu(torch.autocast.__init__)
    for module, name in ((torch, "is_autocast_enabled"), (torch, "get_autocast_dtype"), (torch.amp, "custom_fwd"),
                         (torch.amp, "custom_bwd")):
        setattr(module, name, _with_devices_on_cpu(getattr(module, name)))
    reach_backward(RealOnCpu)
    mode = RealOnCpu()
    mode.__enter__()
    return mode
