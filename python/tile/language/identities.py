"""Elements that change nothing they are combined with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import SemanticError
from .arithmetic import add, maximum, minimum, mul, where
from .conversion import to_bool
from .dtypes import dtype
from .operands import Operands, is_sequence
from .promotion import broadcast_to_shape, is_constant
from .values import describe, tensor, unwrap


def _lowest(type: dtype) -> Any:
    return float("-inf") if type.is_floating() else type.get_int_min_value()


def _highest(type: dtype) -> Any:
    return float("inf") if type.is_floating() else type.get_int_max_value()


#: Of the functions of the language, for a type.
_KNOWN: dict[Any, Callable[[dtype], Any]] = {
    add: lambda type: 0, mul: lambda type: 1, maximum: _lowest, minimum: _highest
}  # fmt: skip


def _given(identity: Any) -> list[Any]:
    """The numbers in what the user gave, in the order of the blocks."""
    identity = unwrap(identity)
    if is_sequence(identity):
        return [n for part in identity for n in _given(part)]
    if hasattr(identity, "__tile_structure__"):
        return _given(list(identity.__dict__.values()))
    return [identity]


def switch_off(operands: Operands, mask: Any, identity: Any, combine_fn: Any) -> None:
    """Puts the identity into the blocks where the mask does not hold."""
    if unwrap(mask) is None:
        return
    blocks = operands.blocks
    if unwrap(identity) is not None:
        numbers = _given(identity)
    elif combine_fn in _KNOWN and not any(x.dtype.is_fp8() for x in blocks):
        numbers = [_KNOWN[combine_fn](x.dtype) for x in blocks]
    else:
        raise SemanticError(
            f"{operands.what} with a mask needs the identity of its function, as in identity=0: "
            "what an element counts as where the mask does not hold"
        )
    if len(numbers) != len(blocks):
        raise SemanticError(
            f"{operands.what} of {len(blocks)} blocks needs as many identities, not {len(numbers)}"
        )
    for number in numbers:
        if not is_constant(number) and (not isinstance(number, tensor) or number.type.is_block()):
            raise SemanticError(f"an identity is a number, not {describe(number)}")
    holds = broadcast_to_shape(to_bool(mask), blocks[0].shape)
    operands.blocks = [
        _kept_type(where(holds, x, n), x) for x, n in zip(blocks, numbers, strict=True)
    ]


def _kept_type(value: tensor, block: tensor) -> tensor:
    if value.dtype != block.dtype:
        raise SemanticError(
            f"an identity of {block.dtype} has its type, but this one makes it {value.dtype}"
        )
    return value
