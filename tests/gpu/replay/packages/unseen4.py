"""A fourth choice of repositories none of whose kernels had been timed when they were chosen. There are 34; their names
and commits are in unseen4_axolotl.py, unseen4_layers.py, unseen4_attention.py, unseen4_experts.py, unseen4_serving.py,
unseen4_quantised.py, unseen4_space.py and unseen4_lessons.py.

Of each repository the `.py` files do. Its folder's name is the first part of its entry in PATHS."""

import types

import torch

from packages import (
    stand_ins, unseen4_attention, unseen4_axolotl, unseen4_experts, unseen4_layers, unseen4_lessons, unseen4_quantised,
    unseen4_serving, unseen4_space,
)  # fmt: skip
from packages.common import stub

PATHS = [
    "unseen4/" + name
    for name in (
        "axolotl/src", "optimi", "xma", "mdy", "flexprefill", "moa", "nsa", "linearmoe", "tttdit", "mamba3",
        "megatron", "veomni", "torchtitan", "flashnn", "executorch", "kitchen", "lightx2v", "tgi/server", "modelopt",
        "cachedit/src", "autoround", "gguf/kernels", "ring", "equitriton/src", "gsplat", "gsplat/triton_tests",
        "physicsnemo", "pyg", "protenix", "fastfold", "kernels", "lessons", "agent/examples",
        "reference/problems/linalg", "nuggets",
    )
]  # fmt: skip


def cases():
    stand_ins.install()
    stub("loguru", logger=types.SimpleNamespace(info=lambda *words: None))
    torch._dynamo.config.disable = True
    torch.library.custom_op = torch.library.triton_op = stand_ins.plain_operator
    for part in (
        unseen4_axolotl, unseen4_layers, unseen4_attention, unseen4_experts, unseen4_serving, unseen4_quantised,
        unseen4_space, unseen4_lessons,
    ):  # fmt: skip
        yield from part.cases()
