"""Loops of Python: unrolled, counted, and with a condition."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import SemanticError
from ..language import dtypes as dt
from ..language import program
from ..language.arithmetic import add, gt, lt, sub
from ..language.conversion import cast, to_bool
from ..language.promotion import constant, integer_promote, is_constant, to_tensor
from ..language.values import describe, tensor
from .assigned import assigned_names, contains
from .flatten import (
    Constant,
    flat_types,
    flatten,
    is_sequence,
    materialize,
    materialize_like,
    structure,
    unflatten,
)
from .frames import Undefined


class Loops:
    """The loop half of the control flow."""

    def static_items(self, items: Any) -> Iterable[Any]:
        """What a loop that is unrolled goes through."""
        if isinstance(items, program.static_range):
            return list(items)
        if isinstance(items, program.range):
            parts = (items.start, items.end, items.step)
            if any(isinstance(p, tensor) for p in parts):
                raise SemanticError("this range must be constant; its bounds are run-time values")
            return range(*parts)
        if is_sequence(items) or isinstance(items, (range, str)):
            return items
        if isinstance(items, dict):
            return list(items)
        raise SemanticError(
            f"cannot iterate over a {describe(items)}; use range, tl.range or tl.static_range"
        )

    def step_for(self, node: ast.For) -> None:
        if node.orelse:
            raise SemanticError("`for ... else` cannot be used in kernels")
        items = self.visit(node.iter)
        self.at(node)
        if isinstance(items, tensor):
            raise SemanticError(
                "cannot iterate over a tensor; use range, tl.range or tl.static_range"
            )
        if isinstance(items, range):
            items = program.range(items.start, items.stop, items.step)
        if isinstance(items, program.range):
            self.loop(node, items)
            return
        context, self.frame.context = self.frame.context, "unrolled"
        try:
            for item in self.static_items(items):
                self.assign(node.target, item)
                outcome = self.run(node.body)
                if outcome is not None and outcome.kind == "break":
                    break
        finally:
            self.frame.context = context

    def loop(self, node: ast.For, bounds: program.range) -> None:
        b = self.builder
        if not isinstance(node.target, ast.Name):
            raise SemanticError("a loop over a range assigns one variable")
        start, end, step = bounds.start, bounds.end, bounds.step
        for value in (start, end, step):
            if not isinstance(value, tensor) and (
                isinstance(value, float) or not is_constant(value)
            ):
                raise SemanticError(
                    f"a range's bounds and step are integers, not {describe(value)}"
                )
            if isinstance(value, tensor) and (value.type.is_block() or not value.dtype.is_int()):
                raise SemanticError(
                    f"a range's bounds and step are scalar integers, not {value.type}"
                )
        if step == 0 and not isinstance(step, tensor):
            raise SemanticError("a range's step must not be 0")
        descending = not isinstance(step, tensor) and step < 0
        if descending:
            start, end, step = end, start, -step
        lower, upper, stride = (to_tensor(v) for v in (start, end, step))
        ty = dt.int32
        for original, value in ((start, lower), (end, upper), (step, stride)):
            if isinstance(original, tensor):
                ty = integer_promote(ty, value.dtype) if ty != value.dtype else ty
            elif value.dtype.int_bitwidth > ty.int_bitwidth:
                ty = value.dtype
        if not any(isinstance(v, tensor) and v.dtype.is_int_unsigned() for v in (start, end, step)):
            ty = dt.get_int_dtype(max(32, ty.int_bitwidth), True)
        lower, upper, stride = (
            constant(int(o), ty) if is_constant(o) else cast(v, ty)
            for o, v in ((start, lower), (end, upper), (step, stride))
        )
        if contains(node.body, (ast.Break,), into_loops=False):
            self.loop_with_break(node, ty, lower, upper, stride, descending)
            return
        if descending:
            # The loop counts up; the variable counts down from the same ends.
            mirror = (lower, upper)

        carried = self.carried(node.body, [node.target.id])
        inits: list[Any] = []
        flatten(tuple(carried.values()), inits)
        loc = b.loc
        region, types = self.loop_region([ty], carried)
        block = region.blocks[0]
        saved = b.insertion_point
        arguments = iter(block.arguments)
        induction = tensor(next(arguments), ty)
        b.insert_at_end(block)
        self.name_value(induction, node.target.id)
        outer = self.frame.scope
        self.frame.scope = dict(outer)
        inner = self.enter(carried, arguments)
        if descending:
            induction = add(sub(mirror[1], induction), mirror[0])
        self.frame.scope[node.target.id] = induction
        context, self.frame.context = self.frame.context, "loop"
        try:
            self.run(node.body)
            handles, dropped = self.leave(node, carried, inner)
            b.create("scf.yield", handles, None, ())
        finally:
            self.frame.context = context
            self.frame.scope = outer
        b.insertion_point = saved
        b.loc = loc
        attributes = self.loop_attributes(bounds)
        if ty.is_int_unsigned():
            attributes["unsignedCmp"] = b.unit_attr()
        results = b.create(
            "scf.for",
            [lower.handle, upper.handle, stride.handle, *inits],
            attributes,
            types,
            (region,),
        )
        self.after_loop(node, carried, results, dropped, [node.target.id])

    def loop_attributes(self, bounds: program.range) -> dict:
        b = self.builder
        attributes = {}
        if bounds.num_stages is not None:
            attributes["tt.num_stages"] = b.int_attr(32, bounds.num_stages)
        if bounds.loop_unroll_factor is not None:
            attributes["tt.loop_unroll_factor"] = b.int_attr(32, bounds.loop_unroll_factor)
        for flag in ("disallow_acc_multi_buffer", "flatten", "warp_specialize"):
            if getattr(bounds, flag):
                attributes[f"tt.{flag}"] = b.unit_attr()
        if bounds.disable_licm:
            attributes["llvm.loop_annotation"] = b.parse_attr(
                "#llvm.loop_annotation<licm = <disable = true>>"
            )
        return attributes

    def carried(self, body: list[ast.stmt], exclude: list[str]) -> dict[str, Any]:
        """The variables of before the loop that its body assigns."""
        result = {}
        for name in assigned_names(body):
            if name in exclude or name not in self.scope or isinstance(self.scope[name], Undefined):
                continue
            result[name] = materialize(self.scope[name])
        return result

    def loop_region(self, leading: list[Any], carried: dict[str, Any]) -> tuple[Any, list[Any]]:
        b = self.builder
        types: list[Any] = []
        flat_types(structure(tuple(carried.values())), types)
        ir_types = [b.type(t) for t in types]
        return b.region([*[b.type(t) for t in leading], *ir_types]), ir_types

    def enter(self, carried: dict[str, Any], arguments: Any) -> dict[str, Any]:
        """Gives the carried variables the values of this iteration."""
        inner = {}
        for name, value in carried.items():
            inner[name] = self.frame.scope[name] = unflatten(structure(value), arguments)
            if isinstance(inner[name], tensor) and not name.startswith("<"):
                self.name_value(inner[name], name)
        return inner

    def leave(
        self, node: Any, carried: dict[str, Any], inner: dict[str, Any]
    ) -> tuple[list[Any], set[str]]:
        """The values for the next iteration, and names that change their type."""
        handles: list[Any] = []
        dropped: set[str] = set()
        for name, initial in carried.items():
            value = self.frame.scope.get(name)
            shape = structure(initial)
            if isinstance(value, Undefined):
                if not self.killed_first(node.body, name):
                    raise SemanticError(
                        f"`{name}` may be undefined after an iteration of the loop: {value.why}"
                    )
                value = inner[name]
                dropped.add(name)
            else:
                value = materialize_like(value, inner[name])
            if structure(value) != shape:
                if not self.killed_first(node.body, name):
                    raise self.unstable(node, name, shape, structure(value))
                value = inner[name]
                dropped.add(name)
            flatten(value, handles)
        return handles, dropped

    def unstable(self, node: Any, name: str, before: Any, after: Any) -> SemanticError:
        assignment = assigned_names(node.body).get(name)
        if assignment is not None:
            self.blame = assignment
        if isinstance(before, Constant) or isinstance(after, Constant):
            return SemanticError(
                f"`{name}` is {_say(before)} before the loop on line {node.lineno}, but "
                f"{_say(after)} after an iteration; "
                "only numbers and tensors can change in a run-time loop (tl.static_range unrolls "
                "one)"
            )
        return SemanticError(
            f"`{name}` has the type {_say(before)} before the loop on line {node.lineno}, but "
            f"{_say(after)} after an "
            "iteration; a variable keeps its type through a loop, so convert it with .to() or "
            "tl.broadcast_to"
        )

    def killed_first(self, body: list[ast.stmt], name: str) -> bool:
        """True if the body surely assigns the name before it reads it."""
        for statement in body:
            reads = any(
                isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load)
                for n in ast.walk(statement)
            )
            if reads or (
                isinstance(statement, ast.AugAssign) and name in assigned_names([statement])
            ):
                return False
            if isinstance(statement, (ast.Assign, ast.AnnAssign)) and name in assigned_names(
                [statement]
            ):
                return True
            if isinstance(statement, (ast.If, ast.For, ast.While)) and name in assigned_names(
                [statement]
            ):
                return False
        return False

    def after_loop(
        self,
        node: Any,
        carried: dict[str, Any],
        results: list[Any],
        dropped: set[str],
        own: list[str],
    ) -> None:
        handles = iter(results)
        for name, initial in carried.items():
            value = unflatten(structure(initial), handles)
            if name in dropped:
                self.scope[name] = Undefined(
                    f"it changes its type in the loop on line {node.lineno}"
                )
                continue
            self.scope[name] = value
            if isinstance(value, tensor) and not name.startswith("<"):
                self.name_value(value, name)
        for name in [*assigned_names(node.body), *own]:
            if name not in carried:
                self.scope[name] = Undefined(
                    f"it is assigned in the loop on line {node.lineno}, which may run zero times; "
                    "give it a value before the loop"
                )

    def loop_with_break(
        self, node: ast.For, ty: Any, lower: tensor, upper: tensor, stride: tensor, descending: bool
    ) -> None:
        """A counted loop with a `break`, as a `while`."""
        start, end = (upper, lower) if descending else (lower, upper)
        step = sub(constant(0, ty), stride) if descending else stride
        counter = f"<counter {node.lineno}:{node.col_offset}>"
        name = node.target.id
        self.scope[counter] = start

        def test() -> Any:
            return (gt if descending else lt)(self.scope[counter], end)

        def enter() -> None:
            value = self.scope[counter]
            self.scope[name] = value
            # `continue` must not skip this, so it comes first.
            self.scope[counter] = add(value, step)

        self.scope.pop(name, None)
        self.emit_while(node, [counter], test, enter)
        self.scope.pop(counter)
        self.scope[name] = Undefined(f"it is the variable of the loop on line {node.lineno}")

    def visit_While(self, node: ast.While) -> None:
        if node.orelse:
            raise SemanticError("`while ... else` cannot be used in kernels")

        def test() -> Any:
            condition = self.visit(node.test)
            if isinstance(condition, program.condition):
                condition = condition.condition
            if not isinstance(condition, tensor) and not is_constant(condition):
                raise SemanticError(f"the condition of `while` is a {describe(condition)}")
            condition = to_tensor(condition)
            self.check_scalar_condition(node.test, condition, "while")
            return to_bool(condition)

        self.at(node)
        self.emit_while(node, [], test, lambda: None)

    def emit_while(
        self, node: Any, own: list[str], test: Callable[[], Any], enter_body: Callable[[], None]
    ) -> None:
        b = self.builder
        loc = b.loc
        going = None
        saved_going = self.frame.going
        if contains(node.body, (ast.Break,), into_loops=False):
            going = f"<going {node.lineno}:{node.col_offset}>"
            self.scope[going] = True
            own = [*own, going]
        conditions = [node.test] if isinstance(node, ast.While) else []
        carried = self.carried([*conditions, *node.body], own)
        carried.update({name: materialize(self.scope[name]) for name in own})
        inits: list[Any] = []
        flatten(tuple(carried.values()), inits)
        before_region, types = self.loop_region([], carried)
        after_region, _ = self.loop_region([], carried)
        saved = b.insertion_point
        outer = self.frame.scope
        context, self.frame.context = self.frame.context, "loop"
        self.frame.going = going
        try:
            block = before_region.blocks[0]
            b.insert_at_end(block)
            self.frame.scope = dict(outer)
            inner = self.enter(carried, iter(block.arguments))
            if going is None:
                condition = test()
            else:
                # After a `break` the condition is not evaluated.
                condition = self.choose(inner[going], test, lambda: constant(False, dt.int1))
            forwarded: list[Any] = []
            flatten(tuple(self.frame.scope[name] for name in carried), forwarded)
            b.create("scf.condition", [condition.handle, *forwarded], None, ())
            block = after_region.blocks[0]
            b.insert_at_end(block)
            self.frame.scope = dict(outer)
            inner = self.enter(carried, iter(block.arguments))
            enter_body()
            self.run(node.body)
            handles, dropped = self.leave(node, carried, inner)
            b.create("scf.yield", handles, None, ())
        finally:
            self.frame.context = context
            self.frame.going = saved_going
            self.frame.scope = outer
        b.insertion_point = saved
        b.loc = loc
        results = b.create("scf.while", inits, None, types, (before_region, after_region))
        self.after_loop(node, carried, results, dropped, [])
        if going is not None:
            self.scope.pop(going)


def _say(shape: Any) -> str:
    return str(shape)
