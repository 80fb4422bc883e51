"""The base of all errors."""

from tile.errors import TritonError

__all__ = ["TritonError"]
