"""The backends by name: pairs of a compiler and a driver.

``cpu`` is the machine that the simulator stands for: tensors on the CPU are
what its kernels work on.
"""

from __future__ import annotations

from dataclasses import dataclass

from tile.backends import BaseBackend, DriverBase
from tile.backends import backends as _backends
from tile.backends import drivers as _drivers


@dataclass(frozen=True)
class Backend:
    """What a backend consists of."""

    compiler: type[BaseBackend]
    driver: type[DriverBase]


backends: dict[str, Backend] = {
    "amd": Backend(_backends()["amd"], _drivers()["hip"]),
    "nvidia": Backend(_backends()["nvidia"], _drivers()["cuda"]),
    "cpu": Backend(_backends()["nvidia"], _drivers()["sim"]),
}

__all__ = ["Backend", "BaseBackend", "DriverBase", "backends"]
