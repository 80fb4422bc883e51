"""Parameters behind those of the program: memory that kernels on a GPU ask for at each launch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from ..errors import DriverError
from .memory import allocate
from .recorded import recording


def types(kernel: Any) -> list[str]:
    """Their types: scratch memory, and then memory for the profiler's records."""
    metadata = kernel._metadata
    sizes = (metadata.get("global_scratch_size"), metadata.get("profile_scratch_size"))
    return ["*i8" for size in sizes if size]


def with_memory(kernel: Any, driver: Any, device: int, ctas: int, packed: Any) -> Callable:
    """Launches a kernel as `packed` does, with the memory that it asks for."""
    metadata = kernel._metadata
    count = len(types(kernel))
    if not count:
        return packed
    scratch = metadata.get("global_scratch_size", 0)
    alignment = max(1, metadata.get("global_scratch_align", 1))
    allocator = _torch_allocator(driver.torch_device)

    def launch(x: int, y: int, z: int, stream: int, arguments: tuple, *records: int) -> int:
        if scratch:
            size = scratch * x * y * z * ctas
            arguments = (*arguments, allocate(size, alignment, stream, allocator))
        code = packed(x, y, z, stream, (*arguments, *records))
        if code > 0:
            driver.raise_launch_error(code, kernel.name)
        return code

    def has_tensor_maps(arguments: tuple) -> bool:
        return packed.has_tensor_maps((*arguments, *[None] * count))

    whole: Any = launch
    if metadata.get("profile_scratch_size"):
        whole = recording(kernel, driver, device, ctas, launch)
    whole.has_tensor_maps = has_tensor_maps
    return whole


def _torch_allocator(kind: str) -> Callable:
    """Memory on torch's current device of a kind."""

    def allocate(size: int, alignment: int, stream: Any) -> Any:
        torch = sys.modules.get("torch")
        if torch is None:
            raise DriverError(
                "this kernel needs scratch memory: set an allocator with tile.set_allocator, or "
                "import torch"
            )
        return torch.empty(size, dtype=torch.int8, device=kind)

    return allocate


__all__ = ["types", "with_memory"]
