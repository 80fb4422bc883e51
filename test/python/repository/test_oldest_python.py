"""The package needs nothing of Python that its oldest version lacks.

The stubs of the standard library, which mypy brings, say what came with which version.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

mypy = pytest.importorskip("mypy")

ROOT = Path(__file__).resolve().parents[3]
STUBS = Path(mypy.__file__).parent / "typeshed" / "stdlib"
(MINOR,) = re.findall(r'requires-python = ">=3\.(\d+)"', (ROOT / "pyproject.toml").read_text())
OLDEST, NEWEST = (3, int(MINOR)), (3, 14)
PACKAGES = ("python", "third_party", "examples")


def is_true(test: ast.expr, version: tuple[int, int]) -> bool:
    """What a stub asks of the version; of anything else, such as the platform, it is true."""
    if isinstance(test, ast.BoolOp):
        parts = [is_true(value, version) for value in test.values]
        return all(parts) if isinstance(test.op, ast.And) else any(parts)
    if not (isinstance(test, ast.Compare) and ast.unparse(test.left) == "sys.version_info"):
        return True
    than = ast.literal_eval(test.comparators[0])
    newer = version >= tuple(than[:2])
    return newer if isinstance(test.ops[0], ast.GtE) else not newer


def defined(body: list[ast.stmt], version: tuple[int, int]) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.If):
            yield from defined(node.body if is_true(node.test, version) else node.orelse, version)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
        elif isinstance(node, ast.AnnAssign):
            yield ast.unparse(node.target)
        elif isinstance(node, ast.Assign):
            yield from map(ast.unparse, node.targets)


@functools.cache
def newer_names(module: str) -> frozenset[str]:
    """What a module has in the newest Python and not in the oldest."""
    path = STUBS / module.replace(".", "/")
    path = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    if not path.is_file():
        return frozenset()
    body = ast.parse(path.read_text()).body
    return frozenset(set(defined(body, NEWEST)) - set(defined(body, OLDEST)))


@functools.cache
def newer_modules() -> frozenset[str]:
    lines = (STUBS / "VERSIONS").read_text().splitlines()
    found = (re.match(r"(\w+): 3\.(\d+)", line) for line in lines)
    return frozenset(m[1] for m in found if m and int(m[2]) > OLDEST[1])


def is_guarded(node: ast.stmt) -> bool:
    """A branch that asks for the version, or an attempt that may fail."""
    if isinstance(node, ast.If):
        return "sys.version_info" in ast.unparse(node.test) or "TYPE_CHECKING" in ast.unparse(
            node.test
        )
    return isinstance(node, ast.Try)


def unguarded(tree: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(tree):
        if not (isinstance(child, ast.stmt) and is_guarded(child)):
            yield child
            yield from unguarded(child)


def too_new(text: str) -> list[str]:
    nodes = list(unguarded(ast.parse(text, feature_version=OLDEST)))
    found, modules = [], {}
    for node in nodes:
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
            found += [alias.name for alias in node.names if alias.name in newer_modules()]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            newer = newer_names(node.module)
            found += [f"{node.module}.{a.name}" for a in node.names if a.name in newer]
            found += [node.module] if node.module in newer_modules() else []
    for node in nodes:
        if isinstance(node, ast.Attribute):
            module = modules.get(ast.unparse(node.value))
            if module and node.attr in newer_names(module):
                found.append(f"{module}.{node.attr}")
    return found


def test_the_package_runs_in_its_oldest_python():
    files = [
        file
        for folder in PACKAGES
        for file in sorted((ROOT / folder).rglob("*.py"))
        if "test" not in file.relative_to(ROOT).parts
    ]
    assert len(files) > 200
    found = [(file.relative_to(ROOT).as_posix(), name)
             for file in files for name in too_new(file.read_text())]  # fmt: skip
    assert found == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("from typing import Any, dataclass_transform", "typing.dataclass_transform"),
        ("import typing\nclass A:\n    x: typing.Self", "typing.Self"),
        ("import itertools as it\nit.batched([1], 2)", "itertools.batched"),
        ("import tomllib", "tomllib"),
        ("def f():\n    from datetime import UTC", "datetime.UTC"),
    ],
)
def test_what_is_newer_is_found(text, name):
    assert OLDEST == (3, 10), "choose names that are newer"
    assert too_new(text) == [name]


def test_what_asks_for_the_version_is_not():
    assert too_new("import sys\nif sys.version_info >= (3, 11):\n    import tomllib") == []
    assert too_new("try:\n    import tomllib\nexcept ImportError:\n    tomllib = None") == []
    assert too_new("import itertools\nitertools.pairwise([1])") == []
    with pytest.raises(SyntaxError):
        too_new("try:\n    pass\nexcept* ValueError:\n    pass")
