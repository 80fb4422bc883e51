"""Kernels of `tile.language` as programs with explicit layouts.

`to_gluon` prints a kernel as it is after layouts are chosen. The program computes the same in the
same way: it is a place to begin from where the compiler's choice is not good enough.

A parameter that is a `TensorDescriptor` is one in the program, too, but with a layout: the program
says which.
"""

from __future__ import annotations

import re
from typing import Any

from tile import _C
from tile.errors import TileError
from tile.runtime import descriptors

from . import amd, bulk_copies, computation, control, memory
from .values import Names, UntranslatedError, name_in
from .writer import Program, Writer

#: The modules that define how operations are written.
SUBJECTS = [amd, bulk_copies, computation, control, memory]


def to_gluon(kernel: Any, *args: Any, **kwargs: Any) -> str:
    """The source of a program with explicit layouts for `kernel`: a compiled one, or a function of
    the language with the arguments (and options) that it would be launched with."""
    if not hasattr(kernel, "asm"):
        kernel = kernel.warmup(*args, grid=kwargs.pop("grid", (1,)), **kwargs)
    elif args or kwargs:
        raise TileError("to_gluon takes arguments with a function, not with a compiled kernel")
    # A program says all its parameters: it makes such maps itself.
    if any("code" in m for m in kernel._metadata.get("tensor_maps", ())):
        kernel = kernel.compiled_again(launch_maps=False)
    return translate(kernel.asm["ttgir"], kernel.src)


def translate(ttgir: str, source: Any) -> str:
    """The source for IR with layouts, of a kernel compiled from `source`."""
    context = _C.ir.Context()
    module = _C.ir.Module.parse(ttgir, context)
    kernel, *others = _functions(module)
    program = Program()
    texts = []
    for function in others:
        texts.append(_function(program, function))
    names = Names(program.functions.values())
    writer = Writer(program, names)
    body = _body(kernel)
    parameters = _parameters(writer, names, body.arguments, source)
    writer.block(body, ["tt.return"])
    name = source.fn.__name__
    texts.append(
        "\n".join(
            [f"@gluon.jit\ndef {name}({', '.join(parameters)}):", *(writer.lines or ["    pass"])]
        )
    )
    return _module_text(program, texts)


def _functions(module: Any) -> list[Any]:
    """The kernel, then what it calls: each one before those that call it."""
    found = [op for op in module.body.operations if op.name == "tt.func"]
    kernels = [op for op in found if '"private"' not in str(op.attributes.get("sym_visibility"))]
    if len(kernels) != 1 or len(found) != len(module.body.operations):
        raise UntranslatedError("to_gluon translates one kernel, and functions that it calls")
    by_name = {_symbol(op): op for op in found}
    ordered: list[Any] = []

    def visit(function: Any) -> None:
        if function in ordered:
            return
        called: list[str] = []
        function.walk(
            lambda op: called.append(str(op.attributes["callee"]).removeprefix("@").strip('"'))
            if op.name == "tt.call" else None
        )  # fmt: skip
        for name in called:
            visit(by_name[name])
        ordered.append(function)

    visit(kernels[0])
    return [ordered[-1], *ordered[:-1]]


def _symbol(function: Any) -> str:
    return str(function.attributes["sym_name"]).strip('"')


def _body(function: Any) -> Any:
    blocks = function.regions[0].blocks
    if len(blocks) != 1:
        raise UntranslatedError("to_gluon translates structured control flow only")
    return blocks[0]


def _function(program: Program, function: Any) -> str:
    """A function that is not inlined."""
    symbol = _symbol(function)
    name = program.functions[symbol] = program.names.new(
        re.sub(r"__\d+$", "", re.split(r"[.:]", symbol)[-1])
    )
    names = Names(program.functions.values())
    writer, body = Writer(program, names), _body(function)
    parameters = [writer.define(argument) for argument in body.arguments]
    end = writer.block(body, ["tt.return"])
    writer.put("return " + ", ".join(writer.typed(v) for v in end.operands))
    head = f"@gluon.jit(noinline=True)\ndef {name}({', '.join(parameters)}):"
    return "\n".join([head, *writer.lines])


def _parameters(writer: Writer, names: Names, arguments: Any, source: Any) -> list[str]:
    """The parameters of the kernel, which are those of the function that it is made of."""
    given: dict[str, list[Any]] = {}
    for value in arguments:
        given.setdefault(name_in(str(value.location)), []).append(value)
    parameters = []
    for i, name in enumerate(source.fn.arg_names):
        spec = source.signature.get(name)
        if isinstance(spec, (tuple, list)):
            raise UntranslatedError(f"the parameter `{name}` is {spec}, which is not translated")
        if names.new(name) != name:
            raise UntranslatedError(f"the parameter `{name}` has a name that the program needs")
        if descriptors.is_descriptor(spec):
            parameters.append(name)
            _bind_descriptor(writer, name, spec, given.get(name, []))
            continue
        if (i,) in source.constants:
            parameters.append(f"{name}: gl.constexpr")
            continue
        parameters.append(name)
        if name not in given:
            raise UntranslatedError(f"the parameter `{name}` is not in the compiled kernel")
        writer.bind(given[name][0], name)
        _drop_sign(writer, name, str(spec))
    return parameters


def _bind_descriptor(writer: Writer, name: str, spec: str, parts: list[Any]) -> None:
    """The parts of a descriptor, of which the last is its tensor map."""
    rank = len(descriptors.parse(spec)[1])
    if len(parts) != 4 * rank + 3:
        raise UntranslatedError(
            f"the descriptor `{name}` has no tensor map in the compiled kernel: it became pointers"
        )
    known = [f"{name}.{what}[{d}]" for what in ("shape", "strides") for d in range(rank)]
    for value, text in zip(parts[1 : 1 + 2 * rank], known, strict=True):
        writer.bind(value, text)
    for value, text in zip(parts[2 + 2 * rank : -1], known, strict=True):
        writer.bind(value, text)
    writer.bind(parts[-1], name)


def _drop_sign(writer: Writer, name: str, spec: str) -> None:
    """Integers of IR have no sign; in the program all have one."""
    if spec.startswith("*"):
        spec = spec.removeprefix("*k").removeprefix("*")
        if spec[0] == "u" and spec != "u1":
            writer.put(f"{name} = {name}.to(gl.pointer_type(gl.int{spec[1:]}), bitcast=True)")
    elif spec[0] == "u" and spec != "u1":
        writer.put(f"{name} = {name}.to(gl.int{spec[1:]})")


def _module_text(program: Program, functions: list[str]) -> str:
    text = [
        "from tile.experimental import gluon",
        "from tile.experimental.gluon import language as gl",
    ]
    if program.imports:
        text.append(
            "from tile.experimental.gluon.language.nvidia import "
            + ", ".join(sorted(program.imports))
        )
    text.append("")
    text += [f"{n}: gl.constexpr = {layout}" for layout, n in program.layouts.items()]
    for body, combiner in program.combiners.items():
        text += ["", "", "@gluon.jit", f"def {combiner}{body}"]
    for function in functions:
        text += ["", "", function]
    return "\n".join([*text, ""])


__all__ = ["UntranslatedError", "to_gluon", "translate"]
