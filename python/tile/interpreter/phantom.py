"""Looks at what a branch that is not taken would have assigned.

Where two ways join, the compiler gives a variable one type. If the way that
was taken left a number in it, the type is that of the other way. To find it,
the other way is run on the variables as they were, with memory left alone.
"""

from __future__ import annotations

import ast
import inspect
import sys
import types
from typing import Any

from ..language import state

#: How many ways through a function are looked at for what it returns.
_MOST_WAYS = 64


class Phantom:
    """The mode in which only types matter."""

    def __init__(self, plan: Plan | None = None) -> None:
        #: For the next function that is entered.
        self.plan = plan


class Plan:
    """One way through a function: how its branches with a return go."""

    def __init__(self, decisions: list[bool]) -> None:
        self.decisions = decisions
        self.next = 0

    def decide(self) -> bool:
        if self.next == len(self.decisions):
            self.decisions.append(True)
        self.next += 1
        return self.decisions[self.next - 1]

    def following(self) -> Plan | None:
        """The way after this one: its last decision for, against."""
        decisions = self.decisions[: self.next]
        while decisions and not decisions[-1]:
            decisions.pop()
        return Plan([*decisions[:-1], False]) if decisions else None


class Activation:
    """A call of a function that returns in several places."""

    def __init__(self, function: Any, arguments: dict[str, Any], plan: Plan | None) -> None:
        self.function = function
        self.arguments = arguments
        self.plan = plan
        #: Whether a value decides from where it returns.
        self.dynamic = False

    def others(self) -> list[Any]:
        """What the function returns on each way through it."""
        results: list[Any] = []
        plan: Plan | None = Plan([])
        while plan is not None and len(results) < _MOST_WAYS:
            with _Looking(Phantom(plan)):
                try:
                    results.append(_call(self.function, self.arguments))
                except Exception:
                    results.append(None)  # It may fail on values that it would never see.
            plan = plan.following()
        return results


def _call(function: Any, scope: dict[str, Any]) -> Any:
    """Calls a function with the values of its parameters."""
    code = function.__code__
    count, keyword = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    positional = [scope[n] for n in names[:count]]
    keywords = {n: scope[n] for n in names[count : count + keyword]}
    rest = count + keyword
    if code.co_flags & inspect.CO_VARARGS:
        positional += scope[names[rest]]
        rest += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        keywords.update(scope[names[rest]])
    return function(*positional, **keywords)


class _Looking:
    """Inside, a way is run for its types; a debugger has nothing to see."""

    def __init__(self, phantom: Phantom) -> None:
        self.phantom = phantom

    def __enter__(self) -> None:
        self.trace = sys.gettrace()
        sys.settrace(None)
        builder = state._state.builder
        self.saved, builder.phantom = builder.phantom, self.phantom

    def __exit__(self, *error: Any) -> None:
        state._state.builder.phantom = self.saved
        sys.settrace(self.trace)


class Site:
    """A branch in the source: an `if`, or an expression `... if ... else ...`."""

    def __init__(self, node: Any, names: tuple[str, ...], returns: bool = False) -> None:
        self.node = node
        self.names = names
        #: Whether it leaves the function, on some way.
        self.returns = returns
        self.namespace: dict[str, Any] = {}
        #: The function that it is in.
        self.function: Any = None
        self._codes: dict[bool, types.CodeType | None] = {}

    def code(self, way: bool) -> types.CodeType | None:
        """The code of one way; None if there is none."""
        if way not in self._codes:
            part = self.node.body if way else self.node.orelse
            if isinstance(part, list):
                tree: Any = ast.Module(part, []) if part else None
            else:
                tree = ast.Expression(part)
            self._codes[way] = None
            if tree is not None:
                ast.fix_missing_locations(tree)
                mode = "exec" if isinstance(tree, ast.Module) else "eval"
                self._codes[way] = compile(tree, "<the other branch>", mode)
        return self._codes[way]

    def other(self, taken: bool, before: dict[str, Any], value: Any = None) -> Any:
        """What the way that is not taken leaves: its variables, or its value."""
        code = self.code(not taken)
        if code is None:
            return before
        scope = {**self.namespace, **before}
        with _Looking(Phantom()):
            try:
                result = eval(code, scope)
            except Exception:
                # It may fail on values that it would never see.
                return before if isinstance(self.node, ast.If) else value
        return scope if isinstance(self.node, ast.If) else result
