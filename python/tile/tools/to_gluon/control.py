"""Loops, branches, and functions that combine elements."""

from __future__ import annotations

from typing import Any

from .values import Names, UntranslatedError
from .writer import Writer, operation


def _carried(w: Writer, results: Any, inits: Any) -> list[str]:
    """Variables for what a loop hands on, which begin as `inits`."""
    names = []
    for result, init in zip(results, inits, strict=True):
        name = w.define(result)
        w.put(f"{name} = {w.typed(init)}")
        names.append(name)
    return names


def _is_token(value: Any) -> bool:
    """Tokens say what the order of the program says as well."""
    return str(value.type) == "!ttg.async.token"


def _is_in_flight(w: Writer, value: Any) -> bool:
    """Whether a sum is that of dots that may be unfinished."""
    owner = value.owner
    return (
        owner is not None
        and owner.name == "ttnvgpu.warp_group_dot"
        and w.integer(owner, "isAsync") != 0
    )


@operation("scf.for")
def _for(w: Writer, op: Any) -> None:
    lower, upper, step, *inits = op.operands
    body = op.regions[0].blocks[0]
    counter, *arguments = body.arguments
    ends = body.operations[-1].operands
    names, kept = [], []
    for i, (init, argument, result) in enumerate(zip(inits, arguments, op.results, strict=True)):
        if _is_token(init):
            w.bind(argument, "None")
            w.bind(result, "None")
            continue
        name = w.define(result)
        w.bind(argument, name)
        text = w.typed(init)
        if _is_in_flight(w, ends[i]) and not _is_in_flight(w, init):
            text = f"hopper.warpgroup_mma_init({text})"
        w.put(f"{name} = {text}")
        names.append(name)
        kept.append(i)
    index = w.define(counter)
    unsigned = "unsignedCmp" in op.attributes
    width = w.type(counter).width
    bounds = [
        f"{w.typed(v)}.to(gl.uint{width})" if unsigned else w.get(v) for v in (lower, upper, step)
    ]
    w.put(f"for {index} in range({', '.join(bounds)}):")
    w.indent += 1
    if unsigned:
        signed = w.define(counter)
        w.put(f"{signed} = {index}.to(gl.int{width})")
    before = len(w.lines)
    end = w.block(body, ["scf.yield"])
    w.assign(names, [w.typed(end.operands[i]) for i in kept])
    if len(w.lines) == before:
        w.put("pass")
    w.indent -= 1


@operation("scf.if")
def _if(w: Writer, op: Any) -> None:
    names = [w.define(result) for result in op.results]
    w.put(f"if {w.get(op.operands[0])}:")
    for i, region in enumerate(op.regions):
        if not region.blocks:
            continue
        body = region.blocks[0]
        if i == 1:
            if not names and len(body.operations) == 1:
                continue
            w.put("else:")
        w.indent += 1
        before = len(w.lines)
        end = w.block(body, ["scf.yield"])
        w.assign(names, [w.typed(v) for v in end.operands])
        if len(w.lines) == before:
            w.put("pass")
        w.indent -= 1


@operation("scf.while")
def _while(w: Writer, op: Any) -> None:
    """The condition is a function of what the loop hands on, and of values around it."""
    before, after = (region.blocks[0] for region in op.regions)
    last = before.operations[-1]
    arguments = list(before.arguments)
    if any(value not in arguments for value in last.operands[1:]):
        raise UntranslatedError("a loop computes its condition and its values together")
    names = _carried(w, arguments, op.operands)
    handed_on = [names[arguments.index(value)] for value in last.operands[1:]]
    around = _values_around(before)
    count = len(names)
    parameters = [f"p{i}" for i in range(count + len(around))]

    def body(name: str) -> str:
        inner = Writer(w.program, Names(parameters))
        for value, parameter in zip([*before.arguments, *around], parameters, strict=True):
            inner.bind(value, parameter)
        end = inner.block(before, ["scf.condition"])
        inner.put(f"return {inner.typed(end.operands[0])}")
        return "\n".join([f"({', '.join(parameters)}):", *inner.lines])

    condition = w.program.combiner(body)
    w.put(f"while {condition}({', '.join([*names, *map(w.typed, around)])}):")
    w.indent += 1
    for values in (after.arguments, op.results):
        for value, name in zip(values, handed_on, strict=True):
            w.bind(value, name)
    before_all = len(w.lines)
    end = w.block(after, ["scf.yield"])
    w.assign(names, [w.typed(v) for v in end.operands])
    if len(w.lines) == before_all:
        w.put("pass")
    w.indent -= 1


def _values_around(block: Any) -> list[Any]:
    """The values that a block takes from outside."""
    inside, found = set(block.arguments), []

    def visit(op: Any) -> None:
        for value in op.operands:
            if value not in inside and value not in found:
                found.append(value)
        for region in op.regions:
            for inner in region.blocks:
                inside.update(inner.arguments)
        inside.update(op.results)

    for op in block.operations:
        op.walk(visit)
    return found


def combiner(w: Writer, op: Any, ends: str) -> str:
    """The function that a reduction or a scan combines by."""
    block = op.regions[0].blocks[0]
    parameters = [f"p{i}" for i in range(len(block.arguments))]

    def body(name: str) -> str:
        inner = Writer(w.program, Names(parameters))
        for argument, parameter in zip(block.arguments, parameters, strict=True):
            inner.bind(argument, parameter)
        end = inner.block(block, [ends])
        inner.put("return " + ", ".join(inner.typed(v) for v in end.operands))
        return "\n".join([f"({', '.join(parameters)}):", *inner.lines])

    return w.program.combiner(body)


@operation("tt.reduce")
def _reduce(w: Writer, op: Any) -> str:
    function = combiner(w, op, "tt.reduce.return")
    text = f"gl.reduce({_inputs(w, op)}, {w.integer(op, 'axis')}, {function})"
    if w.type(op.results[0]).shape is None:
        return text
    if len(op.results) == 1:
        return w.settled(op.results[0], text, _reduced(w, op))
    names = [w.names.new("part") for _ in op.results]
    w.put(f"{', '.join(names)} = {text}")
    return ", ".join(
        w.settled(result, name, _reduced(w, op))
        for result, name in zip(op.results, names, strict=True)
    )


def _reduced(w: Writer, op: Any) -> Any:
    from tile.experimental.gluon.language._layouts import SliceLayout
    from tile.experimental.gluon.language._syntax import layout_of

    ty = w.type(op.operands[0])
    return SliceLayout(w.integer(op, "axis"), layout_of(ty.layout, ty.shape or ()))


@operation("tt.call")
def _call(w: Writer, op: Any) -> str:
    name = w.attribute(op, "callee").removeprefix("@").strip('"')
    return f"{w.program.functions[name]}({', '.join(w.typed(v) for v in op.operands)})"


@operation("tt.scan")
def _scan(w: Writer, op: Any) -> str:
    function = combiner(w, op, "tt.scan.return")
    reverse = ", reverse=True" if w.integer(op, "reverse") else ""
    return f"gl.associative_scan({_inputs(w, op)}, {w.integer(op, 'axis')}, {function}{reverse})"


@operation("tt.map_elementwise")
def _map(w: Writer, op: Any) -> str:
    if w.integer(op, "pack", 1) != 1 or len(op.regions[0].blocks) != 1:
        raise UntranslatedError("a function of several elements, or with branches")
    function = combiner(w, op, "tt.map_elementwise.return")
    arguments = ", ".join(w.get(v) for v in op.operands)
    return f"gl.map_elementwise({function}, {arguments})"


def _inputs(w: Writer, op: Any) -> str:
    names = [w.get(v) for v in op.operands]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
