"""Peak rates of GPUs, for the viewer's `util`; from the vendors' data sheets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import TileError

#: Operations of a multiprocessor in a cycle: dense products of 8-bit operands with 32-bit sums. Of
#: the first three, what a card of each kind is said to do: A100, RTX 4090 and H100 PCIe.
_OPERATIONS = {
    "CUDA": {
        "80": 624e12 / (108 * 1410e6),
        "89": 330.3e12 / (128 * 2625e6),
        "90": 1513e12 / (114 * 1755e6),
        "100": 16384.0,
    },
    "HIP": {"gfx90a": 1024.0, "gfx942": 4096.0, "gfx950": 8192.0},
}

#: The same of AMD GPUs, by architecture.
amd_fp8_flops_by_arch = _OPERATIONS["HIP"]
#: Bytes a second between the device and its memory.
amd_bps_by_arch = {"gfx90a": 3.2e12, "gfx942": 5.3e12, "gfx950": 8.0e12}


def _rate(operations: float) -> Callable[[int, int, int], float]:
    def rate(width: int, num_sms: int, clock_rate: int) -> float:
        return operations * num_sms * clock_rate * 1e3 * 8 / width

    return rate


#: For each kind of device and architecture: operations a second, as a function of the bits of the
#: operands, the multiprocessors and the clock in kHz.
flops_by_device: dict[str, dict[str, Callable[[int, int, int], float]]] = {
    kind: {arch: _rate(operations) for arch, operations in table.items()}
    for kind, table in _OPERATIONS.items()
}


def max_flops(device_type: str, arch: Any, width: int, num_sms: int, clock_rate: int) -> float:
    """The most operations a second on operands of `width` bits."""
    known = flops_by_device.get(device_type, {}).get(str(arch))
    if known is None:
        raise TileError(f"the peak rates of {device_type} {arch} are not known")
    return known(width, num_sms, clock_rate)


def max_bps(device_type: str, arch: Any, bus_width: int, memory_clock_rate: int) -> float:
    """The most bytes a second between the device and its memory; the clock is in kHz."""
    if device_type == "CUDA":
        return 2 * bus_width * memory_clock_rate * 1e3 / 8  # Two transfers in a cycle.
    if device_type == "HIP" and arch in amd_bps_by_arch:
        return amd_bps_by_arch[arch]
    raise TileError(f"the memory bandwidth of {device_type} {arch} is not known")
