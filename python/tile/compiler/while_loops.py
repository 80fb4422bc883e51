"""Loops with a condition, and counted loops that may end early."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ..errors import SemanticError
from ..language import dtypes as dt
from ..language import program
from ..language.arithmetic import add, gt, ne, sub
from ..language.conversion import cast, to_bool
from ..language.promotion import constant, is_constant, to_tensor
from ..language.values import one, tensor
from .assigned import assigned_names
from .control_flow import Outcome
from .counts import Count
from .flatten import flat_types, flatten, materialize, materialize_like, structure, unflatten
from .frames import Loop, Undefined


class WhileLoops:
    """The loops that become scf.while."""

    def counted_while(
        self,
        node: ast.For,
        ty: Any,
        count: Count,
        rest: list[ast.stmt],
    ) -> Outcome | None:
        """A counted loop with a `break` or a `return`, as a `while`."""
        unsigned = dt.get_int_dtype(count.ty.int_bitwidth, False)
        counter = f"<counter {node.lineno}:{node.col_offset}>"
        more = f"<more {node.lineno}:{node.col_offset}>"
        name = node.target.id
        self.scope[counter] = count.lower
        self.scope[more] = count.ran()

        def enter() -> None:
            value = self.scope[counter]
            self.scope[name] = count.variable(value)
            self.mark_value(name, self.scope[name])
            # `continue` must not skip this, so it comes first. What is left is compared, not the
            # next value, which may leave the type behind the last iteration.
            left = sub(count.upper, value, False)
            self.scope[more] = gt(cast(left, unsigned), cast(count.stride, unsigned))
            self.scope[counter] = add(value, count.stride, False)

        def done() -> None:
            after = self.scope.pop(counter)
            self.scope.pop(more)
            self.scope[name] = Undefined(f"it is the variable of the loop on line {node.lineno}")
            if name not in assigned_names(node.body):
                self.leave_variable(
                    node,
                    ty,
                    before,
                    lambda: count.variable(sub(after, count.stride, False)),
                    lambda: ne(after, count.lower),
                )

        before = self.scope.pop(name, None)
        return self.emit_while(node, [counter, more], lambda: self.scope[more], enter, done, rest)

    def step_while(self, node: ast.While, rest: list[ast.stmt]) -> Outcome | None:
        attributes: dict[str, Any] = {}

        def test() -> Any:
            condition = self.visit(node.test)
            if isinstance(condition, program.condition):
                attributes.update(self.licm_attribute(condition.disable_licm))
                condition = condition.condition
            if not isinstance(condition, tensor) and not is_constant(condition):
                raise SemanticError(f"the condition of `while` is {one(condition)}")
            condition = self.scalar_condition(node.test, to_tensor(condition), "while")
            return to_bool(condition)

        self.at(node)
        self.begin_assigned(node, test)
        return self.emit_while(node, [], test, lambda: None, lambda: None, rest, attributes)

    def begin_assigned(self, node: ast.While, test: Callable[[], Any]) -> None:
        """Gives what a condition assigns by `:=` any value of its type before the loop: it gets its
        own before anything reads it. The type is that of a first evaluation, whose code is
        dropped."""
        names = assigned_names([node.test])
        if not names:
            return
        b = self.builder
        saved, loc, outer = b.insertion_point, b.loc, self.frame.scope
        carried = self.carried([node.test, *node.body], [])
        region, _ = self.loop_region([], carried)
        block = region.blocks[0]
        b.insert_at_end(block)
        self.frame.scope = dict(outer)
        try:
            self.enter(carried, iter(block.arguments))
            test()
            found = {name: materialize(self.scope.get(name)) for name in names}
        finally:
            self.frame.scope, b.insertion_point, b.loc = outer, saved, loc
        for name, value in found.items():
            if structure(value) != structure(carried.get(name)):
                types: list[Any] = []
                flat_types(structure(value), types)
                self.scope[name] = unflatten(structure(value), map(self.poison, types))

    def emit_while(
        self,
        node: Any,
        own: list[str],
        test: Callable[[], Any],
        enter_body: Callable[[], None],
        done: Callable[[], None],
        rest: list[ast.stmt],
        attributes: dict[str, Any] | None = None,
    ) -> Outcome | None:
        b = self.builder
        loc = b.loc
        loop = Loop(node, False, self.frame.branches)
        leaves = self.leaves(node)
        if leaves:
            self.scope[loop.going] = True
            own = [*own, loop.going]
            if self.may_return(node):
                self.scope[loop.returned] = False
                own.append(loop.returned)
        conditions = [node.test] if isinstance(node, ast.While) else []
        carried = self.carried([*conditions, *node.body], own)
        carried.update({name: materialize(self.scope[name]) for name in own})
        inits: list[Any] = []
        flatten(tuple(carried.values()), inits)
        saved, outer = b.insertion_point, self.frame.scope

        def trace() -> tuple[Any, Any, list[Any], list[Any], Any, set[str]]:
            before_region, types = self.loop_region([], carried)
            after_region, _ = self.loop_region([], carried)
            origins = dict(self.frame.origins)
            before = before_region.blocks[0]
            b.insert_at_end(before)
            self.frame.scope = dict(outer)
            inner = self.enter(carried, iter(before.arguments))
            if leaves:
                # After a jump the condition is not evaluated.
                condition = self.choose(
                    inner[loop.going],
                    test,
                    lambda: constant(False, dt.int1),
                    assigned_names(conditions),
                )
            else:
                condition = test()
            forwarded: list[Any] = []
            for name in carried:
                value = materialize_like(self.frame.scope[name], inner[name])
                if structure(value) != structure(inner[name]):
                    raise self.unstable(node, name, structure(inner[name]), structure(value), None)
                flatten(value, forwarded)
            end_of_before = b.insertion_point
            after = after_region.blocks[0]
            b.insert_at_end(after)
            self.frame.scope = dict(outer)
            inner = self.enter(carried, iter(after.arguments))
            enter_body()
            self.run(node.body)
            handles, dropped = self.leave(node, carried, inner, origins)
            # What is returned is known only now: it goes along in further
            # values, which nobody reads unless the function has returned.
            result = self.frame.scope.get(loop.result)
            loop.returns = loop.result in self.frame.scope
            flatten(result, handles)
            b.create("scf.yield", handles, None, ())
            result_types: list[Any] = []
            flat_types(structure(result), result_types)
            b.insertion_point = end_of_before
            for ty in result_types:
                forwarded.append(b.add_argument(before, b.type(ty)))
                b.add_argument(after, b.type(ty))
            b.create("scf.condition", [condition.handle, *forwarded], None, ())
            return before_region, after_region, types, result_types, result, dropped

        before_region, after_region, types, result_types, result, dropped = self.traced(
            loop, carried, trace
        )
        b.insertion_point = saved
        b.loc = loc
        inits += [self.poison(ty) for ty in result_types]
        types = [*types, *[b.type(ty) for ty in result_types]]
        results = b.create(
            "scf.while", inits, attributes or None, types, (before_region, after_region)
        )
        count = len(results) - len(result_types)
        self.after_loop(node, carried, results[:count], dropped, [])
        value = unflatten(structure(result), iter(results[count:]))
        self.otherwise(node, loop, self.scope.pop(loop.going, True), rest)
        returned = self.scope.pop(loop.returned, None)
        if not loop.returns:  # A constant condition left the `return` out.
            returned = None
        done()
        return self.after_loop_with_return(node, returned, value, rest)
