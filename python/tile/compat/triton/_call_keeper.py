"""Kernels whose calls stay calls, by the names under which Triton's front end makes them.

Comments with checks name these functions, and what is passed to them.
"""

from __future__ import annotations

import re
from typing import Any

from tile.compiler.code_generator import CodeGenerator
from tile.compiler.compiler import _builder_class
from tile.compiler.frames import Frame
from tile.language.promotion import is_constant, to_tensor
from tile.language.values import tensor, unwrap


def mangled(value: Any) -> str:
    """A value as part of a function's name: the type of a tensor, anything else as it is."""
    value = unwrap(value)
    if isinstance(value, tensor):
        return _mangled_type(value.type)
    if isinstance(value, (tuple, list)):
        return f"T{'_'.join(map(mangled, value))}T"
    if hasattr(value, "__tile_structure__") and not isinstance(value, type):
        cls = type(value)
        fields = ", ".join(mangled(item) for item in vars(value).values())
        return f"{cls.__module__}.{cls.__qualname__}<{fields}>"
    return f"c{value}"


def _mangled_type(ty: Any) -> str:
    if ty.is_block():
        extents = "_".join(map(str, ty.shape))
        return f"{_mangled_type(ty.element_ty)}S{extents}S"
    if ty.is_ptr():
        return f"P{_mangled_type(ty.element_ty)}"
    if ty.is_int():
        return f"{'i' if ty.is_int_signed() else 'u'}{ty.int_bitwidth}"
    return str(ty)


_FUNCTION = re.compile(r"^  tt\.func .*?^  \}.*?\n", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r'@("[^"]*"|[\w.$]+)')


def callers_first(module: str) -> str:
    """The text of a module in which each function comes before those that it is the first to
    call."""
    functions = {}
    for text in _FUNCTION.findall(module):
        functions[_NAME.search(text)[1]] = text  # type: ignore[index]
    order: list[str] = []

    def visit(name: str) -> None:
        if name in functions and name not in order:
            order.append(name)
            for callee in _NAME.findall(functions[name].partition("\n")[2]):
                visit(callee)

    for name, text in functions.items():
        if text.startswith("  tt.func public"):
            visit(name)
    placed = iter([*order, *(name for name in functions if name not in order)])
    return _FUNCTION.sub(lambda _: functions[next(placed)], module)


class CallKeeper(CodeGenerator):
    """Generates each function once for the types it is called with."""

    def __init__(self, fn: Any, context: Any, options: Any) -> None:
        super().__init__(context, options, _builder_class(fn))
        self.num_warps = getattr(self.builder, "num_warps", None)

    def is_outlined(self, function: Any) -> bool:
        return not function.module.startswith("tile.language")

    def bind(self, function: Any, arguments: list, keywords: dict) -> dict[str, Any]:
        """Numbers that are no constexpr are passed, too."""
        scope = super().bind(function, arguments, keywords)
        if self.is_outlined(function):
            constants = function.constexpr_names
            for name, value in scope.items():
                if name not in constants and is_constant(value):
                    scope[name] = to_tensor(value)
        return scope

    def outlined_key(self, function: Any, frame: Frame) -> tuple:
        """A partition has functions of its own: they run on its warps."""
        return (*super().outlined_key(function, frame), self._own_warps())

    def outlined_attributes(self, function: Any) -> dict[str, Any]:
        warps = self._own_warps()
        attributes = {"noinline": self.builder.bool_attr(bool(function.noinline))}
        if warps is not None:
            attributes["ttg.num-warps"] = self.builder.int_attr(32, warps)
        return attributes

    def outlined_name(self, function: Any, frame: Frame) -> str:
        parts = "_".join(mangled(value) for value in frame.scope.values())
        warps = self._own_warps()
        suffix = "" if warps is None else f"_NW{warps}"
        # Names with other characters would stand in quotes.
        parts = re.sub(r"[^\w.$]+", "_", f"{parts}{suffix}")
        return f"{function.module}.{function.fn.__qualname__}__{parts}"

    def _own_warps(self) -> int | None:
        """The warps of the partition that is generated; None outside of partitions."""
        warps = getattr(self.builder, "num_warps", None)
        return None if warps == self.num_warps else warps


__all__ = ["CallKeeper", "callers_first", "mangled"]
