"""Descriptors of tensors that are rows of several batches, of which a tile may not reach beyond its own.

A descriptor checks one bound for each axis, the same for all tiles. Here a row's coordinate is moved so that the end of
its batch meets the bound _ROWS, and two further axes move the address back: their strides add up to 2**34 elements,
_ROWS times which is a multiple of 2**64 bytes.
"""
import triton
import triton.language as tl

from .tensor_descriptor import TensorDescriptor

_ROWS = 1 << 30
_ANY = 0x7fff0000


def create_ragged_descriptor(T, block_shape, ragged_dim=0):
    """Returns a descriptor of a tensor of rank 2 or 3 for load_ragged, store_ragged and atomic_add_ragged."""
    shape, block = list(T.shape), list(block_shape)
    rank = len(shape)
    axis = ragged_dim + rank if ragged_dim < 0 else ragged_dim
    assert 0 <= axis < rank - 1, "last dimension cannot be ragged"
    assert rank <= 3, "read-write ragged descriptors must have at most 3 dimensions"
    assert len(block) == rank, "block shape must have same length as tensor shape"
    assert shape[axis] <= _ROWS, "number of rows may not exceed 2**30"
    shape[axis] = _ROWS
    row = T.stride(axis)
    return TensorDescriptor(T, [_ANY, _ANY, *shape], [(1 << 34) - row, row, *T.stride()], [1, 1, *block])


@triton.jit
def to_ragged_indices(batch_offset, batch_size, row):
    """Returns the coordinates of a row of a batch along the first two axes and its own."""
    rows: tl.constexpr = 1 << 30
    return rows, batch_offset + batch_size, rows - batch_size + row


@triton.jit
def load_ragged(TMA, batch_offset, batch_size, coords, ragged_dim: tl.constexpr = 0):
    """Loads a tile of the rows batch_offset to batch_offset + batch_size; elements outside of them are zero."""
    tl.static_assert(len(TMA.shape) == len(coords) + 2, "TMA must be a read-write ragged descriptor")
    first, second, row = to_ragged_indices(batch_offset, batch_size, coords[ragged_dim])
    tile = TMA.load([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1:])
    return tl.reshape(tile, tile.shape[2:])


@triton.jit
def store_ragged(TMA, batch_offset, batch_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Stores a tile; elements outside of the batch are left out."""
    first, second, row = to_ragged_indices(batch_offset, batch_size, coords[ragged_dim])
    TMA.store([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1:],
              tl.reshape(data, [1, 1] + data.shape))


@triton.jit
def atomic_add_ragged(TMA, batch_offset, batch_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Adds a tile; elements outside of the batch are left out."""
    first, second, row = to_ragged_indices(batch_offset, batch_size, coords[ragged_dim])
    TMA.atomic_add([first, second] + coords[:ragged_dim] + [row] + coords[ragged_dim + 1:],
                   tl.reshape(data, [1, 1] + data.shape))
