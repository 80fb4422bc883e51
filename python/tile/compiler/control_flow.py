"""Branches, loops and returns, as structured control flow.

An `if` with a run-time condition whose branches return (or continue) is
generated together with all that follows it: what follows goes into the
branches that reach it. The IR so needs no jumps.

A jump out of a loop sets variables of the loop instead (see `Loop`): the loop
tests one of them before each iteration, and after it a return goes on.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from ..errors import SemanticError, TileError, UnsupportedError
from ..language import creation
from ..language.conversion import to_bool
from ..language.promotion import is_constant
from ..language.values import tensor
from .assigned import assigned_names, contains
from .flatten import (
    common,
    flat_types,
    flatten,
    materialize_like,
    restructured,
    same,
    structure,
    unflatten,
)
from .frames import Block, Deferred, Loop, Undefined

#: What is said where a kernel, not a function that it calls, returns a value.
RETURNS_NOTHING = "a kernel returns nothing; store its results through pointers"

#: What may occur in a condition that is looked at before its statement.
_CONSTANT_EXPRESSIONS = (
    ast.expr_context, ast.boolop, ast.cmpop, ast.operator, ast.unaryop, ast.Name, ast.Constant,
    ast.Attribute, ast.BoolOp, ast.Compare, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.List,
)  # fmt: skip


#: Beyond so many copies, what follows an `if` is not generated once more.
_MOST_COPIES = 4


def falls_through(statements: list[ast.stmt]) -> bool:
    """Whether control may come to the end of statements."""
    last = statements[-1] if statements else None
    if isinstance(last, (ast.Return, ast.Break, ast.Continue)):
        return False
    if isinstance(last, ast.If):
        return falls_through(last.body) or falls_through(last.orelse)
    return True


@dataclass
class Outcome:
    """How a list of statements ended, other than by reaching its end."""

    kind: str  # "return", "continue", "break", or "leave" (of a `Block`)
    value: Any = None


class ControlFlow:
    """The control-flow half of the code generator."""

    def run(self, statements: Iterable[ast.stmt]) -> Outcome | None:
        """Generates statements; None if control reaches the end of them."""
        pending = list(statements)
        while pending:
            statement = pending.pop(0)
            self.mark_statement(statement)
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
        if isinstance(statement, ast.Continue):
            return self.step_continue()
        if isinstance(statement, ast.Break):
            return self.step_break()
        if isinstance(statement, ast.For):
            return self.step_for(statement, rest)
        if isinstance(statement, ast.While):
            return self.step_while(statement, rest)
        if isinstance(statement, ast.With):
            return self.step_with(statement)
        self.visit(statement)
        return None

    def step_with(self, node: ast.With) -> None:
        """Statements in scopes of the profiler: nothing else can be entered."""
        jump = contains(node.body, (ast.Return,)) or contains(
            node.body, (ast.Break, ast.Continue), into_loops=False
        )
        if jump is not None:
            what = type(jump).__name__.lower()
            raise SemanticError(f"a `{what}` cannot leave a `with` in a kernel")
        entered = []
        for item in node.items:
            scope = self.visit(item.context_expr)
            if not getattr(scope, "__tile_scope__", False) or item.optional_vars is not None:
                raise UnsupportedError(
                    "`with` cannot be used in kernels, but for scopes of the profiler: "
                    "`with pl.scope(name):`"
                )
            self.at(node)
            scope.__enter__()
            entered.append(scope)
        self.run(node.body)
        self.at(node)
        for scope in reversed(entered):
            scope.__exit__()

    # Jumps.

    def step_return(self, node: ast.Return) -> Outcome:
        value = self.visit(node.value) if node.value is not None else None
        if value is not None and len(self.frames) == 1:
            raise SemanticError(RETURNS_NOTHING)
        return self.leave_function(value)

    def leave_function(self, value: Any) -> Outcome:
        """Returns from here: at once, or as soon as the loops around are left."""
        loop = self.frame.loop
        if loop is None or self.is_static(loop):
            return Outcome("return", value)
        self.scope[loop.returned] = True
        self.scope[loop.result] = value
        self.scope[loop.going] = False
        return Outcome("leave" if isinstance(loop, Block) else "continue")

    def step_continue(self) -> Outcome:
        loop = self.frame.loop
        if isinstance(loop, Block):
            self.scope[loop.continued] = True
            return Outcome("leave")
        return Outcome("continue")

    def step_break(self) -> Outcome:
        loop = self.frame.loop
        if isinstance(loop, Block):
            self.scope[loop.broke] = True
            return Outcome("leave")
        if self.is_static(loop):
            return Outcome("break")
        self.scope[loop.going] = False
        return Outcome("continue")

    def is_static(self, loop: Loop) -> bool:
        """True if every run of the loop's iteration comes to this place."""
        return loop.unrolled and self.frame.branches == loop.branches

    def after_loop_with_return(
        self, node: ast.stmt, returned: Any, value: Any, rest: list[ast.stmt]
    ) -> Outcome | None:
        """Goes on after a loop that may have returned from the function."""
        if not isinstance(returned, tensor):
            return None
        following = list(rest)
        rest.clear()
        return self.branch(
            node,
            returned,
            lambda: self.leave_function(value),
            lambda: self.run(following),
            jumps=True,
        )

    def jump_in(
        self,
        nodes: Iterable[ast.AST],
        kinds: tuple[type[ast.AST], ...],
        into_loops: bool = True,
        changing: Any = None,
    ) -> bool:
        """Whether there is such a jump, other than under a constant condition
        that does not hold."""
        changing = assigned_names(nodes) if changing is None else changing
        for node in nodes:
            if isinstance(node, kinds):
                return True
            if isinstance(node, ast.If):
                known = self.known(node.test, changing)
                inner = [*node.body, *node.orelse]
                if known is not None:
                    inner = node.body if known[0] else node.orelse
            elif isinstance(node, (ast.For, ast.While)):
                inner = [*node.body, *node.orelse] if into_loops else node.orelse
            else:
                continue
            if self.jump_in(inner, kinds, into_loops, changing):
                return True
        return False

    def known(self, test: ast.expr, changing: Any) -> tuple[Any] | None:
        """The value of a condition that constants decide, ahead of its place."""
        if isinstance(test, ast.BoolOp):
            value = None
            for operand in test.values:
                value = self.known(operand, changing)
                if value is None or bool(value[0]) != isinstance(test.op, ast.And):
                    break
            return value
        try:
            for node in ast.walk(test):
                if isinstance(node, ast.Name):
                    if node.id in changing or isinstance(self.lookup(node.id), tensor):
                        return None
                elif not isinstance(node, _CONSTANT_EXPRESSIONS):
                    return None
            value = self.visit(test)
        except TileError:
            return None  # Said where the condition is generated.
        return None if isinstance(value, tensor) else (value,)

    # Branches.

    def step_if(self, node: ast.If, rest: list[ast.stmt]) -> Outcome | list | None:
        condition = self.visit(node.test)
        if not isinstance(condition, tensor):
            return [*(node.body if condition else node.orelse), *rest]
        condition = to_bool(self.scalar_condition(node.test, condition, "if"))
        jumps = self.jump_in([node], (ast.Return,)) or self.jump_in(
            [node], (ast.Continue, ast.Break), into_loops=False
        )
        if not jumps:
            self.branch(node, condition, lambda: self.run(node.body), lambda: self.run(node.orelse))
            return None
        both = rest and falls_through(node.body) and falls_through(node.orelse)
        if both and self.frame.copies >= _MOST_COPIES:
            return self.block(node, condition, rest)
        following = list(rest)
        rest.clear()
        copies, self.frame.copies = self.frame.copies, self.frame.copies * (2 if both else 1)
        try:
            return self.branch(
                node,
                condition,
                lambda: self.run([*node.body, *following]),
                lambda: self.run([*node.orelse, *following]),
                jumps=True,
            )
        finally:
            self.frame.copies = copies

    def block(self, node: ast.If, condition: tensor, rest: list[ast.stmt]) -> Outcome | None:
        """An `if` with jumps, and then, once, what follows it: where a jump was
        taken, that is skipped."""
        block = Block(node, self.frame.branches)
        flags = (block.returned, block.broke, block.continued)
        self.scope.update(dict.fromkeys(flags, False))
        around, self.frame.loop = self.frame.loop, block
        try:
            self.branch(
                node,
                condition,
                lambda: self.run(node.body),
                lambda: self.run(node.orelse),
                soft=True,
            )
        finally:
            self.frame.loop = around
        self.scope.pop(block.going, None)
        returned, broke, continued = (self.scope.pop(flag) for flag in flags)
        value = self.scope.pop(block.result, None)
        following = list(rest)
        rest.clear()
        jumps: list[tuple[Any, Callable[[], Outcome]]] = [
            (returned, lambda: self.leave_function(value)),
            (broke, self.step_break),
            (continued, self.step_continue),
        ]

        def go_on(jumps: list) -> Outcome | None:
            for i, (flag, jump) in enumerate(jumps):
                if isinstance(flag, tensor):
                    others = jumps[i + 1 :]
                    return self.branch(
                        node, flag, jump, lambda others=others: go_on(others), jumps=True
                    )
                if flag:
                    return jump()
            return self.run(following)

        return go_on(jumps)

    def scalar_condition(self, node: ast.expr, condition: tensor, what: str) -> tensor:
        """A condition as a scalar; its place is that of errors."""
        self.blame = node
        condition = creation.scalar_condition(condition, what)
        self.blame = None
        return condition

    def branch(
        self,
        node: ast.AST,
        condition: tensor,
        then: Callable[[], Outcome | None],
        orelse: Callable[[], Outcome | None],
        jumps: bool = False,
        soft: bool = False,
    ) -> Outcome | None:
        """Generates both branches, then the scf.if that joins them.

        With `jumps`, the branches contain all that follows. With `soft`, a
        variable whose type differs is an error only where it is used.
        """
        b = self.builder
        before = self.frame.scope
        saved, loc = b.insertion_point, b.loc
        regions, blocks, scopes, outcomes = [], [], [], []
        for body in (then, orelse):
            region = b.region()
            block = region.blocks[0]
            b.insert_at_end(block)
            self.frame.scope = dict(before)
            self.frame.branches += 1
            try:
                outcomes.append(body())
                self.settle(before)
            except BaseException:
                self.frame.scope = before
                raise
            finally:
                self.frame.branches -= 1
            regions.append(region)
            blocks.append(b.insertion_point)
            scopes.append(self.frame.scope)
        returns = jumps and any(o is not None and o.kind == "return" for o in outcomes)
        if returns:
            # The end of the function returns None.
            pairs = [
                ("the returned value", *[o.value if o is not None else None for o in outcomes])
            ]
            merged: dict[str, Any] = {}
        else:
            self.frame.scope = before
            left = [o is not None and o.kind == "leave" for o in outcomes]
            pairs, merged = self.changed(before, scopes, blocks, left, node)
        joined = []
        for name, a, c in pairs:
            b.insertion_point = blocks[0]
            a = a if same(a, c) and not is_constant(a) else self.adapt(a, c)
            b.insertion_point = blocks[1]
            c = c if same(a, c) and not is_constant(c) else self.adapt(c, a)
            if structure(a) != structure(c):
                if name.startswith("<result"):
                    raise SemanticError(
                        f"the function returns {_say(structure(a))} in one place and "
                        f"{_say(structure(c))} in another; both must agree"
                    )
                if soft or (jumps and not returns):
                    merged[name.strip("`")] = Undefined(
                        f"it is {_say(structure(a))} in one branch of line "
                        f"{getattr(node, 'lineno', 0)} and {_say(structure(c))} in the other"
                    )
                    continue
                what = (
                    "Return type mismatch: the function returns"
                    if name == "the returned value"
                    else f"Mismatched type for {name.strip('`')}: it is"
                )
                raise SemanticError(
                    f"{what} {_say(structure(a))} in one branch and {_say(structure(c))} in the "
                    "other; both branches must agree"
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
            if isinstance(value, tensor) and not name.startswith("<"):
                self.name_value(value, name.strip("`"))
        before.clear()
        before.update(scope)
        self.frame.scope = before
        if not jumps or self.frame.loop is None:
            return None
        return Outcome("leave" if all(left) else "continue")

    def settle(self, before: dict[str, Any]) -> None:
        """Generates, or gives up, what a branch leaves to be generated where it
        is read: that may be behind the branch."""
        for name, value in self.frame.scope.items():
            if not isinstance(value, Deferred) or before.get(name) is value:
                continue
            known = name in before and not isinstance(before[name], Undefined)
            self.frame.scope[name] = value.make() if known else Undefined(value.why)

    def adapt(self, value: Any, model: Any) -> Any:
        """Makes numbers into tensors where the other branch has them differ, and tensors into ones
        that are waited for where those of the other branch are."""
        if is_constant(value) and type(value) is type(model) and value == model:
            return value
        value = materialize_like(value, model)
        shape = structure(value)
        both = common(shape, structure(model))
        return value if both is None or both == shape else restructured(value, both)

    def changed(
        self, before: dict, scopes: list[dict], blocks: list[Any], left: list[bool], node: ast.AST
    ) -> tuple[list, dict]:
        """The variables that the branches leave with different values. What a
        branch lacks that has `left` is not read on its path."""
        pairs, merged = [], {}
        then, orelse = scopes
        line = getattr(node, "lineno", 0)
        for name in dict.fromkeys([*then, *orelse]):
            lacking = [name not in scope or isinstance(scope[name], Undefined) for scope in scopes]
            if lacking.count(True) == 1:
                side = lacking.index(True)
                if left[side] or name.startswith("<result"):
                    pair = [then.get(name), orelse.get(name)]
                    pair[side] = self.anything_like(pair[1 - side], blocks[side])
                    pairs.append((name if name.startswith("<") else f"`{name}`", *pair))
                    continue
            if name not in then or name not in orelse:
                where = "only when" if name in then else "only unless"
                merged[name] = Undefined(
                    f"it is assigned {where} the condition on line {line} holds"
                )
                continue
            a, c = then[name], orelse[name]
            if any(lacking):
                merged[name] = a if isinstance(a, Undefined) else c
                continue
            if same(a, c):
                if name not in before or not same(before[name], a):
                    merged[name] = a
                continue
            pairs.append((name if name.startswith("<") else f"`{name}`", a, c))
        return pairs, merged

    def anything_like(self, value: Any, point: Any) -> Any:
        """A value of the same structure that nobody reads."""
        b = self.builder
        saved, b.insertion_point = b.insertion_point, point
        types: list[Any] = []
        flat_types(structure(value), types)
        handles = [self.poison(t) for t in types]
        b.insertion_point = saved
        return unflatten(structure(value), iter(handles))

    def poison(self, ty: Any) -> Any:
        b = self.builder
        return b.create_one("ub.poison", (), {"value": b.parse_attr("#ub.poison")}, (b.type(ty),))

    def choose(
        self,
        condition: tensor,
        then: Callable[[], Any],
        orelse: Callable[[], Any],
        names: Iterable[str] = (),
    ) -> Any:
        """An expression that evaluates one of two, which may assign these names."""
        b = self.builder
        saved, loc = b.insertion_point, b.loc
        nothing = Undefined("it is assigned on one side of a condition only")
        before = {name: self.scope.get(name, nothing) for name in names}
        regions, points, values, assigned = [], [], [], []
        for body in (then, orelse):
            region = b.region()
            b.insert_at_end(region.blocks[0])
            values.append(body())
            assigned.append({name: self.scope.get(name, nothing) for name in before})
            self.scope.update(before)
            regions.append(region)
            points.append(b.insertion_point)
        known = [n for n in before if not any(isinstance(a[n], Undefined) for a in assigned)]
        pairs = [
            self.alike(values, points, "Ternary expression with dynamic condition"),
            *(self.alike([a[name] for a in assigned], points, f"`{name}`") for name in known),
        ]
        for point, side in zip(points, zip(*pairs, strict=True), strict=True):
            handles: list[Any] = []
            flatten(side, handles)
            b.insertion_point = point
            b.create("scf.yield", handles, None, ())
        b.insertion_point = saved
        b.loc = loc
        shape = structure(tuple(pair[0] for pair in pairs))
        types: list[Any] = []
        flat_types(shape, types)
        results = b.create("scf.if", (condition.handle,), None, [b.type(t) for t in types], regions)
        chosen, *changed = unflatten(shape, iter(results))
        self.scope.update(dict.fromkeys(before, nothing))
        self.scope.update(zip(known, changed, strict=True))
        return chosen

    def alike(self, values: list[Any], points: list[Any], what: str) -> tuple[Any, Any]:
        """The two values of a choice, of one type; made where the two sides end."""
        b = self.builder
        a, c = values
        b.insertion_point = points[0]
        a = materialize_like(a, c)
        points[0] = b.insertion_point
        b.insertion_point = points[1]
        c = materialize_like(c, a)
        points[1] = b.insertion_point
        if structure(a) != structure(c):
            raise SemanticError(
                f"{what} has inconsistent types: {_say(structure(a))} and {_say(structure(c))}"
            )
        return a, c


def _say(shape: Any) -> str:
    return str(shape)
