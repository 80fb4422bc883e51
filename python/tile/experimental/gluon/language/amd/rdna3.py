"""gfx11."""

from ._products import make_wmma

wmma = make_wmma(1)

__all__ = ["wmma"]
