"""Compiling several kernels at once."""

from tile.runtime.asynchronous import AsyncCompileMode, FutureKernel
from tile.runtime.asynchronous import _mode as active_mode

__all__ = ["AsyncCompileMode", "FutureKernel", "active_mode"]
