"""The builder that computes programs with explicit layouts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tile.errors import InterpreterError, SemanticError
from tile.interpreter.builder import EagerBuilder
from tile.interpreter.undefined import plain
from tile.language.dtypes import dtype

from ..language._inference import linear_layout
from ..language._layouts import AutoLayout, is_open
from ..language._types import distributed_type
from .coroutines import Group
from .products import ASYNCHRONOUS, check_finished

#: Operations that only hand on elements; others take undefined ones as they are.
_MOVES = ("ttg.convert_layout", "gluon.set_auto_layout", "amdg.extract_slice")
_OWN_DIALECTS = ("ttg.", "ttnvgpu.", "amdg.", "gluon.")


class ExplicitBuilder(EagerBuilder):
    def __init__(self, memory: Any, grid: tuple[int, int, int], options: Any) -> None:
        super().__init__(memory, grid, options)
        if options.num_ctas > 1:
            raise InterpreterError("the interpreter runs programs of one block, not of clusters")
        #: How many warps run now: those of the kernel, or of a partition.
        self.num_warps = options.num_warps
        self.products: list[Any] = []
        self.group: Group | None = None
        self._fitting: set[str] = set()

    def begin(self, program: tuple[int, int, int]) -> None:
        super().begin(program)
        self.products, self.group = [], None

    # Types.

    @staticmethod
    def new_block(element_ty: dtype, shape: Sequence[int]) -> dtype:  # type: ignore[override]
        return distributed_type(element_ty, shape, AutoLayout())

    def type(self, ty: dtype) -> dtype:  # type: ignore[override]
        if isinstance(ty, distributed_type) and not is_open(ty.layout):
            key = f"{self.num_warps} {ty.mlir}"
            if key not in self._fitting:
                self._check_fit(ty)
                self._fitting.add(key)
        return ty

    def _check_fit(self, ty: distributed_type) -> None:
        extents = linear_layout(ty.layout, ty.shape).in_dims
        for what, have, wanted in (
            ("lanes of a warp", extents.get("lane", 1), self.options.warp_size),
            ("warps", extents.get("warp", 1), self.num_warps),
        ):
            if have != wanted:
                raise SemanticError(
                    f"{ty} has an invalid layout: it is for {have} {what}, not for {wanted}"
                )

    @staticmethod
    def i64_array(values: Sequence[int]) -> list[int]:
        return list(values)

    # Operations.

    def create_one(
        self, name: str, operands: Any, attributes: Any = None, result_types: Any = None
    ) -> Any:
        return super().create_one(name, self._operands(name, operands), attributes, result_types)

    def create(
        self,
        name: str,
        operands: Any,
        attributes: Any = None,
        result_types: Any = None,
        regions: Any = (),
    ) -> list[Any]:
        operands = self._operands(name, operands)
        return super().create(name, operands, attributes, result_types, regions)

    @staticmethod
    def _operands(name: str, operands: Any) -> Any:
        if name.startswith(_OWN_DIALECTS) and name not in _MOVES:
            operands = [plain(operand) for operand in operands]
        return operands if name in ASYNCHRONOUS else check_finished(operands)

    # Partitions.

    def wait_until(self, ready: Callable[[], bool], awaits: Callable[[], str]) -> None:
        group = self.group or Group(self, "the program")
        group.wait_until(ready, awaits)

    def run_partitions(
        self, default: Any, arguments: list[Any], workers: list[tuple[Any, list[Any]]], warps: Any
    ) -> Any:
        """Runs functions at once; returns what the first one does."""
        if self.phantom is not None:
            return self.call_function(default, arguments, {})
        if self.group is not None:
            raise InterpreterError("a partition cannot be divided into partitions")
        self.group = group = Group(self, f"the first partition (`{default.__name__}`)")
        for i, ((function, given), count) in enumerate(zip(workers, warps, strict=True)):
            group.add(
                f"partition {i + 1} (`{function.__name__}`)", count,
                lambda function=function, given=given: self._worker(function, given),
            )  # fmt: skip
        try:
            result = self.call_function(default, arguments, {})
            group.finish()
        finally:
            group.stop()
            self.group = None
        return result

    def _worker(self, function: Any, arguments: list[Any]) -> None:
        if self.call_function(function, arguments, {}) is not None:
            raise SemanticError(
                f"`{function.__name__}` returns a value, but only the first partition can; store it"
            )
