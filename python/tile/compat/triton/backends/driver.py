"""What a driver provides."""

from __future__ import annotations

from tile.backends.base import DriverBase

GPUDriver = DriverBase

__all__ = ["DriverBase", "GPUDriver"]
