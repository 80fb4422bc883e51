"""Drivers: `hip` on an AMD GPU."""

from __future__ import annotations

from .hip_driver import HIPDriver

__all__ = ["HIPDriver"]
