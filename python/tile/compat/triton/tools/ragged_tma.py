"""Tiles of batches that lie one after the other, through one descriptor.

A tile that reaches beyond the end of its batch must not touch the next one, and a
descriptor knows only one end. So the descriptor has two dimensions in front whose
strides cancel the origin of a third. In the third, the end of the batch is the end of
the dimension. Addresses come out right because they wrap around at 64 bits.
"""

from __future__ import annotations

from typing import Any

from tile import jit
from tile import language as tl
from tile.tools.tensor_descriptor import TensorDescriptor

#: The extent of the dimension whose end is the end of a batch.
_ORIGIN = tl.constexpr(1 << 30)
_UNBOUNDED = 0x7FFF0000


def create_ragged_descriptor(T: Any, block_shape: Any, ragged_dim: int = 0) -> TensorDescriptor:
    """A descriptor of a tensor whose dimension `ragged_dim` holds batches."""
    rank = len(T.shape)
    block = list(block_shape)
    if len(block) != rank:
        raise ValueError(f"block_shape has {len(block)} dimensions, expected {rank} as the tensor")
    if not 1 <= rank <= 3:
        raise ValueError(f"the tensor has {rank} dimensions, expected 1 to 3")
    dim = ragged_dim % rank
    strides = list(T.stride()) if hasattr(T, "stride") else [s // T.itemsize for s in T.strides]
    step, origin = strides[dim], _ORIGIN.value
    shape = [_UNBOUNDED, _UNBOUNDED, *T.shape[:dim], origin, *T.shape[dim + 1 :]]
    # origin * (2**34 - step) is -origin * step in 64 bits.
    return TensorDescriptor(T, shape, [(1 << 34) - step, step, *strides], [1, 1, *block])


@jit
def to_ragged_indices(batch_offset, batch_size, row):
    """The three coordinates of a row of a batch."""
    return _ORIGIN, batch_offset + batch_size, _ORIGIN - batch_size + row


@jit
def load_ragged(TMA, batch_offset, batch_size, coords, ragged_dim: tl.constexpr = 0):
    """A tile of the batch that begins at `batch_offset`; zeros beyond its end."""
    c0, c1, c2 = to_ragged_indices(batch_offset, batch_size, coords[ragged_dim])
    data = TMA.load([c0, c1, *coords[:ragged_dim], c2, *coords[ragged_dim + 1 :]])
    return tl.reshape(data, data.shape[2:])


@jit
def store_ragged(TMA, batch_offset, batch_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Stores what of a tile lies in the batch."""
    c0, c1, c2 = to_ragged_indices(batch_offset, batch_size, coords[ragged_dim])
    data = tl.reshape(data, [1, 1, *data.shape])
    TMA.store([c0, c1, *coords[:ragged_dim], c2, *coords[ragged_dim + 1 :]], data)


@jit
def atomic_add_ragged(TMA, batch_offset, batch_size, coords, data, ragged_dim: tl.constexpr = 0):
    """Adds what of a tile lies in the batch."""
    c0, c1, c2 = to_ragged_indices(batch_offset, batch_size, coords[ragged_dim])
    data = tl.reshape(data, [1, 1, *data.shape])
    TMA.atomic_add([c0, c1, *coords[:ragged_dim], c2, *coords[ragged_dim + 1 :]], data)


__all__ = [
    "TensorDescriptor", "atomic_add_ragged", "create_ragged_descriptor", "load_ragged",
    "store_ragged", "to_ragged_indices",
]  # fmt: skip
