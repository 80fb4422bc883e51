"""Functions that only some devices have."""

from . import cuda, hip, libdevice

__all__ = ["cuda", "hip", "libdevice"]
