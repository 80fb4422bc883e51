"""Arithmetic, comparisons and logic on tensors and constants."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import SemanticError
from . import dtypes as dt
from .conversion import cast, compare_f, compare_i, to_bool
from .promotion import (
    binary_operands,
    broadcast_pair,
    computation_type,
    constant,
    is_constant,
    raise_to_common_shape,
    to_tensor,
)
from .state import current
from .values import builtin, describe, member, shown, tensor, unwrap


class PropagateNan(enum.IntEnum):
    """Whether a NaN operand of minimum, maximum or clamp makes the result NaN."""

    NONE = 0
    ALL = 0xFFFF


def _binary(op: str, x: tensor, y: tensor) -> tensor:
    if x.dtype.is_fp8() and op.startswith("arith."):
        # No machine computes in 8 bits; fp32 is wide enough for a result that
        # is rounded to them once.
        wide = _binary(op, cast(x, dt.float32), cast(y, dt.float32))
        return cast(wide, x.dtype)
    b = current()
    return tensor(b.create_one(op, (x.handle, y.handle), None, (b.type(x.type),)), x.type)


def _checked(op: str, symbol: str, x: tensor, y: tensor, sanitize: Any) -> tensor:
    """An operation on integers; where overflow is looked for, signed ones that
    do not fit in their type stop the kernel. Unsigned ones are meant to wrap."""
    result = _binary(op, x, y)
    b = current()
    if (
        not b.options.sanitize_overflow
        or b.in_region
        or not unwrap(sanitize)
        or not x.dtype.is_int_signed()
    ):
        return result
    zero = constant(0, x.type)
    if op == "arith.addi":
        # The result differs in sign from both operands.
        overflow = compare_i(
            "slt",
            _binary(
                "arith.andi", _binary("arith.xori", x, result), _binary("arith.xori", y, result)
            ),
            zero,
        )
    elif op == "arith.subi":
        # The operands differ in sign, and the result has that of the second.
        overflow = compare_i(
            "slt",
            _binary("arith.andi", _binary("arith.xori", x, y), _binary("arith.xori", x, result)),
            zero,
        )
    elif x.dtype.int_bitwidth < 64:
        wide = _binary(op, cast(x, dt.int64), cast(y, dt.int64))
        overflow = compare_i("ne", wide, cast(result, dt.int64))
    else:
        # The upper half of x * y has to be the sign of the lower.
        high = _binary("tt.mulhiui", x, y)
        for a, other in ((x, y), (y, x)):
            negative = compare_i("slt", a, zero)
            high = _binary("arith.subi", high, _select(negative, other, zero))
        sign = _binary("arith.shrsi", result, constant(63, x.type))
        overflow = compare_i("ne", high, sign)
    fits = _binary("arith.xori", overflow, constant(1, overflow.type))
    message = f"integer overflow: the result of {symbol} does not fit in {x.dtype}"
    b.create("tt.assert", (fits.handle,), {"message": b.str_attr(message)}, ())
    return result


def _select(condition: tensor, x: tensor, y: tensor) -> tensor:
    b = current()
    handles = (condition.handle, x.handle, y.handle)
    return tensor(b.create_one("arith.select", handles, None, (b.type(x.type),)), x.type)


def _unary(op: str, x: tensor) -> tensor:
    b = current()
    return tensor(b.create_one(op, (x.handle,), None, (b.type(x.type),)), x.type)


def _is_pointer(value: Any) -> bool:
    return isinstance(value, tensor) and value.dtype.is_ptr()


def add_pointer(pointer: tensor, offset: Any) -> tensor:
    """A pointer moved by `offset` elements."""
    if not isinstance(offset, tensor):
        if isinstance(offset, float) or not is_constant(offset):
            raise SemanticError(f"a pointer moves by an integer, not by {describe(offset)}")
        offset = constant(offset, pointer.type.with_element_ty(_offset_type(offset)))
    elif not offset.dtype.is_int():
        raise SemanticError(f"a pointer moves by an integer, not by {offset.type}")
    if offset.dtype.is_int_unsigned() and offset.dtype.int_bitwidth < 64:
        # Offsets are read as signed; widen so that the value stays.
        offset = cast(offset, dt.int32 if offset.dtype.int_bitwidth < 32 else dt.int64)
    pointer, offset = broadcast_pair(pointer, offset)
    return _binary("tt.addptr", pointer, offset)


def _offset_type(value: int) -> dt.dtype:
    return dt.int32 if -(2**31) <= value < 2**31 else dt.int64


@builtin
def add(x: Any, y: Any, sanitize_overflow: bool = True) -> tensor:
    """x + y; a pointer plus an integer moves the pointer.

    The operands are scalars or blocks, which are broadcast to one shape.
    `sanitize_overflow=False` leaves out the check that `debug=True` makes.

    Refused: ``tl.add(p, p)``.

    >>> tl.add(tl.arange(0, 4), 10)
    [10 11 12 13]
    """
    if _is_pointer(x):
        if _is_pointer(y):
            raise SemanticError(f"cannot add the pointers {x.type} and {y.type}")
        return add_pointer(x, y)
    if _is_pointer(y):
        return add_pointer(y, x)
    x, y = binary_operands(x, y, "+")
    if x.dtype.is_floating():
        return _binary("arith.addf", x, y)
    return _checked("arith.addi", "+", x, y, sanitize_overflow)


@builtin
def sub(x: Any, y: Any, sanitize_overflow: bool = True) -> tensor:
    """x - y; a pointer minus an integer moves the pointer back.

    The operands are scalars or blocks, which are broadcast to one shape.

    Refused: ``tl.sub(1, p)``.

    >>> tl.sub(tl.arange(0, 4), 1)
    [-1 0 1 2]
    """
    if _is_pointer(x):
        if _is_pointer(y):
            raise SemanticError("cannot subtract pointers; convert them to tl.int64 first")
        return add_pointer(x, -y if is_constant(y) else neg(y))
    x, y = binary_operands(x, y, "-")
    if x.dtype.is_floating():
        return _binary("arith.subf", x, y)
    return _checked("arith.subi", "-", x, y, sanitize_overflow)


@builtin
def mul(x: Any, y: Any, sanitize_overflow: bool = True) -> tensor:
    """x * y.

    The operands are scalars or blocks, which are broadcast to one shape.

    Refused: ``tl.mul(p, 2)``.

    >>> tl.mul(tl.arange(0, 4), 3)
    [0 3 6 9]
    """
    x, y = binary_operands(x, y, "*")
    if x.dtype.is_floating():
        return _binary("arith.mulf", x, y)
    return _checked("arith.muli", "*", x, y, sanitize_overflow)


def truediv(x: Any, y: Any) -> tensor:
    """x / y: integers are divided as float32."""
    if not _is_float(x) and not _is_float(y):
        if isinstance(x, tensor) and isinstance(y, tensor):
            computation_type(x.dtype, y.dtype, div_or_mod=True)  # Refuses mixed signedness.
        x, y = _to_float32(x), _to_float32(y)
    x, y = binary_operands(x, y, "/", div_or_mod=True)
    return _binary("arith.divf", x, y)


def _is_float(value: Any) -> bool:
    return isinstance(value, float) or (isinstance(value, tensor) and value.dtype.is_floating())


def _to_float32(value: Any) -> Any:
    if isinstance(value, tensor) and value.dtype.is_int():
        return cast(value, dt.float32)
    return float(value) if is_constant(value) else value


def floordiv(x: Any, y: Any) -> tensor:
    """x // y on integers; rounds towards zero, as C does."""
    _refuse_zero(y)
    x, y = binary_operands(x, y, "//", div_or_mod=True)
    if not x.dtype.is_int():
        raise SemanticError(f"// takes integers, not {x.dtype}; use tl.floor(x / y) for floats")
    return _binary("arith.divsi" if x.dtype.is_int_signed() else "arith.divui", x, y)


def _refuse_zero(divisor: Any) -> None:
    if isinstance(divisor, int) and divisor == 0:
        raise SemanticError("division of a run-time value by the constant 0")


def mod(x: Any, y: Any) -> tensor:
    """x % y; the sign is that of x, as in C."""
    _refuse_zero(y)
    x, y = binary_operands(x, y, "%", div_or_mod=True)
    if x.dtype.is_floating():
        return _binary("arith.remf", x, y)
    return _binary("arith.remsi" if x.dtype.is_int_signed() else "arith.remui", x, y)


def _integer_operands(x: Any, y: Any, symbol: str) -> tuple[tensor, tensor]:
    types = " and ".join(describe(v) for v in (x, y))
    x, y = binary_operands(x, y, symbol)
    if not x.dtype.is_int():
        raise SemanticError(f"invalid operands of type {types}: {symbol} takes integers")
    return x, y


def _bitwise(symbol: str, op: str) -> Callable[[Any, Any], tensor]:
    def operation(x: Any, y: Any) -> tensor:
        x, y = _integer_operands(x, y, symbol)
        return _binary(op, x, y)

    return operation


bitand = _bitwise("&", "arith.andi")
bitor = _bitwise("|", "arith.ori")
bitxor = _bitwise("^", "arith.xori")
shl = _bitwise("<<", "arith.shli")


def shr(x: Any, y: Any) -> tensor:
    """x >> y; keeps the sign if x is signed, whatever y is."""
    # The common type of a signed and an unsigned integer is unsigned.
    is_signed = to_tensor(x).dtype.is_int_signed()
    x, y = _integer_operands(x, y, ">>")
    return _binary("arith.shrsi" if is_signed else "arith.shrui", x, y)


def neg(x: tensor) -> tensor:
    """-x."""
    if x.dtype.is_ptr():
        raise SemanticError(f"a pointer ({x.type}) cannot be negated")
    if x.dtype.is_fp8():
        return cast(neg(cast(x, dt.float32)), x.dtype)
    if x.dtype.is_floating():
        return _unary("arith.negf", x)
    return _binary("arith.subi", constant(0, x.type), x)


def pos(x: tensor) -> tensor:
    return x


def invert(x: tensor) -> tensor:
    """~x."""
    if not x.dtype.is_int():
        raise SemanticError(f"~ takes integers, not {x.dtype}")
    return _binary("arith.xori", x, constant(-1, x.type))


def logical_not(x: tensor) -> tensor:
    """Whether each element is zero."""
    x = to_bool(x)
    return _binary("arith.xori", x, constant(1, x.type))


@member()
@builtin
def logical_and(input: Any, other: Any) -> tensor:
    """Whether both are nonzero, element by element.

    The operands are scalars or blocks, which are broadcast to one shape.

    Refused: ``tl.arange(0, 4).logical_and("x")``.

    >>> tl.arange(0, 4).logical_and(tl.arange(0, 4) < 2)
    [0 1 0 0]
    """
    x, y = broadcast_pair(to_bool(input), to_bool(other))
    return _binary("arith.andi", x, y)


@member()
@builtin
def logical_or(input: Any, other: Any) -> tensor:
    """Whether either is nonzero, element by element.

    The operands are scalars or blocks, which are broadcast to one shape.

    Refused: ``tl.arange(0, 4).logical_or("x")``.

    >>> tl.arange(0, 4).logical_or(tl.arange(0, 4) < 2)
    [1 1 1 1]
    """
    x, y = broadcast_pair(to_bool(input), to_bool(other))
    return _binary("arith.ori", x, y)


def _comparison(
    symbol: str, floating: str, signed: str, unsigned: str
) -> Callable[[Any, Any], tensor]:
    def operation(x: Any, y: Any) -> tensor:
        if _is_pointer(x) or _is_pointer(y):
            for value in (x, y):
                if symbol[0] in "<>" and isinstance(value, tensor) and not _is_pointer(value):
                    raise SemanticError(
                        f"{symbol} compares a pointer with a pointer, not with {value.type}"
                    )
            x, y = _address(x, symbol), _address(y, symbol)
            signed_ints = False
            x, y = broadcast_pair(x, y)
        else:
            x, y = binary_operands(x, y, symbol)
            if x.dtype.is_floating():
                return compare_f(floating, x, y)
            signed_ints = x.dtype.is_int_signed()
        return compare_i(signed if signed_ints else unsigned, x, y)

    return operation


def _address(value: Any, symbol: str) -> tensor:
    if _is_pointer(value):
        return cast(value, dt.int64)
    if value is None:
        return constant(0, dt.int64)
    value = to_tensor(value)
    if not value.dtype.is_int():
        raise SemanticError(
            f"{symbol} compares a pointer with a pointer or an integer, not with {value.type}"
        )
    return cast(value, dt.int64)


eq = _comparison("==", "oeq", "eq", "eq")
ne = _comparison("!=", "une", "ne", "ne")
lt = _comparison("<", "olt", "slt", "ult")
le = _comparison("<=", "ole", "sle", "ule")
gt = _comparison(">", "ogt", "sgt", "ugt")
ge = _comparison(">=", "oge", "sge", "uge")


def _propagation(value: Any) -> PropagateNan:
    value = unwrap(value)
    try:
        return PropagateNan(value)
    except ValueError:
        raise SemanticError(
            f"propagate_nan is tl.PropagateNan.NONE or tl.PropagateNan.ALL, not {shown(value)}"
        ) from None


@builtin
def minimum(x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE) -> tensor:
    """The smaller of x and y, element by element.

    The operands are scalars or blocks, which are broadcast to one shape. Where one is NaN, the
    other one is the result, unless `propagate_nan` is `tl.PropagateNan.ALL`.

    Refused: ``tl.minimum(p, 2)``.

    >>> tl.minimum(tl.arange(0, 4), 2)
    [0 1 2 2]
    """
    nan = _propagation(propagate_nan) is PropagateNan.ALL
    x, y = binary_operands(to_tensor(x), to_tensor(y), "minimum")
    if x.dtype.is_floating():
        return _binary("arith.minimumf" if nan else "arith.minnumf", x, y)
    return _binary("arith.minsi" if x.dtype.is_int_signed() else "arith.minui", x, y)


@builtin
def maximum(x: Any, y: Any, propagate_nan: Any = PropagateNan.NONE) -> tensor:
    """The larger of x and y, element by element.

    The operands are scalars or blocks, which are broadcast to one shape. Where one is NaN, the
    other one is the result, unless `propagate_nan` is `tl.PropagateNan.ALL`.

    Refused: ``tl.maximum(p, 2)``.

    >>> tl.maximum(tl.arange(0, 4), 2)
    [2 2 2 3]
    """
    nan = _propagation(propagate_nan) is PropagateNan.ALL
    x, y = binary_operands(to_tensor(x), to_tensor(y), "maximum")
    if x.dtype.is_floating():
        return _binary("arith.maximumf" if nan else "arith.maxnumf", x, y)
    return _binary("arith.maxsi" if x.dtype.is_int_signed() else "arith.maxui", x, y)


@builtin
def clamp(x: Any, min: Any, max: Any, propagate_nan: Any = PropagateNan.NONE) -> tensor:
    """x, but at least `min` and at most `max`.

    Takes a scalar or a block of any shape; the result has the same shape. `min` and `max` are
    broadcast to it.

    Refused: ``tl.clamp(p, 0, 2)``.

    >>> tl.clamp(tl.arange(0, 4).to(tl.float32), 1.0, 2.0)
    [1 1 2 2]
    """
    nan = _propagation(propagate_nan)
    x, min = binary_operands(to_tensor(x), to_tensor(min), "clamp")
    x, max = binary_operands(x, to_tensor(max), "clamp")
    x, min = binary_operands(x, min, "clamp")
    if not x.dtype.is_floating():
        return minimum(maximum(x, min), max)
    b = current()
    handle = b.create_one(
        "tt.clampf",
        (x.handle, min.handle, max.handle),
        {"propagateNan": b.int_attr(32, int(nan))},
        (b.type(x.type),),
    )
    return tensor(handle, x.type)


@builtin
def where(condition: Any, x: Any, y: Any) -> tensor:
    """x where the condition holds, else y. Both are computed.

    The three are broadcast to one shape.

    Refused: ``tl.where(tl.arange(0, 4) > 1, tl.arange(0, 8), 0)``.

    >>> tl.where(tl.arange(0, 4) > 1, tl.arange(0, 4), -1)
    [-1 -1 2 3]
    """
    if isinstance(condition, tensor) and not condition.dtype.is_bool():
        warnings.warn(
            f"tl.where takes a condition of int1, and this one is {condition.dtype}; later "
            "releases of Triton refuse it: compare it with 0",
            stacklevel=1,
        )
    condition = to_bool(condition)
    if _is_pointer(x) or _is_pointer(y):
        x, y = to_tensor(x), to_tensor(y)
        if x.dtype != y.dtype:
            raise SemanticError(
                f"where chooses between values of one type, not {x.type} and {y.type}"
            )
    else:
        x, y = binary_operands(x, y, "where")
    if condition.type.is_block():
        condition, x, y = raise_to_common_shape(condition, x, y)
    else:
        x, y = broadcast_pair(x, y)
    return _select(condition, x, y)


def _same(fn: Callable[[Any, Any], tensor], otherwise: bool) -> Callable[[Any, Any], Any]:
    """A comparison that tells a tensor from what is no number."""

    def operation(x: Any, y: Any) -> Any:
        y = unwrap(y)
        if isinstance(y, tensor) or is_constant(y) or (y is None and _is_pointer(x)):
            return fn(x, y)
        return otherwise

    return operation


def refuse_power(*_: Any) -> NoReturn:
    """Says that `**` is for constants."""
    raise SemanticError(
        "** works on constants only; use x * x for a square, and tl.math.pow for the rest"
    )


def refuse_matmul(*_: Any) -> NoReturn:
    """Says that `@` is for no value of a kernel."""
    raise SemanticError("the operator @ is not for kernels; use tl.dot for matmuls")


def _iterate(x: tensor) -> Any:
    raise SemanticError(
        "cannot iterate over a tensor; use tl.sum, tl.max or tl.min for all elements, and tl.range "
        "in a loop"
    )


def _install_operators() -> None:
    """Gives tensors Python's operators, for the interpreter."""
    binary = {
        "add": add, "sub": sub, "mul": mul, "truediv": truediv, "floordiv": floordiv, "mod": mod,
        "and": bitand, "or": bitor, "xor": bitxor, "lshift": shl, "rshift": shr,
        "pow": refuse_power, "matmul": refuse_matmul,
    }  # fmt: skip
    for name, fn in binary.items():
        setattr(tensor, f"__{name}__", lambda self, other, fn=fn: fn(self, unwrap(other)))
        setattr(tensor, f"__r{name}__", lambda self, other, fn=fn: fn(unwrap(other), self))
    for name, fn in {
        "eq": _same(eq, False),
        "ne": _same(ne, True),
        "lt": lt,
        "le": le,
        "gt": gt,
        "ge": ge,
    }.items():
        setattr(tensor, f"__{name}__", lambda self, other, fn=fn: fn(self, other))
    tensor.__hash__ = object.__hash__  # type: ignore[method-assign]
    tensor.__neg__ = neg  # type: ignore[attr-defined]
    tensor.__pos__ = pos  # type: ignore[attr-defined]
    tensor.__invert__ = invert  # type: ignore[attr-defined]
    tensor.__iter__ = _iterate  # type: ignore[attr-defined]


_install_operators()
