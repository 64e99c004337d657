"""sglang 0.5.23: the Triton kernels of its serving stack, at the sizes of models in use."""

import contextlib
import functools
import importlib
import os
import sys
import types

from packages import stand_ins
from packages.common import Answers, BarePackages, answer
from packages.sglang_models import MODELS
from packages.sglang_rows import NORMS, POINTWISE, QUANTIZED

PATHS = ["sglang"]
# Modules that ask about the machine, the server or other libraries.
MACHINE = [
    "sglang.srt." + n
    for n in (
        "utils",
        "utils.common",
        "utils.custom_op",
        "utils.patch_torch",
        "runtime_context",
        "platforms",
        "platforms.interface",
        "server_args",
        "layers.moe.utils",
        "layers.dp_attention",
        "model_executor.cuda_graph_config",
        "distributed",
        "distributed.parallel_state",
        "environ",
        "batch_invariant_ops",
    )
]
MACHINE += [
    "sglang.kernels.jit.utils",
    "sglang.kernels.jit.utils.common",
    "sglang.kernels.spec",
    "sglang.kernels.registry",
    "sglang.kernels.fused_op",
    "sglang.kernels.ops.quantization",
    "sglang.multimodal_gen.runtime.platforms",
    "msgspec",
    "msgspec.structs",
    "orjson",
    "sgl_kernel",
    "flashinfer",
    "tvm_ffi",
]


class Platform:
    def __getattr__(self, name):
        if name == "capabilities":
            return self
        return (
            (lambda: name == "is_cuda")
            if name in ("is_cuda", "is_hip", "is_xpu", "is_npu", "is_cpu", "is_musa")
            else name in ("is_sm90", "supports_triton")
        )


def load():
    stand_ins.install()
    folder = next(p for p in sys.path if os.path.isdir(os.path.join(p, "sglang", "kernels")))
    BarePackages("sglang", folder)
    arch = types.SimpleNamespace(major=9, minor=0, target_name="sm_90a")
    none = Answers("none")
    known = dict(
        torch_release=(2, 11, 0),
        get_jit_cuda_arch=lambda: arch,
        get_device_capability=lambda *a: (9, 0),
        cache_once=functools.cache,
        get_device=lambda *a: "cuda",
        get_device_name=lambda *a: "NVIDIA_H200",
        get_device_core_count=lambda *a: 132,
        get_cuda_version=lambda: (13, 0),
        envs=none,
        device_context=lambda *a: contextlib.nullcontext(),
        current_platform=Platform(),
        get_platform=lambda: Platform(),
        next_power_of_2=lambda n: 1 << (n - 1).bit_length(),
        field=lambda **k: None,
        aligned_new_empty=lambda t, shape, *a, **k: t.new_empty(shape, **k),
    )
    answer(MACHINE, folder, **known)


def cases():
    load()
    for module, name, call in QUANTIZED + POINTWISE + NORMS + MODELS:
        yield f"{module}.{name}", lambda module=module, name=name, call=call: call(
            getattr(importlib.import_module("sglang.kernels.ops." + module), name)
        )
