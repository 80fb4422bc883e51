"""The memory of arguments, which kernels take that check their accesses (`memcheck`)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from ..element_types import ELEMENT_TYPES
from ..errors import TileError
from . import overlap
from .specialize import address_of

#: The memory of an argument of which nobody knows it.
_ANYWHERE = (0, 2**63 - 1)
#: Bytes of elements, by the spelling of signatures.
_SIZES = {known.signature: -(-known.bits // 8) for known in ELEMENT_TYPES.values()}


def parameters(known: dict[str, str]) -> dict[str, str]:
    """The parameters of a kernel, and behind them two more for each pointer."""
    more = {}
    for name, ty in known.items():
        if ty.startswith("*"):
            more |= {f"{name}.begin": "i64", f"{name}.bytes": "i64"}
    return {**known, **more}


def passing(
    kernel: Any, known: dict[str, str], launch: Callable,
    allocation: Callable[[int], overlap.Range | None],
) -> Callable:  # fmt: skip
    """`launch` for the arguments alone: it is told their memory, too."""
    pointers = [i for i, ty in enumerate(known.values()) if ty.startswith("*")]
    descriptors = list(_descriptors(known))

    def extended(arguments: tuple) -> tuple:
        memories = {i: _memory(arguments[i], allocation) for i in pointers}
        for at, name, rank, size in descriptors:
            _check_descriptor(kernel, arguments, at, name, rank, size, memories[at])
        return (*arguments, *(n for low, high in memories.values() for n in (low, high - low)))

    def run(x: int, y: int, z: int, stream: Any, arguments: tuple, **options: Any) -> Any:
        return launch(x, y, z, stream, extended(arguments), **options)

    if hasattr(launch, "has_tensor_maps"):
        run.has_tensor_maps = (  # type: ignore[attr-defined]
            lambda arguments: launch.has_tensor_maps(extended(arguments))
        )
    return run


def _memory(value: Any, allocation: Callable[[int], overlap.Range | None]) -> overlap.Range:
    """The addresses of the memory of an argument, as in the simulator.

    Of a tensor this is all of its storage, of an array what it has itself, and of an address its
    allocation.
    """
    if isinstance(value, int):
        return allocation(value) or _ANYWHERE
    if type(value).__name__ == "TensorWrapper":
        return _memory(value.base, allocation)
    known = (overlap.memory_of if hasattr(value, "untyped_storage") else overlap.extent)(value)
    return known or allocation(address_of(value)) or _ANYWHERE


def _descriptors(known: dict[str, str]) -> Iterator[tuple[int, str, int, int]]:
    """Where the parts of descriptors are: the base, its name, the rank, bytes of an element."""
    names = list(known)
    for i, name in enumerate(names):
        if not known[name].startswith("*"):
            continue
        rank = 0
        while known.get(f"{name}[{rank + 1}]") == "i32":
            rank += 1
        if rank and known.get(f"{name}[{rank + 1}]") == "i64":
            yield i, name, rank, _SIZES[known[name][1:]]


def _check_descriptor(
    kernel: Any, arguments: tuple, at: int, name: str, rank: int, size: int, memory: overlap.Range
) -> None:
    """Refuses a descriptor that says more than its tensor has."""
    shape, strides = (arguments[at + 1 + k * rank : at + 1 + (k + 1) * rank] for k in range(2))
    if not math.prod(shape):
        return
    last = sum((s - 1) * stride for s, stride in zip(shape, strides, strict=True))
    value = arguments[at]
    begin = value if isinstance(value, int) else address_of(value)
    end = begin + (last + 1) * size
    if begin < memory[0] or end > memory[1]:
        raise TileError(
            f"out of bounds: the descriptor `{name}` of `{kernel.name}` covers {end - begin} bytes "
            f"from {begin - memory[0]} on, and its tensor has {memory[1] - memory[0]}"
        )


__all__ = ["parameters", "passing"]
