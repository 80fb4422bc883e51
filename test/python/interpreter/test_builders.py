"""The builder that compiles and the one that computes have what the language asks for."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import numpy as np
import pytest

import tile
import tile.language
import tile.language as tl
from tile import _C
from tile.compiler.builder import IRBuilder
from tile.interpreter.builder import EagerBuilder
from tile.interpreter.memory import Memory
from tile.language.builder import Builder

METHODS = {name: value for name, value in vars(Builder).items() if name[0] != "_"}
METHODS = {name: value for name, value in METHODS.items() if inspect.isfunction(value)}
MEMBERS = {*METHODS, *Builder.__annotations__}


def builders() -> list[Builder]:
    module = _C.ir.Module(_C.ir.Context())
    return [IRBuilder(module, object()), EagerBuilder(Memory([]), (1, 1, 1), object())]


@pytest.mark.parametrize("member", sorted(MEMBERS))
def test_both_have(member):
    assert len(MEMBERS) > 12
    for builder in builders():
        assert hasattr(builder, member), f"{type(builder).__name__} has no {member}"


@pytest.mark.parametrize("method", sorted(METHODS))
def test_parameters_have_the_same_names_in_the_same_order(method):
    wanted = [name for name in inspect.signature(METHODS[method]).parameters if name != "self"]
    for cls in (IRBuilder, EagerBuilder):
        found = getattr(cls, method)
        if inspect.isfunction(found):  # The core's own methods have no signature to compare.
            found = [name for name in inspect.signature(found).parameters if name != "self"]
            assert found == wanted, cls.__name__


def uses_of_builders(tree: ast.Module) -> set[str]:
    """The names that are looked up in what `current()` returned."""

    def is_current(node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "current"
        )

    found = set()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        names = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and is_current(node.value):
                names |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute):
                of = node.value
                if is_current(of) or (isinstance(of, ast.Name) and of.id in names):
                    found.add(node.attr)
    return found


def test_the_language_uses_nothing_else():
    used = set()
    for path in Path(tile.language.__file__).parent.rglob("*.py"):
        used |= uses_of_builders(ast.parse(path.read_text()))
    assert {"create", "create_one", "combine", "hint", "in_region"} <= used
    assert used <= MEMBERS


def test_what_looks_for_uses_finds_them():
    text = "def f():\n    b = current()\n    b.region()\n    current().loc\n    c.other()\n"
    assert uses_of_builders(ast.parse(text)) == {"region", "loc"}


@tile.jit
def pairs(x, y):
    return x + y, x - y


@tile.jit
def map_kernel(x_ptr, sum_ptr, difference_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    total, difference = tl.map_elementwise(pairs, x, x * 3)
    tl.store(sum_ptr + i, total)
    tl.store(difference_ptr + i, difference)


@pytest.mark.parametrize(
    "run", [map_kernel.interpret, map_kernel.run], ids=["interpreted", "compiled"]
)
def test_regions_tell_what_they_return(run):
    x = np.arange(64, dtype=np.int32)
    total, difference = np.zeros_like(x), np.zeros_like(x)
    run(x, total, difference, N=64, grid=(1,))
    np.testing.assert_array_equal(total, 4 * x)
    np.testing.assert_array_equal(difference, -2 * x)
