"""What rewritten functions call: Python's control flow on values of kernels.

A kernel's variables have the types that the compiler would give them. A branch
or a loop may depend on a value of the kernel. Then plain numbers that go into it
come out as values of the kernel. Their type is one that all paths agree on. The
compiler calls this `materialize`. Everything else is plain Python.
"""

from __future__ import annotations

import builtins
import functools
import operator
import os
import sys
import types
from enum import Enum
from typing import Any

from .. import knobs
from ..compiler.expressions import is_in
from ..compiler.flatten import is_sequence, make_sequence, materialize_like
from ..compiler.frames import check_global
from ..compiler.functions import (
    check_constants,
    is_compiled,
    may_call,
    refuse_call,
    refuse_plain,
)
from ..compiler.loops import refuse_items
from ..compiler.statements import refuse, refuse_delete, refuse_element
from ..errors import SemanticError
from ..language import arithmetic, program, state
from ..language.promotion import is_constant, to_tensor
from ..language.values import describe, one, tensor, unwrap
from .conditions import has_numbers, truth
from .loops import Loop, of_range
from .phantom import Activation

#: The modules that a debugger steps over.
NOT_THE_KERNEL = [
    "tile.*", "importlib.*", "numpy", "numpy.*", "ml_dtypes", "ml_dtypes.*", "contextlib", "enum",
    "functools", "typing", "abc", "fractions",
]  # fmt: skip


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


def _agreed(value: Any, others: list[Any]) -> Any:
    """A value in the type that it and others agree on: that of a tensor among
    them, or of a run-time value if the numbers differ."""
    if is_sequence(value):
        parts = [[o[i] for o in others if is_sequence(o) and i < len(o)] for i in range(len(value))]
        return make_sequence(
            type(value), [_agreed(v, p) for v, p in zip(value, parts, strict=True)]
        )
    if not is_constant(value):
        return value
    for other in sorted(others, key=lambda o: not isinstance(o, tensor)):
        value = _joined(value, other)
    return value


_ORDER = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt,
    ">=": operator.ge, "is": operator.is_, "is not": operator.is_not,
    "in": lambda x, y: is_in(x, y, operator.eq), "not in": lambda x, y: not_in(x, y),
}  # fmt: skip


def not_in(value: Any, items: Any) -> Any:
    found = is_in(value, items, operator.eq)
    return arithmetic.logical_not(found) if isinstance(found, tensor) else not found


class Control:
    """The functions, under the one name that rewritten code knows."""

    # Branches and loops.

    def branch(self, condition: Any, site: Any, before: dict[str, Any]) -> Any:
        condition = unwrap(condition)
        if not isinstance(condition, tensor):
            return _STATIC[bool(condition)]
        activation = before.get("<call>") if site.returns else None
        if activation is not None:
            activation.dynamic = True
        if state._state.builder.phantom is not None:
            plan = activation.plan if activation is not None else None
            return Branch(plan is None or plan.decide(), site, dict(before))
        return Branch(truth(condition), site, dict(before))

    def loop(self, items: Any, names: tuple[str, ...], activation: Any = None) -> Loop:
        items = unwrap(items)
        if isinstance(items, tensor):
            refuse_items(items)
        if isinstance(items, builtins.range):
            items = program.range(items.start, items.stop, items.step)
        if isinstance(items, program.range):
            if activation is not None:
                activation.dynamic = True
            return Loop(of_range(items), names, True)
        if not hasattr(items, "__iter__"):
            refuse_items(items)
        return Loop(items, names, False)

    def while_loop(self, names: tuple[str, ...], activation: Any = None) -> Loop:
        if activation is not None:
            activation.dynamic = True
        return Loop((), names, True)

    # Calls.

    def entered(self, site: Any, arguments: dict[str, Any]) -> Activation:
        """At the start of a function that returns in several places."""
        phantom = state._state.builder.phantom
        plan = None
        if phantom is not None:
            plan, phantom.plan = phantom.plan, None
        return Activation(site.function, dict(arguments), plan)

    def returned(self, activation: Activation, value: Any) -> Any:
        """The value that a function returns here, in the type that it has everywhere."""
        if not activation.dynamic or activation.plan is not None or not has_numbers(value):
            return value
        return _agreed(value, [o for o in activation.others() if o is not None])

    # Expressions.

    def choose(self, condition: Any, site: Any) -> bool:
        condition = unwrap(condition)
        if not isinstance(condition, tensor):
            state._state.builder.pending.append(None)
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
        state._state.builder.pending.append((site, taken))
        return taken

    def chosen(self, value: Any) -> Any:
        made = state._state.builder.pending.pop()
        if made is None or not has_numbers(value):
            return value
        site, taken = made
        return materialize_like(value, site.other(taken, dict(sys._getframe(1).f_locals), value))

    def first(self, value: Any, is_and: bool) -> bool:
        """The left side of `and` or `or`: whether the right one matters."""
        value = unwrap(value)
        state._state.builder.pending.append(value)
        return isinstance(value, tensor) or bool(value) == is_and

    def second(self, value: Any, is_and: bool) -> Any:
        left = state._state.builder.pending.pop()
        if not isinstance(left, tensor):
            return value  # A constant that did not decide.
        if not isinstance(value, tensor) and not is_constant(value):
            raise SemanticError(f"`and` and `or` take numbers and tensors, not {describe(value)}")
        return (arithmetic.logical_and if is_and else arithmetic.logical_or)(left, value)

    def decided(self) -> Any:
        return state._state.builder.pending.pop()

    @staticmethod
    def refuse(kind: str) -> None:
        """A statement that kernels do not have, as the compiler says it."""
        refuse(kind)

    @staticmethod
    def refuse_plain(name: str) -> None:
        """A call of a function that nobody compiles."""
        refuse_plain(name)

    @staticmethod
    def refuse_element(owner: Any) -> None:
        """An assignment to an element."""
        refuse_element(unwrap(owner))

    @staticmethod
    def refuse_attribute(owner: Any) -> None:
        """An assignment to an attribute of what has none."""
        if isinstance(owner, (tensor, types.ModuleType)):
            raise SemanticError(f"{one(owner)} has no attributes that can be assigned")

    @staticmethod
    def refuse_delete() -> None:
        """`del` of what is no variable."""
        refuse_delete()

    @staticmethod
    def callee(function: Any) -> Any:
        """A function that is called, if the compiler calls it, too; it looks at the arguments of
        functions that are not written in Python."""
        # Functions of Python are those of the kernel itself, or refused by their name.
        # A method of a structure is one, with its owner.
        bound = function.func if isinstance(function, functools.partial) else function
        if isinstance(bound, types.FunctionType) or is_compiled(bound):
            return function
        # To debug, anything may be called.
        if not may_call(function) and not knobs.compilation.allow_non_constexpr_globals:
            refuse_call(function)
        if not isinstance(function, types.BuiltinFunctionType):
            return function

        def call(*arguments: Any, **keywords: Any) -> Any:
            try:
                check_constants(function, arguments)
            except SemanticError:
                if not knobs.compilation.allow_non_constexpr_globals:
                    raise
            return function(*arguments, **keywords)

        return call

    @staticmethod
    def check_global(name: str, value: Any) -> Any:
        """A global that the compiler would not see change."""
        allowed = knobs.compilation.allow_non_constexpr_globals
        return check_global(name, value, {}, allowed)

    def not_(self, value: Any) -> Any:
        value = unwrap(value)
        return arithmetic.logical_not(value) if isinstance(value, tensor) else not value

    def compare(self, symbols: tuple[str, ...], unwanted: str | None, *values: Any) -> Any:
        """A chain of comparisons; `unwanted` says why tensors may not be in it."""
        if unwanted and any(isinstance(value, tensor) for value in values):
            raise SemanticError(unwanted)
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

    @staticmethod
    def debugger(otherwise: Any) -> Any:
        """What `breakpoint()` calls: pdb, which steps over the interpreter; or
        what the user has chosen instead."""
        if state._state.builder.phantom is not None:
            return lambda *arguments, **keywords: None
        if sys.breakpointhook is not sys.__breakpointhook__ or "PYTHONBREAKPOINT" in os.environ:
            return otherwise
        import pdb

        return pdb.Pdb(skip=NOT_THE_KERNEL).set_trace

    @staticmethod
    def value(owner: Any) -> Any:
        """``x.value``: a constant is its own constexpr."""
        return unwrap(owner.value) if hasattr(owner, "value") else owner

    @staticmethod
    def item(owner: Any, constant: Any) -> Any:
        """``owner[x.value]``: of a constant `x` that is a member of an enumeration, a dict takes
        the member, which is its value in Triton, or its number."""
        if isinstance(owner, dict) and isinstance(constant, Enum) and constant in owner:
            return owner[constant]
        return owner[Control.value(constant)]

    @staticmethod
    def owner(value: Any) -> Any:
        """A number that is asked what tensors know is one."""
        value = unwrap(value)
        return to_tensor(value) if is_constant(value) else value

    # A generator in a kernel is a tuple.
    tuple = staticmethod(tuple)
    unwrap = staticmethod(unwrap)
    truth = staticmethod(truth)


CONTROL = Control()


__all__ = ["CONTROL", "Branch", "Control"]
