"""Memory of arguments, and scratch memory that kernels ask for."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from ..errors import DriverError

_allocator: ContextVar[Any] = ContextVar("tile_allocator", default=None)


def set_allocator(allocator: Any) -> None:
    """Sets the function `(size, alignment, stream) -> buffer` that provides
    the global scratch memory of kernels. The driver has one of its own."""
    _allocator.set(allocator)


def allocate(size: int, alignment: int, stream: Any, default: Any) -> Any:
    """Scratch memory from the user's allocator, or from `default`."""
    allocator = _allocator.get() or default
    if allocator is None:
        raise DriverError(
            "this kernel needs scratch memory: set an allocator with tile.set_allocator"
        )
    return allocator(size, alignment, stream)


#: The user's function that provides memory for the profiler's records, if there is one.
_profile_allocator: Any = None


def set_profile_allocator(allocator: Any) -> None:
    """Sets the function `(size, alignment, stream) -> buffer` that provides the memory into which
    kernels record for the profiler; None for the profiler's own."""
    global _profile_allocator
    _profile_allocator = allocator


def has_profile_allocator() -> bool:
    """Whether such a function is set."""
    return _profile_allocator is not None


def allocate_for_profile(size: int, alignment: int, stream: Any) -> Any:
    """Memory for records from the user's allocator; None where none is set."""
    if _profile_allocator is None:
        return None
    return _profile_allocator(size, alignment, stream)


def live_address(tensor: Any) -> int:
    """The address of a tensor's elements. Raises where it has elements and their memory was given
    back, as by resizing its storage: a kernel would read from address 0."""
    address = tensor.data_ptr()
    if not address:
        numel = getattr(tensor, "numel", None)
        if numel is not None and numel():
            raise DriverError(
                f"the memory of a tensor's {numel()} elements was given back: its storage is empty"
            )
    return address
