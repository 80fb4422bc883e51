"""What the compiler's algebra says of layouts."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from tile import _C
from tile.errors import SemanticError

from ._layouts import (
    DistributedLinearLayout,
    SharedLayout,
    SharedLinearLayout,
    SliceLayout,
    is_open,
)
from ._syntax import layout_of


@functools.lru_cache(maxsize=1)
def _context() -> Any:
    """The context in which questions are asked: none that a kernel is compiled in."""
    return _C.ir.Context()


def _attribute(layout: Any) -> Any:
    return _C.ir.Attribute.parse(layout.mlir, _context())


def _message(error: Exception) -> str:
    """What the first diagnostic says, without its place."""
    return str(error).strip().splitlines()[0].removeprefix("error: ")


@functools.lru_cache(maxsize=512)
def _linear(text: str, shape: tuple[int, ...]) -> Any:
    return _C.layout.from_encoding(_C.ir.Attribute.parse(text, _context()), list(shape))


def linear_layout(layout: Any, shape: Sequence[int]) -> Any:
    """The `_C.layout.LinearLayout` of a tensor (or buffer) of this shape."""
    if is_open(layout):
        raise SemanticError(f"{layout!r} is left open: nothing is known of it yet")
    try:
        return _linear(layout.mlir, tuple(shape))
    except _C.ir.MLIRError as error:
        raise SemanticError(
            f"{layout!r} does not fit the shape {list(shape)}: {_message(error)}"
        ) from None


def as_linear(layout: Any, shape: Sequence[int]) -> Any:
    """The same places, spelled out: a `DistributedLinearLayout` or a `SharedLinearLayout`."""
    bases = linear_layout(layout, shape).bases

    def of(name: str) -> list[list[int]]:
        return [list(basis) for basis in bases.get(name, [])]

    if isinstance(layout, SharedLayout):
        return SharedLinearLayout(of("offset"), of("block"))
    return DistributedLinearLayout(of("register"), of("lane"), of("warp"), of("block"), list(shape))


@functools.lru_cache(maxsize=512)
def _infer(kind: str, text: str, shape: tuple[int, ...], argument: tuple[int, ...]) -> str:
    attribute = _C.ir.Attribute.parse(text, _context())
    return str(_C.layout.infer(kind, attribute, list(shape), list(argument)))


def infer(
    kind: str, layout: Any, shape: Sequence[int], argument: Sequence[int], result: Sequence[int]
) -> Any:
    """The layout of what `kind` ("trans", "reshape", "join", "split", ...) makes, of shape
    `result`, of a tensor of this layout and shape."""
    if is_open(layout):
        return layout
    try:
        text = _infer(kind, layout.mlir, tuple(shape), tuple(argument))
    except _C.ir.MLIRError as error:
        raise SemanticError(
            f"{kind} of a tensor of shape {list(shape)} in {layout!r}: {_message(error)}"
        ) from None
    # Each half of the last dimension is a slice: joined, they are what they were before.
    return SliceLayout(len(result), layout) if kind == "split" else layout_of(text, result)


def moves_data(source: Any, target: Any, shape: Sequence[int]) -> bool:
    """Whether converting one layout to the other takes more than to rename registers."""
    if is_open(source) or is_open(target):
        return False
    pair = linear_layout(source, shape), linear_layout(target, shape)
    return _C.layout.conversion_kind(*pair) not in ("no-op", "registers")


def count_conflicts(distributed: Any, shared: Any) -> int:
    """How often an instruction that moves a tensor to or from a buffer waits for a bank."""
    bits = max(8, distributed.element_ty.primitive_bitwidth)
    shape = list(distributed.shape)
    linear_layout(distributed.layout, shape)
    linear_layout(shared.layout, shape)  # Says it if one of them does not fit.
    pads = getattr(shared.layout, "interval_padding_pairs", [])
    return _C.layout.bank_conflicts(
        _attribute(distributed.layout), _attribute(shared.layout), shape, bits, pads
    )


def tensor_registers(buffer: str, num_warps: int, shape: str, divides_columns: bool) -> list:
    """The bases of the layout in which warps load a buffer of this type in tensor memory, by
    instructions of this shape; none if they cannot."""
    ty = _C.ir.Type.parse(buffer, _context())
    try:
        return _C.layout.tensor_registers(ty, num_warps, shape, divides_columns)
    except _C.ir.MLIRError as error:
        raise SemanticError(f"{buffer}: {_message(error)}") from None
