"""Scratch memory that kernels ask for."""

from __future__ import annotations

from typing import Any, NoReturn, Protocol

from tile.runtime.memory import (
    _allocator,
    has_profile_allocator,
    set_allocator,
    set_profile_allocator,
)


class Buffer(Protocol):
    """Memory of a device."""

    def data_ptr(self) -> int: ...


class Allocator(Protocol):
    """Provides memory."""

    def __call__(self, size: int, alignment: int, stream: int | None) -> Buffer: ...


class NullAllocator:
    """An allocator that has nothing to give."""

    def __call__(self, size: int, alignment: int, stream: Any) -> NoReturn:
        raise RuntimeError("Kernel requires a runtime memory allocation, but no allocator was set.")


__all__ = [
    "Allocator", "Buffer", "NullAllocator", "_allocator", "has_profile_allocator",
    "set_allocator", "set_profile_allocator",
]  # fmt: skip
