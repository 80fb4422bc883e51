"""`GPUTarget` and `BaseBackend` where programs written for Triton import them from."""

from __future__ import annotations

from .base import BaseBackend, GPUTarget

__all__ = ["BaseBackend", "GPUTarget"]
