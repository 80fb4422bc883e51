"""Branches, loops and returns, as structured control flow.

An `if` with a run-time condition whose branches return (or continue) is
generated together with all that follows it: what follows goes into the
branches that reach it. The IR so needs no jumps.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import SemanticError
from ..language.conversion import to_bool
from ..language.promotion import is_constant
from ..language.values import tensor
from .assigned import contains
from .flatten import (
    flat_types,
    flatten,
    materialize_like,
    same,
    structure,
    unflatten,
)
from .frames import Undefined


@dataclass
class Outcome:
    """How a list of statements ended, other than by reaching its end."""

    kind: str  # "return", "continue" or "break"
    value: Any = None


class ControlFlow:
    """The control-flow half of the code generator."""

    def run(self, statements: Iterable[ast.stmt]) -> Outcome | None:
        """Generates statements; None if control reaches the end of them."""
        pending = list(statements)
        while pending:
            statement = pending.pop(0)
            outcome = self.guard(statement, lambda s=statement, rest=pending: self.step(s, rest))
            if isinstance(outcome, list):  # A constant `if`: go on with its branch.
                pending = outcome
            elif outcome is not None:
                return outcome
        return None

    def step(self, statement: ast.stmt, rest: list[ast.stmt]) -> Outcome | list | None:
        if isinstance(statement, ast.Return):
            return self.step_return(statement)
        if isinstance(statement, ast.If):
            return self.step_if(statement, rest)
        if isinstance(statement, (ast.Continue, ast.Break)):
            kind = "continue" if isinstance(statement, ast.Continue) else "break"
            if kind == "break" and self.frame.context == "loop":
                # The loop goes on until its next test, which sees this.
                self.scope[self.frame.going] = False
                return Outcome("continue")
            return Outcome(kind)
        if isinstance(statement, ast.For):
            return self.step_for(statement)
        self.visit(statement)
        return None

    def step_return(self, node: ast.Return) -> Outcome:
        if self.frame.context != "function":
            raise SemanticError(
                "`return` is not supported inside a loop; set a variable and return after the loop"
            )
        return Outcome("return", self.visit(node.value) if node.value is not None else None)

    # Branches.

    def step_if(self, node: ast.If, rest: list[ast.stmt]) -> Outcome | list | None:
        condition = self.visit(node.test)
        if not isinstance(condition, tensor):
            return [*(node.body if condition else node.orelse), *rest]
        self.check_scalar_condition(node.test, condition, "if")
        condition = to_bool(condition)
        jump = contains([node], (ast.Return,)) or contains(
            [node], (ast.Continue, ast.Break), into_loops=False
        )
        if jump is None:
            self.branch(node, condition, lambda: self.run(node.body), lambda: self.run(node.orelse))
            return None
        if self.frame.context == "unrolled" and isinstance(jump, (ast.Break, ast.Return)):
            what = "break" if isinstance(jump, ast.Break) else "return"
            raise SemanticError(
                f"`{what}` under a run-time condition is not supported in an unrolled loop"
            )
        following = list(rest)
        rest.clear()
        outcomes = self.branch(
            node,
            condition,
            lambda: self.run([*node.body, *following]),
            lambda: self.run([*node.orelse, *following]),
            jumps=True,
        )
        return outcomes

    def check_scalar_condition(self, node: ast.expr, condition: tensor, what: str) -> None:
        if condition.type.is_block():
            self.blame = node
            raise SemanticError(
                f"the condition of `{what}` must be a scalar, but it is a block "
                f"({condition.type}); reduce it first, or "
                "use tl.where to choose element by element"
            )

    def branch(
        self,
        node: ast.AST,
        condition: tensor,
        then: Callable[[], Outcome | None],
        orelse: Callable[[], Outcome | None],
        jumps: bool = False,
    ) -> Outcome | None:
        """Generates both branches, then the scf.if that joins them."""
        b = self.builder
        before = self.frame.scope
        saved, loc = b.insertion_point, b.loc
        regions, blocks, scopes, outcomes = [], [], [], []
        for body in (then, orelse):
            region = b.region()
            block = region.blocks[0]
            b.insert_at_end(block)
            self.frame.scope = dict(before)
            try:
                outcomes.append(body())
            except BaseException:
                self.frame.scope = before
                raise
            regions.append(region)
            blocks.append(b.insertion_point)
            scopes.append(self.frame.scope)
        returns = jumps and self.frame.context == "function"
        if returns:
            # The end of the function returns None.
            pairs = [
                ("the returned value", *[o.value if o is not None else None for o in outcomes])
            ]
            merged: dict[str, Any] = {}
        else:
            self.frame.scope = before
            pairs, merged = self.changed(before, scopes, node)
        joined = []
        for name, a, c in pairs:
            b.insertion_point = blocks[0]
            a = a if same(a, c) and not is_constant(a) else self.adapt(a, c)
            b.insertion_point = blocks[1]
            c = c if same(a, c) and not is_constant(c) else self.adapt(c, a)
            if structure(a) != structure(c):
                raise SemanticError(
                    f"{name} is {_say(structure(a))} in one branch and {_say(structure(c))} in "
                    "the other; "
                    "both branches must agree"
                )
            joined.append((name, structure(a), a, c))
        types: list[Any] = []
        for _, shape, _, _ in joined:
            flat_types(shape, types)
        for block, index in zip(blocks, (2, 3), strict=False):
            handles: list[Any] = []
            for entry in joined:
                flatten(entry[index], handles)
            b.insertion_point = block
            b.create("scf.yield", handles, None, ())
        b.insertion_point = saved
        b.loc = loc
        results = iter(
            b.create("scf.if", (condition.handle,), None, [b.type(t) for t in types], regions)
        )
        values = [unflatten(shape, results) for _, shape, _, _ in joined]
        if returns:
            self.frame.scope = before
            return Outcome("return", values[0])
        scope = dict(before)
        scope.update(merged)
        for (name, *_), value in zip(joined, values, strict=False):
            scope[name.strip("`")] = value
            if isinstance(value, tensor) and not name.startswith("`<"):
                self.name_value(value, name.strip("`"))
        before.clear()
        before.update(scope)
        self.frame.scope = before
        return Outcome("continue") if jumps else None

    def adapt(self, value: Any, model: Any) -> Any:
        """Makes numbers into tensors where the other branch has them differ."""
        if is_constant(value) and type(value) is type(model) and value == model:
            return value
        return materialize_like(value, model)

    def changed(self, before: dict, scopes: list[dict], node: ast.AST) -> tuple[list, dict]:
        """The variables that the branches leave with different values."""
        pairs, merged = [], {}
        then, orelse = scopes
        line = getattr(node, "lineno", 0)
        for name in dict.fromkeys([*then, *orelse]):
            if name not in then or name not in orelse:
                where = "only when" if name in then else "only unless"
                merged[name] = Undefined(
                    f"it is assigned {where} the condition on line {line} holds"
                )
                continue
            a, c = then[name], orelse[name]
            if isinstance(a, Undefined) or isinstance(c, Undefined):
                merged[name] = a if isinstance(a, Undefined) else c
                continue
            if same(a, c):
                if name not in before or not same(before[name], a):
                    merged[name] = a
                continue
            pairs.append((f"`{name}`", a, c))
        return pairs, merged

    def choose(self, condition: tensor, then: Callable[[], Any], orelse: Callable[[], Any]) -> Any:
        """An expression that evaluates one of two."""
        b = self.builder
        saved, loc = b.insertion_point, b.loc
        regions, points, values = [], [], []
        for body in (then, orelse):
            region = b.region()
            b.insert_at_end(region.blocks[0])
            values.append(body())
            regions.append(region)
            points.append(b.insertion_point)
        a, c = values
        b.insertion_point = points[0]
        a = materialize_like(a, c)
        b.insertion_point = points[1]
        c = materialize_like(c, a)
        shape = structure(a)
        if shape != structure(c):
            raise SemanticError(
                f"the two values of `if ... else` are {_say(shape)} and {_say(structure(c))}"
            )
        for point, value in zip(points, (a, c), strict=False):
            handles: list[Any] = []
            flatten(value, handles)
            b.insertion_point = point
            b.create("scf.yield", handles, None, ())
        b.insertion_point = saved
        b.loc = loc
        types: list[Any] = []
        flat_types(shape, types)
        return unflatten(
            shape,
            iter(
                b.create("scf.if", (condition.handle,), None, [b.type(t) for t in types], regions)
            ),
        )


def _say(shape: Any) -> str:
    return str(shape)
