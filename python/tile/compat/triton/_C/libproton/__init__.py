"""The native part of the profiler, by Triton's names."""

from . import proton

__all__ = ["proton"]
