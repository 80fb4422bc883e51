"""Functions that only some devices have."""

from . import cuda, libdevice

__all__ = ["cuda", "libdevice"]
