"""Runs the body of a kernel as plain Python, to know what it must store."""

from __future__ import annotations

import ast
import inspect
import textwrap
from types import SimpleNamespace

import tile
import tile.language as tl


class Pointer:
    """Memory for the body of a kernel that runs as plain Python."""

    def __init__(self, data: list[int], at: int = 0) -> None:
        self.data, self.at = data, at

    def __add__(self, offset: int) -> Pointer:
        return Pointer(self.data, self.at + int(offset))


def _store(pointer: Pointer, value: int) -> None:
    pointer.data[pointer.at] = int(value)


PLAIN = SimpleNamespace(
    load=lambda pointer: pointer.data[pointer.at], store=_store, range=range, static_range=range,
    static_assert=lambda cond, msg="": None, constexpr=tl.constexpr, cdiv=lambda a, b: -(-a // b),
    where=lambda c, a, b: a if c else b, maximum=max, minimum=min, tuple=tuple,
    program_id=lambda axis: 0, static_print=lambda *a, **k: None,
)  # fmt: skip


def plain(fn):
    """The function of a jit function, with the language replaced by Python's."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(fn.fn)))
    tree.body[0].decorator_list = []
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
    scope = dict(fn.fn.__globals__)
    scope["tl"] = PLAIN
    for name, value in list(scope.items()):
        if isinstance(value, tl.constexpr):
            scope[name] = value.value
        if isinstance(value, tile.JITFunction) and name != fn.__name__:
            scope[name] = lambda *a, _fn=value, **k: plain(_fn)(*a, **k)
    exec(compile(tree, "<plain>", "exec"), scope)
    return scope[fn.__name__]
