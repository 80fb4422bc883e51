"""Parameters behind those of the program: memory that kernels on a GPU ask for at each launch."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

from .. import _C
from ..errors import DriverError
from .memory import allocate
from .recorded import recording

#: The most memory that a launch takes for descriptors that nobody asked for: those of 2^18 programs
#: of attention. Where more is needed, programs load by pointers.
_MOST_FOR_RAISED = 1 << 27


#: Whether a launch has no other kernel to use.
_gives_any: ContextVar[bool] = ContextVar("tile_gives_any_memory", default=False)


@contextlib.contextmanager
def any_memory() -> Iterator[None]:
    """Gives launches as much memory as they ask for meanwhile."""
    token = _gives_any.set(True)
    try:
        yield
    finally:
        _gives_any.reset(token)


def types(kernel: Any) -> list[str]:
    """Their types: scratch memory, and then memory for the profiler's records."""
    metadata = kernel._metadata
    sizes = (metadata.get("global_scratch_size"), metadata.get("profile_scratch_size"))
    return ["*i8" for size in sizes if size]


def scratch_memory(kernel: Any, driver: Any, at: int) -> Any:
    """What launches of a kernel with `at` arguments take as scratch memory."""
    metadata = kernel._metadata
    size = metadata.get("global_scratch_size") or 0
    if not size:
        return _C.launch.ScratchMemory(0, 1, at, None)
    default = _default_allocator(driver)
    most = _MOST_FOR_RAISED if _is_raised(kernel) else None

    def take(size: int, alignment: int, stream: int) -> Any:
        if most is not None and size > most and not _gives_any.get():
            return None
        return allocate(size, alignment, stream, default)

    return _C.launch.ScratchMemory(size, max(1, metadata.get("global_scratch_align", 1)), at, take)


def with_records(kernel: Any, driver: Any, device: int, ctas: int, packed: Any) -> Callable:
    """Launches a kernel as `packed` does, with memory for records if it makes some."""
    if not kernel._metadata.get("profile_scratch_size"):
        return packed

    def launch(x: int, y: int, z: int, stream: int, arguments: tuple, records: int) -> int:
        return packed(x, y, z, stream, (*arguments, records))

    whole: Any = recording(kernel, driver, device, ctas, launch)
    whole.has_tensor_maps = lambda arguments: packed.has_tensor_maps((*arguments, None))
    return whole


def _is_raised(kernel: Any) -> bool:
    """Whether the compiler chose to make descriptors, and the program makes none."""
    if kernel._metadata.get("raise_pointers", False) is not None:
        return False
    return "ttir" in kernel.asm and "tt.make_tensor_desc" not in kernel.asm["ttir"]


def _default_allocator(driver: Any) -> Callable:
    """Memory on the current device: torch's where a program uses torch, and else the driver's."""

    def allocate(size: int, alignment: int, stream: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is not None:
            return torch.empty(size, dtype=torch.int8, device=driver.torch_device)
        if hasattr(driver, "allocate_on_stream"):
            return driver.allocate_on_stream(size, stream)
        raise DriverError(
            "this kernel needs scratch memory: set an allocator with tile.set_allocator, or "
            "import torch"
        )

    return allocate


__all__ = ["any_memory", "scratch_memory", "types", "with_records"]
