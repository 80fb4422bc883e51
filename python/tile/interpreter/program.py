"""The programming model: program ids, prints, assertions, promises."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InterpreterError
from ..language.values import tensor
from .numbers import displayed, unsigned
from .registry import operation


@operation("tt.get_program_id")
def _program_id(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return np.asarray(b.program[attributes["axis"]], np.int32)


@operation("tt.get_num_programs")
def _num_programs(b: Any, operands: Any, attributes: Any, types: Any) -> np.ndarray:
    return np.asarray(b.grid[attributes["axis"]], np.int32)


@operation("gpu.barrier")
def _barrier(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    """A program runs as one thread here."""


@operation("llvm.intr.assume")
def _assume(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    if b.phantom is None and not operands[0].all():
        raise InterpreterError("tl.assume promises something that does not hold here")


@operation("tt.assert")
def _assert(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    (condition,) = operands
    if b.phantom is not None or condition.all():
        return
    message = "assertion failed" + (f": {attributes['message']}" if attributes["message"] else "")
    if condition.ndim:
        wrong = np.argwhere(~condition)
        message += (
            f" (at {wrong[0].tolist()} of the block; {len(wrong)} of {condition.size} elements)"
        )
    raise InterpreterError(message)


@operation("tt.print")
def _print(b: Any, operands: Any, attributes: Any, types: Any) -> None:
    if b.phantom is not None:
        return
    place = f"pid ({', '.join(map(str, b.program))})"
    prefix = attributes["prefix"].rstrip()
    shown = []
    for x, signed in zip(operands, attributes["isSigned"], strict=True):
        value = x if signed or x.dtype.kind != "i" else unsigned(x)
        shown.append(_hex(value) if attributes["hex"] else str(value))
    print(f"{place}{prefix} {' '.join(shown)}".rstrip())


def _hex(x: np.ndarray) -> str:
    bits = np.ascontiguousarray(x).view(f"uint{8 * x.dtype.itemsize}")
    return np.array2string(bits, formatter={"int": lambda v: f"0x{v:0{2 * x.itemsize}x}"})


def check_hint(b: Any, name: str, input: tensor, values: list[int]) -> None:
    """Raises if a promise about the values of a tensor does not hold."""
    if b.phantom is not None:
        return
    x = displayed(np.asarray(input.handle), input.type).astype(object)
    for axis, n in enumerate(values):
        if name == "multiple_of":
            # The first of each run of consecutive numbers counts.
            first = x if not x.ndim else x[tuple(slice(0, 1) for _ in range(x.ndim))]
            good = not any(int(v) % n for v in np.asarray(first).reshape(-1))
        else:
            if not x.ndim or n <= 1:
                continue
            n = min(n, x.shape[axis])
            runs = np.moveaxis(x, axis, -1)
            runs = runs.reshape(*runs.shape[:-1], -1, n)
            # Neighbours among pointers are an element apart, in bytes.
            unit = input.dtype.element_ty.itemsize if input.dtype.is_ptr() else 1
            step = unit if name == "max_contiguous" else 0
            good = all((np.diff(runs, axis=-1) == step).reshape(-1).tolist())
        if not good:
            raise InterpreterError(
                f"tl.{name} promises {values if len(values) > 1 else values[0]}, which does not "
                f"hold for {x.tolist() if x.size <= 16 else input}"
            )
