"""Launches that are cancelled: a program takes the work of one that has not begun."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tile.errors import SemanticError
from tile.language import dtypes as dt
from tile.language.state import current
from tile.language.values import builtin, describe, tensor, unwrap

from ..._core import shared_memory_descriptor
from ..ampere.mbarrier import check_barrier


class clc_result_type:
    """The structure of an answer: one SSA value."""

    mlir = "i128"

    def flat_types(self, types: list[Any]) -> None:
        types.append(self)

    def unflatten(self, handles: Iterator[Any]) -> clc_result:
        return clc_result(next(handles))

    def mangle(self) -> str:
        return "CLC"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, clc_result_type)

    def __hash__(self) -> int:
        return hash("clc_result_type")

    def __str__(self) -> str:
        return "clc_result"


class clc_result:
    """The answer to `try_cancel`."""

    def __init__(self, handle: Any) -> None:
        self.handle = handle

    @property
    def type(self) -> clc_result_type:
        return clc_result_type()

    def __tile_structure__(self) -> clc_result_type:
        return self.type

    def __tile_flatten__(self, handles: list[Any]) -> None:
        handles.append(self.handle)

    @builtin
    def is_canceled(self) -> tensor:
        """Whether a launch was cancelled: its work is this program's now."""
        b = current()
        handle = b.create_one("ttnvgpu.clc_is_canceled", (self.handle,), None, (b.type(dt.int1),))
        return tensor(handle, dt.int1)

    @builtin
    def program_id(self, dim: Any) -> tensor:
        """The number of the cancelled program along a dimension of the grid."""
        dim = unwrap(dim)
        if dim not in (0, 1, 2):
            raise SemanticError(f"the dim of program_id is 0, 1 or 2, not {dim!r}")
        b = current()
        handle = b.create_one(
            "ttnvgpu.clc_get_program_id", (self.handle,), {"dim": b.int_attr(32, dim)},
            (b.type(dt.int32),),
        )  # fmt: skip
        return tensor(handle, dt.int32)


def _check_result(value: Any, what: str) -> shared_memory_descriptor:
    if (
        not isinstance(value, shared_memory_descriptor)
        or value.dtype != dt.int64
        or value.shape != (2,)
    ):
        raise SemanticError(f"{what} takes a buffer of two int64, not {describe(value)}")
    return value


@builtin
def try_cancel(result: Any, barrier: Any, multicast: bool = False) -> None:
    """Asks for a launch that has not begun; 16 bytes of answer arrive at `barrier`."""
    buffer = _check_result(result, "try_cancel")
    bar = check_barrier(barrier, "try_cancel")
    b = current()
    attributes = {"multicast": b.unit_attr()} if unwrap(multicast) else None
    b.create("ttnvgpu.clc_try_cancel", (buffer.handle, bar.handle), attributes, ())


@builtin
def load_result(src: Any) -> clc_result:
    """Reads the answer, when it is there."""
    buffer = _check_result(src, "load_result")
    b = current()
    ty = b.parse_type("i128")
    return clc_result(b.create_one("ttnvgpu.clc_load_result", (buffer.handle,), None, (ty,)))


__all__ = ["clc_result", "clc_result_type", "load_result", "try_cancel"]
