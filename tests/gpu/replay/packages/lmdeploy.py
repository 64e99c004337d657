"""lmdeploy 0.18.0: the Triton kernels of its PyTorch engine, at the sizes of models in use."""

import dataclasses
import importlib
import logging
import os
import sys

from packages import stand_ins
from packages.common import BarePackages, answer
from packages.lmdeploy_attention import ATTENTION
from packages.lmdeploy_rows import ROWS

PATHS = ["lmdeploy"]
# Modules that need other libraries, and of which the kernels need a name or two.
MACHINE = [
    "lmdeploy.utils",
    "lmdeploy.tokenizer",
    "lmdeploy.pytorch.backends.rejection_sampling",
    "lmdeploy.pytorch.disagg.config",
    "lmdeploy.pytorch.disagg.conn.protocol",
    "pydantic",
    "pydantic.dataclasses",
]


def load():
    stand_ins.install()
    folder = next(p for p in sys.path if os.path.isdir(os.path.join(p, "lmdeploy", "pytorch")))
    BarePackages("lmdeploy", folder)
    answer(MACHINE, folder, dataclass=dataclasses.dataclass, get_logger=logging.getLogger, PLACEHOLDER_TOKEN_ID=-1)


def kernels(module):
    return importlib.import_module("lmdeploy.pytorch.kernels.cuda." + module)


def policy(name):
    """How the cache of keys and values is quantised: NONE, INT8, FP8, …"""
    return importlib.import_module("lmdeploy.messages").QuantPolicy[name]


def cases():
    load()
    for name, case in {**ATTENTION, **ROWS}.items():
        yield name, lambda case=case: case(kernels, policy)
