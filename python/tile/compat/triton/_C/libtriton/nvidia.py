"""What Triton's library for NVIDIA's GPUs gives to programs: memory of the device, and cuBLAS."""

from __future__ import annotations

from typing import Any

from tile.compat.unbuilt import UnbuiltAttributeError
from tile.errors import DriverError
from tile.runtime.driver import driver

from . import cublas
from .passes import nvidia as passes


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise UnbuiltAttributeError(
        f"triton._C.libtriton.nvidia.{name} is not built in tile yet: what kernels are compiled "
        "with are their options, such as `enable_reflect_ftz` and `extern_libs`"
    )


def _cuda() -> Any:
    """The driver, with its device in use."""
    active = driver.active
    if active.name != "cuda":
        raise DriverError(f"this needs an NVIDIA GPU; the driver in use is `{active.name}`")
    active.ensure_context(active.get_current_device())
    return active


def device_malloc(size: int) -> int:
    """The address of new memory on the device."""
    active = _cuda()
    return active.allocate_memory(active.get_current_device(), size)


def device_free(address: int) -> None:
    """Gives such memory back."""
    active = _cuda()
    active.free_memory(active.get_current_device(), address)


def copy_host_to_device(address: int, data: bytes) -> None:
    """Copies bytes to memory of the device."""
    active = _cuda()
    active.write_memory(active.get_current_device(), address, data)


def copy_device_to_host(address: int, size: int) -> bytes:
    """The bytes in memory of the device."""
    active = _cuda()
    rows = active.read_memory(active.get_current_device(), address, size, size, 1)
    return rows.tobytes()


def synchronize() -> None:
    """Waits for all that was launched."""
    _cuda().synchronize()


__all__ = [
    "copy_device_to_host", "copy_host_to_device", "cublas", "device_free", "device_malloc",
    "passes", "synchronize",
]  # fmt: skip
