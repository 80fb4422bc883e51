"""Buffers in shared memory: bytes, and where each element lies in them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .. import _C
from ..errors import InterpreterError
from .numbers import element_of, scalar_of
from .registry import operation

#: What memory holds that nothing has written: NaN, or -1.
_UNWRITTEN = 0xFF


class Buffer:
    """A view of memory; `places` has the byte at which each element lies."""

    def __init__(
        self, memory: np.ndarray, places: np.ndarray, element: np.dtype, ty: Any, barriers: dict
    ) -> None:
        self.memory = memory
        self.places = places
        self.element = element
        #: The type as IR has it.
        self.type = ty
        #: The barriers in the memory, by the byte at which they lie.
        self.barriers = barriers

    @property
    def nbytes(self) -> int:
        return self.places.size * self.element.itemsize

    def _elements(self) -> np.ndarray:
        size = self.element.itemsize
        return self.memory[: self.memory.size // size * size].view(self.element)

    def load(self) -> np.ndarray:
        return self._elements()[self.places // self.element.itemsize]

    def store(self, value: np.ndarray) -> None:
        self._elements()[self.places // self.element.itemsize] = value

    def view(self, places: np.ndarray, ty: Any) -> Buffer:
        return Buffer(self.memory, places, self.element, ty, self.barriers)


@functools.lru_cache(maxsize=1)
def _context() -> Any:
    """The context in which questions are asked: none that a kernel is compiled in."""
    return _C.ir.Context()


def parse_type(text: str) -> Any:
    """A type as IR has it."""
    return _C.ir.Type.parse(text, _context())


@functools.lru_cache(maxsize=256)
def _offsets(layout: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """Where the elements of one buffer lie, in elements, and how many it takes with its gaps."""
    encoding = _C.ir.Attribute.parse(layout.mlir, _context())
    bases = _C.layout.from_encoding(encoding, list(shape)).bases
    if any(any(basis) for basis in bases.get("block", [])):
        raise InterpreterError("the interpreter runs programs of one block, not of clusters")
    count = 1 << len(bases["offset"])
    offset = np.arange(count, dtype=np.int64)
    places = np.zeros((len(shape), count), np.int64)
    for bit, basis in enumerate(bases["offset"]):
        chosen = (offset >> bit & 1).astype(bool)
        for dim, step in enumerate(basis):
            places[dim, chosen] ^= step
    padded = offset.copy()
    for interval, padding in getattr(layout, "interval_padding_pairs", []):
        padded += offset // interval * padding
    result = np.zeros(shape, np.int64)
    result[tuple(places)] = padded
    return result, int(padded[-1]) + 1


def _places(ty: Any) -> tuple[np.ndarray, int]:
    """The places of a buffer, or of an array of buffers, in bytes, and how many bytes there are."""
    rank = ty.layout.rank
    one, size = _offsets(ty.buffer_layout, tuple(ty.shape[ty.rank - rank :]))
    itemsize = element_of(ty.element_ty).itemsize
    if rank == ty.rank:
        return one * itemsize, size * itemsize
    count = ty.shape[0]
    first = np.arange(count, dtype=np.int64).reshape(-1, *[1] * rank) * size
    return (first + one) * itemsize, count * size * itemsize


@operation("ttg.local_alloc")
def _alloc(b: Any, operands: Any, attributes: Any, types: Any) -> Buffer:
    ty = types[0]
    places, size = _places(ty)
    memory = np.full(size, _UNWRITTEN, np.uint8)
    buffer = Buffer(memory, places, element_of(ty.element_ty), parse_type(ty.mlir), {})
    if operands:
        buffer.store(operands[0])
    return buffer


@operation("ttg.local_load")
def _load(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return operands[0].load()


@operation("ttg.local_store")
def _store(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    value, buffer = operands
    if not b.phantom:
        buffer.store(value)


# Views.


@operation("ttg.memdesc_index")
def _index(b: Any, operands: Any, attributes: Any, types: Any) -> Buffer:
    buffer, index = operands[0], scalar_of(operands[1])
    count = buffer.places.shape[0]
    if not 0 <= index < count:
        if not b.phantom:
            raise InterpreterError(f"there is no buffer {index} of {count}")
        index = 0
    return buffer.view(buffer.places[index], parse_type(types[0].mlir))


@operation("ttg.memdesc_subslice")
def _subslice(b: Any, operands: Any, attributes: Any, types: Any) -> Buffer:
    where = zip(attributes["offsets"], types[0].shape, strict=True)
    part = tuple(slice(at, at + extent) for at, extent in where)
    return operands[0].view(operands[0].places[part], parse_type(types[0].mlir))


@operation("ttg.memdesc_trans")
def _permute(b: Any, operands: Any, attributes: Any, types: Any) -> Buffer:
    buffer, order = operands[0], attributes["order"]
    places = buffer.places.transpose(order)
    if types:
        return buffer.view(places, parse_type(types[0].mlir))
    encoding = _C.layout.encoding(buffer.type)
    layout = _C.layout.infer("trans", encoding, list(buffer.places.shape), order)
    shape = "x".join(map(str, places.shape))
    element = str(buffer.type).split("<", 1)[1].split(",", 1)[0].rsplit("x", 1)[1]
    text = f"!ttg.memdesc<{shape}x{element}, {layout}, #ttg.shared_memory, mutable>"
    return buffer.view(places, parse_type(text))


@operation("ttg.memdesc_reshape")
def _reshape(b: Any, operands: Any, attributes: Any, types: Any) -> Buffer:
    shape = [int(extent) for extent in str(types[0]).split("<", 1)[1].split("x")[:-1] if
             extent.isdigit()]  # fmt: skip
    return operands[0].view(operands[0].places.reshape(shape), types[0])


@operation("ttg.memdesc_reinterpret")
def _reinterpret(b: Any, operands: Any, attributes: Any, types: Any) -> Buffer:
    buffer, ty = operands[0], types[0]
    places, size = _places(ty)
    begin = int(buffer.places.min())
    if begin + size > buffer.memory.size:
        raise InterpreterError(
            f"a buffer of {size} bytes is larger than the memory behind the one that it is made "
            f"of, {buffer.memory.size - begin} bytes"
        )
    element = element_of(ty.element_ty)
    return Buffer(buffer.memory, begin + places, element, parse_type(ty.mlir), buffer.barriers)
