"""Kernels of `tile.language` as programs with explicit layouts, before they are compiled.

What comes out is right for all arguments, and not fast. All tensors of one number of dimensions are
in one layout. They are converted to it after each operation that has another one.
`tile.tools.to_gluon` prints what the compiler makes of a kernel for some arguments, which is fast.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import tile
from tile.experimental.gluon import language as gl
from tile.language.values import constexpr

from . import helpers
from .slice_kernel import SliceError, Slicer, find
from .target import TranslatorTarget

#: Names of the language that helpers stand for.
_HELPED = (
    "arange full zeros zeros_like histogram expand_dims broadcast_to broadcast reshape trans load "
    "store cat dot sum max min xor_sum reduce reduce_or associative_scan cumsum cumprod gather "
    "join split permute ravel map_elementwise argmax argmin dot_scaled make_tensor_descriptor "
    "load_tensor_descriptor store_tensor_descriptor squeeze unsqueeze interleave debug_barrier"
).split()
_OTHER_NAMES = {"view": "reshape"}
#: Methods of tensors whose results are in layouts of their own, and those with helpers.
_SETTLED_METHODS = frozenset(
    {"sum", "max", "min", "reduce", "associative_scan", "cumsum", "cumprod", "gather", "permute",
     "split", "ravel", "argmax", "argmin", "xor_sum"}
)  # fmt: skip
_HELPED_METHODS = {
    "reshape": "reshape", "view": "reshape", "trans": "trans", "expand_dims": "expand_dims",
    "broadcast_to": "broadcast_to",
}  # fmt: skip

#: What is not a method of tensors.
_METHODS_OF_DESCRIPTORS = frozenset({"load", "store", "scatter"})


def _table() -> dict[int, str]:
    """What stands for a function or a type of the language, by its identity."""
    language = tile.language
    found: dict[int, str] = {}
    for name in gl.__all__:
        value = getattr(language, name, None)
        if value is not None and value is getattr(gl, name):
            found[id(value)] = f"gl.{name}"
    for name in _HELPED:
        found[id(getattr(language, name))] = f"helpers.{name}"
    for name, helper in _OTHER_NAMES.items():
        found[id(getattr(language, name))] = f"helpers.{helper}"
    found[id(language.extra.cuda.num_threads)] = "helpers.num_threads"
    found[id(language.range)] = "range"
    found[id(tile.cdiv)] = "gl.cdiv"
    return found


class _Rewriter:
    def __init__(self) -> None:
        self.table = _table()
        self.slicer: Slicer | None = None

    def __call__(self, value: Any, name: str) -> str | None:
        if isinstance(value, (ModuleType, constexpr)):
            return None
        try:
            found = self.table.get(id(value))
        except TypeError:
            return None
        if found is not None:
            return found
        module = getattr(value, "__module__", None) or ""
        is_language = module.startswith("tile.language") and not getattr(
            value, "__tile_jit__", False
        )
        if is_language and callable(value) and not isinstance(value, type):
            library = getattr(gl.extra.libdevice, name, None)
            if library is value:
                return f"gl.extra.libdevice.{name}"
            if name.startswith("_") and self.slicer is not None:
                # What functions of the library are made of works on each element.
                self.slicer.imports.setdefault(name, f"from {module} import {name}")
                return name
            raise SliceError(f"the language with layouts has no name for tl.{name}")
        return None


class _Tensors(ast.NodeTransformer):
    """Operators and methods of tensors that change layouts."""

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        node = self.generic_visit(node)  # type: ignore[assignment]
        index = node.slice
        items = index.elts if isinstance(index, ast.Tuple) else [index]
        inserts = any(isinstance(i, ast.Constant) and i.value is None for i in items)
        if not isinstance(node.ctx, ast.Load) or not inserts:
            return node
        written = []
        for item in items:
            is_new = isinstance(item, ast.Constant) and item.value is None
            written.append("None" if is_new else "0")
        text = f"helpers.subscript(x, ({', '.join(written)},))"
        call = ast.parse(text, mode="eval").body
        call.args[0] = node.value  # type: ignore[attr-defined]
        return call

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        node = self.generic_visit(node)  # type: ignore[assignment]
        if node.attr == "T" and isinstance(node.ctx, ast.Load):
            call = ast.parse("helpers.trans(x)", mode="eval").body
            call.args[0] = node.value  # type: ignore[attr-defined]
            return call
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        node = self.generic_visit(node)  # type: ignore[assignment]
        method = node.func
        if not isinstance(method, ast.Attribute) or _is_module(method.value):
            return node
        if method.attr in _HELPED_METHODS:
            node.func = ast.parse(f"helpers.{_HELPED_METHODS[method.attr]}", mode="eval").body
            node.args.insert(0, method.value)
        elif method.attr in _SETTLED_METHODS:
            node.func = ast.parse(f"helpers.{method.attr}", mode="eval").body
            node.args.insert(0, method.value)
        elif method.attr in _METHODS_OF_DESCRIPTORS:
            node.func = ast.parse(f"helpers.obj_{method.attr}", mode="eval").body
            node.args.insert(0, method.value)
        return node


def _is_module(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("gl", "helpers", "gluon")


def _arguments_of_loops(tree: ast.AST) -> ast.AST:
    """`range` takes bounds alone: what else `tl.range` is told is about pipelines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "range":
                node.keywords = []
    return tree


def convert_triton_to_gluon(
    src: Sequence[Any], target: TranslatorTarget = TranslatorTarget.GENERIC
) -> str:
    """The source of a module that has these kernels, and all functions that they call, as programs
    with explicit layouts."""
    TranslatorTarget(target)
    rewriter = _Rewriter()
    slicer = rewriter.slicer = Slicer([], rewriter)
    slicer.imports = {
        "gluon": "from tile.experimental import gluon",
        "gl": "from tile.experimental.gluon import language as gl",
        "helpers": "from tile.tools.triton_to_gluon_translator import helpers",
    }
    slicer.constexpr_name = lambda: "gl.constexpr"  # type: ignore[method-assign]
    slicer.decorate = lambda value: (
        [f"gluon.jit(noinline={bool(getattr(value, 'noinline', False))})"]
        if getattr(value, "__tile_jit__", False)
        else None
    )
    slicer.edit = lambda tree: _arguments_of_loops(_Tensors().visit(tree))
    return _without_unused_imports(slicer.text(list(src)))


def _without_unused_imports(text: str) -> str:
    """Functions of the host alone need no language."""
    tree = ast.parse(text)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    unused = {
        ast.unparse(node)
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        and not used & {alias.asname or alias.name for alias in node.names}
    }
    return "\n".join(line for line in text.split("\n") if line not in unused).lstrip("\n")


def translate_kernels(kernels: Sequence[Any], target: TranslatorTarget) -> str:
    """The same."""
    return convert_triton_to_gluon(kernels, target)


def translate_paths(kernel_paths: Sequence[str], target: TranslatorTarget) -> str:
    """The same for kernels named by ``module:name``."""
    return convert_triton_to_gluon([find(path) for path in kernel_paths], target)


__all__ = [
    "TranslatorTarget", "convert_triton_to_gluon", "helpers", "translate_kernels",
    "translate_paths",
]  # fmt: skip
