"""The programs of a replay without a GPU: their launches are recorded, none is made.

Tensors are PyTorch's fake ones: they have shapes and no data, so that model sizes cost nothing. They live on the CPU,
and say that they live on a GPU. A number that a program reads from one is made up."""

import contextlib
import json
import os
import types

import torch
from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensor, FakeTensorMode
from triton.backends.compiler import GPUTarget
from triton.runtime import driver

from hook import Hook, Launch
from pretend_gpu import GPU, OnCpu, answer_for_gpu, on_cpu, reach_backward


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


class Pretend(OnCpu):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in ("is_pinned", "allclose") or function is torch.equal:
            return False
        if name == "equal":
            return True  # of a method: programs assert with it
        if name == "tolist" and args[0].dim():
            return [row.tolist() if row.dim() else row.item() for row in args[0]]
        return super().__torch_function__(function, types, args, kwargs)


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
    answer_for_gpu()
    torch.cuda.default_generators = (Generator(),)
    reach_backward(Pretend)
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
