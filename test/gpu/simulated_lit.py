"""Runs the functions of a lit test in the simulator, with all its checks.

A function becomes a kernel: it loads tensors that it takes, and stores what it returns. Numbers are
random. Functions that take anything else are not run.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python"))

HEADER = re.compile(
    r"tt\.func +(?:public +)?@(\w+)\((.*?)\)(?: *-> *(\(.*?\)|[^{}]*?(?:<.*?>)?))?"
    r"(?: +attributes +\{.*?\})? *\{\n",
    re.DOTALL,
)
TENSOR = re.compile(r"tensor<((?:\d+x)+)(\w+), (#\w+)>")
NUMPY = {"f16": "float16", "f32": "float32", "i32": "int32", "i64": "int64", "i8": "int8"}
SCHEDULES = 4


def split(text: str) -> list[str]:
    """At the commas that are in no brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "<({[") - (c in ">)}]")
        if c == "," and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    return [part for part in [*parts, text[start:].strip()] if part]


@dataclass
class Parameter:
    #: A pointer to an array of that many elements, or a number.
    kind: str
    count: int = 0


@dataclass
class Kernel:
    name: str
    parameters: list[Parameter] = field(default_factory=list)


class NotRun(Exception):
    """What a function needs that it cannot have here."""


def emit_places(name: str, extents: list[int], layout: str) -> str:
    """The number of each element in row-major order, as `%name`."""
    shape = "x".join(map(str, extents))
    if len(extents) == 1:
        kind = f"tensor<{shape}xi32, {layout}>"
        return f"%{name} = tt.make_range {{end = {extents[0]} : i32, start = 0 : i32}} : {kind}\n"
    if len(extents) != 2:
        raise NotRun(f"a tensor of {len(extents)} dimensions")
    rows, columns = extents
    kind = f"tensor<{shape}xi32, {layout}>"
    text = ""
    for dim, size in enumerate(extents):
        line = f"tensor<{size}xi32, #ttg.slice<{{dim = {1 - dim}, parent = {layout}}}>>"
        flat = f"{rows}x1" if dim == 0 else f"1x{columns}"
        text += (
            f"%{name}_{dim} = tt.make_range {{end = {size} : i32, start = 0 : i32}} : {line}\n"
            f"%{name}_{dim}e = tt.expand_dims %{name}_{dim} {{axis = {1 - dim} : i32}} : "
            f"{line} -> tensor<{flat}xi32, {layout}>\n"
            f"%{name}_{dim}b = tt.broadcast %{name}_{dim}e : "
            f"tensor<{flat}xi32, {layout}> -> {kind}\n"
        )
    return (
        text
        + f"%{name}_n = arith.constant dense<{columns}> : {kind}\n"
        + f"%{name}_m = arith.muli %{name}_0b, %{name}_n : {kind}\n"
        + f"%{name} = arith.addi %{name}_m, %{name}_1b : {kind}\n"
    )


def emit_pointers(name: str, argument: str, type: re.Match[str]) -> str:
    """Those of the elements of an array, as `%name`."""
    extents = [int(size) for size in type[1].split("x") if size]
    shape, element, layout = type[1], type[2], type[3]
    pointers = f"tensor<{shape}!tt.ptr<{element}>, {layout}>"
    return (
        emit_places(f"{name}_at", extents, layout)
        + f"%{name}_base = tt.splat %{argument} : !tt.ptr<{element}> -> {pointers}\n"
        + f"%{name} = tt.addptr %{name}_base, %{name}_at : {pointers}, "
        f"tensor<{shape}i32, {layout}>\n"
    )


def as_array(type: re.Match[str]) -> Parameter:
    count = 1
    for size in type[1].split("x"):
        count *= int(size or 1)
    if type[2] not in NUMPY:
        raise NotRun(f"elements of {type[2]}")
    return Parameter(type[2], count)


def make_kernel(text: str) -> tuple[str, Kernel]:
    """The text of a module with one function, which becomes a kernel."""
    headers = list(HEADER.finditer(text))
    if len(headers) != 1 or "tt.func" in text[headers[0].end() :]:
        raise NotRun("not one function")
    header = headers[0]
    kernel = Kernel(header[1])
    parameters, begin = [], ""
    for i, argument in enumerate(split(header[2])):
        name, type = (part.strip() for part in argument.split(":", 1))
        if tensor := TENSOR.fullmatch(type):
            kernel.parameters.append(as_array(tensor))
            parameters.append(f"%given{i}: !tt.ptr<{tensor[2]}>")
            begin += emit_pointers(f"given{i}_p", f"given{i}", tensor)
            pointers = f"tensor<{tensor[1]}!tt.ptr<{tensor[2]}>, {tensor[3]}>"
            begin += f"{name} = tt.load %given{i}_p : {pointers}\n"
        elif type in ("i1", "i32", "f32"):
            kernel.parameters.append(Parameter(type))
            parameters.append(argument)
        else:
            raise NotRun(f"an argument of type {type}")
    body = text[header.end() :]
    end = re.search(r"tt\.return(?: +(.*?) *: *(.*))?\n", body)
    if not end:
        raise NotRun("no end")
    stores = ""
    for i, (value, type) in enumerate(zip(split(end[1] or ""), split(end[2] or ""), strict=True)):
        tensor = TENSOR.fullmatch(type)
        if not tensor:
            raise NotRun(f"a result of type {type}")
        kernel.parameters.append(as_array(tensor))
        parameters.append(f"%result{i}: !tt.ptr<{tensor[2]}>")
        stores += emit_pointers(f"result{i}_p", f"result{i}", tensor)
        pointers = f"tensor<{tensor[1]}!tt.ptr<{tensor[2]}>, {tensor[3]}>"
        stores += f"tt.store %result{i}_p, {value} : {pointers}\n"
    head = f"tt.func public @{kernel.name}({', '.join(parameters)}) {{\n"
    body = body[: end.start()] + stores + "tt.return\n" + body[end.end() :]
    return text[: header.start()] + head + begin + body, kernel


def why_not_clean(text: str, passes: str) -> str:
    """Runs the one function of `text`, a module that names its target, behind `passes`. Why that
    cannot be done, or what the simulator finds. Nothing if it finds nothing, and all orders of
    warps give the same."""
    import numpy as np

    import tile.sim
    from tile import _C

    try:
        text, kernel = make_kernel(text)
    except NotRun as reason:
        return f"not run: {reason}"
    context = _C.ir.Context()
    try:
        module = _C.ir.Module.parse(text, context)
        pipeline = ",".join([*filter(None, [passes]), "tile-nvidia-llir"])
        _C.passes.PassManager.parse(pipeline, context).run(module)
        options = _C.llvm.PTXOptions()
        target = re.search(r"cuda:(\d+)", text)
        options.compute_capability = int(target[1]) if target else 90
        ptx = _C.llvm.emit_ptx(_C.llvm.translate_to_llvm(module, options), context, options)
        info = _C.llvm.kernel_info(module)
        rng = np.random.default_rng(0)
        arguments = []
        for parameter in kernel.parameters:
            if parameter.count:
                values = rng.integers(-8, 9, parameter.count)
                arguments.append(values.astype(NUMPY[parameter.kind]))
            else:
                arguments.append(1)
        blocks = re.search(r'"ttg.num-ctas" = (\d+)', text)
        warps = re.search(r'"ttg.num-warps" = (\d+)', text)
        count = int(blocks[1]) if blocks else 1
        threads = re.search(r"[.]reqntid +(\d+)", ptx)
        tile.sim.launch(
            ptx, kernel.name, count, int(threads[1]) if threads else 32 * int(warps[1]), arguments,
            cluster=count, dynamic_shared=info["shared"], schedule_seed=1, schedules=SCHEDULES,
            check="races,async,barriers,global",
        )  # fmt: skip
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return ""
