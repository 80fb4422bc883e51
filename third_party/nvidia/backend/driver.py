"""Drivers: `cuda` on an NVIDIA GPU."""

from __future__ import annotations

from .cuda_driver import CudaDriver

__all__ = ["CudaDriver"]
