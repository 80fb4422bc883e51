"""Helpers: kernels to TTIR, and the error of one that is refused."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

import tile
from tile import _C
from tile.backends import GPUTarget, find_backend
from tile.compiler import ASTSource

TARGET = GPUTarget("cuda", 90, 32)


def make_module(
    fn: Any,
    signature: dict,
    constants: dict | None = None,
    attrs: dict | None = None,
    **options: Any,
):
    """The module that the code generator makes of a kernel, verified."""
    parsed = find_backend(TARGET).parse_options(options)
    return ASTSource(fn, signature, constants, attrs).make_ir(parsed, _C.ir.Context())


def raw_ttir(fn: Any, signature: dict, constants: dict | None = None, **options: Any) -> str:
    """TTIR as generated."""
    return str(make_module(fn, signature, constants, **options))


def ttir(
    fn: Any,
    signature: dict,
    constants: dict | None = None,
    attrs: dict | None = None,
    **options: Any,
) -> str:
    """TTIR, canonical."""
    module = make_module(fn, signature, constants, attrs, **options)
    _C.passes.PassManager.parse("canonicalize,cse", module.context).run(module)
    return str(module)


def refusal(fn: Any, signature: dict, constants: dict | None = None) -> tile.CompilationError:
    """The error of a kernel that does not compile."""
    with pytest.raises(tile.CompilationError) as caught:
        make_module(fn, signature, constants)
    assert caught.value.__cause__ is None, "an internal error"
    return caught.value


def operations(text: str) -> list[str]:
    """The names of the operations of a module, in order."""
    module = _C.ir.Module.parse(text, _C.ir.Context())
    names: list[str] = []
    module.operation.walk(lambda op: names.append(op.name))
    return names


def without_page(text: str) -> str:
    """A message without its last line, if that says which page explains it."""
    return text.split("\nmore: ")[0]


def kernel_of_text(text: str, folder: Path) -> Any:
    """The `kernel` of a module with this text, whose file the front end reads."""
    file = folder / "kernel_of_text.py"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    return module.kernel
