"""Gluon's layouts as objects of the host: fields, comparison, and the expression that a kernel writes for them."""
import functools
import operator
from dataclasses import dataclass, field, fields
from typing import List

from ....language.core import _Named, _unwrap_if_constexpr, constexpr_type


def _plain(value):
    """Returns a field without the constexprs in it."""
    if type(value) is int:
        return value
    value = _unwrap_if_constexpr(value)
    if isinstance(value, (list, tuple)):
        return type(value)(map(_plain, value))
    if value is None or isinstance(value, (bool, _Layout)):
        return value
    return operator.index(value)


def _text(value):
    """Returns a field as a kernel writes it."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    return value._tile_expression() if isinstance(value, _Layout) else repr(value)


def _frozen(value):
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


_known, _made = {}, {}


class _Interned(_Named):
    """The class of layouts: equal ones are one object, by which the launcher in C knows a constant again. What a layout
    was made from is remembered, too: programs make theirs anew for every launch."""

    def __call__(cls, *args, **kwargs):
        given = cls, _frozen(args), _frozen(tuple(kwargs.items()))
        layout = _made.get(given)
        if layout is None:
            layout = super().__call__(*args, **kwargs)
            layout = _made[given] = _known.setdefault(layout, layout)
        return layout


class _Layout(metaclass=_Interned):
    _tile_module = "triton.experimental.gluon.language"

    def __post_init__(self):
        for f in fields(self):
            object.__setattr__(self, f.name, _plain(getattr(self, f.name)))
        if getattr(self, "cga_layout", ()) is None:
            object.__setattr__(self, "cga_layout", [])
        self._check()

    def _check(self):
        """Raises for a layout that does not exist, where its spelling says so; tilec checks the rest."""

    def __hash__(self):
        return hash((type(self), *(_frozen(getattr(self, f.name)) for f in fields(self))))

    @property
    def type(self):
        return constexpr_type(self)

    def _tile_expression(self):
        given = ", ".join(f"{f.name}={_text(getattr(self, f.name))}" for f in fields(self) if f.init)
        return f"gl.{type(self).__name__}({given})"


def _copy(value):
    return type(value)(map(_copy, value)) if isinstance(value, (list, tuple)) else value


class _Field:
    """A field of a layout. Who reads a list gets a list of its own: one layout serves all that spelled it alike."""

    def __init__(self, name):
        self.name = name

    def __get__(self, layout, cls):
        return self if layout is None else _copy(layout.__dict__[self.name])

    def __set__(self, layout, value):
        layout.__dict__[self.name] = value


def _layout(cls):
    cls.__hash__ = _Layout.__hash__   # a dataclass's own cannot hash lists
    cls = dataclass(frozen=True)(cls)
    for f in fields(cls):
        setattr(cls, f.name, _Field(f.name))
    return cls


def _cga():
    return field(default_factory=list)


def _assert_rank(vectors, rank):
    assert all(len(v) == rank for v in vectors), f"each of {vectors} must have {rank} entries"


class DistributedLayout(_Layout):

    @property
    def rank(self):
        raise ValueError(f"{type(self).__name__} has no rank")


@_layout
class AutoLayout(DistributedLayout):
    pass


@_layout
class CoalescedLayout(DistributedLayout):
    pass


@_layout
class BlockedLayout(DistributedLayout):
    size_per_thread: List[int]
    threads_per_warp: List[int]
    warps_per_cta: List[int]
    order: List[int]
    cga_layout: List[List[int]] = _cga()

    def _check(self):
        _assert_rank((self.size_per_thread, self.threads_per_warp, self.warps_per_cta, *self.cga_layout), self.rank)

    @property
    def rank(self):
        return len(self.order)


@_layout
class SliceLayout(DistributedLayout):
    dim: int
    parent: DistributedLayout

    @property
    def rank(self):
        return self.parent.rank - 1

    @property
    def cga_layout(self):
        return [[n for axis, n in enumerate(v) if axis != self.dim] for v in self.parent.cga_layout]


@_layout
class DistributedLinearLayout(DistributedLayout):
    reg_bases: List[List[int]]
    lane_bases: List[List[int]]
    warp_bases: List[List[int]]
    block_bases: List[List[int]]
    shape: List[int]

    def _check(self):
        _assert_rank((*self.reg_bases, *self.lane_bases, *self.warp_bases, *self.block_bases), self.rank)

    @property
    def rank(self):
        return len(self.shape)


@_layout
class DotOperandLayout(DistributedLayout):
    operand_index: int
    parent: DistributedLayout
    k_width: int

    @property
    def rank(self):
        return self.parent.rank

    @property
    def cga_layout(self):
        k_axis = self.rank - 1 - self.operand_index
        return [[0 if axis == k_axis else n for axis, n in enumerate(v)] for v in self.parent.cga_layout]


@_layout
class NVMMADistributedLayout(DistributedLayout):
    version: List[int]
    warps_per_cta: List[int]
    instr_shape: List[int]
    cga_layout: List[List[int]] = _cga()

    @property
    def rank(self):
        return len(self.warps_per_cta)


class SharedLayout(_Layout):
    pass


def _shape_per_cta(shape, cga_layout):
    """Returns the part of a shape that one block of the cluster holds."""
    shape = list(shape)
    for axis in range(len(shape)):
        blocks = 2 * max((v[axis] for v in cga_layout), default=0) or 1
        assert shape[axis] % blocks == 0, f"Shape {shape} is not divisible by CGA layout {cga_layout}"
        shape[axis] //= blocks
    return shape


@_layout
class NVMMASharedLayout(SharedLayout):
    swizzle_byte_width: int
    element_bitwidth: int
    rank: int = 2
    transposed: bool = False
    fp4_padded: bool = False
    cga_layout: List[List[int]] = _cga()

    def _check(self):
        assert self.element_bitwidth in (8, 16, 32, 64), f"element_bitwidth is 8, 16, 32 or 64: {self}"
        assert self.swizzle_byte_width in (0, 32, 64, 128), f"swizzle_byte_width is 0, 32, 64 or 128: {self}"
        _assert_rank(self.cga_layout, self.rank)

    @staticmethod
    def get_default_for(block_shape, dtype, transposed=False, fp4_padded=False, cga_layout=None):
        """Returns the layout of the widest swizzle that fits rows of the block."""
        bits = _unwrap_if_constexpr(dtype).primitive_bitwidth
        return _default_for(_frozen(_plain(block_shape)), bits, _plain(transposed), _plain(fp4_padded),
                            _frozen(_plain(cga_layout) or ()))


@functools.cache
def _default_for(shape, bits, transposed, fp4_padded, cga):
    outer = _shape_per_cta(shape, cga)
    row = outer.pop(0 if transposed else -1) * bits * (2 if fp4_padded else 1) // 8
    rows = 1
    for n in outer:
        rows *= n
    swizzle = next((s for s in (128, 64, 32) if outer and rows >= 8 and row >= s and row % s == 0), 0)
    return NVMMASharedLayout(swizzle, bits, len(shape), transposed, fp4_padded, [list(v) for v in cga])


@_layout
class SwizzledSharedLayout(SharedLayout):
    vec: int
    per_phase: int
    max_phase: int
    order: List[int]
    cga_layout: List[List[int]] = _cga()


class MBarrierLayout(SwizzledSharedLayout):

    def __init__(self, cga_layout=None):
        super().__init__(vec=1, per_phase=1, max_phase=1, order=[0], cga_layout=cga_layout or [])

    def _tile_expression(self):
        return f"gl.MBarrierLayout({_text(self.cga_layout)})"


def _is_power_of_2(n):
    return n > 0 and n & (n - 1) == 0


@_layout
class PaddedSharedLayout(SharedLayout):
    interval_padding_pairs: List[List[int]]
    offset_bases: List[List[int]]
    block_bases: List[List[int]]
    shape: List[int]

    def _check(self):
        _assert_rank((*self.offset_bases, *self.block_bases), len(self.shape))
        pairs = self.interval_padding_pairs
        assert pairs and all(len(pair) == 2 and all(map(_is_power_of_2, pair)) for pair in pairs), \
            f"interval_padding_pairs holds pairs of powers of two: {self}"
        assert len({interval for interval, _ in pairs}) == len(pairs), f"two pairs have one interval: {self}"
        assert self.shape, f"the shape has no axis: {self}"

    @staticmethod
    def with_identity_for(interval_padding_pairs, shape, order):
        """Returns the layout of a tile whose axes lie in the order's order, fastest first, with gaps."""
        pairs, shape, order = map(_plain, (interval_padding_pairs, shape, order))
        assert len(shape) == len(order) and all(map(_is_power_of_2, shape)), \
            f"{shape} must be of powers of two, and {order} must name each axis"
        bases = [[1 << bit if axis == moved else 0 for axis in range(len(shape))]
                 for moved in order for bit in range(shape[moved].bit_length() - 1)]
        return PaddedSharedLayout(pairs, bases, [], shape)


@_layout
class SharedLinearLayout(SharedLayout):
    offset_bases: List[List[int]]
    block_bases: List[List[int]] = field(default_factory=list)
    alignment: int = 16

    def _check(self):
        assert self.offset_bases and self.offset_bases[0], f"offset_bases is empty: {self}"
        _assert_rank((*self.offset_bases, *self.block_bases), len(self.offset_bases[0]))
        assert _is_power_of_2(self.alignment), f"alignment must be a power of two: {self}"


def warps_per_cta(layout, shape):
    """Returns over how many warps each axis of a distributed layout is spread."""
    if isinstance(layout, (SliceLayout, DotOperandLayout)):
        return warps_per_cta(layout.parent, shape)
    if not isinstance(layout, DistributedLinearLayout):
        return layout.warps_per_cta
    moved = [next((axis for axis, step in enumerate(base) if step), None) for base in layout.warp_bases]
    return [1 << moved.count(axis) for axis in range(len(shape))]
