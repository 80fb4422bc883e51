"""Drivers: `cuda` on an NVIDIA GPU, `sim` in the simulator."""

from __future__ import annotations

from .cuda_driver import CudaDriver
from .sim_driver import SimDriver

__all__ = ["CudaDriver", "SimDriver"]
