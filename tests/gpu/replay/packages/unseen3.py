"""A third choice of repositories none of whose kernels had been timed when they were chosen. There are 31; their names
and commits are in unseen3_models.py, unseen3_serving.py, unseen3_quantised.py, unseen3_scans.py and unseen3_linghe.py.

Of each repository the `.py` files do. Its folder's name is the first part of its entry in PATHS."""

import torch

from packages import (
    stand_ins, unseen3_linghe, unseen3_models, unseen3_quantised, unseen3_scans, unseen3_serving,
)  # fmt: skip

PATHS = [
    "unseen3/" + name
    for name in (
        "sam3", "msda/src", "sfast/src", "qtrain/kernels", "fairchem/src", "allegro", "apex", "infclip", "deberta/src",
        "momoe", "automodel", "specforge", "activations", "rtp", "flashinfer", "swiftllm", "lite",
        "doublesparse/models", "doublesparse/models/triton_kernels", "hydragen", "hip/src", "jetfire", "two4",
        "teal/kernels", "bitdelta", "aqlm/inference_lib/src", "primus", "xopes", "bla", "loglinear",
        "jet/jetai/modeling/hf", "linghe",
    )
]  # fmt: skip


def cases():
    stand_ins.install()
    torch._dynamo.config.disable = True
    for part in (unseen3_models, unseen3_serving, unseen3_quantised, unseen3_scans, unseen3_linghe):
        yield from part.cases()
