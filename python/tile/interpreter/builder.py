"""The builder that computes: operations of the language, on NumPy arrays."""

from __future__ import annotations

import sys
import types as python_types
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import knobs
from ..errors import InterpreterError
from ..language.dtypes import block_type, dtype
from ..runtime.depth import deep_stack
from . import (
    access,
    blocks,
    buffers,
    collective,
    copies,
    elementwise,
    indexed_buffers,
    libdevice,
    mathematics,
    program,
    shapes,
    undefined,
)
from .copies import Copies
from .memory import Memory
from .numbers import constant, element_of
from .registry import OPERATIONS

_REGIONS = {"tt.reduce", "tt.scan", "tt.map_elementwise"}
_array = np.ndarray


class Unseen:
    """What runs inside is not shown to a debugger that steps through a kernel.

    (A class: what contextlib does would be shown.)"""

    def __enter__(self) -> None:
        self.trace = sys.gettrace()
        sys.settrace(None)

    def __exit__(self, *error: Any) -> None:
        sys.settrace(self.trace)


class EagerBuilder:
    """A `tile.language.builder.Builder`: what it creates is not an operation but its result."""

    #: Tells the language that its values are known.
    eager = True
    new_block: Callable[..., dtype] = staticmethod(block_type)

    def __init__(self, memory: Memory, grid: tuple[int, int, int], options: Any) -> None:
        self.memory = memory
        self.grid = grid
        self.program = (0, 0, 0)
        #: How many iterations of loops the program has begun, and may begin; 0 for any number.
        self.iterations = 0
        self.max_iterations = knobs.runtime.interpret_max_iterations
        self.options = options
        #: How many functions of single elements are running; they have no effects.
        self.in_region = 0
        #: Set while a branch that is not taken is looked at for its types:
        #: memory is then left alone.
        self.phantom: Any = None
        #: Whether the kernel has looked at a clock, which changes by itself.
        self.clock = False
        #: Whether undefined elements are looked for, and whether a load has left any.
        self.looks_for_undefined = knobs.runtime.undefined_lanes
        self.may_be_undefined = False
        #: What expressions that are being evaluated have found, innermost last.
        self.pending: list[Any] = []
        #: Copies that go on while the program does.
        self.copies = Copies()
        #: The functions that this launch has called, ready to run.
        self.functions: dict[Any, Callable] = {}

    def begin(self, program: tuple[int, int, int]) -> None:
        """The next program of the grid."""
        self.program = program
        self.iterations = 0

        self.copies = Copies()

    def end(self) -> None:
        """The program has ended."""
        self.copies.finish()

    def count_iteration(self) -> None:
        """Ends programs that have no end of their own."""
        self.iterations += 1
        if self.iterations > self.max_iterations > 0:
            raise InterpreterError(
                f"a program went through more than {self.max_iterations} iterations of its loops: "
                "does it end? (TILE_INTERPRET_MAX_ITERATIONS is how many are allowed, 0 for any "
                "number)"
            )

    # Types and attributes are what they are.

    @staticmethod
    def type(ty: dtype) -> dtype:
        return ty

    @staticmethod
    def int_attr(width: int, value: int) -> int:
        return value

    @staticmethod
    def bool_attr(value: bool) -> bool:
        return value

    @staticmethod
    def str_attr(value: str) -> str:
        return value

    @staticmethod
    def unit_attr() -> bool:
        return True

    @staticmethod
    def i32_array_attr(values: Any) -> list[int]:
        return list(values)

    # Operations.

    @staticmethod
    def constant(type: dtype, value: Any) -> np.ndarray:
        return constant(value, element_of(type), type.shape)

    def create_one(
        self, name: str, operands: Any, attributes: Any = None, result_types: Any = None
    ) -> Any:
        if self.may_be_undefined and any(map(undefined.is_undefined, operands)):
            result = undefined.compute(self, name, operands, attributes, result_types)
        else:
            result = self.compute(name)(self, operands, attributes, result_types)
        if result.__class__ is _array or not isinstance(result, np.generic):
            return result
        return np.asarray(result)

    def create(
        self,
        name: str,
        operands: Any,
        attributes: Any = None,
        result_types: Any = None,
        regions: Any = (),
    ) -> list[Any]:
        rest = (attributes, result_types, *([regions] if name in _REGIONS else []))
        if self.may_be_undefined and any(map(undefined.is_undefined, operands)):
            results = undefined.compute(self, name, operands, *rest)
        else:
            results = self.compute(name)(self, operands, *rest)
        if results is None:
            return []
        if not isinstance(results, (list, tuple)):
            results = [results]
        return [np.asarray(r) if isinstance(r, np.generic) else r for r in results]

    @staticmethod
    def compute(op: str) -> Callable:
        found = OPERATIONS.get(op)
        if found is None:
            raise InterpreterError(f"the interpreter has no operation {op}")
        return found

    def hint(self, name: str, input: Any, values: list[int]) -> Any:
        program.check_hint(self, name, input, values)
        return input.handle

    # Functions.

    def combine(
        self, function: Any, types: list[dtype], terminator: str, arguments: Any, results: Any
    ) -> tuple[collective.Region, list[dtype]]:
        """What reductions, scans and maps call on elements."""
        region = collective.Region(self, function, types, arguments, results)
        return region, region.result_types

    def call_function(self, function: Any, arguments: Any, keywords: dict[str, Any]) -> Any:
        if getattr(function, "__tile_jit__", False):
            return self.call(function, arguments, keywords)
        return function(*arguments, **keywords)

    def call(self, function: Any, arguments: Any, keywords: dict[str, Any]) -> Any:
        """Calls a jit function."""
        native = self.functions.get(function) or self.prepare(function)
        return native(*arguments, **keywords)

    def prepare(self, function: Any) -> Callable:
        from .functions import native_function

        with Unseen(), deep_stack():
            native = self.functions[function] = native_function(function, self)
        return native


#: The modules that define the operations.
SUBJECTS: list[python_types.ModuleType] = [
    access, blocks, buffers, collective, copies, elementwise, indexed_buffers, libdevice,
    mathematics, program, shapes,
]  # fmt: skip
