"""A sixth choice of repositories none of whose kernels had been timed when they were chosen. There are 37; their names
and commits are in unseen6_training.py, unseen6_science.py, unseen6_serving.py and unseen6_tokenspeed.py.

Of each repository the `.py` files do. Its folder's name is the first part of its entry in PATHS."""

import torch

from packages import stand_ins, unseen6_science, unseen6_serving, unseen6_tokenspeed, unseen6_training

PATHS = [
    "unseen6/" + name
    for name in (
        "spikingjelly", "lorafusion", "clifford", "evabyte", "kat", "varmoe", "cortex/src", "onebit/src", "top", "pcfg",
        "windrwkv", "unilm", "effce", "halite/src", "flashmuon", "whisper", "megafold", "sinkhorn/src", "conch",
        "affmae", "cxgnn", "torchrec", "tritonllm", "leetgpu", "tokenspeed/tokenspeed-kernel/python", "exllamav3",
        "diffulex", "quamba", "tritondist/python", "mixtral", "nanovllm", "retro", "flatquant",
        "ibmtriton/ibm-triton-lib", "turboquant", "slora", "xgrammar/python",
    )
]  # fmt: skip


def cases():
    stand_ins.install()
    torch._dynamo.config.disable = True
    torch.compile = lambda function=None, **options: function or (lambda f: f)
    torch.library.custom_op = torch.library.triton_op = stand_ins.plain_operator
    for part in (unseen6_training, unseen6_science, unseen6_serving, unseen6_tokenspeed):
        yield from part.cases()
