"""Constants of a program's own classes: what a kernel reads of each of them."""
import abc
import dataclasses
import enum
import threading
import typing

import triton
import triton.language as tl

from ints import Ints

LOCK = threading.Lock()
T = typing.TypeVar("T")


@dataclasses.dataclass(frozen=True)
class Tile:
    rows: int
    scale: float = 0.5
    dtype: tl.dtype = tl.float32

    def __post_init__(self):
        object.__setattr__(self, "rows", self.rows * 2)

    def elements(self):
        return self.rows * 4

    def locked(self):
        with LOCK:   # which no kernel can read
            return self.rows


class Plan(abc.ABC, typing.Generic[T]):

    def __init__(self, text, tile):
        self.steps, self.tile = [int(part) for part in text.split(",")], tile


class Mode(str, enum.Enum):
    SUM = "sum"
    MEAN = "mean"


class Order(str, enum.Enum):
    ROWS = "rows"


@enum.unique
class Part(enum.IntFlag):
    BIAS = enum.auto()
    SCALE = enum.auto()
    ACT = enum.auto()


class Side(enum.Flag):
    LEFT = enum.auto()
    RIGHT = enum.auto()
    TOP = enum.auto()


@triton.jit
def k(out, n, C: tl.constexpr):
    tl.store(out, n + C.rows * C.scale + C.elements())
    tl.store(out + 1, tl.zeros((1,), C.dtype).dtype.primitive_bitwidth)


@triton.jit
def plan(out, C: tl.constexpr):
    tl.store(out, C.steps[1] + C.tile.rows)


@triton.jit
def mode(out, M: tl.constexpr, O: tl.constexpr):
    v = 0
    if M == "sum":
        v += 1
    if M in ("mean", "sum"):
        v += 2
    if M.startswith("me"):
        v += 4
    if O + "-first" == "rows-first":
        v += 8
    if M != O and M.value == M:
        v += 16
    tl.store(out, v)


@triton.jit
def flags(out, P: tl.constexpr, S: tl.constexpr):
    v = 0
    if P & Part.BIAS:
        v += 1
    if P & Part.SCALE:
        v += 2
    if (P & 4) != 0:
        v += 4
    if S & Side.TOP:
        v += 8
    if S == Side.RIGHT:
        v += 16
    tl.store(out, v)


def shown(name, kernel, *args):
    out = Ints(0, 0)
    try:
        kernel[(1,)](out, *args)
        print(f"{name}: {out.data.tolist()}")
    except TypeError as e:
        print(f"{name}: TypeError: {e}")


shown("dataclass", k, 100, Tile(8))                    # 16 rows: 100 + 8 + 64
shown("dataclass", k, 100, Tile(8, 0.25, tl.float16))
changed = Plan("3,5", Tile(1))
shown("object", plan, changed)                         # 5 + 2
changed.steps[1] = 50
shown("object", plan, changed)
shown("text", mode, Mode.SUM, Order.ROWS)
shown("text", mode, Mode.MEAN, Order.ROWS)
shown("flags", flags, Part.BIAS | Part.ACT, Side.TOP | Side.LEFT)
shown("flags", flags, Part.SCALE, Side.RIGHT)
shown("lock", plan, Plan("3,5", LOCK))
