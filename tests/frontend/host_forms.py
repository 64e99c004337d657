# Forms of host code round kernels: decorators that wrap, properties with setters, names that come with a `*`.
# RUN: %tilec %s -n wrapped -s "*fp32, i32" --emit=tile -o - 2>&1 | FileCheck %s
# RUN: %tilec %s -n launched -s "*fp32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=LAUNCHED
# RUN: not %tilec %s -n starred -s "*fp32" --emit=tile -o - 2>&1 | FileCheck %s --check-prefix=STAR
import functools
from math import *

import triton
import triton.language as tl
from nowhere.at_all import *


def logged(fn):
    @functools.wraps(fn)
    def call(*args, **kwargs):
        return fn(*args, **kwargs)

    return call


class Launcher:
    def __init__(self, fn):
        self.fn = fn

    def __getitem__(self, grid):
        return self.fn[grid]


class Tile:
    def __init__(self, size):
        self._size = size

    @property
    def size(self):
        return self._size

    @size.setter
    def size(self, value):
        self._size = value


tile = Tile(8)
tile.size = 2 * tile.size + ceil(0.5)
SIZE = tl.constexpr(tile.size)
WIDTH = configure(SIZE)


# A handler catches what fails deeper in its `try`, too.
try:
    if SIZE.value > 3:
        OFFSET = {}["a"]
except KeyError:
    OFFSET = tl.constexpr(40)


@logged
@triton.jit
def helper(x):
    return x + 1


# A wrapped jit function is compiled, and called from kernels, as the function it is.
# CHECK-LABEL: func @wrapped
# CHECK: constant {value = 17
# CHECK: constant {value = 40
@logged
@triton.jit
def wrapped(x, n):
    tl.store(x + SIZE, helper(tl.load(x)))
    tl.store(x + OFFSET, 1.0)


# LAUNCHED-LABEL: func @launched
@Launcher
@triton.jit
def launched(x):
    tl.store(x, 1.0)


@triton.jit
def starred(x):
    tl.store(x, WIDTH)
    tl.store(x, DEPTH)
# STAR: host_forms.py:[[#@LINE-2]]:17: error: 'configure(...)' is not known at compile time
# STAR: host_forms.py:10:1: note: no module 'nowhere.at_all' is built in, beside this file or on -I
# STAR: host_forms.py:[[#@LINE-3]]:17: error: 'DEPTH' is not known at compile time
# STAR: host_forms.py:10:1: note: no module 'nowhere.at_all' is built in, beside this file or on -I
