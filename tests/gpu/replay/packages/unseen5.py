"""A fifth choice of repositories none of whose kernels had been timed when they were chosen. There are 25; their names
and commits are in unseen5_training.py, unseen5_attention.py, unseen5_images.py, unseen5_quantised.py,
unseen5_serving.py and unseen5_atoms.py.

Of each repository the `.py` files do. Its folder's name is the first part of its entry in PATHS."""

import torch

from packages import (
    stand_ins, unseen5_atoms, unseen5_attention, unseen5_images, unseen5_quantised, unseen5_serving, unseen5_training,
)  # fmt: skip

PATHS = [
    "unseen5/" + name
    for name in (
        "fastllm", "sonic", "slime", "qwen3moe", "thunder", "lxent", "cvmm/triton_src", "emerging", "lact/lact_llm",
        "recsys/examples", "magi", "sdnq/src", "areal", "gptoss", "savanna", "turbo",
        "turbo/TurboT2AV/LTX-2/packages/ltx-distillation/src", "ltx2/packages/ltx-core/src", "evit", "longcat", "angel",
        "prime/src", "fmsmo", "oaisae", "flood/flood", "deepmd",
    )
]  # fmt: skip


def cases():
    stand_ins.install()
    torch._dynamo.config.disable = True
    torch.compile = lambda function=None, **options: function or (lambda f: f)
    torch.library.custom_op = torch.library.triton_op = stand_ins.plain_operator
    for part in (
        unseen5_training, unseen5_attention, unseen5_images, unseen5_quantised, unseen5_serving, unseen5_atoms,
    ):  # fmt: skip
        yield from part.cases()
