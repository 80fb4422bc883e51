"""gfx12."""

from ._products import make_wmma

wmma = make_wmma(2)

__all__ = ["wmma"]
