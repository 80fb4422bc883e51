"""What rewritten functions call: Python's control flow on values of kernels.

A kernel's variables have the types that the compiler would give them. Where a
branch or a loop depends on a value, numbers that go into it come out of it as
values of the kernel, of a type that both ways agree on (`materialize` in the
compiler's terms); everything else is plain Python.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..compiler.flatten import is_sequence, materialize, materialize_like
from ..compiler.functions import _PYTHON_BUILTINS
from ..errors import SemanticError
from ..language import arithmetic, program, state
from ..language import dtypes as dt
from ..language.promotion import integer_promote, is_constant, to_tensor
from ..language.values import constexpr, describe, tensor, unwrap
from .collective import Divergent
from .numbers import displayed, element_of


def truth(value: Any, what: str = "if") -> bool:
    """Whether a condition holds: a constant, or a scalar of the kernel."""
    value = unwrap(value)
    if not isinstance(value, tensor):
        return bool(value)
    if value.type.is_block():
        raise SemanticError(
            f"the condition of `{what}` must be a scalar, but it is a block ({value.type}); "
            "reduce it first, or use tl.where to choose element by element"
        )
    handle = value.handle
    if handle.size == 1:
        return bool(handle)
    # Elements that are computed together; they must agree.
    nonzero = handle != 0
    if nonzero.all():
        return True
    if nonzero.any():
        raise Divergent
    return False


def has_numbers(value: Any) -> bool:
    """Whether a value has numbers that a branch would turn into tensors."""
    if is_sequence(value):
        return any(map(has_numbers, value))
    return is_constant(value)


class Branch:
    """An `if`: which way it goes, and what to do where the ways join."""

    __slots__ = ("before", "dynamic", "site", "taken")

    def __init__(self, taken: bool, site: Any, before: dict[str, Any]) -> None:
        self.taken = taken
        self.dynamic = True
        self.site = site
        self.before = before

    def __bool__(self) -> bool:
        return self.taken

    def join(self, after: dict[str, Any]) -> dict[str, Any]:
        """The variables that change where the ways join: numbers that the
        other way has otherwise."""
        numbers = {n: after[n] for n in self.site.names if n in after and has_numbers(after[n])}
        if not numbers:
            return numbers
        others = self.site.other(self.taken, self.before)
        result = {}
        for name, value in numbers.items():
            joined = _joined(value, others.get(name, value))
            if joined is not value:
                result[name] = joined
        return result


class _Static:
    """An `if` on a constant."""

    dynamic = False

    def __init__(self, taken: bool) -> None:
        self.taken = taken

    def __bool__(self) -> bool:
        return self.taken


_STATIC = (_Static(False), _Static(True))


def _joined(value: Any, other: Any) -> Any:
    if is_constant(value) and type(value) is type(other) and value == other:
        return value
    return materialize_like(value, other)


class Loop:
    """A `for` or `while`: its items, and the variables it carries."""

    def __init__(self, items: Any, names: tuple[str, ...], dynamic: bool) -> None:
        self.items = items
        self.names = names
        self.dynamic = dynamic
        self.models: dict[str, Any] = {}
        self.count = 0

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def enter(self, scope: dict[str, Any]) -> dict[str, Any]:
        """Variables from before the loop that it assigns become run-time values."""
        result = {}
        for name in self.names:
            if name in scope:
                value = scope[name]
                self.models[name] = model = materialize(value)
                if model is not value:
                    result[name] = model
        return result

    def keep(self, scope: dict[str, Any]) -> dict[str, Any]:
        """Between iterations they keep their types."""
        result = {}
        for name, model in self.models.items():
            value = scope.get(name)
            if has_numbers(value):
                result[name] = materialize_like(value, model)
        return result

    def test(self, condition: Any) -> bool:
        """Whether a `while` goes on."""
        if isinstance(condition, program.condition):
            condition = condition.condition
        self.count += 1
        if state._state.builder.phantom is not None:
            return self.count == 1
        return truth(condition, "while")


def _of_range(bounds: program.range) -> Iterator[tensor]:
    """The values of a loop's variable, in the type the loop counts in."""
    parts = [unwrap(p) for p in (bounds.start, bounds.end, bounds.step)]
    ty = dt.int32
    unsigned = False
    for part in parts:
        if isinstance(part, tensor):
            if part.type.is_block() or not part.dtype.is_int():
                raise SemanticError(
                    f"a range's bounds and step are scalar integers, not {part.type}"
                )
            ty = integer_promote(ty, part.dtype) if ty != part.dtype else ty
            unsigned |= part.dtype.is_int_unsigned()
        elif isinstance(part, float) or not is_constant(part):
            raise SemanticError(f"a range's bounds and step are integers, not {describe(part)}")
        elif to_tensor(part).dtype.int_bitwidth > ty.int_bitwidth:
            ty = to_tensor(part).dtype
    if not unsigned:
        ty = dt.get_int_dtype(builtins.max(32, ty.int_bitwidth), True)
    start, end, step = (as_number(p) if isinstance(p, tensor) else int(p) for p in parts)
    if step == 0:
        raise SemanticError("a range's step must not be 0")
    element = element_of(ty)
    values = builtins.range(start, end, step)
    if state._state.builder.phantom is not None:
        values = [start]
    for value in values:
        yield tensor(np.array(value).astype(element), ty)


def as_number(value: tensor) -> int | float | bool:
    """A scalar of the kernel as a Python number."""
    handle = value.handle
    if handle.size != 1:
        if value.type.is_block():
            raise SemanticError(f"a block ({value.type}) is not one number")
        raise Divergent
    return displayed(handle, value.type).reshape(-1)[0].item()


class Range(program.range):
    """`range` in kernels: also iterable where its bounds are constants."""

    def __iter__(self) -> Iterator[Any]:
        parts = (self.start, self.end, self.step)
        if any(isinstance(p, tensor) for p in parts):
            raise SemanticError("this range must be constant; its bounds are run-time values")
        return iter(builtins.range(*map(unwrap, parts)))


_ORDER = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "is": operator.is_, "is not": operator.is_not,
    "in": lambda x, y: x in y, "not in": lambda x, y: x not in y,
}  # fmt: skip


class Control:
    """The functions, under the one name that rewritten code knows."""

    def __init__(self) -> None:
        self.pending: list[Any] = []

    # Branches and loops.

    def branch(self, condition: Any, site: Any, before: dict[str, Any]) -> Any:
        condition = unwrap(condition)
        if not isinstance(condition, tensor):
            return _STATIC[bool(condition)]
        phantom = state._state.builder.phantom
        if phantom is not None:
            return phantom.branch(site, before)
        return Branch(truth(condition), site, dict(before))

    def loop(self, items: Any, names: tuple[str, ...]) -> Loop:
        items = unwrap(items)
        if isinstance(items, tensor):
            raise SemanticError(
                "cannot iterate over a tensor; use range, tl.range or tl.static_range"
            )
        if isinstance(items, builtins.range):
            items = program.range(items.start, items.stop, items.step)
        if isinstance(items, program.range):
            return Loop(_of_range(items), names, True)
        return Loop(items, names, False)

    def while_loop(self, names: tuple[str, ...]) -> Loop:
        return Loop((), names, True)

    def items(self, items: Any) -> Any:
        """What a comprehension goes through."""
        if isinstance(items, program.range):
            return Range(items.start, items.end, items.step)
        return items

    # Expressions.

    def choose(self, condition: Any, site: Any) -> bool:
        condition = unwrap(condition)
        if not isinstance(condition, tensor):
            self.pending.append(None)
            return bool(condition)
        if state._state.builder.phantom is not None:
            taken = True
        else:
            if condition.type.is_block():
                raise SemanticError(
                    f"the condition of `if ... else` is a block ({condition.type}); use tl.where "
                    "to choose element by element"
                )
            taken = truth(condition)
        self.pending.append((site, taken))
        return taken

    def chosen(self, value: Any) -> Any:
        made = self.pending.pop()
        if made is None or not has_numbers(value):
            return value
        site, taken = made
        return materialize_like(value, site.other(taken, dict(sys._getframe(1).f_locals), value))

    def first(self, value: Any, is_and: bool) -> bool:
        """The left side of `and` or `or`: whether the right one matters."""
        value = unwrap(value)
        self.pending.append(value)
        return isinstance(value, tensor) or bool(value) == is_and

    def second(self, value: Any, is_and: bool) -> Any:
        left = self.pending.pop()
        if not isinstance(left, tensor):
            return value  # A constant that did not decide.
        if not isinstance(value, tensor) and not is_constant(value):
            raise SemanticError(f"`and` and `or` take numbers and tensors, not {describe(value)}")
        return (arithmetic.logical_and if is_and else arithmetic.logical_or)(left, value)

    def decided(self) -> Any:
        return self.pending.pop()

    def not_(self, value: Any) -> Any:
        value = unwrap(value)
        return arithmetic.logical_not(value) if isinstance(value, tensor) else not value

    def compare(self, symbols: tuple[str, ...], *values: Any) -> Any:
        """A chain of comparisons."""
        result: Any = True
        for symbol, left, right in zip(symbols, values, values[1:], strict=False):
            part = _ORDER[symbol](left, right)
            if result is True:
                result = part
            elif isinstance(result, tensor) or isinstance(part, tensor):
                result = arithmetic.logical_and(result, part)
            else:
                result = result and part
            if result is False:
                return False
        return result

    def check(self, condition: Any, message: Any = "") -> None:
        """`assert`."""
        if isinstance(unwrap(condition), tensor):
            program.device_assert(condition, message)
        else:
            program.static_assert(condition, message)

    def constants(self, function: str, names: tuple[str, ...], *values: Any) -> None:
        """Checks the arguments of constexpr parameters."""
        for name, value in zip(names, values, strict=True):
            if isinstance(value, tensor):
                raise SemanticError(
                    f"parameter `{name}` of `{function}` is a tl.constexpr, but this argument is "
                    f"a run-time value ({value.type})"
                )

    @staticmethod
    def value(owner: Any) -> Any:
        """``x.value``: a constant is its own constexpr."""
        if isinstance(owner, (int, float, str)):
            return owner
        return unwrap(owner.value)

    unwrap = staticmethod(unwrap)
    truth = staticmethod(truth)


CONTROL = Control()


def _kernel_builtins() -> dict[str, Any]:
    """Python's builtins as kernels see them."""
    result = dict(vars(builtins))
    for name in ("abs", "min", "max", "sum", "isinstance", "bool"):
        result[name] = _PYTHON_BUILTINS[getattr(builtins, name)]
    result["range"] = Range
    result["type"] = lambda x, *rest: x.type if isinstance(x, tensor) else type(x, *rest)

    def quietly(fn: Any) -> Any:
        """Not while types are looked for in a branch that is not taken."""

        def call(*arguments: Any, **keywords: Any) -> Any:
            builder = state._state.builder
            if builder is None or builder.phantom is None:
                return fn(*arguments, **keywords)
            return None

        return call

    result["print"] = quietly(print)
    return result


BUILTINS = _kernel_builtins()
__all__ = [
    "BUILTINS",
    "CONTROL",
    "Branch",
    "Control",
    "Loop",
    "Range",
    "as_number",
    "constexpr",
    "truth",
]
