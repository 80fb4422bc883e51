"""Functions of AMD GPUs."""

from .. import libdevice

__all__ = ["libdevice"]
