"""Functions of the libraries of devices."""

from tile.language.extra import libdevice

__all__ = ["libdevice"]
