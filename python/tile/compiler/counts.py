"""How loops over ranges are counted: always upwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..language import dtypes as dt
from ..language.arithmetic import add, floordiv, gt, lt, maximum, mul, sub, where
from ..language.conversion import cast
from ..language.promotion import constant
from ..language.values import tensor

#: Operations whose result is not negative if no operand is, and if it does not overflow.
_KEEPS_SIGN = {
    "arith.addi",
    "arith.muli",
    "arith.divsi",
    "arith.remsi",
    "arith.minsi",
    "arith.maxsi",
    "arith.andi",
    "arith.ori",
    "arith.extsi",
    "arith.shrsi",
    "tt.bitcast",
}
#: Operations whose result is never negative.
_COUNTS = {"tt.get_num_programs", "tt.get_program_id", "arith.extui"}


@dataclass
class Count:
    """A counter that goes from `lower` up to `upper`, and the number of the range, as a function
    of the counter."""

    lower: tensor
    upper: tensor
    stride: tensor
    number: Callable[[tensor], tensor]
    #: The type of the loop's variable, where it is not that of the numbers.
    result: Any = None

    @property
    def ty(self) -> Any:
        return self.lower.dtype

    def variable(self, counter: tensor) -> tensor:
        """The variable of the loop at a value of its counter."""
        number = self.number(counter)
        return number if self.result is None else cast(number, self.result)

    def ran(self) -> tensor:
        """Whether there was an iteration."""
        return lt(self.lower, self.upper)

    def last(self) -> tensor:
        """The last value of the variable, if there was an iteration."""
        unsigned = dt.get_int_dtype(self.ty.int_bitwidth, False)
        distance = sub(sub(self.upper, self.lower, False), constant(1, self.ty), False)
        step = cast(self.stride, unsigned)
        covered = mul(floordiv(cast(distance, unsigned), step), step, False)
        return self.variable(add(self.lower, cast(covered, self.ty), False))


def upwards(start: tensor, end: tensor, step: tensor) -> Count:
    """Counts to a range's end in its steps, which are not negative."""
    return Count(start, end, step, lambda counter: counter)


def mirrored(start: tensor, end: tensor, size: tensor) -> Count:
    """Counts a range that goes down in steps of `size`: between the same ends."""
    return Count(end, start, size, lambda counter: add(sub(start, counter, False), end, False))


def either_way(start: tensor, end: tensor, step: tensor) -> Count:
    """Counts the iterations of a range whose step may have any sign. A step of zero, which Python
    refuses, counts as one of -1, so that the loop ends."""
    ty = start.dtype
    unsigned = dt.get_int_dtype(ty.int_bitwidth, False)
    zero, one = constant(0, unsigned), constant(1, unsigned)
    rises = gt(step, constant(0, ty))
    first, last = where(rises, start, end), where(rises, end, start)
    size = where(rises, step, sub(constant(0, ty), step, False))
    size = maximum(cast(size, unsigned), one)
    # `cdiv` adds before it divides, and the sum may leave the type.
    distance = sub(cast(sub(last, first, False), unsigned), one, False)
    iterations = where(lt(first, last), add(floordiv(distance, size), one, False), zero)

    def number(counter: tensor) -> tensor:
        return add(start, mul(cast(counter, ty), step, False), False)

    return Count(zero, iterations, one, number)


def has_no_sign(value: Any, arguments: list[Any]) -> bool:
    """Whether a bound is compared without a sign: it is unsigned, or not negative."""
    if not isinstance(value, tensor):
        return value >= 0
    return value.dtype.is_int_unsigned() or is_not_negative(value.handle, arguments)


def is_not_negative(value: Any, arguments: list[Any]) -> bool:
    """Whether a scalar is not negative, as the operations say that compute it. `arguments` are
    those of the kernel that it was compiled to take as not negative."""
    seen: set[Any] = set()
    left = [value]
    while left:
        value = left.pop()
        if value in seen:
            continue
        seen.add(value)
        owner = value.owner
        if owner is None:
            if not any(value == argument for argument in arguments):
                return False
        elif owner.name == "arith.constant":
            if str(owner.attribute("value")).startswith("-"):
                return False
        elif owner.name in _KEEPS_SIGN:
            left.extend(owner.operands)
        elif owner.name not in _COUNTS:
            return False
    return True
