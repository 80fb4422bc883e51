"""What the host prepares for kernels on AMD's GPUs."""

from . import cdna5, gfx1250

__all__ = ["cdna5", "gfx1250"]
