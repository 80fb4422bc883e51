"""Block pointers and tensor descriptors: blocks of a strided tensor."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .numbers import element_of, scalar_of, to_tf32
from .registry import operation


@dataclass(frozen=True)
class Strided:
    """A strided tensor in memory; shape and strides count elements."""

    base: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    block: tuple[int, ...]

    def positions(self, offsets: Any) -> list[np.ndarray]:
        """The coordinates of a block's elements, one open array a dimension."""
        return list(
            np.ix_(
                *[
                    o + np.arange(n, dtype=np.int64)
                    for o, n in zip(offsets, self.block, strict=True)
                ]
            )
        )

    def addresses(self, positions: list[np.ndarray], size: int) -> np.ndarray:
        total: Any = np.int64(self.base)
        for position, stride in zip(positions, self.strides, strict=True):
            total = total + position * (stride * size)
        return np.asarray(total)

    def inside(self, positions: list[np.ndarray], dims: Any) -> np.ndarray:
        """Which elements are within the tensor along `dims`."""
        shape = np.broadcast_shapes(*[p.shape for p in positions])
        mask = np.ones(shape, np.bool_)
        for d in dims:
            mask = mask & (positions[d] >= 0) & (positions[d] < self.shape[d])
        return mask


def read_masked(
    b: Any, addresses: np.ndarray, mask: np.ndarray, element: np.dtype, fill: Any, what: str
) -> np.ndarray:
    result = np.full(mask.shape, fill, element)
    if not b.phantom:
        result[mask] = b.memory.read(
            np.broadcast_to(addresses, mask.shape)[mask], element, what, mask
        )
    return result


def write_masked(
    b: Any, addresses: np.ndarray, mask: np.ndarray, value: np.ndarray, what: str
) -> None:
    if not b.phantom:
        addresses = np.broadcast_to(addresses, mask.shape)[mask]
        b.memory.write(addresses, np.broadcast_to(value, mask.shape)[mask], what, mask)


@dataclass(frozen=True)
class BlockPointer:
    """The value of tl.make_block_ptr."""

    tensor: Strided
    offsets: tuple[int, ...]

    def load(self, b: Any, element: np.dtype, checked: Any, padding: Any) -> np.ndarray:
        positions = self.tensor.positions(self.offsets)
        addresses = self.tensor.addresses(positions, element.itemsize)
        mask = self.tensor.inside(positions, checked)
        fill = np.nan if padding == 2 else 0
        return read_masked(b, addresses, mask, element, fill, "load of a block pointer")

    def store(self, b: Any, value: np.ndarray, checked: Any) -> None:
        positions = self.tensor.positions(self.offsets)
        addresses = self.tensor.addresses(positions, value.dtype.itemsize)
        mask = self.tensor.inside(positions, checked)
        write_masked(b, addresses, mask, value, "store to a block pointer")


def _numbers(values: Any) -> tuple[int, ...]:
    return tuple(scalar_of(v) for v in values)


@operation("tt.make_tensor_ptr")
def _make_block_pointer(b: Any, operands: Any, attributes: Any, types: Any) -> BlockPointer:
    block = types[0].element_ty.shape
    rank = len(block)
    base, *rest = _numbers(operands)
    tensor = Strided(base, tuple(rest[:rank]), tuple(rest[rank : 2 * rank]), block)
    return BlockPointer(tensor, tuple(rest[2 * rank :]))


@operation("tt.advance")
def _advance(b: Any, operands: Any, attributes: Any, types: Any) -> BlockPointer:
    pointer, *offsets = operands
    moved = zip(pointer.offsets, _numbers(offsets), strict=True)
    return replace(pointer, offsets=tuple(a + d for a, d in moved))


@dataclass(frozen=True)
class Descriptor:
    """The value of tl.make_tensor_descriptor; out of bounds reads as `fill`."""

    tensor: Strided
    element: np.dtype
    fill: float
    #: Whether min and max compare unsigned integers.
    unsigned: bool
    #: Whether reads round to tf32.
    rounds: bool

    def read(self, b: Any, addresses: np.ndarray, mask: np.ndarray, what: str) -> np.ndarray:
        """The elements at the addresses."""
        found = read_masked(b, addresses, mask, self.element, self.fill, what)
        return to_tf32(found) if self.rounds else found

    def rows(self, x: np.ndarray, y: int) -> tuple[np.ndarray, np.ndarray]:
        """Addresses of the rows in x from column y, and which are inside."""
        columns = y + np.arange(self.tensor.block[1], dtype=np.int64)
        positions = [x.astype(np.int64)[:, None], columns[None, :]]
        addresses = self.tensor.addresses(positions, self.element.itemsize)
        return addresses, self.tensor.inside(positions, (0, 1))

    def at(self, offsets: Any) -> tuple[np.ndarray, np.ndarray]:
        """Addresses of the block at the offsets, and which are inside."""
        positions = self.tensor.positions(_numbers(offsets))
        addresses = self.tensor.addresses(positions, self.element.itemsize)
        return addresses, self.tensor.inside(positions, range(len(positions)))


@dataclass(frozen=True)
class PixelDescriptor(Descriptor):
    """A descriptor of which copies take pixels: `block` of its tensor is of all dimensions."""

    count: int
    channels: int
    steps: tuple[int, ...]
    #: The first and the last pixel of the box, in the dimensions between the first and the last.
    lower: tuple[int, ...]
    last: tuple[int, ...]

    def pixels(self, start: Any, offsets: Any) -> tuple[np.ndarray, np.ndarray]:
        """Addresses of the pixels from `start` on, and which are inside."""
        *pixel, channel = _numbers(start)
        moves = (0, *_numbers(offsets))
        walk = []
        for _ in range(self.count):
            walk.append([p + m for p, m in zip(pixel, moves, strict=True)])
            for d in range(len(pixel) - 1, 0, -1):
                pixel[d] += self.steps[d]
                if pixel[d] <= self.last[d - 1]:
                    break
                pixel[d] = self.lower[d - 1]
            else:
                pixel[0] += 1
        positions = [np.array(column, np.int64)[:, None] for column in zip(*walk, strict=True)]
        positions.append((channel + np.arange(self.channels, dtype=np.int64))[None, :])
        addresses = self.tensor.addresses(positions, self.element.itemsize)
        return addresses, self.tensor.inside(positions, range(len(positions)))


@operation("tt.make_tensor_descriptor")
def _make_descriptor(b: Any, operands: Any, attributes: Any, types: Any) -> Descriptor:
    block = types[0].block
    rank = len(block.shape)
    base, *rest = _numbers(operands)
    fill = np.nan if attributes.get("padding") == 2 else 0
    strided = Strided(base, tuple(rest[:rank]), tuple(rest[rank:]), block.shape)
    return Descriptor(strided, element_of(block), fill, block.scalar.is_int_unsigned(), False)


@operation("tt.descriptor_load")
def _load(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    desc, *offsets = operands
    addresses, mask = desc.at(offsets)
    loaded = desc.read(b, addresses, mask, "load of a descriptor")
    return loaded.reshape(types[0].shape)


@operation("tt.descriptor_store")
def _store(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    desc, value, *offsets = operands
    addresses, mask = desc.at(offsets)
    write_masked(b, addresses, mask, value, "store to a descriptor")


def _position(x: np.ndarray) -> np.ndarray:
    """Where elements are in the order in which atomic operations compare them: floats of one sign
    compare as their bits do."""
    if x.dtype.kind in "iu":
        return x
    bits = x.view(f"i{x.itemsize}")
    return np.where(bits < 0, bits ^ np.iinfo(bits.dtype).max, bits)


def _smaller(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(_position(b) < _position(a), b, a)


def _larger(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.where(_position(b) > _position(a), b, a)


_REDUCE = {
    1: np.add,
    2: _smaller,
    3: _larger,
    6: np.bitwise_and,
    7: np.bitwise_or,
    8: np.bitwise_xor,
}


@operation("tt.descriptor_reduce")
def _reduce(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    from .access import as_unsigned, atomically

    desc, value, *offsets = operands
    addresses, mask = desc.at(offsets)
    if b.phantom or not mask.any():
        return
    values = value[mask]
    combine = _REDUCE[attributes["kind"]]
    if desc.unsigned:
        combine = as_unsigned(combine)
    atomically(
        b, np.broadcast_to(addresses, mask.shape)[mask], values, "atomic operation of a descriptor",
        lambda found, turn: combine(found, values[turn]), mask,
    )  # fmt: skip


@operation("tt.descriptor_gather")
def _gather(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    desc, x, y = operands
    addresses, mask = desc.rows(x, scalar_of(y))
    return desc.read(b, addresses, mask, "gather of a descriptor")


@operation("tt.descriptor_scatter")
def _scatter(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    desc, x, y, value = operands
    addresses, mask = desc.rows(x, scalar_of(y))
    write_masked(b, addresses, mask, value, "scatter of a descriptor")


__all__ = ["BlockPointer", "Descriptor", "Strided"]
