"""Arithmetic on pairs of neighbours, or on four of them. What is computed is the same as for single
elements."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language.conversion import cast
from tile.language.dtypes import bfloat16, float8e4nv, float8e5, float16, float32
from tile.language.dtypes import dtype as _dtype
from tile.language.promotion import raise_to_common_shape, to_tensor
from tile.language.state import current
from tile.language.values import builtin, tensor, unwrap

#: Types of elements. Of two, the later one is that of the result.
_TYPES = (float8e5, float8e4nv, bfloat16, float16, float32)
_KINDS = ("add", "sub", "mul", "fma", "min", "max")


def _operands(values: tuple, what: str) -> list[tensor]:
    """The operands as tensors of one shape; numbers take the type of the first tensor."""
    values = tuple(unwrap(v) for v in values)
    blocks = [v for v in values if isinstance(v, tensor) and v.type.is_block()]
    if not blocks:
        raise SemanticError(
            f"packed arithmetic requires at least one distributed tensor operand: {what} has none"
        )
    for value in blocks:
        if value.dtype not in _TYPES:
            raise SemanticError(
                f"{what} takes f32, f16, bf16 and 8-bit floats, not {value.dtype}"
                + (
                    "; tile has no packed arithmetic of 4-bit floats"
                    if value.dtype.is_int()
                    else ""
                )
            )
    result = []
    for value in values:
        if not isinstance(value, tensor):
            value = cast(to_tensor(value), blocks[0].dtype)
        result.append(value if value.dtype in _TYPES else cast(value, blocks[0].dtype))
    return raise_to_common_shape(*result)


def _function(kind: str, count: int, doc: str) -> Any:
    name = f"{kind}{count}"

    def compute(values: tuple, dtype: Any) -> tensor:
        wanted = unwrap(dtype)
        if wanted is not None and not isinstance(wanted, _dtype):
            raise SemanticError(f"expected 'dtype' to be a dtype, not {wanted!r}")
        operands = _operands(values, name)
        element = max((v.dtype for v in operands), key=_TYPES.index) if wanted is None else wanted
        if element not in _TYPES:
            raise SemanticError(f"the result of {name} is f32, f16, bf16 or an 8-bit float")
        b = current()
        ty = operands[0].type.with_element_ty(element)
        attributes = {"kind": b.int_attr(32, _KINDS.index(kind))}
        handles = tuple(v.handle for v in operands)
        return tensor(b.create_one("ttnvgpu.packed_arith", handles, attributes, (b.type(ty),)), ty)

    if kind == "fma":

        def fn(lhs: Any, rhs: Any, acc: Any, dtype: Any = None) -> tensor:
            return compute((lhs, rhs, acc), dtype)

    else:

        def fn(lhs: Any, rhs: Any, dtype: Any = None) -> tensor:  # type: ignore[misc]
            return compute((lhs, rhs), dtype)

    fn.__name__ = fn.__qualname__ = name
    group = "pairs" if count == 2 else "groups of four"
    fn.__doc__ = f"{doc}, in {group} of neighbours. `dtype` is the type of the result."
    return builtin(fn)


add2 = _function("add", 2, "lhs + rhs")
sub2 = _function("sub", 2, "lhs - rhs")
mul2 = _function("mul", 2, "lhs * rhs")
min2 = _function("min", 2, "The smaller of lhs and rhs")
max2 = _function("max", 2, "The larger of lhs and rhs")
fma2 = _function("fma", 2, "lhs * rhs + acc, rounded once")
add4 = _function("add", 4, "lhs + rhs")
sub4 = _function("sub", 4, "lhs - rhs")
mul4 = _function("mul", 4, "lhs * rhs")
fma4 = _function("fma", 4, "lhs * rhs + acc, rounded once")

__all__ = ["add2", "fma2", "max2", "min2", "mul2", "sub2"]
