"""Loops of Python: unrolled, and counted."""

from __future__ import annotations

import ast
from collections.abc import Callable, ItemsView, Iterable, KeysView, ValuesView
from typing import Any, NoReturn

from ..errors import SemanticError
from ..language import dtypes as dt
from ..language import program
from ..language.arithmetic import ne, where
from ..language.conversion import cast
from ..language.promotion import constant, integer_promote, is_constant, to_tensor
from ..language.values import describe, one, tensor
from .assigned import assigned_names
from .control_flow import Outcome
from .counts import either_way, has_no_sign, mirrored, upwards
from .flatten import (
    Constant,
    common,
    flat_types,
    flatten,
    is_sequence,
    materialize,
    materialize_like,
    restructured,
    structure,
    unflatten,
)
from .frames import Deferred, Loop, Undefined
from .pipelines import missed


class _Awaited(Exception):
    """A variable of a loop is waited for after an iteration, which it was not before the loop."""

    def __init__(self, name: str, structure: Any) -> None:
        self.name = name
        self.structure = structure


def is_too_long(start: Any, end: Any, ty: Any) -> bool:
    """Whether the distance between constant bounds, from which iterations are counted, has
    another sign in the type of the counter."""
    if not (is_constant(start) and is_constant(end)):
        return False
    return int(end) - int(start) >= 1 << (ty.int_bitwidth - 1)


def refuse_items(items: Any) -> NoReturn:
    """Says what a loop goes through."""
    what = "a tensor" if isinstance(items, tensor) else one(items)
    raise SemanticError(f"cannot iterate over {what}; use range, tl.range or tl.static_range")


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
        if isinstance(items, (dict, KeysView, ValuesView, ItemsView)):
            return list(items)
        refuse_items(items)

    def step_for(self, node: ast.For, rest: list[ast.stmt]) -> Outcome | None:
        items = self.visit(node.iter)
        self.at(node)
        if isinstance(items, tensor):
            refuse_items(items)
        if isinstance(items, range):
            items = program.range(items.start, items.stop, items.step)
        if isinstance(items, program.range):
            return self.loop(node, items, rest)
        return self.unrolled(node, self.static_items(items), rest)

    def unrolled(self, node: ast.For, items: Iterable[Any], rest: list[ast.stmt]) -> Outcome | None:
        """One iteration after the other; after a jump out of the loop that is
        taken at run time, each under a condition."""
        loop = Loop(node, True, self.frame.branches)
        outer, self.frame.loop = self.frame.loop, loop
        self.scope[loop.going] = True
        self.scope[loop.returned] = False
        outcome = None

        def stop() -> None:
            self.scope[loop.going] = False

        try:
            for item in items:

                def iteration(item: Any = item) -> Outcome | None:
                    self.assign(node.target, item)
                    return self.run(node.body)

                going = self.scope[loop.going]
                if isinstance(going, tensor):
                    self.branch(node, going, iteration, stop, soft=True)
                elif going:
                    outcome = iteration()
                if outcome is not None and outcome.kind != "continue":
                    stop()
                    break
        finally:
            self.frame.loop = outer
        self.otherwise(node, loop, self.scope.pop(loop.going), rest)
        returned = self.scope.pop(loop.returned)
        value = self.scope.pop(loop.result, None)
        if outcome is not None and outcome.kind == "return":
            return self.leave_function(outcome.value)
        return self.after_loop_with_return(node, returned, value, rest)

    def loop(self, node: ast.For, bounds: program.range, rest: list[ast.stmt]) -> Outcome | None:
        b = self.builder
        if not isinstance(node.target, ast.Name):
            raise SemanticError("a loop over a range assigns one variable")
        start, end, step = bounds.start, bounds.end, bounds.step
        for which, value in zip(program.BOUNDS, (start, end, step), strict=True):
            if not isinstance(value, tensor) and (
                isinstance(value, float) or not is_constant(value)
            ):
                raise SemanticError(
                    f"a range's bounds and step are integers, not {describe(value)}"
                )
            if isinstance(value, tensor) and (value.type.is_block() or not value.dtype.is_int()):
                program.refuse_bound(which, value.type)
        if not isinstance(step, tensor) and step == 0:
            raise SemanticError("a range's step must not be 0")
        descending = not isinstance(step, tensor) and step < 0
        if descending:
            step = -step
        given = start, end, step
        ty = dt.int32
        for original, value in zip(given, map(to_tensor, given), strict=True):
            if isinstance(original, tensor):
                ty = integer_promote(ty, value.dtype) if ty != value.dtype else ty
            elif value.dtype.int_bitwidth > ty.int_bitwidth:
                ty = value.dtype
        if not any(isinstance(v, tensor) and v.dtype.is_int_unsigned() for v in given):
            ty = dt.get_int_dtype(max(32, ty.int_bitwidth), True)
        if is_too_long(*((end, start) if descending else (start, end)), ty):
            raise SemanticError(
                f"a range from {start} to {end} goes further than {ty} can count with a sign; "
                "give it a bound of a wider type"
            )
        numbers = ty
        if ty.is_int_unsigned() and not all(has_no_sign(v, b.not_negative) for v in given):
            # As in range(n - 1, -1, -1) of an unsigned `n`.
            numbers = dt.get_int_dtype(ty.int_bitwidth, True)
        first, last, by = (
            constant(int(v), numbers) if is_constant(v) else cast(v, numbers) for v in given
        )
        if isinstance(step, tensor):
            program.device_assert(ne(by, 0), "a range's step must not be 0")
        if descending:
            count = mirrored(first, last, by)
        elif has_no_sign(step, b.not_negative):
            count = upwards(first, last, by)
        else:
            count = either_way(first, last, by)
        if numbers != ty:
            count.result = ty
        if self.leaves(node):
            if bounds.warp_specialize:
                place = (self.frame.source.file, node.lineno, node.col_offset + 1)
                reason = "it may end early: a jump leaves it"
                missed("front-end", "loop-not-specialized", reason, [place])
            return self.counted_while(node, ty, count, rest)

        carried = self.carried(node.body, [node.target.id])
        inits: list[Any] = []
        flatten(tuple(carried.values()), inits)
        loc, saved = b.loc, b.insertion_point

        def trace() -> tuple[Any, list[Any], set[str]]:
            region, types = self.loop_region([count.ty], carried)
            block = region.blocks[0]
            arguments = iter(block.arguments)
            induction = tensor(next(arguments), count.ty)
            b.known.append(induction.handle)
            b.insert_at_end(block)
            self.name_value(induction, node.target.id)
            self.frame.scope = dict(self.frame.scope)
            inner = self.enter(carried, arguments)
            induction = count.variable(induction)
            self.frame.scope[node.target.id] = induction
            self.mark_value(node.target.id, induction)
            origins = dict(self.frame.origins)
            self.run(node.body)
            handles, dropped = self.leave(node, carried, inner, origins)
            b.create("scf.yield", handles, None, ())
            return region, types, dropped

        region, types, dropped = self.traced(Loop(node, False, self.frame.branches), carried, trace)
        b.insertion_point = saved
        b.loc = loc
        attributes = self.loop_attributes(bounds)
        if count.ty.is_int_unsigned():
            attributes["unsignedCmp"] = b.unit_attr()
        results = b.create(
            "scf.for",
            [count.lower.handle, count.upper.handle, count.stride.handle, *inits],
            attributes,
            types,
            (region,),
        )
        before = self.scope.get(node.target.id)
        self.after_loop(node, carried, results, dropped, [node.target.id])
        if node.target.id not in assigned_names(node.body):
            self.leave_variable(node, ty, before, count.last, count.ran)
        rest[:0] = node.orelse
        return None

    def traced(self, loop: Loop, carried: dict[str, Any], trace: Callable[[], Any]) -> Any:
        """What `trace` returns, which generates an iteration. If an iteration leaves in a variable
        what is still being computed, another one begins with that, and its code is generated for
        it."""
        b = self.builder
        scope, around = self.frame.scope, self.frame.loop
        place, loc = b.insertion_point, b.loc
        while True:
            self.frame.loop = loop
            try:
                return trace()
            except _Awaited as found:
                carried[found.name] = restructured(carried[found.name], found.structure)
                b.insertion_point, b.loc = place, loc
            finally:
                self.frame.loop, self.frame.scope = around, scope

    def leave_variable(
        self,
        node: ast.For,
        ty: Any,
        before: Any,
        last: Callable[[], tensor],
        ran: Callable[[], tensor],
    ) -> None:
        """After a loop its variable has the last value, or, where the loop may have run
        zero times, the one of before. It is generated only where it is read."""
        name = node.target.id
        why = f"it is the variable of the loop on line {node.lineno}"
        if isinstance(before, Deferred):
            before = before.make()
        if before is None or isinstance(before, Undefined):
            self.scope[name] = Deferred(why, last)
        elif (is_constant(before) and isinstance(before, int)) or (
            isinstance(before, tensor) and before.type == ty
        ):
            self.scope[name] = Deferred(
                why, lambda: where(ran(), last(), cast(to_tensor(before), ty))
            )
        else:
            self.scope[name] = Undefined(f"it changes its type in the loop on line {node.lineno}")

    def otherwise(self, node: Any, loop: Loop, going: Any, rest: list[ast.stmt]) -> None:
        """Puts the `else` of a loop, which runs unless a `break` ended the loop,
        before what follows."""
        if not node.orelse or going is False:
            return
        if isinstance(going, tensor):
            self.scope[loop.going] = going
            test = ast.copy_location(ast.Name(loop.going, ast.Load()), node.orelse[0])
            rest.insert(0, ast.copy_location(ast.If(test, node.orelse, []), node.orelse[0]))
        else:
            rest[:0] = node.orelse

    def leaves(self, node: ast.For | ast.While) -> bool:
        """Whether the loop may end before its time."""
        return self.may_return(node) or self.jump_in(
            node.body, (ast.Break,), into_loops=False, changing=assigned_names([node])
        )

    def may_return(self, node: ast.For | ast.While) -> bool:
        """Whether the function may return from inside the loop."""
        return self.jump_in(node.body, (ast.Return,), changing=assigned_names([node]))

    def loop_attributes(self, bounds: program.range) -> dict:
        b = self.builder
        attributes = {}
        if bounds.num_stages is not None:
            attributes["tt.num_stages"] = b.int_attr(32, bounds.num_stages)
        if bounds.loop_unroll_factor is not None:
            attributes["tt.loop_unroll_factor"] = b.int_attr(32, bounds.loop_unroll_factor)
        if bounds.disallow_acc_multi_buffer:
            attributes["tt.disallow_acc_multi_buffer"] = b.unit_attr()
        if bounds.flatten:
            attributes["tt.flatten"] = b.unit_attr()
        if bounds.warp_specialize:
            attributes["tt.warp_specialize"] = b.unit_attr()
        return {**attributes, **self.licm_attribute(bounds.disable_licm)}

    def licm_attribute(self, disabled: bool) -> dict:
        if not disabled:
            return {}
        text = "#llvm.loop_annotation<licm = <disable = true>>"
        return {"llvm.loop_annotation": self.builder.parse_attr(text)}

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
        self, node: Any, carried: dict[str, Any], inner: dict[str, Any], origins: dict[str, Any]
    ) -> tuple[list[Any], set[str]]:
        """The values for the next iteration, and names that change their type."""
        handles: list[Any] = []
        dropped: set[str] = set()
        for name, initial in carried.items():
            value = self.frame.scope.get(name)
            if isinstance(value, Deferred):
                value = value.make()
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
                both = common(shape, structure(value))
                if both is not None and both != shape:
                    raise _Awaited(name, both)
                if both is not None:
                    value = restructured(value, both)
            if structure(value) != shape:
                if not self.killed_first(node.body, name):
                    raise self.unstable(node, name, shape, structure(value), origins.get(name))
                value = inner[name]
                dropped.add(name)
            flatten(value, handles)
        return handles, dropped

    def unstable(self, node: Any, name: str, before: Any, after: Any, origin: Any) -> SemanticError:
        """The error of a variable whose type an iteration changes. Its place is
        the assignment that does; a note shows the one before the loop."""
        assignment = self.frame.origins.get(name)
        if assignment is None or assignment is origin:
            assignment = assigned_names(node.body).get(name)
        if assignment is not None:
            self.blame = assignment
        if isinstance(before, Constant) or isinstance(after, Constant):
            error = SemanticError(
                f"`{name}` is {_say(before)} before the loop on line {node.lineno}, but "
                f"{_say(after)} after an iteration; "
                "only numbers and tensors can change in a run-time loop (tl.static_range unrolls "
                "one)"
            )
        else:
            error = SemanticError(
                f"Loop-carried variable {name} has initial type {_say(before)}, but {_say(after)} "
                f"after an iteration of the loop on line {node.lineno}; a variable keeps its type "
                "through a loop, so convert it with .to() or tl.broadcast_to"
            )
        place = self.frame.place(origin)
        if place is not None and not self.frame.source.internal:
            error.notes.append(f"`{name}` is {_say(before)} from here:\n{place.render()}")
        return error

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


def _say(shape: Any) -> str:
    return str(shape)
