"""Elementwise mathematical functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import SemanticError
from . import dtypes as dt
from .arithmetic import _binary, _unary
from .arithmetic import neg as _neg
from .conversion import cast
from .promotion import binary_operands, is_constant, to_tensor
from .state import current
from .values import builtin, member, tensor, unwrap

_FLOATS = ("fp32", "fp64")


def _check(x: tensor, name: str, allowed: tuple[str, ...]) -> None:
    if x.dtype.name not in allowed:
        names = (
            " or ".join(allowed)
            if len(allowed) < 3
            else ", ".join(allowed[:-1]) + " or " + allowed[-1]
        )
        raise SemanticError(
            f"Expected dtype {names} in tl.{name}, not {x.dtype}; convert with .to()"
        )


def _function(
    name: str, op: str, doc: str, allowed: tuple[str, ...] = _FLOATS
) -> Callable[[Any], tensor]:
    def fn(x: Any) -> tensor:
        x = to_tensor(x)
        _check(x, name, allowed)
        return _unary(op, x)

    fn.__name__ = fn.__qualname__ = name
    fn.__doc__ = doc
    return member(name)(builtin(fn))


exp = _function(
    "exp",
    "math.exp",
    """e to the power of x.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.exp(tl.arange(0, 4))``.

>>> tl.exp(tl.full([1], 0.0, tl.float32))
1
""",
)
exp2 = _function(
    "exp2",
    "math.exp2",
    """2 to the power of x.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.exp2(tl.arange(0, 4))``.

>>> tl.exp2(tl.full([1], 3.0, tl.float32))
8
""",
)
log = _function(
    "log",
    "math.log",
    """Natural logarithm.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.log(tl.arange(0, 4))``.

>>> tl.log(tl.full([1], 1.0, tl.float32))
0
""",
)
log2 = _function(
    "log2",
    "math.log2",
    """Logarithm to base 2.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.log2(tl.arange(0, 4))``.

>>> tl.log2(tl.full([1], 8.0, tl.float32))
3
""",
)
cos = _function(
    "cos",
    "math.cos",
    """Cosine.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.cos(tl.arange(0, 4))``.

>>> tl.cos(tl.full([1], 0.0, tl.float32))
1
""",
)
sin = _function(
    "sin",
    "math.sin",
    """Sine.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.sin(tl.arange(0, 4))``.

>>> tl.sin(tl.full([1], 0.0, tl.float32))
0
""",
)
sqrt = _function(
    "sqrt",
    "math.sqrt",
    """Square root, as fast as the hardware has it.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.sqrt(tl.arange(0, 4))``.

>>> tl.sqrt(tl.full([1], 9.0, tl.float32))
3
""",
)
sqrt_rn = _function(
    "sqrt_rn",
    "tt.precise_sqrt",
    """Square root, correctly rounded.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.sqrt_rn(tl.arange(0, 4))``.

>>> tl.sqrt_rn(tl.full([1], 9.0, tl.float32))
3
""",
    ("fp32",),
)
rsqrt = _function(
    "rsqrt",
    "math.rsqrt",
    """One over the square root.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.rsqrt(tl.arange(0, 4))``.

>>> tl.rsqrt(tl.full([1], 4.0, tl.float32))
0.5
""",
)
erf = _function(
    "erf",
    "math.erf",
    """Error function.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.erf(tl.arange(0, 4))``.

>>> tl.erf(tl.full([1], 0.0, tl.float32))
0
""",
)
floor = _function(
    "floor",
    "math.floor",
    """Largest integer not above x.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.floor(tl.arange(0, 4))``.

>>> tl.floor(tl.full([1], 1.5, tl.float32))
1
""",
)
ceil = _function(
    "ceil",
    "math.ceil",
    """Smallest integer not below x.

Takes a scalar or a block of any shape; the result has the same shape. Integers are refused:
convert them with `.to(tl.float32)`.

Refused: ``tl.ceil(tl.arange(0, 4))``.

>>> tl.ceil(tl.full([1], 1.5, tl.float32))
2
""",
)


@member()
@builtin
def abs(x: Any) -> tensor:
    """Absolute value.

    Takes a scalar or a block of any shape; the result has the same shape.

    Refused: ``tl.abs(p)``.

    >>> tl.abs(tl.arange(0, 4) - 2)
    [2 1 0 1]
    """
    x = to_tensor(x)
    if x.dtype.is_fp8():
        return cast(_unary("math.absf", cast(x, dt.float16)), x.dtype)
    if x.dtype.is_floating():
        return _unary("math.absf", x)
    if x.dtype.is_int_signed():
        return _unary("math.absi", x)
    if x.dtype.is_int():
        return x
    raise SemanticError(f"tl.abs takes numbers, not {x.dtype}")


@builtin
def fma(x: Any, y: Any, z: Any) -> tensor:
    """x * y + z, rounded once.

    The operands are scalars or blocks, which are broadcast to one shape. They are floats of one
    type.

    Refused: ``tl.fma(p, 1.0, 2.0)``.

    >>> tl.fma(tl.arange(0, 4).to(tl.float32), 2.0, 1.0)
    [1 3 5 7]
    """
    x, y = binary_operands(x, y, "fma")
    z, x = binary_operands(z, x, "fma")
    z, y = binary_operands(z, y, "fma")
    if x.dtype.is_int():
        return _binary("arith.addi", _binary("arith.muli", x, y), z)
    if not x.dtype.is_standard_floating():
        raise SemanticError(f"tl.fma takes numbers, not {x.dtype}")
    b = current()
    handle = b.create_one("math.fma", (x.handle, y.handle, z.handle), None, (b.type(x.type),))
    return tensor(handle, x.type)


@builtin
def umulhi(x: Any, y: Any) -> tensor:
    """The upper half of the double-width product of two unsigned integers.

    The operands are scalars or blocks, which are broadcast to one shape.

    Refused: ``tl.umulhi(tl.arange(0, 4).to(tl.float32), tl.arange(0, 4).to(tl.float32))``.

    >>> tl.umulhi(tl.full([1], 0x80000000, tl.uint32), tl.full([1], 6, tl.uint32))
    3
    """
    x, y = binary_operands(x, y, "umulhi")
    if not x.dtype.is_int() or x.dtype.int_bitwidth not in (32, 64):
        raise SemanticError(f"tl.umulhi takes int32, uint32, int64 or uint64, not {x.dtype}")
    return _binary("tt.mulhiui", x, y)


@builtin
def fdiv(x: Any, y: Any, ieee_rounding: bool = False, approx: bool = False) -> tensor:
    """x / y on floats; correctly rounded if `ieee_rounding`.

    `approx` says that the result may be off by a little. That of `x / y` is never off by more.

    The operands are scalars or blocks, which are broadcast to one shape. Integers are refused:
    `/` takes them.

    Refused: ``tl.fdiv(tl.arange(0, 4), tl.arange(1, 5))``.

    >>> tl.fdiv(tl.arange(0, 4).to(tl.float32), 2.0)
    [0 0.5 1 1.5]
    """
    if unwrap(ieee_rounding) and unwrap(approx):
        raise SemanticError("fdiv takes ieee_rounding or approx, not both")
    x, y = binary_operands(x, y, "fdiv")
    if not x.dtype.is_floating():
        raise SemanticError(f"tl.fdiv takes floats, not {x.dtype}; use / for integers")
    if unwrap(ieee_rounding) and x.dtype.name == "fp32":
        return _binary("tt.precise_divf", x, y)
    return _binary("arith.divf", x, y)


@builtin
def div_rn(x: Any, y: Any) -> tensor:
    """x / y on fp32, correctly rounded.

    The operands are scalars or blocks, which are broadcast to one shape.

    Refused: ``tl.div_rn(tl.arange(0, 4), 2)``.

    >>> tl.div_rn(tl.arange(0, 4).to(tl.float32), 2.0)
    [0 0.5 1 1.5]
    """
    x, y = binary_operands(x, y, "div_rn")
    _check(x, "div_rn", ("fp32",))
    return _binary("tt.precise_divf", x, y)


@builtin
def neg(x: Any) -> tensor:
    """-x of a number, or of each element of a block.

    Refused: ``tl.math.neg(p)``.

    >>> tl.math.neg(tl.arange(0, 4))
    [0 -1 -2 -3]
    """
    return _neg(to_tensor(x))


@builtin
def pow(x: Any, y: Any) -> tensor:
    """x to the power of y, on floats.

    The operands are scalars or blocks, which are broadcast to one shape.

    Refused: ``tl.math.pow(tl.arange(0, 4), 2)``; convert integers with `.to(tl.float32)`.

    >>> tl.math.pow(tl.arange(0, 4).to(tl.float32), 2.0)
    [0 1 4 9]
    """
    x, y = binary_operands(x, y, "pow")
    if is_constant(x) or not x.dtype.is_floating():
        raise SemanticError(f"tl.math.pow takes floats, not {x.dtype}")
    return _binary("math.powf", x, y)


__all__ = [
    "abs", "ceil", "cos", "div_rn", "erf", "exp", "exp2", "fdiv", "floor", "fma", "log", "log2",
    "neg", "pow", "rsqrt", "sin", "sqrt", "sqrt_rn", "umulhi",
]  # fmt: skip
