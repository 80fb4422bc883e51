"""Arithmetic on pairs of neighbours. What is computed is the same as for single elements."""

from __future__ import annotations

from typing import Any

from tile.errors import SemanticError
from tile.language import arithmetic
from tile.language.conversion import public_cast
from tile.language.dtypes import dtype as _dtype
from tile.language.math import fma
from tile.language.values import builtin, tensor, unwrap


def _operands(values: tuple, what: str, dtype: Any) -> tuple[list[Any], Any]:
    """The operands, and the type of the result if it is said."""
    wanted = unwrap(dtype)
    if wanted is not None and not isinstance(wanted, _dtype):
        raise SemanticError(f"expected 'dtype' to be a dtype, not {wanted!r}")
    if not any(isinstance(v, tensor) and v.type.is_block() for v in values):
        raise SemanticError(
            f"packed arithmetic requires at least one distributed tensor operand: {what} has none"
        )
    return [unwrap(v) for v in values], wanted


def _as(value: Any, wanted: Any) -> Any:
    return value if wanted is None or value.dtype == wanted else public_cast(value, wanted)


def _pairwise(name: str, of: Any, doc: str) -> Any:
    def fn(lhs: Any, rhs: Any, dtype: Any = None) -> Any:
        (lhs, rhs), wanted = _operands((lhs, rhs), name, dtype)
        return _as(of(lhs, rhs), wanted)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = f"{doc}, in pairs of neighbours. `dtype` is the type of the result."
    return builtin(fn)


add2 = _pairwise("add2", arithmetic.add, "lhs + rhs")
sub2 = _pairwise("sub2", arithmetic.sub, "lhs - rhs")
mul2 = _pairwise("mul2", arithmetic.mul, "lhs * rhs")
min2 = _pairwise("min2", arithmetic.minimum, "The smaller of lhs and rhs")
max2 = _pairwise("max2", arithmetic.maximum, "The larger of lhs and rhs")


@builtin
def fma2(lhs: Any, rhs: Any, acc: Any, dtype: Any = None) -> Any:
    """lhs * rhs + acc, rounded once, in pairs of neighbours. `dtype` is the type of the result."""
    (lhs, rhs, acc), wanted = _operands((lhs, rhs, acc), "fma2", dtype)
    return _as(fma(lhs, rhs, acc), wanted)


__all__ = ["add2", "fma2", "max2", "min2", "mul2", "sub2"]
