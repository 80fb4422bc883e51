"""Loops of interpreted kernels, and the variables that they carry."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..compiler.flatten import flatten, materialize, materialize_like
from ..errors import InterpreterError, SemanticError
from ..language import dtypes as dt
from ..language import program, state
from ..language.promotion import integer_promote, is_constant, to_tensor
from ..language.values import describe, tensor, unwrap
from .conditions import as_number, has_numbers, truth
from .numbers import element_of


class Loop:
    """A `for` or `while`: its items, and the variables it carries."""

    def __init__(self, items: Any, names: tuple[str, ...], dynamic: bool) -> None:
        self.items = items
        self.names = names
        self.dynamic = dynamic
        self.models: dict[str, Any] = {}
        self.count = 0
        #: What an iteration began with, now and then.
        self.state: Any = None

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
        if not truth(condition, "while"):
            return False
        state._state.builder.count_iteration()
        if self.count & 255 < 2:
            self.watch(sys._getframe(1).f_locals)
        return True

    def watch(self, scope: dict[str, Any]) -> None:
        """Raises if an iteration left all as it was: so will all that follow."""
        builder = state._state.builder
        handles: list[Any] = []
        for name in self.names:
            flatten(scope.get(name), handles)
        now = [builder.memory.changes, *[np.asarray(h).tobytes() for h in handles]]
        if self.count & 255 and now == self.state and not builder.clock:
            raise InterpreterError(
                "this loop does not end: an iteration changes nothing that the next one sees "
                "(programs run one after another, so that none can wait for a later one)"
            )
        self.state = now


def of_range(bounds: program.range) -> Iterator[tensor]:
    """The values of a loop's variable, in the type the loop counts in."""
    parts = [unwrap(p) for p in (bounds.start, bounds.end, bounds.step)]
    ty = dt.int32
    unsigned = False
    for which, part in zip(program.BOUNDS, parts, strict=True):
        if isinstance(part, tensor):
            if part.type.is_block() or not part.dtype.is_int():
                program.refuse_bound(which, part.type)
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
    if ty.is_int_unsigned() and builtins.min(start, end) < 0:
        # As in range(n - 1, -1, -1) of an unsigned `n`, which counts with a sign.
        half = 1 << (ty.int_bitwidth - 1)
        start, end = ((v + half) % (2 * half) - half for v in (start, end))
    values = builtins.range(start, end, step)
    builder = state._state.builder
    if builder.phantom is not None:
        values = [start]
    for value in values:
        if builder.phantom is None:
            builder.count_iteration()
        yield tensor(np.array(value).astype(element), ty)
